//! Groups sightings into distinct physical objects: the same mug on Monday's desk and Tuesday's
//! sink is one, mugs of two colours are two, and so are two alike in one frame. Misdetections
//! do not count (`sighting_confidence`).
//!
//! Pure. Objects are told apart by their attributes (`attribute_clusters`), then by data
//! association over place and time (`data_association`). The result is about the records given:
//! which mug is used most needs all records that show a mug, not the eight that answer best.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;

use crate::base::RecordId;
use crate::base::time::{Timestamp, Zone};
use crate::index::phrases::ObjectQuery;
use crate::language::everyday_names;
use crate::language::identifier;
use crate::language::lexicon::{self, is_kind_of};
use crate::language::mention::{Attribute, AttributeKind, Mention, mentions};
use crate::language::place::{PlaceWords, is_one_place};
use crate::language::words;
use crate::language::words::FIXTURES;
use crate::memory::episodic::attribute_clusters::{
    AttributeCluster, AttributedMention, ClusterFit, cluster_by_attributes, lasting_attributes,
};
use crate::memory::episodic::data_association::{
    Detection, VISIT_GAP, associate, associate_fixtures,
};
use crate::memory::episodic::sighting_confidence::{EXISTENCE_MIN, PlaceHistory, REDETECTION_RATE};
use crate::memory::episodic::target_mentions::{TargetMention, find_mentions};
use crate::memory::episodic::told_of_another::leave_out_those_of_others;
use crate::store::Record;

/// One physical object.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// As captions mostly call it, with what they say of it: "purple book".
    pub desc: String,
    /// Stem of the noun of that.
    pub noun: String,
    /// Records that mention it, in the order of time.
    pub records: Vec<RecordId>,
    /// Visits on which it was seen, in the order of time, without misdetections unless all may
    /// be some.
    pub visits: Vec<Visit>,
    pub days_seen: usize,
    pub first_seen: Timestamp,
    pub last_seen: Timestamp,
    /// Places where it was seen, the most frequent first.
    pub places: Vec<Place>,
    /// Things seen with it, the most frequent first; at most [`SEEN_WITH_MAX`].
    pub seen_with: Vec<String>,
    /// Visits by the hour of the day in which they began.
    pub hours: [usize; 24],
    /// Confidence, from 0 to 1, that these records show one object.
    pub confidence: f32,
    /// Existence probability of its surest sighting.
    pub existence: f32,
}

/// Visit of the robot on which an object was seen: at one place, without a long pause.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    pub first: Timestamp,
    pub last: Timestamp,
    /// Number of the place in [`Instance::places`].
    pub place: usize,
    pub records: Vec<RecordId>,
    /// Existence probability of the object on this visit.
    pub existence: f32,
}

impl Instance {
    /// Whether it is more likely that the object exists than that all its sightings are
    /// misdetections.
    pub fn is_likely_real(&self) -> bool {
        self.existence >= EXISTENCE_MIN
    }

    /// Whether a record belongs to a visit that counts.
    pub fn was_seen_in(&self, record: RecordId) -> bool {
        self.visits.iter().any(|it| it.records.contains(&record))
    }
}

/// Place at which an object was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Position of the robot at the last sighting there.
    pub position: Option<[f64; 3]>,
    /// Visits.
    pub count: usize,
    /// As captions call it: "wooden desk in the office"; empty where none says.
    pub words: String,
    /// The newest record of it there.
    pub record: RecordId,
}

/// Most things listed as seen with an object.
pub const SEEN_WITH_MAX: usize = 5;

/// Most records grouped at once; of more the newest.
pub const RECORDS_MAX: usize = 5_000;

/// Radius of one place, whatever captions say.
pub(super) const PLACE_METRES: f64 = 1.0;
/// Radius of one place where captions name one piece of furniture in one room.
const NAMED_PLACE_METRES: f64 = 3.0;

/// Confidence factor where only places and times separate objects.
const SEPARABILITY_BY_PLACE: f32 = 0.8;

