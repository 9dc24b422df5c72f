//! sled, with what it lacks: commits that outlive a power cut and are
//! witnessed, and a life after a write that failed.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use sled::IVec;

use crate::base::failpoint::failpoint;
use crate::base::time::{Clock as _, SystemClock};
use crate::store::StoreError;
use crate::store::backup::ChangedKeys;
use crate::store::blobs::BlobDirectory;
use crate::store::durable;
use crate::store::keys;
use crate::store::records;
use crate::store::room;
use crate::store::trial;
use crate::store::witness::{KindSum, Loss, Witness, WitnessFile};

/// For sled's own lock. The directory's lock is ours by now, so that only a store
/// that this process closed just now can hold it: sled's threads let go of it a
/// little after sled itself was dropped.
const WAIT: Duration = Duration::from_millis(20);
const WAITS_MAX: u32 = 250;

/// Times that a page is asked for once more.
const CROWDING: usize = 3;

/// Entries counted anew without a pause for writers.
const RECOUNTED_AT_ONCE: usize = 256;
/// Between two tries to open a database again that failed.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// sled's database; clones share it.
#[derive(Clone)]
pub(super) struct Database(Arc<Shared>);

struct Shared {
    path: PathBuf,
    cache_bytes: u64,
    /// `None` while it is opened again after a failure.
    handles: RwLock<Option<Handles>>,
    accounts: Mutex<Accounts>,
    /// Whether `Accounts::changed` is there.
    is_noting: AtomicBool,
}

struct Handles {
    db: sled::Db,
    /// sled's log, opened once more: sled hands it to the kernel with
    /// `sync_file_range`, which survives the process but not a power cut.
    log: File,
}

/// What a commit needs to know of those before it.
struct Accounts {
    /// As of the last commit that was acknowledged.
    witness: Witness,
    file: WitnessFile,
    /// Whether `file` could not be written, which is said once.
    file_failed: bool,
    blobs: BlobDirectory,
    recount: Option<Recount>,
    /// While somebody copies the database.
    changed: Option<ChangedKeys>,
    failure: Option<Failure>,
    #[cfg(test)]
    fail_next: Option<bool>,
}

/// Why nothing is written at the moment.
struct Failure {
    reason: String,
    /// The commit that failed, of which nobody knows whether it is on disk.
    unknown: Option<UnknownCommit>,
    tried_at: Option<Instant>,
}

struct UnknownCommit {
    commits: u64,
    /// What was there before, by key.
    undo: Vec<(Vec<u8>, Option<IVec>)>,
}

/// A kind that is counted anew, in the order of keys, while others write.
#[derive(Clone)]
struct Recount {
    kind: u8,
    /// Entries below are in `found`.
    counted_to: Vec<u8>,
    found: KindSum,
}

/// Changes that are made as a whole or not at all.
#[derive(Debug, Default)]
pub(super) struct Batch(BTreeMap<Vec<u8>, Option<Vec<u8>>>);

impl Batch {
    pub(super) fn insert(&mut self, key: impl AsRef<[u8]>, value: impl Into<Vec<u8>>) {
        self.0.insert(key.as_ref().to_vec(), Some(value.into()));
    }

    pub(super) fn remove(&mut self, key: impl AsRef<[u8]>) {
        self.0.insert(key.as_ref().to_vec(), None);
    }
}

/// Entries by their keys, `None` where they are gone, and the witness of all.
pub(super) type LastChanges = (Vec<(Vec<u8>, Option<Vec<u8>>)>, Witness);

/// The database's own witness beside the one outside of it.
#[derive(Debug)]
pub(super) struct Witnesses {
    pub(super) inside: Option<Witness>,
    pub(super) outside: Option<Witness>,
}

