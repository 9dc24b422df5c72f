//! Deletion of records: one by one, or all below a floor.
//!
//! Single records are deleted in one batch. A range can be too large for one: then a
//! *floor* is raised first, below which no record counts, and the records below it are
//! removed in bounded batches; a start finishes the rest. Images go after the batch: of those
//! that a kill leaves behind the key is gone, by which the next start knows them.

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::failpoint::failpoint;
use crate::store::Record;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::change::{Change, Move, WriterState};
use crate::store::keys;
use crate::store::records::{self, RecordOnDisk, RemovedOnDisk};
use crate::store::segment_meta::Amendment;
use crate::store::segment_meta::SegmentNumber;

/// Records that one call deletes, at most: all in one batch.
pub const FORGET_MAX: usize = 10_000;
/// Records below the floor removed in one batch. While sled applies it, nobody reads.
const REMOVED_AT_ONCE: usize = 128;

impl Store {
    /// Removes records with their vectors and images, all in one batch; returns those
    /// that were there. Durable when it returns.
    ///
    /// At most [`FORGET_MAX`]: more are refused.
    pub fn delete_records(&self, ids: &[RecordId]) -> Result<Vec<RecordId>, StoreError> {
        if ids.len() > FORGET_MAX {
            return Err(StoreError::TooMany { field: "ids", found: ids.len(), max: FORGET_MAX });
        }
        self.remove_records(ids, |_| {})
    }

    /// As [`Store::delete_records`], of records that nobody asked to forget: they can be read
    /// by nobody once [`Store::erase_owed`] returns, which the caller sees to.
    pub fn release_records(&self, ids: &[RecordId]) -> Result<Vec<RecordId>, StoreError> {
        self.remove_records(ids, |change| change.batch.erase_later())
    }

    fn remove_records(
        &self,
        ids: &[RecordId],
        erase: impl Fn(&mut Change),
    ) -> Result<Vec<RecordId>, StoreError> {
        self.change(|writer, change| {
            let mut deleted: Vec<RecordId> = ids.to_vec();
            deleted.sort_unstable();
            deleted.dedup();
            let mut there = Vec::with_capacity(deleted.len());
            for id in deleted {
                if self.has_record(id)? {
                    there.push(id);
                }
            }
            let deleted = there;
            self.remove(writer, change, &deleted)?;
            for id in &deleted {
                if writer.is_in_segment(*id) {
                    change.put_amendment(*id, Amendment::Deleted);
                }
            }
            erase(change);
            Ok(deleted)
        })
    }

    /// Removes frames that wait for a caption or were set aside, with their images; returns
    /// those that were there. Durable when it returns.
    pub fn delete_frames(&self, tickets: &[FrameTicket]) -> Result<Vec<FrameTicket>, StoreError> {
        self.change(|writer, change| {
            let mut gone = Vec::new();
            for ticket in tickets {
                let entries = [
                    (&writer.pending, keys::spooled(*ticket), Move::Unspooled(*ticket)),
                    (&writer.set_aside, keys::set_aside(*ticket), Move::Forgotten(*ticket)),
                ];
                for (held, key, then) in entries {
                    if held.contains(&ticket.0) && !gone.contains(ticket) {
                        change.batch.remove(key);
                        change.erase_frame(*ticket);
                        change.moves.push(then);
                        gone.push(*ticket);
                    }
                }
            }
            for source in writer.sources.keys() {
                match self.keyframe(source) {
                    Ok(Some(keyframe)) if gone.contains(&keyframe.ticket) => {
                        change.forget_source(source);
                    }
                    Ok(_) => {}
                    Err(error) if error.concerns_one_value() => {}
                    Err(error) => return Err(error),
                }
            }
            change.batch.erase_at_once();
            Ok(gone)
        })
    }

    /// Drops segments together with all records below `floor`. The records count no
    /// more, durably, when it returns; they may be removed from the disk a little
    /// later, by [`Store::remove_below_floor`].
    pub fn raise_floor(
        &self,
        floor: RecordId,
        segments: &[SegmentNumber],
    ) -> Result<(), StoreError> {
        self.change(|writer, change| {
            change.below = change.below.max(floor.0.min(change.next_record));
            for number in segments {
                change.batch.remove(keys::segment(*number));
                change.segments.push((*number, None));
            }
            if writer.promised_newest.is_some_and(|newest| newest < floor.0) {
                self.0.promise_no_newest(writer)?;
                change.newest = None;
            }
            Ok(())
        })?;
        failpoint!("floor.raised");
        Ok(())
    }

