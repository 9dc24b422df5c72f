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

use crate::base::caller::{Caller, Roles};
use crate::base::stop::Stop;
use crate::base::time::SystemClock;
use crate::server::{Options, Server, ServerError};
use crate::tools::{
    CallMetrics, Hints, Image, Reason, Resource, ResourcePage, ResourceSpec, ToolBox, ToolError,
    ToolReply, ToolSpec, Toolset,
};

/// Tools that do what their name says.
struct Stub {
    catalog: Vec<ToolSpec>,
    /// Ends the calls of `wait`.
    release: Stop,
    closed: Mutex<Vec<String>>,
    called: Mutex<Vec<String>>,
    calls: Arc<CallMetrics>,
}

impl Stub {
    fn new() -> Arc<Self> {
        let spec = |name| ToolSpec {
            name,
            title: "Stub",
            description: "Does what its name says.",
            input_schema: object(json!({ "type": "object" })),
            aliases: &[],
            output_schema: object(json!({ "type": "object" })),
            hints: Hints { read_only: true, destructive: false, idempotent: true },
            toolset: Toolset::Admin,
            roles: Roles::ALL,
        };
        let names = [
            "echo",
            "wait",
            "panic",
            "big",
            "image",
            "argument",
            "fault",
            "session",
            "brief echo",
            "brief wait",
            "brief panic",
        ];
        let closed =
            json!({"type": "object", "properties": {"b": {}}, "additionalProperties": false});
        let closed = ToolSpec { input_schema: object(closed), ..spec("closed") };
        Arc::new(Self {
            catalog: names.map(spec).into_iter().chain([closed]).collect(),
            release: Stop::default(),
            closed: Mutex::default(),
            called: Mutex::default(),
            calls: Arc::default(),
        })
    }
}

impl ToolBox for Stub {
    fn catalog(&self) -> &[ToolSpec] {
        &self.catalog
    }

    fn call_metrics(&self) -> Arc<CallMetrics> {
        Arc::clone(&self.calls)
    }

    fn is_brief(&self, tool: &str, _arguments: &Map<String, Value>) -> bool {
        tool.starts_with("brief ")
    }

