//! Frames of a recording: its images, each with its time and pose.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use crate::base::frame::FrameMeta;
use crate::base::picture::{self, Encoding, ImageLimits};
use crate::base::time::Timestamp;
use crate::capture::pixels::{self, BadPixels, RawImage};
use crate::capture::recording::messages::{Header, ImageContent, ImageMessage, Stamp};
use crate::capture::recording::poses::{PoseFinder, PoseOrigin};
use crate::capture::recording::store::{Message, Messages};
use crate::capture::recording::{Options, Recording, RecordingClock, RecordingError, decode};
use crate::capture::{FrameFault, FrameFaults, FrameSource, SourceFrame};

/// Stamps before the year 2000 are of a simulation, which counts from its start.
pub(in crate::capture) const WALL_CLOCK_FROM: i64 = 946_684_800_000_000_000;
/// Nanoseconds that a stamp may be later than its recording.
const AHEAD_MAX: i64 = 86_400_000_000_000;

/// Images of a recording.
pub struct RecordingSource {
    images: Messages,
    left: Option<u64>,
    poses: PoseFinder,
    origin: PoseOrigin,
    clock: Shift,
    options: Options,
    limits: ImageLimits,
    /// Newest frame of each camera: given out, or known before.
    newest: BTreeMap<String, Timestamp>,
    known_before: BTreeMap<String, Timestamp>,
    known: usize,
    told: Told,
}

/// Counts of what is said at the end.
#[derive(Debug, Default)]
struct Told {
    located: u64,
    /// Frames without a pose, and why the first of them.
    unlocated: (u64, Option<String>),
    /// Images that are depth, by topic.
    depth: BTreeMap<String, (u64, String)>,
    /// Images without a stamp.
    unstamped: u64,
}

/// Microseconds from a recording's clock to the wall's.
#[derive(Debug, Clone, Copy)]
struct Shift {
    micros: i64,
    /// Whether the operator said so, and stamps may be of a simulation.
    is_stated: bool,
}

impl fmt::Debug for RecordingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingSource").field("options", &self.options).finish_non_exhaustive()
    }
}

impl RecordingSource {
    /// Opens the recording at `path`; what is wrong with it, but not with all of it, is in the
    /// second value.
    pub fn open(
        path: &Path,
        options: &Options,
        limits: ImageLimits,
    ) -> Result<(Self, FrameFaults), RecordingError> {
        let recording = Recording::open(path)?;
        let topics = recording.choose_images(&options.images)?;
        if options.source.is_some() && topics.len() > 1 {
            return Err(RecordingError::ManyCameras { count: topics.len() });
        }
        let origin = recording.choose_poses(options)?;
        let clock = shift(&recording, &topics, options.clock)?;
        let counts = recording.topics().into_iter().filter(|it| topics.contains(&it.name));
        let left = counts.map(|it| it.count).try_fold(0, |sum, count| Some(sum + count?));
        let mut faults = FrameFaults::default();
        for fault in recording.faults() {
            faults.push(fault.clone());
        }
        let source = Self {
            images: recording.read(&|topic| topics.contains(&topic.name)),
            left,
            poses: PoseFinder::new(&recording, &origin),
            origin,
            clock,
            options: options.clone(),
            limits,
            newest: BTreeMap::new(),
            known_before: BTreeMap::new(),
            known: 0,
            told: Told::default(),
        };
        Ok((source, faults))
    }

