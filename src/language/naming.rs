//! From the words of a name to the thing: which of them belong to what it is called,
//! which say how it is.
//!
//! Pure.

use std::borrow::Cow;

use crate::language::british::british;
use crate::language::everyday_names;
use crate::language::identifier;
use crate::language::known_words::is_in_dictionary;
use crate::language::lexicon;
use crate::language::likeness::as_toy;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::part_attribute::is_of_part;
use crate::language::sentence::{Class, class, is_named_colour};
use crate::language::words::{
    COLOURS, GENERIC_HEADS, MODIFIERS_IN_ING, NOUNS_IN_ED, NOUNS_IN_ING, OPPOSED, PACKAGING,
};

/// The thing that `words`, which end with its head, name, with what is said of it after.
/// So many `parts` right before the head belong to its name; where nobody says how many,
/// the nouns do.
pub(super) fn name(words: &[&str], after: &[&str], parts: Option<usize>) -> Option<Mention> {
    if !words.iter().chain(after).any(|it| identifier::has_digit(it)) {
        return plain_name(words, after, parts);
    }
    // "412" of "412 kg" tells a weight.
    let is_unit =
        |word: &&str| attribute(word).kind == AttributeKind::Other && !lexicon::is_adjective(word);
    let is_number = |at: usize, word: &str| {
        let is_measure = || after.get(at + 1).is_some_and(is_unit);
        identifier::has_digit(word) && (identifier::is_identifier(word) || !is_measure())
    };
    let (mut numbers, mut said): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for (at, word) in after.iter().enumerate() {
        if is_number(at, word) { numbers.push(word) } else { said.push(word) }
    }
    let numbers = numbers.iter().flat_map(|it| it.split(' ')).flat_map(parts_of_word);
    let whole: Vec<&str> = words.iter().copied().chain(numbers).collect();
    let (what, which) = identifier::split(&whole);
    let parts = parts.map(|it| it.saturating_sub(words.len().saturating_sub(what.len())));
    let mut named = plain_name(&what, &said, parts)?;
    named.attributes = named.attributes.into_iter().flat_map(identifier::with_parts).collect();
    named.attributes.extend(which.iter().flat_map(|it| identifier::parts(it)));
    named.phrase = words.iter().chain(after).copied().collect::<Vec<_>>().join(" ");
    Some(named)
}

fn plain_name(words: &[&str], after: &[&str], parts: Option<usize>) -> Option<Mention> {
    let (last, before) = words.split_last()?;
    let before = with_pairs(before);
    let parts = parts.map(|it| it.saturating_sub(words.len().saturating_sub(before.len() + 1)));
    let before: Vec<&str> = before.iter().map(AsRef::as_ref).collect();
    let before = before.as_slice();
    let (mut head, mut head_stem) = ((*last).to_owned(), lexicon::noun_stem(last));
    let named = parts.map_or_else(
        || name_start(before, last),
        |parts| before.len().saturating_sub(parts).min(known_name_start(before, last)),
    );
    let mut rest = before;
    if is_generic(last)
        && let Some((name, others)) = before.split_last()
        && attribute(name).kind == AttributeKind::Other
        && (!is_past(name) || known_name_start(before, last) < before.len())
    {
        head = format!("{name} {last}");
        head_stem = format!("{} {head_stem}", lexicon::noun_stem(name));
        rest = others;
    }
    let is_colour =
        |word: &&str| attribute(word).kind == AttributeKind::Colour || is_coloured(word);
    let said = rest.iter().enumerate().map(|(at, word)| {
        let said = attribute(word);
        let next = before.get(at + 1);
        let is_part = if said.kind == AttributeKind::Other {
            // "lime" of "lime green" says which green.
            at >= named && !next.is_some_and(is_colour)
        } else {
            let is_colour = said.kind == AttributeKind::Colour;
            is_colour && next.is_none() && is_what_is_in_it(word, last)
        };
        if !is_part {
            return said;
        }
        Attribute { word: singular_part(word), kind: AttributeKind::Compound }
    });
    let attributes = said.chain(after.iter().map(|word| attribute(word))).collect();
    let attributes = as_toy(attributes, last);
    let phrase = words.iter().chain(after).copied().collect::<Vec<_>>().join(" ");
    Some(Mention { phrase, head, head_stem, attributes })
}

/// The words, of which two are one where the classes have them with a hyphen, "polka-dot" of "polka
/// dot", and where a colour or a material is that of a part: "red-handled" of "red handled".
fn with_pairs<'a>(words: &[&'a str]) -> Vec<Cow<'a, str>> {
    let mut joined: Vec<Cow<'a, str>> = Vec::new();
    let is_of_one = |said: &str, word: &str| {
        let kind = attribute(said).kind;
        matches!(kind, AttributeKind::Colour | AttributeKind::Material) && is_of_part(word)
            || matches!(class(&format!("{said}-{word}")), Some(Class::Attribute(_)))
    };
    for word in words {
        let said = joined.last().filter(|it| is_of_one(it, word));
        match said.map(|it| format!("{it}-{word}")) {
            Some(pair) => {
                joined.pop();
                joined.push(Cow::Owned(pair));
            }
            None => joined.push(Cow::Borrowed(word)),
        }
    }
    joined
}

