//! `memory_save`, `memory_load`, `memory_delete` and `memory_forget`: what an
//! agent wants to keep, in words.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::base::time::Zone;
use crate::memory::episodic::MemoryError;
use crate::memory::notes::filter::{FILTER_BYTES_MAX, NoteFilter};
use crate::memory::notes::{NewNote, NoteSearch, NotesError, ScoredNote};
use crate::store::forget::FORGET_MAX;
use crate::tools::args::{Args, Kind, Param, refused};
use crate::tools::context::Context;
use crate::tools::reply::Text;
use crate::tools::{ToolError, ToolReply};

/// Longest note.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Longest query. A query is embedded whole, up to the model's own length.
const QUERY_BYTES_MAX: usize = 2_000;
/// Notes that one call may delete by id.
const IDS_MAX: usize = 100;
/// Characters of a note's text that a line shows; all of it is in the structured
/// content.
const SHOWN_CHARS_MAX: usize = 1_500;

/// Where a note goes whose saver names no area.
const DEFAULT_AREA: &str = "main";

/// What `memory_forget` reaches; the first where the caller says nothing.
const SCOPES: &[&str] = &["notes", "episodic", "all"];

pub(crate) const SAVE: &[Param] = &[
    Param::required(
        "text",
        Kind::Text { bytes_max: TEXT_BYTES_MAX },
        "The information to keep: descriptive and rich in keywords, to be found again.",
    ),
    Param::optional(
        "area",
        Kind::Text { bytes_max: 128 },
        "Which part of the memory; \"main\" where absent.",
    ),
    Param::optional(
        "metadata",
        Kind::Object,
        "Facts to filter by, such as {\"year\": 2024, \"tags\": [\"lab\"]}.",
    ),
];

pub(crate) const LOAD: &[Param] = &[
    Param::required(
        "query",
        Kind::Text { bytes_max: QUERY_BYTES_MAX },
        "What to recall, as for a search engine.",
    ),
    Param::optional("threshold", Kind::Share { default: 0.6 }, "Least similarity."),
    Param::optional(
        "limit",
        Kind::Whole { least: 1, most: 100, default: 5 },
        "How many notes at most.",
    ),
    Param::optional(
        "filter",
        Kind::Text { bytes_max: FILTER_BYTES_MAX },
        "Python expression over area, time, id and metadata: area == 'main' and year >= 2024.",
    ),
];

pub(crate) const DELETE: &[Param] = &[Param::required(
    "ids",
    Kind::Names { most: IDS_MAX },
    "Ids of the notes to delete, with commas between them.",
)];

pub(crate) const FORGET: &[Param] = &[
    Param::required("query", Kind::Text { bytes_max: QUERY_BYTES_MAX }, "The topic to forget."),
    Param::optional("threshold", Kind::Share { default: 0.75 }, "Least similarity."),
    Param::optional("dry_run", Kind::Flag, "Only say what would be removed."),
    Param::optional(
        "scope",
        Kind::Word { of: SCOPES },
        "What to forget: saved texts, observations (episodic), or all of both.",
    ),
];

/// A checked call of one of the tools here.
#[derive(Debug)]
pub(crate) enum Request {
    Save(NewNote),
    Load { query: String, threshold: f32, limit: usize, filter: Option<NoteFilter> },
    Delete { ids: Vec<String> },
    Forget { query: String, threshold: f32, dry_run: bool, scope: &'static str },
}

impl Request {
    pub(crate) fn save(args: &Args) -> Result<Self, ToolError> {
        Ok(Self::Save(NewNote {
            text: args.required_text("text")?.to_owned(),
            area: args.text("area")?.unwrap_or(DEFAULT_AREA).to_owned(),
            metadata: args.object("metadata")?.unwrap_or_default(),
        }))
    }

