//! Milliseconds a frame and peak memory of the caption worker, beside the
//! reference implementation (transformers in Python) in the same run, one thread
//! each. See benches/README.md.

#![expect(clippy::print_stdout, reason = "a benchmark's figures")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use engram::base::picture::ImageLimits;
use engram::base::stop::Stop;
use engram::base::time::{Clock as _, SystemClock};
use engram::model::compute::ComputeDevice;
use engram::model::worker::child::ChildOptions;
use engram::model::worker::process::WorkerCommand;
use engram::model::worker::{Options, Start, WorkerCaptioner};
use engram::model::{CaptionTask, Captioner as _};
use serde_json::Value;

/// Frames of the flat; a few more are captioned first and not counted.
const FRAMES: usize = 64;
const WARM_UP: usize = 4;
/// Ours and the reference take turns, because the machine's speed drifts.
const ROUNDS: usize = 3;

struct Figures {
    /// Of each frame, in order of time taken.
    millis: Vec<f64>,
    peak_mb: f64,
    captions: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let model = env::args_os().skip(1).find(|it| !it.to_string_lossy().starts_with("--"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = model.map_or_else(|| root.join("models/household-captioner"), PathBuf::from);
    let frames = frames(&root.join("models/household-captioner/flat/frames"))?;
    let python = python();
    if python.is_none() {
        println!("No Python with torch and transformers: only engram is measured.");
        println!("Name one with ENGRAM_BENCH_PYTHON=/path/to/python.\n");
    }
    println!("{FRAMES} frames, {}, {ROUNDS} rounds", model.display());
    println!("{:12}{:>12}{:>12}{:>12}", "", "median ms", "p95 ms", "peak MB");
    for _ in 0..ROUNDS {
        let ours = ours(&model, &frames)?;
        show("engram", &ours);
        if let Some(python) = &python {
            let theirs = reference(python, root, &model, &frames)?;
            show("transformers", &theirs);
            let equal = ours.captions.iter().zip(&theirs.captions).filter(|(a, b)| a == b).count();
            println!("captions equal: {equal} of {}", ours.captions.len());
        }
    }
    Ok(())
}

fn frames(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| dir.display().to_string())?;
    let mut frames: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    frames.sort();
    frames.truncate(FRAMES);
    Ok(frames)
}

fn show(name: &str, figures: &Figures) {
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let place = (figures.millis.len() as f64 * share) as usize;
        figures.millis.get(place).copied().unwrap_or_default()
    };
    println!("{name:12}{:>12.2}{:>12.2}{:>12.0}", at(0.5), at(0.95), figures.peak_mb);
}

/// Through the worker process, as the daemon captions.
fn ours(model: &Path, frames: &[PathBuf]) -> anyhow::Result<Figures> {
    let child = ChildOptions {
        model: model.to_owned(),
        limits: ImageLimits::default(),
        task: CaptionTask::default(),
        device: ComputeDevice::Cpu,
        scene_text: None,
        memory_bytes_max: None,
    };
    let options = Options {
        command: WorkerCommand::engram(Path::new(env!("CARGO_BIN_EXE_engram")), &child),
        model: model.to_owned(),
        task: CaptionTask::default(),
        scene_text: None,
        memory_bytes_max: None,
        start_deadline: Duration::from_mins(5),
        caption_deadline: Duration::from_mins(5),
        start: Start::AtOnce,
    };
    let mut captioner = WorkerCaptioner::new(options, Arc::new(SystemClock), Stop::default())?;
    for frame in frames.iter().take(WARM_UP) {
        captioner.caption(&fs::read(frame)?)?;
    }
    let (mut millis, mut captions) = (Vec::new(), Vec::new());
    for frame in frames {
        let image = fs::read(frame)?;
        let started = SystemClock.tick();
        captions.push(captioner.caption(&image)?.text);
        millis.push(started.elapsed().as_secs_f64() * 1e3);
    }
    millis.sort_by(f64::total_cmp);
    let process = captioner.process_id().context("the worker has ended")?;
    Ok(Figures { millis, peak_mb: peak_mb(process)?, captions })
}

/// Most memory that a process ever held.
fn peak_mb(process: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|it| it.trim().strip_suffix(" kB"));
    let kilobytes: f64 = kilobytes.context("no VmHWM")?.parse()?;
    Ok(kilobytes / 1024.0)
}

/// The interpreter of the reference: the one that is named, or the usual one if
/// it has the libraries.
fn python() -> Option<PathBuf> {
    if let Some(named) = env::var_os("ENGRAM_BENCH_PYTHON") {
        return Some(named.into());
    }
    let usual = PathBuf::from("python3");
    let has = Command::new(&usual).args(["-c", "import torch, transformers, PIL"]).output();
    has.is_ok_and(|it| it.status.success()).then_some(usual)
}

fn reference(
    python: &Path,
    root: &Path,
    model: &Path,
    frames: &[PathBuf],
) -> anyhow::Result<Figures> {
    let mut command = Command::new(python);
    command.arg(root.join("benches/caption/reference.py")).arg(model).args(frames);
    let output = command.env("OMP_NUM_THREADS", "1").output()?;
    if !output.status.success() {
        bail!("the reference failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let found: Value = serde_json::from_slice(&output.stdout)?;
    let list = |name: &str| found.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut millis: Vec<f64> = list("milliseconds").iter().filter_map(Value::as_f64).collect();
    millis.sort_by(f64::total_cmp);
    let captions = list("captions");
    let captions = captions.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect();
    let peak_mb = found.get("peak_mb").and_then(Value::as_f64).context("no peak_mb")?;
    Ok(Figures { millis, peak_mb, captions })
}
