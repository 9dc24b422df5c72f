//! `recall_last_seen`: the newest records that show an object.

use crate::retrieval::recall::RecallRequest;
use crate::retrieval::sessions::SessionName;
use crate::tools::action::{Action, SEARCH_WINDOW, TextInput};
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::explain::EXPLAIN;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::recall::{END, MAP, NAMES, OBJECT, QUERY, RecallReply, SOURCE, START};
use crate::tools::tool::Tool;
use crate::tools::{Hints, ToolError, Toolset, recall};

pub(crate) struct RecallLastSeen;

/// Records where the call does not say how many.
pub(super) const K_DEFAULT: i64 = 1;

impl Tool for RecallLastSeen {
    type Context = Context;
    type Request = RecallRequest;
    type Reply = RecallReply;

    const NAME: &'static str = "recall_last_seen";
    const TITLE: &'static str = "Recall where a thing was last seen";
    const DESCRIPTION: &'static str = "Finds the most recent record that really shows a clearly \
        described object, such as 'a red mug': attributes must belong to the object, synonyms \
        count. Newest first. The result becomes the working memory.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::SETS;
    const PARAMS: &'static [Param] = &[
        OBJECT,
        START,
        END,
        Param::optional(
            "k",
            Kind::Whole { least: 1, most: 50, default: K_DEFAULT },
            "How many sightings at most.",
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
        let recall = context.retrieval.recall_last_seen(session, &request);
        let recall = recall.map_err(|error| refusal(context, error))?;
        let why_empty = || recall::why_unseen(context, &request);
        Ok(RecallReply::of(context, session.name, &recall, why_empty))
    }
}
