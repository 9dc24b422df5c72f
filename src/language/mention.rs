//! Cuts a sentence into the things it mentions, each with its attributes:
//! "a purple book next to a red mug" mentions a *book* that is purple and a
//! *mug* that is red.
//!
//! Pure. English, by closed lists of words. Knows neither vectors nor
//! records.

use rust_stemmers::{Algorithm, Stemmer};

use crate::language::identifier::is_decimal_point;
use crate::language::lexicon;
use crate::language::naming;
use crate::language::part_attribute::of_part;
use crate::language::sentence::Sentence;
use crate::language::words::PREPOSITIONS;

/// One thing that a sentence mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// As written, without article: "dark red mugs"; with what is said of it:
    /// "door closed".
    pub phrase: String,
    /// What the thing is, as written: "mugs"; two words where the second one says
    /// little: "living room".
    pub head: String,
    /// Stems of [`Mention::head`]: "mug", "live room".
    pub head_stem: String,
    /// The words before the head, in their order, then what is said of it after.
    pub attributes: Vec<Attribute>,
}

/// A word that says which one is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Canonical spelling: "grey" for "gray".
    pub word: String,
    pub kind: AttributeKind,
}

/// Attributes of one kind exclude each other: what is red is not blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeKind {
    Colour,
    Material,
    Size,
    Pattern,
    State,
    Number,
    /// A noun that belongs to the thing's name: "coffee" in "coffee mug". What is
    /// called by others is something else.
    Compound,
    /// Any other word: "dirty". Excludes nothing.
    Other,
}

impl AttributeKind {
    /// Their place is their number on disk.
    pub const ALL: [Self; 8] = [
        Self::Other,
        Self::Colour,
        Self::Material,
        Self::Size,
        Self::Pattern,
        Self::State,
        Self::Number,
        Self::Compound,
    ];
}

/// Most mentions taken from one text; a caption of eighty words has about twenty.
pub const MENTIONS_MAX: usize = 64;

/// Cuts `text` into its mentions, in the order in which they stand.
pub fn mentions(text: &str) -> Vec<Mention> {
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    for sentence in clauses(&lower) {
        Sentence::cut(sentence, &mut found);
        if found.len() >= MENTIONS_MAX {
            found.truncate(MENTIONS_MAX);
            break;
        }
    }
    found
}

/// The parts of a text between marks; "1.07" is one.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.char_indices().filter(|(at, c)| {
        matches!(c, '.' | ';' | ':' | '!' | '?' | '(' | ')' | '\n') && !is_decimal_point(text, *at)
    });
    let ends: Vec<usize> = ends.map(|(at, _)| at).chain([text.len()]).collect();
    let starts: Vec<usize> = std::iter::once(0).chain(ends.iter().map(|it| it + 1)).collect();
    starts.into_iter().zip(ends).filter_map(|(start, end)| text.get(start..end))
}

/// The thing that is called by this name, in the singular and lower case, of which all words
/// but the last one are parts: "chopping board". `None` where a preposition stands in it.
pub fn mention_of_name(name: &str) -> Option<Mention> {
    let words: Vec<&str> = name.split(' ').flat_map(naming::parts_of_word).collect();
    if words.iter().any(|it| PREPOSITIONS.contains(it)) {
        return None;
    }
    naming::name(&words, &[], Some(words.len().saturating_sub(1)))
}

impl Mention {
    /// Whether this is a kind of what `other` names: a mug of a mug, a living room
    /// of a room, no room of a living room.
    pub fn is_named_as(&self, other: &Self) -> bool {
        self.head_stem == other.head_stem || self.bare_stem() == Some(other.head_stem.as_str())
    }

