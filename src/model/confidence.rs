//! Choice of a caption's words, and its confidence from their log probabilities.
//!
//! Platt scaling: a captioner that was calibrated on captions with known truth brings
//! `confidence.json`, the logistic regression of "every word is right" on two features.
//! Reads that one file; the rest depends on its arguments only.

use candle_core::{DType, Tensor, bail};
use serde::Deserialize;

use crate::model::ModelError;
use crate::model::weights::ModelDir;

/// Weights of the regression.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Confidence {
    intercept: f32,
    /// Of the mean of the log probabilities of the words.
    mean_log_prob: f32,
    /// Of the least of them.
    min_log_prob: f32,
}

impl Confidence {
    /// Of the model in `dir`; `None` where it was not calibrated.
    pub(super) fn read(dir: &ModelDir) -> Result<Option<Self>, ModelError> {
        const NAME: &str = "confidence.json";
        let found: Option<Self> = dir.optional_settings(NAME)?;
        let Some(Self { intercept, mean_log_prob, min_log_prob }) = found else {
            return Ok(None);
        };
        if [intercept, mean_log_prob, min_log_prob].iter().any(|weight| !weight.is_finite()) {
            return Err(dir.unusable(&format!("{NAME}: accepted are finite numbers")));
        }
        Ok(found)
    }

    /// From 0 to 1. `log_probs` are the natural logarithms of the probabilities
    /// of the words that were chosen, the end among them.
    pub(super) fn of(&self, log_probs: &[f32]) -> f32 {
        if log_probs.is_empty() {
            return 0.0;
        }
        let mean = log_probs.iter().sum::<f32>() / log_probs.len() as f32;
        let least = log_probs.iter().copied().fold(0.0, f32::min);
        let Self { intercept, mean_log_prob, min_log_prob } = *self;
        let odds = intercept + mean_log_prob * mean + min_log_prob * least;
        // A word that cannot be (a logarithm of −∞) may leave no number.
        let share = 1.0 / (1.0 + (-odds).exp());
        if share.is_nan() { 0.0 } else { share }
    }
}

/// Logits from wherever they were computed; half precision may have overflowed there.
pub(super) fn single_precision(logits: &Tensor) -> candle_core::Result<Vec<f32>> {
    let logits: Vec<f32> = logits.to_dtype(DType::F32)?.to_vec1()?;
    if logits.iter().any(|logit| logit.is_nan()) {
        bail!("the network's answer is no number");
    }
    Ok(logits)
}

/// Token with the highest logit, the first of several and none of `barred`, and its log softmax
/// among all.
pub(super) fn likeliest(scores: &[f32], barred: &[u32]) -> (u32, f32) {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = scores.iter().map(|score| (score - highest).exp()).sum();
    let first = (0, f32::NEG_INFINITY);
    let (token, score) = (0..)
        .zip(scores.iter().copied())
        .filter(|(token, _)| !barred.contains(token))
        .fold(first, |best, next| if next.1 > best.1 { next } else { best });
    (token, score - highest - sum.ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use candle_core::Device;

    fn read(file: &str) -> Result<Option<Confidence>, ModelError> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), "{}").unwrap();
        fs::write(dir.path().join("model.safetensors"), "").unwrap();
        fs::write(dir.path().join("confidence.json"), file).unwrap();
        Confidence::read(&ModelDir::open(dir.path()).unwrap())
    }

    #[test]
    fn confidence_is_the_logistic_of_mean_and_least() {
        let file = r#"{"intercept": 2.0, "mean_log_prob": 3.0, "min_log_prob": 0.5}"#;
        let confidence = read(file).unwrap().unwrap();
        // Means −0.3, least −0.6: odds of 2 − 0.9 − 0.3.
        let found = confidence.of(&[-0.1, -0.6, -0.2]);
        assert!((found - 1.0 / (1.0 + (-0.8_f32).exp())).abs() < 1e-6, "{found}");
        assert!(confidence.of(&[-0.01, -0.01]) > confidence.of(&[-0.01, -3.0]));
        assert!(confidence.of(&[f32::NEG_INFINITY]).abs() < f32::EPSILON);
    }

    #[test]
    fn the_likeliest_token_is_none_that_is_barred_and_its_share_is_of_all() {
        let scores = [1.0_f32, 3.0, 2.0, 3.0];
        let all: f32 = scores.iter().map(|it| it.exp()).sum();
        for (barred, token) in [(&[][..], 1), (&[1], 3), (&[1, 3], 2)] {
            let (found, log_prob) = likeliest(&scores, barred);
            assert_eq!(found, token);
            let share = scores[token as usize].exp() / all;
            assert!((log_prob - share.ln()).abs() < 1e-5, "{token}: {log_prob}");
        }
    }

    #[test]
    fn an_answer_that_overflowed_is_an_error() {
        let logits = |numbers: &[f32]| {
            let logits = Tensor::new(numbers, &Device::Cpu).unwrap();
            single_precision(&logits.to_dtype(DType::F16).unwrap())
        };
        assert_eq!(logits(&[0.5, -2.0]).unwrap(), [0.5, -2.0]);
        logits(&[0.5, f32::NAN]).unwrap_err();
    }

    #[test]
    fn files_with_other_keys_or_values_are_refused() {
        for file in [
            r#"{"intercept": 2.0, "mean_log_prob": 3.0}"#,
            r#"{"intercept": 2.0, "mean_log_prob": 3.0, "min_log_prob": 0.5, "length": 1.0}"#,
            r#"{"intercept": 1e99, "mean_log_prob": 3.0, "min_log_prob": 0.5}"#,
            r#"{"intercept": "2", "mean_log_prob": 3.0, "min_log_prob": 0.5}"#,
        ] {
            let error = read(file).unwrap_err().to_string();
            assert!(error.contains("confidence.json"), "{error}");
        }
    }
}
