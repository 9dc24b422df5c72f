//! `report_search_result`: what the robot saw at its goal.

use serde::Serialize;

use crate::retrieval::goal_board::Status;
use crate::retrieval::search::{GoalReport, SearchUpdate};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::goal::{self, GoalReply};
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::object_retrieval::watch_goals::status_word;
use crate::tools::{ToolError, ToolReply, reply};

pub(crate) const PARAMS: &[Param] = &[
    Param::required("found", Kind::Flag, "Whether the robot found the target at the goal."),
    Param::optional(
        "record_id",
        Kind::RecordIds { most: 1 },
        "The record of what the robot saw there.",
    ),
    Param::optional("position", Kind::Position, "Where the robot looked; the goal where absent."),
];

#[derive(Debug, Serialize)]
struct Reply<'a> {
    status: &'static str,
    target: &'a str,
    next: Option<GoalReply>,
    remaining: usize,
}

pub(crate) fn parse(args: &Args) -> Result<GoalReport, ToolError> {
    Ok(GoalReport {
        is_found: args.flag("found")?,
        record: args.record_ids("record_id")?.first().copied(),
        position: args.position("position")?,
    })
}

pub(crate) fn run(
    context: &Context,
    session: SessionName<'_>,
    report: &GoalReport,
) -> Result<ToolReply, ToolError> {
    let update = context.retrieval.report(session, report);
    let update = update.map_err(|error| refusal(context, error))?;
    let SearchUpdate { status, target, goals } = &update;
    let reply = Reply {
        status: status_word(*status),
        target,
        next: goals.first().map(GoalReply::of),
        remaining: goals.len(),
    };
    Ok(reply::of(&reply, text_of(&update)))
}

fn text_of(update: &SearchUpdate) -> String {
    let SearchUpdate { status, target, goals } = update;
    match (status, goals.first()) {
        (Status::Found, _) => format!("found {target:?}; the search has ended."),
        (_, Some(goal)) => format!("not there; next: {}", goal::line(goal)),
        (_, None) => format!(
            "not there, and no goal is left: the search for {target:?} is open again. \
             create_or_update_real_world_search_instance leaves out the places looked at."
        ),
    }
}
