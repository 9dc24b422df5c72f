//! Format entry: the embedder of the vectors, and the generation that counts.

use std::path::Path;

use crate::store::Counters;
use crate::store::EmbeddingSpace;
use crate::store::StoreError;
use crate::store::check::Opened;
use crate::store::keys;
use crate::store::records::{self, FormatOnDisk, ReindexOnDisk, SpaceOnDisk, TallyOnDisk};
use crate::store::sealed_database::{Batch, SealedDatabase};

/// Keys removed in one batch, so that no batch grows with the store.
const REMOVED_AT_ONCE: usize = 4_096;

/// Current vectors.
#[derive(Debug)]
pub(super) struct Format {
    pub(super) space: EmbeddingSpace,
    pub(super) generation: u32,
}

impl Format {
    /// Sealed under [`keys::FORMAT`].
    pub(super) fn seal(&self) -> Vec<u8> {
        let on_disk =
            FormatOnDisk { space: SpaceOnDisk::of(&self.space), generation: self.generation };
        records::encode(keys::FORMAT, &on_disk)
    }
}

/// The format of an opened store; a new one is made for `space`.
pub(super) fn of_store(
    opened: &Opened,
    space: &EmbeddingSpace,
    dir: &Path,
) -> Result<Format, StoreError> {
    let Some(found) = read_format(opened)? else { return initialise(&opened.db, space) };
    if !found.space.is_same_as(space) {
        return Err(StoreError::OtherEmbedder {
            found: Box::new(found.space),
            expected: Box::new(space.clone()),
            path: dir.to_owned(),
        });
    }
    Ok(found)
}

/// The format of an opened store; `None` where it is new.
pub(super) fn read_format(opened: &Opened) -> Result<Option<Format>, StoreError> {
    let Some(on_disk) = opened.format.clone() else { return Ok(None) };
    let FormatOnDisk { space, generation } = on_disk;
    let space = space.into_space().map_err(|fault| StoreError::damaged(keys::FORMAT, &fault))?;
    Ok(Some(Format { space, generation }))
}

fn initialise(db: &SealedDatabase, space: &EmbeddingSpace) -> Result<Format, StoreError> {
    let format = Format { space: space.clone(), generation: 0 };
    let tally = TallyOnDisk::of((1, 1), 0, Counters::default());
    let mut batch = Batch::default();
    batch.insert(keys::FORMAT, format.seal());
    batch.insert(keys::TALLY, records::encode(keys::TALLY, &tally));
    db.commit(batch)?;
    Ok(format)
}

/// Removes vectors that neither count nor belong to a reindex under way.
pub(super) fn remove_leftovers(db: &SealedDatabase, generation: u32) -> Result<(), StoreError> {
    let under_way = db.read::<ReindexOnDisk>(keys::REINDEX)?.map(|it| it.generation);
    remove_vectors(db, |it| it != generation && Some(it) != under_way)
}

/// Removes the vectors of the generations that `is_over` names.
///
/// Skips from generation to generation: costs nothing where there are none.
pub(super) fn remove_vectors(
    db: &SealedDatabase,
    is_over: impl Fn(u32) -> bool,
) -> Result<(), StoreError> {
    let mut start = keys::vectors(0);
    while let Some(key) = db.first_key_from(&start, keys::VECTORS)? {
        let Some(generation) = keys::generation(&key) else { break };
        if is_over(generation) {
            remove_all(db, &keys::vectors(generation))?;
        }
        let Some(next) = generation.checked_add(1) else { break };
        start = keys::vectors(next);
    }
    Ok(())
}

fn remove_all(db: &SealedDatabase, prefix: &[u8]) -> Result<(), StoreError> {
    loop {
        let mut batch = Batch::default();
        let mut removed = 0;
        for key in db.keys(prefix).take(REMOVED_AT_ONCE) {
            batch.remove(key?);
            removed += 1;
        }
        if removed == 0 {
            return Ok(());
        }
        db.commit(batch)?;
    }
}
