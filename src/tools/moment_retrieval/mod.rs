//! Moment retrieval: the tools that find the moments at which something was observed.
//!
//! The same question in one session gets the same answer in a few words, so that a model
//! notices that it goes in circles.

pub(crate) mod recall_observation_of_instance;
pub(crate) mod retrieve_from_text_with_time;

use serde_json::json;

use crate::retrieval::moments::{Moments, SIGHTINGS_MAX};
use crate::retrieval::recall::RecallRequest;
use crate::tools::args::{Kind, Param};
use crate::tools::context::Context;
use crate::tools::{ToolReply, recall};

#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const K: Param = Param::optional(
    "k",
    Kind::Whole { least: 1, most: SIGHTINGS_MAX as i64, default: 8 },
    "How many moments at most.",
);

/// The reply of a recall of moments; `why_empty` says why it found none.
fn reply_of(
    context: &Context,
    session: &str,
    request: &RecallRequest,
    moments: &Moments,
    why_empty: impl FnOnce() -> String,
) -> ToolReply {
    let Moments { recall, is_repeated } = moments;
    let mut reply = recall::reply_of(context, session, recall, why_empty);
    if *is_repeated && !request.explain {
        let ids: Vec<String> = recall.found.iter().map(|it| format!("#{}", it.record.id)).collect();
        let answer = if ids.is_empty() { "nothing found".to_owned() } else { ids.join(", ") };
        reply.text = format!("already asked, same answer: {answer}");
        reply.structured.insert("already_asked".to_owned(), json!(true));
    }
    reply
}
