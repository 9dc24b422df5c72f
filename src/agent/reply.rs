//! What a language model's reply asks for: tool calls, or the moments that answer.
//!
//! Pure. The forms are those of the two agents that the prompts describe; what
//! surrounds the JSON (a code fence, sentences, a reasoning block) is passed over,
//! and slips whose meaning is plain are mended (see `json`). Anything else is an
//! error in words that the model can act on. What the tools themselves accept is
//! checked by them, not here.

use serde_json::{Map, Value, json};

use crate::agent::json::{self, BadJson};
use crate::tools::action::{Action, AgentRole, SEARCH_WINDOW, TextInput};
use crate::tools::catalog::actions;
use crate::tools::object_retrieval::search_current_target::SearchCurrentTarget;
use crate::tools::tool::Tool as _;

/// The tool under which the prompts have every answer written.
const ENVELOPE: &str = "__conversational_response";
/// Envelopes within each other that are opened.
const ENVELOPES_MAX: usize = 4;
/// Calls that one reply may ask for.
pub(crate) const CALLS_MAX: usize = 8;
/// Moments that one answer may name.
pub(crate) const MOMENTS_MAX: usize = 1_000;
/// Brackets tried as the start of the JSON.
const STARTS_MAX: usize = 64;
/// Keys that a refusal names.
const KEYS_SHOWN_MAX: usize = 8;
/// Characters of a model's text that a refusal repeats.
const SHOWN_CHARS_MAX: usize = 80;

/// What a reply asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PlannerReply {
    /// To be made in this order; one at least.
    Calls(Vec<Call>),
    /// The search for moments is over.
    Answer(MomentAnswer),
}

/// A call of one of [`ACTIONS`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    /// Nothing that was left blank.
    pub(crate) arguments: Map<String, Value>,
    /// What the model did so far, in its words; may be empty.
    pub(crate) history_summary: String,
    /// Why it makes this call, in its words; may be empty.
    pub(crate) current_task: String,
}

/// The moments that a model answers with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MomentAnswer {
    pub(crate) reasoning: String,
    /// Most relevant first, each once.
    pub(crate) moment_ids: Vec<u64>,
}

/// The call that ends the reasoning about an object.
pub(crate) const LAST_STEP: &str = SearchCurrentTarget::NAME;

impl Call {
    pub(crate) fn role(&self) -> AgentRole {
        let action = actions().find(|(tool, _)| *tool == self.tool);
        action.map_or(AgentRole::ObjectRetrieval, |(_, action)| action.role)
    }
}

/// Why a reply cannot be carried out, as the model that wrote it should read it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadReply {
    #[error("the reply holds no JSON; accepted is one JSON object and nothing else, {FORMS}")]
    NoJson,
    #[error("the reply's JSON cannot be read: {0}; accepted is {FORMS}")]
    Unreadable(BadJson),
    #[error(
        "the reply's JSON has no \"tool_call\", \"tool\" or \"moment_ids\" (it has {has}); accepted is {FORMS}"
    )]
    NoForm { has: String },
    #[error("the reply's {field:?} is {found}; accepted is {accepted}")]
    Field { field: &'static str, found: String, accepted: String },
    #[error("the reply lists {0} calls; accepted are from 1 to {CALLS_MAX}")]
    Count(usize),
    #[error(
        "the reply calls {0} tools at once; each step makes one call, so write one JSON object"
    )]
    OneAtATime(usize),
    #[error(
        "the reply lists an answer beside something else; make the calls first, and answer in a reply of its own"
    )]
    AnswerAmongCalls,
}

/// The two forms, as refusals show them.
const FORMS: &str = "{\"tool\": \"__conversational_response\", \"tool_input\": {\"response\": {\
    \"history_summary\": \"…\", \"current_task\": \"…\", \"tool_call\": \"…\", \"tool_input\": \
    \"…\"}}}, or a list of {\"context_reasoning\": \"…\", \"tool\": \"…\", \"tool_input\": {…}}, or \
    \"reasoning\" with \"moment_ids\" as the response";

