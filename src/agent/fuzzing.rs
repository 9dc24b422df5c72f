//! A language model's reply, as a fuzzer makes it.

use crate::agent::{json, reply};

/// A reply: read or refused; and what was read of it as JSON, mended or not, is right JSON that
/// reads as the same value.
pub fn agent_reply(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    drop(reply::parse(&text));
    if let Ok(value) = json::read(&text) {
        let printed = value.to_string();
        assert_eq!(json::read(&printed).as_ref(), Ok(&value), "{printed} reads as another value");
    }
}
