//! What a caption calls otherwise than a query does: the "navy travel case", for the suitcase.
//!
//! A model reads the query with a sentence of the caption (`model/caption_matcher.rs`). That takes some
//! milliseconds a sentence, so it is asked of few: of the records that are nearest to the query and of
//! those that may show it by their phrases, the sentences that are the likeliest at a glance.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::base::RecordId;
use crate::base::time::{Timestamp, Window};
use crate::index::phrases::{ObjectQuery, SceneQuery};
use crate::language::caption::{ParsedCaption, Presence, sentences_in_context};
use crate::language::deeds::is_surely_there;
use crate::language::fit::{Certainty, Fit};
use crate::memory::episodic::caption_match::{CaptionMatch, match_caption};
use crate::memory::episodic::instance_query::SightingList;
use crate::memory::episodic::last_seen::Sighting;
use crate::memory::episodic::most_alike::telling_words;
use crate::memory::episodic::{Episodic, MemoryError, Recalled};
use crate::model::CaptionMatcher;
use crate::search::{Filter, Query};
use crate::store::Record;

/// Records that are nearest to a query, and newest that may show it by their phrases.
const NEAREST_MAX: usize = 32;
const MAY_SHOW_MAX: usize = 16;

/// Log-odds at a glance from which on a sentence is worth to be read.
const WORTH_READING: f32 = -2.3;

/// Most different sentences that the model reads of one query.
const SENTENCES_MAX: usize = 6;

/// Log-odds that a record shows what is asked for are the matcher's, so much of the search's score, what
/// the rules add, and an offset, by which they are those of places J, K and L of `benches/language`.
const OF_SCORE: f32 = 1.5;
const OFFSET: f32 = -1.1;
/// Where the rules take it for what may be the thing by another name, or be it with more said of it.
const BY_RULES: f32 = 1.0;

/// Log-odds from which on a record shows what is asked for, and from which on it may: those that find
/// most of J, K and L at a precision of .92, by a simulation of this file.
const SHOWS: f32 = 1.4;
const MAY_SHOW: f32 = -1.9;

/// Most log-odds of what a caption itself only guesses or depicts, whatever the model takes it for.
const GUESSED: f32 = 0.0;

/// Log-odds below which all that is read shows nothing of what is asked for.
const DENIES: f32 = -3.7;

/// Log-odds below those of the likeliest at which one is about as likely: the newest of these counts.
const ABOUT_AS_LIKELY: f32 = 3.0;

/// What may show a thing in other words, as likely as the model takes it for.
struct OtherWords {
    sighting: Sighting,
    log_odds: f32,
}

impl Episodic {
    /// Sightings, newest first, after what shows the same in other words: where they are sure, what was
    /// seen since; where they are not, in their place what is about as likely as the likeliest, and none
    /// where the model denies all that it reads.
    pub(super) fn after_other_words(
        &self,
        asked: &Query<'_>,
        wanted: &SceneQuery,
        mut sightings: Vec<Sighting>,
    ) -> Result<Vec<Sighting>, MemoryError> {
        let is_sure = |it: &&Sighting| it.certainty > Certainty::Possible;
        let last = sightings.first().filter(is_sure).map(|it| it.recalled.record.end_at);
        let filter = last.map_or_else(|| Some(asked.filter.clone()), |it| since(asked.filter, it));
        let Some(filter) = filter else { return Ok(sightings) };
        let asked_since = Query { filter: &filter, ..*asked };
        let found = self.in_other_words(&asked_since, wanted, &sightings)?;
        let most = found.iter().map(|it| it.log_odds).reduce(f32::max);
        if last.is_none() && most.is_some_and(|it| it < DENIES) {
            return Ok(Vec::new());
        }
        let nearly = most.map_or(MAY_SHOW, |it| MAY_SHOW.max(it - ABOUT_AS_LIKELY));
        let least = if last.is_some() { SHOWS } else { nearly };
        let likely = found.into_iter().filter(|it| it.log_odds >= least);
        let mut found: Vec<Sighting> = likely.map(|it| it.sighting).collect();
        if found.is_empty() {
            return Ok(sightings);
        }
        found.sort_by_key(newest_first);
        if last.is_none() {
            sightings.clear();
        }
        found.append(&mut sightings);
        found.truncate(asked.k);
        Ok(found)
    }

