//! Builds a sealed segment of a growing one or of several sealed ones, writes it and
//! reads it.
//!
//! Knows which parts a segment has and how each is kept; when and in whose place it is
//! named is compaction's matter.

use std::io::Write as _;
use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::index::Row;
use crate::index::bytes::BadBytes;
use crate::index::columns::Columns;
use crate::index::hnsw::HnswIndex;
use crate::index::hnsw::build::{self, MergeSource};
use crate::index::hnsw::options::{BuildError, Options};
use crate::index::lexical::Postings as _;
use crate::index::lexical::immutable::ImmutablePostings;
use crate::index::phrases::Phrases;
use crate::search::ids::RowIds;
use crate::search::segment::{GrowingSegment, MutableState, SealedSegment, SegmentData};
use crate::store::segment_meta::{PartId, SegmentMeta};
use crate::store::{Store, StoreError};

/// The blobs of a segment.
pub(super) const IDS: PartId = PartId(0);
pub(super) const COLUMNS: PartId = PartId(1);
pub(super) const VECTORS: PartId = PartId(2);
pub(super) const WORDS: PartId = PartId(3);
pub(super) const PHRASES: PartId = PartId(4);

/// Sealed segment that is not in the index yet.
#[derive(Debug)]
pub(super) struct NewSegment {
    pub(super) body: SegmentData,
    pub(super) columns: Columns,
    /// Records of its range that could not be read.
    pub(super) unreadable: u32,
}

/// Why a segment is not whole.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Bytes(#[from] BadBytes),
}

/// Cancellation check, called again and again from several threads; `true` stops.
pub(super) type StopCheck<'a> = &'a (dyn Fn() -> bool + Sync);

/// Seals a growing segment without its deleted rows; `None` where all are.
pub(super) fn seal(
    open: &GrowingSegment,
    state: &MutableState,
    stop: StopCheck<'_>,
) -> Result<Option<NewSegment>, BuildError> {
    // A closed segment grows no more: this lock keeps nobody waiting.
    let growing = open.body();
    let deleted = &state.deleted;
    let kept = |row: &Row| !deleted.contains(row.0);
    let rows: Vec<Row> = growing.ids.iter().map(|(row, _)| row).filter(kept).collect();
    let vectors: Vec<Embedding> =
        rows.iter().filter_map(|row| growing.vectors.embedding(*row)).collect();
    if vectors.is_empty() {
        return Ok(None);
    }
    let goes_on = || goes_on(stop);
    let dimension = growing.vectors.dimension();
    let vectors = build::build(dimension, vectors.iter(), &Options::default(), &goes_on)?;
    let frozen = ImmutablePostings::freeze(&growing.words);
    let words =
        if deleted.is_empty() { frozen } else { ImmutablePostings::merge(&[(&frozen, deleted)]) };
    let phrases = Phrases::merge(&[(&growing.phrases, deleted)]);
    let body = SegmentData { ids: ids(&[(&growing.ids, deleted)]), vectors, words, phrases };
    let columns = Columns::merge(&[(&state.columns, deleted)]);
    Ok(Some(NewSegment { body, columns, unreadable: growing.unreadable }))
}

/// Merges neighbouring segments without their deleted rows; `None` where all are.
pub(super) fn merge(
    dimension: usize,
    segments: &[(&SealedSegment, &MutableState)],
    stop: StopCheck<'_>,
) -> Result<Option<NewSegment>, BuildError> {
    let of = |it: &(&SealedSegment, &MutableState)| it.0.meta.unreadable;
    let all: Vec<_> = segments.iter().map(|(it, state)| (&it.body.ids, &state.deleted)).collect();
    let ids = ids(&all);
    if ids.len() == 0 {
        return Ok(None);
    }
    let keeps: Vec<_> =
        segments.iter().map(|(_, state)| |row: Row| !state.deleted.contains(row.0)).collect();
    let sources: Vec<MergeSource<'_>> = segments
        .iter()
        .zip(&keeps)
        .map(|((it, _), keeps)| MergeSource { segment: &it.body.vectors, keeps })
        .collect();
    let goes_on = || goes_on(stop);
    let vectors = build::merge(dimension, &sources, &Options::default(), &goes_on)?;
    let words: Vec<_> =
        segments.iter().map(|(it, state)| (&it.body.words, &state.deleted)).collect();
    let columns: Vec<_> =
        segments.iter().map(|(_, state)| (&state.columns, &state.deleted)).collect();
    let words = ImmutablePostings::merge(&words);
    let phrases: Vec<_> =
        segments.iter().map(|(it, state)| (&it.body.phrases, &state.deleted)).collect();
    let body = SegmentData { ids, vectors, words, phrases: Phrases::merge(&phrases) };
    let unreadable = segments.iter().map(of).sum();
    Ok(Some(NewSegment { body, columns: Columns::merge(&columns), unreadable }))
}

impl NewSegment {
    /// Writes it to the store, without a name.
    pub(super) fn write(
        &self,
        store: &Store,
        range: (RecordId, RecordId),
    ) -> Result<SegmentMeta, StoreError> {
        let SegmentData { ids, vectors, words, phrases } = &self.body;
        let mut draft = store.draft_segment()?;
        draft.part(IDS, |to| to.write_all(&ids.to_bytes()))?;
        draft.part(COLUMNS, |to| to.write_all(&self.columns.to_bytes()))?;
        draft.part(VECTORS, |to| vectors.write(to))?;
        draft.part(WORDS, |to| to.write_all(&words.to_bytes()))?;
        draft.part(PHRASES, |to| to.write_all(&phrases.to_bytes()))?;
        let rows = u32::try_from(self.rows()).unwrap_or(u32::MAX);
        draft.finish(range, rows, self.unreadable)
    }

    /// Reads what [`NewSegment::write`] wrote.
    pub(super) fn read(store: &Store, meta: &SegmentMeta) -> Result<Self, LoadError> {
        let bytes = |part| store.read_segment_part(meta, part);
        let ids = RowIds::from_bytes(&bytes(IDS)?)?;
        let columns = Columns::from_bytes(&bytes(COLUMNS)?)?;
        let words = ImmutablePostings::from_bytes(&bytes(WORDS)?)?;
        let phrases = Phrases::from_bytes(&bytes(PHRASES)?)?;
        let mut reader = store.segment_part(meta, VECTORS)?;
        let len = reader.bytes();
        let vectors = HnswIndex::read(&mut reader, len).map_err(|error| reader.fault(&error))?;
        let unreadable = meta.unreadable;
        let rows = [columns.len(), vectors.len(), words.rows(), phrases.rows()];
        if rows.iter().any(|it| *it != ids.len()) {
            let reason = "its parts differ in their number of rows";
            return Err(BadBytes::Content { kind: "a segment", reason }.into());
        }
        Ok(Self { body: SegmentData { ids, vectors, words, phrases }, columns, unreadable })
    }

    /// The same with other phrases, of all rows that it was made of.
    pub(super) fn with_phrases(mut self, phrases: &Phrases, deleted: &RoaringBitmap) -> Self {
        self.body.phrases = Phrases::merge(&[(phrases, deleted)]);
        self
    }

    pub(super) fn rows(&self) -> usize {
        self.body.ids.len()
    }
}

fn goes_on(stop: StopCheck<'_>) -> ControlFlow<()> {
    if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn ids(parts: &[(&RowIds, &RoaringBitmap)]) -> RowIds {
    let mut all = RowIds::default();
    for (part, deleted) in parts {
        for (_, id) in part.iter().filter(|(row, _)| !deleted.contains(row.0)) {
            all.push(id);
        }
    }
    all
}
