//! What is written on a thing: "a box marked fragile", "the sign that says wet floor on the door".
//!
//! Pure. Where it stands among the words of a sentence; whoever takes the sentence apart keeps it
//! with the thing, as a part of its name.

use std::ops::Range;

use crate::language::lexicon;
use crate::language::sentence::{goes_on, is_boundary};
use crate::language::words::{DETERMINERS, PEOPLE, PREPOSITIONS, WRITING};

/// Stands for each quotation mark.
pub(super) const QUOTE: &str = "\"";

/// Where among `words` it stands what is written on the thing whose name ends right before `at`;
/// `None` where nothing at `at` says that something is.
pub(super) fn inscription(words: &[&str], at: usize) -> Option<Range<usize>> {
    let thing = at.checked_sub(1).and_then(|before| words.get(before))?;
    if is_boundary(thing) {
        return None;
    }
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let after_verb = |verb: usize| {
        // "a cat that reads a book"
        let reads = matches!(word(verb), "reads" | "read" | "reading");
        let is_deed = is_somebody(thing) || reads && DETERMINERS.has_tag(word(verb + 1), "article");
        let is_announced = ANNOUNCING.contains(&word(verb));
        let article = usize::from(is_announced && DETERMINERS.has_tag(word(verb + 1), "article"));
        let is_shown = is_announced
            && word(verb + 1) != QUOTE
            && !goes_on(words.get(verb + 1 + article).copied());
        (WRITING.has_tag(word(verb), "verb") && !is_deed && !is_shown).then_some(verb + 1 + article)
    };
    let after_text = |text: usize| WRITING.has_tag(word(text), "text").then_some(text + 1);
    let start = match word(at) {
        // "the note" and then, between quotation marks, what it says; a sentence that ends within
        // them ends it, too.
        QUOTE if !is_somebody(thing) => {
            let before = words.iter().take(at).filter(|it| **it == QUOTE).count();
            return quoted(words, at).filter(|it| !it.is_empty() && before % 2 == 0);
        }
        "that" | "which" => after_verb(at + 1)?,
        "with" => {
            let text = at + 1 + usize::from(DETERMINERS.contains(word(at + 1)));
            match after_text(text) {
                Some(start) => start,
                None => return put_on(words, text),
            }
        }
        verb if WRITING.has_tag(verb, "verb") => after_verb(at)?,
        verb if WRITING.value(verb) == Some("") => {
            // A title that begins with an article goes on to the next thing.
            let is_title = DETERMINERS.has_tag(word(at + 1), "article");
            let mut rest = at + 1..words.len();
            let end = if is_title {
                rest.skip(1).find(|it| is_end(words, *it)).unwrap_or(words.len())
            } else {
                rest.find(|it| !goes_on(words.get(*it).copied())).unwrap_or(words.len())
            };
            (end > at + 1 || word(at + 1) == QUOTE).then_some(())?;
            return Some(quoted(words, at + 1).unwrap_or(at + 1..end));
        }
        _ => return None,
    };
    let end = (start..words.len()).find(|it| is_end(words, *it)).unwrap_or(words.len());
    let written = quoted(words, start).unwrap_or(start..end);
    // "a shirt with text in Chinese"
    let is_said = !PREPOSITIONS.contains(word(start)) && !matches!(word(start), "and" | "or");
    (is_said && !written.is_empty()).then_some(written)
}

/// Verbs after which stands what is told and not how.
const ANNOUNCING: &[&str] = &["announcing", "announces", "advertising", "advertises"];

/// What is written by words that come after it: "krause" of "with krause written on it".
fn put_on(words: &[&str], start: usize) -> Option<Range<usize>> {
    let rest = words.get(start..)?;
    let length = rest.iter().position(|it| is_boundary(it) || WRITING.has_tag(it, "put"))?;
    let is_put = WRITING.has_tag(rest.get(length)?, "put") && rest.get(length + 1) == Some(&"on");
    (is_put && length > 0).then_some(start..start + length)
}

/// What stands between quotation marks, of which the first is at `at`.
fn quoted(words: &[&str], at: usize) -> Option<Range<usize>> {
    words.get(at).filter(|it| **it == QUOTE)?;
    let length = words.iter().skip(at + 1).take_while(|it| **it != QUOTE).count();
    Some(at + 1..at + 1 + length)
}

/// Whether what is written without quotation marks ends before this word: "on the" of "wet floor on
/// the door".
fn is_end(words: &[&str], at: usize) -> bool {
    let Some(rest) = words.get(at..) else { return true };
    let is_mark = |it: &&str| !it.is_empty() && !it.contains(char::is_alphanumeric);
    let links = rest.iter().take_while(|it| is_link(it)).count();
    rest.first().is_none_or(is_mark) || rest.get(links).is_some_and(|it| links > 0 && is_other(it))
}

/// Whether a word begins what is told of another thing, or of the same: "a red chair", "on it".
fn is_other(word: &str) -> bool {
    DETERMINERS.contains(word) || word == "it"
}

/// Whether a word leads from what is written to what else is there.
fn is_link(word: &str) -> bool {
    let is_put = WRITING.has_tag(word, "put") || word == "and" || word == "or";
    is_put || is_boundary(word) && !is_other(word)
}

fn is_somebody(word: &str) -> bool {
    PEOPLE.contains(word) || lexicon::is_person(&lexicon::singular(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written, at the first word that says so; words and marks stand apart.
    fn check(sentence: &str, expect: Option<&str>) {
        let words: Vec<&str> = sentence.split(' ').collect();
        let found = (0..words.len()).find_map(|at| inscription(&words, at));
        assert_eq!(found.map(|it| words[it].join(" ")).as_deref(), expect, "{sentence}");
    }

    #[test]
    fn what_is_written_follows_a_word_that_says_so() {
        check("a box marked fragile on a shelf", Some("fragile"));
        check("a mug labeled best dad", Some("best dad"));
        check("a sign that reads kitchen room 214", Some("kitchen room 214"));
        check("the sign which says wet floor", Some("wet floor"));
        check("a sign says stop", Some("stop"));
        check("a note \" thank you", Some("thank you"));
        check("a note \" thank you , neighbors ! \" on a bag", Some("thank you , neighbors !"));
        check("two signs saying exit above the door", Some("exit"));
        check("a bottle with the word milk on it", Some("milk"));
        check("a mug with the words best dad printed on it", Some("best dad"));
        check("a red truck with krause written on it", Some("krause"));
        check("a cup with the best dad printed on", Some("best dad"));
    }

    #[test]
    fn it_ends_where_something_else_is_told() {
        check("a sign that says wet floor next to a bucket", Some("wet floor"));
        check("a sign that says do not enter , a door", Some("do not enter"));
        check("a sign that says no smoking and a red chair", Some("no smoking"));
        check("a sign that says stop and go", Some("stop and go"));
        check("a sign that says \" stop at the line \" on a wall", Some("stop at the line"));
        check("a book titled \" the cat and the hat \" on a desk", Some("the cat and the hat"));
    }

    #[test]
    fn what_somebody_does_is_not_written() {
        check("a person that reads a book", None);
        check("a book called the long way home", Some("the long way home"));
        check("a dog called by a man", None);
        check("a box with a lid on it", None);
        check("a wall with a poster in english printed on paper", None);
        check("a man \" in charge \" of the shop", None);
        check("a note \"", None);
        check("a man reading quietly", None);
        check("a woman that says hello", None);
        check("a cat that reads a book", None);
        check("a shirt with text on it", None);
        check("a page with text and a picture", None);
        check("a box marked", None);
        check("reading", None);
        check("the mug that I use", None);
    }
}