    /// A list of sightings, with what shows the same in other words; where nothing is sure, with what
    /// may.
    pub(super) fn with_other_words(
        &self,
        asked: &Query<'_>,
        wanted: &SceneQuery,
        SightingList { mut sightings, mut total }: SightingList,
    ) -> Result<SightingList, MemoryError> {
        let found = self.in_other_words(asked, wanted, &sightings)?;
        let is_sure = |it: &Sighting| it.certainty > Certainty::Possible;
        let is_seen = sightings.first().is_some_and(is_sure);
        let is_any_sure = is_seen || found.iter().any(|it| is_sure(&it.sighting));
        if is_any_sure && !is_seen {
            sightings.clear();
            total = 0;
        }
        let least = if is_any_sure { SHOWS } else { MAY_SHOW };
        for it in found.into_iter().filter(|it| it.log_odds >= least) {
            let id = it.sighting.recalled.record.id;
            if let Some(known) = sightings.iter_mut().find(|it| it.recalled.record.id == id) {
                *known = it.sighting;
            } else {
                sightings.push(it.sighting);
                total += 1;
            }
        }
        Ok(SightingList { sightings, total })
    }

    /// What may show in other words what is asked for, within the query's filter; not what surely shows
    /// it in the query's own.
    fn in_other_words(
        &self,
        asked: &Query<'_>,
        wanted: &SceneQuery,
        sightings: &[Sighting],
    ) -> Result<Vec<OtherWords>, MemoryError> {
        let Some(matcher) = self.matcher.as_deref() else { return Ok(Vec::new()) };
        // A name with digits is literal: person_9 is no other person.
        if asked.vector.is_none() || asked.text.contains(char::is_numeric) {
            return Ok(Vec::new());
        }
        let sure = sightings.iter().filter(|it| it.certainty > Certainty::Possible);
        let sure: BTreeSet<RecordId> = sure.map(|it| it.recalled.record.id).collect();
        let is_new = |id: RecordId| !sure.contains(&id);
        let hits = self.corpus.search(&Query { k: NEAREST_MAX, accepts: Some(&is_new), ..*asked });
        let mut scores: BTreeMap<RecordId, f32> = hits.iter().map(|it| (it.id, it.score)).collect();
        let may_show = self.corpus.last_sightings(wanted, asked.filter, MAY_SHOW_MAX);
        let may_show = may_show.into_iter().flat_map(|it| it.records);
        may_show.filter(|it| is_new(*it)).for_each(|id| {
            scores.entry(id).or_default();
        });
        let ids: Vec<RecordId> = scores.keys().copied().collect();
        let records = self.store.records(&ids)?;
        let read = read_likely(matcher, asked.text, wanted, &records)?;
        let other_words = |(record, read): (Record, ReadCaption)| {
            let score = scores.get(&record.id).copied().unwrap_or_default();
            let log_odds = read.log_odds_with(score);
            let match_probability = probability_of(log_odds);
            let evidence = read.evidence;
            let (matched, noun) = evidence.map(|it| (it.matched, it.target.head_stem)).unzip();
            let recalled = Recalled {
                score,
                matched: matched.unwrap_or_default(),
                probability: Some(match_probability * record.confidence.unwrap_or(1.0)),
                record,
            };
            let certainty =
                if log_odds >= SHOWS { Certainty::Partial } else { Certainty::Possible };
            let sighting = Sighting { recalled, certainty, match_probability, noun };
            OtherWords { sighting, log_odds }
        };
        let found = records.into_iter().zip(read).filter_map(|(it, read)| Some((it, read?)));
        Ok(found.map(other_words).collect())
    }
}

/// What the model and the rules say of a caption of which a sentence was read.
struct ReadCaption {
    evidence: Option<CaptionMatch>,
    /// The matcher's, of the likeliest of its sentences.
    log_odds: f32,
}

impl ReadCaption {
    /// With the score of the record in the search for the query.
    fn log_odds_with(&self, score: f32) -> f32 {
        let by_rules =
            self.evidence.as_ref().filter(|it| !it.is_verbatim).map_or(0.0, |_| BY_RULES);
        let log_odds = self.log_odds + OF_SCORE * score + by_rules + OFFSET;
        let is_surely = self.evidence.as_ref().is_none_or(|it| is_surely_there(&it.target));
        if is_surely { log_odds } else { log_odds.min(GUESSED) }
    }
}

