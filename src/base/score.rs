//! Numbers as replies and reports show them: with few decimals.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

/// A score, a confidence or a probability, from 0 to 1; written with four decimals, which
/// say all that one can.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Score(pub f32);

impl Score {
    pub fn round(self) -> f64 {
        round_to(f64::from(self.0), 4)
    }
}

/// A number with so many decimals at most.
pub fn round_to(number: f64, decimals: i32) -> f64 {
    let steps = 10_f64.powi(decimals);
    (number * steps).round() / steps
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.round())
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
    fn a_score_is_written_with_four_decimals() {
        let written = |share: f32| serde_json::to_string(&Score(share)).unwrap();
        assert_eq!([0.1, 1.0, 0.123_456, 0.0].map(written), ["0.1", "1.0", "0.1235", "0.0"]);
    }
}
