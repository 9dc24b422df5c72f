//! `recall_best_match`, `recall_last_seen` and `recall_all`: records by description, in
//! a window of time.

use crate::base::time::Window;
use crate::index::mention::fit::Certainty;
use crate::memory::episodic::individuals::AllSeen;
use crate::memory::episodic::{MemoryError, Recalled};
use crate::search::Filter;
use crate::tools::area::{self, AREA};
use crate::tools::args::{Args, Kind, Param, TimeReading, refused};
use crate::tools::context::Context;
use crate::tools::explain::EXPLAIN;
use crate::tools::sessions::SessionName;
use crate::tools::{ToolError, ToolReply, explain, reply};

/// Longest query. A query is embedded whole, up to the model's own length.
pub(crate) const QUERY_BYTES_MAX: usize = 2_000;

pub(crate) const SOURCE: Param = Param::optional(
    "source",
    Kind::Text { bytes_max: 128 },
    "Only records of this camera or other origin.",
);
pub(crate) const MAP: Param =
    Param::optional("map_id", Kind::Text { bytes_max: 128 }, "Only records made in this map.");
const START: Param =
    Param::optional("search_start_time", Kind::Time, "Start of the window, inclusive.");
const END: Param = Param::optional("search_end_time", Kind::Time, "End of the window, inclusive.");

pub(crate) const BEST_MATCH: &[Param] = &[
    Param::required(
        "query",
        Kind::Text { bytes_max: QUERY_BYTES_MAX },
        "What to look for, in words.",
    ),
    START,
    END,
    Param::optional(
        "k",
        Kind::Whole { least: 1, most: 50, default: 8 },
        "How many records at most.",
    ),
    SOURCE,
    MAP,
    AREA,
    EXPLAIN,
];

pub(crate) const LAST_SEEN: &[Param] = &[
    Param::required(
        "query",
        Kind::Text { bytes_max: QUERY_BYTES_MAX },
        "The object, with what tells it apart: 'a red mug'.",
    ),
    START,
    END,
    Param::optional(
        "k",
        Kind::Whole { least: 1, most: 50, default: 1 },
        "How many sightings at most.",
    ),
    SOURCE,
    MAP,
    AREA,
    EXPLAIN,
];

pub(crate) const ALL: &[Param] = &[
    Param::required(
        "query",
        Kind::Text { bytes_max: QUERY_BYTES_MAX },
        "The object, with what tells it apart: 'a red mug'.",
    ),
    START,
    END,
    Param::optional(
        "k",
        Kind::Whole { least: 1, most: 500, default: 50 },
        "How many sightings at most; of more the newest.",
    ),
    SOURCE,
    MAP,
    AREA,
];

/// A checked call of one of the recall tools.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) query: String,
    pub(crate) filter: Filter,
    pub(crate) k: usize,
    pub(crate) explain: bool,
}

impl Request {
    pub(crate) fn parse(args: &Args, reading: TimeReading) -> Result<Self, ToolError> {
        Self::with_names(args, reading, ["query", "search_start_time", "search_end_time"])
    }

    /// The same under other names.
    pub(crate) fn with_names(
        args: &Args,
        reading: TimeReading,
        [query, start, end]: [&str; 3],
    ) -> Result<Self, ToolError> {
        let map_id = args.text(MAP.name)?;
        let filter = Filter {
            window: args.window(start, end, reading)?,
            source: args.text(SOURCE.name)?.map(str::to_owned),
            map_id: map_id.map(str::to_owned),
            layer: None,
            area: area::area(args, map_id)?,
        };
        Ok(Self {
            query: args.required_text(query)?.to_owned(),
            filter,
            k: args.count("k")?,
            explain: args.flag(EXPLAIN.name)?,
        })
    }
}

/// Records that best match a description; they become the working memory.
pub(crate) fn best_match(
    context: &Context,
    session: SessionName<'_>,
    tool: &str,
    request: &Request,
) -> Result<ToolReply, ToolError> {
    let (found, explained) = context
        .episodic
        .recall_explained(&request.query, &request.filter, request.k)
        .map_err(|error| fault(&error))?;
    remember(context, session, tool, request, &found)?;
    let why_empty = || why_none(context, &request.filter);
    let mut reply = reply::recalled(context, session.name, &found, "best first", why_empty);
    if request.explain {
        explain::add(&mut reply, &explained, context.options.zone);
    }
    Ok(reply)
}

