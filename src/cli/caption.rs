//! `engram caption`: captions image files with the captioner, without a daemon.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};

use crate::base::caption::Caption;
use crate::base::detection::DetectedObject;
use crate::base::picture::BadImage;
use crate::base::score::{Score, round_to};
use crate::base::stop::Stop;
use crate::base::time::{Clock, SystemClock};
use crate::capture::is_image_name;
use crate::cli::output::{self, say};
use crate::config::{Config, Places};
use crate::daemon;
use crate::model::worker::WorkerCaptioner;
use crate::model::{CaptionError, Captioner};

/// Directory depth that is searched.
const DEPTH_MAX: usize = 16;

/// What to caption, and how to say it.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Images (JPEG, PNG, WebP), or directories of them
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Directory of the captioner's model instead of the configured one
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Print a line of JSON an image: file, caption, confidence, milliseconds; or file, error
    #[arg(long)]
    json: bool,
}

/// Captions one image after another, in the order given and by name within a
/// directory. An image that fails is reported and the rest goes on; then the
/// command fails at its end.
pub(super) fn run(config: &Config, places: &Places, flags: &Flags) -> anyhow::Result<ExitCode> {
    let mut found = Vec::new();
    for path in &flags.paths {
        collect(path, DEPTH_MAX, &mut found);
    }
    if found.is_empty() {
        let paths: Vec<_> = flags.paths.iter().map(|path| path.display().to_string()).collect();
        bail!("there is no image (.jpg, .jpeg, .png, .webp) in {}", paths.join(", "));
    }
    let (clock, stop): (Arc<dyn Clock>, _) = (Arc::new(SystemClock), Stop::default());
    let mut captioner: Box<dyn Captioner> = match &flags.model {
        Some(dir) => {
            let options = daemon::worker_options(config, places, dir.clone());
            Box::new(WorkerCaptioner::new(options, clock, stop)?)
        }
        None => daemon::open_captioner(config, places, &clock, &stop)?,
    };
    let bytes_max = config.image_limits().bytes_max;
    let mut all_done = true;
    for (file, readable) in found {
        let started = SystemClock.tick();
        let captioned = match readable.and_then(|()| read(&file, bytes_max)) {
            Ok(image) => captioner.caption(&image).map_err(Failure::Caption),
            Err(error) => Err(Failure::File(error)),
        };
        if let Err(Failure::Caption(error @ CaptionError::Unavailable(_))) = &captioned {
            // Of no image at all, then.
            bail!("{error}");
        }
        all_done &= captioned.is_ok();
        report(&file, captioned, started.elapsed(), flags.json)?;
    }
    Ok(if all_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Failures of an image.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the file cannot be read: {0}")]
    File(io::Error),
    #[error(transparent)]
    Caption(CaptionError),
}

/// A file to caption, or why it cannot even be looked for.
type FoundFile = (PathBuf, io::Result<()>);

/// A path that is named is taken as it is; in directories, what is called an image.
fn collect(path: &Path, depth: usize, found: &mut Vec<FoundFile>) {
    match fs::metadata(path) {
        Ok(it) if it.is_dir() => match images_in(path, depth, found) {
            Ok(()) => {}
            Err(error) => found.push((path.to_owned(), Err(error))),
        },
        Ok(_) => found.push((path.to_owned(), Ok(()))),
        Err(error) => found.push((path.to_owned(), Err(error))),
    }
}

fn images_in(dir: &Path, depth: usize, found: &mut Vec<FoundFile>) -> io::Result<()> {
    if depth == 0 {
        return Err(io::Error::other(format!("it lies more than {DEPTH_MAX} directories deep")));
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.to_str().is_some_and(is_image_name) {
            collect(&entry, depth - 1, found);
        }
    }
    Ok(())
}

/// The file's bytes, if they are no more than a captioner takes.
fn read(file: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let found = fs::metadata(file)?;
    if !found.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let bytes = usize::try_from(found.len()).unwrap_or(usize::MAX);
    if bytes > bytes_max {
        return Err(io::Error::other(BadImage::FileTooLarge { bytes, max: bytes_max }));
    }
    fs::read(file)
}

fn report(
    file: &Path,
    captioned: Result<Caption, Failure>,
    took: Duration,
    as_json: bool,
) -> io::Result<()> {
    let file = file.display().to_string();
    match captioned {
        Ok(caption) if as_json => say(&json_line(&file, &caption, took).to_string()),
        Ok(Caption { text, confidence: Some(sure), detections: _ }) => {
            say(&format!("{file}: {text} ({:.0} % sure)", 100.0 * sure))
        }
        Ok(Caption { text, confidence: None, detections: _ }) => say(&format!("{file}: {text}")),
        Err(error) if as_json => {
            say(&json!({"file": file, "error": error.to_string()}).to_string())
        }
        Err(error) => {
            complain(&file, &error);
            Ok(())
        }
    }
}

fn json_line(file: &str, caption: &Caption, took: Duration) -> Value {
    let Caption { text, confidence, detections } = caption;
    let confidence = confidence.map(Score);
    let milliseconds = round_to(took.as_secs_f64() * 1e3, 1);
    let mut line = json!({
        "file": file, "caption": text, "confidence": confidence, "milliseconds": milliseconds,
    });
    if let Some(line) = line.as_object_mut().filter(|_| !detections.is_empty()) {
        let detections = detections.iter().map(detection_json).collect();
        line.insert("detections".to_owned(), detections);
    }
    line
}

/// The box in shares of the image's width and height: left, top, right, bottom.
fn detection_json(detection: &DetectedObject) -> Value {
    let DetectedObject { name, score, place } = detection;
    let sides = [place.left, place.top, place.right, place.bottom].map(Score);
    json!({"name": name, "score": Score(*score), "box": sides})
}

fn complain(file: &str, error: &Failure) {
    output::complain(&format!("engram: {file}: {error}"));
}
