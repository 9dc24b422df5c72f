//! Forgetting: what is meant, a preview of exactly what goes, and the receipt.
//!
//! The preview's token stands for just these records and notes: if others would go by the time
//! of the click, nothing goes.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::base::time::{Clock as _, SystemClock};
use crate::page::Page;
use crate::page::filter::{Bounds, Filter};
use crate::page::guard::SECRET_FIELD;
use crate::page::html::{Html, html};
use crate::page::layout::{Tab, layout, page_or_part};
use crate::page::memory::Memory;
use crate::page::request::{Fields, Request};
use crate::page::response::Response;
use crate::page::views::{Fault, timeline, words};
use crate::tools::notes::forget::MemoryForget;
use crate::tools::tool::Tool as _;

/// Names that the tool has for the bounds of a window.
const WINDOW: Bounds = ("search_start_time", "search_end_time");
/// Items that a preview shows; it says how many more there are.
const SHOWN_MAX: usize = 600;
/// From so many on the number is typed before they go.
const TYPED_FROM: usize = 10;

const SCOPES: [(&str, &str); 3] =
    [("episodic", "what was seen"), ("notes", "notes"), ("all", "both")];

/// What is to be forgotten, as an address and a form hold it.
#[derive(Debug)]
struct Wish {
    scope: String,
    query: String,
    threshold: String,
    ids: String,
    filter: Filter,
}

impl Wish {
    fn parse(page: &Page, fields: &Fields) -> Result<Self, Fault> {
        let filter = Filter::parse(fields, page.zone, SystemClock.now()).map_err(Fault::Wrong)?;
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        let scope = fields.get("scope").unwrap_or("episodic").to_owned();
        let ids = fields.all("ids").join(",");
        Ok(Self { scope, query: text("q"), threshold: text("threshold"), ids, filter })
    }

    fn is_empty(&self) -> bool {
        self.query.is_empty() && self.ids.is_empty() && self.filter.is_everything()
    }

    fn arguments(&self) -> Result<Map<String, Value>, Fault> {
        let Self { scope, query, threshold, ids, filter } = self;
        let mut arguments = filter.arguments(WINDOW);
        arguments.insert("scope".to_owned(), json!(scope));
        for (name, value) in [("query", query), ("ids", ids)] {
            if !value.is_empty() {
                arguments.insert(name.to_owned(), json!(value));
            }
        }
        if !threshold.is_empty() {
            let share: f64 = threshold.parse().map_err(|_no_number| {
                Fault::Wrong(format!("threshold: {threshold:?}, accepted is a number from 0 to 1"))
            })?;
            arguments.insert("threshold".to_owned(), json!(share));
        }
        Ok(arguments)
    }

    /// As hidden fields of the form that carries it out.
    fn hidden(&self, page: &Page) -> Html {
        let Self { scope, query, threshold, ids, filter } = self;
        let own = [("scope", scope), ("q", query), ("threshold", threshold), ("ids", ids)];
        let own = own.into_iter().map(|(name, value)| (name, value.clone()));
        let fields = own.chain(filter.pairs(page.zone)).filter(|(_, value)| !value.is_empty());
        fields
            .map(|(name, value)| {
                html!("<input type=\"hidden\" name=\"{}\" value=\"{}\">", name, value)
            })
            .collect()
    }
}

