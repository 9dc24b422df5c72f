//! What a caption says, read once, when it comes in: which things it shows, which it
//! denies, who does what, and where all that is.
//!
//! Pure. A [`ParsedCaption`] is stored with its record, and is all that the memory reads
//! of a caption; the text is for people.

mod of_tags;
mod only_named;
mod thing_name;
mod who_does_what;
mod written;

use std::ops::Range;

use crate::language::caption::of_tags::Tagged;
use crate::language::clad::with_colours;
use crate::language::design::with_designs;
use crate::language::identifier;
use crate::language::mention::{Mention, mentions};
use crate::language::ones::singles;
use crate::language::overlooked_colour::with_overlooked_colours;
use crate::language::person::is_person;
use crate::language::picture_head::with_picture_heads;
use crate::language::place::{PlaceWords, place_of};
use crate::language::tagged::TaggedWord;
use crate::language::verb_head::without_verb_heads;
use crate::language::words::PRONOUNS;

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
    /// Only guessed to be there: "what may be a helmet".
    Guessed,
    /// Only depicted: on a poster, on a screen.
    Depicted,
    /// Said not to be there: denied, gone, or wished for.
    Absent,
}

impl Presence {
    pub fn is_there(self) -> bool {
        match self {
            Self::Shown | Self::Landmark => true,
            Self::Guessed | Self::Depicted | Self::Absent => false,
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
        let mut kind = None;
        for (number, (text, words)) in sentences.iter().enumerate() {
            let words = without_verb_heads(text, &identifier::joined(text, words));
            let words = with_overlooked_colours(text, &words);
            let words = with_picture_heads(text, &words, number == 0);
            let words = with_designs(text, &with_colours(text, &words));
            let singles = singles(text, &words, kind.as_ref());
            Tagged::of(text, &singles.words, number).add_to(&mut parsed);
            kind.clone_from(&singles.kind);
            singles.add_to(number, &mut parsed);
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

    /// Whether all that a sentence names is absent: "the parcel has been removed".
    pub fn tells_only_of_absent(&self, sentence: usize) -> bool {
        let mut named = self.things.iter().filter(|it| it.sentence == sentence).peekable();
        named.peek().is_some() && named.all(|it| it.presence == Presence::Absent)
    }

    /// The things and people that are there.
    pub fn there(&self) -> impl Iterator<Item = &ParsedThing> {
        self.things.iter().filter(|it| it.presence.is_there())
    }
}

/// Sentences of a caption: each ends before a blank. A semicolon is left out, as it was where the
/// model of captions learned: with one it overlooks what is gone.
pub fn sentences(caption: &str) -> impl Iterator<Item = &str> {
    sentence_spans(caption).into_iter().filter_map(|at| caption.get(at))
}

/// The same, each after the sentence before where it begins with a pronoun: what "it" is stands there.
pub fn sentences_in_context(caption: &str) -> impl Iterator<Item = &str> {
    let spans = sentence_spans(caption);
    let starts: Vec<usize> = spans.iter().map(|it| it.start).collect();
    spans.into_iter().enumerate().filter_map(move |(number, at)| {
        let sentence = caption.get(at.clone())?;
        let before = number.checked_sub(1).filter(|_| begins_with_pronoun(sentence));
        let start = before.and_then(|it| starts.get(it)).copied().unwrap_or(at.start);
        caption.get(start..at.end)
    })
}

fn begins_with_pronoun(sentence: &str) -> bool {
    let first = sentence.split(|c: char| !c.is_alphabetic()).find(|it| !it.is_empty());
    first.is_some_and(|it| PRONOUNS.contains(&it.to_lowercase()))
}

fn sentence_spans(caption: &str) -> Vec<Range<usize>> {
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
    let bare = |(start, end): (usize, usize)| {
        let part = caption.get(start..end)?;
        let start = start + part.len() - part.trim_start().len();
        let length = part.trim().trim_end_matches(';').len();
        (length > 0).then_some(start..start + length)
    };
    starts.zip(ends).filter_map(bare).collect()
}

#[cfg(test)]
pub(in crate::language) mod tests {
    use super::*;
    use crate::language::tagged::tests::tagged;

    pub(in crate::language) fn parsed(words: &str) -> ParsedCaption {
        let (text, words) = tagged(words);
        ParsedCaption::of_tagged(1, &[(&text, words)])
    }

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

    #[test]
    fn a_pronoun_stands_after_what_it_is() {
        let of = |caption: &'static str| sentences_in_context(caption).collect::<Vec<_>>();
        assert_eq!(
            of("A mug. It has a chip; a lamp. A desk."),
            ["A mug.", "A mug. It has a chip", "a lamp.", "A desk."]
        );
        assert_eq!(
            of("It's red. \"They\" is written on it."),
            ["It's red.", "It's red. \"They\" is written on it."]
        );
    }
}
