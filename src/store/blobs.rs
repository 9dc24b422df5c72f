//! Files beside sled's log that hold its largest pages, made durable.
//!
//! sled writes a page of more than an eighth of a megabyte to a file of its own, names it in
//! the log and syncs neither the file nor its name. Both are synced here before a commit is
//! acknowledged.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::store::durable;

/// How coarse the kernel's times of directories are, with room to spare.
const TICK: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct BlobDirectory {
    dir: PathBuf,
    synced: BTreeSet<OsString>,
    /// When the directory had last changed as its files were synced.
    changed_at: Option<SystemTime>,
}

impl BlobDirectory {
    /// Of the database at `path`. Files that are there count as not synced.
    pub(super) fn of(path: &Path) -> Self {
        Self { dir: path.join("blobs"), synced: BTreeSet::new(), changed_at: None }
    }

    /// Syncs the files that are new, and their names.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        let changed_at = match fs::metadata(&self.dir) {
            Ok(meta) => meta.modified()?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        // A file that came in the same tick left the time as it was.
        let is_old = changed_at.elapsed().is_ok_and(|age| age > TICK);
        if is_old && self.changed_at == Some(changed_at) {
            return Ok(());
        }
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(&self.dir)? {
            found.insert(entry?.file_name());
        }
        let mut is_any_new = false;
        for name in found.difference(&self.synced) {
            match File::open(self.dir.join(name)) {
                Ok(file) => file.sync_all()?,
                // sled removes what it has written anew.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            is_any_new = true;
        }
        if is_any_new {
            durable::sync_dir(&self.dir)?;
        }
        self.synced = found;
        self.changed_at = Some(changed_at);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn is_synced(&self, name: &std::ffi::OsStr) -> bool {
        self.synced.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_come_and_go_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let mut blobs = BlobDirectory::of(dir.path());
        blobs.sync().unwrap();
        fs::create_dir(dir.path().join("blobs")).unwrap();
        for name in ["1", "2", "3"] {
            // Within one tick of the directory's time.
            fs::write(dir.path().join("blobs").join(name), b"page").unwrap();
            blobs.sync().unwrap();
            assert!(blobs.is_synced(name.as_ref()), "{name}");
        }
        fs::remove_file(dir.path().join("blobs/2")).unwrap();
        blobs.sync().unwrap();
        assert!(!blobs.is_synced("2".as_ref()) && blobs.is_synced("3".as_ref()));
    }
}
