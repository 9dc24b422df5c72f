//! Values of the database, as a damaged disk makes them.

use bincode::{Decode, Encode};

use crate::base::{FrameTicket, RecordId};
use crate::store::records::{
    self, FormatOnDisk, KeyframeOnDisk, PendingOnDisk, PromiseOnDisk, RecordOnDisk, SegmentOnDisk,
    SetAsideOnDisk, TallyOnDisk, WrittenIn,
};
use crate::store::segment_meta::SegmentNumber;

const KEY: &[u8] = b"fuzzed";

/// A value, its kind by the first byte: refused, or the same when it is written and read again.
/// Its checksum is put right, so that what it holds is looked at.
pub fn value_on_disk(bytes: &[u8]) {
    // As it lies on disk, checksum and all.
    drop(records::decode::<RecordOnDisk>(KEY, bytes));
    let Some((kind, payload)) = bytes.split_first() else { return };
    let sealed = records::seal(KEY, payload);
    match kind % 8 {
        0 => {
            if let Some(record) = read_twice::<RecordOnDisk>(&sealed) {
                drop(record.into_record(RecordId(1)));
            }
        }
        1 => {
            if let Some(frame) = read_twice::<PendingOnDisk>(&sealed) {
                drop(frame.into_frame(FrameTicket(1)));
            }
        }
        2 => {
            if let Some(keyframe) = read_twice::<KeyframeOnDisk>(&sealed) {
                drop(keyframe.into_keyframe());
            }
        }
        3 => {
            if let Some(frame) = read_twice::<SetAsideOnDisk>(&sealed) {
                drop(frame.into_frame(FrameTicket(1)));
            }
        }
        4 => {
            if let Some(segment) = read_twice::<SegmentOnDisk>(&sealed) {
                let _meta = segment.into_meta(SegmentNumber(1));
            }
        }
        5 => drop(read_twice::<FormatOnDisk>(&sealed)),
        6 => drop(read_twice::<PromiseOnDisk>(&sealed)),
        _ => drop(read_twice::<TallyOnDisk>(&sealed)),
    }
}

fn read_twice<T: Encode + Decode<WrittenIn>>(sealed: &[u8]) -> Option<T> {
    let value: T = records::decode(KEY, sealed).ok()?;
    let written = records::encode(KEY, &value);
    let again: T = records::decode(KEY, &written).ok()?;
    assert_eq!(records::encode(KEY, &again), written, "a value is another when it is read again");
    Some(value)
}

/// A value of each kind, as the target's corpus begins with.
#[cfg(test)]
pub(crate) fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    use crate::store::tests::stored;
    use crate::store::{Counters, Keyframe, PendingFrame, SetAside};

    fn of<T: Encode>(kind: u8, value: &T) -> Vec<u8> {
        let sealed = records::encode(KEY, value);
        [&[kind], records::unseal(KEY, &sealed).unwrap()].concat()
    }
    let record = stored(7);
    let (ticket, meta, time) = (FrameTicket(3), record.meta.clone(), record.end_at);
    let pending = PendingFrame { ticket, meta: meta.clone(), end_at: time, attempts: 1 };
    let (signature, reason) = (vec![1, 2, 3], "the captioner failed".to_owned());
    let keyframe =
        Keyframe { ticket, record: Some(record.id), meta: meta.clone(), last_at: time, signature };
    vec![
        ("record", of(0, &RecordOnDisk::of(&record))),
        ("pending", of(1, &PendingOnDisk::of(&pending))),
        ("keyframe", of(2, &KeyframeOnDisk::of(&keyframe))),
        ("set_aside", of(3, &SetAsideOnDisk::of(&SetAside { ticket, meta, reason }))),
        ("tally", of(7, &TallyOnDisk::of((8, 3), 7, Counters::default()))),
    ]
}
