//! The real-world-search instance: where the target may be. First where that object was
//! last seen, whatever singled it out; an object that was never seen gets guesses, marked
//! as such.

use std::collections::BTreeSet;
use std::slice;

use crate::base::RecordId;
use crate::base::pose::metres_between;
use crate::base::time::Timestamp;
use crate::base::wording::quantity;
use crate::language::fit::Certainty;
use crate::language::lexicon;
use crate::language::reference::Reference;
use crate::memory::episodic::instances::{Instance, Visit};
use crate::memory::episodic::last_seen::Sighting;
use crate::memory::episodic::likely_places::LikelyPlace;
use crate::memory::episodic::noun_phrases::bare_name;
use crate::memory::episodic::usual_place::UsualPlace;
use crate::memory::episodic::{MemoryError, Recalled};
use crate::retrieval::newer_sighting::AddedSighting;
use crate::retrieval::probability::{
    goal_probabilities, guess_probabilities, guess_share, only_place_probability, stay_began,
    stay_probability, weigh_misses,
};
use crate::retrieval::search::{FirstPlace, KnownPlace};
use crate::retrieval::session::{Goal, Session, Target};
use crate::retrieval::target::OBSERVATIONS_MAX;
use crate::retrieval::task_phrase::target_phrase;
use crate::retrieval::{Retrieval, RetrievalError};
use crate::search::Filter;
use crate::store::Record;

/// Most goals of one search.
pub(super) const GOALS_MAX: usize = 8;
/// Newest sightings from which the target's last one is chosen.
const SIGHTINGS_MAX: usize = 500;
/// Distance within which two goals are one place.
pub(super) const SAME_PLACE_METRES: f64 = 1.0;
/// Belief in its sightings below which an object is rather searched for where such things
/// are kept, or where the request says.
pub(super) const GUESSED_BELOW: f32 = 1.0 / 3.0;

/// Probability that captions show the target up to which they only may.
const DOUBTFUL_MAX: f32 = 0.3;

/// Known places of the target.
#[derive(Debug)]
pub(crate) struct Grounding {
    /// In the order to visit.
    pub(crate) goals: Vec<Goal>,
    /// Newest first; none of a guess.
    pub(crate) observations: Vec<Record>,
    pub(crate) last_seen: Option<Timestamp>,
    pub(crate) is_guess: bool,
}

/// The target among the objects like it.
pub(super) struct Lookalikes {
    /// As the query names it.
    pub(super) thing: String,
    /// As the task does, where nothing was seen that is called so: "laundry soap", for a soap; with what
    /// it is for.
    pub(super) said: String,
    /// What the task names, where the target, decided on by its own name, only may be that.
    may_be: Option<String>,
    /// The target first.
    pub(super) objects: Vec<Instance>,
    /// All their records.
    records: Vec<Record>,
    /// The last sightings of the thing.
    sightings: BTreeSet<RecordId>,
    /// Probability that captions show what is described, if they are true.
    match_probability: f32,
}

/// Why the place of a thing is guessed.
#[derive(Clone, Copy)]
enum GuessReason {
    NeverSeen,
    /// Seen, but only at places that were searched since, or looked at without it.
    SearchedInVain,
    /// Seen, but long ago, or not surely it.
    Unsure,
}

impl Retrieval {
    /// The place that was decided on, then the others.
    pub(super) fn ground_at(
        &self,
        session: &Session,
        target: &Target,
        FirstPlace { record: id, reason, is_guess }: FirstPlace,
    ) -> Result<Grounding, RetrievalError> {
        let record = self.records(&[id])?.pop().ok_or(RetrievalError::NoRecord(id))?;
        let first = goal_of(&record, reason.to_owned());
        let first = first.ok_or(RetrievalError::NoPosition(id))?;
        let Grounding { goals, mut observations, .. } = self.ground(session, target)?;
        let (same, mut others): (Vec<Goal>, Vec<Goal>) =
            goals.into_iter().partition(|it| is_near(it, &first));
        others.truncate(GOALS_MAX - 1);
        // A place at which it was never seen has what the others leave, or its share of that.
        let rest = || (1.0 - others.iter().map(|it| it.probability).sum::<f32>()).max(0.0);
        let left = || if is_guess { guess_share(rest()) } else { rest() };
        let own = same.iter().map(|it| it.probability).reduce(f32::max);
        let first = Goal { probability: own.unwrap_or_else(left), is_guess, ..first };
        let goals = [vec![first], others].concat();
        let last_seen = Some(record.end_at);
        observations.retain(|it| it.id != id);
        observations.insert(0, record);
        observations.truncate(OBSERVATIONS_MAX);
        Ok(Grounding { goals, observations, last_seen, is_guess })
    }

