//! Tree of coordinate frames over time, as ROS' `tf2::BufferCore` has it.
//!
//! Pure. What is known of a frame is where it lies in its parent at some stamps, or at all times
//! (static); between two stamps translations are interpolated linearly and rotations by slerp,
//! beyond the first and the last there is nothing. Kept bounded by [`TransformBuffer::forget_before`].

use std::collections::{BTreeMap, VecDeque};

use crate::capture::recording::messages::{Stamp, Transform, TransformMessage};

/// Frames a tree may have; as many as a hundred robots have.
const FRAMES_MAX: usize = 10_000;
/// Stamps that are kept of one frame: at 1,000 a second, more than a minute and a half.
const SAMPLES_MAX: usize = 100_000;
/// Links between two frames, as tf2 has it: more are a loop.
const DEPTH_MAX: usize = 1_000;
/// How far a rotation's squared length may be from 1, as tf2 has it.
const LENGTH_TOLERANCE: f64 = 0.01;

/// Frames with their parents over time.
#[derive(Debug, Default)]
pub struct TransformBuffer {
    ids: BTreeMap<String, usize>,
    frames: Vec<Frame>,
}

#[derive(Debug)]
struct Frame {
    name: String,
    /// `None` for a frame that was named as a parent only.
    links: Option<Links>,
}

#[derive(Debug)]
enum Links {
    Static(Link),
    /// In the order of stamps, each once.
    Moving(VecDeque<(Stamp, Link)>),
}

/// Where a frame lies in its parent.
#[derive(Debug, Clone, Copy)]
struct Link {
    parent: usize,
    transform: Transform,
}

/// Transforms that are left out, as tf2 leaves them out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadTransform {
    #[error("a transform names no frame or no parent")]
    Nameless,
    #[error("frame {0:?} is its own parent")]
    Own(String),
    #[error("the transform of frame {0:?} is not finite")]
    NotFinite(String),
    #[error("the rotation of frame {frame:?} is {rotation:?}, accepted are unit quaternions")]
    Length { frame: String, rotation: [f64; 4] },
    #[error("there are more than the accepted {FRAMES_MAX} frames")]
    TooManyFrames,
}

/// Why there is no transform between two frames.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoTransform {
    #[error("tf names no frame {0:?}")]
    Unknown(String),
    #[error("tf does not connect {source_frame:?} with {target:?}")]
    Unconnected { target: String, source_frame: String },
    #[error("tf has {frame:?} from {first} only")]
    TooEarly { frame: String, first: Stamp },
    #[error("tf has {frame:?} until {last} only")]
    TooLate { frame: String, last: Stamp },
    #[error("tf's frames go round in a loop at {0:?}")]
    Loop(String),
}

impl TransformBuffer {
    /// Adds a transform; of two of one frame and stamp the first counts.
    pub fn insert(
        &mut self,
        message: &TransformMessage,
        is_static: bool,
    ) -> Result<(), BadTransform> {
        let TransformMessage { header, child, transform } = message;
        let (parent, child) = (bare(&header.frame_id), bare(child));
        if parent.is_empty() || child.is_empty() {
            return Err(BadTransform::Nameless);
        }
        if parent == child {
            return Err(BadTransform::Own(child.to_owned()));
        }
        let Transform { translation, rotation } = transform;
        if !translation.iter().chain(rotation).all(|part| part.is_finite()) {
            return Err(BadTransform::NotFinite(child.to_owned()));
        }
        let length = rotation.iter().map(|part| part * part).sum::<f64>();
        if (length - 1.0).abs() >= LENGTH_TOLERANCE {
            return Err(BadTransform::Length { frame: child.to_owned(), rotation: *rotation });
        }
        let link = Link { parent: self.id_of(parent)?, transform: *transform };
        let id = self.id_of(child)?;
        let Some(frame) = self.frames.get_mut(id) else { return Ok(()) };
        frame.add(header.stamp, link, is_static);
        Ok(())
    }

    /// Transform that takes coordinates of `source` to those of `target`, at `stamp`.
    pub fn lookup(
        &self,
        target: &str,
        source: &str,
        stamp: Stamp,
    ) -> Result<Transform, NoTransform> {
        let id = |name: &str| {
            let name = bare(name);
            self.ids.get(name).copied().ok_or_else(|| NoTransform::Unknown(name.to_owned()))
        };
        let (target_id, source_id) = (id(target)?, id(source)?);
        if target_id == source_id {
            return Ok(IDENTITY);
        }
        let (up, stopped) = self.path_to(target_id, source_id, stamp)?;
        if up.frame == target_id {
            return Ok(up.transform);
        }
        let (down, _) = self.path_to(up.frame, target_id, stamp)?;
        if down.frame != up.frame {
            // A frame without this stamp may hide the way to the common parent.
            return Err(stopped.or_else(|| self.gap_at(down.frame, stamp)).unwrap_or_else(|| {
                NoTransform::Unconnected {
                    target: bare(target).to_owned(),
                    source_frame: bare(source).to_owned(),
                }
            }));
        }
        Ok(product(inverse(down.transform), up.transform))
    }

