//! Finds time expressions in a text, word by word.
//!
//! Pure. An expression is a few atoms that stand together ("yesterday" + "at ten");
//! each atom is one of the closed forms below.

use std::ops::Range;
use std::time::Duration;

use crate::language::time::holidays::BY_NAME;
use crate::language::time::words::{
    EVENTS, FEW, JOINS, MONTHS, Occasion, PARTS, UNITS, Unit, WEEKDAYS,
};
use crate::language::time::{Found, Hours, PhraseTime, Side, Span};
use crate::language::words;

/// Expressions taken from one text.
const FOUND_MAX: usize = 16;

pub(super) fn find(text: &str) -> Vec<Found> {
    let words = Words::of(text);
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < words.0.len() && found.len() < FOUND_MAX {
        let Some(first) = words.atom(at) else {
            at += 1;
            continue;
        };
        let start = at;
        at = first.end;
        let mut whole = first;
        while let Some(joined) = words.next_joined(&whole) {
            at = joined.end;
            whole = joined;
        }
        let Some(range) = words.range(start..at) else { continue };
        let text = text.get(range.clone()).unwrap_or_default().to_owned();
        let Atom { days, hours, side, .. } = whole;
        // Hours alone that are not said to recur: their latest occasion.
        let days = days.unwrap_or(Span::Latest);
        found.push(Found { at: range, time: PhraseTime { text, days, hours, side } });
    }
    found
}

/// Part of an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Atom {
    /// The word after it.
    end: usize,
    days: Option<Span>,
    hours: Option<Hours>,
    side: Side,
}

impl Atom {
    fn days(end: usize, days: Span) -> Self {
        Self { end, days: Some(days), hours: None, side: Side::Within }
    }

    pub(super) fn hours(end: usize, hours: Hours) -> Self {
        Self { end, days: None, hours: Some(hours), side: Side::Within }
    }

    fn on(self, days: Span) -> Self {
        Self { days: Some(days), ..self }
    }

    fn within(self, hours: Hours) -> Self {
        Self { hours: Some(hours), ..self }
    }

    fn side(self, side: Side) -> Self {
        Self { side, ..self }
    }

    /// One that says no day of its own, or a habit.
    fn is_part(self) -> bool {
        matches!(self.days, None | Some(Span::Unsaid | Span::Daily))
    }
}

/// A text's words in lower case with their places.
pub(super) struct Words(Vec<(String, Range<usize>)>);

