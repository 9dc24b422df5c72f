//! Postings of one term in one window, of mutable and immutable parts alike.

use crate::index::Row;
use crate::index::lexical::WINDOW_ROWS;
use crate::index::lexical::posting_block::BlockRows;

/// Words of 64 bits of a window's bit set.
const BITS_WORDS: usize = WINDOW_ROWS / 64;

/// Rows of a window that hold a term, with frequencies.
#[derive(Debug, Clone, Copy)]
pub enum WindowPostings<'a> {
    Packed(BlockRows<'a>),
    /// Ascending; rows of the part.
    Listed(&'a [(Row, u16)]),
}

impl WindowPostings<'_> {
    /// Frequency of the term at a place; 0 where it is not held.
    #[inline]
    pub(super) fn frequency(self, at: u16) -> u16 {
        match self {
            Self::Packed(rows) => rows.frequency(at),
            Self::Listed(rows) => {
                let place = |(row, _): &(Row, u16)| row.at() % WINDOW_ROWS;
                let found = rows.binary_search_by_key(&usize::from(at), place);
                found.ok().and_then(|at| rows.get(at)).map_or(0, |(_, frequency)| *frequency)
            }
        }
    }

    pub(super) fn bits(self) -> Bits {
        let mut bits = Bits::default();
        match self {
            Self::Packed(rows) => match rows.bitmap() {
                Some(words) => {
                    for (own, word) in bits.0.iter_mut().zip(words) {
                        *own = word;
                    }
                }
                None => rows.each(|at| bits.set(at)),
            },
            Self::Listed(rows) => {
                for (row, _) in rows {
                    bits.set(row.at() % WINDOW_ROWS);
                }
            }
        }
        bits
    }

    /// Marks the rows that hold the term more than once.
    pub(super) fn mark_repeated(self, bits: &mut Bits) {
        match self {
            Self::Packed(rows) => {
                rows.repeated().iter().for_each(|[at, _]| bits.set(usize::from(*at)));
            }
            Self::Listed(rows) => {
                let repeated = rows.iter().filter(|(_, frequency)| *frequency > 1);
                repeated.for_each(|(row, _)| bits.set(row.at() % WINDOW_ROWS));
            }
        }
    }
}

/// Bit set of a window's rows.
#[derive(Debug, Clone)]
pub(super) struct Bits([u64; BITS_WORDS]);

impl Default for Bits {
    fn default() -> Self {
        Self([0; BITS_WORDS])
    }
}

impl Bits {
    pub(super) const fn all() -> Self {
        Self([u64::MAX; BITS_WORDS])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |any, word| any | word) == 0
    }

    #[inline]
    pub(super) fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    #[inline]
    fn set(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    pub(super) fn and(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
    }

    pub(super) fn without(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= !other;
        }
    }

    pub(super) fn or(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    /// Words of 64 places, the first places in the lowest bits.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }
}
