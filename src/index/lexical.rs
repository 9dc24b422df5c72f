//! Finds texts by their words: BM25 over an inverted index.

use std::collections::{BTreeSet, HashMap};

use crate::index::Row;
use crate::index::selection::Selection;
use crate::index::terms::terms;
use crate::index::top::{Scored, Top};

/// How soon a word's repetition stops to count, as is usual.
const K1: f32 = 1.2;
/// How much a long text is held against it, as is usual.
const B: f32 = 0.75;

/// Words of all rows.
#[derive(Debug, Default)]
pub struct Lexical {
    postings: HashMap<Box<str>, Vec<Posting>>,
    rows: u32,
    /// Terms of all rows together.
    length: u64,
}

/// One text that holds a term. Eight bytes, read in a row by every search.
#[derive(Debug, Clone, Copy)]
struct Posting {
    row: Row,
    /// Times that the term is in the text, and terms of the text; both within
    /// [`crate::index::terms::TERMS_MAX`].
    times: u16,
    length: u16,
}

/// A text, ready to be inserted. Made outside of locks, as cutting it is the
/// greater part of the work.
#[derive(Debug)]
pub struct Text {
    /// Distinct terms, each with how often it is there.
    terms: Vec<(Box<str>, u16)>,
    length: u16,
}

impl Text {
    pub fn new(text: &str) -> Self {
        let mut all = terms(text);
        let length = u16::try_from(all.len()).unwrap_or(u16::MAX);
        all.sort_unstable();
        let runs = all.chunk_by(|a, b| a == b);
        let terms = runs.filter_map(|run| {
            let times = u16::try_from(run.len()).unwrap_or(u16::MAX);
            run.first().map(|term| (Box::from(term.as_str()), times))
        });
        Self { terms: terms.collect(), length }
    }
}

/// How well each row answers a query by its words.
#[derive(Debug)]
pub struct WordScores {
    /// Empty where no row holds a term of the query.
    by_row: Vec<f32>,
}

impl WordScores {
    /// In 0..=1; 0 where the row holds no term of the query.
    pub fn of(&self, row: Row) -> f32 {
        self.by_row.get(row.at()).copied().unwrap_or(0.0)
    }

    /// The best `n` selected rows that hold a term of the query.
    pub fn top(&self, n: usize, within: &Selection) -> Vec<Scored> {
        let mut top = Top::new(n);
        for (row, score) in (0..).map(Row).zip(&self.by_row) {
            if *score > 0.0 && within.contains(row) {
                top.offer(row, *score);
            }
        }
        top.into_sorted()
    }
}

impl Lexical {
    /// Appends a row.
    pub fn push(&mut self, text: Text) {
        let Text { terms, length } = text;
        let row = Row(self.rows);
        for (term, times) in terms {
            self.postings.entry(term).or_default().push(Posting { row, times, length });
        }
        self.rows = self.rows.saturating_add(1);
        self.length += u64::from(length);
    }

    /// Scores every row by BM25, divided by the most that the query's terms give
    /// in this corpus (the sum of each term's best), so that scores of different
    /// queries compare. Terms that no row holds tell nothing apart and are left out.
    pub fn score(&self, query: &str) -> WordScores {
        let distinct: BTreeSet<String> = terms(query).into_iter().collect();
        let held = distinct.iter().filter_map(|term| self.postings.get(term.as_str()));
        let (mut by_row, mut bound) = (Vec::new(), 0.0);
        let mean_length = self.length as f32 / self.rows.max(1) as f32;
        for postings in held {
            by_row.resize(self.rows as usize, 0.0);
            bound += self.add(postings, mean_length, &mut by_row);
        }
        if bound > 0.0 {
            for score in &mut by_row {
                *score = (*score / bound).min(1.0);
            }
        }
        WordScores { by_row }
    }

    /// The rows that hold any term of `words`.
    pub fn holding(&self, words: &[String]) -> Selection {
        let mut marked = vec![false; self.rows as usize];
        let distinct: BTreeSet<String> = words.iter().flat_map(|word| terms(word)).collect();
        for posting in distinct.iter().filter_map(|term| self.postings.get(term.as_str())).flatten()
        {
            if let Some(mark) = marked.get_mut(posting.row.at()) {
                *mark = true;
            }
        }
        Selection::Only(marked)
    }

