//! How well what a caption says of a thing fits what is asked of it.
//!
//! Pure.

use crate::language::deeds::is_deed_word;
use crate::language::depicted::is_depicted;
use crate::language::guessed::is_guessed;
use crate::language::lexicon;
use crate::language::likeness::is_likeness;
use crate::language::mention::{Attribute, AttributeKind};
use crate::language::naming;
use crate::language::ones::are_told_singly;
use crate::language::part_attribute::{is_hardly_shown, is_most_of_it, told};
use crate::language::words::{SHADES, are_sizes_of_one, is_ordinal, share_family};

/// How surely; later is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// What it is a kind of, and nothing more: "a vessel" for "the red mug".
    Related,
    /// Nothing against it, but nothing of what is asked for is said: "a mug" for "the red
    /// mug".
    Possible,
    /// Some of it is said: "a red mug" for "the small red mug".
    Partial,
    /// All attributes are said.
    Full,
}

/// How well a caption shows the wanted thing; later is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// What the thing is a kind of: "a vessel" for "the red mug". No sighting of it.
    Related,
    /// The thing, nothing against it, but none of its attributes is said: "a mug" for "the
    /// red mug"; or what may hold it, or is alike: "a milk carton" for "milk".
    Possible,
    /// The thing with some of its attributes, or a kind of it: "a backpack" for "a bag".
    Partial,
    /// The thing with all its attributes.
    Shown,
    /// The thing with all its attributes and everything that the query names
    /// around it: "the red mug on the desk".
    InPlace,
}

impl Certainty {
    /// Probability that a caption shows what is asked for which fits it this well, if the
    /// caption is true. `is_verbatim`: it has all words that were asked for, and no others
    /// that mean the same.
    ///
    /// Shares of right answers in narrations, long captions and captions of photographs
    /// (`benches/language/README.md`, "How sure").
    pub fn probability(self, is_verbatim: bool) -> f32 {
        match self {
            Self::Related | Self::Possible => 0.1,
            Self::Shown | Self::InPlace if is_verbatim => 0.95,
            Self::Partial | Self::Shown | Self::InPlace => 0.85,
        }
    }
}

/// `None` where a wanted attribute is excluded by one of the same kind.
pub fn fit(seen: &[Attribute], wanted: &[Attribute]) -> Option<Fit> {
    let of_name = fit_of_name(seen, wanted)?;
    if wanted.iter().any(|it| is_opposed(seen, it)) {
        return None;
    }
    let is_how = |it: &Attribute| it.kind != AttributeKind::Number && !is_deed_word(&it.word);
    if are_told_singly(seen) && wanted.iter().any(is_how) {
        return None;
    }
    let is_compound = wanted.iter().any(|it| it.kind == AttributeKind::Compound);
    let mut some = is_compound && of_name > Fit::Possible;
    let mut all = of_name == Fit::Full;
    let mut is_done = true;
    let said = wanted.iter().filter(|it| it.kind != AttributeKind::Compound);
    for attribute in said {
        if seen.iter().any(|it| says(it, &attribute.word)) {
            some |= attribute.kind != AttributeKind::Number;
            continue;
        }
        if let Some(shade) = shade(attribute) {
            match seen.iter().find_map(self::shade) {
                Some(said) if said == shade => continue,
                Some(_) => return None,
                None => {}
            }
        }
        // How many there are differs between captions of one thing.
        if attribute.kind == AttributeKind::Number {
            continue;
        }
        if is_deed_word(&attribute.word) {
            is_done = false;
            continue;
        }
        // What else is said of a thing excludes nothing but its opposite.
        if attribute.kind == AttributeKind::Other {
            if has_other_part(seen, attribute) {
                return None;
            }
            all = false;
            continue;
        }
        if seen.iter().any(|it| says_of_most(it, attribute)) {
            some = true;
            all = false;
            continue;
        }
        let mut of_kind = seen.iter().filter(|it| it.kind == attribute.kind).peekable();
        if of_kind.peek().is_some() && !of_kind.any(|it| is_near(it, attribute)) {
            return None;
        }
        all = false;
    }
    Some(match (all, some) {
        _ if is_depicted(seen) || is_guessed(seen) || is_hardly_shown(seen) => Fit::Possible,
        _ if is_likeness(seen) && !is_likeness(wanted) => Fit::Possible,
        // A loaf beside somebody who cuts wood may be another than the one that is cut.
        _ if !is_done => Fit::Possible,
        (true, _) => Fit::Full,
        (false, true) => Fit::Partial,
        (false, false) => Fit::Possible,
    })
}

