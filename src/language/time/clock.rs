//! Times of the clock: "at ten", "around 3 pm", "between 9 and 11", "half past nine".
//!
//! Pure.

use crate::language::time::find::{Atom, Words, number};
use crate::language::time::{DAY, Hours};

impl Words {
    /// "at ten", "around 3 pm", "before 10:30", "between 9 and 11", "half past nine", "noon".
    pub(super) fn clock(&self, at: usize) -> Option<Atom> {
        let start = self.past(at, &["sometime", "just", "shortly", "right"]);
        let preposition = self.word(start);
        if preposition == "between" || preposition == "from" {
            let (first, next) = self.o_clock(start + 1, true)?;
            let joined = self.is(next, &["and", "to", "until", "till"]).then_some(next + 1)?;
            let (last, end) = self.o_clock(joined, true)?;
            let (start, mut stop) = (first.minute, last.minute);
            // "from 9 to 5", "between 2 and 4 pm"
            let mut start = start;
            if last.is_said && !first.is_said && last.minute >= DAY / 2 && start + DAY / 2 < stop {
                start += DAY / 2;
            }
            if stop <= start {
                stop += DAY / 2;
            }
            return (stop > start).then(|| Atom::hours(end, Hours { start, end: stop }));
        }
        let known =
            ["at", "around", "about", "by", "before", "after", "until", "till", "since", "near"];
        let is_led = known.contains(&preposition);
        let mut first = if is_led { start + 1 } else { at };
        // "at around three"
        let is_about = self.is(first, &["around", "about", "roughly"]) && is_led;
        first += usize::from(is_about);
        let (clock, end) = self.o_clock(first, preposition == "at" || is_about)?;
        // "at one point", "at one end of it"
        if !clock.is_said
            && self.is(end, &["point", "time", "stage", "moment", "end", "side", "of"])
        {
            return None;
        }
        // "about ten mugs", "before two" of what: only a time where it says so.
        let is_sure =
            clock.is_said || preposition == "at" || is_about || (is_led && self.ends_clause(end));
        if !is_sure {
            return None;
        }
        let minute = clock.minute;
        let near =
            |slack: u16| Hours { start: minute.saturating_sub(slack), end: minute + slack + 1 };
        let hours = match preposition {
            "before" | "until" | "till" | "by" => Hours { start: 5 * 60, end: minute },
            "after" | "since" => Hours { start: minute, end: DAY + 60 },
            "around" | "about" | "near" => near(60),
            _ if is_about => near(60),
            _ => near(30),
        };
        (hours.start < hours.end).then(|| Atom::hours(end, hours))
    }

