//! What was seen since the target was last seen and may be it, as a caption says less of it or calls
//! it otherwise: the brown wallet, for the brown leather one.

use std::slice;
use std::time::Duration;

use crate::base::RecordId;
use crate::base::pose::metres_between;
use crate::base::time::{Timestamp, Window};
use crate::language::fit::Certainty;
use crate::language::known_words::are_names_of_one;
use crate::language::lexicon;
use crate::language::mention::mentions;
use crate::memory::episodic::MemoryError;
use crate::memory::episodic::instances::{Instance, Visit};
use crate::memory::episodic::last_seen::Sighting;
use crate::memory::episodic::seen_since::LOOKS_SO_PROBABILITY;
use crate::retrieval::grounding::{
    GOALS_MAX, Lookalikes, SAME_PLACE_METRES, goal_of, is_near, seen_in_words, was_searched,
};
use crate::retrieval::probability::with_newer;
use crate::retrieval::session::{Goal, Session};
use crate::retrieval::{Retrieval, RetrievalError};
use crate::search::Filter;

/// What may have been the target, beside what it was taken for.
pub(super) struct AddedSighting {
    pub(super) sighting: Sighting,
    /// Whether it surely shows the target by another name.
    pub(super) is_sure: bool,
    /// Probability that it is there, if it is the target.
    pub(super) stays: f64,
}

impl Retrieval {
    /// Adds the place of a sighting that may be the target's. It comes first where the target is
    /// likelier there than where it was surely seen.
    pub(super) fn with_sighting(
        &self,
        session: &Session,
        mut goals: Vec<Goal>,
        alike: &Lookalikes,
        AddedSighting { sighting, is_sure, stays }: &AddedSighting,
    ) -> Vec<Goal> {
        let record = &sighting.recalled.record;
        let when = self.zone.format(record.end_at);
        let reason = format!("{:?} {} here at {when}", alike.thing, seen_in_words(*is_sure));
        let goal = goal_of(record, reason)
            .filter(|it| !was_searched(session, it, slice::from_ref(record)))
            .filter(|it| !goals.first().is_some_and(|first| is_near(first, it)));
        let Some(goal) = goal else { return goals };
        let confidence = f64::from(sighting.match_probability * record.confidence.unwrap_or(1.0));
        goals.retain(|it| !is_near(it, &goal));
        goals.truncate(GOALS_MAX - 1);
        with_newer(goals, goal, stays * confidence)
    }

    /// The last of the sightings of such a thing since the object was seen, where it may be that.
    pub(super) fn newer_sighting(
        &self,
        object: &Instance,
        alike: &Lookalikes,
    ) -> Result<Option<Sighting>, RetrievalError> {
        let since = object.last_seen.plus(Duration::from_micros(1));
        let window = Window::new(Some(since), None).unwrap_or(Window::ALL);
        let filter = Filter { window, ..Filter::default() };
        let target = KnownTarget { object, alike };
        match self.episodic.last_seen(&alike.thing, &filter, 1) {
            Ok(seen) => match seen.into_iter().next().filter(|it| target.may_be(it)) {
                Some(it) if self.was_seen_apart(object, &it, alike)? => Ok(None),
                Some(mut it) => {
                    if self.episodic.looks_as_asked_for(&alike.thing, &it.recalled.record)? {
                        it.match_probability = it.match_probability.max(LOOKS_SO_PROBABILITY);
                    }
                    Ok(Some(it))
                }
                None => Ok(None),
            },
            Err(MemoryError::NamesNothing(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether what is called as in this sighting, by more than the target's own words, was once seen
    /// elsewhere while the target stayed where it was: the wooden car, and the green one on its shelf.
    fn was_seen_apart(
        &self,
        object: &Instance,
        sighting: &Sighting,
        alike: &Lookalikes,
    ) -> Result<bool, RetrievalError> {
        let Some(called) = sighting.recalled.matched.first() else { return Ok(false) };
        let is_own = |word: &str| {
            let mut own = alike.thing.split(' ').map(lexicon::singular);
            let word = lexicon::singular(word);
            own.any(|it| it == word) || word == object.noun
        };
        if called.split([' ', ',']).all(|it| it.is_empty() || is_own(it)) {
            return Ok(false);
        }
        let (seen, _) = self.sightings_of(called)?;
        let seen = self.records(&seen.into_iter().collect::<Vec<RecordId>>())?;
        let others = self.episodic.instances(called, &seen, self.zone)?;
        let id = sighting.recalled.record.id;
        let other = others.iter().find(|it| it.was_seen_in(id));
        Ok(other.is_some_and(|it| was_elsewhere(it, object) || was_elsewhere(object, it)))
    }
}

/// Whether one object was seen somewhere else while the other stayed where it was.
fn was_elsewhere(one: &Instance, other: &Instance) -> bool {
    let stays = stays(other);
    one.visits.iter().any(|visit| {
        let Some(position) = position(one, visit) else { return false };
        stays.iter().any(|stay| {
            let is_while = stay.first <= visit.first && visit.last <= stay.last;
            is_while && metres_between(stay.position, position) > SAME_PLACE_METRES
        })
    })
}

/// Time from one visit to another at which an object was at one place, and was seen nowhere else between.
struct Stay {
    first: Timestamp,
    last: Timestamp,
    position: [f64; 3],
}

fn stays(object: &Instance) -> Vec<Stay> {
    let at_one_place = object.visits.chunk_by(|a, b| a.place == b.place);
    let stay = |visits: &[Visit]| {
        let (first, last) = (visits.first()?, visits.last()?);
        let position = position(object, first)?;
        Some(Stay { first: first.first, last: last.last, position })
    };
    at_one_place.filter_map(stay).collect()
}

fn position(object: &Instance, visit: &Visit) -> Option<[f64; 3]> {
    object.places.get(visit.place)?.position
}

/// The target as an object that was told apart from others.
struct KnownTarget<'a> {
    object: &'a Instance,
    alike: &'a Lookalikes,
}

impl KnownTarget<'_> {
    fn may_be(&self, sighting: &Sighting) -> bool {
        sighting.certainty >= self.least_certainty()
            && self.is_called_so(sighting)
            && !self.is_another(sighting)
    }

    /// What is known by what holds it is another one in another: the plant in a black pot.
    fn least_certainty(&self) -> Certainty {
        let thing = &self.alike.thing;
        let is_held = thing.contains(" in ") && mentions(thing).len() > 1;
        if is_held { Certainty::InPlace } else { Certainty::Possible }
    }

    /// Whether it is called as the object is, or has the object's noun in its name.
    fn is_called_so(&self, sighting: &Sighting) -> bool {
        let noun = sighting.noun.as_deref().unwrap_or_default();
        let seen = sighting.recalled.matched.first();
        are_names_of_one(noun, &self.object.noun)
            || seen.is_some_and(|it| has_noun(it, &self.object.noun))
    }

    /// What has the same look and was told apart is another one.
    fn is_another(&self, sighting: &Sighting) -> bool {
        let id = sighting.recalled.record.id;
        let others = self.alike.objects.get(1..).unwrap_or_default();
        sighting.certainty >= Certainty::Shown && others.iter().any(|it| it.was_seen_in(id))
    }
}

/// Whether a name has a noun among its words: "fleece jacket" of a fleece.
fn has_noun(phrase: &str, noun: &str) -> bool {
    let name = phrase.split(',').next().unwrap_or_default();
    name.split(' ').any(|it| lexicon::singular(it) == noun)
}
