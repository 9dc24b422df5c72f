//! The caption worker as the daemon runs it, a real process, misbehaving for real.

#![expect(clippy::unwrap_used, reason = "a worker that cannot be looked at is a failed test")]

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engram::base::picture::ImageLimits;
use engram::base::stop::Stop;
use engram::base::time::SystemClock;
use engram::model::compute::ComputeDevice;
use engram::model::worker::child::ChildOptions;
use engram::model::worker::process::WorkerCommand;
use engram::model::worker::{Options, Start, WorkerCaptioner};
use engram::model::{CaptionError, CaptionTask, Captioner as _, Detail, ModelError};
use image::{ImageFormat, RgbImage};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/blip")
}

fn child(model: &Path, memory_bytes_max: Option<u64>) -> ChildOptions {
    ChildOptions {
        model: model.to_owned(),
        limits: ImageLimits::default(),
        task: CaptionTask::default(),
        device: ComputeDevice::default(),
        scene_text: None,
        memory_bytes_max,
    }
}

/// Deadlines that only a worker that hangs lets pass.
fn options(memory_bytes_max: Option<u64>) -> Options {
    let program = Path::new(env!("CARGO_BIN_EXE_engram"));
    Options {
        command: WorkerCommand::engram(program, &child(&model(), memory_bytes_max)),
        model: model(),
        task: CaptionTask::default(),
        scene_text: None,
        memory_bytes_max,
        start_deadline: Duration::from_mins(1),
        caption_deadline: Duration::from_mins(1),
        start: Start::WhenNeeded,
    }
}

fn shell(script: &str) -> Options {
    let args = ["-c", script].map(Into::into).to_vec();
    let command = WorkerCommand { program: "/bin/sh".into(), args };
    Options { command, ..options(None) }
}

fn start(options: Options) -> WorkerCaptioner {
    WorkerCaptioner::new(options, Arc::new(SystemClock), Stop::default()).unwrap()
}

fn image() -> Vec<u8> {
    fs::read(model().join("small.png")).unwrap()
}

