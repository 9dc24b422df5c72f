//! How well what a caption says of a thing fits what is asked of it.
//!
//! Pure.

use crate::language::mention::{Attribute, AttributeKind};
use crate::language::words::share_family;

/// How surely; later is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Nothing against it, but not every attribute is said: "a mug" for "the red mug".
    Possible,
    /// All attributes are said.
    Full,
}

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

/// `None` where a wanted attribute is excluded by one of the same kind.
pub fn fit(seen: &[Attribute], wanted: &[Attribute]) -> Option<Fit> {
    let mut fit = fit_of_name(seen, wanted)?;
    let said = wanted.iter().filter(|it| it.kind != AttributeKind::Compound);
    for attribute in said {
        if seen.iter().any(|it| it.word == attribute.word) {
            continue;
        }
        // How many there are, and what else a thing is called, differ between
        // captions of one thing: neither excludes.
        if matches!(attribute.kind, AttributeKind::Other | AttributeKind::Number) {
            continue;
        }
        let mut of_kind = seen.iter().filter(|it| it.kind == attribute.kind).peekable();
        if of_kind.peek().is_some() && !of_kind.any(|it| is_near(it, attribute)) {
            return None;
        }
        fit = Fit::Possible;
    }
    Some(fit)
}

/// How well one name fits another: "bottle" may be a washing up liquid bottle, "liquid
/// bottle" is fit by one, and a sunflower oil bottle is none.
fn fit_of_name(seen: &[Attribute], wanted: &[Attribute]) -> Option<Fit> {
    let is_within = |these: &[Attribute], those: &[Attribute]| {
        let mut words = these.iter().filter(|it| it.kind == AttributeKind::Compound);
        words.all(|it| those.contains(it))
    };
    if is_within(wanted, seen) {
        Some(Fit::Full)
    } else {
        is_within(seen, wanted).then_some(Fit::Possible)
    }
}

/// Whether one eye may see this where another sees that.
fn is_near(a: &Attribute, b: &Attribute) -> bool {
    a.kind == AttributeKind::Colour && share_family(&a.word, &b.word)
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
    fn numbers_and_other_words_exclude_nothing() {
        check("two mugs", "three mugs", Some(Fit::Full));
        check("a cozy mug", "shiny mug", Some(Fit::Full));
    }

    #[test]
    fn the_nouns_of_a_name_count() {
        check("the dish soap bottle", "sunflower oil bottle", None);
        check("a kitchen towel", "tea towel", None);
        check("a yogurt pot lid", "tupperware lid", None);
        check("a green sunflower oil bottle", "oil bottle", Some(Fit::Full));
        check("a sunflower oil bottle", "bottle", Some(Fit::Full));
        check("a bottle", "sunflower oil bottle", Some(Fit::Possible));
        check("an oil bottle", "sunflower oil bottle", Some(Fit::Possible));
        check("a tea mug", "coffee mug", None);
    }

    #[test]
    fn of_several_colours_any_may_fit() {
        check("a red and white mug", "white mug", Some(Fit::Full));
        check("a red and white mug", "blue mug", None);
    }

    #[test]
    fn colours_of_a_family_are_possible() {
        check("a maroon mug", "red mug", Some(Fit::Possible));
        check("a navy blue mug", "blue mug", Some(Fit::Full));
        check("a turquoise mug", "green mug", Some(Fit::Possible));
        check("a navy mug", "green mug", None);
    }
}
