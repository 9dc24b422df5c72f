//! What a thing has on it or in it, as "with" says it right after the name: a mug with a cat on it
//! is a cat mug, and a bag with badges a badge bag. The cat is only depicted.
//!
//! Pure.

use crate::language::lexicon::{descends_from, singular};
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::part_attribute::is_part;
use crate::language::tagged::{TaggedSentence, WordRole};
use crate::language::words::{PICTURES, SIDES};

/// Says of a thing what it has. It is no part of the name: the same bag has none another time.
pub(super) fn add_borne(thing: &mut Mention, sentence: TaggedSentence<'_>, head: usize) {
    if !is_bearer(sentence, head) {
        return;
    }
    for borne in borne_by(sentence, head) {
        // "A mug with piano keys on it".
        let is_on = is_on_it(sentence, borne + 1);
        let is_part = |it: &usize| is_on && sentence.role(*it) == WordRole::Part;
        let parts = (0..borne).rev().take_while(is_part).collect::<Vec<_>>();
        let words = parts.into_iter().rev().chain([borne]).map(|it| singular(sentence.word(it)));
        let words: Vec<String> = words.collect();
        thing.phrase = format!("{} with {}", thing.phrase, words.join(" "));
        let said = words.into_iter().map(|word| Attribute { word, kind: AttributeKind::Other });
        thing.attributes.extend(said);
    }
}

/// The heads of what is printed on a thing: nothing but a picture stays on a mug, and no animal on a
/// jumper. Of a poster that is whatever it has, of a card what is on it.
pub(super) fn printed_on(sentence: TaggedSentence<'_>, head: usize) -> Vec<usize> {
    let one = singular(sentence.word(head));
    let is_mug = DRUNK_FROM.iter().any(|it| descends_from(&one, it));
    let is_worn = one.ends_with("shirt") || descends_from(&one, "article of clothing");
    let is_printed = PICTURES.has_tag(&one, "on");
    let is_picture = PICTURES.has_tag(&one, "of") && PICTURES.has_tag(&one, "thing");
    let bears = is_mug || is_worn || is_printed || is_picture;
    if !bears || !sentence.role(head).is_name() {
        return Vec::new();
    }
    let borne = borne_by(sentence, head);
    let after = borne.last().map_or(head, |last| last + 1);
    let is_on = sentence.word(after) == "on" && is_on_it(sentence, after);
    // A lamp above it is no part of a poster.
    let is_beside = !is_on && sentence.word(after + 1) == "it";
    let is_pictured = |it: &usize| {
        let one = singular(sentence.word(*it));
        let is_motif = || MOTIFS.iter().any(|it| descends_from(&one, it));
        !is_part(&one) && (!is_worn || is_motif())
    };
    let is_shown = is_on || is_picture && !is_beside;
    borne.into_iter().filter(|_| is_shown).filter(is_pictured).collect()
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
            || sentence.word(at + 1) == "the"
                && (is_part(sentence.word(at + 2)) || SIDES.contains(sentence.word(at + 2))))
}

/// Whether what stands on or in a thing is ever told with its name: nobody says the mug table.
fn is_bearer(sentence: TaggedSentence<'_>, head: usize) -> bool {
    let one = singular(sentence.word(head));
    let is_thing = matches!(sentence.role(head), WordRole::Thing | WordRole::Landmark);
    is_thing && !FIXED.iter().any(|it| descends_from(&one, it))
}

/// WordNet's names for mugs and cups.
const DRUNK_FROM: &[&str] = &["drinking vessel", "cup"];
/// And for what clothes show and do not carry.
const MOTIFS: &[&str] = &["animal", "person", "flora", "vehicle", "food", "celestial body"];

/// WordNet's names for what holds nearly anything, or has it beside it.
const FIXED: &[&str] = &["furniture", "animal", "person", "building", "area"];

#[cfg(test)]
mod tests {
    use crate::language::caption::{ParsedCaption, Presence};
    use crate::language::fit::Fit;
    use crate::language::made_of::tests::check;
    use crate::language::tagged::tests::tagged;

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
    fn words_of_its_name_tell_it_too() {
        let mug = "a mug/thing with piano/part/4 keys/thing on/relation/1 it";
        check(mug, "the piano mug", Some(Fit::Full));
        check(mug, "the key mug", Some(Fit::Full));
    }

    #[test]
    fn what_is_printed_is_only_depicted() {
        let printed = |words: &str| {
            let (text, tags) = tagged(words);
            let things = ParsedCaption::of_tagged(1, &[(&text, tags)]).things;
            let depicted = things.into_iter().filter(|it| it.presence == Presence::Depicted);
            depicted.map(|it| it.mention.head).collect::<Vec<_>>()
        };
        assert_eq!(printed("a mug/thing with a cat/thing on/relation/1 it"), ["cat"]);
        let keys = "a mug/thing with black/attribute/6 and white/attribute/6 keys/thing/2 on it";
        assert_eq!(printed(keys), ["keys"]);
        assert_eq!(printed("a T-shirt/thing with a cat/thing on the front"), ["cat"]);
        assert_eq!(printed("a mug/thing with a picture of/relation/1 a fox/thing/5"), ["fox"]);
        assert_eq!(printed("a mug/thing with a cat/thing in/relation/1 it"), [""; 0]);
        assert_eq!(printed("a mug/thing with a label/thing on/relation/1 it"), [""; 0]);
        assert_eq!(printed("a jumper/thing with a horse/thing on/relation/1 it"), ["horse"]);
        assert_eq!(printed("a jumper/thing with a badge/thing on/relation/1 it"), [""; 0]);
        assert_eq!(printed("a plate/thing with a cake/thing on/relation/1 it"), [""; 0]);
        assert_eq!(printed("a card/thing with a ship/thing on/relation/1 it"), ["ship"]);
        assert_eq!(printed("a card/thing with/relation/1 a pen/thing/2 beside it"), [""; 0]);
        assert_eq!(
            printed("the poster/thing with/relation/1 the parrot/thing/2 hangs"),
            ["parrot"]
        );
        assert_eq!(printed("a poster/thing with/relation/1 a lamp/thing/2 above it"), [""; 0]);
        assert_eq!(printed("a painting/thing with/relation/1 a frame/thing/2"), [""; 0]);
    }

    #[test]
    fn what_only_stands_there_does_not() {
        let table = "a table/thing with/relation/1 a coffee/thing/2 on it";
        check(table, "the coffee table", Some(Fit::Possible));
        let mug = "a mug/thing with a cat/thing behind/relation/4 it";
        check(mug, "the cat mug", Some(Fit::Possible));
    }
}
