//! What an agent wanted to keep, in words, found again by meaning and by words.
//!
//! Every note is scored exactly: what passes the filter and answers well enough is
//! found, however many there are. Knows nothing of tools or sessions. A change is
//! on disk, and seen by the next search, when the call that made it returns.

mod corpus;
pub mod filter;
mod importing;
mod passages;
mod search;
mod topic;

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use log::{error, info};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::base::shortage::Shortage;
use crate::base::time::{Timestamp, Zone};
use crate::memory::notes::corpus::{NoteCorpus, Prepared};
use crate::model::ModelError;
use crate::model::embedder::EmbedderHandle;
use crate::store::notes::Note;
use crate::store::{Store, StoreError};

pub use search::NoteSearch;
pub use topic::{About, OnTopic, Why};

/// Most notes at once: each search looks at all of them.
pub const NOTES_MAX: usize = 20_000;
/// Most bytes of a note's metadata as JSON.
pub const METADATA_BYTES_MAX: usize = 4_096;
/// Names that no metadata may have: the note's own.
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
    #[error("it lies in the past; accepted is a time to come")]
    ExpiresInThePast,
    /// A filter compares what no note has of that kind.
    #[error("{0}")]
    Incomparable(String),
    #[error("{NOTES_MAX} notes are kept, which is the most accepted; delete or forget some first")]
    Full,
}

impl Shortage for NotesError {
    fn shortage(&self) -> Option<String> {
        if let Self::Store(error) = self { error.shortage() } else { None }
    }
}

/// A note to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewNote {
    pub text: String,
    pub area: String,
    pub metadata: Map<String, Value>,
    /// When it is no longer found; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// What to change of a note; what is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NoteChange {
    pub text: Option<String>,
    pub area: Option<String>,
    /// Takes the place of all metadata.
    pub metadata: Option<Map<String, Value>>,
    pub expiry: Option<Expiry>,
}

/// A change of when a note expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    Never,
    At(Timestamp),
}

/// Note that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredNote {
    pub note: Note,
    /// 0..1; see [`Notes::load`].
    pub score: f32,
}

/// The notes with everything needed to find them.
#[derive(Debug)]
pub struct Notes {
    store: Store,
    embedder: EmbedderHandle,
    zone: Zone,
    corpus: RwLock<NoteCorpus>,
    /// Held from a change on disk to the same change of `corpus`.
    writing: Mutex<()>,
}

