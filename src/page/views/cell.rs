//! A record as a small picture with its time and caption. Pure.

use crate::base::time::Zone;
use crate::page::html::{Html, html};
use crate::page::memory::Record;
use crate::page::views::words;

/// One of a list of records; `note` stands below its caption.
pub(super) fn cell(record: &Record, time: &str, note: &Html) -> Html {
    let Record { id, caption, source, .. } = record;
    let (picture, below) = if record.image.is_some() {
        let picture = html!(
            "<img src=\"/thumb/{}\" alt=\"\" loading=\"lazy\" decoding=\"async\" \
             width=\"384\" height=\"288\">",
            id
        );
        (picture, html!("<span class=\"what\">{}</span>", caption))
    } else {
        (html!("<span class=\"no-picture\">{}</span>", caption), Html::default())
    };
    html!(
        "<li class=\"cell\" data-id=\"{}\"><a href=\"/record/{}\" title=\"{}\">{}\
         <span class=\"when\"><time>{}</time><span class=\"source\">{}</span></span>\
         {}{}</a>\
         <label class=\"pick\"><input type=\"checkbox\" name=\"ids\" value=\"{}\" \
         form=\"picked\" aria-label=\"Select record {}\"></label></li>",
        id,
        id,
        caption,
        picture,
        time,
        source,
        below,
        note,
        id,
        id
    )
}

/// With the time of day, as under a heading with the day.
pub(super) fn of_day(record: &Record, zone: Zone) -> Html {
    cell(record, &words::clock(record.at(), zone, true), &Html::default())
}

/// With day and time.
pub(super) fn of_any_day(record: &Record, note: &Html) -> Html {
    cell(record, &record.time, note)
}

/// The form that the check marks of all cells belong to, and the bar that shows with them.
pub(super) fn picked_form() -> Html {
    html!(
        "<form id=\"picked\" class=\"picked\" action=\"/forget\" method=\"get\">\
         <input type=\"hidden\" name=\"scope\" value=\"episodic\">\
         <output id=\"picked-count\">Selected records</output>\
         <button class=\"danger\">Forget…</button>\
         <button type=\"reset\" class=\"quiet\">Clear</button></form>"
    )
}
