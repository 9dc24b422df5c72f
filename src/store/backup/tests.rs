//! Backups from outside: what is restored is compared with what was there, a damaged backup
//! with a whole one, and what was erased is looked for in every byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use proptest::prelude::{any, prop, prop_assert_eq, proptest};
use uuid::Uuid;

use crate::base::stop::Stop;
use crate::base::time::Timestamp;
use crate::base::{FrameTicket, RecordId};
use crate::store::backup::contents::Contents;
use crate::store::backup::make::{BackupReport, make};
use crate::store::backup::restore::{check, restore, summarize};
use crate::store::backup::{Answer, BackupError, Question, made};
use crate::store::erasure_tests::{
    ERASED, KEPT, KINDS, bytes_below, erase, opened, plant, secret, secrets_in,
};
use crate::store::keyring::Keyring;
use crate::store::keyring::master_key::{KeySource, MasterKey};
use crate::store::notes::Note;
use crate::store::state::AgentState;
use crate::store::tests::{
    all, at, jpeg, meta, observation, open, options, parse, raw, space, vector,
};
use crate::store::{CheckedStore, Options, Store, StoreError, copy_tree};

/// A state directory and one for backups, in a directory that goes with the test.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn backup(&self) -> PathBuf {
        self.dir.path().join("backup")
    }

    fn other(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn store(&self) -> Store {
        Store::open(&Options::at(self.state()), &space()).unwrap()
    }

    fn restore(&self, name: &str) -> PathBuf {
        let to = self.other(name);
        restore(&self.backup(), &Options::at(to.clone())).unwrap();
        to
    }
}

/// Makes a backup as through a socket.
fn back_up(store: &Store, dir: &Path) -> Result<BackupReport, BackupError> {
    let mut source = store.begin_backup();
    make(dir, at(1_000), &mut |question| {
        let question = Question::from_bytes(&question.to_bytes().unwrap()).unwrap();
        let answer = source.answer(question)?;
        Answer::from_bytes(&answer.to_bytes().unwrap())
    })
}

/// Records, notes and the like, and frames that wait, from `from` on.
fn fill(store: &Store, numbers: std::ops::Range<u32>) {
    for n in numbers {
        plant(store, KEPT, n);
    }
}

/// Every entry of the database as it lies there, but for what counts the others.
fn entries(state: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let db = raw(state);
    let entries = db.iter().map(Result::unwrap).map(|(key, value)| (key.to_vec(), value.to_vec()));
    entries.filter(|(key, _)| !key.starts_with(b"h")).collect()
}

fn files_below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

fn images(store: &Store) -> BTreeMap<u64, Option<Vec<u8>>> {
    (1..60).map(|ticket| (ticket, store.image(FrameTicket(ticket)).unwrap())).collect()
}

#[test]
fn what_is_restored_is_what_was_there() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..20);
    fs::create_dir(place.state().join("audit")).unwrap();
    fs::write(place.state().join("audit/2026-11-22-0001.jsonl"), "{}\n").unwrap();
    let report = back_up(&store, &place.backup()).unwrap();
    assert_eq!(report.images, 20);
    assert!(report.has_key && report.damaged_images.is_empty());
    assert!(report.kinds.contains(&("records", 20)) && report.kinds.contains(&("notes", 20)));
    let newest = made::newest(&place.state()).unwrap();
    assert_eq!((newest.at, newest.place), (at(1_000), place.backup().display().to_string()));
    let there = (all(&store), images(&store));
    drop(store);

    check(&place.backup()).unwrap();
    let restored = place.restore("restored");
    // Opening a store writes some of its own; these have not been opened since.
    let audit = fs::read(restored.join("audit/2026-11-22-0001.jsonl")).unwrap();
    assert_eq!(audit, b"{}\n");
    for (path, _) in files_below(&restored) {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o077;
        // The others are made under the umask of the command.
        let is_own = !["db", "lock"].iter().any(|it| path.starts_with(restored.join(it)));
        assert!(mode == 0 || !is_own, "{path:?}");
    }
    assert!(!restored.join("restoring").exists());
    let store = Store::open(&Options::at(restored.clone()), &space()).unwrap();
    assert_eq!((all(&store), images(&store)), there);
    assert_eq!(store.problems(), Vec::<String>::new());
    drop(store);
    let (ours, theirs) = (entries(&restored), entries(&place.state()));
    let differ: Vec<_> =
        theirs.iter().filter(|(key, value)| ours.get(*key) != Some(value)).collect();
    let kinds: BTreeSet<u8> = differ.iter().map(|(key, _)| key[0]).collect();
    assert!(kinds.iter().all(|kind| b"bz".contains(kind)), "{kinds:?}");
}

