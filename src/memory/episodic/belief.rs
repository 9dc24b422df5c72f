//! How sure it is that a thing was where a caption names it. A captioner slips once in a
//! while, and a thing that lies somewhere is seen there again and again: what one unsure
//! caption says is weighed against the looks at the same place before and after, and
//! against how often the thing was seen at all.
//!
//! Pure. The existence filters of robot maps (Rosen et al. 2016, "Towards lifelong
//! feature-based mapping") weigh so whether a landmark is still there. A caption that is
//! sure of itself is believed, whatever the others say.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::mention::Attribute;
use crate::index::mention::fit::fit;
use crate::index::phrases::ObjectQuery;
use crate::memory::episodic::instances::{NamedThing, names_in};
use crate::memory::episodic::named::things_in;
use crate::memory::episodic::place::{PlaceWords, is_one_place, place_of};
use crate::memory::episodic::tracks::VISIT_GAP;
use crate::store::Record;

/// Below it, it is likelier that a thing was not there than that it was.
pub(super) const DOUBT: f32 = 0.5;

/// The looks at one place that may tell of each other.
pub(super) const TELLING: Duration = Duration::from_secs(24 * 3_600);
/// Poses of one place: the robot comes back to nearly the same one.
pub(super) const SPOT_METRES: f64 = 1.0;
const SPOT_RADIANS: f64 = 0.6;

/// How often the next look shows again what a caption names: a thing that is there, and
/// a slip, which the same scene may cause again. In development households it is .72 and
/// .36 of the next looks, two or three hours apart.
pub(super) const STAYS: f32 = 0.7;
const REPEATS: f32 = 0.4;

/// What was seen at the places where a thing may have been.
#[derive(Debug, Default)]
pub struct Looks {
    /// In the order of time.
    all: Vec<Look>,
    by_record: BTreeMap<RecordId, usize>,
    /// The visits to each spot, in the order of time.
    spots: Vec<Vec<Visit>>,
}

#[derive(Debug)]
struct Look {
    spot: usize,
    /// Number of the visit to the spot.
    visit: usize,
    /// How likely one thing that the caption names is right.
    sureness: f32,
    /// The wanted things that it names.
    named: Vec<NamedThing>,
}

#[derive(Debug)]
struct Visit {
    first: Timestamp,
    last: Timestamp,
    looks: Vec<usize>,
}

impl Looks {
    /// What `records` show of `wanted`; what no camera saw shows nothing.
    pub fn of(mut records: Vec<Record>, wanted: &ObjectQuery) -> Self {
        records.retain(|it| it.layer.is_none());
        records.sort_by_key(|it| (it.meta.taken_at, it.id));
        records.dedup_by_key(|it| it.id);
        let mut looks = Self::default();
        let mut known: Vec<(Record, Option<PlaceWords>)> = Vec::new();
        for record in records {
            let words = place_of(&record.caption);
            let spot = known
                .iter()
                .position(|(it, its)| is_one_spot(it, its.as_ref(), &record, words.as_ref()));
            let spot = spot.unwrap_or(known.len());
            let at = looks.all.len();
            if looks.spots.len() <= spot {
                looks.spots.push(Vec::new());
            }
            let Some(visits) = looks.spots.get_mut(spot) else { continue };
            let (first, last) = (record.meta.taken_at, record.end_at);
            match visits.last_mut() {
                Some(visit) if first.since(visit.last) <= VISIT_GAP => {
                    visit.last = visit.last.max(last);
                    visit.looks.push(at);
                }
                Some(_) | None => visits.push(Visit { first, last, looks: vec![at] }),
            }
            looks.all.push(Look {
                spot,
                visit: visits.len() - 1,
                sureness: sureness(&record),
                named: names_in(&record.caption, wanted),
            });
            looks.by_record.insert(record.id, at);
            if spot == known.len() {
                known.push((record, words));
            }
        }
        looks
    }

