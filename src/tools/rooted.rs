//! Files that clients name: regular ones, and within the directories that the settings name.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Opens the file, wherever its links lead, if that is within one of `roots`. One reason for
/// all that lies outside, so that nobody learns what is there.
pub(super) fn open(roots: &[PathBuf], path: &Path) -> Result<File, String> {
    let outside = || "no file within the directories that the settings name".to_owned();
    let roots: Vec<PathBuf> = roots.iter().filter_map(|it| fs::canonicalize(it).ok()).collect();
    let is_within = |path: &Path| roots.iter().any(|root| path.starts_with(root));
    let real = fs::canonicalize(path).map_err(|_unknown| outside())?;
    if !is_within(&real) {
        return Err(outside());
    }
    // Not waiting: a FIFO would have it wait for a writer.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(flags.bits().cast_signed());
    let file = options.open(&real).map_err(|error| error.to_string())?;
    // What was opened, not what stood there before: a directory may have changed meanwhile.
    let opened = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    if !opened.is_ok_and(|opened| is_within(&opened)) {
        return Err(outside());
    }
    match file.metadata() {
        Ok(held) if held.is_file() => Ok(file),
        Ok(_) => Err("not a regular file".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_outside_the_roots_is_opened() {
        let place = tempfile::tempdir().unwrap();
        let [root, other] = ["root", "other"].map(|name| place.path().join(name));
        for dir in [&root, &other, &root.join("inner")] {
            fs::create_dir_all(dir).unwrap();
            fs::write(dir.join("file"), "text").unwrap();
        }
        symlink(other.join("file"), root.join("link")).unwrap();
        symlink(&other, root.join("dir")).unwrap();
        symlink(root.join("inner/file"), root.join("fine")).unwrap();
        let roots = [place.path().join("absent"), root.clone()];
        for name in ["file", "inner/file", "fine", "inner/../file"] {
            let mut text = String::new();
            open(&roots, &root.join(name)).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "text", "{name}");
        }
        let outside = open(&roots, &other.join("nothing")).unwrap_err();
        for name in ["link", "dir/file", "../other/file", "../other/none", "absent", "/etc/passwd"]
        {
            assert_eq!(open(&roots, &root.join(name)).unwrap_err(), outside, "{name}");
        }
        assert_eq!(open(&roots, &root.join("inner")).unwrap_err(), "not a regular file");
        assert_eq!(open(&[], &root.join("file")).unwrap_err(), outside);
    }
}
