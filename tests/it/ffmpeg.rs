//! Real encoders and a real RTSP server, where they are installed: ffmpeg, and that of `GStreamer`
//! with Python's bindings (`tests/sources/rtsp_server.py`). Elsewhere these tests say so and pass.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::json;

use crate::running::{Running, wait_for};
use crate::sdk::root;

/// Whether `program` runs with these arguments.
fn runs(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.status().is_ok_and(|status| status.success()) {
        return true;
    }
    // Written past the test harness, which swallows what a passing test prints.
    let line = format!("SKIPPED: no {program} {}\n", arguments.join(" "));
    io::stderr().write_all(line.as_bytes()).unwrap();
    false
}

/// A clock that counts its seconds, ten frames a second.
fn make_video(file: &Path, seconds: u32) {
    let picture = format!("testsrc=size=320x240:rate=10:duration={seconds}");
    let output = Command::new("ffmpeg")
        .args(["-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", &picture])
        .args(["-pix_fmt", "yuv420p", "-metadata", "creation_time=2026-01-05T09:00:00Z"])
        .arg(file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn text(output: &Output) -> String {
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8(text).unwrap()
}

struct RtspServer(Child);

impl RtspServer {
    /// At a port, 0 for a free one; with the port.
    fn start(port: u16) -> (Self, u16) {
        let mut child = Command::new("/usr/bin/python3")
            .arg(root().join("tests/sources/rtsp_server.py"))
            .arg(port.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse().unwrap();
        (Self(child), port)
    }
}

impl Drop for RtspServer {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn an_rtsp_camera_is_lost_and_comes_back() {
    let bindings = "import gi; gi.require_version('GstRtspServer', '1.0'); \
        from gi.repository import Gst; Gst.init(None); assert Gst.ElementFactory.find('x264enc')";
    if !runs("ffmpeg", &["-version"]) || !runs("/usr/bin/python3", &["-c", bindings]) {
        return;
    }
    let (server, port) = RtspServer::start(0);
    let dir = tempfile::tempdir().unwrap();
    let settings = dir.path().join("robot.toml");
    let command = format!(
        "ffmpeg -nostdin -loglevel error -rtsp_transport tcp -i rtsp://127.0.0.1:{port}/camera \
         -f image2pipe -c:v mjpeg -r 5 -"
    );
    fs::write(&settings, format!("[[sources]]\nname = \"door\"\ncommand = {command:?}\n")).unwrap();
    let settings = settings.display().to_string();
    let daemon = Running::start_in(dir, &["--config", &settings]);
    let camera = || daemon.ask("ingest_status", json!({}))["cameras"][0].clone();
    wait_for(|| camera()["frames"].as_u64() >= Some(10));
    wait_for(|| daemon.ask("ingest_status", json!({}))["captioned"].as_u64() >= Some(1));
    drop(server);
    wait_for(|| {
        let health = daemon.ask("health", json!({}));
        health["problems"].to_string().contains("camera \\\"door\\\" is down")
    });
    let before = camera()["frames"].as_u64();
    let (server, _) = RtspServer::start(port);
    wait_for(|| camera()["frames"].as_u64() > before.map(|it| it + 5));
    assert!(camera()["restarts"].as_u64() >= Some(1));
    assert!(camera()["down"].is_null(), "{}", camera());
    assert_eq!(camera()["lost"], 0);
    drop(server);
}

#[test]
fn a_video_comes_in_by_its_own_times_and_once() {
    if !runs("ffmpeg", &["-version"]) {
        return;
    }
    let daemon = Running::start();
    let video = daemon.dir.path().join("clip.mp4");
    make_video(&video, 2);
    let video = video.to_str().unwrap();
    let first = text(&daemon.engram(&["ingest", video, "--window", "0"]));
    assert!(first.contains("16 frames sent") || first.contains("merged into others"), "{first}");
    assert!(first.contains("the video began 2026-01-05 09:00:00, as its camera wrote"), "{first}");
    let status = daemon.ask("ingest_status", json!({}));
    assert_eq!(status["seen"], 16, "{first}");
    assert_eq!(status["sources"][0]["newest_timestamp"], 1_767_603_600.0 + 15.0 / 8.0);
    let again = text(&daemon.engram(&["ingest", video, "--window", "0"]));
    assert!(again.contains("0 frames sent, 0 merged into others, 16 known already"), "{again}");
    let moved = ["ingest", video, "--start", "2026-02-01T00:00:00Z", "--window", "0"];
    let moved = text(&daemon.engram(&moved));
    assert!(moved.contains("began 2026-02-01 00:00:00, as --start says"), "{moved}");
    let newest = daemon.ask("ingest_status", json!({}))["sources"][0]["newest"].clone();
    assert_eq!(newest, "2026-02-01 00:00:01");

    let broken = daemon.dir.path().join("broken.mp4");
    fs::write(&broken, b"no video").unwrap();
    let refused = daemon.engram(&["ingest", broken.to_str().unwrap()]);
    assert!(!refused.status.success());
    assert!(text(&refused).contains("the video cannot be read: ffprobe: "), "{}", text(&refused));
    // Half of it: what ffmpeg makes of that comes in, and it is said that there was more.
    let whole = fs::read(video).unwrap();
    let faststart = daemon.dir.path().join("cut.mkv");
    let output = Command::new("ffmpeg")
        .args(["-nostdin", "-loglevel", "error", "-i", video, "-c", "copy"])
        .arg(&faststart)
        .output()
        .unwrap();
    assert!(output.status.success() && !whole.is_empty());
    let bytes = fs::read(&faststart).unwrap();
    fs::write(&faststart, &bytes[..bytes.len() / 2]).unwrap();
    let cut = ["ingest", faststart.to_str().unwrap(), "--source", "cut", "--window", "0"];
    let cut = text(&daemon.engram(&cut));
    assert!(!cut.contains("0 frames sent, 0 merged"), "{cut}");
}

#[test]
fn a_video_through_a_pipe_is_cut_and_sent_again() {
    if !runs("ffmpeg", &["-version"]) {
        return;
    }
    let daemon = Running::start();
    let video = daemon.dir.path().join("clip.mp4");
    make_video(&video, 2);
    let encode = |format: &str| {
        let mut command = Command::new("ffmpeg");
        command.args(["-nostdin", "-loglevel", "error", "-i"]).arg(&video);
        command.args(format.split(' ')).arg("-").output().unwrap().stdout
    };
    let ingest = |name: &str, stream: &[u8]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        command.args(["ingest", "-", "--window", "0", "--source", name, "--socket"]);
        command.arg(daemon.socket()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stream).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let jpegs = encode("-f image2pipe -c:v mjpeg -r 10");
    let cut = ingest("cut", &jpegs[..jpegs.len() * 3 / 4]);
    assert!(cut.contains("the last: an image ends after"), "{cut}");
    assert!(!cut.contains("refused"), "{cut}");
    for (name, stream) in [
        ("cut", jpegs),
        ("png", encode("-f image2pipe -c:v png -r 10")),
        ("parts", encode("-f mpjpeg -r 10")),
    ] {
        let whole = ingest(name, &stream);
        assert!(whole.contains("20 came, each with the time of its arrival"), "{name}: {whole}");
        assert!(!whole.contains("faults") && !whole.contains("refused"), "{name}: {whole}");
    }
}
