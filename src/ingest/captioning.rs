//! Captioning thread: turns spooled frames into records, the oldest first.
//!
//! One frame at a time and strictly in the order of tickets, so that record ids follow the
//! spool: a failure of the first frame is settled before the second is read. Every pause is
//! bounded and ends at a stop.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use log::warn;

use crate::base::FrameTicket;
use crate::base::backoff::Backoff;
use crate::base::caption::Caption;
use crate::base::notify::Notify;
use crate::base::stop::Stop;
use crate::base::time::Clock;
use crate::ingest::doubt;
use crate::ingest::doubt::{Doubt, DoubtChange};
use crate::ingest::progress::Progress;
use crate::ingest::{IngestParts, Options};
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::{CaptionError, Captioner};
use crate::store::{PendingFrame, Store, StoreError};

/// Crashes of the captioner in one run at which a frame is set aside: one may be chance.
const DEATHS_MAX: u32 = 2;

/// How often sources are looked at while there is nothing to caption.
const LOOK: Duration = Duration::from_secs(10);
/// Attempts at which a frame is set aside. They are counted on disk before they are made: this
/// ends a frame that crashes the whole process, and is above [`DEATHS_MAX`] because most
/// processes that end in mid-caption were ended by somebody.
const ATTEMPTS_MAX: u32 = 5;

/// Longest caption kept; the longest of known captioners are a tenth of it.
const CAPTION_BYTES_MAX: usize = 8_000;

pub(super) struct Captioning<C> {
    store: Store,
    episodic: Arc<Episodic>,
    captioner: C,
    clock: Arc<dyn Clock>,
    stop: Stop,
    progress: Arc<Progress>,
    wake: Notify,
    backoff: Backoff,
    /// Crashes of the captioner over one frame in this run.
    deaths: Option<(FrameTicket, u32)>,
    /// Caption that could not be committed yet, so that it is not computed twice.
    unkept: Option<(FrameTicket, Caption)>,
    doubt: Doubt,
}

/// Action after a step.
enum Next {
    /// Look for the next frame.
    GoOn,
    /// Nothing is pending.
    Idle,
    /// Something outside the frame failed; try again later.
    Pause,
}

impl<C: Captioner> Captioning<C> {
    pub(super) fn new(
        parts: IngestParts<C>,
        progress: Arc<Progress>,
        wake: Notify,
        options: &Options,
    ) -> Self {
        let IngestParts { store, episodic, captioner, clock, stop } = parts;
        let backoff = Backoff::new(options.retry_pause_min, options.retry_pause_max);
        Self {
            store,
            episodic,
            captioner,
            clock,
            stop,
            progress,
            wake,
            backoff,
            deaths: None,
            unkept: None,
            doubt: Doubt::default(),
        }
    }

    pub(super) fn run(mut self) {
        while !self.stop.is_asked() {
            // A panic is a bug; the frame's attempt is counted on disk, so that it cannot
            // repeat for ever.
            let next = catch_unwind(AssertUnwindSafe(|| self.step())).unwrap_or_else(|_panic| {
                self.report("captioning panicked; the log has the message".to_owned());
                Next::Pause
            });
            self.progress.losses.look(self.clock.now());
            match next {
                Next::GoOn => self.record_progress(),
                Next::Idle => {
                    self.record_progress();
                    self.wake.wait_for(LOOK);
                }
                Next::Pause => {
                    self.progress.set_captioning(false);
                    self.stop.sleep(self.backoff.next_pause());
                }
            }
        }
        self.progress.set_captioning(false);
    }

    fn record_progress(&mut self) {
        self.backoff.reset();
        self.progress.set_captioning(true);
    }

    fn step(&mut self) -> Next {
        match self.try_step() {
            Ok(next) => next,
            // Forgotten while it was captioned: what was said of it goes with it.
            Err(StoreError::NotPending { .. }) => {
                self.unkept = None;
                Next::GoOn
            }
            Err(failed) => {
                self.report(failed.to_string());
                Next::Pause
            }
        }
    }

