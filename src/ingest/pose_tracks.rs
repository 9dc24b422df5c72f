//! Where the robot was when a frame was taken that does not say so: poses that come by
//! themselves, kept for a while and interpolated.
//!
//! In memory alone: a restart forgets them, and the frames that came are stored with theirs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::frame::FrameMeta;
use crate::base::pose::{Pose, turn_between};
use crate::base::time::Timestamp;

/// Poses of one track: more than a minute at 50 a second.
const POSES_MAX: usize = 4_096;
/// Cameras with a track of their own.
const TRACKS_MAX: usize = 64;

/// Pose of the robot, or of one of its cameras, at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackedPose {
    pub at: Timestamp,
    pub pose: Pose,
    pub frame_id: String,
    pub map_id: String,
    /// Camera that the pose is of; empty for all that have no track of their own.
    pub source: String,
}

/// Poses that came, and what they were good for, since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoseCounts {
    pub came: u64,
    /// Frames that got their pose from a track.
    pub located: u64,
    /// Frames without a pose that came while there was a track, and no pose near their time.
    pub unlocated: u64,
    pub newest: Option<Timestamp>,
}

/// Refusals of a pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PoseError {
    #[error("\"source\": {TRACKS_MAX} cameras have poses of their own, accepted are no more")]
    TooManyTracks,
}

/// Tracks by camera. Many threads at once.
#[derive(Debug)]
pub(super) struct PoseTracks {
    /// How far in time a pose may be from the frame.
    age_max: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// In the order of time, each once.
    tracks: BTreeMap<String, VecDeque<TrackedPose>>,
    counts: PoseCounts,
}

impl PoseTracks {
    pub(super) fn new(age_max: Duration) -> Self {
        Self { age_max, state: Mutex::default() }
    }

    /// Adds a pose. They may come out of order; of two of one time the newer counts.
    pub(super) fn add(&self, pose: TrackedPose) -> Result<(), PoseError> {
        let mut state = self.lock();
        if !state.tracks.contains_key(&pose.source) && state.tracks.len() >= TRACKS_MAX {
            return Err(PoseError::TooManyTracks);
        }
        state.counts.came += 1;
        state.counts.newest = state.counts.newest.max(Some(pose.at));
        let track = state.tracks.entry(pose.source.clone()).or_default();
        let at = track.partition_point(|it| it.at < pose.at);
        match track.get_mut(at) {
            Some(known) if known.at == pose.at => *known = pose,
            _ => track.insert(at, pose),
        }
        if track.len() > POSES_MAX {
            track.pop_front();
        }
        Ok(())
    }

    /// Gives a frame without a pose that of its time, where a track has it.
    pub(super) fn locate(&self, meta: &FrameMeta) -> Option<FrameMeta> {
        if meta.pose.is_some() {
            return None;
        }
        let mut state = self.lock();
        let track = state.tracks.get(&meta.source).or_else(|| state.tracks.get(""))?;
        let Some(found) = pose_at(track, meta.taken_at, self.age_max) else {
            state.counts.unlocated += 1;
            return None;
        };
        state.counts.located += 1;
        let TrackedPose { at: _, pose, frame_id, map_id, source: _ } = found;
        let map_id = if map_id.is_empty() { meta.map_id.clone() } else { map_id };
        Some(FrameMeta { pose: Some(pose), frame_id, map_id, ..meta.clone() })
    }

