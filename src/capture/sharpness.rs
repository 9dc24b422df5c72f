//! Whether there is anything to see on a picture: its light, and how sharp it is.
//!
//! Pure. Both are of a thumbnail: there noise has averaged out, and a picture costs what its
//! pixels cost to add up.

use image::RgbImage;

/// Light and sharpness of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Luma of the brightest hundredth, 0 to 255.
    pub light: f32,
    /// Variance of the Laplacian (Pech-Pacheco et al. 2000): the larger of two pictures of one
    /// scene is the sharper.
    pub sharpness: f32,
    /// Variance of the luma. What has none has nothing that could be sharp.
    pub contrast: f32,
}

/// Why nothing is to be seen on a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flaw {
    Dark,
    Blurred,
}

/// What counts as a flaw; 0 for none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Light below which a picture is dark. Four photographs have 181 to 251, 23 to 25 at a tenth
    /// of their exposure, where things are still seen, and 5 to 8 at 3 %. Default 12.
    pub dark_below: f32,
    /// Sharpness as a share of the contrast below which a picture is blurred. Four photographs of
    /// 640 pixels have .37 to .63, 199 rendered views .056 or more; the photographs have .016 to
    /// .062 behind a Gaussian of 4 pixels, .002 to .013 behind one of 8, and .034 to .071 when
    /// moved by 61. Default .015.
    pub blurred_below: f32,
}

impl Default for Options {
    fn default() -> Self {
        Self { dark_below: 12.0, blurred_below: 0.015 }
    }
}

/// Longest side of the thumbnail.
const SIDE: u32 = 160;
/// Contrast below which sharpness says nothing: a wall, at 8 levels of deviation.
const CONTRAST_MIN: f32 = 64.0;

impl Quality {
    pub fn of(picture: &RgbImage) -> Self {
        let (width, height, luma) = thumbnail(picture);
        let count = luma.len().max(1) as f32;
        let mean = luma.iter().sum::<f32>() / count;
        let contrast = luma.iter().map(|it| (it - mean).powi(2)).sum::<f32>() / count;
        let mut sorted = luma.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let brightest = sorted.len() - sorted.len().div_ceil(100);
        let light = sorted.get(brightest).copied().unwrap_or_default();
        Self { light, sharpness: laplacian_variance(&luma, width, height), contrast }
    }

    pub fn flaw(&self, options: &Options) -> Option<Flaw> {
        if self.light < options.dark_below {
            return Some(Flaw::Dark);
        }
        let is_blurred =
            self.contrast >= CONTRAST_MIN && self.sharpness < options.blurred_below * self.contrast;
        is_blurred.then_some(Flaw::Blurred)
    }
}

/// Mean luma of each cell of a grid over the picture, no finer than its pixels.
fn thumbnail(picture: &RgbImage) -> (usize, usize, Vec<f32>) {
    let (width, height) = picture.dimensions();
    let longest = width.max(height).max(1);
    let side = |pixels: u32| {
        let cells = u64::from(pixels) * u64::from(SIDE.min(longest)) / u64::from(longest);
        usize::try_from(cells).unwrap_or_default().max(1)
    };
    let (across, down) = (side(width), side(height));
    let (mut sums, mut counts) = (vec![0_u32; across * down], vec![0_u32; across * down]);
    let cell = |at: usize, cells: usize, pixels: u32| at * cells / (pixels.max(1) as usize);
    for (y, row) in picture.rows().enumerate() {
        let start = cell(y, down, height) * across;
        for (x, pixel) in row.enumerate() {
            let [red, green, blue] = pixel.0.map(u32::from);
            let at = start + cell(x, across, width);
            if let (Some(sum), Some(count)) = (sums.get_mut(at), counts.get_mut(at)) {
                *sum += (299 * red + 587 * green + 114 * blue) / 1_000;
                *count += 1;
            }
        }
    }
    let means = sums.iter().zip(&counts).map(|(sum, count)| *sum as f32 / (*count).max(1) as f32);
    (across, down, means.collect())
}