    /// How likely each of `records`, whose captions all name one kind of thing with these
    /// attributes, really shows it.
    pub(super) fn beliefs(
        &self,
        records: &BTreeSet<RecordId>,
        attributes: &[Attribute],
    ) -> BTreeMap<RecordId, f32> {
        let sightings = self.sightings(records, attributes);
        let belief = |id: &RecordId| {
            let look = self.by_record.get(id).and_then(|at| self.all.get(*at));
            let belief = look.map_or(1.0, |it| self.belief((it.spot, it.visit), &sightings));
            (*id, belief)
        };
        records.iter().map(belief).collect()
    }

    /// Those of `records` that name a wanted thing, of which each name is likelier a slip.
    pub(super) fn doubted(&self, records: &[Record]) -> BTreeSet<RecordId> {
        let mut spellings: Vec<(&[Attribute], BTreeSet<RecordId>)> = Vec::new();
        for record in records {
            let look = self.by_record.get(&record.id).and_then(|at| self.all.get(*at));
            for name in look.into_iter().flat_map(|it| &it.named) {
                match spellings.iter_mut().find(|(said, _)| *said == name.attributes) {
                    Some((_, ids)) => {
                        ids.insert(record.id);
                    }
                    None => spellings.push((&name.attributes, BTreeSet::from([record.id]))),
                }
            }
        }
        let mut most: BTreeMap<RecordId, f32> = BTreeMap::new();
        for (attributes, ids) in spellings {
            for (id, belief) in self.beliefs(&ids, attributes) {
                let best = most.entry(id).or_default();
                *best = belief.max(*best);
            }
        }
        most.into_iter().filter(|(_, belief)| *belief < DOUBT).map(|(id, _)| id).collect()
    }

    /// What a caption took for a thing with these attributes that was not there: the only
    /// thing of its kind that the looks before and after show there and this visit does not.
    pub(super) fn taken_for(
        &self,
        record: RecordId,
        attributes: &[Attribute],
    ) -> Option<&NamedThing> {
        let look = self.all.get(*self.by_record.get(&record)?)?;
        let visits = self.spots.get(look.spot)?;
        let visit = visits.get(look.visit)?;
        let of = |visit: &'_ Visit| -> Vec<&Look> {
            visit.looks.iter().filter_map(|at| self.all.get(*at)).collect()
        };
        let now = of(visit);
        let beside = [look.visit.checked_sub(1), look.visit.checked_add(1)];
        let beside = beside.into_iter().flatten().filter_map(|at| visits.get(at));
        let beside: Vec<Vec<&Look>> = beside.filter(|it| tells_of(it, visit)).map(of).collect();
        let mut missed: Vec<(usize, &NamedThing)> = Vec::new();
        for thing in beside.iter().flatten().flat_map(|look| &look.named) {
            let shows = |looks: &[&Look]| looks.iter().any(|it| it.names(&thing.attributes));
            if !are_alike(&thing.attributes, attributes) && !shows(&now) {
                missed.push((beside.iter().filter(|looks| shows(looks)).count(), thing));
            }
        }
        let most = missed.iter().map(|(count, _)| *count).max()?;
        let mut likely = missed.into_iter().filter(|(count, _)| *count == most).map(|(_, it)| it);
        let first = likely.next()?;
        likely.all(|it| are_alike(&it.attributes, &first.attributes)).then_some(first)
    }

    /// The visits on which the thing is named, with the surest caption and the looks.
    fn sightings(&self, records: &BTreeSet<RecordId>, attributes: &[Attribute]) -> Sightings {
        let given: BTreeSet<usize> =
            records.iter().filter_map(|id| self.by_record.get(id)).copied().collect();
        let mut sightings = Sightings::new();
        for (at, look) in self.all.iter().enumerate() {
            if given.contains(&at) || look.names(attributes) {
                let sighting = sightings.entry((look.spot, look.visit)).or_default();
                sighting.sureness = sighting.sureness.max(look.sureness);
                sighting.looks += 1;
            }
        }
        sightings
    }

    /// The odds of the surest caption of a visit, times those of everything around it.
    fn belief(&self, at: (usize, usize), sightings: &Sightings) -> f32 {
        let (spot, number) = at;
        let visits = self.spots.get(spot).map(Vec::as_slice).unwrap_or_default();
        let (Some(visit), Some(sighting)) = (visits.get(number), sightings.get(&at)) else {
            return 1.0;
        };
        if sighting.sureness >= 1.0 {
            return 1.0;
        }
        let mut odds = sighting.sureness / (1.0 - sighting.sureness);
        if sighting.looks < visit.looks.len() {
            odds *= (1.0 - STAYS) / (1.0 - REPEATS);
        }
        let is_telling = |it: &Visit| tells_of(it, visit);
        let beside = [number.checked_sub(1), number.checked_add(1)];
        for next in beside.into_iter().flatten() {
            if !visits.get(next).is_some_and(is_telling) {
                continue;
            }
            odds *= if sightings.contains_key(&(spot, next)) {
                STAYS / REPEATS
            } else {
                (1.0 - STAYS) / (1.0 - REPEATS)
            };
        }
        // As the rule of succession has it: what was never seen but now, in so many looks
        // at its place, is hardly real.
        let looked = small(visits.iter().filter(|it| is_telling(it)).count()) - 1.0;
        let others = sightings.iter().filter(|(other, _)| **other != at);
        let seen: f32 = others.map(|(_, it)| it.sureness).sum();
        odds *= (1.0 + seen) / (1.0 + looked.max(seen));
        odds / (1.0 + odds)
    }
}

