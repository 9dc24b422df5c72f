//! `determine_unique_instances_from_latest_working_memory`: the distinct objects that the
//! newest recall shows.

use serde::Serialize;

use crate::memory::episodic::instances::{Instance, Place};
use crate::memory::episodic::reference::{Order, Reference};
use crate::retrieval::InstanceList;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::Param;
use crate::tools::context::Context;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::object_retrieval::{TEXT, counted};
use crate::tools::reply::{self, Text};
use crate::tools::{ToolError, ToolReply};

pub(crate) const NAME: &str = "determine_unique_instances_from_latest_working_memory";

pub(crate) const PARAMS: &[Param] = &[Param::optional(
    "query",
    TEXT,
    "Which things, and the order in which they come: 'find most frequently used mug'. The task \
     where absent.",
)];

#[derive(Debug, Serialize)]
struct Reply<'a> {
    instances: Vec<InstanceReply<'a>>,
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
}

#[derive(Debug, Serialize)]
struct InstanceReply<'a> {
    instance_desc: &'a str,
    record_ids: Vec<u64>,
    count: usize,
    days_seen: usize,
    first_seen: String,
    last_seen: String,
    places: Vec<PlaceReply<'a>>,
    seen_with: &'a [String],
    confidence: f64,
}

#[derive(Debug, Serialize)]
struct PlaceReply<'a> {
    position: Option<[f64; 3]>,
    count: usize,
    place: &'a str,
}

pub(crate) fn run(
    context: &Context,
    session: SessionName<'_>,
    query: Option<&str>,
) -> Result<ToolReply, ToolError> {
    let retrieval = &context.retrieval;
    let request = query.map(|query| retrieval.parse(query)).transpose();
    let found =
        request.and_then(|request| retrieval.determine_instances(session, request.as_ref()));
    let found = found.map_err(|error| refusal(context, error))?;
    let instances = found.instances.iter().map(|it| instance_reply(context, it)).collect();
    let reply = Reply { instances, session: session.name, why_empty: why_empty(&found) };
    Ok(reply::of(&reply, text_of(context, &found)))
}

fn why_empty(found: &InstanceList) -> Option<String> {
    let thing = &found.reference.thing;
    let thing = if thing.is_empty() { "a thing" } else { thing };
    let why =
        || format!("none of the {} records of the working memory shows {thing:?}", found.records);
    found.instances.is_empty().then(why)
}

pub(super) fn text_of(context: &Context, found: &InstanceList) -> String {
    let InstanceList { instances, total, records, reference } = found;
    let mut text = Text::new(context.options.text_max_chars);
    if let Some(why) = why_empty(found) {
        text.line(&format!("Nothing found: {why}."));
    } else {
        let order = order_words(reference);
        text.line(&format!("{total} distinct objects in {records} records, {order}:"));
    }
    for (number, it) in (1..).zip(instances) {
        text.line(&line(context, number, it));
    }
    text.finish()
}

fn instance_reply<'a>(context: &Context, instance: &'a Instance) -> InstanceReply<'a> {
    let zone = context.options.zone;
    let place =
        |it: &'a Place| PlaceReply { position: it.position, count: it.count, place: &it.words };
    InstanceReply {
        instance_desc: &instance.desc,
        record_ids: instance.records.iter().map(|id| id.0).collect(),
        count: instance.visits.len(),
        days_seen: instance.days_seen,
        first_seen: zone.format(instance.first_seen),
        last_seen: zone.format(instance.last_seen),
        places: instance.places.iter().map(place).collect(),
        seen_with: &instance.seen_with,
        confidence: reply::rounded(instance.confidence),
    }
}

/// `1. red mug: 12 times on 4 days, last 2025-01-03 09:14:07; 8 at wooden desk in the
/// office, 4 at sofa; with laptop; newest #9 #7 #3 [.95]`
fn line(context: &Context, number: usize, instance: &Instance) -> String {
    let zone = context.options.zone;
    let mut line = format!(
        "{number}. {}: {} on {}, last {}",
        instance.desc,
        counted(instance.visits.len(), "time"),
        counted(instance.days_seen, "day"),
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

fn order_words(reference: &Reference) -> String {
    match &reference.order {
        None | Some(Order::MostOften) => "most frequent first".to_owned(),
        Some(Order::LeastOften) => "least frequent first".to_owned(),
        Some(Order::Latest) => "latest first".to_owned(),
        Some(Order::Earliest) => "earliest first".to_owned(),
        Some(Order::NearestTo(what)) => format!("nearest to {what} first"),
    }
}
