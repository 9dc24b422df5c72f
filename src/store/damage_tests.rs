//! What the store says of entries that are gone, from outside its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
/// Bits that are flipped in the used part of sled's log.
const FLIPS: usize = 24;

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

/// Every file below `dir` but the lock, which says who looked last.
pub(super) fn read_all(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(read_all(&path));
            files.insert(path, Vec::new());
        } else if path.file_name() != Some("lock".as_ref()) {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
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
    super::copy::copy_tree(&db, &backup).unwrap();
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
        // Where nobody writes or asks how the store is, a read opens the database again.
        let id = RecordId(u64::from(EACH) + 1);
        assert_eq!(store.record(id).unwrap(), None, "on disk: {is_on_disk}");
        assert!(store.record(RecordId(1)).unwrap().is_some());
        assert_eq!(store.problems(), Vec::<String>::new());
    }
    let observed = super::tests::parse(&[super::tests::observation(51)]);
    let stored = store.commit_observations(&observed).unwrap();
    assert_eq!(stored[0].id, RecordId(u64::from(EACH) + 1));
    drop(store);
    let store = Store::open(&options(dir.path()), &space()).unwrap();
    store.verify(|| false).unwrap();
    assert_eq!((store.record_count(), store.problems()), (before + 1, Vec::new()));
}

#[test]
fn a_database_that_is_removed_while_it_is_open_takes_no_more() {
    for gone in ["db", ""] {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        fill_all(&state);
        let store = open(&state);
        fs::remove_dir_all(state.join(gone)).unwrap();
        for n in 50..53 {
            let observed = super::tests::parse(&[super::tests::observation(n)]);
            let refused = store.commit_observations(&observed).unwrap_err().to_string();
            assert!(refused.contains("removed") || refused.contains("No such file"), "{refused}");
            let problems = store.problems();
            assert!(
                problems[0].contains("removed") || problems[0].contains("No such"),
                "{problems:?}"
            );
        }
        assert!(!state.join("db").exists(), "nothing is made in its place");
    }
}

#[test]
fn a_database_that_is_gone_is_not_made_anew_beside_its_images() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    drop(raw(dir.path()));
    fs::remove_dir_all(dir.path().join("db")).unwrap();
    for gone in ["manifest", "db.witness", "db.clean"] {
        let found = read_all(dir.path());
        let error = refuse(dir.path()).to_string();
        assert!(error.contains("database") && error.contains("missing"), "{error}");
        assert_eq!(read_all(dir.path()), found);
        fs::remove_file(dir.path().join(gone)).unwrap();
    }
    let error = refuse(dir.path()).to_string();
    assert!(error.contains("images are there"), "{error}");
}

#[test]
fn images_that_are_newer_than_the_database_are_kept_aside_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    drop(raw(dir.path()));
    let backup = tempfile::tempdir().unwrap();
    super::copy::copy_tree(dir.path(), backup.path()).unwrap();
    fill_all(dir.path());
    super::copy::copy_tree(&dir.path().join("frames"), &backup.path().join("frames")).unwrap();
    let problems = open(backup.path()).problems();
    assert!(problems[0].contains("3 images that the database does not know"), "{problems:?}");
    assert_eq!(fs::read_dir(backup.path().join("frames.aside")).unwrap().count(), 3);
}

/// A file system of a few MiB, unmounted with this; `None` where only root may mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let options = ["-t", "tmpfs", "-o", size, "tmpfs"];
        let mounted = Command::new("mount").args(options).arg(dir.path()).output();
        mounted.is_ok_and(|it| it.status.success()).then_some(Self(dir))
    }

    /// Writes a file that leaves `left` bytes.
    fn fill(&self, left: u64) -> PathBuf {
        let path = self.0.path().join("foreign");
        let free = super::room::free(self.0.path()).unwrap();
        // sled may have taken some of it since.
        match fs::write(&path, vec![7; usize::try_from(free - left).unwrap()]) {
            Err(error) if error.kind() != std::io::ErrorKind::StorageFull => panic!("{error}"),
            _ => path,
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.0.path()).status());
    }
}