    /// A time of the clock and the word after it.
    fn o_clock(&self, at: usize, bare: bool) -> Option<(ClockTime, usize)> {
        match self.word(at) {
            "noon" | "midday" => {
                return Some((ClockTime { minute: 12 * 60, is_said: true }, at + 1));
            }
            "midnight" => return Some((ClockTime { minute: DAY, is_said: true }, at + 1)),
            "half" if self.word(at + 1) == "past" => {
                let (clock, end) = self.o_clock(at + 2, true)?;
                return Some((ClockTime { minute: clock.minute + 30, is_said: true }, end));
            }
            "quarter" | "ten" | "five" | "twenty" if self.is(at + 1, &["past", "to"]) => {
                let minutes = match self.word(at) {
                    "quarter" => 15,
                    word => u16::try_from(number(word)?).ok()?,
                };
                let (clock, end) = self.o_clock(at + 2, true)?;
                let minute = if self.word(at + 1) == "past" {
                    clock.minute + minutes
                } else {
                    clock.minute.checked_sub(minutes)?
                };
                return Some((ClockTime { minute, is_said: true }, end));
            }
            "a" if self.word(at + 1) == "quarter" => return self.o_clock(at + 1, bare),
            _ => {}
        }
        let word = self.word(at);
        let (digits, suffix) = split_half(word);
        let has_colon = digits.contains(':') || (digits.contains('.') && suffix.is_some());
        let (hour, minute) = match digits.split_once([':', '.']) {
            Some((hour, minute)) => (hour.parse().ok()?, minute.parse().ok()?),
            None => (u16::try_from(number(digits)?).ok()?, 0),
        };
        let mut end = at + 1;
        let mut minutes: u16 = minute;
        // "ten thirty"
        if !has_colon && digits.parse::<u16>().is_err() {
            let more = match self.word(end) {
                "fifteen" => 15,
                "thirty" => 30,
                "forty-five" => 45,
                _ => 0,
            };
            minutes += more;
            end += usize::from(more > 0);
        }
        let mut half = suffix;
        if half.is_none() {
            let (next, more) = match self.word(end) {
                "am" | "a.m" | "pm" | "p.m" => (half_of(self.word(end)), 1),
                "o'clock" | "oclock" => {
                    let after = self.word(end + 1);
                    (half_of(after), if half_of(after).is_some() { 2 } else { 1 })
                }
                _ => (None, 0),
            };
            half = next;
            end += more;
            if more > 0 && half.is_none() {
                // "ten o'clock"
                return clock_of(hour, minutes, None).map(|it| (it.as_said(), end));
            }
        }
        let part = self.half_by_part(end);
        let clock = clock_of(hour, minutes, half.or(part))?;
        let is_said = has_colon || half.is_some();
        (is_said || bare || number(digits).is_some())
            .then_some((ClockTime { is_said, ..clock }, end))
    }

    /// "at ten *in the evening*", "at ten *last night*"
    fn half_by_part(&self, end: usize) -> Option<Half> {
        let part = (end..end + 3).find_map(|at| match self.word(at) {
            "morning" => Some(Half::Am),
            "afternoon" | "evening" | "night" | "tonight" => Some(Half::Pm),
            _ => None,
        });
        part.filter(|_| {
            self.is(end, &["in", "at", "this", "last", "yesterday", "tonight", "on", "every"])
        })
    }

    fn ends_clause(&self, at: usize) -> bool {
        self.is(
            at,
            &[
                "",
                ",",
                "and",
                "but",
                "yesterday",
                "today",
                "on",
                "in",
                "last",
                "this",
                "or",
                "i",
                "we",
                "please",
            ],
        )
    }
}

/// A minute of the day, and whether it was written as one.
#[derive(Debug, Clone, Copy)]
struct ClockTime {
    minute: u16,
    is_said: bool,
}

impl ClockTime {
    fn as_said(self) -> Self {
        Self { is_said: true, ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Am,
    Pm,
}

fn half_of(word: &str) -> Option<Half> {
    match word {
        "am" | "a.m" => Some(Half::Am),
        "pm" | "p.m" => Some(Half::Pm),
        _ => None,
    }
}

/// "3pm" into "3" and its half.
fn split_half(word: &str) -> (&str, Option<Half>) {
    let halves = [("am", Half::Am), ("a.m", Half::Am), ("pm", Half::Pm), ("p.m", Half::Pm)];
    let found = halves.into_iter().find_map(|(end, half)| {
        let digits = word.strip_suffix(end)?;
        digits.ends_with(|c: char| c.is_ascii_digit()).then_some((digits, Some(half)))
    });
    found.unwrap_or((word, None))
}

/// Without its half an hour from one to six is after noon: people are up.
fn clock_of(hour: u16, minutes: u16, half: Option<Half>) -> Option<ClockTime> {
    if minutes >= 60 || hour > 24 {
        return None;
    }
    let hour = match half {
        Some(Half::Am) if hour == 12 => 0,
        Some(Half::Pm) if hour < 12 => hour + 12,
        None if (1..=6).contains(&hour) => hour + 12,
        Some(_) | None => hour,
    };
    Some(ClockTime { minute: hour * 60 + minutes, is_said: false })
}