/// One of what a part of a name names: "shoe" of "shoes rack"; Texas is as it is.
pub(crate) fn singular_part(word: &str) -> String {
    let one = british(&lexicon::singular(word));
    let is_known = || is_in_dictionary(&one) || everyday_names::is_word(&one);
    if one.len() < lexicon::WORD_LETTERS_MIN || is_known() { one } else { word.to_owned() }
}

/// The words of one with hyphens, "wet" and "floor" of "wet-floor"; a name that is written so
/// stays one, "t-shirt", and so does what is said of a thing: "star-shaped".
pub(super) fn parts_of_word(word: &str) -> impl Iterator<Item = &str> {
    let is_one = lexicon::is_name(word)
        || class(word).is_some()
        || word.ends_with("ed")
        || identifier::is_identifier(word);
    let parts = word.split(move |c| c == '-' && !is_one);
    parts.filter(|it| !it.is_empty())
}

/// Whether a colour that has its name from what is eaten says what is packed: a mustard jar holds
/// mustard. Orange is a colour before it is a fruit.
fn is_what_is_in_it(colour: &str, head: &str) -> bool {
    let is_colour_first = COLOURS.has_tag(colour, colour);
    !is_colour_first
        && is_named_colour(colour)
        && PACKAGING.contains(lexicon::singular(head).as_str())
}

/// "peach-coloured"
fn is_coloured(word: &str) -> bool {
    word.ends_with("coloured") || word.ends_with("colored")
}

/// A head that says little: what stands before belongs to it.
fn is_generic(head: &str) -> bool {
    GENERIC_HEADS.contains(head)
        || head.strip_suffix('s').is_some_and(|it| GENERIC_HEADS.contains(it))
}

/// From which of the words before the head on they belong to the thing's name: those
/// that WordNet has as one name with it ("teddy bear"), else the nouns right before it.
fn name_start(before: &[&str], head: &str) -> usize {
    let is_noun =
        |word: &&&str| !lexicon::is_adjective(word) && !is_formed(word) && !OPPOSED.contains(word);
    let nouns = before.iter().rev().take_while(is_noun).count();
    known_name_start(before, head).min(before.len() - nouns)
}

/// From which of the words before the head on WordNet has them as one name with it: "upright" of
/// "upright piano".
fn known_name_start(before: &[&str], head: &str) -> usize {
    let head = lexicon::singular(head);
    let is_whole = |from: &usize| {
        let name = before.get(*from..).unwrap_or_default().join(" ");
        lexicon::is_name(&format!("{name} {head}"))
    };
    let from = before.len().saturating_sub(COMPOUND_MAX);
    (from..before.len()).find(is_whole).unwrap_or(before.len())
}

/// Most words before the head of a name: "washing up liquid bottle".
const COMPOUND_MAX: usize = 3;

/// "stacked", "shining", "blue-handled": said of a thing, and no part of its name.
fn is_formed(word: &str) -> bool {
    is_past(word)
        || word.ends_with("ing") && !NOUNS_IN_ING.contains(word) && !MODIFIERS_IN_ING.contains(word)
        || word.contains('-') && word.ends_with("ed")
}

/// "stacked", and no "red".
pub(super) fn is_past(word: &str) -> bool {
    word.ends_with("ed") && is_past_form(word) && !NOUNS_IN_ED.contains(word)
}

/// Whether a word in -ed is made of a known one: "stacked", and no "butterweed".
fn is_past_form(word: &str) -> bool {
    let known = |it: &str| {
        it.len() < lexicon::WORD_LETTERS_MIN || lexicon::is_word(it) || lexicon::is_verb(it)
    };
    let Some(base) = word.strip_suffix("ed") else { return false };
    let single = || {
        let last = base.chars().next_back()?;
        base.strip_suffix(last).filter(|it| it.ends_with(last))
    };
    let of_y = || base.strip_suffix('i').is_some_and(|it| known(&format!("{it}y")));
    let is_made =
        known(base) || known(&format!("{base}e")) || single().is_some_and(known) || of_y();
    is_made || lexicon::is_adjective(word)
}

pub(crate) fn attribute(word: &str) -> Attribute {
    let spelt = british(word);
    let word = match spelt.as_str() {
        "greyish" => "grey",
        "blond" => "blonde",
        "wood" => "wooden",
        "woollen" | "woolen" | "woolly" => "wool",
        "metallic" => "metal",
        "golden" => "gold",
        "tile" => "tiled",
        "stripy" | "stripey" => "striped",
        "chequered" | "checkered" | "plaid" | "tartan" => "checked",
        "flowery" | "flowered" => "floral",
        "polka-dot" | "spotted" | "spotty" => "dotted",
        "large" | "huge" => "big",
        "little" | "tiny" => "small",
        "opened" => "open",
        "shut" => "closed",
        "1" => "one",
        "2" => "two",
        "3" => "three",
        "4" => "four",
        "5" => "five",
        "6" => "six",
        "7" => "seven",
        "8" => "eight",
        "9" => "nine",
        "10" => "ten",
        other => other,
    };
    let kind = match class(word) {
        Some(Class::Attribute(kind)) => kind,
        Some(Class::Boundary | Class::Collective) | None => AttributeKind::Other,
    };
    Attribute { word: word.to_owned(), kind }
}
