//! A tool's arguments: described once, from which come the JSON schema that
//! clients see and the checks that a call passes.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::base::RecordId;
use crate::base::caller::Caller;
use crate::base::plain::is_hidden;
use crate::base::time::{TIME_FORMS, Timestamp, Window, Zone};
use crate::retrieval::sessions::SessionName;
use crate::tools::{ToolError, area};

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// What its name, its kind and the tool's description leave open; often nothing.
    pub(crate) about: &'static str,
}

/// What an argument may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Text of at most so many bytes.
    Text { bytes_max: usize },
    /// Name on one line, without characters that are not seen, of at most so many bytes.
    Name { bytes_max: usize },
    /// Whole number with its bounds, and what an absent one counts as.
    Whole { least: i64, most: i64, default: i64 },
    /// Whole number from 1, without a default.
    Size { most: u32 },
    /// Finite number.
    Number,
    /// One of [`TIME_FORMS`], or seconds since 1970.
    Time,
    /// `[x, y, z]` in metres; `[x, y]` is taken as on the floor.
    Position,
    /// Base64 text; its size is bounded by the line that carries it.
    Base64,
    /// A number above 0.
    Positive,
    /// From 0 to 1, and what an absent one counts as.
    Share { default: f64 },
    /// One of a few words; the first where absent.
    Word { of: &'static [&'static str] },
    /// From one to so many names, as text with commas between them or as a list.
    Names { most: usize },
    /// At most so many texts, of so many bytes together.
    Texts { most: usize, bytes_max: usize },
    /// A JSON object, or one as text.
    Object,
    /// `{x, y, z?, radius, frame_id?, map_id?}`: a place and metres around it.
    Area,
    /// True or false.
    Flag,
    /// From one to so many record ids.
    RecordIds { most: usize },
}

impl Param {
    pub(crate) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: true, about }
    }

    pub(crate) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: false, about }
    }
}

/// Every tool takes it; the instructions of the server say what it is.
pub(crate) const SESSION: Param = Param::optional("session", Kind::Name { bytes_max: 128 }, "");

/// Names that the documents which the tools come from give to arguments, and the one name that
/// every tool has for each. Both are accepted wherever a tool takes the argument.
const OTHER_NAMES: [(&str, &str); 4] = [
    ("x", "query"),
    ("instance_description", "query"),
    ("search_start_time", "start_time"),
    ("search_end_time", "end_time"),
];

/// Every name under which an argument can be given.
pub(crate) fn names_of(argument: &str) -> impl Iterator<Item = &str> {
    let others = OTHER_NAMES.iter().filter(move |(_, own)| *own == argument);
    [argument].into_iter().chain(others.map(|(other, _)| *other))
}

/// Gives the arguments that came under another name their own one.
fn rename(params: &[Param], values: &mut Map<String, Value>) -> Result<(), ToolError> {
    for (other, own) in OTHER_NAMES {
        let takes = |name: &str| params.iter().any(|it| it.name == name);
        if takes(other) || !takes(own) {
            continue;
        }
        let Some(value) = values.shift_remove(other) else { continue };
        match values.get(own) {
            Some(given) if *given != value => {
                return Err(argument_error(format!(
                    "arguments {other:?} and {own:?} are two names of one and say different \
                     things; accepted is one of them"
                )));
            }
            _ => values.insert(own.to_owned(), value),
        };
    }
    Ok(())
}

/// JSON Schema of an object with these arguments, as short as a model can do with: every tool's
/// is in its prompt. What is taken beside it (seconds for a time, a list for names with commas
/// between, one id as a list) is not told, and bounds that nobody thinks of are in refusals.
pub(crate) fn schema(params: &[Param]) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let first_time = params.iter().find(|it| matches!(it.kind, Kind::Time)).map(|it| it.name);
    for param in params.iter().chain([&SESSION]) {
        let mut about = param.about.to_owned();
        if first_time == Some(param.name) {
            // The other times of a call are written alike.
            about.push_str(" 'YYYY-MM-DD HH:MM:SS', RFC 3339 or '-2h'.");
        }
        let mut property = kind_schema(param.kind);
        if !about.is_empty() {
            property.insert("description".to_owned(), json!(about));
        }
        properties.insert(param.name.to_owned(), Value::Object(property));
        if param.required {
            required.push(json!(param.name));
        }
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn kind_schema(kind: Kind) -> Map<String, Value> {
    let schema = match kind {
        Kind::Text { .. } | Kind::Name { .. } | Kind::Time | Kind::Names { .. } => {
            json!({"type": "string"})
        }
        // A number of something, of which any is right; 0 is none.
        Kind::Whole { least, most: i64::MAX, .. } => json!({"type": "integer", "minimum": least}),
        Kind::Whole { least, most, default } => {
            json!({"type": "integer", "minimum": least, "maximum": most, "default": default})
        }
        Kind::Size { most: u32::MAX } => json!({"type": "integer", "minimum": 1}),
        Kind::Size { most } => json!({"type": "integer", "minimum": 1, "maximum": most}),
        Kind::Number => json!({"type": "number"}),
        Kind::Base64 => json!({"type": "string", "contentEncoding": "base64"}),
        Kind::Position => {
            json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3})
        }
        Kind::Positive => json!({"type": "number", "exclusiveMinimum": 0}),
        Kind::Texts { most, .. } => {
            json!({"type": "array", "items": {"type": "string"}, "maxItems": most})
        }
        Kind::Share { default } => {
            json!({"type": "number", "minimum": 0, "maximum": 1, "default": default})
        }
        Kind::Word { of } => json!({"type": "string", "enum": of, "default": of.first()}),
        Kind::Object => json!({"type": "object"}),
        Kind::Area => area::schema(),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::RecordIds { most: 1 } => json!({"type": "integer"}),
        Kind::RecordIds { most } => {
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": most})
        }
    };
    if let Value::Object(schema) = schema { schema } else { Map::new() }
}

