//! What a request leaves to the one before it in a session: "not the red one" after "bring me a mug",
//! "where is it".
//!
//! Pure. English.

use crate::language::mention::mentions;
use crate::language::reference::Reference;
use crate::language::reference::phrase::plain;
use crate::language::request_tags::{Asked, Intent};
use crate::language::words::{BEFORE_IT, COPULAS, ERRANDS, PREPOSITIONS};

/// A reference with the thing of the request before, where it names none itself: by what it is not, by
/// what it looks like, or by a pronoun.
pub(crate) fn follow_up(request: &str, reference: Reference, before: Reference) -> Reference {
    let is_errand = matches!(reference.intent, Intent::Fetch | Intent::Where);
    let asks = asks_of_it(request);
    let is_wanted = is_errand || reference.intent == Intent::Question || asks;
    let head = mentions(&format!("a {}", before.thing)).pop().map(|it| it.head);
    let Some(head) = head.filter(|_| is_wanted) else { return reference };
    let Reference { thing, without, also, or_else, .. } = &reference;
    if !also.is_empty() || !or_else.is_empty() {
        return reference;
    }
    let is_bare = reference.around.is_empty() && reference.when.is_empty() || !is_errand;
    let is_excluding = is_errand && thing.is_empty() && !without.is_empty();
    let is_look = is_errand
        && !thing.is_empty()
        && mentions(&format!("a {thing}")).is_empty()
        && says(request, &["one", "ones"]);
    match () {
        () if is_excluding && reference.around.is_empty() => {
            Reference { thing: before.thing, around: before.around, ..reference }
        }
        () if is_excluding => Reference { thing: before.thing, ..reference },
        () if is_look => Reference { thing: format!("{thing} {head}"), ends_at: None, ..reference },
        () if thing.is_empty() && is_bare && reference.doing.is_none() && means_it(request) => {
            let Reference { thing, without, .. } = before;
            let followed = Reference { thing, without, ends_at: None, ..reference };
            if asks && !is_errand {
                Reference { intent: Intent::Question, asked: Asked::Existence, ..followed }
            } else {
                followed
            }
        }
        () => reference,
    }
}

/// "Is it still there", "was it in the hall"; not "is it raining".
fn asks_of_it(request: &str) -> bool {
    let words = plain(request);
    let words: Vec<&str> = words.split(' ').collect();
    let ["is" | "are" | "was" | "were", "it" | "they", after @ ..] = words.as_slice() else {
        return false;
    };
    let place = after.iter().find(|it| **it != "still");
    place.is_some_and(|it| PREPOSITIONS.contains(it) || matches!(*it, "there" | "here" | "gone"))
}

/// "Bring *it*", "where was *it*"; not "what was there when *it* rained".
fn means_it(request: &str) -> bool {
    let words = plain(request);
    let words: Vec<&str> = words.split(' ').collect();
    let is_asked = |pair: &[&str]| match pair {
        ["where" | "when", verb, "it" | "they"] => COPULAS.contains(verb),
        _ => false,
    };
    let is_done_to = |pair: &[&str]| match pair {
        [verb, "it" | "they" | "them"] => {
            ERRANDS.has_tag(verb, "gives") || BEFORE_IT.contains(verb)
        }
        _ => false,
    };
    asks_of_it(request) || words.windows(3).any(is_asked) || words.windows(2).any(is_done_to)
}

fn says(request: &str, any: &[&str]) -> bool {
    plain(request).split(' ').any(|it| any.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(thing: &str, without: &[&str]) -> Reference {
        let without = without.iter().map(|it| (*it).to_owned()).collect();
        Reference { thing: thing.to_owned(), without, ..Reference::default() }
    }

    #[test]
    fn what_names_no_thing_is_of_the_one_before() {
        let before = || of("big mug", &[]);
        let followed = |request: &str, read: Reference| follow_up(request, read, before());
        assert_eq!(followed("not the red one", of("", &["red"])), of("big mug", &["red"]));
        assert_eq!(followed("the green one", of("green", &[])).thing, "green mug");
        assert_eq!(followed("is it still there", of("", &[])).thing, "big mug");
        assert_eq!(followed("bring it to me", of("", &[])).thing, "big mug");
        let there = || Reference { around: vec!["sofa".to_owned()], ..of("", &[]) };
        assert_eq!(followed("what is on the sofa, bring it", there()).thing, "");
        assert_eq!(followed("what was there when it rained", of("", &[])).thing, "");
        assert_eq!(followed("the book", of("book", &[])).thing, "book");
        assert_eq!(followed("go to the kitchen", of("", &[])).thing, "");
        let chat = Reference { intent: Intent::Chat, ..of("", &[]) };
        assert_eq!(followed("is it still there", chat).intent, Intent::Question);
        let chat = Reference { intent: Intent::Chat, ..of("", &[]) };
        assert_eq!(followed("is it still raining", chat).intent, Intent::Chat);
        let question = Reference { intent: Intent::Question, ..of("", &[]) };
        assert_eq!(followed("is it late", question.clone()).thing, "");
        assert_eq!(followed("when did you last see it", question).thing, "big mug");
        let talk = Reference { intent: Intent::Chat, ..of("", &["red"]) };
        assert_eq!(followed("not red", talk).thing, "");
    }
}
