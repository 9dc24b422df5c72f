//! Pose of each image of a recording, from its transforms or from a topic of poses.
//!
//! Reads ahead of the images by as much as a transform may come late, and keeps what lies
//! shortly behind them, so that a day's recording takes no more memory than a minute's.

use std::collections::VecDeque;
use std::iter::Peekable;

use crate::base::pose::{BadPose, Pose, heading_of_optical_frame, heading_of_quaternion};
use crate::capture::FrameFault;
use crate::capture::recording::messages::{Header, PoseMessage, Stamp, Transform};
use crate::capture::recording::store::{Message, Messages};
use crate::capture::recording::tf::{NoTransform, TransformBuffer, interpolate};
use crate::capture::recording::{Recording, decode};

const SECOND: i64 = 1_000_000_000;
/// Read ahead of each image.
const LEAD: i64 = 2 * SECOND;
/// Read ahead of an image whose pose does not come sooner.
const LEAD_MAX: i64 = 10 * SECOND;
/// Kept behind an image: its stamp may be that much older than its recording.
const KEPT: i64 = 60 * SECOND;
/// Poses of a topic that are kept: at 1,000 a second, more than a minute and a half.
const POSES_MAX: usize = 100_000;

/// Where poses come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoseOrigin {
    /// The way from the image's optical frame to this one.
    Transforms {
        map_frame: String,
    },
    Topic(String),
    /// The recording has none, or too many to choose from.
    Nowhere {
        reason: String,
    },
}

/// Pose and the coordinate frame that it is given in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LocatedPose {
    pub pose: Pose,
    pub frame_id: String,
}

/// Why an image has no pose.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum NoPose {
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

/// Poses along a recording, asked for image by image.
pub(super) struct PoseFinder {
    ahead: Option<Peekable<Messages>>,
    known: Known,
    /// Messages that were left out, and the first reason.
    refused: (u64, Option<String>),
}

enum Known {
    Tree {
        buffer: TransformBuffer,
        map_frame: String,
    },
    /// In the order of stamps, each once.
    Track(VecDeque<PoseMessage>),
    Nothing(String),
}

impl PoseFinder {
    pub(super) fn new(recording: &Recording, origin: &PoseOrigin) -> Self {
        let mut finder =
            Self { ahead: None, known: Known::Track(VecDeque::new()), refused: (0, None) };
        match origin {
            PoseOrigin::Nowhere { reason } => finder.known = Known::Nothing(reason.clone()),
            PoseOrigin::Topic(name) => {
                finder.ahead = Some(recording.read(&|topic| topic.name == *name).peekable());
            }
            PoseOrigin::Transforms { map_frame } => {
                let (buffer, map_frame) = (TransformBuffer::default(), map_frame.clone());
                finder.known = Known::Tree { buffer, map_frame };
                let is_tf =
                    |topic: &super::Topic| topic.kind() == Some(super::messages::Kind::Transforms);
                // What holds at all times may have been recorded at the end.
                for message in recording.read(&|topic| is_tf(topic) && topic.is_static()) {
                    finder.take(message);
                }
                let moving = recording.read(&|topic| is_tf(topic) && !topic.is_static());
                finder.ahead = Some(moving.peekable());
            }
        }
        finder
    }

    /// Pose of the image with this header, which was recorded at `log_time`.
    pub(super) fn pose_at(
        &mut self,
        header: &Header,
        log_time: Stamp,
    ) -> Result<LocatedPose, NoPose> {
        self.forget_before(header.stamp.plus(-KEPT));
        let mut lead = LEAD;
        loop {
            let is_end = !self.read_until(log_time.plus(lead));
            match self.find(header) {
                Err(
                    NoPose::Transform(NoTransform::TooLate { .. } | NoTransform::Unknown(_))
                    | NoPose::TooLate(_),
                ) if lead < LEAD_MAX && !is_end => {
                    lead += SECOND;
                }
                found => return found,
            }
        }
    }

    /// Count of transforms and poses that were left out, and why the first of them.
    pub(super) fn refused(&self) -> (u64, Option<&str>) {
        (self.refused.0, self.refused.1.as_deref())
    }

    /// Takes in what was recorded until `log_time`; whether there is more.
    fn read_until(&mut self, log_time: Stamp) -> bool {
        loop {
            let Some(ahead) = &mut self.ahead else { return false };
            match ahead.peek() {
                None => return false,
                Some(Ok(message)) if message.log_time > log_time => return true,
                Some(_) => {}
            }
            if let Some(message) = ahead.next() {
                self.take(message);
            }
        }
    }

    fn take(&mut self, message: Result<Message, FrameFault>) {
        let taken = match message {
            Ok(message) => self.add(&message),
            Err(fault) => Err(fault.to_string()),
        };
        if let Err(reason) = taken {
            self.refused.0 += 1;
            self.refused.1.get_or_insert(reason);
        }
    }

    fn add(&mut self, message: &Message) -> Result<(), String> {
        match &mut self.known {
            Known::Nothing(_) => Ok(()),
            Known::Tree { buffer, map_frame: _ } => {
                let is_static = message.topic.is_static();
                let mut outcome = Ok(());
                for transform in decode::transforms(message)? {
                    let added = buffer.insert(&transform, is_static);
                    let added = added.map_err(|bad| bad.to_string());
                    outcome = outcome.and(added);
                }
                outcome
            }
            Known::Track(track) => {
                let pose = decode::pose(message)?;
                let stamp = pose.header.stamp;
                let at = track.partition_point(|it| it.header.stamp < stamp);
                if track.get(at).is_none_or(|it| it.header.stamp != stamp) {
                    track.insert(at, pose);
                }
                if track.len() > POSES_MAX {
                    track.pop_front();
                }
                Ok(())
            }
        }
    }

    fn forget_before(&mut self, stamp: Stamp) {
        match &mut self.known {
            Known::Tree { buffer, .. } => buffer.forget_before(stamp),
            Known::Track(track) => {
                let earlier = track.partition_point(|it| it.header.stamp < stamp);
                track.drain(..earlier.saturating_sub(1));
            }
            Known::Nothing(_) => {}
        }
    }

    fn find(&self, header: &Header) -> Result<LocatedPose, NoPose> {
        match &self.known {
            Known::Nothing(reason) => Err(NoPose::Nowhere(reason.clone())),
            Known::Tree { buffer, map_frame } => {
                let view = buffer.lookup(map_frame, &header.frame_id, header.stamp)?;
                let pose = Pose::new(view.translation, heading_of_optical_frame(view.rotation))?;
                Ok(LocatedPose { pose, frame_id: map_frame.clone() })
            }
            Known::Track(track) => {
                let found = pose_between(track, header.stamp)?;
                let heading = heading_of_quaternion(found.pose.rotation);
                let pose = Pose::new(found.pose.translation, heading)?;
                Ok(LocatedPose { pose, frame_id: found.header.frame_id })
            }
        }
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
