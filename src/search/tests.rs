//! The corpus against a look at each record, across sealing, merging, forgetting and restarts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::{ProptestConfig, Strategy, prop, prop_oneof, proptest};

use crate::base::RecordId;
use crate::base::area::Area;
use crate::base::caption::Caption;
use crate::base::embedding::Embedding;
use crate::base::frame::FrameMeta;
use crate::base::pose::Pose;
use crate::base::time::{Timestamp, Window};
use crate::index::Row;
use crate::index::lexical::AnalysedText;
use crate::index::lexical::mutable::MutablePostings;
use crate::index::lexical::query::Bm25Query;
use crate::index::phrases::{ObjectQuery, SceneQuery};
use crate::language::caption::ParsedCaption;
use crate::language::fit::{Certainty, Fit};
use crate::language::mention::mentions;
use crate::search::compaction::{Compaction, Options};
use crate::search::evidence::ObjectEvidence;
use crate::search::plan::SegmentAction;
use crate::search::recover::IndexFaults;
use crate::search::retention::Unwitnessed;
use crate::search::{Corpus, CorpusError, Explained, Filter, Hit, Query, WEIGHTS};
use crate::store::tests::parse;
use crate::store::{EmbeddingSpace, Merged, NewObservation, Record, Store};

pub(super) const DIMENSION: usize = 8;
/// Small, so that a few records make several segments.
const OPEN_ROWS: usize = 8;

pub(super) fn at(seconds: u32) -> Timestamp {
    Timestamp::from_seconds(f64::from(seconds)).unwrap()
}

/// Points the way of a few numbers; those that are not given are small.
pub(super) fn embedding(components: &[i8]) -> Embedding {
    let raw = (0..DIMENSION).map(|at| components.get(at).map_or(0.0, |x| f32::from(*x)) + 0.1);
    Embedding::new(raw.collect(), DIMENSION).unwrap()
}

pub(super) fn observation(seconds: u32, source: &str, caption: &str) -> NewObservation {
    let x = f64::from(seconds % 10);
    let meta = FrameMeta {
        taken_at: at(seconds),
        pose: Some(Pose { position: [x, 0.0, 0.0], heading: None }),
        frame_id: "map".to_owned(),
        map_id: "home".to_owned(),
        source: source.to_owned(),
    };
    NewObservation { meta, caption: caption.to_owned(), confidence: None, layer: None }
}

/// A store with its corpus, which can be closed and opened again.
pub(super) struct Memory {
    pub(super) dir: tempfile::TempDir,
    open: Option<(Store, Corpus)>,
}

impl Memory {
    pub(super) fn new() -> Self {
        let mut memory = Self { dir: tempfile::tempdir().unwrap(), open: None };
        memory.reopen();
        memory
    }

    pub(super) fn reopen(&mut self) {
        self.open = None;
        let space = EmbeddingSpace {
            model: "test".to_owned(),
            fingerprint: "0".to_owned(),
            dimension: DIMENSION,
        };
        let options = crate::store::Options::at(self.dir.path().to_owned());
        let store = Store::open(&options, &space).unwrap();
        let corpus = Corpus::open_with(&store, OPEN_ROWS).unwrap();
        self.open = Some((store, corpus));
    }

    pub(super) fn store(&self) -> &Store {
        &self.open.as_ref().unwrap().0
    }

    pub(super) fn corpus(&self) -> &Corpus {
        &self.open.as_ref().unwrap().1
    }

    pub(super) fn remember(&self, observations: &[(NewObservation, Embedding)]) -> Vec<Record> {
        let mut changes = self.corpus().changes();
        let records = self.store().commit_observations(&parse(observations)).unwrap();
        for (record, (_, vector)) in records.iter().zip(observations) {
            changes.insert(record, vector).unwrap();
        }
        records
    }

    pub(super) fn forget(&self, ids: &[RecordId]) -> Vec<RecordId> {
        let mut changes = self.corpus().changes();
        let gone = self.store().delete_records(ids).unwrap();
        changes.forget(&gone);
        gone
    }

    pub(super) fn compact_with(&self, options: &Options, now: Timestamp) -> Compaction {
        self.corpus().compact(self.store(), options, now, &Unwitnessed, &|| false).unwrap()
    }

    fn settle(&self) {
        for _ in 0..1_000 {
            if self.compact_with(&Options::default(), at(0)) == Compaction::Nothing {
                return;
            }
        }
        panic!("keeping does not come to an end");
    }

    fn sealed_rows(&self) -> Vec<usize> {
        self.corpus().status().segments.iter().map(|it| it.rows).collect()
    }

