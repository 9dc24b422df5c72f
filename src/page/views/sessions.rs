//! Agents' sessions: what each is at.

use serde::Deserialize;

use crate::page::daemon::DaemonError;
use crate::page::html::{Html, html};
use crate::page::memory::{Browsed, Memory};
use crate::page::views::kept::cards;
use crate::page::views::words;

#[derive(Debug, Deserialize)]
struct Session {
    name: String,
    user: Option<u32>,
    used: String,
    is_kept: bool,
    task: Option<String>,
    recalled: Option<String>,
    records: usize,
    target: Option<String>,
    goals: usize,
    visited: usize,
    steps: usize,
}

/// The sessions, the one used last first.
pub(super) fn draw(memory: &Memory<'_>, cursor: u64) -> Result<Html, DaemonError> {
    let Browsed { items, cursor } = memory.browse::<Session>("sessions", cursor)?;
    if items.is_empty() {
        return Ok(html!("<p class=\"notice\">no agent has a session</p>"));
    }
    Ok(cards("sessions", items.iter().map(card), cursor))
}

fn card(session: &Session) -> Html {
    let Session { name, user, used, is_kept, task, recalled, records, .. } = session;
    let Session { target, goals, visited, steps, .. } = session;
    let user = user.map(|it| html!(" · user {}", it));
    let kept = if *is_kept { "kept" } else { "ends with its connection" };
    let row = |name: &str, value: &Option<String>| {
        value.as_ref().map(|value| html!("<dt>{}</dt><dd>{}</dd>", name, value))
    };
    let search =
        (*goals > 0).then(|| format!("{visited} of {} visited", words::quantity(*goals, "goal")));
    html!(
        "<li class=\"card\"><h3>{}</h3><p class=\"soft\">last used {}{} · {} · {} in working memory · {}</p>\
         <dl class=\"table\">{}{}{}{}</dl></li>",
        name,
        used,
        user,
        kept,
        words::quantity(*records, "record"),
        words::quantity(*steps, "step"),
        row("task", task),
        row("recalled", recalled),
        row("target", target),
        row("search", &search)
    )
}
