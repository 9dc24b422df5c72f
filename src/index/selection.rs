//! Selection of rows for a search: all, a run of them, or a bit set.

use roaring::RoaringBitmap;

use crate::index::Row;

/// Selected rows of one index.
#[derive(Debug, Clone)]
pub enum Selection {
    All,
    /// From the first row up to but without the second: a window of time over
    /// rows that came in the order of time.
    Run(Row, Row),
    Only(RowSet),
}

impl Selection {
    pub fn none() -> Self {
        Self::Run(Row(0), Row(0))
    }

    /// The rows that `marks` says true of, counted from 0.
    pub fn from_marks(marks: &[bool]) -> Self {
        let mut marked = RowSet::new(marks.len());
        for (row, _) in (0..).map(Row).zip(marks).filter(|(_, mark)| **mark) {
            marked.insert(row);
        }
        Self::Only(marked)
    }

    /// The rows of a bitmap, of which those from `rows` on are left out.
    pub fn from_bitmap(bitmap: &RoaringBitmap, rows: usize) -> Self {
        let mut marked = RowSet::new(rows);
        for row in bitmap.range(..u32::try_from(rows).unwrap_or(u32::MAX)) {
            marked.insert(Row(row));
        }
        Self::Only(marked)
    }

    #[inline]
    pub fn contains(&self, row: Row) -> bool {
        match self {
            Self::All => true,
            Self::Run(start, end) => (*start..*end).contains(&row),
            Self::Only(marked) => marked.contains(row),
        }
    }

    /// How many of an index's `rows` rows are selected; without a look at each.
    pub fn count(&self, rows: usize) -> usize {
        match self {
            Self::All => rows,
            Self::Run(start, end) => end.at().min(rows).saturating_sub(start.at()),
            Self::Only(marked) => marked.len(),
        }
    }

    /// The selected ones of an index's `rows` rows, ascending.
    pub fn rows(&self, rows: usize) -> impl Iterator<Item = Row> + '_ {
        let end = Row(u32::try_from(rows).unwrap_or(u32::MAX));
        let (run, marked) = match self {
            Self::All => (Row(0)..end, None),
            Self::Run(start, stop) => (*start..(*stop).min(end), None),
            Self::Only(marked) => (Row(0)..Row(0), Some(marked)),
        };
        (run.start.0..run.end.0).map(Row).chain(marked.into_iter().flat_map(RowSet::rows))
    }

    /// The rows of a bitmap that are selected.
    pub fn of(&self, bitmap: &RoaringBitmap) -> RoaringBitmap {
        match self {
            Self::All => bitmap.clone(),
            Self::Run(start, end) => {
                let mut kept = bitmap.clone();
                kept.remove_range(..start.0);
                kept.remove_range(end.0.max(start.0)..);
                kept
            }
            Self::Only(marked) => bitmap.iter().filter(|row| marked.contains(Row(*row))).collect(),
        }
    }

    /// What both select of an index's `rows` rows.
    #[must_use]
    pub fn and(&self, other: &Self, rows: usize) -> Self {
        match (self, other) {
            (Self::All, it) | (it, Self::All) => it.clone(),
            (Self::Run(a, b), Self::Run(c, d)) => Self::Run(*a.max(c), *b.min(d)),
            (Self::Only(a), Self::Only(b)) => {
                let words = a.words.iter().zip(&b.words).map(|(a, b)| a & b).collect();
                Self::Only(RowSet::from_words(words))
            }
            (Self::Run(..), Self::Only(marked)) => Self::Only(marked.within(self, rows)),
            (Self::Only(marked), Self::Run(..)) => Self::Only(marked.within(other, rows)),
        }
    }

    /// What is selected of an index's `rows` rows but for those in `deleted`.
    #[must_use]
    pub fn without(&self, deleted: &RoaringBitmap, rows: usize) -> Self {
        if deleted.is_empty() {
            return self.clone();
        }
        let mut marked = match self {
            Self::Only(marked) => marked.clone(),
            Self::All => RowSet::of_run(0, rows, rows),
            Self::Run(start, end) => RowSet::of_run(start.at(), end.at(), rows),
        };
        for row in deleted {
            marked.remove(Row(row));
        }
        Self::Only(marked)
    }
}

impl PartialEq for Selection {
    /// Whether both are the same set, where both have an end.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, Self::All) => true,
            (Self::All, _) | (_, Self::All) => false,
            (a, b) => a.rows(usize::MAX).eq(b.rows(usize::MAX)),
        }
    }
}

impl Eq for Selection {}

/// Bit set of rows, and its size.
#[derive(Debug, Clone, Default)]
pub struct RowSet {
    words: Vec<u64>,
    len: usize,
}

/// Bits of a word.
const WORD: usize = 64;

impl RowSet {
    /// None of `rows` rows.
    pub fn new(rows: usize) -> Self {
        Self { words: vec![0; rows.div_ceil(WORD)], len: 0 }
    }

    fn of_run(start: usize, end: usize, rows: usize) -> Self {
        let mut marked = Self::new(rows);
        marked.insert_run(start, end.min(rows));
        marked
    }

