//! `engram serve`, and the worker process that it starts for itself.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cli::log;
use crate::config::{Config, Places};
use crate::daemon::Daemon;
use crate::model::worker;

/// Runs the daemon until it is told to end.
pub(super) fn run(config: &Config, places: &Places) -> anyhow::Result<ExitCode> {
    // Before anything starts, so that no signal is missed.
    let mut signals = Signals::new([SIGTERM, SIGINT]).context("signals cannot be caught")?;
    let daemon = Daemon::start(config, places)?;
    if let Some(signal) = signals.forever().next() {
        ::log::info!("asked to stop by signal {signal}");
    }
    daemon.stop()?;
    log::finish();
    Ok(ExitCode::SUCCESS)
}
