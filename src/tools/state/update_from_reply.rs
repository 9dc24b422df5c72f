//! `state_update_from_reply`: an agent's memory is taken from a model's reply.

use crate::base::caller::{Role, Roles};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::state::{AGENT, MemoryReply, agent, refusal_of};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct StateUpdateFromReply;

/// A model's reply.
pub(crate) struct Request {
    agent: String,
    reply: String,
}

impl Tool for StateUpdateFromReply {
    type Context = Context;
    type Request = Request;
    type Reply = MemoryReply;

    const NAME: &'static str = "state_update_from_reply";
    const TITLE: &'static str = "Take an agent's memory from a model's reply";
    const DESCRIPTION: &'static str = "Replaces the agent's memory by the 'memory' object in a language model's JSON reply. A reply without one changes nothing and is refused with what to mend.";
    const TOOLSET: Toolset = Toolset::State;
    const HINTS: Hints = Hints::REPLACES;
    const ROLES: Roles = Roles::of(&[Role::Write]);
    const PARAMS: &'static [Param] = &[
        Param::required(
            "reply",
            Kind::Text { bytes_max: 256 << 10 },
            "As the model wrote it, also in a code fence.",
        ),
        AGENT,
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let reply = args.required_text("reply")?.to_owned();
        Ok(Request { agent: agent(args)?, reply })
    }

    fn run(
        context: &Context,
        _: SessionName<'_>,
        request: Request,
    ) -> Result<MemoryReply, ToolError> {
        let Request { agent, reply } = request;
        let memory =
            context.state.update_from_reply(&agent, &reply).map_err(refusal_of("reply"))?;
        Ok(MemoryReply::whole(agent, memory))
    }
}
