//! The daemon as its user runs it: start, stop, kill, and the other commands.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::net::UnixListener;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::running::{Running, engram, flat, serve, wait_for};

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn pending(daemon: &Running) -> u64 {
    daemon.ask("ingest_status", json!({}))["pending"].as_u64().unwrap()
}

#[test]
fn frames_are_captioned_merged_and_found() {
    let daemon = Running::start();
    let mut merged = 0;
    for frame in flat().into_iter().take(40) {
        let observed = daemon.ask("observe", frame);
        assert!(observed["frame"].as_u64().is_some(), "{observed}");
        merged += u64::from(observed["state"] == "merged");
    }
    assert!(merged > 0, "the flat holds frames of a robot that stood still");
    wait_for(|| pending(&daemon) == 0);
    let status = daemon.ask("ingest_status", json!({}));
    assert_eq!(status["captioned"].as_u64(), Some(40 - merged), "{status}");
    assert_eq!(status["gated"].as_u64(), Some(merged), "{status}");
    assert_eq!(status["failed"], 0, "{status}");
    let found = daemon.ask("recall_best_match", json!({"query": "a wooden table", "k": 3}));
    let best = &found["records"][0];
    assert!(best["caption"].as_str().unwrap().split(' ').count() > 3, "{best}");
    assert_eq!(best["map_id"], "flat");
    let id = best["id"].as_u64().unwrap();
    let reply = daemon.call("inspect_memory_record", json!({"record_ids": [id]}));
    assert_eq!(reply.images.len(), 1);
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let daemon = Running::start();
    let frames = flat();
    let mut tickets = BTreeSet::new();
    for frame in frames.iter().take(25) {
        let observed = daemon.ask("observe", frame.clone());
        tickets.insert(observed["frame"].as_u64().unwrap());
    }
    let stored = daemon.ask("observe", json!({"caption": "the door code changed to 4711"}));
    let dir = daemon.kill();

    let daemon = Running::start_in(dir, &[]);
    wait_for(|| pending(&daemon) == 0);
    let status = daemon.ask("ingest_status", json!({}));
    let captioned = status["captioned"].as_u64().unwrap();
    assert_eq!(captioned, tickets.len() as u64, "{status}");
    let count = daemon.ask("get_record_count_within_time_range", json!({}));
    assert_eq!(count["count"].as_u64(), Some(captioned + 1));
    let found = daemon.ask("recall_best_match", json!({"query": "door code", "k": 1}));
    assert_eq!(found["records"][0]["id"], stored["id"]);
}

#[test]
fn sigterm_stops_it_in_order_with_frames_in_wait() {
    let daemon = Running::start();
    for frame in flat().into_iter().take(30) {
        daemon.ask("observe", frame);
    }
    let socket = daemon.socket();
    let (dir, status) = daemon.stop();
    assert!(status.success(), "{status}");
    assert!(!socket.exists(), "the socket is left behind");
    let daemon = Running::start_in(dir, &[]);
    wait_for(|| pending(&daemon) == 0);
    let status = daemon.ask("ingest_status", json!({}));
    let sum = status["captioned"].as_u64().unwrap() + status["gated"].as_u64().unwrap();
    assert_eq!(sum, 30, "{status}");
}

#[test]
fn a_second_daemon_on_the_same_state_is_refused() {
    let daemon = Running::start();
    let other = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.arg("serve").arg("--state-dir").arg(daemon.dir.path().join("state"));
    let output = command.arg("--socket").arg(other.path().join("s")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("in use"), "{}", stderr(&output));
    assert_eq!(daemon.ask("health", json!({}))["status"], "ok");
}

#[test]
fn a_live_socket_is_refused_and_a_stale_one_replaced() {
    let daemon = Running::start();
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    let state = tempfile::tempdir().unwrap();
    command.arg("serve").arg("--state-dir").arg(state.path()).arg("--socket").arg(daemon.socket());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("another daemon answers"), "{}", stderr(&output));
    drop(daemon);

    let dir = tempfile::tempdir().unwrap();
    drop(UnixListener::bind(dir.path().join("engram.sock")).unwrap());
    assert!(dir.path().join("engram.sock").exists());
    let daemon = Running::start_in(dir, &[]);
    assert_eq!(daemon.ask("health", json!({}))["status"], "ok");
}

