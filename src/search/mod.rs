//! Finds records by meaning, words, time, place and origin.
//!
//! A memory is a list of pieces in the order of records: sealed segments, and flat
//! ones that take new records. A search takes a snapshot of the list, in which each
//! record is in exactly one piece, and waits for no insertion for longer than that
//! takes. The store is the truth: whatever is here is made from it.
//!
//! [`Corpus`] answers; [`compactor`] seals, merges and drops segments meanwhile;
//! [`recover`] opens what was there.

pub mod compaction;
pub mod compactor;
pub mod evidence;
mod fuse;
mod ids;
pub mod plan;
mod recover;
mod seal;
mod searcher;
mod segment;
pub mod sightings;
pub mod status;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use crate::base::RecordId;
use crate::base::area::Area;
use crate::base::embedding::Embedding;
use crate::base::notify::Notify;
use crate::base::time::{Timestamp, Window};
use crate::index::columns::Condition;
use crate::index::lexical::Text;
use crate::index::mention::mentions;
use crate::index::phrases::SceneQuery;
use crate::search::evidence::SightingEvidence;
use crate::search::plan::SegmentAction;
use crate::search::searcher::Searcher;
use crate::search::segment::{GrowingSegment, Segment, SegmentReader};
use crate::search::sightings::{ObjectSightings, SightingRows, SightingTimes};
use crate::store::Record;
use crate::store::segment_meta::{Amendment, SegmentNumber};

/// What records must fulfil to be found; where absent, any value does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// Touched by the record's time from its first to its last frame.
    pub window: Window,
    pub source: Option<String>,
    pub map_id: Option<String>,
    pub layer: Option<String>,
    /// A record without a position, or of another frame or map, is outside.
    pub area: Option<Area>,
}

/// Decides of a record whether it may be found.
pub type Accepts<'a> = &'a dyn Fn(RecordId) -> bool;

/// A question.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// Empty: meaning alone decides.
    pub text: &'a str,
    /// The text's vector.
    pub vector: &'a Embedding,
    pub filter: &'a Filter,
    /// Whatever else a record must fulfil. StopCheck of every record within the filter.
    pub accepts: Option<Accepts<'a>>,
    /// Most records to return.
    pub k: usize,
}

/// A record and how well it answers; each number is in 0..=1, higher is better,
/// and comparable between queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub id: RecordId,
    pub score: f32,
    /// Share of meaning in the score: the cosine, 0 where negative.
    pub dense: f32,
    /// Share of words in the score.
    pub lexical: f32,
}

/// What a search did in one piece.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentReport {
    /// `None` for records that are in no segment yet.
    pub segment: Option<SegmentNumber>,
    /// Its first and last record; `None` where it has none.
    pub records: Option<(RecordId, RecordId)>,
    /// First and last moment of them.
    pub span: Option<(Timestamp, Timestamp)>,
    pub rows: usize,
    /// Rows within the filter.
    pub selected: usize,
    pub action: SegmentAction,
    /// Candidates that it gave, by meaning, and by words those that could still get
    /// among the best.
    pub candidates: (usize, usize),
}

/// Hits with how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    pub hits: Vec<Hit>,
    /// In the order of records.
    pub segments: Vec<SegmentReport>,
}

/// Weights of meaning and of words in a score.
pub const WEIGHTS: (f32, f32) = (1.0, fuse::LEXICAL_WEIGHT);

/// Why a record cannot be made findable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorpusError {
    #[error("the vector of record {id} has {found} components, this memory searches {expected}")]
    Dimension { id: RecordId, found: usize, expected: usize },
    #[error("record {id} comes after record {last}, ids must ascend")]
    Order { id: RecordId, last: RecordId },
}

/// All records, findable.
#[derive(Debug)]
pub struct Corpus {
    dimension: usize,
    /// Rows of an open piece at which it is closed and a new one begun.
    growing_rows_max: usize,
    /// In the order of records. The last piece is open and takes new ones.
    segments: RwLock<Arc<Vec<Segment>>>,
    writing: Mutex<Writing>,
    /// Told when a closed piece has been sealed.
    sealed: Condvar,
    /// Wakes the compactor when a segment is closed.
    wake: Notify,
}

/// What those who change the corpus share.
#[derive(Debug, Default)]
struct Writing {
    /// What became of records since the segment being made took them, while one is.
    since: Option<BTreeMap<RecordId, Amendment>>,
    /// Whether somebody seals what is closed.
    has_compactor: bool,
}

/// The right to change the corpus; one holds it at a time. Held from a record's batch
/// to its entry here, entries come in the order of ids, and no change of a record
/// overtakes it.
#[derive(Debug)]
pub struct Changes<'a> {
    corpus: &'a Corpus,
    writing: MutexGuard<'a, Writing>,
}