/// The newest records that show an object; they become the working memory.
pub(crate) fn last_seen(
    context: &Context,
    session: SessionName<'_>,
    request: &Request,
) -> Result<ToolReply, ToolError> {
    let Request { query, filter, k, explain } = request;
    let (sightings, reasons) = if *explain {
        let found = context.episodic.last_seen_explained(query, filter, *k);
        found.map(|(sightings, reasons)| (sightings, Some(reasons)))
    } else {
        context.episodic.last_seen(query, filter, *k).map(|sightings| (sightings, None))
    }
    .map_err(|error| fault(&error))?;
    let certainty = sightings.first().map(|it| it.certainty);
    // All are equally sure: only the surest come.
    let order = match certainty {
        Some(Certainty::Possible) => {
            "newest first, possible ones: the captions leave out part of it"
        }
        Some(Certainty::Shown | Certainty::InPlace) | None => "newest first",
    };
    let found: Vec<Recalled> = sightings.into_iter().map(|it| it.recalled).collect();
    remember(context, session, "recall_last_seen", request, &found)?;
    let why_empty = || why_unseen(context, request);
    let mut reply = reply::recalled(context, session.name, &found, order, why_empty);
    if let Some(reasons) = reasons {
        explain::add_reasons(&mut reply, &reasons, certainty, context.options.zone);
    }
    Ok(reply)
}

/// Every record that shows an object, in the order of time; they become the working
/// memory.
pub(crate) fn all(
    context: &Context,
    session: SessionName<'_>,
    request: &Request,
) -> Result<ToolReply, ToolError> {
    let AllSeen { sightings, total } = context
        .episodic
        .all_seen(&request.query, &request.filter, request.k)
        .map_err(|error| fault(&error))?;
    let found: Vec<Recalled> = sightings.into_iter().map(|it| it.recalled).collect();
    remember(context, session, "recall_all", request, &found)?;
    let order = if total > found.len() as u64 {
        format!("in the order of time, the newest of {total} sightings")
    } else {
        "in the order of time, all sightings".to_owned()
    };
    let why_empty = || why_unseen(context, request);
    Ok(reply::recalled(context, session.name, &found, &order, why_empty))
}

fn why_unseen(context: &Context, request: &Request) -> String {
    match context.episodic.count(&request.filter) {
        0 => why_none(context, &request.filter),
        seen => format!("none of {seen} records shows {:?}", request.query),
    }
}

/// Makes a recall's result the working memory.
pub(crate) fn remember(
    context: &Context,
    session: SessionName<'_>,
    tool: &str,
    request: &Request,
    found: &[Recalled],
) -> Result<(), ToolError> {
    let ids = found.iter().map(|recalled| recalled.record.id).collect();
    context.update(session, |it| it.recall(tool, &request.query, ids))
}

/// Why nothing lies within a filter.
pub(crate) fn why_none(context: &Context, filter: &Filter) -> String {
    let within = reply::nothing_within(context, &filter.window);
    let in_window = Filter { window: filter.window, ..Filter::default() };
    if filter.window == Window::ALL || context.episodic.count(&in_window) > 0 {
        let asked = [("source", &filter.source), ("map_id", &filter.map_id)];
        let asked: Vec<String> = asked
            .into_iter()
            .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value:?}")))
            .collect();
        let mut what = asked.join(" and ");
        if !what.is_empty() {
            what.insert_str(0, " of ");
        }
        match &filter.area {
            Some(area) => what.push_str(&format!(" {}", area::told(area))),
            None if what.is_empty() => return within,
            None => what.push_str(" there"),
        }
        return format!("no record{what}; {}", reply::holdings(context));
    }
    within
}

/// The one mistake of the caller that shows only when the memory is asked.
pub(crate) fn fault(error: &MemoryError) -> ToolError {
    match error {
        MemoryError::NamesNothing(_) => refused(format!("argument \"query\": {error}")),
        MemoryError::Store(_)
        | MemoryError::Model(_)
        | MemoryError::Corpus(_)
        | MemoryError::Thread(_) => ToolError::Fault(error.to_string()),
    }
}
