//! Messages of a robot as they arrive, to frames with the pose of their stamp.
//!
//! Knows nothing of where messages come from, and no clock: whoever calls says what time it is.
//! Images wait for transforms that are newer than they are, a moment long and in order.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::base::picture::ImageLimits;
use crate::base::time::Timestamp;
use crate::capture::live::LiveFrame;
use crate::capture::live::located::Said;
use crate::capture::recording::cdr::{self, Fields};
use crate::capture::recording::known_poses::{KnownPoses, LocatedPose, NoPose};
use crate::capture::recording::messages::{Header, Kind, Stamp};
use crate::capture::recording::{Unusable, WALL_CLOCK_FROM, encode};

/// How long an image waits for the pose of its stamp.
const HOLD: Duration = Duration::from_millis(300);
/// Images that wait; with more the oldest goes without a pose. At 30 a second there are nine.
const WAITING_MAX: usize = 32;
/// How long tf has, from the first image on, to name the map, before odometry serves instead: who
/// publishes what is found one after the other.
const GRACE: Duration = Duration::from_secs(3);
/// Nanoseconds that poses are kept behind the newest image.
const KEPT: i64 = 10_000_000_000;
/// How much later than now a stamp may be: clocks of two computers differ.
const AHEAD_MAX: Duration = Duration::from_mins(1);

/// One camera of a robot.
#[derive(Debug)]
pub(super) struct RobotCamera {
    tree: KnownPoses,
    track: KnownPoses,
    waiting: VecDeque<Waiting>,
    newest: Option<Timestamp>,
    /// From when on odometry serves; with the first image it is known.
    track_from: Option<Instant>,
    limits: ImageLimits,
}

#[derive(Debug)]
struct Waiting {
    header: Header,
    frame: LiveFrame,
    until: Instant,
}

impl RobotCamera {
    /// Poses are wanted in `map_frame`; those of a topic have the frame that they say.
    pub(super) fn new(map_frame: &str, limits: ImageLimits) -> Self {
        let (tree, track) = (KnownPoses::tree(map_frame), KnownPoses::track());
        Self { tree, track, waiting: VecDeque::new(), newest: None, track_from: None, limits }
    }

    /// Odometry serves from now on: there is no tf, or it is not wanted.
    pub(super) fn follow_track(&mut self, tick: Instant) {
        self.track_from = Some(tick);
    }

    /// Takes the message of a topic of this kind, which arrived now.
    pub(super) fn take(
        &mut self,
        (kind, is_static): (Kind, bool),
        message: &[u8],
        (now, tick): (Timestamp, Instant),
    ) -> Result<(), String> {
        let fields = Fields::cdr(message).map_err(text)?;
        match kind {
            Kind::Image | Kind::CompressedImage => self.take_image(kind, fields, now, tick),
            Kind::Transforms => {
                let transforms = cdr::transforms(fields).map_err(text)?;
                self.tree.add_transforms(&transforms, is_static)
            }
            Kind::Odometry | Kind::Pose | Kind::PoseWithCovariance => {
                self.track.add_pose(cdr::pose(kind, fields).map_err(text)?);
                Ok(())
            }
        }
    }

    fn take_image(
        &mut self,
        kind: Kind,
        fields: Fields<'_>,
        now: Timestamp,
        tick: Instant,
    ) -> Result<(), String> {
        let image = cdr::image(kind, fields).map_err(text)?;
        let mut header = image.header;
        let taken_at = if header.stamp == Stamp(0) {
            // Its driver sets none.
            header.stamp = Stamp(now.micros().saturating_mul(1_000));
            now
        } else {
            taken_at(header.stamp, now)?
        };
        if self.newest.is_some_and(|newest| taken_at <= newest) {
            return Err("an image's stamp is not later than that of the one before it".to_owned());
        }
        let image = encode(image.content, self.limits).map_err(|unusable| match unusable {
            Unusable::Depth(encoding) => format!("images are depth ({encoding}) and no pictures"),
            Unusable::Bad(reason) => reason,
        })?;
        self.newest = Some(taken_at);
        self.track_from.get_or_insert(tick + GRACE);
        let frame = LiveFrame { taken_at, image, located: None };
        self.waiting.push_back(Waiting { header, frame, until: tick + HOLD });
        Ok(())
    }

