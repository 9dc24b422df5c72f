//! Forward index of a small collection whose texts come and go: every text keeps its own
//! terms, and a query is scored against each text by BM25.
//!
//! For the thousands of texts that people keep, where a search visits each of them anyway;
//! [`mutable`](super::mutable) and [`immutable`](super::immutable) postings are for millions that stay.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::index::lexical::query::{Saturation, idf};
use crate::index::lexical::{AnalysedText, Impact};
use crate::index::terms::terms;

/// BM25 `b`, weight of length normalisation: what people keep is short for many reasons, and
/// a short message answers no better. On four of ten recorded chats BM25 alone has a mean
/// reciprocal rank of .508 with it and of .473 with the usual .75; on the six others .449 and
/// .409 (`benches/language/notes.py`).
const B: f32 = 0.1;

/// Vocabulary and document frequencies of a collection.
#[derive(Debug, Default)]
pub struct ForwardIndex {
    numbers: HashMap<Arc<str>, u32>,
    /// By number.
    vocabulary: Vec<IndexedTerm>,
    /// Numbers of terms that no text holds any more.
    free: Vec<u32>,
    texts: usize,
    /// Terms of all texts together.
    length: u64,
}

#[derive(Debug)]
struct IndexedTerm {
    term: Arc<str>,
    /// Texts that hold the term.
    document_frequency: usize,
}

/// The terms of one text of a [`ForwardIndex`]; belongs to that index.
#[derive(Debug)]
pub struct IndexedText {
    /// Ascending by number, each with how often it is there.
    terms: Vec<(u32, u16)>,
    length: u16,
}

/// What a text has in common with a query.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TermMatch {
    /// BM25, where a term that one text of the collection holds, once in a text of mean
    /// length, is 1.
    pub bm25: f32,
    /// Share of the query's terms that the text holds, weighed by rarity, in 0..=1.
    pub coverage: f32,
}

/// A query's terms, weighed by a [`ForwardIndex`] as it was then.
#[derive(Debug)]
pub struct TermQuery {
    /// By number, with the inverse document frequency.
    terms: Vec<(u32, f32)>,
    saturation: Saturation,
    /// Sum over all of the query's terms, also those that no text holds.
    idf_sum: f32,
    /// That of a term which one text holds.
    idf_unit: f32,
}

impl ForwardIndex {
    /// Counts a text in.
    pub fn add(&mut self, text: AnalysedText) -> IndexedText {
        let AnalysedText { terms, length } = text;
        let mut numbered: Vec<(u32, u16)> =
            terms.into_iter().map(|(term, frequency)| (self.count_in(&term), frequency)).collect();
        numbered.sort_unstable();
        self.texts += 1;
        self.length += u64::from(length);
        IndexedText { terms: numbered, length }
    }

    /// Counts a text out that [`ForwardIndex::add`] counted in.
    pub fn remove(&mut self, text: IndexedText) {
        let IndexedText { terms, length } = text;
        for (number, _frequency) in terms {
            self.count_out(number);
        }
        self.texts = self.texts.saturating_sub(1);
        self.length = self.length.saturating_sub(u64::from(length));
    }

    pub fn query(&self, query: &str) -> TermQuery {
        let distinct: BTreeSet<String> = terms(query).into_iter().collect();
        let unit = idf(self.texts.max(1), 1);
        let mean_length = self.length as f32 / self.texts.max(1) as f32;
        let mut asked = TermQuery {
            terms: Vec::new(),
            saturation: Saturation::with_normalization(mean_length, B),
            idf_sum: 0.0,
            idf_unit: unit,
        };
        for term in distinct {
            let entry = self.numbers.get(term.as_str()).copied();
            let found = entry
                .and_then(|at| Some((at, self.vocabulary.get(at as usize)?.document_frequency)));
            let weight =
                found.map_or(unit, |(_, document_frequency)| idf(self.texts, document_frequency));
            asked.idf_sum += weight;
            asked.terms.extend(found.map(|(number, _)| (number, weight)));
        }
        asked
    }

    fn count_in(&mut self, term: &str) -> u32 {
        if let Some(number) = self.numbers.get(term).copied() {
            if let Some(entry) = self.vocabulary.get_mut(number as usize) {
                entry.document_frequency += 1;
            }
            return number;
        }
        let entry = IndexedTerm { term: Arc::from(term), document_frequency: 1 };
        let name = Arc::clone(&entry.term);
        let number = if let Some(number) = self.free.pop() {
            if let Some(slot) = self.vocabulary.get_mut(number as usize) {
                *slot = entry;
            }
            number
        } else {
            self.vocabulary.push(entry);
            u32::try_from(self.vocabulary.len() - 1).unwrap_or(u32::MAX)
        };
        self.numbers.insert(name, number);
        number
    }

