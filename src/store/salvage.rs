//! Salvage: a new database of what is whole among the bytes of a damaged one.
//!
//! Sealed values describe themselves ([`sealed`]), so that they are found wherever they lie
//! in sled's files, whatever sled itself makes of these. Of each entry the version counts that
//! was written last of those that are whole: where the last one is damaged and the one before
//! it has not lost its key yet, an older one is saved. The checksums of the witness tell that
//! of all kinds but those of which sled knows a number in place of the name (states, sessions,
//! keyframes; of these the one before loses its key within a minute). What was erased has no
//! key and stays away. The index is made anew from the records. The damaged store is only read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, FileExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::failpoint::failpoint;
use crate::base::time::{Timestamp, Zone};
use crate::store::Options;
use crate::store::StoreError;
use crate::store::copy::copy_tree;
use crate::store::database::{Batch as RawBatch, Database};
use crate::store::durable;
use crate::store::keyring::{KeyClass, KeyId, Keyring};
use crate::store::keys;
use crate::store::lock::DirectoryLock;
use crate::store::losses::Losses;
use crate::store::manifest::Manifest;
use crate::store::memos;
use crate::store::records::{self, PromiseOnDisk, RecordOnDisk, RemovedOnDisk, TallyOnDisk};
use crate::store::sealed::{self, Carved, Opened, Unreadable};
use crate::store::sealed_database::{Batch, SealedDatabase};
use crate::store::unlock;
use crate::store::witness::{self, KindSum, WitnessFile};

/// Bytes of a piece of sled's log, over whose ends no value reaches.
const PIECE_BYTES: usize = 512 << 10;
/// What a disk gives or refuses as a whole.
const PAGE_BYTES: usize = 4 << 10;
/// Entries put in one batch.
const PUT_AT_ONCE: usize = 1_024;
/// Records named of those that are lost; of more, how many.
const LOST_NAMED: usize = 100;

/// Damaged databases kept; with more there is a cause to look for.
const DAMAGED_MAX: usize = 10;
/// Where a new database is made, and the file in it that says it is whole.
const DRAFT: &str = "salvage.new";
const DONE: &str = "done";

/// Kinds that are made anew or say how the damaged database was kept.
const LEFT_BEHIND: [&[u8]; 8] = [
    keys::SEGMENTS,
    keys::CHUNKS,
    keys::AMENDMENTS,
    keys::NOUNS,
    keys::REINDEX,
    keys::WITNESS,
    keys::WRITES,
    keys::TALLY,
];

/// What was saved, and what was not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SalvageReport {
    pub kinds: Vec<SavedKind>,
    pub lost_records: Vec<LostRecord>,
    /// Records whose vector is lost.
    pub without_vector: usize,
    pub images: usize,
    /// Frames whose image is damaged.
    pub damaged_images: Vec<FrameTicket>,
}

/// What was saved of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedKind {
    pub kind: &'static str,
    /// How many there were by the witness; `None` where it cannot be read.
    pub promised: Option<u64>,
    pub saved: u64,
    /// All are there, and one at least as it was before it was stored last.
    pub has_older: bool,
}

impl SavedKind {
    /// What is wrong with it, in a sentence.
    fn loss(&self) -> Option<String> {
        let Self { kind, promised, saved, has_older } = self;
        let missing = promised.unwrap_or(0).saturating_sub(*saved);
        match promised {
            Some(promised) if missing > 0 => {
                Some(format!("{kind}: {missing} of {promised} are missing"))
            }
            _ if *has_older => {
                Some(format!("{kind}: {saved} are there, not all as they were last stored"))
            }
            _ => None,
        }
    }
}

/// A record that was there and cannot be read, with the times of those around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRecord {
    pub id: RecordId,
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
}

