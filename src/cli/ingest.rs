//! `engram ingest PATH`: sends recorded frames to the daemon; [`live`] those of a camera.
//!
//! Reads a robot's recording or a directory of frames here and sends each with the `observe` tool, oldest first. Frames that the
//! daemon already has are skipped, so that an interrupted run is finished by running it again.
//! A faulty frame or line is reported and the rest goes on; only a daemon that fails ends the
//! run.

mod follow;
mod list;
mod live;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use crate::base::caption::Caption;
use crate::base::frame::FrameMeta;
use crate::base::picture::ImageLimits;
use crate::base::pose::Pose;
use crate::base::time::{Clock as _, SystemClock, Timestamp, Zone};
use crate::capture::recording::{self, RecordingClock};
use crate::capture::ros2;
use crate::capture::window::SharpestFrames;
use crate::capture::{self, Defaults, FrameFault, FrameFaults, FrameSource as _, SourceFrame};
use crate::cli::client::{Client, ClientError, ClientOptions, ClientReply};
use crate::cli::output::say;
use crate::ingest::TRY_AGAIN;
use crate::tools::ingest::ingest_status::IngestStatus;
use crate::tools::ingest::observe::Observe;
use crate::tools::tool::Tool as _;

/// What to send and what holds for frames that do not say.
#[derive(Debug, Clone, PartialEq, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Flags {
    /// Recording of a robot (MCAP, a rosbag of ROS 2 or 1, or a directory of such files), or directory of JPEG, PNG and WebP frames; - for a camera's stream on standard input: JPEG, PNG or WebP files one after the other, or multipart/x-mixed-replace
    #[arg(required_unless_present_any = ["command", "ros2"])]
    path: Option<PathBuf>,
    /// Shell command that writes such a stream, such as "ffmpeg -i rtsp://… -f image2pipe -c:v mjpeg -"; started again when it ends, until Ctrl-C
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["path", "sidecar"])]
    command: Option<String>,
    /// A ROS 2 robot's camera, with the stamps of its images and the poses of its tf (or --pose): no ROS needed, until Ctrl-C
    #[arg(long, conflicts_with_all = ["path", "command", "sidecar", "position", "list", "start", "time_offset"])]
    ros2: bool,
    /// With --ros2: number of the domain
    #[arg(long, value_name = "NUMBER", env = "ROS_DOMAIN_ID", value_parser = clap::value_parser!(u16).range(..=i64::from(ros2::DOMAIN_MAX)))]
    domain: Option<u16>,
    /// With --ros2: its nodes speak Zenoh instead of DDS, through the router at tcp/HOST:PORT
    #[arg(long, value_name = "ENDPOINT", requires = "ros2", num_args = 0..=1, default_missing_value = ros2::ZENOH_ROUTER, value_parser = ros2::zenoh_endpoint)]
    zenoh: Option<String>,
    /// Of a camera that does not move: where it stands, metres X,Y or X,Y,Z. Frames without a position get what `engram pose` says
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = live::position)]
    position: Option<Pose>,
    /// With --position: where it looks, radians
    #[arg(long, value_name = "RADIANS", allow_negative_numbers = true, requires = "position")]
    theta: Option<f64>,
    /// With --command or --ros2: it is ended and started again after so many seconds without an image; 0 waits for ever
    #[arg(long, value_name = "SECONDS", default_value = STALL, value_parser = window)]
    stall: Duration,
    /// With --command or --ros2: MiB of memory that it may take; 0 for no limit
    #[arg(long, value_name = "MIB", default_value_t = MEMORY_LIMIT_MB)]
    memory_limit_mb: u64,
    /// Times and poses of the frames: JSONL, or CSV in TUM order (timestamp tx ty tz qx qy qz qw file); found in PATH where absent
    #[arg(long, value_name = "FILE")]
    sidecar: Option<PathBuf>,
    /// Camera of the frames whose line names none, "camera" where absent; of a recording its one topic of images, which names it where absent
    #[arg(long)]
    source: Option<String>,
    /// Coordinate frame of the poses whose line names none
    #[arg(long, default_value = "map")]
    frame_id: String,
    /// Map of the poses whose line names none
    #[arg(long, default_value = "", hide_default_value = true)]
    map_id: String,
    /// IANA time zone of times without an offset; the setting time.zone where absent
    #[arg(long, default_value = "", hide_default_value = true)]
    zone: String,
    /// Topic of images in a recording or of a robot (one, packed where it is published packed, too), may be given several times; all of them where absent
    #[arg(long, value_name = "TOPIC")]
    image: Vec<String>,
    /// Topic of poses in a recording or of a robot: tf, odometry, stamped poses; tf where there is one with the map's frame, else odometry
    #[arg(long, value_name = "TOPIC")]
    pose: Option<String>,
    /// Coordinate frame of the map in tf
    #[arg(long, value_name = "FRAME", default_value = "map")]
    map_frame: String,
    /// When a recording's first image was taken; for stamps that count from the start of a simulation
    #[arg(long, value_name = "TIME", conflicts_with = "time_offset")]
    start: Option<String>,
    /// Seconds to add to each stamp of a recording
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_offset: Option<f64>,
    /// Print what a recording holds and send nothing
    #[arg(long)]
    list: bool,
    /// With --list: print JSON
    #[arg(long, requires = "list")]
    json: bool,
    /// Of frames of a source within so many seconds only the sharpest is sent; 0 sends all
    #[arg(long, value_name = "SECONDS", default_value = WINDOW, value_parser = window)]
    window: Duration,
    /// Stay and send each image that comes to the directory once it is whole, until Ctrl-C
    #[arg(long, conflicts_with_all = ["command", "ros2", "position", "image", "pose", "map_frame", "start", "time_offset", "list", "no_wait"])]
    follow: bool,
    /// Do not stay until every frame is captioned
    #[arg(long)]
    no_wait: bool,
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IngestReport {
    /// Taken in, to be captioned.
    pub sent: u64,
    /// Taken in as a repetition of the one before.
    pub merged: u64,
    /// Dropped by the daemon: dark, blurred, or too many a second.
    pub dropped: u64,
    /// Not sent, for a sharper one of the same window.
    pub passed_over: u64,
    /// Skipped: the daemon had them already, or newer ones of their source.
    pub known: usize,
    /// Captioned by the daemon meanwhile, frames of others included.
    pub captioned: u64,
    /// Set aside by the daemon meanwhile.
    pub failed: u64,
    /// Still waiting for their caption.
    pub pending: u64,
    /// Lines and frames that were left out.
    pub refused: FrameFaults,
    /// Why the frames that still wait make no progress.
    pub stuck: Option<String>,
    /// What else there is to know of the frames.
    pub notes: Vec<String>,
}

