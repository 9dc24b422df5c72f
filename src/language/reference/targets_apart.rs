//! Several targets that the model takes for one: "mugs and books", "the blue mug and the red one".
//!
//! Pure. English.

use crate::language::lexicon;
use crate::language::reference::phrase::plain;
use crate::language::request_tags::{Role, TaggedRequest, TaggedSpan};
use crate::language::words::{COLOURS, DETERMINERS};

/// The tags with each further target as one.
pub(super) fn with_targets_apart(request: &str, tagged: &TaggedRequest) -> TaggedRequest {
    with_separate_targets(request, with_pairs_apart(request, tagged))
}

/// The tags with "books" of "mugs and books" as a further target, where the model takes both for one
/// name; a black and white mug is one, and so is a salt and pepper shaker.
fn with_pairs_apart(request: &str, tagged: &TaggedRequest) -> TaggedRequest {
    const AND: &str = " and ";
    let mut apart = tagged.clone();
    apart.spans.clear();
    for span in &tagged.spans {
        let said = request.get(span.at.clone()).unwrap_or_default();
        let pair = said.split_once(AND).filter(|_| span.role == Role::Thing);
        match pair.filter(|(one, other)| are_two_names(one, other)) {
            Some((one, _)) => {
                let middle = span.at.start + one.len();
                apart.spans.push(TaggedSpan { role: Role::Thing, at: span.at.start..middle });
                let at = middle + AND.len()..span.at.end;
                apart.spans.push(TaggedSpan { role: Role::Also, at });
            }
            None => apart.spans.push(span.clone()),
        }
    }
    apart
}

/// Whether words before and after "and" each name things of their own.
fn are_two_names(one: &str, other: &str) -> bool {
    let last = |said: &str| plain(said).rsplit(' ').next().unwrap_or_default().to_owned();
    let is_several = |word: &str| lexicon::singular(word) != word;
    let is_name = |word: &str| {
        let one = lexicon::singular(word);
        lexicon::is_name(&one) && !lexicon::is_adjective(&one) && !COLOURS.contains(&one)
    };
    let (first, second) = (last(one), last(other));
    let are_alike = is_several(&first) == is_several(&second);
    let is_told = is_several(&first) || !plain(other).contains(' ');
    is_name(&first) && is_name(&second) && are_alike && is_told
}

/// The tags with "red one" of "the blue mug and the red one" as a further target: what
/// follows "and" with an article of its own is not said of the first.
fn with_separate_targets(request: &str, mut tagged: TaggedRequest) -> TaggedRequest {
    let first = tagged.spans.iter().position(|it| it.role == Role::Thing);
    let is_separate = |it: &TaggedSpan| {
        let before = plain(request.get(..it.at.start).unwrap_or_default());
        let named = plain(request.get(it.at.clone()).unwrap_or_default());
        let words = before.split(' ').chain(named.split(' ').take(1));
        let mut words: Vec<&str> = words.collect();
        if !DETERMINERS.contains(words.last().unwrap_or(&"")) {
            words.pop();
        }
        let has_article = words.pop().is_some_and(|it| DETERMINERS.contains(it));
        has_article && words.last().is_some_and(|it| matches!(*it, "and" | "then" | "plus"))
    };
    let after_first = first.map_or(tagged.spans.len(), |it| it + 1);
    for span in tagged.spans.iter_mut().skip(after_first) {
        if matches!(span.role, Role::Thing | Role::Attribute) && is_separate(span) {
            span.role = Role::Also;
        }
    }
    tagged
}