    fn try_step(&mut self) -> Result<Next, StoreError> {
        let frame = match self.store.next_pending(None) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(Next::Idle),
            Err(StoreError::DamagedFrame { ticket, reason }) => {
                return self.set_aside(ticket, &format!("its entry is damaged: {reason}"));
            }
            Err(other) => return Err(other),
        };
        match &self.unkept {
            Some((ticket, caption)) if *ticket == frame.ticket => {
                self.keep(frame.ticket, caption.clone())
            }
            _ => self.caption(&frame),
        }
    }

    fn caption(&mut self, frame: &PendingFrame) -> Result<Next, StoreError> {
        let ticket = frame.ticket;
        if frame.attempts >= ATTEMPTS_MAX {
            let reason = format!("captioning it ended {} times without a result", frame.attempts);
            return self.set_aside(ticket, &reason);
        }
        let Some(image) = self.store.image(ticket)? else {
            return self.set_aside(ticket, "its image is no longer on disk");
        };
        self.store.count_attempt(ticket)?;
        let begun = self.clock.tick();
        let caption = self.captioner.caption(&image);
        self.progress.set_captioner(&self.captioner);
        if caption.is_ok() {
            self.progress.note_caption(begun.elapsed());
        }
        match caption {
            Ok(caption) => match trim_to_bound(&caption.text) {
                Some(text) => {
                    self.note_doubt(&caption);
                    self.keep(ticket, Caption { text: text.to_owned(), ..caption })
                }
                None => self.set_aside(ticket, "the captioner said nothing about it"),
            },
            Err(failure) => self.judge(ticket, &failure),
        }
    }

    /// Says once when the captioner begins to be unsure of nearly everything.
    fn note_doubt(&mut self, caption: &Caption) {
        match self.doubt.note(caption) {
            DoubtChange::Begins => {
                let doubt = doubt::describe(&self.captioner.identity().name);
                warn!("{doubt}");
                self.progress.set_doubt(Some(doubt));
            }
            DoubtChange::Ends => self.progress.set_doubt(None),
            DoubtChange::None => {}
        }
    }

    /// Consequence of a failed caption for its frame.
    fn judge(&mut self, ticket: FrameTicket, failure: &CaptionError) -> Result<Next, StoreError> {
        match failure {
            CaptionError::BadImage(_) => self.set_aside(ticket, &failure.to_string()),
            // A worker's failure during a stop is no evidence against the frame.
            CaptionError::Died(_) | CaptionError::Hung(_) | CaptionError::Unavailable(_)
                if self.stop.is_asked() =>
            {
                self.store.uncount_attempt(ticket)?;
                Ok(Next::GoOn)
            }
            CaptionError::Unavailable(_) => {
                self.store.uncount_attempt(ticket)?;
                self.report(failure.to_string());
                Ok(Next::Pause)
            }
            CaptionError::Died(_) | CaptionError::Hung(_) => self.count_death(ticket, failure),
        }
    }

    fn count_death(
        &mut self,
        ticket: FrameTicket,
        failure: &CaptionError,
    ) -> Result<Next, StoreError> {
        let before = match self.deaths {
            Some((same, deaths)) if same == ticket => deaths,
            _ => 0,
        };
        let deaths = before + 1;
        self.deaths = Some((ticket, deaths));
        if deaths >= DEATHS_MAX {
            return self.set_aside(ticket, &format!("{failure}, {deaths} times"));
        }
        self.report(format!("frame {ticket}: {failure}"));
        Ok(Next::GoOn)
    }

    /// Commits a captioned frame to the memory.
    fn keep(&mut self, ticket: FrameTicket, caption: Caption) -> Result<Next, StoreError> {
        match self.episodic.remember_frame(ticket, &caption) {
            Ok(_record) => {
                self.unkept = None;
                Ok(Next::GoOn)
            }
            // Forgotten meanwhile.
            Err(MemoryError::Store(gone @ StoreError::NotPending { .. })) => Err(gone),
            Err(failed) => {
                self.report(format!("frame {ticket} is captioned and not kept yet: {failed}"));
                if self.unkept.replace((ticket, caption)).is_none() {
                    // The frame is not at fault if this process ends before the
                    // memory works again.
                    self.store.uncount_attempt(ticket)?;
                }
                Ok(Next::Pause)
            }
        }
    }

    fn set_aside(&mut self, ticket: FrameTicket, reason: &str) -> Result<Next, StoreError> {
        self.store.set_aside(ticket, reason)?;
        warn!(frame = ticket.0; "frame set aside: {reason}");
        let shown = format!("frame {ticket} was set aside: {reason}");
        self.progress.set_error(self.clock.now(), shown);
        Ok(Next::GoOn)
    }

    fn report(&self, what: String) {
        warn!("{what}");
        self.progress.set_error(self.clock.now(), what);
    }
}

/// The caption without blank edges, held at its bound; `None` when it says nothing.
fn trim_to_bound(caption: &str) -> Option<&str> {
    let caption = caption.trim();
    let end = (0..=CAPTION_BYTES_MAX.min(caption.len()))
        .rev()
        .find(|at| caption.is_char_boundary(*at))?;
    caption.get(..end).filter(|caption| !caption.is_empty())
}
