//! What a caption says, read once, when it comes in: which things it shows, which it
//! denies, who does what, and where all that is.
//!
//! Pure. A [`ParsedCaption`] is stored with its record, and is all that the memory reads
//! of a caption; the text is for people.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::language::depicted::depicted;
use crate::language::formerly::formerly;
use crate::language::gone::{gone, left};
use crate::language::identifier;
use crate::language::inscription::{QUOTE, inscription};
use crate::language::mention::{Mention, mentions};
use crate::language::naming;
use crate::language::part_attribute::{as_part, is_part, of_part};
use crate::language::picture_head::with_picture_heads;
use crate::language::place::{PlaceWords, place_of};
use crate::language::tagged::{TaggedSentence, TaggedWord, WordRole};
use crate::language::undone::{is_nobody, undone};
use crate::language::verb_head::without_verb_heads;
use crate::language::verbs;
use crate::language::wished::wished;
use crate::language::words::{AFFORDANCES, DETERMINERS, PREPOSITIONS, is_people};
use crate::language::{everyday_names, lexicon};

/// The reader that knows rules only.
pub const BY_RULES: u32 = 0;

/// A caption taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedCaption {
    /// Which reader took it apart: [`BY_RULES`], or the number that a model gives itself.
    pub reader: u32,
    /// In the order in which they are named.
    pub things: Vec<ParsedThing>,
    pub deeds: Vec<ParsedDeed>,
    /// Where all that is, as far as it is said.
    pub place: Option<PlaceWords>,
}

/// A thing, or a person, that a caption names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedThing {
    pub mention: Mention,
    /// Number of the sentence, from 0.
    pub sentence: usize,
    pub presence: Presence,
    pub is_person: bool,
    /// Number of the thing that it is in, where the caption says so at once: the pot of
    /// "a plant in a pot".
    pub inside: Option<usize>,
}

/// What somebody does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedDeed {
    /// In its form in -ing: "reading".
    pub verb: String,
    /// Numbers of the things that do it, none where the caption does not say.
    pub who: Vec<usize>,
    /// Numbers of the things that it is done to or with, as far as the caption says: the bread
    /// and the knife of "cutting bread with a knife", and not the table that it is cut on.
    pub what: Vec<usize>,
}

/// Whether a thing is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    Shown,
    /// There, and named only to say where another one is.
    Landmark,
    /// Only depicted: on a poster, on a screen.
    Depicted,
    /// Said not to be there: denied, gone, or wished for.
    Absent,
}

impl Presence {
    pub fn is_there(self) -> bool {
        match self {
            Self::Shown | Self::Landmark => true,
            Self::Depicted | Self::Absent => false,
        }
    }
}