/// Seconds of which the sharpest frame is sent.
const WINDOW: &str = "0.5";
/// Seconds without an image after which a camera's command is started again.
const STALL: &str = "30";
/// MiB that a camera's command may take.
const MEMORY_LIMIT_MB: u64 = 1024;
/// Interval of the progress polls.
const POLL: Duration = Duration::from_millis(200);
/// Polls without progress, while the daemon says that it does not caption, that end the wait: a
/// minute.
const POLLS_STUCK_MAX: u32 = 300;
/// Internal errors in a row that count as the daemon's fault, not the frames'.
const ERRORS_IN_A_ROW_MAX: u32 = 3;
/// Frames sent between two polls.
const FRAMES_A_LOOK: u64 = 50;
/// Refusals that the report prints.
const REFUSALS_SHOWN: usize = 20;

/// Sends the frames and prints the outcome; fails when nothing could be ingested.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
    program: &Path,
) -> anyhow::Result<ExitCode> {
    let report = match &flags.path {
        Some(path) if path != Path::new("-") => {
            ensure!(flags.position.is_none(), "--position is for cameras, of \"-\" or --command");
            if flags.follow {
                let report = follow::run(socket, options, flags)?;
                say(report.to_string().trim_end())?;
                return Ok(ExitCode::SUCCESS);
            }
            if flags.list {
                list::print(path, &flags.capture()?.recording, flags.json)?;
                return Ok(ExitCode::SUCCESS);
            }
            send(&mut Client::connect(socket, options)?, flags)?
        }
        _ => {
            ensure!(
                !flags.follow,
                "--follow is for a directory; a camera's stream is followed as it is"
            );
            ensure!(!flags.list, "--list is for recordings; a camera's stream holds what comes");
            live::run(socket, options, flags, program)?
        }
    };
    say(report.to_string().trim_end())?;
    Ok(if report.is_failure() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Sends the frames and, unless told otherwise, waits until they are captioned.
/// Progress goes to standard error where that is a terminal.
pub fn send(client: &mut Client, flags: &Flags) -> anyhow::Result<IngestReport> {
    let mut call = |tool: &str, arguments| client.call(tool, arguments);
    Run::new(&mut call, ProgressBar::no_length(), POLL).ingest(flags)
}

impl Flags {
    /// All frames of what lies at `path`, each as it has them.
    pub fn of(path: PathBuf) -> Self {
        let Defaults { zone: _, source: _, frame_id, map_id } = Defaults::default();
        Self {
            path: Some(path),
            command: None,
            ros2: false,
            domain: None,
            zenoh: None,
            position: None,
            theta: None,
            stall: window(STALL).unwrap_or_default(),
            memory_limit_mb: MEMORY_LIMIT_MB,
            sidecar: None,
            source: None,
            frame_id,
            map_id,
            zone: String::new(),
            image: Vec::new(),
            pose: None,
            map_frame: recording::Options::default().map_frame,
            start: None,
            time_offset: None,
            list: false,
            json: false,
            window: window(WINDOW).unwrap_or_default(),
            follow: false,
            no_wait: false,
        }
    }

    /// The zone of the settings, for flags that name none.
    pub(super) fn with_zone(mut self, zone: &str) -> Self {
        if self.zone.is_empty() {
            zone.clone_into(&mut self.zone);
        }
        self
    }

    fn capture(&self) -> anyhow::Result<capture::Options> {
        let zone = Zone::from_name(&self.zone)?;
        let Defaults { source, .. } = Defaults::default();
        let defaults = Defaults {
            zone,
            source: self.source.clone().unwrap_or(source),
            frame_id: self.frame_id.clone(),
            map_id: self.map_id.clone(),
        };
        let recording = recording::Options {
            images: self.image.clone(),
            pose: self.pose.clone(),
            map_frame: self.map_frame.clone(),
            clock: self.clock(zone)?,
            source: self.source.clone(),
            map_id: self.map_id.clone(),
        };
        // What the daemon's own limits refuse, it refuses itself.
        let limits = ImageLimits::default();
        Ok(capture::Options { sidecar: self.sidecar.clone(), defaults, recording, limits })
    }

    fn clock(&self, zone: Zone) -> anyhow::Result<RecordingClock> {
        /// Beyond any year that is accepted.
        const OFFSET_MAX: f64 = 1e12;
        Ok(match (&self.start, self.time_offset) {
            (Some(start), _) => RecordingClock::Start(zone.parse(start, SystemClock.now())?),
            (None, None) => RecordingClock::Wall,
            (None, Some(seconds)) if seconds.abs() <= OFFSET_MAX => {
                #[expect(clippy::cast_possible_truncation, reason = "checked just above")]
                let micros = (seconds * 1e6).round() as i64;
                RecordingClock::Offset(micros)
            }
            (None, Some(other)) => {
                bail!("--time-offset is {other}, accepted are seconds within ±{OFFSET_MAX}")
            }
        })
    }
}

fn window(text: &str) -> Result<Duration, String> {
    let given = text.trim().parse().ok().and_then(|it| Duration::try_from_secs_f64(it).ok());
    given.ok_or_else(|| "accepted is a number of seconds, 0 or more".to_owned())
}

impl IngestReport {
    /// Whether nothing at all could be ingested.
    pub(super) fn is_failure(&self) -> bool {
        self.sent == 0 && self.merged == 0 && self.known == 0 && self.dropped == 0
    }

    fn note_taken(&mut self, reply: &ClientReply) {
        match reply.structured.get("state").and_then(Value::as_str) {
            Some("merged") => self.merged += 1,
            Some("dropped") => self.dropped += 1,
            _ => self.sent += 1,
        }
    }

    fn count(&mut self, before: &Standing, now: &Standing) {
        self.captioned = now.captioned.saturating_sub(before.captioned);
        self.failed = now.failed.saturating_sub(before.failed);
        self.pending = now.pending;
    }
}

impl fmt::Display for IngestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sent, merged, dropped, passed_over, known, .. } = self;
        let Self { captioned, failed, pending, refused, stuck, notes, .. } = self;
        writeln!(f, "{sent} frames sent, {merged} merged into others, {known} known already")?;
        if *passed_over > 0 {
            writeln!(f, "{passed_over} not sent, for sharper ones just before or after")?;
        }
        if *dropped > 0 {
            writeln!(f, "{dropped} dropped by the daemon as dark, blurred or too many a second")?;
        }
        writeln!(f, "{captioned} captioned, {failed} failed, {pending} pending")?;
        if let Some(reason) = stuck {
            writeln!(f, "not waiting any longer: {reason}")?;
        }
        for note in notes {
            writeln!(f, "{note}")?;
        }
        if refused.total() > 0 {
            writeln!(f, "{} refused:", refused.total())?;
        }
        for fault in refused.first().iter().take(REFUSALS_SHOWN) {
            writeln!(f, "  {fault}")?;
        }
        match refused.total().checked_sub(REFUSALS_SHOWN) {
            Some(more @ 1..) => writeln!(f, "  and {more} more"),
            _ => Ok(()),
        }
    }
}

