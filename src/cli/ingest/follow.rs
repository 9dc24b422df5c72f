//! `engram ingest DIR --follow`: the frames of a directory that grows, until somebody ends it.
//!
//! The daemon may be restarted meanwhile, and so may this: what the daemon has is not sent again.

use std::path::Path;
use std::thread;
use std::time::Duration;

use indicatif::ProgressBar;
use serde_json::{Map, Value};

use crate::base::picture::ImageLimits;
use crate::base::time::{Clock as _, SystemClock};
use crate::capture::growing::GrowingDirectory;
use crate::capture::window::SharpestFrames;
use crate::capture::{FrameFaults, FrameSource as _};
use crate::cli::client::{ClientError, ClientOptions, ClientReply};
use crate::cli::ingest::{Flags, IngestReport, POLL, REFUSALS_SHOWN, Run};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::complain;
use crate::cli::patient_client::PatientClient;

/// Between two looks, at least.
const LOOK: Duration = Duration::from_secs(1);
/// Times as long as a look took, the pause after it: a large directory costs a fifth of a core.
const PAUSE_TO_LOOK: u32 = 4;

/// Sends what is in the directory and what comes to it until a signal ends it.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<IngestReport> {
    let interrupt = Interrupt::watch()?;
    let mut client = PatientClient::connect(socket, options)?;
    let mut call =
        |tool: &str, arguments: Map<String, Value>| call(&mut client, &interrupt, tool, &arguments);
    Run::new(&mut call, ProgressBar::hidden(), POLL).follow(flags, &interrupt)
}

/// Until the daemon is there.
fn call(
    client: &mut PatientClient,
    interrupt: &Interrupt,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Result<ClientReply, ClientError> {
    loop {
        match client.call(tool, arguments.clone()) {
            Some(outcome) => return outcome,
            None if interrupt.is_asked() => return Err(ClientError::Closed),
            None => thread::sleep(LOOK),
        }
    }
}

impl Run<'_> {
    pub(super) fn follow(
        mut self,
        flags: &Flags,
        interrupt: &Interrupt,
    ) -> anyhow::Result<IngestReport> {
        let path = flags.path.as_deref().unwrap_or_else(|| Path::new(""));
        let before = self.standing()?;
        let mut sent = before.newest.clone();
        let mut directory = GrowingDirectory::open(path, flags.capture()?, sent.clone())?;
        complain(&format!("engram: {} is followed until Ctrl-C", path.display()));
        while !interrupt.is_asked() {
            let began = SystemClock.tick();
            let (frames, faults) = directory.look(began)?;
            self.tell(&faults);
            let took = SystemClock.tick().duration_since(began);
            let mut frames =
                SharpestFrames::new(Box::new(frames), flags.window, ImageLimits::default());
            frames.skip_known(&sent);
            while !interrupt.is_asked()
                && let Some(frame) = frames.next_frame()
            {
                let frame = match frame {
                    Ok(frame) => frame,
                    Err(fault) => {
                        let mut faults = FrameFaults::default();
                        faults.push(fault);
                        self.tell(&faults);
                        continue;
                    }
                };
                sent.insert(frame.meta.source.clone(), frame.meta.taken_at);
                match self.send(&frame, &before) {
                    // It may be that nothing answers any more.
                    Err(_) if interrupt.is_asked() => break,
                    outcome => outcome?,
                }
            }
            self.report.passed_over += frames.passed_over();
            pause(LOOK.max(took * PAUSE_TO_LOOK), interrupt);
        }
        self.report.known = directory.known();
        if let Ok(after) = self.standing() {
            self.report.count(&before, &after);
        }
        Ok(self.report)
    }

    /// Somebody may look on.
    fn tell(&mut self, faults: &FrameFaults) {
        for fault in faults.first() {
            if self.report.refused.total() < REFUSALS_SHOWN {
                complain(&format!("engram: {fault}"));
            }
            self.report.refused.push(fault.clone());
        }
    }
}

fn pause(length: Duration, interrupt: &Interrupt) {
    let end = SystemClock.tick() + length;
    while SystemClock.tick() < end && !interrupt.is_asked() {
        thread::sleep(POLL);
    }
}
