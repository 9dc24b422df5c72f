//! Later looks: what the camera showed from the same viewpoint after a thing was last seen there.
//! Each look without the thing makes it less likely that it is still there.
//!
//! The negative evidence of a persistence filter (Rosen et al. 2016, "Towards lifelong
//! feature-based mapping"), with the detection rate of this viewpoint in place of a fixed one: that
//! of the thing itself, and before much is known of it, that of whatever is seen there, as some
//! captions list all that stands on a table and others tell what somebody does at it.

use std::collections::BTreeSet;

use crate::base::RecordId;
use crate::base::area::Area;
use crate::base::time::Timestamp;
use crate::index::phrases::ObjectQuery;
use crate::language::caption::Presence;
use crate::language::fit::Fit;
use crate::language::mention::Mention;
use crate::memory::episodic::data_association::VISIT_GAP;
use crate::memory::episodic::sighting_confidence::{
    REDETECTION_RATE, VIEWPOINT_METRES, is_one_viewpoint,
};
use crate::memory::episodic::{Episodic, MemoryError};
use crate::search::Filter;
use crate::store::Record;

/// Looks at a place since a thing was last seen, none of which shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaterLooks {
    /// Records, of which those of one visit are hardly independent.
    pub count: usize,
    /// Probability that none of them shows the thing although it is there.
    pub miss_probability: f64,
}

/// Newest looks at a place that are read.
const LOOKS_MAX: usize = 128;
/// Looks that the prior of the detection rate counts for.
const PRIOR_LOOKS: f64 = 2.0;
/// Weight of a further look of the same visit: it has the same light, and the same captioner
/// overlooks the same thing again.
const SAME_VISIT_WEIGHT: f64 = 0.5;
/// Probability that a caption denies a thing that is there: "a table without a mug".
const DENIED_WRONGLY: f64 = 0.05;
/// A thing may stay covered, or be overlooked for what stands beside it, however often.
const MISS_MIN: f64 = 0.05;

impl Episodic {
    /// Looks at the place of `sighting`, which shows `thing`, after `last_seen`. The thing was
    /// there from `since` on: how often looks showed it until then is the detection rate.
    /// `None` where nobody looked again, or the thing is seen there.
    pub fn later_looks(
        &self,
        thing: &str,
        sighting: &Record,
        since: Timestamp,
        last_seen: Timestamp,
    ) -> Result<Option<LaterLooks>, MemoryError> {
        let wanted = self.read_query(thing)?;
        let Some((wanted, filter)) = wanted.zip(filter_around(sighting)) else {
            return Ok(None);
        };
        let ids: Vec<RecordId> = self.corpus.newest(&filter, LOOKS_MAX, &[]);
        let mut looks = self.store.records(&ids)?;
        let place = sighting.parsed.place.as_ref();
        looks.retain(|it| {
            let is_view = || is_one_viewpoint(sighting, place, it, it.parsed.place.as_ref());
            it.layer.is_none() && is_view()
        });
        looks.sort_by_key(|it| (it.meta.taken_at, it.id));
        Ok(weigh(&looks, &wanted.target, since, last_seen))
    }
}

/// Weighs looks in the order of time, the first of which may be from before the thing was there.
fn weigh(
    looks: &[Record],
    wanted: &ObjectQuery,
    since: Timestamp,
    last_seen: Timestamp,
) -> Option<LaterLooks> {
    let others = others_beside(looks, wanted);
    let shows = |it: &&Record| {
        let mut seen = it.parsed.shown_mentions().filter(|seen| !others.contains(&called(seen)));
        seen.any(|seen| wanted.fit(seen).is_some())
    };
    let split = looks.partition_point(|it| it.meta.taken_at <= last_seen);
    let (before, after) = looks.split_at_checked(split)?;
    if after.is_empty() || after.iter().any(|it| shows(&it)) {
        return None;
    }
    // The first look of its stay shows it by definition.
    let began = before.partition_point(|it| it.meta.taken_at <= since);
    let before = before.get(began..).unwrap_or_default();
    let prior = PRIOR_LOOKS * redetection_rate(looks, wanted);
    let seen = as_f64(before.iter().filter(shows).count());
    let overlooked = 1.0 - (prior + seen) / (PRIOR_LOOKS + as_f64(before.len()));
    let (mut probability, mut denied) = (1.0, false);
    let mut previous: Option<Timestamp> = None;
    for look in after {
        let of_one_visit = previous.is_some_and(|end| look.meta.taken_at.since(end) <= VISIT_GAP);
        let weight = if of_one_visit { SAME_VISIT_WEIGHT } else { 1.0 };
        probability *= overlooked.powf(weight);
        denied |= denies(look, wanted);
        previous = Some(look.end_at);
    }
    let denial = if denied { DENIED_WRONGLY } else { 1.0 };
    let miss_probability = probability.max(MISS_MIN) * denial;
    Some(LaterLooks { count: after.len(), miss_probability })
}

