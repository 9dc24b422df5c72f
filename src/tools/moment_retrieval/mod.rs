//! Moment retrieval: the tools that find the moments at which something was observed.
//!
//! The same question in one session gets the same answer in a few words, so that a model
//! notices that it goes in circles.

pub(crate) mod recall_observation_of_instance;
pub(crate) mod retrieve_from_text_with_time;

use schemars::JsonSchema;
use serde::Serialize;

use crate::retrieval::moments::{Moments, SIGHTINGS_MAX};
use crate::retrieval::recall::RecallRequest;
use crate::tools::args::{Kind, Param};
use crate::tools::context::Context;
use crate::tools::recall::RecallReply;
use crate::tools::text::Text;
use crate::tools::tool;

#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const K: Param = Param::optional(
    "k",
    Kind::Whole { least: 1, most: SIGHTINGS_MAX as i64, default: 8 },
    "How many moments at most.",
);

/// The reply of a recall of moments.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MomentsReply {
    #[serde(flatten)]
    recall: RecallReply,
    #[serde(skip_serializing_if = "Option::is_none")]
    already_asked: Option<bool>,
}

impl MomentsReply {
    /// `why_empty` says why the recall found none.
    fn of(
        context: &Context,
        session: &str,
        request: &RecallRequest,
        moments: &Moments,
        why_empty: impl FnOnce() -> String,
    ) -> Self {
        let Moments { recall, is_repeated } = moments;
        Self {
            recall: RecallReply::of(context, session, recall, why_empty),
            already_asked: (*is_repeated && !request.explain).then_some(true),
        }
    }
}

impl tool::Reply for MomentsReply {
    fn write(&self, text: &mut Text) {
        if self.already_asked.is_none() {
            return self.recall.write(text);
        }
        let ids: Vec<String> = self.recall.records.iter().map(|it| format!("#{}", it.id)).collect();
        let answer = if ids.is_empty() { "nothing found".to_owned() } else { ids.join(", ") };
        text.whole_line(&format!("already asked, same answer: {answer}"));
    }
}
