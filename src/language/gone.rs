//! What is said to be gone at some distance from its name: the keys of "the keys in the bowl are
//! gone", which the tags show; and what they take for gone that was only left where it is.
//!
//! Pure. By rules over a tagged sentence.

use std::collections::BTreeSet;

use crate::language::tagged::{TaggedSentence, WordRole};
use crate::language::words::{
    ABSENCE, AFTER_GONE, COPULAS, DENIALS, DETERMINERS, GONE, LEFT_BEHIND, NOBODY, PREPOSITIONS,
    REMOVING, THERE,
};

/// The heads of what a sentence says is gone.
pub(super) fn gone(sentence: TaggedSentence<'_>) -> BTreeSet<usize> {
    let verbs = 0..sentence.words.len();
    let is_told = |verb: &usize| is_gone(sentence, *verb) && !is_of_another(sentence, *verb);
    let told = verbs.filter(is_told).filter_map(|it| sentence.subject(it));
    let told = told.flat_map(|it| sentence.listed_until(it));
    told.chain(neither(sentence)).chain(missing(sentence)).collect()
}

/// The heads of what is called missing: "a missing leg".
fn missing(sentence: TaggedSentence<'_>) -> impl Iterator<Item = usize> {
    let is_missing = move |at: &usize| {
        sentence.role(*at) == WordRole::Attribute
            && matches!(sentence.word(*at), "missing" | "absent")
    };
    (0..sentence.words.len()).filter(is_missing).filter_map(move |at| sentence.governor(at))
}

/// The heads of what is there neither: "neither a mug nor a plate is on the table". Of the man and
/// the woman of whom neither smiles both are there.
fn neither(sentence: TaggedSentence<'_>) -> impl Iterator<Item = usize> {
    let starts = (0..sentence.words.len()).filter(move |at| sentence.word(*at) == "neither");
    starts.filter(move |at| sentence.word(at + 1) != "of").flat_map(move |at| {
        let denied = sentence.listed_from(at + 1);
        let end = denied.last().copied().unwrap_or(at);
        let after = |more: usize| sentence.word(end + more);
        let is_placed = COPULAS.contains(after(1))
            && (THERE.contains(after(2)) || PREPOSITIONS.contains(after(2)));
        let is_any = matches!(sentence.word(at + 1), "a" | "an");
        let is_denied = denied.len() > 1 && (is_any || is_placed);
        denied.into_iter().filter(move |_| is_denied)
    })
}

/// The heads of what a sentence says was left where it is, which the tags show as gone: "the lunch
/// box has been forgotten on the bench".
pub(super) fn left(sentence: TaggedSentence<'_>) -> BTreeSet<usize> {
    let is_left = |verb: &usize| {
        let before = verb.checked_sub(1).map_or("", |it| sentence.word(it));
        let next = sentence.word(verb + 1);
        LEFT_BEHIND.contains(sentence.word(*verb))
            && (before == "been" || COPULAS.contains(before))
            && PREPOSITIONS.contains(next)
            && next != "from"
    };
    let words = 0..sentence.words.len();
    let is_left = |verb: &usize| is_left(verb) || is_moved(sentence, *verb);
    let left = words.clone().filter(is_left).filter_map(|it| sentence.subject(it));
    let there = words.filter(|at| is_handled(sentence, *at));
    left.chain(neither_does(sentence)).chain(there).chain(treated(sentence)).collect()
}

/// The heads that the tags show as gone where all that is said is what was done to them: "a jigsaw of a
/// harbour has been started".
fn treated(sentence: TaggedSentence<'_>) -> impl Iterator<Item = usize> {
    let is_absence = |it: &&str| ABSENCE.contains(it) || NOBODY.contains(it) || GONE.contains(it);
    let is_said = sentence.words.iter().any(is_absence);
    let words = 0..sentence.words.len();
    let verbs = words.filter(move |verb| !is_said && is_treated(sentence, *verb));
    verbs.flat_map(move |verb| {
        let before = sentence.words.get(..verb).unwrap_or_default();
        let start = before.iter().rposition(|it| *it == ",").unwrap_or_default();
        sentence.heads(start..verb).collect::<Vec<usize>>()
    })
}

