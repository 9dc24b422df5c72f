//! Clipped words: the dinosaur of "dino", the laptop of "lappy". English clips the end of a word off
//! and may add an -ie or -y to what is left (Marchand, "The Categories and Types of Present-Day
//! English Word-Formation", 1969).
//!
//! Pure. Knows no request and no record.

use crate::language::lexicon::{is_of_body, singular};

/// Letters that are left of a word at least.
const LEFT_MIN: usize = 3;
/// Letters that are clipped off at least: fewer are an ending, but where an -ie takes their place.
const CLIPPED_MIN: usize = 3;
const CLIPPED_BEFORE_IE_MIN: usize = 2;

/// The known word that a word is clipped from; `None` where there is none, or several.
pub(crate) fn clipped_from<'a>(
    word: &str,
    known: &(impl IntoIterator<Item = &'a str> + Clone),
) -> Option<&'a str> {
    let word = singular(word);
    let left = left_of(&word);
    let beginning_with = |left: &str, clipped_min: usize| {
        let is_long = |it: &&str| it.chars().count() >= left.chars().count() + clipped_min;
        let left = left.to_owned();
        let begun = known.clone().into_iter().filter(is_long);
        only(begun.filter(|it| it.starts_with(&left)))
    };
    let is_clipped = word.chars().count() >= LEFT_MIN;
    let clipped = is_clipped.then(|| beginning_with(&word, CLIPPED_MIN)).flatten();
    // A word that is left whole is clipped least: "ducky". A lap is not called "lappy".
    let is_left = |it: &&str| Some(*it) == left && !is_of_body(it);
    let whole = || only(known.clone().into_iter().filter(is_left));
    let least = if word.ends_with("ie") { CLIPPED_BEFORE_IE_MIN } else { CLIPPED_MIN };
    clipped.or_else(whole).or_else(|| beginning_with(left?, least))
}

/// What is left without an -ie or -y and without the consonant that is doubled before it: "lap" of
/// "lappy".
fn left_of(word: &str) -> Option<&str> {
    let left = word.strip_suffix("ie").or_else(|| word.strip_suffix('y'))?;
    let mut letters = left.chars().rev();
    let last = letters.next()?;
    let left = if letters.next() == Some(last) { left.strip_suffix(last)? } else { left };
    (left.chars().count() >= LEFT_MIN).then_some(left)
}

/// The only word of these, be it one or several.
fn only<'a>(words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut found: Option<&str> = None;
    for word in words {
        match found {
            Some(it) if singular(it) != singular(word) => return None,
            _ => found = Some(word),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_word_is_the_one_that_it_is_the_beginning_of() {
        let known = [
            "dinosaur",
            "dinosaurs",
            "microphone",
            "ukulele",
            "lap",
            "laptop",
            "television",
            "duck",
            "duckling",
            "football",
            "plant",
            "planter",
            "mug",
            "wellington",
            "blanket",
        ];
        for (word, expect) in [
            ("mic", Some("microphone")),
            ("mics", Some("microphone")),
            ("lappy", Some("laptop")),
            ("telly", Some("television")),
            ("footie", Some("football")),
            ("ducky", Some("duck")),
            ("wellies", Some("wellington")),
            ("blankie", Some("blanket")),
            ("blanky", None),
            ("mu", None),
            ("muggy", Some("mug")),
            ("", None),
        ] {
            assert_eq!(clipped_from(word, &known), expect, "{word}");
        }
        assert!(matches!(clipped_from("dino", &known), Some("dinosaur" | "dinosaurs")));
        assert_eq!(clipped_from("mic", &["microphone", "microwave"]), None);
    }
}
