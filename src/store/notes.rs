//! Notes on disk: text, area, metadata and vectors of each in one value.

use bincode::de::Decoder;
use bincode::error::DecodeError;
use bincode::{Decode, Encode};
use uuid::Uuid;

use crate::base::embedding::Embedding;
use crate::base::time::Timestamp;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::keys;
use crate::store::records::{self, Fault, WrittenIn};

/// Something that an agent wanted to keep, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub id: Uuid,
    pub text: String,
    pub area: String,
    /// A JSON object as text, so that its keys keep their order.
    pub metadata: String,
    pub saved_at: Timestamp,
    /// When it is no longer found; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// Under [`keys::note`].
#[derive(Debug, Clone, PartialEq, Encode)]
struct NoteOnDisk {
    text: String,
    area: String,
    metadata: String,
    saved_at: i64,
    /// Of the vectors; see [`keys::vector`].
    generation: u32,
    vectors: Vec<Vec<f32>>,
    /// Since format 3.
    expires_at: Option<i64>,
}

impl Decode<WrittenIn> for NoteOnDisk {
    fn decode<D: Decoder<Context = WrittenIn>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let written_in = *decoder.context();
        Ok(Self {
            text: Decode::decode(decoder)?,
            area: Decode::decode(decoder)?,
            metadata: Decode::decode(decoder)?,
            saved_at: Decode::decode(decoder)?,
            generation: Decode::decode(decoder)?,
            vectors: Decode::decode(decoder)?,
            expires_at: if written_in.is_before(3) { None } else { Decode::decode(decoder)? },
        })
    }
}

impl Store {
    /// Keeps notes with the vectors of their passages, in the place of those that
    /// have their ids; all or none. Durable when it returns.
    pub fn put_notes(&self, notes: &[(Note, Vec<Embedding>)]) -> Result<(), StoreError> {
        let mut entries = Vec::with_capacity(notes.len());
        for (note, vectors) in notes {
            let Note { id, text, area, metadata, saved_at, expires_at } = note;
            let on_disk = NoteOnDisk {
                text: text.clone(),
                area: area.clone(),
                metadata: metadata.clone(),
                saved_at: saved_at.micros(),
                generation: self.0.generation,
                vectors: self.raw(vectors)?,
                expires_at: expires_at.map(Timestamp::micros),
            };
            let key = keys::note(*id);
            let sealed = records::encode(&key, &on_disk);
            entries.push((key, sealed));
        }
        self.change(|_state, change| {
            for (key, sealed) in entries {
                change.batch.insert(key, sealed);
            }
            Ok(())
        })
    }

    /// The note of this id; `None` where there is none.
    pub fn note(&self, id: Uuid) -> Result<Option<Note>, StoreError> {
        let key = keys::note(id);
        let Some(on_disk) = self.0.db.read::<NoteOnDisk>(&key)? else { return Ok(None) };
        on_disk.into_note(id).map(Some).map_err(|fault| StoreError::damaged(&key, &fault))
    }

    /// Every note with its vectors, in the order of ids; no vectors where they are
    /// another embedder's, after a reindex.
    ///
    /// An item that [concerns one value](StoreError::concerns_one_value) is a note
    /// that cannot be read; any other error is the last item.
    pub fn notes(&self) -> impl Iterator<Item = Result<(Note, Vec<Embedding>), StoreError>> + '_ {
        self.0.db.entries(keys::NOTES).map(|entry| {
            let (key, sealed) = entry?;
            records::decode::<NoteOnDisk>(&key, &sealed)
                .and_then(|mut on_disk| {
                    let (generation, raw) =
                        (on_disk.generation, std::mem::take(&mut on_disk.vectors));
                    let id = keys::uuid(&key).ok_or(Fault::Missing)?;
                    Ok((on_disk.into_note(id)?, self.vectors(generation, raw)?))
                })
                .map_err(|fault| StoreError::damaged(&key, &fault))
        })
    }

    /// Removes the notes of these ids that exist, all at once. Durable when it
    /// returns.
    pub fn remove_notes(&self, ids: &[Uuid]) -> Result<(), StoreError> {
        self.change(|_state, change| {
            for id in ids {
                change.batch.remove(keys::note(*id));
            }
            Ok(())
        })
    }

    /// Numbers of vectors that fit this store.
    pub(super) fn raw(&self, vectors: &[Embedding]) -> Result<Vec<Vec<f32>>, StoreError> {
        let expected = self.0.space.dimension;
        let raw = vectors.iter().map(|vector| match vector.dimension() {
            found if found == expected => Ok(vector.as_slice().to_vec()),
            found => Err(StoreError::Dimension { found, expected }),
        });
        raw.collect()
    }

    /// What [`Store::raw`] took apart; none of another generation.
    pub(super) fn vectors(
        &self,
        generation: u32,
        raw: Vec<Vec<f32>>,
    ) -> Result<Vec<Embedding>, Fault> {
        if generation != self.0.generation {
            return Ok(Vec::new());
        }
        let dimension = self.0.space.dimension;
        let vectors = raw.into_iter().map(|raw| Embedding::new(raw, dimension));
        vectors.collect::<Result<_, _>>().map_err(|error| Fault::Content(error.to_string()))
    }
}

impl NoteOnDisk {
    fn into_note(self, id: Uuid) -> Result<Note, Fault> {
        let Self { text, area, metadata, saved_at, generation: _, vectors: _, expires_at } = self;
        let saved_at = records::timestamp(saved_at)?;
        let expires_at = expires_at.map(records::timestamp).transpose()?;
        Ok(Note { id, text, area, metadata, saved_at, expires_at })
    }
}
