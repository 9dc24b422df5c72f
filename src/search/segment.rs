//! Segment: a contiguous run of records with every index over them, either sealed
//! (immutable, with a graph) or growing (flat, searched exactly).
//!
//! Rows are local to their segment. Only deletions and extended end times change in a
//! sealed one.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use roaring::RoaringBitmap;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::Row;
use crate::index::VectorIndex as _;
use crate::index::columns::{Cells, Columns, Condition};
use crate::index::flat::FlatIndex;
use crate::index::hnsw::HnswIndex;
use crate::index::lexical::immutable::ImmutablePostings;
use crate::index::lexical::mutable::MutablePostings;
use crate::index::lexical::{AnalysedText, Postings};
use crate::index::phrases::Phrases;
use crate::index::selection::Selection;
use crate::language::mention::Mention;
use crate::search::ids::RowIds;
use crate::store::Record;
use crate::store::segment_meta::{SegmentMeta, SegmentNumber};

/// Segment as a snapshot holds it.
#[derive(Debug, Clone)]
pub(crate) enum Segment {
    Sealed(Arc<SealedSegment>),
    Growing(Arc<GrowingSegment>),
}

/// Mutable state of a segment: columns, for extended end times, and deletions.
#[derive(Debug, Default, Clone)]
pub(crate) struct MutableState {
    pub(crate) columns: Columns,
    pub(crate) deleted: RoaringBitmap,
}

/// Sealed segment.
#[derive(Debug)]
pub(crate) struct SealedSegment {
    pub(crate) meta: SegmentMeta,
    pub(crate) body: SegmentData,
    state: RwLock<MutableState>,
}

/// Immutable indexes of a sealed segment.
#[derive(Debug)]
pub(crate) struct SegmentData {
    pub(crate) ids: RowIds,
    pub(crate) vectors: HnswIndex,
    pub(crate) words: ImmutablePostings,
    pub(crate) phrases: Phrases,
}

/// Growing segment: takes records until it is full, and is sealed then.
#[derive(Debug)]
pub(crate) struct GrowingSegment {
    body: RwLock<GrowingData>,
    state: RwLock<MutableState>,
}

/// Append-only indexes of a growing segment.
#[derive(Debug)]
pub(crate) struct GrowingData {
    pub(crate) ids: RowIds,
    pub(crate) vectors: FlatIndex,
    pub(crate) words: MutablePostings,
    pub(crate) phrases: Phrases,
    /// Records of its range that cannot be read and are not in it.
    pub(crate) unreadable: u32,
    /// First and last record, unreadable ones included.
    pub(crate) range: Option<(RecordId, RecordId)>,
}

impl SealedSegment {
    pub(crate) fn new(meta: SegmentMeta, body: SegmentData, state: MutableState) -> Self {
        Self { meta, body, state: RwLock::new(state) }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let SegmentData { ids, vectors, words, phrases } = &self.body;
        let state = read(&self.state);
        let columns = state.columns.memory_bytes() + state.deleted.serialized_size();
        ids.memory_bytes()
            + vectors.memory_bytes()
            + words.memory_bytes()
            + phrases.memory_bytes()
            + columns
    }
}

impl GrowingSegment {
    pub(crate) fn new(dimension: usize) -> Self {
        let growing = GrowingData {
            ids: RowIds::default(),
            vectors: FlatIndex::new(dimension),
            words: MutablePostings::default(),
            phrases: Phrases::default(),
            unreadable: 0,
            range: None,
        };
        Self { body: RwLock::new(growing), state: RwLock::default() }
    }

    /// Appends a record, which the next search finds. `false`, and nothing changes, when
    /// its id is not above all others or its vector is of another dimension.
    pub(crate) fn push(
        &self,
        record: &Record,
        vector: &crate::base::embedding::Embedding,
        text: AnalysedText,
        mentions: Vec<Mention>,
    ) -> bool {
        let mut body = self.body.write().unwrap_or_else(PoisonError::into_inner);
        let follows = body.ids.last().is_none_or(|last| last < record.id);
        if !follows || body.vectors.insert(vector).is_none() {
            return false;
        }
        body.ids.push(record.id);
        body.reach(record.id);
        body.words.push(text);
        body.phrases.push(mentions);
        write(&self.state).columns.push(Cells {
            first: record.meta.taken_at,
            last: record.end_at,
            source: &record.meta.source,
            frame_id: &record.meta.frame_id,
            map_id: &record.meta.map_id,
            layer: record.layer.as_deref(),
            position: record.meta.pose.map(|pose| pose.position),
        });
        true
    }

    /// Counts an unreadable record.
    pub(crate) fn skip(&self, id: RecordId) {
        let mut body = self.body.write().unwrap_or_else(PoisonError::into_inner);
        body.unreadable += 1;
        body.reach(id);
    }

    /// Puts other phrases in the place of its own. `false`, and nothing changes, where they are
    /// of another number of rows.
    pub(crate) fn replace_phrases(&self, phrases: Phrases) -> bool {
        let mut body = self.body.write().unwrap_or_else(PoisonError::into_inner);
        if phrases.rows() != body.ids.len() {
            return false;
        }
        body.phrases = phrases;
        true
    }

