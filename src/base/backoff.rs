//! Exponential backoff: pauses that double with every failure in a row, up to a bound.
//!
//! Pure: sees no clock, sleeps nowhere.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Starts with a pause of `first`; none is longer than `longest`.
    pub fn new(first: Duration, longest: Duration) -> Self {
        let first = first.min(longest);
        Self { first, longest, next: first }
    }

    /// Pause that this failure asks for.
    pub fn next_pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(self.longest);
        pause
    }

    /// After a success.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_to_the_longest_and_start_over_after_a_success() {
        let mut backoff = Backoff::new(Duration::from_millis(250), Duration::from_secs(30));
        let millis: Vec<u128> = (0..10).map(|_| backoff.next_pause().as_millis()).collect();
        let expected = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000];
        assert_eq!(millis, expected);
        backoff.reset();
        assert_eq!(backoff.next_pause(), Duration::from_millis(250));
    }

    #[test]
    fn neither_the_first_pause_nor_a_doubled_one_exceeds_the_longest() {
        let mut short = Backoff::new(Duration::from_secs(9), Duration::from_secs(2));
        assert_eq!(short.next_pause(), Duration::from_secs(2));
        let mut endless = Backoff::new(Duration::MAX, Duration::MAX);
        endless.next_pause();
        assert_eq!(endless.next_pause(), Duration::MAX);
    }
}
