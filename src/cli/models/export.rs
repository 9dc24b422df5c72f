//! `engram models export`: a model of the cache as a tar, to be carried where no network is. The
//! tar has the cache's own layout, so that `tar x` in another cache does what `import` does,
//! without its checks.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tar::{Builder, EntryType, Header};

use crate::cli::models::blob::{BlobName, Digests};
use crate::cli::models::shelf::{Shelf, link_target};
use crate::cli::models::snapshot::{SnapshotFile, files_of};
use crate::model::hub_cache::{Commit, HubCache, HubModel, Revision};

/// Writes the snapshot of `model` at `commit` into `out`, every blob checked on its way.
pub(super) fn export(
    cache: &HubCache,
    model: &HubModel,
    commit: &Commit,
    out: impl Write,
) -> anyhow::Result<()> {
    let shelf = Shelf { cache, repository: &model.repository };
    let files = files_of(cache, &model.repository, commit)?;
    let mut tar = Builder::new(out);
    let folder = PathBuf::from(model.repository.folder());
    let mut written = BTreeSet::new();
    for file in &files {
        let SnapshotFile { name, blob } = file;
        let Some(blob) = blob else {
            bail!("{name} lies in the snapshot itself, without a blob: fetch the model again");
        };
        if written.insert(blob.clone()) {
            add_blob(&mut tar, &shelf, blob, &folder.join("blobs").join(blob.as_str()))
                .with_context(|| format!("{name} was not written"))?;
        }
    }
    for revision in [model.revision.clone(), Revision::main()] {
        let named = HubModel { repository: model.repository.clone(), revision };
        if named.revision.commit().is_none() && cache.commit(&named).as_ref() == Some(commit) {
            let path = folder.join("refs").join(named.revision.as_str());
            let text = commit.as_str().as_bytes();
            let mut header = header(EntryType::Regular, text.len() as u64);
            tar.append_data(&mut header, &path, text)?;
            if named.revision == Revision::main() {
                break;
            }
        }
    }
    for SnapshotFile { name, blob } in &files {
        let Some(blob) = blob else { continue };
        let path = folder.join("snapshots").join(commit.as_str()).join(name);
        let mut header = header(EntryType::Symlink, 0);
        tar.append_link(&mut header, &path, link_target(name, blob))?;
    }
    tar.into_inner()?.flush()?;
    Ok(())
}

/// Writes into `path`, which must not be there yet and is there only as a whole.
pub(super) fn export_to(
    cache: &HubCache,
    model: &HubModel,
    commit: &Commit,
    path: &Path,
) -> anyhow::Result<u64> {
    let dir =
        path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let fresh = tempfile::Builder::new().prefix(".engram-export").tempfile_in(dir);
    let fresh = fresh.with_context(|| format!("{} cannot be written", dir.display()))?;
    export(cache, model, commit, io::BufWriter::new(fresh.as_file()))?;
    fresh.as_file().sync_all()?;
    let bytes = fresh.as_file().metadata()?.len();
    let kept = fresh.persist_noclobber(path).map_err(|error| error.error);
    let file = kept.with_context(|| format!("{} cannot be written", path.display()))?;
    make_readable(&file)?;
    Ok(bytes)
}

/// A temporary file is its owner's alone; what is carried on a stick is for others.
fn make_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

fn add_blob(
    tar: &mut Builder<impl Write>,
    shelf: &Shelf<'_>,
    blob: &BlobName,
    path: &Path,
) -> anyhow::Result<()> {
    let mut file = File::open(shelf.blob(blob))?;
    let found = Digests::of(&mut file, |_| ())?;
    if !blob.names(&found) {
        bail!("its content is no longer what it was (SHA-256 {}): fetch it again", found.sha256);
    }
    let bytes = file.metadata()?.len();
    io::Seek::rewind(&mut file)?;
    tar.append_data(&mut header(EntryType::Regular, bytes), path, file.take(bytes))?;
    Ok(())
}

/// The same bytes whoever exports when: no times, no owners.
fn header(kind: EntryType, bytes: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}
