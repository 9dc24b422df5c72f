//! File of the keyring, and its copy: one damaged file loses no memory.
//!
//! Layout of both: eight magic bytes, the format as a little-endian u32, the epoch (how
//! often it was written) as a u64, a nonce of twelve bytes, then the nodes of the trees,
//! encrypted with AES-256-GCM under the master key; what stands before is authenticated.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bincode::{Decode, Encode};
use log::warn;
use zeroize::{Zeroize as _, Zeroizing};

use crate::base::failpoint::failpoint;
use crate::store::StoreError;
use crate::store::durable;
use crate::store::keyring::master_key::MasterKey;
use crate::store::keyring::tree::{KeyTree, Node, SEED_BYTES};
use crate::store::keyring::{KeyClass, Trees, random};
use crate::store::records::VALUE_BYTES_MAX;
use crate::store::sealed;

const MAGIC: &[u8; 8] = b"engramKR";
const FORMAT: u32 = 1;
const NAMES: [&str; 2] = ["keyring", "keyring.copy"];
/// Magic, format and epoch.
const HEAD_BYTES: usize = 20;

#[derive(Debug)]
pub(super) struct KeyringFile {
    dir: PathBuf,
    master: MasterKey,
}

#[derive(Encode, Decode)]
struct NodeOnDisk {
    class: u8,
    first: u64,
    height: u8,
    seed: [u8; SEED_BYTES],
}

/// Bytes of one as it is encoded, at most.
const NODE_BYTES_MAX: usize = 1 + 9 + 1 + SEED_BYTES;

impl Drop for NodeOnDisk {
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}

/// What is wrong with one of the files.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("it is none of engram's keyrings")]
    Foreign,
    #[error("it is written in format {found}, this build reads {FORMAT}")]
    Format { found: u32 },
    #[error("the key of the store does not open it, or it is damaged")]
    Closed,
    #[error("its content makes no sense")]
    Content,
    #[error("it is missing")]
    Missing,
    #[error("it cannot be read, {0}")]
    Unreadable(String),
}

impl KeyringFile {
    pub(super) fn in_dir(dir: &Path, master: MasterKey) -> Self {
        Self { dir: dir.to_owned(), master }
    }

    /// What was written last, by the file or its copy; `None` where neither is there. A copy
    /// that is damaged or behind is written anew.
    pub(super) fn read(&self) -> Result<Option<Trees>, StoreError> {
        let read = NAMES.map(|name| self.read_one(&self.dir.join(name)));
        if read.iter().all(|it| it.as_ref().is_err_and(|fault| *fault == Fault::Missing)) {
            return Ok(None);
        }
        let newest = read.iter().flatten().max_by_key(|trees| trees.epoch).cloned();
        let Some(newest) = newest else {
            let [first, _copy] = &read;
            let reason = first.as_ref().map_or_else(ToString::to_string, |_| String::new());
            return Err(StoreError::NotWhole {
                path: self.dir.clone(),
                reason: format!("its keyring cannot be read: {reason}"),
                kept: String::new(),
            });
        };
        for (name, read) in NAMES.iter().zip(&read) {
            match read {
                Ok(trees) if trees.epoch == newest.epoch => continue,
                Ok(_) => {}
                Err(fault) => warn!(file = name, fault:%; "a file of the keyring is made anew"),
            }
            self.write_one(name, &newest)?;
        }
        Ok(Some(newest))
    }

    /// Replaces both; durable when it returns.
    pub(super) fn write(&self, trees: &Trees) -> Result<(), StoreError> {
        for name in NAMES {
            self.write_one(name, trees)?;
            failpoint!("keyring.file");
        }
        Ok(())
    }

    fn write_one(&self, name: &str, trees: &Trees) -> Result<(), StoreError> {
        let path = self.dir.join(name);
        durable::replace(&path, &self.print(trees)?)
            .map_err(|error| StoreError::io("write the keyring", &path, &error))
    }

    fn read_one(&self, path: &Path) -> Result<Trees, Fault> {
        match fs::read(path) {
            Ok(bytes) => self.parse(&bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Fault::Missing),
            Err(error) => Err(Fault::Unreadable(error.to_string())),
        }
    }

    pub(super) fn is_under(&self, master: &MasterKey) -> bool {
        self.master.bytes() == master.bytes()
    }