/// Of the four neighbours' sum less four times the pixel, within the edges.
fn laplacian_variance(luma: &[f32], width: usize, height: usize) -> f32 {
    let rows: Vec<&[f32]> = luma.chunks_exact(width.max(1)).take(height).collect();
    let (mut sum, mut squares, mut count) = (0.0_f64, 0.0_f64, 0.0_f64);
    for three in rows.windows(3) {
        let &[above, here, below] = three else { continue };
        let inner = here.windows(3).zip(above.iter().skip(1).zip(below.iter().skip(1)));
        for (beside, (above, below)) in inner {
            let &[left, own, right] = beside else { continue };
            let value = f64::from(left + right + above + below - 4.0 * own);
            (sum, squares, count) = (sum + value, squares + value * value, count + 1.0);
        }
    }
    if count < 1.0 {
        return 0.0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a variance of levels from 0 to 255")]
    let variance = (squares / count - (sum / count).powi(2)).max(0.0) as f32;
    variance
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    use image::Rgb;
    use image::imageops::{FilterType, blur, resize};

    fn photographs() -> Vec<RgbImage> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/photographs");
        let read = |name: &str| {
            let file = fs::read(dir.join(name)).unwrap();
            let picture = image::load_from_memory(&file).unwrap().into_rgb8();
            resize(&picture, 640, 427, FilterType::CatmullRom)
        };
        ["astronaut.jpg", "chelsea.jpg", "china.jpg", "coffee.jpg"].map(read).to_vec()
    }

    fn flaw(picture: &RgbImage) -> Option<Flaw> {
        Quality::of(picture).flaw(&Options::default())
    }

    fn dimmed(picture: &RgbImage, share: f32) -> RgbImage {
        let mut dimmed = picture.clone();
        for pixel in dimmed.pixels_mut() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
            let dim = |level: u8| (f32::from(level) * share) as u8;
            pixel.0 = pixel.0.map(dim);
        }
        dimmed
    }

    #[test]
    fn photographs_are_kept_and_dark_and_blurred_ones_are_not() {
        for picture in photographs() {
            assert_eq!(flaw(&picture), None);
            assert_eq!(flaw(&dimmed(&picture, 0.1)), None);
            assert_eq!(flaw(&dimmed(&picture, 0.03)), Some(Flaw::Dark));
            assert_eq!(flaw(&blur(&picture, 1.5)), None);
            assert_eq!(flaw(&blur(&picture, 10.0)), Some(Flaw::Blurred));
        }
    }

    #[test]
    fn sharpness_falls_with_every_blur() {
        for picture in photographs() {
            let blurs = [0.5, 1.0, 2.0, 4.0, 8.0];
            let sharpness = |sigma: f32| Quality::of(&blur(&picture, sigma)).sharpness;
            let sharpness: Vec<f32> = blurs.map(sharpness).to_vec();
            assert!(sharpness.is_sorted_by(|a, b| a > b), "{sharpness:?}");
        }
    }

    #[test]
    fn views_of_the_flat_are_kept() {
        let frames =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("models/household-captioner/flat/frames");
        for number in (1..=199).step_by(9) {
            let file = fs::read(frames.join(format!("{number:06}.jpg"))).unwrap();
            assert_eq!(
                flaw(&image::load_from_memory(&file).unwrap().into_rgb8()),
                None,
                "{number}"
            );
        }
    }

    #[test]
    fn a_plain_wall_and_the_smallest_pictures_have_no_flaw() {
        for (width, height) in [(640, 480), (1, 1), (2, 500), (3, 3)] {
            let wall = RgbImage::from_pixel(width, height, Rgb([120, 110, 100]));
            assert_eq!(flaw(&wall), None);
        }
        let night = RgbImage::new(320, 240);
        assert_eq!(flaw(&night), Some(Flaw::Dark));
        let off = Options { dark_below: 0.0, blurred_below: 0.0 };
        assert_eq!(Quality::of(&night).flaw(&off), None);
    }

    /// A chessboard: of pixels at 0 and 200 each Laplacian is ±800.
    #[test]
    fn the_variance_is_that_of_the_laplacian() {
        let board =
            RgbImage::from_fn(40, 30, |x, y| Rgb([if (x + y) % 2 == 0 { 200 } else { 0 }; 3]));
        let Quality { light, sharpness, contrast } = Quality::of(&board);
        assert!((light - 200.0).abs() < 0.1, "{light}");
        assert!((sharpness - 640_000.0).abs() < 1.0, "{sharpness}");
        assert!((contrast - 10_000.0).abs() < 1.0, "{contrast}");
    }
}
