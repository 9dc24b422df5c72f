//! `create_or_update_memory_search_instance`: which object is searched for.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::RecordId;
use crate::base::caller::{Role, Roles};
use crate::base::time::Zone;
use crate::retrieval::RetrievalError;
use crate::retrieval::session::{FoundInMemory, Target};
use crate::retrieval::sessions::SessionName;
use crate::retrieval::target::{ChosenTarget, TargetChoice};
use crate::tools::action::{Action, TextInput};
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::object_retrieval::{Known, TEXT, quantity};
use crate::tools::record::RecordReply;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemorySearchInstance;

pub(crate) const DESCRIPTION: &str = "instance_desc";
pub(super) const RECORD: &str = "record_id";
pub(super) const INSTANCE: &str = "instance";

/// What the caller decides on, if anything.
#[derive(Debug)]
pub(crate) enum Request {
    Implied,
    Described(String),
    Record(RecordId),
    /// From 0.
    Candidate(usize),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Reply {
    found_in_memory: Known,
    instance_desc: String,
    instance_viz_path: Option<String>,
    past_observations: Vec<RecordReply>,
    /// Number of records, those that are not shown among them.
    #[serde(skip)]
    records: usize,
}

impl Tool for MemorySearchInstance {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "create_or_update_memory_search_instance";
    const TITLE: &'static str = "Decide what is searched for";
    const DESCRIPTION: &'static str = "Sets what is searched for, from the newest working memory and the task; before any recall, the request itself. Needs no argument.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::SETS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::optional(
            DESCRIPTION,
            TEXT,
            "To decide yourself: what it is, such as 'a purple book'.",
        ),
        Param::optional(RECORD, Kind::RecordIds { most: 1 }, "Or a record that shows it."),
        Param::optional(
            INSTANCE,
            Kind::Whole { least: 0, most: 1_000, default: 0 },
            "Or the number, from 1, of one of the newest determine_unique_instances.",
        ),
    ];
    const ACTION: Option<Action> = Some(Action::object(TextInput::Nothing));

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let described = args.text(DESCRIPTION)?.map(str::to_owned).map(Request::Described);
        let record = args.record_ids(RECORD)?.first().copied().map(Request::Record);
        let candidate = args.count(INSTANCE)?.checked_sub(1).map(Request::Candidate);
        let mut given = [described, record, candidate].into_iter().flatten();
        match (given.next(), given.next()) {
            (None, _) => Ok(Request::Implied),
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => Err(argument_error(
                "at most one of the arguments \"instance_desc\", \"record_id\" and \"instance\" \
                 is accepted; several came"
                    .to_owned(),
            )),
        }
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        request: Request,
    ) -> Result<Reply, ToolError> {
        let chosen = choice_of(context, request)
            .and_then(|choice| context.retrieval.choose_target(session, &choice));
        let chosen = chosen.map_err(|error| refusal(context, error))?;
        Ok(Reply::of(&chosen, context.options.zone))
    }
}

fn choice_of(context: &Context, request: Request) -> Result<TargetChoice, RetrievalError> {
    Ok(match request {
        Request::Implied => TargetChoice::Implied,
        Request::Described(text) => {
            TargetChoice::Described(Box::new(context.retrieval.parse_description(&text)?))
        }
        Request::Record(id) => TargetChoice::Record(id),
        Request::Candidate(at) => TargetChoice::Candidate(at),
    })
}

impl Reply {
    pub(super) fn of(chosen: &ChosenTarget, zone: Zone) -> Self {
        let ChosenTarget { target, observations } = chosen;
        let Target { desc, found_in_memory, records } = target;
        let past_observations = RecordReply::list(observations, zone);
        let images = past_observations.iter().find_map(RecordReply::image);
        Self {
            found_in_memory: match found_in_memory {
                FoundInMemory::Yes => Known::Yes,
                FoundInMemory::No => Known::No,
                FoundInMemory::Unknown => Known::Unknown,
            },
            instance_desc: desc.clone(),
            instance_viz_path: images.map(str::to_owned),
            past_observations,
            records: records.len(),
        }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let desc = &self.instance_desc;
        text.line(&match self.found_in_memory {
            Known::Yes => format!(
                "searching for {desc:?}, found in memory: {}, newest first:",
                quantity(self.records, "record")
            ),
            Known::No => format!("searching for {desc:?}, which the memory does not show."),
            Known::Unknown => {
                format!("searching for {desc:?}; nothing was recalled of it yet.")
            }
        });
        self.past_observations.iter().for_each(|it| text.line(it.line()));
    }
}
