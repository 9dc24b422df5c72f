//! Time as people say it: "yesterday morning", "last Monday", "before lunch",
//! "an hour ago". Finds such expressions in a text, and resolves them against a
//! moment in a zone.
//!
//! Pure. English, by closed lists of words; the calendar is chrono's.

mod calendar;
mod clock;
mod day_parts;
mod find;
mod from_now;
mod holidays;
pub(crate) mod slips;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;
use std::time::Duration;

use chrono::{Datelike as _, Days, Months, NaiveDate, NaiveDateTime, TimeDelta, Timelike as _};

use crate::base::time::{Timestamp, Window, Zone};
use crate::language::time::holidays::Holiday;

/// A time expression as it was said, not yet resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhraseTime {
    /// As written: "yesterday morning".
    pub text: String,
    days: Span,
    /// Part of the day; `None` for all of it.
    hours: Option<Hours>,
    side: Side,
}

/// A part of the day in minutes after midnight. The end is exclusive and may lie on
/// the next day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    pub start: u16,
    pub end: u16,
}

/// What a time expression means at a moment in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// From the first moment meant to the last one.
    pub window: Window,
    /// Within the window only these hours of each day.
    pub hours: Option<Hours>,
    /// Within the window only these weekdays, Monday first.
    pub weekdays: Option<[bool; 7]>,
}

/// A time expression and its place in the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub at: Range<usize>,
    pub time: PhraseTime,
}

/// Which days, counted from that of the present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    /// No day was said: "in the morning", "at night".
    Unsaid,
    /// Such hours of every day: "every morning", "mornings".
    Daily,
    /// Every day of these weekdays, Monday first: "on weekends".
    Weekly([bool; 7]),
    /// The latest such hours that have begun: "before lunch", "at ten".
    Latest,
    /// From so many days back to so many, both whole: "yesterday" is 1 to 1.
    Back { first: u32, last: u32 },
    /// From so long ago to so long ago: "an hour ago".
    Elapsed { first: Duration, last: Duration },
    /// The latest such weekday before today, and so many weeks more.
    Weekday { weekday: u32, weeks: u32 },
    /// That day of the week that lies so many weeks back.
    InWeek { weekday: u32, weeks: u32 },
    /// Monday to Sunday, so many weeks back.
    Week { back: u32 },
    /// The latest Saturday and Sunday that have begun, or that are over, and so many weeks
    /// more.
    Weekend { back: u32, is_over: bool },
    /// The month so many months back.
    Month { back: u32 },
    /// The latest month of this number that has begun; of that year where it is said.
    MonthNamed { month: u32, year: Option<i32> },
    /// The latest such day that has begun; of that year where it is said.
    Date { year: Option<i32>, month: u32, day: u32 },
    /// The latest such day that has begun, or the days around it.
    Holiday { day: Holiday, is_around: bool },
    /// The latest day of that number that has begun: "on the 3rd".
    DayOfMonth { day: u32 },
}

/// Whether the time itself is meant, or what came before or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Within,
    /// "until Monday", "before yesterday": ends where it starts.
    Before,
    /// "since Monday": starts where it starts.
    Since,
    /// "after Monday": starts where it ends.
    After,
}

/// The time expressions of a text, in their order.
pub fn find(text: &str) -> Vec<Found> {
    find::find(text)
}

/// Whether a word is a unit of time: "minutes"; a part of the day is none.
pub(crate) fn is_unit(word: &str) -> bool {
    words::UNITS.iter().any(|(name, unit)| *name == word && !matches!(unit, words::Unit::Part(_)))
}

/// Whether a word is a number: "five", "5".
pub fn is_number(word: &str) -> bool {
    find::number(word).is_some()
}

/// Puts together what was said apart: the day of one expression and the hours of
/// another ("on the desk *yesterday*, some time *in the morning*").
pub fn combine(times: Vec<PhraseTime>) -> Vec<PhraseTime> {
    let mut whole: Vec<PhraseTime> = Vec::new();
    for time in times {
        match whole.iter_mut().find_map(|it| it.with(&time).map(|both| (it, both))) {
            Some((it, both)) => *it = both,
            None => whole.push(time),
        }
    }
    whole
}

