//! Integers that no 64 bits hold, in a client's JSON: as values they would become floats, and
//! an agent that keeps an id in its state would be told another one.
//!
//! Pure. Looks at bytes outside of texts only, and leaves to the parser what is no JSON.

use std::ops::Range;

/// An integer as it stands on the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WideInteger {
    /// Name of the member that it stands under, in lists or not.
    pub(super) field: Option<String>,
    pub(super) digits: String,
}

/// The parser goes no deeper.
const DEPTH_MAX: usize = 128;
/// Fewer characters always fit.
const DIGITS_MIN: usize = 19;
const SHOWN_CHARS_MAX: usize = 60;

/// The first of a line.
pub(super) fn first_in(json: &[u8]) -> Option<WideInteger> {
    // The name that each open object or list stands under, or its last member's.
    let mut names: Vec<Option<Range<usize>>> = Vec::new();
    let mut text = None;
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => {
                let end = text_end(json, at);
                text = Some(at..end);
                at = end;
                continue;
            }
            b':' => {
                if let Some(name) = names.last_mut() {
                    name.clone_from(&text);
                }
            }
            b'{' | b'[' if names.len() >= DEPTH_MAX => return None,
            b'{' | b'[' => names.push(names.last().cloned().flatten()),
            b'}' | b']' => drop(names.pop()),
            b'-' | b'0'..=b'9' => {
                let end = number_end(json, at);
                let number = json.get(at..end).unwrap_or_default();
                if is_wide(number) {
                    let name = names.last().cloned().flatten().and_then(|it| json.get(it));
                    let field = name.and_then(|it| serde_json::from_slice::<String>(it).ok());
                    return Some(WideInteger {
                        field: field.map(|it| shown(&it)),
                        digits: shown(&String::from_utf8_lossy(number)),
                    });
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Behind the closing quote of the text that begins here.
fn text_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', json.get(at..).unwrap_or_default()) {
        at += found;
        if json.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    json.len()
}

fn number_end(json: &[u8], start: usize) -> usize {
    let rest = json.get(start..).unwrap_or_default();
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    start + rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len())
}

fn is_wide(number: &[u8]) -> bool {
    if number.len() < DIGITS_MIN {
        return false;
    }
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    let is_integer = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(number).unwrap_or_default();
    is_integer && text.parse::<u64>().is_err() && text.parse::<i64>().is_err()
}

fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn found(json: &str) -> Option<(String, String)> {
        first_in(json.as_bytes()).map(|it| (it.field.unwrap_or_default(), it.digits))
    }

    #[test]
    fn the_first_is_named_by_the_member_that_it_stands_under() {
        let wide = "18446744073709551616";
        for (json, field) in [
            (r#"{"a": 1, "serial": 18446744073709551616, "b": [2]}"#, "serial"),
            (r#"{"a": {"x": 5}, "ids": [7, [18446744073709551616]]}"#, "ids"),
            (r#"{"a": [{"x": {}}, {"y": "}"}, 18446744073709551616]}"#, "a"),
            (r#"{"say \"it\"": 18446744073709551616}"#, "say \"it\""),
            ("18446744073709551616", ""),
        ] {
            assert_eq!(found(json), Some((field.to_owned(), wide.to_owned())), "{json}");
        }
        assert_eq!(found(r#"{"n":-9223372036854775809}"#).unwrap().1, "-9223372036854775809");
        let long = found(&format!("[{}]", "9".repeat(900))).unwrap().1;
        assert_eq!(long.chars().count(), SHOWN_CHARS_MAX + 1);
    }

    #[test]
    fn what_64_bits_hold_and_what_is_no_integer_is_not_meant() {
        for json in [
            r#"{"a": 18446744073709551615, "b": -9223372036854775808}"#,
            r#"{"a": 18446744073709551616.0, "b": 1e40, "c": 18446744073709551616e0}"#,
            r#"{"18446744073709551616": "18446744073709551616 \" 18446744073709551616"}"#,
            "",
            "\"\\",
            "[-",
        ] {
            assert_eq!(found(json), None, "{json}");
        }
        assert_eq!(found(&"[".repeat(1_000)), None);
    }

    proptest! {
        /// Beside a value that holds none, whatever it is, only the planted one is found.
        #[test]
        fn only_what_is_planted_is_found(
            texts in prop::collection::vec(any::<String>(), 0..4),
            numbers in prop::collection::vec(any::<i64>(), 0..4),
            floats in prop::collection::vec(any::<f64>(), 0..4),
            wide in (u128::from(u64::MAX) + 1)..u128::MAX,
        ) {
            let around = json!({"texts": texts, "numbers": numbers, "floats": floats,
                "by name": texts.iter().map(|it| (it.clone(), Value::from(1))).collect::<serde_json::Map<_, _>>()});
            prop_assert_eq!(found(&around.to_string()), None);
            let line = format!(r#"{{"around":{around},"planted":{wide}}}"#);
            prop_assert_eq!(found(&line), Some(("planted".to_owned(), wide.to_string())));
        }
    }
}
