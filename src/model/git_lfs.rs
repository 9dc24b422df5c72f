//! Pointers of Git LFS, which stand for a file that was never fetched.

use std::io;

/// Says of a file that begins like this that it is only a pointer, if it is.
pub(super) fn refuse_pointer(start: &[u8]) -> io::Result<()> {
    if start.starts_with(LFS_POINTER) {
        return Err(io::Error::other(
            "it is a Git LFS pointer, not the file that it stands for; run `git lfs pull` where \
             it was cloned, or download the file itself",
        ));
    }
    Ok(())
}

/// How a file begins that stands for one in Git LFS.
pub(super) const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
