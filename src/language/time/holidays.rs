//! Days of the year that have a name: which date each falls on.
//!
//! Pure. Those that move are computed: from Easter, or as the how manieth weekday of a month.

use chrono::{Days, NaiveDate, Weekday};

/// A holiday by the rule of its date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holiday {
    Fixed {
        month: u32,
        day: u32,
    },
    /// So many days after Easter Sunday.
    Easter {
        days: i32,
    },
    /// The how manieth such weekday of a month.
    Nth {
        month: u32,
        weekday: Weekday,
        nth: u8,
    },
    /// The last Monday of a month.
    LastMonday {
        month: u32,
    },
}

const fn fixed(month: u32, day: u32) -> Holiday {
    Holiday::Fixed { month, day }
}

const fn nth(month: u32, weekday: Weekday, nth: u8) -> Holiday {
    Holiday::Nth { month, weekday, nth }
}

/// Names of holidays, the longer before those that begin alike.
pub(super) const HOLIDAYS: &[(&[&str], Holiday)] = &[
    (&["new", "year's", "eve"], fixed(12, 31)),
    (&["new", "years", "eve"], fixed(12, 31)),
    (&["new", "year's", "day"], fixed(1, 1)),
    (&["new", "years", "day"], fixed(1, 1)),
    (&["new", "year's"], fixed(1, 1)),
    (&["new", "years"], fixed(1, 1)),
    (&["new", "year"], fixed(1, 1)),
    (&["valentine's", "day"], fixed(2, 14)),
    (&["valentines", "day"], fixed(2, 14)),
    (&["st", "patrick's", "day"], fixed(3, 17)),
    (&["st", "patricks", "day"], fixed(3, 17)),
    (&["april", "fools", "day"], fixed(4, 1)),
    (&["april", "fool's", "day"], fixed(4, 1)),
    (&["independence", "day"], fixed(7, 4)),
    (&["fourth", "of", "july"], fixed(7, 4)),
    (&["halloween"], fixed(10, 31)),
    (&["christmas", "eve"], fixed(12, 24)),
    (&["christmas", "day"], fixed(12, 25)),
    (&["boxing", "day"], fixed(12, 26)),
    (&["christmas"], fixed(12, 25)),
    (&["xmas"], fixed(12, 25)),
    (&["shrove", "tuesday"], Holiday::Easter { days: -47 }),
    (&["ash", "wednesday"], Holiday::Easter { days: -46 }),
    (&["palm", "sunday"], Holiday::Easter { days: -7 }),
    (&["good", "friday"], Holiday::Easter { days: -2 }),
    (&["easter", "sunday"], Holiday::Easter { days: 0 }),
    (&["easter", "monday"], Holiday::Easter { days: 1 }),
    (&["easter"], Holiday::Easter { days: 0 }),
    (&["whit", "monday"], Holiday::Easter { days: 50 }),
    (&["pentecost"], Holiday::Easter { days: 49 }),
    (&["martin", "luther", "king", "day"], nth(1, Weekday::Mon, 3)),
    (&["presidents'", "day"], nth(2, Weekday::Mon, 3)),
    (&["presidents", "day"], nth(2, Weekday::Mon, 3)),
    (&["mother's", "day"], nth(5, Weekday::Sun, 2)),
    (&["mothers", "day"], nth(5, Weekday::Sun, 2)),
    (&["memorial", "day"], Holiday::LastMonday { month: 5 }),
    (&["father's", "day"], nth(6, Weekday::Sun, 3)),
    (&["fathers", "day"], nth(6, Weekday::Sun, 3)),
    (&["labor", "day"], nth(9, Weekday::Mon, 1)),
    (&["columbus", "day"], nth(10, Weekday::Mon, 2)),
    (&["thanksgiving", "day"], nth(11, Weekday::Thu, 4)),
    (&["thanksgiving"], nth(11, Weekday::Thu, 4)),
];

impl Holiday {
    /// `None` where the calendar ends.
    pub(super) fn in_year(self, year: i32) -> Option<NaiveDate> {
        match self {
            Self::Fixed { month, day } => NaiveDate::from_ymd_opt(year, month, day),
            Self::Easter { days } => {
                let sunday = easter_sunday(year)?;
                let away = Days::new(u64::from(days.unsigned_abs()));
                if days < 0 { sunday.checked_sub_days(away) } else { sunday.checked_add_days(away) }
            }
            Self::Nth { month, weekday, nth } => {
                NaiveDate::from_weekday_of_month_opt(year, month, weekday, nth)
            }
            Self::LastMonday { month } => {
                let of = |nth| NaiveDate::from_weekday_of_month_opt(year, month, Weekday::Mon, nth);
                of(5).or_else(|| of(4))
            }
        }
    }

    /// How many days before and after it count where it is named as a time and not as a day:
    /// "at Easter" begins on Good Friday and ends on Easter Monday.
    pub(super) fn around(self) -> (u64, u64) {
        match self {
            Self::Easter { days: 0 } => (2, 1),
            Self::Fixed { .. }
            | Self::Easter { .. }
            | Self::Nth { .. }
            | Self::LastMonday { .. } => (0, 0),
        }
    }
}

/// Gregorian Easter by the anonymous algorithm (Meeus 1991, p. 67).
#[expect(clippy::many_single_char_names, reason = "as the algorithm is written")]
fn easter_sunday(year: i32) -> Option<NaiveDate> {
    let (a, b, c) = (year % 19, year / 100, year % 100);
    let (d, e) = (b / 4, b % 4);
    let g = (8 * b + 13) / 25;
    let h = (19 * a + b - d - g + 15) % 30;
    let (i, k) = (c / 4, c % 4);
    let l = (32 + 2 * e + 2 * i - h - k) % 7;
    let m = (a + 11 * h + 22 * l) / 451;
    let n = h + l - 7 * m + 114;
    let (month, day) = (u32::try_from(n / 31).ok()?, u32::try_from(n % 31).ok()?);
    NaiveDate::from_ymd_opt(year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, year: i32) -> String {
        let words: Vec<&str> = name.split(' ').collect();
        let (_, holiday) = HOLIDAYS.iter().find(|(it, _)| *it == words).unwrap();
        holiday.in_year(year).unwrap().to_string()
    }

    #[test]
    fn holidays_that_move_fall_on_the_dates_of_the_calendar() {
        for (name, year, date) in [
            ("easter", 2000, "2000-04-23"),
            ("easter", 2008, "2008-03-23"),
            ("easter", 2024, "2024-03-31"),
            ("easter", 2025, "2025-04-20"),
            ("easter", 2038, "2038-04-25"),
            ("good friday", 2025, "2025-04-18"),
            ("easter monday", 2024, "2024-04-01"),
            ("pentecost", 2025, "2025-06-08"),
            ("thanksgiving", 2024, "2024-11-28"),
            ("thanksgiving", 2025, "2025-11-27"),
            ("mother's day", 2025, "2025-05-11"),
            ("memorial day", 2025, "2025-05-26"),
            ("memorial day", 2023, "2023-05-29"),
            ("labor day", 2025, "2025-09-01"),
        ] {
            assert_eq!(named(name, year), date, "{name} {year}");
        }
    }

    #[test]
    fn a_longer_name_stands_before_one_that_it_begins_with() {
        for (at, (name, _)) in HOLIDAYS.iter().enumerate() {
            let later = HOLIDAYS.get(at + 1..).unwrap();
            assert!(!later.iter().any(|(it, _)| it.starts_with(name)), "{name:?}");
        }
    }
}
