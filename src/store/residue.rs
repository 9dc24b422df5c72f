//! Residue: what a store's directory still holds of what was erased.
//!
//! Looks through every byte of every file: for texts as they stand there, and for whole
//! encrypted values that a key still opens, in which it looks again. Reads only; the store
//! may be open in another process, whose newest writes may then be missed.
//!
//! What fingerprints find in a value that a key opens counts where it is what the memory made for
//! itself, of the index or a session, and no other record, note or memo says the same: two records
//! may have one caption, and only one of them was erased.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::base::RecordId;
use crate::store::StoreError;
use crate::store::fingerprints::{Fingerprints, Sorted};
use crate::store::keyring::master_key::{KeySource, MasterKey};
use crate::store::keyring::{KeyClass, KeyId, Keyring};
use crate::store::keys;
use crate::store::sealed::{self, Carved, Opened};

/// Bytes of a file looked through at a time, and of memory that it takes. An image, the largest
/// value, fits with the settings as they come.
const WINDOW_BYTES: usize = 32 << 20;
/// Bytes that two windows share: values of the database are smaller.
const SHARED_BYTES: usize = 1 << 20;

/// What was erased.
#[derive(Debug, Clone, Default)]
pub struct Erased {
    /// From the first to the last of each.
    pub records: Vec<(RecordId, RecordId)>,
    pub notes: Vec<Uuid>,
    pub memos: Vec<u64>,
    /// Whose images went.
    pub frames: BTreeSet<u64>,
    /// What nothing may say any more; no empty ones.
    pub texts: Vec<String>,
    /// Of what was in all of them, where somebody took them before.
    pub prints: Fingerprints,
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
    let whole = search_beside(dir, key, erased, &mut || true)?;
    Ok(whole.unwrap_or_default())
}

