//! Segments and forgetting through restarts and damage, from outside the files.

use std::io::Write as _;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::forget::FORGET_MAX;
use crate::store::keys;
use crate::store::segment_meta::{Amendment, PartId, SegmentMeta};
use crate::store::tests::{
    all, at, commit, fill, jpeg, meta, observation, open, parse, raw, tamper,
};

const GRAPH: PartId = PartId(2);

fn blob(bytes: usize, seed: u8) -> Vec<u8> {
    (0..bytes).map(|at| u8::try_from(at % 251).unwrap() ^ seed).collect()
}

fn write(store: &Store, records: (u64, u64), seed: u8) -> SegmentMeta {
    let mut draft = store.draft_segment().unwrap();
    for (part, bytes) in [(PartId(0), 10), (GRAPH, 50_000), (PartId(3), 0)] {
        draft.part(part, |to| to.write_all(&blob(bytes, seed))).unwrap();
    }
    draft.finish((RecordId(records.0), RecordId(records.1)), 2, 1).unwrap()
}

fn write_named(store: &Store, records: (u64, u64), seed: u8) -> SegmentMeta {
    let meta = write(store, records, seed);
    store.replace_segments(&[], std::slice::from_ref(&meta), &[]).unwrap();
    meta
}

fn chunks(store: &Store) -> usize {
    // Those that no key opens any more count as well.
    store.0.db.count(keys::CHUNKS).unwrap()
}

fn ids(store: &Store) -> Vec<u64> {
    all(store).iter().map(|(record, _)| record.id.0).collect()
}

#[test]
fn a_segment_comes_back_whole_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let meta = write_named(&store, (1, 2), 7);
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.segments().unwrap(), std::slice::from_ref(&meta));
    for (part, bytes) in
        [(PartId(0), blob(10, 7)), (GRAPH, blob(50_000, 7)), (PartId(3), Vec::new())]
    {
        assert_eq!(store.read_segment_part(&meta, part).unwrap(), bytes);
    }
    let missing = store.read_segment_part(&meta, PartId(9)).unwrap_err();
    assert!(missing.concerns_one_value(), "{missing}");
    let next = write(&store, (3, 4), 1);
    assert!(next.number > meta.number, "a number is used twice");
}

#[test]
fn segments_replace_others_in_one_step_and_leave_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let (first, second) = (write_named(&store, (1, 2), 1), write_named(&store, (3, 4), 2));
    let merged = write(&store, (1, 4), 3);
    let both = [first.number, second.number];
    let before = chunks(&store);
    store.replace_segments(&both, std::slice::from_ref(&merged), &[]).unwrap();
    assert_eq!(store.segments().unwrap(), std::slice::from_ref(&merged));
    assert!(chunks(&store) * 3 == before, "{} of {before} chunks", chunks(&store));
    assert_eq!(store.read_segment_part(&merged, GRAPH).unwrap(), blob(50_000, 3));
}

#[test]
fn unnamed_chunks_are_removed_by_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let kept = write_named(&store, (1, 2), 1);
    let whole = chunks(&store);
    let draft = write(&store, (3, 4), 2);
    assert!(chunks(&store) > whole);
    drop(store);
    let store = open(dir.path());
    assert_eq!((store.segments().unwrap(), chunks(&store)), (vec![kept], whole));
    // The key of its number is destroyed: no other segment may have it.
    let next = write_named(&store, (3, 4), 3);
    assert!(next.number > draft.number, "a number is used twice");
    store.erase_owed().unwrap();
    assert_eq!(store.read_segment_part(&next, GRAPH).unwrap(), blob(50_000, 3));
}

#[test]
fn segments_of_the_same_records_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let first = write_named(&store, (1, 5), 1);
    let second = write(&store, (5, 9), 2);
    let refused = store.replace_segments(&[], &[second], &[]).unwrap_err();
    assert!(refused.to_string().contains("overlaps"), "{refused}");
    assert_eq!(store.segments().unwrap(), [first]);
}

#[test]
fn a_damaged_chunk_concerns_its_segment_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let (first, second) = (write_named(&store, (1, 2), 1), write_named(&store, (3, 4), 2));
    drop(store);
    tamper(dir.path(), &keys::chunk(first.number, GRAPH, 3), |bytes| bytes[100] ^= 1);
    let store = open(dir.path());
    let damaged = store.read_segment_part(&first, GRAPH).unwrap_err();
    assert!(damaged.concerns_one_value() && damaged.to_string().contains("segment 1"), "{damaged}");
    assert_eq!(store.read_segment_part(&second, GRAPH).unwrap(), blob(50_000, 2));
    drop(store);
    for at in [0, 3, 6] {
        let db = raw(dir.path());
        db.remove(keys::chunk(second.number, GRAPH, at)).unwrap();
        drop(db);
        let store = open(dir.path());
        let damaged = store.read_segment_part(&second, GRAPH).unwrap_err();
        assert!(damaged.concerns_one_value(), "{damaged}");
    }
}

