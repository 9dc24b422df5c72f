//! Puts right what is a slip of the keys or of the ear in a request: words that English does
//! not have and no caption either are read as the word of a caption, else of English, that
//! was meant; a word that sounds like one of a caption is read as that where no caption has it.
//!
//! Knows no records; the words of their captions come from the corpus.

use std::collections::BTreeSet;

use crate::language::clipping::clipped_from;
use crate::language::everyday_names;
use crate::language::known_words::{Familiarity, familiarity, is_among, is_english, is_no_name};
use crate::language::lexicon;
use crate::language::reference::{Order, Reference, Respelling};
use crate::language::spelling::{find_meant, is_slip_of_hand, is_swap, nearest, sounding_like};
use crate::language::words::{FUNCTION_WORDS, STOP_WORDS};
use crate::memory::episodic::Episodic;

impl Episodic {
    /// Reads the words of a reference that nobody knows as what was meant, and keeps what
    /// was said beside it.
    pub fn respell(&self, reference: &mut Reference) {
        // What a thing is for captions need not say, in whatever words: "something to read" is not red.
        let is_use = reference.is_told_by_use();
        let is_doubtful = |it: &&str| {
            if is_use {
                return !is_english(it);
            }
            familiarity(it) != Familiarity::Common
                || is_no_name(it)
                || lexicon::is_person(it)
                || sounding_like(it).next().is_some()
                || lexicon::of_superlative(it).is_some()
        };
        let words = texts(reference).into_iter().flat_map(|it| it.split(' '));
        let doubtful = words.filter(is_doubtful).filter(|it| !self.is_captioned(it));
        let doubtful: BTreeSet<String> = doubtful.map(str::to_owned).collect();
        if doubtful.is_empty() {
            return;
        }
        let captioned = self.corpus.phrase_words();
        let nouns = texts(reference).into_iter().filter_map(|it| it.rsplit(' ').next());
        let nouns: BTreeSet<String> = nouns.map(str::to_owned).collect();
        for said in doubtful {
            let is_noun = nouns.contains(&said);
            let Some(read) = read_as(&said, &captioned, is_noun) else { continue };
            for text in texts(reference) {
                replace(text, &said, &read);
            }
            reference.respelled.push(Respelling { said, read });
        }
    }

    /// Whether captions have a word in one of its forms, "knives" for "knife".
    pub fn is_captioned(&self, word: &str) -> bool {
        is_among(word, |it| self.corpus.has_phrase_word(it))
    }
}

/// Letters that either of two words has at least which were written as one: "redmug".
const JOINED_LETTERS_MIN: usize = 3;

/// What a word that no caption has was meant to be: of the captions' words one that sounds
/// the same or that it is a slip away from, else one of what people own, else an English one; of
/// several as near the one that captions call otherwise. A seldom word is read as one of the
/// captions' where the hand slips so. What English has is clipped from a longer name only as the noun
/// of a phrase: a sun hat is no sunglasses hat.
pub(super) fn read_as(said: &str, captioned: &BTreeSet<String>, is_noun: bool) -> Option<String> {
    // "Something that keeps it cold" has no hat, and what one could sit on is not cold.
    if STOP_WORDS.contains(said) || FUNCTION_WORDS.contains(said) {
        return None;
    }
    // Captions compare nothing.
    if let Some(adjective) = lexicon::of_superlative(said) {
        return Some(adjective);
    }
    let words = || captioned.iter().map(String::as_str);
    let likely = |near: Vec<&'static str>| {
        let is_only = near.len() == 1;
        let mut seen = near.into_iter().filter(|it| is_only || is_seen_otherwise(it, captioned));
        seen.next().filter(|_| seen.next().is_none())
    };
    let typed = || {
        find_meant(said, words())
            .or_else(|| likely(nearest(said, everyday_names::words())))
            .or_else(|| likely(nearest(said, lexicon::words().chain(lexicon::names_of_one_word()))))
    };
    let swapped = || {
        let mut meant = words().filter(|it| is_swap(said, it));
        meant.next().filter(|_| meant.next().is_none())
    };
    let slipped = || find_meant(said, words()).filter(|it| is_slip_of_hand(said, it));
    let joined = || {
        let halves = (JOINED_LETTERS_MIN..said.len()).filter_map(|at| said.split_at_checked(at));
        let is_captioned =
            |half: &str| half.len() >= JOINED_LETTERS_MIN && captioned.contains(half);
        let mut both = halves.filter(|(first, last)| is_captioned(first) && is_captioned(last));
        both.next().map(|(first, last)| format!("{first} {last}"))
    };
    // "Ducky" is said to people, too.
    let is_pet_name = |of: &str| lexicon::is_person(said) && said.starts_with(of);
    let clipped = || clipped_from(said, &words()).filter(|it| is_no_name(said) || is_pet_name(it));
    let heard = sounding_like(said).find(|it| captioned.contains(*it));
    let read = heard.or_else(|| match familiarity(said) {
        Familiarity::UnknownShort => swapped().or_else(clipped),
        Familiarity::Unknown => clipped().or_else(typed),
        Familiarity::Seldom => clipped().or_else(slipped),
        Familiarity::Common => clipped().filter(|_| is_noun),
    });
    read.map(str::to_owned).or_else(|| joined().filter(|_| !is_english(said)))
}

