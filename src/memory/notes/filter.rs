//! The filter language of notes: a safe subset of Python's expressions.
//!
//! Pure. Comparisons (`==`, `!=`, `<`, `<=`, `>`, `>=`, chained as in Python),
//! `in`, `not in`, `is None`, `is not None`, `and`, `or`, `not`, parentheses,
//! names, and literals: texts, numbers, `True`, `False`, `None`, lists. There
//! are no calls, no attributes and no arithmetic; what is not in the language
//! is an error that shows where it stands.
//!
//! A name that a note does not have is `None`. Values that cannot
//! be compared, such as a text and a number, have no order: `<` and the like are
//! false there, where Python would stop with an error over one odd note.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

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
    Name(String),
    Literal(Value),
    List(Vec<Operand>),
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
        let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0 };
        let expr = parser.any()?;
        match parser.peek() {
            None => Ok(Self(expr)),
            Some(_) => Err(parser.unexpected()),
        }
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
            Self::Name(name) => value_of(name).unwrap_or(Cow::Owned(Value::Null)),
            Self::Literal(value) => Cow::Owned(value.clone()),
            Self::List(items) => {
                let items = items.iter().map(|item| item.value(value_of).into_owned());
                Cow::Owned(Value::Array(items.collect()))
            }
        }
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

#[derive(Debug, Clone, PartialEq)]
struct FilterToken {
    kind: TokenKind,
    /// Byte where it starts.
    at: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum TokenKind {
    Name(String),
    Literal(Value),
    Comparison(Comparison),
    And,
    Or,
    Not,
    In,
    Is,
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
}

/// Characters by which people write what Python writes otherwise, and how.
const INSTEAD: &[(&str, &str)] = &[
    ("&&", "write and for \"&&\""),
    ("||", "write or for \"||\""),
    ("=", "write == for \"=\""),
    ("!", "write not for \"!\""),
    (".", "attributes and methods are not part of the filter language"),
    ("{", "dictionaries and sets are not part of the filter language"),
];

fn tokens(text: &str) -> Result<Vec<FilterToken>, BadFilter> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            at += blank;
            continue;
        }
        let (kind, bytes) = token(rest).map_err(|what| bad(text, at, what))?;
        tokens.push(FilterToken { kind, at });
        at += bytes;
    }
    Ok(tokens)
}

/// The token at the start of `rest` and its length in bytes.
fn token(rest: &str) -> Result<(TokenKind, usize), String> {
    for (symbol, what) in [
        ("==", TokenKind::Comparison(Comparison::Equal)),
        ("!=", TokenKind::Comparison(Comparison::Unequal)),
        ("<=", TokenKind::Comparison(Comparison::LessOrEqual)),
        (">=", TokenKind::Comparison(Comparison::GreaterOrEqual)),
        ("<", TokenKind::Comparison(Comparison::Less)),
        (">", TokenKind::Comparison(Comparison::Greater)),
        ("(", TokenKind::Open),
        (")", TokenKind::Close),
        ("[", TokenKind::OpenList),
        ("]", TokenKind::CloseList),
        (",", TokenKind::Comma),
    ] {
        if rest.starts_with(symbol) {
            return Ok((what, symbol.len()));
        }
    }
    let first = rest.chars().next().unwrap_or_default();
    if first == '\'' || first == '"' {
        return text_literal(rest, first);
    }
    let digit_follows = |sign: &str| {
        rest.strip_prefix(sign).is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
    };
    if first.is_ascii_digit() || digit_follows("-") || digit_follows("+") || digit_follows(".") {
        return number_literal(rest);
    }
    if first.is_alphabetic() || first == '_' {
        return word(rest);
    }
    let hint = INSTEAD.iter().find(|(symbol, _)| rest.starts_with(symbol));
    Err(hint.map_or_else(|| format!("unexpected {first:?}"), |(_, hint)| (*hint).to_owned()))
}

fn word(rest: &str) -> Result<(TokenKind, usize), String> {
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let name = rest.get(..end).unwrap_or(rest);
    let what = match name {
        "and" => TokenKind::And,
        "or" => TokenKind::Or,
        "not" => TokenKind::Not,
        "in" => TokenKind::In,
        "is" => TokenKind::Is,
        "None" => TokenKind::Literal(Value::Null),
        "True" => TokenKind::Literal(Value::Bool(true)),
        "False" => TokenKind::Literal(Value::Bool(false)),
        // As names they would be None, silently.
        "none" | "null" | "NULL" => return Err(format!("write None for {name:?}")),
        "true" | "TRUE" => return Err(format!("write True for {name:?}")),
        "false" | "FALSE" => return Err(format!("write False for {name:?}")),
        "AND" | "OR" | "NOT" | "IN" | "IS" => {
            return Err(format!("write {} for {name:?}", name.to_lowercase()));
        }
        "lambda" | "if" | "else" | "for" | "await" | "yield" => {
            return Err(format!("{name:?} is not part of the filter language"));
        }
        _ if rest.get(end..).is_some_and(|it| it.starts_with(['\'', '"'])) => {
            return Err(format!("texts take no prefix such as {name:?}"));
        }
        _ => TokenKind::Name(name.to_owned()),
    };
    Ok((what, end))
}

fn text_literal(rest: &str, quote: char) -> Result<(TokenKind, usize), String> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => {
                return Ok((TokenKind::Literal(Value::String(text)), at + quote.len_utf8()));
            }
            '\\' => match chars.next() {
                Some((_, c @ ('\\' | '\'' | '"'))) => text.push(c),
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, c)) => return Err(format!("the escape \\{c} is not known in a text")),
                None => break,
            },
            c => text.push(c),
        }
    }
    Err("a text without its closing quote begins".to_owned())
}

