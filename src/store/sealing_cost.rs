//! What encryption costs, for `engram bench`: values of some records, opened and sealed again
//! with nothing else around it.

use std::sync::Arc;

use crate::base::RecordId;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::keyring::{KeyId, Keyring};
use crate::store::keys;
use crate::store::sealed::{self, Opened};

/// Values as they lie in the database.
#[derive(Debug)]
pub struct SealedValues {
    keyring: Arc<Keyring>,
    values: Vec<Vec<u8>>,
}

impl Store {
    /// The records of these ids.
    pub fn sealed_records(&self, ids: &[RecordId]) -> Result<SealedValues, StoreError> {
        self.sealed_values(ids.iter().map(|id| keys::record(*id)))
    }

    /// What a commit of this record put: it with its vector, and the counters.
    pub fn sealed_commit(&self, id: RecordId) -> Result<SealedValues, StoreError> {
        let vector = keys::vector(self.0.generation, id);
        self.sealed_values([keys::record(id), vector, keys::TALLY.to_vec()])
    }

    fn sealed_values(
        &self,
        entries: impl IntoIterator<Item = Vec<u8>>,
    ) -> Result<SealedValues, StoreError> {
        let mut values = Vec::new();
        for entry in entries {
            values.extend(self.0.db.raw().get(&entry)?.map(|it| it.to_vec()));
        }
        Ok(SealedValues { keyring: self.0.db.keyring(), values })
    }
}

impl SealedValues {
    /// Derives the key of each and decrypts it.
    pub fn open(&self) -> Vec<SealableValue> {
        let opened = self.values.iter().filter_map(|value| {
            let id = sealed::key_id(value)?;
            Some(SealableValue { id, opened: sealed::open(&self.keyring, value).ok()? })
        });
        opened.collect()
    }

    /// Derives the key of each and encrypts it; how many bytes that gives.
    pub fn seal(&self, values: &[SealableValue]) -> Result<usize, StoreError> {
        values.iter().try_fold(0, |bytes, SealableValue { id, opened }| {
            let Opened { write, entry, value } = opened;
            Ok(bytes + sealed::seal(&self.keyring, *id, *write, entry, value)?.len())
        })
    }
}

/// A value that was opened.
#[derive(Debug)]
pub struct SealableValue {
    id: KeyId,
    opened: Opened,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{fill, open};

    #[test]
    fn what_is_opened_is_sealed_to_as_many_bytes() {
        let dir = tempfile::tempdir().unwrap();
        fill(dir.path(), 3);
        let store = open(dir.path());
        let records = store.sealed_records(&[RecordId(1), RecordId(3), RecordId(9)]).unwrap();
        assert_eq!(records.open().len(), 2);
        let commit = store.sealed_commit(RecordId(2)).unwrap();
        let values = commit.open();
        assert_eq!(values.len(), 3);
        let bytes: usize = commit.values.iter().map(Vec::len).sum();
        assert_eq!(commit.seal(&values), Ok(bytes));
    }
}
