//! Ranks objects by a request's criteria: used most, seen last, nearest to something.
//!
//! Pure. A lexicographic order: real objects first, then the criterion, then the number of
//! visits.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;

use crate::base::RecordId;
use crate::base::pose::metres_between;
use crate::base::time::{Timestamp, Zone};
use crate::index::phrases::ObjectQuery;
use crate::language::deeds::{AskedDeed, Done};
use crate::language::fit::{Fit, fit};
use crate::language::mention::{Attribute, Mention, mentions};
use crate::language::place::PlaceWords;
use crate::language::time::When;
use crate::language::words::INVISIBLE_VERBS;
use crate::memory::episodic::instances::{Instance, Visit};
use crate::store::Record;

/// Criteria of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankingCriteria {
    pub by: RankBy,
    /// Things that it was beside, on or in.
    pub around: Vec<ObjectQuery>,
    /// What somebody did with it.
    pub doing: Option<DoneWith>,
    /// Times of that; any of them.
    pub when: Vec<When>,
}

/// What somebody did with a thing.
#[derive(Debug, Clone, PartialEq)]
pub struct DoneWith {
    pub deed: AskedDeed,
    /// Whether it can be seen.
    pub is_visible: bool,
    pub thing: ObjectQuery,
}

impl DoneWith {
    pub fn new(verb: &str, doer: Option<&str>, thing: ObjectQuery) -> Self {
        let is_visible = !INVISIBLE_VERBS.contains(verb);
        Self { deed: AskedDeed::new(verb, doer), is_visible, thing }
    }
}

/// Criterion of the order.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum RankBy {
    /// Most visits that satisfy the constraints.
    #[default]
    MostOften,
    LeastOften,
    Latest,
    Earliest,
    /// The latest of all visits the longest ago.
    LongestAgo,
    /// Nearest to the robot's positions at the sightings of an anchor.
    NearestTo(Vec<[f64; 3]>),
}

/// Weight of a visit with a person as a sign of use.
const PERSON_WEIGHT: f64 = 2.0;

/// Sorts `instances` by `criteria`. A constraint that no visit satisfies is dropped.
pub fn rank(
    instances: &mut Vec<Instance>,
    records: &BTreeMap<RecordId, Record>,
    criteria: &RankingCriteria,
    zone: Zone,
) {
    let seen: Vec<(Instance, Features)> = std::mem::take(instances)
        .into_iter()
        .map(|it| {
            let features = features_of(&it, records, criteria);
            (it, features)
        })
        .collect();
    let constraints = ActiveConstraints::is_met_by_any(&seen, criteria, zone);
    let mut scored: Vec<(RankKey, Instance)> = seen
        .into_iter()
        .map(|(it, features)| {
            (RankKey::of(&it, &features, records, criteria, constraints, zone), it)
        })
        .collect();
    scored.sort_by(|(a, one), (b, other)| {
        let by_order = match &criteria.by {
            RankBy::MostOften => b.often.total_cmp(&a.often),
            RankBy::LeastOften => a.often.total_cmp(&b.often),
            RankBy::Latest => b.last.cmp(&a.last),
            RankBy::Earliest => a.first.cmp(&b.first),
            // One without a matching visit comes last.
            RankBy::LongestAgo => (a.visits == 0, a.last).cmp(&(b.visits == 0, b.last)),
            RankBy::NearestTo(_) => a.metres.total_cmp(&b.metres),
        };
        // Possible misdetections come last.
        other
            .is_likely_real()
            .cmp(&one.is_likely_real())
            .then(by_order)
            .then_with(|| b.often.total_cmp(&a.often))
            .then_with(|| b.visits.cmp(&a.visits))
            .then_with(|| (other.days_seen, other.last_seen).cmp(&(one.days_seen, one.last_seen)))
            .then_with(|| one.records.cmp(&other.records))
    });
    *instances = scored.into_iter().map(|(_, instance)| instance).collect();
}

/// Features of the records of one instance.
type Features = BTreeMap<RecordId, RecordFeatures>;

fn features_of(
    instance: &Instance,
    records: &BTreeMap<RecordId, Record>,
    criteria: &RankingCriteria,
) -> Features {
    let described = mentions(&instance.desc).into_iter().next();
    let described = described.map(|it| it.attributes).unwrap_or_default();
    let records = instance.records.iter().filter_map(|id| records.get(id));
    records.map(|it| (it.id, RecordFeatures::of(it, &described, criteria))).collect()
}

