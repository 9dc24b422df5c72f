//! Existence probability of a sighting: whether a thing was there that an unsure caption names.
//! A captioner misdetects now and then, and a thing that lies somewhere is detected there again
//! and again, so one unsure caption is weighed against the observations from the same viewpoint
//! before and after, and against how often the thing was seen at all.
//!
//! Pure. A persistence filter over landmarks (Rosen et al. 2016, "Towards lifelong
//! feature-based mapping"), with the rule of succession as its prior. A caption that is sure of
//! itself counts as certain, whatever the others say.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::phrases::ObjectQuery;
use crate::language::fit::fit;
use crate::language::mention::Attribute;
use crate::language::place::{PlaceWords, is_one_place};
use crate::memory::episodic::data_association::VISIT_GAP;
use crate::memory::episodic::target_mentions::{TargetMention, find_mentions};
use crate::store::Record;

/// Existence probability below which a sighting counts as a misdetection.
pub(super) const EXISTENCE_MIN: f32 = 0.5;

/// Time span around a visit within which other visits are evidence.
pub(super) const HISTORY_SPAN: Duration = Duration::from_hours(24);
/// Pose tolerance of one viewpoint: the robot comes back to nearly the same pose.
pub(super) const VIEWPOINT_METRES: f64 = 1.0;
const VIEWPOINT_RADIANS: f64 = 0.6;

/// Probability that the next observation repeats a mention: of a thing that is there, and of a
/// misdetection, which the same scene may cause again. In development households it is .72 and
/// .36 of the next observations, two or three hours apart.
pub(super) const REDETECTION_RATE: f32 = 0.7;
const MISDETECTION_REPEAT_RATE: f32 = 0.4;

/// Observations from the viewpoints where a target may have been.
#[derive(Debug, Default)]
pub struct PlaceHistory {
    /// In the order of time.
    all: Vec<Observation>,
    by_record: BTreeMap<RecordId, usize>,
    /// Visits by viewpoint, in the order of time.
    viewpoints: Vec<Vec<ViewpointVisit>>,
}

#[derive(Debug)]
struct Observation {
    viewpoint: usize,
    /// Number of the visit to the viewpoint.
    visit: usize,
    /// Probability that one mention of the caption is right.
    confidence: f32,
    /// Mentions of the target.
    named: Vec<TargetMention>,
}

#[derive(Debug)]
struct ViewpointVisit {
    first: Timestamp,
    last: Timestamp,
    observations: Vec<usize>,
}

impl PlaceHistory {
    /// Groups the camera's `records` by viewpoint and visit; records of other layers are no
    /// observations.
    pub fn of(mut records: Vec<Record>, wanted: &ObjectQuery) -> Self {
        records.retain(|it| it.layer.is_none());
        records.sort_by_key(|it| (it.meta.taken_at, it.id));
        records.dedup_by_key(|it| it.id);
        let mut history = Self::default();
        let mut known: Vec<(Record, Option<PlaceWords>)> = Vec::new();
        for record in records {
            let words = record.parsed.place.clone();
            let viewpoint = known
                .iter()
                .position(|(it, its)| is_one_viewpoint(it, its.as_ref(), &record, words.as_ref()));
            let viewpoint = viewpoint.unwrap_or(known.len());
            let at = history.all.len();
            if history.viewpoints.len() <= viewpoint {
                history.viewpoints.push(Vec::new());
            }
            let Some(visits) = history.viewpoints.get_mut(viewpoint) else { continue };
            let (first, last) = (record.meta.taken_at, record.end_at);
            match visits.last_mut() {
                Some(visit) if first.since(visit.last) <= VISIT_GAP => {
                    visit.last = visit.last.max(last);
                    visit.observations.push(at);
                }
                Some(_) | None => {
                    visits.push(ViewpointVisit { first, last, observations: vec![at] });
                }
            }
            history.all.push(Observation {
                viewpoint,
                visit: visits.len() - 1,
                confidence: mention_confidence(&record),
                named: find_mentions(&record.parsed, wanted),
            });
            history.by_record.insert(record.id, at);
            if viewpoint == known.len() {
                known.push((record, words));
            }
        }
        history
    }

