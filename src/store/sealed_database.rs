//! Database of which nobody can read what was erased: sled under a keyring.
//!
//! What comes in under a key goes to sled encrypted ([`sealed`]), and a key that holds a
//! name (of a source, an agent, a session, a noun) as a number; both are undone on the way
//! out. The rest of the store sees entries by their own keys and plain values.
//!
//! What a batch removes or writes over loses its encryption key: at once where content
//! was removed, else with the next time, [`SealedDatabase::erase_owed`] at the latest. Which
//! keys are owed lies in the database, in the same batch: a kill in between postpones it to
//! the next start.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bincode::{Decode, Encode};
use sled::IVec;

use crate::base::failpoint::failpoint;
use crate::store::StoreError;
use crate::store::database::{Batch as RawBatch, Database, LastChanges, RawEntries};
use crate::store::keyring::{KeyClass, KeyId, Keyring};
use crate::store::keys;
use crate::store::records::{self, Fault, WrittenIn};
use crate::store::sealed::{self, Opened, Unreadable};

/// Keys that may be owed before they are erased in passing: the keyring is written as a
/// whole each time.
const OWED_MAX: usize = 4_096;
/// Numbers of writes taken from the disk at once.
const LEASE: u64 = 4_096;

pub(super) struct SealedDatabase {
    raw: Database,
    keyring: Arc<Keyring>,
    writing: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    next_write: u64,
    /// Numbers below may be given out.
    leased_to: u64,
    /// The number that stands for each key that holds a name.
    names: BTreeMap<Vec<u8>, u64>,
    owed: Vec<KeyId>,
    /// Entries of the database that say so.
    owed_entries: Vec<Vec<u8>>,
}

/// Changes that are made as a whole or not at all.
#[derive(Debug, Default)]
pub(super) struct Batch {
    changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    erased: Vec<KeyId>,
    is_urgent: bool,
}

impl Batch {
    pub(super) fn inserted_keys(&self) -> impl Iterator<Item = &[u8]> {
        self.changes.iter().filter(|(_, value)| value.is_some()).map(|(key, _)| key.as_slice())
    }

    pub(super) fn removed_keys(&self) -> impl Iterator<Item = &[u8]> {
        self.changes.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| key.as_slice())
    }

    pub(super) fn insert(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.changes.push((key.into(), Some(value.into())));
    }

    pub(super) fn remove(&mut self, key: impl Into<Vec<u8>>) {
        let key = key.into();
        self.is_urgent |= keys::is_content(&key);
        self.changes.push((key, None));
    }

    /// Destroys a key with this batch, besides those of the entries that it removes.
    pub(super) fn erase(&mut self, id: KeyId) {
        self.erased.push(id);
    }

    /// Erases with the batch also what else would be erased with the next time.
    pub(super) fn erase_at_once(&mut self) {
        self.is_urgent = true;
    }

    /// Leaves the erasure to [`SealedDatabase::erase_owed`], which the caller sees to.
    pub(super) fn erase_later(&mut self) {
        self.is_urgent = false;
    }
}

/// What came of a batch.
#[derive(Debug, Default)]
struct Done {
    /// Names with their numbers, or (`None`) gone.
    names: BTreeMap<Vec<u8>, Option<u64>>,
    /// Keys to erase.
    owed: Vec<KeyId>,
    /// The entry of the database that says so.
    entry: Option<Vec<u8>>,
}

/// Under [`keys::OWED`] and a number.
#[derive(Encode, Decode)]
struct OwedOnDisk {
    keys: Vec<(u8, u64)>,
}

impl SealedDatabase {
    /// Reads the names, and erases what was owed when the process ended.
    pub(super) fn new(raw: Database, keyring: Arc<Keyring>) -> Result<Self, StoreError> {
        let mut writing = Writing {
            next_write: 1,
            leased_to: 1,
            names: BTreeMap::new(),
            owed: Vec::new(),
            owed_entries: Vec::new(),
        };
        for kind in keys::NAMED {
            for entry in raw.entries(kind) {
                let (physical, value) = entry?;
                let Some(number) = keys::named_number(&physical) else { continue };
                match sealed::open(&keyring, &value) {
                    Ok(Opened { entry, .. }) => {
                        writing.names.insert(entry, number);
                    }
                    Err(Unreadable::Erased) => {}
                    Err(Unreadable::Damaged) => {
                        let error = StoreError::damaged(&physical, &Fault::Checksum);
                        log::error!(error:%; "an entry cannot be read, nor by what name it went");
                    }
                }
            }
        }
        let database = Self { raw, keyring, writing: Mutex::new(writing) };
        let leased_to = database.read::<u64>(keys::WRITES)?.unwrap_or(1);
        // A lease that was lost with a damaged database must not name keys that are gone.
        let leased_to = leased_to.max(database.untouched_from(KeyClass::Version));
        let mut owed = Vec::new();
        let mut owed_entries = Vec::new();
        for entry in database.entries(keys::OWED) {
            let (key, value) = entry?;
            match records::decode::<OwedOnDisk>(&key, &value) {
                Ok(OwedOnDisk { keys }) => {
                    owed.extend(keys.into_iter().filter_map(|(class, number)| {
                        Some(KeyId::new(KeyClass::of_byte(class)?, number))
                    }));
                }
                Err(fault) => {
                    let error = StoreError::damaged(&key, &fault);
                    log::error!(error:%; "some keys of what was erased may be left");
                }
            }
            owed_entries.push(key);
        }
        {
            let mut writing = database.lock_writing();
            (writing.next_write, writing.leased_to) = (leased_to, leased_to);
            (writing.owed, writing.owed_entries) = (owed, owed_entries);
        }
        failpoint!("start.owed");
        database.erase_owed()?;
        Ok(database)
    }

