//! What a fuzzer throws bytes at: each reader of bytes that come from outside, or from a disk
//! that may be damaged, with what must hold of any answer.
//!
//! Built for `cargo fuzz` (`tests/fuzz/`) and for the tests alone, which run every corpus.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::base::picture::{self, ImageLimits};
use crate::capture::live::splitter::ImageSplitter;
use crate::capture::recording::{self, RecordingClock, RecordingSource};
use crate::capture::sidecar;
use crate::capture::{self, Defaults, FrameSource as _, SourceFrame};
use crate::memory::notes::filter::NoteFilter;
use crate::memory::state::render::{self, KeyPath, RENDERED_BYTES_MAX};

pub use crate::agent::fuzzing::agent_reply;
pub use crate::index::fuzzing::segment;
pub use crate::server::fuzzing::request_line;
pub use crate::store::fuzzing::value_on_disk;

/// Reader of bytes that come from a fuzzer; it panics where what must hold does not.
pub type Target = fn(&[u8]);

/// Every target, by the name of its corpus.
pub const TARGETS: [(&str, Target); 13] = [
    ("agent_reply", agent_reply),
    ("euroc", euroc),
    ("filter", filter),
    ("image", image),
    ("kitti", kitti),
    ("recording", recording),
    ("request_line", request_line),
    ("segment", segment),
    ("sidecar_jsonl", sidecar_jsonl),
    ("sidecar_tum", sidecar_tum),
    ("stream", stream),
    ("template", template),
    ("value_on_disk", value_on_disk),
];

/// `EuRoC`'s list of images, its ground truth and the calibration of its camera, one behind the
/// other with a zero between.
pub fn euroc(bytes: &[u8]) {
    let Ok(dir) = tempfile::tempdir() else { return };
    let sensors = dir.path().join("mav0");
    let mut parts = bytes.split(|byte| *byte == 0);
    let files = ["cam0/data.csv", "state_groundtruth_estimate0/data.csv", "cam0/sensor.yaml"];
    if files.iter().any(|name| !write(&sensors.join(name), parts.next().unwrap_or_default())) {
        return;
    }
    let lines = bytes.split(|byte| *byte == b'\n').count();
    drain(dir.path(), RecordingClock::Wall, lines);
}

/// A filter of notes: one that is understood says of any values whether they pass.
pub fn filter(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(filter) = NoteFilter::parse(&text) else { return };
    let negated = NoteFilter::parse(&format!("not ({text})"));
    for value in [Value::Null, json!(3), json!("lab"), json!(["lab", 2]), json!({"a": [1.5]})] {
        let named = |_name: &str| Some(Cow::Borrowed(&value));
        let admitted = filter.admits(&named);
        if let Ok(negated) = &negated {
            assert_ne!(negated.admits(&named), admitted, "{text} and its negation, of {value}");
        }
    }
    let _passes_without_values = filter.admits(&|_name| None);
}

/// A frame's image: within its limits, or refused.
pub fn image(bytes: &[u8]) {
    let limits = ImageLimits { bytes_max: 1 << 20, pixels_max: 1 << 18 };
    if let Ok(image) = picture::decode(bytes, limits) {
        assert!(u64::from(image.width()) * u64::from(image.height()) <= limits.pixels_max);
    }
}

/// KITTI's times, poses and packets of GPS and IMU, one behind the other with a zero between.
pub fn kitti(bytes: &[u8]) {
    let Ok(dir) = tempfile::tempdir() else { return };
    let mut parts = bytes.split(|byte| *byte == 0);
    let write = |name: &str, content: &[u8]| write(&dir.path().join(name), content);
    let mut is_written = true;
    for name in ["s/07/times.txt", "poses/07.txt", "raw/image_02/timestamps.txt"] {
        is_written &= write(name, parts.next().unwrap_or_default());
    }
    for number in 0..4 {
        is_written &= write(&format!("s/07/image_2/{number:06}.png"), b"image");
        is_written &= write(&format!("raw/image_02/data/{number:010}.png"), b"image");
        let packet = parts.next().unwrap_or_default();
        is_written &= write(&format!("raw/oxts/data/{number:010}.txt"), packet);
    }
    if !is_written {
        return;
    }
    for drive in ["s/07", "raw"] {
        drain(&dir.path().join(drive), RecordingClock::Offset(1_700_000_000_000_000), 4);
    }
}

