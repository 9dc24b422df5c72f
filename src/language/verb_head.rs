//! Verbs and adjectives that a reader of captions takes for the last word of a name, as they are
//! nouns, too: "a cactus and a globe stand on the windowsill" shows no globe stand, and who is
//! "holding a ladder steady" holds a ladder.
//!
//! Pure. By rules over a tagged sentence.

use crate::language::known_words::is_known_name;
use crate::language::lexicon;
use crate::language::tagged::{TaggedWord, WordRole};

/// The tags with the word before such a word as the head of the name, and with it as none.
pub(super) fn without_verb_heads(text: &str, words: &[TaggedWord]) -> Vec<TaggedWord> {
    let mut tags = words.to_vec();
    let said: Vec<String> =
        words.iter().map(|it| text.get(it.at.clone()).unwrap_or_default().to_lowercase()).collect();
    let is_no_head = |it: &usize| is_verb(&said, words, *it) || is_state(&said, words, *it);
    for verb in (1..words.len()).filter(is_no_head) {
        let Some(TaggedWord { role, to, .. }) = words.get(verb).cloned() else { continue };
        let head = verb - 1;
        for tag in &mut tags {
            if tag.to == Some(verb) {
                tag.to = Some(head);
            }
        }
        if let Some(tag) = tags.get_mut(head) {
            (tag.role, tag.to) = (role, to);
        }
        if let Some(tag) = tags.get_mut(verb) {
            (tag.role, tag.to) = (WordRole::None, None);
        }
    }
    tags
}

/// Whether the head at this place is the verb of several things before it, of which the last is
/// what the head's parts name: no dictionary has the whole as a name, and where they are goes on.
fn is_verb(said: &[String], words: &[TaggedWord], at: usize) -> bool {
    let role = |at: usize| words.get(at).map_or(WordRole::None, |it| it.role);
    let word = |at: usize| said.get(at).map_or("", String::as_str);
    if !VERBS.contains(&word(at)) || !role(at).is_name() || role(at - 1) != WordRole::Part {
        return false;
    }
    let goes_on = role(at + 1) == WordRole::Relation;
    let from = (0..at).rev().take_while(|it| role(*it) == WordRole::Part).last().unwrap_or(at);
    let last = word(at - 1);
    let are_several = lexicon::singular(last) != last
        || (0..from).any(|it| word(it) == "and" && (0..it).any(|it| role(it).is_name()));
    let is_name = (from..at).any(|from| {
        let name = said.get(from..=at).unwrap_or_default().join(" ");
        is_known_name(&name)
    });
    goes_on && are_several && !is_name
}

/// Whether the head at this place says how somebody holds or keeps the thing that is named before it.
fn is_state(said: &[String], words: &[TaggedWord], at: usize) -> bool {
    let role = |at: usize| words.get(at).map_or(WordRole::None, |it| it.role);
    let word = |at: usize| said.get(at).map_or("", String::as_str);
    let of_deed = words.get(at).and_then(|it| it.to).filter(|it| role(*it) == WordRole::Deed);
    let name = format!("{} {}", word(at - 1), word(at));
    role(at).is_name()
        && role(at - 1) == WordRole::Part
        && of_deed.is_some_and(|it| it < at)
        && lexicon::is_adjective(word(at))
        && lexicon::is_name(&lexicon::singular(word(at - 1)))
        && !is_known_name(&name)
}

const VERBS: &[&str] = &["stand", "rest"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::tests::tagged;

    /// The heads of names that are left, each with its role.
    fn check(words: &str, expect: &[&str]) {
        let (text, tags) = tagged(words);
        let tags = without_verb_heads(&text, &tags);
        let heads = tags.iter().filter(|it| it.role.is_name()).map(|it| &text[it.at.clone()]);
        assert_eq!(heads.collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn the_verb_of_several_things_is_no_part_of_the_last_ones_name() {
        check(
            "a cactus/thing and a globe/part stand/thing on/relation/5 the sill/landmark/6",
            &["cactus", "globe", "sill"],
        );
        check("two lamps/part stand/thing by/relation/2 the door/landmark/3", &["lamps", "door"]);
    }

    #[test]
    fn how_a_thing_is_held_is_no_part_of_its_name() {
        check("a man/person holding/deed/1 a ladder/part steady/thing/2", &["man", "ladder"]);
        check("a man/person holding/deed/1 a coffee/part mug/thing/2", &["man", "mug"]);
    }

    #[test]
    fn a_stand_that_is_a_thing_stays_one() {
        check(
            "a vase/thing and a music/part stand/thing by/relation/5 the door/landmark/6",
            &["vase", "stand", "door"],
        );
        check("a globe/part stand/thing by/relation/2 the door/landmark/3", &["stand", "door"]);
        check("a cactus/thing and a globe/part stand/thing", &["cactus", "stand"]);
    }

    #[test]
    fn what_is_said_of_the_verb_is_said_of_the_thing() {
        let (text, tags) = tagged(
            "a mop/thing and a long/attribute/7 black/attribute/7 torch/part stand/thing under/relation/7 the bench/landmark/8",
        );
        let tags = without_verb_heads(&text, &tags);
        let of: Vec<_> = tags.iter().filter(|it| it.to == Some(6)).map(|it| it.role).collect();
        assert_eq!(of, [WordRole::Attribute, WordRole::Attribute, WordRole::Relation]);
        assert_eq!(tags[6].role, WordRole::Thing);
        assert_eq!(tags[7].role, WordRole::None);
    }
}
