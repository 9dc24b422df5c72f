//! `memory_forget`: a topic, a visit or records by id are removed from the notes, the
//! observations or both.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::audit::receipts;
use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::caller::{Role, Roles};
use crate::base::time::Zone;
use crate::base::wording::quantity;
use crate::memory::episodic::MemoryError;
use crate::memory::episodic::forgetting::ForgetScope;
use crate::memory::notes::{OnTopic, ScoredNote, Why};
use crate::retrieval::sessions::SessionName;
use crate::search::Filter;
use crate::store::Record;
use crate::store::forget::FORGET_MAX;
use crate::store::notes::Note;
use crate::tools::area::{self, AREA};
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::notes::{QUERY, forget_window, refusal};
use crate::tools::recall::{END, MAP, SOURCE, START};
use crate::tools::reply::{LITERAL, indented_excerpt};
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoryForget;

const EPISODIC: &str = "episodic";
const ALL: &str = "all";
/// The first where the caller says nothing.
const SCOPES: &[&str] = &["notes", EPISODIC, ALL];
const IDS: &str = "ids";
const IDS_MAX: usize = 1_000;
/// So few need no confirmation, whatever share of the memory they are.
const UNCONFIRMED_MAX: usize = 3;
/// Characters of a text that a line shows.
const SHOWN_CHARS_MAX: usize = 200;

/// What is forgotten, and where.
pub(crate) struct Request {
    query: Option<String>,
    threshold: f32,
    filter: Filter,
    ids: Option<Ids>,
    dry_run: bool,
    scope: Scope,
    confirm: Option<usize>,
    token: Option<String>,
}

#[derive(Debug, Default)]
struct Ids {
    notes: Vec<Uuid>,
    records: Vec<RecordId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Notes,
    Episodic,
    All,
}

/// What a call names, before anything is removed.
#[derive(Default)]
struct Chosen {
    notes: Vec<OnTopic>,
    records: Vec<Record>,
    /// Frames without a caption.
    frames: Vec<FrameTicket>,
    near: Vec<ScoredNote>,
    /// Records that only may show what is named.
    may_show: Vec<Record>,
    is_literal: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    deleted: Vec<Deleted>,
    count: usize,
    /// Frames that wait for a caption, or got none, which go as well.
    #[serde(skip_serializing_if = "is_zero")]
    frames: usize,
    dry_run: bool,
    /// What the ids stand for.
    items: Vec<Item>,
    /// What stays: notes that name a part of the topic, records that only may show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    near: Vec<Near>,
    /// Stands for exactly these items; for the call that removes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// Whether the call that removes them needs confirm with the count.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs_confirm: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
    #[serde(skip)]
    scope: Scope,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize, JsonSchema, Clone)]
#[serde(untagged)]
enum Deleted {
    Note(String),
    Record(u64),
}

