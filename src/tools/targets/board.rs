//! The goals that were given out, for whoever drives the robot to follow.
//!
//! Bounds: the newest [`EVENTS_MAX`] are kept, in memory; at most [`FOLLOWERS_MAX`]
//! wait at once, each no longer than it asked for, and one more is answered at once
//! with what there is. A follower that was away gets what it missed by the number of
//! the last event that it saw. What was given out before a restart is not told again:
//! the session of the one who asked still has it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::base::time::Timestamp;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::reply::Text;
use crate::tools::{ToolError, ToolReply};

/// Events kept for followers.
const EVENTS_MAX: usize = 256;
/// Followers that wait at once: each holds a thread of the server's calls.
const FOLLOWERS_MAX: usize = 4;
/// Longest wait of one call, in seconds: less than a call's least usual deadline.
const WAIT_SECONDS_MAX: i64 = 30;

pub(crate) const WATCH: &[Param] = &[
    Param::optional(
        "after",
        Kind::Whole { least: 0, most: i64::MAX, default: 0 },
        "Only events after the one of this number, as the reply before said in `next`.",
    ),
    Param::optional(
        "wait_seconds",
        Kind::Whole { least: 0, most: WAIT_SECONDS_MAX, default: 0 },
        "How long to wait for the first one.",
    ),
];

/// What happened to a search.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) session: String,
    /// "dispatched", "next", "found" or "reopened".
    pub(crate) status: &'static str,
    pub(crate) target: String,
    /// In the order to visit; the first is where to go now.
    pub(crate) goals: Vec<Value>,
}

/// A checked call of `watch_goals`.
#[derive(Debug)]
pub(crate) struct Request {
    after: u64,
    wait: Duration,
}

impl Request {
    pub(crate) fn parse(args: &Args) -> Result<Self, ToolError> {
        let seconds = u64::try_from(args.whole("wait_seconds")?).unwrap_or(0);
        let after = u64::try_from(args.whole("after")?).unwrap_or(0);
        Ok(Self { after, wait: Duration::from_secs(seconds) })
    }
}

/// Where goals are pinned up.
#[derive(Debug, Default)]
pub struct Board {
    pinned: Mutex<Pinned>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Pinned {
    events: VecDeque<(u64, Timestamp, Event)>,
    last: u64,
    followers: usize,
    is_closed: bool,
}

impl Board {
    /// Tells all followers. Numbers grow beyond a restart, as the clock does.
    pub(crate) fn pin(&self, event: Event, now: Timestamp) {
        let mut pinned = self.lock();
        pinned.last = (pinned.last + 1).max(u64::try_from(now.micros()).unwrap_or(0));
        let number = pinned.last;
        pinned.events.push_back((number, now, event));
        while pinned.events.len() > EVENTS_MAX {
            pinned.events.pop_front();
        }
        self.changed.notify_all();
    }

    /// Lets all followers go, as the daemon stops.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// The events after the one of number `after`; where there are none, waits for one.
    fn follow(&self, after: u64, wait: Duration) -> Vec<(u64, Timestamp, Event)> {
        let mut pinned = self.lock();
        let is_news = |it: &Pinned| it.last > after && !it.events.is_empty();
        if !is_news(&pinned) && pinned.followers < FOLLOWERS_MAX {
            pinned.followers += 1;
            let waited =
                self.changed.wait_timeout_while(pinned, wait, |it| !is_news(it) && !it.is_closed);
            pinned = waited.unwrap_or_else(PoisonError::into_inner).0;
            pinned.followers -= 1;
        }
        pinned.events.iter().filter(|(number, ..)| *number > after).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Pinned> {
        // Nothing here panics halfway through a change.
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The goals that were given out after an event.
pub(crate) fn watch(context: &Context, request: &Request) -> ToolReply {
    let zone = context.options.zone;
    let events = context.board().follow(request.after, request.wait);
    let mut text = Text::new(context.options.text_max_chars);
    let mut next = request.after;
    let mut told = Vec::with_capacity(events.len());
    if events.is_empty() {
        text.line("No goals since.");
    }
    for (number, at, Event { session, status, target, goals }) in events {
        next = number;
        let line = goals.first().map_or_else(String::new, |goal| format!(" {goal}"));
        text.line(&format!("{} {status} {target:?}{line}", zone.format(at)));
        told.push(json!({
            "number": number, "time": zone.format(at), "session": session, "status": status,
            "target": target, "goals": goals,
        }));
    }
    let mut structured = Map::new();
    structured.insert("events".to_owned(), Value::Array(told));
    structured.insert("next".to_owned(), json!(next));
    ToolReply { structured, text: text.finish(), images: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread::Builder;

    const LONG: Duration = Duration::from_secs(60);

    fn event(target: &str) -> Event {
        let (session, target) = ("s".to_owned(), target.to_owned());
        Event { session, status: "dispatched", target, goals: Vec::new() }
    }

    fn targets(events: &[(u64, Timestamp, Event)]) -> Vec<&str> {
        events.iter().map(|(.., event)| event.target.as_str()).collect()
    }

    #[test]
    fn a_follower_gets_what_it_missed_and_nothing_twice() {
        let board = Board::default();
        let now = Timestamp::from_seconds(1e9).unwrap();
        assert!(board.follow(0, Duration::ZERO).is_empty());
        board.pin(event("mug"), now);
        board.pin(event("book"), now);
        let all = board.follow(0, LONG);
        assert_eq!(targets(&all), ["mug", "book"]);
        assert_eq!(targets(&board.follow(all[0].0, LONG)), ["book"]);
        assert!(board.follow(all[1].0, Duration::from_millis(1)).is_empty());
    }

    #[test]
    fn a_waiting_follower_is_woken_by_a_goal_and_by_the_end() {
        for wake in [
            (|board: &Board| board.pin(event("mug"), Timestamp::EPOCH)) as fn(&Board),
            Board::close,
        ] {
            let board = Arc::new(Board::default());
            let waiting = Arc::clone(&board);
            let thread = Builder::new().spawn(move || waiting.follow(0, LONG).len()).unwrap();
            wake(&board);
            assert!(thread.join().unwrap() <= 1);
        }
    }

    #[test]
    fn numbers_grow_beyond_a_restart_and_the_oldest_events_go() {
        let now = Timestamp::from_seconds(1e9).unwrap();
        let before = Board::default();
        before.pin(event("old"), now);
        let seen = before.follow(0, LONG)[0].0;
        let after = Board::default();
        after.pin(event("new"), now.plus(Duration::from_millis(1)));
        assert_eq!(targets(&after.follow(seen, LONG)), ["new"]);
        for _ in 0..EVENTS_MAX {
            after.pin(event("newer"), now);
        }
        let kept = after.follow(0, LONG);
        assert_eq!((kept.len(), kept[0].2.target.as_str()), (EVENTS_MAX, "newer"));
    }

    #[test]
    fn one_follower_too_many_is_answered_at_once() {
        let board = Board::default();
        board.lock().followers = FOLLOWERS_MAX;
        assert!(board.follow(0, LONG).is_empty());
    }
}
