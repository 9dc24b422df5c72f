//! Thing that a captioner found in an image, and where in it.

/// One found thing.
#[derive(Debug, Clone, PartialEq)]
pub struct DetectedObject {
    /// The captioner's name for it, in the singular: "wine glass".
    pub name: String,
    /// How sure the captioner is that it is there, from 0 to 1.
    pub score: f32,
    pub place: BoundingBox,
}

/// Upright rectangle in an image, in shares of its width and height from the upper left
/// corner: `left` and `right` from 0 to 1 to the right, `top` and `bottom` from 0 to 1 down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundingBox {
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
}

impl BoundingBox {
    /// Cut at the image's edges.
    #[must_use]
    pub fn within_image(self) -> Self {
        let Self { left, top, right, bottom } = self;
        let inside = |share: f32| share.clamp(0.0, 1.0);
        Self { left: inside(left), top: inside(top), right: inside(right), bottom: inside(bottom) }
    }

    pub fn width(self) -> f32 {
        (self.right - self.left).max(0.0)
    }

    pub fn height(self) -> f32 {
        (self.bottom - self.top).max(0.0)
    }

    /// Share of the image that it covers.
    pub fn area(self) -> f32 {
        self.width() * self.height()
    }

    /// Share of the image that both cover.
    pub fn shared_area(self, other: Self) -> f32 {
        let both = Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        both.area()
    }

    /// Intersection over union: 1 for the same box, 0 for boxes apart.
    pub fn overlap(self, other: Self) -> f32 {
        let shared = self.shared_area(other);
        let union = self.area() + other.area() - shared;
        if union > 0.0 { shared / union } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(left: f32, top: f32, right: f32, bottom: f32) -> BoundingBox {
        BoundingBox { left, top, right, bottom }
    }

    #[test]
    fn overlap_is_intersection_over_union() {
        let left = place(0.0, 0.0, 0.5, 1.0);
        assert!((left.overlap(left) - 1.0).abs() < 1e-6);
        assert!((left.overlap(place(0.25, 0.0, 0.75, 1.0)) - 1.0 / 3.0).abs() < 1e-6);
        assert!(left.overlap(place(0.5, 0.0, 1.0, 1.0)).abs() < 1e-6);
        let empty = place(0.3, 0.3, 0.3, 0.3);
        assert!(empty.overlap(empty).abs() < 1e-6);
    }

    #[test]
    fn what_leaves_the_image_is_cut() {
        let cut = place(-0.2, 0.1, 1.5, 1.01).within_image();
        assert_eq!(cut, place(0.0, 0.1, 1.0, 1.0));
    }
}
