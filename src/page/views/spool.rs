//! Frames that are no records: those that wait for their caption, and those that got none.

use serde::Deserialize;

use crate::page::Page;
use crate::page::daemon::DaemonError;
use crate::page::html::{Html, html};
use crate::page::memory::{Browsed, Memory};
use crate::page::response::Response;
use crate::page::views::kept::cards;
use crate::page::views::{Fault, words};

/// Longest edge of a small picture, in pixels.
const EDGE: u32 = 320;

#[derive(Debug, Deserialize)]
struct Frame {
    #[serde(rename = "frame")]
    number: u64,
    time: String,
    source: String,
    attempts: Option<usize>,
    reason: Option<String>,
}

/// Frames of one kind, `waiting` or `set_aside`.
pub(super) fn draw(
    memory: &Memory<'_>,
    kind: &'static str,
    cursor: u64,
) -> Result<Html, DaemonError> {
    let Browsed { items, cursor } = memory.browse::<Frame>(kind, cursor)?;
    if items.is_empty() {
        let none = if kind == "waiting" {
            "no frame waits for its caption"
        } else {
            "no frame was set aside"
        };
        return Ok(html!("<p class=\"notice\">{}</p>", none));
    }
    Ok(cards(kind, items.iter().map(card), cursor))
}

fn card(frame: &Frame) -> Html {
    let Frame { number, time, source, attempts, reason } = frame;
    let attempts =
        attempts.filter(|it| *it > 0).map(|it| html!(" · {}", words::quantity(it, "attempt")));
    let reason = reason.as_ref().map(|it| html!("<p class=\"text\">{}</p>", it));
    html!(
        "<li class=\"card\"><img loading=\"lazy\" src=\"/spool/{}\" alt=\"frame {} of {}\">{}\
         <p class=\"soft\">{} · {}{} · frame {}</p></li>",
        number,
        number,
        source,
        reason,
        time,
        source,
        attempts,
        number
    )
}

/// A small picture of such a frame.
pub(super) fn picture(page: &Page, frame: u64) -> Result<Response, Fault> {
    match page.memory().spooled_frame(frame, EDGE)? {
        Some(small) => Ok(Response::bytes(&small.mime, small.bytes)),
        None => Err(Fault::Nothing(format!("no image of frame {frame} is kept"))),
    }
}