/// How those are called that could be the thing and stood beside it: another car is the wooden one
/// where one look showed it with the yellow one.
fn others_beside(looks: &[Record], wanted: &ObjectQuery) -> BTreeSet<Called> {
    let mut others = BTreeSet::new();
    for look in looks {
        let seen = look.parsed.shown_mentions().filter_map(|it| Some((it, wanted.fit(it)?)));
        let (itself, alike): (Vec<_>, Vec<_>) = seen.partition(|(_, fit)| *fit == Fit::Full);
        if !itself.is_empty() {
            others.extend(alike.into_iter().map(|(it, _)| called(it)));
        }
    }
    // What is said by nothing but its noun is any of them.
    others.retain(|(_, said)| !said.is_empty());
    others
}

/// A thing's noun and what is said of it.
type Called = (String, BTreeSet<String>);

fn called(mention: &Mention) -> Called {
    let said = mention.attributes.iter().map(|it| it.word.clone()).collect();
    (mention.head_stem.clone(), said)
}

/// Share of the things, without the wanted one, that the next look shows again; a low one where
/// they come and go.
fn redetection_rate(looks: &[Record], wanted: &ObjectQuery) -> f64 {
    let things = |it: &Record| -> BTreeSet<String> {
        let shown = it.parsed.things.iter();
        let shown = shown.filter(|it| it.presence == Presence::Shown && !it.is_person);
        let others = shown.filter(|it| !wanted.is_named_by(&it.mention));
        others.map(|it| it.mention.head_stem.clone()).collect()
    };
    let (mut shares, mut pairs) = (PRIOR_LOOKS * f64::from(REDETECTION_RATE), PRIOR_LOOKS);
    for pair in looks.windows(2) {
        let [one, next] = pair else { continue };
        let (these, those) = (things(one), things(next));
        if !these.is_empty() {
            shares += as_f64(these.intersection(&those).count()) / as_f64(these.len());
            pairs += 1.0;
        }
    }
    shares / pairs
}

fn denies(look: &Record, wanted: &ObjectQuery) -> bool {
    let mut absent = look.parsed.things.iter().filter(|it| it.presence == Presence::Absent);
    absent.any(|it| wanted.is_named_by(&it.mention))
}

/// `None` where the robot did not know its position.
fn filter_around(sighting: &Record) -> Option<Filter> {
    let [x, y, z] = sighting.meta.pose?.position;
    let (frame, map) = (&sighting.meta.frame_id, &sighting.meta.map_id);
    let area = Area::new((x, y, Some(z)), VIEWPOINT_METRES, frame, map).ok()?;
    Some(Filter { area: Some(area), ..Filter::default() })
}

