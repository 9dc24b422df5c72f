//! The second network against `LiteRT`, on photographs:
//! `models/everyday-detector/convert/second_heads.py` made the golden files.

use crate::model::detector::parity::{
    KEPT_EVERY, PHOTOGRAPHS, check_boxes, check_numbers, detector, golden, view,
};
use crate::model::detector::second::boxes::boxes;
use crate::model::detector::second::network::Level;

#[test]
fn boxes_and_scores_equal_those_of_litert_on_photographs() {
    let (golden, expected) = golden("second.safetensors", "second.json");
    let detector = detector().second;
    // By its own classes.
    let classes: Vec<Option<usize>> = (0..23).map(Some).collect();
    for name in PHOTOGRAPHS {
        let pixels = detector.config.pixels(&view(name, detector.config.image_size));
        let levels = detector.network.forward(&pixels).unwrap();
        for (what, numbers) in [
            ("boxes", (|it| &it.boxes) as fn(&Level) -> &Vec<f32>),
            ("scores", |it: &Level| &it.scores),
        ] {
            let found = levels.iter().flat_map(numbers).copied().step_by(KEPT_EVERY);
            check_numbers(&found.collect::<Vec<f32>>(), &golden, &format!("{name}.{what}"));
        }
        check_boxes(&boxes(&levels, &classes, 0.3), &expected[name], name);
    }
}
