//! The store through restarts, damage and refusal, from outside its files.

use std::fs;
use std::path::Path;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::caption::Caption;
use crate::base::embedding::Embedding;
use crate::base::frame::FrameMeta;
use crate::base::pose::Pose;
use crate::base::time::Timestamp;
use crate::language::caption::ParsedCaption;
use crate::store::EmbeddingSpace;
use crate::store::NewObservation;
use crate::store::Options;
use crate::store::Record;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::keyring::Keyring;
use crate::store::keyring::master_key::{KeySource, MasterKey};
use crate::store::reindex::Reindex;
use crate::store::rereading::Rereading;
use crate::store::sealed;
use crate::store::sealed_database::Batch;

const DIMENSION: usize = 4;

pub(super) fn options(dir: &Path) -> Options {
    Options { images_bytes_max: 1 << 20, spool_frames_max: 4, ..Options::at(dir.to_owned()) }
}

pub(super) fn space() -> EmbeddingSpace {
    EmbeddingSpace {
        model: "small".to_owned(),
        fingerprint: "aaaa".to_owned(),
        dimension: DIMENSION,
    }
}

fn other_space() -> EmbeddingSpace {
    EmbeddingSpace { model: "large".to_owned(), fingerprint: "bbbb".to_owned(), dimension: 2 }
}

pub(super) fn open(dir: &Path) -> Store {
    Store::open(&options(dir), &space()).unwrap()
}

pub(super) fn refuse(dir: &Path) -> StoreError {
    Store::open(&options(dir), &space()).unwrap_err()
}

pub(super) fn at(seconds: u32) -> Timestamp {
    Timestamp::from_seconds(f64::from(seconds)).unwrap()
}

pub(super) fn meta(source: &str, seconds: u32) -> FrameMeta {
    FrameMeta {
        taken_at: at(seconds),
        pose: Some(Pose { position: [1.5, -0.25, 0.0], heading: Some(-1.0) }),
        frame_id: "map".to_owned(),
        map_id: "home".to_owned(),
        source: source.to_owned(),
    }
}

pub(super) fn vector(seed: u32) -> Embedding {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let raw = (0..DIMENSION).map(|i| 1.0 + ((seed as usize * 7 + i * 3) % 11) as f32).collect();
    Embedding::new(raw, DIMENSION).unwrap()
}

pub(super) fn jpeg(content: u8) -> Vec<u8> {
    [&[0xFF, 0xD8, 0xFF], [content; 40].as_slice()].concat()
}

pub(super) fn observation(seconds: u32) -> (NewObservation, Embedding) {
    let caption = format!("a mug at {seconds}");
    (
        NewObservation { meta: meta("front", seconds), caption, confidence: None, layer: None },
        vector(seconds),
    )
}

pub(super) fn fill(dir: &Path, records: u32) {
    let store = open(dir);
    let observations: Vec<_> = (1..=records).map(observation).collect();
    store.commit_observations(&parse(&observations)).unwrap();
}

pub(super) fn all(store: &Store) -> Vec<(Record, Embedding)> {
    store.scan().map(Result::unwrap).collect()
}