/// Rows of an open piece. One of 256 components is scanned in .05 to .09 ms, and its
/// graph built in about two seconds.
const GROWING_ROWS_MAX: usize = 8_192;
/// Closed pieces that wait to be sealed, at most: beyond it, who has something to
/// insert waits for one to be sealed. A robot sees a hundredth of what would take.
const CLOSED_MAX: usize = 16;
/// The longest that an insertion waits: sealing may fail, and records go on.
const CLOSED_WAIT: Duration = Duration::from_secs(20);

impl Corpus {
    /// An empty corpus for vectors of one dimension.
    pub fn new(dimension: usize) -> Self {
        Self::of(dimension, Vec::new(), GROWING_ROWS_MAX)
    }

    fn of(dimension: usize, mut segments: Vec<Segment>, growing_rows_max: usize) -> Self {
        let takes_more = |segment: &Segment| match segment {
            Segment::Sealed(_) => false,
            Segment::Growing(open) => open.rows() < growing_rows_max,
        };
        if !segments.last().is_some_and(takes_more) {
            segments.push(Segment::Growing(Arc::new(GrowingSegment::new(dimension))));
        }
        let (segments, writing) = (RwLock::new(Arc::new(segments)), Mutex::default());
        let (sealed, wake) = (Condvar::new(), Notify::default());
        Self { dimension, growing_rows_max, segments, writing, sealed, wake }
    }

    /// Waits for the right to change the corpus, and for the keeper where it is far
    /// behind.
    pub fn changes(&self) -> Changes<'_> {
        let changes = self.changes_at_once();
        let is_behind =
            |writing: &mut Writing| writing.has_compactor && self.closed_segments() >= CLOSED_MAX;
        let waited = self.sealed.wait_timeout_while(changes.writing, CLOSED_WAIT, is_behind);
        let (writing, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Changes { corpus: self, writing }
    }

    /// Waits for the change that is being made: what the store has committed before the
    /// call is searchable when it returns.
    pub fn settle(&self) {
        drop(self.changes_at_once());
    }

