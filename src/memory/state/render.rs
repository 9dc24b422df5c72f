//! Prompt templates with placeholders for an agent's memory, and the rendering of values.
//!
//! Pure. Values are spelled as Python spells them (`True`, `None`, `1.0`), since the prompts
//! that models were tuned on were rendered by Python.
//!
//! One pass: a value is never scanned again, so that one that holds `$name` or `$memory[…]`
//! stays as it is.

use serde_json::{Map, Number, Value};

/// Nesting depth that is rendered; deeper containers are cut short.
pub const DEPTH_MAX: usize = 8;
/// Most bytes of a rendered text: a short template can name a long value often.
pub const RENDERED_BYTES_MAX: usize = 1 << 20;

/// Rendering of empty, null and missing values.
const NONE: &str = "None";
/// Rendering of containers beyond [`DEPTH_MAX`].
const CUT: &str = "...";
/// Name under which templates reach the memory: `$memory[key]`.
const MEMORY: &str = "memory";

/// Rendered template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub text: String,
    /// Names without a value, each once, in the order of the template: `memory[a][b]`, rendered
    /// as `None`, and variables, which stay as they are written.
    pub missing: Vec<String>,
}

/// The text would grow beyond [`RENDERED_BYTES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rendered text is longer than {RENDERED_BYTES_MAX} bytes")]
pub struct TooLong;

/// Fills the places of `template`: `$memory[a][b]` from `memory`, `$name` and
/// `${name}` from `variables`, `$$` as a dollar sign. Any other `$` stays.
pub fn render(
    template: &str,
    memory: &Map<String, Value>,
    variables: &Map<String, Value>,
) -> Result<Rendered, TooLong> {
    let mut rendered = Rendered { text: String::new(), missing: Vec::new() };
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        let (before, place) = rest.split_at(at);
        rendered.text.push_str(before);
        let (found, after) = Placeholder::read(place);
        match found {
            Placeholder::Text(text) => rendered.text.push_str(text),
            Placeholder::Memory(path) => {
                let value = path.look_up(memory);
                rendered.text.push_str(&value.map_or_else(|| NONE.to_owned(), self::value));
                if value.is_none() {
                    rendered.miss(format!("{MEMORY}{path}"));
                }
            }
            Placeholder::Variable { name, written } => match variables.get(name) {
                Some(Value::String(text)) => rendered.text.push_str(text),
                Some(value) => rendered.text.push_str(&self::value(value)),
                None => {
                    rendered.text.push_str(written);
                    rendered.miss(name.to_owned());
                }
            },
        }
        if rendered.text.len() > RENDERED_BYTES_MAX {
            return Err(TooLong);
        }
        rest = after;
    }
    rendered.text.push_str(rest);
    if rendered.text.len() > RENDERED_BYTES_MAX { Err(TooLong) } else { Ok(rendered) }
}

impl Rendered {
    fn miss(&mut self, name: String) {
        if !self.missing.contains(&name) {
            self.missing.push(name);
        }
    }
}

/// Placeholder that a `$` begins.
enum Placeholder<'a> {
    Memory(KeyPath<'a>),
    Variable { name: &'a str, written: &'a str },
    Text(&'static str),
}

impl<'a> Placeholder<'a> {
    /// Parses the placeholder at the start of `text`, which is a `$`, and returns it with the
    /// rest.
    fn read(text: &'a str) -> (Self, &'a str) {
        let after = text.strip_prefix('$').unwrap_or(text);
        if let Some(rest) = after.strip_prefix('$') {
            return (Self::Text("$"), rest);
        }
        let (name, rest) = split_name(after);
        if name == MEMORY
            && let (path, rest) = KeyPath::read(rest)
            && !path.keys.is_empty()
        {
            return (Self::Memory(path), rest);
        }
        if !name.is_empty() {
            return (Self::variable(name, text, rest), rest);
        }
        if let Some(inner) = after.strip_prefix('{')
            && let (name, rest) = split_name(inner)
            && !name.is_empty()
            && let Some(rest) = rest.strip_prefix('}')
        {
            return (Self::variable(name, text, rest), rest);
        }
        (Self::Text("$"), after)
    }

    fn variable(name: &'a str, text: &'a str, rest: &str) -> Self {
        let written = text.get(..text.len() - rest.len()).unwrap_or(text);
        Self::Variable { name, written }
    }
}

/// A name as Python's templates have it, and the rest of `text`.
fn split_name(text: &str) -> (&str, &str) {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let end = if starts { text.find(is_end).unwrap_or(text.len()) } else { 0 };
    text.split_at(end)
}

/// Keys into nested objects, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath<'a> {
    keys: Vec<&'a str>,
}

