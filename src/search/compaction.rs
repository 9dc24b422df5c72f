//! One step of compaction: seals a full growing segment, drops the oldest ones beyond
//! the retention, or merges neighbours, as the merge policy and the options say.
//!
//! Promise: at any moment each record is in exactly one segment for searches, and after
//! a kill in exactly one named segment or in none, to be read from the records.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::hnsw::options::BuildError;
use crate::index::merge::{self, SegmentSize};
use crate::search::Corpus;
use crate::search::seal::{self, NewSegment, StopCheck};
use crate::search::segment::{GrowingSegment, MutableState, SealedSegment, Segment};
use crate::store::segment_meta::{Amendment, SegmentNumber};
use crate::store::{Store, StoreError};

/// Retention, and the sizes of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Records older than this are dropped, a segment at a time.
    pub age_max: Option<Duration>,
    /// Beyond so many records the oldest segments are dropped.
    pub records_max: Option<u64>,
    /// Rows of a segment, at most. Larger ones would be fewer to search; their merges
    /// would take longer, and twice their size of memory.
    pub segment_rows_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { age_max: None, records_max: None, segment_rows_max: 262_144 }
    }
}

/// Least number of segments under a retention: records are dropped a whole segment at a
/// time.
const PORTIONS: u32 = 8;
/// Fewer rows make no segment by themselves.
const PORTION_ROWS_MIN: u64 = 64;

impl Options {
    fn limits(&self) -> merge::MergeLimits {
        let rows = self.portion_rows().unwrap_or(u64::MAX).min(u64::from(self.segment_rows_max));
        let rows_max = u32::try_from(rows).unwrap_or(u32::MAX);
        merge::MergeLimits { rows_max, span_max: self.portion_span() }
    }

    fn portion_rows(&self) -> Option<u64> {
        self.records_max.map(|max| (max / u64::from(PORTIONS)).max(PORTION_ROWS_MIN))
    }

    fn portion_span(&self) -> Option<Duration> {
        self.age_max.map(|max| max / PORTIONS)
    }
}

/// Outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compaction {
    /// There is nothing to do now.
    Nothing,
    Sealed {
        rows: usize,
    },
    Merged {
        segments: usize,
        rows: usize,
    },
    Dropped {
        segments: usize,
        rows: usize,
    },
    /// It was asked to stop, and left everything as it was.
    Stopped,
}

/// Why a step failed; everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CompactionError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a segment could not be built")]
    Build(#[from] BuildError),
    #[error("a thread to keep the index cannot be started: {0}")]
    Thread(std::io::Error),
    #[error("keeping the index panicked")]
    Panicked,
}

impl Corpus {
    /// Runs the next step that is due, if any; searches and writes go on meanwhile.
    pub fn compact(
        &self,
        store: &Store,
        options: &Options,
        now: Timestamp,
        stop: StopCheck<'_>,
    ) -> Result<Compaction, CompactionError> {
        let _alone = self.rebuild_alone();
        self.close_if_due(options);
        if let Some(growing) = self.closed_segment() {
            return self.seal(store, &growing, stop);
        }
        let dropped = self.drop_oldest(store, options, now)?;
        if dropped != Compaction::Nothing {
            return Ok(dropped);
        }
        let (sealed, sizes) = self.sealed_segments();
        match merge::next(&sizes, &options.limits()) {
            Some(run) => self.merge(store, sealed.get(run).unwrap_or_default(), stop),
            None => Ok(Compaction::Nothing),
        }
    }

    /// Waits until no other thread rebuilds segments.
    pub(super) fn rebuild_alone(&self) -> MutexGuard<'_, ()> {
        self.rebuilding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether a compactor runs, so that insertions may wait for it.
    pub(super) fn set_compacting(&self, has_compactor: bool) {
        self.changes_at_once().writing.has_compactor = has_compactor;
        self.sealed.notify_all();
    }

    /// Whether [`Corpus::compact`] would find nothing to seal and nothing to merge.
    pub fn is_settled(&self, options: &Options) -> bool {
        self.closed_segments() == 0
            && merge::next(&self.sealed_segments().1, &options.limits()).is_none()
    }

