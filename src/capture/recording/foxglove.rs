//! Messages in Foxglove's schemas, as they lie in MCAP files: Protobuf or JSON.
//!
//! Pure. Of a message the fields that matter, by their numbers in Foxglove's `.proto` files or by
//! their names; others are passed over, absent ones are zero or empty, as Protobuf has it.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::capture::recording::messages::{
    Header, ImageContent, ImageMessage, PoseMessage, Stamp, Transform, TransformMessage,
};

/// Faults of a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadFoxglove {
    #[error("the message is no Protobuf: it ends within a field")]
    Cut,
    #[error("the message is no Protobuf: a field has the wire type {0}")]
    WireType(u64),
    #[error("the message's {0} is not as its schema has it")]
    Field(&'static str),
    #[error("the message is no JSON object: {0}")]
    NoJson(String),
}

/// Message, or part of one.
#[derive(Debug, Clone)]
pub(super) enum Fields<'a> {
    Protobuf(Vec<(u64, Wired<'a>)>),
    Json(Value),
}

/// Value of a field in Protobuf.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wired<'a> {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    Bytes(&'a [u8]),
}

/// Name and number of a field.
type Field = (&'static str, u64);

impl<'a> Fields<'a> {
    pub(super) fn protobuf(bytes: &'a [u8]) -> Result<Self, BadFoxglove> {
        let (mut fields, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let tag = varint(&mut rest)?;
            let value = match tag & 7 {
                0 => Wired::Varint(varint(&mut rest)?),
                1 => Wired::Fixed64(u64::from_le_bytes(fixed(&mut rest)?)),
                5 => Wired::Fixed32(u32::from_le_bytes(fixed(&mut rest)?)),
                2 => {
                    let length = usize::try_from(varint(&mut rest)?).unwrap_or(usize::MAX);
                    let (value, behind) = rest.split_at_checked(length).ok_or(BadFoxglove::Cut)?;
                    rest = behind;
                    Wired::Bytes(value)
                }
                other => return Err(BadFoxglove::WireType(other)),
            };
            fields.push((tag >> 3, value));
        }
        Ok(Self::Protobuf(fields))
    }

    pub(super) fn json(bytes: &[u8]) -> Result<Fields<'static>, BadFoxglove> {
        match serde_json::from_slice(bytes) {
            Ok(object @ Value::Object(_)) => Ok(Fields::Json(object)),
            Ok(_) => Err(BadFoxglove::NoJson("it is another value".to_owned())),
            Err(error) => Err(BadFoxglove::NoJson(error.to_string())),
        }
    }

    /// The last of this number counts.
    fn wired(&self, number: u64) -> Option<Wired<'a>> {
        let Self::Protobuf(fields) = self else { return None };
        fields.iter().rev().find(|(it, _)| *it == number).map(|(_, value)| *value)
    }

    fn named(&self, name: &str) -> Option<&Value> {
        let Self::Json(object) = self else { return None };
        object.get(name).filter(|value| !value.is_null())
    }

    fn part(&self, (name, number): Field) -> Result<Fields<'a>, BadFoxglove> {
        match (self.wired(number), self.named(name)) {
            (Some(Wired::Bytes(bytes)), _) => Fields::protobuf(bytes),
            (None, Some(object @ Value::Object(_))) => Ok(Fields::Json(object.clone())),
            (None, None) => Ok(Fields::Protobuf(Vec::new())),
            _ => Err(BadFoxglove::Field(name)),
        }
    }

    fn parts(&self, (name, number): Field) -> Result<Vec<Fields<'a>>, BadFoxglove> {
        match self {
            Self::Protobuf(fields) => {
                let parts = fields.iter().filter(|(it, _)| *it == number);
                let part = |value: &Wired<'a>| match value {
                    Wired::Bytes(bytes) => Fields::protobuf(bytes),
                    Wired::Varint(_) | Wired::Fixed32(_) | Wired::Fixed64(_) => {
                        Err(BadFoxglove::Field(name))
                    }
                };
                parts.map(|(_, value)| part(value)).collect()
            }
            Self::Json(_) => match self.named(name) {
                None => Ok(Vec::new()),
                Some(Value::Array(parts)) => {
                    Ok(parts.iter().map(|part| Fields::Json(part.clone())).collect())
                }
                Some(_) => Err(BadFoxglove::Field(name)),
            },
        }
    }

    fn text(&self, (name, number): Field) -> Result<String, BadFoxglove> {
        match (self.wired(number), self.named(name)) {
            (Some(Wired::Bytes(bytes)), _) => {
                let text = std::str::from_utf8(bytes);
                text.map(str::to_owned).map_err(|_invalid| BadFoxglove::Field(name))
            }
            (None, Some(Value::String(text))) => Ok(text.clone()),
            (None, None) => Ok(String::new()),
            _ => Err(BadFoxglove::Field(name)),
        }
    }

    fn bytes(&self, (name, number): Field) -> Result<Cow<'a, [u8]>, BadFoxglove> {
        match (self.wired(number), self.named(name)) {
            (Some(Wired::Bytes(bytes)), _) => Ok(Cow::Borrowed(bytes)),
            (None, Some(Value::String(text))) => {
                let bytes = STANDARD.decode(text);
                bytes.map(Cow::Owned).map_err(|_invalid| BadFoxglove::Field(name))
            }
            (None, None) => Ok(Cow::Borrowed(&[])),
            _ => Err(BadFoxglove::Field(name)),
        }
    }

    /// Whole number from 0.
    fn whole(&self, (name, number): Field) -> Result<u64, BadFoxglove> {
        match (self.wired(number), self.named(name)) {
            (Some(Wired::Varint(value) | Wired::Fixed64(value)), _) => Ok(value),
            (Some(Wired::Fixed32(value)), _) => Ok(value.into()),
            (None, Some(value)) => value.as_u64().ok_or(BadFoxglove::Field(name)),
            (None, None) => Ok(0),
            _ => Err(BadFoxglove::Field(name)),
        }
    }

    fn size(&self, field: Field) -> Result<u32, BadFoxglove> {
        u32::try_from(self.whole(field)?).map_err(|_too_large| BadFoxglove::Field(field.0))
    }

    fn real(&self, (name, number): Field) -> Result<f64, BadFoxglove> {
        match (self.wired(number), self.named(name)) {
            (Some(Wired::Fixed64(bits)), _) => Ok(f64::from_bits(bits)),
            (None, Some(value)) => value.as_f64().ok_or(BadFoxglove::Field(name)),
            (None, None) => Ok(0.0),
            _ => Err(BadFoxglove::Field(name)),
        }
    }

    fn stamp(&self) -> Result<Stamp, BadFoxglove> {
        const NAME: &str = "timestamp";
        let time = self.part((NAME, 1))?;
        let seconds = match &time {
            Fields::Protobuf(_) => time.whole(("seconds", 1))?,
            Fields::Json(_) => time.whole(("sec", 1))?,
        };
        let part = time.size(("nsec", 2))?;
        let seconds = i64::try_from(seconds).map_err(|_before_1970| BadFoxglove::Field(NAME))?;
        Ok(Stamp::new(seconds, part))
    }

    fn vector(&self, field: Field) -> Result<[f64; 3], BadFoxglove> {
        let part = self.part(field)?;
        Ok([part.real(("x", 1))?, part.real(("y", 2))?, part.real(("z", 3))?])
    }

    fn quaternion(&self, field: Field) -> Result<[f64; 4], BadFoxglove> {
        let part = self.part(field)?;
        let [x, y, z] = self.vector(field)?;
        Ok([x, y, z, part.real(("w", 4))?])
    }
}

