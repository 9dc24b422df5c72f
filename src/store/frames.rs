//! The frames' images, as files beside the database: `frames/<ticket / 1000>/<ticket>.frame`,
//! each encrypted under its own key ([`sealed`]), by which a damaged one is noticed.
//!
//! An image is written before the entry that names it, as `<ticket>.incoming`, and gets its
//! name when that is on disk. So a start tells what a kill left unanswered, which it removes,
//! from images of a database that is newer than the one there, which it moves to
//! `frames.aside/`. An image is removed after the commit that takes its key away: one that is
//! not there and has its key was removed by somebody else, which is told ([`GoneImages`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::ops::Bound;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustix::io::Errno;

use crate::base::FrameTicket;
use crate::base::failpoint::failpoint;
use crate::base::picture::Encoding;
use crate::store::Record;
use crate::store::StoreError;
use crate::store::backup::SentImage;
use crate::store::durable;
use crate::store::gone_images::GoneImages;
use crate::store::keyring::{KeyClass, KeyId, Keyring};
use crate::store::keys;
use crate::store::losses::Losses;
use crate::store::records::Fault;
use crate::store::sealed::{self, Opened, Unreadable};

/// Images in one directory, so that none grows slow to list.
const IMAGES_A_DIRECTORY: u64 = 1_000;

/// Files of one name that are kept aside.
const NAMES_TRIED: usize = 1_000;
/// Images that no entry names, of an earlier engram that was killed.
const LEFT_BY_A_KILL: usize = 1;

#[derive(Debug)]
pub(super) struct Frames {
    dir: PathBuf,
    keyring: Arc<Keyring>,
    bytes_max: u64,
    held: RwLock<ImageCatalogue>,
    gone: GoneImages,
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
/// The same while the entry that is to name it may not be on disk.
const INCOMING: &str = "incoming";

impl Frames {
    /// Lists the images in `dir`; removes what a kill left unanswered and those whose key was
    /// destroyed, moves those aside whose ticket was never given out, and notes them as a loss where a kill cannot have left them.
    /// Those that earlier versions left in plain are encrypted.
    pub(super) fn open(
        dir: &Path,
        keyring: Arc<Keyring>,
        bytes_max: u64,
        next_ticket: u64,
        losses: &Losses,
    ) -> Result<Self, StoreError> {
        if dir.is_symlink() {
            let reason = "its directory \"frames\" is a symbolic link, which is not followed; \
                          mount what it names there";
            return Err(StoreError::Foreign { path: dir.to_owned(), reason: reason.to_owned() });
        }
        fs::create_dir_all(dir)
            .map_err(|error| StoreError::io("make the directory", dir, &error))?;
        let Listed { mut sealed, plain, incoming, unanswered, unknown } = list(dir, next_ticket)
            .map_err(|error| StoreError::io("list the images in", dir, &error))?;
        sealed
            .remove_erased(dir, &keyring)
            .map_err(|error| StoreError::io("remove images from", dir, &error))?;
        for path in incoming.into_iter().filter(|path| path.exists()) {
            fs::rename(&path, path.with_extension(ENDING))
                .map_err(|error| StoreError::io("name the image", &path, &error))?;
        }
        for path in unanswered {
            log::info!(path:?; "an image that came in as the process ended is removed");
            fs::remove_file(&path)
                .map_err(|error| StoreError::io("remove the image", &path, &error))?;
        }
        move_aside(&unknown, dir)
            .map_err(|error| StoreError::io("move images aside from", dir, &error))?;
        if unknown.len() > LEFT_BY_A_KILL {
            losses.note(&format!(
                "{} images that the database does not know were moved to {}",
                unknown.len(),
                dir.with_extension("aside").display()
            ))?;
        } else if let Some(path) = unknown.first() {
            log::warn!(path:? = path; "an image that no entry names was moved aside");
        }
        let held = RwLock::new(sealed);
        let gone = GoneImages::beside(dir, losses.clone());
        let frames = Self { dir: dir.to_owned(), keyring, bytes_max, held, gone };
        for (ticket, path) in plain {
            let io = |error: io::Error| StoreError::io("encrypt the image", &path, &error);
            frames.put(ticket, &fs::read(&path).map_err(io)?)?;
            frames.keep(FrameTicket(ticket));
            fs::remove_file(&path).map_err(io)?;
        }
        Ok(frames)
    }

    /// Whether there are images in `dir`.
    pub(super) fn is_any_in(dir: &Path) -> bool {
        list(dir, u64::MAX).is_ok_and(|it| !it.sealed.images.is_empty() || !it.plain.is_empty())
    }

