//! `state_set`: an agent's memory is replaced.

use serde_json::{Map, Value};

use crate::base::caller::{Role, Roles};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::state::{AGENT, MemoryReply, agent, refusal_of};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct StateSet;

/// The memory from now on.
pub(crate) struct Request {
    agent: String,
    memory: Map<String, Value>,
}

impl Tool for StateSet {
    type Context = Context;
    type Request = Request;
    type Reply = MemoryReply;

    const NAME: &'static str = "state_set";
    const TITLE: &'static str = "Replace an agent's memory";
    const DESCRIPTION: &'static str =
        "Replaces the whole memory that an agent carries from step to step.";
    const TOOLSET: Toolset = Toolset::State;
    const HINTS: Hints = Hints::REPLACES;
    const ROLES: Roles = Roles::of(&[Role::Write]);
    const PARAMS: &'static [Param] =
        &[Param::required("memory", Kind::Object, "{} removes it."), AGENT];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let memory = args.object("memory")?.unwrap_or_default();
        Ok(Request { agent: agent(args)?, memory })
    }

    fn run(
        context: &Context,
        _: SessionName<'_>,
        request: Request,
    ) -> Result<MemoryReply, ToolError> {
        let Request { agent, memory } = request;
        context.state.set(&agent, &memory).map_err(refusal_of("memory"))?;
        Ok(MemoryReply::whole(agent, memory))
    }
}
