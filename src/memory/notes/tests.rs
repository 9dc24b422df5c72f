//! Notes against a plain list of them: kept, found, filtered, forgotten, through restarts.

use super::*;
use crate::memory::embedding_space;
use crate::model::scripted::ScriptedEmbedder;
use crate::store::Options;
use crate::store::reindex::Reindex;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop, prop_oneof, proptest};
use std::path::Path;

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
        let note = NewNote { text: text.to_owned(), area: area.to_owned(), metadata };
        self.notes().save(note, Timestamp::from_seconds(1_735_905_600.0).unwrap()).unwrap()
    }

    fn texts(&self, query: &str, threshold: f32, filter: &str) -> Vec<String> {
        let filter = (!filter.is_empty()).then(|| NoteFilter::parse(filter).unwrap());
        let loaded = self.notes().load(query, threshold, 100, filter.as_ref()).unwrap();
        loaded.found.into_iter().map(|it| it.note.text).collect()
    }
}

#[test]
fn what_is_saved_is_found_by_the_next_search_and_after_a_restart() {
    let mut bench = Bench::new();
    let id = bench.save(
        "The user's project identifier is 'proj_X-7'.",
        "main",
        json!({"z": 1.0, "a": 1}),
    );
    bench.save("The door code is 4711.", "main", json!({}));
    for _ in 0..2 {
        let loaded = bench.notes().load("user project identifier", 0.6, 5, None).unwrap();
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
    let id = bench.save("red mug", "main", json!({"year": 2024, "tags": ["lab"]}));
    bench.save("red mug too", "solutions", json!({"year": 2023}));
    let filters = [
        "area == 'main' and year >= 2024 and 'lab' in tags".to_owned(),
        format!("id == '{id}'"),
        "time == '2025-01-03 12:00:00' and timestamp == 1735905600 and area=='main'".to_owned(),
        "tags is not None".to_owned(),
    ];
    for filter in filters {
        assert_eq!(bench.texts("red mug", 0.6, &filter), ["red mug"], "{filter}");
    }
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
    assert_eq!(bench.notes().similar("Project Titan", 0.75).unwrap(), [titan]);
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
        let note = NewNote { text: "x".to_owned(), area: "main".to_owned(), metadata };
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
fn after_a_reindex_notes_are_embedded_anew() {
    let mut bench = Bench::new();
    for n in 0..BATCH + 3 {
        bench.save(&format!("note {n} about a red mug"), "main", json!({}));
    }
    let before = bench.texts("red mug", 0.6, "");
    bench.notes = None;
    let other = ScriptedEmbedder::named("another", 32);
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

#[derive(Debug, Clone)]
enum Call {
    Save {
        text: String,
        year: u8,
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
        1 => (0..8_usize).prop_map(Call::Delete),
        1 => (texts(), 0.5_f32..1.0).prop_map(|(query, threshold)| Call::Forget { query, threshold }),
        1 => Just(Call::Restart),
    ];
    prop::collection::vec(call, 1..25)
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
                    Call::Delete(nth) => {
                        let id = model.keys().nth(nth).copied().unwrap_or_default();
                        let expected: Vec<Uuid> = model.remove(&id).map(|_| id).into_iter().collect();
                        assert_eq!(bench.notes().delete(&[id]).unwrap(), expected);
                    }
                    Call::Forget { query, threshold } => {
                        let ids = bench.notes().similar(&query, threshold).unwrap();
                        let mut deleted = bench.notes().delete(&ids).unwrap();
                        deleted.sort();
                        let gone: Vec<Uuid> = model
                            .iter()
                            .filter(|(_, (text, _))| similarity(&query, text) >= threshold)
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
        let loaded = bench.notes().load(&query, 0.6, 100, Some(&filter)).unwrap();
        let mut found: Vec<Uuid> = loaded.found.iter().map(|it| it.note.id).collect();
        found.sort();
        let expected: Vec<Uuid> = model
            .iter()
            .filter(|(_, (text, year))| *year >= least && similarity(&query, text) >= 0.6)
            .map(|(id, _)| *id)
            .collect();
        assert_eq!(found, expected);
        let scores: Vec<f32> = loaded.found.iter().map(|it| it.score).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    }
}
