//! Object retrieval: the tools from a task in words to the goals of the robot.

pub(crate) mod determine_unique_instances;
pub(crate) mod get_record_count;
pub(crate) mod goal;
pub(crate) mod inspect_memory_record;
pub(crate) mod memory_search_instance;
pub(crate) mod real_world_search_instance;
pub(crate) mod recall_all;
pub(crate) mod recall_best_match;
pub(crate) mod recall_last_seen;
mod recall_tool;
pub(crate) mod refusal;
pub(crate) mod report_search_result;
pub(crate) mod search_current_target;
pub(crate) mod start_task;
pub(crate) mod trace;
pub(crate) mod watch_goals;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::wording::quantity;
use crate::tools::args::Kind;

/// A task, query or description.
pub(crate) const TEXT: Kind = Kind::Text { bytes_max: 2_000 };

// Whether the memory shows the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Known {
    Yes,
    No,
    Unknown,
}
