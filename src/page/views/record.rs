//! One record: its frame with what was found in it, what was read out of its caption, what was
//! seen before, after and nearby, and how it came here.

use crate::base::picture::Encoding;
use crate::base::time::Zone;
use crate::page::Page;
use crate::page::filter::{Circle, Filter};
use crate::page::html::{Html, html};
use crate::page::layout::{Tab, page_or_part};
use crate::page::memory::{Detection, Memory, Order, Parsed, Record, Thing};
use crate::page::request::{Request, link};
use crate::page::response::Response;
use crate::page::views::{Fault, cell, words};

/// Neighbours in time on each side, and in place.
const NEIGHBOURS: usize = 4;
const NEAR: usize = 8;
/// What counts as the same place, in metres.
const NEAR_METRES: f64 = 1.0;

/// The view.
pub(super) fn show(page: &Page, request: &Request, id: u64) -> Result<Response, Fault> {
    let memory = page.memory();
    let Some(whole) = memory.record(id)? else {
        page.thumbnails.forget(id);
        return Err(Fault::Nothing(format!("there is no record {id}, any more or yet")));
    };
    let record = &whole.record;
    let (before, after) = neighbours(&memory, record)?;
    let near = near(&memory, record)?;
    let title = format!("Record {id}");
    let main = html!(
        "<article class=\"record\"><div class=\"bar\"><h1>Record {} <small>{}</small></h1>\
         <div class=\"buttons\">{}{}</div></div>\
         <div class=\"two\"><div>{}<p class=\"caption\">{}</p>{}</div><div class=\"facts\">{}{}{}</div></div>\
         <section><h2>Before and after</h2><ol class=\"cells strip-of\">{}</ol></section>{}{}</article>",
        id,
        record.time,
        before.last().map(|it| step("previous", it.id, "◀ Previous", "[")),
        after.first().map(|it| step("next", it.id, "Next ▶", "]")),
        picture(record),
        record.caption,
        read_out(&whole.parsed),
        facts(record, page.zone),
        detections(&record.detections),
        actions(record, page.zone),
        around(&before, record, &after),
        nearby(record, &near, page.zone),
        cell::picked_form()
    );
    Ok(Response::html(200, page_or_part(request, Tab::Timeline, &title, main)))
}

/// The frame as it was taken in.
pub(super) fn frame(page: &Page, id: u64) -> Result<Response, Fault> {
    match page.memory().frame(id)? {
        Some(frame) => Ok(Response::bytes(&frame.mime, frame.bytes)),
        None => Err(no_frame(page, id)),
    }
}

/// A small picture of the frame.
pub(super) fn thumbnail(page: &Page, id: u64) -> Result<Response, Fault> {
    let Some(frame) = page.memory().frame(id)? else { return Err(no_frame(page, id)) };
    match page.thumbnails.of(id, &frame.bytes) {
        Ok(small) => {
            let mime = Encoding::of(&small).map_or("application/octet-stream", Encoding::mime);
            Ok(Response::bytes(mime, small))
        }
        Err(error) => Err(Fault::Nothing(format!("the frame of record {id}: {error}"))),
    }
}

fn no_frame(page: &Page, id: u64) -> Fault {
    page.thumbnails.forget(id);
    Fault::Nothing(format!("no frame of record {id} is kept"))
}

/// Records before and after it of the same source, in the order of time.
fn neighbours(memory: &Memory<'_>, record: &Record) -> Result<(Vec<Record>, Vec<Record>), Fault> {
    let filter = Filter { source: record.source.clone(), ..Filter::default() };
    let cursor = record.id.to_string();
    let mut before = memory.list(&filter, Order::Newest, Some(&cursor), NEIGHBOURS)?.records;
    before.reverse();
    let after = memory.list(&filter, Order::Oldest, Some(&cursor), NEIGHBOURS)?.records;
    Ok((before, after))
}

/// Other records of the same place, newest first.
fn near(memory: &Memory<'_>, record: &Record) -> Result<Vec<Record>, Fault> {
    let Some(area) = place_of(record) else { return Ok(Vec::new()) };
    let filter = Filter { area: Some(area), map: record.map_id.clone(), ..Filter::default() };
    let mut found = memory.list(&filter, Order::Newest, None, NEAR + 1)?.records;
    found.retain(|it| it.id != record.id);
    found.truncate(NEAR);
    Ok(found)
}

