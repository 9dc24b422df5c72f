//! Witness: how many entries of each kind the database holds, and a checksum over them.
//!
//! sled opens a log that lost pages as a smaller or older store, without an error. So every
//! commit also says, in the same batch, what there is after it; and once it is durable, so
//! does a small file beside the database. What the database holds is compared with the one,
//! the one with the other: what is missing is named by its kind.
//!
//! The checksum of a kind is the sum of its entries' checksums, so that a commit changes it
//! by what it changes. Chunks of segments and the vectors of nouns are not counted: they
//! have checksums of their own and are made anew.
//!
//! Layout of the file: two slots of 4 KiB, written in turn: eight magic bytes, the length
//! (u32), a CRC-32, then a bincode value. It is written with every commit and synced once a
//! second: after a power cut it may be a second of commits behind, or as much as the kernel
//! keeps back of a file that is no longer written (some 30 s), and is never ahead.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bincode::{Decode, Encode};

use crate::base::failpoint::failpoint;
use crate::base::time::{Clock as _, SystemClock};
use crate::store::keys;
use crate::store::records::VALUE_BYTES_MAX;

const MAGIC: &[u8; 8] = b"engramWT";
/// Magic bytes, length, checksum.
const HEAD_BYTES: usize = 16;
const SLOT_BYTES: usize = 4_096;
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Chunks and nouns are made anew where they are missing; the others come and go unasked.
const UNCOUNTED: [&[u8]; 5] = [keys::CHUNKS, keys::NOUNS, keys::WITNESS, keys::WRITES, keys::OWED];

/// Entries of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub(super) struct KindSum {
    pub(super) count: u64,
    sum: u64,
}

impl KindSum {
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.count = self.count.wrapping_add(1);
        self.sum = self.sum.wrapping_add(checksum(key, value));
    }

    /// Of entries by their checksums.
    pub(super) fn of(checksums: impl IntoIterator<Item = u64>) -> Self {
        checksums.into_iter().fold(Self::default(), |Self { count, sum }, checksum| Self {
            count: count.wrapping_add(1),
            sum: sum.wrapping_add(checksum),
        })
    }

    /// Counts what is under a key now in place of what was.
    pub(super) fn replace(&mut self, key: &[u8], old: Option<&[u8]>, new: Option<&[u8]>) {
        if let Some(old) = old {
            self.count = self.count.wrapping_sub(1);
            self.sum = self.sum.wrapping_sub(checksum(key, old));
        }
        if let Some(new) = new {
            self.add(key, new);
        }
    }
}

/// What the database holds after a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub(super) struct Witness {
    /// Commits since the database was made.
    pub(super) commits: u64,
    /// By the first letter of the key.
    kinds: BTreeMap<u8, KindSum>,
}

impl Witness {
    /// Entries of a kind that is counted; `None` of one that is not.
    pub(super) fn kind_of(key: &[u8]) -> Option<u8> {
        let kind = *key.first()?;
        let is_counted = !UNCOUNTED.contains(&[kind].as_slice());
        is_counted.then_some(kind)
    }

    pub(super) fn of_kind(&self, kind: u8) -> KindSum {
        self.kinds.get(&kind).copied().unwrap_or_default()
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = u8> + '_ {
        self.kinds.keys().copied()
    }

    pub(super) fn change(&mut self, key: &[u8], old: Option<&[u8]>, new: Option<&[u8]>) {
        let Some(kind) = Self::kind_of(key) else { return };
        let of_kind = self.kinds.entry(kind).or_default();
        of_kind.replace(key, old, new);
    }

    /// Counts a kind as it was found.
    pub(super) fn set(&mut self, kind: u8, found: KindSum) {
        self.kinds.insert(kind, found);
    }

    /// What `found` lacks of what this one says, by kind.
    pub(super) fn losses(&self, found: &Self) -> Vec<Loss> {
        let kinds = self.kinds().chain(found.kinds().filter(|it| !self.kinds.contains_key(it)));
        kinds
            .filter_map(|kind| Loss::between(kind, self.of_kind(kind), found.of_kind(kind)))
            .collect()
    }
}

/// Difference between what was acknowledged and what is there, of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loss {
    kind: u8,
    promised: u64,
    found: u64,
}

impl Loss {
    /// `None` where nothing is missing.
    pub(super) fn between(kind: u8, promised: KindSum, found: KindSum) -> Option<Self> {
        let loss = Self { kind, promised: promised.count, found: found.count };
        (promised != found).then_some(loss)
    }
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, promised, found } = *self;
        let name = keys::kind_name(kind);
        match promised.checked_sub(found) {
            Some(0) => write!(f, "{name}: {promised} are there, not all as they were last stored"),
            Some(lost) => write!(f, "{name}: {lost} of {promised} are missing"),
            None => write!(f, "{name}: {found} are there, {promised} were last stored"),
        }
    }
}

