//! `retrieve_from_text_with_time` and `recall_observation_of_instance`: the moments
//! at which something was observed.
//!
//! To ask the same again in one session gets the same answer in a few words, so that
//! a model notices that it goes in circles. It is the memory's answer of now: where
//! frames came in between that change it, it is told in full.

use serde_json::{Value, json};

use crate::base::RecordId;
use crate::memory::episodic::{MemoryError, Recalled};
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param, TimeReading, refused};
use crate::tools::context::Context;
use crate::tools::explain::EXPLAIN;
use crate::tools::recall::{self, MAP, QUERY_BYTES_MAX, Request, SOURCE};
use crate::tools::sessions::SessionName;
use crate::tools::{ToolError, ToolReply, reply};

const K: Param = Param::optional(
    "k",
    Kind::Whole { least: 1, most: SIGHTINGS_MAX, default: 8 },
    "How many moments at most.",
);

/// The newest sightings that are ranked.
const SIGHTINGS_MAX: i64 = 50;

pub(crate) const TEXT_WITH_TIME: &[Param] = &[
    Param::required("x", Kind::Text { bytes_max: QUERY_BYTES_MAX }, "What to look for, in words."),
    Param::required("start_time", Kind::Time, "Start of the window, inclusive."),
    Param::required("end_time", Kind::Time, "End of the window, inclusive."),
    K,
    SOURCE,
    MAP,
    AREA,
    EXPLAIN,
];

const INSTANCE: &str = "instance_description";

pub(crate) const OBSERVATION: &[Param] = &[
    Param::required(
        INSTANCE,
        Kind::Text { bytes_max: QUERY_BYTES_MAX },
        "The object, with what tells it apart: 'a red mug'.",
    ),
    Param::required("search_start_time", Kind::Time, "Start of the window, inclusive."),
    Param::required("search_end_time", Kind::Time, "End of the window, inclusive."),
    K,
    SOURCE,
    MAP,
    AREA,
];

/// A checked call of `retrieve_from_text_with_time`.
pub(crate) fn text_request(args: &Args, reading: TimeReading) -> Result<Request, ToolError> {
    Request::with_names(args, reading, ["x", "start_time", "end_time"])
}

/// A checked call of `recall_observation_of_instance`.
pub(crate) fn instance_request(args: &Args, reading: TimeReading) -> Result<Request, ToolError> {
    Request::with_names(args, reading, [INSTANCE, "search_start_time", "search_end_time"])
}

/// Moments by a search phrase.
pub(crate) fn retrieve(
    context: &Context,
    session: SessionName<'_>,
    tool: &str,
    request: &Request,
) -> Result<ToolReply, ToolError> {
    let reply = recall::best_match(context, session, tool, request)?;
    answered(context, session, tool, request, reply)
}

/// Moments that really show an object, best first.
pub(crate) fn observations(
    context: &Context,
    session: SessionName<'_>,
    tool: &str,
    request: &Request,
) -> Result<ToolReply, ToolError> {
    let most = usize::try_from(SIGHTINGS_MAX).unwrap_or(usize::MAX);
    let seen = context.episodic.last_seen(&request.query, &request.filter, most);
    let seen = seen.map_err(|error| match &error {
        MemoryError::NamesNothing(_) => refused(format!("argument {INSTANCE:?}: {error}")),
        MemoryError::Store(_)
        | MemoryError::Model(_)
        | MemoryError::Corpus(_)
        | MemoryError::Thread(_) => recall::fault(&error),
    })?;
    let mut found: Vec<Recalled> = seen.into_iter().map(|it| it.recalled).collect();
    // Stable: the newer of equals comes first.
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(request.k);
    recall::remember(context, session, tool, request, &found)?;
    let why_empty = || match context.episodic.count(&request.filter) {
        0 => recall::why_none(context, &request.filter),
        seen => format!(
            "none of {seen} records shows {:?}; retrieve_from_text_with_time finds what is similar",
            request.query
        ),
    };
    let reply = reply::recalled(context, session.name, &found, "best first", why_empty);
    answered(context, session, tool, request, reply)
}

/// Notes the answer, and shortens it where the session has it already.
fn answered(
    context: &Context,
    session: SessionName<'_>,
    tool: &str,
    request: &Request,
    mut reply: ToolReply,
) -> Result<ToolReply, ToolError> {
    let ids = ids_of(&reply);
    let call = spelled(tool, request);
    let is_known = context.update(session, |it| {
        let is_known = it.answer_to(&call) == Some(ids.as_slice());
        it.answered(call, ids.clone());
        is_known
    })?;
    if is_known && !request.explain {
        let ids: Vec<String> = ids.iter().map(|id| format!("#{id}")).collect();
        let answer = if ids.is_empty() { "nothing found".to_owned() } else { ids.join(", ") };
        reply.text = format!("already asked, same answer: {answer}");
        reply.structured.insert("already_asked".to_owned(), json!(true));
    }
    Ok(reply)
}

fn ids_of(reply: &ToolReply) -> Vec<RecordId> {
    let records = reply.structured.get("records").and_then(Value::as_array);
    let ids = records.into_iter().flatten().filter_map(|record| record.get("id")?.as_u64());
    ids.map(RecordId).collect()
}

/// One spelling of all calls that ask the same.
fn spelled(tool: &str, request: &Request) -> String {
    let Request { query, filter, k, explain: _ } = request;
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    // Every part of the filter counts, also those that later builds add.
    format!("{tool} {:?} {k} {filter:?}", words.join(" "))
}
