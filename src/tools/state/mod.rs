//! State: what an agent carries from step to step, and prompts with it.

pub(super) mod get;
pub(super) mod merge;
pub(super) mod prompt_render;
pub(super) mod set;
pub(crate) mod template;
pub(super) mod update_from_reply;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::memory::state::{StateError, render};
use crate::tools::ToolError;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::text::Text;
use crate::tools::tool;

/// Whose state it is where the caller names no agent.
const DEFAULT_AGENT: &str = "default";

const AGENT: Param =
    Param::optional("agent", Kind::Name { bytes_max: 128 }, "Whose; 'default' where absent.");

/// An agent's memory, or part of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MemoryReply {
    agent: String,
    memory: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
}

impl MemoryReply {
    fn whole(agent: String, memory: Map<String, Value>) -> Self {
        Self { agent, memory: Value::Object(memory), why_empty: None }
    }
}

impl tool::Reply for MemoryReply {
    /// As templates render it.
    fn write(&self, text: &mut Text) {
        match &self.why_empty {
            Some(why) => text.line(&format!("None: {why}.")),
            None => render::value(&self.memory).lines().for_each(|line| text.line(line)),
        }
    }
}

fn agent(args: &Args) -> Result<String, ToolError> {
    Ok(args.text(AGENT.name)?.unwrap_or(DEFAULT_AGENT).to_owned())
}

/// What the caller can mend names the argument that it came from.
pub(super) fn refusal_of(argument: &'static str) -> impl Fn(StateError) -> ToolError {
    move |error| match error {
        StateError::TooLarge { .. } | StateError::Reply(_) | StateError::TooLong(_) => {
            argument_error(format!("argument {argument:?}: {error}"))
        }
        StateError::TooManyAgents => ToolError::Refused(error.to_string()),
        StateError::Store(_) | StateError::Unreadable { .. } => ToolError::of_failure(&error),
    }
}
