//! Where one image ends and the next begins in a stream of bytes.
//!
//! Pure. Reads what cameras and `ffmpeg -f image2pipe` write: JPEG, PNG and WebP files one after
//! the other, and the parts of `multipart/x-mixed-replace`, with or without their lengths. A JPEG is
//! walked marker by marker, as its EXIF may hold a whole other one; its pixels are not read.
//! Invariant: holds no more than one image of the accepted size and what came in one push.

use memchr::memchr;

use crate::base::picture::{Encoding, webp_length};

/// Longest header of a part.
const HEADER_BYTES_MAX: usize = 8 << 10;
const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG_SIGNATURE: &[u8] = b"\xff\xd8\xff";
const RIFF: &[u8] = b"RIFF";
/// `RIFF`, a length, `WEBP`.
const WEBP_HEAD_BYTES: usize = 12;

/// Splits a stream into the files of its images.
#[derive(Debug)]
pub struct ImageSplitter {
    bytes_max: usize,
    /// From the beginning of the image, of the header, or of what is neither.
    buffer: Vec<u8>,
    state: State,
    /// Whether the buffer begins where a line may begin.
    at_line_start: bool,
    junk: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    /// A part that says its length, or a WebP, which does so itself.
    Part {
        length: usize,
        is_image: bool,
    },
    /// The next marker of a JPEG is at `at`, or past the end of the buffer. If it is not, what
    /// lies from `sure` on may be of another image.
    JpegMarker {
        at: usize,
        sure: usize,
    },
    /// Coded pixels of a JPEG, read up to here.
    JpegPixels(usize),
    /// The same of the next chunk of a PNG.
    PngChunk {
        at: usize,
        sure: usize,
    },
    /// Bytes of a part that is left out.
    Skip(usize),
}

/// What is left out of a stream; the images behind it follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadStream {
    #[error("an image has more than the accepted {max} bytes")]
    TooLarge { max: usize },
    #[error("an image ends after {bytes} bytes, in the middle")]
    Cut { bytes: usize },
    #[error("{format} image is damaged at byte {at}")]
    Damaged { format: &'static str, at: usize },
    #[error("a part of the stream is no JPEG, PNG or WebP")]
    NoImage,
}

impl ImageSplitter {
    /// Images of more than `bytes_max` are left out.
    pub fn new(bytes_max: usize) -> Self {
        let (buffer, state) = (Vec::new(), State::Between);
        Self { bytes_max, buffer, state, at_line_start: true, junk: 0 }
    }

    /// Takes what came next; [`ImageSplitter::next_image`] is asked until it has no more.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes since the last image that belong to none.
    pub fn junk(&self) -> u64 {
        self.junk
    }

    /// The next whole image, or what is left out; `None` until more comes.
    pub fn next_image(&mut self) -> Option<Result<Vec<u8>, BadStream>> {
        loop {
            let step = match self.state {
                State::Between => self.begin(),
                State::Part { length, is_image } => self.end_part(length, is_image),
                State::JpegMarker { at, sure } => self.read_marker(at, sure),
                State::JpegPixels(at) => self.read_pixels(at),
                State::PngChunk { at, sure } => self.read_chunk(at, sure),
                State::Skip(length) => self.skip(length),
            };
            match step {
                Step::Further(state) => self.state = state,
                Step::Wait => return None,
                Step::Image { bytes } => return Some(Ok(self.cut_image(bytes))),
                Step::Bad { bad, dropped, next } => {
                    self.drop_first(dropped);
                    self.state = next;
                    return Some(Err(bad));
                }
            }
        }
    }

    /// Ends the stream: the image that is not whole.
    pub fn finish(&mut self) -> Option<BadStream> {
        let bytes = self.buffer.len();
        let is_cut = bytes > 0 && !matches!(self.state, State::Between | State::Skip(_));
        *self = Self::new(self.bytes_max);
        is_cut.then_some(BadStream::Cut { bytes })
    }