fn place_of(record: &Record) -> Option<Circle> {
    let [x, y, _] = record.position?;
    Some(Circle { x, y, radius: NEAR_METRES, frame: record.frame_id.clone() })
}

fn step(id: &str, record: u64, text: &str, key: &str) -> Html {
    html!("<a id=\"{}\" href=\"/record/{}\" title=\"{} ({})\">{}</a>", id, record, text, key, text)
}

/// The frame; boxes lie over it in shares of its sides.
fn picture(record: &Record) -> Html {
    if record.image.is_none() {
        return html!("<div class=\"frame none\">no frame of it is kept</div>");
    }
    let boxes: Html = record.detections.iter().map(draw_box).collect();
    html!(
        "<figure class=\"frame\"><a href=\"/frame/{}\" target=\"_blank\">\
         <img src=\"/frame/{}\" alt=\"{}\"></a>\
         <svg viewBox=\"0 0 1 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{}</svg>{}</figure>",
        record.id,
        record.id,
        record.caption,
        boxes,
        box_names(&record.detections)
    )
}

fn draw_box(found: &Detection) -> Html {
    let [left, top, right, bottom] = found.place;
    html!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" vector-effect=\"non-scaling-stroke\"/>",
        left,
        top,
        (right - left).max(0.0),
        (bottom - top).max(0.0)
    )
}

/// Names at the boxes' corners: text of their own, as the boxes are stretched with the frame.
fn box_names(found: &[Detection]) -> Html {
    if found.is_empty() {
        return Html::default();
    }
    let name = |it: &Detection| {
        let [left, top, ..] = it.place;
        html!(
            "<text x=\"{}%\" y=\"{}%\" dx=\"4\" dy=\"{}\">{}</text>",
            format!("{:.2}", 100.0 * left),
            format!("{:.2}", 100.0 * top),
            if top < 0.06 { "14" } else { "-5" },
            it.name
        )
    };
    html!(
        "<svg class=\"names\" aria-hidden=\"true\">{}</svg>",
        found.iter().map(name).collect::<Html>()
    )
}

fn detections(found: &[Detection]) -> Html {
    if found.is_empty() {
        return Html::default();
    }
    let row = |it: &Detection| {
        html!(
            "<li><span>{}</span><meter min=\"0\" max=\"1\" value=\"{}\">{}</meter>\
             <span class=\"soft\">{}</span></li>",
            it.name,
            it.score,
            words::percent(it.score),
            words::percent(it.score)
        )
    };
    html!(
        "<h2>Found in the frame</h2><ul class=\"meters\">{}</ul>",
        found.iter().map(row).collect::<Html>()
    )
}

/// What the memory reads of a caption, which is what it is found by.
fn read_out(parsed: &Parsed) -> Html {
    let Parsed { things, deeds, surface, room } = parsed;
    let thing = |it: &Thing| {
        let Thing { phrase, head, attributes, presence, is_person } = it;
        let kind = match (presence.as_str(), is_person) {
            ("absent", _) => "said not to be there",
            ("guessed", _) => "only guessed",
            ("depicted", _) => "only depicted",
            ("landmark", _) => "a landmark",
            (_, true) => "a person",
            (_, false) => "shown",
        };
        let title = if attributes.is_empty() {
            format!("{kind}: {head}")
        } else {
            format!("{kind}: {head}, {}", attributes.join(", "))
        };
        html!("<li class=\"chip {}\" title=\"{}\">{}</li>", presence, title, phrase)
    };
    let extra = |name: &str, value: &Option<String>| {
        value
            .as_ref()
            .map(|it| html!("<li class=\"chip place\" title=\"{}\">{}: {}</li>", name, name, it))
    };
    let deeds = deeds
        .iter()
        .map(|it| html!("<li class=\"chip deed\" title=\"what somebody does\">{}</li>", it));
    let mut chips: Html = things.iter().map(thing).chain(deeds).collect();
    for chip in [extra("on", surface), extra("in", room)].into_iter().flatten() {
        chips.push(&chip);
    }
    if chips.is_empty() {
        return Html::default();
    }
    html!("<h2>Read out of the caption</h2><ul class=\"chips\">{}</ul>", chips)
}

