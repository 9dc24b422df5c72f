//! The trace of a plan: its calls as a client would make them, so that they can be made
//! again, each with its purpose and the first line of its reply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::time::{Timestamp, Zone};
use crate::retrieval::recall::RecallRequest;
use crate::retrieval::target::TargetChoice;
use crate::retrieval::tool_trace::{TraceStep, TracedCall, TracedRecall};
use crate::tools::context::Context;
use crate::tools::object_retrieval::determine_unique_instances::{self, DetermineUniqueInstances};
use crate::tools::object_retrieval::memory_search_instance::{self, MemorySearchInstance};
use crate::tools::object_retrieval::real_world_search_instance::{self, RealWorldSearchInstance};
use crate::tools::object_retrieval::recall_all::{self, RecallAll};
use crate::tools::object_retrieval::recall_best_match::{self, RecallBestMatch};
use crate::tools::object_retrieval::recall_last_seen::{self, RecallLastSeen};
use crate::tools::object_retrieval::refusal;
use crate::tools::object_retrieval::search_current_target::{self, SearchCurrentTarget};
use crate::tools::recall::{self, RecallReply};
use crate::tools::text::Text;
use crate::tools::tool::{Reply, Tool as _, ToolContext as _};

// A call of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StepReply {
    pub(crate) tool: String,
    // Without the session, which is the same for all.
    pub(crate) arguments: Map<String, Value>,
    // Purpose of the call.
    pub(crate) why: String,
    // First line of its reply.
    pub(crate) result: String,
}

/// A step of a plan as replies have it.
pub(crate) fn step_reply(context: &Context, session: &str, step: &TraceStep) -> StepReply {
    let (tool, arguments) = arguments_of(&step.call, context.options.zone);
    let text = text_of(context, session, &step.call);
    StepReply {
        tool: tool.to_owned(),
        arguments,
        why: step.why.to_owned(),
        result: headline(&text).to_owned(),
    }
}

/// The first line of a reply's text, without what leads to the lines below it.
pub(crate) fn headline(text: &str) -> &str {
    let first = text.lines().next().unwrap_or_default();
    first.strip_suffix(" at:").unwrap_or(first).trim_end_matches(':')
}

/// The tool and its arguments.
fn arguments_of(call: &TracedCall, zone: Zone) -> (&'static str, Map<String, Value>) {
    match call {
        TracedCall::RecallBestMatch { request, .. } => {
            let arguments = recall_arguments(request, recall_best_match::K_DEFAULT, zone);
            (RecallBestMatch::NAME, arguments)
        }
        TracedCall::RecallLastSeen { request, .. } => {
            let arguments = recall_arguments(request, recall_last_seen::K_DEFAULT, zone);
            (RecallLastSeen::NAME, arguments)
        }
        TracedCall::RecallAll { request, .. } => {
            (RecallAll::NAME, recall_arguments(request, recall_all::K_DEFAULT, zone))
        }
        TracedCall::DetermineInstances { request, .. } => {
            (DetermineUniqueInstances::NAME, to_arguments([(recall::QUERY, json!(request.text))]))
        }
        TracedCall::ChooseTarget { choice, .. } => {
            (MemorySearchInstance::NAME, target_arguments(choice))
        }
        TracedCall::PlanSearch { record, follows, .. } => {
            let follows = json!(follows.then_some(true));
            let arguments = to_arguments([
                (real_world_search_instance::RECORD, json!(record)),
                (real_world_search_instance::FOLLOWS, follows),
            ]);
            (RealWorldSearchInstance::NAME, arguments)
        }
        TracedCall::Dispatch { .. } => (SearchCurrentTarget::NAME, Map::new()),
    }
}

fn to_arguments<const N: usize>(arguments: [(&str, Value); N]) -> Map<String, Value> {
    let arguments = arguments.into_iter().filter(|(_, value)| !value.is_null());
    arguments.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn recall_arguments(request: &RecallRequest, k_default: i64, zone: Zone) -> Map<String, Value> {
    let RecallRequest { query, filter, k, explain: _ } = request;
    let time = |it: Option<Timestamp>| json!(it.map(|it| zone.format(it)));
    let [query_name, start, end] = recall::NAMES;
    let k = i64::try_from(*k).ok().filter(|k| *k != k_default);
    to_arguments([
        (query_name, json!(query)),
        (start, time(filter.window.start())),
        (end, time(filter.window.end())),
        ("k", json!(k)),
    ])
}

fn target_arguments(choice: &TargetChoice) -> Map<String, Value> {
    match choice {
        TargetChoice::Implied => Map::new(),
        TargetChoice::Described(request) => {
            to_arguments([(memory_search_instance::DESCRIPTION, json!(request.text))])
        }
        TargetChoice::Record(id) => to_arguments([(memory_search_instance::RECORD, json!(id.0))]),
        TargetChoice::Candidate(at) => {
            to_arguments([(memory_search_instance::INSTANCE, json!(at + 1))])
        }
    }
}

/// The reply of a call in words.
fn text_of(context: &Context, session: &str, call: &TracedCall) -> String {
    let zone = context.options.zone;
    match call {
        TracedCall::RecallBestMatch { request, reply } => {
            let why_empty = || recall::why_unmatched(context, request);
            recall_text(context, session, reply, why_empty)
        }
        TracedCall::RecallLastSeen { request, reply }
        | TracedCall::RecallAll { request, reply } => {
            let why_empty = || recall::why_unseen(context, request);
            recall_text(context, session, reply, why_empty)
        }
        TracedCall::DetermineInstances { reply, .. } => {
            write_text(context, &determine_unique_instances::Reply::of(reply, session, zone))
        }
        TracedCall::ChooseTarget { reply, .. } => {
            write_text(context, &memory_search_instance::Reply::of(reply, zone))
        }
        TracedCall::PlanSearch { reply, .. } => {
            write_text(context, &real_world_search_instance::Reply::of(context, reply))
        }
        TracedCall::Dispatch { reply } => {
            write_text(context, &search_current_target::Reply::of(reply))
        }
    }
}

fn recall_text(
    context: &Context,
    session: &str,
    reply: &TracedRecall,
    why_empty: impl FnOnce() -> String,
) -> String {
    match reply {
        Ok(recall) => write_text(context, &RecallReply::of(context, session, recall, why_empty)),
        Err(error) => refusal::memory_refusal(error, recall::QUERY).to_string(),
    }
}

fn write_text(context: &Context, reply: &impl Reply) -> String {
    let mut text = Text::new(context.text_max_chars());
    reply.write(&mut text);
    text.finish()
}
