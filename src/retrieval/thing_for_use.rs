//! The thing that a request tells by what it is for, "something to drain the spaghetti": of those that
//! the model of uses takes for likely, the likeliest that was seen.

use crate::language::lexicon;
use crate::language::reference::Reference;
use crate::language::words::COLOURS;
use crate::model::LikelyThing;
use crate::retrieval::{Retrieval, RetrievalError};

/// Probability, among all things that the model knows, from which on one may be meant.
const LIKELY_ENOUGH: f32 = 0.03;

/// Share of what all names with a noun have from which on one of them alone is meant: no glove but an
/// oven glove.
const ALONE: f32 = 0.6;

impl Retrieval {
    /// Of the things for a use one that was seen.
    pub(super) fn with_thing_for_use(
        &self,
        mut reference: Reference,
    ) -> Result<Reference, RetrievalError> {
        let told = reference.for_use.as_deref();
        if let Some(seen) = told.map(|it| self.seen_for_use(it)).transpose()?.flatten() {
            reference.thing = seen;
        } else if !reference.or_else.is_empty()
            && !self.is_surely_seen(&reference.thing)
            && let Some(seen) = reference.or_else.iter().find(|it| self.is_surely_seen(it))
        {
            reference.thing.clone_from(seen);
        }
        Ok(reference)
    }

    fn seen_for_use(&self, told: &str) -> Result<Option<String>, RetrievalError> {
        let colours: Vec<&str> = told.split(' ').filter(|it| COLOURS.contains(it)).collect();
        let seen = |name: &str| {
            let name = [colours.as_slice(), &[name]].concat().join(" ");
            self.is_surely_seen(&name).then_some(name)
        };
        let likely = named_otherwise(self.requests.things_for(told)?, told);
        let nouns = by_noun(&likely);
        let as_told = nouns.iter().find_map(|it| {
            let mut names = it.names.iter().filter(|it| it.probability >= LIKELY_ENOUGH);
            let named = names.find_map(|it| seen(it.name));
            named.or_else(|| it.is_of_several().then(|| seen(&it.noun)).flatten())
        });
        Ok(as_told.or_else(|| nouns.iter().find_map(|it| seen(&it.noun))))
    }
}

/// The names of which not all words are told: what nails are hit with is no nail.
fn named_otherwise<'a>(likely: Vec<LikelyThing<'a>>, told: &str) -> Vec<LikelyThing<'a>> {
    let said: Vec<String> = told.split(' ').map(lexicon::singular).collect();
    let is_other = |it: &LikelyThing<'_>| {
        it.name.split(' ').any(|word| !said.contains(&lexicon::singular(word)))
    };
    likely.into_iter().filter(is_other).collect()
}

/// What has one noun: hand towels, bath towels, tea towels.
struct OfNoun<'a> {
    noun: String,
    /// The likeliest first.
    names: Vec<LikelyThing<'a>>,
    /// Of all of them together.
    probability: f32,
}

impl OfNoun<'_> {
    fn is_of_several(&self) -> bool {
        self.names.first().is_some_and(|it| it.probability < ALONE * self.probability)
    }
}

/// Those that are likely enough together, the likeliest first.
fn by_noun<'a>(likely: &[LikelyThing<'a>]) -> Vec<OfNoun<'a>> {
    let mut nouns: Vec<OfNoun<'a>> = Vec::new();
    for thing in likely {
        let noun = lexicon::singular(thing.name.rsplit(' ').next().unwrap_or(thing.name));
        if let Some(known) = nouns.iter_mut().find(|it| it.noun == noun) {
            known.names.push(*thing);
            known.probability += thing.probability;
        } else {
            nouns.push(OfNoun { noun, names: vec![*thing], probability: thing.probability });
        }
    }
    nouns.retain(|it| it.probability >= LIKELY_ENOUGH);
    nouns.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    nouns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likely(things: &[(&'static str, f32)]) -> Vec<LikelyThing<'static>> {
        things
            .iter()
            .map(|(name, probability)| LikelyThing { name, probability: *probability })
            .collect()
    }

    #[test]
    fn names_of_one_noun_count_together() {
        let things = likely(&[
            ("soap bar", 0.2),
            ("hand towel", 0.15),
            ("tea towel", 0.1),
            ("oven glove", 0.08),
            ("mitten", 0.02),
            ("boxing glove", 0.01),
        ]);
        let nouns = by_noun(&things);
        let found: Vec<(&str, bool)> =
            nouns.iter().map(|it| (it.noun.as_str(), it.is_of_several())).collect();
        assert_eq!(found, [("towel", false), ("bar", false), ("glove", false)]);
        let nouns =
            by_noun(&likely(&[("hand towel", 0.2), ("tea towel", 0.15), ("bath towel", 0.1)]));
        assert!(nouns[0].is_of_several());
    }

    #[test]
    fn what_a_use_names_is_not_what_is_used() {
        let things = likely(&[("nail", 0.4), ("hammer", 0.3), ("nail gun", 0.1)]);
        let found = named_otherwise(things, "something to bash nails into the wall with");
        assert_eq!(found.iter().map(|it| it.name).collect::<Vec<_>>(), ["hammer", "nail gun"]);
    }
}