    /// Adds one term's share to the rows that hold it; returns the greatest share.
    fn add(&self, postings: &[Posting], mean_length: f32, by_row: &mut [f32]) -> f32 {
        let (all, holding) = (self.rows as f32, postings.len() as f32);
        let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
        let mut best = 0.0;
        for Posting { row, times, length } in postings {
            let times = f32::from(*times);
            let norm = K1 * (1.0 - B + B * f32::from(*length) / mean_length);
            let share = rarity * times * (K1 + 1.0) / (times + norm);
            // As a branch, which is seldom taken; as `max`, each share would wait
            // for the one before.
            if share > best {
                best = share;
            }
            if let Some(score) = by_row.get_mut(row.at()) {
                *score += share;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, proptest};

    fn filled(texts: &[String]) -> Lexical {
        let mut lexical = Lexical::default();
        for text in texts {
            lexical.push(Text::new(text));
        }
        lexical
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    /// BM25 as in its definition, over the texts themselves.
    fn by_definition(texts: &[String], query: &str) -> Vec<f64> {
        let cut: Vec<Vec<String>> = texts.iter().map(|text| terms(text)).collect();
        let all = cut.len() as f64;
        let mean = cut.iter().map(Vec::len).sum::<usize>() as f64 / all;
        let query: BTreeSet<String> = terms(query).into_iter().collect();
        let share = |term: &String, text: &Vec<String>| {
            let holding = cut.iter().filter(|text| text.contains(term)).count() as f64;
            let idf = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
            let tf = text.iter().filter(|it| *it == term).count() as f64;
            if tf == 0.0 {
                return 0.0;
            }
            idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * text.len() as f64 / mean))
        };
        let best = |term| cut.iter().map(|text| share(term, text)).fold(0.0, f64::max);
        let bound: f64 = query.iter().map(best).sum();
        cut.iter()
            .map(|text| query.iter().map(|term| share(term, text)).sum::<f64>() / bound.max(1e-9))
            .collect()
    }

    proptest! {
        #[test]
        fn is_bm25(
            texts in prop::collection::vec("((mug|red|books?|on|the|table) ){0,9}", 1..30),
            query in "((red|mugs|Book|lamp|the) ){0,5}",
            n in 0_usize..8,
        ) {
            let lexical = filled(&texts);
            let scores = lexical.score(&query);
            let expected = by_definition(&texts, &query);
            for (row, expected) in (0..).map(Row).zip(&expected) {
                let found = scores.of(row);
                assert!((f64::from(found) - expected).abs() < 1e-5, "{row:?}: {found} {expected}");
                assert!((0.0..=1.0).contains(&found));
            }
            let top = scores.top(n, &Selection::All);
            let holding = expected.iter().filter(|score| **score > 0.0).count();
            assert_eq!(top.len(), n.min(holding));
            assert!(top.windows(2).all(|pair| pair[0] > pair[1]));
            if let Some(worst) = top.last().filter(|_| top.len() == n) {
                let better = expected.iter().filter(|it| **it > f64::from(worst.score) + 1e-5);
                assert!(better.count() < n);
            }
        }
    }

    #[test]
    fn a_text_that_holds_all_there_is_to_hold_scores_one() {
        let lexical = filled(&owned(&["a red mug", "a blue mug", "a red book"]));
        assert!((lexical.score("where is the red mug?").of(Row(0)) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn words_that_nobody_wrote_find_nothing() {
        let lexical = filled(&owned(&["a red mug"]));
        for query in ["", "?!", "zebra"] {
            let scores = lexical.score(query);
            assert_eq!(scores.top(9, &Selection::All), []);
            assert!(scores.of(Row(0)).abs() < f32::EPSILON);
        }
        assert_eq!(filled(&[]).score("mug").top(9, &Selection::All), []);
    }

    #[test]
    fn rows_outside_the_selection_are_not_found() {
        let lexical = filled(&owned(&["red mug", "mug"]));
        let found = lexical.score("red mug").top(9, &Selection::Only(vec![false, true]));
        assert_eq!(found.iter().map(|it| it.row).collect::<Vec<_>>(), [Row(1)]);
    }

    #[test]
    fn holding_takes_any_of_the_words_in_any_form() {
        let lexical = filled(&owned(&["red mugs", "a table", "books"]));
        let holding = lexical.holding(&owned(&["Mug", "the book"]));
        assert_eq!(holding, Selection::Only(vec![true, false, true]));
        assert_eq!(lexical.holding(&[]), Selection::Only(vec![false; 3]));
    }
}
