//! Decides whether a caption shows what a query describes: attributes bound to
//! the right thing, synonyms accepted, nothing contradicted.
//!
//! Pure: whether two nouns mean the same is the caller's to say.

use crate::index::mention::{Attribute, AttributeKind, Mention};

/// How well a caption shows the wanted thing; later is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// The thing, nothing against it, but not every attribute is said: "a mug"
    /// for "the red mug".
    Possible,
    /// The thing with all its attributes.
    Shown,
    /// The thing with all its attributes and everything that the query names
    /// around it: "the red mug on the desk".
    InPlace,
}

/// Why a caption counts as showing the wanted thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub certainty: Certainty,
    /// The caption's phrases that matched, the wanted thing first.
    pub matched: Vec<String>,
}

/// Whether `caption` shows the first thing that `wanted` mentions.
///
/// The further things of `wanted` are its surroundings: they raise the
/// certainty and exclude nothing, since a query says more than a caption does
/// ("the book I read on the *train*"). `None` where the thing is not there, or
/// is there with an attribute that excludes the wanted one.
pub fn shows(
    caption: &[Mention],
    wanted: &[Mention],
    same_thing: &dyn Fn(&Mention, &Mention) -> bool,
) -> Option<Evidence> {
    let (target, surroundings) = wanted.split_first()?;
    let (certainty, phrase) = best_fit(caption, target, same_thing)?;
    let mut matched = vec![phrase];
    let mut all_around = true;
    for thing in surroundings {
        match best_fit(caption, thing, same_thing) {
            Some((_, phrase)) if !matched.contains(&phrase) => matched.push(phrase),
            Some(_) => {}
            None => all_around = false,
        }
    }
    let is_in_place = certainty == Certainty::Shown && all_around;
    let certainty = if is_in_place { Certainty::InPlace } else { certainty };
    Some(Evidence { certainty, matched })
}

fn best_fit(
    caption: &[Mention],
    wanted: &Mention,
    same_thing: &dyn Fn(&Mention, &Mention) -> bool,
) -> Option<(Certainty, String)> {
    let fits = caption.iter().filter_map(|seen| {
        let certainty = attributes_fit(&seen.attributes, &wanted.attributes)?;
        same_thing(seen, wanted).then(|| (certainty, seen.phrase.clone()))
    });
    // The first of equals: `max_by_key` would take the last.
    fits.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

/// `None` where a wanted attribute is excluded by one of the same kind.
fn attributes_fit(seen: &[Attribute], wanted: &[Attribute]) -> Option<Certainty> {
    let mut certainty = Certainty::Shown;
    for attribute in wanted {
        if seen.iter().any(|it| it.word == attribute.word) {
            continue;
        }
        // How many there are, and what else a thing is called, differ between
        // captions of one thing: neither excludes.
        let excludes = !matches!(attribute.kind, AttributeKind::Other | AttributeKind::Number);
        if excludes && seen.iter().any(|it| it.kind == attribute.kind) {
            return None;
        }
        if excludes {
            certainty = Certainty::Possible;
        }
    }
    Some(certainty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::mention::mentions;

    fn check(caption: &str, wanted: &str, expect: Option<(Certainty, &[&str])>) {
        let same = |a: &Mention, b: &Mention| {
            let name = |it: &Mention| {
                if it.head_stem == "cup" { "mug".to_owned() } else { it.head_stem.clone() }
            };
            name(a) == name(b)
        };
        let found = shows(&mentions(caption), &mentions(wanted), &same);
        let found = found.map(|it| (it.certainty, it.matched));
        let expect = expect.map(|(c, m)| (c, m.iter().map(|s| (*s).to_owned()).collect()));
        assert_eq!(found, expect, "{wanted:?} in {caption:?}");
    }

    #[test]
    fn attributes_are_bound_to_their_thing() {
        let caption = "a red book next to a blue mug on a desk";
        check(caption, "a red mug", None);
        check(caption, "blue mug", Some((Certainty::InPlace, &["blue mug"])));
        check(caption, "mug", Some((Certainty::InPlace, &["blue mug"])));
    }

    #[test]
    fn synonyms_and_plurals_are_the_same_thing() {
        check(
            "two white cups on a shelf",
            "white mug",
            Some((Certainty::InPlace, &["two white cups"])),
        );
    }

    #[test]
    fn an_unsaid_colour_is_possible_a_different_one_is_not() {
        check("a mug on a desk", "red mug", Some((Certainty::Possible, &["mug"])));
        check("a striped mug on a desk", "red mug", Some((Certainty::Possible, &["striped mug"])));
        check("a green mug on a desk", "red mug", None);
        check("a mug", "coffee mug", Some((Certainty::InPlace, &["mug"])));
    }

    #[test]
    fn surroundings_raise_the_certainty_and_exclude_nothing() {
        let wanted = "the red mug on the desk";
        check(
            "a red mug on a white desk",
            wanted,
            Some((Certainty::InPlace, &["red mug", "white desk"])),
        );
        check("a red mug on a sofa", wanted, Some((Certainty::Shown, &["red mug"])));
    }

    #[test]
    fn the_best_fitting_of_several_decides() {
        check(
            "a mug, a blue mug and a red mug",
            "red mug",
            Some((Certainty::InPlace, &["red mug"])),
        );
    }

    #[test]
    fn nothing_named_or_nothing_there_is_not_shown() {
        check("a red mug", "something red", None);
        check("", "red mug", None);
    }
}
