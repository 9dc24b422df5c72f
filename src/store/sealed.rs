//! Sealed value: a value as it lies on disk, encrypted under its own key.
//!
//! It describes itself, so that whole ones can be told from noise among the bytes of a
//! damaged database, and says inside what it was and in which order it was written. What
//! stands outside names its key and nothing else.
//!
//! Layout: two magic bytes, the layout's version, the key's class, the key's number (u64,
//! little-endian), the bytes of the encrypted part (u32), a checksum (u32) of all that, by
//! which a damaged name of a key is not taken for that of an erased one; a nonce of 12
//! bytes; then, with AES-256-GCM: the number of the write (u64), the bytes of the entry's
//! key (u16), that key, the value; and a tag of 16 bytes. All before the nonce is
//! authenticated.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::store::StoreError;
use crate::store::keyring::{KEY_BYTES, KeyClass, KeyId, Keyring, random};

const MAGIC: [u8; 2] = [0xE9, 0x67];
const VERSION: u8 = 1;
/// Before the nonce.
const HEAD_BYTES: usize = 20;
/// Of which the checksum is.
const CHECKED_BYTES: usize = 16;
const TAG_BYTES: usize = 16;
/// Number of the write, and the bytes of the entry's key.
const INNER_HEAD_BYTES: usize = 10;

/// What a sealed value holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opened {
    /// Order among all values of the store.
    pub(super) write: u64,
    /// Under which entry it was put.
    pub(super) entry: Vec<u8>,
    pub(super) value: Vec<u8>,
}

/// Why there is nothing to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// Its key was destroyed.
    Erased,
    /// Its bytes are not those that were written.
    Damaged,
}

/// Encrypts a value under its key.
pub(super) fn seal(
    keyring: &Keyring,
    id: KeyId,
    write: u64,
    entry: &[u8],
    value: &[u8],
) -> Result<Vec<u8>, StoreError> {
    let Some(key) = keyring.key(id) else {
        let reason = format!("there is no key for {id:?}");
        return Err(StoreError::Database { reason });
    };
    let mut plain = Vec::with_capacity(INNER_HEAD_BYTES + entry.len() + value.len() + TAG_BYTES);
    plain.extend_from_slice(&write.to_le_bytes());
    plain.extend_from_slice(&u16::try_from(entry.len()).unwrap_or(u16::MAX).to_le_bytes());
    plain.extend_from_slice(entry);
    plain.extend_from_slice(value);
    let head = Head { id, bytes: u32::try_from(plain.len()).unwrap_or(u32::MAX) }.print();
    let nonce = random()?;
    let sealed = encrypt(&key, nonce, &head, plain);
    Ok([head.as_slice(), &nonce, &sealed].concat())
}

/// Reads what [`seal`] made of it.
pub(super) fn open(keyring: &Keyring, sealed: &[u8]) -> Result<Opened, Unreadable> {
    let (head, rest) = sealed.split_first_chunk::<HEAD_BYTES>().ok_or(Unreadable::Damaged)?;
    let Head { id, bytes } = Head::parse(head).ok_or(Unreadable::Damaged)?;
    let (nonce, encrypted) = rest.split_first_chunk().ok_or(Unreadable::Damaged)?;
    if encrypted.len() != bytes as usize + TAG_BYTES {
        return Err(Unreadable::Damaged);
    }
    let key = keyring.key(id).ok_or(Unreadable::Erased)?;
    let plain = decrypt(&key, *nonce, head, encrypted.to_vec()).ok_or(Unreadable::Damaged)?;
    parse_inner(plain).ok_or(Unreadable::Damaged)
}

/// Key of a sealed value, without opening it; `None` where the bytes are none.
pub(super) fn key_id(sealed: &[u8]) -> Option<KeyId> {
    Head::parse(sealed.first_chunk()?).map(|head| head.id)
}

