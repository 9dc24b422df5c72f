//! Durable store: records with their vectors, the spool of frames that wait for a
//! caption, keyframes, counters, segments of the index, and the frames' images.
//!
//! Holds the only use of sled. Knows nothing of models, search or tools.
//!
//! Promises: an acknowledged write survives `kill -9` and a power cut; a change is
//! atomic; ids grow and are never reused; damaged bytes and unknown formats are errors,
//! never guessed at. One process at a time. Writers queue behind one lock; readers do
//! not wait for the disk.
//!
//! In the directory: `lock`, `manifest` (see [`manifest`]), `db/` (sled) with `db.witness`
//! (see [`witness`]) and `db.clean` (see [`trial`]), `frames/` (images), `losses`, `reserve`
//! (see [`room`]), and `frames.aside/` for images that the store does not know.

pub mod backup;
mod blobs;
mod calibration;
mod change;
mod check;
mod copy;
mod database;
pub mod doctor;
mod durable;
pub mod fingerprints;
pub mod forget;
mod format;
mod frames;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod gone_images;
pub mod import;
pub mod keyring;
mod keys;
mod lock;
pub mod losses;
mod manifest;
pub mod memos;
pub mod notes;
mod nouns;
pub mod panics;
mod parsed;
mod records;
pub mod reindex;
pub mod rereading;
pub mod residue;
mod room;
pub mod salvage;
mod scan;
mod sealed;
mod sealed_database;
pub mod sealing_cost;
pub mod segment_meta;
pub mod segments;
pub mod sessions;
pub mod state;
mod trial;
mod unlock;
pub mod verify;
mod witness;
mod write;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::detection::DetectedObject;
use crate::base::frame::FrameMeta;
use crate::base::shortage::{Shortage, is_shortage};
use crate::base::time::Timestamp;
use crate::language::caption::ParsedCaption;
use crate::store::change::{Published, WriterState};
pub(crate) use crate::store::copy::copy_tree;
use crate::store::frames::Frames;
use crate::store::keyring::master_key::KeySource;
use crate::store::lock::DirectoryLock;
use crate::store::losses::Losses;
use crate::store::manifest::Manifest;
use crate::store::records::Fault;
use crate::store::room::Room;
use crate::store::scan::Scan;
use crate::store::sealed_database::SealedDatabase;
use crate::store::segment_meta::SegmentNumber;

/// Directory and limits of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub dir: PathBuf,
    /// Where the master key is.
    pub key: KeySource,
    /// Bound of sled's cache.
    pub sled_cache_bytes: u64,
    /// Of all images together. At the bound the oldest captioned frame's image
    /// goes first; its record stays.
    pub images_bytes_max: u64,
    /// Frames that may wait for a caption. At the bound a frame is refused.
    pub spool_frames_max: usize,
}

impl Options {
    /// The defaults for a store in `dir`.
    pub fn at(dir: PathBuf) -> Self {
        Self {
            dir,
            key: KeySource::InStore,
            sled_cache_bytes: 32 << 20,
            images_bytes_max: 4 << 30,
            spool_frames_max: 10_000,
        }
    }
}

/// Identity of the embedder: vectors of two spaces cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingSpace {
    /// For people; a model keeps its space when it is renamed.
    pub model: String,
    pub fingerprint: String,
    pub dimension: usize,
}

impl EmbeddingSpace {
    /// Whether vectors of both can be compared.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint && self.dimension == other.dimension
    }
}

impl std::fmt::Display for EmbeddingSpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { model, fingerprint, dimension } = self;
        let short: String = fingerprint.chars().take(12).collect();
        write!(f, "{model:?} ({dimension} components, fingerprint {short})")
    }
}

/// Captioned observation of the robot.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub id: RecordId,
    pub meta: FrameMeta,
    /// When the last frame merged into this record was taken; `meta.taken_at`
    /// where there is one frame only.
    pub end_at: Timestamp,
    pub caption: String,
    /// What the caption says.
    pub parsed: ParsedCaption,
    /// Captioner's confidence, from 0 to 1, where it gives one.
    pub confidence: Option<f32>,
    /// Things that the captioner found in the image, with their boxes.
    pub detections: Vec<DetectedObject>,
    /// Kind of a ready-made observation ("battery"); `None` for what a camera saw.
    pub layer: Option<String>,
    /// Frame whose image can be read with [`Store::image`].
    pub image: Option<FrameTicket>,
}

