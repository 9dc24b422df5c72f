//! Which of several objects a request means: the one used most, seen last, nearest
//! to something.
//!
//! Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;

use crate::base::RecordId;
use crate::base::phrase_time::When;
use crate::base::pose::metres_between;
use crate::base::time::{Timestamp, Zone};
use crate::index::mention::fit::{Fit, fit};
use crate::index::mention::mentions;
use crate::index::phrases::ObjectQuery;
use crate::memory::episodic::instances::{Instance, Visit};
use crate::memory::episodic::noun_phrases::is_person;
use crate::memory::episodic::place::place_of;
use crate::store::Record;

/// What singles one out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankingCriteria {
    pub by: RankBy,
    /// What it was beside, on or in.
    pub around: Vec<ObjectQuery>,
    /// What somebody did with it.
    pub doing: Option<String>,
    /// When that was; any of them.
    pub when: Vec<When>,
}

/// The order in which objects come.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum RankBy {
    /// Those that fit the request on most occasions.
    #[default]
    MostOften,
    LeastOften,
    Latest,
    Earliest,
    /// Nearest to where the robot stood when it saw the thing that is named.
    NearestTo(Vec<[f64; 3]>),
}

/// Of two persons' verbs one can be seen ("reading"), the other one cannot.
const INVISIBLE_VERBS: &[&str] =
    &["use", "used", "uses", "using", "need", "needed", "have", "had", "own"];

/// How much more a visit with a person says of use than one without.
const PERSON_WEIGHT: f64 = 2.0;

/// Puts the objects that `criteria` mean first. Where nothing of what they say was ever
/// seen, that part of it does not count.
pub fn rank(
    instances: &mut Vec<Instance>,
    records: &BTreeMap<RecordId, Record>,
    criteria: &RankingCriteria,
    zone: Zone,
) {
    let features: BTreeMap<RecordId, RecordFeatures> =
        records.iter().map(|(id, record)| (*id, RecordFeatures::of(record, criteria))).collect();
    let constraints = ActiveConstraints::met_by_any(instances, &features, criteria, zone);
    let mut scored: Vec<(RankKey, Instance)> = std::mem::take(instances)
        .into_iter()
        .map(|it| (RankKey::of(&it, &features, records, criteria, constraints, zone), it))
        .collect();
    scored.sort_by(|(a, one), (b, other)| {
        let by_order = match &criteria.by {
            RankBy::MostOften => b.often.total_cmp(&a.often),
            RankBy::LeastOften => a.often.total_cmp(&b.often),
            RankBy::Latest => b.last.cmp(&a.last),
            RankBy::Earliest => a.first.cmp(&b.first),
            RankBy::NearestTo(_) => a.metres.total_cmp(&b.metres),
        };
        // What may be nothing but slips comes after all that was seen.
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

/// What one record says of the criteria.
struct RecordFeatures {
    /// How many of the things around it are there, and how surely.
    around: usize,
    has_person: bool,
    /// Somebody does what the criteria say.
    is_done: bool,
}

impl RecordFeatures {
    fn of(record: &Record, criteria: &RankingCriteria) -> Self {
        let seen = mentions(&record.caption);
        let shown = |thing: &ObjectQuery| {
            let named = seen.iter().filter(|it| thing.names(it));
            let fits = named.filter_map(|it| fit(&it.attributes, &thing.attributes));
            // "a windowsill" may be the grey one, "a grey windowsill" is.
            fits.max().map_or(0, |fit| if fit == Fit::Full { 2 } else { 1 })
        };
        let around = criteria.around.iter().map(shown);
        let has_person = seen.iter().any(is_person);
        let is_done =
            criteria.doing.as_deref().is_some_and(|doing| {
                let stem = verb_stem(doing);
                record.caption.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| {
                    !stem.is_empty() && verb_stem(word) == stem && word.ends_with("ing")
                })
            });
        Self { around: around.sum(), has_person, is_done }
    }
}

/// "read" of "reading", "drink" of "drinks".
fn verb_stem(word: &str) -> &str {
    let word = word.split(' ').next().unwrap_or_default();
    ["ing", "ed", "s"]
        .iter()
        .find_map(|end| word.strip_suffix(end).filter(|stem| stem.len() > 2))
        .unwrap_or(word)
}

/// Which parts of the criteria can be asked for: those that some visit fulfils.
#[derive(Debug, Clone, Copy)]
struct ActiveConstraints {
    when: bool,
    /// How many of the things around it, and how surely, at least.
    around: usize,
    done: bool,
    /// A person where the deed itself is seen nowhere or cannot be.
    person: bool,
}

impl ActiveConstraints {
    fn met_by_any(
        instances: &[Instance],
        features: &BTreeMap<RecordId, RecordFeatures>,
        criteria: &RankingCriteria,
        zone: Zone,
    ) -> Self {
        let visits = || instances.iter().flat_map(|it| &it.visits);
        let when = !criteria.when.is_empty() && visits().any(|it| is_in_time(it, criteria, zone));
        let timely = || visits().filter(move |it| !when || is_in_time(it, criteria, zone));
        let seen = || timely().flat_map(|it| it.records.iter().filter_map(|id| features.get(id)));
        let around = seen().map(|it| it.around).max().unwrap_or(0);
        let placed = || seen().filter(move |it| it.around >= around);
        let is_seen =
            criteria.doing.as_deref().is_some_and(|doing| !INVISIBLE_VERBS.contains(&doing));
        let done = is_seen && placed().any(|it| it.is_done);
        let person = is_seen && !done && placed().any(|it| it.has_person);
        Self { when, around, done, person }
    }

    fn are_met_by(
        self,
        visit: &Visit,
        features: &BTreeMap<RecordId, RecordFeatures>,
        criteria: &RankingCriteria,
        zone: Zone,
    ) -> bool {
        let mut seen = visit.records.iter().filter_map(|id| features.get(id));
        (!self.when || is_in_time(visit, criteria, zone))
            && seen.any(|it| {
                it.around >= self.around
                    && (!self.done || it.is_done)
                    && (!self.person || it.has_person)
            })
    }
}

fn is_in_time(visit: &Visit, criteria: &RankingCriteria, zone: Zone) -> bool {
    criteria.when.iter().any(|when| when.holds(visit.first, visit.last, zone))
}

/// How an object stands among the others.
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
        features: &BTreeMap<RecordId, RecordFeatures>,
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
        // What is seldom used is seldom out, whoever passes by.
        let is_use = criteria.by != RankBy::LeastOften
            && criteria.doing.as_deref().is_some_and(|doing| INVISIBLE_VERBS.contains(&doing));
        let often = if is_use { count_uses(&met, features, zone) } else { expected_count(&met) };
        // One that never fits comes after all that do.
        let never = met.is_empty();
        Self {
            often,
            visits: met.len(),
            first: if never { Timestamp::LATEST } else { earliest(&met) },
            last: met.iter().map(|it| it.last).max().unwrap_or(Timestamp::EPOCH),
            metres: match &criteria.by {
                RankBy::NearestTo(anchors) => nearest(instance, anchors, records),
                RankBy::MostOften | RankBy::LeastOften | RankBy::Latest | RankBy::Earliest => 0.0,
            },
        }
    }
}

