//! `ingest_status`: what became of the frames.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::time::Zone;
use crate::ingest;
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
    /// Of those refused since the start, the frames that are lost.
    lost: Vec<LossReply>,
    /// Frames dropped since the start, on which nothing was to be seen (dark, blurred) or of which
    /// too many came (`too_soon`).
    dropped: Vec<LossReply>,
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
    const DESCRIPTION: &'static str = "Counts of frames seen, gated, pending, captioned, failed \
        and refused, the newest time of each source, and the last error.";
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