    pub(super) fn print(&self, trees: &Trees) -> Result<Vec<u8>, StoreError> {
        let of_class = |class: KeyClass| {
            let tree = trees.trees.get(usize::from(class.to_byte()));
            tree.into_iter().flat_map(KeyTree::nodes).map(move |(first, node)| NodeOnDisk {
                class: class.to_byte(),
                first,
                height: node.height,
                seed: *node.seed,
            })
        };
        let nodes: Vec<NodeOnDisk> = KeyClass::ALL.into_iter().flat_map(of_class).collect();
        // Of a vector that grows, the shorter one would stay behind. It is encrypted in place.
        let mut plain = Vec::with_capacity((nodes.len() + 1) * NODE_BYTES_MAX);
        bincode::encode_into_std_write(&nodes, &mut plain, bincode::config::standard())
            .map_err(|error| StoreError::Database { reason: error.to_string() })?;
        let head = [MAGIC.as_slice(), &FORMAT.to_le_bytes(), &trees.epoch.to_le_bytes()].concat();
        let nonce = random()?;
        let sealed = sealed::encrypt(self.master.bytes(), nonce, &head, plain);
        Ok([head.as_slice(), &nonce, &sealed].concat())
    }

    fn parse(&self, bytes: &[u8]) -> Result<Trees, Fault> {
        let (head, rest) = bytes.split_first_chunk::<HEAD_BYTES>().ok_or(Fault::Foreign)?;
        let (format, epoch) = head
            .strip_prefix(MAGIC)
            .and_then(<[u8]>::split_first_chunk::<4>)
            .ok_or(Fault::Foreign)?;
        let found = u32::from_le_bytes(*format);
        if found != FORMAT {
            return Err(Fault::Format { found });
        }
        let epoch = epoch.first_chunk().map(|it| u64::from_le_bytes(*it)).ok_or(Fault::Foreign)?;
        let (nonce, sealed) = rest.split_first_chunk().ok_or(Fault::Closed)?;
        let plain = sealed::decrypt(self.master.bytes(), *nonce, head, sealed.to_vec())
            .map(Zeroizing::new)
            .ok_or(Fault::Closed)?;
        let config = bincode::config::standard().with_limit::<VALUE_BYTES_MAX>();
        let (nodes, _): (Vec<NodeOnDisk>, usize) = bincode::decode_from_slice(&plain, config)
            .map_err(|_no_nodes: bincode::error::DecodeError| Fault::Content)?;
        let tree = |class: KeyClass| {
            let of_class = nodes.iter().filter(|it| it.class == class.to_byte());
            let nodes = of_class.map(|NodeOnDisk { class: _, first, height, seed }| {
                (*first, Node { height: *height, seed: (*seed).into() })
            });
            KeyTree::of_nodes(nodes)
        };
        let trees: Option<Vec<KeyTree>> = KeyClass::ALL.into_iter().map(tree).collect();
        let trees = trees.and_then(|it| it.try_into().ok()).ok_or(Fault::Content)?;
        Ok(Trees { epoch, trees })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dir: &Path, master: u8) -> KeyringFile {
        KeyringFile::in_dir(dir, MasterKey::for_tests(master))
    }

    fn trees(epoch: u64) -> Trees {
        let mut trees = [1, 2, 3, 4, 5].map(|it| KeyTree::of_root([it; 32].into()));
        trees[1].take_out(epoch, epoch + 3);
        Trees { epoch, trees }
    }

    #[test]
    fn either_file_alone_is_enough_and_the_newer_one_counts() {
        let dir = tempfile::tempdir().unwrap();
        let file = file(dir.path(), 1);
        assert_eq!(file.read().unwrap(), None);
        file.write(&trees(1)).unwrap();
        for name in NAMES {
            fs::remove_file(dir.path().join(name)).unwrap();
            assert_eq!(file.read().unwrap(), Some(trees(1)));
            // Killed between the two writes.
            file.write_one(name, &trees(2)).unwrap();
            assert_eq!(file.read().unwrap(), Some(trees(2)));
            let (a, b) = (NAMES[0], NAMES[1]);
            let epoch = |name| file.read_one(&dir.path().join(name)).unwrap().epoch;
            assert_eq!((epoch(a), epoch(b)), (2, 2));
            file.write(&trees(1)).unwrap();
        }
    }

    #[test]
    fn no_flipped_bit_and_no_cut_gives_other_keys() {
        let dir = tempfile::tempdir().unwrap();
        let file = file(dir.path(), 1);
        let whole = file.print(&trees(1)).unwrap();
        assert_eq!(file.parse(&whole), Ok(trees(1)));
        for at in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[at / 8] ^= 1 << (at % 8);
            assert!(file.parse(&bytes).is_err(), "bit {at}");
        }
        for length in 0..whole.len() {
            assert!(file.parse(&whole[..length]).is_err(), "cut to {length}");
        }
    }

    #[test]
    fn another_master_key_opens_nothing_and_is_told() {
        let dir = tempfile::tempdir().unwrap();
        file(dir.path(), 1).write(&trees(1)).unwrap();
        let before = NAMES.map(|name| fs::read(dir.path().join(name)).unwrap());
        let refused = file(dir.path(), 2).read().unwrap_err().to_string();
        assert!(refused.contains("key of the store does not open it"), "{refused}");
        assert_eq!(NAMES.map(|name| fs::read(dir.path().join(name)).unwrap()), before);
    }
}
