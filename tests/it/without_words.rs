//! Records listed and counted without a description, and read one by one as resources.

use std::collections::BTreeMap;
use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engram::base::caller::Caller;
use engram::base::picture::{ImageLimits, decode};
use engram::tools::{Resource, ToolBox as _, ToolError};
use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};

use crate::running::wait_for;
use crate::tools::{Memory, ids, png};

/// Observations in no order of time, some at the same moment, of two sources.
fn scattered(memory: &Memory) -> Vec<(u64, u64, &'static str)> {
    let mut known = Vec::new();
    for id in 1..=40_u64 {
        let second = (id * 17) % 29;
        let source = if id % 3 == 0 { "rear" } else { "front" };
        let time = format!("2025-01-03 09:00:{second:02}");
        let position = json!([id, 0]);
        memory.ask(
            "observe",
            json!({"caption": format!("box {id}"), "time": time, "source": source,
                "position": position, "map_id": "home"}),
        );
        known.push((second, id, source));
    }
    known
}

/// All pages of a list.
fn pages(memory: &Memory, mut arguments: Value) -> Vec<u64> {
    let mut found = Vec::new();
    loop {
        let page = memory.ask("list_records", arguments.clone());
        assert!(page["records"].as_array().unwrap().len() <= 7);
        found.extend(ids(&page));
        if page["more"] == false {
            return found;
        }
        arguments["cursor"] = page["cursor"].clone();
    }
}

#[test]
fn pages_of_every_order_are_those_of_a_sorted_list() {
    let memory = Memory::new();
    let known = scattered(&memory);
    let front: Vec<_> = known.iter().copied().filter(|it| it.2 == "front").collect();
    let near: Vec<_> = known.iter().copied().filter(|it| (10..=20).contains(&it.1)).collect();
    let late: Vec<_> = known.iter().copied().filter(|it| (5..=20).contains(&it.0)).collect();
    let area = json!({"x": 15, "y": 0, "radius": 5, "map_id": "home"});
    let cases = [
        (json!({}), known),
        (json!({"source": "front"}), front),
        (json!({"area": area}), near),
        (json!({"start_time": "2025-01-03 09:00:05", "end_time": "2025-01-03 09:00:20"}), late),
    ];
    for (filter, mut expect) in cases {
        let listed = |order: &str| {
            let mut arguments = filter.clone();
            arguments["order"] = json!(order);
            arguments["limit"] = json!(7);
            pages(&memory, arguments)
        };
        let ids =
            |expect: &[(u64, u64, &str)]| -> Vec<u64> { expect.iter().map(|it| it.1).collect() };
        assert_eq!(listed("first_recorded"), ids(&expect), "{filter}");
        expect.reverse();
        assert_eq!(listed("last_recorded"), ids(&expect), "{filter}");
        expect.sort_unstable();
        assert_eq!(listed("oldest"), ids(&expect), "{filter}");
        expect.reverse();
        assert_eq!(listed("newest"), ids(&expect), "{filter}");
        let count = memory.ask("list_records", filter.clone())["count"].as_u64().unwrap();
        assert_eq!(count, expect.len() as u64, "{filter}");
    }
}

#[test]
fn a_cursor_goes_on_though_records_come_and_go() {
    let memory = Memory::new();
    memory.observe(&["one", "two", "three", "four", "five", "six"]);
    let page = |cursor: &Value, limit: u64| {
        memory.ask("list_records", json!({"limit": limit, "cursor": cursor}))
    };
    let first = page(&Value::Null, 3);
    assert_eq!(ids(&first), [1, 2, 3]);
    assert_eq!(first["count"], 6);
    // Gone are the record at which the page ended, and the next one; one comes before, one after.
    memory.ask("memory_forget", json!({"scope": "episodic", "ids": [3, 4], "confirm": 2}));
    for time in ["2025-01-03 08:00:00", "2025-01-03 09:04:30"] {
        memory.ask("observe", json!({"caption": "late", "time": time}));
    }
    assert_eq!(ids(&page(&first["cursor"], 10)), [5, 8, 6]);
    // A record's id is a cursor too, as long as it is there.
    assert_eq!(ids(&page(&json!("5"), 1)), [8]);
    assert_eq!(ids(&page(&json!(5), 1)), [8]);
    let gone = memory.refusal("list_records", json!({"cursor": "3"}));
    assert!(gone.contains("\"cursor\" is \"3\", a record that is not there"), "{gone}");
    let follow = json!({"cursor": "3", "order": "first_recorded"});
    assert_eq!(ids(&memory.ask("list_records", follow)), [5, 6, 7, 8]);
    for wrong in ["x", "1-x", "-1"] {
        let text = memory.refusal("list_records", json!({"cursor": wrong}));
        assert!(text.contains("accepted is the cursor of a reply, or a record's id"), "{text}");
    }
    let nothing = memory.ask("list_records", json!({"source": "nobody"}));
    assert_eq!((&nothing["count"], &nothing["more"]), (&json!(0), &json!(false)));
    assert!(nothing["why_empty"].as_str().unwrap().contains("of source \"nobody\""));
}

