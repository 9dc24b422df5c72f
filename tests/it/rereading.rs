//! A memory whose captions were parsed by another reader, opened with the shipped one.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use engram::base::time::SystemClock;
use engram::memory::embedding_space;
use engram::memory::episodic::Episodic;
use engram::memory::episodic::captions::CaptionReader;
use engram::model::embedder::EmbedderHandle;
use engram::model::{bert, caption_reader};
use engram::search::retention::Unwitnessed;
use engram::search::{Filter, compaction};
use engram::store::{Options, Store};

use crate::remembered::remembered;

const PAUSE: Duration = Duration::from_millis(20);
/// A minute of them.
const PAUSES: usize = 3_000;

fn with_the_shipped_reader(state: &Path) -> Episodic {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let embedder = EmbedderHandle::new(bert::load(&models.join("caption-embedder")).unwrap());
    let reader = caption_reader::load(&models.join("caption-reader")).unwrap();
    let store = Store::open(&Options::at(state.join("s")), &embedding_space(&embedder)).unwrap();
    let read = (embedder, CaptionReader::new(reader));
    let options = (compaction::Options::default(), Arc::new(Unwitnessed) as _);
    Episodic::open_keeping(store, read, options, Arc::new(SystemClock)).unwrap()
}

fn wait_until_read(episodic: &Episodic) {
    for _ in 0..PAUSES {
        if episodic.captions_to_reread() == 0 {
            return;
        }
        thread::sleep(PAUSE);
    }
    panic!("{} are left", episodic.captions_to_reread());
}

fn finds(episodic: &Episodic, what: &str) -> usize {
    episodic.last_seen(what, &Filter::default(), 9).unwrap().len()
}

#[test]
fn captions_that_the_rules_parsed_are_read_again_by_the_model() {
    let state = tempfile::tempdir().unwrap();
    let mut captions = vec!["A table without a teapot.", "A red kettle on the stove."];
    captions.extend(["A lamp on a desk.", "No scissors on the counter."].repeat(200));
    let by_rules = remembered(state.path(), &captions);
    assert_eq!(finds(&by_rules, "the teapot"), 1, "the rules know nothing of denial");
    drop(by_rules);
    // Stopped at once, again and again, it comes to its end all the same.
    for _ in 0..3 {
        let episodic = with_the_shipped_reader(state.path());
        thread::sleep(Duration::from_millis(100));
        drop(episodic);
    }
    let episodic = with_the_shipped_reader(state.path());
    wait_until_read(&episodic);
    assert_eq!(finds(&episodic, "the teapot"), 0);
    assert_eq!(finds(&episodic, "the scissors"), 0);
    assert_eq!(finds(&episodic, "the kettle"), 1);
    assert_eq!(finds(&episodic, "the lamp"), 9);
    drop(episodic);
    assert_eq!(with_the_shipped_reader(state.path()).captions_to_reread(), 0, "once is enough");
}
