//! Raw camera images, as `sensor_msgs/Image` has them, to RGB.
//!
//! Pure. Encodings, and what they mean, are those of ROS' `sensor_msgs/image_encodings.hpp`;
//! colours come out as `cv_bridge` gives them: `OpenCV`'s BT.601 for YUV, bilinear for Bayer.
//! `tests/fixtures/make_pixels.py` has the comparison.

use image::RgbImage;

use crate::base::picture::ImageLimits;

/// An image as `sensor_msgs/Image` has it. Fields as they came, nothing of them checked.
#[derive(Debug, Clone, Copy)]
pub struct RawImage<'a> {
    pub width: u32,
    pub height: u32,
    /// One of [`ENCODINGS`], to be used.
    pub encoding: &'a str,
    /// Order of the bytes of 16-bit encodings.
    pub is_bigendian: bool,
    /// Bytes from one row to the next; rows follow each other without padding where `None`.
    pub step: Option<u32>,
    pub data: &'a [u8],
}

/// Encodings that [`to_rgb`] takes, by their names in `sensor_msgs`.
pub const ENCODINGS: &str = "rgb8, bgr8, rgba8, bgra8, mono8, 8UC1, rgb16, bgr16, rgba16, bgra16, \
    mono16, yuv422, uyvy, yuv422_yuy2, yuyv, nv12, nv21 and bayer_rggb8, bayer_bggr8, bayer_gbrg8, \
    bayer_grbg8, each of the last four with 16 as well";

/// Refusals of a raw image, each naming the field of `sensor_msgs/Image`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPixels {
    #[error("encoding is {0:?}, which is depth and no picture; accepted are {ENCODINGS}")]
    Depth(String),
    #[error(
        "encoding is {0:?}, which does not say the order of its colours; name it as rgb8, bgr8, \
         rgba8 or bgra8"
    )]
    Colourless(String),
    #[error("encoding is {0:?}, accepted are {ENCODINGS}")]
    UnknownEncoding(String),
    #[error("{field} is {found}, accepted is {accepted}")]
    Size { field: &'static str, found: u32, accepted: &'static str },
    #[error("width and height are {width} and {height}, accepted are at most {max} pixels")]
    TooManyPixels { width: u32, height: u32, max: u64 },
    #[error("step is {found} bytes, accepted is at least {least}: {width} pixels of {encoding}")]
    Step { found: u32, least: u64, width: u32, encoding: String },
    #[error("data has {found} bytes, accepted are {expected}: {rows} rows of {step} bytes (step)")]
    Data { found: usize, expected: u64, rows: u64, step: u64 },
}

/// Converts to 8-bit RGB. Transparency is dropped; of 16 bits the value is rounded to 8.
pub fn to_rgb(raw: &RawImage<'_>, limits: ImageLimits) -> Result<RgbImage, BadPixels> {
    let layout = Layout::named(raw.encoding)?;
    check_size(raw, &layout, limits)?;
    let rows = rows(raw, &layout)?;
    let pixels = match layout.pixels {
        Pixels::Packed { channels, order } => packed(&rows, channels, order),
        Pixels::Yuv422 { luma } => yuv422(&rows, luma),
        Pixels::SemiPlanar { red } => semi_planar(&rows, raw.height, red),
        Pixels::Bayer { red } => bayer(&rows, raw.width, red),
    };
    // INVARIANT: each of the four gives three bytes for each of the pixels that were checked.
    Ok(RgbImage::from_raw(raw.width, raw.height, pixels).unwrap_or_default())
}

#[derive(Debug, Clone, Copy)]
struct Layout {
    pixels: Pixels,
    /// Of one sample.
    bytes: u32,
}

#[derive(Debug, Clone, Copy)]
enum Pixels {
    /// Samples of a pixel side by side; `order` says which of them is red, green, blue.
    Packed { channels: u32, order: [usize; 3] },
    /// Two pixels in four bytes that share their chroma; where the first luma lies.
    Yuv422 { luma: usize },
    /// Luma of all pixels, then a chroma pair for each two by two; which of the pair is for red.
    SemiPlanar { red: usize },
    /// One sample a pixel; column and row, both 0 or 1, of the first red one.
    Bayer { red: (usize, usize) },
}

