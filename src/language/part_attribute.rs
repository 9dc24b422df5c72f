//! Parts that tell a thing from others of its kind: the parcel with the blue tape is blue-taped, and
//! no blue parcel, nor is its tape a roll of it.
//!
//! Pure.

use crate::language::lexicon;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::naming::attribute;
use crate::language::words::PARTS;

/// Whether a noun is what things have as a part.
pub fn is_part(noun: &str) -> bool {
    PARTS.contains(lexicon::singular(noun).as_str())
}

/// What is said of a thing that has a part of which this is said: "blue-taped"; what has a dotted pattern
/// is dotted.
pub(super) fn of_part(said: &str, part: &str) -> String {
    let one = lexicon::singular(part);
    let said_of_pattern = attribute(said);
    if matches!(one.as_str(), "pattern" | "print" | "design")
        && said_of_pattern.kind == AttributeKind::Pattern
    {
        return said_of_pattern.word;
    }
    let having = lexicon::having(part).map_or_else(|| formed(&one), str::to_owned);
    format!("{}-{having}", attribute(said).word)
}

/// The same of words that end with the part: "blue tape"; `None` where they say nothing of it, or
/// it is none.
pub(super) fn of_words(words: &[String]) -> Option<Vec<String>> {
    let (part, said) = words.split_last()?;
    let is_said = !said.is_empty() && is_part(part);
    is_said.then(|| said.iter().map(|it| of_part(it, part)).collect())
}

/// Whether a word says that a thing has a part, which is to be told by what stands before:
/// "handled". Patterns are seen on the whole of a thing: "striped".
pub(super) fn is_of_part(word: &str) -> bool {
    part_had(word).is_some() && attribute(word).kind != AttributeKind::Pattern
}

/// Whether the part of a thing that has one is most of what is seen of it: who wears blue-framed
/// glasses wears blue ones.
pub(super) fn is_most_of_it(having: &str) -> bool {
    part_had(having).is_some_and(|it| PARTS.has_tag(&it, "most"))
}

/// "handle" of "handled", "lid" of "lidded".
fn part_had(having: &str) -> Option<String> {
    let base = having.strip_suffix("ed")?;
    let last = base.chars().next_back()?;
    let single = base.strip_suffix(last).filter(|it| it.ends_with(last)).map(str::to_owned);
    let forms = [Some(base.to_owned()), Some(format!("{base}e")), single];
    forms.into_iter().flatten().find(|it| PARTS.contains(it.as_str()))
}

/// What a word says of a part, and the part: blue of "blue-taped".
pub(super) fn told(word: &str) -> Option<(Attribute, &str)> {
    let (said, part) = word.rsplit_once('-')?;
    part.ends_with("ed").then(|| (attribute(said), part))
}

/// The same thing, as what is only a part of another.
pub(super) fn as_part(thing: Mention) -> Mention {
    marked(thing, PART)
}

/// The same thing, as one of which only a part is handled.
pub(super) fn as_whole(thing: Mention) -> Mention {
    marked(thing, WHOLE)
}

/// The same thing with a mark that no caption says.
pub(super) fn marked(mut thing: Mention, mark: &str) -> Mention {
    thing.phrase = format!("{}, {mark}", thing.phrase);
    let word = mark.to_owned();
    thing.attributes.push(Attribute { word, kind: AttributeKind::Other });
    thing
}

/// Whether what is said of a thing says that it is only a part of another, or named for its part.
pub(super) fn is_hardly_shown(said: &[Attribute]) -> bool {
    said.iter().any(|it| it.word == PART || it.word == WHOLE)
}

/// Said of what is only a part, and by no caption.
const PART: &str = "only a part";

/// Said of what is only named to say whose part is handled, and by no caption.
const WHOLE: &str = "only its part";

fn formed(noun: &str) -> String {
    if noun.ends_with('e') { format!("{noun}d") } else { format!("{noun}ed") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_said_of_its_thing() {
        assert_eq!(of_part("blue", "tape"), "blue-taped");
        assert_eq!(of_part("gray", "handles"), "grey-handled");
        assert_eq!(of_part("red", "spout"), "red-spouted");
        assert_eq!(of_part("dotted", "pattern"), "dotted");
        assert_eq!(of_part("blue", "pattern"), "blue-patterned");
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of_words(&words("blue lid")), Some(vec!["blue-lidded".to_owned()]));
        assert_eq!(of_words(&words("lid")), None);
        assert_eq!(of_words(&words("blue vase")), None);
    }

    #[test]
    fn what_has_a_part_is_told_from_what_has_a_pattern() {
        for part in ["handled", "lidded", "spouted", "tyred", "zipped"] {
            assert!(is_of_part(part), "{part}");
        }
        for other in ["striped", "dotted", "handle", "red", "stacked", "ed"] {
            assert!(!is_of_part(other), "{other}");
        }
    }

    #[test]
    fn what_is_said_of_a_part_is_told_from_it() {
        let told = |word| told(word).map(|(said, part)| (said.word, said.kind, part));
        let blue = ("blue".to_owned(), AttributeKind::Colour, "taped");
        assert_eq!(told("blue-taped"), Some(blue));
        assert_eq!(told("taped"), None);
        assert_eq!(told("star-shape"), None);
    }
}
