//! Messages of robots that matter here, whatever wrote them down.
//!
//! Pure. Images, transforms and poses with their stamps and coordinate frames, and nothing of
//! the rest of a message.

use std::borrow::Cow;
use std::fmt;

/// Nanoseconds by the clock of the recording: since 1970, or since a simulation began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub i64);

impl Stamp {
    pub fn new(seconds: i64, nanoseconds: u32) -> Self {
        Self(seconds.saturating_mul(1_000_000_000).saturating_add(i64::from(nanoseconds)))
    }

    #[must_use]
    pub fn plus(self, nanoseconds: i64) -> Self {
        Self(self.0.saturating_add(nanoseconds))
    }

    /// Nanoseconds from `earlier`, negative where that is the later one.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(1_000_000_000);
        write!(f, "{seconds}.{:09}", self.0.rem_euclid(1_000_000_000))
    }
}

/// When and in which coordinate frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub stamp: Stamp,
    pub frame_id: String,
}

/// Image of a camera.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageMessage<'a> {
    pub header: Header,
    pub content: ImageContent<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ImageContent<'a> {
    /// Fields as `sensor_msgs/Image` has them.
    Raw {
        width: u32,
        height: u32,
        encoding: String,
        is_bigendian: bool,
        step: u32,
        data: Cow<'a, [u8]>,
    },
    /// A file, JPEG, PNG or WebP if all is well, and what its sender says of it.
    Compressed { format: String, data: Cow<'a, [u8]> },
}

/// Turn and shift from one coordinate frame to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// Metres.
    pub translation: [f64; 3],
    /// Quaternion (x, y, z, w).
    pub rotation: [f64; 4],
}

/// Where the frame `child` lies in the frame that its header names.
#[derive(Debug, Clone, PartialEq)]
pub struct TransformMessage {
    pub header: Header,
    pub child: String,
    pub transform: Transform,
}

/// Where the robot is.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseMessage {
    pub header: Header,
    pub pose: Transform,
}

/// What a topic's messages are to the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Image,
    CompressedImage,
    Transforms,
    /// Where the robot is, by its wheels or whatever it has.
    Odometry,
    Pose,
    PoseWithCovariance,
}

impl Kind {
    /// By the type's name, as ROS 2, ROS 1 or Foxglove writes it.
    pub fn of_type(name: &str) -> Option<Self> {
        if let Some(message) = name.strip_prefix("foxglove.") {
            return Some(match message {
                "RawImage" => Self::Image,
                "CompressedImage" => Self::CompressedImage,
                "FrameTransform" | "FrameTransforms" => Self::Transforms,
                "PoseInFrame" => Self::Pose,
                _ => return None,
            });
        }
        let (package, message) = name.split_once('/')?;
        let message = message.strip_prefix("msg/").unwrap_or(message);
        Some(match (package, message) {
            ("sensor_msgs", "Image") => Self::Image,
            ("sensor_msgs", "CompressedImage") => Self::CompressedImage,
            ("tf2_msgs" | "tf", "TFMessage" | "tfMessage") => Self::Transforms,
            ("nav_msgs", "Odometry") => Self::Odometry,
            ("geometry_msgs", "PoseStamped") => Self::Pose,
            ("geometry_msgs", "PoseWithCovarianceStamped") => Self::PoseWithCovariance,
            _ => return None,
        })
    }

    pub fn is_image(self) -> bool {
        matches!(self, Self::Image | Self::CompressedImage)
    }

    pub fn is_pose(self) -> bool {
        matches!(self, Self::Odometry | Self::Pose | Self::PoseWithCovariance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_both_spellings() {
        for name in ["sensor_msgs/msg/Image", "sensor_msgs/Image"] {
            assert_eq!(Kind::of_type(name), Some(Kind::Image));
        }
        assert_eq!(Kind::of_type("foxglove.RawImage"), Some(Kind::Image));
        assert_eq!(Kind::of_type("foxglove.PointCloud"), None);
        assert_eq!(Kind::of_type("tf/tfMessage"), Some(Kind::Transforms));
        assert_eq!(Kind::of_type("tf2_msgs/msg/TFMessage"), Some(Kind::Transforms));
        for name in ["std_msgs/msg/Image", "Image", "", "sensor_msgs/msg/PointCloud2"] {
            assert_eq!(Kind::of_type(name), None, "{name}");
        }
    }

    #[test]
    fn stamps_print_as_seconds() {
        assert_eq!(Stamp::new(12, 5_000_000).to_string(), "12.005000000");
        assert_eq!(Stamp(-1).to_string(), "-1.999999999");
        assert_eq!(Stamp::new(i64::MAX, 1).0, i64::MAX);
    }
}
