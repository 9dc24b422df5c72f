//! Decoding of camera images within limits, so that no file can exhaust the memory.

use std::io::Cursor;

use image::{ImageError, ImageFormat, ImageReader, Limits as DecoderLimits, RgbImage};

/// Size limits, checked before decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageLimits {
    /// Bytes of the encoded file.
    pub bytes_max: usize,
    /// Width times height.
    pub pixels_max: u64,
}

impl Default for ImageLimits {
    /// Four times a 4K frame; a decoded image then takes 100 MB at most.
    fn default() -> Self {
        Self { bytes_max: 16 << 20, pixels_max: 33_177_600 }
    }
}

/// Refusals of an image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadImage {
    #[error("the image is empty")]
    Empty,
    #[error("the image is neither JPEG nor PNG")]
    UnknownFormat,
    #[error("the image file has {bytes} bytes, accepted are at most {max}")]
    FileTooLarge { bytes: usize, max: usize },
    #[error("the image is {width}x{height} pixels, accepted are at most {max} pixels")]
    TooManyPixels { width: u32, height: u32, max: u64 },
    #[error("the image is damaged: {0}")]
    Damaged(String),
}

/// Kind of an encoded image by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Jpeg,
    Png,
}

impl Encoding {
    /// From the magic bytes only.
    pub fn of(image: &[u8]) -> Option<Self> {
        if image.starts_with(&[0xFF, 0xD8, 0xFF]) {
            Some(Self::Jpeg)
        } else if image.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else {
            None
        }
    }

    pub fn mime(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
        }
    }
}

/// Decodes JPEG or PNG to 8-bit RGB (transparency dropped, grey spread to
/// three channels). The size is checked before a pixel is decoded.
pub fn decode(image: &[u8], limits: ImageLimits) -> Result<RgbImage, BadImage> {
    if image.is_empty() {
        return Err(BadImage::Empty);
    }
    if image.len() > limits.bytes_max {
        return Err(BadImage::FileTooLarge { bytes: image.len(), max: limits.bytes_max });
    }
    let format = match Encoding::of(image).ok_or(BadImage::UnknownFormat)? {
        Encoding::Jpeg => ImageFormat::Jpeg,
        Encoding::Png => ImageFormat::Png,
    };
    let reader = || {
        let mut reader = ImageReader::with_format(Cursor::new(image), format);
        // Twelve bytes a pixel: 16-bit RGBA and what the decoder keeps beside it.
        let mut decoder_limits = DecoderLimits::default();
        decoder_limits.max_alloc = Some(limits.pixels_max.saturating_mul(12));
        reader.limits(decoder_limits);
        reader
    };
    let (width, height) = reader().into_dimensions().map_err(bad_image)?;
    if u64::from(width) * u64::from(height) > limits.pixels_max {
        return Err(BadImage::TooManyPixels { width, height, max: limits.pixels_max });
    }
    Ok(reader().decode().map_err(bad_image)?.into_rgb8())
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function in `map_err`")]
fn bad_image(error: ImageError) -> BadImage {
    BadImage::Damaged(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let image = RgbImage::from_pixel(width, height, image::Rgb([10, 20, 30]));
        image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
        bytes
    }

    #[test]
    fn decodes_what_was_encoded() {
        let decoded = decode(&png(3, 2), ImageLimits::default()).unwrap();
        assert_eq!(decoded.dimensions(), (3, 2));
        assert_eq!(decoded.get_pixel(2, 1).0, [10, 20, 30]);
    }

    #[test]
    fn refuses_by_size_before_decoding() {
        let limits = ImageLimits { bytes_max: 1 << 20, pixels_max: 100 };
        let error = decode(&png(11, 10), limits).unwrap_err();
        assert_eq!(error, BadImage::TooManyPixels { width: 11, height: 10, max: 100 });
        let limits = ImageLimits { bytes_max: 20, pixels_max: 100 };
        assert!(matches!(decode(&png(2, 2), limits), Err(BadImage::FileTooLarge { max: 20, .. })));
    }

    #[test]
    fn a_bomb_is_refused_by_what_its_header_claims() {
        // A PNG whose header says 60,000 by 60,000 pixels.
        let mut bomb = png(1, 1);
        bomb[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        bomb[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        let crc = crc32fast::hash(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&crc.to_be_bytes());
        let error = decode(&bomb, ImageLimits::default()).unwrap_err();
        assert!(matches!(error, BadImage::TooManyPixels { width: 60_000, .. }), "{error}");
    }

    #[test]
    fn refuses_what_is_no_image() {
        assert_eq!(decode(b"", ImageLimits::default()), Err(BadImage::Empty));
        assert_eq!(decode(b"GIF89a", ImageLimits::default()), Err(BadImage::UnknownFormat));
        let whole = png(8, 8);
        let half = decode(&whole[..whole.len() / 2], ImageLimits::default());
        assert!(matches!(half, Err(BadImage::Damaged(_))));
    }
}
