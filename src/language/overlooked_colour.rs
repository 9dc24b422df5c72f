//! Colours that the tags overlook: one right before a name is said of what has it, though a reader of
//! captions takes the "brown" of "a brown teddy bear" for nothing; so are those that follow it, of
//! "a blanket in red and green"; and what is listed with a colour of the name is one, too: "Silver and
//! red balloons" are not silver.
//!
//! Pure. By rules over a tagged sentence.

use crate::language::mention::AttributeKind;
use crate::language::naming::attribute;
use crate::language::tagged::{TaggedWord, WordRole};

/// The tags with overlooked colours as attributes of the name that follows.
pub(super) fn with_overlooked_colours(text: &str, words: &[TaggedWord]) -> Vec<TaggedWord> {
    let mut tags = words.to_vec();
    let said = |word: &TaggedWord| text.get(word.at.clone()).unwrap_or_default().to_lowercase();
    let is_colour = |word: &TaggedWord| {
        word.role == WordRole::None && attribute(&said(word)).kind == AttributeKind::Colour
    };
    let is_thing = |at: &usize| {
        words.get(*at).is_some_and(|it| matches!(it.role, WordRole::Thing | WordRole::Landmark))
    };
    for head in (0..words.len()).filter(is_thing) {
        if words.get(head + 1).map(said).is_some_and(|it| it == "in") {
            for at in colours_from(words, head + 2, &is_colour, &said) {
                if let Some(tag) = tags.get_mut(at) {
                    (tag.role, tag.to) = (WordRole::Attribute, Some(head));
                }
            }
        }
    }
    for (at, tag) in tags.iter_mut().enumerate().filter(|(_, it)| is_colour(it)) {
        let is_before = |it: &&TaggedWord| matches!(it.role, WordRole::Part | WordRole::Attribute);
        let before = words.iter().skip(at + 1).take_while(is_before).count();
        let head = at + 1 + before;
        if words.get(head).is_some_and(|it| it.role.is_name()) {
            (tag.role, tag.to) = (WordRole::Attribute, Some(head));
        }
    }
    for at in 0..words.len() {
        if let Some(head) = listed_of(text, words, at)
            && let Some(tag) = tags.get_mut(at)
        {
            (tag.role, tag.to) = (WordRole::Attribute, Some(head));
        }
    }
    tags
}

/// What has the colours that this one, which is taken for a thing or for nothing, is listed before.
fn listed_of(text: &str, words: &[TaggedWord], at: usize) -> Option<usize> {
    let said = |word: &TaggedWord| text.get(word.at.clone()).unwrap_or_default().to_lowercase();
    let is_colour = |it: &TaggedWord| attribute(&said(it)).kind == AttributeKind::Colour;
    let first = words.get(at)?;
    if !matches!(first.role, WordRole::None | WordRole::Thing) || !is_colour(first) {
        return None;
    }
    let is_listed = |it: &&TaggedWord| is_colour(it) || matches!(said(it).as_str(), "and" | ",");
    let listed: Vec<&TaggedWord> = words.get(at + 1..)?.iter().take_while(is_listed).collect();
    let last = listed.last().filter(|it| it.role == WordRole::Attribute && is_colour(it))?;
    listed.iter().any(|it| said(it) == "and").then_some(last.to).flatten()
}

/// The colours that are listed from this word on; none where they are said of what follows.
fn colours_from(
    words: &[TaggedWord],
    from: usize,
    is_colour: &impl Fn(&TaggedWord) -> bool,
    said: &impl Fn(&TaggedWord) -> String,
) -> Vec<usize> {
    let is_joint = |word: &TaggedWord| matches!(said(word).as_str(), "and" | ",");
    let is_listed = |at: &usize| words.get(*at).is_some_and(|it| is_colour(it) || is_joint(it));
    let listed: Vec<usize> = (from..words.len()).take_while(is_listed).collect();
    let colours = listed.iter().filter(|at| words.get(**at).is_some_and(is_colour));
    let colours: Vec<usize> = colours.copied().collect();
    // "in white boots", "in green and a hat"
    let begins_name = colours.last().and_then(|last| words.get(last + 1)).is_some_and(|it| {
        it.role.is_name() || matches!(it.role, WordRole::Part | WordRole::Attribute)
    });
    if begins_name || words.get(from).is_none_or(|it| !is_colour(it)) {
        Vec::new()
    } else {
        colours
    }
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
        check("a tartan/part/2 blanket/thing in red and green lies", &["tartan blanket red green"]);
        check("a bag/thing in navy .", &["bag navy"]);
        check("a bag/thing in white boots/thing", &["bag", "white boots"]);
        check("a bag/thing in a green box/thing", &["bag", "green box"]);
        check("a woman/person in red", &["woman"]);
        check("silver/thing and red/attribute/3 balloons/thing", &["silver red balloons"]);
        check(
            "gold , red/attribute/5 and green/attribute/5 balloons/thing",
            &["gold red green balloons"],
        );
        check("gold , red/attribute/3 balloons/thing", &["red balloons"]);
        check("silver/thing and red/thing", &["silver", "red"]);
    }
}
