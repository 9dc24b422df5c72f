//! `engram models remove`: a model out of the hub's cache, with the blobs that nothing else in it
//! needs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::cli::models::blob::BlobName;
use crate::cli::models::shelf::{Shelf, remove_if_there};
use crate::cli::models::snapshot::files_of;
use crate::model::hub_cache::{Commit, HubCache, Repository};

/// References lie at most so deep: `refs/refs/pr/1`.
const DEPTH_MAX: usize = 6;

/// Removes a snapshot and says how many bytes that freed.
pub(super) fn remove(
    cache: &HubCache,
    repository: &Repository,
    commit: &Commit,
) -> anyhow::Result<u64> {
    let shelf = Shelf { cache, repository };
    let dir = cache.snapshot_dir(repository, commit);
    let mut needed = BTreeSet::new();
    let mut remaining = 0;
    for other in snapshots_of(cache, repository)? {
        if other != *commit {
            remaining += 1;
            needed
                .extend(files_of(cache, repository, &other)?.into_iter().filter_map(|it| it.blob));
        }
    }
    let own: BTreeSet<BlobName> =
        files_of(cache, repository, commit)?.into_iter().filter_map(|it| it.blob).collect();
    let unneeded: Vec<BlobName> = own.difference(&needed).cloned().collect();
    // Before anything goes: what another process fetches is not pulled from under it.
    let mut locks = Vec::new();
    for blob in &unneeded {
        let Some(lock) = shelf.try_lock(blob)? else {
            bail!("{repository} is being fetched by another process: nothing was removed");
        };
        locks.push(lock);
    }
    // Links first: a model without its files is none, one with dangling links looks like one.
    fs::remove_dir_all(&dir).with_context(|| format!("{} cannot be removed", dir.display()))?;
    let mut freed = 0;
    for blob in &unneeded {
        let path = shelf.blob(blob);
        freed += fs::symlink_metadata(&path).map_or(0, |it| it.len());
        remove_if_there(&path).with_context(|| format!("{} cannot be removed", path.display()))?;
    }
    remove_references(&cache.folder(repository).join("refs"), commit, DEPTH_MAX)?;
    if remaining == 0 {
        let folder = cache.folder(repository);
        fs::remove_dir_all(&folder)
            .with_context(|| format!("{} cannot be removed", folder.display()))?;
        // Empty files; what cannot be removed harms nobody.
        drop(fs::remove_dir_all(cache.root().join(".locks").join(repository.folder())));
    }
    Ok(freed)
}

/// Commits of which the cache holds a snapshot.
pub(super) fn snapshots_of(
    cache: &HubCache,
    repository: &Repository,
) -> anyhow::Result<Vec<Commit>> {
    let dir = cache.folder(repository).join("snapshots");
    let entries =
        fs::read_dir(&dir).with_context(|| format!("{} cannot be read", dir.display()))?;
    let mut commits = Vec::new();
    for entry in entries {
        commits.extend(entry?.file_name().to_str().and_then(Commit::parse));
    }
    commits.sort();
    Ok(commits)
}

/// References to a commit that is gone lead nowhere.
fn remove_references(dir: &Path, commit: &Commit, depth: usize) -> anyhow::Result<()> {
    if depth == 0 || !dir.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_references(&path, commit, depth - 1)?;
        } else if fs::read_to_string(&path).is_ok_and(|it| it.trim() == commit.as_str()) {
            remove_if_there(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    const OLD: &str = "1111111111111111111111111111111111111111";
    const NEW: &str = "2222222222222222222222222222222222222222";

    /// Two commits that share a blob, and have one each.
    fn cache() -> (tempfile::TempDir, HubCache, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("models--org--name");
        for part in ["blobs", "refs"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        for (commit, own) in [(OLD, 'a'), (NEW, 'b')] {
            let snapshot = folder.join("snapshots").join(commit);
            fs::create_dir_all(&snapshot).unwrap();
            for (name, blob) in [("config.json", 'c'), ("model.safetensors", own)] {
                let blob = blob.to_string().repeat(40);
                fs::write(folder.join("blobs").join(&blob), "x").unwrap();
                symlink(format!("../../blobs/{blob}"), snapshot.join(name)).unwrap();
            }
        }
        fs::write(folder.join("refs/main"), NEW).unwrap();
        let cache = HubCache::new(dir.path().to_owned());
        (dir, cache, folder)
    }

    #[test]
    fn what_another_commit_needs_stays() {
        let (_dir, cache, folder) = cache();
        let repository = Repository::parse("org/name").unwrap();
        let commit = |text: &str| Commit::parse(text).unwrap();
        assert_eq!(remove(&cache, &repository, &commit(NEW)).unwrap(), 1);
        assert!(!folder.join("refs/main").exists());
        assert!(!folder.join("blobs").join("b".repeat(40)).exists());
        assert!(folder.join("snapshots").join(OLD).join("config.json").exists());
        assert!(folder.join("snapshots").join(OLD).join("model.safetensors").exists());
        assert_eq!(remove(&cache, &repository, &commit(OLD)).unwrap(), 2);
        assert!(!folder.exists());
    }

    #[test]
    fn what_is_being_fetched_stays() {
        let (_dir, cache, folder) = cache();
        let repository = Repository::parse("org/name").unwrap();
        let shelf = Shelf { cache: &cache, repository: &repository };
        let _lock = shelf.try_lock(&BlobName::parse(&"b".repeat(40)).unwrap()).unwrap();
        remove(&cache, &repository, &Commit::parse(NEW).unwrap()).unwrap_err();
        assert!(folder.join("snapshots").join(NEW).join("model.safetensors").exists());
    }
}
