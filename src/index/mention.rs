//! Cuts a sentence into the things it mentions, each with its attributes:
//! "a purple book next to a red mug" mentions a *book* that is purple and a
//! *mug* that is red.
//!
//! Pure. English, by closed word lists: a caption's grammar is simple, and a
//! list never surprises. Knows neither vectors nor records.

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

/// One thing that a sentence mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// As written, without article: "dark red mugs".
    pub phrase: String,
    /// What the thing is, as written: "mugs".
    pub head: String,
    /// Stem of [`Mention::head`]: "mug".
    pub head_stem: String,
    /// The words before the head, in their order.
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
    /// Any other word: "coffee" in "coffee mug". Excludes nothing.
    Other,
}

/// Most mentions taken from one sentence; a caption of eighty words has about twenty.
pub const MENTIONS_MAX: usize = 64;

/// Cuts `text` into its mentions, in the order in which they stand.
pub fn mentions(text: &str) -> Vec<Mention> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut found = Vec::new();
    for clause in text.split(['.', ',', ';', ':', '!', '?', '(', ')', '"']) {
        let words: Vec<String> = clause
            .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '\'')
            .map(|word| word.trim_matches(|c| c == '-' || c == '\'').to_lowercase())
            .map(|word| word.strip_suffix("'s").map_or_else(|| word.clone(), str::to_owned))
            .filter(|word| !word.is_empty())
            .collect();
        cut_clause(&words, &stemmer, &mut found);
    }
    found.truncate(MENTIONS_MAX);
    found
}

/// Splits the words of one clause at everything that is no part of a noun phrase.
fn cut_clause(words: &[String], stemmer: &Stemmer, found: &mut Vec<Mention>) {
    let mut run: Vec<&str> = Vec::new();
    let mut rest = words.iter().map(String::as_str).peekable();
    while let Some(word) = rest.next() {
        if CLASSES.get(word) == Some(&Class::Collective) && rest.peek() == Some(&"of") {
            // "a set of keys" mentions keys.
            rest.next();
            continue;
        }
        let ends = is_boundary(word) || is_verb(word, rest.peek().copied());
        if ends {
            close(&mut run, stemmer, found);
        } else {
            run.push(word);
        }
    }
    close(&mut run, stemmer, found);
}

fn close(run: &mut Vec<&str>, stemmer: &Stemmer, found: &mut Vec<Mention>) {
    let words = std::mem::take(run);
    let Some((head, before)) = words.split_last() else { return };
    let attributes: Vec<Attribute> = before.iter().map(|word| attribute(word)).collect();
    // "something red": a lone attribute names no thing.
    if before.is_empty() && attribute(head).kind != AttributeKind::Other {
        return;
    }
    found.push(Mention {
        phrase: words.join(" "),
        head: (*head).to_owned(),
        head_stem: stemmer.stem(head).into_owned(),
        attributes,
    });
}

/// A participle or verb that parts two things: "a person *reading* a book".
///
/// Words in -ing that name a thing or belong to its name ("dining table",
/// "painting") are listed; the other ones are verbs.
fn is_verb(word: &str, next: Option<&str>) -> bool {
    if !word.ends_with("ing") || word.len() < 5 || NOUNS_IN_ING.contains(&word) {
        return false;
    }
    !(MODIFIERS_IN_ING.contains(&word) && next.is_some_and(|next| !is_boundary(next)))
}

fn attribute(word: &str) -> Attribute {
    let word = match word {
        "gray" | "greyish" | "grayish" => "grey",
        "wood" => "wooden",
        "metallic" => "metal",
        "golden" => "gold",
        "tile" => "tiled",
        "large" | "huge" => "big",
        "little" | "tiny" => "small",
        "opened" => "open",
        "shut" => "closed",
        other => other,
    };
    let kind = match CLASSES.get(word) {
        Some(Class::Attribute(kind)) => *kind,
        Some(Class::Boundary | Class::Collective) | None => AttributeKind::Other,
    };
    Attribute { word: word.to_owned(), kind }
}