    /// Adds what is written on it, which counts as part of its name.
    pub(super) fn inscribe<'a>(&mut self, written: impl IntoIterator<Item = &'a str>) {
        for word in written {
            self.phrase.push(' ');
            self.phrase.push_str(word);
            let word = word.to_owned();
            self.attributes.push(Attribute { word, kind: AttributeKind::Compound });
        }
    }

    /// Says of it that it has a part of which something is said; false where nothing is.
    pub(super) fn has_part(&mut self, part: &Self) -> bool {
        let of_part: Vec<String> =
            part.attributes.iter().map(|it| of_part(&it.word, &part.head)).collect();
        for word in &of_part {
            self.phrase.push(' ');
            self.phrase.push_str(word);
            self.attributes.push(naming::attribute(word));
        }
        !of_part.is_empty()
    }

    /// The last word's stem of a head of two words.
    pub fn bare_stem(&self) -> Option<&str> {
        self.head_stem.split_once(' ').map(|(_, bare)| bare)
    }

    /// The whole name where the dictionary has it and it is longer than the head: "teddy
    /// bear" of "an old teddy bear".
    pub fn known_name(&self) -> Option<String> {
        let is_part = |it: &&Attribute| it.kind == AttributeKind::Compound;
        let parts: Vec<&str> =
            self.attributes.iter().filter(is_part).map(|it| it.word.as_str()).collect();
        let head = self.singular_head();
        let mut names = (0..parts.len())
            .map(|from| format!("{} {head}", parts.get(from..).unwrap_or_default().join(" ")));
        names.find(|it| lexicon::is_name(it))
    }

    /// What it is called: "teddy bear" of "an old teddy bear".
    pub fn name(&self) -> String {
        let parts = self.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
        let words = parts.map(|it| it.word.clone()).chain([self.singular_head()]);
        words.collect::<Vec<_>>().join(" ")
    }

    /// What it is called, where that is more than its head.
    pub fn compound_name(&self) -> Option<String> {
        let is_part = |it: &Attribute| it.kind == AttributeKind::Compound;
        self.attributes.iter().any(is_part).then(|| self.name())
    }

    /// The head as one of them is called, for a model to make a vector of.
    pub fn singular_head(&self) -> String {
        let stemmer = Stemmer::create(Algorithm::English);
        let (start, last) = self.head.rsplit_once(' ').unwrap_or(("", &self.head));
        let stem = stemmer.stem(last);
        let candidates = [
            last.strip_suffix("ies").map(|start| format!("{start}y")),
            last.strip_suffix("es").filter(|it| ends_hissing(it)).map(str::to_owned),
            last.strip_suffix('s').filter(|it| !it.ends_with('s')).map(str::to_owned),
        ];
        // Pliers are nobody who plies.
        let is_other = |it: &str| lexicon::is_person(it) && lexicon::is_no_person(last);
        // "scissors" keeps its end, as "this" does: only what stays one word is cut.
        let same = |it: &String| it.len() > 2 && stemmer.stem(it) == stem;
        let last = if let Some(one) = lexicon::irregular_singular(last) {
            one
        } else if last.ends_with("ves") {
            lexicon::singular(last)
        } else if lexicon::is_name(last)
            && !candidates.iter().flatten().any(|it| lexicon::is_name(it) && !is_other(it))
        {
            last.to_owned()
        } else {
            candidates.into_iter().flatten().find(same).unwrap_or_else(|| last.to_owned())
        };
        if start.is_empty() { last } else { format!("{start} {last}") }
    }
}

