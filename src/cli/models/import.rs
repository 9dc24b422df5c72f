//! `engram models import`: models from a tar, or from a directory with the cache's layout, into
//! the cache of this machine. What comes is nobody's to trust: only the layout's own paths are
//! taken, links lead to blobs and nowhere else, a blob is what its name says, and links appear
//! when everything has been seen and found right.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, Write as _};
use std::path::{Component, Path};

use anyhow::{Context as _, bail, ensure};
use tar::{Archive, EntryType};

use crate::cli::models::blob::{BLOCK_BYTES, BlobName, Digests, Hasher};
use crate::cli::models::shelf::{Shelf, digests_at, link_target, remove_if_there};
use crate::model::hub_cache::{Commit, HubCache, HubModel, Repository, Revision, is_file_name};
use crate::model::known_models::KnownModel;

/// Entries of an import, folders included.
const ENTRIES_MAX: usize = 100_000;
/// Folders within one another: `models--x/snapshots/COMMIT/a/b/c`.
const DEPTH_MAX: usize = 12;
/// A reference holds 40 digits.
const REFERENCE_BYTES_MAX: u64 = 64;

/// Brings every model of `path` into the cache, and says which.
pub(super) fn import(cache: &HubCache, path: &Path) -> anyhow::Result<Vec<HubModel>> {
    let mut import = Import { cache, found: Found::default() };
    if path.is_dir() {
        import.directory(path)?;
    } else {
        let file =
            File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        import.tar(file)?;
    }
    import.finish()
}

/// A path of the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Folder,
    Blob(Repository, BlobName),
    Reference(Repository, Revision),
    Snapshot(Repository, Commit, String),
    /// What other programs keep beside it, and nobody needs.
    Ignored,
}

/// What was seen so far; nothing of it links yet.
#[derive(Debug, Default)]
struct Found {
    blobs: BTreeMap<(Repository, BlobName), Digests>,
    references: Vec<(Repository, Revision, Commit)>,
    links: BTreeMap<(Repository, Commit), BTreeMap<String, BlobName>>,
    entries: usize,
}

struct Import<'a> {
    cache: &'a HubCache,
    found: Found,
}

