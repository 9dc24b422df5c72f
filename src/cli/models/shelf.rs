//! A repository's shelf in the hub's cache, as `pull` and `import` fill it and `remove` clears
//! it: blobs under their hashes, snapshots of relative links to them, references, a lock a blob.
//! The layout is that of `huggingface_hub`, whose programs read it at the same time.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use rustix::fs::{FlockOperation, OFlags, flock, statvfs};
use rustix::io::Errno;

use crate::cli::models::blob::{BlobName, Digests};
use crate::model::hub_cache::{Commit, HubCache, Repository, Revision};

/// What a cache says of itself to backup programs.
const CACHE_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
     # This directory holds models that can be fetched again.\n";

/// Room that is left free on the disk beyond what is fetched.
const MARGIN_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone, Copy)]
pub(super) struct Shelf<'a> {
    pub(super) cache: &'a HubCache,
    pub(super) repository: &'a Repository,
}

/// Held while a blob is fetched: other programs wait for it, or wait in vain.
#[derive(Debug)]
pub(super) struct BlobLock {
    _file: File,
}

impl Shelf<'_> {
    pub(super) fn blob(&self, blob: &BlobName) -> PathBuf {
        self.cache.blobs(self.repository).join(blob.as_str())
    }

    /// Where a blob lies until all of it is there and was checked.
    pub(super) fn incomplete(&self, blob: &BlobName) -> PathBuf {
        self.cache.blobs(self.repository).join(format!("{blob}.incomplete"))
    }

    /// Bytes of a blob that was not fetched to its end.
    #[cfg(feature = "pull")]
    pub(super) fn incomplete_bytes(&self, blob: &BlobName) -> u64 {
        fs::symlink_metadata(self.incomplete(blob)).map_or(0, |it| it.len())
    }

    fn lock_path(&self, blob: &BlobName) -> PathBuf {
        let locks = self.cache.root().join(".locks").join(self.repository.folder());
        locks.join(format!("{blob}.lock"))
    }

    /// The blob's lock, or `None` while another process holds it.
    pub(super) fn try_lock(&self, blob: &BlobName) -> anyhow::Result<Option<BlobLock>> {
        let path = self.lock_path(blob);
        make_parent(&path)?;
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("the lock {} cannot be opened", path.display()))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(BlobLock { _file: file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("{} cannot be locked", path.display()))
            }
        }
    }

    /// Opens the place of an incomplete blob, never through a link.
    pub(super) fn open_incomplete(&self, blob: &BlobName) -> anyhow::Result<File> {
        let path = self.incomplete(blob);
        make_parent(&path)?;
        self.tag_cache();
        let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let mut options = OpenOptions::new();
        options.create(true).read(true).write(true).truncate(false).custom_flags(no_link);
        options.open(&path).with_context(|| format!("{} cannot be written", path.display()))
    }

    /// Puts a whole and checked blob where it belongs.
    pub(super) fn put(&self, blob: &BlobName, file: &File) -> anyhow::Result<()> {
        let path = self.blob(blob);
        let done = file.sync_all().and_then(|()| fs::rename(self.incomplete(blob), &path));
        done.with_context(|| format!("{} cannot be put in place", path.display()))
    }

    /// Links a snapshot's file to its blob: relatively, so that the cache can be moved.
    pub(super) fn link(&self, commit: &Commit, name: &str, blob: &BlobName) -> anyhow::Result<()> {
        let path = self.cache.snapshot_dir(self.repository, commit).join(name);
        let target = link_target(name, blob);
        if fs::read_link(&path).is_ok_and(|found| found == target) {
            return Ok(());
        }
        make_parent(&path)?;
        let fresh = with_ending(&path, ".new");
        let linked = remove_if_there(&fresh)
            .and_then(|()| symlink(&target, &fresh))
            .and_then(|()| fs::rename(&fresh, &path));
        linked.with_context(|| format!("{} cannot be linked", path.display()))
    }

    /// Notes which commit a branch or tag stands for. A commit needs no note.
    pub(super) fn refer(&self, revision: &Revision, commit: &Commit) -> anyhow::Result<()> {
        if revision.commit().is_some() {
            return Ok(());
        }
        let path = self.cache.reference(self.repository, revision);
        make_parent(&path)?;
        let fresh = with_ending(&path, ".new");
        let written = fs::write(&fresh, commit.as_str()).and_then(|()| fs::rename(&fresh, &path));
        written.with_context(|| format!("{} cannot be written", path.display()))
    }

    /// Refuses what the disk has no room for.
    pub(super) fn check_room(&self, bytes: u64) -> anyhow::Result<()> {
        let root = self.cache.root();
        fs::create_dir_all(root)
            .with_context(|| format!("the cache {} cannot be made", root.display()))?;
        let disk = statvfs(root)
            .with_context(|| format!("the disk of {} does not say what is free", root.display()))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if bytes.saturating_add(MARGIN_BYTES) > free {
            bail!(
                "{} has {} free, and {} are needed, with {} to spare: make room, or set \
                 HF_HUB_CACHE to a directory on another disk",
                root.display(),
                size(free),
                size(bytes),
                size(MARGIN_BYTES)
            );
        }
        Ok(())
    }

    /// Best effort: a cache without it works.
    fn tag_cache(&self) {
        let path = self.cache.root().join("CACHEDIR.TAG");
        if !path.exists() {
            drop(fs::write(path, CACHE_TAG));
        }
    }
}