#[test]
fn a_damaged_name_is_as_good_as_none() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let (first, second) = (write_named(&store, (1, 2), 1), write_named(&store, (3, 4), 2));
    drop(store);
    tamper(dir.path(), &keys::segment(first.number), |bytes| bytes[6] ^= 1);
    let store = open(dir.path());
    assert_eq!(store.segments().unwrap(), [second]);
}

#[test]
fn amendments_are_kept_until_their_segment_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ticket = store.accept_frame(&meta("front", 10), &jpeg(1), vec![9]).unwrap();
    commit(&store, ticket, "a red mug", 1).unwrap();
    store.commit_observations(&parse(&[observation(2), observation(3)])).unwrap();
    store.merge_frame("front", at(11)).unwrap();
    assert_eq!(store.amendments().unwrap(), [], "in no segment");

    let meta = write_named(&store, (1, 2), 1);
    store.merge_frame("front", at(12)).unwrap();
    store.delete_records(&[RecordId(2), RecordId(3)]).unwrap();
    let amendments = [(RecordId(1), Amendment::EndsAt(at(12))), (RecordId(2), Amendment::Deleted)];
    assert_eq!(store.amendments().unwrap(), amendments);
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.amendments().unwrap(), amendments);

    let anew = write(&store, (1, 2), 2);
    let still = [(RecordId(1), Amendment::EndsAt(at(13)))];
    store.replace_segments(&[meta.number], std::slice::from_ref(&anew), &still).unwrap();
    assert_eq!(store.amendments().unwrap(), still);
    store.replace_segments(&[anew.number], &[], &[]).unwrap();
    drop(store);
    assert_eq!(open(dir.path()).amendments().unwrap(), [], "of no segment");
}

#[test]
fn a_deleted_record_loses_its_image_and_its_keyframe() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ticket = store.accept_frame(&meta("front", 10), &jpeg(1), vec![9]).unwrap();
    let seen = commit(&store, ticket, "a red mug", 1).unwrap();
    store.commit_observations(&parse(&[observation(2), observation(3)])).unwrap();
    let unknown = RecordId(77);
    let gone = store.delete_records(&[RecordId(3), unknown, seen.id, seen.id]).unwrap();
    assert_eq!(gone, [seen.id, RecordId(3)]);
    let check = |store: &Store| {
        assert_eq!((store.record(seen.id).unwrap(), store.image(ticket).unwrap()), (None, None));
        assert_eq!((ids(store), store.record_count()), (vec![2], 1));
        assert_eq!(store.keyframe("front").unwrap(), None, "frames would be merged into it");
        assert_eq!(store.sources().unwrap(), []);
    };
    check(&store);
    drop(store);
    let store = open(dir.path());
    check(&store);
    let next = store.commit_observations(&parse(&[observation(4)])).unwrap();
    assert_eq!(next[0].id, RecordId(4), "an id is used twice");
    let everything = store.delete_records(&[RecordId(2), RecordId(4)]).unwrap();
    assert_eq!(everything.len(), 2);
    drop(store);
    let store = open(dir.path());
    assert_eq!((ids(&store), store.record_count()), (vec![], 0));
    assert_eq!(store.delete_records(&[RecordId(4)]).unwrap(), []);
}

#[test]
fn too_many_at_once_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ids: Vec<RecordId> = (0..=FORGET_MAX as u64).map(RecordId).collect();
    let refused = store.delete_records(&ids).unwrap_err();
    assert!(matches!(refused, StoreError::TooMany { field: "ids", .. }), "{refused}");
}

#[test]
fn records_below_the_floor_never_count() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 6);
    let store = open(dir.path());
    let ticket = store.accept_frame(&meta("rear", 10), &jpeg(1), vec![9]).unwrap();
    let (old, new) = (write_named(&store, (1, 4), 1), write_named(&store, (5, 6), 2));
    store.delete_records(&[RecordId(2)]).unwrap();
    store.raise_floor(RecordId(5), &[old.number]).unwrap();
    assert_eq!(store.record(RecordId(4)).unwrap(), None);
    assert_eq!(store.delete_records(&[RecordId(4)]).unwrap(), []);
    assert_eq!(store.segments().unwrap(), std::slice::from_ref(&new));
    // Killed before the records are removed.
    drop(store);
    let store = open(dir.path());
    assert_eq!((ids(&store), store.record_count()), (vec![5, 6], 2));
    assert_eq!(
        (store.amendments().unwrap(), store.segments().unwrap()),
        (vec![], vec![new.clone()])
    );
    assert_eq!(store.read_segment_part(&new, GRAPH).unwrap(), blob(50_000, 2));
    assert_eq!(store.remove_below_floor().unwrap(), 0);

    commit(&store, ticket, "a blue mug", 7).unwrap();
    store.raise_floor(RecordId(99), &[new.number]).unwrap();
    while store.remove_below_floor().unwrap() > 0 {}
    assert_eq!((ids(&store), store.record_count(), chunks(&store)), (vec![], 0, 0));
    assert_eq!(store.image(FrameTicket(1)).unwrap(), None);
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.commit_observations(&parse(&[observation(9)])).unwrap()[0].id, RecordId(8));
    assert_eq!(ids(&store), [8]);
}
