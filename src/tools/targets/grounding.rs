//! Where the target may be: whatever singled the object out, first where that object
//! was seen last. One that was never seen gets guesses, marked as such.

use std::collections::BTreeSet;

use crate::base::RecordId;
use crate::base::pose::metres_between;
use crate::base::time::Timestamp;
use crate::memory::episodic::MemoryError;
use crate::memory::episodic::individuals::LikelyPlace;
use crate::memory::episodic::instances::Instance;
use crate::memory::episodic::named::{bare_name, things_in};
use crate::search::Filter;
use crate::store::Record;
use crate::tools::ToolError;
use crate::tools::args::refused;
use crate::tools::context::Context;
use crate::tools::recall::fault;
use crate::tools::reply;
use crate::tools::session::{Goal, Session, Target};
use crate::tools::targets::{OBSERVATIONS_MAX, now};

/// Most goals of one search.
const GOALS_MAX: usize = 8;
/// Newest sightings from which the target's last one is chosen.
const SIGHTINGS_MAX: usize = 500;
/// Distance within which two goals are one place.
const SAME_PLACE_METRES: f64 = 1.0;
/// That a thing that is no more where it was last is at a known place; it may be
/// where it was never seen.
const KNOWN_SHARE: f64 = 0.8;
/// What is taken for granted of a thing before it is seen twice: a move in two days.
const MOVES_BEFORE: f64 = 0.5;
const HOURS_BEFORE: f64 = 24.0;
/// That a thing that was never seen is at one of the places guessed.
const GUESS_SHARE: f64 = 0.5;

/// What was seen less likely than so is rather looked for where such things are kept.
const GUESSED_BELOW: f32 = 1.0 / 3.0;

/// What is known of where the target is.
pub(super) struct Grounding {
    pub(super) goals: Vec<Goal>,
    /// Newest first; none of a guess.
    pub(super) observations: Vec<Record>,
    pub(super) last_seen: Option<Timestamp>,
    pub(super) is_guess: bool,
}

/// The place that the caller decided on, then the others.
pub(super) fn grounded_in(
    context: &Context,
    held: &Session,
    target: &Target,
    id: RecordId,
) -> Result<Grounding, ToolError> {
    let record = context.episodic.records(&[id]).map_err(|e| fault(&e))?.pop();
    let Some(record) = record else {
        return Err(refused(format!(
            "argument \"record_id\" is {id}, which does not exist; {}",
            reply::holdings(context)
        )));
    };
    let Some(first) = goal_of(&record, "decided by the caller".to_owned()) else {
        return Err(refused(format!(
            "argument \"record_id\" is {id}, whose position is not known; accepted is a record \
             with a position"
        )));
    };
    let Grounding { goals, mut observations, .. } = grounded(context, held, target)?;
    let mut others: Vec<Goal> = goals.into_iter().filter(|it| !is_near(it, &first)).collect();
    others.truncate(GOALS_MAX - 1);
    let rest: f32 = others.iter().map(|it| it.probability).sum();
    let goals = [vec![Goal { probability: (1.0 - rest).max(0.0), ..first }], others].concat();
    observations.retain(|it| it.id != id);
    observations.insert(0, record.clone());
    observations.truncate(OBSERVATIONS_MAX);
    Ok(Grounding { goals, observations, last_seen: Some(record.end_at), is_guess: false })
}

