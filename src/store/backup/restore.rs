//! Restore: a store made of a backup, in a directory where there is none.
//!
//! All of the backup is read before anything is written. Killed in between, the directory says
//! so: no store opens there, and the next restore begins again.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use crate::base::time::Timestamp;
use crate::store::Options;
use crate::store::StoreError;
use crate::store::backup::contents::Contents;
use crate::store::backup::directory::{self, Faults};
use crate::store::backup::make::kinds;
use crate::store::backup::source::store_id;
use crate::store::backup::unfinished;
use crate::store::backup::{BackupError, hex};
use crate::store::check;
use crate::store::database::{Batch, Database};
use crate::store::doctor::Examined;
use crate::store::durable;
use crate::store::keyring::Keyring;
use crate::store::keyring::master_key::{KeySource, MasterKey};
use crate::store::lock::DirectoryLock;

/// What a restore makes, in a directory that was empty.
const MADE: [&str; 11] = [
    "key",
    "key.copy",
    "keyring",
    "keyring.copy",
    "manifest",
    "db",
    "db.witness",
    "db.clean",
    "frames",
    "audit",
    "reserve",
];
/// Files that a directory may have that is none of a store.
const NO_STORE: [&str; 3] = ["lock", unfinished::NAME, "restoring.new"];
/// Entries put in one batch.
const PUT_AT_ONCE: usize = 4_096;
/// What a batch holds, at most.
const BATCH_BYTES: usize = 8 << 20;

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSummary {
    pub made_at: Timestamp,
    pub engram: String,
    pub store: String,
    pub kinds: Vec<(&'static str, u64)>,
    pub images: usize,
    pub bytes: u64,
    /// Whether the key that opens it is in it.
    pub has_key: bool,
}

/// Says what a backup holds; reads one file.
pub fn summarize(dir: &Path) -> Result<BackupSummary, BackupError> {
    read(dir).map(|contents| summary(&contents))
}

/// Reads all of a backup; what is not whole is named.
pub fn check(dir: &Path) -> Result<BackupSummary, BackupError> {
    let contents = read(dir)?;
    check_all(dir, &contents)?;
    Ok(summary(&contents))
}

/// Makes a store of the backup in `dir`, in the empty or missing directory of `options`.
pub fn restore(dir: &Path, options: &Options) -> Result<BackupSummary, BackupError> {
    let contents = read(dir)?;
    let state = options.dir.as_path();
    check_key(dir, &contents, options)?;
    check_all(dir, &contents)?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(state);
    made.map_err(|error| BackupError::io("make the directory", state, &error))?;
    let lock = DirectoryLock::take(state)?;
    make_empty(state)?;
    // Not before it is known to be nobody else's.
    directory::make_private(state)?;
    fill(dir, &contents, options)?;
    drop(lock);
    // As a start would do it, which the marker still keeps out.
    match check::examine(options)? {
        Examined::Whole { .. } => {}
        Examined::New => {
            return Err(BackupError::refused(dir, "nothing was in the backup"));
        }
        Examined::Lossy { losses } => {
            return Err(BackupError::NotWhole { path: dir.to_owned(), faults: losses, more: 0 });
        }
    }
    let marker = state.join(unfinished::NAME);
    fs::remove_file(&marker)
        .and_then(|()| durable::sync_dir(state))
        .map_err(|error| BackupError::io("end the restore in", state, &error))?;
    Ok(summary(&contents))
}

fn read(dir: &Path) -> Result<Contents, BackupError> {
    let contents = Contents::read(dir)?;
    contents.ok_or_else(|| {
        let reason = "there is no backup of engram's here, or it was cut short before it was whole";
        BackupError::refused(dir, reason)
    })
}

fn check_all(dir: &Path, contents: &Contents) -> Result<(), BackupError> {
    let mut faults = Faults::default();
    let losses = directory::check_entries(dir, contents, &mut faults);
    for loss in losses {
        faults.add(loss);
    }
    for image in &contents.images {
        directory::check_image(dir, image, &mut faults);
    }
    faults.into_error(dir)
}

/// Whether the store that comes of it can be opened with the key that is configured.
fn check_key(dir: &Path, contents: &Contents, options: &Options) -> Result<(), BackupError> {
    let reason = match (&options.key, contents.file("key")) {
        (KeySource::InStore, Some(_)) => return Ok(()),
        (KeySource::InStore, None) => {
            "the backup is of a store whose key lies elsewhere: set store.key to the same one"
        }
        (KeySource::File(_) | KeySource::Kernel(_), Some(_)) => {
            "the backup has the key that it opens with, and store.key names another: restore \
             without store.key"
        }
        (KeySource::File(_) | KeySource::Kernel(_), None) => {
            MasterKey::read(&options.key, &options.dir)?;
            return Ok(());
        }
    };
    Err(BackupError::refused(dir, reason))
}

/// Takes away what a restore left that was cut short; refuses what is not empty otherwise.
fn make_empty(state: &Path) -> Result<(), BackupError> {
    let io = |error: io::Error| BackupError::io("begin the restore in", state, &error);
    let marker = state.join(unfinished::NAME);
    if marker.exists() {
        for name in MADE {
            let path = state.join(name);
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match removed {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
                _ => {}
            }
        }
        return Ok(());
    }
    for entry in fs::read_dir(state).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        if !NO_STORE.iter().any(|it| name == *it) {
            let reason = format!(
                "there is something already ({}): a backup is restored into an empty directory \
                 alone; choose another with --state-dir, or move this one away",
                name.display()
            );
            return Err(BackupError::refused(state, reason));
        }
    }
    durable::replace(&marker, b"A backup is being restored into this directory.\n").map_err(io)
}

