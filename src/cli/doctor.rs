//! `engram doctor`: what is wrong with an installation or a store, and what helps.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value};

use crate::base::time::{Clock as _, SystemClock};
use crate::cli::client::{Client, ClientOptions};
use crate::cli::output::say;
use crate::config::{Config, Places};
use crate::daemon;
use crate::search::recover::IndexFaults;
use crate::store::StoreError;
use crate::store::backup::made::{self, MadeBackup};
use crate::store::doctor::{self, Examined, StoreCopy};
use crate::store::losses::Losses;
use crate::store::salvage;
use crate::tools::admin::health::Health;
use crate::tools::admin::memory_stats::MemoryStats;
use crate::tools::ingest::ingest_status::IngestStatus;
use crate::tools::tool::Tool as _;

#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Saves what is whole of a damaged store into a new directory beside it (the daemon must
    /// be stopped); the store itself is only read
    #[arg(long)]
    repair: bool,
    /// Where --repair saves to; by default the state directory with ".repaired" at its end
    #[arg(long, value_name = "DIR", requires = "repair")]
    to: Option<PathBuf>,
    /// Ends the message of what the store has lost: somebody has looked
    #[arg(long, conflicts_with = "repair")]
    settle: bool,
}

/// Older backups are said to be old.
const BACKUP_HOURS_MAX: u64 = 7 * 24;

/// One line of the checklist.
struct Finding {
    part: &'static str,
    /// What is wrong and which command helps; what is there where nothing is wrong.
    outcome: Result<String, String>,
}

