//! Frames of a video file, by `ffmpeg` where it is installed.
//!
//! A video says how long after its beginning a frame was taken, and when that was at best to a
//! second: by the caller's word, else by what its camera wrote into it, else as its file was
//! written when it ended.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::base::frame::FrameMeta;
use crate::base::time::{Timestamp, Zone};
use crate::capture::live::command::{CommandRun, Running, SourceCommand};
use crate::capture::live::splitter::ImageSplitter;
use crate::capture::{
    CaptureError, Defaults, FrameFault, FrameSource, Options, SourceFrame,
    recording::RecordingClock,
};

/// Frames a second that are looked at: of half a second the sharpest of four.
const RATE: u32 = 8;
const READ_BYTES: usize = 256 << 10;
/// What `ffmpeg` may open: a file that is really a list of addresses opens none of them.
const PROTOCOLS: [&str; 2] = ["-protocol_whitelist", "file"];

/// Whether a file of this name is a video by its ending.
pub(super) fn is_video_name(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let known = ["mp4", "m4v", "mov", "mkv", "webm", "avi", "mpg", "mpeg", "ts", "mts"];
    ending.is_some_and(|ending| known.contains(&ending.as_str()))
}

/// Frames of a video, each later by the same step.
pub(super) struct VideoSource {
    name: String,
    path: String,
    begins_at: Timestamp,
    notes: Vec<String>,
    defaults: Defaults,
    bytes_max: usize,
    /// Seconds of the whole, where the file says it.
    seconds: Option<f64>,
    /// Frames before this one are known.
    first: u64,
    next: u64,
    reading: Reading,
}

enum Reading {
    /// `ffmpeg` starts with the first frame, behind what is known.
    NotBegun,
    Running {
        run: CommandRun,
        output: ChildStdout,
        splitter: ImageSplitter,
    },
    Ended,
}

impl fmt::Debug for VideoSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VideoSource").field("path", &self.path).finish_non_exhaustive()
    }
}

impl VideoSource {
    pub(super) fn open(path: &Path, options: &Options) -> Result<Self, CaptureError> {
        let unreadable = |reason: String| CaptureError::Video { path: path.to_owned(), reason };
        let whole = path.canonicalize().map_err(|error| unreadable(error.to_string()))?;
        let input = whole.to_str().ok_or_else(|| unreadable("its path is no UTF-8".to_owned()))?;
        let input = format!("file:{input}");
        let facts = probe(&input).map_err(unreadable)?;
        let seconds = facts.seconds;
        let (begins_at, origin) = begin(&whole, &facts, options).map_err(unreadable)?;
        let notes = vec![format!(
            "the video began {}, {origin}; its frames are as much later as they come",
            options.defaults.zone.format(begins_at)
        )];
        Ok(Self {
            name: whole.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            path: input,
            begins_at,
            notes,
            defaults: options.defaults.clone(),
            bytes_max: options.limits.bytes_max,
            seconds,
            first: 0,
            next: 0,
            reading: Reading::NotBegun,
        })
    }

    fn time_of(&self, frame: u64) -> Timestamp {
        self.begins_at.plus(Duration::from_secs_f64(frame as f64 / f64::from(RATE)))
    }

    fn begin(&mut self) -> io::Result<Reading> {
        let seek = format!("{:.3}", self.first as f64 / f64::from(RATE));
        let rate = format!("fps={RATE}:start_time=0");
        let mut args = vec!["-nostdin", "-loglevel", "error"];
        args.extend(PROTOCOLS);
        if self.first > 0 {
            args.extend(["-ss", &seek]);
        }
        args.extend(["-i", &self.path, "-map", "0:v:0", "-vf", &rate]);
        args.extend(["-f", "image2pipe", "-c:v", "mjpeg", "-q:v", "2", "-"]);
        let args = args.into_iter().map(Into::into).collect();
        let command = SourceCommand { program: "ffmpeg".into(), args };
        let (run, output) = CommandRun::start(&command, &Running::default())?;
        let splitter = ImageSplitter::new(self.bytes_max);
        self.next = self.first;
        Ok(Reading::Running { run, output, splitter })
    }

    fn fault(&self, reason: String) -> FrameFault {
        FrameFault { place: self.name.clone(), reason }
    }

    fn frame(&mut self, image: Vec<u8>) -> SourceFrame {
        let number = self.next;
        self.next += 1;
        let Defaults { zone: _, source, frame_id, map_id } = self.defaults.clone();
        let taken_at = self.time_of(number);
        let name = format!("{} at {:.3} s", self.name, number as f64 / f64::from(RATE));
        let meta = FrameMeta { taken_at, pose: None, frame_id, map_id, source };
        SourceFrame { name, meta, image, caption: None }
    }