/// What is known of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Boundary,
    Collective,
    Attribute(AttributeKind),
}

/// All listed words, since every word of every caption is looked up.
static CLASSES: LazyLock<HashMap<&'static str, Class>> = LazyLock::new(|| {
    let lists = [
        (COLOURS, Class::Attribute(AttributeKind::Colour)),
        (MATERIALS, Class::Attribute(AttributeKind::Material)),
        (SIZES, Class::Attribute(AttributeKind::Size)),
        (PATTERNS, Class::Attribute(AttributeKind::Pattern)),
        (STATES, Class::Attribute(AttributeKind::State)),
        (NUMBERS, Class::Attribute(AttributeKind::Number)),
        (COLLECTIVE, Class::Collective),
        (BOUNDARY, Class::Boundary),
    ];
    let words = lists.iter().flat_map(|(words, class)| words.iter().map(|word| (*word, *class)));
    words.collect()
});

fn is_boundary(word: &str) -> bool {
    CLASSES.get(word) == Some(&Class::Boundary)
}

const COLOURS: &[&str] = &[
    "red",
    "blue",
    "green",
    "yellow",
    "orange",
    "purple",
    "pink",
    "white",
    "black",
    "grey",
    "brown",
    "beige",
    "cyan",
    "turquoise",
    "violet",
    "gold",
    "silver",
    "navy",
    "maroon",
    "teal",
    "cream",
    "tan",
    "magenta",
];
const MATERIALS: &[&str] = &[
    "wooden",
    "metal",
    "plastic",
    "glass",
    "ceramic",
    "leather",
    "paper",
    "cardboard",
    "stone",
    "fabric",
    "cotton",
    "wool",
    "woollen",
    "steel",
    "marble",
    "brick",
    "concrete",
    "rubber",
    "wicker",
    "tiled",
    "carpeted",
    "porcelain",
    "copper",
    "brass",
];
const SIZES: &[&str] =
    &["big", "small", "tall", "short", "long", "thick", "thin", "wide", "narrow"];
const PATTERNS: &[&str] =
    &["striped", "plain", "dotted", "checked", "checkered", "floral", "patterned"];
const STATES: &[&str] = &[
    "open", "closed", "empty", "full", "broken", "dirty", "clean", "folded", "wet", "dry", "lit",
    "upright", "new", "old",
];
const NUMBERS: &[&str] = &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// "A pair of shoes" is shoes.
const COLLECTIVE: &[&str] = &[
    "set",
    "pair",
    "bunch",
    "piece",
    "pieces",
    "group",
    "couple",
    "lot",
    "lots",
    "kind",
    "type",
    "sort",
    "number",
    "variety",
    "stack",
    "pile",
    "row",
    "collection",
    "photo",
    "picture",
    "image",
    "view",
    "close-up",
];

