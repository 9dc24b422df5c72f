//! Reads JSON of a client within bounds: so many values and no more, and of a call's arguments
//! those that the tool takes.
//!
//! A value in memory takes many times what it takes on the line (`0,` is two bytes there and
//! some 80 here), so the bytes of a line bound nothing.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::server::wide_integer::{self, WideInteger};
use crate::tools::ToolSpec;
use crate::tools::args::names_of;

/// Values of one message: some times what the largest state of an agent holds.
pub(super) const VALUES_MAX: usize = 65_536;
/// Bytes that a value takes in memory, about.
const VALUE_BYTES: u64 = 80;
/// What any request takes, its answer among it.
const REQUEST_BYTES: u64 = 16 << 10;
/// Up to here a message is read at once: it cannot hold much.
const SMALL_BYTES: usize = 4 << 10;

/// The arguments that each tool takes, by its names; `None` where it takes any.
#[derive(Debug, Default)]
pub(super) struct TakenArguments(BTreeMap<String, Option<BTreeSet<String>>>);

/// Why a line is no message.
#[derive(Debug)]
pub(super) enum BadMessage {
    NoJson(serde_json::Error),
    /// With the id, as far as it can be read.
    TooMany(Option<Value>),
    /// It would become a float; with the id.
    TooWide(Option<Value>, WideInteger),
}

/// What a request of this line takes in memory at most.
pub(super) fn cost(line: &[u8]) -> u64 {
    // Each value but the first follows a comma or opens a list or an object; those within
    // texts count too.
    let marks = line.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    line.len() as u64 + VALUE_BYTES * marks.min(VALUES_MAX) as u64 + REQUEST_BYTES
}

/// Reads a line.
pub(super) fn read(line: &[u8], taken: &TakenArguments) -> Result<Value, BadMessage> {
    let head = if line.len() > SMALL_BYTES { head_of(line) } else { None };
    if let Some(wide) = wide_integer::first_in(line)
        // What is no JSON at all is said to be that.
        && let Some(head) = head_of(line)
    {
        return Err(BadMessage::TooWide(head.id.0, wide));
    }
    let tool = head.as_ref().and_then(|head| head.params.as_ref()).and_then(|it| it.name.as_ref());
    let budget = Cell::new(VALUES_MAX);
    let seed = Node { budget: &budget, place: Place::Message, takes: tool.map(|it| taken.of(it)) };
    let mut reader = serde_json::Deserializer::from_slice(line);
    let read = seed.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| {
        let has_ended = budget.get() == 0;
        if !has_ended {
            return BadMessage::NoJson(error);
        }
        BadMessage::TooMany(head.or_else(|| head_of(line)).and_then(|head| head.id.0))
    })
}

impl TakenArguments {
    pub(super) fn of_tools(tools: &[ToolSpec]) -> Self {
        let of_tool = |tool: &ToolSpec| {
            let is_closed = tool.input_schema.get("additionalProperties") == Some(&false.into());
            let names = tool.input_schema.get("properties").and_then(Value::as_object);
            let every = |name: &String| names_of(name).map(str::to_owned).collect::<Vec<_>>();
            names.filter(|_| is_closed).map(|it| it.keys().flat_map(every).collect())
        };
        let named = tools.iter().flat_map(|tool| {
            let names = [tool.name].into_iter().chain(tool.aliases.iter().copied());
            names.map(|name| (name.to_owned(), of_tool(tool)))
        });
        Self(named.collect())
    }

    fn of(&self, tool: &str) -> Takes<'_> {
        match self.0.get(tool) {
            None => Takes::Nothing,
            Some(None) => Takes::All,
            Some(Some(names)) => Takes::These(names),
        }
    }
}

/// Which arguments of a call are built.
#[derive(Debug, Clone, Copy)]
enum Takes<'a> {
    Nothing,
    All,
    These(&'a BTreeSet<String>),
}

impl Takes<'_> {
    fn takes(self, name: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::All => true,
            Self::These(names) => names.contains(name),
        }
    }
}

/// What of a message is needed to read the rest of it.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(default)]
    id: Id,
    #[serde(borrow, default)]
    params: Option<HeadParams<'a>>,
}

#[derive(Deserialize)]
struct HeadParams<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

/// `None` where there is none: then the whole says what is wrong.
fn head_of(line: &[u8]) -> Option<Head<'_>> {
    let mut reader = serde_json::Deserializer::from_slice(line);
    let head = Head::deserialize(&mut reader).ok()?;
    reader.end().is_ok().then_some(head)
}

/// A text or a whole number; of anything else nothing is built.
#[derive(Default)]
struct Id(Option<Value>);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor).map(Self)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_i64<E>(self, id: i64) -> Result<Option<Value>, E> {
        Ok(Some(id.into()))
    }

    fn visit_u64<E>(self, id: u64) -> Result<Option<Value>, E> {
        Ok(Some(id.into()))
    }

    fn visit_str<E>(self, id: &str) -> Result<Option<Value>, E> {
        Ok(Some(id.into()))
    }
}

/// Where in a message a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Message,
    Params,
    Arguments,
    Elsewhere,
}

/// Builds a value while there is budget.
#[derive(Debug, Clone, Copy)]
struct Node<'a> {
    budget: &'a Cell<usize>,
    place: Place,
    takes: Option<Takes<'a>>,
}

impl Node<'_> {
    /// The member of this name.
    fn member(self, name: &str) -> Self {
        let place = match (self.place, name) {
            (Place::Message, "params") => Place::Params,
            (Place::Params, "arguments") => Place::Arguments,
            _ => Place::Elsewhere,
        };
        Self { place, ..self }
    }

    fn is_taken(self, name: &str) -> bool {
        self.place != Place::Arguments || self.takes.is_none_or(|takes| takes.takes(name))
    }

    fn count<E: Error>(self) -> Result<(), E> {
        let left = self.budget.get().saturating_sub(1);
        self.budget.set(left);
        if left == 0 { Err(E::custom("too many values")) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        let item = Node { place: Place::Elsewhere, ..self };
        while let Some(value) = items.next_element_seed(item)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = if self.is_taken(&name) {
                members.next_value_seed(self.member(&name))?
            } else {
                self.count()?;
                members.next_value::<IgnoredAny>()?;
                // In its place, so that the refusal can name it.
                Value::Bool(true)
            };
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}
