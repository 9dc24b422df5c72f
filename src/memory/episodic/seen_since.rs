//! What was seen since a thing was surely seen, is called otherwise and looks just as it is asked for:
//! the small red boots, after the small red wellies.
//!
//! Where a question of `benches/language` tells a colour or a pattern, four of five such looks show the
//! thing, and five of 175 that only may be it and tell no such look.

use crate::index::phrases::SceneQuery;
use crate::language::deeds::is_deed;
use crate::language::fit::{Certainty, Fit, fit};
use crate::language::mention::{Attribute, AttributeKind};
use crate::memory::episodic::caption_match::match_caption;
use crate::memory::episodic::in_other_words::since;
use crate::memory::episodic::last_seen::Sighting;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::search::sightings::ObjectSightings;
use crate::search::{Filter, Query};
use crate::store::Record;

/// Probability that what may be the thing is it, where it looks just as it is asked for.
pub const LOOKS_SO_PROBABILITY: f32 = 0.8;

/// Newest of those that may be the thing, which are read.
const RECORDS_MAX: usize = 16;

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
        let Some(last) = newest.map(|it| it.recalled.record.end_at) else { return Ok(sightings) };
        if !self.tells_look(query) {
            return Ok(sightings);
        }
        let wanted = self.scene_query(query)?;
        let Some(filter) = since(filter, last) else { return Ok(sightings) };
        let Some(record) = self.looks_so(&wanted, &filter)? else { return Ok(sightings) };
        let vector = self.query_vector(query)?;
        let asked =
            Query { text: query, vector: vector.as_ref(), filter: &filter, accepts: None, k };
        let seen = ObjectSightings { certainty: Certainty::Partial, records: vec![record.id] };
        sightings.splice(0..0, self.sightings(&asked, &wanted, seen)?);
        sightings.truncate(k);
        Ok(sightings)
    }

    /// Whether a query tells a colour or a pattern, and a record shows what may be the thing and looks so.
    pub fn looks_as_asked_for(&self, query: &str, record: &Record) -> Result<bool, MemoryError> {
        Ok(self.tells_look(query) && looks_so(record, &self.scene_query(query)?))
    }

    fn tells_look(&self, query: &str) -> bool {
        let asked_for = self.query_mentions(query).into_iter().next();
        asked_for.is_some_and(|it| it.attributes.iter().any(is_look) && !is_deed(&it))
    }

    /// The newest record that may show the thing and says how it looks; `None` where the question tells
    /// a place.
    fn looks_so(
        &self,
        wanted: &SceneQuery,
        filter: &Filter,
    ) -> Result<Option<Record>, MemoryError> {
        if !wanted.around.is_empty() {
            return Ok(None);
        }
        let seen = self.corpus.last_sightings(wanted, filter, RECORDS_MAX);
        // What surely shows it and was passed over is a misdetection.
        let may_be =
            |it: &ObjectSightings| matches!(it.certainty, Certainty::Possible | Certainty::Partial);
        let Some(seen) = seen.filter(may_be) else { return Ok(None) };
        Ok(self.store.records(&seen.records)?.into_iter().find(|it| looks_so(it, wanted)))
    }
}

fn looks_so(record: &Record, wanted: &SceneQuery) -> bool {
    let looks = wanted.target.attributes.iter().filter(|it| is_look(it));
    let looks: Vec<Attribute> = looks.cloned().collect();
    match_caption(&record.parsed, wanted)
        .is_some_and(|it| fit(&it.target.attributes, &looks) == Some(Fit::Full))
}

fn is_look(it: &Attribute) -> bool {
    matches!(it.kind, AttributeKind::Colour | AttributeKind::Pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Window;
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