type ToolCaller<'a> = dyn FnMut(&str, Map<String, Value>) -> Result<ClientReply, ClientError> + 'a;

struct Run<'a> {
    call: &'a mut ToolCaller<'a>,
    poll: Duration,
    bar: ProgressBar,
    report: IngestReport,
    errors_in_a_row: u32,
    /// Frames sent since the last look, whatever became of them.
    unlooked: u64,
}

impl<'a> Run<'a> {
    fn new(call: &'a mut ToolCaller<'a>, bar: ProgressBar, poll: Duration) -> Self {
        let report = IngestReport::default();
        Self { call, poll, bar, report, errors_in_a_row: 0, unlooked: 0 }
    }

    fn ingest(mut self, flags: &Flags) -> anyhow::Result<IngestReport> {
        let path = flags.path.as_deref().unwrap_or_else(|| Path::new(""));
        let (mut source, faults) = capture::open(path, &flags.capture()?)?;
        self.report.refused = faults;
        let before = self.standing()?;
        source.skip_known(&before.newest);
        let mut source = SharpestFrames::new(source, flags.window, ImageLimits::default());
        self.show_bar("sending", source.remaining());
        while let Some(frame) = source.next_frame() {
            match frame {
                Ok(frame) => self.send(&frame, &before)?,
                Err(fault) => self.report.refused.push(fault),
            }
            self.bar.inc(1);
        }
        self.report.known = source.known();
        self.report.passed_over = source.passed_over();
        self.report.notes = source.notes();
        let after = if flags.no_wait { self.standing()? } else { self.wait(&before)? };
        self.report.count(&before, &after);
        self.bar.finish_and_clear();
        Ok(self.report)
    }

