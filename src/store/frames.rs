//! The frames' images, as files beside the database: `frames/<ticket / 1000>/<ticket>.jpg`.
//!
//! An image is written before the entry that names it, so that a crash leaves at
//! most an image that nothing names; those are removed when the store opens.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::base::FrameTicket;
use crate::base::picture::Encoding;
use crate::store::Record;
use crate::store::StoreError;
use crate::store::durable;

/// Images in one directory, so that none grows slow to list.
const IMAGES_A_DIRECTORY: u64 = 1_000;

#[derive(Debug)]
pub(super) struct Frames {
    dir: PathBuf,
    bytes_max: u64,
    held: RwLock<ImageCatalogue>,
}

/// Catalogue of the images on disk.
#[derive(Debug, Default)]
struct ImageCatalogue {
    images: BTreeMap<u64, ImageFile>,
    bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct ImageFile {
    encoding: Encoding,
    bytes: u64,
}

impl Frames {
    /// Lists the images in `dir`; removes orphans, whose ticket was never given out.
    pub(super) fn open(dir: &Path, bytes_max: u64, next_ticket: u64) -> Result<Self, StoreError> {
        fs::create_dir_all(dir)
            .map_err(|error| StoreError::io("make the directory", dir, &error))?;
        let mut held = ImageCatalogue::default();
        list(dir, next_ticket, &mut held)
            .map_err(|error| StoreError::io("list the images in", dir, &error))?;
        Ok(Self { dir: dir.to_owned(), bytes_max, held: RwLock::new(held) })
    }

    /// Keeps an image; durable when it returns.
    pub(super) fn write(&self, ticket: FrameTicket, image: &[u8]) -> Result<(), StoreError> {
        let encoding = Encoding::of(image).ok_or(StoreError::NotAnImage)?;
        let path = self.path(ticket.0, encoding);
        let io = |error: std::io::Error| StoreError::io("write the image", &path, &error);
        if let Some(dir) = path.parent()
            && !dir.is_dir()
        {
            fs::create_dir_all(dir).map_err(io)?;
            durable::sync_dir(&self.dir).map_err(io)?;
        }
        if let Err(error) = durable::replace(&path, image) {
            // The ticket will name another frame: nothing may be left under it.
            drop(fs::remove_file(&path));
            return Err(io(error));
        }
        let bytes = image.len() as u64;
        let mut held = self.write_held();
        // A frame whose commit failed leaves its image; the next one has its ticket.
        if let Some(before) = held.images.insert(ticket.0, ImageFile { encoding, bytes }) {
            held.bytes -= before.bytes;
            if before.encoding != encoding {
                drop(fs::remove_file(self.path(ticket.0, before.encoding)));
            }
        }
        held.bytes += bytes;
        Ok(())
    }

    /// The image; `None` when it was dropped or is missing.
    pub(super) fn read(&self, ticket: FrameTicket) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(image) = self.read_held().images.get(&ticket.0).copied() else { return Ok(None) };
        let path = self.path(ticket.0, image.encoding);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read the image", &path, &error)),
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

    /// Removes the oldest images until `bytes` more fit; returns how many went.
    ///
    /// Images of `pending` frames stay. Those of `set_aside` frames go last.
    pub(super) fn make_room(
        &self,
        bytes: u64,
        pending: &BTreeSet<u64>,
        set_aside: &BTreeSet<u64>,
    ) -> Result<u64, StoreError> {
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
        Ok(victims.len() as u64)
    }

    /// Removes an image if it is there.
    pub(super) fn remove(&self, ticket: FrameTicket) -> Result<(), StoreError> {
        let Some(image) = self.read_held().images.get(&ticket.0).copied() else { return Ok(()) };
        let path = self.path(ticket.0, image.encoding);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("remove the image", &path, &error)),
        }
        let mut held = self.write_held();
        held.images.remove(&ticket.0);
        held.bytes -= image.bytes;
        Ok(())
    }

    fn path(&self, ticket: u64, encoding: Encoding) -> PathBuf {
        let ending = match encoding {
            Encoding::Jpeg => "jpg",
            Encoding::Png => "png",
        };
        self.dir.join((ticket / IMAGES_A_DIRECTORY).to_string()).join(format!("{ticket}.{ending}"))
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
        for (ticket, image) in captioned.chain(failed) {
            if freed >= excess {
                break;
            }
            victims.push(*ticket);
            freed += image.bytes;
        }
        (victims, self.bytes - freed)
    }
}

fn list(dir: &Path, next_ticket: u64, held: &mut ImageCatalogue) -> std::io::Result<()> {
    for group in fs::read_dir(dir)? {
        let group = group?;
        if !group.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(group.path())? {
            let file = file?;
            let Some((ticket, encoding)) = parse_name(&file.path()) else { continue };
            match encoding {
                Some(encoding) if ticket < next_ticket => {
                    let bytes = file.metadata()?.len();
                    held.images.insert(ticket, ImageFile { encoding, bytes });
                    held.bytes += bytes;
                }
                _ => fs::remove_file(file.path())?,
            }
        }
    }
    Ok(())
}

/// Ticket and encoding in a file's name, no encoding for a draft; `None` for a
/// file that is none of ours.
fn parse_name(path: &Path) -> Option<(u64, Option<Encoding>)> {
    let ticket = path.file_stem()?.to_str()?.parse().ok()?;
    match path.extension()?.to_str()? {
        "jpg" => Some((ticket, Some(Encoding::Jpeg))),
        "png" => Some((ticket, Some(Encoding::Png))),
        durable::DRAFT => Some((ticket, None)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jpeg(bytes: usize) -> Vec<u8> {
        let mut image = vec![0xFF, 0xD8, 0xFF];
        image.resize(bytes, 7);
        image
    }

    fn frames(dir: &Path, next_ticket: u64) -> Frames {
        Frames::open(dir, 1_000, next_ticket).unwrap()
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
        assert_eq!(frames.bytes(), 800);
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
        assert_eq!(left, ["1.jpg", "2.jpg", "notes.txt"]);
    }

    #[test]
    fn room_is_made_by_the_oldest_captioned_then_by_the_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let frames = fill(dir.path());
        let (pending, aside) = (BTreeSet::from([1]), BTreeSet::from([2]));
        assert_eq!(frames.make_room(200, &pending, &aside).unwrap(), 0);
        assert_eq!(frames.make_room(300, &pending, &aside).unwrap(), 1);
        assert_eq!(list_held(&frames), [1, 2, 4]);
        assert_eq!(frames.make_room(800, &pending, &aside).unwrap(), 2);
        assert_eq!(list_held(&frames), [1]);
        let full = frames.make_room(801, &pending, &aside);
        assert_eq!(full, Err(StoreError::ImagesFull { bytes: 1_001, max: 1_000 }));
        assert_eq!(list_held(&frames), [1]);
    }

    #[test]
    fn bytes_of_no_image_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let refused = frames(dir.path(), 1).write(FrameTicket(1), b"GIF89a");
        assert_eq!(refused, Err(StoreError::NotAnImage));
    }
}