    /// The frame of an image; `None` where it is passed over without a word.
    fn frame(&mut self, message: &Message) -> Option<Result<SourceFrame, FrameFault>> {
        let topic = &message.topic.name;
        let fault = |place: String, reason: String| Some(Err(FrameFault { place, reason }));
        let image = match decode::image(message) {
            Ok(image) => image,
            Err(reason) => return fault(format!("{topic} {}", message.log_time), reason),
        };
        let ImageMessage { header, content } = image;
        let stamp = self.stamp(&header, message.log_time);
        let name = format!("{topic} {stamp}");
        let Some(taken_at) = self.clock.apply(stamp) else {
            return fault(name, "the stamp is of a simulation and others are not".to_owned());
        };
        // Of one in the future all later images would count as earlier.
        let is_wall_time = !self.clock.is_stated && message.log_time.0 >= WALL_CLOCK_FROM;
        if is_wall_time && stamp.0.saturating_sub(message.log_time.0) > AHEAD_MAX {
            return fault(name, "its stamp is more than a day later than its recording".to_owned());
        }
        let camera = self.options.source.as_ref().unwrap_or(topic);
        if self.known_before.get(camera).is_some_and(|newest| taken_at <= *newest) {
            self.known += 1;
            return None;
        }
        if let Some(newest) = self.newest.get(camera)
            && taken_at <= *newest
        {
            let reason = "its stamp is not later than that of the image before it".to_owned();
            return fault(name, reason);
        }
        let encoded = match encode(content, self.limits) {
            Ok(encoded) => encoded,
            Err(Unusable::Depth(encoding)) => {
                self.told.depth.entry(topic.clone()).or_insert((0, encoding)).0 += 1;
                return None;
            }
            Err(Unusable::Bad(reason)) => return fault(name, reason),
        };
        let meta = self.meta(camera.clone(), taken_at, &Header { stamp, ..header }, message);
        if let Err(bad) = meta.check() {
            return fault(name, bad.to_string());
        }
        self.newest.insert(meta.source.clone(), taken_at);
        Some(Ok(SourceFrame { name, meta, image: encoded, caption: None }))
    }

    /// The image's own stamp; the recorder's where its driver has set none.
    fn stamp(&mut self, header: &Header, log_time: Stamp) -> Stamp {
        if header.stamp != Stamp(0) {
            return header.stamp;
        }
        self.told.unstamped += 1;
        log_time
    }

    fn meta(
        &mut self,
        source: String,
        taken_at: Timestamp,
        header: &Header,
        message: &Message,
    ) -> FrameMeta {
        let located = self.poses.pose_at(header, message.log_time);
        let (pose, frame_id) = match located {
            Ok(found) => {
                self.told.located += 1;
                (Some(found.pose), found.frame_id)
            }
            Err(reason) => {
                self.told.unlocated.0 += 1;
                let place = format!("{} {}", message.topic.name, header.stamp);
                self.told.unlocated.1.get_or_insert_with(|| format!("{place}: {reason}"));
                (None, self.options.map_frame.clone())
            }
        };
        FrameMeta { taken_at, pose, frame_id, map_id: self.options.map_id.clone(), source }
    }
}

impl FrameSource for RecordingSource {
    fn next_frame(&mut self) -> Option<Result<SourceFrame, FrameFault>> {
        loop {
            let message = match self.images.next()? {
                Ok(message) => message,
                Err(fault) => return Some(Err(fault)),
            };
            self.left = self.left.map(|left| left.saturating_sub(1));
            if let Some(frame) = self.frame(&message) {
                return Some(frame);
            }
        }
    }

    fn remaining(&self) -> Option<usize> {
        self.left.and_then(|left| usize::try_from(left).ok())
    }

    fn skip_known(&mut self, newest: &BTreeMap<String, Timestamp>) {
        self.known_before.clone_from(newest);
    }

    fn known(&self) -> usize {
        self.known
    }

    fn notes(&self) -> Vec<String> {
        let Told { located, unlocated: (without, why), depth, unstamped } = &self.told;
        let mut notes = Vec::new();
        if *located > 0 {
            notes.push(match &self.origin {
                PoseOrigin::Transforms { map_frame } => {
                    format!("{located} poses: the camera's in {map_frame:?}, by tf")
                }
                PoseOrigin::Topic(topic) => format!("{located} poses: the robot's, by {topic}"),
                PoseOrigin::Nowhere { reason } => reason.clone(),
            });
        }
        if let Some(why) = why {
            notes.push(format!("{without} frames without a pose, the first {why}"));
        }
        if let (refused @ 1.., Some(why)) = self.poses.refused() {
            notes.push(format!("{refused} transforms or poses left out, the first: {why}"));
        }
        for (topic, (count, encoding)) in depth {
            notes.push(format!("{topic}: {count} images are depth ({encoding}) and no pictures"));
        }
        if *unstamped > 0 {
            notes.push(format!("{unstamped} images have no stamp: they have the recorder's time"));
        }
        if self.clock.is_stated {
            #[expect(clippy::cast_precision_loss, reason = "for a person to read")]
            let seconds = self.clock.micros as f64 / 1e6;
            notes.push(format!("{seconds} s were added to each stamp, as was asked for"));
        }
        notes
    }
}