impl Import<'_> {
    fn tar(&mut self, file: File) -> anyhow::Result<()> {
        let bytes = file.metadata()?.len();
        let mut archive = Archive::new(io::BufReader::new(file));
        let entries = archive.entries().context("it is no tar")?;
        let mut has_room = false;
        for entry in entries {
            let mut entry = entry.context("it is no tar, or is cut short")?;
            let path = entry.path().context("it names a file in no text")?.into_owned();
            let kind = entry.header().entry_type();
            let named = || format!("{} in the tar", path.display());
            match (kind, self.place(&path).with_context(named)?) {
                (_, Place::Ignored)
                | (
                    EntryType::Directory,
                    Place::Folder | Place::Snapshot(..) | Place::Reference(..),
                ) => {}
                (EntryType::Regular, Place::Blob(repository, blob)) => {
                    let length = entry.size();
                    if !has_room {
                        let shelf = Shelf { cache: self.cache, repository: &repository };
                        shelf.check_room(bytes)?;
                        has_room = true;
                    }
                    self.blob(repository, blob, &mut entry, length).with_context(named)?;
                }
                (EntryType::Regular, Place::Reference(repository, revision)) => {
                    self.reference(repository, revision, &mut entry).with_context(named)?;
                }
                (EntryType::Symlink, Place::Snapshot(repository, commit, name)) => {
                    let target = entry.link_name()?.context("a link without a target")?;
                    self.link(repository, commit, name, &target).with_context(named)?;
                }
                (kind, _) => bail!("{} is {kind:?}, which has no place there", named()),
            }
        }
        Ok(())
    }

    /// A cache, or one `models--…` folder of it.
    fn directory(&mut self, path: &Path) -> anyhow::Result<()> {
        let name = path.canonicalize().ok();
        let name = name.as_deref().and_then(Path::file_name).and_then(|it| it.to_str());
        let name = name.unwrap_or_default().to_owned();
        if Repository::of_folder(&name).is_some() {
            return self.walk(path, Path::new(&name), DEPTH_MAX);
        }
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_str().is_some_and(|it| Repository::of_folder(it).is_some()) {
                self.walk(&entry.path(), Path::new(&name), DEPTH_MAX)?;
            }
        }
        if self.found.entries == 0 && path.join("config.json").is_file() {
            let path = path.display();
            bail!(
                "{path} is a model's directory and needs no import: set captioner.model or \
                 embedder.model to {path}"
            );
        }
        Ok(())
    }

    fn walk(&mut self, dir: &Path, at: &Path, depth: usize) -> anyhow::Result<()> {
        ensure!(depth > 0, "{} has folders more than {DEPTH_MAX} deep", dir.display());
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let (path, at) = (entry.path(), at.join(entry.file_name()));
            let kind = entry.file_type()?;
            let named = || path.display().to_string();
            match self.place(&at).with_context(named)? {
                Place::Ignored => {}
                _ if kind.is_dir() => self.walk(&path, &at, depth - 1)?,
                // A blob may be a link into a store that caches share: its hash tells.
                Place::Blob(repository, blob) => {
                    let found = fs::metadata(&path).with_context(named)?;
                    ensure!(found.is_file(), "{} is no regular file", named());
                    let mut file = File::open(&path).with_context(named)?;
                    let length = found.len();
                    let shelf = Shelf { cache: self.cache, repository: &repository };
                    shelf.check_room(length)?;
                    self.blob(repository, blob, &mut file, length).with_context(named)?;
                }
                Place::Reference(repository, revision) if kind.is_file() => {
                    let mut file = File::open(&path).with_context(named)?;
                    self.reference(repository, revision, &mut file).with_context(named)?;
                }
                Place::Snapshot(repository, commit, name) if kind.is_symlink() => {
                    let target = fs::read_link(&path).with_context(named)?;
                    self.link(repository, commit, name, &target).with_context(named)?;
                }
                Place::Folder | Place::Reference(..) | Place::Snapshot(..) => {
                    bail!("{} has no place in a cache", named())
                }
            }
        }
        Ok(())
    }

    fn place(&mut self, path: &Path) -> anyhow::Result<Place> {
        self.found.entries += 1;
        ensure!(self.found.entries <= ENTRIES_MAX, "there are more than {ENTRIES_MAX} entries");
        place_of(path)
    }

    /// Takes a blob in, if its content is what its name says.
    fn blob(
        &mut self,
        repository: Repository,
        blob: BlobName,
        from: &mut impl Read,
        length: u64,
    ) -> anyhow::Result<()> {
        let shelf = Shelf { cache: self.cache, repository: &repository };
        let Some(_lock) = shelf.try_lock(&blob)? else {
            bail!("another process fetches it just now; try again when it has finished");
        };
        let is_there = shelf.blob(&blob).is_file();
        let mut file = shelf.open_incomplete(&blob)?;
        let copied = file.set_len(0).and_then(|()| copy(from, &mut file, length));
        let digests = match copied {
            Ok(digests) if blob.names(&digests) => digests,
            Ok(digests) => {
                remove_if_there(&shelf.incomplete(&blob))?;
                bail!("its content has the SHA-256 {}, not the hash it is called", digests.sha256);
            }
            Err(error) => {
                remove_if_there(&shelf.incomplete(&blob))?;
                return Err(error).context("it was not copied");
            }
        };
        if is_there {
            remove_if_there(&shelf.incomplete(&blob))?;
        } else {
            file.rewind()?;
            shelf.put(&blob, &file)?;
        }
        self.found.blobs.insert((repository, blob), digests);
        Ok(())
    }

    fn reference(
        &mut self,
        repository: Repository,
        revision: Revision,
        from: &mut impl Read,
    ) -> anyhow::Result<()> {
        let mut text = String::new();
        from.take(REFERENCE_BYTES_MAX).read_to_string(&mut text)?;
        let commit = Commit::parse(text.trim()).context("it holds no commit")?;
        self.found.references.push((repository, revision, commit));
        Ok(())
    }

    fn link(
        &mut self,
        repository: Repository,
        commit: Commit,
        name: String,
        target: &Path,
    ) -> anyhow::Result<()> {
        let blob = target.file_name().and_then(|it| it.to_str()).and_then(BlobName::parse);
        let blob = blob.filter(|blob| link_target(&name, blob) == target);
        let target = target.display();
        let blob =
            blob.with_context(|| format!("it links to {target}, which is no blob beside it"))?;
        self.found.links.entry((repository, commit)).or_default().insert(name, blob);
        Ok(())
    }

    /// Links what is complete.
    fn finish(self) -> anyhow::Result<Vec<HubModel>> {
        let Self { cache, found } = self;
        ensure!(
            !found.links.is_empty(),
            "there is no model of the hub in it (models--…/snapshots)"
        );
        for ((repository, commit), files) in &found.links {
            let shelf = Shelf { cache, repository };
            let model =
                HubModel { repository: repository.clone(), revision: commit.clone().into() };
            let known = KnownModel::of_hub(&model, commit).map_or(&[][..], |it| it.files);
            for (name, blob) in files {
                let named = || format!("{name} of {repository}");
                let digests = match found.blobs.get(&(repository.clone(), blob.clone())) {
                    Some(digests) => digests.clone(),
                    None if shelf.blob(blob).is_file() => digests_at(&shelf.blob(blob))?,
                    None => bail!("{} is missing: no blob {blob}", named()),
                };
                let listed = known.iter().find(|it| it.path == name).and_then(|it| it.sha256);
                if let Some(expected) = listed.filter(|it| *it != digests.sha256) {
                    let found = digests.sha256;
                    bail!("{} has the SHA-256 {found}, in this build's list {expected}", named());
                }
            }
        }
        let mut models = Vec::new();
        for ((repository, commit), files) in found.links {
            let shelf = Shelf { cache, repository: &repository };
            for (name, blob) in &files {
                shelf.link(&commit, name, blob)?;
            }
            for (_, revision, at) in found.references.iter().filter(|it| it.0 == repository) {
                let model = HubModel { repository: repository.clone(), revision: revision.clone() };
                // What this machine knows already may be newer than what is on the stick.
                if *at == commit && cache.commit(&model).is_none() {
                    shelf.refer(revision, at)?;
                }
            }
            models.push(HubModel { repository, revision: commit.into() });
        }
        Ok(models)
    }
}

