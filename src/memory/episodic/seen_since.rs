//! What was seen since a thing was surely seen and may show it: by another name, and looking just as it
//! is asked for, the small red boots after the small red wellies; or in a sentence that says nearly the
//! same, though no list and no rule knows how.
//!
//! Where a question of `benches/language` tells a colour or a pattern, four of five such looks show the
//! thing, and five of 175 that only may be it and tell no such look. By their sentences 73 of the 105
//! things of K1 to K3, which nobody has read, are found where they were last, and 71 without.

use std::time::Duration;

use crate::base::embedding::Embedding;
use crate::base::time::Window;
use crate::index::phrases::SceneQuery;
use crate::language::caption::sentences;
use crate::language::deeds::{is_deed, is_deed_word};
use crate::language::fit::{Certainty, Fit, fit};
use crate::language::mention::{Attribute, AttributeKind};
use crate::language::told_deeds::doer_and_things;
use crate::memory::episodic::caption_match::match_caption;
use crate::memory::episodic::last_seen::Sighting;
use crate::memory::episodic::most_alike::denies;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::TextRole;
use crate::search::sightings::ObjectSightings;
use crate::search::{Filter, Query};
use crate::store::Record;

/// Newest of those that may be the thing, which are read.
const RECORDS_MAX: usize = 16;

/// Most newer records whose sentences are read: those that are the most alike to the question. Four
/// times as many find nothing more in `benches/language`.
const ALIKE_RECORDS_MAX: usize = 3;

/// Likeness from which a sentence says what was asked for: a cosine of .6.
const SAYS_IT_LEAST: f32 = 0.8;

/// How much less alike it is at most than the sentence that surely shows the thing: a cosine of .1.
const LESS_ALIKE_MAX: f32 = 0.05;

impl Episodic {
    /// The sightings of a query within `filter`, newest first, after what was seen since the newest of
    /// them and may show the thing, where they are sure; at most `k`.
    pub fn with_seen_since(
        &self,
        query: &str,
        filter: &Filter,
        k: usize,
        mut sightings: Vec<Sighting>,
    ) -> Result<Vec<Sighting>, MemoryError> {
        let newest = sightings.first().filter(|it| it.certainty >= Certainty::Shown);
        let Some(newest) = newest.map(|it| it.recalled.record.clone()) else {
            return Ok(sightings);
        };
        let wanted = self.scene_query(query)?;
        let since = newest.end_at.plus(Duration::from_micros(1));
        let window = Window::new(Some(since), filter.window.end());
        // Who else may do what is asked for, the rules decide.
        let (Ok(window), false) = (window, self.tells_deed(query, &wanted)) else {
            return Ok(sightings);
        };
        let filter = Filter { window, ..filter.clone() };
        let vector = self.query_vector(query)?;
        let asked =
            Query { text: query, vector: vector.as_ref(), filter: &filter, accepts: None, k };
        let found = [
            self.looks_so(&wanted, &filter)?,
            self.says_nearly_the_same(&asked, &wanted, &newest)?,
        ];
        let found = found.into_iter().flatten().max_by_key(|it| (it.end_at, it.id));
        if let Some(record) = found {
            let seen = ObjectSightings { certainty: Certainty::Partial, records: vec![record.id] };
            sightings.splice(0..0, self.sightings(&asked, &wanted, seen)?);
            sightings.truncate(k);
        }
        Ok(sightings)
    }

    /// The newest record that may show the thing and says how it looks; `None` where the question does
    /// not tell that, or tells a place.
    fn looks_so(
        &self,
        wanted: &SceneQuery,
        filter: &Filter,
    ) -> Result<Option<Record>, MemoryError> {
        let looks = wanted.target.attributes.iter().filter(|it| is_look(it));
        let looks: Vec<Attribute> = looks.cloned().collect();
        if looks.is_empty() || !wanted.around.is_empty() {
            return Ok(None);
        }
        let seen = self.corpus.last_sightings(wanted, filter, RECORDS_MAX);
        // What surely shows it and was passed over is a misdetection.
        let may_be =
            |it: &ObjectSightings| matches!(it.certainty, Certainty::Possible | Certainty::Partial);
        let Some(seen) = seen.filter(may_be) else { return Ok(None) };
        let looks_so = |it: &Record| {
            match_caption(&it.parsed, wanted)
                .is_some_and(|it| fit(&it.target.attributes, &looks) == Some(Fit::Full))
        };
        Ok(self.store.records(&seen.records)?.into_iter().find(looks_so))
    }

