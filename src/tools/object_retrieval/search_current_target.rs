//! `search_current_target_instance_in_real_world`: the goals are given to the robot.

use serde::Serialize;

use crate::retrieval::search::Dispatch;
use crate::retrieval::sessions::SessionName;
use crate::tools::context::Context;
use crate::tools::object_retrieval::goal::{self, GoalReply};
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::reply::{self, Text};
use crate::tools::{ToolError, ToolReply};

pub(crate) const NAME: &str = "search_current_target_instance_in_real_world";

#[derive(Debug, Serialize)]
struct Reply<'a> {
    status: &'static str,
    target: &'a str,
    goals: Vec<GoalReply>,
}

pub(crate) fn run(context: &Context, session: SessionName<'_>) -> Result<ToolReply, ToolError> {
    let dispatch = context.retrieval.dispatch(session);
    let dispatch = dispatch.map_err(|error| refusal(context, error))?;
    let Dispatch { target, goals } = &dispatch;
    let reply = Reply { status: "dispatched", target, goals: goal::replies(goals) };
    Ok(reply::of(&reply, text_of(context, &dispatch)))
}

pub(super) fn text_of(context: &Context, dispatch: &Dispatch) -> String {
    let mut text = Text::new(context.options.text_max_chars);
    text.line(&format!("dispatched: searching for {:?} at:", dispatch.target));
    for (number, goal) in (1..).zip(&dispatch.goals) {
        text.line(&format!("{number}. {}", goal::line(goal)));
    }
    text.finish()
}
