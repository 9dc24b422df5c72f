//! The frames' images, as files beside the database: `frames/<ticket / 1000>/<ticket>.frame`,
//! each encrypted under its own key ([`sealed`]), by which a damaged one is noticed.
//!
//! An image is written before the entry that names it, so that a crash leaves at
//! most an image that nothing names; those are removed when the store opens.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::base::FrameTicket;
use crate::base::picture::Encoding;
use crate::store::Record;
use crate::store::StoreError;
use crate::store::durable;
use crate::store::keyring::Keyring;
use crate::store::keys;
use crate::store::records::Fault;
use crate::store::sealed::{self, Opened, Unreadable};

/// Images in one directory, so that none grows slow to list.
const IMAGES_A_DIRECTORY: u64 = 1_000;

#[derive(Debug)]
pub(super) struct Frames {
    dir: PathBuf,
    keyring: Arc<Keyring>,
    bytes_max: u64,
    held: RwLock<ImageCatalogue>,
}

/// Catalogue of the images on disk.
#[derive(Debug, Default)]
struct ImageCatalogue {
    /// Bytes of each image's file.
    images: BTreeMap<u64, u64>,
    bytes: u64,
}

/// Ending of an image's file.
const ENDING: &str = "frame";

impl Frames {
    /// Lists the images in `dir`; removes orphans, whose ticket was never given out. Those that
    /// earlier versions left in plain are encrypted.
    pub(super) fn open(
        dir: &Path,
        keyring: Arc<Keyring>,
        bytes_max: u64,
        next_ticket: u64,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(dir)
            .map_err(|error| StoreError::io("make the directory", dir, &error))?;
        let frames = Self { dir: dir.to_owned(), keyring, bytes_max, held: RwLock::default() };
        let plain = frames
            .list(next_ticket)
            .map_err(|error| StoreError::io("list the images in", dir, &error))?;
        for (ticket, path) in plain {
            let io = |error: std::io::Error| StoreError::io("encrypt the image", &path, &error);
            frames.put(ticket, &fs::read(&path).map_err(io)?)?;
            fs::remove_file(&path).map_err(io)?;
        }
        Ok(frames)
    }

    /// Keeps an image; durable when it returns.
    pub(super) fn write(&self, ticket: FrameTicket, image: &[u8]) -> Result<(), StoreError> {
        if Encoding::of(image).is_none() {
            return Err(StoreError::NotAnImage);
        }
        self.put(ticket.0, image)
    }

    fn put(&self, ticket: u64, image: &[u8]) -> Result<(), StoreError> {
        let path = self.path(ticket);
        let io = |error: std::io::Error| StoreError::io("write the image", &path, &error);
        if let Some(dir) = path.parent()
            && !dir.is_dir()
        {
            fs::create_dir_all(dir).map_err(io)?;
            durable::sync_dir(&self.dir).map_err(io)?;
        }
        let entry = keys::image(FrameTicket(ticket));
        let id = keys::encryption_key(&entry, 0);
        let sealed = sealed::seal(&self.keyring, id, 0, &entry, image)?;
        if let Err(error) = durable::replace(&path, &sealed) {
            // The ticket will name another frame: nothing may be left under it.
            drop(fs::remove_file(&path));
            return Err(io(error));
        }
        let bytes = sealed.len() as u64;
        let mut held = self.write_held();
        // A frame whose commit failed leaves its image; the next one has its ticket.
        if let Some(before) = held.images.insert(ticket, bytes) {
            held.bytes -= before;
        }
        held.bytes += bytes;
        Ok(())
    }

