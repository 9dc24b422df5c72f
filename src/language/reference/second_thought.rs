//! What a second thought takes back of a thing that is wanted: the frog of "the frog umbrella, scrap
//! that, the black one".
//!
//! Pure. English.

use std::ops::Range;

use crate::language::reference::phrase::plain;
use crate::language::request_tags::{Role, TaggedRequest, TaggedSpan};
use crate::language::words::{COPULAS, SECOND_THOUGHTS};

/// The tags with what was said of the first thing as what it must not be, where another "one" of it is
/// told after a second thought.
pub(super) fn with_what_is_taken_back(request: &str, tagged: &TaggedRequest) -> TaggedRequest {
    let mut told = tagged.clone();
    let Some(thought) = told_anew(request, tagged) else { return told };
    told.spans.clear();
    for span in &tagged.spans {
        let is_before = span.at.end <= thought;
        if is_before && span.role == Role::Attribute {
            told.spans.push(TaggedSpan { role: Role::Not, at: span.at.clone() });
        } else if is_before && span.role == Role::Thing {
            let name = request.get(span.at.clone()).unwrap_or_default();
            let noun = span.at.start + name.rfind(' ').map_or(0, |blank| blank + 1);
            let said = span.at.start..noun.saturating_sub(1).max(span.at.start);
            if !said.is_empty() {
                told.spans.push(TaggedSpan { role: Role::Not, at: said });
            }
            told.spans.push(TaggedSpan { role: Role::Thing, at: noun..span.at.end });
        } else {
            told.spans.push(span.clone());
        }
    }
    told
}

/// Where the second thought begins after which "the black one" is told of the first thing.
fn told_anew(request: &str, tagged: &TaggedRequest) -> Option<usize> {
    let thing = tagged.spans.iter().find(|it| it.role == Role::Thing)?;
    let after: Vec<(String, Range<usize>)> = words_from(request, thing.at.end).collect();
    let words: Vec<&str> = after.iter().map(|(word, _)| word.as_str()).collect();
    let thought = second_thought(&words)?;
    let one = words.iter().position(|it| matches!(*it, "one" | "ones"))?;
    let between = words.get(thought..one)?;
    // "No other one is there" thinks of nothing anew.
    let is_told = between.len() <= WORDS_MAX && !between.iter().any(|it| COPULAS.contains(it));
    let start = after.get(thought)?.1.start;
    let is_told_of = |it: &&TaggedSpan| it.role == Role::Attribute && it.at.start >= start;
    (is_told && tagged.spans.iter().any(|it| is_told_of(&it))).then_some(start)
}

/// The first word by which somebody puts right what was said; "rather than" and "instead of" put nothing
/// right.
pub(super) fn second_thought(words: &[&str]) -> Option<usize> {
    let next = |at: usize| words.get(at + 1).copied().unwrap_or_default();
    words.iter().enumerate().position(|(at, word)| match (*word, next(at)) {
        ("rather", "than") | ("instead", "of") => false,
        (word, next) if SECOND_THOUGHTS.has_tag(word, "on") => next == "on",
        (word, _) => SECOND_THOUGHTS.contains(word),
    })
}

/// Words from a place of a text on, bare, with where each stands.
fn words_from(text: &str, from: usize) -> impl Iterator<Item = (String, Range<usize>)> + '_ {
    let rest = text.get(from..).unwrap_or_default();
    rest.split_whitespace().map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        (plain(word), start..start + word.len())
    })
}

/// Most words from the second thought to the "one".
const WORDS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(request: &str, tags: &[(Role, &str)], expect: &[(Role, &str)]) {
        let span = |(role, said): &(Role, &str)| {
            let start = request.find(said).unwrap();
            TaggedSpan { role: *role, at: start..start + said.len() }
        };
        let tagged =
            TaggedRequest { spans: tags.iter().map(span).collect(), ..TaggedRequest::default() };
        let told = with_what_is_taken_back(request, &tagged);
        let found: Vec<(Role, &str)> =
            told.spans.iter().map(|it| (it.role, &request[it.at.clone()])).collect();
        assert_eq!(found, expect, "{request}");
    }

    #[test]
    fn what_was_said_before_a_second_thought_is_excluded() {
        use Role::{Attribute, Not, Thing};
        check(
            "frog umbrella.. scrap that, the grown up one",
            &[(Thing, "frog umbrella"), (Attribute, "grown up")],
            &[(Not, "frog"), (Thing, "umbrella"), (Attribute, "grown up")],
        );
        check(
            "the small mug hang on the red one",
            &[(Attribute, "small"), (Thing, "mug"), (Attribute, "red")],
            &[(Not, "small"), (Thing, "mug"), (Attribute, "red")],
        );
    }

    #[test]
    fn what_is_no_second_thought_takes_nothing_back() {
        use Role::{Attribute, Thing};
        for (request, thing, said) in [
            ("the frog umbrella, the black one", "frog umbrella", "black"),
            ("the frog umbrella rather than the black one", "frog umbrella", "black"),
            ("the frog umbrella, no there is a black one", "frog umbrella", "black"),
            ("the frog umbrella, sorry, the black scarf", "frog umbrella", "black"),
        ] {
            let tags = [(Thing, thing), (Attribute, said)];
            check(request, &tags, &tags);
        }
    }
}
