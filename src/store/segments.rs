//! Segments of the index: immutable blobs in checksummed chunks, written ahead and
//! then named, in one batch with the removal of those that they replace.
//!
//! Knows names, ranges of records and bytes, not what the bytes mean. Also keeps the
//! *amendments*: changes of records after their segment was sealed.
//!
//! Promises: a segment that is named is whole on disk; killed at any moment, a
//! store names the old segments or the new ones, never both and never neither.
//! Chunks that nothing names are removed when the store opens.

use std::io::{self, Read, Write};
use std::ops::Range;

use crate::base::RecordId;
use crate::base::failpoint::failpoint;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::change::Change;
use crate::store::keyring::{KeyClass, KeyId};
use crate::store::keys;
use crate::store::records::{self, AmendmentOnDisk, Fault, SegmentOnDisk};
use crate::store::sealed_database::{Batch, Entries, SealedDatabase};
use crate::store::segment_meta::{Amendment, PartId, SegmentMeta, SegmentNumber};

/// Bytes of a chunk. sled keeps up to seventeen entries in a page and writes a page
/// of more than an eighth of a megabyte to a file of its own, each time anew.
const CHUNK_BYTES: usize = 7 << 10;
/// Chunks written between two flushes: a record that is stored meanwhile waits for
/// what was written before it.
const CHUNKS_A_FLUSH: u32 = 64;
impl Store {
    /// The segments in the order of their records, no two overlapping.
    ///
    /// Entries that are damaged, or of vectors that count no longer, are left out:
    /// their records are in no segment. Says so in the log.
    pub fn segments(&self) -> Result<Vec<SegmentMeta>, StoreError> {
        read_named(&self.0.db, self.0.generation)
    }

    /// Begins to write a segment.
    pub fn draft_segment(&self) -> Result<Draft<'_>, StoreError> {
        match self.0.failure() {
            Some(reason) => Err(StoreError::Stopped { reason }),
            None => Ok(Draft { store: self, number: self.0.next_segment(), parts: Vec::new() }),
        }
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
        failpoint!("segment.named");
        remove.iter().try_for_each(|number| remove_chunks(&self.0.db, *number))
    }

    /// A blob of a segment; [`StoreError::Damaged`] where it is not whole.
    pub fn read_segment_part(
        &self,
        meta: &SegmentMeta,
        part: PartId,
    ) -> Result<Vec<u8>, StoreError> {
        let mut reader = self.segment_part(meta, part)?;
        let mut bytes = Vec::new();
        match reader.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(reader.fault(&error)),
        }
    }

    /// Reads a blob of a segment piece by piece; the damaged piece is an error.
    pub fn segment_part(&self, meta: &SegmentMeta, part: PartId) -> Result<PartReader, StoreError> {
        let Some((_, bytes)) = meta.parts.iter().find(|(it, _)| *it == part) else {
            return Err(StoreError::damaged(&keys::segment(meta.number), &Fault::Missing));
        };
        Ok(PartReader {
            store: self.clone(),
            chunks: self.0.db.entries(&keys::chunks_of(meta.number, part)),
            number: meta.number,
            part,
            next: 0,
            sealed: Vec::new(),
            chunk: 0..0,
            bytes: *bytes,
            left: *bytes,
            fault: None,
        })
    }

    /// Amendments, by ascending id.
    ///
    /// A damaged one counts as a deletion where the record is missing, else as the
    /// record's end time.
    pub fn amendments(&self) -> Result<Vec<(RecordId, Amendment)>, StoreError> {
        let mut amendments = Vec::new();
        for entry in self.0.db.entries(keys::AMENDMENTS) {
            let (key, sealed) = entry?;
            let Some(id) = keys::number(&key).map(RecordId) else { continue };
            let read = records::decode::<AmendmentOnDisk>(&key, &sealed)
                .and_then(AmendmentOnDisk::into_amendment);
            let amendment = match (read, self.record(id)) {
                (Ok(amendment), _) => amendment,
                (Err(_), Ok(None)) => Amendment::Deleted,
                (Err(_), Ok(Some(record))) => Amendment::EndsAt(record.end_at),
                (Err(_), Err(error)) if error.concerns_one_value() => continue,
                (Err(_), Err(error)) => return Err(error),
            };
            amendments.push((id, amendment));
        }
        Ok(amendments)
    }
}