/// Where the target was seen last, then where else it may be.
pub(super) fn grounded(
    context: &Context,
    held: &Session,
    target: &Target,
) -> Result<Grounding, ToolError> {
    let (objects, records) = alike(context, held, target)?;
    let of = |id: &RecordId| records.iter().find(|it| it.id == *id);
    let Some(object) = objects.first() else {
        return guessed(context, held, target, Known::Never);
    };
    if object.belief < GUESSED_BELOW {
        let guessed = guessed(context, held, target, Known::Never)?;
        return Ok(with_doubtful(context, held, guessed, object, &records));
    }
    let seen = object.visits.iter().flat_map(|it| &it.records);
    let mut newest: Vec<&Record> = seen.filter_map(of).collect();
    newest.sort_by_key(|it| std::cmp::Reverse((it.end_at, it.id)));
    let zone = context.options.zone;
    let last_seen = newest.first().map(|it| it.end_at);
    let mut goals: Vec<(f64, Goal)> = Vec::new();
    let mut add = |record: Option<&Record>, said: &str| {
        let when = record.map_or_else(String::new, |it| zone.format(it.end_at));
        let goal = record.and_then(|it| goal_of(it, format!("{said} here at {when}")));
        let Some(goal) = goal.filter(|it| !was_looked_at(held, it, &records)) else { return };
        // A place where it was often is likelier than one where it was once.
        if let Some((weight, _)) = goals.iter_mut().find(|(_, it)| is_near(it, &goal)) {
            *weight += 1.0;
        } else if goals.len() < GOALS_MAX {
            goals.push((1.0, goal));
        }
    };
    for (at, visit) in object.visits.iter().rev().enumerate() {
        let there = visit.records.iter().rev().filter_map(of).find(|it| it.meta.pose.is_some());
        let said = if at == 0 { "was last seen" } else { "was" };
        add(there, &format!("{:?} {said}", object.desc));
    }
    for other in objects.iter().skip(1).filter(|it| it.is_believed()) {
        let there = other
            .visits
            .iter()
            .rev()
            .flat_map(|it| it.records.iter().rev())
            .filter_map(of)
            .find(|it| it.meta.pose.is_some());
        add(there, &format!("another {:?} was last seen", other.desc));
    }
    if goals.is_empty() && newest.iter().any(|it| it.meta.pose.is_some()) {
        // Every place where it was seen was looked at since.
        return Ok(Grounding { last_seen, ..guessed(context, held, target, Known::Elsewhere)? });
    }
    let stays = stays(object, now(context, held));
    let goals = weighed(goals, stays, f64::from(object.confidence));
    let observations = newest.into_iter().take(OBSERVATIONS_MAX).cloned().collect();
    Ok(Grounding { goals, observations, last_seen, is_guess: false })
}

/// The place of a sighting that is likely a slip is looked at after the guesses.
fn with_doubtful(
    context: &Context,
    held: &Session,
    mut grounding: Grounding,
    object: &Instance,
    records: &[Record],
) -> Grounding {
    let seen = object.visits.last().and_then(|visit| visit.records.last());
    let record = seen.and_then(|id| records.iter().find(|it| it.id == *id));
    let goal = record.and_then(|it| {
        let when = context.options.zone.format(it.end_at);
        goal_of(it, format!("{:?} may have been seen here at {when}", object.desc))
    });
    let known = &mut grounding.goals;
    let is_new = |goal: &Goal| !known.iter().any(|it| is_near(it, goal));
    if let Some(goal) = goal.filter(is_new).filter(|it| !was_looked_at(held, it, records)) {
        known.truncate(GOALS_MAX - 1);
        known.push(Goal { probability: object.belief, is_guess: true, ..goal });
    }
    grounding
}

/// Turns visits into probabilities: the thing stays where it was seen last, or else
/// is where it usually is. The last place stays first, the others follow by theirs.
fn weighed(goals: Vec<(f64, Goal)>, stays: f64, confidence: f64) -> Vec<Goal> {
    let all: f64 = goals.iter().map(|(visits, _)| visits).sum();
    let mut weighed: Vec<Goal> = Vec::with_capacity(goals.len());
    for (at, (visits, goal)) in goals.into_iter().enumerate() {
        let usual = KNOWN_SHARE * (1.0 - stays) * visits / all.max(1.0);
        let probability = if at == 0 { confidence * (stays + usual) } else { usual };
        weighed.push(Goal { probability: share_of(probability), ..goal });
    }
    if let Some((_, others)) = weighed.split_first_mut() {
        others.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    }
    weighed
}

/// The object that is the target, then those like it, with all their records.
fn alike(
    context: &Context,
    held: &Session,
    target: &Target,
) -> Result<(Vec<Instance>, Vec<Record>), ToolError> {
    let thing = thing_of(context, held, target)?;
    let seen = match context.episodic.last_seen(&thing, &Filter::default(), SIGHTINGS_MAX) {
        Ok(seen) => seen,
        Err(MemoryError::NamesNothing(_)) => Vec::new(),
        Err(error) => return Err(fault(&error)),
    };
    let mut ids: BTreeSet<RecordId> = seen.iter().map(|it| it.recalled.record.id).collect();
    ids.extend(&target.records);
    ids.extend(&held.working_memory);
    let ids: Vec<RecordId> = ids.into_iter().collect();
    let records = context.episodic.records(&ids).map_err(|e| fault(&e))?;
    let zone = context.options.zone;
    let objects = context.episodic.instances(&thing, &records, zone);
    let mut objects = objects.map_err(|e| fault(&e))?;
    // What was singled out decides; else what was recalled last; else what was seen last.
    let overlap =
        |it: &Instance, with: &[RecordId]| it.records.iter().filter(|id| with.contains(id)).count();
    let first = held.working_memory.first().copied();
    objects.sort_by_key(|it| {
        let recalled = first.is_some_and(|id| it.was_seen_in(id));
        let overlap = overlap(it, &target.records);
        std::cmp::Reverse((overlap, it.is_believed(), recalled, it.last_seen))
    });
    if objects.is_empty() && !target.records.is_empty() {
        // A target that was decided on by a record, whose caption names it otherwise.
        let own: Vec<Record> =
            records.iter().filter(|it| target.records.contains(&it.id)).cloned().collect();
        let words = own.last().map(|it| things_in(&it.caption)).unwrap_or_default();
        let first = words.first().map(String::as_str).unwrap_or_default();
        objects = context.episodic.instances(first, &own, zone).map_err(|e| fault(&e))?;
    }
    Ok((objects, records))
}

