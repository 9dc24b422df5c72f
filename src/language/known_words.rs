//! Which words English has, in any of their forms, and which names are known: by the dictionary, by
//! the lists of names and by the closed classes.
//!
//! Pure.

use crate::language::everyday_names;
use crate::language::lexicon::{self, WORD_LETTERS_MIN};
use crate::language::words::{
    BOUNDARIES, COLOURS, COURTESY, DETERMINERS, GREETINGS, MATERIALS, PATTERNS, PLACEHOLDERS,
    PREPOSITIONS, SIZES, STATES, STOP_WORDS,
};

/// How well a word is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Familiarity {
    /// English, or too short or too strange to say that it is not.
    Common,
    /// English that neither texts use nor the names of what people own: "pone".
    Seldom,
    /// Too short to say that it is not English, and yet known to nobody: "mgu", "kyes".
    UnknownShort,
    /// Not English: "botle".
    Unknown,
}

/// How well a word in lower case is known.
pub(crate) fn familiarity(word: &str) -> Familiarity {
    let forms = forms(word);
    let is_known = |it: &String| is_listed(it) || everyday_names::is_word(it);
    let says = |it: &String| is_known(it) || lexicon::is_adjective(it) || is_grammar(it);
    let is_short = forms.iter().any(|it| it.len() < WORD_LETTERS_MIN);
    match () {
        () if lexicon::is_seldom(word) && !everyday_names::is_word(word) => Familiarity::Seldom,
        () if !is_plain(word) => Familiarity::Common,
        () if is_short && !forms.iter().any(says) => Familiarity::UnknownShort,
        () if is_short || forms.iter().any(|it| is_known(it) || is_joined(it)) => {
            Familiarity::Common
        }
        () if lexicon::is_frequent(word) || PLACEHOLDERS.contains(word) => Familiarity::Common,
        // "galvanised", "stripy"
        () if forms.iter().skip(1).any(|it| lexicon::is_verb(it)) => Familiarity::Common,
        () if lexicon::compared(word).is_some() => Familiarity::Common,
        () if lexicon::base_noun(word).is_some() => Familiarity::Common,
        () => Familiarity::Unknown,
    }
}

/// Whether a word is English, or too short or too strange to say that it is not.
pub(crate) fn is_english(word: &str) -> bool {
    familiarity(word) != Familiarity::Unknown
}

/// Whether a word is one that nobody knows.
pub(crate) fn is_unknown(word: &str) -> bool {
    !is_grammar(word)
        && matches!(familiarity(word), Familiarity::Unknown | Familiarity::UnknownShort)
}

/// Whether a word, known or not, names and says nothing by itself: "dino" stands in names alone.
pub(crate) fn is_no_name(word: &str) -> bool {
    let word = lexicon::singular(word);
    is_plain(&word)
        && !STOP_WORDS.contains(&word)
        && !is_listed(&word)
        && !lexicon::is_adjective(&word)
        && !lexicon::is_frequent(&word)
        && everyday_names::things(&word).next().is_none()
}

/// Whether the dictionary or the list of everyday names has this as the name of a thing: "washing
/// machine".
pub(crate) fn is_known_name(name: &str) -> bool {
    lexicon::is_name(name) || everyday_names::other_names(name).next().is_some()
}

/// Whether two nouns are surely names of one thing: a couch, a sofa; a thermos, which is a thermos
/// flask, a flask. Secateurs are a kind of scissors, and others.
pub(crate) fn are_names_of_one(one: &str, other: &str) -> bool {
    let calls = |one: &str, other: &str| {
        let mut names = everyday_names::other_names(one).filter(|it| it.is_sure);
        names.any(|it| it.name == other || it.name == format!("{one} {other}"))
    };
    one == other || lexicon::are_synonyms(one, other) || calls(one, other) || calls(other, one)
}

/// Whether the dictionary has a word, as a name or otherwise.
pub(crate) fn is_in_dictionary(word: &str) -> bool {
    lexicon::is_word(word) || lexicon::is_name(word)
}

