//! Time expressions against answers that were worked out by hand on a calendar.

use proptest::prelude::*;

use super::*;

/// A Wednesday. Text, first and last second meant, hours of the day, weekdays.
const NOW: &str = "2025-01-08 15:30:00";
const TIMES: &str = "
today | 2025-01-08 00:00:00 | 2025-01-08 23:59:59 | |
yesterday | 2025-01-07 00:00:00 | 2025-01-07 23:59:59 | |
the day before yesterday | 2025-01-06 00:00:00 | 2025-01-06 23:59:59 | |
tonight | 2025-01-08 18:00:00 | 2025-01-09 05:59:59 | |
last night | 2025-01-07 18:00:00 | 2025-01-08 05:59:59 | |
the night before last | 2025-01-06 18:00:00 | 2025-01-07 05:59:59 | |
this morning | 2025-01-08 05:00:00 | 2025-01-08 11:59:59 | |
earlier this morning | 2025-01-08 05:00:00 | 2025-01-08 11:59:59 | |
this afternoon | 2025-01-08 12:00:00 | 2025-01-08 17:59:59 | |
this evening | 2025-01-08 17:00:00 | 2025-01-08 23:59:59 | |
yesterday morning | 2025-01-07 05:00:00 | 2025-01-07 11:59:59 | |
early yesterday | 2025-01-07 04:00:00 | 2025-01-07 08:59:59 | |
yesterday evening | 2025-01-07 17:00:00 | 2025-01-07 23:59:59 | |
the day before yesterday in the evening | 2025-01-06 17:00:00 | 2025-01-06 23:59:59 | |
in the morning yesterday | 2025-01-07 05:00:00 | 2025-01-07 11:59:59 | |
on Monday | 2025-01-06 00:00:00 | 2025-01-06 23:59:59 | |
last Monday | 2025-01-06 00:00:00 | 2025-01-06 23:59:59 | |
this Monday | 2025-01-06 00:00:00 | 2025-01-06 23:59:59 | |
on Wednesday | 2025-01-01 00:00:00 | 2025-01-01 23:59:59 | |
on Thursday | 2025-01-02 00:00:00 | 2025-01-02 23:59:59 | |
on Sunday evening | 2025-01-05 17:00:00 | 2025-01-05 23:59:59 | |
tues | 2025-01-07 00:00:00 | 2025-01-07 23:59:59 | |
sat morning | 2025-01-04 05:00:00 | 2025-01-04 11:59:59 | |
on sun evening | 2025-01-05 17:00:00 | 2025-01-05 23:59:59 | |
on thurs | 2025-01-02 00:00:00 | 2025-01-02 23:59:59 | |
Monday last week | 2024-12-30 00:00:00 | 2024-12-30 23:59:59 | |
the Monday before last | 2024-12-30 00:00:00 | 2024-12-30 23:59:59 | |
last week | 2024-12-30 00:00:00 | 2025-01-05 23:59:59 | |
this week | 2025-01-06 00:00:00 | 2025-01-12 23:59:59 | |
last weekend | 2025-01-04 00:00:00 | 2025-01-05 23:59:59 | |
over the weekend | 2025-01-04 00:00:00 | 2025-01-05 23:59:59 | |
last month | 2024-12-01 00:00:00 | 2024-12-31 23:59:59 | |
two days ago | 2025-01-06 00:00:00 | 2025-01-06 23:59:59 | |
3 days ago | 2025-01-05 00:00:00 | 2025-01-05 23:59:59 | |
two nights ago | 2025-01-06 18:00:00 | 2025-01-07 05:59:59 | |
a couple of days ago | 2025-01-05 00:00:00 | 2025-01-06 23:59:59 | |
a few days ago | 2025-01-03 00:00:00 | 2025-01-06 23:59:59 | |
three days ago in the evening | 2025-01-05 17:00:00 | 2025-01-05 23:59:59 | |
a week ago | 2024-12-31 00:00:00 | 2025-01-02 23:59:59 | |
an hour ago | 2025-01-08 14:00:00 | 2025-01-08 14:59:59 | |
half an hour ago | 2025-01-08 14:50:00 | 2025-01-08 15:09:59 | |
20 minutes ago | 2025-01-08 15:05:00 | 2025-01-08 15:14:59 | |
about four hours ago | 2025-01-08 10:42:00 | 2025-01-08 12:17:59 | |
in the last two hours | 2025-01-08 13:30:00 | 2025-01-08 15:29:59 | |
in the past 3 days | 2025-01-05 15:30:00 | 2025-01-08 15:29:59 | |
over the last week | 2025-01-01 15:30:00 | 2025-01-08 15:29:59 | |
within the last hour | 2025-01-08 14:30:00 | 2025-01-08 15:29:59 | |
since Monday | 2025-01-06 00:00:00 | | |
since yesterday evening | 2025-01-07 17:00:00 | | |
until yesterday | | 2025-01-06 23:59:59 | |
after Monday | 2025-01-07 00:00:00 | | |
on January 3rd | 2025-01-03 00:00:00 | 2025-01-03 23:59:59 | |
on 3 January | 2025-01-03 00:00:00 | 2025-01-03 23:59:59 | |
on the 3rd of January in the morning | 2025-01-03 05:00:00 | 2025-01-03 11:59:59 | |
December 24th | 2024-12-24 00:00:00 | 2024-12-24 23:59:59 | |
on Christmas Eve | 2024-12-24 00:00:00 | 2024-12-24 23:59:59 | |
at Christmas | 2024-12-25 00:00:00 | 2024-12-25 23:59:59 | |
on Thanksgiving | 2024-11-28 00:00:00 | 2024-11-28 23:59:59 | |
at Easter | 2024-03-29 00:00:00 | 2024-04-01 23:59:59 | |
on Easter Sunday | 2024-03-31 00:00:00 | 2024-03-31 23:59:59 | |
on the fourth of July | 2024-07-04 00:00:00 | 2024-07-04 23:59:59 | |
from last Halloween | 2024-10-31 00:00:00 | 2024-10-31 23:59:59 | |
on Thanksgiving in the evening | 2024-11-28 17:00:00 | 2024-11-28 23:59:59 | |
the weekend before last | 2024-12-28 00:00:00 | 2024-12-29 23:59:59 | |
on New Year's Day | 2025-01-01 00:00:00 | 2025-01-01 23:59:59 | |
New Year's Eve | 2024-12-31 00:00:00 | 2024-12-31 23:59:59 | |
last Halloween | 2024-10-31 00:00:00 | 2024-10-31 23:59:59 | |
on St. Patrick's Day | 2024-03-17 00:00:00 | 2024-03-17 23:59:59 | |
on Valentines Day | 2024-02-14 00:00:00 | 2024-02-14 23:59:59 | |
on Bonfire Night | 2024-11-05 00:00:00 | 2024-11-05 23:59:59 | |
on New Year’s Eve | 2024-12-31 00:00:00 | 2024-12-31 23:59:59 | |
on Boxing Day | 2024-12-26 00:00:00 | 2024-12-26 23:59:59 | |
on Christmas Eve in the evening | 2024-12-24 17:00:00 | 2024-12-24 23:59:59 | |
January 3, 2024 | 2024-01-03 00:00:00 | 2024-01-03 23:59:59 | |
on the 3rd | 2025-01-03 00:00:00 | 2025-01-03 23:59:59 | |
on the 9th | 2024-12-09 00:00:00 | 2024-12-09 23:59:59 | |
2025-01-03 | 2025-01-03 00:00:00 | 2025-01-03 23:59:59 | |
on 2025-01-03 at 10:30 | 2025-01-03 10:00:00 | 2025-01-03 11:00:59 | |
at ten yesterday | 2025-01-07 09:30:00 | 2025-01-07 10:30:59 | |
yesterday at 3 pm | 2025-01-07 14:30:00 | 2025-01-07 15:30:59 | |
around 3 pm | 2025-01-08 14:00:00 | 2025-01-08 16:00:59 | |
yesterday around half past nine | 2025-01-07 08:30:00 | 2025-01-07 10:30:59 | |
at ten in the evening yesterday | 2025-01-07 21:30:00 | 2025-01-07 22:30:59 | |
at 10pm yesterday | 2025-01-07 21:30:00 | 2025-01-07 22:30:59 | |
at quarter to eight this morning | 2025-01-08 07:15:00 | 2025-01-08 08:15:59 | |
between 9 and 11 yesterday | 2025-01-07 09:00:00 | 2025-01-07 10:59:59 | |
between 2 and 4 pm yesterday | 2025-01-07 14:00:00 | 2025-01-07 15:59:59 | |
before 10 yesterday | 2025-01-07 05:00:00 | 2025-01-07 09:59:59 | |
before lunch | 2025-01-08 05:00:00 | 2025-01-08 12:59:59 | |
before breakfast | 2025-01-08 04:00:00 | 2025-01-08 08:59:59 | |
after dinner | 2025-01-07 18:30:00 | 2025-01-08 01:59:59 | |
after dinner yesterday | 2025-01-07 18:30:00 | 2025-01-08 01:59:59 | |
at lunchtime | 2025-01-08 11:00:00 | 2025-01-08 14:29:59 | |
yesterday during lunch | 2025-01-07 11:00:00 | 2025-01-07 14:29:59 | |
yesterday before going to bed | 2025-01-07 19:00:00 | 2025-01-08 01:59:59 | |
at noon | 2025-01-08 11:00:00 | 2025-01-08 13:59:59 | |
yesterday around noon | 2025-01-07 11:00:00 | 2025-01-07 13:59:59 | |
earlier today | 2025-01-08 00:00:00 | 2025-01-08 23:59:59 | |
recently | 2025-01-05 15:30:00 | 2025-01-08 15:29:59 | |
the other day | 2025-01-01 00:00:00 | 2025-01-07 23:59:59 | |
every morning | | | 5-12 |
in the mornings | | | 5-12 |
in the morning | | | 5-12 |
of a morning | | | 5-12 |
at night | | | 18-30 |
in the evenings last week | 2024-12-30 00:00:00 | 2025-01-05 23:59:59 | 17-24 |
on weekends | | | | 56
on Mondays | | | | 0
every Friday evening | | | 17-24 | 4
on weekdays in the afternoon | | | 12-18 | 01234
";