/// How well one name fits another: "bottle" may be a washing up liquid bottle, "liquid
/// bottle" is fit by one, and a sunflower oil bottle is none.
fn fit_of_name(seen: &[Attribute], wanted: &[Attribute]) -> Option<Fit> {
    let is_within = |these: &[Attribute], those: &[Attribute]| {
        let mut words = these.iter().filter(|it| it.kind == AttributeKind::Compound);
        words.all(|word| those.iter().any(|it| is_one_part(it, &word.word)))
    };
    if is_within(wanted, seen) {
        return Some(Fit::Full);
    }
    let is_bare = !seen.iter().any(|it| it.kind == AttributeKind::Compound);
    let part = if is_bare { Fit::Possible } else { Fit::Partial };
    is_within(seen, wanted).then_some(part)
}

/// Whether what is said of a thing has a part of its name: woolly of a woolly hat.
pub(crate) fn has_part(said: &[Attribute], part: &Attribute) -> bool {
    said.iter().any(|it| it == part || is_one_part(it, &part.word))
}

/// Whether an attribute says the same as a word, perhaps by another form of it: "starry" of
/// "starred".
pub fn says(attribute: &Attribute, word: &str) -> bool {
    attribute.word == word || lexicon::are_of_one_noun(&attribute.word, word)
}

/// Whether an attribute is a part of a name, or one that means the same: "elevator" of "lift
/// door". What is written on a sign is its name: "a sign that reads exit".
fn is_one_part(attribute: &Attribute, part: &str) -> bool {
    let is_same = attribute.word == part;
    let is_alike = || is_same || lexicon::are_synonyms(&attribute.word, part);
    let is_of = || attribute.word == naming::attribute(part).word;
    attribute.kind == AttributeKind::Compound && is_alike()
        || attribute.kind == AttributeKind::Material && is_of()
        || attribute.kind == AttributeKind::Other && is_same
        || lexicon::base_noun(&attribute.word).is_some_and(|it| it == part)
}

/// Whether the opposite is said and not the thing itself: left for right. What is told by its kind
/// is left to that.
fn is_opposed(seen: &[Attribute], wanted: &Attribute) -> bool {
    let is_plain =
        |it: &Attribute| matches!(it.kind, AttributeKind::Other | AttributeKind::Compound);
    let is_said = |it: &Attribute| it.word == wanted.word;
    // The second mug is not the third.
    let is_other_rank = |it: &Attribute| is_ordinal(&it.word) && is_ordinal(&wanted.word);
    let is_opposite = |it: &Attribute| {
        is_plain(it) && (is_other_rank(it) || lexicon::are_opposite(&it.word, &wanted.word))
    };
    is_plain(wanted) && !seen.iter().any(is_said) && seen.iter().any(is_opposite)
}

/// Whether the thing's part is said to be another than the wanted one: red-handled for blue-handled.
fn has_other_part(seen: &[Attribute], wanted: &Attribute) -> bool {
    let Some((wanted, part)) = told(&wanted.word) else { return false };
    let of_part = seen.iter().filter_map(|it| told(&it.word)).filter(|(_, it)| *it == part);
    let mut of_kind = of_part
        .map(|(said, _)| said)
        .filter(|it| it.kind == wanted.kind && it.kind != AttributeKind::Other)
        .peekable();
    of_kind.peek().is_some() && !of_kind.any(|it| is_near(&it, &wanted))
}