impl PhraseTime {
    /// What it means at the moment `now` in `zone`.
    pub fn resolve(&self, now: Timestamp, zone: Zone) -> When {
        let weekdays = match self.days {
            Span::Weekly(days) => Some(days),
            Span::Unsaid
            | Span::Daily
            | Span::Latest
            | Span::Back { .. }
            | Span::Elapsed { .. }
            | Span::Weekday { .. }
            | Span::InWeek { .. }
            | Span::Week { .. }
            | Span::Weekend { .. }
            | Span::Month { .. }
            | Span::MonthNamed { .. }
            | Span::Date { .. }
            | Span::Holiday { .. }
            | Span::DayOfMonth { .. } => None,
        };
        let Some((first, last)) = self.bounds(now, zone) else {
            return When { window: Window::ALL, hours: self.hours, weekdays };
        };
        let one_day = matches!(self.days, Span::Elapsed { .. }) || last.since(first) <= LONG_DAY;
        let hours = if one_day { None } else { self.hours };
        let just_before = |it: Timestamp| it.minus(Duration::from_micros(1));
        let (start, end) = match self.side {
            Side::Within => (Some(first), Some(just_before(last))),
            Side::Before => (None, Some(just_before(first))),
            Side::Since => (Some(first), None),
            Side::After => (Some(last), None),
        };
        let window = Window::new(start, end).unwrap_or_default();
        When { window, hours, weekdays }
    }

    /// Whether it names a habit rather than an occasion: "every morning", "on weekends",
    /// and also "in the morning" where no day is said.
    pub fn is_recurring(&self) -> bool {
        matches!(self.days, Span::Unsaid | Span::Daily | Span::Weekly(_))
    }

    /// The latest occasion where no day was said: "in the morning" of something that
    /// happened once.
    #[must_use]
    pub fn once(self) -> Self {
        let days = if self.days == Span::Unsaid { Span::Latest } else { self.days };
        Self { days, ..self }
    }

    /// Such hours of every day, where it says hours and no day: "before lunch" of what is
    /// done as a rule.
    #[must_use]
    pub fn habitual(self) -> Self {
        let is_part = self.hours.is_some() && matches!(self.days, Span::Unsaid | Span::Latest);
        let days = if is_part { Span::Daily } else { self.days };
        Self { days, ..self }
    }

    /// The same time of the clock in the other half of the day, where nothing says in which: "at six".
    pub fn in_other_half(&self) -> Option<Self> {
        let hours = self.hours.filter(|it| it.end - it.start <= CLOCK_MINUTES_MAX)?;
        let lower = self.text.to_lowercase();
        let mut words = lower.split(|c: char| c.is_whitespace() || c == ',');
        // "at 18:30", "at 06:00"
        let hour = |word: &str| word.split([':', '.']).next().and_then(|it| it.parse::<u16>().ok());
        let tells = |word: &str| {
            words::PARTS.iter().any(|(part, ..)| word.ends_with(part))
                || word.starts_with('0')
                || word.ends_with("am")
                || word.ends_with("pm")
                || word.ends_with("a.m")
                || word.ends_with("p.m")
                || word == "tonight"
                || word.contains(':') && hour(word).is_some_and(|it| it > 12)
        };
        let is_clock = |it: &str| is_number(it) || it.contains(':') || it.ends_with("clock");
        if !lower.split(' ').any(is_clock) || words.any(tells) {
            return None;
        }
        let start =
            if hours.start < DAY / 2 { hours.start + DAY / 2 } else { hours.start - DAY / 2 };
        let hours = Hours { start, end: start + hours.end - hours.start };
        Some(Self { hours: Some(hours), ..self.clone() })
    }