    fn call(
        &self,
        _: &Caller,
        session: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolReply, ToolError> {
        self.called.lock().unwrap().push(tool.to_owned());
        let mut reply =
            ToolReply { structured: arguments, text: "done".to_owned(), images: Vec::new() };
        match tool.trim_start_matches("brief ") {
            "echo" | "closed" => {}
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

    fn resource(&self, _: &Caller, uri: &str) -> Result<Option<Resource>, ToolError> {
        Ok(match uri {
            "engram://frames/7" => {
                Some(Resource::Image(Image { mime: "image/jpeg", bytes: vec![7; 3] }))
            }
            "engram://records/7" => Some(Resource::Json("{\"id\":7}".to_owned())),
            _ => None,
        })
    }

    fn resources(&self, _: &Caller, cursor: Option<&str>) -> Result<ResourcePage, ToolError> {
        let spec = |id: u32| ResourceSpec {
            uri: format!("engram://records/{id}"),
            name: format!("record {id}"),
            description: "a mug".to_owned(),
            mime: Some("application/json"),
        };
        match cursor {
            None => Ok(ResourcePage { resources: vec![spec(7)], next: Some("7".to_owned()) }),
            Some("7") => Ok(ResourcePage { resources: vec![spec(6)], next: None }),
            Some(other) => Err(ToolError::Argument(format!("params.cursor {other:?} is unknown"))),
        }
    }

    fn complete(&self, _: &Caller, template: &str, prefix: &str) -> Result<Vec<String>, ToolError> {
        Ok(vec![format!("{template} {prefix}7")])
    }

    fn close_session(&self, _: &Caller, session: &str) {
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
        let server = Server::start(options, tools, Arc::new(SystemClock)).unwrap();
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
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
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
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        self.request(id, "tools/call", params)
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
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), bench.stub.catalog.len());
        assert_eq!(listed["result"].get("resultType"), None);
        let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}"#;
        assert_eq!(client.ask(call)["result"]["structuredContent"], json!({}));
        let pong = client.ask(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
        assert_eq!(pong["result"], json!({}));
    }
}

/// What is wrong with a line, and the code and id that answer it. The
/// connection goes on after each.
#[test]
fn each_bad_line_has_its_answer() {
    let cases: &[(&[u8], i64, Value)] = &[
        (b"garbage", -32700, Value::Null),
        (br#"{"jsonrpc":"2.0","id":1,"method":"#, -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xff\"}", -32700, Value::Null),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, -32600, Value::Null),
        (b"[]", -32600, Value::Null),
        (b"17", -32600, Value::Null),
        (b"null", -32600, Value::Null),
        (b"{}", -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"x"}"#, -32600, Value::Null),
        (br#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, -32600, json!(1)),
        (br#"{"id":"a","method":"tools/list"}"#, -32600, json!("a")),
        (br#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, -32600, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#, -32602, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}"#, -32602, json!(1)),
        (
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":1}}"#,
            -32602,
            json!(1),
        ),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, -32602, json!(1)),
        (
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#,
            -32602,
            json!(1),
        ),
        (
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[1]}}"#,
            -32602,
            json!(1),
        ),
        (br#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, -32602, json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, -32602, json!(1)),
    ];
    let bench = Bench::new();
    let mut fresh = bench.client();
    let mut begun = bench.client();
    begun.ask(initialize("2025-11-25"));
    for (line, expect, id) in cases {
        for client in [&mut fresh, &mut begun] {
            let reply = client.ask(line);
            let shown = String::from_utf8_lossy(line);
            assert_eq!((code(&reply), &reply["id"]), (*expect, id), "{shown}: {reply}");
            assert_eq!(reply["jsonrpc"], "2.0");
            assert!(!reply["error"]["message"].as_str().unwrap().is_empty());
        }
    }
    assert_eq!(fresh.call(2, "echo", json!({}))["result"]["isError"], false);
    assert_eq!(begun.call(2, "echo", json!({}))["result"]["isError"], false);
}

#[test]
fn deep_nesting_is_no_way_to_overflow_the_stack() {
    let bench = Bench::new();
    let mut client = bench.client();
    assert_eq!(code(&client.ask("[".repeat(1 << 20))), -32700);
    assert_eq!(code(&client.ask("{\"a\":".repeat(1 << 18))), -32700);
}

#[test]
fn what_asks_for_nothing_is_answered_with_nothing() {
    let bench = Bench::new();
    let mut client = bench.client();
    // Before the handshake too, where rmcp alone would end the connection.
    for round in 1..3 {
        client.send("\n\r\n   \n");
        client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\"}\n");
        client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":7}\n");
        let unknown = json!({ "requestId": 99 });
        let cancelled = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": unknown,
        });
        client.send(format!("{cancelled}\n"));
        client.send("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n");
        client.send("{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":1,\"message\":\"\"}}\n");
        assert_eq!(client.call(round, "echo", json!({}))["id"], round);
    }
}

#[test]
fn unknown_members_of_a_message_are_ignored() {
    let bench = Bench::new();
    let mut client = bench.client();
    let plain = request(1, "tools/call", json!({ "name": "echo", "later": true }));
    let mut message: Value = serde_json::from_str(&plain).unwrap();
    message["from_the_future"] = json!([1]);
    let reply = client.ask(message.to_string());
    assert_eq!(reply["result"]["structuredContent"], json!({}), "{reply}");
}

