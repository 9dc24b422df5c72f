//! Names with digits: `person_7`, "order 4471-B", "shelf A3", "KL-AB 123". Each means what has
//! exactly these characters, in any case, and nothing that is alike.
//!
//! Pure.

use std::ops::Range;

use crate::language::known_words::is_in_dictionary;
use crate::language::lexicon;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::naming::{attribute, parts_of_word};
use crate::language::request_tags::{Role, TaggedRequest, TaggedSpan};
use crate::language::sentence::is_boundary;
use crate::language::tagged::{TaggedWord, WordRole};

/// Most letters of a measure without a hyphen, "500ml", "2nd"; with one it is a word, "24-inch".
const UNIT_LETTERS_MAX: usize = 2;

/// Most letters of each part of a plate: "KL-AB 123".
const PLATE_LETTERS_MAX: usize = 3;

/// Fewest letters of a part that counts as a word, too: "usb" of "usb-3".
const WORD_LETTERS_MIN: usize = 3;

/// Whether a word has digits and letters and is no measure: "A3", and no "24-inch".
pub(crate) fn is_identifier(word: &str) -> bool {
    let digits = word.trim_start_matches(|it: char| it.is_ascii_digit());
    let is_measure = || {
        let unit = digits.strip_prefix('-').unwrap_or(digits);
        let is_hyphened = unit.len() < digits.len();
        let is_unit = is_hyphened == (unit.len() > UNIT_LETTERS_MAX);
        digits.len() < word.len() && unit.chars().all(char::is_alphabetic) && is_unit
    };
    has_digit(word) && word.contains(char::is_alphabetic) && !is_measure()
}

pub(crate) fn has_digit(word: &str) -> bool {
    word.bytes().any(|it| it.is_ascii_digit())
}

/// Whether a character may stand within a name with digits, and parts other words.
fn is_joint(c: char) -> bool {
    matches!(c, '_' | '/')
}

/// A word with what joins its parts, if that is a name with digits; else its parts.
pub(super) fn words(word: &str) -> impl Iterator<Item = &str> {
    let is_one = is_identifier(word.trim_matches(is_joint));
    word.split(move |c| is_joint(c) && !is_one).map(|it| it.trim_matches(is_joint))
}

/// The words of a name as those that say what the thing is and those that say which one: "shelf"
/// and "a3", "person" and `person_7`. Where nothing says what it is, all are its name.
pub(super) fn split<'a>(words: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let is_which = |at: usize| {
        let is_number = is_before_number(word(at)) && has_digit(word(at + 1));
        has_digit(word(at)) || is_number || at + 1 < words.len() && is_of_plate(word(at))
    };
    if !words.last().is_some_and(|it| has_digit(it)) {
        return (words.to_vec(), Vec::new());
    }
    let end = (0..words.len()).rev().find(|at| !is_which(*at)).map_or(0, |at| at + 1);
    let (what, which) = words.split_at(end);
    let which: Vec<&str> = which.iter().copied().filter(|it| !is_before_number(it)).collect();
    if what.last().is_some_and(|it| attribute(it).kind == AttributeKind::Other) {
        return (what.to_vec(), which);
    }
    let kind = which.first().and_then(|it| it.split(|c| is_joint(c) || c == '-').next());
    match kind.filter(|it| it.len() >= WORD_LETTERS_MIN && lexicon::is_name(it)) {
        Some(kind) if which.len() == 1 && which.first() != Some(&kind) => {
            ([what, &[kind]].concat(), which)
        }
        Some(_) | None => (words.to_vec(), Vec::new()),
    }
}

/// Whether a word may be the letters of a plate: "KL" and "AB" of "KL-AB 123".
fn is_of_plate(word: &str) -> bool {
    word.len() <= PLATE_LETTERS_MAX
        && word.chars().all(char::is_alphabetic)
        && attribute(word).kind == AttributeKind::Other
        && !lexicon::is_adjective(word)
        && !lexicon::is_name(&lexicon::singular(word))
}