/// A segment while it is written. What was written is durable when it is finished,
/// and removed by the next start unless [`Store::replace_segments`] names it.
#[derive(Debug)]
pub struct Draft<'a> {
    store: &'a Store,
    number: SegmentNumber,
    parts: Vec<(PartId, u64)>,
}

impl Draft<'_> {
    /// Writes a blob by way of `write`.
    pub fn part(
        &mut self,
        part: PartId,
        write: impl FnOnce(&mut PartWriter<'_>) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        let (db, number) = (&self.store.0.db, self.number);
        let chunk = Vec::with_capacity(CHUNK_BYTES);
        let mut writer = PartWriter { db, number, part, next: 0, chunk, bytes: 0, fault: None };
        let written = write(&mut writer).and_then(|()| writer.flush());
        self.parts.push((part, writer.bytes));
        written.map_err(|error| {
            let reason = error.to_string();
            writer.fault.unwrap_or(StoreError::Database { reason })
        })
    }

    pub fn finish(
        self,
        (first, last): (RecordId, RecordId),
        rows: u32,
        unreadable: u32,
    ) -> Result<SegmentMeta, StoreError> {
        let Self { store, number, parts } = self;
        store.0.db.flush()?;
        failpoint!("segment.drafted");
        Ok(SegmentMeta { number, first, last, rows, unreadable, parts })
    }
}

/// Cuts what is written into chunks.
#[derive(Debug)]
pub struct PartWriter<'a> {
    db: &'a SealedDatabase,
    number: SegmentNumber,
    part: PartId,
    next: u32,
    chunk: Vec<u8>,
    bytes: u64,
    fault: Option<StoreError>,
}

impl PartWriter<'_> {
    fn put(&mut self) -> Result<(), StoreError> {
        let key = keys::chunk(self.number, self.part, self.next);
        self.db.put(&key, &records::seal(&key, &self.chunk))?;
        self.chunk.clear();
        self.next += 1;
        failpoint!("segment.chunk");
        if self.next.is_multiple_of(CHUNKS_A_FLUSH) { self.db.flush() } else { Ok(()) }
    }
}

impl Write for PartWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (taken, _) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.chunk.len()));
        self.chunk.extend_from_slice(taken);
        self.bytes += taken.len() as u64;
        if self.chunk.len() == CHUNK_BYTES {
            self.flush()?;
        }
        Ok(taken.len())
    }

    /// Ends the chunk.
    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        self.put().map_err(|error| {
            let reason = error.to_string();
            self.fault = Some(error);
            io::Error::other(reason)
        })
    }
}

/// Reads a blob chunk by chunk, each checked before its first byte is given out.
#[derive(Debug)]
pub struct PartReader {
    store: Store,
    chunks: Entries,
    number: SegmentNumber,
    part: PartId,
    next: u32,
    sealed: Vec<u8>,
    /// Unread rest of the sealed chunk.
    chunk: Range<usize>,
    bytes: u64,
    left: u64,
    fault: Option<StoreError>,
}

impl PartReader {
    /// Bytes of the whole blob.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Cause of a failed read: damage, the database, or `error`.
    pub fn fault(&mut self, error: &dyn std::error::Error) -> StoreError {
        self.fault.take().unwrap_or_else(|| {
            let fault = Fault::Content(error.to_string());
            StoreError::damaged(&keys::segment(self.number), &fault)
        })
    }

    /// Takes the next chunk; at the end, all bytes must have come by.
    fn step(&mut self) -> Result<(), StoreError> {
        let due = keys::chunk(self.number, self.part, self.next);
        let Some(entry) = self.chunks.next() else {
            let missing = Fault::Content(format!("its last {} bytes are missing", self.left));
            return if self.left == 0 { Ok(()) } else { Err(StoreError::damaged(&due, &missing)) };
        };
        let (key, sealed) = entry?;
        if key != due {
            return Err(StoreError::damaged(&due, &Fault::Missing));
        }
        let chunk =
            records::unseal(&key, &sealed).map_err(|fault| StoreError::damaged(&key, &fault))?;
        let left = self.left.checked_sub(chunk.len() as u64);
        let surplus = Fault::Content("its blob is longer than it should be".to_owned());
        self.left = left.ok_or_else(|| StoreError::damaged(&key, &surplus))?;
        self.chunk = sealed.len() - chunk.len()..sealed.len();
        self.sealed = sealed;
        self.next += 1;
        self.store.0.db.crowd_out(&key)
    }
}

