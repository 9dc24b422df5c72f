//! Finds time expressions in a text, word by word.
//!
//! Pure. An expression is a few atoms that stand together ("yesterday" + "at ten");
//! each atom is one of the closed forms below.

use std::ops::Range;

use crate::language::time::words::{FEW, JOINS, UNITS, Unit};
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
    pub(super) fn days(end: usize, days: Span) -> Self {
        Self { end, days: Some(days), hours: None, side: Side::Within }
    }

    pub(super) fn hours(end: usize, hours: Hours) -> Self {
        Self { end, days: None, hours: Some(hours), side: Side::Within }
    }

    pub(super) fn on(self, days: Span) -> Self {
        Self { days: Some(days), ..self }
    }

    pub(super) fn within(self, hours: Hours) -> Self {
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

    pub(super) fn before(&self, at: usize) -> &str {
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

    /// A number of units: least, most, the word after it, and the unit.
    pub(super) fn quantity(&self, at: usize) -> Option<(u32, u32, usize, Unit)> {
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

    pub(super) fn unit(&self, at: usize) -> Option<Unit> {
        let word = self.word(at);
        UNITS.iter().find(|(name, _)| *name == word).map(|(_, unit)| *unit)
    }
}

pub(super) fn number(word: &str) -> Option<u32> {
    let spelled = words::number(word).and_then(|it| u32::try_from(it).ok());
    spelled.or_else(|| word.parse().ok().filter(|it| *it <= 10_000 && word.len() <= 5))
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