    fn ask(&self, text: &str, vector: &[i8], filter: &Filter, k: usize) -> Explained {
        let vector = embedding(vector);
        self.corpus().explain(&Query { text, vector: Some(&vector), filter, accepts: None, k })
    }
}

/// Fifty records: 32 in a segment, 16 in the next one, 2 in no segment.
fn two_segments() -> Memory {
    let memory = many(32);
    memory.settle();
    memory.remember(&(33..=50).map(observe_nth).collect::<Vec<_>>());
    memory.settle();
    assert_eq!(memory.sealed_rows(), [32, 16]);
    memory
}

fn ids(hits: &[Hit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.id.0).collect()
}

fn kitchen() -> Memory {
    let memory = Memory::new();
    memory.remember(&[
        (observation(10, "front", "a red mug on a table"), embedding(&[9])),
        (observation(20, "rear", "a blue book on a shelf"), embedding(&[0, 9])),
        (observation(30, "front", "a red book"), embedding(&[0, 9])),
    ]);
    memory
}

/// A memory of `n` records a second apart, each pointing its own way.
pub(super) fn many(n: u32) -> Memory {
    let memory = Memory::new();
    let all: Vec<_> = (1..=n).map(observe_nth).collect();
    memory.remember(&all);
    memory
}

pub(super) fn observe_nth(n: u32) -> (NewObservation, Embedding) {
    let way: Vec<i8> = (0..DIMENSION).map(|bit| if n >> bit & 1 == 1 { 9 } else { -9 }).collect();
    (observation(n, "front", &format!("thing{n}")), embedding(&way))
}

fn check_all_found(memory: &Memory, expected: impl Iterator<Item = u32> + Clone) {
    assert_eq!(memory.corpus().len(), expected.clone().count());
    for n in expected {
        let (_, vector) = observe_nth(n);
        let (text, filter) = (format!("thing{n}"), Filter::default());
        let query =
            Query { text: &text, vector: Some(&vector), filter: &filter, accepts: None, k: 1 };
        assert_eq!(ids(&memory.corpus().search(&query)), [u64::from(n)]);
    }
}

#[test]
fn vector_and_bm25_decide_together() {
    let memory = kitchen();
    let all = Filter::default();
    assert_eq!(ids(&memory.ask("", &[0, 9], &all, 9).hits), [2, 3, 1]);
    assert_eq!(ids(&memory.ask("red", &[0, 9], &all, 9).hits), [3, 2, 1]);
    assert_eq!(ids(&memory.ask("zebra", &[9], &all, 1).hits), [1]);
    let best = memory.ask("red book", &[0, 9], &all, 1).hits[0];
    assert!(best.score > 0.99 && best.dense > 0.99 && best.lexical > 0.99, "{best:?}");
}

#[test]
fn an_empty_query_or_an_empty_index_has_no_hits() {
    let all = Filter::default();
    assert_eq!(kitchen().ask("mug", &[1], &all, 0).hits, []);
    assert_eq!(Memory::new().ask("mug", &[1], &all, 5).hits, []);
    assert_eq!(kitchen().ask("mug", &[9], &all, usize::MAX).hits.len(), 3);
}

#[test]
fn given_records_are_scored_as_a_search_scores_them() {
    let memory = many(20);
    memory.settle();
    let (vector, filter) = (embedding(&[9, 9]), Filter::default());
    let query = Query {
        text: "thing3 thing19",
        vector: Some(&vector),
        filter: &filter,
        accepts: None,
        k: 9,
    };
    let found = memory.corpus().search(&query);
    let asked = [found[2].id, RecordId(99), found[0].id];
    assert_eq!(memory.corpus().score(&query, &asked), [found[2], found[0]]);
}

#[test]
fn a_record_is_there_once_in_order_and_of_the_right_shape() {
    let memory = kitchen();
    let corpus = memory.corpus();
    let again = memory.store().record(RecordId(2)).unwrap().unwrap();
    corpus.changes().insert(&again, &embedding(&[0, 0, 9])).unwrap();
    assert_eq!((corpus.len(), corpus.span()), (3, Some((at(10), at(30)))));
    let flat = Embedding::new(vec![1.0], 1).unwrap();
    let later = Record { id: RecordId(4), ..again.clone() };
    let refused = corpus.changes().insert(&later, &flat).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the vector of record 4 has 1 components, this memory searches 8"
    );
    let early = Record { id: RecordId(0), ..again };
    let refused = corpus.changes().insert(&early, &embedding(&[1])).unwrap_err();
    assert_eq!(refused, CorpusError::Order { id: RecordId(0), last: RecordId(3) });
}