    /// The moments meant, the last one exclusive; `None` where there is no bound.
    fn bounds(&self, now: Timestamp, zone: Zone) -> Option<(Timestamp, Timestamp)> {
        let wall = zone.wall(now);
        let today = wall.date();
        let back = |days: u32| today.checked_sub_days(Days::new(u64::from(days)));
        let weekday = today.weekday().num_days_from_monday();
        let (first, last) = match self.days {
            Span::Unsaid | Span::Daily | Span::Weekly(_) => return None,
            Span::Elapsed { first, last } => return Some((now.minus(first), now.minus(last))),
            Span::Latest => {
                let start = self.hours.map_or(0, |hours| hours.start);
                let minute = wall.num_seconds_from_midnight() / 60;
                let day = if minute < u32::from(start) { back(1) } else { back(0) };
                (day, day)
            }
            Span::Back { first, last } => (back(first), back(last)),
            Span::Weekday { weekday: named, weeks } => {
                // On a Monday "last Monday" is that of a week ago.
                let days = (weekday + 6 - named) % 7 + 1 + 7 * weeks;
                (back(days), back(days))
            }
            Span::InWeek { weekday: named, weeks } => {
                let day = back(weekday + 7 * weeks)?.checked_add_days(Days::new(u64::from(named)));
                (day, day)
            }
            Span::Week { back: weeks } => {
                let monday = back(weekday + 7 * weeks)?;
                (Some(monday), monday.checked_add_days(Days::new(6)))
            }
            Span::Weekend { back: weeks, is_over } => {
                let is_under_way = is_over && weekday >= 5;
                let saturday = back((weekday + 2) % 7 + 7 * (weeks + u32::from(is_under_way)))?;
                (Some(saturday), saturday.checked_add_days(Days::new(1)))
            }
            Span::Month { back: months } => {
                let first = today.with_day(1)?.checked_sub_months(Months::new(months))?;
                (Some(first), last_of_month(first))
            }
            Span::MonthNamed { month, year } => {
                let first = latest(today, year, |year| NaiveDate::from_ymd_opt(year, month, 1))?;
                (Some(first), last_of_month(first))
            }
            Span::Date { year, month, day } => {
                let day = latest(today, year, |year| NaiveDate::from_ymd_opt(year, month, day));
                (day, day)
            }
            Span::Holiday { day, is_around } => {
                let (before, after) = if is_around { day.around() } else { (0, 0) };
                let begins = |year| day.in_year(year)?.checked_sub_days(Days::new(before));
                let first = latest(today, None, begins)?;
                (Some(first), first.checked_add_days(Days::new(before + after)))
            }
            Span::DayOfMonth { day } => {
                let first = today.with_day(1)?;
                let of = |back| first.checked_sub_months(Months::new(back))?.with_day(day);
                let day = (0..3).filter_map(of).find(|it| *it <= today);
                (day, day)
            }
        };
        let (first, last) = (midnight(first?), midnight(last?));
        let whole = Hours { start: 0, end: DAY };
        // The hours of several days are no span of time.
        let hours = if first == last { self.hours.unwrap_or(whole) } else { whole };
        let minutes = |minutes: u16| TimeDelta::minutes(i64::from(minutes));
        let (first, last) = (first + minutes(hours.start), last + minutes(hours.end));
        Some((zone.moment(first), zone.moment(last)))
    }

    /// Both as one, where one says the day and the other the hours.
    fn with(&self, other: &Self) -> Option<Self> {
        let (day, part) = match (self.is_part(), other.is_part()) {
            (false, true) => (self, other),
            (true, false) => (other, self),
            (true, true) | (false, false) => return None,
        };
        let takes = day.hours.is_none() && !matches!(day.days, Span::Elapsed { .. });
        let text = format!("{} {}", self.text, other.text);
        let side = if part.side == Side::Within { day.side } else { part.side };
        takes.then_some(Self { text, days: day.days, hours: part.hours, side })
    }

    /// Whether it says hours and no day.
    fn is_part(&self) -> bool {
        self.hours.is_some() && matches!(self.days, Span::Unsaid | Span::Latest | Span::Daily)
    }
}

impl When {
    /// Whether what lasted from `first` to `last` falls into it.
    pub fn holds(&self, first: Timestamp, last: Timestamp, zone: Zone) -> bool {
        let fits = |time: Timestamp| {
            let wall = zone.wall(time);
            let in_hours = self.hours.is_none_or(|hours| hours.hold(wall));
            // The small hours belong to the night of the day before.
            let night_before = self.hours.is_some_and(|hours| {
                wall.num_seconds_from_midnight() / 60 < u32::from(hours.end.saturating_sub(DAY))
            });
            let day = wall.weekday().num_days_from_monday() + if night_before { 6 } else { 0 };
            let on_day = |days: [bool; 7]| days.get(day as usize % 7).copied().unwrap_or(false);
            in_hours && self.weekdays.is_none_or(on_day)
        };
        self.window.touches(first, last) && (fits(first) || fits(last))
    }
}

impl Hours {
    fn hold(self, wall: NaiveDateTime) -> bool {
        let minute = wall.num_seconds_from_midnight() / 60;
        let within = u32::from(self.start)..u32::from(self.end);
        within.contains(&minute) || within.contains(&(minute + u32::from(DAY)))
    }
}

/// Most minutes that a time of the clock means.
const CLOCK_MINUTES_MAX: u16 = 122;

/// Minutes of a day.
const DAY: u16 = 24 * 60;

/// A day and the night after it; longer windows keep their hours apart.
const LONG_DAY: Duration = Duration::from_hours(37);

fn midnight(day: NaiveDate) -> NaiveDateTime {
    day.and_time(chrono::NaiveTime::MIN)
}

fn last_of_month(first: NaiveDate) -> Option<NaiveDate> {
    first.checked_add_months(Months::new(1))?.pred_opt()
}

/// The day in that year, else the latest one that is not after today. Eight years hold
/// a 29 February.
fn latest(
    today: NaiveDate,
    year: Option<i32>,
    of: impl Fn(i32) -> Option<NaiveDate>,
) -> Option<NaiveDate> {
    match year {
        Some(year) => of(year),
        None => (0..=8).filter_map(|back| of(today.year() - back)).find(|it| *it <= today),
    }
}
