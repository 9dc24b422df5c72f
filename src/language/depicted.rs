//! What is only depicted: the lion of "a poster of a lion", whatever a screen shows, and what is
//! on the cover of a magazine.
//!
//! Pure. By rules over a tagged sentence, as no tag says it: most pictures are not even tagged as
//! things. A photograph that somebody takes is of what is there, and a caption that begins with
//! "a photo of" is one of its scene.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::language::borne::printed_on;
use crate::language::design::is_on_design;
use crate::language::lexicon;
use crate::language::mention::{Attribute, Mention};
use crate::language::part_attribute::marked;
use crate::language::tagged::{TaggedSentence, WordRole};
use crate::language::words::{COPULAS, DEPICTIONS, DETERMINERS, PICTURES, TAKING};

/// The heads of what is only depicted in a sentence. `is_first`: a caption begins with it.
pub(super) fn depicted(sentence: TaggedSentence<'_>, is_first: bool) -> BTreeSet<usize> {
    let depiction = Depictions { sentence, is_first };
    let words = 0..sentence.words.len();
    let on_designs = words.clone().filter(|at| is_on_design(sentence, *at));
    let printed = words.clone().flat_map(|at| printed_on(sentence, at));
    words.flat_map(|at| depiction.shown_at(at)).chain(on_designs).chain(printed).collect()
}

/// The same thing, as one that is only depicted.
pub(super) fn as_depicted(thing: &Mention) -> Mention {
    marked(thing.clone(), DEPICTED)
}

/// Whether what is said of a thing says that it is only depicted.
pub fn is_depicted(said: &[Attribute]) -> bool {
    said.iter().any(|it| it.word == DEPICTED)
}

/// Said of what is only depicted, and by no caption.
const DEPICTED: &str = "only depicted";

struct Depictions<'a> {
    sentence: TaggedSentence<'a>,
    is_first: bool,
}

