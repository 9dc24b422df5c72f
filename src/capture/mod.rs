//! Frame sources, and the gate that selects keyframes.
//!
//! Knows files and pixels; nothing of what becomes of a frame.

pub mod directory;
mod euroc;
pub mod gate;
pub mod growing;
mod kitti;
pub mod live;
mod photographs;
pub mod pixels;
pub mod recording;
pub mod ros2;
pub mod sharpness;
pub mod sidecar;
pub mod signature;
mod video;
pub mod window;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::base::caption::Caption;
use crate::base::frame::FrameMeta;
use crate::base::picture::ImageLimits;
use crate::base::time::{Timestamp, Zone};
use crate::capture::directory::DirectorySource;
use crate::capture::photographs::Photographs;
use crate::capture::recording::{RecordingClock, RecordingError, RecordingSource};
use crate::capture::video::VideoSource;

/// Source of frames, one after the other.
///
/// Contract:
/// - frames of one `meta.source` come in strictly growing time;
/// - a frame that cannot be had is a [`FrameFault`], and the source goes on behind it;
/// - after the first `None` there is nothing more;
/// - the image is as it was encoded and not decoded: it may be damaged.
pub trait FrameSource {
    fn next_frame(&mut self) -> Option<Result<SourceFrame, FrameFault>>;

    /// Count of further results of [`FrameSource::next_frame`]; `None` where it cannot be known
    /// (a live camera).
    fn remaining(&self) -> Option<usize>;

    /// Skips, from now on, frames that are not newer than the `newest` known one of their camera,
    /// without decoding them.
    fn skip_known(&mut self, newest: &BTreeMap<String, Timestamp>);

    /// Count of frames that were skipped because they are known.
    fn known(&self) -> usize;

    /// What a person should know of the frames so far that is no fault of one: which have no
    /// pose, say.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Frame as its source has it.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFrame {
    /// For people: the file's name within its directory, say.
    pub name: String,
    pub meta: FrameMeta,
    /// Encoded, JPEG, PNG or WebP if all is well.
    pub image: Vec<u8>,
    /// Where whoever took it captioned it, too.
    pub caption: Option<Caption>,
}

/// Frame that a sidecar announces.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnouncedFrame {
    /// Path relative to the frames' directory, with `/`.
    pub file: String,
    pub meta: FrameMeta,
    pub caption: Option<Caption>,
}

/// Fault of one frame or line, which is left out while the rest goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameFault {
    /// `frames.jsonl:17`, or the name of a frame.
    pub place: String,
    pub reason: String,
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// First faults in full, and the count of all.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrameFaults {
    first: Vec<FrameFault>,
    total: usize,
}

impl FrameFaults {
    /// A person reads a hundred lines at most.
    const KEPT_MAX: usize = 100;

    pub fn push(&mut self, fault: FrameFault) {
        self.total += 1;
        if self.first.len() < Self::KEPT_MAX {
            self.first.push(fault);
        }
    }

    pub fn first(&self) -> &[FrameFault] {
        &self.first
    }

    pub fn total(&self) -> usize {
        self.total
    }
}

/// Options of recorded frames.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Sidecar with times and poses; found by name in the directory where `None`.
    pub sidecar: Option<PathBuf>,
    /// Of a directory of frames.
    pub defaults: Defaults,
    /// Of a robot's recording.
    pub recording: recording::Options,
    pub limits: ImageLimits,
}

/// Defaults of fields that a frame's line leaves out.
#[derive(Debug, Clone, PartialEq)]
pub struct Defaults {
    /// Zone of wall times without an offset.
    pub zone: Zone,
    pub source: String,
    pub frame_id: String,
    pub map_id: String,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            zone: Zone::Machine,
            source: "camera".to_owned(),
            frame_id: "map".to_owned(),
            map_id: String::new(),
        }
    }
}

/// Errors that make recorded frames unusable.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error("no directory of frames at {path:?}: {reason}")]
    NoDirectory { path: PathBuf, reason: String },
    #[error(
        "{path:?} holds no JPEG, PNG or WebP image, and says nowhere which frames were taken when; \
         accepted are photographs in it, one of {} in it, or a file named explicitly: JSONL with a line such as {JSONL_EXAMPLE}, or TUM order, that is \
         `timestamp tx ty tz qx qy qz qw file`, separated by spaces or commas",
        sidecar::NAMES.join(", ")
    )]
    NoSidecar { path: PathBuf },
    #[error(
        "--follow takes a directory of photographs, or of frames with frames.jsonl, as it grows; \
         {other}: {path:?}"
    )]
    NotGrowing { path: PathBuf, other: String },
    #[error("the video cannot be read: {reason}: {path:?}")]
    Video { path: PathBuf, reason: String },
    #[error("{path:?} is no sidecar; accepted are files that end in .jsonl, .csv or .txt")]
    UnknownSidecar { path: PathBuf },
    #[error("the sidecar cannot be read: {reason}: {path:?}")]
    Unreadable { path: PathBuf, reason: String },
    #[error(
        "the times count from the start of the drive, the first is {first} s; say when that was by \
         --start TIME, or what to add by --time-offset SECONDS: {path:?}"
    )]
    NoStart { first: f64, path: PathBuf },
    #[error("the sidecar has more than the accepted {max} bytes; split it: {path:?}")]
    SidecarTooLarge { path: PathBuf, max: u64 },
}

