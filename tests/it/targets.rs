//! Golden transcripts of object retrieval, with the examples of its document, on a
//! memory that holds such objects.

use serde_json::json;

use crate::running::Running;
use crate::transcripts::Talk;

/// What a household saw on two days: a purple book that is read and then carried to
/// the bedroom, a green one that stays, and two mugs, of which the blue one is used.
const HOUSEHOLD: &[(&str, [f64; 3], &str)] = &[
    (
        "2025-01-01 08:00:00",
        [1.0, 1.0, 0.5],
        "a blue mug next to a laptop on a wooden desk in the office",
    ),
    ("2025-01-01 08:05:00", [4.0, 1.0, 1.5], "a red mug on a white counter in the kitchen"),
    (
        "2025-01-01 18:00:00",
        [7.0, 1.0, 2.5],
        "a blue mug next to a black remote on a grey sofa in the living room",
    ),
    (
        "2025-01-02 08:00:00",
        [1.0, 1.0, 0.5],
        "a blue mug next to a laptop on a wooden desk in the office",
    ),
    (
        "2025-01-02 10:00:00",
        [7.0, 1.0, 2.5],
        "a person reading a purple book on a grey sofa in the living room",
    ),
    ("2025-01-02 10:10:00", [9.0, 1.0, 0.0], "a green book on a wooden shelf in the hallway"),
    ("2025-01-03 09:00:00", [6.0, 6.0, 3.0], "a purple book on a white nightstand in the bedroom"),
    ("2025-01-03 09:30:00", [4.2, 1.0, 1.5], "a blue mug in a metal sink in the kitchen"),
];

/// Observes the household, noting nothing.
pub(crate) fn household(talk: &mut Talk) {
    let (written, requests) = (std::mem::take(&mut talk.written), talk.requests);
    for (time, [x, y, theta], caption) in HOUSEHOLD {
        talk.call(
            "observe",
            json!({"caption": caption, "time": time, "position": [x, y], "theta": theta,
                "map_id": "home", "source": "camera"}),
        );
    }
    (talk.written, talk.requests) = (written, requests);
}

