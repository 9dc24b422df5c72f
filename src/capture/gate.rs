//! Keyframe gate: decides which frames get a caption of their own.
//!
//! Pure: sees times, poses and the change of the picture, never the camera. A robot that stands
//! still sends the same view again and again; such frames become one record with a start and an
//! end.
//!
//! Invariant: a frame is merged only into a keyframe whose view it shares, so that slow drift
//! ends in a new keyframe: everything but the pause is measured from the keyframe, not from the
//! frame before.

use std::time::Duration;

use crate::base::frame::FrameMeta;
use crate::base::pose::Pose;
use crate::base::time::Timestamp;

/// Thresholds within which two frames are one view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Longest pause between two frames of one view. A robot that looks twice a
    /// minute is still standing there; after a longer silence anything may have
    /// happened in between. Default 30 s.
    pub pause_max: Duration,
    /// Longest stretch of one record, so that "when" keeps a meaning and a night
    /// at the charger is not one moment. Default 10 min.
    pub span_max: Duration,
    /// Farthest from the keyframe's place, in metres: beyond it near objects
    /// change sides. Swallows the jitter of localisation. Default 0.25 m.
    pub distance_metres_max: f64,
    /// Largest turn from the keyframe's heading, in radians. Swallows the jitter
    /// of the heading; a real turn shows in the picture. Default 0.175 (10°).
    pub turn_radians_max: f64,
    /// Largest change of the picture, 0 to 1 (see `Signature::change_since`).
    ///
    /// On 250 rendered household views of 128×128 with sensor noise of 1 to 7
    /// levels of 255, the same view changed by .063 at most, also under another
    /// exposure (±5 %); one that had lost an object or shown it in another
    /// colour changed by .169 at least, one with an object moved by a third of
    /// its own size by .129 in 99 of 100. In the bundled flat the 21 true
    /// duplicates change by .020 to .039, and the nearest other pair seen from
    /// one place by .114. Default .09.
    pub change_max: f32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            pause_max: Duration::from_secs(30),
            span_max: Duration::from_mins(10),
            distance_metres_max: 0.25,
            turn_radians_max: 0.175,
            change_max: 0.09,
        }
    }
}

/// Newest keyframe of a camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LastKeyframe<'a> {
    pub taken_at: Timestamp,
    /// Time of the last frame merged into it; its own where there is none.
    pub last_at: Timestamp,
    pub view: Viewpoint<'a>,
}

/// Next frame of the same camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival<'a> {
    pub taken_at: Timestamp,
    pub view: Viewpoint<'a>,
    /// Change of its picture against the keyframe's; `None` where the two cannot be compared.
    pub change: Option<f32>,
}

/// Camera viewpoint of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewpoint<'a> {
    pub pose: Option<Pose>,
    pub frame_id: &'a str,
    pub map_id: &'a str,
}

impl<'a> Viewpoint<'a> {
    pub fn of(meta: &'a FrameMeta) -> Self {
        Self { pose: meta.pose, frame_id: &meta.frame_id, map_id: &meta.map_id }
    }
}

/// Decision about a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Keyframe with a caption of its own.
    Keep,
    /// Extends the keyframe before it.
    Merge,
}

/// Frame that is not newer than the last one of its camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the frame is not newer than the last one of its source")]
pub struct OutOfOrder {
    pub last_at: Timestamp,
}

/// Compares a frame with the camera's newest keyframe.
pub fn decide(
    options: &Options,
    keyframe: Option<&LastKeyframe<'_>>,
    arrival: &Arrival<'_>,
) -> Result<Decision, OutOfOrder> {
    let Some(keyframe) = keyframe else { return Ok(Decision::Keep) };
    if arrival.taken_at <= keyframe.last_at {
        return Err(OutOfOrder { last_at: keyframe.last_at });
    }
    let is_same_view = arrival.taken_at.since(keyframe.last_at) <= options.pause_max
        && arrival.taken_at.since(keyframe.taken_at) <= options.span_max
        && is_near(options, &keyframe.view, &arrival.view)
        && arrival.change.is_some_and(|change| change <= options.change_max);
    Ok(if is_same_view { Decision::Merge } else { Decision::Keep })
}

