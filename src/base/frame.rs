//! What a camera saw, before anybody said what it shows.

use crate::base::pose::Pose;
use crate::base::time::Timestamp;

/// When, where and by which camera a frame was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameMeta {
    pub taken_at: Timestamp,
    /// `None` when the robot was not localised.
    pub pose: Option<Pose>,
    /// Coordinate frame of the pose, "map" unless said otherwise.
    pub frame_id: String,
    /// Map that the coordinate frame belongs to; empty where there is one only.
    pub map_id: String,
    /// Camera or other origin of the observation.
    pub source: String,
}

/// Most bytes of `source`, `frame_id` and `map_id`, so that a record stays small.
pub const NAME_BYTES_MAX: usize = 128;
