//! `engram serve`, and the worker process that it starts for itself.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::base::picture::ImageLimits;
use crate::base::step_back::StepBack;
use crate::cli::logging;
use crate::cli::service::Service;
use crate::config::{Config, Places};
use crate::daemon::Daemon;
use crate::model::compute::ComputeDevice;
use crate::model::worker::child::{self, ChildOptions};
use crate::model::{CaptionTask, Detail};

/// What the daemon tells its worker.
#[derive(Debug, Args)]
pub(super) struct WorkerFlags {
    /// Directory of the captioner's model
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Largest image file
    #[arg(long, value_name = "BYTES", default_value_t = ImageLimits::default().bytes_max)]
    image_bytes_max: usize,
    /// Largest image
    #[arg(long, value_name = "PIXELS", default_value_t = ImageLimits::default().pixels_max)]
    image_pixels_max: u64,
    /// Memory that the worker may take
    #[arg(long, value_name = "BYTES")]
    memory_bytes_max: Option<u64>,
    /// What to compute on: auto, cpu or cuda:0
    #[arg(long, value_parser = device, default_value = "auto")]
    device: ComputeDevice,
    /// Directory of the networks that read what is written in a picture
    #[arg(long, value_name = "DIR")]
    scene_text: Option<PathBuf>,
    /// Some sentences instead of one, where the model can
    #[arg(long)]
    detailed: bool,
    /// Things with their boxes, too, where the model can
    #[arg(long)]
    detect: bool,
}

fn device(name: &str) -> Result<ComputeDevice, String> {
    ComputeDevice::of_name(name)
        .ok_or_else(|| format!("{name:?}, accepted are auto, cpu and cuda:0"))
}

/// Captions what comes on standard input until it ends.
pub(super) fn caption_worker(flags: &WorkerFlags) -> anyhow::Result<ExitCode> {
    let WorkerFlags {
        model,
        image_bytes_max,
        image_pixels_max,
        memory_bytes_max,
        device,
        scene_text,
        detailed,
        detect,
    } = flags;
    let detail = if *detailed { Detail::Sentences } else { Detail::Sentence };
    let options = ChildOptions {
        model: model.clone(),
        limits: ImageLimits { bytes_max: *image_bytes_max, pixels_max: *image_pixels_max },
        task: CaptionTask { detail, detects: *detect },
        device: *device,
        scene_text: scene_text.clone(),
        memory_bytes_max: *memory_bytes_max,
    };
    child::run(&options, &mut io::stdin().lock(), &mut io::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}

/// A camera's command and its bounds.
#[derive(Debug, Args)]
pub(super) struct SourceChildFlags {
    /// Memory that each of its processes may take
    #[arg(long, value_name = "BYTES")]
    memory_bytes_max: Option<u64>,
    /// Line for the shell
    line: String,
}

/// Goes on as the shell with the camera's command; returns only if it cannot.
pub(super) fn source_child(flags: &SourceChildFlags) -> anyhow::Result<ExitCode> {
    let memory_bytes_max = flags.memory_bytes_max;
    StepBack { name: "the camera's command", niceness: 5, oom_score: 500, memory_bytes_max }
        .apply();
    Err(Command::new("/bin/sh").arg("-c").arg(&flags.line).exec()).context("/bin/sh does not start")
}

/// Runs the daemon until it is told to end.
pub(super) fn run(config: &Config, places: &Places) -> anyhow::Result<ExitCode> {
    // Before anything starts, so that no signal is missed.
    // A terminal that closes ends the daemon in order, too: its settings are read at the start.
    let mut signals =
        Signals::new([SIGTERM, SIGINT, SIGHUP]).context("signals cannot be caught")?;
    let daemon = Daemon::start(config, places)?;
    let service = Service::begin(config.socket_path(places))?;
    if let Some(signal) = signals.forever().next() {
        ::log::info!("asked to stop by signal {signal}");
    }
    service.end();
    daemon.stop()?;
    logging::finish();
    Ok(ExitCode::SUCCESS)
}
