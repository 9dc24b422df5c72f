//! Room on the disk: kept for what frees some, asked for before anything is written.
//!
//! sled takes no more writes after one that failed, and a database that cannot write cannot
//! forget either. So what adds to the store is refused while little is free, before sled
//! sees it; and a file of a few MiB (`reserve`) is given up where not even forgetting fits,
//! and made again once there is room.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::FallocateFlags;

use crate::store::StoreError;
use crate::store::durable;

/// What a database that opens again may need to write.
const PROBE_BYTES: usize = 1 << 20;
/// Free space below which nothing is added: sled writes what it moves as well.
const ADD_BYTES_MIN: u64 = 16 << 20;
/// Free space below which nothing is noted either.
const NOTE_BYTES_MIN: u64 = 8 << 20;
/// Free space that forgetting needs.
const FORGET_BYTES_MIN: u64 = 4 << 20;
/// Free space that opening the database needs.
const START_BYTES_MIN: u64 = 2 << 20;
const RESERVE_BYTES: u64 = 8 << 20;
/// Free space from which on the reserve is made.
const RESERVE_FROM: u64 = 64 << 20;

/// Room for a store's directory.
#[derive(Debug)]
pub(super) struct Room {
    dir: PathBuf,
    has_reserve: AtomicBool,
}

impl Room {
    /// Makes the reserve where there is room for it.
    pub(super) fn in_dir(dir: &Path) -> Self {
        let room = Self { dir: dir.to_owned(), has_reserve: AtomicBool::new(false) };
        room.has_reserve.store(room.reserve_path().exists(), Ordering::Relaxed);
        room.make_reserve();
        room
    }

    /// Refuses to open a database that could not write what it must, as if it were damaged.
    pub(super) fn check_start(dir: &Path) -> Result<(), StoreError> {
        let room = Self { dir: dir.to_owned(), has_reserve: AtomicBool::new(true) };
        room.make_for_forgetting()?;
        room.check(room.free()?, START_BYTES_MIN)
    }

    /// Refuses a disk on which a store would add nothing.
    pub(super) fn check_free(dir: &Path) -> Result<(), StoreError> {
        let room = Self { dir: dir.to_owned(), has_reserve: AtomicBool::new(true) };
        room.check(room.free()?, ADD_BYTES_MIN)
    }

    /// Refuses to add `bytes` where little is free.
    pub(super) fn check_add(&self, bytes: u64) -> Result<(), StoreError> {
        let free = self.free()?;
        self.make_reserve_of(free);
        self.check(free, ADD_BYTES_MIN.saturating_add(bytes))
    }

    /// Refuses to note something small where less is free.
    pub(super) fn check_note(&self) -> Result<(), StoreError> {
        self.check(self.free()?, NOTE_BYTES_MIN)
    }

    /// Makes room for forgetting, if it takes the reserve.
    pub(super) fn make_for_forgetting(&self) -> Result<(), StoreError> {
        if self.free()? >= FORGET_BYTES_MIN {
            return Ok(());
        }
        let path = self.reserve_path();
        match fs::remove_file(&path) {
            Ok(()) => log::warn!("the disk is full: the reserve is used"),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("release the reserve", &path, &error)),
        }
        self.has_reserve.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn check(&self, free: u64, needed: u64) -> Result<(), StoreError> {
        let full = || StoreError::DiskFull { path: self.dir.clone(), free, needed };
        if free >= needed { Ok(()) } else { Err(full()) }
    }

    fn free(&self) -> Result<u64, StoreError> {
        free(&self.dir).map_err(|error| StoreError::io("ask for room in", &self.dir, &error))
    }

    fn make_reserve(&self) {
        if let Ok(free) = free(&self.dir) {
            self.make_reserve_of(free);
        }
    }

    fn make_reserve_of(&self, free: u64) {
        if free < RESERVE_FROM || self.has_reserve.swap(true, Ordering::Relaxed) {
            return;
        }
        let path = self.reserve_path();
        let made = File::create(&path).and_then(|file| {
            rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, RESERVE_BYTES)?;
            Ok(())
        });
        if let Err(error) = made {
            // A file system that cannot set bytes aside; forgetting needs room there.
            drop(fs::remove_file(&path));
            log::debug!(error:%; "no reserve could be made");
        }
    }

    fn reserve_path(&self) -> PathBuf {
        self.dir.join("reserve")
    }
}

/// Bytes that this process may still write.
pub(super) fn free(dir: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(dir)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Writes and removes a file, to see whether the disk takes one.
pub(super) fn probe(dir: &Path) -> io::Result<()> {
    let path = dir.join("probe");
    let written = durable::replace(&path, &vec![0xA5; PROBE_BYTES]);
    for path in [&path, &path.with_extension(durable::DRAFT)] {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    written
}
