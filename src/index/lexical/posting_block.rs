//! Posting block: the rows of one window that hold one term, as a sorted array where
//! they are few, as a bit set where they are many. The containers of roaring bitmaps
//! (Chambi et al. 2016), with the window's upper bound beside them.

use crate::index::lexical::{Impact, WINDOW_ROWS};

/// What is known of a chunk without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PostingBlock {
    pub(super) window: u32,
    /// Start of its data.
    pub(super) start: u32,
    /// Number of rows.
    pub(super) count: u16,
    /// Rows that hold it more than once.
    pub(super) repeated: u16,
    /// Upper bound: greatest frequency and least length of these rows.
    pub(super) bound: Impact,
}

/// Units of 16 bits of a bit set: with more rows an array would be longer.
const BITMAP_UNITS: usize = WINDOW_ROWS / 16;

impl PostingBlock {
    /// Appends a block: ascending places in the window with their impacts; `None` where
    /// there are none.
    pub(super) fn write(window: u32, rows: &[(u16, Impact)], data: &mut Vec<u16>) -> Option<Self> {
        let frequency = rows.iter().map(|(_, impact)| impact.frequency).max()?;
        let length = rows.iter().map(|(_, impact)| impact.length).min()?;
        let start = u32::try_from(data.len()).ok()?;
        if rows.len() > BITMAP_UNITS {
            let mut bits = [0_u16; BITMAP_UNITS];
            for (at, _) in rows {
                if let Some(unit) = bits.get_mut(usize::from(*at) / 16) {
                    *unit |= 1 << (at % 16);
                }
            }
            data.extend_from_slice(&bits);
        } else {
            data.extend(rows.iter().map(|(at, _)| *at));
        }
        let mut repeated = 0;
        for (at, impact) in rows.iter().filter(|(_, impact)| impact.frequency > 1) {
            data.extend_from_slice(&[*at, impact.frequency]);
            repeated += 1;
        }
        let count = u16::try_from(rows.len()).ok()?;
        Some(Self { window, start, count, repeated, bound: Impact { frequency, length } })
    }

    /// Its part of all data.
    pub(super) fn open(self, data: &[u16]) -> Option<BlockRows<'_>> {
        let count = usize::from(self.count);
        let units = count.min(BITMAP_UNITS);
        let (_, from) = data.split_at_checked(self.start as usize)?;
        let (places, rest) = from.split_at_checked(units)?;
        let (repeated, _) = rest.get(..2 * usize::from(self.repeated))?.as_chunks();
        Some(BlockRows { places, is_bitmap: count > BITMAP_UNITS, repeated })
    }

    /// Units of data that it takes.
    pub(super) fn units(self) -> usize {
        usize::from(self.count).min(BITMAP_UNITS) + 2 * usize::from(self.repeated)
    }
}

/// Rows of a block, by their places in the window.
#[derive(Debug, Clone, Copy)]
pub struct BlockRows<'a> {
    places: &'a [u16],
    is_bitmap: bool,
    /// Place and frequency, ascending, where the frequency is above one.
    repeated: &'a [[u16; 2]],
}

impl<'a> BlockRows<'a> {
    #[inline]
    pub(super) fn each(self, mut visit: impl FnMut(usize)) {
        if let Some(words) = self.bitmap() {
            for (at, word) in words.enumerate() {
                let mut left = word;
                while left != 0 {
                    visit(at * 64 + left.trailing_zeros() as usize);
                    left &= left - 1;
                }
            }
        } else {
            for at in self.places {
                visit(usize::from(*at));
            }
        }
    }

    /// Words of the bit set, the first row in the lowest bit; `None` for an array.
    #[inline]
    pub(super) fn bitmap(self) -> Option<impl Iterator<Item = u64> + 'a> {
        let units = self.places.as_chunks::<4>().0.iter();
        let words = units.map(|units| {
            let [a, b, c, d] = units.map(u64::from);
            a | b << 16 | c << 32 | d << 48
        });
        self.is_bitmap.then_some(words)
    }

    pub(super) fn repeated(self) -> &'a [[u16; 2]] {
        self.repeated
    }

    /// Frequency; 0 where the row does not hold the term.
    #[inline]
    pub(super) fn frequency(self, at: u16) -> u16 {
        let holds = if self.is_bitmap {
            self.places.get(usize::from(at) / 16).is_some_and(|unit| unit >> (at % 16) & 1 == 1)
        } else {
            self.places.binary_search(&at).is_ok()
        };
        if !holds || self.repeated.is_empty() {
            return u16::from(holds);
        }
        let repeated = self.repeated.binary_search_by_key(&at, |[at, _]| *at);
        repeated
            .ok()
            .and_then(|found| self.repeated.get(found))
            .map_or(1, |[_, frequency]| *frequency)
    }

    /// Whether it is what [`PostingBlock::write`] writes for a window with rows of these
    /// lengths.
    pub(super) fn is_sound(self, block: PostingBlock, lengths: &[u16]) -> bool {
        let (mut found, mut next, mut is_ascending) = (0, 0, true);
        let mut least = u16::MAX;
        self.each(|at| {
            is_ascending &= at >= next;
            least = least.min(lengths.get(at).copied().unwrap_or(0));
            next = at + 1;
            found += 1;
        });
        let most = self.repeated.iter().map(|[_, frequency]| *frequency).max().unwrap_or(1);
        found == usize::from(block.count)
            && is_ascending
            && next <= lengths.len()
            && block.bound == Impact { frequency: most, length: least }
            && self.repeated.iter().all(|[at, frequency]| *frequency > 1 && self.frequency(*at) > 0)
            && self.repeated.is_sorted_by(|a, b| a[0] < b[0])
    }
}
