//! A listening socket that a service manager hands over: it has been there before the daemon,
//! and clients that connect while the daemon starts anew wait instead of being refused.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::Path;

use listenfd::ListenFd;
use rustix::io::{FdFlags, fcntl_setfd};

use crate::server::ServerError;

/// The socket that the manager hands over by `LISTEN_FDS` (`sd_listen_fds(3)`); `None` where it
/// hands over none.
pub(super) fn take(path: &Path) -> Result<Option<UnixListener>, ServerError> {
    let mut handed_over = ListenFd::from_env();
    let refused = |reason: String| ServerError::Inherited { path: path.to_owned(), reason };
    if handed_over.len() > 1 {
        return Err(refused(format!("{} sockets are handed over", handed_over.len())));
    }
    let taken = handed_over.take_unix_listener(0).map_err(|error| refused(error.to_string()))?;
    let Some(listener) = taken else { return Ok(None) };
    let found = listener.local_addr().map_err(|error| refused(error.to_string()))?;
    if found.as_pathname() != Some(path) {
        return Err(refused(format!("handed over is {found:?}")));
    }
    prepare(&listener).map_err(|error| refused(error.to_string()))?;
    Ok(Some(listener))
}

/// Not for the captioner's worker, and as the server waits for it.
fn prepare(listener: &UnixListener) -> io::Result<()> {
    fcntl_setfd(listener, FdFlags::CLOEXEC)?;
    listener.set_nonblocking(true)
}
