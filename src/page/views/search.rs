//! Search as one types: by what records show, by what they are like, among notes, and where a
//! thing is, with the steps that lead there.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::page::Page;
use crate::page::daemon::{Call, DaemonError, Reply};
use crate::page::filter::{Bounds, Filter};
use crate::page::html::{Html, html};
use crate::page::layout::{Tab, page_or_part};
use crate::page::memory::{Memory, Record, read};
use crate::page::request::{Request, link};
use crate::page::response::Response;
use crate::page::views::explanation::{self, Explanation};
use crate::page::views::{Fault, cell, filter, kept, timeline, words};
use crate::tools::object_retrieval::determine_unique_instances::DetermineUniqueInstances;
use crate::tools::object_retrieval::memory_search_instance::MemorySearchInstance;
use crate::tools::object_retrieval::real_world_search_instance::RealWorldSearchInstance;
use crate::tools::object_retrieval::recall_all::RecallAll;
use crate::tools::object_retrieval::recall_best_match::RecallBestMatch;
use crate::tools::object_retrieval::recall_last_seen::RecallLastSeen;
use crate::tools::object_retrieval::start_task::StartTask;
use crate::tools::tool::Tool as _;

/// Names that the recalls have for the bounds of a window.
const WINDOW: Bounds = ("search_start_time", "search_end_time");
/// Records of an answer.
const FOUND_MAX: usize = 30;

/// What is searched, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Like,
    Shows,
    Last,
    Where,
    Notes,
}

const KINDS: [(Kind, &str, &str, &str); 5] = [
    (
        Kind::Like,
        "like",
        "Like it",
        "records whose captions mean or say something like it, best first",
    ),
    (
        Kind::Shows,
        "shows",
        "Shows it",
        "every record whose caption really shows the thing, newest first",
    ),
    (Kind::Last, "last", "Last seen", "where the thing was seen last, and then before"),
    (
        Kind::Where,
        "where",
        "Where is",
        "the thing's places, likeliest first, with the steps; sends no robot",
    ),
    (Kind::Notes, "notes", "Notes", "what agents kept in words"),
];

impl Kind {
    fn of(request: &Request) -> Self {
        let name = request.query.get("kind").unwrap_or_default();
        KINDS.iter().find(|it| it.1 == name).map_or(Self::Like, |it| it.0)
    }
}

/// The view.
pub(super) fn show(page: &Page, request: &Request) -> Result<Response, Fault> {
    let filter = filter(page, request)?;
    let kind = Kind::of(request);
    let query = request.query.get("q").unwrap_or_default();
    let memory = page.memory();
    let results = if query.is_empty() {
        hints(kind)
    } else {
        search(&memory, kind, query, &filter).unwrap_or_else(|error| match error {
            DaemonError::Refused(why) => html!("<p class=\"notice\">{}</p>", why),
            DaemonError::Unavailable(why) => html!("<p class=\"notice bad\">{}</p>", why),
        })
    };
    let main = html!(
        "<h1 class=\"hidden\">Search</h1>{}<div id=\"results\" aria-live=\"polite\">{}</div>{}",
        form(page, kind, query, &filter)?,
        results,
        cell::picked_form()
    );
    let title = if query.is_empty() { "Search" } else { query };
    Ok(Response::html(200, page_or_part(request, Tab::Search, title, main)))
}

fn form(page: &Page, kind: Kind, query: &str, filter: &Filter) -> Result<Html, Fault> {
    let stats = page.memory().stats()?;
    let choice = |(each, name, title, about): &(Kind, &str, &str, &str)| {
        if *each == kind {
            html!(
                "<label title=\"{}\"><input type=\"radio\" name=\"kind\" value=\"{}\" checked>\
                 <span>{}</span></label>",
                about,
                name,
                title
            )
        } else {
            html!(
                "<label title=\"{}\"><input type=\"radio\" name=\"kind\" value=\"{}\">\
                 <span>{}</span></label>",
                about,
                name,
                title
            )
        }
    };
    Ok(html!(
        "<form class=\"search\" action=\"/search\" method=\"get\" data-live=\"#results\" role=\"search\">\
         <input type=\"search\" name=\"q\" value=\"{}\" placeholder=\"a red mug on the desk\" \
         aria-label=\"What to search\" autocomplete=\"off\" autofocus>\
         <fieldset class=\"tabs\"><legend class=\"hidden\">How</legend>{}</fieldset>\
         <div class=\"filters\">{}<button class=\"hidden\">Search</button></div></form>",
        query,
        KINDS.iter().map(choice).collect::<Html>(),
        timeline::filter_fields(filter, &stats, page.zone)
    ))
}