/// As [`search`], asking between any two files or windows of one whether to go on: who is asked
/// may wait. `None` where not.
pub fn search_beside(
    dir: &Path,
    key: &KeySource,
    erased: &Erased,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Residue>, StoreError> {
    let master = MasterKey::read(key, dir)?;
    let keyring = match &master {
        Some(master) => Keyring::open(dir, master)?,
        None => None,
    };
    let keyring = keyring.ok_or_else(|| StoreError::Foreign {
        path: dir.to_owned(),
        reason: "there is no keyring of engram's".to_owned(),
    })?;
    let mut search = Search::of(erased, keyring);
    let mut files = vec![dir.to_owned()];
    while let Some(path) = files.pop() {
        let io = |error: std::io::Error| StoreError::io("look through", &path, &error);
        match search.look(&path, &mut files, goes_on) {
            // What went since its directory was listed holds nothing: the daemon may be at work.
            Err(error) if error.kind() == ErrorKind::NotFound && path != dir => {}
            Ok(false) => return Ok(None),
            looked => drop(looked.map_err(io)?),
        }
    }
    Ok(Some(search.end()))
}

/// A search under way.
struct Search<'a> {
    erased: &'a Erased,
    prints: Sorted<'a>,
    keyring: Keyring,
    residue: Residue,
    /// Runs of fingerprints that what is not erased has as well.
    living: BTreeSet<usize>,
    /// Runs in what the memory made for itself, and where.
    derived: Vec<(PathBuf, &'static str, BTreeSet<usize>)>,
}

impl<'a> Search<'a> {
    fn of(erased: &'a Erased, keyring: Keyring) -> Self {
        let prints = erased.prints.sorted();
        let (living, derived) = (BTreeSet::new(), Vec::new());
        Self { erased, prints, keyring, residue: Residue::default(), living, derived }
    }

    /// Looks through one file, or lists a directory into `files`; `false` where it does not go on.
    fn look(
        &mut self,
        path: &Path,
        files: &mut Vec<PathBuf>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<bool> {
        let kind = fs::symlink_metadata(path)?.file_type();
        if kind.is_dir() {
            for entry in fs::read_dir(path)? {
                files.push(entry?.path());
            }
        } else if kind.is_file() {
            if !self.look_through(path, goes_on)? {
                return Ok(false);
            }
            self.residue.files += 1;
        }
        Ok(true)
    }

    fn look_through(
        &mut self,
        path: &Path,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<bool> {
        let mut file = File::open(path)?;
        let mut window = Vec::new();
        loop {
            let room = WINDOW_BYTES.saturating_sub(window.len()) as u64;
            let read = file.by_ref().take(room).read_to_end(&mut window)?;
            self.residue.bytes += read as u64;
            self.look_at(path, &window);
            if !goes_on() {
                return Ok(false);
            }
            if read == 0 || window.len() < WINDOW_BYTES {
                return Ok(true);
            }
            window.drain(..WINDOW_BYTES - SHARED_BYTES);
        }
    }

    fn look_at(&mut self, path: &Path, window: &[u8]) {
        let Self { erased, prints, keyring, residue, living, derived } = self;
        let mut note = |what: String| residue.found.push(Found { file: path.to_owned(), what });
        for text in texts_in(window, erased) {
            note(format!("{text:?} in plain text"));
        }
        for thing in prints.things(&prints.in_bytes(window)) {
            note(format!("{thing} in plain text"));
        }
        for Carved { id, opened, .. } in sealed::carve(keyring, window) {
            residue.opened += 1;
            let left = left_in(id, &opened, erased);
            let is_erased = !left.is_empty();
            for what in left {
                note(format!("{what}, in {}", keys::describe(&opened.entry)));
            }
            let mut runs = prints.in_bytes(&opened.value);
            runs.extend(prints.in_bytes(&opened.entry));
            match made_of(&opened.entry) {
                _ if runs.is_empty() => {}
                Some(kind) => derived.push((path.to_owned(), kind, runs)),
                None if is_erased => {}
                None => living.append(&mut runs),
            }
        }
    }

    fn end(self) -> Residue {
        let Self { prints, mut residue, living, derived, .. } = self;
        for (file, kind, runs) in derived {
            let runs: BTreeSet<usize> = runs.difference(&living).copied().collect();
            let things = prints.things(&runs);
            let found = things.into_iter().map(|thing| format!("{thing}, in {kind}"));
            residue.found.extend(found.map(|what| Found { file: file.clone(), what }));
        }
        residue.found.sort_by(|a, b| (&a.file, &a.what).cmp(&(&b.file, &b.what)));
        residue.found.dedup();
        residue
    }
}

/// What the memory made for itself of what it was told, without any name in it.
fn made_of(entry: &[u8]) -> Option<&'static str> {
    let kinds = [
        (keys::CHUNKS, "a segment of the index"),
        (keys::NOUNS, "a noun"),
        (keys::SESSIONS, "a session"),
        (keys::MEMO_RECALLS, "a recall of a memo"),
    ];
    kinds.into_iter().find(|(kind, _)| entry.starts_with(kind)).map(|(_, name)| name)
}

/// What an opened value holds of what was erased.
fn left_in(id: KeyId, opened: &Opened, erased: &Erased) -> Vec<String> {
    let Opened { entry, value, .. } = opened;
    let mut left: Vec<String> = Vec::new();
    let is_erased = |(first, last): &(RecordId, RecordId)| (first.0..=last.0).contains(&id.number);
    if id.class == KeyClass::Record && erased.records.iter().any(is_erased) {
        left.push(format!("record {}", id.number));
    }
    if id.class == KeyClass::Frame && erased.frames.contains(&id.number) {
        left.push(format!("frame {}", id.number));
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
    use crate::store::fingerprints::FingerprintKey;
    use crate::store::sessions::KeptSession;
    use crate::store::tests::{at, fill, observation, open, parse};

    fn erased(records: &[u64], texts: &[&str]) -> Erased {
        Erased {
            records: records.iter().map(|id| (RecordId(*id), RecordId(*id))).collect(),
            texts: texts.iter().map(|it| (*it).to_owned()).collect(),
            ..Erased::default()
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
    fn by_fingerprints_it_is_found_in_plain_and_in_sessions_unless_another_says_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let say = |n: u32, caption: &str| {
            let (mut seen, vector) = observation(n);
            caption.clone_into(&mut seen.caption);
            store.commit_observations(&parse(&[(seen, vector)])).unwrap();
        };
        say(1, "the key is under the third flowerpot");
        say(2, "two people eat breakfast in the kitchen");
        say(3, "two people eat breakfast in the kitchen");
        let captions =
            ["the key is under the third flowerpot", "two people eat breakfast in the kitchen"];
        let session =
            KeptSession { name: "s".to_owned(), content: captions.join(" and "), used_at: at(1) };
        store.put_session(&session).unwrap();
        let mut erased = erased(&[1, 2], &[]);
        erased.prints = Fingerprints::under(FingerprintKey::random().unwrap(), 0);
        assert!(erased.prints.take_text("text of #1", captions[0]));
        assert!(erased.prints.take_text("text of #2", captions[1]));
        store.delete_records(&[RecordId(1), RecordId(2)]).unwrap();
        let find = || {
            let found = search(dir.path(), &KeySource::InStore, &erased).unwrap().found;
            found.into_iter().map(|it| it.what).collect::<Vec<_>>()
        };
        // Of the second, the third record says the same.
        assert_eq!(find(), ["text of #1, in a session"]);
        store.remove_sessions(&["s".to_owned()]).unwrap();
        assert_eq!(find(), [""; 0]);
        fs::write(dir.path().join("stray.log"), format!("caption={}", captions[1])).unwrap();
        assert_eq!(find(), ["text of #2 in plain text"]);
        let stopped = search_beside(dir.path(), &KeySource::InStore, &erased, &mut || false);
        assert_eq!(stopped, Ok(None));
    }

    #[test]
    fn a_directory_without_a_keyring_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let refused = search(dir.path(), &KeySource::InStore, &Erased::default()).unwrap_err();
        assert!(matches!(refused, StoreError::Foreign { .. }), "{refused}");
    }
}
