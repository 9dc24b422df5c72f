//! `engram backup` and `engram restore`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::base::time::{Clock as _, SystemClock, Zone};
use crate::cli::client::{Client, ClientError, ClientOptions};
use crate::cli::output::say;
use crate::config::{Config, Places};
use crate::daemon;
use crate::daemon::private::{keep_new_files_private, keep_private};
use crate::store::CheckedStore;
use crate::store::backup::make::{self, BackupReport};
use crate::store::backup::restore::{self, BackupSummary};
use crate::store::backup::source::BackupSource;
use crate::store::backup::{Answer, BackupError, Question};

#[derive(Debug, Args)]
pub(super) struct BackupFlags {
    /// Directory to back up to; a later backup into it copies only what is new
    dir: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct RestoreFlags {
    /// Directory that `engram backup` wrote
    dir: PathBuf,
    /// Says what the backup holds; restores nothing
    #[arg(long, conflicts_with = "check")]
    list: bool,
    /// Reads all of the backup and says whether it is whole; restores nothing
    #[arg(long)]
    check: bool,
}

/// Images that are named of those that are damaged; of more, how many.
const NAMED_MAX: usize = 10;

/// Makes a backup of the running daemon's memory, or of the state directory where none runs.
pub(super) fn back_up(
    config: &Config,
    places: &Places,
    (socket, options): (&Path, ClientOptions),
    flags: &BackupFlags,
) -> anyhow::Result<ExitCode> {
    let state = config.state_dir(places);
    let dir = std::path::absolute(&flags.dir)?;
    let real_state = fs::canonicalize(&state).unwrap_or_else(|_| state.clone());
    let nearest = dir.ancestors().find_map(|it| fs::canonicalize(it).ok());
    anyhow::ensure!(
        !nearest.is_some_and(|it| it.starts_with(&real_state)),
        "{} lies in the state directory, and would be lost with it; choose another directory, \
         best on another disk",
        dir.display()
    );
    let now = SystemClock.now();
    let report = match Client::connect(socket, options) {
        Ok(mut client) => make::make(&dir, now, &mut |question| ask(&mut client, &question)),
        Err(ClientError::NotRunning { .. }) => {
            let mut source = open_store(config, places, &state)?;
            make::make(&dir, now, &mut |question| source.answer(question))
        }
        Err(error) => return Err(error.into()),
    };
    let report = report.context("no backup was made, one that was there is as it was")?;
    say(&describe_report(&report, &dir))?;
    Ok(ExitCode::SUCCESS)
}

fn ask(client: &mut Client, question: &Question) -> Result<Answer, BackupError> {
    let answer = client.backup(&question.to_bytes()?);
    Answer::from_bytes(&answer.map_err(|error| BackupError::Source(Box::new(error)))?)
}

/// The store of a daemon that does not run.
fn open_store(config: &Config, places: &Places, state: &Path) -> anyhow::Result<BackupSource> {
    let nothing = || anyhow::anyhow!("there is no store yet in {}", state.display());
    if !state.join("db").is_dir() {
        return Err(nothing());
    }
    keep_private(state)?;
    let store = CheckedStore::open(daemon::store_options(config, places)?)?;
    Ok(store.into_store_as_it_is()?.ok_or_else(nothing)?.begin_backup())
}

/// Makes a store of a backup, or says what is in it.
pub(super) fn restore(
    config: &Config,
    places: &Places,
    flags: &RestoreFlags,
) -> anyhow::Result<ExitCode> {
    let zone = config.zone()?;
    let RestoreFlags { dir, list, check } = flags;
    if *list {
        say(&describe(&restore::summarize(dir)?, zone))?;
        return Ok(ExitCode::SUCCESS);
    }
    if *check {
        say(&format!(
            "{}\nAll of it was read and is whole.",
            describe(&restore::check(dir)?, zone)
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    keep_new_files_private();
    let options = daemon::store_options(config, places)?;
    let summary = restore::restore(dir, &options)?;
    let state = options.dir.display();
    say(&format!(
        "{}\nRestored to {state}, and whole. To go on with it: engram serve --state-dir {state}",
        describe(&summary, zone)
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn describe_report(report: &BackupReport, dir: &Path) -> String {
    let BackupReport {
        kinds,
        images,
        files,
        bytes,
        files_written,
        bytes_written,
        files_removed,
        damaged_images,
        has_key,
    } = report;
    let mut lines = vec![
        format!("{}, {images} images", describe_kinds(kinds)),
        format!(
            "backed up to {}: {files_written} of {files} files written, {} of {}; {files_removed} \
             removed; all of it was read back",
            dir.display(),
            size(*bytes_written),
            size(*bytes)
        ),
        describe_key(*has_key).to_owned(),
    ];
    if !damaged_images.is_empty() {
        let named: Vec<String> =
            damaged_images.iter().take(NAMED_MAX).map(|ticket| format!("#{ticket}")).collect();
        lines.push(format!(
            "{} images are damaged in the store, and not in the backup, of frames {}{}",
            damaged_images.len(),
            named.join(", "),
            if damaged_images.len() > NAMED_MAX { " and others" } else { "" }
        ));
    }
    lines.join("\n")
}

fn describe(summary: &BackupSummary, zone: Zone) -> String {
    let BackupSummary { made_at, engram, store, kinds, images, bytes, has_key } = summary;
    format!(
        "backup of {}, by engram {engram}, of the store {store}: {}\n{}, {images} images\n{}",
        zone.format(*made_at),
        size(*bytes),
        describe_kinds(kinds),
        describe_key(*has_key)
    )
}

fn describe_kinds(kinds: &[(&'static str, u64)]) -> String {
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    kinds.join(", ")
}

fn describe_key(has_key: bool) -> &'static str {
    if has_key {
        "the key to it is in it: who can read the directory can read the memory"
    } else {
        "the key to it is not in it: without what store.key names nobody can read it"
    }
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    if bytes < 1 << 20 {
        return format!("{} KiB", bytes.div_ceil(1 << 10));
    }
    #[expect(clippy::cast_precision_loss, reason = "for people, with one digit")]
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    format!("{mebibytes:.1} MiB")
}
