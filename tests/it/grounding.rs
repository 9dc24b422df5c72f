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
        let likely = episodic.likely_places(thing, None, 5).unwrap();
        let words: Vec<&str> = likely.iter().map(|it| it.words.as_str()).collect();
        assert_eq!(words.len(), CAPTIONS.len());
        assert!(words[0].ends_with(room), "{thing}: {likely:#?}");
    }
}

#[test]
fn what_no_caption_names_is_guessed_where_what_is_nearest_to_its_description_was_last_seen() {
    let state = tempfile::tempdir().unwrap();
    let things = [
        "a roll of bubble wrap on a wooden table in the hallway",
        "an orange extension reel on a white bed in the bedroom",
        "a brown leather wallet on a grey sofa in the living room",
        "a roll of bubble wrap on a black chair in the bathroom",
        "a colander full of spinach on a grey sofa in the living room",
        "a silver tray on a sill in the hallway",
    ];
    let episodic = remembered(state.path(), &[CAPTIONS, &things].concat());
    let first = |thing: &str, described: &str| {
        episodic.likely_places(thing, Some(described), 5).unwrap().remove(0).record.caption
    };
    let plastic = "I need the plastic with the air bubbles";
    assert_eq!(first("air bubble plastic", plastic), things[3]);
    let lead = "the extension lead on the orange drum, please";
    assert_eq!(first("orange drum", lead), things[1]);
    assert_eq!(first("brown purse", "brown purse"), things[2]);
    // As everyday names have it near.
    assert_eq!(first("sieve", "that sieve thing for draining pasta"), things[4]);
    // Nothing is near.
    assert!(first("toothbrush", "my toothbrush").contains("bathroom"));
}

#[test]
fn what_was_never_seen_is_guessed_first_where_its_like_was_last_seen() {
    let state = tempfile::tempdir().unwrap();
    let lamps = [
        "a red lamp on a white bed in the bedroom",
        "a blue lamp on a grey sofa in the living room",
        "a red lamp and a blue book on a wooden desk in the office",
        "a pair of blue shoes on the tiled floor in the hallway",
        "a red coat on a black chair in the bathroom",
    ];
    let episodic = remembered(state.path(), &[CAPTIONS, &lamps].concat());
    let first = |thing: &str| {
        let likely = episodic.likely_places(thing, None, 5).unwrap().remove(0);
        (likely.like.unwrap_or_default(), likely.record.caption)
    };
    assert_eq!(first("the red light"), ("red lamp".to_owned(), lamps[2].to_owned()));
    assert_eq!(first("the blue light").1, lamps[1]);
    assert_eq!(first("my blue boots"), ("blue shoes".to_owned(), lamps[3].to_owned()));
    let green = first("a green light");
    assert_eq!(green.0, "lamp", "none is green: {green:?}");
    let lace = first("a blue shoelace").0;
    assert_ne!(lace, "blue shoes", "what is for shoes is none");
}