fn fill(dir: &Path, contents: &Contents, options: &Options) -> Result<(), BackupError> {
    let state = options.dir.as_path();
    let io = |error: io::Error| BackupError::io("restore to", state, &error);
    for (name, bytes) in &contents.files {
        let copy = format!("{name}.copy");
        for name in [name, &copy] {
            if MADE.contains(&name.as_str()) {
                durable::replace(&state.join(name), bytes).map_err(io)?;
            }
        }
    }
    let closed = || {
        let reason = "the key of the store (store.key) does not open the backup's keyring";
        BackupError::refused(dir, reason)
    };
    let master = MasterKey::read(&options.key, state)?.ok_or_else(closed)?;
    let keyring = Keyring::open(state, &master)
        .map_err(|_names_the_new_directory| closed())?
        .ok_or_else(closed)?;
    if store_id(&keyring) != Some(contents.store) {
        return Err(BackupError::refused(dir, "the backup's keyring is of another store"));
    }
    for image in &contents.images {
        directory::copy_image(dir, image, state)?;
    }
    for (name, file) in &contents.audit {
        let audit = state.join("audit");
        DirBuilder::new().recursive(true).mode(0o700).create(&audit).map_err(io)?;
        durable::replace(&audit.join(name), &directory::read_other(dir, file)?).map_err(io)?;
    }
    put_entries(dir, contents, options)?;
    let dir = File::open(state).map_err(io)?;
    rustix::fs::syncfs(&dir).map_err(|error| io(error.into()))
}

/// Puts the entries as they were, and compares the new database with the old one's witness.
fn put_entries(dir: &Path, contents: &Contents, options: &Options) -> Result<(), BackupError> {
    let db = Database::open(&options.dir.join("db"), options.sled_cache_bytes)
        .map_err(|reason| StoreError::Database { reason })?;
    let mut faults = Faults::default();
    let mut batch = Batch::default();
    let (mut entries, mut bytes) = (0, 0);
    directory::read_entries(dir, contents, &mut faults, |key, value| {
        entries += 1;
        bytes += key.len() + value.len();
        batch.insert(key, value);
        if entries < PUT_AT_ONCE && bytes < BATCH_BYTES {
            return Ok(());
        }
        (entries, bytes) = (0, 0);
        db.commit(std::mem::take(&mut batch))
    })?;
    db.commit(batch)?;
    for loss in contents.witness.losses(&db.witness()) {
        faults.add(loss.to_string());
    }
    faults.into_error(dir)
}

fn summary(contents: &Contents) -> BackupSummary {
    BackupSummary {
        made_at: contents.made_at(),
        engram: contents.engram.clone(),
        store: hex(&contents.store),
        kinds: kinds(contents),
        images: contents.images.len(),
        bytes: contents.bytes(),
        has_key: contents.file("key").is_some(),
    }
}
