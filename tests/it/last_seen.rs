//! Last sightings with the shipped embedder: what counts as the same thing.

use std::path::Path;

use engram::base::frame::FrameMeta;
use engram::base::time::Timestamp;
use engram::daemon::embedding_space;
use engram::memory::episodic::Episodic;
use engram::model::bert;
use engram::model::embedder::EmbedderHandle;
use engram::search::Filter;
use engram::store::{NewObservation, Options, Store};

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
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/caption-embedder");
    let embedder = EmbedderHandle::new(bert::load(&dir).unwrap());
    let options = Options::at(state.path().join("s"));
    let store = Store::open(&options, &embedding_space(&embedder)).unwrap();
    let episodic = Episodic::open(store, embedder).unwrap();
    let observations = (0_u32..).zip(CAPTIONS).map(|(at, caption)| NewObservation {
        meta: FrameMeta {
            taken_at: Timestamp::from_seconds(1e9 + f64::from(at) * 60.0).unwrap(),
            pose: None,
            frame_id: "map".to_owned(),
            map_id: "flat".to_owned(),
            source: "camera".to_owned(),
        },
        caption: (*caption).to_owned(),
        layer: None,
    });
    episodic.remember_observations(observations.collect()).unwrap();
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
