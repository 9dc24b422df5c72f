//! Integrity check on opening: refuses a directory that is not the whole store.
//!
//! Nothing is repaired here, and what is refused is as it was. Order: lock, manifest, a copy
//! of the database against its witness, the database, then that against the manifest.

use std::fs;
use std::path::Path;

use crate::base::RecordId;
use crate::base::failpoint::failpoint;
use crate::store::Counters;
use crate::store::Options;
use crate::store::StoreError;
use crate::store::backup::unfinished;
use crate::store::database::{Batch, Database, Witnesses};
use crate::store::frames::Frames;
use crate::store::keys;
use crate::store::lock::DirectoryLock;
use crate::store::losses::Losses;
use crate::store::manifest::Manifest;
use crate::store::records::{
    self, FormatOnDisk, PromiseOnDisk, RecordOnDisk, RemovedOnDisk, TallyOnDisk,
};
use crate::store::room::Room;
use crate::store::salvage;
use crate::store::sealed;
use crate::store::sealed_database::SealedDatabase;
use crate::store::trial::{self, Trial};
use crate::store::unlock;
use crate::store::witness::Witness;

/// Checked parts of a store.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) lock: DirectoryLock,
    pub(super) manifest: Manifest,
    pub(super) db: SealedDatabase,
    /// `None` in a store that is new.
    pub(super) format: Option<FormatOnDisk>,
    pub(super) tally: TallyOnDisk,
    pub(super) removed: RemovedOnDisk,
    /// Newest record and its [`records::witness`].
    pub(super) newest: Option<(u64, u32)>,
    pub(super) losses: Losses,
    /// An earlier engram kept it, in plain text.
    pub(super) was_plain: bool,
}

/// Kinds of which there may be as many as records: they are counted after the start.
const LARGE_KINDS: [&[u8]; 2] = [keys::RECORDS, keys::VECTORS];

pub(super) fn open(options: &Options) -> Result<Opened, StoreError> {
    let dir = &options.dir;
    fs::create_dir_all(dir).map_err(|error| StoreError::io("make the directory", dir, &error))?;
    let lock = DirectoryLock::take(dir)?;
    unfinished::check_none(dir)?;
    trial::remove_store_copy(dir)?;
    Room::check_start(dir)?;
    salvage::finish(dir)?;
    unlock::finish_sealing(dir)?;
    let manifest = Manifest::in_dir(dir);
    let promise = manifest.read()?;
    let promised = promise.as_ref().is_some_and(holds_something);
    let path = dir.join("db");
    let tried = if path.join("db").is_file() {
        try_on_copy(options, &path, promise.is_some())?
    } else {
        check_nothing_is_there(dir, promised)?;
        Tried::NothingThere
    };
    failpoint!("start.tried");
    trial::forget_note(&path).map_err(|error| StoreError::io("open", &path, &error))?;
    let raw = Database::open(&path, options.sled_cache_bytes)
        .map_err(|reason| tried.not_whole(dir, format!("its database does not open, {reason}")))?;
    let was_plain = raw.get(keys::FORMAT)?.is_some_and(|it| !sealed::is_sealed(&it));
    let db = unlock::unlock(options, raw, promised)?;
    let format = db.read::<FormatOnDisk>(keys::FORMAT).map_err(|error| blame(error, dir))?;
    let tally = db.read::<TallyOnDisk>(keys::TALLY).map_err(|error| blame(error, dir))?;
    let removed = db.read::<RemovedOnDisk>(keys::REMOVED).map_err(|error| blame(error, dir))?;
    let removed = removed.unwrap_or(RemovedOnDisk { removed: 0, below: 0 });
    let tally = tally.unwrap_or_else(|| TallyOnDisk::of((1, 1), 0, Counters::default()));
    let promise = match promise {
        None if tally.next_record > 1 || tally.next_ticket > 1 => {
            return Err(tried.not_whole(dir, "its manifest is missing".to_owned()));
        }
        promise => promise.unwrap_or_else(nothing_promised),
    };
    let newest = newest_record(&db, &tally)?;
    compare(&db, &promise, &tally, removed.removed)?
        .map_err(|reason| tried.not_whole(dir, reason))?;
    let losses = Losses::in_dir(dir);
    let lost = compare_witnesses(db.raw())?.map_err(|reason| tried.not_whole(dir, reason))?;
    for loss in &lost {
        losses.note(loss)?;
    }
    failpoint!("start.opened");
    let is_adopted = db.raw().witness().commits == 0 && !db.raw().is_empty()?;
    if is_adopted || !lost.is_empty() {
        // The witness says from now on what was found.
        db.raw().commit(Batch::default())?;
    }
    Ok(Opened { lock, manifest, db, format, tally, removed, newest, losses, was_plain })
}