fn facts(record: &Record, zone: Zone) -> Html {
    let Record { time, end_time, source, map_id, frame_id, layer, confidence, .. } = record;
    let lasted = (end_time != time).then(|| format!("until {end_time}"));
    let place = record.position.map(|[x, y, z]| {
        let heading = record.theta.map(|it| format!(", heading {:.0}°", it.to_degrees()));
        format!("({x:.2}, {y:.2}, {z:.2}) m{}", heading.unwrap_or_default())
    });
    let link = place_of(record).map(|area| {
        let filter = Filter { area: Some(area), map: map_id.clone(), ..Filter::default() };
        html!(" <a href=\"{}\">on the map</a>", filter.link("/map", zone))
    });
    let rows = [
        ("Seen", html!("{}", time)),
        ("Lasted", html!("{}", lasted)),
        ("Source", html!("{}", source)),
        (
            "Robot at",
            place.map_or_else(
                || html!("<span class=\"soft\">not localised</span>"),
                |it| html!("{}{}", it, link),
            ),
        ),
        ("Frame of coordinates", html!("{}", frame_id)),
        ("Map", html!("{}", map_id)),
        ("Layer", html!("{}", layer.as_deref().unwrap_or_default())),
        (
            "Caption is right",
            confidence.map_or_else(Html::default, |it| {
                html!("<meter min=\"0\" max=\"1\" value=\"{}\"></meter> {}", it, words::percent(it))
            }),
        ),
        ("Came by", html!("{}", way(record))),
    ];
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    let rows: Html =
        rows.map(|(name, value)| html!("<dt>{}</dt><dd>{}</dd>", name, value)).collect();
    html!("<dl>{}</dl>", rows)
}

/// How it came to be a record.
fn way(record: &Record) -> String {
    let Record { image, time, end_time, layer, source, .. } = record;
    let merged = if end_time == time { "" } else { "; later frames like it were merged into it" };
    match (image, layer) {
        (Some(_), _) => format!("a frame of {source}, captioned here{merged}"),
        (None, Some(layer)) => format!("an observation of the layer {layer}"),
        (None, None) => {
            format!("a caption without a frame, or whose frame went for its room{merged}")
        }
    }
}

fn actions(record: &Record, zone: Zone) -> Html {
    let half_hour = |seconds: f64| crate::base::time::Timestamp::from_seconds(seconds.max(0.0));
    let around = Filter {
        from: half_hour(record.timestamp - 1_800.0),
        to: half_hour(record.timestamp + 1_800.0),
        ..Filter::default()
    };
    html!(
        "<div class=\"row\"><a href=\"{}\">The hour around it</a>\
         <a href=\"{}\">Others like it</a><a class=\"danger-link\" href=\"{}\">Forget it…</a></div>",
        around.link("/", zone),
        link("/search", [("q", record.caption.clone())]),
        link("/forget", [("scope", "episodic".to_owned()), ("ids", record.id.to_string())])
    )
}

fn around(before: &[Record], record: &Record, after: &[Record]) -> Html {
    let none = Html::default();
    let this = html!("<span class=\"this\">this record</span>");
    let others = |it: &Record| cell::of_any_day(it, &none);
    let mut all: Html = before.iter().map(others).collect();
    all.push(&cell::of_any_day(record, &this));
    all.push(&after.iter().map(others).collect());
    all
}

fn nearby(record: &Record, near: &[Record], zone: Zone) -> Html {
    if near.is_empty() {
        return Html::default();
    }
    let area = place_of(record);
    let filter = Filter { area, map: record.map_id.clone(), ..Filter::default() };
    let none = Html::default();
    html!(
        "<section><h2>Within {} m of it <small><a href=\"{}\">all of them</a></small></h2>\
         <ol class=\"cells strip-of\">{}</ol></section>",
        NEAR_METRES,
        filter.link("/", zone),
        near.iter().map(|it| cell::of_any_day(it, &none)).collect::<Html>()
    )
}