/// What the tool says of what goes, or went.
#[derive(Debug, Deserialize)]
struct Forgotten {
    count: usize,
    #[serde(default)]
    frames: usize,
    items: Vec<Item>,
    #[serde(default)]
    near: Vec<Near>,
    token: Option<String>,
    #[serde(default)]
    needs_confirm: bool,
    notice: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Item {
    /// A number of a record, or a UUID of a note.
    id: Value,
    text: String,
    time: String,
    why: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Near {
    /// As an item's.
    id: Value,
    text: String,
}

/// The form, and below it what would go.
pub(super) fn show(page: &Page, request: &Request) -> Result<Response, Fault> {
    let wish = Wish::parse(page, &request.query)?;
    let memory = page.memory();
    let preview = if wish.is_empty() {
        html!(
            "<p class=\"notice\">Say what is meant: a thing or topic, a window of time, a source, \
             a map, an area, or records picked on the timeline. What would go is shown first.</p>"
        )
    } else {
        preview(page, &memory, &wish)?
    };
    let main = html!("<h1>Forget</h1>{}{}", form(page, &wish)?, preview);
    Ok(Response::html(200, page_or_part(request, Tab::Forget, "Forget", main)))
}

/// Removes what the preview showed.
pub(super) fn carry_out(page: &Page, request: &Request) -> Result<Response, Fault> {
    let wish = Wish::parse(page, &request.form)?;
    let token = request.form.get("token").unwrap_or_default();
    let count: usize = request.form.get("count").and_then(|it| it.parse().ok()).unwrap_or(0);
    let confirmed = request.form.get("confirmed").unwrap_or_default();
    if token.is_empty() || confirmed.replace(',', "") != count.to_string() {
        return Err(Fault::Wrong(format!(
            "nothing was forgotten: the number that confirms it is {confirmed:?}, accepted is {count}"
        )));
    }
    let mut arguments = wish.arguments()?;
    arguments.insert("token".to_owned(), json!(token));
    if count > 0 {
        arguments.insert("confirm".to_owned(), json!(count));
    }
    let gone: Forgotten = page.memory().ask(MemoryForget::NAME, arguments)?;
    page.thumbnails.forget_all();
    Ok(Response::html(200, layout(Tab::Forget, "Forgotten", &receipt(page, &gone))))
}

fn form(page: &Page, wish: &Wish) -> Result<Html, Fault> {
    let stats = page.memory().stats()?;
    let scope = |(name, about): &(&str, &str)| {
        if wish.scope == *name {
            html!("<option value=\"{}\" selected>{}</option>", name, about)
        } else {
            html!("<option value=\"{}\">{}</option>", name, about)
        }
    };
    Ok(html!(
        "<form class=\"wish\" action=\"/forget\" method=\"get\">\
         <label>Forget <select name=\"scope\">{}</select></label>\
         <label>about <input type=\"search\" name=\"q\" value=\"{}\" placeholder=\"a thing or topic\"></label>\
         <label>as similar as <input type=\"number\" name=\"threshold\" min=\"0\" max=\"1\" step=\"0.01\" \
         value=\"{}\" placeholder=\"0.75\"></label>\
         <label>ids <input name=\"ids\" value=\"{}\" placeholder=\"17, 42\"></label>{}\
         <button class=\"primary\">Show what would go</button></form>",
        SCOPES.iter().map(scope).collect::<Html>(),
        wish.query,
        wish.threshold,
        wish.ids,
        timeline::filter_fields(&wish.filter, &stats, page.zone)
    ))
}

fn preview(page: &Page, memory: &Memory<'_>, wish: &Wish) -> Result<Html, Fault> {
    let mut arguments = wish.arguments()?;
    arguments.insert("dry_run".to_owned(), json!(true));
    let goes: Forgotten = memory.ask(MemoryForget::NAME, arguments)?;
    let notice = goes.notice.as_ref().map(|it| html!("<p class=\"notice\">{}</p>", it));
    if goes.count == 0 && goes.frames == 0 {
        let near = draw_near(&goes.near);
        return Ok(html!("{}<p class=\"notice\">Nothing would go.</p>{}", notice, near));
    }
    Ok(html!(
        "{}<section class=\"preview\"><h2>{} would go</h2>{}{}</section>{}",
        notice,
        amount(&goes),
        confirmation(page, wish, &goes),
        draw_items(&goes.items, true),
        draw_near(&goes.near)
    ))
}

/// `3 records and 2 notes, and 1 uncaptioned frame`
fn amount(of: &Forgotten) -> String {
    let records = of.items.iter().filter(|it| it.id.is_u64()).count();
    let notes = of.items.len() - records;
    let mut parts = Vec::new();
    for (number, thing) in [(records, "record"), (notes, "note"), (of.frames, "uncaptioned frame")]
    {
        if number > 0 {
            parts.push(words::quantity(number, thing));
        }
    }
    parts.join(" and ")
}

fn confirmation(page: &Page, wish: &Wish, goes: &Forgotten) -> Html {
    let Forgotten { count, token, needs_confirm, .. } = goes;
    let agreed = if *count >= TYPED_FROM || *needs_confirm {
        html!(
            "<label>Type {} to confirm <input name=\"confirmed\" inputmode=\"numeric\" \
             pattern=\"[0-9,]+\" autocomplete=\"off\" required></label>",
            count
        )
    } else {
        html!(
            "<label><input type=\"checkbox\" name=\"confirmed\" value=\"{}\" required> \
             for good</label>",
            count
        )
    };
    html!(
        "<form class=\"row confirm\" action=\"/forget/now\" method=\"post\">{}\
         <input type=\"hidden\" name=\"{}\" value=\"{}\">\
         <input type=\"hidden\" name=\"token\" value=\"{}\">\
         <input type=\"hidden\" name=\"count\" value=\"{}\">{}\
         <button class=\"danger\">Forget {}</button></form>",
        wish.hidden(page),
        SECRET_FIELD,
        page.guard.secret(),
        token,
        count,
        agreed,
        amount(goes)
    )
}

/// Records as pictures, notes in words.
fn draw_items(items: &[Item], is_there: bool) -> Html {
    let draw = |item: &Item| {
        let Item { id, text, time, why } = item;
        let why = why.as_ref().map(|it| html!(" · {}", it));
        match id.as_u64() {
            Some(record) if is_there => html!(
                "<li class=\"cell\"><a href=\"/record/{}\"><img src=\"/thumb/{}\" alt=\"\" \
                 loading=\"lazy\" width=\"384\" height=\"288\"><span class=\"when\"><time>{}</time>\
                 <span>#{}</span></span><span class=\"what\">{}</span></a></li>",
                record,
                record,
                time,
                record,
                text
            ),
            Some(record) => html!("<li class=\"gone\">#{} · {}{}</li>", record, time, why),
            None => html!(
                "<li class=\"cell note\"><p class=\"text\">{}</p><p class=\"soft\">{}{}</p></li>",
                if is_there { text.as_str() } else { "a note" },
                time,
                why
            ),
        }
    };
    let shown = items.iter().take(SHOWN_MAX).map(draw).collect::<Html>();
    let more = items.len().saturating_sub(SHOWN_MAX);
    let more = (more > 0).then(|| {
        html!("<p class=\"notice\">and {} that are not shown</p>", words::quantity(more, "item"))
    });
    let class = if is_there { "cells" } else { "gone-list" };
    html!("<ol class=\"{}\">{}</ol>{}", class, shown, more)
}

fn draw_near(near: &[Near]) -> Html {
    if near.is_empty() {
        return Html::default();
    }
    let near_item = |it: &Near| {
        let id = it.id.as_str().map_or_else(|| format!("#{}", it.id), str::to_owned);
        html!("<li><code>{}</code> {}</li>", id, it.text)
    };
    html!(
        "<section><h2>What only may be it, or names a part of it, and stays</h2><ul class=\"values\">{}</ul></section>",
        near.iter().map(near_item).collect::<Html>()
    )
}

fn receipt(page: &Page, gone: &Forgotten) -> Html {
    let at = SystemClock.now();
    html!(
        "<h1>Forgotten</h1><div class=\"notice good\"><strong>{} {} gone</strong>, from every answer \
         and from the disk, at {}. The audit log has a receipt; <code>engram audit forget</code> \
         proves it with the daemon stopped.</div>{}<p><a href=\"/\">To the timeline</a></p>",
        amount(gone),
        if gone.count + gone.frames == 1 { "is" } else { "are" },
        page.zone.format(at),
        draw_items(&gone.items, false)
    )
}
