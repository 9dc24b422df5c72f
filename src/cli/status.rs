//! `engram status`: what the daemon holds and does, on one screen.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::client::{Client, ClientOptions};
use crate::cli::output::say;
use crate::tools::admin::health::Health;
use crate::tools::admin::memory_stats::MemoryStats;
use crate::tools::ingest::ingest_status::IngestStatus;
use crate::tools::tool::Tool as _;

/// How to print it.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Print JSON: the replies of `health`, `ingest_status` and `memory_stats`
    #[arg(long)]
    json: bool,
}

/// Prints the status; exits with 1 when the daemon is not well.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let mut client = Client::connect(socket, options)?;
    let mut ask = |tool: &str| client.call(tool, Map::new()).map(|reply| reply.structured);
    let (health, ingest, stats) =
        (ask(Health::NAME)?, ask(IngestStatus::NAME)?, ask(MemoryStats::NAME)?);
    let well = health.get("status").and_then(Value::as_str) == Some("ok");
    if flags.json {
        let status = json!({
            "socket": socket.display().to_string(),
            Health::NAME: health,
            IngestStatus::NAME: ingest,
            MemoryStats::NAME: stats,
        });
        say(&serde_json::to_string_pretty(&status)?)?;
    } else {
        say(&render(socket, &health, &ingest, &stats))?;
    }
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn render(
    socket: &Path,
    health: &Map<String, Value>,
    ingest: &Map<String, Value>,
    stats: &Map<String, Value>,
) -> String {
    let mut lines = vec![
        format!("engram {} at {}", text(health, "version"), socket.display()),
        format!("  status     {}, up {} s", text(health, "status"), text(health, "uptime_seconds")),
    ];
    for problem in health.get("problems").and_then(Value::as_array).into_iter().flatten() {
        lines.push(format!("             {}", plain(problem)));
    }
    lines.push(format!(
        "  frames     {} seen, {} gated, {} pending, {} captioned, {} failed, {} refused",
        text(ingest, "seen"),
        text(ingest, "gated"),
        text(ingest, "pending"),
        text(ingest, "captioned"),
        text(ingest, "failed"),
        text(ingest, "refused"),
    ));
    for (field, title) in [("lost", "lost   "), ("dropped", "dropped")] {
        let counted = ingest.get(field).and_then(Value::as_array).into_iter().flatten();
        let counted = counted.filter_map(Value::as_object);
        let reasons: Vec<String> =
            counted.map(|it| format!("{} {}", text(it, "frames"), text(it, "reason"))).collect();
        if !reasons.is_empty() {
            lines.push(format!("  {title}    {} since the start", reasons.join(", ")));
        }
    }
    let span = match (text(stats, "first"), text(stats, "last")) {
        (first, last) if first == "-" && last == "-" => String::new(),
        (first, last) => format!(", {first} to {last}"),
    };
    lines.push(format!("  records    {}{span}", text(stats, "records")));
    if let Some(index) = stats.get("index").and_then(Value::as_object) {
        let segments = index.get("segments").and_then(Value::as_array).map_or(0, Vec::len);
        lines.push(format!(
            "  index      {segments} segments, {} records in the tail, {} tombstones, {}",
            text(index, "tail"),
            text(index, "tombstones"),
            mebibytes(index, "memory_bytes"),
        ));
    }
    for model in ["captioner", "embedder"] {
        let identity = stats.get(model).and_then(Value::as_object);
        let name = identity.map_or_else(|| "-".to_owned(), |it| text(it, "name"));
        let print = identity.map_or_else(|| "-".to_owned(), |it| text(it, "fingerprint"));
        let print: String = print.chars().take(12).collect();
        lines.push(format!("  {model:10} {name} ({print})"));
    }
    let (daemon, restarts) =
        (mebibytes(stats, "daemon_resident_bytes"), text(ingest, "captioner_restarts"));
    lines.push(match ingest.get("captioner_server").and_then(Value::as_str) {
        None => format!(
            "  memory     daemon {daemon}, caption worker {} (restarted {restarts} times)",
            mebibytes(stats, "worker_resident_bytes"),
        ),
        Some(server) => format!(
            "  memory     daemon {daemon}; captions come from {server} (lost and found again \
             {restarts} times)"
        ),
    });
    lines.push(format!("  disk       {}", mebibytes(stats, "disk_bytes")));
    let last_error = ingest.get("last_error").and_then(Value::as_object);
    lines.push(match last_error {
        None => "  last error none".to_owned(),
        Some(it) => format!("  last error {}: {}", text(it, "time"), text(it, "error")),
    });
    lines.join("\n")
}

fn text(object: &Map<String, Value>, key: &str) -> String {
    object.get(key).map_or_else(|| "-".to_owned(), plain)
}

fn plain(value: &Value) -> String {
    if value.is_null() {
        return "-".to_owned();
    }
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn mebibytes(object: &Map<String, Value>, key: &str) -> String {
    match object.get(key).and_then(Value::as_f64) {
        Some(bytes) => format!("{:.1} MiB", bytes / f64::from(1 << 20)),
        None => "not running".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_everything_on_one_screen() {
        let object = |value: Value| value.as_object().unwrap().clone();
        let shown = render(
            Path::new("/run/engram.sock"),
            &object(
                json!({"status": "degraded", "version": "1", "uptime_seconds": 7, "problems": ["the disk is full"]}),
            ),
            &object(json!({"seen": 9, "gated": 2, "pending": 3, "captioned": 4, "failed": 0,
                "refused": 1, "captioner_restarts": 2, "last_error": {"time": "then", "error": "what"}})),
            &object(
                json!({"records": 4, "first": "a", "last": "b", "captioner": {"name": "c", "fingerprint": "0123456789abcdef"},
                "embedder": {"name": "e", "fingerprint": "f"}, "daemon_resident_bytes": 1_048_576,
                "worker_resident_bytes": null, "disk_bytes": 0,
                "index": {"segments": [{}, {}], "tail": 7, "tombstones": 1, "memory_bytes": 524_288}}),
            ),
        );
        let expect = "engram 1 at /run/engram.sock
  status     degraded, up 7 s
             the disk is full
  frames     9 seen, 2 gated, 3 pending, 4 captioned, 0 failed, 1 refused
  records    4, a to b
  index      2 segments, 7 records in the tail, 1 tombstones, 0.5 MiB
  captioner  c (0123456789ab)
  embedder   e (f)
  memory     daemon 1.0 MiB, caption worker not running (restarted 2 times)
  disk       0.0 MiB
  last error then: what";
        assert_eq!(shown, expect);
    }

    #[test]
    fn a_captioners_server_stands_in_place_of_the_worker() {
        let ingest = json!({"captioner_server": "http://127.0.0.1:8080", "captioner_restarts": 1});
        let stats = json!({"daemon_resident_bytes": 1_048_576, "worker_resident_bytes": null});
        let object = |value: Value| value.as_object().unwrap().clone();
        let shown = render(Path::new("s"), &Map::new(), &object(ingest), &object(stats));
        let line = "  memory     daemon 1.0 MiB; captions come from http://127.0.0.1:8080 (lost and \
            found again 1 times)";
        assert!(shown.contains(line), "{shown}");
    }
}
