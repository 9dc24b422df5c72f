//! `watch_goals`: the goals that were given out, for whoever drives the robot.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::base::caller::{Role, Roles};
use crate::base::time::Zone;
use crate::retrieval::goal_board::{Event, PublishedEvent, SearchStatus};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::goal::GoalReply;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct WatchGoals;

/// Longest wait of one call, in seconds: less than a call's least usual deadline.
const WAIT_SECONDS_MAX: i64 = 30;

/// The newest event that is known, and how long to wait for the next.
#[derive(Debug)]
pub(crate) struct Request {
    after: u64,
    wait: Duration,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Reply {
    events: Vec<EventReply>,
    next: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EventReply {
    number: u64,
    time: String,
    session: String,
    status: &'static str,
    target: String,
    goals: Vec<GoalReply>,
}

impl Tool for WatchGoals {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "watch_goals";
    const TITLE: &'static str = "Follow the goals that were given out";
    const DESCRIPTION: &'static str = "Returns the goals of searches and what was reported of them since an event; can wait for the next.";
    const TOOLSET: Toolset = Toolset::Admin;
    const HINTS: Hints = Hints::SETS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::optional(
            "after",
            Kind::Whole { least: 0, most: i64::MAX, default: 0 },
            "Only events after this number: `next` of the reply before.",
        ),
        Param::optional(
            "wait_seconds",
            Kind::Whole { least: 0, most: WAIT_SECONDS_MAX, default: 0 },
            "For the first one.",
        ),
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let seconds = u64::try_from(args.whole("wait_seconds")?).unwrap_or(0);
        let after = u64::try_from(args.whole("after")?).unwrap_or(0);
        Ok(Request { after, wait: Duration::from_secs(seconds) })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { after, wait } = request;
        let events = context.goal_board().watch(after, wait);
        let next = events.last().map_or(after, |it| it.number);
        let zone = context.options.zone;
        let events = events.into_iter().map(|it| EventReply::of(it, zone)).collect();
        Ok(Reply { events, next })
    }
}

impl EventReply {
    fn of(published: PublishedEvent, zone: Zone) -> Self {
        let PublishedEvent { number, at, event } = published;
        let Event { session, status, target, goals } = event;
        Self {
            number,
            time: zone.format(at),
            session,
            status: match status {
                SearchStatus::Dispatched => "dispatched",
                SearchStatus::Next => "next",
                SearchStatus::Found => "found",
                SearchStatus::Reopened => "reopened",
            },
            target,
            goals: GoalReply::list(&goals),
        }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        if self.events.is_empty() {
            text.line("No goals since.");
        }
        for EventReply { time, status, target, goals, .. } in &self.events {
            let goal = goals.first().map_or_else(String::new, |goal| format!(" {}", json!(goal)));
            text.line(&format!("{time} {status} {target:?}{goal}"));
        }
    }
}