impl Look {
    fn names(&self, attributes: &[Attribute]) -> bool {
        self.named.iter().any(|it| are_alike(&it.attributes, attributes))
    }
}

/// Whether nothing that one says is denied by the other.
fn are_alike(a: &[Attribute], b: &[Attribute]) -> bool {
    fit(a, b).is_some() && fit(b, a).is_some()
}

/// Whether two visits to a spot are so near in time that one tells of the other.
fn tells_of(one: &Visit, other: &Visit) -> bool {
    one.first.since(other.last) <= TELLING && other.first.since(one.last) <= TELLING
}

/// By spot and visit.
type Sightings = BTreeMap<(usize, usize), Sighting>;

/// What one visit shows of a thing.
#[derive(Debug, Default)]
struct Sighting {
    sureness: f32,
    looks: usize,
}

#[expect(clippy::cast_precision_loss, reason = "at most some thousands")]
fn small(number: usize) -> f32 {
    number as f32
}

/// Whether a record's captioner leaves a doubt of what it says.
pub(super) fn is_unsure(record: &Record) -> bool {
    record.confidence.is_some_and(|it| it < 1.0)
}

/// A caption that is wrong is mostly wrong in one of the things that it names.
fn sureness(record: &Record) -> f32 {
    let Some(confidence) = record.confidence else { return 1.0 };
    let things = things_in(&record.caption).len().max(1);
    1.0 - (1.0 - confidence) / small(things)
}

