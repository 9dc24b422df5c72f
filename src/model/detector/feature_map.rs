//! Square map of features, the channels of a pixel side by side, and what a network does with
//! one beside convolving it. Knows no weights.

/// Values by row, column and channel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FeatureMap {
    pub(super) side: usize,
    pub(super) channels: usize,
    pub(super) values: Vec<f32>,
}

impl FeatureMap {
    /// With a border of one pixel, so that every window of three lies inside.
    pub(super) fn pad(&self, border: f32) -> Self {
        let Self { side, channels, values } = self;
        let (wide, row) = (side + 2, side * channels);
        let mut padded = Vec::with_capacity(wide * wide * channels);
        padded.resize(wide * channels, border);
        for row in values.chunks_exact(row.max(1)) {
            padded.resize(padded.len() + channels, border);
            padded.extend_from_slice(row);
            padded.resize(padded.len() + channels, border);
        }
        padded.resize(wide * wide * channels, border);
        Self { side: wide, channels: *channels, values: padded }
    }

    /// Channels of `self`, then those of `other`.
    pub(super) fn concat(&self, other: &Self) -> Self {
        let mut values = Vec::with_capacity(self.values.len() + other.values.len());
        for (own, others) in self.pixels().zip(other.pixels()) {
            values.extend_from_slice(own);
            values.extend_from_slice(others);
        }
        Self { side: self.side, channels: self.channels + other.channels, values }
    }

    pub(super) fn plus(mut self, other: &Self) -> Self {
        self.values.iter_mut().zip(&other.values).for_each(|(own, other)| *own += other);
        self
    }

    /// Largest of each window of three by three, at every second pixel.
    pub(super) fn max_pooled(&self) -> Self {
        let padded = self.pad(f32::NEG_INFINITY);
        let side = self.side.div_ceil(2);
        let mut values = vec![f32::NEG_INFINITY; side * side * self.channels];
        for (at, pooled) in values.chunks_exact_mut(self.channels.max(1)).enumerate() {
            let (row, column) = (2 * (at / side), 2 * (at % side));
            for near in 0..9 {
                let pixel = padded.pixel(row + near / 3, column + near % 3);
                pooled.iter_mut().zip(pixel).for_each(|(most, it)| *most = most.max(*it));
            }
        }
        Self { side, channels: self.channels, values }
    }

    /// Bilinear, pixels at their centres, without antialiasing: TensorFlow's `ResizeBilinear`
    /// with `half_pixel_centers`.
    pub(super) fn resize(&self, side: usize) -> Self {
        let taps: Vec<Tap> = (0..side).map(|at| Tap::of(at, self.side, side)).collect();
        let mut values = Vec::with_capacity(side * side * self.channels);
        for row in &taps {
            for column in &taps {
                let corners = [
                    self.pixel(row.before, column.before),
                    self.pixel(row.before, column.after),
                    self.pixel(row.after, column.before),
                    self.pixel(row.after, column.after),
                ];
                let [a, b, c, d] = corners.map(<[f32]>::iter);
                let blended = a.zip(b).zip(c.zip(d)).map(|((a, b), (c, d))| {
                    let (top, bottom) = (a + (b - a) * column.share, c + (d - c) * column.share);
                    top + (bottom - top) * row.share
                });
                values.extend(blended);
            }
        }
        Self { side, channels: self.channels, values }
    }

    pub(super) fn pixels(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.channels.max(1))
    }

    fn pixel(&self, row: usize, column: usize) -> &[f32] {
        self.run(row, column, 1)
    }

    /// Pixels of a row that lie side by side; nothing where they leave the map.
    pub(super) fn run(&self, row: usize, column: usize, pixels: usize) -> &[f32] {
        let start = (row * self.side + column) * self.channels;
        self.values.get(start..start + pixels * self.channels).unwrap_or_default()
    }
}

/// The two pixels between which a new one lies, and how near it is to the second.
struct Tap {
    before: usize,
    after: usize,
    share: f32,
}

impl Tap {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sides of maps are hundreds of pixels; what is below 0 becomes 0"
    )]
    fn of(at: usize, from: usize, to: usize) -> Self {
        let place = ((at as f32 + 0.5) * from as f32 / to as f32 - 0.5).max(0.0);
        let before = (place as usize).min(from.saturating_sub(1));
        let after = (before + 1).min(from.saturating_sub(1));
        Self { before, after, share: place - before as f32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(side: usize, values: &[f32]) -> FeatureMap {
        let channels = values.len() / (side * side);
        FeatureMap { side, channels, values: values.to_vec() }
    }

    #[test]
    fn a_border_lies_on_all_sides() {
        let padded = map(1, &[1.0, 2.0]).pad(9.0);
        let mut expect = [9.0; 18];
        expect[8..10].copy_from_slice(&[1.0, 2.0]);
        assert_eq!(padded, map(3, &expect));
    }

    #[test]
    fn channels_are_joined_pixel_by_pixel() {
        let (a, b) = (map(2, &[1.0, 2.0, 3.0, 4.0]), map(2, &[5.0, 6.0, 7.0, 8.0]));
        assert_eq!(a.concat(&b), map(2, &[1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0]));
        assert_eq!(a.plus(&b), map(2, &[6.0, 8.0, 10.0, 12.0]));
    }

    #[test]
    fn pooling_takes_the_largest_of_nine_and_no_border() {
        let values: Vec<f32> = (0..16).map(|it| -1.0 - it as f32).collect();
        assert_eq!(map(4, &values).max_pooled(), map(2, &[-1.0, -2.0, -5.0, -6.0]));
    }

    #[test]
    fn resizing_blends_between_the_centres_of_pixels() {
        let two = map(2, &[0.0, 4.0, 8.0, 12.0]);
        assert_eq!(two.resize(1), map(1, &[6.0]));
        let doubled = two.resize(4);
        assert_eq!(doubled.values[..4], [0.0, 1.0, 3.0, 4.0]);
        assert_eq!(doubled.values[4..8], [2.0, 3.0, 5.0, 6.0]);
        assert_eq!(doubled.values[12..], [8.0, 9.0, 11.0, 12.0]);
    }
}
