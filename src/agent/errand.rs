//! One task being carried out: its calls of the tools, counted and written down.
//!
//! Knows no plan.

use serde_json::{Map, Value, json};

use crate::tools::dispatch::Tools;
use crate::tools::{ToolBox as _, ToolError};

/// Calls of one task. A plan needs at most about ten; beyond this it has lost its way.
const CALLS_MAX: usize = 16;

/// A call that was made for a task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) tool: String,
    /// Without the session, which is the same for all.
    pub(super) arguments: Map<String, Value>,
    /// What the call was for.
    pub(super) why: String,
    /// What came of it, in a line.
    pub(super) result: String,
}

/// A task while it is carried out.
#[derive(Debug)]
pub(super) struct Errand<'a> {
    tools: &'a Tools,
    connection: &'a str,
    /// A session that the caller named, which every call names in turn.
    session: Option<&'a str>,
    pub(super) steps: Vec<Step>,
}

/// The object of a reply.
pub(super) type Reply = Map<String, Value>;

impl<'a> Errand<'a> {
    /// Begins the task in the session, which forgets what it was about.
    pub(super) fn begin(
        tools: &'a Tools,
        connection: &'a str,
        session: Option<&'a str>,
        task: &str,
        now: Option<&Value>,
    ) -> Result<(Self, Reply), ToolError> {
        let errand = Self { tools, connection, session, steps: Vec::new() };
        let arguments = json!({"task": task, "now": now});
        let reply = tools.call(connection, "start_task", errand.arguments(&arguments))?;
        Ok((errand, reply.structured))
    }

    /// Makes a call; `why` says what it is for.
    pub(super) fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
        why: &str,
    ) -> Result<Reply, ToolError> {
        if self.steps.len() >= CALLS_MAX {
            return Err(ToolError::Refused(format!(
                "the task needs more than {CALLS_MAX} calls, which is more than a plan has"
            )));
        }
        let said = self.arguments(arguments);
        let (text, structured) = match self.tools.call(self.connection, tool, said.clone()) {
            Ok(reply) => (reply.text, reply.structured),
            // What names nothing that can be seen was never seen.
            Err(ToolError::Argument(text)) if tool.starts_with("recall_") => (text, Map::new()),
            Err(error) => return Err(error),
        };
        let mut arguments = said;
        arguments.shift_remove("session");
        self.steps.push(Step {
            tool: tool.to_owned(),
            arguments,
            why: why.to_owned(),
            result: headline(&text).to_owned(),
        });
        Ok(structured)
    }

    fn arguments(&self, arguments: &Value) -> Map<String, Value> {
        let mut arguments = arguments.as_object().cloned().unwrap_or_default();
        arguments.retain(|_, value| !value.is_null());
        if let Some(session) = self.session {
            arguments.insert("session".to_owned(), json!(session));
        }
        arguments
    }
}

/// The first line of a tool's text, without what leads to the lines below it.
pub(super) fn headline(text: &str) -> &str {
    let first = text.lines().next().unwrap_or_default();
    first.strip_suffix(" at:").unwrap_or(first).trim_end_matches(':')
}