    fn begin(&mut self) -> Step {
        let buffer = self.buffer.as_slice();
        let Some(first) = buffer.first() else { return Step::Wait };
        if buffer.starts_with(JPEG_SIGNATURE) {
            return Step::Further(State::JpegMarker { at: 2, sure: 2 });
        }
        if buffer.starts_with(PNG_SIGNATURE) {
            let at = PNG_SIGNATURE.len();
            return Step::Further(State::PngChunk { at, sure: at });
        }
        if let Some(length) = webp_length(buffer) {
            return self.begin_part(length, true);
        }
        let may_be_webp = buffer.starts_with(RIFF) && buffer.len() < WEBP_HEAD_BYTES;
        let signatures = [JPEG_SIGNATURE, PNG_SIGNATURE, RIFF];
        if may_be_webp || signatures.iter().any(|signature| signature.starts_with(buffer)) {
            return Step::Wait;
        }
        if self.at_line_start && *first == b'-' {
            match header_of(buffer) {
                Header::Whole { bytes, part } => {
                    self.drop_first(bytes);
                    self.at_line_start = true;
                    return match part {
                        Some((length, is_image)) => self.begin_part(length, is_image),
                        None => Step::Further(State::Between),
                    };
                }
                Header::Unfinished => return Step::Wait,
                Header::None => {}
            }
        }
        self.drop_junk();
        Step::Further(State::Between)
    }

    fn begin_part(&self, length: usize, is_image: bool) -> Step {
        if length > self.bytes_max {
            let bad = BadStream::TooLarge { max: self.bytes_max };
            return Step::Bad { bad, dropped: 0, next: State::Skip(length) };
        }
        Step::Further(State::Part { length, is_image })
    }

    /// Drops what begins no image: up to the next byte that may.
    fn drop_junk(&mut self) {
        let rest = self.buffer.get(1..).unwrap_or_default();
        let begins = |byte: &u8| matches!(byte, 0xff | 0x89 | b'-' | b'R');
        let next = rest.iter().position(begins).map_or(self.buffer.len(), |at| at + 1);
        let dropped = self.buffer.get(..next).unwrap_or_default();
        let is_blank = dropped.iter().all(u8::is_ascii_whitespace);
        self.at_line_start = dropped.last() == Some(&b'\n');
        if !is_blank {
            self.junk = self.junk.saturating_add(next as u64);
        }
        self.drop_first(next);
    }

    fn end_part(&self, length: usize, is_image: bool) -> Step {
        let Some(part) = self.buffer.get(..length) else { return Step::Wait };
        if Encoding::of(part).is_some() {
            Step::Image { bytes: length }
        } else if is_image {
            Step::Bad { bad: BadStream::NoImage, dropped: length, next: State::Between }
        } else {
            Step::Further(State::Skip(length))
        }
    }

    fn skip(&mut self, length: usize) -> Step {
        let dropped = length.min(self.buffer.len());
        self.drop_first(dropped);
        self.at_line_start = true;
        match length - dropped {
            0 => Step::Further(State::Between),
            left => {
                self.state = State::Skip(left);
                Step::Wait
            }
        }
    }

    fn read_marker(&mut self, at: usize, sure: usize) -> Step {
        let here = State::JpegMarker { at, sure };
        if at > self.bytes_max {
            return self.too_large(sure);
        }
        let Some([first, code]) = self.pair(at) else { return self.wait_at(here) };
        match (first, code) {
            // Fill bytes.
            (0xff, 0xff) => Step::Further(State::JpegMarker { at: at + 1, sure }),
            (0xff, 0xd9) => Step::Image { bytes: at + 2 },
            // Another one begins: this one was cut.
            (0xff, 0xd8) => {
                let bad = BadStream::Cut { bytes: at };
                Step::Bad { bad, dropped: at, next: State::Between }
            }
            (0xff, 0x01 | 0xd0..=0xd7) => Step::Further(State::JpegMarker { at: at + 2, sure }),
            (0xff, 0x02..) => {
                let Some(length) = self.pair(at + 2) else { return self.wait_at(here) };
                match usize::from(u16::from_be_bytes(length)) {
                    0 | 1 => self.damaged("a JPEG", at, sure),
                    length if code == 0xda => Step::Further(State::JpegPixels(at + 2 + length)),
                    length => {
                        let next = at + 2 + length;
                        // Segments of applications may hold whole images: previews.
                        let sure = if matches!(code, 0xe0..=0xef) { next } else { at + 2 };
                        Step::Further(State::JpegMarker { at: next, sure })
                    }
                }
            }
            _ => self.damaged("a JPEG", at, sure),
        }
    }

