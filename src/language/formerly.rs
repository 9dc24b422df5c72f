//! What only was there, or only usually is: the vase of "the shelf where the vase used to stand",
//! the lamp of "a hook that usually holds a lamp".
//!
//! Pure. By rules over a tagged sentence, as no tag says it.

use std::collections::BTreeSet;

use crate::language::tagged::TaggedSentence;
use crate::language::words::{
    COPULAS, DETERMINERS, HABITUALLY, HOLDING, PLACING, PREPOSITIONS, STOOD, USUAL,
};

/// The heads of what a sentence says was or usually is somewhere.
pub(super) fn formerly(sentence: TaggedSentence<'_>) -> BTreeSet<usize> {
    let past = Past { sentence };
    let words = 0..sentence.words.len();
    words
        .flat_map(|at| {
            [past.used(at), past.stood(at), past.usual(at), past.usual_place(at)].concat()
        })
        .collect()
}

struct Past<'a> {
    sentence: TaggedSentence<'a>,
}

impl Past<'_> {
    /// "there used to be a vase", "where the vase used to stand", "the shelf that used to hold books";
    /// what a rack is used for may be in it.
    fn used(&self, at: usize) -> Vec<usize> {
        if self.word(at) != "used" || self.word(at + 1) != "to" {
            return Vec::new();
        }
        let before = at.checked_sub(1).map_or("", |it| self.word(it));
        let verb = self.word(at + 2);
        match () {
            () if before == "there" => self.sentence.listed_from(at + 3),
            () if HOLDING.contains(verb) && self.is_certain(at) => {
                self.sentence.listed_from(at + 3)
            }
            () if verb == "be" || PLACING.contains(verb) => self.subject(at),
            () => Vec::new(),
        }
    }

    /// "the hook where the keys hung", and no table where a man eats.
    fn stood(&self, at: usize) -> Vec<usize> {
        if self.word(at) != "where" {
            return Vec::new();
        }
        let named = self.sentence.listed_from(at + 1);
        let Some(last) = named.last() else { return Vec::new() };
        let is_passed = |it: &usize| HABITUALLY.contains(self.word(*it)) || self.word(*it) == "had";
        let verb = last + 1 + (last + 1..self.count()).take_while(is_passed).count();
        let is_habit = verb > last + 1 && self.is_placing(verb);
        let is_be = matches!(self.word(verb), "was" | "were");
        let is_past = STOOD.contains(self.word(verb)) && (!is_be || self.ends(verb + 1));
        if is_habit || is_past { named } else { Vec::new() }
    }

    /// "usually holds a lamp", "the lamp usually stands here", "the lamp is usually on the desk".
    fn usual(&self, at: usize) -> Vec<usize> {
        if !HABITUALLY.contains(self.word(at)) {
            return Vec::new();
        }
        let is_be = at.checked_sub(1).is_some_and(|it| COPULAS.contains(self.word(it)));
        let is_somewhere = |at: usize| {
            PREPOSITIONS.contains(self.word(at)) || matches!(self.word(at), "here" | "there")
        };
        match () {
            () if is_be && (is_somewhere(at + 1) || self.is_placing(at + 1)) => {
                self.subject(at - 1)
            }
            () if is_be => Vec::new(),
            () if HOLDING.contains(self.word(at + 1)) => self.sentence.listed_from(at + 2),
            () if self.is_placing(at + 1) && (is_somewhere(at + 2) || self.ends(at + 2)) => {
                self.subject(at)
            }
            () => Vec::new(),
        }
    }

    /// "the bike's usual spot is taken", and no mug in its usual place.
    fn usual_place(&self, at: usize) -> Vec<usize> {
        let is_usual = self.word(at) == "s" && USUAL.contains(self.word(at + 1));
        let owner = at.checked_sub(2).filter(|it| self.sentence.role(*it).is_name());
        owner.filter(|_| is_usual && KEEPING.contains(&self.word(at + 2))).into_iter().collect()
    }

    /// Whether it is a certain thing of which the verb is said, or a relative clause.
    fn is_certain(&self, verb: usize) -> bool {
        let before = verb.checked_sub(1).map_or("", |it| self.word(it));
        let first = (0..verb).map(|it| self.word(it)).find(|it| DETERMINERS.contains(it));
        matches!(before, "that" | "which" | "it")
            || !COPULAS.contains(before) && first.is_some_and(|it| !matches!(it, "a" | "an"))
    }

    /// What a verb is said of, with all that a list joins with it.
    fn subject(&self, verb: usize) -> Vec<usize> {
        let nearest = || self.sentence.heads(0..verb).next_back();
        let subject = self.sentence.subject(verb).or_else(nearest);
        subject.map(|it| self.sentence.listed_until(it)).unwrap_or_default()
    }

    fn is_placing(&self, at: usize) -> bool {
        PLACING.contains(self.word(at)) || COPULAS.contains(self.word(at))
    }

    /// Whether nothing more is said of what was there.
    fn ends(&self, at: usize) -> bool {
        let word = self.word(at);
        let is_time = matches!(word, "before" | "earlier" | "once" | "yesterday" | "previously");
        !word.contains(char::is_alphanumeric) || is_time || COPULAS.contains(word)
    }

    fn count(&self) -> usize {
        self.sentence.words.len()
    }

    fn word(&self, at: usize) -> &str {
        self.sentence.word(at)
    }
}

const KEEPING: &[&str] = &["spot", "place", "position", "corner"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::tests::found;

    fn check(words: &str, expect: &[&str]) {
        assert_eq!(found(words, formerly), expect, "{words}");
    }

    #[test]
    fn what_was_or_usually_is_there_is_not() {
        check("a spot/thing where the vase/thing used to stand", &["vase"]);
        check(
            "there used to be a vase/thing and a clock/thing on/relation the sill/landmark",
            &["vase", "clock"],
        );
        check("the shelf/thing used to hold books/thing", &["books"]);
        check("the hook/thing where the keys/thing hung is empty/attribute/1", &["keys"]);
        check("a table/thing that usually holds a lamp/thing/3", &["lamp"]);
        check("the spot/thing where the bike/thing was", &["bike"]);
        check("the cargo/part bike/thing ' s usual spot/thing is taken", &["bike"]);
        check("a mug/thing in/relation/1 its usual place/thing/2", &[]);
        check("a peg/thing on/relation which the coat/thing usually hangs", &["coat"]);
        check("the lamp/thing is usually on/relation/1 the desk/landmark/4", &["lamp"]);
    }

    #[test]
    fn what_something_is_used_for_or_usually_is_like_may_be_there() {
        check("a rack/thing used to hold wine/thing", &[]);
        check("a knife/thing used to cut bread/thing", &[]);
        check("the door/thing is usually open/attribute/1", &[]);
        check("a room/place where a man/person sleeps/deed/4", &[]);
        check("the room/place where the lamp/thing was lit/attribute/4", &[]);
    }
}