    /// The newest record with a sentence that says nearly what was asked for, as much as one of the
    /// record that surely shows it does.
    fn says_nearly_the_same(
        &self,
        asked: &Query<'_>,
        wanted: &SceneQuery,
        shown: &Record,
    ) -> Result<Option<Record>, MemoryError> {
        let Some(vector) = asked.vector else { return Ok(None) };
        let alike = self.corpus.search(&Query { k: ALIKE_RECORDS_MAX, ..*asked });
        let ids: Vec<_> = alike.into_iter().map(|it| it.id).collect();
        let mut records = self.store.records(&ids)?;
        // What surely shows it and was passed over is a misdetection.
        let is_sure = |it: &Record| {
            let seen = match_caption(&it.parsed, wanted);
            seen.is_some_and(|it| it.certainty >= Certainty::Shown)
        };
        records.retain(|it| !denies(&it.parsed, &wanted.target) && !is_sure(it));
        if records.is_empty() {
            return Ok(None);
        }
        let least = (self.best_sentence(vector, shown)? - LESS_ALIKE_MAX).max(SAYS_IT_LEAST);
        let mut newest: Option<Record> = None;
        for record in records {
            let is_newer = newest.as_ref().is_none_or(|it| it.end_at < record.end_at);
            if is_newer && self.best_sentence(vector, &record)? >= least {
                newest = Some(record);
            }
        }
        Ok(newest)
    }

    fn tells_deed(&self, query: &str, wanted: &SceneQuery) -> bool {
        wanted.target.attributes.iter().any(|it| is_deed_word(&it.word))
            || self.query_mentions(query).iter().any(is_deed)
            || doer_and_things(query).is_some()
    }

    /// How alike the sentence of a caption is that is the most alike.
    fn best_sentence(&self, asked: &Embedding, record: &Record) -> Result<f32, MemoryError> {
        let said: Vec<&str> = sentences(&record.caption).collect();
        let vectors = self.embedder.embed_batch(TextRole::Passage, &said)?;
        let alike = vectors.iter().map(|it| self.embedder.similarity(asked, it));
        Ok(alike.fold(0.0, f32::max))
    }
}

fn is_look(it: &Attribute) -> bool {
    matches!(it.kind, AttributeKind::Colour | AttributeKind::Pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::episodic::last_seen::tests::{at, observation, open};

    #[test]
    fn what_was_seen_since_and_looks_as_asked_comes_before_what_surely_is_it() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, _) = open(dir.path());
        let (rack, mat) = ("a pair of red wellies on a rack", "red boots on a mat");
        let observations =
            (0..).zip([rack, mat, "green boots on a step"]).map(|(n, it)| observation(n, it));
        memory.remember_observations(observations.collect()).unwrap();
        let last = |query: &str, filter: &Filter| {
            let found = memory.last_seen(query, filter, 1).unwrap();
            let found = memory.with_seen_since(query, filter, 1, found).unwrap();
            (found[0].recalled.record.caption.clone(), found[0].certainty)
        };
        let all = Filter::default();
        assert_eq!(last("red wellies", &all), (mat.to_owned(), Certainty::Partial));
        assert_eq!(last("wellies", &all).0, rack, "no look is asked for");
        let window = Window::new(None, Some(at(0))).unwrap();
        let then = Filter { window, ..Filter::default() };
        assert_eq!(last("red wellies", &then).0, rack, "it was seen later");
    }
}
