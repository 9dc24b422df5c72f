//! Notes: texts that agents keep, found again by meaning.
//!
//! Exact search: every note that passes the filter and is similar enough is found, however many
//! there are. Knows nothing of tools or sessions. A change is on disk, and seen by the next
//! search, when the call that made it returns.

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
use crate::memory::notes::filter::NoteFilter;
use crate::memory::notes::passages::passages;
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, TextRole};
use crate::store::notes::Note;
use crate::store::{Store, StoreError};

/// Most notes at once: each search scans all of them.
pub const NOTES_MAX: usize = 20_000;
/// Most bytes of a note's metadata as JSON.
pub const METADATA_BYTES_MAX: usize = 4_096;
/// Names of built-in fields, which no metadata may use.
pub const OWN_NAMES: [&str; 5] = ["id", "area", "text", "time", "timestamp"];

/// Batch of notes that are embedded again after a reindex.
const BATCH: usize = 32;

/// Errors of notes.
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

/// Note that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredNote {
    pub note: Note,
    /// 0..1; see [`Notes::load`].
    pub score: f32,
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteSearch {
    /// Best first.
    pub found: Vec<ScoredNote>,
    /// Count of notes that passed the filter.
    pub passed: usize,
    /// Best score among those.
    pub best: Option<f32>,
}

/// Notes, and the index over them.
#[derive(Debug)]
pub struct Notes {
    store: Store,
    embedder: EmbedderHandle,
    zone: Zone,
    entries: RwLock<BTreeMap<Uuid, IndexedNote>>,
    /// Held from a change on disk to the same change of `entries`.
    writing: Mutex<()>,
}

/// Index entry of a note: all but its text, which stays on disk.
#[derive(Debug)]
struct IndexedNote {
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
                Ok((note, vectors)) => {
                    entries.insert(note.id, IndexedNote::of(&note, vectors));
                }
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
                entries.insert(note.id, IndexedNote::of(&note, vectors));
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
        let entry = IndexedNote::of(&note, vectors.clone());
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
        filter: Option<&NoteFilter>,
    ) -> Result<NoteSearch, NotesError> {
        let mut scored = self.score_all(query, filter)?;
        let (passed, best) = (scored.len(), scored.first().map(|it| it.0));
        scored.retain(|(score, ..)| *score >= threshold);
        let mut found = Vec::new();
        for (score, _, id) in scored.into_iter().take(limit) {
            // One that was deleted since is not found.
            found.extend(self.store.note(id)?.map(|note| ScoredNote { note, score }));
        }
        Ok(NoteSearch { found, passed, best })
    }

    /// The ids of all notes at least as similar to `query` as `threshold`, best
    /// first.
    pub fn similar(&self, query: &str, threshold: f32) -> Result<Vec<Uuid>, NotesError> {
        let scored = self.score_all(query, None)?;
        Ok(scored.into_iter().filter(|it| it.0 >= threshold).map(|it| it.2).collect())
    }

    /// Deletes the notes of these ids and returns those that existed, each once, in the order
    /// of `ids`.
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

    /// Scores of all notes that pass the filter, best first.
    fn score_all(
        &self,
        query: &str,
        filter: Option<&NoteFilter>,
    ) -> Result<Vec<(f32, Timestamp, Uuid)>, NotesError> {
        let query = self.embedder.embed(TextRole::Query, query)?;
        let entries = self.read();
        let passes = |(id, entry): &(&Uuid, &IndexedNote)| {
            filter.is_none_or(|filter| filter.admits(&|name| entry.field(name, **id, self.zone)))
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

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<Uuid, IndexedNote>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, change: impl FnOnce(&mut BTreeMap<Uuid, IndexedNote>) -> T) -> T {
        change(&mut self.entries.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl IndexedNote {
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

    /// Value of a filter's name for this note.
    fn field(&self, name: &str, id: Uuid, zone: Zone) -> Option<Cow<'_, Value>> {
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
mod tests;
