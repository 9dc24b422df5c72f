//! The queries of the recall tools: slips of the keys, words that nobody needs, names with digits,
//! plain nouns, and what is said where nothing is found.

use serde_json::{Value, json};

use crate::running::Running;

const CAPTIONS: &[&str] = &[
    "a red mug on a wooden table in the kitchen",
    "a green bottle on a shelf in the pantry",
    "a mobile on a nightstand in the bedroom",
    "a set of keys in a bowl next to a lamp in the living room",
    "person_7 is sitting on a bench next to person_8",
    "person_70 walks through a corridor",
    "a parcel with order number 4471-B on a pallet",
    "a parcel with order number 4472-B next to a forklift",
    "a car with the plate KL-AB 123 in the car park",
    "a car with the plate KL-AB 124 at a gate",
    "a box of screws on shelf A3",
    "a drill on shelf B3",
    "a woman in front of room 214",
    "a door to room 215",
    "a tablet labelled 3f2504e0-4f89-11d3-9a0c-0305e82c3301 on a cart",
    "a can on a counter",
    "a saw on a workbench",
    "a music stand in a corner",
    "gate 12 is closed",
];

fn seen() -> Running {
    let daemon = Running::start();
    for (at, caption) in (0_u32..).zip(CAPTIONS) {
        let (time, position) = (1e9 + f64::from(at), [f64::from(at), 0.0, 0.0]);
        daemon.ask("observe", json!({"caption": caption, "time": time, "position": position}));
    }
    daemon
}

/// Asks in one session.
fn ask(daemon: &Running, tool: &str, mut arguments: Value) -> Value {
    arguments["session"] = json!("one");
    daemon.ask(tool, arguments)
}

/// Numbers of the captions that surely show it.
fn found(reply: &Value) -> Vec<usize> {
    let records = reply["records"].as_array().unwrap().iter();
    let caption = |it: &Value| CAPTIONS.iter().position(|caption| it["caption"] == **caption);
    records.filter_map(caption).collect()
}

const SIGHTINGS: &[&str] = &["recall_last_seen", "recall_all"];

#[test]
fn a_query_is_read_as_it_was_meant_and_the_reply_says_so() {
    let daemon = seen();
    for (query, caption, read_as) in [
        ("botle", 1, json!("bottle")),
        ("moblie", 2, json!("mobile")),
        ("kyes", 3, json!("keys")),
        ("red mgu", 0, json!("red mug")),
        ("redmug", 0, json!("red mug")),
        ("the red mug thanks", 0, json!("the red mug")),
        ("red mug robot asap mate", 0, json!("red mug")),
        ("hey robot the green bottle", 1, json!("the green bottle")),
        ("robot, the red mug", 0, Value::Null),
        ("where is my bottle?", 1, Value::Null),
    ] {
        for tool in SIGHTINGS {
            let reply = ask(&daemon, tool, json!({"query": query}));
            assert_eq!(found(&reply), [caption], "{tool} {query}: {reply:#}");
            assert_eq!(reply["read_as"], read_as, "{tool} {query}");
        }
    }
    let window = json!({"x": "botle", "start_time": 999_999_000, "end_time": 1_000_001_000});
    let moments = ask(&daemon, "retrieve_from_text_with_time", window);
    assert_eq!((found(&moments)[0], &moments["read_as"]), (1, &json!("bottle")));
    let reply = ask(&daemon, "retrieve_object", json!({"task": "bring me the red mgu"}));
    assert_eq!(reply["understood"]["things"], json!(["red mug"]), "{reply:#}");
    let reply = ask(&daemon, "recall_all", json!({"query": "bottle rocket"}));
    assert_eq!((found(&reply), &reply["read_as"]), (vec![], &Value::Null), "{reply:#}");
}