    fn changes_at_once(&self) -> Changes<'_> {
        // A change does not panic halfway: it appends to vectors and maps.
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        Changes { corpus: self, writing }
    }

    /// GrowingSegment pieces that take no more records.
    fn closed_segments(&self) -> usize {
        let open = |segment: &&Segment| matches!(segment, Segment::Growing(_));
        self.segments().iter().filter(open).count().saturating_sub(1)
    }

    /// The records that answer best, best first, equal ones by ascending id.
    pub fn search(&self, query: &Query<'_>) -> Vec<Hit> {
        self.explain(query).hits
    }

    /// As [`Corpus::search`], with how they were found.
    pub fn explain(&self, query: &Query<'_>) -> Explained {
        let segments = self.segments();
        let readers: Vec<SegmentReader<'_>> = segments.iter().map(Segment::read).collect();
        Searcher::new(query, &readers).best(query)
    }

    /// How well the given records answer, whatever the query's filter and `k`;
    /// ids of no record are left out.
    pub fn score(&self, query: &Query<'_>, ids: &[RecordId]) -> Vec<Hit> {
        let segments = self.segments();
        let readers: Vec<SegmentReader<'_>> = segments.iter().map(Segment::read).collect();
        Searcher::new(query, &readers).score(ids)
    }

    /// The records seen last, newest first, whose caption holds any of `words`
    /// in any form; where there are no words, any caption will do.
    pub fn newest(&self, filter: &Filter, limit: usize, words: &[String]) -> Vec<RecordId> {
        let segments = self.segments();
        let readers: Vec<SegmentReader<'_>> = segments.iter().map(Segment::read).collect();
        searcher::newest(&readers, &condition(filter), limit, words)
    }

    /// The `k` records within a filter that show a thing most surely and were seen
    /// last, newest first. From the phrases alone: no record is read.
    pub fn last_sightings(
        &self,
        query: &SceneQuery,
        filter: &Filter,
        k: usize,
    ) -> Option<ObjectSightings> {
        self.sightings(query, filter, |found| found.newest(k))
    }

    /// As [`Corpus::last_sightings`], with what it went by.
    pub fn explain_last_sightings(
        &self,
        query: &SceneQuery,
        filter: &Filter,
        k: usize,
    ) -> (Option<ObjectSightings>, SightingEvidence) {
        let (segments, condition) = (self.segments(), condition(filter));
        let readers: Vec<SegmentReader<'_>> = segments.iter().map(Segment::read).collect();
        let seen = sightings::find(&readers, query, &condition).map(|found| found.newest(k));
        (seen, evidence::collect(&readers, query, &condition))
    }

    /// As [`Corpus::last_sightings`], those seen first, oldest first.
    pub fn first_sightings(
        &self,
        query: &SceneQuery,
        filter: &Filter,
        k: usize,
    ) -> Option<ObjectSightings> {
        self.sightings(query, filter, |found| found.oldest(k))
    }

    /// How many records within a filter show a thing most surely, and when. From the
    /// phrases alone: no record is read.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is not general enough over lifetimes"
    )]
    pub fn sighting_times(&self, query: &SceneQuery, filter: &Filter) -> Option<SightingTimes> {
        self.sightings(query, filter, |found| found.times())
    }

    fn sightings<T>(
        &self,
        query: &SceneQuery,
        filter: &Filter,
        look: impl Fn(&SightingRows<'_>) -> T,
    ) -> Option<T> {
        let segments = self.segments();
        let readers: Vec<SegmentReader<'_>> = segments.iter().map(Segment::read).collect();
        sightings::find(&readers, query, &condition(filter)).as_ref().map(look)
    }

    /// Each noun that captions mention, by its stem, as one of them is called.
    pub fn nouns(&self) -> BTreeMap<String, String> {
        let segments = self.segments();
        let mut nouns = BTreeMap::new();
        for segment in segments.iter() {
            let reader = segment.read();
            for (stem, noun) in reader.phrases().nouns() {
                nouns.entry(stem.to_owned()).or_insert(noun);
            }
        }
        nouns
    }

    /// How many records fulfil a filter.
    pub fn count(&self, filter: &Filter) -> usize {
        let condition = condition(filter);
        let selected = |segment: &Segment| {
            let reader = segment.read();
            reader.select(&condition).count(reader.rows())
        };
        self.segments().iter().map(selected).sum()
    }

    pub fn len(&self) -> usize {
        self.segments().iter().map(|segment| segment.read().live_rows()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// First and last moment of all records; `None` where there are none.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let segments = self.segments();
        let spans = segments.iter().filter_map(|segment| segment.read().span());
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The pieces as they are now.
    fn segments(&self) -> Arc<Vec<Segment>> {
        Arc::clone(&self.segments.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts other pieces in the place of all.
    fn swap(&self, segments: Vec<Segment>) {
        *self.segments.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(segments);
    }
}

impl Changes<'_> {
    /// Makes a record findable; the next search finds it. One that is there already
    /// stays as it is.
    pub fn insert(&mut self, record: &Record, vector: &Embedding) -> Result<(), CorpusError> {
        let corpus = self.corpus;
        let (id, found, expected) = (record.id, vector.dimension(), corpus.dimension);
        if found != expected {
            return Err(CorpusError::Dimension { id, found, expected });
        }
        let segments = corpus.segments();
        if segments.iter().any(|segment| segment.row(id).is_some()) {
            return Ok(());
        }
        let last = segments.iter().filter_map(|segment| segment.read().ids().last()).max();
        if let Some(last) = last.filter(|last| *last > id) {
            return Err(CorpusError::Order { id, last });
        }
        let Some(Segment::Growing(open)) = segments.last() else { return Ok(()) };
        open.push(record, vector, Text::new(&record.caption), mentions(&record.caption));
        if open.rows() >= corpus.growing_rows_max {
            self.close();
        }
        Ok(())
    }

    /// Closes the open piece, which is sealed when its turn comes, and begins another.
    fn close(&mut self) {
        let mut segments = Vec::clone(&self.corpus.segments());
        segments.push(Segment::Growing(Arc::new(GrowingSegment::new(self.corpus.dimension))));
        self.corpus.swap(segments);
        self.corpus.wake.notify();
    }

    /// Moves the end of a record to `end_at` if that is later.
    pub fn extend(&mut self, id: RecordId, end_at: Timestamp) {
        for segment in self.corpus.segments().iter().rev() {
            if let Some(row) = segment.row(id) {
                segment.extend(row, end_at);
                if let Some(since) = &mut self.writing.since
                    && since.get(&id).is_none_or(|it| *it < Amendment::EndsAt(end_at))
                {
                    since.insert(id, Amendment::EndsAt(end_at));
                }
                return;
            }
        }
    }

    /// Makes records unfindable, at once.
    pub fn forget(&mut self, ids: &[RecordId]) {
        let segments = self.corpus.segments();
        for id in ids {
            let found =
                segments.iter().rev().find_map(|segment| Some((segment, segment.row(*id)?)));
            if let Some((segment, row)) = found {
                segment.delete(row);
                if let Some(since) = &mut self.writing.since {
                    since.insert(*id, Amendment::Deleted);
                }
            }
        }
    }
}

impl std::fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { text, vector: _, filter, accepts, k } = self;
        f.debug_struct("Query")
            .field("text", text)
            .field("filter", filter)
            .field("accepts", &accepts.is_some())
            .field("k", k)
            .finish_non_exhaustive()
    }
}

fn condition(filter: &Filter) -> Condition<'_> {
    let Filter { window, source, map_id, layer, area } = filter;
    Condition {
        window: *window,
        source: source.as_deref(),
        map_id: map_id.as_deref(),
        layer: layer.as_deref(),
        area: area.as_ref(),
    }
}