    /// Writes an image; durable when it returns. [`Frames::keep`] is to follow, or the next
    /// start removes it.
    pub(super) fn write(&self, ticket: FrameTicket, image: &[u8]) -> Result<(), StoreError> {
        if Encoding::of(image).is_none() {
            return Err(StoreError::NotAnImage);
        }
        self.put(ticket.0, image)
    }

    fn put(&self, ticket: u64, image: &[u8]) -> Result<(), StoreError> {
        let path = self.path(ticket).with_extension(INCOMING);
        let io = |error: io::Error| StoreError::io("write the image", &path, &error);
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
        failpoint!("image.written");
        Ok(())
    }

    /// Keeps an image: the entry that names it is on disk.
    pub(super) fn keep(&self, ticket: FrameTicket) {
        failpoint!("image.committed");
        let path = self.path(ticket.0);
        if let Err(error) = fs::rename(path.with_extension(INCOMING), &path) {
            // It is found by either name, and the next start tries again.
            log::warn!(path:?, error:%; "an image keeps the name that it came in by");
        }
    }

    /// Tells which images are gone although nobody dropped them, of tickets below `next`.
    pub(super) fn tell_gone(&self, next: u64) -> Result<(), StoreError> {
        self.gone.tell(&self.find_gone(next))
    }

    /// An image that is dropped while its key stays is not to be told.
    pub(super) fn excuse(&self, ticket: u64) -> Result<(), StoreError> {
        self.gone.excuse(ticket)
    }

    /// What [`Frames::tell_gone`] would say of the images in another directory.
    pub(super) fn untold_gone(&self, dir: &Path, next: u64) -> Result<Option<String>, StoreError> {
        let there = match list(dir, next) {
            Ok(listed) => listed.sealed.images,
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(StoreError::io("list the images in", dir, &error)),
        };
        let gone = self.keyring.held_but(KeyClass::Frame, next, |it| there.contains_key(&it));
        GoneImages::beside(dir, Losses::in_dir(dir)).untold(&gone)
    }

    /// Those that an earlier engram dropped without a trace.
    pub(super) fn forget_gone(&self, next: u64) -> Result<(), StoreError> {
        let gone = self.find_gone(next);
        self.keyring.erase(gone.into_iter().map(|it| KeyId::new(KeyClass::Frame, it)))
    }

    fn find_gone(&self, next: u64) -> Vec<u64> {
        let held = self.read_held();
        self.keyring.held_but(KeyClass::Frame, next, |it| held.images.contains_key(&it))
    }

    /// The image; `None` when it was dropped or is missing. A damaged one is an error.
    pub(super) fn read(&self, ticket: FrameTicket) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.read_held().images.contains_key(&ticket.0) {
            return Ok(None);
        }
        let sealed = match self.look(ticket, |path| fs::read(path)) {
            Ok(Some(sealed)) => sealed,
            Ok(None) => {
                // Else it was dropped just now, or the whole directory is not there.
                let is_there = self.path(ticket.0).parent().is_some_and(Path::is_dir);
                if is_there && self.read_held().images.contains_key(&ticket.0) {
                    self.gone.tell(&[ticket.0])?;
                }
                return Ok(None);
            }
            Err((path, error)) => return Err(StoreError::io("read the image", &path, &error)),
        };
        let entry = keys::image(ticket);
        match sealed::open(&self.keyring, &sealed) {
            Ok(Opened { entry: found, value, .. }) if found == entry => Ok(Some(value)),
            Err(Unreadable::Erased) => Ok(None),
            Ok(_) | Err(Unreadable::Damaged) => Err(StoreError::damaged(&entry, &Fault::Checksum)),
        }
    }

    /// Tickets of images beyond one, ascending.
    pub(super) fn tickets_after(&self, after: u64, most: usize) -> Vec<u64> {
        let from = (Bound::Excluded(after), Bound::Unbounded);
        self.read_held().images.range(from).take(most).map(|(ticket, _)| *ticket).collect()
    }

    pub(super) fn tickets_below(&self, next: u64) -> Vec<u64> {
        self.read_held().images.range(..next).map(|(ticket, _)| *ticket).collect()
    }