fn is_one_spot(
    a: &Record,
    a_words: Option<&PlaceWords>,
    b: &Record,
    b_words: Option<&PlaceWords>,
) -> bool {
    let (Some(from), Some(to)) = (a.meta.pose, b.meta.pose) else { return false };
    let said = a_words.zip(b_words);
    // Another camera looks elsewhere from there.
    let (one, other) = (&a.meta, &b.meta);
    one.source == other.source
        && (&one.map_id, &one.frame_id) == (&other.map_id, &other.frame_id)
        && from.distance_metres(&to) <= SPOT_METRES
        && from.turn_radians(&to).is_none_or(|turn| turn <= SPOT_RADIANS)
        && said.and_then(|(a, b)| is_one_place(a, b)) != Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::episodic::instances::tests::{Seen, records, sought};

    const HOUR: u64 = 60;
    const RED: &str = "a red mug on a wooden desk in the office";
    const BLUE: &str = "a blue mug on a wooden desk in the office";
    const NONE: &str = "a laptop on a wooden desk in the office";
    const AWAY: &str = "a red mug on a white shelf in the kitchen";

    /// That the last of `seen` shows a red mug, where all captions are as sure.
    fn belief(seen: &[Seen], confidence: Option<f32>) -> f32 {
        let mut records = records(seen);
        for record in &mut records {
            record.confidence = confidence;
        }
        let last = *records.last().map(|it| &it.id).unwrap();
        let mug = sought("a red mug");
        let attributes = mug.attributes.clone();
        let looks = Looks::of(records, &mug);
        looks.beliefs(&BTreeSet::from([last]), &attributes)[&last]
    }

    fn rounds(captions: &[&'static str]) -> Vec<Seen> {
        (0..).zip(captions).map(|(at, it)| (at * 2 * HOUR, 0.0, *it)).collect()
    }

    #[test]
    fn a_caption_alone_is_believed_as_far_as_it_believes_itself() {
        for confidence in [0.2, 0.6, 0.9] {
            let alone = belief(&rounds(&[RED]), Some(confidence));
            assert!((alone - confidence).abs() < 1e-6, "{confidence}: {alone}");
        }
    }

    #[test]
    fn a_caption_that_is_sure_or_has_no_doubts_is_believed_whatever_others_say() {
        let against = rounds(&[NONE, BLUE, BLUE, NONE, BLUE, RED]);
        assert!((belief(&against, None) - 1.0).abs() < f32::EPSILON);
        assert!((belief(&against, Some(1.0)) - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn what_is_seen_again_and_again_is_believed_and_what_is_named_once_is_not() {
        assert!(belief(&rounds(&[RED, RED, RED, RED]), Some(0.6)) > 0.62);
        assert!(belief(&rounds(&[BLUE, NONE, BLUE, RED]), Some(0.6)) < 0.3);
        // Its kind was seen elsewhere: it may have been brought.
        let brought: Vec<Seen> = (0..9)
            .map(|at| (at * 2 * HOUR + 5, 9.0, AWAY))
            .chain((0..3).map(|at| (at * 2 * HOUR, 0.0, NONE)))
            .chain([(18 * HOUR, 0.0, RED)])
            .collect();
        assert!(belief(&brought, Some(0.8)) > DOUBT);
        let never: Vec<Seen> = brought.iter().filter(|it| it.2 != AWAY).copied().collect();
        assert!(belief(&never, Some(0.8)) < belief(&brought, Some(0.8)));
    }

    #[test]
    fn a_new_thing_is_believed_where_its_caption_is_nearly_sure() {
        assert!(belief(&rounds(&[NONE, NONE, NONE, RED]), Some(0.95)) > DOUBT);
        assert!(belief(&rounds(&[NONE, NONE, NONE, RED]), Some(0.6)) < DOUBT);
    }

    #[test]
    fn another_look_of_the_same_visit_that_shows_none_speaks_against_it() {
        let one = belief(&[(0, 0.0, RED)], Some(0.8));
        let two = belief(&[(0, 0.0, NONE), (1, 0.0, RED)], Some(0.8));
        assert!(two < one - 0.1, "{two} {one}");
    }

    #[test]
    fn looks_of_another_place_or_day_say_nothing_of_this_one() {
        let alone = belief(&[(0, 0.0, RED)], Some(0.7));
        let kitchen = "a laptop on a white shelf in the kitchen";
        for seen in [
            [(0, 5.0, NONE), (120, 0.0, RED)],
            [(0, 0.0, kitchen), (120, 0.0, RED)],
            [(0, 0.0, NONE), (30 * HOUR, 0.0, RED)],
        ] {
            assert!((belief(&seen, Some(0.7)) - alone).abs() < 1e-6, "{seen:?}");
        }
    }
}
