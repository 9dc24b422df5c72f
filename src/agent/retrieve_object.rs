//! `retrieve_object`: a whole task, from the request in words to the places where the
//! robot is sent, with the calls that led there.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::agent::model::Model;
use crate::retrieval::search::Dispatch;
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{self, ExecutedPlan, RetrievalError};
use crate::tools::args::{self, Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::dispatch::Tools;
use crate::tools::object_retrieval::goal::{self, GoalReply};
use crate::tools::object_retrieval::memory_search_instance::DESCRIPTION;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::object_retrieval::trace::{StepReply, step_reply};
use crate::tools::recall::QUERY;
use crate::tools::reply::{self, Text};
use crate::tools::{Hints, ToolError, ToolReply, ToolSpec, Toolset};

pub(super) const NAME: &str = "retrieve_object";

const RULES: &str = "rules";
const MODEL: &str = "model";

const PARAMS: &[Param] = &[
    Param::required(
        "task",
        Kind::Text { bytes_max: 2_000 },
        "The user's request in words: 'bring me the mug I use most'.",
    ),
    Param::optional(
        "now",
        Kind::Time,
        "When the user said it; 'yesterday' counts from there. The clock's time where absent.",
    ),
    Param::optional(
        "planner",
        Kind::Word { of: &[RULES, MODEL] },
        "Who decides on the calls: the rules on board, or the language model of agent.endpoint.",
    ),
];

#[derive(Debug, Serialize, Deserialize)]
struct Reply {
    status: String,
    task: String,
    now: String,
    planner: String,
    target: String,
    goals: Vec<GoalReply>,
    trace: Vec<StepReply>,
    session: String,
}

/// As clients see it listed.
pub(super) fn spec() -> ToolSpec {
    let text = json!({"type": "string"});
    let step = json!({
        "type": "object",
        "properties": {
            "tool": text, "arguments": {"type": "object"}, "why": text, "result": text,
        },
        "required": ["tool", "arguments", "why", "result"],
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": ["dispatched"]},
            "task": text,
            "now": text,
            "planner": text,
            "target": text,
            "goals": {"type": "array", "items": {"type": "object"}},
            "trace": {"type": "array", "items": step},
            "session": text,
        },
        "required": ["status", "task", "now", "planner", "target", "goals", "trace", "session"],
    });
    ToolSpec {
        name: NAME,
        title: "Find the object of a request",
        description: "Carries out a whole request such as 'bring me the book I was reading \
            yesterday': finds out which object is meant and where it was last seen, and sends the \
            robot there. Returns the goals in the order to visit and the calls that were made.",
        input_schema: args::schema(PARAMS),
        output_schema: schema.as_object().cloned().unwrap_or_default(),
        // It sends the robot off.
        hints: Hints { read_only: false, destructive: false, idempotent: false },
        toolset: Toolset::ObjectRetrieval,
    }
}

/// Runs the tool.
pub(super) fn run(
    tools: &Tools,
    model: Option<&Model>,
    connection: &str,
    arguments: Map<String, Value>,
) -> Result<ToolReply, ToolError> {
    let args = Args::new(PARAMS, arguments)?;
    let task = args.required_text("task")?;
    let planner = args.word("planner")?;
    let model = if planner == MODEL { Some(model.ok_or_else(no_model)?) } else { None };
    let context = tools.context();
    let now = args.time("now", context.clock_reading())?;
    let session = args.session(connection)?;
    let refused = |error| refusal(context, error);
    let now = context.retrieval.start_task(session, task, now).map_err(refused)?;
    let (trace, dispatch) = match model {
        Some(model) => model.plan(tools, session)?,
        None => by_rules(context, session).map_err(refused)?,
    };
    let reply = Reply {
        status: "dispatched".to_owned(),
        task: task.to_owned(),
        now: context.options.zone.format(now),
        planner: planner.to_owned(),
        target: dispatch.target,
        goals: goal::replies(&dispatch.goals),
        trace,
        session: session.name.to_owned(),
    };
    let mut text = Text::new(context.options.text_max_chars);
    for line in lines(&reply) {
        text.line(&line);
    }
    Ok(reply::of(&reply, text.finish()))
}

fn no_model() -> ToolError {
    ToolError::Refused(format!(
        "no language model is configured (agent.endpoint is empty); planner {RULES:?} needs none"
    ))
}

fn by_rules(
    context: &Context,
    session: SessionName<'_>,
) -> Result<(Vec<StepReply>, Dispatch), RetrievalError> {
    let ExecutedPlan { trace, dispatch } = retrieval::plan(&context.retrieval, session)?;
    Ok((trace.iter().map(|step| step_reply(context, step)).collect(), dispatch))
}

/// A reply that came over the socket, in words.
pub fn told(reply: Map<String, Value>) -> Result<Vec<String>, serde_json::Error> {
    Ok(lines(&serde_json::from_value(Value::Object(reply))?))
}

/// A reply in words: the goals, then the calls that led to them.
fn lines(reply: &Reply) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", reply.task, reply.target)];
    for (number, GoalReply { position: [x, y, _], probability, reason, .. }) in
        (1..).zip(&reply.goals)
    {
        let percent = 100.0 * probability;
        let percent = if percent < 0.5 { "under 1".to_owned() } else { format!("{percent:.0}") };
        lines.push(format!("  go to {number}. ({x:.1}, {y:.1}), {percent} %: {reason}"));
    }
    lines.push("how it was found:".to_owned());
    for (number, step) in (1..).zip(&reply.trace) {
        lines.push(format!("  {number}. {}: {}", call_line(step), step.why));
        lines.push(format!("     → {}", step.result));
    }
    lines
}

/// `recall_last_seen("a purple book")`
fn call_line(step: &StepReply) -> String {
    let argument = |(name, value): (&String, &Value)| match name.as_str() {
        QUERY | DESCRIPTION => value.to_string(),
        _ => format!("{name} {}", value.to_string().trim_matches('"')),
    };
    let arguments: Vec<String> = step.arguments.iter().map(argument).collect();
    format!("{}({})", step.tool, arguments.join(", "))
}