#[test]
fn newest_is_ordered_by_end_time() {
    let memory = kitchen();
    let corpus = memory.corpus();
    corpus.changes().extend(RecordId(1), at(25));
    let newest = |filter: &Filter, limit, words: &[&str]| -> Vec<u64> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        corpus.newest(filter, limit, &words).into_iter().map(|id| id.0).collect()
    };
    let all = Filter::default();
    assert_eq!(newest(&all, 9, &[]), [3, 1, 2]);
    assert_eq!(newest(&all, 2, &[]), [3, 1]);
    assert_eq!(newest(&all, 9, &["books"]), [3, 2]);
    assert_eq!(newest(&all, 9, &["mug", "shelf"]), [1, 2]);
    assert_eq!(newest(&all, 9, &["zebra"]), [0; 0]);
    let window = Window::new(Some(at(21)), Some(at(26))).unwrap();
    assert_eq!(newest(&Filter { window, ..Filter::default() }, 9, &[]), [1]);
}

#[test]
fn every_record_is_found_before_while_and_after_it_is_sealed_and_merged() {
    let mut memory = many(50);
    assert_eq!(memory.sealed_rows(), [0; 0]);
    loop {
        check_all_found(&memory, 1..=50);
        if memory.compact_with(&Options::default(), at(0)) == Compaction::Nothing {
            break;
        }
    }
    assert_eq!(memory.sealed_rows(), [48], "and two in the tail");
    memory.reopen();
    check_all_found(&memory, 1..=50);
    assert_eq!(memory.corpus().status().growing_rows, 2);
    memory.remember(&(51..=60).map(observe_nth).collect::<Vec<_>>());
    check_all_found(&memory, 1..=60);
}

#[test]
fn a_stopped_compaction_changes_nothing() {
    let memory = many(40);
    memory.compact_with(&Options::default(), at(0));
    let before = memory.corpus().status();
    let kept = memory
        .corpus()
        .compact(memory.store(), &Options::default(), at(0), &Unwitnessed, &|| true)
        .unwrap();
    assert_eq!(kept, Compaction::Stopped);
    assert_eq!(memory.corpus().status(), before);
    memory.settle();
    check_all_found(&memory, 1..=40);
}

#[test]
fn a_damaged_segment_is_made_anew_from_its_records() {
    let mut memory = two_segments();
    let parts = memory.store().segments().unwrap()[0].parts.clone();
    assert!(parts.len() >= 4);
    for (part, _) in parts {
        let first = memory.store().segments().unwrap()[0].clone();
        let found = IndexFaults::of(memory.store()).unwrap();
        assert!(found.damaged.is_empty() && !found.differ(), "{found:?}");
        assert_eq!((found.segments, found.rows, found.unsealed), (2, 48, 2));
        memory.store().damage_segment(&first, part);
        let found = IndexFaults::of(memory.store()).unwrap();
        assert_eq!(found.damaged.len(), 1, "part {part:?}: {found:?}");
        assert_eq!(found.damaged[0].0, first.number);
        memory.reopen();
        assert_eq!(memory.sealed_rows(), [16], "part {part:?}");
        check_all_found(&memory, 1..=50);
        memory.settle();
        assert_eq!(memory.sealed_rows(), [48]);
        check_all_found(&memory, 1..=50);
        memory = two_segments();
    }
}

/// Several threads read the captions of what no segment holds.
#[test]
fn every_caption_of_a_long_tail_is_read_with_its_own_record() {
    let mut memory = Memory::new();
    for first in (1..=2_500).step_by(250) {
        let all: Vec<_> = (first..first + 250).map(observe_nth).collect();
        memory.remember(&all);
    }
    memory.store().damage_record(RecordId(700));
    memory.reopen();
    assert_eq!(memory.corpus().len(), 2_499);
    for n in [1, 128, 129, 699, 701, 1_024, 1_025, 1_152, 1_300, 2_048, 2_049, 2_500] {
        let (_, vector) = observe_nth(n);
        let (text, filter) = (format!("thing{n}"), Filter::default());
        let query =
            Query { text: &text, vector: Some(&vector), filter: &filter, accepts: None, k: 1 };
        assert_eq!(ids(&memory.corpus().search(&query)), [u64::from(n)], "{n}");
    }
}

#[test]
fn an_index_that_lacks_a_record_is_made_anew() {
    let mut memory = many(20);
    memory.settle();
    let whole = memory.store().segments().unwrap()[0].clone();
    // Claims two records that it does not hold.
    let short = memory.store().copy_segment(&whole, whole.first, RecordId(18));
    memory.store().replace_segments(&[whole.number], &[short], &[]).unwrap();
    assert!(IndexFaults::of(memory.store()).unwrap().differ());
    memory.reopen();
    check_all_found(&memory, 1..=20);
}

