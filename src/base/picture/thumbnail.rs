//! A smaller copy of a picture, to look at.

use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::{FilterType, resize, thumbnail};
use image::metadata::Orientation;

use crate::base::picture::{BadImage, ImageLimits, bad_image, check, decode_whole, dimensions};

/// Less than what is kept of a camera's frame: it is looked at and not captioned.
const QUALITY: u8 = 85;

/// A JPEG of the picture, upright, whose longer edge has at most `edge` pixels; `None` where the
/// file itself is that already.
pub fn shrink(image: &[u8], edge: u32, limits: ImageLimits) -> Result<Option<Vec<u8>>, BadImage> {
    let whole = check(image, limits)?;
    let (width, height) = dimensions(&whole.decodable)?;
    if width.max(height) <= edge && whole.orientation == Orientation::NoTransforms {
        return Ok(None);
    }
    let picture = decode_whole(&whole, limits)?;
    let mut file = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut file, QUALITY);
    fit(&picture, edge).write_with_encoder(encoder).map_err(bad_image)?;
    Ok(Some(file))
}

fn fit(picture: &RgbImage, edge: u32) -> RgbImage {
    let (width, height) = picture.dimensions();
    let longer = width.max(height);
    if longer <= edge {
        return picture.clone();
    }
    let side = |side: u32| {
        let side = u64::from(side) * u64::from(edge) / u64::from(longer).max(1);
        u32::try_from(side).unwrap_or(edge).max(1)
    };
    // Averages of whole blocks are fast and look right from twice the size on.
    if longer >= 2 * edge {
        thumbnail(picture, side(width), side(height))
    } else {
        resize(picture, side(width), side(height), FilterType::Triangle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::picture::{Encoding, decode, to_jpeg};
    use image::Rgb;

    fn picture(width: u32, height: u32) -> Vec<u8> {
        let half = |x: u32| if x < width / 2 { Rgb([200, 30, 30]) } else { Rgb([30, 30, 200]) };
        to_jpeg(&RgbImage::from_fn(width, height, |x, _| half(x))).unwrap()
    }

    #[test]
    fn a_picture_keeps_its_shape_and_its_colours() {
        for (sides, edge, expect) in [
            ((640, 480), 320, (320, 240)),
            ((480, 640), 400, (300, 400)),
            ((4_000, 3), 100, (100, 1)),
        ] {
            let limits = ImageLimits::default();
            let small = shrink(&picture(sides.0, sides.1), edge, limits).unwrap().unwrap();
            assert_eq!(Encoding::of(&small), Some(Encoding::Jpeg));
            let small = decode(&small, limits).unwrap();
            assert_eq!(small.dimensions(), expect);
            let near = |found: Rgb<u8>, expect: [u8; 3]| {
                found.0.iter().zip(expect).all(|(found, expect)| found.abs_diff(expect) < 24)
            };
            assert!(near(*small.get_pixel(2, 0), [200, 30, 30]), "{sides:?}");
            assert!(near(*small.get_pixel(expect.0 - 3, 0), [30, 30, 200]), "{sides:?}");
        }
    }

    #[test]
    fn a_small_picture_stays_as_it_is() {
        let limits = ImageLimits::default();
        assert_eq!(shrink(&picture(64, 48), 64, limits), Ok(None));
        assert_eq!(shrink(b"GIF89a", 64, limits), Err(BadImage::UnknownFormat));
    }
}
