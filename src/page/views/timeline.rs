//! Everything that was seen, newest first, under a picture of how much that was when.

use crate::base::time::{Timestamp, Zone};
use crate::page::Page;
use crate::page::daemon::DaemonError;
use crate::page::filter::{Filter, write_time};
use crate::page::html::{Html, html};
use crate::page::layout::{Tab, page_or_part};
use crate::page::memory::{BUCKETS_MAX, Bucket, LIST_MAX, Memory, Order, Record, Stats};
use crate::page::request::{Request, link};
use crate::page::response::Response;
use crate::page::views::density::{self, Span};
use crate::page::views::sections::{self, Section};
use crate::page::views::{Fault, cell, filter, words};

/// A bucket with more is counted anew in narrower ones, so often at most.
const BUCKET_RECORDS_MAX: usize = 300;
const RECOUNTS_MAX: usize = 48;
/// Records that come with the view itself; the script fetches others as they scroll into sight.
const FIRST_RECORDS: usize = 48;
/// Sections that come with the view itself; the script fetches the older ones at once after it.
/// A page of all of them keeps a browser busy for a third of a second where there are 100,000
/// records.
const FIRST_SECTIONS: usize = 24;
/// Fewer buckets make a section of some hundred records where all are about as full.
const RECORDS_PER_BUCKET: usize = 60;

/// The view.
pub(super) fn show(page: &Page, request: &Request) -> Result<Response, Fault> {
    let filter = filter(page, request)?;
    let stats = page.memory().stats()?;
    let seen = Seen::of(page, &filter, &stats)?;
    let body = if seen.sections.is_empty() {
        let why = seen.why_empty.as_deref().unwrap_or("nothing is in this window");
        html!("<p class=\"notice\">{}</p>", why)
    } else {
        draw_sections(page, &filter, &seen.sections)?
    };
    let main = html!(
        "<h1 class=\"hidden\">Timeline</h1>{}{}{}{}",
        controls(page, &filter, &stats, seen.span, seen.total),
        draw_strip(page, &filter, &seen.buckets, seen.span),
        body,
        cell::picked_form()
    );
    Ok(Response::html(200, page_or_part(request, Tab::Timeline, "Timeline", main)))
}

/// All sections of a window, a line each and without records, for the script.
pub(super) fn older(page: &Page, request: &Request) -> Result<Response, Fault> {
    let filter = filter(page, request)?;
    let seen = Seen::of(page, &filter, &page.memory().stats()?)?;
    let mut lines = Html::default();
    for section in &seen.sections {
        let window = within(&filter, section.span);
        lines.push(&html!("{}\n", draw_section(page, section, &window, &[])));
    }
    Ok(Response::html(200, lines))
}

/// The records of one section, for the script.
pub(super) fn cells(page: &Page, request: &Request) -> Result<Response, Fault> {
    let filter = filter(page, request)?;
    let records = records_of(&page.memory(), &filter)?;
    let cells: Html = records.iter().map(|it| cell::of_day(it, page.zone)).collect();
    Ok(Response::html(200, cells))
}

/// All records that begin within a window, newest first.
fn records_of(memory: &Memory<'_>, filter: &Filter) -> Result<Vec<Record>, DaemonError> {
    let mut records = Vec::new();
    let mut cursor = None;
    // A section of this many has one bucket of a second.
    for _ in 0..20 {
        let listed = memory.list(filter, Order::Newest, cursor.as_deref(), LIST_MAX)?;
        records.extend(listed.records);
        if !listed.more || listed.cursor.is_none() {
            break;
        }
        cursor = listed.cursor;
    }
    // One that began before the window lasts into it, and stands in the section before.
    records.retain(|it: &Record| filter.from.is_none_or(|from| it.at() >= from));
    Ok(records)
}

/// How much was seen in a window, and when.
struct Seen {
    span: Span,
    buckets: Vec<Bucket>,
    sections: Vec<Section>,
    total: usize,
    why_empty: Option<String>,
}

impl Seen {
    fn of(page: &Page, filter: &Filter, stats: &Stats) -> Result<Self, DaemonError> {
        let memory = page.memory();
        let buckets_max = BUCKETS_MAX.min(stats.records / RECORDS_PER_BUCKET + 240);
        let counts = memory.counts(filter, buckets_max)?;
        let span = span_of(filter, &counts.buckets);
        let buckets = recount(&memory, filter, counts.buckets)?;
        let sections = sections::of(&buckets, span, page.zone);
        Ok(Self { span, buckets, sections, total: counts.count, why_empty: counts.why_empty })
    }
}

