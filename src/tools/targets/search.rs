//! Where the target is searched for: `create_or_update_real_world_search_instance`,
//! `search_current_target_instance_in_real_world` and `report_search_result`.
//!
//! Whatever singled the object out, the first goal is where that object was seen
//! last. One that was never seen gets guesses, marked as such.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::base::RecordId;
use crate::base::pose::metres_between;
use crate::base::time::Timestamp;
use crate::memory::episodic::individuals::LikelyPlace;
use crate::memory::episodic::instances::Instance;
use crate::memory::episodic::reference::refer;
use crate::search::Filter;
use crate::store::Record;
use crate::tools::args::{Args, Kind, Param, refused};
use crate::tools::context::Context;
use crate::tools::recall::fault;
use crate::tools::reply::{self, Text};
use crate::tools::session::{Goal, Looked, Search, SearchState, Session, Target};
use crate::tools::sessions::SessionName;
use crate::tools::targets::board::Event;
use crate::tools::targets::{self, OBSERVATIONS_MAX, wording};
use crate::tools::{ToolError, ToolReply};

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

pub(crate) const WORLD_INSTANCE: &[Param] = &[Param::optional(
    "record_id",
    Kind::RecordIds { most: 1 },
    "To decide yourself: the record whose place is searched first.",
)];

pub(crate) const REPORT: &[Param] = &[
    Param::required("found", Kind::Flag, "Whether the robot found the target at the goal."),
    Param::optional(
        "record_id",
        Kind::RecordIds { most: 1 },
        "The record of what the robot saw there.",
    ),
    Param::optional("position", Kind::Position, "Where the robot looked; the goal where absent."),
];

/// A checked call of `report_search_result`.
#[derive(Debug)]
pub(crate) struct Report {
    found: bool,
    record: Option<RecordId>,
    position: Option<[f64; 3]>,
}

impl Report {
    pub(crate) fn parse(args: &Args) -> Result<Self, ToolError> {
        Ok(Self {
            found: args.flag("found")?,
            record: args.record_ids("record_id")?.first().copied(),
            position: args.position("position")?,
        })
    }
}

/// What is known of where the target is.
struct Grounding {
    goals: Vec<Goal>,
    /// Newest first; none of a guess.
    observations: Vec<Record>,
    last_seen: Option<Timestamp>,
    is_guess: bool,
}

/// Decides where the target is searched for.
pub(crate) fn create(
    context: &Context,
    session: SessionName<'_>,
    record: Option<RecordId>,
) -> Result<ToolReply, ToolError> {
    let held = context.sessions().get(session.name);
    let target = match held.target.clone() {
        Some(target) => target,
        None => targets::chosen(context, &held, targets::Choice::Implied)?,
    };
    let grounding = match record {
        Some(id) => grounded_in(context, &held, &target, id)?,
        None => grounded(context, &held, &target)?,
    };
    let reply = told(context, &target, &grounding);
    context.update(session, |it| {
        it.target = Some(target);
        it.search =
            Some(Search { state: SearchState::Planned, goals: grounding.goals, visited: 0 });
    })?;
    Ok(reply)
}

/// Gives the goals to the robot; the reasoning ends here.
pub(crate) fn dispatch(
    context: &Context,
    session: SessionName<'_>,
) -> Result<ToolReply, ToolError> {
    let held = context.sessions().get(session.name);
    let (Some(target), Some(search)) = (held.target, held.search) else {
        return Err(refused(
            "this session has no real-world search instance; accepted is a call after \
             create_or_update_real_world_search_instance"
                .to_owned(),
        ));
    };
    let ended = match search.state {
        SearchState::Planned | SearchState::Dispatched => None,
        SearchState::Found => Some("ended: the target was found"),
        SearchState::Reopened => Some("was reopened: all its goals were visited in vain"),
    };
    if let Some(ended) = ended {
        return Err(refused(format!(
            "the search of this session {ended}; accepted is a call after \
             create_or_update_real_world_search_instance"
        )));
    }
    let left = search.goals.get(search.visited..).unwrap_or_default();
    if left.is_empty() {
        return Err(ToolError::Refused(format!(
            "no place is known where {:?} could be searched for: {}",
            target.desc,
            reply::holdings(context)
        )));
    }
    context.update(session, |it| {
        if let Some(search) = &mut it.search {
            search.state = SearchState::Dispatched;
        }
    })?;
    let goals: Vec<Value> = left.iter().map(goal_json).collect();
    publish(context, session, "dispatched", &target.desc, goals.clone());
    let mut structured = Map::new();
    structured.insert("status".to_owned(), json!("dispatched"));
    structured.insert("target".to_owned(), json!(target.desc));
    structured.insert("goals".to_owned(), Value::Array(goals));
    let mut text = Text::new(context.options.text_max_chars);
    text.line(&format!("dispatched: searching for {:?} at:", target.desc));
    for (number, goal) in (1..).zip(left) {
        text.line(&format!("{number}. {}", goal_line(goal)));
    }
    Ok(ToolReply { structured, text: text.finish(), images: Vec::new() })
}

