//! The filter language of notes: a safe subset of Python's expressions.
//!
//! Pure. Comparisons (`==`, `!=`, `<`, `<=`, `>`, `>=`, chained as in Python),
//! `in`, `not in`, `is None`, `is not None`, `and`, `or`, `not`, parentheses,
//! names, and literals: texts, numbers, `True`, `False`, `None`, lists. Parts of
//! metadata are named by `project.name`, `project['name']` or `tags[0]`, also behind
//! `metadata`. There are no calls and no arithmetic; what is not in the language is an
//! error that shows where it stands.
//!
//! A name that a note does not have is `None`. Values that cannot
//! be compared, such as a text and a number, have no order: `<` and the like are
//! false there, where Python would stop with an error over one odd note. Where all notes
//! are odd so, the filter is refused (`kinds`).

pub mod kinds;
mod parser;
mod tokens;

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::memory::notes::filter::parser::Parser;

/// Longest filter.
pub const FILTER_BYTES_MAX: usize = 2_000;
/// Parentheses, lists and `not` within each other.
const DEPTH_MAX: usize = 32;
/// Characters that an error shows of the place where it is.
const SHOWN_CHARS_MAX: usize = 24;

/// A filter that was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteFilter(Expr);

/// Why a filter was not understood, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at character {at}{shown}; {accepted}")]
pub struct BadFilter {
    what: String,
    /// From 1.
    at: usize,
    shown: String,
    accepted: &'static str,
}

/// Elements of the language, for errors.
const ACCEPTED: &str = "accepted are comparisons, in, not in, is None, is not None, and, or, not, \
    parentheses, literals and names, such as area == 'main' and year >= 2024 and 'lab' in tags";

#[derive(Debug, Clone, PartialEq)]
enum Expr {
    Any(Vec<Expr>),
    All(Vec<Expr>),
    Not(Box<Expr>),
    /// `a < b <= c` holds where each neighbouring pair does.
    Chain(Operand, Vec<(Comparison, Operand)>),
    /// As Python sees a bare value: true unless empty, zero, false or `None`.
    Truth(Operand),
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(FieldPath),
    Literal(Value),
    List(Vec<Operand>),
}

/// A name, and the way to a part of its value.
#[derive(Debug, Clone, PartialEq)]
struct FieldPath {
    name: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Key(String),
    Place(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Is,
    IsNot,
}

impl NoteFilter {
    pub fn parse(text: &str) -> Result<Self, BadFilter> {
        if text.len() > FILTER_BYTES_MAX {
            let what =
                format!("the filter has {} bytes, more than {FILTER_BYTES_MAX},", text.len());
            return Err(BadFilter { what, at: 1, shown: String::new(), accepted: ACCEPTED });
        }
        Parser::new(text)?.whole().map(Self)
    }

    /// Whether something with these values of names passes; a name without one
    /// is `None`.
    pub fn admits<'a>(&self, value_of: &dyn Fn(&str) -> Option<Cow<'a, Value>>) -> bool {
        self.0.holds(value_of)
    }
}

impl Expr {
    fn holds<'a>(&self, value_of: &dyn Fn(&str) -> Option<Cow<'a, Value>>) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.holds(value_of)),
            Self::All(parts) => parts.iter().all(|part| part.holds(value_of)),
            Self::Not(inner) => !inner.holds(value_of),
            Self::Truth(operand) => is_true(&operand.value(value_of)),
            Self::Chain(first, rest) => {
                let mut left = first.value(value_of);
                rest.iter().all(|(comparison, operand)| {
                    let right = operand.value(value_of);
                    let holds = comparison.holds(&left, &right);
                    left = right;
                    holds
                })
            }
        }
    }
}

impl Operand {
    fn value<'a>(&self, value_of: &dyn Fn(&str) -> Option<Cow<'a, Value>>) -> Cow<'a, Value> {
        match self {
            Self::Path(path) => path.value(value_of).unwrap_or(Cow::Owned(Value::Null)),
            Self::Literal(value) => Cow::Owned(value.clone()),
            Self::List(items) => {
                let items = items.iter().map(|item| item.value(value_of).into_owned());
                Cow::Owned(Value::Array(items.collect()))
            }
        }
    }
}

impl FieldPath {
    fn value<'a>(
        &self,
        value_of: &dyn Fn(&str) -> Option<Cow<'a, Value>>,
    ) -> Option<Cow<'a, Value>> {
        let within = |value: &Value, part: &Part| match part {
            Part::Key(key) => value.get(key).cloned(),
            Part::Place(place) => value.get(place).cloned(),
        };
        let whole = value_of(&self.name)?;
        self.parts.iter().try_fold(whole, |value, part| within(&value, part).map(Cow::Owned))
    }
}

impl Comparison {
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = || order(left, right);
        match self {
            // `is` stands before None only.
            Self::Equal | Self::Is => equal(left, right),
            Self::Unequal | Self::IsNot => !equal(left, right),
            Self::Less => order() == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order(), Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order() == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(order(), Some(Ordering::Greater | Ordering::Equal)),
            Self::In => contains(right, left),
            Self::NotIn => !contains(right, left),
        }
    }
}

/// As Python has it: numbers by value, whatever their spelling, and `True` is 1.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(key, value)| b.get(key).is_some_and(|other| equal(value, other));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => match (number(left), number(right)) {
            (Some(a), Some(b)) => numeric_order(&a, &b) == Some(Ordering::Equal),
            _ => left == right,
        },
    }
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Array(a), Value::Array(b)) => {
            let differing = a.iter().zip(b).find(|(a, b)| !equal(a, b));
            differing.map_or_else(|| Some(a.len().cmp(&b.len())), |(a, b)| order(a, b))
        }
        _ => numeric_order(&number(left)?, &number(right)?),
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::Bool(flag) => Some(Number::from(u8::from(*flag))),
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn numeric_order(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn contains(whole: &Value, part: &Value) -> bool {
    match whole {
        Value::Array(items) => items.iter().any(|item| equal(item, part)),
        Value::Object(members) => part.as_str().is_some_and(|key| members.contains_key(key)),
        Value::String(text) => part.as_str().is_some_and(|part| text.contains(part)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

fn bad(text: &str, at: usize, what: String) -> BadFilter {
    let rest = text.get(at..).unwrap_or_default();
    let cut: String = rest.chars().take(SHOWN_CHARS_MAX).collect();
    let dots = if cut.len() < rest.len() { "…" } else { "" };
    let shown = if rest.is_empty() { String::new() } else { format!(" ({cut}{dots})") };
    let at = text.get(..at).unwrap_or(text).chars().count() + 1;
    BadFilter { what, at, shown, accepted: ACCEPTED }
}

#[cfg(test)]
mod tests;