    /// Existence probability of each of `records`, whose captions all mention one kind of thing
    /// with these attributes.
    pub(super) fn existences(
        &self,
        records: &BTreeSet<RecordId>,
        attributes: &[Attribute],
    ) -> BTreeMap<RecordId, f32> {
        let sightings = self.sightings(records, attributes);
        let existence = |id: &RecordId| {
            let observation = self.by_record.get(id).and_then(|at| self.all.get(*at));
            let existence =
                observation.map_or(1.0, |it| self.existence((it.viewpoint, it.visit), &sightings));
            (*id, existence)
        };
        records.iter().map(existence).collect()
    }

    /// Records whose every mention of the target is more likely a misdetection than a sighting.
    pub(super) fn find_misdetections(&self, records: &[Record]) -> BTreeSet<RecordId> {
        let mut spellings: Vec<(&[Attribute], BTreeSet<RecordId>)> = Vec::new();
        for record in records {
            let observation = self.by_record.get(&record.id).and_then(|at| self.all.get(*at));
            for name in observation.into_iter().flat_map(|it| &it.named) {
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
            for (id, existence) in self.existences(&ids, attributes) {
                let best = most.entry(id).or_default();
                *best = existence.max(*best);
            }
        }
        most.into_iter()
            .filter(|(_, existence)| *existence < EXISTENCE_MIN)
            .map(|(id, _)| id)
            .collect()
    }

    /// Object that a misdetected mention most likely was: the only other thing of its kind that
    /// the visits before and after show and this visit does not.
    pub(super) fn find_confused_object(
        &self,
        record: RecordId,
        attributes: &[Attribute],
    ) -> Option<&TargetMention> {
        let observation = self.all.get(*self.by_record.get(&record)?)?;
        let visits = self.viewpoints.get(observation.viewpoint)?;
        let visit = visits.get(observation.visit)?;
        let of = |visit: &'_ ViewpointVisit| -> Vec<&Observation> {
            visit.observations.iter().filter_map(|at| self.all.get(*at)).collect()
        };
        let now = of(visit);
        let beside = [observation.visit.checked_sub(1), observation.visit.checked_add(1)];
        let beside = beside.into_iter().flatten().filter_map(|at| visits.get(at));
        let beside: Vec<Vec<&Observation>> =
            beside.filter(|it| is_telling_of(it, visit)).map(of).collect();
        let mut missed: Vec<(usize, &TargetMention)> = Vec::new();
        for thing in beside.iter().flatten().flat_map(|observation| &observation.named) {
            let shows = |observations: &[&Observation]| {
                observations.iter().any(|it| it.names(&thing.attributes))
            };
            if !are_alike(&thing.attributes, attributes) && !shows(&now) {
                missed.push((
                    beside.iter().filter(|observations| shows(observations)).count(),
                    thing,
                ));
            }
        }
        let most = missed.iter().map(|(count, _)| *count).max()?;
        let mut likely = missed.into_iter().filter(|(count, _)| *count == most).map(|(_, it)| it);
        let first = likely.next()?;
        likely.all(|it| are_alike(&it.attributes, &first.attributes)).then_some(first)
    }

    /// Visits on which the thing is mentioned, with the surest caption and the count of
    /// observations.
    fn sightings(&self, records: &BTreeSet<RecordId>, attributes: &[Attribute]) -> VisitSightings {
        let given: BTreeSet<usize> =
            records.iter().filter_map(|id| self.by_record.get(id)).copied().collect();
        let mut sightings = VisitSightings::new();
        for (at, observation) in self.all.iter().enumerate() {
            if given.contains(&at) || observation.names(attributes) {
                let sighting =
                    sightings.entry((observation.viewpoint, observation.visit)).or_default();
                sighting.confidence = sighting.confidence.max(observation.confidence);
                sighting.observations += 1;
            }
        }
        sightings
    }

