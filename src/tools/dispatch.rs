//! From a name and its arguments to a checked call, and from the call to its reply.

use serde_json::{Map, Value};

use crate::base::RecordId;
use crate::base::picture::Limits;
use crate::base::time::Window;
use crate::retrieval::recall::RecallRequest;
use crate::retrieval::search::GoalReport;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, SESSION};
use crate::tools::context::Context;
use crate::tools::moment_retrieval::{
    recall_observation_of_instance, retrieve_from_text_with_time,
};
use crate::tools::object_retrieval::{
    determine_unique_instances, memory_search_instance, real_world_search_instance, recall_all,
    recall_best_match, recall_last_seen, report_search_result, search_current_target, start_task,
    watch_goals,
};
use crate::tools::{Image, ToolBox, ToolError, ToolReply, ToolSpec};
use crate::tools::{admin, catalog, inspect, memos, notes, observe, state};

/// The memory's tools over a running memory.
#[derive(Debug)]
pub struct Tools {
    context: Context,
    catalog: Vec<ToolSpec>,
    image_limits: Limits,
}

/// A call whose arguments passed their checks. Closed: a new tool does not
/// compile until it is handled everywhere.
#[derive(Debug)]
enum ToolCall {
    Observe(observe::Request),
    RecallBestMatch(RecallRequest),
    StartTask(start_task::Request),
    RecallLastSeen(RecallRequest),
    RecallAll(RecallRequest),
    DetermineUniqueInstances(Option<String>),
    CreateMemorySearchInstance(memory_search_instance::Request),
    CreateRealWorldSearchInstance(Option<RecordId>),
    SearchCurrentTarget,
    ReportSearchResult(GoalReport),
    WatchGoals(watch_goals::Request),
    RetrieveFromTextWithTime(RecallRequest),
    RecallObservationOfInstance(RecallRequest),
    InspectMemoryRecord(Vec<RecordId>),
    GetRecordCountWithinTimeRange(Window),
    Note(notes::Request),
    Memo(memos::Request),
    State(state::Request),
    IngestStatus,
    MemoryStats,
    Health,
}

impl Tools {
    pub fn new(context: Context, image_limits: Limits) -> Self {
        Self { context, catalog: catalog::all(), image_limits }
    }

