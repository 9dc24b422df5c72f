//! Ingest of frames: each is checked, compared with its predecessor, spooled to disk, and
//! captioned into memory by one thread, in the order of arrival.
//!
//! Knows neither sockets nor tools. Guarantees: an acknowledged frame survives `kill -9` and is
//! captioned once, by this process or the next; the same frames and models give the same
//! records under the same ids; a frame over which the captioner crashes repeatedly is set aside
//! with its reason while the rest goes on.
//!
//! Bounds: the spool by the store's options (then frames are refused), an image by its limits,
//! one frame at a time in the captioner, retries by their backoff.

mod admission;
pub mod cameras;
mod captioning;
mod doubt;
mod losses;
mod pose_tracks;
mod progress;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use log::warn;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::caption::Caption;
use crate::base::frame::{BadName, FrameMeta};
use crate::base::histogram::Histogram;
use crate::base::notify::Notify;
use crate::base::picture::{BadImage, ImageLimits};
use crate::base::shortage::Shortage;
use crate::base::stop::Stop;
use crate::base::time::{Clock, Timestamp, Zone};
use crate::capture::gate;
use crate::capture::pixels::{BadPixels, RawImage};
use crate::capture::sharpness;
use crate::ingest::admission::Admission;
use crate::ingest::cameras::{Camera, CameraState, Cameras};
use crate::ingest::captioning::Captioning;
use crate::ingest::losses::Losses;
use crate::ingest::pose_tracks::PoseTracks;
use crate::ingest::progress::Progress;
use crate::memory::episodic::Episodic;
use crate::model::{Captioner, ModelIdentity};
use crate::store::backup::source::BackupSource;
use crate::store::{PendingFrame, SetAside, Store, StoreError};

/// Options of ingest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    pub limits: ImageLimits,
    pub gate: gate::Options,
    pub flaws: sharpness::Options,
    /// Least time between two frames of a source that are kept or merged; zero for none.
    pub interval_min: Duration,
    /// How far a frame's time may lie ahead of the clock: clocks of robot and
    /// camera differ, and a frame of next year would shut its source for a year.
    pub ahead_max: Duration,
    /// How far in time a pose of a track may be from the frame that it is given to.
    pub pose_age_max: Duration,
    /// After how long without a frame a camera that sent some is silent; zero looks for none.
    pub silent_after: Duration,
    /// Time zone of refusals.
    pub zone: Zone,
    /// Backoff after a captioner that does not start or a memory that fails.
    pub retry_pause_min: Duration,
    pub retry_pause_max: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: ImageLimits::default(),
            gate: gate::Options::default(),
            flaws: sharpness::Options::default(),
            interval_min: Duration::ZERO,
            ahead_max: Duration::from_hours(1),
            pose_age_max: Duration::from_secs(2),
            silent_after: Duration::from_mins(10),
            zone: Zone::Machine,
            retry_pause_min: Duration::from_secs(1),
            retry_pause_max: Duration::from_secs(30),
        }
    }
}

/// Parts that ingest is built from.
#[derive(Debug)]
pub struct IngestParts<C> {
    pub store: Store,
    pub episodic: Arc<Episodic>,
    /// Returns from a caption soon after `stop` is asked, or [`Ingest::stop`]
    /// waits for its deadline.
    pub captioner: C,
    pub clock: Arc<dyn Clock>,
    pub stop: Stop,
}

/// A frame's picture, as its sender has it.
#[derive(Debug, Clone, Copy)]
pub enum FrameImage<'a> {
    /// JPEG, PNG or WebP; kept as it came.
    File(&'a [u8]),
    /// Pixels; kept as a JPEG.
    Raw(RawImage<'a>),
}

/// Outcome of a frame that was not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observed {
    /// Of the frame itself, or of the one that it was merged into; `None` where it was dropped.
    pub ticket: Option<FrameTicket>,
    pub state: ObservedState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObservedState {
    /// Spooled; its caption follows.
    Pending,
    /// It came with its caption and is a record.
    Stored { record: RecordId },
    /// Repeats an earlier frame, whose record now ends with this one; `None` while that frame
    /// waits for its caption.
    Merged { record: Option<RecordId> },
    /// Nothing of it is kept.
    Dropped(DropReason),
}

/// Part of every refusal that passes once frames are captioned, so that a client can tell it
/// from permanent ones.
pub const TRY_AGAIN: &str = "send it again when some are captioned";

/// Refusals of a frame. Nothing of it is kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObserveError {
    #[error("\"image\": {0}")]
    Image(#[from] BadImage),
    #[error("{0}")]
    Pixels(#[from] BadPixels),
    #[error("{0}")]
    Name(#[from] BadName),
    #[error("\"time\" is {found}; accepted is a time {accepted}")]
    Time { found: String, accepted: String },
    /// Its source has sent a later one: it came twice, or too late.
    #[error("\"time\" is {found}; accepted is a time {accepted}")]
    Past { found: String, accepted: String },
    #[error("{pending} frames wait for a caption, accepted are at most {max}; {TRY_AGAIN}")]
    SpoolFull { pending: usize, max: usize },
    #[error(
        "the images that must be kept take {bytes} bytes, accepted are at most {max}; \
         {TRY_AGAIN}, or raise the limit"
    )]
    ImagesFull { bytes: u64, max: u64 },
    #[error(transparent)]
    Store(StoreError),
    /// The frame's own caption could not be remembered.
    #[error("{0}")]
    Memory(String),
}

impl Shortage for ObserveError {
    fn shortage(&self) -> Option<String> {
        if let Self::Store(error) = self { error.shortage() } else { None }
    }
}

impl From<StoreError> for ObserveError {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other errors are the store's own")]
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::SpoolFull { pending, max } => Self::SpoolFull { pending, max },
            StoreError::ImagesFull { bytes, max } => Self::ImagesFull { bytes, max },
            other => Self::Store(other),
        }
    }
}