impl Depictions<'_> {
    /// What a depiction shows, of which this word tells.
    fn shown_at(&self, at: usize) -> Vec<usize> {
        let (word, next) = (self.word(at), self.word(at + 1));
        match word {
            "of" if self.is_picture(at) => self.phrase(at + 1),
            "depicting" | "portraying" | "forbidding" | "prohibiting" | "banning" => {
                self.joined(at + 1)
            }
            "showing" | "displaying" | "featuring" | "announcing" | "advertising" | "promoting"
                if self.is_screen(self.name_before(at)) =>
            {
                self.joined(at + 1)
            }
            "showing" | "displaying" | "featuring"
                if self.is_after_copula(at) && self.is_screen(self.sentence.subject(at)) =>
            {
                self.clause(at + 1)
            }
            "depicts" | "depict" | "portrays" | "portray" if self.shower(at).is_some() => {
                self.clause(at + 1)
            }
            "shows" | "show" | "displays" | "display" | "features" | "feature"
                if self.is_screen(self.shower(at)) && !is_reading(next) =>
            {
                self.clause(at + 1)
            }
            "forbids" | "forbid" | "prohibits" | "prohibit" | "bans" | "ban" => self.clause(at + 1),
            "announces" | "announce" | "advertises" | "advertise" | "promotes" | "promote"
                if self.is_screen(self.shower(at)) =>
            {
                self.clause(at + 1)
            }
            "on" => self.on(at),
            _ => Vec::new(),
        }
    }

    /// Whether a picture stands before the word "of", and neither the caption itself is meant nor
    /// what somebody photographs.
    fn is_picture(&self, of: usize) -> bool {
        let Some(at) = of.checked_sub(1) else { return false };
        let is_framed = at.checked_sub(1).is_some_and(|it| self.word(it) == FRAMED);
        let is_borne = self.last_before(at) == "with";
        let is_itself =
            self.is_first && !is_framed && !is_borne && is_caption_itself(self.word(at), at);
        // "In the reflection of the window" the window is there.
        let is_mirror =
            self.word(at) == "reflection" && before(self.sentence.words, at).contains(&"in");
        let is_taken = is_taken(self.sentence.words, at);
        has_tag(self.word(at), "of") && !is_itself && !is_taken && !is_mirror
    }

    /// The word before an article.
    fn last_before(&self, at: usize) -> &str {
        let before = (0..at).rev().map(|it| self.word(it));
        before.into_iter().find(|it| !DETERMINERS.contains(it)).unwrap_or_default()
    }

    fn is_screen(&self, at: Option<usize>) -> bool {
        at.is_some_and(|at| has_tag(self.word(at), "screen"))
    }

    /// What shows something: of "the screen on the desk shows" not the desk, of "the desk with a
    /// screen which shows" the screen.
    fn shower(&self, verb: usize) -> Option<usize> {
        let before = verb.checked_sub(1)?;
        if matches!(self.word(before), "which" | "that") {
            return self.name_before(before);
        }
        self.sentence.subject(verb)
    }

    fn is_after_copula(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|it| COPULAS.contains(self.word(it)))
    }

    /// The name that ends right before a word, or before the comma before it; of "two cards, one showing"
    /// that of which it is one.
    fn name_before(&self, at: usize) -> Option<usize> {
        let before = (0..at).rev().find(|it| self.word(*it) != ",")?;
        if matches!(self.word(before), "one" | "another" | "each" | "both") {
            return self.heads(0, before).find(|it| self.is_screen(Some(*it)));
        }
        Some(before).filter(|it| self.role(*it).is_name() || PICTURES.contains(self.word(*it)))
    }

    /// What is on a picture: "a car on its cover", and all after "on the screen".
    fn on(&self, on: usize) -> Vec<usize> {
        let end = (on + 1..self.sentence.words.len()).find(|it| {
            !DETERMINERS.contains(self.word(*it))
                && !matches!(self.role(*it), WordRole::Attribute | WordRole::Part)
        });
        let Some(end) = end.filter(|it| has_tag(self.word(*it), "on")) else { return Vec::new() };
        if on == 0 {
            return self.clause(end + 1);
        }
        let is_its = matches!(self.word(on + 1), "its" | "their");
        self.name_before(on).filter(|_| is_its).into_iter().collect()
    }

    /// The first thing that is named from a word on, with what it does something to: "a chef
    /// tossing a pizza".
    fn phrase(&self, from: usize) -> Vec<usize> {
        let Some(first) = self.heads(from, self.sentence.words.len()).next() else {
            return Vec::new();
        };
        let by_it =
            |deed: usize| self.role(deed) == WordRole::Deed && self.governor(deed) == Some(first);
        let done_to = self.heads(first + 1, self.sentence.words.len());
        let done_to = done_to.filter(|it| self.governor(*it).is_some_and(by_it));
        std::iter::once(first).chain(done_to).collect()
    }

    /// The things that are named from a word on with no more than "and" between them, with what they
    /// have: "a page with a cloud". A comma ends them where it is none of a list.
    fn joined(&self, from: usize) -> Vec<usize> {
        let joins = |at: &usize| {
            let word = self.word(*at);
            let is_said =
                matches!(self.role(*at), WordRole::Part | WordRole::Attribute | WordRole::Count);
            is_said
                || self.role(*at).is_name()
                || DETERMINERS.contains(word)
                || matches!(word, "and" | "," | "of")
                || word == "with" && self.governor(*at).is_some_and(|it| it >= from)
        };
        let end = (from..self.sentence.words.len())
            .find(|it| !joins(it))
            .unwrap_or(self.sentence.words.len());
        let has_and = |within: Range<usize>| within.into_iter().any(|it| self.word(it) == "and");
        let is_end =
            |at: &usize| self.word(*at) == "," && (has_and(from..*at) || !has_and(*at..end));
        let end = (from..end).find(is_end).unwrap_or(end);
        self.heads(from, end).collect()
    }

    /// All that is named from a word on until another clause begins.
    fn clause(&self, from: usize) -> Vec<usize> {
        let is_end = |at: &usize| {
            matches!(self.word(*at), "while" | "whereas" | "but" | ";" | ":")
                || self.word(*at) == "," && matches!(self.word(at + 1), "and" | "which")
                || self.word(*at) == ","
                    && self.word(at + 1) == "with"
                    && !self.is_shown_too(at + 2)
        };
        let end =
            (from..self.sentence.words.len()).find(is_end).unwrap_or(self.sentence.words.len());
        self.heads(from, end).collect()
    }

    /// Whether somebody who is named from a word on is on the screen as well, as nothing after it is a
    /// certain thing of the room: "with a reporter under an umbrella".
    fn is_shown_too(&self, from: usize) -> bool {
        let rest = from..self.sentence.words.len();
        let is_person = |it: usize| self.role(it) == WordRole::Person;
        self.heads(from, rest.end).next().is_some_and(is_person)
            && !rest.into_iter().any(|it| self.word(it) == "the")
    }

    fn heads(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        self.sentence.heads(from..to)
    }

    fn word(&self, at: usize) -> &str {
        self.sentence.word(at)
    }

    fn role(&self, at: usize) -> WordRole {
        self.sentence.role(at)
    }

    fn governor(&self, at: usize) -> Option<usize> {
        self.sentence.governor(at)
    }
}

/// Whether a caption that begins with these words says by this one what it is itself.
pub(super) fn is_caption_itself(word: &str, at: usize) -> bool {
    at < ITSELF_WITHIN && DEPICTIONS.contains(word)
}

