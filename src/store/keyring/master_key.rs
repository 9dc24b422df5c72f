//! Master key: what the keyring is encrypted with.
//!
//! By default a file in the store's directory, with a copy, which only its owner may
//! read: that makes erasure final, and protects nobody from whoever can read the
//! directory as its owner, or takes the whole disk. A file elsewhere (a stick, a
//! credential that systemd unseals with the machine's TPM) or a key that the kernel keeps until
//! the machine goes off protects from that, and without it nobody can read the memory again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use linux_keyutils::{KeyRing, KeyRingIdentifier};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::store::StoreError;
use crate::store::durable;
use crate::store::keyring::random;

/// Where the master key is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeySource {
    /// The files `key` and `key.copy` in the store's directory, made with the store.
    #[default]
    InStore,
    /// A file that somebody else made, of [`SECRET_BYTES_MIN`] bytes or more.
    File(PathBuf),
    /// A key of type "user" and of this description in the kernel's keyring of the session or of
    /// the user (`keyrings(7)`), of as many bytes.
    Kernel(String),
}

/// Fewer bytes are no secret.
pub const SECRET_BYTES_MIN: usize = 32;
/// More are no key.
const SECRET_BYTES_MAX: u64 = 64 << 10;

const NAMES: [&str; 2] = ["key", "key.copy"];
const MAGIC: &str = "engram-key-1 ";
const KEY_BYTES: usize = 32;

/// A master key, wiped from memory where it is dropped.
#[derive(Clone)]
pub(crate) struct MasterKey(Zeroizing<[u8; KEY_BYTES]>);

impl MasterKey {
    /// Reads the key; `None` where the store in `dir` has none of its own yet.
    pub(crate) fn read(source: &KeySource, dir: &Path) -> Result<Option<Self>, StoreError> {
        match source {
            KeySource::InStore => read_own(dir),
            KeySource::File(path) => read_secret(path).map(Some),
            KeySource::Kernel(name) => read_kept(name).map(Some),
        }
    }

    /// Makes the store's own key; durable in `dir` when it returns.
    pub(crate) fn create_own(dir: &Path) -> Result<Self, StoreError> {
        let key = Self(random()?.into());
        NAMES.iter().try_for_each(|name| write_own(&dir.join(name), &key))?;
        Ok(key)
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// The file of the store's own key.
    pub(crate) fn print_own(&self) -> Zeroizing<String> {
        let digits = hex(self.0.as_slice());
        // Of a text that grows, the shorter one would stay behind.
        let mut text = Zeroizing::new(String::with_capacity(MAGIC.len() + 2 * KEY_BYTES + 10));
        for part in [MAGIC, &digits, " ", &hex(&checksum(&self.0)), "\n"] {
            text.push_str(part);
        }
        text
    }

    #[cfg(test)]
    pub(crate) fn for_tests(byte: u8) -> Self {
        Self([byte; KEY_BYTES].into())
    }
}

impl std::fmt::Debug for MasterKey {
    /// Not the key: what is printed may be kept.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey")
    }
}

/// The key by the file or its copy; one that is damaged or missing is made anew.
fn read_own(dir: &Path) -> Result<Option<MasterKey>, StoreError> {
    let read = NAMES.map(|name| {
        let path = dir.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(parse_own(&Zeroizing::new(text))),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {
                Ok(None)
            }
            Err(error) => Err(StoreError::io("read the store's key", &path, &error)),
        }
    });
    let [first, copy] = read;
    let (first, copy) = (first?, copy?);
    let key = match (first, copy) {
        (Some(first), Some(copy)) if first.0 == copy.0 => return Ok(Some(first)),
        // Killed while they were made: nothing is encrypted with either yet.
        (Some(first), _) => first,
        (None, Some(copy)) => copy,
        (None, None) => return Ok(None),
    };
    NAMES.iter().try_for_each(|name| write_own(&dir.join(name), &key))?;
    Ok(Some(key))
}

fn write_own(path: &Path, key: &MasterKey) -> Result<(), StoreError> {
    durable::replace(path, key.print_own().as_bytes())
        .map_err(|error| StoreError::io("write the store's key", path, &error))
}

fn parse_own(text: &str) -> Option<MasterKey> {
    let (key, check) = text.strip_prefix(MAGIC)?.trim_end().split_once(' ')?;
    let key = Zeroizing::new(<[u8; KEY_BYTES]>::try_from(unhex(key)?.as_slice()).ok()?);
    (*unhex(check)? == checksum(&key)).then_some(MasterKey(key))
}

fn checksum(key: &[u8; KEY_BYTES]) -> [u8; 4] {
    crc32fast::hash(key).to_be_bytes()
}

fn read_secret(path: &Path) -> Result<MasterKey, StoreError> {
    let io =
        |error: &std::io::Error| StoreError::io("read the store's key (store.key)", path, error);
    let bytes = fs::metadata(path).map_err(|error| io(&error))?.len();
    if bytes > SECRET_BYTES_MAX {
        let reason = format!("{bytes} bytes are no key, accepted are at most {SECRET_BYTES_MAX}");
        return Err(io(&std::io::Error::other(reason)));
    }
    let secret = Zeroizing::new(fs::read(path).map_err(|error| io(&error))?);
    of_secret(&secret).map_err(|reason| io(&std::io::Error::other(reason)))
}

