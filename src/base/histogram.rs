//! How long things took: counts in buckets that a monitoring system adds up.

use std::time::Duration;

/// Counts of durations by upper bounds. Whoever holds it keeps others out.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// In seconds, ascending; what is longer counts beyond the last one.
    bounds: &'static [f64],
    /// Of each bound and beyond all, not cumulated.
    counts: Vec<u64>,
    sum: Duration,
}

impl Histogram {
    pub fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: Duration::ZERO }
    }

    pub fn observe(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        let at = self.bounds.partition_point(|bound| *bound < seconds);
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
        self.sum = self.sum.saturating_add(took);
    }

    /// Each bound with the number of durations up to it.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let mut below = 0;
        self.bounds.iter().zip(&self.counts).map(move |(bound, count)| {
            below += count;
            (*bound, below)
        })
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_up_to_its_bound_and_in_all_above() {
        let mut histogram = Histogram::new(&[0.001, 0.1, 1.0]);
        for millis in [0, 1, 2, 100, 101, 5_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let counts: Vec<(f64, u64)> = histogram.cumulative().collect();
        assert_eq!(counts, [(0.001, 2), (0.1, 4), (1.0, 5)]);
        assert_eq!((histogram.count(), histogram.sum()), (6, Duration::from_millis(5_204)));
    }
}
