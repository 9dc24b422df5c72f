//! `engram mcp`: lets an agent host that speaks MCP over stdio use the daemon.
//!
//! Copies bytes between stdio and the socket without parsing them, so it serves every revision
//! of MCP that the daemon does. With toolsets chosen it adds them to each `tools/list`, where
//! the daemon reads them.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use anyhow::Context as _;
use clap::Args;
use log::warn;
use serde_json::{Map, Value, json};

use crate::cli::client;
use crate::tools::Toolset;

const CHUNK_BYTES: usize = 64 << 10;

/// What the host is to see.
#[derive(Debug, Args)]
pub struct Flags {
    /// List the tools of these toolsets only, with commas between them; a small model
    /// chooses better among few
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_toolset)]
    toolsets: Vec<&'static str>,
}

fn parse_toolset(name: &str) -> Result<&'static str, String> {
    Toolset::from_name(name.trim())
        .map(Toolset::name)
        .ok_or_else(|| format!("accepted are {}", Toolset::ALL.map(Toolset::name).join(", ")))
}

/// Bridges until one side ends; an error where no daemon listens at `socket`.
///
/// When the host closes its side, what it asked is still answered, and then the
/// bridge ends; when the daemon goes, or the host takes no more answers, it
/// ends at once.
pub fn run(
    socket: &Path,
    flags: &Flags,
    from_host: impl Read + Send + 'static,
    to_host: impl Write,
) -> anyhow::Result<()> {
    let daemon = client::connect(socket)?;
    let to_daemon = daemon.try_clone().context("cannot share the connection")?;
    let host_closed = Arc::new(AtomicBool::new(false));
    let closed = Arc::clone(&host_closed);
    let toolsets = flags.toolsets.clone();
    let asking = Builder::new()
        .name("bridge".to_owned())
        .spawn(move || ask(from_host, &to_daemon, &toolsets, &closed))
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

fn ask(
    from_host: impl Read,
    daemon: &UnixStream,
    toolsets: &[&str],
    closed: &AtomicBool,
) -> io::Result<()> {
    let asked = if toolsets.is_empty() {
        pump(from_host, daemon)
    } else {
        pump_picking(from_host, daemon, toolsets)
    };
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

/// As [`pump`], with the toolsets added to each line that asks for the tools.
fn pump_picking(source: impl Read, mut sink: impl Write, toolsets: &[&str]) -> io::Result<()> {
    let mut source = BufReader::with_capacity(CHUNK_BYTES, source);
    let mut line = Vec::new();
    let mut begins = true;
    loop {
        line.clear();
        // A longer line carries an image, and goes on in pieces.
        let mut piece = source.by_ref().take(CHUNK_BYTES as u64);
        match piece.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if is_end(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
        let ends = line.ends_with(b"\n");
        let picked = if begins && ends { with_toolsets(&line, toolsets) } else { None };
        let bytes = picked.as_deref().unwrap_or(&line);
        match sink.write_all(bytes).and_then(|()| sink.flush()) {
            Ok(()) => {}
            Err(error) if is_end(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
        begins = ends;
    }
}

/// The line with the toolsets in its `_meta`, where it is a `tools/list`.
fn with_toolsets(line: &[u8], toolsets: &[&str]) -> Option<Vec<u8>> {
    const METHOD: &[u8] = b"tools/list";
    if !line.windows(METHOD.len()).any(|part| part == METHOD) {
        return None;
    }
    let mut message: Value = serde_json::from_slice(line).ok()?;
    if message.get("method")?.as_str()?.as_bytes() != METHOD {
        return None;
    }
    let params = message.as_object_mut()?.entry("params").or_insert_with(|| json!({}));
    let meta = params.as_object_mut()?.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    let key = "engram/toolsets".to_owned();
    meta.as_object_mut()?.entry(key).or_insert_with(|| json!(toolsets));
    Some(format!("{message}\n").into_bytes())
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

    fn all() -> Flags {
        Flags { toolsets: Vec::new() }
    }

    #[test]
    fn picked_toolsets_are_added_to_what_lists_the_tools_only() {
        let (_directory, path) = daemon(|mut stream| {
            let mut asked = Vec::new();
            stream.read_to_end(&mut asked).unwrap();
            stream.write_all(&asked).unwrap();
        });
        let long = format!("{{\"method\":\"tools/list\",\"x\":\"{}\"}}", "y".repeat(200_000));
        let asked = [
            r#"{"id":1,"method":"tools/list"}"#,
            r#"{"id":2,"method":"tools/call","params":{"name":"tools/list"}}"#,
            "not JSON: tools/list",
            r#"{"id":3,"method":"tools/list","params":{"_meta":{"a":1},"cursor":null}}"#,
            &long,
        ];
        let flags = Flags { toolsets: vec!["notes", "memos"] };
        let mut answered = Vec::new();
        let from_host = io::Cursor::new(asked.join("\n").into_bytes());
        run(&path, &flags, from_host, &mut answered).unwrap();
        let answered = String::from_utf8(answered).unwrap();
        let expected = [
            r#"{"id":1,"method":"tools/list","params":{"_meta":{"engram/toolsets":["notes","memos"]}}}"#,
            asked[1],
            asked[2],
            r#"{"id":3,"method":"tools/list","params":{"_meta":{"a":1,"engram/toolsets":["notes","memos"]},"cursor":null}}"#,
            &long,
        ];
        assert_eq!(answered.lines().collect::<Vec<_>>(), expected);
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
        run(&path, &all(), io::Cursor::new(asked.clone()), &mut answered).unwrap();
        answered.reverse();
        assert!(answered == asked);
    }

    #[test]
    fn ends_when_the_daemon_does() {
        let (_directory, path) = daemon(|mut stream| stream.write_all(b"bye\n").unwrap());
        // A host that never closes its side.
        let (host, _held_open) = UnixStream::pair().unwrap();
        let mut answered = Vec::new();
        run(&path, &all(), host, &mut answered).unwrap();
        assert_eq!(answered, b"bye\n");
    }

    #[test]
    fn says_that_no_daemon_listens() {
        let error = run(Path::new("/nowhere/s"), &all(), io::empty(), io::sink()).unwrap_err();
        assert!(error.to_string().contains("no daemon listens at"), "{error}");
    }

    #[test]
    fn a_host_that_takes_no_more_answers_is_an_end() {
        let (_directory, path) = daemon(|mut stream| stream.write_all(b"late\n").unwrap());
        let (gone, host) = UnixStream::pair().unwrap();
        drop(gone);
        run(&path, &all(), io::empty(), host).unwrap();
    }
}