impl Shift {
    /// `None` for a stamp of a simulation, of which nobody said when it was.
    fn apply(self, stamp: Stamp) -> Option<Timestamp> {
        if !self.is_stated && stamp.0 < WALL_CLOCK_FROM {
            return None;
        }
        Timestamp::from_micros((stamp.0.div_euclid(1_000)).checked_add(self.micros)?)
    }
}

/// The shift of a recording's clock, by the stamp of its first image.
fn shift(
    recording: &Recording,
    topics: &BTreeSet<String>,
    clock: RecordingClock,
) -> Result<Shift, RecordingError> {
    let path = || recording.path.clone();
    let mut why = recording.faults().next().map(ToString::to_string);
    let mut messages = recording.read(&|topic| topics.contains(&topic.name));
    let first = messages.find_map(|message| {
        let read = message.map_err(|fault| fault.to_string()).and_then(|message| {
            let image = decode::image(&message)?;
            Ok((image.header.stamp, message.log_time))
        });
        match read {
            Ok((Stamp(0), log_time)) => Some((log_time, log_time)),
            Ok(both) => Some(both),
            Err(reason) => {
                why.get_or_insert(reason);
                None
            }
        }
    });
    let Some((first, log_time)) = first else {
        let reason = why.unwrap_or_else(|| "its topics of images have no messages".to_owned());
        return Err(RecordingError::Empty { path: path(), reason });
    };
    let shift = match clock {
        RecordingClock::Wall => Shift { micros: 0, is_stated: false },
        RecordingClock::Offset(micros) => Shift { micros, is_stated: true },
        RecordingClock::Start(start) => {
            Shift { micros: start.micros() - first.0.div_euclid(1_000), is_stated: true }
        }
    };
    if shift.apply(first).is_some() {
        return Ok(shift);
    }
    if shift.is_stated {
        return Err(RecordingError::OutOfRange { path: path() });
    }
    let wall = Timestamp::from_micros(log_time.0 / 1_000).filter(|_| log_time.0 >= WALL_CLOCK_FROM);
    let recorded = wall.and_then(|it| chrono::DateTime::from_timestamp_micros(it.micros()));
    let recorded = recorded.map_or_else(
        || "by the same clock".to_owned(),
        |it| format!("at {}", it.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)),
    );
    Err(RecordingError::Simulated { first, recorded, path: path() })
}

/// Why an image is not used.
pub(in crate::capture) enum Unusable {
    Depth(String),
    Bad(String),
}

/// A file that the memory takes: what is packed as it is, what is raw as JPEG.
pub(in crate::capture) fn encode(
    content: ImageContent<'_>,
    limits: ImageLimits,
) -> Result<Vec<u8>, Unusable> {
    match content {
        ImageContent::Compressed { format, data } => {
            if is_depth(&format) {
                return Err(Unusable::Depth(format));
            }
            if Encoding::of(&data).is_none() {
                let reason = format!("format is {format:?}, accepted are JPEG, PNG and WebP");
                return Err(Unusable::Bad(reason));
            }
            Ok(data.into_owned())
        }
        ImageContent::Raw { width, height, encoding, is_bigendian, step, data } => {
            let (encoding, step) = (encoding.as_str(), Some(step));
            let raw = RawImage { width, height, encoding, is_bigendian, step, data: &data };
            let rgb = match pixels::to_rgb(&raw, limits) {
                Ok(rgb) => rgb,
                Err(BadPixels::Depth(encoding)) => return Err(Unusable::Depth(encoding)),
                Err(bad) => return Err(Unusable::Bad(bad.to_string())),
            };
            picture::to_jpeg(&rgb).map_err(|bad| Unusable::Bad(bad.to_string()))
        }
    }
}

/// `format` as `compressed_depth_image_transport` writes it: `16UC1; compressedDepth png`.
pub(super) fn is_depth(format: &str) -> bool {
    let encoding = format.split(';').next().unwrap_or_default().trim();
    format.contains("compressedDepth") || matches!(encoding, "16UC1" | "32FC1")
}