/// The database behind the store's back.
pub(super) fn raw(dir: &Path) -> sled::Db {
    loop {
        match sled::open(dir.join("db")) {
            Ok(db) => return db,
            // A store that was closed just now lets go of it a little later.
            Err(error) if error.to_string().contains("could not acquire lock") => {
                std::thread::yield_now();
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// The keyring behind the store's back.
pub(super) fn keyring(dir: &Path) -> Keyring {
    let master = MasterKey::read(&KeySource::InStore, dir).unwrap().unwrap();
    Keyring::open(dir, &master).unwrap().unwrap()
}

/// Where the database has an entry.
pub(super) fn place_of(db: &sled::Db, dir: &Path, key: &[u8]) -> Option<Vec<u8>> {
    let keyring = keyring(dir);
    let of_kind = db.scan_prefix(&key[..1]).map(Result::unwrap);
    let mut found = of_kind
        .filter_map(|(place, sealed)| Some((place, sealed::open(&keyring, &sealed).ok()?.entry)));
    found.find(|(_, entry)| entry == key).map(|(place, _)| place.to_vec())
}

/// Changes the bytes under a key.
pub(super) fn tamper(dir: &Path, key: &[u8], change: impl FnOnce(&mut Vec<u8>)) {
    let db = raw(dir);
    let place = place_of(&db, dir, key).unwrap();
    let mut bytes = db.get(&place).unwrap().unwrap().to_vec();
    change(&mut bytes);
    db.insert(place, bytes).unwrap();
    db.flush().unwrap();
}

#[test]
fn a_frame_goes_from_spool_to_record_through_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let ticket = open(dir.path()).accept_frame(&meta("front", 10), &jpeg(1), vec![9, 9]).unwrap();
    assert_eq!(ticket, FrameTicket(1));

    let store = open(dir.path());
    let pending = store.next_pending(None).unwrap().unwrap();
    assert_eq!((pending.ticket, &pending.meta, pending.attempts), (ticket, &meta("front", 10), 0));
    assert_eq!(store.count_attempt(ticket).unwrap(), 1);
    assert_eq!(store.merge_frame("front", at(12)).unwrap().record, None);
    drop(store);

    let store = open(dir.path());
    assert_eq!(store.next_pending(None).unwrap().unwrap().attempts, 1);
    let record = commit(&store, ticket, "a red mug", 1).unwrap();
    assert_eq!((record.id, record.end_at, record.image), (RecordId(1), at(12), Some(ticket)));
    assert_eq!(store.next_pending(None).unwrap(), None);
    let merged = store.merge_frame("front", at(15)).unwrap();
    assert_eq!((merged.ticket, merged.record, merged.end_at), (ticket, Some(record.id), at(15)));
    drop(store);

    let store = open(dir.path());
    let expected = Record { end_at: at(15), ..record };
    assert_eq!(all(&store), [(expected.clone(), vector(1))]);
    assert_eq!(store.record(RecordId(1)).unwrap(), Some(expected));
    assert_eq!(store.image(ticket).unwrap(), Some(jpeg(1)));
    let counters = store.counters();
    assert_eq!((counters.seen, counters.merged, counters.captioned), (3, 2, 1));
    let keyframe = store.keyframe("front").unwrap().unwrap();
    assert_eq!((keyframe.last_at, keyframe.signature), (at(15), vec![9, 9]));
    assert_eq!(keyframe.meta, meta("front", 10));
    assert_eq!(store.keyframe("rear").unwrap(), None);
    store.accept_frame(&meta("above", 11), &jpeg(2), Vec::new()).unwrap();
    let heard = [("above".to_owned(), at(11)), ("front".to_owned(), at(15))];
    assert_eq!(store.sources().unwrap(), heard);
}

#[test]
fn an_attempt_can_be_taken_back_and_never_below_none() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ticket = store.accept_frame(&meta("front", 10), &jpeg(1), Vec::new()).unwrap();
    assert_eq!(store.count_attempt(ticket).unwrap(), 1);
    assert_eq!(store.count_attempt(ticket).unwrap(), 2);
    store.uncount_attempt(ticket).unwrap();
    drop(store);
    let store = open(dir.path());
    let attempts = || store.next_pending(None).unwrap().unwrap().attempts;
    assert_eq!(attempts(), 1);
    store.uncount_attempt(ticket).unwrap();
    store.uncount_attempt(ticket).unwrap();
    assert_eq!(attempts(), 0);
    let error = store.uncount_attempt(FrameTicket(7));
    assert_eq!(error, Err(StoreError::NotPending { ticket: FrameTicket(7) }));
}

#[test]
fn a_damaged_spool_entry_says_which_frame_and_can_be_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let first = store.accept_frame(&meta("front", 10), &jpeg(1), Vec::new()).unwrap();
    let second = store.accept_frame(&meta("front", 11), &jpeg(2), Vec::new()).unwrap();
    let mut batch = Batch::default();
    batch.insert(crate::store::keys::spooled(first), b"nonsense".as_slice());
    store.0.db.commit(batch).unwrap();
    let error = store.next_pending(None).unwrap_err();
    assert!(matches!(error, StoreError::DamagedFrame { ticket, .. } if ticket == first), "{error}");
    assert!(error.concerns_one_value());
    store.set_aside(first, "damaged").unwrap();
    assert_eq!(store.next_pending(None).unwrap().unwrap().ticket, second);
}

#[test]
fn a_merge_never_shortens_and_needs_something_to_merge_into() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.accept_frame(&meta("front", 10), &jpeg(1), Vec::new()).unwrap();
    assert_eq!(store.merge_frame("front", at(20)).unwrap().end_at, at(20));
    assert_eq!(store.merge_frame("front", at(5)).unwrap().end_at, at(20));
    assert_eq!(store.next_pending(None).unwrap().unwrap().end_at, at(20));
    let source_name = "rear".to_owned();
    assert_eq!(store.merge_frame("rear", at(1)), Err(StoreError::NoKeyframe { source_name }));
}

