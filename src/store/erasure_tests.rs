//! Erasure, from outside: secrets are planted in every kind of value, erased in every way,
//! and looked for in every byte of the directory, as it lies there and in all that the keys
//! still open.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use uuid::Uuid;

use crate::base::time::Timestamp;
use crate::base::{FrameTicket, RecordId};
use crate::store::keyring::Keyring;
use crate::store::memos::{Memo, MemoCounters, MemoUse, RecordedRecall};
use crate::store::notes::Note;
use crate::store::sealed;
use crate::store::segment_meta::PartId;
use crate::store::segments::PartWriter;
use crate::store::sessions::KeptSession;
use crate::store::state::AgentState;
use crate::store::tests::{at, jpeg, keyring, meta, observation, open, parse, space, vector};
use crate::store::{Options, Store, copy_tree};

const GROUPS: u32 = 170;
pub(super) const KEPT: &str = "kept";
pub(super) const ERASED: &str = "erased";
const OLD: &str = "old";

/// What is planted, `n` of `whose`; so long that it is nowhere by chance.
pub(super) fn secret(whose: &str, kind: &str, n: u32) -> String {
    format!("{whose}-{kind}-secret-{n:05}")
}

/// Names of what [`plant`] planted.
pub(super) const KINDS: [&str; 12] = [
    "caption", "layer", "image", "spooled", "source", "note", "area", "memo", "query", "state",
    "session", "noun",
];

pub(super) fn plant(store: &Store, whose: &str, n: u32) -> (RecordId, FrameTicket) {
    let of = |kind| secret(whose, kind, n);
    let (mut seen, embedding) = observation(n);
    (seen.caption, seen.layer) = (of("caption"), Some(of("layer")));
    let record = store.commit_observations(&parse(&[(seen, embedding)])).unwrap()[0].id;

    let source = of("source");
    let image = |kind| [jpeg(1), of(kind).into_bytes()].concat();
    let waits = meta(&source, n);
    let ticket = store.accept_frame(&waits, &image("spooled"), of("image").into_bytes()).unwrap();

    let id = Uuid::from_u128(id_of(whose, n));
    let (text, metadata) = (of("note"), "{}".to_owned());
    let note = Note { id, text, area: of("area"), metadata, saved_at: at(n), expires_at: None };
    let old = Note { text: secret(OLD, "note", n), ..note.clone() };
    store.put_notes(&[(old, vec![vector(n)])]).unwrap();
    store.put_notes(&[(note, vec![vector(n)])]).unwrap();

    let memo_id = u64::from(n) * 2 + u64::from(whose == KEPT);
    let memo = Memo {
        id: memo_id,
        content: of("memo"),
        created_at: at(n),
        source: "user".to_owned(),
        user_message: String::new(),
        message_ids: Vec::new(),
    };
    let counters = MemoCounters { next_memo: 1_000, next_recall: 1_000 };
    store.put_memo(&memo, Some(&vector(n)), counters).unwrap();
    let recall =
        RecordedRecall { number: memo_id, query: of("query"), memos: vec![memo_id], at: at(n) };
    store.put_memo_recall(&recall, &[(memo_id, MemoUse::default())], None, counters).unwrap();

    for memory in [secret(OLD, "state", n), of("state")] {
        store.put_agent_state(&of("state"), &AgentState { memory }).unwrap();
    }
    let used_at = Timestamp::from_seconds(f64::from(n)).unwrap();
    let session = KeptSession { name: of("session"), content: of("session"), used_at };
    store.put_session(&session).unwrap();
    store.keep_nouns(&[(of("noun"), vector(n))]).unwrap();
    (record, ticket)
}

fn id_of(whose: &str, n: u32) -> u128 {
    u128::from(n) * 2 + u128::from(whose == KEPT)
}

/// Erases what [`plant`] planted for [`ERASED`], one of each kind.
pub(super) fn erase(store: &Store, n: u32, (record, frame): (RecordId, FrameTicket)) {
    let of = |kind| secret(ERASED, kind, n);
    assert_eq!(store.record(record).unwrap().unwrap().caption, of("caption"));
    store.delete_records(&[record]).unwrap();
    store.delete_frames(&[frame]).unwrap();
    store.remove_notes(&[Uuid::from_u128(id_of(ERASED, n))]).unwrap();
    store.remove_memos(&[u64::from(n) * 2]).unwrap();
    store.remove_agent_state(&of("state")).unwrap();
    store.remove_sessions(&[of("session")]).unwrap();
    store.remove_nouns(&[of("noun")]).unwrap();
}

/// All files below `dir`, one after the other.
pub(super) fn bytes_below(dir: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(if path.is_dir() { bytes_below(&path) } else { fs::read(&path).unwrap() });
    }
    bytes
}