/// Objects of the target that `records` show, those with most visits first, possible
/// misdetections last. Days and hours are those of `zone`; `history` holds the observations
/// around the sightings.
pub fn group(
    records: &[Record],
    history: &PlaceHistory,
    target: &ObjectQuery,
    zone: Zone,
) -> Vec<Instance> {
    let grouping = Grouping::of(records, history, target);
    let mut found: Vec<Instance> = cluster_by_attributes(&grouping.names)
        .iter()
        .flat_map(|cluster| grouping.objects(cluster, zone))
        .collect();
    found.sort_by(|a, b| {
        let key = |it: &Instance| (it.is_likely_real(), it.visits.len(), it.last_seen);
        key(b).cmp(&key(a)).then_with(|| a.records.cmp(&b.records))
    });
    found
}

/// Records under grouping, with every mention of the target.
struct Grouping<'a> {
    /// In the order of time.
    records: Vec<&'a Record>,
    /// Place number of each record.
    places: Vec<usize>,
    names: Vec<AttributedMention>,
    /// Mention behind each name.
    named: Vec<Mention>,
    /// Existence probability of relabelled names, which stand for the object that was
    /// misdetected.
    relabelled: BTreeMap<usize, f32>,
    history: &'a PlaceHistory,
    target: &'a ObjectQuery,
}

impl<'a> Grouping<'a> {
    fn of(records: &'a [Record], history: &'a PlaceHistory, target: &'a ObjectQuery) -> Self {
        let mut records: Vec<&Record> = records.iter().collect();
        records.sort_by_key(|it| (it.meta.taken_at, it.id));
        records.dedup_by_key(|it| it.id);
        let over = records.len().saturating_sub(RECORDS_MAX);
        records.drain(..over);
        let places = places(&records);
        let (mut names, mut named) = (Vec::new(), Vec::new());
        let of_target = |it: &&Record| find_mentions(&it.parsed, target);
        let mut found: Vec<Vec<TargetMention>> = records.iter().map(of_target).collect();
        // What only may be the thing is none where that itself was seen.
        let is_sure = |it: &TargetMention| target.is_surely_named_by(&it.mention);
        if found.iter().flatten().any(is_sure) {
            for it in &mut found {
                it.retain(is_sure);
            }
        }
        leave_out_those_of_others(&mut found, &records, target);
        for (at, (record, found)) in records.iter().zip(found).enumerate() {
            let place = places.get(at).copied().unwrap_or_default();
            let time = record.meta.taken_at;
            for TargetMention { sentence, mention, attributes } in found {
                names.push(AttributedMention { record: at, sentence, at: time, place, attributes });
                named.push(mention);
            }
        }
        let relabelled = BTreeMap::new();
        let mut grouping = Self { records, places, names, named, relabelled, history, target };
        grouping.relabel_misdetections();
        grouping
    }

    /// Relabels misdetections: a mention that is most likely false, at a place where every
    /// other visit shows another thing of the kind, is that thing ("a red mug" is the blue
    /// one).
    fn relabel_misdetections(&mut self) {
        let mut spellings: Vec<(Vec<Attribute>, Vec<usize>)> = Vec::new();
        for (at, name) in self.names.iter().enumerate() {
            match spellings.iter_mut().find(|(said, _)| *said == name.attributes) {
                Some((_, names)) => names.push(at),
                None => spellings.push((name.attributes.clone(), vec![at])),
            }
        }
        for (attributes, names) in spellings {
            let id = |at: usize| Some(self.records.get(self.names.get(at)?.record)?.id);
            let ids: BTreeSet<RecordId> = names.iter().filter_map(|at| id(*at)).collect();
            let existences = self.history.existences(&ids, &attributes);
            let relabelled: Vec<(usize, f32, TargetMention)> = names
                .into_iter()
                .filter_map(|at| {
                    let id = id(at)?;
                    let existence = (1.0 - *existences.get(&id)?) * REDETECTION_RATE;
                    if existence < EXISTENCE_MIN {
                        return None;
                    }
                    let thing = self.history.find_confused_object(id, &attributes)?;
                    Some((at, existence, thing.clone()))
                })
                .collect();
            for (at, existence, TargetMention { sentence: _, mention, attributes }) in relabelled {
                if let Some(name) = self.names.get_mut(at) {
                    name.attributes = attributes;
                }
                if let Some(named) = self.named.get_mut(at) {
                    *named = mention;
                }
                self.relabelled.insert(at, existence);
            }
        }
    }