/// The window of the address; where it is open, that of the records.
fn span_of(filter: &Filter, buckets: &[Bucket]) -> Span {
    let first = buckets.first().map_or(0.0, |it| it.start);
    let last = buckets.last().map_or(first + 1.0, |it| it.end);
    let from = filter.from.map_or(first, Timestamp::seconds);
    let to = filter.to.map_or(last, Timestamp::seconds);
    Span { from, to: to.max(from + 1.0) }
}

/// Buckets in which too many records lie are counted anew, more finely.
fn recount(
    memory: &Memory<'_>,
    filter: &Filter,
    buckets: Vec<Bucket>,
) -> Result<Vec<Bucket>, DaemonError> {
    let mut done = Vec::new();
    let mut left: Vec<Bucket> = buckets.into_iter().rev().collect();
    let mut recounts = 0;
    while let Some(bucket) = left.pop() {
        let is_whole = bucket.end - bucket.start <= 1.0 || recounts == RECOUNTS_MAX;
        if bucket.count <= BUCKET_RECORDS_MAX || is_whole {
            done.push(bucket);
            continue;
        }
        recounts += 1;
        let within = within(filter, Span { from: bucket.start, to: bucket.end });
        let finer = memory.counts(&within, bucket.count / RECORDS_PER_BUCKET + 24)?.buckets;
        let finer = finer.into_iter().filter(|it| it.start >= bucket.start && it.count > 0);
        let mut finer: Vec<Bucket> = finer.collect();
        if finer.len() < 2 {
            done.push(bucket);
        } else {
            finer.reverse();
            left.extend(finer);
        }
    }
    Ok(done)
}

/// The filter with a bucket's window.
pub(super) fn within_bucket(filter: &Filter, bucket: &Bucket) -> Filter {
    within(filter, Span { from: bucket.start, to: bucket.end })
}

/// The filter with another window: up to the last microsecond before its end.
fn within(filter: &Filter, span: Span) -> Filter {
    let from = Timestamp::from_seconds(span.from);
    let to = Timestamp::from_seconds(span.to)
        .map(|to| Timestamp::from_micros(to.micros() - 1).unwrap_or(Timestamp::EPOCH));
    Filter { from, to, ..filter.clone() }
}

fn draw_strip(page: &Page, filter: &Filter, buckets: &[Bucket], span: Span) -> Html {
    let zone = page.zone;
    let link_of = |part: Span| at(filter, part).link("/", zone);
    html!(
        "<figure class=\"strip\" id=\"strip\" data-from=\"{}\" data-to=\"{}\">{}\
         <div class=\"brush\" hidden></div><div class=\"here\" hidden></div></figure>",
        span.from,
        span.to,
        density::draw(buckets, span, zone, link_of)
    )
}

/// The filter with a window to the second, as an address has it.
fn at(filter: &Filter, span: Span) -> Filter {
    let time = |it: f64| Timestamp::from_seconds(it.max(0.0));
    let is_wide = span.seconds() > 20.0;
    let (from, to) =
        if is_wide { (span.from.floor(), span.to.ceil()) } else { (span.from, span.to) };
    Filter { from: time(from), to: time(to), ..filter.clone() }
}

fn controls(page: &Page, filter: &Filter, stats: &Stats, span: Span, total: usize) -> Html {
    let zone = page.zone;
    let to = |span: Span| at(filter, span).link("/", zone);
    let everything = Filter { from: None, to: None, ..filter.clone() };
    let search: Vec<(&str, String)> = filter.pairs(zone);
    html!(
        "<div class=\"bar\"><div class=\"headline\"><strong>{}</strong> <span>{}</span></div>\
         <div class=\"buttons\" role=\"group\" aria-label=\"Window\">\
         <a href=\"{}\" id=\"earlier\" title=\"Earlier (h)\" aria-label=\"Earlier\">◀</a>\
         <a href=\"{}\" id=\"out\" title=\"Zoom out (−)\" aria-label=\"Zoom out\">−</a>\
         <a href=\"{}\" id=\"in\" title=\"Zoom in (+)\" aria-label=\"Zoom in\">+</a>\
         <a href=\"{}\" id=\"later\" title=\"Later (l)\" aria-label=\"Later\">▶</a>\
         <a href=\"{}\" id=\"all\" title=\"Everything (0)\">All</a></div>\
         {}\
         <div class=\"buttons\"><a href=\"{}\">Search here</a><a href=\"{}\">Forget…</a></div>\
         </div>",
        words::quantity(total, "record"),
        density::range(span.from, span.to, zone),
        to(span.moved(-0.5)),
        to(span.zoomed(2.0)),
        to(span.zoomed(0.5)),
        to(span.moved(0.5)),
        everything.link("/", zone),
        filter_form("/", filter, stats, page.zone),
        link("/search", search.clone()),
        link("/forget", search.into_iter().chain([("scope", "episodic".to_owned())]))
    )
}

