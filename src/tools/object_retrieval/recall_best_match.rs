//! `recall_best_match`: records by description, best first.

use crate::retrieval::recall::RecallRequest;
use crate::retrieval::sessions::SessionName;
use crate::tools::action::{Action, SEARCH_WINDOW, TextInput};
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::explain::EXPLAIN;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::recall::{END, MAP, NAMES, QUERY, QUERY_BYTES_MAX, RecallReply, SOURCE, START};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset, recall};

pub(crate) struct RecallBestMatch;

/// Records where the call does not say how many.
pub(super) const K_DEFAULT: i64 = 8;

impl Tool for RecallBestMatch {
    type Context = Context;
    type Request = RecallRequest;
    type Reply = RecallReply;

    const NAME: &'static str = "recall_best_match";
    const TITLE: &'static str = "Recall what best matches a description";
    const DESCRIPTION: &'static str = "Finds the records of past observations that best match a \
        vague or descriptive reference, optionally within a window of time. Best first. The result \
        becomes the working memory.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::SETS;
    const PARAMS: &'static [Param] = &[
        Param::required(
            QUERY,
            Kind::Text { bytes_max: QUERY_BYTES_MAX },
            "What to look for, in words.",
        ),
        START,
        END,
        Param::optional(
            "k",
            Kind::Whole { least: 1, most: 50, default: K_DEFAULT },
            "How many records at most.",
        ),
        SOURCE,
        MAP,
        AREA,
        EXPLAIN,
    ];
    const IS_BRIEF: bool = true;
    const ACTION: Option<Action> =
        Some(Action::object(TextInput::Argument(QUERY)).within(SEARCH_WINDOW));

    fn parse(
        args: &Args,
        context: &Context,
        session: SessionName<'_>,
    ) -> Result<RecallRequest, ToolError> {
        recall::request(args, context.reading(session.name), NAMES)
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        request: RecallRequest,
    ) -> Result<RecallReply, ToolError> {
        let recall = context.retrieval.recall_best_match(session, &request);
        let recall = recall.map_err(|error| refusal(context, error))?;
        let why_empty = || recall::why_none(context, &request.filter);
        Ok(RecallReply::of(context, session.name, &recall, why_empty))
    }
}