    /// Closes the growing segment when it alone is a portion of what is retained.
    fn close_if_due(&self, options: &Options) {
        let mut changes = self.changes_at_once();
        let segments = self.segments();
        let Some(tail) = segments.last() else { return };
        let reader = tail.read();
        let (rows, span) = (reader.rows() as u64, reader.state.columns.span());
        drop(reader);
        let is_long = options.portion_span().is_some_and(|max| {
            rows > 0 && span.is_some_and(|(first, last)| last.since(first) > max)
        });
        let is_full = options.portion_rows().is_some_and(|max| rows >= max);
        if is_long || is_full {
            changes.close();
        }
    }

    /// Oldest growing segment that takes no more records.
    fn closed_segment(&self) -> Option<Arc<GrowingSegment>> {
        let segments = self.segments();
        let (_, earlier) = segments.split_last()?;
        earlier.iter().find_map(|segment| match segment {
            Segment::Growing(growing) => Some(Arc::clone(growing)),
            Segment::Sealed(_) => None,
        })
    }

    fn sealed_segments(&self) -> (Vec<Arc<SealedSegment>>, Vec<SegmentSize>) {
        let segments = self.segments();
        let mut sealed = Vec::new();
        let mut sizes = Vec::new();
        for segment in segments.iter() {
            let Segment::Sealed(own) = segment else { continue };
            let reader = segment.read();
            let deleted = u32::try_from(reader.state.deleted.len()).unwrap_or(u32::MAX);
            let live = u32::try_from(reader.live_rows()).unwrap_or(u32::MAX);
            let span = reader.state.columns.span().unwrap_or((Timestamp::EPOCH, Timestamp::EPOCH));
            sizes.push(SegmentSize { live, deleted, span });
            sealed.push(Arc::clone(own));
        }
        (sealed, sizes)
    }

    fn seal(
        &self,
        store: &Store,
        growing: &Arc<GrowingSegment>,
        stop: StopCheck<'_>,
    ) -> Result<Compaction, CompactionError> {
        let old = [Segment::Growing(Arc::clone(growing))];
        let states = self.begin(&old);
        let Some(state) = states.first() else { return Ok(Compaction::Nothing) };
        let made = match seal::seal(growing, state, stop) {
            Ok(made) => made,
            Err(error) => return self.abandon(error),
        };
        let range = growing.body().range;
        let rows = made.as_ref().map_or(0, NewSegment::rows);
        self.replace(store, &old, &[], range, made)?;
        Ok(Compaction::Sealed { rows })
    }

    fn merge(
        &self,
        store: &Store,
        segments: &[Arc<SealedSegment>],
        stop: StopCheck<'_>,
    ) -> Result<Compaction, CompactionError> {
        let old: Vec<Segment> = segments.iter().map(|it| Segment::Sealed(Arc::clone(it))).collect();
        let states = self.begin(&old);
        let parts: Vec<(&SealedSegment, &MutableState)> =
            segments.iter().map(|it| &**it).zip(&states).collect();
        let made = match seal::merge(self.dimension, &parts, stop) {
            Ok(made) => made,
            Err(error) => return self.abandon(error),
        };
        let rows = made.as_ref().map_or(0, NewSegment::rows);
        let numbers: Vec<SegmentNumber> = segments.iter().map(|it| it.meta.number).collect();
        let ranges = segments.iter().map(|it| (it.meta.first, it.meta.last));
        let range = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.replace(store, &old, &numbers, range, made)?;
        Ok(Compaction::Merged { segments: numbers.len(), rows })
    }

    /// Begins to note amendments; returns the state before them.
    pub(super) fn begin(&self, segments: &[Segment]) -> Vec<MutableState> {
        let mut changes = self.changes_at_once();
        changes.writing.since = Some(BTreeMap::new());
        segments.iter().map(Segment::state).collect()
    }