pub use crate::ingest::losses::{DropReason, LossReason};
pub use crate::ingest::pose_tracks::{PoseCounts, PoseError, TrackedPose};

/// Status of ingest.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestState {
    /// Frames taken in since the store was made; `merged` of them into others.
    pub seen: u64,
    pub merged: u64,
    pub pending: usize,
    pub captioned: u64,
    /// Set aside without a caption.
    pub failed: u64,
    /// Refused at admission since this process started.
    pub refused: u64,
    /// Frames that are lost, by reason: refused, or dropped by their sender.
    pub lost: Vec<(LossReason, u64)>,
    /// Frames dropped since the start, of which nothing was to be seen or too many came.
    pub dropped: Vec<(DropReason, u64)>,
    /// Poses that came by themselves.
    pub poses: PoseCounts,
    /// Live cameras of the daemon.
    pub cameras: Vec<CameraState>,
    /// Cameras that sent frames and stopped, with the time of the last one.
    pub silent: Vec<(String, Timestamp)>,
    /// Whether pending frames are being captioned.
    pub captioning: bool,
    pub captioner: ModelIdentity,
    /// Address of the server that captions, where one does in place of a worker.
    pub captioner_server: Option<String>,
    pub captioner_pid: Option<u32>,
    pub captioner_restarts: u64,
    /// How long the captioner took for a frame, since the start.
    pub caption_times: Histogram,
    /// Time of the last frame of each source, by name.
    pub sources: Vec<(String, Timestamp)>,
    /// The newest frames that were set aside, newest first.
    pub set_aside: Vec<SetAside>,
    pub last_error: Option<(Timestamp, String)>,
    /// Why the captions are doubted: the captioner is unsure of nearly all it sees.
    pub doubt: Option<String>,
}

/// Most frames in [`IngestState::set_aside`]: enough to see what they have in common.
const SET_ASIDE_SHOWN: usize = 10;

/// Ingest pipeline.
#[derive(Debug)]
pub struct Ingest {
    store: Store,
    episodic: Arc<Episodic>,
    admission: Admission,
    poses: PoseTracks,
    cameras: Cameras,
    progress: Arc<Progress>,
    stop: Stop,
    wake: Notify,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Ingest {
    /// Starts with the frames that the spool still holds.
    pub fn start<C: Captioner + 'static>(
        parts: IngestParts<C>,
        options: Options,
    ) -> Result<Self, io::Error> {
        let IngestParts { store, episodic, captioner, clock, stop } = parts;
        let progress = Arc::new(Progress::new(&captioner, Losses::new(options.silent_after)));
        let wake = Notify::default();
        let admission =
            Admission::new(store.clone(), Arc::clone(&episodic), Arc::clone(&clock), &options);
        let captioning = Captioning::new(
            IngestParts {
                store: store.clone(),
                episodic: Arc::clone(&episodic),
                captioner,
                clock,
                stop: stop.clone(),
            },
            Arc::clone(&progress),
            wake.clone(),
            &options,
        );
        let thread =
            Builder::new().name("captioning".to_owned()).spawn(move || captioning.run())?;
        let thread = Mutex::new(Some(thread));
        let poses = PoseTracks::new(options.pose_age_max);
        let cameras = Cameras::default();
        Ok(Self { store, episodic, admission, poses, cameras, progress, stop, wake, thread })
    }

    /// Accepts a frame. It is on disk when this returns.
    pub fn observe_frame(
        &self,
        meta: &FrameMeta,
        image: FrameImage<'_>,
    ) -> Result<Observed, ObserveError> {
        self.admit(meta, image, None)
    }

    /// Accepts a frame with the caption that its sender made. It is on disk and, unless the gate
    /// merges it, a record when this returns: no captioner sees it.
    pub fn observe_captioned_frame(
        &self,
        meta: &FrameMeta,
        image: FrameImage<'_>,
        caption: &Caption,
    ) -> Result<Observed, ObserveError> {
        self.admit(meta, image, Some(caption))
    }

