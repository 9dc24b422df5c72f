//! The networks against others' runtimes, on photographs: what both comparisons share, and the
//! first network against tfjs. `models/everyday-detector/convert/heads.py` made its golden files.

use std::fs;
use std::path::{Path, PathBuf};

use candle_nn::VarBuilder;
use image::RgbImage;
use serde_json::Value;

use crate::base::detection::BoundingBox;
use crate::base::picture::ImageLimits;
use crate::model::detector::boxes::{ScoredBox, boxes, sigmoid};
use crate::model::detector::network::SIDES;
use crate::model::detector::{DetectorCaptioner, FeatureMap};
use crate::model::jpeg;
use crate::model::resize::{ResizeFilter, square};
use crate::model::tensors::Tensors;

pub(super) const PHOTOGRAPHS: [&str; 4] = ["coffee", "astronaut", "chelsea", "china"];

/// Every so many numbers are in the golden files.
pub(super) const KEPT_EVERY: usize = 61;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/photographs").join(name)
}

pub(super) fn detector() -> DetectorCaptioner {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/everyday-detector");
    DetectorCaptioner::load(&dir, ImageLimits::default()).unwrap()
}

/// A photograph as a network sees it.
pub(super) fn view(name: &str, side: u32) -> RgbImage {
    let encoded = fs::read(fixture(&format!("{name}.jpg"))).unwrap();
    let picture = jpeg::decode(&encoded, ImageLimits::default()).unwrap();
    square(&picture, side, ResizeFilter::Bilinear)
}

/// Golden numbers, and the boxes of each photograph.
pub(super) fn golden(numbers: &str, boxes: &str) -> (VarBuilder<'static>, Value) {
    let mut tensors = Tensors::default();
    tensors.add_file(&fixture(numbers)).unwrap();
    let boxes = serde_json::from_slice(&fs::read(fixture(boxes)).unwrap()).unwrap();
    (tensors.into_builder(), boxes)
}

pub(super) fn check_numbers(found: &[f32], golden: &VarBuilder<'_>, name: &str) {
    let expected: Vec<f32> = golden.get(found.len(), name).unwrap().to_vec1().unwrap();
    let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 1e-3, "{name}: {apart}");
}

pub(super) fn check_boxes(found: &[ScoredBox], expected: &Value, name: &str) {
    let expected = expected.as_array().unwrap();
    assert_eq!(found.len(), expected.len(), "{name}: {found:?}");
    for (own, golden) in found.iter().zip(expected) {
        assert_eq!(Some(own.class as u64), golden[0].as_u64(), "{name}: {own:?}");
        let BoundingBox { left, top, right, bottom } = own.place;
        for (at, number) in [own.score, left, top, right, bottom].into_iter().enumerate() {
            let apart = f64::from(number) - golden[at + 1].as_f64().unwrap();
            assert!(apart.abs() < 1e-3, "{name}: {own:?} and {golden}");
        }
    }
}

/// The reference's heads have the scores, ours their logits.
fn as_reference(level: &FeatureMap) -> Vec<f32> {
    let numbers = level.pixels().flat_map(|pixel| {
        let (logits, sides) = pixel.split_at(pixel.len() - SIDES);
        logits.iter().copied().map(sigmoid).chain(sides.iter().copied())
    });
    numbers.step_by(KEPT_EVERY).collect()
}

#[test]
fn heads_and_boxes_equal_those_of_tfjs_on_photographs() {
    let (golden, expected) = golden("heads.safetensors", "boxes.json");
    let detector = detector();
    for name in PHOTOGRAPHS {
        let pixels = detector.config.pixels(&view(name, detector.config.image_sizes[0]));
        let levels = detector.network.forward(&pixels).unwrap();
        for (stride, level) in [8, 16, 32].iter().zip(&levels) {
            check_numbers(&as_reference(level), &golden, &format!("{name}.{stride}"));
        }
        check_boxes(&boxes(&levels, 0.3), &expected[name], name);
    }
}