#[test]
fn a_full_spool_refuses_and_takes_again_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let accept = || store.accept_frame(&meta("front", 1), &jpeg(1), Vec::new());
    let tickets: Vec<_> = (0..4).map(|_| accept().unwrap()).collect();
    assert_eq!(accept(), Err(StoreError::SpoolFull { pending: 4, max: 4 }));
    store.set_aside(tickets[1], "blurred").unwrap();
    assert_eq!(accept().unwrap(), FrameTicket(5));
    assert_eq!((store.pending_count(), store.set_aside_count()), (4, 1));
    let order: Vec<_> = std::iter::successors(store.next_pending(None).unwrap(), |last| {
        store.next_pending(Some(last.ticket)).unwrap()
    })
    .map(|frame| frame.ticket.0)
    .collect();
    assert_eq!(order, [1, 3, 4, 5]);
}

#[test]
fn set_aside_frames_are_kept_with_image_and_reason() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let first = store.accept_frame(&meta("front", 1), &jpeg(1), Vec::new()).unwrap();
    let second = store.accept_frame(&meta("front", 2), &jpeg(2), Vec::new()).unwrap();
    store.set_aside(first, &"ä".repeat(2_000)).unwrap();
    store.set_aside(second, "killed the captioner twice").unwrap();
    assert_eq!(store.set_aside(second, "again"), Err(StoreError::NotPending { ticket: second }));
    drop(store);
    let store = open(dir.path());
    let newest = &store.set_asides(None, 1).unwrap()[0];
    assert_eq!((newest.ticket, newest.reason.as_str()), (second, "killed the captioner twice"));
    assert_eq!(store.set_asides(None, 9).unwrap()[1].reason, "ä".repeat(512));
    let earlier = store.set_asides(Some(second), 9).unwrap();
    assert_eq!(earlier.iter().map(|it| it.ticket).collect::<Vec<_>>(), [first]);
    assert_eq!(store.is_without_caption(first), Ok(true));
    assert_eq!(store.is_without_caption(FrameTicket(99)), Ok(false));
    assert_eq!(store.image(first).unwrap(), Some(jpeg(1)));
    assert_eq!(store.counters().failed, 2);
}

#[test]
fn a_record_whose_image_was_dropped_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { images_bytes_max: 250, ..options(dir.path()) };
    let store = Store::open(&options, &space()).unwrap();
    for seconds in 1..=3 {
        let meta = meta("front", seconds);
        let ticket = store.accept_frame(&meta, &jpeg(1), Vec::new()).unwrap();
        commit(&store, ticket, "a mug", 1).unwrap();
    }
    let images: Vec<_> = all(&store).into_iter().map(|(record, _)| record.image).collect();
    assert_eq!(images, [None, Some(FrameTicket(2)), Some(FrameTicket(3))]);
    assert_eq!(store.record(RecordId(1)).unwrap().unwrap().image, None);
    assert_eq!(store.image(FrameTicket(1)).unwrap(), None);
    assert_eq!(store.counters().images_dropped, 1);
}