    /// Objects of one cluster.
    fn objects(&self, cluster: &AttributeCluster, zone: Zone) -> Vec<Instance> {
        let (detections, of_record) = self.detections(cluster);
        let existences = self.existences(cluster);
        let sureness: BTreeMap<usize, f32> = self.sureness(cluster, &existences);
        let (desc, noun) = self.called(cluster);
        let at_once = detections.iter().map(|detection| detection.copies).max().unwrap_or(1);
        let tracks = if self.is_fixture(cluster) {
            associate_fixtures(&detections)
        } else {
            associate(&detections)
        };
        let separability = if tracks.len() > at_once { SEPARABILITY_BY_PLACE } else { 1.0 };
        let object = |track: &Vec<usize>| {
            let seen: Vec<usize> =
                track.iter().filter_map(|at| of_record.get(*at)).copied().collect();
            self.instance((&desc, noun), &seen, (&existences, &sureness), separability, zone)
        };
        tracks.iter().filter_map(object).collect()
    }

    /// Whether the cluster is of what never moves: doors, hydrants.
    fn is_fixture(&self, cluster: &AttributeCluster) -> bool {
        let mut named = cluster.members.iter().filter_map(|(at, _)| self.named.get(*at));
        named.next().is_some_and(is_fixture)
    }

    /// Detections of a cluster, with the record of each. Of one record the sentence with most
    /// mentions counts, since another may speak of the same thing. Two alike in an unsure
    /// caption count only where another visit shows two as well.
    fn detections(&self, cluster: &AttributeCluster) -> (Vec<Detection>, Vec<usize>) {
        let mut copies: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
        for (at, _) in &cluster.members {
            let (Some(name), Some(mention)) = (self.names.get(*at), self.named.get(*at)) else {
                continue;
            };
            *copies.entry(name.record).or_default().entry(name.sentence).or_default() +=
                count_named(mention);
        }
        let mut detections = Vec::with_capacity(copies.len());
        let mut of_record = Vec::with_capacity(copies.len());
        for (at, sentences) in copies {
            let Some(record) = self.records.get(at) else { continue };
            detections.push(Detection {
                first: record.meta.taken_at,
                last: record.end_at,
                place: self.places.get(at).copied().unwrap_or_default(),
                position: record.meta.pose.map(|pose| pose.position),
                copies: sentences.into_values().max().unwrap_or(1),
            });
            of_record.push(at);
        }
        let sureness =
            |at: &usize| self.records.get(*at).and_then(|it| it.confidence).unwrap_or(1.0);
        let seen = detections.iter().zip(&of_record).filter(|(it, _)| it.copies > 1);
        let doubled: Vec<Detection> =
            seen.filter(|(_, at)| sureness(at) >= EXISTENCE_MIN).map(|(it, _)| *it).collect();
        for (detection, at) in detections.iter_mut().zip(&of_record) {
            let is_seen_again = || doubled.iter().any(|it| is_of_another_visit(it, detection));
            if sureness(at) < EXISTENCE_MIN || sureness(at) < 1.0 && !is_seen_again() {
                detection.copies = 1;
            }
        }
        (detections, of_record)
    }

    /// Existence probability by record of a cluster.
    fn existences(&self, cluster: &AttributeCluster) -> BTreeMap<usize, f32> {
        let mut named: BTreeSet<usize> = BTreeSet::new();
        let mut existences: BTreeMap<usize, f32> = BTreeMap::new();
        for (at, _) in &cluster.members {
            let Some(record) = self.names.get(*at).map(|it| it.record) else { continue };
            match self.relabelled.get(at) {
                Some(existence) => {
                    existences.insert(record, *existence);
                }
                None => {
                    named.insert(record);
                }
            }
        }
        let id = |at: &usize| self.records.get(*at).map(|it| it.id);
        let ids: BTreeSet<RecordId> = named.iter().filter_map(id).collect();
        let of_names = self.history.existences(&ids, &cluster.attributes);
        for at in named {
            if let Some(existence) = id(&at).and_then(|id| of_names.get(&id)) {
                existences.insert(at, *existence);
            }
        }
        existences
    }

