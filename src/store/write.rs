//! Write path of the store, one caller at a time.
//!
//! A change is prepared on copies, committed as one batch, and only then becomes the
//! state that the next change starts from. After a failed commit the disk's state is
//! unknown: the database takes that one back before it makes another.

use std::sync::PoisonError;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::caption::Caption;
use crate::base::embedding::Embedding;
use crate::base::failpoint::failpoint;
use crate::base::frame::{FrameMeta, NAME_BYTES_MAX};
use crate::base::time::Timestamp;
use crate::language::caption::ParsedCaption;
use crate::store::CAPTION_BYTES_MAX;
use crate::store::Keyframe;
use crate::store::Merged;
use crate::store::NewObservation;
use crate::store::PendingFrame;
use crate::store::Record;
use crate::store::SET_ASIDE_MAX;
use crate::store::SIGNATURE_BYTES_MAX;
use crate::store::SetAside;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::change::{Change, Move, Purpose, WriterState};
use crate::store::forget;
use crate::store::keys;
use crate::store::records::{
    self, Fault, PendingOnDisk, PromiseOnDisk, RecordOnDisk, RemovedOnDisk, TallyOnDisk,
};
use crate::store::segment_meta::Amendment;

/// Commits between two manifests: the witness may lag so many behind.
const COMMITS_A_MANIFEST: u32 = 32;
/// Bytes kept of the reason why a frame was set aside; the rest is cut.
const REASON_BYTES_MAX: usize = 1_024;

impl Store {
    /// Takes a frame in: image, spool entry and keyframe of its source.
    ///
    /// Durable when it returns. Refused with [`StoreError::SpoolFull`] while too
    /// many frames wait for a caption.
    pub fn accept_frame(
        &self,
        meta: &FrameMeta,
        image: &[u8],
        signature: Vec<u8>,
    ) -> Result<FrameTicket, StoreError> {
        check_names(meta)?;
        check_length("the signature", signature.len(), SIGNATURE_BYTES_MAX)?;
        self.change(|state, change| {
            let max = self.0.limits.spool_frames_max;
            if state.pending.len() >= max {
                return Err(StoreError::SpoolFull { pending: state.pending.len(), max });
            }
            let ticket = self.write_image(state, change, image)?;
            let frame =
                PendingFrame { ticket, meta: meta.clone(), end_at: meta.taken_at, attempts: 0 };
            change.put_pending(&frame);
            change.moves.push(Move::Spooled(ticket));
            put_first_keyframe(state, change, (ticket, None), meta, signature);
            Ok(ticket)
        })
    }

    /// Takes a frame in that brings its caption: image, record and keyframe of its source.
    ///
    /// Durable when it returns. Waits for no other frame: its place in the order of tickets is
    /// its own, its record follows those that are there.
    pub fn accept_captioned_frame(
        &self,
        meta: &FrameMeta,
        image: &[u8],
        signature: Vec<u8>,
        caption: &Caption,
        parsed: &ParsedCaption,
        vector: &Embedding,
    ) -> Result<Record, StoreError> {
        check_names(meta)?;
        check_length("the signature", signature.len(), SIGNATURE_BYTES_MAX)?;
        self.check_content(&caption.text, vector)?;
        self.change(|state, change| {
            let ticket = self.write_image(state, change, image)?;
            let record = Record {
                id: change.take_id(),
                meta: meta.clone(),
                end_at: meta.taken_at,
                caption: caption.text.clone(),
                parsed: parsed.clone(),
                confidence: caption.confidence,
                detections: caption.detections.clone(),
                layer: None,
                image: Some(ticket),
            };
            change.put_record(&record, vector, self.0.generation);
            put_first_keyframe(state, change, (ticket, Some(record.id)), meta, signature);
            change.counters.captioned += 1;
            Ok(record)
        })
    }

