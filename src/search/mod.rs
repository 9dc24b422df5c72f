//! Finds records by meaning, words, time and place of origin.
//!
//! Knows what a record is, not where it is kept: the store is read once, when
//! the [`Corpus`] is filled, and each record that is stored later is inserted
//! after it is durable.

mod fuse;
mod plan;

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::base::RecordId;
use crate::base::area::Area;
use crate::base::embedding::Embedding;
use crate::base::time::{Timestamp, Window};
use crate::index::Row;
use crate::index::VectorIndex as _;
use crate::index::columns::{Cells, Columns, Condition};
use crate::index::lexical::Text;
use crate::index::lexical::growing::GrowingWords;
use crate::index::lexical::query::WordQuery;
use crate::index::selection::Selection;
use crate::index::tail::FlatTail;
use crate::search::plan::Plan;
use crate::store::Record;

/// What records must fulfil to be found; where absent, any value does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// Touched by the record's time from its first to its last frame.
    pub window: Window,
    pub source: Option<String>,
    pub map_id: Option<String>,
    pub layer: Option<String>,
    /// Around a place; a record without a pose, or with one of another frame or
    /// map, is outside.
    pub area: Option<Area>,
}

/// A question.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Empty: meaning alone decides.
    pub text: &'a str,
    /// The text's vector.
    pub vector: &'a Embedding,
    pub filter: &'a Filter,
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

/// Why a record cannot be made findable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorpusError {
    #[error("the vector of record {id} has {found} components, this memory searches {expected}")]
    Dimension { id: RecordId, found: usize, expected: usize },
    #[error("the memory searches {held} records and can search no more")]
    Full { held: usize },
}

/// All records, findable. Searches run side by side; an insertion waits for them
/// and they for it, for microseconds.
#[derive(Debug)]
pub struct Corpus {
    dimension: usize,
    state: RwLock<State>,
}

#[derive(Debug)]
struct State {
    /// By row. Rows are in the order of insertion, which threads that store at
    /// the same time may make another than that of ids.
    ids: Vec<RecordId>,
    rows: HashMap<RecordId, Row>,
    columns: Columns,
    tail: FlatTail,
    lexical: GrowingWords,
}

impl Corpus {
    /// An empty corpus for vectors of one dimension.
    pub fn new(dimension: usize) -> Self {
        let state = State {
            ids: Vec::new(),
            rows: HashMap::new(),
            columns: Columns::default(),
            tail: FlatTail::new(dimension),
            lexical: GrowingWords::default(),
        };
        Self { dimension, state: RwLock::new(state) }
    }

    /// Makes a record findable; the next search finds it. One that is there
    /// already stays as it is.
    pub fn insert(&self, record: &Record, vector: &Embedding) -> Result<(), CorpusError> {
        let (id, found, expected) = (record.id, vector.dimension(), self.dimension);
        if found != expected {
            return Err(CorpusError::Dimension { id, found, expected });
        }
        let text = Text::new(&record.caption);
        self.write().insert(record, vector, text)
    }

    /// Moves the end of a record to `end_at` if that is later.
    pub fn extend(&self, id: RecordId, end_at: Timestamp) {
        let mut state = self.write();
        if let Some(row) = state.rows.get(&id).copied() {
            state.columns.extend(row, end_at);
        }
    }

    /// The records that answer best, best first, equal ones by ascending id.
    pub fn search(&self, query: &Query<'_>) -> Vec<Hit> {
        self.read().search(query)
    }

    /// How well the given records answer, whatever the query's filter and `k`;
    /// ids of no record are left out.
    pub fn score(&self, query: &Query<'_>, ids: &[RecordId]) -> Vec<Hit> {
        let state = self.read();
        let words = state.words(query);
        let rows = ids.iter().filter_map(|id| state.rows.get(id).copied());
        rows.filter_map(|row| state.hit(query, &words, row)).collect()
    }

    /// The records seen last, newest first, whose caption holds any of `words`
    /// in any form; where there are no words, any caption will do.
    pub fn newest(&self, filter: &Filter, limit: usize, words: &[String]) -> Vec<RecordId> {
        self.read().newest(filter, limit, words)
    }

    /// How many records fulfil a filter.
    pub fn count(&self, filter: &Filter) -> usize {
        self.read().columns.count(&condition(filter))
    }