    fn show_bar(&self, what: &'static str, length: Option<usize>) {
        const TEMPLATE: &str = "{prefix:>10} [{bar:30}] {pos}/{len} {eta} {msg}";
        // A template that did not parse would cost the bar its looks only.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.reset();
        self.bar.set_prefix(what);
        self.bar.set_length(length.unwrap_or(0) as u64);
    }

    fn show_standing(&mut self, before: &Standing, now: &Standing) {
        self.report.count(before, now);
        let IngestReport { merged, captioned, failed, .. } = &self.report;
        let refused = self.report.refused.total();
        self.bar.set_message(format!(
            "{merged} merged, {captioned} captioned, {failed} failed, {refused} refused"
        ));
    }

    fn send(&mut self, frame: &SourceFrame, before: &Standing) -> anyhow::Result<()> {
        loop {
            let reply = match (self.call)(Observe::NAME, arguments(frame)) {
                Ok(reply) => reply,
                Err(error) => return self.note_error(frame, error),
            };
            self.errors_in_a_row = 0;
            if !reply.is_error {
                self.report.note_taken(&reply);
            } else if reply.text.contains(TRY_AGAIN) {
                self.wait_for_room(before, &reply.text)?;
                continue;
            } else {
                self.refuse(frame, reply.text);
            }
            break;
        }
        self.unlooked += 1;
        if self.unlooked >= FRAMES_A_LOOK {
            self.unlooked = 0;
            let now = self.standing()?;
            self.show_standing(before, &now);
        }
        Ok(())
    }

    fn refuse(&mut self, frame: &SourceFrame, reason: String) {
        self.report.refused.push(FrameFault { place: frame.name.clone(), reason });
    }

    /// An internal error may come of this one frame; a connection that is gone
    /// cannot.
    fn note_error(&mut self, frame: &SourceFrame, error: ClientError) -> anyhow::Result<()> {
        self.errors_in_a_row += 1;
        let is_passing = matches!(error, ClientError::Refused { .. } | ClientError::Late(_));
        if is_passing && self.errors_in_a_row < ERRORS_IN_A_ROW_MAX {
            self.refuse(frame, error.to_string());
            return Ok(());
        }
        let done = self.report.sent + self.report.merged;
        Err(error).with_context(|| {
            format!("the daemon failed at {} after {done} frames; run again to go on", frame.name)
        })
    }

