//! When a task sends the robot: how sure it must be, and by which names it is called.

use serde_json::{Value, json};

use crate::running::Running;

/// A daemon that saw a red mug and has to be sure.
fn remembering() -> Running {
    let flags = ["--set", "retrieval.probability_min=0.9"];
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &flags);
    let seen = json!({
        "caption": "a red mug on a wooden table in the kitchen", "time": "2025-01-03 10:00:00",
        "position": [1.0, 2.0, 0.0], "frame_id": "map", "map_id": "home",
    });
    daemon.ask("observe", seen);
    daemon
}

fn asked(daemon: &Running, now: &str) -> Value {
    let task = json!({"task": "bring me the red mug", "now": now, "session": "errand"});
    daemon.ask("retrieve_object", task)
}

#[test]
fn goals_that_are_not_likely_enough_are_offered_and_not_dispatched() {
    let daemon = remembering();
    let late = asked(&daemon, "2025-01-06 10:00:00");
    assert_eq!(late["status"], "unsure", "{late}");
    assert_eq!(late["probability_needed"], 0.9);
    let probability = late["goals"][0]["probability"].as_f64().unwrap();
    assert!(probability < 0.9 && late["goals"].as_array().unwrap().len() == 1, "{late}");
    let board = daemon.ask("watch_goals", json!({"after": 0, "wait_seconds": 0}));
    assert_eq!(board["events"], json!([]), "{board}");
    // The caller may decide otherwise.
    let named = json!({"session": "errand"});
    let sent = daemon.ask("search_current_target_instance_in_real_world", named);
    assert_eq!(sent["goals"].as_array().unwrap().len(), 1, "{sent}");
    let soon = asked(&daemon, "2025-01-03 10:01:00");
    assert_eq!(soon["status"], "dispatched", "{soon}");
    assert_eq!(soon["probability_needed"], Value::Null);
}

#[test]
fn what_is_asked_of_somebody_else_by_name_sends_no_robot_that_has_one() {
    let flags = ["--set", "retrieval.robot_names=Robbie, Bo"];
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &flags);
    let seen = json!({"caption": "a red mug on a table", "position": [1.0, 2.0, 0.0]});
    daemon.ask("observe", seen);
    for (task, status) in [
        ("Dev, pass me the red mug", "not_dispatched"),
        ("bo, pass me the red mug", "dispatched"),
        ("pass me the red mug", "dispatched"),
    ] {
        let reply = daemon.ask("retrieve_object", json!({"task": task}));
        assert_eq!(reply["status"], status, "{task}: {reply}");
    }
}

#[test]
fn what_only_may_be_the_thing_is_not_sure_where_its_place_is_told() {
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &[]);
    for (caption, x) in [
        ("a washing line between two posts", 1.0),
        ("a shed with a rake leaning against it", 9.0),
        ("a washing line between two posts", 1.0),
    ] {
        daemon.ask("observe", json!({"caption": caption, "position": [x, 2.0, 0.0]}));
    }
    let task = "bring me the orange cable from the shed";
    let reply = daemon.ask("retrieve_object", json!({"task": task}));
    let (first, second) = (&reply["goals"][0], &reply["goals"][1]);
    assert_eq!((&first["guess"], &first["position"][0]), (&json!(true), &json!(9.0)), "{reply:#}");
    assert!(first["probability"].as_f64().unwrap() < 0.5, "{reply:#}");
    assert!(second["probability"].as_f64().unwrap() <= 0.3, "{reply:#}");
    let reason = second["reason"].as_str().unwrap();
    assert!(reason.contains("which may be \"orange cable\""), "{reason}");
}

#[test]
fn what_captions_call_otherwise_is_searched_for_where_it_was_seen() {
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &[]);
    for (caption, x) in [
        ("An ironing board is set up with a steam iron and a pair of khaki trousers.", 1.0),
        ("A kettle and two mugs stand on a kitchen counter.", 5.0),
        ("A grey sofa with a remote on its arm.", 9.0),
    ] {
        daemon.ask("observe", json!({"caption": caption, "position": [x, 2.0, 0.0]}));
    }
    let reply = daemon.ask("retrieve_object", json!({"task": "bring me my khakis"}));
    let goal = &reply["goals"][0];
    assert_eq!(goal["position"][0], json!(1.0), "{reply:#}");
    assert!(goal["probability"].as_f64().unwrap() > 0.5, "{reply:#}");
    assert_eq!(goal["guess"], Value::Null, "{reply:#}");
    let reason = goal["reason"].as_str().unwrap();
    assert!(reason.starts_with("\"khakis\" was seen, called otherwise, here at"), "{reason}");
}

#[test]
fn what_was_called_otherwise_long_ago_comes_before_what_hardly_is_it() {
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &[]);
    for (time, caption, x) in [
        ("2024-10-11 05:16:00", "The oven window glows. The oven gloves lie on the floor.", 1.0),
        ("2024-10-11 07:50:00", "A jar of jam and a pair of small red mittens on a string.", 5.0),
        ("2024-10-11 08:20:00", "A grey sofa with a remote on its arm.", 9.0),
    ] {
        let seen = json!({"caption": caption, "time": time, "position": [x, 2.0, 0.0]});
        daemon.ask("observe", seen);
    }
    let task = json!({"task": "bring me the little red gloves", "now": "2024-10-12 10:12:00"});
    let reply = daemon.ask("retrieve_object", task);
    let goal = &reply["goals"][0];
    assert_eq!(goal["position"][0], json!(5.0), "{reply:#}");
    let reason = goal["reason"].as_str().unwrap();
    assert!(reason.contains("was seen, called otherwise,"), "{reason}");
}

#[test]
fn what_looks_as_it_is_said_to_is_meant_whatever_it_is_not() {
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &[]);
    for (caption, x) in [
        ("A black umbrella with a crook handle is in the stand.", 1.0),
        ("An open umbrella with white dots is drying in the bathtub.", 9.0),
    ] {
        daemon.ask("observe", json!({"caption": caption, "position": [x, 2.0, 0.0]}));
    }
    let task = "the umbrella, no, not the dotty one, I mean the black one";
    let reply = daemon.ask("retrieve_object", json!({"task": task}));
    assert_eq!(reply["goals"][0]["position"][0], json!(1.0), "{reply:#}");
}
