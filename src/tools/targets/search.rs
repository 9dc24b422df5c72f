//! Searching the target: `create_or_update_real_world_search_instance`,
//! `search_current_target_instance_in_real_world` and `report_search_result`.

use serde_json::{Map, Value, json};

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::tools::args::{Args, Kind, Param, refused};
use crate::tools::context::Context;
use crate::tools::recall::fault;
use crate::tools::reply::{self, Text};
use crate::tools::session::{Goal, Looked, Search, SearchState, Session, Target};
use crate::tools::sessions::SessionName;
use crate::tools::targets::board::Event;
use crate::tools::targets::grounding::{Grounding, grounded, grounded_in};
use crate::tools::targets::{self, wording};
use crate::tools::{ToolError, ToolReply};

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
