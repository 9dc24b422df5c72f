//! What lies on disk, byte for byte, and the way to and from the words of this crate.
//!
//! Pure: bytes in, values out. Every value is sealed: a version, a checksum over
//! version, key and payload, then the payload (bincode; vectors as plain
//! little-endian floats). The key is part of the checksum, so that a value read
//! under another key is noticed as well.
//!
//! Structs here mirror the domain's and are converted by hand, so that a change
//! of the domain cannot change the disk by accident.

use bincode::de::Decoder;
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::detection::{BoundingBox, DetectedObject};
use crate::base::embedding::Embedding;
use crate::base::frame::FrameMeta;
use crate::base::pose::Pose;
use crate::base::time::Timestamp;
use crate::language::caption::ParsedCaption;
use crate::store::Counters;
use crate::store::EmbeddingSpace;
use crate::store::Keyframe;
use crate::store::PendingFrame;
use crate::store::Record;
use crate::store::SetAside;
use crate::store::parsed::ParsedOnDisk;
use crate::store::segment_meta::{Amendment, PARTS_MAX, PartId, SegmentMeta, SegmentNumber};

/// Version of everything written here. A later one is refused, never guessed at.
///
/// 2: records carry a confidence. 3: records carry what their caption says, notes an expiry.
/// 4: records carry what their captioner found, with its boxes. 5: all of it lies encrypted.
pub(super) const FORMAT: u8 = 5;
/// Values written from this version on are read; there is none before it.
pub(super) const OLDEST_FORMAT: u8 = 1;

/// The version that a value was written in, which decides its layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenIn(u8);

impl WrittenIn {
    pub(super) fn is_before(self, format: u8) -> bool {
        self.0 < format
    }
}

/// Version byte and checksum.
const HEADER_BYTES: usize = 5;
/// What a value may take in memory: damaged bytes that claim to hold more are refused before
/// anything is allocated for them. The largest that is written are agents' states.
pub(super) const VALUE_BYTES_MAX: usize = 64 << 20;

/// Why bytes are not the value that they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("its {0} bytes are fewer than a header")]
    Short(usize),
    #[error("it is written in format {found}, this build reads {OLDEST_FORMAT} to {FORMAT}")]
    Version { found: u8 },
    #[error("its checksum does not match")]
    Checksum,
    #[error("its content makes no sense: {0}")]
    Content(String),
    #[error("it is missing")]
    Missing,
}

/// Puts version and checksum before a payload that belongs under `key`.
pub(super) fn seal(key: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(HEADER_BYTES + payload.len());
    sealed.push(FORMAT);
    sealed.extend_from_slice(&checksum(FORMAT, key, payload).to_le_bytes());
    sealed.extend_from_slice(payload);
    sealed
}

/// Payload of what [`seal`] made for the same key.
pub(super) fn unseal<'a>(key: &[u8], sealed: &'a [u8]) -> Result<&'a [u8], Fault> {
    unseal_versioned(key, sealed).map(|(_version, payload)| payload)
}

fn unseal_versioned<'a>(key: &[u8], sealed: &'a [u8]) -> Result<(WrittenIn, &'a [u8]), Fault> {
    let Some((&[version, a, b, c, d], payload)) = sealed.split_first_chunk::<HEADER_BYTES>() else {
        return Err(Fault::Short(sealed.len()));
    };
    // The checksum goes first: a flipped version byte is damage, not a newer build.
    if u32::from_le_bytes([a, b, c, d]) != checksum(version, key, payload) {
        return Err(Fault::Checksum);
    }
    if !(OLDEST_FORMAT..=FORMAT).contains(&version) {
        return Err(Fault::Version { found: version });
    }
    Ok((WrittenIn(version), payload))
}