    pub(crate) fn rows(&self) -> usize {
        self.body().ids.len()
    }

    pub(crate) fn body(&self) -> RwLockReadGuard<'_, GrowingData> {
        // An append does not panic halfway: it pushes to vectors and maps.
        self.body.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory_bytes(&self) -> usize {
        let body = self.body();
        let columns = read(&self.state).columns.memory_bytes();
        body.ids.memory_bytes()
            + body.vectors.memory_bytes()
            + body.words.memory_bytes()
            + body.phrases.memory_bytes()
            + columns
    }
}

impl GrowingData {
    fn reach(&mut self, id: RecordId) {
        let (first, last) = self.range.unwrap_or((id, id));
        self.range = Some((first.min(id), last.max(id)));
    }
}

impl Segment {
    /// Identity, not equality.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sealed(a), Self::Sealed(b)) => Arc::ptr_eq(a, b),
            (Self::Growing(a), Self::Growing(b)) => Arc::ptr_eq(a, b),
            (Self::Sealed(_), Self::Growing(_)) | (Self::Growing(_), Self::Sealed(_)) => false,
        }
    }

    /// Consistent read access; an append waits for its end.
    pub(crate) fn read(&self) -> SegmentReader<'_> {
        match self {
            Self::Sealed(sealed) => SegmentReader {
                segment: Some(sealed.meta.number),
                body: DataReader::Sealed(&sealed.body),
                state: read(&sealed.state),
            },
            Self::Growing(open) => {
                // In the order in which an append takes them.
                let body = DataReader::Growing(open.body());
                SegmentReader { segment: None, body, state: read(&open.state) }
            }
        }
    }

    /// Copy of the mutable state.
    pub(crate) fn state(&self) -> MutableState {
        match self {
            Self::Sealed(sealed) => read(&sealed.state).clone(),
            Self::Growing(open) => read(&open.state).clone(),
        }
    }

    /// Row of a live record.
    pub(crate) fn row(&self, id: RecordId) -> Option<Row> {
        let reader = self.read();
        reader.ids().row(id).filter(|row| !reader.state.deleted.contains(row.0))
    }

    /// Moves the end of a row to `end_at` if that is later.
    pub(crate) fn extend(&self, row: Row, end_at: Timestamp) {
        self.write_state().columns.extend(row, end_at);
    }

    /// Marks a row as deleted.
    pub(crate) fn delete(&self, row: Row) {
        self.write_state().deleted.insert(row.0);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Sealed(sealed) => sealed.memory_bytes(),
            Self::Growing(open) => open.memory_bytes(),
        }
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, MutableState> {
        match self {
            Self::Sealed(sealed) => write(&sealed.state),
            Self::Growing(open) => write(&open.state),
        }
    }
}

/// Read access to a segment, for one search.
#[derive(Debug)]
pub(crate) struct SegmentReader<'a> {
    pub(crate) segment: Option<SegmentNumber>,
    pub(crate) body: DataReader<'a>,
    pub(crate) state: RwLockReadGuard<'a, MutableState>,
}

#[derive(Debug)]
pub(crate) enum DataReader<'a> {
    Sealed(&'a SegmentData),
    Growing(RwLockReadGuard<'a, GrowingData>),
}

impl SegmentReader<'_> {
    pub(crate) fn ids(&self) -> &RowIds {
        match &self.body {
            DataReader::Sealed(body) => &body.ids,
            DataReader::Growing(body) => &body.ids,
        }
    }

    pub(crate) fn words(&self) -> &dyn Postings {
        match &self.body {
            DataReader::Sealed(body) => &body.words,
            DataReader::Growing(body) => &body.words,
        }
    }

    pub(crate) fn phrases(&self) -> &Phrases {
        match &self.body {
            DataReader::Sealed(body) => &body.phrases,
            DataReader::Growing(body) => &body.phrases,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.state.columns.len()
    }

    /// Rows that are not deleted.
    pub(crate) fn live_rows(&self) -> usize {
        let deleted = usize::try_from(self.state.deleted.len()).unwrap_or(usize::MAX);
        self.rows().saturating_sub(deleted)
    }

    /// Live rows that fulfil a condition.
    pub(crate) fn select(&self, condition: &Condition<'_>) -> Selection {
        self.state.columns.select(condition).without(&self.state.deleted, self.rows())
    }

    /// First and last moment of the live rows.
    pub(crate) fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let columns = &self.state.columns;
        if self.state.deleted.is_empty() {
            return columns.span();
        }
        let within = Selection::All.without(&self.state.deleted, self.rows());
        let (_, first) = *columns.oldest(&within, 1).first()?;
        let (last, _) = *columns.newest(&within, 1).first()?;
        Some((columns.times(first)?.0, last))
    }
}

fn read(state: &RwLock<MutableState>) -> RwLockReadGuard<'_, MutableState> {
    // Every change is one value.
    state.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(state: &RwLock<MutableState>) -> RwLockWriteGuard<'_, MutableState> {
    state.write().unwrap_or_else(PoisonError::into_inner)
}
