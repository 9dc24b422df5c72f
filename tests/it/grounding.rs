//! Where a target is searched for, with the shipped embedder.

use std::path::Path;

use engram::base::frame::FrameMeta;
use engram::base::pose::Pose;
use engram::base::time::Timestamp;
use engram::daemon::embedding_space;
use engram::memory::episodic::Episodic;
use engram::model::bert;
use engram::model::embedder::EmbedderHandle;
use engram::store::{NewObservation, Options, Store};

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
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/caption-embedder");
    let embedder = EmbedderHandle::new(bert::load(&dir).unwrap());
    let options = Options::at(state.path().join("s"));
    let store = Store::open(&options, &embedding_space(&embedder)).unwrap();
    let episodic = Episodic::open(store, embedder).unwrap();
    let observations = (0_u32..).zip(CAPTIONS).map(|(at, caption)| NewObservation {
        meta: FrameMeta {
            taken_at: Timestamp::from_seconds(1e9 + f64::from(at) * 60.0).unwrap(),
            pose: Some(Pose { position: [f64::from(at), 0.0, 0.0], heading: None }),
            frame_id: "map".to_owned(),
            map_id: "flat".to_owned(),
            source: "camera".to_owned(),
        },
        caption: (*caption).to_owned(),
        layer: None,
    });
    episodic.remember_observations(observations.collect()).unwrap();
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