/// Takes what the robot saw at the goal, and says where to go next.
pub(crate) fn report(
    context: &Context,
    session: SessionName<'_>,
    report: &Report,
) -> Result<ToolReply, ToolError> {
    if let Some(id) = report.record
        && context.episodic.records(&[id]).map_err(|e| fault(&e))?.is_empty()
    {
        return Err(refused(format!(
            "argument \"record_id\" is {id}, which does not exist; {}",
            reply::holdings(context)
        )));
    }
    let now = context.clock.now();
    let held = context.sessions().get(session.name);
    let under_way = held.search.as_ref().is_some_and(|it| it.state == SearchState::Dispatched);
    let Some(target) = held.target.filter(|_| under_way) else {
        return Err(refused(
            "no search of this session is under way; accepted is a report after \
             search_current_target_instance_in_real_world"
                .to_owned(),
        ));
    };
    let left = context.update(session, |it| visited(it, report, now))?;
    let status = match (report.found, left.is_empty()) {
        (true, _) => "found",
        (false, false) => "next",
        (false, true) => "reopened",
    };
    let goals: Vec<Value> =
        if report.found { Vec::new() } else { left.iter().map(goal_json).collect() };
    let next = goals.first().cloned();
    let remaining = goals.len();
    publish(context, session, status, &target.desc, goals);
    let mut structured = Map::new();
    structured.insert("status".to_owned(), json!(status));
    structured.insert("target".to_owned(), json!(target.desc));
    structured.insert("next".to_owned(), json!(next));
    structured.insert("remaining".to_owned(), json!(remaining));
    let text = match (report.found, left.first()) {
        (true, _) => format!("found {:?}; the search has ended.", target.desc),
        (false, Some(goal)) => format!("not there; next: {}", goal_line(goal)),
        (false, None) => format!(
            "not there, and no goal is left: the search for {:?} is open again. \
             create_or_update_real_world_search_instance leaves out the places looked at.",
            target.desc
        ),
    };
    Ok(ToolReply { structured, text, images: Vec::new() })
}

/// Notes a visit of the next goal; the goals that are left.
fn visited(session: &mut Session, report: &Report, now: Timestamp) -> Vec<Goal> {
    let Some(search) = &mut session.search else { return Vec::new() };
    let goal = search.goals.get(search.visited).cloned();
    search.visited += 1;
    let left: Vec<Goal> = search.goals.get(search.visited..).unwrap_or_default().to_vec();
    if report.found {
        search.state = SearchState::Found;
        if let (Some(target), Some(id)) = (&mut session.target, report.record)
            && !target.records.contains(&id)
        {
            target.records.push(id);
        }
        return left;
    }
    if left.is_empty() {
        search.state = SearchState::Reopened;
    }
    if let Some(Goal { position, map_id, .. }) = goal {
        let position = report.position.unwrap_or(position);
        session.looked_at(Looked { position, map_id, at: now });
    }
    left
}

fn publish(
    context: &Context,
    session: SessionName<'_>,
    status: &'static str,
    target: &str,
    goals: Vec<Value>,
) {
    let (session, target) = (session.name.to_owned(), target.to_owned());
    context.board().pin(Event { session, status, target, goals }, context.clock.now());
}