/// Of each record what reading said; `None` of those that surely show what is asked for by the rules,
/// and of those of which no sentence is among the likeliest at a glance.
fn read_likely(
    matcher: &dyn CaptionMatcher,
    query: &str,
    wanted: &SceneQuery,
    records: &[Record],
) -> Result<Vec<Option<ReadCaption>>, MemoryError> {
    let said: Vec<(usize, &str)> = (0..)
        .zip(records)
        .flat_map(|(number, it)| {
            let sentences = sentences_in_context(&it.caption).enumerate();
            let told = sentences.filter(|(at, _)| !it.parsed.tells_only_of_absent(*at));
            told.map(move |(_, of)| (number, of))
        })
        .collect();
    let sentences: Vec<&str> = said.iter().map(|(_, sentence)| *sentence).collect();
    let glances = matcher.log_odds_at_a_glance(&telling_words(query), &sentences)?;
    let mut likely: Vec<(f32, (usize, &str))> = glances.into_iter().zip(said).collect();
    likely.retain(|(log_odds, _)| *log_odds >= WORTH_READING);
    likely.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut evidence: BTreeMap<usize, Option<CaptionMatch>> = BTreeMap::new();
    let mut is_unsure = |number: usize| {
        let record = records.get(number);
        let evidence = evidence
            .entry(number)
            .or_insert_with(|| record.and_then(|it| match_caption(&it.parsed, wanted)));
        let is_denied = || record.is_some_and(|it| denies(&it.parsed, &wanted.target));
        match evidence {
            Some(it) => it.certainty < Certainty::Shown,
            None => !is_denied(),
        }
    };
    let unsure = likely.into_iter().map(|(_, it)| it).filter(|(number, _)| is_unsure(*number));
    let mut different = BTreeSet::new();
    let worth_reading = unsure.take_while(|(_, sentence)| {
        different.insert(*sentence);
        different.len() <= SENTENCES_MAX
    });
    let (numbers, sentences): (Vec<usize>, Vec<&str>) = worth_reading.unzip();
    let mut read: Vec<Option<ReadCaption>> = records.iter().map(|_| None).collect();
    for (number, log_odds) in numbers.into_iter().zip(matcher.log_odds(query, &sentences)?) {
        let Some(of_caption) = read.get_mut(number) else { continue };
        let known = of_caption.get_or_insert_with(|| {
            let evidence = evidence.remove(&number).flatten();
            ReadCaption { evidence, log_odds }
        });
        known.log_odds = known.log_odds.max(log_odds);
    }
    Ok(read)
}

/// Whether a caption says of what may be the thing that it is not there: the model overlooks that.
fn denies(caption: &ParsedCaption, target: &ObjectQuery) -> bool {
    let absent = caption.things.iter().filter(|it| it.presence == Presence::Absent);
    absent.filter_map(|it| target.fit(&it.mention)).any(|it| it > Fit::Related)
}

fn newest_first(it: &Sighting) -> Reverse<(Timestamp, RecordId)> {
    Reverse((it.recalled.record.end_at, it.recalled.record.id))
}

/// A filter for what ended later; `None` where nothing can.
pub(super) fn since(filter: &Filter, last: Timestamp) -> Option<Filter> {
    let since = last.plus(Duration::from_micros(1));
    let window = Window::new(Some(since), filter.window.end()).ok()?;
    Some(Filter { window, ..filter.clone() })
}