    pub(super) fn from_words(words: Vec<u64>) -> Self {
        let len = words.iter().map(|word| word.count_ones() as usize).sum();
        Self { words, len }
    }

    /// Rows beyond those there was room made for are not inserted.
    #[inline]
    pub fn insert(&mut self, row: Row) {
        if let Some(word) = self.words.get_mut(row.at() / WORD) {
            let bit = 1 << (row.at() % WORD);
            self.len += usize::from(*word & bit == 0);
            *word |= bit;
        }
    }

    pub fn remove(&mut self, row: Row) {
        if let Some(word) = self.words.get_mut(row.at() / WORD) {
            let bit = 1 << (row.at() % WORD);
            self.len -= usize::from(*word & bit != 0);
            *word &= !bit;
        }
    }

    /// Inserts `start..end`, a word at a time.
    pub fn insert_run(&mut self, start: usize, end: usize) {
        let end = end.min(self.words.len() * WORD);
        if start >= end {
            return;
        }
        let first = start / WORD;
        for (at, word) in self.words.iter_mut().enumerate().take(end.div_ceil(WORD)).skip(first) {
            let low = start.saturating_sub(at * WORD);
            let high = (end - at * WORD).min(WORD);
            let bits = (u64::MAX << low) & (u64::MAX >> (WORD - high));
            self.len += (bits & !*word).count_ones() as usize;
            *word |= bits;
        }
    }

    #[inline]
    pub fn contains(&self, row: Row) -> bool {
        self.words.get(row.at() / WORD).is_some_and(|word| word >> (row.at() % WORD) & 1 == 1)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The marked rows, ascending.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let starts = (0_u32..).step_by(WORD);
        self.words.iter().zip(starts).flat_map(|(word, start)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(Row(start + bit))
            })
        })
    }

    /// The marks of rows 64·`at` to 64·`at` + 63, the first one in the lowest bit.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    fn within(&self, run: &Selection, rows: usize) -> Self {
        let Selection::Run(start, end) = run else { return self.clone() };
        let kept = Self::of_run(start.at(), end.at(), rows);
        Self::from_words(kept.words.iter().zip(&self.words).map(|(a, b)| a & b).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
    use std::collections::BTreeSet;

    const ROWS: usize = 200;

    /// A selection, and the same as a set.
    fn selections() -> impl Strategy<Value = (Selection, BTreeSet<u32>)> {
        let all = Just((Selection::All, (0..200).collect()));
        let run = (0_u32..=200, 0_u32..=200).prop_map(|(start, end)| {
            (Selection::Run(Row(start), Row(end)), (start..end).collect())
        });
        let only = prop::collection::vec(any::<bool>(), ROWS).prop_map(|marks| {
            let set = (0..).zip(&marks).filter(|(_, mark)| **mark).map(|(row, _)| row).collect();
            (Selection::from_marks(&marks), set)
        });
        prop_oneof![all, run, only]
    }

    fn check(found: &Selection, expected: &BTreeSet<u32>) {
        let rows: Vec<u32> = found.rows(ROWS).map(|row| row.0).collect();
        assert_eq!(rows, expected.iter().copied().collect::<Vec<_>>());
        assert_eq!(found.count(ROWS), expected.len());
        for row in 0..200 {
            assert_eq!(found.contains(Row(row)), expected.contains(&row), "{row}");
        }
    }

    proptest! {
        #[test]
        fn a_selection_is_a_set(
            (a, in_a) in selections(),
            (b, in_b) in selections(),
            deleted in prop::collection::btree_set(0_u32..250, 0..40),
        ) {
            check(&a, &in_a);
            check(&a.and(&b, ROWS), &in_a.intersection(&in_b).copied().collect());
            let bitmap: RoaringBitmap = deleted.iter().copied().collect();
            check(&a.without(&bitmap, ROWS), &in_a.difference(&deleted).copied().collect());
            let inside: Vec<u32> = in_a.intersection(&deleted).copied().collect();
            let of = a.of(&bitmap).iter().filter(|row| *row < 200).collect::<Vec<_>>();
            assert_eq!(of, inside);
            let kept = deleted.iter().copied().filter(|row| *row < 200).collect();
            check(&Selection::from_bitmap(&bitmap, ROWS), &kept);
        }

        #[test]
        fn a_run_of_marks_is_each_of_its_rows(
            (before, start, end) in (0_usize..210, 0_usize..210, 0_usize..210),
        ) {
            let mut marked = RowSet::new(ROWS);
            let held = marked.words.len() * WORD;
            marked.insert(Row(u32::try_from(before).unwrap()));
            marked.insert_run(start, end);
            let expected: BTreeSet<usize> =
                (start..end).chain([before]).filter(|row| *row < held).collect();
            assert_eq!(marked.rows().map(Row::at).collect::<BTreeSet<_>>(), expected);
            assert_eq!(marked.len(), expected.len());
        }
    }

    #[test]
    fn an_empty_run_selects_nothing() {
        check(&Selection::none(), &BTreeSet::new());
        check(&Selection::Run(Row(9), Row(3)), &BTreeSet::new());
    }
}