    pub(super) fn abandon(&self, error: BuildError) -> Result<Compaction, CompactionError> {
        self.changes_at_once().writing.since = None;
        match error {
            BuildError::Stopped => Ok(Compaction::Stopped),
            BuildError::Dimension { .. }
            | BuildError::TooMany { .. }
            | BuildError::Links { .. }
            | BuildError::Thread(_)
            | BuildError::Panicked => Err(error.into()),
        }
    }

    /// Writes a segment, names it in the place of `numbers`, and puts it in the place of
    /// the segments `old`.
    pub(super) fn replace(
        &self,
        store: &Store,
        old: &[Segment],
        numbers: &[SegmentNumber],
        range: Option<(RecordId, RecordId)>,
        made: Option<NewSegment>,
    ) -> Result<(), CompactionError> {
        let written = match (&made, range) {
            (Some(made), Some(range)) => made.write(store, range).map(Some),
            (None, _) | (_, None) => Ok(None),
        };
        let mut changes = self.changes_at_once();
        let since = changes.writing.since.take().unwrap_or_default();
        let written = written?;
        let is_in = |id: &RecordId| range.is_some_and(|(first, last)| (first..=last).contains(id));
        let amendments: Vec<(RecordId, Amendment)> =
            since.into_iter().filter(|(id, _)| written.is_some() && is_in(id)).collect();
        store.replace_segments(numbers, written.as_slice(), &amendments)?;
        let sealed = written.zip(made).map(|(meta, made)| {
            let state = MutableState { columns: made.columns, ..MutableState::default() };
            let segment = Segment::Sealed(Arc::new(SealedSegment::new(meta, made.body, state)));
            amend(&segment, &amendments);
            segment
        });
        let mut segments = Vec::clone(&self.segments());
        let first = segments.iter().position(|it| old.iter().any(|old| old.is(it)));
        segments.retain(|it| !old.iter().any(|old| old.is(it)));
        if let (Some(first), Some(sealed)) = (first, sealed) {
            segments.insert(first, sealed);
        }
        self.swap(segments);
        self.sealed.notify_all();
        Ok(())
    }

    /// Drops the oldest segments of which every record is beyond the retention.
    fn drop_oldest(
        &self,
        store: &Store,
        options: &Options,
        now: Timestamp,
    ) -> Result<Compaction, CompactionError> {
        let (sealed, sizes) = self.sealed_segments();
        let mut held = self.len() as u64;
        let mut dropped = 0;
        for size in &sizes {
            let is_old = options.age_max.is_some_and(|max| now.since(size.span.1) > max);
            let left = held.saturating_sub(u64::from(size.live));
            let is_surplus = options.records_max.is_some_and(|max| left >= max);
            if !(is_old || is_surplus) {
                break;
            }
            held = left;
            dropped += 1;
        }
        let oldest = sealed.get(..dropped).unwrap_or_default();
        let Some(last) = oldest.last().map(|it| it.meta.last) else {
            return Ok(Compaction::Nothing);
        };
        let rows = sizes.iter().take(dropped).map(|it| it.live as usize).sum();
        let numbers: Vec<SegmentNumber> = oldest.iter().map(|it| it.meta.number).collect();
        let changes = self.changes_at_once();
        store.raise_floor(RecordId(last.0 + 1), &numbers)?;
        let is_below = |it: &Segment| it.read().ids().last().is_some_and(|it| it <= last);
        let mut segments = Vec::clone(&self.segments());
        if let Some((_tail, earlier)) = segments.split_last() {
            let below = earlier.iter().take_while(|it| is_below(it)).count();
            segments.drain(..below);
        }
        self.swap(segments);
        drop(changes);
        while store.remove_below_floor()? > 0 {}
        Ok(Compaction::Dropped { segments: dropped, rows })
    }
}

/// Applies amendments to a segment.
pub(super) fn amend(segment: &Segment, amendments: &[(RecordId, Amendment)]) {
    for (id, amendment) in amendments {
        let Some(row) = segment.row(*id) else { continue };
        match amendment {
            Amendment::Deleted => segment.delete(row),
            Amendment::EndsAt(end_at) => segment.extend(row, *end_at),
        }
    }
}
