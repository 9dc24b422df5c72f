//! Compatibility: stores that earlier formats wrote open, and hold what went in.
//!
//! The store of format 1 was made by these calls on an empty directory: two
//! observations at 1 and 2 s (the first in layer "battery"); a frame of "front"
//! accepted at 10 s, merged at 12 s, captioned "a red mug", merged at 15 s; one
//! accepted at 20 s and set aside; one of "rear" without a pose accepted at 30 s
//! with one attempt counted; closed, opened and closed once more.

use crate::language::caption::ParsedCaption;
use crate::store::tests::parse;
use std::fs;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::caption::Caption;
use crate::store::copy::copy_tree;
use crate::store::tests::{all, at, jpeg, meta, observation, open, stored, vector};

/// sled's log is as long as its segment; the fixture leaves out the zeros at its end.
const LOG_BYTES: u64 = 524_287;

fn copy_store(name: &str) -> TempDir {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let dir = tempfile::tempdir().unwrap();
    copy_tree(&fixture, dir.path()).unwrap();
    let log = OpenOptions::new().write(true).open(dir.path().join("db/db")).unwrap();
    log.set_len(LOG_BYTES).unwrap();
    dir
}

/// Files that hold these bytes.
fn files_with(dir: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if fs::read(&path).unwrap().windows(bytes.len()).any(|it| it == bytes) {
            found.push(path);
        }
    }
    found
}

/// As a kill leaves it between the encrypted database and its being put in.
#[test]
fn an_encrypted_draft_beside_the_plain_database_is_made_anew() {
    let sealed = copy_store("store-format-1");
    drop(open(sealed.path()));
    let dir = copy_store("store-format-1");
    copy_tree(&sealed.path().join("db"), &dir.path().join("db.sealed")).unwrap();
    for name in ["db.witness", "key", "key.copy", "keyring", "keyring.copy"] {
        fs::copy(sealed.path().join(name), dir.path().join(name)).unwrap();
    }
    let store = open(dir.path());
    assert_eq!((all(&store).len(), store.problems()), (3, Vec::new()));
    drop(store);
    assert_eq!(files_with(dir.path(), b"a red mug"), Vec::<PathBuf>::new());
}

#[test]
fn a_store_of_format_1_is_read_and_written_on() {
    let dir = copy_store("store-format-1");
    assert!(!files_with(dir.path(), b"a red mug").is_empty());
    let manifest = |dir: &TempDir| fs::read(dir.path().join("manifest")).unwrap()[8];
    assert_eq!(manifest(&dir), 1);
    let store = open(dir.path());
    assert_eq!(manifest(&dir), 5, "an earlier build must not open it from now on");
    for secret in ["a red mug", "front", "battery"] {
        assert_eq!(files_with(dir.path(), secret.as_bytes()), Vec::<PathBuf>::new(), "{secret}");
    }
    assert_eq!(files_with(dir.path(), &jpeg(1)), Vec::<PathBuf>::new());

    let records = all(&store);
    assert_eq!(records.len(), 3);
    let mut battery = stored(1);
    battery.layer = Some("battery".to_owned());
    assert_eq!(records[0], (battery, vector(1)));
    assert_eq!(records[1], (stored(2), vector(2)));
    let (mug, mug_vector) = &records[2];
    assert_eq!((mug.caption.as_str(), mug.confidence), ("a red mug", None));
    assert_eq!(
        (mug.meta.clone(), mug.end_at, mug.image),
        (meta("front", 10), at(15), Some(FrameTicket(1)))
    );
    assert_eq!(mug_vector, &vector(3));
    assert_eq!(store.image(FrameTicket(1)).unwrap(), Some(jpeg(1)));
    assert_eq!(store.set_asides(None, 9).unwrap()[0].reason, "broken");
    assert_eq!(store.keyframe("front").unwrap().unwrap().signature, [8]);
    let waiting = store.next_pending(None).unwrap().unwrap();
    assert_eq!((waiting.ticket, waiting.meta.pose, waiting.attempts), (FrameTicket(3), None, 1));

    let caption = Caption { confidence: Some(0.25), ..Caption::without_confidence("a blue book") };
    let id = store
        .commit_frame(waiting.ticket, &caption, &ParsedCaption::by_rules(&caption.text), &vector(4))
        .unwrap()
        .id;
    store.commit_observations(&parse(&[observation(40)])).unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.record(id).unwrap().unwrap().confidence, Some(0.25));
    assert_eq!(store.record(RecordId(3)).unwrap().unwrap().confidence, None);
    assert_eq!(store.record_count(), 5);
}
