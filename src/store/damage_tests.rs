//! What the store says of entries that are gone, from outside its files.

use std::fs;
use std::path::Path;

use uuid::Uuid;

use crate::base::RecordId;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::memos::{Memo, MemoCounters};
use crate::store::notes::Note;
use crate::store::sessions::KeptSession;
use crate::store::state::AgentState;
use crate::store::tests::{at, fill, jpeg, meta, open, options, raw, refuse, space, vector};

const EACH: u32 = 20;

/// Some of everything that is acknowledged.
fn fill_all(dir: &Path) {
    fill(dir, EACH);
    let store = open(dir);
    for n in 1..=EACH {
        put_note(&store, n, "the door code");
        let id = u64::from(n);
        let memo = Memo {
            id,
            content: format!("memo {n}"),
            created_at: at(n),
            source: String::new(),
            user_message: String::new(),
            message_ids: Vec::new(),
        };
        let counters = MemoCounters { next_memo: id + 1, next_recall: 1 };
        store.put_memo(&memo, None, counters).unwrap();
        let state = AgentState { memory: format!("{{\"step\":{n}}}") };
        store.put_agent_state(&format!("agent {n}"), &state).unwrap();
        let (name, content) = (format!("session {n}"), "{}".to_owned());
        store.put_session(&KeptSession { name, content, used_at: at(n) }).unwrap();
    }
    for source in ["front", "rear", "above"] {
        store.accept_frame(&meta(source, 10), &jpeg(1), Vec::new()).unwrap();
    }
    store.set_aside(crate::base::FrameTicket(3), "dark").unwrap();
}

fn put_note(store: &Store, n: u32, text: &str) {
    let note = Note {
        id: Uuid::from_u128(u128::from(n)),
        text: text.to_owned(),
        area: String::new(),
        metadata: "{}".to_owned(),
        saved_at: at(n),
        expires_at: None,
    };
    store.put_notes(&[(note, vec![vector(n)])]).unwrap();
}

/// Removes the first entry of a kind behind the store's back.
fn lose(dir: &Path, kind: u8) {
    let db = raw(dir);
    let (key, _) = db.scan_prefix([kind]).next().unwrap().unwrap();
    db.remove(key).unwrap();
    db.flush().unwrap();
}

#[test]
fn a_lost_entry_of_any_kind_is_named_until_somebody_looked() {
    for (kind, named) in [
        (b'n', "notes: 1 of 20 are missing"),
        (b'o', "memos: 1 of 20 are missing"),
        (b't', "states of agents: 1 of 20 are missing"),
        (b'y', "sessions: 1 of 20 are missing"),
        (b's', "frames that wait for a caption: 1 of 2 are missing"),
        (b'a', "frames set aside: 1 of 1 are missing"),
        (b'k', "last keyframes of sources: 1 of 3 are missing"),
        (b'r', "records: 1 of 20 are missing; among them 1"),
        (b'v', "vectors of records: 1 of 20 are missing"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        fill_all(dir.path());
        {
            let store = open(dir.path());
            store.verify(|| false).unwrap();
            assert_eq!(store.problems(), Vec::<String>::new(), "nothing is missing yet");
        }
        lose(dir.path(), kind);
        for start in 1..=2 {
            let store = open(dir.path());
            store.verify(|| false).unwrap();
            let problems = store.problems();
            assert!(problems.len() == 1 && problems[0].contains(named), "{start}: {problems:?}");
            put_note(&store, 99, "and life goes on");
        }
        let store = open(dir.path());
        assert_eq!(store.0.losses.settle().unwrap(), 1);
        store.verify(|| false).unwrap();
        assert_eq!(store.problems(), Vec::<String>::new());
    }
}

#[test]
fn an_entry_that_is_older_than_what_was_acknowledged_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    let db = raw(dir.path());
    let (key, old) = db.scan_prefix([b't']).next().unwrap().unwrap();
    drop(db);
    let state = AgentState { memory: "{\"step\":77}".to_owned() };
    open(dir.path()).put_agent_state("agent 1", &state).unwrap();
    let db = raw(dir.path());
    db.insert(key, old).unwrap();
    drop(db);
    let problems = open(dir.path()).problems();
    assert!(problems[0].contains("states of agents: 20 are there, not all"), "{problems:?}");
}

