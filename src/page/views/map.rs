//! Where the robot was in a map, where a thing was seen, and where it was sent. An area that is
//! drawn becomes the filter of the other views.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::page::Page;
use crate::page::daemon::DaemonError;
use crate::page::filter::{Bounds, Circle, Filter};
use crate::page::html::{Html, html};
use crate::page::layout::{Tab, page_or_part};
use crate::page::memory::{LIST_MAX, Memory, Order, Record, Stats};
use crate::page::occupancy::OccupancyGrid;
use crate::page::request::{Request, link};
use crate::page::response::Response;
use crate::page::views::{Fault, cell, filter, timeline, words};
use crate::tools::object_retrieval::recall_all::RecallAll;
use crate::tools::object_retrieval::watch_goals::WatchGoals;
use crate::tools::tool::Tool as _;

/// Poses that are drawn; of more, some of each stretch of time.
const POSES_MAX: usize = 1_200;
const STRETCHES: usize = 12;
/// Sightings of a thing.
const SIGHTINGS_MAX: usize = 50;
/// Records of an area that are shown below the map.
const IN_AREA: usize = 24;
/// Metres around what is drawn.
const MARGIN: f64 = 1.0;

const RECALL_WINDOW: Bounds = ("search_start_time", "search_end_time");

/// The view.
pub(super) fn show(page: &Page, request: &Request) -> Result<Response, Fault> {
    let mut filter = filter(page, request)?;
    let memory = page.memory();
    let stats = memory.stats()?;
    if filter.map.is_empty() && request.query.get("map").is_none() {
        filter.map = main_map(&stats);
    }
    // The area is drawn, not looked through.
    let everywhere = Filter { area: None, ..filter.clone() };
    let (poses, total) = poses(&memory, &everywhere)?;
    let query = request.query.get("q").unwrap_or_default();
    let sightings =
        if query.is_empty() { Vec::new() } else { sightings(&memory, query, &everywhere)? };
    let goals = goals(&memory, &filter.map)?;
    let grid = page.grids.iter().find(|it| it.map_id == filter.map);
    let drawing =
        Drawing { poses: &poses, sightings: &sightings, goals: &goals, grid, filter: &filter };
    let main = html!(
        "<h1 class=\"hidden\">Map</h1>{}{}{}{}{}",
        controls(page, &filter, &stats, query, (poses.len(), total)),
        drawing.draw(),
        below_area(page, &memory, &filter)?,
        below_sightings(query, &sightings),
        cell::picked_form()
    );
    Ok(Response::html(200, page_or_part(request, Tab::Map, "Map", main)))
}

/// The occupancy grid of a map, as a picture.
pub(super) fn grid(page: &Page, request: &Request) -> Result<Response, Fault> {
    let map = request.query.get("map").unwrap_or_default();
    let grid = page.grids.iter().find(|it| it.map_id == map);
    let none = || Fault::Nothing(format!("no grid of the map {map:?} was given (--grid)"));
    Ok(Response::bytes("image/png", grid.ok_or_else(none)?.png.clone()))
}

/// The map with the most records.
fn main_map(stats: &Stats) -> String {
    let mut by_map: Vec<(&str, usize)> = Vec::new();
    for origin in &stats.origins {
        match by_map.iter_mut().find(|(map, _)| *map == origin.map_id) {
            Some((_, records)) => *records += origin.records,
            None => by_map.push((&origin.map_id, origin.records)),
        }
    }
    let most = by_map.into_iter().max_by_key(|(_, records)| *records);
    most.map_or_else(String::new, |(map, _)| map.to_owned())
}