    /// Confidence by record that it shows the cluster.
    fn sureness(
        &self,
        cluster: &AttributeCluster,
        existences: &BTreeMap<usize, f32>,
    ) -> BTreeMap<usize, f32> {
        let mut sureness = BTreeMap::new();
        for (at, quality) in &cluster.members {
            let Some(record) = self.names.get(*at).map(|name| name.record) else { continue };
            let caption = existences.get(&record).copied().unwrap_or(1.0);
            let named = match quality {
                ClusterFit::Full => 1.0,
                ClusterFit::Possible => 0.7,
                ClusterFit::Misdetection => 0.3,
            };
            let best: &mut f32 = sureness.entry(record).or_default();
            *best = best.max(named * caption);
        }
        sureness
    }

    /// Most frequent description of the cluster, with the stem of its noun.
    fn called(&self, cluster: &AttributeCluster) -> (String, &str) {
        type Counts<'a> = BTreeMap<String, (usize, &'a str)>;
        let mut counts: BTreeMap<(ClusterFit, usize), Counts<'_>> = BTreeMap::new();
        for (at, quality) in &cluster.members {
            let Some(mention) = self.named.get(*at) else { continue };
            let said = lasting_attributes(&mention.attributes).len();
            let phrases = counts.entry((*quality, said)).or_default();
            phrases.entry(describe(mention)).or_insert((0, &mention.head_stem)).0 += 1;
        }
        // Among the best fits with most attributes, the most frequent, then the first.
        let phrases = counts.into_iter().next_back().map(|(_, phrases)| phrases);
        let phrases = phrases.into_iter().flatten();
        let best = phrases.reduce(|best, next| if next.1.0 > best.1.0 { next } else { best });
        best.map(|(phrase, (_, noun))| (phrase, noun)).unwrap_or_default()
    }

    /// Object of the records `named`, which are in the order of time.
    fn instance(
        &self,
        (desc, noun): (&str, &str),
        named: &[usize],
        (existences, sureness): (&BTreeMap<usize, f32>, &BTreeMap<usize, f32>),
        separability: f32,
        zone: Zone,
    ) -> Option<Instance> {
        let is_likely_real = |at: &usize| existences.get(at).is_none_or(|it| *it >= EXISTENCE_MIN);
        let mut seen: Vec<usize> = named.iter().copied().filter(is_likely_real).collect();
        if seen.is_empty() {
            seen = named.to_vec();
        }
        let ids = named.iter().filter_map(|at| Some(self.records.get(*at)?.id)).collect();
        let records: Vec<&Record> =
            seen.iter().filter_map(|at| self.records.get(*at).copied()).collect();
        let (first, last) = (records.first()?, records.last()?);
        let (visits, places) = self.visits(&seen, existences);
        let mut hours = [0; 24];
        for visit in &visits {
            if let Some(hour) = hours.get_mut(zone.hour(visit.first)) {
                *hour += 1;
            }
        }
        let days: BTreeSet<NaiveDate> = visits.iter().map(|it| zone.day(it.first)).collect();
        let sure: f32 = seen.iter().filter_map(|at| sureness.get(at)).sum();
        #[expect(clippy::cast_precision_loss, reason = "at most some thousands")]
        let confidence = separability * sure / seen.len().max(1) as f32;
        // The maximum, not a product: each visit's probability has already counted the others.
        let existence = visits.iter().map(|it| it.existence).fold(0.0, f32::max);
        Some(Instance {
            desc: desc.to_owned(),
            noun: noun.to_owned(),
            records: ids,
            days_seen: days.len(),
            first_seen: first.meta.taken_at,
            last_seen: records.iter().map(|it| it.end_at).max().unwrap_or(last.end_at),
            seen_with: self.neighbours_of(&records),
            visits,
            places,
            hours,
            confidence,
            existence,
        })
    }

    fn visits(
        &self,
        seen: &[usize],
        existences: &BTreeMap<usize, f32>,
    ) -> (Vec<Visit>, Vec<Place>) {
        let mut visits: Vec<Visit> = Vec::new();
        for at in seen {
            let (Some(record), Some(place)) = (self.records.get(*at), self.places.get(*at)) else {
                continue;
            };
            let (first, last) = (record.meta.taken_at, record.end_at);
            let existence = existences.get(at).copied().unwrap_or(1.0);
            match visits.last_mut() {
                Some(visit) if visit.place == *place && first.since(visit.last) <= VISIT_GAP => {
                    visit.last = visit.last.max(last);
                    visit.records.push(record.id);
                    visit.existence = visit.existence.max(existence);
                }
                Some(_) | None => {
                    let records = vec![record.id];
                    visits.push(Visit { first, last, place: *place, records, existence });
                }
            }
        }
        let mut counts: BTreeMap<usize, (usize, Timestamp)> = BTreeMap::new();
        for visit in &visits {
            let (count, last) = counts.entry(visit.place).or_insert((0, visit.last));
            (*count, *last) = (*count + 1, visit.last.max(*last));
        }
        let mut order: Vec<(usize, (usize, Timestamp))> = counts.into_iter().collect();
        order.sort_by(|(_, a), (_, b)| b.cmp(a));
        for visit in &mut visits {
            let place = order.iter().position(|(place, _)| *place == visit.place);
            visit.place = place.unwrap_or_default();
        }
        let place =
            |(place, (count, _)): &(usize, (usize, Timestamp))| self.place(seen, *place, *count);
        (visits, order.iter().filter_map(place).collect())
    }

    fn place(&self, seen: &[usize], place: usize, count: usize) -> Option<Place> {
        let there = seen.iter().filter(|at| self.places.get(**at) == Some(&place));
        let there: Vec<&Record> = there.filter_map(|at| self.records.get(*at).copied()).collect();
        let newest = there.last()?;
        let mut words: BTreeMap<(bool, String), usize> = BTreeMap::new();
        for named in there.iter().filter_map(|it| it.parsed.place.as_ref()) {
            *words.entry((named.is_whole(), named.text())).or_default() += 1;
        }
        let best = words.into_iter().max_by(|((a, _), n), ((b, _), m)| (a, n).cmp(&(b, m)));
        Some(Place {
            position: there.iter().rev().find_map(|it| it.meta.pose).map(|pose| pose.position),
            count,
            words: best.map(|((_, words), _)| words).unwrap_or_default(),
            record: newest.id,
        })
    }

    fn neighbours_of(&self, records: &[&Record]) -> Vec<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for record in records {
            let place = record.parsed.place.clone().unwrap_or_default();
            let spots: Vec<&str> = [&place.surface, &place.room]
                .into_iter()
                .flatten()
                .map(|it| it.stem.as_str())
                .collect();
            let others: BTreeSet<String> = record
                .parsed
                .shown_mentions()
                .filter(|it| {
                    !self.target.is_named_by(it) && !spots.contains(&it.head_stem.as_str())
                })
                .map(describe)
                .collect();
            for other in others {
                *counts.entry(other).or_default() += 1;
            }
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts.into_iter().take(SEEN_WITH_MAX).map(|(thing, _)| thing).collect()
    }
}

