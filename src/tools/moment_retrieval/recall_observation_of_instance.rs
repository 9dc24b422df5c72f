//! `recall_observation_of_instance`: moments that really show an object.

use crate::retrieval::recall::RecallRequest;
use crate::retrieval::sessions::SessionName;
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param, TimeReading};
use crate::tools::context::Context;
use crate::tools::moment_retrieval::{K, reply_of};
use crate::tools::object_retrieval::refusal::refusal_naming;
use crate::tools::recall::{MAP, QUERY_BYTES_MAX, SOURCE};
use crate::tools::{ToolError, ToolReply, recall};

const INSTANCE: &str = "instance_description";

pub(crate) const PARAMS: &[Param] = &[
    Param::required(
        INSTANCE,
        Kind::Text { bytes_max: QUERY_BYTES_MAX },
        "The object, with what tells it apart: 'a red mug'.",
    ),
    Param::required("search_start_time", Kind::Time, "Start of the window, inclusive."),
    Param::required("search_end_time", Kind::Time, "End of the window, inclusive."),
    K,
    SOURCE,
    MAP,
    AREA,
];

pub(crate) fn parse(args: &Args, reading: TimeReading) -> Result<RecallRequest, ToolError> {
    recall::request(args, reading, [INSTANCE, "search_start_time", "search_end_time"])
}

pub(crate) fn run(
    context: &Context,
    session: SessionName<'_>,
    request: &RecallRequest,
) -> Result<ToolReply, ToolError> {
    let moments = context.retrieval.moments_of_instance(session, request);
    let moments = moments.map_err(|error| refusal_naming(context, error, INSTANCE))?;
    let why_empty = || match context.episodic.count(&request.filter) {
        0 => recall::why_none(context, &request.filter),
        seen => format!(
            "none of {seen} records shows {:?}; retrieve_from_text_with_time finds what is similar",
            request.query
        ),
    };
    Ok(reply_of(context, session.name, request, &moments, why_empty))
}