/// Whether a word stands in one of the closed classes.
pub(crate) fn is_grammar(word: &str) -> bool {
    let classes = [&DETERMINERS, &PREPOSITIONS, &BOUNDARIES, &STOP_WORDS, &COURTESY, &GREETINGS];
    classes.iter().any(|it| it.contains(word)) || is_look(word)
}

/// Whether a word says how a thing looks: a colour, a material, a pattern, a size or a state.
pub(crate) fn is_look(word: &str) -> bool {
    [&COLOURS, &MATERIALS, &PATTERNS, &SIZES, &STATES].iter().any(|it| it.contains(word))
}

/// Whether one of the forms of a word is among others: "mugs" where these have mug.
pub(crate) fn is_among(word: &str, others_have: impl Fn(&str) -> bool) -> bool {
    forms(word).iter().any(|it| others_have(it)) || others_have(&format!("{word}s"))
}

fn is_plain(word: &str) -> bool {
    word.chars().all(|it| it.is_ascii_lowercase())
}

/// Whether the dictionary or the list of household things has a word.
fn is_listed(word: &str) -> bool {
    is_in_dictionary(word) || !lexicon::household_names(word).is_empty()
}

/// Whether a word is two English ones: "houseplant".
fn is_joined(word: &str) -> bool {
    let halves = (WORD_LETTERS_MIN..word.len()).filter_map(|at| word.split_at_checked(at));
    let is_word = |half: &str| half.len() >= WORD_LETTERS_MIN && lexicon::is_word(half);
    halves.into_iter().any(|(first, last)| is_word(first) && is_word(last))
}

/// A word and what it may be a form of: "knives" of "knife", "mugs" of "mug".
fn forms(word: &str) -> Vec<String> {
    let endings = [
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ves", "f"),
        ("ves", "fe"),
        ("ed", ""),
        ("ed", "e"),
        ("ing", ""),
        ("ing", "e"),
    ];
    let of = |(ending, base): (&str, &str)| Some(format!("{}{base}", word.strip_suffix(ending)?));
    [word.to_owned()].into_iter().chain(endings.into_iter().filter_map(of)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sure_names_are_of_one_thing_and_kinds_are_not() {
        assert!(are_names_of_one("flask", "thermos") && are_names_of_one("sofa", "couch"));
        assert!(are_names_of_one("mug", "mug"));
        assert!(!are_names_of_one("scissors", "secateurs"));
        assert!(!are_names_of_one("glasses", "sunglasses") && !are_names_of_one("mug", "lamp"));
    }

    #[test]
    fn forms_of_english_words_are_english_and_slips_are_not() {
        for word in [
            "bottle",
            "trowel",
            "knives",
            "mugs",
            "batteries",
            "striped",
            "mug",
            "tv",
            "houseplants",
            "clicker",
            "galvanised",
            "stripy",
            "starry",
            "bollard",
            "rollators",
            "recipe",
        ] {
            assert!(is_english(word), "{word}");
        }
        for word in ["botle", "backpck", "moblie", "umbrela"] {
            assert!(!is_english(word), "{word}");
        }
    }

    #[test]
    fn how_well_a_word_is_known_is_told() {
        use Familiarity::{Common, Seldom, Unknown, UnknownShort};
        for (word, expect) in [
            ("mug", Common),
            ("crème", Common),
            ("pone", Seldom),
            ("mgu", UnknownShort),
            ("kyes", UnknownShort),
            ("moblie", Unknown),
        ] {
            assert_eq!(familiarity(word), expect, "{word}");
        }
    }

    #[test]
    fn a_word_is_found_among_others_in_any_of_its_forms() {
        let among = |word: &str| is_among(word, |it| ["knife", "mugs", "red"].contains(&it));
        assert!(among("knives") && among("mug") && among("mugs") && among("red"));
        assert!(!among("rose"));
    }
}
