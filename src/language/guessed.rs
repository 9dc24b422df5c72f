//! What a caption only guesses: the helmet of "what may be a bicycle helmet", the fig of "a plant,
//! possibly a fig".
//!
//! Pure. By rules over a tagged sentence, as no tag says it. What "seems to be" or "looks like" a thing
//! is none of these: captioners say so of most that they see.

use std::collections::BTreeSet;

use crate::language::mention::{Attribute, Mention};
use crate::language::part_attribute::marked;
use crate::language::tagged::{TaggedSentence, WordRole};

/// The heads of what a sentence only guesses; not of rooms, for which a guess is better than nothing.
pub(super) fn guessed(sentence: TaggedSentence<'_>) -> BTreeSet<usize> {
    let named = (0..sentence.words.len()).flat_map(|at| match sentence.word(at) {
        "maybe" | "perhaps" | "possibly" | "conceivably" => sentence.listed_from(at + 1),
        "may" | "might" | "could" if sentence.word(at + 1) == "be" => sentence.listed_from(at + 2),
        _ => Vec::new(),
    });
    named.filter(|it| sentence.role(*it) != WordRole::Place).collect()
}

/// The same thing, as one that is only guessed.
pub(super) fn as_guessed(thing: &Mention) -> Mention {
    marked(thing.clone(), GUESSED)
}

/// Whether what is said of a thing says that it is only guessed.
pub(super) fn is_guessed(said: &[Attribute]) -> bool {
    said.iter().any(|it| it.word == GUESSED)
}

/// Said of what is only guessed, and by no caption.
const GUESSED: &str = "only guessed";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::tests::found;

    fn check(words: &str, expect: &[&str]) {
        assert_eq!(found(words, guessed), expect, "{words}");
    }

    #[test]
    fn what_may_be_there_is_guessed_and_what_is_said_beside_it_is_not() {
        check(
            "what may be a bicycle/part/5 helmet/thing hangs/deed/5 beside a scarf/landmark",
            &["helmet"],
        );
        check("a tall plant/thing , possibly a fig/thing , in a pot/landmark", &["fig"]);
        check(
            "a pen/thing , or maybe a thermometer/thing , on the blanket/landmark",
            &["thermometer"],
        );
        check("something that might be a cat/thing or a dog/thing", &["cat", "dog"]);
        check("perhaps a tall/attribute/3 man/person is on the sofa/landmark", &["man"]);
    }

    #[test]
    fn rooms_deeds_and_what_is_said_of_a_thing_are_no_guesses() {
        check("a sofa/thing in what could be a living/part/8 room/place", &[]);
        check("the lamp/thing may be broken/attribute/1", &[]);
        check("a dog/thing could be heard/deed/1 behind the door/landmark", &[]);
        check("what looks like a kettle/thing", &[]);
    }
}
