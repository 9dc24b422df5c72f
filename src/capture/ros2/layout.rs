//! Messages that go out, and the text of those that come in, as ROS 2 lays them out.
//!
//! Pure. Little-endian CDR with its header: `geometry_msgs/PoseStamped` and
//! `std_msgs/String`.

use crate::base::time::Timestamp;
use crate::capture::ros2::Goal;

/// A `geometry_msgs/PoseStamped`. A goal without a direction looks along the x axis.
pub(super) fn pose_stamped(goal: &Goal, at: Timestamp) -> Vec<u8> {
    let Goal { position, heading, frame_id } = goal;
    let seconds = i32::try_from(at.micros().div_euclid(1_000_000)).unwrap_or(i32::MAX);
    let micros = u32::try_from(at.micros().rem_euclid(1_000_000)).unwrap_or_default();
    let half = heading.unwrap_or(0.0) / 2.0;
    let mut message = Message::default();
    message.put(seconds.to_le_bytes());
    message.put(micros.saturating_mul(1_000).to_le_bytes());
    message.put_text(frame_id);
    for number in position.iter().chain(&[0.0, 0.0, half.sin(), half.cos()]) {
        message.put(number.to_le_bytes());
    }
    message.finish()
}

/// A `std_msgs/String`.
pub(super) fn string(text: &str) -> Vec<u8> {
    let mut message = Message::default();
    message.put_text(text);
    message.finish()
}

/// Fields behind the header, which alignment does not count.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn put<const N: usize>(&mut self, number: [u8; N]) {
        self.0.resize(self.0.len().next_multiple_of(N), 0);
        self.0.extend(number);
    }

    fn put_text(&mut self, text: &str) {
        self.put(u32::try_from(text.len() + 1).unwrap_or(u32::MAX).to_le_bytes());
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn finish(self) -> Vec<u8> {
        [&[0, 1, 0, 0], self.0.as_slice()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::recording::cdr::{self, Fields};
    use crate::capture::recording::messages::{Kind, Stamp};

    #[test]
    fn goals_are_read_as_the_poses_that_they_are() {
        let at = Timestamp::from_micros(1_767_225_600_250_001).unwrap();
        for frame_id in ["map", "m", "", "odom2"] {
            let frame_id = frame_id.to_owned();
            let goal = Goal { position: [1.5, -2.0, 0.25], heading: Some(3.0), frame_id };
            let bytes = pose_stamped(&goal, at);
            let read = cdr::pose(Kind::Pose, Fields::cdr(&bytes).unwrap()).unwrap();
            assert_eq!(read.header.stamp, Stamp(1_767_225_600_250_001_000));
            assert_eq!(read.header.frame_id, goal.frame_id);
            assert_eq!(read.pose.translation.map(f64::to_bits), goal.position.map(f64::to_bits));
            let heading = crate::base::pose::heading_of_quaternion(read.pose.rotation).unwrap();
            assert!((heading - 3.0).abs() < 1e-12);
        }
    }

    #[test]
    fn text_is_counted_with_its_zero() {
        assert_eq!(string("hé"), b"\0\x01\0\0\x04\0\0\0h\xc3\xa9\0");
        assert_eq!(cdr::string(Fields::cdr(&string("hé")).unwrap()), Ok("hé".to_owned()));
        assert_eq!(cdr::string(Fields::cdr(&string("")).unwrap()), Ok(String::new()));
    }
}
