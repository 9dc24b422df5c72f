//! Occurrences counted by what they are, and told seldom: the first at once, what follows
//! as a count.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::base::time::Timestamp;

/// Between two lines about the same.
const PAUSE: Duration = Duration::from_mins(1);
/// Kinds that are told apart; those beyond are counted and not told.
const KINDS_MAX: usize = 256;

/// Counts by kind. Many threads at once.
#[derive(Debug)]
pub struct Tally<K> {
    counts: Mutex<BTreeMap<K, Count>>,
}

#[derive(Debug, Clone, Copy)]
struct Count {
    all: u64,
    told: u64,
    told_at: Timestamp,
}

impl<K> Default for Tally<K> {
    fn default() -> Self {
        Self { counts: Mutex::new(BTreeMap::new()) }
    }
}

impl<K: Ord + Clone> Tally<K> {
    /// Counts one; how many there were since the last line where it is time for one.
    pub fn count(&self, kind: &K, now: Timestamp) -> Option<u64> {
        self.add(kind, 1, now)
    }

    /// As [`Tally::count`], of several at once.
    pub fn add(&self, kind: &K, times: u64, now: Timestamp) -> Option<u64> {
        // A map of whole counts: nothing panics between two changes.
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if !counts.contains_key(kind) && counts.len() >= KINDS_MAX {
            return None;
        }
        let count = counts.entry(kind.clone()).or_insert(Count { all: 0, told: 0, told_at: now });
        count.all += times;
        if count.told > 0 && now.since(count.told_at) < PAUSE {
            return None;
        }
        let untold = count.all - count.told;
        (count.told, count.told_at) = (count.all, now);
        Some(untold)
    }

    /// What was counted, by kind.
    pub fn counts(&self) -> Vec<(K, u64)> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(kind, count)| (kind.clone(), count.all)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_told_at_once_and_the_rest_as_a_count() {
        let tally = Tally::default();
        let start = Timestamp::from_seconds(1e9).unwrap();
        assert_eq!(tally.count(&"full", start), Some(1));
        for _ in 0..20 {
            assert_eq!(tally.count(&"full", start.plus(PAUSE / 2)), None);
        }
        assert_eq!(tally.count(&"broken", start), Some(1));
        assert_eq!(tally.count(&"full", start.plus(PAUSE)), Some(21));
        assert_eq!(tally.count(&"full", start.plus(PAUSE)), None);
        assert_eq!(tally.add(&"broken", 7, start.plus(PAUSE)), Some(7));
        assert_eq!(tally.counts(), [("broken", 8), ("full", 23)]);
    }

    #[test]
    fn kinds_are_bounded() {
        let tally = Tally::default();
        let told = (0..1_000).filter(|kind| tally.count(kind, Timestamp::EPOCH).is_some()).count();
        assert_eq!(told, KINDS_MAX);
    }
}