    /// The next image; `None` at the end.
    fn read(&mut self) -> Option<Result<Vec<u8>, FrameFault>> {
        if matches!(self.reading, Reading::NotBegun) {
            match self.begin() {
                Ok(reading) => self.reading = reading,
                Err(error) => {
                    self.reading = Reading::Ended;
                    return Some(Err(self.fault(format!("ffmpeg does not start: {error}"))));
                }
            }
        }
        let Reading::Running { output, splitter, .. } = &mut self.reading else { return None };
        let mut bytes = vec![0; READ_BYTES];
        loop {
            if let Some(image) = splitter.next_image() {
                return Some(image.map_err(|bad| self.fault(bad.to_string())));
            }
            match output.read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(read) => splitter.push(bytes.get(..read).unwrap_or_default()),
            }
        }
        let cut = splitter.finish();
        let Reading::Running { run, .. } = std::mem::replace(&mut self.reading, Reading::Ended)
        else {
            return None;
        };
        let how = run.end();
        if how == "exit code 0" && cut.is_none() {
            return None;
        }
        let cut = cut.map_or_else(String::new, |cut| format!("; {cut}"));
        Some(Err(self.fault(format!("ffmpeg: {how}{cut}"))))
    }
}

impl FrameSource for VideoSource {
    fn next_frame(&mut self) -> Option<Result<SourceFrame, FrameFault>> {
        let image = self.read()?;
        Some(image.map(|image| self.frame(image)))
    }

    fn remaining(&self) -> Option<usize> {
        let frames = self.seconds? * f64::from(RATE);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for a bar")]
        let frames = frames.max(0.0) as u64;
        usize::try_from(frames.saturating_sub(self.next.max(self.first))).ok()
    }

    fn skip_known(&mut self, newest: &BTreeMap<String, Timestamp>) {
        let Some(newest) = newest.get(&self.defaults.source) else { return };
        while self.time_of(self.first) <= *newest && self.remaining() != Some(0) {
            self.first += 1;
        }
    }

    fn known(&self) -> usize {
        usize::try_from(self.first).unwrap_or(usize::MAX)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// What a video says of itself.
#[derive(Debug, Default, PartialEq)]
struct Facts {
    seconds: Option<f64>,
    /// When its camera began.
    created_at: Option<Timestamp>,
}

fn probe(input: &str) -> Result<Facts, String> {
    let mut command = Command::new("ffprobe");
    command.args(["-v", "error", "-of", "json", "-show_entries"]);
    command.args(["format=duration:format_tags=creation_time:stream=codec_type"]);
    command.args(PROTOCOLS).arg(input).stdin(Stdio::null());
    let output = command.output().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            "videos are read by ffmpeg and ffprobe, which are not installed (Debian: apt install \
             ffmpeg)"
                .to_owned()
        } else {
            format!("ffprobe does not start: {error}")
        }
    })?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("ffprobe: {}", words.lines().last().unwrap_or("it failed").trim()));
    }
    facts(&output.stdout)
}

fn facts(json: &[u8]) -> Result<Facts, String> {
    let said: Value = serde_json::from_slice(json)
        .map_err(|error| format!("ffprobe's answer is not understood: {error}"))?;
    let streams = said.get("streams").and_then(Value::as_array);
    let is_video = |stream: &Value| stream.get("codec_type").is_some_and(|kind| kind == "video");
    if !streams.is_some_and(|streams| streams.iter().any(is_video)) {
        return Err("it has no pictures".to_owned());
    }
    let format = said.get("format");
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let duration = text(format.and_then(|it| it.get("duration")));
    let seconds = duration.and_then(|it| it.parse().ok()).filter(|it: &f64| it.is_finite());
    let created = text(format.and_then(|it| it.get("tags")?.get("creation_time")));
    // With its zone, UTC as a rule. Cameras without a clock write the beginning of 1904 or 1970.
    let created_at = created
        .and_then(|it| Zone::Named(chrono_tz::UTC).parse(&it, Timestamp::EPOCH).ok())
        .filter(|it| *it > Timestamp::EPOCH.plus(Duration::from_hours(24 * 365)));
    Ok(Facts { seconds, created_at })
}

fn begin(
    path: &Path,
    facts: &Facts,
    options: &Options,
) -> Result<(Timestamp, &'static str), String> {
    let moved = |time: Timestamp, micros: i64| {
        let moved = time.micros().checked_add(micros).and_then(Timestamp::from_micros);
        moved.ok_or_else(|| "--time-offset moves it out of the years 1970 to 9999".to_owned())
    };
    let offset = match options.recording.clock {
        RecordingClock::Start(time) => return Ok((time, "as --start says")),
        RecordingClock::Offset(micros) => micros,
        RecordingClock::Wall => 0,
    };
    if let Some(created_at) = facts.created_at {
        return Ok((moved(created_at, offset)?, "as its camera wrote into it"));
    }
    let written = fs::metadata(path).and_then(|it| it.modified());
    let written = written.map_err(|error| error.to_string())?;
    let written = Timestamp::EPOCH.plus(written.duration_since(UNIX_EPOCH).unwrap_or_default());
    let length = Duration::try_from_secs_f64(facts.seconds.unwrap_or(0.0)).unwrap_or_default();
    let origin =
        "if its file was written when it ended, which copying changes (--start says it better)";
    Ok((moved(written.minus(length), offset)?, origin))
}