impl Words {
    fn of(text: &str) -> Self {
        let mut words = Vec::new();
        let mut start = None;
        let ends = text.char_indices().chain([(text.len(), ' ')]);
        for (at, c) in ends {
            let in_word = c.is_alphanumeric() || matches!(c, '\'' | '’' | ':' | '-' | '.' | '/');
            match (in_word, start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    start = None;
                    let raw = text.get(from..at).unwrap_or_default();
                    let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
                    let skipped =
                        raw.len() - raw.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
                    let from = from + skipped;
                    if !word.is_empty() {
                        let range = from..from + word.len();
                        words.push((word.to_lowercase().replace('’', "'"), range));
                    }
                    if c == ',' || raw.ends_with([':', '.']) && !word.contains('.') {
                        words.push((",".to_owned(), at..at));
                    }
                }
                (true, Some(_)) | (false, None) => {}
            }
        }
        Self(words)
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.0.get(at).map_or("", |(word, _)| word.as_str())
    }

    fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    fn range(&self, words: Range<usize>) -> Option<Range<usize>> {
        let first = &self.0.get(words.start)?.1;
        let last = &self.0.get(words.end.checked_sub(1)?)?.1;
        Some(first.start..last.end)
    }

    pub(super) fn is(&self, at: usize, of: &[&str]) -> bool {
        of.contains(&self.word(at))
    }

    /// The word after `at` where one of `of` stands there, else `at`.
    pub(super) fn past(&self, at: usize, of: &[&str]) -> usize {
        if self.is(at, of) { at + 1 } else { at }
    }

    /// What stands next to `whole` and completes it: its hours, its day.
    fn next_joined(&self, whole: &Atom) -> Option<Atom> {
        let mut at = whole.end;
        while self.is(at, JOINS) && at < whole.end + 2 {
            at += 1;
        }
        let next = (whole.end..=at).find_map(|at| self.atom(at))?;
        let joined = Atom { end: next.end, ..*whole };
        match (whole.days, next.days) {
            // "Monday last week", "last week on Monday"
            (Some(Span::Weekday { weekday, .. }), Some(Span::Week { back })) => {
                Some(joined.on(Span::InWeek { weekday, weeks: back }))
            }
            (Some(Span::Week { back }), Some(Span::Weekday { weekday, .. })) => {
                let hours = next.hours.or(whole.hours);
                Some(Atom { hours, ..joined.on(Span::InWeek { weekday, weeks: back }) })
            }
            _ if whole.hours.is_some() && next.hours.is_some() => {
                // "at ten in the morning", "this morning at ten", "before lunch in the morning"
                let (a, b) = (whole.hours?, next.hours?);
                let hours = a.narrow(b)?;
                let days = match (whole.is_part(), next.is_part()) {
                    (_, true) => whole.days.or(next.days),
                    (true, false) => next.days,
                    (false, false) => return None,
                };
                Some(Atom { days, hours: Some(hours), ..joined })
            }
            _ if whole.hours.is_some() && whole.is_part() && next.hours.is_none() => {
                matches!(next.side, Side::Within).then_some(())?;
                next.takes_hours().then_some(Atom { days: next.days, ..joined })
            }
            _ if whole.hours.is_none() && next.hours.is_some() && next.is_part() => {
                let side = if next.side == Side::Within { whole.side } else { next.side };
                whole.takes_hours().then_some(Atom { hours: next.hours, side, ..joined })
            }
            _ => None,
        }
    }

    /// The atom that begins at a word.
    fn atom(&self, at: usize) -> Option<Atom> {
        // "most recently" is no time, "the morning paper" no morning.
        self.read_side(at)
            .or_else(|| self.day(at))
            .or_else(|| self.ago(at))
            .or_else(|| self.rolling(at))
            .or_else(|| self.relative(at))
            .or_else(|| self.weekday(at))
            .or_else(|| self.holiday(at))
            .or_else(|| self.date(at))
            .or_else(|| self.occasion(at))
            .or_else(|| self.part(at))
            .or_else(|| self.clock(at))
            .or_else(|| self.vague(at))
    }

    /// "since Monday", "until yesterday evening", "before the weekend".
    fn read_side(&self, at: usize) -> Option<Atom> {
        let side = match self.word(at) {
            "since" => Side::Since,
            "until" | "till" | "before" => Side::Before,
            "after" => Side::After,
            _ => return None,
        };
        let start = self.past(at + 1, &["the", "about", "around"]);
        let it = self
            .day(start)
            .or_else(|| self.ago(start))
            .or_else(|| self.relative(start))
            .or_else(|| self.weekday(start))
            .or_else(|| self.holiday(start))
            .or_else(|| self.date(start))?;
        Some(it.side(side))
    }

    /// "today", "yesterday", "the day before yesterday", "tonight".
    fn day(&self, at: usize) -> Option<Atom> {
        let back = |end, days| Atom::days(end, Span::Back { first: days, last: days });
        let article = self.past(at, &["the", "on"]);
        let article = self.past(article, &["the"]);
        if self.word(article) == "day" && self.word(article + 1) == "before" {
            return match self.word(article + 2) {
                "yesterday" | "last" => Some(back(article + 3, 2)),
                _ => None,
            };
        }
        if self.word(article) == "night" && self.word(article + 1) == "before" {
            let night = part("night")?;
            return (self.word(article + 2) == "last")
                .then(|| back(article + 3, 2).within(night))
                .or_else(|| Some(back(article + 2, 1).within(night)));
        }
        if article > at && self.word(article) == "other" {
            return match self.word(article + 1) {
                "day" => Some(Atom::days(article + 2, Span::Back { first: 7, last: 1 })),
                it => {
                    let hours = part(it)?;
                    let days = Span::Back { first: 7, last: 1 };
                    Some(Atom::days(article + 2, days).within(hours))
                }
            };
        }
        let modified = self.past(at, &["earlier", "early", "late", "later"]);
        match self.word(modified) {
            "today" => Some(back(modified + 1, 0)),
            "yesterday" | "yesterday's" => {
                let hours = match self.before(modified) {
                    "early" if modified > at => part("early morning"),
                    "late" if modified > at => part("evening"),
                    _ => None,
                };
                Some(Atom { hours, ..back(modified + 1, 1) })
            }
            "tonight" => Some(back(at + 1, 0).within(part("night")?)),
            "nowadays" => Some(Atom::days(at + 1, LATELY)),
            _ => None,
        }
    }

    /// "an hour ago", "two days earlier", "a few minutes back", "half an hour ago".
    fn ago(&self, at: usize) -> Option<Atom> {
        let start =
            self.past(at, &["about", "around", "roughly", "some", "maybe", "over", "almost"]);
        let (least, most, next, unit) = self.quantity(start)?;
        if !self.is(next, &["ago", "earlier", "back", "before"]) {
            return None;
        }
        if self.word(next) == "before" && self.word(next + 1) != "now" {
            return None;
        }
        let end = next + 1 + usize::from(self.word(next) == "before");
        let days = |unit: u32, slack: u32| {
            let first = most.saturating_mul(unit).saturating_add(slack);
            Span::Back { first, last: least.saturating_mul(unit).saturating_sub(slack) }
        };
        let elapsed = |unit: u64, slack_least: u64| {
            let (first, last) = (u64::from(most) * unit, u64::from(least) * unit);
            let slack = slack_least.max(first / 5);
            let seconds = Duration::from_secs;
            let last = seconds(last.saturating_sub(slack));
            Span::Elapsed { first: seconds(first + slack), last }
        };
        Some(match unit {
            Unit::Seconds => Atom::days(end, elapsed(1, 60)),
            Unit::Minutes => Atom::days(end, elapsed(60, 300)),
            Unit::HalfHours => Atom::days(end, elapsed(1_800, 600)),
            Unit::Hours => Atom::days(end, elapsed(3_600, 1_800)),
            Unit::Days => Atom::days(end, days(1, 0)),
            Unit::Weeks => Atom::days(end, days(7, 1)),
            Unit::Weekends => {
                Atom::days(end, Span::Weekend { back: least.saturating_sub(1), is_over: true })
            }
            Unit::Months => Atom::days(end, days(30, 7)),
            Unit::Years => Atom::days(end, days(365, 60)),
            Unit::Part(name) => Atom::days(end, days(1, 0)).within(part(name)?),
        })
    }

    /// "in the last two hours", "over the past few days", "these last days".
    fn rolling(&self, at: usize) -> Option<Atom> {
        let preposition = self.past(at, &["in", "within", "over", "during", "for", "throughout"]);
        let article = self.past(preposition, &["the", "these"]);
        if article == at || !self.is(article, &["last", "past", "previous"]) {
            return None;
        }
        let (_, most, end, unit) = self
            .quantity(article + 1)
            .or_else(|| Some((1, 1, article + 2, self.unit(article + 1)?)))?;
        let seconds = match unit {
            Unit::Seconds => 1,
            Unit::Minutes => 60,
            Unit::HalfHours => 1_800,
            Unit::Hours => 3_600,
            // "the last night", "the past mornings"
            Unit::Part(_) if preposition == at => return None,
            Unit::Days | Unit::Part(_) => 86_400,
            Unit::Weekends => return None,
            Unit::Weeks => 604_800,
            Unit::Months => 30 * 86_400,
            Unit::Years => 365 * 86_400,
        };
        let first = Duration::from_secs(u64::from(most) * seconds);
        Some(Atom::days(end, Span::Elapsed { first, last: Duration::ZERO }))
    }

    /// "last week", "this morning", "last Monday", "this weekend", "earlier this week".
    fn relative(&self, at: usize) -> Option<Atom> {
        let modified = self.past(at, &["earlier", "late", "early", "later", "during", "over"]);
        let said = self.past(modified, &["the"]);
        let (is_last, named) = match self.word(said) {
            "last" | "previous" => (true, said + 1),
            // "this past weekend"
            "this" if self.is(said + 1, &["past", "last"]) => (true, said + 2),
            "this" => (false, said + 1),
            _ => return None,
        };
        let end = named + 1;
        let is_early = self.word(named) == "early"
            || self.word(modified.wrapping_sub(1)) == "early" && modified > at;
        let back = u32::from(is_last);
        if let Some(weekday) = weekday(self.word(named)) {
            let weeks = Span::Weekday { weekday, weeks: 0 };
            let this = Span::InWeek { weekday, weeks: 0 };
            return Some(Atom::days(end, if is_last { weeks } else { this }));
        }
        match self.word(named) {
            "week" => return Some(Atom::days(end, Span::Week { back })),
            "weekend" => {
                return Some(Atom::days(end, Span::Weekend { back: 0, is_over: is_last }));
            }
            "month" => return Some(Atom::days(end, Span::Month { back })),
            _ => {}
        }
        let (name, end) = match self.word(named) {
            "early" | "late" => (self.word(named + 1), end + 1),
            name => (name, end),
        };
        let hours = match (name, is_early) {
            ("morning", true) => part("early morning")?,
            _ => part(name)?,
        };
        // "this night" is the coming one or the last one; what was seen was in the last.
        let back = u32::from(is_last || name == "night");
        Some(Atom::days(end, Span::Back { first: back, last: back }).within(hours))
    }

    /// "on Monday", "Tuesdays", "every Friday", "the Monday before last", "at weekends".
    fn weekday(&self, at: usize) -> Option<Atom> {
        let start = self.past(at, &["on", "at", "over", "during"]);
        let start = self.past(start, &["the"]);
        let is_every = self.is(start, &["every", "each", "most"]);
        let named = if is_every { start + 1 } else { start };
        let (word, end) = (self.word(named), named + 1);
        let only = |of: &[usize]| {
            let mut days = [false; 7];
            for at in of {
                if let Some(day) = days.get_mut(*at) {
                    *day = true;
                }
            }
            Span::Weekly(days)
        };
        match word {
            "weekends" => return Some(Atom::days(end, only(&[5, 6]))),
            "weekend" if is_every => return Some(Atom::days(end, only(&[5, 6]))),
            "weekend" if named > at => {
                let is_last_but_one = self.word(end) == "before" && self.word(end + 1) == "last";
                let back = u32::from(is_last_but_one);
                let end = end + 2 * usize::from(is_last_but_one);
                return Some(Atom::days(end, Span::Weekend { back, is_over: is_last_but_one }));
            }
            "weekdays" | "workdays" => return Some(Atom::days(end, only(&[0, 1, 2, 3, 4]))),
            "weekday" | "workday" if is_every => {
                return Some(Atom::days(end, only(&[0, 1, 2, 3, 4])));
            }
            "day" if is_every => return Some(Atom::days(end, Span::Daily)),
            _ => {}
        }
        if let Some(day) = word.strip_suffix('s').and_then(weekday) {
            return Some(Atom::days(end, only(&[day as usize])));
        }
        // "sat" and "sun" are words of their own; only whole names stand alone.
        let day = weekday(word).filter(|_| named > at || word.len() > 5)?;
        if is_every {
            return Some(Atom::days(end, only(&[day as usize])));
        }
        let before_last = self.word(end) == "before" && self.word(end + 1) == "last";
        let weeks = u32::from(before_last);
        let end = if before_last { end + 2 } else { end };
        Some(Atom::days(end, Span::Weekday { weekday: day, weeks }))
    }

    /// "on Christmas Eve", "at Christmas", "from Easter". "The Christmas lights" are no time.
    fn holiday(&self, at: usize) -> Option<Atom> {
        let start = self.past(at, &["on", "at", "over", "during", "last", "from", "for", "this"]);
        let is_last = self.word(at) != "last" && self.is(start, &["last", "this"]);
        let start = self.past(start + usize::from(is_last), &["the"]);
        let is_said = |name: &[&str]| start > at || name.len() > 1;
        let mut said = BY_NAME.iter().filter(|(name, _)| is_said(name));
        let (end, day) =
            said.find_map(|(name, day)| Some((self.holiday_end(start, name)?, day)))?;
        let is_around = self.is(at, &["at", "over", "during", "from"]);
        let days = Span::Holiday { day: *day, is_around };
        Some(Atom::days(end, days))
    }

    /// The word after a holiday's name that stands at one, whatever its apostrophes: "St. Patrick's Day".
    fn holiday_end(&self, start: usize, name: &[&str]) -> Option<usize> {
        let mut at = start;
        for word in name {
            if self.word(at) == "," && self.is(at.wrapping_sub(1), &["st"]) {
                at += 1;
            }
            let said = self.word(at).replace('\'', "");
            let said = if said == "saint" { "st" } else { said.as_str() };
            if said != *word {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    /// "2025-01-03", "January 3rd", "on the 3rd of January", "3 Jan", "the 3rd", "in May".
    fn date(&self, at: usize) -> Option<Atom> {
        let start = self.past(at, &["on", "in", "during", "back"]);
        let start = self.past(start, &["the"]);
        let word = self.word(start);
        if let Some((year, month, day)) = iso_date(word) {
            return Some(Atom::days(start + 1, Span::Date { year: Some(year), month, day }));
        }
        let year = |at: usize| {
            let at = self.past(at, &[","]);
            let digits = self.word(at);
            let year: i32 = digits.parse().ok()?;
            (digits.len() == 4 && (1970..=9999).contains(&year)).then_some((year, at + 1))
        };
        let dated = |month, day, end| {
            let (year, end) = year(end).map_or((None, end), |(year, end)| (Some(year), end));
            Some(Atom::days(end, Span::Date { year, month, day }))
        };
        if let Some(month) = month(word) {
            let next = self.past(start + 1, &["the"]);
            if let Some(day) = ordinal(self.word(next)) {
                return dated(month, day, next + 1);
            }
            // "may" and "march" are verbs, too.
            let is_named = self.word(at) == "in" || self.word(at) == "during";
            let (year, end) = year(start + 1).map_or((None, start + 1), |(y, end)| (Some(y), end));
            return is_named.then(|| Atom::days(end, Span::MonthNamed { month, year }));
        }
        let day = ordinal(word)?;
        let next = self.past(start + 1, &["of"]);
        if let Some(month) = month(self.word(next)) {
            return dated(month, day, next + 1);
        }
        let is_ordinal = word.ends_with(|c: char| c.is_alphabetic());
        // "the 3rd shelf" is no day.
        let ends = self.is(start + 1, &["", ",", "at", "in", "before", "after", "around"]);
        (is_ordinal && ends && start >= at + 2)
            .then(|| Atom::days(start + 1, Span::DayOfMonth { day }))
    }

    /// "in the morning", "at night", "every evening", "mornings", "all afternoon".
    fn part(&self, at: usize) -> Option<Atom> {
        let start = self.past(at, &["in", "at", "during", "by", "over", "around", "towards"]);
        let start = self.past(start, &["the"]);
        // "of a morning" is every morning.
        let is_of = self.word(start) == "of" && self.is(start + 1, &["a", "an"]);
        let start = if is_of { start + 1 } else { start };
        let is_every = is_of || self.is(start, &["every", "each", "most"]);
        let is_all = self.word(start) == "all" || self.word(start) == "whole";
        let start = if is_every || is_all { start + 1 } else { start };
        let start = self.past(start, &["the"]);
        let modified = self.past(start, &["early", "late", "mid"]);
        let word = self.word(modified);
        let (singular, is_plural) = match word.strip_suffix('s') {
            Some(one) if part(one).is_some() => (one, true),
            _ => (word, false),
        };
        let mut hours = part(singular)?;
        let mut end = modified + 1;
        if let ("early" | "late", true) = (self.word(start), modified > start) {
            hours = part(&format!("{} {singular}", self.word(start))).unwrap_or(hours);
        }
        if self.word(end) == "time" {
            end += 1;
        }
        // Something must say that a time is meant, and not a morning coat.
        let stands = modified > at
            || is_plural
            || self.before(at) == "yesterday"
            || self.before(at).ends_with("day");
        if !stands {
            return None;
        }
        let days = if is_every || is_plural {
            Span::Daily
        } else if is_all {
            Span::Latest
        } else {
            Span::Unsaid
        };
        Some(Atom::hours(end, hours).on(days))
    }

    /// "before lunch", "at breakfast", "after dinner", "at lunchtime", "over lunch".
    fn occasion(&self, at: usize) -> Option<Atom> {
        let start = self.past(at, &["right", "just", "shortly", "sometime"]);
        let preposition = self.word(start);
        let known =
            ["before", "after", "during", "at", "over", "around", "by", "for", "since", "until"];
        if !known.contains(&preposition) {
            return None;
        }
        let named = self.past(start + 1, &["the", "my", "your", "our"]);
        let (event, end) = if self.word(named) == "going" && self.word(named + 1) == "to" {
            (self.word(named + 2), named + 3)
        } else {
            (self.word(named), named + 1)
        };
        let event = event.strip_suffix("time").filter(|it| !it.is_empty()).unwrap_or(event);
        let end = if self.word(end) == "time" { end + 1 } else { end };
        let occasion = EVENTS.iter().find(|it| it.name == event)?;
        // "by my bed"
        if named > start + 1 && occasion.is_place() {
            return None;
        }
        let hours = occasion.hours(preposition)?;
        Some(Atom::hours(end, hours))
    }

    /// "recently", "just now", "a while ago", "earlier".
    fn vague(&self, at: usize) -> Option<Atom> {
        let is_degree = self.is(at.wrapping_sub(1), &["most", "more", "least", "less"]);
        let elapsed = |end, seconds| {
            let first = Duration::from_secs(seconds);
            Some(Atom::days(end, Span::Elapsed { first, last: Duration::ZERO }))
        };
        match (self.word(at), self.word(at + 1)) {
            ("recently", _) if !is_degree => elapsed(at + 1, 3 * 86_400),
            ("lately", _) => Some(Atom::days(at + 1, LATELY)),
            ("these", "days") => Some(Atom::days(at + 2, LATELY)),
            ("just" | "right", "now") => elapsed(at + 2, 1_800),
            ("earlier", _) => Some(Atom::days(at + 1, Span::Back { first: 0, last: 0 })),
            ("all", "day") => Some(Atom::days(at + 2, Span::Back { first: 0, last: 0 })),
            ("all" | "the", "week") if self.word(at) == "all" => {
                Some(Atom::days(at + 2, Span::Week { back: 0 }))
            }
            ("first", "thing") => {
                let end = self.past(at + 2, &["in"]);
                let end = if end > at + 2 { self.past(end, &["the"]) } else { end };
                let hours = part("early morning")?;
                let said = self.word(end) == "morning" || self.word(end) == "mornings";
                let every = self.word(end) == "mornings";
                let days = if every { Span::Daily } else { Span::Unsaid };
                let end = if said { end + 1 } else { at + 2 };
                Some(Atom::hours(end, hours).on(days))
            }
            _ => None,
        }
    }

    /// A number of units: least, most, the word after it, and the unit.
    fn quantity(&self, at: usize) -> Option<(u32, u32, usize, Unit)> {
        if self.word(at) == "half" && self.is(at + 1, &["an", "a"]) && self.word(at + 2) == "hour" {
            return Some((1, 1, at + 3, Unit::HalfHours));
        }
        let few = self.past(at, &["a", "the", "last", "past"]);
        if let Some((_, least, most)) = FEW.iter().find(|(word, ..)| *word == self.word(few)) {
            let next = self.past(few + 1, &["of"]);
            return Some((*least, *most, next + 1, self.unit(next)?));
        }
        let count = match self.word(at) {
            "a" | "an" => 1,
            word => number(word)?,
        };
        Some((count, count, at + 2, self.unit(at + 1)?))
    }

    fn unit(&self, at: usize) -> Option<Unit> {
        let word = self.word(at);
        UNITS.iter().find(|(name, _)| *name == word).map(|(_, unit)| *unit)
    }
}

/// What "lately" means.
const LATELY: Span = Span::Elapsed { first: Duration::from_hours(336), last: Duration::ZERO };

pub(super) fn number(word: &str) -> Option<u32> {
    let spelled = words::number(word).and_then(|it| u32::try_from(it).ok());
    spelled.or_else(|| word.parse().ok().filter(|it| *it <= 10_000 && word.len() <= 5))
}

/// "3", "3rd", "third"
fn ordinal(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end));
    let day: u32 = digits.unwrap_or(word).parse().ok()?;
    (1..=31).contains(&day).then_some(day)
}