/// How many of the visits were such, most likely.
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

/// What stands on its shelf all day is not used more for being seen more often: it
/// counts once a day and place, and people with it count more.
fn count_uses(visits: &[&Visit], features: &BTreeMap<RecordId, RecordFeatures>, zone: Zone) -> f64 {
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

/// Metres from where the object was last seen to the nearest anchor.
fn nearest(instance: &Instance, anchors: &[[f64; 3]], records: &BTreeMap<RecordId, Record>) -> f64 {
    let positions = instance.records.iter().rev().filter_map(|id| records.get(id)?.meta.pose);
    let Some(last) = positions.map(|pose| pose.position).next() else { return f64::INFINITY };
    anchors.iter().map(|anchor| metres_between(*anchor, last)).fold(f64::INFINITY, f64::min)
}

/// Names of the places that records show, with the newest record of each and how
/// many show it; the most frequent first.
pub fn places<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<(String, &'a Record, usize)> {
    let mut found: BTreeMap<String, (&Record, usize)> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for record in records.filter(|it| seen.insert(it.id)) {
        let Some(words) = place_of(&record.caption).map(|it| it.text()) else { continue };
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
    use crate::base::phrase_time;
    use crate::base::time::Window;
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

    fn check(criteria: &RankingCriteria, expect: &[&str]) {
        let mut found = grouped(SEEN, "mug");
        let by_id = records(SEEN).into_iter().map(|it| (it.id, it)).collect();
        rank(&mut found, &by_id, criteria, Zone::from_name("UTC").unwrap());
        let found: Vec<&str> = found.iter().map(|it| it.desc.as_str()).collect();
        assert_eq!(found, expect, "{criteria:?}");
    }

    #[test]
    fn by_how_often_and_when() {
        let by = |by| RankingCriteria { by, ..RankingCriteria::default() };
        // Of equally many visits those on more days come first.
        check(&by(RankBy::MostOften), &["blue mug", "red mug", "green mug"]);
        check(&by(RankBy::LeastOften), &["green mug", "blue mug", "red mug"]);
        check(&by(RankBy::Latest), &["green mug", "blue mug", "red mug"]);
        check(&by(RankBy::Earliest), &["red mug", "blue mug", "green mug"]);
        let sofa = vec![[9.0, 0.0, 0.0]];
        check(&by(RankBy::NearestTo(sofa)), &["green mug", "blue mug", "red mug"]);
    }

    #[test]
    fn what_stands_on_its_shelf_is_not_used_for_being_seen() {
        let used = RankingCriteria { doing: Some("use".to_owned()), ..RankingCriteria::default() };
        check(&used, &["blue mug", "red mug", "green mug"]);
    }

    #[test]
    fn what_was_around_and_when_count_where_they_were_seen_at_all() {
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
            let found = phrase_time::find(text).into_iter().map(|it| it.time.resolve(now, zone));
            RankingCriteria { when: found.collect(), ..RankingCriteria::default() }
        };
        assert_ne!(when("on Monday").when[0].window, Window::ALL);
        check(&when("on Monday"), &["red mug", "blue mug", "green mug"]);
        check(&when("last year"), &["blue mug", "red mug", "green mug"]);
    }

    #[test]
    fn a_deed_that_is_seen_decides() {
        let mut seen = SEEN.to_vec();
        seen.push((2 * DAY, 5.0, "a person drinking from a green mug"));
        let mut found = grouped(&seen, "mug");
        let by_id = records(&seen).into_iter().map(|it| (it.id, it)).collect();
        let criteria =
            RankingCriteria { doing: Some("drinking".to_owned()), ..RankingCriteria::default() };
        rank(&mut found, &by_id, &criteria, Zone::from_name("UTC").unwrap());
        assert_eq!(found[0].desc, "green mug");
    }
}