/// What an examination found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Examined {
    /// There is no store yet.
    New,
    Whole {
        records: u64,
    },
    /// It opens, and entries are missing.
    Lossy {
        losses: Vec<String>,
    },
}

/// What a start would find, tried on a copy; the records are counted as well.
pub(super) fn examine(options: &Options) -> Result<Examined, StoreError> {
    let dir = &options.dir;
    let _lock = DirectoryLock::take(dir)?;
    let promise = Manifest::in_dir(dir).read()?;
    let path = dir.join("db");
    if !path.join("db").is_file() {
        check_nothing_is_there(dir, promise.as_ref().is_some_and(holds_something))?;
        return Ok(Examined::New);
    }
    let unchanged = |reason: String| Tried::NothingThere.not_whole(dir, reason);
    let trial = Trial::always(&path)
        .map_err(|error| StoreError::io("copy the database beside", &path, &error))?;
    let (copy, mut losses) = open_copy(options, &trial, promise.is_some())?;
    for kind in LARGE_KINDS.iter().filter_map(|kind| kind.first()) {
        match copy.recount(*kind, || false) {
            Ok(loss) => losses.extend(loss.map(|loss| loss.to_string())),
            Err(error) => return Err(unchanged(format!("its database cannot be read, {error}"))),
        }
    }
    let records = keys::RECORDS.first().map_or(0, |kind| copy.witness().of_kind(*kind).count);
    Ok(if losses.is_empty() { Examined::Whole { records } } else { Examined::Lossy { losses } })
}

/// What a refusal can say of the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tried {
    OnCopy,
    OnItself,
    NothingThere,
}

impl Tried {
    fn not_whole(self, dir: &Path, reason: String) -> StoreError {
        let kept = match self {
            Self::OnCopy => String::new(),
            Self::OnItself => "; opening it may have changed it".to_owned(),
            Self::NothingThere => "; nothing in its directory was changed".to_owned(),
        };
        StoreError::NotWhole { path: dir.to_owned(), reason, kept }
    }
}

/// Opens and compares a copy of the database, so that what is refused stays as it was.
fn try_on_copy(options: &Options, db: &Path, has_manifest: bool) -> Result<Tried, StoreError> {
    let trial =
        Trial::of(db).map_err(|error| StoreError::io("copy the database beside", db, &error))?;
    let Some(trial) = trial else { return Ok(Tried::OnItself) };
    open_copy(options, &trial, has_manifest)?;
    Ok(Tried::OnCopy)
}

/// Opens a copy of the database and compares it with its witness; what it lost.
fn open_copy(
    options: &Options,
    trial: &Trial,
    has_manifest: bool,
) -> Result<(Database, Vec<String>), StoreError> {
    let unchanged = |reason: String| Tried::NothingThere.not_whole(&options.dir, reason);
    let copy = Database::open(trial.path(), options.sled_cache_bytes)
        .map_err(|reason| unchanged(format!("its database does not open, {reason}")))?;
    unlock::check_key(options, &copy)?;
    let held = copy.witness();
    let holds_something = [keys::RECORDS, keys::SPOOL].into_iter().flatten();
    if !has_manifest && holds_something.copied().any(|kind| held.of_kind(kind).count > 0) {
        return Err(unchanged("its manifest is missing".to_owned()));
    }
    match compare_witnesses(&copy) {
        Ok(Ok(losses)) => Ok((copy, losses)),
        Ok(Err(reason)) => Err(unchanged(reason)),
        Err(error) => Err(unchanged(format!("its database cannot be read, {error}"))),
    }
}

/// Refuses to make a database where there was one: its images would be nobody's.
fn check_nothing_is_there(dir: &Path, promised: bool) -> Result<(), StoreError> {
    let reason = if promised || dir.join("db.witness").exists() {
        "its database is missing".to_owned()
    } else if Frames::is_any_in(&dir.join("frames")) {
        "its database and its manifest are missing, images are there".to_owned()
    } else {
        return Ok(());
    };
    Err(Tried::NothingThere.not_whole(dir, reason))
}