/// What the target is called; the whole of its description where that names nothing.
fn thing_of(context: &Context, held: &Session, target: &Target) -> Result<String, ToolError> {
    if let Some(thing) = bare_name(&target.desc) {
        return Ok(thing);
    }
    // A part of the task is understood best as that.
    let task =
        held.task.as_ref().map(|it| it.text.split_whitespace().collect::<Vec<_>>().join(" "));
    let words = task.filter(|it| it.contains(&target.desc));
    let thing = context.refer(words.as_deref().unwrap_or(&target.desc))?.thing;
    Ok(if thing.is_empty() { target.desc.clone() } else { thing })
}

/// That a thing is still where it was seen last: the longer ago, and the more often
/// it was somewhere else when it was seen again, the less.
fn stays(object: &Instance, now: Timestamp) -> f64 {
    let pairs = object.visits.iter().zip(object.visits.iter().skip(1));
    let (mut moves, mut hours) = (MOVES_BEFORE, HOURS_BEFORE);
    for (before, after) in pairs {
        hours += after.first.since(before.last).as_secs_f64() / 3_600.0;
        moves += if before.place == after.place { 0.0 } else { 1.0 };
    }
    let since = now.since(object.last_seen).as_secs_f64() / 3_600.0;
    (-moves / hours * since).exp()
}

/// What is known of a thing whose place is guessed.
#[derive(Clone, Copy)]
enum Known {
    Never,
    /// Seen, but at places where it is no more.
    Elsewhere,
}

/// Commonsense: places of the memory that resemble where such things are kept.
fn guessed(
    context: &Context,
    held: &Session,
    target: &Target,
    known: Known,
) -> Result<Grounding, ToolError> {
    let thing = thing_of(context, held, target)?;
    let likely = context.episodic.likely_places(&thing, 4 * GOALS_MAX).map_err(|e| fault(&e))?;
    let mut goals: Vec<(f32, Goal)> = Vec::new();
    for LikelyPlace { words, record, like, score } in likely {
        let like = like.map_or_else(String::new, |like| format!(", where a {like} was seen"));
        let known = match known {
            Known::Never => "was never seen",
            Known::Elsewhere => "is no more where it was seen",
        };
        let reason = format!("a guess: {words}{like}; {thing:?} {known}");
        let Some(goal) = goal_of(&record, reason) else { continue };
        let goal = Goal { is_guess: true, ..goal };
        let is_new = !goals.iter().any(|(_, it)| is_near(it, &goal));
        if is_new && goals.len() < GOALS_MAX && !was_looked_at(held, &goal, &[]) {
            goals.push((score, goal));
        }
    }
    let all: f64 = goals.iter().map(|(score, _)| f64::from(*score)).sum();
    let goals = goals.into_iter().map(|(score, goal)| {
        let share = GUESS_SHARE * f64::from(score) / all.max(f64::EPSILON);
        Goal { probability: share_of(share), ..goal }
    });
    let goals = goals.collect();
    Ok(Grounding { goals, observations: Vec::new(), last_seen: None, is_guess: true })
}

#[expect(clippy::cast_possible_truncation, reason = "a share from 0 to 1")]
fn share_of(share: f64) -> f32 {
    share.clamp(0.0, 1.0) as f32
}

/// `None` where the robot did not know its place.
fn goal_of(record: &Record, reason: String) -> Option<Goal> {
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
    })
}

fn is_near(a: &Goal, b: &Goal) -> bool {
    a.map_id == b.map_id && metres_between(a.position, b.position) < SAME_PLACE_METRES
}

/// Whether the robot was there after the thing was seen there.
fn was_looked_at(held: &Session, goal: &Goal, records: &[Record]) -> bool {
    let seen_at = records.iter().find(|it| Some(it.id) == goal.record).map(|it| it.end_at);
    held.looked.iter().any(|looked| {
        looked.map_id == goal.map_id
            && metres_between(looked.position, goal.position) < SAME_PLACE_METRES
            && seen_at.is_none_or(|at| at <= looked.at)
    })
}
