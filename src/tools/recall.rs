//! What the recall tools share: their arguments and their reply.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::time::Window;
use crate::language::fit::Certainty;
use crate::retrieval::recall::{Recall, RecallOrder, RecallRequest};
use crate::search::Filter;
use crate::store::Record;
use crate::tools::ToolError;
use crate::tools::area;
use crate::tools::args::{Args, Kind, Param, TimeReading};
use crate::tools::context::Context;
use crate::tools::explain::{CertaintyReply, EXPLAIN, ExplanationReply};
use crate::tools::record::RecordReply;
use crate::tools::reply::{self, LITERAL};
use crate::tools::text::Text;
use crate::tools::tool;

/// Longest query. A query is embedded whole, up to the model's own length.
pub(crate) const QUERY_BYTES_MAX: usize = 2_000;

pub(crate) const SOURCE: Param =
    Param::optional("source", Kind::Name { bytes_max: 128 }, "Only of this camera.");
pub(crate) const MAP: Param =
    Param::optional("map_id", Kind::Name { bytes_max: 128 }, "Only of this map.");
pub(crate) const START: Param = Param::optional("start_time", Kind::Time, "From, inclusive.");
pub(crate) const END: Param = Param::optional("end_time", Kind::Time, "Until, inclusive.");

/// Name of the query of the recalls of objects.
pub(crate) const QUERY: &str = "query";
/// Names of the query and the bounds of time of the recalls of objects.
pub(crate) const NAMES: [&str; 3] = [QUERY, START.name, END.name];

/// The query of a recall of sightings.
pub(crate) const OBJECT: Param = Param::required(
    QUERY,
    Kind::Text { bytes_max: QUERY_BYTES_MAX },
    "The object, with what tells it apart: 'a red mug'.",
);

/// The request of a recall whose query and bounds of time have these names.
pub(crate) fn request(
    args: &Args,
    reading: TimeReading,
    [query, start, end]: [&str; 3],
) -> Result<RecallRequest, ToolError> {
    let map_id = args.text(MAP.name)?;
    let filter = Filter {
        window: args.window(start, end, reading)?,
        source: args.text(SOURCE.name)?.map(str::to_owned),
        map_id: map_id.map(str::to_owned),
        layer: None,
        area: area::area(args, map_id)?,
    };
    Ok(RecallRequest {
        query: args.required_text(query)?.to_owned(),
        filter,
        k: args.count("k")?,
        explain: args.flag(EXPLAIN.name)?,
    })
}

// The reply of a recall.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RecallReply {
    pub(crate) records: Vec<RecordReply>,
    // Records that may show what is asked for, where none shows it for sure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    possible: Vec<RecordReply>,
    // How surely the first of these shows it, and in most recalls all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    certainty: Option<CertaintyReply>,
    session: String,
    index: IndexReply,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
    // The query as it was meant: without slips of the keys and words that nobody needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_as: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<ExplanationReply>,
    #[serde(skip)]
    order: String,
}

// What the index held.
#[derive(Debug, Serialize, JsonSchema)]
struct IndexReply {
    searchable: usize,
    pending: usize,
}

impl RecallReply {
    /// `why_empty` says why the recall found nothing.
    pub(crate) fn of(
        context: &Context,
        session: &str,
        recall: &Recall,
        why_empty: impl FnOnce() -> String,
    ) -> Self {
        let zone = context.options.zone;
        let Recall { found, order, explanation, is_literal, read_as } = recall;
        let replies = found.iter().map(|it| RecordReply::of_recalled(it, zone)).collect();
        let (records, possible) =
            if order.is_only_possible() { (Vec::new(), replies) } else { (replies, Vec::new()) };
        Self {
            records,
            possible,
            certainty: order.certainty().map(CertaintyReply::of),
            session: session.to_owned(),
            index: IndexReply {
                searchable: context.episodic.len(),
                pending: context.ingest.pending(),
            },
            why_empty: found.is_empty().then(why_empty),
            notice: is_literal.then_some(LITERAL),
            read_as: read_as.clone(),
            explanation: explanation.as_ref().map(|it| ExplanationReply::of(it, *order, zone)),
            order: order_words(*order, found.len()),
        }
    }
}

impl tool::Reply for RecallReply {
    fn write(&self, text: &mut Text) {
        let IndexReply { searchable, pending } = self.index;
        let waiting =
            if pending == 0 { String::new() } else { format!(", {pending} frames pending") };
        let (count, may) = (self.records.len(), self.possible.len());
        if let Some(why) = &self.why_empty {
            text.line(&format!("Nothing found: {why}."));
        } else if may > 0 {
            text.line(&format!(
                "No record shows it for sure; {may} of {searchable} records{waiting} may, {}:",
                self.order
            ));
        } else {
            text.line(&format!("{count} of {searchable} records{waiting}, {}:", self.order));
        }
        self.records.iter().chain(&self.possible).for_each(|it| text.line(it.line()));
        if let Some(read_as) = &self.read_as {
            text.line(&format!("Note: the query was read as {read_as:?}."));
        }
        if let Some(notice) = self.notice {
            text.line(&format!("Note: {notice}."));
        }
        let explained = self.explanation.iter().flat_map(ExplanationReply::lines);
        explained.for_each(|line| text.whole_line(&line));
    }
}

fn order_words(order: RecallOrder, found: usize) -> String {
    match order {
        RecallOrder::BestFirst => "best first".to_owned(),
        RecallOrder::NewestFirst { certainty: Some(Certainty::Possible | Certainty::Partial) } => {
            "newest first, possible ones: the captions leave out part of it or call it otherwise"
                .to_owned()
        }
        RecallOrder::NewestFirst { certainty: Some(Certainty::Related) } => {
            "newest first, unsure ones: the captions say only what it is a kind of".to_owned()
        }
        RecallOrder::NewestFirst {
            certainty: Some(Certainty::Shown | Certainty::InPlace) | None,
        } => "newest first".to_owned(),
        RecallOrder::Chronological { total, .. } if total > found as u64 => {
            let what = if order.is_only_possible() { "possible ones" } else { "sightings" };
            format!("in the order of time, the newest of {total} {what}")
        }
        RecallOrder::Chronological { .. } if order.is_only_possible() => {
            "in the order of time: the captions leave out part of it or call it otherwise"
                .to_owned()
        }
        RecallOrder::Chronological { .. } => "in the order of time, all sightings".to_owned(),
    }
}

/// Why no record shows what is asked for.
pub(crate) fn why_unseen(context: &Context, request: &RecallRequest) -> String {
    match context.episodic.count(&request.filter) {
        0 => why_none(context, &request.filter),
        seen => {
            let near = context.episodic.near_sighting(&request.query, &request.filter);
            let near = near.ok().flatten().map(|(phrase, Record { id, end_at, .. })| {
                let at = context.options.zone.format(end_at);
                format!("; near it is {phrase:?}, seen last {at} (#{})", id.0)
            });
            let near = near.unwrap_or_default();
            format!("none of {seen} records shows {:?}{near}", request.query)
        }
    }
}

/// Why no record matches a description: only one whose words alone count matches none.
pub(crate) fn why_unmatched(context: &Context, request: &RecallRequest) -> String {
    match context.episodic.count(&request.filter) {
        0 => why_none(context, &request.filter),
        seen => format!("none of {seen} captions holds a word of {:?}", request.query),
    }
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
            Some(area) => what.push_str(&format!(" {}", area::describe(area))),
            None if what.is_empty() => return within,
            None => what.push_str(" there"),
        }
        return format!("no record{what}; {}", reply::holdings(context));
    }
    within
}