    /// The image; `None` when it was dropped or is missing. A damaged one is an error.
    pub(super) fn read(&self, ticket: FrameTicket) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.read_held().images.contains_key(&ticket.0) {
            return Ok(None);
        }
        let path = self.path(ticket.0);
        let sealed = match fs::read(&path) {
            Ok(sealed) => sealed,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io("read the image", &path, &error)),
        };
        let entry = keys::image(ticket);
        match sealed::open(&self.keyring, &sealed) {
            Ok(Opened { entry: found, value, .. }) if found == entry => Ok(Some(value)),
            Err(Unreadable::Erased) => Ok(None),
            Ok(_) | Err(Unreadable::Damaged) => Err(StoreError::damaged(&entry, &Fault::Checksum)),
        }
    }

    /// The record as it is now: without its image where that was dropped.
    pub(super) fn without_dropped_image(&self, mut record: Record) -> Record {
        let held = self.read_held();
        record.image = record.image.filter(|ticket| held.images.contains_key(&ticket.0));
        record
    }

    pub(super) fn bytes(&self) -> u64 {
        self.read_held().bytes
    }

    /// Removes the oldest images until `bytes` more fit; returns which went.
    ///
    /// Images of `pending` frames stay. Those of `set_aside` frames go last.
    pub(super) fn make_room(
        &self,
        bytes: u64,
        pending: &BTreeSet<u64>,
        set_aside: &BTreeSet<u64>,
    ) -> Result<Vec<u64>, StoreError> {
        let (victims, kept) = {
            let held = self.read_held();
            held.victims((held.bytes + bytes).saturating_sub(self.bytes_max), pending, set_aside)
        };
        if kept + bytes > self.bytes_max {
            return Err(StoreError::ImagesFull { bytes: kept + bytes, max: self.bytes_max });
        }
        for victim in &victims {
            self.remove(FrameTicket(*victim))?;
        }
        Ok(victims)
    }

    /// Removes an image if it is there.
    pub(super) fn remove(&self, ticket: FrameTicket) -> Result<(), StoreError> {
        let Some(bytes) = self.read_held().images.get(&ticket.0).copied() else { return Ok(()) };
        let path = self.path(ticket.0);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("remove the image", &path, &error)),
        }
        let mut held = self.write_held();
        held.images.remove(&ticket.0);
        held.bytes -= bytes;
        Ok(())
    }

    fn path(&self, ticket: u64) -> PathBuf {
        let group = (ticket / IMAGES_A_DIRECTORY).to_string();
        self.dir.join(group).join(format!("{ticket}.{ENDING}"))
    }

    /// Fills the catalogue; returns the images that lie in plain.
    fn list(&self, next_ticket: u64) -> std::io::Result<Vec<(u64, PathBuf)>> {
        let mut plain = Vec::new();
        let mut held = self.write_held();
        for group in fs::read_dir(&self.dir)? {
            let group = group?;
            if !group.file_type()?.is_dir() {
                continue;
            }
            for file in fs::read_dir(group.path())? {
                let file = file?;
                let Some((ticket, kind)) = parse_name(&file.path()) else { continue };
                match kind {
                    FileKind::Sealed if ticket < next_ticket => {
                        let bytes = file.metadata()?.len();
                        held.images.insert(ticket, bytes);
                        held.bytes += bytes;
                    }
                    FileKind::Plain if ticket < next_ticket => plain.push((ticket, file.path())),
                    FileKind::Sealed | FileKind::Plain | FileKind::Draft => {
                        fs::remove_file(file.path())?;
                    }
                }
            }
        }
        Ok(plain)
    }

    fn read_held(&self) -> RwLockReadGuard<'_, ImageCatalogue> {
        // Every change is one insertion or removal with its sum.
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_held(&self) -> RwLockWriteGuard<'_, ImageCatalogue> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ImageCatalogue {
    /// Tickets whose images free `excess` bytes, and the bytes left without them.
    fn victims(
        &self,
        excess: u64,
        pending: &BTreeSet<u64>,
        set_aside: &BTreeSet<u64>,
    ) -> (Vec<u64>, u64) {
        let captioned = self
            .images
            .iter()
            .filter(|(ticket, _)| !pending.contains(ticket) && !set_aside.contains(ticket));
        let failed = self.images.iter().filter(|(ticket, _)| set_aside.contains(ticket));
        let (mut victims, mut freed) = (Vec::new(), 0);
        for (ticket, bytes) in captioned.chain(failed) {
            if freed >= excess {
                break;
            }
            victims.push(*ticket);
            freed += bytes;
        }
        (victims, self.bytes - freed)
    }
}

