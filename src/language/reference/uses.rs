//! What a thing is wanted for, where a request does not name it: "something to stand on", "anything
//! against the rain".
//!
//! Pure. English.

use std::ops::Range;

use crate::language::lexicon;
use crate::language::mention::{Mention, mentions};
use crate::language::person::is_person;
use crate::language::reference::phrase::plain;
use crate::language::words::{AFFORDANCES, AFTER_USE, COPULAS, DETERMINERS, PLACEHOLDERS, TELLING};

/// Things for a deed in -ing.
pub(super) fn things_for_deed(deed: &str) -> Vec<String> {
    let names = AFFORDANCES.value(deed);
    names.into_iter().flat_map(|it| it.split(", ")).map(str::to_owned).collect()
}

/// A thing by what it is wanted for, in the words of a request.
pub(super) struct DescribedByUse {
    /// "something to weigh the flour with".
    pub(super) description: String,
    /// Where that stands in the request.
    pub(super) at: Range<usize>,
}

impl DescribedByUse {
    /// The first one of a request; `None` where there is none.
    pub(super) fn of(request: &str) -> Option<Self> {
        let words: Vec<&str> = request.split_whitespace().collect();
        let bare: Vec<String> = words.iter().map(|it| plain(it)).collect();
        let said: Vec<&str> = bare.iter().map(String::as_str).collect();
        let is_described = |at: &usize| {
            let after = said.get(at + 1..).unwrap_or_default();
            let is_placeholder = |it: &&str| match *it {
                "what" | "whatever" => {
                    after.first().is_some_and(|it| is_user(it)) && !names_it(after)
                }
                it => PLACEHOLDERS.contains(it),
            };
            said.get(*at).is_some_and(is_placeholder)
                && is_use(after)
                && words.get(*at).is_some_and(|it| !ends_clause(it))
        };
        let first = (0..words.len()).find(is_described)?;
        let before = said.iter().zip(&words).take(first).rev();
        let is_said_of_it =
            |(said, word): &(&&str, &&str)| lexicon::is_adjective(said) && !ends_clause(word);
        let first = first - before.take_while(is_said_of_it).count();
        let clause = words.get(first..)?;
        let last = clause_end(clause)?;
        let start = |word: &str| word.as_ptr() as usize - request.as_ptr() as usize;
        let at = start(clause.first()?)..clause.get(last).map(|it| start(it) + it.len())?;
        let said = plain(request.get(at.clone())?);
        let description = match said.split_once(' ') {
            Some(("what" | "whatever", use_)) => format!("thing {use_}"),
            Some(("smth", use_)) => format!("something {use_}"),
            Some((it, use_)) if PLACEHOLDERS.has_tag(it, "forgotten") => format!("thing {use_}"),
            _ => said,
        };
        Some(Self { description, at })
    }

    /// The same with the name of what "it" stands for: "something to hold *it* with", of a casserole.
    pub(super) fn of_name(&self, name: &str) -> Option<String> {
        let is_pronoun = |it: &str| matches!(it, "it" | "them");
        let words: Vec<&str> = self.description.split(' ').collect();
        let at = words.iter().position(|it| is_pronoun(it))?;
        let named = words.iter().enumerate();
        let named = named
            .map(|(place, it)| if place == at { format!("the {name}") } else { (*it).to_owned() });
        Some(named.collect::<Vec<_>>().join(" "))
    }
}

/// Whether a clause that begins with "what" goes on to name what that is: "what I need for this *is the*
/// bag".
fn names_it(after: &[&str]) -> bool {
    let mut pairs = after.windows(2);
    pairs.any(|it| {
        matches!(it, [copula, article] if COPULAS.contains(copula) && DETERMINERS.contains(article))
    })
}

/// The last word of the clause that these words begin with; `None` where there are none.
pub(super) fn clause_end(words: &[&str]) -> Option<usize> {
    let is_over = |at: &usize| {
        let next = words.get(at + 1).map(|it| plain(it));
        let is_next_other = next.is_none_or(|it| AFTER_USE.contains(it.as_str()));
        is_next_other || words.get(*at).is_some_and(|it| ends_clause(it))
    };
    (0..words.len()).find(is_over)
}

