//! `create_or_update_memory_search_instance`: which object is searched for.

use serde::Serialize;
use serde_json::Value;

use crate::base::RecordId;
use crate::retrieval::RetrievalError;
use crate::retrieval::session::{FoundInMemory, Target};
use crate::retrieval::sessions::SessionName;
use crate::retrieval::target::{ChosenTarget, TargetChoice};
use crate::tools::args::{Args, Kind, Param, refused};
use crate::tools::context::Context;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::object_retrieval::{TEXT, counted};
use crate::tools::reply::{self, Text};
use crate::tools::{ToolError, ToolReply};

pub(crate) const NAME: &str = "create_or_update_memory_search_instance";

pub(crate) const DESCRIPTION: &str = "instance_desc";
pub(super) const RECORD: &str = "record_id";
pub(super) const INSTANCE: &str = "instance";

pub(crate) const PARAMS: &[Param] = &[
    Param::optional(
        DESCRIPTION,
        TEXT,
        "To decide yourself: what is searched for, such as 'a purple book'.",
    ),
    Param::optional(
        RECORD,
        Kind::RecordIds { most: 1 },
        "To decide yourself: a record that shows what is searched for.",
    ),
    Param::optional(
        INSTANCE,
        Kind::Whole { least: 0, most: 1_000, default: 0 },
        "To decide yourself: number of an object in the newest reply of \
         determine_unique_instances, from 1.",
    ),
];

/// What the caller decides on, if anything.
#[derive(Debug)]
pub(crate) enum Request {
    Implied,
    Described(String),
    Record(RecordId),
    /// From 0.
    Candidate(usize),
}

#[derive(Debug, Serialize)]
struct Reply<'a> {
    found_in_memory: &'static str,
    instance_desc: &'a str,
    instance_viz_path: Option<String>,
    past_observations: Vec<Value>,
}

pub(crate) fn parse(args: &Args) -> Result<Request, ToolError> {
    let described = args.text(DESCRIPTION)?.map(str::to_owned).map(Request::Described);
    let record = args.record_ids(RECORD)?.first().copied().map(Request::Record);
    let candidate = args.count(INSTANCE)?.checked_sub(1).map(Request::Candidate);
    let mut given = [described, record, candidate].into_iter().flatten();
    match (given.next(), given.next()) {
        (None, _) => Ok(Request::Implied),
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(refused(
            "at most one of the arguments \"instance_desc\", \"record_id\" and \"instance\" is \
             accepted; several came"
                .to_owned(),
        )),
    }
}

pub(crate) fn run(
    context: &Context,
    session: SessionName<'_>,
    request: Request,
) -> Result<ToolReply, ToolError> {
    let chosen = choice_of(context, request)
        .and_then(|choice| context.retrieval.choose_target(session, &choice));
    let chosen = chosen.map_err(|error| refusal(context, error))?;
    let ChosenTarget { target: Target { desc, found_in_memory, records: _ }, observations } =
        &chosen;
    let seen = observations.iter().find(|it| it.image.is_some());
    let reply = Reply {
        found_in_memory: found_word(*found_in_memory),
        instance_desc: desc,
        instance_viz_path: seen.map(reply::image_uri),
        past_observations: reply::records_json(observations, context.options.zone),
    };
    Ok(reply::of(&reply, text_of(context, &chosen)))
}

fn choice_of(context: &Context, request: Request) -> Result<TargetChoice, RetrievalError> {
    Ok(match request {
        Request::Implied => TargetChoice::Implied,
        Request::Described(text) => {
            TargetChoice::Described(context.retrieval.parse_description(&text)?)
        }
        Request::Record(id) => TargetChoice::Record(id),
        Request::Candidate(at) => TargetChoice::Candidate(at),
    })
}

fn found_word(found: FoundInMemory) -> &'static str {
    match found {
        FoundInMemory::Yes => "yes",
        FoundInMemory::No => "no",
        FoundInMemory::Unknown => "unknown",
    }
}

pub(super) fn text_of(context: &Context, chosen: &ChosenTarget) -> String {
    let ChosenTarget { target: Target { desc, found_in_memory, records }, observations } = chosen;
    let mut text = Text::new(context.options.text_max_chars);
    text.line(&match found_in_memory {
        FoundInMemory::Yes => format!(
            "searching for {desc:?}, found in memory: {}, newest first:",
            counted(records.len(), "record")
        ),
        FoundInMemory::No => format!("searching for {desc:?}, which the memory does not show."),
        FoundInMemory::Unknown => {
            format!("searching for {desc:?}; nothing was recalled of it yet.")
        }
    });
    for record in observations {
        text.line(&reply::line(record, None, context.options.zone));
    }
    text.finish()
}
