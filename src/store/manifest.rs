//! Manifest: a small file beside the database that says what the store holds.
//!
//! sled opens a log that was cut short as a smaller or empty store, without an
//! error. The manifest is the witness outside of it: a store that holds less
//! than its manifest says is refused. It may lag behind the store, never run
//! ahead of it.
//!
//! Layout: eight magic bytes, the format as a little-endian u32 (readable by
//! every later build), then a sealed [`PromiseOnDisk`].

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::store::StoreError;
use crate::store::durable;
use crate::store::records::{self, PromiseOnDisk};

const MAGIC: &[u8; 8] = b"engramMF";
/// Stands in for a key in the seal.
const KEY: &[u8] = b"manifest";

#[derive(Debug)]
pub(super) struct Manifest {
    dir: PathBuf,
}

impl Manifest {
    pub(super) fn in_dir(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// What was promised; `None` where there is no manifest.
    pub(super) fn read(&self) -> Result<Option<PromiseOnDisk>, StoreError> {
        let path = self.dir.join("manifest");
        match fs::read(&path) {
            Ok(bytes) => parse(&bytes, &path).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read the manifest", &path, &error)),
        }
    }

    /// Replaces the promise; the old or the new one is there at any moment.
    pub(super) fn write(&self, promise: &PromiseOnDisk) -> Result<(), StoreError> {
        let path = self.dir.join("manifest");
        durable::replace(&path, &print(promise))
            .map_err(|error| StoreError::io("write the manifest", &path, &error))
    }
}

fn print(promise: &PromiseOnDisk) -> Vec<u8> {
    let format = u32::from(records::FORMAT).to_le_bytes();
    [MAGIC.as_slice(), &format, &records::encode(KEY, promise)].concat()
}

fn parse(bytes: &[u8], path: &Path) -> Result<PromiseOnDisk, StoreError> {
    let damaged = |reason: String| StoreError::NotWhole {
        path: path.to_owned(),
        reason: format!("its manifest cannot be read, {reason}"),
        kept: String::new(),
    };
    let Some((format, sealed)) = bytes.strip_prefix(MAGIC).and_then(<[u8]>::split_first_chunk)
    else {
        let reason = "the file \"manifest\" there is none of engram's".to_owned();
        return Err(StoreError::Foreign { path: path.to_owned(), reason });
    };
    let (found, expected) = (u32::from_le_bytes(*format), u32::from(records::FORMAT));
    if !(u32::from(records::OLDEST_FORMAT)..=expected).contains(&found) {
        return Err(StoreError::Format { found, expected, path: path.to_owned() });
    }
    // Outside of the checksum; the seal has the same number within it.
    if sealed.first().copied().map(u32::from) != Some(found) {
        return Err(damaged("its format is not that of its content".to_owned()));
    }
    records::decode(KEY, sealed).map_err(|fault| damaged(fault.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise() -> PromiseOnDisk {
        PromiseOnDisk { records: 3, next_record: 4, next_ticket: 9, newest: Some((3, 77)) }
    }

    #[test]
    fn reads_back_what_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = Manifest::in_dir(dir.path());
        assert_eq!(manifest.read().unwrap(), None);
        manifest.write(&promise()).unwrap();
        assert_eq!(manifest.read().unwrap(), Some(promise()));
    }

    #[test]
    fn no_flipped_bit_and_no_cut_gives_another_promise() {
        let whole = print(&promise());
        for at in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[at / 8] ^= 1 << (at % 8);
            assert!(parse(&bytes, Path::new("m")).is_err(), "bit {at}");
        }
        for length in 0..whole.len() {
            assert!(parse(&whole[..length], Path::new("m")).is_err(), "cut to {length}");
        }
    }

    #[test]
    fn another_format_is_refused_by_its_number() {
        let mut bytes = print(&promise());
        bytes[MAGIC.len()] = 7;
        let error = parse(&bytes, Path::new("m")).unwrap_err();
        assert!(matches!(error, StoreError::Format { found: 7, expected: 5, .. }), "{error}");
    }

    #[test]
    fn a_foreign_file_is_refused() {
        let error = parse(b"name = 'other'", Path::new("m")).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    }
}
