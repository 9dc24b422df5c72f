//! What the tags of a sentence say of it, put together: its things, its deeds and the place.
//! How a thing is named, what is written on it and who does what stand in files of their own.
//!
//! Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::language::caption::{ParsedCaption, ParsedThing, Presence};
use crate::language::depicted::depicted;
use crate::language::detached_part::{is_moved, wholes_of_parts};
use crate::language::formerly::formerly;
use crate::language::gone::{gone, left};
use crate::language::guessed::guessed;
use crate::language::place::PlaceWords;
use crate::language::tagged::{TaggedSentence, TaggedWord, WordRole};
use crate::language::undone::{is_nobody, undone};
use crate::language::wished::wished;
use crate::language::words::PREPOSITIONS;

/// A tagged sentence.
pub(super) struct Tagged<'a> {
    pub(super) text: &'a str,
    pub(super) words: &'a [TaggedWord],
    sentence: usize,
    lower: Vec<String>,
    /// Head of a thing, and the words that are written on it.
    pub(super) written: Vec<(usize, Range<usize>)>,
    /// Heads of what is only depicted.
    depicted: BTreeSet<usize>,
    /// Heads of what is only guessed to be there.
    guessed: BTreeSet<usize>,
    /// Heads of what is said to be gone, or only wished for.
    gone: BTreeSet<usize>,
    /// Verbs of what nobody does.
    pub(super) undone: BTreeSet<usize>,
    /// Heads of what is said to have been left where it is.
    left: BTreeSet<usize>,
    /// Heads of parts that come off, with that of what they come off.
    pub(super) wholes: BTreeMap<usize, usize>,
    /// Heads of what is only named to say whose part is put somewhere.
    pub(super) left_behind: BTreeSet<usize>,
}

impl<'a> Tagged<'a> {
    pub(super) fn of(text: &'a str, words: &'a [TaggedWord], sentence: usize) -> Self {
        let lower = words.iter().map(|it| text.get(it.at.clone()).unwrap_or_default());
        let mut tagged = Self {
            text,
            words,
            sentence,
            lower: lower.map(str::to_lowercase).collect(),
            written: Vec::new(),
            depicted: BTreeSet::new(),
            guessed: BTreeSet::new(),
            gone: BTreeSet::new(),
            undone: BTreeSet::new(),
            left: BTreeSet::new(),
            wholes: BTreeMap::new(),
            left_behind: BTreeSet::new(),
        };
        let said: Vec<String> = (0..words.len()).map(|at| tagged.word_or_quote(at)).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let tags = TaggedSentence { words: &said, tags: words };
        tagged.written = tagged.inscriptions(&said);
        tagged.depicted = depicted(tags, sentence == 0);
        tagged.guessed = guessed(tags);
        tagged.gone = [gone(tags), wished(tags), formerly(tags)].into_iter().flatten().collect();
        tagged.gone.extend((0..words.len()).filter(|at| is_nobody(tags, *at)));
        tagged.undone = undone(tags);
        tagged.left = left(tags);
        tagged.wholes = wholes_of_parts(tags);
        let moved = tagged.wholes.iter().filter(|(part, _)| is_moved(tags, **part));
        tagged.left_behind = moved.map(|(_, whole)| *whole).collect();
        tagged
    }

    pub(super) fn add_to(&self, parsed: &mut ParsedCaption) {
        let is_head = |at: &usize| {
            self.role(*at).is_name() && !self.is_written(*at) && !self.is_only_named(*at)
        };
        let heads: Vec<usize> = (0..self.words.len()).filter(is_head).collect();
        let from = parsed.things.len();
        let number = |head: usize| heads.iter().position(|it| *it == head).map(|at| from + at);
        parsed.things.extend(heads.iter().filter_map(|it| self.thing(*it, number)));
        self.add_place(&heads, parsed);
        parsed.deeds.extend(self.deeds(&heads, number));
    }

    /// The thing of a head; `number` has the number of a head's thing in the caption.
    fn thing(&self, head: usize, number: impl Fn(usize) -> Option<usize>) -> Option<ParsedThing> {
        let role = self.role(head);
        let inside = self
            .object_of(head)
            .filter(|(by, _)| by == "in" && matches!(role, WordRole::Thing | WordRole::Landmark))
            .and_then(|(_, other)| number(other));
        Some(ParsedThing {
            mention: self.mention(head)?,
            sentence: self.sentence,
            presence: self.presence(head),
            is_person: role == WordRole::Person,
            inside,
        })
    }