fn month(word: &str) -> Option<u32> {
    let is = |name: &&str| {
        *name == word
            || (word.len() >= 3 && name.get(..3) == Some(word))
            || word == "sept" && *name == "september"
    };
    let at = MONTHS.iter().position(is)?;
    u32::try_from(at + 1).ok()
}

fn weekday(word: &str) -> Option<u32> {
    let is = |name: &&str| {
        *name == word || (word.len() >= 3 && word.len() <= 5 && name.starts_with(word))
    };
    let at = WEEKDAYS.iter().position(is)?;
    u32::try_from(at).ok()
}

fn iso_date(word: &str) -> Option<(i32, u32, u32)> {
    let mut parts = word.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_whole = parts.next().is_none() && year.len() == 4;
    is_whole.then_some(())?;
    Some((year.parse().ok()?, month.parse().ok()?, day.parse().ok()?))
}

fn part(name: &str) -> Option<Hours> {
    PARTS
        .iter()
        .find(|(it, ..)| *it == name)
        .map(|(_, start, end)| Hours { start: start * 60, end: end * 60 })
}

impl Hours {
    /// The shorter one where they overlap.
    fn narrow(self, other: Self) -> Option<Self> {
        let overlaps = self.start < other.end && other.start < self.end;
        let shorter = if self.end - self.start <= other.end - other.start { self } else { other };
        overlaps.then_some(shorter)
    }
}

impl Atom {
    /// Whether hours of the day can be said of it.
    fn takes_hours(self) -> bool {
        self.hours.is_none() && !matches!(self.days, None | Some(Span::Elapsed { .. }))
    }
}

impl Occasion {
    fn hours(&self, preposition: &str) -> Option<Hours> {
        let of = |(start, end): (u16, u16)| Hours { start, end };
        match preposition {
            "before" | "until" | "by" => Some(of(self.before)),
            "after" | "since" => Some(of(self.after)),
            _ => self.during.map(of),
        }
    }
}