#[test]
fn what_is_unknown_or_missing_in_a_request() {
    let bench = Bench::new();
    let mut client = bench.client();
    assert_eq!(code(&client.request(1, "tools/shout", json!({}))), -32601);
    assert_eq!(code(&client.request(2, "logging/setLevel", json!({}))), -32601);
    assert_eq!(code(&client.request(3, "tools/list", json!({ "cursor": "x" }))), -32602);
    let unknown = client.call(4, "shout", json!({}));
    assert_eq!(code(&unknown), -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("shout"), "{unknown}");

    let bare = client.ask(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    assert_eq!(code(&bare), -32602, "metadata is missing: {bare}");
    let newer = request(6, "tools/list", json!({})).replace("2026-07-28", "2031-01-01");
    let reply = client.ask(newer);
    assert_eq!(code(&reply), -32022, "{reply}");
    assert_eq!(reply["error"]["data"]["supported"].as_array().unwrap().len(), 3);

    let mut begun = bench.client();
    begun.ask(initialize("2025-11-25"));
    let shouted = begun.ask(r#"{"jsonrpc":"2.0","id":7,"method":"tools/shout"}"#);
    assert_eq!(code(&shouted), -32601);
}

#[test]
fn errors_of_a_tool_are_told_apart() {
    let bench = Bench::new();
    let mut client = bench.client();
    let wrong = client.call(1, "argument", json!({}));
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    assert_eq!(wrong["result"]["content"][0]["text"], "k is 0, accepted is 1 to 50");
    assert_eq!(wrong["result"].get("structuredContent"), None);

    let fault = client.call(2, "fault", json!({}));
    assert_eq!(code(&fault), -32603);
    assert!(!fault.to_string().contains("secret"), "{fault}");
    let panicked = client.call(3, "panic", json!({}));
    assert_eq!(code(&panicked), -32603);
    let id = |reply: &Value| reply["error"]["data"]["fault"].as_str().unwrap().to_owned();
    assert_ne!(id(&fault), id(&panicked));
    assert!(panicked["error"]["message"].as_str().unwrap().contains(&id(&panicked)));
    assert_eq!(client.call(4, "echo", json!({}))["result"]["isError"], false);
}

#[test]
fn images_and_resources() {
    let bench = Bench::new();
    let mut client = bench.client();
    let shown = client.call(1, "image", json!({}));
    let image = json!({ "type": "image", "data": "AQID", "mimeType": "image/png" });
    assert_eq!(shown["result"]["content"][1], image);

    let listed = client.request(2, "resources/templates/list", json!({}));
    assert_eq!(listed["result"]["resourceTemplates"][0]["uriTemplate"], "engram://frames/{id}");
    let first = client.request(3, "resources/list", json!({}));
    assert_eq!(first["result"]["resources"][0]["uri"], "engram://records/7", "{first}");
    assert_eq!(first["result"]["nextCursor"], "7");
    let last = client.request(3, "resources/list", json!({ "cursor": "7" }));
    assert_eq!(last["result"]["resources"][0]["name"], "record 6");
    assert_eq!(last["result"].get("nextCursor"), None, "{last}");
    let unknown = client.request(3, "resources/list", json!({ "cursor": "8" }));
    assert_eq!(code(&unknown), -32602, "{unknown}");
    let read = client.request(4, "resources/read", json!({ "uri": "engram://frames/7" }));
    let contents = &read["result"]["contents"][0];
    assert_eq!(contents["blob"], "BwcH", "{read}");
    assert_eq!(contents["mimeType"], "image/jpeg");
    assert_eq!(contents["uri"], "engram://frames/7");
    let none = client.request(5, "resources/read", json!({ "uri": "engram://frames/8" }));
    assert_eq!(code(&none), -32602, "{none}");
    let record = client.request(6, "resources/read", json!({ "uri": "engram://records/7" }));
    let contents = &record["result"]["contents"][0];
    assert_eq!(contents["text"], "{\"id\":7}", "{record}");
    assert_eq!(contents["mimeType"], "application/json");
    let template = json!({ "type": "ref/resource", "uri": "engram://records/{id}" });
    let complete = |client: &mut Client, name: &str| {
        let argument = json!({ "name": name, "value": "1" });
        client.request(7, "completion/complete", json!({ "ref": template, "argument": argument }))
    };
    let completed = complete(&mut client, "id");
    let values = &completed["result"]["completion"]["values"];
    assert_eq!(*values, json!(["engram://records/{id} 17"]), "{completed}");
    assert_eq!(code(&complete(&mut client, "name")), -32602);
}

#[test]
fn a_client_that_asks_is_told_that_its_call_goes_on() {
    let bench = Bench::new();
    let mut client = bench.client();
    let call = |id: u32, tool: &str, token: Option<&str>| {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        if let Some(token) = token {
            meta["progressToken"] = json!(token);
        }
        let params = json!({"name": tool, "arguments": {}, "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        format!("{call}\n")
    };
    // One that ends at once has none.
    client.send(call(1, "echo", Some("a")));
    assert_eq!(client.line()["id"], 1);
    client.send(call(2, "wait", Some("b")));
    for seconds in 1..=2 {
        let told = client.line();
        assert_eq!(told["method"], "notifications/progress", "{told}");
        assert_eq!(told["params"]["progressToken"], "b");
        assert_eq!(told["params"]["progress"], f64::from(seconds));
        assert_eq!(told["params"]["message"], format!("wait: {seconds} s"));
    }
    bench.stub.release.ask();
    let mut answer = client.line();
    while answer["method"] == "notifications/progress" {
        answer = client.line();
    }
    assert_eq!(answer["id"], 2, "{answer}");
}

#[test]
fn a_line_over_the_limit_is_refused_and_skipped() {
    let bench = Bench::with(|options| options.line_bytes_max = 1 << 20);
    let mut client = bench.client();
    // Written as 64 MB, so that holding them would show; read back while writing.
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        client.send(&chunk);
    }
    client.send("\n");
    let reply = client.line();
    assert_eq!((code(&reply), &reply["id"]), (-32600, &Value::Null));
    assert!(reply["error"]["message"].as_str().unwrap().contains("1048576"), "{reply}");
    let fits = client.call(1, "echo", json!({ "x": "y".repeat(900 << 10) }));
    assert_eq!(fits["result"]["isError"], false);
    // Just over, and whole in the buffer at once or not.
    let over = request(2, "tools/call", json!({ "name": "z".repeat(1 << 20) }));
    assert_eq!(code(&client.ask(over)), -32600);
    assert_eq!(client.call(3, "echo", json!({}))["id"], 3);
}

#[test]
fn half_a_line_at_the_end_is_answered() {
    let bench = Bench::new();
    let mut client = bench.client();
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    client.stream.shutdown(Shutdown::Write).unwrap();
    let reply = client.line();
    assert_eq!((code(&reply), &reply["id"]), (-32700, &Value::Null));
    assert!(client.is_at_end());
}

#[test]
fn a_client_that_closes_its_sending_side_gets_its_answers() {
    let bench = Bench::new();
    let mut client = bench.client();
    for id in 0..10 {
        client.send(request(id, "tools/call", json!({ "name": "wait" })) + "\n");
    }
    client.stream.shutdown(Shutdown::Write).unwrap();
    eventually(|| bench.stub.called.lock().unwrap().len() == 8);
    bench.stub.release.ask();
    let mut ids: Vec<i64> = (0..10).map(|_| client.line()["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..10).collect::<Vec<_>>());
    assert!(client.is_at_end());
}

#[test]
fn unfinished_lines_of_others_do_not_hold_up_a_frame() {
    let bench = Bench::new();
    let big = request(1, "tools/call", json!({ "name": "echo", "x": "x".repeat(1 << 20) }));
    let mut stalled: Vec<Client> = (0..30).map(|_| bench.client()).collect();
    for client in &mut stalled {
        client.send(&big[..70_000]);
    }
    let mut polite = bench.client();
    assert_eq!(polite.ask(&big)["id"], 1);
    assert_eq!(polite.call(2, "echo", json!({}))["id"], 2);
}

/// Thirty times what came of each is less than four MiB, thirty times a MiB is not.
#[test]
fn an_unfinished_line_holds_what_came_of_it_and_no_more() {
    let bench = Bench::with(|options| {
        options.bytes_in_flight_max = 16 << 20;
        options.large_line_deadline = Duration::from_mins(1);
        options.room_deadline = Duration::from_mins(1);
    });
    let big = request(1, "tools/call", json!({ "name": "echo", "x": "x".repeat(900_000) }));
    let mut stalled: Vec<Client> = (0..30).map(|_| bench.client()).collect();
    for client in &mut stalled {
        client.send(&big[..100_000]);
    }
    let mut polite = bench.client();
    assert_eq!(polite.ask(&big)["id"], 1);
    for client in &mut stalled {
        client.send(&big[100_000..]);
        client.send("\n");
        assert_eq!(client.line()["id"], 1);
    }
}

/// As a float it would be another one.
#[test]
fn an_integer_beyond_64_bits_is_refused_by_the_name_of_its_field() {
    let bench = Bench::new();
    let mut client = bench.client();
    let line = call_with("echo", r#"{"robot":{"serial":[1,18446744073709551616]}}"#);
    let refused = client.ask(line);
    assert_eq!((code(&refused), &refused["id"]), (-32602, &json!(7)));
    assert_eq!(
        refused["error"]["message"],
        "\"serial\" is 18446744073709551616, which no 64 bits hold; accepted are whole numbers \
         from -9223372036854775808 to 18446744073709551615, and others as a text: \
         \"18446744073709551616\""
    );
    let kept = r#"[18446744073709551615,-9223372036854775808,"18446744073709551616",1e19]"#;
    let answer = client.ask(call_with("echo", kept));
    let expected = json!([u64::MAX, i64::MIN, "18446744073709551616", 1e19]);
    assert_eq!(answer["result"]["structuredContent"]["a"], expected);
}

#[test]
fn a_large_line_that_does_not_end_is_refused() {
    let bench = Bench::with(|options| options.large_line_deadline = Duration::from_millis(300));
    let mut stalled = bench.client();
    stalled.send("x".repeat(200_000));
    assert_eq!(code(&stalled.line()), -32600);
    assert!(stalled.is_at_end());
}

/// Eight clients with a line each of which together they would hold all.
#[test]
fn bytes_in_flight_are_bounded_for_all_together() {
    let bench = Bench::with(|options| {
        options.line_bytes_max = 4 << 20;
        options.bytes_in_flight_max = 8 << 20;
    });
    let big = request(1, "tools/call", json!({ "name": "echo", "x": "x".repeat(3 << 20) })) + "\n";
    let (socket, big) = (bench.socket().to_owned(), Arc::new(big));
    let ask = |_| {
        let (socket, big) = (socket.clone(), Arc::clone(&big));
        let work = move || {
            let mut client = Client::connect(&socket);
            client.send(big.as_bytes());
            assert_eq!(client.line()["id"], 1);
        };
        Builder::new().spawn(work).unwrap()
    };
    for client in (0..8).map(ask).collect::<Vec<_>>() {
        client.join().unwrap();
    }
}

#[test]
fn a_client_that_asks_much_makes_no_other_wait() {
    let bench = Bench::with(|options| options.calls_at_once = 1);
    let mut greedy = bench.client();
    greedy.send(request(0, "tools/call", json!({ "name": "wait" })) + "\n");
    eventually(|| bench.stub.called.lock().unwrap().len() == 1);
    for id in 1..40 {
        greedy.send(request(id, "tools/call", json!({ "name": "echo" })) + "\n");
    }
    // All are read: the next one is answered at once, as its id is taken.
    assert_eq!(code(&greedy.ask(request(39, "tools/call", json!({ "name": "echo" })))), -32600);
    let mut polite = bench.client();
    polite.send(request(1, "tools/call", json!({ "name": "session" })) + "\n");
    assert_eq!(code(&polite.ask(request(1, "tools/call", json!({ "name": "echo" })))), -32600);
    bench.stub.release.ask();
    assert_eq!(polite.line()["id"], 1);
    let called = bench.stub.called.lock().unwrap();
    let place = called.iter().position(|tool| tool == "session").unwrap();
    assert!(place <= 2, "{called:?}");
}

/// `[0,0,…]` of so many.
fn zeros(count: usize) -> String {
    let mut zeros = "[".to_owned();
    zeros.push_str(&"0,".repeat(count - 1));
    zeros.push_str("0]");
    zeros
}

fn call_with(tool: &str, argument: &str) -> String {
    let line = request(7, "tools/call", json!({ "name": tool, "arguments": { "a": "HERE" } }));
    line.replace("\"HERE\"", argument)
}

#[test]
fn a_message_of_too_many_values_is_refused() {
    let bench = Bench::new();
    let mut client = bench.client();
    let many = client.ask(call_with("echo", &zeros(200_000)));
    assert_eq!((code(&many), &many["id"]), (-32600, &json!(7)));
    let message = many["error"]["message"].as_str().unwrap();
    assert!(message.contains("accepted are at most 65536"), "{message}");
    let some = client.ask(call_with("echo", &zeros(50_000)));
    assert_eq!(some["result"]["structuredContent"]["a"].as_array().unwrap().len(), 50_000);
}

#[test]
fn what_a_tool_does_not_take_is_not_built() {
    let bench = Bench::new();
    let mut client = bench.client();
    let reply = client.ask(call_with("closed", &zeros(2_000_000)));
    // Its name is there, for the refusal that tells it.
    assert_eq!(reply["result"]["structuredContent"], json!({ "a": true }));
    let unknown = client.ask(call_with("no such tool", &zeros(2_000_000)));
    assert_eq!(code(&unknown), -32602);
    // Whatever is not built is still read: JSON or not.
    assert_eq!(code(&client.ask(call_with("closed", &"[".repeat(5_000)))), -32700);
}

#[test]
fn requests_with_one_id_are_not_confused() {
    let bench = Bench::new();
    let mut client = bench.client();
    client.send(request(1, "tools/call", json!({ "name": "wait" })) + "\n");
    let twice = client.call(1, "echo", json!({}));
    assert_eq!((code(&twice), &twice["id"]), (-32600, &json!(1)));
    bench.stub.release.ask();
    assert_eq!(client.line()["result"]["content"][0]["text"], "done");
    assert_eq!(client.call(1, "echo", json!({}))["result"]["isError"], false, "free again");
}

/// Which thread waits for the sockets when a call comes is chance, so it is tried often.
#[test]
fn a_brief_call_that_takes_long_holds_up_nobody_else() {
    for _ in 0..50 {
        let bench = Bench::new();
        let mut stuck = [bench.client(), bench.client(), bench.client()];
        for client in &mut stuck {
            client.send(request(1, "tools/call", json!({ "name": "brief wait" })) + "\n");
        }
        eventually(|| bench.stub.called.lock().unwrap().len() == stuck.len());
        for id in 0..2 {
            let mut other = bench.client();
            assert_eq!(other.call(id, "brief echo", json!({}))["id"], id);
            assert_eq!(other.call(id + 1, "echo", json!({}))["id"], id + 1);
        }
        bench.stub.release.ask();
        for client in &mut stuck {
            assert_eq!(client.line()["id"], 1);
        }
    }
}

#[test]
fn a_brief_call_that_panics_is_a_fault_and_the_server_goes_on() {
    let bench = Bench::new();
    let mut client = bench.client();
    for id in 0..10 {
        assert_eq!(code(&client.call(id, "brief panic", json!({}))), -32603);
    }
    assert_eq!(client.call(99, "brief echo", json!({}))["id"], 99);
}

#[test]
fn a_cancelled_request_is_not_answered() {
    let bench = Bench::with(|options| options.calls_at_once = 1);
    let mut client = bench.client();
    client.send(request(1, "tools/call", json!({ "name": "wait" })) + "\n");
    eventually(|| bench.stub.called.lock().unwrap().len() == 1);
    client.send(request(2, "tools/call", json!({ "name": "big" })) + "\n");
    for id in [1, 2] {
        let params = json!({ "requestId": id, "reason": "changed my mind" });
        let message =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        client.send(format!("{message}\n"));
    }
    // Answered after the cancellations were read, by no tool.
    assert_eq!(client.request(3, "tools/list", json!({}))["id"], 3);
    client.send(request(4, "tools/call", json!({ "name": "echo" })) + "\n");
    bench.stub.release.ask();
    assert_eq!(client.line()["id"], 4);
    // The call that waited for its turn was never made.
    assert_eq!(*bench.stub.called.lock().unwrap(), ["wait", "echo"]);
}

#[test]
fn a_client_that_leaves_disturbs_nobody() {
    let bench = Bench::new();
    let mut stays = bench.client();
    for _ in 0..20 {
        let mut leaves = bench.client();
        leaves.send(request(1, "tools/call", json!({ "name": "big" })) + "\n");
        leaves.send(request(2, "tools/call", json!({ "name": "echo" })) + "\n{\"half");
    }
    assert_eq!(stays.call(1, "echo", json!({}))["id"], 1);
    eventually(|| bench.server.as_ref().unwrap().clients() == 1);
    eventually(|| bench.stub.closed.lock().unwrap().len() == 20);
}

#[test]
fn sessions_have_names_of_their_own_and_are_closed_once() {
    let bench = Bench::new();
    let mut names = Vec::new();
    for _ in 0..3 {
        let mut client = bench.client();
        let named = client.call(1, "session", json!({}));
        names.push(named["result"]["content"][0]["text"].as_str().unwrap().to_owned());
    }
    eventually(|| bench.stub.closed.lock().unwrap().len() == 3);
    let mut closed = bench.stub.closed.lock().unwrap().clone();
    closed.sort();
    names.sort();
    assert_eq!(closed, names);
    names.dedup();
    assert_eq!(names.len(), 3);
}

#[test]
fn a_hundred_clients_at_once() {
    let bench = Bench::new();
    let socket = bench.socket().to_owned();
    let start = Arc::new(std::sync::Barrier::new(100));
    let clients: Vec<_> = (0..100_i64)
        .map(|n| {
            let (socket, start) = (socket.clone(), Arc::clone(&start));
            let work = move || {
                start.wait();
                let mut client = Client::connect(&socket);
                for id in 0..20 {
                    let mine = json!({ "n": n, "id": id });
                    let reply = client.call(id, "echo", mine.clone());
                    assert_eq!(reply["id"], id);
                    assert_eq!(reply["result"]["structuredContent"], mine);
                }
            };
            Builder::new().spawn(work).unwrap()
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
}

#[test]
fn a_client_too_many_is_told() {
    let bench = Bench::with(|options| options.clients_max = 2);
    let mut first = bench.client();
    let mut second = bench.client();
    assert_eq!(first.call(1, "echo", json!({}))["id"], 1);
    assert_eq!(second.call(1, "echo", json!({}))["id"], 1);
    let mut third = bench.client();
    let reply = third.line();
    assert_eq!((code(&reply), &reply["id"]), (-32000, &Value::Null));
    assert!(third.is_at_end());
    drop(second);
    eventually(|| bench.server.as_ref().unwrap().clients() == 1);
    assert_eq!(bench.client().call(1, "echo", json!({}))["id"], 1);
}

#[test]
fn a_client_that_does_not_read_is_let_go() {
    let bench = Bench::with(|options| options.write_deadline = Duration::from_millis(100));
    let mut deaf = bench.client();
    deaf.send(request(1, "tools/call", json!({ "name": "big" })) + "\n");
    eventually(|| bench.stub.closed.lock().unwrap().len() == 1);
    let mut other = bench.client();
    assert_eq!(other.call(1, "echo", json!({}))["id"], 1);
}

#[test]
fn a_client_that_only_sends_nonsense_piles_up_nothing() {
    let bench = Bench::with(|options| options.write_deadline = Duration::from_millis(200));
    let mut client = bench.client();
    let nonsense = "x\n".repeat(1 << 15);
    client.stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server stops reading once its error lines are not read, and lets go.
    let refused = (0..200).any(|_| client.stream.write_all(nonsense.as_bytes()).is_err());
    assert!(refused);
}

#[test]
fn a_call_past_its_deadline_is_answered() {
    let bench = Bench::with(|options| {
        options.calls_at_once = 1;
        options.call_deadline = Duration::from_millis(100);
    });
    let mut client = bench.client();
    let late = client.call(1, "wait", json!({}));
    assert_eq!(code(&late), -32603, "{late}");
    // The call goes on and keeps its place, so the next cannot begin either.
    assert_eq!(code(&client.call(2, "echo", json!({}))), -32603);
    bench.stub.release.ask();
    eventually(|| client.call(3, "echo", json!({})).get("result").is_some());
}

#[test]
fn answers_do_not_interleave() {
    let bench = Bench::new();
    let mut client = bench.client();
    for id in 0..6 {
        client.send(request(id, "tools/call", json!({ "name": "big" })) + "\nnonsense\n");
    }
    let mut ids: Vec<String> = (0..12).map(|_| client.line()["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["0", "1", "2", "3", "4", "5", "null", "null", "null", "null", "null", "null"]);
}

#[test]
fn the_socket_is_private_and_goes_with_the_server() {
    let mut bench = Bench::new();
    let socket = bench.socket().to_owned();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(socket.parent().unwrap()), 0o700);
    bench.server.take().unwrap().stop();
    assert!(!socket.exists());
}

#[test]
fn a_second_server_is_refused_and_a_stale_socket_replaced() {
    let bench = Bench::new();
    let options = Options::at(bench.socket());
    let tools: Arc<dyn ToolBox> = Stub::new();
    let second = Server::start(options, Arc::clone(&tools), Arc::new(SystemClock));
    assert!(matches!(second, Err(ServerError::Taken { .. })), "{second:?}");
    assert_eq!(bench.client().call(1, "echo", json!({}))["id"], 1, "the first goes on");

    let stale = bench.directory.path().join("stale.sock");
    drop(UnixListener::bind(&stale).unwrap());
    assert!(stale.exists());
    let server =
        Server::start(Options::at(&stale), Arc::clone(&tools), Arc::new(SystemClock)).unwrap();
    assert_eq!(Client::connect(&stale).call(1, "echo", json!({}))["id"], 1);
    server.stop();

    let file = bench.directory.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let refused = Server::start(Options::at(&file), Arc::clone(&tools), Arc::new(SystemClock));
    assert!(matches!(refused, Err(ServerError::NoSocket { .. })), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");

    let long = bench.directory.path().join("x".repeat(120));
    let refused = Server::start(Options::at(&long), tools, Arc::new(SystemClock));
    assert!(matches!(refused, Err(ServerError::Bind { .. })), "{refused:?}");
}

#[test]
fn stopping_waits_for_what_is_under_way_and_abandons_what_hangs() {
    let mut bench = Bench::with(|options| options.stop_grace = Duration::from_secs(10));
    let mut client = bench.client();
    let mut idle = bench.client();
    client.send(request(1, "tools/call", json!({ "name": "wait" })) + "\n");
    eventually(|| bench.stub.called.lock().unwrap().len() == 1);
    let server = bench.server.take().unwrap();
    let stopping = Builder::new().spawn(move || server.stop()).unwrap();
    assert!(idle.is_at_end());
    bench.stub.release.ask();
    assert_eq!(client.line()["id"], 1);
    assert!(client.is_at_end());
    stopping.join().unwrap();

    let mut bench = Bench::with(|options| options.stop_grace = Duration::from_millis(100));
    let mut client = bench.client();
    client.send(request(1, "tools/call", json!({ "name": "wait" })) + "\n");
    eventually(|| bench.stub.called.lock().unwrap().len() == 1);
    bench.server.take().unwrap().stop();
    let left = client.line();
    assert_eq!((code(&left), &left["id"]), (-32603, &json!(1)));
    assert!(client.is_at_end());
}

#[test]
fn what_reaches_no_tool_is_counted_by_its_reason() {
    let bench = Bench::with(|options| {
        options.clients_max = 2;
        options.line_bytes_max = 1 << 20;
        // Long enough for all else that is asked here, on a machine that does other things.
        options.large_line_deadline = Duration::from_secs(2);
        options.call_deadline = Duration::from_secs(2);
    });
    let mut client = bench.client();
    client.ask("nonsense");
    client.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#);
    client.request(2, "tools/list", json!({ "cursor": "x" }));
    client.request(3, "engram/backup", json!({ "question": 7 }));
    client.request(4, "tools/shout", json!({}));
    client.ask(request(5, "tools/list", json!({})).replace("2026-07-28", "2031-01-01"));
    client.ask("x".repeat(2 << 20));
    client.ask(call_with("echo", &zeros(2_000_000 / 4)));
    client.call(6, "panic", json!({}));
    client.call(7, "brief panic", json!({}));
    client.call(8, "wait", json!({}));
    // What a tool refuses, it counts itself.
    client.call(9, "argument", json!({}));
    client.call(10, "fault", json!({}));
    client.call(11, "echo", json!({}));
    let mut slow = bench.client();
    slow.send("x".repeat(200_000));
    let mut third = bench.client();
    assert_eq!(code(&third.line()), -32000);
    assert_eq!(code(&slow.line()), -32600);
    let expect = [
        (Reason::Failed, 2),
        (Reason::Malformed, 4),
        (Reason::UnknownMethod, 1),
        (Reason::UnknownVersion, 1),
        (Reason::TooLarge, 2),
        (Reason::TooSlow, 1),
        (Reason::TooManyClients, 1),
        (Reason::TookTooLong, 1),
    ];
    assert_eq!(bench.stub.calls.without_tool(), expect.into());
}

#[test]
fn a_line_without_room_is_counted() {
    let bench = Bench::with(|options| {
        options.bytes_in_flight_max = 400_000;
        options.room_deadline = Duration::from_millis(100);
    });
    let mut greedy = bench.client();
    let big = json!({ "name": "wait", "arguments": { "x": "x".repeat(300_000) } });
    greedy.send(request(1, "tools/call", big) + "\n");
    eventually(|| bench.stub.called.lock().unwrap().len() == 1);
    let mut other = bench.client();
    other.send(request(1, "tools/call", json!({ "name": "echo" })) + "\n");
    assert_eq!(code(&other.line()), -32002);
    assert_eq!(bench.stub.calls.without_tool(), [(Reason::NoRoom, 1)].into());
}

/// Polls, as the server tells nobody that it noticed.
fn eventually(mut holds: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("did not come to hold");
}
