//! Pose of each image of a recording, from its transforms or from a topic of poses.
//!
//! Reads ahead of the images by as much as a transform may come late, and keeps what lies
//! shortly behind them, so that a day's recording takes no more memory than a minute's.

use std::iter::Peekable;

use crate::capture::FrameFault;
use crate::capture::recording::known_poses::{KnownPoses, LocatedPose, NoPose};
use crate::capture::recording::messages::{Header, Stamp};
use crate::capture::recording::store::{Message, Messages};
use crate::capture::recording::{Recording, decode};

const SECOND: i64 = 1_000_000_000;
/// Read ahead of each image.
const LEAD: i64 = 2 * SECOND;
/// Read ahead of an image whose pose does not come sooner.
const LEAD_MAX: i64 = 10 * SECOND;
/// Kept behind an image: its stamp may be that much older than its recording.
const KEPT: i64 = 60 * SECOND;

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

/// Poses along a recording, asked for image by image.
pub(super) struct PoseFinder {
    ahead: Option<Peekable<Messages>>,
    known: KnownPoses,
    /// Messages that were left out, and the first reason.
    refused: (u64, Option<String>),
}

impl PoseFinder {
    pub(super) fn new(recording: &Recording, origin: &PoseOrigin) -> Self {
        let mut finder = Self { ahead: None, known: KnownPoses::track(), refused: (0, None) };
        match origin {
            PoseOrigin::Nowhere { reason } => finder.known = KnownPoses::Nothing(reason.clone()),
            PoseOrigin::Topic(name) => {
                finder.ahead = Some(recording.read(&|topic| topic.name == *name).peekable());
            }
            PoseOrigin::Transforms { map_frame } => {
                finder.known = KnownPoses::tree(map_frame);
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
        self.known.forget_before(header.stamp.plus(-KEPT));
        let mut lead = LEAD;
        loop {
            let is_end = !self.read_until(log_time.plus(lead));
            match self.known.find(header) {
                Err(why) if why.may_come() && lead < LEAD_MAX && !is_end => lead += SECOND,
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
            KnownPoses::Nothing(_) => Ok(()),
            known @ KnownPoses::Tree { .. } => {
                known.add_transforms(&decode::transforms(message)?, message.topic.is_static())
            }
            known @ KnownPoses::Track(_) => {
                known.add_pose(decode::pose(message)?);
                Ok(())
            }
        }
    }
}
