//! Times that a request to forget tells beside what it is about, or instead of it: "what I saw
//! yesterday morning", "this visit".
//!
//! Pure.

use crate::language::inscription::inscription;
use crate::language::time::{self, Found};
use crate::language::words::{DETERMINERS, FUNCTION_WORDS, ORDINALS, PREPOSITIONS, VISITS};

/// Times of a text, and the text without them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldTimes {
    pub times: Vec<Found>,
    pub rest: String,
}

/// The times that `text` tells.
pub fn told_times(text: &str) -> ToldTimes {
    // "yesterday's"
    let text = &text.replace("'s ", " ").replace("’s ", " ");
    let mut times = time::find(text);
    times.retain(|it| !is_part_of_name(text, it));
    let (mut rest, mut from) = (String::new(), 0);
    for Found { at, .. } in &times {
        rest.push_str(text.get(from..at.start).unwrap_or_default());
        from = at.end;
    }
    rest.push_str(text.get(from..).unwrap_or_default());
    ToldTimes { times, rest: rest.split_whitespace().collect::<Vec<_>>().join(" ") }
}

/// Whether a time only tells what sort of thing is meant: "the morning paper", "a Sunday walk", "a
/// calendar of May".
fn is_part_of_name(text: &str, Found { at, time }: &Found) -> bool {
    let may_be_part = time.is_recurring() || !time.text.contains(' ') && !is_of_now(&time.text);
    let before = text.get(..at.start).unwrap_or_default().trim_end();
    let after = text.get(at.end..).unwrap_or_default();
    let next = after.strip_prefix(' ').and_then(|it| it.split(' ').next()).unwrap_or_default();
    let next = next.to_lowercase();
    let is_any = FUNCTION_WORDS.contains(&next)
        || DETERMINERS.contains(&next)
        || PREPOSITIONS.contains(&next)
        || !next.starts_with(char::is_alphabetic);
    // "The thing that boils water for tea"
    let is_purpose = time.text.to_lowercase().starts_with("for ");
    is_purpose || is_written(text, before) || may_be_part && (!is_any || before.ends_with(" of"))
}

/// Whether the word after `before` is written on something: "a note that says call me on Monday".
fn is_written(text: &str, before: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let at = before.split_whitespace().count();
    let mut written = (0..=at).filter_map(|name| inscription(&words, name));
    written.any(|it| it.contains(&at))
}

/// Whether a word is of a day that is counted from the present one.
fn is_of_now(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "today" | "yesterday" | "tonight" | "now")
}

/// Whether a text is of a visit as a whole, and of nothing that was seen on it.
pub fn is_visit(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
    let mut words: Vec<&str> = words.collect();
    let is_of_visit = words.pop().is_some_and(|it| VISITS.contains(it));
    is_of_visit && words.iter().all(|it| says_which(it))
}

fn says_which(word: &str) -> bool {
    DETERMINERS.contains(word)
        || FUNCTION_WORDS.contains(word)
        || ORDINALS.contains(word)
        || matches!(word, "whole" | "entire" | "current" | "last" | "latest")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_taken_out_of_a_text() {
        for (text, times, rest) in [
            ("yesterday morning", &["yesterday morning"][..], ""),
            ("the mug I saw yesterday", &["yesterday"], "the mug I saw"),
            ("today's visit", &["today"], "visit"),
            ("the last hour", &["the last hour"], ""),
            ("everything since noon", &["since noon"], "everything"),
            ("my phone", &[], "my phone"),
            ("the dinner table", &[], "the dinner table"),
            ("the lunch box", &[], "the lunch box"),
            ("the morning paper", &[], "the morning paper"),
            ("the second mug", &[], "the second mug"),
            ("a sunday newspaper", &[], "a sunday newspaper"),
            ("a calendar of May", &[], "a calendar of May"),
            ("the night light", &[], "the night light"),
            ("the alarm clock", &[], "the alarm clock"),
            ("a note that says call mum on Monday", &[], "a note that says call mum on Monday"),
            ("what boils water for tea", &[], "what boils water for tea"),
        ] {
            let found = told_times(text);
            let said: Vec<&str> = found.times.iter().map(|it| it.time.text.as_str()).collect();
            assert_eq!((said.as_slice(), found.rest.as_str()), (times, rest), "{text}");
        }
    }

    #[test]
    fn a_visit_as_a_whole_is_told_from_what_was_seen_on_it() {
        for visit in ["this visit", "visit", "the whole tour", "the last session", "my last trip"] {
            assert!(is_visit(visit), "{visit}");
        }
        for other in ["the visit of Anna", "the red mug", "a visitor", "", "the tour bus"] {
            assert!(!is_visit(other), "{other}");
        }
    }
}
