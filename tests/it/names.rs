//! Which records show a thing by its name, with the shipped embedder and reader of captions.

use std::path::Path;
use std::sync::Arc;

use engram::base::time::SystemClock;
use engram::language::fit::Certainty;
use engram::memory::embedding_space;
use engram::memory::episodic::Episodic;
use engram::memory::episodic::captions::CaptionReader;
use engram::memory::episodic::last_seen::Wording;
use engram::model::embedder::EmbedderHandle;
use engram::model::{bert, caption_reader};
use engram::search::Filter;
use engram::search::compaction;
use engram::search::retention::Unwitnessed;
use engram::store::{Options, Store};

use crate::remembered::observations;

/// In the order in which they were seen.
const CAPTIONS: &[&str] = &[
    "Put the washing up liquid bottle next to the tap.",
    "Put the sunflower oil bottle back on the shelf.",
    "Place the milk carton on the counter beside the sink.",
    "A yellow bottle on a table next to a glass.",
    "A small bottle stands on the windowsill.",
    "A black and white dog sleeps on the sofa.",
    "A dog bowl on the tiled floor.",
    "A blue backpack hangs on a chair.",
    "A table without a teapot.",
];

/// A memory of these captions, below `state`, as the model reads them.
pub(crate) fn read(state: &Path, captions: &[&str]) -> Episodic {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let embedder = EmbedderHandle::new(bert::load(&models.join("caption-embedder")).unwrap());
    let reader = caption_reader::load(&models.join("caption-reader")).unwrap();
    let store = Store::open(&Options::at(state.join("s")), &embedding_space(&embedder)).unwrap();
    let read = (embedder, CaptionReader::new(reader));
    let options = (compaction::Options::default(), Arc::new(Unwitnessed) as _);
    let episodic = Episodic::open_keeping(store, read, options, Arc::new(SystemClock)).unwrap();
    episodic.remember_observations(observations(captions)).unwrap();
    episodic
}

/// The number of the caption.
pub(crate) fn last_seen(
    episodic: &Episodic,
    captions: &[&str],
    query: &str,
) -> Option<(usize, Certainty)> {
    let found = episodic.last_seen(query, &Filter::default(), 1).unwrap().into_iter().next()?;
    let caption = &found.recalled.record.caption;
    Some((captions.iter().position(|it| it == caption).unwrap(), found.certainty))
}

#[test]
fn a_name_is_matched_by_its_parts_its_kind_and_what_holds_it() {
    let state = tempfile::tempdir().unwrap();
    let episodic = read(state.path(), CAPTIONS);
    for (query, expected) in [
        ("washing up liquid bottle", Some((0, Certainty::InPlace))),
        ("sunflower oil bottle", Some((1, Certainty::InPlace))),
        // Packaging shows what it holds.
        ("milk", Some((2, Certainty::InPlace))),
        ("milk carton", Some((2, Certainty::InPlace))),
        // Only some of it is said of the yellow one, and nothing of the small one.
        ("the yellow drinks bottle", Some((3, Certainty::Partial))),
        ("glass", Some((3, Certainty::InPlace))),
        ("an animal", Some((5, Certainty::InPlace))),
        ("my rucksack", Some((7, Certainty::InPlace))),
        ("the teapot", None),
        // A dog is no cat; a chair may be an armchair.
        ("a cat", None),
        ("the armchair", Some((7, Certainty::Possible))),
    ] {
        assert_eq!(last_seen(&episodic, CAPTIONS, query), expected, "{query}");
    }
}

