//! Pose of the robot at a frame.

/// The robot's pose in the frame of reference that the observation names.
///
/// Right-handed, z up, as in ROS REP-103.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Metres.
    pub position: [f64; 3],
    /// Radians, counter-clockwise from the x axis, in (−π, π]. `None` when the
    /// robot knew its place but not its heading.
    pub heading: Option<f64>,
}

/// Errors of a pose.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadPose {
    #[error("position[{axis}] is {value}, accepted are finite metres within ±{limit}", limit = POSITION_LIMIT_METRES)]
    Position { axis: usize, value: f64 },
    #[error("theta is {value}, accepted is a finite number of radians")]
    Heading { value: f64 },
}

/// Largest coordinate: far beyond any map, and positions stay exact to a millimetre.
pub const POSITION_LIMIT_METRES: f64 = 1e9;

impl Pose {
    /// Checks the numbers and brings the heading into (−π, π].
    pub fn new(position: [f64; 3], heading: Option<f64>) -> Result<Self, BadPose> {
        for (axis, value) in position.into_iter().enumerate() {
            // Also false for NaN.
            let is_near = value.abs() <= POSITION_LIMIT_METRES;
            if !is_near {
                return Err(BadPose::Position { axis, value });
            }
        }
        let heading = match heading {
            Some(value) if !value.is_finite() => return Err(BadPose::Heading { value }),
            Some(value) => Some(wrap_radians(value)),
            None => None,
        };
        Ok(Self { position, heading })
    }

    /// Straight-line distance in metres.
    pub fn distance_metres(&self, other: &Self) -> f64 {
        metres_between(self.position, other.position)
    }

    /// Smallest turn between the two headings in radians, in 0..=π; `None`
    /// where either is unknown.
    pub fn turn_radians(&self, other: &Self) -> Option<f64> {
        Some(wrap_radians(self.heading? - other.heading?).abs())
    }
}

/// Straight-line distance of two positions of one map.
pub fn metres_between(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Heading of a unit quaternion (x, y, z, w) about the z axis, in radians.
///
/// `None` when the quaternion has no direction (all zero or not finite).
pub fn heading_of_quaternion([x, y, z, w]: [f64; 4]) -> Option<f64> {
    let norm = x * x + y * y + z * z + w * w;
    if !norm.is_finite() || norm < 1e-12 {
        return None;
    }
    Some((2.0 * (w * z + x * y)).atan2(w * w + x * x - y * y - z * z))
}

/// Heading in which a camera looks whose optical frame (z forward, x right, y down, as REP-103
/// has it) has this unit quaternion (x, y, z, w).
///
/// `None` where it looks up or down, to within three degrees.
pub fn heading_of_optical_frame([x, y, z, w]: [f64; 4]) -> Option<f64> {
    const LEVEL_MIN: f64 = 0.05;
    let (forward_x, forward_y) = (2.0 * (x * z + w * y), 2.0 * (y * z - w * x));
    (forward_x.hypot(forward_y) >= LEVEL_MIN).then(|| forward_y.atan2(forward_x))
}

/// Turn from one heading to another the short way round, in (−π, π].
pub fn turn_between(from: f64, to: f64) -> f64 {
    wrap_radians(to - from)
}

fn wrap_radians(radians: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    let turned = radians.rem_euclid(TAU);
    if turned > PI { turned - TAU } else { turned }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    #[test]
    fn headings_are_wrapped() {
        let pose = Pose::new([0.0; 3], Some(3.0 * PI)).unwrap();
        assert!((pose.heading.unwrap() - PI).abs() < 1e-9);
        let near = Pose::new([0.0; 3], Some(-PI + 0.1)).unwrap();
        assert!((pose.turn_radians(&near).unwrap() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn refuses_numbers_that_are_no_place() {
        let nan = Pose::new([0.0, f64::NAN, 0.0], None);
        assert!(matches!(nan, Err(BadPose::Position { axis: 1, .. })));
        assert!(matches!(
            Pose::new([0.0, 0.0, 1e12], None),
            Err(BadPose::Position { axis: 2, .. })
        ));
        let heading = Pose::new([0.0; 3], Some(f64::INFINITY));
        assert!(matches!(heading, Err(BadPose::Heading { .. })));
    }

    #[test]
    fn a_camera_looks_along_its_z_axis() {
        // From x forward, y left, z up to z forward, x right, y down.
        let heading = heading_of_optical_frame([-0.5, 0.5, -0.5, 0.5]).unwrap();
        assert!(heading.abs() < 1e-12);
        assert_eq!(heading_of_optical_frame([0.0, 0.0, 0.0, 1.0]), None, "it looks up");
    }

    #[test]
    fn quaternion_about_z_gives_its_angle() {
        let half = FRAC_PI_2 / 2.0;
        let heading = heading_of_quaternion([0.0, 0.0, half.sin(), half.cos()]).unwrap();
        assert!((heading - FRAC_PI_2).abs() < 1e-12);
        assert_eq!(heading_of_quaternion([0.0; 4]), None);
    }
}
