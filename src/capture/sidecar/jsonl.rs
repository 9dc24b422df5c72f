//! JSONL sidecars: one object a line.
//!
//! ```json
//! {"file": "0001.jpg", "time": "2025-01-03T09:14:07Z", "position": [1.2, -0.4, 0], "theta": 1.57,
//!  "frame_id": "map", "map_id": "home-2025-01", "source": "front_camera"}
//! ```
//! `file` and `time` must be there; any other field may be absent or null.
//! With a `caption` (and a `confidence` from 0 to 1) the frame is stored as it was captioned.
//! `orientation`, a quaternion `[x, y, z, w]`, may stand in for `theta`. An
//! unknown field is refused by name: a misspelt `postion` would otherwise lose
//! every place of a day without a word.

use serde_json::{Map, Value};

use crate::base::caption::Caption;
use crate::base::frame::FrameMeta;
use crate::base::pose::Pose;
use crate::base::time::{Timestamp, Zone};
use crate::capture::AnnouncedFrame;
use crate::capture::Defaults;
use crate::capture::FrameFaults;
use crate::capture::sidecar::{
    BadLine, Chronology, Listing, SidecarText, TIME_ACCEPTED, quote, tum,
};

const FIELDS: [&str; 10] = [
    "file",
    "time",
    "position",
    "theta",
    "orientation",
    "frame_id",
    "map_id",
    "source",
    "caption",
    "confidence",
];

/// Longest caption, as `observe` takes it.
const CAPTION_BYTES_MAX: usize = 8_000;

pub(super) fn parse(text: &SidecarText, defaults: &Defaults) -> Listing {
    let (mut frames, mut faults) = (Vec::new(), FrameFaults::default());
    let mut chronology = Chronology::default();
    for (number, line) in text.lines() {
        let announced = line.and_then(|line| parse_line(line, defaults)).and_then(|it| {
            chronology.admit(&it.meta.source, it.meta.taken_at, defaults.zone)?;
            Ok(it)
        });
        match announced {
            Ok(it) => frames.push(it),
            Err(bad) => faults.push(text.fault(number, &bad)),
        }
    }
    Listing { frames, faults }
}

fn parse_line(line: &str, defaults: &Defaults) -> Result<AnnouncedFrame, BadLine> {
    let value: Value = serde_json::from_str(line).map_err(|error| {
        // The line is the file's, not the parser's, which sees one line only.
        let reason = error.to_string();
        let reason = reason.replace("at line 1 column", "at column");
        BadLine::NotAnObject(reason)
    })?;
    let Value::Object(fields) = value else {
        return Err(BadLine::NotAnObject(format!("it is {}", quote(line))));
    };
    if let Some(field) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        let (field, accepted) = (field.clone(), FIELDS.join(", "));
        return Err(BadLine::UnknownField { field, accepted });
    }
    let file = text_of(&fields, "file")?
        .ok_or(BadLine::Missing { field: "file", accepted: "the frame's file name" })?;
    let meta = FrameMeta {
        taken_at: time_of(&fields, defaults.zone)?,
        pose: pose_of(&fields)?,
        frame_id: text_of(&fields, "frame_id")?.unwrap_or(&defaults.frame_id).to_owned(),
        map_id: text_of(&fields, "map_id")?.unwrap_or(&defaults.map_id).to_owned(),
        source: text_of(&fields, "source")?.unwrap_or(&defaults.source).to_owned(),
    };
    meta.check()?;
    Ok(AnnouncedFrame { file: file.to_owned(), meta, caption: caption_of(&fields)? })
}

/// Value of a field; `None` where it is absent or null.
fn get_field<'a>(fields: &'a Map<String, Value>, field: &str) -> Option<&'a Value> {
    fields.get(field).filter(|value| !value.is_null())
}

fn text_of<'a>(fields: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>, BadLine> {
    get_field(fields, field)
        .map(|value| value.as_str().ok_or_else(|| bad_field(field, value, "a text")))
        .transpose()
}

