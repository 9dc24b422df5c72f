//! `recall_all`: every record that shows an object, in the order of time.

use crate::retrieval::recall::RecallRequest;
use crate::retrieval::sessions::SessionName;
use crate::tools::action::{Action, SEARCH_WINDOW, TextInput};
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::recall::{END, MAP, NAMES, OBJECT, QUERY, RecallReply, SOURCE, START};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset, recall};

pub(crate) struct RecallAll;

/// Records where the call does not say how many.
pub(super) const K_DEFAULT: i64 = 50;

impl Tool for RecallAll {
    type Context = Context;
    type Request = RecallRequest;
    type Reply = RecallReply;

    const NAME: &'static str = "recall_all";
    const TITLE: &'static str = "Recall every sighting of a thing";
    const DESCRIPTION: &'static str = "Finds every record that really shows a described object, in \
        the order of time; of more than k the newest. For how often and where a thing is seen. The \
        result becomes the working memory.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::SETS;
    const PARAMS: &'static [Param] = &[
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
        let recall = context.retrieval.recall_all(session, &request);
        let recall = recall.map_err(|error| refusal(context, error))?;
        let why_empty = || recall::why_unseen(context, &request);
        Ok(RecallReply::of(context, session.name, &recall, why_empty))
    }
}
