//! What a design shows: the unicorn of "a backpack with a unicorn design" is there as one that is
//! only depicted.
//!
//! Pure. By rules over a tagged sentence.

use crate::language::lexicon;
use crate::language::mention::AttributeKind;
use crate::language::naming::attribute;
use crate::language::tagged::{TaggedSentence, TaggedWord, WordRole};
use crate::language::words::PICTURES;

/// The tags with what a design shows as a thing of its own.
pub(super) fn with_designs(text: &str, words: &[TaggedWord]) -> Vec<TaggedWord> {
    let mut tags = words.to_vec();
    let said: Vec<String> =
        words.iter().map(|it| text.get(it.at.clone()).unwrap_or_default().to_lowercase()).collect();
    for design in 1..words.len() {
        let word = |at: usize| said.get(at).map_or("", String::as_str);
        let shown = design - 1;
        let is_of = words.get(shown).is_some_and(|it| {
            matches!(it.role, WordRole::Attribute | WordRole::Part) && it.to == Some(design)
        });
        let is_named = words.get(design).is_some_and(|it| it.role.is_name());
        let one = lexicon::singular(word(shown));
        let is_thing = !lexicon::is_adjective(&one)
            && !one.ends_with("ed")
            && attribute(word(shown)).kind == AttributeKind::Other;
        if !is_of || !is_named || !is_thing || !is_design(word(design)) {
            continue;
        }
        let governor = words.get(design).and_then(|it| it.to);
        if let Some(tag) = tags.get_mut(shown) {
            (tag.role, tag.to) = (WordRole::Thing, governor);
        }
    }
    tags
}

/// Whether the head at this place is shown by a design right after it.
pub(super) fn is_on_design(sentence: TaggedSentence<'_>, at: usize) -> bool {
    sentence.role(at).is_name()
        && sentence.role(at + 1).is_name()
        && is_design(sentence.word(at + 1))
}

fn is_design(word: &str) -> bool {
    PICTURES.has_tag(&lexicon::singular(word), "design")
}

#[cfg(test)]
mod tests {
    use crate::language::caption::{ParsedCaption, Presence};
    use crate::language::tagged::tests::tagged;

    fn depicted(words: &str) -> Vec<String> {
        let (text, tags) = tagged(words);
        let things = ParsedCaption::of_tagged(1, &[(&text, tags)]).things;
        let depicted = things.into_iter().filter(|it| it.presence == Presence::Depicted);
        depicted.map(|it| it.mention.phrase).collect()
    }

    #[test]
    fn what_a_design_shows_is_depicted() {
        let bag = "a bag/thing with/relation/1 a unicorn/attribute/5 design/thing/2";
        assert_eq!(depicted(bag), ["unicorn"]);
        let shirt = "a shirt/thing with/relation/1 a cat/part/5 print/thing/2";
        assert_eq!(depicted(shirt), ["cat"]);
        assert_eq!(
            depicted("a bag/thing with/relation/1 a floral/attribute/5 design/thing/2"),
            [""; 0]
        );
        assert_eq!(depicted("a bag/thing with/relation/1 a cat/part/5 flap/thing/2"), [""; 0]);
    }
}
