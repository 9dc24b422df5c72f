//! What is kept beside records, each kind browsed without a query: notes, memos, states and sessions
//! of agents, and frames without a caption.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::page::Page;
use crate::page::daemon::DaemonError;
use crate::page::html::{Html, html};
use crate::page::layout::{Tab, page_or_part};
use crate::page::memory::Memory;
use crate::page::request::{Request, link};
use crate::page::response::Response;
use crate::page::views::{Fault, sessions, spool, values, words};
use crate::tools::memos::list::MemoList;
use crate::tools::notes::load::MemoryLoad;
use crate::tools::tool::Tool as _;

/// Memos of a page, and items of another kind.
const MEMOS: usize = 50;
const ITEMS: usize = 200;
/// Notes that a search shows.
const NOTES_FOUND: usize = 30;

/// A note as the tools have it.
#[derive(Debug, Deserialize)]
struct Note {
    id: String,
    text: String,
    score: Option<f64>,
    area: String,
    metadata: Map<String, Value>,
    time: String,
    expires: Option<String>,
}

/// What is browsed.
const SHELVES: [(&str, &str); 6] = [
    ("notes", "Notes"),
    ("memos", "Memos"),
    ("states", "States of agents"),
    ("sessions", "Sessions"),
    ("waiting", "Frames that wait"),
    ("set_aside", "Frames set aside"),
];

/// The view.
pub(super) fn show(page: &Page, request: &Request) -> Result<Response, Fault> {
    let memory = page.memory();
    let what = request.query.get("what").unwrap_or("notes");
    let shelf = match what {
        "notes" => notes(&memory, request)?,
        "memos" => memos(&memory, request)?,
        "states" => states(&memory)?,
        "sessions" => sessions::draw(&memory, cursor(request))?,
        "waiting" => spool::draw(&memory, "waiting", cursor(request))?,
        "set_aside" => spool::draw(&memory, "set_aside", cursor(request))?,
        other => {
            let accepted = SHELVES.map(|(name, _)| name).join(", ");
            return Err(Fault::Wrong(format!("what is {other:?}, accepted are {accepted}")));
        }
    };
    let tab = |(name, title): (&str, &str)| {
        let link = link("/kept", [("what", name.to_owned())]);
        if name == what {
            html!("<a href=\"{}\" aria-current=\"page\">{}</a>", link, title)
        } else {
            html!("<a href=\"{}\">{}</a>", link, title)
        }
    };
    let main = html!(
        "<div class=\"bar\"><h1>Kept</h1><div class=\"buttons\">{}</div></div>{}",
        SHELVES.into_iter().map(tab).collect::<Html>(),
        shelf
    );
    Ok(Response::html(200, page_or_part(request, Tab::Kept, "Kept", main)))
}

/// Cards of what is kept, and where there are more of it.
pub(super) fn cards(what: &str, cards: impl Iterator<Item = Html>, cursor: Option<u64>) -> Html {
    let more = cursor.map(|cursor| {
        let link = link("/kept", [("what", what.to_owned()), ("cursor", cursor.to_string())]);
        html!("<p><a href=\"{}\">more</a></p>", link)
    });
    html!("<ol class=\"cards\">{}</ol>{}", cards.collect::<Html>(), more)
}

