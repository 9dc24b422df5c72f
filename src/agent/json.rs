//! JSON as language models write it.
//!
//! Pure. What is right JSON reads as it is. Beyond that, the slips that models
//! make are mended where their meaning is plain: doubled braces (`{{ … }}`, as
//! prompt templates show them), names and words without quotes, single quotes,
//! Python's `True` and `None`, a comma too many or one left out, line ends within a
//! text, closing brackets left out at the very end.

use serde_json::{Map, Number, Value};

/// Containers within each other that are read.
const DEPTH_MAX: usize = 32;

/// Why the text is no JSON, and where, in characters from its start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at character {at}")]
pub(crate) struct BadJson {
    what: &'static str,
    at: usize,
}

impl BadJson {
    /// What of `text`, whose reading failed so, was read.
    pub(crate) fn read_of<'a>(&self, text: &'a str) -> &'a str {
        let end = text.char_indices().nth(self.at).map_or(text.len(), |(end, _)| end);
        text.get(..end).unwrap_or_default()
    }
}

/// The value at the start of `text`; what follows it is not looked at.
pub(crate) fn read(text: &str) -> Result<Value, BadJson> {
    let mut reader = JsonReader { text, rest: text, mended: false };
    // What is JSON must read as serde_json reads it.
    let mut strict = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value)) = strict.next() {
        return Ok(value);
    }
    reader.value(0)
}

struct JsonReader<'a> {
    text: &'a str,
    rest: &'a str,
    /// Whether the text ended too early, so that every open bracket ends here.
    mended: bool,
}

