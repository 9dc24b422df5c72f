//! What is searched for: `start_task`, `determine_unique_instances` and
//! `create_or_update_memory_search_instance`.
//!
//! Where it is searched for stands in [`search`].

pub mod board;
mod grounding;
pub(crate) mod listing;
pub(crate) mod search;
mod wording;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::memory::episodic::instances::{Instance, Place};
use crate::memory::episodic::named::{bare_name, things_in};
use crate::memory::episodic::reference::Reference;
use crate::search::Filter;
use crate::store::Record;
use crate::tools::args::{Args, Kind, Param, TimeReading, refused};
use crate::tools::context::Context;
use crate::tools::recall::fault;
use crate::tools::reply::{self, Text};
use crate::tools::session::{Candidate, Found, Session, Target, Task};
use crate::tools::sessions::SessionName;
use crate::tools::{ToolError, ToolReply};

/// Longest task, query and description.
const TEXT_BYTES_MAX: usize = 2_000;
/// Records that a reply shows of one object; of more the newest.
const OBSERVATIONS_MAX: usize = 8;
/// Objects that a reply lists and the session remembers.
const CANDIDATES_MAX: usize = 32;

const TEXT: Kind = Kind::Text { bytes_max: TEXT_BYTES_MAX };

pub(crate) const START: &[Param] = &[
    Param::required("task", TEXT, "The user's request in words: 'bring me the mug I use most'."),
    Param::optional(
        "now",
        Kind::Time,
        "When the user said it; relative times of later calls count from there. The clock's \
         time at each call where absent.",
    ),
];

pub(crate) const DETERMINE: &[Param] = &[Param::optional(
    "query",
    TEXT,
    "Which things, and the order in which they come: 'find most frequently used mug'. The task \
     where absent.",
)];

pub(crate) const MEMORY_INSTANCE: &[Param] = &[
    Param::optional(
        "instance_desc",
        TEXT,
        "To decide yourself: what is searched for, such as 'a purple book'.",
    ),
    Param::optional(
        "record_id",
        Kind::RecordIds { most: 1 },
        "To decide yourself: a record that shows what is searched for.",
    ),
    Param::optional(
        "instance",
        Kind::Whole { least: 0, most: 1_000, default: 0 },
        "To decide yourself: number of an object in the newest reply of \
         determine_unique_instances, from 1.",
    ),
];

/// A checked call of `start_task`.
#[derive(Debug)]
pub(crate) struct Start {
    task: Task,
}

/// What decides of the target.
#[derive(Debug)]
pub(crate) enum Choice {
    /// The newest working memory and the task.
    Implied,
    Described(String),
    Record(RecordId),
    /// From 0.
    Candidate(usize),
}

impl Start {
    /// `reading` is of the clock: an earlier task's time does not count.
    pub(crate) fn parse(args: &Args, reading: TimeReading) -> Result<Self, ToolError> {
        let (text, now) = (args.required_text("task")?.to_owned(), args.time("now", reading)?);
        Ok(Self { task: Task { text, now } })
    }
}

impl Choice {
    pub(crate) fn parse(args: &Args) -> Result<Self, ToolError> {
        let described = args.text("instance_desc")?.map(str::to_owned).map(Self::Described);
        let record = args.record_ids("record_id")?.first().copied().map(Self::Record);
        let candidate = args.count("instance")?.checked_sub(1).map(Self::Candidate);
        let mut given = [described, record, candidate].into_iter().flatten();
        match (given.next(), given.next()) {
            (None, _) => Ok(Self::Implied),
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => Err(refused(
                "at most one of the arguments \"instance_desc\", \"record_id\" and \"instance\" is \
                 accepted; several came"
                    .to_owned(),
            )),
        }
    }
}

/// Begins a task: the session forgets what the one before was about.
pub(crate) fn start(
    context: &Context,
    session: SessionName<'_>,
    request: Start,
) -> Result<ToolReply, ToolError> {
    let Start { task } = request;
    let zone = context.options.zone;
    let now = task.now.unwrap_or_else(|| context.clock.now());
    let mut structured = Map::new();
    structured.insert("task".to_owned(), json!(task.text));
    structured.insert("now".to_owned(), json!(zone.format(now)));
    structured.insert("session".to_owned(), json!(session.name));
    let text = format!("task: {} (asked at {})", task.text, zone.format(now));
    context.update(session, |it| *it = Session { task: Some(task), ..Session::default() })?;
    Ok(ToolReply { structured, text, images: Vec::new() })
}

