//! Reindex: embeds every caption anew, for another embedder.
//!
//! New vectors are written beside the old ones. The old ones count until
//! [`Reindex::finish`] flips to the new ones in one batch; killed at any moment
//! before, the store is as it was, and the next reindex for the same embedder
//! goes on where this one was.

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::store::EmbeddingSpace;
use crate::store::Options;
use crate::store::StoreError;
use crate::store::check::{self, Opened};
use crate::store::format::{self, Format};
use crate::store::keys;
use crate::store::records::{self, RecordOnDisk, ReindexOnDisk, SpaceOnDisk};
use crate::store::sealed_database::{Batch, SealedDatabase};

/// Store opened for new vectors only.
#[derive(Debug)]
pub struct Reindex {
    opened: Opened,
    old_generation: u32,
    new: Format,
    /// Records up to this one have their new vector.
    done_to: u64,
    done: u64,
}

impl Reindex {
    /// Opens the store whatever embedder its vectors are of.
    pub fn open(options: &Options, space: &EmbeddingSpace) -> Result<Self, StoreError> {
        let opened = check::open(options)?;
        let old = match format::read_format(&opened)? {
            Some(old) => old,
            None => format::of_store(&opened, space, &options.dir)?,
        };
        let before = opened.db.read::<ReindexOnDisk>(keys::REINDEX)?;
        let before = before.filter(|it| it.space.is_of(space) && it.generation != old.generation);
        let (generation, done_to) = match before {
            Some(it) => (it.generation, it.done_to),
            None => (free_generation(&opened.db, old.generation)?, 0),
        };
        format::remove_vectors(&opened.db, |it| it != old.generation && it != generation)?;
        let done = opened.db.count(&keys::vectors(generation))? as u64;
        let new = Format { space: space.clone(), generation };
        Ok(Self { opened, old_generation: old.generation, new, done_to, done })
    }

    /// Records in the store.
    pub fn total(&self) -> u64 {
        self.opened.tally.records
    }

    /// Records that have their new vector.
    pub fn done_count(&self) -> u64 {
        self.done
    }

    /// The next captions without a new vector, at most `limit`; none when all
    /// that can be read have theirs.
    pub fn captions(&self, limit: usize) -> Result<Vec<(RecordId, String)>, StoreError> {
        let mut captions = Vec::new();
        let mut after = self.done_to;
        while captions.len() < limit {
            let start = keys::record(RecordId(after + 1));
            let Some((key, sealed)) = self.opened.db.first_from(&start, keys::RECORDS)? else {
                break;
            };
            after = keys::number(&key).unwrap_or(u64::MAX - 1);
            let record = records::decode::<RecordOnDisk>(&key, &sealed)
                .and_then(|on_disk| on_disk.into_record(RecordId(after)));
            match record {
                Ok(record) => captions.push((record.id, record.caption)),
                Err(fault) => {
                    let error = StoreError::damaged(&key, &fault);
                    log::error!(record = after, error:%; "record left without a vector");
                }
            }
        }
        Ok(captions)
    }

    /// Stores the new vectors of what [`Reindex::captions`] gave, in that order.
    /// Durable when it returns.
    pub fn put(&mut self, vectors: &[(RecordId, Embedding)]) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        let mut done_to = self.done_to;
        for (id, vector) in vectors {
            let (found, expected) = (vector.dimension(), self.new.space.dimension);
            if found != expected {
                return Err(StoreError::Dimension { found, expected });
            }
            let key = keys::vector(self.new.generation, *id);
            batch.insert(key.as_slice(), records::encode_vector(&key, vector));
            done_to = done_to.max(id.0);
        }
        let state = ReindexOnDisk {
            space: SpaceOnDisk::of(&self.new.space),
            generation: self.new.generation,
            done_to,
        };
        batch.insert(keys::REINDEX, records::encode(keys::REINDEX, &state));
        self.opened.db.commit(batch)?;
        self.done_to = done_to;
        self.done += vectors.len() as u64;
        Ok(())
    }

    /// Makes the new vectors count and removes the old ones.
    ///
    /// Refused while a readable record has no new vector.
    pub fn finish(self) -> Result<(), StoreError> {
        if let Some((first, _)) = self.captions(1)?.into_iter().next() {
            return Err(StoreError::ReindexUnfinished { first });
        }
        let mut batch = Batch::default();
        batch.insert(keys::FORMAT, self.new.seal());
        batch.remove(keys::REINDEX);
        self.opened.db.commit(batch)?;
        // Killed here, the next open removes what is left of the old ones.
        format::remove_vectors(&self.opened.db, |it| it == self.old_generation)
    }
}

/// A generation that no vector is of.
fn free_generation(db: &SealedDatabase, current: u32) -> Result<u32, StoreError> {
    let newest = match db.entries(keys::VECTORS).next_back() {
        Some(entry) => keys::generation(&entry?.0),
        None => None,
    };
    Ok(newest.unwrap_or(0).max(current).wrapping_add(1))
}