fn utc() -> Zone {
    Zone::from_name("UTC").unwrap()
}

fn at(text: &str) -> Timestamp {
    utc().parse(text, Timestamp::EPOCH).unwrap()
}

fn one(text: &str) -> PhraseTime {
    let mut found = find(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    let it = found.remove(0);
    assert_eq!(it.at, 0..text.len(), "{text}");
    it.time
}

#[test]
fn expressions_mean_what_a_calendar_says() {
    let mut wrong = Vec::new();
    for line in TIMES.trim().lines() {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let when = match &find(columns[0])[..] {
            [it] if it.at == (0..columns[0].len()) => it.time.resolve(at(NOW), utc()),
            other => {
                wrong.push(format!("{}: found {other:?}", columns[0]));
                continue;
            }
        };
        let shown = |it: Option<Timestamp>| it.map(|it| utc().format(it)).unwrap_or_default();
        let hours = when.hours.map(|it| format!("{}-{}", it.start / 60, it.end / 60));
        let days = when
            .weekdays
            .map(|it| (0..7).filter(|day| it[*day]).map(|day| day.to_string()).collect::<String>());
        let found = [
            shown(when.window.start()),
            shown(when.window.end()),
            hours.unwrap_or_default(),
            days.unwrap_or_default(),
        ];
        let mut expect = columns[1..].to_vec();
        expect.resize(4, "");
        if found != expect[..] {
            wrong.push(format!("{}: {found:?}", columns[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_time_is_left_alone() {
    for text in [
        "about ten mugs",
        "the last book I read",
        "the second shelf",
        "may I have it",
        "the mug I used most recently",
        "two mugs and a can",
        "my morning coat",
        "where was it last seen",
        "a week",
        "at one point",
        "",
    ] {
        assert_eq!(find(text), [], "{text}");
    }
}

#[test]
fn expressions_are_found_within_a_request() {
    let found =
        |text: &str| -> Vec<String> { find(text).into_iter().map(|it| it.time.text).collect() };
    assert_eq!(found("bring the book I was reading in bed last night, please"), ["last night"]);
    assert_eq!(found("Yesterday the mug was here, at ten it was not"), ["Yesterday", "at ten"]);
    assert_eq!(found("what I left on the sofa before lunch"), ["before lunch"]);
    assert_eq!(found("the picture by my bed"), [""; 0]);
    assert_eq!(found("the picture I had before bed"), ["before bed"]);
}

#[test]
fn a_day_and_hours_that_stand_apart_are_one_time() {
    let times = find("yesterday I used it on the desk in the morning").into_iter();
    let [both] = &combine(times.map(|it| it.time).collect())[..] else { panic!() };
    let when = both.resolve(at(NOW), utc());
    assert_eq!(when.window.start(), Some(at("2025-01-07 05:00:00")));
    assert_eq!(both.text, "yesterday in the morning");
}

#[test]
fn hours_without_a_day_recur_or_are_the_latest() {
    let once = one("in the morning").once().resolve(at(NOW), utc());
    assert_eq!(once.window.start(), Some(at("2025-01-08 05:00:00")));
    let as_a_rule = one("before lunch").habitual();
    assert!(as_a_rule.is_recurring() && !one("before lunch").is_recurring());
    let evening = one("in the evening").once().resolve(at(NOW), utc());
    assert_eq!(evening.window.start(), Some(at("2025-01-07 17:00:00")));
}

#[test]
fn on_a_sunday_last_weekend_is_over_and_this_one_is_not() {
    let saturday = |text: &str| {
        let window = one(text).resolve(at("2025-01-05 10:00:00"), utc()).window;
        window.start().map(|it| utc().format(it)).unwrap_or_default()
    };
    assert_eq!(saturday("last weekend"), "2024-12-28 00:00:00");
    assert_eq!(saturday("this weekend"), "2025-01-04 00:00:00");
    assert_eq!(saturday("over the weekend"), "2025-01-04 00:00:00");
}

#[test]
fn recurring_hours_hold_the_night_of_their_day() {
    let held =
        |text: &str, time: &str| one(text).resolve(at(NOW), utc()).holds(at(time), at(time), utc());
    assert!(held("at night", "2025-01-07 23:00:00") && held("at night", "2025-01-07 02:00:00"));
    assert!(!held("at night", "2025-01-07 12:00:00"));
    // Saturday's night ends on Sunday, Sunday's on Monday.
    assert!(
        held("on weekends", "2025-01-05 23:59:59") && !held("on weekends", "2025-01-06 00:00:00")
    );
    assert!(held("every Sunday night", "2025-01-06 02:00:00"));
    assert!(!held("every Sunday night", "2025-01-05 02:00:00"));
}

#[test]
fn days_are_those_of_the_zone_also_where_the_clock_changes() {
    let berlin = Zone::from_name("Europe/Berlin").unwrap();
    let when = one("yesterday").resolve(at("2025-03-31 08:00:00"), berlin);
    assert_eq!(when.window.start(), Some(at("2025-03-29 23:00:00")));
    assert_eq!(
        when.window.end().map(|it| utc().format(it)),
        Some("2025-03-30 21:59:59".to_owned())
    );
}

proptest! {
    #[test]
    fn any_text_is_read_and_any_time_resolved(text in "\\PC{0,60}", seconds in 0_u32..u32::MAX) {
        let now = Timestamp::from_seconds(f64::from(seconds)).unwrap();
        for found in find(&text) {
            prop_assert_eq!(text.get(found.at.clone()), Some(found.time.text.as_str()));
            found.time.resolve(now, utc());
        }
    }

    #[test]
    fn words_of_time_in_any_order_resolve_to_windows_in_order(
        words in proptest::collection::vec(prop::sample::select(vec![
            "yesterday", "last", "week", "the", "at", "ten", "in", "morning", "ago", "two", "days", "on",
            "Monday", "before", "since", "lunch", "night", "3rd", "January", "every", "half", "past", "to", "29", "of", "February",
        ]), 0..8),
        seconds in 0_u32..u32::MAX,
    ) {
        let text = words.join(" ");
        let now = Timestamp::from_seconds(f64::from(seconds)).unwrap();
        let mut end = 0;
        for found in find(&text) {
            prop_assert!(found.at.start >= end && found.at.end > found.at.start);
            end = found.at.end;
            let window = found.time.resolve(now, utc()).window;
            if let (Some(first), Some(last)) = (window.start(), window.end()) {
                prop_assert!(first <= last);
            }
        }
    }

    #[test]
    fn days_ago_are_days_of_the_calendar(days in 1_u32..400, seconds in 1_700_000_000_u32..1_900_000_000) {
        let now = Timestamp::from_seconds(f64::from(seconds)).unwrap();
        let when = one(&format!("{days} days ago")).resolve(now, utc());
        let midnight = seconds - seconds % 86_400 - days * 86_400;
        prop_assert_eq!(when.window.start(), Timestamp::from_seconds(f64::from(midnight)));
    }
}

#[test]
fn a_time_of_the_clock_that_does_not_say_so_may_be_of_the_other_half_of_the_day() {
    let hours = |text: &str| {
        let found = find(text).pop().unwrap().time;
        let start = |it: &PhraseTime| it.hours.unwrap().start / 60;
        (start(&found), found.in_other_half().map(|it| start(&it)))
    };
    let (one, other) = hours("on Monday at eight");
    assert_eq!(other.map(|it| it.abs_diff(one)), Some(12));
    assert!(hours("at half past six").1.is_some());
    for text in ["at 8 pm", "at eight in the evening", "at 18:30", "at 06:15", "in the morning"] {
        assert_eq!(hours(text).1, None, "{text}");
    }
}
