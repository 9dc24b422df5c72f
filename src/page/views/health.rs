//! How the daemon is: problems first, then what became of the frames, and what it all takes.

use serde_json::{Map, Value};

use crate::page::Page;
use crate::page::html::{Html, html};
use crate::page::layout::{Tab, page_or_part};
use crate::page::request::Request;
use crate::page::response::Response;
use crate::page::views::{Fault, values, words};
use crate::tools::admin::health::Health;
use crate::tools::admin::memory_stats::MemoryStats;
use crate::tools::ingest::ingest_status::IngestStatus;
use crate::tools::metrics;
use crate::tools::tool::Tool as _;

/// The view.
pub(super) fn show(page: &Page, request: &Request) -> Result<Response, Fault> {
    let memory = page.memory();
    let health: Map<String, Value> = memory.ask(Health::NAME, Map::new())?;
    let ingest: Map<String, Value> = memory.ask(IngestStatus::NAME, Map::new())?;
    let stats: Map<String, Value> = memory.ask(MemoryStats::NAME, Map::new())?;
    let main = html!(
        "<h1>Health</h1>{}{}\
         <p class=\"row\"><a href=\"/metrics\">Numbers for Prometheus</a></p>\
         <div class=\"columns\"><section><h2>Frames</h2>{}</section>\
         <section><h2>Memory</h2>{}</section></div>",
        banner(&health),
        tiles(&ingest, &stats),
        values::draw_fields(&ingest),
        values::draw_fields(&stats)
    );
    Ok(Response::html(200, page_or_part(request, Tab::Health, "Health", main)))
}

/// The daemon's numbers, as Prometheus reads them.
pub(super) fn metrics(page: &Page) -> Result<Response, Fault> {
    let numbers = page.memory().resource(metrics::URI)?;
    let none = || Fault::Nothing("this daemon has no numbers".to_owned());
    Ok(Response::bytes(metrics::MIME, numbers.ok_or_else(none)?.bytes))
}

fn banner(health: &Map<String, Value>) -> Html {
    let text = |name: &str| health.get(name).and_then(Value::as_str).unwrap_or_default();
    let uptime = health.get("uptime_seconds").and_then(Value::as_f64).unwrap_or(0.0);
    let told = format!("engram {}, up {}", text("version"), words::duration(uptime));
    let problems = health.get("problems").and_then(Value::as_array).into_iter().flatten();
    let problems: Html =
        problems.filter_map(Value::as_str).map(|it| html!("<li>{}</li>", it)).collect();
    if problems.is_empty() {
        return html!("<p class=\"notice good\"><strong>Well.</strong> {}</p>", told);
    }
    html!(
        "<div class=\"notice bad\"><strong>{}.</strong> {}<ul>{}</ul></div>",
        text("status"),
        told,
        problems
    )
}

/// The few numbers that are looked at most.
fn tiles(ingest: &Map<String, Value>, stats: &Map<String, Value>) -> Html {
    let number = |from: &Map<String, Value>, name: &str| from.get(name).and_then(Value::as_u64);
    let count = |from: &Map<String, Value>, name: &str| {
        let count = number(from, name).unwrap_or(0);
        words::thousands(usize::try_from(count).unwrap_or(usize::MAX))
    };
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let bytes = |name: &str| {
        number(stats, name).map_or_else(|| "–".to_owned(), |it| words::bytes(it as f64))
    };
    let tiles = [
        ("records", count(stats, "records")),
        ("frames seen", count(ingest, "seen")),
        ("wait for a caption", count(ingest, "pending")),
        ("set aside", count(ingest, "failed")),
        ("refused", count(ingest, "refused")),
        ("on disk", bytes("disk_bytes")),
        ("daemon's memory", bytes("daemon_resident_bytes")),
        ("captioner's memory", bytes("worker_resident_bytes")),
    ];
    let tile = |(name, value): (&str, String)| {
        html!("<li><strong>{}</strong><span>{}</span></li>", value, name)
    };
    html!("<ul class=\"tiles\">{}</ul>", tiles.into_iter().map(tile).collect::<Html>())
}
