//! Admission of frames: checks, keyframe gate, then the spool.
//!
//! Called by many threads at once; frames are decoded in parallel and admitted one after the
//! other.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use log::warn;

use crate::base::caption::Caption;
use crate::base::frame::FrameMeta;
use crate::base::picture::{self, ImageLimits};
use crate::base::time::{Clock, Timestamp, Zone};
use crate::capture::gate::{self, Arrival, Decision, LastKeyframe, Viewpoint};
use crate::capture::pixels;
use crate::capture::sharpness::{self, Quality};
use crate::capture::signature::Signature;
use crate::ingest::{DropReason, FrameImage, ObserveError, Observed, ObservedState, Options};
use crate::memory::episodic::{Episodic, MemoryError};
use crate::store::{Keyframe, Merged, Store, StoreError};

#[derive(Debug)]
pub(super) struct Admission {
    store: Store,
    episodic: Arc<Episodic>,
    clock: Arc<dyn Clock>,
    limits: ImageLimits,
    gate: gate::Options,
    flaws: sharpness::Options,
    interval_min: Duration,
    ahead_max: Duration,
    zone: Zone,
    /// Held from reading a source's keyframe to replacing it: of two concurrent frames, the
    /// second is compared with the first.
    admitting: Mutex<()>,
}

impl Admission {
    pub(super) fn new(
        store: Store,
        episodic: Arc<Episodic>,
        clock: Arc<dyn Clock>,
        options: &Options,
    ) -> Self {
        let Options { limits, gate, flaws, interval_min, ahead_max, zone, .. } = *options;
        Self {
            store,
            episodic,
            clock,
            limits,
            gate,
            flaws,
            interval_min,
            ahead_max,
            zone,
            admitting: Mutex::new(()),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Checks a frame and spools it, or extends the record that it repeats. With a caption it
    /// becomes a record at once.
    pub(super) fn admit(
        &self,
        meta: &FrameMeta,
        image: FrameImage<'_>,
        caption: Option<&Caption>,
    ) -> Result<Observed, ObserveError> {
        meta.check()?;
        self.check_clock(meta.taken_at)?;
        // Decoded in full, though a header would do: an image that the captioner cannot read is
        // better refused to its sender than set aside an hour later.
        let picture = match image {
            FrameImage::File(file) => picture::decode(file, self.limits)?,
            FrameImage::Raw(raw) => pixels::to_rgb(&raw, self.limits)?,
        };
        // Whoever captioned it saw something.
        if caption.is_none()
            && let Some(flaw) = Quality::of(&picture).flaw(&self.flaws)
        {
            return Ok(dropped(DropReason::Flawed(flaw)));
        }
        let signature = Signature::of(&picture);
        let _admitting = self.admitting.lock().unwrap_or_else(PoisonError::into_inner);
        let keyframe = self.keyframe(&meta.source)?;
        let decision = self.decide(meta, &signature, keyframe.as_ref())?;
        if caption.is_none() && self.is_too_soon(meta, keyframe.as_ref()) {
            return Ok(dropped(DropReason::TooSoon));
        }
        match decision {
            Decision::Keep => {
                let signature = signature.as_bytes().to_vec();
                let image = match image {
                    FrameImage::File(file) => Cow::Borrowed(file),
                    FrameImage::Raw(_) => Cow::Owned(picture::to_jpeg(&picture)?),
                };
                match caption {
                    None => {
                        let ticket = self.store.accept_frame(meta, &image, signature)?;
                        Ok(Observed { ticket: Some(ticket), state: ObservedState::Pending })
                    }
                    Some(caption) => self.remember(meta, &image, signature, caption),
                }
            }
            Decision::Merge => self.merge(meta),
        }
    }

    fn remember(
        &self,
        meta: &FrameMeta,
        image: &[u8],
        signature: Vec<u8>,
        caption: &Caption,
    ) -> Result<Observed, ObserveError> {
        let remembered = self.episodic.remember_captioned_frame(meta, image, signature, caption);
        let record = remembered.map_err(|error| match error {
            MemoryError::Store(error) => error.into(),
            other @ (MemoryError::Model(_)
            | MemoryError::Corpus(_)
            | MemoryError::Thread(_)
            | MemoryError::NamesNothing(_)) => ObserveError::Memory(other.to_string()),
        })?;
        Ok(Observed { ticket: record.image, state: ObservedState::Stored { record: record.id } })
    }

    /// A damaged keyframe counts as none: the next one replaces it.
    fn keyframe(&self, source: &str) -> Result<Option<Keyframe>, StoreError> {
        match self.store.keyframe(source) {
            Err(damaged) if damaged.concerns_one_value() => {
                warn!(source; "{damaged}; the source starts anew");
                Ok(None)
            }
            read => read,
        }
    }

    pub(super) fn check_clock(&self, taken_at: Timestamp) -> Result<(), ObserveError> {
        let latest = self.clock.now().plus(self.ahead_max);
        if taken_at <= latest {
            return Ok(());
        }
        let accepted = format!("up to {}, by the daemon's clock", self.format_micros(latest));
        Err(ObserveError::Time { found: self.format_micros(taken_at), accepted })
    }

    fn decide(
        &self,
        meta: &FrameMeta,
        signature: &Signature,
        keyframe: Option<&Keyframe>,
    ) -> Result<Decision, ObserveError> {
        let last = keyframe.map(|it| LastKeyframe {
            taken_at: it.meta.taken_at,
            last_at: it.last_at,
            view: Viewpoint::of(&it.meta),
        });
        let change = keyframe
            .and_then(|it| Signature::from_bytes(&it.signature))
            .map(|earlier| signature.change_since(&earlier));
        let arrival = Arrival { taken_at: meta.taken_at, view: Viewpoint::of(meta), change };
        gate::decide(&self.gate, last.as_ref(), &arrival).map_err(|past| {
            let last = self.format_micros(past.last_at);
            let accepted = format!("after {last}, of the last frame of source {:?}", meta.source);
            ObserveError::Past { found: self.format_micros(meta.taken_at), accepted }
        })
    }

    fn is_too_soon(&self, meta: &FrameMeta, keyframe: Option<&Keyframe>) -> bool {
        // A camera keeps its rate about, and not to the microsecond.
        let least = self.interval_min.saturating_sub(self.interval_min / 10);
        keyframe.is_some_and(|it| meta.taken_at.since(it.last_at) < least)
    }

    fn merge(&self, meta: &FrameMeta) -> Result<Observed, ObserveError> {
        let merged = self.episodic.merge_frame(&meta.source, meta.taken_at)?;
        let Merged { ticket, record, end_at: _ } = merged;
        Ok(Observed { ticket: Some(ticket), state: ObservedState::Merged { record } })
    }

    /// With microseconds, or two times of one second would look the same.
    fn format_micros(&self, time: Timestamp) -> String {
        format!("{}.{:06}", self.zone.format(time), time.micros() % 1_000_000)
    }
}

fn dropped(reason: DropReason) -> Observed {
    Observed { ticket: None, state: ObservedState::Dropped(reason) }
}