    /// The next frame, if its pose is known or will not come.
    pub(super) fn next_frame(&mut self, tick: Instant) -> Option<Said> {
        let Waiting { header, until, frame: _ } = self.waiting.front()?;
        let located = self.find(header, tick);
        let is_over = tick >= *until || self.waiting.len() > WAITING_MAX;
        if located.as_ref().is_err_and(NoPose::may_come) && !is_over {
            return None;
        }
        let Waiting { header, mut frame, until: _ } = self.waiting.pop_front()?;
        for known in [&mut self.tree, &mut self.track] {
            known.forget_before(header.stamp.plus(-KEPT));
        }
        Some(match located {
            Err(reason) => Said::Unlocated(frame, reason.to_string()),
            Ok(located) => {
                frame.located = Some(located);
                Said::Frame(frame)
            }
        })
    }

    /// By tf where it names the map, else by the topic of poses.
    fn find(&self, header: &Header, tick: Instant) -> Result<LocatedPose, NoPose> {
        let may_be = self.track_from.is_some_and(|from| tick >= from);
        let is_by_track = may_be && !self.tree.names_map() && !self.track.is_empty();
        if is_by_track { self.track.find(header) } else { self.tree.find(header) }
    }
}

/// When the image was taken, by its stamp.
fn taken_at(stamp: Stamp, now: Timestamp) -> Result<Timestamp, String> {
    if stamp.0 < WALL_CLOCK_FROM {
        return Err(format!(
            "stamps are of a simulation ({stamp} s); accepted are those of the wall clock \
             (use_sim_time: false)"
        ));
    }
    let taken_at = Timestamp::from_micros(stamp.0.div_euclid(1_000));
    let is_near = |at: &Timestamp| at.since(now) <= AHEAD_MAX;
    taken_at.filter(is_near).ok_or_else(|| {
        format!("an image's stamp, {stamp}, is more than a minute later than this clock")
    })
}

