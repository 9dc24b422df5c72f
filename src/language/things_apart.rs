//! The things of a list that are each meant by themselves: "mugs and phones" and "my keys or my
//! phone on the desk", but not "a mug and a book on a shelf", which is what one picture shows; and
//! what of them is excepted.
//!
//! Pure.

use crate::language::mention::mentions;
use crate::language::sentence::is_verb;
use crate::language::words::{EXCLUSIONS, PREPOSITIONS};

/// Between the things of a list.
const AND: [&str; 3] = ["and", "or", "&"];
/// Before all of them.
const BEFORE: [&str; 3] = ["both", "either", "all"];
/// What begins a clause that tells more of each.
const CLAUSES: [&str; 4] = ["that", "which", "who", "where"];

/// Each thing with all that is said after the list; the text itself where it lists none.
pub fn things_apart(text: &str) -> Vec<String> {
    let whole = || vec![text.to_owned()];
    let words: Vec<&str> = text.split_whitespace().collect();
    let begins_rest = |(at, word): (usize, &&str)| {
        let next = words.get(at + 1).copied();
        PREPOSITIONS.contains(word) || CLAUSES.contains(word) || is_verb(word, next)
    };
    let end = words.iter().enumerate().position(begins_rest).unwrap_or(words.len());
    let (list, rest) = words.split_at(end);
    let from = usize::from(list.first().is_some_and(|it| BEFORE.contains(it)));
    let list = list.get(from..).unwrap_or_default();
    let joined = list.join(" ").replace(',', " , ");
    let is_between = |word: &&str| AND.contains(word) || *word == ",";
    let words: Vec<&str> = joined.split_whitespace().collect();
    let mut parts: Vec<String> = words
        .split(|it| is_between(it))
        .filter(|it| !it.is_empty())
        .map(|it| it.join(" "))
        .collect();
    let is_choice = words.contains(&"or");
    if let Some(each) = distributed(&parts).filter(|_| is_choice) {
        parts = each;
    }
    let is_one_picture = parts.iter().all(|it| it.starts_with("a ") || it.starts_with("an "));
    let is_scene = is_one_picture && !is_choice;
    let are_things = parts.iter().all(|it| mentions(&format!("the {it}")).len() == 1);
    if parts.len() < 2 || is_scene || !are_things {
        return whole();
    }
    let with_rest = |it: String| [it].into_iter().chain(rest.iter().map(|it| (*it).to_owned()));
    parts.into_iter().map(|it| with_rest(it).collect::<Vec<_>>().join(" ")).collect()
}

/// What is named, and what of it is excepted: "mugs" and "the red mugs" of "mugs but not the red
/// ones".
pub fn excepted(text: &str) -> (&str, Option<String>) {
    let between = |phrase: &str| {
        let at = text.to_lowercase().find(&format!(" {phrase} "))?;
        Some((text.get(..at)?, text.get(at + phrase.len() + 2..)?))
    };
    // The longest of those that begin at one word stand first.
    let found = EXCLUSIONS.words().filter_map(between).min_by_key(|(named, _)| named.len());
    let Some((named, except)) = found else { return (text, None) };
    let head = mentions(named).into_iter().next().map(|it| it.head).unwrap_or_default();
    let is_one = |word: &str| matches!(word, "one" | "ones");
    let words = except.split_whitespace().map(|it| if is_one(it) { head.as_str() } else { it });
    (named.trim_end_matches(','), Some(words.collect::<Vec<_>>().join(" ")))
}

/// Attributes of which each is meant with the last name: "blue or red mugs".
fn distributed(parts: &[String]) -> Option<Vec<String>> {
    let (last, before) = parts.split_last()?;
    let head = mentions(&format!("the {last}")).into_iter().next()?.head;
    let is_bare = |it: &String| mentions(&format!("the {it}")).is_empty();
    let named = before.iter().map(|it| format!("{it} {head}"));
    before.iter().all(is_bare).then(|| named.chain([last.clone()]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_excepted_is_told_from_what_is_named() {
        for (text, named, except) in [
            ("mugs but not the red ones", "mugs", Some("the red mugs")),
            ("any mug except the blue one", "any mug", Some("the blue mug")),
            ("all books, apart from novels", "all books", Some("novels")),
            ("my phone", "my phone", None),
        ] {
            assert_eq!(excepted(text), (named, except.map(str::to_owned)), "{text}");
        }
    }

    #[test]
    fn things_of_a_list_are_told_apart_and_scenes_are_not() {
        for (text, expected) in [
            ("mugs and phones", &["mugs", "phones"][..]),
            ("my keys, my phone and my wallet", &["my keys", "my phone", "my wallet"]),
            ("the mug or the book on the desk", &["the mug on the desk", "the book on the desk"]),
            ("both mugs and phones", &["mugs", "phones"]),
            ("a mug or a phone", &["a mug", "a phone"]),
            ("a mug and a book on a shelf", &["a mug and a book on a shelf"]),
            ("the mug next to the book and the lamp", &["the mug next to the book and the lamp"]),
            ("black and white cats", &["black and white cats"]),
            ("blue or red mugs", &["blue mugs", "red mugs"]),
            ("the phone", &["the phone"]),
            ("", &[""]),
        ] {
            assert_eq!(things_apart(text), expected, "{text}");
        }
    }
}