/// An observation that comes with its caption.
#[derive(Debug, Clone, PartialEq)]
pub struct NewObservation {
    pub meta: FrameMeta,
    pub caption: String,
    /// As of [`Record::confidence`].
    pub confidence: Option<f32>,
    pub layer: Option<String>,
}

/// A frame that waits for its caption.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingFrame {
    pub ticket: FrameTicket,
    pub meta: FrameMeta,
    /// When the last frame merged into this one was taken.
    pub end_at: Timestamp,
    /// How often its image was given to the captioner.
    pub attempts: u32,
}

/// Newest captioned frame of a source: the gate compares the next one with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Keyframe {
    pub ticket: FrameTicket,
    /// Its record, once captioned.
    pub record: Option<RecordId>,
    pub meta: FrameMeta,
    /// When the last frame merged into it was taken.
    pub last_at: Timestamp,
    pub signature: Vec<u8>,
}

/// Frame that got no caption, with the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct SetAside {
    pub ticket: FrameTicket,
    pub meta: FrameMeta,
    pub reason: String,
}

/// Keyframe that a frame was merged into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged {
    pub ticket: FrameTicket,
    /// Its record, once captioned.
    pub record: Option<RecordId>,
    /// When the last frame merged into it was taken.
    pub end_at: Timestamp,
}

/// Counters since the store was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Frames that came in: accepted or merged.
    pub seen: u64,
    /// Frames merged into an earlier one.
    pub merged: u64,
    /// Frames that got a caption.
    pub captioned: u64,
    /// Frames set aside.
    pub failed: u64,
    /// Observations that came with their caption.
    pub observed: u64,
    /// Images removed to make room.
    pub images_dropped: u64,
}

/// Most bytes of a caption.
pub const CAPTION_BYTES_MAX: usize = 64 << 10;
/// Most bytes of a keyframe's signature.
pub const SIGNATURE_BYTES_MAX: usize = 64 << 10;
/// Set-aside frames kept; the oldest goes, with its image.
pub const SET_ASIDE_MAX: usize = 1_000;
/// Sources whose last keyframe is kept; the one that was silent longest goes.
pub const SOURCES_MAX: usize = 1_024;

/// Errors of the store; each says what the operator or caller can do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the store is in use by {holder}; stop it or choose another state directory: {path:?}")]
    Locked { path: PathBuf, holder: String },
    #[error("cannot {doing}: {reason}: {path:?}")]
    Io { doing: &'static str, path: PathBuf, reason: String, is_shortage: bool },
    #[error("cannot read the kernel's key {name:?} (store.key): {reason}")]
    KernelKey { name: String, reason: String },
    #[error(
        "the store is written in format {found}, this build reads up to format {expected}; \
         open it with the engram that wrote it: {path:?}"
    )]
    Format { found: u32, expected: u32, path: PathBuf },
    #[error("{reason}; choose another state directory or move this away: {path:?}")]
    Foreign { path: PathBuf, reason: String },
    #[error(
        "the store's vectors are made by embedder {found}, the one configured is {expected}; \
         configure the former, or run `engram reindex` to embed every caption anew: {path:?}"
    )]
    OtherEmbedder { found: Box<EmbeddingSpace>, expected: Box<EmbeddingSpace>, path: PathBuf },
    #[error(
        "the store is damaged: {reason}{kept}. `engram doctor --repair` saves what is \
         whole into a new directory; or restore the directory from a backup, or move it away to \
         start with an empty memory: {path:?}"
    )]
    NotWhole { path: PathBuf, reason: String, kept: String },
    #[error("{what} is damaged: {reason}")]
    Damaged { what: String, reason: String },
    #[error("the spool entry of frame {ticket} is damaged: {reason}")]
    DamagedFrame { ticket: FrameTicket, reason: String },
    #[error("the database failed: {reason}")]
    Database { reason: String },
    #[error(
        "the store takes no writes since one failed ({reason}); it goes on by itself once the disk \
         takes writes again"
    )]
    Stopped { reason: String },
    #[error(
        "the disk is full: {} MiB are free, {} are needed to store more; make room, or have the \
         memory forget something, which still works: {path:?}",
        free >> 20, needed.div_ceil(1 << 20)
    )]
    DiskFull { path: PathBuf, free: u64, needed: u64 },
    #[error("{pending} frames wait for a caption, accepted are at most {max}; send it again later")]
    SpoolFull { pending: usize, max: usize },
    #[error(
        "the images that must be kept take {bytes} bytes, at most {max} are allowed; \
         raise the limit or wait until frames are captioned"
    )]
    ImagesFull { bytes: u64, max: u64 },
    #[error("the image is neither JPEG nor PNG nor WebP")]
    NotAnImage,
    #[error("no frame {ticket} waits for a caption")]
    NotPending { ticket: FrameTicket },
    #[error("source {source_name:?} has no earlier frame to merge into")]
    NoKeyframe { source_name: String },
    #[error("the vector has {found} components, this store keeps {expected}")]
    Dimension { found: usize, expected: usize },
    #[error("{field} has {bytes} bytes, accepted are at most {max}")]
    TooLong { field: &'static str, bytes: usize, max: usize },
    #[error("{field} has {found} items, accepted are at most {max}")]
    TooMany { field: &'static str, found: usize, max: usize },
    #[error("the records from {first} on have no vector of the new embedder yet")]
    ReindexUnfinished { first: RecordId },
}

impl StoreError {
    /// Whether one value alone is damaged and the rest can be used.
    pub fn concerns_one_value(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::DamagedFrame { .. })
    }

    fn damaged(key: &[u8], fault: &Fault) -> Self {
        Self::Damaged { what: keys::describe(key), reason: fault.to_string() }
    }

    fn io(doing: &'static str, path: &std::path::Path, error: &std::io::Error) -> Self {
        let (path, is_shortage) = (path.to_owned(), is_shortage(error));
        Self::Io { doing, path, reason: error.to_string(), is_shortage }
    }
}