/// The place that the caller decided on, then the others.
fn grounded_in(
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
fn grounded(context: &Context, held: &Session, target: &Target) -> Result<Grounding, ToolError> {
    let (objects, records) = alike(context, held, target)?;
    let of = |id: &RecordId| records.iter().find(|it| it.id == *id);
    let Some(object) = objects.first() else {
        return guessed(context, held, target, Known::Never);
    };
    let mut newest: Vec<&Record> = object.records.iter().filter_map(of).collect();
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
    for other in objects.iter().skip(1) {
        let there = other.records.iter().rev().filter_map(of).find(|it| it.meta.pose.is_some());
        add(there, &format!("another {:?} was last seen", other.desc));
    }
    if goals.is_empty() && newest.iter().any(|it| it.meta.pose.is_some()) {
        // Every place where it was seen was looked at since.
        return Ok(Grounding { last_seen, ..guessed(context, held, target, Known::Elsewhere)? });
    }
    let stays = stays(object, targets::now(context, held));
    let goals = weighed(goals, stays, f64::from(object.confidence));
    let observations = newest.into_iter().take(OBSERVATIONS_MAX).cloned().collect();
    Ok(Grounding { goals, observations, last_seen, is_guess: false })
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
    let named = refer(&target.desc).thing;
    let thing = if named.is_empty() { target.desc.clone() } else { named };
    let seen = match context.episodic.last_seen(&thing, &Filter::default(), SIGHTINGS_MAX) {
        Ok(seen) => seen,
        Err(crate::memory::episodic::MemoryError::NamesNothing(_)) => Vec::new(),
        Err(error) => return Err(fault(&error)),
    };
    let mut ids: BTreeSet<RecordId> = seen.iter().map(|it| it.recalled.record.id).collect();
    ids.extend(&target.records);
    ids.extend(&held.working_memory);
    let ids: Vec<RecordId> = ids.into_iter().collect();
    let records = context.episodic.records(&ids).map_err(|e| fault(&e))?;
    let mut objects = context.episodic.instances(&thing, &records, context.options.zone);
    // What was singled out decides; else what was recalled last; else what was seen last.
    let overlap =
        |it: &Instance, with: &[RecordId]| it.records.iter().filter(|id| with.contains(id)).count();
    let first = held.working_memory.first().copied();
    objects.sort_by_key(|it| {
        let recalled = first.is_some_and(|id| it.records.contains(&id));
        std::cmp::Reverse((overlap(it, &target.records), recalled, it.last_seen))
    });
    if objects.is_empty() && !target.records.is_empty() {
        // A target that was decided on by a record, whose caption names it otherwise.
        let own: Vec<Record> =
            records.iter().filter(|it| target.records.contains(&it.id)).cloned().collect();
        let words = own.last().map(|it| refer(&it.caption).thing).unwrap_or_default();
        objects = context.episodic.instances(&words, &own, context.options.zone);
    }
    Ok((objects, records))
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
    let named = refer(&target.desc).thing;
    let thing = if named.is_empty() { &target.desc } else { &named };
    let likely = context.episodic.likely_places(thing, 4 * GOALS_MAX).map_err(|e| fault(&e))?;
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

fn told(context: &Context, target: &Target, grounding: &Grounding) -> ToolReply {
    let Grounding { goals, observations, last_seen, is_guess } = grounding;
    let zone = context.options.zone;
    let first = goals.first();
    let found = match (is_guess, goals.is_empty()) {
        (false, _) => "yes",
        (true, false) => "no",
        (true, true) => "unknown",
    };
    let past: Vec<Value> =
        observations.iter().map(|it| Value::Object(reply::record_json(it, zone))).collect();
    let mut structured = Map::new();
    structured.insert("found_in_world".to_owned(), json!(found));
    structured.insert("instance_desc".to_owned(), json!(target.desc));
    structured.insert("position".to_owned(), json!(first.map(|it| it.position)));
    structured.insert("theta".to_owned(), json!(first.and_then(|it| it.theta)));
    structured.insert("frame_id".to_owned(), json!(first.map(|it| &it.frame_id)));
    structured.insert("map_id".to_owned(), json!(first.map(|it| &it.map_id)));
    structured.insert("last_seen".to_owned(), json!(last_seen.map(|it| zone.format(it))));
    structured.insert("past_observations".to_owned(), Value::Array(past));
    let alternatives: Vec<Value> = goals.iter().skip(1).map(goal_json).collect();
    structured.insert("alternatives".to_owned(), Value::Array(alternatives));
    if *is_guess {
        structured.insert("guess".to_owned(), json!(true));
    }
    let mut text = Text::new(context.options.text_max_chars);
    text.line(&match (first, is_guess) {
        (Some(goal), false) => format!("search for {:?} at {}", target.desc, goal_line(goal)),
        (Some(goal), true) => {
            format!("{:?}: {}", target.desc, goal_line(goal))
        }
        (None, false) => format!("{:?} was seen, but nobody knows where", target.desc),
        (None, true) => {
            format!("no place is known for {:?}: {}", target.desc, reply::holdings(context))
        }
    });
    if goals.len() > 1 {
        text.line(&format!("{} after it:", wording::counted(goals.len() - 1, "place")));
    }
    for goal in goals.iter().skip(1) {
        text.line(&goal_line(goal));
    }
    ToolReply { structured, text: text.finish(), images: Vec::new() }
}

fn goal_json(goal: &Goal) -> Value {
    let Goal { record, position, theta, frame_id, map_id, reason, probability, is_guess } = goal;
    let mut json = json!({
        "position": position, "theta": theta, "frame_id": frame_id, "map_id": map_id,
        "reason": reason, "record_id": record.map(|id| id.0),
        "probability": reply::rounded(*probability),
    });
    if let (true, Some(json)) = (is_guess, json.as_object_mut()) {
        json.insert("guess".to_owned(), json!(true));
    }
    json
}

/// `(1.2, -0.4): last seen here at 2025-01-03 09:14:07 [#42, .70]`
fn goal_line(goal: &Goal) -> String {
    let [x, y, _] = goal.position;
    let record = goal.record.map_or_else(String::new, |id| format!("#{id}, "));
    format!("({x:.1}, {y:.1}): {} [{record}{:.2}]", goal.reason, goal.probability)
}
