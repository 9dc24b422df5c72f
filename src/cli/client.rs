//! Blocking MCP client, for the commands that call a running daemon.
//!
//! Speaks the stateless revision of MCP, where a call is one line out and one line back with no
//! handshake before it.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use crate::base::time::{Clock as _, SystemClock};

const PROTOCOL_VERSION: &str = "2026-07-28";

/// Read buffer size.
const READ_BYTES: usize = 16 << 10;

/// Limits of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientOptions {
    /// From the first byte sent to the last byte of the answer. A little more
    /// than the daemon's own deadline, whose error says more than ours.
    pub call_deadline: Duration,
    /// After so long without a byte the daemon is asked whether it lives; so long it may take
    /// to say so.
    pub alive_within: Duration,
    /// A longer answer is refused.
    pub reply_bytes_max: usize,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            call_deadline: Duration::from_secs(65),
            alive_within: Duration::from_secs(3),
            reply_bytes_max: 256 << 20,
        }
    }
}

impl ClientOptions {
    /// With another deadline, where one is given.
    pub fn within(deadline: Option<Duration>) -> Self {
        let default = Self::default();
        Self { call_deadline: deadline.unwrap_or(default.call_deadline), ..default }
    }
}

/// Errors of a call.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no daemon listens at {path:?}; start one with `engram serve`")]
    NotRunning { path: PathBuf },
    #[error("cannot connect to {path:?}")]
    Connect {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("the daemon closed the connection before it answered")]
    Closed,
    #[error("the daemon did not answer within {0:?}")]
    Late(Duration),
    #[error(
        "the daemon takes connections and answers nothing, not even whether it lives, within {0:?}: \
         it hangs; end it with SIGKILL and start it again, nothing acknowledged is lost"
    )]
    Hung(Duration),
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    #[error("the connection failed")]
    Broken(#[source] io::Error),
    #[error("the answer is not understood: {0}")]
    Unreadable(String),
    /// The daemon's own words; `code` is JSON-RPC's.
    #[error("{message} (code {code})")]
    Refused { code: i64, message: String },
}

/// Reply of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientReply {
    /// An object that fits the tool's output schema; empty for an error.
    pub structured: Map<String, Value>,
    pub text: String,
    pub images: Vec<ReplyImage>,
    /// The tool refused the arguments or cannot do it now; `text` says why.
    pub is_error: bool,
}

/// An image in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyImage {
    pub mime: String,
    pub bytes: Vec<u8>,
}

/// What is behind a resource's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceContents {
    pub mime: String,
    pub bytes: Vec<u8>,
}

/// How the daemon begins to say that there is no such resource: its code is that of other errors
/// in the newest revision.
const NO_RESOURCE: &str = "there is no resource";

/// Connection to a running daemon.
///
/// After [`ClientError::Late`] it can still be used: the late reply is skipped. After any other
/// error but [`ClientError::Refused`] it cannot.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    stream: UnixStream,
    options: ClientOptions,
    clock: SystemClock,
    last_id: u64,
    /// Bytes read beyond the last line.
    unread: Vec<u8>,
}

/// Connects to the daemon's socket; [`ClientError::NotRunning`] where nobody
/// listens.
pub fn connect(path: &Path) -> Result<UnixStream, ClientError> {
    UnixStream::connect(path).map_err(|error| {
        let path = path.to_owned();
        if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) {
            ClientError::NotRunning { path }
        } else {
            ClientError::Connect { path, error }
        }
    })
}

impl Client {
    pub fn connect(path: &Path, options: ClientOptions) -> Result<Self, ClientError> {
        let stream = connect(path)?;
        let (path, clock) = (path.to_owned(), SystemClock);
        Ok(Self { path, stream, options, clock, last_id: 0, unread: Vec::new() })
    }

    /// Makes one call and waits for its answer.
    pub fn call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ClientReply, ClientError> {
        let mut params = Map::new();
        params.insert("name".to_owned(), Value::String(tool.to_owned()));
        params.insert("arguments".to_owned(), Value::Object(arguments));
        reply(self.request("tools/call", params)?)
    }

