//! Days of the year that have a name: which date each falls on.
//!
//! Pure. Those that move are computed: from Easter, or as the how manieth weekday of a month.

use std::sync::LazyLock;

use chrono::{Datelike as _, Days, NaiveDate, Weekday};

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
    /// The how manieth such weekday of a month, and so many days more.
    Nth {
        month: u32,
        weekday: Weekday,
        nth: u8,
        days: u64,
    },
    /// The last such weekday of a month.
    Last {
        month: u32,
        weekday: Weekday,
    },
    /// The last such weekday before a day, and so many weeks earlier.
    Before {
        month: u32,
        day: u32,
        weekday: Weekday,
        weeks: u64,
    },
}

const fn fixed(month: u32, day: u32) -> Holiday {
    Holiday::Fixed { month, day }
}

const fn easter(days: i32) -> Holiday {
    Holiday::Easter { days }
}

const fn nth(month: u32, weekday: Weekday, nth: u8) -> Holiday {
    Holiday::Nth { month, weekday, nth, days: 0 }
}

const fn after_nth(month: u32, weekday: Weekday, nth: u8, days: u64) -> Holiday {
    Holiday::Nth { month, weekday, nth, days }
}

const fn last(month: u32, weekday: Weekday) -> Holiday {
    Holiday::Last { month, weekday }
}

const fn before(month: u32, day: u32, weekday: Weekday, weeks: u64) -> Holiday {
    Holiday::Before { month, day, weekday, weeks }
}

/// Names of holidays without apostrophes, those of one in a line.
const HOLIDAYS: &[(&str, Holiday)] = &[
    ("new years day, new years, new year", fixed(1, 1)),
    ("twelfth night", fixed(1, 5)),
    ("epiphany, three kings day, twelfth day", fixed(1, 6)),
    ("burns night", fixed(1, 25)),
    ("australia day", fixed(1, 26)),
    ("holocaust memorial day", fixed(1, 27)),
    ("martin luther king day, martin luther king jr day, mlk day", nth(1, Weekday::Mon, 3)),
    ("st brigids day", fixed(2, 1)),
    ("groundhog day, candlemas", fixed(2, 2)),
    ("waitangi day", fixed(2, 6)),
    ("super bowl sunday", nth(2, Weekday::Sun, 2)),
    ("lincolns birthday", fixed(2, 12)),
    ("valentines day, valentine day, valentines", fixed(2, 14)),
    ("presidents day, washingtons birthday, family day", nth(2, Weekday::Mon, 3)),
    ("leap day", fixed(2, 29)),
    ("st davids day", fixed(3, 1)),
    ("international womens day, womens day", fixed(3, 8)),
    ("commonwealth day", nth(3, Weekday::Mon, 2)),
    ("pi day", fixed(3, 14)),
    ("st patricks day, st paddys day, paddys day", fixed(3, 17)),
    ("spring equinox, vernal equinox", fixed(3, 20)),
    ("lady day, annunciation", fixed(3, 25)),
    ("april fools day, april fools, all fools day", fixed(4, 1)),
    ("tax day", fixed(4, 15)),
    ("patriots day", nth(4, Weekday::Mon, 3)),
    ("earth day", fixed(4, 22)),
    ("st georges day", fixed(4, 23)),
    ("anzac day", fixed(4, 25)),
    ("arbor day", last(4, Weekday::Fri)),
    ("may day", fixed(5, 1)),
    ("early may bank holiday, may bank holiday", nth(5, Weekday::Mon, 1)),
    ("star wars day", fixed(5, 4)),
    ("cinco de mayo", fixed(5, 5)),
    ("ve day", fixed(5, 8)),
    ("mothers day, mother day", nth(5, Weekday::Sun, 2)),
    ("armed forces day", nth(5, Weekday::Sat, 3)),
    ("victoria day", before(5, 25, Weekday::Mon, 0)),
    ("memorial day, spring bank holiday", last(5, Weekday::Mon)),
    ("d-day", fixed(6, 6)),
    ("flag day", fixed(6, 14)),
    ("juneteenth", fixed(6, 19)),
    ("fathers day, father day", nth(6, Weekday::Sun, 3)),
    ("summer solstice", fixed(6, 21)),
    ("midsummer, midsummer day, midsummers day, st johns day", fixed(6, 24)),
    ("midsummer eve, midsummers eve, st johns eve", fixed(6, 23)),
    ("canada day", fixed(7, 1)),
    ("independence day, fourth of july, july fourth", fixed(7, 4)),
    ("orangemens day", fixed(7, 12)),
    ("bastille day", fixed(7, 14)),
    ("st swithins day", fixed(7, 15)),
    ("august bank holiday, summer bank holiday", last(8, Weekday::Mon)),
    ("civic holiday", nth(8, Weekday::Mon, 1)),
    ("assumption, assumption day", fixed(8, 15)),
    ("labor day, labour day", nth(9, Weekday::Mon, 1)),
    ("grandparents day", after_nth(9, Weekday::Mon, 1, 6)),
    ("autumn equinox, autumnal equinox, fall equinox", fixed(9, 22)),
    ("michaelmas", fixed(9, 29)),
    ("columbus day, indigenous peoples day, canadian thanksgiving", nth(10, Weekday::Mon, 2)),
    ("halloween, halloween night, all hallows eve", fixed(10, 31)),
    ("all saints day, all hallows day, all saints", fixed(11, 1)),
    ("all souls day, all souls, day of the dead", fixed(11, 2)),
    ("bonfire night, guy fawkes night, guy fawkes day, guy fawkes", fixed(11, 5)),
    ("election day", after_nth(11, Weekday::Mon, 1, 1)),
    ("veterans day, armistice day, remembrance day, martinmas, st martins day", fixed(11, 11)),
    ("remembrance sunday", nth(11, Weekday::Sun, 2)),
    ("thanksgiving day, thanksgiving", nth(11, Weekday::Thu, 4)),
    ("black friday", after_nth(11, Weekday::Thu, 4, 1)),
    ("small business saturday", after_nth(11, Weekday::Thu, 4, 2)),
    ("cyber monday", after_nth(11, Weekday::Thu, 4, 4)),
    ("giving tuesday", after_nth(11, Weekday::Thu, 4, 5)),
    ("st andrews day", fixed(11, 30)),
    ("first advent, advent sunday, first sunday of advent", before(12, 25, Weekday::Sun, 3)),
    ("second advent, second sunday of advent", before(12, 25, Weekday::Sun, 2)),
    ("third advent, third sunday of advent", before(12, 25, Weekday::Sun, 1)),
    ("fourth advent, fourth sunday of advent", before(12, 25, Weekday::Sun, 0)),
    ("st nicholas day, st nicholas", fixed(12, 6)),
    ("immaculate conception", fixed(12, 8)),
    ("st lucys day, st lucias day", fixed(12, 13)),
    ("winter solstice", fixed(12, 21)),
    ("christmas eve, xmas eve", fixed(12, 24)),
    ("christmas day, christmas, xmas day, xmas", fixed(12, 25)),
    ("boxing day, st stephens day, kwanzaa", fixed(12, 26)),
    ("new years eve, new year eve, nye, hogmanay, st sylvesters", fixed(12, 31)),
    ("shrove monday, rose monday", easter(-48)),
    ("shrove tuesday, pancake day, pancake tuesday, mardi gras, fat tuesday", easter(-47)),
    ("ash wednesday", easter(-46)),
    ("mothering sunday", easter(-21)),
    ("palm sunday", easter(-7)),
    ("maundy thursday, holy thursday", easter(-3)),
    ("good friday, holy friday", easter(-2)),
    ("holy saturday, easter saturday, easter eve, black saturday", easter(-1)),
    ("easter sunday, easter day, easter", easter(0)),
    ("easter monday", easter(1)),
    ("ascension day, ascension", easter(39)),
    ("whit sunday, whitsun, pentecost", easter(49)),
    ("whit monday, pentecost monday", easter(50)),
    ("trinity sunday", easter(56)),
    ("corpus christi", easter(60)),
];

