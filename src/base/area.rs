//! Area around a place, in the coordinates of one map.

use crate::base::pose::POSITION_LIMIT_METRES;

/// Sphere around a centre, or a vertical cylinder where the centre has no height.
///
/// A pose of another coordinate frame or map, or none, is never inside: coordinates of two maps
/// do not compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Area {
    x: f64,
    y: f64,
    z: Option<f64>,
    radius_metres: f64,
    frame_id: String,
    map_id: String,
}

/// Errors of an area.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadArea {
    #[error(
        "{axis} of the area is {value}, accepted are finite metres within ±{POSITION_LIMIT_METRES}"
    )]
    Centre { axis: char, value: f64 },
    #[error(
        "the area's radius is {value}, accepted are metres above 0, up to {POSITION_LIMIT_METRES}"
    )]
    Radius { value: f64 },
}

impl Area {
    /// `radius` in metres; without `z` heights do not count. `map_id` is empty where there is
    /// one map only, as in a frame's own.
    pub fn new(
        (x, y, z): (f64, f64, Option<f64>),
        radius_metres: f64,
        frame_id: &str,
        map_id: &str,
    ) -> Result<Self, BadArea> {
        for (axis, value) in [('x', x), ('y', y), ('z', z.unwrap_or(0.0))] {
            // Also false for NaN.
            let is_near = value.abs() <= POSITION_LIMIT_METRES;
            if !is_near {
                return Err(BadArea::Centre { axis, value });
            }
        }
        let is_size = radius_metres > 0.0 && radius_metres <= POSITION_LIMIT_METRES;
        if !is_size {
            return Err(BadArea::Radius { value: radius_metres });
        }
        let (frame_id, map_id) = (frame_id.to_owned(), map_id.to_owned());
        Ok(Self { x, y, z, radius_metres, frame_id, map_id })
    }

    /// Centre as it was given.
    pub fn centre(&self) -> (f64, f64, Option<f64>) {
        (self.x, self.y, self.z)
    }

    pub fn frame_id(&self) -> &str {
        &self.frame_id
    }

    pub fn map_id(&self) -> &str {
        &self.map_id
    }

    pub fn radius_metres(&self) -> f64 {
        self.radius_metres
    }

    /// Whether a position of this area's frame and map is inside, its edge included.
    pub fn contains(&self, position: [f64; 3]) -> bool {
        self.distance_metres(position) <= self.radius_metres
    }

    /// Distance from the centre to a position of this area's frame and map.
    pub fn distance_metres(&self, position: [f64; 3]) -> f64 {
        self.length(position)
    }

    /// Least and greatest distance from the centre to a box with these corners.
    pub fn distances_metres(&self, low: [f64; 3], high: [f64; 3]) -> (f64, f64) {
        let centre = [self.x, self.y, self.z.unwrap_or(0.0)];
        let (mut near, mut far) = (centre, centre);
        let sides = low.into_iter().zip(high);
        for ((near, far), (low, high)) in near.iter_mut().zip(&mut far).zip(sides) {
            let at = *near;
            *near = at.clamp(low, high.max(low));
            *far = if (at - low).abs() > (at - high).abs() { low } else { high };
        }
        (self.length(near), self.length(far))
    }

    fn length(&self, [x, y, z]: [f64; 3]) -> f64 {
        let up = self.z.map_or(0.0, |height| z - height);
        (x - self.x).hypot(y - self.y).hypot(up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, proptest};

    fn area(z: Option<f64>) -> Area {
        Area::new((1.0, 2.0, z), 5.0, "map", "home").unwrap()
    }

    #[test]
    fn the_edge_is_inside_and_height_counts_where_it_is_given() {
        assert!(area(None).contains([4.0, 6.0, 99.0]));
        assert!(!area(None).contains([4.1, 6.0, 0.0]));
        assert!(area(Some(9.0)).contains([4.0, 6.0, 9.0]));
        assert!(!area(Some(9.0)).contains([4.0, 6.0, 9.5]));
        assert!(!area(None).contains([f64::NAN, 2.0, 0.0]));
    }

    #[test]
    fn refuses_what_is_no_area() {
        let refused = Area::new((0.0, f64::NAN, None), 1.0, "map", "").unwrap_err();
        assert!(refused.to_string().starts_with("y of the area is NaN"), "{refused}");
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = Area::new((0.0, 0.0, None), radius, "map", "").unwrap_err();
            assert!(matches!(refused, BadArea::Radius { .. }), "{radius}");
        }
    }

    proptest! {
        #[test]
        fn a_box_lies_between_its_nearest_and_its_farthest_point(
            corner in prop::array::uniform3(-9_f64..9.0),
            size in prop::array::uniform3(0_f64..9.0),
            share in prop::array::uniform3(0_f64..=1.0),
            z in prop::option::of(-9_f64..9.0),
        ) {
            let area = Area::new((1.0, -2.0, z), 1.0, "map", "").unwrap();
            let at = |share: [f64; 3]| [0, 1, 2].map(|axis| corner[axis] + size[axis] * share[axis]);
            let (near, far) = area.distances_metres(at([0.0; 3]), at([1.0; 3]));
            let inside = area.distance_metres(at(share));
            assert!(near - 1e-9 <= inside && inside <= far + 1e-9, "{near} {inside} {far}");
            let corners = (0..8).map(|it| at([it & 1, it >> 1 & 1, it >> 2].map(f64::from)));
            let farthest = corners.map(|it| area.distance_metres(it)).fold(0.0, f64::max);
            assert!((farthest - far).abs() < 1e-9);
        }
    }
}