    /// Existence probability of one visit's sighting: the odds of its surest caption, times the
    /// likelihood ratios of the neighbouring visits and of the prior.
    fn existence(&self, at: (usize, usize), sightings: &VisitSightings) -> f32 {
        let (viewpoint, number) = at;
        let visits = self.viewpoints.get(viewpoint).map(Vec::as_slice).unwrap_or_default();
        let (Some(visit), Some(sighting)) = (visits.get(number), sightings.get(&at)) else {
            return 1.0;
        };
        if sighting.confidence >= 1.0 {
            return 1.0;
        }
        let mut odds = sighting.confidence / (1.0 - sighting.confidence);
        if sighting.observations < visit.observations.len() {
            odds *= (1.0 - REDETECTION_RATE) / (1.0 - MISDETECTION_REPEAT_RATE);
        }
        let is_telling = |it: &ViewpointVisit| is_telling_of(it, visit);
        let beside = [number.checked_sub(1), number.checked_add(1)];
        for next in beside.into_iter().flatten() {
            if !visits.get(next).is_some_and(is_telling) {
                continue;
            }
            odds *= if sightings.contains_key(&(viewpoint, next)) {
                REDETECTION_RATE / MISDETECTION_REPEAT_RATE
            } else {
                (1.0 - REDETECTION_RATE) / (1.0 - MISDETECTION_REPEAT_RATE)
            };
        }
        // Rule of succession as the prior: a thing never seen before, in so many observations
        // of its place, is hardly real.
        let looked = as_f32(visits.iter().filter(|it| is_telling(it)).count()) - 1.0;
        let others = sightings.iter().filter(|(other, _)| **other != at);
        let seen: f32 = others.map(|(_, it)| it.confidence).sum();
        odds *= (1.0 + seen) / (1.0 + looked.max(seen));
        odds / (1.0 + odds)
    }
}

impl Observation {
    fn names(&self, attributes: &[Attribute]) -> bool {
        self.named.iter().any(|it| are_alike(&it.attributes, attributes))
    }
}

/// Whether no attribute of one contradicts the other.
fn are_alike(a: &[Attribute], b: &[Attribute]) -> bool {
    fit(a, b).is_some() && fit(b, a).is_some()
}

/// Whether two visits to a viewpoint are near enough in time for one to be evidence of the
/// other.
fn is_telling_of(one: &ViewpointVisit, other: &ViewpointVisit) -> bool {
    one.first.since(other.last) <= HISTORY_SPAN && other.first.since(one.last) <= HISTORY_SPAN
}

/// By viewpoint and visit.
type VisitSightings = BTreeMap<(usize, usize), VisitSighting>;

/// Evidence of one visit for a thing.
#[derive(Debug, Default)]
struct VisitSighting {
    confidence: f32,
    observations: usize,
}

#[expect(clippy::cast_precision_loss, reason = "at most some thousands")]
fn as_f32(number: usize) -> f32 {
    number as f32
}

/// Whether a caption has a confidence below 1.
pub(super) fn is_unsure(record: &Record) -> bool {
    record.confidence.is_some_and(|it| it < 1.0)
}

/// Confidence of a single mention: a wrong caption is mostly wrong in one of its mentions.
fn mention_confidence(record: &Record) -> f32 {
    let Some(confidence) = record.confidence else { return 1.0 };
    let things = record.parsed.objects().count().max(1);
    1.0 - (1.0 - confidence) / as_f32(things)
}

