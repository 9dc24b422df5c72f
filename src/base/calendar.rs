//! Buckets of time as a calendar has them: from years to seconds, in a zone. Pure.

use std::time::Duration;

use chrono::{
    Datelike as _, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike as _,
};

use crate::base::time::{Timestamp, Zone};

/// Width of buckets, widest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketWidth {
    Year,
    Month,
    Week,
    Day,
    Hours6,
    Hour,
    Minutes10,
    Minute,
    Seconds10,
    Second,
}

impl BucketWidth {
    /// Widest first.
    pub const ALL: [Self; 10] = [
        Self::Year,
        Self::Month,
        Self::Week,
        Self::Day,
        Self::Hours6,
        Self::Hour,
        Self::Minutes10,
        Self::Minute,
        Self::Seconds10,
        Self::Second,
    ];

    /// As arguments and replies have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Month => "month",
            Self::Week => "week",
            Self::Day => "day",
            Self::Hours6 => "6 hours",
            Self::Hour => "hour",
            Self::Minutes10 => "10 minutes",
            Self::Minute => "minute",
            Self::Seconds10 => "10 seconds",
            Self::Second => "second",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.name() == name)
    }

    /// Length of the widths that are counted on from a whole one, whatever clocks show.
    fn fixed(self) -> Option<Duration> {
        match self {
            Self::Year | Self::Month | Self::Week | Self::Day | Self::Hours6 => None,
            Self::Hour => Some(Duration::from_hours(1)),
            Self::Minutes10 => Some(Duration::from_mins(10)),
            Self::Minute => Some(Duration::from_mins(1)),
            Self::Seconds10 => Some(Duration::from_secs(10)),
            Self::Second => Some(Duration::from_secs(1)),
        }
    }

    /// The least time that a bucket takes: a day in which clocks are set forward has 23 hours.
    fn least(self) -> Duration {
        let hours = match self {
            Self::Year => 365 * 24 - 1,
            Self::Month => 28 * 24 - 1,
            Self::Week => 7 * 24 - 1,
            Self::Day => 23,
            Self::Hours6
            | Self::Hour
            | Self::Minutes10
            | Self::Minute
            | Self::Seconds10
            | Self::Second => 5,
        };
        self.fixed().unwrap_or_else(|| Duration::from_hours(hours))
    }

    /// Where the bucket of a wall time begins.
    fn floor(self, wall: NaiveDateTime) -> NaiveDateTime {
        let date = wall.date();
        let day = match self {
            Self::Year => NaiveDate::from_ymd_opt(date.year(), 1, 1),
            Self::Month => date.with_day(1),
            Self::Week => {
                let since_monday = date.weekday().num_days_from_monday();
                date.checked_sub_signed(TimeDelta::days(i64::from(since_monday)))
            }
            Self::Day => Some(date),
            Self::Hours6
            | Self::Hour
            | Self::Minutes10
            | Self::Minute
            | Self::Seconds10
            | Self::Second => {
                let width = self.fixed().unwrap_or_else(|| Duration::from_hours(6)).as_secs();
                let second = wall.num_seconds_from_midnight();
                let second = second - second % u32::try_from(width).unwrap_or(1);
                let time = NaiveTime::from_num_seconds_from_midnight_opt(second, 0);
                return date.and_time(time.unwrap_or_default());
            }
        };
        day.unwrap_or(date).and_time(NaiveTime::MIN)
    }

    /// The edge after one, which stands at a wall time.
    fn next(
        self,
        zone: Zone,
        (edge, wall): (Timestamp, NaiveDateTime),
    ) -> Option<(Timestamp, NaiveDateTime)> {
        if let Some(length) = self.fixed() {
            return Some((edge.plus(length), wall));
        }
        let next = match self {
            Self::Year => wall.checked_add_months(Months::new(12)),
            Self::Month => wall.checked_add_months(Months::new(1)),
            Self::Week => wall.checked_add_signed(TimeDelta::days(7)),
            Self::Day => wall.checked_add_signed(TimeDelta::days(1)),
            Self::Hours6
            | Self::Hour
            | Self::Minutes10
            | Self::Minute
            | Self::Seconds10
            | Self::Second => wall.checked_add_signed(TimeDelta::hours(6)),
        }?;
        Some((zone.moment(next), next))
    }

    /// Where the bucket after the one that begins at an edge begins.
    pub fn after(self, zone: Zone, edge: Timestamp) -> Timestamp {
        self.next(zone, (edge, zone.wall(edge))).map_or(Timestamp::LATEST, |(next, _)| next)
    }

    /// Starts of the buckets from that in which `first` lies to that of `last`, ascending;
    /// `None` where they would be more than `most`.
    pub fn edges(
        self,
        zone: Zone,
        (first, last): (Timestamp, Timestamp),
        most: usize,
    ) -> Option<Vec<Timestamp>> {
        let buckets = last.since(first).as_secs() / self.least().as_secs();
        // The first and the last one may be begun and not whole.
        if buckets > most as u64 + 2 {
            return None;
        }
        let wall = zone.wall(first);
        let floor = self.floor(wall);
        let begun = if self.fixed().is_some() {
            first.minus(wall.signed_duration_since(floor).to_std().unwrap_or_default())
        } else {
            zone.moment(floor)
        };
        let mut edges = Vec::new();
        let mut edge = Some((begun, floor));
        while let Some((at, wall)) = edge
            && (at <= last || edges.is_empty())
        {
            if edges.len() == most {
                return None;
            }
            edges.push(at);
            let next = self.next(zone, (at, wall));
            edge = next.filter(|(next, _)| *next > at);
        }
        Some(edges)
    }

    /// The narrowest width of at most `most` buckets, with their starts; the widest where each
    /// has more.
    pub fn narrowest(
        zone: Zone,
        span: (Timestamp, Timestamp),
        most: usize,
    ) -> Option<(Self, Vec<Timestamp>)> {
        Self::ALL.into_iter().rev().find_map(|it| Some((it, it.edges(zone, span, most)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> Zone {
        Zone::from_name("Europe/Berlin").unwrap()
    }

    fn at(text: &str) -> Timestamp {
        berlin().parse(text, Timestamp::EPOCH).unwrap()
    }

    fn check(width: BucketWidth, span: (&str, &str), expect: &[&str]) {
        let edges = width.edges(berlin(), (at(span.0), at(span.1)), 100).unwrap();
        let edges: Vec<String> = edges.into_iter().map(|it| berlin().format(it)).collect();
        assert_eq!(edges, expect, "{width:?}");
    }

    #[test]
    fn buckets_begin_where_the_calendar_of_the_zone_has_them() {
        let span = ("2024-11-30 10:00:00", "2025-02-01 00:00:00");
        check(BucketWidth::Year, span, &["2024-01-01 00:00:00", "2025-01-01 00:00:00"]);
        let months = ["2024-11-01", "2024-12-01", "2025-01-01", "2025-02-01"];
        check(
            BucketWidth::Month,
            span,
            &months.map(|it| format!("{it} 00:00:00")).each_ref().map(String::as_str),
        );
        let week = ("2025-01-05 23:59:59", "2025-01-06 00:00:00");
        check(BucketWidth::Week, week, &["2024-12-30 00:00:00", "2025-01-06 00:00:00"]);
        let minutes = ("2025-01-05 10:09:59", "2025-01-05 10:10:00");
        check(BucketWidth::Minutes10, minutes, &["2025-01-05 10:00:00", "2025-01-05 10:10:00"]);
        check(BucketWidth::Second, minutes, &["2025-01-05 10:09:59", "2025-01-05 10:10:00"]);
    }

    #[test]
    fn a_clock_change_moves_no_edge_off_the_whole_hour() {
        // 02:00 to 03:00 does not occur: three buckets of 01:00, 03:00 and 04:00.
        let forward = ("2025-03-30 01:30:00", "2025-03-30 04:30:00");
        let hours = ["2025-03-30 01:00:00", "2025-03-30 03:00:00", "2025-03-30 04:00:00"];
        check(BucketWidth::Hour, forward, &hours);
        let days = ("2025-03-29 12:00:00", "2025-03-31 12:00:00");
        let midnights =
            ["2025-03-29", "2025-03-30", "2025-03-31"].map(|it| format!("{it} 00:00:00"));
        check(BucketWidth::Day, days, &midnights.each_ref().map(String::as_str));
        // 02:00 to 03:00 occurs twice: two buckets that clocks show alike.
        let back = ("2025-10-26 01:30:00", "2025-10-26 03:30:00");
        let two = "2025-10-26 02:00:00";
        let hours = ["2025-10-26 01:00:00", two, two, "2025-10-26 03:00:00"];
        check(BucketWidth::Hour, back, &hours);
        let back = ("2025-10-26 00:30:00", "2025-10-26 06:30:00");
        check(BucketWidth::Hours6, back, &["2025-10-26 00:00:00", "2025-10-26 06:00:00"]);
    }

    #[test]
    fn the_narrowest_width_that_fits_is_taken() {
        let width = |span: (&str, &str), most| {
            let span = (at(span.0), at(span.1));
            BucketWidth::narrowest(berlin(), span, most).map(|(width, edges)| (width, edges.len()))
        };
        let day = ("2025-01-05 00:00:00", "2025-01-05 23:59:59");
        assert_eq!(width(day, 24), Some((BucketWidth::Hour, 24)));
        assert_eq!(width(day, 23), Some((BucketWidth::Hours6, 4)));
        let ages = ("1970-01-02 00:00:00", "9990-01-01 00:00:00");
        assert_eq!(width(ages, 2_000), None);
        assert_eq!(width(ages, 9_000), Some((BucketWidth::Year, 8_021)));
        let moment = ("2025-01-05 00:00:00", "2025-01-05 00:00:00");
        assert_eq!(width(moment, 1), Some((BucketWidth::Second, 1)));
    }
}
