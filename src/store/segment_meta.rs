//! Metadata of the index's segments, and amendments of their records.
//!
//! Pure: numbers and ranges; keys and values on disk are made of them.

use crate::base::RecordId;
use crate::base::time::Timestamp;

/// Parts of a segment, at most.
pub const PARTS_MAX: usize = 16;

/// Number of a segment: grows, never reused while its chunks are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentNumber(pub u64);

/// Which of a segment's blobs; the numbers are the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartId(pub u8);

/// Metadata of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentMeta {
    pub number: SegmentNumber,
    /// The records from `first` to `last` are in this segment and in no other.
    pub first: RecordId,
    pub last: RecordId,
    /// Records in it, forgotten ones included.
    pub rows: u32,
    /// Records of its range that could not be read when it was made, and are not in it.
    pub unreadable: u32,
    /// Blobs with their bytes, by part.
    pub parts: Vec<(PartId, u64)>,
}

impl SegmentMeta {
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// Change of a record after the segment that holds it was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Amendment {
    /// It was deleted.
    Deleted,
    /// Its end time was extended.
    EndsAt(Timestamp),
}
