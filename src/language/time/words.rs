//! The closed lists of English words by which times are said.
//!
//! Pure. Parts of the day overlap, as they do in speech.

/// Units of time, and parts of the day that are counted ("two nights ago").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Minutes,
    HalfHours,
    Hours,
    Days,
    Weeks,
    Weekends,
    Months,
    Years,
    Part(&'static str),
}

pub(super) const UNITS: &[(&str, Unit)] = &[
    ("second", Unit::Seconds),
    ("seconds", Unit::Seconds),
    ("sec", Unit::Seconds),
    ("secs", Unit::Seconds),
    ("moment", Unit::Minutes),
    ("minute", Unit::Minutes),
    ("minutes", Unit::Minutes),
    ("mins", Unit::Minutes),
    ("min", Unit::Minutes),
    ("hour", Unit::Hours),
    ("hours", Unit::Hours),
    ("hr", Unit::Hours),
    ("hrs", Unit::Hours),
    ("day", Unit::Days),
    ("days", Unit::Days),
    ("week", Unit::Weeks),
    ("weeks", Unit::Weeks),
    ("weekend", Unit::Weekends),
    ("weekends", Unit::Weekends),
    ("month", Unit::Months),
    ("months", Unit::Months),
    ("year", Unit::Years),
    ("years", Unit::Years),
    ("morning", Unit::Part("morning")),
    ("mornings", Unit::Part("morning")),
    ("afternoon", Unit::Part("afternoon")),
    ("afternoons", Unit::Part("afternoon")),
    ("evening", Unit::Part("evening")),
    ("evenings", Unit::Part("evening")),
    ("night", Unit::Part("night")),
    ("nights", Unit::Part("night")),
];

/// Words for some, with the least and the most that they mean.
pub(super) const FEW: &[(&str, u32, u32)] =
    &[("couple", 2, 3), ("few", 2, 5), ("several", 3, 7), ("some", 2, 5)];

pub(super) const WEEKDAYS: &[&str] =
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

pub(super) const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Parts of the day, from hour to hour after midnight.
pub(super) const PARTS: &[(&str, u16, u16)] = &[
    ("morning", 5, 12),
    ("early morning", 4, 9),
    ("late morning", 10, 13),
    ("midmorning", 9, 11),
    ("noon", 11, 14),
    ("midday", 11, 14),
    ("afternoon", 12, 18),
    ("early afternoon", 12, 15),
    ("late afternoon", 15, 18),
    ("evening", 17, 24),
    ("early evening", 17, 20),
    ("late evening", 20, 24),
    ("night", 18, 30),
    ("late night", 21, 30),
    ("midnight", 23, 26),
    ("dawn", 4, 8),
    ("sunrise", 5, 8),
    ("dusk", 16, 21),
    ("sunset", 16, 21),
    ("daytime", 7, 19),
    ("nighttime", 20, 30),
];

/// What a day is divided by.
#[derive(Debug)]
pub(super) struct Occasion {
    pub(super) name: &'static str,
    /// In minutes after midnight, as the others.
    pub(super) before: (u16, u16),
    /// `None` where one does not see what happens then.
    pub(super) during: Option<(u16, u16)>,
    pub(super) after: (u16, u16),
}

impl Occasion {
    /// Whether the name is that of a thing or a place where it has a determiner.
    pub(super) fn is_place(&self) -> bool {
        matches!(self.name, "bed" | "work" | "school" | "dark")
    }
}

const fn occasion(
    name: &'static str,
    before: (u16, u16),
    during: (u16, u16),
    after: (u16, u16),
) -> Occasion {
    Occasion { name, before, during: Some(during), after }
}

pub(super) const EVENTS: &[Occasion] = &[
    occasion("breakfast", (240, 540), (360, 630), (420, 720)),
    occasion("brunch", (300, 690), (600, 840), (660, 1080)),
    occasion("lunch", (300, 780), (660, 870), (750, 1080)),
    occasion("noon", (300, 720), (660, 840), (720, 1080)),
    occasion("midday", (300, 720), (660, 840), (720, 1080)),
    occasion("coffee", (300, 600), (540, 1020), (600, 1080)),
    occasion("tea", (720, 1020), (870, 1080), (960, 1440)),
    occasion("dinner", (840, 1170), (1020, 1290), (1110, 1560)),
    occasion("supper", (840, 1170), (1020, 1290), (1110, 1560)),
    occasion("bed", (1140, 1560), (1260, 1620), (1260, 1800)),
    occasion("sleep", (1140, 1560), (1260, 1860), (1260, 1800)),
    occasion("work", (300, 570), (480, 1080), (960, 1440)),
    occasion("school", (300, 540), (480, 960), (780, 1200)),
    occasion("sunrise", (180, 420), (300, 480), (360, 720)),
    occasion("sunset", (840, 1140), (960, 1260), (1020, 1560)),
    occasion("dark", (720, 1140), (1080, 1800), (1080, 1560)),
    occasion("midnight", (1200, 1440), (1380, 1560), (1440, 1740)),
];

/// Between the parts of one expression.
pub(super) const JOINS: &[&str] =
    &[",", "at", "in", "on", "of", "during", "around", "about", "the", "sometime", "some", "time"];