/// Whether captions have another name of what is called so: the cushion of a pillow.
fn is_seen_otherwise(word: &str, captioned: &BTreeSet<String>) -> bool {
    let household = lexicon::household_names(word).iter().copied();
    let everyday = everyday_names::other_names(word).map(|it| it.name);
    let mut others = household.chain(lexicon::synonyms(word)).chain(everyday);
    others.any(|name| {
        name.split(' ').all(|it| it != word && is_among(it, |it| captioned.contains(it)))
    })
}

/// What a reference says of things and places.
fn texts(reference: &mut Reference) -> Vec<&mut String> {
    let Reference { thing, for_use, around, without, order, also, .. } = reference;
    let near = match order {
        Some(Order::NearestTo(near)) => Some(near),
        _ => None,
    };
    [thing]
        .into_iter()
        .chain(for_use)
        .chain(around)
        .chain(without)
        .chain(also)
        .chain(near)
        .collect()
}

fn replace(text: &mut String, said: &str, read: &str) {
    let words = text.split(' ').map(|word| if word == said { read } else { word });
    *text = words.collect::<Vec<_>>().join(" ");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_one_of_the_captions_before_any_other() {
        let captioned = [
            "red", "mug", "bottles", "cable", "phone", "cap", "cushion", "dinosaur", "laptop",
            "duck",
        ]
        .map(str::to_owned)
        .into();
        for (said, expect) in [
            ("read", Some("red")),
            ("botles", Some("bottles")),
            ("umbrela", Some("umbrella")),
            ("table", None),
            ("blew", None),
            ("xqzzt", None),
            ("towl", Some("towel")),
            ("houselpant", Some("houseplant")),
            ("cabel", Some("cable")),
            ("pone", Some("phone")),
            ("carp", None),
            ("stoorybook", Some("storybook")),
            ("pllow", Some("pillow")),
            ("cab", None),
            ("the", None),
            ("dino", Some("dinosaur")),
            ("lappy", Some("laptop")),
            ("ducky", Some("duck")),
            ("nurse", None),
            ("smallest", Some("small")),
            ("mgu", Some("mug")),
            ("redmug", Some("red mug")),
            ("gum", None),
        ] {
            assert_eq!(read_as(said, &captioned, true).as_deref(), expect, "{said}");
        }
        let hat = ["hat".to_owned()].into();
        assert_eq!(read_as("that", &hat, false), None, "a word of grammar");
        let cold = ["cold".to_owned()].into();
        assert_eq!(read_as("could", &cold, false), None, "another");
        let shades = ["sunglasses".to_owned()].into();
        assert_eq!(read_as("sun", &shades, true).as_deref(), Some("sunglasses"));
        assert_eq!(read_as("sun", &shades, false), None, "sun hat");
    }

    #[test]
    fn a_word_is_replaced_wherever_the_reference_says_it() {
        let mut reference = Reference {
            thing: "red botle".to_owned(),
            also: vec!["botle rack".to_owned()],
            order: Some(Order::NearestTo("botle".to_owned())),
            ..Reference::default()
        };
        for text in texts(&mut reference) {
            replace(text, "botle", "bottle");
        }
        assert_eq!(reference.thing, "red bottle");
        assert_eq!(reference.also, ["bottle rack"]);
        assert_eq!(reference.order, Some(Order::NearestTo("bottle".to_owned())));
    }
}