/// "order number 4471", "bus no 42"
fn is_before_number(word: &str) -> bool {
    matches!(word, "number" | "no" | "nr")
}

/// Says of a thing which one it is.
pub(super) fn add_which(thing: &mut Mention, which: &str) {
    let words = which.split(' ').flat_map(parts_of_word);
    thing.attributes.extend(words.flat_map(parts));
    thing.phrase = format!("{} {which}", thing.phrase);
}

/// Says of a thing what has digits in the name of what it has: the parcel "with order number 4471" is
/// parcel 4471. Whether that is all that the name names, as no order is seen.
pub(super) fn tell_of(thing: &mut Mention, had: &Mention) -> bool {
    let which: Vec<Attribute> = which(had).cloned().collect();
    let words: Vec<&str> = which.iter().map(|it| it.word.as_str()).collect();
    let is_seen = lexicon::is_name(&lexicon::singular(&had.head)) && had.head != PLATE;
    if which.is_empty() || is_seen {
        return false;
    }
    let of_plate = had.attributes.iter().filter(|it| had.head == PLATE && !which.contains(it));
    thing.phrase = format!("{} {}", thing.phrase, words.join(" "));
    thing.attributes.extend(of_plate.chain(&which).cloned());
    had.head != PLATE
}

const PLATE: &str = "plate";

/// As [`parts`], of what a name has before its head.
pub(super) fn with_parts(attribute: Attribute) -> Vec<Attribute> {
    let is_name = attribute.kind == AttributeKind::Compound && is_identifier(&attribute.word);
    if is_name { parts(&attribute.word).collect() } else { vec![attribute] }
}

/// What a word of a name stands there for among the attributes: itself, and its parts that are
/// words, so that a USB-3 cable is a USB cable.
pub(super) fn parts(word: &str) -> impl Iterator<Item = Attribute> {
    let has_word = || {
        let mut parts = word.split('-');
        parts.any(|it| it.len() >= WORD_LETTERS_MIN && it.chars().all(char::is_alphabetic))
    };
    let is_joined = is_identifier(word) && word.contains('-') && has_word();
    let parts = word.split('-').filter(move |it| is_joined && !it.is_empty());
    let kind = AttributeKind::Compound;
    parts.chain([word]).map(move |it| Attribute { word: it.to_owned(), kind })
}

/// The words with digits after the head of a name, which say of all that are called so which one
/// is meant. What has one digit alone may be how many there are.
pub(crate) fn which(mention: &Mention) -> impl Iterator<Item = &Attribute> {
    let head = mention.phrase.rfind(&mention.head).unwrap_or_default();
    let is_after = move |it: &&Attribute| {
        it.word.len() > 1 && mention.phrase.rfind(&it.word).is_some_and(|at| at >= head)
    };
    literals(mention).filter(is_after)
}

/// The stems of the parts with digits of a name, by which alone it is found, too.
pub(crate) fn stems(mention: &Mention) -> impl Iterator<Item = String> {
    literals(mention).map(|it| lexicon::noun_stem(&it.word))
}

/// The parts of a name with digits.
fn literals(mention: &Mention) -> impl Iterator<Item = &Attribute> {
    let attributes = mention.attributes.iter();
    attributes.filter(|it| it.kind == AttributeKind::Compound && has_digit(&it.word))
}

/// The tags with each name with digits as one word, which belongs to the name before it: a reader
/// takes "4471-B" for three.
pub(super) fn joined(text: &str, words: &[TaggedWord]) -> Vec<TaggedWord> {
    if !has_digit(text) {
        return words.to_vec();
    }
    let mut joined: Vec<TaggedWord> = Vec::new();
    // For each word its number among the joined.
    let mut numbers: Vec<usize> = Vec::new();
    for word in words {
        let last = joined.last_mut().filter(|it| {
            let (from, to) = (it.at.start, word.at.end);
            text.get(from..to).is_some_and(|it| is_one(text, from, it))
        });
        match last {
            Some(last) => {
                last.at.end = word.at.end;
                if !last.role.is_name() && (word.role.is_name() || last.role == WordRole::None) {
                    (last.role, last.to) = (word.role, word.to);
                }
            }
            None => joined.push(word.clone()),
        }
        numbers.push(joined.len().saturating_sub(1));
    }
    for (at, word) in joined.iter_mut().enumerate() {
        let to = word.to.and_then(|it| numbers.get(it)).copied();
        word.to = to.filter(|it| *it != at);
    }
    bind(text, &mut joined);
    joined
}

