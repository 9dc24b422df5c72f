//! Where a thing is searched for after the robot looked again and did not see it.

use serde_json::{Value, json};

use crate::transcripts::Talk;

/// The robot stands at the same desk each time, at other hours.
fn look(talk: &mut Talk, time: &str, x: f64, caption: &str) {
    talk.call(
        "observe",
        json!({"caption": caption, "time": format!("2025-01-02 {time}"), "position": [x, 1.0],
            "theta": 0.5, "map_id": "home", "source": "camera"}),
    );
}

fn goals_for(talk: &mut Talk, task: &str) -> Vec<Value> {
    let reply = talk.call("retrieve_object", json!({"task": task, "now": "2025-01-02 20:00:00"}));
    reply["goals"].as_array().unwrap().clone()
}

fn probability(goal: &Value) -> f64 {
    goal["probability"].as_f64().unwrap()
}

fn goal_at(goals: &[Value], x: f64) -> Option<&Value> {
    goals.iter().find(|it| it["position"][0] == json!(x))
}

const DESK: f64 = 1.0;
const SHELF: f64 = 9.0;

#[test]
fn looks_without_the_thing_lower_its_place_and_are_told() {
    let mut talk = Talk::new(&[]);
    look(&mut talk, "08:00:00", SHELF, "a red mug on a white shelf in the kitchen");
    look(&mut talk, "10:00:00", DESK, "a red mug next to a laptop on a desk in the office");
    let before = goals_for(&mut talk, "bring me the red mug");
    assert_eq!(before[0]["position"][0], json!(DESK));
    look(&mut talk, "12:00:00", DESK, "a laptop on a desk in the office");
    let once = goals_for(&mut talk, "bring me the red mug");
    let desk = goal_at(&once, DESK).unwrap();
    assert!(probability(desk) < probability(&before[0]), "{desk} {}", before[0]);
    let reason = desk["reason"].as_str().unwrap();
    assert!(reason.ends_with("1 look there since then did not show it"), "{reason}");
    for time in ["14:00:00", "16:00:00", "18:00:00"] {
        look(&mut talk, time, DESK, "an open laptop on a desk in the office");
    }
    let often = goals_for(&mut talk, "bring me the red mug");
    let place = |goals: &[Value]| goal_at(goals, DESK).map_or(0.0, probability);
    assert!(place(&often) < place(&once) && place(&often) < 0.5 * place(&before), "{often:#?}");
    let rest = |goals: &[Value]| goals.iter().map(probability).sum::<f64>() - place(goals);
    assert!(rest(&often) > rest(&before), "{often:#?}");
}

#[test]
fn looks_elsewhere_and_looks_that_show_it_change_nothing() {
    let mut talk = Talk::new(&[]);
    look(&mut talk, "10:00:00", DESK, "a red mug next to a laptop on a desk in the office");
    let before = goals_for(&mut talk, "bring me the red mug");
    look(&mut talk, "12:00:00", SHELF, "a blue plate on a white shelf in the kitchen");
    let after = goals_for(&mut talk, "bring me the red mug");
    assert_eq!(after, before);
}
