//! JPEG decoding to the very pixels that vision models were trained on: those of libjpeg-turbo,
//! which Pillow, `OpenCV` and torchvision all use.
//!
//! The `image` crate's decoder rounds differently, by up to 4 levels, which changes one in
//! fifteen captions of a small model. mozjpeg is a fork of libjpeg-turbo: the same pixels on
//! every file tried, from a C compiler alone.

use std::panic::{AssertUnwindSafe, catch_unwind};

use image::RgbImage;
use mozjpeg::{ColorSpace, Decompress};

use crate::base::picture;
use crate::base::picture::{BadImage, Encoding, ImageLimits};

/// As [`picture::decode`], pixel by pixel as the reference does.
pub(super) fn decode(image: &[u8], limits: ImageLimits) -> Result<RgbImage, BadImage> {
    let whole = picture::check(image, limits)?;
    if whole.encoding != Encoding::Jpeg {
        return picture::decode_whole(&whole, limits);
    }
    // libjpeg reports what it cannot go on after by unwinding.
    match catch_unwind(AssertUnwindSafe(|| decode_jpeg(&whole.decodable))) {
        Ok(Ok(Some(decoded))) => Ok(picture::upright(decoded, whole.orientation)),
        // Inks instead of light: no reference to follow.
        Ok(Ok(None)) => picture::decode_whole(&whole, limits),
        Ok(Err(bad)) => Err(bad),
        Err(unwound) => {
            let reason = unwound.downcast::<String>().map_or_else(|_| String::new(), |it| *it);
            Err(BadImage::Damaged(reason))
        }
    }
}

/// `None` where the image is not of grey or of colours as cameras write them.
fn decode_jpeg(image: &[u8]) -> Result<Option<RgbImage>, BadImage> {
    let damaged = |error: std::io::Error| BadImage::Damaged(error.to_string());
    let header = Decompress::new_mem(image).map_err(damaged)?;
    let side = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
    let (width, height) = (side(header.width()), side(header.height()));
    let known = [ColorSpace::JCS_GRAYSCALE, ColorSpace::JCS_RGB, ColorSpace::JCS_YCbCr];
    if !known.contains(&header.color_space()) {
        return Ok(None);
    }
    let mut rows = header.rgb().map_err(damaged)?;
    let pixels: Vec<u8> = rows.read_scanlines().map_err(damaged)?;
    Ok(RgbImage::from_raw(width, height, pixels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn jpeg() -> Vec<u8> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/blip");
        fs::read(dir.join("photo.jpg")).unwrap()
    }

    #[test]
    fn images_beyond_the_limits_are_refused_and_png_is_decoded() {
        let limits = ImageLimits { bytes_max: 1 << 20, pixels_max: 160 * 120 };
        assert_eq!(decode(&jpeg(), limits).unwrap().dimensions(), (160, 120));
        let small = ImageLimits { pixels_max: 160 * 120 - 1, ..limits };
        assert!(matches!(decode(&jpeg(), small), Err(BadImage::TooManyPixels { .. })));
        let short = ImageLimits { bytes_max: 100, ..limits };
        assert!(matches!(decode(&jpeg(), short), Err(BadImage::FileTooLarge { .. })));
        let png = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/blip/wide.png");
        assert_eq!(decode(&fs::read(png).unwrap(), limits).unwrap().dimensions(), (96, 40));
    }

    #[test]
    fn damage_is_an_error_or_pixels_and_never_a_panic() {
        let whole = jpeg();
        let decoded = |bytes: &[u8]| decode(bytes, ImageLimits::default());
        assert!(matches!(decoded(&whole[..40]), Err(BadImage::Damaged(_))));
        for length in (3..whole.len()).step_by(37) {
            drop(decoded(&whole[..length]));
        }
        for at in (2..whole.len()).step_by(11) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            drop(decoded(&damaged));
        }
    }
}