/// Whether two viewpoints are within the thresholds. Poses of two maps do not compare; a pose
/// known of one frame only counts as a change; without any pose the picture decides.
fn is_near(options: &Options, keyframe: &Viewpoint<'_>, arrival: &Viewpoint<'_>) -> bool {
    if (keyframe.frame_id, keyframe.map_id) != (arrival.frame_id, arrival.map_id) {
        return false;
    }
    let (a, b) = match (&keyframe.pose, &arrival.pose) {
        (None, None) => return true,
        (Some(a), Some(b)) => (a, b),
        (Some(_), None) | (None, Some(_)) => return false,
    };
    let is_turned = match a.turn_radians(b) {
        Some(turn) => turn > options.turn_radians_max,
        None => a.heading.is_some() != b.heading.is_some(),
    };
    a.distance_metres(b) <= options.distance_metres_max && !is_turned
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_seconds(seconds).unwrap()
    }

    fn view(pose: impl Into<Option<Pose>>) -> Viewpoint<'static> {
        Viewpoint { pose: pose.into(), frame_id: "map", map_id: "home" }
    }

    fn pose(x: f64, heading: Option<f64>) -> Pose {
        Pose::new([x, 0.0, 0.0], heading).unwrap()
    }

    /// Taken at 1000 s, last seen at 1100 s, from the origin with heading 3.1.
    fn keyframe() -> LastKeyframe<'static> {
        LastKeyframe { taken_at: at(1000.0), last_at: at(1100.0), view: view(pose(0.0, Some(3.1))) }
    }

    /// The next frame of the same view.
    fn arrival() -> Arrival<'static> {
        Arrival { taken_at: at(1101.0), view: view(pose(0.0, Some(3.1))), change: Some(0.02) }
    }

    fn check(arrival: Arrival<'_>, expect: Decision) {
        let decided = decide(&Options::default(), Some(&keyframe()), &arrival);
        assert_eq!(decided, Ok(expect), "{arrival:?}");
    }

    #[test]
    fn the_first_frame_of_a_camera_is_kept() {
        assert_eq!(decide(&Options::default(), None, &arrival()), Ok(Decision::Keep));
    }

    #[test]
    fn the_same_view_is_merged() {
        check(arrival(), Decision::Merge);
    }

    #[test]
    fn each_bound_is_inclusive() {
        let at_bound = |taken_at| Arrival { taken_at, ..arrival() };
        check(at_bound(at(1130.0)), Decision::Merge);
        check(at_bound(at(1_130.000_001)), Decision::Keep);
        check(Arrival { change: Some(0.09), ..arrival() }, Decision::Merge);
        check(Arrival { change: Some(0.091), ..arrival() }, Decision::Keep);
        check(Arrival { view: view(pose(0.25, Some(3.1))), ..arrival() }, Decision::Merge);
        check(Arrival { view: view(pose(0.251, Some(3.1))), ..arrival() }, Decision::Keep);
        check(Arrival { view: view(pose(0.0, Some(3.1 + 0.1749))), ..arrival() }, Decision::Merge);
        check(Arrival { view: view(pose(0.0, Some(3.1 + 0.1751))), ..arrival() }, Decision::Keep);
    }

    #[test]
    fn a_long_stay_becomes_several_records() {
        let keyframe = LastKeyframe { taken_at: at(500.0), ..keyframe() };
        let decide = |taken_at| {
            decide(&Options::default(), Some(&keyframe), &Arrival { taken_at, ..arrival() })
        };
        let late = LastKeyframe { last_at: at(1099.0), ..keyframe };
        assert_eq!(decide(at(1100.5)), Ok(Decision::Keep));
        let arrival = Arrival { taken_at: at(1100.0), ..arrival() };
        let options = Options::default();
        assert_eq!(super::decide(&options, Some(&late), &arrival), Ok(Decision::Merge));
    }

    #[test]
    fn frames_that_cannot_be_compared_are_kept() {
        check(Arrival { change: None, ..arrival() }, Decision::Keep);
        check(Arrival { view: view(None), ..arrival() }, Decision::Keep);
        check(Arrival { view: view(pose(0.0, None)), ..arrival() }, Decision::Keep);
        let other_map = Viewpoint { map_id: "office", ..arrival().view };
        check(Arrival { view: other_map, ..arrival() }, Decision::Keep);
        let other_frame = Viewpoint { frame_id: "odom", ..arrival().view };
        check(Arrival { view: other_frame, ..arrival() }, Decision::Keep);
    }

    #[test]
    fn the_picture_decides_where_no_pose_is_known() {
        let keyframe = LastKeyframe { view: view(None), ..keyframe() };
        let decide = |change| {
            let arrival = Arrival { view: view(None), change: Some(change), ..arrival() };
            decide(&Options::default(), Some(&keyframe), &arrival)
        };
        assert_eq!(decide(0.02), Ok(Decision::Merge));
        assert_eq!(decide(0.2), Ok(Decision::Keep));
    }

    #[test]
    fn a_frame_from_the_past_is_refused() {
        for taken_at in [at(1100.0), at(1050.0), at(1.0)] {
            let arrival = Arrival { taken_at, ..arrival() };
            let refused = decide(&Options::default(), Some(&keyframe()), &arrival);
            assert_eq!(refused, Err(OutOfOrder { last_at: at(1100.0) }));
        }
    }

    proptest! {
        /// Whatever comes, a record's frames lie within the bounds.
        #[test]
        fn records_stay_within_their_bounds(
            steps in prop::collection::vec((0.0..60.0_f64, -0.15..0.15_f64, -0.3..0.3_f64, 0.0..0.15_f32), 1..60),
        ) {
            let options = Options::default();
            let (mut time, mut x, mut heading) = (1000.0, 0.0, 0.0);
            let mut keyframe: Option<LastKeyframe<'_>> = None;
            for (pause, step, turn, change) in steps {
                (time, x, heading) = (time + pause, x + step, heading + turn);
                let arrival =
                    Arrival { taken_at: at(time), view: view(pose(x, Some(heading))), change: Some(change) };
                match (decide(&options, keyframe.as_ref(), &arrival), &mut keyframe) {
                    (Ok(Decision::Keep), keyframe) => {
                        *keyframe = Some(LastKeyframe { taken_at: at(time), last_at: at(time), view: arrival.view });
                    }
                    (Ok(Decision::Merge), Some(keyframe)) => {
                        let (a, b) = (keyframe.view.pose.unwrap(), arrival.view.pose.unwrap());
                        prop_assert!(at(time).since(keyframe.taken_at) <= options.span_max);
                        prop_assert!(at(time).since(keyframe.last_at) <= options.pause_max);
                        prop_assert!(a.distance_metres(&b) <= options.distance_metres_max);
                        prop_assert!(a.turn_radians(&b).unwrap() <= options.turn_radians_max);
                        prop_assert!(change <= options.change_max);
                        keyframe.last_at = at(time);
                    }
                    (Ok(Decision::Merge), None) => prop_assert!(false, "merged into nothing"),
                    (Err(OutOfOrder { last_at }), _) => prop_assert!(at(time) <= last_at),
                }
            }
        }
    }
}
