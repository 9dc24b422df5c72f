//! A real daemon in a temporary directory, killed and removed when dropped.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::Duration;

use engram::base::time::{Clock as _, SystemClock};
use engram::cli::client::{Client, ClientOptions, ClientReply};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::schemas;

/// Far beyond what any step takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// A daemon of the binary under test.
pub(crate) struct Running {
    pub(crate) dir: tempfile::TempDir,
    child: Child,
}

impl Running {
    /// Starts in a fresh directory and waits until it answers.
    pub(crate) fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), &[])
    }

    pub(crate) fn start_in(dir: tempfile::TempDir, flags: &[&str]) -> Self {
        let mut child = serve(dir.path(), flags).stderr(Stdio::inherit()).spawn().unwrap();
        wait_for(|| {
            assert!(child.try_wait().unwrap().is_none(), "the daemon ended at its start");
            Client::connect(&socket(dir.path()), ClientOptions::default()).is_ok()
        });
        Self { dir, child }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        socket(self.dir.path())
    }

    /// Number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket(), ClientOptions::default()).unwrap()
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> ClientReply {
        self.client().call(tool, arguments.as_object().unwrap().clone()).unwrap()
    }

    /// The reply's structured content; the call must succeed.
    pub(crate) fn ask(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.call(tool, arguments);
        assert!(!reply.is_error, "{}", reply.text);
        let structured = Value::Object(reply.structured);
        schemas::check(tool, &structured);
        structured
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end and gives back the directory.
    pub(crate) fn ended(mut self) -> (tempfile::TempDir, ExitStatus) {
        let status = self.child.wait().unwrap();
        let dir = std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap());
        (dir, status)
    }

    /// SIGTERM, as a service manager stops it.
    pub(crate) fn stop(self) -> (tempfile::TempDir, ExitStatus) {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// SIGKILL, as a power cut for the process.
    pub(crate) fn kill(self) -> tempfile::TempDir {
        self.signal(Signal::KILL);
        self.ended().0
    }

    /// Runs another command of the binary against this daemon.
    pub(crate) fn engram(&self, arguments: &[&str]) -> Output {
        engram(&self.socket(), arguments)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// `engram serve` in `dir`, not started.
pub(crate) fn serve(dir: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.arg("serve").arg("--state-dir").arg(dir.join("state"));
    command.arg("--socket").arg(socket(dir));
    command.args(["--set", "time.zone=UTC", "--set", "log.level=warn"]);
    // The frames of the tests are the demo's.
    command.args(["--set", "captioner.model=household-captioner"]);
    let frames = concat!("ingest.image_roots=", env!("CARGO_MANIFEST_DIR"), "/models");
    command.args(["--set", frames]).args(flags);
    command.stdin(Stdio::null());
    command
}

/// What a daemon says that does not start; one that does is ended.
pub(crate) fn refusal_to_start(dir: &Path, flags: &[&str]) -> String {
    let mut child = serve(dir, flags).stderr(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if Client::connect(&socket(dir), ClientOptions::default()).is_ok() {
            drop(child.kill());
            drop(child.wait());
            panic!("the daemon started with {flags:?}");
        }
        thread::sleep(Duration::from_millis(50));
    }
    let ended = child.wait_with_output().unwrap();
    assert!(!ended.status.success(), "{}", ended.status);
    String::from_utf8(ended.stderr).unwrap()
}

pub(crate) fn engram(socket: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.args(arguments).arg("--socket").arg(socket).output().unwrap()
}

/// Asks until it is so.
pub(crate) fn wait_for(mut is_so: impl FnMut() -> bool) {
    let started = SystemClock.tick();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "waited in vain");
        thread::sleep(Duration::from_millis(50));
    }
}

pub(crate) fn socket(dir: &Path) -> PathBuf {
    dir.join("engram.sock")
}

/// The frames of the demonstration, as (image, arguments of `observe`), in order.
pub(crate) fn flat() -> Vec<Value> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/household-captioner/flat");
    let sidecar = std::fs::read_to_string(dir.join("frames.jsonl")).unwrap();
    let frame = |line: &str| {
        let mut frame: Value = serde_json::from_str(line).unwrap();
        let fields = frame.as_object_mut().unwrap();
        let file = fields.shift_remove("file").unwrap();
        let path = dir.join(file.as_str().unwrap());
        fields.insert("image_path".to_owned(), path.to_str().unwrap().into());
        frame
    };
    sidecar.lines().map(frame).collect()
}