/// A robot's recording (MCAP, `SQLite`, a bag of ROS 1) with the messages in it (CDR, those of ROS 1,
/// Protobuf, JSON, tf): what it lists can be asked for, and its frames come in the order of time.
pub fn recording(bytes: &[u8]) {
    let Ok(dir) = tempfile::tempdir() else { return };
    let path = dir.path().join("recording");
    if fs::write(&path, bytes).is_err() {
        return;
    }
    // The stamps of a simulation, too.
    let clock = RecordingClock::Offset(0);
    let options = recording::Options { clock, ..recording::Options::default() };
    let _contents = recording::list(&path, &options);
    let limits = ImageLimits { bytes_max: 1 << 20, pixels_max: 1 << 18 };
    let Ok((mut source, _)) = RecordingSource::open(&path, &options, limits) else { return };
    let mut newest = BTreeMap::new();
    for _ in 0..10_000 {
        let Some(next) = source.next_frame() else { return };
        let Ok(SourceFrame { meta, .. }) = next else { continue };
        let before = newest.insert(meta.source, meta.taken_at);
        assert!(before.is_none_or(|before| before < meta.taken_at), "frames go back in time");
    }
}

/// A camera's stream: its images do not depend on the pieces in which it comes.
pub fn stream(bytes: &[u8]) {
    const BYTES_MAX: usize = 1 << 16;
    let images = |piece: usize| {
        let mut splitter = ImageSplitter::new(BYTES_MAX);
        let mut images = Vec::new();
        for bytes in bytes.chunks(piece) {
            splitter.push(bytes);
            while let Some(image) = splitter.next_image() {
                images.extend(image);
            }
        }
        images
    };
    let (small, large) = (images(7), images(bytes.len().max(1)));
    assert!(small.iter().all(|image| image.len() <= BYTES_MAX));
    assert_eq!(small, large);
}

/// `frames.jsonl` as a robot writes it.
pub fn sidecar_jsonl(bytes: &[u8]) {
    sidecar(bytes, "frames.jsonl");
}

/// A trajectory of the TUM RGB-D data sets, or what somebody took for one.
pub fn sidecar_tum(bytes: &[u8]) {
    sidecar(bytes, "trajectory.txt");
}

/// A prompt's template: rendered within its bound, and a path reads back as it is written.
pub fn template(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let memory = json!({"goal": "find the $name", "task": {"steps": ["a", {"b": null}]}});
    let memory = memory.as_object().cloned().unwrap_or_default();
    let variables = Map::from_iter([("name".to_owned(), json!("keys $memory[goal]"))]);
    if let Ok(rendered) = render::render(&text, &memory, &variables) {
        assert!(rendered.text.len() <= RENDERED_BYTES_MAX);
    }
    if let Ok(path) = KeyPath::parse(&text) {
        let written = path.to_string();
        let again = KeyPath::parse(&written).map(|it| it.to_string());
        assert_eq!(again.ok().as_ref(), Some(&written));
    }
}

/// A file below directories that may not be there yet; whether it was written.
fn write(path: &Path, content: &[u8]) -> bool {
    let made = path.parent().is_some_and(|it| fs::create_dir_all(it).is_ok());
    made && fs::write(path, content).is_ok()
}

/// Reads the frames of a data set, of which there are so many at most.
fn drain(dir: &Path, clock: RecordingClock, frames_max: usize) {
    let recording = recording::Options { clock, ..recording::Options::default() };
    let (defaults, limits) = (Defaults::default(), ImageLimits::default());
    let options = capture::Options { sidecar: None, defaults, recording, limits };
    let Ok((mut source, _)) = capture::open_directory(dir, &options) else { return };
    assert!(source.remaining().is_some_and(|it| it <= frames_max), "an image is one frame");
    while let Some(frame) = source.next_frame() {
        let _found = frame.map(|it| it.meta.pose);
    }
}