    /// The last room, and the last thing that another one is on or in.
    fn add_place(&self, heads: &[usize], parsed: &mut ParsedCaption) {
        let mut place = parsed.place.take().unwrap_or_default();
        for head in heads.iter().filter(|it| self.presence(**it).is_there()) {
            let Some(mention) = self.mention(*head) else { continue };
            let is_surface = self.relation_of(*head).is_some_and(|it| is_surface(&self.word(it)));
            if self.role(*head) == WordRole::Place {
                place.room = Some(mention.into());
            } else if self.role(*head) == WordRole::Landmark && is_surface {
                place.surface = Some(mention.into());
            }
        }
        parsed.place = (place != PlaceWords::default()).then_some(place);
    }

    fn presence(&self, head: usize) -> Presence {
        match self.role(head) {
            WordRole::Absent if !self.left.contains(&head) => Presence::Absent,
            _ if self.gone.contains(&head) => Presence::Absent,
            _ if self.depicted.contains(&head) => Presence::Depicted,
            _ if self.guessed.contains(&head) => Presence::Guessed,
            WordRole::Landmark | WordRole::Place => Presence::Landmark,
            WordRole::None
            | WordRole::Part
            | WordRole::Thing
            | WordRole::Absent
            | WordRole::Person
            | WordRole::Attribute
            | WordRole::Count
            | WordRole::Deed
            | WordRole::Relation => Presence::Shown,
        }
    }

    /// The object of the first relation that begins with a head, and the relation's word.
    pub(super) fn object_of(&self, head: usize) -> Option<(String, usize)> {
        let relation = (0..self.words.len())
            .find(|at| self.role(*at) == WordRole::Relation && self.governor(*at) == Some(head))?;
        let object = (0..self.words.len())
            .find(|at| self.role(*at).is_name() && self.relation_of(*at) == Some(relation))?;
        Some((self.word(relation), object))
    }

    /// The first word of the relation whose object a head is.
    pub(super) fn relation_of(&self, head: usize) -> Option<usize> {
        let by = self.governor(head).filter(|it| self.role(*it) == WordRole::Relation)?;
        let run = (0..=by).rev().take_while(|it| self.role(*it) == WordRole::Relation);
        run.last()
    }

    /// The last of the attributes that one belongs to; a count is its own.
    pub(super) fn root(&self, at: usize) -> Option<usize> {
        let mut at = at;
        for _ in 0..ATTRIBUTE_STEPS_MAX {
            match self.governor(at) {
                Some(next) if self.role(next) == WordRole::Attribute => at = next,
                Some(_) | None => return Some(at),
            }
        }
        None
    }

    pub(super) fn role(&self, at: usize) -> WordRole {
        self.words.get(at).map_or(WordRole::None, |it| it.role)
    }

    pub(super) fn governor(&self, at: usize) -> Option<usize> {
        self.words.get(at).and_then(|it| it.to)
    }

    /// In lower case.
    pub(super) fn word(&self, at: usize) -> String {
        self.lower.get(at).cloned().unwrap_or_default()
    }

    /// All of them, each as [`Tagged::word`] has it.
    pub(super) fn lower_words(&self) -> Vec<&str> {
        self.lower.iter().map(String::as_str).collect()
    }
}

/// Words of one attribute: "labeled best dad".
const ATTRIBUTE_STEPS_MAX: usize = 4;

/// Whether a preposition says what a thing stands on or lies in.
fn is_surface(word: &str) -> bool {
    PREPOSITIONS.has_tag(word, "surface") || word == "from"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::caption::tests::parsed;
    use crate::language::mention::AttributeKind as Kind;

    #[test]
    fn tags_are_put_together_to_things_with_what_is_said_of_them() {
        let parsed = parsed(
            "A two/count/5 light/attribute/5 green/attribute/2 oil/part/5 bottles/thing \
             on/relation/5 a wooden/attribute/9 table/landmark/6 in/relation/9 the \
             kitchen/place/10",
        );
        let names: Vec<(&str, Presence)> =
            parsed.things.iter().map(|it| (it.mention.phrase.as_str(), it.presence)).collect();
        assert_eq!(
            names,
            [
                ("two light green oil bottles", Presence::Shown),
                ("wooden table", Presence::Landmark),
                ("kitchen", Presence::Landmark),
            ]
        );
        let kinds: Vec<Kind> =
            parsed.things[0].mention.attributes.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [Kind::Number, Kind::Other, Kind::Colour, Kind::Compound]);
        assert_eq!(parsed.place.unwrap().text(), "wooden table in the kitchen");
    }

    #[test]
    fn what_is_denied_is_absent_and_no_object() {
        let parsed = parsed("a table/thing without/relation/1 a mug/absent/2 .");
        assert_eq!(
            parsed.shown_mentions().map(|it| it.phrase.as_str()).collect::<Vec<_>>(),
            ["table"]
        );
        assert_eq!(parsed.things[1].presence, Presence::Absent);
    }
}
