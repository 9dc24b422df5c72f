//! The network against the reference implementation, logit by logit.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base::picture::ImageLimits;
use crate::model::Captioner as _;
use crate::model::blip::BlipCaptioner;

const TOLERANCE: f64 = 1e-3;

fn numbers(row: &Value) -> Vec<f64> {
    row.as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect()
}

/// Every logit of every word of the golden captions, each word given the ones
/// before it, and the captions.
fn check(dir: &Path, images: &Path) {
    let mut captioner = BlipCaptioner::load(dir, ImageLimits::default()).unwrap();
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
            let found: Vec<f32> = caption.next_logits(last).unwrap().to_vec1().unwrap();
            for (found, expected) in found.iter().zip(numbers(expected)) {
                let error = (f64::from(*found) - expected).abs();
                assert!(error < TOLERANCE, "{name}, word {words}: {error}");
            }
            last = u32::try_from(next.as_u64().unwrap()).unwrap();
            words += 1;
        }
        let caption = captioner.caption(&image).unwrap();
        assert_eq!(caption.text, row["caption"], "{name}");
    }
    assert!(words >= 6, "{words} words are no test");
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
fn logits_and_captions_equal_those_of_transformers() {
    for shape in ["blip", "blip-base", "blip-large"] {
        check(&fixture(shape), &fixture("blip"));
    }
}

/// `tests/fixtures/README.md` says how the model is made.
#[test]
#[ignore = "needs a model of a gigabyte"]
fn a_model_of_full_size_equals_transformers_as_well() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/full/blip-base");
    check(&dir, &dir);
}