fn hints(kind: Kind) -> Html {
    let rows = KINDS.iter().map(|(each, name, title, about)| {
        let mark = if *each == kind { "→" } else { "" };
        html!(
            "<dt>{} <a href=\"{}\">{}</a></dt><dd>{}</dd>",
            mark,
            link("/search", [("kind", (*name).to_owned())]),
            title,
            about
        )
    });
    html!("<dl class=\"table hints\">{}</dl>", rows.collect::<Html>())
}

fn search(
    memory: &Memory<'_>,
    kind: Kind,
    query: &str,
    filter: &Filter,
) -> Result<Html, DaemonError> {
    match kind {
        Kind::Like => recall(memory, RecallBestMatch::NAME, query, filter),
        Kind::Shows => recall_all(memory, query, filter),
        Kind::Last => recall(memory, RecallLastSeen::NAME, query, filter),
        Kind::Where => locate(memory, query, filter),
        Kind::Notes => kept::search_notes(memory, query),
    }
}

/// What a recall answers.
#[derive(Debug, Deserialize)]
struct Recalled {
    records: Vec<Record>,
    why_empty: Option<String>,
    notice: Option<String>,
    explanation: Option<Explanation>,
}

/// All sightings, newest first. What shows the thing says the recall of its last sighting, which
/// looks at the same captions.
fn recall_all(memory: &Memory<'_>, query: &str, filter: &Filter) -> Result<Html, DaemonError> {
    let mut arguments = filter.arguments(WINDOW);
    arguments.insert("query".to_owned(), json!(query));
    arguments.insert("k".to_owned(), json!(FOUND_MAX));
    let mut all: Recalled = memory.ask(RecallAll::NAME, arguments.clone())?;
    arguments.insert("k".to_owned(), json!(1));
    arguments.insert("explain".to_owned(), json!(true));
    let last: Recalled = memory.ask(RecallLastSeen::NAME, arguments)?;
    all.explanation = last.explanation;
    all.records.reverse();
    Ok(draw_recalled(&all))
}

fn recall(
    memory: &Memory<'_>,
    tool: &'static str,
    query: &str,
    filter: &Filter,
) -> Result<Html, DaemonError> {
    let mut arguments = filter.arguments(WINDOW);
    arguments.insert("query".to_owned(), json!(query));
    arguments.insert("k".to_owned(), json!(FOUND_MAX));
    arguments.insert("explain".to_owned(), json!(true));
    let recalled: Recalled = memory.ask(tool, arguments)?;
    Ok(draw_recalled(&recalled))
}

fn draw_recalled(recalled: &Recalled) -> Html {
    let Recalled { records, why_empty, notice, explanation } = recalled;
    let notice = notice.iter().chain(why_empty).map(|it| html!("<p class=\"notice\">{}</p>", it));
    let cell = |record: &Record| {
        let why = explanation.as_ref().map(|it| explanation::of_record(it, record));
        cell::of_any_day(record, &why.unwrap_or_default())
    };
    html!(
        "{}<div class=\"found\"><h2>{}</h2>{}</div><ol class=\"cells of-search\">{}</ol>",
        notice.collect::<Html>(),
        words::quantity(records.len(), "record"),
        explanation.as_ref().map(explanation::of_all),
        records.iter().map(cell).collect::<Html>()
    )
}

/// A place where a thing may be.
#[derive(Debug, Deserialize)]
struct Place {
    position: Option<[f64; 3]>,
    reason: Option<String>,
    record_id: Option<u64>,
    probability: Option<f64>,
}

/// Where a thing is searched, as the tool decides.
#[derive(Debug, Deserialize)]
struct Located {
    instance_desc: String,
    last_seen: Option<String>,
    past_observations: Vec<Record>,
    position: Option<[f64; 3]>,
    #[serde(default)]
    alternatives: Vec<Place>,
    #[serde(default)]
    guess: bool,
    map_id: Option<String>,
}

