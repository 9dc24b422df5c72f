//! Which sightings are of one object.

use std::time::Duration;

use super::*;
use crate::base::frame::FrameMeta;
use crate::base::pose::Pose;
use crate::index::phrases::{ObjectName, Relation};
use crate::language::caption::ParsedCaption;
use crate::language::mention::mentions;

/// 2025-01-06 09:00:00 UTC, a Monday.
pub(crate) const MONDAY: f64 = 1_736_154_000.0;
const DAY: u64 = 24 * 60;

/// Minutes after Monday morning, x in metres, caption.
pub(crate) type Seen = (u64, f64, &'static str);

pub(crate) fn records(seen: &[Seen]) -> Vec<Record> {
    let start = Timestamp::from_seconds(MONDAY).unwrap();
    let record = |(id, (minutes, x, caption)): (u64, &Seen)| {
        let taken_at = start.plus(Duration::from_secs(60 * minutes));
        let meta = FrameMeta {
            taken_at,
            pose: Some(Pose { position: [*x, 0.0, 0.0], heading: None }),
            frame_id: "map".to_owned(),
            map_id: "home".to_owned(),
            source: "camera".to_owned(),
        };
        Record {
            id: RecordId(id),
            meta,
            end_at: taken_at,
            caption: (*caption).to_owned(),
            parsed: ParsedCaption::by_rules(caption),
            confidence: None,
            detections: Vec::new(),
            layer: None,
            image: None,
        }
    };
    (1..).zip(seen).map(record).collect()
}

pub(crate) fn sought(thing: &str) -> ObjectQuery {
    let mention = mentions(thing).remove(0);
    let mut stems = vec![mention.head_stem];
    stems.extend((stems[0] == "mug").then(|| "cup".to_owned()));
    ObjectQuery::of_stems(mention.attributes, stems)
}

pub(crate) fn grouped(seen: &[Seen], thing: &str) -> Vec<Instance> {
    group(&records(seen), &PlaceHistory::default(), &sought(thing), Zone::from_name("UTC").unwrap())
}

/// Each object as `description: ids`.
fn check(seen: &[Seen], thing: &str, expect: &[&str]) {
    let found: Vec<String> = grouped(seen, thing)
        .iter()
        .map(|it| {
            let ids: Vec<String> = it.records.iter().map(|id| id.0.to_string()).collect();
            format!("{}: {}", it.desc, ids.join(" "))
        })
        .collect();
    assert_eq!(found, expect, "{seen:#?}");
}

const DESK: &str = "a red mug on a wooden desk in the office";
const SINK: &str = "a red mug in a metal sink in the kitchen";

#[test]
fn mondays_desk_and_tuesdays_sink_hold_one_mug() {
    check(&[(0, 0.0, DESK), (DAY, 8.0, SINK)], "mug", &["red mug: 1 2"]);
}

#[test]
fn the_noun_of_a_description_is_not_its_last_word() {
    let seen = [(0, 0.0, "a yellow bus 42 at a kerb"), (DAY, 8.0, "a yellow bus 42 on a road")];
    let nouns: Vec<(String, String)> =
        grouped(&seen, "bus 42").into_iter().map(|it| (it.desc, it.noun)).collect();
    assert_eq!(nouns, [("yellow bus 42".to_owned(), "bus".to_owned())]);
}

#[test]
fn two_colours_are_two() {
    let blue = "a blue mug on a wooden desk in the office";
    check(
        &[(0, 0.0, DESK), (DAY, 0.0, blue), (2 * DAY, 0.0, DESK)],
        "mug",
        &["red mug: 1 3", "blue mug: 2"],
    );
    check(
        &[(0, 0.0, "a red mug next to a blue mug on a desk")],
        "mug",
        &["red mug: 1", "blue mug: 1"],
    );
}

#[test]
fn nouns_of_one_word_that_end_alike_are_two() {
    let seen = [
        (0, 0.0, "a hairbrush on a shelf in the bathroom"),
        (DAY, 8.0, "a paintbrush on a bench in the shed"),
        (2 * DAY, 0.0, "a brown hairbrush on a shelf in the bathroom"),
    ];
    let mut brush = sought("brush");
    let special = ["hairbrush", "paintbrush"].map(|stem| ObjectName {
        stem: stem.to_owned(),
        noun: String::new(),
        attributes: Vec::new(),
        relation: Relation::MoreSpecial,
        needed: Vec::new(),
        kind_of: None,
    });
    brush.names.extend(special);
    let zone = Zone::from_name("UTC").unwrap();
    let found = group(&records(&seen), &PlaceHistory::default(), &brush, zone);
    let found: Vec<(&str, usize)> =
        found.iter().map(|it| (it.desc.as_str(), it.records.len())).collect();
    assert_eq!(found, [("brown hairbrush", 2), ("paintbrush", 1)]);
}

#[test]
fn two_alike_in_one_frame_are_two() {
    check(&[(0, 0.0, "two red mugs on a shelf")], "mug", &["red mug: 1", "red mug: 1"]);
    check(
        &[(0, 0.0, "a red mug, a book and a red mug on a shelf")],
        "mug",
        &["red mug: 1", "red mug: 1"],
    );
    // Another sentence may speak of the same one.
    check(&[(0, 0.0, "A red mug is on a shelf. The red mug is empty.")], "mug", &["red mug: 1"]);
}

#[test]
fn two_alike_at_two_places_in_each_round_are_two() {
    let rounds: Vec<Seen> =
        (0..3).flat_map(|round| [(round * 180, 0.0, DESK), (round * 180 + 5, 8.0, SINK)]).collect();
    check(&rounds, "mug", &["red mug: 2 4 6", "red mug: 1 3 5"]);
    let found = grouped(&rounds, "mug");
    assert_eq!(found[0].places[0].words, "metal sink in the kitchen");
    assert!(found[0].confidence < 1.0);
}

#[test]
fn synonyms_and_plurals_are_one_thing_and_others_are_left_out() {
    let seen = [
        (0, 0.0, "a red cup on a wooden desk in the office"),
        (DAY, 0.0, DESK),
        (DAY + 1, 3.0, "a red book on a bed"),
    ];
    check(&seen, "mug", &["red cup: 1 2"]);
    check(&seen, "blue mug", &[]);
    check(&[], "mug", &[]);
}

#[test]
fn a_slip_of_the_captioner_is_no_other_object() {
    let blue = "a blue mug on a wooden desk in the office";
    let mut seen: Vec<Seen> = (0..6).map(|day| (day * DAY, 0.0, DESK)).collect();
    seen.insert(3, (2 * DAY + 60, 0.1, blue));
    check(&seen, "mug", &["red mug: 1 2 3 4 5 6 7"]);
}

#[test]
fn a_visit_is_an_occasion_and_not_a_frame() {
    let seen =
        [(0, 0.0, DESK), (1, 0.2, DESK), (20, 0.0, DESK), (120, 0.0, DESK), (DAY, 8.0, SINK)];
    let [mug] = &grouped(&seen, "mug")[..] else { panic!("one mug") };
    let visits: Vec<(usize, usize)> =
        mug.visits.iter().map(|it| (it.place, it.records.len())).collect();
    assert_eq!(visits, [(0, 3), (0, 1), (1, 1)]);
    let places: Vec<(usize, &str, Option<[f64; 3]>, u64)> = mug
        .places
        .iter()
        .map(|it| (it.count, it.words.as_str(), it.position, it.record.0))
        .collect();
    assert_eq!(
        places,
        [
            (2, "wooden desk in the office", Some([0.0; 3]), 4),
            (1, "metal sink in the kitchen", Some([8.0, 0.0, 0.0]), 5),
        ]
    );
    assert_eq!((mug.days_seen, mug.hours[9], mug.hours[11]), (2, 2, 1));
    assert_eq!(mug.last_seen.since(mug.first_seen), Duration::from_secs(DAY * 60));
}

#[test]
fn a_place_is_near_and_called_the_same() {
    let counter = "a red mug on a white counter in the kitchen";
    let table = "a red mug on a wooden table in the kitchen";
    let seen = [(0, 0.0, counter), (DAY, 0.7, table), (2 * DAY, 2.0, counter)];
    let found = grouped(&seen, "mug");
    let counts: Vec<usize> = found[0].places.iter().map(|it| it.count).collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn what_was_seen_with_it_is_told_most_frequent_first() {
    let seen = [
        (0, 0.0, "a purple book next to a red mug on a wooden table in the kitchen"),
        (DAY, 0.0, "a red mug and an open purple book on a table"),
        (2 * DAY, 0.0, "a person reading a purple book on a table"),
    ];
    let found = grouped(&seen, "book");
    assert_eq!(found[0].seen_with, ["red mug", "person"]);
    assert_eq!(found[0].desc, "purple book");
}

/// As [`check`], where captions are so sure of themselves and all history are known.
fn check_unsure(seen: &[Seen], confidence: f32, thing: &str, expect: &[&str]) {
    let mut records = records(seen);
    for record in &mut records {
        record.confidence = Some(confidence);
    }
    let wanted = sought(thing);
    let history = PlaceHistory::of(records.clone(), &wanted);
    let found = group(&records, &history, &wanted, Zone::from_name("UTC").unwrap());
    let found: Vec<String> = found
        .iter()
        .map(|it| {
            let seen: Vec<String> =
                it.visits.iter().flat_map(|it| &it.records).map(|id| id.0.to_string()).collect();
            let doubt = if it.is_likely_real() { "" } else { "?" };
            format!("{}{doubt}: {}", it.desc, seen.join(" "))
        })
        .collect();
    assert_eq!(found, expect, "{seen:#?}");
}

const BLUE_DESK: &str = "a blue mug on a wooden desk in the office";
const BARE_DESK: &str = "a wooden desk with a laptop on it in the office";
const ROUND: u64 = 2 * 60;

#[test]
fn a_colour_that_an_unsure_caption_gives_what_always_is_there_is_its_own() {
    let mut seen: Vec<Seen> = (0..6).map(|at| (at * ROUND, 0.0, BLUE_DESK)).collect();
    seen.push((6 * ROUND, 0.0, DESK));
    check_unsure(&seen, 0.7, "mug", &["blue mug: 1 2 3 4 5 6 7"]);
    check_unsure(&seen, 1.0, "mug", &["blue mug: 1 2 3 4 5 6", "red mug: 7"]);
    // The other one is there, too.
    let both = "a red mug next to a blue mug on a wooden desk in the office";
    seen[6] = (6 * ROUND, 0.0, both);
    check_unsure(&seen, 0.7, "mug", &["blue mug: 1 2 3 4 5 6 7", "red mug?: 7"]);
}

#[test]
fn a_slip_is_no_occasion_and_what_may_be_nothing_else_comes_last() {
    let mut seen: Vec<Seen> = (0..6).map(|at| (at * ROUND, 8.0, SINK)).collect();
    seen.extend((0..6).map(|at| (at * ROUND + 5, 0.0, BARE_DESK)));
    seen.push((5 * ROUND + 90, 0.0, DESK));
    check_unsure(&seen, 0.5, "mug", &["red mug: 1 2 3 4 5 6"]);
    check_unsure(&seen, 1.0, "mug", &["red mug: 1 2 3 4 5 6 13"]);
    let seen: Vec<Seen> = seen.into_iter().filter(|it| it.2 != SINK).collect();
    check_unsure(&seen, 0.5, "mug", &["red mug?: 7"]);
}

#[test]
fn one_that_an_unsure_caption_names_twice_is_one() {
    const TWICE: &str = "a red mug and a red mug on a wooden desk in the office";
    let twice = [(0, 0.0, DESK), (ROUND, 0.0, TWICE), (2 * ROUND, 0.0, DESK)];
    check_unsure(&twice, 0.9, "mug", &["red mug: 1 2 3"]);
    let twice_again = [(0, 0.0, TWICE), (ROUND, 0.0, TWICE)];
    check_unsure(&twice_again, 0.9, "mug", &["red mug: 1 2", "red mug: 1 2"]);
    check_unsure(&twice_again, 0.4, "mug", &["red mug: 1 2"]);
}

#[test]
fn what_never_moves_is_another_one_far_away() {
    let rounds: Vec<Seen> = (0..4)
        .flat_map(|day| {
            [(day * DAY, 0.0, "a red fire hydrant"), (day * DAY + 60, 200.0, "a red fire hydrant")]
        })
        .collect();
    check(&rounds, "a hydrant", &["red fire hydrant: 2 4 6 8", "red fire hydrant: 1 3 5 7"]);
    let near: Vec<Seen> = vec![(0, 0.0, "a wooden door"), (DAY, 4.0, "a wooden door")];
    check(&near, "a door", &["wooden door: 1 2"]);
}

#[test]
fn what_never_moves_is_known_by_its_whole_name_and_by_its_others() {
    let apart = |thing: &'static str| grouped(&[(0, 0.0, thing), (DAY, 440.0, thing)], thing).len();
    for fixture in [
        "a manhole cover",
        "a street light",
        "a fire extinguisher",
        "a traffic light",
        "a mailbox",
        "a railing",
    ] {
        assert_eq!(apart(fixture), 2, "{fixture}");
    }
    for thing in ["a mug", "a coat tree", "a shower curtain"] {
        assert_eq!(apart(thing), 1, "{thing}");
    }
}

#[test]
fn what_only_may_be_the_thing_is_none_where_that_was_seen() {
    let mut target = sought("a blanket");
    let cover = ObjectName {
        stem: "cover".to_owned(),
        relation: Relation::Likely,
        ..target.names[0].clone()
    };
    target.names.push(cover);
    let grouped = |seen: &[Seen]| {
        let zone = Zone::from_name("UTC").unwrap();
        let found = group(&records(seen), &PlaceHistory::default(), &target, zone);
        found.into_iter().map(|it| (it.desc, it.records.len())).collect::<Vec<_>>()
    };
    let one = |desc: &str| vec![(desc.to_owned(), 1)];
    let cover = (0, 0.0, "a dust cover on a turntable");
    assert_eq!(grouped(&[cover]), one("dust cover"));
    assert_eq!(grouped(&[cover, (DAY, 5.0, "a grey blanket on a sofa")]), one("grey blanket"));
}

#[test]
fn a_description_names_what_it_was_made_of() {
    check(
        &[(0, 0.0, "tortoiseshell glasses on a shelf")],
        "glasses",
        &["tortoiseshell glasses: 1"],
    );
}