/// Whether the verb at this place says that something was done to its subject, and neither that it was
/// taken away nor that it was left somewhere.
fn is_treated(sentence: TaggedSentence<'_>, verb: usize) -> bool {
    has_been(sentence, verb).is_some_and(|deed| {
        let deed = sentence.word(deed);
        let is_other = !REMOVING.contains(deed) && !LEFT_BEHIND.contains(deed);
        is_other || is_moved(sentence, verb)
    })
}

/// The verb after "has been" or "has now been", where that stands at this place.
fn has_been(sentence: TaggedSentence<'_>, at: usize) -> Option<usize> {
    let word = |more: usize| sentence.word(at + more);
    match (word(0), word(1), word(2)) {
        ("has" | "have", "been", _) => Some(at + 2),
        ("has" | "have", _, "been") => Some(at + 3),
        _ => None,
    }
}

/// Whether the thing of this head is what somebody is about to do something to: who is pushing a
/// trolley away has it yet.
fn is_handled(sentence: TaggedSentence<'_>, head: usize) -> bool {
    let deed = sentence.governor(head).filter(|it| *it < head);
    deed.is_some_and(|deed| {
        let between = sentence.words.get(deed..head).unwrap_or_default();
        sentence.role(deed) == WordRole::Deed
            && sentence.word(deed).ends_with("ing")
            && !between.iter().any(|it| NOBODY.contains(it) || DENIALS.contains(it))
    })
}

/// The heads of those of whom neither does something or is something: they are there.
fn neither_does(sentence: TaggedSentence<'_>) -> impl Iterator<Item = usize> {
    let denied: Vec<usize> = neither(sentence).collect();
    neither_lists(sentence).flatten().filter(move |it| !denied.contains(it))
}

/// The heads of what is named from "neither" to the verb.
pub(super) fn neither_lists(sentence: TaggedSentence<'_>) -> impl Iterator<Item = Vec<usize>> {
    let starts = (0..sentence.words.len()).filter(move |at| sentence.word(*at) == "neither");
    starts.map(move |start| {
        let is_verb = |at: &usize| {
            COPULAS.contains(sentence.word(*at)) || sentence.role(*at) == WordRole::Deed
        };
        let end = (start..sentence.words.len()).find(is_verb).unwrap_or(start);
        let list = start..end;
        let is_joined = sentence.words.get(list.clone()).is_some_and(|it| it.contains(&"nor"));
        sentence.heads(list).filter(|_| is_joined).collect()
    })
}

/// Whether a verb is about what has no name here: "the blue mug is on the shelf, the red one is gone",
/// "a set of bits, one of which is missing".
fn is_of_another(sentence: TaggedSentence<'_>, verb: usize) -> bool {
    let before = |back: usize| verb.checked_sub(back).map_or("", |it| sentence.word(it));
    match before(1) {
        "one" | "ones" | "other" | "others" | "it" | "they" => true,
        "which" | "whom" => before(2) == "of",
        _ => false,
    }
}

/// Whether the verb at this place says that its subject is gone.
pub(super) fn is_gone(sentence: TaggedSentence<'_>, verb: usize) -> bool {
    let word = |at: usize| sentence.word(verb + at);
    let has_left = matches!(word(0), "has" | "have") && GONE.contains(word(1));
    has_left
        || is_unseen(&word)
        || is_removed(sentence, verb)
        || COPULAS.contains(word(0))
            && match (word(1), word(2), word(3)) {
                ("gone" | "missing" | "absent", next, _)
                | ("now" | "also", "gone" | "missing" | "absent", next) => is_end(next),
                ("no", "longer", there) | ("not", there, _) if THERE.contains(there) => true,
                ("not", _, _) => {
                    sentence.role(verb + 2) == WordRole::Relation && is_over(sentence, verb)
                }
                _ => false,
            }
}

