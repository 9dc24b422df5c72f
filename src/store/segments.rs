//! Segments of the index: immutable blobs in checksummed chunks, written ahead and
//! then named, in one batch with the removal of those that they replace.
//!
//! Knows names, ranges of records and bytes, not what the bytes mean. Also keeps the
//! *amendments*: what became of a record after the segment that holds it was made.
//!
//! Promises: a segment that is named is whole on disk; killed at any moment, a
//! store names the old segments or the new ones, never both and never neither.
//! Chunks that nothing names are removed when the store opens.

use sled::Batch;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::change::Change;
use crate::store::database::Database;
use crate::store::format;
use crate::store::keys;
use crate::store::records::{self, AmendmentOnDisk, Fault, SegmentOnDisk};

/// Bytes of a chunk. sled keeps up to seventeen entries in a page and writes a page
/// of more than an eighth of a megabyte to a file of its own, each time anew.
const CHUNK_BYTES: usize = 7 << 10;
/// Chunks written between two flushes: a record that is stored meanwhile waits for
/// what was written before it.
const CHUNKS_A_FLUSH: usize = 64;
/// Parts of a segment, at most.
pub const PARTS_MAX: usize = 16;

/// Number of a segment: grows, never reused while its chunks are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentNumber(pub u64);

/// Which of a segment's blobs; the numbers are the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartId(pub u8);

/// What is known of a segment without its blobs.
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

/// A segment to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewSegment<'a> {
    pub first: RecordId,
    pub last: RecordId,
    pub rows: u32,
    pub unreadable: u32,
    pub parts: &'a [(PartId, Vec<u8>)],
}

/// What became of a record after the segment that holds it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Amendment {
    /// It was forgotten.
    Gone,
    /// It was seen until this moment.
    EndsAt(Timestamp),
}

impl Store {
    /// The segments in the order of their records, no two overlapping.
    ///
    /// Entries that are damaged, or of vectors that count no longer, are left out:
    /// their records are in no segment. Says so in the log.
    pub fn segments(&self) -> Result<Vec<SegmentMeta>, StoreError> {
        named(&self.0.db, self.0.generation)
    }

    /// Writes the blobs of a segment, durably, without naming it: until
    /// [`Store::replace_segments`] does, the next start removes them.
    pub fn write_segment(&self, segment: &NewSegment<'_>) -> Result<SegmentMeta, StoreError> {
        let NewSegment { first, last, rows, unreadable, parts } = *segment;
        if let Some(reason) = self.0.failure() {
            return Err(StoreError::Stopped { reason });
        }
        let number = self.0.next_segment();
        let mut written = 0;
        for (part, bytes) in parts {
            for (at, chunk) in (0_u32..).zip(bytes.chunks(CHUNK_BYTES)) {
                let key = keys::chunk(number, *part, at);
                self.0.db.put(&key, records::seal(&key, chunk))?;
                written += 1;
                if written % CHUNKS_A_FLUSH == 0 {
                    self.0.db.flush()?;
                }
            }
        }
        self.0.db.flush()?;
        let parts = parts.iter().map(|(part, bytes)| (*part, bytes.len() as u64)).collect();
        Ok(SegmentMeta { number, first, last, rows, unreadable, parts })
    }

    /// Names the segments `add` and drops `remove`, in one batch. `amendments` are
    /// those that the new segments need; all others of their records are dropped.
    /// Durable when it returns.
    pub fn replace_segments(
        &self,
        remove: &[SegmentNumber],
        add: &[SegmentMeta],
        amendments: &[(RecordId, Amendment)],
    ) -> Result<(), StoreError> {
        self.change(|writer, change| {
            let mut covered: Vec<(RecordId, RecordId)> = Vec::new();
            for (number, range) in &writer.segments {
                if !remove.contains(number) {
                    covered.push(*range);
                }
            }
            for number in remove {
                change.batch.remove(keys::segment(*number));
                change.segments.push((*number, None));
            }
            for meta in add {
                let range = (meta.first, meta.last);
                if let Some(other) = covered.iter().find(|it| overlap(**it, range)) {
                    let reason = format!(
                        "segment {} of records {} to {} overlaps one of {} to {}",
                        meta.number.0, range.0, range.1, other.0, other.1
                    );
                    return Err(StoreError::Database { reason });
                }
                covered.push(range);
                for entry in self.0.db.between(&keys::amendment(range.0), &keys::amendment(range.1))
                {
                    change.batch.remove(entry?.0);
                }
                change.put_segment(meta, self.0.generation);
            }
            for (id, amendment) in amendments {
                change.put_amendment(*id, *amendment);
            }
            Ok(())
        })?;
        remove.iter().try_for_each(|number| remove_chunks(&self.0.db, *number))
    }

    /// A blob of a segment; [`StoreError::Damaged`] where it is not whole.
    pub fn read_segment_part(
        &self,
        meta: &SegmentMeta,
        part: PartId,
    ) -> Result<Vec<u8>, StoreError> {
        let name = keys::segment(meta.number);
        let Some((_, bytes)) = meta.parts.iter().find(|(it, _)| *it == part) else {
            return Err(StoreError::damaged(&name, &Fault::Missing));
        };
        let expected = usize::try_from(*bytes).unwrap_or(usize::MAX);
        // An absurd length is found out before room is made for it.
        let mut blob = Vec::new();
        let mut next = 0_u32;
        for entry in self.0.db.entries(&keys::chunks_of(meta.number, part)) {
            let (key, sealed) = entry?;
            let due = keys::chunk(meta.number, part, next);
            let missing = || StoreError::damaged(&due, &Fault::Missing);
            if *key != *due {
                return Err(missing());
            }
            let chunk = records::unseal(&key, &sealed)
                .map_err(|fault| StoreError::damaged(&key, &fault))?;
            if next == 0 {
                blob.reserve_exact(expected.min(1 << 32));
            }
            blob.extend_from_slice(chunk);
            next += 1;
        }
        if blob.len() != expected {
            let fault = Fault::Content(format!("{} bytes instead of {expected}", blob.len()));
            return Err(StoreError::damaged(&name, &fault));
        }
        Ok(blob)
    }