#[test]
fn names_with_digits_are_found_by_exactly_these_characters() {
    let daemon = seen();
    for (query, captions) in [
        ("Person_7", &[4][..]),
        ("person_70", &[5]),
        ("person_9", &[]),
        ("order 4471-b", &[6]),
        ("4472-B", &[7]),
        ("4473-B", &[]),
        ("KL-AB 123", &[8]),
        ("the car with the plate kl-ab 124", &[9]),
        ("the car with the plate KL-AB 125", &[]),
        ("shelf A3", &[10]),
        ("shelf C3", &[]),
        ("the drill on shelf B3", &[11]),
        ("the drill on shelf A3", &[]),
        ("room 214", &[12]),
        ("room 216", &[]),
        ("gate 12", &[18]),
        ("gate 13", &[]),
        ("3F2504E0-4f89-11d3-9a0c-0305e82c3301", &[14]),
        ("3f2504e0-4f89-11d3-9a0c-0305e82c3302", &[]),
    ] {
        let reply = ask(&daemon, "recall_all", json!({"query": query}));
        assert_eq!(found(&reply), captions, "{query}: {reply:#}");
    }
    for (task, thing) in [("bring me shelf B3", "shelf b3"), ("where is person_8", "person_8")] {
        let reply = ask(&daemon, "retrieve_object", json!({"task": task}));
        assert_eq!(reply["understood"]["things"], json!([thing]), "{task}: {reply:#}");
    }
}

#[test]
fn a_noun_that_is_a_verb_too_is_a_thing_alone() {
    let daemon = seen();
    for (query, caption) in
        [("can", 15), ("the can", 15), ("saw", 16), ("a saw", 16), ("stand", 17)]
    {
        let reply = ask(&daemon, "recall_all", json!({"query": query}));
        assert_eq!(found(&reply), [caption], "{query}: {reply:#}");
    }
}

#[test]
fn what_is_near_is_named_where_nothing_shows_it() {
    let daemon = seen();
    let reply = ask(&daemon, "recall_all", json!({"query": "torch"}));
    let why = reply["why_empty"].as_str().unwrap();
    assert!(why.contains("near it is \"lamp\", seen last") && why.ends_with("(#4)"), "{why}");
}

#[test]
fn a_language_that_is_not_read_is_named() {
    let daemon = seen();
    for query in
        ["Buch", "rote Tasse", "parapluie", "ma tasse rouge", "wo ist meine Flasche", "schlüssel"]
    {
        for tool in SIGHTINGS {
            let reply = ask(&daemon, tool, json!({"query": query}));
            let notice = reply["notice"].as_str().unwrap_or_default();
            assert!(notice.contains("reads English"), "{tool} {query}: {reply:#}");
        }
    }
    for query in ["red mug", "umbrella", "botle", "person_9", "wooden spoon"] {
        let reply = ask(&daemon, "recall_all", json!({"query": query}));
        assert_eq!(reply["notice"], Value::Null, "{query}");
    }
}

const TARGET: &str = "create_or_update_memory_search_instance";
const PLACE: &str = "create_or_update_real_world_search_instance";
const DISPATCH: &str = "search_current_target_instance_in_real_world";

#[test]
fn nothing_is_dispatched_for_a_task_that_wants_nothing() {
    let daemon = seen();
    for (task, understood) in [
        ("stop", "an order not to"),
        ("never mind", "an order not to"),
        ("hello", "no request for a thing"),
        ("how many mugs are there", "a question"),
    ] {
        let begun = ask(&daemon, "start_task", json!({"task": task}));
        assert_eq!(begun["understood"], understood, "{task}");
        ask(&daemon, "recall_all", json!({"query": "red mug"}));
        ask(&daemon, TARGET, json!({}));
        ask(&daemon, PLACE, json!({}));
        let refused = daemon.call(DISPATCH, json!({"session": "one"}));
        assert!(refused.is_error && refused.text.contains(understood), "{task}: {}", refused.text);
    }
    assert_eq!(daemon.ask("watch_goals", json!({}))["events"], json!([]));
    let begun = ask(&daemon, "start_task", json!({"task": "bring me the red mug"}));
    assert_eq!(begun["understood"], Value::Null);
    ask(&daemon, "recall_all", json!({"query": "red mug"}));
    ask(&daemon, PLACE, json!({}));
    assert_eq!(ask(&daemon, DISPATCH, json!({}))["status"], "dispatched");
}

#[test]
fn an_order_alone_divides_what_was_recalled() {
    let daemon = seen();
    let instances = "determine_unique_instances_from_latest_working_memory";
    for (query, first) in [("the earliest", "on a shelf in"), ("the latest", "shelf B3")] {
        ask(&daemon, "recall_all", json!({"query": "shelf"}));
        let reply = ask(&daemon, instances, json!({"query": query}));
        let first_seen = reply["instances"][0]["record_ids"][0].as_u64().unwrap();
        let caption = CAPTIONS[usize::try_from(first_seen).unwrap() - 1];
        assert!(caption.contains(first), "{query}: {reply:#}");
    }
}
