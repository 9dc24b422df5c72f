//! Notes against a plain list of them: kept, found, filtered, forgotten, through restarts.

use super::*;
use crate::base::time::Timestamp;
use crate::index::terms::terms;
use crate::memory::embedding_space;
use crate::memory::notes::filter::NoteFilter;
use crate::model::TextRole;
use crate::model::scripted::ScriptedEmbedder;
use crate::search::usual_likeness::UsualLikeness;
use crate::store::Options;
use crate::store::reindex::Reindex;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop, prop_oneof, proptest};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

struct Bench {
    dir: tempfile::TempDir,
    embedder: EmbedderHandle,
    /// Taken for the moment of a restart.
    notes: Option<Notes>,
}

fn open(dir: &Path, embedder: &EmbedderHandle) -> Notes {
    let store = Store::open(&Options::at(dir.to_owned()), &embedding_space(embedder)).unwrap();
    Notes::open(store, embedder.clone(), Zone::from_name("UTC").unwrap()).unwrap()
}

fn now() -> Timestamp {
    Timestamp::from_seconds(1_735_905_600.0).unwrap()
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let embedder = EmbedderHandle::new(Box::new(ScriptedEmbedder::new(64)));
        let notes = Some(open(dir.path(), &embedder));
        Self { dir, embedder, notes }
    }

    fn notes(&self) -> &Notes {
        self.notes.as_ref().unwrap()
    }

    fn restart(&mut self) {
        self.notes = None;
        self.notes = Some(open(self.dir.path(), &self.embedder));
    }

    fn save(&self, text: &str, area: &str, metadata: Value) -> Uuid {
        let Value::Object(metadata) = metadata else { panic!("no object") };
        let (text, area) = (text.to_owned(), area.to_owned());
        let note = NewNote { text, area, metadata, expires_at: None };
        self.notes().save(note, now()).unwrap()
    }

    fn about(&self, topic: &str, threshold: f32) -> Vec<Uuid> {
        let about = self.notes().about(topic, threshold, now()).unwrap();
        about.notes.iter().map(|it| it.found.note.id).collect()
    }

    fn texts(&self, query: &str, threshold: f32, filter: &str) -> Vec<String> {
        let filter = (!filter.is_empty()).then(|| NoteFilter::parse(filter).unwrap());
        let loaded = self.notes().load(query, (threshold, 100), filter.as_ref(), now()).unwrap();
        loaded.found.into_iter().map(|it| it.note.text).collect()
    }
}

