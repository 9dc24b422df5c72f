//! `get_record_count_within_time_range`: how many records a window holds.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::time::Window;
use crate::retrieval::sessions::SessionName;
use crate::search::Filter;
use crate::tools::action::{Action, SEARCH_WINDOW, TextInput};
use crate::tools::args::{Args, Param};
use crate::tools::context::Context;
use crate::tools::recall::{END, START};
use crate::tools::reply::nothing_within;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct GetRecordCount;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
}

impl Tool for GetRecordCount {
    type Context = Context;
    type Request = Window;
    type Reply = Reply;

    const NAME: &'static str = "get_record_count_within_time_range";
    const TITLE: &'static str = "Count records";
    const DESCRIPTION: &'static str =
        "Counts the records of past observations within a window of time, or all.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[START, END];
    const IS_BRIEF: bool = true;
    const ACTION: Option<Action> = Some(Action::object(TextInput::Nothing).within(SEARCH_WINDOW));

    fn parse(
        args: &Args,
        context: &Context,
        session: SessionName<'_>,
    ) -> Result<Window, ToolError> {
        args.window(START.name, END.name, context.reading(session))
    }

    fn run(context: &Context, _: SessionName<'_>, window: Window) -> Result<Reply, ToolError> {
        let count = context.episodic.count(&Filter { window, ..Filter::default() });
        let why_empty = (count == 0).then(|| nothing_within(context, &window));
        Ok(Reply { count, why_empty })
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        text.line(&match &self.why_empty {
            Some(why) => format!("0 records: {why}."),
            None => format!("{} records.", self.count),
        });
    }
}