    /// Reads a resource; `None` where there is none of this address.
    pub fn read_resource(&mut self, uri: &str) -> Result<Option<ResourceContents>, ClientError> {
        let params = Map::from_iter([("uri".to_owned(), Value::String(uri.to_owned()))]);
        let result = match self.request("resources/read", params) {
            Err(ClientError::Refused { message, .. }) if message.starts_with(NO_RESOURCE) => {
                return Ok(None);
            }
            result => result?,
        };
        let contents = result.get("contents").and_then(|contents| contents.get(0));
        let text = |key: &str| contents.and_then(|it| it.get(key)?.as_str());
        let mime = text("mimeType").unwrap_or_default().to_owned();
        let bytes = match (text("text"), text("blob")) {
            (Some(text), _) => text.as_bytes().to_owned(),
            (None, blob) => BASE64.decode(blob.unwrap_or_default()).map_err(|error| {
                ClientError::Unreadable(format!("a resource is no base64: {error}"))
            })?,
        };
        Ok(Some(ResourceContents { mime, bytes }))
    }

    /// Makes a step of an export or an import.
    pub fn transfer(
        &mut self,
        method: &str,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, ClientError> {
        self.request(method, arguments)
    }

    /// Asks a question of a backup and waits for its answer.
    pub fn backup(&mut self, question: &[u8]) -> Result<Vec<u8>, ClientError> {
        let question = Value::String(BASE64.encode(question));
        let result =
            self.request("engram/backup", Map::from_iter([("question".to_owned(), question)]))?;
        let answer = result.get("answer").and_then(Value::as_str).unwrap_or_default();
        BASE64.decode(answer).map_err(|error| {
            ClientError::Unreadable(format!("a backup's answer is no base64: {error}"))
        })
    }

    fn request(
        &mut self,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Map<String, Value>, ClientError> {
        self.last_id += 1;
        let line = request_line(self.last_id, method, params);
        let deadline = self.clock.tick() + self.options.call_deadline;
        self.write(line.as_bytes(), deadline)?;
        loop {
            let line = self.read_line(deadline)?;
            let mut answer: Map<String, Value> = serde_json::from_slice(&line)
                .map_err(|error| ClientError::Unreadable(error.to_string()))?;
            // An error without an id is about this request too: there is no other.
            let id = answer.get("id").unwrap_or(&Value::Null);
            if id.is_null() || id.as_u64() == Some(self.last_id) {
                if let Some(error) = answer.get("error") {
                    return Err(refusal(error));
                }
                if let Some(Value::Object(result)) = answer.remove("result") {
                    return Ok(result);
                }
            }
        }
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), ClientError> {
        while !bytes.is_empty() {
            let left = self.time_left(deadline)?;
            let pause = left.min(self.options.alive_within);
            self.stream.set_write_timeout(Some(pause)).map_err(ClientError::Broken)?;
            match self.stream.write(bytes) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                // It may have told us why, as it tells a client too many.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) if is_pause(&error) && pause < left => self.look_alive()?,
                Err(error) => self.judge(error)?,
            }
        }
        Ok(())
    }

    fn read_line(&mut self, deadline: Instant) -> Result<Vec<u8>, ClientError> {
        let mut searched = 0;
        loop {
            let fresh = self.unread.get(searched..).unwrap_or_default();
            if let Some(offset) = fresh.iter().position(|byte| *byte == b'\n') {
                let rest = self.unread.split_off(searched + offset + 1);
                return Ok(std::mem::replace(&mut self.unread, rest));
            }
            searched = self.unread.len();
            if searched > self.options.reply_bytes_max {
                return Err(ClientError::TooLong(self.options.reply_bytes_max));
            }
            let left = self.time_left(deadline)?;
            let pause = left.min(self.options.alive_within);
            self.stream.set_read_timeout(Some(pause)).map_err(ClientError::Broken)?;
            let room = searched.max(READ_BYTES);
            self.unread.resize(searched + room, 0);
            let read = self.stream.read(self.unread.get_mut(searched..).unwrap_or_default());
            self.unread.truncate(searched + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return Err(ClientError::Closed),
                Ok(_) => {}
                Err(error) if is_pause(&error) && pause < left => self.look_alive()?,
                Err(error) => self.judge(error)?,
            }
        }
    }

    /// Asks over a connection of its own, which a long call does not hold up.
    fn look_alive(&self) -> Result<(), ClientError> {
        let alive_within = self.options.alive_within;
        let mut stream = connect(&self.path)?;
        stream.set_write_timeout(Some(alive_within)).map_err(ClientError::Broken)?;
        stream.set_read_timeout(Some(alive_within)).map_err(ClientError::Broken)?;
        let question = request_line(1, "server/discover", Map::new());
        let answered = stream.write_all(question.as_bytes()).and_then(|()| stream.read(&mut [0]));
        match answered {
            Err(error) if is_pause(&error) => Err(ClientError::Hung(alive_within)),
            // Whatever it says, and if it closes the connection, it lives.
            _ => Ok(()),
        }
    }

    fn time_left(&self, deadline: Instant) -> Result<Duration, ClientError> {
        let left = deadline.saturating_duration_since(self.clock.tick());
        // A socket takes a timeout of zero for none at all.
        if left.is_zero() { Err(ClientError::Late(self.options.call_deadline)) } else { Ok(left) }
    }

    /// Whether to go on after an error of the stream.
    fn judge(&self, error: io::Error) -> Result<(), ClientError> {
        let kind = error.kind();
        if kind == io::ErrorKind::Interrupted {
            Ok(())
        } else if is_pause(&error) {
            Err(ClientError::Late(self.options.call_deadline))
        } else if kind == io::ErrorKind::ConnectionReset {
            // How a Unix socket says that its other end went with our bytes unread.
            Err(ClientError::Closed)
        } else {
            Err(ClientError::Broken(error))
        }
    }
}

/// Whether a read ended as nothing came for a while.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Concatenated by hand: the arguments may hold an image of megabytes, which `json!` would
/// copy.
fn request_line(id: u64, method: &str, mut params: Map<String, Value>) -> String {
    params.insert("_meta".to_owned(), meta());
    let params = Value::Object(params);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
}

/// What the stateless revision wants with each request.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
        "io.modelcontextprotocol/clientInfo": {
            "name": "engram",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn refusal(error: &Value) -> ClientError {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason given");
    ClientError::Refused { code, message: message.to_owned() }
}

fn reply(mut result: Map<String, Value>) -> Result<ClientReply, ClientError> {
    let structured = match result.remove("structuredContent") {
        Some(Value::Object(structured)) => structured,
        _ => Map::new(),
    };
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let mut reply = ClientReply { structured, text: String::new(), images: Vec::new(), is_error };
    let Some(Value::Array(blocks)) = result.remove("content") else {
        return Err(ClientError::Unreadable("the result has no content".to_owned()));
    };
    for block in blocks {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                if !reply.text.is_empty() {
                    reply.text.push('\n');
                }
                reply.text.push_str(block.get("text").and_then(Value::as_str).unwrap_or_default());
            }
            Some("image") => reply.images.push(image(&block)?),
            // A later daemon may answer with more than this client shows.
            Some(_) | None => {}
        }
    }
    Ok(reply)
}

