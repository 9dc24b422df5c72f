//! How well what a caption says of a thing fits what is asked of it.
//!
//! Pure.

use crate::index::mention::words::COLOUR_FAMILIES;
use crate::index::mention::{Attribute, AttributeKind};

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
    let mut fit = Fit::Full;
    for attribute in wanted {
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

/// Whether one eye may see this where another sees that.
fn is_near(a: &Attribute, b: &Attribute) -> bool {
    let holds =
        |family: &&[&str]| family.contains(&a.word.as_str()) && family.contains(&b.word.as_str());
    a.kind == AttributeKind::Colour && COLOUR_FAMILIES.iter().any(holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::mention::mentions;

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
        check("a tea mug", "coffee mug", Some(Fit::Full));
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
