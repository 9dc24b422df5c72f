//! Percentiles, and the table of results.

use std::fmt;
use std::time::Duration;

use engram::base::time::{Clock as _, SystemClock};

/// How long each of many repetitions took.
#[derive(Default)]
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = SystemClock.tick();
        let result = work();
        self.add(started.elapsed());
        result
    }

    /// By nearest rank, in milliseconds.
    fn millis(&self, percentile: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort();
        let rank = (percentile / 100.0 * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).map_or(f64::NAN, |it| it.as_secs_f64() * 1e3)
    }
}

/// All that was measured at one size.
pub(crate) struct Row {
    pub(crate) records: usize,
    pub(crate) start_millis: f64,
    pub(crate) recall: Latencies,
    pub(crate) busy: Latencies,
    pub(crate) embed: Latencies,
    pub(crate) search: Latencies,
    pub(crate) hydrate: Latencies,
    pub(crate) memory_mib: [f64; 2],
}

/// What the rows' columns mean.
pub(crate) fn heading(questions: usize) -> String {
    format!(
        "recall_best_match over the socket, {questions} questions a size, milliseconds\n\n\
         | records | start | p50 | p95 | p99 | busy p50 | busy p99 | p99 busy/idle \
         | embed p50 | search p50 | hydrate p50 | wire p50 | daemon MiB | worker MiB |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.embed, &self.search, &self.hydrate].map(|it| it.millis(50.0));
        let wire = self.recall.millis(50.0) - parts.iter().sum::<f64>();
        let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|it| self.recall.millis(it));
        let [busy50, busy99] = [50.0, 99.0].map(|it| self.busy.millis(it));
        let ratio = busy99 / p99;
        let [embed, search, hydrate] = parts;
        let [daemon, worker] = self.memory_mib;
        write!(
            f,
            "| {} | {:.0} | {p50:.3} | {p95:.3} | {p99:.3} | {busy50:.3} | {busy99:.3} | {ratio:.1} \
             | {embed:.3} | {search:.3} | {hydrate:.3} | {wire:.3} | {daemon:.0} | {worker:.0} |",
            self.records, self.start_millis
        )
    }
}
