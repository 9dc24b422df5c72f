//! Retention against a plain list: records in any order of time, some of the far future, ingested
//! at once, forgotten and seen again meanwhile, with restarts in between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use proptest::prelude::{ProptestConfig, Strategy, prop, prop_assert_eq, prop_oneof, proptest};

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::base::time::{StandingClock, Timestamp};
use crate::search::Corpus;
use crate::search::compaction::{Compaction, Options};
use crate::search::compactor::Compactor;
use crate::search::retention::{RetentionWitness, Unwitnessed};
use crate::search::tests::{DIMENSION, Memory, at, embedding, many, observation, observe_nth};
use crate::store::keyring::master_key::KeySource;
use crate::store::residue::{self, Erased};
use crate::store::tests::parse;
use crate::store::{EmbeddingSpace, Merged, NewObservation, Record, Store};

/// Kept for 640 seconds: late by ten at most.
const AGE_MAX: u32 = 640;
const LATE_MAX: u32 = 10;
/// Of which 36 begin a round.
const RECORDS_MAX: usize = 20;
const SURPLUS_MIN: usize = 16;

fn keep(memory: &Memory, options: &Options, now: u32) {
    for _ in 0..1_000 {
        if memory.compact_with(options, at(now)) == Compaction::Nothing {
            return;
        }
    }
    panic!("keeping does not come to an end");
}

fn held(memory: &Memory) -> BTreeSet<u64> {
    let store: BTreeSet<u64> = memory.store().scan().map(|it| it.unwrap().0.id.0).collect();
    assert_eq!(memory.corpus().len(), store.len());
    assert_eq!(memory.store().record_count(), store.len() as u64);
    store
}

/// When each record was seen last, by plain means.
type List = BTreeMap<u64, u32>;

fn let_go(list: &mut List, options: &Options, now: u32) {
    let since = options.age_max.map(|_| now.saturating_sub(AGE_MAX));
    let is_late = since.is_some_and(|since| list.values().any(|last| last + LATE_MAX < since));
    let is_over = options.records_max.is_some() && list.len() > RECORDS_MAX + SURPLUS_MIN;
    if !is_late && !is_over {
        return;
    }
    let mut by_age: Vec<(u32, u64)> = list.iter().map(|(id, last)| (*last, *id)).collect();
    by_age.sort_unstable();
    let surplus = match options.records_max {
        Some(_) => by_age.len().saturating_sub(RECORDS_MAX),
        None => 0,
    };
    let kept = by_age.into_iter().skip(surplus);
    *list = kept
        .filter(|(last, _)| since.is_none_or(|since| *last >= since))
        .map(|(last, id)| (id, last))
        .collect();
}

#[derive(Debug, Clone)]
enum Step {
    /// So many seconds from now, back or ahead.
    Remember(Vec<i32>),
    /// A frame becomes a record, which is being seen from then on.
    Frame,
    Last,
    Forget(u64),
    Pass(u32),
    Keep,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let second = prop_oneof![8 => -900_i32..20, 1 => prop::strategy::Just(1_000_000)];
    let step = prop_oneof![
        5 => prop::collection::vec(second, 1..30).prop_map(Step::Remember),
        2 => prop::strategy::Just(Step::Frame),
        2 => prop::strategy::Just(Step::Last),
        1 => (1_u64..120).prop_map(Step::Forget),
        4 => (0_u32..400).prop_map(Step::Pass),
        5 => prop::strategy::Just(Step::Keep),
        1 => prop::strategy::Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..24)
}

fn by_age() -> Options {
    let age_max = Some(Duration::from_secs(u64::from(AGE_MAX)));
    Options { age_max, ..Options::default() }
}

fn by_number() -> Options {
    Options { records_max: Some(RECORDS_MAX as u64), ..Options::default() }
}

fn remember_frame(memory: &Memory, now: u32) -> u64 {
    let meta = observation(now, "camera", "").meta;
    let jpeg = [&[0xFF, 0xD8, 0xFF], [7; 40].as_slice()].concat();
    let (caption, vector) = ("a red mug", embedding(&[3]));
    let parsed = parse(&[(observation(now, "camera", caption), vector.clone())]).remove(0).1;
    let caption = crate::base::caption::Caption::without_confidence(caption);
    let mut changes = memory.corpus().changes();
    let (store, signature) = (memory.store(), vec![1]);
    let kept = store.accept_captioned_frame(&meta, &jpeg, signature, &caption, &parsed, &vector);
    let record = kept.unwrap();
    changes.insert(&record, &vector).unwrap();
    record.id.0
}

