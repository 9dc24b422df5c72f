//! `memory_stats`, `ingest_status` and `health`: what the daemon holds and does.

use std::fs;

use serde_json::{Map, Value, json};

use crate::base::time::{Timestamp, Zone};
use crate::ingest::Status;
use crate::model::ModelIdentity;
use crate::search::status as search;
use crate::tools::context::Context;
use crate::tools::reply;
use crate::tools::{ToolError, ToolReply};

/// How much is in memory, made by which models, at what cost.
pub(crate) fn memory_stats(context: &Context) -> Result<ToolReply, ToolError> {
    let zone = context.options.zone;
    let status = context.ingest.status();
    let disk_bytes =
        context.episodic.disk_bytes().map_err(|error| ToolError::Fault(error.to_string()))?;
    let daemon = resident_bytes("self");
    let worker = status.captioner_pid.and_then(|pid| resident_bytes(&pid.to_string()));
    let (first, last) = match context.episodic.span() {
        Some((first, last)) => (Some(zone.format(first)), Some(zone.format(last))),
        None => (None, None),
    };
    let mut structured = Map::new();
    structured.insert("records".to_owned(), json!(context.episodic.len()));
    structured.insert("first".to_owned(), json!(first));
    structured.insert("last".to_owned(), json!(last));
    structured.insert("pending".to_owned(), json!(status.pending));
    structured.insert("captioner".to_owned(), model(&status.captioner));
    structured.insert("embedder".to_owned(), model(context.episodic.embedder()));
    structured.insert("disk_bytes".to_owned(), json!(disk_bytes));
    structured.insert("index".to_owned(), index(&context.episodic.index(), zone));
    structured.insert("daemon_resident_bytes".to_owned(), json!(daemon));
    structured.insert("worker_resident_bytes".to_owned(), json!(worker));
    let text = format!(
        "{}; {} on disk, {} of memory.",
        capitalised(&reply::holdings(context)),
        mebibytes(disk_bytes),
        mebibytes(daemon.unwrap_or(0) + worker.unwrap_or(0))
    );
    Ok(ToolReply { structured, text, images: Vec::new() })
}

/// What became of the frames.
pub(crate) fn ingest_status(context: &Context) -> ToolReply {
    let zone = context.options.zone;
    let status = context.ingest.status();
    let Status { seen, merged, pending, captioned, failed, refused, captioning, .. } = status;
    let sources: Vec<Value> = status
        .sources
        .iter()
        .map(|(source, newest)| {
            json!({"source": source, "newest": zone.format(*newest), "newest_timestamp": newest.seconds()})
        })
        .collect();
    let set_aside: Vec<Value> = status
        .set_aside
        .iter()
        .map(|it| json!({"frame": it.ticket.0, "time": zone.format(it.meta.taken_at), "reason": it.reason}))
        .collect();
    let last_error = status
        .last_error
        .as_ref()
        .map(|(at, what)| json!({"time": zone.format(*at), "error": what}));
    let mut structured = Map::new();
    structured.insert("seen".to_owned(), json!(seen));
    structured.insert("gated".to_owned(), json!(merged));
    structured.insert("pending".to_owned(), json!(pending));
    structured.insert("captioned".to_owned(), json!(captioned));
    structured.insert("failed".to_owned(), json!(failed));
    structured.insert("refused".to_owned(), json!(refused));
    structured.insert("captioning".to_owned(), json!(captioning));
    structured.insert("captioner_pid".to_owned(), json!(status.captioner_pid));
    structured.insert("captioner_restarts".to_owned(), json!(status.captioner_restarts));
    structured.insert("sources".to_owned(), Value::Array(sources));
    structured.insert("set_aside".to_owned(), Value::Array(set_aside));
    structured.insert("last_error".to_owned(), json!(last_error));
    let mut text = format!(
        "{seen} frames seen: {captioned} captioned, {merged} merged into others, {pending} pending, {failed} failed; {refused} refused."
    );
    if let Some((at, what)) = &status.last_error {
        text.push_str(&format!(" Last error at {}: {what}.", zone.format(*at)));
    }
    ToolReply { structured, text, images: Vec::new() }
}

/// Errors older than this do not make the daemon unwell.
const ERROR_COUNTS_SECONDS: u64 = 300;

/// Whether the daemon does its work, and if not, why.
pub(crate) fn health(context: &Context) -> ToolReply {
    let status = context.ingest.status();
    let now = context.clock.now();
    let recent = |at: Timestamp| now.since(at).as_secs() < ERROR_COUNTS_SECONDS;
    let mut problems: Vec<String> = Vec::new();
    if !status.captioning {
        problems.push("frames are not being captioned".to_owned());
    }
    if let Some((at, what)) = &status.last_error
        && recent(*at)
    {
        problems.push(what.clone());
    }
    let word = if problems.is_empty() { "ok" } else { "degraded" };
    let uptime_seconds = now.since(context.started_at()).as_secs();
    let mut structured = Map::new();
    structured.insert("status".to_owned(), json!(word));
    structured.insert("problems".to_owned(), json!(problems));
    structured.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    structured.insert("uptime_seconds".to_owned(), json!(uptime_seconds));
    let text = if problems.is_empty() {
        format!("ok, up for {uptime_seconds} s")
    } else {
        format!("{word}: {}", problems.join("; "))
    };
    ToolReply { structured, text, images: Vec::new() }
}

/// The pieces of the index, oldest first.
fn index(index: &search::IndexStatus, zone: Zone) -> Value {
    let segments: Vec<Value> = index
        .segments
        .iter()
        .map(|it| {
            json!({
                "segment": it.number.0,
                "first_id": it.first.0,
                "last_id": it.last.0,
                "first": it.span.map(|(first, _)| zone.format(first)),
                "last": it.span.map(|(_, last)| zone.format(last)),
                "records": it.rows,
                "tombstones": it.tombstones,
                "memory_bytes": it.memory_bytes,
                "disk_bytes": it.disk_bytes,
            })
        })
        .collect();
    json!({
        "segments": segments,
        "tail": index.growing_rows,
        "tail_pieces": index.growing_segments,
        "tombstones": index.tombstones(),
        "memory_bytes": index.memory_bytes(),
        "disk_bytes": index.disk_bytes(),
    })
}

fn model(identity: &ModelIdentity) -> Value {
    json!({"name": identity.name, "fingerprint": identity.fingerprint.0})
}

/// Resident memory of a process, `None` where it is gone.
fn resident_bytes(process: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes * 1024)
}

fn mebibytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    format!("{mebibytes:.1} MiB")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_a_dead_one_none() {
        assert!(resident_bytes("self").unwrap() > 100_000);
        assert_eq!(resident_bytes("0"), None);
    }
}