    /// Removes some of the records below the floor, with their vectors, images and
    /// amendments. Returns how many; 0 when there are none left.
    pub fn remove_below_floor(&self) -> Result<usize, StoreError> {
        let removed = self.change(|writer, change| {
            let (first, last) = (RecordId(0), RecordId(change.below.saturating_sub(1)));
            let mut ids = Vec::new();
            let keys = self.0.db.between(&keys::record(first), &keys::record(last));
            for entry in keys.take(REMOVED_AT_ONCE) {
                ids.extend(keys::number(&entry?.0).map(RecordId));
            }
            self.remove(writer, change, &ids)?;
            for id in &ids {
                change.batch.remove(keys::amendment(*id));
            }
            change.batch.erase_later();
            Ok(ids.len())
        })?;
        failpoint!("floor.removed");
        if removed == 0 {
            self.0.db.erase_owed()?;
            failpoint!("floor.erased");
            // Chunks of segments that were dropped with them.
            let segments = self.segments()?;
            super::segments::remove_leftovers(&self.0.db, &segments)?;
        }
        Ok(removed)
    }

    /// Makes unreadable, for good, what was written over or removed in passing. Whoever keeps
    /// a store open calls it from time to time; a start and an end do as well.
    pub fn erase_owed(&self) -> Result<(), StoreError> {
        self.0.db.erase_owed()
    }

    /// Whether records below the floor are still on the disk.
    pub(super) fn is_any_below_floor(&self) -> Result<bool, StoreError> {
        let last = RecordId(self.0.floor().saturating_sub(1));
        let mut below = self.0.db.between(&keys::record(RecordId(0)), &keys::record(last));
        Ok(below.next().transpose()?.is_some())
    }

    /// Whether the record counts, readable or not.
    pub fn has_record(&self, id: RecordId) -> Result<bool, StoreError> {
        Ok(id.0 >= self.0.floor() && self.0.db.contains(&keys::record(id))?)
    }

    fn remove(
        &self,
        writer: &WriterState,
        change: &mut Change,
        ids: &[RecordId],
    ) -> Result<(), StoreError> {
        let sources = self.sources_of(writer, ids)?;
        for id in ids {
            if let Some(image) = self.image_of(*id)? {
                change.erase_frame(image);
            }
            change.remove_record(*id, self.0.generation);
        }
        // The next frame would be merged into a record that is no more.
        for source in sources {
            change.forget_source(&source);
        }
        let is_promised = writer.promised_newest.is_some_and(|it| ids.contains(&RecordId(it)));
        if is_promised || writer.newest.is_some_and(|(it, _)| ids.contains(&RecordId(it))) {
            self.0.promise_no_newest(writer)?;
            change.newest = None;
        }
        Ok(())
    }

    /// The sources whose last keyframe became one of these records.
    fn sources_of(
        &self,
        writer: &WriterState,
        ids: &[RecordId],
    ) -> Result<Vec<String>, StoreError> {
        let mut sources = Vec::new();
        if ids.is_empty() {
            return Ok(sources);
        }
        for source in writer.sources.keys() {
            match self.keyframe(source) {
                Ok(Some(keyframe)) if keyframe.record.is_some_and(|id| ids.contains(&id)) => {
                    sources.push(source.clone());
                }
                Ok(_) => {}
                Err(error) if error.concerns_one_value() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sources)
    }

    fn image_of(&self, id: RecordId) -> Result<Option<FrameTicket>, StoreError> {
        let key = keys::record(id);
        let read = self.0.db.read::<RecordOnDisk>(&key).and_then(|on_disk| {
            let record = on_disk.map(|it| it.into_record(id)).transpose();
            record.map_err(|fault| StoreError::damaged(&key, &fault))
        });
        match read {
            Ok(record) => Ok(record.and_then(|Record { image, .. }| image)),
            // What cannot be read is removed all the same; its image cannot be told.
            Err(error) if error.concerns_one_value() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Change {
    fn remove_record(&mut self, id: RecordId, generation: u32) {
        self.batch.remove(keys::record(id));
        self.batch.remove(keys::vector(generation, id));
        self.records = self.records.saturating_sub(1);
        self.removed += 1;
    }
}

/// For [`keys::REMOVED`].
pub(super) fn seal(removed: &RemovedOnDisk) -> Vec<u8> {
    records::encode(keys::REMOVED, removed)
}
