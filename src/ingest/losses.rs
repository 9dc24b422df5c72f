//! Frames that did not get in, counted by reason, and sources that fell silent: logged once,
//! then counted.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use log::{info, warn};

use crate::base::tally::Tally;
use crate::base::time::Timestamp;
use crate::capture::sharpness::Flaw;
use crate::ingest::ObserveError;

/// Why frames are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossReason {
    SpoolFull,
    ImagesFull,
    BrokenImage,
    BadName,
    BadTime,
    /// The store or the memory failed.
    NotKept,
    /// Its sender dropped it: they come faster than they are taken in.
    Overrun,
}

impl LossReason {
    /// As replies and the log have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SpoolFull => "spool_full",
            Self::ImagesFull => "images_full",
            Self::BrokenImage => "broken_image",
            Self::BadName => "bad_name",
            Self::BadTime => "bad_time",
            Self::NotKept => "not_kept",
            Self::Overrun => "overrun",
        }
    }

    /// `None` where the frame is not lost: one that came after a later one of its source was
    /// sent before, as a rule.
    pub(super) fn of(error: &ObserveError) -> Option<Self> {
        match error {
            ObserveError::SpoolFull { .. } => Some(Self::SpoolFull),
            ObserveError::ImagesFull { .. } => Some(Self::ImagesFull),
            ObserveError::Image(_) | ObserveError::Pixels(_) => Some(Self::BrokenImage),
            ObserveError::Name(_) => Some(Self::BadName),
            ObserveError::Time { .. } => Some(Self::BadTime),
            ObserveError::Past { .. } => None,
            ObserveError::Store(_) | ObserveError::Memory(_) => Some(Self::NotKept),
        }
    }
}

/// Why frames are dropped that are whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// Nothing is seen on it.
    Flawed(Flaw),
    /// It came too soon after the one before.
    TooSoon,
}

impl DropReason {
    /// As replies and the log have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flawed(Flaw::Dark) => "dark",
            Self::Flawed(Flaw::Blurred) => "blurred",
            Self::TooSoon => "too_soon",
        }
    }
}

/// What was lost since the start.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// After how long a source is silent; zero looks for none.
    silent_after: Duration,
    refused: Tally<LossReason>,
    dropped: Tally<DropReason>,
    sources: Mutex<BTreeMap<String, LiveSource>>,
}

#[derive(Debug, Clone, Copy)]
struct LiveSource {
    frames: u32,
    newest: Timestamp,
    is_silent: bool,
}

/// Frames from which on a source is expected to go on.
const LIVE_FRAMES: u32 = 10;
/// How far from the clock a frame's time may be that a camera takes now: recordings are
/// expected to end.
const LIVE_WITHIN: Duration = Duration::from_mins(1);
/// Sources that are watched.
const SOURCES_MAX: usize = 256;
/// A silent source is gone after this.
const GONE_AFTER: Duration = Duration::from_hours(24);

impl Losses {
    pub(super) fn new(silent_after: Duration) -> Self {
        Self { silent_after, ..Self::default() }
    }

    /// Counts a frame that was refused; what there is to say of it, where it counts as lost.
    pub(super) fn note(
        &self,
        source: &str,
        error: &ObserveError,
        now: Timestamp,
    ) -> Option<String> {
        let reason = LossReason::of(error)?;
        if let Some(times) = self.refused.count(&reason, now) {
            let reason = reason.name();
            warn!(reason, times, source; "a frame was refused: {error}");
        }
        Some(format!("a frame of source {source:?} was refused: {error}"))
    }

    /// Counts frames that their sender dropped; what there is to say of them.
    pub(super) fn note_overrun(&self, source: &str, frames: u64, now: Timestamp) -> String {
        let what = "frames came faster than they are taken in, the oldest were dropped";
        let reason = LossReason::Overrun;
        if let Some(frames) = self.refused.add(&reason, frames, now) {
            warn!(reason = reason.name(), frames, source; "{what}");
        }
        format!("{frames} frames of source {source:?} are lost: {what}")
    }