/// Words that are never part of a thing's name.
const BOUNDARY: &[&str] = &[
    // articles, determiners, pronouns
    "a",
    "an",
    "the",
    "some",
    "any",
    "this",
    "that",
    "these",
    "those",
    "my",
    "your",
    "his",
    "her",
    "its",
    "our",
    "their",
    "i",
    "you",
    "he",
    "she",
    "it",
    "we",
    "they",
    "me",
    "him",
    "us",
    "them",
    "one",
    "other",
    "another",
    "each",
    "every",
    "all",
    "both",
    "no",
    "nothing",
    "something",
    "someone",
    "anything",
    "there",
    "here",
    "who",
    "which",
    "what",
    "where",
    "when",
    "whose",
    "several",
    "many",
    "few",
    "various",
    "much",
    "more",
    "most",
    "same",
    // prepositions and conjunctions
    "on",
    "in",
    "at",
    "of",
    "to",
    "from",
    "by",
    "with",
    "without",
    "for",
    "near",
    "next",
    "beside",
    "besides",
    "between",
    "behind",
    "under",
    "underneath",
    "beneath",
    "below",
    "above",
    "over",
    "onto",
    "into",
    "inside",
    "outside",
    "against",
    "around",
    "along",
    "across",
    "through",
    "off",
    "out",
    "up",
    "down",
    "front",
    "back",
    "top",
    "left",
    "right",
    "middle",
    "side",
    "edge",
    "corner",
    "background",
    "foreground",
    "and",
    "or",
    "but",
    "as",
    "like",
    "than",
    "while",
    "during",
    "before",
    "after",
    "about",
    "toward",
    "towards",
    "together",
    "close",
    // auxiliaries and verbs that captions and questions use
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "am",
    "has",
    "have",
    "had",
    "do",
    "does",
    "did",
    "can",
    "could",
    "will",
    "would",
    "may",
    "might",
    "should",
    "must",
    "sits",
    "sit",
    "sat",
    "stands",
    "stand",
    "stood",
    "lies",
    "lie",
    "lay",
    "hangs",
    "hang",
    "hung",
    "rests",
    "rest",
    "placed",
    "located",
    "seen",
    "saw",
    "see",
    "shows",
    "show",
    "shown",
    "contains",
    "contain",
    "holds",
    "hold",
    "held",
    "wears",
    "wear",
    "uses",
    "use",
    "used",
    "read",
    "reads",
    "bring",
    "brought",
    "find",
    "found",
    "get",
    "got",
    "keep",
    "kept",
    "put",
    "took",
    "take",
    "made",
    "covered",
    "filled",
    "surrounded",
    "attached",
    "mounted",
    "leaned",
    "parked",
    "please",
    // adverbs
    "not",
    "very",
    "also",
    "just",
    "still",
    "now",
    "then",
    "currently",
    "always",
    "never",
    "often",
    "usually",
    "yesterday",
    "today",
    "recently",
    "last",
    "again",
    "away",
    "only",
    "too",
    "partially",
    "slightly",
    "neatly",
];

const NOUNS_IN_ING: &[&str] = &[
    "ceiling",
    "building",
    "painting",
    "drawing",
    "clothing",
    "string",
    "railing",
    "awning",
    "earring",
    "morning",
    "evening",
    "thing",
    "spring",
    "wing",
    "sling",
    "bedding",
    "lighting",
    "flooring",
    "icing",
    "pudding",
    "meeting",
    "wedding",
    "landing",
    "opening",
    "shelving",
    "wiring",
    "tubing",
    "packaging",
];

/// Verbal only when nothing follows: "a dining table", but "a family dining".
const MODIFIERS_IN_ING: &[&str] = &[
    "living",
    "dining",
    "washing",
    "cutting",
    "swimming",
    "parking",
    "sleeping",
    "vending",
    "ironing",
    "sewing",
    "frying",
    "rolling",
    "folding",
    "charging",
    "filing",
    "shopping",
    "swivelling",
    "rocking",
    "hanging",
    "floating",
    "moving",
    "soldering",
    "measuring",
];

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
        check("Two cups, a laptop and the cat's bowl.", &["two cups", "laptop", "cat bowl"]);
        check("a family dining at a dining table", &["family", "dining table"]);
    }

    #[test]
    fn cuts_what_people_ask() {
        check("the mug that I use the most", &["mug"]);
        check("a book user was reading", &["book user"]);
        check("where are my keys?", &["keys"]);
        check("bring me something red", &[]);
        check("", &[]);
        check("— ' - …", &[]);
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
                ("coffee", AttributeKind::Other),
            ]
        );
    }

    #[test]
    fn a_sentence_without_end_is_bounded() {
        let text = "a red mug and ".repeat(1_000);
        assert_eq!(mentions(&text).len(), MENTIONS_MAX);
    }
}
