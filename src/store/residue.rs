//! Residue: what a store's directory still holds of what was erased.
//!
//! Looks through every byte of every file: for texts as they stand there, and for whole
//! encrypted values that a key still opens, in which it looks again. Reads only; the store
//! may be open in another process, whose newest writes may then be missed.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::base::RecordId;
use crate::store::StoreError;
use crate::store::keyring::master_key::{KeySource, MasterKey};
use crate::store::keyring::{KeyClass, KeyId, Keyring};
use crate::store::keys;
use crate::store::sealed::{self, Carved, Opened};

/// Bytes of a file looked through at a time. An image, the largest value, fits.
const WINDOW_BYTES: usize = 64 << 20;
/// Bytes that two windows share: values of the database are smaller.
const SHARED_BYTES: usize = 1 << 20;

/// What was erased.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erased {
    /// From the first to the last of each.
    pub records: Vec<(RecordId, RecordId)>,
    pub notes: Vec<Uuid>,
    pub memos: Vec<u64>,
    /// What nothing may say any more; no empty ones.
    pub texts: Vec<String>,
}

/// What was looked through, and what is left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Residue {
    pub files: u64,
    pub bytes: u64,
    /// Encrypted values that a key opens.
    pub opened: u64,
    pub found: Vec<Found>,
}

/// A place that still holds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub file: PathBuf,
    pub what: String,
}

/// Looks for what was erased in all files of the store in `dir`.
pub fn search(dir: &Path, key: &KeySource, erased: &Erased) -> Result<Residue, StoreError> {
    let master = MasterKey::read(key, dir)?;
    let keyring = match &master {
        Some(master) => Keyring::open(dir, master)?,
        None => None,
    };
    let keyring = keyring.ok_or_else(|| StoreError::Foreign {
        path: dir.to_owned(),
        reason: "there is no keyring of engram's".to_owned(),
    })?;
    let mut residue = Residue::default();
    let mut files = vec![dir.to_owned()];
    while let Some(path) = files.pop() {
        let io = |error: std::io::Error| StoreError::io("look through", &path, &error);
        match look(&path, &mut files, &keyring, erased, &mut residue) {
            // What went since its directory was listed holds nothing: the daemon may be at work.
            Err(error) if error.kind() == ErrorKind::NotFound && path != dir => {}
            looked => looked.map_err(io)?,
        }
    }
    residue.found.sort_by(|a, b| (&a.file, &a.what).cmp(&(&b.file, &b.what)));
    residue.found.dedup();
    Ok(residue)
}

/// Looks through one file, or lists a directory into `files`.
fn look(
    path: &Path,
    files: &mut Vec<PathBuf>,
    keyring: &Keyring,
    erased: &Erased,
    residue: &mut Residue,
) -> std::io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            files.push(entry?.path());
        }
    } else if kind.is_file() {
        look_through(path, keyring, erased, residue)?;
        residue.files += 1;
    }
    Ok(())
}

fn look_through(
    path: &Path,
    keyring: &Keyring,
    erased: &Erased,
    residue: &mut Residue,
) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let mut window = Vec::new();
    loop {
        let room = WINDOW_BYTES.saturating_sub(window.len()) as u64;
        let read = file.by_ref().take(room).read_to_end(&mut window)?;
        residue.bytes += read as u64;
        let mut note = |what: String| residue.found.push(Found { file: path.to_owned(), what });
        for text in texts_in(&window, erased) {
            note(format!("{text:?} in plain text"));
        }
        for Carved { id, opened, .. } in sealed::carve(keyring, &window) {
            residue.opened += 1;
            for what in left_in(id, &opened, erased) {
                note(format!("{what}, in {}", keys::describe(&opened.entry)));
            }
        }
        if read == 0 || window.len() < WINDOW_BYTES {
            return Ok(());
        }
        window.drain(..WINDOW_BYTES - SHARED_BYTES);
    }
}