#[test]
fn counts_by_time_add_up_in_every_width() {
    let memory = Memory::new();
    let known = scattered(&memory);
    let mut expect = BTreeMap::new();
    for (second, _, _) in &known {
        *expect.entry(second / 10 * 10).or_insert(0) += 1;
    }
    let tens = memory.ask("count_records_by_time", json!({"bucket": "10 seconds"}));
    let counted: BTreeMap<u64, i32> = tens["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let second = it["time"].as_str().unwrap().rsplit(':').next().unwrap().parse().unwrap();
            (second, i32::try_from(it["count"].as_i64().unwrap()).unwrap())
        })
        .collect();
    assert_eq!(counted, expect);
    for width in ["year", "month", "week", "day", "6 hours", "hour", "minute", "second"] {
        let reply = memory.ask("count_records_by_time", json!({"bucket": width}));
        let sum: u64 = reply["buckets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["count"].as_u64().unwrap())
            .sum();
        assert_eq!((sum, &reply["count"]), (40, &json!(40)), "{width}");
        assert_eq!(reply["bucket"], width);
    }
    let auto = memory.ask("count_records_by_time", json!({"buckets_max": 3}));
    assert_eq!((&auto["bucket"], &auto["buckets"]), (&json!("10 seconds"), &tens["buckets"]));
    let front = memory.ask("count_records_by_time", json!({"source": "front", "bucket": "year"}));
    assert_eq!(front["buckets"][0]["count"], 27);
    assert_eq!(front["buckets"][0]["end_timestamp"], 1_767_225_600.0);
    let refused =
        memory.refusal("count_records_by_time", json!({"bucket": "second", "buckets_max": 9}));
    assert!(refused.contains("those are more than 9; accepted is a wider one"), "{refused}");
}

/// One frame that was merged into, over the end of a minute.
#[test]
fn a_record_is_seen_for_as_long_as_it_lasts_and_begins_once() {
    let memory = Memory::new();
    let image = png(90);
    let frame =
        |time: &str| json!({"image": STANDARD.encode(&image), "time": time, "source": "camera"});
    memory.ask("observe", frame("2025-01-03 09:00:55"));
    wait_for(|| memory.ask("ingest_status", json!({}))["pending"] == 0);
    let merged = memory.ask("observe", frame("2025-01-03 09:01:03"));
    assert_eq!(merged["state"], "merged", "{merged}");
    let counts = |arguments: Value| -> Vec<(String, u64, u64)> {
        let reply = memory.ask("count_records_by_time", arguments);
        let buckets = reply["buckets"].as_array().unwrap().iter();
        let number = |it: &Value| it.as_u64().unwrap();
        buckets
            .map(|it| {
                let time = it["time"].as_str().unwrap()[11..].to_owned();
                (time, number(&it["count"]), number(&it["seen"]))
            })
            .collect()
    };
    let expect = [("09:00:00", 1, 1), ("09:01:00", 0, 1)]
        .map(|(time, count, seen)| (time.to_owned(), count, seen));
    assert_eq!(counts(json!({"bucket": "minute"})), expect);
    let within = json!({"bucket": "minute", "start_time": "2025-01-03 09:01:01",
        "end_time": "2025-01-03 09:10:00"});
    assert_eq!(counts(within), expect[1..]);
}

