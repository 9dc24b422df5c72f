//! One step of compaction: lets go of what is beyond the retention, seals a full growing
//! segment, or merges neighbours, as the merge policy and the options say.
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
use crate::search::retention::RetentionWitness;
use crate::search::seal::{self, NewSegment, StopCheck};
use crate::search::segment::{GrowingSegment, MutableState, SealedSegment, Segment};
use crate::search::{Corpus, GROWING_ROWS_MAX};
use crate::store::segment_meta::{Amendment, SegmentNumber};
use crate::store::{Store, StoreError};

/// Retention, and the sizes of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Records whose last frame is older go, within a 64th of this and a day at most.
    pub age_max: Option<Duration>,
    /// When there are a 64th more, the oldest beyond it go.
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

/// Least number of segments under a retention: those that are out as a whole go at little
/// cost, and one that is out in part is written anew without that.
const PORTIONS: u32 = 8;
/// Fewer rows make no segment by themselves.
const PORTION_ROWS_MIN: u64 = 64;

impl Options {
    fn limits(&self) -> merge::MergeLimits {
        let rows = self.portion_rows().unwrap_or(u64::MAX).min(u64::from(self.segment_rows_max));
        let rows_max = u32::try_from(rows).unwrap_or(u32::MAX);
        let spanning_rows_max = u32::try_from(GROWING_ROWS_MAX).unwrap_or(u32::MAX);
        merge::MergeLimits { rows_max, span_max: self.portion_span(), spanning_rows_max }
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
        witness: &dyn RetentionWitness,
        stop: StopCheck<'_>,
    ) -> Result<Compaction, CompactionError> {
        let _alone = self.rebuild_alone();
        let kept = self.let_go(store, (options, now), witness, stop)?;
        if kept != Compaction::Nothing {
            return Ok(kept);
        }
        self.close_if_due(options);
        if let Some(growing) = self.closed_segment() {
            return self.seal(store, &growing, stop);
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

    /// Says by which options a compactor runs, so that insertions may wait for it; `None`
    /// where none does.
    pub(super) fn set_compacting(&self, options: Option<&Options>) {
        let mut changes = self.changes_at_once();
        changes.writing.has_compactor = options.is_some();
        changes.writing.records_due = options.and_then(Options::records_due);
        changes.writing.records_bound = options.and_then(Options::records_bound);
        drop(changes);
        self.sealed.notify_all();
    }

    /// Whether [`Corpus::compact`] would find nothing to seal and nothing to merge.
    pub fn is_settled(&self, options: &Options) -> bool {
        self.closed_segments() == 0
            && merge::next(&self.sealed_segments().1, &options.limits()).is_none()
    }

    /// Closes the growing segment when it alone is a portion of what is retained, and when
    /// something of it is gone: what that said stays in memory until then.
    fn close_if_due(&self, options: &Options) {
        let mut changes = self.changes_at_once();
        let segments = self.segments();
        let Some(tail) = segments.last() else { return };
        let reader = tail.read();
        let (rows, live) = (reader.rows() as u64, reader.live_rows() as u64);
        drop(reader);
        let is_full = options.portion_rows().is_some_and(|max| rows >= max);
        if is_full || (live < rows && !options.keeps_all()) {
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