/// Records with a pose in the order of time, and how many there are in all.
fn poses(memory: &Memory<'_>, filter: &Filter) -> Result<(Vec<Record>, usize), DaemonError> {
    let counts = memory.counts(filter, STRETCHES)?;
    let mut found = Vec::new();
    if counts.count <= POSES_MAX {
        let mut cursor = None;
        while found.len() < POSES_MAX {
            let listed = memory.list(filter, Order::Oldest, cursor.as_deref(), LIST_MAX)?;
            found.extend(listed.records);
            if !listed.more || listed.cursor.is_none() {
                break;
            }
            cursor = listed.cursor;
        }
    } else {
        let each = POSES_MAX / counts.buckets.len().max(1);
        for bucket in &counts.buckets {
            let part = timeline::within_bucket(filter, bucket);
            found.extend(memory.list(&part, Order::Oldest, None, each)?.records);
        }
    }
    found.retain(|it| it.position.is_some());
    Ok((found, counts.count))
}

fn sightings(
    memory: &Memory<'_>,
    query: &str,
    filter: &Filter,
) -> Result<Vec<Record>, DaemonError> {
    #[derive(Deserialize)]
    struct Recalled {
        records: Vec<Record>,
    }
    let mut arguments = filter.arguments(RECALL_WINDOW);
    arguments.insert("query".to_owned(), json!(query));
    arguments.insert("k".to_owned(), json!(SIGHTINGS_MAX));
    match memory.ask::<Recalled>(RecallAll::NAME, arguments) {
        Ok(recalled) => Ok(recalled.records),
        // Half a word, while it is typed.
        Err(DaemonError::Refused(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// A place that the robot was sent to.
#[derive(Debug, Clone, Deserialize)]
struct Goal {
    position: [f64; 3],
    map_id: String,
    reason: String,
}

/// The goals of the newest search.
fn goals(memory: &Memory<'_>, map: &str) -> Result<Vec<Goal>, DaemonError> {
    #[derive(Deserialize)]
    struct Events {
        events: Vec<Event>,
    }
    #[derive(Deserialize)]
    struct Event {
        goals: Vec<Goal>,
    }
    let Events { events } = memory.ask(WatchGoals::NAME, Map::<String, Value>::new())?;
    let newest = events.into_iter().rev().find(|it| !it.goals.is_empty());
    let mut goals = newest.map(|it| it.goals).unwrap_or_default();
    goals.retain(|it| it.map_id == map);
    Ok(goals)
}

/// What is drawn; up in the map is up on the screen, so `y` turns its sign.
struct Drawing<'a> {
    poses: &'a [Record],
    sightings: &'a [Record],
    goals: &'a [Goal],
    grid: Option<&'a OccupancyGrid>,
    filter: &'a Filter,
}

/// Left, upper edge, width and height in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
struct View(f64, f64, f64, f64);

impl Drawing<'_> {
    fn draw(&self) -> Html {
        let View(left, top, width, height) = self.view();
        let unit = width.max(height) / 160.0;
        html!(
            "<figure class=\"map\" id=\"map\"><svg viewBox=\"{} {} {} {}\" role=\"group\" \
             aria-label=\"Map with {} and {}\">{}{}{}{}{}{}{}</svg></figure>",
            left,
            top,
            width,
            height,
            words::quantity(self.poses.len(), "pose"),
            words::quantity(self.sightings.len(), "sighting"),
            self.grid.map(draw_grid),
            metres(View(left, top, width, height)),
            self.path(),
            self.poses.iter().map(|it| pose(it, unit * 0.55)).collect::<Html>(),
            self.sightings.iter().map(|it| sighting(it, unit)).collect::<Html>(),
            self.goals.iter().map(|it| goal(it, unit)).collect::<Html>(),
            self.filter.area.as_ref().map(area)
        )
    }

    /// What holds everything, with a margin.
    fn view(&self) -> View {
        let poses = self.poses.iter().chain(self.sightings).filter_map(|it| it.position);
        let goals = self.goals.iter().map(|it| it.position);
        let mut corners: Vec<(f64, f64)> = poses.chain(goals).map(|[x, y, _]| (x, y)).collect();
        if let Some(Circle { x, y, radius, .. }) = self.filter.area {
            corners.extend([(x - radius, y - radius), (x + radius, y + radius)]);
        }
        if corners.is_empty()
            && let Some(grid) = self.grid
        {
            let [x, y, _] = grid.origin;
            let (width, height) = size(grid);
            corners.extend([(x, y), (x + width, y + height)]);
        }
        let bounds = |of: fn(&(f64, f64)) -> f64| {
            let values = corners.iter().map(of);
            let least = values.clone().reduce(f64::min).unwrap_or(-5.0) - MARGIN;
            (least, values.reduce(f64::max).unwrap_or(5.0) + MARGIN)
        };
        let ((left, right), (bottom, top)) = (bounds(|it| it.0), bounds(|it| it.1));
        View(left, -top, right - left, top - bottom)
    }

    fn path(&self) -> Html {
        let mut points = String::new();
        let mut before: Option<f64> = None;
        for record in self.poses {
            let Some([x, y, _]) = record.position else { continue };
            // Where nothing was seen for long the way between is not known.
            let is_on = before.is_some_and(|before| record.timestamp - before < 900.0);
            points.push_str(&format!("{}{x:.2} {:.2}", if is_on { "L" } else { "M" }, -y));
            before = Some(record.timestamp);
        }
        html!("<path class=\"path\" d=\"{}\"/>", points)
    }
}

fn size(grid: &OccupancyGrid) -> (f64, f64) {
    let (columns, rows) = grid.cells;
    (f64::from(columns) * grid.resolution, f64::from(rows) * grid.resolution)
}

fn draw_grid(grid: &OccupancyGrid) -> Html {
    let [x, y, yaw] = grid.origin;
    let (width, height) = size(grid);
    html!(
        "<image href=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" \
         preserveAspectRatio=\"none\" transform=\"rotate({} {} {})\"/>",
        link("/map/grid", [("map", grid.map_id.clone())]),
        x,
        -(y + height),
        width,
        height,
        -yaw.to_degrees(),
        x,
        -y
    )
}

/// Lines at whole metres, so that distances are seen.
fn metres(View(left, top, width, height): View) -> Html {
    let step = [1.0, 5.0, 10.0, 50.0, 100.0, 1_000.0]
        .into_iter()
        .find(|step| width.max(height) / step <= 40.0)
        .unwrap_or(10_000.0);
    // The picture shows more to the sides where it is wider than what it must hold.
    let (left, right) = (left - 2.0 * width, left + 3.0 * width);
    let (top, bottom) = (top - height, top + 2.0 * height);
    let line = |x1: f64, y1: f64, x2: f64, y2: f64| {
        html!("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>", x1, y1, x2, y2)
    };
    let steps = |from: f64, to: f64| {
        let first = (from / step).ceil() * step;
        (0_u32..256).map(move |it| first + f64::from(it) * step).take_while(move |it| *it <= to)
    };
    let upright = steps(left, right).map(|x| line(x, top, x, bottom));
    let level = steps(top, bottom).map(|y| line(left, y, right, y));
    html!("<g class=\"grid\">{}</g>", upright.chain(level).collect::<Html>())
}

fn pose(record: &Record, radius: f64) -> Html {
    let Some([x, y, _]) = record.position else { return Html::default() };
    let title = format!("{}: {}", record.time, record.caption);
    let heading = record.theta.map(|theta| {
        html!(
            "<line class=\"heading\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            format!("{x:.3}"),
            format!("{:.3}", -y),
            format!("{:.3}", x + 2.4 * radius * theta.cos()),
            format!("{:.3}", -y - 2.4 * radius * theta.sin())
        )
    });
    html!(
        "<a href=\"/record/{}\" tabindex=\"-1\">{}<circle class=\"pose\" cx=\"{}\" cy=\"{}\" r=\"{}\">\
         <title>{}</title></circle></a>",
        record.id,
        heading,
        format!("{x:.3}"),
        format!("{:.3}", -y),
        format!("{radius:.3}"),
        title
    )
}

fn sighting(record: &Record, unit: f64) -> Html {
    let Some([x, y, _]) = record.position else { return Html::default() };
    html!(
        "<a href=\"/record/{}\"><circle class=\"sighting\" cx=\"{}\" cy=\"{}\" r=\"{}\">\
         <title>{}: {}</title></circle></a>",
        record.id,
        x,
        -y,
        unit * 1.2,
        record.time,
        record.caption
    )
}

fn goal(goal: &Goal, unit: f64) -> Html {
    let [x, y, _] = goal.position;
    html!(
        "<circle class=\"goal\" cx=\"{}\" cy=\"{}\" r=\"{}\"><title>goal: {}</title></circle>",
        x,
        -y,
        unit * 2.2,
        goal.reason
    )
}

fn area(area: &Circle) -> Html {
    let Circle { x, y, radius, .. } = area;
    html!("<circle class=\"area\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", x, -y, radius)
}

fn controls(
    page: &Page,
    filter: &Filter,
    stats: &Stats,
    query: &str,
    (drawn, total): (usize, usize),
) -> Html {
    let of = if drawn < total {
        format!("{} of {}", words::thousands(drawn), words::quantity(total, "record"))
    } else {
        words::quantity(total, "record")
    };
    let area = filter.area.as_ref().map_or_else(String::new, Circle::to_text);
    let without_area = Filter { area: None, ..filter.clone() };
    html!(
        "<form class=\"bar\" action=\"/map\" method=\"get\" data-live><div class=\"headline\">\
         <strong>{}</strong> <span>{}</span></div>\
         <label>sightings of <input type=\"search\" name=\"q\" value=\"{}\" placeholder=\"a thing\"></label>\
         <label>area <input name=\"area\" value=\"{}\" placeholder=\"draw it, or x,y,radius\" size=\"18\"></label>\
         <div class=\"filters\">{}<button class=\"quiet\">Show</button></div></form>",
        if filter.map.is_empty() { "Map" } else { &filter.map },
        of,
        query,
        area,
        timeline::filter_fields(&without_area, stats, page.zone)
    )
}

fn below_area(page: &Page, memory: &Memory<'_>, filter: &Filter) -> Result<Html, Fault> {
    let Some(area) = &filter.area else { return Ok(Html::default()) };
    let listed = memory.list(filter, Order::Newest, None, IN_AREA)?;
    let zone = page.zone;
    let none = Html::default();
    let forget = filter.pairs(zone).into_iter().chain([("scope", "episodic".to_owned())]);
    Ok(html!(
        "<section><div class=\"bar\"><h2>{} within {} m of ({}, {})</h2><div class=\"buttons\">\
         <a href=\"{}\">Timeline</a><a href=\"{}\">Search here</a><a href=\"{}\">Forget…</a></div></div>\
         <ol class=\"cells\">{}</ol></section>",
        words::quantity(listed.count, "record"),
        format!("{:.1}", area.radius),
        format!("{:.1}", area.x),
        format!("{:.1}", area.y),
        filter.link("/", zone),
        filter.link("/search", zone),
        link("/forget", forget),
        listed.records.iter().map(|it| cell::of_any_day(it, &none)).collect::<Html>()
    ))
}

fn below_sightings(query: &str, sightings: &[Record]) -> Html {
    if query.is_empty() {
        return Html::default();
    }
    let none = Html::default();
    html!(
        "<section><h2>{} of {}</h2><ol class=\"cells\">{}</ol></section>",
        words::quantity(sightings.len(), "sighting"),
        query,
        sightings.iter().rev().map(|it| cell::of_any_day(it, &none)).collect::<Html>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::memory::Origin;

    #[test]
    fn the_map_with_most_records_comes_first() {
        let origin = |source: &str, map: &str, records| Origin {
            source: source.to_owned(),
            map_id: map.to_owned(),
            records,
        };
        let origins = vec![origin("a", "attic", 5), origin("a", "home", 4), origin("b", "home", 3)];
        assert_eq!(main_map(&Stats { records: 12, origins }), "home");
        assert_eq!(main_map(&Stats::default()), "");
    }
}
