//! One score for texts that people wrote (notes, memos) from meaning and words.
//!
//! Pure. Captions have a sum of their own, see [`super::fuse`]: a captioner's words repeat
//! in every record and tell less apart than the names and numbers of a note.

use crate::base::embedding::Embedding;
use crate::index::lexical::AnalysedText;
use crate::index::lexical::forward::{ForwardIndex, IndexedText, TermMatch, TermQuery};
use crate::language::words::FUNCTION_WORDS;
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, TextRole};
use crate::search::usual_likeness::UsualLikeness;

/// A query of prose, ready to be compared with every text of an index.
#[derive(Debug)]
pub struct ProseQuery {
    /// `None` where the embedder does not know the script.
    vector: Option<Embedding>,
    words: TermQuery,
    /// How much of its likeness to a text it has to all of them.
    excess: f32,
}

/// A text, or a passage of one, ready to be counted into an index.
#[derive(Debug)]
pub struct PreparedText {
    pub vector: Embedding,
    words: AnalysedText,
    /// Whether the embedder knows its script.
    is_read: bool,
    /// Part of it that asks and so answers nothing, in 0..=1.
    question_share: f32,
}

/// A text, or a passage of one, by its meaning and its words.
#[derive(Debug)]
pub struct ProseText {
    vector: Embedding,
    words: IndexedText,
    is_read: bool,
    question_share: f32,
}

impl ProseQuery {
    pub fn new(
        embedder: &EmbedderHandle,
        words: TermQuery,
        text: &str,
    ) -> Result<Self, ModelError> {
        let is_read = embedder.reads(text);
        let vector = is_read.then(|| embedder.embed(TextRole::Query, text)).transpose()?;
        Ok(Self { vector, words, excess: 0.0 })
    }

    /// The same for texts that are alike to it beyond what all of a collection are.
    #[must_use]
    pub fn beyond(self, usual: &UsualLikeness) -> Self {
        let excess = self.vector.as_ref().map_or(0.0, |it| usual.excess(it));
        Self { excess, ..self }
    }

    /// Whether its words are matched as written, as the embedder cannot read it.
    pub fn is_literal(&self) -> bool {
        self.vector.is_none()
    }
}

/// A query's words but for those that say nothing of its subject.
pub fn content_words(query: &str) -> String {
    let says = |word: &&str| !FUNCTION_WORDS.contains(&word.to_lowercase());
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.filter(says).collect::<Vec<&str>>().join(" ")
}

impl PreparedText {
    /// A text that is found by what it tells: its questions resemble a question and answer none.
    pub fn of_statement(embedder: &EmbedderHandle, vector: Embedding, text: &str) -> Self {
        let question_share = question_share(text);
        Self { question_share, ..Self::of_example(embedder, vector, text) }
    }

    /// A text that is found by whatever resembles it, a question by a question.
    pub fn of_example(embedder: &EmbedderHandle, vector: Embedding, text: &str) -> Self {
        let (words, is_read) = (AnalysedText::new(text), embedder.reads(text));
        Self { vector, words, is_read, question_share: 0.0 }
    }
}

impl ProseText {
    /// Counts the text's words into `index`.
    pub fn new(index: &mut ForwardIndex, text: PreparedText) -> Self {
        let PreparedText { vector, words, is_read, question_share } = text;
        Self { vector, words: index.add(words), is_read, question_share }
    }

    /// Counts the text's words out of the index that it was made with.
    pub fn leave(self, index: &mut ForwardIndex) {
        index.remove(self.words);
    }

    pub fn vector(&self) -> &Embedding {
        &self.vector
    }

    /// Its vector, where the embedder knows its script.
    pub fn read_vector(&self) -> Option<&Embedding> {
        self.is_read.then_some(&self.vector)
    }

    /// How well the text answers, by [`score`], or by its words alone where either cannot
    /// be read.
    pub fn fit(&self, embedder: &EmbedderHandle, query: &ProseQuery) -> f32 {
        let words = query.words.score(&self.words);
        match (&query.vector, self.is_read) {
            (Some(vector), true) => {
                let cosine = self.vector.cosine(vector) - query.excess;
                let similarity = embedder.calibration().similarity(cosine);
                score(answering_similarity(similarity, self.question_share), words)
            }
            _ => literal_score(words),
        }
    }