/// Whether the text from one word to the end of another is within one name with digits.
fn is_one(text: &str, from: usize, part: &str) -> bool {
    let rest = text.get(from..).unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || is_joint(c) || c == '-';
    let is_end = |(at, c): &(usize, char)| !is_part(*c) && !is_decimal_point(rest, *at);
    let end = rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at);
    let whole = rest.get(..end).unwrap_or_default();
    let whole = whole.trim_end_matches(|c| is_joint(c) || c == '-');
    let is_within = |whole: &str| part.len() <= whole.len() && whole.starts_with(part);
    let is_name = |it: &str| is_identifier(it) || it.contains('.');
    is_within(whole) && is_name(&whole.to_lowercase()) || plate(rest).is_some_and(is_within)
}

/// Whether a point stands between digits: "room 1.07".
pub(super) fn is_decimal_point(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let is_digit =
        |at: Option<usize>| at.and_then(|it| bytes.get(it)).is_some_and(u8::is_ascii_digit);
    bytes.get(at) == Some(&b'.') && is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1))
}

/// The plate that a text begins with: letters in capitals, a hyphen, more letters, a number.
fn plate(text: &str) -> Option<&str> {
    let (letters, rest) = text.split_once(' ')?;
    let (first, second) = letters.split_once('-')?;
    let is_part = |it: &str| {
        let length = it.chars().count();
        (1..=PLATE_LETTERS_MAX).contains(&length) && it.chars().all(char::is_uppercase)
    };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let is_plate = is_part(first) && is_part(second) && digits > 0;
    text.get(..letters.len() + 1 + digits).filter(|_| is_plate)
}

/// Makes each name with digits an attribute of the name right before it; one that stands alone is a
/// thing.
fn bind(text: &str, words: &mut [TaggedWord]) {
    let said: Vec<String> =
        words.iter().map(|it| text.get(it.at.clone()).unwrap_or_default().to_lowercase()).collect();
    for at in 0..words.len() {
        let word = said.get(at).map_or("", String::as_str);
        let Some(own) = words.get_mut(at).filter(|_| has_digit(word)) else { continue };
        if is_identifier(word) && matches!(own.role, WordRole::None | WordRole::Count) {
            (own.role, own.to) = (WordRole::Thing, None);
        }
        let is_name = own.role.is_name();
        let counts_what_follows = own.to.is_some_and(|it| it > at);
        if is_name {
            take_parts(at, &said, words);
        }
        // "a bus number 42"
        let is_told = |it: &usize| said.get(*it).is_some_and(|it| !is_before_number(it));
        let Some(before) = (0..at).rev().find(is_told) else { continue };
        if before + 1 < at
            && said.get(before).is_some_and(|it| lexicon::is_name(&lexicon::singular(it)))
            && let Some(named) = words.get_mut(before).filter(|it| it.role == WordRole::None)
        {
            named.role = WordRole::Thing;
        }
        let role_before = words.get(before).map_or(WordRole::None, |it| it.role);
        if role_before == WordRole::Part && is_name {
            give_head_to(before, at, words);
        } else if !role_before.is_name() || counts_what_follows {
            continue;
        }
        if let Some(own) = words.get_mut(at) {
            (own.role, own.to) = (WordRole::Attribute, Some(before));
        }
    }
}