#[test]
fn deleted_records_are_never_returned_and_left_out_by_the_next_merge() {
    let mut memory = two_segments();
    let gone: Vec<RecordId> = [3, 17, 33, 34, 50].map(RecordId).to_vec();
    assert_eq!(memory.forget(&gone), gone);
    let kept = || (1..=50).filter(|n| ![3, 17, 33, 34, 50].contains(n));
    let check = |memory: &Memory| {
        check_all_found(memory, kept());
        let all = Filter::default();
        assert_eq!(memory.corpus().count(&all), 45);
        assert_eq!(memory.corpus().newest(&all, 1, &[]), [RecordId(49)]);
        assert_eq!(memory.corpus().newest(&all, 9, &["thing17".to_owned()]), []);
        assert_eq!(memory.corpus().span(), Some((at(1), at(49))));
        let filter = Filter::default();
        let vector = embedding(&[1]);
        let query =
            Query { text: "", vector: Some(&vector), filter: &filter, accepts: None, k: 99 };
        assert_eq!(memory.corpus().score(&query, &gone), []);
        assert_eq!(memory.corpus().search(&query).len(), 45);
    };
    check(&memory);
    assert_eq!(memory.corpus().status().tombstones(), 4);
    memory.reopen();
    check(&memory);
    assert_eq!(memory.corpus().status().tombstones(), 4);
    memory.forget(&(33..=40).map(RecordId).collect::<Vec<_>>());
    memory.settle();
    let status = memory.corpus().status();
    assert_eq!(status.segments.iter().map(|it| it.rows).collect::<Vec<_>>(), [30, 8]);
    assert_eq!(status.segments[1].tombstones, 0, "made anew");
    memory.reopen();
    assert_eq!(memory.corpus().len(), 39);
    // All of a segment.
    memory.forget(&(41..=48).map(RecordId).collect::<Vec<_>>());
    memory.settle();
    assert_eq!(memory.sealed_rows(), [30]);
    memory.reopen();
    assert_eq!(memory.corpus().len(), 31);
}

#[test]
fn amendments_during_a_compaction_survive_a_restart() {
    let mut memory = many(10);
    let corpus = memory.corpus();
    let store = memory.store();
    let fired = std::sync::atomic::AtomicBool::new(false);
    // StopCheck in the middle of building.
    let meanwhile = || {
        if !fired.swap(true, std::sync::atomic::Ordering::SeqCst) {
            let mut changes = corpus.changes();
            changes.extend(RecordId(2), at(70));
            let gone = store.delete_records(&[RecordId(5)]).unwrap();
            changes.forget(&gone);
        }
        false
    };
    let kept = corpus.compact(store, &Options::default(), at(0), &Unwitnessed, &meanwhile).unwrap();
    assert_eq!(kept, Compaction::Sealed { rows: 8 });
    assert!(fired.load(std::sync::atomic::Ordering::SeqCst));
    let check = |memory: &Memory| {
        let window = Window::new(Some(at(60)), None).unwrap();
        let late = Filter { window, ..Filter::default() };
        assert_eq!(memory.corpus().newest(&late, 9, &[]), [RecordId(2)]);
        check_all_found(memory, (1..=10).filter(|n| *n != 5));
    };
    check(&memory);
    memory.reopen();
    check(&memory);
    memory.settle();
    memory.reopen();
    check(&memory);
}

#[test]
fn an_explanation_reports_the_action_in_each_segment() {
    let memory = two_segments();
    let window = Window::new(Some(at(33)), None).unwrap();
    let filter = Filter { window, ..Filter::default() };
    let Explained { hits, segments } = memory.ask("thing40", &[1], &filter, 3);
    assert_eq!(hits.len(), 3);
    let told: Vec<_> = segments.iter().map(|it| (it.rows, it.selected, it.action)).collect();
    assert_eq!(
        told,
        [(32, 0, SegmentAction::Skip), (16, 16, SegmentAction::Scan), (2, 2, SegmentAction::Scan)]
    );
    assert_eq!(segments[0].records, Some((RecordId(1), RecordId(32))));
    assert!(segments[0].segment.is_some() && segments[2].segment.is_none());
    assert_eq!(segments[1].candidates, (16, 0), "meaning has brought up all that there is");
}

