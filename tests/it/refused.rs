//! Calls that a running daemon refuses, as its numbers tell them.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::access::as_stranger;
use crate::running::{PATIENCE, Running};

/// What `engram metrics` tells of refused calls, by tool and reason.
fn refused(daemon: &Running) -> BTreeMap<(String, String), u64> {
    let output = daemon.engram(&["metrics"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let samples = text.lines().filter_map(|it| it.strip_prefix("engram_calls_refused_total{"));
    let sample = |sample: &str| {
        let mut parts = sample.split('"').map(str::to_owned).skip(1).step_by(2);
        let count = sample.rsplit_once(' ').unwrap().1.parse().unwrap();
        ((parts.next().unwrap(), parts.next().unwrap()), count)
    };
    samples.map(sample).collect()
}

fn connect(daemon: &Running) -> UnixStream {
    let stream = UnixStream::connect(daemon.socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn answer(stream: &UnixStream) -> Value {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
}

fn ask(daemon: &Running, line: &str) -> Value {
    let mut stream = connect(daemon);
    stream.write_all(line.as_bytes()).unwrap();
    stream.write_all(b"\n").unwrap();
    answer(&stream)
}

fn request(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

/// The counts that are not 0.
fn counted(daemon: &Running) -> Vec<(String, String, u64)> {
    let counts = refused(daemon).into_iter().filter(|(_, count)| *count > 0);
    counts.map(|((tool, reason), count)| (tool, reason, count)).collect()
}

#[test]
fn each_reason_is_counted() {
    let flags = ["max_line_mb=1", "max_clients=8", "call_deadline_seconds=3"];
    let flags = flags.map(|it| format!("socket.{it}"));
    let flags: Vec<&str> = flags.iter().flat_map(|it| ["--set", it.as_str()]).collect();
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &flags);
    let all = refused(&daemon);
    assert!(all.values().all(|count| *count == 0), "{all:?}");
    assert!(all.contains_key(&(String::new(), "no_room".to_owned())), "{all:?}");

    ask(&daemon, "nonsense");
    ask(&daemon, &request("tools/shout", json!({})));
    ask(&daemon, &request("tools/list", json!({})).replace("2026-07-28", "2031-01-01"));
    ask(&daemon, &"x".repeat(2 << 20));
    ask(&daemon, &request("tools/call", json!({ "name": "shout" })));
    daemon.call("recall_best_match", json!({ "query": "mug", "k": 0 }));
    ask(&daemon, &request("resources/read", json!({ "uri": "engram://records/x" })));
    let goals = json!({ "name": "watch_goals", "arguments": { "wait_seconds": 10 } });
    let late = ask(&daemon, &request("tools/call", goals));
    assert_eq!(late["error"]["code"], -32603, "{late}");
    // Twice as many as are served, so that it matters not who is still leaving.
    let held: Vec<UnixStream> = (0..17).map(|_| connect(&daemon)).collect();
    let told = answer(held.last().unwrap());
    assert_eq!(told["error"]["code"], -32000, "{told}");
    drop(held);
    crate::running::wait_for(|| daemon.engram(&["metrics"]).status.success());

    let counted = counted(&daemon);
    let count = |tool: &str, reason: &str| {
        let found = counted.iter().find(|it| (it.0.as_str(), it.1.as_str()) == (tool, reason));
        found.map_or(0, |it| it.2)
    };
    for (tool, reason) in [
        ("", "malformed"),
        ("", "unknown_method"),
        ("", "unknown_version"),
        ("", "too_large"),
        ("", "unknown_tool"),
        ("", "took_too_long"),
        ("recall_best_match", "wrong_argument"),
    ] {
        assert_eq!(count(tool, reason), 1, "{tool} {reason}: {counted:?}");
    }
    assert!(count("", "too_many_clients") > 0, "{counted:?}");
}

#[test]
fn who_has_no_role_for_a_call_is_counted_with_what_was_called() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let flags = ["--set", "socket.mode=0666", "--set", "access.observe=65534"];
    let daemon = Running::start_in(dir, &flags);
    let query = r#"{"query": "mug"}"#;
    let calls = [&["call", "recall_best_match", query][..], &["metrics"], &["export"]];
    for call in calls {
        let Some(output) = as_stranger(&daemon.socket(), call) else { return };
        assert!(!output.status.success(), "{call:?}");
    }
    let expect = ["recall_best_match", "resources/read", "export"].map(|tool| (tool, 1));
    for (tool, count) in expect {
        let counted = counted(&daemon);
        let wanted = (tool.to_owned(), "forbidden".to_owned(), count);
        assert!(counted.contains(&wanted), "{tool}: {counted:?}");
    }
}

#[test]
fn who_has_no_role_at_all_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let daemon = Running::start_in(dir, &["--set", "socket.mode=0666"]);
    let Some(output) = as_stranger(&daemon.socket(), &["call", "health"]) else { return };
    assert!(!output.status.success());
    assert_eq!(counted(&daemon), [(String::new(), "no_role".to_owned(), 1)]);
}
