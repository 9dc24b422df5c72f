//! Time columns: first and last moment of each row, with the bounds of each block.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::time::{Timestamp, Window};
use crate::index::Row;
use crate::index::selection::{RowSet, Selection};

/// Rows of a block: a multiple of a selection's words, and few enough that reading one
/// takes about a microsecond.
pub(super) const BLOCK_ROWS: usize = 1_024;

#[derive(Debug, Default, Clone)]
pub(super) struct Times {
    first: Vec<Timestamp>,
    last: Vec<Timestamp>,
    blocks: Vec<Bounds>,
}

/// Bounds of a block's moments; the last ones may have moved up since, so that
/// `last.0` is a lower bound only.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    first: (Timestamp, Timestamp),
    last: (Timestamp, Timestamp),
}

impl Bounds {
    fn of(first: Timestamp, last: Timestamp) -> Self {
        Self { first: (first, first), last: (last, last) }
    }

    fn include(&mut self, first: Timestamp, last: Timestamp) {
        self.first = (self.first.0.min(first), self.first.1.max(first));
        self.last = (self.last.0.min(last), self.last.1.max(last));
    }

    /// Whether the window is touched by any, and by each of the block's rows.
    fn touch(&self, window: &Window) -> (bool, bool) {
        let any = window.touches(self.first.0, self.last.1);
        let each = window.start().is_none_or(|start| self.last.0 >= start)
            && window.end().is_none_or(|end| self.first.1 <= end);
        (any, each)
    }
}

impl Times {
    pub(super) fn push(&mut self, first: Timestamp, last: Timestamp) {
        if self.first.len().is_multiple_of(BLOCK_ROWS) {
            self.blocks.push(Bounds::of(first, last));
        }
        if let Some(block) = self.blocks.last_mut() {
            block.include(first, last);
        }
        self.first.push(first);
        self.last.push(last);
    }

    pub(super) fn extend(&mut self, row: Row, last: Timestamp) {
        let block = self.blocks.get_mut(row.at() / BLOCK_ROWS);
        if let (Some(held), Some(block)) = (self.last.get_mut(row.at()), block) {
            *held = last.max(*held);
            block.last.1 = block.last.1.max(last);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    pub(super) fn of(&self, row: Row) -> Option<(Timestamp, Timestamp)> {
        Some((*self.first.get(row.at())?, *self.last.get(row.at())?))
    }

    pub(super) fn columns(&self) -> (&[Timestamp], &[Timestamp]) {
        (&self.first, &self.last)
    }

    pub(super) fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let start = self.blocks.iter().map(|block| block.first.0).min()?;
        Some((start, self.blocks.iter().map(|block| block.last.1).max()?))
    }

    /// Rows that overlap a window: a run where they are contiguous, as they are in a
    /// part whose rows came in the order of time.
    pub(super) fn select(&self, window: Window) -> Selection {
        if window.is_unbounded() {
            return Selection::All;
        }
        let mut runs = Runs::default();
        for (at, block) in self.blocks.iter().enumerate() {
            let (start, end) = (at * BLOCK_ROWS, self.len().min((at + 1) * BLOCK_ROWS));
            match block.touch(&window) {
                (_, true) => runs.add(start, end),
                (false, false) => {}
                (true, false) => {
                    let first = self.first.get(start..end).unwrap_or_default();
                    let last = self.last.get(start..end).unwrap_or_default();
                    let times = first.iter().zip(last);
                    for (row, (first, last)) in (start..).zip(times) {
                        if window.touches(*first, *last) {
                            runs.add(row, row + 1);
                        }
                    }
                }
            }
        }
        runs.selection(self.len())
    }

    pub(super) fn newest(&self, n: usize, contains: impl Fn(Row) -> bool) -> Vec<(Timestamp, Row)> {
        let mut order: Vec<(Timestamp, usize)> =
            self.blocks.iter().map(|block| block.last.1).zip(0..).collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let mut best = LeastK::new(n);
        for (bound, block) in order {
            if best.is_beyond(Reverse(bound)) {
                break;
            }
            for row in self.rows(block).filter(|row| contains(*row)) {
                if let Some(last) = self.last.get(row.at()) {
                    best.offer((Reverse(*last), Reverse(row)));
                }
            }
        }
        let sorted = best.into_sorted().into_iter();
        sorted.map(|(Reverse(last), Reverse(row))| (last, row)).collect()
    }

    /// The `n` rows of the earliest first moment from `from` on, earliest first.
    pub(super) fn begun_from(
        &self,
        from: Timestamp,
        n: usize,
        contains: impl Fn(Timestamp, Row) -> bool,
    ) -> Vec<(Timestamp, Row)> {
        let blocks = self.blocks.iter().zip(0..).filter(|(block, _)| block.first.1 >= from);
        let mut order: Vec<(Timestamp, usize)> =
            blocks.map(|(block, at)| (block.first.0.max(from), at)).collect();
        order.sort_unstable();
        let mut best = LeastK::new(n);
        for (bound, block) in order {
            if best.is_beyond(bound) {
                break;
            }
            for row in self.rows(block) {
                if let Some(first) = self.first.get(row.at())
                    && *first >= from
                    && contains(*first, row)
                {
                    best.offer((*first, row));
                }
            }
        }
        best.into_sorted()
    }

    /// The `n` rows of the latest first moment up to `until`, latest first.
    pub(super) fn begun_until(
        &self,
        until: Timestamp,
        n: usize,
        contains: impl Fn(Timestamp, Row) -> bool,
    ) -> Vec<(Timestamp, Row)> {
        let blocks = self.blocks.iter().zip(0..).filter(|(block, _)| block.first.0 <= until);
        let mut order: Vec<(Timestamp, usize)> =
            blocks.map(|(block, at)| (block.first.1.min(until), at)).collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let mut best = LeastK::new(n);
        for (bound, block) in order {
            if best.is_beyond(Reverse(bound)) {
                break;
            }
            for row in self.rows(block) {
                if let Some(first) = self.first.get(row.at())
                    && *first <= until
                    && contains(*first, row)
                {
                    best.offer((Reverse(*first), Reverse(row)));
                }
            }
        }
        let sorted = best.into_sorted().into_iter();
        sorted.map(|(Reverse(first), Reverse(row))| (first, row)).collect()
    }

    /// As [`Times::newest`] of few rows, each of which is read.
    pub(super) fn newest_of(
        &self,
        rows: impl Iterator<Item = Row>,
        n: usize,
    ) -> Vec<(Timestamp, Row)> {
        let mut best = LeastK::new(n);
        for row in rows {
            if let Some(last) = self.last.get(row.at()) {
                best.offer((Reverse(*last), Reverse(row)));
            }
        }
        let sorted = best.into_sorted().into_iter();
        sorted.map(|(Reverse(last), Reverse(row))| (last, row)).collect()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        (self.first.capacity() + self.last.capacity()) * size_of::<Timestamp>()
            + self.blocks.capacity() * size_of::<Bounds>()
    }

    fn rows(&self, block: usize) -> impl Iterator<Item = Row> + use<> {
        let start = u32::try_from(block * BLOCK_ROWS).unwrap_or(u32::MAX);
        let end = u32::try_from(self.len().min((block + 1) * BLOCK_ROWS)).unwrap_or(u32::MAX);
        (start..end).map(Row)
    }
}

/// Runs of rows, ascending; one run needs no marks.
#[derive(Default)]
struct Runs(Vec<(usize, usize)>);

impl Runs {
    fn add(&mut self, start: usize, end: usize) {
        match self.0.last_mut() {
            Some((_, held)) if *held == start => *held = end,
            Some(_) | None => self.0.push((start, end)),
        }
    }

