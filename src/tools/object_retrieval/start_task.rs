//! `start_task`: the session begins a task.

use serde::Serialize;

use crate::base::time::Timestamp;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param, TimeReading};
use crate::tools::context::Context;
use crate::tools::object_retrieval::TEXT;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::{ToolError, ToolReply, reply};

pub(crate) const PARAMS: &[Param] = &[
    Param::required("task", TEXT, "The user's request in words: 'bring me the mug I use most'."),
    Param::optional(
        "now",
        Kind::Time,
        "When the user said it; relative times of later calls count from there. The clock's \
         time at each call where absent.",
    ),
];

/// A task in words.
#[derive(Debug)]
pub(crate) struct Request {
    task: String,
    now: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
struct Reply<'a> {
    task: &'a str,
    now: &'a str,
    session: &'a str,
}

/// `reading` is of the clock: an earlier task's time does not count.
pub(crate) fn parse(args: &Args, reading: TimeReading) -> Result<Request, ToolError> {
    Ok(Request { task: args.required_text("task")?.to_owned(), now: args.time("now", reading)? })
}

pub(crate) fn run(
    context: &Context,
    session: SessionName<'_>,
    request: &Request,
) -> Result<ToolReply, ToolError> {
    let Request { task, now } = request;
    let now = context.retrieval.start_task(session, task, *now);
    let now = context.options.zone.format(now.map_err(|error| refusal(context, error))?);
    let text = format!("task: {task} (asked at {now})");
    Ok(reply::of(&Reply { task, now: &now, session: session.name }, text))
}
