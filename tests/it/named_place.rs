//! "The scissors from the desk": the ones that were surely seen at the place which is named; and what only
//! may be the thing before a guess.

use serde_json::{Value, json};

use crate::transcripts::Talk;

fn seen(talk: &mut Talk, time: &str, x: f64, caption: &str) {
    let place = json!({"caption": caption, "time": time, "position": [x, 1.0], "map_id": "home"});
    talk.call("observe", place);
}

fn first_goal(talk: &mut Talk, task: &str) -> Value {
    let call = json!({"task": task, "now": "2025-01-03 12:00:00"});
    talk.call("retrieve_object", call)["goals"][0].clone()
}

#[test]
fn what_only_may_be_it_does_not_lead_away_from_the_place_that_is_named() {
    let mut talk = Talk::new(&[]);
    for (time, x, caption) in [
        ("01-01 08:00", 5.0, "Kitchen scissors with orange handles hang from a magnet."),
        ("01-01 09:00", 1.0, "A house key lies on the desk in the children's room."),
        (
            "01-01 10:00",
            1.0,
            "A girl draws at the desk. Blunt green scissors lie beside the paper.",
        ),
        ("01-01 18:00", 5.0, "The kitchen scissors with the orange handles hang over the sink."),
        ("01-02 10:00", 1.0, "A girl cuts snowflakes with the green scissors at the desk."),
        ("01-02 19:00", 9.0, "The kitchen scissors with orange handles lie on the kitchen table."),
    ] {
        seen(&mut talk, &format!("2025-{time}:00"), x, caption);
    }
    let goal = first_goal(&mut talk, "get the scissors from the desk in the childrens room");
    assert_eq!(goal["position"][0], json!(1.0), "{goal}");
    let goal = first_goal(&mut talk, "get the scissors");
    assert_eq!(goal["position"][0], json!(9.0), "{goal}");
}

#[test]
fn what_only_may_be_the_thing_comes_before_a_guess() {
    let mut talk = Talk::new(&[]);
    let book = "A paperback mystery with the torn cover has slid down onto the rug.";
    seen(&mut talk, "2025-01-01 10:00:00", 1.0, book);
    seen(&mut talk, "2025-01-02 10:00:00", 9.0, "a picture book on an armchair");
    let goal = first_goal(&mut talk, "bring me the torn paperback");
    assert_eq!(goal["position"][0], json!(1.0), "{goal}");
    assert!(goal["reason"].as_str().unwrap().contains("may have been seen here"), "{goal}");
    assert_eq!(goal["guess"], json!(true), "{goal}");
}

#[test]
fn what_says_less_of_the_thing_and_was_seen_since_is_where_it_is_now() {
    let mut talk = Talk::new(&[]);
    for (time, x, caption) in [
        ("01-01 07:00", 5.0, "a black wallet on a shelf with books"),
        ("01-01 08:00", 1.0, "a brown leather wallet on a desk with receipts and a stapler"),
        ("01-02 08:00", 1.0, "receipts and a stapler on a desk"),
        ("01-03 09:00", 9.0, "a brown wallet and sunglasses on a bedside table"),
    ] {
        seen(&mut talk, &format!("2025-{time}:00"), x, caption);
    }
    let goal = first_goal(&mut talk, "bring me my brown leather wallet");
    assert_eq!(goal["position"][0], json!(9.0), "{goal}");
    assert!(goal["reason"].as_str().unwrap().contains("may have been seen here"), "{goal}");
}

#[test]
fn what_was_seen_elsewhere_while_the_thing_stayed_is_another_one() {
    let told = [
        ("01-01 07:00", 1.0, "a green toy car on a shelf"),
        ("01-01 07:10", 9.0, "a wooden toy car on a rug"),
        ("01-02 07:00", 1.0, "a green toy car on a shelf"),
        ("01-02 08:00", 1.0, "books on a shelf"),
        ("01-02 09:00", 1.0, "books on a shelf"),
        ("01-03 10:00", 5.0, "a wooden toy car on a sofa"),
    ];
    // In the other household the green one may have been all of them.
    for (from, x) in [(0, 1.0), (2, 5.0)] {
        let mut talk = Talk::new(&[]);
        for (time, x, caption) in told.get(from..).unwrap() {
            seen(&mut talk, &format!("2025-{time}:00"), *x, caption);
        }
        let goal = first_goal(&mut talk, "bring me the green toy car");
        assert_eq!(goal["position"][0], json!(x), "{from}: {goal}");
    }
}