impl Notes {
    /// Reads the notes from the store. Those whose vectors are another embedder's
    /// are embedded anew.
    pub fn open(store: Store, embedder: EmbedderHandle, zone: Zone) -> Result<Self, NotesError> {
        let mut corpus = NoteCorpus::default();
        let mut stale = Vec::new();
        for entry in store.notes() {
            match entry {
                Ok((note, vectors)) if vectors.is_empty() => stale.push(note),
                Ok((note, vectors)) => {
                    corpus.insert(&note, Prepared::with_vectors(&embedder, &note.text, vectors));
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
                renewed.push((note.clone(), Prepared::of(&embedder, &note.text)?));
            }
            let on_disk: Vec<_> =
                renewed.iter().map(|(note, it)| (note.clone(), it.vectors())).collect();
            store.put_notes(&on_disk)?;
            for (note, prepared) in renewed {
                corpus.insert(&note, prepared);
            }
        }
        let (corpus, writing) = (RwLock::new(corpus), Mutex::new(()));
        Ok(Self { store, embedder, zone, corpus, writing })
    }

    /// Keeps a note and gives it an id.
    pub fn save(&self, note: NewNote, now: Timestamp) -> Result<Uuid, NotesError> {
        let NewNote { text, area, metadata, expires_at } = note;
        let metadata = check_metadata(metadata)?;
        check_expiry(expires_at, now)?;
        self.remove_expired(now)?;
        let prepared = Prepared::of(&self.embedder, &text)?;
        let _writing = self.writing();
        if self.len() >= NOTES_MAX {
            return Err(NotesError::Full);
        }
        let note = Note { id: Uuid::new_v4(), text, area, metadata, saved_at: now, expires_at };
        let id = note.id;
        self.put(note, prepared)?;
        Ok(id)
    }

    /// Changes a note and returns it as it is now; `None` where there is none of this id.
    /// Embeds it anew where its text changes. On disk there is the old note or the new
    /// one, whatever happens.
    pub fn update(
        &self,
        id: Uuid,
        change: NoteChange,
        now: Timestamp,
    ) -> Result<Option<Note>, NotesError> {
        let NoteChange { text, area, metadata, expiry } = change;
        let metadata = metadata.map(check_metadata).transpose()?;
        if let Some(Expiry::At(at)) = expiry {
            check_expiry(Some(at), now)?;
        }
        self.remove_expired(now)?;
        let _writing = self.writing();
        let Some(mut note) = self.store.note(id)? else { return Ok(None) };
        note.text = text.unwrap_or(note.text);
        note.area = area.unwrap_or(note.area);
        note.metadata = metadata.unwrap_or(note.metadata);
        note.expires_at = match expiry {
            Some(Expiry::At(at)) => Some(at),
            Some(Expiry::Never) => None,
            None => note.expires_at,
        };
        let prepared = Prepared::of(&self.embedder, &note.text)?;
        self.put(note.clone(), prepared)?;
        Ok(Some(note))
    }

    /// Deletes the notes of these ids and returns those that existed, each once, in the order
    /// of `ids`.
    pub fn delete(&self, ids: &[Uuid]) -> Result<Vec<Uuid>, NotesError> {
        let _writing = self.writing();
        let mut known = Vec::new();
        for id in ids {
            if self.read().contains(*id) && !known.contains(id) {
                known.push(*id);
            }
        }
        self.remove(&known)?;
        Ok(known)
    }

    /// The notes of these ids that there are, in the order of `ids`.
    pub fn of_ids(&self, ids: &[Uuid]) -> Result<Vec<Note>, NotesError> {
        let mut notes = Vec::new();
        for id in ids {
            notes.extend(self.store.note(*id)?);
        }
        Ok(notes)
    }

    /// Notes kept; one that expired counts until a call of the notes removes it.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes what has expired, from the disk as well.
    fn remove_expired(&self, now: Timestamp) -> Result<(), NotesError> {
        if !self.read().has_expired(now) {
            return Ok(());
        }
        let _writing = self.writing();
        let expired = self.read().expired_ids(now);
        self.remove(&expired)
    }

    /// `writing` is held.
    fn put(&self, note: Note, prepared: Prepared) -> Result<(), NotesError> {
        let of_disk = (note, prepared.vectors());
        self.store.put_notes(std::slice::from_ref(&of_disk))?;
        self.write(|corpus| corpus.insert(&of_disk.0, prepared));
        Ok(())
    }

    /// `writing` is held.
    fn remove(&self, ids: &[Uuid]) -> Result<(), NotesError> {
        if !ids.is_empty() {
            self.store.remove_notes(ids)?;
            self.write(|corpus| ids.iter().for_each(|id| corpus.remove(*id)));
        }
        Ok(())
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> RwLockReadGuard<'_, NoteCorpus> {
        self.corpus.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, change: impl FnOnce(&mut NoteCorpus) -> T) -> T {
        change(&mut self.corpus.write().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The metadata as the store keeps it.
fn check_metadata(metadata: Map<String, Value>) -> Result<String, NotesError> {
    if let Some(name) = metadata.keys().find(|name| OWN_NAMES.contains(&name.as_str())) {
        return Err(NotesError::OwnName(name.clone()));
    }
    let metadata = Value::Object(metadata).to_string();
    if metadata.len() > METADATA_BYTES_MAX {
        return Err(NotesError::MetadataTooLarge { bytes: metadata.len() });
    }
    Ok(metadata)
}

fn check_expiry(expires_at: Option<Timestamp>, now: Timestamp) -> Result<(), NotesError> {
    if expires_at.is_some_and(|at| at <= now) { Err(NotesError::ExpiresInThePast) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
