//! What an agent wanted to keep, in words, found again by meaning.
//!
//! Searches every note exactly: what passes the filter and is similar enough is
//! found, however many there are. Knows nothing of tools or sessions. A change is
//! on disk, and seen by the next search, when the call that made it returns.

pub mod filter;
mod passages;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use log::{error, info};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::base::embedding::Embedding;
use crate::base::time::{Timestamp, Zone};
use crate::memory::notes::filter::Filter;
use crate::memory::notes::passages::passages;
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, TextRole};
use crate::store::notes::Note;
use crate::store::{Store, StoreError};

/// Most notes at once: each search looks at all of them.
pub const NOTES_MAX: usize = 20_000;
/// Most bytes of a note's metadata as JSON.
pub const METADATA_BYTES_MAX: usize = 4_096;
/// Names that a filter reads and no metadata may have.
pub const OWN_NAMES: [&str; 5] = ["id", "area", "text", "time", "timestamp"];

/// Notes embedded anew at a time, after a reindex.
const BATCH: usize = 32;

/// Why notes are not kept or found.
#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the metadata has {bytes} bytes as JSON, accepted are at most {METADATA_BYTES_MAX}")]
    MetadataTooLarge { bytes: usize },
    #[error(
        "the metadata has a key {0:?}, which is a name of the note's own; accepted is any other key"
    )]
    OwnName(String),
    #[error("{NOTES_MAX} notes are kept, which is the most accepted; delete or forget some first")]
    Full,
}

/// A note to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewNote {
    pub text: String,
    pub area: String,
    pub metadata: Map<String, Value>,
}

/// A note that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub note: Note,
    /// 0..1; see [`Notes::load`].
    pub score: f32,
}

/// What a search found, and what it passed over.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Best first.
    pub found: Vec<Found>,
    /// Notes that the filter let pass.
    pub passed: usize,
    /// The best score of those.
    pub best: Option<f32>,
}

/// The notes with everything needed to find them.
#[derive(Debug)]
pub struct Notes {
    store: Store,
    embedder: EmbedderHandle,
    zone: Zone,
    entries: RwLock<BTreeMap<Uuid, Entry>>,
    /// Held from a change on disk to the same change of `entries`.
    writing: Mutex<()>,
}

/// All of a note but its text, which stays on disk.
#[derive(Debug)]
struct Entry {
    vectors: Vec<Embedding>,
    area: Value,
    metadata: Map<String, Value>,
    saved_at: Timestamp,
}

impl Notes {
    /// Reads the notes from the store. Those whose vectors are another embedder's
    /// are embedded anew.
    pub fn open(store: Store, embedder: EmbedderHandle, zone: Zone) -> Result<Self, NotesError> {
        let mut entries = BTreeMap::new();
        let mut stale = Vec::new();
        for entry in store.notes() {
            match entry {
                Ok((note, vectors)) if vectors.is_empty() => stale.push(note),
                Ok((note, vectors)) => drop(entries.insert(note.id, Entry::of(&note, vectors))),
                // One note lost is no reason to withhold the others.
                Err(error) if error.concerns_one_value() => {
                    error!(error:%; "a note cannot be read and is left out");
                }
                Err(error) => return Err(error.into()),
            }
        }
        if !stale.is_empty() {
            info!(notes = stale.len(); "embedding notes anew");
        }
        for batch in stale.chunks(BATCH) {
            let mut renewed = Vec::with_capacity(batch.len());
            for note in batch {
                renewed.push((note.clone(), embed(&embedder, &note.text)?));
            }
            store.put_notes(&renewed)?;
            for (note, vectors) in renewed {
                entries.insert(note.id, Entry::of(&note, vectors));
            }
        }
        let (entries, writing) = (RwLock::new(entries), Mutex::new(()));
        Ok(Self { store, embedder, zone, entries, writing })
    }

    /// Keeps a note and gives it an id.
    pub fn save(&self, note: NewNote, now: Timestamp) -> Result<Uuid, NotesError> {
        let NewNote { text, area, metadata } = note;
        if let Some(name) = metadata.keys().find(|name| OWN_NAMES.contains(&name.as_str())) {
            return Err(NotesError::OwnName(name.clone()));
        }
        let metadata = Value::Object(metadata).to_string();
        if metadata.len() > METADATA_BYTES_MAX {
            return Err(NotesError::MetadataTooLarge { bytes: metadata.len() });
        }
        let vectors = embed(&self.embedder, &text)?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.len() >= NOTES_MAX {
            return Err(NotesError::Full);
        }
        let note = Note { id: Uuid::new_v4(), text, area, metadata, saved_at: now };
        let id = note.id;
        let entry = Entry::of(&note, vectors.clone());
        self.store.put_notes(&[(note, vectors)])?;
        self.write(|entries| entries.insert(id, entry));
        Ok(id)
    }

