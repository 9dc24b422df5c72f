//! A piece of the memory: a contiguous run of records with everything needed to
//! search it, either sealed (an immutable segment) or open (flat, searched exactly).
//!
//! Rows are local to their piece. What can change in a sealed piece is what became
//! of its records since: until when they were seen, and which are gone.

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
use crate::index::lexical::{Postings, Text};
use crate::index::mention::Mention;
use crate::index::phrases::Phrases;
use crate::index::selection::Selection;
use crate::search::ids::Ids;
use crate::store::Record;
use crate::store::segments::{SegmentMeta, SegmentNumber};

/// A piece as a search's snapshot holds it.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Sealed(Arc<Sealed>),
    Open(Arc<Open>),
}

/// What of a piece changes after its rows are there.
#[derive(Debug, Default, Clone)]
pub(crate) struct Live {
    pub(crate) columns: Columns,
    pub(crate) gone: RoaringBitmap,
}

/// A segment.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) meta: SegmentMeta,
    pub(crate) body: Body,
    live: RwLock<Live>,
}

/// What of a segment never changes.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) ids: Ids,
    pub(crate) vectors: HnswIndex,
    pub(crate) words: ImmutablePostings,
    pub(crate) phrases: Phrases,
}

/// A flat piece: it takes records until it is full, and is sealed then.
#[derive(Debug)]
pub(crate) struct Open {
    body: RwLock<Growing>,
    live: RwLock<Live>,
}

/// What of an open piece only grows.
#[derive(Debug)]
pub(crate) struct Growing {
    pub(crate) ids: Ids,
    pub(crate) vectors: FlatIndex,
    pub(crate) words: MutablePostings,
    pub(crate) phrases: Phrases,
    /// Records among its own that cannot be read and are not in it.
    pub(crate) unreadable: u32,
    /// First and last record, those that cannot be read included.
    pub(crate) range: Option<(RecordId, RecordId)>,
}

impl Sealed {
    pub(crate) fn new(meta: SegmentMeta, body: Body, live: Live) -> Self {
        Self { meta, body, live: RwLock::new(live) }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let Body { ids, vectors, words, phrases } = &self.body;
        let live = read(&self.live);
        let columns = live.columns.memory_bytes() + live.gone.serialized_size();
        ids.memory_bytes()
            + vectors.memory_bytes()
            + words.memory_bytes()
            + phrases.memory_bytes()
            + columns
    }
}

impl Open {
    pub(crate) fn new(dimension: usize) -> Self {
        let growing = Growing {
            ids: Ids::default(),
            vectors: FlatIndex::new(dimension),
            words: MutablePostings::default(),
            phrases: Phrases::default(),
            unreadable: 0,
            range: None,
        };
        Self { body: RwLock::new(growing), live: RwLock::default() }
    }

    /// Appends a record, which the next search finds. `false`, and nothing changes,
    /// when its id is not above all others or its vector is of another dimension.
    pub(crate) fn push(
        &self,
        record: &Record,
        vector: &crate::base::embedding::Embedding,
        text: Text,
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
        write(&self.live).columns.push(Cells {
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

    /// Counts a record that cannot be read.
    pub(crate) fn skip(&self, id: RecordId) {
        let mut body = self.body.write().unwrap_or_else(PoisonError::into_inner);
        body.unreadable += 1;
        body.reach(id);
    }

    pub(crate) fn rows(&self) -> usize {
        self.body().ids.len()
    }

    pub(crate) fn body(&self) -> RwLockReadGuard<'_, Growing> {
        // An append does not panic halfway: it pushes to vectors and maps.
        self.body.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory_bytes(&self) -> usize {
        let body = self.body();
        let columns = read(&self.live).columns.memory_bytes();
        body.ids.memory_bytes()
            + body.vectors.memory_bytes()
            + body.words.memory_bytes()
            + body.phrases.memory_bytes()
            + columns
    }
}

impl Growing {
    fn reach(&mut self, id: RecordId) {
        let (first, last) = self.range.unwrap_or((id, id));
        self.range = Some((first.min(id), last.max(id)));
    }
}

impl Piece {
    /// Whether both are the same piece.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sealed(a), Self::Sealed(b)) => Arc::ptr_eq(a, b),
            (Self::Open(a), Self::Open(b)) => Arc::ptr_eq(a, b),
            (Self::Sealed(_), Self::Open(_)) | (Self::Open(_), Self::Sealed(_)) => false,
        }
    }

    /// A consistent look at the piece; a record that is stored meanwhile waits for
    /// its end.
    pub(crate) fn read(&self) -> Reading<'_> {
        match self {
            Self::Sealed(sealed) => Reading {
                segment: Some(sealed.meta.number),
                body: BodyReading::Sealed(&sealed.body),
                live: read(&sealed.live),
            },
            Self::Open(open) => {
                // In the order in which an append takes them.
                let body = BodyReading::Open(open.body());
                Reading { segment: None, body, live: read(&open.live) }
            }
        }
    }