/// The steps that a planner takes to a place, without the last one, which sends the robot.
fn locate(memory: &Memory<'_>, query: &str, filter: &Filter) -> Result<Html, DaemonError> {
    let task = if query.to_lowercase().starts_with("where") {
        query.to_owned()
    } else {
        format!("where is {query}")
    };
    let thing = thing_of(query);
    let with = |pairs: Vec<(&str, Value)>| -> Map<String, Value> {
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    };
    let mut sightings = filter.arguments(WINDOW);
    sightings.extend(with(vec![("query", json!(thing)), ("k", json!(FOUND_MAX))]));
    let calls = [
        Call { tool: StartTask::NAME, arguments: with(vec![("task", json!(task))]) },
        Call { tool: RecallAll::NAME, arguments: sightings },
        Call {
            tool: DetermineUniqueInstances::NAME,
            arguments: with(vec![("query", json!(thing))]),
        },
        Call { tool: MemorySearchInstance::NAME, arguments: Map::new() },
        Call { tool: RealWorldSearchInstance::NAME, arguments: Map::new() },
    ];
    let (replies, error) = memory.ask_all(&calls);
    if let Some(DaemonError::Unavailable(_)) = error {
        return Err(error.unwrap_or_else(|| DaemonError::Unavailable(String::new())));
    }
    let located = match replies.last() {
        Some(last) if replies.len() == calls.len() => {
            Some(read::<Located>(RealWorldSearchInstance::NAME, last.structured.clone())?)
        }
        _ => None,
    };
    Ok(html!(
        "{}{}<h2>Steps</h2><ol class=\"steps\">{}</ol>",
        located.as_ref().map(draw_located),
        error.map(|error| html!("<p class=\"notice\">{}</p>", error.to_string())),
        calls.iter().zip(&replies).map(draw_step).collect::<Html>()
    ))
}

/// The request without what makes a question of it.
fn thing_of(query: &str) -> String {
    let lower = query.trim().trim_end_matches('?').to_lowercase();
    let starts = [
        "where is ",
        "where are ",
        "where's ",
        "where was ",
        "where were ",
        "where did i leave ",
        "where ",
    ];
    let rest = starts.iter().find_map(|start| lower.strip_prefix(start)).unwrap_or(&lower);
    let owned = ["my ", "the ", "our "];
    owned.iter().find_map(|start| rest.strip_prefix(start)).unwrap_or(rest).trim().to_owned()
}

fn draw_step((call, reply): (&Call, &Reply)) -> Html {
    let arguments: Vec<String> =
        call.arguments.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let first = reply.text.lines().next().unwrap_or_default().trim_end_matches(':');
    html!(
        "<li><code>{}</code> <span class=\"soft\">{}</span><p>{}</p></li>",
        call.tool,
        arguments.join(", "),
        first
    )
}

fn draw_located(located: &Located) -> Html {
    let Located {
        instance_desc,
        last_seen,
        past_observations,
        position,
        alternatives,
        guess,
        map_id,
    } = located;
    let at = position.map(|[x, y, _]| format!("({x:.1}, {y:.1}) m"));
    let map = map_id.clone().unwrap_or_default();
    let headline = match (&at, guess, last_seen) {
        (None, ..) => "not known where".to_owned(),
        (Some(at), true, _) => format!("never seen; a guess is {at}"),
        (Some(at), false, None) => at.clone(),
        (Some(at), false, Some(seen)) => format!("{at}, last seen {seen}"),
    };
    let place = |it: &Place| {
        let Place { position, reason, record_id, probability } = it;
        let at = position.map(|[x, y, _]| format!("({x:.1}, {y:.1})"));
        let record = record_id.map(|id| html!(" <a href=\"/record/{}\">record {}</a>", id, id));
        html!(
            "<li><span>{}</span><meter min=\"0\" max=\"1\" value=\"{}\"></meter>\
             <span class=\"soft\">{}</span><span>{}{}</span></li>",
            at,
            probability.unwrap_or(0.0),
            words::percent(probability.unwrap_or(0.0)),
            reason,
            record
        )
    };
    let none = Html::default();
    html!(
        "<div class=\"found\"><h2>{}: {}</h2><p><a href=\"{}\">on the map</a></p></div>\
         <ol class=\"places\">{}</ol><h2>Sightings</h2><ol class=\"cells of-search\">{}</ol>",
        instance_desc,
        headline,
        link("/map", [("map", map), ("q", instance_desc.clone())]),
        alternatives.iter().map(place).collect::<Html>(),
        past_observations.iter().map(|it| cell::of_any_day(it, &none)).collect::<Html>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_cut_to_the_thing() {
        for (query, expect) in [
            ("Where is my red mug?", "red mug"),
            ("where are the keys", "keys"),
            ("blue umbrella", "blue umbrella"),
            ("where did I leave my phone?", "phone"),
        ] {
            assert_eq!(thing_of(query), expect);
        }
    }
}
