//! Keys of the store's one tree: a letter for the kind, then big-endian numbers,
//! so that a kind is one contiguous range in the order of its numbers.
//!
//! Pure: bytes in, bytes out; knows neither the database nor what lies behind a key.

use uuid::Uuid;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::store::keyring::{KeyClass, KeyId};
use crate::store::segment_meta::{PartId, SegmentNumber};

/// Format, embedding space and vector generation.
pub(super) const FORMAT: &[u8] = b"f";
/// Counters and the next ids.
pub(super) const TALLY: &[u8] = b"c";
/// The next memo and the next recall of one.
pub(super) const MEMO_COUNTERS: &[u8] = b"m";
/// A reindex under way, if any.
pub(super) const REINDEX: &[u8] = b"g";
/// How far captions are parsed anew.
pub(super) const REREADING: &[u8] = b"d";
/// What the database holds; see [`super::witness`].
pub(super) const WITNESS: &[u8] = b"h";
/// Calibration of the embedder's similarity.
pub(super) const CALIBRATION: &[u8] = b"e";

/// Up to where the numbers of writes are given out.
pub(super) const WRITES: &[u8] = b"b";

/// How many records were removed, and the floor below which none counts.
pub(super) const REMOVED: &[u8] = b"w";

pub(super) const RECORDS: &[u8] = b"r";
pub(super) const VECTORS: &[u8] = b"v";
pub(super) const SPOOL: &[u8] = b"s";
pub(super) const SET_ASIDE: &[u8] = b"a";
pub(super) const KEYFRAMES: &[u8] = b"k";
/// Names of the index's segments.
pub(super) const SEGMENTS: &[u8] = b"i";
/// Their blobs.
pub(super) const CHUNKS: &[u8] = b"j";
/// Amendments of records in segments.
pub(super) const AMENDMENTS: &[u8] = b"x";
pub(super) const NOTES: &[u8] = b"n";
pub(super) const MEMOS: &[u8] = b"o";
pub(super) const MEMO_USES: &[u8] = b"p";
pub(super) const MEMO_RECALLS: &[u8] = b"q";
pub(super) const AGENT_STATES: &[u8] = b"t";
/// Vectors of nouns.
pub(super) const NOUNS: &[u8] = b"u";
/// Named sessions.
pub(super) const SESSIONS: &[u8] = b"y";
/// Keys of the keyring that are to be erased.
pub(super) const OWED: &[u8] = b"z";
/// The images, in files of their own.
pub(super) const IMAGES: &[u8] = b"l";

/// Kinds whose keys hold a name; in the database a number stands for it.
pub(super) const NAMED: [&[u8]; 4] = [KEYFRAMES, AGENT_STATES, NOUNS, SESSIONS];

pub(super) fn record(id: RecordId) -> Vec<u8> {
    number_key(RECORDS, id.0)
}

/// First key of a generation's vectors; a prefix of all of them.
pub(super) fn vectors(generation: u32) -> Vec<u8> {
    [VECTORS, &generation.to_be_bytes()].concat()
}

pub(super) fn vector(generation: u32, id: RecordId) -> Vec<u8> {
    [VECTORS, &generation.to_be_bytes(), &id.0.to_be_bytes()].concat()
}

pub(super) fn spooled(ticket: FrameTicket) -> Vec<u8> {
    number_key(SPOOL, ticket.0)
}

pub(super) fn set_aside(ticket: FrameTicket) -> Vec<u8> {
    number_key(SET_ASIDE, ticket.0)
}

pub(super) fn keyframe(source: &str) -> Vec<u8> {
    [KEYFRAMES, source.as_bytes()].concat()
}

pub(super) fn segment(number: SegmentNumber) -> Vec<u8> {
    number_key(SEGMENTS, number.0)
}

/// First key of a segment's chunks; a prefix of all of them.
pub(super) fn chunks(number: SegmentNumber) -> Vec<u8> {
    number_key(CHUNKS, number.0)
}

/// First key of a blob's chunks; a prefix of all of them.
pub(super) fn chunks_of(number: SegmentNumber, part: PartId) -> Vec<u8> {
    [CHUNKS, &number.0.to_be_bytes(), &[part.0]].concat()
}

pub(super) fn chunk(number: SegmentNumber, part: PartId, at: u32) -> Vec<u8> {
    [CHUNKS, &number.0.to_be_bytes(), &[part.0], &at.to_be_bytes()].concat()
}

pub(super) fn amendment(id: RecordId) -> Vec<u8> {
    number_key(AMENDMENTS, id.0)
}

pub(super) fn note(id: Uuid) -> Vec<u8> {
    [NOTES, id.as_bytes()].concat()
}

/// Id at the end of a note's key.
pub(super) fn uuid(key: &[u8]) -> Option<Uuid> {
    Uuid::from_slice(key.strip_prefix(NOTES)?).ok()
}

