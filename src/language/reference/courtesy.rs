//! What is said around a request for politeness alone: "…, would you", "hey Robbie, …". The model
//! of requests loses a place before the one, and takes who is called by the other for the thing.
//!
//! Pure. English.

use std::ops::Range;

use crate::language::words::{COURTESY, GREETINGS, SUGGESTIONS};

/// Words before the tail, at least: "no, thanks" is an answer.
const REQUEST_WORDS_MIN: usize = 4;

/// Where the tail stands: words of courtesy only, after the last comma.
pub(crate) fn find_tail(request: &str) -> Option<Range<usize>> {
    let comma = request.rfind(',')?;
    let (before, tail) = (request.get(..comma)?, request.get(comma..)?);
    let lower = tail.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let mut words = words.filter(|it| !it.is_empty()).peekable();
    words.peek()?;
    let is_long = before.split_whitespace().count() >= REQUEST_WORDS_MIN;
    (is_long && words.all(|it| COURTESY.contains(it))).then_some(comma..request.len())
}

/// Where words stand before an order that suggest it: "why don't you fetch it" denies nothing.
pub(crate) fn find_suggestion(request: &str) -> Option<Range<usize>> {
    let lower = request.to_lowercase().replace('’', "'");
    let said = SUGGESTIONS.words().map(|it| format!("{it} "));
    let mut said = said.filter(|it| lower.starts_with(it) && request.is_char_boundary(it.len()));
    said.next().map(|it| 0..it.len())
}

/// Words of a call, at most: "good morning dear robot".
const CALL_WORDS_MAX: usize = 4;

/// Where the call stands: a greeting, perhaps with a name, before the first comma and what is
/// wanted.
pub(crate) fn find_call(request: &str) -> Option<Range<usize>> {
    let comma = request.find([',', '!'])?;
    let (call, rest) = (request.get(..comma)?.to_lowercase(), request.get(comma + 1..)?);
    let mut words = call.split_whitespace().filter(|it| *it != "good").peekable();
    let is_call = words.peek().is_some_and(|it| GREETINGS.contains(it));
    let is_long = rest.split_whitespace().count() >= REQUEST_WORDS_MIN - 1;
    (is_call && is_long && words.count() < CALL_WORDS_MAX).then_some(0..comma + 1)
}

/// The words between those of courtesy and greeting at both ends: "the kazoo" of "hey, the kazoo,
/// please!".
pub(crate) fn without_courtesy(request: &str) -> String {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let words: Vec<String> = request.split_whitespace().map(bare).collect();
    // "good morning"
    let is_polite = |word: &&String| {
        let lower = word.to_lowercase();
        let is_known = COURTESY.contains(&lower) || GREETINGS.contains(&lower);
        lower.is_empty() || is_known || lower == "good"
    };
    let before = words.iter().take_while(is_polite).count();
    let after = words.iter().skip(before).rev().take_while(is_polite).count();
    let end = words.len().saturating_sub(after);
    words.get(before..end).unwrap_or_default().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_and_a_name_before_a_request_are_a_call() {
        let call = |request: &'static str| find_call(request).map(|at| &request[at]);
        assert_eq!(call("Hey Robbie, go to the washing machine"), Some("Hey Robbie,"));
        assert_eq!(call("good morning! where are my keys"), Some("good morning!"));
        for request in [
            "hey, stop",
            "bring me the mug, the red one",
            "hi there",
            "hello mug on the table in the kitchen, come to me now",
        ] {
            assert_eq!(call(request), None, "{request}");
        }
    }

    #[test]
    fn words_of_courtesy_after_the_last_comma_are_a_tail() {
        let tail = |request: &'static str| find_tail(request).map(|at| &request[at]);
        assert_eq!(tail("Run to the hall for the mug, would you."), Some(", would you."));
        assert_eq!(tail("Get me the red mug, thanks mate!"), Some(", thanks mate!"));
        for request in ["no, thanks", "get the mug, the red one", "bring me the mug please", ","] {
            assert_eq!(tail(request), None, "{request}");
        }
    }

    #[test]
    fn a_suggestion_before_an_order_is_found() {
        assert_eq!(find_suggestion("Why don't you fetch it"), Some(0..14));
        assert_eq!(find_suggestion("don't fetch it"), None);
    }

    #[test]
    fn words_of_courtesy_at_both_ends_are_left_out() {
        assert_eq!(without_courtesy("hey, the kazoo, please!"), "the kazoo");
        assert_eq!(without_courtesy("kazoo?"), "kazoo");
        assert_eq!(without_courtesy("thanks"), "");
    }
}
