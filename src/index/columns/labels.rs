//! Label columns: source, frame, map and layer, dictionary-encoded.
//!
//! A robot has few combinations of them and many rows: bitmap index with a bit set for
//! each combination, over the rows between its first and its last one.

use std::collections::HashMap;

use crate::index::Row;
use crate::index::selection::{RowSet, Selection};

/// Source, frame, map and layer; in a condition, `None` accepts any.
pub(super) type Names<'a> = [Option<&'a str>; 4];

#[derive(Debug, Default, Clone)]
pub(super) struct Labels {
    names: Vec<Box<str>>,
    by_name: HashMap<Box<str>, u32>,
    groups: Vec<Group>,
    by_key: HashMap<Key, usize>,
}

/// The names of a combination, as indices.
pub(super) type Key = [Option<u32>; 4];

/// Rows with the same names.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) key: Key,
    /// Word of 64 rows at which [`Group::words`] start.
    pub(super) start: usize,
    pub(super) words: Vec<u64>,
}

const WORD: usize = 64;

impl Labels {
    /// Appends a row, after `row` others.
    pub(super) fn push(&mut self, row: usize, names: &Names<'_>) {
        let key = names.map(|name| name.map(|name| self.intern(name)));
        let next = self.groups.len();
        let at = *self.by_key.entry(key).or_insert(next);
        if at == next {
            self.groups.push(Group { key, start: row / WORD, words: Vec::new() });
        }
        if let Some(group) = self.groups.get_mut(at) {
            group.insert(row);
        }
    }

    pub(super) fn of(&self, row: Row) -> Option<Names<'_>> {
        let group = self.groups.iter().find(|group| group.contains(row.at()))?;
        Some(group.key.map(|name| self.name(name?)))
    }

    /// Rows with the given names.
    pub(super) fn select(&self, wanted: Names<'_>, rows: usize) -> Selection {
        if wanted.iter().all(Option::is_none) {
            return Selection::All;
        }
        let mut keys = [None; 4];
        for (key, name) in keys.iter_mut().zip(wanted) {
            match name.map(|name| self.by_name.get(name)) {
                Some(None) => return Selection::none(),
                Some(Some(known)) => *key = Some(*known),
                None => {}
            }
        }
        let accepts = |group: &&Group| {
            let pairs = keys.iter().zip(&group.key);
            pairs.into_iter().all(|(wanted, held)| wanted.is_none() || wanted == held)
        };
        let accepted: Vec<&Group> = self.groups.iter().filter(accepts).collect();
        if accepted.len() == self.groups.len() {
            return Selection::All;
        }
        if accepted.is_empty() {
            return Selection::none();
        }
        let mut words = vec![0_u64; rows.div_ceil(WORD)];
        for group in accepted {
            for (into, word) in words.iter_mut().skip(group.start).zip(&group.words) {
                *into |= word;
            }
        }
        Selection::Only(RowSet::from_words(words))
    }

    /// Selected rows of each combination of names.
    pub(super) fn counts(&self, within: &Selection, rows: usize) -> Vec<(Names<'_>, usize)> {
        let count = |group: &Group| {
            let words = std::iter::repeat_n(0, group.start).chain(group.words.iter().copied());
            let marked = Selection::Only(RowSet::from_words(words.collect()));
            within.and(&marked, rows).count(rows)
        };
        let names = |group: &Group| group.key.map(|name| self.name(name?));
        self.groups.iter().map(|group| (names(group), count(group))).collect()
    }

    pub(super) fn parts(&self) -> (&[Box<str>], &[Group]) {
        (&self.names, &self.groups)
    }

    /// From [`Labels::parts`]; `None` unless each of `rows` rows is in one group.
    pub(super) fn from_parts(
        names: Vec<Box<str>>,
        groups: Vec<Group>,
        rows: usize,
    ) -> Option<Self> {
        let mut seen = vec![0_u64; rows.div_ceil(WORD)];
        let mut by_key = HashMap::new();
        for (at, group) in groups.iter().enumerate() {
            let is_known = |name: &u32| (*name as usize) < names.len();
            let end = group.start.checked_add(group.words.len())?;
            if end > seen.len()
                || !group.key.iter().flatten().all(is_known)
                || by_key.insert(group.key, at).is_some()
            {
                return None;
            }
            for (seen, word) in seen.iter_mut().skip(group.start).zip(&group.words) {
                if *seen & word != 0 {
                    return None;
                }
                *seen |= word;
            }
        }
        let whole = seen.iter().map(|word| word.count_ones() as usize).sum::<usize>() == rows;
        let ends = seen
            .last()
            .is_none_or(|last| last.leading_zeros() as usize == seen.len() * WORD - rows);
        let mut by_name = HashMap::new();
        for (at, name) in (0..).zip(&names) {
            if by_name.insert(name.clone(), at).is_some() {
                return None;
            }
        }
        (whole && ends).then_some(Self { names, by_name, groups, by_key })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|name| 2 * (name.len() + 24)).sum();
        let groups = self.groups.iter().map(|it| size_of::<Group>() + it.words.capacity() * 8);
        names + groups.sum::<usize>()
    }

    fn name(&self, at: u32) -> Option<&str> {
        self.names.get(at as usize).map(|name| &**name)
    }

    fn intern(&mut self, name: &str) -> u32 {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        // There are at most four new names a row, and rows are counted in u32;
        // so many names would not fit in memory.
        let new = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.into());
        self.by_name.insert(name.into(), new);
        new
    }
}

impl Group {
    /// Rows come in ascending order.
    fn insert(&mut self, row: usize) {
        let at = row / WORD - self.start;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        if let Some(word) = self.words.get_mut(at) {
            *word |= 1 << (row % WORD);
        }
    }

    fn contains(&self, row: usize) -> bool {
        let word = (row / WORD).checked_sub(self.start).and_then(|at| self.words.get(at));
        word.is_some_and(|word| word >> (row % WORD) & 1 == 1)
    }
}
