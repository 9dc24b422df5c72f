//! Examination of a store that may be damaged, without a change to it.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::store::CheckedStore;
use crate::store::Options;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::backup::unfinished;
use crate::store::check;
pub use crate::store::check::Examined;
use crate::store::copy::copy_tree;
use crate::store::lock::DirectoryLock;
use crate::store::room::{self, Room};
use crate::store::trial;

/// Left on the disk beside a copy.
const ROOM_LEFT: u64 = 64 << 20;

/// Opens a copy of the database and counts all that is in it. A store that a start would
/// refuse is the same error here.
pub fn examine(options: &Options) -> Result<Examined, StoreError> {
    if !options.dir.is_dir() {
        return Ok(Examined::New);
    }
    unfinished::check_none(&options.dir)?;
    check::examine(options)
}

/// A store over a copy of what another one needs to be opened, removed with this; its images
/// stay where they are.
#[derive(Debug)]
pub struct StoreCopy {
    /// Closed before its directory goes.
    store: Option<Store>,
    dir: PathBuf,
}

impl StoreCopy {
    /// Copies the store of `options`, which must not be open; `None` where there is none, or
    /// no room for a copy.
    pub fn of(options: &Options) -> Result<Option<Self>, StoreError> {
        let _lock = DirectoryLock::take(&options.dir)?;
        let io = |error: io::Error| StoreError::io("copy the store in", &options.dir, &error);
        let db = options.dir.join("db");
        let files = fs::read_dir(&db).into_iter().flatten().flatten();
        let bytes: u64 = files.filter_map(|it| it.metadata().ok()).map(|it| it.len()).sum();
        if !db.is_dir() || room::free(&options.dir).map_err(io)? < bytes * 2 + ROOM_LEFT {
            return Ok(None);
        }
        trial::remove_store_copy(&options.dir)?;
        let dir = trial::store_copy_in(&options.dir);
        let mut copy = Self { store: None, dir };
        DirBuilder::new().mode(0o700).create(&copy.dir).map_err(io)?;
        copy_tree(&db, &copy.dir.join("db")).map_err(io)?;
        for name in ["key", "key.copy", "keyring", "keyring.copy", "manifest", "db.witness"] {
            match fs::copy(options.dir.join(name), copy.dir.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
                _ => {}
            }
        }
        let options = Options { dir: copy.dir.clone(), ..options.clone() };
        copy.store = CheckedStore::open(options)?.into_store_as_it_is()?;
        Ok(Some(copy))
    }

    /// What a start would say of images that somebody else removed.
    pub fn gone_images(&self, options: &Options) -> Result<Option<String>, StoreError> {
        let Some(Store(inner)) = &self.store else { return Ok(None) };
        let next = inner.lock_writer().tally.next_ticket;
        inner.frames.untold_gone(&options.dir.join("frames"), next)
    }

    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }
}

impl Drop for StoreCopy {
    fn drop(&mut self) {
        drop(self.store.take());
        if let Err(error) = fs::remove_dir_all(&self.dir) {
            log::warn!(error:%; "cannot remove {}, a copy of the store", self.dir.display());
        }
    }
}

/// How much room there is, or that there is too little.
pub fn check_disk(dir: &Path) -> Result<String, StoreError> {
    let there = dir.ancestors().find(|it| it.is_dir()).unwrap_or(dir);
    Room::check_free(there)?;
    let free =
        room::free(there).map_err(|error| StoreError::io("ask for room in", there, &error))?;
    Ok(format!("{} MiB are free", free >> 20))
}