#[test]
fn a_predicate_and_an_area_leave_out_what_they_leave_out() {
    let memory = two_segments();
    let (vector, filter) = (embedding(&[1]), Filter::default());
    let even = |id: RecordId| id.0.is_multiple_of(2);
    let query =
        Query { text: "", vector: Some(&vector), filter: &filter, accepts: Some(&even), k: 99 };
    let mut found = ids(&memory.corpus().search(&query));
    found.sort_unstable();
    assert_eq!(found, (1..=25).map(|n| n * 2).collect::<Vec<u64>>());
    let area = Area::new((3.0, 0.0, None), 0.5, "map", "home").unwrap();
    let near = Filter { area: Some(area), ..Filter::default() };
    let mut found = ids(&memory.ask("", &[1], &near, 99).hits);
    found.sort_unstable();
    assert_eq!(found, [3, 13, 23, 33, 43]);
    assert_eq!(memory.corpus().count(&near), 5);
}

#[test]
fn what_is_not_described_is_the_described_one_where_nothing_tells_otherwise() {
    let check = |asked: &str, captions: &[&str], expect: &[u64]| {
        let memory = Memory::new();
        for (second, caption) in (1..).zip(captions) {
            memory.remember(&[(observation(second, "front", caption), embedding(&[1]))]);
        }
        let wanted = mentions(asked).remove(0);
        let target = ObjectQuery::of_stems(wanted.attributes, vec![wanted.head_stem]);
        let wanted = SceneQuery::of_thing(target);
        let seen = memory.corpus().last_sightings(&wanted, &Filter::default(), 9).unwrap();
        let found: Vec<u64> = seen.records.iter().map(|it| it.0).collect();
        assert_eq!(found, expect, "{asked} in {captions:?}");
    };
    check("the box grater", &["a box grater", "a grater"], &[2, 1]);
    check("the box grater", &["a box grater", "a grater", "a metal grater"], &[3, 2, 1]);
    // Before anybody had described it, it may have been another one.
    check("the box grater", &["a grater", "a box grater"], &[2]);
    check("the box grater", &["a box grater", "a grater", "a nutmeg grater"], &[1]);
    check("the cardboard box", &["a cardboard box", "a box", "a closed box"], &[3, 2, 1]);
    check("the cardboard box", &["a cardboard box", "a red box"], &[1]);
    check("the license plate", &["a black license plate", "a white plate"], &[1]);
    check("the rubber gloves", &["rubber gloves", "winter gloves"], &[1]);
    check("the moka pot", &["a small moka pot", "a big pot"], &[1]);
    check("the moka pot", &["a moka pot", "a pot"], &[2, 1]);
}

#[test]
fn evidence_lists_matching_phrases_and_the_rows_of_each_segment() {
    let memory = Memory::new();
    let sights = [
        "a red mug on a desk",
        "a red mug and a blue mug",
        "a mug",
        "a red cup on a desk",
        "a lamp on a desk",
    ];
    for (second, caption) in (1..).zip(sights) {
        memory.remember(&[(observation(second, "front", caption), embedding(&[1]))]);
    }
    let sought = |text: &str, stems: &[&str]| {
        let stems = stems.iter().map(|it| (*it).to_owned()).collect();
        ObjectQuery::of_stems(mentions(text).remove(0).attributes, stems)
    };
    let target = sought("a red mug", &["mug", "cup"]);
    let wanted = SceneQuery::of(target, vec![sought("a desk", &["desk"])]);
    let until = Window::new(None, Some(at(4))).unwrap();
    let filter = Filter { window: until, ..Filter::default() };
    let (seen, evidence) = memory.corpus().explain_last_sightings(&wanted, &filter, 9);
    let seen = seen.unwrap();
    assert_eq!(seen, memory.corpus().last_sightings(&wanted, &filter, 9).unwrap());
    assert_eq!(
        (seen.certainty, seen.records),
        (Certainty::InPlace, vec![RecordId(4), RecordId(1)])
    );
    let told = |thing: &ObjectEvidence| -> Vec<(String, Option<Fit>, u64)> {
        assert_eq!(thing.more, 0);
        thing.phrases.iter().map(|it| (it.phrase.clone(), it.fit, it.records)).collect()
    };
    let of = |phrase: &str, fit, records| (phrase.to_owned(), fit, records);
    let things: Vec<_> = evidence.things.iter().map(told).collect();
    let mugs = vec![
        of("red mug", Some(Fit::Full), 2),
        of("red cup", Some(Fit::Full), 1),
        of("mug", Some(Fit::Possible), 1),
        of("blue mug", None, 1),
    ];
    assert_eq!(things, [mugs, vec![of("desk", Some(Fit::Full), 2)]], "the fifth is too late");
    let [segment] = evidence.segments.as_slice() else { panic!("{evidence:?}") };
    assert_eq!((segment.rows, segment.selected), (5, 4));
    let shown = [(Certainty::InPlace, 2), (Certainty::Shown, 1), (Certainty::Possible, 1)];
    assert_eq!(segment.shown, shown.into());
}