    /// How well the text is an example of what a query asks, by [`example_score`], or by its words
    /// alone where either cannot be read.
    pub fn fit_as_example(&self, embedder: &EmbedderHandle, query: &ProseQuery) -> f32 {
        let words = query.words.score(&self.words);
        match (&query.vector, self.is_read) {
            (Some(vector), true) => {
                example_score(embedder.similarity(&self.vector, vector), words.coverage)
            }
            _ => literal_score(words),
        }
    }

    /// How alike text and query are in meaning alone; by words where either cannot be read.
    pub fn similarity(&self, embedder: &EmbedderHandle, query: &ProseQuery) -> f32 {
        match (&query.vector, self.is_read) {
            (Some(vector), true) => embedder.similarity(&self.vector, vector),
            _ => literal_score(query.words.score(&self.words)),
        }
    }

    /// What the text has in common with some words.
    pub fn word_match(&self, words: &TermQuery) -> TermMatch {
        words.score(&self.words)
    }
}

/// Marks at the end of a question.
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// Weight that a question's likeness loses. An embedder finds questions alike for being
/// questions: "What about Kate?" was the best match of most questions about Kate. On the four
/// chats below the mean reciprocal rank is .517 with it and .479 without, and of the messages
/// that do not answer a quarter fewer reach .6.
const QUESTION_DISCOUNT: f32 = 0.7;
/// Similarity of unrelated texts.
const UNRELATED: f32 = 0.5;

/// Similarity of a text for what it tells: its part that asks counts little.
fn answering_similarity(similarity: f32, question_share: f32) -> f32 {
    let likeness = (similarity - UNRELATED).max(0.0);
    similarity - likeness * QUESTION_DISCOUNT * question_share
}

/// Share of a text's characters that stand in questions.
fn question_share(text: &str) -> f32 {
    let mut counts = [0_usize; 2];
    for sentence in text.split_inclusive(is_sentence_end) {
        let is_question = sentence.ends_with(QUESTION_MARKS);
        if let Some(count) = counts.get_mut(usize::from(is_question)) {
            *count += sentence.trim().chars().count();
        }
    }
    let [told, asked] = counts.map(|count| count as f32);
    asked / (told + asked).max(1.0)
}

fn is_sentence_end(c: char) -> bool {
    matches!(c, '.' | '!' | '\n') || QUESTION_MARKS.contains(&c)
}

/// Greatest share of the way to 1 that words lift a score by.
///
/// This and the two below were chosen on four of ten recorded chats (1,761 messages, 283
/// questions, `benches/language/notes.py`): the most for words that leaves one rare word in
/// common below the threshold.
const LIFT_MAX: f32 = 0.8;
/// BM25 at which words lift by half of that: one and a half terms that no other text has.
const BM25_HALF: f32 = 1.5;
/// A single shared word is chance more often than two are.
const STEEPNESS: i32 = 3;

/// How well a text answers, in 0..=1: likeness and words as independent evidence, either
/// of which may be right.
///
/// `similarity` is on the scale of [`EmbedderHandle::similarity`], and so is the result:
/// without a shared word it is the similarity.
fn score(similarity: f32, words: TermMatch) -> f32 {
    let raised = words.bm25.max(0.0).powi(STEEPNESS);
    let lift = LIFT_MAX * raised / (raised + BM25_HALF.powi(STEEPNESS));
    similarity + (1.0 - similarity) * lift
}

/// Cosine of two questions that are put to one database and have nothing else in common.
///
/// This and the weight below were chosen on ten memos of a shop, asked for in 34 ways, and 35
/// other questions, half of them of the same tables: of these .29 find a memo above .6, where .77
/// did by [`score`], and .88 of the 34 find theirs, where .85 did. On eight memos of a hospital, a
/// school, a robot and an airline that came after, .17 (.73) and .96 (.96). A rare word in common
/// says little here: it is the name of a table.
const OF_ONE_DATABASE: f32 = 0.3;
/// What a text adds to its cosine that holds all of a query's words.
const COVERAGE_WEIGHT: f32 = 0.2;

