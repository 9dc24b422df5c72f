//! Likely places of a thing that was never seen.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::embedding::Embedding;
use crate::index::phrases::{ObjectQuery, SceneQuery};
use crate::language::commonsense;
use crate::language::everyday_names;
use crate::language::lexicon;
use crate::language::mention::{AttributeKind, Mention, mentions};
use crate::language::place::PlaceWords;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::memory::episodic::{ranking, sighting_confidence};
use crate::model::TextRole;
use crate::search::Filter;
use crate::store::Record;

/// Likely place of a thing that was never seen.
#[derive(Debug, Clone, PartialEq)]
pub struct LikelyPlace {
    /// As captions call it.
    pub words: String,
    /// The newest record of it that has a position.
    pub record: Record,
    /// Thing seen there that is most similar.
    pub like: Option<String>,
    /// Higher is likelier; no probability.
    pub score: f32,
}

/// How alike a thing that was seen must be to be the first place to look, and where WordNet has
/// both as kinds of one thing: cosines of .55 and .4. Looked at for 49 names that household
/// things have, or others like them, and 31 things: "light" leads to the lamp and "beaker" to the
/// mug; wrongly "pitcher" to the ball. Of 37 things that are none of the 31 two lead to one.
const ALIKE_LEAST: f32 = 0.775;
const ALIKE_KIND_LEAST: f32 = 0.7;
/// The same where the list of everyday names has it as near: a cosine of .2.
const ALIKE_LISTED_LEAST: f32 = 0.6;
/// Newest sightings of it among which one has a position.
const SIGHTINGS_MAX: usize = 16;
/// Newest records searched for places.
const PLACES_FROM_RECORDS: usize = 2_000;
/// Most places, and most things seen there, compared with a thing.
const PLACES_MAX: usize = 48;
const NOUNS_MAX: usize = 128;
/// Weight of a place's name in its score; the rest is what was seen there.
const NAME_SHARE: f32 = 0.4;

/// By what a thing is alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alike {
    /// The list of everyday names has it as near, and another thing: a colander for a sieve.
    Listed,
    ByVector,
}