    /// Merges a frame into the newest keyframe of its source, which lasts until
    /// `last_at` from now on, and with it its spool entry or record. Durable when
    /// it returns.
    pub fn merge_frame(&self, source: &str, last_at: Timestamp) -> Result<Merged, StoreError> {
        self.change(|state, change| {
            let mut keyframe = self
                .keyframe(source)?
                .ok_or_else(|| StoreError::NoKeyframe { source_name: source.to_owned() })?;
            keyframe.last_at = keyframe.last_at.max(last_at);
            change.put_keyframe(source, &keyframe);
            change.counters.seen += 1;
            change.counters.merged += 1;
            let ticket = keyframe.ticket;
            let extended = match keyframe.record {
                _ if state.pending.contains(&ticket.0) => {
                    self.extend_pending(ticket, last_at, change)
                }
                Some(id) => self.extend_record(state, id, last_at, change),
                None => Ok(()),
            };
            match extended {
                // It is reported where it is read; here it must not cost the frame.
                Err(error) if error.concerns_one_value() => {}
                extended => extended?,
            }
            Ok(Merged { ticket, record: keyframe.record, end_at: keyframe.last_at })
        })
    }

    /// Counts one more attempt at captioning a frame, durably, so that a frame
    /// that takes the whole process down is counted as well.
    pub fn count_attempt(&self, ticket: FrameTicket) -> Result<u32, StoreError> {
        self.change(|state, change| {
            state.check_pending(ticket)?;
            let mut frame = self.pending(ticket)?;
            frame.attempts = frame.attempts.saturating_add(1);
            change.put_pending(&frame);
            Ok(frame.attempts)
        })
    }

    /// Takes an attempt back that said nothing about the frame, because there was
    /// no captioner to make it. Durable when it returns.
    pub fn uncount_attempt(&self, ticket: FrameTicket) -> Result<(), StoreError> {
        self.change(|state, change| {
            state.check_pending(ticket)?;
            let mut frame = self.pending(ticket)?;
            frame.attempts = frame.attempts.saturating_sub(1);
            change.put_pending(&frame);
            Ok(())
        })
    }

    /// Turns a pending frame into a record. Durable when it returns.
    pub fn commit_frame(
        &self,
        ticket: FrameTicket,
        caption: &Caption,
        parsed: &ParsedCaption,
        vector: &Embedding,
    ) -> Result<Record, StoreError> {
        let Caption { text, confidence, detections } = caption;
        self.check_content(text, vector)?;
        self.change(|state, change| {
            state.check_pending(ticket)?;
            let PendingFrame { ticket: _, meta, end_at, attempts: _ } = self.pending(ticket)?;
            let record = Record {
                id: change.take_id(),
                meta,
                end_at,
                caption: text.clone(),
                parsed: parsed.clone(),
                confidence: *confidence,
                detections: detections.clone(),
                layer: None,
                image: Some(ticket),
            };
            change.put_record(&record, vector, self.0.generation);
            change.batch.remove(keys::spooled(ticket));
            change.moves.push(Move::Unspooled(ticket));
            let source = &record.meta.source;
            match self.keyframe(source) {
                Ok(Some(mut keyframe)) if keyframe.ticket == ticket => {
                    keyframe.record = Some(record.id);
                    change.put_keyframe(source, &keyframe);
                }
                Ok(_) => {}
                // The record does not depend on it; the gate reports it.
                Err(error) if error.concerns_one_value() => {}
                Err(error) => return Err(error),
            }
            change.counters.captioned += 1;
            failpoint!("frame.captioned");
            Ok(record)
        })
    }

    /// Stores observations that come with their captions, all or none of them.
    /// Durable when it returns.
    pub fn commit_observations(
        &self,
        observations: &[(NewObservation, ParsedCaption, Embedding)],
    ) -> Result<Vec<Record>, StoreError> {
        for (NewObservation { meta, caption, confidence: _, layer }, _parsed, vector) in
            observations
        {
            check_names(meta)?;
            self.check_content(caption, vector)?;
            check_length("layer", layer.as_ref().map_or(0, String::len), NAME_BYTES_MAX)?;
        }
        self.change(|_state, change| {
            let stored = observations.iter().map(|(observation, parsed, vector)| {
                let NewObservation { meta, caption, confidence, layer } = observation.clone();
                let end_at = meta.taken_at;
                let record = Record {
                    id: change.take_id(),
                    meta,
                    end_at,
                    caption,
                    parsed: parsed.clone(),
                    confidence,
                    detections: Vec::new(),
                    layer,
                    image: None,
                };
                change.put_record(&record, vector, self.0.generation);
                change.counters.observed += 1;
                record
            });
            Ok(stored.collect())
        })
    }

