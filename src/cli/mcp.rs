//! `engram mcp`: lets an agent host that speaks MCP over stdio use the daemon.
//!
//! Copies lines between stdio and the socket and reads of them the ids and methods only, so it
//! serves every revision of MCP that the daemon does. With toolsets chosen it adds them to each
//! `tools/list`, where the daemon reads them. A daemon that restarts is waited for.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use log::warn;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::base::backoff::Backoff;
use crate::base::time::{Clock as _, SystemClock};
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

/// How long it waits for a daemon that is gone to be there again.
pub const PATIENCE: Duration = Duration::from_secs(65);
/// Pauses between two attempts; doubled each time, up to the longest.
const RETRY_MIN: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(2);
/// Requests whose answers are awaited, at most; more that are lost stay without one.
const AWAITED_MAX: usize = 4_096;
/// JSON-RPC leaves −32000 to −32099 to the server; the daemon uses the first of them.
const LOST: i32 = -32_050;

/// Bridges until the host closes its side or takes no more; an error where no daemon listens at
/// `socket`, or none is there again within the patience.
///
/// When the host closes its side, what it asked is still answered. When the daemon goes, what it
/// had not answered is answered with an error, as nobody can tell what came of it; the next
/// daemon is greeted as the host greeted the first, and the bridge goes on.
pub fn run(
    socket: &Path,
    (flags, patience): (&Flags, Duration),
    from_host: impl Read + Send + 'static,
    mut to_host: impl Write,
) -> anyhow::Result<()> {
    let mut daemon = client::connect(socket)?;
    let bridge = Arc::new(Bridge::default());
    bridge.attach(&daemon)?;
    let (asking, toolsets) = (Arc::clone(&bridge), flags.toolsets.clone());
    // A read of stdin cannot be interrupted: the thread is left to the end of the process.
    Builder::new()
        .name("bridge".to_owned())
        .spawn(move || asking.ask(from_host, &toolsets))
        .context("cannot start a thread")?;
    loop {
        let answered = bridge.answer(&daemon, &mut to_host);
        if answered.context("cannot carry answers from the daemon to the host")? == Ended::Host {
            return Ok(());
        }
        let (is_closed, lost, failure) = bridge.detach();
        if let Some(error) = failure {
            return Err(error).context("cannot carry requests from the host to the daemon");
        }
        for line in &lost {
            to_host.write_all(line)?;
        }
        to_host.flush()?;
        anyhow::ensure!(!is_closed || lost.is_empty(), "the daemon ended before it answered all");
        if is_closed {
            return Ok(());
        }
        warn!("the daemon closed the connection; waiting for the next");
        let Some(next) = bridge.reconnect(socket, patience)? else { return Ok(()) };
        daemon = next;
        bridge.attach(&daemon)?;
        warn!("connected to the daemon again");
    }
}

/// What both directions share.
#[derive(Default)]
struct Bridge {
    state: Mutex<State>,
    /// Told when there is a daemon.
    attached: Condvar,
}

#[derive(Default)]
struct State {
    /// `None` while there is no daemon.
    daemon: Option<Arc<UnixStream>>,
    /// Requests that have no answer yet, by their ids as JSON.
    awaited: BTreeMap<String, Value>,
    /// The host's handshake, for the next daemon.
    handshake: Vec<Vec<u8>>,
    /// The host closed its side.
    is_closed: bool,
    /// Why the host could not be read any more.
    failure: Option<io::Error>,
}

/// Which side went.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    Host,
    Daemon,
}

/// What of a message says which it is.
#[derive(Deserialize)]
struct Head {
    id: Option<Value>,
    method: Option<String>,
}

impl Bridge {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is one value.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attach(&self, daemon: &UnixStream) -> anyhow::Result<()> {
        let shared = daemon.try_clone().context("cannot share the connection")?;
        let mut state = self.lock();
        if state.is_closed {
            drop(shared.shutdown(Shutdown::Write));
        }
        state.daemon = Some(Arc::new(shared));
        drop(state);
        self.attached.notify_all();
        Ok(())
    }

