//! Recovery: opens the index of a store, whole segments as they are, everything else
//! from the records.
//!
//! The records of a damaged segment become growing segments, found at once and sealed
//! anew by the compactor. So do records that no segment holds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use log::{error, info, warn};

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::index::bytes::BadBytes;
use crate::index::lexical::AnalysedText;
use crate::language::deeds;
use crate::language::mention::Mention;
use crate::search::seal::{LoadError, NewSegment};
use crate::search::segment::{GrowingSegment, MutableState, SealedSegment, Segment};
use crate::search::{Corpus, GROWING_ROWS_MAX, compaction};
use crate::store::segment_meta::{Amendment, SegmentMeta, SegmentNumber};
use crate::store::{Record, Store, StoreError};

impl Corpus {
    /// Opens the corpus of a store, in which nobody writes meanwhile.
    pub fn open(store: &Store) -> Result<Self, StoreError> {
        Self::open_with(store, GROWING_ROWS_MAX)
    }

    /// As [`Corpus::open`], with growing segments of another size.
    pub fn open_with(store: &Store, growing_rows_max: usize) -> Result<Self, StoreError> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let recovery = Recovery { store, growing_rows_max, threads };
        let metas = store.segments()?;
        let mut segments = recovery.with_unsealed(recovery.load_segments(&metas)?)?;
        let found: u64 = segments.iter().map(count_held).sum();
        if found != store.record_count() && !metas.is_empty() {
            error!(
                found, records = store.record_count();
                "the index does not hold the records that are there, and is made anew"
            );
            let numbers: Vec<SegmentNumber> = metas.iter().map(|meta| meta.number).collect();
            store.replace_segments(&numbers, &[], &[])?;
            segments = recovery.with_unsealed(Vec::new())?;
        }
        Ok(Self::of(store.space().dimension, segments, growing_rows_max))
    }
}

/// What is wrong with an index, and is put right by itself at a start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexFaults {
    pub segments: usize,
    /// Of those, the ones that cannot be read whole, with the reason.
    pub damaged: Vec<(SegmentNumber, String)>,
    /// Records that the segments which are whole hold, and that there are beyond them.
    pub rows: u64,
    pub unsealed: u64,
    /// Records that are there, and those of them that cannot be read.
    pub records: u64,
    pub unreadable: u64,
}

