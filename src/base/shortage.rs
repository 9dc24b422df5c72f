//! Failures for want of something that the machine has no more of: room on the disk, file
//! descriptors, memory, a disk that takes writes.

use std::fmt::Display;
use std::io;

use rustix::io::Errno;

/// An error that may come from a shortage. What it says of that is for whoever called: what is
/// lacking, that nothing was kept, when to try again; no path and no content.
pub trait Shortage: Display {
    /// `None` where the cause is another.
    fn shortage(&self) -> Option<String>;
}

/// Whether an operation of the system failed for that.
pub fn is_shortage(error: &io::Error) -> bool {
    let lacking =
        [Errno::NOSPC, Errno::DQUOT, Errno::ROFS, Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|errno| lacking.contains(&errno))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_full_disk_is_a_shortage_and_a_missing_file_is_none() {
        // Of all devices the one that is always full.
        let full = File::options().write(true).open("/dev/full").unwrap();
        let error = io::Write::write(&mut &full, b"x").unwrap_err();
        assert!(is_shortage(&error), "{error}");
        assert!(!is_shortage(&File::open("/nowhere/at/all").unwrap_err()));
        assert!(!is_shortage(&io::Error::other("full")));
    }
}