/// `foxglove.CompressedImage`.
pub(super) fn compressed_image<'a>(fields: &Fields<'a>) -> Result<ImageMessage<'a>, BadFoxglove> {
    let header = Header { stamp: fields.stamp()?, frame_id: fields.text(("frame_id", 4))? };
    let (format, data) = (fields.text(("format", 3))?, fields.bytes(("data", 2))?);
    Ok(ImageMessage { header, content: ImageContent::Compressed { format, data } })
}

/// `foxglove.RawImage`.
pub(super) fn raw_image<'a>(fields: &Fields<'a>) -> Result<ImageMessage<'a>, BadFoxglove> {
    let header = Header { stamp: fields.stamp()?, frame_id: fields.text(("frame_id", 7))? };
    let encoding = fields.text(("encoding", 4))?;
    // Two of its names are not those of ROS.
    let encoding = match encoding.as_str() {
        "uyvy" => "yuv422".to_owned(),
        "yuyv" => "yuv422_yuy2".to_owned(),
        _ => encoding,
    };
    let content = ImageContent::Raw {
        width: fields.size(("width", 2))?,
        height: fields.size(("height", 3))?,
        encoding,
        is_bigendian: false,
        step: fields.size(("step", 5))?,
        data: fields.bytes(("data", 6))?,
    };
    Ok(ImageMessage { header, content })
}

/// `foxglove.FrameTransform`.
pub(super) fn transform(fields: &Fields<'_>) -> Result<TransformMessage, BadFoxglove> {
    let header = Header { stamp: fields.stamp()?, frame_id: fields.text(("parent_frame_id", 2))? };
    let transform = Transform {
        translation: fields.vector(("translation", 4))?,
        rotation: fields.quaternion(("rotation", 5))?,
    };
    Ok(TransformMessage { header, child: fields.text(("child_frame_id", 3))?, transform })
}

/// `foxglove.FrameTransforms`.
pub(super) fn transforms(fields: &Fields<'_>) -> Result<Vec<TransformMessage>, BadFoxglove> {
    fields.parts(("transforms", 1))?.iter().map(transform).collect()
}

/// `foxglove.PoseInFrame`.
pub(super) fn pose(fields: &Fields<'_>) -> Result<PoseMessage, BadFoxglove> {
    let header = Header { stamp: fields.stamp()?, frame_id: fields.text(("frame_id", 2))? };
    let pose = fields.part(("pose", 3))?;
    let pose = Transform {
        translation: pose.vector(("position", 1))?,
        rotation: pose.quaternion(("orientation", 2))?,
    };
    Ok(PoseMessage { header, pose })
}

fn varint(rest: &mut &[u8]) -> Result<u64, BadFoxglove> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let (byte, behind) = rest.split_first().ok_or(BadFoxglove::Cut)?;
        *rest = behind;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(BadFoxglove::Cut)
}

fn fixed<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], BadFoxglove> {
    let (value, behind) = rest.split_first_chunk::<N>().ok_or(BadFoxglove::Cut)?;
    *rest = behind;
    Ok(*value)
}