    /// A known place and no other.
    pub(super) fn ground_only_at(&self, place: KnownPlace) -> Result<Grounding, RetrievalError> {
        let id = place.record();
        let record = self.records(&[id])?.pop().ok_or(RetrievalError::NoRecord(id))?;
        let end_at = self.zone.format(record.end_at);
        let reason = match place {
            KnownPlace::Then(_) => format!("the place of then, seen at {end_at}"),
            KnownPlace::Usual(UsualPlace { visits, of, .. }) => {
                format!("here it was on {visits} of {of} visits, last at {end_at}")
            }
        };
        let goal = goal_of(&record, reason).ok_or(RetrievalError::NoPosition(id))?;
        let goals = vec![Goal { probability: 1.0, ..goal }];
        let last_seen = Some(record.end_at);
        Ok(Grounding { goals, observations: vec![record], last_seen, is_guess: false })
    }

    /// Where the target was last seen, then where else it may be.
    pub(super) fn ground(
        &self,
        session: &Session,
        target: &Target,
    ) -> Result<Grounding, RetrievalError> {
        let alike = self.lookalikes(session, target)?;
        let Some(object) = alike.objects.first() else {
            return self.ground_at_possible(session, target, &alike);
        };
        if object.existence < GUESSED_BELOW {
            let guess = self.guess(session, target, GuessReason::NeverSeen)?;
            return Ok(self.with_doubtful(session, guess, object, &alike.records));
        }
        let newest = alike.newest_records(object);
        let last_seen = newest.first().map(|it| it.end_at);
        let goals = self.visited_places(session, &alike);
        if goals.is_empty() && newest.iter().any(|it| it.meta.pose.is_some()) {
            let guess = self.guess(session, target, GuessReason::SearchedInVain)?;
            return Ok(Grounding { last_seen, ..guess });
        }
        let stays = stay_probability(object, object.last_seen, self.now(session));
        let confidence = f64::from(object.confidence * alike.match_probability);
        let goals = goal_probabilities(goals, stays, confidence);
        let (goals, were_missed) = self.with_later_looks(goals, object, &alike)?;
        let newer = self.newer_sighting(object, &alike)?;
        let otherwise = if alike.is_possible() { self.called_otherwise(&alike)? } else { None };
        let otherwise = otherwise.filter(|it| !alike.was_seen_so_since(object, it));
        let stays = |seen: &Sighting| {
            stay_probability(object, seen.recalled.record.end_at, self.now(session))
        };
        let newer =
            newer.map(|it| AddedSighting { is_sure: false, stays: stays(&it), sighting: it });
        // What is called otherwise may be another object, whose only known place that is.
        let otherwise = otherwise.map(|it| {
            let stays = only_place_probability(stays(&it));
            AddedSighting { is_sure: it.certainty > Certainty::Possible, stays, sighting: it }
        });
        let added = newer.into_iter().chain(otherwise);
        let goals = added.fold(goals, |goals, it| self.with_sighting(session, goals, &alike, &it));
        let goals = alike.doubted(goals);
        let why = if were_missed { GuessReason::SearchedInVain } else { GuessReason::Unsure };
        let goals = self.with_guesses(session, target, goals, why)?;
        let observations = newest.into_iter().take(OBSERVATIONS_MAX).cloned().collect();
        Ok(Grounding { goals, observations, last_seen, is_guess: false })
    }