    /// What became of records after their segments were made, by ascending id.
    ///
    /// A damaged one counts as "gone" where its record is, else as its record's end.
    pub fn amendments(&self) -> Result<Vec<(RecordId, Amendment)>, StoreError> {
        let mut amendments = Vec::new();
        for entry in self.0.db.entries(keys::AMENDMENTS) {
            let (key, sealed) = entry?;
            let Some(id) = keys::number(&key).map(RecordId) else { continue };
            let read = records::decode::<AmendmentOnDisk>(&key, &sealed)
                .and_then(AmendmentOnDisk::into_amendment);
            let amendment = match (read, self.record(id)) {
                (Ok(amendment), _) => amendment,
                (Err(_), Ok(None)) => Amendment::Gone,
                (Err(_), Ok(Some(record))) => Amendment::EndsAt(record.end_at),
                (Err(_), Err(error)) if error.concerns_one_value() => continue,
                (Err(_), Err(error)) => return Err(error),
            };
            amendments.push((id, amendment));
        }
        Ok(amendments)
    }
}

impl Change {
    fn put_segment(&mut self, meta: &SegmentMeta, generation: u32) {
        let key = keys::segment(meta.number);
        let on_disk = SegmentOnDisk::of(meta, generation);
        self.batch.insert(key.as_slice(), records::encode(&key, &on_disk));
        self.segments.push((meta.number, Some((meta.first, meta.last))));
    }

    pub(super) fn put_amendment(&mut self, id: RecordId, amendment: Amendment) {
        let key = keys::amendment(id);
        let on_disk = AmendmentOnDisk::of(amendment);
        self.batch.insert(key.as_slice(), records::encode(&key, &on_disk));
    }
}

fn overlap(a: (RecordId, RecordId), b: (RecordId, RecordId)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// Named segments of one generation of vectors, in the order of their records.
pub(super) fn named(db: &Database, generation: u32) -> Result<Vec<SegmentMeta>, StoreError> {
    let mut found: Vec<SegmentMeta> = Vec::new();
    for entry in db.entries(keys::SEGMENTS) {
        let (key, sealed) = entry?;
        let Some(number) = keys::number(&key).map(SegmentNumber) else { continue };
        match records::decode::<SegmentOnDisk>(&key, &sealed) {
            Ok(on_disk) if on_disk.generation == generation => {
                found.push(on_disk.into_meta(number))
            }
            Ok(_) => {}
            Err(fault) => {
                let error = StoreError::damaged(&key, &fault);
                log::error!(error:%; "a segment of the index is left out and made anew");
            }
        }
    }
    found.sort_by_key(|meta| (meta.first, meta.number));
    let mut segments: Vec<SegmentMeta> = Vec::new();
    for meta in found {
        let is_beyond = segments.last().is_none_or(|before| before.last < meta.first);
        if is_beyond && meta.first <= meta.last {
            segments.push(meta);
        } else {
            log::error!(segment = meta.number.0; "a segment of the index overlaps another and is left out");
        }
    }
    Ok(segments)
}

/// Removes what `segments` do not name: names, chunks, and the amendments of records
/// that are in none. Costs nothing where there is none of it.
pub(super) fn remove_leftovers(db: &Database, segments: &[SegmentMeta]) -> Result<(), StoreError> {
    let is_named = |number| segments.iter().any(|meta| meta.number == number);
    let mut batch = Batch::default();
    let mut left_over = 0;
    for entry in db.entries(keys::SEGMENTS) {
        let (key, _) = entry?;
        if !keys::number(&key).map(SegmentNumber).is_some_and(is_named) {
            batch.remove(key);
            left_over += 1;
        }
    }
    for entry in db.entries(keys::AMENDMENTS) {
        let (key, _) = entry?;
        let id = keys::number(&key).map(RecordId).unwrap_or(RecordId(0));
        if !segments.iter().any(|meta| (meta.first..=meta.last).contains(&id)) {
            batch.remove(key);
            left_over += 1;
        }
    }
    if left_over > 0 {
        db.commit(batch)?;
    }
    let mut start = keys::chunks(SegmentNumber(0));
    while let Some((key, _)) = db.first_from(&start, keys::CHUNKS)? {
        let Some(number) = keys::number(&key).map(SegmentNumber) else { break };
        if !is_named(number) {
            remove_chunks(db, number)?;
        }
        let Some(next) = number.0.checked_add(1) else { break };
        start = keys::chunks(SegmentNumber(next));
    }
    Ok(())
}

fn remove_chunks(db: &Database, number: SegmentNumber) -> Result<(), StoreError> {
    format::remove_all(db, &keys::chunks(number))
}

/// A number beyond those that any name or chunk bears.
pub(super) fn free_number(db: &Database) -> Result<u64, StoreError> {
    let mut newest = 0;
    for kind in [keys::SEGMENTS, keys::CHUNKS] {
        if let Some(entry) = db.entries(kind).next_back() {
            newest = newest.max(keys::number(&entry?.0).unwrap_or(0));
        }
    }
    Ok(newest.saturating_add(1))
}
