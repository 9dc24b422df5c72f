//! The command that writes a camera's images: started, listened to, ended with all that it
//! started itself. Knows nothing of images.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Longer lines of the command's standard error are cut.
const STDERR_LINE_BYTES_MAX: u64 = 1024;
/// Lines logged per start; later ones are dropped, so that none fills the log.
const STDERR_LINES_MAX: usize = 50;
/// Bytes of its last line that explain the command's end.
const WORDS_BYTES_MAX: usize = 300;

/// Time for a command to end that has closed its output.
const FAREWELL: Duration = Duration::from_millis(500);
const FAREWELL_STEP: Duration = Duration::from_millis(10);

/// Program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl SourceCommand {
    /// A line for the shell, by way of `engram source-child` of the binary `program`, which
    /// bounds its memory.
    pub fn engram(program: &Path, line: &str, memory_bytes_max: Option<u64>) -> Self {
        let mut args: Vec<OsString> = vec!["source-child".into()];
        if let Some(bytes) = memory_bytes_max {
            args.extend(["--memory-bytes-max".into(), bytes.to_string().into()]);
        }
        args.extend(["--".into(), line.into()]);
        Self { program: program.to_owned(), args }
    }
}

/// The process group of a running command, for whoever has to end it.
#[derive(Debug, Clone, Default)]
pub(in crate::capture) struct Running(Arc<Mutex<Option<Pid>>>);

impl Running {
    /// Ends the command, if it runs.
    pub(super) fn kill(&self) {
        // Under the lock: the number is not given to another process before it is reaped.
        let group = self.lock();
        if let Some(group) = *group {
            // Gone already, where it fails.
            kill_process_group(group, Signal::KILL).unwrap_or_default();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Command that was started.
#[derive(Debug)]
pub(in crate::capture) struct CommandRun {
    child: Child,
    running: Running,
    words: Arc<Mutex<String>>,
    listener: Option<JoinHandle<()>>,
    is_reaped: bool,
}

impl CommandRun {
    /// Starts it; its images come from the second value. Call it from a thread that lasts: the
    /// kernel ends the command with the thread that started it.
    pub(in crate::capture) fn start(
        command: &SourceCommand,
        running: &Running,
    ) -> io::Result<(Self, ChildStdout)> {
        let mut child = Command::new(&command.program)
            .args(&command.args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: it is ended with all that it started, and Ctrl-C is for us.
            .process_group(0)
            .spawn()?;
        *running.lock() = Some(Pid::from_child(&child));
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let words = Arc::default();
        let running = running.clone();
        let mut run = Self { child, running, words, listener: None, is_reaped: false };
        if let Some(stderr) = stderr {
            let words = Arc::clone(&run.words);
            let listen = move || listen(stderr, &words);
            run.listener = Some(Builder::new().name("camera-stderr".to_owned()).spawn(listen)?);
        }
        let stdout = stdout.ok_or_else(|| io::Error::other("the command has no output"))?;
        Ok((run, stdout))
    }

    /// Ends the command, if it has not ended, and says how it did.
    pub(in crate::capture) fn end(mut self) -> String {
        self.reap()
    }

    fn reap(&mut self) -> String {
        self.is_reaped = true;
        // A command that closed its output is about to end, and says why.
        self.wait_until(|run| !matches!(run.child.try_wait(), Ok(None)));
        self.running.kill();
        let mut group = self.running.lock();
        let status = self.child.wait().ok();
        *group = None;
        drop(group);
        // Whoever left the group may hold its standard error open for good.
        self.wait_until(|run| run.listener.as_ref().is_none_or(JoinHandle::is_finished));
        if let Some(listener) = self.listener.take_if(|it| it.is_finished())
            && listener.join().is_err()
        {
            log::error!("a thread that listens to a camera's command panicked");
        }
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        describe(status, &words)
    }

    fn wait_until(&mut self, is_done: impl Fn(&mut Self) -> bool) {
        let mut left = FAREWELL;
        while !is_done(self) && !left.is_zero() {
            thread::sleep(FAREWELL_STEP);
            left = left.saturating_sub(FAREWELL_STEP);
        }
    }
}

impl Drop for CommandRun {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.running.kill();
            self.reap();
        }
    }
}

/// Thread that copies the command's standard error to the log and keeps its last line.
fn listen(stderr: ChildStderr, words: &Mutex<String>) {
    let mut lines = BufReader::new(stderr);
    let (mut line, mut logged) = (Vec::new(), 0);
    loop {
        line.clear();
        match lines.by_ref().take(STDERR_LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        // Of a line of progress the last state.
        let text = text.trim().rsplit('\r').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        if logged < STDERR_LINES_MAX {
            log::debug!("camera's command: {text}");
            logged += 1;
        }
        let shown: String = text.chars().take(WORDS_BYTES_MAX).collect();
        *words.lock().unwrap_or_else(PoisonError::into_inner) = shown;
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
