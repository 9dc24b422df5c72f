//! What a snapshot in the hub's cache holds, and whether it is what it should be.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::cli::models::blob::BlobName;
use crate::cli::models::shelf::digests_at;
use crate::model::hub_cache::{Commit, HubCache, HubModel, Repository};
use crate::model::known_models::KnownModel;

/// Files of a snapshot, and folders within it: models have tens and one or two.
const FILES_MAX: usize = 10_000;
const DEPTH_MAX: usize = 8;

/// A file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SnapshotFile {
    /// Relative to the snapshot.
    pub(super) name: String,
    /// `None` where the file lies there itself, as on a disk without links.
    pub(super) blob: Option<BlobName>,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) name: String,
    pub(super) reason: String,
}

/// All files of a snapshot, by name.
pub(super) fn files_of(
    cache: &HubCache,
    repository: &Repository,
    commit: &Commit,
) -> anyhow::Result<Vec<SnapshotFile>> {
    let dir = cache.snapshot_dir(repository, commit);
    let mut files = Vec::new();
    collect(&dir, "", DEPTH_MAX, &mut files)
        .with_context(|| format!("{} cannot be read", dir.display()))?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn collect(
    dir: &Path,
    prefix: &str,
    depth: usize,
    files: &mut Vec<SnapshotFile>,
) -> anyhow::Result<()> {
    if depth == 0 {
        bail!("it has folders more than {DEPTH_MAX} deep");
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            bail!("it holds {}, which is no text", entry.file_name().display());
        };
        let name = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), depth - 1, files)?;
            continue;
        }
        if files.len() >= FILES_MAX {
            bail!("it holds more than {FILES_MAX} files");
        }
        files.push(SnapshotFile { name, blob: blob_of(&entry.path()) });
    }
    Ok(())
}

/// The blob that a link leads to, by its name.
fn blob_of(link: &Path) -> Option<BlobName> {
    let target = fs::read_link(link).ok()?;
    let is_blob = target.parent()?.ends_with("blobs");
    BlobName::parse(target.file_name()?.to_str()?).filter(|_| is_blob)
}

/// Reads every file of a snapshot and names those that are not what they should be: by the name
/// of their blob, and by this build's list where the model is in it.
pub(super) fn faults(
    cache: &HubCache,
    repository: &Repository,
    commit: &Commit,
) -> anyhow::Result<(usize, Vec<Fault>)> {
    let files = files_of(cache, repository, commit)?;
    let model = HubModel { repository: repository.clone(), revision: commit.clone().into() };
    let listed = KnownModel::of_hub(&model, commit).map_or(&[][..], |it| it.files);
    let mut faults = Vec::new();
    for file in &files {
        let path = cache.snapshot_dir(repository, commit).join(&file.name);
        let fault = |reason| Fault { name: file.name.clone(), reason };
        if !path.exists() {
            faults.push(fault("its blob is not there".to_owned()));
            continue;
        }
        let found = digests_at(&path)?;
        if let Some(blob) = file.blob.as_ref().filter(|it| !it.names(&found)) {
            let hash = if blob.sha256().is_some() { &found.sha256 } else { &found.git };
            faults.push(fault(format!("its content has the hash {hash}, it is called {blob}")));
            continue;
        }
        let listed = listed.iter().find(|it| it.path == file.name).and_then(|it| it.sha256);
        if let Some(expected) = listed.filter(|it| *it != found.sha256) {
            let found = &found.sha256;
            faults.push(fault(format!("its SHA-256 is {found}, in this build's list {expected}")));
        }
    }
    for missing in listed.iter().filter(|it| files.iter().all(|file| file.name != it.path)) {
        let reason = "it is not there".to_owned();
        faults.push(Fault { name: missing.path.to_owned(), reason });
    }
    Ok((files.len(), faults))
}
