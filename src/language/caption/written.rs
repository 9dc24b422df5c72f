//! What is written on which thing of a tagged sentence.
//!
//! Pure.

use std::ops::Range;

use crate::language::caption::of_tags::Tagged;
use crate::language::inscription::{QUOTE, inscription};

impl Tagged<'_> {
    /// What is written on things, each with the head of its thing: by rules, as no tag says where
    /// it ends. "Kitchen" on a sign is no place, and "no smoking" nobody's deed.
    pub(super) fn inscriptions(&self, words: &[&str]) -> Vec<(usize, Range<usize>)> {
        let mut written: Vec<(usize, Range<usize>)> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let head = at.checked_sub(1).filter(|it| self.role(*it).is_name());
            match head.and_then(|head| Some((head, inscription(words, at)?))) {
                Some((before, range)) => {
                    // What stands right after a name between quotation marks is on that.
                    let of =
                        self.inscribed(range.clone()).filter(|_| words.get(at) != Some(&QUOTE));
                    written.push((of.unwrap_or(before), range.clone()));
                    at = range.end;
                }
                None => at += 1,
            }
        }
        written
    }

    /// The head of the thing that what is written belongs to by its tags: of "a sign above the
    /// door reads exit" it is not the door.
    fn inscribed(&self, mut written: Range<usize>) -> Option<usize> {
        written.find_map(|at| self.governor(self.root(at)?)).filter(|it| self.role(*it).is_name())
    }

    /// A word; of quotation marks one and the same; nothing for the mark within "driver's".
    pub(super) fn word_or_quote(&self, at: usize) -> String {
        let word = self.word(at);
        let place = self.words.get(at).map(|it| it.at.clone()).unwrap_or_default();
        let before = self.text.get(..place.start).unwrap_or_default();
        let after = self.text.get(place.end..).unwrap_or_default();
        let is_within =
            before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
        match word.as_str() {
            "'" | "’" if is_within => String::new(),
            "'" | "‘" | "’" | "“" | "”" => QUOTE.to_owned(),
            _ => word,
        }
    }

    pub(super) fn is_written(&self, at: usize) -> bool {
        self.written.iter().any(|(_, range)| range.contains(&at))
    }
}

#[cfg(test)]
mod tests {
    use crate::language::caption::ParsedCaption;
    use crate::language::caption::tests::parsed;
    use crate::language::mention::AttributeKind as Kind;
    use crate::language::tagged::{TaggedWord, WordRole};

    #[test]
    fn what_is_written_on_a_thing_is_neither_a_thing_nor_a_place_nor_a_deed() {
        let parsed = parsed(
            "a sign/thing that reads no smoking/deed in/relation kitchen/place/6 214/count/7 \
             next/relation/1 to/relation/1 a box/thing/9 marked/attribute/12 fragile/attribute/13",
        );
        let things: Vec<(&str, Vec<&str>)> = parsed
            .things
            .iter()
            .map(|it| {
                let mention = &it.mention;
                let parts = mention.attributes.iter().filter(|it| it.kind == Kind::Compound);
                (mention.head.as_str(), parts.map(|it| it.word.as_str()).collect())
            })
            .collect();
        let written = vec!["no", "smoking", "in", "kitchen", "214"];
        assert_eq!(things, [("sign", written), ("box", vec!["fragile"])]);
        assert_eq!((parsed.place, parsed.deeds), (None, Vec::new()));
    }

    #[test]
    fn what_is_written_belongs_to_the_thing_that_the_tags_say() {
        let parsed = parsed(
            "a sign/thing above/relation/1 the door/landmark/2 reads exit/attribute/1 and/none \
             out/attribute/6",
        );
        let names = parsed.things.iter().map(|it| it.mention.phrase.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["sign exit and out", "door"]);
    }

    #[test]
    fn what_is_written_may_stand_between_marks() {
        let written = |text: &str| -> Vec<String> {
            let mut words = Vec::new();
            for (start, _) in text.char_indices() {
                let part = |it: char| it.is_alphanumeric();
                let before = text[..start].chars().next_back();
                let is_start = !text[start..].starts_with(part) || !before.is_some_and(part);
                if text[start..].starts_with(' ') || !is_start {
                    continue;
                }
                let letters = text[start..].find(|it| !part(it)).unwrap_or(text.len() - start);
                let mark = text[start..].chars().next().unwrap().len_utf8();
                let role = if words.is_empty() { WordRole::Thing } else { WordRole::None };
                words.push(TaggedWord { at: start..start + letters.max(mark), role, to: None });
            }
            let parsed = ParsedCaption::of_tagged(1, &[(text, words)]);
            parsed.things[0].mention.attributes.iter().map(|it| it.word.clone()).collect()
        };
        assert_eq!(written("label that reads 'PAPER ONLY'. Above"), ["paper", "only"]);
        assert_eq!(written("label with the word “A, the B” on it"), ["a", "the", "b"]);
        assert_eq!(written("sign that says driver's door on a wall"), ["driver", "s", "door"]);
    }
}