    fn admit(
        &self,
        meta: &FrameMeta,
        image: FrameImage<'_>,
        caption: Option<&Caption>,
    ) -> Result<Observed, ObserveError> {
        let located = self.poses.locate(meta);
        let observed = self.admission.admit(located.as_ref().unwrap_or(meta), image, caption);
        match &observed {
            Ok(Observed { state: ObservedState::Pending, .. }) => self.wake.notify(),
            Ok(Observed {
                state: ObservedState::Merged { .. } | ObservedState::Stored { .. },
                ..
            }) => {}
            Ok(Observed { state: ObservedState::Dropped(reason), .. }) => {
                self.progress.losses.note_dropped(&meta.source, *reason, self.admission.now());
            }
            Err(error) => self.progress.count_refusal(&meta.source, error, self.admission.now()),
        }
        if observed.is_ok() {
            let now = self.admission.now();
            self.progress.losses.came(&meta.source, meta.taken_at, now);
        }
        observed
    }

    /// Refuses a time too far ahead of the clock, of a frame as of a caption without one: it
    /// would be kept for ever, and all that came before it.
    pub fn check_clock(&self, taken_at: Timestamp) -> Result<(), ObserveError> {
        self.admission.check_clock(taken_at)
    }

    /// Takes a pose for the frames of its time that have none.
    pub fn observe_pose(&self, pose: TrackedPose) -> Result<(), PoseError> {
        self.poses.add(pose)
    }

    /// Poses that came by themselves. Cheap.
    pub fn poses(&self) -> PoseCounts {
        self.poses.counts()
    }

    /// Tells of this camera in [`Ingest::status`] from now on.
    pub fn tell_of(&self, camera: Arc<Camera>) {
        self.cameras.add(camera);
    }

    /// Counts frames of a source that their sender dropped.
    pub fn note_overrun(&self, source: &str, frames: u64) {
        if frames > 0 {
            let now = self.admission.now();
            self.progress.set_error(now, self.progress.losses.note_overrun(source, frames, now));
        }
    }

    /// Frames that wait for a caption. Cheap, unlike the whole of [`Ingest::status`].
    pub fn pending(&self) -> usize {
        self.store.pending_count()
    }

    /// Frames that wait for a caption, after `after`, in the order in which they came. A damaged one
    /// is left out.
    pub fn waiting(
        &self,
        mut after: Option<FrameTicket>,
        limit: usize,
    ) -> Result<Vec<PendingFrame>, StoreError> {
        let mut frames = Vec::new();
        while frames.len() < limit {
            after = match self.store.next_pending(after) {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    let ticket = frame.ticket;
                    frames.push(frame);
                    Some(ticket)
                }
                Err(StoreError::DamagedFrame { ticket, .. }) => Some(ticket),
                Err(other) => return Err(other),
            };
        }
        Ok(frames)
    }

    /// Frames that got no caption, newest first, from that before `before` on.
    pub fn set_aside(
        &self,
        before: Option<FrameTicket>,
        limit: usize,
    ) -> Result<Vec<SetAside>, StoreError> {
        self.store.set_asides(before, limit)
    }

    /// Whether this frame waits for a caption or got none.
    pub fn is_without_caption(&self, ticket: FrameTicket) -> Result<bool, StoreError> {
        self.store.is_without_caption(ticket)
    }

    /// What is wrong with the store.
    pub fn store_problems(&self) -> Vec<String> {
        self.store.problems()
    }

    /// Begins a backup of the store.
    pub fn begin_backup(&self) -> BackupSource {
        self.store.begin_backup()
    }

    /// Records counted as captioned are searchable when it returns.
    pub fn status(&self) -> IngestState {
        let (counters, pending) = (self.store.counters(), self.store.pending_count());
        self.progress.losses.look(self.admission.now());
        self.episodic.settle();
        let shown = self.progress.snapshot();
        // A part that cannot be read is left out and reported as the last error.
        let mut last_error = shown.last_error;
        let mut noted =
            |error: StoreError| last_error = Some((self.admission.now(), error.to_string()));
        let sources = self.store.sources().unwrap_or_else(|error| {
            noted(error);
            Vec::new()
        });
        let set_aside = self.store.set_asides(None, SET_ASIDE_SHOWN).unwrap_or_else(|error| {
            noted(error);
            Vec::new()
        });
        IngestState {
            seen: counters.seen,
            merged: counters.merged,
            pending,
            captioned: counters.captioned,
            failed: counters.failed,
            refused: self.progress.refusals(),
            lost: self.progress.losses.refused(),
            dropped: self.progress.losses.dropped(),
            poses: self.poses.counts(),
            cameras: self.cameras.states(),
            silent: self.progress.losses.silent(),
            captioning: shown.captioning,
            captioner: shown.captioner,
            captioner_server: shown.server,
            captioner_pid: shown.pid,
            captioner_restarts: shown.restarts,
            caption_times: shown.times,
            sources,
            set_aside,
            last_error,
            doubt: shown.doubt,
        }
    }

    /// Ends captioning after the frame that is being captioned, or at once where
    /// the captioner watches the same [`Stop`]. What is pending stays on disk.
    pub fn stop(&self) {
        self.stop.ask();
        self.wake.notify();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            warn!("the captioning thread ended in a panic");
        }
    }
}

impl Drop for Ingest {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests;