#[test]
fn a_full_disk_refuses_what_adds_and_takes_what_forgets() {
    let Some(disk) = SmallDisk::mount("size=96m") else {
        eprintln!("skipped: a small file system cannot be mounted");
        return;
    };
    let dir = disk.0.path().join("state");
    fill_all(&dir);
    let store = open(&dir);
    assert!(dir.join("reserve").exists());
    let observe = |store: &Store| {
        let observed = super::tests::parse(&[super::tests::observation(50)]);
        store.commit_observations(&observed)
    };
    for left in [12 << 20, 1 << 20, 0] {
        let foreign = disk.fill(left);
        let refused = observe(&store).unwrap_err();
        assert!(matches!(refused, StoreError::DiskFull { .. }), "{left}: {refused}");
        let frame = store.accept_frame(&meta("new", 60), &jpeg(9), Vec::new()).unwrap_err();
        assert!(matches!(frame, StoreError::DiskFull { .. }), "{left}: {frame}");
        assert!(store.problems()[0].contains("the disk is full"), "{:?}", store.problems());
        let gone = store.scan().next().unwrap().unwrap().0.id;
        store.delete_records(&[gone]).unwrap();
        assert_eq!(store.record(gone).unwrap(), None);
        fs::remove_file(foreign).unwrap();
        assert_eq!(store.problems(), Vec::<String>::new());
        observe(&store).unwrap();
        assert!(dir.join("reserve").exists(), "{left}: made again");
    }
    drop(store);
    let foreign = disk.fill(1 << 20);
    // A start on the full disk finds the store whole, by way of the reserve.
    let store = open(&dir);
    assert_eq!(store.record_count(), u64::from(EACH));
    assert!(store.problems()[0].contains("the disk is full"), "{:?}", store.problems());
    drop(store);
    let filler = disk.0.path().join("filler");
    fs::write(&filler, vec![7; usize::try_from(super::room::free(&dir).unwrap()).unwrap()])
        .unwrap();
    let found = read_all(&dir);
    let refused = refuse(&dir);
    assert!(matches!(refused, StoreError::DiskFull { .. }), "{refused}");
    assert_eq!(read_all(&dir), found);
    for path in [foreign, filler] {
        fs::remove_file(path).unwrap();
    }
    observe(&open(&dir)).unwrap();
}

/// The disk fills up under sled itself: others take what the store gives up for forgetting.
///
/// sled may find room in what it has written before and needs no more; then on another disk.
#[test]
fn a_write_that_finds_no_room_loses_nothing_and_the_store_goes_on() {
    let mut disks = (0..8).map_while(|_| SmallDisk::mount("size=96m")).peekable();
    if disks.peek().is_none() {
        eprintln!("skipped: a small file system cannot be mounted");
        return;
    }
    assert!(disks.any(|disk| sled_runs_out_of_room_on(&disk)), "sled found room on each disk");
}