/// Arguments of one call, known to hold no unknown name.
#[derive(Debug)]
pub(crate) struct Args {
    params: &'static [Param],
    values: Map<String, Value>,
}

/// What times are read against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeReading {
    pub(crate) zone: Zone,
    pub(crate) now: Timestamp,
}

impl Args {
    /// Refuses unknown names, and missing ones that are required. An empty
    /// text or null counts as absent: prompts make models fill every field.
    pub(crate) fn new(
        params: &'static [Param],
        mut values: Map<String, Value>,
    ) -> Result<Self, ToolError> {
        values.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
        rename(params, &mut values)?;
        let known = |name: &str| name == SESSION.name || params.iter().any(|it| it.name == name);
        if let Some(name) = values.keys().find(|name| !known(name)) {
            let names: Vec<&str> =
                params.iter().chain([&SESSION]).map(|param| param.name).collect();
            let accepted = names.join(", ");
            return Err(argument_error(format!(
                "unknown argument {name:?}; accepted are {accepted}"
            )));
        }
        let absent = params.iter().find(|it| it.required && !values.contains_key(it.name));
        if let Some(param) = absent {
            let accepted = accepted_form(param.kind);
            return Err(argument_error(format!(
                "argument {:?} is missing or empty; accepted is {accepted}",
                param.name
            )));
        }
        Ok(Self { params, values })
    }

