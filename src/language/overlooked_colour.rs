//! Colours that the tags overlook: one right before a name is said of what has it, though a reader of
//! captions takes the "brown" of "a brown teddy bear" for nothing.
//!
//! Pure. By rules over a tagged sentence.

use crate::language::mention::AttributeKind;
use crate::language::naming::attribute;
use crate::language::tagged::{TaggedWord, WordRole};

/// The tags with overlooked colours as attributes of the name that follows.
pub(super) fn with_overlooked_colours(text: &str, words: &[TaggedWord]) -> Vec<TaggedWord> {
    let mut tags = words.to_vec();
    let is_colour = |word: &TaggedWord| {
        let said = text.get(word.at.clone()).unwrap_or_default().to_lowercase();
        word.role == WordRole::None && attribute(&said).kind == AttributeKind::Colour
    };
    for (at, tag) in tags.iter_mut().enumerate().filter(|(_, it)| is_colour(it)) {
        let is_before = |it: &&TaggedWord| matches!(it.role, WordRole::Part | WordRole::Attribute);
        let before = words.iter().skip(at + 1).take_while(is_before).count();
        let head = at + 1 + before;
        if words.get(head).is_some_and(|it| it.role.is_name()) {
            (tag.role, tag.to) = (WordRole::Attribute, Some(head));
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use crate::language::caption::ParsedCaption;
    use crate::language::tagged::tests::tagged;

    #[test]
    fn a_colour_right_before_a_name_is_said_of_it() {
        let check = |words: &str, expect: &[&str]| {
            let (text, tags) = tagged(words);
            let parsed = ParsedCaption::of_tagged(1, &[(&text, tags)]);
            let found: Vec<&str> = parsed.shown_mentions().map(|it| it.phrase.as_str()).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("a brown teddy/part/3 bear/thing", &["brown teddy bear"]);
        check("a red small/attribute/3 mug/thing", &["red small mug"]);
        check("painted in brown , a bear/thing", &["bear"]);
        check("it is brown by a bear/thing", &["bear"]);
        check("a dusty bear/thing", &["bear"]);
    }
}