fn checksum(version: u8, key: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[version]);
    hasher.update(&u64::try_from(key.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.update(key);
    hasher.update(payload);
    hasher.finalize()
}

/// A sealed value of one of the structs below.
pub(super) fn encode<T: Encode>(key: &[u8], value: &T) -> Vec<u8> {
    #[expect(clippy::expect_used, reason = "plain structs into memory: no writer that could fail")]
    let payload =
        bincode::encode_to_vec(value, bincode::config::standard()).expect("encodes into memory");
    seal(key, &payload)
}

/// The value that [`encode`] sealed under the same key.
pub(super) fn decode<T: Decode<WrittenIn>>(key: &[u8], sealed: &[u8]) -> Result<T, Fault> {
    let (version, payload) = unseal_versioned(key, sealed)?;
    let config = bincode::config::standard().with_limit::<VALUE_BYTES_MAX>();
    let (value, read) = bincode::decode_from_slice_with_context(payload, config, version)
        .map_err(|error| Fault::Content(error.to_string()))?;
    if read != payload.len() {
        return Err(Fault::Content(format!("{} bytes left over", payload.len() - read)));
    }
    Ok(value)
}

/// A sealed vector.
pub(super) fn encode_vector(key: &[u8], vector: &Embedding) -> Vec<u8> {
    let payload: Vec<u8> = vector.as_slice().iter().flat_map(|x| x.to_le_bytes()).collect();
    seal(key, &payload)
}

/// The vector that [`encode_vector`] sealed, to the bit.
pub(super) fn decode_vector(
    key: &[u8],
    sealed: &[u8],
    dimension: usize,
) -> Result<Embedding, Fault> {
    let payload = unseal(key, sealed)?;
    let (floats, rest) = payload.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Fault::Content(format!("{} bytes are no whole floats", payload.len())));
    }
    let raw = floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    Embedding::new(raw, dimension).map_err(|error| Fault::Content(error.to_string()))
}

/// Which vectors the store holds, under [`super::keys::FORMAT`].
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct FormatOnDisk {
    pub(super) space: SpaceOnDisk,
    /// Vectors of other generations are left over from a reindex.
    pub(super) generation: u32,
}

