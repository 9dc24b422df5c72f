//! Cuts a filter into tokens.
//!
//! Pure.

use serde_json::{Number, Value};

use crate::memory::notes::filter::{BadFilter, Comparison, bad};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct FilterToken {
    pub(super) kind: TokenKind,
    /// Byte where it starts.
    pub(super) at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
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
    Dot,
}

/// Characters by which people write what Python writes otherwise, and how.
const INSTEAD: &[(&str, &str)] = &[
    ("&&", "write and for \"&&\""),
    ("||", "write or for \"||\""),
    ("=", "write == for \"=\""),
    ("!", "write not for \"!\""),
    ("{", "dictionaries and sets are not part of the filter language"),
];

pub(super) fn tokens(text: &str) -> Result<Vec<FilterToken>, BadFilter> {
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
    if first == '.' {
        return Ok((TokenKind::Dot, 1));
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
