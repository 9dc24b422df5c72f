//! A closed class of words, as a data file lists it: a word or phrase a line, after a tab
//! what is known of it, comments with `#`.
//!
//! Pure.

use std::collections::HashMap;

/// Words in the order of their file.
#[derive(Debug)]
pub(crate) struct WordClass {
    entries: Vec<(&'static str, &'static str)>,
    places: HashMap<&'static str, usize>,
}

impl WordClass {
    pub(super) fn read(text: &'static str) -> Self {
        let lines = text.lines().filter(|it| !it.starts_with('#'));
        let entries: Vec<_> = lines.map(|it| it.split_once('\t').unwrap_or((it, ""))).collect();
        let places = entries.iter().enumerate().map(|(at, (word, _))| (*word, at)).collect();
        Self { entries, places }
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.places.contains_key(word)
    }

    /// The place of a word in the file, from 0.
    pub(crate) fn position(&self, word: &str) -> Option<usize> {
        self.places.get(word).copied()
    }

    /// What stands beside a word; nothing may.
    pub(crate) fn value(&self, word: &str) -> Option<&'static str> {
        self.entries.get(self.position(word)?).map(|(_, value)| *value)
    }

    /// Whether a word stands there with this mark.
    pub(crate) fn has_tag(&self, word: &str, tag: &str) -> bool {
        self.value(word).is_some_and(|it| it.split(' ').any(|it| it == tag))
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|(word, _)| *word)
    }

    /// Words with this mark.
    pub(crate) fn tagged(&self, tag: &str) -> impl Iterator<Item = &'static str> {
        self.words().filter(move |it| self.has_tag(it, tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_with_what_stands_beside_them() {
        let class = WordClass::read("# Rooms.\nliving room\tbefore warm\nattic\n");
        assert_eq!(class.words().collect::<Vec<_>>(), ["living room", "attic"]);
        assert!(class.contains("attic") && !class.contains("# Rooms."));
        assert_eq!((class.value("attic"), class.value("cellar")), (Some(""), None));
        assert_eq!(class.position("attic"), Some(1));
        assert!(class.has_tag("living room", "warm") && !class.has_tag("attic", "warm"));
        assert_eq!(class.tagged("before").collect::<Vec<_>>(), ["living room"]);
    }
}
