//! Cameras through a pipe: from a command of the settings, and by `engram ingest -`; and frames that
//! come to a directory.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::running::{Running, flat, wait_for};

/// Files of views that differ from one another.
fn views() -> Vec<String> {
    let mut views: Vec<String> = Vec::new();
    for frame in flat() {
        let file = frame["image_path"].as_str().unwrap().to_owned();
        if views.len() < 60 && !views.contains(&file) {
            views.push(file);
        }
    }
    views
}

/// A daemon with these settings in its file.
fn with_settings(text: &str) -> Running {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robot.toml");
    fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    Running::start_in(dir, &["--config", &path])
}

fn camera(status: &Value) -> &Value {
    &status["cameras"][0]
}

/// A command that runs beside the daemon and reads what the test writes.
struct Beside(Option<Child>);

impl Beside {
    fn start(daemon: &Running, arguments: &[&str]) -> (Self, ChildStdin) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        command.args(arguments).arg("--socket").arg(daemon.socket());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        (Self(Some(child)), input)
    }

    /// Waits for the end; what was printed.
    fn ended(mut self) -> (Output, String) {
        let output = self.0.take().unwrap().wait_with_output().unwrap();
        let text = [output.stdout.as_slice(), &output.stderr].concat();
        (output, String::from_utf8(text).unwrap())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// What is remembered of a camera, oldest first.
fn records(daemon: &Running, source: &str) -> Vec<Value> {
    let reply = daemon.ask("recall_best_match", json!({"query": "a room", "k": 50}));
    let records = reply["records"].as_array().unwrap().iter();
    let mut records: Vec<Value> = records.filter(|it| it["source"] == source).cloned().collect();
    records.sort_by_key(|record| record["id"].as_u64().unwrap());
    records
}

#[test]
fn a_camera_of_the_settings_fills_the_memory_and_is_started_again() {
    let views = views();
    let (one, other) = (&views[0], &views[20]);
    let daemon = with_settings(&format!(
        "[[sources]]\nname = \"hall\"\nwindow_seconds = 0\nposition = [1.5, -2.0]\ntheta = 0.5\n\
         command = \"cat {one} {other}; echo no signal >&2; exit 4\"\n"
    ));
    wait_for(|| {
        let status = daemon.ask("ingest_status", json!({}));
        camera(&status)["restarts"].as_u64() >= Some(2) && status["captioned"].as_u64() >= Some(2)
    });
    wait_for(|| {
        let health = daemon.ask("health", json!({}));
        let is_told = "camera \"hall\" is down: exit code 4: no signal";
        health["status"] == "degraded"
            && health["problems"].to_string().contains("camera")
            && health["problems"].as_array().unwrap().iter().any(|it| it == is_told)
    });
    for record in records(&daemon, "hall") {
        assert_eq!(record["position"], json!([1.5, -2.0, 0.0]));
        assert_eq!(record["theta"], 0.5);
    }
    let status = daemon.ask("ingest_status", json!({}));
    assert_eq!(camera(&status)["source"], "hall");
    assert_eq!(camera(&status)["faults"], 0, "{status}");
    assert_eq!(camera(&status)["lost"], 0, "{status}");
    assert!(daemon.stop().1.success());
}

#[test]
fn frames_that_a_full_daemon_cannot_take_are_lost_and_told() {
    let files = views().join(" ");
    let daemon = with_settings(&format!(
        "[ingest]\nspool_max = 2\n[[sources]]\nname = \"front\"\nwindow_seconds = 0\n\
         command = \"while true; do for view in {files}; do cat $view; sleep 0.02; done; done\"\n"
    ));
    // The captioner hangs.
    let mut worker = None;
    wait_for(|| {
        worker = daemon.ask("ingest_status", json!({}))["captioner_pid"].as_i64();
        worker.is_some()
    });
    let worker = Pid::from_raw(i32::try_from(worker.unwrap()).unwrap()).unwrap();
    kill_process(worker, Signal::STOP).unwrap();
    wait_for(|| {
        let status = daemon.ask("ingest_status", json!({}));
        camera(&status)["lost"].as_u64() >= Some(5)
    });
    // Told with the next frame that is taken in.
    kill_process(worker, Signal::CONT).unwrap();
    wait_for(|| {
        let status = daemon.ask("ingest_status", json!({}));
        let lost = status["lost"].as_array().unwrap();
        lost.iter().any(|it| it["reason"] == "overrun" && it["frames"].as_u64() >= Some(5))
    });
    let problems = daemon.ask("health", json!({}))["problems"].to_string();
    assert!(problems.contains("overrun"), "{problems}");
}

#[test]
fn frames_of_a_pipe_get_the_pose_of_their_time() {
    let daemon = Running::start();
    let (poses, mut pose_input) = Beside::start(&daemon, &["pose", "--frame-id", "odom"]);
    let now = engram::base::time::Clock::now(&engram::base::time::SystemClock).seconds();
    // A metre and a tenth of a turn a second, for a minute around now.
    for second in 0..120 {
        let time = now.floor() - 60.0 + f64::from(second);
        writeln!(pose_input, "{time} {second} 0 {}", 0.1 * f64::from(second) - 6.0).unwrap();
    }
    writeln!(pose_input, "here").unwrap();
    drop(pose_input);
    let (output, text) = poses.ended();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("120 poses taken, 1 lines refused"), "{text}");
    assert!(text.contains("line 121: \"here\" is no number; accepted is `x y theta`"), "{text}");

    let arguments = ["ingest", "-", "--source", "arm", "--window", "0"];
    let (camera, mut images) = Beside::start(&daemon, &arguments);
    for view in [0, 10, 20] {
        images.write_all(&fs::read(&views()[view]).unwrap()).unwrap();
    }
    images.write_all(&[0xff, 0xd8, 0xff, 0xe0, 0, 16]).unwrap();
    drop(images);
    let (output, text) = camera.ended();
    assert!(output.status.success(), "{text}");
    for expect in [
        "get the time at which they arrive",
        "3 frames sent, 0 merged",
        "3 captioned, 0 failed, 0 pending",
        "3 came, each with the time of its arrival",
        "1 faults of the stream, the last: an image ends after 6 bytes",
    ] {
        assert!(text.contains(expect), "{text}");
    }
    let records = records(&daemon, "arm");
    assert_eq!(records.len(), 3);
    for record in &records {
        let time = record["timestamp"].as_f64().unwrap();
        let expected = time - (now.floor() - 60.0);
        let x = record["position"][0].as_f64().unwrap();
        assert!((x - expected).abs() < 1e-3, "{record}: {expected}");
        let turned =
            (record["theta"].as_f64().unwrap() - (0.1 * x - 6.0)).rem_euclid(std::f64::consts::TAU);
        assert!(turned.min(std::f64::consts::TAU - turned) < 1e-3, "{record}");
        assert_eq!(record["frame_id"], "odom");
    }
    let status = daemon.ask("ingest_status", json!({}));
    assert_eq!((&status["poses"]["came"], &status["poses"]["located"]), (&json!(120), &json!(3)));
}