impl Layout {
    fn named(encoding: &str) -> Result<Self, BadPixels> {
        let packed = |channels, order| Pixels::Packed { channels, order };
        let bayer = |column, row| Pixels::Bayer { red: (column, row) };
        let (pixels, bytes) = match encoding {
            "rgb8" => (packed(3, [0, 1, 2]), 1),
            "bgr8" => (packed(3, [2, 1, 0]), 1),
            "rgba8" => (packed(4, [0, 1, 2]), 1),
            "bgra8" => (packed(4, [2, 1, 0]), 1),
            "mono8" | "8UC1" => (packed(1, [0, 0, 0]), 1),
            "rgb16" => (packed(3, [0, 1, 2]), 2),
            "bgr16" => (packed(3, [2, 1, 0]), 2),
            "rgba16" => (packed(4, [0, 1, 2]), 2),
            "bgra16" => (packed(4, [2, 1, 0]), 2),
            "mono16" => (packed(1, [0, 0, 0]), 2),
            "yuv422" | "uyvy" => (Pixels::Yuv422 { luma: 1 }, 1),
            "yuv422_yuy2" | "yuyv" => (Pixels::Yuv422 { luma: 0 }, 1),
            "nv12" => (Pixels::SemiPlanar { red: 1 }, 1),
            "nv21" => (Pixels::SemiPlanar { red: 0 }, 1),
            "bayer_rggb8" => (bayer(0, 0), 1),
            "bayer_grbg8" => (bayer(1, 0), 1),
            "bayer_gbrg8" => (bayer(0, 1), 1),
            "bayer_bggr8" => (bayer(1, 1), 1),
            "bayer_rggb16" => (bayer(0, 0), 2),
            "bayer_grbg16" => (bayer(1, 0), 2),
            "bayer_gbrg16" => (bayer(0, 1), 2),
            "bayer_bggr16" => (bayer(1, 1), 2),
            other => return Err(refusal(other)),
        };
        Ok(Self { pixels, bytes })
    }

    /// Bytes of one row.
    fn row_bytes(&self, width: u32) -> u64 {
        let samples = match self.pixels {
            Pixels::Packed { channels, .. } => channels,
            Pixels::Yuv422 { .. } => 2,
            Pixels::SemiPlanar { .. } | Pixels::Bayer { .. } => 1,
        };
        u64::from(width) * u64::from(samples * self.bytes)
    }

    /// Rows of the data: those of the picture, and half as many of chroma where it has a plane.
    fn row_count(&self, height: u32) -> u64 {
        let height = u64::from(height);
        if matches!(self.pixels, Pixels::SemiPlanar { .. }) { height + height / 2 } else { height }
    }
}

fn refusal(encoding: &str) -> BadPixels {
    let shown: String = encoding.chars().take(40).collect();
    // How depth cameras and rectifiers publish distances and disparities.
    match encoding {
        "16UC1" | "16SC1" | "32SC1" | "32FC1" | "64FC1" => BadPixels::Depth(shown),
        "8UC2" | "8UC3" | "8UC4" | "16UC3" | "16UC4" => BadPixels::Colourless(shown),
        _ => BadPixels::UnknownEncoding(shown),
    }
}

fn check_size(raw: &RawImage<'_>, layout: &Layout, limits: ImageLimits) -> Result<(), BadPixels> {
    let &RawImage { width, height, .. } = raw;
    let (pairs_across, pairs_down, least) = match layout.pixels {
        Pixels::Packed { .. } => (false, false, 1),
        Pixels::Yuv422 { .. } => (true, false, 1),
        Pixels::SemiPlanar { .. } => (true, true, 1),
        Pixels::Bayer { .. } => (false, false, 2),
    };
    for (field, found, pairs) in [("width", width, pairs_across), ("height", height, pairs_down)] {
        let accepted = match (pairs, least) {
            (true, _) => "an even number, for chroma that pixels share",
            (false, 1) => "1 or more",
            (false, _) => "2 or more, for a pattern of two by two",
        };
        if found < least || (pairs && !found.is_multiple_of(2)) {
            return Err(BadPixels::Size { field, found, accepted });
        }
    }
    let max = limits.pixels_max;
    if u64::from(width) * u64::from(height) > max {
        return Err(BadPixels::TooManyPixels { width, height, max });
    }
    Ok(())
}

