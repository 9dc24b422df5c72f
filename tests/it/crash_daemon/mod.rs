//! The daemon, killed at every failpoint and at random while clients hand in, change and
//! forget: what was answered is there, once and whole, what was forgotten is nowhere.
//!
//! `just crash` kills it some hundreds of times, at all of them; CI at a third. The seed says which failpoint is
//! reached how often before the kill, and what each client does; how threads interleave it
//! does not.

#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "it says how far it is, and is told by the environment how far to go"
)]

mod ledger;
mod load;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use engram::base::embedding::Embedding;
use engram::cli::client::{Client, ClientOptions};
use engram::store::keyring::master_key::KeySource;
use engram::store::losses::Losses;
use engram::store::residue::{self, Erased};
use engram::store::{CheckedStore, EmbeddingSpace, NewObservation, Options, Store, StoreError};
use rustix::process::{Pid, Signal, kill_process};

use crate::killed_writer::parse;
use crate::running::{serve, wait_for};
use ledger::{Kind, Ledger, MARK, SlotId};
use load::{Load, Random, Work};

/// Killed under load when they were reached so often, at most.
const UNDER_LOAD: &[(&str, u64)] = &[
    ("commit.prepared", 60),
    ("commit.applied", 60),
    ("log.flushed", 60),
    ("commit.synced", 60),
    ("witness.written", 60),
    ("commit.witnessed", 60),
    ("file.drafted", 30),
    ("file.renamed", 30),
    ("image.written", 12),
    ("image.committed", 12),
    ("image.removed", 4),
    ("erase.committed", 60),
    ("erase.owed", 8),
    ("keyring.file", 16),
    ("erase.keys", 8),
    ("erase.entry", 8),
    ("manifest.written", 2),
    ("manifest.taken_back", 2),
    ("frame.captioned", 4),
    ("segment.chunk", 10),
    ("segment.drafted", 1),
    ("segment.named", 1),
    ("segment.removed", 2),
    ("floor.raised", 1),
    ("floor.removed", 2),
    ("floor.erased", 1),
];

/// What a start does of itself where there are so many records more.
const OF_THE_INDEX: [(&str, usize); 2] = [("segment.", 100), ("floor.", 400)];

/// Killed while it starts on what another kill left: (that one, this one).
const AT_START: &[(&str, &str)] = &[
    ("commit.synced", "start.tried"),
    ("commit.synced", "start.opened"),
    ("erase.owed", "start.owed"),
    ("erase.owed", "erase.keys"),
    ("commit.synced", "image.aside"),
    ("segment.drafted", "start.leftovers"),
];

/// Killed while it saves a damaged database.
const IN_SALVAGE: &[&str] = &["salvage.saved", "salvage.done", "salvage.kept", "salvage.placed"];

/// Killed while it encrypts a store of an earlier version.
const IN_SEALING: &[&str] = &["sealing.drafted", "sealing.moved", "sealing.placed"];

/// Each dies where the crash test has another die with it.
const OTHERS: &[&str] = &["frame.set_aside", "worker.asked", "stop.closed"];

const RECORDS_MAX: u64 = 300;
/// How often it is looked whether a daemon is dead, and how soon again.
const LOOKS_MAX: u32 = 4_000;
const LOOK: Duration = Duration::from_millis(20);
/// Random kills in a round.
const RANDOM_KILLS: u64 = 4;
/// Tokens of earlier lives that are looked for once more, each time others.
const LOOKED_FOR_AGAIN: usize = 20;

#[test]
fn the_daemon_dies_anywhere_and_nothing_is_lost_and_nothing_comes_back() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let seed = number("CRASH_SEED").unwrap_or(1);
    let kills_min = number("CRASH_KILLS");
    let mut house = House::new(seed, kills_min.is_some());
    let mut round = 0;
    loop {
        house.round(round);
        round += 1;
        if house.kills() >= kills_min.unwrap_or(0) {
            break;
        }
    }
    let report = house.finish();
    println!("{report}");
}