/// Makes what stands before a name with digits, and is told to be nothing, parts of it: "order" and
/// "number" of "order number 4471-B".
fn take_parts(at: usize, said: &[String], words: &mut [TaggedWord]) {
    let is_part = |it: &usize| {
        let word = said.get(*it).map_or("", String::as_str);
        let is_noun = is_in_dictionary(word);
        words.get(*it).is_some_and(|it| it.role == WordRole::None)
            && (is_before_number(word) || is_noun && !is_boundary(word) && !word.ends_with("ed"))
    };
    let from = (0..at).rev().take_while(is_part).last().unwrap_or(at);
    for word in words.iter_mut().take(at).skip(from) {
        (word.role, word.to) = (WordRole::Part, None);
    }
}

/// Makes the part of a name its head, in the place of the word after it: "order" of "order 4471-B".
fn give_head_to(part: usize, head: usize, words: &mut [TaggedWord]) {
    let Some(TaggedWord { role, to, .. }) = words.get(head).cloned() else { return };
    for word in words.iter_mut().filter(|it| it.to == Some(head)) {
        word.to = Some(part);
    }
    if let Some(word) = words.get_mut(part) {
        (word.role, word.to) = (role, to);
    }
}

/// The tags of a request with what has digits after a name as part of that: "pallet *P-18*".
pub(crate) fn with_whole_identifiers(request: &str, mut tagged: TaggedRequest) -> TaggedRequest {
    if !has_digit(request) {
        return tagged;
    }
    let mut within: Vec<Range<usize>> = Vec::new();
    for TaggedSpan { role, at } in &mut tagged.spans {
        if matches!(role, Role::Thing | Role::Also | Role::Place | Role::Near | Role::Not)
            && let Some(end) = end_of_name(request, at.end)
        {
            within.push(at.end..end);
            at.end = end;
        }
    }
    let is_within =
        |it: &Range<usize>| within.iter().any(|name| name.start <= it.start && it.end <= name.end);
    tagged.spans.retain(|it| !is_within(&it.at));
    tagged
}

