//! The network against tfjs, on photographs: `models/everyday-detector/convert/heads.py` made
//! the golden files.

use std::fs;
use std::path::{Path, PathBuf};

use image::RgbImage;
use serde_json::Value;

use crate::base::detection::BoundingBox;
use crate::base::picture::ImageLimits;
use crate::model::detector::boxes::{boxes, sigmoid};
use crate::model::detector::network::SIDES;
use crate::model::detector::{DetectorCaptioner, DetectorConfig, FeatureMap};
use crate::model::jpeg;
use crate::model::resize::{ResizeFilter, square};
use crate::model::tensors::Tensors;

const PHOTOGRAPHS: [&str; 4] = ["coffee", "astronaut", "chelsea", "china"];

/// Every so many numbers are in the golden file.
const KEPT_EVERY: usize = 61;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/photographs").join(name)
}

fn detector() -> DetectorCaptioner {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/everyday-detector");
    DetectorCaptioner::load(&dir, ImageLimits::default()).unwrap()
}

fn small(name: &str, config: &DetectorConfig) -> RgbImage {
    let encoded = fs::read(fixture(&format!("{name}.jpg"))).unwrap();
    let picture = jpeg::decode(&encoded, ImageLimits::default()).unwrap();
    square(&picture, config.image_sizes[0], ResizeFilter::Bilinear)
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
    let mut tensors = Tensors::default();
    tensors.add_file(&fixture("heads.safetensors")).unwrap();
    let golden = tensors.into_builder();
    let expected: Value =
        serde_json::from_slice(&fs::read(fixture("boxes.json")).unwrap()).unwrap();
    let detector = detector();
    for name in PHOTOGRAPHS {
        let pixels = detector.config.pixels(&small(name, &detector.config));
        let levels = detector.network.forward(&pixels).unwrap();
        for (stride, level) in [8, 16, 32].iter().zip(&levels) {
            let found = as_reference(level);
            let golden = golden.get(found.len(), &format!("{name}.{stride}")).unwrap();
            let golden: Vec<f32> = golden.to_vec1().unwrap();
            let apart = found.iter().zip(&golden).map(|(a, b)| (a - b).abs());
            let apart = apart.fold(0.0, f32::max);
            assert!(apart < 1e-3, "{name}, stride {stride}: {apart}");
        }
        check_boxes(name, &levels, &expected[name]);
    }
}

fn check_boxes(name: &str, levels: &[FeatureMap], expected: &Value) {
    let found = boxes(levels, 0.3);
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