#[test]
fn every_failpoint_of_the_source_is_one_that_the_daemon_dies_at() {
    let mut named = BTreeSet::new();
    let mut todo = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(fs::read_dir(path).unwrap().map(|it| it.unwrap().path()));
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        for part in text.split("failpoint!(\"").skip(1) {
            named.insert(part.split('"').next().unwrap().to_owned());
        }
    }
    named.remove("tests.none");
    let under_load = UNDER_LOAD.iter().map(|it| it.0);
    let at_start = AT_START.iter().flat_map(|it| [it.0, it.1]);
    let others = IN_SALVAGE.iter().chain(IN_SEALING).chain(OTHERS).copied();
    let planned: BTreeSet<String> =
        under_load.chain(at_start).chain(others).map(str::to_owned).collect();
    assert_eq!(planned, named);
}

/// A state directory and what its daemons acknowledged.
struct House {
    dir: tempfile::TempDir,
    seed: u64,
    random: Random,
    /// Whether it is killed at every failpoint, or at a third of them.
    is_full: bool,
    places: u64,
    lives: u64,
    ledger: Arc<Mutex<Ledger>>,
    space: Option<EmbeddingSpace>,
    /// Tokens that were looked for, in the order of their going.
    looked_for: Vec<String>,
    known_gone: BTreeSet<String>,
    kills: BTreeMap<String, u64>,
    searches: u64,
    bytes_searched: u64,
}