    /// Where what only may be the target was last seen, then guesses.
    fn ground_at_possible(
        &self,
        session: &Session,
        target: &Target,
        alike: &Lookalikes,
    ) -> Result<Grounding, RetrievalError> {
        let seen = alike.records.iter().filter(|it| alike.sightings.contains(&it.id));
        let newest = seen.filter(|it| it.meta.pose.is_some()).max_by_key(|it| (it.end_at, it.id));
        let own = newest.map(|it| (it.clone(), alike.match_probability, false));
        let other = self.called_otherwise(alike)?;
        let other = other.map(|Sighting { recalled, certainty, match_probability, .. }| {
            (recalled.record, match_probability, certainty > Certainty::Possible)
        });
        let mut known: Vec<(Record, Goal)> = Vec::new();
        for (record, probability, is_sure) in other.into_iter().chain(own) {
            let when = self.zone.format(record.end_at);
            let reason = format!("{:?} {} here at {when}", alike.thing, seen_in_words(is_sure));
            let goal = goal_of(&record, reason)
                .filter(|it| !was_searched(session, it, slice::from_ref(&record)))
                .filter(|it| !known.iter().any(|(_, other)| is_near(it, other)));
            if let Some(goal) = goal {
                let left = 1.0 - known.iter().map(|(_, it)| it.probability).sum::<f32>();
                let sureness = record.confidence.unwrap_or(1.0);
                let probability = left.max(0.0) * probability * sureness;
                known.push((record, Goal { probability, is_guess: !is_sure, ..goal }));
            }
        }
        let Some((record, first)) = known.first() else {
            return self.guess(session, target, GuessReason::NeverSeen);
        };
        let (last_seen, is_guess) = (Some(record.end_at), first.is_guess);
        let (observations, goals) = known.into_iter().unzip();
        let goals = self.with_guesses(session, target, goals, GuessReason::Unsure)?;
        Ok(Grounding { goals, observations, last_seen, is_guess })
    }

    /// Lowers the probability of places that the camera saw without the target since it was
    /// last seen; and whether each of them was.
    fn with_later_looks(
        &self,
        mut goals: Vec<Goal>,
        object: &Instance,
        alike: &Lookalikes,
    ) -> Result<(Vec<Goal>, bool), RetrievalError> {
        let mut misses = vec![1.0; goals.len()];
        let last_seen = object.last_seen;
        for (at, (goal, miss)) in goals.iter_mut().zip(&mut misses).enumerate() {
            let Some(record) = goal.record.and_then(|id| alike.record(id)) else { continue };
            let since = if at == 0 { stay_began(object) } else { last_seen };
            let looks = self.episodic.later_looks(&alike.thing, record, since, last_seen)?;
            let Some(looks) = looks else { continue };
            *miss = looks.miss_probability;
            let looks = quantity(looks.count, "look");
            goal.reason = format!("{}; {looks} there since then did not show it", goal.reason);
        }
        let were_missed = !misses.is_empty() && misses.iter().all(|it| *it < 1.0);
        Ok((weigh_misses(goals, &misses), were_missed))
    }

    /// Adds guesses after the known places where the target is hardly at one any more.
    fn with_guesses(
        &self,
        session: &Session,
        target: &Target,
        mut goals: Vec<Goal>,
        why: GuessReason,
    ) -> Result<Vec<Goal>, RetrievalError> {
        let known: f32 = goals.iter().map(|it| it.probability).sum();
        if known >= GUESSED_BELOW {
            return Ok(goals);
        }
        let guess = self.guess(session, target, why)?;
        let guesses = guess.goals.into_iter().filter(|it| !goals.iter().any(|at| is_near(at, it)));
        let elsewhere = 1.0 - known;
        let guesses: Vec<Goal> =
            guesses.map(|it| Goal { probability: elsewhere * it.probability, ..it }).collect();
        goals.extend(guesses);
        goals.truncate(GOALS_MAX);
        Ok(goals)
    }

    /// The places of the target, the newest first, then the last ones of the objects like
    /// it, each with its number of visits.
    fn visited_places(&self, session: &Session, alike: &Lookalikes) -> Vec<(f64, Goal)> {
        let mut goals: Vec<(f64, Goal)> = Vec::new();
        let mut add = |record: Option<&Record>, said: &str| {
            let goal = record.and_then(|it| {
                let when = self.zone.format(it.end_at);
                goal_of(it, format!("{said} here at {when}"))
            });
            let goal = goal.filter(|it| !was_searched(session, it, &alike.records));
            let Some(goal) = goal else { return };
            // A place where it was often is likelier than one where it was once.
            if let Some((visits, _)) = goals.iter_mut().find(|(_, it)| is_near(it, &goal)) {
                *visits += 1.0;
            } else if goals.len() < GOALS_MAX {
                goals.push((1.0, goal));
            }
        };
        let Some((object, others)) = alike.objects.split_first() else { return goals };
        let doubt = alike.doubt();
        for (at, visit) in object.visits.iter().rev().enumerate() {
            let said = if at == 0 { "was last seen" } else { "was" };
            let said = format!("{:?}{doubt} {said}", object.desc);
            add(alike.newest_posed(&mut [visit].into_iter()), &said);
        }
        for other in others.iter().filter(|it| it.is_likely_real()) {
            let said = format!("another {:?}{doubt} was last seen", other.desc);
            add(alike.newest_posed(&mut other.visits.iter().rev()), &said);
        }
        goals
    }