/// Rows without their padding, in 8 bits.
fn rows(raw: &RawImage<'_>, layout: &Layout) -> Result<Vec<u8>, BadPixels> {
    let row = layout.row_bytes(raw.width);
    let step = raw.step.map_or(row, u64::from);
    if step < row {
        let (found, width) = (raw.step.unwrap_or_default(), raw.width);
        let encoding = raw.encoding.to_owned();
        return Err(BadPixels::Step { found, least: row, width, encoding });
    }
    let count = layout.row_count(raw.height);
    let (found, expected) = (raw.data.len(), step.saturating_mul(count));
    // Some drivers leave out the padding of the last row.
    if found as u64 > expected || (found as u64) < expected - (step - row) {
        return Err(BadPixels::Data { found, expected, rows: count, step });
    }
    let (row, step) = (in_memory(row), in_memory(step));
    let rows = raw.data.chunks(step).filter_map(|it| it.get(..row));
    if layout.bytes == 1 {
        return Ok(rows.flatten().copied().collect());
    }
    let value = if raw.is_bigendian { u16::from_be_bytes } else { u16::from_le_bytes };
    Ok(rows.flat_map(|row| row.as_chunks().0).map(|bytes| narrowed(value(*bytes))).collect())
}

/// A number that was compared with the length of a slice.
fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// 65535 to 255, rounded.
fn narrowed(value: u16) -> u8 {
    u8::try_from((u32::from(value) + 128) / 257).unwrap_or(u8::MAX)
}

fn packed(rows: &[u8], channels: u32, order: [usize; 3]) -> Vec<u8> {
    let mut pixels = Vec::with_capacity(rows.len() / channels as usize * 3);
    for pixel in rows.chunks_exact(channels as usize) {
        pixels.extend(order.map(|at| pixel.get(at).copied().unwrap_or_default()));
    }
    pixels
}

fn yuv422(rows: &[u8], luma: usize) -> Vec<u8> {
    let mut pixels = Vec::with_capacity(rows.len() / 2 * 3);
    for &[a, b, c, d] in rows.as_chunks().0 {
        let (first, second, blue, red) = if luma == 0 { (a, c, b, d) } else { (b, d, a, c) };
        let chroma = Chroma::of(blue, red);
        pixels.extend(chroma.rgb(first));
        pixels.extend(chroma.rgb(second));
    }
    pixels
}

fn semi_planar(rows: &[u8], height: u32, red: usize) -> Vec<u8> {
    let (luma, chroma) = rows.split_at(rows.len() / 3 * 2);
    let width = luma.len() / height as usize;
    let mut pixels = Vec::with_capacity(luma.len() * 3);
    for (y, row) in luma.chunks_exact(width).enumerate() {
        let pairs = chroma.chunks_exact(width).nth(y / 2).unwrap_or_default().as_chunks().0;
        for (&[first, second], &[a, b]) in row.as_chunks().0.iter().zip(pairs) {
            let chroma = if red == 1 { Chroma::of(a, b) } else { Chroma::of(b, a) };
            pixels.extend(chroma.rgb(first));
            pixels.extend(chroma.rgb(second));
        }
    }
    pixels
}

/// What the chroma of a pixel adds to red, green and blue: BT.601 of the video range, in
/// `OpenCV`'s fixed point.
struct Chroma([i32; 3]);

impl Chroma {
    const SHIFT: u32 = 20;
    const HALF: i32 = 1 << (Self::SHIFT - 1);
    const LUMA: i32 = 1_220_542;
    const BLACK: i32 = 16;

