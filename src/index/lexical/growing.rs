//! The words of rows that are still being added.

use std::collections::HashMap;

use crate::index::Row;
use crate::index::lexical::holders::Holders;
use crate::index::lexical::{Term, Text, WINDOW_ROWS, Weight, Words};

/// Words of the rows pushed so far.
#[derive(Debug, Default)]
pub struct GrowingWords {
    by_text: HashMap<Box<str>, Term>,
    postings: Vec<Postings>,
    lengths: Vec<u16>,
    length: u64,
}

/// Rows that hold a term.
#[derive(Debug, Default)]
pub(super) struct Postings {
    /// Ascending.
    pub(super) rows: Vec<(Row, u16)>,
    pub(super) peaks: Vec<Weight>,
}

impl GrowingWords {
    /// Appends a row.
    pub fn push(&mut self, text: Text) {
        let Text { terms, length } = text;
        let row = Row(u32::try_from(self.lengths.len()).unwrap_or(u32::MAX));
        for (text, times) in terms {
            let next = Term(u32::try_from(self.postings.len()).unwrap_or(u32::MAX));
            let term = *self.by_text.entry(text).or_insert(next);
            if term == next {
                self.postings.push(Postings::default());
            }
            if let Some(postings) = self.postings.get_mut(term.0 as usize) {
                postings.rows.push((row, times));
                Weight { times, length }.join(&mut postings.peaks);
            }
        }
        self.lengths.push(length);
        self.length += u64::from(length);
    }

    /// Terms with their postings, ascending by term.
    pub(super) fn sorted(&self) -> Vec<(&str, &Postings)> {
        let mut sorted: Vec<(&str, &Postings)> = self
            .by_text
            .iter()
            .filter_map(|(text, term)| Some((&**text, self.postings.get(term.0 as usize)?)))
            .collect();
        sorted.sort_unstable_by_key(|(text, _)| *text);
        sorted
    }

    pub(super) fn lengths(&self) -> &[u16] {
        &self.lengths
    }

    /// Bytes of memory held, about.
    pub fn memory_bytes(&self) -> usize {
        let names = self.by_text.keys().map(|text| text.len() + 32);
        let postings = self.postings.iter().map(|it| {
            size_of::<Postings>()
                + it.rows.capacity() * size_of::<(Row, u16)>()
                + it.peaks.capacity() * 4
        });
        names.sum::<usize>() + postings.sum::<usize>() + self.lengths.capacity() * 2
    }

    fn of(&self, term: Term) -> Option<&Postings> {
        self.postings.get(term.0 as usize)
    }
}

impl Postings {
    fn of_window(&self, window: usize) -> &[(Row, u16)] {
        let start = window * WINDOW_ROWS;
        let before = |end: usize| self.rows.partition_point(|(row, _)| row.at() < end);
        self.rows.get(before(start)..before(start + WINDOW_ROWS)).unwrap_or_default()
    }
}

impl Words for GrowingWords {
    fn rows(&self) -> usize {
        self.lengths.len()
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn length_of(&self, row: Row) -> u16 {
        self.lengths.get(row.at()).copied().unwrap_or(0)
    }

    fn find(&self, term: &str) -> Option<Term> {
        self.by_text.get(term).copied()
    }

    fn holding(&self, term: Term) -> usize {
        self.of(term).map_or(0, |postings| postings.rows.len())
    }

    fn peaks(&self, term: Term) -> &[Weight] {
        self.of(term).map_or(&[], |postings| &postings.peaks)
    }

    fn bound(&self, term: Term, window: usize) -> Option<Weight> {
        let postings = self.of(term).filter(|postings| !postings.of_window(window).is_empty())?;
        let times = postings.peaks.iter().map(|peak| peak.times).max()?;
        let length = postings.peaks.iter().map(|peak| peak.length).min()?;
        Some(Weight { times, length })
    }

    fn holders(&self, term: Term, window: usize) -> Option<Holders<'_>> {
        let rows = self.of(term)?.of_window(window);
        (!rows.is_empty()).then_some(Holders::Listed(rows))
    }
}
