//! Trial: a copy of the database on which a start is tried first.
//!
//! sled changes its files when it opens them: it cuts a torn end off, empties segments that
//! nothing uses, writes a snapshot. On a damaged database that takes away what could still
//! have been saved. So a start that may fail is tried on a copy, and where it does, the
//! directory is as it was.
//!
//! The copy costs time and room. It is left out where the files are those that the last
//! process closed in order, by the names, sizes and times that it noted (`db.clean`), unless
//! they are small; and where there is no room for it.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::store::StoreError;
use crate::store::copy::copy_tree;
use crate::store::durable;
use crate::store::room;

/// Databases up to this size are copied whatever was noted: it takes some 50 ms.
const ALWAYS_BYTES_MAX: u64 = 64 << 20;
/// Left on the disk beside a copy.
const ROOM_LEFT: u64 = 64 << 20;

/// Copy of a database, removed with this.
#[derive(Debug)]
pub(super) struct Trial {
    path: PathBuf,
}

impl Trial {
    /// A copy of the database at `db`; `None` where it is left out.
    pub(super) fn of(db: &Path) -> io::Result<Option<Self>> {
        remove(&db.with_extension("trial"))?;
        let files = list(db)?;
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        if bytes > ALWAYS_BYTES_MAX && is_as_noted(db, &files) {
            return Ok(None);
        }
        let dir = db.parent().unwrap_or(db);
        if room::free(dir)? < bytes + ROOM_LEFT {
            log::warn!(bytes; "no room for a copy of the database: the start is tried on itself");
            return Ok(None);
        }
        Self::always(db).map(Some)
    }

    /// A copy of the database at `db`, whatever it costs.
    pub(super) fn always(db: &Path) -> io::Result<Self> {
        let trial = Self { path: db.with_extension("trial") };
        remove(&trial.path)?;
        copy_tree(db, &trial.path)?;
        Ok(trial)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            log::warn!(error:%; "cannot remove {}, a copy of the database", self.path.display());
        }
    }
}

/// Where a copy of all that opening the store takes is made, to look at.
pub(super) fn store_copy_in(dir: &Path) -> PathBuf {
    dir.join("doctor.copy")
}

/// Takes one away that a kill left: its keyring reads what is forgotten from now on.
pub(super) fn remove_store_copy(dir: &Path) -> Result<(), StoreError> {
    remove(&store_copy_in(dir))
        .map_err(|error| StoreError::io("remove the copy of the store in", dir, &error))
}

/// Notes the files of a database that was closed in order.
pub(super) fn note_closed(db: &Path) -> io::Result<()> {
    durable::replace(&note_path(db), print(&list(db)?).as_bytes())
}

/// What was noted holds no more: the database is about to be opened.
pub(super) fn forget_note(db: &Path) -> io::Result<()> {
    match fs::remove_file(note_path(db)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn note_path(db: &Path) -> PathBuf {
    db.with_extension("clean")
}

fn is_as_noted(db: &Path, files: &[FileNote]) -> bool {
    fs::read_to_string(note_path(db)).is_ok_and(|noted| noted == print(files))
}

struct FileNote {
    name: String,
    bytes: u64,
    changed_at: (i64, i64),
}

fn print(files: &[FileNote]) -> String {
    let line = |FileNote { name, bytes, changed_at: (seconds, nanos) }: &FileNote| {
        format!("{name} {bytes} {seconds}.{nanos:09}\n")
    };
    files.iter().map(line).collect()
}

/// The files below a database, by name.
fn list(db: &Path) -> io::Result<Vec<FileNote>> {
    let mut files = Vec::new();
    for dir in [db.to_owned(), db.join("blobs")] {
        for entry in fs::read_dir(&dir).into_iter().flatten() {
            let entry = entry?;
            let meta = entry.metadata()?;
            if meta.is_file() {
                let name = entry.path().strip_prefix(db).unwrap_or(&dir).display().to_string();
                let changed_at = (meta.mtime(), meta.mtime_nsec());
                files.push(FileNote { name, bytes: meta.len(), changed_at });
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_changed_since_they_were_closed_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let db = dir.path().join("db");
        fs::create_dir_all(db.join("blobs")).unwrap();
        for name in ["db", "conf", "blobs/17"] {
            fs::write(db.join(name), name).unwrap();
        }
        let is_as_noted = || is_as_noted(&db, &list(&db).unwrap());
        assert!(!is_as_noted(), "nothing is noted");
        note_closed(&db).unwrap();
        assert!(is_as_noted());
        fs::write(db.join("blobs/17"), "").unwrap();
        assert!(!is_as_noted());
        note_closed(&db).unwrap();
        fs::remove_file(db.join("conf")).unwrap();
        assert!(!is_as_noted());
        forget_note(&db).unwrap();
        note_closed(&db).unwrap();
        assert!(is_as_noted());
    }

    #[test]
    fn a_copy_goes_with_its_trial() {
        let dir = tempfile::tempdir().unwrap();
        let db = dir.path().join("db");
        fs::create_dir_all(&db).unwrap();
        fs::write(db.join("db"), "log").unwrap();
        let trial = Trial::of(&db).unwrap().unwrap();
        assert_eq!(fs::read(trial.path().join("db")).unwrap(), b"log");
        let path = trial.path().to_owned();
        drop(trial);
        assert!(!path.exists() && db.join("db").exists());
    }
}
