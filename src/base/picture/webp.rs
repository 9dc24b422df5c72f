//! Whether a WebP is whole, how it is to be turned, and what of it a decoder needs.
//!
//! Its container (RFC 9649) says how long it and each of its chunks are, so that a cut file is
//! told. It has no checksums: what else is damaged is told by the decoder alone, which reads codes
//! of some other picture as that picture. The decoder gets the chunk of the pixels by itself:
//! transparency that lies beside them would be dropped after decoding.

use crate::base::picture::Facts;

/// Why a file is no whole WebP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("it ends at byte {at}, before the end of the image")]
    Cut { at: usize },
    #[error("the chunk {name:?} at byte {at} is longer than the image")]
    Chunk { name: String, at: usize },
    #[error("no picture begins in it")]
    NoPicture,
    #[error("a WebP that moves; accepted are such of one picture")]
    Animated,
    #[error("it has {width}x{height} pixels")]
    TooManyPixels { width: u32, height: u32 },
}

/// `RIFF`, the length of what follows, `WEBP`.
const HEAD_BYTES: usize = 12;
/// Before the length, and itself.
const LENGTH_END: usize = 8;
/// Bit of the extended header.
const IS_ANIMATED: u8 = 0x02;

/// Bytes of the file that begins here, by its own word; `None` where none does.
pub fn length(image: &[u8]) -> Option<usize> {
    let Some((b"RIFF", &[a, b, c, d, ref kind @ ..])) =
        image.get(..HEAD_BYTES)?.split_first_chunk()
    else {
        return None;
    };
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    (kind == b"WEBP").then_some(length.saturating_add(LENGTH_END))
}

/// Reads the file, of so many pixels at most, to the end of its image.
pub(super) fn check(image: &[u8], pixels_max: u64) -> Result<Facts<'_>, Fault> {
    let length = length(image).ok_or(Fault::NoPicture)?;
    let whole = image.get(..length).ok_or(Fault::Cut { at: image.len() })?;
    let mut rest = whole.get(HEAD_BYTES..).unwrap_or_default();
    let (mut exif, mut picture) = (None, None);
    while !rest.is_empty() {
        let at = whole.len() - rest.len();
        let (chunk, behind) = chunk(rest).ok_or_else(|| {
            let name = rest.get(..4).unwrap_or(rest);
            Fault::Chunk { name: String::from_utf8_lossy(name).into_owned(), at }
        })?;
        match chunk.name {
            b"VP8X" if chunk.data.first().is_some_and(|flags| flags & IS_ANIMATED != 0) => {
                return Err(Fault::Animated);
            }
            b"VP8 " | b"VP8L" if picture.is_none() => picture = Some(chunk),
            // Some write it as it stands in a JPEG.
            b"EXIF" => exif = Some(chunk.data.strip_prefix(b"Exif\0\0").unwrap_or(chunk.data)),
            _ => {}
        }
        rest = behind;
    }
    let picture = picture.ok_or(Fault::NoPicture)?;
    let (width, height) = size(&picture).ok_or(Fault::NoPicture)?;
    if u64::from(width) * u64::from(height) > pixels_max {
        return Err(Fault::TooManyPixels { width, height });
    }
    Ok(Facts { exif, decodable: alone(&picture).into() })
}

struct Chunk<'a> {
    name: &'a [u8; 4],
    /// As they are in the file.
    length: [u8; 4],
    data: &'a [u8],
}

/// The first chunk, and what is behind it. The byte that evens the last one out may be missing.
fn chunk(bytes: &[u8]) -> Option<(Chunk<'_>, &[u8])> {
    let (name, rest) = bytes.split_first_chunk()?;
    let (&length, rest) = rest.split_first_chunk()?;
    let bytes = usize::try_from(u32::from_le_bytes(length)).ok()?;
    let (data, rest) = rest.split_at_checked(bytes)?;
    Some((Chunk { name, length, data }, rest.get(bytes % 2..).unwrap_or_default()))
}

/// Width and height: of VP8 behind its frame's tag and start code, of the lossless kind in the
/// bits behind its signature.
fn size(picture: &Chunk<'_>) -> Option<(u32, u32)> {
    const SIDE: u32 = 0x3FFF;
    match (picture.name, picture.data) {
        (b"VP8 ", &[tag, _, _, 0x9D, 0x01, 0x2A, a, b, c, d, ..]) if tag & 1 == 0 => {
            let side = |bytes| u32::from(u16::from_le_bytes(bytes)) & SIDE;
            Some((side([a, b]), side([c, d])))
        }
        (b"VP8L", &[0x2F, a, b, c, d, ..]) => {
            let bits = u32::from_le_bytes([a, b, c, d]);
            Some(((bits & SIDE) + 1, ((bits >> 14) & SIDE) + 1))
        }
        _ => None,
    }
}

/// A file of this chunk and nothing else.
fn alone(picture: &Chunk<'_>) -> Vec<u8> {
    let padding: &[u8] = if picture.data.len().is_multiple_of(2) { &[] } else { &[0] };
    let body = [b"WEBP".as_slice(), picture.name, &picture.length, picture.data, padding].concat();
    // It is within a file whose length is of four bytes, and two parts shorter.
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    [b"RIFF".as_slice(), &length.to_le_bytes(), &body].concat()
}