    /// What may change, as it is now.
    pub(crate) fn live(&self) -> Live {
        match self {
            Self::Sealed(sealed) => read(&sealed.live).clone(),
            Self::Open(open) => read(&open.live).clone(),
        }
    }

    /// The row of a record that is here and not gone.
    pub(crate) fn row(&self, id: RecordId) -> Option<Row> {
        let reading = self.read();
        reading.ids().row(id).filter(|row| !reading.live.gone.contains(row.0))
    }

    /// Moves the end of a row to `end_at` if that is later.
    pub(crate) fn extend(&self, row: Row, end_at: Timestamp) {
        self.write_live().columns.extend(row, end_at);
    }

    /// Makes a row unfindable.
    pub(crate) fn forget(&self, row: Row) {
        self.write_live().gone.insert(row.0);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Sealed(sealed) => sealed.memory_bytes(),
            Self::Open(open) => open.memory_bytes(),
        }
    }

    fn write_live(&self) -> RwLockWriteGuard<'_, Live> {
        match self {
            Self::Sealed(sealed) => write(&sealed.live),
            Self::Open(open) => write(&open.live),
        }
    }
}

/// A piece while a search looks at it.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) segment: Option<SegmentNumber>,
    pub(crate) body: BodyReading<'a>,
    pub(crate) live: RwLockReadGuard<'a, Live>,
}

#[derive(Debug)]
pub(crate) enum BodyReading<'a> {
    Sealed(&'a Body),
    Open(RwLockReadGuard<'a, Growing>),
}

impl Reading<'_> {
    pub(crate) fn ids(&self) -> &Ids {
        match &self.body {
            BodyReading::Sealed(body) => &body.ids,
            BodyReading::Open(body) => &body.ids,
        }
    }

    pub(crate) fn words(&self) -> &dyn Postings {
        match &self.body {
            BodyReading::Sealed(body) => &body.words,
            BodyReading::Open(body) => &body.words,
        }
    }

    pub(crate) fn phrases(&self) -> &Phrases {
        match &self.body {
            BodyReading::Sealed(body) => &body.phrases,
            BodyReading::Open(body) => &body.phrases,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.live.columns.len()
    }

    /// Rows that are not gone.
    pub(crate) fn found(&self) -> usize {
        let gone = usize::try_from(self.live.gone.len()).unwrap_or(usize::MAX);
        self.rows().saturating_sub(gone)
    }

    /// The rows that fulfil a condition and are not gone.
    pub(crate) fn select(&self, condition: &Condition<'_>) -> Selection {
        self.live.columns.select(condition).without(&self.live.gone, self.rows())
    }

    /// First and last moment of the rows that are not gone.
    pub(crate) fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let columns = &self.live.columns;
        if self.live.gone.is_empty() {
            return columns.span();
        }
        let within = Selection::All.without(&self.live.gone, self.rows());
        let (_, first) = *columns.oldest(&within, 1).first()?;
        let (last, _) = *columns.newest(&within, 1).first()?;
        Some((columns.times(first)?.0, last))
    }
}

fn read(live: &RwLock<Live>) -> RwLockReadGuard<'_, Live> {
    // Every change is one value.
    live.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(live: &RwLock<Live>) -> RwLockWriteGuard<'_, Live> {
    live.write().unwrap_or_else(PoisonError::into_inner)
}
