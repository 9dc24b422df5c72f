//! Standard output, whose reader may leave early (`engram status | head -1`).

use std::io::{self, Write as _};

/// Prints `text` and a line's end. A reader that has gone away is no error: the
/// command still does what it was asked to.
pub(super) fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
