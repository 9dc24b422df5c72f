//! Whether a PNG is whole, how it is to be turned, and what of it a decoder needs.
//!
//! Decoders pass over checksums of what they can do without, stop before the end, and inflate
//! colour profiles and texts to hundreds of megabytes. So every chunk's checksum is compared
//! here, up to the last, and the decoder gets the chunks of the pixels alone.

use crate::base::picture::Facts;

/// Why a file is no whole PNG, at which byte.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("it ends at byte {at}, before the end of the image")]
    Cut { at: usize },
    #[error("the checksum of its chunk {name:?} at byte {at} is wrong")]
    Checksum { name: String, at: usize },
    #[error("it starts with no header")]
    NoHeader,
    #[error("it has {width}x{height} pixels")]
    TooManyPixels { width: u32, height: u32 },
}

const SIGNATURE_BYTES: usize = 8;
/// Chunks that pixels are made of: header, palette, image, end. Transparency would be dropped after
/// decoding.
const OF_PIXELS: [&[u8; 4]; 4] = [b"IHDR", b"PLTE", b"IDAT", b"IEND"];

/// Reads the file, of so many pixels at most, to the end of its image.
pub(super) fn check(image: &[u8], pixels_max: u64) -> Result<Facts<'_>, Fault> {
    let (signature, mut rest) = image.split_at_checked(SIGNATURE_BYTES).unwrap_or_default();
    let mut decodable = Vec::with_capacity(image.len());
    decodable.extend(signature);
    let mut exif = None;
    loop {
        let at = image.len() - rest.len();
        let (chunk, behind) = chunk(rest).ok_or(Fault::Cut { at: image.len() })?;
        if crc32fast::hash(chunk.checked) != chunk.checksum {
            let name = String::from_utf8_lossy(chunk.name).into_owned();
            return Err(Fault::Checksum { name, at });
        }
        if OF_PIXELS.contains(&chunk.name) {
            decodable.extend(rest.get(..rest.len() - behind.len()).unwrap_or_default());
        }
        if at == SIGNATURE_BYTES {
            let (width, height) = size(&chunk).ok_or(Fault::NoHeader)?;
            if u64::from(width) * u64::from(height) > pixels_max {
                return Err(Fault::TooManyPixels { width, height });
            }
        }
        match chunk.name {
            b"IEND" => return Ok(Facts { exif, decodable: decodable.into() }),
            b"eXIf" => exif = Some(chunk.data),
            _ => {}
        }
        rest = behind;
    }
}

struct Chunk<'a> {
    name: &'a [u8; 4],
    data: &'a [u8],
    /// Name and data.
    checked: &'a [u8],
    checksum: u32,
}

/// Width and height, as the header has them.
fn size(header: &Chunk<'_>) -> Option<(u32, u32)> {
    let (width, rest) = header.data.split_first_chunk()?;
    let (height, _) = rest.split_first_chunk()?;
    let size = (u32::from_be_bytes(*width), u32::from_be_bytes(*height));
    (header.name == b"IHDR").then_some(size)
}

/// The first chunk, and what is behind it.
fn chunk(bytes: &[u8]) -> Option<(Chunk<'_>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (checked, rest) = rest.split_at_checked(length.checked_add(4)?)?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let (name, data) = checked.split_first_chunk()?;
    Some((Chunk { name, data, checked, checksum: u32::from_be_bytes(*checksum) }, rest))
}