impl Shortage for StoreError {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others have other causes")]
    fn shortage(&self) -> Option<String> {
        match self {
            Self::Stopped { .. } | Self::DiskFull { .. } => Some(self.to_string()),
            Self::Io { doing, reason, is_shortage: true, .. } => {
                Some(format!("cannot {doing}: {reason}; nothing was kept, try again later"))
            }
            _ => None,
        }
    }
}

impl From<sled::Error> for StoreError {
    fn from(error: sled::Error) -> Self {
        let failed = Self::Database { reason: database::describe(&error) };
        // After a write that failed in the background sled answers reads with its error.
        if database::is_shortage(&error) {
            return Self::Stopped { reason: failed.to_string() };
        }
        failed
    }
}

/// An open store. Clones share it; it closes with the last of them.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

/// Fields are dropped in this order: the lock goes when all else is closed.
#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    db: SealedDatabase,
    frames: Frames,
    manifest: Manifest,
    limits: SpoolLimits,
    space: EmbeddingSpace,
    generation: u32,
    next_segment: AtomicU64,
    losses: Losses,
    room: Room,
    published: RwLock<Published>,
    writer: Mutex<WriterState>,
    #[expect(dead_code, reason = "held for its drop")]
    lock: DirectoryLock,
}

#[derive(Debug, Clone, Copy)]
struct SpoolLimits {
    spool_frames_max: usize,
}

/// Locked and checked directory of a store, before the embedder is known: sled reads its
/// log while the embedder is loaded.
#[derive(Debug)]
pub struct CheckedStore {
    options: Options,
    opened: check::Opened,
}

impl CheckedStore {
    /// Locks and checks the directory `options.dir`, which is made where it is missing.
    pub fn open(options: Options) -> Result<Self, StoreError> {
        Ok(Self { opened: check::open(&options)?, options })
    }

    /// The store whatever embedder its vectors are of; `None` where it is new.
    pub fn into_store_as_it_is(self) -> Result<Option<Store>, StoreError> {
        let Self { options, opened } = self;
        let Some(format) = format::read_format(&opened)? else { return Ok(None) };
        Store::assemble(&options, opened, format).map(Some)
    }

    /// The store of vectors of `space`; those of another are refused with
    /// [`StoreError::OtherEmbedder`].
    pub fn into_store(self, space: &EmbeddingSpace) -> Result<Store, StoreError> {
        let Self { options, opened } = self;
        let format = format::of_store(&opened, space, &options.dir)?;
        format::remove_leftovers(&opened.db, format.generation)?;
        let was_plain = opened.was_plain;
        let store = Store::assemble(&options, opened, format)?;
        store.tell_gone_images(was_plain)?;
        Ok(store)
    }
}

impl Store {
    /// Opens the store in `options.dir`, as [`CheckedStore`] does.
    pub fn open(options: &Options, space: &EmbeddingSpace) -> Result<Self, StoreError> {
        CheckedStore::open(options.clone())?.into_store(space)
    }

