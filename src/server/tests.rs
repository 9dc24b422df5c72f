//! Raw bytes over a real socket against a stub of the tools.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::base::stop::Stop;
use crate::base::time::SystemClock;
use crate::server::{Options, Server, ServerError};
use crate::tools::{Hints, Image, ToolBox, ToolError, ToolReply, ToolSpec, Toolset};

/// Tools that do what their name says.
struct Stub {
    catalog: Vec<ToolSpec>,
    /// Ends the calls of `wait`.
    release: Stop,
    closed: Mutex<Vec<String>>,
    called: Mutex<Vec<String>>,
}

impl Stub {
    fn new() -> Arc<Self> {
        let spec = |name| ToolSpec {
            name,
            title: "Stub",
            description: "Does what its name says.",
            input_schema: object(json!({ "type": "object" })),
            output_schema: object(json!({ "type": "object" })),
            hints: Hints { read_only: true, destructive: false, idempotent: true },
            toolset: Toolset::Admin,
        };
        let names = ["echo", "wait", "panic", "big", "image", "argument", "fault", "session"];
        Arc::new(Self {
            catalog: names.map(spec).to_vec(),
            release: Stop::default(),
            closed: Mutex::default(),
            called: Mutex::default(),
        })
    }
}

impl ToolBox for Stub {
    fn catalog(&self) -> &[ToolSpec] {
        &self.catalog
    }

    fn call(
        &self,
        session: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolReply, ToolError> {
        self.called.lock().unwrap().push(tool.to_owned());
        let mut reply =
            ToolReply { structured: arguments, text: "done".to_owned(), images: Vec::new() };
        match tool {
            "echo" => {}
            "wait" => {
                self.release.sleep(Duration::from_secs(30));
            }
            "panic" => panic!("a stub that panics"),
            "big" => reply.text = "x".repeat(8 << 20),
            "image" => reply.images.push(Image { mime: "image/png", bytes: vec![1, 2, 3] }),
            "argument" => return Err(ToolError::Argument("k is 0, accepted is 1 to 50".into())),
            "fault" => return Err(ToolError::Fault("a secret of ours".into())),
            "session" => reply.text = session.to_owned(),
            _ => return Err(ToolError::UnknownTool(tool.to_owned())),
        }
        Ok(reply)
    }

    fn resource(&self, uri: &str) -> Result<Option<Image>, ToolError> {
        Ok((uri == "engram://frames/7").then(|| Image { mime: "image/jpeg", bytes: vec![7; 3] }))
    }

    fn close_session(&self, session: &str) {
        self.closed.lock().unwrap().push(session.to_owned());
    }
}

/// A server over the stub, in a directory of its own.
struct Bench {
    stub: Arc<Stub>,
    server: Option<Server>,
    directory: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(adjust: impl FnOnce(&mut Options)) -> Self {
        let directory = TempDir::new().unwrap();
        let mut options = Options::at(&directory.path().join("run/engram.sock"));
        adjust(&mut options);
        let stub = Stub::new();
        let tools: Arc<dyn ToolBox> = Arc::<Stub>::clone(&stub);
        let server = Server::start(options, tools, &SystemClock).unwrap();
        Self { stub, server: Some(server), directory }
    }

    fn socket(&self) -> &Path {
        self.server.as_ref().unwrap().socket()
    }

    fn client(&self) -> Client {
        Client::connect(self.socket())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stub.release.ask();
    }
}

/// Writes bytes, reads lines.
struct Client {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Client {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        // A hang is a failure and not a test that never ends.
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self { stream, lines }
    }

    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, line: impl AsRef<[u8]>) -> Value {
        self.send(line);
        self.send("\n");
        self.line()
    }

    /// A request of the stateless era.
    fn request(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.ask(request(id, method, params))
    }

    fn call(&mut self, id: i64, tool: &str, arguments: Value) -> Value {
        self.request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    fn is_at_end(&mut self) -> bool {
        let mut rest = String::new();
        matches!(self.lines.read_line(&mut rest), Ok(0)) || rest.is_empty()
    }
}

fn request(id: i64, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn initialize(version: &str) -> String {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string()
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("{value}") };
    object
}

fn code(reply: &Value) -> i64 {
    reply["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {reply}"))
}

#[test]
fn the_stateless_era() {
    let bench = Bench::new();
    let mut client = bench.client();
    let found = client.request(1, "server/discover", json!({}));
    let versions = &found["result"]["supportedVersions"];
    assert_eq!(*versions, json!(["2025-06-18", "2025-11-25", "2026-07-28"]), "{found}");
    assert!(found["result"]["instructions"].as_str().unwrap().contains("recall_last_seen"));

    let listed = client.request(2, "tools/list", json!({}));
    let result = &listed["result"];
    assert_eq!(result["resultType"], "complete", "{listed}");
    assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "private", "{listed}");
    let tool = &result["tools"][0];
    assert_eq!(tool["name"], "echo");
    assert_eq!(tool["title"], "Stub");
    assert!(tool["inputSchema"].is_object() && tool["outputSchema"].is_object());
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    assert_eq!(tool["annotations"]["destructiveHint"], false);
    assert_eq!(tool["annotations"]["idempotentHint"], true);

    let called = client.call(3, "echo", json!({ "a": [1.0, 2] }));
    let result = &called["result"];
    assert_eq!(called["id"], 3);
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["structuredContent"], json!({ "a": [1.0, 2] }));
    assert_eq!(result["content"], json!([{ "type": "text", "text": "done" }]));
    assert_eq!(result["isError"], false);
}

#[test]
fn the_initialize_era() {
    let bench = Bench::new();
    for (asked, answered) in [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut client = bench.client();
        let begun = client.ask(initialize(asked));
        assert_eq!(begun["result"]["protocolVersion"], answered, "{begun}");
        assert_eq!(begun["result"]["serverInfo"]["name"], "engram");
        client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        let listed = client.ask(r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#);
        assert_eq!(listed["id"], "a");
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 8);
        assert_eq!(listed["result"].get("resultType"), None);
        let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}"#;
        assert_eq!(client.ask(call)["result"]["structuredContent"], json!({}));
        let pong = client.ask(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
        assert_eq!(pong["result"], json!({}));
    }
}
