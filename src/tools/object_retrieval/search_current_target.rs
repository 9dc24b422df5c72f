//! `search_current_target_instance_in_real_world`: the goals are given to the robot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::caller::{Role, Roles};
use crate::retrieval::search::Dispatch;
use crate::retrieval::sessions::SessionName;
use crate::tools::action::{Action, TextInput};
use crate::tools::args::{Args, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::goal::GoalReply;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct SearchCurrentTarget;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Reply {
    status: Dispatched,
    target: String,
    goals: Vec<GoalReply>,
}

// The one status of a reply that sends the robot off.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dispatched {
    Dispatched,
}

impl Tool for SearchCurrentTarget {
    type Context = Context;
    type Request = ();
    type Reply = Reply;

    const NAME: &'static str = "search_current_target_instance_in_real_world";
    const TITLE: &'static str = "Search now";
    const DESCRIPTION: &'static str =
        "Gives the places to the robot, in the order to visit. Ends the reasoning.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::ACTS;
    const ROLES: Roles = Roles::of(&[Role::Write]);
    const PARAMS: &'static [Param] = &[];
    const ACTION: Option<Action> = Some(Action::object(TextInput::Nothing));

    fn parse(_: &Args, _: &Context, _: SessionName<'_>) -> Result<(), ToolError> {
        Ok(())
    }

    fn run(context: &Context, session: SessionName<'_>, (): ()) -> Result<Reply, ToolError> {
        let dispatch = context.retrieval.dispatch(session);
        Ok(Reply::of(&dispatch.map_err(|error| refusal(context, error))?))
    }
}

impl Reply {
    pub(super) fn of(Dispatch { target, goals }: &Dispatch) -> Self {
        let (status, target) = (Dispatched::Dispatched, target.clone());
        Self { status, target, goals: GoalReply::list(goals) }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        text.line(&format!("dispatched: searching for {:?} at:", self.target));
        for (number, goal) in (1..).zip(&self.goals) {
            text.line(&format!("{number}. {}", goal.line()));
        }
    }
}
