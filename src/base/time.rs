//! Timestamps, time windows, the clock, and time formats.

use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chrono::{
    DateTime, Local, LocalResult, NaiveDate, NaiveDateTime, SecondsFormat, TimeDelta,
    TimeZone as _, Timelike as _, Utc,
};
use serde::{Deserialize, Serialize};

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Timestamp(i64);

/// 9999-12-31T23:59:59.999999Z, the last moment that prints with four digits of year.
const LATEST_MICROS: i64 = 253_402_300_799_999_999;

impl Timestamp {
    pub const EPOCH: Self = Self(0);
    /// Last representable moment.
    pub const LATEST: Self = Self(LATEST_MICROS);

    /// `None` before 1970 or after the year 9999.
    pub fn from_micros(micros: i64) -> Option<Self> {
        (0..=LATEST_MICROS).contains(&micros).then_some(Self(micros))
    }

    /// `None` before 1970, after the year 9999, or when not a number.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let micros = (seconds * 1e6).round();
        #[expect(clippy::cast_precision_loss, reason = "a bound, not a value")]
        let in_range = (0.0..=LATEST_MICROS as f64).contains(&micros);
        #[expect(clippy::cast_possible_truncation, reason = "checked just above")]
        in_range.then_some(Self(micros as i64))
    }

    pub fn micros(self) -> i64 {
        self.0
    }

    #[expect(clippy::cast_precision_loss, reason = "exact to a microsecond until the year 2255")]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// RFC 3339 in UTC, with all its microseconds.
    pub fn rfc3339(self) -> String {
        let utc = DateTime::from_timestamp_micros(self.0).unwrap_or_default();
        utc.to_rfc3339_opts(SecondsFormat::AutoSi, true)
    }

    /// From what [`Timestamp::rfc3339`] writes, and other times with an offset.
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let utc = DateTime::parse_from_rfc3339(text).ok()?;
        Self::from_micros(utc.timestamp_micros())
    }

    /// Rounded down to a whole `step` since 1970.
    #[must_use]
    pub fn floor(self, step: Duration) -> Self {
        let step = i64::try_from(step.as_micros()).unwrap_or(i64::MAX).max(1);
        Self(self.0 - self.0 % step)
    }

    /// Time from `earlier` to `self`; zero when `earlier` is the later one.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }

    /// Clamped to the representable range.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(LATEST_MICROS);
        Self(self.0.saturating_add(micros).min(LATEST_MICROS))
    }

    /// Clamped to 1970.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros).max(0))
    }
}

/// A number of microseconds that is no timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} microseconds lie before 1970 or after the year 9999")]
pub struct MicrosOutOfRange(pub i64);

impl TryFrom<i64> for Timestamp {
    type Error = MicrosOutOfRange;

    fn try_from(micros: i64) -> Result<Self, MicrosOutOfRange> {
        Self::from_micros(micros).ok_or(MicrosOutOfRange(micros))
    }
}

impl From<Timestamp> for i64 {
    fn from(time: Timestamp) -> Self {
        time.micros()
    }
}

/// Inclusive span of time, open where a bound is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    start: Option<Timestamp>,
    end: Option<Timestamp>,
}

/// The start of a window lies after its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the window starts after it ends")]
pub struct BackwardWindow;

impl Window {
    pub const ALL: Self = Self { start: None, end: None };

    pub fn new(start: Option<Timestamp>, end: Option<Timestamp>) -> Result<Self, BackwardWindow> {
        match (start, end) {
            (Some(start), Some(end)) if start > end => Err(BackwardWindow),
            _ => Ok(Self { start, end }),
        }
    }

    pub fn start(&self) -> Option<Timestamp> {
        self.start
    }

    pub fn end(&self) -> Option<Timestamp> {
        self.end
    }

    pub fn is_unbounded(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// Whether the span from `first` to `last` overlaps the window.
    pub fn touches(&self, first: Timestamp, last: Timestamp) -> bool {
        self.start.is_none_or(|start| last >= start) && self.end.is_none_or(|end| first <= end)
    }
}

/// Source of the present time, so that tests and replays can set it.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Wall clock.
    fn now(&self) -> Timestamp;
    /// Monotonic, for measuring how long something took.
    fn tick(&self) -> Instant;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::EPOCH.plus(since_epoch)
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn tick(&self) -> Instant {
        Instant::now()
    }
}

/// Clock that stands still until it is set; for tests and replays.
#[derive(Debug)]
pub struct StandingClock(Mutex<Timestamp>);

impl StandingClock {
    pub fn at(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    pub fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self) -> Instant {
        SystemClock.tick()
    }
}

/// Zone in which times without an offset are read and all times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// The machine's own.
    Machine,
    Named(chrono_tz::Tz),
}

/// No zone of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no time zone; accepted are IANA names such as \"Europe/Berlin\" or \"UTC\"")]
pub struct UnknownZone(pub String);