    /// Puts the place of a sighting that is likely a misdetection after the guesses.
    fn with_doubtful(
        &self,
        session: &Session,
        mut guess: Grounding,
        object: &Instance,
        records: &[Record],
    ) -> Grounding {
        let seen = object.visits.last().and_then(|visit| visit.records.last());
        let record = seen.and_then(|id| records.iter().find(|it| it.id == *id));
        let goal = record.and_then(|it| {
            let when = self.zone.format(it.end_at);
            goal_of(it, format!("{:?} may have been seen here at {when}", object.desc))
        });
        let known = &mut guess.goals;
        let is_new = |goal: &Goal| !known.iter().any(|it| is_near(it, goal));
        if let Some(goal) = goal.filter(is_new).filter(|it| !was_searched(session, it, records)) {
            known.truncate(GOALS_MAX - 1);
            known.push(Goal { probability: object.existence, is_guess: true, ..goal });
        }
        guess
    }

    fn lookalikes(&self, session: &Session, target: &Target) -> Result<Lookalikes, RetrievalError> {
        let thing = self.thing_of(session, target)?;
        let task = session.task.as_ref().map(|it| self.reference_of(it)).transpose()?;
        // What holes are made with is no hole.
        let is_described = task.as_ref().is_some_and(|it| it.for_use.as_ref() == Some(&thing));
        let (sightings, match_probability) =
            if is_described { (BTreeSet::new(), 1.0) } else { self.sightings_of(&thing)? };
        let mut ids = sightings.clone();
        let renamed = task.as_ref().and_then(|it| it.renamed.as_deref());
        let renamed = renamed.filter(|it| it.read == thing);
        let said = renamed.map_or_else(|| thing.clone(), |it| it.said.clone());
        let purpose = task.as_ref().filter(|it| it.thing == thing);
        let said = match purpose.and_then(|it| it.purpose.as_ref()) {
            Some(purpose) => format!("{said} {purpose}"),
            None => said,
        };
        let is_renamed = task.as_ref().is_some_and(|it| it.renamed.is_some());
        let match_probability =
            if is_renamed { match_probability.min(DOUBTFUL_MAX) } else { match_probability };
        ids.extend(&target.records);
        ids.extend(&session.working_memory);
        let ids: Vec<RecordId> = ids.into_iter().collect();
        let records = self.records(&ids)?;
        let mut objects = if is_described {
            Vec::new()
        } else {
            self.episodic.instances(&thing, &records, self.zone)?
        };
        // What was singled out decides; else what was recalled last; else what was seen last.
        let first = session.working_memory.first().copied();
        objects.sort_by_key(|it| {
            let recalled = first.is_some_and(|id| it.was_seen_in(id));
            let overlap = it.records.iter().filter(|id| target.records.contains(id)).count();
            std::cmp::Reverse((overlap, it.is_likely_real(), recalled, it.last_seen))
        });
        if objects.is_empty() && !target.records.is_empty() && !is_described {
            objects = self.instances_by_caption(target, &records)?;
        }
        let may_be = match &task {
            Some(task) => self.name_it_may_have(task, target, &thing)?,
            None => None,
        };
        Ok(Lookalikes { thing, said, may_be, objects, records, sightings, match_probability })
    }

    /// What the task names, where no caption surely shows that and the target was decided on by its
    /// own name: "orange cable", for a washing line.
    fn name_it_may_have(
        &self,
        task: &Reference,
        target: &Target,
        thing: &str,
    ) -> Result<Option<String>, RetrievalError> {
        let named = &task.thing;
        if named.is_empty() || named == thing || task.also.contains(&target.desc) {
            return Ok(None);
        }
        let (_, probability) = self.sightings_of(named)?;
        let is_doubtful = probability <= DOUBTFUL_MAX;
        Ok(Some(named.clone()).filter(|_| is_doubtful))
    }

