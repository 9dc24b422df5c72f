//! `state_get`: an agent's memory, or the part under a path.

use serde_json::{Map, Value};

use crate::base::caller::{Role, Roles};
use crate::memory::state::render::KeyPath;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::state::{AGENT, MemoryReply, agent, refusal_of};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct StateGet;

/// Which part of whose memory.
pub(crate) struct Request {
    agent: String,
    path: Option<String>,
}

impl Tool for StateGet {
    type Context = Context;
    type Request = Request;
    type Reply = MemoryReply;

    const NAME: &'static str = "state_get";
    const TITLE: &'static str = "Read an agent's memory";
    const DESCRIPTION: &'static str =
        "Returns the memory that an agent carries from step to step, or a part.";
    const TOOLSET: Toolset = Toolset::State;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::optional(
            "path",
            Kind::Text { bytes_max: 1_024 },
            "Such as [task_process][goal]; all where absent.",
        ),
        AGENT,
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let path = args.text("path")?;
        if let Some(text) = path {
            path_of(text)?;
        }
        Ok(Request { agent: agent(args)?, path: path.map(str::to_owned) })
    }

    fn run(
        context: &Context,
        _: SessionName<'_>,
        request: Request,
    ) -> Result<MemoryReply, ToolError> {
        let Request { agent, path } = request;
        let memory = context.state.get(&agent).map_err(refusal_of("path"))?;
        let path = path.as_deref().map(path_of).transpose()?;
        let why_empty = why_none(&agent, &memory, path.as_ref());
        let memory = match path {
            Some(path) => path.look_up(&memory).cloned().unwrap_or_default(),
            None => Value::Object(memory),
        };
        Ok(MemoryReply { agent, memory, why_empty })
    }
}

fn path_of(text: &str) -> Result<KeyPath<'_>, ToolError> {
    KeyPath::parse(text)
        .map_err(|error| argument_error(format!("argument \"path\" is {text:?}: {error}")))
}

fn why_none(
    agent: &str,
    memory: &Map<String, Value>,
    path: Option<&KeyPath<'_>>,
) -> Option<String> {
    let path = path.filter(|path| path.look_up(memory).is_none());
    match path {
        _ if memory.is_empty() => Some(format!("agent {agent:?} has no memory yet")),
        None => None,
        Some(path) => {
            let keys: Vec<String> = memory.keys().map(|key| format!("[{key}]")).collect();
            Some(format!("the memory of agent {agent:?} has no {path}; it has {}", keys.join(", ")))
        }
    }
}