    fn wait_for_room(&mut self, before: &Standing, refusal: &str) -> anyhow::Result<()> {
        let mut patience = Patience::default();
        let at_first = self.standing()?.count_settled();
        loop {
            thread::sleep(self.poll);
            let now = self.standing()?;
            self.show_standing(before, &now);
            // The last one may have left the spool between the refusal and the first look.
            if now.pending == 0 || now.count_settled() > at_first {
                return Ok(());
            }
            if patience.is_over(&now) {
                bail!("the daemon takes no more frames: {refusal}; {}", now.complaint());
            }
        }
    }

    fn wait(&mut self, before: &Standing) -> anyhow::Result<Standing> {
        let first = self.standing()?;
        self.show_bar("captioning", usize::try_from(first.pending).ok());
        let mut patience = Patience::default();
        loop {
            let now = self.standing()?;
            self.show_standing(before, &now);
            self.bar.set_position(first.pending.saturating_sub(now.pending));
            if now.pending == 0 {
                return Ok(now);
            }
            if patience.is_over(&now) {
                self.report.stuck = Some(now.complaint());
                return Ok(now);
            }
            thread::sleep(self.poll);
        }
    }

    fn standing(&mut self) -> anyhow::Result<Standing> {
        let reply = (self.call)(IngestStatus::NAME, Map::new())
            .context("the daemon does not say how far it is; run again to go on")?;
        Standing::of(&reply.structured).with_context(|| {
            format!("the daemon's ingest_status is not understood: {}", reply.text)
        })
    }
}

/// Ends waiting for a daemon that makes no progress and says so itself: a slow
/// captioner is waited for as long as it takes.
#[derive(Default)]
struct Patience {
    settled: u64,
    polls: u32,
}

impl Patience {
    fn is_over(&mut self, now: &Standing) -> bool {
        if now.captioning || now.count_settled() != self.settled {
            *self = Self { settled: now.count_settled(), polls: 0 };
        }
        self.polls += 1;
        self.polls > POLLS_STUCK_MAX
    }
}

/// Progress of the daemon, from `ingest_status`.
#[derive(Debug, Clone, PartialEq)]
struct Standing {
    pending: u64,
    captioned: u64,
    failed: u64,
    captioning: bool,
    last_error: Option<String>,
    newest: BTreeMap<String, Timestamp>,
}

impl Standing {
    fn of(status: &Map<String, Value>) -> Option<Self> {
        let number = |field: &str| status.get(field)?.as_u64();
        let newest = |source: &Value| {
            let seconds = source.get("newest_timestamp")?.as_f64()?;
            let name = source.get("source")?.as_str()?.to_owned();
            Some((name, Timestamp::from_seconds(seconds)?))
        };
        let last_error = status.get("last_error").and_then(|it| it.get("error")?.as_str());
        Some(Self {
            pending: number("pending")?,
            captioned: number("captioned")?,
            failed: number("failed")?,
            captioning: status.get("captioning")?.as_bool()?,
            last_error: last_error.map(str::to_owned),
            newest: status.get("sources")?.as_array()?.iter().map(newest).collect::<Option<_>>()?,
        })
    }

    /// Frames that left the spool.
    fn count_settled(&self) -> u64 {
        self.captioned + self.failed
    }

    fn complaint(&self) -> String {
        self.last_error.clone().unwrap_or_else(|| "the daemon captions no frames".to_owned())
    }
}

fn arguments(frame: &SourceFrame) -> Map<String, Value> {
    let SourceFrame { name: _, meta, image, caption } = frame;
    let FrameMeta { taken_at, pose, frame_id, map_id, source } = meta;
    let mut arguments = Map::new();
    let mut set = |name: &str, value: Value| arguments.insert(name.to_owned(), value);
    set("image", Value::from(STANDARD.encode(image)));
    if let Some(Caption { text, confidence, detections: _ }) = caption {
        set("caption", Value::from(text.as_str()));
        if let Some(confidence) = confidence {
            set("confidence", json!(confidence));
        }
    }
    set("time", Value::from(rfc3339(*taken_at)));
    if let Some(pose) = pose {
        set("position", json!(pose.position));
        if let Some(heading) = pose.heading {
            set("theta", json!(heading));
        }
    }
    set("frame_id", Value::from(frame_id.as_str()));
    set("map_id", Value::from(map_id.as_str()));
    set("source", Value::from(source.as_str()));
    arguments
}

/// To the microsecond, in UTC: the daemon may live in another time zone.
fn rfc3339(time: Timestamp) -> String {
    DateTime::from_timestamp_micros(time.micros())
        .map(|utc| utc.to_rfc3339_opts(SecondsFormat::Micros, true))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
