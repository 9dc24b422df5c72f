//! Which objects the records show, which of them a request means, and where one that
//! was never seen may be.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::base::time::{Timestamp, Zone};
use crate::index::mention::{Mention, mentions};
use crate::index::phrases::{Sought, Wanted};
use crate::memory::episodic::commonsense;
use crate::memory::episodic::instances::{self, Instance};
use crate::memory::episodic::last_seen::Sighting;
use crate::memory::episodic::place::place_of;
use crate::memory::episodic::ranking::{self, By, Wish};
use crate::memory::episodic::reference::{Order, Reference};
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::TextRole;
use crate::search::Filter;
use crate::store::Record;

/// What [`Episodic::all_seen`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct AllSeen {
    /// In the order of time; of more than were asked for the newest.
    pub sightings: Vec<Sighting>,
    /// How many there are.
    pub total: u64,
}

/// A place where a thing may be that was never seen.
#[derive(Debug, Clone, PartialEq)]
pub struct LikelyPlace {
    /// As captions call it.
    pub words: String,
    /// The newest record of it that has a position.
    pub record: Record,
    /// What was seen there that is most like the thing.
    pub like: Option<String>,
    /// Higher is likelier; no probability.
    pub score: f32,
}

/// Newest records in which places are looked for.
const PLACES_FROM_RECORDS: usize = 2_000;
/// Most places, and most things seen there, that are compared with a thing.
const PLACES_MAX: usize = 48;
const NOUNS_MAX: usize = 128;
/// Share of a place's name in its score; the rest is what was seen there.
const NAME_SHARE: f32 = 0.4;
/// Records that show what a place is named after.
const ANCHORS_MAX: usize = 8;

impl Episodic {
    /// Every record within `filter` that shows what `query` describes, as surely as
    /// the surest of [`Episodic::last_seen`]; of more than `k` the newest.
    pub fn all_seen(&self, query: &str, filter: &Filter, k: usize) -> Result<AllSeen, MemoryError> {
        let wanted = self.wanted(query)?;
        let total = self.corpus.seen_when(&wanted, filter).map_or(0, |times| times.count);
        let seen = self.corpus.seen_last(&wanted, filter, k);
        let mut sightings = self.sightings(query, filter, &wanted, seen)?;
        sightings.sort_by_key(|it| (it.recalled.record.meta.taken_at, it.recalled.record.id));
        Ok(AllSeen { sightings, total })
    }

    /// The physical objects that records show of what `thing` names first; see
    /// [`instances::group`]. None where `thing` names nothing.
    pub fn instances(&self, thing: &str, records: &[Record], zone: Zone) -> Vec<Instance> {
        let wanted = self.things.wanted(thing);
        let group = |Wanted { target, around: _ }| instances::group(records, &target, zone);
        wanted.map(group).unwrap_or_default()
    }

    /// As [`Episodic::instances`], those first that the reference means most likely;
    /// its times are as of `now`.
    pub fn singled_out(
        &self,
        reference: &Reference,
        records: &[Record],
        now: Timestamp,
        zone: Zone,
    ) -> Result<Vec<Instance>, MemoryError> {
        let mut found = self.instances(&reference.thing, records, zone);
        let wish = self.wish(reference, now, zone)?;
        let by_id: BTreeMap<RecordId, Record> =
            records.iter().map(|record| (record.id, record.clone())).collect();
        ranking::rank(&mut found, &by_id, &wish, zone);
        Ok(found)
    }

    fn wish(&self, reference: &Reference, now: Timestamp, zone: Zone) -> Result<Wish, MemoryError> {
        let by = match &reference.order {
            None | Some(Order::MostOften) => By::MostOften,
            Some(Order::LeastOften) => By::LeastOften,
            Some(Order::Latest) => By::Latest,
            Some(Order::Earliest) => By::Earliest,
            Some(Order::NearestTo(what)) => By::NearestTo(self.seen_from(what)?),
        };
        let around = reference.around.iter().filter_map(|it| self.sought_thing(it));
        Ok(Wish {
            by,
            around: around.collect(),
            doing: reference.doing.clone(),
            when: reference.when.iter().map(|it| it.resolve(now, zone)).collect(),
        })
    }

    fn sought_thing(&self, words: &str) -> Option<Sought> {
        self.things.wanted(words).map(|wanted| wanted.target)
    }

    /// Where the robot stood when it last saw a thing.
    fn seen_from(&self, what: &str) -> Result<Vec<[f64; 3]>, MemoryError> {
        let seen = match self.last_seen(what, &Filter::default(), ANCHORS_MAX) {
            Ok(seen) => seen,
            Err(MemoryError::NamesNothing(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        let poses = seen.into_iter().filter_map(|it| it.recalled.record.meta.pose);
        Ok(poses.map(|pose| pose.position).collect())
    }

    /// Up to `k` places of the memory where a thing that was never seen is likely to
    /// be kept, the likeliest first: those in the rooms where people keep such things,
    /// whose names, and what was seen there, are most alike to it in meaning.
    pub fn likely_places(&self, thing: &str, k: usize) -> Result<Vec<LikelyPlace>, MemoryError> {
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
        let wanted = mentions(thing).into_iter().next();
        let wanted = wanted.map_or_else(|| thing.to_owned(), |it| it.singular_head());
        let wanted = self.embedder.embed(TextRole::Passage, &wanted)?;
        // From the scale of thresholds, where unrelated is a half, to 0..1.
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
        likely.truncate(k);
        Ok(likely)
    }
}

/// What was seen at each place, without the names of the place itself.
fn contents(
    records: &[Record],
    places: &[(String, &Record, usize)],
) -> BTreeMap<String, BTreeSet<String>> {
    let mut contents: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in records {
        let Some(place) = place_of(&record.caption) else { continue };
        let words = place.text();
        if !places.iter().any(|(known, ..)| *known == words) {
            continue;
        }
        let own: Vec<&str> = [&place.surface, &place.room]
            .into_iter()
            .flatten()
            .map(|it| it.stem.as_str())
            .collect();
        let seen = mentions(&record.caption);
        let things = seen.iter().filter(|it| !own.contains(&it.head_stem.as_str()));
        contents.entry(words).or_default().extend(things.map(Mention::singular_head));
    }
    contents
}
