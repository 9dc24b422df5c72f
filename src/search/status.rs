//! What a corpus holds, for operators.

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::search::Corpus;
use crate::search::piece::Piece;
use crate::store::segments::SegmentNumber;

/// The pieces of a corpus and what they take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// In the order of records.
    pub segments: Vec<SegmentStatus>,
    /// Records in no segment yet, in how many flat pieces.
    pub tail_rows: usize,
    pub tail_pieces: usize,
    /// Bytes of memory that the flat pieces take.
    pub tail_bytes: usize,
}

/// A segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentStatus {
    pub number: SegmentNumber,
    pub first: RecordId,
    pub last: RecordId,
    pub span: Option<(Timestamp, Timestamp)>,
    /// Records that can be found in it.
    pub rows: usize,
    /// Forgotten ones that the next merge leaves out.
    pub tombstones: usize,
    pub memory_bytes: usize,
    pub disk_bytes: u64,
}

impl Status {
    pub fn tombstones(&self) -> usize {
        self.segments.iter().map(|it| it.tombstones).sum()
    }

    pub fn memory_bytes(&self) -> usize {
        self.tail_bytes + self.segments.iter().map(|it| it.memory_bytes).sum::<usize>()
    }

    pub fn disk_bytes(&self) -> u64 {
        self.segments.iter().map(|it| it.disk_bytes).sum()
    }
}

impl Corpus {
    pub fn status(&self) -> Status {
        let mut status = Status::default();
        for piece in self.pieces().iter() {
            let memory_bytes = piece.memory_bytes();
            let reading = piece.read();
            match piece {
                Piece::Sealed(sealed) => status.segments.push(SegmentStatus {
                    number: sealed.meta.number,
                    first: sealed.meta.first,
                    last: sealed.meta.last,
                    span: reading.span(),
                    rows: reading.found(),
                    tombstones: reading.rows() - reading.found(),
                    memory_bytes,
                    disk_bytes: sealed.meta.bytes(),
                }),
                Piece::Open(_) => {
                    status.tail_rows += reading.found();
                    status.tail_pieces += 1;
                    status.tail_bytes += memory_bytes;
                }
            }
        }
        status
    }
}