/// A daemon, killed when this is dropped.
struct Daemon {
    child: Child,
    log: PathBuf,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl House {
    fn new(seed: u64, is_full: bool) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            seed,
            random: Random(seed),
            is_full,
            places: 0,
            lives: 0,
            ledger: Arc::default(),
            space: None,
            looked_for: Vec::new(),
            known_gone: BTreeSet::new(),
            kills: BTreeMap::new(),
            searches: 0,
            bytes_searched: 0,
        }
    }

    fn kills(&self) -> u64 {
        self.kills.values().sum()
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Whether the next place is one to die at.
    fn is_due(&mut self) -> bool {
        self.places += 1;
        self.is_full || self.places % 3 == self.seed % 3
    }

    fn round(&mut self, round: u64) {
        for _ in 0..RANDOM_KILLS {
            self.die_at_random();
        }
        for (point, most) in UNDER_LOAD {
            if !self.is_due() {
                continue;
            }
            let times = 1 + self.random.below(*most);
            self.die_under_load(point, times);
        }
        for (before, point) in AT_START {
            if !self.is_due() {
                continue;
            }
            let most = UNDER_LOAD.iter().find(|it| it.0 == *before).unwrap().1;
            let times = 1 + self.random.below(most);
            self.die_under_load(before, times);
            if *point == "image.aside" {
                // As of a newer database than this one.
                fs::create_dir_all(self.state().join("frames/999")).unwrap();
                fs::write(self.state().join("frames/999/999999.frame"), "noise").unwrap();
            }
            self.die_at_start(point, &[]);
        }
        if self.is_due() {
            self.die_setting_aside();
        }
        if self.is_due() {
            self.die_stopping();
        }
        for point in IN_SALVAGE {
            if self.is_due() {
                self.die_in_salvage(point);
            }
        }
        for point in IN_SEALING {
            if self.is_due() {
                self.die_in_sealing(point);
            }
        }
        eprintln!("crash: round {round} of seed {} is done, {} kills", self.seed, self.kills());
    }

    fn start(&mut self, kills: &str, flags: &[&str]) -> Daemon {
        self.lives += 1;
        let log = self.dir.path().join(format!("log.{}", self.lives));
        let records_max = format!("memory.records_max={RECORDS_MAX}");
        let flags = [&["--set", records_max.as_str(), "--set", "log.level=info"], flags].concat();
        let mut command = serve(self.dir.path(), &flags);
        command.env("FAILPOINT_KILLS", kills).stderr(File::create(&log).unwrap());
        Daemon { child: command.spawn().unwrap(), log }
    }

    /// Whether it got so far that clients connect.
    fn is_up(&self, daemon: &mut Daemon) -> bool {
        let socket = self.dir.path().join("engram.sock");
        let mut is_up = false;
        wait_for(|| {
            is_up = Client::connect(&socket, ClientOptions::default()).is_ok();
            is_up || daemon.child.try_wait().unwrap().is_some()
        });
        is_up
    }

    /// Clients at work until `end` says that the daemon is dead, or is to die.
    fn work_until(&mut self, daemon: &mut Daemon, mut end: impl FnMut(&mut Child)) {
        let socket = self.dir.path().join("engram.sock");
        let clients = Work::ALL.map(|work| {
            let (socket, ledger) = (socket.clone(), Arc::clone(&self.ledger));
            let seed = self.random.next();
            let run = move || Load::run(&socket, work, ledger, seed);
            thread::Builder::new().name("client".to_owned()).spawn(run).unwrap()
        });
        end(&mut daemon.child);
        for client in clients {
            client.join().unwrap();
        }
    }

    fn work_until_dead(&mut self, daemon: &mut Daemon, point: &str) {
        let log = daemon.log.clone();
        self.work_until(daemon, |child| {
            for _ in 0..LOOKS_MAX {
                if child.try_wait().unwrap().is_some() {
                    return;
                }
                thread::sleep(LOOK);
            }
            panic!("{point} is not reached: {}", read(&log));
        });
    }

    fn die_at_random(&mut self) {
        let millis = 20 + self.random.below(700);
        let mut daemon = self.start("", &[]);
        assert!(self.is_up(&mut daemon), "{}", read(&daemon.log));
        self.work_until(&mut daemon, |child| {
            thread::sleep(Duration::from_millis(millis));
            child.kill().unwrap();
        });
        self.bury(daemon, "at random");
    }

    fn die_under_load(&mut self, point: &str, times: u64) {
        if let Some((_, records)) = OF_THE_INDEX.iter().find(|it| point.starts_with(it.0)) {
            self.fill(*records);
        }
        let mut daemon = self.start(&format!("{point}:{times}"), &[]);
        if self.is_up(&mut daemon) {
            self.work_until_dead(&mut daemon, point);
        }
        self.bury(daemon, point);
    }

    /// Stores captions without a daemon, which takes long to read them.
    fn fill(&mut self, records: usize) {
        let (store, space) = open(&self.state(), self.space.take()).unwrap();
        let mut ledger = self.ledger.lock().unwrap();
        let ids: Vec<SlotId> = (0..records).map(|_| ledger.open(Kind::Caption)).collect();
        let mut observed = Vec::new();
        for id in &ids {
            let (meta, caption) = load::seen(&mut ledger, *id);
            let random = |_| self.random.below(2_001) as f32 / 1_000.0 - 1.0;
            let vector = (0..space.dimension).map(random).collect();
            let vector = Embedding::new(vector, space.dimension).unwrap();
            observed
                .push((NewObservation { meta, caption, confidence: None, layer: None }, vector));
        }
        for (record, id) in store.commit_observations(&parse(&observed)).unwrap().iter().zip(ids) {
            ledger.slot(id).record = Some(record.id.0);
            ledger.slot(id).id = Some(record.id.to_string());
            ledger.settle(id);
        }
        self.space = Some(space);
    }

    fn die_at_start(&mut self, point: &str, flags: &[&str]) {
        let mut daemon = self.start(&format!("{point}:1"), flags);
        assert!(!self.is_up(&mut daemon), "{point} is not reached by a start");
        self.bury(daemon, point);
    }

    /// The captioner dies over each frame, so that some are set aside.
    fn die_setting_aside(&mut self) {
        let mut daemon = self.start("worker.asked:1,frame.set_aside:1", &[]);
        // A frame that waits from the life before may be set aside while the daemon starts.
        if self.is_up(&mut daemon) {
            self.work_until_dead(&mut daemon, "frame.set_aside");
        }
        *self.kills.entry("worker.asked (the captioner)".to_owned()).or_default() += 2;
        self.bury(daemon, "frame.set_aside");
    }

    fn die_stopping(&mut self) {
        let mut daemon = self.start("stop.closed:1", &[]);
        assert!(self.is_up(&mut daemon), "{}", read(&daemon.log));
        self.work_until(&mut daemon, |child| {
            thread::sleep(Duration::from_millis(200));
            kill_process(Pid::from_child(child), Signal::TERM).unwrap();
        });
        self.bury(daemon, "stop.closed");
    }

    fn die_in_salvage(&mut self, point: &str) {
        self.die_at_random();
        fs::write(self.state().join("db/conf"), "nothing that sled reads").unwrap();
        let salvage = ["--set", "store.on_damage=salvage"];
        let mut daemon = self.start(&format!("{point}:1"), &salvage);
        assert!(!self.is_up(&mut daemon), "{point} is not reached");
        self.count(&mut daemon, point);
        let mut daemon = self.start("", &salvage);
        assert!(self.is_up(&mut daemon), "{}", read(&daemon.log));
        daemon.child.kill().unwrap();
        daemon.child.wait().unwrap();
        // Somebody looked.
        let losses = Losses::in_dir(&self.state());
        let lost = losses.read().unwrap();
        assert!(lost[0].contains("is kept in damaged.1"), "{point}: {lost:?}");
        losses.settle().unwrap();
        fs::remove_dir_all(self.state().join("damaged.1")).unwrap();
        self.audit(point);
    }

    fn die_in_sealing(&mut self, point: &str) {
        let dir = tempfile::tempdir().unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store-format-1");
        copy(&fixture, &dir.path().join("state"));
        // The fixture leaves out the zeros at the end of sled's log.
        let log = File::options().write(true).open(dir.path().join("state/db/db")).unwrap();
        log.set_len(524_287).unwrap();
        let mut command = serve(dir.path(), &[]);
        command.env("FAILPOINT_KILLS", format!("{point}:1")).stderr(Stdio::null());
        let status = command.spawn().unwrap().wait().unwrap();
        assert_eq!(status.signal(), Some(Signal::KILL.as_raw()), "{point}: {status}");
        *self.kills.entry(point.to_owned()).or_default() += 1;
        let (store, _space) = open(&dir.path().join("state"), None).unwrap();
        assert_eq!((store.record_count(), store.problems()), (3, Vec::new()), "{point}");
        assert_eq!(store.scan().flatten().count(), 3);
        drop(store);
        assert_eq!(files_with(dir.path(), b"a red mug"), Vec::<PathBuf>::new(), "{point}");
    }

    /// Sees that it died as it should, and what it left.
    fn bury(&mut self, mut daemon: Daemon, point: &str) {
        self.count(&mut daemon, point);
        self.audit(point);
    }

    fn count(&mut self, daemon: &mut Daemon, point: &str) {
        eprintln!("crash: life {}, killed {point}", self.lives);
        let status = daemon.child.wait().unwrap();
        let log = read(&daemon.log);
        assert_eq!(status.signal(), Some(Signal::KILL.as_raw()), "{point}: {status}\n{log}");
        check_log(&log, point);
        *self.kills.entry(point.to_owned()).or_default() += 1;
    }

    /// Opens a copy of what is on disk, and holds it against what was answered.
    fn audit(&mut self, point: &str) {
        let copied = self.dir.path().join("copy");
        drop(fs::remove_dir_all(&copied));
        copy(&self.state(), &copied);
        let place = format!("seed {}, life {}, {point}", self.seed, self.lives);
        let (store, space) = match open(&copied, self.space.take()) {
            Ok(opened) => opened,
            Err(error) => panic!("{place}: {error}"),
        };
        self.space = Some(space);
        store.verify(|| false).unwrap();
        assert_eq!(store.problems(), Vec::<String>::new(), "{place}");
        let mut ledger = self.ledger.lock().unwrap();
        if let Err(fault) = ledger.audit(&store, RECORDS_MAX, load::image) {
            panic!("{place}: {fault}");
        }
        drop(store);
        let gone = ledger.gone();
        drop(ledger);
        let mut texts: Vec<String> = Vec::new();
        for token in gone {
            if self.known_gone.insert(token.clone()) {
                texts.push(token.clone());
            }
        }
        let fresh = texts.clone();
        for _ in 0..LOOKED_FOR_AGAIN.min(self.looked_for.len()) {
            let at = self.random.below(self.looked_for.len() as u64);
            texts.push(self.looked_for[usize::try_from(at).unwrap()].clone());
        }
        self.looked_for.extend(fresh);
        let found = self.search(&copied, texts);
        // The index is written anew within minutes, and the nouns with it.
        let found = found.iter().filter(|it| !it.contains("of the index") && !it.contains("noun"));
        assert_eq!(found.collect::<Vec<_>>(), Vec::<&String>::new(), "{place}");
    }

    /// Where any of these is left.
    fn search(&mut self, dir: &Path, texts: Vec<String>) -> Vec<String> {
        assert_eq!(files_with(dir, MARK.as_bytes()), Vec::<PathBuf>::new(), "in plain text");
        let erased = Erased { texts, ..Erased::default() };
        let residue = residue::search(dir, &KeySource::InStore, &erased).unwrap();
        assert!(residue.opened > 10, "the search opens nothing");
        self.searches += erased.texts.len() as u64;
        self.bytes_searched += residue.bytes;
        residue.found.into_iter().map(|it| format!("{} ({})", it.what, it.file.display())).collect()
    }

    /// The last life ends in order; all that was ever forgotten is gone within the time that is
    /// promised.
    fn finish(mut self) -> String {
        let all: Vec<String> = self.ledger.lock().unwrap().gone();
        let mut daemon = self.start("", &[]);
        assert!(self.is_up(&mut daemon), "{}", read(&daemon.log));
        let state = self.state();
        let mut left = Vec::new();
        wait_for(|| {
            left = self.search(&state, all.clone());
            left.is_empty()
        });
        kill_process(Pid::from_child(&daemon.child), Signal::TERM).unwrap();
        let status = daemon.child.wait().unwrap();
        assert!(status.success(), "{status}: {}", read(&daemon.log));
        check_log(&read(&daemon.log), "the last stop");
        drop(daemon);
        self.audit("the last stop");
        let mut ledger = self.ledger.lock().unwrap();
        let (store, _space) = open(&self.dir.path().join("copy"), self.space.take()).unwrap();
        let found = ledger.audit(&store, RECORDS_MAX, load::image).unwrap();
        let mut report = format!(
            "\nseed {}: {} kills\n\n| killed at | times |\n|---|---|\n",
            self.seed,
            self.kills.values().sum::<u64>()
        );
        for (point, times) in &self.kills {
            report.push_str(&format!("| {point} | {times} |\n"));
        }
        report.push_str(&format!(
            "\nanswered: {} writes, {} erasures; dropped by retention: {}\n\
             there at the end: {} entries, {} images; lost 0, twice 0, come back 0\n\
             of {} secrets that were erased or written over, looked for {} times in {} MiB: 0 left\n",
            ledger.writes,
            ledger.erasures,
            ledger.dropped(),
            found.entries,
            found.images,
            all.len(),
            self.searches,
            self.bytes_searched >> 20,
        ));
        report
    }
}

