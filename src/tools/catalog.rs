//! The memory's tools, in the order of listing.

use crate::tools::ToolSpec;
use crate::tools::action::Action;
use crate::tools::context::Context;
use crate::tools::health::Health;
use crate::tools::ingest_status::IngestStatus;
use crate::tools::memory_stats::MemoryStats;
use crate::tools::tool::AnyTool;
use crate::tools::untyped;

/// Every tool of the memory. A new one is a file of this folder and a line here.
pub(crate) const TOOLS: &[&dyn AnyTool<Context>] = &[
    &untyped::START_TASK,
    &untyped::RECALL_BEST_MATCH,
    &untyped::RECALL_LAST_SEEN,
    &untyped::RECALL_ALL,
    &untyped::DETERMINE_UNIQUE_INSTANCES,
    &untyped::CREATE_MEMORY_SEARCH_INSTANCE,
    &untyped::CREATE_REAL_WORLD_SEARCH_INSTANCE,
    &untyped::SEARCH_CURRENT_TARGET,
    &untyped::REPORT_SEARCH_RESULT,
    &untyped::INSPECT_MEMORY_RECORD,
    &untyped::GET_RECORD_COUNT,
    &untyped::RETRIEVE_FROM_TEXT_WITH_TIME,
    &untyped::RECALL_OBSERVATION_OF_INSTANCE,
    &untyped::MEMORY_SAVE,
    &untyped::MEMORY_LOAD,
    &untyped::MEMORY_DELETE,
    &untyped::MEMORY_FORGET,
    &untyped::MEMO_ADD,
    &untyped::MEMO_DELETE,
    &untyped::MEMO_RECALL,
    &untyped::MEMO_EXPAND,
    &untyped::MEMO_LIST,
    &untyped::STATE_SET,
    &untyped::STATE_MERGE,
    &untyped::STATE_GET,
    &untyped::STATE_UPDATE_FROM_REPLY,
    &untyped::PROMPT_RENDER,
    &untyped::OBSERVE,
    &IngestStatus,
    &MemoryStats,
    &Health,
    &untyped::WATCH_GOALS,
];

/// As clients see them listed.
pub(crate) fn all() -> Vec<ToolSpec> {
    TOOLS.iter().map(|tool| tool.spec()).collect()
}

/// The names under which an agent's reply may call a tool.
pub(crate) fn actions() -> impl Iterator<Item = (&'static str, Action)> {
    TOOLS.iter().filter_map(|tool| tool.action().map(|action| (tool, action))).flat_map(
        |(tool, action)| {
            let names = [tool.name()].into_iter().chain(tool.aliases().iter().copied());
            names.map(move |name| (name, action))
        },
    )
}
