//! `memory_load`: the kept texts that answer a query, by meaning and words.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::base::caller::{Role, Roles};
use crate::base::plain;
use crate::base::score::Score;
use crate::base::time::Zone;
use crate::memory::notes::filter::{FILTER_BYTES_MAX, NoteFilter};
use crate::memory::notes::{NoteSearch, ScoredNote};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::notes::{QUERY, refusal};
use crate::tools::reply::{LITERAL, indented_excerpt};
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoryLoad;

/// Characters of a note's text that a line shows; all of it is in the structured
/// content.
const SHOWN_CHARS_MAX: usize = 1_500;

/// A search among the notes.
pub(crate) struct Request {
    query: String,
    threshold: f32,
    limit: usize,
    filter: Option<NoteFilter>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    memories: Vec<NoteReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
    /// Notes that are kept.
    #[serde(skip)]
    total: usize,
}

#[derive(Serialize, JsonSchema)]
struct NoteReply {
    id: String,
    text: String,
    score: Score,
    area: String,
    metadata: Map<String, Value>,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

impl Tool for MemoryLoad {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "memory_load";
    const TITLE: &'static str = "Recall what was kept";
    const DESCRIPTION: &'static str = "Recalls saved texts: those similar to a query in meaning or with its rare words, of all that pass the filter; best first, with their ids.";
    const TOOLSET: Toolset = Toolset::Notes;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::required("query", QUERY, "As for a search engine."),
        Param::optional("threshold", Kind::Share { default: 0.6 }, "Least similarity."),
        Param::optional("limit", Kind::Whole { least: 1, most: 100, default: 5 }, ""),
        Param::optional(
            "filter",
            Kind::Text { bytes_max: FILTER_BYTES_MAX },
            "Python expression over area, time, id and metadata: area == 'main' and project.year >= 2024.",
        ),
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let filter = args.text("filter")?.map(NoteFilter::parse).transpose();
        Ok(Request {
            query: args.required_text("query")?.to_owned(),
            threshold: args.share("threshold")?,
            limit: args.count("limit")?,
            filter: filter
                .map_err(|error| argument_error(format!("argument \"filter\": {error}")))?,
        })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { query, threshold, limit, filter } = &request;
        let (asked, now) = ((*threshold, *limit), context.clock.now());
        let loaded = context.notes.load(query, asked, filter.as_ref(), now);
        let loaded = loaded.map_err(|error| refusal(&error))?;
        let (zone, total) = (context.options.zone, context.notes.len());
        let why_empty = loaded.found.is_empty().then(|| why_none(&loaded, &request, total));
        let notice = loaded.is_literal.then_some(LITERAL);
        let memories = loaded.found.into_iter().map(|it| NoteReply::of(it, zone)).collect();
        Ok(Reply { memories, why_empty, notice, total })
    }
}

fn why_none(loaded: &NoteSearch, request: &Request, total: usize) -> String {
    let NoteSearch { found: _, passed, best, is_literal: _ } = loaded;
    let Request { threshold, filter, .. } = request;
    match best {
        _ if total == 0 => "no note is kept".to_owned(),
        None => format!("none of {total} notes passes the filter"),
        Some(best) => {
            let those = if filter.is_some() { " that pass the filter" } else { "" };
            format!(
                "none of {passed} notes{those} is as similar as {threshold:.2}; the nearest is at \
                 {best:.2}"
            )
        }
    }
}

impl NoteReply {
    fn of(found: ScoredNote, zone: Zone) -> Self {
        let ScoredNote { note, score } = found;
        Self {
            id: note.id.to_string(),
            text: note.text,
            score: Score(score),
            area: note.area,
            metadata: serde_json::from_str(&note.metadata).unwrap_or_default(),
            time: zone.format(note.saved_at),
            expires: note.expires_at.map(|at| zone.format(at)),
        }
    }

    /// `d1306e36-… [0.83 main 2025-01-03 09:14:07] The project's id is … {"year":2024}`
    fn line(&self) -> String {
        let Self { id, text, score: Score(score), area, metadata, time, expires } = self;
        let expires = expires.as_ref().map_or_else(String::new, |at| format!(" expires {at}"));
        // Indented, so that no note looks like the next one.
        let shown = indented_excerpt(text, SHOWN_CHARS_MAX);
        let area = plain::one_line(area);
        let metadata = if metadata.is_empty() {
            String::new()
        } else {
            format!(" {}", Value::Object(metadata.clone()))
        };
        format!("{id} [{score:.2} {area} {time}{expires}] {shown}{metadata}")
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { memories, why_empty, notice, total } = self;
        text.line(&match why_empty {
            Some(why) => format!("Nothing found: {why}."),
            None => format!("{} of {total} notes, best first:", memories.len()),
        });
        for note in memories {
            text.block(&note.line());
        }
        if let Some(notice) = notice {
            text.line(&format!("Note: {notice}."));
        }
    }
}