impl ParsedCaption {
    /// Takes a caption apart by rules: of what is denied it knows nothing.
    pub fn by_rules(caption: &str) -> Self {
        let mut things: Vec<ParsedThing> = Vec::new();
        for (sentence, text) in caption.split(['.', ';', '!', '?']).enumerate() {
            let from = things.len();
            things.extend(mentions(text).into_iter().map(|mention| {
                let is_person = is_person(&mention);
                let (presence, inside) = (Presence::Shown, None);
                ParsedThing { mention, sentence, presence, is_person, inside }
            }));
            let lower = text.to_lowercase();
            let following = from + 1..things.len();
            for (at, next) in (from..).zip(following) {
                let is_inside =
                    |it: &&mut ParsedThing| lower.contains(&format!("{} in a", it.mention.head));
                if let Some(it) = things.get_mut(at).filter(is_inside) {
                    it.inside = Some(next);
                }
            }
        }
        let lower = caption.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric());
        let verbs = words.filter(|it| it.ends_with("ing")).map(str::to_owned);
        let deeds = verbs.map(|verb| ParsedDeed { verb, ..ParsedDeed::default() }).collect();
        Self { reader: BY_RULES, things, deeds, place: place_of(caption) }
    }

    /// Puts together what a reader's tags say; sentences in their order.
    pub fn of_tagged(reader: u32, sentences: &[(&str, Vec<TaggedWord>)]) -> Self {
        let mut parsed = Self { reader, ..Self::default() };
        for (number, (text, words)) in sentences.iter().enumerate() {
            let words = without_verb_heads(text, &identifier::joined(text, words));
            let words = with_picture_heads(text, &words, number == 0);
            Tagged::of(text, &words, number).add_to(&mut parsed);
        }
        parsed
    }

    /// The things that are there, without people and the place where all that is.
    pub fn objects(&self) -> impl Iterator<Item = &Mention> {
        let spots = self.place.iter().flat_map(|it| [&it.surface, &it.room]);
        let spots: Vec<&str> = spots.flatten().map(|it| it.phrase.as_str()).collect();
        let objects = self
            .there()
            .filter(move |it| !it.is_person && !spots.contains(&it.mention.phrase.as_str()));
        objects.map(|it| &it.mention)
    }

    /// The phrases of [`ParsedCaption::objects`].
    pub fn object_phrases(&self) -> Vec<String> {
        self.objects().map(|it| it.phrase.clone()).collect()
    }

    /// Whether somebody is there.
    pub fn has_person(&self) -> bool {
        self.there().any(|it| it.is_person)
    }

    /// The mentions of what is there, in the order in which they stand.
    pub fn shown_mentions(&self) -> impl Iterator<Item = &Mention> {
        self.there().map(|it| &it.mention)
    }

    /// The things and people that are there.
    pub fn there(&self) -> impl Iterator<Item = &ParsedThing> {
        self.things.iter().filter(|it| it.presence.is_there())
    }
}

/// Sentences of a caption: each ends before a blank. A semicolon is left out, as it was where the
/// model of captions learned: with one it overlooks what is gone.
pub fn sentences(caption: &str) -> impl Iterator<Item = &str> {
    let mut ends: Vec<usize> = Vec::new();
    let mut after = caption.char_indices().peekable();
    while let Some((at, c)) = after.next() {
        let is_end = after.peek().is_none_or(|(_, next)| next.is_whitespace());
        if c == '\n' || matches!(c, '.' | ';' | '!' | '?') && is_end {
            ends.push(at + c.len_utf8());
        }
    }
    ends.push(caption.len());
    let starts = std::iter::once(0).chain(ends.clone());
    let parts = starts.zip(ends).filter_map(|(start, end)| caption.get(start..end));
    parts.map(|it| it.trim().trim_end_matches(';')).filter(|it| !it.is_empty())
}

/// Whether it is somebody: by a word for people, by a trade, or as people are called at home.
pub fn is_person(mention: &Mention) -> bool {
    let word = lexicon::singular(&mention.head);
    is_people(&mention.head_stem)
        || lexicon::is_person(&word)
        || everyday_names::person(&word).is_some()
}

/// Whether a preposition says what a thing stands on or lies in.
fn is_surface(word: &str) -> bool {
    PREPOSITIONS.has_tag(word, "surface") || word == "from"
}

/// Whether words say what a deed is done with: "drinks from a mug", "types on a laptop".
fn is_done_with(verb: &str, preposition: &str, noun: &str) -> bool {
    let made_for = verbs::activity(verb).and_then(|it| AFFORDANCES.value(&it));
    made_for.is_some_and(|thing| {
        let one = lexicon::singular(noun);
        let is_like_it = || one == thing || lexicon::is_kind_of(&one, thing);
        matches!(preposition, "from" | "with" | "off" | "out")
            || preposition == "on" && is_like_it()
    })
}