/// What an opened value holds of what was erased.
fn left_in(id: KeyId, opened: &Opened, erased: &Erased) -> Vec<String> {
    let Opened { entry, value, .. } = opened;
    let mut left: Vec<String> = Vec::new();
    let is_erased = |(first, last): &(RecordId, RecordId)| (first.0..=last.0).contains(&id.number);
    if id.class == KeyClass::Record && erased.records.iter().any(is_erased) {
        left.push(format!("record {}", id.number));
    }
    let note = keys::uuid(entry).filter(|it| erased.notes.contains(it));
    left.extend(note.map(|note| format!("note {note}")));
    // What is known of its use goes with it.
    let of_memo = |it: &&u64| *entry == keys::memo(**it) || *entry == keys::memo_use(**it);
    left.extend(erased.memos.iter().find(of_memo).map(|memo| format!("memo {memo}")));
    let texts = texts_in(entry, erased).chain(texts_in(value, erased));
    left.extend(texts.map(|text| format!("{text:?}")));
    left
}

fn texts_in<'a>(bytes: &'a [u8], erased: &'a Erased) -> impl Iterator<Item = &'a String> {
    erased.texts.iter().filter(|text| memchr::memmem::find(bytes, text.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{at, fill, open};

    fn erased(records: &[u64], texts: &[&str]) -> Erased {
        Erased {
            records: records.iter().map(|id| (RecordId(*id), RecordId(*id))).collect(),
            notes: Vec::new(),
            memos: Vec::new(),
            texts: texts.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn what_is_there_is_found_and_what_was_erased_is_not() {
        let dir = tempfile::tempdir().unwrap();
        fill(dir.path(), 3);
        let find = |erased: &Erased| {
            let residue = search(dir.path(), &KeySource::InStore, erased).unwrap();
            assert!(residue.files > 3 && residue.bytes > 1_000 && residue.opened > 6);
            residue.found.into_iter().map(|it| it.what).collect::<Vec<_>>()
        };
        let all = erased(&[2], &["a mug at 2", "a fork"]);
        let there = find(&all);
        assert!(there.iter().any(|it| it == "record 2, in record 2"), "{there:?}");
        assert!(there.iter().any(|it| it == "\"a mug at 2\", in record 2"), "{there:?}");
        assert!(!there.iter().any(|it| it.contains("fork")), "{there:?}");
        open(dir.path()).delete_records(&[RecordId(2)]).unwrap();
        assert_eq!(find(&all), Vec::<String>::new());
        assert!(!find(&erased(&[1], &[])).is_empty());
    }

    #[test]
    fn plain_text_and_a_note_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let id = Uuid::from_u128(7);
        let note = crate::store::notes::Note {
            id,
            text: "the door code".to_owned(),
            area: String::new(),
            metadata: "{}".to_owned(),
            saved_at: at(1),
            expires_at: None,
        };
        store.put_notes(&[(note, Vec::new())]).unwrap();
        let memo = crate::store::memos::Memo {
            id: 7,
            content: "a memo".to_owned(),
            created_at: at(1),
            source: String::new(),
            user_message: String::new(),
            message_ids: Vec::new(),
        };
        let counters = crate::store::memos::MemoCounters { next_memo: 8, next_recall: 1 };
        store.put_memo(&memo, None, counters).unwrap();
        fs::write(dir.path().join("notes.txt"), "4711 is the door code").unwrap();
        let erased = Erased {
            notes: vec![id],
            memos: vec![6, 7],
            ..erased(&[], &["4711", "the door code"])
        };
        let residue = search(dir.path(), &KeySource::InStore, &erased).unwrap();
        let found: Vec<&str> = residue.found.iter().map(|it| it.what.as_str()).collect();
        let own = format!("note {id}, in note {id}");
        let inside = format!("\"the door code\", in note {id}");
        let plain = ["\"4711\" in plain text", "\"the door code\" in plain text"];
        for expected in [&own, &inside, "memo 7, in memo 7"].into_iter().chain(plain) {
            assert!(found.contains(&expected), "{expected}: {found:?}");
        }
        assert!(!found.iter().any(|it| it.starts_with("memo 6")), "{found:?}");
        store.remove_memos(&[7]).unwrap();
        let residue = search(dir.path(), &KeySource::InStore, &erased).unwrap();
        assert!(!residue.found.iter().any(|it| it.what.contains("memo")), "{residue:?}");
    }

    #[test]
    fn a_directory_without_a_keyring_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let refused = search(dir.path(), &KeySource::InStore, &Erased::default()).unwrap_err();
        assert!(matches!(refused, StoreError::Foreign { .. }), "{refused}");
    }
}
