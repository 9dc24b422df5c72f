//! What else is said of who does something: who hoovers vacuums, who takes a nap dozes.
//!
//! Pure: `data/everyday_deeds.txt`, compiled in.

use std::sync::LazyLock;

use crate::language::verbs;
use crate::language::words::{DETERMINERS, LIGHT_VERBS};

/// The other verbs in -ing, by themselves, for what this one means by itself.
pub fn other_verbs(verb: &str) -> impl Iterator<Item = &'static str> {
    let deeds = DEEDS.iter().filter(move |deed| names(deed).any(|it| it == verb));
    let others = deeds.flat_map(|deed| names(deed).filter(|it| !it.contains(' ')));
    others.filter(move |it| *it != verb)
}

/// A description with the longest deed that it tells said otherwise, in each way that is known: "a
/// man napping" and "a man dozing" for "a man taking a nap".
pub fn in_other_words(description: &str) -> Vec<String> {
    let words: Vec<&str> = description.split_whitespace().collect();
    // Most descriptions tell no deed, and there are thousands of names.
    if !words.iter().any(|it| it.ends_with("ing") || *it == "who") {
        return Vec::new();
    }
    let said = DEEDS.iter().flat_map(|deed| names(deed).map(move |name| (*deed, name)));
    let told = said.filter_map(|(deed, name)| Some((deed, name, told_at(&words, name)?)));
    let longest = told.max_by_key(|(_, name, _)| name.split(' ').count());
    let Some((deed, told, (from, to))) = longest else { return Vec::new() };
    let (before, after) = (words.get(..from), words.get(to..));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let others = names(deed).filter(|it| *it != told);
    others.map(|it| [before, &[it], after].concat().join(" ")).collect()
}

/// A description with what it says by a verb that tells little and a noun by the verb for it: "a cat
/// napping on the couch" for "a cat having a nap on the couch".
pub fn with_own_verb(description: &str) -> String {
    let words: Vec<&str> = description.split_whitespace().collect();
    let by_noun = |(at, word): (usize, &&str)| {
        if !LIGHT_VERBS.contains(word) {
            return None;
        }
        let noun =
            at + 1 + words.iter().skip(at + 1).take_while(|it| DETERMINERS.contains(it)).count();
        Some((at, noun, own_verb(word, words.get(noun)?)?))
    };
    let Some((at, noun, verb)) = words.iter().enumerate().find_map(by_noun) else {
        return description.to_owned();
    };
    // "having a drink of water"
    let is_of = words.get(noun + 1) == Some(&"of");
    let (before, after) = (words.get(..at), words.get(noun + 1 + usize::from(is_of)..));
    [before.unwrap_or_default(), &[verb], after.unwrap_or_default()].concat().join(" ")
}

/// The one verb for what a verb that tells little does with a noun, both in -ing: "napping" for "having"
/// and "nap".
pub fn own_verb(verb: &str, noun: &str) -> Option<&'static str> {
    if !LIGHT_VERBS.contains(verb) {
        return None;
    }
    let is_said =
        |name: &str| name.split(' ').filter(|it| !DETERMINERS.contains(it)).eq([verb, noun]);
    let deed = DEEDS.iter().find(|deed| names(deed).any(is_said))?;
    names(deed).find(|it| !it.contains(' '))
}

/// From where to where words tell a deed, in -ing or in any form after "who", with or without
/// articles.
fn told_at(words: &[&str], name: &str) -> Option<(usize, usize)> {
    let mut said = name.split(' ').filter(|it| !DETERMINERS.contains(it));
    let verb = said.next()?;
    // A hammer is no hammering.
    let is_after_who = |at: usize| at.checked_sub(1).and_then(|it| words.get(it)) == Some(&"who");
    let is_verb = |(at, word): (usize, &&str)| {
        *word == verb || is_after_who(at) && verbs::activity(word).is_some_and(|it| it == verb)
    };
    let from = words.iter().enumerate().position(is_verb)?;
    let mut to = from + 1;
    for word in said {
        let rest = words.get(to..)?;
        to += rest.iter().take_while(|it| DETERMINERS.contains(it)).count() + 1;
        words.get(to - 1).filter(|it| **it == word)?;
    }
    Some((from, to))
}

fn names(deed: &'static str) -> impl Iterator<Item = &'static str> {
    deed.split(", ")
}

static DEEDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    include_str!("data/everyday_deeds.txt").lines().filter(|it| !it.starts_with('#')).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_has_others_for_the_same() {
        let of = |verb: &str| other_verbs(verb).collect::<Vec<_>>();
        assert!(of("jogging").contains(&"running") && of("running").contains(&"jogging"));
        assert!(of("hoovering").contains(&"vacuuming") && !of("hoovering").contains(&"mopping"));
        assert!(!of("jogging").contains(&"jogging"));
        assert_eq!(of("no such verb").len(), 0);
    }

    #[test]
    fn the_longest_deed_of_a_description_is_said_otherwise() {
        let nap = in_other_words("a man taking a nap on the sofa");
        assert!(nap.contains(&"a man napping on the sofa".to_owned()), "{nap:?}");
        assert!(
            in_other_words("somebody doing the dishes")
                .iter()
                .any(|it| it == "somebody washing dishes")
        );
        assert_eq!(in_other_words("a red hammer").len(), 0, "no hammering");
    }

    #[test]
    fn what_a_light_verb_does_with_a_noun_has_a_verb_of_its_own() {
        for (description, expect) in [
            ("a cat having a nap on the couch", "a cat napping on the couch"),
            ("a man taking a shower", "a man showering"),
            ("somebody having breakfast", "somebody breakfasting"),
            ("a woman taking a photo of a cake", "a woman photographing a cake"),
            ("a man having a mug", "a man having a mug"),
            ("a boy making a cake", "a boy making a cake"),
        ] {
            assert_eq!(with_own_verb(description), expect);
        }
    }

    #[test]
    fn deeds_are_in_ing_and_each_is_called_otherwise() {
        for deed in DEEDS.iter() {
            let all: Vec<&str> = names(deed).collect();
            assert!(all.len() > 1, "{deed}");
            for name in &all {
                let verb = name.split(' ').next().unwrap_or_default();
                assert!(verb.ends_with("ing"), "{name}");
                assert_eq!(name.to_lowercase(), **name);
                assert_eq!(all.iter().filter(|it| it == &name).count(), 1, "{name}");
            }
        }
    }
}
