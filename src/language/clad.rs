//! What a thing is in: "a buggy in grey" is a grey buggy, and "an umbrella in clear plastic" a plastic
//! one, where a reader of captions tags a thing that says where they are.
//!
//! Pure. By rules over a tagged sentence.

use crate::language::mention::AttributeKind;
use crate::language::naming::attribute;
use crate::language::tagged::{TaggedWord, WordRole};
use crate::language::words::THINGS_TOO;

/// The tags with colours and materials after "in" said of the thing before; people wear them.
pub(super) fn with_colours(text: &str, words: &[TaggedWord]) -> Vec<TaggedWord> {
    let mut tags = words.to_vec();
    let word = |at: usize| {
        let at = words.get(at).map(|it| it.at.clone()).unwrap_or_default();
        text.get(at).unwrap_or_default().to_lowercase()
    };
    for by in (1..words.len()).filter(|it| word(*it) == "in") {
        let owner = words.get(by).and_then(|it| it.to).filter(|it| *it < by);
        let is_thing = |it: &TaggedWord| matches!(it.role, WordRole::Thing | WordRole::Landmark);
        let Some(owner) = owner.filter(|it| words.get(*it).is_some_and(is_thing)) else { continue };
        let is_said = |it: &usize| words.get(*it).is_some_and(|it| it.role == WordRole::Attribute);
        let Some(head) = (by + 1..words.len()).find(|it| !is_said(it)) else { continue };
        let name = word(head);
        let is_of = words.get(head).is_some_and(|it| is_thing(it) && it.to == Some(by));
        let kind = attribute(&name).kind;
        let is_look = matches!(kind, AttributeKind::Colour | AttributeKind::Material);
        if !is_of || !is_look || THINGS_TOO.contains(&name) {
            continue;
        }
        for tag in tags.iter_mut().take(head + 1).skip(by + 1) {
            (tag.role, tag.to) = (WordRole::Attribute, Some(owner));
        }
        for tag in tags.iter_mut().filter(|it| it.to == Some(by)) {
            tag.to = Some(owner);
        }
        if let Some(tag) = tags.get_mut(by) {
            (tag.role, tag.to) = (WordRole::None, None);
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use crate::language::caption::ParsedCaption;
    use crate::language::tagged::tests::tagged;

    fn check(words: &str, expect: &[&str]) {
        let (text, tags) = tagged(words);
        let parsed = ParsedCaption::of_tagged(1, &[(&text, tags)]);
        let found: Vec<&str> = parsed.shown_mentions().map(|it| it.phrase.as_str()).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn what_a_thing_is_in_is_said_of_it() {
        check(
            "a buggy/thing in/relation/1 grey/landmark/2 with a dog/thing",
            &["buggy grey", "dog"],
        );
        check(
            "an umbrella/thing in/relation/1 clear/attribute/4 plastic/landmark/2 hangs",
            &["umbrella clear plastic"],
        );
    }

    #[test]
    fn what_stands_in_a_thing_and_who_wears_a_colour_is_as_it_is() {
        check("a rose/thing in/relation/1 a glass/landmark/2", &["rose", "glass"]);
        check("a woman/person in/relation/1 red/landmark/2", &["woman", "red"]);
        check("a mug/thing in/relation/1 a red/attribute/5 box/landmark/2", &["mug", "red box"]);
    }
}
