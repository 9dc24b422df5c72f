//! `start_task`: the session begins a task.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::time::Timestamp;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::TEXT;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct StartTask;

/// A task in words.
#[derive(Debug)]
pub(crate) struct Request {
    task: String,
    now: Option<Timestamp>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Reply {
    task: String,
    now: String,
    session: String,
    // What it was understood as, where the robot is not to go for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    understood: Option<String>,
}

impl Tool for StartTask {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "start_task";
    const TITLE: &'static str = "Begin a task";
    const DESCRIPTION: &'static str =
        "Begins anew: takes the user's request and clears what this session was about before.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    // Begins anew what the session was about.
    const HINTS: Hints = Hints { read_only: false, destructive: false, idempotent: true };
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::required("task", TEXT, "In words: 'bring me the mug I use most'."),
        Param::optional(
            "now",
            Kind::Time,
            "When it was said; relative times of later calls count from it. Without it from the clock.",
        ),
    ];

    fn parse(args: &Args, context: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let task = args.required_text("task")?.to_owned();
        // An earlier task's time does not count.
        Ok(Request { task, now: args.time("now", context.clock_reading())? })
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        request: Request,
    ) -> Result<Reply, ToolError> {
        let Request { task, now } = request;
        let now = context.retrieval.start_task(session, &task, now);
        let now = context.options.zone.format(now.map_err(|error| refusal(context, error))?);
        let intent = context.retrieval.task_intent(session);
        let intent = intent.map_err(|error| refusal(context, error))?;
        let understood = intent.filter(|it| !it.is_errand()).map(|it| it.in_words().to_owned());
        Ok(Reply { task, now, session: session.name.to_owned(), understood })
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        text.whole_line(&format!("task: {} (asked at {})", self.task, self.now));
        if let Some(understood) = &self.understood {
            text.line(&format!("Understood as {understood}: nothing will be dispatched."));
        }
    }
}
