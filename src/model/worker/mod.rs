//! Supervised captioner in a process of its own: a model that crashes, hangs or exhausts the
//! memory costs one restart, never the daemon.
//!
//! The daemon's side is here; the worker's is [`child`].

pub mod child;
pub mod process;
mod protocol;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::backoff::Backoff;
use crate::base::caption::Caption;
use crate::base::stop::Stop;
use crate::base::time::Clock;
use crate::model::captioner;
use crate::model::worker::child::ChildOptions;
use crate::model::worker::process::{WaitOutcome, Worker, WorkerCommand};
use crate::model::worker::protocol::{WorkerReply, WorkerRequest};
use crate::model::{
    CaptionError, CaptionTask, Captioner, Detail, Fingerprint, ModelError, ModelIdentity,
};

/// Pause before a restart; doubled with every failure in a row, up to the longest.
const RESTART_PAUSE_MIN: Duration = Duration::from_millis(250);
const RESTART_PAUSE_MAX: Duration = Duration::from_secs(30);

/// The setting that bounds the worker's memory.
const MEMORY_LIMIT: &str = "captioner.memory_limit_mb";

/// Interval at which a wait checks the stop flag.
const STOP_CHECK: Duration = Duration::from_millis(50);

#[derive(Debug, Clone)]
pub struct Options {
    pub command: WorkerCommand,
    /// The model that `command` loads and what it does, for its identity.
    pub model: PathBuf,
    pub task: CaptionTask,
    pub scene_text: Option<PathBuf>,
    /// Memory that `command` lets the worker have: named where it dies of it.
    pub memory_bytes_max: Option<u64>,
    /// Deadline of loading the model.
    pub start_deadline: Duration,
    /// Deadline of one caption.
    pub caption_deadline: Duration,
    pub start: Start,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// When the captioner is made, so that the first frame finds it ready.
    AtOnce,
    /// With the first frame.
    WhenNeeded,
}

impl WorkerCommand {
    /// `engram caption-worker` of the binary `program`.
    pub fn engram(program: &Path, child: &ChildOptions) -> Self {
        let ChildOptions { model, limits, task, device, scene_text, memory_bytes_max } = child;
        let mut args: Vec<OsString> = vec!["caption-worker".into(), "--model".into(), model.into()];
        let mut flag = |name: &str, value: u64| {
            args.extend([name.into(), value.to_string().into()]);
        };
        flag("--image-bytes-max", limits.bytes_max as u64);
        flag("--image-pixels-max", limits.pixels_max);
        if let Some(bytes) = *memory_bytes_max {
            flag("--memory-bytes-max", bytes);
        }
        let CaptionTask { detail, detects } = *task;
        if detail == Detail::Sentences {
            args.push("--detailed".into());
        }
        if detects {
            args.push("--detect".into());
        }
        args.extend(["--device".into(), device.name().into()]);
        if let Some(dir) = scene_text {
            args.extend(["--scene-text".into(), dir.into()]);
        }
        Self { program: program.to_owned(), args }
    }
}

/// [`Captioner`] in another process.
///
/// A worker that died, hung or did not start is started again with the next frame, after an
/// exponential backoff that the first answer resets. Make and use it on one thread that lasts:
/// the kernel ends the worker together with the thread that started it. Dropping it ends the
/// worker within a second.
#[derive(Debug)]
pub struct WorkerCaptioner {
    options: Options,
    clock: Arc<dyn Clock>,
    stop: Stop,
    identity: ModelIdentity,
    worker: Option<Worker>,
    /// Whether `worker` has said that its model is loaded.
    ready: bool,
    backoff: Backoff,
    /// Earliest time of the next start.
    rest_until: Option<Instant>,
    starts: u64,
}

/// Why a worker does not caption, and whether another one would not either.
struct Unready {
    reason: String,
    is_for_good: bool,
}

impl WorkerCaptioner {
    /// Fails if there is no model in `options.model`. `stop` ends every wait:
    /// the frame then gets [`CaptionError::Unavailable`].
    pub fn new(options: Options, clock: Arc<dyn Clock>, stop: Stop) -> Result<Self, ModelError> {
        let identity =
            captioner::identity(&options.model, options.task, options.scene_text.as_deref())?;
        let mut captioner = Self {
            options,
            clock,
            stop,
            identity,
            worker: None,
            ready: false,
            backoff: Backoff::new(RESTART_PAUSE_MIN, RESTART_PAUSE_MAX),
            rest_until: None,
            starts: 0,
        };
        if captioner.options.start == Start::AtOnce
            && let Err(error) = captioner.start()
        {
            log::warn!("{error}");
        }
        Ok(captioner)
    }

    /// Makes sure that a worker runs and has loaded its model.
    fn make_ready(&mut self) -> Result<(), CaptionError> {
        if self.worker.as_mut().is_some_and(Worker::has_ended) {
            let how = self.end_worker();
            log::warn!("the caption worker ended between frames: {how}");
        }
        if self.worker.is_none() {
            self.rest()?;
            self.start()?;
        }
        if !self.ready {
            self.greet()?;
        }
        Ok(())
    }

    fn rest(&self) -> Result<(), CaptionError> {
        let Some(until) = self.rest_until else { return Ok(()) };
        let pause = until.saturating_duration_since(self.clock.tick());
        if self.stop.sleep(pause) { Err(stopping()) } else { Ok(()) }
    }