/// Whether a file of this name is a frame by its ending.
pub(crate) fn is_image_name(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    matches!(ending.as_deref(), Some("jpg" | "jpeg" | "png" | "webp"))
}

const JSONL_EXAMPLE: &str = r#"{"file": "0001.jpg", "time": "2025-01-03T09:14:07Z", "position": [1.2, -0.4, 0], "theta": 1.57}"#;

/// Opens what was recorded at `path`: a robot's recording, a video, or a directory of frames.
///
/// What is wrong with some of it is in the second value; only one from which nothing can come is
/// an error.
pub fn open(
    path: &Path,
    options: &Options,
) -> Result<(Box<dyn FrameSource>, FrameFaults), CaptureError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_file() && video::is_video_name(&name) {
        return Ok((Box::new(VideoSource::open(path, options)?), FrameFaults::default()));
    }
    let has_sidecar = options.sidecar.is_some() || sidecar::find(path).is_ok();
    let is_recording = path.is_file() || (!has_sidecar && recording::is_recording(path));
    if is_recording {
        let (source, faults) = RecordingSource::open(path, &options.recording, options.limits)?;
        return Ok((Box::new(source), faults));
    }
    let (source, faults) = open_directory(path, options)?;
    Ok((Box::new(source), faults))
}

/// Opens the frames in `dir` with the sidecar that belongs to them.
///
/// Nothing but the sidecar is read yet; where there is none, the images are photographs, of which
/// each says itself when it was taken, or its file does. What was wrong in it is in the second
/// value; only a directory from which nothing can come is an error.
pub fn open_directory(
    dir: &Path,
    options: &Options,
) -> Result<(DirectorySource, FrameFaults), CaptureError> {
    let no_directory = |error: std::io::Error| CaptureError::NoDirectory {
        path: dir.to_owned(),
        reason: error.to_string(),
    };
    let root = dir.canonicalize().map_err(no_directory)?;
    if !root.is_dir() {
        let reason = "it is a file".to_owned();
        return Err(CaptureError::NoDirectory { path: dir.to_owned(), reason });
    }
    let path = match &options.sidecar {
        Some(path) => Ok(path.clone()),
        None => sidecar::find(&root),
    };
    let source = |frames, mut notes: Vec<String>| -> Result<DirectorySource, CaptureError> {
        let (frames, moved) = moved(frames, options.recording.clock, &root)?;
        notes.extend(moved);
        Ok(DirectorySource::new(root.clone(), frames, options.limits).with_notes(notes))
    };
    let Ok(path) = path else {
        let (frames, faults, notes) = if let Some(sensors) = euroc::find(&root) {
            euroc::list(&root, &sensors, &options.defaults)?
        } else if let Some(drive) = kitti::find(&root) {
            kitti::list(&root, &drive, options)?
        } else {
            let Photographs { frames, faults, notes } =
                photographs::list(&root, &options.defaults)?;
            (frames, faults, notes)
        };
        return Ok((source(frames, notes)?, faults));
    };
    let listing = sidecar::read(&path, &root, &options.defaults)?;
    let mut faults = listing.faults;
    let source = source(listing.frames, Vec::new())?;
    let sidecar_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(fault) = source.find_unannounced(&sidecar_name) {
        faults.push(fault);
    }
    Ok((source, faults))
}

