//! Decoding of camera images that are whole, within limits, so that no file can exhaust the
//! memory.

mod jpeg;
mod png;
pub mod thumbnail;
mod webp;

pub use webp::length as webp_length;

use std::borrow::Cow;
use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{
    DynamicImage, ImageError, ImageFormat, ImageReader, Limits as DecoderLimits, RgbImage,
};

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
    #[error("the image is neither JPEG nor PNG nor WebP")]
    UnknownFormat,
    #[error("the image file has {bytes} bytes, accepted are at most {max}")]
    FileTooLarge { bytes: usize, max: usize },
    #[error("the image is {width}x{height} pixels, accepted are at most {max} pixels")]
    TooManyPixels { width: u32, height: u32, max: u64 },
    #[error("the image is damaged: {0}")]
    Damaged(String),
    #[error("the image is of a kind that is not read: {0}")]
    Unsupported(String),
}

/// Kind of an encoded image by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Jpeg,
    Png,
    WebP,
}

impl Encoding {
    /// From the magic bytes only.
    pub fn of(image: &[u8]) -> Option<Self> {
        if image.starts_with(&[0xFF, 0xD8, 0xFF]) {
            Some(Self::Jpeg)
        } else if image.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if webp::length(image).is_some() {
            Some(Self::WebP)
        } else {
            None
        }
    }

    pub fn mime(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::WebP => "image/webp",
        }
    }
}

/// An image that is whole and within the limits, before it is decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeImage<'a> {
    pub encoding: Encoding,
    /// How the camera was held, by EXIF.
    pub orientation: Orientation,
    /// What decoders are to read: the pixels are those of the file, and what is not of its
    /// pixels may be gone.
    pub decodable: Cow<'a, [u8]>,
}

/// Checks that an image is within the limits and whole: cut and damaged files are refused, as far
/// as that can be told (`jpeg`, `png` and `webp` say how).
pub fn check(image: &[u8], limits: ImageLimits) -> Result<WholeImage<'_>, BadImage> {
    if image.is_empty() {
        return Err(BadImage::Empty);
    }
    if image.len() > limits.bytes_max {
        return Err(BadImage::FileTooLarge { bytes: image.len(), max: limits.bytes_max });
    }
    let encoding = Encoding::of(image).ok_or(BadImage::UnknownFormat)?;
    let pixels_max = limits.pixels_max;
    let Facts { exif, decodable } = match encoding {
        Encoding::Jpeg => jpeg::check(image, pixels_max).map_err(|it| bad_jpeg(it, limits)),
        Encoding::Png => png::check(image, pixels_max).map_err(|it| bad_png(it, limits)),
        Encoding::WebP => webp::check(image, pixels_max).map_err(|it| bad_webp(it, limits)),
    }?;
    let orientation = exif.and_then(Orientation::from_exif_chunk);
    let orientation = orientation.unwrap_or(Orientation::NoTransforms);
    Ok(WholeImage { encoding, orientation, decodable })
}

/// What a whole file says of itself beside its pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts<'a> {
    /// TIFF structure of the first that is called EXIF.
    exif: Option<&'a [u8]>,
    /// The file for decoders, which need not be all of it, nor it alone (`jpeg`, `png` and `webp`
    /// say what).
    decodable: Cow<'a, [u8]>,
}

/// Decodes JPEG, PNG or WebP to 8-bit RGB (transparency dropped, grey spread to
/// three channels), upright by EXIF. The size is checked before a pixel is decoded.
pub fn decode(image: &[u8], limits: ImageLimits) -> Result<RgbImage, BadImage> {
    decode_whole(&check(image, limits)?, limits)
}

/// Width and height of an image file, upright or not, from its header alone.
pub fn dimensions(image: &[u8]) -> Result<(u32, u32), BadImage> {
    let reader = ImageReader::new(Cursor::new(image)).with_guessed_format();
    let reader = reader.map_err(|error| BadImage::Damaged(error.to_string()))?;
    reader.into_dimensions().map_err(bad_image)
}

