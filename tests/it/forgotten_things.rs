//! Forgetting: records go by what they show, notes by what they are about, and what only sounds
//! alike or may be meant stays and is told.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::transcripts::Talk;

fn dry_run(talk: &mut Talk, scope: &str, query: &str) -> Value {
    talk.call("memory_forget", json!({"query": query, "scope": scope, "dry_run": true}))
}

fn texts(reply: &Value, list: &str) -> BTreeSet<String> {
    let items = reply[list].as_array().into_iter().flatten();
    items.map(|it| it["text"].as_str().unwrap().to_owned()).collect()
}

fn set(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

/// A type of thing, its colour where that is asked for, and the furniture that it is on.
fn shows(scene: &Value, class: &str, colour: Option<&str>) -> bool {
    let is_it = |it: &Value| {
        it["type"] == class && colour.is_none_or(|colour| it["colour"] == json!(colour))
    };
    scene["objects"].as_array().unwrap().iter().any(is_it)
}

#[test]
fn records_of_a_flat_go_by_what_they_show() {
    let truth = std::fs::read_to_string("models/household-captioner/flat/truth.jsonl").unwrap();
    let scenes: Vec<Value> =
        truth.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut talk = Talk::new(&[]);
    for (minute, scene) in scenes.iter().enumerate() {
        let time = 1_735_700_000 + 60 * minute;
        talk.call("observe", json!({"caption": scene["caption"], "time": time}));
    }
    let mut check = |query: &str, is_meant: &dyn Fn(&Value) -> bool, least: usize| {
        let reply = dry_run(&mut talk, "episodic", query);
        let ids: BTreeSet<u64> =
            reply["deleted"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect();
        let expected: BTreeSet<u64> =
            (1..).zip(&scenes).filter(|(_, it)| is_meant(it)).map(|(id, _)| id).collect();
        assert_eq!(ids, expected, "{query}");
        assert!(ids.len() >= least, "{query}");
    };
    check("purple mug", &|_| false, 0);
    check("my phone", &|it| shows(it, "phone", None), 16);
    check("all photos that show my keys", &|it| shows(it, "keys", None), 12);
    check("mug", &|it| shows(it, "mug", None), 30);
    check("the plant", &|it| shows(it, "plant", None), 28);
    check("mugs and phones", &|it| shows(it, "mug", None) || shows(it, "phone", None), 40);
    let mug_on_table = |it: &Value| shows(it, "mug", None) && it["place"] == "kitchen table";
    check("the mug on the kitchen table", &mug_on_table, 10);
    let scene = |it: &Value| {
        let is_shelf = it["furniture"] == "shelf" && it["material"] == "wooden";
        shows(it, "book", Some("purple")) && shows(it, "mug", Some("red")) && is_shelf
    };
    check("a purple book next to a red mug on a wooden shelf", &scene, 1);
    check("somebody cooking", &|it| it["activity"] == "cooking", 4);
    check("reading", &|it| it["activity"] == "reading", 2);
    let is_red = |it: &Value| it["caption"].as_str().unwrap().contains("red ");
    check("something red", &is_red, 60);
}

#[test]
fn what_only_may_be_meant_stays_and_is_listed_apart() {
    let mut talk = Talk::new(&[]);
    for caption in [
        "a red mug on a desk",
        "a mug on a desk",
        "a blue mug on a desk",
        "a person sleeping on a sofa",
        "Anna said that the meeting moved to Friday",
    ] {
        talk.call("observe", json!({"caption": caption}));
    }
    let reply = dry_run(&mut talk, "episodic", "the red mug");
    assert_eq!(texts(&reply, "items"), set(&["a red mug on a desk"]));
    assert_eq!(texts(&reply, "near"), set(&["a mug on a desk"]));
    let told = "Kept, as they only may show it:\n#2 a mug on a desk";
    assert!(talk.written.contains(&told.replace('\n', "\\n")), "{}", talk.written);
    for (query, gone) in [
        ("somebody cooking", &[][..]),
        ("somebody sleeping", &["a person sleeping on a sofa"]),
        ("the meeting moved to Friday", &["Anna said that the meeting moved to Friday"]),
        ("a purple mug", &[]),
        ("a skateboard", &[]),
        ("mugs except the red one", &["a blue mug on a desk"]),
        ("person_7", &[]),
    ] {
        let reply = dry_run(&mut talk, "episodic", query);
        assert_eq!(texts(&reply, "items"), set(gone), "{query}");
    }
}

#[test]
fn a_time_in_a_query_is_told_as_the_window_that_is_meant() {
    let mut talk = Talk::new(&[]);
    talk.call("observe", json!({"caption": "a red mug on a desk"}));
    for (scope, query, told) in [
        ("episodic", "forget this visit", "\\\"start_time\\\" and \\\"end_time\\\""),
        ("notes", "forget today's visit", "with scope episodic or all"),
        ("all", "what I saw yesterday morning", "2025-01-02 11:59:59"),
        ("episodic", "the mug I saw yesterday", "2025-01-02 00:00:00"),
    ] {
        let before = talk.written.len();
        let request = json!({"query": query, "scope": scope, "dry_run": true});
        talk.call("memory_forget", request);
        let written = &talk.written[before..];
        assert!(written.contains("\"isError\":true") && written.contains("window"), "{written}");
        assert!(written.contains(told), "{written}");
    }
    let within = json!({"query": "the mug I saw yesterday", "scope": "episodic", "dry_run": true,
        "start_time": "2025-01-01 00:00:00"});
    assert_eq!(talk.call("memory_forget", within)["count"], 1);
}

#[test]
fn notes_are_forgotten_by_their_topic_and_not_by_a_word_that_sounds_like_it() {
    let mut talk = Talk::new(&[]);
    let notes = [
        "Project Titan ends in May",
        "The budget of the Titan project is approved",
        "Titan is Saturn's largest moon",
        "We saw a film about the Titanic",
        "Mom's birthday is on 12 March",
        "My birthday is on 3 May",
        "Anna likes green tea",
        "Annabelle called about the roof",
    ];
    for text in notes {
        talk.call("memory_save", json!({"text": text}));
    }
    for (query, gone) in [
        ("Project Titan", &notes[..2]),
        ("all information related to Project Titan", &notes[..2]),
        ("everything I told you about the Titan project, please", &notes[..2]),
        ("Titan", &notes[..3]),
        ("my birthday", &notes[5..6]),
        ("birthdays", &notes[4..6]),
        ("what you know about Anna", &notes[6..7]),
    ] {
        let reply = dry_run(&mut talk, "notes", query);
        assert_eq!(texts(&reply, "items"), set(gone), "{query}");
    }
    let near = texts(&dry_run(&mut talk, "notes", "my birthday"), "near");
    assert_eq!(near, set(&notes[4..5]));
}
