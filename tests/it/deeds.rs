//! What somebody does, asked for in other words than captions have.

use serde_json::json;

use crate::transcripts::Talk;

#[test]
fn a_deed_is_found_in_other_words() {
    let mut talk = remembered(&[
        "a woman running on a treadmill",
        "a man dozing in a deckchair",
        "a boy washing up in a kitchen",
        "a generator next to a cable running along a wall",
    ]);
    for (query, id) in
        [("somebody jogging", 1), ("a man taking a nap", 2), ("somebody doing the dishes", 3)]
    {
        let seen = talk.call("recall_last_seen", json!({"query": query}));
        assert_eq!(seen["records"][0]["id"], json!(id), "{query}: {seen}");
    }
    let seen = talk.call("recall_last_seen", json!({"query": "a woman taking a nap"}));
    assert_eq!(seen["records"], json!([]), "a man does: {seen}");
}

fn remembered(captions: &[&str]) -> Talk {
    let mut talk = Talk::new(&[]);
    for (minute, caption) in captions.iter().enumerate() {
        let time = format!("2025-01-02 10:{minute:02}:00");
        talk.call("observe", json!({"caption": caption, "time": time}));
    }
    talk
}

#[test]
fn whoever_is_beside_the_thing_only_may_be_who_does_it() {
    let mut talk = remembered(&["a girl standing next to a parcel", "a boy eating soup"]);
    let seen = talk.call("recall_all", json!({"query": "a girl wrapping a parcel"}));
    assert_eq!(seen["records"], json!([]), "{seen}");
    assert_eq!(seen["possible"][0]["id"], json!(1), "{seen}");
}

#[test]
fn a_word_in_ing_of_a_name_is_no_deed_in_other_words() {
    let mut talk = remembered(&["a red sports bag on a bench", "a man dozing on a sofa"]);
    let seen = talk.call("recall_last_seen", json!({"query": "the sleeping bag"}));
    assert_eq!(seen["records"], json!([]), "{seen}");
}

#[test]
fn what_a_thing_has_on_it_tells_which_one_is_meant() {
    let mut talk = remembered(&["a bag on a bench", "a boy eating soup"]);
    let seen = talk.call("recall_all", json!({"query": "the bag with the dinosaurs on it"}));
    assert_eq!(seen["records"], json!([]), "{seen}");
    assert_eq!(seen["possible"][0]["id"], json!(1), "{seen}");
}