/// Under [`super::keys::REINDEX`].
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct ReindexOnDisk {
    pub(super) space: SpaceOnDisk,
    pub(super) generation: u32,
    /// Records up to this one have their new vector.
    pub(super) done_to: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct SpaceOnDisk {
    model: String,
    fingerprint: String,
    dimension: u64,
}

impl SpaceOnDisk {
    pub(super) fn of(space: &EmbeddingSpace) -> Self {
        let EmbeddingSpace { model, fingerprint, dimension } = space.clone();
        Self { model, fingerprint, dimension: dimension as u64 }
    }

    /// Whether vectors of this space and that can be compared.
    pub(super) fn is_of(&self, space: &EmbeddingSpace) -> bool {
        self.fingerprint == space.fingerprint && self.dimension == space.dimension as u64
    }

    pub(super) fn into_space(self) -> Result<EmbeddingSpace, Fault> {
        let Self { model, fingerprint, dimension } = self;
        let dimension = usize::try_from(dimension)
            .map_err(|_large| Fault::Content(format!("dimension {dimension}")))?;
        Ok(EmbeddingSpace { model, fingerprint, dimension })
    }
}

/// Counters and the next ids, under [`super::keys::TALLY`].
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct TallyOnDisk {
    pub(super) next_record: u64,
    pub(super) next_ticket: u64,
    pub(super) records: u64,
    seen: u64,
    merged: u64,
    captioned: u64,
    failed: u64,
    observed: u64,
    images_dropped: u64,
}

impl TallyOnDisk {
    pub(super) fn of(next: (u64, u64), records: u64, counters: Counters) -> Self {
        let (next_record, next_ticket) = next;
        let Counters { seen, merged, captioned, failed, observed, images_dropped } = counters;
        Self {
            next_record,
            next_ticket,
            records,
            seen,
            merged,
            captioned,
            failed,
            observed,
            images_dropped,
        }
    }

    pub(super) fn counters(&self) -> Counters {
        let Self {
            next_record: _,
            next_ticket: _,
            records: _,
            seen,
            merged,
            captioned,
            failed,
            observed,
            images_dropped,
        } = *self;
        Counters { seen, merged, captioned, failed, observed, images_dropped }
    }
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct MetaOnDisk {
    taken_at: i64,
    pose: Option<PoseOnDisk>,
    frame_id: String,
    map_id: String,
    source: String,
}

impl MetaOnDisk {
    fn of(meta: &FrameMeta) -> Self {
        let FrameMeta { taken_at, pose, frame_id, map_id, source } = meta.clone();
        Self {
            taken_at: taken_at.micros(),
            pose: pose.map(PoseOnDisk::of),
            frame_id,
            map_id,
            source,
        }
    }

    fn into_meta(self) -> Result<FrameMeta, Fault> {
        let Self { taken_at, pose, frame_id, map_id, source } = self;
        Ok(FrameMeta {
            taken_at: timestamp(taken_at)?,
            pose: pose.map(PoseOnDisk::into_pose),
            frame_id,
            map_id,
            source,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct PoseOnDisk {
    position: [f64; 3],
    heading: Option<f64>,
}

impl PoseOnDisk {
    fn of(pose: Pose) -> Self {
        let Pose { position, heading } = pose;
        Self { position, heading }
    }

    /// Unchecked but for the checksum: [`Pose::new`] would wrap the heading once
    /// more and could change its last bit.
    fn into_pose(self) -> Pose {
        let Self { position, heading } = self;
        Pose { position, heading }
    }
}

/// Under [`super::keys::record`].
#[derive(Debug, Clone, PartialEq, Encode)]
pub(super) struct RecordOnDisk {
    meta: MetaOnDisk,
    end_at: i64,
    caption: String,
    layer: Option<String>,
    image: Option<u64>,
    /// Since format 2.
    confidence: Option<f32>,
    /// Since format 3; none where nobody has read the caption yet.
    parsed: Option<ParsedOnDisk>,
    /// Since format 4.
    detections: Vec<DetectionOnDisk>,
}

impl Decode<WrittenIn> for RecordOnDisk {
    fn decode<D: Decoder<Context = WrittenIn>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let WrittenIn(version) = *decoder.context();
        Ok(Self {
            meta: Decode::decode(decoder)?,
            end_at: Decode::decode(decoder)?,
            caption: Decode::decode(decoder)?,
            layer: Decode::decode(decoder)?,
            image: Decode::decode(decoder)?,
            confidence: if version < 2 { None } else { Decode::decode(decoder)? },
            parsed: if version < 3 { None } else { Decode::decode(decoder)? },
            detections: if version < 4 { Vec::new() } else { Decode::decode(decoder)? },
        })
    }
}

impl RecordOnDisk {
    pub(super) fn of(record: &Record) -> Self {
        let Record { id: _, meta, end_at, caption, parsed, confidence, detections, layer, image } =
            record;
        Self {
            meta: MetaOnDisk::of(meta),
            end_at: end_at.micros(),
            caption: caption.clone(),
            layer: layer.clone(),
            image: image.map(|ticket| ticket.0),
            confidence: *confidence,
            parsed: Some(ParsedOnDisk::of(parsed)),
            detections: detections.iter().map(DetectionOnDisk::of).collect(),
        }
    }

    pub(super) fn into_caption(self) -> String {
        self.caption
    }

    /// The same, but for what its caption says.
    pub(super) fn saying(self, parsed: &ParsedCaption) -> Self {
        Self { parsed: Some(ParsedOnDisk::of(parsed)), ..self }
    }

    pub(super) fn into_record(self, id: RecordId) -> Result<Record, Fault> {
        let Self { meta, end_at, caption, layer, image, confidence, parsed, detections } = self;
        let (meta, end_at) = (meta.into_meta()?, timestamp(end_at)?);
        if let Some(confidence) = confidence.filter(|it| !(0.0..=1.0).contains(it)) {
            return Err(Fault::Content(format!("confidence {confidence}")));
        }
        let image = image.map(FrameTicket);
        // What another engram's reader says and this one does not understand is no damage: the
        // caption is read again.
        let parsed = parsed.and_then(|it| it.into_parsed().ok());
        let parsed = parsed.unwrap_or_else(|| ParsedCaption::by_rules(&caption));
        let detections = detections.into_iter().map(DetectionOnDisk::into_detection);
        let detections = detections.collect::<Result<_, Fault>>()?;
        Ok(Record { id, meta, end_at, caption, parsed, confidence, detections, layer, image })
    }
}

/// What a captioner found in an image: left, top, right and bottom in shares of its sides.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct DetectionOnDisk {
    name: String,
    score: f32,
    place: [f32; 4],
}

impl DetectionOnDisk {
    fn of(detection: &DetectedObject) -> Self {
        let DetectedObject { name, score, place } = detection.clone();
        let BoundingBox { left, top, right, bottom } = place;
        Self { name, score, place: [left, top, right, bottom] }
    }

    fn into_detection(self) -> Result<DetectedObject, Fault> {
        let Self { name, score, place } = self;
        if [score].iter().chain(&place).any(|it| !(0.0..=1.0).contains(it)) {
            return Err(Fault::Content(format!("{name:?} of score {score} in {place:?}")));
        }
        let [left, top, right, bottom] = place;
        Ok(DetectedObject { name, score, place: BoundingBox { left, top, right, bottom } })
    }
}

/// Under [`super::keys::spooled`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub(super) struct PendingOnDisk {
    meta: MetaOnDisk,
    end_at: i64,
    attempts: u32,
}

impl PendingOnDisk {
    pub(super) fn of(frame: &PendingFrame) -> Self {
        let PendingFrame { ticket: _, meta, end_at, attempts } = frame;
        Self { meta: MetaOnDisk::of(meta), end_at: end_at.micros(), attempts: *attempts }
    }

    pub(super) fn into_frame(self, ticket: FrameTicket) -> Result<PendingFrame, Fault> {
        let Self { meta, end_at, attempts } = self;
        Ok(PendingFrame { ticket, meta: meta.into_meta()?, end_at: timestamp(end_at)?, attempts })
    }
}

/// Under [`super::keys::keyframe`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub(super) struct KeyframeOnDisk {
    ticket: u64,
    record: Option<u64>,
    meta: MetaOnDisk,
    last_at: i64,
    signature: Vec<u8>,
}

impl KeyframeOnDisk {
    pub(super) fn of(keyframe: &Keyframe) -> Self {
        let Keyframe { ticket, record, meta, last_at, signature } = keyframe;
        Self {
            ticket: ticket.0,
            record: record.map(|id| id.0),
            meta: MetaOnDisk::of(meta),
            last_at: last_at.micros(),
            signature: signature.clone(),
        }
    }

    pub(super) fn into_keyframe(self) -> Result<Keyframe, Fault> {
        let Self { ticket, record, meta, last_at, signature } = self;
        Ok(Keyframe {
            ticket: FrameTicket(ticket),
            record: record.map(RecordId),
            meta: meta.into_meta()?,
            last_at: timestamp(last_at)?,
            signature,
        })
    }
}

/// Under [`super::keys::set_aside`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub(super) struct SetAsideOnDisk {
    meta: MetaOnDisk,
    reason: String,
}

impl SetAsideOnDisk {
    pub(super) fn of(frame: &SetAside) -> Self {
        let SetAside { ticket: _, meta, reason } = frame;
        Self { meta: MetaOnDisk::of(meta), reason: reason.clone() }
    }

    pub(super) fn into_frame(self, ticket: FrameTicket) -> Result<SetAside, Fault> {
        let Self { meta, reason } = self;
        Ok(SetAside { ticket, meta: meta.into_meta()?, reason })
    }
}

/// Under [`super::keys::REMOVED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(super) struct RemovedOnDisk {
    /// Records removed since the store was made.
    pub(super) removed: u64,
    /// Records of lower ids count no more.
    pub(super) below: u64,
}

