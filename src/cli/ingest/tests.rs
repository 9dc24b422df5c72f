//! Which frames of a directory go in, which are skipped, and what is said about it.

use super::*;
use std::collections::VecDeque;
use std::fs;
use tempfile::TempDir;

/// A daemon that takes frames into a spool of two and captions one a look.
#[derive(Default)]
struct ScriptedDaemon {
    taken: Vec<Map<String, Value>>,
    newest: BTreeMap<String, f64>,
    pending: u64,
    captioned: u64,
    is_stuck: bool,
    looks: usize,
    /// Answers that come before any of its own, to `observe`.
    answers: VecDeque<Result<ClientReply, ClientError>>,
}

impl ScriptedDaemon {
    fn call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ClientReply, ClientError> {
        match tool {
            "observe" => self.observe(arguments),
            "ingest_status" => Ok(self.status()),
            other => panic!("{other} was called"),
        }
    }

    fn observe(&mut self, arguments: Map<String, Value>) -> Result<ClientReply, ClientError> {
        if let Some(answer) = self.answers.pop_front() {
            return answer;
        }
        if self.pending >= 2 {
            return Ok(refusal(&format!("2 frames wait for a caption; {TRY_AGAIN}")));
        }
        let time = arguments["time"].as_str().unwrap();
        let time = Zone::Machine.parse(time, Timestamp::EPOCH).unwrap().seconds();
        self.newest.insert(arguments["source"].as_str().unwrap().to_owned(), time);
        self.pending += 1;
        self.taken.push(arguments);
        Ok(reply(json!({"frame": self.taken.len(), "id": null, "state": "pending"})))
    }

    fn status(&mut self) -> ClientReply {
        self.looks += 1;
        if self.pending > 0 && !self.is_stuck {
            self.pending -= 1;
            self.captioned += 1;
        }
        let sources: Vec<Value> = self
            .newest
            .iter()
            .map(|(source, newest)| json!({"source": source, "newest_timestamp": newest}))
            .collect();
        reply(json!({
            "pending": self.pending,
            "captioned": self.captioned,
            "failed": 0,
            "captioning": !self.is_stuck,
            "sources": sources,
            "last_error": {"time": "2025-01-03 09:14:07", "error": "no weights"},
        }))
    }

    fn run(&mut self, dir: &TempDir, wait: bool) -> anyhow::Result<IngestReport> {
        let flags = Flags { no_wait: !wait, ..Flags::of(dir.path().to_owned()) };
        let mut call = |tool: &str, arguments| self.call(tool, arguments);
        Run::new(&mut call, ProgressBar::hidden(), Duration::ZERO).ingest(&flags)
    }
}

fn reply(structured: Value) -> ClientReply {
    let Value::Object(structured) = structured else { panic!() };
    ClientReply { structured, text: String::new(), images: Vec::new(), is_error: false }
}

fn refusal(text: &str) -> ClientReply {
    ClientReply { text: text.to_owned(), is_error: true, ..reply(json!({})) }
}

/// Frames `1.jpg` to `count.jpg`, one a second.
fn frames(count: usize) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for n in 1..=count {
        fs::write(dir.path().join(format!("{n}.jpg")), [0xFF, 0xD8, 0xFF]).unwrap();
        let line = json!({
            "file": format!("{n}.jpg"), "time": n as f64 + 0.25,
            "position": [1, 2, 3], "theta": 0.5, "source": "front",
        });
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    fs::write(dir.path().join("frames.jsonl"), lines).unwrap();
    dir
}

#[test]
fn every_frame_is_sent_and_waited_for() {
    let mut daemon = ScriptedDaemon::default();
    let report = daemon.run(&frames(7), true).unwrap();
    assert_eq!((report.sent, report.captioned, report.pending), (7, 7, 0));
    assert!(!report.is_failure());
    let sent = Value::Object(daemon.taken[1].clone());
    let expect = json!({
        "image": "/9j/", "time": "1970-01-01T00:00:02.250000Z", "position": [1.0, 2.0, 3.0],
        "theta": 0.5, "frame_id": "map", "map_id": "", "source": "front"
    });
    assert_eq!(sent, expect);
}

#[test]
fn a_second_run_sends_what_the_first_did_not() {
    let mut daemon = ScriptedDaemon::default();
    daemon.run(&frames(3), true).unwrap();
    let report = daemon.run(&frames(5), true).unwrap();
    assert_eq!((report.sent, report.known, daemon.taken.len()), (2, 3, 5));
    let report = daemon.run(&frames(5), true).unwrap();
    assert_eq!((report.sent, report.known, report.is_failure()), (0, 5, false));
}

#[test]
fn what_is_wrong_is_reported_and_the_rest_goes_on() {
    let dir = frames(4);
    fs::remove_file(dir.path().join("2.jpg")).unwrap();
    let mut daemon = ScriptedDaemon::default();
    daemon.answers.push_back(Ok(refusal("argument \"image\": the image is damaged")));
    let report = daemon.run(&dir, true).unwrap();
    assert_eq!(report.sent, 2);
    let text = report.to_string();
    assert!(text.contains("2 refused:"), "{text}");
    assert!(text.contains("  1.jpg: argument \"image\": the image is damaged\n"), "{text}");
    assert!(text.contains("  2.jpg: the file cannot be read"), "{text}");
}

