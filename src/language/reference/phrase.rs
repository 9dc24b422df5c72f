//! The names in a request, put in order: what the thing is called, and which places
//! are named around it.
//!
//! Pure.

use crate::language::lexicon;
use crate::language::mention::AttributeKind;
use crate::language::naming::attribute;
use crate::language::part_attribute;
use crate::language::words::{
    COLLECTIVES, DETERMINERS, FILLERS, NOWHERE, PLACE_PARTS, PLACEHOLDERS, PREPOSITIONS, ROOMS,
    SIDES,
};

/// In lower case, with one blank between words and nothing around them; what was said twice
/// or only to think stands in it once or not at all.
pub(super) fn plain(text: &str) -> String {
    let text = text.to_lowercase().replace(['’', '`'], "'");
    let bare =
        |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_owned();
    let mut words: Vec<String> = text.split_whitespace().map(bare).collect();
    words.retain(|it| !it.is_empty() && !FILLERS.contains(it.as_str()));
    words.dedup();
    words.join(" ")
}

/// The class with its attributes, from all that the request calls the thing and says of
/// it, each in plain words: "mug" and "red" are a red mug.
pub(super) fn thing(names: &[String], attributes: &[String]) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut thing: Vec<String> = Vec::new();
    for name in names {
        let words = of_one(&without_determiner(name));
        let Some((head, before)) = words.split_last() else { continue };
        if PLACEHOLDERS.contains(head.as_str()) {
            said.extend(before.iter().cloned());
        } else if thing.is_empty() {
            thing = words;
        } else if thing.last() == Some(head) {
            // "a mug, the red mug"
            said.extend(before.iter().cloned());
        }
    }
    for attribute in attributes {
        let words = without_determiner(attribute);
        // A mug with a blue handle is no blue mug.
        said.extend(part_attribute::of_words(&words).unwrap_or_else(|| {
            let told = words.into_iter().filter(|it| !PLACEHOLDERS.contains(it.as_str()));
            told.map(as_part_of_name).collect()
        }));
    }
    let mut whole: Vec<String> = Vec::new();
    for word in said {
        if !thing.contains(&word) && !whole.contains(&word) {
            whole.push(word);
        }
    }
    whole.extend(thing);
    whole.join(" ")
}

/// A word as it stands before a name: a backpack with dinosaurs on it is a dinosaur backpack, and
/// one with spots a spotted one.
fn as_part_of_name(word: String) -> String {
    let is_pattern = |it: &&str| attribute(it).kind == AttributeKind::Pattern;
    match lexicon::having(&word).filter(is_pattern) {
        Some(having) => having.to_owned(),
        None if lexicon::is_adjective(&word) => word,
        None => lexicon::singular(&word),
    }
}

/// The places that are named in plain words, the nearest first: the "left side of the
/// desk in the office" is a desk, and in the office.
pub(super) fn places(said: &str) -> Vec<String> {
    let words: Vec<&str> = said.split(' ').collect();
    let mut parts: Vec<Vec<&str>> = vec![Vec::new()];
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let leads = matches!(*word, "of" | "and" | "in" | "on" | "by" | "at" | "from" | "under")
            || matches!((*word, next), ("next", "to"))
            || *word == "to" && at.checked_sub(1).and_then(|it| words.get(it)) == Some(&"next")
            || PREPOSITIONS.contains(word) && DETERMINERS.contains(next);
        match parts.last_mut() {
            Some(part) if !leads => part.push(word),
            _ => parts.push(Vec::new()),
        }
    }
    let named = parts.iter().filter_map(|it| place(&without_determiner(&it.join(" "))));
    named.flat_map(|it| by_room(&it)).collect()
}

fn place(words: &[String]) -> Option<String> {
    let sides = words.iter().take_while(|it| SIDES.contains(it.as_str())).count();
    let rest = words.get(sides..).unwrap_or_default();
    let [.., head] = rest else { return None };
    let says_nothing = |word: &str| {
        NOWHERE.contains(word)
            || PLACE_PARTS.contains(word)
            || PLACEHOLDERS.contains(word)
            || is_collective(word)
    };
    let is_named = rest.len() > 1 || !says_nothing(head);
    is_named.then(|| rest.join(" "))
}

