//! What people say to a robot: words that nobody needs, slips of the keys, several things at
//! once, and what asks for no thing. On the household of the examples.

use serde_json::{Value, json};

use crate::targets::household;
use crate::transcripts::Talk;

const NOW: &str = "2025-01-03 12:00:00";

fn asked(talk: &mut Talk, task: &str) -> Value {
    talk.call("retrieve_object", json!({"task": task, "now": NOW}))
}

fn in_household() -> Talk {
    let mut talk = Talk::new(&[]);
    household(&mut talk);
    talk
}

/// East of each goal, once for goals of one target that follow each other.
fn first_of_each(reply: &Value) -> Vec<(String, f64)> {
    let goals = reply["goals"].as_array().unwrap().iter();
    let mut firsts: Vec<(String, f64)> = Vec::new();
    for goal in goals {
        let target = goal["target"].as_str().unwrap_or_default().to_owned();
        if firsts.last().is_none_or(|(last, _)| *last != target) {
            firsts.push((target, goal["position"][0].as_f64().unwrap()));
        }
    }
    firsts
}

#[test]
fn words_that_nobody_needs_change_no_goal() {
    let mut talk = in_household();
    for (request, x) in [("bring me the red mug", 4.0), ("where is my purple book", 6.0)] {
        let plain = asked(&mut talk, request);
        assert_eq!(plain["goals"][0]["position"][0], json!(x), "{request}");
        for word in
            ["thanks", "pls", "my robot", "asap", "mate", "thank you very much", "when you can"]
        {
            let said = asked(&mut talk, &format!("{request} {word}"));
            assert_eq!(said["goals"], plain["goals"], "{request} {word}");
        }
    }
}

#[test]
fn a_slip_of_the_keys_is_read_as_what_was_meant_and_told() {
    let mut talk = in_household();
    for (request, x, told) in [
        ("bring me the purpel book", 6.0, "\"purpel\" was read as \"purple\""),
        ("where is the lapotp", 1.0, "\"lapotp\" was read as \"laptop\""),
        ("get the book on the nightstnad", 6.0, "\"nightstnad\" was read as \"nightstand\""),
    ] {
        let reply = asked(&mut talk, request);
        assert_eq!(reply["goals"][0]["position"][0], json!(x), "{request}: {reply:#}");
        assert_eq!(reply["understood"]["respelled"], json!([told]), "{request}");
    }
    let reply = asked(&mut talk, "bring me the trowel");
    assert_eq!(reply["goals"][0]["guess"], true, "a word that English has is no slip");
    assert_eq!(reply["understood"].get("respelled"), None);
}

#[test]
fn what_is_no_request_sends_no_robot() {
    let mut talk = in_household();
    for (said, intent) in [
        ("stop", "stop"),
        ("never mind", "stop"),
        ("do not bring me the red mug", "stop"),
        ("hello", "chat"),
        ("what time is it", "chat"),
        ("thank you", "chat"),
        ("qwrtz plomf", "chat"),
        ("?", "chat"),
    ] {
        let reply = asked(&mut talk, said);
        assert_eq!(reply["status"], "not_dispatched", "{said}");
        assert_eq!((&reply["goals"], &reply["trace"]), (&json!([]), &json!([])), "{said}");
        assert_eq!(reply["understood"]["intent"], intent, "{said}");
    }
    assert_eq!(talk.call("watch_goals", json!({}))["events"], json!([]));
}

#[test]
fn questions_are_answered_from_the_memory_and_not_driven_to() {
    let mut talk = in_household();
    for (question, told) in [
        ("where was the blue mug on January 1 at six in the evening", "2025-01-01 18:00:00"),
        ("when did you last see the green book", "2025-01-02 10:10:00"),
        ("how many mugs are there", "2 different \"mugs\", seen 5 times in 5 records"),
        ("which was seen more recently, the red mug or the purple book", "\"purple book\" in 2"),
        ("is there any laptop", "yes: \"laptop\" was last seen at 2025-01-02 08:00:00"),
        ("is there any umbrella", "no record shows \"umbrella\""),
        ("what was I doing when you saw the purple book yesterday", "a person reading"),
        ("What was I reading yesterday morning?", "a person reading a purple book"),
        ("what was on the sofa yesterday", "a person reading a purple book"),
    ] {
        let reply = asked(&mut talk, question);
        assert_eq!(reply["status"], "answered", "{question}: {reply:#}");
        assert_eq!(reply["goals"], json!([]), "{question}");
        let answer = reply["answer"].as_str().unwrap();
        assert!(answer.contains(told), "{question}: {answer}");
    }
    assert_eq!(talk.call("watch_goals", json!({}))["events"], json!([]));
}

#[test]
fn several_things_are_searched_for_one_after_the_other() {
    let mut talk = in_household();
    let reply = asked(&mut talk, "bring me the red mug and then the green book");
    let firsts = first_of_each(&reply);
    let firsts: Vec<(&str, f64)> = firsts.iter().map(|(it, x)| (it.as_str(), *x)).collect();
    assert_eq!(firsts.last(), Some(&("green book", 9.0)), "{firsts:?}");
    assert_eq!((firsts.len(), firsts[0].1), (2, 4.0), "{firsts:?}");

    let reply = asked(&mut talk, "bring both mugs");
    let firsts: Vec<f64> = first_of_each(&reply).iter().map(|(_, x)| *x).collect();
    assert_eq!(firsts.len(), 2, "{reply:#}");
    assert!(firsts.contains(&4.0) && firsts.contains(&4.2), "{firsts:?}");

    let reply = asked(&mut talk, "bring three mugs");
    let unmet = reply["understood"]["unmet"][0].as_str().unwrap();
    assert!(unmet.contains("3 \"mugs\" are wanted, 2"), "{unmet}");
}

#[test]
fn the_search_goes_on_with_the_next_thing_when_one_is_found() {
    let mut talk = in_household();
    asked(&mut talk, "bring me the red mug and then the green book");
    let update = talk.call("report_search_result", json!({"found": true}));
    assert_eq!((&update["status"], &update["target"]), (&json!("next"), &json!("green book")));
    assert_eq!(update["next"]["position"][0], json!(9.0));
    let update = talk.call("report_search_result", json!({"found": true}));
    assert_eq!((&update["status"], &update["target"]), (&json!("found"), &json!("green book")));
}

#[test]
fn the_how_manieth_and_what_is_excluded_decide_which_one_is_meant() {
    let mut talk = in_household();
    for (request, x) in [
        ("bring me my second most used mug", 4.0),
        ("any mug but the blue one", 4.0),
        ("a book that is not purple", 9.0),
    ] {
        let reply = asked(&mut talk, request);
        assert_eq!(reply["goals"][0]["position"][0], json!(x), "{request}: {reply:#}");
    }
    let reply = asked(&mut talk, "the third most used mug");
    let unmet = reply["understood"]["unmet"][0].as_str().unwrap();
    assert_eq!(unmet, "only 2 different \"mug\" were seen");
}
