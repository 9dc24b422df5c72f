//! The thread that keeps a corpus: it seals, merges and drops in the background, at
//! the lowest priority, and ends at once when asked to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, bounded};
use log::{error, info, warn};

use crate::base::stop::Stop;
use crate::base::time::Clock;
use crate::search::Corpus;
use crate::search::keep::{KeepError, Kept, Options};
use crate::store::Store;

/// Looks at least so often for what has grown too old.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// Pause after a failure; doubled each time, up to the longest.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(300);
/// The lowest priority there is: it takes what time nobody else wants.
const NICE: i32 = 19;

/// Wakes the keeper; rung by whoever closes a piece.
#[derive(Debug)]
pub(super) struct Bell {
    ring: Sender<()>,
    heard: Receiver<()>,
}

impl Default for Bell {
    fn default() -> Self {
        // One ring is remembered; more would say nothing new.
        let (ring, heard) = bounded(1);
        Self { ring, heard }
    }
}

impl Bell {
    pub(super) fn ring(&self) {
        // Where it is full, it has been rung already.
        let _ringing = self.ring.try_send(());
    }

    fn wait(&self, longest: Duration) {
        let _rung = self.heard.recv_timeout(longest);
    }
}

/// A running keeper; it ends when this is dropped.
#[derive(Debug)]
pub struct Keeper {
    corpus: Arc<Corpus>,
    options: Options,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub fn start(
        corpus: Arc<Corpus>,
        store: Store,
        options: Options,
        clock: Arc<dyn Clock>,
    ) -> std::io::Result<Self> {
        let stop = Stop::default();
        let work = Work {
            corpus: Arc::clone(&corpus),
            store,
            options: options.clone(),
            clock,
            stop: stop.clone(),
        };
        let thread = thread::Builder::new().name("segments".to_owned()).spawn(|| work.run())?;
        corpus.set_kept(true);
        Ok(Self { corpus, options, stop, thread: Some(thread) })
    }

    /// Whether there is nothing left to seal or merge.
    pub fn is_settled(&self) -> bool {
        self.corpus.is_settled(&self.options)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.ask();
        self.corpus.set_kept(false);
        self.corpus.bell.ring();
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
}

impl Work {
    fn run(self) {
        give_way();
        let mut pause = RETRY_MIN;
        while !self.stop.is_asked() {
            match self.step() {
                Ok(Kept::Nothing | Kept::Stopped) => self.corpus.bell.wait(LOOK_EVERY),
                Ok(kept) => {
                    pause = RETRY_MIN;
                    say(kept);
                }
                Err(error) => {
                    error!(error:%; "the index could not be kept; its records are found all the same");
                    self.stop.sleep(pause);
                    pause = (pause * 2).min(RETRY_MAX);
                }
            }
        }
    }

    fn step(&self) -> Result<Kept, KeepError> {
        let stop = || self.stop.is_asked();
        let keep = || self.corpus.keep(&self.store, &self.options, self.clock.now(), &stop);
        catch_unwind(AssertUnwindSafe(keep)).unwrap_or(Err(KeepError::Panicked))
    }
}

fn say(kept: Kept) {
    match kept {
        Kept::Sealed { rows } => info!(rows; "segment sealed"),
        Kept::Merged { segments, rows } => info!(segments, rows; "segments merged"),
        Kept::Dropped { segments, rows } => info!(segments, rows; "oldest records dropped"),
        Kept::Nothing | Kept::Stopped => {}
    }
}

/// On Linux a thread has a priority of its own.
fn give_way() {
    let thread = rustix::thread::gettid();
    if let Err(error) = rustix::process::setpriority_process(Some(thread), NICE) {
        warn!(error:%; "the index is kept at ordinary priority");
    }
}
