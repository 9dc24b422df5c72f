//! Sidecar files: times and poses of the frames of a directory.
//!
//! Two formats, by the file's ending:
//! - `.jsonl`: one JSON object a line, see [`jsonl`];
//! - `.csv`, `.txt`: the column order of TUM RGB-D trajectories, see [`tum`].
//!
//! A faulty line is reported with its number and left out, and so is one that is not
//! newer than the line before it of the same camera: the order of the lines is the
//! order of time. Does not read the frames themselves.

mod jsonl;
mod tum;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base::frame::BadName;
use crate::base::pose::BadPose;
use crate::base::time::{Timestamp, Zone};
use crate::capture::AnnouncedFrame;
use crate::capture::CaptureError;
use crate::capture::Defaults;
use crate::capture::FrameFault;
use crate::capture::FrameFaults;

/// Sidecar names, in the order of preference.
pub const NAMES: [&str; 4] = ["frames.jsonl", "frames.csv", "trajectory.txt", "groundtruth.txt"];

/// Size limit, about a million lines; a sidecar is read in whole.
const BYTES_MAX: u64 = 128 << 20;

/// Frames of a sidecar, in its own order, with its faults.
#[derive(Debug, PartialEq)]
pub struct Listing {
    pub frames: Vec<AnnouncedFrame>,
    pub faults: FrameFaults,
}

/// Sidecar in `dir` under one of [`NAMES`].
pub fn find(dir: &Path) -> Result<PathBuf, CaptureError> {
    NAMES
        .iter()
        .map(|name| dir.join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| CaptureError::NoSidecar { path: dir.to_owned() })
}

/// Reads the sidecar at `path` of the frames in `dir`.
pub fn read(path: &Path, dir: &Path, defaults: &Defaults) -> Result<Listing, CaptureError> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match ending.as_str() {
        "jsonl" => Ok(jsonl::parse(&SidecarText::open(path)?, defaults)),
        "csv" | "txt" => tum::read(path, dir, defaults),
        _ => Err(CaptureError::UnknownSidecar { path: path.to_owned() }),
    }
}

/// As [`read`], of JSONL that somebody writes: without a last line that is not ended.
pub(super) fn read_growing(path: &Path, defaults: &Defaults) -> Result<Listing, CaptureError> {
    let mut text = SidecarText::open(path)?;
    let ended = text.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    text.bytes.truncate(ended);
    Ok(jsonl::parse(&text, defaults))
}

/// A file of lines that lies beside the frames, whole.
pub(super) fn text(path: &Path) -> Result<String, CaptureError> {
    let SidecarText { name: _, bytes } = SidecarText::open(path)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A sidecar's bytes and the name that its faults carry.
struct SidecarText {
    name: String,
    bytes: Vec<u8>,
}

impl SidecarText {
    fn open(path: &Path) -> Result<Self, CaptureError> {
        let unreadable = |error: io::Error| CaptureError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let mut bytes = Vec::new();
        // One more than accepted, so that a longer one is noticed.
        let file = File::open(path).map_err(unreadable)?;
        file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(CaptureError::SidecarTooLarge { path: path.to_owned(), max: BYTES_MAX });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, bytes })
    }

    /// Numbered lines, without blank ones and `#` comments.
    fn lines(&self) -> impl Iterator<Item = (usize, Result<&str, BadLine>)> {
        let bytes = self.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.bytes);
        bytes
            .split(|byte| *byte == b'\n')
            .enumerate()
            .map(|(at, line)| (at + 1, line.trim_ascii()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"))
            .map(|(number, line)| {
                (number, std::str::from_utf8(line).map_err(|_invalid| BadLine::NotUtf8))
            })
    }

    fn fault(&self, line: usize, bad: &BadLine) -> FrameFault {
        FrameFault { place: format!("{}:{line}", self.name), reason: bad.to_string() }
    }
}