fn take(memory: &mut Memory, list: &mut List, now: &mut u32, options: &Options, step: Step) {
    match step {
        Step::Remember(all) => {
            let seconds: Vec<u32> = all.iter().map(|by| now.saturating_add_signed(*by)).collect();
            let sights: Vec<(NewObservation, Embedding)> = seconds
                .iter()
                .map(|it| (observation(*it, "front", "a mug"), embedding(&[1])))
                .collect();
            let records = memory.remember(&sights);
            list.extend(records.iter().map(|it| it.id.0).zip(seconds));
        }
        Step::Frame => {
            list.insert(remember_frame(memory, *now), *now);
        }
        Step::Last => {
            let mut changes = memory.corpus().changes();
            let merged = memory.store().merge_frame("camera", at(*now));
            if let Ok(Merged { record: Some(id), end_at, .. }) = merged {
                changes.extend(id, end_at);
                list.insert(id.0, *now);
            }
        }
        Step::Forget(id) => {
            let gone = memory.forget(&[RecordId(id)]);
            assert_eq!(!gone.is_empty(), list.remove(&id).is_some());
        }
        Step::Pass(seconds) => *now += seconds,
        Step::Keep => {
            keep(memory, options, *now);
            let_go(list, options, *now);
        }
        Step::Reopen => memory.reopen(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn what_is_kept_is_what_a_list_keeps(
        steps in steps(),
        kind in 0..3,
    ) {
        let (mut memory, mut list, mut now) = (Memory::new(), List::new(), 1_000);
        let options = match kind {
            0 => by_age(),
            1 => by_number(),
            _ => Options { age_max: by_age().age_max, ..by_number() },
        };
        for step in steps {
            take(&mut memory, &mut list, &mut now, &options, step);
            let expected: BTreeSet<u64> = list.keys().copied().collect();
            prop_assert_eq!(held(&memory), expected);
        }
    }
}

#[test]
fn one_record_of_the_far_future_keeps_no_other() {
    let memory = Memory::new();
    memory.remember(&[(observation(4_000_000_000, "front", "thing0"), embedding(&[9]))]);
    memory.remember(&(1..=180).map(observe_nth).collect::<Vec<_>>());
    keep(&memory, &by_age(), 100_000);
    assert_eq!(held(&memory), BTreeSet::from([1]));
}

#[test]
fn what_is_out_cannot_be_read_in_any_file_and_what_is_not_can() {
    let memory = Memory::new();
    // Each old one among new ones, in every segment and in the growing one.
    let seconds = |n: u32| if n.is_multiple_of(3) { 5_000 } else { n };
    let caption = |n: u32| format!("planted{n:04}");
    let sights = (1..=60).map(|n| (observation(seconds(n), "front", &caption(n)), embedding(&[1])));
    memory.remember(&sights.collect::<Vec<_>>());
    keep(&memory, &Options::default(), 5_000);
    let find = |texts: Vec<String>, records: Vec<u32>| {
        let id = |n: &u32| RecordId(u64::from(*n));
        let records = records.iter().map(|n| (id(n), id(n))).collect();
        let erased = Erased { records, texts, ..Erased::default() };
        residue::search(memory.dir.path(), &KeySource::InStore, &erased).unwrap().found
    };
    let old: Vec<u32> = (1..=60).filter(|n| n % 3 != 0).collect();
    let look = || find(old.iter().map(|n| caption(*n)).collect(), old.clone());
    assert!(look().len() >= 40, "they are there before");
    keep(&memory, &by_age(), 5_000);
    assert_eq!(look(), []);
    assert_eq!(held(&memory), (1..=60).filter(|n| n % 3 == 0).collect());
    assert!(find(vec![caption(3)], vec![3]).len() >= 2, "record and index have it");
}

#[test]
fn a_round_begins_when_it_is_worth_one() {
    let memory = many(100);
    let age = by_age();
    keep(&memory, &age, AGE_MAX + 1 + LATE_MAX);
    assert_eq!(held(&memory).len(), 100, "the first is late by what it may be");
    keep(&memory, &age, AGE_MAX + 2 + LATE_MAX);
    assert_eq!(held(&memory), (12..=100).collect(), "and then all go that are out");
    let number = by_number();
    keep(&memory, &number, 0);
    assert_eq!(held(&memory), (81..=100).collect());
    memory.remember(&(101..=116).map(observe_nth).collect::<Vec<_>>());
    keep(&memory, &number, 0);
    assert_eq!(held(&memory).len(), RECORDS_MAX + SURPLUS_MIN);
}

#[derive(Default)]
struct Told(Mutex<Vec<(bool, Vec<u64>)>>);

impl RetentionWitness for Told {
    fn begin(&self, ids: &[RecordId]) {
        self.0.lock().unwrap().push((true, ids.iter().map(|id| id.0).collect()));
    }

    fn end(&self, gone: &[RecordId]) {
        self.0.lock().unwrap().push((false, gone.iter().map(|id| id.0).collect()));
    }
}

#[test]
fn who_is_told_hears_of_each_before_and_after() {
    let memory = many(60);
    keep(&memory, &Options::default(), 0);
    // The last of a segment that is else out.
    memory.forget(&[RecordId(2)]);
    let (told, options) = (Told::default(), by_number());
    let compact =
        |told: &Told| memory.corpus().compact(memory.store(), &options, at(0), told, &|| false);
    while compact(&told).unwrap() != Compaction::Nothing {}
    let told = told.0.into_inner().unwrap();
    let pairs: Vec<&[(bool, Vec<u64>)]> = told.chunks(2).collect();
    let mut gone: Vec<u64> = Vec::new();
    for pair in pairs {
        assert_eq!((pair[0].0, pair[1].0), (true, false));
        assert_eq!(pair[0].1, pair[1].1);
        gone.extend(&pair[0].1);
    }
    assert_eq!(gone, (1..=40).filter(|id| *id != 2).collect::<Vec<_>>());
}

#[test]
fn a_history_that_is_ingested_at_once_stays_within_the_bound() {
    const MOST: usize = 200;
    let dir = tempfile::tempdir().unwrap();
    let space = EmbeddingSpace {
        model: "test".to_owned(),
        fingerprint: "0".to_owned(),
        dimension: DIMENSION,
    };
    let store = Store::open(&crate::store::Options::at(dir.path().to_owned()), &space).unwrap();
    let corpus = Arc::new(Corpus::open_with(&store, 64).unwrap());
    let options = Options { records_max: Some(MOST as u64), ..Options::default() };
    let clock = Arc::new(StandingClock::at(Timestamp::EPOCH));
    let told = (Arc::new(Unwitnessed) as _, Box::new(|| {}) as _);
    let compactor =
        Compactor::start(Arc::clone(&corpus), store.clone(), options, clock, told).unwrap();
    // Newest first, as no camera has it.
    let all: Vec<_> = (1..=1_500).rev().map(observe_nth).collect();
    for some in all.chunks(10) {
        let mut changes = corpus.changes();
        let records: Vec<Record> = store.commit_observations(&parse(some)).unwrap();
        for (record, (_, vector)) in records.iter().zip(some) {
            changes.insert(record, vector).unwrap();
        }
        drop(changes);
        assert!(corpus.len() <= MOST + 2 * SURPLUS_MIN + 10, "{}", corpus.len());
    }
    for _ in 0..500 {
        if corpus.len() <= MOST + SURPLUS_MIN && compactor.is_settled() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    drop(compactor);
    let second = |record: &Record| usize::try_from(record.end_at.micros() / 1_000_000).unwrap();
    let held: BTreeSet<usize> = store.scan().map(|it| second(&it.unwrap().0)).collect();
    assert!((MOST..=MOST + SURPLUS_MIN).contains(&held.len()), "{}", held.len());
    // The newest by time came first, and are all there.
    let newest: BTreeSet<usize> = (1_500 - MOST + 1..=1_500).collect();
    assert!(newest.is_subset(&held), "{held:?}");
}
