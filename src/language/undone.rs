//! Deeds that nobody does: "nobody is reading the book", "a man who is not smoking".
//!
//! Pure. By rules over a tagged sentence, as no tag says it.

use std::collections::BTreeSet;

use crate::language::gone::neither_lists;
use crate::language::tagged::{TaggedSentence, WordRole};
use crate::language::words::{COPULAS, DENIED_VERBS, NOBODY};

/// The verbs of deeds that are denied in a sentence.
pub(super) fn undone(sentence: TaggedSentence<'_>) -> BTreeSet<usize> {
    let deeds = (0..sentence.words.len()).filter(|at| sentence.role(*at) == WordRole::Deed);
    let by_neither: Vec<usize> = neither_lists(sentence).flatten().collect();
    let is_of_neither =
        |deed: usize| sentence.governor(deed).is_some_and(|it| by_neither.contains(&it));
    deeds.filter(|at| is_denied(sentence, *at) || is_of_neither(*at)).collect()
}

/// Whether a word names nobody: "nobody", "no one".
pub(super) fn is_nobody(sentence: TaggedSentence<'_>, at: usize) -> bool {
    let is_no = |it: usize| sentence.word(it) == "no";
    NOBODY.has_tag(sentence.word(at), "name")
        || sentence.word(at) == "one" && at.checked_sub(1).is_some_and(is_no)
}

/// Whether between a deed and whoever would do it a word denies it.
fn is_denied(sentence: TaggedSentence<'_>, deed: usize) -> bool {
    for at in (0..deed).rev() {
        let word = sentence.word(at);
        if NOBODY.contains(word) || is_nobody(sentence, at) {
            return true;
        }
        let is_passed = COPULAS.contains(word)
            || matches!(word, "t" | "'" | "’" | "longer" | "one" | "anybody" | "anyone" | "been")
            || word.ends_with("ly") && sentence.role(at) == WordRole::None
            || word.is_empty();
        if !is_passed {
            return DENIED_VERBS.contains(word);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::tests::found;

    fn check(words: &str, expect: &[&str]) {
        assert_eq!(found(words, undone), expect, "{words}");
    }

    #[test]
    fn what_nobody_does_is_no_deed() {
        check("nobody/absent is reading/deed/0 the book/thing/2", &["reading"]);
        check("no one is reading/deed the book/thing/3", &["reading"]);
        check("a man/person is not smoking/deed/1", &["smoking"]);
        check("a man/person isn ' t smoking/deed/1", &["smoking"]);
        let neither = "neither the man/absent nor the woman/person is smiling/deed/2";
        check(neither, &["smiling"]);
        check("a desk/thing without anybody/absent working/deed/3", &["working"]);
    }

    #[test]
    fn what_somebody_does_is_one() {
        check("no dog/absent and a man/person is smoking/deed/4", &[]);
        check("a man/person is quietly smoking/deed/1", &[]);
        check("nothing on/relation the desk/landmark and a man/person smoking/deed/6", &[]);
    }
}