impl IndexFaults {
    /// Reads all segments of a store with their graphs; changes nothing.
    pub fn of(store: &Store) -> Result<Self, StoreError> {
        let recovery = Recovery { store, growing_rows_max: GROWING_ROWS_MAX, threads: 1 };
        let metas = store.segments()?;
        let amendments = store.amendments()?;
        let mut faults =
            Self { segments: metas.len(), records: store.record_count(), ..Self::default() };
        let mut held = Vec::new();
        for meta in &metas {
            let range = meta.first..=meta.last;
            match recovery.load(meta) {
                Ok(sealed) => {
                    let segment = Segment::Sealed(Arc::new(sealed));
                    let own: Vec<(RecordId, Amendment)> =
                        amendments.iter().filter(|(id, _)| range.contains(id)).copied().collect();
                    compaction::amend(&segment, &own);
                    faults.rows += count_held(&segment);
                    held.push(range);
                }
                Err(LoadError::Store(error)) if !error.concerns_one_value() => return Err(error),
                Err(error) => {
                    faults.damaged.push((meta.number, error.to_string()));
                    held.push(range);
                }
            }
        }
        let is_held = |id: RecordId| held.iter().any(|range| range.contains(&id));
        for record in store.scan() {
            match record {
                Ok((record, _)) if is_held(record.id) => {}
                Ok(_) => faults.unsealed += 1,
                Err(error) if error.concerns_one_value() => faults.unreadable += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(faults)
    }

    /// Whether the segments that are whole hold another number of records than are there.
    pub fn differ(&self) -> bool {
        let found = self.rows + self.unsealed;
        // One that cannot be read may be a row or not.
        let expected = found..=found + self.unreadable;
        self.damaged.is_empty() && !expected.contains(&self.records)
    }
}

/// Records that a segment accounts for.
fn count_held(segment: &Segment) -> u64 {
    let unreadable = match segment {
        Segment::Sealed(sealed) => sealed.meta.unreadable,
        Segment::Growing(open) => open.body().unreadable,
    };
    segment.read().live_rows() as u64 + u64::from(unreadable)
}

/// Threads, at most: each that loads a segment holds the bytes of one beside it.
const THREADS_MAX: usize = 4;
/// Records read from the store at a time, before their captions are analysed.
const BLOCK_RECORDS: usize = 1_024;
/// Captions worth a thread of their own, at least.
const SHARE_RECORDS_MIN: usize = 128;

struct Recovery<'a> {
    store: &'a Store,
    growing_rows_max: usize,
    threads: usize,
}

impl Recovery<'_> {
    /// Loads the segments that are whole; drops the others from the store.
    fn load_segments(&self, metas: &[SegmentMeta]) -> Result<Vec<Arc<SealedSegment>>, StoreError> {
        let amendments = self.store.amendments()?;
        let (mut whole, mut damaged) = (Vec::new(), Vec::new());
        for (meta, loaded) in metas.iter().zip(self.load_all(metas)) {
            match loaded {
                Ok(sealed) => whole.push(Arc::new(sealed)),
                Err(LoadError::Store(error)) if !error.concerns_one_value() => return Err(error),
                Err(error) => {
                    let number = meta.number.0;
                    error!(segment = number, error:%; "a segment of the index is made anew from its records");
                    damaged.push(meta.number);
                }
            }
        }
        if !damaged.is_empty() {
            self.store.replace_segments(&damaged, &[], &[])?;
        }
        for sealed in &whole {
            let range = sealed.meta.first..=sealed.meta.last;
            let own: Vec<(RecordId, Amendment)> =
                amendments.iter().filter(|(id, _)| range.contains(id)).copied().collect();
            compaction::amend(&Segment::Sealed(Arc::clone(sealed)), &own);
        }
        Ok(whole)
    }

