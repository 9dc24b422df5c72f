//! Numbers for a monitoring system: what came, what became of it, how long it took.
//!
//! Names keep Prometheus' conventions: base units, counters that end in `_total`. Counters begin
//! anew with the process, but for those of frames that the store keeps.

mod exposition;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::caller::{Role, Roles};
use crate::base::histogram::Histogram;
use crate::ingest::IngestState;
use crate::search::status::IndexStatus;
use crate::tools::ToolError;
use crate::tools::admin::health;
use crate::tools::admin::memory_stats::resident_bytes;
use crate::tools::context::Context;
use crate::tools::metrics::exposition::{Exposition, Kind};

/// Address of the resource that holds them.
pub(crate) const URI: &str = "engram://metrics";
/// Content type of the text.
pub(crate) const MIME: &str = "text/plain; version=0.0.4; charset=utf-8";

/// They tell sources' names, and nothing of what was seen.
pub(crate) const ROLES: Roles = Roles::of(&[Role::Read, Role::Admin]);

/// Sources that are told apart; there may be as many as somebody likes.
const SOURCES_MAX: usize = 100;

/// Bounds of calls, in seconds: a recall takes some tenths of a millisecond, a model's plan a
/// minute.
const CALL_BOUNDS: &[f64] =
    &[0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallOutcome {
    Done,
    Forbidden,
    UnknownTool,
    WrongArgument,
    NotNow,
    Failed,
}

impl CallOutcome {
    /// Of a call that the caller's roles allow.
    pub(crate) fn of<T>(result: &Result<T, ToolError>) -> Self {
        match result {
            Ok(_) => Self::Done,
            Err(ToolError::Argument(_)) => Self::WrongArgument,
            Err(ToolError::UnknownTool(_)) => Self::UnknownTool,
            Err(ToolError::Refused(_)) => Self::NotNow,
            Err(ToolError::Fault(_)) => Self::Failed,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Forbidden => "forbidden",
            Self::UnknownTool => "unknown_tool",
            Self::WrongArgument => "wrong_argument",
            Self::NotNow => "not_now",
            Self::Failed => "failed",
        }
    }
}

/// Calls since the start. Many threads at once.
#[derive(Debug, Default)]
pub(crate) struct CallMetrics {
    by_tool: Mutex<BTreeMap<&'static str, ToolCalls>>,
}

#[derive(Debug)]
struct ToolCalls {
    refused: BTreeMap<CallOutcome, u64>,
    /// Of the calls that were carried out.
    done: Histogram,
}

impl CallMetrics {
    pub(crate) fn note(&self, tool: &'static str, outcome: CallOutcome, took: Duration) {
        let mut by_tool = self.lock();
        let calls = by_tool.entry(tool).or_insert_with(|| ToolCalls {
            refused: BTreeMap::new(),
            done: Histogram::new(CALL_BOUNDS),
        });
        if outcome == CallOutcome::Done {
            calls.done.observe(took);
        } else {
            *calls.refused.entry(outcome).or_insert(0) += 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, ToolCalls>> {
        // Counters: each is whole whatever a holder did.
        self.by_tool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All of them as text.
pub(crate) fn write(context: &Context) -> Result<String, ToolError> {
    let mut text = Exposition::default();
    let status = context.ingest.status();
    write_daemon(&mut text, context, &status)?;
    write_frames(&mut text, &status);
    write_index(&mut text, context, &context.episodic.index());
    write_calls(&mut text, context);
    Ok(text.finish())
}

fn write_daemon(
    text: &mut Exposition,
    context: &Context,
    status: &IngestState,
) -> Result<(), ToolError> {
    let now = context.clock.now();
    text.family("engram_build_info", Kind::Gauge, "Version of the daemon; always 1.")
        .count(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    text.family("engram_start_time_seconds", Kind::Gauge, "When the daemon started.")
        .sample(&[], context.started_at().seconds());
    let problems = health::problems(context, now).len() as u64;
    text.family("engram_problems", Kind::Gauge, "Problems that health names; 0 where it is well.")
        .count(&[], problems);
    let worker = status.captioner_pid.and_then(|pid| resident_bytes(&pid.to_string()));
    let resident = [("daemon", resident_bytes("self")), ("caption_worker", worker)];
    text.family("engram_resident_memory_bytes", Kind::Gauge, "Memory of each process.");
    for (process, bytes) in resident {
        if let Some(bytes) = bytes {
            text.count(&[("process", process)], bytes);
        }
    }
    let disk = context.episodic.disk_bytes();
    let disk = disk.map_err(|error| ToolError::of_failure(&error))?;
    text.family(
        "engram_disk_bytes",
        Kind::Gauge,
        "What the memory takes on disk, images included.",
    )
    .count(&[], disk);
    Ok(())
}

fn write_frames(text: &mut Exposition, status: &IngestState) {
    let IngestState { captioned, merged, failed, refused, lost, dropped, .. } = status;
    let all_dropped = dropped.iter().map(|(_, frames)| frames).sum();
    let outcomes = [
        ("captioned", *captioned),
        ("merged", *merged),
        ("failed", *failed),
        ("refused", *refused),
        ("dropped", all_dropped),
    ];
    text.family(
        "engram_frames_total",
        Kind::Counter,
        "Frames by what became of them: captioned, merged into the record before and failed since \
         the store was made; refused and dropped since the daemon started.",
    );
    for (outcome, frames) in outcomes {
        text.count(&[("outcome", outcome)], frames);
    }
    text.family("engram_frames_lost_total", Kind::Counter, "Frames that were refused, by reason.");
    for (reason, frames) in lost {
        text.count(&[("reason", reason.name())], *frames);
    }
    text.family(
        "engram_frames_dropped_total",
        Kind::Counter,
        "Frames of which nothing was kept, by reason.",
    );
    for (reason, frames) in dropped {
        text.count(&[("reason", reason.name())], *frames);
    }
    text.family("engram_spool_frames", Kind::Gauge, "Frames that wait for a caption.")
        .count(&[], status.pending as u64);
    text.family("engram_captioning", Kind::Gauge, "Whether frames are being captioned.")
        .count(&[], u64::from(status.captioning));
    text.family(
        "engram_caption_duration_seconds",
        Kind::Histogram,
        "How long the captioner took for a frame that it captioned.",
    )
    .histogram(&[("captioner", &status.captioner.name)], &status.caption_times);
    text.family(
        "engram_captioner_restarts_total",
        Kind::Counter,
        "Times that the captioner's process was started again, or its server found again.",
    )
    .count(&[], status.captioner_restarts);
    text.family(
        "engram_source_last_frame_timestamp_seconds",
        Kind::Gauge,
        "Time of the last frame of each source.",
    );
    for (source, at) in status.sources.iter().take(SOURCES_MAX) {
        text.sample(&[("source", source)], at.seconds());
    }
}

fn write_index(text: &mut Exposition, context: &Context, index: &IndexStatus) {
    let gauges = [
        ("engram_records", "Records that can be found.", context.episodic.len() as u64),
        (
            "engram_captions_to_reread",
            "Records whose captions wait for a newer reader.",
            context.episodic.captions_to_reread(),
        ),
        ("engram_index_segments", "Sealed segments of the index.", index.segments.len() as u64),
        (
            "engram_index_growing_records",
            "Records of segments that are not sealed yet.",
            index.growing_rows as u64,
        ),
        (
            "engram_index_tombstones",
            "Records that are gone and leave their segments with the next merge.",
            index.tombstones() as u64,
        ),
        ("engram_index_memory_bytes", "Memory of the index.", index.memory_bytes() as u64),
        ("engram_index_disk_bytes", "Segments of the index on disk.", index.disk_bytes()),
    ];
    for (name, help, value) in gauges {
        text.family(name, Kind::Gauge, help).count(&[], value);
    }
}

fn write_calls(text: &mut Exposition, context: &Context) {
    let by_tool = context.calls.lock();
    text.family(
        "engram_call_duration_seconds",
        Kind::Histogram,
        "How long calls of tools took that were carried out.",
    );
    for (tool, calls) in by_tool.iter() {
        text.histogram(&[("tool", tool)], &calls.done);
    }
    text.family(
        "engram_calls_refused_total",
        Kind::Counter,
        "Calls that were not carried out, by reason.",
    );
    for (tool, calls) in by_tool.iter() {
        for (outcome, count) in &calls.refused {
            text.count(&[("tool", tool), ("reason", outcome.name())], *count);
        }
    }
}
