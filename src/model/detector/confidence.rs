//! Which things of a picture are named, and how likely all of them are there.
//!
//! Platt scaling of a picture's scores, fitted on photographs with known truth. Reads
//! `confidence.json`; the rest depends on its arguments only.

use serde::Deserialize;

use crate::model::ModelError;
use crate::model::detector::fusion::Fusion;
use crate::model::weights::ModelDir;

/// A score beyond it says no more: joined ones reach 1, whose logit has no end.
const SURE: f32 = 0.99;

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
    /// How the scores of the two detectors become one.
    pub(super) fusion: Fusion,
    /// Of the logistic regression of "all things are there" on the mean logit of their scores.
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
        let Self { named_from, counted_from, kept_from, fusion, intercept, slope, nothing } = found;
        let is_share = |it: f32| (0.0..=1.0).contains(&it);
        let is_usable = is_share(named_from)
            && is_share(counted_from)
            && is_share(nothing)
            && is_share(fusion.first)
            && is_share(fusion.second)
            && kept_from > 0.0
            && kept_from <= named_from
            && intercept.is_finite()
            && slope.is_finite();
        if is_usable {
            Ok(found)
        } else {
            Err(dir.unusable(&format!(
                "{NAME}: accepted are 0 < kept_from <= named_from <= 1, counted_from, nothing \
                 and both of fusion from 0 to 1, and finite numbers"
            )))
        }
    }

    /// Probability that every kind of thing is there whose best scores these are.
    ///
    /// By their mean on the scale of log odds, not by the product of their chances: what makes
    /// one thing of a picture known makes the others, and a long caption is wrong less often
    /// than the product says.
    pub(super) fn of(&self, scores: &[f32]) -> f32 {
        if scores.is_empty() {
            return self.nothing;
        }
        let logit = |score: &f32| {
            let score = score.clamp(1.0 - SURE, SURE);
            (score / (1.0 - score)).ln()
        };
        let mean = scores.iter().map(logit).sum::<f32>() / scores.len() as f32;
        1.0 / (1.0 + (-(self.intercept + self.slope * mean)).exp())
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
        fused(kept_from, slope, "0.4")
    }

    fn fused(kept_from: f32, slope: &str, second: &str) -> String {
        format!(
            r#"{{"named_from": 0.4, "counted_from": 0.4, "kept_from": {kept_from}, "intercept": 0.0,
            "slope": {slope}, "nothing": 0.3, "fusion": {{"first": 0.9, "second": {second}}}}}"#
        )
    }

    #[test]
    fn a_caption_is_as_sure_as_its_things_are_on_average() {
        let confidence = read(&settings(0.2, "1.0")).unwrap();
        let near = |found: f32, expect: f32| assert!((found - expect).abs() < 1e-5, "{found}");
        near(confidence.of(&[0.5]), 0.5);
        near(confidence.of(&[0.9, 0.5]), 0.75);
        near(confidence.of(&[0.9, 0.1, 0.5, 0.5]), 0.5);
        near(confidence.of(&[]), 0.3);
        assert!(confidence.of(&[1.0]) < 1.0 && confidence.of(&[0.0]) > 0.0);
    }

    #[test]
    fn settings_that_cannot_be_are_refused() {
        let slopes = [settings(0.5, "1.0"), settings(0.0, "1.0"), settings(0.2, "1e99")];
        for file in slopes.into_iter().chain([fused(0.2, "1.0", "1.5")]) {
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains("confidence.json"), "{error}");
        }
        assert!(read("{}").unwrap_err().to_string().contains("named_from"));
    }
}