#[test]
fn merged_frames_are_counted_apart() {
    let mut daemon = ScriptedDaemon::default();
    daemon.answers.push_back(Ok(reply(json!({"frame": 1, "id": 1, "state": "merged"}))));
    let report = daemon.run(&frames(2), true).unwrap();
    assert_eq!((report.sent, report.merged), (1, 1));
}

#[test]
fn frames_that_are_dropped_cost_no_look_each() {
    let mut daemon = ScriptedDaemon::default();
    let dropped = || Ok(reply(json!({"frame": null, "id": null, "state": "dropped"})));
    daemon.answers.extend((0..120).map(|_| dropped()));
    let report = daemon.run(&frames(120), false).unwrap();
    assert_eq!(report.dropped, 120);
    // Before the first, after fifty and a hundred, at the end.
    assert_eq!(daemon.looks, 4);
}

#[test]
fn without_waiting_the_pending_are_counted() {
    let mut daemon = ScriptedDaemon { is_stuck: true, ..ScriptedDaemon::default() };
    let report = daemon.run(&frames(2), false).unwrap();
    assert_eq!((report.sent, report.captioned, report.pending), (2, 0, 2));
    assert_eq!(report.stuck, None);
}

#[test]
fn a_daemon_that_captions_nothing_is_not_waited_for_endlessly() {
    let mut daemon = ScriptedDaemon { is_stuck: true, ..ScriptedDaemon::default() };
    let report = daemon.run(&frames(2), true).unwrap();
    assert_eq!((report.pending, report.stuck.as_deref()), (2, Some("no weights")));
    let mut daemon = ScriptedDaemon { is_stuck: true, ..ScriptedDaemon::default() };
    let error = format!("{:#}", daemon.run(&frames(3), true).unwrap_err());
    assert!(error.contains("2 frames wait") && error.contains("no weights"), "{error}");
}

#[test]
fn one_internal_error_is_the_frame_s_and_three_in_a_row_the_daemon_s() {
    let fault = || Err(ClientError::Refused { code: -32603, message: "fault 7".to_owned() });
    let mut daemon = ScriptedDaemon::default();
    daemon.answers.extend([fault(), fault()]);
    let report = daemon.run(&frames(4), true).unwrap();
    assert_eq!((report.sent, report.refused.total()), (2, 2));
    let mut daemon = ScriptedDaemon::default();
    daemon.answers.extend([fault(), fault(), fault()]);
    let error = format!("{:#}", daemon.run(&frames(4), true).unwrap_err());
    assert!(error.contains("failed at 3.jpg") && error.contains("fault 7"), "{error}");
}

#[test]
fn a_connection_that_is_gone_ends_the_run_with_a_word_how_to_go_on() {
    let mut daemon = ScriptedDaemon::default();
    daemon.answers.push_back(Err(ClientError::Closed));
    let error = format!("{:#}", daemon.run(&frames(2), true).unwrap_err());
    assert!(error.contains("run again to go on"), "{error}");
}

#[test]
fn nothing_to_ingest_is_a_failure() {
    let dir = frames(1);
    fs::remove_file(dir.path().join("1.jpg")).unwrap();
    assert!(ScriptedDaemon::default().run(&dir, true).unwrap().is_failure());
}

#[test]
fn flags_without_more_are_those_of_a_bare_directory() {
    #[derive(Debug, clap::Parser)]
    struct Cli {
        #[command(flatten)]
        flags: Flags,
    }
    let cli = <Cli as clap::Parser>::try_parse_from(["ingest", "frames"]).unwrap();
    assert_eq!(cli.flags, Flags::of(PathBuf::from("frames")));
    let wrong = Flags { zone: "Mars/Olympus".to_owned(), ..cli.flags };
    assert!(wrong.capture().unwrap_err().to_string().contains("Mars/Olympus"));
}

#[test]
fn long_lists_of_refusals_are_cut() {
    let mut report = IngestReport::default();
    for n in 1..=25 {
        report.refused.push(FrameFault { place: n.to_string(), reason: "wrong".to_owned() });
    }
    let text = report.to_string();
    assert!(text.contains("25 refused:") && text.contains("20: wrong\n  and 5 more"), "{text}");
    assert!(!text.contains("21: wrong"));
}

#[test]
fn a_recording_goes_in_with_its_poses_and_a_second_run_sends_nothing() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/recordings/drive.mcap");
    let flags = Flags { no_wait: true, window: Duration::ZERO, ..Flags::of(PathBuf::from(path)) };
    let mut daemon = ScriptedDaemon::default();
    let run = |daemon: &mut ScriptedDaemon| {
        let mut call = |tool: &str, arguments| daemon.call(tool, arguments);
        Run::new(&mut call, ProgressBar::hidden(), Duration::ZERO).ingest(&flags).unwrap()
    };
    let report = run(&mut daemon);
    assert_eq!((report.sent, report.known), (9, 0));
    assert!(report.to_string().contains("3 frames without a pose, the first "), "{report}");
    let sent = &daemon.taken[3];
    assert_eq!(sent["source"], "/camera/image_raw/compressed");
    assert_eq!(sent["time"], "2025-01-03T09:00:01.500000Z");
    assert!(sent.contains_key("position") && sent.contains_key("theta"), "{sent:?}");
    assert!(!daemon.taken[0].contains_key("position"), "no transform is that old");
    let report = run(&mut daemon);
    assert_eq!((report.sent, report.known, report.is_failure()), (0, 9, false));
}