/// Whether two records look at one scene: one camera at nearly one pose.
pub(super) fn is_one_viewpoint(
    a: &Record,
    a_words: Option<&PlaceWords>,
    b: &Record,
    b_words: Option<&PlaceWords>,
) -> bool {
    let (Some(from), Some(to)) = (a.meta.pose, b.meta.pose) else { return false };
    let said = a_words.zip(b_words);
    // Another camera on the same robot has another view.
    let (one, other) = (&a.meta, &b.meta);
    one.source == other.source
        && (&one.map_id, &one.frame_id) == (&other.map_id, &other.frame_id)
        && from.distance_metres(&to) <= VIEWPOINT_METRES
        && from.turn_radians(&to).is_none_or(|turn| turn <= VIEWPOINT_RADIANS)
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

    /// Existence probability of the last of `seen` as a red mug, with one confidence for all
    /// captions.
    fn existence(seen: &[Seen], confidence: Option<f32>) -> f32 {
        let mut records = records(seen);
        for record in &mut records {
            record.confidence = confidence;
        }
        let last = *records.last().map(|it| &it.id).unwrap();
        let mug = sought("a red mug");
        let attributes = mug.attributes.clone();
        let history = PlaceHistory::of(records, &mug);
        history.existences(&BTreeSet::from([last]), &attributes)[&last]
    }

    fn rounds(captions: &[&'static str]) -> Vec<Seen> {
        (0..).zip(captions).map(|(at, it)| (at * 2 * HOUR, 0.0, *it)).collect()
    }

    #[test]
    fn a_single_sighting_has_the_confidence_of_its_caption() {
        for confidence in [0.2, 0.6, 0.9] {
            let alone = existence(&rounds(&[RED]), Some(confidence));
            assert!((alone - confidence).abs() < 1e-6, "{confidence}: {alone}");
        }
    }

    #[test]
    fn sightings_of_sure_captions_are_certain_whatever_other_visits_show() {
        let against = rounds(&[NONE, BLUE, BLUE, NONE, BLUE, RED]);
        assert!((existence(&against, None) - 1.0).abs() < f32::EPSILON);
        assert!((existence(&against, Some(1.0)) - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn repeated_sightings_are_real_and_single_ones_are_misdetections() {
        assert!(existence(&rounds(&[RED, RED, RED, RED]), Some(0.6)) > 0.62);
        assert!(existence(&rounds(&[BLUE, NONE, BLUE, RED]), Some(0.6)) < 0.3);
        // Its kind was seen elsewhere: it may have been brought.
        let brought: Vec<Seen> = (0..9)
            .map(|at| (at * 2 * HOUR + 5, 9.0, AWAY))
            .chain((0..3).map(|at| (at * 2 * HOUR, 0.0, NONE)))
            .chain([(18 * HOUR, 0.0, RED)])
            .collect();
        assert!(existence(&brought, Some(0.8)) > EXISTENCE_MIN);
        let never: Vec<Seen> = brought.iter().filter(|it| it.2 != AWAY).copied().collect();
        assert!(existence(&never, Some(0.8)) < existence(&brought, Some(0.8)));
    }

    #[test]
    fn a_new_thing_is_real_where_its_caption_is_nearly_sure() {
        assert!(existence(&rounds(&[NONE, NONE, NONE, RED]), Some(0.95)) > EXISTENCE_MIN);
        assert!(existence(&rounds(&[NONE, NONE, NONE, RED]), Some(0.6)) < EXISTENCE_MIN);
    }

    #[test]
    fn another_observation_of_the_visit_without_the_thing_lowers_its_probability() {
        let one = existence(&[(0, 0.0, RED)], Some(0.8));
        let two = existence(&[(0, 0.0, NONE), (1, 0.0, RED)], Some(0.8));
        assert!(two < one - 0.1, "{two} {one}");
    }

    #[test]
    fn observations_of_another_place_or_day_are_no_evidence() {
        let alone = existence(&[(0, 0.0, RED)], Some(0.7));
        let kitchen = "a laptop on a white shelf in the kitchen";
        for seen in [
            [(0, 5.0, NONE), (120, 0.0, RED)],
            [(0, 0.0, kitchen), (120, 0.0, RED)],
            [(0, 0.0, NONE), (30 * HOUR, 0.0, RED)],
        ] {
            assert!((existence(&seen, Some(0.7)) - alone).abs() < 1e-6, "{seen:?}");
        }
    }
}