fn sidecar(bytes: &[u8], name: &str) {
    let Ok(dir) = tempfile::tempdir() else { return };
    let path = dir.path().join(name);
    if fs::write(&path, bytes).is_err() {
        return;
    }
    let Ok(listing) = sidecar::read(&path, dir.path(), &Defaults::default()) else { return };
    let lines = bytes.split(|byte| *byte == b'\n').count();
    assert!(listing.frames.len() <= lines, "a line announces one frame at most");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::{Clock as _, SystemClock};
    use std::time::Duration;

    /// The corpora, which hold what fuzzing found, and each of their files damaged in a few
    /// ways that stay the same. With `FUZZ_SECONDS` in others as well, for so long each.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "of who runs the tests, not of the program")]
    fn every_corpus_is_read_without_a_panic() {
        let seconds = std::env::var("FUZZ_SECONDS").map_or(0, |it| it.parse().unwrap());
        let clock = SystemClock;
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
        for (name, target) in TARGETS {
            let mut files: Vec<_> = fs::read_dir(corpora.join(name))
                .unwrap_or_else(|error| panic!("the corpus of {name}: {error}"))
                .map(|entry| entry.unwrap().path())
                .collect();
            files.sort();
            assert!(files.len() >= 3, "{name} has {} files", files.len());
            let corpus: Vec<Vec<u8>> = files.iter().map(|it| fs::read(it).unwrap()).collect();
            for bytes in &corpus {
                target(bytes);
                let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
                for _ in 0..40 {
                    target(&damaged(bytes, &mut seed));
                }
            }
            let mut seed = clock.now().micros().cast_unsigned();
            // Shown where one of them panics.
            println!("{name} with the seed {seed}");
            let end = clock.tick() + Duration::from_secs(seconds);
            while clock.tick() < end {
                for bytes in &corpus {
                    target(&damaged(&damaged(bytes, &mut seed), &mut seed));
                }
            }
        }
    }

    /// What the corpora of bytes on disk begin with; run it when a format changes.
    #[test]
    #[ignore = "writes tests/fuzz/corpus"]
    fn first_files_of_the_corpora_are_written() {
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
        let seeds = [
            ("image", image_seeds()),
            ("segment", crate::index::fuzzing::seeds()),
            ("value_on_disk", crate::store::fuzzing::seeds()),
        ];
        for (target, files) in seeds {
            fs::create_dir_all(corpora.join(target)).unwrap();
            for (name, bytes) in files {
                fs::write(corpora.join(target).join(name), bytes).unwrap();
            }
        }
    }

    fn image_seeds() -> Vec<(&'static str, Vec<u8>)> {
        let image = image::RgbImage::from_fn(24, 16, |x, y| {
            image::Rgb([x, y, x * y].map(|it| u8::try_from(it * 7 % 256).unwrap()))
        });
        let mut jpeg = Vec::new();
        image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 60)
            .encode_image(&image)
            .unwrap();
        let mut png = std::io::Cursor::new(Vec::new());
        image.write_to(&mut png, image::ImageFormat::Png).unwrap();
        // APP1 with an orientation: turned by a quarter.
        let exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        let (start, rest) = jpeg.split_at(2);
        let turned = [start, &[0xFF, 0xE1], &length, exif, rest].concat();
        vec![("plain.jpg", jpeg.clone()), ("turned.jpg", turned), ("plain.png", png.into_inner())]
    }

    fn damaged(bytes: &[u8], seed: &mut u64) -> Vec<u8> {
        let mut next = || {
            // SplitMix64 (Steele et al. 2014).
            *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = *seed;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            usize::try_from((z ^ (z >> 31)) >> 8).unwrap()
        };
        let mut damaged = bytes.to_vec();
        for _ in 0..=next() % 4 {
            let at = next() % damaged.len().max(1);
            match next() % 4 {
                0 => damaged.truncate(at),
                1 => damaged.splice(at..at, [b'0'; 3]).for_each(drop),
                _ => {
                    if let Some(byte) = damaged.get_mut(at) {
                        *byte ^= 1 << (next() % 8);
                    }
                }
            }
        }
        damaged
    }
}
