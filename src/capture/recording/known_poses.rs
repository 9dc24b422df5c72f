//! Poses that are known by now, of transforms or of a topic of poses.
//!
//! Pure. Grows with what is added and shrinks with [`KnownPoses::forget_before`]; who adds, and
//! how far ahead of the images, is not known here.

use std::collections::VecDeque;

use crate::base::pose::{BadPose, Pose, heading_of_optical_frame, heading_of_quaternion};
use crate::capture::recording::messages::{
    Header, PoseMessage, Stamp, Transform, TransformMessage,
};
use crate::capture::recording::tf::{NoTransform, TransformBuffer, interpolate};

/// Poses of a topic that are kept: at 1,000 a second, more than a minute and a half.
const POSES_MAX: usize = 100_000;

/// Where cameras were.
#[derive(Debug)]
pub(in crate::capture) enum KnownPoses {
    /// The way from an image's optical frame to the map's.
    Tree { buffer: TransformBuffer, map_frame: String },
    /// In the order of stamps, each once.
    Track(VecDeque<PoseMessage>),
    /// And why.
    Nothing(String),
}

/// Pose and the coordinate frame that it is given in.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedPose {
    pub pose: Pose,
    pub frame_id: String,
}

/// Why an image has no pose.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(in crate::capture) enum NoPose {
    #[error("{0}")]
    Nowhere(String),
    #[error(transparent)]
    Transform(#[from] NoTransform),
    #[error("no pose of the topic lies before {0}")]
    TooEarly(Stamp),
    #[error("no pose of the topic lies after {0}")]
    TooLate(Stamp),
    #[error(transparent)]
    Bad(#[from] BadPose),
}

impl KnownPoses {
    pub(in crate::capture) fn tree(map_frame: &str) -> Self {
        Self::Tree { buffer: TransformBuffer::default(), map_frame: map_frame.to_owned() }
    }

    pub(in crate::capture) fn track() -> Self {
        Self::Track(VecDeque::new())
    }

    /// Adds what a tree can use; the first reason for which one was left out.
    pub(in crate::capture) fn add_transforms(
        &mut self,
        transforms: &[TransformMessage],
        is_static: bool,
    ) -> Result<(), String> {
        let Self::Tree { buffer, map_frame: _ } = self else { return Ok(()) };
        let mut outcome = Ok(());
        for transform in transforms {
            let added = buffer.insert(transform, is_static).map_err(|bad| bad.to_string());
            outcome = outcome.and(added);
        }
        outcome
    }

    /// Adds it to a track; of two of one stamp the first counts.
    pub(in crate::capture) fn add_pose(&mut self, pose: PoseMessage) {
        let Self::Track(track) = self else { return };
        let stamp = pose.header.stamp;
        let at = track.partition_point(|it| it.header.stamp < stamp);
        if track.get(at).is_none_or(|it| it.header.stamp != stamp) {
            track.insert(at, pose);
        }
        if track.len() > POSES_MAX {
            track.pop_front();
        }
    }

    /// Forgets what lies before `stamp`, but the last of it.
    pub(in crate::capture) fn forget_before(&mut self, stamp: Stamp) {
        match self {
            Self::Tree { buffer, .. } => buffer.forget_before(stamp),
            Self::Track(track) => {
                let earlier = track.partition_point(|it| it.header.stamp < stamp);
                track.drain(..earlier.saturating_sub(1));
            }
            Self::Nothing(_) => {}
        }
    }

    /// Whether a tree knows the frame that poses are wanted in.
    #[cfg(feature = "ros2")]
    pub(in crate::capture) fn names_map(&self) -> bool {
        matches!(self, Self::Tree { buffer, map_frame } if buffer.has_frame(map_frame))
    }

    /// Whether a track has no pose.
    #[cfg(feature = "ros2")]
    pub(in crate::capture) fn is_empty(&self) -> bool {
        matches!(self, Self::Track(track) if track.is_empty())
    }

    /// Pose of the image with this header.
    pub(in crate::capture) fn find(&self, header: &Header) -> Result<LocatedPose, NoPose> {
        match self {
            Self::Nothing(reason) => Err(NoPose::Nowhere(reason.clone())),
            Self::Tree { buffer, map_frame } => {
                let view = buffer.lookup(map_frame, &header.frame_id, header.stamp)?;
                let pose = Pose::new(view.translation, heading_of_optical_frame(view.rotation))?;
                Ok(LocatedPose { pose, frame_id: map_frame.clone() })
            }
            Self::Track(track) => {
                let found = pose_between(track, header.stamp)?;
                let heading = heading_of_quaternion(found.pose.rotation);
                let pose = Pose::new(found.pose.translation, heading)?;
                Ok(LocatedPose { pose, frame_id: found.header.frame_id })
            }
        }
    }
}

impl NoPose {
    /// Whether what comes later may still tell it.
    pub(in crate::capture) fn may_come(&self) -> bool {
        matches!(
            self,
            Self::Transform(NoTransform::TooLate { .. } | NoTransform::Unknown(_))
                | Self::TooLate(_)
        )
    }
}

fn pose_between(track: &VecDeque<PoseMessage>, stamp: Stamp) -> Result<PoseMessage, NoPose> {
    let at = track.partition_point(|it| it.header.stamp < stamp);
    let later = track.get(at).ok_or(NoPose::TooLate(stamp))?;
    if later.header.stamp == stamp {
        return Ok(later.clone());
    }
    let earlier = at.checked_sub(1).and_then(|at| track.get(at)).ok_or(NoPose::TooEarly(stamp))?;
    if earlier.header.frame_id != later.header.frame_id {
        return Ok(earlier.clone());
    }
    let (start, end) = (earlier.header.stamp, later.header.stamp);
    #[expect(clippy::cast_precision_loss, reason = "a ratio of nanoseconds")]
    let ratio = stamp.since(start) as f64 / end.since(start) as f64;
    let pose: Transform = interpolate(&earlier.pose, &later.pose, ratio);
    Ok(PoseMessage { header: earlier.header.clone(), pose })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_of_a_topic_are_interpolated_within_their_frame() {
        let pose = |seconds: i64, frame: &str, x: f64| PoseMessage {
            header: Header { stamp: Stamp::new(seconds, 0), frame_id: frame.to_owned() },
            pose: Transform { translation: [x, 0.0, 0.0], rotation: [0.0, 0.0, 0.0, 1.0] },
        };
        let track =
            VecDeque::from([pose(1, "odom", 1.0), pose(3, "odom", 3.0), pose(4, "map", 9.0)]);
        let x = |nanoseconds: i64| {
            pose_between(&track, Stamp(nanoseconds)).map(|it| it.pose.translation[0])
        };
        assert_eq!(x(1_500_000_000), Ok(1.5));
        assert_eq!(x(3_000_000_000), Ok(3.0));
        assert_eq!(x(3_500_000_000), Ok(3.0), "the frame changes in between");
        assert_eq!(x(4_000_000_001), Err(NoPose::TooLate(Stamp(4_000_000_001))));
        assert_eq!(x(999), Err(NoPose::TooEarly(Stamp(999))));
    }
}
