//! The time by which retention counts: the machine's, but not at once where it was put ahead.
//!
//! A clock that jumps (a wrong answer of a time server, a board without a battery, an operator's
//! slip) would else make every record old at one blow, and what retention removes is gone.

use std::time::{Duration, Instant};

use log::{info, warn};

use crate::base::time::{Clock, Timestamp};

/// Wall clocks are set by some seconds all the time; from this on it is a jump.
const JUMP_MIN: Duration = Duration::from_hours(1);
/// How long the new time must have held, by the monotonic clock, to be believed.
const DOUBT: Duration = Duration::from_hours(24);

/// Follows a clock, but for jumps ahead that are younger than a day.
///
/// Time while the process did not run is no jump: a robot may be off for weeks, and what grew too
/// old meanwhile goes at its start. While a machine sleeps its monotonic clock stands still, so
/// that waking up is taken for a jump, and what is old by then goes a day later.
#[derive(Debug)]
pub(super) struct RetentionClock {
    believed: Timestamp,
    looked: Instant,
    /// Since when the machine's clock is ahead.
    ahead_since: Option<Instant>,
}

impl RetentionClock {
    pub(super) fn of(clock: &dyn Clock) -> Self {
        Self { believed: clock.now(), looked: clock.tick(), ahead_since: None }
    }

    /// The time that counts at this look.
    pub(super) fn look(&mut self, clock: &dyn Clock) -> Timestamp {
        let (now, tick) = (clock.now(), clock.tick());
        let passed = tick.saturating_duration_since(self.looked);
        self.looked = tick;
        let expected = self.believed.plus(passed);
        let ahead = now.since(expected);
        let is_believed = ahead < JUMP_MIN || self.doubted_for(tick, ahead) >= DOUBT;
        if is_believed && self.ahead_since.take().is_some() {
            info!("retention goes by the machine's clock again");
        }
        self.believed = if is_believed { now } else { expected };
        self.believed
    }

    fn doubted_for(&mut self, tick: Instant, ahead: Duration) -> Duration {
        let since = *self.ahead_since.get_or_insert_with(|| {
            warn!(ahead:?; "the clock was put ahead; for a day retention counts as if it were not");
            tick
        });
        tick.saturating_duration_since(since)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::base::time::SystemClock;

    const HOUR: Duration = Duration::from_hours(1);

    /// A wall clock and a monotonic one that are moved by hand.
    #[derive(Debug)]
    struct TwoClocks(Mutex<(Timestamp, Instant)>);

    impl TwoClocks {
        fn new() -> Self {
            let noon = Timestamp::EPOCH.plus(Duration::from_hours(24 * 365 * 50));
            Self(Mutex::new((noon, SystemClock.tick())))
        }

        fn run(&self, time: Duration) -> &Self {
            let mut both = self.0.lock().unwrap();
            *both = (both.0.plus(time), both.1 + time);
            drop(both);
            self
        }

        fn put_ahead(&self, time: Duration) -> &Self {
            let mut both = self.0.lock().unwrap();
            both.0 = both.0.plus(time);
            drop(both);
            self
        }

        fn put_back(&self, time: Duration) -> &Self {
            let mut both = self.0.lock().unwrap();
            both.0 = both.0.minus(time);
            drop(both);
            self
        }
    }

    impl Clock for TwoClocks {
        fn now(&self) -> Timestamp {
            self.0.lock().unwrap().0
        }

        fn tick(&self) -> Instant {
            self.0.lock().unwrap().1
        }
    }

    #[test]
    fn a_clock_that_runs_is_followed_whatever_the_pause_between_two_looks() {
        let clocks = TwoClocks::new();
        let mut seen = RetentionClock::of(&clocks);
        for hours in [0, 1, 30, 24 * 90] {
            clocks.run(HOUR * hours).put_ahead(Duration::from_secs(20));
            assert_eq!(seen.look(&clocks), clocks.now(), "after {hours} h");
        }
    }

    #[test]
    fn a_year_ahead_counts_after_a_day_only() {
        let clocks = TwoClocks::new();
        let mut seen = RetentionClock::of(&clocks);
        let before = clocks.now();
        clocks.put_ahead(HOUR * 24 * 365);
        assert_eq!(seen.look(&clocks), before);
        clocks.run(HOUR * 23);
        assert_eq!(seen.look(&clocks), before.plus(HOUR * 23));
        clocks.run(HOUR);
        assert_eq!(seen.look(&clocks), clocks.now());
    }

    #[test]
    fn a_jump_that_is_taken_back_was_none_and_the_next_is_doubted_as_long() {
        let clocks = TwoClocks::new();
        let mut seen = RetentionClock::of(&clocks);
        let year = HOUR * 24 * 365;
        clocks.put_ahead(year);
        seen.look(&clocks);
        clocks.run(HOUR * 23).put_back(year);
        assert_eq!(seen.look(&clocks), clocks.now());
        clocks.put_ahead(year).run(HOUR * 2);
        assert_eq!(seen.look(&clocks), clocks.now().minus(year));
    }

    #[test]
    fn a_clock_that_is_put_back_is_followed_at_once() {
        let clocks = TwoClocks::new();
        let mut seen = RetentionClock::of(&clocks);
        clocks.put_back(HOUR * 48);
        assert_eq!(seen.look(&clocks), clocks.now());
    }
}
