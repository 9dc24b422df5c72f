//! Which things of a picture are named, and how likely all of them are there.
//!
//! Platt scaling of a thing's score, fitted on photographs with known truth. Reads
//! `confidence.json`; the rest depends on its arguments only.

use serde::Deserialize;

use crate::model::ModelError;
use crate::model::weights::ModelDir;

/// Thresholds and calibration.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DetectionConfidence {
    /// Score from which a thing is named in the caption.
    pub(super) named_from: f32,
    /// Score from which a second thing of a name is counted.
    pub(super) counted_from: f32,
    /// Score from which it is kept with its box.
    pub(super) kept_from: f32,
    /// Of the logistic regression of "the thing is there" on the logit of its score.
    intercept: f32,
    slope: f32,
    /// How likely there is nothing where nothing is found.
    nothing: f32,
}

impl DetectionConfidence {
    pub(super) fn read(dir: &ModelDir) -> Result<Self, ModelError> {
        const NAME: &str = "confidence.json";
        let Some(found) = dir.optional_settings::<Self>(NAME)? else {
            return Err(dir.unusable(&format!("it has no {NAME}")));
        };
        let Self { named_from, counted_from, kept_from, intercept, slope, nothing } = found;
        let is_share = |it: f32| (0.0..=1.0).contains(&it);
        let is_usable = is_share(named_from)
            && is_share(counted_from)
            && is_share(nothing)
            && kept_from > 0.0
            && kept_from <= named_from
            && intercept.is_finite()
            && slope.is_finite();
        if is_usable {
            Ok(found)
        } else {
            Err(dir.unusable(&format!(
                "{NAME}: accepted are 0 < kept_from <= named_from <= 1, counted_from and \
                 nothing from 0 to 1, and finite numbers"
            )))
        }
    }

    /// Probability that every kind of thing is there whose best scores these are.
    pub(super) fn of(&self, scores: &[f32]) -> f32 {
        if scores.is_empty() {
            return self.nothing;
        }
        scores.iter().map(|score| self.of_thing(*score)).product()
    }

    fn of_thing(&self, score: f32) -> f32 {
        let score = score.clamp(1e-6, 1.0 - 1e-6);
        let odds = self.intercept + self.slope * (score / (1.0 - score)).ln();
        1.0 / (1.0 + (-odds).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(file: &str) -> Result<DetectionConfidence, ModelError> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("config.json", "{}"), ("model.safetensors", "")] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        fs::write(dir.path().join("confidence.json"), file).unwrap();
        DetectionConfidence::read(&ModelDir::open(dir.path()).unwrap())
    }

    fn settings(kept_from: f32, slope: &str) -> String {
        format!(
            r#"{{"named_from": 0.4, "counted_from": 0.4, "kept_from": {kept_from}, "intercept": 0.0,
            "slope": {slope}, "nothing": 0.3}}"#
        )
    }

    #[test]
    fn a_caption_is_as_sure_as_all_its_things_together() {
        let confidence = read(&settings(0.2, "1.0")).unwrap();
        let near = |found: f32, expect: f32| assert!((found - expect).abs() < 1e-5, "{found}");
        near(confidence.of(&[0.5]), 0.5);
        near(confidence.of(&[0.9, 0.5]), 0.45);
        near(confidence.of(&[]), 0.3);
        assert!(confidence.of(&[1.0]) < 1.0 && confidence.of(&[0.0]) > 0.0);
    }

    #[test]
    fn settings_that_cannot_be_are_refused() {
        for file in [settings(0.5, "1.0"), settings(0.0, "1.0"), settings(0.2, "1e99")] {
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains("confidence.json"), "{error}");
        }
        assert!(read("{}").unwrap_err().to_string().contains("named_from"));
    }
}