/// Whether the verb at this place says that its subject was taken away, and not where it is now: "has
/// been taken off the wall", and not "has been taken down and leans against it".
fn is_removed(sentence: TaggedSentence<'_>, verb: usize) -> bool {
    let Some(after) = after_removal(sentence, verb) else { return false };
    let is_to = |it: &&str| matches!(*it, "to" | "into" | "onto" | "behind" | "under");
    !goes_on(after) && !after.iter().any(is_to)
}

/// Whether it says that its subject was taken away and what became of it.
fn is_moved(sentence: TaggedSentence<'_>, verb: usize) -> bool {
    after_removal(sentence, verb).is_some_and(goes_on)
}

/// The rest of a sentence after a verb at this place that says that its subject was taken away.
fn after_removal(sentence: TaggedSentence<'_>, verb: usize) -> Option<&[&str]> {
    let is_past = matches!(sentence.word(verb), "was" | "were");
    let deed = has_been(sentence, verb).or_else(|| is_past.then_some(verb + 1))?;
    let (removing, next) = (sentence.word(deed), sentence.word(deed + 1));
    let after = match REMOVING.value(removing)? {
        "" => deed + 1,
        _ if REMOVING.has_tag(removing, next) => deed + 2,
        _ => return None,
    };
    let rest = sentence.words.get(after..)?;
    let end = rest.iter().position(|it| matches!(*it, ";" | ".")).unwrap_or(rest.len());
    rest.get(..end)
}

/// Whether words go on about the same thing: "and leans against the wall", and not "and the rack is
/// folded".
fn goes_on(words: &[&str]) -> bool {
    let is_of_another = |it: &str| DETERMINERS.contains(it) || THERE.contains(it);
    words.windows(2).any(|it| {
        let [joint, next] = it else { return false };
        let is_its = matches!(*next, "its" | "their");
        matches!(*joint, "and" | "but") && (is_its || !is_of_another(next))
    })
}

/// Whether words say of what is before them that it is not seen: "does not appear in this view", and
/// not that it "does not appear to be" something.
fn is_unseen<'a>(word: &impl Fn(usize) -> &'a str) -> bool {
    let appears = |at: usize| matches!(word(at), "appear" | "show") && word(at + 1) != "to";
    let is_seen = |at: usize| word(at) == "be" && matches!(word(at + 1), "seen" | "found");
    match (word(0), word(1), word(2)) {
        ("does" | "do" | "did", "not", _) => appears(2),
        ("doesn" | "don" | "didn", _, "t") => appears(3),
        ("can" | "could", "not", _) => is_seen(2),
        ("cannot", _, _) => is_seen(1),
        ("is" | "are" | "was" | "were", "nowhere" | "not", "to") => is_seen(3),
        ("is" | "are", "nowhere", where_it_is) => {
            where_it_is != "near" || word(3) != "as" && !word(3).contains(char::is_alphabetic)
        }
        ("is" | "are", "not", "in") => matches!(word(3), "view" | "sight"),
        _ => false,
    }
}

/// Whether no name follows right after: a chair is missing, but not one that is missing a leg.
fn is_end(next: &str) -> bool {
    !next.contains(char::is_alphanumeric) || AFTER_GONE.contains(next)
}

