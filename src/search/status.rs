//! Sizes of the index, for operators.

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::search::Corpus;
use crate::search::segment::Segment;
use crate::store::segment_meta::SegmentNumber;

/// Segments and what they take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexStatus {
    /// In the order of records.
    pub segments: Vec<SegmentStatus>,
    /// Live rows of the growing segments, and how many segments those are.
    pub growing_rows: usize,
    pub growing_segments: usize,
    /// Memory of the growing segments.
    pub growing_bytes: usize,
}

/// Sealed segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentStatus {
    pub number: SegmentNumber,
    pub first: RecordId,
    pub last: RecordId,
    pub span: Option<(Timestamp, Timestamp)>,
    /// Live rows.
    pub rows: usize,
    /// Deleted rows, which the next merge leaves out.
    pub tombstones: usize,
    pub memory_bytes: usize,
    pub disk_bytes: u64,
}

impl IndexStatus {
    pub fn tombstones(&self) -> usize {
        self.segments.iter().map(|it| it.tombstones).sum()
    }

    pub fn memory_bytes(&self) -> usize {
        self.growing_bytes + self.segments.iter().map(|it| it.memory_bytes).sum::<usize>()
    }

    pub fn disk_bytes(&self) -> u64 {
        self.segments.iter().map(|it| it.disk_bytes).sum()
    }
}

impl Corpus {
    pub fn status(&self) -> IndexStatus {
        let mut status = IndexStatus::default();
        for segment in self.segments().iter() {
            let memory_bytes = segment.memory_bytes();
            let reader = segment.read();
            match segment {
                Segment::Sealed(sealed) => status.segments.push(SegmentStatus {
                    number: sealed.meta.number,
                    first: sealed.meta.first,
                    last: sealed.meta.last,
                    span: reader.span(),
                    rows: reader.live_rows(),
                    tombstones: reader.rows() - reader.live_rows(),
                    memory_bytes,
                    disk_bytes: sealed.meta.bytes(),
                }),
                Segment::Growing(_) => {
                    status.growing_rows += reader.live_rows();
                    status.growing_segments += 1;
                    status.growing_bytes += memory_bytes;
                }
            }
        }
        status
    }
}
