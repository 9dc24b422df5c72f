//! Requests for the place where something was, whatever has become of it since: "go to where the cat
//! slept on Sunday", "the spot I left my bag yesterday".
//!
//! Pure. English.

use crate::language::sentence::tokens;
use crate::language::words::{BEFORE_VERBS, BEFORE_WHERE, DETERMINERS};

/// Whether a request, which tells of the past, wants the place of then. "Where was the cat on Sunday"
/// asks, and "do you know where" as well, and so does "where is it now".
pub(super) fn wants_past_place(request: &str) -> bool {
    request.to_lowercase().split(['.', '!', '?', ';']).any(names_past_place)
}

fn names_past_place(sentence: &str) -> bool {
    let words = tokens(sentence);
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    (1..words.len()).any(|at| match word(at) {
        "where" => BEFORE_WHERE.contains(word(at - 1)) && !matches!(word(at + 1), "is" | "are"),
        "wherever" => BEFORE_WHERE.contains(word(at - 1)) && !names_place(word(at - 1)),
        next => {
            let is_place = BEFORE_WHERE.has_tag(word(at - 1), "noun");
            let is_meant = at > 1 && DETERMINERS.has_tag(word(at - 2), "article");
            is_place && is_meant && (DETERMINERS.contains(next) || BEFORE_VERBS.contains(next))
        }
    })
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
}
