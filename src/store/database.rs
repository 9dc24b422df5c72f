//! sled, with what it lacks: sealed values, and commits that outlive a power cut.

use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use bincode::Decode;
use sled::{Batch, IVec};

use crate::store::StoreError;
use crate::store::durable;
use crate::store::records::{self, WrittenIn};

/// For sled's own lock. The directory's lock is ours by now, so that only a store
/// that this process closed just now can hold it: sled's threads let go of it a
/// little after sled itself was dropped.
const WAIT: Duration = Duration::from_millis(20);
const WAITS_MAX: u32 = 250;

/// Times that a page is asked for once more.
const CROWDING: usize = 3;

pub(super) struct Database {
    db: sled::Db,
    /// sled's log, opened once more: sled hands it to the kernel with
    /// `sync_file_range`, which survives the process but not a power cut.
    log: File,
    path: PathBuf,
}

impl Database {
    /// Opens or makes the database. sled panics on some damage; that is an error here.
    pub(super) fn open(path: &Path, cache_bytes: u64) -> Result<Self, String> {
        let config = sled::Config::new().path(path).cache_capacity(cache_bytes);
        let mut waits = 0;
        let db = loop {
            let opened = panic::catch_unwind(AssertUnwindSafe(|| config.open()));
            match opened {
                Ok(Ok(db)) => break db,
                Ok(Err(error)) if is_held(&error) && waits < WAITS_MAX => {
                    waits += 1;
                    thread::sleep(WAIT);
                }
                Ok(Err(error)) => return Err(error.to_string()),
                Err(_panic) => return Err("the database's log makes no sense".to_owned()),
            }
        };
        let log = File::open(path.join("db")).map_err(|error| error.to_string())?;
        // sled does not make the names of its files durable.
        durable::sync_dir(path).map_err(|error| error.to_string())?;
        Ok(Self { db, log, path: path.to_owned() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.db.is_empty()
    }

    /// The value under `key`; an error where it is damaged.
    pub(super) fn read<T: Decode<WrittenIn>>(&self, key: &[u8]) -> Result<Option<T>, StoreError> {
        let Some(sealed) = self.db.get(key)? else { return Ok(None) };
        records::decode(key, &sealed).map(Some).map_err(|fault| StoreError::damaged(key, &fault))
    }

    /// Has sled look for pages to drop, after one of many large values was read.
    ///
    /// sled looks when pages of one of 256 kinds were asked for 64 times. A scan asks
    /// once for each, and leaves up to 16,384 pages beyond the cache's bound. With
    /// these, reading the 160 MB of 300,000 records' index left 60 MB of them in memory
    /// rather than 155, and took no longer: what is dropped makes room for the next.
    pub(super) fn crowd_out(&self, key: &[u8]) -> Result<(), StoreError> {
        for _ in 0..CROWDING {
            self.db.contains_key(key)?;
        }
        Ok(())
    }

    /// Everything of one kind in the order of keys.
    pub(super) fn entries(&self, prefix: &[u8]) -> Entries {
        Entries(self.db.scan_prefix(prefix))
    }

    /// How many entries of one kind there are.
    pub(super) fn count(&self, prefix: &[u8]) -> Result<usize, StoreError> {
        self.entries(prefix).try_fold(0, |count, entry| entry.map(|_| count + 1))
    }

    pub(super) fn contains(&self, key: &[u8]) -> Result<bool, StoreError> {
        Ok(self.db.contains_key(key)?)
    }

    /// Everything between two keys, both included.
    pub(super) fn between(&self, first: &[u8], last: &[u8]) -> Entries {
        Entries(self.db.range(first.to_vec()..=last.to_vec()))
    }

    /// Puts one value, with no promise that it outlives the process until a
    /// [`Database::flush`].
    pub(super) fn put(&self, key: &[u8], sealed: Vec<u8>) -> Result<(), StoreError> {
        self.db.insert(key, sealed)?;
        Ok(())
    }

    /// Removes one value, with no promise that it stays away until a
    /// [`Database::flush`].
    pub(super) fn remove(&self, key: &[u8]) -> Result<(), StoreError> {
        self.db.remove(key)?;
        Ok(())
    }

    /// Makes durable what was put or removed.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        self.db.flush()?;
        self.log.sync_data().map_err(|error| StoreError::io("sync the log", &self.path, &error))
    }

    /// The first key of a kind that is not below `start`, with its value.
    pub(super) fn first_from(
        &self,
        start: &[u8],
        prefix: &[u8],
    ) -> Result<Option<(IVec, IVec)>, StoreError> {
        let Some(entry) = self.db.range(start..).next() else { return Ok(None) };
        let (key, sealed) = entry?;
        Ok(key.starts_with(prefix).then_some((key, sealed)))
    }

    /// Applies a batch as a whole; durable when it returns.
    ///
    /// After an error it is unknown whether the batch is there.
    pub(super) fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.db.apply_batch(batch)?;
        self.flush()
    }

    pub(super) fn disk_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.db.size_on_disk()?)
    }
}

/// Whether sled still holds its own lock on the log.
fn is_held(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(io) if io.to_string().contains("could not acquire lock"))
}

impl std::fmt::Debug for Database {
    /// Not what it holds: sled would print every page.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Keys and values in order. After an error there is no more.
pub(super) struct Entries(sled::Iter);

impl std::fmt::Debug for Entries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entries")
    }
}

impl Iterator for Entries {
    type Item = Result<(IVec, IVec), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|entry| entry.map_err(StoreError::from))
    }
}

impl DoubleEndedIterator for Entries {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|entry| entry.map_err(StoreError::from))
    }
}