/// Reads a reply.
pub(crate) fn parse(reply: &str) -> Result<PlannerReply, BadReply> {
    // A reasoning model's thoughts may hold drafts of the reply.
    let reply = reply.rsplit_once("</think>").map_or(reply, |(_, after)| after);
    let mut fault = BadReply::NoJson;
    let starts = reply.match_indices(['{', '[']);
    for (at, _) in starts.take(STARTS_MAX) {
        let text = reply.get(at..).unwrap_or_default();
        match json::read(text) {
            Ok(value) if has_form(&value) => return reply_of(value),
            Ok(value) => {
                if matches!(fault, BadReply::NoJson | BadReply::Unreadable(_)) {
                    fault = BadReply::NoForm { has: describe(&value) };
                }
            }
            // Half of a reply is none, though a part of it could be read.
            Err(error) if MARKS.iter().any(|mark| error.read_of(text).contains(mark)) => {
                return Err(BadReply::Unreadable(error));
            }
            Err(error) => {
                if matches!(fault, BadReply::NoJson) {
                    fault = BadReply::Unreadable(error);
                }
            }
        }
    }
    Err(fault)
}

/// Keys by which a reply is known.
const MARKS: [&str; 3] = ["tool_call", "tool", "moment_ids"];

fn has_form(value: &Value) -> bool {
    match value {
        Value::Object(object) => MARKS.iter().any(|mark| object.contains_key(*mark)),
        Value::Array(items) => !items.is_empty() && items.iter().any(has_form),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn reply_of(value: Value) -> Result<PlannerReply, BadReply> {
    let items = if let Value::Array(items) = value { items } else { vec![value] };
    if items.is_empty() || items.len() > CALLS_MAX {
        return Err(BadReply::Count(items.len()));
    }
    let mut calls = Vec::with_capacity(items.len());
    let is_alone = items.len() == 1;
    for item in items {
        match single(item)? {
            PlannerReply::Answer(answer) if is_alone => return Ok(PlannerReply::Answer(answer)),
            PlannerReply::Answer(_) => return Err(BadReply::AnswerAmongCalls),
            PlannerReply::Calls(found) => calls.extend(found),
        }
    }
    if calls.len() > 1 && calls.iter().any(|call| call.role() == AgentRole::ObjectRetrieval) {
        return Err(BadReply::OneAtATime(calls.len()));
    }
    Ok(PlannerReply::Calls(calls))
}

/// One object of a reply, taken out of its envelope.
fn single(value: Value) -> Result<PlannerReply, BadReply> {
    let mut object = object_of("response", value)?;
    for _ in 0..ENVELOPES_MAX {
        if object.get("tool").and_then(Value::as_str) != Some(ENVELOPE) {
            break;
        }
        let inner = object.shift_remove("tool_input").unwrap_or(Value::Null);
        let mut inner = object_of("tool_input", inner)?;
        object = match inner.shift_remove("response") {
            Some(response) => object_of("response", response)?,
            None => inner,
        };
    }
    if object.contains_key("moment_ids") {
        return answer(&mut object).map(PlannerReply::Answer);
    }
    let key = if object.contains_key("tool_call") { "tool_call" } else { "tool" };
    let Some(tool) = object.shift_remove(key) else {
        return Err(BadReply::NoForm { has: describe(&Value::Object(object)) });
    };
    Ok(PlannerReply::Calls(vec![call(key, &tool, object)?]))
}

/// Models write an object as text, too.
fn object_of(field: &'static str, value: Value) -> Result<Map<String, Value>, BadReply> {
    let read = match value.as_str().map(str::trim_start) {
        Some(text) if text.starts_with('{') => json::read(text).map_err(BadReply::Unreadable)?,
        Some(_) | None => value,
    };
    if let Value::Object(object) = read {
        return Ok(object);
    }
    let accepted = "an object".to_owned();
    Err(BadReply::Field { field, found: describe(&read), accepted })
}

fn call(key: &'static str, tool: &Value, mut fields: Map<String, Value>) -> Result<Call, BadReply> {
    let (tool, action, in_brackets) = action(key, tool)?;
    let mut arguments = match fields.shift_remove("tool_input") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(Value::String(text)) => of_text(&action, &text)?,
        Some(other) => of_text(&action, &other.to_string())?,
    };
    if arguments.is_empty()
        && let Some(text) = in_brackets
    {
        arguments = of_text(&action, &text)?;
    }
    // The window stands beside `tool_input` in the one form, within it in the other.
    for (beside, argument) in SEARCH_WINDOW.into_iter().zip(action.window.into_iter().flatten()) {
        let time = fields.shift_remove(beside).or_else(|| fields.shift_remove(argument));
        if let Some(time) = time
            && !arguments.contains_key(argument)
        {
            arguments.insert(argument.to_owned(), time);
        }
    }
    arguments.retain(|_, value| {
        !value.is_null() && value.as_str().is_none_or(|it| !it.trim().is_empty())
    });
    let why =
        fields.shift_remove("current_task").or_else(|| fields.shift_remove("context_reasoning"));
    Ok(Call {
        tool,
        arguments,
        history_summary: words(fields.shift_remove("history_summary")),
        current_task: words(why),
    })
}

/// The tool of this name, with how it is called. Models copy `recall_last_seen("a book")`
/// from prose.
fn action(
    key: &'static str,
    tool: &Value,
) -> Result<(&'static str, Action, Option<String>), BadReply> {
    let unknown = || BadReply::Field {
        field: key,
        found: describe(tool),
        accepted: format!(
            "one of {}",
            actions().map(|(tool, _)| tool).collect::<Vec<_>>().join(", ")
        ),
    };
    let written = tool.as_str().ok_or_else(unknown)?;
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '`' | '\'' | '"' | '*');
    let written = written.trim_matches(is_edge);
    let (name, in_brackets) = match written.split_once('(') {
        Some((name, rest)) => {
            let inside = rest.trim_end().trim_end_matches(')').trim_matches(is_edge);
            (name.trim_end(), (!inside.is_empty()).then(|| inside.to_owned()))
        }
        None => (written, None),
    };
    let (tool, action) = actions().find(|(tool, _)| *tool == name).ok_or_else(unknown)?;
    Ok((tool, action, in_brackets))
}