    /// What the tools work on, for the layer that makes calls on behalf of an agent.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Whether a call's arguments pass their checks; makes no call.
    pub(crate) fn check(
        &self,
        session: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<(), ToolError> {
        self.parse(session, tool, arguments).map(drop)
    }

    fn parse(
        &self,
        session: &str,
        tool: &str,
        values: Map<String, Value>,
    ) -> Result<(Args, ToolCall), ToolError> {
        let reading = self.context.reading(session);
        let checked = |params| Args::new(params, values);
        Ok(match tool {
            "observe" => {
                let args = checked(observe::OBSERVE)?;
                let request = observe::Request::parse(&args, reading, self.image_limits)?;
                (args, ToolCall::Observe(request))
            }
            "recall_best_match" => {
                let args = checked(recall_best_match::PARAMS)?;
                let request = recall_best_match::parse(&args, reading)?;
                (args, ToolCall::RecallBestMatch(request))
            }
            "recall_last_seen" => {
                let args = checked(recall_last_seen::PARAMS)?;
                let request = recall_last_seen::parse(&args, reading)?;
                (args, ToolCall::RecallLastSeen(request))
            }
            "recall_all" => {
                let args = checked(recall_all::PARAMS)?;
                let request = recall_all::parse(&args, reading)?;
                (args, ToolCall::RecallAll(request))
            }
            "start_task" => {
                let args = checked(start_task::PARAMS)?;
                let request = start_task::parse(&args, self.context.clock_reading())?;
                (args, ToolCall::StartTask(request))
            }
            "determine_unique_instances_from_latest_working_memory"
            | "determine_unique_instances" => {
                let args = checked(determine_unique_instances::PARAMS)?;
                let query = args.text("query")?.map(str::to_owned);
                (args, ToolCall::DetermineUniqueInstances(query))
            }
            "create_or_update_memory_search_instance" => {
                let args = checked(memory_search_instance::PARAMS)?;
                let choice = memory_search_instance::parse(&args)?;
                (args, ToolCall::CreateMemorySearchInstance(choice))
            }
            "create_or_update_real_world_search_instance" => {
                let args = checked(real_world_search_instance::PARAMS)?;
                let record = args.record_ids("record_id")?.first().copied();
                (args, ToolCall::CreateRealWorldSearchInstance(record))
            }
            "search_current_target_instance_in_real_world" => {
                (checked(catalog::NO_ARGUMENTS)?, ToolCall::SearchCurrentTarget)
            }
            "report_search_result" => {
                let args = checked(report_search_result::PARAMS)?;
                let report = report_search_result::parse(&args)?;
                (args, ToolCall::ReportSearchResult(report))
            }
            "watch_goals" => {
                let args = checked(watch_goals::PARAMS)?;
                let request = watch_goals::parse(&args)?;
                (args, ToolCall::WatchGoals(request))
            }
            "retrieve_from_text_with_time" => {
                let args = checked(retrieve_from_text_with_time::PARAMS)?;
                let request = retrieve_from_text_with_time::parse(&args, reading)?;
                (args, ToolCall::RetrieveFromTextWithTime(request))
            }
            "recall_observation_of_instance" => {
                let args = checked(recall_observation_of_instance::PARAMS)?;
                let request = recall_observation_of_instance::parse(&args, reading)?;
                (args, ToolCall::RecallObservationOfInstance(request))
            }
            "inspect_memory_record" => {
                let args = checked(inspect::INSPECT)?;
                let ids = args.record_ids("record_ids")?;
                (args, ToolCall::InspectMemoryRecord(ids))
            }
            "get_record_count_within_time_range" => {
                let args = checked(inspect::COUNT)?;
                let window = inspect::window(&args, reading)?;
                (args, ToolCall::GetRecordCountWithinTimeRange(window))
            }
            "memory_save" => {
                let args = checked(notes::SAVE)?;
                let request = notes::Request::save(&args)?;
                (args, ToolCall::Note(request))
            }
            "memory_load" => {
                let args = checked(notes::LOAD)?;
                let request = notes::Request::load(&args)?;
                (args, ToolCall::Note(request))
            }
            "memory_delete" => {
                let args = checked(notes::DELETE)?;
                let request = notes::Request::delete(&args)?;
                (args, ToolCall::Note(request))
            }
            "memory_forget" => {
                let args = checked(notes::FORGET)?;
                let request = notes::Request::forget(&args)?;
                (args, ToolCall::Note(request))
            }
            "memo_add" => {
                let args = checked(memos::ADD)?;
                let request = memos::Request::add(&args)?;
                (args, ToolCall::Memo(request))
            }
            "memo_delete" => {
                let args = checked(memos::DELETE)?;
                let request = memos::Request::delete(&args)?;
                (args, ToolCall::Memo(request))
            }
            "memo_recall" => {
                let args = checked(memos::RECALL)?;
                let request = memos::Request::recall(&args)?;
                (args, ToolCall::Memo(request))
            }
            "memo_expand" => {
                let args = checked(memos::EXPAND)?;
                let request = memos::Request::expand(&args)?;
                (args, ToolCall::Memo(request))
            }
            "memo_list" => {
                let args = checked(memos::LIST)?;
                let request = memos::Request::list(&args)?;
                (args, ToolCall::Memo(request))
            }
            "state_set" => {
                let args = checked(state::SET)?;
                let request = state::Request::set(&args)?;
                (args, ToolCall::State(request))
            }
            "state_merge" => {
                let args = checked(state::MERGE)?;
                let request = state::Request::merge(&args)?;
                (args, ToolCall::State(request))
            }
            "state_get" => {
                let args = checked(state::GET)?;
                let request = state::Request::get(&args)?;
                (args, ToolCall::State(request))
            }
            "state_update_from_reply" => {
                let args = checked(state::UPDATE)?;
                let request = state::Request::update(&args)?;
                (args, ToolCall::State(request))
            }
            "prompt_render" => {
                let args = checked(state::RENDER)?;
                let request = state::Request::render(&args)?;
                (args, ToolCall::State(request))
            }
            "ingest_status" => (checked(catalog::NO_ARGUMENTS)?, ToolCall::IngestStatus),
            "memory_stats" => (checked(catalog::NO_ARGUMENTS)?, ToolCall::MemoryStats),
            "health" => (checked(catalog::NO_ARGUMENTS)?, ToolCall::Health),
            unknown => return Err(ToolError::UnknownTool(unknown.to_owned())),
        })
    }
}

impl ToolBox for Tools {
    fn catalog(&self) -> &[ToolSpec] {
        &self.catalog
    }

