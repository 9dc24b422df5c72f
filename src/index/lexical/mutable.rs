//! Mutable postings: those of a growing segment.

use std::collections::HashMap;

use crate::index::Row;
use crate::index::lexical::window_postings::WindowPostings;
use crate::index::lexical::{AnalysedText, Impact, Postings, TermId, WINDOW_ROWS};

/// Postings of the rows pushed so far.
#[derive(Debug, Default)]
pub struct MutablePostings {
    by_text: HashMap<Box<str>, TermId>,
    postings: Vec<PostingList>,
    lengths: Vec<u16>,
    length: u64,
}

/// Posting list of a term: rows with frequencies.
#[derive(Debug, Default)]
pub(super) struct PostingList {
    /// Ascending.
    pub(super) rows: Vec<(Row, u16)>,
    pub(super) impacts: Vec<Impact>,
}

impl MutablePostings {
    /// Appends a row.
    pub fn push(&mut self, text: AnalysedText) {
        let AnalysedText { terms, length } = text;
        let row = Row(u32::try_from(self.lengths.len()).unwrap_or(u32::MAX));
        for (text, frequency) in terms {
            let next = TermId(u32::try_from(self.postings.len()).unwrap_or(u32::MAX));
            let term = *self.by_text.entry(text).or_insert(next);
            if term == next {
                self.postings.push(PostingList::default());
            }
            if let Some(postings) = self.postings.get_mut(term.0 as usize) {
                postings.rows.push((row, frequency));
                Impact { frequency, length }.merge_into(&mut postings.impacts);
            }
        }
        self.lengths.push(length);
        self.length += u64::from(length);
    }

    /// Terms with their postings, ascending by term.
    pub(super) fn sort_terms(&self) -> Vec<(&str, &PostingList)> {
        let mut sorted: Vec<(&str, &PostingList)> = self
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
            size_of::<PostingList>()
                + it.rows.capacity() * size_of::<(Row, u16)>()
                + it.impacts.capacity() * 4
        });
        names.sum::<usize>() + postings.sum::<usize>() + self.lengths.capacity() * 2
    }

    fn of(&self, term: TermId) -> Option<&PostingList> {
        self.postings.get(term.0 as usize)
    }
}

impl PostingList {
    fn of_window(&self, window: usize) -> &[(Row, u16)] {
        let start = window * WINDOW_ROWS;
        let before = |end: usize| self.rows.partition_point(|(row, _)| row.at() < end);
        self.rows.get(before(start)..before(start + WINDOW_ROWS)).unwrap_or_default()
    }
}

impl Postings for MutablePostings {
    fn rows(&self) -> usize {
        self.lengths.len()
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn length_of(&self, row: Row) -> u16 {
        self.lengths.get(row.at()).copied().unwrap_or(0)
    }

    fn find(&self, term: &str) -> Option<TermId> {
        self.by_text.get(term).copied()
    }

    fn document_frequency(&self, term: TermId) -> usize {
        self.of(term).map_or(0, |postings| postings.rows.len())
    }

    fn impacts(&self, term: TermId) -> &[Impact] {
        self.of(term).map_or(&[], |postings| &postings.impacts)
    }

    fn bound(&self, term: TermId, window: usize) -> Option<Impact> {
        let postings = self.of(term).filter(|postings| !postings.of_window(window).is_empty())?;
        let frequency = postings.impacts.iter().map(|impact| impact.frequency).max()?;
        let length = postings.impacts.iter().map(|impact| impact.length).min()?;
        Some(Impact { frequency, length })
    }

    fn postings_in(&self, term: TermId, window: usize) -> Option<WindowPostings<'_>> {
        let rows = self.of(term)?.of_window(window);
        (!rows.is_empty()).then_some(WindowPostings::Listed(rows))
    }
}
