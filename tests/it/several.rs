//! What captions tell of several things, of what things are made of and of what only seems to be
//! there, with the shipped embedder and reader of captions.

use engram::language::fit::Certainty;

use crate::names::{last_seen, read};

fn check(captions: &[&str], expect: &[(&str, Option<usize>)]) {
    let state = tempfile::tempdir().unwrap();
    let episodic = read(state.path(), captions);
    for (query, expected) in expect {
        let found = last_seen(&episodic, captions, query);
        let sure = found.filter(|(_, certainty)| *certainty > Certainty::Possible);
        assert_eq!(sure.map(|(at, _)| at), *expected, "{query}: {found:?}");
    }
}

#[test]
fn each_of_several_is_found_by_what_is_said_of_it() {
    check(
        &[
            "A table next to three mugs: one red, one plain white and one with a black cat on it.",
            "A pair of bags, a red one and a black one, lie on the floor.",
            "There are two lamps on a desk. One is green and the other one is yellow.",
            "A silver car is parked beside a dark blue one.",
        ],
        &[
            ("a red mug", Some(0)),
            ("the plain white mug", Some(0)),
            ("the mug with the cat", Some(0)),
            ("a green mug", None),
            ("the black bag", Some(1)),
            ("the blue bag", None),
            ("a yellow lamp", Some(2)),
            ("the blue car", Some(3)),
            ("a red car", None),
        ],
    );
}

#[test]
fn what_a_thing_is_made_of_tells_it_from_others() {
    check(
        &[
            "a ball of purple wool in a basket",
            "a tennis ball on the floor",
            "a roll of toilet paper on the cistern",
            "a mug of coffee on a desk",
            "a paperback novel beside a knife bag made of canvas",
            "a jigsaw puzzle of a lighthouse",
        ],
        &[
            ("a ball of wool", Some(0)),
            ("the ball of purple wool", Some(0)),
            ("a tennis ball", Some(1)),
            ("a roll of paper towels", None),
            ("a mug", Some(3)),
            ("the paperback", Some(4)),
            ("a canvas bag", Some(4)),
            ("the lighthouse puzzle", Some(5)),
            ("a lighthouse", None),
        ],
    );
}

#[test]
fn toys_children_and_what_grows_are_found_by_what_they_are() {
    check(
        &[
            "two boys play in the garden",
            "a stuffed rabbit on a bed",
            "a real rabbit in a meadow",
            "a bunch of bananas on a plate",
        ],
        &[
            ("children", Some(0)),
            ("a toy rabbit", Some(1)),
            ("the rabbit", Some(2)),
            ("a stuffed animal", Some(1)),
            ("the plant", None),
        ],
    );
}

#[test]
fn what_is_denied_of_two_and_what_has_its_place_elsewhere_is_told_apart() {
    check(
        &[
            "Neither the man nor the woman is smiling.",
            "Neither a cat nor a dog is there.",
            "The cargo bike's usual spot is occupied by a bench.",
            "A maid is pushing her housekeeping trolley away from the camera.",
            "On the TV screen, a tiger is walking through tall grass.",
            "The toddler cries because her teddy bear is nowhere near.",
        ],
        &[
            ("the man", Some(0)),
            ("a man smiling", None),
            ("a cat", None),
            ("the cargo bike", None),
            ("the trolley", Some(3)),
            ("a tiger", None),
            ("the teddy bear", None),
        ],
    );
}

#[test]
fn rooms_plates_and_orders_are_told_apart_by_their_numbers() {
    check(
        &[
            "The door of room 1.07 is open.",
            "The door of room 1.08 is closed.",
            "A white van with plate B-XY 4712 is parked outside.",
            "A white van with plate B-XY 4713 is parked outside.",
            "A parcel with order number 4471 lies on the shelf.",
            "A parcel with order number 4472 lies on the floor.",
        ],
        &[
            ("room 1.07", Some(0)),
            ("room 1.09", None),
            ("the van B-XY 4712", Some(2)),
            ("the parcel with order number 4471", Some(4)),
        ],
    );
}

#[test]
fn other_names_of_several_words_are_known_and_what_only_sounds_alike_is_not() {
    check(
        &[
            "A chair in blue velvet stands in the hall.",
            "An exercise bike stands by the window.",
            "A walkie-talkie lies on the desk.",
            "A guitar with a sunburst finish leans against the desk.",
            "An orange cargo bike takes up two spaces.",
            "A row of perhaps six bikes remains.",
            "A young boy is sleeping in a bunk.",
        ],
        &[
            ("the blue chair", Some(0)),
            ("an exercise bike", Some(1)),
            ("our car", None),
            ("the orange cargo bike", Some(4)),
            ("a boy sleeping", Some(6)),
        ],
    );
}