#[test]
fn a_pipe_goes_on_when_the_daemon_was_restarted() {
    let daemon = Running::start();
    let arguments = ["ingest", "-", "--source", "arm", "--window", "0"];
    let (camera, mut images) = Beside::start(&daemon, &arguments);
    let mut send = |view: usize| images.write_all(&fs::read(&views()[view]).unwrap()).unwrap();
    send(0);
    wait_for(|| records(&daemon, "arm").len() == 1);
    let dir = daemon.kill();
    send(10);
    let daemon = Running::start_in(dir, &[]);
    send(20);
    wait_for(|| records(&daemon, "arm").len() == 3);
    drop(images);
    let (output, text) = camera.ended();
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("waiting for the daemon") && text.contains("the daemon is back"),
        "{text}"
    );
    assert!(text.contains("3 frames sent"), "{text}");
}

#[test]
fn a_command_of_ingest_runs_within_its_memory_until_it_is_interrupted() {
    let daemon = Running::start();
    let line = format!("ulimit -d >&2; cat {}", views()[0]);
    let arguments =
        ["ingest", "--command", &line, "--memory-limit-mb", "64", "--window", "0", "--source", "a"];
    let (camera, input) = Beside::start(&daemon, &arguments);
    wait_for(|| daemon.ask("ingest_status", json!({}))["seen"].as_u64() >= Some(2));
    kill_process(Pid::from_child(camera.0.as_ref().unwrap()), Signal::INT).unwrap();
    drop(input);
    let (output, text) = camera.ended();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("the camera is down: exit code 0: 65536"), "{text}");
    assert!(text.contains("restarts of the command"), "{text}");
}