#[test]
fn what_was_never_seen_is_looked_for_where_the_request_says() {
    let mut talk = Talk::new(&[]);
    for (time, x, caption) in [
        ("01-01 08:00", 1.0, "a tall green cabinet with a clock on it"),
        ("01-02 08:00", 5.0, "a sofa with two cushions"),
        ("01-02 09:00", 9.0, "a bathroom sink with a toothbrush and a bar of soap"),
    ] {
        seen(&mut talk, &format!("2025-{time}:00"), x, caption);
    }
    let goal = first_goal(&mut talk, "bring me the tweezers from the green cabinet");
    assert_eq!(goal["position"][0], json!(1.0), "{goal}");
    assert!(goal["reason"].as_str().unwrap().contains("names this place"), "{goal}");
    let goal = first_goal(&mut talk, "bring me the cushion from the green cabinet");
    assert_eq!(goal["position"][0], json!(5.0), "it was surely seen elsewhere: {goal}");
}

#[test]
fn what_was_never_seen_is_looked_for_where_the_deed_was_done() {
    let mut talk = Talk::new(&[]);
    for (time, x, caption) in [
        ("01-01 08:00", 1.0, "an old woman ironing shirts by a window"),
        ("01-02 08:00", 5.0, "a button jar and a sewing machine on a table"),
        ("01-02 09:00", 9.0, "a man reading a newspaper on a garden bench"),
    ] {
        seen(&mut talk, &format!("2025-{time}:00"), x, caption);
    }
    let goal = first_goal(&mut talk, "fetch the magazine he was reading");
    assert_eq!(goal["position"][0], json!(9.0), "{goal}");
    assert!(goal["reason"].as_str().unwrap().contains("what was done here"), "{goal}");
    assert_eq!(goal["guess"], json!(true), "{goal}");
}

#[test]
fn where_nobody_was_seen_at_a_deed_nothing_that_lies_about_is_driven_to_for_it() {
    let mut talk = Talk::new(&[]);
    seen(&mut talk, "2025-01-02 08:00:00", 9.0, "a rake on a shed wall");
    let goal = first_goal(&mut talk, "go to where we have breakfast");
    assert_eq!(goal["guess"], json!(true), "{goal}");
}

#[test]
fn of_two_seen_there_on_one_round_the_one_that_stayed_is_meant() {
    let told = [
        ("01-01 08:00", 1.0, "a white lamp on a wooden desk in the bedroom"),
        ("01-01 08:01", 3.0, "a blue lamp on a nightstand in the bedroom"),
        ("01-02 08:00", 1.0, "a white lamp on a wooden desk in the bedroom"),
        ("01-02 08:01", 3.0, "a blue lamp on a nightstand in the bedroom"),
        ("01-02 11:00", 9.0, "a blue lamp on the kitchen floor"),
    ];
    for (until, task, x) in [
        (told.len(), "bring me the lamp that is in the bedroom", 1.0),
        (told.len(), "bring me the lamp that was in the bedroom", 9.0),
        (told.len() - 1, "bring me the lamp that is in the bedroom", 3.0),
    ] {
        let mut talk = Talk::new(&[]);
        for (time, x, caption) in told.get(..until).unwrap() {
            seen(&mut talk, &format!("2025-{time}:00"), *x, caption);
        }
        let goal = first_goal(&mut talk, task);
        assert_eq!(goal["position"][0], json!(x), "{until} {task}: {goal}");
    }
}

