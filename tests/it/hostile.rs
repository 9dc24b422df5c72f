//! A daemon among clients that mean it harm: what they can make it take, and what others
//! notice of it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::running::{PATIENCE, Running};

/// Most memory that the daemon ever held, in MiB.
fn peak(daemon: &Running) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.process())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// A call of `health` whose only argument is a list of zeros, this long in bytes.
fn many_zeros(bytes: usize) -> String {
    let params = json!({
        "name": "health", "arguments": { "a": [] },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    line.to_string().replace("[]", &format!("[{}0]", "0,".repeat(bytes / 2))) + "\n"
}

fn ask(daemon: &Running, line: &str) -> Value {
    let mut stream = UnixStream::connect(daemon.socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(line.as_bytes()).unwrap();
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply).unwrap();
    serde_json::from_str(&reply).unwrap()
}

#[test]
fn a_line_of_many_values_takes_no_more_memory_than_its_bytes() {
    let daemon = Running::start();
    daemon.ask("health", json!({}));
    let before = peak(&daemon);
    let line = many_zeros(31 << 20);
    let replies = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(|| ask(&daemon, &line))).collect();
        clients.into_iter().map(|it| it.join().unwrap()).collect::<Vec<Value>>()
    });
    for reply in replies {
        let text = reply["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("unknown argument \"a\""), "{reply}");
    }
    let taken = peak(&daemon) - before;
    assert!(taken < 300, "4 lines of 31 MiB took {taken} MiB");
}