fn ends_hissing(word: &str) -> bool {
    ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, phrases: &[&str]) {
        let found: Vec<String> = mentions(text).into_iter().map(|it| it.phrase).collect();
        assert_eq!(found, phrases, "{text}");
    }

    #[test]
    fn cuts_captions() {
        check(
            "a purple book next to a red mug on a wooden table in the kitchen",
            &["purple book", "red mug", "wooden table", "kitchen"],
        );
        check("a set of keys on a white desk", &["keys", "white desk"]);
        check(
            "there is a plant in a red pot on the tiled floor",
            &["plant", "red pot", "tiled floor"],
        );
        check("a person reading a book in the living room", &["person", "book", "living room"]);
        check("a green watering can on a shelf", &["green watering can", "shelf"]);
        check("a watering can", &["watering can"]);
        check("the red petrol can", &["red petrol can"]);
        check("the galvanised can by the shed", &["galvanised can", "shed"]);
        check("the galvanised can", &["galvanised can"]);
        check("a petrol can next to a chair", &["petrol can", "chair"]);
        check("the cocoa can lid", &["cocoa can lid"]);
        check("a robot can hold a mug", &["robot", "mug"]);
        check("an umbrella stand and a table saw", &["umbrella stand", "table"]);
        check("the table saw in the workshop", &["table saw", "workshop"]);
        check("two chairs stand in the corner", &["two chairs"]);
        check("the mug the robot saw in the kitchen", &["mug", "robot", "kitchen"]);
        check("the moulding above a dwelling", &["moulding", "dwelling"]);
        check("a woman moulding bread", &["woman", "bread"]);
        check("a person can sit there", &["person"]);
        check("Two cups, a laptop and the cat's bowl.", &["two cups", "laptop", "cat bowl"]);
        check("a family dining at a dining table", &["family", "dining table"]);
        check("a daylily in a neatly painted pot", &["daylily", "painted pot"]);
        check("a cat with a cone round its neck", &["cat", "cone", "neck"]);
        check("a round table past the window", &["round table", "window"]);
        check("gently happily fully folded towels", &["folded towels"]);
    }

    #[test]
    fn cuts_what_people_ask() {
        check("the mug that I use the most", &["mug"]);
        check("a book user was reading", &["book user"]);
        check("where are my keys?", &["keys"]);
        check("is there a hat somewhere around here?", &["hat"]);
        check("bring me something red", &[]);
        check("", &[]);
        check("— ' - …", &[]);
    }

    #[test]
    fn a_word_that_ends_like_a_verb_and_comes_of_none_is_part_of_the_name() {
        for (text, kind) in [
            ("butterweed plants", AttributeKind::Compound),
            ("stacked plants", AttributeKind::Other),
            ("dyed plants", AttributeKind::Other),
            ("fringed rugs", AttributeKind::Other),
            ("stripped beds", AttributeKind::Other),
        ] {
            let found = mentions(text).remove(0).attributes;
            assert_eq!(found.iter().map(|it| it.kind).collect::<Vec<_>>(), [kind], "{text}");
        }
    }

    #[test]
    fn what_is_written_on_a_thing_is_part_of_its_name() {
        let check = |text: &str, things: &[(&str, &str)]| {
            let found = mentions(text);
            let parts = |it: &Mention| -> String {
                let mut parts = it.attributes.iter();
                let is_all = parts.all(|it| it.kind == AttributeKind::Compound);
                assert!(is_all, "{it:?}");
                let parts = it.attributes.iter().map(|it| it.word.as_str());
                parts.collect::<Vec<_>>().join(" ")
            };
            let found: Vec<(&str, String)> =
                found.iter().map(|it| (it.head.as_str(), parts(it))).collect();
            let expect: Vec<(&str, String)> =
                things.iter().map(|(head, parts)| (*head, (*parts).to_owned())).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("where is the sign that says wet floor?", &[("sign", "wet floor")]);
        check("the EXIT sign", &[("sign", "exit")]);
        check("a sign that reads Red Cross on a door", &[("sign", "red cross"), ("door", "")]);
        check("a book titled \"The cat and the hat\"", &[("book", "the cat and the hat")]);
        check("a mug with the words best dad on it", &[("mug", "best dad")]);
        check("a person that reads a book", &[("person", ""), ("book", "")]);
    }

    #[test]
    fn attributes_have_kinds_and_one_spelling() {
        let found = mentions("a small dark gray wood coffee tables");
        let [table] = &found[..] else { panic!("{found:?}") };
        assert_eq!((table.head.as_str(), table.head_stem.as_str()), ("tables", "tabl"));
        let kinds: Vec<(&str, AttributeKind)> =
            table.attributes.iter().map(|it| (it.word.as_str(), it.kind)).collect();
        assert_eq!(
            kinds,
            [
                ("small", AttributeKind::Size),
                ("dark", AttributeKind::Other),
                ("grey", AttributeKind::Colour),
                ("wooden", AttributeKind::Material),
                ("coffee", AttributeKind::Compound),
            ]
        );
        for tartan in ["a plaid blanket", "a tartan blanket", "a chequered blanket"] {
            assert_eq!(mentions(tartan)[0].attributes, mentions("a checked blanket")[0].attributes);
        }
    }

    #[test]
    fn a_colour_that_is_eaten_is_a_thing_where_it_is_named_or_packed() {
        use AttributeKind::{Colour, Compound, Other};
        let check = |text: &str, head: &str, kinds: &[AttributeKind]| {
            let found = mentions(text).into_iter().next().map(|it| {
                let kinds: Vec<AttributeKind> = it.attributes.iter().map(|it| it.kind).collect();
                (it.head, kinds)
            });
            assert_eq!(found, Some((head.to_owned(), kinds.to_vec())), "{text}");
        };
        for food in ["mustard", "olive", "cream", "peach", "orange"] {
            check(&format!("the {food}"), food, &[]);
        }
        for packed in ["mustard jar", "cream carton", "olive jars", "peach tin"] {
            let head = packed.rsplit(' ').next().unwrap();
            check(&format!("a {packed}"), head, &[Compound]);
        }
        check("a mustard yellow mug", "mug", &[Colour, Colour]);
        check("a mustard yellow jar", "jar", &[Colour, Colour]);
        check("a mustard mug", "mug", &[Colour]);
        check("an orange mug", "mug", &[Colour]);
        check("an orange bottle", "bottle", &[Colour]);
        check("a lime green bottle", "bottle", &[Other, Colour]);
        check("a salmon coloured tin", "tin", &[Other, Other]);
        for colour in ["the white", "the red", "the green"] {
            assert_eq!(mentions(colour), []);
        }
    }

    #[test]
    fn a_sentence_without_end_is_bounded() {
        let text = "a red mug and ".repeat(1_000);
        assert_eq!(mentions(&text).len(), MENTIONS_MAX);
    }

    #[test]
    fn cuts_long_captions() {
        check(
            "The image shows a man wearing a blue shirt who is sitting at a wooden desk with a \
             laptop. In the background, there are two large windows. He appears to be working.",
            &["man", "blue shirt", "wooden desk", "laptop", "two large windows"],
        );
        check(
            "This photo captures a cozy living room. A grey cat sleeps on the sofa, and several \
             books stacked on the floor add to the atmosphere of the scene.",
            &["cozy living room", "grey cat", "sofa", "books", "floor"],
        );
        check(
            "In the image, a neatly folded white towel hangs beside a stainless steel sink.",
            &["folded white towel", "stainless steel sink"],
        );
        check("A picture of a dog hangs on the wall", &["dog", "wall"]);
        check("The picture on the wall is crooked", &["picture", "wall"]);
    }

    #[test]
    fn several_attributes_meet_at_their_thing() {
        let of = |text: &str| -> Vec<String> {
            let first = mentions(text).remove(0);
            first.attributes.into_iter().map(|it| it.word).collect()
        };
        assert_eq!(of("a red and white mug"), ["red", "white"]);
        assert_eq!(of("a small, red mug"), ["small", "red"]);
        assert_eq!(of("the door is closed"), ["closed"]);
        assert_eq!(of("the door next to the lamp is closed"), [""; 0]);
        assert_eq!(of("a mug that is red and empty on a table"), ["red", "empty"]);
        assert_eq!(of("paint the wall white"), [""; 0]);
        assert_eq!(of("2 red mugs"), ["two", "red"]);
    }

    #[test]
    fn a_material_alone_is_a_thing_where_an_article_says_so() {
        check("a glass on the table", &["glass", "table"]);
        check("an orange in a glass bowl", &["orange", "glass bowl"]);
        check("something red or blue", &[]);
    }

    #[test]
    fn a_head_that_says_little_takes_the_word_before() {
        let head = |text: &str| {
            let first = mentions(text).remove(0);
            (first.head, first.head_stem)
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(head("the large living room"), pair("living room", "live room"));
        assert_eq!(head("a large room"), pair("room", "room"));
        let named = |a: &str, b: &str| mentions(a)[0].is_named_as(&mentions(b)[0]);
        assert!(named("living room", "room") && named("mugs", "a mug"));
        assert!(!named("room", "living room") && !named("living room", "dining room"));
    }

    #[test]
    fn one_of_many() {
        for (text, one) in [
            ("mugs", "mug"),
            ("glasses", "glass"),
            ("dishes", "dish"),
            ("batteries", "battery"),
            ("shoes", "shoe"),
            ("knives", "knife"),
            ("living rooms", "living room"),
            ("a glass", "glass"),
            ("a bus", "bus"),
        ] {
            assert_eq!(mentions(text)[0].singular_head(), one);
        }
    }
}