/// Prints the checklist; exits with 1 where something is wrong.
pub(super) fn run(
    config: &Config,
    places: &Places,
    daemon: (&Path, ClientOptions),
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let dir = config.state_dir(places);
    if flags.settle {
        let settled = Losses::in_dir(&dir).settle()?;
        say(&format!("{settled} losses are settled; they are kept in losses.seen."))?;
        return Ok(ExitCode::SUCCESS);
    }
    if flags.repair {
        let target = flags.to.clone().unwrap_or_else(|| beside(&dir));
        let target = std::path::absolute(target)?;
        let report = salvage::repair(&daemon::store_options(config, places)?, &target)?;
        for line in report.lines(config.zone()?) {
            say(&line)?;
        }
        say(&format!(
            "Saved to {0}; {1} is as it was. To go on with it: engram serve --state-dir {0}. It \
             has copies of the keys: remove {1} once it is not needed, or what is forgotten from \
             now on can still be read there.",
            target.display(),
            dir.display(),
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let findings = examine(config, places, daemon, &dir);
    let mut code = ExitCode::SUCCESS;
    for Finding { part, outcome } in findings {
        let (mark, text) = match &outcome {
            Ok(text) => ("ok ", text),
            Err(text) => {
                code = ExitCode::FAILURE;
                ("BAD", text)
            }
        };
        say(&format!("{mark} {part:13} {text}"))?;
    }
    Ok(code)
}

/// The state directory with an ending of its own.
fn beside(dir: &Path) -> PathBuf {
    let mut name = dir.as_os_str().to_owned();
    name.push(".repaired");
    PathBuf::from(name)
}

fn examine(
    config: &Config,
    places: &Places,
    daemon: (&Path, ClientOptions),
    dir: &Path,
) -> Vec<Finding> {
    let mut findings = vec![
        Finding {
            part: "configuration",
            outcome: Ok("read; `engram config` prints it".to_owned()),
        },
        Finding { part: "models", outcome: check_models(config, places) },
        Finding { part: "permissions", outcome: check_permissions(dir) },
        Finding { part: "disk", outcome: doctor::check_disk(dir).map_err(|it| it.to_string()) },
    ];
    let (store, is_running) = check_store(config, places, dir);
    let is_whole = store.is_ok();
    findings.push(Finding { part: "store", outcome: store });
    if is_whole && !is_running {
        findings.extend(check_copy(config, places));
    }
    findings.extend(check_backup(dir));
    let losses = Losses::in_dir(dir).read().unwrap_or_default();
    findings.extend(losses.into_iter().map(|loss| {
        let help = "`engram doctor --settle` ends this message";
        Finding { part: "lost", outcome: Err(format!("{loss}; {help}")) }
    }));
    findings.extend(check_daemon(daemon, is_running));
    findings
}

fn check_models(config: &Config, places: &Places) -> Result<String, String> {
    let mut dirs = vec![
        ("captioner", config.captioner_dir(places)),
        ("embedder", config.embedder_dir(places)),
        ("reader", config.reader_dir(places)),
        ("reader of captions", config.caption_reader_dir(places)),
    ];
    if let Some(dir) = config.caption_matcher_dir(places).transpose() {
        dirs.push(("matcher of captions", dir));
    }
    if let Some(dir) = config.use_reader_dir(places).transpose() {
        dirs.push(("reader of uses", dir));
    }
    let mut found = Vec::new();
    for (name, dir) in dirs {
        let help = "`engram models list` names those that can be had";
        let dir = dir.map_err(|error| format!("{name}: {error}; {help}"))?;
        if !dir.is_dir() {
            return Err(format!("{name}: there is no directory {}; {help}", dir.display()));
        }
        found.push(name);
    }
    Ok(format!("{} are there", found.join(", ")))
}

fn check_permissions(dir: &Path) -> Result<String, String> {
    let path = dir.display();
    let Ok(meta) = fs::metadata(dir) else {
        return Ok(format!("{path} is not there yet; `engram serve` makes it"));
    };
    let (own, mode) = (rustix::process::geteuid().as_raw(), meta.permissions().mode() & 0o777);
    if meta.uid() != own {
        return Err(format!(
            "{path} belongs to user {}, this is user {own}: chown -R {own} {path}, or run as the \
             other",
            meta.uid()
        ));
    }
    if mode & 0o077 != 0 {
        return Err(format!("{path} is open to others, mode {mode:04o}: chmod 700 {path}"));
    }
    Ok(format!("{path} is this user's alone"))
}

/// What is to be said of the store, and whether a process has it open.
fn check_store(config: &Config, places: &Places, dir: &Path) -> (Result<String, String>, bool) {
    let examined = daemon::store_options(config, places)
        .map_err(|error| error.to_string())
        .map(|options| doctor::examine(&options));
    match examined {
        Err(error) => (Err(error), false),
        Ok(Ok(Examined::New)) => (Ok("there is none yet".to_owned()), false),
        Ok(Ok(Examined::Whole { records })) => (Ok(format!("whole, {records} records")), false),
        Ok(Ok(Examined::Lossy { losses })) => (Err(losses.join("; ")), false),
        Ok(Err(StoreError::Locked { holder, .. })) => (Ok(format!("open in {holder}")), true),
        Ok(Err(error @ StoreError::NotWhole { .. })) => {
            let help = format!(
                "`engram doctor --repair --to DIR` saves what is whole of {}",
                dir.display()
            );
            (Err(format!("{error}; {help}")), false)
        }
        Ok(Err(error)) => (Err(error.to_string()), false),
    }
}

/// What is to be said of the index and the images of a store that no process has open: it is
/// read as a start reads it, from a copy.
fn check_copy(config: &Config, places: &Places) -> Vec<Finding> {
    let Ok(options) = daemon::store_options(config, places) else { return Vec::new() };
    let index = |outcome| Finding { part: "index", outcome };
    let copy = match StoreCopy::of(&options) {
        Ok(None) => return Vec::new(),
        Ok(Some(copy)) => copy,
        Err(error) => return vec![index(Err(error.to_string()))],
    };
    let Some(store) = copy.store() else { return Vec::new() };
    let images = match copy.gone_images(&options) {
        Ok(None) => Ok("those of all records and frames are there".to_owned()),
        Ok(Some(gone)) => Err(format!("{gone}; what a backup has of them can be put back")),
        Err(error) => Err(error.to_string()),
    };
    vec![
        index(describe_index(&IndexFaults::of(store))),
        Finding { part: "images", outcome: images },
    ]
}

fn describe_index(found: &Result<IndexFaults, StoreError>) -> Result<String, String> {
    let help = "`engram serve` makes it anew from the records, which are there";
    let faults = found.as_ref().map_err(ToString::to_string)?;
    let IndexFaults { segments, damaged, rows, unsealed, records, unreadable: _ } = faults;
    if let Some((number, reason)) = damaged.first() {
        return Err(format!(
            "{} of {segments} segments are not whole, such as {} ({reason}); {help}",
            damaged.len(),
            number.0
        ));
    }
    if faults.differ() {
        return Err(format!("{} rows for {records} records; {help}", rows + unsealed));
    }
    Ok(format!(
        "{segments} segments with their graphs are whole, {rows} records in them, {unsealed} not \
         sealed yet"
    ))
}

/// How old the newest backup is, where one is known.
fn check_backup(dir: &Path) -> Option<Finding> {
    let help = "`engram backup DIR` makes one";
    // Where there is no store there is nothing to back up.
    if !dir.join("db").is_dir() {
        return None;
    }
    let Some(MadeBackup { at, place }) = made::newest(dir) else {
        let outcome = Ok(format!("none is known; {help}"));
        return Some(Finding { part: "backup", outcome });
    };
    let hours = SystemClock.now().since(at).as_secs() / (60 * 60);
    let age = match hours {
        0 => "less than an hour".to_owned(),
        1..48 => format!("{hours} h"),
        _ => format!("{} days", hours / 24),
    };
    let text = format!("the newest was made {age} ago, to {place}");
    let is_old = hours > BACKUP_HOURS_MAX;
    let outcome = if is_old { Err(format!("{text}; {help}")) } else { Ok(text) };
    Some(Finding { part: "backup", outcome })
}

/// What a running daemon says of itself: index, captioner, last errors.
fn check_daemon((socket, options): (&Path, ClientOptions), is_running: bool) -> Vec<Finding> {
    let asked = Client::connect(socket, options).and_then(|mut client| {
        let mut ask = |tool: &str| client.call(tool, Map::new()).map(|reply| reply.structured);
        Ok((ask(Health::NAME)?, ask(IngestStatus::NAME)?, ask(MemoryStats::NAME)?))
    });
    let (health, ingest, stats) = match asked {
        Ok(asked) => asked,
        Err(error) if is_running => {
            return vec![Finding { part: "daemon", outcome: Err(error.to_string()) }];
        }
        Err(_) => {
            let outcome = Ok("does not run; `engram serve` starts it".to_owned());
            return vec![Finding { part: "daemon", outcome }];
        }
    };
    let problems = health.get("problems").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut findings: Vec<Finding> = problems
        .iter()
        .filter_map(Value::as_str)
        .map(|problem| Finding { part: "daemon", outcome: Err(problem.to_owned()) })
        .collect();
    if findings.is_empty() {
        findings.push(Finding { part: "daemon", outcome: Ok("is well".to_owned()) });
    }
    // Who may not ask is told the rest.
    if let Some(index) = stats.get("index").and_then(Value::as_object) {
        let segments = index.get("segments").and_then(Value::as_array).map_or(0, Vec::len);
        let tail = index.get("tail").and_then(Value::as_u64).unwrap_or(0);
        let text = format!(
            "{segments} segments, which were read whole at the daemon's start, {tail} records not \
             sealed yet"
        );
        findings.push(Finding { part: "index", outcome: Ok(text) });
    }
    let number = |name: &str| ingest.get(name).and_then(Value::as_u64).unwrap_or(0);
    let (restarts, failed) = (number("captioner_restarts"), number("failed"));
    let text = format!("restarted {restarts} times, {failed} frames set aside");
    let help = "`engram call ingest_status` names the frames, the daemon's log the reason";
    let outcome = if restarts > 3 { Err(format!("{text}; {help}")) } else { Ok(text) };
    findings.push(Finding { part: "captioner", outcome });
    findings
}