#[test]
fn a_directory_is_followed_over_restarts_and_nothing_is_taken_twice() {
    let daemon = Running::start();
    let frames = tempfile::tempdir().unwrap();
    let dir = frames.path().display().to_string();
    let arguments = ["ingest", &dir, "--follow", "--source", "arm", "--window", "0"];
    let lines =
        fs::File::options().append(true).create(true).open(frames.path().join("frames.jsonl"));
    let mut lines = lines.unwrap();
    let mut come = |view: usize, second: u32| {
        let file = format!("{second}.jpg");
        fs::copy(&views()[view], frames.path().join(&file)).unwrap();
        let line =
            json!({"file": file, "time": 1_735_895_640 + second, "position": [second, 0, 0]});
        writeln!(lines, "{line}").unwrap();
    };
    come(0, 1);
    let (follower, _input) = Beside::start(&daemon, &arguments);
    wait_for(|| records(&daemon, "arm").len() == 1);
    come(10, 2);
    wait_for(|| records(&daemon, "arm").len() == 2);
    let state = daemon.kill();
    come(20, 3);
    let daemon = Running::start_in(state, &[]);
    wait_for(|| records(&daemon, "arm").len() == 3);
    kill_process(Pid::from_child(follower.0.as_ref().unwrap()), Signal::TERM).unwrap();
    let (output, text) = follower.ended();
    assert!(output.status.success(), "{text}");
    for expect in ["is followed until Ctrl-C", "the daemon is back", "3 frames sent, 0 merged"] {
        assert!(text.contains(expect), "{text}");
    }
    // While nobody looked.
    come(30, 4);
    let (follower, _input) = Beside::start(&daemon, &arguments);
    wait_for(|| records(&daemon, "arm").len() == 4);
    kill_process(Pid::from_child(follower.0.as_ref().unwrap()), Signal::INT).unwrap();
    let (_, text) = follower.ended();
    assert!(text.contains("1 frames sent, 0 merged into others, 3 known already"), "{text}");
    let records = records(&daemon, "arm");
    let places: Vec<f64> = records.iter().map(|it| it["position"][0].as_f64().unwrap()).collect();
    assert_eq!(places.len(), 4, "{places:?}");
}

#[test]
fn flags_that_do_not_belong_together_are_refused() {
    let daemon = Running::start();
    let flat = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/household-captioner/flat");
    let fixture = flat.join("frames/000001.jpg").display().to_string();
    let flat = flat.display().to_string();
    for (arguments, expect) in [
        (vec!["ingest"], "<PATH>"),
        (vec!["ingest", "-", "--command", "x"], "cannot be used with"),
        (vec!["ingest", &flat, "--position", "1,2"], "--position is for cameras"),
        (vec!["ingest", "-", "--position", "1"], "X,Y or X,Y,Z"),
        (vec!["ingest", "-", "--list"], "--list is for recordings"),
        (vec!["ingest", "-", "--follow"], "--follow is for a directory"),
        (vec!["ingest", &flat, "--follow", "--no-wait"], "--no-wait"),
        (vec!["ingest", &flat, "--follow", "--start", "2026-01-05"], "--start"),
        (vec!["ingest", &flat, "--follow", "--list"], "--list"),
        (vec!["ingest", &fixture, "--follow"], "it is a file"),
    ] {
        let output = daemon.engram(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(expect), "{arguments:?}: {text}");
    }
}