#[test]
fn only_what_is_new_is_copied_and_what_is_gone_is_removed() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..30);
    // A segment's worth of entries of one kind, of which few change.
    let many: Vec<_> = (100..3_100).map(observation).collect();
    store.commit_observations(&parse(&many)).unwrap();
    let first = back_up(&store, &place.backup()).unwrap();
    assert_eq!(first.files_written, first.files);
    let again = back_up(&store, &place.backup()).unwrap();
    assert_eq!((again.files_written, again.files_removed, again.files), (0, 0, first.files));

    let seen = meta("new", 5_000);
    store.accept_frame(&seen, &jpeg(9), vec![1]).unwrap();
    store.commit_observations(&parse(&[observation(5_001)])).unwrap();
    let dropped = store.scan().map(Result::unwrap).find_map(|(record, _)| record.image);
    assert_eq!(dropped, None);
    let frame = store.next_pending(None).unwrap().unwrap().ticket;
    store.delete_frames(&[frame]).unwrap();
    let third = back_up(&store, &place.backup()).unwrap();
    assert!((4..14).contains(&third.files_written), "{third:?}");
    assert!(third.files_written * 2 < third.files, "{third:?}");
    assert!(third.bytes_written * 3 < third.bytes, "{third:?}");
    assert_eq!(third.images, first.images);
    assert!(third.files_removed > 0);
    drop(store);
    let restored = open_any(&place.restore("restored"));
    assert_eq!(all(&restored), all(&place.store()));
}

/// Ends a writer also where the test fails.
struct Ends<'a>(&'a Stop);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.ask();
    }
}

fn open_any(dir: &Path) -> Store {
    Store::open(&Options::at(dir.to_owned()), &space()).unwrap()
}

#[test]
fn a_backup_is_of_one_moment_while_others_write() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..20);
    let many: Vec<_> = (100..2_000).map(observation).collect();
    store.commit_observations(&parse(&many)).unwrap();
    let stop = Stop::default();
    let ids = [Uuid::from_u128(901), Uuid::from_u128(902)];
    let note = |id: Uuid, n: u32| {
        let (text, metadata) = (format!("round {n}"), "{}".to_owned());
        let note =
            Note { id, text, area: String::new(), metadata, saved_at: at(n), expires_at: None };
        (note, vec![vector(n)])
    };
    let state = |n: u32| AgentState { memory: format!("{{\"n\": {n}}}") };
    thread::scope(|scope| {
        let write = || {
            for n in 1.. {
                if stop.is_asked() {
                    return;
                }
                // Together, and one after the other.
                store.put_notes(&ids.map(|id| note(id, n))).unwrap();
                store.put_agent_state("first", &state(n)).unwrap();
                store.put_agent_state("second", &state(n)).unwrap();
                let seen = store.commit_observations(&parse(&[observation(10_000 + n)])).unwrap();
                if n % 3 == 0 {
                    store.delete_records(&[seen[0].id]).unwrap();
                }
                store.erase_owed().unwrap();
            }
        };
        scope.spawn(write);
        let _ends = Ends(&stop);
        for round in 0..6 {
            back_up(&store, &place.backup()).unwrap();
            let restored = open_any(&place.restore(&format!("restored-{round}")));
            let texts: BTreeMap<Uuid, String> =
                restored.notes().map(|it| it.unwrap().0).map(|it| (it.id, it.text)).collect();
            assert_eq!(texts.get(&ids[0]), texts.get(&ids[1]));
            let read = |agent| restored.agent_state(agent).unwrap();
            let number = |agent| {
                let memory = read(agent)?.memory;
                memory.trim_matches(|it: char| !it.is_ascii_digit()).parse::<u64>().ok()
            };
            if let (Some(first), Some(second)) = (number("first"), number("second")) {
                assert!(first == second || first == second + 1, "{first} {second}");
            }
            assert_eq!(restored.record_count(), all(&restored).len() as u64);
            assert!(restored.record_count() >= 1_920);
            assert_eq!(restored.problems(), Vec::<String>::new());
        }
    });
}