impl Read for PartReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.chunk.is_empty()
            && let Err(error) = self.step()
        {
            let reason = error.to_string();
            self.fault = Some(error);
            return Err(io::Error::other(reason));
        }
        let rest = self.sealed.get(self.chunk.clone()).unwrap_or_default();
        let len = rest.len().min(into.len());
        if let (Some(from), Some(into)) = (rest.get(..len), into.get_mut(..len)) {
            into.copy_from_slice(from);
        }
        self.chunk.start += len;
        Ok(len)
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
pub(super) fn read_named(
    db: &SealedDatabase,
    generation: u32,
) -> Result<Vec<SegmentMeta>, StoreError> {
    let mut found: Vec<SegmentMeta> = Vec::new();
    for entry in db.entries(keys::SEGMENTS) {
        let (key, sealed) = entry?;
        let Some(number) = keys::number(&key).map(SegmentNumber) else { continue };
        match records::decode::<SegmentOnDisk>(&key, &sealed) {
            Ok(on_disk) if on_disk.generation == generation => {
                found.push(on_disk.into_meta(number));
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
pub(super) fn remove_leftovers(
    db: &SealedDatabase,
    segments: &[SegmentMeta],
) -> Result<(), StoreError> {
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
        let id = keys::number(&key).map_or(RecordId(0), RecordId);
        if !segments.iter().any(|meta| (meta.first..=meta.last).contains(&id)) {
            batch.remove(key);
            left_over += 1;
        }
    }
    if left_over > 0 {
        db.commit(batch)?;
    }
    let mut start = keys::chunks(SegmentNumber(0));
    while let Some(key) = db.first_key_from(&start, keys::CHUNKS)? {
        let Some(number) = keys::number(&key).map(SegmentNumber) else { break };
        if !is_named(number) {
            remove_chunks(db, number)?;
            failpoint!("start.leftovers");
            let mut batch = Batch::default();
            batch.erase(KeyId::new(KeyClass::Segment, number.0));
            // A number is free from the highest that was erased on.
            batch.erase_at_once();
            db.commit(batch)?;
        }
        let Some(next) = number.0.checked_add(1) else { break };
        start = keys::chunks(SegmentNumber(next));
    }
    Ok(())
}

/// One by one: sled keeps everyone from reading while it applies a batch, and nothing
/// asks for these chunks any more. Their key may be gone by now.
fn remove_chunks(db: &SealedDatabase, number: SegmentNumber) -> Result<(), StoreError> {
    for key in db.keys(&keys::chunks(number)) {
        db.remove(&key?)?;
        failpoint!("segment.removed");
    }
    db.flush()
}

/// A number beyond those that any name or chunk bears.
pub(super) fn free_number(db: &SealedDatabase) -> Result<u64, StoreError> {
    let mut newest = 0;
    for kind in [keys::SEGMENTS, keys::CHUNKS] {
        if let Some(entry) = db.entries(kind).next_back() {
            newest = newest.max(keys::number(&entry?.0).unwrap_or(0));
        }
    }
    Ok(newest.saturating_add(1).max(db.untouched_from(KeyClass::Segment)))
}

#[cfg(test)]
impl Store {
    /// Flips a bit of a record.
    pub(crate) fn damage_record(&self, id: RecordId) {
        let key = keys::record(id);
        let mut sealed = self.0.db.between(&key, &key).next().unwrap().unwrap().1;
        *sealed.last_mut().unwrap() ^= 1;
        self.0.db.put(&key, &sealed).unwrap();
    }

    /// Flips a bit of a blob.
    pub(crate) fn damage_segment(&self, meta: &SegmentMeta, part: PartId) {
        let (key, mut sealed) =
            self.0.db.entries(&keys::chunks_of(meta.number, part)).next().unwrap().unwrap();
        *sealed.last_mut().unwrap() ^= 1;
        self.0.db.put(&key, &sealed).unwrap();
    }

    /// A segment with another's blobs that is said to hold other records.
    pub(crate) fn copy_segment(
        &self,
        meta: &SegmentMeta,
        first: RecordId,
        last: RecordId,
    ) -> SegmentMeta {
        let mut draft = self.draft_segment().unwrap();
        for (part, _) in &meta.parts {
            let bytes = self.read_segment_part(meta, *part).unwrap();
            draft.part(*part, |to| to.write_all(&bytes)).unwrap();
        }
        draft.finish((first, last), meta.rows, meta.unreadable).unwrap()
    }
}
