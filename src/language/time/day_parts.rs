//! Parts of the day, by their names and by what people do then: "in the morning", "before lunch".
//!
//! Pure.

use crate::language::time::calendar::weekday;
use crate::language::time::find::{Atom, Words};
use crate::language::time::words::{EVENTS, Occasion, PARTS};
use crate::language::time::{Hours, Span};

impl Words {
    /// "in the morning", "at night", "every evening", "mornings", "all afternoon".
    pub(super) fn part(&self, at: usize) -> Option<Atom> {
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
            || self.before(at).ends_with("day")
            || weekday(self.before(at)).is_some();
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
    pub(super) fn occasion(&self, at: usize) -> Option<Atom> {
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
}

pub(super) fn part(name: &str) -> Option<Hours> {
    PARTS
        .iter()
        .find(|(it, ..)| *it == name)
        .map(|(_, start, end)| Hours { start: start * 60, end: end * 60 })
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