/// Errors of a time's text. The message shows the accepted forms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTime {
    #[error("{text:?} is no time; accepted are {TIME_FORMS}")]
    Unreadable { text: String },
    #[error("{text:?} lies before 1970 or after 9999; accepted are {TIME_FORMS}")]
    OutOfRange { text: String },
    #[error(
        "{text:?} was skipped by the clock change in this time zone; name another time or give an offset"
    )]
    Skipped { text: String },
}

/// The accepted forms, for messages and schemas.
pub const TIME_FORMS: &str = "'YYYY-MM-DD HH:MM:SS', RFC 3339 such as \
    '2025-01-03T09:14:07Z', or relative to now such as '-10m', '-2h', '-1d'";

impl Zone {
    /// The zone of an IANA name; the machine's for an empty one.
    pub fn from_name(name: &str) -> Result<Self, UnknownZone> {
        if name.is_empty() {
            return Ok(Self::Machine);
        }
        name.parse().map(Self::Named).map_err(|_unknown| UnknownZone(name.to_owned()))
    }

    /// Reads a time as users and agents write it; see [`TIME_FORMS`].
    ///
    /// A wall time that a clock change makes happen twice is its first occurrence.
    pub fn parse(self, text: &str, now: Timestamp) -> Result<Timestamp, BadTime> {
        let trimmed = text.trim();
        let unreadable = || BadTime::Unreadable { text: text.to_owned() };
        if let Some(relative) = trimmed.strip_prefix('-') {
            let back = duration_of(relative).ok_or_else(unreadable)?;
            return Ok(now.minus(back));
        }
        let utc = if let Ok(time) = DateTime::parse_from_rfc3339(trimmed) {
            time.with_timezone(&Utc)
        } else {
            let forms = ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M"];
            let wall = forms
                .iter()
                .find_map(|form| NaiveDateTime::parse_from_str(trimmed, form).ok())
                .ok_or_else(unreadable)?;
            self.utc_of(wall).ok_or_else(|| BadTime::Skipped { text: text.to_owned() })?
        };
        Timestamp::from_micros(utc.timestamp_micros())
            .ok_or_else(|| BadTime::OutOfRange { text: text.to_owned() })
    }

    /// `YYYY-MM-DD HH:MM:SS` in this zone.
    pub fn format(self, time: Timestamp) -> String {
        const FORM: &str = "%Y-%m-%d %H:%M:%S";
        let Some(utc) = DateTime::from_timestamp_micros(time.micros()) else {
            return String::new();
        };
        match self {
            Self::Machine => utc.with_timezone(&Local).format(FORM).to_string(),
            Self::Named(zone) => utc.with_timezone(&zone).format(FORM).to_string(),
        }
    }

    /// Hour of the day in this zone, 0 to 23.
    pub fn hour(self, time: Timestamp) -> usize {
        let Some(utc) = DateTime::from_timestamp_micros(time.micros()) else { return 0 };
        let hour = match self {
            Self::Machine => utc.with_timezone(&Local).hour(),
            Self::Named(zone) => utc.with_timezone(&zone).hour(),
        };
        hour as usize
    }

    /// Calendar day in this zone.
    pub fn day(self, time: Timestamp) -> NaiveDate {
        self.wall(time).date()
    }

    /// Wall time in this zone.
    pub fn wall(self, time: Timestamp) -> NaiveDateTime {
        let utc = DateTime::from_timestamp_micros(time.micros()).unwrap_or_default();
        match self {
            Self::Machine => utc.with_timezone(&Local).naive_local(),
            Self::Named(zone) => utc.with_timezone(&zone).naive_local(),
        }
    }

    /// Moment of a wall time in this zone: the first where it occurs twice, the moment of the
    /// clock change where it does not occur; clamped to the representable range.
    pub fn moment(self, wall: NaiveDateTime) -> Timestamp {
        // Clocks are set forward by an hour; more, once, where a zone crossed the date line.
        let later = |halves: i64| wall.checked_add_signed(TimeDelta::minutes(30 * halves));
        let utc = (0..=48).find_map(|halves| self.utc_of(later(halves)?)).unwrap_or_default();
        Timestamp(utc.timestamp_micros().clamp(0, LATEST_MICROS))
    }

    fn utc_of(self, wall: NaiveDateTime) -> Option<DateTime<Utc>> {
        fn first<Z: chrono::TimeZone>(found: LocalResult<DateTime<Z>>) -> Option<DateTime<Utc>> {
            found.earliest().map(|time| time.with_timezone(&Utc))
        }
        match self {
            Self::Machine => first(Local.from_local_datetime(&wall)),
            Self::Named(zone) => first(zone.from_local_datetime(&wall)),
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => f.write_str("the machine's time zone"),
            Self::Named(zone) => f.write_str(zone.name()),
        }
    }
}