#[test]
fn what_changes_by_more_than_a_pack_holds_is_in_the_backup() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..3);
    let note = |n: u32| {
        // No two alike, so that packing makes them no smaller.
        let text = (0..500).map(|it| hash_of(n, it).to_string()).collect::<Vec<_>>().concat();
        let id = Uuid::from_u128(u128::from(n) + 10_000);
        let (area, metadata) = (String::new(), "{}".to_owned());
        (Note { id, text, area, metadata, saved_at: at(n), expires_at: None }, vec![vector(n)])
    };
    let many: Vec<_> = (0..1_200).map(note).collect();
    let mut source = store.begin_backup();
    let mut is_written = false;
    make(&place.backup(), at(1_000), &mut |question| {
        if question == Question::Changes && !is_written {
            is_written = true;
            store.put_notes(&many).unwrap();
        }
        source.answer(question)
    })
    .unwrap();
    assert!(is_written);
    let restored = open_any(&place.restore("restored"));
    let texts: BTreeMap<Uuid, String> =
        restored.notes().map(|it| it.unwrap().0).map(|it| (it.id, it.text)).collect();
    for (note, _) in &many {
        assert_eq!(texts.get(&note.id), Some(&note.text));
    }
    assert_eq!(restored.problems(), Vec::<String>::new());
}

fn hash_of(n: u32, it: u64) -> u64 {
    use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
    BuildHasherDefault::<DefaultHasher>::default().hash_one((n, it))
}

/// Of each kind, as many to be kept as to be erased.
const SECRETS: u32 = 40;

/// Secrets that can be read of a backup with the store's key.
fn readable(backup: &Path, whose: &str) -> usize {
    let contents = Contents::read(backup).unwrap().unwrap();
    let keys = tempfile::tempdir().unwrap();
    for (name, bytes) in &contents.files {
        fs::write(keys.path().join(name), bytes).unwrap();
    }
    let master = MasterKey::read(&KeySource::InStore, keys.path()).unwrap().unwrap();
    let keyring = Keyring::open(keys.path(), &master).unwrap().unwrap();
    let bytes = bytes_below(backup);
    let mut found = secrets_in(&bytes);
    found.extend(secrets_in(&opened(&keyring, &bytes)));
    let all = (0..SECRETS).flat_map(|n| KINDS.map(|kind| secret(whose, kind, n)));
    all.filter(|it| found.contains(it)).count()
}

#[test]
fn what_was_erased_is_in_no_later_backup() {
    let place = Place::new();
    let store = place.store();
    let mut planted = Vec::new();
    for n in 0..SECRETS {
        planted.push(plant(&store, ERASED, n));
        plant(&store, KEPT, n);
    }
    back_up(&store, &place.backup()).unwrap();
    let all = KINDS.len() * SECRETS as usize;
    assert_eq!(readable(&place.backup(), ERASED), all, "the search finds what is there");
    for (n, ids) in (0..SECRETS).zip(planted) {
        erase(&store, n, ids);
    }
    // Before it is named, the new backup lies beside the old one; then nothing of that is left.
    back_up(&store, &place.backup()).unwrap();
    assert_eq!(readable(&place.backup(), ERASED), 0);
    assert_eq!(readable(&place.backup(), KEPT), all);
    back_up(&store, &place.other("elsewhere")).unwrap();
    assert_eq!(readable(&place.other("elsewhere"), ERASED), 0);
    drop(store);
    let restored = place.restore("restored");
    drop(open_any(&restored));
    let bytes = bytes_below(&restored);
    let keyring = crate::store::tests::keyring(&restored);
    let mut found = secrets_in(&bytes);
    found.extend(secrets_in(&opened(&keyring, &bytes)));
    assert_eq!(found.iter().filter(|it| it.starts_with(ERASED)).count(), 0);
}

