//! The trace of a plan: its calls as a client would make them, so that they can be made
//! again, each with its purpose and the first line of its reply.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::time::Timestamp;
use crate::retrieval::recall::RecallRequest;
use crate::retrieval::target::TargetChoice;
use crate::retrieval::tool_trace::{TraceStep, TracedCall, TracedRecall};
use crate::tools::context::Context;
use crate::tools::object_retrieval::{
    determine_unique_instances, memory_search_instance, real_world_search_instance, recall_all,
    recall_best_match, recall_last_seen, refusal, search_current_target,
};
use crate::tools::recall;

/// A call of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepReply {
    pub(crate) tool: String,
    /// Without the session, which is the same for all.
    pub(crate) arguments: Map<String, Value>,
    /// Purpose of the call.
    pub(crate) why: String,
    /// First line of its reply.
    pub(crate) result: String,
}

/// A step of a plan as replies have it.
pub(crate) fn step_reply(context: &Context, step: &TraceStep) -> StepReply {
    let (tool, arguments, text) = call_reply(context, &step.call);
    StepReply {
        tool: tool.to_owned(),
        arguments: named(arguments),
        why: step.why.to_owned(),
        result: headline(&text).to_owned(),
    }
}

/// The first line of a reply's text, without what leads to the lines below it.
pub(crate) fn headline(text: &str) -> &str {
    let first = text.lines().next().unwrap_or_default();
    first.strip_suffix(" at:").unwrap_or(first).trim_end_matches(':')
}

/// The tool, its arguments, and the text of its reply.
fn call_reply(context: &Context, call: &TracedCall) -> (&'static str, Arguments, String) {
    match call {
        TracedCall::RecallBestMatch { request, reply } => {
            let arguments = recall_arguments(context, request, recall_best_match::K_DEFAULT);
            let why_empty = || recall::why_none(context, &request.filter);
            (recall_best_match::NAME, arguments, recall_text(context, reply, why_empty))
        }
        TracedCall::RecallLastSeen { request, reply } => {
            let arguments = recall_arguments(context, request, recall_last_seen::K_DEFAULT);
            let why_empty = || recall::why_unseen(context, request);
            (recall_last_seen::NAME, arguments, recall_text(context, reply, why_empty))
        }
        TracedCall::RecallAll { request, reply } => {
            let arguments = recall_arguments(context, request, recall_all::K_DEFAULT);
            let why_empty = || recall::why_unseen(context, request);
            (recall_all::NAME, arguments, recall_text(context, reply, why_empty))
        }
        TracedCall::DetermineInstances { request, reply } => {
            let text = determine_unique_instances::text_of(context, reply);
            (determine_unique_instances::NAME, vec![("query", json!(request.text))], text)
        }
        TracedCall::ChooseTarget { choice, reply } => {
            let text = memory_search_instance::text_of(context, reply);
            (memory_search_instance::NAME, target_arguments(choice), text)
        }
        TracedCall::PlanSearch { reply } => {
            let text = real_world_search_instance::text_of(context, reply);
            (real_world_search_instance::NAME, Vec::new(), text)
        }
        TracedCall::Dispatch { reply } => {
            let text = search_current_target::text_of(context, reply);
            (search_current_target::NAME, Vec::new(), text)
        }
    }
}

type Arguments = Vec<(&'static str, Value)>;

fn named(arguments: Arguments) -> Map<String, Value> {
    let arguments = arguments.into_iter().filter(|(_, value)| !value.is_null());
    arguments.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn recall_arguments(context: &Context, request: &RecallRequest, k_default: i64) -> Arguments {
    let RecallRequest { query, filter, k, explain: _ } = request;
    let time = |it: Option<Timestamp>| json!(it.map(|it| context.options.zone.format(it)));
    let [query_name, start, end] = recall::NAMES;
    let is_default = i64::try_from(*k).is_ok_and(|k| k == k_default);
    vec![
        (query_name, json!(query)),
        (start, time(filter.window.start())),
        (end, time(filter.window.end())),
        ("k", if is_default { Value::Null } else { json!(k) }),
    ]
}

fn recall_text(
    context: &Context,
    reply: &TracedRecall,
    why_empty: impl FnOnce() -> String,
) -> String {
    match reply {
        Ok(recall) => recall::text_of(context, recall, why_empty),
        Err(error) => refusal::memory_refusal(error, recall::QUERY).to_string(),
    }
}

fn target_arguments(choice: &TargetChoice) -> Arguments {
    match choice {
        TargetChoice::Implied => Vec::new(),
        TargetChoice::Described(request) => {
            vec![(memory_search_instance::DESCRIPTION, json!(request.text))]
        }
        TargetChoice::Record(id) => vec![(memory_search_instance::RECORD, json!(id.0))],
        TargetChoice::Candidate(at) => vec![(memory_search_instance::INSTANCE, json!(at + 1))],
    }
}
