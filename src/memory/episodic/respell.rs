//! Puts right what is a slip of the keys or of the ear in a request: words that English does
//! not have and no caption either are read as the word of a caption, else of English, that
//! was meant; a word that sounds like one of a caption is read as that where no caption has it.
//!
//! Knows no records; the words of their captions come from the corpus.

use std::collections::BTreeSet;

use crate::language::clipping::clipped_from;
use crate::language::everyday_names;
use crate::language::lexicon::{self, WORD_LETTERS_MIN};
use crate::language::reference::{Order, Reference, Respelling};
use crate::language::spelling::{find_meant, is_slip_of_hand, is_swap, nearest, sounding_like};
use crate::language::words::{
    BOUNDARIES, COLOURS, COURTESY, DETERMINERS, FOREIGN_WORDS, GREETINGS, MATERIALS, PATTERNS,
    PREPOSITIONS, SIZES, STATES, STOP_WORDS,
};
use crate::memory::episodic::Episodic;

impl Episodic {
    /// Reads the words of a reference that nobody knows as what was meant, and keeps what
    /// was said beside it.
    pub fn respell(&self, reference: &mut Reference) {
        let is_doubtful = |it: &&str| {
            !is_english(it)
                || is_seldom(it)
                || is_no_name(it)
                || is_unknown_short(it)
                || sounding_like(it).next().is_some()
                || lexicon::of_superlative(it).is_some()
        };
        let words = texts(reference).into_iter().flat_map(|it| it.split(' '));
        let doubtful: BTreeSet<String> = words.filter(is_doubtful).map(str::to_owned).collect();
        if doubtful.is_empty() {
            return;
        }
        let captioned = self.corpus.phrase_words();
        for said in doubtful.into_iter().filter(|it| !has(&captioned, it)) {
            let Some(read) = read_as(&said, &captioned) else { continue };
            for text in texts(reference) {
                replace(text, &said, &read);
            }
            reference.respelled.push(Respelling { said, read });
        }
    }
}

impl Episodic {
    /// Leaves out what is said after a name and is none: "the red mug *cheers*".
    pub fn leave_out_words_after(&self, reference: &mut Reference) {
        let Reference { thing, also, ends_at, .. } = reference;
        if ![&*thing].into_iter().chain(also.iter()).any(|it| it.contains(' ')) {
            return;
        }
        let captioned = self.corpus.phrase_words();
        let said = thing.len();
        for name in [&mut *thing].into_iter().chain(also) {
            while let Some(named) = before_afterword(name, &captioned) {
                *name = named.to_owned();
            }
        }
        *ends_at = ends_at.map(|end| end.saturating_sub(said - thing.len()));
    }
}

impl Episodic {
    /// Whether a request is in a language that this memory reads: in a script that its models
    /// know, and neither wholly of words that neither English nor a caption has, nor for a good part
    /// of words that English has not and other languages have in every sentence.
    pub fn reads_request(&self, request: &str) -> bool {
        if !self.reads(request) {
            return false;
        }
        let words = bare_words(request);
        let is_strange = !may_be_english(&words);
        if !is_strange && !words.iter().any(|it| FOREIGN_WORDS.contains(it)) {
            return true;
        }
        let captioned = self.corpus.phrase_words();
        let is_captioned = |it: &String| has(&captioned, it);
        !is_foreign(&words, is_captioned) && (!is_strange || words.iter().any(is_captioned))
    }
}

/// The words of a request in lower case.
fn bare_words(request: &str) -> Vec<String> {
    let lower = request.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| c.is_whitespace() || c == '-');
    let bare = words.map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
    bare.filter(|it| !it.is_empty()).collect()
}

/// Whether most words are no English ones, or half of them, where other languages have several of
/// these in every sentence: "bring mir die rote Tasse".
fn is_foreign(words: &[String], is_captioned: impl Fn(&String) -> bool) -> bool {
    let is_english_article =
        |it: &&String| !matches!(it.as_str(), "a" | "an" | "no") && DETERMINERS.contains(it);
    if words.len() < 3 || words.iter().any(|it| is_english_article(&it)) {
        return false;
    }
    let known = words.iter().filter(|it| FOREIGN_WORDS.contains(it)).count();
    let is_unknown = |it: &&String| {
        !(FOREIGN_WORDS.contains(it) || is_captioned(it) || it.is_ascii() && is_english(it))
    };
    let strange = known + words.iter().filter(is_unknown).count();
    known > 0 && 2 * strange > words.len() || known > 1 && 2 * strange >= words.len()
}

