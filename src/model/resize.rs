//! Resizing exactly as Pillow does it, on which vision models were trained.
//!
//! Pillow's filter differs from those of the `image` crate where it matters: weights in fixed
//! point, and rounding to bytes between the two passes.

use image::RgbImage;

/// Bits after the point of a weight.
const PRECISION_BITS: u32 = 22;

/// Filter of a resize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResizeFilter {
    Bilinear,
    Bicubic,
    Lanczos,
}

impl ResizeFilter {
    /// Reach to either side, in pixels of the coarser image.
    fn support(self) -> f64 {
        match self {
            Self::Bilinear => 1.0,
            Self::Bicubic => 2.0,
            Self::Lanczos => 3.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        match self {
            Self::Bilinear => (1.0 - x.abs()).max(0.0),
            Self::Bicubic => cubic(x),
            Self::Lanczos => lanczos(x),
        }
    }
}

/// `image` as a square of `side` pixels, with antialiasing where it shrinks.
pub(crate) fn square(image: &RgbImage, side: u32, filter: ResizeFilter) -> RgbImage {
    resized(image, (side, side), filter)
}

/// `image` with this width and height, with antialiasing where it shrinks.
pub(crate) fn resized(image: &RgbImage, size: (u32, u32), filter: ResizeFilter) -> RgbImage {
    let (width, height) = size;
    if columns_come_first(image.dimensions(), size) {
        let flat = transpose(&resize_rows(&transpose(image), height, filter));
        resize_rows(&flat, width, filter)
    } else {
        let narrow = resize_rows(image, width, filter);
        transpose(&resize_rows(&transpose(&narrow), height, filter))
    }
}

/// Pillow 13 begins with the rows' direction, but with the columns' where an image loses height,
/// and more than twice of what it loses of its width (found by comparing 1,500 sizes). It shows
/// by a few levels, because the first pass rounds and clamps.
fn columns_come_first(from: (u32, u32), to: (u32, u32)) -> bool {
    let lost = |from: u32, to: u32| i64::from(from) - i64::from(to);
    let (width, height) = (lost(from.0, to.0), lost(from.1, to.1));
    height > 0 && height > 2 * width
}

/// Every row resized to `width`.
fn resize_rows(image: &RgbImage, width: u32, filter: ResizeFilter) -> RgbImage {
    if image.width() == width {
        return image.clone();
    }
    let taps = filter_taps(image.width(), width, filter);
    let row_bytes = 3 * image.width() as usize;
    let mut resized = Vec::with_capacity(3 * width as usize * image.height() as usize);
    for row in image.as_raw().chunks_exact(row_bytes) {
        for tap in &taps {
            resized.extend(tap.pixel_of(row));
        }
    }
    RgbImage::from_raw(width, image.height(), resized).unwrap_or_default()
}

fn transpose(image: &RgbImage) -> RgbImage {
    RgbImage::from_fn(image.height(), image.width(), |x, y| *image.get_pixel(y, x))
}

/// Filter taps of one new pixel: source pixels and their weights.
struct FilterTaps {
    first: usize,
    weights: Vec<i32>,
}

impl FilterTaps {
    fn pixel_of(&self, row: &[u8]) -> [u8; 3] {
        let mut sums = [1 << (PRECISION_BITS - 1); 3];
        let (pixels, _) = row.as_chunks::<3>();
        for (pixel, weight) in pixels.iter().skip(self.first).zip(&self.weights) {
            for (sum, value) in sums.iter_mut().zip(pixel) {
                *sum += i32::from(*value) * weight;
            }
        }
        sums.map(|sum| u8::try_from((sum >> PRECISION_BITS).clamp(0, 255)).unwrap_or(u8::MAX))
    }
}

fn filter_taps(from: u32, to: u32, filter: ResizeFilter) -> Vec<FilterTaps> {
    let scale = f64::from(from) / f64::from(to);
    let centres = (0..to).map(|place| (f64::from(place) + 0.5) * scale);
    centres.map(|centre| taps_at(from, centre, scale.max(1.0), filter)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as the reference: bounds lie between 0 and the image's width, weights between -1 and 1"
)]
fn taps_at(from: u32, centre: f64, stretch: f64, filter: ResizeFilter) -> FilterTaps {
    let reach = filter.support() * stretch;
    let first = (centre - reach + 0.5).max(0.0) as u32;
    let end = ((centre + reach + 0.5) as u32).min(from);
    let weight = |pixel: u32| filter.weight((f64::from(pixel) - centre + 0.5) / stretch);
    let raw: Vec<f64> = (first..end).map(weight).collect();
    let sum: f64 = raw.iter().sum();
    let fixed = |weight: f64| (weight / sum * f64::from(1 << PRECISION_BITS)).round() as i32;
    FilterTaps { first: first as usize, weights: raw.into_iter().map(fixed).collect() }
}

/// Keys' cubic with a = −½.
fn cubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

/// Sinc, cut by a wider one that ends at 3.
fn lanczos(x: f64) -> f64 {
    if x.abs() < 3.0 { sinc(x) * sinc(x / 3.0) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    let angle = x * std::f64::consts::PI;
    if angle == 0.0 { 1.0 } else { angle.sin() / angle }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    const FILTERS: [ResizeFilter; 3] =
        [ResizeFilter::Bilinear, ResizeFilter::Bicubic, ResizeFilter::Lanczos];

    #[test]
    fn the_same_size_is_the_same_image() {
        let image = RgbImage::from_fn(7, 7, |x, y| {
            Rgb([x, y, x * y].map(|level| u8::try_from(level).unwrap()))
        });
        for filter in FILTERS {
            assert_eq!(square(&image, 7, filter), image);
        }
    }

    #[test]
    fn a_plain_image_stays_plain_in_any_size() {
        let plain = Rgb([0, 255, 77]);
        for (width, height) in [(1, 1), (13, 4), (4, 300), (640, 480)] {
            let image = RgbImage::from_pixel(width, height, plain);
            for filter in FILTERS {
                assert_eq!(square(&image, 16, filter), RgbImage::from_pixel(16, 16, plain));
            }
        }
    }

    #[test]
    fn weights_of_a_tap_sum_to_one() {
        for filter in FILTERS {
            for tap in [(640, 128), (20, 128)].iter().flat_map(|(a, b)| filter_taps(*a, *b, filter))
            {
                let sum: i32 = tap.weights.iter().sum();
                assert!((sum - (1 << PRECISION_BITS)).abs() < 64, "{sum}");
            }
        }
    }
}
