//! A memory of captions, embedded by the shipped model: no daemon, no frames.

use std::path::Path;

use engram::base::frame::FrameMeta;
use engram::base::pose::Pose;
use engram::base::time::Timestamp;
use engram::memory::embedding_space;
use engram::memory::episodic::Episodic;
use engram::model::bert;
use engram::model::embedder::EmbedderHandle;
use engram::store::{NewObservation, Options, Store};

/// The captions, seen a minute and a metre along the x axis apart, kept below `state`.
pub(crate) fn remembered(state: &Path, captions: &[&str]) -> Episodic {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/caption-embedder");
    let embedder = EmbedderHandle::new(bert::load(&dir).unwrap());
    let store = Store::open(&Options::at(state.join("s")), &embedding_space(&embedder)).unwrap();
    let episodic = Episodic::open(store, embedder).unwrap();
    episodic.remember_observations(observations(captions)).unwrap();
    episodic
}

/// The captions, seen a minute and a metre along the x axis apart.
pub(crate) fn observations(captions: &[&str]) -> Vec<NewObservation> {
    let observations = (0_u32..).zip(captions).map(|(at, caption)| NewObservation {
        meta: FrameMeta {
            taken_at: Timestamp::from_seconds(1e9 + f64::from(at) * 60.0).unwrap(),
            pose: Some(Pose { position: [f64::from(at), 0.0, 0.0], heading: None }),
            frame_id: "map".to_owned(),
            map_id: "flat".to_owned(),
            source: "camera".to_owned(),
        },
        caption: (*caption).to_owned(),
        confidence: None,
        layer: None,
    });
    observations.collect()
}