    fn of(blue: u8, red: u8) -> Self {
        let (u, v) = (i32::from(blue) - 128, i32::from(red) - 128);
        let green = -852_492 * v - 409_993 * u;
        Self([1_673_527 * v, green, 2_116_026 * u].map(|it| it + Self::HALF))
    }

    fn rgb(&self, luma: u8) -> [u8; 3] {
        let light = (i32::from(luma) - Self::BLACK).max(0) * Self::LUMA;
        self.0.map(|it| {
            let level = ((light + it) >> Self::SHIFT).clamp(0, 255);
            u8::try_from(level).unwrap_or(u8::MAX)
        })
    }
}

/// Bilinear: a colour that a pixel lacks is the mean of its nearest neighbours that have it;
/// beyond the edge the picture is mirrored.
fn bayer(rows: &[u8], width: u32, red: (usize, usize)) -> Vec<u8> {
    let width = width as usize;
    let lines: Vec<&[u8]> = rows.chunks_exact(width).collect();
    let line = |y: usize| lines.get(y).copied().unwrap_or_default();
    let mut pixels = Vec::with_capacity(rows.len() * 3);
    for y in 0..lines.len() {
        let (before, after) = neighbours(y, lines.len());
        let (above, here, below) = (line(before), line(y), line(after));
        let is_red_row = y % 2 == red.1;
        for x in 0..width {
            let (left, right) = neighbours(x, width);
            let level = |line: &[u8], x: usize| u32::from(line.get(x).copied().unwrap_or_default());
            let own = level(here, x);
            let sides = level(here, left) + level(here, right);
            let ends = level(above, x) + level(below, x);
            let around = (sides + ends + 2) / 4;
            let corners = [(above, left), (above, right), (below, left), (below, right)];
            let corners = (corners.map(|(line, x)| level(line, x)).iter().sum::<u32>() + 2) / 4;
            let (across, along) = (sides.div_ceil(2), ends.div_ceil(2));
            let rgb = match (is_red_row, x % 2 == red.0) {
                (true, true) => [own, around, corners],
                (true, false) => [across, own, along],
                (false, true) => [along, own, across],
                (false, false) => [corners, around, own],
            };
            pixels.extend(rgb.map(|level| u8::try_from(level).unwrap_or(u8::MAX)));
        }
    }
    pixels
}

