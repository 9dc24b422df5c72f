//! Parts that come off: who puts the lid of a pot somewhere has a pot lid in the hand, and nobody
//! says where the pot is.
//!
//! Pure. By rules over a tagged sentence.

use std::collections::BTreeMap;

use crate::language::lexicon::singular;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::naming;
use crate::language::tagged::{TaggedSentence, WordRole};
use crate::language::verbs::in_ing;
use crate::language::words::{DETACHABLE, MOVING};

/// For each part that comes off, by its head, the head of the thing whose part it is: pot for lid of
/// "the lid of the pot" and "the pot's lid".
pub(super) fn wholes_of_parts(sentence: TaggedSentence<'_>) -> BTreeMap<usize, usize> {
    let is_part = |at: &usize| DETACHABLE.contains(singular(sentence.word(*at)).as_str());
    let parts = (0..sentence.words.len()).filter(is_part);
    let whole_of =
        |part: usize| whole_after(sentence, part).or_else(|| owner_before(sentence, part));
    parts.filter_map(|part| Some((part, whole_of(part)?))).collect()
}

/// Whether somebody puts the thing of this head somewhere. Who opens a lid has the box at hand, too.
pub(super) fn is_moved(sentence: TaggedSentence<'_>, head: usize) -> bool {
    let deed = sentence.governor(head).filter(|it| sentence.role(*it) == WordRole::Deed);
    deed.is_some_and(|it| MOVING.contains(in_ing(sentence.word(it)).as_str()))
}

/// Calls a part by the words that name what it comes off: the lid of a pot is a pot lid.
pub(super) fn add_whole<'a>(part: &mut Mention, whole: impl Iterator<Item = &'a str>) {
    let of_name = whole
        .map(|it| Attribute { word: naming::singular_part(it), kind: AttributeKind::Compound });
    for word in of_name {
        if !part.attributes.contains(&word) {
            part.attributes.push(word);
        }
    }
}

/// The head after "of", right after the part.
fn whole_after(sentence: TaggedSentence<'_>, part: usize) -> Option<usize> {
    let mut rest = part + 2..sentence.words.len();
    let head = rest.find(|it| !sentence.is_before_head(*it));
    head.filter(|it| sentence.word(part + 1) == "of" && is_thing(sentence, *it))
}

/// The head before "'s" and what is said of the part.
fn owner_before(sentence: TaggedSentence<'_>, part: usize) -> Option<usize> {
    let end = (0..part).rev().find(|it| !sentence.is_before_head(*it))?;
    let is_sign = |at: usize| matches!(sentence.word(at), "'" | "’" | "s" | "'s" | "’s");
    let owner = (0..=end).rev().find(|it| !is_sign(*it)).filter(|it| *it < end)?;
    is_thing(sentence, owner).then_some(owner)
}

fn is_thing(sentence: TaggedSentence<'_>, head: usize) -> bool {
    matches!(sentence.role(head), WordRole::Thing | WordRole::Landmark)
}

#[cfg(test)]
mod tests {
    use crate::language::caption::ParsedCaption;
    use crate::language::fit::{Fit, fit};
    use crate::language::mention::mentions;
    use crate::language::tagged::tests::tagged;

    fn check(seen: &str, wanted: &str, expect: Option<Fit>) {
        let (text, words) = tagged(seen);
        let parsed = ParsedCaption::of_tagged(1, &[(&text, words)]);
        let wanted = mentions(wanted).remove(0);
        let fits = parsed.shown_mentions().filter(|it| it.head_stem == wanted.head_stem);
        let fits = fits.filter_map(|it| fit(&it.attributes, &wanted.attributes)).max();
        assert_eq!(fits, expect, "{wanted:?} in {:?}", parsed.things);
    }

    const HANDLED: &str = "Put/deed the lid/thing/0 of/relation/2 the pot/thing/3 down/deed/0";
    const OPENED: &str = "Open/deed the lid/thing/0 of/relation/2 the box/thing/3";
    const OWNED: &str = "Put/deed the pan/thing ’s lid/thing/0 on/relation/0 a table/landmark/5";

    #[test]
    fn a_part_is_called_by_what_it_comes_off() {
        check(HANDLED, "pot lid", Some(Fit::Full));
        check(HANDLED, "lid", Some(Fit::Full));
        check(HANDLED, "pan lid", None);
        check(OWNED, "pan lid", Some(Fit::Full));
    }

    #[test]
    fn what_a_part_was_taken_off_is_only_possible() {
        check(HANDLED, "pot", Some(Fit::Possible));
        check(OWNED, "pan", Some(Fit::Possible));
        check(OPENED, "box", Some(Fit::Full));
        check("a lid/thing of/relation/1 a pot/thing/2", "pot", Some(Fit::Full));
        check("Put/deed the bag/thing/0 of/relation/2 rice/thing/3", "rice", Some(Fit::Full));
    }
}
