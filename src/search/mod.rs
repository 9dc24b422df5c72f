//! Finds records by meaning, words, time, place and origin.
//!
//! The index is a list of segments in the order of records: sealed ones, and growing
//! ones that take new records. A search takes a snapshot of the list, in which each
//! record is in exactly one segment, and waits for no insertion for longer than that
//! takes. The store is the truth: whatever is here is made from it.
//!
//! [`Corpus`] answers queries; [`compactor`] seals and merges segments in the background and
//! lets go what is beyond the [`retention`]; [`recover`] opens the index of a store.

pub mod compaction;
pub mod compactor;
pub mod evidence;
mod fuse;
mod ids;
pub mod listing;
pub mod plan;
pub mod prose;
pub mod recover;
pub mod rereading;
pub mod retention;
mod retention_clock;
#[cfg(test)]
mod retention_tests;
mod seal;
mod searcher;
mod segment;
pub mod sightings;
pub mod status;
#[cfg(test)]
mod tests;
pub mod usual_likeness;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use crate::base::RecordId;
use crate::base::area::Area;
use crate::base::embedding::Embedding;
use crate::base::notify::Notify;
use crate::base::time::{Timestamp, Window};
use crate::index::columns::Condition;
use crate::index::lexical::AnalysedText;
use crate::index::phrases::SceneQuery;
use crate::language::deeds;
use crate::search::evidence::SightingEvidence;
use crate::search::plan::SegmentAction;
use crate::search::searcher::Searcher;
use crate::search::segment::{GrowingSegment, Segment, SegmentReader};
use crate::search::sightings::{ObjectSightings, SightingRows};
use crate::store::Record;
use crate::store::segment_meta::{Amendment, SegmentNumber};

/// Predicate over the fields of a record; an absent field accepts any value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// Overlaps the record's time from its first to its last frame.
    pub window: Window,
    pub source: Option<String>,
    pub map_id: Option<String>,
    pub layer: Option<String>,
    /// A record without a position, or of another frame or map, is outside.
    pub area: Option<Area>,
}

/// Predicate over record ids.
pub type Accepts<'a> = &'a dyn Fn(RecordId) -> bool;

/// One query: text, vector and filter.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// Empty: the vector alone decides.
    pub text: &'a str,
    /// The text's vector; without it the words alone decide.
    pub vector: Option<&'a Embedding>,
    pub filter: &'a Filter,
    /// Further predicate, evaluated for every record within the filter.
    pub accepts: Option<Accepts<'a>>,
    /// Most records to return.
    pub k: usize,
}

/// A result with its scores, each in 0..=1, higher is better, comparable between
/// queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub id: RecordId,
    pub score: f32,
    /// Score by vector: the cosine, 0 where negative.
    pub dense: f32,
    /// Score by BM25.
    pub lexical: f32,
}

/// What a search did in one segment.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentReport {
    /// `None` for a growing segment.
    pub segment: Option<SegmentNumber>,
    /// Its first and last record; `None` where it has none.
    pub records: Option<(RecordId, RecordId)>,
    /// First and last moment of its records.
    pub span: Option<(Timestamp, Timestamp)>,
    pub rows: usize,
    /// Rows within the filter.
    pub selected: usize,
    pub action: SegmentAction,
    /// Candidates by vector, and those by BM25 that could still get among the hits.
    pub candidates: (usize, usize),
}

/// Hits, and what was done in each segment.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    pub hits: Vec<Hit>,
    /// In the order of records.
    pub segments: Vec<SegmentReport>,
}

/// Weights of vector and BM25 in a score.
pub const WEIGHTS: (f32, f32) = (1.0, fuse::LEXICAL_WEIGHT);

/// Why a record cannot be indexed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorpusError {
    #[error("the vector of record {id} has {found} components, this memory searches {expected}")]
    Dimension { id: RecordId, found: usize, expected: usize },
    #[error("record {id} comes after record {last}, ids must ascend")]
    Order { id: RecordId, last: RecordId },
}

/// The index over all records of a store.
#[derive(Debug)]
pub struct Corpus {
    dimension: usize,
    /// Rows of a growing segment at which it is closed and a new one begun.
    growing_rows_max: usize,
    /// In the order of records. The last segment is growing and takes new ones.
    segments: RwLock<Arc<Vec<Segment>>>,
    writing: Mutex<Writing>,
    /// Held while segments are rebuilt, of which there is one at a time.
    rebuilding: Mutex<()>,
    /// Signalled when a closed segment has been sealed.
    sealed: Condvar,
    /// Wakes the compactor when a segment is closed.
    wake: Notify,
}

/// State shared by writers.
#[derive(Debug, Default)]
struct Writing {
    /// Amendments since the segment being built took its records; `None` while none is
    /// built.
    since: Option<BTreeMap<RecordId, Amendment>>,
    /// Whether a compactor runs, so that sealing can be waited for.
    has_compactor: bool,
    /// Records beyond which it has something to let go, and those beyond which it is waited
    /// for.
    records_due: Option<u64>,
    records_bound: Option<u64>,
}

/// Exclusive write access. Held from a record's batch in the store to its entry here: so
/// entries come in the order of ids, and no change of a record overtakes it.
#[derive(Debug)]
pub struct Changes<'a> {
    corpus: &'a Corpus,
    writing: MutexGuard<'a, Writing>,
}