/// Of the kernel's keyrings that of the session first, as a service may have one of its own.
fn read_kept(name: &str) -> Result<MasterKey, StoreError> {
    let kept = [KeyRingIdentifier::Session, KeyRingIdentifier::User]
        .map(|keyring| KeyRing::from_special_id(keyring, false)?.search(name)?.read_to_vec());
    let kept = kept.map(|it| it.map(Zeroizing::new));
    let secret = match kept {
        [Ok(secret), _] | [_, Ok(secret)] => secret,
        [Err(session), Err(user)] => {
            return Err(StoreError::KernelKey {
                name: name.to_owned(),
                reason: format!("in the session's keyring: {session}; in the user's: {user}"),
            });
        }
    };
    of_secret(&secret).map_err(|reason| StoreError::KernelKey { name: name.to_owned(), reason })
}

fn of_secret(secret: &[u8]) -> Result<MasterKey, String> {
    if secret.len() < SECRET_BYTES_MIN {
        let found = secret.len();
        return Err(format!("it has {found} bytes, a key has {SECRET_BYTES_MIN} or more"));
    }
    let mut hash = Sha256::new();
    hash.update(b"engram master key ");
    hash.update(secret);
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    hash.finalize_into(key.as_mut_slice().into());
    Ok(MasterKey(key))
}

fn hex(bytes: &[u8]) -> Zeroizing<String> {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xF]);
    let mut text = Zeroizing::new(String::with_capacity(2 * bytes.len()));
    text.extend(digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)));
    text
}

fn unhex(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let digit = |it: u8| char::from(it).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let mut bytes = Zeroizing::new(Vec::with_capacity(pairs.len()));
    for [high, low] in pairs {
        bytes.push(digit(*high)? << 4 | digit(*low)?);
    }
    rest.is_empty().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn read(dir: &Path) -> Option<[u8; 32]> {
        MasterKey::read(&KeySource::InStore, dir).unwrap().map(|key| *key.bytes())
    }

    #[test]
    fn either_file_of_the_own_key_is_enough_and_both_are_private() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), None);
        let key = *MasterKey::create_own(dir.path()).unwrap().bytes();
        for name in NAMES {
            let path = dir.path().join(name);
            let whole = fs::read(&path).unwrap();
            for at in [0, 20, whole.len() - 2] {
                let mut bytes = whole.clone();
                bytes[at] ^= 1;
                fs::write(&path, bytes).unwrap();
                assert_eq!(read(dir.path()), Some(key), "{name} at {at}");
                assert_eq!(fs::read(&path).unwrap(), whole, "made anew");
            }
            fs::remove_file(&path).unwrap();
            assert_eq!(read(dir.path()), Some(key));
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_foreign_secret_is_taken_as_it_is_and_a_short_one_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let source = KeySource::File(path.clone());
        let refused = MasterKey::read(&source, dir.path()).unwrap_err().to_string();
        assert!(refused.contains("store.key"), "{refused}");
        fs::write(&path, [7; 31]).unwrap();
        let refused = MasterKey::read(&source, dir.path()).unwrap_err().to_string();
        assert!(refused.contains("31 bytes, a key has 32 or more"), "{refused}");
        fs::write(&path, [7; 32]).unwrap();
        let key = MasterKey::read(&source, dir.path()).unwrap().unwrap().0;
        fs::write(&path, [7; 33]).unwrap();
        let other = MasterKey::read(&source, dir.path()).unwrap().unwrap().0;
        assert_ne!(key, other);
        assert_eq!(fs::read(&path).unwrap(), [7; 33]);
    }

    #[test]
    fn a_key_that_the_kernel_keeps_is_the_secret_of_a_file_with_the_same_bytes() {
        let name = format!("engram-test-{}", std::process::id());
        let source = KeySource::Kernel(name.clone());
        let dir = tempfile::tempdir().unwrap();
        let read = || MasterKey::read(&source, dir.path());
        let refused = read().unwrap_err().to_string();
        assert!(refused.contains(&name) && refused.contains("store.key"), "{refused}");
        let keyring = KeyRing::from_special_id(KeyRingIdentifier::Session, true);
        let Ok(keyring) = keyring else {
            // Written past the test harness, which swallows what a passing test prints.
            drop(std::io::Write::write_all(
                &mut std::io::stderr(),
                b"SKIPPED: the kernel keeps no keys here\n",
            ));
            return;
        };
        let kept = keyring.add_key(&name, &[7; 31]).unwrap();
        let refused = read().unwrap_err().to_string();
        assert!(refused.contains("31 bytes, a key has 32 or more"), "{refused}");
        kept.update(&[7; 32]).unwrap();
        let path = dir.path().join("secret");
        fs::write(&path, [7; 32]).unwrap();
        let same = MasterKey::read(&KeySource::File(path), dir.path()).unwrap().unwrap();
        assert_eq!(read().unwrap().unwrap().0, same.0);
        keyring.unlink_key(kept).unwrap();
        read().unwrap_err();
    }
}