/// The text is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no path into the memory; accepted are keys of letters, digits, '_' and '-' in brackets, \
     such as [task_process][goal]"
)]
pub struct BadPath;

impl<'a> KeyPath<'a> {
    /// Reads `[a][b]`, also with `memory` or `$memory` before it, and a bare `a`.
    pub fn parse(text: &'a str) -> Result<Self, BadPath> {
        let text = text.trim();
        if !text.is_empty() && text.chars().all(is_key) {
            return Ok(Self { keys: vec![text] });
        }
        let (keys, rest) = text.split_at(text.find('[').ok_or(BadPath)?);
        let first = match keys {
            "" | MEMORY | "$memory" => None,
            key if key.chars().all(is_key) => Some(key),
            _ => return Err(BadPath),
        };
        let (path, rest) = Self::read(rest);
        if path.keys.is_empty() || !rest.is_empty() {
            return Err(BadPath);
        }
        Ok(Self { keys: first.into_iter().chain(path.keys).collect() })
    }

    /// The bracketed keys at the start of `text`, and what follows them.
    fn read(mut text: &'a str) -> (Self, &'a str) {
        let mut keys = Vec::new();
        while let Some(inner) = text.strip_prefix('[')
            && let Some((key, rest)) = inner.split_once(']')
            && !key.is_empty()
            && key.chars().all(is_key)
        {
            keys.push(key);
            text = rest;
        }
        (Self { keys }, text)
    }

    /// The value there; `None` where a key is missing or leads into no object.
    pub fn look_up<'m>(&self, memory: &'m Map<String, Value>) -> Option<&'m Value> {
        let (first, rest) = self.keys.split_first()?;
        rest.iter().try_fold(memory.get(*first)?, |value, key| value.get(*key))
    }
}

impl std::fmt::Display for KeyPath<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.keys.iter().try_for_each(|key| write!(f, "[{key}]"))
    }
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// A value as text for a prompt.
///
/// A list is a line `- item` each, an item of several lines indented under its
/// dash; an object is a line `key: value` each; a text stands as it is. What is
/// empty reads `None`.
pub fn value(value: &Value) -> String {
    render_value(value, DEPTH_MAX)
}

fn render_value(value: &Value, depth_left: usize) -> String {
    match value {
        Value::Null => NONE.to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => self::number(number),
        Value::String(text) if text.is_empty() => NONE.to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => NONE.to_owned(),
        Value::Object(members) if members.is_empty() => NONE.to_owned(),
        Value::Array(_) | Value::Object(_) if depth_left == 0 => CUT.to_owned(),
        Value::Array(items) => {
            let line = |item| {
                let block = render_value(item, depth_left - 1);
                format!("- {}", block.replace('\n', "\n  "))
            };
            items.iter().map(line).collect::<Vec<String>>().join("\n")
        }
        Value::Object(members) => {
            let line = |(key, value): (&String, _)| {
                format!("{key}: {}", render_value(value, depth_left - 1))
            };
            members.iter().map(line).collect::<Vec<String>>().join("\n")
        }
    }
}

/// A number as Python's `str` gives it: the shortest digits that mean it, whole
/// ones without a point, others with one, and an exponent from 1e16 and below
/// 1e-4 on.
fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => format_python_float(float),
        _ => number.to_string(),
    }
}

fn format_python_float(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = float.to_string();
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests;
