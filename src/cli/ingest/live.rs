//! `engram ingest -` and `engram ingest --command`: a camera's frames, sent as they arrive.
//!
//! Runs until the stream or somebody ends it. The daemon may be restarted meanwhile: the newest
//! frames wait for it, and what does not fit is dropped, the oldest first, and told to the daemon
//! with the next one.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Map, json};

use crate::base::frame::FrameMeta;
use crate::base::pose::Pose;
use crate::base::time::SystemClock;
use crate::capture::live::command::SourceCommand;
use crate::capture::live::{self, LiveFrame, LiveSource, LiveStatus, NextFrame, Origin};
use crate::capture::recording::LocatedPose;
use crate::capture::ros2::Ros2Options;
use crate::capture::{Defaults, FrameFault, SourceFrame};
use crate::cli::client::{ClientError, ClientOptions, ClientReply};
use crate::cli::ingest::{Flags, IngestReport, Standing, arguments};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::complain;
use crate::cli::patient_client::PatientClient;
use crate::ingest::TRY_AGAIN;
use crate::tools::ingest::ingest_status::IngestStatus;
use crate::tools::ingest::observe::Observe;
use crate::tools::tool::Tool as _;

/// How long a wait for a frame lasts until a signal is looked for.
const LOOK: Duration = Duration::from_millis(200);
/// Between two questions whether a full daemon takes frames again, and two attempts to reach one
/// that is gone.
const PAUSE: Duration = Duration::from_millis(500);

/// Sends what arrives until the stream ends or a signal comes.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
    program: &Path,
) -> anyhow::Result<IngestReport> {
    let origin = origin(flags, program)?;
    let is_robot = matches!(origin, Origin::Located(_));
    let interrupt = Interrupt::watch()?;
    let client = PatientClient::connect(socket, options)?;
    let name = flags.source.clone().or_else(|| flags.image.first().filter(|_| is_robot).cloned());
    let name = name.unwrap_or_else(|| Defaults::default().source);
    let live_options = live::Options {
        window: flags.window,
        stalled_after: flags.stall,
        ..live::Options::default()
    };
    let source = LiveSource::start(&name, origin, live_options, Arc::new(SystemClock));
    let source = source.context("the camera's threads cannot be started")?;
    complain(&if is_robot {
        format!("frames of source {name:?} have the times and poses that the robot says")
    } else {
        format!("frames of source {name:?} get the time at which they arrive")
    });
    let mut run = LiveRun { client, source, name, flags, report: IngestReport::default() };
    let before = run.wait_for_standing(&interrupt);
    run.send_until(&interrupt);
    let after = if interrupt.is_asked() || flags.no_wait {
        run.standing()
    } else {
        run.wait_for_captions(&interrupt)
    };
    Ok(run.finish(before.zip(after)))
}

fn origin(flags: &Flags, program: &Path) -> anyhow::Result<Origin> {
    let memory = flags.memory_limit_mb.checked_mul(1 << 20).filter(|bytes| *bytes > 0);
    if flags.ros2 {
        ensure!(flags.image.len() <= 1, "--ros2 takes one --image; start one for each camera");
        let (image, pose) = (flags.image.first().cloned(), flags.pose.clone());
        let map_frame = flags.map_frame.clone();
        let (domain, zenoh) = (flags.domain, flags.zenoh.clone());
        let options = Ros2Options { image, pose, map_frame, domain, zenoh };
        if let Some(lacking) = options.lacking() {
            bail!(lacking);
        }
        return Ok(Origin::Located(options.command(program, memory)));
    }
    Ok(match &flags.command {
        None => Origin::Pipe(Box::new(io::stdin())),
        Some(line) => Origin::Command(SourceCommand::engram(program, line, memory)),
    })
}

struct LiveRun<'a> {
    client: PatientClient,
    source: LiveSource,
    name: String,
    flags: &'a Flags,
    report: IngestReport,
}

/// What became of a frame that was sent.
enum Sent {
    Done,
    /// The daemon is gone: to be sent again, with what was lost before it.
    Gone {
        lost: u64,
    },
    /// The daemon is full: to be sent again. It knows of what was lost before it.
    Full,
}

