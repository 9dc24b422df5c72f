//! How much was seen over a span of time, as a picture with an axis. Pure.

use chrono::{Datelike as _, NaiveDateTime, TimeDelta, Timelike as _};

use crate::base::time::{Timestamp, Zone};
use crate::page::html::{Html, html};
use crate::page::memory::Bucket;
use crate::page::views::words;

/// Bars at most: more are not told apart.
const BARS_MAX: usize = 240;
/// Height of the highest bar and where bars stand, in pixels.
const BAR_HEIGHT: f64 = 74.0;
const GROUND: f64 = 84.0;
/// Nothing seen for such a share of the span is drawn as a gap.
const GAP_SHARE: f64 = 0.012;

/// The span that is drawn, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Span {
    pub(super) fn seconds(self) -> f64 {
        (self.to - self.from).max(1e-6)
    }

    /// Where a moment lies, in percent of the width.
    fn at(self, seconds: f64) -> f64 {
        (100.0 * (seconds - self.from) / self.seconds()).clamp(0.0, 100.0)
    }

    /// The same centre with the length times so much.
    pub(super) fn zoomed(self, by: f64) -> Self {
        let half = (self.seconds() * by).max(2.0) / 2.0;
        let centre = f64::midpoint(self.from, self.to);
        Self { from: (centre - half).max(0.0), to: centre + half }
    }

    /// Later by a share of its length, or earlier.
    pub(super) fn moved(self, share: f64) -> Self {
        let by = self.seconds() * share;
        Self { from: (self.from + by).max(0.0), to: (self.to + by).max(1.0) }
    }
}

/// The picture; `link_of` says where a click on a part of it leads.
pub(super) fn draw(
    buckets: &[Bucket],
    span: Span,
    zone: Zone,
    link_of: impl Fn(Span) -> String,
) -> Html {
    let bars = joined(buckets, span);
    let highest = bars.iter().map(|it| it.count).max().unwrap_or(0).max(1) as f64;
    let bar = |bar: &Bucket| {
        let Bucket { start, end, count } = *bar;
        let (left, right) = (span.at(start), span.at(end));
        // Square roots: one record beside ten thousand is still seen.
        let height = (BAR_HEIGHT * (count as f64 / highest).sqrt()).max(3.0);
        let title = format!("{}, {}", range(start, end, zone), words::quantity(count, "record"));
        html!(
            "<a href=\"{}\" tabindex=\"-1\"><rect x=\"{}%\" width=\"{}%\" y=\"{}\" \
             height=\"{}\" rx=\"1\"><title>{}</title></rect></a>",
            link_of(Span { from: start, to: end }),
            format!("{left:.3}"),
            format!("{:.3}", (right - left).max(0.12)),
            format!("{:.1}", GROUND - height),
            format!("{height:.1}"),
            title
        )
    };
    let gap = |(from, to): (f64, f64)| {
        let title = format!("nothing seen for {}", words::duration(to - from));
        html!(
            "<rect x=\"{}%\" width=\"{}%\" y=\"{}\" height=\"6\"><title>{}</title></rect>",
            format!("{:.3}", span.at(from)),
            format!("{:.3}", span.at(to) - span.at(from)),
            GROUND - 6.0,
            title
        )
    };
    let tick = |tick: &Tick| {
        let x = format!("{:.3}%", span.at(tick.at));
        html!(
            "<line x1=\"{}\" x2=\"{}\" y1=\"4\" y2=\"{}\"/><text x=\"{}\" y=\"102\"{}>{}</text>",
            x,
            x,
            GROUND + 4.0,
            x,
            if tick.is_major { html!(" class=\"major\"") } else { Html::default() },
            tick.label
        )
    };
    let gaps = gaps(buckets, span);
    html!(
        "<svg class=\"density\" height=\"110\" width=\"100%\" aria-hidden=\"true\">\
         <g class=\"axis\">{}</g><g class=\"gaps\">{}</g><g class=\"bars\">{}</g></svg>",
        ticks(span, zone).iter().map(tick).collect::<Html>(),
        gaps.into_iter().map(gap).collect::<Html>(),
        bars.iter().map(bar).collect::<Html>()
    )
}

/// When a span begins and ends: `Fri 3 January 2025, 14:10 – 14:59`.
pub(super) fn range(from: f64, to: f64, zone: Zone) -> String {
    let time = |it: f64| Timestamp::from_seconds(it).unwrap_or(Timestamp::EPOCH);
    let (start, end) = (time(from), time((to - 1e-3).max(from)));
    let is_fine = to - from < 120.0;
    let (first, last) = (words::day(start, zone), words::day(end, zone));
    let (begins, ends) = (words::clock(start, zone, is_fine), words::clock(end, zone, is_fine));
    match (first == last, begins == ends) {
        (true, true) => format!("{first}, {begins}"),
        (true, false) => format!("{first}, {begins} – {ends}"),
        (false, _) if to - from > 4.0 * 86_400.0 => format!("{first} – {last}"),
        (false, _) => format!("{first} {begins} – {last} {ends}"),
    }
}