/// Source, map and window as a form of its own.
fn filter_form(path: &str, filter: &Filter, stats: &Stats, zone: Zone) -> Html {
    html!(
        "<form class=\"filters\" action=\"{}\" method=\"get\" data-live>{}\
         <button class=\"quiet\">Show</button></form>",
        path,
        filter_fields(filter, stats, zone)
    )
}

/// Source, map, window and area as the fields of a form.
pub(super) fn filter_fields(filter: &Filter, stats: &Stats, zone: Zone) -> Html {
    let sources = stats.origins.iter().map(|it| it.source.as_str());
    let maps = stats.origins.iter().map(|it| it.map_id.as_str());
    let time = |it: Option<Timestamp>| it.map_or_else(String::new, |it| write_time(it, zone));
    let area = filter.area.as_ref().map(|area| {
        let text = area.to_text();
        html!(
            "<label class=\"chip\"><input type=\"checkbox\" name=\"area\" value=\"{}\" checked>\
             area {}</label>",
            text,
            text
        )
    });
    html!(
        "{}{}\
         <label>from <input type=\"datetime-local\" step=\"1\" name=\"from\" value=\"{}\"></label>\
         <label>to <input type=\"datetime-local\" step=\"1\" name=\"to\" value=\"{}\"></label>{}",
        picker("source", "source", sources, &filter.source),
        picker("map", "map", maps, &filter.map),
        time(filter.from),
        time(filter.to),
        area
    )
}

/// One of the names that there are; nothing to pick where there is one.
pub(super) fn picker<'a>(
    name: &str,
    label: &str,
    known: impl Iterator<Item = &'a str>,
    picked: &'a str,
) -> Html {
    let mut known: Vec<&str> = known.chain([picked]).filter(|it| !it.is_empty()).collect();
    known.sort_unstable();
    known.dedup();
    if known.len() < 2 && picked.is_empty() {
        return Html::default();
    }
    let option = |it: &str| {
        if it == picked {
            html!("<option selected>{}</option>", it)
        } else {
            html!("<option>{}</option>", it)
        }
    };
    let options: Html = known.into_iter().map(option).collect();
    html!(
        "<label>{} <select name=\"{}\"><option value=\"\">all</option>{}</select></label>",
        label,
        name,
        options
    )
}

fn draw_sections(page: &Page, filter: &Filter, sections: &[Section]) -> Result<Html, Fault> {
    let memory = page.memory();
    let mut shown = 0;
    let mut all = Html::default();
    for section in sections.iter().take(FIRST_SECTIONS) {
        let window = within(filter, section.span);
        let records = if shown < FIRST_RECORDS && section.count <= LIST_MAX {
            records_of(&memory, &window)?
        } else {
            Vec::new()
        };
        shown += records.len();
        all.push(&draw_section(page, section, &window, &records));
    }
    let rest = sections.get(FIRST_SECTIONS).map(|it| draw_link_to_older(page, filter, it));
    Ok(html!("<div class=\"sections\" id=\"sections\">{}{}</div>", all, rest))
}

/// A link to the records from `newest` back, in whose place the script puts their sections.
fn draw_link_to_older(page: &Page, filter: &Filter, newest: &Section) -> Html {
    let until = within(filter, newest.span).to;
    let older = Filter { to: until, ..filter.clone() };
    html!(
        "{}<p class=\"older\"><a href=\"{}\" data-sections=\"{}\">Older records</a></p>",
        draw_gap(newest),
        older.link("/", page.zone),
        older.link("/sections", page.zone)
    )
}

fn draw_section(page: &Page, section: &Section, window: &Filter, records: &[Record]) -> Html {
    let Section { span, count, .. } = section;
    let cells: Html = records.iter().map(|it| cell::of_day(it, page.zone)).collect();
    html!(
        "{}<section class=\"span\" data-from=\"{}\" data-to=\"{}\" data-count=\"{}\" \
         data-cells=\"{}\"><h2>{} <small>{}</small></h2><ol class=\"cells\">{}</ol></section>",
        draw_gap(section),
        span.from,
        span.to,
        count,
        window.link("/cells", page.zone),
        density::range(span.from, span.to, page.zone),
        words::quantity(*count, "record"),
        cells
    )
}

fn draw_gap(section: &Section) -> Option<Html> {
    let seconds = section.gap_after?;
    let gap = words::duration(seconds);
    Some(html!("<p class=\"gap\"><span>nothing seen for {}</span></p>", gap))
}