/// Features of one record of an instance for the criteria.
struct RecordFeatures {
    /// Match count with the things around it, 2 for a full and 1 for a possible match.
    around: usize,
    has_person: bool,
    done: Done,
}

impl RecordFeatures {
    /// `described`: what is said of the instance.
    fn of(record: &Record, described: &[Attribute], criteria: &RankingCriteria) -> Self {
        let shown = |thing: &ObjectQuery| {
            let fits = record.parsed.shown_mentions().filter_map(|it| thing.fit(it));
            // "a windowsill" may be the grey one, "a grey windowsill" is.
            fits.max().map_or(0, |fit| match fit {
                Fit::Full => 2,
                Fit::Partial | Fit::Possible => 1,
                Fit::Related => 0,
            })
        };
        let around = criteria.around.iter().map(shown);
        let has_person = record.parsed.has_person();
        let done = criteria.doing.as_ref().map_or(Done::Not, |DoneWith { deed, thing, .. }| {
            let is_it =
                |it: &Mention| thing.fit(it).is_some() && fit(&it.attributes, described).is_some();
            deed.done(&record.parsed, &is_it)
        });
        Self { around: around.sum(), has_person, done }
    }
}

/// Constraints that at least one visit satisfies.
#[derive(Debug, Clone, Copy)]
struct ActiveConstraints {
    when: bool,
    /// Least match count with the things around it.
    around: usize,
    /// Least that the action is seen of.
    done: Done,
    /// A person, where the action is seen nowhere or cannot be seen.
    person: bool,
}

impl ActiveConstraints {
    fn is_met_by_any(
        instances: &[(Instance, Features)],
        criteria: &RankingCriteria,
        zone: Zone,
    ) -> Self {
        let visits =
            || instances.iter().flat_map(|(it, of)| it.visits.iter().map(move |it| (it, of)));
        let is_timely = |(it, _): &(&Visit, &Features)| is_in_time(it, criteria, zone);
        let when = !criteria.when.is_empty() && visits().any(|it| is_timely(&it));
        let timely = || visits().filter(move |it| !when || is_timely(it));
        let seen =
            || timely().flat_map(|(it, of)| it.records.iter().filter_map(move |id| of.get(id)));
        let around = seen().map(|it| it.around).max().unwrap_or(0);
        let placed = || seen().filter(move |it| it.around >= around);
        let is_visible = criteria.doing.as_ref().is_some_and(|it| it.is_visible);
        // How often a thing is used its visits tell better than the few captions that show it.
        let tells = is_visible
            || matches!(criteria.by, RankBy::Latest | RankBy::Earliest | RankBy::LongestAgo);
        let done = placed().map(|it| it.done).max().filter(|_| tells).unwrap_or(Done::Not);
        let is_seen = done != Done::Not;
        let person = is_visible && !is_seen && placed().any(|it| it.has_person);
        Self { when, around, done, person }
    }

    fn are_met_by(
        self,
        visit: &Visit,
        features: &Features,
        criteria: &RankingCriteria,
        zone: Zone,
    ) -> bool {
        let mut seen = visit.records.iter().filter_map(|id| features.get(id));
        (!self.when || is_in_time(visit, criteria, zone))
            && seen.any(|it| {
                it.around >= self.around && it.done >= self.done && (!self.person || it.has_person)
            })
    }
}

fn is_in_time(visit: &Visit, criteria: &RankingCriteria, zone: Zone) -> bool {
    criteria.when.iter().any(|when| when.holds(visit.first, visit.last, zone))
}

/// Sort key of an object.
struct RankKey {
    often: f64,
    visits: usize,
    first: Timestamp,
    last: Timestamp,
    metres: f64,
}

impl RankKey {
    fn of(
        instance: &Instance,
        features: &Features,
        records: &BTreeMap<RecordId, Record>,
        criteria: &RankingCriteria,
        constraints: ActiveConstraints,
        zone: Zone,
    ) -> Self {
        let met: Vec<&Visit> = instance
            .visits
            .iter()
            .filter(|it| constraints.are_met_by(it, features, criteria, zone))
            .collect();
        // Least used is counted by visits: a thing seldom used is seldom out, whoever passes
        // by.
        let is_use = criteria.by != RankBy::LeastOften
            && criteria.doing.as_ref().is_some_and(|it| !it.is_visible);
        let often = if is_use { count_uses(&met, features, zone) } else { expected_count(&met) };
        // An object without a matching visit comes last.
        let never = met.is_empty();
        Self {
            often,
            visits: met.len(),
            first: if never { Timestamp::LATEST } else { earliest(&met) },
            last: met.iter().map(|it| it.last).max().unwrap_or(Timestamp::EPOCH),
            metres: match &criteria.by {
                RankBy::NearestTo(anchors) => nearest(instance, anchors, records),
                RankBy::MostOften
                | RankBy::LeastOften
                | RankBy::Latest
                | RankBy::Earliest
                | RankBy::LongestAgo => 0.0,
            },
        }
    }
}