    /// The value under `key`; an error where it is damaged, nothing where it was erased.
    pub(super) fn read<T: Decode<WrittenIn>>(&self, key: &[u8]) -> Result<Option<T>, StoreError> {
        let Some(value) = self.get(key)? else { return Ok(None) };
        records::decode(key, &value).map(Some).map_err(|fault| StoreError::damaged(key, &fault))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(physical) = self.physical(key) else { return Ok(None) };
        let Some(sealed) = self.raw.get(&physical)? else { return Ok(None) };
        Ok(open_as(&self.keyring, key, &sealed))
    }

    /// As [`Database::crowd_out`].
    pub(super) fn crowd_out(&self, key: &[u8]) -> Result<(), StoreError> {
        self.physical(key).map_or(Ok(()), |physical| self.raw.crowd_out(&physical))
    }

    /// Everything of one kind in the order of keys.
    pub(super) fn entries(&self, prefix: &[u8]) -> Entries {
        if !keys::is_named(prefix) {
            return Entries::Numbered(
                Box::new(self.raw.entries(prefix)),
                Arc::clone(&self.keyring),
            );
        }
        let writing = self.lock_writing();
        let of_kind = writing.names.range(prefix.to_vec()..);
        let of_kind = of_kind.take_while(|(name, _)| name.starts_with(prefix));
        let names: Vec<_> = of_kind.map(|(name, number)| (name.clone(), *number)).collect();
        Entries::Named(names.into_iter(), self.raw.clone(), Arc::clone(&self.keyring))
    }

    /// The keys of a kind whose keys hold names.
    pub(super) fn names(&self, prefix: &[u8]) -> Vec<Vec<u8>> {
        let writing = self.lock_writing();
        let of_kind = writing.names.range(prefix.to_vec()..).map(|(name, _)| name);
        of_kind.take_while(|name| name.starts_with(prefix)).cloned().collect()
    }

    /// How many entries of one kind there are.
    pub(super) fn count(&self, prefix: &[u8]) -> Result<usize, StoreError> {
        self.raw.count(prefix)
    }

    pub(super) fn contains(&self, key: &[u8]) -> Result<bool, StoreError> {
        self.physical(key).map_or(Ok(false), |physical| self.raw.contains(&physical))
    }

    /// Everything between two keys without names, both included.
    pub(super) fn between(&self, first: &[u8], last: &[u8]) -> Entries {
        Entries::Numbered(Box::new(self.raw.between(first, last)), Arc::clone(&self.keyring))
    }

    /// The first key of a kind without names that is not below `start`, with its value.
    pub(super) fn first_from(
        &self,
        start: &[u8],
        prefix: &[u8],
    ) -> Result<Option<Pair>, StoreError> {
        let mut entries =
            Entries::Numbered(Box::new(self.raw.from(start)), Arc::clone(&self.keyring));
        let Some(entry) = entries.next() else { return Ok(None) };
        let (key, value) = entry?;
        Ok(key.starts_with(prefix).then_some((key, value)))
    }

    /// The keys of a kind without names, also of values that were erased: they take room until
    /// they are removed.
    pub(super) fn keys(&self, prefix: &[u8]) -> impl Iterator<Item = Result<Vec<u8>, StoreError>> {
        self.raw.entries(prefix).map(|entry| entry.map(|(key, _)| key.to_vec()))
    }

    /// The first of [`SealedDatabase::keys`] that is not below `start`.
    pub(super) fn first_key_from(
        &self,
        start: &[u8],
        prefix: &[u8],
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let first = self.raw.from(start).next().transpose()?;
        Ok(first.map(|(key, _)| key.to_vec()).filter(|key| key.starts_with(prefix)))
    }

    /// Puts one value, with no promise that it outlives the process until a
    /// [`SealedDatabase::flush`].
    pub(super) fn put(&self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        batch.insert(key, value);
        self.apply(batch)
    }

