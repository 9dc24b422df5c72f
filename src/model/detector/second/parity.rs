//! The second network against `LiteRT`, on photographs:
//! `models/everyday-detector/convert/second_heads.py` made the golden files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base::detection::BoundingBox;
use crate::base::picture::ImageLimits;
use crate::model::detector::DetectorCaptioner;
use crate::model::detector::second::boxes::boxes;
use crate::model::detector::second::network::Level;
use crate::model::jpeg;
use crate::model::resize::{ResizeFilter, square};
use crate::model::tensors::Tensors;

const PHOTOGRAPHS: [&str; 4] = ["coffee", "astronaut", "chelsea", "china"];

/// Every so many numbers are in the golden file.
const KEPT_EVERY: usize = 61;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/photographs").join(name)
}

#[test]
fn boxes_and_scores_equal_those_of_litert_on_photographs() {
    let mut tensors = Tensors::default();
    tensors.add_file(&fixture("second.safetensors")).unwrap();
    let golden = tensors.into_builder();
    let expected: Value =
        serde_json::from_slice(&fs::read(fixture("second.json")).unwrap()).unwrap();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/everyday-detector");
    let detector = DetectorCaptioner::load(&dir, ImageLimits::default()).unwrap().second;
    for name in PHOTOGRAPHS {
        let encoded = fs::read(fixture(&format!("{name}.jpg"))).unwrap();
        let picture = jpeg::decode(&encoded, ImageLimits::default()).unwrap();
        let view = square(&picture, detector.config.image_size, ResizeFilter::Bilinear);
        let levels = detector.network.forward(&detector.config.pixels(&view)).unwrap();
        for (what, numbers) in [
            ("boxes", (|it| &it.boxes) as fn(&Level) -> &Vec<f32>),
            ("scores", |it: &Level| &it.scores),
        ] {
            let found = levels.iter().flat_map(numbers).copied().step_by(KEPT_EVERY);
            let found: Vec<f32> = found.collect();
            let golden = golden.get(found.len(), &format!("{name}.{what}")).unwrap();
            let golden: Vec<f32> = golden.to_vec1().unwrap();
            let apart = found.iter().zip(&golden).map(|(a, b)| (a - b).abs());
            let apart = apart.fold(0.0, f32::max);
            assert!(apart < 1e-3, "{name}, {what}: {apart}");
        }
        check_boxes(name, &levels, &expected[name]);
    }
}

/// By its own classes.
fn check_boxes(name: &str, levels: &[Level], expected: &Value) {
    let classes: Vec<Option<usize>> = (0..23).map(Some).collect();
    let found = boxes(levels, &classes, 0.3);
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