#[expect(clippy::cast_precision_loss, reason = "at most some hundreds")]
fn as_f64(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::caption::ParsedThing;
    use crate::memory::episodic::instances::tests::{Seen, records, sought};

    const RED: &str = "a red mug on a wooden desk in the office";
    const NONE: &str = "a laptop on a wooden desk in the office";
    const HOUR: u64 = 60;

    /// Looks, of which the first `stay` are from the time that the thing was there.
    fn weigh_after(seen: &[Seen], stay: usize) -> Option<LaterLooks> {
        let records = records(seen);
        let since = records[0].meta.taken_at;
        weigh(&records, &sought("a red mug"), since, records[stay - 1].meta.taken_at)
    }

    fn rounds(captions: &[&'static str]) -> Vec<Seen> {
        (0..).zip(captions).map(|(at, it)| (at * 2 * HOUR, 0.0, *it)).collect()
    }

    #[test]
    fn each_look_without_the_thing_makes_it_less_likely_there() {
        let miss = |looks: usize| {
            let captions = [vec![RED], vec![NONE; looks]].concat();
            weigh_after(&rounds(&captions), 1).map(|it| (it.count, it.miss_probability))
        };
        assert_eq!(miss(0), None);
        let (one, two, ten) = (miss(1).unwrap(), miss(2).unwrap(), miss(10).unwrap());
        assert_eq!((one.0, two.0, ten.0), (1, 2, 10));
        assert!(one.1 < 0.3 && two.1 < one.1 && ten.1 <= MISS_MIN, "{one:?} {two:?} {ten:?}");
    }

    #[test]
    fn a_thing_that_was_often_overlooked_there_is_missed_with_less_weight() {
        let sure = weigh_after(&rounds(&[RED, RED, RED, RED, NONE]), 4).unwrap();
        let unsure = weigh_after(&rounds(&[RED, NONE, NONE, RED, NONE]), 4).unwrap();
        assert!(sure.miss_probability < 0.5 * unsure.miss_probability, "{sure:?} {unsure:?}");
    }

    #[test]
    fn looks_that_show_nothing_again_say_little() {
        let lists = rounds(&[NONE, NONE, NONE, RED, NONE, NONE]);
        let tells = rounds(&[
            "a boy reading a comic",
            "a man sorting letters",
            "a cat on a folded blanket",
            RED,
            "a woman cutting paper",
            "a girl drawing with chalk",
        ]);
        let miss = |seen: &[Seen]| {
            let records = records(seen);
            let at = records[3].meta.taken_at;
            weigh(&records, &sought("a red mug"), at, at).unwrap().miss_probability
        };
        assert!(miss(&lists) < 0.1 && miss(&tells) > 0.4, "{} {}", miss(&lists), miss(&tells));
    }

    #[test]
    fn a_look_that_may_show_it_is_no_miss() {
        for caption in [RED, "a mug on a wooden desk", "a small red cup and a laptop"] {
            assert_eq!(weigh_after(&rounds(&[RED, NONE, caption]), 1), None, "{caption}");
        }
        assert!(weigh_after(&rounds(&[RED, "a blue mug on a wooden desk"]), 1).is_some());
    }

    #[test]
    fn what_stood_beside_the_thing_is_another_one() {
        let both = "a red mug and a striped mug on a wooden desk";
        let (other, any) = ("a striped mug on a wooden desk", "a mug on a wooden desk");
        assert_eq!(weigh_after(&rounds(&[RED, other]), 1), None, "it may be the red one");
        assert!(weigh_after(&rounds(&[both, other]), 1).is_some());
        assert_eq!(weigh_after(&rounds(&[both, any]), 1), None, "any of both");
    }

    #[test]
    fn looks_of_one_visit_count_less_than_those_of_several() {
        let at_once: Vec<Seen> = vec![(0, 0.0, RED), (60, 0.0, NONE), (61, 0.0, NONE)];
        let apart: Vec<Seen> = vec![(0, 0.0, RED), (60, 0.0, NONE), (180, 0.0, NONE)];
        let miss = |seen: &[Seen]| weigh_after(seen, 1).unwrap().miss_probability;
        assert!(miss(&at_once) > miss(&apart));
    }

    #[test]
    fn a_caption_that_denies_the_thing_weighs_more_than_silence() {
        let mut seen = records(&rounds(&[RED, NONE]));
        let last_seen = seen[0].meta.taken_at;
        let silent = weigh(&seen, &sought("a red mug"), last_seen, last_seen).unwrap();
        let mug: ParsedThing = seen[0].parsed.things[0].clone();
        seen[1].parsed.things.push(ParsedThing { presence: Presence::Absent, ..mug });
        let denied = weigh(&seen, &sought("a red mug"), last_seen, last_seen).unwrap();
        assert!(denied.miss_probability < 0.1 * silent.miss_probability);
    }
}