/// The places beside one of `count`, two or more; mirrored at the edges, which keeps the pattern.
fn neighbours(at: usize, count: usize) -> (usize, usize) {
    let before = at.checked_sub(1).unwrap_or(1);
    let after = if at + 1 == count { count.saturating_sub(2) } else { at + 1 };
    (before, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::Value;

    const LIMITS: ImageLimits = ImageLimits { bytes_max: 1 << 20, pixels_max: 1 << 20 };

    fn raw<'a>(encoding: &'a str, (width, height): (u32, u32), data: &'a [u8]) -> RawImage<'a> {
        RawImage { width, height, encoding, is_bigendian: false, step: None, data }
    }

    /// What `OpenCV` and numpy make of each encoding, with padding behind the rows.
    #[test]
    fn every_encoding_becomes_the_colours_of_opencv() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pixels.json");
        let cases: Vec<Value> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let mut seen = BTreeSet::new();
        for case in cases {
            let number = |field: &str| u32::try_from(case[field].as_u64().unwrap()).unwrap();
            let bytes = |field: &str| STANDARD.decode(case[field].as_str().unwrap()).unwrap();
            let (encoding, data, expect) =
                (case["encoding"].as_str().unwrap(), bytes("data"), bytes("rgb"));
            let raw = RawImage {
                width: number("width"),
                height: number("height"),
                encoding,
                is_bigendian: case["is_bigendian"].as_bool().unwrap(),
                step: Some(number("step")),
                data: &data,
            };
            let found = to_rgb(&raw, LIMITS).unwrap();
            // OpenCV repeats at the edges what it made of the pixels beside them.
            let edge = u32::from(encoding.starts_with("bayer"));
            for y in edge..raw.height - edge {
                for x in edge..raw.width - edge {
                    let at = 3 * (y * raw.width + x) as usize;
                    assert_eq!(found.get_pixel(x, y).0, expect[at..at + 3], "{encoding} {x} {y}");
                }
            }
            seen.insert(encoding.to_owned());
        }
        let mut words = ENCODINGS.split([',', ' ']).filter(|it| Layout::named(it).is_ok());
        assert_eq!(words.find(|it| !seen.contains(*it)), None);
        assert_eq!(seen.len(), 25, "{seen:?}");
    }

    #[test]
    fn the_edges_of_a_bayer_image_keep_a_plain_colour() {
        let first_reds = [
            ("bayer_rggb8", (0, 0)),
            ("bayer_grbg8", (1, 0)),
            ("bayer_gbrg8", (0, 1)),
            ("bayer_bggr8", (1, 1)),
        ];
        for (encoding, red) in first_reds {
            // Red 200, green 100, blue 30, as a sensor of 5 by 3 pixels has them.
            let level = |x: usize, y: usize| match ((x + red.0) % 2, (y + red.1) % 2) {
                (0, 0) => 200,
                (1, 1) => 30,
                _ => 100,
            };
            let data: Vec<u8> = (0..15).map(|at| level(at % 5, at / 5)).collect();
            let found = to_rgb(&raw(encoding, (5, 3), &data), LIMITS).unwrap();
            assert!(found.pixels().all(|it| it.0 == [200, 100, 30]), "{encoding}: {found:?}");
        }
    }

    #[test]
    fn refusals_name_the_field_what_came_and_what_is_accepted() {
        let check = |raw: RawImage<'_>, expect: &[&str]| {
            let refused = to_rgb(&raw, LIMITS).unwrap_err().to_string();
            assert!(expect.iter().all(|it| refused.contains(it)), "{refused}");
        };
        let data = [0; 24];
        check(raw("16UC1", (4, 2), &data), &["encoding is \"16UC1\"", "depth", "rgb8"]);
        check(raw("32FC1", (4, 2), &data), &["encoding is \"32FC1\"", "depth"]);
        check(raw("8UC3", (4, 2), &data), &["encoding is \"8UC3\"", "order", "bgr8"]);
        check(raw("RGB8", (4, 2), &data), &["encoding is \"RGB8\"", "accepted are rgb8"]);
        check(raw("rgb8", (0, 2), &data), &["width is 0", "1 or more"]);
        check(raw("yuv422", (3, 2), &data), &["width is 3", "even"]);
        check(raw("nv12", (4, 3), &data), &["height is 3", "even"]);
        check(raw("bayer_rggb8", (4, 1), &data), &["height is 1", "2 or more"]);
        check(raw("mono8", (2000, 2000), &data), &["width and height are 2000 and 2000"]);
        let step = Some(11);
        check(RawImage { step, ..raw("rgb8", (4, 2), &data) }, &["step is 11", "at least 12"]);
        check(raw("rgb8", (4, 3), &data), &["data has 24 bytes", "36", "3 rows of 12"]);
        check(raw("mono8", (4, 2), &data), &["data has 24 bytes", "8"]);
        let step = Some(u32::MAX);
        check(RawImage { step, ..raw("rgb8", (4, 2), &data) }, &["data has 24 bytes"]);
    }

    #[test]
    fn the_last_rows_padding_may_be_missing() {
        let step = Some(7);
        for length in [10, 14] {
            let data = [9; 14];
            let padded = RawImage { step, ..raw("rgb8", (1, 2), &data[..length]) };
            assert_eq!(to_rgb(&padded, LIMITS).unwrap().as_raw(), &[9; 6]);
        }
        for length in [9, 15] {
            let data = vec![9; length];
            let padded = RawImage { step, ..raw("rgb8", (1, 2), &data) };
            assert!(matches!(to_rgb(&padded, LIMITS), Err(BadPixels::Data { .. })));
        }
    }
}
