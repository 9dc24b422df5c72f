//! Lexical search: BM25 (Robertson et al. 1994) over an inverted index of each segment.
//!
//! A part is [`mutable::MutablePostings`] or, sealed, [`immutable::ImmutablePostings`]; to a
//! [`query::Bm25Query`] both are [`Postings`]. How rare a word is and how long a
//! text is usual are counted over all parts, so that scores of rows of different
//! parts compare. [`forward::ForwardIndex`] is the small sibling for texts that come
//! and go. Knows neither vectors nor records.

mod codec;
pub mod forward;
pub mod immutable;
pub mod mutable;
mod posting_block;
pub mod query;
mod window_postings;

use crate::index::Row;
use crate::index::lexical::window_postings::WindowPostings;
use crate::index::terms::terms;

/// Analysed text, ready to be inserted. Made outside of locks, as the analysis is the
/// greater part of the work.
#[derive(Debug, Clone)]
pub struct AnalysedText {
    /// Distinct terms, ascending, each with its frequency.
    terms: Vec<(Box<str>, u16)>,
    length: u16,
}

impl AnalysedText {
    pub fn new(text: &str) -> Self {
        let mut all = terms(text);
        let length = u16::try_from(all.len()).unwrap_or(u16::MAX);
        all.sort_unstable();
        let runs = all.chunk_by(|a, b| a == b);
        let terms = runs.filter_map(|run| {
            let frequency = u16::try_from(run.len()).unwrap_or(u16::MAX);
            run.first().map(|term| (Box::from(term.as_str()), frequency))
        });
        Self { terms: terms.collect(), length }
    }
}

/// Number of a term in one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermId(u32);

/// Term frequency and length of the text: all that BM25 needs of a posting. Both are
/// within [`crate::index::terms::TERMS_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Impact {
    frequency: u16,
    length: u16,
}

impl Impact {
    /// Dominance: scores at least as high as the other, whatever the mean length.
    fn dominates(self, other: Self) -> bool {
        self.frequency >= other.frequency && self.length <= other.length
    }

    /// Adds an impact to a set of which none dominates another.
    fn merge_into(self, impacts: &mut Vec<Self>) {
        if !impacts.iter().any(|impact| impact.dominates(self)) {
            impacts.retain(|impact| !self.dominates(*impact));
            impacts.push(self);
        }
    }
}

/// Postings of a part of the rows, which count from 0.
pub trait Postings: std::fmt::Debug {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Total length of all rows.
    fn length(&self) -> u64;

    /// Length of one row; 0 for an unknown one.
    fn length_of(&self, row: Row) -> u16;

    fn find(&self, term: &str) -> Option<TermId>;

    /// Rows that hold a term.
    fn document_frequency(&self, term: TermId) -> usize;

    /// Impacts of a term that none dominates: its best score is among theirs, whatever
    /// the mean length.
    fn impacts(&self, term: TermId) -> &[Impact];

    /// Upper bound of a term in a window of [`WINDOW_ROWS`]: greatest frequency, least
    /// length; `None` where no row holds it.
    fn bound(&self, term: TermId, window: usize) -> Option<Impact>;

    /// Postings of a term in a window; `None` where there are none.
    fn postings_in(&self, term: TermId, window: usize) -> Option<WindowPostings<'_>>;
}