    fn is_brief(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        // Not those that write, or read images; a named session is written.
        let is_named = arguments.contains_key(SESSION.name);
        !is_named
            && matches!(
                tool,
                "recall_best_match"
                    | "recall_last_seen"
                    | "retrieve_from_text_with_time"
                    | "recall_observation_of_instance"
                    | "get_record_count_within_time_range"
                    | "ingest_status"
            )
    }

    fn call(
        &self,
        session: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolReply, ToolError> {
        let context = &self.context;
        let named = arguments.get(SESSION.name).and_then(Value::as_str).unwrap_or_default();
        let named = (!named.trim().is_empty()).then(|| named.to_owned());
        let (args, call) = self.parse(named.as_deref().unwrap_or(session), tool, arguments)?;
        let session = match args.session()? {
            Some(name) => SessionName { name, is_kept: true },
            None => SessionName { name: session, is_kept: false },
        };
        match call {
            ToolCall::Observe(request) => observe::observe(context, request),
            ToolCall::RecallBestMatch(request) => {
                recall_best_match::run(context, session, &request)
            }
            ToolCall::RetrieveFromTextWithTime(request) => {
                retrieve_from_text_with_time::run(context, session, &request)
            }
            ToolCall::RecallObservationOfInstance(request) => {
                recall_observation_of_instance::run(context, session, &request)
            }
            ToolCall::RecallLastSeen(request) => recall_last_seen::run(context, session, &request),
            ToolCall::RecallAll(request) => recall_all::run(context, session, &request),
            ToolCall::StartTask(request) => start_task::run(context, session, &request),
            ToolCall::DetermineUniqueInstances(query) => {
                determine_unique_instances::run(context, session, query.as_deref())
            }
            ToolCall::CreateMemorySearchInstance(choice) => {
                memory_search_instance::run(context, session, choice)
            }
            ToolCall::CreateRealWorldSearchInstance(record) => {
                real_world_search_instance::run(context, session, record)
            }
            ToolCall::SearchCurrentTarget => search_current_target::run(context, session),
            ToolCall::ReportSearchResult(report) => {
                report_search_result::run(context, session, &report)
            }
            ToolCall::WatchGoals(request) => Ok(watch_goals::run(context, &request)),
            ToolCall::InspectMemoryRecord(ids) => inspect::inspect(context, session.name, ids),
            ToolCall::GetRecordCountWithinTimeRange(window) => Ok(inspect::count(context, window)),
            ToolCall::Note(request) => notes::run(context, request),
            ToolCall::Memo(request) => memos::run(context, request),
            ToolCall::State(request) => state::run(context, request),
            ToolCall::IngestStatus => Ok(admin::ingest_status(context)),
            ToolCall::MemoryStats => admin::memory_stats(context),
            ToolCall::Health => Ok(admin::health(context)),
        }
    }

    fn resource(&self, uri: &str) -> Result<Option<Image>, ToolError> {
        inspect::resource(&self.context, uri)
    }

    fn close_session(&self, session: &str) {
        self.context.retrieval.close_session(session);
    }
}
