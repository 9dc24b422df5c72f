//! Pictures that are things, which a reader of captions tags as grammar: "a framed photograph of four
//! people" on a shelf shows a photograph, and the people are only in it.
//!
//! Pure. By rules over a tagged sentence. Which captions call themselves a picture is told as in
//! [`crate::language::depicted`].

use crate::language::depicted::{FRAMED, is_caption_itself, is_taken};
use crate::language::tagged::{TaggedWord, WordRole};
use crate::language::words::PICTURES;

/// The tags with such pictures as things; what is said before them is said of them.
pub(super) fn with_picture_heads(
    text: &str,
    words: &[TaggedWord],
    is_first: bool,
) -> Vec<TaggedWord> {
    let mut tags = words.to_vec();
    let said: Vec<String> =
        words.iter().map(|it| text.get(it.at.clone()).unwrap_or_default().to_lowercase()).collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    for at in (0..words.len()).filter(|it| is_picture(&said, words, *it, is_first)) {
        let depicted =
            (at + 2..words.len()).find(|it| words.get(*it).is_some_and(|it| it.role.is_name()));
        let governor = depicted.and_then(|it| words.get(it)).and_then(|it| it.to);
        for tag in tags.iter_mut().take(at).filter(|it| it.to.is_some() && it.to == depicted) {
            tag.to = Some(at);
        }
        if let Some(tag) = tags.get_mut(at) {
            // What it is on or who holds it stands before it.
            (tag.role, tag.to) = (WordRole::Thing, governor.filter(|it| *it < at));
        }
        if let Some(of) = tags.get_mut(at + 1) {
            (of.role, of.to) = (WordRole::Relation, Some(at));
        }
        if let Some(tag) = depicted.and_then(|it| tags.get_mut(it)) {
            tag.to = Some(at + 1);
        }
    }
    tags
}

/// Whether the word at this place is a picture that somebody could take along, before "of", and no
/// name yet.
fn is_picture(said: &[&str], words: &[TaggedWord], at: usize, is_first: bool) -> bool {
    let word = said.get(at).copied().unwrap_or_default();
    let is_untagged = words.get(at).is_some_and(|it| it.role == WordRole::None);
    let is_framed = at.checked_sub(1).and_then(|it| said.get(it)) == Some(&FRAMED);
    is_untagged
        && said.get(at + 1) == Some(&"of")
        && PICTURES.has_tag(word, "thing")
        && !is_taken(said, at)
        && (is_framed || !is_first || !is_caption_itself(word, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::tests::tagged;

    /// The heads of names, with what is said of each.
    fn heads(words: &str, is_first: bool) -> Vec<(String, Vec<String>)> {
        let (text, tags) = tagged(words);
        let tags = with_picture_heads(&text, &tags, is_first);
        let said = |it: &TaggedWord| text[it.at.clone()].to_owned();
        let of = |head: usize| {
            let own = tags.iter().filter(|it| it.to == Some(head));
            own.filter(|it| it.role == WordRole::Attribute).map(said).collect()
        };
        let names = tags.iter().enumerate().filter(|(_, it)| it.role.is_name());
        names.map(|(at, it)| (said(it), of(at))).collect()
    }

    fn named(name: &str, said: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), said.iter().map(|it| (*it).to_owned()).collect())
    }

    #[test]
    fn a_picture_that_stands_somewhere_is_a_thing() {
        let framed = "a framed/attribute/5 photograph of four/count/5 people/person";
        let expect = [named("photograph", &["framed"]), named("people", &[])];
        assert_eq!(heads(framed, true), expect);
        let poster = "a large/attribute/5 poster of a lion/thing on/relation/5 a wall/landmark/6";
        let expect = [named("poster", &["large"]), named("lion", &[]), named("wall", &[])];
        assert_eq!(heads(poster, true), expect);
        let beside = "a desk/thing with/relation/1 a photo of a dog/thing/2";
        let expect = [named("desk", &[]), named("photo", &[]), named("dog", &[])];
        assert_eq!(heads(beside, false), expect);
    }

    #[test]
    fn a_caption_that_is_a_picture_and_one_that_somebody_takes_show_none() {
        let expect = [named("dog", &[])];
        assert_eq!(heads("a photo of a dog/thing", true), expect);
        let taking = "a man/person taking/deed/1 a photo of a dog/thing/2";
        assert_eq!(heads(taking, false), [named("man", &[]), named("dog", &[])]);
        assert_eq!(heads("a reflection of a dog/thing", false), expect);
    }
}
