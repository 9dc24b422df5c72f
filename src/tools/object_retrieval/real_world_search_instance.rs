//! `create_or_update_real_world_search_instance`: where the target is searched for.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::RecordId;
use crate::base::caller::{Role, Roles};
use crate::retrieval::Grounding;
use crate::retrieval::search::{FirstPlace, PlannedSearch};
use crate::retrieval::sessions::SessionName;
use crate::tools::action::{Action, TextInput};
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::goal::GoalReply;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::object_retrieval::{Known, quantity};
use crate::tools::record::RecordReply;
use crate::tools::reply;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct RealWorldSearchInstance;

pub(crate) const RECORD: &str = "record_id";
pub(super) const FOLLOWS: &str = "follows";

/// Where the search begins, and after what.
#[derive(Debug)]
pub(crate) struct Request {
    record: Option<RecordId>,
    follows: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Reply {
    found_in_world: Known,
    instance_desc: String,
    position: Option<[f64; 3]>,
    theta: Option<f64>,
    frame_id: Option<String>,
    map_id: Option<String>,
    last_seen: Option<String>,
    past_observations: Vec<RecordReply>,
    alternatives: Vec<GoalReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guess: Option<bool>,
    /// First line of the text.
    #[serde(skip)]
    headline: String,
}

impl Tool for RealWorldSearchInstance {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "create_or_update_real_world_search_instance";
    const TITLE: &'static str = "Decide where to search";
    const DESCRIPTION: &'static str = "Sets the place to search: where the target was last seen, wherever it was used. Never seen: places that resemble where such things are kept, marked as a guess. Needs no argument.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::SETS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::optional(
            RECORD,
            Kind::RecordIds { most: 1 },
            "To decide yourself: the record whose place is searched first.",
        ),
        Param::optional(
            FOLLOWS,
            Kind::Flag,
            "Whether its goals come after those of the target before.",
        ),
    ];
    const ACTION: Option<Action> = Some(Action::object(TextInput::Nothing));

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let record = args.record_ids(RECORD)?.first().copied();
        Ok(Request { record, follows: args.flag(FOLLOWS)? })
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        request: Request,
    ) -> Result<Reply, ToolError> {
        let Request { record, follows } = request;
        let first = record.map(|record| FirstPlace {
            record,
            reason: "decided by the caller",
            is_guess: false,
        });
        let search = context.retrieval.plan_search(session, first, follows);
        let search = search.map_err(|error| refusal(context, error))?;
        Ok(Reply::of(context, &search))
    }
}

impl Reply {
    pub(super) fn of(context: &Context, search: &PlannedSearch) -> Self {
        let PlannedSearch { target, grounding } = search;
        let Grounding { goals, observations, last_seen, is_guess } = grounding;
        let zone = context.options.zone;
        let first = goals.first();
        let found_in_world = match (is_guess, first) {
            (false, _) => Known::Yes,
            (true, Some(_)) => Known::No,
            (true, None) => Known::Unknown,
        };
        Self {
            found_in_world,
            instance_desc: target.desc.clone(),
            position: first.map(|it| it.position),
            theta: first.and_then(|it| it.theta),
            frame_id: first.map(|it| it.frame_id.clone()),
            map_id: first.map(|it| it.map_id.clone()),
            last_seen: last_seen.map(|it| zone.format(it)),
            past_observations: RecordReply::list(observations, zone),
            alternatives: goals.iter().skip(1).map(GoalReply::of).collect(),
            guess: is_guess.then_some(true),
            headline: headline(context, &target.desc, grounding),
        }
    }
}

fn headline(context: &Context, desc: &str, grounding: &Grounding) -> String {
    let first = grounding.goals.first().map(|it| GoalReply::of(it).line());
    match (first, grounding.is_guess) {
        (Some(first), false) => format!("search for {desc:?} at {first}"),
        (Some(first), true) => format!("{desc:?}: {first}"),
        (None, false) => format!("{desc:?} was seen, but its position is not known"),
        (None, true) => format!("no place is known for {desc:?}: {}", reply::holdings(context)),
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        text.line(&self.headline);
        if !self.alternatives.is_empty() {
            text.line(&format!("{} after it:", quantity(self.alternatives.len(), "place")));
        }
        for goal in &self.alternatives {
            text.line(&goal.line());
        }
    }
}