pub(super) fn ends_clause(word: &str) -> bool {
    word.ends_with([',', '.', '!', '?', ';', ':'])
}

/// Whether the words after a placeholder tell a use: "to weigh the flour", "for opening tins", "I can
/// lean on", "that charges it".
fn is_use(after: &[&str]) -> bool {
    let is_doing = |verb: &str| lexicon::is_verb(verb) && !COPULAS.contains(verb);
    let does = |verb: &str| {
        let base = verb.strip_suffix('s').filter(|it| is_doing(it));
        base.or_else(|| verb.strip_suffix("es").filter(|it| is_doing(it))).is_some()
    };
    match after {
        ["to", verb, ..] => is_doing(verb),
        ["for", deed, ..] if deed.ends_with("ing") => true,
        ["for" | "against", named @ ..] => names_no_person(named),
        ["enough", rest @ ..] => is_use(rest),
        ["that" | "which", user, verb, ..] if is_user(user) => is_doing(verb) || is_able(verb),
        ["that" | "which", verb, ..] => is_able(verb) || does(verb) && !TELLING.contains(verb),
        [user, verb, ..] if is_user(user) => is_doing(verb) || is_able(verb),
        // "something warm to drink"
        [adjective, rest @ ..] if lexicon::is_adjective(adjective) => is_use(rest),
        _ => false,
    }
}

/// Whether words begin with a name, and not with somebody's: "for my gym kit", not "for me".
fn names_no_person(words: &[&str]) -> bool {
    let named = mentions(&words.join(" "));
    let first = words.iter().find(|it| !DETERMINERS.contains(it));
    let is_next =
        |it: &Mention| first.is_some_and(|first| it.phrase.split(' ').any(|it| it == *first));
    named.first().is_some_and(|it| is_next(it) && !is_person(it))
}

fn is_user(word: &str) -> bool {
    matches!(word, "i" | "we" | "you" | "one" | "people")
}

fn is_able(verb: &str) -> bool {
    matches!(verb, "can" | "could" | "will" | "would" | "might")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_described_by_its_use_to_the_end_of_the_clause() {
        for (request, expect) in [
            (
                "I need something to bash a nail into the wall with.",
                "something to bash a nail into the wall with",
            ),
            ("the thing to drain the spaghetti, please", "thing to drain the spaghetti"),
            (
                "bring me the flat thing I can stir paint with please",
                "flat thing i can stir paint with",
            ),
            ("anything that charges my phone so I can call her", "anything that charges my phone"),
            ("a thing for opening tins", "thing for opening tins"),
            ("something warm to drink", "something warm to drink"),
            ("bring me what you chop wood with", "thing you chop wood with"),
            ("what is on the table", ""),
            ("What I need for this job is the bag that was put down there", ""),
            ("something that says fragile", ""),
            ("the thing I left on the sofa", ""),
            ("something big enough for my gym kit", "something big enough for my gym kit"),
            ("something for the rain please", "something for the rain"),
            ("I need something against the rain", "something against the rain"),
            ("something for me", ""),
            ("something for grandma", ""),
            ("smth to snip twigs with pls", "something to snip twigs with"),
            ("the thingummy for opening tins", "thing for opening tins"),
            ("that wotsit you hang coats on", "thing you hang coats on"),
            ("something red", ""),
            ("the red one", ""),
            ("bring me something. to work!", ""),
        ] {
            let found = DescribedByUse::of(request);
            let described = found.as_ref().map(|it| it.description.as_str());
            assert_eq!(described.unwrap_or_default(), expect, "{request}");
        }
    }

    #[test]
    fn what_a_use_calls_it_is_named() {
        let found = DescribedByUse::of("the casserole is hot, something to hold it with!").unwrap();
        let named = found.of_name("casserole");
        assert_eq!(named.as_deref(), Some("something to hold the casserole with"));
        let found = DescribedByUse::of("something to hold a pan with").unwrap();
        assert_eq!(found.of_name("casserole"), None);
    }
}