impl SalvageReport {
    /// For people, a line each.
    pub fn lines(&self, zone: Zone) -> Vec<String> {
        let Self { kinds, lost_records, without_vector, images, damaged_images } = self;
        let mut lines = Vec::new();
        for SavedKind { kind, promised, saved, has_older } in kinds {
            let older = if *has_older { ", not all as they were last stored" } else { "" };
            lines.push(match promised {
                Some(promised) => format!("{kind}: {saved} of {promised} saved{older}"),
                None => format!("{kind}: {saved} saved"),
            });
        }
        lines.push(format!("images: {images} saved, {} damaged", damaged_images.len()));
        let time = |at: Option<Timestamp>| at.map_or_else(|| "?".to_owned(), |at| zone.format(at));
        for LostRecord { id, after, before } in lost_records.iter().take(LOST_NAMED) {
            let (after, before) = (time(*after), time(*before));
            lines
                .push(format!("record {id} is lost, stored between those of {after} and {before}"));
        }
        if lost_records.len() > LOST_NAMED {
            lines.push(format!("{} more records are lost", lost_records.len() - LOST_NAMED));
        }
        if *without_vector > 0 {
            lines.push(format!(
                "{without_vector} records have no vector: `engram reindex` makes them anew"
            ));
        }
        lines
    }
}

/// Saves what is whole of the store of `options` into the new directory `target`, with
/// copies of its keys. The store must not be open.
pub fn repair(options: &Options, target: &Path) -> Result<SalvageReport, StoreError> {
    let dir = &options.dir;
    let io = |error: &io::Error| StoreError::io("save the store to", target, error);
    if fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some()) {
        let reason = "the directory to save to is not empty".to_owned();
        return Err(StoreError::Foreign { path: target.to_owned(), reason });
    }
    let _lock = DirectoryLock::take(dir)?;
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700).create(target).map_err(|error| io(&error))?;
    for name in ["key", "key.copy", "keyring", "keyring.copy"] {
        match fs::copy(dir.join(name), target.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(&error)),
            _ => {}
        }
    }
    if dir.join("audit").is_dir() {
        copy_tree(&dir.join("audit"), &target.join("audit")).map_err(|error| io(&error))?;
    }
    let keyring = Arc::new(unlock::keyring_in(target, options)?);
    let mut report = save(options, target, &keyring)?;
    (report.images, report.damaged_images) =
        save_images(&dir.join("frames"), &target.join("frames"), &keyring)
            .map_err(|error| io(&error))?;
    Ok(report)
}

/// Puts a new database of what is whole in the place of the damaged one, which is kept in a
/// directory `damaged.N` beside it, and notes what was lost. The store must not be open.
/// Killed in between, [`finish`] goes on or the next call begins again.
pub fn salvage_in_place(options: &Options) -> Result<SalvageReport, StoreError> {
    let dir = &options.dir;
    let io = |error: &io::Error| StoreError::io("save the database in", dir, error);
    let _lock = DirectoryLock::take(dir)?;
    let target = dir.join(DRAFT);
    match fs::remove_dir_all(&target) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(&error)),
        _ => {}
    }
    fs::create_dir(&target).map_err(|error| io(&error))?;
    let keyring = unlock::keyring_in(dir, options)?;
    let report = save(options, &target, &Arc::new(keyring))?;
    failpoint!("salvage.saved");
    let mut kept = (1..=DAMAGED_MAX).map(|n| format!("damaged.{n}"));
    let kept = kept.find(|name| !dir.join(name).exists()).ok_or_else(|| StoreError::NotWhole {
        path: dir.clone(),
        reason: format!("{DAMAGED_MAX} damaged databases are kept already; look at them"),
        kept: String::new(),
    })?;
    let losses = Losses::in_dir(dir);
    losses.note(&format!(
        "the database was damaged, and saved into a new one; it is kept in {kept}"
    ))?;
    for loss in report.kinds.iter().filter_map(SavedKind::loss) {
        losses.note(&loss)?;
    }
    for LostRecord { id, .. } in report.lost_records.iter().take(LOST_NAMED) {
        losses.note(&format!("record {id} is lost"))?;
    }
    durable::replace(&target.join(DONE), kept.as_bytes()).map_err(|error| io(&error))?;
    failpoint!("salvage.done");
    finish(dir)?;
    Ok(report)
}