/// What a file of ours in `frames/` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Sealed,
    /// As versions before format 5 kept images.
    Plain,
    /// Not finished.
    Draft,
}

/// Ticket in a file's name, and what the file is; `None` for one that is none of ours.
fn parse_name(path: &Path) -> Option<(u64, FileKind)> {
    let ticket = path.file_stem()?.to_str()?.parse().ok()?;
    match path.extension()?.to_str()? {
        ENDING => Some((ticket, FileKind::Sealed)),
        "jpg" | "png" => Some((ticket, FileKind::Plain)),
        durable::DRAFT => Some((ticket, FileKind::Draft)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::keyring::master_key::MasterKey;

    /// Of an image of 200 bytes.
    const FILE_BYTES: u64 = 200 + 67;

    fn jpeg(bytes: usize) -> Vec<u8> {
        let mut image = vec![0xFF, 0xD8, 0xFF];
        image.resize(bytes, 7);
        image
    }

    fn frames(dir: &Path, next_ticket: u64) -> Frames {
        let master = MasterKey::for_tests(1);
        let keyring = Keyring::open(dir, &master).unwrap();
        let keyring = keyring.unwrap_or_else(|| Keyring::create(dir, &master).unwrap());
        Frames::open(dir, Arc::new(keyring), 4 * FILE_BYTES + 200, next_ticket).unwrap()
    }

    fn fill(dir: &Path) -> Frames {
        let frames = frames(dir, 1);
        for ticket in 1..=4 {
            frames.write(FrameTicket(ticket), &jpeg(200)).unwrap();
        }
        frames
    }

    fn list_held(frames: &Frames) -> Vec<u64> {
        frames.read_held().images.keys().copied().collect()
    }

    #[test]
    fn written_images_are_read_back_by_the_next_process() {
        let dir = tempfile::tempdir().unwrap();
        drop(fill(dir.path()));
        let frames = frames(dir.path(), 5);
        assert_eq!(frames.read(FrameTicket(4)).unwrap(), Some(jpeg(200)));
        assert_eq!(frames.read(FrameTicket(5)).unwrap(), None);
        assert_eq!(frames.bytes(), 4 * FILE_BYTES);
    }

    #[test]
    fn orphans_and_drafts_are_removed_and_foreign_files_left() {
        let dir = tempfile::tempdir().unwrap();
        drop(fill(dir.path()));
        fs::write(dir.path().join("0/3.new"), b"half").unwrap();
        fs::write(dir.path().join("0/notes.txt"), b"mine").unwrap();
        assert_eq!(list_held(&frames(dir.path(), 3)), [1, 2]);
        let mut left: Vec<String> = fs::read_dir(dir.path().join("0"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["1.frame", "2.frame", "notes.txt"]);
    }

    #[test]
    fn room_is_made_by_the_oldest_captioned_then_by_the_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let frames = fill(dir.path());
        let (pending, aside) = (BTreeSet::from([1]), BTreeSet::from([2]));
        assert_eq!(frames.make_room(200, &pending, &aside).unwrap(), Vec::<u64>::new());
        assert_eq!(frames.make_room(300, &pending, &aside).unwrap(), [3]);
        assert_eq!(list_held(&frames), [1, 2, 4]);
        assert_eq!(frames.make_room(800, &pending, &aside).unwrap(), [4, 2]);
        assert_eq!(list_held(&frames), [1]);
        let full = frames.make_room(1_002, &pending, &aside);
        assert_eq!(full, Err(StoreError::ImagesFull { bytes: 1_269, max: 1_268 }));
        assert_eq!(list_held(&frames), [1]);
    }

    #[test]
    fn bytes_of_no_image_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let refused = frames(dir.path(), 1).write(FrameTicket(1), b"GIF89a");
        assert_eq!(refused, Err(StoreError::NotAnImage));
    }
}
