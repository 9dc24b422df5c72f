//! Standard output, whose reader may leave early (`engram status | head -1`).

use std::io::{self, Write as _};

use crate::base::plain;

/// Prints `text` and a line's end, what is hidden in it written out. A reader that has gone away is no error: the
/// command still does what it was asked to.
pub(super) fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", plain::lines(text)).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// The same on standard error, where nobody may listen either.
pub(super) fn complain(text: &str) {
    drop(writeln!(io::stderr().lock(), "{}", plain::lines(text)));
}