impl LiveRun<'_> {
    fn send_until(&mut self, interrupt: &Interrupt) {
        let mut said = LiveStatus::default();
        while !interrupt.is_asked() {
            let (frame, lost) = match self.source.next_frame(LOOK) {
                NextFrame::Frame { frame, lost } => (frame, lost),
                NextFrame::Nothing => {
                    self.say_what_is_new(&mut said);
                    continue;
                }
                NextFrame::Ended => return,
            };
            match self.send(&frame, lost) {
                Sent::Done => {}
                Sent::Gone { lost } => {
                    self.source.give_back(frame, lost);
                    thread::sleep(PAUSE);
                    self.wait_for_standing(interrupt);
                }
                Sent::Full => {
                    self.source.give_back(frame, 0);
                    self.wait_for_room(interrupt);
                }
            }
            self.say_what_is_new(&mut said);
        }
    }

    /// What a person should know at once: why nothing comes.
    fn say_what_is_new(&self, said: &mut LiveStatus) {
        let status = self.source.status();
        if status.down != said.down
            && let Some(down) = &status.down
        {
            complain(&format!("engram: the camera is down: {down}"));
        }
        if said.last_fault.is_none()
            && let Some(fault) = &status.last_fault
        {
            complain(&format!("engram: in the camera's stream {fault}; further ones are counted"));
        }
        *said = status;
    }

    fn send(&mut self, frame: &LiveFrame, lost: u64) -> Sent {
        let source_frame = self.source_frame(frame);
        let mut arguments = arguments(&source_frame);
        if lost > 0 {
            arguments.insert("lost".to_owned(), json!(lost.min(u64::from(u32::MAX))));
        }
        match self.client.call(Observe::NAME, arguments) {
            None => return Sent::Gone { lost },
            Some(Err(error)) => self.refuse(source_frame, &error),
            Some(Ok(reply)) if reply.is_error && reply.text.contains(TRY_AGAIN) => {
                return Sent::Full;
            }
            Some(Ok(reply)) if reply.is_error => {
                let reason = reply.text;
                self.report.refused.push(FrameFault { place: source_frame.name, reason });
            }
            Some(Ok(reply)) => self.report.note_taken(&reply),
        }
        Sent::Done
    }

    fn refuse(&mut self, frame: SourceFrame, error: &ClientError) {
        let reason = error.to_string();
        self.report.refused.push(FrameFault { place: frame.name, reason });
    }

    fn source_frame(&self, frame: &LiveFrame) -> SourceFrame {
        let LiveFrame { taken_at, image, located } = frame;
        let fixed = |Pose { position, heading: _ }| Pose { position, heading: self.flags.theta };
        let (pose, frame_id) = match located {
            Some(LocatedPose { pose, frame_id }) => (Some(*pose), frame_id),
            None => (self.flags.position.map(fixed), &self.flags.frame_id),
        };
        let meta = FrameMeta {
            taken_at: *taken_at,
            pose,
            frame_id: frame_id.clone(),
            map_id: self.flags.map_id.clone(),
            source: self.name.clone(),
        };
        let name = format!("{} of {:.3}", self.name, taken_at.seconds());
        SourceFrame { name, meta, image: image.clone(), caption: None }
    }

    /// Until some frame has left the spool, or none is left in it.
    fn wait_for_room(&mut self, interrupt: &Interrupt) {
        let at_first = self.standing().map(|it| it.count_settled());
        while !interrupt.is_asked() {
            thread::sleep(PAUSE);
            let has_room = |it: &Standing| it.pending == 0 || Some(it.count_settled()) != at_first;
            if self.standing().is_some_and(|it| has_room(&it)) {
                return;
            }
        }
    }

    fn wait_for_standing(&mut self, interrupt: &Interrupt) -> Option<Standing> {
        loop {
            match self.standing() {
                None if !interrupt.is_asked() => thread::sleep(PAUSE),
                standing => return standing,
            }
        }
    }

    fn wait_for_captions(&mut self, interrupt: &Interrupt) -> Option<Standing> {
        loop {
            let now = self.standing()?;
            if now.pending == 0 || !now.captioning || interrupt.is_asked() {
                self.report.stuck = (now.pending > 0).then(|| now.complaint());
                return Some(now);
            }
            thread::sleep(PAUSE);
        }
    }

    fn standing(&mut self) -> Option<Standing> {
        let reply: ClientReply = self.client.call(IngestStatus::NAME, Map::new())?.ok()?;
        Standing::of(&reply.structured)
    }

    fn finish(self, standing: Option<(Standing, Standing)>) -> IngestReport {
        let Self { client: _, source, name: _, flags, mut report } = self;
        let LiveStatus { frames, passed_over, uncompared, lost, .. } = source.status();
        let LiveStatus { faults, last_fault, restarts, down, .. } = source.status();
        let LiveStatus { unlocated, unlocated_reason, .. } = source.status();
        report.passed_over = passed_over;
        if let Some((before, after)) = standing {
            report.count(&before, &after);
        }
        let time = if flags.ros2 { "its stamp" } else { "the time of its arrival" };
        report.notes.push(format!("{frames} came, each with {time}"));
        if let Some(why) = unlocated_reason {
            report.notes.push(format!("{unlocated} without a pose, the last: {why}"));
        }
        if uncompared > 0 {
            let why = "more came at once than can be compared; --window 0 compares none";
            report.notes.push(format!("{uncompared} not sent: {why}"));
        }
        if lost > 0 {
            let why = "they came faster than the daemon takes them in, or it was gone";
            report.notes.push(format!("{lost} lost: {why}"));
        }
        if let Some(fault) = last_fault {
            report.notes.push(format!("{faults} faults of the stream, the last: {fault}"));
        }
        if restarts > 0 {
            let how = down.map_or_else(String::new, |down| format!(", the last: {down}"));
            report.notes.push(format!("{restarts} restarts of the command{how}"));
        }
        report
    }
}

/// `1.5,-2` or `1.5,-2,0`.
pub(super) fn position(text: &str) -> Result<Pose, String> {
    let accepted = || "accepted are metres as X,Y or X,Y,Z".to_owned();
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|it| it.trim().parse()).collect();
    let position = match numbers.map_err(|_unreadable| accepted())?.as_slice() {
        [x, y] => [*x, *y, 0.0],
        [x, y, z] => [*x, *y, *z],
        _ => return Err(accepted()),
    };
    Pose::new(position, None).map_err(|error| error.to_string())
}