    /// The daemon is gone: whether the host is as well, answers to what was not answered, and
    /// why the host could not be read, where it could not.
    fn detach(&self) -> (bool, Vec<Vec<u8>>, Option<io::Error>) {
        let mut state = self.lock();
        state.daemon = None;
        let message = "the daemon ended before it answered; nobody can tell what came of this";
        let lost = std::mem::take(&mut state.awaited).into_values().map(|id| {
            let error = json!({"code": LOST, "message": message});
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error})).into_bytes()
        });
        (state.is_closed, lost.collect(), state.failure.take())
    }

    /// A daemon that knows the host; `None` where the host went meanwhile and asks no more.
    fn reconnect(&self, socket: &Path, patience: Duration) -> anyhow::Result<Option<UnixStream>> {
        let started = SystemClock.tick();
        let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX);
        loop {
            let attempt = client::connect(socket).map_err(anyhow::Error::from);
            let greeted = attempt.and_then(|daemon| {
                self.greet(&daemon, patience)?;
                Ok(daemon)
            });
            match greeted {
                Err(_) if self.lock().is_closed => return Ok(None),
                Err(error) if started.elapsed() >= patience => {
                    return Err(error)
                        .context(format!("no daemon took the host within {patience:?}"));
                }
                Err(_) => thread::sleep(backoff.next_pause()),
                Ok(daemon) => return Ok(Some(daemon)),
            }
        }
    }

    /// Tells a new daemon what the host told the first.
    fn greet(&self, daemon: &UnixStream, patience: Duration) -> anyhow::Result<()> {
        let handshake = self.lock().handshake.clone();
        let Some((initialize, rest)) = handshake.split_first() else { return Ok(()) };
        let mut to_daemon = daemon;
        to_daemon.write_all(initialize)?;
        daemon.set_read_timeout(Some(patience))?;
        // Byte by byte: what follows is for the host.
        let mut answer = Vec::new();
        let mut byte = [0];
        while byte != *b"\n" && answer.len() < CHUNK_BYTES {
            to_daemon.read_exact(&mut byte)?;
            answer.extend(byte);
        }
        daemon.set_read_timeout(None)?;
        let answer: Value = serde_json::from_slice(&answer)?;
        anyhow::ensure!(answer.get("result").is_some(), "the daemon refused the host: {answer}");
        rest.iter().try_for_each(|line| to_daemon.write_all(line))?;
        Ok(())
    }

    /// Carries the host's lines to whichever daemon is there, until there are no more.
    fn ask(&self, from_host: impl Read, toolsets: &[&str]) {
        let asked = self.carry(from_host, toolsets);
        let mut state = self.lock();
        state.is_closed = true;
        state.failure = asked.err();
        if let Some(daemon) = &state.daemon {
            // An error where the daemon was gone first.
            drop(daemon.shutdown(Shutdown::Write));
        }
    }

    fn carry(&self, source: impl Read, toolsets: &[&str]) -> io::Result<()> {
        let mut source = BufReader::with_capacity(CHUNK_BYTES, source);
        let mut line = Vec::new();
        // The daemon that has the beginning of the line.
        let mut of_line: Option<Arc<UnixStream>> = None;
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
            let (begins, ends) = (of_line.is_none(), line.ends_with(b"\n"));
            let daemon = of_line.take().unwrap_or_else(|| self.admit(&line));
            if ends && !begins {
                self.lock().note_end(&line, &daemon);
            }
            let picks = begins && ends && !toolsets.is_empty();
            let picked = if picks { with_toolsets(&line, toolsets) } else { None };
            // Where it fails the daemon is gone, and the answering side sees to it; the rest of
            // the line goes nowhere.
            drop((&*daemon).write_all(picked.as_deref().unwrap_or(&line)));
            of_line = (!ends).then_some(daemon);
        }
    }

    /// Waits for a daemon; notes what it is asked.
    fn admit(&self, line: &[u8]) -> Arc<UnixStream> {
        let head = head_of(line);
        let mut state = self.lock();
        loop {
            if let Some(daemon) = state.daemon.clone() {
                if let Some(Head { id, method: Some(method) }) = head {
                    state.note(line, id, &method);
                }
                return daemon;
            }
            state = self.attached.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Carries answers to the host until one side ends.
    fn answer(&self, daemon: &UnixStream, to_host: &mut impl Write) -> io::Result<Ended> {
        let mut answers = BufReader::with_capacity(CHUNK_BYTES, daemon);
        let mut line = Vec::new();
        loop {
            line.clear();
            match answers.read_until(b'\n', &mut line) {
                Ok(0) => return Ok(Ended::Daemon),
                // Half an answer: it has none.
                Ok(_) if !line.ends_with(b"\n") && !self.lock().is_closed => {
                    return Ok(Ended::Daemon);
                }
                Ok(_) => {}
                Err(error) if is_end(&error) => return Ok(Ended::Daemon),
                Err(error) => return Err(error),
            }
            // It asks the host nothing: whatever has an id is an answer.
            if let Some(Head { id: Some(id), method: _ }) = head_of(&line) {
                self.lock().awaited.remove(&id.to_string());
            }
            match to_host.write_all(&line).and_then(|()| to_host.flush()) {
                Err(error) if is_end(&error) => return Ok(Ended::Host),
                written => written?,
            }
        }
    }
}

impl State {
    fn note(&mut self, line: &[u8], id: Option<Value>, method: &str) {
        match method {
            "initialize" => self.handshake = vec![line.to_vec()],
            "notifications/initialized" => self.handshake.push(line.to_vec()),
            _ => {}
        }
        if let Some(id) = id.filter(|_| self.awaited.len() < AWAITED_MAX) {
            self.awaited.insert(id.to_string(), id);
        }
    }

    /// The id of a long request where it stands behind the params, as both official SDKs write
    /// it.
    fn note_end(&mut self, end: &[u8], daemon: &Arc<UnixStream>) {
        let Some(at) = memchr::memmem::rfind(end, b"\"id\":") else { return };
        let rest = end.get(at + b"\"id\":".len()..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        let Some(Ok(id)) = values.next() else { return };
        let is_last = rest.get(values.byte_offset()..).unwrap_or_default().trim_ascii() == b"}";
        let is_there = self.daemon.as_ref().is_some_and(|it| Arc::ptr_eq(it, daemon));
        if is_last && is_there && self.awaited.len() < AWAITED_MAX {
            self.awaited.insert(id.to_string(), id);
        }
    }
}

/// Of a line, or of the beginning of a long one as far as what it says first.
fn head_of(line: &[u8]) -> Option<Head> {
    serde_json::from_slice(line).ok().or_else(|| {
        // What stands within the params is the tool's.
        let params = memchr::memmem::find(line, b"\"params\":");
        let own = params.and_then(|at| line.get(..at)).unwrap_or(line);
        let after = |name: &str| {
            let at = memchr::memmem::find(own, name.as_bytes())?;
            let rest = own.get(at + name.len()..)?;
            serde_json::Deserializer::from_slice(rest).into_iter::<Value>().next()?.ok()
        };
        let method = after("\"method\":")?.as_str().map(str::to_owned);
        Some(Head { id: after("\"id\":"), method })
    })
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

    const BRIEFLY: Duration = Duration::from_millis(200);

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
        run(&path, (&flags, PATIENCE), from_host, &mut answered).unwrap();
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
        run(&path, (&all(), PATIENCE), io::Cursor::new(asked.clone()), &mut answered).unwrap();
        answered.reverse();
        assert!(answered == asked);
    }

    #[test]
    fn a_daemon_that_does_not_come_back_is_an_error() {
        let (_directory, path) = daemon(|mut stream| stream.write_all(b"bye\n").unwrap());
        // A host that never closes its side.
        let (host, _held_open) = UnixStream::pair().unwrap();
        let mut answered = Vec::new();
        let error = run(&path, (&all(), BRIEFLY), host, &mut answered).unwrap_err();
        assert!(error.to_string().contains("no daemon took the host within 200ms"), "{error}");
        assert_eq!(answered, b"bye\n");
    }

    fn lines(stream: &UnixStream) -> io::Lines<BufReader<UnixStream>> {
        BufReader::new(stream.try_clone().unwrap()).lines()
    }

    /// The first answers the greeting and ends with a request unanswered; the second is greeted
    /// by the bridge and answers the next.
    #[test]
    fn the_next_daemon_is_greeted_and_what_the_first_did_not_answer_is_told() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let greeting = r#"{"id":0,"method":"initialize"}"#;
        let initialized = r#"{"method":"notifications/initialized"}"#;
        // In the order of both official SDKs; an id within the params is the tool's.
        let image = "x".repeat(200_000);
        let long = format!(
            r#"{{"method":"tools/call","params":{{"id":5,"image":"{image}"}},"jsonrpc":"2.0","id":7}}"#
        );
        let asked = long.clone();
        Builder::new()
            .spawn(move || {
                for last in [asked.as_str(), r#"{"id":8,"method":"ping"}"#] {
                    let (mut stream, _) = listener.accept().unwrap();
                    let mut lines = lines(&stream);
                    assert_eq!(lines.next().unwrap().unwrap(), greeting);
                    stream.write_all(b"{\"id\":0,\"result\":1}\n").unwrap();
                    assert_eq!(lines.next().unwrap().unwrap(), initialized);
                    assert_eq!(lines.next().unwrap().unwrap(), last);
                    if last.len() < 100 {
                        stream.write_all(b"{\"id\":8,\"result\":2}\n").unwrap();
                    }
                }
            })
            .unwrap();
        let (host, mut bridge) = UnixStream::pair().unwrap();
        let (from_host, mut to_bridge) = (bridge.try_clone().unwrap(), host.try_clone().unwrap());
        let running = Builder::new()
            .spawn(move || run(&path, (&all(), PATIENCE), from_host, &mut bridge))
            .unwrap();
        let mut answers = lines(&host);
        let mut next = || answers.next().unwrap().unwrap();
        write!(to_bridge, "{greeting}\n{initialized}\n").unwrap();
        assert_eq!(next(), r#"{"id":0,"result":1}"#);
        writeln!(to_bridge, "{long}").unwrap();
        let lost: Value = serde_json::from_str(&next()).unwrap();
        assert_eq!((&lost["id"], &lost["error"]["code"]), (&json!(7), &json!(LOST)));
        writeln!(to_bridge, r#"{{"id":8,"method":"ping"}}"#).unwrap();
        assert_eq!(next(), r#"{"id":8,"result":2}"#);
        host.shutdown(Shutdown::Write).unwrap();
        running.join().unwrap().unwrap();
    }

    #[test]
    fn says_that_no_daemon_listens() {
        let error =
            run(Path::new("/nowhere/s"), (&all(), PATIENCE), io::empty(), io::sink()).unwrap_err();
        assert!(error.to_string().contains("no daemon listens at"), "{error}");
    }

    #[test]
    fn a_host_that_takes_no_more_answers_is_an_end() {
        let (_directory, path) = daemon(|mut stream| stream.write_all(b"late\n").unwrap());
        let (gone, host) = UnixStream::pair().unwrap();
        drop(gone);
        run(&path, (&all(), PATIENCE), io::empty(), host).unwrap();
    }
}