#[test]
fn a_frame_that_was_set_aside_is_still_told_of_without_its_image() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { images_bytes_max: 150, ..options(dir.path()) };
    let store = Store::open(&options, &space()).unwrap();
    let ticket = store.accept_frame(&meta("front", 1), &jpeg(1), Vec::new()).unwrap();
    store.set_aside(ticket, "broken").unwrap();
    store.accept_frame(&meta("rear", 2), &jpeg(1), Vec::new()).unwrap();
    assert_eq!(store.image(ticket).unwrap(), None);
    store.erase_owed().unwrap();
    let told = store.set_asides(None, 9).unwrap();
    assert_eq!((told.len(), told[0].ticket, told[0].reason.as_str()), (1, ticket, "broken"));
    drop(store);
    let store = Store::open(&options, &space()).unwrap();
    assert_eq!(store.problems(), Vec::<String>::new(), "nobody removed it");
}

#[test]
fn oversized_values_are_refused_and_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let long = FrameMeta { source: "s".repeat(129), ..meta("", 1) };
    let error = store.accept_frame(&long, &jpeg(1), Vec::new()).unwrap_err();
    assert_eq!(error, StoreError::TooLong { field: "source", bytes: 129, max: 128 });
    let error = store.accept_frame(&meta("front", 1), b"GIF89a", Vec::new()).unwrap_err();
    assert_eq!(error, StoreError::NotAnImage);
    let (observation, _) = observation(1);
    let short = Embedding::new(vec![1.0], 1).unwrap();
    let error = store.commit_observations(&parse(&[(observation, short)])).unwrap_err();
    assert_eq!(error, StoreError::Dimension { found: 1, expected: DIMENSION });
    let error = commit(&store, FrameTicket(1), "a mug", 1).unwrap_err();
    assert_eq!(error, StoreError::NotPending { ticket: FrameTicket(1) });
    assert_eq!((store.record_count(), store.pending_count()), (0, 0));
    assert_eq!(store.accept_frame(&meta("front", 1), &jpeg(1), Vec::new()), Ok(FrameTicket(1)));
}

#[test]
fn a_damaged_record_costs_no_frame_that_merges_into_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ticket = store.accept_frame(&meta("front", 1), &jpeg(1), Vec::new()).unwrap();
    let record = commit(&store, ticket, "a mug", 1).unwrap();
    drop(store);
    tamper(dir.path(), &super::keys::record(record.id), |bytes| bytes[7] ^= 1);
    let store = open(dir.path());
    assert_eq!(store.merge_frame("front", at(2)).unwrap().end_at, at(2));
    assert_eq!(store.counters().merged, 1);
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("taken");
    fs::write(&file, "by a file").unwrap();
    let error = refuse(&file.join("store"));
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    assert!(error.to_string().contains("taken"), "{error}");
}

#[test]
fn a_second_open_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    assert!(matches!(refuse(dir.path()), StoreError::Locked { .. }));
    drop(store);
    open(dir.path());
}

#[test]
fn another_embedder_is_refused_with_the_command_that_helps() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 2);
    let error = Store::open(&options(dir.path()), &other_space()).unwrap_err().to_string();
    for part in ["\"small\"", "\"large\"", "engram reindex"] {
        assert!(error.contains(part), "{error}");
    }
    let renamed = EmbeddingSpace { model: "renamed".to_owned(), ..space() };
    Store::open(&options(dir.path()), &renamed).unwrap();
}

#[test]
fn a_damaged_record_or_vector_is_reported_and_the_rest_is_read() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 5);
    tamper(dir.path(), &super::keys::record(RecordId(2)), |bytes| bytes[9] ^= 4);
    tamper(dir.path(), &super::keys::vector(0, RecordId(4)), |bytes| bytes.truncate(9));
    let store = open(dir.path());
    let (good, bad): (Vec<_>, Vec<_>) = store.scan().partition(Result::is_ok);
    let ids: Vec<u64> = good.into_iter().map(|item| item.unwrap().0.id.0).collect();
    assert_eq!(ids, [1, 3, 5]);
    let texts: Vec<String> = bad.into_iter().map(|item| item.unwrap_err().to_string()).collect();
    assert!(texts[0].starts_with("record 2 is damaged"), "{texts:?}");
    assert!(texts[1].starts_with("the vector of record 4 is damaged"), "{texts:?}");
    assert!(store.record(RecordId(2)).unwrap_err().concerns_one_value());
}

