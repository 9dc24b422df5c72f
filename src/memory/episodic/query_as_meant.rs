//! A recall's query as it was meant: its slips put right as a request's are, and without what is
//! said before and after a name for politeness alone. Needed where nothing surely shows what the
//! query says.

use std::collections::BTreeSet;

use crate::language::fit::Certainty;
use crate::language::known_words::{
    Familiarity, familiarity, is_among, is_grammar, is_known_name, is_unknown,
};
use crate::language::lexicon;
use crate::language::spelling::{is_slip_of_hand, sounding_like};
use crate::language::words::{BOUNDARIES, COURTESY, DETERMINERS, FILLERS, GREETINGS, LIKENESSES};
use crate::memory::episodic::respell::read_as;
use crate::memory::episodic::{Episodic, MemoryError};

impl Episodic {
    /// What `find` finds by a query, and where that is not sure, by the query as it was meant, with
    /// the words by which it was then; the surer one of both.
    pub fn find_as_meant<T>(
        &self,
        query: &str,
        find: impl Fn(&str) -> Result<T, MemoryError>,
        certainty: impl Fn(&T) -> Option<Certainty>,
    ) -> Result<(T, Option<String>), MemoryError> {
        let query = after_call(query);
        let found = find(query);
        let is_sure = found.as_ref().is_ok_and(|it| certainty(it) > Some(Certainty::Partial));
        let meant = if is_sure { None } else { self.query_as_meant(query) };
        let Some(meant) = meant else { return Ok((found?, None)) };
        match (found, find(&meant)) {
            (Ok(found), Ok(other)) if certainty(&found) > certainty(&other) => Ok((found, None)),
            (_, Ok(other)) => Ok((other, Some(meant))),
            (found, Err(MemoryError::NamesNothing(_))) => Ok((found?, None)),
            (_, Err(error)) => Err(error),
        }
    }

    /// A query that has a word which nobody knows, or one of courtesy at an end, as it was meant;
    /// `None` where it has none.
    pub fn unknown_words_as_meant(&self, query: &str) -> Option<String> {
        let lower = query.to_lowercase();
        let is_unknown = bare_words(&lower).any(is_unknown);
        if is_unknown || is_courteous(&lower) { self.query_as_meant(query) } else { None }
    }

    /// `None` where it is as it was meant.
    fn query_as_meant(&self, query: &str) -> Option<String> {
        let lower = query.to_lowercase();
        let words: Vec<&str> = bare_words(&lower).collect();
        let may_be_slip = |it: &&str| is_doubtful(it) && !self.is_captioned(it);
        let slips: Vec<&str> = words.iter().copied().filter(may_be_slip).collect();
        let may_be_otherwise = !slips.is_empty() || is_courteous(&lower);
        if !may_be_otherwise || words.len() > 1 && self.is_foreign_query(query) {
            return None;
        }
        let captioned = if slips.is_empty() { BTreeSet::new() } else { self.corpus.phrase_words() };
        let read = words.iter().map(|word| {
            let meant = slips.contains(word).then(|| read_surely(word, &captioned)).flatten();
            meant.unwrap_or_else(|| (*word).to_owned())
        });
        let read: Vec<String> = read.collect();
        let kept = self.without_courtesy(&read);
        (kept != words).then(|| kept.join(" "))
    }

    /// The words without those of courtesy at either end that no caption has, or only apart from
    /// the name beside: "mug robot" where a robot is seen, too.
    fn without_courtesy<'a>(&self, words: &'a [String]) -> &'a [String] {
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        let is_call = |at: &usize| is_polite(word(*at)) || is_small_before(words, *at);
        let is_needless = |at: usize| is_polite(word(at)) && !self.is_captioned(word(at));
        let called = (0..words.len()).take_while(is_call).count();
        // "hey robot red mug", "ok robot the red mug"
        let is_called = GREETINGS.contains(word(0)) || DETERMINERS.contains(word(called));
        let start =
            if is_called { called } else { (0..called).take_while(|at| is_needless(*at)).count() };
        let is_apart = |at: usize| {
            let before = at.checked_sub(1).map_or("", word);
            let stem = lexicon::noun_stem(word(at));
            self.is_captioned(before)
                && !self.corpus.is_part_of_name(&stem, &lexicon::singular(before))
        };
        let is_last = |at: &usize| {
            let before = at.checked_sub(1).map_or("", word);
            let is_left_out = is_polite(word(*at)) && (is_needless(*at) || is_apart(*at));
            !is_left_out || is_name_of_both(before, word(*at))
        };
        let end = (start..words.len()).rev().find(is_last).map_or(start, |at| at + 1);
        let kept = words.get(start..end).unwrap_or_default();
        if kept.iter().any(|it| self.is_captioned(it)) { kept } else { words }
    }
}

/// What a query says after calling somebody: "robot, the red mug".
fn after_call(query: &str) -> &str {
    let Some((call, rest)) = query.split_once(',') else { return query };
    let lower = call.to_lowercase();
    let is_call = bare_words(&lower).all(is_polite) && rest.contains(char::is_alphanumeric);
    if is_call { rest.trim_start() } else { query }
}

/// Whether it may be another word that was meant.
fn is_doubtful(word: &&str) -> bool {
    let is_seldom = || familiarity(word) == Familiarity::Seldom;
    let may_be_another = || is_seldom() || sounding_like(word).next().is_some();
    is_unknown(word) || !is_grammar(word) && may_be_another()
}

/// What a word was meant to be that no caption has: what a caption has, or what the hand slips from:
/// a "Buch" is no buck.
pub(super) fn read_surely(word: &str, captioned: &BTreeSet<String>) -> Option<String> {
    let has = |it: &str| is_among(it, |it| captioned.contains(it));
    let is_seen = |read: &String| read.split(' ').all(has);
    read_as(word, captioned, true).filter(|it| is_seen(it) || is_slip_of_hand(word, it))
}

/// The words of a text without the marks around them.
pub(super) fn bare_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|it| !it.is_empty())
}

/// Whether a text begins or ends with a word that nobody may need.
fn is_courteous(text: &str) -> bool {
    let mut words = bare_words(text);
    let first = words.next();
    first.into_iter().chain(words.last()).any(is_polite)
}

/// Whether a word after another may be what is called by both: the robot of "vacuum robot", which a
/// list has the other way round, or of "toy robot".
fn is_name_of_both(before: &str, word: &str) -> bool {
    let names = |it: &str| is_known_name(&lexicon::singular(it));
    names(word)
        && (!names(before) && !is_polite(before)
            || LIKENESSES.contains(before)
            || is_known_name(&format!("{before} {word}"))
            || is_known_name(&format!("{word} {before}")))
}

/// Whether a word may be one that nobody needs, before or after the name of a thing. A can is one.
fn is_polite(word: &str) -> bool {
    let is_courtesy = COURTESY.contains(word) && !BOUNDARIES.has_tag(word, "thing");
    is_courtesy || GREETINGS.contains(word) || FILLERS.contains(word)
}

/// Whether a determiner stands before a word of courtesy: "hey my robot".
fn is_small_before(words: &[String], at: usize) -> bool {
    let next = words.get(at + 1).map_or("", String::as_str);
    words.get(at).is_some_and(|it| DETERMINERS.contains(it)) && is_polite(next)
}