/// Ends a salvage that a kill cut short after the new database was whole.
pub(super) fn finish(dir: &Path) -> Result<(), StoreError> {
    let io = |error: &io::Error| StoreError::io("put the saved database in", dir, error);
    let target = dir.join(DRAFT);
    let kept = match fs::read_to_string(target.join(DONE)) {
        Ok(kept) => dir.join(kept),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io(&error)),
    };
    fs::create_dir_all(&kept).map_err(|error| io(&error))?;
    for name in ["db", "db.witness", "db.clean", "manifest"] {
        let (saved, current) = (target.join(name), dir.join(name));
        let is_saved = saved.exists();
        // Else what is there was put there before a kill, or matters to nobody (`db.clean`).
        if current.exists() && is_saved {
            fs::rename(&current, kept.join(name)).map_err(|error| io(&error))?;
            failpoint!("salvage.kept");
        }
        if is_saved {
            fs::rename(&saved, &current).map_err(|error| io(&error))?;
            failpoint!("salvage.placed");
        }
    }
    durable::sync_dir(dir).and_then(|()| fs::remove_dir_all(&target)).map_err(|error| io(&error))
}

fn save(
    options: &Options,
    target: &Path,
    keyring: &Arc<Keyring>,
) -> Result<SalvageReport, StoreError> {
    let dir = &options.dir;
    let files = list_files(&dir.join("db"));
    let newest = find_newest(&files, keyring)?;
    let db = make_database(options, &target.join("db"), &newest, (&files, keyring))?;
    let mut saved = Saved::default();
    let mut batch = Batch::default();
    let mut entries = 0_usize;
    let mut put = BTreeSet::new();
    carve_files(&files, keyring, |carved| {
        let Carved { opened: Opened { write, entry, value }, sealed, .. } = carved;
        let is_newest = newest.entries.get(&entry) == Some(&write);
        // Copies of a page hold the same value.
        if !is_newest || is_left_behind(&entry) || !put.insert(entry.clone()) {
            return Ok(());
        }
        saved.count(&entry, &value);
        saved.checksums.insert(entry.clone(), witness::checksum(&entry, sealed));
        batch.insert(entry, value);
        entries += 1;
        if entries.is_multiple_of(PUT_AT_ONCE) {
            db.commit(std::mem::take(&mut batch))
        } else {
            Ok(())
        }
    })?;
    db.commit(std::mem::take(&mut batch))?;
    saved.finish(&db, newest.tally.as_ref())?;
    let mut report = saved.to_report(keyring);
    let promised = WitnessFile::beside(&dir.join("db")).read().ok().flatten();
    let found = db.raw().witness();
    for kind in [
        keys::RECORDS,
        keys::VECTORS,
        keys::NOTES,
        keys::MEMOS,
        keys::AGENT_STATES,
        keys::SESSIONS,
        keys::SPOOL,
        keys::SET_ASIDE,
        keys::KEYFRAMES,
    ] {
        let Some(letter) = kind.first() else { continue };
        let promised = promised.as_ref().map(|it| it.of_kind(*letter));
        let saved_count = found.of_kind(*letter).count;
        let is_other = |it: KindSum| it.count == saved_count && it != saved.sum_of(*letter);
        report.kinds.push(SavedKind {
            kind: keys::kind_name(*letter),
            promised: promised.map(|it| it.count),
            saved: saved_count,
            has_older: !keys::is_named(kind) && promised.is_some_and(is_other),
        });
    }
    Manifest::in_dir(target).write(&saved.to_promise())?;
    Ok(report)
}

/// The newest version of each entry that can be read.
#[derive(Debug, Default)]
struct Newest {
    entries: BTreeMap<Vec<u8>, u64>,
    last_write: u64,
    tally: Option<TallyOnDisk>,
}

fn find_newest(files: &[PathBuf], keyring: &Keyring) -> Result<Newest, StoreError> {
    let mut newest = Newest::default();
    carve_files(files, keyring, |Carved { opened: Opened { write, entry, value }, .. }| {
        newest.last_write = newest.last_write.max(write);
        let known = newest.entries.get(&entry).copied();
        if known.is_none_or(|known| known <= write) {
            if entry == keys::TALLY {
                newest.tally = records::decode(&entry, &value).ok();
            }
            newest.entries.insert(entry, write);
        }
        Ok(())
    })?;
    Ok(newest)
}

