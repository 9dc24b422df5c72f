//! Pack: neighbouring entries of the database as one file.
//!
//! Where one ends and the next begins is decided by the keys alone, so that entries that
//! come or go change one pack and leave the others as they are.
//!
//! Layout: eight magic bytes, then a bincode list of entries: a key, and its encrypted value or
//! nothing where the entry is gone. Pure: entries in, bytes out.

use crate::store::backup::{Hash, hash};

const MAGIC: &[u8; 8] = b"engramBP";
/// A pack holds about so many entries.
const ENTRIES: u32 = 512;
/// Beyond this a pack ends at once.
pub(super) const BYTES_MAX: usize = 4 << 20;

/// A key, and its value; `None` where there is none any more.
pub(super) type Entry = (Vec<u8>, Option<Vec<u8>>);

/// Entries that become a pack.
#[derive(Debug, Default)]
pub(super) struct Packing {
    entries: Vec<Entry>,
    bytes: usize,
}

impl Packing {
    pub(super) fn add(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) {
        self.bytes += key.len() + value.as_ref().map_or(0, Vec::len);
        self.entries.push((key, value));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the pack ends before an entry of this key.
    pub(super) fn ends_before(&self, next: &[u8]) -> bool {
        let Some((last, _)) = self.entries.last() else { return false };
        self.bytes >= BYTES_MAX
            || last.first() != next.first()
            || crc32fast::hash(last).is_multiple_of(ENTRIES)
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes >= BYTES_MAX
    }

    pub(super) fn print(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        // Lists of bytes can be encoded.
        let encoded = bincode::encode_to_vec(&self.entries, bincode::config::standard());
        bytes.extend(encoded.unwrap_or_default());
        bytes
    }
}

/// The entries of a pack whose bytes have this hash; `None` where they have not.
pub(super) fn parse(bytes: &[u8], expected: &Hash) -> Option<Vec<Entry>> {
    if hash(bytes) != *expected {
        return None;
    }
    read(bytes)
}

/// The entries of a pack; `None` where it is none.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Entry>> {
    let encoded = bytes.strip_prefix(MAGIC)?;
    let (entries, read) = bincode::decode_from_slice(encoded, bincode::config::standard()).ok()?;
    (read == encoded.len()).then_some(entries)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    fn pack(entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<Vec<u8>> {
        let (mut packs, mut packing) = (Vec::new(), Packing::default());
        for (key, value) in entries {
            if packing.ends_before(key) {
                packs.push(std::mem::take(&mut packing).print());
            }
            packing.add(key.clone(), Some(value.clone()));
        }
        packs.push(packing.print());
        packs
    }

    proptest! {
        #[test]
        fn entries_come_back_and_no_flipped_bit_does(
            entries: Vec<(Vec<u8>, Option<Vec<u8>>)>, flip: prop::sample::Index,
        ) {
            let mut packing = Packing::default();
            for (key, value) in &entries {
                packing.add(key.clone(), value.clone());
            }
            let mut bytes = packing.print();
            let expected = hash(&bytes);
            prop_assert_eq!(parse(&bytes, &expected), Some(entries));
            let bit = flip.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(parse(&bytes, &expected), None);
        }
    }

    #[test]
    fn an_entry_that_comes_or_goes_changes_one_pack_or_two() {
        let key = |n: u64| [b"r".as_slice(), &n.to_be_bytes()].concat();
        let mut entries: BTreeMap<Vec<u8>, Vec<u8>> =
            (0..20_000).map(|n| (key(n * 2), vec![7; 300])).collect();
        let packs = |entries: &_| pack(entries).into_iter().collect::<BTreeSet<_>>();
        let before = packs(&entries);
        assert!((20..80).contains(&before.len()), "{}", before.len());
        entries.remove(&key(9_000));
        entries.insert(key(30_001), vec![1; 20]);
        let after = packs(&entries);
        assert!(after.difference(&before).count() <= 4);
        assert!(before.difference(&after).count() <= 4);
    }

    #[test]
    fn kinds_and_large_values_end_a_pack() {
        let mut packing = Packing::default();
        assert!(!packing.ends_before(b"r1"));
        packing.add(b"r1".to_vec(), Some(vec![0; 9]));
        assert!(packing.ends_before(b"s1") && !packing.is_full());
        packing.add(b"r2".to_vec(), Some(vec![0; BYTES_MAX]));
        assert!(packing.ends_before(b"r3") && packing.is_full());
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_reason_to_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(read(&bytes).is_some() && bytes.len() < 9, false);
        }
    }
}