/// All that the keys open among the bytes of a directory, with the keys of entries.
pub(super) fn opened(keyring: &Keyring, bytes: &[u8]) -> Vec<u8> {
    let values = sealed::carve(keyring, bytes);
    values.flat_map(|it| [it.opened.entry, it.opened.value].concat()).collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

/// The secrets among bytes, each once.
pub(super) fn secrets_in(bytes: &[u8]) -> BTreeSet<String> {
    const MIDDLE: &[u8] = b"-secret-";
    let is_middle = |at: &usize| bytes[*at..].starts_with(MIDDLE);
    let middles = (0..bytes.len()).filter(|at| bytes[*at] == b'-').filter(is_middle);
    let spelled = |at: usize| {
        let before = bytes[..at].iter().rev();
        let before = before.take_while(|it| it.is_ascii_lowercase() || **it == b'-').count();
        let end = bytes.len().min(at + MIDDLE.len() + 5);
        let text = String::from_utf8_lossy(&bytes[at - before..end]).into_owned();
        // The letter of a kind may stand before it.
        let start = [ERASED, KEPT, OLD].iter().find_map(|whose| text.find(whose));
        text[start.unwrap_or(0)..].to_owned()
    };
    middles.map(spelled).collect()
}

/// How many of the secrets stand in plain text, and how many can be opened.
fn count(dir: &Path, whose: &str, kinds: &[&str]) -> (usize, usize) {
    let bytes = bytes_below(dir);
    let found = |found: BTreeSet<String>| {
        let all = (0..GROUPS).flat_map(|n| kinds.iter().map(move |kind| secret(whose, kind, n)));
        all.filter(|it| found.contains(it)).count()
    };
    (found(secrets_in(&bytes)), found(secrets_in(&opened(&keyring(dir), &bytes))))
}

#[test]
fn nothing_that_was_erased_can_be_read_at_once_after_a_restart_or_in_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&Options::at(dir.path().to_owned()), &space()).unwrap();
    let mut planted = Vec::new();
    for n in 0..GROUPS {
        planted.push(plant(&store, ERASED, n));
        plant(&store, KEPT, n);
    }
    let all = KINDS.len() * GROUPS as usize;
    assert_eq!(count(dir.path(), ERASED, &KINDS), (0, all), "the search finds what is there");

    for (n, ids) in (0..GROUPS).zip(planted) {
        erase(&store, n, ids);
    }
    assert_eq!(count(dir.path(), ERASED, &KINDS), (0, 0), "at once");
    assert_eq!(count(dir.path(), OLD, &["note", "state"]), (0, 0), "what was written over");
    assert_eq!(count(dir.path(), KEPT, &KINDS), (0, all), "the rest is there");

    let copy = tempfile::tempdir().unwrap();
    copy_tree(dir.path(), copy.path()).unwrap();
    assert_eq!(count(copy.path(), ERASED, &KINDS), (0, 0), "in a copy");
    drop(store);
    drop(open(dir.path()));
    assert_eq!(count(dir.path(), ERASED, &KINDS), (0, 0), "after a restart");
    assert_eq!(count(dir.path(), KEPT, &KINDS), (0, all));
}

#[test]
fn a_segment_that_is_replaced_and_one_that_nobody_named_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for n in 1..=4 {
        store.commit_observations(&parse(&[observation(n)])).unwrap();
    }
    let write = |text: &str| {
        let mut draft = store.draft_segment().unwrap();
        let part = |to: &mut PartWriter<'_>| to.write_all(text.as_bytes());
        draft.part(PartId(1), part).unwrap();
        draft.finish((RecordId(1), RecordId(4)), 4, 0).unwrap()
    };
    let readable =
        |text: &str| holds(&opened(&keyring(dir.path()), &bytes_below(dir.path())), text);
    let old = write("words of the old segment");
    store.replace_segments(&[], std::slice::from_ref(&old), &[]).unwrap();
    let new = write("words of the new segment");
    assert!(readable("words of the old segment"));
    store.replace_segments(&[old.number], &[new], &[]).unwrap();
    assert!(!readable("words of the old segment") && readable("words of the new segment"));
    write("words of a draft");
    assert!(readable("words of a draft"));
    drop(store);
    drop(open(dir.path()));
    assert!(!readable("words of a draft") && readable("words of the new segment"));
}

#[test]
fn keys_that_were_owed_when_the_process_ended_are_erased_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let state = |memory: &str| AgentState { memory: memory.to_owned() };
    store.put_agent_state("a", &state("the first state")).unwrap();
    store.put_agent_state("a", &state("the second state")).unwrap();
    let readable = |dir: &Path, text: &str| holds(&opened(&keyring(dir), &bytes_below(dir)), text);
    assert!(readable(dir.path(), "the first state"), "owed, not erased yet");
    // As a kill leaves it: the process that holds the store goes on beside its copy.
    let killed = tempfile::tempdir().unwrap();
    copy_tree(dir.path(), killed.path()).unwrap();
    drop(open(killed.path()));
    assert!(!readable(killed.path(), "the first state"));
    assert!(readable(killed.path(), "the second state"));
    drop(store);
}
