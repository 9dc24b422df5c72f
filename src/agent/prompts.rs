//! The agents' prompts as clients ask for them by name.

use serde_json::{Map, Value};

use crate::agent::agent_step;
use crate::agent::prompt::{PromptTemplate, TEMPLATES};
use crate::base::caller::{Role, Roles};
use crate::retrieval::session::Session;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::argument_error;
use crate::tools::dispatch::Tools;
use crate::tools::{PromptArgument, PromptSpec, ToolError, access};

const TASK: &str = "task";
const NOW: &str = "now";
const SESSION: &str = "session";

const ARGUMENTS: &[PromptArgument] = &[
    PromptArgument {
        name: TASK,
        about: "What the user asks for, in the user's words.",
        is_required: true,
    },
    PromptArgument {
        name: NOW,
        about: "The time that counts as now, such as '2025-01-04 09:00:00'; the clock's where absent.",
        is_required: false,
    },
    PromptArgument {
        name: SESSION,
        about: "A session to go on with: its calls and their results are told, too.",
        is_required: false,
    },
];

/// Prompts tell what the memory holds.
const ROLES: Roles = Roles::of(&[Role::Read]);

/// Longest task that is taken.
const TASK_BYTES_MAX: usize = 8_000;

/// The prompts as clients see them listed.
pub(super) fn specs() -> Vec<PromptSpec> {
    let spec = |template: &PromptTemplate| PromptSpec {
        name: template.name,
        title: template.title,
        description: template.about,
        arguments: ARGUMENTS,
    };
    TEMPLATES.iter().map(spec).collect()
}

/// A prompt filled in.
pub(super) fn get(
    tools: &Tools,
    session: SessionName<'_>,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<String, ToolError> {
    access::permit(tools.context(), session.caller, "prompts/get", ROLES)?;
    let template = TEMPLATES.iter().find(|template| template.name == name).ok_or_else(|| {
        let known: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
        argument_error(format!("there is no prompt {name:?}; accepted are {}", known.join(", ")))
    })?;
    let known = |name: &&String| ARGUMENTS.iter().any(|argument| argument.name == name.as_str());
    if let Some(unknown) = arguments.keys().find(|name| !known(name)) {
        let accepted: Vec<&str> = ARGUMENTS.iter().map(|argument| argument.name).collect();
        let accepted = accepted.join(", ");
        return Err(argument_error(format!(
            "unknown argument {unknown:?}; accepted are {accepted}"
        )));
    }
    let text = |name: &str| match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok((!text.trim().is_empty()).then_some(text.as_str())),
        Some(other) => {
            Err(argument_error(format!("argument {name:?} is {other}; accepted is a text")))
        }
    };
    let task = text(TASK)?.filter(|task| task.len() <= TASK_BYTES_MAX).ok_or_else(|| {
        argument_error(format!(
            "argument {TASK:?} is missing, empty or too long; accepted is a text of at most \
             {TASK_BYTES_MAX} bytes"
        ))
    })?;
    let context = tools.context();
    let (state, session) = match text(SESSION)? {
        Some(name) => {
            let named = SessionName { name, is_kept: true, ..session };
            (context.retrieval.session(named), named)
        }
        None => (Session::default(), session),
    };
    let reading = context.reading(session);
    let now = text(NOW)?.map(|now| reading.zone.parse(now, context.clock.now())).transpose();
    let now = now.map_err(|error| argument_error(format!("argument {NOW:?}: {error}")))?;
    agent_step::fill(tools, session, task, now, &state, template.role)
}