/// Whether a wanted colour is that of the part that is most of the thing: blue of blue-framed glasses.
fn says_of_most(seen: &Attribute, wanted: &Attribute) -> bool {
    told(&seen.word).is_some_and(|(said, part)| said == *wanted && is_most_of_it(part))
}

/// Which of two opposite shades an attribute says: dark of "a dark green mug".
fn shade(attribute: &Attribute) -> Option<&'static str> {
    SHADES.value(&attribute.word).filter(|_| attribute.kind == AttributeKind::Other)
}

/// Whether one eye may see this where another sees that.
fn is_near(a: &Attribute, b: &Attribute) -> bool {
    a.kind == AttributeKind::Colour && share_family(&a.word, &b.word)
        || a.kind == AttributeKind::Size && are_sizes_of_one(&a.word, &b.word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::mention::mentions;

    fn check(seen: &str, wanted: &str, expect: Option<Fit>) {
        let attributes = |text| mentions(text).remove(0).attributes;
        assert_eq!(fit(&attributes(seen), &attributes(wanted)), expect, "{wanted} in {seen}");
    }

    #[test]
    fn what_is_said_fits_what_is_not_is_possible_what_contradicts_is_not() {
        check("a red mug", "red mug", Some(Fit::Full));
        check("a small red mug", "red mug", Some(Fit::Full));
        check("a mug", "red mug", Some(Fit::Possible));
        check("a striped mug", "red mug", Some(Fit::Possible));
        check("a blue mug", "red mug", None);
        check("a metal red mug", "a ceramic red mug", None);
        check("an open door", "a closed door", None);
    }

    #[test]
    fn a_likeness_is_hardly_the_thing() {
        check("a yellow toy excavator", "excavator", Some(Fit::Possible));
        check("a yellow toy excavator", "toy excavator", Some(Fit::Full));
        check("an excavator", "toy excavator", Some(Fit::Possible));
    }

    #[test]
    fn numbers_and_other_words_exclude_nothing() {
        check("two mugs", "three mugs", Some(Fit::Full));
        check("a cozy mug", "shiny mug", Some(Fit::Possible));
        check("a shiny mug", "shiny mug", Some(Fit::Full));
        check("a bowl", "mixing bowl", Some(Fit::Possible));
    }

    #[test]
    fn the_nouns_of_a_name_count() {
        check("the dish soap bottle", "sunflower oil bottle", None);
        check("a kitchen towel", "tea towel", None);
        check("a yogurt pot lid", "tupperware lid", None);
        check("a green sunflower oil bottle", "oil bottle", Some(Fit::Full));
        check("a sunflower oil bottle", "bottle", Some(Fit::Full));
        check("a bottle", "sunflower oil bottle", Some(Fit::Possible));
        check("an oil bottle", "sunflower oil bottle", Some(Fit::Partial));
        check("a tea mug", "coffee mug", None);
        check("an elevator door", "lift door", Some(Fit::Full));
        check("a television stand", "tv stand", Some(Fit::Full));
        check("a box marked fragile", "a box labelled fragile", Some(Fit::Full));
        check("a box", "a box marked fragile", Some(Fit::Possible));
        check("a box marked toys", "a box marked fragile", None);
        check("a mug labeled best dad", "a mug", Some(Fit::Full));
        check("a sign that reads caution wet floor", "sign that says wet floor", Some(Fit::Full));
        check(
            "a sign that reads room 214",
            "a sign that reads kitchen room 214",
            Some(Fit::Partial),
        );
        check("a sign that reads exit", "the wet floor sign", None);
        let words = |words: &[(&str, AttributeKind)]| -> Vec<Attribute> {
            words
                .iter()
                .map(|(word, kind)| Attribute { word: (*word).to_owned(), kind: *kind })
                .collect()
        };
        let written = words(&[("green", AttributeKind::Colour), ("exit", AttributeKind::Other)]);
        let wanted = words(&[("exit", AttributeKind::Compound)]);
        assert_eq!(fit(&written, &wanted), Some(Fit::Full));
    }

    #[test]
    fn forms_and_spellings_of_a_word_say_the_same() {
        check("a starred bag", "a starry bag", Some(Fit::Full));
        check("a starry bag", "a star bag", Some(Fit::Full));
        check("a striped towel", "a stripy towel", Some(Fit::Full));
        check("a dotted scarf", "a polka dot scarf", Some(Fit::Full));
        check("a gray tire", "a grey tyre", Some(Fit::Full));
        check("an aluminum ladder", "an aluminium ladder", Some(Fit::Full));
        check("a striped scarf", "a spotty scarf", None);
        check("a striped scarf", "a spotted scarf", None);
        check("a polka dot scarf", "the blue spotted scarf", Some(Fit::Partial));
        check("a mug", "the mug spotted yesterday", Some(Fit::Full));
    }

    #[test]
    fn what_says_some_of_it_fits_better_than_what_says_nothing() {
        check("a yellow bottle", "yellow drinks bottle", Some(Fit::Partial));
        check("a bottle", "yellow drinks bottle", Some(Fit::Possible));
        check("a drinks bottle", "yellow drinks bottle", Some(Fit::Partial));
        check("a red mug", "small red mug", Some(Fit::Partial));
        check("a striped mug", "small red mug", Some(Fit::Possible));
        check("two mugs", "two red mugs", Some(Fit::Possible));
    }

    #[test]
    fn opposite_shades_exclude_each_other() {
        check("a light green mug", "dark green mug", None);
        check("a pale blue mug", "light blue mug", Some(Fit::Full));
        check("a dark green mug", "dark green mug", Some(Fit::Full));
        check("a green mug", "dark green mug", Some(Fit::Partial));
    }

    #[test]
    fn what_is_said_excludes_its_opposite() {
        check("the left shoe", "right shoe", None);
        check("a left shoe", "left shoe", Some(Fit::Full));
        check("a shoe", "the right shoe", Some(Fit::Possible));
        check("the upper cupboard", "lower cupboard", None);
        check("a female mannequin", "a male mannequin", None);
        check("a round table", "square table", None);
        check("an acoustic guitar", "an electric guitar", None);
        check("a garage door", "the front door", None);
        check("a bottle opener", "a can opener", None);
        check("the second mug", "the third mug", None);
        check("the first mug", "the fifth mug", None);
        check("the second mug", "the second mug", Some(Fit::Full));
        check("a mug", "the third mug", Some(Fit::Possible));
    }

    #[test]
    fn a_part_of_which_another_is_said_is_another_ones() {
        check("a mug with a red handle", "mug with a red handle", Some(Fit::Full));
        check("a mug with a red handle", "mug with a blue handle", None);
        check("a mug with a red handle", "red mug", Some(Fit::Possible));
        check("a mug with a maroon handle", "mug with a red handle", Some(Fit::Possible));
        check("a long-sleeved shirt", "short-sleeved shirt", None);
        check("a mug", "mug with a red handle", Some(Fit::Possible));
        check("blue-framed glasses", "blue glasses", Some(Fit::Partial));
        check("red-handled mug", "red mug", Some(Fit::Possible));
    }

    #[test]
    fn of_several_colours_any_may_fit() {
        check("a red and white mug", "white mug", Some(Fit::Full));
        check("a red and white mug", "blue mug", None);
    }

    #[test]
    fn only_opposite_sizes_exclude_each_other() {
        check("a huge bear", "giant bear", Some(Fit::Possible));
        check("a tall vase", "big vase", Some(Fit::Possible));
        check("a small bear", "giant bear", None);
        check("a short ladder", "long ladder", None);
    }

    #[test]
    fn colours_of_a_family_are_possible() {
        check("a maroon mug", "red mug", Some(Fit::Possible));
        check("a navy blue mug", "blue mug", Some(Fit::Full));
        check("a turquoise mug", "green mug", Some(Fit::Possible));
        check("a navy mug", "green mug", None);
    }
}