/// Frames on the clock that was asked for, and what is to be said of it.
fn moved(
    mut frames: Vec<AnnouncedFrame>,
    clock: RecordingClock,
    root: &Path,
) -> Result<(Vec<AnnouncedFrame>, Option<String>), CaptureError> {
    let first = frames.iter().map(|frame| frame.meta.taken_at).min();
    let added = match (clock, first) {
        (RecordingClock::Wall, _) | (_, None) => return Ok((frames, None)),
        (RecordingClock::Offset(micros), _) => micros,
        (RecordingClock::Start(start), Some(first)) => start.micros() - first.micros(),
    };
    for frame in &mut frames {
        let micros = frame.meta.taken_at.micros().checked_add(added);
        frame.meta.taken_at = micros
            .and_then(Timestamp::from_micros)
            .ok_or_else(|| RecordingError::OutOfRange { path: root.to_owned() })?;
    }
    #[expect(clippy::cast_precision_loss, reason = "for a person to read")]
    let seconds = added as f64 / 1e6;
    Ok((frames, Some(format!("{seconds} s were added to each time, as was asked for"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::picture;
    use crate::base::time::Timestamp;
    use crate::capture::signature::Signature;
    use std::fs;

    #[test]
    fn a_directory_without_times_says_what_is_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let error = open_directory(dir.path(), &options()).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, CaptureError::NoSidecar { .. }), "{text}");
        for form in ["frames.jsonl", "groundtruth.txt", "\"time\"", "timestamp tx ty tz"] {
            assert!(text.contains(form), "{text}");
        }
    }

    #[test]
    fn a_path_that_is_no_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "x").unwrap();
        for path in [file, dir.path().join("absent")] {
            let error = open_directory(&path, &options()).unwrap_err();
            assert!(matches!(error, CaptureError::NoDirectory { .. }), "{error}");
        }
    }

    #[test]
    fn times_of_any_directory_are_moved_as_was_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("1.jpg"), "image").unwrap();
        fs::write(dir.path().join("2.jpg"), "image").unwrap();
        let lines = r#"{"file": "1.jpg", "time": 1000}
            {"file": "2.jpg", "time": 1002.5}"#;
        fs::write(dir.path().join("frames.jsonl"), lines).unwrap();
        let check = |clock, expect: [i64; 2], note: &str| {
            let recording = recording::Options { clock, ..recording::Options::default() };
            let moved = Options { recording, ..options() };
            let mut source = open_directory(dir.path(), &moved).unwrap().0;
            let times = [(); 2].map(|()| source.next_frame().unwrap().unwrap().meta.taken_at);
            assert_eq!(times.map(|it| it.micros() / 1_000), expect);
            assert_eq!(source.notes().concat(), note);
        };
        check(RecordingClock::Wall, [1_000_000, 1_002_500], "");
        let note = "-0.5 s were added to each time, as was asked for";
        check(RecordingClock::Offset(-500_000), [999_500, 1_002_000], note);
        let start = Timestamp::from_seconds(3_000.0).unwrap();
        let note = "2000 s were added to each time, as was asked for";
        check(RecordingClock::Start(start), [3_000_000, 3_002_500], note);
    }

    #[test]
    fn faults_are_counted_beyond_those_kept() {
        let mut faults = FrameFaults::default();
        for n in 0..250 {
            faults.push(FrameFault { place: n.to_string(), reason: "wrong".to_owned() });
        }
        assert_eq!((faults.first().len(), faults.total()), (100, 250));
        assert_eq!(faults.first()[7].to_string(), "7: wrong");
    }

    /// The bundled flat holds the same view several times with fresh noise, and
    /// views from one place between which something was moved.
    #[test]
    fn the_flat_s_duplicates_are_merged_and_nothing_else() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/household-captioner/flat");
        let (mut source, faults) = open_directory(&dir, &options()).unwrap();
        assert_eq!((source.remaining(), faults.total()), (Some(199), 0));
        let (mut merged, mut last): (usize, Option<(FrameMeta, Timestamp, Signature)>) = (0, None);
        while let Some(frame) = source.next_frame() {
            let frame = frame.unwrap();
            let picture = picture::decode(&frame.image, ImageLimits::default()).unwrap();
            let signature = Signature::of(&picture);
            let kept = last.as_ref().map(|(meta, last_at, _)| gate::LastKeyframe {
                taken_at: meta.taken_at,
                last_at: *last_at,
                view: gate::Viewpoint::of(meta),
            });
            let arrival = gate::Arrival {
                taken_at: frame.meta.taken_at,
                view: gate::Viewpoint::of(&frame.meta),
                change: last.as_ref().map(|(_, _, kept)| signature.change_since(kept)),
            };
            match gate::decide(&gate::Options::default(), kept.as_ref(), &arrival).unwrap() {
                gate::Decision::Merge => {
                    merged += 1;
                    last.as_mut().unwrap().1 = frame.meta.taken_at;
                }
                gate::Decision::Keep => {
                    last = Some((frame.meta.clone(), frame.meta.taken_at, signature));
                }
            }
        }
        assert_eq!(merged, 18);
    }

    fn options() -> Options {
        let recording = recording::Options::default();
        let (defaults, limits) = (Defaults::default(), ImageLimits::default());
        Options { sidecar: None, defaults, recording, limits }
    }
}