    /// Counts a frame that was dropped.
    pub(super) fn note_dropped(&self, source: &str, reason: DropReason, now: Timestamp) {
        if let Some(times) = self.dropped.count(&reason, now) {
            info!(reason = reason.name(), times, source; "frames were dropped");
        }
    }

    /// Notes that a frame of a source came, taken at this time.
    pub(super) fn came(&self, source: &str, taken_at: Timestamp, now: Timestamp) {
        let apart = now.since(taken_at).max(taken_at.since(now));
        let mut sources = self.lock();
        let is_known = sources.contains_key(source);
        if apart > LIVE_WITHIN || (!is_known && sources.len() >= SOURCES_MAX) {
            return;
        }
        let fresh = LiveSource { frames: 0, newest: now, is_silent: false };
        let live = sources.entry(source.to_owned()).or_insert(fresh);
        if live.is_silent {
            info!(source; "a silent source is back");
        }
        *live = LiveSource { frames: live.frames.saturating_add(1), newest: now, is_silent: false };
    }

    /// Looks for sources that fell silent.
    pub(super) fn look(&self, now: Timestamp) {
        if self.silent_after.is_zero() {
            return;
        }
        let mut sources = self.lock();
        sources.retain(|_, live| now.since(live.newest) < GONE_AFTER);
        for (source, live) in sources.iter_mut() {
            let silence = now.since(live.newest);
            if !live.is_silent && live.frames >= LIVE_FRAMES && silence >= self.silent_after {
                live.is_silent = true;
                let seconds = silence.as_secs();
                warn!(source:% = source, seconds; "a source is silent: its frames came, and stopped");
            }
        }
    }

    pub(super) fn dropped(&self) -> Vec<(DropReason, u64)> {
        self.dropped.counts()
    }

    pub(super) fn refused(&self) -> Vec<(LossReason, u64)> {
        self.refused.counts()
    }

    /// The sources that are silent, with the time of their last frame by the clock.
    pub(super) fn silent(&self) -> Vec<(String, Timestamp)> {
        let sources = self.lock();
        let silent = sources.iter().filter(|(_, live)| live.is_silent);
        silent.map(|(source, live)| (source.clone(), live.newest)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, LiveSource>> {
        // Whole entries: nothing panics between two changes.
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn start() -> Timestamp {
        Timestamp::from_seconds(1e9).unwrap()
    }

    #[test]
    fn a_camera_that_stops_is_silent_and_a_recording_is_not() {
        let losses = Losses::new(SECOND * 100);
        for at in 0..LIVE_FRAMES {
            let now = start().plus(SECOND * at);
            losses.came("camera", now, now);
            losses.came("recording", now.minus(SECOND * 3_600), now);
            losses.came("ahead", now.plus(SECOND * 3_600), now);
        }
        losses.came("once", start(), start());
        let last = start().plus(SECOND * (LIVE_FRAMES - 1));
        losses.look(last.plus(SECOND * 99));
        assert_eq!(losses.silent(), []);
        losses.look(last.plus(SECOND * 100));
        assert_eq!(losses.silent(), [("camera".to_owned(), last)]);
        let back = last.plus(SECOND * 200);
        losses.came("camera", back, back);
        assert_eq!(losses.silent(), []);
        losses.look(back.plus(SECOND * 100));
        losses.look(back.plus(GONE_AFTER));
        assert_eq!(losses.silent(), []);
    }

    #[test]
    fn what_was_sent_before_is_not_lost() {
        let losses = Losses::new(Duration::ZERO);
        let (found, accepted) = (String::new(), String::new());
        let past = ObserveError::Past { found: found.clone(), accepted: accepted.clone() };
        assert_eq!(losses.note("camera", &past, start()), None);
        let full = ObserveError::SpoolFull { pending: 3, max: 3 };
        let said = losses.note("camera", &full, start()).unwrap();
        assert!(
            said.starts_with("a frame of source \"camera\" was refused: 3 frames wait"),
            "{said}"
        );
        assert!(losses.note("camera", &full, start()).is_some());
        let ahead = ObserveError::Time { found, accepted };
        assert!(losses.note("camera", &ahead, start()).is_some());
        assert_eq!(losses.refused(), [(LossReason::SpoolFull, 2), (LossReason::BadTime, 1)]);
    }
}