pub(super) fn memo(id: u64) -> Vec<u8> {
    number_key(MEMOS, id)
}

pub(super) fn memo_use(id: u64) -> Vec<u8> {
    number_key(MEMO_USES, id)
}

pub(super) fn memo_recall(number: u64) -> Vec<u8> {
    number_key(MEMO_RECALLS, number)
}

pub(super) fn agent_state(agent: &str) -> Vec<u8> {
    [AGENT_STATES, agent.as_bytes()].concat()
}

/// Agent in the key of a state.
pub(super) fn agent_name(key: &[u8]) -> Option<&str> {
    std::str::from_utf8(key.strip_prefix(AGENT_STATES)?).ok()
}

pub(super) fn noun(generation: u32, stem: &str) -> Vec<u8> {
    [NOUNS, &generation.to_be_bytes(), stem.as_bytes()].concat()
}

/// Stem in a noun's key; `None` where it is of another generation.
pub(super) fn noun_stem(key: &[u8], generation: u32) -> Option<&str> {
    let rest = key.strip_prefix(NOUNS)?.strip_prefix(&generation.to_be_bytes())?;
    str::from_utf8(rest).ok()
}

pub(super) fn session(name: &str) -> Vec<u8> {
    [SESSIONS, name.as_bytes()].concat()
}

/// Name in a session's key.
pub(super) fn session_name(key: &[u8]) -> Option<&str> {
    str::from_utf8(key.strip_prefix(SESSIONS)?).ok()
}

pub(super) fn owed(write: u64) -> Vec<u8> {
    number_key(OWED, write)
}

pub(super) fn image(ticket: FrameTicket) -> Vec<u8> {
    number_key(IMAGES, ticket.0)
}

/// Whether a key, or the prefix of keys, is of a kind in [`NAMED`].
pub(super) fn is_named(key: &[u8]) -> bool {
    NAMED.iter().any(|kind| key.starts_with(kind))
}

/// What stands in the database for a key that holds a name.
pub(super) fn numbered_name(key: &[u8], number: u64) -> Vec<u8> {
    number_key(key.get(..1).unwrap_or_default(), number)
}

/// Number in what [`numbered_name`] made.
pub(super) fn named_number(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(1..)?.try_into().ok()?))
}

/// The key of the keyring that an entry is encrypted with, written as this write.
pub(super) fn encryption_key(key: &[u8], write: u64) -> KeyId {
    let class = match key.first() {
        Some(b'r' | b'v') => KeyClass::Record,
        Some(b's' | b'a' | b'l') => KeyClass::Frame,
        Some(b'j') => KeyClass::Segment,
        Some(b'n' | b'o' | b'p' | b'q' | b'k' | b't' | b'u' | b'y') => {
            return KeyId::new(KeyClass::Version, write);
        }
        _ => return KeyId::KEPT,
    };
    number(key).map_or(KeyId::KEPT, |number| KeyId::new(class, number))
}

/// The key of the keyring that is erased when an entry is removed, besides that of its
/// version.
pub(super) fn erased_with(key: &[u8]) -> Option<KeyId> {
    let class = match key.first() {
        Some(b'r') => KeyClass::Record,
        Some(b'i') => KeyClass::Segment,
        _ => return None,
    };
    Some(KeyId::new(class, number(key)?))
}

/// Whether somebody who removes an entry expects its content to be gone at once.
pub(super) fn is_content(key: &[u8]) -> bool {
    matches!(key.first(), Some(b'r' | b'i' | b'n' | b'o' | b't' | b'u' | b'y'))
}

/// Number in a numbered key, the segment's in that of a chunk; `None` where the key
/// is of another kind.
pub(super) fn number(key: &[u8]) -> Option<u64> {
    let at = match key.split_first()? {
        (b'r' | b's' | b'a' | b'i' | b'x' | b'o' | b'p' | b'q' | b'l', rest) => rest,
        (b'j', rest) => rest.get(..8)?,
        (b'v', rest) => rest.get(4..)?,
        _ => return None,
    };
    Some(u64::from_be_bytes(at.try_into().ok()?))
}