/// In a sealed segment, in a growing one, and after the next start.
#[test]
fn phrases_follow_what_captions_say_after_they_are_read_again() {
    let mut memory = Memory::new();
    let tables: Vec<_> = (1..=20_u32)
        .map(|n| (observation(n, "front", "a table without a mug"), embedding(&[1, 2])))
        .collect();
    memory.remember(&tables);
    memory.settle();
    assert_eq!(memory.sealed_rows().iter().sum::<usize>(), 16, "and four are growing");
    let shows = |memory: &Memory, what: &str| {
        let target = ObjectQuery::of_stems(Vec::new(), vec![what.to_owned()]);
        let wanted = SceneQuery::of_thing(target);
        memory.corpus().count_sightings(&wanted, &Filter::default())
    };
    assert_eq!((shows(&memory, "mug"), shows(&memory, "tabl")), (20, 20));
    memory.forget(&[RecordId(3), RecordId(19)]);
    let store = memory.store();
    let mut at = store.rereading("a better reader").unwrap();
    let captions = store.captions_to_reread(&at, 100).unwrap();
    assert_eq!(captions.len(), 18);
    let without_mug = |(id, _): &(RecordId, String)| (*id, ParsedCaption::by_rules("a table"));
    let parsed: Vec<_> = captions.iter().map(without_mug).collect();
    at.parsed_to = at.end;
    store.put_reread(&parsed, &at).unwrap();
    let mut next = RecordId(0);
    while let Some(after) = memory.corpus().renew_phrases(store, next, &|| false).unwrap() {
        assert!(after > next, "it goes on");
        next = after;
    }
    assert_eq!(next, RecordId(21));
    for _ in 0..2 {
        assert_eq!((shows(&memory, "mug"), shows(&memory, "tabl")), (0, 18));
        check_all_found_by_vector(&memory, 18);
        memory.reopen();
    }
}

fn check_all_found_by_vector(memory: &Memory, expected: usize) {
    let found = memory.ask("", &[1, 2], &Filter::default(), 50).hits;
    assert_eq!(found.len(), expected);
}

#[test]
fn phrases_stay_as_they_are_when_told_to_stop() {
    let memory = many(20);
    memory.settle();
    let before = memory.store().segments().unwrap();
    let next = memory.corpus().renew_phrases(memory.store(), RecordId(0), &|| true).unwrap();
    assert_eq!((next, memory.store().segments().unwrap()), (None, before));
}

/// More records than candidates, so that some are best by their words alone and most
/// are passed over for their lack of words.
#[test]
fn skipped_rows_are_never_in_the_top_k() {
    const CAPTIONS: [&str; 7] = [
        "a red mug",
        "a red mug on a desk",
        "a blue book beside a lamp on a desk",
        "a lamp",
        "a red lamp",
        "a cat",
        "keys",
    ];
    let mut state = 11_u64;
    // Knuth's linear congruential generator.
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i8::try_from((state >> 33) % 15).unwrap() - 7
    };
    // All of them near to each other, so that words tell more than meaning does.
    let mut way = |along: i8| [along, next(), next()];
    let memory = Memory::new();
    let sights: Vec<(NewObservation, Embedding)> = (0..400)
        .map(|n: u32| {
            let caption = CAPTIONS[n as usize * 31 % 97 % CAPTIONS.len()];
            (observation(n, "front", caption), embedding(&way(20)))
        })
        .collect();
    let records = memory.remember(&sights);
    for _ in 0..20 {
        memory.compact_with(&Options::default(), at(0));
    }
    let model: Model = records
        .iter()
        .zip(&sights)
        .map(|(record, (_, vector))| (record.id, (record.clone(), vector.clone())))
        .collect();
    let (mut passed_over, mut lifted) = (0, 0);
    for asked in 0..60 {
        let text =
            ["red mug", "lamp on a desk", "cat", "the keys", "a blue lamp", "sofa"][asked % 6];
        let filter = match asked % 4 {
            0 => Filter { window: Window::new(Some(at(90)), None).unwrap(), ..Filter::default() },
            _ => Filter::default(),
        };
        // Across, some are much nearer than others.
        let along = if asked % 3 == 0 { 0 } else { 20 };
        let (vector, k) = (embedding(&way(along)), [1, 5, 10, 20][asked % 4]);
        let query = Query { text, vector: Some(&vector), filter: &filter, accepts: None, k };
        let Explained { hits, segments } = memory.corpus().explain(&query);
        let best = expected_scores(&model, &query);
        assert_eq!(hits.len(), k);
        for (hit, best) in hits.iter().zip(best) {
            assert!((hit.score - best).abs() < 3e-3, "{text} {k}: {hit:?} {best}");
        }
        let lexical: usize = segments.iter().map(|it| it.candidates.1).sum();
        if lexical == 0 { passed_over += 1 } else { lifted += 1 }
    }
    assert!(passed_over > 5 && lifted > 5, "{passed_over} {lifted}");
}

