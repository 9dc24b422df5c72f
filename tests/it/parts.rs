//! A part that tells a thing from others, and which of two things with one noun is meant, as the
//! shipped models read captions.

use engram::language::fit::Certainty;

use crate::names::{last_seen, read};

#[test]
fn a_thing_is_told_by_its_part_and_the_part_is_no_thing() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "The parcel with the blue tape lies on a shelf.",
        "A mug with a red handle stands on a table.",
        "A jar with a green lid next to a spoon.",
        "A man with a red hat is sitting on a bench.",
    ];
    let episodic = read(state.path(), &captions);
    for (query, expected) in [
        ("the parcel with the blue tape", Some((0, Certainty::InPlace))),
        ("the parcel with red tape", None),
        ("a blue parcel", Some((0, Certainty::Possible))),
        ("the tape", Some((0, Certainty::Possible))),
        ("the mug with a red handle", Some((1, Certainty::InPlace))),
        ("the blue-handled mug", None),
        ("a jar with a green lid", Some((2, Certainty::InPlace))),
        ("a jar with a red lid", None),
        // What somebody wears is a thing.
        ("a red hat", Some((3, Certainty::InPlace))),
    ] {
        assert_eq!(last_seen(&episodic, &captions, query), expected, "{query}");
    }
}

#[test]
fn what_is_called_by_another_word_before_its_noun_is_another_thing() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "A kitchen towel on a hook.",
        "A yogurt pot lid on the counter.",
        "A TEXAS sign above a bar.",
        "The oven door is open.",
        "A whiteboard on a wall.",
        "A bottle opener in a drawer.",
        "A left shoe on the stairs.",
        "A clock tower behind trees.",
        "A bottle on a table.",
        "An office chair by a desk.",
        "An elevator door.",
        "A male mannequin in a shop.",
    ];
    let episodic = read(state.path(), &captions);
    for query in [
        "a tea towel",
        "the Tupperware lid",
        "the saucepan lid",
        "the exit sign",
        "the front door",
        "a skateboard",
        "the can opener",
        "the right shoe",
        "a building",
        "the female mannequin",
    ] {
        assert_eq!(last_seen(&episodic, &captions, query), None, "{query}");
    }
    for (query, at, certainty) in [
        ("sunflower oil bottle", 8, Certainty::Possible),
        ("bottle", 8, Certainty::InPlace),
        ("a chair", 9, Certainty::InPlace),
        ("the lift door", 10, Certainty::InPlace),
        ("the left shoe", 6, Certainty::InPlace),
    ] {
        let expected = Some((at, certainty));
        assert_eq!(last_seen(&episodic, &captions, query), expected, "{query}");
    }
}