#[test]
fn records_and_smaller_frames_are_resources() {
    let memory = Memory::new();
    let read = |uri: &str| memory.tools.resource(&Caller::daemon(), uri);
    let json = |uri: &str| match read(uri).unwrap() {
        Some(Resource::Json(json)) => serde_json::from_str::<Value>(&json).unwrap(),
        other => panic!("{other:?}"),
    };
    memory.observe(&["a red mug on a wooden table in the kitchen"]);
    let record = json("engram://records/1");
    assert_eq!(record["caption"], "a red mug on a wooden table in the kitchen");
    assert_eq!(record["parsed"]["room"], "kitchen");
    let thing = &record["parsed"]["things"][0];
    assert_eq!((&thing["head"], &thing["attributes"]), (&json!("mug"), &json!(["red"])));
    assert_eq!(read("engram://records/2").unwrap(), None);

    let mut wide = Vec::new();
    // With edges: what is blurred is not kept.
    let picture = RgbImage::from_fn(640, 480, |x, y| {
        let level = if (x / 20 + y / 20) % 2 == 0 { 220 } else { 40 };
        image::Rgb([level, level, 90])
    });
    picture.write_to(&mut Cursor::new(&mut wide), ImageFormat::Png).unwrap();
    memory.ask(
        "observe",
        json!({"image": STANDARD.encode(&wide), "time": "2025-01-03 09:10:00", "source": "c"}),
    );
    wait_for(|| memory.ask("ingest_status", json!({}))["pending"] == 0);
    let sides = |uri: &str| match read(uri).unwrap() {
        Some(Resource::Image(image)) => {
            (image.mime, decode(&image.bytes, ImageLimits::default()).unwrap().dimensions())
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(sides("engram://frames/2"), ("image/png", (640, 480)));
    assert_eq!(sides("engram://frames/2?max_edge=320"), ("image/jpeg", (320, 240)));
    assert_eq!(sides("engram://frames/2?max_edge=640"), ("image/png", (640, 480)));
    for wrong in ["max_edge=8", "max_edge=", "edge=320", ""] {
        let refused = read(&format!("engram://frames/2?{wrong}")).unwrap_err();
        let ToolError::Argument(text) = refused else { panic!("{refused:?}") };
        assert!(text.contains("from 16 to 4096"), "{text}");
    }

    let caller = Caller::daemon();
    let page = memory.tools.resources(&caller, None).unwrap();
    let uris: Vec<&str> = page.resources.iter().map(|it| it.uri.as_str()).collect();
    assert_eq!(uris, ["engram://records/2", "engram://frames/2", "engram://records/1"]);
    assert_eq!(page.next, None);
    let complete = |template: &str, prefix: &str| memory.tools.complete(&caller, template, prefix);
    assert_eq!(complete("engram://records/{id}", ""), Ok(vec!["2".to_owned(), "1".to_owned()]));
    assert_eq!(complete("engram://frames/{id}", "2"), Ok(vec!["2".to_owned()]));
    assert_eq!(complete("engram://frames/{id}", "x"), Ok(Vec::new()));
    let unknown = complete("file:///{id}", "2").unwrap_err().to_string();
    assert!(unknown.contains("accepted are engram://frames/{id} and"), "{unknown}");
}

#[test]
fn pages_of_resources_go_on_where_one_ended() {
    let memory = Memory::new();
    for minute in 0..130 {
        let time = format!("2025-01-03 {:02}:{:02}:00", 9 + minute / 60, minute % 60);
        memory.ask("observe", json!({"caption": "a mug", "time": time}));
    }
    let caller = Caller::daemon();
    let first = memory.tools.resources(&caller, None).unwrap();
    assert_eq!((first.resources.len(), first.next.as_deref()), (100, Some("31")));
    let last = memory.tools.resources(&caller, first.next.as_deref()).unwrap();
    assert_eq!((last.resources.len(), last.next), (30, None));
    assert_eq!(last.resources[0].uri, "engram://records/30");
    let unknown = memory.tools.resources(&caller, Some("x")).unwrap_err().to_string();
    assert_eq!(unknown, "params.cursor \"x\" is unknown");
}

#[test]
fn stats_name_the_sources_and_maps() {
    let memory = Memory::new();
    scattered(&memory);
    memory.ask("memory_forget", json!({"scope": "episodic", "ids": [3], "confirm": 1}));
    let origins = memory.ask("memory_stats", json!({}))["origins"].clone();
    let expect = json!([
        {"source": "front", "map_id": "home", "records": 27},
        {"source": "rear", "map_id": "home", "records": 12},
    ]);
    assert_eq!(origins, expect);
}

/// The documents that the tools come from name arguments each in their own way.
#[test]
fn an_argument_is_taken_under_each_of_its_names() {
    let memory = Memory::new();
    memory.observe(&["a red mug", "a blue mug", "a red mug"]);
    let (start, end) = ("2025-01-03 09:00:30", "2025-01-03 09:01:30");
    let windows = [("start_time", "end_time"), ("search_start_time", "search_end_time")];
    for query in ["query", "x", "instance_description"] {
        for (from, to) in windows {
            let arguments = json!({query: "a mug", from: start, to: end});
            for tool in [
                "recall_best_match",
                "recall_last_seen",
                "recall_all",
                "retrieve_from_text_with_time",
                "recall_observation_of_instance",
            ] {
                assert_eq!(ids(&memory.ask(tool, arguments.clone())), [2], "{tool} {arguments}");
            }
        }
    }
    for (from, to) in windows {
        let arguments = json!({from: start, to: end});
        assert_eq!(ids(&memory.ask("list_records", arguments.clone())), [2]);
        let count = memory.ask("get_record_count_within_time_range", arguments.clone());
        assert_eq!(count["count"], 1);
        let mut forgotten = arguments;
        forgotten["scope"] = json!("episodic");
        forgotten["dry_run"] = json!(true);
        assert_eq!(memory.ask("memory_forget", forgotten)["count"], 1);
    }
    let both = json!({"query": "a mug", "x": "a cup"});
    let text = memory.refusal("recall_best_match", both);
    assert_eq!(
        text,
        "arguments \"x\" and \"query\" are two names of one and say different things; accepted is \
         one of them"
    );
    let same = json!({"query": "a blue mug", "x": "a blue mug"});
    assert_eq!(ids(&memory.ask("recall_last_seen", same)), [2]);
}