    pub(super) fn sightings_of(
        &self,
        thing: &str,
    ) -> Result<(BTreeSet<RecordId>, f32), RetrievalError> {
        match self.episodic.last_seen(thing, &Filter::default(), SIGHTINGS_MAX) {
            Ok(seen) => {
                let likely = seen.first().map_or(1.0, |it| it.match_probability);
                Ok((seen.iter().map(|it| it.recalled.record.id).collect(), likely))
            }
            Err(MemoryError::NamesNothing(_)) => Ok((BTreeSet::new(), 1.0)),
            Err(error) => Err(error.into()),
        }
    }

    /// The objects of a target that was decided on by a record, whose caption names it
    /// otherwise.
    fn instances_by_caption(
        &self,
        target: &Target,
        records: &[Record],
    ) -> Result<Vec<Instance>, RetrievalError> {
        let own: Vec<Record> =
            records.iter().filter(|it| target.records.contains(&it.id)).cloned().collect();
        let things = own.last().map(|it| it.parsed.object_phrases()).unwrap_or_default();
        let first = things.first().map(String::as_str).unwrap_or_default();
        Ok(self.episodic.instances(first, &own, self.zone)?)
    }

    /// The target's name; the whole of its description where that names nothing.
    fn thing_of(&self, session: &Session, target: &Target) -> Result<String, RetrievalError> {
        if let Some(thing) = self.thing_of_task(session, target)? {
            return Ok(thing);
        }
        if let Some(thing) = bare_name(&target.desc) {
            let task = session.task.as_ref().map(|it| self.reference_of(it)).transpose()?;
            return Ok(match task {
                Some(task) => task.with_contents(&thing).to_owned(),
                None => thing,
            });
        }
        let is_part = |text: &str| {
            text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&target.desc)
        };
        // A part of the task is understood best as that.
        let reference = match session.task.as_ref().filter(|it| is_part(&it.text)) {
            Some(task) => self.reference_of(task)?,
            None => self.read(&target.desc)?,
        };
        let thing = reference.thing;
        Ok(if thing.is_empty() { target.desc.clone() } else { thing })
    }

    /// What the task was read as, where the target is described in the words of the task, or is a
    /// further thing of it: a goal is grounded by the same reading as the recall that led to it.
    fn thing_of_task(
        &self,
        session: &Session,
        target: &Target,
    ) -> Result<Option<String>, RetrievalError> {
        let Some(task) = &session.task else { return Ok(None) };
        let reference = self.reference_of(task)?;
        if reference.also.contains(&target.desc) {
            return Ok(Some(target.desc.clone()));
        }
        let is_task = target.desc == target_phrase(&task.text, &reference);
        Ok(Some(reference.thing).filter(|it| is_task && !it.is_empty()))
    }

    /// Commonsense: places of the memory that resemble where such things are kept.
    fn guess(
        &self,
        session: &Session,
        target: &Target,
        why: GuessReason,
    ) -> Result<Grounding, RetrievalError> {
        let thing = self.thing_of(session, target)?;
        let task = session.task.as_ref().map(|it| it.text.as_str());
        let is_of_task = self.thing_of_task(session, target)?.is_some_and(|it| it != target.desc);
        // What is only told by a deed is near to what that was done to, and not to the thing.
        let task = task.filter(|it| is_of_task && has_noun_of(it, &thing));
        let described = task.unwrap_or(&thing);
        let described = Some(described).filter(|_| matches!(why, GuessReason::NeverSeen));
        let mut goals: Vec<(f32, Goal)> = Vec::new();
        for place in self.episodic.likely_places(&thing, described, 4 * GOALS_MAX)? {
            let Some(goal) = guessed_goal(&place, &thing, why) else { continue };
            let is_new = !goals.iter().any(|(_, it)| is_near(it, &goal));
            if is_new && goals.len() < GOALS_MAX && !was_searched(session, &goal, &[]) {
                goals.push((place.score, goal));
            }
        }
        let goals = guess_probabilities(goals);
        Ok(Grounding { goals, observations: Vec::new(), last_seen: None, is_guess: true })
    }
}

impl Lookalikes {
    /// Goals of what only may be what the task names: all are that much less likely.
    fn doubted(&self, mut goals: Vec<Goal>) -> Vec<Goal> {
        if self.may_be.is_some() {
            for goal in &mut goals {
                goal.probability *= DOUBTFUL_MAX;
            }
        }
        goals
    }