#[test]
fn records_that_vanished_are_noticed_by_the_scan() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 5);
    let db = raw(dir.path());
    db.remove(super::keys::record(RecordId(3))).unwrap();
    drop(db);
    let last = open(dir.path()).scan().last().unwrap().unwrap_err();
    assert!(matches!(last, StoreError::Database { .. }), "{last}");
}

#[test]
fn a_record_of_a_newer_build_is_refused_by_its_number() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 1);
    let key = super::keys::record(RecordId(1));
    tamper(dir.path(), &key, |bytes| {
        // As a newer build would write it: another version, a fitting checksum.
        bytes[0] = 9;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&[9]);
        hasher.update(&(key.len() as u64).to_le_bytes());
        hasher.update(&key);
        hasher.update(&bytes[5..]);
        bytes.splice(1..5, hasher.finalize().to_le_bytes());
    });
    let error = open(dir.path()).record(RecordId(1)).unwrap_err().to_string();
    assert!(error.contains("format 9"), "{error}");
}

/// Removes the snapshot and cuts the log, which sled opens without an error.
fn cut_log(dir: &Path, keep: f64) {
    let log = fs::OpenOptions::new().write(true).open(dir.join("db/db")).unwrap();
    // Waits for the threads of the store that was closed just now.
    rustix::fs::flock(&log, rustix::fs::FlockOperation::LockExclusive).unwrap();
    for entry in fs::read_dir(dir.join("db")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("snap.") {
            fs::remove_file(path).unwrap();
        }
    }
    let length = log.metadata().unwrap().len();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of it")]
    log.set_len((length as f64 * keep) as u64).unwrap();
}

#[test]
fn a_log_cut_to_half_is_refused_and_stays_as_it_was() {
    for keep in [0.0, 0.25, 0.5] {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..5 {
            fill(dir.path(), 600);
        }
        cut_log(dir.path(), keep);
        let found = super::damage_tests::read_all(dir.path());
        let error = refuse(dir.path());
        assert!(matches!(error, StoreError::NotWhole { .. }), "{keep}: {error}");
        assert_eq!(super::damage_tests::read_all(dir.path()), found);
        assert!(matches!(refuse(dir.path()), StoreError::NotWhole { .. }), "{keep}, once more");
    }
}

/// At its end sled's log may hold nothing that counts.
#[test]
fn a_log_cut_near_its_end_is_refused_or_whole() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..5 {
        fill(dir.path(), 600);
    }
    cut_log(dir.path(), 0.94);
    match Store::open(&options(dir.path()), &space()) {
        Ok(store) => assert_eq!(all(&store).len(), 3_000),
        Err(error) => assert!(matches!(error, StoreError::NotWhole { .. }), "{error}"),
    }
}

#[test]
fn a_snapshot_that_was_deleted_alone_costs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 300);
    cut_log(dir.path(), 1.0);
    assert_eq!(all(&open(dir.path())).len(), 300);
}

#[test]
fn a_missing_half_of_the_store_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 3);
    let kept = fs::read(dir.path().join("manifest")).unwrap();
    fs::remove_file(dir.path().join("manifest")).unwrap();
    assert!(refuse(dir.path()).to_string().contains("manifest is missing"));
    fs::write(dir.path().join("manifest"), &kept).unwrap();
    assert_eq!(all(&open(dir.path())).len(), 3);
    fs::remove_dir_all(dir.path().join("db")).unwrap();
    assert!(refuse(dir.path()).to_string().contains("database is missing"));
    assert!(!dir.path().join("db").exists(), "nothing is made in its place");
}

#[test]
fn an_older_database_under_a_newer_manifest_is_refused() {
    // Frames alone, then records alone, are what the older one lacks.
    let frames = |store: &Store| {
        store.accept_frame(&meta("front", 9), &jpeg(1), Vec::new()).unwrap();
    };
    let records = |store: &Store| {
        store.commit_observations(&parse(&[observation(9)])).unwrap();
    };
    for newer in [&frames as &dyn Fn(&Store), &records] {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path()));
        drop(raw(dir.path()));
        let (db, backup) = (dir.path().join("db"), dir.path().join("backup"));
        super::copy::copy_tree(&db, &backup).unwrap();
        let store = open(dir.path());
        newer(&store);
        drop(store);
        drop(raw(dir.path()));
        fs::remove_dir_all(&db).unwrap();
        fs::rename(&backup, &db).unwrap();
        let error = refuse(dir.path()).to_string();
        assert!(error.contains("commits are missing"), "{error}");
    }
}

