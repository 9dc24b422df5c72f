//! Blobs of the hub's cache: contents under the name of their hash, SHA-256 for large files, Git's
//! SHA-1 for small ones. Knows neither the hub nor the layout around a blob.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};

use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::model::hub_cache::is_hex;

/// Name of a blob, which is its content's hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlobName(String);

/// Both hashes of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digests {
    pub(super) sha256: String,
    /// Of Git's object: `blob LENGTH` and a zero byte go before the content.
    pub(super) git: String,
}

impl BlobName {
    /// Nothing but a hash: a name that came from elsewhere leads nowhere.
    pub(super) fn parse(text: &str) -> Option<Self> {
        (is_hex(text, 40) || is_hex(text, 64)).then(|| Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as SHA-256, where it is one.
    pub(super) fn sha256(&self) -> Option<&str> {
        is_hex(&self.0, 64).then_some(&self.0)
    }

    pub(super) fn names(&self, content: &Digests) -> bool {
        self.0 == content.sha256 || self.0 == content.git
    }
}

impl Digests {
    /// Of all that `file` holds, from where it stands.
    pub(super) fn of(file: &mut File, mut on_block: impl FnMut(u64)) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let mut hasher = Hasher::new(length);
        let mut block = vec![0; BLOCK_BYTES];
        loop {
            let read = file.read(&mut block)?;
            let Some(bytes) = block.get(..read).filter(|it| !it.is_empty()) else {
                return Ok(hasher.finish());
            };
            hasher.update(bytes);
            on_block(read as u64);
        }
    }
}

/// Bytes read at a time.
pub(super) const BLOCK_BYTES: usize = 1 << 18;

/// Computes both hashes at once.
#[derive(Debug)]
pub(super) struct Hasher {
    sha256: Sha256,
    git: Sha1,
}

impl Hasher {
    /// For a content of `bytes`: Git's hash begins with its length.
    pub(super) fn new(bytes: u64) -> Self {
        let mut git = Sha1::new();
        git.update(format!("blob {bytes}\0"));
        Self { sha256: Sha256::new(), git }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.git.update(bytes);
    }

    pub(super) fn finish(self) -> Digests {
        Digests { sha256: hex(&self.sha256.finalize()), git: hex(&self.git.finalize()) }
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

impl fmt::Display for BlobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::io::{Seek as _, Write as _};

    /// `printf 'hello\n' | sha256sum`, `printf 'hello\n' | git hash-object --stdin`.
    const SHA256: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    const GIT: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

    #[test]
    fn hashes_are_those_of_sha256sum_and_of_git() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"hello\n").unwrap();
        file.rewind().unwrap();
        let digests = Digests::of(&mut file, |_| ()).unwrap();
        assert_eq!((digests.sha256.as_str(), digests.git.as_str()), (SHA256, GIT));
        assert!(BlobName::parse(SHA256).unwrap().names(&digests));
        assert!(BlobName::parse(GIT).unwrap().names(&digests));
        assert!(!BlobName::parse(&"0".repeat(40)).unwrap().names(&digests));
    }

    #[test]
    fn only_hashes_are_names_of_blobs() {
        for text in ["", "../x", "main", "CE013625030BA8DBA906F756967F9E9CA394464A", "0123"] {
            assert_eq!(BlobName::parse(text), None, "{text}");
        }
        assert_eq!(BlobName::parse(GIT).unwrap().sha256(), None);
    }
}