/// Whether bytes begin as a sealed value does: those of earlier formats do not.
pub(super) fn is_sealed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// A whole sealed value among other bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Carved<'a> {
    pub(super) id: KeyId,
    pub(super) opened: Opened,
    /// As it lies there.
    pub(super) sealed: &'a [u8],
}

/// Every whole sealed value among any bytes that a key opens, whatever lies between.
pub(super) fn carve<'a>(
    keyring: &'a Keyring,
    bytes: &'a [u8],
) -> impl Iterator<Item = Carved<'a>> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = bytes.get(at..)?;
            let next = rest.windows(MAGIC.len()).position(|it| it == MAGIC)?;
            let rest = rest.get(next..)?;
            at += next + 1;
            let Some(head) = rest.first_chunk().and_then(Head::parse) else { continue };
            let Some(sealed) = rest.get(..sealed_bytes(head.bytes as usize)) else { continue };
            if let Ok(opened) = open(keyring, sealed) {
                at += sealed.len() - 1;
                return Some(Carved { id: head.id, opened, sealed });
            }
        }
    })
}

fn sealed_bytes(plain: usize) -> usize {
    HEAD_BYTES + NONCE_LEN + plain + TAG_BYTES
}

struct Head {
    id: KeyId,
    bytes: u32,
}

impl Head {
    fn print(&self) -> [u8; HEAD_BYTES] {
        let Self { id: KeyId { class, number }, bytes } = self;
        let [a, b] = MAGIC;
        let mut head = [0; HEAD_BYTES];
        let parts = [a, b, VERSION, class.to_byte()].into_iter();
        let parts = parts.chain(number.to_le_bytes()).chain(bytes.to_le_bytes());
        head.iter_mut().zip(parts).for_each(|(to, from)| *to = from);
        if let Some((checked, check)) = head.split_first_chunk_mut::<CHECKED_BYTES>() {
            check.copy_from_slice(&crc32fast::hash(checked).to_le_bytes());
        }
        head
    }

    fn parse(head: &[u8; HEAD_BYTES]) -> Option<Self> {
        let (checked, check) = head.split_first_chunk::<CHECKED_BYTES>()?;
        if check != crc32fast::hash(checked).to_le_bytes() {
            return None;
        }
        let [a, b, version, class, rest @ ..] = checked;
        if [*a, *b] != MAGIC || *version != VERSION {
            return None;
        }
        let (number, bytes) = rest.split_first_chunk()?;
        let number = u64::from_le_bytes(*number);
        let bytes = u32::from_le_bytes(*bytes.first_chunk()?);
        Some(Self { id: KeyId::new(KeyClass::of_byte(*class)?, number), bytes })
    }
}

fn parse_inner(mut plain: Vec<u8>) -> Option<Opened> {
    let (write, rest) = plain.split_first_chunk()?;
    let write = u64::from_le_bytes(*write);
    let (entry_bytes, rest) = rest.split_first_chunk()?;
    let entry = rest.get(..usize::from(u16::from_le_bytes(*entry_bytes)))?.to_vec();
    plain.drain(..INNER_HEAD_BYTES + entry.len());
    Some(Opened { write, entry, value: plain })
}

/// Encrypts with AES-256-GCM; the tag stands at the end.
pub(super) fn encrypt(
    key: &[u8; KEY_BYTES],
    nonce: [u8; NONCE_LEN],
    authenticated: &[u8],
    mut plain: Vec<u8>,
) -> Vec<u8> {
    let nonce = Nonce::assume_unique_for_key(nonce);
    #[expect(clippy::expect_used, reason = "refuses 64 GiB; values are bounded far below")]
    cipher(key)
        .seal_in_place_append_tag(nonce, Aad::from(authenticated), &mut plain)
        .expect("encrypts what memory holds");
    plain
}

