//! `create_or_update_real_world_search_instance`: where the target is searched for.

use serde::Serialize;
use serde_json::Value;

use crate::base::RecordId;
use crate::retrieval::Grounding;
use crate::retrieval::search::PlannedSearch;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::counted;
use crate::tools::object_retrieval::goal::{self, GoalReply};
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::reply::{self, Text};
use crate::tools::{ToolError, ToolReply};

pub(crate) const NAME: &str = "create_or_update_real_world_search_instance";

pub(crate) const PARAMS: &[Param] = &[Param::optional(
    "record_id",
    Kind::RecordIds { most: 1 },
    "To decide yourself: the record whose place is searched first.",
)];

#[derive(Debug, Serialize)]
struct Reply<'a> {
    found_in_world: &'static str,
    instance_desc: &'a str,
    position: Option<[f64; 3]>,
    theta: Option<f64>,
    frame_id: Option<&'a str>,
    map_id: Option<&'a str>,
    last_seen: Option<String>,
    past_observations: Vec<Value>,
    alternatives: Vec<GoalReply>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    guess: bool,
}

pub(crate) fn run(
    context: &Context,
    session: SessionName<'_>,
    record: Option<RecordId>,
) -> Result<ToolReply, ToolError> {
    let search = context.retrieval.plan_search(session, record);
    let search = search.map_err(|error| refusal(context, error))?;
    Ok(reply::of(&reply_of(context, &search), text_of(context, &search)))
}

fn reply_of<'a>(context: &Context, search: &'a PlannedSearch) -> Reply<'a> {
    let Grounding { goals, observations, last_seen, is_guess } = &search.grounding;
    let zone = context.options.zone;
    let first = goals.first();
    let found_in_world = match (is_guess, first) {
        (false, _) => "yes",
        (true, Some(_)) => "no",
        (true, None) => "unknown",
    };
    Reply {
        found_in_world,
        instance_desc: &search.target.desc,
        position: first.map(|it| it.position),
        theta: first.and_then(|it| it.theta),
        frame_id: first.map(|it| it.frame_id.as_str()),
        map_id: first.map(|it| it.map_id.as_str()),
        last_seen: last_seen.map(|it| zone.format(it)),
        past_observations: reply::records_json(observations, zone),
        alternatives: goals.iter().skip(1).map(GoalReply::of).collect(),
        guess: *is_guess,
    }
}

pub(super) fn text_of(context: &Context, search: &PlannedSearch) -> String {
    let Grounding { goals, is_guess, .. } = &search.grounding;
    let desc = &search.target.desc;
    let mut text = Text::new(context.options.text_max_chars);
    text.line(&match (goals.first(), is_guess) {
        (Some(first), false) => format!("search for {desc:?} at {}", goal::line(first)),
        (Some(first), true) => format!("{desc:?}: {}", goal::line(first)),
        (None, false) => format!("{desc:?} was seen, but the position is not known"),
        (None, true) => format!("no place is known for {desc:?}: {}", reply::holdings(context)),
    });
    if goals.len() > 1 {
        text.line(&format!("{} after it:", counted(goals.len() - 1, "place")));
    }
    for goal in goals.iter().skip(1) {
        text.line(&goal::line(goal));
    }
    text.finish()
}