impl Database {
    /// Opens or makes the database. sled panics on some damage; that is an error here.
    pub(super) fn open(path: &Path, cache_bytes: u64) -> Result<Self, String> {
        let handles = Handles::open(path, cache_bytes)?;
        let accounts = Accounts {
            witness: Witness::default(),
            file: WitnessFile::beside(path),
            file_failed: false,
            blobs: BlobDirectory::of(path),
            recount: None,
            changed: None,
            failure: None,
            #[cfg(test)]
            fail_next: None,
        };
        let shared = Shared {
            path: path.to_owned(),
            cache_bytes,
            handles: RwLock::new(Some(handles)),
            accounts: Mutex::new(accounts),
            is_noting: AtomicBool::new(false),
        };
        let database = Self(Arc::new(shared));
        let inside = database.read_witness().map_err(|error| error.to_string())?;
        if let Some(inside) = inside {
            database.accounts().witness = inside;
        }
        Ok(database)
    }

    pub(super) fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.db()?.is_empty())
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.db()?.get(key).map_err(|error| self.fail_reading(error))
    }

    /// Has sled look for pages to drop, after one of many large values was read.
    ///
    /// sled looks when pages of one of 256 kinds were asked for 64 times. A scan asks
    /// once for each, and leaves up to 16,384 pages beyond the cache's bound. With
    /// these, reading the 160 MB of 300,000 records' index left 60 MB of them in memory
    /// rather than 155, and took no longer: what is dropped makes room for the next.
    pub(super) fn crowd_out(&self, key: &[u8]) -> Result<(), StoreError> {
        let db = self.db()?;
        for _ in 0..CROWDING {
            db.contains_key(key).map_err(|error| self.fail_reading(error))?;
        }
        Ok(())
    }

    /// Everything of one kind in the order of keys.
    pub(super) fn entries(&self, prefix: &[u8]) -> RawEntries {
        RawEntries::of(self, |db| db.scan_prefix(prefix))
    }

    /// Everything that is not below `start`.
    pub(super) fn from(&self, start: &[u8]) -> RawEntries {
        RawEntries::of(self, |db| db.range(start.to_vec()..))
    }

    /// How many entries of one kind there are.
    pub(super) fn count(&self, prefix: &[u8]) -> Result<usize, StoreError> {
        self.entries(prefix).try_fold(0, |count, entry| entry.map(|_| count + 1))
    }

    pub(super) fn contains(&self, key: &[u8]) -> Result<bool, StoreError> {
        self.db()?.contains_key(key).map_err(|error| self.fail_reading(error))
    }

    /// Everything between two keys, both included.
    pub(super) fn between(&self, first: &[u8], last: &[u8]) -> RawEntries {
        RawEntries::of(self, |db| db.range(first.to_vec()..=last.to_vec()))
    }

    /// Puts and removes what nobody counts, as a whole, with no promise that it outlives the
    /// process until a [`Database::flush`].
    pub(super) fn apply(&self, batch: Batch) -> Result<(), StoreError> {
        let mut writes = sled::Batch::default();
        let mut changed = Vec::with_capacity(batch.0.len());
        for (key, new) in batch.0 {
            match new {
                Some(new) => writes.insert(key.as_slice(), new),
                None => writes.remove(key.as_slice()),
            }
            changed.push(key);
        }
        self.guard(|db| db.apply_batch(writes))?;
        self.note_changed(&changed);
        Ok(())
    }

    /// Removes one value that nobody counts, with no promise that it stays away until a
    /// [`Database::flush`].
    pub(super) fn remove(&self, key: &[u8]) -> Result<(), StoreError> {
        self.guard(|db| db.remove(key).map(drop))?;
        self.note_changed(&[key]);
        Ok(())
    }

    /// Makes durable what was put or removed.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        let mut accounts = self.accounts();
        self.recover(&mut accounts)?;
        self.flush_handles(&mut accounts).map_err(|error| accounts.fail(error, None))
    }

    /// Applies a batch as a whole, with the witness of it; durable when it returns.
    ///
    /// After an error it is unknown whether the batch is there; it is taken back when the
    /// database was opened again, before anything else is written.
    pub(super) fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let mut accounts = self.accounts();
        self.recover(&mut accounts)?;
        let db = self.db()?;
        let mut witness = accounts.witness.clone();
        witness.commits += 1;
        let mut recount = accounts.recount.clone();
        let mut undo = Vec::with_capacity(batch.0.len() + 1);
        let mut writes = sled::Batch::default();
        for (key, new) in batch.0 {
            let old = db.get(&key).map_err(|error| accounts.fail(error.into(), None))?;
            witness.change(&key, old.as_deref(), new.as_deref());
            if let Some(recount) = &mut recount {
                recount.change(&key, old.as_deref(), new.as_deref());
            }
            match new {
                Some(new) => writes.insert(key.as_slice(), new),
                None => writes.remove(key.as_slice()),
            }
            undo.push((key, old));
        }
        let old = db.get(keys::WITNESS).map_err(|error| accounts.fail(error.into(), None))?;
        undo.push((keys::WITNESS.to_vec(), old));
        writes.insert(keys::WITNESS, records::encode(keys::WITNESS, &witness));
        failpoint!("commit.prepared");
        let applied = caught(|| db.apply_batch(writes).map_err(StoreError::from));
        failpoint!("commit.applied");
        let committed = applied.and_then(|()| self.flush_handles(&mut accounts));
        #[cfg(test)]
        let committed = committed.and_then(|()| accounts.fail_on_purpose(&db, &undo));
        if let Err(error) = committed {
            let unknown = UnknownCommit { commits: witness.commits, undo };
            return Err(accounts.fail(error, Some(unknown)));
        }
        if let Some(changed) = &mut accounts.changed {
            for (key, _) in &undo {
                changed.note(key);
            }
        }
        accounts.witness = witness;
        accounts.recount = recount;
        failpoint!("commit.synced");
        accounts.write_file();
        failpoint!("commit.witnessed");
        Ok(())
    }

    /// From now on notes which entries change, until [`Database::stop_noting`].
    pub(super) fn note_changes(&self) {
        let mut accounts = self.accounts();
        accounts.changed = Some(ChangedKeys::default());
        self.0.is_noting.store(true, Ordering::SeqCst);
    }

    pub(super) fn stop_noting(&self) {
        self.0.is_noting.store(false, Ordering::SeqCst);
        self.accounts().changed = None;
    }

    /// How many entries have changed that nobody has taken yet.
    pub(super) fn changed(&self) -> Result<usize, StoreError> {
        self.accounts().noted().map(|changed| changed.len())
    }

    /// Keys of entries that have changed. Those that change again come again.
    pub(super) fn take_changed(&self, most: usize) -> Result<Vec<Vec<u8>>, StoreError> {
        self.accounts().noted().map(|changed| changed.take(most))
    }

    /// The entries that have changed and are not taken yet, with the witness of the commit
    /// that all of them are of; `None` where there are more. Writers wait.
    pub(super) fn last_changes(&self, most: usize) -> Result<Option<LastChanges>, StoreError> {
        let mut accounts = self.accounts();
        let changed = accounts.noted()?;
        if changed.len() > most {
            return Ok(None);
        }
        let keys = changed.take(most);
        let mut entries = Vec::with_capacity(keys.len());
        for key in keys.into_iter().filter(|key| key != keys::WITNESS) {
            let value = self.get(&key)?.map(|value| value.to_vec());
            entries.push((key, value));
        }
        Ok(Some((entries, accounts.witness.clone())))
    }

    /// Of what was written outside of commits. Asked after the write: who begins to note
    /// later reads what was written.
    pub(super) fn note_changed(&self, keys: &[impl AsRef<[u8]>]) {
        if self.0.is_noting.load(Ordering::SeqCst)
            && let Some(changed) = &mut self.accounts().changed
        {
            for key in keys {
                changed.note(key.as_ref());
            }
        }
    }

    pub(super) fn disk_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.db()?.size_on_disk()?)
    }

    /// As of the last commit.
    pub(super) fn witness(&self) -> Witness {
        self.accounts().witness.clone()
    }

    /// Both witnesses as they are on disk.
    pub(super) fn witnesses(&self) -> Result<Witnesses, StoreError> {
        let inside = self.read_witness()?;
        let accounts = self.accounts();
        let outside = accounts.file.read();
        let outside =
            outside.map_err(|error| StoreError::io("read the witness", &self.0.path, &error))?;
        Ok(Witnesses { inside, outside })
    }

    /// Counts what there is of a kind, and says what differs from the witness, which says
    /// as it was found from the next commit on. Others may write meanwhile; `pause` is
    /// called between, and ends it where it returns true.
    pub(super) fn recount(
        &self,
        kind: u8,
        mut pause: impl FnMut() -> bool,
    ) -> Result<Option<Loss>, StoreError> {
        let new = Recount { kind, counted_to: vec![kind], found: KindSum::default() };
        self.accounts().recount = Some(new);
        loop {
            let mut accounts = self.accounts();
            let Some(mut recount) = accounts.recount.take() else { return Ok(None) };
            if recount.step(&self.db()?)? {
                accounts.recount = Some(recount);
                drop(accounts);
                if pause() {
                    self.accounts().recount = None;
                    return Ok(None);
                }
                continue;
            }
            let loss = Loss::between(kind, accounts.witness.of_kind(kind), recount.found);
            accounts.witness.set(kind, recount.found);
            return Ok(loss);
        }
    }

    /// Kinds that are counted, or should be.
    pub(super) fn kinds(&self) -> Result<Vec<u8>, StoreError> {
        let mut kinds: Vec<u8> = self.accounts().witness.kinds().collect();
        let mut start = vec![0];
        while let Some(entry) = self.from(&start).next() {
            let (key, _) = entry?;
            let Some(first) = key.first() else { break };
            kinds.extend(Witness::kind_of(&key));
            let Some(next) = first.checked_add(1) else { break };
            start = vec![next];
        }
        kinds.sort_unstable();
        kinds.dedup();
        Ok(kinds)
    }

    /// Why nothing is written at the moment, after another try to go on.
    pub(super) fn failure(&self) -> Option<String> {
        // Where a commit is under way, there is none to be told of.
        let mut accounts = match self.0.accounts.try_lock() {
            Ok(accounts) => accounts,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        // Its outcome stands in `failure`.
        drop(self.recover(&mut accounts));
        accounts.failure.as_ref().map(|failure| failure.reason.clone())
    }

    fn db(&self) -> Result<sled::Db, StoreError> {
        // Who only reads may be the only one left to open the database again.
        drop(self.failure());
        let handles = self.0.handles.read().unwrap_or_else(PoisonError::into_inner);
        let reason = "it is being opened again after a failure";
        let closed = || StoreError::Database { reason: reason.to_owned() };
        handles.as_ref().map(|it| it.db.clone()).ok_or_else(closed)
    }

    /// After a write that failed in the background sled answers reads with its error, and it is
    /// a read that learns of it first.
    fn fail_reading(&self, error: sled::Error) -> StoreError {
        let is_of_a_write = is_shortage(&error);
        let error = StoreError::from(error);
        // Where a commit is under way, it learns of it by itself.
        match self.0.accounts.try_lock() {
            Ok(mut accounts) if is_of_a_write => accounts.fail(error, None),
            _ => error,
        }
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        // Changed only after a commit, in steps that cannot panic.
        self.0.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_witness(&self) -> Result<Option<Witness>, StoreError> {
        let key = keys::WITNESS;
        let Some(value) = self.get(key)? else { return Ok(None) };
        records::decode(key, &value).map(Some).map_err(|fault| StoreError::damaged(key, &fault))
    }

    /// A write outside of commits: after a failed one sled takes no more.
    fn guard(&self, write: impl FnOnce(&sled::Db) -> sled::Result<()>) -> Result<(), StoreError> {
        let db = self.db()?;
        caught(|| write(&db).map_err(StoreError::from))
            .map_err(|error| self.accounts().fail(error, None))
    }

    fn flush_handles(&self, accounts: &mut Accounts) -> Result<(), StoreError> {
        let handles = self.0.handles.read().unwrap_or_else(PoisonError::into_inner);
        let Some(Handles { db, log }) = handles.as_ref() else { return Ok(()) };
        caught(|| db.flush().map(drop).map_err(StoreError::from))?;
        failpoint!("log.flushed");
        let io = |error| StoreError::io("sync the log", &self.0.path, &error);
        accounts.blobs.sync().map_err(io)?;
        log.sync_data().map_err(io)?;
        if self.is_removed(log).map_err(io)? { Err(self.removed()) } else { Ok(()) }
    }

    /// Whether what is written is in no directory, and gone with this process.
    fn is_removed(&self, log: &File) -> io::Result<bool> {
        let held = log.metadata()?;
        // Some file systems count no names: then the one that it should have is looked at.
        let is_named = |named: Metadata| (named.dev(), named.ino()) == (held.dev(), held.ino());
        Ok(held.nlink() == 0 && !fs::metadata(self.0.path.join("db")).is_ok_and(is_named))
    }

    fn removed(&self) -> StoreError {
        let path = self.0.path.display();
        let reason = format!(
            "{path} was removed while it is open, and with it what was stored; stop the daemon, and \
             restore a backup or begin anew"
        );
        StoreError::Database { reason }
    }

    /// Opens the database again after a failure, once the disk takes writes again, and takes
    /// the commit back of which nobody knows whether it was made.
    fn recover(&self, accounts: &mut Accounts) -> Result<(), StoreError> {
        let Some(failure) = &mut accounts.failure else { return Ok(()) };
        let stopped = |reason: &str| StoreError::Stopped { reason: reason.to_owned() };
        if failure.tried_at.is_some_and(|it| it.elapsed() < TRY_EVERY) {
            return Err(stopped(&failure.reason));
        }
        failure.tried_at = Some(SystemClock.tick());
        // A database is not made anew in the place of one that was removed.
        if !self.0.path.join("db").exists() {
            return Err(stopped(&failure.reason));
        }
        let dir = self.0.path.parent().unwrap_or(&self.0.path);
        room::probe(dir).map_err(|_error| stopped(&failure.reason))?;
        let unknown = failure.unknown.as_ref();
        let reopened = self.reopen().and_then(|()| {
            let found = self.read_witness()?.map_or(0, |it| it.commits);
            match unknown {
                _ if found == accounts.witness.commits => Ok(()),
                Some(unknown) if found == unknown.commits => self.undo(unknown),
                _ => Err(StoreError::Database {
                    reason: format!(
                        "it holds {found} commits, acknowledged are {}",
                        accounts.witness.commits
                    ),
                }),
            }
        });
        if let Err(error) = reopened {
            failure.reason = format!("it cannot be opened again: {error}");
            return Err(stopped(&failure.reason));
        }
        log::info!("the store takes writes again");
        accounts.failure = None;
        accounts.blobs = BlobDirectory::of(&self.0.path);
        Ok(())
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let mut handles = self.0.handles.write().unwrap_or_else(PoisonError::into_inner);
        let closed = handles.take();
        // sled may panic on what it could not write.
        caught(|| {
            drop(closed);
            Ok(())
        })?;
        let opened = Handles::open(&self.0.path, self.0.cache_bytes);
        *handles = Some(opened.map_err(|reason| StoreError::Database { reason })?);
        Ok(())
    }

    fn undo(&self, unknown: &UnknownCommit) -> Result<(), StoreError> {
        let db = self.db()?;
        let mut writes = sled::Batch::default();
        for (key, old) in &unknown.undo {
            match old {
                Some(old) => writes.insert(key.as_slice(), old),
                None => writes.remove(key.as_slice()),
            }
        }
        caught(|| db.apply_batch(writes).map_err(StoreError::from))?;
        caught(|| db.flush().map(drop).map_err(StoreError::from))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let accounts = self.accounts.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = accounts.file.sync() {
            log::warn!(error:%; "the witness could not be synced");
        }
        let is_copy = self.path.extension().is_some();
        if is_copy || accounts.failure.is_some() {
            return;
        }
        // sled writes its last as it is dropped.
        drop(self.handles.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        failpoint!("stop.closed");
        if let Err(error) = trial::note_closed(&self.path) {
            log::warn!(error:%; "the next start will copy the database first");
        }
    }
}

impl Handles {
    fn open(path: &Path, cache_bytes: u64) -> Result<Self, String> {
        let config = sled::Config::new().path(path).cache_capacity(cache_bytes);
        let mut waits = 0;
        let db = loop {
            let opened = panic::catch_unwind(AssertUnwindSafe(|| config.open()));
            match opened {
                Ok(Ok(db)) => break db,
                Ok(Err(error)) if is_held(&error) && waits < WAITS_MAX => {
                    waits += 1;
                    thread::sleep(WAIT);
                }
                Ok(Err(error)) => return Err(describe(&error)),
                Err(_panic) => return Err("a part of its log is damaged".to_owned()),
            }
        };
        let log = File::open(path.join("db")).map_err(|error| error.to_string())?;
        // sled does not make the names of its files durable.
        durable::sync_dir(path).map_err(|error| error.to_string())?;
        Ok(Self { db, log })
    }
}

impl Accounts {
    fn fail(&mut self, error: StoreError, unknown: Option<UnknownCommit>) -> StoreError {
        let reason =
            if let StoreError::Stopped { reason } = error { reason } else { error.to_string() };
        // The first failure is the cause; a commit is not tried after it.
        let failure = self.failure.get_or_insert_with(|| {
            log::error!(reason:%; "the store takes no writes");
            Failure { reason, unknown: None, tried_at: None }
        });
        if unknown.is_some() {
            failure.unknown = unknown;
        }
        let reason = failure.reason.clone();
        if let Some(changed) = &mut self.changed {
            changed.end("a write of the store failed");
        }
        StoreError::Stopped { reason }
    }

    fn noted(&mut self) -> Result<&mut ChangedKeys, StoreError> {
        let given_up = |reason: &str| StoreError::Database {
            reason: format!("it cannot be copied as of one moment, {reason}; try again"),
        };
        let changed = self.changed.as_mut().ok_or_else(|| given_up("another copy was begun"))?;
        changed.ended().map_or(Ok(()), |reason| Err(given_up(reason)))?;
        Ok(changed)
    }

    fn write_file(&mut self) {
        // Once more by its name: the file system may have been mounted anew.
        let written = self.file.write(&self.witness).or_else(|_error| {
            self.file.close();
            self.file.write(&self.witness)
        });
        if let Err(error) = &written
            && !self.file_failed
        {
            // The change itself is durable; only its witness lags.
            log::warn!(error:%; "the witness could not be written");
        }
        self.file_failed = written.is_err();
    }
}

impl Recount {
    /// Counts some more; whether there may be others.
    fn step(&mut self, db: &sled::Db) -> Result<bool, StoreError> {
        for entry in db.range(self.counted_to.clone()..).take(RECOUNTED_AT_ONCE) {
            let (key, value) = entry?;
            if key.first() != Some(&self.kind) {
                return Ok(false);
            }
            self.found.add(&key, &value);
            self.counted_to = [&key, [0].as_slice()].concat();
        }
        Ok(db.range(self.counted_to.clone()..).next().is_some())
    }

    fn change(&mut self, key: &[u8], old: Option<&[u8]>, new: Option<&[u8]>) {
        if key.first() == Some(&self.kind) && key < self.counted_to.as_slice() {
            self.found.replace(key, old, new);
        }
    }
}

/// Turns a panic of sled's into an error.
fn caught<T>(work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_panic| {
        Err(StoreError::Database { reason: "it could not write its log".to_owned() })
    })
}

/// What is wrong, in words for an operator: sled's name offsets and line numbers of its own.
pub(super) fn describe(error: &sled::Error) -> String {
    match error {
        // sled passes some on as they are debugged.
        sled::Error::Io(error) => {
            let text = error.to_string();
            let message = text.split_once("message: \"").and_then(|(_, it)| it.split('"').next());
            message.map_or_else(|| text.clone(), str::to_owned)
        }
        sled::Error::Corruption { .. } => "a part of its log is damaged".to_owned(),
        sled::Error::Unsupported(_) => "its settings (the file \"conf\") are damaged".to_owned(),
        sled::Error::CollectionNotFound(_) | sled::Error::ReportableBug(_) => {
            "a part of its log is missing".to_owned()
        }
    }
}

/// Whether the disk takes no writes; sled keeps the kind of such an error, and not its number.
pub(super) fn is_shortage(error: &sled::Error) -> bool {
    let sled::Error::Io(io) = error else { return false };
    matches!(
        io.kind(),
        ErrorKind::ReadOnlyFilesystem
            | ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::OutOfMemory
    )
}

/// Whether sled still holds its own lock on the log.
fn is_held(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(io) if io.to_string().contains("could not acquire lock"))
}

