//! What does not get in is seen, and so is a daemon that does not answer.

use std::fs::{self, File};
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engram::cli::client::{Client, ClientOptions};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};

use crate::running::{Running, flat, serve, wait_for};

#[test]
fn refused_frames_are_counted_by_reason_and_make_the_daemon_unwell() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let file = File::create(&log).unwrap();
    let mut child = serve(dir.path(), &[]).stderr(Stdio::from(file)).spawn().unwrap();
    let socket = dir.path().join("engram.sock");
    let connect = || Client::connect(&socket, ClientOptions::default());
    wait_for(|| connect().is_ok());
    let mut client = connect().unwrap();
    let mut ask = |tool: &str, arguments: Value| {
        client.call(tool, arguments.as_object().unwrap().clone()).unwrap()
    };
    let frame = flat().remove(0);
    let mut again = frame.clone();
    again["time"] = "2025-01-01T00:00:00Z".into();
    assert!(!ask("observe", frame).is_error);
    // Older than what its source sent: known, not lost.
    assert!(ask("observe", again).is_error);
    assert_eq!(ask("health", json!({})).structured["status"], "ok");
    for _ in 0..27 {
        assert!(ask("observe", json!({"image": "R0lGODlh", "source": "front"})).is_error);
    }
    let health = ask("health", json!({})).structured;
    assert_eq!(health["status"], "degraded");
    let problems = health["problems"].to_string();
    assert!(problems.contains("27 broken_image"), "{problems}");
    let status = ask("ingest_status", json!({})).structured;
    assert_eq!(status["lost"], json!([{"reason": "broken_image", "frames": 27}]));
    let error = status["last_error"]["error"].as_str().unwrap();
    assert!(error.contains("source \"front\" was refused"), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    let log = fs::read_to_string(&log).unwrap();
    assert_eq!(log.matches("a frame was refused").count(), 1, "{log}");
}

#[test]
fn a_cut_and_a_damaged_frame_are_refused_and_counted() {
    let daemon = Running::start();
    let frame = flat().remove(0);
    let whole = fs::read(frame["image_path"].as_str().unwrap()).unwrap();
    let mut damaged = whole.clone();
    for (byte, other) in damaged[whole.len() / 2..].iter_mut().zip((0..64).map(|at| at * 3)) {
        *byte = other;
    }
    for (image, expect) in [
        (whole[..whole.len() / 2].to_vec(), "before the end of the image"),
        (damaged, "the image is damaged"),
    ] {
        let reply = daemon.call("observe", json!({"image": STANDARD.encode(image)}));
        assert!(reply.is_error && reply.text.contains(expect), "{}", reply.text);
    }
    let status = daemon.ask("ingest_status", json!({}));
    assert_eq!(status["lost"], json!([{"reason": "broken_image", "frames": 2}]));
    assert_eq!(status["seen"], 0);
    daemon.ask("observe", json!({"image": STANDARD.encode(whole)}));
}

#[test]
fn a_full_spool_is_seen() {
    // A server that captions and is not there: frames wait.
    let flags = ["captioner.endpoint=http://127.0.0.1:9", "ingest.spool_max=2"];
    let flags: Vec<&str> = flags.iter().flat_map(|it| ["--set", it]).collect();
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &flags);
    let refused =
        flat().into_iter().take(40).filter(|it| daemon.call("observe", it.clone()).is_error);
    let refused = refused.count() as u64;
    let lost = daemon.ask("ingest_status", json!({}))["lost"].clone();
    assert_eq!(lost, json!([{"reason": "spool_full", "frames": refused}]));
    assert!(refused > 10);
    let problems = daemon.ask("health", json!({}))["problems"].to_string();
    assert!(problems.contains("spool_full"), "{problems}");
    let shown = daemon.engram(&["status"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains(&format!("lost       {refused} spool_full since the start")), "{shown}");
}

#[test]
fn a_hung_daemon_is_told_as_such_and_a_slow_call_is_waited_for() {
    let daemon = Running::start();
    // It waits longer than a daemon may take to say that it lives.
    let mut client = daemon.client();
    let mut wait = Map::new();
    wait.insert("wait_seconds".to_owned(), json!(5));
    assert!(!client.call("watch_goals", wait).unwrap().is_error);
    daemon.signal(Signal::STOP);
    let shown = daemon.engram(&["status", "--timeout", "60"]);
    assert!(!shown.status.success());
    let shown = String::from_utf8(shown.stderr).unwrap();
    assert!(shown.contains("it hangs"), "{shown}");
    let late = daemon.engram(&["call", "health", "--timeout", "0.2"]);
    let late = String::from_utf8(late.stderr).unwrap();
    assert!(late.contains("did not answer within 200ms"), "{late}");
    let wrong = daemon.engram(&["call", "health", "--timeout", "-1"]);
    assert_eq!(wrong.status.code(), Some(2));
    daemon.signal(Signal::CONT);
    daemon.ask("health", json!({}));
}

#[test]
fn a_hangup_stops_in_order() {
    let daemon = Running::start();
    daemon.ask("observe", json!({"caption": "a red mug"}));
    kill_process(Pid::from_raw(daemon.process().cast_signed()).unwrap(), Signal::HUP).unwrap();
    let (dir, status) = daemon.ended();
    assert!(status.success(), "{status}");
    assert!(!dir.path().join("engram.sock").exists());
}
