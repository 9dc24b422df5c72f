//! "Go to where the cat slept on Sunday", "where the mug usually stands": the place of then, the usual one,
//! and not where the cat or the mug is now.

use serde_json::{Value, json};

use crate::transcripts::Talk;

fn seen(talk: &mut Talk, time: &str, x: f64, caption: &str) {
    let place = json!({"caption": caption, "time": time, "position": [x, 1.0], "map_id": "home"});
    talk.call("observe", place);
}

fn asked(talk: &mut Talk, task: &str) -> Value {
    talk.call("retrieve_object", json!({"task": task, "now": "2025-01-03 12:00:00"}))
}

/// Sends the robot to one place and no other, for a reason that tells `tells`.
fn check_only_goal(talk: &mut Talk, task: &str, x: f64, tells: &str) {
    let reply = asked(talk, task);
    let goals = reply["goals"].as_array().unwrap();
    assert_eq!(goals.len(), 1, "{task}: {goals:?}");
    assert_eq!(goals[0]["position"][0], json!(x), "{task}");
    assert_eq!(goals[0]["probability"], json!(1.0), "{task}");
    assert!(goals[0]["reason"].as_str().unwrap().contains(tells), "{task}: {goals:?}");
}

#[test]
fn the_place_of_then_is_driven_to_and_no_other() {
    let mut talk = Talk::new(&[]);
    seen(&mut talk, "2024-12-29 10:00:00", 1.0, "a grey cat sleeping on an armchair");
    seen(&mut talk, "2024-12-30 10:00:00", 10.0, "a woman sewing a curtain at a desk");
    seen(&mut talk, "2024-12-31 10:00:00", 20.0, "a grey cat next to a blue bowl");
    seen(&mut talk, "2024-12-31 11:00:00", 30.0, "a woman reading a book on a sofa");
    for (task, x, tells) in [
        ("go to where the cat slept on Sunday", 1.0, "2024-12-29 10:00:00"),
        ("drive to where somebody was sewing on Monday", 10.0, "2024-12-30 10:00:00"),
        ("look where she was sewing, she lost a thimble there", 10.0, "2024-12-30 10:00:00"),
        ("spot where the cat was on Sunday, the mouse must be there", 1.0, "2024-12-29 10:00:00"),
    ] {
        check_only_goal(&mut talk, task, x, tells);
    }
    let reply = asked(&mut talk, "bring me the cat that slept on the armchair on Sunday");
    assert_eq!(reply["goals"][0]["position"][0], json!(20.0), "where it is now: {reply}");
}

#[test]
fn what_was_not_seen_then_is_searched_for_where_it_was_last() {
    let mut talk = Talk::new(&[]);
    seen(&mut talk, "2024-12-31 10:00:00", 20.0, "a grey cat next to a blue bowl");
    let reply = asked(&mut talk, "go to where the cat slept on Sunday");
    assert_eq!(reply["goals"][0]["position"][0], json!(20.0), "{reply}");
}

#[test]
fn the_usual_place_is_driven_to_and_no_other() {
    let mut talk = Talk::new(&[]);
    for (day, x, caption) in [
        ("29", 1.0, "a blue mug on a shelf"),
        ("30", 1.2, "a blue mug next to a box on a shelf"),
        ("31", 9.0, "a blue mug in a sink"),
        ("29", 20.0, "a dog lying on a rug"),
        ("30", 20.1, "a dog chewing a ball on a rug"),
        ("31", 30.0, "a dog next to a door"),
        ("29", 40.0, "a man reading a book in an armchair"),
        ("30", 40.0, "a man reading a green book in an armchair"),
        ("31", 50.0, "a man reading a book on a bench"),
    ] {
        seen(&mut talk, &format!("2024-12-{day} 20:00:00"), x, caption);
    }
    for (task, x, tells) in [
        ("go where the blue mug usually stands", 1.2, "on 2 of 3 visits, last at 2024-12-30"),
        ("The dog's usual spot, go there.", 20.1, "on 2 of 3 visits"),
        ("drive to the place where the man reads most evenings", 40.0, "on 2 of 3 visits"),
    ] {
        check_only_goal(&mut talk, task, x, tells);
    }
    for (task, x) in [("bring the mug from where it usually stands", 9.0), ("go to the dog", 30.0)]
    {
        let reply = asked(&mut talk, task);
        assert_eq!(reply["goals"][0]["position"][0], json!(x), "{task}: {reply}");
    }
}