    /// Takes a frame out of the spool and keeps it with the reason; its image
    /// stays. At [`SET_ASIDE_MAX`] the oldest is forgotten.
    pub fn set_aside(&self, ticket: FrameTicket, reason: &str) -> Result<(), StoreError> {
        self.change(|state, change| {
            state.check_pending(ticket)?;
            change.batch.remove(keys::spooled(ticket));
            change.moves.push(Move::Unspooled(ticket));
            change.counters.failed += 1;
            match self.pending(ticket) {
                Ok(frame) => change.put_set_aside(&SetAside {
                    ticket,
                    meta: frame.meta,
                    reason: cut(reason, REASON_BYTES_MAX).to_owned(),
                }),
                // A spool entry that is damaged leaves nothing to keep but its image.
                Err(error) if error.concerns_one_value() => {
                    log::error!(ticket = ticket.0, error:%; "frame lost, its image is kept");
                }
                Err(error) => return Err(error),
            }
            let oldest = state.set_aside.first().filter(|_| state.set_aside.len() >= SET_ASIDE_MAX);
            if let Some(oldest) = oldest.map(|oldest| FrameTicket(*oldest)) {
                change.batch.remove(keys::set_aside(oldest));
                change.erase_frame(oldest);
                change.moves.push(Move::Forgotten(oldest));
            }
            Ok(())
        })?;
        failpoint!("frame.set_aside");
        Ok(())
    }

    /// Brings the manifest up to date. Records need no flush: they are durable
    /// when the call that stored them returns.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.0.write_manifest(&mut self.0.lock_writer())
    }

    pub(super) fn change<T>(
        &self,
        work: impl FnOnce(&WriterState, &mut Change) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut writer = self.0.lock_writer();
        if let Some(reason) = &writer.failure {
            return Err(StoreError::Stopped { reason: reason.clone() });
        }
        let mut change = Change::from(&writer);
        let result = work(&writer, &mut change)?;
        match change.purpose(&writer) {
            Purpose::Adds => self.0.room.check_add(0)?,
            Purpose::Notes => self.0.room.check_note()?,
            Purpose::Forgets => self.0.room.make_for_forgetting()?,
        }
        self.0.apply(&mut writer, change)?;
        Ok(result)
    }

    /// Writes an image under a new ticket, which an entry of the same change is to name.
    pub(super) fn write_image(
        &self,
        state: &WriterState,
        change: &mut Change,
        image: &[u8],
    ) -> Result<FrameTicket, StoreError> {
        let ticket = change.take_ticket();
        let bytes = image.len() as u64;
        self.0.room.check_add(bytes)?;
        let WriterState { pending, set_aside, .. } = state;
        let dropped = self.0.frames.make_room(bytes, pending, set_aside, &change.images_gone)?;
        change.counters.images_dropped += dropped.len() as u64;
        for ticket in dropped {
            // The key of a frame that was set aside is also that of what is told of it.
            if set_aside.contains(&ticket) {
                self.0.frames.excuse(ticket)?;
                change.images_gone.insert(ticket);
            } else {
                change.erase_frame(FrameTicket(ticket));
            }
        }
        self.0.frames.write(ticket, image)?;
        Ok(ticket)
    }

    fn pending(&self, ticket: FrameTicket) -> Result<PendingFrame, StoreError> {
        let key = keys::spooled(ticket);
        let on_disk: Option<PendingOnDisk> = self.0.db.read(&key)?;
        on_disk
            .ok_or(Fault::Missing)
            .and_then(|on_disk| on_disk.into_frame(ticket))
            .map_err(|fault| StoreError::damaged(&key, &fault))
    }

    fn extend_pending(
        &self,
        ticket: FrameTicket,
        last_at: Timestamp,
        change: &mut Change,
    ) -> Result<(), StoreError> {
        let mut frame = self.pending(ticket)?;
        frame.end_at = frame.end_at.max(last_at);
        change.put_pending(&frame);
        Ok(())
    }

    fn extend_record(
        &self,
        state: &WriterState,
        id: RecordId,
        last_at: Timestamp,
        change: &mut Change,
    ) -> Result<(), StoreError> {
        let key = keys::record(id);
        let on_disk: Option<RecordOnDisk> = self.0.db.read(&key)?;
        let mut record = on_disk
            .ok_or(Fault::Missing)
            .and_then(|on_disk| on_disk.into_record(id))
            .map_err(|fault| StoreError::damaged(&key, &fault))?;
        record.end_at = record.end_at.max(last_at);
        change.batch.insert(key.as_slice(), records::encode(&key, &RecordOnDisk::of(&record)));
        if state.is_in_segment(id) {
            change.put_amendment(id, Amendment::EndsAt(record.end_at));
        }
        Ok(())
    }

    pub(super) fn check_content(
        &self,
        caption: &str,
        vector: &Embedding,
    ) -> Result<(), StoreError> {
        check_length("the caption", caption.len(), CAPTION_BYTES_MAX)?;
        let (found, expected) = (vector.dimension(), self.0.space.dimension);
        if found != expected {
            return Err(StoreError::Dimension { found, expected });
        }
        Ok(())
    }
}

