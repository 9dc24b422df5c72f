//! Contents: the one file of a backup that says what belongs to it.
//!
//! Replaced as a whole, so that a backup is the older or the newer one. It holds the keyring of
//! its time, the manifest, and the store's key where that lies in the state directory.
//!
//! Layout: eight magic bytes, the format as a little-endian u32, the SHA-256 of the rest, then a
//! bincode value.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use bincode::{Decode, Encode};

use crate::base::time::Timestamp;
use crate::store::backup::{BackupError, Hash, ImageName, StoreId, hash};
use crate::store::durable;
use crate::store::witness::Witness;

const MAGIC: &[u8; 8] = b"engramBC";
const FORMAT: u32 = 1;
const NAME: &str = "contents";

#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub(super) struct Contents {
    pub(super) made_at_micros: i64,
    /// Which engram made it.
    pub(super) engram: String,
    pub(super) store: StoreId,
    pub(super) witness: Witness,
    /// In the order of keys, as they were when they were read.
    pub(super) packs: Vec<PackRef>,
    /// What had changed by the time of the witness; later ones count.
    pub(super) changes: Vec<PackRef>,
    pub(super) images: Vec<ImageRef>,
    /// Of the audit log, by name.
    pub(super) audit: Vec<(String, FileRef)>,
    /// Small files of the state directory.
    pub(super) files: Vec<(String, Vec<u8>)>,
}

/// A file by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Encode, Decode)]
pub(super) struct FileRef {
    pub(super) hash: Hash,
    pub(super) bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct PackRef {
    pub(super) file: FileRef,
    pub(super) last_key: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(super) struct ImageRef {
    pub(super) name: ImageName,
    pub(super) file: FileRef,
}

impl Contents {
    pub(super) fn made_at(&self) -> Timestamp {
        Timestamp::from_micros(self.made_at_micros).unwrap_or(Timestamp::EPOCH)
    }

    /// A small file of the state directory.
    pub(super) fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.iter().find(|(it, _)| it == name).map(|(_, bytes)| bytes.as_slice())
    }

    pub(super) fn all_packs(&self) -> impl Iterator<Item = &PackRef> {
        self.packs.iter().chain(&self.changes)
    }

    /// Bytes of all files of the backup, but for this one.
    pub(super) fn bytes(&self) -> u64 {
        let packs = self.all_packs().map(|it| it.file.bytes);
        let images = self.images.iter().map(|it| it.file.bytes);
        packs.chain(images).chain(self.audit.iter().map(|(_, it)| it.bytes)).sum()
    }

    /// Those of a backup's directory; `None` where there are none yet.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>, BackupError> {
        let path = dir.join(NAME);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(BackupError::io("read the backup", &path, &error)),
        };
        let not_whole = |fault: &str| BackupError::NotWhole {
            path: dir.to_owned(),
            faults: vec![format!("the file \"contents\" {fault}")],
            more: 0,
        };
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| not_whole("is none of engram's"))?;
        let (format, rest) =
            rest.split_first_chunk::<4>().ok_or_else(|| not_whole("is cut short"))?;
        let format = u32::from_le_bytes(*format);
        if format != FORMAT {
            let reason = format!("it is written in format {format}, this engram reads {FORMAT}");
            return Err(BackupError::refused(&path, reason));
        }
        let (expected, payload) =
            rest.split_first_chunk::<32>().ok_or_else(|| not_whole("is cut short"))?;
        if hash(payload) != *expected {
            return Err(not_whole("is damaged"));
        }
        let config = bincode::config::standard();
        let (contents, _): (Self, usize) = bincode::decode_from_slice(payload, config)
            .map_err(|_no_sense: bincode::error::DecodeError| not_whole("makes no sense"))?;
        let is_plain = |name: &str| Path::new(name).file_name() == Some(name.as_ref());
        if !contents.audit.iter().all(|(name, _)| is_plain(name)) {
            return Err(not_whole("names files outside of it"));
        }
        Ok(Some(contents))
    }

    /// Takes the place of those that are there; durable when it returns.
    pub(super) fn write(&self, dir: &Path) -> Result<(), BackupError> {
        let payload = bincode::encode_to_vec(self, bincode::config::standard())
            .map_err(|error| BackupError::Source(Box::new(error)))?;
        let format = FORMAT.to_le_bytes();
        let bytes = [MAGIC.as_slice(), &format, &hash(&payload), &payload].concat();
        let path = dir.join(NAME);
        durable::replace(&path, &bytes)
            .map_err(|error| BackupError::io("write the backup", &path, &error))
    }
}