    /// Removes one value, with no promise that it stays away until a
    /// [`SealedDatabase::flush`]. Its key is erased some time after.
    pub(super) fn remove(&self, key: &[u8]) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        batch.remove(key);
        self.apply(batch)
    }

    fn apply(&self, batch: Batch) -> Result<(), StoreError> {
        let (raw, done) = self.prepare(&mut self.lock_writing(), batch)?;
        self.raw.apply(raw)?;
        self.note(done);
        Ok(())
    }

    /// Makes durable what was put or removed.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        self.raw.flush()
    }

    /// Applies a batch as a whole; durable when it returns, and what content it removed
    /// cannot be read any more.
    ///
    /// After an error it is unknown whether the batch is there.
    pub(super) fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        if self.commit_owing(batch)? { self.erase_owed() } else { Ok(()) }
    }

    /// As [`SealedDatabase::commit`], but that what it removed can still be read: whether
    /// [`SealedDatabase::erase_owed`] is to follow at once.
    pub(super) fn commit_owing(&self, batch: Batch) -> Result<bool, StoreError> {
        let is_urgent = batch.is_urgent;
        let (raw, done) = self.prepare(&mut self.lock_writing(), batch)?;
        self.raw.commit(raw)?;
        let owed = self.note(done);
        failpoint!("erase.committed");
        Ok(is_urgent || owed > OWED_MAX)
    }

    /// Destroys the keys of all that was removed or written over. Durable when it returns.
    pub(super) fn erase_owed(&self) -> Result<(), StoreError> {
        let mut writing = self.lock_writing();
        if writing.owed.is_empty() && writing.owed_entries.is_empty() {
            return Ok(());
        }
        failpoint!("erase.owed");
        self.keyring.erase(writing.owed.iter().copied())?;
        failpoint!("erase.keys");
        for entry in writing.owed_entries.drain(..) {
            // A kill brings them back, and they are erased once more.
            self.raw.remove(&entry)?;
            failpoint!("erase.entry");
        }
        writing.owed.clear();
        Ok(())
    }

    /// Gives what belongs together, while nothing is committed and no key erased.
    pub(super) fn hold<T>(&self, take: impl FnOnce(Held<'_>) -> T) -> T {
        let _writing = self.lock_writing();
        take(Held(self))
    }

    /// What lies below: encrypted values under keys without names.
    pub(super) fn raw(&self) -> &Database {
        &self.raw
    }

    pub(super) fn keyring(&self) -> Arc<Keyring> {
        Arc::clone(&self.keyring)
    }

    /// The lowest number of a class above all that were erased.
    pub(super) fn untouched_from(&self, class: KeyClass) -> u64 {
        self.keyring.untouched_from(class)
    }

    pub(super) fn disk_bytes(&self) -> Result<u64, StoreError> {
        self.raw.disk_bytes()
    }

    /// Notes what came of a batch that is in the database; how many keys are owed now.
    fn note(&self, Done { names, owed, entry }: Done) -> usize {
        let mut writing = self.lock_writing();
        for (name, number) in names {
            match number {
                Some(number) => writing.names.insert(name, number),
                None => writing.names.remove(&name),
            };
        }
        writing.owed.extend(owed);
        writing.owed_entries.extend(entry);
        writing.owed.len()
    }

    /// What the database is to do for a batch, and what to note when that is done.
    fn prepare(&self, writing: &mut Writing, batch: Batch) -> Result<(RawBatch, Done), StoreError> {
        let Batch { changes, erased, is_urgent: _ } = batch;
        let mut raw = RawBatch::default();
        let mut done = Done { owed: erased, ..Done::default() };
        for (key, value) in changes {
            let write = self.next_write(writing, &mut raw)?;
            let physical = if keys::is_named(&key) {
                let known = done.names.get(&key).copied();
                let known = known.unwrap_or_else(|| writing.names.get(&key).copied());
                let Some(number) = known.or_else(|| value.as_ref().map(|_| write)) else {
                    continue;
                };
                done.names.insert(key.clone(), value.as_ref().map(|_| number));
                keys::numbered_name(&key, number)
            } else {
                key.clone()
            };
            let id = keys::encryption_key(&key, write);
            if id.class == KeyClass::Version {
                let before = self.raw.get(&physical)?;
                done.owed.extend(before.as_deref().and_then(sealed::key_id));
            }
            if let Some(value) = value {
                raw.insert(physical, sealed::seal(&self.keyring, id, write, &key, &value)?);
            } else {
                done.owed.extend(keys::erased_with(&key));
                raw.remove(physical);
            }
        }
        if !done.owed.is_empty() {
            done.entry = Some(self.owe(writing, &done.owed, &mut raw)?);
        }
        Ok((raw, done))
    }

    /// Writes down which keys are owed; under which entry.
    fn owe(
        &self,
        writing: &mut Writing,
        owed: &[KeyId],
        raw: &mut RawBatch,
    ) -> Result<Vec<u8>, StoreError> {
        let write = self.next_write(writing, raw)?;
        let key = keys::owed(write);
        let keys = owed.iter().map(|it| (it.class.to_byte(), it.number)).collect();
        let value = records::encode(&key, &OwedOnDisk { keys });
        let sealed = sealed::seal(&self.keyring, KeyId::KEPT, write, &key, &value)?;
        raw.insert(key.as_slice(), sealed);
        Ok(key)
    }

    /// The number of the next write. A number that a kill took away is not given out again:
    /// a key could be erased that another value was written with.
    fn next_write(&self, writing: &mut Writing, raw: &mut RawBatch) -> Result<u64, StoreError> {
        let write = writing.next_write;
        writing.next_write += 1;
        if write >= writing.leased_to {
            writing.leased_to = write + LEASE;
            let value = records::encode(keys::WRITES, &writing.leased_to);
            let sealed = sealed::seal(&self.keyring, KeyId::KEPT, write, keys::WRITES, &value)?;
            raw.insert(keys::WRITES, sealed);
        }
        Ok(write)
    }

    fn physical(&self, key: &[u8]) -> Option<Vec<u8>> {
        if keys::is_named(key) {
            physical(&self.lock_writing().names, key)
        } else {
            Some(key.to_vec())
        }
    }

    fn lock_writing(&self) -> MutexGuard<'_, Writing> {
        // Held while maps and vectors change: a panicking holder leaves a number unused.
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Database in which no key is erased, and no batch prepared.
pub(super) struct Held<'a>(&'a SealedDatabase);

