//! `health`: whether the daemon does its work, and if not, why.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::Roles;
use crate::base::time::Timestamp;
use crate::ingest::cameras::CameraState;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Param};
use crate::tools::context::Context;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct Health;

/// Errors older than this do not make the daemon unwell.
const ERROR_COUNTS_SECONDS: u64 = 300;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    status: HealthStatus,
    problems: Vec<String>,
    version: &'static str,
    uptime_seconds: u64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum HealthStatus {
    Ok,
    Degraded,
}

impl Tool for Health {
    type Context = Context;
    type Request = ();
    type Reply = Reply;

    const NAME: &'static str = "health";
    const TITLE: &'static str = "Whether the memory is well";
    const DESCRIPTION: &'static str = "Says ok, or degraded with the problems.";
    const TOOLSET: Toolset = Toolset::Admin;
    const HINTS: Hints = Hints::READS;
    // Everybody who may do anything.
    const ROLES: Roles = Roles::ALL;
    const PARAMS: &'static [Param] = &[];

    fn parse(_: &Args, _: &Context, _: SessionName<'_>) -> Result<(), ToolError> {
        Ok(())
    }

    fn run(context: &Context, _: SessionName<'_>, (): ()) -> Result<Reply, ToolError> {
        let now = context.clock.now();
        let problems = problems(context, now);
        Ok(Reply {
            status: if problems.is_empty() { HealthStatus::Ok } else { HealthStatus::Degraded },
            problems,
            version: env!("CARGO_PKG_VERSION"),
            uptime_seconds: now.since(context.started_at()).as_secs(),
        })
    }
}

pub(crate) fn problems(context: &Context, now: Timestamp) -> Vec<String> {
    let status = context.ingest.status();
    let mut problems = context.ingest.store_problems();
    if !status.captioning {
        problems.push("frames are not being captioned".to_owned());
    }
    if let Some((at, what)) = status.last_error
        && now.since(at).as_secs() < ERROR_COUNTS_SECONDS
    {
        problems.push(what);
        let lost: Vec<String> = status
            .lost
            .iter()
            .map(|(reason, frames)| format!("{frames} {}", reason.name()))
            .collect();
        if !lost.is_empty() {
            problems.push(format!("frames lost since the start: {}", lost.join(", ")));
        }
    }
    problems.extend(status.cameras.into_iter().filter_map(|CameraState { source, status }| {
        status.down.map(|down| format!("camera {source:?} is down: {down}"))
    }));
    problems.extend(status.silent.into_iter().map(|(source, since)| {
        let seconds = now.since(since).as_secs();
        format!("source {source:?} is silent: its last frame came {seconds} s ago")
    }));
    problems.extend(status.doubt);
    problems.extend(context.audit.problem());
    problems
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { status, problems, version: _, uptime_seconds } = self;
        text.line(&match status {
            HealthStatus::Ok => format!("ok, up for {uptime_seconds} s"),
            HealthStatus::Degraded => format!("degraded: {}", problems.join("; ")),
        });
    }
}
