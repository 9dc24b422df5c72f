//! Where a target is searched for, with the shipped embedder.

use crate::remembered::remembered;

const CAPTIONS: &[&str] = &[
    "a blue plate next to a red mug on a white counter in the kitchen",
    "a laptop and a pen on a wooden desk in the office",
    "a grey towel next to a bar of soap on a white sink in the bathroom",
    "a red cushion on a blue bed in the bedroom",
    "a pair of shoes on the tiled floor in the hallway",
];

#[test]
fn what_was_never_seen_is_guessed_where_its_like_is_kept() {
    let state = tempfile::tempdir().unwrap();
    let episodic = remembered(state.path(), CAPTIONS);
    for (thing, room) in [
        ("a saucer", "kitchen"),
        ("the kettle", "kitchen"),
        ("my pencil", "office"),
        ("a toothbrush", "bathroom"),
        ("the blanket", "bedroom"),
        ("my boots", "hallway"),
    ] {
        let likely = episodic.likely_places(thing, 5).unwrap();
        let words: Vec<&str> = likely.iter().map(|it| it.words.as_str()).collect();
        assert_eq!(words.len(), CAPTIONS.len());
        assert!(words[0].ends_with(room), "{thing}: {likely:#?}");
    }
}
