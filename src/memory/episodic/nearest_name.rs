//! The nearest name that captions have for what a request calls otherwise: where toy cars are
//! seen and nothing is called a model car, they are what it may mean.
//!
//! Knows no records; the phrases of their captions come from the corpus.

use crate::language::everyday_names::other_names;
use crate::language::fit::Fit;
use crate::language::known_words::is_known_name;
use crate::language::mention::{AttributeKind, mentions};
use crate::language::part_attribute::is_part;
use crate::language::reference::{Reference, Respelling};
use crate::language::{everyday_names, identifier, lexicon};
use crate::memory::episodic::{Episodic, MemoryError};
use crate::search::Filter;
use crate::store::Record;

impl Episodic {
    /// Reads the thing of a reference, and the things around it, where nothing seen may be it,
    /// as what captions call by the same noun, and keeps what was said beside it. What the
    /// dictionary tells apart from what is seen stays: a coffee machine is no washing machine.
    pub fn take_nearest_name(&self, reference: &mut Reference) {
        if let Some(renamed) = self.nearest_name(&reference.thing) {
            reference.thing.clone_from(&renamed.read);
            reference.renamed = Some(Box::new(renamed));
        }
        for around in &mut reference.around {
            if let Some(renamed) = self.nearest_name(around) {
                around.clone_from(&renamed.read);
                reference.respelled.push(renamed);
            }
        }
    }

    /// What captions within `filter` name that is near what `query` names and is not it, with the
    /// record that shows it last: a lamp for a light. First what it names a kind of, else what is
    /// alike by its vector.
    pub fn near_sighting(
        &self,
        query: &str,
        filter: &Filter,
    ) -> Result<Option<(String, Record)>, MemoryError> {
        let Some(asked) = self.query_mentions(query).into_iter().next() else { return Ok(None) };
        let is_which = identifier::which(&asked).next().is_some();
        let noun = asked.singular_head();
        // Of what no dictionary has, a vector tells little.
        if is_which || !lexicon::is_name(&noun) && !everyday_names::is_word(&noun) {
            return Ok(None);
        }
        let near = self.vocabulary.nearest_nouns(&asked)?;
        let named = self.related_phrases(query, filter).into_iter().chain(near);
        for phrase in named {
            let wanted = self.read_literally(&phrase);
            let seen = wanted.and_then(|it| self.corpus.last_sightings(&it, filter, 1));
            let last = seen.map(|it| self.store.records(&it.records)).transpose()?;
            if let Some(record) = last.and_then(|it| it.into_iter().next()) {
                return Ok(Some((phrase, record)));
            }
        }
        Ok(None)
    }

    /// A name as it is said, and as captions may have it.
    fn nearest_name(&self, thing: &str) -> Option<Respelling> {
        let (said, read) = names(thing)?;
        let everything = Filter::default();
        let (wanted, near) = self.read_literally(thing).zip(self.read_literally(&read))?;
        if self.corpus.last_sightings(&wanted, &everything, 1).is_some() {
            return None;
        }
        let (seen, evidence) = self.corpus.explain_last_sightings(&near, &everything, 1);
        let phrases = evidence.things.into_iter().next().map(|it| it.phrases).unwrap_or_default();
        let mut shown = phrases.iter().filter(|it| it.fit.is_some_and(|it| it > Fit::Related));
        let is_it = seen.is_some() && !shown.any(|it| are_told_apart(&said, &it.phrase));
        is_it.then_some(Respelling { said, read })
    }
}

/// A thing as it is called, and by its noun without the other words of its name: "blue model
/// car" and "blue car". `None` where its name is one word.
fn names(thing: &str) -> Option<(String, String)> {
    let mention = mentions(&format!("a {thing}")).into_iter().next()?;
    // Gate 13 is no other gate.
    if identifier::which(&mention).next().is_some() {
        return None;
    }
    let is_part = |word: &str| {
        let mut parts = mention.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
        parts.any(|it| it.word == lexicon::singular(word))
    };
    let mut rest: Vec<&str> = mention.phrase.split(' ').filter(|it| !is_part(it)).collect();
    // "roll of tape"
    rest.pop_if(|it| *it == "of");
    let read = rest.join(" ");
    (read != mention.phrase && !read.is_empty()).then_some((mention.phrase, read))
}

/// Whether the dictionary, or the list of everyday names, has both names and for different things,
/// or both are of parts of different things: a front door, an oven door.
fn are_told_apart(one: &str, other: &str) -> bool {
    let named = |text: &str| mentions(&format!("a {text}")).into_iter().next();
    let (Some(one), Some(other)) = (named(one), named(other)) else { return false };
    let (a, b) = (one.name(), other.name());
    let are_of_parts =
        is_part(&one.head) && [&one, &other].iter().all(|it| it.compound_name().is_some());
    let are_one = other_names(&a).any(|it| it.name == b);
    a != b && !are_one && (are_of_parts || is_known_name(&a) && is_known_name(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_to_its_noun_and_keeps_what_is_said_of_the_thing() {
        let read = |thing| names(thing).map(|(_, read)| read);
        assert_eq!(read("blue model car").as_deref(), Some("blue car"));
        assert_eq!(read("sunflower oil bottle").as_deref(), Some("bottle"));
        assert_eq!(read("roll of tape").as_deref(), Some("roll"));
        assert_eq!(read("blue car"), None);
        assert_eq!(read("gate 13"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn the_dictionary_tells_apart_what_it_has_both_names_of() {
        assert!(are_told_apart("washing machine", "grey sewing machine"));
        assert!(are_told_apart("red fire engine", "steam engine"));
        assert!(!are_told_apart("blue model car", "toy car"));
        assert!(!are_told_apart("washing machine", "blue party machine"));
        assert!(are_told_apart("front door", "oven door"));
    }
}
