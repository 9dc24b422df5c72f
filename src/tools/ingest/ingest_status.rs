//! `ingest_status`: what became of the frames.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::time::Zone;
use crate::capture::live::LiveStatus;
use crate::ingest::{self, cameras::CameraState};
use crate::retrieval::sessions::SessionName;
use crate::store;
use crate::tools::args::{Args, Param};
use crate::tools::context::Context;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct IngestStatus;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    seen: u64,
    gated: u64,
    pending: usize,
    captioned: u64,
    failed: u64,
    refused: u64,
    /// Frames lost since the start: refused, or dropped by their sender (overrun).
    lost: Vec<LossReply>,
    /// Frames dropped since the start, on which nothing was to be seen (dark, blurred) or of which
    /// too many came (`too_soon`).
    dropped: Vec<LossReply>,
    /// Poses that came by `observe_pose`; null where none did.
    poses: Option<PosesReply>,
    /// Live cameras that the daemon reads itself.
    cameras: Vec<CameraReply>,
    /// Cameras that sent frames and stopped.
    silent: Vec<SilentReply>,
    captioning: bool,
    /// Address of the model's server that captions, where one is set.
    captioner_server: Option<String>,
    captioner_pid: Option<u32>,
    captioner_restarts: u64,
    sources: Vec<SourceReply>,
    set_aside: Vec<SetAsideReply>,
    last_error: Option<LastError>,
}

#[derive(Serialize, JsonSchema)]
struct SourceReply {
    source: String,
    newest: String,
    newest_timestamp: f64,
}

#[derive(Serialize, JsonSchema)]
struct LossReply {
    reason: &'static str,
    frames: u64,
}

#[derive(Serialize, JsonSchema)]
struct PosesReply {
    came: u64,
    newest: String,
    /// Frames that got their position from them.
    located: u64,
    /// Frames without a position that none of them was near enough to in time.
    unlocated: u64,
}

#[derive(Serialize, JsonSchema)]
struct CameraReply {
    source: String,
    /// Whole images that came.
    frames: u64,
    /// Not taken in for sharper ones just before or after.
    passed_over: u64,
    /// Dropped, as they came faster than they are taken in.
    lost: u64,
    /// Cut or damaged in the stream.
    faults: u64,
    last_fault: Option<String>,
    /// Of ROS 2: without a pose, and why the last.
    unlocated: u64,
    unlocated_reason: Option<String>,
    restarts: u64,
    /// Why no images come at the moment.
    down: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct SilentReply {
    source: String,
    since: String,
}

#[derive(Serialize, JsonSchema)]
struct SetAsideReply {
    frame: u64,
    time: String,
    reason: String,
}

#[derive(Serialize, JsonSchema)]
struct LastError {
    time: String,
    error: String,
}

impl Tool for IngestStatus {
    type Context = Context;
    type Request = ();
    type Reply = Reply;

    const NAME: &'static str = "ingest_status";
    const TITLE: &'static str = "What became of the frames";
    const DESCRIPTION: &'static str = "Counts frames seen, gated, pending, captioned, failed and refused, with the newest time of each source and the last error.";
    const TOOLSET: Toolset = Toolset::Ingest;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Observe, Role::Read, Role::Admin]);
    const PARAMS: &'static [Param] = &[];
    const IS_BRIEF: bool = true;

    fn parse(_: &Args, _: &Context, _: SessionName<'_>) -> Result<(), ToolError> {
        Ok(())
    }

    fn run(context: &Context, _: SessionName<'_>, (): ()) -> Result<Reply, ToolError> {
        Ok(Reply::of(context.ingest.status(), context.options.zone))
    }
}

impl Reply {
    fn of(status: ingest::IngestState, zone: Zone) -> Self {
        let source = |(source, newest)| SourceReply {
            source,
            newest: zone.format(newest),
            newest_timestamp: newest.seconds(),
        };
        let set_aside = |it: store::SetAside| SetAsideReply {
            frame: it.ticket.0,
            time: zone.format(it.meta.taken_at),
            reason: it.reason,
        };
        Self {
            seen: status.seen,
            gated: status.merged,
            pending: status.pending,
            captioned: status.captioned,
            failed: status.failed,
            refused: status.refused,
            lost: status
                .lost
                .iter()
                .map(|(reason, frames)| LossReply { reason: reason.name(), frames: *frames })
                .collect(),
            dropped: status
                .dropped
                .iter()
                .map(|(reason, frames)| LossReply { reason: reason.name(), frames: *frames })
                .collect(),
            poses: status.poses.newest.map(|newest| PosesReply {
                came: status.poses.came,
                newest: zone.format(newest),
                located: status.poses.located,
                unlocated: status.poses.unlocated,
            }),
            cameras: status.cameras.into_iter().map(CameraReply::of).collect(),
            silent: status
                .silent
                .into_iter()
                .map(|(source, at)| SilentReply { source, since: zone.format(at) })
                .collect(),
            captioning: status.captioning,
            captioner_server: status.captioner_server,
            captioner_pid: status.captioner_pid,
            captioner_restarts: status.captioner_restarts,
            sources: status.sources.into_iter().map(source).collect(),
            set_aside: status.set_aside.into_iter().map(set_aside).collect(),
            last_error: status
                .last_error
                .map(|(at, error)| LastError { time: zone.format(at), error }),
        }
    }
}

impl CameraReply {
    fn of(state: CameraState) -> Self {
        let CameraState { source, status } = state;
        let LiveStatus { frames, passed_over, lost, faults, last_fault, .. } = status;
        let LiveStatus { unlocated, unlocated_reason, restarts, down, .. } = status;
        Self {
            source,
            frames,
            passed_over,
            lost,
            faults,
            last_fault,
            unlocated,
            unlocated_reason,
            restarts,
            down,
        }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { seen, gated, pending, captioned, failed, refused, last_error, .. } = self;
        let error = last_error.as_ref().map_or_else(String::new, |LastError { time, error }| {
            format!(" Last error at {time}: {error}.")
        });
        text.line(&format!(
            "{seen} frames seen: {captioned} captioned, {gated} merged into others, {pending} \
             pending, {failed} failed; {refused} refused.{error}"
        ));
    }
}
