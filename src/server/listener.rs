//! Takes the socket's place in the file system, and the clients that come.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown,
};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use log::{info, warn};
use rustix::fs::{FlockOperation, flock};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};

use crate::server::{Options, ServerError, inherited};

/// Clients that have connected and are not yet accepted; more than come at
/// once. Beyond it the kernel lets a connecting client wait.
const BACKLOG: i32 = 512;

/// Binding takes microseconds, so another daemon that binds in the same
/// directory is waited for.
const LOCK_TRIES: u32 = 50;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A listening socket and its file, which is removed on drop where this process made it.
#[derive(Debug)]
pub(super) struct BoundSocket {
    path: PathBuf,
    /// Device and inode of the file that this process made.
    identity: Option<(u64, u64)>,
}

impl BoundSocket {
    /// Takes the socket that a service manager hands over, or binds the socket's path, for this
    /// user only where the options say no more.
    ///
    /// A socket file at which nobody answers is left over from a daemon that
    /// was killed, and replaced. One at which somebody answers is refused, and
    /// so is anything that is no socket. The directory is made if absent.
    pub(super) fn bind(options: &Options) -> Result<(Self, UnixListener), ServerError> {
        let path = options.socket.as_path();
        if let Some(listener) = inherited::take(path)? {
            return Ok((Self { path: path.to_owned(), identity: None }, listener));
        }
        let fault = |error: io::Error| ServerError::Bind { path: path.to_owned(), error };
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(fault)?;
        // Two daemons that start together must not both find the file stale
        // and remove each other's.
        let _lock = lock(directory).map_err(fault)?;
        clear_stale(path)?;
        let listener = listen_within(path, options).map_err(fault)?;
        let identity = Some(identity(path).map_err(fault)?);
        Ok((Self { path: path.to_owned(), identity }, listener))
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        // Another daemon's file may stand here by now.
        if let Some(made) = self.identity
            && identity(&self.path).is_ok_and(|found| found == made)
            && let Err(error) = fs::remove_file(&self.path)
        {
            warn!(path:? = self.path; "the socket file stays behind: {error}");
        }
    }
}

fn lock(directory: &Path) -> io::Result<File> {
    let file = File::open(directory)?;
    for _ in 0..LOCK_TRIES {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => thread::sleep(LOCK_PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process holds the directory locked"))
}

fn clear_stale(path: &Path) -> Result<(), ServerError> {
    let fault = |error: io::Error| ServerError::Bind { path: path.to_owned(), error };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fault(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ServerError::NoSocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(ServerError::Taken { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            info!(path:? = path; "replacing the socket of a daemon that is gone");
            fs::remove_file(path).map_err(fault)
        }
        Err(error) => Err(fault(error)),
    }
}

/// Sets mode and group between bind and listen: before it listens nobody can connect, so
/// there is no moment at which somebody could who may not.
fn listen_within(path: &Path, options: &Options) -> io::Result<UnixListener> {
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    bind(&socket, &address)?;
    if options.group.is_some() {
        chown(path, None, options.group)?;
    }
    fs::set_permissions(path, Permissions::from_mode(options.mode))?;
    listen(&socket, BACKLOG)?;
    Ok(UnixListener::from(socket))
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
