//! What is said after a request for politeness alone: "…, would you". The model of requests
//! loses a place before it.
//!
//! Pure. English.

use std::ops::Range;

use crate::language::words::COURTESY;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_courtesy_after_the_last_comma_are_a_tail() {
        let tail = |request: &'static str| find_tail(request).map(|at| &request[at]);
        assert_eq!(tail("Run to the hall for the mug, would you."), Some(", would you."));
        assert_eq!(tail("Get me the red mug, thanks mate!"), Some(", thanks mate!"));
        for request in ["no, thanks", "get the mug, the red one", "bring me the mug please", ","] {
            assert_eq!(tail(request), None, "{request}");
        }
    }
}
