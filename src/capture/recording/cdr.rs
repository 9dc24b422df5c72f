//! Messages as ROS lays them out: CDR for ROS 2, and the packed form of ROS 1.
//!
//! Pure. Both are a message's fields one after the other without names; CDR aligns numbers, and
//! counts the zero byte behind a text. Fields are read in the order of the ROS types, up to the
//! last one that is wanted.

use std::borrow::Cow;

use crate::capture::recording::messages::{
    Header, ImageContent, ImageMessage, Kind, PoseMessage, Stamp, Transform, TransformMessage,
};

/// Faults of a message's bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::capture) enum BadMessage {
    #[error("the message has {0} bytes, accepted are at least the 4 of CDR's header")]
    Short(usize),
    #[error("the message's encoding is {0:#06x}, accepted is plain CDR (0x0000, 0x0001)")]
    Encapsulation(u16),
    #[error("the message ends before its {field}, which should have {bytes} bytes")]
    Cut { field: &'static str, bytes: usize },
    #[error("the message's {0} is not UTF-8")]
    NotUtf8(&'static str),
}

/// Reader of the fields of a message.
#[derive(Debug, Clone)]
pub(in crate::capture) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    layout: Layout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Cdr { is_bigendian: bool },
    Ros1,
}

impl<'a> Fields<'a> {
    /// Of a message in CDR, which begins with a header that says how it is laid out.
    pub(in crate::capture) fn cdr(bytes: &'a [u8]) -> Result<Self, BadMessage> {
        let (header, bytes) =
            bytes.split_first_chunk::<4>().ok_or(BadMessage::Short(bytes.len()))?;
        let [high, low, ..] = *header;
        let is_bigendian = match u16::from_be_bytes([high, low]) {
            0 => true,
            1 => false,
            other => return Err(BadMessage::Encapsulation(other)),
        };
        Ok(Self { bytes, at: 0, layout: Layout::Cdr { is_bigendian } })
    }

    /// Of a message of ROS 1.
    pub(in crate::capture) fn ros1(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, layout: Layout::Ros1 }
    }

    fn take(&mut self, field: &'static str, bytes: usize) -> Result<&'a [u8], BadMessage> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..bytes).ok_or(BadMessage::Cut { field, bytes })?;
        self.at += bytes;
        Ok(taken)
    }

    /// A number of `N` bytes, the lowest first.
    fn number<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], BadMessage> {
        if let Layout::Cdr { .. } = self.layout {
            self.at = self.at.next_multiple_of(N);
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(field, N)?);
        if self.layout == (Layout::Cdr { is_bigendian: true }) {
            bytes.reverse();
        }
        Ok(bytes)
    }

    fn u8(&mut self, field: &'static str) -> Result<u8, BadMessage> {
        self.number(field).map(u8::from_le_bytes)
    }

    fn u32(&mut self, field: &'static str) -> Result<u32, BadMessage> {
        self.number(field).map(u32::from_le_bytes)
    }

    fn f64(&mut self, field: &'static str) -> Result<f64, BadMessage> {
        self.number(field).map(f64::from_le_bytes)
    }

    fn bytes(&mut self, field: &'static str) -> Result<&'a [u8], BadMessage> {
        let count = usize::try_from(self.u32(field)?).unwrap_or(usize::MAX);
        self.take(field, count)
    }

    fn text(&mut self, field: &'static str) -> Result<String, BadMessage> {
        let mut bytes = self.bytes(field)?;
        if let (Layout::Cdr { .. }, [text @ .., 0]) = (self.layout, bytes) {
            bytes = text;
        }
        let text = std::str::from_utf8(bytes).map_err(|_invalid| BadMessage::NotUtf8(field))?;
        Ok(text.to_owned())
    }

    fn header(&mut self) -> Result<Header, BadMessage> {
        if self.layout == Layout::Ros1 {
            self.u32("header.seq")?;
        }
        let seconds = self.number("header.stamp")?;
        let seconds = match self.layout {
            Layout::Cdr { .. } => i64::from(i32::from_le_bytes(seconds)),
            Layout::Ros1 => i64::from(u32::from_le_bytes(seconds)),
        };
        let stamp = Stamp::new(seconds, self.u32("header.stamp")?);
        Ok(Header { stamp, frame_id: self.text("header.frame_id")? })
    }

    fn numbers<const N: usize>(&mut self, field: &'static str) -> Result<[f64; N], BadMessage> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            *number = self.f64(field)?;
        }
        Ok(numbers)
    }

    /// `geometry_msgs/Transform` and `geometry_msgs/Pose`, which lie the same.
    fn transform(&mut self) -> Result<Transform, BadMessage> {
        let translation = self.numbers("position")?;
        Ok(Transform { translation, rotation: self.numbers("orientation")? })
    }
}