/// Expected number of real visits.
fn expected_count(visits: &[&Visit]) -> f64 {
    visits.iter().map(|it| f64::from(it.existence)).sum()
}

fn earliest(visits: &[&Visit]) -> Timestamp {
    visits.iter().map(|it| it.first).min().unwrap_or(Timestamp::LATEST)
}

#[expect(clippy::cast_precision_loss, reason = "at most some thousands")]
fn as_f64(number: usize) -> f64 {
    number as f64
}

/// Occasions of use: visits count once a day and place, since a thing on its shelf is seen all
/// day, and visits with a person count more.
fn count_uses(visits: &[&Visit], features: &Features, zone: Zone) -> f64 {
    let mut occasions: Vec<(NaiveDate, usize)> = Vec::new();
    let mut with_people = 0;
    for visit in visits {
        let occasion = (zone.day(visit.first), visit.place);
        if occasions.last() != Some(&occasion) {
            occasions.push(occasion);
        }
        let seen = visit.records.iter().filter_map(|id| features.get(id));
        with_people += usize::from(seen.into_iter().any(|it| it.has_person));
    }
    as_f64(occasions.len()) + PERSON_WEIGHT * as_f64(with_people)
}

/// Metres from the object's last position to the nearest anchor.
fn nearest(instance: &Instance, anchors: &[[f64; 3]], records: &BTreeMap<RecordId, Record>) -> f64 {
    let positions = instance.records.iter().rev().filter_map(|id| records.get(id)?.meta.pose);
    let Some(last) = positions.map(|pose| pose.position).next() else { return f64::INFINITY };
    anchors.iter().map(|anchor| metres_between(*anchor, last)).fold(f64::INFINITY, f64::min)
}