/// A tagged sentence.
struct Tagged<'a> {
    text: &'a str,
    words: &'a [TaggedWord],
    sentence: usize,
    /// Head of a thing, and the words that are written on it.
    written: Vec<(usize, Range<usize>)>,
    /// Heads of what is only depicted.
    depicted: BTreeSet<usize>,
    /// Heads of what is said to be gone, or only wished for.
    gone: BTreeSet<usize>,
    /// Verbs of what nobody does.
    undone: BTreeSet<usize>,
    /// Heads of what is said to have been left where it is.
    left: BTreeSet<usize>,
}

impl<'a> Tagged<'a> {
    fn of(text: &'a str, words: &'a [TaggedWord], sentence: usize) -> Self {
        let mut tagged = Self {
            text,
            words,
            sentence,
            written: Vec::new(),
            depicted: BTreeSet::new(),
            gone: BTreeSet::new(),
            undone: BTreeSet::new(),
            left: BTreeSet::new(),
        };
        let said: Vec<String> = (0..words.len()).map(|at| tagged.word_or_quote(at)).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let tags = TaggedSentence { words: &said, tags: words };
        tagged.written = tagged.inscriptions(&said);
        tagged.depicted = depicted(tags, sentence == 0);
        tagged.gone = [gone(tags), wished(tags), formerly(tags)].into_iter().flatten().collect();
        tagged.gone.extend((0..words.len()).filter(|at| is_nobody(tags, *at)));
        tagged.undone = undone(tags);
        tagged.left = left(tags);
        tagged
    }

