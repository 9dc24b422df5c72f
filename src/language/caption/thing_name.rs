//! A thing of a tagged sentence with its name and all that is said of it: by attributes, by its
//! parts, and by what is written on it.
//!
//! Pure.

use crate::language::borne::add_borne;
use crate::language::caption::of_tags::Tagged;
use crate::language::mention::{AttributeKind, Mention};
use crate::language::naming;
use crate::language::part_attribute::{as_part, as_whole, is_of_part, is_part, of_part};
use crate::language::tagged::{TaggedSentence, WordRole};
use crate::language::verbs;
use crate::language::words::{DETERMINERS, PREPOSITIONS};
use crate::language::{detached_part, identifier, lexicon, made_of};

impl Tagged<'_> {
    /// The thing of a head, with its name and all that is said of it.
    pub(super) fn mention(&self, head: usize) -> Option<Mention> {
        let is_of_name = |at: &usize| self.role(*at) == WordRole::Part || self.is_shouted(*at);
        let parts = (0..head).rev().take_while(is_of_name).count();
        let start = self.words.get(head - parts)?.at.start;
        let name = self.text.get(start..self.words.get(head)?.at.end)?.to_lowercase();
        let name = name.strip_suffix("'s").unwrap_or(&name);
        let said: Vec<usize> = (0..self.words.len())
            .filter(|at| {
                matches!(self.role(*at), WordRole::Attribute | WordRole::Count)
                    && !self.is_written(*at)
                    && !(head - parts..head).contains(at)
                    && self.word(*at).contains(char::is_alphanumeric)
                    && !self.is_manner(*at, head)
                    && !PREPOSITIONS.contains(&self.word(*at))
                    && self.root(*at).is_some_and(|root| self.governor(root) == Some(head))
            })
            .collect();
        let word = |at: &&usize| self.word(**at);
        let (ahead, _) = said.split_at(said.partition_point(|it| *it < head));
        let before = self.with_parts_told(ahead);
        let after: Vec<String> = said.iter().filter(|it| **it > head).map(|it| word(&it)).collect();
        let of_name: Vec<&str> = name.split_whitespace().flat_map(naming::parts_of_word).collect();
        let words: Vec<&str> =
            before.iter().map(String::as_str).chain(of_name.iter().copied()).collect();
        let having = self.having(head);
        let after: Vec<&str> = after.iter().chain(&having).map(String::as_str).collect();
        let mut named = naming::name(&words, &after, Some(of_name.len().saturating_sub(1)))?;
        let written = self.written.iter().filter(|(of, _)| *of == head);
        let written = written.flat_map(|(_, range)| range.clone()).map(|at| self.word(at));
        let written: Vec<String> =
            written.filter(|it| it.contains(char::is_alphanumeric)).collect();
        named.inscribe(written.iter().map(String::as_str));
        for plate in self.plates_of(head) {
            identifier::add_which(&mut named, &plate);
        }
        let said = self.lower_words();
        let sentence = TaggedSentence { words: &said, tags: self.words };
        made_of::add_told(&mut named, sentence, head);
        add_borne(&mut named, sentence, head);
        if let Some(whole) = self.wholes.get(&head).copied() {
            let is_part = |at: &usize| self.role(*at) == WordRole::Part;
            let parts = (0..whole).rev().take_while(is_part).count();
            let name: Vec<String> = (whole - parts..=whole).map(|at| self.word(at)).collect();
            detached_part::add_whole(&mut named, name.iter().map(String::as_str));
        }
        if self.is_only_part(head) {
            named = as_part(named);
        }
        Some(if self.left_behind.contains(&head) { as_whole(named) } else { named })
    }

    /// The words at these positions, of which those that tell of a part are one where they are written
    /// so: "long-handled".
    fn with_parts_told(&self, said: &[usize]) -> Vec<String> {
        let (mut told, mut end): (Vec<String>, usize) = (Vec::new(), 0);
        for at in said {
            let (word, place) = (self.word(*at), self.words.get(*at).map(|it| &it.at));
            let between = place.and_then(|it| self.text.get(end..it.start));
            end = place.map_or(end, |it| it.end);
            match told.last_mut().filter(|_| between == Some("-") && is_of_part(&word)) {
                Some(of) => *of = format!("{of}-{word}"),
                None => told.push(word),
            }
        }
        told
    }

    /// Whether a word right after the object of a deed says how it is held, and is no state of it:
    /// "steady" of "holds the tray steady", and not "open".
    fn is_manner(&self, at: usize, head: usize) -> bool {
        let deed = self.governor(head).filter(|it| self.role(*it) == WordRole::Deed);
        let deed = deed.and_then(|it| verbs::activity(&self.word(it)));
        let word = self.word(at);
        at == head + 1
            && deed.is_some_and(|it| matches!(it.as_str(), "holding" | "keeping"))
            && !word.ends_with("ed")
            && naming::attribute(&word).kind == AttributeKind::Other
            && lexicon::is_adjective(&word)
    }

    /// Whether an attribute is in capitals among other words: what is written on a sign is its name.
    fn is_shouted(&self, at: usize) -> bool {
        let said = self.words.get(at).and_then(|it| self.text.get(it.at.clone()));
        let is_shouted =
            |it: &str| it.len() > 2 && it.chars().all(|letter| letter.is_ascii_uppercase());
        self.role(at) == WordRole::Attribute
            && said.is_some_and(is_shouted)
            && self.text.chars().any(|it| it.is_ascii_lowercase())
    }

    /// What somebody or something is who has what is said right after it: bearded "with a beard",
    /// blue-taped "with blue tape".
    fn having(&self, head: usize) -> Vec<String> {
        let of = |at: usize| self.governor(at) == Some(head);
        let mut relations = (head + 1..self.words.len()).filter(|at| of(*at));
        let is_full = |at: usize| at > 0 && made_of::is_full_of(&self.word(at - 1), "with");
        let Some(with) = relations.find(|at| self.word(*at) == "with" && !is_full(*at)) else {
            return self.parts_of(head);
        };
        let mut after = (with + 1..self.words.len()).map(|at| self.word(at));
        let noun = after.find(|it| !DETERMINERS.contains(it) && !lexicon::is_adjective(it));
        let having = noun.filter(|it| !lexicon::descends_from(it, "animal"));
        let having = having.and_then(|it| lexicon::having(&it)).map(str::to_owned);
        having.into_iter().chain(self.parts_of(head)).collect()
    }

    /// What is said of the parts that a thing has: "blue-taped".
    fn parts_of(&self, head: usize) -> Vec<String> {
        let parts = (head + 1..self.words.len()).filter(|it| self.owner_of(*it) == Some(head));
        let said = parts.flat_map(|part| {
            let named = (0..part).rev().take_while(|at| self.role(*at) == WordRole::Part).count();
            let before = (0..part).filter(move |at| {
                *at >= part - named
                    || self.role(*at) == WordRole::Attribute && self.governor(*at) == Some(part)
            });
            before.map(move |at| of_part(&self.word(at), &self.word(part)))
        });
        said.collect()
    }

    /// Whether a head is a part of another thing that is told by what is said of it.
    fn is_only_part(&self, head: usize) -> bool {
        self.owner_of(head).is_some_and(|it| !self.parts_of(it).is_empty())
    }

    /// The thing that has what a head names as a part of it.
    fn owner_of(&self, head: usize) -> Option<usize> {
        let with = self.relation_of(head).filter(|it| self.is_having(*it))?;
        let owner = self.governor(with).filter(|it| *it < head && is_part(&self.word(head)))?;
        let is_thing = matches!(self.role(owner), WordRole::Thing | WordRole::Landmark);
        let is_animal = || lexicon::descends_from(&lexicon::singular(&self.word(owner)), "animal");
        Some(owner).filter(|_| is_thing && !is_animal())
    }

    /// What is on the plate of a vehicle: "a van with plate B-XY 4712".
    fn plates_of(&self, head: usize) -> Vec<String> {
        let plate =
            self.object_of(head).filter(|(by, it)| by == "with" && self.word(*it) == "plate");
        let Some((_, plate)) = plate else { return Vec::new() };
        let which = (plate + 1..self.words.len()).filter(|it| self.governor(*it) == Some(plate));
        which.map(|it| self.word(it)).filter(|it| identifier::has_digit(it)).collect()
    }

    /// Whether a relation says what a thing has: "with a strap", "by its strap".
    fn is_having(&self, relation: usize) -> bool {
        let is_own = || matches!(self.word(relation + 1).as_str(), "its" | "their");
        self.word(relation) == "with" || self.word(relation) == "by" && is_own()
    }
}