/// What the layout has at a path; everything else is refused.
fn place_of(path: &Path) -> anyhow::Result<Place> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str().context("it is no text")?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                bail!("it leads out of the cache");
            }
        }
    }
    let repository = |folder: &str| {
        Repository::of_folder(folder).with_context(|| format!("{folder:?} is no model of the hub"))
    };
    Ok(match parts.as_slice() {
        [] => Place::Folder,
        [".locks" | "CACHEDIR.TAG" | "version.txt", ..] | [_, ".no_exist", ..] => Place::Ignored,
        [folder] | [folder, "blobs" | "refs" | "snapshots"] => {
            repository(folder)?;
            Place::Folder
        }
        [folder, "blobs", name] if name.ends_with(".incomplete") => {
            repository(folder)?;
            Place::Ignored
        }
        [folder, "blobs", name] => {
            let blob = BlobName::parse(name).context("a blob is called by its hash")?;
            Place::Blob(repository(folder)?, blob)
        }
        [folder, "refs", names @ ..] => {
            let revision = Revision::parse(&names.join("/")).context("it is no revision")?;
            Place::Reference(repository(folder)?, revision)
        }
        [folder, "snapshots", commit] => {
            Commit::parse(commit).context("a snapshot is called by its commit")?;
            repository(folder)?;
            Place::Folder
        }
        [folder, "snapshots", commit, names @ ..] => {
            let name = names.join("/");
            ensure!(is_file_name(&name), "{name:?} is no name of a file");
            let commit = Commit::parse(commit).context("a snapshot is called by its commit")?;
            Place::Snapshot(repository(folder)?, commit, name)
        }
        _ => bail!("it has no place in a cache"),
    })
}