#[test]
fn what_is_no_longer_there_or_done_by_somebody_else_is_no_sighting() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "a woman cooking and a man sleeping on the sofa",
        "the umbrella stands in the corner",
        "the umbrella is not in the stand any longer",
        "the keys are no longer on the hook",
        "the bicycle no longer stands against the wall",
        "the bowl is out of apples",
        "the lamp is no longer lit",
    ];
    let episodic = read(state.path(), &captions);
    for (query, expected) in [
        ("a man sleeping", Some(0)),
        ("a man cooking", None),
        ("the umbrella", Some(1)),
        ("my keys", None),
        ("a bicycle", None),
        ("an apple", None),
        ("the bowl", Some(5)),
        ("the lamp", Some(6)),
    ] {
        let found = last_seen(&episodic, &captions, query).map(|it| it.0);
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn what_is_sought_told_of_or_was_there_is_no_sighting() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "A woman is looking for her keys in a drawer.",
        "A sign on the fence asks for a lost cat.",
        "Two men are talking about a car.",
        "A boy wishes for a red bicycle and a kite.",
        "An empty shelf where the vase used to stand.",
        "A hook that usually holds a lamp.",
        "The wallet, the watch and the phone are gone.",
        "Neither a mug nor a plate is on the table.",
        "A book about trains lies on a chair.",
    ];
    let episodic = read(state.path(), &captions);
    for query in [
        "my keys",
        "a cat",
        "a car",
        "a bicycle",
        "a kite",
        "the vase",
        "a lamp",
        "my wallet",
        "my watch",
        "a phone",
        "a mug",
        "a plate",
        "a train",
    ] {
        assert_eq!(last_seen(&episodic, &captions, query), None, "{query}");
    }
    for (query, at) in
        [("a drawer", 0), ("a fence", 1), ("a shelf", 4), ("a hook", 5), ("a book", 8)]
    {
        let found = last_seen(&episodic, &captions, query).map(|it| it.0);
        assert_eq!(found, Some(at), "{query}");
    }
}

#[test]
fn whoever_is_called_by_what_he_does_is_a_person_and_a_tool_is_none() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "A pair of pliers on a workbench.",
        "Three pedestrians cross a street.",
        "Two women sit on a bench.",
        "A man drinks from a blue mug.",
        "Nobody is reading the book on the table.",
    ];
    let episodic = read(state.path(), &captions);
    for (query, expected) in [
        ("a pedestrian", Some(1)),
        ("a woman", Some(2)),
        ("women", Some(2)),
        ("people", Some(3)),
        ("a man drinking from a mug", Some(3)),
        ("the mug somebody was drinking from", Some(3)),
        ("somebody reading", None),
        ("a child", None),
    ] {
        let found = last_seen(&episodic, &captions, query).map(|it| it.0);
        assert_eq!(found, expected, "{query}");
    }
    let people = episodic.list_sightings("people", (&Filter::default(), 9), Wording::Own).unwrap();
    assert_eq!(people.total, 3, "neither pliers nor nobody");
    let read = episodic.last_seen("the book I was reading", &Filter::default(), 1).unwrap();
    assert_eq!(read[0].certainty, Certainty::Possible);
}

#[test]
fn kinds_are_listed_beside_what_is_asked_for() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "A novel on a chair.",
        "A cookbook on a shelf.",
        "A book on a bed.",
        "An apple in a bowl.",
        "A guitar by a wall.",
        "A beer on a bar.",
    ];
    let episodic = read(state.path(), &captions);
    for (query, expected) in [
        ("book", &[0, 1, 2][..]),
        ("fruit", &[3]),
        ("instrument", &[4]),
        ("drink", &[5]),
        ("the novel", &[0]),
    ] {
        let listed = episodic.list_sightings(query, (&Filter::default(), 9), Wording::Own).unwrap();
        let at = |caption: &String| captions.iter().position(|it| it == caption).unwrap();
        let listed: Vec<usize> =
            listed.sightings.iter().map(|it| at(&it.recalled.record.caption)).collect();
        assert_eq!(listed, expected, "{query}");
    }
}

#[test]
fn a_word_that_is_a_verb_elsewhere_is_a_thing_where_it_is_all_that_is_said() {
    let state = tempfile::tempdir().unwrap();
    let captions =
        ["A saw on a bench.", "A can on a table.", "A tile on the floor.", "A stand in a corner."];
    let episodic = read(state.path(), &captions);
    for (query, at) in [("saw", 0), ("the can", 1), ("tile", 2), ("stand", 3)] {
        let expected = Some((at, Certainty::InPlace));
        assert_eq!(last_seen(&episodic, &captions, query), expected, "{query}");
    }
}

#[test]
fn what_captions_call_by_a_near_name_may_be_it() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "A green garbage bin stands at the kerb.",
        "A hedge trimmer lies on the lawn.",
        "A shoe cabinet stands in the hall.",
        "A night guard walks past the gate.",
        "A football pitch behind a fence.",
        "A gas stove in the kitchen.",
    ];
    let episodic = read(state.path(), &captions);
    for (query, expected) in [
        ("the green wheelie bin", Some(0)),
        // Another colour is another thing.
        ("the red wheelie bin", None),
        // What only guards, is kicked there, or has a name of its own in the dictionary.
        ("a guard dog", None),
        ("a football", None),
        ("the microwave", None),
    ] {
        let expected = expected.map(|at| (at, Certainty::Possible));
        assert_eq!(last_seen(&episodic, &captions, query), expected, "{query}");
    }
    // The list of everyday names has both.
    for (query, at) in [("hedge cutter", 1), ("the shoe rack", 2)] {
        assert_eq!(
            last_seen(&episodic, &captions, query),
            Some((at, Certainty::InPlace)),
            "{query}"
        );
    }
}