/// A new database that goes on with the numbers of the damaged one, and has erased what that
/// one still had to.
fn make_database(
    options: &Options,
    path: &Path,
    newest: &Newest,
    (files, keyring): (&[PathBuf], &Arc<Keyring>),
) -> Result<SealedDatabase, StoreError> {
    let raw = Database::open(path, options.sled_cache_bytes)
        .map_err(|reason| StoreError::Database { reason })?;
    let mut batch = RawBatch::default();
    let next = newest.last_write.saturating_add(1);
    let seal = |key: &[u8], value: &[u8]| sealed::seal(keyring, KeyId::KEPT, next, key, value);
    batch.insert(keys::WRITES, seal(keys::WRITES, &records::encode(keys::WRITES, &(next + 1)))?);
    let mut owed = Vec::new();
    carve_files(files, keyring, |Carved { opened: Opened { entry, value, .. }, .. }| {
        if entry.starts_with(keys::OWED) {
            owed.push((entry, value));
        }
        Ok(())
    })?;
    for (entry, value) in owed {
        batch.insert(&entry, seal(&entry, &value)?);
    }
    raw.commit(batch)?;
    SealedDatabase::new(raw, Arc::clone(keyring))
}

fn is_left_behind(entry: &[u8]) -> bool {
    entry.starts_with(keys::OWED) || LEFT_BEHIND.iter().any(|kind| entry.starts_with(kind))
}

/// What came into the new database.
#[derive(Debug, Default)]
struct Saved {
    /// When each record was taken.
    records: BTreeMap<u64, Timestamp>,
    newest: Option<(u64, u32)>,
    vectors: BTreeSet<(u32, u64)>,
    /// Frames that became records, or were set aside.
    done: BTreeSet<u64>,
    spooled: BTreeSet<u64>,
    tickets_to: u64,
    last_memo: u64,
    last_recall: u64,
    removed: Option<RemovedOnDisk>,
    tally: Option<TallyOnDisk>,
    /// Of each entry as it lay in the damaged database, for its witness.
    checksums: BTreeMap<Vec<u8>, u64>,
}

impl Saved {
    fn count(&mut self, entry: &[u8], value: &[u8]) {
        let number = keys::number(entry).unwrap_or_default();
        let kind = entry.get(..1).unwrap_or_default();
        if kind == keys::RECORDS {
            let record = records::decode::<RecordOnDisk>(entry, value);
            let Ok(record) = record.and_then(|it| it.into_record(RecordId(number))) else {
                return;
            };
            self.records.insert(number, record.meta.taken_at);
            if self.newest.is_none_or(|(id, _)| id < number) {
                self.newest = Some((number, records::witness(&record)));
            }
            if let Some(FrameTicket(ticket)) = record.image {
                self.done.insert(ticket);
                self.tickets_to = self.tickets_to.max(ticket);
            }
        } else if kind == keys::VECTORS {
            self.vectors.extend(keys::generation(entry).map(|generation| (generation, number)));
        } else if kind == keys::SPOOL {
            self.spooled.insert(number);
            self.tickets_to = self.tickets_to.max(number);
        } else if kind == keys::SET_ASIDE {
            self.done.insert(number);
            self.tickets_to = self.tickets_to.max(number);
        } else if kind == keys::MEMOS {
            self.last_memo = self.last_memo.max(number);
        } else if kind == keys::MEMO_RECALLS {
            self.last_recall = self.last_recall.max(number);
        } else if entry == keys::REMOVED {
            self.removed = records::decode(entry, value).ok();
        }
    }

