//! Thumbnail signature that measures the change between two frames of a standing camera.
//!
//! Knows pixels only; the gate decides what a change means.

use image::RgbImage;

/// Mean colour of each cell of a 32×32 grid.
///
/// In colour, because a red mug exchanged for a green one can keep every
/// luminance: by luminance alone one recoloured object in nine went unseen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature(Box<[u8]>);

const GRID: u32 = 32;
const CHANNELS: usize = 3;
/// Largest common change that counts as exposure, in levels of 255; beyond it somebody switched
/// the light.
const EXPOSURE_MAX: i16 = 32;
const BYTES: usize = (GRID * GRID) as usize * CHANNELS;

impl Signature {
    pub fn of(image: &RgbImage) -> Self {
        let mut means = Vec::with_capacity(BYTES);
        for row in 0..GRID {
            for column in 0..GRID {
                means.extend(mean_colour(image, row, column));
            }
        }
        Self(means.into_boxed_slice())
    }

    /// Signature from its stored bytes; `None` where another build made them differently.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == BYTES).then(|| Self(bytes.into()))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Largest change of any cell in any channel, as a share of the full range: 0 for none, 1
    /// for black to white. A small change common to the whole picture (exposure, white balance)
    /// is subtracted first. The maximum and not the mean: one object fills few cells.
    pub fn change_since(&self, earlier: &Self) -> f32 {
        let changes = (0..CHANNELS).map(|channel| largest_change(&self.0, &earlier.0, channel));
        f32::from(changes.max().unwrap_or(u8::MAX)) / f32::from(u8::MAX)
    }
}

fn mean_colour(image: &RgbImage, row: u32, column: u32) -> [u8; CHANNELS] {
    let (rows, columns) = (span(row, image.height()), span(column, image.width()));
    let (mut sums, mut count) = ([0_u64; CHANNELS], 0_u64);
    for y in rows {
        for x in columns.clone() {
            // A camera gives no empty frame; if one comes, its cells are black.
            let Some(pixel) = image.get_pixel_checked(x, y) else { continue };
            for (sum, value) in sums.iter_mut().zip(pixel.0) {
                *sum += u64::from(value);
            }
            count += 1;
        }
    }
    sums.map(|sum| u8::try_from((sum + count / 2) / count.max(1)).unwrap_or(u8::MAX))
}

/// Pixel range of one cell along one side; at least one, also where the picture has fewer
/// pixels than the grid has cells.
fn span(cell: u32, pixels: u32) -> std::ops::Range<u32> {
    let at = |cell: u32| {
        let edge = u64::from(cell) * u64::from(pixels) / u64::from(GRID);
        u32::try_from(edge).unwrap_or(u32::MAX)
    };
    let start = at(cell);
    start..at(cell + 1).max(start + 1)
}

fn largest_change(now: &[u8], earlier: &[u8], channel: usize) -> u8 {
    let of = |cells: &[u8]| -> Vec<i16> {
        cells.iter().skip(channel).step_by(CHANNELS).map(|value| i16::from(*value)).collect()
    };
    let mut changes: Vec<i16> =
        of(now).into_iter().zip(of(earlier)).map(|(now, earlier)| now - earlier).collect();
    let middle = changes.len() / 2;
    let (_, common, _) = changes.select_nth_unstable(middle);
    let common = (*common).clamp(-EXPOSURE_MAX, EXPOSURE_MAX);
    let largest = changes.iter().map(|change| change.abs_diff(common)).max().unwrap_or(0);
    u8::try_from(largest).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;
    use proptest::prelude::*;

    fn picture(width: u32, height: u32, paint: impl Fn(u32, u32) -> [u8; 3]) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| Rgb(paint(x, y)))
    }

    /// A deterministic stand-in for sensor noise of ±`amount`.
    fn noise(x: u32, y: u32, seed: u32, amount: u32) -> u8 {
        let mixed = (x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA6B) ^ seed)
            .wrapping_mul(0xC2B2_AE35);
        u8::try_from((mixed >> 16) % (2 * amount + 1)).unwrap()
    }

    fn noisy(seed: u32, brightness: u8, object: Option<[u8; 3]>) -> Signature {
        let image = picture(128, 128, |x, y| match object {
            Some(colour) if (60..70).contains(&x) && (80..90).contains(&y) => colour,
            _ => [brightness + noise(x, y, seed, 10); 3],
        });
        Signature::of(&image)
    }

    #[test]
    fn cells_are_mean_colours() {
        let image = picture(64, 64, |x, _| if x % 2 == 0 { [10, 0, 200] } else { [30, 0, 100] });
        let signature = Signature::of(&image);
        assert_eq!(signature.as_bytes()[..6], [20, 0, 150, 20, 0, 150]);
        assert_eq!(Signature::from_bytes(signature.as_bytes()), Some(signature));
        assert_eq!(Signature::from_bytes(&[0; 7]), None);
    }

    #[test]
    fn noise_and_exposure_change_less_than_a_small_object() {
        let empty = noisy(1, 100, None);
        let again = noisy(2, 100, None).change_since(&empty);
        let brighter = noisy(3, 130, None).change_since(&empty);
        let object = noisy(4, 100, Some([180, 110, 110])).change_since(&empty);
        assert!(again <= 0.04 && brighter <= 0.04, "{again} {brighter}");
        assert!(object >= 0.15, "{object}");
    }

    #[test]
    fn another_colour_of_equal_luminance_is_a_change() {
        let red = noisy(1, 100, Some([200, 60, 60]));
        let green = noisy(1, 100, Some([71, 126, 60]));
        assert!(green.change_since(&red) > 0.2);
    }

    #[test]
    fn a_picture_smaller_than_the_grid_has_a_signature_too() {
        let image = picture(3, 1, |x, _| [u8::try_from(x * 100).unwrap(); 3]);
        let signature = Signature::of(&image);
        assert_eq!(signature.as_bytes()[0], 0);
        assert_eq!(signature.as_bytes()[BYTES - 1], 200);
    }

    #[test]
    fn a_light_switched_off_is_a_change() {
        let dark = Signature::of(&picture(64, 64, |_, _| [20; 3]));
        let bright = Signature::of(&picture(64, 64, |_, _| [200; 3]));
        assert!(dark.change_since(&bright) > 0.5);
    }

    proptest! {
        #[test]
        fn change_is_symmetric_and_none_to_itself(
            a in prop::collection::vec(any::<u8>(), BYTES),
            b in prop::collection::vec(any::<u8>(), BYTES),
            shift in 0_u8..=32,
        ) {
            let (a, b) = (Signature(a.into()), Signature(b.into()));
            // The two middles of an even count lie on different sides.
            prop_assert!((a.change_since(&b) - b.change_since(&a)).abs() <= 0.02);
            prop_assert!(a.change_since(&a) <= 0.0);
            let dim = Signature(a.0.iter().map(|v| v / 2).collect());
            let bright = Signature(dim.0.iter().map(|v| v + shift).collect());
            prop_assert!(bright.change_since(&dim) <= 0.0);
        }
    }
}
