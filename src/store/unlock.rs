//! Opening of the database's lock: master key, keyring, and the sealing of a store that an
//! earlier engram kept in plain text.
//!
//! Sealing writes the whole database anew beside the old one and then takes its place; the
//! old one is removed with all that was ever forgotten in it. Killed at any moment, the next
//! start goes on or begins again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use log::info;

use crate::base::failpoint::failpoint;
use crate::store::Options;
use crate::store::StoreError;
use crate::store::database::Database;
use crate::store::durable;
use crate::store::keyring::Keyring;
use crate::store::keyring::master_key::MasterKey;
use crate::store::keys;
use crate::store::sealed;
use crate::store::sealed_database::{Batch, SealedDatabase};

/// Entries sealed in one batch.
const SEALED_AT_ONCE: usize = 1_024;

/// The database under its keyring, which is made where the store is new.
///
/// `promised`: the manifest says that the store holds something.
pub(super) fn unlock(
    options: &Options,
    raw: Database,
    promised: bool,
) -> Result<SealedDatabase, StoreError> {
    let dir = &options.dir;
    let format = raw.get(keys::FORMAT)?;
    let is_plain = format.as_ref().is_some_and(|it| !sealed::is_sealed(it));
    let is_empty = raw.is_empty()?;
    let is_foreign = format.is_none() && !is_empty;
    let master = MasterKey::read(&options.key, dir)?;
    let keyring = match &master {
        Some(master) => Keyring::open(dir, master)?,
        None => None,
    };
    let keyring = match (keyring, master) {
        (Some(keyring), _) => keyring,
        (None, _) if is_foreign && !promised => {
            let reason = "the database \"db\" there is none of engram's".to_owned();
            return Err(StoreError::Foreign { path: dir.clone(), reason });
        }
        (None, master) if is_plain || (is_empty && !promised) => {
            let master = master.map_or_else(|| MasterKey::create_own(dir), Ok)?;
            Keyring::create(dir, &master)?
        }
        (None, master) => return Err(locked(dir, master.is_some())),
    };
    let keyring = Arc::new(keyring);
    if !is_plain {
        return SealedDatabase::new(raw, keyring);
    }
    info!(path:? = dir; "the store is encrypted, once, as earlier versions kept it in plain text");
    seal(options, raw, &keyring)?;
    let raw = open(&dir.join("db"), options)?;
    SealedDatabase::new(raw, keyring)
}

/// Refuses a database of which the key or the keyring is missing; reads only.
pub(super) fn check_key(options: &Options, raw: &Database) -> Result<(), StoreError> {
    if !raw.get(keys::FORMAT)?.is_some_and(|it| sealed::is_sealed(&it)) {
        return Ok(());
    }
    keyring_in(&options.dir, options).map(drop)
}

/// The keyring of a store that has one, from its own directory or another that holds a copy.
pub(super) fn keyring_in(dir: &Path, options: &Options) -> Result<Keyring, StoreError> {
    let master = MasterKey::read(&options.key, dir)?;
    let keyring = match &master {
        Some(master) => Keyring::open(dir, master)?,
        None => None,
    };
    keyring.ok_or_else(|| locked(&options.dir, master.is_some()))
}

fn locked(dir: &Path, has_key: bool) -> StoreError {
    let reason = if has_key {
        "its keyring (the files \"keyring\" and \"keyring.copy\") is missing"
    } else {
        "its key (the files \"key\" and \"key.copy\", or what store.key names) is missing"
    };
    let reason = format!("{reason}, without which nobody can read it");
    StoreError::NotWhole { path: dir.to_owned(), reason, kept: String::new() }
}

/// Ends a sealing that a kill cut short: forward where the new database is whole, else back.
pub(super) fn finish_sealing(dir: &Path) -> Result<(), StoreError> {
    let Places { db, draft, plain } = Places::of(dir);
    let io = |error: &std::io::Error| StoreError::io("put the encrypted database in", dir, error);
    if db.exists() && !plain.exists() && draft.exists() {
        remove_draft(dir).map_err(|error| io(&error))?;
    }
    if !db.exists() && plain.exists() && draft.exists() {
        fs::rename(&draft, &db).map_err(|error| io(&error))?;
        durable::sync_dir(dir).map_err(|error| io(&error))?;
    }
    if db.exists() && plain.exists() {
        fs::remove_dir_all(&plain).map_err(|error| io(&error))?;
    }
    Ok(())
}

/// Removes a draft with its witness, which lies where the placed database will have its own.
fn remove_draft(dir: &Path) -> std::io::Result<()> {
    let gone = |removed: std::io::Result<()>| match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    // The witness goes first: without a draft beside it, it would stand for the plain database.
    gone(fs::remove_file(dir.join("db.witness")))?;
    gone(fs::remove_dir_all(Places::of(dir).draft))
}

struct Places {
    db: PathBuf,
    draft: PathBuf,
    plain: PathBuf,
}

impl Places {
    fn of(dir: &Path) -> Self {
        let [db, draft, plain] = ["db", "db.sealed", "db.plain"].map(|name| dir.join(name));
        Self { db, draft, plain }
    }
}

fn seal(options: &Options, plain: Database, keyring: &Arc<Keyring>) -> Result<(), StoreError> {
    let dir = &options.dir;
    let places = Places::of(dir);
    let io = |error: &std::io::Error| StoreError::io("encrypt the database in", dir, error);
    remove_draft(dir).map_err(|error| io(&error))?;
    let sealed = SealedDatabase::new(open(&places.draft, options)?, Arc::clone(keyring))?;
    let mut batch = Batch::default();
    let mut entries = 0_usize;
    for entry in plain.entries(&[]) {
        let (key, value) = entry?;
        if key == keys::WITNESS {
            continue;
        }
        batch.insert(key.as_ref(), value.as_ref());
        entries += 1;
        if entries.is_multiple_of(SEALED_AT_ONCE) {
            sealed.commit(std::mem::take(&mut batch))?;
        }
    }
    sealed.commit(batch)?;
    drop((sealed, plain));
    failpoint!("sealing.drafted");
    fs::rename(&places.db, &places.plain)
        .and_then(|()| {
            failpoint!("sealing.moved");
            fs::rename(&places.draft, &places.db)
        })
        .and_then(|()| durable::sync_dir(dir))
        .map_err(|error| io(&error))?;
    failpoint!("sealing.placed");
    finish_sealing(dir)
}

fn open(path: &Path, options: &Options) -> Result<Database, StoreError> {
    let reason = |reason| StoreError::NotWhole {
        path: options.dir.clone(),
        reason: format!("its database does not open, {reason}"),
        kept: String::new(),
    };
    Database::open(path, options.sled_cache_bytes).map_err(reason)
}