impl Held<'_> {
    /// As [`Database::last_changes`].
    pub(super) fn last_changes(&self, most: usize) -> Result<Option<LastChanges>, StoreError> {
        self.0.raw.last_changes(most)
    }

    /// As of those changes.
    pub(super) fn keyring(&self) -> &Keyring {
        &self.0.keyring
    }
}

impl std::fmt::Debug for SealedDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SealedDatabase").field("raw", &self.raw).finish_non_exhaustive()
    }
}

/// Where sled has an entry; `None` for a name that has none.
fn physical(names: &BTreeMap<Vec<u8>, u64>, key: &[u8]) -> Option<Vec<u8>> {
    if !keys::is_named(key) {
        return Some(key.to_vec());
    }
    names.get(key).map(|number| keys::numbered_name(key, *number))
}

/// Plain value of an entry; what is damaged as it lies there, in which every reader finds
/// a wrong checksum; `None` where it was erased.
fn open_as(keyring: &Keyring, key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    match sealed::open(keyring, bytes) {
        Ok(Opened { entry, value, .. }) if entry == key => Some(value),
        Ok(_) | Err(Unreadable::Damaged) => Some(bytes.to_vec()),
        Err(Unreadable::Erased) => None,
    }
}

/// Keys and plain values in order. After an error there is no more.
pub(super) enum Entries {
    Numbered(Box<RawEntries>, Arc<Keyring>),
    Named(std::vec::IntoIter<(Vec<u8>, u64)>, Database, Arc<Keyring>),
}

/// A key and its plain value.
type Pair = (Vec<u8>, Vec<u8>);
type Entry = Result<Pair, StoreError>;

impl Entries {
    fn opened(keyring: &Keyring, (key, sealed): (IVec, IVec)) -> Option<Entry> {
        Some(Ok((key.to_vec(), open_as(keyring, &key, &sealed)?)))
    }

    fn named(
        (raw, keyring): (&Database, &Keyring),
        (name, number): (Vec<u8>, u64),
    ) -> Option<Entry> {
        match raw.get(&keys::numbered_name(&name, number)) {
            Ok(sealed) => {
                let value = open_as(keyring, &name, &sealed?)?;
                Some(Ok((name, value)))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl Iterator for Entries {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        match self {
            Self::Numbered(raw, keyring) => raw.find_map(|entry| match entry {
                Ok(entry) => Self::opened(keyring, entry),
                Err(error) => Some(Err(error)),
            }),
            Self::Named(names, raw, keyring) => {
                names.find_map(|name| Self::named((raw, keyring), name))
            }
        }
    }
}

impl DoubleEndedIterator for Entries {
    fn next_back(&mut self) -> Option<Entry> {
        match self {
            Self::Numbered(raw, keyring) => raw.rev().find_map(|entry| match entry {
                Ok(entry) => Self::opened(keyring, entry),
                Err(error) => Some(Err(error)),
            }),
            Self::Named(names, raw, keyring) => {
                names.rev().find_map(|name| Self::named((raw, keyring), name))
            }
        }
    }
}

impl std::fmt::Debug for Entries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entries")
    }
}