#[test]
fn bring_me_a_book() {
    let mut talk = Talk::new(&[]);
    household(&mut talk);
    talk.call("start_task", json!({"task": "Bring me a book"}));
    talk.call("create_or_update_memory_search_instance", json!({}));
    talk.call("recall_last_seen", json!({"query": "a book"}));
    let place = talk.call("create_or_update_real_world_search_instance", json!({}));
    assert_eq!(place["position"], json!([6.0, 6.0, 0.0]));
    talk.call("search_current_target_instance_in_real_world", json!({}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn bring_me_the_book_i_was_reading_yesterday() {
    let mut talk = Talk::new(&[]);
    household(&mut talk);
    let now = "2025-01-03 12:00:00";
    talk.call(
        "start_task",
        json!({"task": "Bring me the book I was reading yesterday", "now": now}),
    );
    talk.call("create_or_update_memory_search_instance", json!({}));
    talk.call(
        "recall_best_match",
        json!({"query": "a book user was reading", "search_start_time": "2025-01-02 00:00:00",
            "search_end_time": "2025-01-02 23:59:59"}),
    );
    let target = talk.call("create_or_update_memory_search_instance", json!({}));
    assert_eq!(target["instance_desc"], "purple book");
    talk.call("recall_last_seen", json!({"query": "a purple book"}));
    let place = talk.call("create_or_update_real_world_search_instance", json!({}));
    // Where it was last seen, not where it was read.
    assert_eq!(place["last_seen"], "2025-01-03 09:00:00");
    talk.call("search_current_target_instance_in_real_world", json!({}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn bring_me_the_mug_that_i_use_the_most() {
    let mut talk = Talk::new(&[]);
    household(&mut talk);
    talk.call("start_task", json!({"task": "Bring me the mug that I use the most"}));
    talk.call("create_or_update_memory_search_instance", json!({}));
    talk.call("recall_best_match", json!({"query": "a mug the user uses"}));
    talk.call(
        "determine_unique_instances_from_latest_working_memory",
        json!({"query": "find most frequently used mug"}),
    );
    let target = talk.call("create_or_update_memory_search_instance", json!({}));
    assert_eq!(target["instance_desc"], "blue mug");
    talk.call("recall_last_seen", json!({"query": "blue mug"}));
    let place = talk.call("create_or_update_real_world_search_instance", json!({}));
    assert_eq!(place["last_seen"], "2025-01-03 09:30:00");
    talk.call("search_current_target_instance_in_real_world", json!({}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn a_search_that_goes_on() {
    let mut talk = Talk::new(&[]);
    talk.call("create_or_update_memory_search_instance", json!({}));
    talk.call("determine_unique_instances", json!({}));
    talk.call("search_current_target_instance_in_real_world", json!({}));
    talk.call("report_search_result", json!({"found": true}));
    household(&mut talk);
    talk.call("recall_all", json!({"query": "mug", "session": "robot"}));
    talk.call("determine_unique_instances", json!({"session": "robot"}));
    let chosen = json!({"instance": 2, "session": "robot"});
    talk.call("create_or_update_memory_search_instance", chosen);
    let none = json!({"instance": 3, "session": "robot"});
    talk.call("create_or_update_memory_search_instance", none);
    let two = json!({"record_id": 2, "instance_desc": "mug", "session": "robot"});
    talk.call("create_or_update_memory_search_instance", two);
    let chosen = json!({"record_id": 1, "session": "robot"});
    talk.call("create_or_update_memory_search_instance", chosen);
    let place = json!({"record_id": 3, "session": "robot"});
    talk.call("create_or_update_real_world_search_instance", place);
    talk.call("create_or_update_real_world_search_instance", json!({"session": "robot"}));
    talk.call("search_current_target_instance_in_real_world", json!({"session": "robot"}));
    let mut status = json!("next");
    while status == "next" {
        let lost = json!({"found": false, "session": "robot"});
        status = talk.call("report_search_result", lost)["status"].clone();
    }
    assert_eq!(status, "reopened");
    // The places looked at are left out: what remains is a guess.
    let again = json!({"session": "robot"});
    let place = talk.call("create_or_update_real_world_search_instance", again.clone());
    assert_eq!(place["guess"], true);
    talk.call("search_current_target_instance_in_real_world", again);
    talk.call("report_search_result", json!({"found": true, "record_id": 8, "session": "robot"}));
    talk.call(
        "recall_all",
        json!({"query": "book", "k": 2, "search_end_time": "2025-01-02 23:00:00"}),
    );
    talk.call("recall_all", json!({"query": "umbrella"}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn what_was_never_seen_is_guessed_from_places_in_memory() {
    let mut talk = Talk::new(&[]);
    talk.call("start_task", json!({"task": "fetch a saucer"}));
    talk.call("create_or_update_memory_search_instance", json!({}));
    talk.call("create_or_update_real_world_search_instance", json!({}));
    talk.call("search_current_target_instance_in_real_world", json!({}));
    household(&mut talk);
    talk.call("start_task", json!({"task": "fetch a mug tree"}));
    talk.call("recall_last_seen", json!({"query": "a mug tree"}));
    talk.call("create_or_update_memory_search_instance", json!({}));
    let place = talk.call("create_or_update_real_world_search_instance", json!({}));
    assert_eq!(place["guess"], true);
    talk.call("search_current_target_instance_in_real_world", json!({}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn goals_are_followed() {
    let mut talk = Talk::new(&[]);
    household(&mut talk);
    talk.call("watch_goals", json!({}));
    let robot = json!({"session": "robot"});
    talk.call("start_task", json!({"task": "bring me the red mug", "session": "robot"}));
    talk.call("create_or_update_memory_search_instance", robot.clone());
    talk.call("create_or_update_real_world_search_instance", robot.clone());
    talk.call("search_current_target_instance_in_real_world", robot);
    let seen = talk.call("watch_goals", json!({"wait_seconds": 30}));
    talk.call("report_search_result", json!({"found": true, "session": "robot"}));
    talk.call("watch_goals", json!({"after": seen["next"], "wait_seconds": 30}));
    talk.call("watch_goals", json!({"wait_seconds": 31}));
    insta::assert_snapshot!(talk.written);
}

/// Has a task carried out whole; the tools of its calls, and its first goal.
fn retrieved(talk: &mut Talk, task: &str) -> (Vec<String>, serde_json::Value) {
    let reply = talk.call("retrieve_object", json!({"task": task, "now": "2025-01-03 12:00:00"}));
    let tool = |step: &serde_json::Value| step["tool"].as_str().unwrap().to_owned();
    let tools = reply["trace"].as_array().unwrap().iter().map(tool).collect();
    (tools, reply["goals"][0].clone())
}

const TARGET: &str = "create_or_update_memory_search_instance";
const PLACE: &str = "create_or_update_real_world_search_instance";
const DISPATCH: &str = "search_current_target_instance_in_real_world";

#[test]
fn the_planner_makes_the_calls_of_the_examples() {
    let mut talk = Talk::new(&[]);
    household(&mut talk);
    let (calls, goal) = retrieved(&mut talk, "Bring me a book");
    assert_eq!(calls, [TARGET, "recall_last_seen", PLACE, DISPATCH]);
    assert_eq!(goal["position"], json!([6.0, 6.0, 0.0]));

    let (calls, goal) = retrieved(&mut talk, "Bring me the book I was reading yesterday");
    assert_eq!(calls, [TARGET, "recall_best_match", TARGET, "recall_last_seen", PLACE, DISPATCH]);
    assert_eq!(goal["position"], json!([6.0, 6.0, 0.0]), "not where it was read");

    let (calls, goal) = retrieved(&mut talk, "Bring me the mug that I use the most");
    let determine = "determine_unique_instances_from_latest_working_memory";
    assert_eq!(
        calls,
        [TARGET, "recall_best_match", determine, TARGET, "recall_last_seen", PLACE, DISPATCH]
    );
    assert_eq!(goal["position"], json!([4.2, 1.0, 0.0]), "not where it is used");
    insta::assert_snapshot!(talk.written);
}

/// First line of the text of the newest reply, as a trace has it.
fn newest_headline(talk: &Talk) -> String {
    let reply = talk.written.lines().last().unwrap().strip_prefix("< ").unwrap();
    let reply: serde_json::Value = serde_json::from_str(reply).unwrap();
    let text = reply["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let first = text.lines().next().unwrap();
    first.strip_suffix(" at:").unwrap_or(first).trim_end_matches(':').to_owned()
}

#[test]
fn a_trace_leads_to_the_same_goals_when_its_calls_are_made_again() {
    let mut talk = Talk::new(&[]);
    household(&mut talk);
    for task in [
        "Bring me a book",
        "Bring me the book I was reading yesterday",
        "Bring me the mug that I use the most",
        "the mug next to the laptop",
        "the red mug next to the laptop",
        "bring me a mug other than the blue one",
        "bring me what I was reading yesterday morning",
        "what I left on the sofa two days ago",
        "something",
    ] {
        let now = "2025-01-03 12:00:00";
        let planned = talk.call("retrieve_object", json!({"task": task, "now": now}));
        talk.call("start_task", json!({"task": task, "now": now, "session": "again"}));
        let mut last = json!(null);
        for step in planned["trace"].as_array().unwrap() {
            let mut arguments = step["arguments"].clone();
            arguments["session"] = json!("again");
            last = talk.call(step["tool"].as_str().unwrap(), arguments);
            assert_eq!(step["result"], json!(newest_headline(&talk)), "{task}: {step}");
        }
        assert_eq!(last["goals"], planned["goals"], "{task}");
        assert_eq!(last["target"], planned["target"], "{task}");
    }
}

#[test]
fn the_planner_goes_where_the_thing_was_seen_last() {
    let mut talk = Talk::new(&[]);
    household(&mut talk);
    for (task, x) in [
        ("Where is my red mug?", 4.0),
        ("fetch the mug next to the laptop", 4.2),
        ("the mug that was on the sofa two days ago", 4.2),
        ("get the book that is usually on the shelf in the hallway", 9.0),
        ("bring me a mug other than the blue one", 4.0),
        ("bring me what I was reading yesterday morning", 6.0),
        ("Grandma asks if you could bring her the red mug", 4.0),
    ] {
        let (calls, goal) = retrieved(&mut talk, task);
        assert_eq!(goal["position"][0], json!(x), "{task}: {calls:?}");
        assert!(goal.get("guess").is_none(), "{task}");
    }
    let (calls, goal) = retrieved(&mut talk, "bring me an umbrella");
    assert_eq!(goal["guess"], json!(true), "{calls:?}");
    for anything in ["something", "anything"] {
        let (calls, goal) = retrieved(&mut talk, anything);
        assert!(goal["position"].is_array(), "{anything}: {calls:?}");
    }
}

#[test]
fn a_place_that_is_driven_to_is_the_thing_where_nothing_is_known_to_lie_there() {
    let mut talk = Talk::new(&[]);
    for (hour, x, caption) in [
        (8, 2.0, "A washing machine, in the bathroom."),
        (9, 5.0, "A green lamp on a wooden shelf."),
    ] {
        let time = format!("2025-01-03 {hour:02}:00:00");
        talk.call("observe", json!({"caption": caption, "time": time, "position": [x, 0.0, 0.0]}));
    }
    let task = json!({"task": "go to the washing machine please", "now": "2025-01-03 12:00:00"});
    let found = talk.call("retrieve_object", task);
    assert_eq!(found["understood"]["things"], json!(["washing machine"]), "{found:#}");
    let goal = &found["goals"][0];
    assert_eq!((&goal["position"][0], goal.get("guess")), (&json!(2.0), None), "{found:#}");
}

#[test]
fn what_may_be_a_slip_of_the_captioner_is_a_guess_and_its_place_a_goal() {
    let goals = |confidence: f64| {
        let mut talk = Talk::new(&[]);
        household(&mut talk);
        let seen = json!({"caption": "a green lamp on a wooden shelf in the hallway",
            "time": "2025-01-03 10:00:00", "position": [9.0, 1.0, 0.0], "map_id": "home",
            "source": "camera", "confidence": confidence});
        talk.call("observe", seen);
        let task = json!({"task": "bring me the lamp", "now": "2025-01-03 12:00:00"});
        talk.call("retrieve_object", task)["goals"].as_array().unwrap().clone()
    };
    let sure = goals(0.9);
    assert_eq!((&sure[0]["position"][0], sure[0].get("guess")), (&json!(9.0), None));
    let unsure = goals(0.2);
    assert_eq!(unsure[0]["guess"], true);
    let there: Vec<_> = unsure.iter().filter(|it| it["position"][0] == json!(9.0)).collect();
    assert_eq!(there.len(), 1, "{unsure:#?}");
    assert!(unsure.iter().all(|it| it["guess"] == true), "{unsure:#?}");
}

#[test]
fn a_task_that_cannot_be_carried_out_is_refused() {
    let mut talk = Talk::new(&[]);
    talk.call("retrieve_object", json!({}));
    talk.call("retrieve_object", json!({"task": "a mug", "now": "soon"}));
    talk.call("retrieve_object", json!({"task": "a mug", "planner": "luck"}));
    talk.call("retrieve_object", json!({"task": "a mug"}));
    insta::assert_snapshot!(talk.written);
}

#[test]
fn what_it_must_not_be_is_no_part_of_its_name_and_is_left_out() {
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &[]);
    for (caption, x) in [
        ("a blue striped mug on a shelf", 1.0),
        ("a black scanner on a desk", 2.0),
        ("a grey scanner with a yellow handle on a pallet", 3.0),
        ("a red mug on a table", 4.0),
        ("a mug with a robin on it on a windowsill", 5.0),
        ("a walkie talkie in its charger", 6.0),
        ("a walkie-talkie lying on a crate", 7.0),
    ] {
        daemon.ask("observe", json!({"caption": caption, "position": [x, 0.0, 0.0]}));
    }
    for (task, x) in [
        ("The red mug, no, I tell a lie, the striped one.", 1.0),
        ("not the robin mug and not the striped mug, the other one please", 4.0),
        ("a mug, but not the one with the robin", 4.0),
        ("not the red mug, the other one", 5.0),
        ("a scanner, but not the yellow one", 2.0),
        ("walkie talkie", 7.0),
    ] {
        let reply = daemon.ask("retrieve_object", json!({"task": task}));
        assert_eq!(reply["goals"][0]["position"][0], json!(x), "{task}: {reply:#}");
    }
}
