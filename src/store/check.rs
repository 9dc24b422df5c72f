//! Integrity check on opening: refuses a directory that is not the whole store.
//!
//! Nothing is repaired here. Order: lock, manifest, database, then the database
//! against the manifest.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base::RecordId;
use crate::store::Counters;
use crate::store::Options;
use crate::store::StoreError;
use crate::store::database::{Batch, Database, Witnesses};
use crate::store::durable;
use crate::store::keys;
use crate::store::lock::DirectoryLock;
use crate::store::losses::Losses;
use crate::store::manifest::Manifest;
use crate::store::records::{
    self, FormatOnDisk, PromiseOnDisk, RecordOnDisk, RemovedOnDisk, TallyOnDisk,
};
use crate::store::sealed_database::SealedDatabase;
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
}

/// Kinds of which there may be as many as records: they are counted after the start.
const LARGE_KINDS: [&[u8]; 2] = [keys::RECORDS, keys::VECTORS];

pub(super) fn open(options: &Options) -> Result<Opened, StoreError> {
    let dir = &options.dir;
    fs::create_dir_all(dir).map_err(|error| StoreError::io("make the directory", dir, &error))?;
    let lock = DirectoryLock::take(dir)?;
    unlock::finish_sealing(dir)?;
    let manifest = Manifest::in_dir(dir);
    let promise = manifest.read()?;
    let promised = promise.as_ref().is_some_and(holds_something);
    let copy_kept = if promised { DatabaseCopy::keep(dir)? } else { DatabaseCopy::default() };

    let open = || {
        Database::open(&dir.join("db"), options.sled_cache_bytes).map_err(|reason| {
            copy_kept.not_whole(dir, format!("its database does not open, {reason}"))
        })
    };
    let mut raw = open()?;
    if !promised {
        // sled writes its first snapshot when it opens a log that is there already.
        // Without one, the next start would have to keep a copy; see `DatabaseCopy`.
        drop(raw);
        raw = open()?;
    }
    let db = unlock::unlock(options, raw, promised)?;
    let format = db.read::<FormatOnDisk>(keys::FORMAT).map_err(|error| blame(error, dir))?;
    let tally = db.read::<TallyOnDisk>(keys::TALLY).map_err(|error| blame(error, dir))?;
    let removed = db.read::<RemovedOnDisk>(keys::REMOVED).map_err(|error| blame(error, dir))?;
    let removed = removed.unwrap_or(RemovedOnDisk { removed: 0, below: 0 });
    let tally = tally.unwrap_or_else(|| TallyOnDisk::of((1, 1), 0, Counters::default()));
    let promise = match promise {
        None if tally.next_record > 1 || tally.next_ticket > 1 => {
            let reason = "its manifest is missing".to_owned();
            return Err(copy_kept.not_whole(dir, reason));
        }
        promise => promise.unwrap_or_else(nothing_promised),
    };
    let newest = newest_record(&db, &tally)?;
    compare(&db, &promise, &tally, removed.removed)?
        .map_err(|reason| copy_kept.not_whole(dir, reason))?;
    let losses = Losses::in_dir(dir);
    compare_witnesses(db.raw(), &losses)?.map_err(|reason| copy_kept.not_whole(dir, reason))?;
    copy_kept.drop_copy();
    Ok(Opened { lock, manifest, db, format, tally, removed, newest, losses })
}

/// Compares what the database holds with what was acknowledged: commit by commit, then
/// entry by entry of all kinds but the largest. A database that lost its last commits is a
/// fault; entries that are missing from it are noted, the rest is there.
fn compare_witnesses(db: &Database, losses: &Losses) -> Result<Result<(), String>, StoreError> {
    let Witnesses { inside, outside } = db.witnesses()?;
    match (&inside, &outside) {
        (None, None) => return adopt(db).map(Ok),
        (Some(inside), Some(outside)) if inside.commits == outside.commits => {
            if inside != outside {
                return Ok(Err("its database is not the one that its witness is of".to_owned()));
            }
        }
        (Some(inside), None) => {
            if inside.commits > 1 {
                let lost = "the witness of the database was missing: whether its last commits \
                            are there cannot be told";
                losses.note(lost)?;
            }
        }
        (inside, Some(outside)) => {
            let nothing = Witness::default();
            let inside = inside.as_ref().unwrap_or(&nothing);
            if inside.commits < outside.commits {
                let lost: Vec<String> =
                    outside.losses(inside).iter().map(ToString::to_string).collect();
                return Ok(Err(format!(
                    "the last {} of {} commits are missing from its database ({})",
                    outside.commits - inside.commits,
                    outside.commits,
                    lost.join("; ")
                )));
            }
        }
    }
    let mut is_any_lost = false;
    for kind in db.kinds()? {
        if LARGE_KINDS.contains(&[kind].as_slice()) {
            continue;
        }
        if let Some(loss) = db.recount(kind, || false)? {
            losses.note(&loss.to_string())?;
            is_any_lost = true;
        }
    }
    if is_any_lost {
        // The witness says from now on what was found.
        db.commit(Batch::default())?;
    }
    Ok(Ok(()))
}

/// Counts a store that an earlier build wrote.
fn adopt(db: &Database) -> Result<(), StoreError> {
    if db.is_empty()? {
        return Ok(());
    }
    for kind in db.kinds()? {
        db.recount(kind, || false)?;
    }
    db.commit(Batch::default())
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

/// A copy of the database, made where opening it could destroy what is left.
///
/// sled writes a snapshot whenever it opens a log that grew. Where there is none
/// although the manifest promises content, somebody removed it, and sled then
/// truncates a log that was cut short. The copy is removed once all was found.
#[derive(Debug, Default)]
struct DatabaseCopy {
    copy: Option<PathBuf>,
    /// Made by an earlier open that was refused: not ours to remove.
    earlier: bool,
}

impl DatabaseCopy {
    fn keep(dir: &Path) -> Result<Self, StoreError> {
        let db = dir.join("db");
        if !db.join("db").is_file() {
            return Err(Self::default().not_whole(dir, "its database is missing".to_owned()));
        }
        if has_snapshot(&db).map_err(|error| StoreError::io("list", &db, &error))? {
            return Ok(Self::default());
        }
        let copy = dir.join("db.kept");
        let earlier = copy.exists();
        if !earlier {
            let draft = copy.with_extension(durable::DRAFT);
            copy_tree(&db, &draft)
                .and_then(|()| fs::rename(&draft, &copy))
                .map_err(|error| StoreError::io("copy the database to", &copy, &error))?;
        }
        Ok(Self { copy: Some(copy), earlier })
    }

    fn not_whole(&self, dir: &Path, reason: String) -> StoreError {
        let kept = self.copy.as_ref().map_or_else(String::new, |copy| {
            format!(", and the database as it was found is kept in {}", copy.display())
        });
        StoreError::NotWhole { path: dir.to_owned(), reason, kept }
    }

    fn drop_copy(self) {
        if let Some(copy) = self.copy
            && !self.earlier
            && let Err(error) = fs::remove_dir_all(&copy)
        {
            log::warn!(error:%; "cannot remove {}, a copy of the database", copy.display());
        }
    }
}

fn has_snapshot(db: &Path) -> std::io::Result<bool> {
    for entry in fs::read_dir(db)? {
        let name = entry?.file_name();
        if name.to_string_lossy().starts_with("snap.") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Copies a directory with everything in it; `to` may be there and be empty.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
