//! The daemon talks to nobody: where no language model's server is set, its process
//! has no socket but its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::running::Running;

/// Numbers of the sockets that a process holds, and of those that reach beyond the
/// machine's file system.
fn sockets(process: u32) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let held = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let held = held.filter_map(|entry| {
        let target = fs::read_link(entry.ok()?.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    });
    let mut network = BTreeSet::new();
    for table in ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"] {
        let path = format!("/proc/{process}/net/{table}");
        let Ok(text) = fs::read_to_string(Path::new(&path)) else { continue };
        let inode = |line: &str| line.split_whitespace().nth(9)?.parse::<u64>().ok();
        network.extend(text.lines().skip(1).filter_map(inode));
    }
    (held.collect(), network)
}

#[test]
fn no_socket_of_the_daemon_reaches_a_network() {
    let running = Running::start();
    running.ask("observe", json!({"caption": "a red mug on a desk"}));
    running.ask("recall_last_seen", json!({"query": "a red mug"}));
    let (held, network) = sockets(running.process());
    assert!(!held.is_empty(), "its own socket is one");
    assert_eq!(held.intersection(&network).collect::<Vec<_>>(), Vec::<&u64>::new());
}
