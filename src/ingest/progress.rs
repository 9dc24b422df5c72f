//! Progress of captioning, shared by the captioning thread with whoever asks for the status.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::histogram::Histogram;
use crate::base::time::Timestamp;
use crate::ingest::ObserveError;
use crate::ingest::losses::Losses;
use crate::model::{Captioner, ModelIdentity};

/// Bounds of a caption's time, in seconds: from the smallest captioner to the largest on one core.
const CAPTION_BOUNDS: &[f64] =
    &[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0];

#[derive(Debug)]
pub(super) struct Progress {
    refusals: AtomicU64,
    pub(super) losses: Losses,
    snapshot: Mutex<ProgressSnapshot>,
}

#[derive(Debug, Clone)]
pub(super) struct ProgressSnapshot {
    pub(super) captioning: bool,
    pub(super) captioner: ModelIdentity,
    /// Address of the captioner's server, if it has one.
    pub(super) server: Option<String>,
    pub(super) pid: Option<u32>,
    pub(super) restarts: u64,
    /// Of the frames that were captioned.
    pub(super) times: Histogram,
    pub(super) last_error: Option<(Timestamp, String)>,
    /// Why the captions are doubted, while they are.
    pub(super) doubt: Option<String>,
}

impl Progress {
    pub(super) fn new(captioner: &impl Captioner, losses: Losses) -> Self {
        let snapshot = ProgressSnapshot {
            captioning: true,
            captioner: captioner.identity().clone(),
            server: captioner.server().map(str::to_owned),
            pid: captioner.process_id(),
            restarts: captioner.restarts(),
            times: Histogram::new(CAPTION_BOUNDS),
            last_error: None,
            doubt: None,
        };
        Self { refusals: AtomicU64::new(0), losses, snapshot: Mutex::new(snapshot) }
    }

    pub(super) fn snapshot(&self) -> ProgressSnapshot {
        self.lock().clone()
    }

    pub(super) fn set_captioner(&self, captioner: &impl Captioner) {
        let mut shown = self.lock();
        if shown.captioner != *captioner.identity() {
            shown.captioner = captioner.identity().clone();
        }
        shown.pid = captioner.process_id();
        shown.restarts = captioner.restarts();
    }

    /// Notes how long a caption took.
    pub(super) fn note_caption(&self, took: Duration) {
        self.lock().times.observe(took);
    }

    pub(super) fn set_captioning(&self, is_made: bool) {
        self.lock().captioning = is_made;
    }

    pub(super) fn set_error(&self, at: Timestamp, error: String) {
        self.lock().last_error = Some((at, error));
    }

    pub(super) fn set_doubt(&self, doubt: Option<String>) {
        self.lock().doubt = doubt;
    }

    pub(super) fn count_refusal(&self, source: &str, error: &ObserveError, now: Timestamp) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
        if let Some(lost) = self.losses.note(source, error, now) {
            self.set_error(now, lost);
        }
    }

    pub(super) fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, ProgressSnapshot> {
        // Each field is consistent by itself, so a poisoned lock does no harm.
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
