//! What a thing has on it or in it, as "with" says it right after the name: a mug with a cat on it
//! is a cat mug, and a bag with badges a badge bag.
//!
//! Pure.

use crate::language::lexicon::{descends_from, singular};
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::part_attribute::is_part;
use crate::language::tagged::{TaggedSentence, WordRole};

/// Says of a thing what it has. It is no part of the name: the same bag has none another time.
pub(super) fn add_borne(thing: &mut Mention, sentence: TaggedSentence<'_>, head: usize) {
    if !is_bearer(sentence, head) {
        return;
    }
    for borne in borne_by(sentence, head) {
        let word = singular(sentence.word(borne));
        thing.phrase = format!("{} with {word}", thing.phrase);
        thing.attributes.push(Attribute { word, kind: AttributeKind::Other });
    }
}

/// The heads of what "with" right after a head says that it has.
fn borne_by(sentence: TaggedSentence<'_>, head: usize) -> Vec<usize> {
    let with = head + 1;
    if sentence.word(with) != "with" || matches!(sentence.word(with + 1), "its" | "their") {
        return Vec::new();
    }
    let listed = sentence.listed_from(with + 1);
    // Tags leave "with" out where "on it" follows.
    let is_left_out = sentence.role(with) == WordRole::None
        && listed.last().is_some_and(|last| is_on_it(sentence, last + 1));
    let is_told = is_left_out
        || sentence.role(with) == WordRole::Relation && sentence.governor(with) == Some(head);
    // What is said of a part is said of the thing: "blue-lidded".
    let is_told_of = |it: usize| {
        it.checked_sub(1)
            .is_some_and(|it| matches!(sentence.role(it), WordRole::Attribute | WordRole::Part))
    };
    let is_borne = |it: &usize| {
        matches!(sentence.role(*it), WordRole::Thing | WordRole::Landmark)
            && !(is_part(sentence.word(*it)) && is_told_of(*it))
    };
    listed.into_iter().filter(|_| is_told).filter(is_borne).collect()
}

/// Whether these words say that what stands before them is on the thing.
fn is_on_it(sentence: TaggedSentence<'_>, at: usize) -> bool {
    matches!(sentence.word(at), "on" | "in" | "inside")
        && (matches!(sentence.word(at + 1), "it" | "them" | "its" | "their")
            || sentence.word(at + 1) == "the" && is_part(sentence.word(at + 2)))
}

/// Whether what stands on or in a thing is ever told with its name: nobody says the mug table.
fn is_bearer(sentence: TaggedSentence<'_>, head: usize) -> bool {
    let one = singular(sentence.word(head));
    let is_thing = matches!(sentence.role(head), WordRole::Thing | WordRole::Landmark);
    is_thing && !FIXED.iter().any(|it| descends_from(&one, it))
}

/// WordNet's names for what holds nearly anything, or has it beside it.
const FIXED: &[&str] = &["furniture", "animal", "person", "building", "area"];

#[cfg(test)]
mod tests {
    use crate::language::fit::Fit;
    use crate::language::made_of::tests::check;

    #[test]
    fn what_a_thing_has_on_it_tells_it() {
        let mug = "a mug/thing with a black/attribute/5 cat/thing on/relation/5 it";
        check(mug, "the cat mug", Some(Fit::Full));
        check(mug, "the fox mug", Some(Fit::Possible));
        check(mug, "the mug", Some(Fit::Full));
        let cushion = "a cushion/thing with/relation/1 a sheep/thing/2 on it lies";
        check(cushion, "the sheep cushion", Some(Fit::Full));
        let bag = "a canvas/attribute/3 tote/part bag/thing with/relation/3 badges/thing/4";
        check(bag, "the badge bag", Some(Fit::Full));
        check(bag, "the tote bag", Some(Fit::Full));
        check(bag, "the sports bag", None);
        let laptop =
            "a silver/attribute/2 laptop/thing with/relation/2 stickers/thing/3 on its lid";
        check(laptop, "the sticker laptop", Some(Fit::Full));
        let basket = "a basket/thing with/relation/1 apples/thing/2 and pears/thing/2";
        check(basket, "the pear basket", Some(Fit::Full));
    }

    #[test]
    fn what_only_stands_there_does_not() {
        let table = "a table/thing with/relation/1 a coffee/thing/2 on it";
        check(table, "the coffee table", Some(Fit::Possible));
        let mug = "a mug/thing with a cat/thing behind/relation/4 it";
        check(mug, "the cat mug", Some(Fit::Possible));
    }
}
