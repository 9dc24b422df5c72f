//! The rows of one window that hold one term, in few bytes: as a list of places
//! where they are few, as a bit a row where they are many (as roaring bitmaps do
//! it; here a window is the unit of search, with its bounds beside it).

use crate::index::lexical::{WINDOW_ROWS, Weight};

/// What is known of a chunk without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) window: u32,
    /// Where its data start.
    pub(super) start: u32,
    /// Rows that hold the term.
    pub(super) count: u16,
    /// How many of them hold it more than once.
    pub(super) often: u16,
    /// Greatest times and least length of these rows.
    pub(super) bound: Weight,
}

/// Units of 16 bits that a bit a row takes: with more rows a list would be longer.
const BITMAP_UNITS: usize = WINDOW_ROWS / 16;

impl Chunk {
    /// Appends a chunk's rows, ascending places in the window with times and
    /// length; `None` where there are none.
    pub(super) fn write(window: u32, rows: &[(u16, Weight)], data: &mut Vec<u16>) -> Option<Self> {
        let times = rows.iter().map(|(_, weight)| weight.times).max()?;
        let length = rows.iter().map(|(_, weight)| weight.length).min()?;
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
        let mut often = 0;
        for (at, weight) in rows.iter().filter(|(_, weight)| weight.times > 1) {
            data.extend_from_slice(&[*at, weight.times]);
            often += 1;
        }
        let count = u16::try_from(rows.len()).ok()?;
        Some(Self { window, start, count, often, bound: Weight { times, length } })
    }

    /// Its part of all data.
    pub(super) fn open(self, data: &[u16]) -> Option<ChunkRows<'_>> {
        let count = usize::from(self.count);
        let units = count.min(BITMAP_UNITS);
        let (_, from) = data.split_at_checked(self.start as usize)?;
        let (places, rest) = from.split_at_checked(units)?;
        let (often, _) = rest.get(..2 * usize::from(self.often))?.as_chunks();
        Some(ChunkRows { places, is_bitmap: count > BITMAP_UNITS, often })
    }

    /// Units of data that it takes.
    pub(super) fn units(self) -> usize {
        usize::from(self.count).min(BITMAP_UNITS) + 2 * usize::from(self.often)
    }
}

/// A chunk's rows, by their places in the window.
#[derive(Debug, Clone, Copy)]
pub struct ChunkRows<'a> {
    places: &'a [u16],
    is_bitmap: bool,
    /// Place and times, ascending, where times are more than one.
    often: &'a [[u16; 2]],
}

impl<'a> ChunkRows<'a> {
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

    /// A bit a row, 64 rows together, the first in the lowest bits; `None` where they are
    /// listed.
    #[inline]
    pub(super) fn bitmap(self) -> Option<impl Iterator<Item = u64> + 'a> {
        let units = self.places.as_chunks::<4>().0.iter();
        let words = units.map(|units| {
            let [a, b, c, d] = units.map(u64::from);
            a | b << 16 | c << 32 | d << 48
        });
        self.is_bitmap.then_some(words)
    }

    pub(super) fn often(self) -> &'a [[u16; 2]] {
        self.often
    }

    /// 0 where the row does not hold the term.
    #[inline]
    pub(super) fn times(self, at: u16) -> u16 {
        let holds = if self.is_bitmap {
            self.places.get(usize::from(at) / 16).is_some_and(|unit| unit >> (at % 16) & 1 == 1)
        } else {
            self.places.binary_search(&at).is_ok()
        };
        if !holds || self.often.is_empty() {
            return u16::from(holds);
        }
        let often = self.often.binary_search_by_key(&at, |[at, _]| *at);
        often.ok().and_then(|found| self.often.get(found)).map_or(1, |[_, times]| *times)
    }

    /// Whether it is what [`Chunk::write`] writes for a window with rows of these
    /// lengths.
    pub(super) fn is_sound(self, chunk: Chunk, lengths: &[u16]) -> bool {
        let (mut found, mut next, mut is_ascending) = (0, 0, true);
        let mut least = u16::MAX;
        self.each(|at| {
            is_ascending &= at >= next;
            least = least.min(lengths.get(at).copied().unwrap_or(0));
            next = at + 1;
            found += 1;
        });
        let most = self.often.iter().map(|[_, times]| *times).max().unwrap_or(1);
        found == usize::from(chunk.count)
            && is_ascending
            && next <= lengths.len()
            && chunk.bound == Weight { times: most, length: least }
            && self.often.iter().all(|[at, times]| *times > 1 && self.times(*at) > 0)
            && self.often.is_sorted_by(|a, b| a[0] < b[0])
    }
}