#[test]
fn every_damage_is_named_and_nothing_is_restored() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..4);
    back_up(&store, &place.backup()).unwrap();
    drop(store);
    let files = files_below(&place.backup());
    assert!(files.len() > 12, "{}", files.len());
    let mut refused = 0;
    for (path, whole) in &files {
        let damages: [(&str, Option<Vec<u8>>); 5] = [
            ("deleted", None),
            ("emptied", Some(Vec::new())),
            ("cut", Some(whole[..whole.len() / 2].to_vec())),
            ("flipped", Some(flipped(whole, whole.len() / 2))),
            ("flipped at its end", Some(flipped(whole, whole.len() - 1))),
        ];
        for (damage, bytes) in damages {
            match bytes {
                Some(bytes) => fs::write(path, bytes).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
            let to = place.other("restored");
            let restored = restore(&place.backup(), &Options::at(to.clone()));
            // It says whose it is; what it holds is in the others.
            if path.ends_with("backup/backup") {
                restored.unwrap();
                fs::remove_dir_all(&to).unwrap();
            } else {
                let error = restored.unwrap_err().to_string();
                let name = path.file_name().unwrap().to_str().unwrap();
                let is_named = error.contains(name) || error.contains("there is no backup");
                assert!(is_named, "{name} {damage}: {error}");
                assert!(!to.exists(), "{name} {damage}");
                check(&place.backup()).unwrap_err();
                refused += 1;
            }
            fs::write(path, whole).unwrap();
        }
    }
    assert_eq!(refused, (files.len() - 1) * 5);
    check(&place.backup()).unwrap();
    // What is damaged is made anew where the store is still there.
    // All but the one that says whose it is.
    for (path, whole) in files.iter().filter(|(path, _)| !path.ends_with("backup/backup")) {
        fs::write(path, flipped(whole, whole.len() / 3)).unwrap();
    }
    back_up(&place.store(), &place.backup()).unwrap();
    check(&place.backup()).unwrap();
}

#[test]
fn a_backup_that_names_files_outside_of_it_is_refused() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..1);
    fs::create_dir(place.state().join("audit")).unwrap();
    fs::write(place.state().join("audit/2026-11-22-0001.jsonl"), "{}\n").unwrap();
    back_up(&store, &place.backup()).unwrap();
    let outside = place.other("outside");
    let mut contents = Contents::read(&place.backup()).unwrap().unwrap();
    for name in ["../../outside", outside.to_str().unwrap(), ".."] {
        contents.audit[0].0 = name.to_owned();
        contents.write(&place.backup()).unwrap();
        let to = Options::at(place.other("restored"));
        let refused = restore(&place.backup(), &to).unwrap_err().to_string();
        assert!(refused.contains("names files outside of it"), "{name}: {refused}");
        assert!(!outside.exists());
    }
}

fn flipped(whole: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    bytes[at] ^= 4;
    bytes
}

#[test]
fn a_backup_that_is_cut_short_leaves_the_one_before() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..6);
    back_up(&store, &place.backup()).unwrap();
    let before = summarize(&place.backup()).unwrap();
    fill(&store, 6..9);
    store.delete_records(&[RecordId(1)]).unwrap();
    // Cut at each question, once with an error and once as by a kill, which cleans nothing up.
    let mut questions = 0;
    for most in 1.. {
        let mut source = store.begin_backup();
        let mut asked = 0;
        let copy = place.other("killed");
        let made = make(&place.backup(), at(2_000), &mut |question| {
            asked += 1;
            if asked > most {
                drop(fs::remove_dir_all(&copy));
                copy_tree(&place.backup(), &copy).unwrap();
                return Err(BackupError::Source("cut short".into()));
            }
            source.answer(question)
        });
        questions = most;
        // The last question only notes that it is there.
        let (Err(_), true) = (made, copy.exists()) else { break };
        for dir in [&place.backup(), &copy] {
            check(dir).unwrap();
            assert_eq!(summarize(dir).unwrap(), before, "after {most} questions");
        }
        fs::remove_dir_all(&copy).unwrap();
    }
    assert!(questions > 20, "{questions}");
    let restored = open_any(&place.restore("restored"));
    assert_eq!(restored.record(RecordId(1)).unwrap(), None);
    assert_eq!(all(&restored), all(&store));
}

#[test]
fn a_directory_that_is_none_of_this_stores_is_left_alone() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..2);
    let refuse = |dir: &Path| back_up(&store, dir).unwrap_err().to_string();
    let file = place.other("file");
    fs::write(&file, "theirs").unwrap();
    assert!(refuse(&file).contains("this is a file"));
    let foreign = place.other("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("letter.txt"), "theirs").unwrap();
    assert!(refuse(&foreign).contains("not empty and no backup"));
    fs::write(foreign.join("backup"), "theirs").unwrap();
    assert!(refuse(&foreign).contains("none of engram's, or damaged"));
    let others = Store::open(&options(&place.other("others")), &space()).unwrap();
    back_up(&others, &place.other("others-backup")).unwrap();
    let before = files_below(&place.other("others-backup"));
    assert!(refuse(&place.other("others-backup")).contains("backup of another store"));
    assert_eq!(files_below(&place.other("others-backup")), before);
    assert_eq!(fs::read(&file).unwrap(), b"theirs");
    assert_eq!(fs::read(foreign.join("letter.txt")).unwrap(), b"theirs");

    // What is not named as ours stays, and what is linked elsewhere.
    back_up(&store, &place.backup()).unwrap();
    fs::write(place.backup().join("packs/letter.txt"), "theirs").unwrap();
    fs::write(place.backup().join("frames/0/7.frame"), "theirs").unwrap();
    back_up(&store, &place.backup()).unwrap();
    assert!(place.backup().join("packs/letter.txt").exists());
    assert!(place.backup().join("frames/0/7.frame").exists());
    fs::rename(place.backup().join("packs"), place.other("moved")).unwrap();
    std::os::unix::fs::symlink(place.other("moved"), place.backup().join("packs")).unwrap();
    assert!(refuse(&place.backup()).contains("no directory of a backup's"));
}

