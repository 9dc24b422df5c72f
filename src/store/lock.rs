//! One process at a time in a store's directory.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::store::StoreError;

/// Held while the store is open. The kernel lets go of it when the process ends,
/// however it ends, so that no stale lock is left behind.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    file: File,
}

/// A child that was just forked and runs no other program yet has the file open, too, and would hold
/// the lock as long.
impl Drop for DirectoryLock {
    fn drop(&mut self) {
        if let Err(error) = rustix::fs::flock(&self.file, FlockOperation::Unlock) {
            log::warn!(error:%; "the lock of the store is let go of only with its file");
        }
    }
}

impl DirectoryLock {
    pub(super) fn take(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join("lock");
        let io = |error: &std::io::Error| StoreError::io("lock the store", &path, error);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(|error| io(&error))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(StoreError::Locked { path: dir.to_owned(), holder: holder(&file) });
            }
            Err(error) => return Err(io(&error.into())),
        }
        note_holder(&mut file).map_err(|error| io(&error))?;
        Ok(Self { file })
    }
}

/// For the message of the next process that comes; nothing relies on it.
fn note_holder(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn holder(file: &File) -> String {
    let mut text = String::new();
    let read = file.take(32).read_to_string(&mut text);
    match (read, text.trim().parse::<u32>()) {
        (Ok(_), Ok(pid)) => format!("process {pid}"),
        _ => "another process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_is_refused_by_the_name_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let first = DirectoryLock::take(dir.path()).unwrap();
        let second = DirectoryLock::take(dir.path()).unwrap_err();
        let text = second.to_string();
        assert!(text.contains(&format!("process {}", std::process::id())), "{text}");
        drop(first);
        DirectoryLock::take(dir.path()).unwrap();
    }

    #[test]
    fn a_child_that_inherits_the_file_does_not_hold_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let lock = DirectoryLock::take(dir.path()).unwrap();
        let inherited = lock.file.try_clone().unwrap();
        drop(lock);
        DirectoryLock::take(dir.path()).unwrap();
        drop(inherited);
    }
}