/// `90s`, `10m`, `2h`, `1d`, `1w`; whole numbers only.
fn duration_of(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    count.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> Zone {
        Zone::from_name("Europe/Berlin").unwrap()
    }

    fn now() -> Timestamp {
        Timestamp::from_seconds(1_735_895_647.0).unwrap()
    }

    fn check(text: &str, expect: &str) {
        let utc = Zone::from_name("UTC").unwrap();
        assert_eq!(utc.format(berlin().parse(text, now()).unwrap()), expect, "{text}");
    }

    #[test]
    fn accepted_forms() {
        check("2025-01-03 10:14:07", "2025-01-03 09:14:07");
        check("2025-07-03 10:14:07", "2025-07-03 08:14:07");
        check(" 2025-01-03T10:14:07.5 ", "2025-01-03 09:14:07");
        check("2025-01-03T09:14:07Z", "2025-01-03 09:14:07");
        check("2025-01-03T09:14:07+05:30", "2025-01-03 03:44:07");
        check("-10m", "2025-01-03 09:04:07");
        check("-2h", "2025-01-03 07:14:07");
        check("-1d", "2025-01-02 09:14:07");
    }

    #[test]
    fn hours_are_those_of_the_zone() {
        let time = |text| berlin().parse(text, now()).unwrap();
        assert_eq!(berlin().hour(time("2025-01-03 00:14:07")), 0);
        assert_eq!(berlin().hour(time("2025-07-03T21:59:59Z")), 23);
        assert_eq!(Zone::from_name("UTC").unwrap().hour(time("2025-07-03 10:14:07")), 8);
    }

    #[test]
    fn days_are_those_of_the_zone() {
        let time = berlin().parse("2025-07-03T22:30:00Z", now()).unwrap();
        assert_eq!(berlin().day(time).to_string(), "2025-07-04");
        assert_eq!(Zone::from_name("UTC").unwrap().day(time).to_string(), "2025-07-03");
    }

    #[test]
    fn walls_are_moments_also_where_the_clock_changes() {
        let utc = Zone::from_name("UTC").unwrap();
        let wall = |text: &str| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap();
        for (shown, moment) in [
            ("2025-07-03 10:14", "2025-07-03 08:14:00"),
            ("2025-10-26 02:30", "2025-10-26 00:30:00"),
            ("2025-03-30 02:00", "2025-03-30 01:00:00"),
            ("1900-01-01 00:00", "1970-01-01 00:00:00"),
        ] {
            assert_eq!(utc.format(berlin().moment(wall(shown))), moment, "{shown}");
        }
        let moment = berlin().parse("2025-07-03 10:14:00", now()).unwrap();
        assert_eq!(berlin().wall(moment), wall("2025-07-03 10:14"));
    }

    #[test]
    fn a_step_goes_back_to_its_start() {
        let at = |seconds| Timestamp::from_seconds(seconds).unwrap();
        let step = Duration::from_mins(15);
        assert_eq!(at(1_799.9).floor(step), at(900.0));
        assert_eq!(at(900.0).floor(step), at(900.0));
        assert_eq!(at(5.0).floor(Duration::ZERO), at(5.0));
    }

    #[test]
    fn a_wall_time_that_happens_twice_is_the_first() {
        check("2025-10-26 02:30:00", "2025-10-26 00:30:00");
    }

    #[test]
    fn refusals_show_the_accepted_forms() {
        for text in ["", "yesterday", "2025-13-01 00:00:00", "-5 minutes", "-", "-99999999999999w"]
        {
            let error = berlin().parse(text, now()).unwrap_err();
            assert!(matches!(error, BadTime::Unreadable { .. }), "{text}");
            assert!(error.to_string().contains("YYYY-MM-DD HH:MM:SS"), "{error}");
        }
        let early = berlin().parse("1969-12-31T23:59:59Z", now());
        assert!(matches!(early, Err(BadTime::OutOfRange { .. })));
        let skipped = berlin().parse("2025-03-30 02:30:00", now());
        assert!(matches!(skipped, Err(BadTime::Skipped { .. })));
        let unknown = UnknownZone("Mars/Olympus".to_owned());
        assert_eq!(Zone::from_name("Mars/Olympus"), Err(unknown));
    }

    #[test]
    fn seconds_round_to_microseconds_and_refuse_nonsense() {
        let time = Timestamp::from_seconds(1_735_895_647.25).unwrap();
        assert_eq!(time.micros(), 1_735_895_647_250_000);
        assert_eq!(time.seconds().to_string(), "1735895647.25");
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e18] {
            assert_eq!(Timestamp::from_seconds(bad), None);
        }
    }

    #[test]
    fn windows_are_inclusive_and_open_where_unbounded() {
        let at = |seconds: f64| Timestamp::from_seconds(seconds).unwrap();
        let window = Window::new(Some(at(10.0)), Some(at(20.0))).unwrap();
        assert!(window.touches(at(20.0), at(25.0)));
        assert!(window.touches(at(5.0), at(10.0)));
        assert!(window.touches(at(5.0), at(25.0)));
        assert!(!window.touches(at(20.000_001), at(25.0)));
        assert!(!window.touches(at(5.0), at(9.999_999)));
        assert!(Window::ALL.touches(at(0.0), at(0.0)));
        assert_eq!(Window::new(Some(at(2.0)), Some(at(1.0))), Err(BackwardWindow));
    }
}