    /// The session of the call: the one that it names, else the connection's own.
    pub(crate) fn session<'a>(
        &'a self,
        (caller, own): (&'a Caller, &'a str),
    ) -> Result<SessionName<'a>, ToolError> {
        Ok(match self.text(SESSION.name)? {
            Some(name) => SessionName { caller, name, is_kept: true },
            None => SessionName { caller, name: own, is_kept: false },
        })
    }

    /// Whether it was given, and not empty.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(None) };
        let is_name = matches!(kind, Kind::Name { .. });
        let bytes_max = if let Kind::Text { bytes_max } | Kind::Name { bytes_max } = kind {
            bytes_max
        } else {
            usize::MAX
        };
        match value.as_str() {
            Some(text) if is_name && text.chars().any(is_hidden) => {
                Err(wrong_value(name, value, kind))
            }
            Some(text) if text.len() <= bytes_max => Ok((!text.trim().is_empty()).then_some(text)),
            _ => Err(wrong_value(name, value, kind)),
        }
    }

    /// A name, for which models also write a number.
    pub(crate) fn name_or_number(&self, name: &str) -> Result<Option<String>, ToolError> {
        match self.find(name) {
            Some((_, Value::Number(number))) => Ok(Some(number.to_string())),
            _ => Ok(self.text(name)?.map(str::to_owned)),
        }
    }

    /// The text of a required argument: blank counts as missing.
    pub(crate) fn required_text(&self, name: &str) -> Result<&str, ToolError> {
        let accepted = "a text that is not blank";
        self.text(name)?.ok_or_else(|| {
            argument_error(format!("argument {name:?} is missing or empty; accepted is {accepted}"))
        })
    }

    /// The default where absent.
    pub(crate) fn whole(&self, name: &str) -> Result<i64, ToolError> {
        let param = self.param(name);
        let Some(Kind::Whole { least, most, default }) = param else { return Ok(0) };
        let Some((kind, value)) = self.find(name) else { return Ok(default) };
        // Models write 8.0 and "8" for 8.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "only a whole number in bounds is used"
        )]
        let whole = value
            .as_i64()
            .or_else(|| value.as_f64().filter(|it| it.fract() == 0.0).map(|it| it as i64))
            .or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        match whole {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(wrong_value(name, value, kind)),
        }
    }

    /// [`Args::whole`] for a count.
    pub(crate) fn count(&self, name: &str) -> Result<usize, ToolError> {
        Ok(usize::try_from(self.whole(name)?).unwrap_or(0))
    }

    pub(crate) fn size(&self, name: &str) -> Result<Option<u32>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(None) };
        let most = if let Kind::Size { most } = kind { most } else { u32::MAX };
        let size = value.as_u64().and_then(|it| u32::try_from(it).ok());
        let size = size.filter(|it| (1..=most).contains(it));
        size.map(Some).ok_or_else(|| wrong_value(name, value, kind))
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(None) };
        match value.as_f64() {
            Some(number) => Ok(Some(number)),
            None => Err(wrong_value(name, value, kind)),
        }
    }

    pub(crate) fn time(
        &self,
        name: &str,
        reading: TimeReading,
    ) -> Result<Option<Timestamp>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(None) };
        if let Some(seconds) = value.as_f64() {
            let time = Timestamp::from_seconds(seconds);
            return time.map(Some).ok_or_else(|| wrong_value(name, value, kind));
        }
        let Some(text) = value.as_str() else { return Err(wrong_value(name, value, kind)) };
        match reading.zone.parse(text, reading.now) {
            Ok(time) => Ok(Some(time)),
            Err(error) => Err(argument_error(format!("argument {name:?}: {error}"))),
        }
    }

    /// A bound that names a whole second means all of it when it ends a window.
    pub(crate) fn window(
        &self,
        start: &str,
        end: &str,
        reading: TimeReading,
    ) -> Result<Window, ToolError> {
        let (first, last) = (self.time(start, reading)?, self.time(end, reading)?);
        let last = last.map(|time| {
            let whole_second = time.micros() % 1_000_000 == 0;
            if whole_second { time.plus(Duration::from_micros(999_999)) } else { time }
        });
        Window::new(first, last).map_err(|_backward| {
            let shown = |bound: Option<Timestamp>| bound.map_or_else(String::new, |it| reading.zone.format(it));
            argument_error(format!(
                "argument {start:?} ({}) lies after {end:?} ({}); accepted is a start at or before the end",
                shown(first),
                shown(last)
            ))
        })
    }

    pub(crate) fn position(&self, name: &str) -> Result<Option<[f64; 3]>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(None) };
        let numbers: Option<Vec<f64>> = value
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .map(Value::as_f64)
            .collect();
        match numbers.as_deref() {
            Some(&[x, y]) => Ok(Some([x, y, 0.0])),
            Some(&[x, y, z]) => Ok(Some([x, y, z])),
            _ => Err(wrong_value(name, value, kind)),
        }
    }

    pub(crate) fn positive(&self, name: &str) -> Result<Option<f32>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(None) };
        #[expect(clippy::cast_possible_truncation, reason = "checked to be finite")]
        let number = value.as_f64().map(|number| number as f32);
        let number = number.filter(|number| *number > 0.0 && number.is_finite());
        number.map(Some).ok_or_else(|| wrong_value(name, value, kind))
    }

    /// The texts that are not blank; none where absent.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(Vec::new()) };
        let Kind::Texts { most, bytes_max } = kind else {
            return Err(wrong_value(name, value, kind));
        };
        let items = value.as_array().filter(|items| items.len() <= most);
        let texts: Option<Vec<&str>> =
            items.and_then(|items| items.iter().map(Value::as_str).collect());
        texts
            .filter(|texts| texts.iter().map(|text| text.len()).sum::<usize>() <= bytes_max)
            .map(|texts| {
                let texts = texts.into_iter().filter(|text| !text.trim().is_empty());
                texts.map(str::to_owned).collect()
            })
            .ok_or_else(|| wrong_value(name, value, kind))
    }

    /// The default where absent.
    pub(crate) fn share(&self, name: &str) -> Result<f32, ToolError> {
        let Some(Kind::Share { default }) = self.param(name) else { return Ok(0.0) };
        let share = match self.find(name) {
            None => default,
            Some((kind, value)) => value
                .as_f64()
                .or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
                .filter(|share| (0.0..=1.0).contains(share))
                .ok_or_else(|| wrong_value(name, value, kind))?,
        };
        #[expect(clippy::cast_possible_truncation, reason = "a number from 0 to 1")]
        let share = share as f32;
        Ok(share)
    }

    /// The first word where absent.
    pub(crate) fn word(&self, name: &str) -> Result<&'static str, ToolError> {
        let Some(Kind::Word { of }) = self.param(name) else { return Ok("") };
        let Some((kind, value)) = self.find(name) else {
            return Ok(of.first().copied().unwrap_or_default());
        };
        let found = of.iter().find(|word| value.as_str() == Some(word)).copied();
        found.ok_or_else(|| wrong_value(name, value, kind))
    }

    /// The names, without those that are blank.
    pub(crate) fn names(&self, name: &str) -> Result<Vec<String>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(Vec::new()) };
        let Kind::Names { most } = kind else { return Err(wrong_value(name, value, kind)) };
        // An id may be a number.
        let whole = |value: &Value| value.as_u64().map(|number| number.to_string());
        let text = |value: &Value| value.as_str().map(str::to_owned).or_else(|| whole(value));
        let names: Option<Vec<String>> = match value {
            Value::String(text) => Some(text.split(',').map(str::to_owned).collect()),
            Value::Array(items) => items.iter().map(text).collect(),
            Value::Number(_) => whole(value).map(|name| vec![name]),
            Value::Null | Value::Bool(_) | Value::Object(_) => None,
        };
        let names: Option<Vec<String>> = names.map(|names| {
            let names = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        });
        names
            .filter(|names| (1..=most).contains(&names.len()))
            .ok_or_else(|| wrong_value(name, value, kind))
    }

    /// Models write an object as text, too.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Map<String, Value>>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(None) };
        let object = match value {
            Value::Object(object) => Some(object.clone()),
            Value::String(text) => serde_json::from_str(text).ok(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        };
        object.map(Some).ok_or_else(|| wrong_value(name, value, kind))
    }

    /// False where absent.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(false) };
        let written = match value {
            Value::Bool(flag) => Some(*flag),
            // As small models write it, in Python or in JSON.
            Value::String(text) => text.trim().to_lowercase().parse().ok(),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        written.ok_or_else(|| wrong_value(name, value, kind))
    }

    pub(crate) fn record_ids(&self, name: &str) -> Result<Vec<RecordId>, ToolError> {
        let Some((kind, value)) = self.find(name) else { return Ok(Vec::new()) };
        let Kind::RecordIds { most } = kind else { return Err(wrong_value(name, value, kind)) };
        // One id, or ids as text, are what small models write.
        let written: Vec<Value> = match (value.as_array(), value.as_str()) {
            (Some(items), _) => items.clone(),
            (None, Some(text)) => text.split(',').map(|part| json!(part.trim())).collect(),
            (None, None) => vec![value.clone()],
        };
        let id = |it: &Value| {
            it.as_u64().or_else(|| it.as_str().and_then(|text| text.parse().ok())).map(RecordId)
        };
        match written.iter().map(id).collect::<Option<Vec<RecordId>>>() {
            Some(ids) if (1..=most).contains(&ids.len()) => Ok(ids),
            _ => Err(wrong_value(name, value, kind)),
        }
    }

    fn param(&self, name: &str) -> Option<Kind> {
        self.params.iter().chain([&SESSION]).find(|it| it.name == name).map(|it| it.kind)
    }

    fn find(&self, name: &str) -> Option<(Kind, &Value)> {
        self.param(name).zip(self.values.get(name))
    }
}