impl Deleted {
    /// With an excerpt of its text.
    fn line(&self, text: &str) -> String {
        let shown = indented_excerpt(text, SHOWN_CHARS_MAX);
        match self {
            Self::Note(id) => format!("{id} {shown}"),
            Self::Record(id) => format!("#{id} {shown}"),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Item {
    id: Deleted,
    text: String,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct Near {
    id: Deleted,
    text: String,
}

impl Tool for MemoryForget {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "memory_forget";
    const TITLE: &'static str = "Forget a topic or a visit";
    const DESCRIPTION: &'static str = "Permanently removes the saved texts about a topic; with scope, also or only observations: those that show what the query names, or by window, area, source, map or ids. Try dry_run first, which lists what would go.";
    const TOOLSET: Toolset = Toolset::Notes;
    const HINTS: Hints = Hints::REPLACES;
    const ROLES: Roles = Roles::of(&[Role::Erase]);
    const PARAMS: &'static [Param] = &[
        Param::optional("query", QUERY, "The topic, or what the observations show."),
        Param::optional("threshold", Kind::Share { default: 0.75 }, "Least similarity of a text."),
        Param::optional("dry_run", Kind::Flag, ""),
        Param::optional(
            "scope",
            Kind::Word { of: SCOPES },
            "Saved texts, observations (episodic), or both.",
        ),
        Param::optional(
            IDS,
            Kind::Names { most: IDS_MAX },
            "Only these notes or records, with commas between.",
        ),
        START,
        END,
        SOURCE,
        MAP,
        AREA,
        Param::optional(
            "confirm",
            Kind::Whole { least: 0, most: i64::MAX, default: 0 },
            "How many go; needed where that is a great share of the memory.",
        ),
        Param::optional(
            "token",
            Kind::Text { bytes_max: 64 },
            "Of the dry run: removes exactly what it listed, else nothing.",
        ),
    ];

    fn parse(args: &Args, context: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let scope = match args.word("scope")? {
            EPISODIC => Scope::Episodic,
            ALL => Scope::All,
            _ => Scope::Notes,
        };
        let confirm = args.count("confirm")?;
        let request = Request {
            query: args.text("query")?.map(str::to_owned),
            threshold: args.share("threshold")?,
            filter: filter(args, context)?,
            ids: ids(args.names(IDS)?, scope)?,
            dry_run: args.flag("dry_run")?,
            scope,
            confirm: (confirm > 0).then_some(confirm),
            token: args.text("token")?.map(str::to_owned),
        };
        request.check()?;
        Ok(request)
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        request: Request,
    ) -> Result<Reply, ToolError> {
        let Request { query, scope, filter, .. } = &request;
        forget_window::check(query.as_deref(), (*scope, filter), context)?;
        let chosen = choose(context, &request)?;
        let needs_confirm = needs_confirm(context, &chosen);
        let reply = Reply::of(&chosen, &request, needs_confirm, context.options.zone);
        if request.dry_run {
            return Ok(reply);
        }
        check_unchanged(&request, &chosen)?;
        let count = chosen.count();
        if needs_confirm && request.confirm != Some(count) {
            return Err(ToolError::Refused(format!(
                "{count} would be removed, more than {:.0} % of the memory \
                 (memory.forget_share_max); pass \"confirm\": {count} to remove them",
                context.options.forget_share_max * 100.0
            )));
        }
        context.audit.begin(session.caller, Self::NAME, chosen.ids());
        remove(context, &request, &chosen)?;
        Ok(reply)
    }
}

fn filter(args: &Args, context: &Context) -> Result<Filter, ToolError> {
    let map_id = args.text(MAP.name)?;
    Ok(Filter {
        window: args.window(START.name, END.name, context.clock_reading())?,
        source: args.text(SOURCE.name)?.map(str::to_owned),
        map_id: map_id.map(str::to_owned),
        layer: None,
        area: area::area(args, map_id)?,
    })
}

/// Ids of notes are UUIDs, those of records numbers.
fn ids(names: Vec<String>, scope: Scope) -> Result<Option<Ids>, ToolError> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut ids = Ids::default();
    for name in names {
        match (Uuid::parse_str(&name), name.trim_start_matches('#').parse()) {
            (Ok(note), _) if scope != Scope::Episodic => ids.notes.push(note),
            (_, Ok(record)) if scope != Scope::Notes => ids.records.push(RecordId(record)),
            _ => {
                return Err(argument_error(format!(
                    "argument \"ids\" has {name:?}; accepted are UUIDs of notes (scope notes or \
                     all) and numbers of records (scope episodic or all)"
                )));
            }
        }
    }
    Ok(Some(ids))
}

impl Request {
    fn check(&self) -> Result<(), ToolError> {
        let is_filtered = !is_open(&self.filter);
        if is_filtered && self.scope == Scope::Notes {
            return Err(argument_error(
                "a window, source, map or area is of observations; accepted with it is \"scope\" \
                 episodic or all"
                    .to_owned(),
            ));
        }
        if self.query.is_none() && self.ids.is_none() && !is_filtered {
            return Err(argument_error(
                "argument \"query\" is missing or empty; accepted is a topic, or ids, a window, \
                 source, map or area instead"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

fn is_open(filter: &Filter) -> bool {
    let Filter { window, source, map_id, layer, area } = filter;
    let is_anywhere = map_id.is_none() && area.is_none();
    window.is_unbounded() && source.is_none() && layer.is_none() && is_anywhere
}

fn choose(context: &Context, request: &Request) -> Result<Chosen, ToolError> {
    let mut chosen = Chosen::default();
    if request.scope != Scope::Episodic {
        choose_notes(context, request, &mut chosen)?;
    }
    if request.scope != Scope::Notes && names_records(request) {
        let scope = ForgetScope {
            query: request.query.as_deref().map(|query| (query, request.threshold)),
            filter: &request.filter,
            ids: request.ids.as_ref().map(|ids| ids.records.as_slice()),
        };
        let found = context.episodic.to_forget(scope).map_err(|error| fault(&error))?;
        (chosen.records, chosen.may_show) = (found.records, found.near);
        // What no caption says yet is about no topic, and has no record's id.
        if request.query.is_none() && request.ids.is_none() {
            let frames = context.episodic.frames_to_forget(&request.filter);
            chosen.frames = frames.map_err(|error| fault(&error))?;
        }
        chosen.is_literal |= request.query.as_ref().is_some_and(|it| !context.episodic.reads(it));
    }
    Ok(chosen)
}

/// Ids of notes alone name no record.
fn names_records(request: &Request) -> bool {
    request.ids.as_ref().is_none_or(|ids| !ids.records.is_empty())
}

fn choose_notes(
    context: &Context,
    request: &Request,
    chosen: &mut Chosen,
) -> Result<(), ToolError> {
    let listed = request.ids.as_ref().map(|ids| ids.notes.as_slice());
    let is_listed = |note: &Note| listed.is_none_or(|ids| ids.contains(&note.id));
    match (&request.query, listed) {
        (Some(topic), _) => {
            let about = context.notes.about(topic, request.threshold, context.clock.now());
            let about = about.map_err(|error| refusal(&error))?;
            chosen.notes = about.notes;
            chosen.notes.retain(|it| is_listed(&it.found.note));
            (chosen.near, chosen.is_literal) = (about.near, about.is_literal);
        }
        (None, Some(ids)) => {
            let notes = context.notes.of_ids(ids).map_err(|error| refusal(&error))?;
            let on_topic =
                |note| OnTopic { found: ScoredNote { note, score: 1.0 }, why: Why::Named };
            chosen.notes = notes.into_iter().map(on_topic).collect();
        }
        // A window or a place is of observations.
        (None, None) => {}
    }
    Ok(())
}

fn needs_confirm(context: &Context, chosen: &Chosen) -> bool {
    let is_much = |count: usize, all: usize| {
        count > UNCONFIRMED_MAX && count as f32 > context.options.forget_share_max * all as f32
    };
    is_much(chosen.notes.len(), context.notes.len())
        || is_much(chosen.records.len(), context.episodic.len())
}

fn check_unchanged(request: &Request, chosen: &Chosen) -> Result<(), ToolError> {
    let now = chosen.token();
    match &request.token {
        Some(token) if *token != now => Err(ToolError::Refused(format!(
            "what would be removed has changed since the dry run with token {token}: it is {} now \
             (token {now}); nothing was removed, look at it with dry_run again",
            chosen.count()
        ))),
        _ => Ok(()),
    }
}

fn remove(context: &Context, request: &Request, chosen: &Chosen) -> Result<(), ToolError> {
    let notes: Vec<Uuid> = chosen.notes.iter().map(|it| it.found.note.id).collect();
    context.notes.delete(&notes).map_err(|error| refusal(&error))?;
    let mut records: Vec<RecordId> = chosen.records.iter().map(|it| it.id).collect();
    let gone = context.episodic.forget_frames(&chosen.frames).map_err(|error| fault(&error))?;
    if gone.len() < chosen.frames.len() {
        // Some were captioned meanwhile.
        let scope = ForgetScope { query: None, filter: &request.filter, ids: None };
        let late = context.episodic.to_forget(scope).map_err(|error| fault(&error))?;
        let is_late = |it: &&Record| it.image.is_some_and(|it| chosen.frames.contains(&it));
        records.extend(late.records.iter().filter(is_late).map(|it| it.id));
    }
    for some in records.chunks(FORGET_MAX) {
        context.episodic.forget(some).map_err(|error| fault(&error))?;
    }
    let forgotten = context.retrieval.forget_in_sessions(&records);
    forgotten.map_err(|error| ToolError::of_failure(&error))
}

fn fault(error: &MemoryError) -> ToolError {
    ToolError::of_failure(error)
}

impl Chosen {
    fn count(&self) -> usize {
        self.notes.len() + self.records.len()
    }

    /// As the audit log has them.
    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> =
            self.notes.iter().map(|it| it.found.note.id.to_string()).collect();
        let records: Vec<RecordId> = self.records.iter().map(|it| it.id).collect();
        ids.extend(receipts::ranges(&records));
        if !self.frames.is_empty() {
            ids.push(frames_gone(self.frames.len()));
        }
        ids
    }

    /// Count and checksum of the ids, whatever their order.
    fn token(&self) -> String {
        let mut ids: Vec<String> =
            self.notes.iter().map(|it| it.found.note.id.to_string()).collect();
        ids.extend(self.records.iter().map(|it| it.id.to_string()));
        ids.sort_unstable();
        format!("{}-{:08x}", ids.len(), crc32fast::hash(ids.join(",").as_bytes()))
    }
}

impl Reply {
    fn of(chosen: &Chosen, request: &Request, needs_confirm: bool, zone: Zone) -> Self {
        let notes = chosen.notes.iter().map(|OnTopic { found, why }| Item {
            id: Deleted::Note(found.note.id.to_string()),
            text: found.note.text.clone(),
            time: zone.format(found.note.saved_at),
            why: why_word(*why),
        });
        let records = chosen.records.iter().map(|record| Item {
            id: Deleted::Record(record.id.0),
            text: record.caption.clone(),
            time: zone.format(record.meta.taken_at),
            why: None,
        });
        let items: Vec<Item> = notes.chain(records).collect();
        let near = chosen.near.iter().map(|ScoredNote { note, .. }| Near {
            id: Deleted::Note(note.id.to_string()),
            text: note.text.clone(),
        });
        let may_show = chosen
            .may_show
            .iter()
            .map(|record| Near { id: Deleted::Record(record.id.0), text: record.caption.clone() });
        Self {
            deleted: items.iter().map(|it| it.id.clone()).collect(),
            count: items.len(),
            frames: chosen.frames.len(),
            dry_run: request.dry_run,
            items,
            near: near.chain(may_show).collect(),
            token: request.dry_run.then(|| chosen.token()),
            needs_confirm: (request.dry_run && needs_confirm).then_some(true),
            notice: chosen.is_literal.then_some(LITERAL),
            scope: request.scope,
        }
    }
}

fn frames_gone(count: usize) -> String {
    format!("{} without a caption", quantity(count, "frame"))
}

fn why_word(why: Why) -> Option<&'static str> {
    match why {
        Why::Words => Some("words"),
        Why::Meaning => Some("meaning"),
        Why::Named => None,
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { items, count, frames, dry_run, near, scope, .. } = self;
        let notes = items.iter().filter(|it| matches!(it.id, Deleted::Note(_))).count();
        let (notes, records) = (quantity(notes, "note"), quantity(count - notes, "record"));
        let counts = match scope {
            Scope::Notes => notes,
            Scope::Episodic => records,
            Scope::All => format!("{notes} and {records}"),
        };
        let done = if *dry_run { "would be removed" } else { "removed" };
        text.line(&match frames {
            0 => format!("{counts} {done}"),
            _ => format!("{counts} and {} without a caption {done}", quantity(*frames, "frame")),
        });
        for Item { id, text: shown, .. } in items {
            text.block(&id.line(shown));
        }
        let is_note = |it: &&Near| matches!(it.id, Deleted::Note(_));
        let (notes, records): (Vec<&Near>, Vec<&Near>) = near.iter().partition(is_note);
        for (why, near) in [
            ("Kept, as they name only a part of the topic:", notes),
            ("Kept, as they only may show it:", records),
        ] {
            if !near.is_empty() {
                text.line(why);
            }
            for Near { id, text: shown } in near {
                text.block(&id.line(shown));
            }
        }
        if self.needs_confirm.is_some() {
            text.line(&format!("To remove so many, call again with confirm {count}."));
        }
        if let Some(notice) = self.notice {
            text.line(&format!("Note: {notice}."));
        }
    }

    fn changed(&self) -> Option<Changed> {
        let id = |id: &Deleted| match id {
            Deleted::Note(id) => id.clone(),
            Deleted::Record(id) => format!("#{id}"),
        };
        let mut gone: Vec<String> = self.deleted.iter().map(id).collect();
        if self.frames > 0 {
            gone.push(frames_gone(self.frames));
        }
        (!self.dry_run).then(|| Changed::of(gone))
    }
}
