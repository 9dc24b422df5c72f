//! Numbers for a monitoring system: what came, what became of it, how long it took.
//!
//! Names keep Prometheus' conventions: base units, counters that end in `_total`. Counters begin
//! anew with the process, but for those of frames that the store keeps.

mod calls;
mod exposition;

use crate::base::caller::{Role, Roles};
use crate::ingest::IngestState;
use crate::search::status::IndexStatus;
use crate::tools::ToolError;
use crate::tools::admin::health;
use crate::tools::admin::memory_stats::resident_bytes;
use crate::tools::context::Context;
use crate::tools::metrics::exposition::{Exposition, Kind};

pub use calls::{CallMetrics, Reason};

/// Address of the resource that holds them.
pub(crate) const URI: &str = "engram://metrics";
/// Content type of the text.
pub(crate) const MIME: &str = "text/plain; version=0.0.4; charset=utf-8";

/// They tell sources' names, and nothing of what was seen.
pub(crate) const ROLES: Roles = Roles::of(&[Role::Read, Role::Admin]);

/// Sources that are told apart; there may be as many as somebody likes.
const SOURCES_MAX: usize = 100;

/// All of them as text.
pub(crate) fn write(context: &Context) -> Result<String, ToolError> {
    let mut text = Exposition::default();
    let status = context.ingest.status();
    write_daemon(&mut text, context, &status)?;
    write_frames(&mut text, &status);
    write_index(&mut text, context, &context.episodic.index());
    context.calls.write(&mut text);
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
