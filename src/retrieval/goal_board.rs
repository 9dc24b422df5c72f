//! The goals that were given out, for watchers: whoever drives the robot.
//!
//! Bounds: the newest [`EVENTS_MAX`] are kept, in memory; at most [`WATCHERS_MAX`]
//! wait at once, each no longer than it asked for, and one more is answered at once
//! with what there is. A watcher that was away gets what it missed by the number of
//! the last event that it saw. Events from before a restart are gone: the session of the
//! one who asked still has the goals.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::time::Timestamp;
use crate::retrieval::session::Goal;

/// Events kept for watchers.
const EVENTS_MAX: usize = 256;
/// Watchers that wait at once: each holds a thread of the server's calls.
const WATCHERS_MAX: usize = 4;
/// Change of a search.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) session: String,
    pub(crate) status: SearchStatus,
    pub(crate) target: String,
    /// In the order to visit; the first is where to go now.
    pub(crate) goals: Vec<Goal>,
}

/// State of a search after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchStatus {
    /// The robot was sent off.
    Dispatched,
    /// A goal was visited in vain; the robot goes to the next.
    Next,
    /// The robot found the target.
    Found,
    /// All goals were visited in vain.
    Reopened,
}

/// An event as watchers get it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PublishedEvent {
    /// Grows from event to event, also beyond a restart.
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
    pub(crate) event: Event,
}

/// The newest events, and those who wait for the next.
#[derive(Debug, Default)]
pub struct GoalBoard {
    state: Mutex<BoardState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct BoardState {
    events: VecDeque<PublishedEvent>,
    last: u64,
    watchers: usize,
    is_closed: bool,
}

impl GoalBoard {
    /// Wakes all watchers. Numbers grow beyond a restart, as the clock does.
    pub(crate) fn publish(&self, event: Event, now: Timestamp) {
        let mut state = self.lock();
        state.last = (state.last + 1).max(u64::try_from(now.micros()).unwrap_or(0));
        let number = state.last;
        state.events.push_back(PublishedEvent { number, at: now, event });
        while state.events.len() > EVENTS_MAX {
            state.events.pop_front();
        }
        self.changed.notify_all();
    }

    /// Lets all watchers go, as the daemon stops.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// The events after the one of number `after`; where there are none, waits for one.
    pub(crate) fn watch(&self, after: u64, wait: Duration) -> Vec<PublishedEvent> {
        let mut state = self.lock();
        let has_news = |it: &BoardState| it.last > after && !it.events.is_empty();
        if !has_news(&state) && state.watchers < WATCHERS_MAX {
            state.watchers += 1;
            let waited =
                self.changed.wait_timeout_while(state, wait, |it| !has_news(it) && !it.is_closed);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.watchers -= 1;
        }
        state.events.iter().filter(|it| it.number > after).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BoardState> {
        // Nothing here panics halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread::Builder;

    const LONG: Duration = Duration::from_mins(1);

    fn event(target: &str) -> Event {
        let (session, target) = ("s".to_owned(), target.to_owned());
        Event { session, status: SearchStatus::Dispatched, target, goals: Vec::new() }
    }

    fn targets(events: &[PublishedEvent]) -> Vec<&str> {
        events.iter().map(|it| it.event.target.as_str()).collect()
    }

    #[test]
    fn a_watcher_gets_what_it_missed_and_nothing_twice() {
        let board = GoalBoard::default();
        let now = Timestamp::from_seconds(1e9).unwrap();
        assert!(board.watch(0, Duration::ZERO).is_empty());
        board.publish(event("mug"), now);
        board.publish(event("book"), now);
        let all = board.watch(0, LONG);
        assert_eq!(targets(&all), ["mug", "book"]);
        assert_eq!(targets(&board.watch(all[0].number, LONG)), ["book"]);
        assert!(board.watch(all[1].number, Duration::from_millis(1)).is_empty());
    }

    #[test]
    fn a_waiting_watcher_is_woken_by_a_goal_and_by_the_end() {
        for wake in [
            (|board: &GoalBoard| board.publish(event("mug"), Timestamp::EPOCH)) as fn(&GoalBoard),
            GoalBoard::close,
        ] {
            let board = Arc::new(GoalBoard::default());
            let waiting = Arc::clone(&board);
            let thread = Builder::new().spawn(move || waiting.watch(0, LONG).len()).unwrap();
            wake(&board);
            assert!(thread.join().unwrap() <= 1);
        }
    }

    #[test]
    fn numbers_grow_beyond_a_restart_and_the_oldest_events_go() {
        let now = Timestamp::from_seconds(1e9).unwrap();
        let before = GoalBoard::default();
        before.publish(event("old"), now);
        let seen = before.watch(0, LONG)[0].number;
        let after = GoalBoard::default();
        after.publish(event("new"), now.plus(Duration::from_millis(1)));
        assert_eq!(targets(&after.watch(seen, LONG)), ["new"]);
        for _ in 0..EVENTS_MAX {
            after.publish(event("newer"), now);
        }
        let kept = after.watch(0, LONG);
        assert_eq!((kept.len(), kept[0].event.target.as_str()), (EVENTS_MAX, "newer"));
    }

    #[test]
    fn one_watcher_too_many_is_answered_at_once() {
        let board = GoalBoard::default();
        board.lock().watchers = WATCHERS_MAX;
        assert!(board.watch(0, LONG).is_empty());
    }
}