/// Whether it did; what holds in any case is asserted.
fn sled_runs_out_of_room_on(disk: &SmallDisk) -> bool {
    let dir = disk.0.path().join("state");
    fill_all(&dir);
    let store = open(&dir);
    for n in 100..400 {
        put_note(&store, n, &"the door code ".repeat(400));
    }
    let mut there: std::collections::BTreeSet<u32> = (1..=EACH).chain(100..400).collect();
    let mut failures = BTreeMap::new();
    for n in 100..400 {
        let foreign = disk.fill(0);
        // A version more of a state, which no room is kept for, and a removal.
        let state = AgentState { memory: format!("{{\"step\":{n}}}") };
        let noted = store.put_agent_state("agent 1", &state);
        let removed = store.remove_notes(&[Uuid::from_u128(u128::from(n))]);
        fs::remove_file(foreign).unwrap();
        for failed in [noted.as_ref().err(), removed.as_ref().err()].into_iter().flatten() {
            *failures.entry(failed.to_string()).or_insert(0) += 1;
        }
        match removed {
            Ok(()) => drop(there.remove(&n)),
            // Removed, and its key owed: that is told, and made good when there is room.
            Err(error) if error.to_string().starts_with("cannot write the keyring") => {
                there.remove(&n);
            }
            Err(_) if failures.len() > 2 => break,
            Err(_) => {}
        }
    }
    let failed = failures.keys().find(|it| it.contains("(the database failed"));
    assert!(failed.is_none_or(|it| it.contains("No space left on device")), "{failed:?}");
    let looked = |_: &u32| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        store.problems().is_empty()
    };
    assert!((0..200).any(|n| looked(&n)), "{:?}", store.problems());
    let ids = |store: &Store| -> std::collections::BTreeSet<u32> {
        store.notes().map(|it| u32::try_from(it.unwrap().0.id.as_u128()).unwrap()).collect()
    };
    assert_eq!(ids(&store), there);
    put_note(&store, 500, "after it");
    there.insert(500);
    drop(store);
    let store = open(&dir);
    store.verify(|| false).unwrap();
    assert_eq!((ids(&store), store.problems()), (there, Vec::new()));
    assert_eq!(store.record_count(), u64::from(EACH));
    failed.is_some()
}

/// What can still be read, of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Kept {
    records: usize,
    notes: usize,
    memos: usize,
    states: usize,
    sessions: usize,
    images: usize,
}

/// All of what [`fill_all`] keeps.
const WHOLE: Kept = Kept { records: 20, notes: 20, memos: 20, states: 20, sessions: 20, images: 3 };

impl Kept {
    /// And whether all that is missing is said: by the store's problems, or by who reads it.
    fn of(store: &Store) -> (Self, bool) {
        store.verify(|| false).unwrap();
        let images = (1..=3).map(|ticket| store.image(crate::base::FrameTicket(ticket)));
        let images: Vec<_> = images.collect();
        let is_right = |it: &&Result<_, _>| **it == Ok(Some(jpeg(1)));
        let kept = Self {
            records: store.scan().flatten().count(),
            notes: store.notes().flatten().count(),
            memos: (1..=u64::from(EACH)).filter_map(|id| store.memo(id).ok().flatten()).count(),
            states: store.agent_state_count().unwrap(),
            sessions: store.sessions().unwrap().len(),
            images: images.iter().filter(is_right).count(),
        };
        let is_refused = images.iter().any(Result::is_err);
        (kept, is_refused || !store.problems().is_empty())
    }

    fn all(self) -> usize {
        let Self { records, notes, memos, states, sessions, images } = self;
        records + notes + memos + states + sessions + images
    }
}

impl std::fmt::Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { records, notes, memos, states, sessions, images } = self;
        write!(f, "{records:>7} {notes:>5} {memos:>5} {states:>6} {sessions:>8} {images:>6}")
    }
}

/// What a start, or a repair where that is refused, makes of a damaged file.
fn outcome(dir: &Path) -> (&'static str, Kept) {
    let found = read_all(dir);
    match Store::open(&options(dir), &space()) {
        Ok(store) => {
            let (kept, is_told) = Kept::of(&store);
            (if is_told { "degraded" } else { "whole" }, kept)
        }
        Err(error) => {
            let text = error.to_string();
            for unwanted in ["panick", "Some(", "backtrace", "unwrap"] {
                assert!(!text.contains(unwanted), "{text}");
            }
            assert_unchanged(&found, &read_all(dir), &text);
            let found = read_all(dir);
            let target = tempfile::tempdir().unwrap();
            match super::salvage::repair(&options(dir), target.path()) {
                Ok(_) => {
                    assert_eq!(read_all(dir), found, "the original stays");
                    ("repaired", Kept::of(&open(target.path())).0)
                }
                Err(_) => ("refused", Kept::default()),
            }
        }
    }
}