/// Compares what the database holds with what was acknowledged: commit by commit, then
/// entry by entry of all kinds but the largest. A database that lost its last commits is a
/// fault; of entries that are missing from it, the rest is there.
fn compare_witnesses(db: &Database) -> Result<Result<Vec<String>, String>, StoreError> {
    let Witnesses { inside, outside } = db.witnesses()?;
    let mut lost = Vec::new();
    match (&inside, &outside) {
        (None, None) => return adopt(db).map(|()| Ok(lost)),
        (Some(inside), Some(outside)) if inside.commits == outside.commits => {
            if inside != outside {
                return Ok(Err("its database is not the one that its witness is of".to_owned()));
            }
        }
        (Some(inside), None) => {
            if inside.commits > 1 {
                let text = "the witness of the database was missing: whether its last commits \
                            are there cannot be told";
                lost.push(text.to_owned());
            }
        }
        (inside, Some(outside)) => {
            let nothing = Witness::default();
            let inside = inside.as_ref().unwrap_or(&nothing);
            if inside.commits < outside.commits {
                let kinds: Vec<String> =
                    outside.losses(inside).iter().map(ToString::to_string).collect();
                return Ok(Err(format!(
                    "the last {} of {} commits are missing from its database ({})",
                    outside.commits - inside.commits,
                    outside.commits,
                    kinds.join("; ")
                )));
            }
        }
    }
    for kind in db.kinds()? {
        if !LARGE_KINDS.contains(&[kind].as_slice()) {
            lost.extend(db.recount(kind, || false)?.map(|loss| loss.to_string()));
        }
    }
    Ok(Ok(lost))
}

/// Counts a store that an earlier build wrote.
fn adopt(db: &Database) -> Result<(), StoreError> {
    for kind in db.kinds()? {
        db.recount(kind, || false)?;
    }
    Ok(())
}

fn holds_something(promise: &PromiseOnDisk) -> bool {
    promise.next_record > 1 || promise.next_ticket > 1
}

fn nothing_promised() -> PromiseOnDisk {
    PromiseOnDisk { records: 0, next_record: 1, next_ticket: 1, newest: None }
}

/// A value that the whole store depends on is not a single damaged one.
fn blame(error: StoreError, dir: &Path) -> StoreError {
    if let StoreError::Damaged { what, reason } = error {
        let (path, reason) = (dir.to_owned(), format!("{what} cannot be read, {reason}"));
        return StoreError::NotWhole { path, reason, kept: String::new() };
    }
    error
}

/// Compares the database with the manifest; the fault, if any.
fn compare(
    db: &SealedDatabase,
    promise: &PromiseOnDisk,
    tally: &TallyOnDisk,
    removed: u64,
) -> Result<Result<(), String>, StoreError> {
    let PromiseOnDisk { records, next_record, next_ticket, newest } = *promise;
    let stored = tally.records + removed;
    if stored < records || tally.next_record < next_record || tally.next_ticket < next_ticket {
        return Ok(Err(format!(
            "its manifest promises {records} records and {next_ticket_less} frames, \
             the database holds {found} and {found_ticket_less}",
            next_ticket_less = next_ticket - 1,
            found = stored,
            found_ticket_less = tally.next_ticket.saturating_sub(1),
        )));
    }
    let Some((id, expected)) = newest else { return Ok(Ok(())) };
    match read_witness(db, RecordId(id)) {
        Ok(Some(found)) if found == expected => Ok(Ok(())),
        Ok(Some(_)) => Ok(Err(format!("record {id} is not the one its manifest promises"))),
        Ok(None) => Ok(Err(format!("record {id}, which its manifest promises, is missing"))),
        // One damaged record is reported when it is read; the rest is there.
        Err(error) if error.concerns_one_value() => Ok(Ok(())),
        Err(error) => Err(error),
    }
}

fn newest_record(
    db: &SealedDatabase,
    tally: &TallyOnDisk,
) -> Result<Option<(u64, u32)>, StoreError> {
    let id = tally.next_record.saturating_sub(1);
    match read_witness(db, RecordId(id)) {
        Ok(witness) => Ok(witness.map(|witness| (id, witness))),
        Err(error) if error.concerns_one_value() => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_witness(db: &SealedDatabase, id: RecordId) -> Result<Option<u32>, StoreError> {
    let key = keys::record(id);
    let Some(on_disk) = db.read::<RecordOnDisk>(&key)? else { return Ok(None) };
    let record = on_disk.into_record(id).map_err(|fault| StoreError::damaged(&key, &fault))?;
    Ok(Some(records::witness(&record)))
}
