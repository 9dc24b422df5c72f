//! `recall_all`: every record that shows an object, in the order of time.

use crate::retrieval::recall::RecallRequest;
use crate::retrieval::sessions::SessionName;
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param, TimeReading};
use crate::tools::context::Context;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::recall::{END, MAP, NAMES, OBJECT, SOURCE, START};
use crate::tools::{ToolError, ToolReply, recall};

pub(crate) const NAME: &str = "recall_all";

/// Records where the call does not say how many.
pub(super) const K_DEFAULT: i64 = 50;

pub(crate) const PARAMS: &[Param] = &[
    OBJECT,
    START,
    END,
    Param::optional(
        "k",
        Kind::Whole { least: 1, most: 500, default: K_DEFAULT },
        "How many sightings at most; of more the newest.",
    ),
    SOURCE,
    MAP,
    AREA,
];

pub(crate) fn parse(args: &Args, reading: TimeReading) -> Result<RecallRequest, ToolError> {
    recall::request(args, reading, NAMES)
}

pub(crate) fn run(
    context: &Context,
    session: SessionName<'_>,
    request: &RecallRequest,
) -> Result<ToolReply, ToolError> {
    let recall = context.retrieval.recall_all(session, request);
    let recall = recall.map_err(|error| refusal(context, error))?;
    Ok(recall::reply_of(context, session.name, &recall, || recall::why_unseen(context, request)))
}
