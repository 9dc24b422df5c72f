//! Requests for a place where something was, and not for the thing: "go to where the cat slept on
//! Sunday", "the spot I left my bag yesterday", "take me to where the torque wrench is normally kept",
//! "the dog's usual spot".
//!
//! Pure. English.

use crate::language::caption::is_person;
use crate::language::mention::mentions;
use crate::language::reference::phrase::{is_relative, plain};
use crate::language::sentence::tokens;
use crate::language::verbs;
use crate::language::words::{BEFORE_VERBS, BEFORE_WHERE, COPULAS, DETERMINERS};

/// Which of the places of a thing is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WantedPlace {
    /// Where it was last.
    #[default]
    Last,
    /// Where it was then, whatever has become of it since.
    Then,
    /// Where it is most often.
    Usual,
}

/// Whether a request, which tells of the past, wants the place of then. "Where was the cat on Sunday"
/// asks, and "do you know where" as well, and so does "where is it now".
pub(super) fn wants_past_place(request: &str) -> bool {
    request.to_lowercase().split(SENTENCE_ENDS).any(|sentence| {
        let words = tokens(sentence);
        let after = clause(&words).and_then(|at| words.get(at..)).unwrap_or_default();
        !after.is_empty() && !matches!(after, ["where", "is" | "are", ..])
    })
}

/// Whose usual place a request, which tells of a habit, wants: "cat sleeps every night" of "where the
/// cat sleeps every night", "mug" of "the mug's usual place". `None` where it wants the thing: "where
/// the book that is usually on the desk is", "from its usual place".
pub(super) fn usual_place(request: &str) -> Option<String> {
    request.to_lowercase().split(SENTENCE_ENDS).find_map(|sentence| {
        let words = tokens(sentence);
        match clause(&words).and_then(|at| words.get(at..)) {
            Some(["where" | "wherever", after @ ..]) => {
                (!tells_which_one(after)).then(|| after.join(" "))
            }
            Some(after) => Some(after.join(" ")),
            None => possessed(sentence),
        }
    })
}

/// Who is at a place of which a request tells so: the thing, where it is one, and what it does.
pub(super) fn who_is_there(told: &str) -> (String, Option<String>) {
    let Some(first) = mentions(told).into_iter().next() else { return (String::new(), None) };
    let mut after = told.split_once(first.phrase.as_str()).map_or("", |it| it.1).split_whitespace();
    let verb = after.find(|it| !BEFORE_VERBS.contains(it));
    let deed = verb.filter(|_| is_person(&first)).and_then(verbs::activity);
    (first.phrase, deed)
}

const SENTENCE_ENDS: [char; 4] = ['.', '!', '?', ';'];

/// Where the clause begins that names a place: at "where", or after "the spot".
fn clause(words: &[&str]) -> Option<usize> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    (1..words.len()).find(|at| {
        let before = word(at - 1);
        match word(*at) {
            "where" => BEFORE_WHERE.contains(before),
            "wherever" => BEFORE_WHERE.contains(before) && !names_place(before),
            next => {
                let is_place = BEFORE_WHERE.has_tag(before, "noun");
                let is_meant = *at > 1 && DETERMINERS.has_tag(word(at - 2), "article");
                is_place && is_meant && (DETERMINERS.contains(next) || BEFORE_VERBS.contains(next))
            }
        }
    })
}

/// "the book *that* is usually here is", "the mug I use most *is*".
fn tells_which_one(clause: &[&str]) -> bool {
    let is_at_end = match clause {
        [.., before, last] => COPULAS.contains(last) && !is_often(before),
        _ => false,
    };
    is_at_end || clause.iter().any(|it| is_relative(it))
}

/// "usually", "always", "normally".
fn is_often(word: &str) -> bool {
    matches!(word, "always" | "often") || word.ends_with("ly")
}

/// "white mug" of "the white mug's usual place", "first aid kit" of "the usual place of the first
/// aid kit".
fn possessed(sentence: &str) -> Option<String> {
    let plain = plain(sentence);
    let words: Vec<&str> = plain.split(' ').collect();
    let place = words.iter().position(|it| names_place(it))?;
    let how = place.checked_sub(1)?;
    let before = words.get(..how)?;
    let from = before.iter().rposition(|it| DETERMINERS.contains(it))?;
    let leads = from.checked_sub(1).and_then(|at| words.get(at));
    if leads.is_some_and(|it| matches!(*it, "from" | "off" | "at" | "in" | "on")) {
        return None;
    }
    let owner = before.get(from + 1..)?.join(" ");
    match words.get(place + 1..)? {
        ["of" | "for", thing @ ..] if owner.is_empty() => Some(thing.join(" ")),
        _ if owner.ends_with('s') || owner.ends_with('\'') => {
            let owner = owner.trim_end_matches('\'');
            Some(owner.strip_suffix("'s").unwrap_or(owner).to_owned())
        }
        _ => None,
    }
}

fn names_place(word: &str) -> bool {
    BEFORE_WHERE.has_tag(word, "noun") || BEFORE_WHERE.has_tag(word, "room")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_place_by_what_was_there_wants_it() {
        for (request, expect) in [
            ("Go to where the cat slept on Sunday", true),
            ("drive back to wherever we had the picnic", true),
            ("the spot where my blue book lay on Saturday night, go there", true),
            ("go to the place the keys were in on thursday", true),
            ("roll over to the spot i left my bag yesterday", true),
            ("where was the cat on Sunday", false),
            ("do you know where I left my bag yesterday", false),
            ("bring the mug from where I left it", false),
            ("bring the mug I used yesterday", false),
            ("find a place for the mug", false),
            ("I saw a ball in the living room. Wherever it's got to, please fetch it", false),
            ("i saw a ball in the living room wherever its got to fetch it", false),
            ("a hat was lying next to the mug three days back where is it now", false),
        ] {
            assert_eq!(wants_past_place(request), expect, "{request}");
        }
    }

    #[test]
    fn what_names_a_place_by_what_is_mostly_there_wants_it() {
        for (request, whose) in [
            ("go where the blue mug usually stands", Some("the blue mug usually stands")),
            ("Take me to where the wrench is normally", Some("the wrench is normally")),
            ("drive to where the keys usually are", Some("the keys usually are")),
            ("Go to the spot the cat mostly naps in.", Some("the cat mostly naps in")),
            ("The white mug's usual place, go there.", Some("white mug")),
            ("go to the dogs usual spot", Some("dogs")),
            ("head to the usual place of the first aid kit", Some("the first aid kit")),
            ("go to where the book that is usually on the desk is", None),
            ("drive to where the book I read the most is", None),
            ("bring the mug from the dog's usual spot", None),
            ("bring the mug from where it usually stands", None),
            ("bring me my usual mug", None),
            ("my usual place", None),
            ("the book that is usually at your place", None),
        ] {
            assert_eq!(usual_place(request).as_deref(), whose, "{request}");
        }
    }

    #[test]
    fn who_is_at_a_place_is_told_with_the_deed_of_people() {
        let told = |told: &str| {
            let (who, deed) = who_is_there(told);
            (who, deed.unwrap_or_default())
        };
        let pair = |who: &str, deed: &str| (who.to_owned(), deed.to_owned());
        assert_eq!(told("grandpa reads most often"), pair("grandpa", "reading"));
        assert_eq!(told("the dog"), pair("dog", ""));
        assert_eq!(told(""), pair("", ""));
    }
}