/// Neighbouring buckets together, so that there are few enough bars.
fn joined(buckets: &[Bucket], span: Span) -> Vec<Bucket> {
    let width = span.seconds() / BARS_MAX as f64;
    let mut bars: Vec<Bucket> = Vec::new();
    for bucket in buckets.iter().filter(|it| it.end > span.from && it.start < span.to) {
        match bars.last_mut() {
            Some(bar) if bucket.end - bar.start <= width => {
                bar.end = bucket.end;
                bar.count += bucket.count;
            }
            _ => bars.push(*bucket),
        }
    }
    bars
}

/// Where nothing was seen for long, also before the first and after the last.
fn gaps(buckets: &[Bucket], span: Span) -> Vec<(f64, f64)> {
    let least = span.seconds() * GAP_SHARE;
    let starts = [span.from].into_iter().chain(buckets.iter().map(|it| it.end));
    let ends = buckets.iter().map(|it| it.start).chain([span.to]);
    starts.zip(ends).filter(|(from, to)| to - from >= least).collect()
}

/// A place on the axis.
#[derive(Debug, Clone, PartialEq)]
struct Tick {
    at: f64,
    label: String,
    is_major: bool,
}

/// Steps of an axis: seconds, then days, then months.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Seconds(u32),
    Days(i64),
    Months(u32),
}

const STEPS: [(f64, Step); 24] = [
    (1.0, Step::Seconds(1)),
    (2.0, Step::Seconds(2)),
    (5.0, Step::Seconds(5)),
    (10.0, Step::Seconds(10)),
    (30.0, Step::Seconds(30)),
    (60.0, Step::Seconds(60)),
    (120.0, Step::Seconds(120)),
    (300.0, Step::Seconds(300)),
    (600.0, Step::Seconds(600)),
    (1_800.0, Step::Seconds(1_800)),
    (3_600.0, Step::Seconds(3_600)),
    (7_200.0, Step::Seconds(7_200)),
    (10_800.0, Step::Seconds(10_800)),
    (21_600.0, Step::Seconds(21_600)),
    (43_200.0, Step::Seconds(43_200)),
    (86_400.0, Step::Days(1)),
    (172_800.0, Step::Days(2)),
    (604_800.0, Step::Days(7)),
    (1_209_600.0, Step::Days(14)),
    (2_629_800.0, Step::Months(1)),
    (7_889_400.0, Step::Months(3)),
    (31_557_600.0, Step::Months(12)),
    (157_788_000.0, Step::Months(60)),
    (3_155_760_000.0, Step::Months(1_200)),
];

/// Labels on an axis at most.
const TICKS_MAX: f64 = 9.0;

fn ticks(span: Span, zone: Zone) -> Vec<Tick> {
    let is_wide_enough = |(seconds, _): &&(f64, Step)| span.seconds() / seconds <= TICKS_MAX;
    let step = STEPS.iter().find(is_wide_enough).map_or(Step::Months(1_200), |(_, step)| *step);
    let start = Timestamp::from_seconds(span.from).unwrap_or(Timestamp::EPOCH);
    let Some(mut wall) = floor(zone.wall(start), step) else { return Vec::new() };
    let mut ticks = Vec::new();
    // Twice as many as fit: a wall time may lie before the span.
    for _ in 0..40 {
        let at = zone.moment(wall).seconds();
        if at > span.to {
            break;
        }
        if at >= span.from {
            ticks.push(tick(at, wall, step));
        }
        let Some(next) = after(wall, step) else { break };
        wall = next;
    }
    ticks
}

fn tick(at: f64, wall: NaiveDateTime, step: Step) -> Tick {
    let is_midnight = wall.num_seconds_from_midnight() == 0;
    let (form, is_major) = match step {
        Step::Seconds(_) if is_midnight => ("%a %-d %b", true),
        Step::Seconds(seconds) if seconds < 60 => ("%H:%M:%S", false),
        Step::Seconds(_) => ("%H:%M", false),
        Step::Days(_) => ("%-d %b", wall.day() == 1),
        Step::Months(months) if months < 12 && wall.month() != 1 => ("%b", false),
        Step::Months(_) => ("%Y", true),
    };
    Tick { at, label: wall.format(form).to_string(), is_major }
}