/// A refusal, as the one sentence that the caller reads.
pub(crate) fn argument_error(sentence: String) -> ToolError {
    ToolError::Argument(sentence)
}

fn wrong_value(name: &str, value: &Value, kind: Kind) -> ToolError {
    let written = value.to_string();
    let shown: String = written.chars().take(80).collect();
    let dots = if shown.len() < written.len() { "…" } else { "" };
    argument_error(format!(
        "argument {name:?} is {shown}{dots}; accepted is {}",
        accepted_form(kind)
    ))
}

fn accepted_form(kind: Kind) -> String {
    match kind {
        Kind::Text { bytes_max } => format!("a text of at most {bytes_max} bytes"),
        Kind::Name { bytes_max } => {
            format!("a name of at most {bytes_max} bytes on one line, without control characters")
        }
        Kind::Whole { least, most, default } => {
            format!("a whole number from {least} to {most} ({default} where absent)")
        }
        Kind::Size { most } => format!("a whole number from 1 to {most}"),
        Kind::Number => "a finite number".to_owned(),
        Kind::Time => TIME_FORMS.to_owned(),
        Kind::Position => "a list of metres: [x, y] or [x, y, z]".to_owned(),
        Kind::Base64 => "a text in base64".to_owned(),
        Kind::Positive => "a number above 0".to_owned(),
        Kind::Texts { most, bytes_max } => {
            format!("a list of at most {most} texts of together at most {bytes_max} bytes")
        }
        Kind::Share { default } => format!("a number from 0 to 1 ({default} where absent)"),
        Kind::Word { of } => format!("one of {}", of.join(", ")),
        Kind::Names { most } => format!("1 to {most} of them, with commas between"),
        Kind::Object => "a JSON object".to_owned(),
        Kind::Area => area::ACCEPTED.to_owned(),
        Kind::Flag => "true or false (false where absent)".to_owned(),
        Kind::RecordIds { most } => format!("a list of 1 to {most} record ids"),
    }
}

#[cfg(test)]
mod tests;