/// Divides the working memory into distinct objects, which become the working memory.
pub(crate) fn determine(
    context: &Context,
    session: SessionName<'_>,
    query: Option<&str>,
) -> Result<ToolReply, ToolError> {
    let held = context.sessions().get(session.name);
    if held.recalled.is_none() {
        return Err(refused(
            "the working memory of this session is empty; accepted is a call after a recall, such \
             as recall_all"
                .to_owned(),
        ));
    }
    let now = now(context, &held);
    let records = context.episodic.records(&held.working_memory).map_err(|e| fault(&e))?;
    let reference = asked_for(context, query, &held)?;
    let ranked = context.episodic.singled_out(&reference, &records, now, context.options.zone);
    let mut found = ranked.map_err(|error| fault(&error))?;
    let total = found.len();
    found.truncate(CANDIDATES_MAX);
    let candidates: Vec<Candidate> = found
        .iter()
        .map(|it| Candidate { desc: it.desc.clone(), records: it.records.clone() })
        .collect();
    let kept: BTreeSet<RecordId> = found.iter().flat_map(|it| it.records.clone()).collect();
    context.update(session, |it| {
        // In the order of the objects, each record once.
        let mut left = kept;
        let ordered = candidates.iter().flat_map(|it| it.records.clone());
        it.working_memory = ordered.filter(|id| left.remove(id)).collect();
        it.candidates = candidates;
    })?;
    Ok(told(context, session, &reference, &found, total, &records))
}

fn told(
    context: &Context,
    session: SessionName<'_>,
    reference: &Reference,
    found: &[Instance],
    total: usize,
    records: &[Record],
) -> ToolReply {
    let mut text = Text::new(context.options.text_max_chars);
    let mut structured = Map::new();
    let instances: Vec<Value> = found.iter().map(|it| instance_json(context, it)).collect();
    structured.insert("instances".to_owned(), Value::Array(instances));
    structured.insert("session".to_owned(), json!(session.name));
    if found.is_empty() {
        let thing = if reference.thing.is_empty() { "a thing" } else { &reference.thing };
        let why =
            format!("none of the {} records of the working memory shows {thing:?}", records.len());
        text.line(&format!("Nothing found: {why}."));
        structured.insert("why_empty".to_owned(), json!(why));
    } else {
        let order = wording::order(reference);
        text.line(&format!("{total} distinct objects in {} records, {order}:", records.len()));
    }
    for (number, it) in (1..).zip(found) {
        text.line(&instance_line(context, number, it));
    }
    ToolReply { structured, text: text.finish(), images: Vec::new() }
}

fn instance_json(context: &Context, instance: &Instance) -> Value {
    let Instance {
        desc,
        records,
        visits,
        days_seen,
        first_seen,
        last_seen,
        places,
        seen_with,
        hours: _,
        confidence,
        belief: _,
    } = instance;
    let zone = context.options.zone;
    let ids: Vec<u64> = records.iter().map(|id| id.0).collect();
    let place = |it: &Place| json!({"position": it.position, "count": it.count, "place": it.words});
    json!({
        "instance_desc": desc,
        "record_ids": ids,
        "count": visits.len(),
        "days_seen": days_seen,
        "first_seen": zone.format(*first_seen),
        "last_seen": zone.format(*last_seen),
        "places": places.iter().map(place).collect::<Vec<Value>>(),
        "seen_with": seen_with,
        "confidence": reply::rounded(*confidence),
    })
}