/// Rows that a search evaluates together, after a look at their upper bounds: a bit for
/// each fits into a few registers.
pub const WINDOW_ROWS: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::bytes::tests::{check_damage, check_nonsense};
    use crate::index::lexical::immutable::ImmutablePostings;
    use crate::index::lexical::mutable::MutablePostings;
    use crate::index::lexical::query::Bm25Query;
    use crate::index::selection::Selection;
    use proptest::prelude::{Just, Strategy, any, prop, proptest};
    use roaring::RoaringBitmap;
    use std::collections::BTreeSet;

    fn fill(texts: &[String]) -> MutablePostings {
        let mut words = MutablePostings::default();
        for text in texts {
            words.push(AnalysedText::new(text));
        }
        words
    }

    fn to_owned_texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn frozen(texts: &[String]) -> ImmutablePostings {
        let bytes = ImmutablePostings::freeze(&fill(texts)).to_bytes();
        ImmutablePostings::from_bytes(&bytes).unwrap()
    }

    /// BM25 as in its definition, over the texts themselves.
    fn by_definition(texts: &[String], query: &str) -> Vec<f64> {
        let cut: Vec<Vec<String>> = texts.iter().map(|text| terms(text)).collect();
        let all = cut.len() as f64;
        let mean = cut.iter().map(Vec::len).sum::<usize>() as f64 / all;
        let query: BTreeSet<String> = terms(query).into_iter().collect();
        let idf = |term: &String| {
            let document_frequency = cut.iter().filter(|text| text.contains(term)).count() as f64;
            (1.0 + (all - document_frequency + 0.5) / (document_frequency + 0.5)).ln()
        };
        let idf: Vec<(&String, f64)> = query.iter().map(|term| (term, idf(term))).collect();
        let share = |(term, idf): &(&String, f64), text: &Vec<String>| {
            let tf = text.iter().filter(|it| it == term).count() as f64;
            if tf == 0.0 {
                return 0.0;
            }
            idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * text.len() as f64 / mean))
        };
        let best = |term| cut.iter().map(|text| share(term, text)).fold(0.0, f64::max);
        let bound: f64 = idf.iter().map(best).sum();
        let score = |text| idf.iter().map(|term| share(term, text)).sum::<f64>();
        cut.iter().map(|text| score(text) / bound.max(1e-9)).collect()
    }

    /// Some texts, now and then so many that they fill several windows.
    fn texts() -> impl Strategy<Value = Vec<String>> {
        let some = prop::collection::vec("((mug|red|books?|on|the|table) ){0,9}", 1..30);
        (some, prop::sample::select(vec![1_usize, 1, 1, 400]))
            .prop_map(|(texts, repeats)| (0..repeats).flat_map(|_| texts.clone()).collect())
    }

    /// Texts with a mark for each.
    fn marked_texts() -> impl Strategy<Value = (Vec<String>, Vec<bool>)> {
        texts().prop_flat_map(|texts| {
            let len = texts.len();
            (Just(texts), prop::collection::vec(any::<bool>(), len))
        })
    }

    fn check(texts: &[String], query: &str, n: usize, marks: &[bool], cut: usize) {
        let cut = cut % (texts.len() + 1);
        let (old, new) = (frozen(&texts[..cut]), fill(&texts[cut..]));
        let parts: [&dyn Postings; 2] = [&old, &new];
        let asked = Bm25Query::new(query, &parts);
        let expected = by_definition(texts, query);
        let (expected, marks) = (expected.split_at(cut), marks.split_at(cut));
        let of_parts = [(parts[0], expected.0, marks.0), (parts[1], expected.1, marks.1)];
        for (part, expected, marks) in of_parts {
            for (row, expected) in (0..).map(Row).zip(expected) {
                let found = asked.score(part, row);
                assert!((f64::from(found) - expected).abs() < 1e-5, "{row:?} {found} {expected}");
                assert!((0.0..=1.0).contains(&found));
            }
            let within = Selection::from_marks(marks);
            let top = asked.top(part, n, &within, 0.0);
            let inside = expected.iter().zip(marks).filter(|(score, mark)| **mark && **score > 0.0);
            let matching = inside.clone().count();
            assert_eq!(top.len(), n.min(matching));
            assert!(top.windows(2).all(|pair| pair[0] > pair[1]));
            for found in &top {
                assert!(within.contains(found.row));
                let expected = expected[found.row.at()];
                assert!((f64::from(found.score) - expected).abs() < 1e-5);
                assert_eq!(found.score.to_bits(), asked.score(part, found.row).to_bits());
            }
            if let Some(worst) = top.last().filter(|_| top.len() == n) {
                let better = inside.filter(|(it, _)| **it > f64::from(worst.score) + 1e-5);
                assert!(better.count() < n);
                let above = asked.top(part, n, &within, worst.score);
                assert_eq!(above, top[..above.len()]);
                let left_out = top[above.len()..].iter().map(|it| it.score - worst.score);
                assert!(left_out.clone().all(|more| more < 1e-5), "{above:?} {top:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn scores_are_bm25_over_all_parts(
            (texts, marks) in marked_texts(),
            query in "((red|mugs|Book|lamp|the) ){0,5}",
            n in 0_usize..8,
            cut: usize,
        ) {
            check(&texts, &query, n, &marks, cut);
        }

        #[test]
        fn a_merge_leaves_out_deleted_rows(
            parts in prop::collection::vec((texts(), prop::collection::btree_set(0_u32..40, 0..30)), 0..4),
        ) {
            let held: Vec<(ImmutablePostings, RoaringBitmap)> = parts.iter()
                .map(|(texts, deleted)| (frozen(texts), deleted.iter().copied().collect())).collect();
            let borrowed: Vec<_> = held.iter().map(|(words, deleted)| (words, deleted)).collect();
            let kept: Vec<String> = parts.iter().flat_map(|(texts, deleted)| {
                let kept = (0..).zip(texts).filter(|(row, _)| !deleted.contains(row));
                kept.map(|(_, text)| text.clone())
            }).collect();
            let merged = ImmutablePostings::merge(&borrowed).to_bytes();
            assert_eq!(merged, ImmutablePostings::freeze(&fill(&kept)).to_bytes());
        }

        #[test]
        fn corrupt_bytes_never_panic(
            texts in texts(),
            flips in prop::collection::vec((any::<usize>(), 1_u8..), 1..4),
        ) {
            let bytes = ImmutablePostings::freeze(&fill(&texts)).to_bytes();
            if let Some(read) = check_nonsense(&bytes, &flips, ImmutablePostings::from_bytes) {
                let asked = Bm25Query::new("red mug on the table", &[&read]);
                asked.top(&read, 5, &Selection::All, 0.0);
                ImmutablePostings::merge(&[(&read, &RoaringBitmap::new())]);
            }
        }
    }

    #[test]
    fn a_run_of_rows_is_searched_as_each_of_them() {
        let texts: Vec<String> = (0..9_000)
            .map(|row| if row % 3 == 0 { "a red mug" } else { "a book" }.to_owned())
            .collect();
        let words = frozen(&texts);
        let asked = Bm25Query::new("mug", &[&words]);
        let run = Selection::Run(Row(4_097), Row(8_200));
        let found = asked.top(&words, 9_000, &run, 0.0);
        let rows: Vec<u32> = found.iter().map(|it| it.row.0).collect();
        assert_eq!(rows, (4_097..8_200).filter(|row| row % 3 == 0).collect::<Vec<u32>>());
    }

    #[test]
    fn frequent_terms_score_more_and_long_texts_less() {
        let texts = to_owned_texts(&["mug mug mug book book", "mug book book book book", "mug"]);
        let words = frozen(&texts);
        let found = Bm25Query::new("mug", &[&words]).top(&words, 9, &Selection::All, 0.0);
        let rows: Vec<u32> = found.iter().map(|it| it.row.0).collect();
        assert_eq!(rows, [0, 2, 1]);
        check(&texts, "mug", 9, &[true; 3], 0);
    }

    #[test]
    fn a_text_that_holds_all_there_is_to_hold_scores_one() {
        let words = frozen(&to_owned_texts(&["a red mug", "a blue mug", "a red book"]));
        let asked = Bm25Query::new("where is the red mug?", &[&words]);
        assert!((asked.score(&words, Row(0)) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn unknown_words_find_nothing() {
        let words = frozen(&to_owned_texts(&["a red mug"]));
        for query in ["", "?!", "zebra"] {
            let asked = Bm25Query::new(query, &[&words]);
            assert!(asked.is_empty());
            assert_eq!(asked.top(&words, 9, &Selection::All, 0.0), []);
            assert!(asked.score(&words, Row(0)).abs() < f32::EPSILON);
        }
        let none = frozen(&[]);
        assert_eq!(Bm25Query::new("mug", &[&none]).top(&none, 9, &Selection::All, 0.0), []);
    }

    #[test]
    fn damage_is_noticed() {
        let texts = to_owned_texts(&["a red mug on a red table", "a mug", "books"]);
        check_damage(
            &ImmutablePostings::freeze(&fill(&texts)).to_bytes(),
            ImmutablePostings::from_bytes,
        );
    }
}