impl super::Inner {
    pub(super) fn lock_writer(&self) -> std::sync::MutexGuard<'_, WriterState> {
        self.writer.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            let mut writer = poisoned.into_inner();
            // The panic may have struck between the disk's state and ours.
            writer.failure.get_or_insert_with(|| "a thread panicked while writing".to_owned());
            writer
        })
    }

    fn apply(&self, writer: &mut WriterState, change: Change) -> Result<(), StoreError> {
        let Change {
            mut batch,
            next_record,
            next_ticket,
            records,
            removed,
            below,
            counters,
            newest,
            moves,
            sources,
            segments,
            images_gone,
        } = change;
        let tally = TallyOnDisk::of((next_record, next_ticket), records, counters);
        batch.insert(keys::TALLY, records::encode(keys::TALLY, &tally));
        let removed = RemovedOnDisk { removed, below };
        if removed != writer.removed {
            batch.insert(keys::REMOVED, forget::seal(&removed));
        }
        let is_erasing = self.db.commit_owing(batch)?;
        for ticket in writer.tally.next_ticket..next_ticket {
            self.frames.keep(FrameTicket(ticket));
        }
        for ticket in images_gone {
            if let Err(error) = self.frames.remove(FrameTicket(ticket)) {
                log::warn!(ticket, error:%; "an image without its key stays until the next start");
            }
        }
        writer.tally = tally;
        writer.removed = removed;
        writer.newest = newest;
        for (number, range) in segments {
            match range {
                Some(range) => writer.segments.insert(number, range),
                None => writer.segments.remove(&number),
            };
        }
        for it in moves {
            writer.make(it);
        }
        for (source, last_at) in sources {
            match last_at {
                Some(last_at) => writer.sources.insert(source, last_at),
                None => writer.sources.remove(&source),
            };
        }
        self.publish(writer);
        writer.commits_since_manifest += 1;
        if writer.commits_since_manifest >= COMMITS_A_MANIFEST
            && let Err(error) = self.write_manifest(writer)
        {
            // The change itself is durable; only its witness lags.
            log::warn!(error:%; "the manifest could not be written");
        }
        // After the state: the change is on disk, whatever comes of its keys.
        if is_erasing { self.db.erase_owed() } else { Ok(()) }
    }

    fn publish(&self, writer: &WriterState) {
        *self.published.write().unwrap_or_else(PoisonError::into_inner) = writer.to_published();
    }

    fn write_manifest(&self, writer: &mut WriterState) -> Result<(), StoreError> {
        self.manifest.write(&promise(writer, writer.newest))?;
        failpoint!("manifest.written");
        writer.promised_newest = writer.newest.map(|(id, _)| id);
        writer.commits_since_manifest = 0;
        Ok(())
    }

    /// Takes the promise of a newest record back, before that record is removed.
    pub(super) fn promise_no_newest(&self, writer: &WriterState) -> Result<(), StoreError> {
        self.manifest.write(&promise(writer, None))?;
        failpoint!("manifest.taken_back");
        Ok(())
    }
}

