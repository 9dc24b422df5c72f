//! `engram mcp`: lets an agent host that speaks MCP over stdio use the daemon.
//!
//! Carries bytes between stdio and the socket and looks at none of them, so it
//! serves every revision of MCP that the daemon does.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use anyhow::Context as _;
use log::warn;

use crate::cli::client;

const CHUNK_BYTES: usize = 64 << 10;

/// Bridges until one side ends; an error where no daemon listens at `socket`.
///
/// When the host closes its side, what it asked is still answered, and then the
/// bridge ends; when the daemon goes, or the host takes no more answers, it
/// ends at once.
pub fn run(
    socket: &Path,
    from_host: impl Read + Send + 'static,
    to_host: impl Write,
) -> anyhow::Result<()> {
    let daemon = client::connect(socket)?;
    let to_daemon = daemon.try_clone().context("cannot share the connection")?;
    let host_closed = Arc::new(AtomicBool::new(false));
    let closed = Arc::clone(&host_closed);
    let asking = Builder::new()
        .name("bridge".to_owned())
        .spawn(move || ask(from_host, &to_daemon, &closed))
        .context("cannot start a thread")?;
    pump(&daemon, to_host).context("cannot carry answers from the daemon to the host")?;
    if host_closed.load(Ordering::Acquire) {
        let asked = asking.join().map_err(|_panic| anyhow::anyhow!("the bridge panicked"))?;
        asked.context("cannot carry requests from the host to the daemon")?;
    } else {
        // The host has not closed its side, and a read of stdin cannot be
        // interrupted: the thread is left to the end of the process.
        warn!("the daemon closed the connection");
    }
    Ok(())
}

fn ask(from_host: impl Read, daemon: &UnixStream, closed: &AtomicBool) -> io::Result<()> {
    let asked = pump(from_host, daemon);
    closed.store(true, Ordering::Release);
    match daemon.shutdown(Shutdown::Write) {
        // The daemon was gone first.
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
        shut => shut?,
    }
    asked
}

/// Copies until the source ends or the sink takes no more. Each chunk is passed
/// on as soon as it is there.
fn pump(mut source: impl Read, mut sink: impl Write) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match source.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if is_end(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        let bytes = chunk.get(..read).unwrap_or_default();
        match sink.write_all(bytes).and_then(|()| sink.flush()) {
            Ok(()) => {}
            Err(error) if is_end(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// The other side left.
fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use tempfile::TempDir;

    fn daemon(serve: impl FnOnce(UnixStream) + Send + 'static) -> (TempDir, std::path::PathBuf) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        Builder::new().spawn(move || serve(listener.accept().unwrap().0)).unwrap();
        (directory, path)
    }

    #[test]
    fn carries_every_byte_both_ways_and_ends_when_the_host_does() {
        let (_directory, path) = daemon(|mut stream| {
            // Answers only once everything is in: the bridge must wait for it.
            let mut asked = Vec::new();
            stream.read_to_end(&mut asked).unwrap();
            asked.reverse();
            stream.write_all(&asked).unwrap();
        });
        let asked: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
        let mut answered = Vec::new();
        run(&path, io::Cursor::new(asked.clone()), &mut answered).unwrap();
        answered.reverse();
        assert!(answered == asked);
    }

    #[test]
    fn ends_when_the_daemon_does() {
        let (_directory, path) = daemon(|mut stream| stream.write_all(b"bye\n").unwrap());
        // A host that never closes its side.
        let (host, _held_open) = UnixStream::pair().unwrap();
        let mut answered = Vec::new();
        run(&path, host, &mut answered).unwrap();
        assert_eq!(answered, b"bye\n");
    }

    #[test]
    fn says_that_no_daemon_listens() {
        let error = run(Path::new("/nowhere/s"), io::empty(), io::sink()).unwrap_err();
        assert!(error.to_string().contains("no daemon listens at"), "{error}");
    }

    #[test]
    fn a_host_that_takes_no_more_answers_is_an_end() {
        let (_directory, path) = daemon(|mut stream| stream.write_all(b"late\n").unwrap());
        let (gone, host) = UnixStream::pair().unwrap();
        drop(gone);
        run(&path, io::empty(), host).unwrap();
    }
}