#[test]
fn the_database_of_another_store_is_refused() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill(dir.path(), 3);
    let store = open(other.path());
    store.commit_observations(&parse(&(11..=15).map(observation).collect::<Vec<_>>())).unwrap();
    drop(store);
    fs::copy(dir.path().join("manifest"), other.path().join("manifest")).unwrap();
    let error = refuse(other.path()).to_string();
    assert!(error.contains("record 3 is not the one"), "{error}");
}

#[test]
fn a_foreign_database_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let db = raw(dir.path());
    db.insert("theirs", "data").unwrap();
    drop(db);
    assert!(matches!(refuse(dir.path()), StoreError::Foreign { .. }));
    assert_eq!(raw(dir.path()).len(), 1);
}

#[test]
fn a_first_start_that_was_killed_is_started_again() {
    let dir = tempfile::tempdir().unwrap();
    drop(raw(dir.path()));
    drop(open(dir.path()));
    fs::remove_file(dir.path().join("manifest")).unwrap();
    open(dir.path());
}

#[test]
fn a_reindex_that_was_killed_goes_on_and_the_old_vectors_stand_until_its_end() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 5);
    let small = |seed: u64| {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let raw = vec![1.0, seed as f32];
        Embedding::new(raw, 2).unwrap()
    };
    let mut reindex = Reindex::open(&options(dir.path()), &other_space()).unwrap();
    let captions = reindex.captions(3).unwrap();
    assert_eq!(captions[2], (RecordId(3), "a mug at 3".to_owned()));
    let vectors: Vec<_> = captions.iter().map(|(id, _)| (*id, small(id.0))).collect();
    reindex.put(&vectors).unwrap();
    drop(reindex);

    // The daemon still runs with the old embedder and adds a record.
    let store = open(dir.path());
    assert_eq!(all(&store).len(), 5);
    store.commit_observations(&parse(&[observation(6)])).unwrap();
    drop(store);

    let mut reindex = Reindex::open(&options(dir.path()), &other_space()).unwrap();
    assert_eq!((reindex.done_count(), reindex.total()), (3, 6));
    let captions = reindex.captions(100).unwrap();
    let ids: Vec<u64> = captions.iter().map(|(id, _)| id.0).collect();
    assert_eq!(ids, [4, 5, 6]);
    reindex.put(&[(RecordId(4), small(4))]).unwrap();
    reindex.put(&[(RecordId(5), small(5)), (RecordId(6), small(6))]).unwrap();
    reindex.finish().unwrap();

    assert!(matches!(refuse(dir.path()), StoreError::OtherEmbedder { .. }));
    let store = Store::open(&options(dir.path()), &other_space()).unwrap();
    let vectors: Vec<_> = all(&store).into_iter().map(|(record, it)| (record.id.0, it)).collect();
    assert_eq!(vectors, (1..=6).map(|id| (id, small(id))).collect::<Vec<_>>());
    drop(store);
    let db = raw(dir.path());
    assert_eq!(db.scan_prefix(super::keys::VECTORS).count(), 6, "the old ones are gone");
}

#[test]
fn an_unfinished_or_abandoned_reindex_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 2);
    let mut reindex = Reindex::open(&options(dir.path()), &other_space()).unwrap();
    reindex.put(&[(RecordId(1), Embedding::new(vec![1.0, 2.0], 2).unwrap())]).unwrap();
    let unfinished = reindex.finish();
    assert_eq!(unfinished, Err(StoreError::ReindexUnfinished { first: RecordId(2) }));
    assert_eq!(all(&open(dir.path())), [1, 2].map(|n| (stored(n), vector(n))));

    // A reindex for a third embedder starts from nothing.
    let third = EmbeddingSpace { fingerprint: "cccc".to_owned(), ..other_space() };
    assert_eq!(Reindex::open(&options(dir.path()), &third).unwrap().done_count(), 0);
}

