//! Captions and queries in a script that the default embedder does not know.

use serde_json::{Value, json};

use crate::running::Running;

const CAPTIONS: &[&str] = &[
    "빨간 머그가 책상 위에 있다",
    "고양이가 소파 위에 있다",
    "주방에서 요리하는 사람",
    "a red mug on a desk",
];

fn remembering() -> Running {
    let daemon = Running::start();
    for (at, caption) in (0..).zip(CAPTIONS) {
        let observation = json!({"caption": caption, "time": 1_735_900_000 + 60 * at});
        daemon.ask("observe", observation);
    }
    daemon
}

fn records(reply: &Value) -> Vec<(&str, f64)> {
    let mut found = Vec::new();
    for record in reply["records"].as_array().unwrap() {
        found.push((record["caption"].as_str().unwrap(), record["score"].as_f64().unwrap()));
    }
    found
}

#[test]
fn words_of_a_script_that_is_not_read_are_matched_as_written_and_said_so() {
    let daemon = remembering();
    for (tool, query) in [("recall_best_match", "query"), ("retrieve_from_text_with_time", "x")] {
        let window = json!({"start_time": 1_735_800_000, "end_time": 1_736_000_000});
        let ask = |words: &str| {
            let mut arguments = json!({query: words});
            if query == "x" {
                arguments.as_object_mut().unwrap().extend(window.as_object().unwrap().clone());
            }
            daemon.ask(tool, arguments)
        };
        let cat = ask("고양이");
        let found = records(&cat);
        assert_eq!(found.len(), 1, "{tool}: {found:?}");
        assert_eq!(found[0].0, CAPTIONS[1]);
        assert!(cat["notice"].as_str().unwrap().contains("reads English"), "{cat}");
        // Of these words half are known: what shares it is no sure match.
        assert!(records(&ask("고양이 오늘 날씨")).iter().all(|(_, score)| *score < 0.6));
        let none = ask("냉장고");
        assert_eq!(records(&none), []);
        assert!(none["why_empty"].as_str().unwrap().contains("holds a word of"), "{none}");
        assert_eq!(ask("a red mug")["notice"], Value::Null);
    }
}

#[test]
fn things_named_in_a_script_that_is_not_read_are_not_alike() {
    let daemon = remembering();
    for tool in ["recall_all", "recall_last_seen"] {
        let reply = daemon.ask(tool, json!({"query": "냉장고"}));
        assert_eq!(records(&reply), [], "{tool}");
        assert!(reply["notice"].as_str().unwrap().contains("reads English"), "{reply}");
    }
}
