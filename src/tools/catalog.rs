//! The memory's tools, in the order of listing.

use crate::tools::ToolSpec;
use crate::tools::action::Action;
use crate::tools::admin::health::Health;
use crate::tools::admin::memory_stats::MemoryStats;
use crate::tools::admin::session_delete::SessionDelete;
use crate::tools::context::Context;
use crate::tools::ingest::ingest_status::IngestStatus;
use crate::tools::ingest::observe::Observe;
use crate::tools::ingest::observe_pose::ObservePose;
use crate::tools::memos::add::MemoAdd;
use crate::tools::memos::delete::MemoDelete;
use crate::tools::memos::expand::MemoExpand;
use crate::tools::memos::list::MemoList;
use crate::tools::memos::recall::MemoRecall;
use crate::tools::moment_retrieval::count_records_by_time::CountRecordsByTime;
use crate::tools::moment_retrieval::list_records::ListRecords;
use crate::tools::moment_retrieval::recall_observation_of_instance::RecallObservationOfInstance;
use crate::tools::moment_retrieval::retrieve_from_text_with_time::RetrieveFromTextWithTime;
use crate::tools::notes::delete::MemoryDelete;
use crate::tools::notes::forget::MemoryForget;
use crate::tools::notes::load::MemoryLoad;
use crate::tools::notes::save::MemorySave;
use crate::tools::notes::update::MemoryUpdate;
use crate::tools::object_retrieval::determine_unique_instances::DetermineUniqueInstances;
use crate::tools::object_retrieval::get_record_count::GetRecordCount;
use crate::tools::object_retrieval::inspect_memory_record::InspectMemoryRecord;
use crate::tools::object_retrieval::memory_search_instance::MemorySearchInstance;
use crate::tools::object_retrieval::real_world_search_instance::RealWorldSearchInstance;
use crate::tools::object_retrieval::recall_all::RecallAll;
use crate::tools::object_retrieval::recall_best_match::RecallBestMatch;
use crate::tools::object_retrieval::recall_last_seen::RecallLastSeen;
use crate::tools::object_retrieval::report_search_result::ReportSearchResult;
use crate::tools::object_retrieval::search_current_target::SearchCurrentTarget;
use crate::tools::object_retrieval::start_task::StartTask;
use crate::tools::object_retrieval::watch_goals::WatchGoals;
use crate::tools::state::get::StateGet;
use crate::tools::state::merge::StateMerge;
use crate::tools::state::prompt_render::PromptRender;
use crate::tools::state::set::StateSet;
use crate::tools::state::update_from_reply::StateUpdateFromReply;
use crate::tools::tool::AnyTool;

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
    &InspectMemoryRecord,
    &GetRecordCount,
    &RetrieveFromTextWithTime,
    &RecallObservationOfInstance,
    &ListRecords,
    &CountRecordsByTime,
    &MemorySave,
    &MemoryLoad,
    &MemoryUpdate,
    &MemoryDelete,
    &MemoryForget,
    &MemoAdd,
    &MemoDelete,
    &MemoRecall,
    &MemoExpand,
    &MemoList,
    &StateSet,
    &StateMerge,
    &StateGet,
    &StateUpdateFromReply,
    &PromptRender,
    &Observe,
    &ObservePose,
    &IngestStatus,
    &MemoryStats,
    &Health,
    &WatchGoals,
    &SessionDelete,
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