    fn start(&mut self) -> Result<(), CaptionError> {
        match Worker::spawn(&self.options.command) {
            Ok(worker) => {
                log::debug!("the caption worker is process {}", worker.process_id());
                self.worker = Some(worker);
                self.ready = false;
                self.starts += 1;
                Ok(())
            }
            Err(error) => {
                self.note_failure();
                let program = &self.options.command.program;
                Err(CaptionError::Unavailable(format!("{error}: {}", program.display())))
            }
        }
    }

    fn greet(&mut self) -> Result<(), CaptionError> {
        let first = self.wait(self.options.start_deadline)?;
        self.hear(first).map_err(|Unready { reason, .. }| CaptionError::Unavailable(reason))
    }

    /// Takes the worker's first message.
    fn hear(&mut self, first: WaitOutcome) -> Result<(), Unready> {
        let mut is_for_good = false;
        let reason = match first {
            WaitOutcome::Reply(WorkerReply::Hello {
                version: protocol::VERSION,
                name,
                fingerprint,
            }) => {
                self.identity = ModelIdentity { name, fingerprint: Fingerprint(fingerprint) };
                self.ready = true;
                return Ok(());
            }
            WaitOutcome::Reply(WorkerReply::NoModel { reason }) => {
                is_for_good = true;
                self.end_worker();
                reason
            }
            WaitOutcome::Reply(WorkerReply::Hello { version, .. }) => {
                self.end_worker();
                format!("it speaks version {version}, this daemon {}", protocol::VERSION)
            }
            WaitOutcome::Reply(WorkerReply::Caption { .. } | WorkerReply::BadImage { .. })
            | WaitOutcome::Ended => {
                let how = self.end_worker();
                is_for_good = how.contains(MEMORY_LIMIT);
                how
            }
            WaitOutcome::Nothing => {
                self.end_worker();
                format!("its model was not loaded within {:?}", self.options.start_deadline)
            }
        };
        Err(Unready { reason, is_for_good })
    }

    /// Waits for the worker's next message in steps, so that a stop is seen.
    fn wait(&mut self, deadline: Duration) -> Result<WaitOutcome, CaptionError> {
        let begun = self.clock.tick();
        loop {
            let Some(worker) = &self.worker else { return Ok(WaitOutcome::Ended) };
            let left = deadline.saturating_sub(self.clock.tick().duration_since(begun));
            let waited = worker.wait(left.min(STOP_CHECK));
            if waited != WaitOutcome::Nothing || left.is_zero() {
                return Ok(waited);
            }
            if self.stop.is_asked() {
                self.end_worker();
                return Err(stopping());
            }
        }
    }

    /// Ends the worker and returns how it ended.
    fn end_worker(&mut self) -> String {
        self.note_failure();
        self.ready = false;
        let how = self.worker.take().map_or_else(String::new, Worker::kill);
        match self.options.memory_bytes_max {
            Some(bytes) if how.contains("memory allocation of") => {
                let allowed = bytes >> 20;
                format!("{how}; {MEMORY_LIMIT} is {allowed}: raise it, or set 0 for no limit")
            }
            Some(_) | None => how,
        }
    }

    fn note_failure(&mut self) {
        let pause = self.backoff.next_pause();
        self.rest_until = self.clock.tick().checked_add(pause);
    }

    fn note_success(&mut self) {
        self.backoff.reset();
        self.rest_until = None;
    }
}

impl Captioner for WorkerCaptioner {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError> {
        self.make_ready()?;
        if let Some(worker) = &self.worker {
            worker.send(WorkerRequest::Caption { image: image.to_vec() });
        }
        let deadline = self.options.caption_deadline;
        match self.wait(deadline)? {
            WaitOutcome::Reply(WorkerReply::Caption { text, confidence, detections }) => {
                self.note_success();
                let detections = detections.into_iter().map(Into::into).collect();
                Ok(Caption { text, confidence, detections })
            }
            WaitOutcome::Reply(WorkerReply::BadImage { reason }) => {
                self.note_success();
                Err(CaptionError::BadImage(reason))
            }
            WaitOutcome::Reply(WorkerReply::Hello { .. } | WorkerReply::NoModel { .. })
            | WaitOutcome::Ended => Err(CaptionError::Died(self.end_worker())),
            WaitOutcome::Nothing => {
                self.end_worker();
                Err(CaptionError::Hung(deadline))
            }
        }
    }

    fn check(&mut self, patience: Duration) -> Result<(), ModelError> {
        if self.worker.is_none() || self.ready {
            return Ok(());
        }
        match self.wait(patience) {
            // It goes on loading, or the daemon stops.
            Ok(WaitOutcome::Nothing) | Err(_) => Ok(()),
            Ok(first @ (WaitOutcome::Reply(_) | WaitOutcome::Ended)) => match self.hear(first) {
                Ok(()) => Ok(()),
                Err(Unready { reason, is_for_good: true }) => Err(ModelError::Captioner(reason)),
                Err(Unready { reason, is_for_good: false }) => {
                    log::warn!("the caption worker is started again: {reason}");
                    Ok(())
                }
            },
        }
    }

    fn process_id(&self) -> Option<u32> {
        self.worker.as_ref().map(Worker::process_id)
    }

    fn restarts(&self) -> u64 {
        self.starts.saturating_sub(1)
    }
}

fn stopping() -> CaptionError {
    CaptionError::Unavailable("the daemon stops".to_owned())
}