/// Rows of a growing segment. One of 256 dimensions is scanned in .05 to .09 ms, and its
/// graph built in about two seconds.
const GROWING_ROWS_MAX: usize = 8_192;
/// Closed segments that wait to be sealed, at most: beyond it an insertion waits for one
/// to be sealed. A robot sees a hundredth of what would take.
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
        let (rebuilding, sealed, wake) = (Mutex::default(), Condvar::new(), Notify::default());
        Self { dimension, growing_rows_max, segments, writing, rebuilding, sealed, wake }
    }

    /// Waits for write access, and for the compactor where it is far behind.
    pub fn changes(&self) -> Changes<'_> {
        let changes = self.changes_at_once();
        let is_behind = |writing: &mut Writing| {
            let is_surplus = writing.records_bound.is_some_and(|most| self.len() as u64 > most);
            writing.has_compactor && (is_surplus || self.closed_segments() >= CLOSED_MAX)
        };
        let waited = self.sealed.wait_timeout_while(changes.writing, CLOSED_WAIT, is_behind);
        let (writing, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Changes { corpus: self, writing }
    }

    /// Waits for the write under way: what the store committed before the call is
    /// searchable when it returns.
    pub fn settle(&self) {
        drop(self.changes_at_once());
    }

    fn changes_at_once(&self) -> Changes<'_> {
        // A change does not panic halfway: it appends to vectors and maps.
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        Changes { corpus: self, writing }
    }

    /// Growing segments that take no more records.
    fn closed_segments(&self) -> usize {
        let open = |segment: &&Segment| matches!(segment, Segment::Growing(_));
        self.segments().iter().filter(open).count().saturating_sub(1)
    }

    /// Top `k` records, best first, equal ones by ascending id.
    pub fn search(&self, query: &Query<'_>) -> Vec<Hit> {
        self.explain(query).hits
    }

    /// As [`Corpus::search`], with what was done in each segment.
    pub fn explain(&self, query: &Query<'_>) -> Explained {
        let segments = self.segments();
        let readers: Vec<SegmentReader<'_>> = segments.iter().map(Segment::read).collect();
        Searcher::new(query, &readers).best(query)
    }

    /// Scores of the given records, whatever the query's filter and `k`; unknown ids are
    /// left out.
    pub fn score(&self, query: &Query<'_>, ids: &[RecordId]) -> Vec<Hit> {
        let segments = self.segments();
        let readers: Vec<SegmentReader<'_>> = segments.iter().map(Segment::read).collect();
        Searcher::new(query, &readers).score(ids)
    }

    /// Newest records, newest first, whose caption holds any of `words` in any form;
    /// without words, of all captions.
    pub fn newest(&self, filter: &Filter, limit: usize, words: &[String]) -> Vec<RecordId> {
        let segments = self.segments();
        let readers: Vec<SegmentReader<'_>> = segments.iter().map(Segment::read).collect();
        searcher::newest(&readers, &condition(filter), limit, words)
    }

    /// Newest `k` records within a filter of the highest certainty that shows the
    /// object, newest first. From the phrases alone: no record is read.
    pub fn last_sightings(
        &self,
        query: &SceneQuery,
        filter: &Filter,
        k: usize,
    ) -> Option<ObjectSightings> {
        self.sightings(query, filter, |found| found.newest(k))
    }

    /// As [`Corpus::last_sightings`], with the evidence.
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

    /// Number of records within a filter of the highest certainty that shows the object.
    /// From the phrases alone: no record is read.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is not general enough over lifetimes"
    )]
    pub fn count_sightings(&self, query: &SceneQuery, filter: &Filter) -> u64 {
        self.sightings(query, filter, |found| found.count()).unwrap_or(0)
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

    /// Whether captions have `word` as a part of the name of a thing with this noun.
    pub fn is_part_of_name(&self, stem: &str, word: &str) -> bool {
        let segments = self.segments();
        segments.iter().any(|it| it.read().phrases().is_part_of_name(stem, word))
    }

    /// Nouns that captions mention, in the singular, by stem.
    pub fn nouns(&self) -> BTreeMap<String, String> {
        let segments = self.segments();
        let mut nouns = BTreeMap::new();
        for segment in segments.iter() {
            let reader = segment.read();
            for (stem, noun) in reader.phrases().nouns(&reader.state.deleted) {
                nouns.entry(stem.to_owned()).or_insert(noun);
            }
        }
        nouns
    }

    /// Names of more than one word that captions mention.
    pub fn compound_names(&self) -> BTreeSet<String> {
        let segments = self.segments();
        let of = |segment: &Segment| {
            let reader = segment.read();
            reader.phrases().compound_names(&reader.state.deleted)
        };
        segments.iter().flat_map(of).collect()
    }

    /// The words of all phrases that captions mention, in lower case.
    pub fn phrase_words(&self) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for segment in self.segments().iter() {
            let reader = segment.read();
            words.extend(reader.phrases().words().map(str::to_owned));
        }
        words
    }

    /// Whether a word in lower case is one of [`Corpus::phrase_words`], without reading them all.
    pub fn has_phrase_word(&self, word: &str) -> bool {
        self.segments().iter().any(|it| it.read().phrases().has_word(word))
    }

    /// Number of records within a filter.
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

    /// Snapshot of the segments.
    fn segments(&self) -> Arc<Vec<Segment>> {
        Arc::clone(&self.segments.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the list of segments as a whole.
    fn swap(&self, segments: Vec<Segment>) {
        *self.segments.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(segments);
    }
}

impl Changes<'_> {
    /// Indexes a record, which the next search finds. One that is there already stays as
    /// it is.
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
        let things = deeds::index_mentions(&record.parsed);
        open.push(record, vector, AnalysedText::new(&record.caption), things);
        if open.rows() >= corpus.growing_rows_max {
            self.close();
        }
        if self.writing.records_due.is_some_and(|most| corpus.len() as u64 > most) {
            corpus.wake.notify();
        }
        Ok(())
    }

    /// Closes the growing segment, which the compactor seals, and begins another.
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

    /// Deletes records from the index, at once.
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