    fn assemble(
        options: &Options,
        opened: check::Opened,
        format: format::Format,
    ) -> Result<Self, StoreError> {
        let check::Opened { lock, manifest, db, tally, removed, newest, losses, .. } = opened;
        let frames = Frames::open(
            &options.dir.join("frames"),
            db.keyring(),
            options.images_bytes_max,
            tally.next_ticket,
            &losses,
        )?;
        let format::Format { space, generation } = format;
        let named = segments::read_named(&db, generation)?;
        segments::remove_leftovers(&db, &named)?;
        let next_segment = AtomicU64::new(segments::free_number(&db)?);
        let writer = WriterState::load(&db, (tally, removed), newest, &named)?;
        let inner = Inner {
            published: RwLock::new(writer.to_published()),
            writer: Mutex::new(writer),
            limits: SpoolLimits { spool_frames_max: options.spool_frames_max },
            dir: options.dir.clone(),
            db,
            frames,
            manifest,
            space,
            generation,
            next_segment,
            losses,
            room: Room::in_dir(&options.dir),
            lock,
        };
        let store = Self(Arc::new(inner));
        store.flush()?;
        // Killed while records below the floor were removed: no scan may meet them.
        if store.is_any_below_floor()? {
            while store.remove_below_floor()? > 0 {}
        }
        Ok(store)
    }

    /// Says which images somebody else removed.
    fn tell_gone_images(&self, was_plain: bool) -> Result<(), StoreError> {
        let next = self.0.lock_writer().tally.next_ticket;
        // Earlier versions dropped images without a trace.
        if was_plain {
            return self.0.frames.forget_gone(next);
        }
        self.0.frames.tell_gone(next)
    }

    /// Embedder of the vectors.
    pub fn space(&self) -> &EmbeddingSpace {
        &self.0.space
    }

    /// The record of this id; `None` where there is none.
    pub fn record(&self, id: RecordId) -> Result<Option<Record>, StoreError> {
        let key = keys::record(id);
        if id.0 < self.0.floor() {
            return Ok(None);
        }
        let Some(on_disk) = self.0.db.read::<records::RecordOnDisk>(&key)? else {
            return Ok(None);
        };
        let record = on_disk.into_record(id).map_err(|fault| StoreError::damaged(&key, &fault))?;
        Ok(Some(self.0.frames.without_dropped_image(record)))
    }

    /// The records of these ids in the order of `ids`; unknown ones are left out.
    pub fn records(&self, ids: &[RecordId]) -> Result<Vec<Record>, StoreError> {
        ids.iter().filter_map(|id| self.record(*id).transpose()).collect()
    }

