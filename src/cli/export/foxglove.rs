//! Messages of Foxglove's schemas in protobuf, as MCAP files carry them. Pure.
//!
//! `foxglove/` holds the schemas themselves as descriptor sets, made by protobuf of the package
//! `foxglove-schemas-protobuf` 0.4.0 (MIT licence); `tests/exports/` compares
//! them.

use crate::tools::transfer::{DetectionItem, RecordItem};

/// A schema by its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema {
    pub(super) name: &'static str,
    /// A `FileDescriptorSet`.
    pub(super) descriptors: &'static [u8],
}

pub(super) const IMAGE: Schema = Schema {
    name: "foxglove.CompressedImage",
    descriptors: include_bytes!("foxglove/CompressedImage.binpb"),
};
pub(super) const ANNOTATIONS: Schema = Schema {
    name: "foxglove.ImageAnnotations",
    descriptors: include_bytes!("foxglove/ImageAnnotations.binpb"),
};
pub(super) const POSE: Schema = Schema {
    name: "foxglove.PoseInFrame",
    descriptors: include_bytes!("foxglove/PoseInFrame.binpb"),
};
pub(super) const LOG: Schema =
    Schema { name: "foxglove.Log", descriptors: include_bytes!("foxglove/Log.binpb") };

/// A frame as its camera took it.
pub(super) fn image(micros: i64, source: &str, format: &str, file: &[u8]) -> Vec<u8> {
    let mut message = Message::default();
    message.message(1, &timestamp(micros)).bytes(2, file).text(3, format).text(4, source);
    message.0
}

/// The boxes of what was found in a frame of so many pixels.
pub(super) fn annotations(
    micros: i64,
    found: &[DetectionItem],
    (width, height): (u32, u32),
) -> Vec<u8> {
    let mut message = Message::default();
    for DetectionItem { name, score, place } in found {
        let [left, top, right, bottom] = place.map(f64::from);
        let at = |x: f64, y: f64| point(x * f64::from(width), y * f64::from(height));
        let mut outline = Message::default();
        outline.message(1, &timestamp(micros)).varint(2, LINE_LOOP);
        for corner in [at(left, top), at(right, top), at(right, bottom), at(left, bottom)] {
            outline.message(3, &corner);
        }
        outline.message(4, &colour([0.1, 0.9, 0.2, 1.0])).double(7, 2.0);
        message.message(2, &outline);
        let mut label = Message::default();
        label
            .message(1, &timestamp(micros))
            .message(2, &at(left, top))
            .text(3, &format!("{name} {score:.2}"))
            .double(4, 14.0)
            .message(5, &colour([1.0, 1.0, 1.0, 1.0]))
            .message(6, &colour([0.0, 0.0, 0.0, 0.6]));
        message.message(3, &label);
    }
    message.message(5, &timestamp(micros));
    message.0
}

/// Where the robot stood; `None` where it did not know.
pub(super) fn pose(micros: i64, record: &RecordItem) -> Option<Vec<u8>> {
    let [x, y, z] = record.position?;
    let half = record.theta.unwrap_or(0.0) / 2.0;
    let mut position = Message::default();
    position.double(1, x).double(2, y).double(3, z);
    // About the vertical axis; without a heading along the x axis.
    let mut orientation = Message::default();
    orientation.double(3, half.sin()).double(4, half.cos());
    let mut pose = Message::default();
    pose.message(1, &position).message(2, &orientation);
    let mut message = Message::default();
    message.message(1, &timestamp(micros)).text(2, &record.frame_id).message(3, &pose);
    Some(message.0)
}

/// A caption, with the record's id as the line.
pub(super) fn log(micros: i64, record: &RecordItem) -> Vec<u8> {
    let mut message = Message::default();
    message
        .message(1, &timestamp(micros))
        .varint(2, INFO)
        .text(3, &record.caption)
        .text(4, &record.source)
        .fixed32(6, u32::try_from(record.id).unwrap_or(u32::MAX));
    message.0
}

/// `PointsAnnotation.Type`.
const LINE_LOOP: u64 = 2;
/// `Log.Level`.
const INFO: u64 = 2;

fn timestamp(micros: i64) -> Message {
    let (seconds, rest) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let mut message = Message::default();
    message.varint(1, seconds.unsigned_abs()).varint(2, rest.unsigned_abs() * 1_000);
    message
}

fn point(x: f64, y: f64) -> Message {
    let mut message = Message::default();
    message.double(1, x).double(2, y);
    message
}

fn colour([r, g, b, a]: [f64; 4]) -> Message {
    let mut message = Message::default();
    message.double(1, r).double(2, g).double(3, b).double(4, a);
    message
}

/// A protobuf message, field by field. Defaults are left out, as proto3 has it.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

/// Wire types.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;
const FIXED32: u64 = 5;

impl Message {
    fn varint(&mut self, field: u64, value: u64) -> &mut Self {
        if value != 0 {
            self.tag(field, VARINT);
            self.put_varint(value);
        }
        self
    }

    fn double(&mut self, field: u64, value: f64) -> &mut Self {
        if value != 0.0 {
            self.tag(field, FIXED64);
            self.0.extend(value.to_le_bytes());
        }
        self
    }

    fn fixed32(&mut self, field: u64, value: u32) -> &mut Self {
        if value != 0 {
            self.tag(field, FIXED32);
            self.0.extend(value.to_le_bytes());
        }
        self
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.tag(field, LENGTH);
        self.put_varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn text(&mut self, field: u64, text: &str) -> &mut Self {
        if text.is_empty() { self } else { self.bytes(field, text.as_bytes()) }
    }

    /// Also an empty one: it is there.
    fn message(&mut self, field: u64, message: &Self) -> &mut Self {
        self.bytes(field, &message.0)
    }

    fn tag(&mut self, field: u64, wire: u64) {
        self.put_varint(field << 3 | wire);
    }

    fn put_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            // Seven bits at a time, the lowest first.
            self.0.push(low_bits(value) | 0x80);
            value >>= 7;
        }
        self.0.push(low_bits(value));
    }
}

/// The lowest seven bits.
fn low_bits(value: u64) -> u8 {
    value.to_le_bytes().first().map_or(0, |byte| byte & 0x7f)
}