    pub fn len(&self) -> usize {
        self.read().ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// First and last moment of all records; `None` where there are none.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        self.read().columns.span()
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        // An insertion does not panic halfway: it appends to vectors and maps.
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn insert(
        &mut self,
        record: &Record,
        vector: &Embedding,
        text: Text,
    ) -> Result<(), CorpusError> {
        if self.rows.contains_key(&record.id) {
            return Ok(());
        }
        let full = CorpusError::Full { held: self.ids.len() };
        let row = self.tail.insert(vector).ok_or(full)?;
        self.ids.push(record.id);
        self.rows.insert(record.id, row);
        self.columns.push(Cells {
            first: record.meta.taken_at,
            last: record.end_at,
            source: &record.meta.source,
            frame_id: &record.meta.frame_id,
            map_id: &record.meta.map_id,
            layer: record.layer.as_deref(),
            position: record.meta.pose.map(|pose| pose.position),
        });
        self.lexical.push(text);
        Ok(())
    }

    fn search(&self, query: &Query<'_>) -> Vec<Hit> {
        let Some(Plan { hits: limit, candidates }) = plan::plan(query.k, self.ids.len()) else {
            return Vec::new();
        };
        let within = self.columns.select(&condition(query.filter));
        let words = self.words(query);
        let by_meaning = self.tail.search(query.vector, candidates, &within);
        let by_words = words.top(&self.lexical, candidates, &within, 0.0);
        let mut rows: Vec<Row> = by_meaning.iter().chain(&by_words).map(|it| it.row).collect();
        rows.sort_unstable();
        rows.dedup();

        let scored = rows.into_iter().filter_map(|row| self.hit(query, &words, row));
        let mut hits: Vec<Hit> = scored.collect();
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        hits.truncate(limit);
        hits
    }

    fn words(&self, query: &Query<'_>) -> WordQuery {
        WordQuery::new(query.text, &[&self.lexical])
    }

    fn hit(&self, query: &Query<'_>, words: &WordQuery, row: Row) -> Option<Hit> {
        let dense = fuse::dense(self.tail.cosine(query.vector, row)?);
        let (id, lexical) = (*self.ids.get(row.at())?, words.score(&self.lexical, row));
        Some(Hit { id, score: fuse::fuse(dense, lexical), dense, lexical })
    }

    fn newest(&self, filter: &Filter, limit: usize, words: &[String]) -> Vec<RecordId> {
        let mut within = self.columns.select(&condition(filter));
        if !words.is_empty() {
            let holding = self.lexical.holding_any(words);
            within = within.and(&Selection::Only(holding), self.ids.len());
        }
        let newest = self.columns.newest(&within, limit);
        newest.into_iter().filter_map(|(_, row)| self.ids.get(row.at()).copied()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::frame::FrameMeta;
    use proptest::prelude::{Strategy, prop, proptest};

    const DIMENSION: usize = 3;

    fn at(seconds: u32) -> Timestamp {
        Timestamp::from_seconds(f64::from(seconds)).unwrap()
    }

    fn embedding(components: [i8; DIMENSION]) -> Embedding {
        let raw = components.iter().map(|x| f32::from(*x) + 0.1).collect();
        Embedding::new(raw, DIMENSION).unwrap()
    }

    fn record(id: u64, seconds: u32, caption: &str) -> Record {
        let meta = FrameMeta {
            taken_at: at(seconds),
            pose: None,
            frame_id: "map".to_owned(),
            map_id: String::new(),
            source: if id.is_multiple_of(2) { "rear" } else { "front" }.to_owned(),
        };
        let end_at = meta.taken_at;
        let caption = caption.to_owned();
        let (layer, image) = (None, None);
        Record { id: RecordId(id), meta, end_at, caption, confidence: None, layer, image }
    }

    fn filled(records: &[(Record, Embedding)]) -> Corpus {
        let corpus = Corpus::new(DIMENSION);
        for (record, vector) in records {
            corpus.insert(record, vector).unwrap();
        }
        corpus
    }

    fn ids(hits: &[Hit]) -> Vec<u64> {
        hits.iter().map(|hit| hit.id.0).collect()
    }

    fn ask(corpus: &Corpus, text: &str, vector: [i8; DIMENSION], k: usize) -> Vec<Hit> {
        let (vector, filter) = (&embedding(vector), &Filter::default());
        corpus.search(&Query { text, vector, filter, k })
    }

    fn kitchen() -> Corpus {
        filled(&[
            (record(1, 10, "a red mug on a table"), embedding([9, 0, 0])),
            (record(2, 20, "a blue book on a shelf"), embedding([0, 9, 0])),
            (record(3, 30, "a red book"), embedding([0, 9, 0])),
        ])
    }

    #[test]
    fn meaning_and_words_decide_together() {
        let corpus = kitchen();
        assert_eq!(ids(&ask(&corpus, "", [0, 9, 0], 9)), [2, 3, 1]);
        assert_eq!(ids(&ask(&corpus, "red", [0, 9, 0], 9)), [3, 2, 1]);
        assert_eq!(ids(&ask(&corpus, "zebra", [9, 0, 0], 1)), [1]);
        let best = ask(&corpus, "red book", [0, 9, 0], 1)[0];
        assert!(best.score > 0.99 && best.dense > 0.99 && best.lexical > 0.99, "{best:?}");
    }

    #[test]
    fn given_records_are_scored_as_a_search_scores_them() {
        let corpus = kitchen();
        let found = ask(&corpus, "red book", [0, 9, 0], 9);
        let (vector, filter) = (&embedding([0, 9, 0]), &Filter::default());
        let query = Query { text: "red book", vector, filter, k: 0 };
        let ids = [found[2].id, RecordId(99), found[0].id];
        assert_eq!(corpus.score(&query, &ids), [found[2], found[0]]);
    }

    #[test]
    fn nothing_asked_or_nothing_there_finds_nothing() {
        assert_eq!(ask(&kitchen(), "mug", [1, 0, 0], 0), []);
        assert_eq!(ask(&filled(&[]), "mug", [1, 0, 0], 5), []);
        assert_eq!(ids(&ask(&kitchen(), "mug", [9, 0, 0], usize::MAX)).len(), 3);
    }

    #[test]
    fn equal_records_come_in_the_order_of_ids_however_inserted() {
        let mut records: Vec<_> =
            (1..=9).map(|id| (record(id, 10, "a red mug"), embedding([9, 1, 0]))).collect();
        records.swap(3, 4);
        assert_eq!(ids(&ask(&filled(&records), "mug", [9, 1, 0], 6)), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_record_is_there_once_and_of_the_right_shape() {
        let corpus = kitchen();
        let again = record(2, 99, "something else");
        corpus.insert(&again, &embedding([0, 0, 9])).unwrap();
        assert_eq!((corpus.len(), corpus.span()), (3, Some((at(10), at(30)))));
        let flat = Embedding::new(vec![1.0], 1).unwrap();
        let refused = corpus.insert(&record(4, 1, ""), &flat).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the vector of record 4 has 1 components, this memory searches 3"
        );
    }

    #[test]
    fn newest_goes_by_when_it_was_seen_last() {
        let corpus = kitchen();
        corpus.extend(RecordId(1), at(25));
        let all = Filter::default();
        let newest = |limit, words: &[&str]| -> Vec<u64> {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            corpus.newest(&all, limit, &words).into_iter().map(|id| id.0).collect()
        };
        assert_eq!(newest(9, &[]), [3, 1, 2]);
        assert_eq!(newest(2, &[]), [3, 1]);
        assert_eq!(newest(9, &["books"]), [3, 2]);
        assert_eq!(newest(9, &["mug", "shelf"]), [1, 2]);
        assert_eq!(newest(9, &["zebra"]), [0; 0]);
        let window = Window::new(Some(at(21)), Some(at(26))).unwrap();
        let filter = Filter { window, ..Filter::default() };
        assert_eq!(corpus.newest(&filter, 9, &[]), [RecordId(1)]);
    }

    fn corpora() -> impl Strategy<Value = Vec<(Record, Embedding)>> {
        let component = || -2_i8..=2;
        let one = ((component(), component(), component()), 0_u32..30, "((red|mug|book) ){0,3}");
        prop::collection::vec(one, 0..60).prop_map(|all| {
            let records = (1..).zip(all).map(|(id, ((x, y, z), seconds, caption))| {
                (record(id, seconds, &caption), embedding([x, y, z]))
            });
            records.collect()
        })
    }

    proptest! {
        /// With no more records than candidates the search is exact.
        #[test]
        fn finds_what_a_look_at_each_record_finds(
            records in corpora(),
            text in "((red|mugs|lamp) ){0,2}",
            (start, length) in (0_u32..30, 0_u32..20),
            source in prop::option::of(prop::sample::select(vec!["front", "rear", "side"])),
            k in 0_usize..10,
        ) {
            let window = Window::new(Some(at(start)), Some(at(start + length))).unwrap();
            let source = source.map(str::to_owned);
            let filter = Filter { window, source: source.clone(), ..Filter::default() };
            let (corpus, vector) = (filled(&records), embedding([2, 1, 0]));
            let hits = corpus.search(&Query { text: &text, vector: &vector, filter: &filter, k });

            let state = corpus.read();
            let words = WordQuery::new(&text, &[&state.lexical]);
            let passing: Vec<_> = (0..).map(Row).zip(&records).filter(|(_, (record, _))| {
                window.touches(record.meta.taken_at, record.end_at)
                    && source.as_ref().is_none_or(|source| *source == record.meta.source)
            }).collect();
            assert_eq!(corpus.count(&filter), passing.len());
            let mut expected: Vec<(f32, RecordId)> = passing.into_iter().map(|(row, it)| {
                let dense = it.1.cosine(&vector).max(0.0);
                ((dense + 0.6 * words.score(&state.lexical, row)) / 1.6, it.0.id)
            }).collect();
            expected.sort_by(|a, b| b.0.total_cmp(&a.0));
            assert_eq!(hits.len(), k.min(expected.len()));
            for (hit, (score, _)) in hits.iter().zip(&expected) {
                assert!((hit.score - score).abs() < 1e-5, "{hit:?} {score}");
                assert!((0.0..=1.0).contains(&hit.score));
            }
            let in_order = |pair: &[Hit]| (-pair[0].score, pair[0].id.0) < (-pair[1].score, pair[1].id.0);
            assert!(hits.windows(2).all(in_order));
        }
    }

    #[test]
    fn is_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Corpus>();
    }
}