    /// Forgets what lies before `stamp`, but the last of it, which the next ones are
    /// interpolated with.
    pub fn forget_before(&mut self, stamp: Stamp) {
        for frame in &mut self.frames {
            if let Some(Links::Moving(samples)) = &mut frame.links {
                let earlier = samples.partition_point(|(at, _)| *at < stamp);
                samples.drain(..earlier.saturating_sub(1));
            }
        }
    }

    /// Names of all frames, in order.
    pub fn frames(&self) -> impl Iterator<Item = &str> {
        self.ids.keys().map(String::as_str)
    }

    pub fn has_frame(&self, name: &str) -> bool {
        self.ids.contains_key(bare(name))
    }

    /// The way from frame `from` upwards, until `goal` or where it ends; with the reason, where
    /// it ends for want of this stamp.
    fn path_to(
        &self,
        goal: usize,
        from: usize,
        stamp: Stamp,
    ) -> Result<(Way, Option<NoTransform>), NoTransform> {
        let mut way = Way { frame: from, transform: IDENTITY };
        for _ in 0..DEPTH_MAX {
            let Some(frame) = self.frames.get(way.frame) else { break };
            if way.frame == goal || frame.links.is_none() {
                return Ok((way, None));
            }
            match frame.link_at(stamp) {
                Ok(link) => {
                    way.transform = product(link.transform, way.transform);
                    way.frame = link.parent;
                }
                Err(gap) => return Ok((way, Some(gap))),
            }
        }
        Err(NoTransform::Loop(self.frames.get(from).map(|it| it.name.clone()).unwrap_or_default()))
    }

    fn gap_at(&self, frame: usize, stamp: Stamp) -> Option<NoTransform> {
        let frame = self.frames.get(frame)?;
        frame.links.as_ref()?;
        frame.link_at(stamp).err()
    }

    fn id_of(&mut self, name: &str) -> Result<usize, BadTransform> {
        if let Some(id) = self.ids.get(name) {
            return Ok(*id);
        }
        if self.frames.len() >= FRAMES_MAX {
            return Err(BadTransform::TooManyFrames);
        }
        self.ids.insert(name.to_owned(), self.frames.len());
        self.frames.push(Frame { name: name.to_owned(), links: None });
        Ok(self.frames.len() - 1)
    }
}

/// Where a way upwards has come to.
struct Way {
    frame: usize,
    transform: Transform,
}

impl Frame {
    fn add(&mut self, stamp: Stamp, link: Link, is_static: bool) {
        let links = self.links.get_or_insert_with(|| {
            if is_static { Links::Static(link) } else { Links::Moving(VecDeque::new()) }
        });
        match links {
            Links::Static(known) => *known = link,
            Links::Moving(samples) => {
                let at = samples.partition_point(|(known, _)| *known < stamp);
                if samples.get(at).is_none_or(|(known, _)| *known != stamp) {
                    samples.insert(at, (stamp, link));
                }
                if samples.len() > SAMPLES_MAX {
                    samples.pop_front();
                }
            }
        }
    }

    fn link_at(&self, stamp: Stamp) -> Result<Link, NoTransform> {
        let samples = match &self.links {
            None => return Err(NoTransform::Unknown(self.name.clone())),
            Some(Links::Static(link)) => return Ok(*link),
            Some(Links::Moving(samples)) => samples,
        };
        let at = samples.partition_point(|(known, _)| *known < stamp);
        let frame = || self.name.clone();
        match (at.checked_sub(1).and_then(|before| samples.get(before)), samples.get(at)) {
            (_, Some((known, link))) if *known == stamp => Ok(*link),
            (Some((earlier, one)), Some((later, two))) => {
                // A frame that changed its parent is where it was before.
                if one.parent != two.parent {
                    return Ok(*one);
                }
                #[expect(clippy::cast_precision_loss, reason = "a ratio of nanoseconds")]
                let ratio = stamp.since(*earlier) as f64 / later.since(*earlier) as f64;
                let transform = interpolate(&one.transform, &two.transform, ratio);
                Ok(Link { parent: one.parent, transform })
            }
            (None, Some((first, _))) => {
                Err(NoTransform::TooEarly { frame: frame(), first: *first })
            }
            (Some((last, _)), None) => Err(NoTransform::TooLate { frame: frame(), last: *last }),
            (None, None) => Err(NoTransform::Unknown(frame())),
        }
    }
}

