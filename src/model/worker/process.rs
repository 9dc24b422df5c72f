//! One worker process, seen from the daemon, with the threads that talk to it. Knows nothing of
//! captions, deadlines or restarts.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::model::worker::protocol;
use crate::model::worker::protocol::{WorkerReply, WorkerRequest};

/// Time for a worker to end after its pipe was closed.
const FAREWELL: Duration = Duration::from_millis(500);
const FAREWELL_STEP: Duration = Duration::from_millis(10);

/// Longer lines of the worker's stderr are cut.
const STDERR_LINE_BYTES_MAX: u64 = 1024;
/// Lines logged per worker; later ones are dropped, so that none fills the log.
const STDERR_LINES_MAX: usize = 200;
/// Bytes of the worker's last stderr output that explain its end: a panic's first lines matter,
/// its backtrace does not.
const WORDS_BYTES_MAX: usize = 300;

/// Command line of the worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

/// Ends the process and its threads when dropped.
pub(crate) struct Worker {
    child: Child,
    requests: Option<Sender<WorkerRequest>>,
    replies: Receiver<WorkerReply>,
    threads: Vec<JoinHandle<()>>,
    words: Arc<Mutex<String>>,
}

/// Outcome of waiting for a reply.
#[derive(Debug, PartialEq)]
pub(crate) enum WaitOutcome {
    Reply(WorkerReply),
    /// The worker ended or sent an invalid message; nothing more will come.
    Ended,
    /// Nothing yet.
    Nothing,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("process_id", &self.child.id()).finish_non_exhaustive()
    }
}

impl Worker {
    /// Call it from a thread that lasts: the kernel ends the worker with the
    /// thread that started it.
    pub(crate) fn spawn(command: &WorkerCommand) -> io::Result<Self> {
        let mut child = Command::new(&command.program)
            .args(&command.args)
            // candle looks for it at every matrix product, and else at /proc/cpuinfo.
            .env("RAYON_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A Ctrl-C is for the daemon, which then ends the worker in order.
            .process_group(0)
            .spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (requests, queue) = bounded(1);
        let (answer, replies) = bounded(1);
        let words = Arc::default();
        let mut worker =
            Self { child, requests: Some(requests), replies, threads: Vec::new(), words };
        if let (Some(stdin), Some(stdout), Some(stderr)) = pipes {
            let words = Arc::clone(&worker.words);
            worker
                .start_thread("caption-pipe", move || converse(stdin, stdout, &queue, &answer))?;
            worker.start_thread("caption-stderr", move || listen(stderr, &words))?;
        }
        Ok(worker)
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)) | Err(_))
    }

    /// One request at a time: the next after the reply to this.
    pub(crate) fn send(&self, request: WorkerRequest) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).clear();
        if let Some(requests) = &self.requests {
            // If the worker is gone, waiting for the reply tells so.
            drop(requests.try_send(request));
        }
    }

    pub(crate) fn wait(&self, patience: Duration) -> WaitOutcome {
        match self.replies.recv_timeout(patience) {
            Ok(reply) => WaitOutcome::Reply(reply),
            Err(RecvTimeoutError::Timeout) => WaitOutcome::Nothing,
            Err(RecvTimeoutError::Disconnected) => WaitOutcome::Ended,
        }
    }

    /// Kills the process, if it has not ended, and returns how it ended.
    pub(crate) fn kill(mut self) -> String {
        // The reason that the process gave itself, if it is about to end.
        let status = self.wait_for_exit().or_else(|| {
            drop(self.child.kill());
            self.child.wait().ok()
        });
        self.join();
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner).clone();
        describe(status, &words)
    }

    /// A process that closed its pipe ends within moments; one that hangs does not.
    fn wait_for_exit(&mut self) -> Option<ExitStatus> {
        let mut left = if self.wait(Duration::ZERO) == WaitOutcome::Nothing {
            Duration::ZERO
        } else {
            FAREWELL
        };
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            if left.is_zero() {
                return None;
            }
            std::thread::sleep(FAREWELL_STEP);
            left = left.saturating_sub(FAREWELL_STEP);
        }
    }

    fn start_thread(&mut self, name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.threads.push(Builder::new().name(name.to_owned()).spawn(body)?);
        Ok(())
    }

    /// Only after the process has ended: the threads wait on its pipes.
    fn join(&mut self) {
        drop(self.requests.take());
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                log::error!("a thread of the caption worker panicked");
            }
        }
    }
}

impl Drop for Worker {
    /// Closes the pipe, waits a moment for the process to end, then ends it.
    fn drop(&mut self) {
        drop(self.requests.take());
        let mut left = FAREWELL;
        while !self.has_ended() && !left.is_zero() {
            std::thread::sleep(FAREWELL_STEP);
            left = left.saturating_sub(FAREWELL_STEP);
        }
        if !self.has_ended() {
            drop(self.child.kill());
            drop(self.child.wait());
        }
        self.join();
    }
}

/// Thread that passes the worker's first message on, then requests and replies in turn, until
/// either side ends. Writing to a stopped process blocks, so this has a thread of its own,
/// which ends with the process.
fn converse(
    mut stdin: ChildStdin,
    mut stdout: ChildStdout,
    requests: &Receiver<WorkerRequest>,
    replies: &Sender<WorkerReply>,
) {
    loop {
        match protocol::read(&mut stdout) {
            Ok(Some(reply)) => {
                if replies.send(reply).is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => return log::warn!("the caption worker's pipe failed: {error}"),
        }
        let Ok(request) = requests.recv() else { return };
        if let Err(error) = protocol::write(&mut stdin, &request) {
            return log::debug!("the caption worker takes no request: {error}");
        }
    }
}

/// Thread that copies the worker's stderr to the log and keeps its last lines.
fn listen(stderr: ChildStderr, words: &Mutex<String>) {
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    let (mut logged, mut in_backtrace) = (0, false);
    loop {
        line.clear();
        match lines.by_ref().take(STDERR_LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if text.is_empty() {
            continue;
        }
        if logged < STDERR_LINES_MAX {
            log::warn!("caption worker: {text}");
            logged += 1;
        }
        in_backtrace |= text.to_ascii_lowercase().starts_with("stack backtrace");
        if in_backtrace || text.starts_with("note: run with `RUST_BACKTRACE") {
            continue;
        }
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        if words.len() < WORDS_BYTES_MAX {
            let comma = if words.is_empty() { "" } else { ", " };
            words.extend([comma, &text]);
        }
    }
}

fn describe(status: Option<ExitStatus>, words: &str) -> String {
    let how = match status.map(|status| (status.signal(), status.code())) {
        Some((Some(signal), _)) => format!("ended by signal {signal}"),
        Some((None, Some(code))) => format!("exit code {code}"),
        Some((None, None)) | None => "ended without a status".to_owned(),
    };
    if words.is_empty() { how } else { format!("{how}: {words}") }
}
