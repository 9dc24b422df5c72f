//! `engram bench`: measurements of this program on this machine; each file is one
//! measurement or a part of one.

mod all_cores;
mod ann;
mod ask;
mod camera;
mod figures;
mod fill;
mod household;
mod plot;
mod recall;
mod report;
mod vectors;
mod workload;

use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::Common;

/// Measurements.
#[derive(Debug, Subcommand)]
pub(super) enum Bench {
    /// Fills a memory with captions and times recalls through its socket; leaves nothing behind
    Recall(recall::Flags),
    /// Builds the vector index of your own vectors and measures its recall and latency
    Ann(ann::Flags),
}

pub(super) fn run(bench: &Bench, common: &Common) -> anyhow::Result<ExitCode> {
    match bench {
        Bench::Recall(flags) => recall::run(flags, common),
        Bench::Ann(flags) => ann::run(flags),
    }
}