/// How well a text is an example of what is asked, in 0..=1: what is only of the same kind is
/// below .6, as what is unrelated is by [`score`].
fn example_score(similarity: f32, coverage: f32) -> f32 {
    let cosine = 2.0 * similarity - 1.0 + COVERAGE_WEIGHT * coverage;
    let beyond = (cosine - OF_ONE_DATABASE) / (1.0 - OF_ONE_DATABASE);
    f32::midpoint(1.0, beyond.clamp(-1.0, 1.0))
}

/// How well a text answers by its words alone, where the embedder cannot read it or the
/// query: on the same scale, on which unrelated texts are at .5; 0 without a shared word.
fn literal_score(words: TermMatch) -> f32 {
    if words.coverage > 0.0 { f32::midpoint(1.0, words.coverage) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::proptest;

    #[test]
    fn words_that_say_nothing_of_the_subject_are_left_out() {
        assert_eq!(
            content_words("How do I get in when I am locked out?"),
            "do I in when I am locked"
        );
        assert_eq!(content_words("오늘 날씨, up at 6:30"), "오늘 날씨 at 6 30");
    }

    #[test]
    fn questions_are_told_from_what_a_text_tells() {
        for (text, expected) in [
            ("Where did you eat?", 1.0),
            ("I ate out.", 0.0),
            ("the code is 4711", 0.0),
            ("I ate out. And you then?", 0.565),
            ("", 0.0),
            ("오늘 날씨 어때？", 1.0),
        ] {
            assert!(
                (question_share(text) - expected).abs() < 1e-3,
                "{text}: {}",
                question_share(text)
            );
        }
    }

    #[test]
    fn what_asks_is_less_like_a_query_and_unrelated_texts_stay_where_they_are() {
        assert!((answering_similarity(0.9, 1.0) - 0.62).abs() < 1e-6);
        assert!((answering_similarity(0.9, 0.0) - 0.9).abs() < 1e-6);
        assert!((answering_similarity(0.4, 1.0) - 0.4).abs() < 1e-6);
    }

    fn words(bm25: f32) -> TermMatch {
        TermMatch { bm25, coverage: 1.0 }
    }

    #[test]
    fn without_words_a_score_is_the_similarity() {
        for similarity in [0.0, 0.45, 0.6, 1.0] {
            let found = score(similarity, TermMatch::default());
            assert!((found - similarity).abs() < 1e-6);
        }
    }

    #[test]
    fn one_shared_rare_word_does_not_lift_unrelated_texts_to_the_threshold() {
        assert!(score(0.5, words(1.0)) < 0.6);
        assert!(score(0.5, words(2.0)) > 0.6);
    }

    #[test]
    fn a_literal_score_is_the_share_of_words_above_the_unrelated() {
        let found = |coverage| literal_score(TermMatch { bm25: 9.0, coverage });
        assert!(found(0.0).abs() < 1e-6);
        assert!((found(0.2) - 0.6).abs() < 1e-6 && (found(1.0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn an_example_needs_more_than_a_word_or_a_kind_in_common() {
        let above = |cosine: f32, coverage| example_score(f32::midpoint(1.0, cosine), coverage);
        assert!(above(0.3, 0.0) < 0.6 && above(0.3, 0.5) < 0.6 && above(0.3, 1.0) > 0.6);
        assert!((above(1.0, 1.0) - 1.0).abs() < 1e-6 && above(-1.0, 0.0).abs() < 1e-6);
        assert!(above(0.5, 0.2) > above(0.5, 0.1) && above(0.6, 0.1) > above(0.5, 0.1));
    }

    proptest! {
        #[test]
        fn more_of_either_is_never_worse(
            a in 0_f32..=1.0, b in 0_f32..=1.0, c in 0_f32..20.0, d in 0_f32..20.0,
        ) {
            let (low, high) = (a.min(b), a.max(b));
            let (few, many) = (words(c.min(d)), words(c.max(d)));
            assert!(score(low, few) <= score(high, many) + 1e-6);
            assert!((0.0..=1.0).contains(&score(high, many)));
        }
    }
}
