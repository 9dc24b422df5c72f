//! Memos: answers that users rated up, for the next question like it.

pub(super) mod add;
pub(super) mod delete;
pub(super) mod expand;
pub(crate) mod list;
pub(super) mod recall;

use schemars::JsonSchema;
use serde::Serialize;

use crate::memory::memos::{MemoMatches, MemoRanking, MemoStatus, MemosError};
use crate::tools::ToolError;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;

/// A user's prompt or a query.
const PROMPT: Kind = Kind::Text { bytes_max: 8_000 };
/// Longest message of an assistant.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

const TIME_DECAY: Param = Param::optional(
    "time_decay",
    Kind::Positive,
    "Days after which a memo counts half; without it age does not count.",
);
/// Between the questions that an example answers and what has nothing to do with it.
const THRESHOLD: Param =
    Param::optional("threshold", Kind::Share { default: 0.6 }, "Least similarity.");
const USAGE_WEIGHT: Param = Param::optional(
    "usage_weight",
    Kind::Share { default: 0.0 },
    "Part of the score that past use decides.",
);

/// How far a memo is.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StatusReply {
    Queued,
    Stored,
}

impl StatusReply {
    fn of(status: MemoStatus) -> Self {
        match status {
            MemoStatus::Queued => Self::Queued,
            MemoStatus::Stored => Self::Stored,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Stored => "stored",
        }
    }
}

fn ranking(args: &Args) -> Result<MemoRanking, ToolError> {
    Ok(MemoRanking {
        half_life_days: args.positive(TIME_DECAY.name)?,
        usage_weight: args.share(USAGE_WEIGHT.name)?,
    })
}

fn recall_memos(
    context: &Context,
    query: &str,
    (k, floor): (usize, f32),
    ranking: MemoRanking,
) -> Result<MemoMatches, ToolError> {
    let now = context.clock.now();
    context.memos.recall(query, (k, floor), ranking, now).map_err(|error| refusal(&error))
}

fn why_none(context: &Context, recalled: &MemoMatches, floor: f32) -> String {
    match (recalled.best, context.memos.queued_count()) {
        (Some(best), _) => {
            format!("no memo answers as well as {floor:.2}; the nearest is at {best:.2}")
        }
        (None, 0) => "no memo is kept".to_owned(),
        (None, queued) => format!("{queued} memos are queued, none is stored yet"),
    }
}

/// `#1, #2`, or `none`.
fn id_list(ids: &[u64]) -> String {
    if ids.is_empty() {
        return "none".to_owned();
    }
    ids.iter().map(|id| format!("#{id}")).collect::<Vec<String>>().join(", ")
}

pub(super) fn refusal(error: &MemosError) -> ToolError {
    match error {
        MemosError::NothingToKeep(_) => argument_error(format!("argument \"message\" {error}")),
        MemosError::Full | MemosError::QueueFull => ToolError::Refused(error.to_string()),
        MemosError::Store(_) | MemosError::Model(_) | MemosError::Thread(_) => {
            ToolError::of_failure(error)
        }
    }
}
