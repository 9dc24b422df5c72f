//! `recall_observation_of_instance`: moments that really show an object.

use crate::base::caller::{Role, Roles};
use crate::retrieval::recall::RecallRequest;
use crate::retrieval::session::RecallKind;
use crate::retrieval::sessions::SessionName;
use crate::tools::action::{Action, SEARCH_WINDOW, TextInput};
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::moment_retrieval::retrieve_from_text_with_time::RetrieveFromTextWithTime;
use crate::tools::moment_retrieval::{K, MomentsReply};
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::recall::{MAP, NAMES, OBJECT, QUERY, SOURCE};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset, recall};

pub(crate) struct RecallObservationOfInstance;

impl Tool for RecallObservationOfInstance {
    type Context = Context;
    type Request = RecallRequest;
    type Reply = MomentsReply;

    const NAME: &'static str = RecallKind::RecallObservationOfInstance.name();
    const TITLE: &'static str = "Recall the moments that show an object";
    const DESCRIPTION: &'static str = "Finds the past observations within a window of time that \
        really show a described object: attributes must belong to it, synonyms count. Best first.";
    const TOOLSET: Toolset = Toolset::MomentRetrieval;
    const HINTS: Hints = Hints::SETS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        OBJECT,
        Param::required("start_time", Kind::Time, "From, inclusive."),
        Param::required("end_time", Kind::Time, "Until, inclusive."),
        K,
        SOURCE,
        MAP,
        AREA,
    ];
    const IS_BRIEF: bool = true;
    const ACTION: Option<Action> =
        Some(Action::moment(TextInput::Argument(QUERY)).within(SEARCH_WINDOW));

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
        let moments = context.retrieval.moments_of_instance(session, &request);
        let moments = moments.map_err(|error| refusal(context, error))?;
        let why_empty = || match context.episodic.count(&request.filter) {
            0 => recall::why_none(context, &request.filter),
            seen => format!(
                "none of {seen} records shows {:?}; {} finds what is similar",
                request.query,
                RetrieveFromTextWithTime::NAME
            ),
        };
        Ok(MomentsReply::of(context, session.name, &request, &moments, why_empty))
    }
}