    /// Takes out what came back although it was done with, and writes the counters.
    fn finish(
        &mut self,
        db: &SealedDatabase,
        tally: Option<&TallyOnDisk>,
    ) -> Result<(), StoreError> {
        let floor = self.floor();
        let mut batch = Batch::default();
        let spooled = self.spooled.intersection(&self.done);
        let mut done: Vec<Vec<u8>> =
            spooled.map(|ticket| keys::spooled(FrameTicket(*ticket))).collect();
        let below = self.records.keys().take_while(|id| **id < floor);
        done.extend(below.map(|id| keys::record(RecordId(*id))));
        let is_of_none = |id: u64| id < floor || !self.records.contains_key(&id);
        let vectors = self.vectors.iter().filter(|(_, id)| is_of_none(*id));
        done.extend(vectors.map(|(generation, id)| keys::vector(*generation, RecordId(*id))));
        for entry in done {
            self.checksums.remove(&entry);
            batch.remove(entry);
        }
        // Of the counters an older version may be all that there is: no memo gets the id of
        // another.
        if let Some(counters) = memos::counters_beyond(db, self.last_memo, self.last_recall)? {
            batch.insert(keys::MEMO_COUNTERS, counters);
        }
        self.records.retain(|id, _| *id >= floor);
        let next_record = self.records.keys().next_back().map_or(1, |id| id + 1);
        let next = (
            tally.map_or(1, |it| it.next_record).max(next_record),
            tally.map_or(1, |it| it.next_ticket).max(self.tickets_to + 1),
        );
        let counters = tally.map(TallyOnDisk::counters).unwrap_or_default();
        let tally = TallyOnDisk::of(next, self.records.len() as u64, counters);
        batch.insert(keys::TALLY, records::encode(keys::TALLY, &tally));
        self.tally = Some(tally);
        db.commit(batch)
    }

    fn sum_of(&self, kind: u8) -> KindSum {
        let of_kind = self.checksums.range(vec![kind]..vec![kind + 1]);
        KindSum::of(of_kind.map(|(_, checksum)| *checksum))
    }

    fn floor(&self) -> u64 {
        self.removed.map_or(0, |it| it.below)
    }

    fn to_promise(&self) -> PromiseOnDisk {
        let removed = self.removed.map_or(0, |it| it.removed);
        let (next_record, next_ticket) =
            self.tally.as_ref().map_or((1, 1), |it| (it.next_record, it.next_ticket));
        let records = self.records.len() as u64 + removed;
        let newest = self.newest.filter(|(id, _)| self.records.contains_key(id));
        PromiseOnDisk { records, next_record, next_ticket, newest }
    }

    /// A record is lost that is not there and was never erased: its key still is.
    fn to_report(&self, keyring: &Keyring) -> SalvageReport {
        let next = self.tally.as_ref().map_or(1, |it| it.next_record);
        let is_lost = |id: &u64| {
            let key = KeyId::new(KeyClass::Record, *id);
            !self.records.contains_key(id) && keyring.key(key).is_some()
        };
        let lost = (self.floor().max(1)..next).filter(is_lost).map(|id| LostRecord {
            id: RecordId(id),
            after: self.records.range(..id).next_back().map(|(_, at)| *at),
            before: self.records.range(id..).next().map(|(_, at)| *at),
        });
        let has_vector: BTreeSet<u64> = self.vectors.iter().map(|(_, id)| *id).collect();
        SalvageReport {
            lost_records: lost.collect(),
            without_vector: self.records.keys().filter(|id| !has_vector.contains(id)).count(),
            ..SalvageReport::default()
        }
    }
}

/// sled's files that hold values: its log and the pages beside it.
fn list_files(db: &Path) -> Vec<PathBuf> {
    let mut files = vec![db.join("db")];
    let blobs = fs::read_dir(db.join("blobs")).into_iter().flatten().flatten();
    files.extend(blobs.map(|entry| entry.path()));
    files
}

fn carve_files(
    files: &[PathBuf],
    keyring: &Keyring,
    mut found: impl FnMut(Carved<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for path in files {
        let io = |error: &io::Error| StoreError::io("read", path, error);
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(io(&error)),
        };
        let is_log = path.file_name() == Some("db".as_ref());
        let piece = if is_log { PIECE_BYTES as u64 } else { u64::MAX };
        let length = file.metadata().map_err(|error| io(&error))?.len();
        for at in (0..length).step_by(usize::try_from(piece).unwrap_or(usize::MAX)) {
            let bytes = read_piece(&file, at, (length - at).min(piece));
            sealed::carve(keyring, &bytes).try_for_each(&mut found)?;
        }
    }
    Ok(())
}