impl Drop for super::Inner {
    fn drop(&mut self) {
        let mut writer = self.lock_writer();
        if writer.failure.is_none()
            && self.db.raw().failure().is_none()
            && let Err(error) = self.write_manifest(&mut writer)
        {
            log::warn!(error:%; "the manifest could not be written");
        }
        if writer.failure.is_none()
            && let Err(error) = self.db.erase_owed()
        {
            log::warn!(error:%; "what was written over is erased at the next start");
        }
    }
}

/// A frame that was seen becomes its source's keyframe.
fn put_first_keyframe(
    state: &WriterState,
    change: &mut Change,
    (ticket, record): (FrameTicket, Option<RecordId>),
    meta: &FrameMeta,
    signature: Vec<u8>,
) {
    let last_at = meta.taken_at;
    let keyframe = Keyframe { ticket, record, meta: meta.clone(), last_at, signature };
    change.put_keyframe(&meta.source, &keyframe);
    if let Some(silent) = state.source_to_forget(&meta.source) {
        change.forget_source(silent);
    }
    change.counters.seen += 1;
}

fn promise(writer: &WriterState, newest: Option<(u64, u32)>) -> PromiseOnDisk {
    PromiseOnDisk {
        records: writer.tally.records + writer.removed.removed,
        next_record: writer.tally.next_record,
        next_ticket: writer.tally.next_ticket,
        newest,
    }
}

pub(super) fn check_names(meta: &FrameMeta) -> Result<(), StoreError> {
    let FrameMeta { taken_at: _, pose: _, frame_id, map_id, source } = meta;
    check_length("source", source.len(), NAME_BYTES_MAX)?;
    check_length("frame_id", frame_id.len(), NAME_BYTES_MAX)?;
    check_length("map_id", map_id.len(), NAME_BYTES_MAX)
}

pub(super) fn check_length(
    field: &'static str,
    bytes: usize,
    max: usize,
) -> Result<(), StoreError> {
    if bytes > max { Err(StoreError::TooLong { field, bytes, max }) } else { Ok(()) }
}

/// The longest start of `text` of at most `bytes_max` bytes.
fn cut(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    if text.len() <= bytes_max { text } else { text.get(..end).unwrap_or(text) }
}

#[cfg(test)]
mod tests {
    use std::panic::{self, AssertUnwindSafe};

    use super::*;
    use crate::store::EmbeddingSpace;
    use crate::store::Options;

    #[test]
    fn after_a_panic_in_a_writer_nothing_more_is_written_and_reading_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let (model, fingerprint) = ("m".to_owned(), "f".to_owned());
        let space = EmbeddingSpace { model, fingerprint, dimension: 1 };
        let store = Store::open(&Options::at(dir.path().to_owned()), &space).unwrap();
        let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
            store.change::<()>(|_, _| panic!("on purpose"))
        }));
        panicked.unwrap_err();
        let refused = store.commit_observations(&[]).unwrap_err();
        assert!(matches!(refused, StoreError::Stopped { .. }), "{refused}");
        assert_eq!((store.record(RecordId(1)), store.record_count()), (Ok(None), 0));
    }

    #[test]
    fn a_reason_is_cut_between_characters() {
        assert_eq!(
            (cut("mug", 3), cut("mug", 2), cut("aä", 2), cut("ä", 0)),
            ("mug", "mu", "a", "")
        );
    }
}