/// Whether somebody takes the picture at this place.
pub(super) fn is_taken(words: &[&str], at: usize) -> bool {
    before(words, at).iter().any(|it| TAKING.contains(it))
}

fn before<'w, 'a>(words: &'w [&'a str], at: usize) -> &'w [&'a str] {
    words.get(at.saturating_sub(TAKEN_WITHIN)..at).unwrap_or_default()
}

/// What no caption says of itself.
pub(super) const FRAMED: &str = "framed";

/// Words within which a caption says of itself what it is: "this image is a photograph of".
const ITSELF_WITHIN: usize = 6;

/// Words before a picture within which somebody takes it.
const TAKEN_WITHIN: usize = 4;

fn has_tag(word: &str, tag: &str) -> bool {
    PICTURES.has_tag(word, tag) || PICTURES.has_tag(&lexicon::singular(word), tag)
}

/// Whether what a display shows is read: "shows 8:42", "shows that".
fn is_reading(next: &str) -> bool {
    next == "that" || next.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::tests::found;

    fn check(words: &str, expect: &[&str]) {
        assert_eq!(found(words, |it| depicted(it, false)), expect, "{words}");
    }

    #[test]
    fn what_a_picture_is_of_is_depicted_and_what_is_beside_it_is_not() {
        check(
            "a poster/thing of/relation/1 a fire/part/5 truck/thing/2 and below it a desk/landmark",
            &["truck"],
        );
        check(
            "a video of/relation/5 a chef/person/2 tossing/deed/4 a pizza/thing/5 beside/relation/7 \
             a pan/thing/8",
            &["chef", "pizza"],
        );
        check("a glass/thing of/relation/1 milk/thing/2", &[]);
        check("a model/thing of/relation/1 a bridge/thing/2", &["bridge"]);
        check("a man/person taking/deed/0 a photo of/relation/2 a dog/thing/4", &[]);
    }

    #[test]
    fn a_caption_that_begins_as_a_picture_is_one_of_what_is_there() {
        let words =
            "a photo of/relation a dog/thing/2 and a poster/thing of/relation/7 a cat/thing/8";
        assert_eq!(found(words, |it| depicted(it, true)), ["cat"]);
        assert_eq!(found(words, |it| depicted(it, false)), ["dog", "cat"]);
    }

    #[test]
    fn what_a_screen_shows_is_depicted() {
        check(
            "the screen/thing on/relation/1 the desk/landmark/2 shows a cat/thing , a dog/thing and a \
             bird/thing",
            &["cat", "dog", "bird"],
        );
        check("the screen/thing shows a cat/thing , and a dog/thing sleeps", &["cat"]);
        check("a desk/thing with/relation/1 a monitor/thing/2 which shows a cat/thing", &["cat"]);
        check(
            "a laptop/thing showing a map/thing stands on/relation/1 a desk/landmark/6",
            &["map"],
        );
        check(
            "a laptop/thing showing a page/thing with/relation/3 a cloud/thing/4 and an \
             umbrella/thing/4 , a white/attribute/12 mug/thing beside/relation/12 it",
            &["page", "cloud", "umbrella"],
        );
        check(
            "the tv/thing above is showing the news/none , with/relation/4 a reporter/person/8 \
             under/relation/10 an umbrella/landmark/11",
            &["reporter", "umbrella"],
        );
        check(
            "the tv/thing shows a match/thing , with/relation/2 a man/person/5 on/relation/7 the \
             sofa/landmark/8",
            &["match"],
        );
        check("on/relation/5 the screen/landmark/0 , a/none man/person rides", &["man"]);
        check("on/relation the TV/part screen/landmark/0 , a tiger/thing walks", &["tiger"]);
        check("a sign/thing forbids/relation/1 bikes/thing/2", &["bikes"]);
        check(
            "two cards/thing stand/deed/1 on/relation/2 the ledge/landmark/3 , one showing a bear/thing",
            &["bear"],
        );
        check("two women/person talk/deed/1 , one showing a ring/thing", &[]);
        check(
            "a poster/thing announces/deed/1 a play/thing/2 with/relation a ship/thing/5",
            &["play", "ship"],
        );
        check("a woman/person announces/deed/0 dinner/thing/2", &[]);
        check("the clock/thing shows 8 next to a glass/thing", &[]);
        check("the display/thing shows 8 next to a glass/thing", &[]);
        check("a woman/person shows a book/thing beside a screen/landmark", &[]);
    }

    #[test]
    fn what_is_on_a_cover_is_depicted_and_what_is_on_a_table_is_not() {
        let car = "a magazine/thing with/relation/1 a sports/part/5 car/thing/2 on/relation/5 its";
        check(&format!("{car} cover/landmark/6"), &["car"]);
        check(&format!("{car} table/landmark/6"), &[]);
    }
}