/// Names of holidays, each in words, the longer before those that begin alike.
pub(super) static BY_NAME: LazyLock<Vec<(Vec<&'static str>, Holiday)>> = LazyLock::new(|| {
    let named = HOLIDAYS.iter().flat_map(|(names, holiday)| {
        names.split(", ").map(move |it| (it.split(' ').collect::<Vec<_>>(), *holiday))
    });
    let mut by_name: Vec<_> = named.collect();
    by_name.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    by_name
});

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
            Self::Nth { month, weekday, nth, days } => {
                NaiveDate::from_weekday_of_month_opt(year, month, weekday, nth)?
                    .checked_add_days(Days::new(days))
            }
            Self::Last { month, weekday } => {
                let of = |nth| NaiveDate::from_weekday_of_month_opt(year, month, weekday, nth);
                of(5).or_else(|| of(4))
            }
            Self::Before { month, day, weekday, weeks } => {
                let eve = NaiveDate::from_ymd_opt(year, month, day)?.pred_opt()?;
                let back = eve.weekday().days_since(weekday);
                eve.checked_sub_days(Days::new(u64::from(back) + 7 * weeks))
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
            | Self::Last { .. }
            | Self::Before { .. } => (0, 0),
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
        let (_, holiday) = BY_NAME.iter().find(|(it, _)| *it == words).unwrap();
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
            ("mothering sunday", 2025, "2025-03-30"),
            ("ascension day", 2025, "2025-05-29"),
            ("pentecost", 2025, "2025-06-08"),
            ("corpus christi", 2025, "2025-06-19"),
            ("pancake day", 2025, "2025-03-04"),
            ("thanksgiving", 2024, "2024-11-28"),
            ("thanksgiving", 2025, "2025-11-27"),
            ("canadian thanksgiving", 2025, "2025-10-13"),
            ("black friday", 2025, "2025-11-28"),
            ("cyber monday", 2025, "2025-12-01"),
            ("election day", 2022, "2022-11-08"),
            ("election day", 2024, "2024-11-05"),
            ("mothers day", 2025, "2025-05-11"),
            ("victoria day", 2025, "2025-05-19"),
            ("memorial day", 2025, "2025-05-26"),
            ("memorial day", 2023, "2023-05-29"),
            ("summer bank holiday", 2025, "2025-08-25"),
            ("labor day", 2025, "2025-09-01"),
            ("grandparents day", 2025, "2025-09-07"),
            ("arbor day", 2025, "2025-04-25"),
            ("first advent", 2025, "2025-11-30"),
            ("first advent", 2022, "2022-11-27"),
            ("fourth advent", 2022, "2022-12-18"),
        ] {
            assert_eq!(named(name, year), date, "{name} {year}");
        }
    }

    #[test]
    fn a_name_is_of_one_holiday() {
        for (at, (name, _)) in BY_NAME.iter().enumerate() {
            let later = BY_NAME.get(at + 1..).unwrap();
            assert!(!later.iter().any(|(it, _)| it == name), "{name:?}");
        }
    }
}