#[test]
fn records_are_counted_while_others_write() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 2_000);
    let store = open(dir.path());
    let mut next = 0;
    store
        .verify(|| {
            next += 1;
            // Before and behind what was counted.
            store.delete_records(&[RecordId(next), RecordId(2_001 - next)]).unwrap();
            let observed = [super::tests::observation(7)];
            store.commit_observations(&super::tests::parse(&observed)).unwrap();
            false
        })
        .unwrap();
    assert!(next > 10, "{next}");
    assert_eq!(store.problems(), Vec::<String>::new());
    drop(store);
    lose(dir.path(), b'r');
    let store = open(dir.path());
    store.verify(|| false).unwrap();
    assert_eq!(store.problems().len(), 1);
}

#[test]
fn last_commits_that_are_missing_are_refused_by_kind() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    drop(raw(dir.path()));
    let (db, backup) = (dir.path().join("db"), dir.path().join("backup"));
    super::check::copy_tree(&db, &backup).unwrap();
    let store = open(dir.path());
    for n in 100..106 {
        put_note(&store, n, "acknowledged");
    }
    drop(store);
    drop(raw(dir.path()));
    fs::remove_dir_all(&db).unwrap();
    fs::rename(&backup, &db).unwrap();
    let error = refuse(dir.path());
    assert!(matches!(error, StoreError::NotWhole { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("commits are missing") && text.contains("notes: 6 of 26"), "{text}");
}

#[test]
fn a_store_of_an_earlier_build_is_counted_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    let db = raw(dir.path());
    db.remove(super::keys::WITNESS).unwrap();
    drop(db);
    fs::remove_file(dir.path().join("db.witness")).unwrap();
    let store = open(dir.path());
    store.verify(|| false).unwrap();
    assert_eq!(store.problems(), Vec::<String>::new());
    drop(store);
    lose(dir.path(), b'o');
    assert!(open(dir.path()).problems()[0].contains("memos: 1 of 20"));
}

#[test]
fn a_witness_that_is_missing_or_older_is_told_or_taken() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    let witness = dir.path().join("db.witness");
    let older = fs::read(&witness).unwrap();
    put_note(&open(dir.path()), 50, "later");
    fs::write(&witness, older).unwrap();
    // As after a power cut: the file lags.
    assert_eq!(open(dir.path()).problems(), Vec::<String>::new());
    fs::remove_file(&witness).unwrap();
    let problems = open(dir.path()).problems();
    assert!(problems[0].contains("witness of the database was missing"), "{problems:?}");
}

/// Against a list of what was synced: sled itself syncs none of them.
#[test]
fn pages_in_files_of_their_own_are_synced_before_a_commit_is_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut seen = 0;
    for n in 1..=40 {
        put_note(&store, n, &"many words ".repeat(2_000));
        for entry in fs::read_dir(dir.path().join("db/blobs")).unwrap() {
            let name = entry.unwrap().file_name();
            assert!(store.0.db.raw().has_synced_blob(&name), "{}", name.display());
            seen += 1;
        }
    }
    assert!(seen > 0, "no page was that large");
}

#[test]
fn a_commit_that_failed_is_taken_back_and_writing_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    let store = open(dir.path());
    let before = store.record_count();
    for is_on_disk in [true, false] {
        store.0.db.raw().fail_next_commit(is_on_disk);
        let observed = super::tests::parse(&[super::tests::observation(50)]);
        let failed = store.commit_observations(&observed).unwrap_err();
        assert!(failed.to_string().contains("no space"), "{failed}");
        assert_eq!(store.record_count(), before);
        // What is read meanwhile is what was acknowledged, or the failed commit's.
        assert!(store.record(RecordId(1)).unwrap().is_some());
        assert_eq!(store.problems(), Vec::<String>::new(), "recovered when asked");
        let id = RecordId(u64::from(EACH) + 1);
        assert_eq!(store.record(id).unwrap(), None, "on disk: {is_on_disk}");
    }
    let observed = super::tests::parse(&[super::tests::observation(51)]);
    let stored = store.commit_observations(&observed).unwrap();
    assert_eq!(stored[0].id, RecordId(u64::from(EACH) + 1));
    drop(store);
    let store = Store::open(&options(dir.path()), &space()).unwrap();
    store.verify(|| false).unwrap();
    assert_eq!((store.record_count(), store.problems()), (before + 1, Vec::new()));
}