    /// End of an image's file, by which it is told from others; `None` when it is gone.
    pub(super) fn tag(&self, ticket: FrameTicket) -> Result<Option<[u8; 8]>, StoreError> {
        let read_tag = |path: &Path| {
            let file = File::open(path)?;
            let bytes = file.metadata()?.len();
            let mut tag = [0; 8];
            // Of one that is cut shorter it stays as it is: reading the image tells.
            if let Some(at) = bytes.checked_sub(8) {
                match file.read_exact_at(&mut tag, at) {
                    // Reading the image tells of that as well.
                    Err(error) if is_unreadable(&error) => {}
                    read => read?,
                }
            }
            Ok(tag)
        };
        self.look(ticket, read_tag)
            .map_err(|(path, error)| StoreError::io("read the image", &path, &error))
    }

    /// An image's file as it lies there.
    pub(super) fn read_sealed(&self, ticket: FrameTicket) -> Result<SentImage, StoreError> {
        let sealed = match self.look(ticket, |path| fs::read(path)) {
            Ok(Some(sealed)) => sealed,
            Ok(None) => return Ok(SentImage::Gone),
            Err((_, error)) if is_unreadable(&error) => return Ok(SentImage::Damaged),
            Err((path, error)) => return Err(StoreError::io("read the image", &path, &error)),
        };
        Ok(match sealed::open(&self.keyring, &sealed) {
            Ok(Opened { entry, .. }) if entry == keys::image(ticket) => SentImage::Whole(sealed),
            Err(Unreadable::Erased) => SentImage::Gone,
            Ok(_) | Err(Unreadable::Damaged) => SentImage::Damaged,
        })
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

    /// The oldest images that must go, besides those that are `going`, so that `bytes` more fit.
    ///
    /// Images of `pending` frames stay. Those of `set_aside` frames go last.
    pub(super) fn make_room(
        &self,
        bytes: u64,
        pending: &BTreeSet<u64>,
        set_aside: &BTreeSet<u64>,
        going: &BTreeSet<u64>,
    ) -> Result<Vec<u64>, StoreError> {
        let held = self.read_held();
        let (victims, kept) =
            held.victims((bytes, self.bytes_max), |it| pending.contains(&it), set_aside, going);
        if kept + bytes > self.bytes_max {
            return Err(StoreError::ImagesFull { bytes: kept + bytes, max: self.bytes_max });
        }
        Ok(victims)
    }

    /// Removes an image if it is there.
    pub(super) fn remove(&self, ticket: FrameTicket) -> Result<(), StoreError> {
        // Before its file: a reader that finds none asks here why.
        if !self.write_held().remove(ticket.0) {
            return Ok(());
        }
        let path = self.path(ticket.0);
        for path in [path.with_extension(INCOMING), path] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(StoreError::io("remove the image", &path, &error));
                }
                _ => {}
            }
        }
        failpoint!("image.removed");
        Ok(())
    }

    /// What a look at an image's file finds, by whichever name it is there; `None` where it is not.
    fn look<T>(
        &self,
        ticket: FrameTicket,
        at: impl Fn(&Path) -> io::Result<T>,
    ) -> Result<Option<T>, (PathBuf, io::Error)> {
        let path = self.path(ticket.0);
        // It may get its name between the first two.
        for path in [path.clone(), path.with_extension(INCOMING), path] {
            match at(&path) {
                Ok(found) => return Ok(Some(found)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err((path, error)),
            }
        }
        Ok(None)
    }

    fn path(&self, ticket: u64) -> PathBuf {
        path_in(&self.dir, ticket)
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
    /// Tickets whose images must go besides those that are `going`, so that `bytes` more are at
    /// most `bytes_max`, and the bytes left then.
    fn victims(
        &self,
        (bytes, bytes_max): (u64, u64),
        is_pending: impl Fn(u64) -> bool,
        set_aside: &BTreeSet<u64>,
        going: &BTreeSet<u64>,
    ) -> (Vec<u64>, u64) {
        let can_go = |it: &(&u64, &u64)| !is_pending(*it.0) && !going.contains(it.0);
        let is_failed = |it: &(&u64, &u64)| set_aside.contains(it.0);
        let captioned = self.images.iter().filter(can_go).filter(|it| !is_failed(it));
        let failed = self.images.iter().filter(can_go).filter(is_failed);
        let going: u64 = going.iter().filter_map(|it| self.images.get(it)).sum();
        let (mut victims, mut kept) = (Vec::new(), self.bytes.saturating_sub(going));
        for (ticket, freed) in captioned.chain(failed) {
            if kept + bytes <= bytes_max {
                break;
            }
            victims.push(*ticket);
            kept -= freed;
        }
        (victims, kept)
    }

    /// Takes an image out; whether it was there.
    fn remove(&mut self, ticket: u64) -> bool {
        let bytes = self.images.remove(&ticket);
        self.bytes -= bytes.unwrap_or(0);
        bytes.is_some()
    }

    /// Removes the files of which a kill left only noise: their key was destroyed.
    fn remove_erased(&mut self, dir: &Path, keyring: &Keyring) -> io::Result<()> {
        let key = |ticket| KeyId::new(KeyClass::Frame, ticket);
        let erased = self.images.keys().copied().filter(|it| !keyring.holds(key(*it)));
        for ticket in erased.collect::<Vec<u64>>() {
            let path = path_in(dir, ticket);
            for path in [path.with_extension(INCOMING), path] {
                // Of what somebody else put there under that name nothing is known.
                if path.exists() && sealed::key_id(&fs::read(&path)?) == Some(key(ticket)) {
                    fs::remove_file(&path)?;
                }
            }
            self.remove(ticket);
        }
        Ok(())
    }
}

fn path_in(dir: &Path, ticket: u64) -> PathBuf {
    let group = (ticket / IMAGES_A_DIRECTORY).to_string();
    dir.join(group).join(format!("{ticket}.{ENDING}"))
}

/// Files in `frames/`.
#[derive(Debug, Default)]
struct Listed {
    sealed: ImageCatalogue,
    /// As versions before format 5 kept images.
    plain: Vec<(u64, PathBuf)>,
    /// Of those in `sealed`, such as still have the name that they came in by.
    incoming: Vec<PathBuf>,
    /// Nobody was told that they are here: not finished, or not named by an entry.
    unanswered: Vec<PathBuf>,
    /// Of tickets that were never given out.
    unknown: Vec<PathBuf>,
}

/// Symbolic links are not followed, other files left where they are.
fn list(dir: &Path, next_ticket: u64) -> io::Result<Listed> {
    let mut listed = Listed::default();
    for group in fs::read_dir(dir)? {
        let group = group?;
        if !group.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(group.path())? {
            let file = file?;
            let path = file.path();
            let Some((ticket, kind)) = parse_name(&path) else { continue };
            if !file.file_type()?.is_file() {
                continue;
            }
            match kind {
                FileKind::Sealed | FileKind::Incoming if ticket < next_ticket => {
                    let bytes = file.metadata()?.len();
                    listed.sealed.images.insert(ticket, bytes);
                    listed.sealed.bytes += bytes;
                    if kind == FileKind::Incoming {
                        listed.incoming.push(path);
                    }
                }
                FileKind::Plain if ticket < next_ticket => listed.plain.push((ticket, path)),
                FileKind::Incoming | FileKind::Draft => listed.unanswered.push(path),
                FileKind::Sealed | FileKind::Plain => listed.unknown.push(path),
            }
        }
    }
    Ok(listed)
}

/// Moves files that the store does not know out of its way. Nobody can tell whose they are:
/// they may belong to a newer database.
fn move_aside(unknown: &[PathBuf], dir: &Path) -> io::Result<()> {
    let aside = dir.with_extension("aside");
    if !unknown.is_empty() {
        fs::create_dir_all(&aside)?;
    }
    for path in unknown {
        let Some(name) = path.file_name() else { continue };
        let free = (0_u64..).map(|copy| {
            let mut name = name.to_owned();
            if copy > 0 {
                name.push(format!(".{copy}"));
            }
            aside.join(name)
        });
        for target in free.take(NAMES_TRIED) {
            // Not one that replaces a file that is there.
            match fs::hard_link(path, &target) {
                Ok(()) => {
                    failpoint!("image.aside");
                    fs::remove_file(path)?;
                    break;
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// What a file of ours in `frames/` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Sealed,
    /// The entry that is to name it may be missing.
    Incoming,
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
        INCOMING => Some((ticket, FileKind::Incoming)),
        "jpg" | "png" => Some((ticket, FileKind::Plain)),
        durable::DRAFT => Some((ticket, FileKind::Draft)),
        _ => None,
    }
}

/// Whether the disk does not give what it holds: the file is there, and what is in it is lost.
fn is_unreadable(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::IO)
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
        try_frames(dir, next_ticket).unwrap()
    }

    fn try_frames(dir: &Path, next_ticket: u64) -> Result<Frames, StoreError> {
        fs::create_dir_all(dir).unwrap();
        let master = MasterKey::for_tests(1);
        let keyring = Keyring::open(dir, &master).unwrap();
        let keyring = keyring.unwrap_or_else(|| Keyring::create(dir, &master).unwrap());
        Frames::open(
            dir,
            Arc::new(keyring),
            4 * FILE_BYTES + 200,
            next_ticket,
            &Losses::in_dir(dir),
        )
    }

    fn fill(dir: &Path) -> Frames {
        let frames = frames(dir, 1);
        for ticket in 1..=4 {
            frames.write(FrameTicket(ticket), &jpeg(200)).unwrap();
            frames.keep(FrameTicket(ticket));
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

    fn list_files(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_image_is_kept_from_the_commit_of_its_entry_on_and_removed_before() {
        let state = tempfile::tempdir().unwrap();
        let dir = state.path().join("frames");
        for (next_ticket, is_kept) in [(2, true), (1, false)] {
            let written = frames(&dir, 1);
            written.write(FrameTicket(1), &jpeg(200)).unwrap();
            assert_eq!(written.read(FrameTicket(1)).unwrap(), Some(jpeg(200)), "before it is kept");
            fs::write(dir.join("0/2.new"), b"half").unwrap();
            // Killed before or after the commit.
            let next = frames(&dir, next_ticket);
            assert_eq!(next.read(FrameTicket(1)).unwrap(), is_kept.then(|| jpeg(200)));
            let left: &[&str] = if is_kept { &["1.frame"] } else { &[] };
            assert_eq!(list_files(&dir.join("0")), left);
            next.remove(FrameTicket(1)).unwrap();
            assert!(!state.path().join("frames.aside").exists());
        }
    }

    #[test]
    fn unknown_images_are_moved_aside_and_foreign_files_left() {
        let state = tempfile::tempdir().unwrap();
        let dir = state.path().join("frames");
        drop(fill(&dir));
        fs::write(dir.join("0/notes.txt"), b"mine").unwrap();
        assert_eq!(list_held(&frames(&dir, 3)), [1, 2]);
        assert_eq!(list_files(&dir.join("0")), ["1.frame", "2.frame", "notes.txt"]);
        let aside = state.path().join("frames.aside");
        assert_eq!(list_files(&aside), ["3.frame", "4.frame"]);
        // Another of the same name does not replace it.
        fs::write(dir.join("0/4.frame"), b"another").unwrap();
        drop(frames(&dir, 3));
        assert_eq!(list_files(&aside), ["3.frame", "4.frame", "4.frame.1"]);
        assert_eq!(fs::read(aside.join("4.frame")).unwrap().len() as u64, FILE_BYTES);
    }

    #[test]
    fn symbolic_links_are_not_followed() {
        let state = tempfile::tempdir().unwrap();
        let (foreign, dir) = (state.path().join("photos"), state.path().join("frames"));
        fs::create_dir_all(foreign.join("0")).unwrap();
        fs::write(foreign.join("0/7.frame"), b"theirs").unwrap();
        std::os::unix::fs::symlink(&foreign, &dir).unwrap();
        let refused = try_frames(&dir, 1).unwrap_err();
        assert!(refused.to_string().contains("symbolic link"), "{refused}");
        fs::remove_file(&dir).unwrap();
        fs::create_dir(&dir).unwrap();
        std::os::unix::fs::symlink(foreign.join("0"), dir.join("0")).unwrap();
        fs::create_dir(dir.join("1")).unwrap();
        std::os::unix::fs::symlink(foreign.join("0/7.frame"), dir.join("1/1.frame")).unwrap();
        assert_eq!(list_held(&frames(&dir, 9)), Vec::<u64>::new());
        assert_eq!(fs::read(foreign.join("0/7.frame")).unwrap(), b"theirs");
        assert!(!state.path().join("frames.aside").exists());
    }

    #[test]
    fn room_is_made_by_the_oldest_captioned_then_by_the_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let frames = fill(dir.path());
        let (pending, aside) = (BTreeSet::from([1]), BTreeSet::from([2]));
        let mut going = BTreeSet::new();
        let make_room = |bytes, going: &_| frames.make_room(bytes, &pending, &aside, going);
        assert_eq!(make_room(200, &going).unwrap(), Vec::<u64>::new());
        assert_eq!(make_room(300, &going).unwrap(), [3]);
        going.insert(3);
        assert_eq!(make_room(300, &going).unwrap(), Vec::<u64>::new());
        assert_eq!(make_room(800, &going).unwrap(), [4, 2]);
        going.extend([4, 2]);
        let full = make_room(1_002, &going);
        assert_eq!(full, Err(StoreError::ImagesFull { bytes: 1_269, max: 1_268 }));
        assert_eq!(list_held(&frames), [1, 2, 3, 4], "until the commit");
    }

    #[test]
    fn bytes_of_no_image_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let refused = frames(dir.path(), 1).write(FrameTicket(1), b"GIF89a");
        assert_eq!(refused, Err(StoreError::NotAnImage));
    }
}