impl std::fmt::Debug for Database {
    /// Not what it holds: sled would print every page.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("path", &self.0.path).finish_non_exhaustive()
    }
}

/// Keys and values in order. After an error there is no more.
pub(super) struct RawEntries {
    database: Database,
    iter: Option<sled::Iter>,
    /// Why there is no iterator.
    error: Option<StoreError>,
}

impl RawEntries {
    fn of(database: &Database, entries: impl FnOnce(&sled::Db) -> sled::Iter) -> Self {
        let (iter, error) = match database.db() {
            Ok(db) => (Some(entries(&db)), None),
            Err(error) => (None, Some(error)),
        };
        Self { database: database.clone(), iter, error }
    }

    fn entry(&self, entry: sled::Result<(IVec, IVec)>) -> Result<(IVec, IVec), StoreError> {
        entry.map_err(|error| self.database.fail_reading(error))
    }
}

impl std::fmt::Debug for RawEntries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RawEntries")
    }
}

impl Iterator for RawEntries {
    type Item = Result<(IVec, IVec), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.error.take() {
            return Some(Err(error));
        }
        let entry = self.iter.as_mut()?.next()?;
        Some(self.entry(entry))
    }
}

impl DoubleEndedIterator for RawEntries {
    fn next_back(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.error.take() {
            return Some(Err(error));
        }
        let entry = self.iter.as_mut()?.next_back()?;
        Some(self.entry(entry))
    }
}

#[cfg(test)]
impl Database {
    pub(super) fn has_synced_blob(&self, name: &std::ffi::OsStr) -> bool {
        self.accounts().blobs.is_synced(name)
    }

    /// The next commit fails, after it was made or as if it never was.
    pub(super) fn fail_next_commit(&self, is_on_disk: bool) {
        self.accounts().fail_next = Some(is_on_disk);
    }
}

#[cfg(test)]
impl Accounts {
    fn fail_on_purpose(
        &mut self,
        db: &sled::Db,
        undo: &[(Vec<u8>, Option<IVec>)],
    ) -> Result<(), StoreError> {
        let Some(is_on_disk) = self.fail_next.take() else { return Ok(()) };
        if !is_on_disk {
            for (key, old) in undo {
                match old {
                    Some(old) => db.insert(key, old)?,
                    None => db.remove(key)?,
                };
            }
        }
        Err(StoreError::Database { reason: "no space, on purpose".to_owned() })
    }
}
