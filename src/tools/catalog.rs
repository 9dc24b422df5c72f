//! The memory's tools, in the order of listing.

use crate::tools::ToolSpec;
use crate::tools::action::Action;
use crate::tools::context::Context;
use crate::tools::health::Health;
use crate::tools::ingest_status::IngestStatus;
use crate::tools::memory_stats::MemoryStats;
use crate::tools::moment_retrieval::recall_observation_of_instance::RecallObservationOfInstance;
use crate::tools::moment_retrieval::retrieve_from_text_with_time::RetrieveFromTextWithTime;
use crate::tools::object_retrieval::determine_unique_instances::DetermineUniqueInstances;
use crate::tools::object_retrieval::memory_search_instance::MemorySearchInstance;
use crate::tools::object_retrieval::real_world_search_instance::RealWorldSearchInstance;
use crate::tools::object_retrieval::recall_all::RecallAll;
use crate::tools::object_retrieval::recall_best_match::RecallBestMatch;
use crate::tools::object_retrieval::recall_last_seen::RecallLastSeen;
use crate::tools::object_retrieval::report_search_result::ReportSearchResult;
use crate::tools::object_retrieval::search_current_target::SearchCurrentTarget;
use crate::tools::object_retrieval::start_task::StartTask;
use crate::tools::object_retrieval::watch_goals::WatchGoals;
use crate::tools::tool::AnyTool;
use crate::tools::untyped;

/// Every tool of the memory. A new one is a file of this folder and a line here.
pub(crate) const TOOLS: &[&dyn AnyTool<Context>] = &[
    &StartTask,
    &RecallBestMatch,
    &RecallLastSeen,
    &RecallAll,
    &DetermineUniqueInstances,
    &MemorySearchInstance,
    &RealWorldSearchInstance,
    &SearchCurrentTarget,
    &ReportSearchResult,
    &untyped::INSPECT_MEMORY_RECORD,
    &untyped::GET_RECORD_COUNT,
    &RetrieveFromTextWithTime,
    &RecallObservationOfInstance,
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
    &WatchGoals,
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