/// Some bytes of a file. What the disk does not give is zeros, in which nothing is found.
fn read_piece(file: &impl FileExt, at: u64, bytes: u64) -> Vec<u8> {
    let mut piece = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
    if file.read_exact_at(&mut piece, at).is_err() {
        for (page, from) in piece.chunks_mut(PAGE_BYTES).zip((at..).step_by(PAGE_BYTES)) {
            if let Err(error) = file.read_exact_at(page, from) {
                log::warn!(error:%, from; "a page cannot be read");
                page.fill(0);
            }
        }
    }
    piece
}

/// Copies the images that are whole; how many, and which are damaged.
fn save_images(from: &Path, to: &Path, keyring: &Keyring) -> io::Result<(usize, Vec<FrameTicket>)> {
    let (mut saved, mut damaged) = (0, Vec::new());
    for group in fs::read_dir(from).into_iter().flatten().flatten() {
        if !group.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(group.path())? {
            let file = file?;
            let path = file.path();
            let ticket = path.file_stem().and_then(|it| it.to_str()).and_then(|it| it.parse().ok());
            let Some(ticket) = ticket.map(FrameTicket) else { continue };
            let is_image =
                ["frame", "incoming"].iter().any(|it| path.extension() == Some(it.as_ref()));
            if !is_image || !file.file_type()?.is_file() {
                continue;
            }
            let Ok(sealed) = fs::read(&path) else {
                damaged.push(ticket);
                continue;
            };
            match sealed::open(keyring, &sealed) {
                Ok(Opened { entry, .. }) if entry == keys::image(ticket) => {
                    let dir = to.join(group.file_name());
                    fs::create_dir_all(&dir)?;
                    fs::copy(&path, dir.join(file.file_name()))?;
                    saved += 1;
                }
                Err(Unreadable::Erased) => {}
                Ok(_) | Err(Unreadable::Damaged) => damaged.push(ticket),
            }
        }
    }
    damaged.sort_unstable();
    Ok((saved, damaged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::keyring::master_key::MasterKey;

    /// A disk of which some sectors cannot be read.
    struct WornDisk {
        bytes: Vec<u8>,
        bad: Vec<std::ops::Range<usize>>,
    }

    impl FileExt for WornDisk {
        fn read_at(&self, to: &mut [u8], at: u64) -> io::Result<usize> {
            let at = usize::try_from(at).unwrap();
            let end = self.bytes.len().min(at + to.len());
            if self.bad.iter().any(|bad| bad.start < end && at < bad.end) {
                return Err(io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()));
            }
            to[..end - at].copy_from_slice(&self.bytes[at..end]);
            Ok(end - at)
        }

        fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
            unreachable!("a salvage only reads")
        }
    }

    #[test]
    fn what_lies_around_sectors_that_cannot_be_read_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let keyring = Keyring::create(dir.path(), &MasterKey::for_tests(1)).unwrap();
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        for n in 0..60_u64 {
            let (id, note) = (KeyId::new(KeyClass::Version, n), vec![7; 700]);
            let sealed = sealed::seal(&keyring, id, n, b"n", &note).unwrap();
            places.push(bytes.len()..bytes.len() + sealed.len());
            bytes.extend(sealed);
        }
        // The second page, and one sector of the fifth.
        let bad = vec![PAGE_BYTES..2 * PAGE_BYTES, 4 * PAGE_BYTES + 512..4 * PAGE_BYTES + 1_024];
        let length = bytes.len() as u64;
        let disk = WornDisk { bytes, bad };
        let piece = read_piece(&disk, 0, length);
        let found: Vec<u64> = sealed::carve(&keyring, &piece).map(|it| it.opened.write).collect();
        let lost_pages = [PAGE_BYTES..2 * PAGE_BYTES, 4 * PAGE_BYTES..5 * PAGE_BYTES];
        let is_whole = |place: &std::ops::Range<usize>| {
            !lost_pages.iter().any(|it| it.start < place.end && place.start < it.end)
        };
        let whole = (0..60).zip(&places).filter(|(_, place)| is_whole(place)).map(|(n, _)| n);
        assert_eq!(found, whole.collect::<Vec<u64>>());
        assert!((40..52).contains(&found.len()), "{}", found.len());
    }
}
