//! What the recalls of an object have in common as tools: all but their texts, their
//! parameters and what they ask of retrieval.

use crate::base::caller::{Role, Roles};
use crate::retrieval::recall::{Recall, RecallRequest};
use crate::retrieval::session::RecallKind;
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{Retrieval, RetrievalError};
use crate::tools::action::{Action, SEARCH_WINDOW, TextInput};
use crate::tools::args::{Args, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::recall::{NAMES, QUERY, RecallReply};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset, recall};

/// A [`Tool`] that recalls records by a description of what they show, and makes them
/// the working memory.
pub(crate) trait RecallTool: Sync + 'static {
    const KIND: RecallKind;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const PARAMS: &'static [Param];
    const IS_BRIEF: bool = true;

    fn recall(
        retrieval: &Retrieval,
        session: SessionName<'_>,
        request: &RecallRequest,
    ) -> Result<Recall, RetrievalError>;

    /// Why nothing was found.
    fn why_empty(context: &Context, request: &RecallRequest) -> String;
}

impl<R: RecallTool> Tool for R {
    type Context = Context;
    type Request = RecallRequest;
    type Reply = RecallReply;

    const NAME: &'static str = R::KIND.name();
    const TITLE: &'static str = R::TITLE;
    const DESCRIPTION: &'static str = R::DESCRIPTION;
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::SETS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = R::PARAMS;
    const IS_BRIEF: bool = R::IS_BRIEF;
    const ACTION: Option<Action> =
        Some(Action::object(TextInput::Argument(QUERY)).within(SEARCH_WINDOW));

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
    ) -> Result<RecallReply, ToolError> {
        let recall = R::recall(&context.retrieval, session, &request);
        let recall = recall.map_err(|error| refusal(context, error))?;
        let why_empty = || R::why_empty(context, &request);
        Ok(RecallReply::of(context, session.name, &recall, why_empty))
    }
}