#[test]
fn looks_at_another_one_that_stood_beside_it_are_looks_without_it() {
    let told = [
        ("01-01 08:00", 5.0, "a wooden toy car on the bedroom floor"),
        ("01-01 12:00", 5.0, "a yellow toy car and a wooden toy car on the bedroom floor"),
        ("01-02 08:00", 9.0, "a yellow toy car on a white table"),
        ("01-02 08:10", 5.0, "a wooden toy car on the bedroom floor"),
        ("01-02 12:00", 9.0, "a phone on a white table"),
        ("01-02 12:10", 5.0, "a wooden toy car on the bedroom floor"),
        ("01-03 08:00", 9.0, "a phone on a white table"),
        ("01-03 08:10", 5.0, "a wooden toy car on the bedroom floor"),
    ];
    let mut talk = Talk::new(&[]);
    for (time, x, caption) in told {
        seen(&mut talk, &format!("2025-{time}:00"), x, caption);
    }
    let goal = first_goal(&mut talk, "bring me the yellow toy car");
    assert_eq!(goal["position"][0], json!(9.0), "{goal}");
}

#[test]
fn what_other_people_call_so_may_be_it() {
    for (caption, task) in [
        ("a green hat on a hook in the hallway", "bring me the green cap"),
        ("a red bowl on a white table", "bring me the red dish"),
    ] {
        let mut talk = Talk::new(&[]);
        seen(&mut talk, "2025-01-01 10:00:00", 1.0, caption);
        seen(&mut talk, "2025-01-02 10:00:00", 9.0, "a blue mug on an office desk");
        let goal = first_goal(&mut talk, task);
        assert_eq!(goal["position"][0], json!(1.0), "{goal}");
        assert!(goal["reason"].as_str().unwrap().contains("which may be"), "{goal}");
    }
}

#[test]
fn what_is_near_it_at_the_place_that_is_named_is_where_it_is_looked_for_first() {
    let mut talk = Talk::new(&[]);
    for (time, x, caption) in [
        ("01-01 08:00", 1.0, "a blue mug next to the sink in the bathroom"),
        ("01-02 08:00", 5.0, "a towel on a rail in the bathroom"),
        ("01-02 09:00", 9.0, "a blue mug on a desk in the office"),
    ] {
        seen(&mut talk, &format!("2025-{time}:00"), x, caption);
    }
    let goal = first_goal(&mut talk, "bring me the mug tree from the bathroom");
    assert_eq!(goal["position"][0], json!(1.0), "{goal}");
    assert!(goal["reason"].as_str().unwrap().contains("what is near it was seen"), "{goal}");
}

#[test]
fn what_is_not_excluded_is_the_one_that_stands_at_the_place_now() {
    let mut talk = Talk::new(&[]);
    for (time, x, caption) in [
        ("01-01 08:00", 3.0, "a black phone on a wooden bed in the bedroom"),
        ("01-01 08:10", 8.0, "a red phone on a kitchen counter"),
        ("01-01 09:00", 3.0, "a black phone next to a red phone on a bed"),
        ("01-01 10:00", 3.0, "a black phone on a bed"),
        ("01-01 11:00", 3.0, "a red phone on a bed in the bedroom"),
        ("01-01 11:30", 1.0, "a black phone on a table in the living room"),
    ] {
        seen(&mut talk, &format!("2025-{time}:00"), x, caption);
    }
    let task = "It's not the one in my room I want, it's the phone on the bed.";
    let goal = first_goal(&mut talk, task);
    assert_eq!(goal["position"][0], json!(3.0), "{goal}");
    let goal = first_goal(&mut talk, "not the red phone, the one on the bed");
    assert_eq!(goal["position"][0], json!(1.0), "{goal}");
}

#[test]
fn a_day_that_is_mistyped_is_the_day_that_was_meant() {
    let mut talk = Talk::new(&[]);
    for (time, x, caption) in [
        ("01-01 14:00", 3.0, "A woman eats lemon cake at a table on the veranda."),
        ("01-02 09:00", 8.0, "two slices of lemon cake in an open tin beside a kettle"),
    ] {
        seen(&mut talk, &format!("2025-{time}:00"), x, caption);
    }
    let task = "go to where i had my cake on wendesday";
    let call = json!({"task": task, "now": "2025-01-03 12:00:00"});
    let found = talk.call("retrieve_object", call);
    assert_eq!(found["goals"][0]["position"][0], json!(3.0), "{found}");
    let read = json!(["\"wendesday\" was read as \"wednesday\""]);
    assert_eq!(found["understood"]["respelled"], read, "{found}");
}