    /// The notes that `filter` lets pass and that are at least as similar to
    /// `query` as `threshold`, best first, at most `limit`.
    ///
    /// Similarity is on the scale of [`EmbedderHandle::similarity`], of a long note
    /// its best passage's; equal ones come in the order in which they were saved.
    pub fn load(
        &self,
        query: &str,
        threshold: f32,
        limit: usize,
        filter: Option<&Filter>,
    ) -> Result<Loaded, NotesError> {
        let mut scored = self.scored(query, filter)?;
        let (passed, best) = (scored.len(), scored.first().map(|it| it.0));
        scored.retain(|(score, ..)| *score >= threshold);
        let mut found = Vec::new();
        for (score, _, id) in scored.into_iter().take(limit) {
            // One that was deleted since is not found.
            found.extend(self.store.note(id)?.map(|note| Found { note, score }));
        }
        Ok(Loaded { found, passed, best })
    }

    /// The ids of all notes at least as similar to `query` as `threshold`, best
    /// first.
    pub fn similar(&self, query: &str, threshold: f32) -> Result<Vec<Uuid>, NotesError> {
        let scored = self.scored(query, None)?;
        Ok(scored.into_iter().filter(|it| it.0 >= threshold).map(|it| it.2).collect())
    }

    /// Removes the notes of these ids and says which there were, each once, in
    /// the order of `ids`.
    pub fn delete(&self, ids: &[Uuid]) -> Result<Vec<Uuid>, NotesError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = Vec::new();
        for id in ids {
            if self.read().contains_key(id) && !known.contains(id) {
                known.push(*id);
            }
        }
        if !known.is_empty() {
            self.store.remove_notes(&known)?;
            self.write(|entries| known.iter().for_each(|id| drop(entries.remove(id))));
        }
        Ok(known)
    }

    pub fn len(&self) -> usize {
        self.read().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the filter lets pass, best first.
    fn scored(
        &self,
        query: &str,
        filter: Option<&Filter>,
    ) -> Result<Vec<(f32, Timestamp, Uuid)>, NotesError> {
        let query = self.embedder.embed(TextRole::Query, query)?;
        let entries = self.read();
        let passes = |(id, entry): &(&Uuid, &Entry)| {
            filter.is_none_or(|filter| filter.admits(&|name| entry.named(name, **id, self.zone)))
        };
        let mut scored: Vec<(f32, Timestamp, Uuid)> = entries
            .iter()
            .filter(passes)
            .map(|(id, entry)| (entry.similarity(&self.embedder, &query), entry.saved_at, *id))
            .collect();
        drop(entries);
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        Ok(scored)
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<Uuid, Entry>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, change: impl FnOnce(&mut BTreeMap<Uuid, Entry>) -> T) -> T {
        change(&mut self.entries.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Entry {
    fn of(note: &Note, vectors: Vec<Embedding>) -> Self {
        Self {
            vectors,
            area: json!(note.area),
            // Checked when it was saved.
            metadata: serde_json::from_str(&note.metadata).unwrap_or_default(),
            saved_at: note.saved_at,
        }
    }

    fn similarity(&self, embedder: &EmbedderHandle, query: &Embedding) -> f32 {
        let passages = self.vectors.iter().map(|vector| embedder.similarity(vector, query));
        passages.fold(0.0, f32::max)
    }

    /// What a filter reads under a name.
    fn named(&self, name: &str, id: Uuid, zone: Zone) -> Option<Cow<'_, Value>> {
        match name {
            "id" => Some(Cow::Owned(json!(id.to_string()))),
            "area" => Some(Cow::Borrowed(&self.area)),
            "time" => Some(Cow::Owned(json!(zone.format(self.saved_at)))),
            "timestamp" => Some(Cow::Owned(json!(self.saved_at.seconds()))),
            _ => self.metadata.get(name).map(Cow::Borrowed),
        }
    }
}

fn embed(embedder: &EmbedderHandle, text: &str) -> Result<Vec<Embedding>, ModelError> {
    embedder.embed_batch(TextRole::Passage, &passages(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::scripted::ScriptedEmbedder;
    use crate::store::reindex::Reindex;
    use crate::store::{EmbeddingSpace, Options};
    use proptest::prelude::{Just, ProptestConfig, Strategy, prop, prop_oneof, proptest};
    use std::path::Path;

    struct Bench {
        dir: tempfile::TempDir,
        embedder: EmbedderHandle,
        /// Taken for the moment of a restart.
        notes: Option<Notes>,
    }

    fn space(embedder: &EmbedderHandle) -> EmbeddingSpace {
        let identity = embedder.identity();
        EmbeddingSpace {
            model: identity.name.clone(),
            fingerprint: identity.fingerprint.0.clone(),
            dimension: embedder.dimension(),
        }
    }

    fn open(dir: &Path, embedder: &EmbedderHandle) -> Notes {
        let store = Store::open(&Options::at(dir.to_owned()), &space(embedder)).unwrap();
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
            let filter = (!filter.is_empty()).then(|| Filter::parse(filter).unwrap());
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
        Reindex::open(&options, &space(&bench.embedder)).unwrap().finish().unwrap();
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
        prop::collection::vec(
            prop::sample::select(vec!["red", "blue", "mug", "book", "desk"]),
            1..4,
        )
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
            let filter = Filter::parse(&format!("year >= {least}")).unwrap();
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
}
