//! Why retrieval refused a request, as the caller reads it.

use crate::memory::episodic::MemoryError;
use crate::retrieval::RetrievalError;
use crate::retrieval::session::SearchState;
use crate::tools::args::argument_error;
use crate::tools::context::Context;
use crate::tools::{ToolError, reply};

/// The refusal of a tool whose description is its argument `query`.
pub(crate) fn refusal(context: &Context, error: RetrievalError) -> ToolError {
    match error {
        RetrievalError::Memory(error) => memory_refusal(&error, "query"),
        RetrievalError::Model(_) | RetrievalError::Store(_) => ToolError::of_failure(&error),
        RetrievalError::NoGoal { .. } => {
            ToolError::Refused(format!("{error}: {}", reply::holdings(context)))
        }
        RetrievalError::PlanTooLong(most) => ToolError::Refused(format!(
            "the task needs more than {most} calls, which is more than a plan has"
        )),
        RetrievalError::NoCandidate { number, candidates } => argument_error(format!(
            "argument \"instance\" is {number}; accepted is a number from 1 to {candidates}, of an \
             object in the newest reply of determine_unique_instances"
        )),
        RetrievalError::NoRecord(id) => argument_error(format!(
            "argument \"record_id\" is {id}, which does not exist; {}",
            reply::holdings(context)
        )),
        RetrievalError::NoPosition(id) => argument_error(format!(
            "argument \"record_id\" is {id}, whose position is not known; accepted is a record \
             with a position"
        )),
        RetrievalError::SearchEnded(state) => argument_error(format!(
            "the search of this session {}; accepted is a call after \
             create_or_update_real_world_search_instance",
            end_of(state)
        )),
        RetrievalError::NothingWanted { .. } => ToolError::Refused(format!(
            "{error}: nothing is dispatched; accepted is a call after start_task with a request \
             for a thing"
        )),
        RetrievalError::NoWorkingMemory => argument_error(NO_WORKING_MEMORY.to_owned()),
        RetrievalError::NothingToSearchFor => argument_error(NOTHING_TO_SEARCH_FOR.to_owned()),
        RetrievalError::NoSearch => argument_error(NO_SEARCH.to_owned()),
        RetrievalError::NotUnderWay => argument_error(NOT_UNDER_WAY.to_owned()),
    }
}

const NO_WORKING_MEMORY: &str = "the working memory of this session is empty; accepted is a call \
    after a recall, such as recall_all, in the same session: on one connection, or each with the \
    same \"session\" where an adapter opens a connection for each call";
const NOTHING_TO_SEARCH_FOR: &str = "there is neither a task nor a working memory in this session; \
    accepted is a call after start_task or a recall, or with the argument \"instance_desc\"";
const NO_SEARCH: &str = "this session has no real-world search instance; accepted is a call after \
    create_or_update_real_world_search_instance";
const NOT_UNDER_WAY: &str = "no search of this session is under way; accepted is a report after \
    search_current_target_instance_in_real_world";

/// What the caller can mend names the argument that it came from.
pub(super) fn memory_refusal(error: &MemoryError, description: &str) -> ToolError {
    match error {
        MemoryError::NamesNothing(_) => {
            argument_error(format!("argument {description:?}: {error}"))
        }
        MemoryError::Store(_)
        | MemoryError::Model(_)
        | MemoryError::Corpus(_)
        | MemoryError::Thread(_) => ToolError::of_failure(error),
    }
}

fn end_of(state: SearchState) -> &'static str {
    match state {
        SearchState::Planned | SearchState::Dispatched => "is under way",
        SearchState::Found => "ended: the target was found",
        SearchState::Reopened => "was reopened: all its goals were visited in vain",
    }
}