#[test]
fn the_directory_is_this_users_alone() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..2);
    fs::create_dir(place.backup()).unwrap();
    fs::set_permissions(place.backup(), fs::Permissions::from_mode(0o755)).unwrap();
    back_up(&store, &place.backup()).unwrap();
    let mut dirs = vec![place.backup()];
    while let Some(dir) = dirs.pop() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&dir), 0o700, "{dir:?}");
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{path:?}");
            }
        }
    }
}

#[test]
fn nothing_is_restored_over_a_store_and_what_was_cut_short_begins_anew() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..3);
    back_up(&store, &place.backup()).unwrap();
    let refuse = |dir: &Path| {
        restore(&place.backup(), &Options::at(dir.to_owned())).unwrap_err().to_string()
    };
    assert!(refuse(&place.state()).contains("in use"));
    drop(store);
    let before = entries(&place.state());
    assert!(refuse(&place.state()).contains("there is something already"));
    assert_eq!(entries(&place.state()), before);

    let half = place.other("half");
    fs::create_dir_all(half.join("frames/0")).unwrap();
    fs::write(half.join("frames/0/1.frame"), "half").unwrap();
    fs::set_permissions(&half, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(refuse(&half).contains("there is something already"));
    let mode = fs::metadata(&half).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o755, "of a directory that is somebody else's");
    fs::write(half.join("restoring"), "").unwrap();
    let refused = CheckedStore::open(Options::at(half.clone())).unwrap_err();
    assert!(matches!(&refused, StoreError::Foreign { .. }), "{refused}");
    assert!(refused.to_string().contains("restore into this directory was cut short"));
    restore(&place.backup(), &Options::at(half.clone())).unwrap();
    assert_eq!(all(&open_any(&half)), all(&place.store()));
    fs::create_dir(place.other("empty")).unwrap();
    restore(&place.other("empty"), &Options::at(half)).unwrap_err();
}

#[test]
fn a_key_that_lies_elsewhere_is_not_in_the_backup() {
    let place = Place::new();
    let key = place.other("secret");
    fs::write(&key, [7; 40]).unwrap();
    let with = |dir: PathBuf, key: &Path| Options {
        key: KeySource::File(key.to_owned()),
        ..Options::at(dir)
    };
    let store = Store::open(&with(place.state(), &key), &space()).unwrap();
    fill(&store, 0..3);
    assert!(!back_up(&store, &place.backup()).unwrap().has_key);
    drop(store);
    check(&place.backup()).unwrap();
    let to = place.other("restored");
    let refused = restore(&place.backup(), &Options::at(to.clone())).unwrap_err();
    assert!(refused.to_string().contains("set store.key"), "{refused}");
    let wrong = place.other("wrong");
    fs::write(&wrong, [8; 40]).unwrap();
    let refused = restore(&place.backup(), &with(to.clone(), &wrong)).unwrap_err();
    assert!(refused.to_string().contains("does not open the backup's keyring"), "{refused}");
    restore(&place.backup(), &with(to.clone(), &key)).unwrap();
    let store = Store::open(&with(to, &key), &space()).unwrap();
    assert_eq!(store.record_count(), 3);
}

