//! Makes an expression of a filter's tokens, or an error that says what is meant.
//!
//! Pure.

use serde_json::Value;

use crate::memory::notes::OWN_NAMES;
use crate::memory::notes::filter::tokens::{FilterToken, TokenKind, tokens};
use crate::memory::notes::filter::{
    BadFilter, Comparison, DEPTH_MAX, Expr, FieldPath, Operand, Part, bad,
};

/// The one name of a note that no filter reads, and what to do instead.
const SEARCHED: &str = "text";
const TEXT_IS_SEARCHED: &str = "the text is searched by \"query\", and a filter reads area, time, \
    timestamp, id and metadata: this is unexpected";

pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<FilterToken>,
    next: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, BadFilter> {
        Ok(Self { text, tokens: tokens(text)?, next: 0, depth: 0 })
    }

    /// All of the filter.
    pub(super) fn whole(&mut self) -> Result<Expr, BadFilter> {
        let expr = self.any()?;
        if self.peek().is_none() { Ok(expr) } else { Err(self.refuse_token()) }
    }

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
            let left = rest.last().map_or(&first, |(_, operand)| operand);
            if let Some(what) = bare_text(left, comparison, &right) {
                self.next = at;
                return Err(self.fault(what));
            }
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
                Err(self.refuse_token())
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
        match self.peek() {
            Some(TokenKind::Name(_)) => self.path(),
            Some(TokenKind::Literal(value)) => {
                let literal = Operand::Literal(value.clone());
                self.next += 1;
                Ok(Expr::Truth(literal))
            }
            Some(TokenKind::Open) => {
                self.next += 1;
                self.deeper(Self::in_parentheses)
            }
            Some(TokenKind::OpenList) => {
                self.next += 1;
                self.deeper(|parser| {
                    Ok(Expr::Truth(Operand::List(parser.items(&TokenKind::CloseList)?)))
                })
            }
            _ => Err(self.refuse_token()),
        }
    }

    /// A name with the way to a part of its value.
    fn path(&mut self) -> Result<Expr, BadFilter> {
        let Some(name) = self.name() else { return Err(self.refuse_token()) };
        if name == SEARCHED && self.peek() != Some(&TokenKind::Open) {
            self.next -= 1;
            return Err(self.fault(TEXT_IS_SEARCHED.to_owned()));
        }
        let mut parts = Vec::new();
        loop {
            if self.take(&TokenKind::Dot) {
                parts.push(Part::Key(self.name().ok_or_else(|| self.refuse_token())?));
            } else if self.take(&TokenKind::OpenList) {
                parts.push(self.subscript()?);
            } else if self.peek() == Some(&TokenKind::Open) {
                return Err(self.fault("calls are not part of the filter language".to_owned()));
            } else {
                return Ok(Expr::Truth(Operand::Path(FieldPath { name, parts })));
            }
        }
    }

    fn subscript(&mut self) -> Result<Part, BadFilter> {
        let part = match self.peek() {
            Some(TokenKind::Literal(Value::String(key))) => Some(Part::Key(key.clone())),
            Some(TokenKind::Literal(Value::Number(place))) => {
                let place = place.as_u64().and_then(|place| usize::try_from(place).ok());
                place.map(Part::Place)
            }
            _ => None,
        };
        let accepted = "a subscript is a text or a whole number from 0";
        let part = part.ok_or_else(|| self.fault(accepted.to_owned()))?;
        self.next += 1;
        if self.take(&TokenKind::CloseList) { Ok(part) } else { Err(self.refuse_token()) }
    }

    fn name(&mut self) -> Option<String> {
        let Some(TokenKind::Name(name)) = self.peek() else { return None };
        let name = name.clone();
        self.next += 1;
        Some(name)
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
        Err(self.refuse_token())
    }

    fn items(&mut self, close: &TokenKind) -> Result<Vec<Operand>, BadFilter> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.operand()?);
            if !self.take(&TokenKind::Comma) && self.peek() != Some(close) {
                return Err(self.refuse_token());
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

    fn refuse_token(&self) -> BadFilter {
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

/// What is meant where a name is compared with a bare name: nearly always a text whose
/// quotes were forgotten, which would be `None`, silently.
fn bare_text(left: &Operand, comparison: Comparison, right: &Operand) -> Option<String> {
    let left = plain_name(left)?;
    let right = match (comparison, right) {
        (Comparison::In | Comparison::NotIn, Operand::List(items)) => {
            items.iter().find_map(plain_name)
        }
        (Comparison::In | Comparison::NotIn, _) => None,
        _ => plain_name(right),
    }?;
    let meant = if OWN_NAMES.contains(&right) { left } else { right };
    Some(format!("two names are compared: write '{meant}' for the text {meant},"))
}

fn plain_name(operand: &Operand) -> Option<&str> {
    match operand {
        Operand::Path(FieldPath { name, parts }) if parts.is_empty() => Some(name),
        Operand::Path(_) | Operand::Literal(_) | Operand::List(_) => None,
    }
}
