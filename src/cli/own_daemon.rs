//! Daemon of this program in a temporary directory, for commands that demonstrate or measure
//! one; knows nothing of what it is asked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::base::time::{Clock as _, SystemClock};
use crate::cli::Common;
use crate::cli::client::{Client, ClientOptions};

/// Runs until stopped; killed when dropped.
#[derive(Debug)]
pub struct OwnDaemon {
    child: Child,
    socket: PathBuf,
}

/// The captioner that knows the rendered frames of the demo, the benchmarks and the simulated
/// home.
const RENDERED: [&str; 2] = ["captioner.model=household-captioner", "captioner.endpoint="];

/// How long the daemon may take to answer, or to end: a large store is read
/// before the first and flushed before the second.
const PATIENCE: Duration = Duration::from_mins(2);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

impl OwnDaemon {
    /// Keeps its state under `dir`, beside its socket and its log. Its captioner is the one of
    /// [`RENDERED`] unless a setting names another.
    pub fn start(common: &Common, program: &Path, dir: &Path) -> anyhow::Result<Self> {
        let socket = dir.join("engram.sock");
        let log = fs::File::create(dir.join("log"))?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--state-dir").arg(state_dir(dir));
        command.arg("--socket").arg(&socket).args(["--set", "time.zone=UTC"]);
        if let Some(file) = &common.config {
            command.arg("--config").arg(file);
        }
        for setting in RENDERED {
            command.args(["--set", setting]);
        }
        for setting in &common.settings {
            command.arg("--set").arg(setting);
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?;
        Ok(Self { child, socket })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Waits until the daemon listens, and says what its log says if it ends.
    pub fn connect(&self) -> anyhow::Result<Client> {
        let started = SystemClock.tick();
        loop {
            match Client::connect(&self.socket, ClientOptions::default()) {
                Ok(client) => return Ok(client),
                Err(error) if started.elapsed() > PATIENCE || self.has_ended() => {
                    let log = self.socket.with_file_name("log");
                    let log = fs::read_to_string(log).unwrap_or_default();
                    return Err(anyhow::Error::new(error)
                        .context(format!("the daemon did not start:\n{log}")));
                }
                Err(_) => thread::sleep(LOOK_AGAIN),
            }
        }
    }

    fn has_ended(&self) -> bool {
        // A zombie is dead, and its parent has not asked yet.
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        stat.map_or(true, |stat| stat.contains(") Z "))
    }

    /// Asks the daemon to end, as a service manager does, and waits for it.
    pub fn stop(mut self) -> anyhow::Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)
            .context("the daemon cannot be told to end")?;
        let asked = SystemClock.tick();
        while asked.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait()? {
                anyhow::ensure!(status.success(), "the daemon ended with {status}");
                return Ok(());
            }
            thread::sleep(LOOK_AGAIN);
        }
        bail!("the daemon did not end within {PATIENCE:?}")
    }
}

/// Where under its directory a daemon keeps what it remembers.
pub(in crate::cli) fn state_dir(dir: &Path) -> PathBuf {
    dir.join("state")
}

impl Drop for OwnDaemon {
    fn drop(&mut self) {
        // After `stop` both find a process that is gone, which is what they are for.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
