//! Bytes of a client, as a fuzzer makes them.

use std::sync::LazyLock;

use serde_json::Value;

use crate::server::message::{self, TakenArguments, VALUES_MAX};
use crate::tools::catalog;

static TAKEN: LazyLock<TakenArguments> =
    LazyLock::new(|| TakenArguments::of_tools(&catalog::all()));

/// A line of a client: what JSON is it reads, unless it holds too many values; and what was read
/// is read again as itself.
pub fn request_line(line: &[u8]) {
    let read = message::read(line, &TAKEN);
    let plain: Result<Value, _> = serde_json::from_slice(line);
    match (&read, plain) {
        // What is too wide is JSON, and refused by its place.
        (Err(message::BadMessage::TooWide(..)), _) | (_, Err(_)) => {}
        (Err(_), Ok(plain)) => assert!(values(&plain) > VALUES_MAX, "{plain} is refused"),
        (Ok(value), Ok(_)) => {
            let printed = value.to_string();
            let again = message::read(printed.as_bytes(), &TAKEN);
            assert!(again.is_ok_and(|again| again == *value), "{printed} is read differently");
        }
    }
}

fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(fields) => fields.values().map(values).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