    fn selection(self, rows: usize) -> Selection {
        match self.0.as_slice() {
            [] => Selection::none(),
            [(0, end)] if *end == rows => Selection::All,
            [(start, end)] => {
                let row = |at| Row(u32::try_from(at).unwrap_or(u32::MAX));
                Selection::Run(row(*start), row(*end))
            }
            runs => {
                let mut marked = RowSet::new(rows);
                for (start, end) in runs {
                    marked.insert_run(*start, *end);
                }
                Selection::Only(marked)
            }
        }
    }
}

/// Heap of the least `n` of what it is offered.
pub(super) struct LeastK<T> {
    n: usize,
    greatest_first: BinaryHeap<T>,
}

impl<T: Ord> LeastK<T> {
    pub(super) fn new(n: usize) -> Self {
        Self { n, greatest_first: BinaryHeap::new() }
    }

    pub(super) fn offer(&mut self, item: T) {
        if self.greatest_first.len() < self.n {
            self.greatest_first.push(item);
        } else if let Some(mut greatest) = self.greatest_first.peek_mut()
            && item < *greatest
        {
            *greatest = item;
        }
    }

    /// The greatest one kept, once there are `n`.
    pub(super) fn bar(&self) -> Option<&T> {
        self.greatest_first.peek().filter(|_| self.greatest_first.len() >= self.n)
    }

    pub(super) fn is_full_of_none(&self) -> bool {
        self.n == 0
    }

    pub(super) fn into_sorted(self) -> Vec<T> {
        self.greatest_first.into_sorted_vec()
    }
}

impl<K: Ord + Copy, R: Ord> LeastK<(K, R)> {
    /// Whether nothing with a key of `bound` or more could be kept.
    pub(super) fn is_beyond(&self, bound: K) -> bool {
        self.is_full_of_none() || self.bar().is_some_and(|(key, _)| *key < bound)
    }
}