/// Without "the" and "Anna's".
fn without_determiner(name: &str) -> Vec<String> {
    let is_determiner = |word: &&str| {
        *word == "of" || DETERMINERS.contains(word) || word.ends_with("'s") || word.ends_with("s'")
    };
    name.split(' ')
        .skip_while(is_determiner)
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a request says of a thing that it is one so: "a *pair* of scissors".
fn is_collective(word: &str) -> bool {
    COLLECTIVES.contains(word) && !COLLECTIVES.has_tag(word, "caption")
}

/// Whether a word begins a clause that says of a thing which one it is.
pub(super) fn is_relative(word: &str) -> bool {
    matches!(word, "that" | "that's" | "thats" | "which" | "who" | "who's")
}

/// "pair of scissors" are scissors, "one of the red mugs" is a red mug; "plant in the
/// white pot" is any such plant.
fn of_one(words: &[String]) -> Vec<String> {
    let after = words.iter().position(|it| it == "of").filter(|at| {
        at.checked_sub(1).and_then(|it| words.get(it)).is_some_and(|it| is_collective(it))
    });
    if let Some(at) = after {
        return without_determiner(&words.get(at + 1..).unwrap_or_default().join(" "));
    }
    let mut words = words.to_vec();
    // "knapsack thats next to the book"
    while words.last().is_some_and(|it| is_relative(it)) {
        words.pop();
    }
    // "our mug collection"
    let is_several =
        words.last().is_some_and(|it| matches!(it.as_str(), "collection" | "assortment"));
    if is_several && words.len() > 1 {
        words.pop();
    }
    let inside = words.iter().position(|it| it == "in").map(|at| at + 1);
    let article = inside.and_then(|at| words.get_mut(at));
    if let Some(article) = article.filter(|it| DETERMINERS.contains(it.as_str())) {
        "a".clone_into(article);
    }
    words
}

/// "hallway table" is a table, and in the hallway.
fn by_room(place: &str) -> Vec<String> {
    let room = ROOMS.tagged("before").find_map(|room| {
        let rest = place.strip_prefix(room)?.strip_prefix(' ')?;
        Some(vec![rest.to_owned(), room.to_owned()])
    });
    room.unwrap_or_else(|| vec![place.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_by_what_captions_call_them() {
        for (said, expect) in [
            ("the desk", &["desk"][..]),
            ("left side of the desk", &["desk"]),
            ("top shelf of the wardrobe", &["shelf", "wardrobe"]),
            ("hallway table", &["table", "hallway"]),
            ("corner by the window", &["window"]),
            ("bench next to the centrifuge", &["bench", "centrifuge"]),
            ("round table", &["round table"]),
            ("side table", &["side table"]),
            ("grey windowsill in my office", &["grey windowsill", "office"]),
            ("anna's room", &[]),
            ("home", &[]),
            ("room 204", &["room 204"]),
        ] {
            assert_eq!(places(said), expect, "{said}");
        }
    }

    #[test]
    fn a_thing_is_called_by_all_that_is_said_of_it() {
        let owned = |them: &[&str]| them.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        for (names, attributes, expect) in [
            (&["mug"][..], &[][..], "mug"),
            (&["remote control"], &["red"], "red remote control"),
            (&["red mug", "mug"], &["red"], "red mug"),
            (&["mug", "red mug", "sofa"], &[], "red mug"),
            (&["purple one"], &[], "purple"),
            (&["big one", "box"], &["big", "brown"], "big brown box"),
            (&["pair of scissors"], &[], "scissors"),
            (&["one of the red mugs"], &[], "red mugs"),
            (&["anna's blue hat"], &[], "blue hat"),
            (&["of scissors"], &[], "scissors"),
            (&["knapsack thats"], &[], "knapsack"),
            (&["our mug collection"], &["green"], "green mug"),
            (&["umbrella"], &["spots"], "spotted umbrella"),
            (&["backpack"], &["dinosaurs"], "dinosaur backpack"),
            (&["plant in the white pot"], &[], "plant in a white pot"),
            (&["parcel"], &["the blue tape"], "blue-taped parcel"),
            (&[], &["red"], "red"),
            (&[], &[], ""),
        ] {
            assert_eq!(
                thing(&owned(names), &owned(attributes)),
                expect,
                "{names:?} {attributes:?}"
            );
        }
    }

    #[test]
    fn words_are_plain() {
        assert_eq!(plain("Anna’s  Red mug,"), "anna's red mug");
        assert_eq!(plain("\"T-shirt\""), "t-shirt");
        assert_eq!(plain("the red um red mug"), "the red mug");
    }
}