impl<'a> JsonReader<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, BadJson> {
        self.skip_space();
        match self.peek() {
            Some('{' | '[') if depth >= DEPTH_MAX => Err(self.bad("brackets nested too deep")),
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some(quote @ ('"' | '\'')) => self.read_quoted(quote).map(Value::String),
            Some(_) => self.word(),
            None => Err(self.bad("the text ends where a value should stand")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, BadJson> {
        self.eat('{');
        // No key begins with a brace, so a second one is the template's.
        self.skip_space();
        let is_doubled = self.eat('{');
        let mut object = Map::new();
        loop {
            self.skip_separators();
            match self.peek() {
                Some('}') => break,
                None => return Ok(self.cut_short(Value::Object(object))),
                Some(_) => {}
            }
            let key = match self.peek() {
                Some(quote @ ('"' | '\'')) => self.read_quoted(quote)?,
                _ => self.bare(|c| c.is_alphanumeric() || c == '_' || c == '-')?.to_owned(),
            };
            self.skip_space();
            if !self.eat(':') {
                return Err(self.bad("a ':' should follow the name"));
            }
            let value = self.value(depth + 1)?;
            object.insert(key, value);
            if self.mended {
                return Ok(Value::Object(object));
            }
        }
        self.eat('}');
        if is_doubled {
            self.skip_space();
            self.eat('}');
        }
        Ok(Value::Object(object))
    }

    fn list(&mut self, depth: usize) -> Result<Value, BadJson> {
        self.eat('[');
        let mut items = Vec::new();
        loop {
            self.skip_separators();
            match self.peek() {
                Some(']') => break,
                None => return Ok(self.cut_short(Value::Array(items))),
                Some(_) => {}
            }
            items.push(self.value(depth + 1)?);
            if self.mended {
                return Ok(Value::Array(items));
            }
        }
        self.eat(']');
        Ok(Value::Array(items))
    }

    /// A text in quotes. It must be closed: what is missing of it nobody knows.
    fn read_quoted(&mut self, quote: char) -> Result<String, BadJson> {
        let start = self.rest;
        self.eat(quote);
        let mut read = String::new();
        loop {
            let Some(c) = self.next() else {
                self.rest = start;
                return Err(self.bad("a text is not closed"));
            };
            match c {
                _ if c == quote => return Ok(read),
                '\\' => self.escape(&mut read)?,
                _ => read.push(c),
            }
        }
    }

    fn escape(&mut self, read: &mut String) -> Result<(), BadJson> {
        match self.next() {
            Some('n') => read.push('\n'),
            Some('t') => read.push('\t'),
            Some('r') => read.push('\r'),
            Some('b') => read.push('\u{8}'),
            Some('f') => read.push('\u{c}'),
            Some('u') => {
                let first = self.hex()?;
                let code = match first {
                    0xD800..=0xDBFF if self.rest.starts_with("\\u") => {
                        self.next();
                        self.next();
                        let second = self.hex()?;
                        let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400);
                        low.map(|low| 0x10000 + ((first - 0xD800) << 10) + low)
                    }
                    _ => Some(first),
                };
                read.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // Also \', \_ and the like, which models write and JSON does not know.
            Some(c) => read.push(c),
            None => return Err(self.bad("a text is not closed")),
        }
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, BadJson> {
        let code = self.rest.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                self.rest = self.rest.get(4..).unwrap_or_default();
                Ok(code)
            }
            None => Err(self.bad("\\u should be followed by four hexadecimal digits")),
        }
    }

    /// A number, a word of JSON or Python, or a name without quotes.
    fn word(&mut self) -> Result<Value, BadJson> {
        let word = self.bare(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'))?;
        Ok(match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            _ => match word.parse::<Number>() {
                Ok(number) => Value::Number(number),
                Err(_) => Value::String(word.to_owned()),
            },
        })
    }

    fn bare(&mut self, is_part: impl Fn(char) -> bool) -> Result<&'a str, BadJson> {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(self.bad("neither a name nor a value"));
        }
        self.rest = rest;
        Ok(word)
    }

    fn cut_short(&mut self, value: Value) -> Value {
        self.mended = true;
        value
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn eat(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn skip_separators(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }

    fn bad(&self, what: &'static str) -> BadJson {
        let read = self.text.len() - self.rest.len();
        BadJson { what, at: self.text.get(..read).unwrap_or_default().chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, expected: Value) {
        assert_eq!(read(text), Ok(expected), "{text}");
    }

    #[test]
    fn the_slips_of_models_are_mended() {
        check(
            r#"{"a": [1, 2.50, -3e2, "x\u00e9"]} and so on"#,
            json!({"a": [1, 2.50, -3e2, "xé"]}),
        );
        check(r#"{{"a": {{"b": 1}}}}"#, json!({"a": {"b": 1}}));
        // Doubled where it opens, single where it closes, and the other way round.
        check(r#"{{"a": {{"b": 1}}"#, json!({"a": {"b": 1}}));
        check(r#"[{{"a": {"b": 1} }}, {"c": 2}]"#, json!([{"a": {"b": 1}}, {"c": 2}]));
        check("{'a': 'it\\'s', b: None, \"c\": True,}", json!({"a": "it's", "b": null, "c": true}));
        check("{\"a\": 1 \"b\": recall_last_seen}", json!({"a": 1, "b": "recall_last_seen"}));
        check("{\"a\": \"two\nlines\"", json!({"a": "two\nlines"}));
        check(r#"[{"a": [1, 2"#, json!([{"a": [1, 2]}]));
        check(r#"{"a": "\ud83d\ude00\ud83d"}"#, json!({"a": "😀\u{fffd}"}));
    }

    #[test]
    fn what_nobody_can_know_is_a_fault_with_its_place() {
        let fault = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(fault("{\"a\": \"é"), "a text is not closed at character 7");
        assert_eq!(fault("{\"a\" 1}"), "a ':' should follow the name at character 6");
        assert_eq!(fault("{\"a\": }"), "neither a name nor a value at character 7");
        assert_eq!(fault("{\"a\": "), "the text ends where a value should stand at character 7");
        assert_eq!(fault(&"[".repeat(1_000_000)), "brackets nested too deep at character 33");
        assert!(fault("{\"a\": \"\\u00g0\"}").starts_with("\\u should be followed by"));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    /// As a template shows it: every brace twice.
    fn double_braces(value: &Value) -> String {
        match value {
            Value::Object(object) => {
                let member = |(key, value): (&String, &Value)| {
                    format!("{}: {}", json!(key), double_braces(value))
                };
                let members: Vec<String> = object.iter().map(member).collect();
                format!("{{{{{}}}}}", members.join(", "))
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(double_braces).collect();
                format!("[{}]", items.join(","))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
        }
    }

    proptest! {
        #[test]
        fn json_reads_as_itself_also_with_doubled_braces(value in value()) {
            prop_assert_eq!(read(&value.to_string()), Ok(value.clone()));
            prop_assert_eq!(read(&double_braces(&value)), Ok(value));
        }

        #[test]
        fn no_text_is_too_odd(text in any::<String>(), near in "[{}\\[\\]\"':,a1 \\\\u\n-]{0,60}") {
            drop(read(&text));
            drop(read(&near));
        }
    }
}