    /// What is written on things, each with the head of its thing: by rules, as no tag says where
    /// it ends. "Kitchen" on a sign is no place, and "no smoking" nobody's deed.
    fn inscriptions(&self, words: &[&str]) -> Vec<(usize, Range<usize>)> {
        let mut written: Vec<(usize, Range<usize>)> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let head = at.checked_sub(1).filter(|it| self.role(*it).is_name());
            match head.and_then(|head| Some((head, inscription(words, at)?))) {
                Some((before, range)) => {
                    // What stands right after a name between quotation marks is on that.
                    let of =
                        self.inscribed(range.clone()).filter(|_| words.get(at) != Some(&QUOTE));
                    written.push((of.unwrap_or(before), range.clone()));
                    at = range.end;
                }
                None => at += 1,
            }
        }
        written
    }

    /// The head of the thing that what is written belongs to by its tags: of "a sign above the
    /// door reads exit" it is not the door.
    fn inscribed(&self, mut written: Range<usize>) -> Option<usize> {
        written.find_map(|at| self.governor(self.root(at)?)).filter(|it| self.role(*it).is_name())
    }

    /// A word; of quotation marks one and the same; nothing for the mark within "driver's".
    fn word_or_quote(&self, at: usize) -> String {
        let word = self.word(at);
        let place = self.words.get(at).map(|it| it.at.clone()).unwrap_or_default();
        let before = self.text.get(..place.start).unwrap_or_default();
        let after = self.text.get(place.end..).unwrap_or_default();
        let is_within =
            before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
        match word.as_str() {
            "'" | "’" if is_within => String::new(),
            "'" | "‘" | "’" | "“" | "”" => QUOTE.to_owned(),
            _ => word,
        }
    }

    fn is_written(&self, at: usize) -> bool {
        self.written.iter().any(|(_, range)| range.contains(&at))
    }

    fn add_to(&self, parsed: &mut ParsedCaption) {
        let is_head = |at: &usize| {
            self.role(*at).is_name() && !self.is_written(*at) && !self.is_only_named(*at)
        };
        let heads: Vec<usize> = (0..self.words.len()).filter(is_head).collect();
        let from = parsed.things.len();
        let number = |head: usize| heads.iter().position(|it| *it == head).map(|at| from + at);
        for head in &heads {
            let Some(mention) = self.mention(*head) else { continue };
            let role = self.role(*head);
            let inside = self
                .object_of(*head)
                .filter(|(by, _)| by == "in")
                .and_then(|(_, other)| number(other).filter(|_| role == WordRole::Thing));
            parsed.things.push(ParsedThing {
                mention,
                sentence: self.sentence,
                presence: self.presence(*head),
                is_person: role == WordRole::Person,
                inside,
            });
        }
        self.add_place(&heads, parsed);
        let unwritten = (0..self.words.len()).filter(|at| !self.is_written(*at));
        parsed.deeds.extend(unwritten.filter_map(|at| {
            let (said, of) = (self.word(at), self.governor(at));
            let role_of = of.map(|it| self.role(it));
            // What belongs to a verb is its particle.
            let is_verb = self.role(at) == WordRole::Deed
                && role_of != Some(WordRole::Deed)
                && !self.undone.contains(&at);
            // "a man is asleep" is sleeping.
            let is_state =
                self.role(at) == WordRole::Attribute && role_of == Some(WordRole::Person);
            let verb = is_verb.then(|| verbs::activity(&said)).flatten();
            let verb = verb.or_else(|| verbs::activity_of_state(&said).filter(|_| is_state))?;
            let who = of.map(|it| self.joined(it)).unwrap_or_default();
            let who = who.into_iter().filter_map(number).collect();
            let what = heads.iter().filter(|it| self.is_object(**it, at)).copied();
            Some(ParsedDeed { verb, who, what: what.filter_map(number).collect() })
        }));
    }

    /// Whether a head is named only to say of which kind another thing is: whom "a bellhop's jacket"
    /// is made for, and what "a case for a fire blanket" is.
    fn is_only_named(&self, head: usize) -> bool {
        self.is_kind_of_owner(head) || self.is_purpose(head)
    }

    /// Whether a head is any owner of the thing after it, and no certain one.
    fn is_kind_of_owner(&self, head: usize) -> bool {
        let end = self.words.get(head).map_or(0, |it| it.at.end);
        let after = self.text.get(end..).unwrap_or_default();
        let is_owner = ["'s ", "’s "].iter().any(|it| after.starts_with(it));
        let owned = self.words.iter().skip(head + 1).find(|it| it.at.start >= end + "'s".len());
        let is_of_thing = owned.is_some_and(|it| {
            it.role.is_name() || matches!(it.role, WordRole::Part | WordRole::Attribute)
        });
        let described = (0..head).rev().map(|at| (self.role(at), self.word(at)));
        let is_said = |role| matches!(role, WordRole::Part | WordRole::Attribute | WordRole::Count);
        let mut before = described.skip_while(|(role, _)| is_said(*role));
        let is_certain = before
            .next()
            .is_some_and(|(_, it)| DETERMINERS.contains(&it) && !matches!(it.as_str(), "a" | "an"));
        is_owner && is_of_thing && !is_certain
    }

    /// Whether a head is what a thing is for.
    fn is_purpose(&self, head: usize) -> bool {
        let by = self.relation_of(head).filter(|it| self.word(*it) == "for");
        by.and_then(|it| self.governor(it)).is_some_and(|it| self.role(it).is_name())
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

    /// The thing of a head, with its name and all that is said of it.
    fn mention(&self, head: usize) -> Option<Mention> {
        let is_of_name = |at: &usize| self.role(*at) == WordRole::Part || self.is_shouted(*at);
        let parts = (0..head).rev().take_while(is_of_name).count();
        let start = self.words.get(head - parts)?.at.start;
        let name = self.text.get(start..self.words.get(head)?.at.end)?.to_lowercase();
        let name = name.strip_suffix("'s").unwrap_or(&name);
        let said: Vec<usize> = (0..self.words.len())
            .filter(|at| {
                matches!(self.role(*at), WordRole::Attribute | WordRole::Count)
                    && !self.is_written(*at)
                    && !(head - parts..head).contains(at)
                    && self.word(*at).contains(char::is_alphanumeric)
                    && !PREPOSITIONS.contains(&self.word(*at))
                    && self.root(*at).is_some_and(|root| self.governor(root) == Some(head))
            })
            .collect();
        let word = |at: &&usize| self.word(**at);
        let before: Vec<String> =
            said.iter().filter(|it| **it < head).map(|it| word(&it)).collect();
        let after: Vec<String> = said.iter().filter(|it| **it > head).map(|it| word(&it)).collect();
        let of_name: Vec<&str> = name.split_whitespace().flat_map(naming::parts_of_word).collect();
        let words: Vec<&str> =
            before.iter().map(String::as_str).chain(of_name.iter().copied()).collect();
        let having = self.having(head);
        let after: Vec<&str> = after.iter().chain(&having).map(String::as_str).collect();
        let mut named = naming::name(&words, &after, Some(of_name.len().saturating_sub(1)))?;
        let written = self.written.iter().filter(|(of, _)| *of == head);
        let written = written.flat_map(|(_, range)| range.clone()).map(|at| self.word(at));
        let written: Vec<String> =
            written.filter(|it| it.contains(char::is_alphanumeric)).collect();
        named.inscribe(written.iter().map(String::as_str));
        Some(if self.is_only_part(head) { as_part(named) } else { named })
    }

    /// Whether an attribute is in capitals among other words: what is written on a sign is its name.
    fn is_shouted(&self, at: usize) -> bool {
        let said = self.words.get(at).and_then(|it| self.text.get(it.at.clone()));
        let is_shouted =
            |it: &str| it.len() > 2 && it.chars().all(|letter| letter.is_ascii_uppercase());
        self.role(at) == WordRole::Attribute
            && said.is_some_and(is_shouted)
            && self.text.chars().any(|it| it.is_ascii_lowercase())
    }

    /// What somebody or something is who has what is said right after it: bearded "with a beard",
    /// blue-taped "with blue tape".
    fn having(&self, head: usize) -> Vec<String> {
        let of = |at: usize| self.governor(at) == Some(head);
        let mut relations = (head + 1..self.words.len()).filter(|at| of(*at));
        let Some(with) = relations.find(|at| self.word(*at) == "with") else { return Vec::new() };
        let mut after = (with + 1..self.words.len()).map(|at| self.word(at));
        let noun = after.find(|it| !DETERMINERS.contains(it) && !lexicon::is_adjective(it));
        let having = noun.filter(|it| !lexicon::descends_from(it, "animal"));
        let having = having.and_then(|it| lexicon::having(&it)).map(str::to_owned);
        having.into_iter().chain(self.parts_of(head)).collect()
    }

    /// What is said of the parts that a thing has: "blue-taped".
    fn parts_of(&self, head: usize) -> Vec<String> {
        let parts = (head + 1..self.words.len()).filter(|it| self.owner_of(*it) == Some(head));
        let said = parts.flat_map(|part| {
            let named = (0..part).rev().take_while(|at| self.role(*at) == WordRole::Part).count();
            let before = (0..part).filter(move |at| {
                *at >= part - named
                    || self.role(*at) == WordRole::Attribute && self.governor(*at) == Some(part)
            });
            before.map(move |at| of_part(&self.word(at), &self.word(part)))
        });
        said.collect()
    }

    /// Whether a head is a part of another thing that is told by what is said of it.
    fn is_only_part(&self, head: usize) -> bool {
        self.owner_of(head).is_some_and(|it| !self.parts_of(it).is_empty())
    }

    /// The thing that has what a head names as a part of it.
    fn owner_of(&self, head: usize) -> Option<usize> {
        let with = self.relation_of(head).filter(|it| self.word(*it) == "with")?;
        let owner = self.governor(with).filter(|it| *it < head && is_part(&self.word(head)))?;
        let is_thing = matches!(self.role(owner), WordRole::Thing | WordRole::Landmark);
        let is_animal = || lexicon::descends_from(&lexicon::singular(&self.word(owner)), "animal");
        Some(owner).filter(|_| is_thing && !is_animal())
    }

    /// The object of the first relation that begins with a head, and the relation's word.
    fn object_of(&self, head: usize) -> Option<(String, usize)> {
        let relation = (0..self.words.len())
            .find(|at| self.role(*at) == WordRole::Relation && self.governor(*at) == Some(head))?;
        let object = (0..self.words.len())
            .find(|at| self.role(*at).is_name() && self.relation_of(*at) == Some(relation))?;
        Some((self.word(relation), object))
    }

    /// The first word of the relation whose object a head is.
    fn relation_of(&self, head: usize) -> Option<usize> {
        let by = self.governor(head).filter(|it| self.role(*it) == WordRole::Relation)?;
        let run = (0..=by).rev().take_while(|it| self.role(*it) == WordRole::Relation);
        run.last()
    }

    /// Whether a head is the object of a deed: right after it, as a thing after a preposition, or as
    /// what it is done with: the mug that somebody drinks from.
    fn is_object(&self, head: usize, deed: usize) -> bool {
        let is_of = |it: &usize| self.governor(*it) == Some(deed);
        let relation = self.relation_of(head).filter(is_of);
        match self.role(head) {
            _ if is_of(&head) => true,
            WordRole::Thing => relation.is_some(),
            WordRole::Landmark => relation
                .is_some_and(|it| is_done_with(&self.word(deed), &self.word(it), &self.word(head))),
            WordRole::None
            | WordRole::Part
            | WordRole::Absent
            | WordRole::Person
            | WordRole::Place
            | WordRole::Attribute
            | WordRole::Count
            | WordRole::Deed
            | WordRole::Relation => false,
        }
    }

    /// Who does what is said of a head: all of "a man, a boy and a woman dancing".
    fn joined(&self, head: usize) -> Vec<usize> {
        let mut all = vec![head];
        let mut is_joined = false;
        for at in (0..head).rev() {
            let (role, word) = (self.role(at), self.word(at));
            if role == WordRole::Person && is_joined {
                all.push(at);
                is_joined = false;
            } else if word == "and" || word == "," && all.len() > 1 {
                is_joined = true;
            } else if !matches!(role, WordRole::Part | WordRole::Attribute | WordRole::Count)
                && !DETERMINERS.contains(&word)
            {
                break;
            }
        }
        all.sort_unstable();
        all
    }

    /// The last of the attributes that one belongs to; a count is its own.
    fn root(&self, at: usize) -> Option<usize> {
        let mut at = at;
        for _ in 0..ATTRIBUTE_STEPS_MAX {
            match self.governor(at) {
                Some(next) if self.role(next) == WordRole::Attribute => at = next,
                Some(_) | None => return Some(at),
            }
        }
        None
    }

    fn presence(&self, head: usize) -> Presence {
        match self.role(head) {
            WordRole::Absent if !self.left.contains(&head) => Presence::Absent,
            _ if self.gone.contains(&head) => Presence::Absent,
            _ if self.depicted.contains(&head) => Presence::Depicted,
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

    fn role(&self, at: usize) -> WordRole {
        self.words.get(at).map_or(WordRole::None, |it| it.role)
    }

    fn governor(&self, at: usize) -> Option<usize> {
        self.words.get(at).and_then(|it| it.to)
    }

    /// In lower case.
    fn word(&self, at: usize) -> String {
        let word = self.words.get(at).and_then(|it| self.text.get(it.at.clone()));
        word.unwrap_or_default().to_lowercase()
    }
}

/// Words of one attribute: "labeled best dad".
const ATTRIBUTE_STEPS_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::mention::AttributeKind as Kind;
    use crate::language::tagged::tests::tagged;

    #[test]
    fn objects_are_neither_people_nor_the_place() {
        let check = |caption: &str, expect: &[&str]| {
            let parsed = ParsedCaption::by_rules(caption);
            let found: Vec<&str> = parsed.objects().map(|it| it.phrase.as_str()).collect();
            assert_eq!(found, expect, "{caption}");
        };
        check("a red mug next to a laptop on a wooden desk in the office", &["red mug", "laptop"]);
        check("a person reading a book on a grey sofa in the living room", &["book"]);
        check("there is a grey sofa in the living room", &["grey sofa"]);
        check("", &[]);
    }

    #[test]
    fn a_sentence_ends_before_a_blank() {
        let of = |caption: &'static str| sentences(caption).collect::<Vec<_>>();
        assert_eq!(of("A 1.5 l bottle. No mug!\nA desk"), ["A 1.5 l bottle.", "No mug!", "A desk"]);
        assert_eq!(of("a mug; no lamp"), ["a mug", "no lamp"]);
        assert_eq!(of("a mug"), ["a mug"]);
        assert_eq!(of(" . "), ["."]);
        assert_eq!(of(""), [""; 0]);
    }

    fn parsed(words: &str) -> ParsedCaption {
        let (text, words) = tagged(words);
        ParsedCaption::of_tagged(1, &[(&text, words)])
    }

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
    fn what_is_written_on_a_thing_is_neither_a_thing_nor_a_place_nor_a_deed() {
        let parsed = parsed(
            "a sign/thing that reads no smoking/deed in/relation kitchen/place/6 214/count/7 \
             next/relation/1 to/relation/1 a box/thing/9 marked/attribute/12 fragile/attribute/13",
        );
        let things: Vec<(&str, Vec<&str>)> = parsed
            .things
            .iter()
            .map(|it| {
                let mention = &it.mention;
                let parts = mention.attributes.iter().filter(|it| it.kind == Kind::Compound);
                (mention.head.as_str(), parts.map(|it| it.word.as_str()).collect())
            })
            .collect();
        let written = vec!["no", "smoking", "in", "kitchen", "214"];
        assert_eq!(things, [("sign", written), ("box", vec!["fragile"])]);
        assert_eq!((parsed.place, parsed.deeds), (None, Vec::new()));
    }

    #[test]
    fn what_is_written_belongs_to_the_thing_that_the_tags_say() {
        let parsed = parsed(
            "a sign/thing above/relation/1 the door/landmark/2 reads exit/attribute/1 and/none \
             out/attribute/6",
        );
        let names = parsed.things.iter().map(|it| it.mention.phrase.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["sign exit and out", "door"]);
    }

    #[test]
    fn what_is_written_may_stand_between_marks() {
        let written = |text: &str| -> Vec<String> {
            let mut words = Vec::new();
            for (start, _) in text.char_indices() {
                let part = |it: char| it.is_alphanumeric();
                let before = text[..start].chars().next_back();
                let is_start = !text[start..].starts_with(part) || !before.is_some_and(part);
                if text[start..].starts_with(' ') || !is_start {
                    continue;
                }
                let letters = text[start..].find(|it| !part(it)).unwrap_or(text.len() - start);
                let mark = text[start..].chars().next().unwrap().len_utf8();
                let role = if words.is_empty() { WordRole::Thing } else { WordRole::None };
                words.push(TaggedWord { at: start..start + letters.max(mark), role, to: None });
            }
            let parsed = ParsedCaption::of_tagged(1, &[(text, words)]);
            parsed.things[0].mention.attributes.iter().map(|it| it.word.clone()).collect()
        };
        assert_eq!(written("label that reads 'PAPER ONLY'. Above"), ["paper", "only"]);
        assert_eq!(written("label with the word “A, the B” on it"), ["a", "the", "b"]);
        assert_eq!(written("sign that says driver's door on a wall"), ["driver", "s", "door"]);
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

    #[test]
    fn what_a_thing_is_for_and_whom_any_such_thing_is_of_is_not_there() {
        let heads = |parsed: ParsedCaption| -> Vec<String> {
            parsed.things.into_iter().map(|it| it.mention.head).collect()
        };
        let purpose = "a red/attribute/2 case/thing for/relation/2 a fire/part/6 blanket/thing/3";
        assert_eq!(heads(parsed(purpose)), ["case"]);
        assert_eq!(heads(parsed("looking/deed for/relation/0 a cup/thing/1")), ["cup"]);
        let owned = |text: &str, person: &str, thing: &str| {
            let word = |said: &str, role, to| {
                let at = text.find(said).unwrap();
                TaggedWord { at: at..at + said.len(), role, to }
            };
            let article = text.split(' ').next().unwrap();
            let words = vec![
                word(article, WordRole::None, None),
                word(person, WordRole::Person, None),
                word(thing, WordRole::Thing, None),
            ];
            heads(ParsedCaption::of_tagged(1, &[(text, words)]))
        };
        assert_eq!(owned("a waiter's jacket", "waiter", "jacket"), ["jacket"]);
        assert_eq!(owned("a waiter’s jacket", "waiter", "jacket"), ["jacket"]);
        assert_eq!(owned("the waiter's jacket", "waiter", "jacket"), ["waiter", "jacket"]);
        assert_eq!(owned("a waiter jacket", "waiter", "jacket"), ["waiter", "jacket"]);
    }

    #[test]
    fn what_is_in_capitals_is_part_of_the_name() {
        let sign =
            parsed("a red/attribute/3 TEXAS/attribute/3 sign/thing").things.remove(0).mention;
        let kinds: Vec<Kind> = sign.attributes.iter().map(|it| it.kind).collect();
        assert_eq!(
            (sign.phrase.as_str(), kinds),
            ("red texas sign", vec![Kind::Colour, Kind::Compound])
        );
    }

    #[test]
    fn who_has_a_beard_is_bearded() {
        let said = |words: &str| {
            let named = parsed(words).things.remove(0).mention;
            named.attributes.into_iter().map(|it| it.word).collect::<Vec<_>>()
        };
        assert_eq!(said("a man/person with/relation/1 a grey/none beard/none"), ["bearded"]);
        assert_eq!(
            said("a jar/thing with/relation/1 a red/attribute/5 lid/thing/2"),
            ["lidded", "red-lidded"]
        );
        let swing = "a can/thing with/relation/1 a swing/part/5 lid/thing/2";
        assert_eq!(said(swing), ["swing-lidded"]);
        assert_eq!(said("a man/person with/relation/1 a dog/thing/2"), [""; 0]);
    }

    #[test]
    fn people_and_their_deeds_are_told() {
        let parsed = parsed(
            "a chef/person cuts/deed/1 carrots/thing/2 up/deed/2 with/relation/2 a \
             plant/thing/5 in/relation/7 a pot/thing/8",
        );
        assert!(parsed.has_person());
        let cutting = ParsedDeed { verb: "cutting".to_owned(), who: vec![0], what: vec![1, 2] };
        assert_eq!(parsed.deeds, [cutting]);
        let inside = parsed.things.iter().find(|it| it.mention.head == "plant").unwrap().inside;
        assert_eq!(inside.map(|at| parsed.things[at].mention.head.as_str()), Some("pot"));
    }
    #[test]
    fn those_who_are_joined_do_it_together_and_others_do_not() {
        let who =
            |words: &str| parsed(words).deeds.into_iter().map(|it| it.who).collect::<Vec<_>>();
        let all = "a man/person , an old/attribute/5 boy/person and two/count/8 \
                   women/person dancing/deed/8";
        assert_eq!(who(all), [[0, 1, 2]]);
        let each = "a woman/person cooking/deed/1 and a man/person sleeping/deed/5";
        assert_eq!(who(each), [[0], [1]]);
        let one = "with/relation a man/person , a woman/person cooking/deed/5";
        assert_eq!(who(one), [[1]]);
        let other = "a man/person is here and a woman/person cooking/deed/6";
        assert_eq!(who(other), [[1]]);
    }
}
