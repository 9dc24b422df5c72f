//! Parser of the `memory` block in a language model's reply.
//!
//! Pure. Models wrap their JSON in code fences and sentences; the first JSON object that has a
//! `memory` counts.

use serde_json::{Deserializer, Map, Value};

/// Braces tried as the start of an object, so that a long text of braces is
/// not read over and over.
const STARTS_MAX: usize = 64;
/// Keys that a refusal names.
const KEYS_SHOWN_MAX: usize = 8;

/// Errors of a reply, worded for the model that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMemoryReply {
    #[error("the reply holds no JSON object; accepted is {{\"memory\": {{…}}}}")]
    NoObject,
    #[error("the reply's JSON cannot be read: {0}; accepted is {{\"memory\": {{…}}}}")]
    Unreadable(String),
    #[error("the reply's object has no \"memory\" (it has {0}); accepted is {{\"memory\": {{…}}}}")]
    NoMemory(String),
    #[error("the reply's \"memory\" is {0}; accepted is an object")]
    NotAnObject(&'static str),
}

/// The `memory` object of the reply.
pub fn memory_of(reply: &str) -> Result<Map<String, Value>, BadMemoryReply> {
    let mut fault = BadMemoryReply::NoObject;
    let mut rest = reply;
    for _ in 0..STARTS_MAX {
        let Some(at) = rest.find('{') else { break };
        let text = rest.get(at..).unwrap_or_default();
        let mut values = Deserializer::from_str(text).into_iter::<Value>();
        let mut skip = 1;
        match values.next() {
            Some(Ok(Value::Object(mut object))) => {
                skip = values.byte_offset();
                match object.shift_remove("memory") {
                    Some(Value::Object(memory)) => return Ok(memory),
                    Some(other) => return Err(BadMemoryReply::NotAnObject(kind(&other))),
                    None if matches!(fault, BadMemoryReply::NoMemory(_)) => {}
                    None => fault = BadMemoryReply::NoMemory(keys(&object)),
                }
            }
            Some(Err(error)) if matches!(fault, BadMemoryReply::NoObject) => {
                fault = BadMemoryReply::Unreadable(error.to_string());
            }
            _ => {}
        }
        rest = text.get(skip..).unwrap_or_default();
    }
    Err(fault)
}

fn keys(object: &Map<String, Value>) -> String {
    let shown: Vec<String> =
        object.keys().take(KEYS_SHOWN_MAX).map(|key| format!("{key:?}")).collect();
    if shown.is_empty() { "no keys".to_owned() } else { shown.join(", ") }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, proptest};

    #[track_caller]
    fn check(reply: &str, expected: &str) {
        assert_eq!(Value::Object(memory_of(reply).unwrap()).to_string(), expected);
    }

    #[test]
    fn plain_fenced_and_wrapped_replies_are_read() {
        check(r#"{"memory": {"b": 1.0, "a": 1}}"#, r#"{"b":1.0,"a":1}"#);
        check("```json\n{\"action\": \"go\", \"memory\": {}}\n```", "{}");
        check("I think {so}. Here: {\"memory\": {\"x\": \"{\"}} Done.", r#"{"x":"{"}"#);
        check(r#"{"action": {"memory": 1}} {"memory": {"x": 1}}"#, r#"{"x":1}"#);
        check(r#"[{"memory": {"x": [1]}}]"#, r#"{"x":[1]}"#);
    }

    #[test]
    fn each_fault_says_what_to_mend() {
        let fault = |reply| memory_of(reply).unwrap_err().to_string();
        assert_eq!(
            fault("move right"),
            "the reply holds no JSON object; accepted is {\"memory\": {…}}"
        );
        assert!(fault("{\"memory\": {\"a\": }").starts_with("the reply's JSON cannot be read: "));
        assert_eq!(
            fault(r#"{"action": "go", "why": ""}"#),
            "the reply's object has no \"memory\" (it has \"action\", \"why\"); \
             accepted is {\"memory\": {…}}"
        );
        assert!(fault("{}").contains("it has no keys"));
        assert_eq!(
            fault(r#"{"memory": "none"}"#),
            "the reply's \"memory\" is a text; accepted is an object"
        );
    }

    #[test]
    fn a_long_text_of_braces_is_given_up() {
        memory_of(&"{".repeat(100_000)).unwrap_err();
    }

    proptest! {
        #[test]
        fn any_text_is_memory_or_a_fault(text in any::<String>(), braces in "[{}\":memory, ]{0,60}") {
            drop(memory_of(&text));
            drop(memory_of(&braces));
        }
    }
}