/// Whether a name is that of what never moves, or another name of it is: a street light.
fn is_fixture(thing: &Mention) -> bool {
    let is_listed =
        |name: &str| FIXTURES.words().any(|general| name == general || is_kind_of(name, general));
    let is_so_called = |name: &str| {
        let others = everyday_names::other_names(name).filter(|it| it.is_sure);
        is_listed(name) || others.map(|it| it.name).chain(lexicon::synonyms(name)).any(is_listed)
    };
    match (thing.compound_name(), thing.known_name()) {
        // A coat tree is no tree.
        (_, Some(known)) => is_so_called(&known),
        (Some(compound), None) => is_so_called(&compound) || is_listed(&thing.singular_head()),
        (None, None) => is_so_called(&thing.singular_head()),
    }
}

fn is_of_another_visit(one: &Detection, other: &Detection) -> bool {
    one.first.since(other.last).max(other.first.since(one.last)) > VISIT_GAP
}

/// Description of a single one, which names the same thing where it is read: "purple book" of "two
/// open purple books", "reading glasses" as they are.
fn describe(mention: &Mention) -> String {
    let one = mention.singular_head();
    let head = if lexicon::is_name_of_plural(&mention.head, &one) { &mention.head } else { &one };
    // "a set of hex keys", cut as one name
    let is_collective = |it: &str| matches!(it, "set" | "pair" | "bunch");
    let stays = |it: &&Attribute| {
        !matches!(it.kind, AttributeKind::Number | AttributeKind::State) && !is_collective(&it.word)
    };
    let which: Vec<&str> = identifier::which(mention).map(|it| it.word.as_str()).collect();
    let described = |said: &dyn Fn(&&Attribute) -> bool| {
        let mut words: Vec<&str> = Vec::new();
        let said = mention.attributes.iter().filter(stays).filter(said);
        for attribute in said.filter(|it| !which.contains(&it.word.as_str())) {
            if !words.contains(&attribute.word.as_str()) {
                words.push(&attribute.word);
            }
        }
        // "person_7" says that it is a person.
        let is_said = which.iter().any(|it| it.starts_with(head.as_str()));
        words.extend(Some(head.as_str()).filter(|_| !is_said));
        words.extend(&which);
        words.join(" ")
    };
    let whole = described(&|_| true);
    let is_plain = |it: &&Attribute| it.kind != AttributeKind::Other;
    // Only such words may be cut apart, and all that is seen with a thing is described.
    if mention.attributes.iter().all(|it| is_plain(&it)) {
        return whole;
    }
    let is_same = match mentions(&whole).as_slice() {
        [read] => read.head_stem == mention.head_stem,
        _ => false,
    };
    // "face down", said of a book, is cut at its preposition.
    if is_same { whole } else { described(&is_plain) }
}