pub(super) fn stored(n: u32) -> Record {
    let (NewObservation { meta, caption, confidence, layer }, _) = observation(n);
    let (id, end_at) = (RecordId(u64::from(n)), meta.taken_at);
    let parsed = ParsedCaption::by_rules(&caption);
    Record {
        id,
        end_at,
        meta,
        caption,
        parsed,
        confidence,
        detections: Vec::new(),
        layer,
        image: None,
    }
}

#[test]
fn a_calibration_is_kept_for_its_embedder_and_texts() {
    let dir = tempfile::tempdir().unwrap();
    let knots = vec![(-1.0, -1.0), (0.5, 0.1), (1.0, 1.0)];
    let store = open(dir.path());
    assert_eq!(store.calibration(7).unwrap(), None);
    store.put_calibration(7, knots.clone()).unwrap();
    drop(store);
    assert_eq!(open(dir.path()).calibration(7).unwrap(), Some(knots));
    assert_eq!(open(dir.path()).calibration(8).unwrap(), None, "other texts");
    tamper(dir.path(), super::keys::CALIBRATION, |bytes| bytes[9] ^= 1);
    assert_eq!(open(dir.path()).calibration(7).unwrap(), None, "damaged");
}

#[test]
fn everything_is_shared_between_threads() {
    fn require_shareable<T: Send + Sync + Clone>() {}
    require_shareable::<Store>();
}

/// Commits a frame with this caption and [`vector`] of `n`.
pub(super) fn commit(
    store: &Store,
    ticket: FrameTicket,
    caption: &str,
    n: u32,
) -> Result<Record, StoreError> {
    let parsed = ParsedCaption::by_rules(caption);
    store.commit_frame(ticket, &Caption::without_confidence(caption), &parsed, &vector(n))
}

/// Observations with what the rules read in their captions.
pub(crate) fn parse(
    observations: &[(NewObservation, Embedding)],
) -> Vec<(NewObservation, ParsedCaption, Embedding)> {
    let read = |(observation, vector): &(NewObservation, Embedding)| {
        let parsed = ParsedCaption::by_rules(&observation.caption);
        (observation.clone(), parsed, vector.clone())
    };
    observations.iter().map(read).collect()
}

#[test]
fn a_store_of_another_reader_is_read_again_and_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let first: Vec<RecordId>;
    {
        let store = open(dir.path());
        assert!(store.rereading("one").unwrap().is_done(), "an empty store has nothing to read");
        let observed: Vec<_> = (0..5).map(observation).collect();
        let records = store.commit_observations(&parse(&observed)).unwrap();
        first = records.into_iter().map(|it| it.id).collect();
        assert!(store.rereading("one").unwrap().is_done(), "and what came in since is read");
        let at = store.rereading("two").unwrap();
        assert!(!at.is_done());
        store.delete_records(&first[3..4]).unwrap();
        let captions = store.captions_to_reread(&at, 2).unwrap();
        let ids: Vec<RecordId> = captions.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, first[..2]);
        assert_eq!(captions[0].1, store.record(first[0]).unwrap().unwrap().caption);
        // One is gone before its parse comes.
        store.delete_records(&first[1..2]).unwrap();
        let said = ParsedCaption { reader: 7, ..ParsedCaption::by_rules("a kettle") };
        let parsed: Vec<_> = ids.iter().map(|id| (*id, said.clone())).collect();
        let at = Rereading { parsed_to: RecordId(ids[1].0 + 1), ..at };
        store.put_reread(&parsed, &at).unwrap();
    }
    let store = open(dir.path());
    let at = store.rereading("two").unwrap();
    let left = store.captions_to_reread(&at, 100).unwrap();
    let left: Vec<RecordId> = left.into_iter().map(|(id, _)| id).collect();
    assert_eq!(left, [first[2], first[4]]);
    let read = store.record(first[0]).unwrap().unwrap();
    assert_eq!((read.parsed.reader, read.parsed.things[0].mention.head.as_str()), (7, "kettle"));
    assert!(store.record(first[1]).unwrap().is_none());
    assert_eq!(store.record_count(), 3);
    assert_eq!(store.rereading("three").unwrap().parsed_to, RecordId(0), "another begins anew");
}