/// Nothing but a damaged key or keyring, which is made anew from its whole copy.
fn assert_unchanged(
    before: &BTreeMap<PathBuf, Vec<u8>>,
    after: &BTreeMap<PathBuf, Vec<u8>>,
    refusal: &str,
) {
    for path in before.keys().chain(after.keys()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let copy = path.with_file_name(match name {
            "key" | "keyring" => format!("{name}.copy"),
            _ => name.trim_end_matches(".copy").to_owned(),
        });
        // A keyring is encrypted anew.
        let is_mended =
            copy != *path && after.get(path).map(Vec::len) == before.get(&copy).map(Vec::len);
        let is_same = before.get(path) == after.get(path);
        assert!(is_same || is_mended, "a refused start changed {path:?}: {refusal}");
    }
}

/// A way to damage a file, with its name.
type Damage = (&'static str, fn(&Path));

const DAMAGES: [Damage; 6] = [
    ("cut", |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }),
    ("zero", |path| fs::write(path, vec![0; fs::read(path).unwrap().len()]).unwrap()),
    ("delete", |path| fs::remove_file(path).unwrap()),
    ("flip early", |path| flip(path, 2)),
    ("flip middle", |path| flip(path, 50)),
    ("flip late", |path| flip(path, 90)),
];

/// Flips a bit after so many hundredths of a file.
fn flip(path: &Path, hundredths: usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.len() * hundredths / 100;
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 4;
    }
    fs::write(path, bytes).unwrap();
}

/// The files of a store, by their paths within it.
fn files_of(whole: &Path) -> Vec<PathBuf> {
    let files = read_all(whole).into_keys().filter(|path| path.is_file());
    files.map(|path| path.strip_prefix(whole).unwrap().to_owned()).collect()
}

/// Each file of a store, damaged in each of these ways: what is lost is never silent.
#[test]
fn every_damage_of_every_file_is_noticed_and_the_rest_saved() {
    let whole = tempfile::tempdir().unwrap();
    fill_all(whole.path());
    drop(raw(whole.path()));
    let mut table = Vec::new();
    let used = fs::read(whole.path().join("db/db")).unwrap();
    let used = used.iter().rposition(|byte| *byte != 0).unwrap();
    for at in (1..=FLIPS).map(|n| used - n * used / (FLIPS + 1)).chain([used - 300]) {
        let dir = tempfile::tempdir().unwrap();
        super::copy::copy_tree(whole.path(), dir.path()).unwrap();
        let mut bytes = fs::read(dir.path().join("db/db")).unwrap();
        bytes[at] ^= 4;
        fs::write(dir.path().join("db/db"), bytes).unwrap();
        let (says, kept) = outcome(dir.path());
        table.push(format!("{:<22} {:<12} {says:<9} {kept}", "db/db", format!("bit of {at}")));
        assert!(kept == WHOLE || says != "whole", "silent loss:\n{}", table.join("\n"));
        // At most the entry that was hit; of one that was written over, an older one stays.
        assert!(kept.all() + 1 >= WHOLE.all(), "{}", table.join("\n"));
    }
    for name in files_of(whole.path()) {
        for (damage, apply) in DAMAGES {
            let dir = tempfile::tempdir().unwrap();
            super::copy::copy_tree(whole.path(), dir.path()).unwrap();
            apply(&dir.path().join(&name));
            let (says, kept) = outcome(dir.path());
            table.push(format!("{:<22} {damage:<12} {says:<9} {kept}", name.display()));
            assert!(kept == WHOLE || says != "whole", "silent loss:\n{}", table.join("\n"));
        }
    }
    let kinds = "records notes memos states sessions images";
    eprintln!("{:<22} {:<12} {:<9} {kinds}\n{:<45} {WHOLE}", "file", "damage", "outcome", "whole");
    eprintln!("{}", table.join("\n"));
}

