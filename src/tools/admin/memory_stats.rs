//! `memory_stats`: what the memory holds, made by which models, at what cost.

use std::fs;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::time::Zone;
use crate::model::ModelIdentity;
use crate::retrieval::sessions::SessionName;
use crate::search::listing::OriginCount;
use crate::search::status;
use crate::tools::args::{Args, Param};
use crate::tools::context::Context;
use crate::tools::reply::holdings;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoryStats;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    records: usize,
    first: Option<String>,
    last: Option<String>,
    pending: usize,
    /// Which sources made how many records in which maps.
    origins: Vec<Origin>,
    /// Records whose captions an older reader parsed, until they are read again.
    captions_to_reread: u64,
    captioner: ModelReply,
    embedder: ModelReply,
    disk_bytes: u64,
    index: Index,
    daemon_resident_bytes: Option<u64>,
    worker_resident_bytes: Option<u64>,
    /// "memory holds …"
    #[serde(skip)]
    holdings: String,
}

#[derive(Serialize, JsonSchema)]
struct Origin {
    source: String,
    map_id: String,
    records: usize,
}

#[derive(Serialize, JsonSchema)]
struct ModelReply {
    name: String,
    fingerprint: String,
}

#[derive(Serialize, JsonSchema)]
struct Index {
    /// Oldest first.
    segments: Vec<SegmentStatsReply>,
    tail: usize,
    tail_pieces: usize,
    tombstones: usize,
    memory_bytes: usize,
    disk_bytes: u64,
}

#[derive(Serialize, JsonSchema)]
struct SegmentStatsReply {
    segment: u64,
    first_id: u64,
    last_id: u64,
    first: Option<String>,
    last: Option<String>,
    records: usize,
    tombstones: usize,
    memory_bytes: usize,
    disk_bytes: u64,
}

impl Tool for MemoryStats {
    type Context = Context;
    type Request = ();
    type Reply = Reply;

    const NAME: &'static str = "memory_stats";
    const TITLE: &'static str = "What the memory holds";
    const DESCRIPTION: &'static str = "Number of records, the time they span, their sources and maps, the models that \
        made them, and the memory and disk they take.";
    const TOOLSET: Toolset = Toolset::Admin;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read, Role::Admin]);
    const PARAMS: &'static [Param] = &[];

    fn parse(_: &Args, _: &Context, _: SessionName<'_>) -> Result<(), ToolError> {
        Ok(())
    }

    fn run(context: &Context, _: SessionName<'_>, (): ()) -> Result<Reply, ToolError> {
        let zone = context.options.zone;
        let status = context.ingest.status();
        let disk_bytes = context.episodic.disk_bytes();
        let span = context.episodic.span();
        Ok(Reply {
            records: context.episodic.len(),
            first: span.map(|(first, _)| zone.format(first)),
            last: span.map(|(_, last)| zone.format(last)),
            pending: status.pending,
            origins: context.episodic.origins().into_iter().map(Origin::of).collect(),
            captions_to_reread: context.episodic.captions_to_reread(),
            captioner: ModelReply::of(&status.captioner),
            embedder: ModelReply::of(context.episodic.embedder()),
            disk_bytes: disk_bytes.map_err(|error| ToolError::of_failure(&error))?,
            index: Index::of(&context.episodic.index(), zone),
            daemon_resident_bytes: resident_bytes("self"),
            worker_resident_bytes: status
                .captioner_pid
                .and_then(|pid| resident_bytes(&pid.to_string())),
            holdings: holdings(context),
        })
    }
}

impl Origin {
    fn of(origin: OriginCount) -> Self {
        let OriginCount { source, map_id, records } = origin;
        Self { source, map_id, records }
    }
}

impl ModelReply {
    fn of(identity: &ModelIdentity) -> Self {
        let ModelIdentity { name, fingerprint } = identity;
        Self { name: name.clone(), fingerprint: fingerprint.0.clone() }
    }
}

impl Index {
    fn of(index: &status::IndexStatus, zone: Zone) -> Self {
        Self {
            segments: index.segments.iter().map(|it| SegmentStatsReply::of(it, zone)).collect(),
            tail: index.growing_rows,
            tail_pieces: index.growing_segments,
            tombstones: index.tombstones(),
            memory_bytes: index.memory_bytes(),
            disk_bytes: index.disk_bytes(),
        }
    }
}

impl SegmentStatsReply {
    fn of(segment: &status::SegmentStatus, zone: Zone) -> Self {
        Self {
            segment: segment.number.0,
            first_id: segment.first.0,
            last_id: segment.last.0,
            first: segment.span.map(|(first, _)| zone.format(first)),
            last: segment.span.map(|(_, last)| zone.format(last)),
            records: segment.rows,
            tombstones: segment.tombstones,
            memory_bytes: segment.memory_bytes,
            disk_bytes: segment.disk_bytes,
        }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let resident =
            self.daemon_resident_bytes.unwrap_or(0) + self.worker_resident_bytes.unwrap_or(0);
        text.line(&format!(
            "{}; {} on disk, {} of memory.",
            capitalise(&self.holdings),
            mebibytes(self.disk_bytes),
            mebibytes(resident)
        ));
        if self.captions_to_reread > 0 {
            text.line(&format!(
                "Captions that a newer reader reads again: {}; until then they are found as before.",
                self.captions_to_reread
            ));
        }
    }
}

/// Resident memory of a process, `None` where it is gone.
pub(crate) fn resident_bytes(process: &str) -> Option<u64> {
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

fn capitalise(text: &str) -> String {
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
