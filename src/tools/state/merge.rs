//! `state_merge`: an object is laid over an agent's memory.

use serde_json::{Map, Value};

use crate::base::caller::{Role, Roles};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::state::{AGENT, MemoryReply, agent, refusal_of};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct StateMerge;

/// What the memory is merged with.
pub(crate) struct Request {
    agent: String,
    changes: Map<String, Value>,
}

impl Tool for StateMerge {
    type Context = Context;
    type Request = Request;
    type Reply = MemoryReply;

    const NAME: &'static str = "state_merge";
    const TITLE: &'static str = "Change part of an agent's memory";
    const DESCRIPTION: &'static str = "Lays an object over the agent's memory: objects are merged \
        key by key, every other value replaces what was there. Returns the whole memory.";
    const TOOLSET: Toolset = Toolset::State;
    const HINTS: Hints = Hints::REPLACES;
    const ROLES: Roles = Roles::of(&[Role::Write]);
    const PARAMS: &'static [Param] = &[Param::required("memory", Kind::Object, ""), AGENT];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let changes = args.object("memory")?.unwrap_or_default();
        Ok(Request { agent: agent(args)?, changes })
    }

    fn run(
        context: &Context,
        _: SessionName<'_>,
        request: Request,
    ) -> Result<MemoryReply, ToolError> {
        let Request { agent, changes } = request;
        let memory = context.state.merge(&agent, changes).map_err(refusal_of("memory"))?;
        Ok(MemoryReply::whole(agent, memory))
    }
}