/// Where a name with digits ends that goes on, or follows, at a byte of a request. A number before
/// what it counts, or before a time, is none.
fn end_of_name(request: &str, from: usize) -> Option<usize> {
    let rest = request.get(from..)?;
    let is_part = |c: char| c.is_alphanumeric() || is_joint(c) || c == '-';
    let blank = rest.len() - rest.trim_start_matches(' ').len();
    let word = rest.get(blank..)?;
    let word = word.get(..word.find(|c| !is_part(c)).unwrap_or(word.len()))?;
    let end = from + blank + word.len();
    let mut before = request.get(..from)?.char_indices().rev();
    let start = before.find(|(_, c)| !is_part(*c)).map_or(0, |(at, c)| at + c.len_utf8());
    let whole = if blank == 0 { request.get(start..end)? } else { word };
    let after = request.get(end..)?.trim_start_matches(' ');
    let next = after.split(|c| !is_part(c)).next().unwrap_or_default();
    let counts = !next.is_empty() && !is_boundary(&next.to_lowercase());
    let is_number = word.bytes().all(|it| it.is_ascii_digit()) && !counts;
    let is_name = is_identifier(&whole.to_lowercase()) || has_digit(word) && is_number;
    is_name.then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::mention::mentions;
    use crate::language::tagged::tests::tagged;

    #[test]
    fn a_measure_or_a_number_is_no_name() {
        for word in ["person_7", "a3", "4471-b", "usb-3", "r2", "3f2504e0-4f89", "kl-ab-123"] {
            assert!(is_identifier(word), "{word}");
        }
        for word in ["24-inch", "500ml", "2nd", "3d", "1980s", "12", "mug", "4-seater", "12b"] {
            assert!(!is_identifier(word), "{word}");
        }
    }

    /// Heads with the parts of their names.
    fn named(text: &str) -> Vec<String> {
        let parts = |it: &Mention| {
            let of_name = it.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
            of_name.map(|it| it.word.clone()).collect::<Vec<_>>().join(" ")
        };
        mentions(text).iter().map(|it| format!("{}: {}", it.head, parts(it))).collect()
    }

    #[test]
    fn what_has_digits_says_which_one_it_is() {
        for (text, expect) in [
            ("person_7 next to Person_70", &["person: person_7", "person: person_70"][..]),
            ("the order number 4471-B", &["order: 4471-b"]),
            ("a box on shelf A3", &["box: ", "shelf: a3"]),
            ("room 214", &["room: 214"]),
            ("dock 5", &["dock: 5"]),
            ("the car with the plate KL-AB 123", &["car: kl ab 123", "plate: kl ab 123"]),
            ("a parcel with order number 4471", &["parcel: 4471"]),
            ("KL-AB 123", &["123: kl ab"]),
            ("4471-B", &["4471-b: "]),
            ("3f2504e0-4f89-11d3", &["3f2504e0-4f89-11d3: "]),
            ("a USB-3 cable", &["cable: usb 3 usb-3"]),
            ("a 24-inch monitor", &["monitor: 24 inch"]),
            ("2 mugs and/or cups", &["mugs: ", "cups: "]),
        ] {
            assert_eq!(named(text), expect, "{text}");
        }
    }

    #[test]
    fn a_reader_of_captions_that_takes_it_apart_is_put_right() {
        for (words, text, expect) in [
            (
                "person/person _/none 7/count/0 is/none",
                "person_7 is",
                &[("person_7", WordRole::Person, None)][..],
            ),
            (
                "order/part 4471/part -/none B/thing",
                "order 4471-B",
                &[("order", WordRole::Thing, None), ("4471-B", WordRole::Attribute, Some(0))],
            ),
            (
                "shelf/landmark A3/count/0",
                "shelf A3",
                &[("shelf", WordRole::Landmark, None), ("A3", WordRole::Attribute, Some(0))],
            ),
            (
                "bus/none number/none 42/none at/relation",
                "bus number 42 at",
                &[
                    ("bus", WordRole::Thing, None),
                    ("number", WordRole::None, None),
                    ("42", WordRole::Attribute, Some(0)),
                ],
            ),
            (
                "KL/part -/part AB/part 123/thing",
                "KL-AB 123",
                &[("KL-AB 123", WordRole::Thing, None)],
            ),
        ] {
            let (_, mut tags) = tagged(words);
            let mut from = 0;
            for (tag, word) in tags.iter_mut().zip(words.split(' ')) {
                let word = word.split('/').next().unwrap();
                let at = from + text[from..].find(word).unwrap();
                tag.at = at..at + word.len();
                from = tag.at.end;
            }
            let found = joined(text, &tags);
            let found: Vec<_> =
                found.iter().map(|it| (&text[it.at.clone()], it.role, it.to)).collect();
            assert_eq!(&found[..expect.len()], expect, "{text}");
        }
    }

    #[test]
    fn what_has_digits_after_a_name_in_a_request_belongs_to_it() {
        for (request, name, expect) in [
            ("bring me pallet P-18 please", "pallet", "pallet P-18"),
            ("bring me pallet P-18", "pallet P", "pallet P-18"),
            ("go to gate 12", "gate", "gate 12"),
            ("the mug 10 minutes ago", "mug", "mug"),
            ("the mug", "mug", "mug"),
        ] {
            let at = request.find(name).unwrap();
            let span = |role, at| TaggedSpan { role, at };
            let whole = at..at + expect.len();
            let rest = whole.end - usize::from(whole.end > at + name.len())..whole.end;
            let mut spans = vec![span(Role::Thing, at..at + name.len())];
            spans.extend((!rest.is_empty()).then(|| span(Role::Attribute, rest)));
            let tagged = TaggedRequest { spans, ..TaggedRequest::default() };
            let found = with_whole_identifiers(request, tagged).spans;
            assert_eq!(found, [span(Role::Thing, whole)], "{request}");
        }
    }
}
