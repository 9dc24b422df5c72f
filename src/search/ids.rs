//! Record ids of a segment, by row.

use crate::base::RecordId;
use crate::index::Row;
use crate::index::bytes::{BadBytes, BlobKind, ByteReader, ByteWriter};

const KIND: BlobKind = BlobKind { name: "a segment's records", tag: *b"EIDS", version: 1 };

/// Ascending ids as offsets from the first one: half the bytes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct RowIds {
    first: u64,
    offsets: Vec<u32>,
}

impl RowIds {
    /// Appends a row. `false`, and nothing changes, unless the id is above all others
    /// and its offset fits 32 bits.
    pub(crate) fn push(&mut self, id: RecordId) -> bool {
        if self.offsets.is_empty() {
            self.first = id.0;
        }
        let offset = id.0.checked_sub(self.first).and_then(|it| u32::try_from(it).ok());
        let fits = offset.filter(|it| self.offsets.last().is_none_or(|last| it > last));
        self.offsets.extend(fits);
        fits.is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    pub(crate) fn of(&self, row: Row) -> Option<RecordId> {
        let offset = self.offsets.get(row.at())?;
        Some(RecordId(self.first + u64::from(*offset)))
    }

    pub(crate) fn row(&self, id: RecordId) -> Option<Row> {
        let offset = u32::try_from(id.0.checked_sub(self.first)?).ok()?;
        let at = self.offsets.binary_search(&offset).ok()?;
        u32::try_from(at).ok().map(Row)
    }

    pub(crate) fn first(&self) -> Option<RecordId> {
        self.of(Row(0))
    }

    pub(crate) fn last(&self) -> Option<RecordId> {
        self.offsets.last().map(|offset| RecordId(self.first + u64::from(*offset)))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Row, RecordId)> + '_ {
        (0..)
            .map(Row)
            .zip(self.offsets.iter().map(|offset| RecordId(self.first + u64::from(*offset))))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.offsets.capacity() * size_of::<u32>()
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = ByteWriter::new(KIND);
        writer.one(self.first);
        writer.many(&self.offsets);
        writer.finish()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, BadBytes> {
        let mut reader = ByteReader::new(KIND, bytes)?;
        let (first, offsets): (u64, Vec<u32>) = (reader.one()?, reader.many()?);
        let ascend =
            offsets.is_sorted_by(|a, b| a < b) && offsets.first().is_none_or(|it| *it == 0);
        let last = offsets.last().map_or(0, |it| u64::from(*it));
        reader.ensure(ascend && first.checked_add(last).is_some(), "its ids do not ascend")?;
        reader.finish()?;
        Ok(Self { first, offsets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::bytes::tests::check_damage;
    use proptest::prelude::{prop, proptest};

    proptest! {
        #[test]
        fn ids_are_a_sorted_list(ids in prop::collection::btree_set(0_u64..200, 0..60)) {
            let mut found = RowIds::default();
            for id in &ids {
                assert!(found.push(RecordId(*id)));
                assert!(!found.push(RecordId(*id)), "twice");
            }
            assert_eq!(found.len(), ids.len());
            assert_eq!(found.first().map(|it| it.0), ids.first().copied());
            assert_eq!(found.last().map(|it| it.0), ids.last().copied());
            assert!(found.iter().map(|(_, id)| id.0).eq(ids.iter().copied()));
            for id in (0..200).map(RecordId) {
                let row = found.row(id);
                assert_eq!(row.is_some(), ids.contains(&id.0));
                assert_eq!(row.and_then(|row| found.of(row)), row.map(|_| id));
            }
            assert_eq!(RowIds::from_bytes(&found.to_bytes()), Ok(found));
        }
    }

    #[test]
    fn damage_is_noticed() {
        let mut ids = RowIds::default();
        assert!([3, 4, 9].into_iter().all(|id| ids.push(RecordId(id))));
        check_damage(&ids.to_bytes(), RowIds::from_bytes);
    }
}
