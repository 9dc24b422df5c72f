//! Comparisons of a filter that can never hold as a note's value is of another kind than what it
//! is compared with: a number with a text.
//!
//! Pure.

use std::borrow::Cow;

use serde_json::Value;

use crate::memory::notes::filter::{Comparison, Expr, FieldPath, NoteFilter, Operand, Part};

/// A part of a note that is compared with a literal.
#[derive(Debug, Clone, PartialEq)]
pub struct KindedComparison<'a> {
    path: &'a FieldPath,
    literal: &'a Value,
}

impl NoteFilter {
    /// The comparisons of a part of a note with a number or a text.
    pub fn kinded(&self) -> Vec<KindedComparison<'_>> {
        let mut found = Vec::new();
        collect(&self.0, &mut found);
        found
    }
}

fn collect<'a>(expr: &'a Expr, found: &mut Vec<KindedComparison<'a>>) {
    match expr {
        Expr::Any(parts) | Expr::All(parts) => parts.iter().for_each(|it| collect(it, found)),
        Expr::Not(inner) => collect(inner, found),
        Expr::Truth(_) => {}
        Expr::Chain(first, rest) => {
            let mut left = first;
            for (comparison, right) in rest {
                let sides = match (left, right) {
                    (Operand::Path(path), Operand::Literal(literal))
                    | (Operand::Literal(literal), Operand::Path(path)) => Some((path, literal)),
                    _ => None,
                };
                let compares = !matches!(
                    comparison,
                    Comparison::In | Comparison::NotIn | Comparison::Is | Comparison::IsNot
                );
                let sides = sides.filter(|_| compares);
                found.extend(sides.map(|(path, literal)| KindedComparison { path, literal }));
                left = right;
            }
        }
    }
}

impl KindedComparison<'_> {
    /// Whether a note's value can be compared; `None` where it has none.
    pub fn is_comparable<'v>(
        &self,
        value_of: &dyn Fn(&str) -> Option<Cow<'v, Value>>,
    ) -> Option<bool> {
        match (self.path.value(value_of)?.as_ref(), self.literal) {
            (Value::Null, _) => None,
            (Value::Number(_), Value::String(_)) | (Value::String(_), Value::Number(_)) => {
                Some(false)
            }
            _ => Some(true),
        }
    }

    /// What is wrong where no note's value can be compared.
    pub fn refusal(&self) -> String {
        let Self { path, literal } = self;
        let (is, with, instead) = match literal.as_str() {
            Some(text) if text.parse::<f64>().is_ok() => ("a number", "text", text.to_owned()),
            Some(_) => ("a number", "text", "a number".to_owned()),
            None => ("a text", "number", format!("'{literal}'")),
        };
        let quoted = literal.as_str().map(|text| format!("'{text}'"));
        let shown = quoted.unwrap_or_else(|| literal.to_string());
        format!(
            "{path} is {is} in every note that has it, and never compares with the {with} {shown}; \
             accepted is {instead}"
        )
    }
}

impl std::fmt::Display for FieldPath {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.name)?;
        self.parts.iter().try_for_each(|part| match part {
            Part::Key(key) => write!(out, ".{key}"),
            Part::Place(place) => write!(out, "[{place}]"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comparisons_of_numbers_with_texts_are_told() {
        let note = json!({"year": 2024, "area": "main", "project": {"rank": "3"}});
        let value_of = |name: &str| note.get(name).map(Cow::Borrowed);
        for (filter, refused) in [
            (
                "year >= '2024'",
                Some(
                    "year is a number in every note that has it, and never compares with the text '2024'; accepted is 2024",
                ),
            ),
            ("'2024' == year and area == 'main'", Some("year is a number")),
            (
                "not (area == 'main' or project.rank < 4)",
                Some(
                    "project.rank is a text in every note that has it, and never compares with the number 4; accepted is '4'",
                ),
            ),
            ("year >= 2024", None),
            ("area == 'main'", None),
            ("other >= '3'", None),
            ("'m' in area and year is not None", None),
        ] {
            let parsed = NoteFilter::parse(filter).unwrap();
            let kinded = parsed.kinded();
            let bad = kinded.iter().find(|it| it.is_comparable(&value_of) == Some(false));
            let told = bad.map(KindedComparison::refusal);
            match refused {
                Some(start) => assert!(told.unwrap().starts_with(start), "{filter}"),
                None => assert_eq!(told, None, "{filter}"),
            }
        }
    }
}