    /// Every record with its vector, in the order of ids, for opening an index.
    ///
    /// An item that [concerns one value](StoreError::concerns_one_value) is a
    /// record that cannot be read; the next ones can. Any other error is the
    /// last item. Records stored after the call may be missing.
    pub fn scan(&self) -> Scan<'_> {
        let (first, last) = (RecordId(0), RecordId(u64::MAX));
        Scan::new(self.source_of_scans(), first, last, self.record_count())
    }

    /// As [`Store::scan`], of the records from `first` to `last` alone, however many
    /// there are.
    pub fn scan_between(&self, first: RecordId, last: RecordId) -> Scan<'_> {
        Scan::new(self.source_of_scans(), first, last, 0)
    }

    fn source_of_scans(&self) -> scan::ScanSource<'_> {
        let Inner { db, frames, space, generation, .. } = &*self.0;
        scan::ScanSource { db, frames, dimension: space.dimension, generation: *generation }
    }

    /// The gate's state for a source; `None` before its first frame.
    ///
    /// A damaged one is an error until the source's next accepted frame replaces it.
    pub fn keyframe(&self, source: &str) -> Result<Option<Keyframe>, StoreError> {
        let key = keys::keyframe(source);
        let on_disk = self.0.db.read::<records::KeyframeOnDisk>(&key)?;
        let keyframe = on_disk.map(records::KeyframeOnDisk::into_keyframe).transpose();
        keyframe.map_err(|fault| StoreError::damaged(&key, &fault))
    }

    /// When each source was heard of last, by name. A source whose keyframe is
    /// damaged is left out.
    pub fn sources(&self) -> Result<Vec<(String, Timestamp)>, StoreError> {
        let mut sources = Vec::new();
        for entry in self.0.db.entries(keys::KEYFRAMES) {
            let (key, sealed) = entry?;
            let keyframe = records::decode::<records::KeyframeOnDisk>(&key, &sealed)
                .and_then(records::KeyframeOnDisk::into_keyframe);
            sources.extend(keyframe.map(|it| (it.meta.source, it.last_at)));
        }
        Ok(sources)
    }

    /// The first frame after `after`, or of all, that waits for a caption.
    ///
    /// A damaged entry is a [`StoreError::DamagedFrame`]; [`Store::set_aside`] gets
    /// it out of the way.
    pub fn next_pending(
        &self,
        after: Option<FrameTicket>,
    ) -> Result<Option<PendingFrame>, StoreError> {
        let start = keys::spooled(FrameTicket(after.map_or(0, |ticket| ticket.0 + 1)));
        let Some((key, sealed)) = self.0.db.first_from(&start, keys::SPOOL)? else {
            return Ok(None);
        };
        let ticket = FrameTicket(keys::number(&key).unwrap_or_default());
        records::decode::<records::PendingOnDisk>(&key, &sealed)
            .and_then(|on_disk| on_disk.into_frame(ticket))
            .map(Some)
            .map_err(|fault| StoreError::DamagedFrame { ticket, reason: fault.to_string() })
    }

    /// Frames that got no caption, newest first, from the one before `before` on.
    pub fn set_asides(
        &self,
        before: Option<FrameTicket>,
        limit: usize,
    ) -> Result<Vec<SetAside>, StoreError> {
        let ticket_of = |key: &[u8]| FrameTicket(keys::number(key).unwrap_or_default());
        let is_later = |key: &[u8]| before.is_some_and(|before| ticket_of(key) >= before);
        let entries = self.0.db.entries(keys::SET_ASIDE).rev();
        let entries =
            entries.skip_while(|entry| entry.as_ref().is_ok_and(|(key, _)| is_later(key)));
        let frames = entries.take(limit).map(|entry| {
            let (key, sealed) = entry?;
            let ticket = ticket_of(&key);
            records::decode::<records::SetAsideOnDisk>(&key, &sealed)
                .and_then(|on_disk| on_disk.into_frame(ticket))
                .map_err(|fault| StoreError::damaged(&key, &fault))
        });
        frames.collect()
    }

    /// Whether this frame waits for a caption or got none.
    pub fn is_without_caption(&self, ticket: FrameTicket) -> Result<bool, StoreError> {
        let db = &self.0.db;
        Ok(db.contains(&keys::spooled(ticket))? || db.contains(&keys::set_aside(ticket))?)
    }

    /// A frame's image as it came in; `None` when it was dropped to make room.
    pub fn image(&self, ticket: FrameTicket) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.frames.read(ticket)
    }

    pub fn counters(&self) -> Counters {
        self.read_published(|it| it.counters)
    }

    pub fn record_count(&self) -> u64 {
        self.read_published(|it| it.records)
    }

    pub fn pending_count(&self) -> usize {
        self.read_published(|it| it.pending)
    }

    pub fn set_aside_count(&self) -> usize {
        self.read_published(|it| it.set_aside)
    }

    /// Space that database and images take.
    pub fn disk_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.0.db.disk_bytes()? + self.0.frames.bytes())
    }

    /// What is wrong with the store, for who looks after it.
    pub fn problems(&self) -> Vec<String> {
        let failure = self.0.failure().map(|reason| StoreError::Stopped { reason }.to_string());
        let full = self.0.room.check_add(0).err().map(|error| error.to_string());
        let mut problems: Vec<String> = failure.into_iter().chain(full).collect();
        match self.0.losses.read() {
            Ok(losses) => {
                if let Some(first) = losses.first() {
                    let others = match losses.len() - 1 {
                        0 => String::new(),
                        others => format!(", and {others} more"),
                    };
                    problems.push(format!(
                        "the store lost something: {first}{others}; \
                         `engram doctor` shows all, `engram doctor --settle` ends this message"
                    ));
                }
            }
            Err(error) => problems.push(error.to_string()),
        }
        problems
    }

    fn read_published<T>(&self, read: impl FnOnce(&Published) -> T) -> T {
        self.0.read_published(read)
    }
}

impl Inner {
    fn read_published<T>(&self, read: impl FnOnce(&Published) -> T) -> T {
        // Replaced as a whole: a panicking holder leaves no half of it.
        read(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lowest id that counts.
    fn floor(&self) -> u64 {
        self.read_published(|it| it.floor)
    }

    /// Why nothing is written at the moment.
    fn failure(&self) -> Option<String> {
        self.read_published(|it| it.failure.clone()).or_else(|| self.db.raw().failure())
    }

    fn next_segment(&self) -> SegmentNumber {
        SegmentNumber(self.next_segment.fetch_add(1, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod erasure_tests;
#[cfg(test)]
mod model_test;
#[cfg(test)]
mod old_format_tests;
#[cfg(test)]
mod segment_tests;
#[cfg(test)]
pub(crate) mod tests;