const IDENTITY: Transform = Transform { translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };

/// Names of ROS 1 may begin with a slash.
fn bare(frame: &str) -> &str {
    frame.strip_prefix('/').unwrap_or(frame)
}

/// What lies at `ratio` between two transforms, from 0 to 1.
pub fn interpolate(one: &Transform, two: &Transform, ratio: f64) -> Transform {
    let mut translation = one.translation;
    for (part, end) in translation.iter_mut().zip(two.translation) {
        *part += (end - *part) * ratio;
    }
    Transform { translation, rotation: slerp(one.rotation, two.rotation, ratio) }
}

/// Spherical interpolation by the shorter way.
fn slerp(one: [f64; 4], two: [f64; 4], ratio: f64) -> [f64; 4] {
    let dot = |a: &[f64; 4], b: &[f64; 4]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let cosine = dot(&one, &two) / (dot(&one, &one) * dot(&two, &two)).sqrt();
    let sign = if cosine < 0.0 { -1.0 } else { 1.0 };
    let angle = cosine.abs().clamp(0.0, 1.0).acos();
    let sine = angle.sin();
    // Closer than a millionth of a degree, the first is as good.
    if sine < 1e-9 {
        return one;
    }
    let (from, to) = (((1.0 - ratio) * angle).sin() / sine, (ratio * angle).sin() / sine * sign);
    let mut between = one;
    for (part, end) in between.iter_mut().zip(two) {
        *part = *part * from + end * to;
    }
    between
}

/// First `second`, then `first`.
pub fn product(first: Transform, second: Transform) -> Transform {
    let mut translation = rotate(first.rotation, second.translation);
    for (part, shift) in translation.iter_mut().zip(first.translation) {
        *part += shift;
    }
    Transform { translation, rotation: multiply(first.rotation, second.rotation) }
}

/// What leads back.
pub fn inverse(Transform { translation, rotation }: Transform) -> Transform {
    let turned_back = conjugate(rotation);
    let translation = rotate(turned_back, translation.map(|part| -part));
    Transform { translation, rotation: turned_back }
}

fn conjugate([x, y, z, w]: [f64; 4]) -> [f64; 4] {
    [-x, -y, -z, w]
}

