//! Backup: what a store keeps as of one commit, in a directory of its own, and the way back.
//!
//! An open store answers [`Question`]s ([`source`]); who asks them ([`make`]) writes the
//! directory with rights of its own, and may sit at the other end of a socket. What lies
//! there is encrypted as it is in the store, under the keyring of that time: a backup that
//! is made later into the same directory takes that keyring's place, and with it the last
//! way to read what was erased in between.
//!
//! In the directory: `backup` (whose it is), `contents` (see [`contents`]), `packs/` (entries
//! of the database, see [`pack`]; the audit log's files), `frames/` (images). Packs and images
//! are named by their content and never changed, and `contents`, which names them, is replaced
//! as a whole: a backup that is cut short leaves the one before it as it was.

mod changed;
mod contents;
mod directory;
pub mod made;
pub mod make;
mod pack;
pub mod restore;
pub mod source;
pub(super) mod unfinished;

use std::io;
use std::path::{Path, PathBuf};

use bincode::{Decode, Encode};
use sha2::{Digest as _, Sha256};

use crate::store::StoreError;
use crate::store::witness::Witness;

pub(super) use crate::store::backup::changed::ChangedKeys;

/// Stands before each question and answer; another is of another engram.
const PROTOCOL: u8 = 1;
/// A longer question or answer is none.
const MESSAGE_BYTES_MAX: usize = 128 << 20;

/// SHA-256.
type Hash = [u8; 32];
/// Which store a backup is of; a store that was restored is the same.
type StoreId = [u8; 16];
/// End of an encrypted image, which authenticates it: another content has another.
type Tag = [u8; 8];

/// What who makes a backup asks of the store, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Question {
    Begin,
    /// Names of images beyond this ticket: those that are there, and after [`Final`] those of
    /// the backup.
    ImageNames {
        after: u64,
    },
    Images(Vec<u64>),
    /// The next entries in the order of their keys; only that they are the same where their
    /// pack has this hash.
    Entries {
        known: Option<[u8; 32]>,
    },
    /// What has changed among the entries since they were given.
    Changes,
    /// The audit log's file that follows this one.
    Audit {
        after: String,
    },
    /// The backup is whole, and lies there.
    Done {
        at_micros: i64,
        to: String,
    },
}

/// What the store answers.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Answer {
    Begun(Begun),
    /// Ascending; none where there are no more.
    ImageNames(Vec<ImageName>),
    /// The first of those that were asked for, as many as fit.
    Images(Vec<(u64, SentImage)>),
    /// `None` at the end.
    Entries(Option<Vec<u8>>),
    SameEntries,
    /// A pack, and the rest where these were the last changes.
    Changes(Vec<u8>, Option<Box<Final>>),
    Audit(Option<(String, Vec<u8>)>),
    Noted,
}

/// What a backup will be of.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Begun {
    store: StoreId,
    /// What the store lost, until somebody has looked.
    losses: Vec<String>,
}

/// Image by its ticket and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub struct ImageName {
    ticket: u64,
    tag: Tag,
}

/// An image's file, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum SentImage {
    Whole(Vec<u8>),
    /// It was removed since it was listed.
    Gone,
    Damaged,
}

/// What belongs to the entries, as of the same commit.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Final {
    witness: Witness,
    /// Small files of the store's directory.
    files: Vec<(String, Vec<u8>)>,
}

impl Question {
    pub fn to_bytes(&self) -> Result<Vec<u8>, BackupError> {
        to_bytes(self)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BackupError> {
        from_bytes(bytes)
    }
}

impl Answer {
    pub fn to_bytes(&self) -> Result<Vec<u8>, BackupError> {
        to_bytes(self)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BackupError> {
        from_bytes(bytes)
    }
}

/// Why a backup was not made or is not restored; each says what helps.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot {doing}: {reason}: {path:?}")]
    Io { doing: &'static str, path: PathBuf, reason: String },
    #[error("{reason}: {path:?}")]
    Refused { path: PathBuf, reason: String },
    #[error(
        "the backup is not whole: {}{}; restore another one, or have `engram backup` make it anew \
         where the store is still there: {path:?}",
        faults.join("; "),
        and_more(*more)
    )]
    NotWhole { path: PathBuf, faults: Vec<String>, more: usize },
    #[error(
        "what was written cannot be read back: {}{}; the disk may be failing, choose another one. \
         The backup that was there is as it was: {path:?}",
        faults.join("; "),
        and_more(*more)
    )]
    NotReadBack { path: PathBuf, faults: Vec<String>, more: usize },
    #[error(
        "what was read of the store is not what it acknowledged ({0}); `engram doctor` says more. \
         The backup that was there is as it was"
    )]
    OtherThanAcknowledged(String),
    #[error("a backup is spoken of in another way by {0}: run the same engram at both ends")]
    OtherVersion(String),
    /// The way to the store failed.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
}

impl BackupError {
    fn io(doing: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), reason: error.to_string() }
    }

    fn refused(path: &Path, reason: impl Into<String>) -> Self {
        Self::Refused { path: path.to_owned(), reason: reason.into() }
    }
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!("; and {more} more") }
}

fn to_bytes(message: &impl Encode) -> Result<Vec<u8>, BackupError> {
    let mut bytes = vec![PROTOCOL];
    let encoded = bincode::encode_to_vec(message, bincode::config::standard());
    let encoded = encoded.map_err(|error| BackupError::Source(Box::new(error)))?;
    bytes.extend(encoded);
    Ok(bytes)
}

fn from_bytes<T: Decode<()>>(bytes: &[u8]) -> Result<T, BackupError> {
    let other = |what: &str| BackupError::OtherVersion(what.to_owned());
    let (protocol, message) = bytes.split_first().ok_or_else(|| other("an empty message"))?;
    if *protocol != PROTOCOL {
        return Err(BackupError::OtherVersion(format!("version {protocol}, this is {PROTOCOL}")));
    }
    let config = bincode::config::standard().with_limit::<MESSAGE_BYTES_MAX>();
    let decoded = bincode::decode_from_slice(message, config);
    let (decoded, read) =
        decoded.map_err(|_unreadable: bincode::error::DecodeError| other("the other end"))?;
    if read == message.len() { Ok(decoded) } else { Err(other("the other end")) }
}

fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xF]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

#[cfg(test)]
mod tests;