#[test]
fn a_deed_in_other_words_is_known_by_who_does_it_beside_what() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "A girl with braids is playing the upright piano.",
        "A girl is reading on the sofa.",
        "A man is sleeping in an armchair.",
    ];
    let episodic = read(state.path(), &captions);
    for (query, expected) in [
        ("a girl practising the piano", Some((0, Certainty::Possible))),
        ("a girl practising the violin", None),
        ("a man practising the piano", None),
    ] {
        assert_eq!(last_seen(&episodic, &captions, query), expected, "{query}");
    }
}

#[test]
fn glasses_are_no_glass_and_a_breed_is_a_dog() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "A pair of glasses on a book.",
        "A glass of water on a desk.",
        "A golden retriever waits.",
    ];
    let episodic = read(state.path(), &captions);
    for (query, expected) in [("my glasses", 0), ("a glass", 1), ("a dog", 2)] {
        let expected = Some((expected, Certainty::InPlace));
        assert_eq!(last_seen(&episodic, &captions, query), expected, "{query}");
    }
}

#[test]
fn a_picture_is_a_thing_and_what_it_is_of_or_a_caption_guesses_only_may_be_there() {
    let state = tempfile::tempdir().unwrap();
    let captions = [
        "A bookcase with games and a framed photograph of four people on a mountain.",
        "A photo of a desk with a lamp.",
        "A poster of a rocket hangs on the wall above a shelf.",
        "Two cards stand on the window ledge, one showing a teddy bear with a bandage.",
        "An anatomical chart of a horse hangs next to a leaflet with a bus on it.",
        "What may be a bicycle helmet hangs beside a coat, partly hidden by a scarf.",
    ];
    let episodic = read(state.path(), &captions);
    for (query, expected) in [
        ("the photo", Some((0, Certainty::InPlace))),
        ("the poster", Some((2, Certainty::InPlace))),
        ("a rocket", Some((2, Certainty::Possible))),
        ("a desk", Some((1, Certainty::InPlace))),
        ("a teddy bear", Some((3, Certainty::Possible))),
        ("a horse", Some((4, Certainty::Possible))),
        ("a bus", Some((4, Certainty::Possible))),
        ("a bicycle helmet", Some((5, Certainty::Possible))),
        ("a scarf", Some((5, Certainty::InPlace))),
    ] {
        assert_eq!(last_seen(&episodic, &captions, query), expected, "{query}");
    }
}

#[test]
fn what_is_called_otherwise_is_it_and_what_only_sounds_like_it_is_not() {
    let captions = &[
        "a carer pushing a trolley in the corridor",
        "a wicker chair on the porch",
        "a lid on a pan and a green tunic on a hook",
        "a glass tumbler on a table",
        "a bicycle helmet on a peg",
        "a yellow hard hat on a shelf",
        "orange ear defenders on a nail",
        "an umbrella in the porch",
        "a steel thermos flask on a desk",
        "a stainless steel thermos on a windowsill",
        "a galvanised watering can by the shed",
        "a purple schoolbag with the stars in the hall",
        "a desk organiser on a shelf",
        "a volunteer is holding a ladder steady",
        "a woman appears to be wearing purple spectacles",
    ];
    let state = tempfile::tempdir().unwrap();
    let episodic = read(state.path(), captions);
    for (query, expected) in [
        ("care plan", None),
        ("wheelchair", None),
        ("tissues", None),
        ("reading glasses", Some((14, Certainty::Possible))),
        ("yellow helmet", Some((5, Certainty::Partial))),
        ("hearing protection", Some((6, Certainty::InPlace))),
        ("steel flask", Some((9, Certainty::InPlace))),
        ("galvanized can", Some((10, Certainty::InPlace))),
        ("starry school bag", Some((11, Certainty::InPlace))),
        ("desk organizer", Some((12, Certainty::InPlace))),
        ("ladder", Some((13, Certainty::InPlace))),
        ("purple spectacles", Some((14, Certainty::InPlace))),
    ] {
        assert_eq!(last_seen(&episodic, captions, query), expected, "{query}");
    }
}
