//! Keeps the state directory to the daemon's own user: 0700, and 0600 for files.
//!
//! What is made from now on is made so; what is there already is put right at each start,
//! and said. Links are not followed, and what they point to is left alone.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use log::warn;
use rustix::fs::Mode;

/// A state directory that others can get into.
#[derive(Debug, thiserror::Error)]
#[error(
    "the state directory {path:?} cannot be kept to this user: {error}; it must belong to user \
     {uid}, who runs this"
)]
pub struct NotPrivate {
    path: PathBuf,
    uid: u32,
    #[source]
    error: io::Error,
}

/// What was open to others.
#[derive(Debug, Default, PartialEq, Eq)]
struct Loose {
    dirs: usize,
    files: usize,
    /// An example with its mode.
    first: Option<(PathBuf, u32)>,
    /// What could not be put right, with the reason of the first.
    kept: usize,
    why: Option<String>,
}

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// All that is no mode of a private file: others' rights, and set-id bits.
const OTHERS: u32 = 0o7077;

/// Makes every file of this process from now on its user's alone, from the first moment.
pub fn keep_new_files_private() {
    rustix::process::umask(Mode::from_raw_mode(OTHERS & 0o777));
}

/// Makes the directory if absent, and keeps it and what is in it to this user.
pub fn keep_private(state_dir: &Path) -> Result<(), NotPrivate> {
    keep_new_files_private();
    let refusal = |error| {
        let uid = rustix::process::geteuid().as_raw();
        NotPrivate { path: state_dir.to_owned(), uid, error }
    };
    DirBuilder::new().recursive(true).mode(DIR_MODE).create(state_dir).map_err(refusal)?;
    let mut loose = Loose::default();
    let held = fs::metadata(state_dir).map_err(refusal)?;
    if held.uid() != rustix::process::geteuid().as_raw() {
        return Err(refusal(io::ErrorKind::PermissionDenied.into()));
    }
    loose.put_right(state_dir, &held).map_err(refusal)?;
    loose.walk(state_dir).map_err(refusal)?;
    loose.say(state_dir);
    Ok(())
}

impl Loose {
    fn walk(&mut self, top: &Path) -> io::Result<()> {
        let mut todo = vec![top.to_owned()];
        while let Some(dir) = todo.pop() {
            for entry in fs::read_dir(&dir)? {
                let entry = entry?;
                // Gone meanwhile: a socket or a draft of another process.
                let Ok(held) = entry.metadata() else { continue };
                if !held.is_file() && !held.is_dir() {
                    continue;
                }
                let path = entry.path();
                if let Err(error) = self.put_right(&path, &held) {
                    self.kept += 1;
                    self.why.get_or_insert_with(|| format!("{}: {error}", path.display()));
                }
                if held.is_dir() {
                    todo.push(path);
                }
            }
        }
        Ok(())
    }

    fn put_right(&mut self, path: &Path, held: &Metadata) -> io::Result<()> {
        let found = held.permissions().mode() & 0o7777;
        if found & OTHERS == 0 {
            return Ok(());
        }
        let mode = if held.is_dir() { DIR_MODE } else { FILE_MODE };
        fs::set_permissions(path, Permissions::from_mode(mode))?;
        let count = if held.is_dir() { &mut self.dirs } else { &mut self.files };
        *count += 1;
        self.first.get_or_insert_with(|| (path.to_owned(), found));
        Ok(())
    }

    fn say(&self, state_dir: &Path) {
        let Self { dirs, files, first, kept, why } = self;
        if let Some((path, mode)) = first {
            warn!(
                path:? = path, mode:% = format!("{mode:04o}");
                "{dirs} directories and {files} files of the memory were open to other users, such \
                 as this one; they are this user's alone now. Who could read {} until now may have",
                state_dir.display()
            );
        }
        if let Some(why) = why {
            warn!("{kept} files in the state directory cannot be kept to this user: {why}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn what_is_there_is_put_right_and_links_are_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let state = place.path().join("state");
        fs::create_dir_all(state.join("frames/0")).unwrap();
        let files = ["manifest", "frames/0/1.jpg"].map(|name| state.join(name));
        for file in &files {
            fs::write(file, "x").unwrap();
            fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
        }
        let foreign = place.path().join("foreign");
        fs::write(&foreign, "x").unwrap();
        fs::set_permissions(&foreign, Permissions::from_mode(0o644)).unwrap();
        symlink(&foreign, state.join("link")).unwrap();
        for dir in ["", "frames", "frames/0"] {
            fs::set_permissions(state.join(dir), Permissions::from_mode(0o755)).unwrap();
        }
        let mut loose = Loose::default();
        loose.put_right(&state, &fs::metadata(&state).unwrap()).unwrap();
        loose.walk(&state).unwrap();
        assert_eq!((loose.dirs, loose.files, loose.kept), (3, 2, 0));
        assert_eq!(loose.first, Some((state.clone(), 0o755)));
        for dir in ["", "frames", "frames/0"] {
            assert_eq!(mode(&state.join(dir)), 0o700, "{dir}");
        }
        assert_eq!(files.map(|file| mode(&file)), [0o600; 2]);
        assert_eq!(mode(&foreign), 0o644);
        let mut again = Loose::default();
        again.walk(&state).unwrap();
        assert_eq!(again, Loose::default());
    }
}
