//! `watch_goals`: the goals that were given out, for whoever drives the robot.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use crate::retrieval::goal_board::{Event, PublishedEvent, Status};
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::goal::{self, GoalReply};
use crate::tools::reply::{self, Text};
use crate::tools::{ToolError, ToolReply};

/// Longest wait of one call, in seconds: less than a call's least usual deadline.
const WAIT_SECONDS_MAX: i64 = 30;

pub(crate) const PARAMS: &[Param] = &[
    Param::optional(
        "after",
        Kind::Whole { least: 0, most: i64::MAX, default: 0 },
        "Only events after the one of this number, as the reply before said in `next`.",
    ),
    Param::optional(
        "wait_seconds",
        Kind::Whole { least: 0, most: WAIT_SECONDS_MAX, default: 0 },
        "How long to wait for the first one.",
    ),
];

/// The newest event that is known, and how long to wait for the next.
#[derive(Debug)]
pub(crate) struct Request {
    after: u64,
    wait: Duration,
}

#[derive(Debug, Serialize)]
struct Reply {
    events: Vec<EventReply>,
    next: u64,
}

#[derive(Debug, Serialize)]
struct EventReply {
    number: u64,
    time: String,
    session: String,
    status: &'static str,
    target: String,
    goals: Vec<GoalReply>,
}

pub(crate) fn parse(args: &Args) -> Result<Request, ToolError> {
    let seconds = u64::try_from(args.whole("wait_seconds")?).unwrap_or(0);
    let after = u64::try_from(args.whole("after")?).unwrap_or(0);
    Ok(Request { after, wait: Duration::from_secs(seconds) })
}

pub(crate) fn run(context: &Context, request: &Request) -> ToolReply {
    let Request { after, wait } = *request;
    let events = context.goal_board().watch(after, wait);
    let next = events.last().map_or(after, |it| it.number);
    let events: Vec<EventReply> = events.into_iter().map(|it| event_reply(context, it)).collect();
    let text = text_of(context, &events);
    reply::of(&Reply { events, next }, text)
}

fn text_of(context: &Context, events: &[EventReply]) -> String {
    let mut text = Text::new(context.options.text_max_chars);
    if events.is_empty() {
        text.line("No goals since.");
    }
    for EventReply { time, status, target, goals, .. } in events {
        let goal = goals.first().map_or_else(String::new, |goal| format!(" {}", json!(goal)));
        text.line(&format!("{time} {status} {target:?}{goal}"));
    }
    text.finish()
}

fn event_reply(context: &Context, published: PublishedEvent) -> EventReply {
    let PublishedEvent { number, at, event: Event { session, status, target, goals } } = published;
    EventReply {
        number,
        time: context.options.zone.format(at),
        session,
        status: status_word(status),
        target,
        goals: goal::replies(&goals),
    }
}

pub(super) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Dispatched => "dispatched",
        Status::Next => "next",
        Status::Found => "found",
        Status::Reopened => "reopened",
    }
}