fn image(block: &Value) -> Result<ReplyImage, ClientError> {
    let data = block.get("data").and_then(Value::as_str).unwrap_or_default();
    let bytes = BASE64
        .decode(data)
        .map_err(|error| ClientError::Unreadable(format!("an image is no base64: {error}")))?;
    let mime = block.get("mimeType").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(ReplyImage { mime, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Shutdown;
    use std::os::unix::net::UnixListener;
    use std::thread::Builder;

    /// A daemon that reads one line and then writes `answer`.
    fn answer_call(answer: Vec<u8>, options: ClientOptions) -> Result<ClientReply, ClientError> {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let daemon = Builder::new().spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut seen = Vec::new();
            while !seen.ends_with(b"\n") {
                let mut chunk = [0; 4096];
                let read = stream.read(&mut chunk).unwrap();
                seen.extend_from_slice(&chunk[..read]);
            }
            // It may not want all of it.
            drop(stream.write_all(&answer));
            drop(stream.shutdown(Shutdown::Write));
            stream
        });
        let mut client = Client::connect(&path, options).unwrap();
        let reply = client.call("health", Map::new());
        drop(daemon.unwrap().join().unwrap());
        reply
    }

    #[test]
    fn reads_text_structure_and_images() {
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {
            "content": [
                { "type": "text", "text": "one" },
                { "type": "image", "data": "AQID", "mimeType": "image/png" },
                { "type": "text", "text": "two" },
                { "type": "hologram" },
            ],
            "structuredContent": { "n": 1.0 },
        }});
        let noise = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\
                     {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n";
        // A notification without an id carries no result, so it is passed over.
        let bytes = format!("{noise}{answer}\n").into_bytes();
        let reply = answer_call(bytes, ClientOptions::default()).unwrap();
        assert_eq!(reply.text, "one\ntwo");
        assert_eq!(reply.structured.get("n").unwrap().to_string(), "1.0");
        let image = ReplyImage { mime: "image/png".to_owned(), bytes: vec![1, 2, 3] };
        assert_eq!(reply.images, [image]);
        assert!(!reply.is_error);
    }

    #[test]
    fn tells_a_refusal_from_an_error_result() {
        let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no tool"}}"#;
        let error =
            answer_call(format!("{refused}\n").into(), ClientOptions::default()).unwrap_err();
        assert!(
            matches!(&error, ClientError::Refused { code: -32602, message } if message == "no tool")
        );
        let failed = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"k is 0"}],"isError":true}}"#;
        let reply = answer_call(format!("{failed}\n").into(), ClientOptions::default()).unwrap();
        assert!(reply.is_error && reply.text == "k is 0" && reply.structured.is_empty());
    }

    #[test]
    fn each_way_to_fail_has_its_error() {
        let missing = Client::connect(Path::new("/nowhere/s"), ClientOptions::default());
        let error = missing.unwrap_err();
        assert!(matches!(error, ClientError::NotRunning { .. }));
        assert!(error.to_string().contains("engram serve"), "{error}");

        let closed = answer_call(b"{\"jsonrpc\"".to_vec(), ClientOptions::default());
        assert!(matches!(closed, Err(ClientError::Closed)), "{closed:?}");
        let garbage = answer_call(b"garbage\n".to_vec(), ClientOptions::default());
        assert!(matches!(garbage, Err(ClientError::Unreadable(_))), "{garbage:?}");
        let empty = answer_call(
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n".to_vec(),
            ClientOptions::default(),
        );
        assert!(matches!(empty, Err(ClientError::Unreadable(_))), "{empty:?}");
        let small = ClientOptions { reply_bytes_max: 1000, ..ClientOptions::default() };
        let long = answer_call(vec![b'x'; 100_000], small);
        assert!(matches!(long, Err(ClientError::TooLong(1000))), "{long:?}");
    }

    #[test]
    fn a_silent_daemon_is_not_waited_for_longer_than_the_deadline() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("s");
        let _silent = UnixListener::bind(&path).unwrap();
        let call_deadline = Duration::from_millis(20);
        let options = ClientOptions { call_deadline, ..ClientOptions::default() };
        let mut client = Client::connect(&path, options).unwrap();
        let late = client.call("health", Map::new());
        assert!(matches!(late, Err(ClientError::Late(_))), "{late:?}");
        // More than the socket's buffers take.
        let mut huge = Map::new();
        huge.insert("x".to_owned(), Value::String("x".repeat(4 << 20)));
        let late = client.call("health", huge);
        assert!(matches!(late, Err(ClientError::Late(_))), "{late:?}");
    }

    #[test]
    fn a_daemon_that_hangs_is_told_from_a_slow_one() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let alive_within = Duration::from_millis(100);
        let options = ClientOptions { alive_within, ..ClientOptions::default() };
        // Accepted by the kernel, and by nobody else.
        let mut client = Client::connect(&path, options).unwrap();
        let hung = client.call("health", Map::new());
        assert!(matches!(hung, Err(ClientError::Hung(_))), "{hung:?}");
        drop(client);
        let slow = Builder::new().spawn(move || {
            let (_hung, _) = listener.accept().unwrap();
            let (_question, _) = listener.accept().unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            // It lives, as it says twice, and then it answers.
            for _ in 0..2 {
                let (mut question, _) = listener.accept().unwrap();
                question.write_all(b"{}\n").unwrap();
            }
            let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
            stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
            stream
        });
        let mut client = Client::connect(&path, options).unwrap();
        assert!(!client.call("health", Map::new()).unwrap().is_error);
        drop(slow.unwrap().join().unwrap());
    }
}
