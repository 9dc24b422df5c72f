//! Which rows of a segment a search may return.

use std::ops::Range;

use crate::index::Row;

/// A set of rows whose size is known. Searches are compiled for each kind.
pub trait Allowed {
    fn allows(&self, row: Row) -> bool;

    fn size(&self) -> usize;

    /// The rows, ascending.
    fn rows(&self) -> impl Iterator<Item = Row>;
}

/// Successive rows: a window of time.
impl Allowed for Range<u32> {
    #[inline]
    fn allows(&self, row: Row) -> bool {
        self.contains(&row.0)
    }

    fn size(&self) -> usize {
        self.len()
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        self.clone().map(Row)
    }
}

/// Any rows, a bit each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bitmap {
    words: Vec<u64>,
    count: usize,
}

const BITS: u32 = u64::BITS;

impl Bitmap {
    /// Adds a row.
    pub fn add(&mut self, row: Row) {
        let at = (row.0 / BITS) as usize;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        if let Some(word) = self.words.get_mut(at) {
            let bit = 1 << (row.0 % BITS);
            self.count += usize::from(*word & bit == 0);
            *word |= bit;
        }
    }
}

impl FromIterator<Row> for Bitmap {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        let mut bitmap = Self::default();
        rows.into_iter().for_each(|row| bitmap.add(row));
        bitmap
    }
}

impl Allowed for Bitmap {
    #[inline]
    fn allows(&self, row: Row) -> bool {
        let word = self.words.get((row.0 / BITS) as usize);
        word.is_some_and(|word| word >> (row.0 % BITS) & 1 == 1)
    }

    fn size(&self) -> usize {
        self.count
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        (0..).zip(&self.words).flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(Row(at * BITS + bit))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, proptest};
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_bitmap_is_a_set(rows in prop::collection::vec(0_u32..300, 0..90)) {
            let set: BTreeSet<u32> = rows.iter().copied().collect();
            let bitmap: Bitmap = rows.into_iter().map(Row).collect();
            assert_eq!(bitmap.size(), set.len());
            assert!(bitmap.rows().map(|row| row.0).eq(set.iter().copied()));
            assert!((0..400).all(|row| bitmap.allows(Row(row)) == set.contains(&row)));
        }
    }

    #[test]
    fn a_range_is_its_rows() {
        let range = 3..6_u32;
        assert_eq!(range.size(), 3);
        assert!(range.rows().eq([Row(3), Row(4), Row(5)]));
        assert!(range.allows(Row(5)) && !range.allows(Row(6)) && !range.allows(Row(2)));
    }
}