/// Generation in a vector's key.
pub(super) fn generation(key: &[u8]) -> Option<u32> {
    let bytes = key.strip_prefix(VECTORS)?.get(..4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// Names a key for people.
pub(super) fn describe(key: &[u8]) -> String {
    let number = number(key).map_or_else(|| format!("{key:02x?}"), |number| number.to_string());
    match key.first() {
        Some(b'r') => format!("record {number}"),
        Some(b'v') => format!("the vector of record {number}"),
        Some(b's') => format!("spooled frame {number}"),
        Some(b'a') => format!("set-aside frame {number}"),
        Some(b'k') => {
            let source = key.get(1..).unwrap_or_default();
            format!("the last keyframe of source {:?}", String::from_utf8_lossy(source))
        }
        Some(b'i') => format!("segment {number} of the index"),
        Some(b'j') => format!("a chunk of segment {number} of the index"),
        Some(b'x') => format!("the amendment of record {number}"),
        Some(b'w') => "the count of removed records".to_owned(),
        Some(b'n') => match uuid(key) {
            Some(id) => format!("note {id}"),
            None => format!("entry {number}"),
        },
        Some(b'o') => format!("memo {number}"),
        Some(b'p') => format!("the use of memo {number}"),
        Some(b'q') => format!("recall {number} of a memo"),
        Some(b'm') => "the numbers of memos".to_owned(),
        Some(b't') => {
            let agent = key.get(1..).unwrap_or_default();
            format!("the state of agent {:?}", String::from_utf8_lossy(agent))
        }
        Some(b'y') => {
            let name = key.get(1..).unwrap_or_default();
            format!("session {:?}", String::from_utf8_lossy(name))
        }
        Some(b'f') => "the format entry".to_owned(),
        Some(b'c') => "the counters".to_owned(),
        Some(b'g') => "the state of a reindex".to_owned(),
        Some(b'e') => "the embedder's scale".to_owned(),
        Some(b'b') => "the number of writes".to_owned(),
        Some(b'z') => "the names of keys to erase".to_owned(),
        Some(b'l') => format!("the image of frame {number}"),
        _ => format!("entry {number}"),
    }
}

/// Whether an entry is something seen or said, of the kinds that fill the disk.
pub(super) fn fills_disk(key: &[u8]) -> bool {
    matches!(key.first(), Some(b'r' | b's' | b'i' | b'n' | b'o' | b't'))
}

/// Names a kind of entries for people, in the plural.
pub(super) fn kind_name(kind: u8) -> &'static str {
    match kind {
        b'r' => "records",
        b'v' => "vectors of records",
        b's' => "frames that wait for a caption",
        b'a' => "frames set aside",
        b'k' => "last keyframes of sources",
        b'i' => "segments of the index",
        b'x' => "amendments of records",
        b'n' => "notes",
        b'o' => "memos",
        b'p' => "uses of memos",
        b'q' => "recalls of memos",
        b't' => "states of agents",
        b'u' => "vectors of nouns",
        b'y' => "sessions",
        _ => "settings of the store",
    }
}

fn number_key(kind: &[u8], number: u64) -> Vec<u8> {
    [kind, &number.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, proptest};

    proptest! {
        #[test]
        fn keys_sort_as_their_numbers(a in any::<u64>(), b in any::<u64>(), g in any::<u32>()) {
            assert_eq!(record(RecordId(a)).cmp(&record(RecordId(b))), a.cmp(&b));
            assert_eq!(vector(g, RecordId(a)).cmp(&vector(g, RecordId(b))), a.cmp(&b));
            assert_eq!(spooled(FrameTicket(a)).cmp(&spooled(FrameTicket(b))), a.cmp(&b));
        }

        #[test]
        fn generations_do_not_interleave(a in any::<u64>(), b in any::<u64>(), g in 0..u32::MAX) {
            assert!(vector(g, RecordId(a)) < vector(g + 1, RecordId(b)));
        }

        #[test]
        fn numbers_come_back(n in any::<u64>(), g in any::<u32>()) {
            let chunk = chunk(SegmentNumber(n), PartId(3), g);
            let keys = [record(RecordId(n)), vector(g, RecordId(n)), set_aside(FrameTicket(n))];
            for key in keys.into_iter().chain([segment(SegmentNumber(n)), chunk]) {
                assert_eq!(number(&key), Some(n));
            }
            assert_eq!(generation(&vector(g, RecordId(n))), Some(g));
            let id = Uuid::from_u64_pair(n, u64::from(g));
            assert_eq!(uuid(&note(id)), Some(id));
        }

        #[test]
        fn any_bytes_have_a_description(key: Vec<u8>) {
            assert!(!describe(&key).is_empty());
        }
    }

    #[test]
    fn kinds_do_not_overlap() {
        let singles = [
            FORMAT,
            TALLY,
            REINDEX,
            REREADING,
            REMOVED,
            MEMO_COUNTERS,
            CALIBRATION,
            WITNESS,
            WRITES,
        ];
        let kinds = [
            RECORDS,
            VECTORS,
            SPOOL,
            SET_ASIDE,
            KEYFRAMES,
            SEGMENTS,
            CHUNKS,
            AMENDMENTS,
            NOTES,
            MEMOS,
            MEMO_USES,
            MEMO_RECALLS,
            AGENT_STATES,
            NOUNS,
            SESSIONS,
            OWED,
            IMAGES,
        ];
        for single in singles {
            assert!(kinds.iter().all(|kind| !single.starts_with(kind)));
        }
    }
}
