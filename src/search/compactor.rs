//! Compactor: the background thread that runs compaction, at low priority unless much
//! waits for it. Ends at once when asked to.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use log::{error, info, warn};

use crate::base::backoff::Backoff;
use crate::base::priority::set_niceness;
use crate::base::stop::Stop;
use crate::base::time::{Clock, Timestamp};
use crate::search::Corpus;
use crate::search::compaction::{Compaction, CompactionError, Options};
use crate::search::retention::RetentionWitness;
use crate::search::retention_clock::RetentionClock;
use crate::store::Store;

/// Longest pause between two checks for what has grown too old.
const CHECK_INTERVAL: Duration = Duration::from_mins(1);
/// Pause after a failure; doubled each time, up to the longest.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_mins(5);
/// Niceness of a step by the closed segments that wait when it begins: 0 is that of
/// searches, 19 the lowest priority.
///
/// Not 19: beside processes that take all there is, it gives a hundredth of a core, with
/// which 100,000 records were not sealed in ten minutes. All the while each search scans
/// every segment that waits, and in the end insertions wait, too.
fn niceness(waiting: usize) -> i32 {
    match waiting {
        0 | 1 => 10,
        2 | 3 => 5,
        _ => 0,
    }
}

/// A running compactor; it ends when this is dropped.
#[derive(Debug)]
pub struct Compactor {
    corpus: Arc<Corpus>,
    options: Options,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// Called where records have left the index on disk for good.
pub type OnGone = Box<dyn Fn() + Send + Sync>;

impl Compactor {
    pub fn start(
        corpus: Arc<Corpus>,
        store: Store,
        options: Options,
        clock: Arc<dyn Clock>,
        (witness, on_gone): (Arc<dyn RetentionWitness>, OnGone),
    ) -> std::io::Result<Self> {
        let stop = Stop::default();
        let work = Work {
            corpus: Arc::clone(&corpus),
            store,
            options: options.clone(),
            clock,
            stop: stop.clone(),
            witness,
            on_gone,
        };
        let thread = thread::Builder::new().name("segments".to_owned()).spawn(|| work.run())?;
        corpus.set_compacting(Some(&options));
        Ok(Self { corpus, options, stop, thread: Some(thread) })
    }

    /// Whether there is nothing left to seal or merge.
    pub fn is_settled(&self) -> bool {
        self.corpus.is_settled(&self.options)
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        self.stop.ask();
        self.corpus.set_compacting(None);
        self.corpus.wake.notify();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            error!("the thread that keeps the index panicked");
        }
    }
}

struct Work {
    corpus: Arc<Corpus>,
    store: Store,
    options: Options,
    clock: Arc<dyn Clock>,
    stop: Stop,
    witness: Arc<dyn RetentionWitness>,
    on_gone: OnGone,
}

impl Work {
    fn run(self) {
        let mut clock = RetentionClock::of(&*self.clock);
        let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX);
        while !self.stop.is_asked() {
            match self.step(clock.look(&*self.clock)) {
                Ok(Compaction::Nothing | Compaction::Stopped) => {
                    if let Err(error) = self.store.erase_owed() {
                        error!(error:%; "what was written over can be read until the next attempt");
                    }
                    self.corpus.wake.wait_for(CHECK_INTERVAL);
                }
                Ok(kept) => {
                    backoff.reset();
                    log_step(kept);
                    if matches!(kept, Compaction::Merged { .. } | Compaction::Dropped { .. }) {
                        (self.on_gone)();
                    }
                }
                Err(error) => {
                    error!(error:%; "the index could not be kept; its records are found all the same");
                    self.stop.sleep(backoff.next_pause());
                }
            }
        }
    }

    /// In a thread of its own: an unprivileged thread cannot lower its niceness again.
    fn step(&self, now: Timestamp) -> Result<Compaction, CompactionError> {
        let nice = niceness(self.corpus.closed_segments());
        thread::scope(|scope| {
            let step = || {
                if let Err(error) = set_niceness(nice) {
                    warn!(error:%; "the index is kept at ordinary priority");
                }
                let stop = || self.stop.is_asked();
                self.corpus.compact(&self.store, &self.options, now, &*self.witness, &stop)
            };
            let named = thread::Builder::new().name("segments-step".to_owned());
            let running = named.spawn_scoped(scope, step).map_err(CompactionError::Thread)?;
            running.join().unwrap_or(Err(CompactionError::Panicked))
        })
    }
}

fn log_step(kept: Compaction) {
    match kept {
        Compaction::Sealed { rows } => info!(rows; "segment sealed"),
        Compaction::Merged { segments, rows } => info!(segments, rows; "segments merged"),
        Compaction::Dropped { segments, rows } => {
            info!(segments, rows; "records beyond the retention removed");
        }
        Compaction::Nothing | Compaction::Stopped => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_never_falls_with_the_backlog() {
        let all: Vec<i32> = (0..20).map(niceness).collect();
        assert!(all.is_sorted_by(|less, more| less >= more), "{all:?}");
        assert_eq!((all.first(), all.last()), (Some(&10), Some(&0)));
    }
}
