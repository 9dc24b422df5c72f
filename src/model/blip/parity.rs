//! The network against the reference implementation, logit by logit.

use std::fs;
use std::path::{Path, PathBuf};

use candle_core::DType;
use serde_json::Value;

use crate::base::picture::ImageLimits;
use crate::model::Captioner as _;
use crate::model::blip::BlipCaptioner;
use crate::model::compute::Compute;
use crate::model::confidence::single_precision;

const TOLERANCE: f64 = 1e-3;
/// In half precision.
const HALF_TOLERANCE: f64 = 0.25;

fn numbers(row: &Value) -> Vec<f64> {
    row.as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect()
}

/// Every logit of every word of the golden captions, each word given the ones
/// before it, and the captions.
fn check(dir: &Path, images: &Path, compute: Compute, tolerance: f64) {
    let mut captioner = BlipCaptioner::load(dir, ImageLimits::default(), compute).unwrap();
    let golden = fs::read_to_string(dir.join("golden.jsonl")).unwrap();
    let mut words = 0;
    for line in golden.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = row["file"].as_str().unwrap();
        let image = fs::read(images.join(name)).unwrap();
        let pixels = captioner.pixels(&image).unwrap();
        let seen = captioner.vision.forward(&pixels).unwrap();
        let mut caption = captioner.decoder.begin(&seen).unwrap();
        let mut last = captioner.words.begin;
        for (expected, next) in
            row["logits"].as_array().unwrap().iter().zip(row["tokens"].as_array().unwrap())
        {
            let found = single_precision(&caption.next_logits(last).unwrap()).unwrap();
            for (found, expected) in found.iter().zip(numbers(expected)) {
                let error = (f64::from(*found) - expected).abs();
                assert!(error < tolerance, "{name}, word {words}: {error}");
            }
            last = u32::try_from(next.as_u64().unwrap()).unwrap();
            words += 1;
        }
        let caption = captioner.caption(&image).unwrap();
        // Rounding to half precision may turn a word.
        assert!(caption.text == row["caption"] || tolerance > TOLERANCE, "{name}");
    }
    assert!(words >= 6, "{words} words are no test");
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
fn logits_and_captions_equal_those_of_transformers() {
    for shape in ["blip", "blip-base", "blip-large"] {
        check(&fixture(shape), &fixture("blip"), Compute::on_cpu(), TOLERANCE);
    }
}

/// With the operations that a GPU computes with.
#[test]
fn another_device_would_answer_the_same() {
    let in_half = Compute::as_elsewhere(DType::F16);
    check(&fixture("blip"), &fixture("blip"), in_half, HALF_TOLERANCE);
}

#[test]
#[ignore = "needs an NVIDIA GPU and the feature `cuda`"]
fn a_gpu_answers_the_same() {
    let on_gpu = Compute::on_gpu().unwrap();
    check(&fixture("blip"), &fixture("blip"), on_gpu, HALF_TOLERANCE);
}

/// `tests/fixtures/README.md` says how the model is made.
#[test]
#[ignore = "needs a model of a gigabyte"]
fn a_model_of_full_size_equals_transformers_as_well() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/full/blip-base");
    check(&dir, &dir, Compute::on_cpu(), TOLERANCE);
}
