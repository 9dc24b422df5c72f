//! Days by their names and dates: "on Monday", "at weekends", "at Christmas", "January 3rd".
//!
//! Pure.

use crate::language::time::Span;
use crate::language::time::day_parts::part;
use crate::language::time::find::{Atom, Words};
use crate::language::time::holidays::BY_NAME;
use crate::language::time::words::{MONTHS, WEEKDAYS};

impl Words {
    /// "on Monday", "Tuesdays", "every Friday", "the Monday before last", "at weekends".
    pub(super) fn weekday(&self, at: usize) -> Option<Atom> {
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
        // "thurs" is one Thursday.
        let is_plural = word.ends_with("days");
        if let Some(day) = word.strip_suffix('s').filter(|_| is_plural).and_then(weekday) {
            return Some(Atom::days(end, only(&[day as usize])));
        }
        // "sat morning": a part of the day says that a day is meant.
        let is_meant =
            named > at || !SHORT_AND_WORDS.contains(&word) || part(self.word(end)).is_some();
        let day = weekday(word).filter(|_| is_meant)?;
        if is_every {
            return Some(Atom::days(end, only(&[day as usize])));
        }
        let before_last = self.word(end) == "before" && self.word(end + 1) == "last";
        let weeks = u32::from(before_last);
        let end = if before_last { end + 2 } else { end };
        Some(Atom::days(end, Span::Weekday { weekday: day, weeks }))
    }

    /// "on Christmas Eve", "at Christmas", "from Easter". "The Christmas lights" are no time.
    pub(super) fn holiday(&self, at: usize) -> Option<Atom> {
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
    pub(super) fn date(&self, at: usize) -> Option<Atom> {
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
}

/// Weekdays in short that are words of their own: "the cat sat".
const SHORT_AND_WORDS: &[&str] = &["mon", "wed", "weds", "sat", "sun"];

pub(super) fn weekday(word: &str) -> Option<u32> {
    let is = |name: &&str| {
        let is_short = word.len() >= 3 && word.len() <= 5 && name.starts_with(word);
        *name == word || is_short || word == "weds" && *name == "wednesday"
    };
    let at = WEEKDAYS.iter().position(is)?;
    u32::try_from(at).ok()
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

fn iso_date(word: &str) -> Option<(i32, u32, u32)> {
    let mut parts = word.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_whole = parts.next().is_none() && year.len() == 4;
    is_whole.then_some(())?;
    Some((year.parse().ok()?, month.parse().ok()?, day.parse().ok()?))
}
