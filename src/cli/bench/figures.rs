//! Figures of the recall benchmark, as JSON and the table have them.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::base::score::round_to;
use crate::base::time::{Clock as _, SystemClock};

/// Latencies of many repetitions.
#[derive(Debug, Clone, Default)]
pub(super) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(super) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(super) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = SystemClock.tick();
        let result = work();
        self.add(started.elapsed());
        result
    }

    pub(super) fn percentiles(&self) -> Percentiles {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        // By nearest rank.
        let at = |percent: usize| {
            let rank = (percent * sorted.len()).div_ceil(100);
            sorted.get(rank.saturating_sub(1)).map_or(f64::NAN, |it| it.as_secs_f64() * 1e3)
        };
        Percentiles { p50_millis: at(50), p95_millis: at(95), p99_millis: at(99) }
    }
}

/// Percentiles of latencies: to a microsecond as JSON, not a number where nothing was
/// measured.
#[expect(clippy::struct_field_names, reason = "as JSON each says its unit")]
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Percentiles {
    #[serde(serialize_with = "thousandths")]
    pub(super) p50_millis: f64,
    #[serde(serialize_with = "thousandths")]
    pub(super) p95_millis: f64,
    #[serde(serialize_with = "thousandths")]
    pub(super) p99_millis: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn thousandths<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(round_to(*value, 3))
}

/// Figures of all sizes, and what they were measured with.
#[derive(Debug, Serialize)]
pub(super) struct RecallReport {
    pub(super) version: &'static str,
    pub(super) embedder: String,
    pub(super) dimension: usize,
    pub(super) cores: usize,
    /// Number of them in each measurement.
    pub(super) questions: usize,
    pub(super) k: usize,
    pub(super) sizes: Vec<SizeFigures>,
}

/// Figures of one size.
#[derive(Debug, Serialize)]
pub(super) struct SizeFigures {
    pub(super) records: usize,
    /// `None` where the store was there already.
    pub(super) fill_seconds: Option<f64>,
    /// Time from the start of the process to its first answer to a recall: the median of a
    /// few starts.
    #[serde(serialize_with = "thousandths")]
    pub(super) first_answer_millis: f64,
    /// Time of the slowest start.
    #[serde(serialize_with = "thousandths")]
    pub(super) first_answer_millis_max: f64,
    /// Latency by share of the time that is searched, all of it first.
    pub(super) windows: Vec<WindowLatency>,
    /// Latency for several clients at once.
    pub(super) together: Option<Together>,
    /// Latency while the captioner works without a pause.
    pub(super) busy: Percentiles,
    /// Latency at a steady pace, nothing else going on.
    pub(super) paced: Percentiles,
    /// Latency at the same pace while captions come in without a pause.
    pub(super) inserting: Percentiles,
    #[serde(serialize_with = "thousandths")]
    pub(super) inserts_per_second: f64,
    pub(super) parts: RecallParts,
    /// Sealed segments.
    pub(super) segments: usize,
    /// Memory of vectors, postings and phrases together.
    pub(super) index_bytes: u64,
    pub(super) daemon_bytes: u64,
    pub(super) worker_bytes: u64,
    pub(super) disk_bytes: u64,
}

impl SizeFigures {
    /// Latency of a recall over all records for one client, nothing else going on.
    pub(super) fn recall(&self) -> Percentiles {
        let nothing = Latencies::default;
        self.windows.first().map_or_else(|| nothing().percentiles(), |it| it.recall)
    }
}

#[derive(Debug, Serialize)]
pub(super) struct WindowLatency {
    /// Share of the records' time, 0 to 1.
    pub(super) share: f64,
    pub(super) recall: Percentiles,
}

#[derive(Debug, Serialize)]
pub(super) struct Together {
    pub(super) clients: usize,
    pub(super) recall: Percentiles,
    #[serde(serialize_with = "thousandths")]
    pub(super) questions_per_second: f64,
}

/// Parts of a recall's median latency: the first three measured in one process without a
/// socket, on the same store with the same questions.
#[expect(clippy::struct_field_names, reason = "as JSON each says its unit")]
#[derive(Debug, Serialize)]
pub(super) struct RecallParts {
    #[serde(serialize_with = "thousandths")]
    pub(super) embed_millis: f64,
    #[serde(serialize_with = "thousandths")]
    pub(super) search_millis: f64,
    #[serde(serialize_with = "thousandths")]
    pub(super) hydrate_millis: f64,
    /// Of that, the decryption of the records.
    #[serde(serialize_with = "thousandths")]
    pub(super) open_millis: f64,
    /// Encryption of what one insertion writes.
    #[serde(serialize_with = "thousandths")]
    pub(super) seal_millis: f64,
    /// Rest of the recall through the socket.
    #[serde(serialize_with = "thousandths")]
    pub(super) wire_millis: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let mut latencies = Latencies::default();
        for millis in (1..=200).rev() {
            latencies.add(Duration::from_millis(millis));
        }
        let Percentiles { p50_millis, p95_millis, p99_millis } = latencies.percentiles();
        assert!((p50_millis - 100.0).abs() < 1e-9, "{p50_millis}");
        assert!((p95_millis - 190.0).abs() < 1e-9, "{p95_millis}");
        assert!((p99_millis - 198.0).abs() < 1e-9, "{p99_millis}");
        let mut one = Latencies::default();
        one.add(Duration::from_millis(7));
        assert!((one.percentiles().p99_millis - 7.0).abs() < 1e-9);
        assert!(Latencies::default().percentiles().p50_millis.is_nan());
    }
}
