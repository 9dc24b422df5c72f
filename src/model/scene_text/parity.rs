//! The networks by tract against onnxruntime (`tests/fixtures/make_scene_text.py`), and a sign read
//! from its pixels. Wants the networks: `models/scene-text/fetch.sh target/scene-text`.

use std::path::{Path, PathBuf};

use crate::base::caption::Caption;
use crate::base::picture::ImageLimits;
use crate::model::Captioner as _;
use crate::model::scene_text::reading::ReadingCaptioner;
use crate::model::scripted::ScriptedCaptioner;

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn reading() -> ReadingCaptioner {
    let captioner = ScriptedCaptioner::new(|_| Ok("a brown door".to_owned())).with_confidence(0.5);
    let dir = at("target/scene-text");
    ReadingCaptioner::new(Box::new(captioner), &dir, ImageLimits::default()).unwrap()
}

#[test]
#[ignore = "needs target/scene-text, 16 MB that models/scene-text/fetch.sh fetches"]
fn lines_are_found_as_onnxruntime_finds_them() {
    let picture = image::open(at("tests/fixtures/scene-text/sign.png")).unwrap().to_rgb8();
    let golden = std::fs::read_to_string(at("tests/fixtures/scene-text/golden.json")).unwrap();
    let golden: Vec<Vec<f32>> = serde_json::from_str(&golden).unwrap();
    let map = reading().map(&picture).unwrap();
    for (row, numbers) in golden.iter().enumerate() {
        for (column, number) in numbers.iter().enumerate() {
            let own = map[16 * row * 320 + 16 * column];
            assert!((own - number).abs() < 1e-3, "{row} {column}: {own} {number}");
        }
    }
}

#[test]
#[ignore = "needs target/scene-text, 16 MB that models/scene-text/fetch.sh fetches"]
fn a_sign_is_read_into_the_caption_with_its_box() {
    let image = std::fs::read(at("tests/fixtures/scene-text/sign.png")).unwrap();
    let Caption { text, confidence, detections } = reading().caption(&image).unwrap();
    assert_eq!(text, "a brown door. a sign that reads Kitchen Room 214");
    assert!((0.4..0.5).contains(&confidence.unwrap()));
    let place = detections[0].place;
    assert!((0.25..0.35).contains(&place.left) && (0.65..0.75).contains(&place.right), "{place:?}");
}
