//! `memory_forget`: a topic is removed from the notes, the observations or both.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::base::RecordId;
use crate::base::wording::quantity;
use crate::memory::episodic::MemoryError;
use crate::retrieval::sessions::SessionName;
use crate::store::forget::FORGET_MAX;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::notes::{QUERY, refusal, texts};
use crate::tools::reply::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoryForget;

const EPISODIC: &str = "episodic";
const ALL: &str = "all";
/// The first where the caller says nothing.
const SCOPES: &[&str] = &["notes", EPISODIC, ALL];

/// A topic, and where it is forgotten.
pub(crate) struct Request {
    query: String,
    threshold: f32,
    dry_run: bool,
    scope: Scope,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Notes,
    Episodic,
    All,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    deleted: Vec<Deleted>,
    count: usize,
    dry_run: bool,
    #[serde(skip)]
    scope: Scope,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Deleted {
    Note(String),
    Record(u64),
}

impl Tool for MemoryForget {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "memory_forget";
    const TITLE: &'static str = "Forget a topic";
    const DESCRIPTION: &'static str = "Permanently removes every saved text that is similar to a \
        query; with scope, also or only observations. Broad: try it with dry_run first.";
    const TOOLSET: Toolset = Toolset::Notes;
    const HINTS: Hints = Hints::REPLACES;
    const PARAMS: &'static [Param] = &[
        Param::required("query", QUERY, "The topic to forget."),
        Param::optional("threshold", Kind::Share { default: 0.75 }, "Least similarity."),
        Param::optional("dry_run", Kind::Flag, "Only say what would be removed."),
        Param::optional(
            "scope",
            Kind::Word { of: SCOPES },
            "What to forget: saved texts, observations (episodic), or all of both.",
        ),
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        Ok(Request {
            query: args.required_text("query")?.to_owned(),
            threshold: args.share("threshold")?,
            dry_run: args.flag("dry_run")?,
            scope: match args.word("scope")? {
                EPISODIC => Scope::Episodic,
                ALL => Scope::All,
                _ => Scope::Notes,
            },
        })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { dry_run, scope, .. } = request;
        let notes =
            if scope == Scope::Episodic { vec![] } else { forget_notes(context, &request)? };
        let records =
            if scope == Scope::Notes { vec![] } else { forget_records(context, &request)? };
        let notes = texts(&notes).into_iter().map(Deleted::Note);
        let records = records.iter().map(|id| Deleted::Record(id.0));
        let deleted: Vec<Deleted> = notes.chain(records).collect();
        Ok(Reply { count: deleted.len(), deleted, dry_run, scope })
    }
}

fn forget_notes(context: &Context, request: &Request) -> Result<Vec<Uuid>, ToolError> {
    let similar = context.notes.similar(&request.query, request.threshold);
    let similar = similar.map_err(|error| refusal(&error))?;
    if request.dry_run {
        return Ok(similar);
    }
    context.notes.delete(&similar).map_err(|error| refusal(&error))
}

fn forget_records(context: &Context, request: &Request) -> Result<Vec<RecordId>, ToolError> {
    let fault = |error: MemoryError| ToolError::Fault(error.to_string());
    let similar = context.episodic.similar(&request.query, request.threshold).map_err(fault)?;
    if request.dry_run {
        return Ok(similar);
    }
    let mut forgotten = Vec::with_capacity(similar.len());
    for some in similar.chunks(FORGET_MAX) {
        forgotten.extend(context.episodic.forget(some).map_err(fault)?);
    }
    Ok(forgotten)
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { deleted, count, dry_run, scope } = self;
        let notes = deleted.iter().filter(|it| matches!(it, Deleted::Note(_))).count();
        let (notes, records) = (quantity(notes, "note"), quantity(count - notes, "record"));
        let counts = match scope {
            Scope::Notes => notes,
            Scope::Episodic => records,
            Scope::All => format!("{notes} and {records}"),
        };
        let done = if *dry_run { "would be removed" } else { "removed" };
        text.line(&format!("{counts} {done}"));
        for it in deleted {
            text.line(&match it {
                Deleted::Note(id) => id.clone(),
                Deleted::Record(id) => format!("#{id}"),
            });
        }
    }
}