/// What a snapshot's file of this name links to: `../../blobs/HASH`, further up in a folder.
pub(super) fn link_target(name: &str, blob: &BlobName) -> PathBuf {
    let up = "../".repeat(2 + name.matches('/').count());
    PathBuf::from(format!("{up}blobs/{blob}"))
}

/// Hashes of the file at `path`, links followed.
pub(super) fn digests_at(path: &Path) -> anyhow::Result<Digests> {
    let mut file =
        File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Digests::of(&mut file, |_| ()).with_context(|| format!("{} cannot be read", path.display()))
}

/// As people say it.
pub(super) fn size(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{megabytes:.1} MB"),
        _ => format!("{:.2} GB", megabytes / 1e3),
    }
}

pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn make_parent(path: &Path) -> anyhow::Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_blobs_from_any_depth() {
        let blob = BlobName::parse(&"a".repeat(40)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let cache = HubCache::new(dir.path().to_owned());
        let repository = Repository::parse("org/name").unwrap();
        let shelf = Shelf { cache: &cache, repository: &repository };
        let commit = Commit::parse(&"b".repeat(40)).unwrap();
        shelf.open_incomplete(&blob).unwrap();
        let file = shelf.open_incomplete(&blob).unwrap();
        shelf.put(&blob, &file).unwrap();
        for name in ["config.json", "1_Pooling/config.json", "a/b/c"] {
            for _ in 0..2 {
                shelf.link(&commit, name, &blob).unwrap();
            }
            let linked = cache.snapshot_dir(&repository, &commit).join(name);
            assert_eq!(linked.canonicalize().unwrap(), shelf.blob(&blob).canonicalize().unwrap());
            assert!(fs::read_link(&linked).unwrap().is_relative());
        }
    }

    #[test]
    fn a_lock_is_held_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let cache = HubCache::new(dir.path().to_owned());
        let repository = Repository::parse("org/name").unwrap();
        let shelf = Shelf { cache: &cache, repository: &repository };
        let blob = BlobName::parse(&"a".repeat(40)).unwrap();
        let held = shelf.try_lock(&blob).unwrap();
        assert!(held.is_some() && shelf.try_lock(&blob).unwrap().is_none());
        drop(held);
        assert!(shelf.try_lock(&blob).unwrap().is_some());
    }

    #[test]
    fn sizes_are_read_at_a_glance() {
        for (bytes, text) in
            [(287, "287 B"), (4_563, "4.6 kB"), (90_868_376, "90.9 MB"), (1_879_014_680, "1.88 GB")]
        {
            assert_eq!(size(bytes), text);
        }
    }
}