/// Scores of the best by a look at each record that is within the filter's window.
fn expected_scores(model: &Model, query: &Query<'_>) -> Vec<f32> {
    let mut words = MutablePostings::default();
    for (record, _) in model.values() {
        words.push(AnalysedText::new(&record.caption));
    }
    let asked = Bm25Query::new(query.text, &[&words]);
    let window = query.filter.window;
    let mut scores: Vec<f32> = (0..)
        .map(Row)
        .zip(model.values())
        .filter(|(_, (record, _))| window.touches(record.meta.taken_at, record.end_at))
        .map(|(row, (_, own))| {
            let dense = own.cosine(query.vector.unwrap()).max(0.0);
            (dense + WEIGHTS.1 * asked.score(&words, row)) / (1.0 + WEIGHTS.1)
        })
        .collect();
    scores.sort_unstable_by(|a, b| b.total_cmp(a));
    scores.truncate(query.k);
    scores
}

/// Time, whether from the front, caption, where its vector points.
type Sight = (u32, bool, String, (i8, i8, i8));

/// What happens to a memory.
#[derive(Debug, Clone)]
enum Step {
    Remember(Vec<Sight>),
    Forget(u64),
    /// A frame becomes a record.
    Frame(u32, String, (i8, i8, i8)),
    /// The last frame's view lasts.
    Last(u32),
    Keep,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let way = || (-2_i8..=2, -2_i8..=2, -2_i8..=2);
    let one = (0_u32..30, proptest::bool::ANY, "((red|mug|book) ){0,3}", way());
    let step = prop_oneof![
        4 => prop::collection::vec(one, 1..12).prop_map(Step::Remember),
        2 => (1_u64..60).prop_map(Step::Forget),
        2 => (0_u32..30, "((red|mug|book) ){0,3}", way()).prop_map(|(at, text, way)| Step::Frame(at, text, way)),
        2 => (0_u32..60).prop_map(Step::Last),
        4 => prop::strategy::Just(Step::Keep),
        1 => prop::strategy::Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..14)
}

/// What a memory holds, by plain means.
type Model = BTreeMap<RecordId, (Record, Embedding)>;

