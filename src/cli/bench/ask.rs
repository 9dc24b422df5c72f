//! Asks a daemon through its socket and times the answers.

use std::path::Path;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use serde_json::{Map, Value, json};

use crate::base::time::{Clock as _, SystemClock};
use crate::cli::bench::figures::Latencies;
use crate::cli::bench::household::HouseholdWords;
use crate::cli::bench::workload::{Workload, moment};
use crate::cli::client::{Client, ClientOptions};
use crate::tools::object_retrieval::recall_best_match::RecallBestMatch;
use crate::tools::tool::Tool as _;

/// Records that a recall asks for.
pub(super) const K: usize = 10;

/// Questions for one daemon.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asker<'a> {
    pub(super) socket: &'a Path,
    pub(super) workload: &'a Workload,
    /// Records in the daemon; windows hold a share of them.
    pub(super) records: usize,
}

impl Asker<'_> {
    /// Asks one question after another, each within a window somewhere in time that holds
    /// `share` of the records.
    pub(super) fn ask(&self, count: usize, seed: u64, share: f64) -> anyhow::Result<Latencies> {
        let mut client = Client::connect(self.socket, ClientOptions::default())?;
        let mut windows = HouseholdWords::new(seed);
        let mut latencies = Latencies::default();
        for question in self.workload.questions(seed).take(count) {
            let arguments = self.arguments(&question, share, &mut windows);
            let started = SystemClock.tick();
            recall(&mut client, arguments)?;
            latencies.add(started.elapsed());
        }
        Ok(latencies)
    }

    /// Asks `per_second` questions a second, whether or not the last one is answered in
    /// time: a late answer makes the next ones late, and that counts.
    pub(super) fn ask_at_pace(
        &self,
        count: usize,
        seed: u64,
        per_second: u32,
    ) -> anyhow::Result<Latencies> {
        let mut client = Client::connect(self.socket, ClientOptions::default())?;
        let mut windows = HouseholdWords::new(seed);
        let mut latencies = Latencies::default();
        let pause = Duration::from_secs(1) / per_second;
        let mut due = SystemClock.tick();
        for question in self.workload.questions(seed).take(count) {
            due += pause;
            let started = wait_until(due);
            recall(&mut client, self.arguments(&question, 1.0, &mut windows))?;
            latencies.add(started.elapsed());
        }
        Ok(latencies)
    }

    /// Asks `count` questions in all from several clients at once; returns the time of all
    /// as well.
    pub(super) fn ask_together(
        &self,
        count: usize,
        clients: usize,
    ) -> anyhow::Result<(Latencies, Duration)> {
        let started = SystemClock.tick();
        let each = (count / clients).max(1);
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for seed in (10..).take(clients) {
                let client = Builder::new().name(format!("client-{seed}"));
                threads.push(client.spawn_scoped(scope, move || self.ask(each, seed, 1.0))?);
            }
            let mut all = Latencies::default();
            for thread in threads {
                all.append(thread.join().map_err(|_panic| anyhow!("a client panicked"))??);
            }
            Ok((all, started.elapsed()))
        })
    }

    fn arguments(
        &self,
        question: &str,
        share: f64,
        windows: &mut HouseholdWords,
    ) -> Map<String, Value> {
        let mut arguments = Map::new();
        arguments.insert("query".to_owned(), json!(question));
        arguments.insert("k".to_owned(), json!(K));
        if share < 1.0 {
            let (first, last) = window(self.records, share, windows);
            arguments.insert("search_start_time".to_owned(), json!(moment(first).seconds()));
            arguments.insert("search_end_time".to_owned(), json!(moment(last).seconds()));
        }
        arguments
    }
}

/// First and last record of a window that holds a share of all.
fn window(records: usize, share: f64, place: &mut HouseholdWords) -> (usize, usize) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to records")]
    let held = ((records as f64 * share).round() as usize).clamp(1, records.max(1));
    let first = place.below(records.saturating_sub(held) + 1);
    (first, first + held - 1)
}

/// Waits for the next slot; returns the moment from which the wait for an answer counts.
fn wait_until(due: Instant) -> Instant {
    let left = due.saturating_duration_since(SystemClock.tick());
    if left.is_zero() {
        return due;
    }
    thread::sleep(left);
    SystemClock.tick()
}

fn recall(client: &mut Client, arguments: Map<String, Value>) -> anyhow::Result<()> {
    let reply = client.call(RecallBestMatch::NAME, arguments)?;
    ensure!(!reply.is_error, "recall_best_match failed: {}", reply.text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_their_share_and_end_with_the_records() {
        let mut place = HouseholdWords::new(3);
        let mut firsts = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let (first, last) = window(1_000, 0.01, &mut place);
            assert_eq!(last - first, 9);
            assert!(last < 1_000, "{last}");
            firsts.insert(first);
        }
        assert!(firsts.len() > 100, "windows lie anywhere");
        let (first, last) = window(50, 0.001, &mut place);
        assert_eq!(first, last, "never empty");
        assert_eq!(window(50, 1.0, &mut place), (0, 49));
    }
}