#[cfg(test)]
mod tests {
    use crate::language::caption::ParsedCaption;
    use crate::language::caption::tests::parsed;
    use crate::language::mention::AttributeKind as Kind;
    use crate::language::tagged::{TaggedWord, WordRole};

    #[test]
    fn how_a_thing_is_held_is_not_said_of_it() {
        let phrase = |words: &str| parsed(words).things.remove(1).mention.phrase;
        let held = "a man/person holds/deed/1 the seed/part tray/thing/2 steady/attribute/5";
        assert_eq!(phrase(held), "seed tray");
        let open = "a man/person holds/deed/1 the door/thing/2 open/attribute/4";
        assert_eq!(phrase(open), "door open");
    }

    #[test]
    fn what_is_in_capitals_is_part_of_the_name() {
        let sign =
            parsed("a red/attribute/3 TEXAS/attribute/3 sign/thing").things.remove(0).mention;
        let kinds: Vec<Kind> = sign.attributes.iter().map(|it| it.kind).collect();
        assert_eq!(
            (sign.phrase.as_str(), kinds),
            ("red texas sign", vec![Kind::Colour, Kind::Compound])
        );
    }

    #[test]
    fn who_has_a_beard_is_bearded() {
        let said = |words: &str| {
            let named = parsed(words).things.remove(0).mention;
            named.attributes.into_iter().map(|it| it.word).collect::<Vec<_>>()
        };
        assert_eq!(said("a man/person with/relation/1 a grey/none beard/none"), ["bearded"]);
        assert_eq!(
            said("a jar/thing with/relation/1 a red/attribute/5 lid/thing/2"),
            ["lidded", "red-lidded"]
        );
        let swing = "a can/thing with/relation/1 a swing/part/5 lid/thing/2";
        assert_eq!(said(swing), ["swing-lidded"]);
        assert_eq!(said("a man/person with/relation/1 a dog/thing/2"), [""; 0]);
    }

    #[test]
    fn what_a_part_is_like_is_one_word_where_it_is_written_so() {
        let text = "a long-handled brush";
        let word = |said: &str, role, to| {
            let start = text.find(said).unwrap();
            TaggedWord { at: start..start + said.len(), role, to }
        };
        let tags = vec![
            word("long", WordRole::Attribute, Some(2)),
            word("handled", WordRole::Attribute, Some(2)),
            word("brush", WordRole::Thing, None),
        ];
        let brush = ParsedCaption::of_tagged(1, &[(text, tags)]).things.remove(0).mention;
        let said: Vec<&str> = brush.attributes.iter().map(|it| it.word.as_str()).collect();
        assert_eq!(said, ["long-handled"]);
    }
}
