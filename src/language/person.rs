//! Who is somebody, and what the word for a person tells of them: a mother is no man, a plumber no
//! nurse.
//!
//! Pure.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::words::{SEXES, is_people};
use crate::language::{everyday_names, lexicon};

/// Whether it is somebody: by a word for people, by a trade, or as people are called at home.
pub fn is_person(mention: &Mention) -> bool {
    let word = lexicon::singular(&mention.head);
    is_people(&mention.head_stem)
        || lexicon::is_person(&word)
        || everyday_names::person(&word).is_some()
}

/// What the word for a person tells of it: a trade as what it is called, so that a plumber who
/// kneels may be anybody who does, and is no nurse.
pub(super) fn attributes(person: &Mention) -> Vec<Attribute> {
    let parts = person.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
    let mut told: Vec<Attribute> = parts.cloned().collect();
    let word = lexicon::singular(&person.head);
    let at_home = everyday_names::person(&word);
    let stem = at_home.map_or_else(|| person.head_stem.clone(), lexicon::noun_stem);
    let sex_and_age = sex_and_age(&stem);
    let is_trade = !is_people(&stem) && (lexicon::is_person(&word) || at_home.is_some());
    if is_trade && (sex_and_age.is_empty() || has_tag(&stem, "kin")) {
        let word = at_home.map_or(word, str::to_owned);
        told.push(Attribute { word, kind: AttributeKind::Compound });
    }
    told.extend(sex_and_age);
    if has_tag(&stem, "grown") && !is_young(person) {
        told.push(Attribute { word: "adult".to_owned(), kind: AttributeKind::Other });
    }
    told
}

/// Whether somebody is called a young one: a young woman may be a girl.
fn is_young(person: &Mention) -> bool {
    let mut said = person.attributes.iter();
    said.any(|it| matches!(it.word.as_str(), "young" | "teenage" | "adolescent"))
}

/// Whether a word in lower case and singular is what somebody of the family is called: "mum".
pub fn is_kin(word: &str) -> bool {
    let known = everyday_names::person(word).unwrap_or(word);
    has_tag(&lexicon::noun_stem(known), "kin")
}

fn sex_and_age(stem: &str) -> Vec<Attribute> {
    let told = [
        ("male", AttributeKind::State),
        ("female", AttributeKind::State),
        ("young", AttributeKind::Pattern),
    ];
    let told = told.into_iter().filter(|(tag, _)| has_tag(stem, tag));
    told.map(|(tag, kind)| Attribute { word: tag.to_owned(), kind }).collect()
}

/// Whether a word for a person, by its stem, has this mark among [`SEXES`].
fn has_tag(stem: &str, tag: &str) -> bool {
    static WORDS: LazyLock<HashMap<String, &str>> =
        LazyLock::new(|| SEXES.words().map(|it| (lexicon::noun_stem(it), it)).collect());
    WORDS.get(stem).is_some_and(|it| SEXES.has_tag(it, tag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::fit::{Fit, fit};
    use crate::language::mention::mentions;

    #[test]
    fn a_man_is_no_boy_and_a_boy_may_be_called_a_man() {
        let fit_of = |seen: &str, wanted: &str| {
            let said = |it: &str| attributes(&mentions(it).remove(0));
            fit(&said(seen), &said(wanted))
        };
        assert_eq!(fit_of("a man", "a man"), Some(Fit::Full));
        assert_eq!(fit_of("a boy", "a man"), Some(Fit::Partial));
        assert_eq!(fit_of("a father", "a man"), Some(Fit::Full));
        assert_eq!(fit_of("a woman", "a man"), None);
    }

    #[test]
    fn a_word_for_a_person_tells_sex_age_and_trade() {
        for (person, expect) in [
            ("a man", &["male", "adult"][..]),
            ("two women", &["female", "adult"]),
            ("a girl", &["female", "young"]),
            ("children", &["young"]),
            ("a young woman", &["female"]),
            ("a mother", &["mother", "female", "adult"]),
            ("my grandpa", &["grandfather", "male", "adult"]),
            ("an electrician", &["electrician"]),
            ("a person", &[]),
        ] {
            let told = attributes(&mentions(person).remove(0));
            let told: Vec<&str> = told.iter().map(|it| it.word.as_str()).collect();
            assert_eq!(told, expect, "{person}");
        }
        assert!(is_kin("mum") && is_kin("niece") && !is_kin("man"));
    }
}