/// `1. red mug: 12 times on 4 days, last 2025-01-03 09:14:07; 8 at wooden desk in the
/// office, 4 at sofa; with laptop; records 3 7 9 [.95]`
fn instance_line(context: &Context, number: usize, instance: &Instance) -> String {
    let zone = context.options.zone;
    let mut line = format!(
        "{number}. {}: {} on {}, last {}",
        instance.desc,
        wording::counted(instance.visits.len(), "time"),
        wording::counted(instance.days_seen, "day"),
        zone.format(instance.last_seen)
    );
    let places = instance.places.iter().filter(|it| !it.words.is_empty()).take(3);
    let places: Vec<String> = places.map(|it| format!("{} at {}", it.count, it.words)).collect();
    if !places.is_empty() {
        line.push_str(&format!("; {}", places.join(", ")));
    }
    if !instance.seen_with.is_empty() {
        line.push_str(&format!("; with {}", instance.seen_with.join(", ")));
    }
    let newest = instance.records.iter().rev().take(3).map(|id| format!("#{id}"));
    let newest: Vec<String> = newest.collect();
    line.push_str(&format!("; newest {} [{:.2}]", newest.join(" "), instance.confidence));
    line
}

/// Decides what is searched for.
pub(crate) fn create(
    context: &Context,
    session: SessionName<'_>,
    choice: Choice,
) -> Result<ToolReply, ToolError> {
    let held = context.sessions().get(session.name);
    let target = chosen(context, &held, choice)?;
    let mut newest: Vec<RecordId> = target.records.clone();
    newest.reverse();
    newest.truncate(OBSERVATIONS_MAX);
    let observations = context.episodic.records(&newest).map_err(|e| fault(&e))?;
    let reply = described(context, &target, &observations);
    context.update(session, |it| {
        let is_other = it.target.as_ref().is_none_or(|before| before.desc != target.desc);
        if is_other {
            it.looked.clear();
        }
        it.search = None;
        it.target = Some(target);
    })?;
    Ok(reply)
}

fn described(context: &Context, target: &Target, observations: &[Record]) -> ToolReply {
    let Target { desc, found, records } = target;
    let zone = context.options.zone;
    let seen = observations.iter().find(|it| it.image.is_some());
    let past: Vec<Value> =
        observations.iter().map(|it| Value::Object(reply::record_json(it, zone))).collect();
    let mut structured = Map::new();
    structured.insert("found_in_memory".to_owned(), json!(found.word()));
    structured.insert("instance_desc".to_owned(), json!(desc));
    structured.insert("instance_viz_path".to_owned(), json!(seen.map(reply::image_uri)));
    structured.insert("past_observations".to_owned(), Value::Array(past));
    let mut text = Text::new(context.options.text_max_chars);
    text.line(&match found {
        Found::Yes => format!(
            "searching for {desc:?}, found in memory: {}, newest first:",
            wording::counted(records.len(), "record")
        ),
        Found::No => format!("searching for {desc:?}, which the memory does not show."),
        Found::Unknown => format!("searching for {desc:?}; nothing was recalled of it yet."),
    });
    for record in observations {
        text.line(&reply::line(record, None, zone));
    }
    ToolReply { structured, text: text.finish(), images: Vec::new() }
}

/// What `choice` decides on.
fn chosen(context: &Context, held: &Session, choice: Choice) -> Result<Target, ToolError> {
    match choice {
        Choice::Candidate(at) => match held.candidates.get(at) {
            Some(it) => Ok(found(it.desc.clone(), it.records.clone())),
            None => Err(refused(format!(
                "argument \"instance\" is {}; accepted is a number from 1 to {}, of an object in \
                 the newest reply of determine_unique_instances",
                at + 1,
                held.candidates.len()
            ))),
        },
        Choice::Record(id) => of_record(context, held, id),
        Choice::Described(desc) => of_description(context, held, desc),
        Choice::Implied => implied(context, held),
    }
}

fn found(desc: String, records: Vec<RecordId>) -> Target {
    Target { desc, found: Found::Yes, records }
}

fn of_record(context: &Context, held: &Session, id: RecordId) -> Result<Target, ToolError> {
    let mut ids = held.working_memory.clone();
    if !ids.contains(&id) {
        ids.push(id);
    }
    let records = context.episodic.records(&ids).map_err(|e| fault(&e))?;
    let Some(record) = records.iter().find(|it| it.id == id) else {
        return Err(refused(format!(
            "argument \"record_id\" is {id}, which does not exist; {}",
            reply::holdings(context)
        )));
    };
    let known = held.candidates.iter().find(|it| it.records.contains(&id));
    if let Some(known) = known {
        return Ok(found(known.desc.clone(), known.records.clone()));
    }
    let reference = asked_for(context, None, held)?;
    // Where the record shows nothing of what was asked for, what it names first counts.
    let asked = Some(reference.thing).filter(|it| !it.is_empty());
    for thing in asked.into_iter().chain(things_in(&record.caption)) {
        let objects = context.episodic.instances(&thing, &records, context.options.zone);
        let objects = objects.map_err(|error| fault(&error))?;
        if let Some(it) = objects.into_iter().find(|it| it.records.contains(&id)) {
            return Ok(found(it.desc, it.records));
        }
    }
    Ok(found(record.caption.clone(), vec![id]))
}