fn probability_of(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::memory::episodic::instances::tests::{records, sought};
    use crate::memory::episodic::last_seen::Wording;
    use crate::memory::episodic::last_seen::tests::{at, observation, open};
    use crate::model::{Fingerprint, ModelError, ModelIdentity};
    use std::path::Path;

    /// To it a travel case is a suitcase, wherever a sentence has one.
    #[derive(Debug)]
    struct Traveller(ModelIdentity);

    impl CaptionMatcher for Traveller {
        fn identity(&self) -> &ModelIdentity {
            &self.0
        }

        fn log_odds(&self, query: &str, sentences: &[&str]) -> Result<Vec<f32>, ModelError> {
            let is_it = |it: &&str| query.contains("suitcase") && it.contains("travel case");
            Ok(sentences.iter().map(|it| if is_it(it) { 3.0 } else { -6.0 }).collect())
        }

        fn log_odds_at_a_glance(
            &self,
            _query: &str,
            sentences: &[&str],
        ) -> Result<Vec<f32>, ModelError> {
            Ok(vec![0.0; sentences.len()])
        }
    }

    const HALL: &str = "a suitcase in a hall";
    const BED: &str = "a navy travel case on a bed";
    const CHAIR: &str = "a navy travel case on a chair";

    fn traveller() -> Traveller {
        let (name, fingerprint) = ("traveller".to_owned(), Fingerprint("1".to_owned()));
        Traveller(ModelIdentity { name, fingerprint })
    }

    fn remembering(dir: &Path, captions: &[&str]) -> Episodic {
        let (memory, _) = open(dir);
        let observations = (0..).zip(captions).map(|(n, it)| observation(n, it)).collect();
        memory.remember_observations(observations).unwrap();
        memory.with_matcher(Some(Box::new(traveller())))
    }

    fn told(found: &[Sighting]) -> Vec<(&str, Certainty)> {
        found.iter().map(|it| (it.recalled.record.caption.as_str(), it.certainty)).collect()
    }

    #[test]
    fn what_was_seen_since_by_another_name_comes_before_what_surely_is_it() {
        let dir = tempfile::tempdir().unwrap();
        let memory = remembering(dir.path(), &[BED, HALL, BED, "a basket on a bed"]);
        let all = Filter::default();
        let found = memory.last_seen_in("suitcase", &all, 3, Wording::Any).unwrap();
        assert_eq!(told(&found), [(BED, Certainty::Partial), (HALL, Certainty::InPlace)]);
        let Recalled { score, probability, .. } = &found[0].recalled;
        // By the rules a travel case may be a suitcase.
        let expected = 1.0 / (1.0 + (1.1 - 1.0 - 3.0 - 1.5 * score).exp());
        assert!((probability.unwrap() - expected).abs() < 1e-4, "{score} {probability:?}");
        let own = memory.last_seen("suitcase", &all, 3).unwrap();
        assert_eq!(told(&own), [(HALL, Certainty::InPlace)]);
        let window = Window::new(None, Some(at(1))).unwrap();
        let then = Filter { window, ..Filter::default() };
        let found = memory.last_seen_in("suitcase", &then, 3, Wording::Any).unwrap();
        assert_eq!(told(&found), [(HALL, Certainty::InPlace)], "the case was seen later");
    }

    #[test]
    fn what_is_only_seen_by_another_name_is_found_by_it() {
        let dir = tempfile::tempdir().unwrap();
        let memory = remembering(dir.path(), &[BED, "a basket on a bed"]);
        let all = Filter::default();
        let found = memory.last_seen_in("suitcase", &all, 3, Wording::Any).unwrap();
        assert_eq!(told(&found), [(BED, Certainty::Partial)]);
        for query in ["rucksack", "suitcase 12"] {
            assert_eq!(
                told(&memory.last_seen_in(query, &all, 3, Wording::Any).unwrap()),
                [],
                "{query}"
            );
        }
    }

    #[test]
    fn what_only_may_be_it_is_left_out_where_all_that_is_read_is_denied() {
        let dir = tempfile::tempdir().unwrap();
        let memory = remembering(dir.path(), &[HALL, "a basket on a bed"]);
        let all = Filter::default();
        let own = memory.last_seen("red suitcase", &all, 3).unwrap();
        assert_eq!(told(&own), [(HALL, Certainty::Possible)]);
        let found = memory.last_seen_in("red suitcase", &all, 3, Wording::Any).unwrap();
        assert_eq!(told(&found), []);
        let sure = memory.last_seen_in("suitcase", &all, 3, Wording::Any).unwrap();
        assert_eq!(told(&sure), [(HALL, Certainty::InPlace)], "what is sure stays");
    }

    #[test]
    fn what_a_caption_says_is_not_there_is_not_read() {
        let is_read = |query: &str, caption: &'static str, absent: &str| {
            let mut records = records(&[(0, 0.0, caption)]);
            let things = records[0].parsed.things.iter_mut();
            for it in things.filter(|it| absent.contains(&it.mention.head)) {
                it.presence = Presence::Absent;
            }
            let wanted = SceneQuery::of_thing(sought(query));
            read_likely(&traveller(), query, &wanted, &records).unwrap()[0].is_some()
        };
        for query in ["red case", "suitcase"] {
            assert!(is_read(query, "A navy case is on a bed.", "bed"));
            assert!(!is_read(query, "A navy case is on a bed.", "case, bed"));
        }
        assert!(!is_read("case", "A navy case is on a bed.", "case"));
        assert!(is_read("suitcase", "A navy case is on a bed.", "case"), "by no name of it");
    }

    #[test]
    fn a_sentence_that_captions_repeat_is_read_for_each_and_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let captions: Vec<&str> = [BED; 2 * SENTENCES_MAX].into_iter().chain([CHAIR]).collect();
        let memory = remembering(dir.path(), &captions);
        let all = Filter::default();
        let list = memory.list_sightings("suitcase", (&all, 20), Wording::Any).unwrap();
        assert_eq!(usize::try_from(list.total).unwrap(), captions.len());
        assert!(told(&list.sightings).contains(&(CHAIR, Certainty::Partial)));
    }

    #[test]
    fn a_list_has_what_is_called_otherwise_in_its_order_and_number() {
        let dir = tempfile::tempdir().unwrap();
        let memory = remembering(dir.path(), &[BED, HALL, BED, "a basket on a bed"]);
        let all = Filter::default();
        let list = memory.list_sightings("suitcase", (&all, 9), Wording::Any).unwrap();
        let (case, sure) = (Certainty::Partial, Certainty::InPlace);
        assert_eq!(told(&list.sightings), [(BED, case), (HALL, sure), (BED, case)]);
        assert_eq!(list.total, 3);
        let newest = memory.list_sightings("suitcase", (&all, 1), Wording::Any).unwrap();
        assert_eq!(told(&newest.sightings), [(BED, case)]);
        assert_eq!(newest.sightings[0].recalled.record.meta.taken_at, at(2));
        let own = memory.list_sightings("suitcase", (&all, 9), Wording::Own).unwrap();
        assert_eq!((told(&own.sightings), own.total), (vec![(HALL, sure)], 1));
    }
}