/// Whether a request has an English word, or too few words to say that it has none.
fn may_be_english(words: &[String]) -> bool {
    let long = words.iter().filter(|it| it.chars().count() >= WORD_LETTERS_MIN);
    let is_known = |it: &String| it.is_ascii() && is_english(it);
    words.len() < 3
        || long.clone().count() < 2
        || long.clone().any(is_known)
        || words.iter().any(|it| DETERMINERS.contains(it))
}

/// The name before its last word, where no caption has that word, nothing that a camera sees
/// is called so, and the word before names what captions have.
fn before_afterword<'a>(name: &'a str, captioned: &BTreeSet<String>) -> Option<&'a str> {
    let (named, last) = name.rsplit_once(' ')?;
    let head = named.rsplit(' ').next().unwrap_or(named);
    let is_noun = |word: &str| lexicon::is_name(&lexicon::singular(word));
    let is_afterword = !has(captioned, last) && !is_noun(last);
    // "White" of "white smartphone" names nothing, though there is a noun: the word after it does.
    let is_thing = is_noun(head) && !is_look(head);
    (is_afterword && has(captioned, head) && is_thing).then_some(named)
}

/// Whether a word says how a thing looks: a colour, a material, a pattern, a size or a state.
fn is_look(word: &str) -> bool {
    [&COLOURS, &MATERIALS, &PATTERNS, &SIZES, &STATES].iter().any(|it| it.contains(word))
}

/// Letters that either of two words has at least which were written as one: "redmug".
const JOINED_LETTERS_MIN: usize = 3;

/// What a word that no caption has was meant to be: of the captions' words one that sounds
/// the same or that it is a slip away from, else one of what people own, else an English one; of
/// several as near the one that captions call otherwise. A seldom word is read as one of the
/// captions' where the hand slips so.
pub(super) fn read_as(said: &str, captioned: &BTreeSet<String>) -> Option<String> {
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
    let clipped = || clipped_from(said, &words()).filter(|_| is_no_name(said));
    let read = match sounding_like(said).find(|it| captioned.contains(*it)) {
        Some(heard) => Some(heard),
        None if is_unknown_short(said) => swapped().or_else(clipped),
        None if !is_english(said) => clipped().or_else(typed),
        None if is_seldom(said) => clipped().or_else(slipped),
        None => clipped(),
    };
    read.map(str::to_owned).or_else(|| joined().filter(|_| !is_english(said)))
}

/// Whether captions have another name of what is called so: the cushion of a pillow.
fn is_seen_otherwise(word: &str, captioned: &BTreeSet<String>) -> bool {
    let household = lexicon::household_names(word).iter().copied();
    let everyday = everyday_names::other_names(word).map(|it| it.name);
    let mut others = household.chain(lexicon::synonyms(word)).chain(everyday);
    others.any(|name| name.split(' ').all(|it| it != word && has(captioned, it)))
}

/// Whether a word is an English one that neither texts use nor the names of what people own.
pub(super) fn is_seldom(word: &str) -> bool {
    lexicon::is_seldom(word) && !everyday_names::is_word(word)
}

/// Whether a word names nothing by itself: "dino".
fn is_no_name(word: &str) -> bool {
    let word = lexicon::singular(word);
    word.chars().all(|it| it.is_ascii_lowercase())
        && !STOP_WORDS.contains(&word)
        && !lexicon::is_word(&word)
        && !lexicon::is_name(&word)
        && !lexicon::is_adjective(&word)
        && everyday_names::things(&word).next().is_none()
        && lexicon::household_names(&word).is_empty()
}

/// What a reference says of things and places.
fn texts(reference: &mut Reference) -> Vec<&mut String> {
    let Reference { thing, around, without, order, also, .. } = reference;
    let near = match order {
        Some(Order::NearestTo(near)) => Some(near),
        _ => None,
    };
    [thing].into_iter().chain(around).chain(without).chain(also).chain(near).collect()
}

fn replace(text: &mut String, said: &str, read: &str) {
    let words = text.split(' ').map(|word| if word == said { read } else { word });
    *text = words.collect::<Vec<_>>().join(" ");
}

