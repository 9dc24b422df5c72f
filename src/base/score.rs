//! A share from 0 to 1 as replies show it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

/// A score, a confidence or a probability; written with four digits, which say all
/// that one can.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Score(pub f32);

impl Score {
    /// To four digits.
    pub fn rounded(self) -> f64 {
        (f64::from(self.0) * 1e4).round() / 1e4
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.rounded())
    }
}

impl JsonSchema for Score {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Score")
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0, "maximum": 1})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_written() {
        let written = |share: f32| serde_json::to_string(&Score(share)).unwrap();
        assert_eq!([0.1, 1.0, 0.123_456, 0.0].map(written), ["0.1", "1.0", "0.1235", "0.0"]);
    }
}