fn take(memory: &mut Memory, model: &mut Model, step: Step) {
    match step {
        Step::Remember(all) => {
            let observations: Vec<_> = all
                .into_iter()
                .map(|(seconds, front, caption, (x, y, z))| {
                    let source = if front { "front" } else { "rear" };
                    (observation(seconds, source, &caption), embedding(&[x, y, z]))
                })
                .collect();
            for (record, (_, vector)) in
                memory.remember(&observations).into_iter().zip(observations)
            {
                model.insert(record.id, (record, vector));
            }
        }
        Step::Forget(id) => {
            let gone = memory.forget(&[RecordId(id)]);
            assert_eq!(!gone.is_empty(), model.remove(&RecordId(id)).is_some());
        }
        Step::Frame(seconds, caption, (x, y, z)) => {
            let meta = observation(seconds, "front", "").meta;
            let jpeg = [&[0xFF, 0xD8, 0xFF], [7; 40].as_slice()].concat();
            let ticket = memory.store().accept_frame(&meta, &jpeg, vec![1]).unwrap();
            let vector = embedding(&[x, y, z]);
            let mut changes = memory.corpus().changes();
            let record = memory
                .store()
                .commit_frame(
                    ticket,
                    &Caption::without_confidence(&caption),
                    &ParsedCaption::by_rules(&caption),
                    &vector,
                )
                .unwrap();
            changes.insert(&record, &vector).unwrap();
            model.insert(record.id, (record, vector));
        }
        Step::Last(end) => {
            let mut changes = memory.corpus().changes();
            // An error where there is no view, or its record is forgotten.
            if let Ok(Merged { record: Some(id), end_at, .. }) =
                memory.store().merge_frame("front", at(end))
            {
                changes.extend(id, end_at);
                model.get_mut(&id).unwrap().0.end_at = end_at;
            }
        }
        Step::Keep => {
            memory.compact_with(&Options::default(), at(0));
        }
        Step::Reopen => memory.reopen(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// With no more records than candidates the search is exact.
    #[test]
    fn search_equals_a_scan_of_all_records(
        steps in steps(),
        text in "((red|mugs|lamp) ){0,2}",
        (start, length) in (0_u32..30, 0_u32..20),
        source in prop::option::of(prop::sample::select(vec!["front", "rear", "side"])),
        k in 0_usize..10,
    ) {
        let (mut memory, mut model) = (Memory::new(), Model::new());
        for step in steps {
            if model.len() < 50 || !matches!(step, Step::Remember(_)) {
                take(&mut memory, &mut model, step);
            }
        }
        let window = Window::new(Some(at(start)), Some(at(start + length))).unwrap();
        let source = source.map(str::to_owned);
        let filter = Filter { window, source: source.clone(), ..Filter::default() };
        let hits = memory.ask(&text, &[2, 1], &filter, k).hits;
        check_against(&memory, &model, (&text, &filter, k), &hits);
    }
}

fn check_against(
    memory: &Memory,
    model: &Model,
    (text, filter, k): (&str, &Filter, usize),
    hits: &[Hit],
) {
    assert_eq!(memory.corpus().len(), model.len());
    let passes = |record: &Record| {
        filter.window.touches(record.meta.taken_at, record.end_at)
            && filter.source.as_ref().is_none_or(|source| *source == record.meta.source)
    };
    let passing: Vec<_> = model.values().filter(|(record, _)| passes(record)).collect();
    assert_eq!(memory.corpus().count(filter), passing.len());
    assert_eq!(hits.len(), k.min(passing.len()));
    let mut newest: Vec<_> = passing.iter().map(|(record, _)| (record.end_at, record.id)).collect();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    let newest: Vec<RecordId> = newest.into_iter().map(|(_, id)| id).take(5).collect();
    assert_eq!(memory.corpus().newest(filter, 5, &[]), newest);

    let everything: Vec<u64> = passing.iter().map(|(record, _)| record.id.0).collect();
    assert!(ids(hits).iter().all(|id| everything.contains(id)));
    let vector = embedding(&[2, 1]);
    for hit in hits {
        let (_, own) = &model[&hit.id];
        assert!((hit.dense - own.cosine(&vector).max(0.0)).abs() < 2e-3, "{hit:?}");
        assert!(
            (hit.score - (hit.dense + WEIGHTS.1 * hit.lexical) / (1.0 + WEIGHTS.1)).abs() < 1e-5
        );
    }
    let in_order = |pair: &[Hit]| (-pair[0].score, pair[0].id.0) < (-pair[1].score, pair[1].id.0);
    assert!(hits.windows(2).all(in_order));
    // Unless one was forgotten.
    // Words are weighed by all rows that are still in the index.
    if model.keys().next_back().is_none_or(|last| last.0 == model.len() as u64) {
        let mut words = MutablePostings::default();
        for (record, _) in model.values() {
            words.push(AnalysedText::new(&record.caption));
        }
        let asked = Bm25Query::new(text, &[&words]);
        let mut expected: Vec<f32> = (0..)
            .map(Row)
            .zip(model.values())
            .filter(|(_, (record, _))| passes(record))
            .map(|(row, (_, own))| {
                (own.cosine(&vector).max(0.0) + WEIGHTS.1 * asked.score(&words, row))
                    / (1.0 + WEIGHTS.1)
            })
            .collect();
        expected.sort_unstable_by(|a, b| b.total_cmp(a));
        for (hit, expected) in hits.iter().zip(expected) {
            assert!((hit.score - expected).abs() < 3e-3, "{hit:?} {expected}");
        }
    }
}

#[test]
fn a_corpus_is_shared_between_threads() {
    fn require_shareable<T: Send + Sync>() {}
    require_shareable::<Arc<Corpus>>();
}

#[test]
fn a_committed_record_is_searchable_once_the_corpus_has_settled() {
    let memory = Memory::new();
    let (store, corpus) = memory.open.as_ref().unwrap();
    let item = (observation(1, "front", "a mug"), embedding(&[9]));
    let mut changes = corpus.changes();
    let records = store.commit_observations(&parse(std::slice::from_ref(&item))).unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            corpus.settle();
            corpus.count(&Filter::default())
        });
        // Committed, and not yet inserted: whoever settles now waits for the change.
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(corpus.count(&Filter::default()), 0);
        changes.insert(&records[0], &item.1).unwrap();
        drop(changes);
        assert_eq!(reader.join().unwrap(), 1);
    });
}