/// The arguments that a text in `tool_input` stands for.
fn of_text(action: &Action, text: &str) -> Result<Map<String, Value>, BadReply> {
    let mut arguments = Map::new();
    let text = text.trim();
    if text.starts_with('{')
        && let Ok(Value::Object(object)) = json::read(text)
    {
        return Ok(object);
    }
    match action.text {
        _ if text.is_empty() => {}
        TextInput::Argument(name) => {
            arguments.insert(name.to_owned(), json!(text));
        }
        TextInput::RecordIds => {
            let ids = ids("tool_input", &json!(text))?;
            arguments.insert("record_ids".to_owned(), json!(ids));
        }
        TextInput::Nothing => {}
    }
    Ok(arguments)
}

fn answer(response: &mut Map<String, Value>) -> Result<MomentAnswer, BadReply> {
    let moments = response.shift_remove("moment_ids").unwrap_or(Value::Null);
    let mut moment_ids = Vec::new();
    for id in ids("moment_ids", &moments)? {
        if !moment_ids.contains(&id) {
            moment_ids.push(id);
        }
    }
    Ok(MomentAnswer { reasoning: words(response.shift_remove("reasoning")), moment_ids })
}

/// Ids in a list, in a text that holds one, or one by itself.
fn ids(field: &'static str, value: &Value) -> Result<Vec<u64>, BadReply> {
    let bad = |found: String| BadReply::Field {
        field,
        found,
        accepted: "a list of ids such as [\"12\", \"11\"], or [] where nothing matches".to_owned(),
    };
    let items: Vec<String> = match value {
        Value::Null => Vec::new(),
        Value::Number(number) => vec![number.to_string()],
        Value::String(text) => split_ids(text),
        Value::Array(items) => {
            let item = |item: &Value| match item {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
            };
            let read: Option<Vec<String>> = items.iter().map(item).collect();
            read.ok_or_else(|| bad(describe(value)))?
        }
        Value::Bool(_) | Value::Object(_) => return Err(bad(describe(value))),
    };
    if items.len() > MOMENTS_MAX {
        return Err(bad(format!("a list of {} ids, more than {MOMENTS_MAX}", items.len())));
    }
    // As replies show an id, `#12`.
    let id = |item: &String| item.trim().trim_start_matches('#').parse::<u64>();
    items
        .iter()
        .map(|item| id(item).map_err(|_not_a_number| bad(format!("a list with {}", excerpt(item)))))
        .collect()
}

/// `[12, "11"]`, `12, 11` or `12` as `12` and `11`.
fn split_ids(text: &str) -> Vec<String> {
    let inside = text.trim().trim_start_matches('[').trim_end_matches(']');
    let parts = inside.split(|c: char| c == ',' || c == ';' || c.is_whitespace());
    let parts = parts.map(|part| part.trim_matches(|c: char| matches!(c, '"' | '\'')));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A field of prose, whatever the model made of it.
fn words(value: Option<Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(other) => other.to_string(),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "missing".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => excerpt(text),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(object) if object.is_empty() => "no keys".to_owned(),
        Value::Object(object) => {
            let keys = object.keys().take(KEYS_SHOWN_MAX).map(|key| excerpt(key));
            keys.collect::<Vec<_>>().join(", ")
        }
    }
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