#[test]
fn a_dead_or_stopped_captioner_costs_a_restart_and_no_frame() {
    let daemon =
        Running::start_in(tempfile::tempdir().unwrap(), &["--set", "captioner.deadline_seconds=6"]);
    let mut frames = flat().into_iter();
    for frame in frames.by_ref().take(5) {
        daemon.ask("observe", frame);
    }
    wait_for(|| pending(&daemon) == 0);
    for signal in [Signal::KILL, Signal::STOP] {
        let before = daemon.ask("ingest_status", json!({}));
        rustix::process::kill_process(worker_of(&daemon), signal).unwrap();
        for frame in frames.by_ref().take(5) {
            daemon.ask("observe", frame);
            daemon.ask("recall_best_match", json!({"query": "mug"}));
        }
        wait_for(|| pending(&daemon) == 0);
        let after = daemon.ask("ingest_status", json!({}));
        assert_eq!(after["failed"], 0, "{signal:?}: {after}");
        let restarts = |it: &Value| it["captioner_restarts"].as_u64().unwrap();
        assert!(restarts(&after) > restarts(&before), "{signal:?}: {after}");
    }
}

/// The daemon's one child.
fn worker_of(daemon: &Running) -> rustix::process::Pid {
    let stats = daemon.ask("ingest_status", json!({}));
    let pid = stats["captioner_pid"].as_i64().unwrap();
    rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

#[test]
fn another_embedder_is_refused_until_reindexed() {
    let daemon = Running::start();
    daemon.ask("observe", json!({"caption": "a red mug on a desk"}));
    let (dir, _) = daemon.stop();
    // The same model with another name in its configuration is another model.
    let other = dir.path().join("other");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/models/caption-embedder");
    copy_model(shipped.as_ref(), &other);
    let config = fs::read_to_string(other.join("config.json")).unwrap();
    fs::write(other.join("config.json"), format!("{config}\n")).unwrap();
    let flag = format!("embedder.model={}", other.display());
    let output = serve(dir.path(), &["--set", &flag]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("engram reindex"), "{}", stderr(&output));

    let mut reindex = Command::new(env!("CARGO_BIN_EXE_engram"));
    reindex.args(["reindex", "--set", &flag, "--state-dir"]).arg(dir.path().join("state"));
    let output = reindex.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("1 records are embedded"), "{}", stdout(&output));
    let daemon = Running::start_in(dir, &["--set", &flag]);
    let found = daemon.ask("recall_best_match", json!({"query": "mug"}));
    assert_eq!(found["records"][0]["caption"], "a red mug on a desk");
}

fn copy_model(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_model(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn the_client_commands_say_what_is_wrong() {
    let nowhere = tempfile::tempdir().unwrap();
    let socket = nowhere.path().join("engram.sock");
    for arguments in [&["status"][..], &["call", "health"], &["mcp"], &["ingest", "."]] {
        let output = engram(&socket, arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = stderr(&output);
        assert!(
            said.contains("engram.sock") && said.contains("engram serve"),
            "{arguments:?}: {said}"
        );
    }
    let daemon = Running::start();
    let output = daemon.engram(&["call", "recall_best_match", "{\"query\": \"mug\", \"k\": 99}"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("a whole number from 1 to 50"), "{}", stderr(&output));
    let output = daemon.engram(&["status"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for word in
        ["frames", "pending", "records", "household-captioner", "caption-embedder", "memory"]
    {
        assert!(stdout(&output).contains(word), "{word}: {}", stdout(&output));
    }
}

#[test]
fn settings_are_printed_with_their_origin_and_unknown_ones_refused() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        command.args(arguments).env("ENGRAM_LOG_LEVEL", "debug").output().unwrap()
    };
    let output = run(&["config", "--state-dir", "/data/7"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("store.state_dir = \"/data/7\"  # --state-dir"));
    assert!(stdout(&output).contains("log.level = \"debug\"  # $ENGRAM_LOG_LEVEL"));
    let output = run(&["config", "--set", "store.cash_mb=1"]);
    assert_eq!(output.status.code(), Some(78));
    assert!(stderr(&output).contains("store.cash_mb"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_has_left_ends_no_command_in_panic() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    let output = command.arg("config").stdout(writer).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn the_demonstration_runs_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    let output = command.arg("demo").env("TMPDIR", temporary.path()).output().unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let said = stdout(&output);
    for part in ["Where are my keys?", "the door code changed to 4711", "Nothing found", " ms)"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
