//! Moment retrieval: the tools that find the moments at which something was observed.
//!
//! The same question in one session gets the same answer in a few words, so that a model
//! notices that it goes in circles.

pub(crate) mod count_records_by_time;
pub(crate) mod list_records;
pub(crate) mod recall_observation_of_instance;
pub(crate) mod retrieve_from_text_with_time;

use schemars::JsonSchema;
use serde::Serialize;

use crate::retrieval::moments::{Moments, SIGHTINGS_MAX};
use crate::retrieval::recall::RecallRequest;
use crate::retrieval::sessions::SessionName;
use crate::search::Filter;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::recall::{END, MAP, RecallReply, SOURCE, START};
use crate::tools::text::Text;
use crate::tools::{ToolError, area, tool};

#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const K: Param =
    Param::optional("k", Kind::Whole { least: 1, most: SIGHTINGS_MAX as i64, default: 8 }, "");

pub(in crate::tools) const LAYER: Param =
    Param::optional("layer", Kind::Name { bytes_max: 128 }, "Only of this layer, such as battery.");

/// The filter of a call that needs no description.
pub(in crate::tools) fn filter(
    args: &Args,
    context: &Context,
    session: SessionName<'_>,
) -> Result<Filter, ToolError> {
    let map_id = args.text(MAP.name)?;
    Ok(Filter {
        window: args.window(START.name, END.name, context.reading(session))?,
        source: args.text(SOURCE.name)?.map(str::to_owned),
        map_id: map_id.map(str::to_owned),
        layer: args.text(LAYER.name)?.map(str::to_owned),
        area: area::area(args, map_id)?,
    })
}

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