    pub(super) fn counts(&self) -> PoseCounts {
        self.lock().counts
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics between two changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Between two poses that are both near enough: interpolated. Else the one that is.
fn pose_at(
    track: &VecDeque<TrackedPose>,
    time: Timestamp,
    age_max: Duration,
) -> Option<TrackedPose> {
    let is_near = |it: &&TrackedPose| it.at.since(time).max(time.since(it.at)) <= age_max;
    let at = track.partition_point(|it| it.at <= time);
    let earlier = at.checked_sub(1).and_then(|at| track.get(at)).filter(is_near);
    let later = track.get(at).filter(is_near);
    match (earlier, later) {
        (Some(earlier), Some(later)) => Some(between(earlier, later, time)),
        (one, other) => one.or(other).cloned(),
    }
}

fn between(earlier: &TrackedPose, later: &TrackedPose, time: Timestamp) -> TrackedPose {
    let is_one_frame = earlier.frame_id == later.frame_id && earlier.map_id == later.map_id;
    if !is_one_frame {
        return earlier.clone();
    }
    let span = later.at.since(earlier.at).as_secs_f64();
    let ratio = time.since(earlier.at).as_secs_f64() / span;
    let (from, to) = (&earlier.pose, &later.pose);
    let mut position = from.position;
    for (axis, end) in position.iter_mut().zip(to.position) {
        *axis += (end - *axis) * ratio;
    }
    let heading = match (from.heading, to.heading) {
        (Some(from), Some(to)) => Some(from + turn_between(from, to) * ratio),
        (one, other) => one.or(other),
    };
    // Between two poses within the limits lies another one.
    let pose = Pose::new(position, heading).unwrap_or(*from);
    TrackedPose { at: time, pose, ..earlier.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const AGE_MAX: Duration = Duration::from_secs(2);

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_seconds(1e9 + seconds).unwrap()
    }

    fn pose(seconds: f64, x: f64, heading: f64, source: &str) -> TrackedPose {
        TrackedPose {
            at: at(seconds),
            pose: Pose::new([x, -x, 0.0], Some(heading)).unwrap(),
            frame_id: "odom".to_owned(),
            map_id: String::new(),
            source: source.to_owned(),
        }
    }

    fn frame(seconds: f64, source: &str) -> FrameMeta {
        FrameMeta {
            taken_at: at(seconds),
            pose: None,
            frame_id: "map".to_owned(),
            map_id: "home".to_owned(),
            source: source.to_owned(),
        }
    }

    fn tracks(poses: &[TrackedPose]) -> PoseTracks {
        let tracks = PoseTracks::new(AGE_MAX);
        for pose in poses {
            tracks.add(pose.clone()).unwrap();
        }
        tracks
    }

    #[track_caller]
    fn check(tracks: &PoseTracks, seconds: f64, expect: Option<(f64, f64)>) {
        let found = tracks.locate(&frame(seconds, "front")).map(|it| it.pose.unwrap());
        let (Some(found), Some((x, heading))) = (found, expect) else {
            return assert_eq!(found, expect.map(|_| found.unwrap()), "at {seconds}");
        };
        let turn = turn_between(found.heading.unwrap(), heading).abs();
        assert!((found.position[0] - x).abs() < 1e-6 && turn < 1e-6, "at {seconds}: {found:?}");
        assert!((found.position[0] + found.position[1]).abs() < 1e-9);
    }

    #[test]
    fn poses_are_interpolated_the_short_way_round() {
        // Out of order, as two writers send them.
        let tracks = tracks(&[pose(2.0, 3.0, PI - 0.1, ""), pose(1.0, 1.0, 0.1 - PI, "")]);
        check(&tracks, 1.0, Some((1.0, 0.1 - PI)));
        check(&tracks, 1.5, Some((2.0, PI)));
        check(&tracks, 1.25, Some((1.5, 0.05 - PI)));
        check(&tracks, 2.0, Some((3.0, PI - 0.1)));
    }

    #[test]
    fn a_pose_counts_for_a_while_and_never_across_a_gap() {
        let tracks = tracks(&[pose(0.0, 1.0, 0.0, ""), pose(60.0, 9.0, 0.0, "")]);
        check(&tracks, -3.0, None);
        check(&tracks, -1.0, Some((1.0, 0.0)));
        check(&tracks, 2.0, Some((1.0, 0.0)));
        check(&tracks, 30.0, None);
        check(&tracks, 59.0, Some((9.0, 0.0)));
        check(&tracks, 62.5, None);
        let counts = tracks.counts();
        assert_eq!((counts.came, counts.located, counts.unlocated), (2, 3, 3));
        assert_eq!(counts.newest, Some(at(60.0)));
    }

    #[test]
    fn a_camera_s_own_track_and_a_frame_s_own_pose_come_first() {
        let tracks = tracks(&[pose(0.0, 1.0, 0.0, ""), pose(0.0, 5.0, 0.0, "arm")]);
        let x = |meta: &FrameMeta| tracks.locate(meta).map(|it| it.pose.unwrap().position[0]);
        assert_eq!(x(&frame(0.0, "front")), Some(1.0));
        assert_eq!(x(&frame(0.0, "arm")), Some(5.0));
        let own = FrameMeta { pose: Some(pose(0.0, 7.0, 0.0, "").pose), ..frame(0.0, "front") };
        assert_eq!(x(&own), None);
        let located = tracks.locate(&frame(0.0, "front")).unwrap();
        assert_eq!((located.frame_id.as_str(), located.map_id.as_str()), ("odom", "home"));
        assert_eq!(PoseTracks::new(AGE_MAX).locate(&frame(0.0, "front")), None);
    }

    #[test]
    fn coordinate_frames_are_not_mixed() {
        let other = TrackedPose { frame_id: "map".to_owned(), ..pose(1.0, 9.0, 0.0, "") };
        check(&tracks(&[pose(0.0, 1.0, 0.0, ""), other]), 0.9, Some((1.0, 0.0)));
    }

    #[test]
    fn tracks_are_bounded() {
        let tracks = PoseTracks::new(AGE_MAX);
        for n in 0..POSES_MAX + 10 {
            tracks.add(pose(n as f64, n as f64, 0.0, "")).unwrap();
        }
        assert_eq!(tracks.lock().tracks[""].len(), POSES_MAX);
        check(&tracks, 0.0, None);
        for n in 1..TRACKS_MAX {
            tracks.add(pose(0.0, 0.0, 0.0, &n.to_string())).unwrap();
        }
        assert_eq!(tracks.add(pose(0.0, 0.0, 0.0, "more")), Err(PoseError::TooManyTracks));
        tracks.add(pose(1e4, 0.0, 0.0, "1")).unwrap();
    }
}
