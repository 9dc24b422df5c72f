//! What a noun phrase or a caption names: "a red mug on a wooden desk" names a red mug.
//!
//! Pure.

use crate::index::mention::{Mention, mentions};
use crate::memory::episodic::place::place_of;
use crate::memory::episodic::reference::words::DETERMINERS;

/// Heads of what captions call people.
const PEOPLE: &[&str] = &[
    "person", "peopl", "man", "men", "woman", "women", "boy", "girl", "child", "children",
    "someon", "somebodi", "user",
];

/// Whether it is somebody.
pub(in crate::memory::episodic) fn is_person(mention: &Mention) -> bool {
    PEOPLE.contains(&mention.head_stem.as_str())
}

/// The things that `caption` shows, without people and the place where all that is.
pub fn things_in(caption: &str) -> Vec<String> {
    let place = place_of(caption).unwrap_or_default();
    let is_place = |it: &Mention| {
        let spots = [&place.surface, &place.room];
        spots.into_iter().flatten().any(|spot| spot.phrase == it.phrase)
    };
    let shown = mentions(caption).into_iter().filter(|it| !is_person(it) && !is_place(it));
    shown.map(|it| it.phrase).collect()
}

/// The thing that `words` are the name of, and nothing but the name; `None` where they
/// say more, such as a request.
pub fn bare_name(words: &str) -> Option<String> {
    let lower = words.trim().to_lowercase();
    let bare = match lower.split_once(' ') {
        Some((article, bare)) if DETERMINERS.contains(&article) => bare,
        _ => &lower,
    };
    let named = mentions(&lower);
    let rest = bare.strip_prefix(named.first()?.phrase.as_str())?;
    // A plant is known by its pot.
    let is_potted =
        || rest.starts_with(" in a ") && named.get(1).is_some_and(|it| it.head == "pot");
    let is_whole = rest.is_empty() || named.len() == 2 && is_potted();
    is_whole.then(|| bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_show_things_and_people_at_a_place() {
        let check = |caption: &str, expect: &[&str]| assert_eq!(things_in(caption), expect);
        check("a red mug next to a laptop on a wooden desk in the office", &["red mug", "laptop"]);
        check("a person reading a book on a grey sofa in the living room", &["book"]);
        check("there is a grey sofa in the living room", &["grey sofa"]);
        check("", &[]);
    }

    #[test]
    fn a_name_is_told_from_a_request() {
        let check = |words: &str, expect: Option<&str>| {
            assert_eq!(bare_name(words).as_deref(), expect, "{words}");
        };
        check("purple book", Some("purple book"));
        check("a red mug", Some("red mug"));
        check("My keys", Some("keys"));
        check("that green toy car", Some("green toy car"));
        check("plant in a red pot", Some("plant in a red pot"));
        check("the mug that I use the most", None);
        check("the mug on the desk", None);
        check("bring me a mug", None);
        check("", None);
    }
}
