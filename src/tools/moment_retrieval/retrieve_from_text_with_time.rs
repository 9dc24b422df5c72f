//! `retrieve_from_text_with_time`: moments by a search phrase.

use crate::retrieval::recall::RecallRequest;
use crate::retrieval::sessions::SessionName;
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param, TimeReading};
use crate::tools::context::Context;
use crate::tools::explain::EXPLAIN;
use crate::tools::moment_retrieval::{K, reply_of};
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::recall::{MAP, QUERY_BYTES_MAX, SOURCE};
use crate::tools::{ToolError, ToolReply, recall};

pub(crate) const PARAMS: &[Param] = &[
    Param::required("x", Kind::Text { bytes_max: QUERY_BYTES_MAX }, "What to look for, in words."),
    Param::required("start_time", Kind::Time, "Start of the window, inclusive."),
    Param::required("end_time", Kind::Time, "End of the window, inclusive."),
    K,
    SOURCE,
    MAP,
    AREA,
    EXPLAIN,
];

pub(crate) fn parse(args: &Args, reading: TimeReading) -> Result<RecallRequest, ToolError> {
    recall::request(args, reading, ["x", "start_time", "end_time"])
}

pub(crate) fn run(
    context: &Context,
    session: SessionName<'_>,
    request: &RecallRequest,
) -> Result<ToolReply, ToolError> {
    let moments = context.retrieval.moments_by_text(session, request);
    let moments = moments.map_err(|error| refusal(context, error))?;
    let why_empty = || recall::why_none(context, &request.filter);
    Ok(reply_of(context, session.name, request, &moments, why_empty))
}