fn text(bad: impl std::fmt::Display) -> String {
    bad.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JPEG: [u8; 4] = [0xff, 0xd8, 0xff, 0xe0];
    const CAMERA: (Kind, bool) = (Kind::CompressedImage, false);
    const TF: (Kind, bool) = (Kind::Transforms, false);
    const TF_STATIC: (Kind, bool) = (Kind::Transforms, true);
    const ODOMETRY: (Kind, bool) = (Kind::Odometry, false);

    /// Little-endian CDR, by hand.
    struct Message(Vec<u8>);

    impl Message {
        fn new() -> Self {
            Self(Vec::new())
        }

        fn number(mut self, bytes: &[u8]) -> Self {
            self.0.resize(self.0.len().next_multiple_of(bytes.len()), 0);
            self.0.extend(bytes);
            self
        }

        fn text(self, text: &str) -> Self {
            let count = u32::try_from(text.len() + 1).unwrap();
            let mut message = self.number(&count.to_le_bytes());
            message.0.extend(text.as_bytes());
            message.0.push(0);
            message
        }

        fn header(self, millis: i64, frame: &str) -> Self {
            let seconds = i32::try_from(millis / 1_000).unwrap();
            let nanos = u32::try_from(millis % 1_000 * 1_000_000).unwrap();
            self.number(&seconds.to_le_bytes()).number(&nanos.to_le_bytes()).text(frame)
        }

        fn at(self, x: f64) -> Self {
            let numbers = [x, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
            numbers.iter().fold(self, |message, it| message.number(&it.to_le_bytes()))
        }

        fn bytes(self) -> Vec<u8> {
            [&[0, 1, 0, 0], self.0.as_slice()].concat()
        }
    }

    fn image(millis: i64) -> Vec<u8> {
        let message = Message::new().header(millis, "camera").text("jpeg");
        let mut message = message.number(&4_u32.to_le_bytes());
        message.0.extend(JPEG);
        message.bytes()
    }

    fn transform(millis: i64, parent: &str, child: &str, x: f64) -> Vec<u8> {
        let message = Message::new().number(&1_u32.to_le_bytes());
        message.header(millis, parent).text(child).at(x).bytes()
    }

    fn odometry(millis: i64, x: f64) -> Vec<u8> {
        Message::new().header(millis, "odom").text("base").at(x).bytes()
    }

    const T: i64 = 1_767_225_600_000;

    struct Bench {
        camera: RobotCamera,
        tick: Instant,
    }

    impl Bench {
        #[expect(clippy::disallowed_methods, reason = "an instant to count from")]
        fn new() -> Self {
            let camera = RobotCamera::new("map", ImageLimits::default());
            Self { camera, tick: Instant::now() }
        }

        fn take(&mut self, topic: (Kind, bool), message: &[u8]) -> Result<(), String> {
            let now = Timestamp::from_micros(T * 1_000).unwrap();
            self.camera.take(topic, message, (now, self.tick))
        }

        fn next(&mut self) -> Option<Said> {
            self.camera.next_frame(self.tick)
        }

        #[track_caller]
        fn next_x(&mut self) -> (String, f64) {
            match self.next() {
                Some(Said::Frame(LiveFrame { located: Some(it), .. })) => {
                    (it.frame_id, it.pose.position[0])
                }
                other => panic!("{other:?}"),
            }
        }

        #[track_caller]
        fn next_reason(&mut self) -> String {
            match self.next() {
                Some(Said::Unlocated(_, reason)) => reason,
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn an_image_waits_for_the_transform_behind_it() {
        let mut bench = Bench::new();
        bench.take(TF_STATIC, &transform(T - 90_000, "base", "camera", 0.5)).unwrap();
        bench.take(TF, &transform(T, "map", "base", 1.0)).unwrap();
        bench.take(CAMERA, &image(T + 50)).unwrap();
        bench.take(CAMERA, &image(T + 150)).unwrap();
        assert_eq!(bench.next(), None);
        bench.tick += HOLD / 2;
        bench.take(TF, &transform(T + 100, "map", "base", 2.0)).unwrap();
        assert_eq!(bench.next_x(), ("map".to_owned(), 2.0));
        assert_eq!(bench.next(), None);
        bench.tick += HOLD / 2;
        assert!(bench.next_reason().contains("until"), "the second has waited long enough");
        assert_eq!(bench.next(), None);
    }

    #[test]
    fn no_image_waits_for_what_cannot_come() {
        let mut bench = Bench::new();
        bench.take(TF, &transform(T, "map", "camera", 1.0)).unwrap();
        bench.take(CAMERA, &image(T - 50)).unwrap();
        assert!(bench.next_reason().contains("from"));
    }

    #[test]
    fn odometry_serves_until_tf_names_the_map() {
        let mut bench = Bench::new();
        bench.take(TF, &transform(T, "odom", "camera", 9.0)).unwrap();
        for (millis, x) in [(0, 1.0), (100, 3.0)] {
            bench.take(ODOMETRY, &odometry(T + millis, x)).unwrap();
        }
        bench.take(CAMERA, &image(T + 40)).unwrap();
        bench.tick += HOLD;
        assert!(bench.next_reason().contains("map"), "tf may name it yet");
        bench.tick += GRACE;
        bench.take(CAMERA, &image(T + 50)).unwrap();
        assert_eq!(bench.next_x(), ("odom".to_owned(), 2.0));
        bench.take(TF, &transform(T + 60, "map", "odom", 100.0)).unwrap();
        bench.take(TF, &transform(T + 80, "map", "odom", 100.0)).unwrap();
        bench.take(TF, &transform(T + 80, "odom", "camera", 9.0)).unwrap();
        bench.take(CAMERA, &image(T + 70)).unwrap();
        assert_eq!(bench.next_x(), ("map".to_owned(), 109.0));
    }

    #[test]
    fn a_topic_of_poses_that_was_named_serves_at_once() {
        let mut bench = Bench::new();
        bench.camera.follow_track(bench.tick);
        bench.take(ODOMETRY, &odometry(T, 1.0)).unwrap();
        bench.take(ODOMETRY, &odometry(T + 100, 3.0)).unwrap();
        bench.take(CAMERA, &image(T + 50)).unwrap();
        assert_eq!(bench.next_x(), ("odom".to_owned(), 2.0));
    }

    #[test]
    fn images_that_wait_are_bounded_and_in_order() {
        let mut bench = Bench::new();
        let count = i64::try_from(WAITING_MAX).unwrap() + 3;
        for n in 0..count {
            bench.take(CAMERA, &image(T + n)).unwrap();
        }
        for _ in 0..3 {
            assert!(bench.next_reason().contains("tf names no frame"));
        }
        assert_eq!(bench.next(), None);
    }

    #[test]
    fn stamps_that_cannot_be_are_refused() {
        let mut bench = Bench::new();
        for (message, said) in [
            (image(12_300), "of a simulation (12.300000000 s)"),
            (image(T + 61_000), "more than a minute later"),
            (vec![0, 7, 0, 0], "0x0007"),
            (image(T)[..20].to_vec(), "ends before"),
        ] {
            let error = bench.take(CAMERA, &message).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        bench.take(CAMERA, &image(T)).unwrap();
        let error = bench.take(CAMERA, &image(T)).unwrap_err();
        assert!(error.contains("not later"), "{error}");
        // Without a stamp it was taken now, which is no later than the one before.
        assert!(bench.take(CAMERA, &image(0)).is_err());
        let depth = Message::new().header(T + 1, "camera").text("16UC1; compressedDepth png");
        let depth = depth.number(&0_u32.to_le_bytes()).bytes();
        assert!(bench.take(CAMERA, &depth).unwrap_err().contains("depth"));
    }
}
