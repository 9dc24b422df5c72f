//! Times that are told from now: "yesterday", "two days ago", "last week", "recently".
//!
//! Pure.

use std::time::Duration;

use crate::language::time::Span;
use crate::language::time::calendar::weekday;
use crate::language::time::day_parts::part;
use crate::language::time::find::{Atom, Words};
use crate::language::time::words::Unit;

impl Words {
    /// "today", "yesterday", "the day before yesterday", "tonight".
    pub(super) fn day(&self, at: usize) -> Option<Atom> {
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
                let yesterday = back(modified + 1, 1);
                Some(hours.map_or(yesterday, |it| yesterday.within(it)))
            }
            "tonight" => Some(back(at + 1, 0).within(part("night")?)),
            "nowadays" => Some(Atom::days(at + 1, LATELY)),
            _ => None,
        }
    }

    /// "an hour ago", "two days earlier", "a few minutes back", "half an hour ago".
    pub(super) fn ago(&self, at: usize) -> Option<Atom> {
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
    pub(super) fn rolling(&self, at: usize) -> Option<Atom> {
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
    pub(super) fn relative(&self, at: usize) -> Option<Atom> {
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

    /// "recently", "just now", "a while ago", "earlier".
    pub(super) fn vague(&self, at: usize) -> Option<Atom> {
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
}

/// What "lately" means.
const LATELY: Span = Span::Elapsed { first: Duration::from_hours(336), last: Duration::ZERO };