/// Pairs that are tried where not all are.
const PAIRS: usize = 48;

/// Two files, each damaged in one of these ways; of those a share, spread over all.
fn damage_pairs(share: impl Fn(usize) -> bool) {
    let whole = tempfile::tempdir().unwrap();
    fill_all(whole.path());
    drop(raw(whole.path()));
    // Nobody's: whatever comes of the store, they stay.
    let foreign = ["theirs.txt", "db/theirs.txt", "frames/0/theirs.txt"];
    let files = files_of(whole.path());
    let mut pairs = Vec::new();
    for (at, first) in files.iter().enumerate() {
        for second in &files[at + 1..] {
            for one in DAMAGES {
                pairs.extend(DAMAGES.map(|other| ((first, one), (second, other))));
            }
        }
    }
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    let tried = pairs.iter().enumerate().filter(|(at, _)| share(*at)).map(|(_, pair)| pair);
    for ((first, one), (second, other)) in tried {
        let dir = tempfile::tempdir().unwrap();
        super::copy::copy_tree(whole.path(), dir.path()).unwrap();
        for name in foreign {
            fs::write(dir.path().join(name), "theirs").unwrap();
        }
        one.1(&dir.path().join(first));
        other.1(&dir.path().join(second));
        let (says, kept) = outcome(dir.path());
        let what = format!("{first:?} {}, {second:?} {}", one.0, other.0);
        assert!(kept == WHOLE || says != "whole", "silent loss: {what}: {kept}");
        for name in foreign {
            assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"theirs", "{what}");
        }
        *outcomes.entry(says).or_default() += 1;
    }
    eprintln!("{} files, {} pairs of damages: {outcomes:?}", files.len(), pairs.len());
}

#[test]
fn two_damaged_files_are_noticed_as_well() {
    // A multiple that shares no factor with the damages goes through all of them.
    damage_pairs(|at| at % 61 == 7 && at / 61 < PAIRS);
}

#[test]
#[ignore = "takes minutes; `just damage` runs it"]
fn every_pair_of_damaged_files_is_noticed() {
    damage_pairs(|_| true);
}

/// sled takes a file of eight bytes or less for none, and writes it anew: it holds only the
/// sizes and the version of this build.
#[test]
fn settings_of_the_database_that_are_gone_are_written_anew_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    drop(raw(dir.path()));
    let conf = dir.path().join("db/conf");
    let whole = fs::read(&conf).unwrap();
    for left in [&[0; 4][..], b"", &[0; 8]] {
        fs::write(&conf, left).unwrap();
        assert_eq!(outcome(dir.path()), ("whole", WHOLE));
        assert_eq!(fs::read(&conf).unwrap(), whole);
    }
    fs::write(&conf, [0; 9]).unwrap();
    assert!(matches!(refuse(dir.path()), StoreError::NotWhole { .. }));
}