fn of_description(context: &Context, held: &Session, desc: String) -> Result<Target, ToolError> {
    let reference = match bare_name(&desc) {
        Some(thing) => Reference { thing, ..Reference::default() },
        None => context.refer(&desc)?,
    };
    if reference.thing.is_empty() {
        let found = if held.recalled.is_some() { Found::No } else { Found::Unknown };
        return Ok(Target { desc, found, records: Vec::new() });
    }
    let known = held.candidates.iter().find(|it| it.desc == reference.thing);
    if let Some(known) = known {
        return Ok(found(desc, known.records.clone()));
    }
    let records = context.episodic.records(&held.working_memory).map_err(|e| fault(&e))?;
    let ranked = context.episodic.singled_out(
        &reference,
        &records,
        now(context, held),
        context.options.zone,
    );
    if let Some(first) = ranked.map_err(|e| fault(&e))?.into_iter().next() {
        return Ok(found(desc, first.records));
    }
    let seen = context.episodic.last_seen(&reference.thing, &Filter::default(), 1);
    let seen = seen.map_err(|e| fault(&e))?;
    let is_seen = if seen.is_empty() { Found::No } else { Found::Yes };
    Ok(Target { desc, found: is_seen, records: Vec::new() })
}

/// What the newest working memory and the task say.
fn implied(context: &Context, held: &Session) -> Result<Target, ToolError> {
    let asked = asked_for(context, None, held)?;
    let wanted = held.task.as_ref().map(|task| wording::wanted(&task.text, &asked.thing));
    let recalled = held.recalled.as_ref().map(|it| it.query.clone());
    let Some(desc) = wanted.or(recalled) else {
        return Err(refused(
            "there is neither a task nor a working memory in this session; accepted is a call \
             after start_task or a recall, or with the argument \"instance_desc\""
                .to_owned(),
        ));
    };
    if held.recalled.is_none() {
        return Ok(Target { desc, found: Found::Unknown, records: Vec::new() });
    }
    if let Some(first) = held.candidates.first() {
        return Ok(found(first.desc.clone(), first.records.clone()));
    }
    let records = context.episodic.records(&held.working_memory).map_err(|e| fault(&e))?;
    let ranked =
        context.episodic.singled_out(&asked, &records, now(context, held), context.options.zone);
    match ranked.map_err(|e| fault(&e))?.into_iter().next() {
        Some(first) => Ok(found(first.desc, first.records)),
        None => Ok(Target { desc, found: Found::No, records: Vec::new() }),
    }
}

/// What is asked for, in words: the query, else the task, else the newest recall.
fn asked_for(
    context: &Context,
    query: Option<&str>,
    held: &Session,
) -> Result<Reference, ToolError> {
    let task = held.task.as_ref().map(|task| task.text.as_str());
    let recalled = held.recalled.as_ref().map(|it| it.query.as_str());
    let Some(asked) = query.or(task) else {
        // A recall has no order of its own.
        let thing = recalled.map(|it| named(context, it)).transpose()?.unwrap_or_default();
        return Ok(Reference { thing, ..Reference::default() });
    };
    let mut asked = context.refer(asked)?;
    for words in [query.and(task), recalled].into_iter().flatten() {
        if asked.thing.is_empty() {
            asked.thing = named(context, words)?;
        }
    }
    Ok(asked)
}

/// The thing that a description or a request names; empty where it names none.
fn named(context: &Context, words: &str) -> Result<String, ToolError> {
    bare_name(words).map_or_else(|| Ok(context.refer(words)?.thing), Ok)
}

/// What counts as now in a session.
fn now(context: &Context, held: &Session) -> Timestamp {
    let asked_at = held.task.as_ref().and_then(|task| task.now);
    asked_at.unwrap_or_else(|| context.clock.now())
}
