//! `retrieve_object`: a whole task, from the request in words to the places where the
//! robot is sent, with the calls that led there.

use serde_json::{Map, Value, json};

use crate::agent::errand::{Errand, Step};
use crate::agent::model::Model;
use crate::agent::rules;
use crate::tools::args::{self, Args, Kind, Param};
use crate::tools::dispatch::Tools;
use crate::tools::reply::Text;
use crate::tools::sessions::SessionName;
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
    let now = arguments.get("now").cloned();
    let args = Args::new(PARAMS, arguments)?;
    let task = args.required_text("task")?;
    let planner = args.word("planner")?;
    // Its form is checked by the call that takes it.
    let now = now.filter(|it| !it.is_null() && *it != "");
    let model = if planner == MODEL { Some(model.ok_or_else(no_model)?) } else { None };
    let (mut errand, started) =
        Errand::begin(tools, connection, args.session()?, task, now.as_ref())?;
    let dispatched = if let Some(model) = model {
        let session = match args.session()? {
            Some(name) => SessionName { name, is_kept: true },
            None => SessionName { name: connection, is_kept: false },
        };
        model.plan(tools, session, &mut errand.steps)?
    } else {
        let zone = tools.context().options.zone;
        let reading = tools.context().reading(args.session()?.unwrap_or(connection));
        let reference = tools.context().refer(task)?;
        rules::plan(&mut errand, task, reference, reading.now, zone)?
    };
    Ok(told(tools, (task, planner), &started, dispatched, &errand.steps))
}

fn no_model() -> ToolError {
    ToolError::Refused(format!(
        "no language model is configured (agent.endpoint is empty); planner {RULES:?} needs none"
    ))
}

fn told(
    tools: &Tools,
    (task, planner): (&str, &str),
    started: &Map<String, Value>,
    mut dispatched: Map<String, Value>,
    steps: &[Step],
) -> ToolReply {
    let mut structured = Map::new();
    let take =
        |from: &mut Map<String, Value>, key: &str| from.shift_remove(key).unwrap_or_default();
    structured.insert("status".to_owned(), take(&mut dispatched, "status"));
    structured.insert("task".to_owned(), json!(task));
    structured.insert("now".to_owned(), started.get("now").cloned().unwrap_or_default());
    structured.insert("planner".to_owned(), json!(planner));
    structured.insert("target".to_owned(), take(&mut dispatched, "target"));
    structured.insert("goals".to_owned(), take(&mut dispatched, "goals"));
    structured.insert("trace".to_owned(), steps.iter().map(step_json).collect());
    structured.insert("session".to_owned(), started.get("session").cloned().unwrap_or_default());
    let mut text = Text::new(tools.context().options.text_max_chars);
    for line in lines(&structured) {
        text.line(&line);
    }
    ToolReply { structured, text: text.finish(), images: Vec::new() }
}

fn step_json(step: &Step) -> Value {
    let Step { tool, arguments, why, result } = step;
    json!({"tool": tool, "arguments": arguments, "why": why, "result": result})
}

/// A reply in words: the goals, then the calls that led to them.
pub fn lines(reply: &Map<String, Value>) -> Vec<String> {
    let text = |from: &Value, key: &str| {
        from.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let whole = Value::Object(reply.clone());
    let list = |key: &str| reply.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut lines = vec![format!("{}: {}", text(&whole, "task"), text(&whole, "target"))];
    for (number, goal) in (1..).zip(list("goals")) {
        let metres = |at: usize| {
            goal.get("position").and_then(|it| it.get(at)).and_then(Value::as_f64).unwrap_or(0.0)
        };
        let likely = 100.0 * goal.get("probability").and_then(Value::as_f64).unwrap_or(0.0);
        let likely = if likely < 0.5 { "under 1".to_owned() } else { format!("{likely:.0}") };
        let (x, y) = (metres(0), metres(1));
        lines.push(format!(
            "  go to {number}. ({x:.1}, {y:.1}), {likely} %: {}",
            text(&goal, "reason")
        ));
    }
    lines.push("how it was found:".to_owned());
    for (number, step) in (1..).zip(list("trace")) {
        lines.push(format!("  {number}. {}: {}", call_line(&step), text(&step, "why")));
        lines.push(format!("     → {}", text(&step, "result")));
    }
    lines
}

/// `recall_last_seen("a purple book")`
fn call_line(step: &Value) -> String {
    let tool = step.get("tool").and_then(Value::as_str).unwrap_or_default();
    let arguments = step.get("arguments").and_then(Value::as_object).into_iter().flatten();
    let said: Vec<String> = arguments
        .map(|(name, value)| {
            let plain = matches!(name.as_str(), "query" | "instance_desc");
            if plain {
                value.to_string()
            } else {
                format!("{name} {}", value.to_string().trim_matches('"'))
            }
        })
        .collect();
    format!("{tool}({})", said.join(", "))
}