fn caption_of(fields: &Map<String, Value>) -> Result<Option<Caption>, BadLine> {
    let text = text_of(fields, "caption")?.map(str::trim);
    let confidence = get_field(fields, "confidence");
    let Some(text) = text else {
        return match confidence {
            None => Ok(None),
            Some(_) => {
                Err(BadLine::Missing { field: "caption", accepted: "a text beside its confidence" })
            }
        };
    };
    if text.is_empty() || text.len() > CAPTION_BYTES_MAX {
        let accepted = "a text of 1 to 8000 bytes";
        return Err(bad_field("caption", &Value::from(shorten(text)), accepted));
    }
    let confidence = confidence.map(|value| {
        #[expect(clippy::cast_possible_truncation, reason = "a number from 0 to 1")]
        let given = value.as_f64().filter(|it| (0.0..=1.0).contains(it)).map(|it| it as f32);
        given.ok_or_else(|| bad_field("confidence", value, "a number from 0 to 1 or null"))
    });
    let confidence = confidence.transpose()?;
    Ok(Some(Caption { text: text.to_owned(), confidence, detections: Vec::new() }))
}

fn time_of(fields: &Map<String, Value>, zone: Zone) -> Result<Timestamp, BadLine> {
    let value = get_field(fields, "time")
        .ok_or(BadLine::Missing { field: "time", accepted: TIME_ACCEPTED })?;
    let time = match value {
        Value::Number(seconds) => seconds.as_f64().and_then(Timestamp::from_seconds),
        // A time relative to now ('-10m') is no time of a recording.
        Value::String(text) if !text.trim_start().starts_with('-') => {
            zone.parse(text, Timestamp::EPOCH).ok()
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    };
    time.ok_or_else(|| bad_field("time", value, TIME_ACCEPTED))
}

fn pose_of(fields: &Map<String, Value>) -> Result<Option<Pose>, BadLine> {
    let heading = heading_of(fields)?;
    match numbers_of::<3>(fields, "position")? {
        Some(position) => Ok(Some(Pose::new(position, heading)?)),
        None if heading.is_some() => {
            Err(BadLine::Missing { field: "position", accepted: "[x, y, z] beside the heading" })
        }
        None => Ok(None),
    }
}

fn heading_of(fields: &Map<String, Value>) -> Result<Option<f64>, BadLine> {
    let theta = get_field(fields, "theta")
        .map(|value| {
            value.as_f64().ok_or_else(|| bad_field("theta", value, "a number of radians or null"))
        })
        .transpose()?;
    let Some(quaternion) = numbers_of::<4>(fields, "orientation")? else { return Ok(theta) };
    if theta.is_some() {
        let found = "given beside theta".to_owned();
        let accepted = "one of the two";
        return Err(BadLine::Field { field: "orientation".to_owned(), found, accepted });
    }
    tum::heading("orientation", quaternion).map(Some)
}

fn numbers_of<const N: usize>(
    fields: &Map<String, Value>,
    field: &str,
) -> Result<Option<[f64; N]>, BadLine> {
    let accepted = if N == 3 { "[x, y, z] in metres or null" } else { "[x, y, z, w] or null" };
    let Some(value) = get_field(fields, field) else { return Ok(None) };
    let Some(items) = value.as_array().filter(|items| items.len() == N) else {
        return Err(bad_field(field, value, accepted));
    };
    let mut numbers = [0.0; N];
    for ((at, item), number) in items.iter().enumerate().zip(&mut numbers) {
        *number =
            item.as_f64().ok_or_else(|| bad_field(&format!("{field}[{at}]"), item, "a number"))?;
    }
    Ok(Some(numbers))
}

fn bad_field(field: &str, value: &Value, accepted: &'static str) -> BadLine {
    let found = match value.as_str() {
        Some(text) => quote(text),
        None => shorten(&value.to_string()),
    };
    BadLine::Field { field: field.to_owned(), found, accepted }
}

fn shorten(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    if text.chars().count() <= SHOWN_MAX {
        return text.to_owned();
    }
    text.chars().take(SHOWN_MAX).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn defaults() -> Defaults {
        Defaults { zone: Zone::from_name("Europe/Berlin").unwrap(), ..Defaults::default() }
    }

    fn listing(lines: &str) -> Listing {
        let text = SidecarText { name: "frames.jsonl".to_owned(), bytes: lines.into() };
        parse(&text, &defaults())
    }

    /// The one fault of a line, without the place.
    fn refuse(line: &str) -> String {
        let listing = listing(line);
        assert!(listing.frames.is_empty(), "{line} was accepted");
        listing.faults.first()[0].reason.clone()
    }

    #[test]
    fn a_full_line_is_taken_over_whole() {
        let listing = listing(
            r#"{"file":"a/1.jpg","time":"2025-01-03 10:14:07","position":[1.2,-0.4,0],"theta":1.57,"frame_id":"odom","map_id":"home","source":"front"}"#,
        );
        let expect = FrameMeta {
            taken_at: Timestamp::from_seconds(1_735_895_647.0).unwrap(),
            pose: Some(Pose::new([1.2, -0.4, 0.0], Some(1.57)).unwrap()),
            frame_id: "odom".to_owned(),
            map_id: "home".to_owned(),
            source: "front".to_owned(),
        };
        assert_eq!(
            listing.frames,
            [AnnouncedFrame { file: "a/1.jpg".to_owned(), meta: expect, caption: None }]
        );
        assert_eq!(listing.faults.total(), 0);
    }

    #[test]
    fn absent_fields_come_from_the_defaults() {
        let listing = listing(r#"{"file":"1.jpg","time":1735895647.25,"position":null}"#);
        let meta = &listing.frames[0].meta;
        assert_eq!(meta.taken_at.micros(), 1_735_895_647_250_000);
        assert_eq!(
            (meta.pose, &*meta.frame_id, &*meta.map_id, &*meta.source),
            (None, "map", "", "camera")
        );
    }

    #[test]
    fn a_frame_may_come_with_its_caption() {
        let caption = |fields: &str| {
            let listing = listing(&format!(r#"{{"file":"1.jpg","time":1,{fields}}}"#));
            listing.frames[0].caption.clone()
        };
        let mug = Caption::without_confidence("a mug");
        assert_eq!(caption(r#""caption":" a mug ""#), Some(mug.clone()));
        let sure = Caption { confidence: Some(0.5), ..mug };
        assert_eq!(caption(r#""caption":"a mug","confidence":0.5"#), Some(sure));
        assert_eq!(caption(r#""caption":null"#), None);
    }

    #[test]
    fn the_forms_of_time_mean_the_same() {
        let forms = [
            "\"2025-01-03T09:14:07Z\"",
            "\"2025-01-03T10:14:07+01:00\"",
            "\"2025-01-03 10:14:07\"",
            "1735895647",
        ];
        for form in forms {
            let listing = listing(&format!(r#"{{"file":"1.jpg","time":{form}}}"#));
            let taken_at = listing.frames[0].meta.taken_at;
            assert_eq!(taken_at.micros(), 1_735_895_647_000_000, "{form}");
        }
    }

    #[test]
    fn a_quaternion_may_stand_in_for_the_heading() {
        let listing =
            listing(r#"{"file":"1.jpg","time":1,"position":[0,0,0],"orientation":[0,0,1,0]}"#);
        let heading = listing.frames[0].meta.pose.unwrap().heading.unwrap();
        assert!((heading - std::f64::consts::PI).abs() < 1e-9);
    }

    #[test]
    fn refusals_name_the_field_what_came_and_what_is_accepted() {
        let cases = [
            (
                r#"{"file":"1","time":1,"position":[0,"abc",0]}"#,
                r#"position[1] is "abc", accepted is a number"#,
            ),
            (
                r#"{"file":"1","time":1,"position":[0,1]}"#,
                "position is [0,1], accepted is [x, y, z] in metres or null",
            ),
            (r#"{"file":"1","time":1,"position":[0,1,1e12]}"#, "position[2] is 1000000000000"),
            (
                r#"{"file":"1","time":1,"position":[0,1,0],"theta":"north"}"#,
                r#"theta is "north", accepted is a number of radians"#,
            ),
            (r#"{"file":"1","time":1,"theta":1}"#, "position is missing"),
            (
                r#"{"file":"1","time":1,"position":[0,1,0],"theta":1,"orientation":[0,0,0,1]}"#,
                "orientation is given beside theta",
            ),
            (
                r#"{"file":"1","time":1,"position":[0,1,0],"orientation":[0,0,0,0]}"#,
                "orientation is [0.0, 0.0, 0.0, 0.0], accepted is a unit quaternion",
            ),
            (r#"{"file":"1","time":"-10m"}"#, r#"time is "-10m", accepted is RFC 3339"#),
            (r#"{"file":"1","time":1735895647000}"#, "time is 1735895647000, accepted is RFC 3339"),
            (r#"{"file":"1","time":true}"#, "time is true"),
            (r#"{"file":"1"}"#, "time is missing"),
            (r#"{"time":1}"#, "file is missing"),
            (r#"{"file":7,"time":1}"#, "file is 7, accepted is a text"),
            (
                r#"{"file":"1","time":1,"postion":[0,0,0]}"#,
                r#"there is no field "postion"; accepted are file, time, position"#,
            ),
            (r#"{"file":"1","time":1,"source":""}"#, "source is empty"),
            (
                r#"{"file":"1","time":1,"caption":" "}"#,
                r#"caption is "", accepted is a text of 1 to 8000 bytes"#,
            ),
            (
                r#"{"file":"1","time":1,"caption":"a","confidence":2}"#,
                "confidence is 2, accepted is a number from 0 to 1",
            ),
            (r#"{"file":"1","time":1,"confidence":0.5}"#, "caption is missing"),
            (
                r#"{"file":"1","#,
                "the line is no JSON object: EOF while parsing a value at column 12",
            ),
            ("[1]", r#"the line is no JSON object: it is "[1]""#),
        ];
        for (line, expect) in cases {
            let reason = refuse(line);
            assert!(reason.starts_with(expect), "{line}\n  {reason}");
        }
    }

    #[test]
    fn a_wrong_line_is_reported_by_number_and_the_rest_goes_on() {
        let listing = listing(concat!(
            "{\"file\":\"1.jpg\",\"time\":1}\n",
            "\n",
            "nonsense\n",
            "{\"file\":\"2.jpg\",\"time\":2}\n"
        ));
        assert_eq!(listing.frames.len(), 2);
        assert_eq!(listing.faults.first()[0].place, "frames.jsonl:3");
    }

    #[test]
    fn time_goes_forward_for_each_camera_on_its_own() {
        let listing = listing(concat!(
            "{\"file\":\"f1\",\"time\":10,\"source\":\"front\"}\n",
            "{\"file\":\"f2\",\"time\":12,\"source\":\"front\"}\n",
            "{\"file\":\"r1\",\"time\":11,\"source\":\"rear\"}\n",
            "{\"file\":\"f3\",\"time\":12,\"source\":\"front\"}\n",
            "{\"file\":\"f4\",\"time\":11.5,\"source\":\"front\"}\n",
            "{\"file\":\"f5\",\"time\":13,\"source\":\"front\"}\n"
        ));
        let files: Vec<&str> = listing.frames.iter().map(|it| it.file.as_str()).collect();
        assert_eq!(files, ["f1", "f2", "r1", "f5"]);
        let places: Vec<&str> = listing.faults.first().iter().map(|it| it.place.as_str()).collect();
        assert_eq!(places, ["frames.jsonl:4", "frames.jsonl:5"]);
        assert!(listing.faults.first()[0].reason.contains("not later than"));
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in ".{0,80}") {
            drop(listing(&line));
        }

        #[test]
        fn any_value_of_a_field_is_read_or_refused(field in prop::sample::select(FIELDS.to_vec()), value in "(-?[0-9]{1,20}(e[0-9]{1,3})?|\"[^\"\\\\]{0,9}\"|\\[[0-9,]{0,9}\\]|null|true|\\{\\})") {
            drop(listing(&format!(r#"{{"file":"1","time":1,"{field}":{value}}}"#)));
        }
    }
}