#[test]
fn what_was_forgotten_or_written_over_does_not_come_back_by_a_repair() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    {
        let store = open(dir.path());
        let state = AgentState { memory: "{\"step\":77}".to_owned() };
        store.put_agent_state("agent 1", &state).unwrap();
        store.remove_agent_state("agent 2").unwrap();
        store.delete_records(&[RecordId(5)]).unwrap();
        store.remove_notes(&[Uuid::from_u128(3)]).unwrap();
        super::tests::commit(&store, crate::base::FrameTicket(1), "a red mug", 1).unwrap();
    }
    drop(raw(dir.path()));
    fs::write(dir.path().join("db/conf"), "nonsense").unwrap();
    let target = tempfile::tempdir().unwrap();
    let report = super::salvage::repair(&options(dir.path()), target.path()).unwrap();
    assert_eq!((report.lost_records.len(), report.without_vector, report.images), (0, 0, 3));
    let store = open(target.path());
    store.verify(|| false).unwrap();
    assert_eq!(store.problems(), Vec::<String>::new());
    assert_eq!(store.agent_state("agent 1").unwrap().unwrap().memory, "{\"step\":77}");
    assert_eq!(store.agent_state("agent 2").unwrap(), None);
    assert_eq!(store.record(RecordId(5)).unwrap(), None);
    assert_eq!((store.record_count(), store.scan().count()), (20, 20));
    assert_eq!(store.note(Uuid::from_u128(3)).unwrap(), None);
    assert_eq!((store.notes().count(), store.pending_count(), store.set_aside_count()), (19, 1, 1));
    assert_eq!(store.image(crate::base::FrameTicket(2)).unwrap(), Some(jpeg(1)));
    let observed = super::tests::parse(&[super::tests::observation(50)]);
    assert_eq!(store.commit_observations(&observed).unwrap()[0].id, RecordId(22));
}

/// Flips a bit in every copy of the last version of an entry.
fn damage_newest(dir: &Path, entry: &[u8]) {
    let path = dir.join("db/db");
    let mut bytes = fs::read(&path).unwrap();
    let keyring = super::tests::keyring(dir);
    let places: Vec<(u64, usize)> = super::sealed::carve(&keyring, &bytes)
        .filter(|it| it.opened.entry == entry)
        .map(|it| (it.opened.write, it.sealed.as_ptr() as usize - bytes.as_ptr() as usize))
        .collect();
    let (newest, _) = *places.iter().max().unwrap();
    assert!(places.iter().any(|(write, _)| *write < newest), "there is no older version");
    for (_, at) in places.into_iter().filter(|(write, _)| *write == newest) {
        bytes[at + 40] ^= 1;
    }
    fs::write(&path, bytes).unwrap();
}

#[test]
fn a_salvage_that_finds_an_older_version_only_says_so() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    let id = {
        let store = open(dir.path());
        let ticket = crate::base::FrameTicket(1);
        let id = super::tests::commit(&store, ticket, "a red mug", 1).unwrap().id;
        store.merge_frame("front", at(77)).unwrap();
        assert_eq!(store.record(id).unwrap().unwrap().end_at, at(77));
        id
    };
    drop(raw(dir.path()));
    damage_newest(dir.path(), &super::keys::record(id));
    damage_newest(dir.path(), super::keys::MEMO_COUNTERS);
    fs::write(dir.path().join("db/conf"), [0; 40]).unwrap();
    refuse(dir.path());
    let report = super::salvage::salvage_in_place(&options(dir.path())).unwrap();
    let older = report.kinds.iter().filter(|it| it.has_older).map(|it| it.kind);
    assert_eq!(older.collect::<Vec<_>>(), ["records"]);
    let store = open(dir.path());
    assert_eq!(store.record(id).unwrap().unwrap().end_at, at(10));
    // No new memo gets the id of one that is there.
    assert_eq!(store.memo_counters().unwrap().next_memo, u64::from(EACH) + 1);
    let losses = super::Losses::in_dir(dir.path()).read().unwrap();
    let told = "records: 21 are there, not all as they were last stored";
    assert!(losses.iter().any(|it| it == told), "{losses:?}");
}