    fn count_out(&mut self, number: u32) {
        let Some(entry) = self.vocabulary.get_mut(number as usize) else { return };
        entry.document_frequency = entry.document_frequency.saturating_sub(1);
        if entry.document_frequency == 0 {
            self.numbers.remove(&entry.term);
            self.free.push(number);
        }
    }
}

impl TermQuery {
    /// Whether the query has no terms at all: stop words only.
    pub fn is_empty(&self) -> bool {
        self.idf_sum <= 0.0
    }

    pub fn score(&self, text: &IndexedText) -> TermMatch {
        let (mut bm25, mut held) = (0.0, 0.0);
        for (number, idf) in &self.terms {
            let found = text.terms.binary_search_by_key(number, |(number, _)| *number);
            let Some((_, frequency)) = found.ok().and_then(|at| text.terms.get(at)) else {
                continue;
            };
            bm25 +=
                idf * self.saturation.share(Impact { frequency: *frequency, length: text.length });
            held += idf;
        }
        if held <= 0.0 {
            return TermMatch::default();
        }
        TermMatch { bm25: bm25 / self.idf_unit, coverage: (held / self.idf_sum).min(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};

    fn texts() -> impl proptest::strategy::Strategy<Value = Vec<String>> {
        prop::collection::vec("((mug|red|books?|on|the|table|6:30) ){0,9}", 1..20)
    }

    #[test]
    fn a_rare_term_weighs_one_and_coverage_is_by_rarity() {
        let mut index = ForwardIndex::default();
        let kept: Vec<IndexedText> =
            ["red mug", "red book"].map(|text| index.add(AnalysedText::new(text))).into();
        let asked = index.query("where is my mug");
        assert!((asked.score(&kept[0]).bm25 - 1.0).abs() < 1e-6);
        assert!((asked.score(&kept[0]).coverage - 1.0).abs() < 1e-6);
        assert_eq!(asked.score(&kept[1]), TermMatch::default());
        let half = index.query("mug zebra").score(&kept[0]).coverage;
        assert!((half - 0.5).abs() < 1e-6, "{half}");
        assert!(index.query("where is it").is_empty());
    }

    #[test]
    fn terms_that_no_text_holds_take_no_memory() {
        let mut index = ForwardIndex::default();
        for n in 0..1_000 {
            let text = index.add(AnalysedText::new(&format!("person_{n} order{n}")));
            index.remove(text);
        }
        assert!(index.vocabulary.len() <= 4, "{}", index.vocabulary.len());
        assert!(index.numbers.is_empty());
    }

    /// BM25 as in its definition, over the texts themselves.
    fn by_definition(texts: &[String], query: &str, text: &str) -> f64 {
        let cut: Vec<Vec<String>> = texts.iter().map(|text| terms(text)).collect();
        let (all, own) = (cut.len() as f64, terms(text));
        let mean = (cut.iter().map(Vec::len).sum::<usize>() as f64 / all).max(1e-9);
        let idf = |held: f64| (1.0 + (all - held + 0.5) / (held + 0.5)).ln();
        let asked: BTreeSet<String> = terms(query).into_iter().collect();
        let share = |term: &String| {
            let held = cut.iter().filter(|text| text.contains(term)).count() as f64;
            let times = own.iter().filter(|it| *it == term).count() as f64;
            idf(held) * times * 2.2 / (times + 1.2 * (0.9 + 0.1 * own.len() as f64 / mean))
        };
        asked.iter().map(share).sum::<f64>() / idf(1.0)
    }

    proptest! {
        #[test]
        fn scores_by_bm25_over_the_texts_that_are_left(
            texts in texts(),
            gone in prop::collection::vec(any::<bool>(), 20),
            query in "((red|mugs|Book|lamp|30) ){1,4}",
        ) {
            let mut index = ForwardIndex::default();
            let mut kept: Vec<Option<IndexedText>> =
                texts.iter().map(|text| Some(index.add(AnalysedText::new(text)))).collect();
            let mut left = Vec::new();
            for (at, text) in texts.iter().enumerate() {
                if gone[at] {
                    index.remove(kept[at].take().unwrap());
                } else {
                    left.push(text.clone());
                }
            }
            let asked = index.query(&query);
            for (indexed, text) in kept.iter().flatten().zip(&left) {
                let (found, expected) =
                    (asked.score(indexed).bm25, by_definition(&left, &query, text));
                assert!((f64::from(found) - expected).abs() < 1e-4, "{text}: {found} {expected}");
            }
        }
    }
}