/// Place names in `records`, each with its newest record and count; the most frequent first.
pub fn places<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<(String, &'a Record, usize)> {
    let mut found: BTreeMap<String, (&Record, usize)> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for record in records.filter(|it| seen.insert(it.id)) {
        let Some(words) = record.parsed.place.as_ref().map(PlaceWords::text) else { continue };
        let (newest, count) = found.entry(words).or_insert((record, 0));
        *count += 1;
        if record.meta.taken_at > newest.meta.taken_at {
            *newest = record;
        }
    }
    let mut places: Vec<(String, &Record, usize)> =
        found.into_iter().map(|(words, (record, count))| (words, record, count)).collect();
    places.sort_by_key(|(_, _, count)| Reverse(*count));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Window;
    use crate::language::time;
    use crate::memory::episodic::instances::tests::{MONDAY, Seen, grouped, records, sought};
    use std::time::Duration;

    const HOUR: u64 = 60;
    const DAY: u64 = 24 * HOUR;

    const SEEN: &[Seen] = &[
        (0, 0.0, "a red mug on a wooden shelf in the kitchen"),
        (3 * HOUR, 0.0, "a red mug on a wooden shelf in the kitchen"),
        (6 * HOUR, 0.0, "a red mug on a wooden shelf in the kitchen"),
        (HOUR, 5.0, "a blue mug next to a laptop on a white desk in the office"),
        (7 * HOUR, 9.0, "a blue mug on a grey sofa in the living room"),
        (DAY, 5.0, "a person with a blue mug at a white desk in the office"),
        (DAY + HOUR, 9.0, "a green mug next to a laptop on a grey sofa in the living room"),
    ];

    fn done(verb: &str, doer: Option<&str>) -> DoneWith {
        DoneWith::new(verb, doer, sought("mug"))
    }

    fn check(criteria: &RankingCriteria, expect: &[&str]) {
        let mut found = grouped(SEEN, "mug");
        let by_id = records(SEEN).into_iter().map(|it| (it.id, it)).collect();
        rank(&mut found, &by_id, criteria, Zone::from_name("UTC").unwrap());
        let found: Vec<&str> = found.iter().map(|it| it.desc.as_str()).collect();
        assert_eq!(found, expect, "{criteria:?}");
    }

    #[test]
    fn objects_are_ranked_by_count_time_and_distance() {
        let by = |by| RankingCriteria { by, ..RankingCriteria::default() };
        // Of equally many visits those on more days come first.
        check(&by(RankBy::MostOften), &["blue mug", "red mug", "green mug"]);
        check(&by(RankBy::LeastOften), &["green mug", "blue mug", "red mug"]);
        check(&by(RankBy::Latest), &["green mug", "blue mug", "red mug"]);
        check(&by(RankBy::Earliest), &["red mug", "blue mug", "green mug"]);
        check(&by(RankBy::LongestAgo), &["red mug", "blue mug", "green mug"]);
        let sofa = vec![[9.0, 0.0, 0.0]];
        check(&by(RankBy::NearestTo(sofa)), &["green mug", "blue mug", "red mug"]);
    }

    #[test]
    fn sightings_on_a_shelf_do_not_count_as_use() {
        let used = RankingCriteria { doing: Some(done("use", None)), ..RankingCriteria::default() };
        check(&used, &["blue mug", "red mug", "green mug"]);
    }

    #[test]
    fn constraints_count_only_where_some_visit_satisfies_them() {
        let around = |thing: &str| RankingCriteria {
            around: vec![sought(thing)],
            ..RankingCriteria::default()
        };
        check(&around("shelf"), &["red mug", "blue mug", "green mug"]);
        check(&around("laptop"), &["blue mug", "green mug", "red mug"]);
        check(&around("umbrella"), &["blue mug", "red mug", "green mug"]);
        let zone = Zone::from_name("UTC").unwrap();
        let now = Timestamp::from_seconds(MONDAY).unwrap().plus(Duration::from_secs(60 * DAY * 3));
        let when = |text: &str| {
            let found = time::find(text).into_iter().map(|it| it.time.resolve(now, zone));
            RankingCriteria { when: found.collect(), ..RankingCriteria::default() }
        };
        assert_ne!(when("on Monday").when[0].window, Window::ALL);
        check(&when("on Monday"), &["red mug", "blue mug", "green mug"]);
        check(&when("last year"), &["blue mug", "red mug", "green mug"]);
    }

    #[test]
    fn an_action_seen_in_a_caption_decides() {
        let mut seen = SEEN.to_vec();
        seen.push((2 * DAY, 5.0, "a person drinking from a green mug"));
        let mut found = grouped(&seen, "mug");
        let by_id = records(&seen).into_iter().map(|it| (it.id, it)).collect();
        let criteria =
            RankingCriteria { doing: Some(done("drinking", None)), ..RankingCriteria::default() };
        rank(&mut found, &by_id, &criteria, Zone::from_name("UTC").unwrap());
        assert_eq!(found[0].desc, "green mug");
    }

    #[test]
    fn what_it_was_done_with_and_by_whom_decides_before_the_mere_verb() {
        let captions = [
            "a woman drinking from a red mug next to a blue mug",
            "a blue mug next to a man drinking from a glass",
            "a man drinking from a green mug",
        ];
        let seen: Vec<Seen> = (0..).zip(captions).map(|(at, it)| (at * DAY, 0.0, it)).collect();
        let best = |doer: Option<&str>, deeds: [(usize, usize); 3]| {
            let mut found = grouped(&seen, "mug");
            let mut by_id: BTreeMap<RecordId, Record> =
                records(&seen).into_iter().map(|it| (it.id, it)).collect();
            for (record, (who, what)) in by_id.values_mut().zip(deeds) {
                for deed in &mut record.parsed.deeds {
                    (deed.who, deed.what) = (vec![who], vec![what]);
                }
            }
            let by = RankBy::Earliest;
            let doing = Some(done("drinking", doer));
            let criteria = RankingCriteria { by, doing, ..RankingCriteria::default() };
            rank(&mut found, &by_id, &criteria, Zone::from_name("UTC").unwrap());
            found[0].desc.clone()
        };
        // Numbers of who drinks, and from what.
        let deeds = [(0, 1), (1, 2), (0, 1)];
        assert_eq!(best(None, deeds), "red mug");
        assert_eq!(best(Some("woman"), deeds), "red mug");
        assert_eq!(best(Some("man"), deeds), "green mug");
        // Beside whoever drinks from another thing it may be drunk from all the same.
        assert_eq!(best(Some("man"), [(0, 1), (1, 2), (0, 0)]), "blue mug");
    }
}