/// The image of a `sensor_msgs/Image` or `sensor_msgs/CompressedImage`.
pub(in crate::capture) fn image(
    kind: Kind,
    mut fields: Fields<'_>,
) -> Result<ImageMessage<'_>, BadMessage> {
    let header = fields.header()?;
    if kind == Kind::CompressedImage {
        let format = fields.text("format")?;
        let data = Cow::Borrowed(fields.bytes("data")?);
        return Ok(ImageMessage { header, content: ImageContent::Compressed { format, data } });
    }
    let height = fields.u32("height")?;
    let width = fields.u32("width")?;
    let encoding = fields.text("encoding")?;
    let is_bigendian = fields.u8("is_bigendian")? != 0;
    let step = fields.u32("step")?;
    let data = Cow::Borrowed(fields.bytes("data")?);
    let content = ImageContent::Raw { width, height, encoding, is_bigendian, step, data };
    Ok(ImageMessage { header, content })
}

/// The transforms of a `tf2_msgs/TFMessage`.
pub(in crate::capture) fn transforms(
    mut fields: Fields<'_>,
) -> Result<Vec<TransformMessage>, BadMessage> {
    let mut transforms = Vec::new();
    for _ in 0..fields.u32("transforms")? {
        let header = fields.header()?;
        let child = fields.text("child_frame_id")?;
        transforms.push(TransformMessage { header, child, transform: fields.transform()? });
    }
    Ok(transforms)
}

/// The pose of a `nav_msgs/Odometry`, a `geometry_msgs/PoseStamped` or one with its covariance,
/// which follows the pose.
pub(in crate::capture) fn pose(
    kind: Kind,
    mut fields: Fields<'_>,
) -> Result<PoseMessage, BadMessage> {
    let header = fields.header()?;
    if kind == Kind::Odometry {
        fields.text("child_frame_id")?;
    }
    Ok(PoseMessage { header, pose: fields.transform()? })
}

/// The text of a `std_msgs/String`.
#[cfg(feature = "ros2")]
pub(in crate::capture) fn string(mut fields: Fields<'_>) -> Result<String, BadMessage> {
    fields.text("data")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `sensor_msgs/CompressedImage` by hand: stamp 7.000000009, frame "cam", format "jpeg".
    fn compressed() -> Vec<u8> {
        let mut bytes = vec![0, 1, 0, 0];
        bytes.extend([7, 0, 0, 0, 9, 0, 0, 0]);
        bytes.extend([4, 0, 0, 0]);
        bytes.extend(b"cam\0");
        bytes.extend([5, 0, 0, 0]);
        bytes.extend(b"jpeg\0\0\0\0");
        bytes.extend([2, 0, 0, 0, 0xFF, 0xD8]);
        bytes
    }

    fn check(fields: Fields<'_>) {
        let ImageMessage { header, content } = image(Kind::CompressedImage, fields).unwrap();
        assert_eq!((header.stamp, header.frame_id.as_str()), (Stamp(7_000_000_009), "cam"));
        let data = Cow::Borrowed(&[0xFF, 0xD8][..]);
        assert_eq!(content, ImageContent::Compressed { format: "jpeg".to_owned(), data });
    }

    #[test]
    fn an_image_is_read_with_its_stamp_and_frame() {
        check(Fields::cdr(&compressed()).unwrap());
        let mut big = vec![0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 4];
        big.extend(b"cam\0\0\0\0\x05jpeg\0\0\0\0\0\0\0\x02\xFF\xD8");
        check(Fields::cdr(&big).unwrap());
        let mut old = vec![1, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0];
        old.extend(b"cam\x04\0\0\0jpeg\x02\0\0\0\xFF\xD8");
        check(Fields::ros1(&old));
    }

    #[test]
    fn cut_messages_name_the_field_and_no_byte_makes_a_panic() {
        let whole = compressed();
        for end in 4..whole.len() {
            let error = image(Kind::CompressedImage, Fields::cdr(&whole[..end]).unwrap());
            assert!(matches!(error, Err(BadMessage::Cut { .. })), "{end}: {error:?}");
        }
        let cut = transforms(Fields::cdr(&[0, 1, 0, 0, 255, 255, 255, 255]).unwrap());
        assert_eq!(cut, Err(BadMessage::Cut { field: "header.stamp", bytes: 4 }));
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] = 0xFF;
            for fields in [Fields::cdr(&broken), Ok(Fields::ros1(&broken))].into_iter().flatten() {
                drop(image(Kind::CompressedImage, fields.clone()));
                drop(image(Kind::Image, fields.clone()));
                drop(transforms(fields.clone()));
                drop(pose(Kind::Odometry, fields));
            }
        }
    }

    #[test]
    fn other_encodings_are_refused_by_number() {
        assert_eq!(Fields::cdr(&[0, 1]).unwrap_err(), BadMessage::Short(2));
        let refused = Fields::cdr(&[0, 7, 0, 0, 0, 0, 0, 0]).unwrap_err();
        assert_eq!(refused, BadMessage::Encapsulation(7));
        assert!(refused.to_string().contains("0x0007"));
    }
}