/// Whether a word is English, or too short or too strange to say that it is not.
pub(super) fn is_english(word: &str) -> bool {
    let is_plain = word.chars().all(|it| it.is_ascii_lowercase());
    if !is_plain || word.len() < WORD_LETTERS_MIN {
        return true;
    }
    let forms = forms(word);
    forms.iter().any(|it| it.len() < WORD_LETTERS_MIN)
        || forms.iter().any(|it| lexicon::is_word(it) || lexicon::is_name(it))
        || forms.iter().any(|it| everyday_names::is_word(it))
        || forms.iter().any(|it| !lexicon::household_names(it).is_empty())
        || forms.iter().any(|it| is_joined(it))
        || lexicon::compared(word).is_some()
}

/// Whether a word is too short to say that it is not English, and yet known to nobody: "mgu", "kyes".
pub(super) fn is_unknown_short(word: &str) -> bool {
    let forms = forms(word);
    let is_known = |it: &String| {
        lexicon::is_word(it)
            || lexicon::is_name(it)
            || lexicon::is_adjective(it)
            || everyday_names::is_word(it)
            || is_grammar(it)
    };
    word.chars().all(|it| it.is_ascii_lowercase())
        && forms.iter().any(|it| it.len() < WORD_LETTERS_MIN)
        && !forms.iter().any(is_known)
}

/// Whether a word stands in one of the closed classes.
pub(super) fn is_grammar(word: &str) -> bool {
    let classes = [&DETERMINERS, &PREPOSITIONS, &BOUNDARIES, &STOP_WORDS, &COURTESY, &GREETINGS];
    classes.iter().any(|it| it.contains(word)) || is_look(word)
}

/// Whether a word is two English ones: "houseplant".
fn is_joined(word: &str) -> bool {
    let halves = (WORD_LETTERS_MIN..word.len()).filter_map(|at| word.split_at_checked(at));
    let is_word = |half: &str| half.len() >= WORD_LETTERS_MIN && lexicon::is_word(half);
    halves.into_iter().any(|(first, last)| is_word(first) && is_word(last))
}

pub(super) fn has(captioned: &BTreeSet<String>, word: &str) -> bool {
    forms(word).iter().any(|it| captioned.contains(it)) || captioned.contains(&format!("{word}s"))
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
            "bollard",
            "rollators",
        ] {
            assert!(is_english(word), "{word}");
        }
        for word in ["botle", "backpck", "moblie", "umbrela"] {
            assert!(!is_english(word), "{word}");
        }
    }

    #[test]
    fn a_word_is_read_as_one_of_the_captions_before_any_other() {
        let captioned =
            ["red", "mug", "bottles", "cable", "phone", "cap", "cushion", "dinosaur", "laptop"]
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
            ("smallest", Some("small")),
            ("mgu", Some("mug")),
            ("redmug", Some("red mug")),
            ("gum", None),
        ] {
            assert_eq!(read_as(said, &captioned).as_deref(), expect, "{said}");
        }
    }

    #[test]
    fn a_request_without_an_english_word_is_not_read() {
        for request in ["donde esta mi paraguas", "où est mon téléphone doré"] {
            assert!(!may_be_english(&bare_words(request)), "{request}");
        }
        for request in ["where r my kees", "bring botle", "the zorg plumbus", "moblie pls", ""] {
            assert!(may_be_english(&bare_words(request)), "{request}");
        }
    }

    #[test]
    fn a_request_with_two_english_words_by_chance_is_foreign_all_the_same() {
        let foreign = |request: &str| is_foreign(&bare_words(request), |_| false);
        for request in [
            "bring mir die rote Tasse",
            "apporte moi la tasse rouge",
            "gib mir den Hammer",
            "dame las llaves",
            "dove sono le chiavi",
            "waar is mijn telefoon",
            "breng me de rode mok",
        ] {
            assert!(foreign(request), "{request}");
        }
        for request in [
            "bring me la croix",
            "bring de mug",
            "die hard dvd please",
            "bring the crème brûlée from la cucina",
            "get el red mug",
            "bring me a du pont lighter",
        ] {
            assert!(!foreign(request), "{request}");
        }
    }

    #[test]
    fn what_follows_a_name_and_names_nothing_is_left_out() {
        let captioned = ["red", "mug", "yellow", "drill"].map(str::to_owned).into();
        let named = |name| before_afterword(name, &captioned);
        assert_eq!(named("red mug cheers"), Some("red mug"));
        assert_eq!(named("yellow drill bit"), None, "a name of its own");
        assert_eq!(named("red cheers"), None);
        assert_eq!(named("yellow smartphone"), None, "a name that no dictionary has");
        assert_eq!(named("red mug"), None);
        assert_eq!(named("cheers"), None);
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