    /// Loads each segment, in several threads: most of a start is reading and checking
    /// them.
    fn load_all(&self, metas: &[SegmentMeta]) -> Vec<Result<SealedSegment, LoadError>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = BTreeMap::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(meta) = metas.get(at) else { return done };
                done.insert(at, self.load(meta));
            }
        };
        let helpers = self.threads.min(metas.len()).saturating_sub(1);
        let mut done = thread::scope(|scope| {
            let spawn = |_| {
                let named = thread::Builder::new().name("segment-load".to_owned());
                // Where no thread can be had, this one loads all of them.
                named.spawn_scoped(scope, work).ok()
            };
            let helping: Vec<_> = (0..helpers).filter_map(spawn).collect();
            let mut done = work();
            for helper in helping {
                done.extend(helper.join().unwrap_or_default());
            }
            done
        });
        // A helper that panicked has taken what it loaded with it.
        let each = metas.iter().enumerate();
        each.map(|(at, meta)| done.remove(&at).unwrap_or_else(|| self.load(meta))).collect()
    }

    fn load(&self, meta: &SegmentMeta) -> Result<SealedSegment, LoadError> {
        let made = NewSegment::read(self.store, meta)?;
        let expected = usize::try_from(meta.rows).unwrap_or(usize::MAX);
        let dimension = self.store.space().dimension;
        let ids = &made.body.ids;
        let range = meta.first..=meta.last;
        let inside = ids.first().is_none_or(|it| range.contains(&it))
            && ids.last().is_none_or(|it| range.contains(&it));
        if made.rows() != expected || made.body.vectors.dimension() != dimension || !inside {
            let reason = "it is not the one that its name says";
            return Err(BadBytes::Content { kind: "a segment", reason }.into());
        }
        let state = MutableState { columns: made.columns, ..MutableState::default() };
        Ok(SealedSegment::new(meta.clone(), made.body, state))
    }

    /// The sealed segments, and growing ones of all records that are in none of them, in
    /// the order of records.
    fn with_unsealed(
        &self,
        all_sealed: Vec<Arc<SealedSegment>>,
    ) -> Result<Vec<Segment>, StoreError> {
        let mut segments = Vec::new();
        let mut next = RecordId(0);
        let mut replayed = 0;
        for sealed in all_sealed {
            let (first, last) = (sealed.meta.first, sealed.meta.last);
            if next < first {
                replayed += self.replay(next, RecordId(first.0 - 1), &mut segments)?;
            }
            segments.push(Segment::Sealed(sealed));
            next = RecordId(last.0.saturating_add(1));
        }
        replayed += self.replay(next, RecordId(u64::MAX), &mut segments)?;
        if replayed > self.growing_rows_max {
            info!(records = replayed; "records without a segment are being indexed; they are found meanwhile");
        }
        Ok(segments)
    }

    /// Appends growing segments of the records from `first` to `last`.
    fn replay(
        &self,
        first: RecordId,
        last: RecordId,
        segments: &mut Vec<Segment>,
    ) -> Result<usize, StoreError> {
        let mut open: Option<Arc<GrowingSegment>> = None;
        let mut rows = 0;
        let mut entries = self.store.scan_between(first, last).with_ids();
        loop {
            let block: Vec<ScannedRecord> = entries.by_ref().take(BLOCK_RECORDS).collect();
            if block.is_empty() {
                return Ok(rows);
            }
            let captions = self.read_captions(&block);
            for ((id, entry), caption) in block.into_iter().zip(captions) {
                let open = match &open {
                    Some(open) if open.rows() < self.growing_rows_max => open,
                    _ => {
                        let new = Arc::new(GrowingSegment::new(self.store.space().dimension));
                        segments.push(Segment::Growing(Arc::clone(&new)));
                        open.insert(new)
                    }
                };
                match entry {
                    Ok((record, vector)) => {
                        let (text, things) = caption.unwrap_or_else(|| read_caption(&record));
                        open.push(&record, &vector, text, things);
                        rows += 1;
                    }
                    // One record lost is no reason to withhold the others.
                    Err(error) if error.concerns_one_value() => {
                        warn!(error:%; "a record cannot be read and is left out");
                        open.skip(id);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Analyses the caption of each readable record, in the order of `block`, in several
    /// threads: with a full growing segment it is most of a start.
    fn read_captions(&self, block: &[ScannedRecord]) -> Vec<Option<AnalysedCaption>> {
        let share = block.len().div_ceil(self.threads).max(SHARE_RECORDS_MIN);
        let mut shares = block.chunks(share);
        let own = shares.next().unwrap_or_default();
        thread::scope(|scope| {
            let spawn = |share| {
                let named = thread::Builder::new().name("caption-read".to_owned());
                (share, named.spawn_scoped(scope, move || captions(share)).ok())
            };
            let helping: Vec<_> = shares.map(spawn).collect();
            let mut all = captions(own);
            for (share, helper) in helping {
                // Where there was no thread, or it panicked, this one reads its share.
                let read = helper.and_then(|it| it.join().ok());
                all.extend(read.unwrap_or_else(|| captions(share)));
            }
            all
        })
    }
}

type ScannedRecord = (RecordId, Result<(Record, Embedding), StoreError>);
/// Analysed caption: its terms and its mentions.
type AnalysedCaption = (AnalysedText, Vec<Mention>);

fn read_caption(record: &Record) -> AnalysedCaption {
    (AnalysedText::new(&record.caption), deeds::index_mentions(&record.parsed))
}

fn captions(entries: &[ScannedRecord]) -> Vec<Option<AnalysedCaption>> {
    let read =
        |(_, entry): &ScannedRecord| entry.as_ref().ok().map(|(record, _)| read_caption(record));
    entries.iter().map(read).collect()
}