    /// Whether captions only may show the thing.
    pub(super) fn is_possible(&self) -> bool {
        self.match_probability <= DOUBTFUL_MAX
    }

    /// What a reason says of the objects where they only may be what is wanted.
    fn doubt(&self) -> String {
        let asked = self.may_be.as_ref().or_else(|| self.is_possible().then_some(&self.thing));
        asked.map_or_else(String::new, |it| format!(", which may be {it:?},"))
    }

    fn record(&self, id: RecordId) -> Option<&Record> {
        self.records.iter().find(|it| it.id == id)
    }

    /// Records of the visits of an object, the newest first.
    fn newest_records(&self, object: &Instance) -> Vec<&Record> {
        let seen = object.visits.iter().flat_map(|it| &it.records);
        let mut newest: Vec<&Record> = seen.filter_map(|id| self.record(*id)).collect();
        newest.sort_by_key(|it| std::cmp::Reverse((it.end_at, it.id)));
        newest
    }

    /// Whether a sighting is of this object, which was seen since and is called there as it is here.
    fn was_seen_so_since(&self, object: &Instance, sighting: &Sighting) -> bool {
        let Recalled { record, matched, .. } = &sighting.recalled;
        let is_called_so = |it: &Record| {
            let called = matched.first();
            called.is_some_and(|called| it.parsed.shown_mentions().any(|it| it.phrase == *called))
        };
        object.was_seen_in(record.id)
            && self
                .newest_records(object)
                .iter()
                .any(|it| it.end_at > record.end_at && is_called_so(it))
    }

    /// The last record with a position; of visits, the newest first.
    fn newest_posed(&self, visits: &mut dyn Iterator<Item = &Visit>) -> Option<&Record> {
        let records = visits.flat_map(|it| it.records.iter().rev());
        records.filter_map(|id| self.record(*id)).find(|it| it.meta.pose.is_some())
    }
}

/// How a thing was seen, surely by another name or only maybe.
pub(super) fn seen_in_words(is_sure: bool) -> &'static str {
    if is_sure { "was seen, called otherwise," } else { "may have been seen" }
}

/// Whether the noun of a name stands in a text.
fn has_noun_of(text: &str, name: &str) -> bool {
    let noun = name.rsplit(' ').next().unwrap_or_default().to_lowercase();
    let words = text.to_lowercase();
    let mut words = words.split(|c: char| !c.is_alphanumeric());
    words.any(|it| it == noun || lexicon::singular(it) == lexicon::singular(&noun))
}

fn guessed_goal(place: &LikelyPlace, thing: &str, why: GuessReason) -> Option<Goal> {
    let LikelyPlace { words, record, like, score: _ } = place;
    let like = like.as_ref().map_or_else(String::new, |it| format!(", where a {it} was seen"));
    let known = match why {
        GuessReason::NeverSeen => "was never seen",
        GuessReason::SearchedInVain => "is no more where it was seen",
        GuessReason::Unsure => "may be elsewhere than where it was seen",
    };
    let goal = goal_of(record, format!("a guess: {words}{like}; {thing:?} {known}"))?;
    Some(Goal { is_guess: true, ..goal })
}

/// `None` where the robot did not know its position.
pub(super) fn goal_of(record: &Record, reason: String) -> Option<Goal> {
    let pose = record.meta.pose?;
    Some(Goal {
        record: Some(record.id),
        position: pose.position,
        theta: pose.heading,
        frame_id: record.meta.frame_id.clone(),
        map_id: record.meta.map_id.clone(),
        reason,
        probability: 0.0,
        is_guess: false,
        target: String::new(),
    })
}

pub(super) fn is_near(a: &Goal, b: &Goal) -> bool {
    a.map_id == b.map_id && metres_between(a.position, b.position) < SAME_PLACE_METRES
}

/// Whether the robot searched there after the thing was seen there.
pub(super) fn was_searched(session: &Session, goal: &Goal, records: &[Record]) -> bool {
    let seen_at = records.iter().find(|it| Some(it.id) == goal.record).map(|it| it.end_at);
    session.searched_places.iter().any(|searched| {
        searched.map_id == goal.map_id
            && metres_between(searched.position, goal.position) < SAME_PLACE_METRES
            && seen_at.is_none_or(|at| at <= searched.at)
    })
}