/// From where on.
fn cursor(request: &Request) -> u64 {
    request.query.get("cursor").and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// Some of the items of a kind, and where the next ones begin.
#[derive(Debug, Deserialize)]
struct Items<T> {
    items: Vec<T>,
    cursor: Option<u64>,
}

fn items<T: for<'a> Deserialize<'a>>(
    memory: &Memory<'_>,
    kind: &str,
    cursor: u64,
) -> Result<Items<T>, DaemonError> {
    let arguments = [("kind", json!(kind)), ("cursor", json!(cursor)), ("limit", json!(ITEMS))];
    let arguments = arguments.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    memory.export(arguments)
}

fn notes(memory: &Memory<'_>, request: &Request) -> Result<Html, DaemonError> {
    let Items { items, cursor } = items::<Note>(memory, "notes", cursor(request))?;
    if items.is_empty() {
        return Ok(html!("<p class=\"notice\">no note is kept</p>"));
    }
    Ok(cards("notes", items.iter().map(draw_note), cursor))
}

/// What an agent carries from step to step.
#[derive(Debug, Deserialize)]
struct State {
    agent: String,
    memory: Map<String, Value>,
}

fn states(memory: &Memory<'_>) -> Result<Html, DaemonError> {
    let Items { items, .. } = items::<State>(memory, "states", 0)?;
    if items.is_empty() {
        return Ok(html!("<p class=\"notice\">no agent has a state</p>"));
    }
    let state = |State { agent, memory }: &State| {
        html!("<li class=\"card\"><h2>{}</h2>{}</li>", agent, values::draw_fields(memory))
    };
    Ok(html!("<ol class=\"cards\">{}</ol>", items.iter().map(state).collect::<Html>()))
}

#[derive(Debug, Deserialize)]
struct Memos {
    memos: Vec<Memo>,
    total: usize,
}

#[derive(Debug, Deserialize)]
struct Memo {
    id: u64,
    #[serde(rename = "memo")]
    content: String,
    user_message: String,
    source: String,
    time: String,
    status: String,
    uses: usize,
}

fn memos(memory: &Memory<'_>, request: &Request) -> Result<Html, DaemonError> {
    let before: u64 = request.query.get("before").and_then(|it| it.parse().ok()).unwrap_or(0);
    let arguments = [("limit", json!(MEMOS)), ("before", json!(before))];
    let arguments = arguments.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let Memos { memos, total } = memory.ask(MemoList::NAME, arguments)?;
    if memos.is_empty() {
        return Ok(html!("<p class=\"notice\">no memo is kept</p>"));
    }
    let memo = |it: &Memo| {
        let Memo { id, content, user_message, source, time, status, uses } = it;
        html!(
            "<li class=\"card\"><h3>{}</h3><p class=\"soft\">#{} · {} · {} · {} · {}</p>\
             <pre>{}</pre></li>",
            user_message,
            id,
            time,
            source,
            status,
            words::quantity(*uses, "use"),
            content
        )
    };
    let older = memos.last().filter(|_| memos.len() == MEMOS).map(|last| {
        let link = link("/kept", [("what", "memos".to_owned()), ("before", last.id.to_string())]);
        html!("<p><a href=\"{}\">older ones</a></p>", link)
    });
    Ok(html!(
        "<p class=\"soft\">{}</p><ol class=\"cards\">{}</ol>{}",
        words::quantity(total, "memo"),
        memos.iter().map(memo).collect::<Html>(),
        older
    ))
}

#[derive(Debug, Deserialize)]
struct FoundNotes {
    memories: Vec<Note>,
    why_empty: Option<String>,
}

/// The notes that are about something, best first.
pub(super) fn search_notes(memory: &Memory<'_>, query: &str) -> Result<Html, DaemonError> {
    let arguments = [("query", json!(query)), ("limit", json!(NOTES_FOUND))];
    let arguments = arguments.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let FoundNotes { memories, why_empty } = memory.ask(MemoryLoad::NAME, arguments)?;
    if let Some(why) = why_empty {
        return Ok(html!("<p class=\"notice\">{}</p>", why));
    }
    Ok(html!("<ol class=\"cards\">{}</ol>", memories.iter().map(draw_note).collect::<Html>()))
}

fn draw_note(note: &Note) -> Html {
    let Note { id, text, score, area, metadata, time, expires } = note;
    let score = score.map(|it| html!(" · score {}", format!("{it:.2}")));
    let expires = expires.as_ref().map(|it| html!(" · expires {}", it));
    let metadata =
        if metadata.is_empty() { Html::default() } else { values::draw_fields(metadata) };
    let forget = link("/forget", [("scope", "notes".to_owned()), ("ids", id.clone())]);
    html!(
        "<li class=\"card\"><p class=\"text\">{}</p>{}<p class=\"soft\">{} · {}{}{} · <code>{}</code>\
         · <a class=\"danger-link\" href=\"{}\">forget…</a></p></li>",
        text,
        metadata,
        area,
        time,
        score,
        expires,
        id,
        forget
    )
}
