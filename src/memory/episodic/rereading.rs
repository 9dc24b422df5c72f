//! Rereads captions in the background: those that another reader parsed, an older engram's or
//! the rules, so that an old store is understood as well as a new one.
//!
//! Goes on after a restart where it was. Meanwhile every record is found by what the reader
//! before said of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use log::{error, info, warn};

use crate::base::RecordId;
use crate::base::backoff::Backoff;
use crate::base::priority::set_niceness;
use crate::base::stop::Stop;
use crate::language::caption::ParsedCaption;
use crate::memory::episodic::MemoryError;
use crate::memory::episodic::captions::CaptionReader;
use crate::memory::episodic::vocabulary::Vocabulary;
use crate::search::Corpus;
use crate::search::compaction::CompactionError;
use crate::store::rereading::Rereading;
use crate::store::{Store, StoreError};

/// Captions between two batches of the store: a kill costs a second of reading.
const AT_ONCE: usize = 256;
/// Nobody waits for it.
const NICENESS: i32 = 19;
/// Pause after a failure; doubled each time, up to the longest.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_mins(5);

/// What it works with.
pub(super) struct RereadingParts {
    pub(super) store: Store,
    pub(super) corpus: Arc<Corpus>,
    pub(super) captions: CaptionReader,
    pub(super) vocabulary: Arc<Vocabulary>,
}

/// A running rereading; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Rereader {
    stop: Stop,
    left: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Rereader {
    /// `None` where there is nothing to read again. Call it before the first caption comes in,
    /// with the reader that parses it.
    pub(super) fn start(parts: RereadingParts) -> Result<Option<Self>, MemoryError> {
        let Some(reader) = parts.captions.name() else { return Ok(None) };
        let at = parts.store.rereading(&reader)?;
        if at.is_done() {
            return Ok(None);
        }
        let (stop, left) = (Stop::default(), Arc::new(AtomicU64::new(count_left(&at))));
        let work = Work { parts, at, stop: stop.clone(), left: Arc::clone(&left) };
        let named = thread::Builder::new().name("rereading".to_owned());
        let thread = named.spawn(|| work.run()).map_err(MemoryError::Thread)?;
        Ok(Some(Self { stop, left, thread: Some(thread) }))
    }

    pub(super) fn ask_to_stop(&self) {
        self.stop.ask();
    }

    /// Records that are not yet found by what the new reader says.
    pub(super) fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }
}

impl Drop for Rereader {
    fn drop(&mut self) {
        self.stop.ask();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            error!("the thread that reads captions again panicked");
        }
    }
}

fn count_left(at: &Rereading) -> u64 {
    at.end.0.saturating_sub(at.indexed_to.0)
}

struct Work {
    parts: RereadingParts,
    at: Rereading,
    stop: Stop,
    left: Arc<AtomicU64>,
}

impl Work {
    fn run(mut self) {
        if let Err(error) = set_niceness(NICENESS) {
            warn!(error:%; "captions are read again at ordinary priority");
        }
        info!(records = count_left(&self.at); "captions are read again, by another reader than theirs");
        let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX);
        while !self.stop.is_asked() && !self.at.is_done() {
            match self.step() {
                Ok(()) => backoff.reset(),
                Err(error) => {
                    error!(error:%; "captions could not be read again; they are found as before");
                    self.stop.sleep(backoff.next_pause());
                }
            }
            self.left.store(count_left(&self.at), Ordering::Relaxed);
        }
        if self.at.is_done() {
            info!("all captions are read again");
        }
    }

    /// All captions first, then the segments: a segment is written once.
    fn step(&mut self) -> Result<(), CompactionError> {
        if self.at.parsed_to < self.at.end { Ok(self.parse_some()?) } else { self.index_some() }
    }

    fn parse_some(&mut self) -> Result<(), StoreError> {
        let RereadingParts { store, captions, vocabulary, .. } = &self.parts;
        let mut parsed: Vec<(RecordId, ParsedCaption)> = Vec::new();
        for (id, caption) in store.captions_to_reread(&self.at, AT_ONCE)? {
            if self.stop.is_asked() {
                return Ok(());
            }
            parsed.push((id, captions.read(&caption)));
        }
        vocabulary.learn_from(parsed.iter().map(|(_, parsed)| parsed));
        let parsed_to = parsed.last().map_or(self.at.end, |(last, _)| RecordId(last.0 + 1));
        let at = Rereading { parsed_to, ..self.at.clone() };
        store.put_reread(&parsed, &at)?;
        self.at = at;
        Ok(())
    }

    fn index_some(&mut self) -> Result<(), CompactionError> {
        let RereadingParts { store, corpus, .. } = &self.parts;
        let stop = || self.stop.is_asked();
        let next = corpus.renew_phrases(store, self.at.indexed_to, &stop)?;
        if self.stop.is_asked() {
            return Ok(());
        }
        let indexed_to = next.unwrap_or(self.at.end);
        let at = Rereading { indexed_to, ..self.at.clone() };
        store.put_reread(&[], &at)?;
        self.at = at;
        Ok(())
    }
}