/// As [`decode`], of an image that was checked.
pub fn decode_whole(image: &WholeImage<'_>, limits: ImageLimits) -> Result<RgbImage, BadImage> {
    let WholeImage { encoding, orientation, decodable } = image;
    let format = match encoding {
        Encoding::Jpeg => ImageFormat::Jpeg,
        Encoding::Png => ImageFormat::Png,
        Encoding::WebP => ImageFormat::WebP,
    };
    let mut reader = ImageReader::with_format(Cursor::new(decodable.as_ref()), format);
    // Twelve bytes a pixel: 16-bit RGBA and what the decoder keeps beside it.
    let mut decoder_limits = DecoderLimits::default();
    decoder_limits.max_alloc = Some(limits.pixels_max.saturating_mul(12));
    reader.limits(decoder_limits);
    Ok(upright(reader.decode().map_err(bad_image)?.into_rgb8(), *orientation))
}

/// The file as others' decoders should get it, who may know nothing of EXIF, Motion JPEG or WebP.
pub fn upright_file(image: &[u8], limits: ImageLimits) -> Result<Cow<'_, [u8]>, BadImage> {
    let whole = check(image, limits)?;
    match (whole.orientation, whole.encoding) {
        (Orientation::NoTransforms, Encoding::Jpeg) => return Ok(whole.decodable),
        (Orientation::NoTransforms, Encoding::Png) => return Ok(Cow::Borrowed(image)),
        _ => {}
    }
    Ok(Cow::Owned(to_jpeg(&decode_whole(&whole, limits)?)?))
}

/// A JPEG of the picture. Of a photograph of 640 by 480 pixels 100 kB, which differ from it by .7
/// levels on average; the fastest PNG takes 500 kB, and half of the time.
pub fn to_jpeg(picture: &RgbImage) -> Result<Vec<u8>, BadImage> {
    const QUALITY: u8 = 95;
    let mut file = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut file, QUALITY);
    picture.write_with_encoder(encoder).map_err(bad_image)?;
    Ok(file)
}

/// The picture as it was seen, whichever way the camera was held.
pub fn upright(picture: RgbImage, orientation: Orientation) -> RgbImage {
    if orientation == Orientation::NoTransforms {
        return picture;
    }
    let mut picture = DynamicImage::ImageRgb8(picture);
    picture.apply_orientation(orientation);
    picture.into_rgb8()
}

fn bad_png(fault: png::Fault, limits: ImageLimits) -> BadImage {
    match fault {
        png::Fault::TooManyPixels { width, height } => {
            BadImage::TooManyPixels { width, height, max: limits.pixels_max }
        }
        fault @ (png::Fault::Cut { .. } | png::Fault::Checksum { .. } | png::Fault::NoHeader) => {
            BadImage::Damaged(fault.to_string())
        }
    }
}

fn bad_webp(fault: webp::Fault, limits: ImageLimits) -> BadImage {
    match fault {
        webp::Fault::TooManyPixels { width, height } => {
            BadImage::TooManyPixels { width, height, max: limits.pixels_max }
        }
        fault @ webp::Fault::Animated => BadImage::Unsupported(fault.to_string()),
        fault @ (webp::Fault::Cut { .. } | webp::Fault::Chunk { .. } | webp::Fault::NoPicture) => {
            BadImage::Damaged(fault.to_string())
        }
    }
}

fn bad_jpeg(fault: jpeg::Fault, limits: ImageLimits) -> BadImage {
    match fault {
        jpeg::Fault::TooManyPixels { width, height } => {
            BadImage::TooManyPixels { width, height, max: limits.pixels_max }
        }
        fault @ jpeg::Fault::Unsupported(_) => BadImage::Unsupported(fault.to_string()),
        fault @ (jpeg::Fault::Cut { .. } | jpeg::Fault::Damaged { .. }) => {
            BadImage::Damaged(fault.to_string())
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function in `map_err`")]
fn bad_image(error: ImageError) -> BadImage {
    BadImage::Damaged(error.to_string())
}

#[cfg(test)]
mod tests;
