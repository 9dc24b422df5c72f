//! `retrieve_from_text_with_time`: moments by a search phrase.

use crate::base::caller::{Role, Roles};
use crate::retrieval::recall::RecallRequest;
use crate::retrieval::session::RecallKind;
use crate::retrieval::sessions::SessionName;
use crate::tools::action::{Action, TextInput};
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::explain::EXPLAIN;
use crate::tools::moment_retrieval::{K, MomentsReply};
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::recall::{MAP, NAMES, QUERY, QUERY_BYTES_MAX, SOURCE};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset, recall};

pub(crate) struct RetrieveFromTextWithTime;

const WINDOW: [&str; 2] = ["start_time", "end_time"];

impl Tool for RetrieveFromTextWithTime {
    type Context = Context;
    type Request = RecallRequest;
    type Reply = MomentsReply;

    const NAME: &'static str = RecallKind::RetrieveFromTextWithTime.name();
    const TITLE: &'static str = "Retrieve moments by text and time";
    const DESCRIPTION: &'static str = "Finds past observations by a phrase within a window of time. Best first. Use several phrases where a thing has several names; the same phrase has the same answer.";
    const TOOLSET: Toolset = Toolset::MomentRetrieval;
    const HINTS: Hints = Hints::SETS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::required(QUERY, Kind::Text { bytes_max: QUERY_BYTES_MAX }, "What to look for."),
        Param::required("start_time", Kind::Time, "From, inclusive."),
        Param::required("end_time", Kind::Time, "Until, inclusive."),
        K,
        SOURCE,
        MAP,
        AREA,
        EXPLAIN,
    ];
    const IS_BRIEF: bool = true;
    const ACTION: Option<Action> = Some(Action::moment(TextInput::Argument(QUERY)).within(WINDOW));

    fn parse(
        args: &Args,
        context: &Context,
        session: SessionName<'_>,
    ) -> Result<RecallRequest, ToolError> {
        recall::request(args, context.reading(session), NAMES)
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        request: RecallRequest,
    ) -> Result<MomentsReply, ToolError> {
        let moments = context.retrieval.moments_by_text(session, &request);
        let moments = moments.map_err(|error| refusal(context, error))?;
        let why_empty = || recall::why_unmatched(context, &request);
        Ok(MomentsReply::of(context, session.name, &request, &moments, why_empty))
    }
}