fn signal(worker: &WorkerCaptioner, signal: Signal) {
    let id = i32::try_from(worker.process_id().unwrap()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
}

fn is_alive(process_id: u32) -> bool {
    Path::new(&format!("/proc/{process_id}")).exists()
}

/// Until it is a zombie: a frame sent to a dying worker would be blamed.
fn wait_for_its_end(process_id: u32) {
    let state = || fs::read_to_string(format!("/proc/{process_id}/stat")).unwrap();
    while !state().contains(") Z ") {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What the fixture's golden file says of [`image`].
const CAPTION: &str = "kitchen";

#[test]
fn captions_and_tells_who_it_is() {
    let mut worker = start(Options { start: Start::AtOnce, ..options(None) });
    assert_eq!(worker.identity(), &engram::model::weights::identity(&model()).unwrap());
    assert!(worker.process_id().is_some());
    assert_eq!(worker.caption(&image()).unwrap().text, CAPTION);
    assert_eq!(worker.identity().name, "blip");
    assert_eq!(worker.restarts(), 0);
}

#[test]
fn a_task_reaches_the_model_and_is_part_of_what_it_is() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for (model, detects, tasks) in [
        ("florence", true, ["<CAPTION>", "<DETAILED_CAPTION>"]),
        ("smolvlm", false, ["caption", "detailed_caption"]),
    ] {
        let model = fixtures.join(model);
        let golden = fs::read_to_string(model.join("golden.jsonl")).unwrap();
        let golden: Vec<Value> =
            golden.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut fingerprints = Vec::new();
        for (detail, name) in [Detail::Sentence, Detail::Sentences].into_iter().zip(tasks) {
            let expected = golden.iter().find(|row| row["task"] == name).unwrap();
            let task = CaptionTask { detail, detects };
            let child = ChildOptions { task, ..child(&model, None) };
            let program = Path::new(env!("CARGO_BIN_EXE_engram"));
            let command = WorkerCommand::engram(program, &child);
            let mut worker =
                start(Options { command, model: model.clone(), task, ..options(None) });
            let before = worker.identity().clone();
            let image = fs::read(fixtures.join("blip").join(expected["file"].as_str().unwrap()));
            assert_eq!(worker.caption(&image.unwrap()).unwrap().text, expected["text"]);
            assert_eq!(*worker.identity(), before);
            fingerprints.push(before.fingerprint.0);
        }
        fingerprints.push(engram::model::weights::identity(&model).unwrap().fingerprint.0);
        fingerprints.sort();
        fingerprints.dedup();
        // The plain model with the first task is itself, where it finds no boxes.
        assert_eq!(fingerprints.len(), if detects { 3 } else { 2 });
    }
}

#[test]
fn a_killed_worker_is_started_again() {
    let mut worker = start(options(None));
    assert_eq!(worker.process_id(), None);
    for restarts in 0..3 {
        assert_eq!(worker.caption(&image()).unwrap().text, CAPTION);
        assert_eq!(worker.restarts(), restarts);
        signal(&worker, Signal::KILL);
        wait_for_its_end(worker.process_id().unwrap());
    }
}

#[test]
fn a_worker_that_hangs_is_ended_at_its_deadline() {
    let deadline = Duration::from_secs(3);
    let mut worker = start(Options { caption_deadline: deadline, ..options(None) });
    assert_eq!(worker.caption(&image()).unwrap().text, CAPTION);
    let id = worker.process_id().unwrap();
    signal(&worker, Signal::STOP);
    // Larger than a pipe: writing to a stopped process must not block for ever.
    let mut large = image();
    large.resize(1 << 20, 0);
    assert_eq!(worker.caption(&large), Err(CaptionError::Hung(deadline)));
    assert!(!is_alive(id));
    assert_eq!(worker.caption(&image()).unwrap().text, CAPTION);
    assert_eq!(worker.restarts(), 1);
}

#[test]
fn a_worker_that_dies_over_a_frame_says_how() {
    // Says hello as the real one does, then dies with the request.
    let hello = r"printf '\010\000\000\000\000\003\002md\002ff'; head -c 1 >/dev/null; echo ouch >&2; kill -SEGV $$";
    let mut worker = start(shell(hello));
    let error = worker.caption(&image()).unwrap_err();
    assert_eq!(error, CaptionError::Died("ended by signal 11: ouch".to_owned()));
    assert_eq!(worker.process_id(), None);
}

#[test]
fn what_is_no_image_ends_nothing() {
    let mut worker = start(options(None));
    for _ in 0..2 {
        assert!(matches!(worker.caption(b"no image"), Err(CaptionError::BadImage(_))));
    }
    assert_eq!(worker.caption(&image()).unwrap().text, CAPTION);
    assert_eq!(worker.restarts(), 0);
}

#[test]
fn a_worker_out_of_memory_takes_nobody_with_it() {
    let error = start(options(Some(1 << 16))).caption(&image()).unwrap_err();
    assert!(matches!(error, CaptionError::Unavailable(_)), "{error}");
    let hint = "captioner.memory_limit_mb is 0: raise it";
    assert!(error.to_string().contains(hint), "{error}");
    // Enough for the model, not for 24 MB of pixels.
    let mut worker = start(options(Some(20 << 20)));
    let mut large = Cursor::new(Vec::new());
    RgbImage::new(4000, 2000).write_to(&mut large, ImageFormat::Png).unwrap();
    let error = worker.caption(large.get_ref()).unwrap_err();
    assert!(matches!(&error, CaptionError::Died(how) if how.contains("memory")), "{error}");
    assert_eq!(worker.caption(&image()).unwrap().text, CAPTION);
}

#[test]
fn a_backtrace_is_no_reason() {
    let dies = r"echo 'panicked at here:' >&2; echo boom >&2; echo 'stack backtrace:' >&2;
        echo '   0: rust_begin_unwind' >&2; exit 101";
    let error = start(shell(dies)).caption(&image()).unwrap_err().to_string();
    assert!(error.ends_with("exit code 101: panicked at here:, boom"), "{error}");
}

#[test]
fn a_program_that_is_no_worker_is_unavailable() {
    let unavailable = |options: Options| match start(options).caption(&image()) {
        Err(CaptionError::Unavailable(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(unavailable(shell("echo no such flag >&2; exit 2")), "exit code 2: no such flag");
    unavailable(shell("echo this is no hello"));
    unavailable(shell("exec yes >&2 & kill $!; yes"));
    let silent = Options { start_deadline: Duration::from_millis(200), ..shell("exec sleep 600") };
    assert_eq!(unavailable(silent), "its model was not loaded within 200ms");
    let mut nowhere = options(None);
    nowhere.command.program = "/nowhere/engram".into();
    assert!(unavailable(nowhere).contains("/nowhere/engram"));
}

#[test]
fn a_model_that_does_not_load_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let config = fs::read(model().join("config.json")).unwrap();
    fs::write(dir.path().join("config.json"), config).unwrap();
    fs::write(dir.path().join("model.safetensors"), b"no weights").unwrap();
    let mut damaged = options(None);
    let program = Path::new(env!("CARGO_BIN_EXE_engram"));
    damaged.command = WorkerCommand::engram(program, &child(dir.path(), None));
    damaged.model = dir.path().to_owned();
    match start(damaged.clone()).caption(&image()) {
        Err(CaptionError::Unavailable(reason)) => {
            assert!(reason.contains("is not usable"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    let mut at_once = start(Options { start: Start::AtOnce, ..damaged.clone() });
    let error = at_once.check(Duration::from_mins(1)).unwrap_err().to_string();
    assert!(error.starts_with("the captioner cannot be used: the model at"), "{error}");
    let loading = Options { start: Start::AtOnce, ..shell("exec sleep 600") };
    start(loading).check(Duration::from_millis(50)).unwrap();
    let dying = Options { start: Start::AtOnce, ..shell("exit 3") };
    start(dying).check(Duration::from_mins(1)).unwrap();
    damaged.model = "/nowhere".into();
    let missing = WorkerCaptioner::new(damaged, Arc::new(SystemClock), Stop::default());
    assert!(matches!(missing, Err(ModelError::Missing { .. })));
}

#[test]
fn a_stop_ends_every_wait_and_the_worker() {
    let stop = Stop::default();
    let hangs = shell("exec sleep 600");
    let mut worker = WorkerCaptioner::new(hangs, Arc::new(SystemClock), stop.clone()).unwrap();
    stop.ask();
    assert!(matches!(worker.caption(&image()), Err(CaptionError::Unavailable(_))));
    assert_eq!(worker.process_id(), None);
}

#[test]
fn the_worker_ends_with_its_captioner() {
    let mut worker = start(options(None));
    assert_eq!(worker.caption(&image()).unwrap().text, CAPTION);
    let id = worker.process_id().unwrap();
    drop(worker);
    assert!(!is_alive(id));
}
