//! Keyring: the keys of everything that the store keeps, and how they are destroyed.
//!
//! sled keeps what was removed from it in its log, for how long nobody can say. So
//! nothing lies there, or in an image's file, but encrypted, under a key of its own; and
//! what is erased loses that key: the bytes that stay behind are noise.
//!
//! Keys are derived from a few seeds ([`tree`]), which lie in one small file with a copy
//! ([`file`]), encrypted under a master key ([`master_key`]). Both are written anew as a
//! whole at each erasure. Promise: once [`Keyring::erase`] returned, no file of the
//! store's directory holds what those keys can be derived from.
//!
//! In memory keys and seeds are wiped where they are dropped (`zeroize`), and so are the master
//! key and the bytes that it is read from and printed to. That covers neither what the compiler
//! copies as values move, nor the state of a hash, nor the key schedule of a value that ring is
//! at work on, nor the key in a backup's answer on its way through the socket, nor what the
//! kernel swapped out or wrote to a core dump.

mod file;
pub mod master_key;
mod tree;

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use ring::rand::{SecureRandom as _, SystemRandom};

use crate::store::StoreError;
use crate::store::keyring::file::KeyringFile;
use crate::store::keyring::master_key::MasterKey;
use crate::store::keyring::tree::{KeyTree, SEED_BYTES, Seed};

/// Which tree a key is of: what is numbered alike and lives alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeyClass {
    /// Counters, ids, ranges: what says nothing of what was seen. Never erased.
    Kept,
    /// A record with its vectors, by its id.
    Record,
    /// A frame's image and spool entry, by its ticket.
    Frame,
    /// The blobs of a segment of the index, by its number.
    Segment,
    /// Notes, memos, states, sessions and the like, by the number of the write: each
    /// version has a key of its own.
    Version,
}

impl KeyClass {
    pub(super) const ALL: [Self; 5] =
        [Self::Kept, Self::Record, Self::Frame, Self::Segment, Self::Version];

    pub(super) fn to_byte(self) -> u8 {
        match self {
            Self::Kept => 0,
            Self::Record => 1,
            Self::Frame => 2,
            Self::Segment => 3,
            Self::Version => 4,
        }
    }

    pub(super) fn of_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.to_byte() == byte)
    }

    fn index(self) -> usize {
        usize::from(self.to_byte())
    }
}

/// Name of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyId {
    pub(super) class: KeyClass,
    pub(super) number: u64,
}

impl KeyId {
    pub(super) const KEPT: Self = Self { class: KeyClass::Kept, number: 0 };

    pub(super) fn new(class: KeyClass, number: u64) -> Self {
        Self { class, number }
    }
}

/// A key of 256 bits, wiped from memory where it is dropped.
pub(super) type Key = Seed;
pub(super) const KEY_BYTES: usize = SEED_BYTES;

/// See the module.
#[derive(Debug)]
pub(super) struct Keyring {
    file: KeyringFile,
    held: RwLock<Trees>,
}

/// A tree for each class, and how often they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Trees {
    epoch: u64,
    trees: [KeyTree; KeyClass::ALL.len()],
}

impl Keyring {
    /// The keyring in `dir`; `None` where there is none.
    pub(super) fn open(dir: &Path, master: &MasterKey) -> Result<Option<Self>, StoreError> {
        let file = KeyringFile::in_dir(dir, master.clone());
        let held = file.read()?;
        Ok(held.map(|held| Self { file, held: RwLock::new(held) }))
    }

    /// A new one, durable in `dir` when it returns.
    pub(super) fn create(dir: &Path, master: &MasterKey) -> Result<Self, StoreError> {
        let mut trees = Vec::new();
        for _ in KeyClass::ALL {
            trees.push(KeyTree::of_root(random()?.into()));
        }
        let trees = trees.try_into().unwrap_or_default();
        let held = Trees { epoch: 1, trees };
        let file = KeyringFile::in_dir(dir, master.clone());
        file.write(&held)?;
        Ok(Self { file, held: RwLock::new(held) })
    }

    /// The key; `None` where it was erased.
    pub(super) fn key(&self, id: KeyId) -> Option<Key> {
        // Replaced as a whole: a panicking holder leaves no half of it.
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.trees.get(id.class.index())?.key(id.number)
    }

    /// Whether there is such a key.
    pub(super) fn holds(&self, id: KeyId) -> bool {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.trees.get(id.class.index()).is_some_and(|tree| tree.holds(id.number))
    }

    /// Numbers of a class from 1 to below `end` that have a key and are not among these.
    pub(super) fn held_but(
        &self,
        class: KeyClass,
        end: u64,
        is_among: impl Fn(u64) -> bool,
    ) -> Vec<u64> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let ranges = held.trees.get(class.index()).into_iter().flat_map(KeyTree::ranges);
        let numbers = ranges.flat_map(|(first, last)| first.max(1)..(last + 1).min(end));
        numbers.filter(|number| !is_among(*number)).collect()
    }

    /// Destroys keys; durable when it returns. Unknown and erased ones are no error.
    pub(super) fn erase(&self, ids: impl IntoIterator<Item = KeyId>) -> Result<(), StoreError> {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = held.clone();
        let mut is_changed = false;
        for KeyId { class, number } in ids {
            let tree = next.trees.get_mut(class.index()).filter(|_| class != KeyClass::Kept);
            is_changed |= tree.is_some_and(|tree| tree.take_out(number, number));
        }
        if is_changed {
            next.epoch += 1;
            self.file.write(&next)?;
            *held = next;
        }
        Ok(())
    }

    /// A file of the keyring, as it is now.
    pub(super) fn print(&self) -> Result<Vec<u8>, StoreError> {
        self.file.print(&self.held.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this is the key that it is encrypted with.
    pub(super) fn is_under(&self, master: &MasterKey) -> bool {
        self.file.is_under(master)
    }

    /// The lowest number of a class above all that were erased.
    pub(super) fn untouched_from(&self, class: KeyClass) -> u64 {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.trees.get(class.index()).map_or(0, KeyTree::untouched_from)
    }
}

/// Bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|ring::error::Unspecified| {
        let reason = "the system gives no random numbers".to_owned();
        StoreError::Database { reason }
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: u64) -> KeyId {
        KeyId::new(KeyClass::Record, number)
    }

    #[test]
    fn an_erased_key_is_gone_for_the_next_process_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let master = MasterKey::for_tests(1);
        assert!(Keyring::open(dir.path(), &master).unwrap().is_none());
        let keyring = Keyring::create(dir.path(), &master).unwrap();
        let (kept, image) = (keyring.key(record(8)), keyring.key(KeyId::new(KeyClass::Frame, 7)));
        assert_ne!(kept, image);
        keyring.erase([record(7), record(9), KeyId::KEPT]).unwrap();
        for keyring in [keyring, Keyring::open(dir.path(), &master).unwrap().unwrap()] {
            assert_eq!((keyring.key(record(7)), keyring.key(record(9))), (None, None));
            assert_eq!(keyring.key(record(8)), kept);
            assert_eq!(keyring.key(KeyId::new(KeyClass::Frame, 7)), image);
            assert!(keyring.key(KeyId::KEPT).is_some());
            assert_eq!(keyring.untouched_from(KeyClass::Record), 10);
        }
    }

    #[test]
    fn classes_come_back_from_their_bytes() {
        for class in KeyClass::ALL {
            assert_eq!(KeyClass::of_byte(class.to_byte()), Some(class));
        }
        assert_eq!(KeyClass::of_byte(9), None);
    }
}
