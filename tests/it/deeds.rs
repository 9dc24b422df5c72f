//! What somebody does, asked for in other words than captions have.

use serde_json::json;

use crate::transcripts::Talk;

#[test]
fn a_deed_is_found_in_other_words() {
    let mut talk = Talk::new(&[]);
    for (minute, caption) in [
        "a woman running on a treadmill",
        "a man dozing in a deckchair",
        "a boy washing up in a kitchen",
        "a generator next to a cable running along a wall",
    ]
    .into_iter()
    .enumerate()
    {
        let time = format!("2025-01-02 10:{minute:02}:00");
        talk.call("observe", json!({"caption": caption, "time": time}));
    }
    for (query, id) in
        [("somebody jogging", 1), ("a man taking a nap", 2), ("somebody doing the dishes", 3)]
    {
        let seen = talk.call("recall_last_seen", json!({"query": query}));
        assert_eq!(seen["records"][0]["id"], json!(id), "{query}: {seen}");
    }
    let seen = talk.call("recall_last_seen", json!({"query": "a woman taking a nap"}));
    assert_eq!(seen["records"], json!([]), "a man does: {seen}");
}
