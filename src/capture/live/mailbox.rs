//! Bounded queue between two threads that drops its oldest frame for a newer one: a stale view is
//! worth less than a fresh one.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::capture::live::LiveFrame;

/// Ends of a queue; clones share it.
#[derive(Debug, Clone)]
pub(super) struct Mailbox(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    frames_max: usize,
    bytes_max: usize,
    state: Mutex<Slots>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Slots {
    frames: VecDeque<LiveFrame>,
    bytes: usize,
    is_closed: bool,
}

/// What waiting for a frame gave.
#[derive(Debug, PartialEq)]
pub(super) enum Taken {
    Frame(LiveFrame),
    /// Not yet.
    Nothing,
    /// Nothing more comes.
    Closed,
}

impl Mailbox {
    /// Holds so many frames and bytes, and one frame in any case.
    pub(super) fn new(frames_max: usize, bytes_max: usize) -> Self {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Shared { frames_max, bytes_max, state, changed }))
    }

    /// Adds the newest frame; the count of the oldest ones that went for it.
    pub(super) fn push(&self, frame: LiveFrame) -> u64 {
        let mut slots = self.lock();
        slots.bytes += frame.image.len();
        slots.frames.push_back(frame);
        let mut dropped = 0;
        while slots.frames.len() > self.0.frames_max.max(1)
            || (slots.frames.len() > 1 && slots.bytes > self.0.bytes_max)
        {
            slots.take_first();
            dropped += 1;
        }
        drop(slots);
        self.0.changed.notify_all();
        dropped
    }

    /// Puts back the frame that was taken last; whether there was room for it.
    pub(super) fn put_back(&self, frame: LiveFrame) -> bool {
        let mut slots = self.lock();
        let bytes = slots.bytes + frame.image.len();
        let has_room = slots.frames.is_empty()
            || (slots.frames.len() < self.0.frames_max && bytes <= self.0.bytes_max);
        if has_room {
            slots.bytes = bytes;
            slots.frames.push_front(frame);
        }
        has_room
    }

    /// The oldest frame, waiting for one as long as `patience`.
    pub(super) fn take(&self, patience: Duration) -> Taken {
        let slots = self.lock();
        let is_empty = |slots: &mut Slots| slots.frames.is_empty() && !slots.is_closed;
        let waited = self.0.changed.wait_timeout_while(slots, patience, is_empty);
        let (mut slots, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match slots.take_first() {
            Some(frame) => Taken::Frame(frame),
            None if slots.is_closed => Taken::Closed,
            None => Taken::Nothing,
        }
    }

    /// Nothing more is added; what is there can still be taken.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.0.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        // Nothing panics between two changes.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn take_first(&mut self) -> Option<LiveFrame> {
        let frame = self.frames.pop_front()?;
        self.bytes = self.bytes.saturating_sub(frame.image.len());
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;

    fn frame(bytes: usize) -> LiveFrame {
        LiveFrame { taken_at: Timestamp::EPOCH, image: vec![0; bytes], located: None }
    }

    fn lengths(mailbox: &Mailbox) -> Vec<usize> {
        let take = || match mailbox.take(Duration::ZERO) {
            Taken::Frame(frame) => Some(frame.image.len()),
            Taken::Nothing | Taken::Closed => None,
        };
        std::iter::from_fn(take).collect()
    }

    #[test]
    fn the_oldest_frames_go_first_and_when_there_is_no_room() {
        let mailbox = Mailbox::new(3, 1_000);
        let dropped: Vec<u64> = [1, 2, 3, 4].map(|bytes| mailbox.push(frame(bytes))).into();
        assert_eq!(dropped, [0, 0, 0, 1]);
        assert_eq!(mailbox.push(frame(995)), 2, "by their bytes");
        assert_eq!(lengths(&mailbox), [4, 995]);
        assert_eq!(mailbox.push(frame(5_000)), 0, "one is always kept");
        assert_eq!(mailbox.push(frame(1)), 1);
        assert_eq!(lengths(&mailbox), [1]);
    }

    #[test]
    fn what_is_put_back_comes_first_where_there_is_room() {
        let mailbox = Mailbox::new(2, 1_000);
        mailbox.push(frame(2));
        assert!(mailbox.put_back(frame(1)));
        assert!(!mailbox.put_back(frame(0)));
        assert_eq!(lengths(&mailbox), [1, 2]);
    }

    #[test]
    fn a_closed_one_gives_what_it_holds_and_then_says_so() {
        let mailbox = Mailbox::new(2, 1_000);
        assert_eq!(mailbox.take(Duration::ZERO), Taken::Nothing);
        mailbox.push(frame(2));
        mailbox.close();
        assert_eq!(lengths(&mailbox), [2]);
        assert_eq!(mailbox.take(Duration::from_mins(1)), Taken::Closed);
    }
}