/// Checksum of an entry, spread over 64 bits so that sums of many differ.
pub(super) fn checksum(key: &[u8], value: &[u8]) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&u64::try_from(key.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.update(key);
    hasher.update(value);
    let length = u64::try_from(value.len()).unwrap_or(u64::MAX);
    let mut mixed = (length << 32) ^ u64::from(hasher.finalize());
    // The finalizer of SplitMix64 (Steele et al. 2014).
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The witness outside of the database.
#[derive(Debug)]
pub(super) struct WitnessFile {
    path: PathBuf,
    file: Option<File>,
    synced_at: Option<Instant>,
}

impl WitnessFile {
    /// Of the database at `path`; nothing is opened or made yet.
    pub(super) fn beside(path: &Path) -> Self {
        Self { path: path.with_extension("witness"), file: None, synced_at: None }
    }

    /// The newest whole slot; `None` where there is none, or no file.
    pub(super) fn read(&self) -> io::Result<Option<Witness>> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let slots = bytes.chunks(SLOT_BYTES).filter_map(parse);
        Ok(slots.max_by_key(|witness| witness.commits))
    }

    /// Replaces the older slot.
    pub(super) fn write(&mut self, witness: &Witness) -> io::Result<()> {
        let slot = print(witness)?;
        let file = if let Some(file) = &self.file {
            file
        } else {
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            self.file.insert(options.mode(0o600).open(&self.path)?)
        };
        let at = if witness.commits.is_multiple_of(2) { 0 } else { SLOT_BYTES as u64 };
        file.write_all_at(&slot, at)?;
        failpoint!("witness.written");
        if witness.commits == 1 {
            // A new database: the other slot may be of one that was here before.
            file.write_all_at(&[0; SLOT_BYTES], SLOT_BYTES as u64 - at)?;
        }
        if self.synced_at.is_none_or(|it| it.elapsed() >= SYNC_EVERY) {
            file.sync_data()?;
            self.synced_at = Some(SystemClock.tick());
        }
        Ok(())
    }

    /// The next write opens it by its name.
    pub(super) fn close(&mut self) {
        (self.file, self.synced_at) = (None, None);
    }

    /// Makes durable what was written.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }
}

fn print(witness: &Witness) -> io::Result<Vec<u8>> {
    let payload =
        bincode::encode_to_vec(witness, bincode::config::standard()).map_err(io::Error::other)?;
    if payload.len() > SLOT_BYTES - HEAD_BYTES {
        return Err(io::Error::other("the witness is larger than its slot"));
    }
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length);
    hasher.update(&payload);
    let mut slot = [MAGIC.as_slice(), &length, &hasher.finalize().to_le_bytes(), &payload].concat();
    slot.resize(SLOT_BYTES, 0);
    Ok(slot)
}

fn parse(slot: &[u8]) -> Option<Witness> {
    let (length, rest) = slot.strip_prefix(MAGIC)?.split_first_chunk::<4>()?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    let payload = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(length);
    hasher.update(payload);
    if hasher.finalize() != u32::from_le_bytes(*crc) {
        return None;
    }
    let config = bincode::config::standard().with_limit::<VALUE_BYTES_MAX>();
    let (witness, read) = bincode::decode_from_slice(payload, config).ok()?;
    (read == payload.len()).then_some(witness)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    proptest! {
        /// Against a map that is summed anew.
        #[test]
        fn changes_add_up_to_what_is_there(
            changes in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 1..3), any::<Option<Vec<u8>>>()), 0..40),
        ) {
            let mut map: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
            let mut witness = Witness::default();
            for (key, new) in changes {
                let old = match &new {
                    Some(new) => map.insert(key.clone(), new.clone()),
                    None => map.remove(&key),
                };
                witness.change(&key, old.as_deref(), new.as_deref());
            }
            let mut anew = Witness::default();
            for (key, value) in &map {
                anew.change(key, None, Some(value));
            }
            prop_assert_eq!(witness.losses(&anew), []);
            if let Some((key, value)) = map.pop_first()
                && let Some(kind) = Witness::kind_of(&key)
            {
                anew.change(&key, Some(&value), None);
                let promised = witness.of_kind(kind).count;
                let lost = Loss { kind, promised, found: promised - 1 };
                prop_assert_eq!(witness.losses(&anew), [lost]);
            }
        }
    }

    #[test]
    fn the_file_gives_the_newest_whole_witness() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("db");
        let mut file = WitnessFile::beside(&path);
        assert_eq!(file.read().unwrap(), None);
        let mut witness = Witness::default();
        for commits in 1..=3 {
            witness.commits = commits;
            witness.change(&[b'n', 1], None, Some(&[7]));
            file.write(&witness).unwrap();
            assert_eq!(file.read().unwrap(), Some(witness.clone()));
        }
        let whole = std::fs::read(dir.path().join("db.witness")).unwrap();
        for at in 0..HEAD_BYTES {
            let mut bytes = whole.clone();
            bytes[SLOT_BYTES + at] ^= 4;
            std::fs::write(dir.path().join("db.witness"), &bytes).unwrap();
            assert_eq!(file.read().unwrap().map(|it| it.commits), Some(2), "byte {at}");
        }
    }

    #[test]
    fn a_loss_says_what_is_missing() {
        let sum = |count| KindSum { count, sum: 0 };
        let text = |promised, found| Loss::between(b't', promised, found).unwrap().to_string();
        assert_eq!(text(sum(20), sum(14)), "states of agents: 6 of 20 are missing");
        let changed = KindSum { count: 20, sum: 1 };
        assert!(text(sum(20), changed).contains("20 are there, not all"), "{changed:?}");
        assert_eq!(Loss::between(b't', sum(20), sum(20)), None);
    }
}
