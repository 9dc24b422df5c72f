//! What is said after the name of a thing in a request and is none: "the red mug *cheers*".
//!
//! Knows no records; the words of their captions come from the corpus.

use crate::language::known_words::{is_known_name, is_look};
use crate::language::lexicon;
use crate::language::reference::Reference;
use crate::memory::episodic::Episodic;

impl Episodic {
    /// Leaves out what is said after the names of things.
    pub fn leave_out_words_after(&self, reference: &mut Reference) {
        if reference.is_told_by_use() {
            return;
        }
        let Reference { thing, also, ends_at, .. } = reference;
        if ![&*thing].into_iter().chain(also.iter()).any(|it| it.contains(' ')) {
            return;
        }
        let is_captioned = |it: &str| self.is_captioned(it);
        let said = thing.len();
        for name in [&mut *thing].into_iter().chain(also) {
            while let Some(named) = before_afterword(name, &is_captioned) {
                *name = named.to_owned();
            }
        }
        *ends_at = ends_at.map(|end| end.saturating_sub(said - thing.len()));
    }
}

/// The name before its last word, where no caption has that word, nothing that a camera sees
/// is called so, and the word before names what captions have.
fn before_afterword<'a>(name: &'a str, is_captioned: &dyn Fn(&str) -> bool) -> Option<&'a str> {
    let (named, last) = name.rsplit_once(' ')?;
    let head = named.rsplit(' ').next().unwrap_or(named);
    let is_noun = |word: &str| is_known_name(&lexicon::singular(word));
    let is_afterword = !is_captioned(last) && !is_noun(last);
    // "White" of "white smartphone" names nothing, though there is a noun: the word after it does.
    let is_thing = is_noun(head) && !is_look(head);
    (is_afterword && is_captioned(head) && is_thing).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_name_and_names_nothing_is_left_out() {
        let is_captioned = |it: &str| ["red", "mug", "yellow", "drill"].contains(&it);
        let named = |name| before_afterword(name, &is_captioned);
        assert_eq!(named("red mug cheers"), Some("red mug"));
        assert_eq!(named("yellow drill bit"), None, "a name of its own");
        assert_eq!(named("drill lunchbox"), None, "a name that only the list has");
        assert_eq!(named("red cheers"), None);
        assert_eq!(named("yellow smartphone"), None, "a name that no dictionary has");
        assert_eq!(named("red mug"), None);
        assert_eq!(named("cheers"), None);
    }
}