/// Under [`super::keys::segment`].
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct SegmentOnDisk {
    /// Of the vectors that it was made from.
    pub(super) generation: u32,
    first: u64,
    last: u64,
    rows: u32,
    unreadable: u32,
    parts: Vec<(u8, u64)>,
}

impl SegmentOnDisk {
    pub(super) fn of(meta: &SegmentMeta, generation: u32) -> Self {
        let SegmentMeta { number: _, first, last, rows, unreadable, parts } = meta;
        let parts = parts.iter().take(PARTS_MAX).map(|(part, bytes)| (part.0, *bytes)).collect();
        let (rows, unreadable) = (*rows, *unreadable);
        Self { generation, first: first.0, last: last.0, rows, unreadable, parts }
    }

    pub(super) fn into_meta(self, number: SegmentNumber) -> SegmentMeta {
        let Self { generation: _, first, last, rows, unreadable, parts } = self;
        let parts = parts.into_iter().map(|(part, bytes)| (PartId(part), bytes)).collect();
        let (first, last) = (RecordId(first), RecordId(last));
        SegmentMeta { number, first, last, rows, unreadable, parts }
    }
}

/// Under [`super::keys::amendment`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(super) enum AmendmentOnDisk {
    Deleted,
    EndsAt(i64),
}