#[test]
fn images_that_somebody_removed_are_told_once() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    let losses = super::Losses::in_dir(dir.path());
    let image = |ticket: u64| dir.path().join(format!("frames/0/{ticket}.frame"));
    let told = |frames| format!("images: {frames}");
    {
        let store = open(dir.path());
        super::tests::commit(&store, crate::base::FrameTicket(1), "a red mug", 1).unwrap();
        fs::remove_file(image(1)).unwrap();
        // Whoever asks for it meets it first.
        assert_eq!(store.image(crate::base::FrameTicket(1)).unwrap(), None);
    }
    let first = told("1 are gone from \"frames\", of frames 1");
    // It was set aside, and has no caption.
    fs::remove_file(image(3)).unwrap();
    assert_eq!(losses.read().unwrap(), [first.as_str()]);
    fs::remove_file(image(2)).unwrap();
    let copy = super::doctor::StoreCopy::of(&options(dir.path())).unwrap().unwrap();
    let second = told("2 are gone from \"frames\", of frames 2-3");
    assert_eq!(copy.gone_images(&options(dir.path())).unwrap(), Some(second.clone()));
    drop(copy);
    let store = open(dir.path());
    assert!(store.problems()[0].contains("images: 1 are gone"), "{:?}", store.problems());
    assert_eq!(losses.read().unwrap(), [first.as_str(), second.as_str()]);
    losses.settle().unwrap();
    // What is forgotten is not missing.
    super::tests::commit(&store, crate::base::FrameTicket(2), "a blue mug", 2).unwrap();
    store.delete_records(&[RecordId(21), RecordId(22)]).unwrap();
    drop(store);
    drop(open(dir.path()));
    assert_eq!(losses.read().unwrap(), Vec::<String>::new());
}

#[test]
fn images_without_their_key_go_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    let image = dir.path().join("frames/0/1.frame");
    let bytes = fs::read(&image).unwrap();
    open(dir.path()).delete_frames(&[crate::base::FrameTicket(1)]).unwrap();
    assert!(!image.exists());
    // As if the kill had come between the commit and the removal.
    fs::write(&image, bytes).unwrap();
    // Somebody's own under the name of one.
    fs::write(dir.path().join("frames/0/2.frame"), "mine").unwrap();
    let store = open(dir.path());
    store.delete_frames(&[crate::base::FrameTicket(2)]).unwrap();
    drop(store);
    fs::write(dir.path().join("frames/0/2.frame"), "mine").unwrap();
    let store = open(dir.path());
    assert!(!image.exists());
    assert_eq!(fs::read(dir.path().join("frames/0/2.frame")).unwrap(), b"mine");
    assert_eq!(store.problems(), Vec::<String>::new());
}

#[test]
fn a_salvage_goes_on_in_place_keeps_the_damaged_and_is_degraded() {
    let dir = tempfile::tempdir().unwrap();
    fill_all(dir.path());
    drop(raw(dir.path()));
    fs::write(dir.path().join("db/conf"), [0; 40]).unwrap();
    refuse(dir.path());
    super::salvage::salvage_in_place(&options(dir.path())).unwrap();
    assert_eq!(fs::read(dir.path().join("damaged.1/db/conf")).unwrap(), [0; 40]);
    for _ in 0..2 {
        let store = open(dir.path());
        store.verify(|| false).unwrap();
        assert_eq!((store.record_count(), store.notes().count()), (20, 20));
        assert_eq!(store.image(crate::base::FrameTicket(1)).unwrap(), Some(jpeg(1)));
        assert!(store.problems()[0].contains("kept in damaged.1"), "{:?}", store.problems());
        put_note(&store, 1, "again");
    }
    assert!(!dir.path().join("salvage.new").exists());
}

#[test]
fn an_examination_says_what_is_lost_and_changes_nothing() {
    use super::doctor::{Examined, examine};
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(examine(&options(&dir.path().join("none"))), Ok(Examined::New));
    fill_all(dir.path());
    drop(raw(dir.path()));
    assert_eq!(examine(&options(dir.path())), Ok(Examined::Whole { records: 20 }));
    lose(dir.path(), b'r');
    drop(raw(dir.path()));
    let found = read_all(dir.path());
    let losses = vec!["records: 1 of 20 are missing".to_owned()];
    assert_eq!(examine(&options(dir.path())), Ok(Examined::Lossy { losses }));
    assert_eq!(read_all(dir.path()), found);
}
