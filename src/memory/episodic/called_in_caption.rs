//! What a caption calls the thing that it shows in other words: the blue lamp of "a blue lamp on a desk",
//! for a light. By that name the object is followed through later captions.

use crate::base::wording::article;
use crate::language::fit::Certainty;
use crate::memory::episodic::in_other_words::since;
use crate::memory::episodic::last_seen::Sighting;
use crate::memory::episodic::{Episodic, MemoryError, Recalled};
use crate::search::Filter;
use crate::store::Record;

/// Log-odds by which a thing that is asked for is likelier than one that is not. Of eight queries, each
/// beside two or three things of a household's captions, it was 4.0 and more above the others for
/// five; for one a part of it was 3.3 above it, and two names the model does not know.
const APART: f32 = 1.5;

/// Most things of one caption that are read.
const THINGS_MAX: usize = 8;

impl Episodic {
    /// The newest sighting of what `sighting` shows in other words than the query's, followed by the name
    /// that its caption has for it; the sighting itself where it surely is what is asked for by the
    /// query's own words, where nobody knows which of its things it is, and where what is called so later
    /// is another.
    pub fn newest_of_its_name(
        &self,
        query: &str,
        sighting: Sighting,
    ) -> Result<Sighting, MemoryError> {
        let Recalled { record, matched, .. } = &sighting.recalled;
        let named = match matched.first() {
            // The orange mug, for a coffee mug.
            Some(_) if sighting.certainty > Certainty::Possible => None,
            Some(name) => self.likely_things(query, vec![name.clone()])?.pop(),
            None => self.called_in_caption(query, record)?,
        };
        let Some(named) = named else { return Ok(sighting) };
        let later = since(&Filter::default(), record.end_at);
        let Some(later) = later else { return Ok(sighting) };
        let newer = self.last_seen(&named.name, &later, 1)?.into_iter().next();
        let Some(newer) = newer.filter(|it| it.certainty >= Certainty::Shown) else {
            return Ok(sighting);
        };
        let called = newer.recalled.matched.get(..1).unwrap_or_default();
        let log_odds = self.log_odds_of_things(query, called)?.into_iter().next();
        let is_it = log_odds.is_some_and(|it| it > named.log_odds - APART);
        let Sighting { certainty, match_probability, .. } = sighting;
        Ok(if is_it { Sighting { certainty, match_probability, ..newer } } else { sighting })
    }

    /// The thing of a caption that is most likely what the query names; `None` where two are about as
    /// likely.
    fn called_in_caption(
        &self,
        query: &str,
        record: &Record,
    ) -> Result<Option<NamedThing>, MemoryError> {
        let mut things = record.parsed.object_phrases();
        things.truncate(THINGS_MAX);
        let likely = self.likely_things(query, things)?;
        let second = likely.get(1).map(|it| it.log_odds);
        let first = likely.into_iter().next();
        Ok(first.filter(|it| second.is_none_or(|second| it.log_odds - second >= APART)))
    }

    /// The things by how likely each is what the query names, the likeliest first; none without the model.
    fn likely_things(
        &self,
        query: &str,
        things: Vec<String>,
    ) -> Result<Vec<NamedThing>, MemoryError> {
        let log_odds = self.log_odds_of_things(query, &things)?;
        let named = log_odds.into_iter().zip(things);
        let mut likely: Vec<NamedThing> =
            named.map(|(log_odds, name)| NamedThing { name, log_odds }).collect();
        likely.sort_by(|a, b| b.log_odds.total_cmp(&a.log_odds));
        Ok(likely)
    }

    /// How likely each of these things is what the query names, by the model that reads both; none
    /// without it.
    fn log_odds_of_things(&self, query: &str, things: &[String]) -> Result<Vec<f32>, MemoryError> {
        let Some(matcher) = self.matcher.as_deref() else { return Ok(Vec::new()) };
        // It was taught sentences, and takes hardly any bare name for what is asked for.
        let alone = |it: &String| format!("{} {it} is on a shelf.", article(it));
        let sentences: Vec<String> = things.iter().map(alone).collect();
        let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
        Ok(matcher.log_odds(query, &sentences)?)
    }
}

/// What a caption calls a thing, and how likely that is what is asked for.
struct NamedThing {
    name: String,
    log_odds: f32,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::memory::episodic::last_seen::Wording;
    use crate::memory::episodic::last_seen::tests::{observation, open};
    use crate::model::{CaptionMatcher, Fingerprint, ModelError, ModelIdentity};

    /// To it whatever has a lamp or a chandelier is what is asked for.
    #[derive(Debug)]
    struct Electrician(ModelIdentity);

    impl CaptionMatcher for Electrician {
        fn identity(&self) -> &ModelIdentity {
            &self.0
        }

        fn log_odds(&self, _query: &str, sentences: &[&str]) -> Result<Vec<f32>, ModelError> {
            let is_it = |it: &&str| it.contains("lamp") || it.contains("chandelier");
            Ok(sentences.iter().map(|it| if is_it(it) { 0.0 } else { -4.0 }).collect())
        }

        fn log_odds_at_a_glance(
            &self,
            _query: &str,
            sentences: &[&str],
        ) -> Result<Vec<f32>, ModelError> {
            // Only the first caption is read.
            let is_first = |it: &&str| it.contains("desk");
            Ok(sentences.iter().map(|it| if is_first(it) { 0.0 } else { -9.0 }).collect())
        }
    }

    fn newest(dir: &Path, query: &str, captions: &[&str]) -> String {
        let (memory, _) = open(dir);
        let identity = ModelIdentity {
            name: "electrician".to_owned(),
            fingerprint: Fingerprint("1".to_owned()),
        };
        let observations = (0..).zip(captions).map(|(n, it)| observation(n, it)).collect();
        memory.remember_observations(observations).unwrap();
        let memory = memory.with_matcher(Some(Box::new(Electrician(identity))));
        let all = Filter::default();
        let seen = memory.last_seen_in(query, &all, 1, Wording::Any).unwrap().remove(0);
        memory.newest_of_its_name(query, seen).unwrap().recalled.record.caption
    }

    #[test]
    fn what_is_called_otherwise_is_followed_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let captions =
            ["a blue lamp and a mug on a desk", "a blue lamp on a shelf", "a red lamp on a bed"];
        assert_eq!(newest(dir.path(), "daylight", &captions), captions[1]);
    }

    #[test]
    fn what_only_may_be_it_by_its_noun_is_followed_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let captions = ["a blue lamp on a desk", "a blue lamp on a shelf", "a red cup on a bed"];
        assert_eq!(newest(dir.path(), "reading lamp", &captions), captions[1]);
    }

    #[test]
    fn of_two_that_are_as_likely_neither_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let captions = ["a blue lamp and a chandelier by a desk", "a blue lamp on a shelf"];
        assert_eq!(newest(dir.path(), "daylight", &captions), captions[0]);
    }
}
