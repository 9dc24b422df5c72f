//! What does not get in is seen, and so is a daemon that does not answer.

use std::fs::{self, File};
use std::io::Cursor;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engram::cli::client::{Client, ClientOptions};
use image::ImageFormat;
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

/// A frame of the demonstration, in grey of so little light.
fn dimmed(frame: &Value, share: u8) -> String {
    let file = fs::read(frame["image_path"].as_str().unwrap()).unwrap();
    let mut picture = image::load_from_memory(&file).unwrap().into_rgb8();
    picture.iter_mut().for_each(|level| *level /= share);
    let mut dimmed = Cursor::new(Vec::new());
    picture.write_to(&mut dimmed, ImageFormat::Png).unwrap();
    STANDARD.encode(dimmed.into_inner())
}

#[test]
fn a_frame_on_which_nothing_is_seen_is_dropped_with_the_reason() {
    let daemon = Running::start_in(
        tempfile::tempdir().unwrap(),
        &["--set", "ingest.drop.max_per_second=0.5"],
    );
    let frames = flat();
    let night = dimmed(&frames[0], 40);
    let dropped = |reply: &Value, reason: &str| {
        let Value::Object(fields) = reply else { panic!("{reply}") };
        assert_eq!((&fields["state"], &fields["reason"]), (&json!("dropped"), &json!(reason)));
        assert_eq!((&fields["frame"], &fields["id"]), (&Value::Null, &Value::Null));
    };
    let at = |seconds: u32| format!("2025-01-02 10:00:{seconds:02}");
    dropped(&daemon.ask("observe", json!({"image": night, "time": at(0)})), "dark");
    let seen = daemon.ask("observe", json!({"image": dimmed(&frames[0], 1), "time": at(1)}));
    assert_eq!((&seen["state"], &seen["reason"]), (&json!("pending"), &Value::Null));
    let soon = daemon.ask("observe", json!({"image": dimmed(&frames[90], 1), "time": at(2)}));
    dropped(&soon, "too_soon");
    let later = daemon.ask("observe", json!({"image": dimmed(&frames[90], 1), "time": at(3)}));
    assert_eq!(later["state"], "pending");
    // Its sender saw something.
    let told = json!({"image": night, "caption": "a dark hall", "time": at(4)});
    assert_eq!(daemon.ask("observe", told)["state"], "stored");
    let status = daemon.ask("ingest_status", json!({}));
    let counted = json!([{"reason": "dark", "frames": 1}, {"reason": "too_soon", "frames": 1}]);
    assert_eq!((&status["dropped"], &status["lost"]), (&counted, &json!([])));
    assert_eq!((&status["seen"], &status["refused"]), (&json!(3), &json!(0)));
    let shown = String::from_utf8(daemon.engram(&["status"]).stdout).unwrap();
    assert!(shown.contains("dropped    1 dark, 1 too_soon since the start"), "{shown}");
}

#[test]
fn of_frames_within_half_a_second_ingest_sends_the_sharpest() {
    let daemon = Running::start();
    let dir = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for (number, frame) in flat().iter().take(4).enumerate() {
        fs::copy(frame["image_path"].as_str().unwrap(), dir.path().join(format!("{number}.jpg")))
            .unwrap();
        let line =
            json!({"file": format!("{number}.jpg"), "time": 1_735_812_000.0 + 0.2 * number as f64});
        lines.push_str(&format!("{line}\n"));
    }
    fs::write(dir.path().join("frames.jsonl"), lines).unwrap();
    let output = daemon.engram(&["ingest", dir.path().to_str().unwrap()]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("2 frames sent") && said.contains("2 not sent, for sharper"), "{said}");
    let all = daemon.engram(&["ingest", dir.path().to_str().unwrap(), "--window", "0"]);
    let said = String::from_utf8(all.stdout).unwrap();
    assert!(said.contains("0 frames sent") && said.contains("4 known already"), "{said}");
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
