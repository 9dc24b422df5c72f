//! A memory whose captions were parsed by another reader, opened with the shipped one.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use engram::base::RecordId;
use engram::base::time::SystemClock;
use engram::language::caption::ParsedCaption;
use engram::memory::embedding_space;
use engram::memory::episodic::Episodic;
use engram::memory::episodic::captions::CaptionReader;
use engram::model::embedder::EmbedderHandle;
use engram::model::{bert, caption_reader};
use engram::search::retention::Unwitnessed;
use engram::search::{Filter, compaction};
use engram::store::rereading::Rereading;
use engram::store::{Options, Store};

use crate::remembered::remembered;

const PAUSE: Duration = Duration::from_millis(20);
/// A minute of them.
const PAUSES: usize = 3_000;

fn store(state: &Path) -> (Store, EmbedderHandle) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/caption-embedder");
    let embedder = EmbedderHandle::new(bert::load(&dir).unwrap());
    let store = Store::open(&Options::at(state.join("s")), &embedding_space(&embedder)).unwrap();
    (store, embedder)
}

pub(crate) fn with_the_shipped_reader(state: &Path) -> Episodic {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/caption-reader");
    let reader = caption_reader::load(&dir).unwrap();
    let (store, embedder) = store(state);
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

/// As an engram with this reader leaves a store: it finds nothing in any caption.
fn read_by(reader: u32, state: &Path) -> Rereading {
    let (store, _embedder) = store(state);
    let begun = store.rereading(&format!("{reader}/another")).unwrap();
    let captions = store.captions_to_reread(&begun, 1_000).unwrap();
    let nothing = |(id, _)| (id, ParsedCaption { reader, ..ParsedCaption::default() });
    let parsed: Vec<(RecordId, ParsedCaption)> = captions.into_iter().map(nothing).collect();
    let done = Rereading { parsed_to: begun.end, indexed_to: begun.end, ..begun.clone() };
    store.put_reread(&parsed, &done).unwrap();
    begun
}

#[test]
fn what_a_newer_or_an_older_engram_read_is_read_again_by_this_one_and_by_that() {
    let state = tempfile::tempdir().unwrap();
    let captions = ["A table without a teapot.", "A man in a hat cuts bread.", "A red kettle."];
    drop(remembered(state.path(), &captions));
    for other in [u32::MAX, 1] {
        let begun = read_by(other, state.path());
        assert_eq!((begun.parsed_to, begun.is_done()), (RecordId(0), false), "{other}");
        let episodic = with_the_shipped_reader(state.path());
        assert!(episodic.captions_to_reread() > 0, "{other}");
        wait_until_read(&episodic);
        let found = ["the teapot", "a man cutting bread", "the kettle", "the hat"];
        assert_eq!(found.map(|it| finds(&episodic, it)), [0, 1, 1, 1], "{other}");
    }
}