/// Hamilton's product of two quaternions (x, y, z, w).
fn multiply([ax, ay, az, aw]: [f64; 4], [bx, by, bz, bw]: [f64; 4]) -> [f64; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// A vector turned by a unit quaternion.
pub fn rotate(rotation: [f64; 4], [x, y, z]: [f64; 3]) -> [f64; 3] {
    let [x, y, z, _] = multiply(multiply(rotation, [x, y, z, 0.0]), conjugate(rotation));
    [x, y, z]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::recording::messages::Header;
    use std::f64::consts::FRAC_1_SQRT_2;

    fn turned(z: f64, w: f64) -> [f64; 4] {
        [0.0, 0.0, z, w]
    }

    fn message(
        parent: &str,
        child: &str,
        seconds: i64,
        translation: [f64; 3],
        rotation: [f64; 4],
    ) -> TransformMessage {
        let header = Header { stamp: Stamp::new(seconds, 0), frame_id: parent.to_owned() };
        let transform = Transform { translation, rotation };
        TransformMessage { header, child: child.to_owned(), transform }
    }

    fn straight(parent: &str, child: &str, seconds: i64, x: f64) -> TransformMessage {
        message(parent, child, seconds, [x, 0.0, 0.0], turned(0.0, 1.0))
    }

    fn buffer(moving: &[TransformMessage], fixed: &[TransformMessage]) -> TransformBuffer {
        let mut buffer = TransformBuffer::default();
        for message in moving {
            buffer.insert(message, false).unwrap();
        }
        for message in fixed {
            buffer.insert(message, true).unwrap();
        }
        buffer
    }

    fn at(seconds: i64) -> Stamp {
        Stamp::new(seconds, 0)
    }

    fn x_of(buffer: &TransformBuffer, stamp: Stamp) -> Result<f64, NoTransform> {
        buffer.lookup("map", "camera", stamp).map(|it| it.translation[0])
    }

    #[test]
    fn between_two_stamps_the_way_is_interpolated_and_beyond_there_is_none() {
        let moving = [straight("map", "base", 20, 4.0), straight("map", "base", 10, 2.0)];
        let buffer = buffer(&moving, &[straight("base", "camera", 0, 1.0)]);
        assert_eq!(x_of(&buffer, at(10)), Ok(3.0));
        assert_eq!(x_of(&buffer, Stamp::new(12, 500_000_000)), Ok(3.5));
        assert_eq!(x_of(&buffer, at(20)), Ok(5.0));
        let frame = "base".to_owned();
        let early = NoTransform::TooEarly { frame: frame.clone(), first: at(10) };
        assert_eq!(x_of(&buffer, at(9)), Err(early));
        assert_eq!(x_of(&buffer, at(21)), Err(NoTransform::TooLate { frame, last: at(20) }));
    }

    #[test]
    fn rotations_turn_by_the_shorter_way() {
        let half = turned(FRAC_1_SQRT_2, FRAC_1_SQRT_2);
        // The same rotation, written with the other sign.
        let other = half.map(|part| -part);
        for end in [half, other] {
            let moving = [
                message("map", "camera", 0, [0.0; 3], turned(0.0, 1.0)),
                message("map", "camera", 2, [0.0; 3], end),
            ];
            let middle = buffer(&moving, &[]).lookup("map", "camera", at(1)).unwrap().rotation;
            let expect =
                turned((0.125 * std::f64::consts::TAU / 2.0).sin(), 0.923_879_532_511_286_7);
            for (part, expect) in middle.iter().zip(expect) {
                assert!((part - expect).abs() < 1e-12, "{middle:?}");
            }
        }
    }

    #[test]
    fn the_way_goes_up_and_down_the_tree() {
        let turn = message("base", "camera", 0, [1.0, 0.0, 0.0], turned(1.0, 0.0));
        let fixed = [straight("map", "base", 0, 2.0), turn, straight("map", "dock", 0, 7.0)];
        let buffer = buffer(&[], &fixed);
        let found = buffer.lookup("camera", "dock", at(5)).unwrap();
        // The dock is 4 m before the camera's place, and the camera looks back.
        assert!((found.translation[0] + 4.0).abs() < 1e-12, "{found:?}");
        assert_eq!(buffer.lookup("map", "map", at(5)), Ok(IDENTITY));
    }

    #[test]
    fn what_is_not_connected_or_known_is_said() {
        let buffer =
            buffer(&[straight("world", "arm", 1, 1.0)], &[straight("map", "camera", 0, 1.0)]);
        assert_eq!(
            buffer.lookup("map", "lidar", at(1)),
            Err(NoTransform::Unknown("lidar".to_owned()))
        );
        let error = buffer.lookup("map", "arm", at(1)).unwrap_err();
        assert!(matches!(error, NoTransform::Unconnected { .. }), "{error}");
        let error = buffer.lookup("map", "arm", at(2)).unwrap_err();
        assert!(matches!(error, NoTransform::TooLate { .. }), "{error}");
        assert_eq!(buffer.frames().collect::<Vec<_>>(), ["arm", "camera", "map", "world"]);
    }

    #[test]
    fn loops_end() {
        let round =
            [straight("a", "b", 0, 1.0), straight("b", "c", 0, 1.0), straight("c", "a", 0, 1.0)];
        let buffer = buffer(&[], &[&round[..], &[straight("map", "x", 0, 1.0)]].concat());
        assert_eq!(buffer.lookup("map", "b", at(0)), Err(NoTransform::Loop("b".to_owned())));
    }

    #[test]
    fn slashes_of_old_names_and_repeated_stamps_are_passed_over() {
        let moving = [
            straight("/map", "/camera", 1, 1.0),
            straight("map", "camera", 1, 9.0),
            straight("map", "camera", 2, 2.0),
        ];
        assert_eq!(x_of(&buffer(&moving, &[]), at(1)), Ok(1.0));
    }

    #[test]
    fn what_is_no_transform_is_refused() {
        let mut buffer = TransformBuffer::default();
        let mut refuse = |message: &TransformMessage| buffer.insert(message, false).unwrap_err();
        assert_eq!(refuse(&straight("", "a", 0, 0.0)), BadTransform::Nameless);
        assert_eq!(refuse(&straight("a", "/a", 0, 0.0)), BadTransform::Own("a".to_owned()));
        let error = refuse(&straight("a", "b", 0, f64::NAN));
        assert_eq!(error, BadTransform::NotFinite("b".to_owned()));
        let error = refuse(&message("a", "b", 0, [0.0; 3], [0.0; 4]));
        assert!(matches!(error, BadTransform::Length { .. }), "{error}");
    }

    #[test]
    fn forgetting_keeps_what_the_rest_is_interpolated_with() {
        let moving: Vec<_> = (0..10).map(|s| straight("map", "camera", s, s as f64)).collect();
        let mut buffer = buffer(&moving, &[]);
        buffer.forget_before(Stamp::new(5, 500_000_000));
        assert_eq!(x_of(&buffer, Stamp::new(5, 500_000_000)), Ok(5.5));
        let error = x_of(&buffer, at(4)).unwrap_err();
        assert!(matches!(error, NoTransform::TooEarly { .. }), "{error}");
    }
}