    pub(crate) fn load(args: &Args) -> Result<Self, ToolError> {
        let filter = args.text("filter")?.map(NoteFilter::parse).transpose();
        Ok(Self::Load {
            query: args.required_text("query")?.to_owned(),
            threshold: args.share("threshold")?,
            limit: args.count("limit")?,
            filter: filter.map_err(|bad| refused(format!("argument \"filter\": {bad}")))?,
        })
    }

    pub(crate) fn delete(args: &Args) -> Result<Self, ToolError> {
        Ok(Self::Delete { ids: args.names("ids")? })
    }

    pub(crate) fn forget(args: &Args) -> Result<Self, ToolError> {
        Ok(Self::Forget {
            query: args.required_text("query")?.to_owned(),
            threshold: args.share("threshold")?,
            dry_run: args.flag("dry_run")?,
            scope: args.word("scope")?,
        })
    }
}

/// Carries a request out; a change is on disk when it returns.
pub(crate) fn run(context: &Context, request: Request) -> Result<ToolReply, ToolError> {
    match request {
        Request::Save(note) => save(context, note),
        Request::Load { query, threshold, limit, filter } => {
            let loaded = context.notes.load(&query, threshold, limit, filter.as_ref());
            let loaded = loaded.map_err(|error| refusal(&error))?;
            Ok(told(context, &loaded, threshold, filter.is_some()))
        }
        Request::Delete { ids } => delete(context, &ids),
        Request::Forget { query, threshold, dry_run, scope } => {
            forget(context, (&query, threshold), dry_run, scope)
        }
    }
}

fn save(context: &Context, note: NewNote) -> Result<ToolReply, ToolError> {
    let id = context.notes.save(note, context.clock.now()).map_err(|error| refusal(&error))?;
    let mut structured = Map::new();
    structured.insert("id".to_owned(), json!(id.to_string()));
    Ok(ToolReply { structured, text: format!("saved as {id}"), images: Vec::new() })
}

fn told(context: &Context, loaded: &NoteSearch, threshold: f32, is_filtered: bool) -> ToolReply {
    let NoteSearch { found, passed, best } = loaded;
    let (zone, total) = (context.options.zone, context.notes.len());
    let memories: Vec<Value> = found.iter().map(|it| found_json(it, zone)).collect();
    let mut structured = Map::new();
    structured.insert("memories".to_owned(), Value::Array(memories));
    let mut text = Text::new(context.options.text_max_chars);
    if found.is_empty() {
        let why = match best {
            _ if total == 0 => "no note is kept".to_owned(),
            None => format!("none of {total} notes passes the filter"),
            Some(best) => {
                let those = if is_filtered { " that pass the filter" } else { "" };
                format!(
                    "none of {passed} notes{those} is as similar as {threshold:.2}; the nearest \
                     is at {best:.2}"
                )
            }
        };
        text.line(&format!("Nothing found: {why}."));
        structured.insert("why_empty".to_owned(), json!(why));
    } else {
        text.line(&format!("{} of {total} notes, best first:", found.len()));
        for it in found {
            text.line(&line(it, zone));
        }
    }
    ToolReply { structured, text: text.finish(), images: Vec::new() }
}

fn found_json(found: &ScoredNote, zone: Zone) -> Value {
    let ScoredNote { note, score } = found;
    json!({
        "id": note.id.to_string(),
        "text": note.text,
        // Four digits say all that a score can.
        "score": (f64::from(*score) * 1e4).round() / 1e4,
        "area": note.area,
        "metadata": serde_json::from_str::<Value>(&note.metadata).unwrap_or_default(),
        "time": zone.format(note.saved_at),
    })
}

/// `d1306e36-… [0.83 main 2025-01-03 09:14:07] The project's id is … {"year":2024}`
fn line(found: &ScoredNote, zone: Zone) -> String {
    let ScoredNote { note, score } = found;
    let cut: String = note.text.chars().take(SHOWN_CHARS_MAX).collect();
    let dots = if cut.len() < note.text.len() { "…" } else { "" };
    // Indented, so that no note looks like the next one.
    let shown = cut.replace('\n', "\n  ");
    let time = zone.format(note.saved_at);
    let metadata =
        if note.metadata == "{}" { String::new() } else { format!(" {}", note.metadata) };
    format!("{} [{score:.2} {} {time}] {shown}{dots}{metadata}", note.id, note.area)
}

fn delete(context: &Context, ids: &[String]) -> Result<ToolReply, ToolError> {
    let known: Vec<Uuid> = ids.iter().filter_map(|id| Uuid::parse_str(id).ok()).collect();
    let deleted = context.notes.delete(&known).map_err(|error| refusal(&error))?;
    let is_deleted = |id: &&String| Uuid::parse_str(id).is_ok_and(|id| deleted.contains(&id));
    let not_found: Vec<&String> = ids.iter().filter(|id| !is_deleted(id)).collect();
    let mut text = Text::new(context.options.text_max_chars);
    if !deleted.is_empty() {
        text.line(&format!("deleted: {}", joined(&deleted)));
    }
    if !not_found.is_empty() {
        let names: Vec<&str> = not_found.iter().map(|id| id.as_str()).collect();
        text.line(&format!("not found: {}", names.join(", ")));
    }
    let mut structured = Map::new();
    structured.insert("deleted".to_owned(), ids_json(&deleted));
    structured.insert("not_found".to_owned(), json!(not_found));
    Ok(ToolReply { structured, text: text.finish(), images: Vec::new() })
}

fn forget(
    context: &Context,
    (query, threshold): (&str, f32),
    dry_run: bool,
    scope: &str,
) -> Result<ToolReply, ToolError> {
    let mut notes = Vec::new();
    let mut records = Vec::new();
    if scope != "episodic" {
        notes = context.notes.similar(query, threshold).map_err(|error| refusal(&error))?;
        if !dry_run {
            notes = context.notes.delete(&notes).map_err(|error| refusal(&error))?;
        }
    }
    if scope != "notes" {
        let fault = |error: MemoryError| ToolError::Fault(error.to_string());
        let similar = context.episodic.similar(query, threshold).map_err(fault)?;
        if dry_run {
            records = similar;
        } else {
            for some in similar.chunks(FORGET_MAX) {
                records.extend(context.episodic.forget(some).map_err(fault)?);
            }
        }
    }
    let deleted: Vec<Value> = notes
        .iter()
        .map(|id| json!(id.to_string()))
        .chain(records.iter().map(|id| json!(id.0)))
        .collect();
    let mut text = Text::new(context.options.text_max_chars);
    let done = if dry_run { "would be removed" } else { "removed" };
    let counts = match scope {
        "notes" => counted(notes.len(), "note"),
        "episodic" => counted(records.len(), "record"),
        _ => format!("{} and {}", counted(notes.len(), "note"), counted(records.len(), "record")),
    };
    text.line(&format!("{counts} {done}"));
    for id in &notes {
        text.line(&id.to_string());
    }
    for id in &records {
        text.line(&format!("#{id}"));
    }
    let mut structured = Map::new();
    let count = deleted.len();
    structured.insert("deleted".to_owned(), Value::Array(deleted));
    structured.insert("count".to_owned(), json!(count));
    structured.insert("dry_run".to_owned(), json!(dry_run));
    Ok(ToolReply { structured, text: text.finish(), images: Vec::new() })
}

/// `1 note`, `2 notes`.
fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

fn ids_json(ids: &[Uuid]) -> Value {
    ids.iter().map(Uuid::to_string).collect()
}

fn joined(ids: &[Uuid]) -> String {
    ids.iter().map(Uuid::to_string).collect::<Vec<String>>().join(", ")
}

fn refusal(error: &NotesError) -> ToolError {
    match error {
        NotesError::MetadataTooLarge { .. } | NotesError::OwnName(_) => {
            refused(format!("argument \"metadata\": {error}"))
        }
        NotesError::Full => ToolError::Refused(error.to_string()),
        NotesError::Store(_) | NotesError::Model(_) => ToolError::Fault(error.to_string()),
    }
}
