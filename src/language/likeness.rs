//! Toys by what they are made as: a stuffed rabbit, a plush one and a toy rabbit are one thing in
//! other words, and a stuffed pepper is no toy.
//!
//! Pure.

use crate::language::lexicon;
use crate::language::mention::{Attribute, AttributeKind};
use crate::language::words::LIKENESSES;

/// What is said of an animal with this name, of which it is said that it is stuffed, as of a toy.
/// What a dictionary knows by both words stays as it is: stuffed animals.
pub(super) fn as_toy(said: Vec<Attribute>, head: &str) -> Vec<Attribute> {
    let one = lexicon::singular(head);
    if !said.iter().any(is_soft) || one == "animal" || !lexicon::descends_from(&one, "animal") {
        return said;
    }
    let mut as_toy: Vec<Attribute> = Vec::with_capacity(said.len());
    for it in said {
        let is_toy = is_soft(&it);
        let it = if is_toy { toy() } else { it };
        if !as_toy.contains(&it) {
            as_toy.push(it);
        }
    }
    as_toy
}

/// Whether what is said of a thing says that it is only a likeness of one: a toy, a model.
pub fn is_likeness(said: &[Attribute]) -> bool {
    said.iter().any(|it| LIKENESSES.contains(&it.word) && !is_soft(it))
}

fn is_soft(said: &Attribute) -> bool {
    LIKENESSES.has_tag(&said.word, "animal")
}

fn toy() -> Attribute {
    Attribute { word: "toy".to_owned(), kind: AttributeKind::Compound }
}

#[cfg(test)]
mod tests {
    use crate::language::fit::{Fit, fit};
    use crate::language::mention::mentions;

    fn check(seen: &str, wanted: &str, expect: Option<Fit>) {
        let said = |text| mentions(text).remove(0).attributes;
        assert_eq!(fit(&said(seen), &said(wanted)), expect, "{wanted} in {seen}");
    }

    #[test]
    fn a_stuffed_animal_is_a_toy() {
        for toy in ["a stuffed rabbit", "a toy rabbit", "a plush rabbit", "a cuddly rabbit"] {
            check(toy, "a rabbit", Some(Fit::Possible));
            check(toy, "a stuffed rabbit", Some(Fit::Full));
            check(toy, "a toy rabbit", Some(Fit::Full));
            check("a rabbit", toy, Some(Fit::Possible));
        }
        check("a stuffed plush toy rabbit", "a plush rabbit", Some(Fit::Full));
        check("a brown stuffed rabbit", "a white toy rabbit", None);
    }

    #[test]
    fn a_stuffed_pepper_is_a_pepper() {
        check("a stuffed pepper", "a pepper", Some(Fit::Full));
        check("a plush carpet", "a carpet", Some(Fit::Full));
    }
}
