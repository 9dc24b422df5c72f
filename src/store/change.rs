//! Writer's state, and a change while it is prepared.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::base::time::Timestamp;
use crate::store::Counters;
use crate::store::Keyframe;
use crate::store::PendingFrame;
use crate::store::Record;
use crate::store::SOURCES_MAX;
use crate::store::SetAside;
use crate::store::StoreError;
use crate::store::keyring::{KeyClass, KeyId};
use crate::store::keys;
use crate::store::records::{
    self, KeyframeOnDisk, PendingOnDisk, RecordOnDisk, RemovedOnDisk, SetAsideOnDisk, TallyOnDisk,
};
use crate::store::sealed_database::{Batch, SealedDatabase};
use crate::store::segment_meta::{SegmentMeta, SegmentNumber};

/// Writer's state, from which changes start.
#[derive(Debug)]
pub(super) struct WriterState {
    pub(super) tally: TallyOnDisk,
    pub(super) removed: RemovedOnDisk,
    pub(super) newest: Option<(u64, u32)>,
    /// The newest record in the manifest on disk, which may lag.
    pub(super) promised_newest: Option<u64>,
    /// Ranges of records that the index's named segments hold.
    pub(super) segments: BTreeMap<SegmentNumber, (RecordId, RecordId)>,
    pub(super) pending: BTreeSet<u64>,
    pub(super) set_aside: BTreeSet<u64>,
    /// When each source was heard of last.
    pub(super) sources: BTreeMap<String, Timestamp>,
    pub(super) commits_since_manifest: u32,
    /// Panic after which nothing is written.
    pub(super) failure: Option<String>,
}

/// Part of it that readers see without waiting for a writer.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) counters: Counters,
    pub(super) records: u64,
    /// Lowest id that counts.
    pub(super) floor: u64,
    pub(super) failure: Option<String>,
    pub(super) pending: usize,
    pub(super) set_aside: usize,
}

impl WriterState {
    pub(super) fn load(
        db: &SealedDatabase,
        (tally, removed): (TallyOnDisk, RemovedOnDisk),
        newest: Option<(u64, u32)>,
        segments: &[SegmentMeta],
    ) -> Result<Self, StoreError> {
        let tickets = |kind| -> Result<BTreeSet<u64>, StoreError> {
            db.entries(kind)
                .filter_map(|entry| match entry {
                    Ok((key, _)) => keys::number(&key).map(Ok),
                    Err(error) => Some(Err(error)),
                })
                .collect()
        };
        let (pending, set_aside) = (tickets(keys::SPOOL)?, tickets(keys::SET_ASIDE)?);
        let mut sources = BTreeMap::new();
        for entry in db.entries(keys::KEYFRAMES) {
            let (key, sealed) = entry?;
            let Some(Ok(source)) = key.strip_prefix(keys::KEYFRAMES).map(std::str::from_utf8)
            else {
                continue;
            };
            // One that is damaged counts as silent for longest.
            let last_at = records::decode::<KeyframeOnDisk>(&key, &sealed)
                .and_then(KeyframeOnDisk::into_keyframe)
                .map_or(Timestamp::EPOCH, |keyframe| keyframe.last_at);
            sources.insert(source.to_owned(), last_at);
        }
        let segments = segments.iter().map(|it| (it.number, (it.first, it.last))).collect();
        Ok(Self {
            tally,
            removed,
            newest,
            // The manifest may promise it until it is written anew.
            promised_newest: newest.map(|(id, _)| id),
            segments,
            pending,
            set_aside,
            sources,
            commits_since_manifest: 0,
            failure: None,
        })
    }

    pub(super) fn to_published(&self) -> Published {
        Published {
            counters: self.tally.counters(),
            records: self.tally.records,
            floor: self.removed.below,
            failure: self.failure.clone(),
            pending: self.pending.len(),
            set_aside: self.set_aside.len(),
        }
    }

    /// Whether a named segment of the index holds the record.
    pub(super) fn is_in_segment(&self, id: RecordId) -> bool {
        self.segments.values().any(|(first, last)| (*first..=*last).contains(&id))
    }

    pub(super) fn check_pending(&self, ticket: FrameTicket) -> Result<(), StoreError> {
        let known = self.pending.contains(&ticket.0);
        if known { Ok(()) } else { Err(StoreError::NotPending { ticket }) }
    }

    /// The source whose keyframe goes when `comer` is new and there are too many.
    pub(super) fn source_to_forget(&self, comer: &str) -> Option<&str> {
        if self.sources.len() < SOURCES_MAX || self.sources.contains_key(comer) {
            return None;
        }
        self.sources.iter().min_by_key(|(_, last_at)| **last_at).map(|(source, _)| source.as_str())
    }