#[test]
fn a_store_that_lost_something_does_not_replace_a_backup() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..3);
    back_up(&store, &place.backup()).unwrap();
    store.0.losses.note("notes: 1 of 3 are missing").unwrap();
    let refused = back_up(&store, &place.backup()).unwrap_err().to_string();
    assert!(refused.contains("1 of 3 are missing") && refused.contains("--settle"), "{refused}");
    back_up(&store, &place.other("another")).unwrap();
    store.0.losses.settle().unwrap();
    back_up(&store, &place.backup()).unwrap();

    // An entry that went behind the store's back, and was not noticed yet.
    let before = summarize(&place.backup()).unwrap();
    let db = store.0.db.raw();
    let (key, _) = db.entries(b"n").next().unwrap().unwrap();
    db.remove(&key).unwrap();
    let refused = back_up(&store, &place.backup()).unwrap_err();
    assert!(matches!(refused, BackupError::OtherThanAcknowledged(_)), "{refused}");
    assert!(refused.to_string().contains("notes: 1 of 3 are missing"), "{refused}");
    assert_eq!(summarize(&place.backup()).unwrap(), before);
    check(&place.backup()).unwrap();
}

#[test]
fn a_damaged_image_is_named_and_the_whole_one_of_before_is_kept() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..3);
    back_up(&store, &place.backup()).unwrap();
    for (ticket, at) in [(1, 60), (2, 61)] {
        let path = place.state().join(format!("frames/0/{ticket}.frame"));
        fs::write(&path, flipped(&fs::read(&path).unwrap(), at)).unwrap();
    }
    let report = back_up(&store, &place.backup()).unwrap();
    assert_eq!((report.images, report.damaged_images), (3, Vec::new()));
    let report = back_up(&store, &place.other("new")).unwrap();
    assert_eq!((report.images, report.damaged_images), (1, vec![1, 2]));
    drop(store);
    let restored = open_any(&place.restore("restored"));
    for ticket in 1..=3 {
        assert!(restored.image(FrameTicket(ticket)).unwrap().is_some());
    }
}

#[test]
fn an_image_that_still_has_the_name_it_came_in_by_is_in_the_backup() {
    let place = Place::new();
    let store = place.store();
    fill(&store, 0..3);
    let image = place.state().join("frames/0/2.frame");
    fs::rename(&image, image.with_extension("incoming")).unwrap();
    let report = back_up(&store, &place.backup()).unwrap();
    assert_eq!((report.images, report.damaged_images.len()), (3, 0));
    let there = images(&store);
    drop(store);
    let restored = Store::open(&Options::at(place.restore("restored")), &space()).unwrap();
    assert_eq!(images(&restored), there);
}

#[test]
fn another_backup_ends_the_one_before_it() {
    let place = Place::new();
    let store = open(&place.state());
    fill_some(&store);
    let mut first = store.begin_backup();
    while first.answer(Question::Entries { known: None }).unwrap() != Answer::Entries(None) {}
    let mut second = store.begin_backup();
    second.answer(Question::Entries { known: None }).unwrap();
    drop(second);
    let refused = first.answer(Question::Changes).unwrap_err().to_string();
    assert!(refused.contains("another copy was begun"), "{refused}");
}

fn fill_some(store: &Store) {
    store.commit_observations(&parse(&[observation(1), observation(2)])).unwrap();
}

#[test]
fn questions_out_of_order_are_refused() {
    let place = Place::new();
    let store = open(&place.state());
    fill_some(&store);
    let mut source = store.begin_backup();
    source.answer(Question::Changes).unwrap_err();
    while source.answer(Question::Entries { known: None }).unwrap() != Answer::Entries(None) {}
    source.answer(Question::Changes).unwrap();
    source.answer(Question::Entries { known: None }).unwrap_err();
    source.answer(Question::Changes).unwrap_err();
}

#[test]
fn a_message_of_another_version_is_told() {
    let whole = Question::Begin.to_bytes().unwrap();
    assert_eq!(Question::from_bytes(&whole).unwrap(), Question::Begin);
    for bytes in [&[][..], &[9, 0], &whole[..1], &[whole.clone(), vec![0]].concat()] {
        let error = Question::from_bytes(bytes).unwrap_err();
        assert!(matches!(error, BackupError::OtherVersion(_)), "{error}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_an_error_or_a_message(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let bytes = [vec![1], bytes].concat();
        if let Ok(question) = Question::from_bytes(&bytes) {
            let again = Question::from_bytes(&question.to_bytes().unwrap()).unwrap();
            prop_assert_eq!(again, question);
        }
        drop(Answer::from_bytes(&bytes));
    }
}

#[test]
fn a_time_before_the_clock_was_set_is_kept_as_it_is() {
    let place = Place::new();
    let store = open(&place.state());
    fill_some(&store);
    let mut source = store.begin_backup();
    make(&place.backup(), Timestamp::EPOCH, &mut |question| source.answer(question)).unwrap();
    assert_eq!(summarize(&place.backup()).unwrap().made_at, Timestamp::EPOCH);
}