/// Faults of a line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum BadLine {
    #[error("the line is not UTF-8")]
    NotUtf8,
    #[error("the line is no JSON object: {0}")]
    NotAnObject(String),
    #[error("there is no field {field:?}; accepted are {accepted}")]
    UnknownField { field: String, accepted: String },
    #[error("{field} is missing, accepted is {accepted}")]
    Missing { field: &'static str, accepted: &'static str },
    #[error("{field} is {found}, accepted is {accepted}")]
    Field { field: String, found: String, accepted: &'static str },
    #[error("the line has {found} columns, accepted are {accepted}")]
    Columns { found: usize, accepted: &'static str },
    #[error(transparent)]
    Pose(#[from] BadPose),
    #[error(transparent)]
    Name(#[from] BadName),
    #[error(
        "time is {time}, not later than {last} of the line before it of source {source_name:?}"
    )]
    Backward { time: String, last: String, source_name: String },
}

/// Text of a line, quoted and cut for a message.
fn quote(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    if text.chars().count() <= SHOWN_MAX {
        return Value::from(text).to_string();
    }
    let cut: String = text.chars().take(SHOWN_MAX).collect();
    Value::from(format!("{cut}…")).to_string()
}

const TIME_ACCEPTED: &str = "RFC 3339 such as \"2025-01-03T09:14:07Z\", \
    \"YYYY-MM-DD HH:MM:SS\" or a number of seconds since 1970";

/// Last time of each camera so far.
#[derive(Default)]
struct Chronology(BTreeMap<String, Timestamp>);

impl Chronology {
    /// Refuses a frame that is not newer than the one before it of its camera.
    fn admit(&mut self, source: &str, time: Timestamp, zone: Zone) -> Result<(), BadLine> {
        let Some(last) = self.0.get_mut(source) else {
            self.0.insert(source.to_owned(), time);
            return Ok(());
        };
        if time <= *last {
            let (time, last) = (format_micros(time, zone), format_micros(*last, zone));
            return Err(BadLine::Backward { time, last, source_name: source.to_owned() });
        }
        *last = time;
        Ok(())
    }
}

/// Time with microseconds, or a message would show two equal times.
fn format_micros(time: Timestamp, zone: Zone) -> String {
    format!("{}.{:06}", zone.format(time), time.micros() % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn sidecars_are_found_by_name_in_a_fixed_order() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(find(dir.path()), Err(CaptureError::NoSidecar { .. })));
        for (name, expect) in [
            ("groundtruth.txt", "groundtruth.txt"),
            ("frames.csv", "frames.csv"),
            ("trajectory.txt", "frames.csv"),
            ("frames.jsonl", "frames.jsonl"),
        ] {
            fs::write(dir.path().join(name), "").unwrap();
            assert_eq!(find(dir.path()).unwrap(), dir.path().join(expect));
        }
    }

    #[test]
    fn files_are_refused_by_ending_and_by_size() {
        let dir = tempfile::tempdir().unwrap();
        let read = |name: &str| read(&dir.path().join(name), dir.path(), &Defaults::default());
        assert!(matches!(read("frames.yaml"), Err(CaptureError::UnknownSidecar { .. })));
        assert!(matches!(read("absent.jsonl"), Err(CaptureError::Unreadable { .. })));
        let huge = File::create(dir.path().join("huge.jsonl")).unwrap();
        huge.set_len(BYTES_MAX + 1).unwrap();
        assert!(matches!(read("huge.jsonl"), Err(CaptureError::SidecarTooLarge { .. })));
    }

    #[test]
    fn comments_blank_lines_and_line_endings_do_not_shift_the_numbers() {
        let text = SidecarText {
            name: "x".to_owned(),
            bytes: b"\xEF\xBB\xBF# c\n\n  a \r\n\xFF\nb".into(),
        };
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines, [(3, Ok("a")), (4, Err(BadLine::NotUtf8)), (5, Ok("b"))]);
    }

    #[test]
    fn long_texts_are_cut_in_messages() {
        assert_eq!(quote("a\"b"), r#""a\"b""#);
        assert_eq!(quote(&"ü".repeat(61)).chars().count(), 63);
    }
}
