//! A real daemon on a filled store, and a camera that keeps its captioner busy.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use base64::Engine as _;
use engram::base::time::{Clock as _, SystemClock};
use engram::cli::client::{Client, ClientOptions};
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Map, json};

use crate::Fallible;

pub(crate) fn embedder_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/caption-embedder")
}

/// A daemon process, killed when dropped.
pub(crate) struct Daemon {
    child: Child,
    socket: PathBuf,
    first_answer: Duration,
}

impl Daemon {
    /// Returns once the daemon has answered a recall.
    pub(crate) fn start(state: &Path) -> Fallible<Self> {
        let socket = state.join("bench.sock");
        let started = SystemClock.tick();
        let child = Command::new(env!("CARGO_BIN_EXE_engram"))
            .arg("serve")
            .arg("--state-dir")
            .arg(state)
            .arg("--socket")
            .arg(&socket)
            .args(["--set", "log.level=warn", "--set", "time.zone=UTC"])
            .stdin(Stdio::null())
            .spawn()?;
        let mut daemon = Self { child, socket, first_answer: Duration::ZERO };
        let mut client = daemon.wait(started)?;
        let query = json!({"query": "a red mug"}).as_object().cloned().unwrap_or_default();
        client.call("recall_best_match", query)?;
        daemon.first_answer = started.elapsed();
        Ok(daemon)
    }

    fn wait(&mut self, started: Instant) -> Fallible<Client> {
        loop {
            match Client::connect(&self.socket, ClientOptions::default()) {
                Ok(client) => return Ok(client),
                Err(error) if started.elapsed() > Duration::from_secs(60) => {
                    return Err(error.into());
                }
                Err(_) => {
                    if let Some(status) = self.child.try_wait()? {
                        return Err(format!("the daemon ended with {status}").into());
                    }
                    thread::sleep(Duration::from_millis(2));
                }
            }
        }
    }

    pub(crate) fn client(&self) -> Fallible<Client> {
        Ok(Client::connect(&self.socket, ClientOptions::default())?)
    }

    pub(crate) fn millis_to_first_answer(&self) -> f64 {
        self.first_answer.as_secs_f64() * 1e3
    }

    /// Sends frames that the gate does not merge, always some in wait, until finished.
    pub(crate) fn feed<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
    ) -> Fallible<Feeding<'scope>> {
        let mut client = self.client()?;
        // The first frames are there, and the worker has started, before anybody asks.
        for index in 0..WAITING {
            send(&mut client, index)?;
        }
        while count(&mut client, "captioned")? == 0 {
            thread::sleep(Duration::from_millis(10));
        }
        let done = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&done);
        let thread = scope.spawn(move || -> Result<u64, String> {
            let mut sent = WAITING;
            while !asked.load(Ordering::Relaxed) {
                let pending = count(&mut client, "pending").map_err(|it| it.to_string())?;
                if pending == 0 {
                    return Err("the captioner ran idle".to_owned());
                }
                for _ in pending..WAITING {
                    send(&mut client, sent).map_err(|it| it.to_string())?;
                    sent += 1;
                }
                thread::sleep(Duration::from_millis(20));
            }
            Ok(sent)
        });
        Ok(Feeding { done, thread })
    }

    /// Ends the daemon with SIGTERM.
    pub(crate) fn stop(mut self) -> Fallible<()> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        let status = self.child.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the daemon ended with {status}").into())
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Frames in wait: a second's worth and more of the fastest captioner.
const WAITING: u64 = 200;

/// A camera at work.
pub(crate) struct Feeding<'scope> {
    done: Arc<AtomicBool>,
    thread: ScopedJoinHandle<'scope, Result<u64, String>>,
}

impl Feeding<'_> {
    /// Fails if the captioner had nothing to do at any time.
    pub(crate) fn finish(self) -> Fallible<()> {
        self.done.store(true, Ordering::Relaxed);
        match self.thread.join() {
            Ok(sent) => sent.map(drop).map_err(Into::into),
            Err(_) => Err("the feeding thread panicked".into()),
        }
    }
}

fn count(client: &mut Client, key: &str) -> Fallible<u64> {
    let status = client.call("ingest_status", Map::new())?.structured;
    Ok(status.get(key).and_then(serde_json::Value::as_u64).unwrap_or(0))
}

/// A frame of its own colours, an hour after the one before: never merged.
fn send(client: &mut Client, index: u64) -> Fallible<()> {
    let shade = |x: u32, y: u32| {
        let value = u64::from(x / 16 * 31 + y / 16 * 17) + index * 53;
        Rgb([(value % 251) as u8, (value % 239) as u8, (value % 233) as u8])
    };
    let mut jpeg = Vec::new();
    RgbImage::from_fn(128, 128, shade).write_to(&mut Cursor::new(&mut jpeg), ImageFormat::Jpeg)?;
    let image = base64::engine::general_purpose::STANDARD.encode(jpeg);
    let arguments =
        json!({"image": image, "time": 1_000_000_000 + index * 3_600, "source": "busy"});
    let reply = client.call("observe", arguments.as_object().cloned().unwrap_or_default())?;
    if reply.is_error { Err(reply.text.into()) } else { Ok(()) }
}