fn number_literal(rest: &str) -> Result<(TokenKind, usize), String> {
    let mut before = 'e';
    let end = rest.find(|c: char| {
        // At the start, and in an exponent.
        let is_sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
        before = c;
        !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || is_sign)
    });
    let bytes = end.unwrap_or(rest.len());
    let written = rest.get(..bytes).unwrap_or(rest);
    let number = match written.parse::<i64>() {
        Ok(whole) => Some(Number::from(whole)),
        Err(_) => written.parse::<f64>().ok().and_then(Number::from_f64),
    };
    let number = number.ok_or_else(|| format!("{written:?} is no number"))?;
    Ok((TokenKind::Literal(Value::Number(number)), bytes))
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<FilterToken>,
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Expr, BadFilter> {
        let mut parts = vec![self.all()?];
        while self.take(&TokenKind::Or) {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expr::Any))
    }

    fn all(&mut self) -> Result<Expr, BadFilter> {
        let mut parts = vec![self.not()?];
        while self.take(&TokenKind::And) {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Expr::All))
    }

    fn not(&mut self) -> Result<Expr, BadFilter> {
        if self.take(&TokenKind::Not) {
            let inner = self.deeper(Self::not)?;
            return Ok(Expr::Not(Box::new(inner)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Expr, BadFilter> {
        let primary = self.primary()?;
        let Expr::Truth(first) = primary else { return Ok(primary) };
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparator()? {
            let at = self.next;
            let right = self.operand()?;
            let by_identity = matches!(comparison, Comparison::Is | Comparison::IsNot);
            if by_identity && right != Operand::Literal(Value::Null) {
                self.next = at;
                return Err(
                    self.fault("\"is\" is accepted before None only: write == here,".to_owned())
                );
            }
            rest.push((comparison, right));
        }
        Ok(if rest.is_empty() { Expr::Truth(first) } else { Expr::Chain(first, rest) })
    }

    /// The next comparison sign, if one comes next.
    fn comparator(&mut self) -> Result<Option<Comparison>, BadFilter> {
        if let Some(TokenKind::Comparison(comparison)) = self.peek() {
            let comparison = *comparison;
            self.next += 1;
            return Ok(Some(comparison));
        }
        if self.take(&TokenKind::In) {
            return Ok(Some(Comparison::In));
        }
        if self.take(&TokenKind::Is) {
            let negated = self.take(&TokenKind::Not);
            return Ok(Some(if negated { Comparison::IsNot } else { Comparison::Is }));
        }
        if self.take(&TokenKind::Not) {
            return if self.take(&TokenKind::In) {
                Ok(Some(Comparison::NotIn))
            } else {
                Err(self.unexpected())
            };
        }
        Ok(None)
    }

    fn operand(&mut self) -> Result<Operand, BadFilter> {
        let at = self.next;
        if let Expr::Truth(operand) = self.primary()? {
            return Ok(operand);
        }
        self.next = at;
        Err(self.fault("a comparison is compared".to_owned()))
    }

    /// A name, a literal, a list, or what stands in parentheses.
    fn primary(&mut self) -> Result<Expr, BadFilter> {
        let operand = match self.peek() {
            Some(TokenKind::Name(name)) => Operand::Name(name.clone()),
            Some(TokenKind::Literal(value)) => Operand::Literal(value.clone()),
            Some(TokenKind::Open) => {
                self.next += 1;
                return self.deeper(Self::in_parentheses);
            }
            Some(TokenKind::OpenList) => {
                self.next += 1;
                return self.deeper(|parser| {
                    Ok(Expr::Truth(Operand::List(parser.items(&TokenKind::CloseList)?)))
                });
            }
            _ => return Err(self.unexpected()),
        };
        self.next += 1;
        match self.peek() {
            Some(TokenKind::Open) => {
                Err(self.fault("calls are not part of the filter language".to_owned()))
            }
            Some(TokenKind::OpenList) => {
                Err(self.fault("subscripts are not part of the filter language".to_owned()))
            }
            _ => Ok(Expr::Truth(operand)),
        }
    }

    fn in_parentheses(&mut self) -> Result<Expr, BadFilter> {
        let at = self.next;
        let inner = self.any()?;
        if self.take(&TokenKind::Close) {
            return Ok(inner);
        }
        if self.peek() == Some(&TokenKind::Comma) {
            self.next = at;
            return Ok(Expr::Truth(Operand::List(self.items(&TokenKind::Close)?)));
        }
        Err(self.unexpected())
    }

    fn items(&mut self, close: &TokenKind) -> Result<Vec<Operand>, BadFilter> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.operand()?);
            if !self.take(&TokenKind::Comma) && self.peek() != Some(close) {
                return Err(self.unexpected());
            }
        }
        Ok(items)
    }

    fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, BadFilter>,
    ) -> Result<T, BadFilter> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.fault(format!("more than {DEPTH_MAX} levels within each other")));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn take(&mut self, what: &TokenKind) -> bool {
        let is_next = self.peek() == Some(what);
        self.next += usize::from(is_next);
        is_next
    }

    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.next).map(|token| &token.kind)
    }

    fn unexpected(&self) -> BadFilter {
        let is_over = self.peek().is_none();
        self.fault(
            if is_over { "the filter ends too early" } else { "this is unexpected" }.to_owned(),
        )
    }

    /// At the next token.
    fn fault(&self, what: String) -> BadFilter {
        bad(self.text, self.tokens.get(self.next).map_or(self.text.len(), |token| token.at), what)
    }
}

fn one_or(mut parts: Vec<Expr>, several: impl FnOnce(Vec<Expr>) -> Expr) -> Expr {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            parts.extend(last);
            several(parts)
        }
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