#[test]
fn saved_notes_are_found_by_the_next_search_and_after_a_restart() {
    let mut bench = Bench::new();
    let id = bench.save(
        "The user's project identifier is 'proj_X-7'.",
        "main",
        json!({"z": 1.0, "a": 1}),
    );
    bench.save("The door code is 4711.", "main", json!({}));
    for _ in 0..2 {
        let loaded = bench.notes().load("user project identifier", (0.6, 5), None, now()).unwrap();
        assert_eq!(loaded.found.len(), 1, "{loaded:?}");
        assert_eq!(loaded.found[0].note.id, id);
        assert_eq!(loaded.found[0].note.metadata, r#"{"z":1.0,"a":1}"#);
        assert_eq!((loaded.passed, loaded.best), (2, Some(loaded.found[0].score)));
        bench.restart();
    }
}

#[test]
fn a_filter_sees_metadata_and_the_notes_own_names() {
    let bench = Bench::new();
    let id = bench.save(
        "red mug",
        "main",
        json!({"year": 2024, "tags": ["lab"], "project": {"name": "Titan"}}),
    );
    bench.save("red mug too", "solutions", json!({"year": 2023}));
    let filters = [
        "area == 'main' and year >= 2024 and 'lab' in tags".to_owned(),
        format!("id == '{id}'"),
        "time == '2025-01-03 12:00:00' and timestamp == 1735905600 and area=='main'".to_owned(),
        "tags is not None".to_owned(),
        "metadata.project.name == 'Titan' and project['name'] == metadata['project'].name"
            .to_owned(),
    ];
    for filter in filters {
        assert_eq!(bench.texts("red mug", 0.6, &filter), ["red mug"], "{filter}");
    }
}

#[test]
fn a_filter_of_another_kind_than_all_notes_is_refused() {
    let bench = Bench::new();
    bench.save("red mug", "main", json!({"year": 2024}));
    bench.save("blue mug", "main", json!({}));
    let load = |filter: &str| {
        let filter = NoteFilter::parse(filter).unwrap();
        let found = bench.notes().load("mug", (0.0, 9), Some(&filter), now());
        found.map(|it| it.found.len())
    };
    let refused = load("year >= '2024'").unwrap_err().to_string();
    assert!(refused.contains("accepted is 2024"), "{refused}");
    assert!(matches!(load("timestamp > '2024'"), Err(NotesError::Incomparable(_))));
    assert_eq!(load("year >= 2024").unwrap(), 1);
    // One odd note is no reason to refuse what others answer.
    bench.save("green mug", "main", json!({"year": "2025"}));
    assert_eq!(load("year >= '2024'").unwrap(), 1);
}

#[test]
fn a_filtered_search_is_complete_however_many_are_nearer() {
    let bench = Bench::new();
    for n in 0..60 {
        bench.save("a red mug", "main", json!({"n": n}));
    }
    bench.save("a red mug and a blue book on the table", "rare", json!({}));
    assert_eq!(bench.texts("a red mug", 0.6, "area == 'rare'").len(), 1);
    assert_eq!(bench.texts("a red mug", 0.6, "n >= 10 and n < 50").len(), 40);
}

#[test]
fn a_note_that_tells_comes_before_one_that_asks() {
    let bench = Bench::new();
    bench.save("did Kate visit Japan?", "main", json!({}));
    bench.save("Kate did visit the gardens of Japan", "main", json!({}));
    let found = bench.texts("did Kate visit Japan", 0.0, "");
    assert_eq!(found, ["Kate did visit the gardens of Japan", "did Kate visit Japan?"]);
}

#[test]
fn the_end_of_a_long_note_is_found() {
    let bench = Bench::new();
    let filler = "Nothing of note happened in the corridor on this day. ".repeat(18);
    let text = format!("{filler}\nThe spare keys hang behind the piano.");
    bench.save(&text, "main", json!({}));
    assert_eq!(bench.texts("spare keys behind the piano", 0.7, ""), [text]);
}

#[test]
fn deleted_and_forgotten_notes_are_gone_also_from_the_store() {
    let mut bench = Bench::new();
    let mug = bench.save("the red mug", "main", json!({}));
    let titan = bench.save("Project Titan ends in May", "main", json!({}));
    assert_eq!(bench.about("Project Titan", 0.75), [titan]);
    assert_eq!(bench.notes().delete(&[titan, Uuid::nil(), titan]).unwrap(), [titan]);
    assert_eq!(bench.notes().delete(&[titan]).unwrap(), Vec::<Uuid>::new());
    for _ in 0..2 {
        assert_eq!(bench.texts("Project Titan red mug", 0.0, ""), ["the red mug"]);
        assert_eq!(bench.notes().store.note(titan), Ok(None));
        bench.restart();
    }
    assert_eq!(bench.notes().len(), 1);
    bench.notes().delete(&[mug]).unwrap();
    assert!(bench.notes().is_empty());
}

#[test]
fn metadata_is_bounded_and_leaves_the_notes_own_names_alone() {
    let bench = Bench::new();
    let save = |metadata: Value| {
        let metadata = metadata.as_object().unwrap().clone();
        let note =
            NewNote { text: "x".to_owned(), area: "main".to_owned(), metadata, expires_at: None };
        bench.notes().save(note, Timestamp::EPOCH)
    };
    for name in OWN_NAMES {
        assert!(matches!(save(json!({ name: 1 })), Err(NotesError::OwnName(it)) if it == name));
    }
    let large = save(json!({"x": "y".repeat(METADATA_BYTES_MAX)}));
    assert!(matches!(large, Err(NotesError::MetadataTooLarge { bytes: 4_104 })), "{large:?}");
    assert!(bench.notes().is_empty());
}

#[test]
fn notes_are_embedded_anew_by_a_reindex() {
    let mut bench = Bench::new();
    for n in 0..BATCH + 3 {
        bench.save(&format!("note {n} about a red mug"), "main", json!({}));
    }
    let before = bench.texts("red mug", 0.6, "");
    bench.notes = None;
    let other = ScriptedEmbedder::with_name("another", 32);
    bench.embedder = EmbedderHandle::new(Box::new(other));
    let options = Options::at(bench.dir.path().to_owned());
    Reindex::open(&options, &embedding_space(&bench.embedder)).unwrap().finish().unwrap();
    for _ in 0..2 {
        bench.restart();
        let mut after = bench.texts("red mug", 0.6, "");
        after.sort();
        let mut expected = before.clone();
        expected.sort();
        assert_eq!(after, expected);
    }
}

#[test]
fn a_rare_word_lifts_a_note_above_its_similarity_and_a_common_one_hardly() {
    let bench = Bench::new();
    for n in 0..30 {
        bench.save(&format!("train {n} leaves from platform {}", n + 40), "main", json!({}));
    }
    let alarm = "the alarm for the train is set to 6:30";
    bench.save(alarm, "main", json!({}));
    let lift = |query: &str| {
        let query_vector = bench.embedder.embed(TextRole::Query, query).unwrap();
        let vector = bench.embedder.embed(TextRole::Passage, alarm).unwrap();
        let loaded = bench.notes().load(query, (0.0, 99), None, now()).unwrap();
        let found = loaded.found.iter().find(|it| it.note.text == alarm).unwrap();
        found.score - bench.embedder.similarity(&vector, &query_vector)
    };
    assert!(lift("alarm") > 0.05, "{}", lift("alarm"));
    assert!(lift("train") < 0.001, "{}", lift("train"));
}

#[test]
fn an_expired_note_is_not_found_and_leaves_the_disk() {
    let mut bench = Bench::new();
    let in_an_hour = now().plus(Duration::from_hours(1));
    let note = |expires_at| NewNote {
        text: "the parcel waits at the desk".to_owned(),
        area: "main".to_owned(),
        metadata: Map::new(),
        expires_at,
    };
    let short = bench.notes().save(note(Some(in_an_hour)), now()).unwrap();
    let long = bench.notes().save(note(None), now()).unwrap();
    let found = |bench: &Bench, at: Timestamp| -> Vec<Uuid> {
        let loaded = bench.notes().load("parcel", (0.0, 9), None, at).unwrap();
        loaded.found.iter().map(|it| it.note.id).collect()
    };
    bench.restart();
    assert_eq!(found(&bench, now()).len(), 2);
    assert_eq!(bench.notes().store.note(short).unwrap().unwrap().expires_at, Some(in_an_hour));
    assert_eq!(found(&bench, in_an_hour), [long]);
    assert_eq!(bench.notes().store.note(short), Ok(None));
    bench.restart();
    assert_eq!((bench.notes().len(), found(&bench, now())), (1, vec![long]));
    let past = bench.notes().save(note(Some(now())), now()).unwrap_err();
    assert!(matches!(past, NotesError::ExpiresInThePast), "{past}");
}

#[test]
fn an_update_changes_what_it_names_and_embeds_the_text_anew() {
    let mut bench = Bench::new();
    let id = bench.save("the red mug is in the kitchen", "main", json!({"year": 2024}));
    let change =
        NoteChange { text: Some("the bike needs air".to_owned()), ..NoteChange::default() };
    let updated = bench.notes().update(id, change, now().plus(Duration::from_secs(9))).unwrap();
    let updated = updated.unwrap();
    assert_eq!((updated.saved_at, updated.metadata.as_str()), (now(), r#"{"year":2024}"#));
    let area = NoteChange { area: Some("garage".to_owned()), ..NoteChange::default() };
    bench.notes().update(id, area, now()).unwrap();
    for _ in 0..2 {
        assert_eq!(
            bench.texts("air for the bike", 0.6, "area == 'garage'"),
            ["the bike needs air"]
        );
        assert!(bench.texts("red mug kitchen", 0.7, "").is_empty());
        bench.restart();
    }
    let later = now().plus(Duration::from_mins(1));
    let expire = |expiry| NoteChange { expiry: Some(expiry), ..NoteChange::default() };
    bench.notes().update(id, expire(Expiry::At(later)), now()).unwrap();
    bench.notes().update(id, expire(Expiry::Never), now()).unwrap();
    assert_eq!(bench.notes().load("bike", (0.0, 9), None, later).unwrap().found.len(), 1);
    bench.notes().update(id, expire(Expiry::At(later)), now()).unwrap();
    assert_eq!(bench.notes().update(id, NoteChange::default(), later).unwrap(), None);
    assert_eq!(bench.notes().update(Uuid::nil(), NoteChange::default(), now()).unwrap(), None);
}

#[test]
fn a_topic_takes_the_notes_that_hold_all_of_its_words_and_not_those_that_hold_one() {
    let bench = Bench::new();
    let budget = "Before the summer break Anna wants the budget of the Titan project approved by \
        the board, together with the plans for the new office in Linz";
    let budget = bench.save(budget, "main", json!({}));
    let end = bench.save("Project Titan ends in May", "main", json!({}));
    let moon = bench.save("Saturn's largest moon is Titan", "main", json!({}));
    bench.save("The door code is 4711", "main", json!({}));
    let topic = "all information related to Project Titan";
    let about = bench.notes().about(topic, 0.75, now()).unwrap();
    let mut ids: Vec<Uuid> = about.notes.iter().map(|it| it.found.note.id).collect();
    ids.sort();
    let mut expected = [budget, end];
    expected.sort();
    assert_eq!(ids, expected);
    assert!(about.notes.iter().all(|it| it.why == Why::Words));
    assert_eq!(about.near.iter().map(|it| it.note.id).collect::<Vec<_>>(), [moon]);
}

#[test]
fn a_script_that_the_embedder_does_not_know_is_matched_as_written() {
    let bench = Bench::new();
    let notes = ["오늘 날씨는 맑고 바람이 없다", "차 열쇠는 서랍에 있다", "회의는 오후 세 시다"];
    for note in notes {
        bench.save(note, "main", json!({}));
    }
    bench.save("the car key is in the drawer", "main", json!({}));
    let found = |query: &str| bench.notes().load(query, (0.6, 9), None, now()).unwrap();
    let weather = found("오늘 날씨");
    assert!(weather.is_literal);
    let texts: Vec<&str> = weather.found.iter().map(|it| it.note.text.as_str()).collect();
    assert_eq!(texts, [notes[0]]);
    assert!((weather.found[0].score - 1.0).abs() < 1e-6);
    assert!(found("고양이 사료").found.is_empty());
    // Nor does a query that it reads find a note that it does not.
    let key = found("where is the car key");
    assert!(!key.is_literal);
    assert_eq!(key.found.len(), 1);
    assert_eq!(bench.about("오늘의 날씨", 0.75).len(), 1);
    assert!(bench.about("내일 회식", 0.75).is_empty());
}

#[derive(Debug, Clone)]
enum Call {
    Save {
        text: String,
        year: u8,
    },
    /// Changes the n-th note.
    Update {
        nth: usize,
        text: String,
    },
    /// Deletes the n-th note.
    Delete(usize),
    Forget {
        query: String,
        threshold: f32,
    },
    Restart,
}

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["red", "blue", "mug", "book", "desk"]), 1..4)
        .prop_map(|words| words.join(" "))
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        6 => (texts(), 0..4_u8).prop_map(|(text, year)| Call::Save { text, year }),
        1 => (0..8_usize, texts()).prop_map(|(nth, text)| Call::Update { nth, text }),
        1 => (0..8_usize).prop_map(Call::Delete),
        1 => (texts(), 0.5_f32..1.0).prop_map(|(query, threshold)| Call::Forget { query, threshold }),
        1 => Just(Call::Restart),
    ];
    prop::collection::vec(call, 1..25)
}

