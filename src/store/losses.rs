//! Losses: what the store found missing, kept until somebody has looked.
//!
//! A line each in the file `losses`; what was looked at moves to `losses.seen`.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::store::StoreError;
use crate::store::durable;

/// Lines kept; of more, the first say enough.
const LINES_MAX: usize = 1_000;

#[derive(Debug, Clone)]
pub struct Losses {
    path: PathBuf,
}

impl Losses {
    pub fn in_dir(dir: &Path) -> Self {
        Self { path: dir.join("losses") }
    }

    /// Those that nobody has looked at, in the order of their finding.
    pub fn read(&self) -> Result<Vec<String>, StoreError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(text.lines().take(LINES_MAX).map(str::to_owned).collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(StoreError::io("read the losses", &self.path, &error)),
        }
    }

    /// Keeps a loss and says it in the log; once, however often it is found.
    pub(super) fn note(&self, loss: &str) -> Result<(), StoreError> {
        log::error!(loss:%; "the store lost something");
        let mut lines = self.read()?;
        if lines.iter().any(|it| it == loss) || lines.len() >= LINES_MAX {
            return Ok(());
        }
        lines.push(loss.replace('\n', " "));
        let text = lines.join("\n") + "\n";
        durable::replace(&self.path, text.as_bytes())
            .map_err(|error| StoreError::io("write the losses", &self.path, &error))
    }

    /// Somebody looked: from now on they count no more. Returns how many there were.
    pub fn settle(&self) -> Result<usize, StoreError> {
        let lines = self.read()?;
        if lines.is_empty() {
            return Ok(0);
        }
        let seen = self.path.with_extension("seen");
        let io = |error: std::io::Error| StoreError::io("keep the losses in", &seen, &error);
        let mut file = OpenOptions::new().append(true).create(true).open(&seen).map_err(io)?;
        let text = lines.join("\n") + "\n";
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io)?;
        fs::remove_file(&self.path)
            .map_err(|error| StoreError::io("remove the losses", &self.path, &error))?;
        Ok(lines.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_kept_once_until_somebody_looks() {
        let dir = tempfile::tempdir().unwrap();
        let losses = Losses::in_dir(dir.path());
        assert_eq!(losses.read().unwrap(), Vec::<String>::new());
        losses.note("notes: 3 of 7 are missing").unwrap();
        losses.note("memos: 1 of 2 are missing").unwrap();
        losses.note("notes: 3 of 7 are missing").unwrap();
        let found = ["notes: 3 of 7 are missing", "memos: 1 of 2 are missing"];
        assert_eq!(losses.read().unwrap(), found);
        assert_eq!((losses.settle().unwrap(), losses.settle().unwrap()), (2, 0));
        assert_eq!(losses.read().unwrap(), Vec::<String>::new());
        let seen = fs::read_to_string(dir.path().join("losses.seen")).unwrap();
        assert_eq!(seen.lines().collect::<Vec<_>>(), found);
    }
}
