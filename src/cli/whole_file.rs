//! A file that is there as a whole or not at all: written beside its place, then named.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

/// What becomes of a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Replaced,
    Refused,
}

/// Writes a file that others may read, as far as the process's mask lets them.
pub(super) fn write(path: &Path, bytes: &[u8], taken: Taken) -> io::Result<()> {
    let mut draft = draft(path)?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    match taken {
        Taken::Replaced => draft.persist(path)?,
        Taken::Refused => draft.persist_noclobber(path)?,
    };
    Ok(())
}

/// Whether [`write`] could replace such a file now, for who has it ready only in a while.
pub(super) fn check(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    draft(path)?.close()
}

fn draft(path: &Path) -> io::Result<NamedTempFile> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(dir.unwrap_or_else(|| Path::new(".")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_replaced_only_where_that_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.prom");
        write(&path, b"one", Taken::Refused).unwrap();
        let refused = write(&path, b"two", Taken::Refused).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write(&path, b"two", Taken::Replaced).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_check_leaves_what_is_there_and_finds_what_could_not_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.svg");
        check(&path).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        fs::write(&path, b"one").unwrap();
        check(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(check(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let nowhere = check(&dir.path().join("no/a.svg")).unwrap_err();
        assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
    }
}
