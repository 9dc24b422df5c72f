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