impl Episodic {
    /// Up to `k` likely places of a thing that was never seen, best first: where what is nearest to
    /// its description was last seen, or what is most alike to its name, if it fits what is said of
    /// the thing, and such things are not known to be kept elsewhere; then by commonsense rooms,
    /// and by the similarity of the thing with the place's name and with what was seen there.
    /// `described`: all that somebody says of it; none of a thing that is known by its name.
    pub fn likely_places(
        &self,
        thing: &str,
        described: Option<&str>,
        k: usize,
    ) -> Result<Vec<LikelyPlace>, MemoryError> {
        let newest = self.corpus.newest(&Filter::default(), PLACES_FROM_RECORDS, &[]);
        let records = self.store.records(&newest)?;
        let placed = records.iter().filter(|record| record.meta.pose.is_some());
        let mut places = ranking::places(placed);
        places.truncate(PLACES_MAX);
        let contents = contents(&records, &places);
        let nouns: BTreeSet<&str> = contents.values().flatten().map(String::as_str).collect();
        let nouns: Vec<&str> = nouns.into_iter().take(NOUNS_MAX).collect();
        let names: Vec<&str> = places.iter().map(|(words, ..)| words.as_str()).collect();
        let named = self.embedder.embed_batch(TextRole::Passage, &names)?;
        let seen = self.embedder.embed_batch(TextRole::Passage, &nouns)?;
        let mention = mentions(thing).into_iter().next();
        let wanted = mention.as_ref().map_or_else(|| thing.to_owned(), Mention::singular_head);
        let wanted = self.embedder.embed(TextRole::Passage, &wanted)?;
        // From the scale of thresholds, where unrelated texts have .5, to 0..1.
        let alike = |it: &Embedding| (2.0 * self.embedder.similarity(it, &wanted) - 1.0).max(0.0);
        let likeness: BTreeMap<&str, f32> =
            nouns.iter().copied().zip(seen.iter().map(alike)).collect();
        let mut likely: Vec<LikelyPlace> = Vec::with_capacity(places.len());
        for ((words, record, _), name) in places.iter().zip(&named) {
            let there = contents.get(words.as_str()).into_iter().flatten();
            let there = there.filter_map(|it| Some((*likeness.get(it.as_str())?, it)));
            let most = there.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)));
            let like = most.map_or(0.0, |(likeness, _)| likeness);
            likely.push(LikelyPlace {
                words: words.clone(),
                record: (*record).clone(),
                like: most.map(|(_, noun)| noun.clone()),
                score: commonsense::suits(thing, words).unwrap_or(0.0)
                    + NAME_SHARE * alike(name)
                    + (1.0 - NAME_SHARE) * like,
            });
        }
        likely.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.words.cmp(&b.words)));
        if let Some(mention) = mention {
            // As likely as all the others together.
            let score = likely.iter().map(|it| it.score).sum();
            let mut first = self.last_alike(&mention, &wanted, Alike::Listed)?;
            // A wine opener is told by its name, and kept in kitchens.
            let name = mention.compound_name();
            let is_known = name.is_some_and(|it| everyday_names::things(&it).next().is_some());
            let mut suited = likely.iter().map(|it| commonsense::suits(thing, &it.words));
            let is_kept = is_known && suited.any(|it| it == Some(1.0));
            let is_described = !is_kept && !self.was_seen(&mention.head_stem);
            let described = described.filter(|_| is_described);
            if let (None, Some(described)) = (&first, described) {
                let near = self.nearest_description(&mention, &[thing, described], &records)?;
                first = near.map(|(phrase, record)| likely_place(record, Some(phrase)));
            }
            if first.is_none() {
                // Where such things are not kept it is another thing that is only alike.
                first = self
                    .last_alike(&mention, &wanted, Alike::ByVector)?
                    .filter(|it| commonsense::suits(thing, &it.words) != Some(0.0));
            }
            likely.splice(0..0, first.map(|it| LikelyPlace { score, ..it }));
        }
        likely.truncate(k);
        Ok(likely)
    }

    /// Where the most alike of the things that were seen was last seen with all that is said of
    /// the wanted one: the red lamp for "the red light". `None` where the wanted thing itself
    /// was seen, if in another colour.
    fn last_alike(
        &self,
        wanted: &Mention,
        vector: &Embedding,
        by: Alike,
    ) -> Result<Option<LikelyPlace>, MemoryError> {
        // A name that begins with another names what is for that: a shoelace is no shoe.
        let head = wanted.singular_head();
        let is_for = |it: &str| head.starts_with(it);
        let is_kind = |it: &str| {
            let mut names = lexicon::names_of_stem(it).iter();
            names.any(|it| lexicon::are_near_kinds(&head, it))
        };
        let names = [wanted.name(), head.clone()];
        let is_listed = |it: &str| {
            let mut seen = lexicon::names_of_stem(it).iter();
            seen.any(|seen| names.iter().any(|name| everyday_names::are_told_apart(name, seen)))
        };
        let least = if by == Alike::Listed { ALIKE_LISTED_LEAST } else { ALIKE_KIND_LEAST };
        let alike = self.vocabulary.alike(vector, least).into_iter();
        let mut alike = alike.filter(|(it, likeness)| match by {
            Alike::Listed => is_listed(it),
            Alike::ByVector => *likeness >= ALIKE_LEAST || is_kind(it),
        });
        let alike = alike.find(|(it, _)| !is_for(it) && self.was_seen(it)).map(|(it, _)| it);
        let Some(alike) = alike.filter(|_| !self.was_seen(&wanted.head_stem)) else {
            return Ok(None);
        };
        let said = wanted.attributes.iter().filter(|it| it.kind != AttributeKind::Compound);
        let target = ObjectQuery::of_stems(said.cloned().collect(), vec![alike]);
        let query = SceneQuery::of_thing(target);
        let Some(seen) = self.corpus.last_sightings(&query, &Filter::default(), SIGHTINGS_MAX)
        else {
            return Ok(None);
        };
        let records = self.store.records(&seen.records)?;
        let newest = records.into_iter().filter(|it| it.meta.pose.is_some());
        let newest = newest.max_by_key(|it| (it.end_at, it.id));
        Ok(newest.map(|record| {
            let like = record.parsed.shown_mentions().find(|it| query.target.fit(it).is_some());
            let like = like.map(|it| it.phrase.clone());
            likely_place(record, like)
        }))
    }

    /// Whether anything was seen whose noun has this stem.
    fn was_seen(&self, stem: &str) -> bool {
        let bare = SceneQuery::of_thing(ObjectQuery::of_stems(Vec::new(), vec![stem.to_owned()]));
        self.corpus.last_sightings(&bare, &Filter::default(), 1).is_some()
    }
}

/// Where a record was made, without a score.
fn likely_place(record: Record, like: Option<String>) -> LikelyPlace {
    let place = record.parsed.place.as_ref();
    let words = place.map_or_else(|| "a place".to_owned(), PlaceWords::text);
    LikelyPlace { words, record, like, score: 0.0 }
}

/// Things seen at each place, without its own name and without single mentions of unsure
/// captions.
fn contents(
    records: &[Record],
    places: &[(String, &Record, usize)],
) -> BTreeMap<String, BTreeSet<String>> {
    let mut contents: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut unsure: BTreeSet<(String, String)> = BTreeSet::new();
    for record in records {
        let Some(place) = &record.parsed.place else { continue };
        let words = place.text();
        if !places.iter().any(|(known, ..)| *known == words) {
            continue;
        }
        let own: Vec<&str> = [&place.surface, &place.room]
            .into_iter()
            .flatten()
            .map(|it| it.stem.as_str())
            .collect();
        let there = contents.entry(words.clone()).or_default();
        for seen in record.parsed.shown_mentions() {
            let thing = seen.singular_head();
            let is_place = own.contains(&seen.head_stem.as_str());
            let is_doubtful = sighting_confidence::is_unsure(record)
                && unsure.insert((words.clone(), thing.clone()));
            if !is_place && !is_doubtful {
                there.insert(thing);
            }
        }
    }
    contents
}