/// The last whole step before a wall time.
fn floor(wall: NaiveDateTime, step: Step) -> Option<NaiveDateTime> {
    let midnight = wall.date().and_hms_opt(0, 0, 0)?;
    match step {
        Step::Seconds(seconds) => {
            let second = wall.num_seconds_from_midnight();
            midnight.checked_add_signed(TimeDelta::seconds(i64::from(second - second % seconds)))
        }
        Step::Days(days) => {
            let number = i64::from(wall.date().num_days_from_ce());
            // Weeks begin on Mondays, as the first day of the calendar does.
            midnight.checked_sub_signed(TimeDelta::days((number - 1).rem_euclid(days)))
        }
        Step::Months(months) => {
            let month = u32::try_from(wall.year()).ok()? * 12 + wall.month0();
            let month = month - month % months;
            let year = i32::try_from(month / 12).ok()?;
            chrono::NaiveDate::from_ymd_opt(year, month % 12 + 1, 1)?.and_hms_opt(0, 0, 0)
        }
    }
}

fn after(wall: NaiveDateTime, step: Step) -> Option<NaiveDateTime> {
    match step {
        Step::Seconds(seconds) => wall.checked_add_signed(TimeDelta::seconds(i64::from(seconds))),
        Step::Days(days) => wall.checked_add_signed(TimeDelta::days(days)),
        Step::Months(months) => wall.checked_add_months(chrono::Months::new(months)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc() -> Zone {
        Zone::from_name("UTC").unwrap()
    }

    fn at(text: &str) -> f64 {
        utc().parse(text, Timestamp::EPOCH).unwrap().seconds()
    }

    fn labels(from: &str, to: &str) -> Vec<String> {
        let span = Span { from: at(from), to: at(to) };
        ticks(span, utc()).into_iter().map(|it| it.label).collect()
    }

    #[test]
    fn an_axis_has_whole_steps_from_seconds_to_centuries() {
        let day = labels("2025-01-03 05:00:00", "2025-01-04 05:00:00");
        assert_eq!(
            day,
            ["06:00", "09:00", "12:00", "15:00", "18:00", "21:00", "Sat 4 Jan", "03:00"]
        );
        let seconds = labels("2025-01-03 09:14:58", "2025-01-03 09:15:06");
        assert_eq!(seconds.first().unwrap(), "09:14:58");
        assert_eq!(seconds.len(), 9);
        let months = labels("2024-09-20 00:00:00", "2025-05-20 00:00:00");
        assert_eq!(months, ["Oct", "Nov", "Dec", "2025", "Feb", "Mar", "Apr", "May"]);
        let weeks = labels("2025-01-01 00:00:00", "2025-02-01 00:00:00");
        assert_eq!(weeks, ["6 Jan", "13 Jan", "20 Jan", "27 Jan"], "Mondays");
        assert_eq!(labels("1980-01-01 00:00:00", "2010-01-01 00:00:00").first().unwrap(), "1980");
        assert!(labels("1970-01-01 00:00:00", "9990-01-01 00:00:00").len() > 3);
    }

    #[test]
    fn where_nothing_was_seen_is_a_gap() {
        let bucket = |start: f64| Bucket { start, end: start + 1.0, count: 1 };
        let span = Span { from: 0.0, to: 100.0 };
        let found = gaps(&[bucket(2.0), bucket(3.0), bucket(90.0)], span);
        assert_eq!(found, [(0.0, 2.0), (4.0, 90.0), (91.0, 100.0)]);
        assert_eq!(gaps(&[], span), [(0.0, 100.0)]);
    }

    #[test]
    fn no_more_bars_than_are_told_apart() {
        let buckets: Vec<Bucket> = (0..10_000)
            .map(|it| Bucket { start: f64::from(it), end: f64::from(it + 1), count: 2 })
            .collect();
        let bars = joined(&buckets, Span { from: 0.0, to: 10_000.0 });
        assert!(bars.len() <= BARS_MAX + 10, "{}", bars.len());
        assert_eq!(bars.iter().map(|it| it.count).sum::<usize>(), 20_000);
    }

    #[test]
    fn a_span_is_told_as_people_say_it() {
        let told = |from: &str, to: &str| range(at(from), at(to), utc());
        assert_eq!(
            told("2025-01-03 14:10:00", "2025-01-03 15:00:00"),
            "Fri 3 January 2025, 14:10 – 14:59"
        );
        assert_eq!(
            told("2025-01-03 14:10:00", "2025-01-03 14:10:10"),
            "Fri 3 January 2025, 14:10:00 – 14:10:09"
        );
        assert_eq!(
            told("2025-01-01 00:00:00", "2025-02-01 00:00:00"),
            "Wed 1 January 2025 – Fri 31 January 2025"
        );
    }
}