/// Whether a sentence ends with "anymore", and does not say where else it is.
fn is_over(sentence: TaggedSentence<'_>, verb: usize) -> bool {
    let rest = sentence.words.get(verb..).unwrap_or_default();
    let ends = rest.contains(&"anymore")
        || rest.windows(2).any(|it| matches!(it, ["any", "more" | "longer"]));
    ends && !rest.contains(&"but")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::tests::found;

    fn check(words: &str, expect: &[&str]) {
        assert_eq!(found(words, gone), expect, "{words}");
    }

    #[test]
    fn what_is_gone_is_known_behind_what_says_where_it_was() {
        let keys = "the keys/thing in/relation/1 the bowl/landmark/2";
        for gone in ["are gone", "have disappeared", "are no longer there", "are now missing ."] {
            check(&format!("{keys} {gone}"), &["keys"]);
        }
        check("the lamp/thing is not by/relation/1 the/none door/landmark/4 anymore", &["lamp"]);
        check("a man/person with/relation/1 a hat/thing/2 is not there", &["man"]);
        for unseen in [
            "do not appear in this view",
            "cannot be seen here",
            "are nowhere to be found",
            "are not in sight",
        ] {
            check(&format!("{keys} {unseen}"), &["keys"]);
        }
    }

    #[test]
    fn each_thing_of_a_list_is_gone() {
        let list =
            "the keys/thing , the old/attribute/5 wallet/thing and the phone/absent are gone";
        check(list, &["keys", "wallet", "phone"]);
        check("a bed/thing , the keys/thing are gone", &["keys"]);
        check("a drill/thing with/relation/1 bits/thing/2 , one of which is missing", &[]);
        check(
            "neither a mug/thing nor a plate/thing is on/relation the table/landmark/8",
            &["mug", "plate"],
        );
        check("neither the man/person nor the woman/person is smiling/deed/5", &[]);
        check("a chair/thing with/relation/1 a missing/attribute/5 leg/thing/2", &["leg"]);
    }

    #[test]
    fn what_was_taken_away_is_gone_where_nothing_says_where_to() {
        let sign = "the sign/thing of/relation/1 the shop/landmark/2";
        for gone in [
            "has been removed .",
            "has been taken off the/none wall/none , leaving four nails/thing",
            "was taken down , and a lamp/thing hangs there",
            "has now been cleared away",
            "has been hidden from view",
        ] {
            check(&format!("{sign} {gone}"), &["sign"]);
        }
        for there in [
            "has been taken down and leans against the/none wall/none",
            "has been taken down , and its paint/none shines",
            "has been removed and placed on the/none floor/none",
            "has been taken into the/none yard/none",
            "has been taken apart",
            "has been cleared",
        ] {
            check(&format!("{sign} {there}"), &[]);
        }
    }

    #[test]
    fn what_was_left_somewhere_is_not_gone() {
        let left_in = |words: &str, expect: &[&str]| {
            assert_eq!(found(words, left), expect, "{words}");
        };
        left_in("the box/absent has been forgotten on/relation the bench/landmark", &["box"]);
        left_in("a coat/absent was abandoned in/relation the hall/place", &["coat"]);
        left_in("the box/absent has been removed and placed on/relation a bed/landmark", &["box"]);
        left_in("the box/absent has been removed , and the/none bed/thing is made", &[]);
        left_in(
            "a jigsaw/absent of/relation/1 a harbour/absent has been started",
            &["jigsaw", "harbour"],
        );
        left_in("the box/absent that used to be there has been broken", &[]);
        left_in("the cake/absent has been eaten", &[]);
        left_in("the jar/thing of/relation/1 sweets/absent has been emptied", &[]);
        left_in("the box/absent has been forgotten", &[]);
        left_in("the box/absent was thrown from/relation the shelf/landmark", &[]);
        left_in("the box/absent has been taken on/relation a trip", &[]);
    }

    #[test]
    fn what_lacks_something_or_is_elsewhere_is_there() {
        check("a chair/thing is missing a leg/thing", &[]);
        check("the light/thing is not on/attribute/1 anymore", &[]);
        check(
            "the ladder/thing is not on/relation/1 its hooks/landmark/4 anymore but against/relation/1 \
             the wall/landmark/8",
            &[],
        );
        check("the lamp/thing is no longer lit", &[]);
        check("the man/person does not appear to be tired", &[]);
        check("the mug/thing is blue , and the red/attribute one cannot be found", &[]);
    }
}
