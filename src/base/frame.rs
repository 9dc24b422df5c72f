//! Metadata of a camera's frame, before its caption.

use crate::base::plain::is_hidden;
use crate::base::pose::Pose;
use crate::base::time::Timestamp;

/// Time, pose and camera of a frame.
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

/// Errors of a frame's `source`, `frame_id` or `map_id`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("{field} is empty, accepted is a name of 1 to {NAME_BYTES_MAX} bytes")]
    Empty { field: &'static str },
    #[error("{field} has {bytes} bytes, accepted are at most {NAME_BYTES_MAX}")]
    TooLong { field: &'static str, bytes: usize },
    #[error("{field} holds a control character, accepted is one line of text")]
    Control { field: &'static str },
}

impl FrameMeta {
    /// Checks the names: short, on one line, and `source` not empty.
    pub fn check(&self) -> Result<(), BadName> {
        if self.source.is_empty() {
            return Err(BadName::Empty { field: "source" });
        }
        let names =
            [("source", &self.source), ("frame_id", &self.frame_id), ("map_id", &self.map_id)];
        for (field, name) in names {
            if name.len() > NAME_BYTES_MAX {
                return Err(BadName::TooLong { field, bytes: name.len() });
            }
            if name.chars().any(is_hidden) {
                return Err(BadName::Control { field });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(source: &str, map_id: &str) -> FrameMeta {
        FrameMeta {
            taken_at: Timestamp::EPOCH,
            pose: None,
            frame_id: String::new(),
            map_id: map_id.to_owned(),
            source: source.to_owned(),
        }
    }

    #[test]
    fn names_are_short_and_on_one_line() {
        assert_eq!(meta("front", "").check(), Ok(()));
        assert_eq!(meta("", "").check(), Err(BadName::Empty { field: "source" }));
        let long = "m".repeat(NAME_BYTES_MAX + 1);
        let expect = BadName::TooLong { field: "map_id", bytes: NAME_BYTES_MAX + 1 };
        assert_eq!(meta("front", &long).check(), Err(expect));
        for name in ["a\nb", "a\u{202e}b", "a\u{9b}b"] {
            assert_eq!(meta(name, "").check(), Err(BadName::Control { field: "source" }));
        }
    }
}