    pub(super) fn make(&mut self, it: Move) {
        match it {
            Move::Spooled(ticket) => self.pending.insert(ticket.0),
            Move::Unspooled(ticket) => self.pending.remove(&ticket.0),
            Move::SetAside(ticket) => self.set_aside.insert(ticket.0),
            Move::Forgotten(ticket) => self.set_aside.remove(&ticket.0),
        };
    }
}

/// Move of a frame, made once the change is on disk.
#[derive(Debug, Clone, Copy)]
pub(super) enum Move {
    Spooled(FrameTicket),
    Unspooled(FrameTicket),
    SetAside(FrameTicket),
    Forgotten(FrameTicket),
}

/// What a change does to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It stores what was seen or said.
    Adds,
    /// It removes some of that, and adds none.
    Forgets,
    /// It notes what the store needs to go on.
    Notes,
}

/// Change being prepared.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) batch: Batch,
    pub(super) next_record: u64,
    pub(super) next_ticket: u64,
    pub(super) records: u64,
    /// Records removed since the store was made.
    pub(super) removed: u64,
    /// Lowest id that counts.
    pub(super) below: u64,
    pub(super) counters: Counters,
    pub(super) newest: Option<(u64, u32)>,
    pub(super) moves: Vec<Move>,
    /// Sources heard of now, or (`None`) to be forgotten.
    pub(super) sources: Vec<(String, Option<Timestamp>)>,
    /// Segments named now, with their records, or (`None`) dropped.
    pub(super) segments: Vec<(SegmentNumber, Option<(RecordId, RecordId)>)>,
    /// Images that go once the change is on disk.
    pub(super) images_gone: BTreeSet<u64>,
}

impl Change {
    pub(super) fn from(writer: &WriterState) -> Self {
        Self {
            batch: Batch::default(),
            next_record: writer.tally.next_record,
            next_ticket: writer.tally.next_ticket,
            records: writer.tally.records,
            removed: writer.removed.removed,
            below: writer.removed.below,
            counters: writer.tally.counters(),
            newest: writer.newest,
            moves: Vec::new(),
            sources: Vec::new(),
            segments: Vec::new(),
            images_gone: BTreeSet::new(),
        }
    }

    pub(super) fn purpose(&self, before: &WriterState) -> Purpose {
        if self.batch.inserted_keys().any(keys::fills_disk) {
            Purpose::Adds
        } else if self.batch.removed_keys().any(keys::fills_disk)
            || self.below > before.removed.below
        {
            Purpose::Forgets
        } else {
            Purpose::Notes
        }
    }

    pub(super) fn take_id(&mut self) -> RecordId {
        let id = RecordId(self.next_record);
        self.next_record += 1;
        id
    }

    pub(super) fn take_ticket(&mut self) -> FrameTicket {
        let ticket = FrameTicket(self.next_ticket);
        self.next_ticket += 1;
        ticket
    }

    pub(super) fn put_record(&mut self, record: &Record, vector: &Embedding, generation: u32) {
        let key = keys::record(record.id);
        self.batch.insert(key.as_slice(), records::encode(&key, &RecordOnDisk::of(record)));
        let key = keys::vector(generation, record.id);
        self.batch.insert(key.as_slice(), records::encode_vector(&key, vector));
        self.records += 1;
        self.newest = Some((record.id.0, records::witness(record)));
    }

    pub(super) fn put_pending(&mut self, frame: &PendingFrame) {
        let key = keys::spooled(frame.ticket);
        self.batch.insert(key.as_slice(), records::encode(&key, &PendingOnDisk::of(frame)));
    }

    pub(super) fn put_set_aside(&mut self, frame: &SetAside) {
        let key = keys::set_aside(frame.ticket);
        self.batch.insert(key.as_slice(), records::encode(&key, &SetAsideOnDisk::of(frame)));
        self.moves.push(Move::SetAside(frame.ticket));
    }

    pub(super) fn put_keyframe(&mut self, source: &str, keyframe: &Keyframe) {
        let key = keys::keyframe(source);
        self.batch.insert(key.as_slice(), records::encode(&key, &KeyframeOnDisk::of(keyframe)));
        self.sources.push((source.to_owned(), Some(keyframe.last_at)));
    }

    pub(super) fn forget_source(&mut self, source: &str) {
        self.batch.remove(keys::keyframe(source));
        self.sources.push((source.to_owned(), None));
    }

    /// Removes a frame's image, and destroys its key and that of what waits for its caption.
    pub(super) fn erase_frame(&mut self, ticket: FrameTicket) {
        self.batch.erase(KeyId::new(KeyClass::Frame, ticket.0));
        self.images_gone.insert(ticket.0);
    }
}
