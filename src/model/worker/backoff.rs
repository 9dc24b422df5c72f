//! How long to wait before the worker is started again.
//!
//! Pure: counts failures, sees no clock.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);

/// Doubles with every failure in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Notes a failure and returns the pause that it asks for.
    pub(crate) fn failed(&mut self) -> Duration {
        let pause = FIRST.saturating_mul(1 << self.failures.min(16)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_to_the_longest_and_starts_over_after_a_success() {
        let mut backoff = Backoff::default();
        let millis: Vec<u128> = (0..10).map(|_| backoff.failed().as_millis()).collect();
        let expected = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000];
        assert_eq!(millis, expected);
        backoff.succeeded();
        assert_eq!(backoff.failed(), FIRST);
    }

    #[test]
    fn failures_without_end_do_not_overflow() {
        let mut backoff = Backoff { failures: u32::MAX };
        assert_eq!(backoff.failed(), LONGEST);
    }
}