    fn read_pixels(&mut self, at: usize) -> Step {
        let mut at = at;
        loop {
            if at > self.bytes_max && self.buffer.len() > self.bytes_max {
                return self.too_large(self.bytes_max);
            }
            let unread = self.buffer.get(at..).unwrap_or_default();
            let Some(offset) = memchr(0xff, unread) else {
                return self.wait_at(State::JpegPixels(at.max(self.buffer.len())));
            };
            at += offset;
            match self.pair(at) {
                None => return self.wait_at(State::JpegPixels(at)),
                // A stuffed byte, a restart, a fill byte.
                Some([_, 0x00 | 0xd0..=0xd7]) => at += 2,
                Some([_, 0xff]) => at += 1,
                Some(_) => return Step::Further(State::JpegMarker { at, sure: at }),
            }
        }
    }

    fn read_chunk(&mut self, at: usize, sure: usize) -> Step {
        if at > self.bytes_max {
            return self.too_large(sure);
        }
        let head = self.buffer.get(at..at.saturating_add(8));
        let Some(&[a, b, c, d, ref kind @ ..]) = head else {
            return self.wait_at(State::PngChunk { at, sure });
        };
        if !kind.iter().all(u8::is_ascii_alphabetic) {
            return self.damaged("a PNG", at, sure);
        }
        // Length, kind and checksum are twelve bytes.
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        let end = at.saturating_add(12).saturating_add(length);
        if kind != b"IEND" {
            return Step::Further(State::PngChunk { at: end, sure: at + 8 });
        }
        if end > self.bytes_max {
            self.too_large(sure)
        } else if self.buffer.len() < end {
            Step::Wait
        } else {
            Step::Image { bytes: end }
        }
    }

    fn pair(&self, at: usize) -> Option<[u8; 2]> {
        self.buffer.get(at..at.checked_add(2)?)?.try_into().ok()
    }

    fn wait_at(&mut self, state: State) -> Step {
        self.state = state;
        Step::Wait
    }

    fn too_large(&self, dropped: usize) -> Step {
        let bad = BadStream::TooLarge { max: self.bytes_max };
        Step::Bad { bad, dropped: dropped.min(self.buffer.len()), next: State::Between }
    }

    fn damaged(&self, format: &'static str, at: usize, sure: usize) -> Step {
        let dropped = sure.min(self.buffer.len());
        Step::Bad { bad: BadStream::Damaged { format, at }, dropped, next: State::Between }
    }

    fn cut_image(&mut self, bytes: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(bytes.min(self.buffer.len()));
        self.state = State::Between;
        self.at_line_start = true;
        self.junk = 0;
        std::mem::replace(&mut self.buffer, rest)
    }

    fn drop_first(&mut self, bytes: usize) {
        self.buffer.drain(..bytes.min(self.buffer.len()));
    }
}

enum Step {
    Further(State),
    Wait,
    Image { bytes: usize },
    Bad { bad: BadStream, dropped: usize, next: State },
}

enum Header {
    /// So many bytes, and what is said of the part where its length is.
    Whole {
        bytes: usize,
        part: Option<(usize, bool)>,
    },
    Unfinished,
    None,
}

/// Reads a boundary and the lines below it: `--name`, `Name: value`, a blank one.
fn header_of(buffer: &[u8]) -> Header {
    let (mut at, mut length, mut is_image, mut is_first) = (0, None, true, true);
    loop {
        let rest = buffer.get(at..).unwrap_or_default();
        let Some(end) = memchr(b'\n', rest) else {
            let is_text = rest.iter().all(|byte| is_text(*byte));
            let is_boundary = !is_first || b"--".starts_with(rest.get(..2).unwrap_or(rest));
            let is_short = at + rest.len() <= HEADER_BYTES_MAX;
            return if is_text && is_short && is_boundary {
                Header::Unfinished
            } else {
                Header::None
            };
        };
        let line = rest.get(..end).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        at += end + 1;
        if at > HEADER_BYTES_MAX || !line.iter().all(|byte| is_text(*byte)) {
            return Header::None;
        }
        let line = String::from_utf8_lossy(line);
        if std::mem::take(&mut is_first) {
            match line.strip_prefix("--") {
                None | Some("") => return Header::None,
                // The last boundary has nothing below it.
                Some(name) if name.len() > 2 && name.ends_with("--") => {
                    return Header::Whole { bytes: at, part: None };
                }
                Some(_) => continue,
            }
        }
        if line.is_empty() {
            return Header::Whole { bytes: at, part: length.map(|length| (length, is_image)) };
        }
        let Some((name, value)) = line.split_once(':') else { return Header::None };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().ok();
        } else if name.eq_ignore_ascii_case("content-type") {
            is_image = value.to_ascii_lowercase().starts_with("image/");
        }
    }
}

fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\r' | 0x20..=0x7e) || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::any;
    use proptest::proptest;

    const MAX: usize = 1 << 20;

    fn jpeg(seed: u8) -> Vec<u8> {
        let picture = image::RgbImage::from_fn(40, 30, |x, y| {
            let [x, y] = [x * 6, y * 8].map(|it| u8::try_from(it).unwrap());
            image::Rgb([x ^ seed, y, seed.wrapping_mul(37)])
        });
        let mut file = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 80);
        picture.write_with_encoder(encoder).unwrap();
        file
    }

    fn png(seed: u8) -> Vec<u8> {
        let picture = image::RgbImage::from_pixel(17, 9, image::Rgb([seed, 2, 3]));
        let mut file = Vec::new();
        picture.write_with_encoder(image::codecs::png::PngEncoder::new(&mut file)).unwrap();
        file
    }

    fn webp(seed: u8) -> Vec<u8> {
        let mut file = Vec::new();
        let picture = image::RgbImage::from_pixel(9, 7, image::Rgb([seed, 2, 3]));
        let encoder = image::codecs::webp::WebPEncoder::new_lossless(&mut file);
        picture.write_with_encoder(encoder).unwrap();
        file
    }

    /// A JPEG whose EXIF holds another one, as cameras write them.
    fn with_thumbnail(seed: u8) -> Vec<u8> {
        let (file, small) = (jpeg(seed), jpeg(seed ^ 0xff));
        let length = u16::try_from(small.len() + 2).unwrap().to_be_bytes();
        [&file[..2], &[0xff, 0xe1], &length, &small, &file[2..]].concat()
    }

    fn part(header: &str, body: &[u8]) -> Vec<u8> {
        [b"\r\n--frame\r\n", header.as_bytes(), b"\r\n\r\n", body].concat()
    }

    /// What comes of a stream that arrives in pieces of this many bytes.
    fn split(stream: &[u8], piece: usize) -> (Vec<Vec<u8>>, Vec<BadStream>) {
        let mut splitter = ImageSplitter::new(MAX);
        let (mut images, mut bad) = (Vec::new(), Vec::new());
        for bytes in stream.chunks(piece) {
            splitter.push(bytes);
            while let Some(next) = splitter.next_image() {
                match next {
                    Ok(image) => images.push(image),
                    Err(why) => bad.push(why),
                }
            }
        }
        bad.extend(splitter.finish());
        (images, bad)
    }

    #[track_caller]
    fn check(stream: &[u8], images: &[Vec<u8>], bad: &[BadStream]) {
        for piece in [1, 7, 100, 4_096, stream.len()] {
            let found = split(stream, piece);
            let lengths = |images: &[Vec<u8>]| images.iter().map(Vec::len).collect::<Vec<_>>();
            assert_eq!(lengths(&found.0), lengths(images), "in pieces of {piece}: {:?}", found.1);
            assert_eq!(found.0, images, "in pieces of {piece}");
            assert_eq!(found.1, bad, "in pieces of {piece}");
        }
    }

    #[test]
    fn files_one_after_the_other_come_out_whole() {
        let images = [jpeg(1), png(2), webp(6), with_thumbnail(3), jpeg(4), webp(7), png(5)];
        check(&images.concat(), &images, &[]);
    }

    #[test]
    fn parts_come_with_and_without_their_lengths() {
        let sized = |file: &[u8]| {
            let header = format!("Content-Type: image/jpeg\r\nContent-Length: {}", file.len());
            part(&header, file)
        };
        let (one, two, three, four) = (jpeg(1), with_thumbnail(2), png(3), jpeg(4));
        let (five, six) = (webp(5), webp(6));
        let answer = b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; \
            boundary=--frame\r\n\r\n";
        let stream = [
            answer.to_vec(),
            sized(&one),
            part("Content-Type: image/jpeg\r\nX-Timestamp: 17.25", &two),
            part("content-type: text/plain\r\ncontent-length: 5", b"hello"),
            sized(&three),
            b"\r\n--frame\n\n".to_vec(),
            four.clone(),
            sized(&five),
            part("Content-Type: image/webp", &six),
            b"\r\n--frame--\r\n".to_vec(),
        ];
        check(&stream.concat(), &[one, two, three, four, five, six], &[]);
    }

    #[test]
    fn a_cut_image_costs_itself_alone() {
        let (whole, cut) = (jpeg(1), jpeg(2));
        let start = &cut[..cut.len() - 60];
        let stream = [start, &whole, start].concat();
        let bytes = start.len();
        check(&stream, &[whole], &[BadStream::Cut { bytes }, BadStream::Cut { bytes }]);
    }

    #[test]
    fn an_image_cut_in_its_tables_costs_itself_alone() {
        let (whole, cut, next) = (jpeg(1), with_thumbnail(2), png(3));
        // Behind the preview, in a table whose length reaches into the next image.
        let start = &cut[..cut.len() - whole.len() + 300];
        for follows in [&whole, &next] {
            for first in [start, &next[..20]] {
                let (images, bad) = split(&[first, follows, &whole].concat(), 64);
                assert_eq!(images, [follows.clone(), whole.clone()], "{bad:?}");
                assert!(!bad.is_empty());
            }
        }
    }

    #[test]
    fn what_is_no_image_is_passed_over_and_counted() {
        let image = jpeg(1);
        let noise = [&[0x89, b'-', b'-', 0, 0xff, 0x12][..], &[7; 5_000], b"--\n--x\n"].concat();
        check(&[&noise, &*image, &noise, &image].concat(), &[image.clone(), image.clone()], &[]);
        let mut splitter = ImageSplitter::new(MAX);
        splitter.push(&noise);
        assert_eq!(splitter.next_image(), None);
        assert!(splitter.junk() > 5_000, "{}", splitter.junk());
    }

    #[test]
    fn images_beyond_the_limit_are_left_out_and_nothing_is_kept_of_them() {
        let small = jpeg(9);
        let mut splitter = ImageSplitter::new(small.len());
        // An endless scan, a part and a chunk that say too much.
        let whole = jpeg(1);
        let scan = [&whole[..whole.len() - 90], vec![5; 100_000].as_slice()].concat();
        let sized = part("Content-Length: 4000000000", &[1, 2, 3]);
        let chunk = [PNG_SIGNATURE, &[0x7f, 0xff, 0xff, 0xff], b"IDAT", &[0; 9_000]].concat();
        for stream in [scan, chunk, sized] {
            let mut bad = Vec::new();
            for bytes in stream.chunks(500) {
                splitter.push(bytes);
                while let Some(next) = splitter.next_image() {
                    bad.push(next.unwrap_err());
                }
                assert!(splitter.buffer.len() <= small.len() + 500);
            }
            assert_eq!(bad, [BadStream::TooLarge { max: small.len() }]);
            if !matches!(splitter.state, State::Skip(_)) {
                splitter.push(&small);
                assert_eq!(splitter.next_image(), Some(Ok(small.clone())));
            }
        }
    }

    #[test]
    fn damage_between_markers_is_named_and_the_next_image_comes() {
        let mut broken = jpeg(1);
        // Where the second marker should stand.
        let at = 4 + usize::from(u16::from_be_bytes([broken[4], broken[5]]));
        broken[at] = 0;
        let next = jpeg(2);
        let (images, bad) = split(&[broken, next.clone()].concat(), 64);
        assert!(images.contains(&next), "{bad:?}");
        assert_eq!(bad[0], BadStream::Damaged { format: "a JPEG", at });
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same(
            pieces in vec((0..8_usize, vec(any::<u8>(), 0..40)), 0..12),
            step in 1..50_usize,
        ) {
            let known = [jpeg(1), png(1), b"--b\r\nContent-Length: 9\r\n\r\n".to_vec(),
                b"\xff\xd8\xff".to_vec(), b"\r\n--".to_vec(), b"\xff\xd9".to_vec(),
                PNG_SIGNATURE.to_vec()];
            let stream: Vec<u8> = pieces
                .into_iter()
                .flat_map(|(which, noise)| known.get(which).cloned().unwrap_or(noise))
                .collect();
            if !stream.is_empty() {
                assert_eq!(split(&stream, step).0, split(&stream, stream.len()).0);
            }
        }
    }
}