/// BM25 by its definition, where a term of one text of mean length weighs 1.
fn bm25(texts: &[String], query: &str, text: &str) -> f64 {
    let cut: Vec<Vec<String>> = texts.iter().map(|text| terms(text)).collect();
    let (all, own) = (cut.len() as f64, terms(text));
    let mean = cut.iter().map(Vec::len).sum::<usize>() as f64 / all;
    let rarity = |holding: f64| (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
    let asked: BTreeSet<String> = terms(query).into_iter().collect();
    let share = |term: &String| {
        let holding = cut.iter().filter(|text| text.contains(term)).count() as f64;
        let times = own.iter().filter(|it| *it == term).count() as f64;
        rarity(holding) * times * 2.2 / (times + 1.2 * (0.9 + 0.1 * own.len() as f64 / mean))
    };
    asked.iter().map(share).sum::<f64>() / rarity(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_notes_are_what_a_map_would_be(calls in calls(), query in texts(), least in 0..4_u8) {
        let mut bench = Bench::new();
        let mut model: BTreeMap<Uuid, (String, u8)> = BTreeMap::new();
        let embedder = bench.embedder.clone();
        let similarity = |query: &str, text: &str| {
            let query = embedder.embed(TextRole::Query, query).unwrap();
            let text = embedder.embed(TextRole::Passage, text).unwrap();
            0.5 + query.cosine(&text) / 2.0
        };
        for call in calls {
            match call {
                Call::Save { text, year } => {
                    let id = bench.save(&text, "main", json!({"year": year}));
                    assert_eq!(model.insert(id, (text, year)), None);
                }
                Call::Update { nth, text } => {
                    let id = model.keys().nth(nth).copied().unwrap_or_default();
                    let change = NoteChange { text: Some(text.clone()), ..NoteChange::default() };
                    let updated = bench.notes().update(id, change, now()).unwrap();
                    assert_eq!(updated.is_some(), model.contains_key(&id));
                    model.entry(id).and_modify(|it| it.0 = text);
                    model.remove(&Uuid::nil());
                }
                Call::Delete(nth) => {
                    let id = model.keys().nth(nth).copied().unwrap_or_default();
                    let expected: Vec<Uuid> = model.remove(&id).map(|_| id).into_iter().collect();
                    assert_eq!(bench.notes().delete(&[id]).unwrap(), expected);
                }
                Call::Forget { query, threshold } => {
                    let ids = bench.about(&query, threshold);
                    let mut deleted = bench.notes().delete(&ids).unwrap();
                    deleted.sort();
                    let is_meant = |text: &str| {
                        let words: Vec<&str> = query.split(' ').collect();
                        let is_left = |word: &&&str| !text.contains(**word);
                        let rest: Vec<&str> = words.iter().filter(is_left).copied().collect();
                        let is_alike = |query: &str| similarity(query, text) >= threshold;
                        rest.is_empty() || is_alike(&query) && is_alike(&rest.join(" "))
                    };
                    let gone: Vec<Uuid> = model
                        .iter()
                        .filter(|(_, (text, _))| is_meant(text))
                        .map(|(id, _)| *id)
                        .collect();
                    model.retain(|id, _| !gone.contains(id));
                    assert_eq!(deleted, gone);
                }
                Call::Restart => bench.restart(),
            }
        }
        bench.restart();
        let filter = NoteFilter::parse(&format!("year >= {least}")).unwrap();
        let loaded = bench.notes().load(&query, (0.0, 100), Some(&filter), now()).unwrap();
        let all: Vec<String> = model.values().map(|(text, _)| text.clone()).collect();
        let mut usual = UsualLikeness::default();
        for text in &all {
            usual.add(&embedder.embed(TextRole::Passage, text).unwrap());
        }
        let excess = usual.excess(&embedder.embed(TextRole::Query, &query).unwrap());
        let mut expected: BTreeMap<Uuid, f64> = BTreeMap::new();
        for (id, (text, _)) in model.iter().filter(|(_, (_, year))| *year >= least) {
            let raised = bm25(&all, &query, text).powi(3);
            let lift = 0.8 * raised / (raised + 1.5_f64.powi(3));
            let similarity = f64::from((similarity(&query, text) - excess / 2.0).clamp(0.0, 1.0));
            expected.insert(*id, similarity + (1.0 - similarity) * lift);
        }
        assert_eq!(loaded.found.len(), expected.len());
        for it in &loaded.found {
            assert!((f64::from(it.score) - expected[&it.note.id]).abs() < 1e-4, "{it:?}");
        }
        let scores: Vec<f32> = loaded.found.iter().map(|it| it.score).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    }
}
