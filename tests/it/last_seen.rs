//! Last sightings with the shipped embedder: what counts as the same thing.

use engram::language::fit::Certainty;
use engram::memory::episodic::Episodic;
use engram::search::Filter;

use crate::remembered::remembered;

/// In the order in which they were seen.
const CAPTIONS: &[&str] = &[
    "a set of keys next to a plant in a brown pot on a wooden table in the hallway",
    "a purple book next to a red mug on a wooden shelf",
    "a red book next to a blue mug on a wooden desk in the office",
    "a grey sofa with nothing on it in the living room",
    "there is a black remote on a wooden table in the living room",
    "a red shoe, an orange toy car and a green backpack on the tiled floor in the hallway",
    "there is a red cushion on a blue bed in the bedroom",
];

fn last_seen(episodic: &Episodic, query: &str) -> Option<String> {
    let found = episodic.last_seen(query, &Filter::default(), 1).unwrap();
    found.into_iter().next().map(|it| it.recalled.record.caption)
}

#[test]
fn a_sighting_shows_the_thing_or_its_synonym_and_nothing_else() {
    let state = tempfile::tempdir().unwrap();
    let episodic = remembered(state.path(), CAPTIONS);
    for (query, caption) in [
        ("my keys", Some(CAPTIONS[0])),
        ("the red mug", Some(CAPTIONS[1])),
        ("the red cup", Some(CAPTIONS[1])),
        ("a blue mug", Some(CAPTIONS[2])),
        ("the couch", Some(CAPTIONS[3])),
        ("my umbrella", None),
        ("the green mug", None),
        ("a yellow banana", None),
    ] {
        assert_eq!(last_seen(&episodic, query).as_deref(), caption, "{query}");
    }
}

#[test]
fn a_kind_at_the_named_place_is_meant_and_not_the_thing_elsewhere() {
    let state = tempfile::tempdir().unwrap();
    let captions = ["a cookbook on a sofa", "a pink book on a bed"];
    let episodic = remembered(state.path(), &captions);
    assert_eq!(last_seen(&episodic, "the book on the sofa").as_deref(), Some(captions[0]));
    assert_eq!(last_seen(&episodic, "the book").as_deref(), Some(captions[1]));
}

#[test]
fn a_toy_is_not_the_thing_and_the_thing_is_no_toy() {
    let state = tempfile::tempdir().unwrap();
    let captions = ["a toy ambulance on a rug", "an ambulance on a street", "a toy crane on a rug"];
    let episodic = remembered(state.path(), &captions);
    assert_eq!(last_seen(&episodic, "the toy ambulance").as_deref(), Some(captions[0]));
    assert_eq!(last_seen(&episodic, "the ambulance").as_deref(), Some(captions[1]));
    let crane = episodic.last_seen("the crane", &Filter::default(), 1).unwrap();
    assert_eq!(crane[0].certainty, Certainty::Possible);
}

#[test]
fn of_what_only_may_be_it_the_most_alike_is_given_and_not_the_newest() {
    let state = tempfile::tempdir().unwrap();
    let captions = ["a box full of new books on a chair", "a box of nails on a workbench"];
    let episodic = remembered(state.path(), &captions);
    let seen = episodic.last_seen("the parcel from the bookshop", &Filter::default(), 1).unwrap();
    assert_eq!(seen[0].certainty, Certainty::Possible);
    assert_eq!(seen[0].recalled.record.caption, captions[0]);
}