/// Number of things in a mention: "two red mugs" are two.
fn count_named(mention: &Mention) -> usize {
    let number = mention.attributes.iter().find(|it| it.kind == AttributeKind::Number);
    number.and_then(|it| words::number(&it.word)).unwrap_or(1)
}

/// Place number of each record: leader clustering by position and by the captions' words.
fn places(records: &[&Record]) -> Vec<usize> {
    struct KnownPlace<'a> {
        record: &'a Record,
        words: Option<PlaceWords>,
    }
    let mut known: Vec<KnownPlace<'_>> = Vec::new();
    let mut numbers = Vec::with_capacity(records.len());
    for record in records {
        let words = record.parsed.place.clone();
        let nearest = known
            .iter_mut()
            .enumerate()
            .filter_map(|(at, it)| {
                let apart =
                    same_place_distance(it.record, it.words.as_ref(), record, words.as_ref())?;
                Some((apart, at, it))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if let Some((_, at, place)) = nearest {
            let says_more = |it: &PlaceWords| it.is_whole();
            if words.as_ref().is_some_and(says_more) && !place.words.as_ref().is_some_and(says_more)
            {
                place.words = words;
            }
            numbers.push(at);
        } else {
            numbers.push(known.len());
            known.push(KnownPlace { record, words });
        }
    }
    numbers
}

/// Metres between two records of one place; `None` where they are of two places.
fn same_place_distance(
    a: &Record,
    a_words: Option<&PlaceWords>,
    b: &Record,
    b_words: Option<&PlaceWords>,
) -> Option<f64> {
    let said = a_words.zip(b_words).and_then(|(a, b)| is_one_place(a, b));
    if said == Some(false) || a.meta.map_id != b.meta.map_id {
        return None;
    }
    let most = if said == Some(true) { NAMED_PLACE_METRES } else { PLACE_METRES };
    match (a.meta.pose, b.meta.pose) {
        (Some(a), Some(b)) => {
            let metres = a.distance_metres(&b);
            (metres <= most).then_some(metres)
        }
        (Some(_) | None, Some(_) | None) => (said == Some(true)).then_some(most),
    }
}

#[cfg(test)]
pub(crate) mod tests;