/// Copies exactly `length` bytes and hashes them.
fn copy(from: &mut impl Read, to: &mut File, length: u64) -> io::Result<Digests> {
    let mut hasher = Hasher::new(length);
    let mut block = vec![0; BLOCK_BYTES];
    let mut left = length;
    let mut from = from.take(length);
    while left > 0 {
        let read = from.read(&mut block)?;
        let Some(part) = block.get(..read).filter(|it| !it.is_empty()) else {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is cut short"));
        };
        to.write_all(part)?;
        hasher.update(part);
        left -= read as u64;
    }
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    use tar::{Builder, Header};

    const COMMIT: &str = "82a37760796d32b1411fe092ab5d4e227313294b";
    /// Of "hello\n".
    const BLOB: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

    enum Entry<'a> {
        File(&'a str, &'a [u8]),
        Link(&'a str, &'a str),
        Hard(&'a str, &'a str),
    }

    /// Writes paths as they are, also those that the `tar` crate would refuse to write.
    fn tar_of(entries: &[Entry<'_>]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut tar = Builder::new(file.as_file().try_clone().unwrap());
        for entry in entries {
            let (path, kind, bytes, target) = match entry {
                Entry::File(path, bytes) => (path, EntryType::Regular, *bytes, ""),
                Entry::Link(path, target) => (path, EntryType::Symlink, &[][..], *target),
                Entry::Hard(path, target) => (path, EntryType::Link, &[][..], *target),
            };
            let mut header = Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            let fields = header.as_gnu_mut().unwrap();
            if path.len() > fields.name.len() {
                if kind == EntryType::Symlink {
                    tar.append_link(&mut header, path, target).unwrap();
                } else {
                    tar.append_data(&mut header, path, bytes).unwrap();
                }
                continue;
            }
            fields.name[..path.len()].copy_from_slice(path.as_bytes());
            fields.linkname[..target.len()].copy_from_slice(target.as_bytes());
            header.set_cksum();
            tar.append(&header, bytes).unwrap();
        }
        tar.finish().unwrap();
        file
    }

    fn refused(entries: &[Entry<'_>]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let cache = HubCache::new(dir.path().join("hub"));
        let tar = tar_of(entries);
        let error = format!("{:#}", import(&cache, tar.path()).unwrap_err());
        let repository = Repository::parse("org/name").unwrap();
        assert!(!cache.folder(&repository).join("snapshots").exists(), "{error}");
        assert!(!dir.path().join("escaped").exists(), "{error}");
        error
    }

    const BLOB_PATH: &str = "models--org--name/blobs/ce013625030ba8dba906f756967f9e9ca394464a";
    const FILE_PATH: &str =
        "models--org--name/snapshots/82a37760796d32b1411fe092ab5d4e227313294b/config.json";
    const TARGET: &str = "../../blobs/ce013625030ba8dba906f756967f9e9ca394464a";

    #[test]
    fn a_whole_model_is_taken_in() {
        let dir = tempfile::tempdir().unwrap();
        let cache = HubCache::new(dir.path().join("hub"));
        // Links before blobs, as another program may write them.
        let tar = tar_of(&[
            Entry::Link(FILE_PATH, TARGET),
            Entry::File("models--org--name/refs/main", COMMIT.as_bytes()),
            Entry::File(
                "./models--org--name/blobs/ce013625030ba8dba906f756967f9e9ca394464a",
                b"hello\n",
            ),
        ]);
        let models = import(&cache, tar.path()).unwrap();
        assert_eq!(models[0].to_string(), format!("hf:org/name@{COMMIT}"));
        let snapshot = cache.snapshot(&HubModel::parse("hf:org/name").unwrap()).unwrap();
        assert_eq!(fs::read_to_string(snapshot.join("config.json")).unwrap(), "hello\n");
        // A second time, and from the cache itself as a directory.
        import(&cache, tar.path()).unwrap();
        let other = HubCache::new(dir.path().join("other"));
        for from in [cache.root().to_owned(), cache.root().join("models--org--name")] {
            assert_eq!(import(&other, &from).unwrap(), models);
        }
    }

    #[test]
    fn a_blob_that_is_not_what_it_is_called_is_refused() {
        let text = refused(&[Entry::File(BLOB_PATH, b"hullo\n"), Entry::Link(FILE_PATH, TARGET)]);
        assert!(text.contains("not the hash it is called"), "{text}");
    }

    #[test]
    fn a_model_without_all_its_blobs_is_refused() {
        let text = refused(&[Entry::Link(FILE_PATH, TARGET)]);
        assert!(text.contains("config.json of org/name is missing"), "{text}");
    }

    #[test]
    fn a_file_that_this_build_knows_otherwise_is_refused() {
        let known = KnownModel::of_name("blip-base").unwrap();
        let folder = known.on_hub().unwrap().repository.folder();
        let blob = format!("{folder}/blobs/{BLOB}");
        let link = format!("{folder}/snapshots/{COMMIT}/config.json");
        let text = refused(&[Entry::File(&blob, b"hello\n"), Entry::Link(&link, TARGET)]);
        assert!(text.contains("in this build's list f7846f82"), "{text}");
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        let snapshot = format!("models--org--name/snapshots/{COMMIT}");
        for (path, reason) in [
            ("../escaped".to_owned(), "leads out of the cache"),
            ("/tmp/escaped".to_owned(), "leads out of the cache"),
            ("models--org--name/blobs/../../../escaped".to_owned(), "leads out of the cache"),
            ("models--org--name/blobs/escaped".to_owned(), "called by its hash"),
            ("models--org--name/refs/a b".to_owned(), "no revision"),
            ("models--..--etc/refs/main".to_owned(), "no model of the hub"),
            ("escaped".to_owned(), "no model of the hub"),
            ("datasets--org--name/refs/main".to_owned(), "no model of the hub"),
            (format!("{snapshot}/config.json"), "which has no place there"),
        ] {
            let text = refused(&[Entry::File(&path, b"hello\n")]);
            assert!(text.contains(reason), "{path}: {text}");
        }
        for target in ["/etc/passwd", "../../../../etc/passwd", "config.json", "../../blobs/x", ""]
        {
            let text =
                refused(&[Entry::File(BLOB_PATH, b"hello\n"), Entry::Link(FILE_PATH, target)]);
            assert!(
                text.contains("no blob beside it") || text.contains("without a target"),
                "{text}"
            );
        }
        let text = refused(&[Entry::Hard(BLOB_PATH, "/etc/passwd")]);
        assert!(text.contains("which has no place there"), "{text}");
    }

    #[test]
    fn what_is_no_tar_is_called_that() {
        let dir = tempfile::tempdir().unwrap();
        let cache = HubCache::new(dir.path().join("hub"));
        let file = dir.path().join("x.tar");
        fs::write(&file, "no tar at all, but longer than a header ".repeat(40)).unwrap();
        let text = format!("{:#}", import(&cache, &file).unwrap_err());
        assert!(text.contains("no tar"), "{text}");
        let model = dir.path().join("model");
        fs::create_dir(&model).unwrap();
        fs::write(model.join("config.json"), "{}").unwrap();
        let text = format!("{:#}", import(&cache, &model).unwrap_err());
        assert!(text.contains("needs no import: set captioner.model"), "{text}");
    }
}