/// Reads what [`encrypt`] made; `None` where a bit of it is another.
pub(super) fn decrypt(
    key: &[u8; KEY_BYTES],
    nonce: [u8; NONCE_LEN],
    authenticated: &[u8],
    mut encrypted: Vec<u8>,
) -> Option<Vec<u8>> {
    let nonce = Nonce::assume_unique_for_key(nonce);
    let opened = cipher(key).open_in_place(nonce, Aad::from(authenticated), &mut encrypted);
    let bytes = opened.ok()?.len();
    encrypted.truncate(bytes);
    Some(encrypted)
}

fn cipher(key: &[u8; KEY_BYTES]) -> LessSafeKey {
    #[expect(clippy::expect_used, reason = "a key has the length that the cipher asks for")]
    let key = UnboundKey::new(&AES_256_GCM, key).expect("256 bits");
    LessSafeKey::new(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::keyring::master_key::MasterKey;
    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    fn keyring() -> (tempfile::TempDir, Keyring) {
        let dir = tempfile::tempdir().unwrap();
        let keyring = Keyring::create(dir.path(), &MasterKey::for_tests(1)).unwrap();
        (dir, keyring)
    }

    fn version(number: u64) -> KeyId {
        KeyId::new(KeyClass::Version, number)
    }

    proptest! {
        #[test]
        fn values_come_back_and_no_flipped_bit_does(
            entry: Vec<u8>, value: Vec<u8>, write: u64, flip: prop::sample::Index,
        ) {
            let (_dir, keyring) = keyring();
            let mut sealed = seal(&keyring, version(9), write, &entry, &value).unwrap();
            prop_assert_eq!(key_id(&sealed), Some(version(9)));
            prop_assert_eq!(open(&keyring, &sealed), Ok(Opened { write, entry, value }));
            let bit = flip.index(sealed.len() * 8);
            sealed[bit / 8] ^= 1 << (bit % 8);
            open(&keyring, &sealed).unwrap_err();
        }

        #[test]
        fn whole_values_are_carved_out_of_any_bytes(
            parts in prop::collection::vec((any::<Vec<u8>>(), any::<bool>()), 0..8),
        ) {
            let (_dir, keyring) = keyring();
            let (mut bytes, mut expected) = (Vec::new(), Vec::new());
            for (part, is_value) in parts {
                if is_value {
                    let write = bytes.len() as u64;
                    bytes.extend(seal(&keyring, version(3), write, b"n", &part).unwrap());
                    let value = Opened { write, entry: b"n".to_vec(), value: part };
                    expected.push((version(3), value));
                } else {
                    bytes.extend(MAGIC);
                    bytes.extend(part);
                }
            }
            let carved = carve(&keyring, &bytes).map(|it| (it.id, it.opened));
            let carved: Vec<_> = carved.collect();
            prop_assert_eq!(carved, expected);
            prop_assert!(carve(&keyring, &bytes[bytes.len() / 2..]).count() <= bytes.len());
        }
    }

    #[test]
    fn a_damaged_name_of_a_key_is_no_erased_one() {
        let (_dir, keyring) = keyring();
        let mut sealed = seal(&keyring, version(9), 1, b"n", b"a mug").unwrap();
        keyring.erase([version(8)]).unwrap();
        sealed[4] ^= 1;
        assert_eq!(open(&keyring, &sealed), Err(Unreadable::Damaged));
    }

    #[test]
    fn a_value_whose_key_is_gone_is_noise() {
        let (_dir, keyring) = keyring();
        let sealed = seal(&keyring, version(9), 1, b"n", b"the door code is 4711").unwrap();
        keyring.erase([version(9)]).unwrap();
        assert_eq!(open(&keyring, &sealed), Err(Unreadable::Erased));
        assert_eq!(carve(&keyring, &sealed).count(), 0);
        seal(&keyring, version(9), 1, b"n", b"again").unwrap_err();
    }

    #[test]
    fn equal_values_do_not_look_alike() {
        let (_dir, keyring) = keyring();
        let sealed = || seal(&keyring, KeyId::KEPT, 1, b"c", b"a mug").unwrap();
        assert_ne!(sealed()[HEAD_BYTES..], sealed()[HEAD_BYTES..]);
    }
}