impl AmendmentOnDisk {
    pub(super) fn of(amendment: Amendment) -> Self {
        match amendment {
            Amendment::Deleted => Self::Deleted,
            Amendment::EndsAt(end_at) => Self::EndsAt(end_at.micros()),
        }
    }

    pub(super) fn into_amendment(self) -> Result<Amendment, Fault> {
        Ok(match self {
            Self::Deleted => Amendment::Deleted,
            Self::EndsAt(micros) => Amendment::EndsAt(timestamp(micros)?),
        })
    }
}

/// What the store has promised, for the manifest beside the database.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct PromiseOnDisk {
    /// Records that were ever stored.
    pub(super) records: u64,
    pub(super) next_record: u64,
    pub(super) next_ticket: u64,
    /// Newest record and [`witness`] of it.
    pub(super) newest: Option<(u64, u32)>,
}

/// Checksum of what never changes in a record (its end does, when frames merge).
pub(super) fn witness(record: &Record) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&record.id.0.to_le_bytes());
    hasher.update(&record.meta.taken_at.micros().to_le_bytes());
    hasher.update(record.caption.as_bytes());
    hasher.finalize()
}

pub(super) fn timestamp(micros: i64) -> Result<Timestamp, Fault> {
    Timestamp::from_micros(micros).ok_or_else(|| Fault::Content(format!("time {micros} µs")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};

    const KEY: &[u8] = b"r\0\0\0\0\0\0\0\x07";

    fn metas() -> impl Strategy<Value = FrameMeta> {
        let number = -1e6_f64..1e6;
        let position = [number.clone(), number.clone(), number];
        let pose = prop::option::of((position, prop::option::of(-3.0_f64..3.0)))
            .prop_map(|pose| pose.map(|(position, heading)| Pose { position, heading }));
        (0_i64..4_000_000_000_000_000, pose, ".{0,9}", ".{0,9}", ".{0,9}").prop_map(
            |(micros, pose, frame_id, map_id, source)| FrameMeta {
                taken_at: Timestamp::from_micros(micros).unwrap(),
                pose,
                frame_id,
                map_id,
                source,
            },
        )
    }

    fn stored() -> impl Strategy<Value = Record> {
        let confidence = prop::option::of(0.0_f32..=1.0);
        let rest = (".{0,80}", prop::option::of(".{0,9}"), prop::option::of(any::<u64>()));
        let all = (metas(), confidence, detections(), rest);
        all.prop_map(|(meta, confidence, detections, (caption, layer, image))| Record {
            id: RecordId(7),
            end_at: meta.taken_at,
            meta,
            parsed: ParsedCaption::by_rules(&caption),
            caption,
            confidence,
            detections,
            layer,
            image: image.map(FrameTicket),
        })
    }

    fn detections() -> impl Strategy<Value = Vec<DetectedObject>> {
        let share = || 0.0_f32..=1.0;
        let place = (share(), share(), share(), share());
        let place =
            place.prop_map(|(left, top, right, bottom)| BoundingBox { left, top, right, bottom });
        let one = (".{0,9}", share(), place);
        let one = one.prop_map(|(name, score, place)| DetectedObject { name, score, place });
        prop::collection::vec(one, 0..4)
    }

    fn read(sealed: &[u8]) -> Result<Record, Fault> {
        decode::<RecordOnDisk>(KEY, sealed)?.into_record(RecordId(7))
    }

    proptest! {
        #[test]
        fn records_come_back(record in stored()) {
            let sealed = encode(KEY, &RecordOnDisk::of(&record));
            prop_assert_eq!(read(&sealed), Ok(record));
        }

        #[test]
        fn no_flipped_bits_give_a_record(
            record in stored(),
            flips in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        ) {
            let mut sealed = encode(KEY, &RecordOnDisk::of(&record));
            let bits = sealed.len() * 8;
            let bits: std::collections::BTreeSet<usize> =
                flips.into_iter().map(|flip| flip.index(bits)).collect();
            for bit in &bits {
                sealed[bit / 8] ^= 1 << (bit % 8);
            }
            read(&sealed).unwrap_err();
        }

        #[test]
        fn no_cut_and_no_appendix_gives_a_record(record in stored(), extra in any::<u8>()) {
            let mut sealed = encode(KEY, &RecordOnDisk::of(&record));
            for length in 0..sealed.len() {
                assert!(read(&sealed[..length]).is_err(), "cut to {length}");
            }
            sealed.push(extra);
            read(&sealed).unwrap_err();
        }

        #[test]
        fn any_bytes_are_an_error(bytes: Vec<u8>) {
            read(&bytes).unwrap_err();
        }

        #[test]
        fn vectors_come_back_to_the_bit(raw in prop::collection::vec(-1_f32..1.0, 1..40)) {
            let dimension = raw.len();
            if let Ok(vector) = Embedding::new(raw, dimension) {
                let sealed = encode_vector(KEY, &vector);
                assert_eq!(decode_vector(KEY, &sealed, dimension), Ok(vector));
                decode_vector(KEY, &sealed, dimension + 1).unwrap_err();
                assert_eq!(decode_vector(b"other", &sealed, dimension), Err(Fault::Checksum));
            }
        }

        #[test]
        fn the_other_structs_come_back(meta in metas(), text in ".{0,30}", n in any::<u32>()) {
            let (ticket, end_at) = (FrameTicket(7), meta.taken_at);
            let frame = PendingFrame { ticket, meta: meta.clone(), end_at, attempts: n };
            let sealed = encode(KEY, &PendingOnDisk::of(&frame));
            let back = decode::<PendingOnDisk>(KEY, &sealed).unwrap().into_frame(ticket);
            prop_assert_eq!(back, Ok(frame));

            let aside = SetAside { ticket, meta: meta.clone(), reason: text };
            let sealed = encode(KEY, &SetAsideOnDisk::of(&aside));
            let back = decode::<SetAsideOnDisk>(KEY, &sealed).unwrap().into_frame(ticket);
            prop_assert_eq!(back, Ok(aside));

            let keyframe = Keyframe {
                ticket,
                record: Some(RecordId(u64::from(n))),
                meta,
                last_at: end_at,
                signature: n.to_le_bytes().to_vec(),
            };
            let sealed = encode(KEY, &KeyframeOnDisk::of(&keyframe));
            let back = decode::<KeyframeOnDisk>(KEY, &sealed).unwrap().into_keyframe();
            prop_assert_eq!(back, Ok(keyframe));
        }
    }

    #[test]
    fn a_value_of_another_version_is_refused_by_its_number() {
        for version in [0, FORMAT + 1, 9] {
            let sealed = seal_in(version, b"other");
            assert_eq!(unseal(KEY, &sealed), Err(Fault::Version { found: version }));
        }
    }

    #[test]
    fn a_record_of_format_1_has_no_confidence() {
        let meta = FrameMeta {
            taken_at: Timestamp::from_micros(5).unwrap(),
            pose: None,
            frame_id: String::new(),
            map_id: String::new(),
            source: "front".to_owned(),
        };
        let caption = "a mug".to_owned();
        let before = (MetaOnDisk::of(&meta), 9_i64, caption.clone(), None::<String>, Some(3_u64));
        let payload = bincode::encode_to_vec(before, bincode::config::standard()).unwrap();
        let record = Record {
            id: RecordId(7),
            end_at: Timestamp::from_micros(9).unwrap(),
            meta,
            parsed: ParsedCaption::by_rules(&caption),
            caption,
            confidence: None,
            detections: Vec::new(),
            layer: None,
            image: Some(FrameTicket(3)),
        };
        assert_eq!(read(&seal_in(1, &payload)), Ok(record));
        read(&seal_in(FORMAT, &payload)).unwrap_err();
    }

    #[test]
    fn a_confidence_that_is_no_share_is_damage() {
        for (confidence, fits) in [(0.0, true), (1.0, true), (1.1, false), (f32::NAN, false)] {
            let meta = MetaOnDisk {
                taken_at: 0,
                pose: None,
                frame_id: String::new(),
                map_id: String::new(),
                source: String::new(),
            };
            let (caption, confidence) = (String::new(), Some(confidence));
            let (layer, image, parsed, detections) = (None, None, None, Vec::new());
            let stored = RecordOnDisk {
                meta,
                end_at: 0,
                caption,
                layer,
                image,
                confidence,
                parsed,
                detections,
            };
            let read = stored.into_record(RecordId(1));
            assert_eq!(read.is_err(), !fits, "{confidence:?}: {read:?}");
        }
    }

    #[test]
    fn a_caption_whose_parse_is_not_understood_is_read_by_rules() {
        use proptest::strategy::ValueTree as _;
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let stored = stored().new_tree(&mut runner).unwrap().current();
        let (caption, id) = ("a man reading".to_owned(), stored.id);
        let parsed = ParsedCaption::by_rules(&caption);
        let mut other = Record { parsed: parsed.clone(), caption, ..stored };
        // Nobody's number.
        other.parsed.deeds[0].verb.push_str(" he");
        let read = RecordOnDisk::of(&other).into_record(id);
        assert_eq!(read, Ok(Record { parsed, ..other }));
    }

    #[test]
    fn a_record_of_format_3_has_no_detections() {
        use proptest::strategy::ValueTree as _;
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let stored = stored().new_tree(&mut runner).unwrap().current();
        let record = Record { detections: Vec::new(), ..stored };
        let RecordOnDisk { meta, end_at, caption, layer, image, confidence, parsed, .. } =
            RecordOnDisk::of(&record);
        let before = (meta, end_at, caption, layer, image, confidence, parsed);
        let payload = bincode::encode_to_vec(before, bincode::config::standard()).unwrap();
        assert_eq!(read(&seal_in(3, &payload)), Ok(record));
        read(&seal_in(FORMAT, &payload)).unwrap_err();
    }

    #[test]
    fn a_box_that_leaves_its_image_is_damage() {
        for (score, left, fits) in [(0.5, 0.1, true), (1.5, 0.1, false), (0.5, f32::NAN, false)] {
            let place = [left, 0.0, 1.0, 1.0];
            let stored = DetectionOnDisk { name: "cup".to_owned(), score, place };
            assert_eq!(stored.into_detection().is_ok(), fits, "{score} {left}");
        }
    }

    fn seal_in(version: u8, payload: &[u8]) -> Vec<u8> {
        let check = checksum(version, KEY, payload).to_le_bytes();
        [&[version], check.as_slice(), payload].concat()
    }
}