/// Opens a store of whatever embedder.
fn open(dir: &Path, space: Option<EmbeddingSpace>) -> Result<(Store, EmbeddingSpace), StoreError> {
    let nobody =
        || EmbeddingSpace { model: String::new(), fingerprint: String::new(), dimension: 1 };
    let space = space.unwrap_or_else(nobody);
    let opened = CheckedStore::open(Options::at(dir.to_owned()))?.into_store(&space);
    match opened {
        Err(StoreError::OtherEmbedder { found, .. }) => {
            let store = Store::open(&Options::at(dir.to_owned()), &found)?;
            Ok((store, *found))
        }
        opened => Ok((opened?, space)),
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

fn read(log: &Path) -> String {
    fs::read_to_string(log).unwrap_or_default()
}

/// What a daemon may say of a kill before it.
const EXPECTED: &[&str] = &[
    "an image that no entry names was moved aside",
    "frame set aside",
    "the captioner failed over this frame",
    // What the test itself wrote.
    "were open to other users",
    "what is whole of the store is saved",
    // sled's of the damaged file.
    "crc for settings file",
    "failed to parse persisted config line",
    // Whether it did, the audit says: of a commit that was cut short it may save the one half,
    // a frame's record, and miss the other, the frame that waited.
    "the store lost something",
];

fn check_log(log: &str, point: &str) {
    for line in log.lines().filter(|it| !it.contains(" INFO ")) {
        assert!(EXPECTED.iter().any(|it| line.contains(it)), "{point}: {line}\nin {log}");
    }
}

/// Files below a directory that hold these bytes.
fn files_with(dir: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
        } else if memchr::memmem::find(&fs::read(&path).unwrap_or_default(), bytes).is_some() {
            found.push(path);
        }
    }
    found
}
