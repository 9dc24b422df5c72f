//! Verbs: what somebody was seen doing, as captions say it.
//!
//! Pure.

use crate::language::lexicon;
use crate::language::sentence::is_verb;
use crate::language::words::{BEFORE_VERBS, DETERMINERS, GERUNDS, MERE_USE, PLACING, PREPOSITIONS};

/// Of what a request says of deeds, in plain words, the one that says most: "using
/// while I watched TV" is watching. `None` where nothing is said that could be seen.
pub fn deed(said: &[String]) -> Option<String> {
    let all: Vec<String> = said.iter().flat_map(|it| verbs(it)).filter_map(activity).collect();
    let telling = all.iter().find(|it| !MERE_USE.contains(it.as_str()));
    telling.or_else(|| all.first()).cloned()
}

/// The first verb, and those after "while"; where a name or a place follows at once, what leads to it.
fn verbs(said: &str) -> impl Iterator<Item = &str> {
    let clauses = said.split(" while ").flat_map(|it| it.split(" when "));
    clauses.filter_map(|clause| {
        let words: Vec<&str> = clause.split(' ').filter(|it| !it.is_empty()).collect();
        let before = words.iter().take_while(|it| BEFORE_VERBS.contains(it)).count();
        let is_verb =
            |it: &&&str| !PREPOSITIONS.contains(it) && !DETERMINERS.contains(it) && !is_no_verb(it);
        let verb = words.get(before).filter(is_verb);
        // "had around his legs", "does his homework"
        let leading = || words.get(before.checked_sub(1)?).filter(|it| GERUNDS.value(it).is_some());
        verb.or_else(leading).copied()
    })
}

/// Whether a description begins with what somebody does: "cooking in the kitchen".
pub fn begins_with_activity(description: &str) -> bool {
    let mut words = description.split_whitespace();
    words.next().is_some_and(|it| is_verb(it, words.next()))
}

/// "had her *tea*", "had it *out*".
fn is_no_verb(word: &str) -> bool {
    let is_thing = lexicon::is_name(word) && !lexicon::is_verb(word);
    let is_known = GERUNDS.contains(word) || word.ends_with("ing");
    (is_thing && !is_known) || matches!(word, "out" | "up" | "down" | "away" | "back")
}

/// Whether a verb says only where something is: "left", "put".
pub fn is_placing(verb: &str) -> bool {
    PLACING.contains(verb)
}

/// The form in -ing of a verb; `None` where it says only where something is.
pub fn activity(verb: &str) -> Option<String> {
    let is_deed = GERUNDS.contains(verb) || verb.len() > 2 && !PLACING.contains(verb);
    is_deed.then(|| in_ing(verb))
}

/// The form in -ing of any verb: "standing" of "stand".
pub fn in_ing(verb: &str) -> String {
    if let Some(gerund) = GERUNDS.value(verb) {
        return gerund.to_owned();
    }
    if verb.ends_with("ing") {
        return verb.to_owned();
    }
    if let Some(base) = verb.strip_suffix("ied").or_else(|| verb.strip_suffix("ies")) {
        return format!("{base}ying");
    }
    // "feed" is a verb itself, "agreed" is of "agree".
    let is_past = !(verb.ends_with("eed") && lexicon::is_verb(verb));
    if let Some(base) = verb.strip_suffix("ed").filter(|_| is_past) {
        let end = if base.ends_with('e') { "eing" } else { "ing" };
        return format!("{base}{end}");
    }
    let base = if let Some(base) =
        verb.strip_suffix("es").filter(|it| it.ends_with(['h', 's', 'x', 'z']))
    {
        base
    } else {
        verb.strip_suffix('s').filter(|it| !it.ends_with('s')).unwrap_or(verb)
    };
    let stem = base.strip_suffix('e').filter(|it| !it.ends_with('e')).unwrap_or(base);
    let doubled = base.chars().next_back().filter(|_| is_doubled(base)).map(String::from);
    format!("{stem}{}ing", doubled.unwrap_or_default())
}

/// What somebody does who is said to be so: "asleep" is sleeping.
pub fn activity_of_state(adjective: &str) -> Option<String> {
    let gerund = GERUNDS.value(adjective).filter(|_| lexicon::is_adjective(adjective))?;
    Some(gerund.to_owned())
}

/// "chop" is chopping: a short vowel alone before the last sound.
fn is_doubled(base: &str) -> bool {
    let is_vowel = |c: char| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u');
    let mut end = base.chars().rev();
    let (last, before) = (end.next(), end.next());
    base.chars().filter(|c| is_vowel(*c)).count() == 1
        && last.is_some_and(|c| !is_vowel(c) && !matches!(c, 'w' | 'x' | 'y'))
        && before.is_some_and(is_vowel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_put_as_captions_say_them() {
        for (verb, expect) in [
            ("used", Some("using")),
            ("read", Some("reading")),
            ("watches", Some("watching")),
            ("studied", Some("studying")),
            ("wiped", Some("wiping")),
            ("iron", Some("ironing")),
            ("chop", Some("chopping")),
            ("stirs", Some("stirring")),
            ("feed", Some("feeding")),
            ("weed", Some("weeding")),
            ("agreed", Some("agreeing")),
            ("cooks", Some("cooking")),
            ("left", None),
            ("is", None),
        ] {
            assert_eq!(activity(verb).as_deref(), expect, "{verb}");
        }
    }

    #[test]
    fn any_verb_has_a_form_in_ing() {
        for (verb, expect) in [("stand", "standing"), ("cuts", "cutting"), ("sit", "sitting")] {
            assert_eq!(in_ing(verb), expect, "{verb}");
        }
    }

    #[test]
    fn of_several_deeds_the_telling_one_counts() {
        let owned = |them: &[&str]| them.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        for (said, expect) in [
            (&["using while i watched tv"][..], Some("watching")),
            (&["used", "reading in bed"], Some("reading")),
            (&["was busy charging"], Some("charging")),
            (&["used"], Some("using")),
            (&["left"], None),
            (&["had around his legs"], Some("having")),
            (&["does his homework"], Some("doing")),
            (&["had tea"], Some("having")),
            (&["had out"], Some("having")),
            (&["was around the corner"], None),
            (&[], None),
        ] {
            assert_eq!(deed(&owned(said)).as_deref(), expect, "{said:?}");
        }
    }
}
