//! `engram models`: models by name, in the cache that the Hugging Face hub's own programs share.
//!
//! Of the whole program only `pull` opens a connection to the hub, and only the command line has
//! it; the daemon reads what lies in the cache.

mod blob;
mod export;
#[cfg(feature = "pull")]
mod hub;
pub(super) mod hub_settings;
mod import;
mod install;
mod list;
#[cfg(feature = "pull")]
mod pull;
mod remove;
mod shelf;
mod snapshot;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Subcommand;

use crate::cli::models::hub_settings::HubSettings;
use crate::cli::models::shelf::size;
use crate::cli::output::say;
use crate::config::{Config, Places};
use crate::model::hub_cache::{Commit, HubCache, HubModel, PREFIX};
#[cfg(feature = "pull")]
use crate::model::known_models::ModelKind;
use crate::model::known_models::{KNOWN, KnownModel};

/// Said after the help of `pull`.
const ENVIRONMENT: &str = "The environment is that of the hub's own programs: HF_HOME or \
     HF_HUB_CACHE (where the cache is), HF_TOKEN (for models whose licence must be accepted), \
     HF_ENDPOINT (a mirror), SSL_CERT_FILE (certificates of an authority of your own, in PEM), \
     HF_HUB_OFFLINE, HF_HUB_DOWNLOAD_TIMEOUT (seconds without a byte).";

const NAME_HELP: &str =
    "One of `engram models list`, or hf:ORGANISATION/NAME[@COMMIT] for any other of the hub";

/// Models by name.
#[derive(Debug, Subcommand)]
pub(super) enum Models {
    /// Lists the models that have a name here: where they are, what they need, what they are for
    List {
        /// Print a line of JSON a model: name, state, bytes, memory, licence, what it is good for
        #[arg(long)]
        json: bool,
    },
    /// Copies the shipped models and prompts to where the program finds them without the source
    /// tree that it was built from
    Install {
        /// Where to; engram in `$XDG_DATA_HOME` where it is not given
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Fetches a model from the hub; a download that was cut goes on where it was
    #[command(after_help = ENVIRONMENT)]
    Pull {
        #[arg(value_name = "NAME", help = NAME_HELP)]
        name: String,
    },
    /// Reads models again and says which files are not what they should be
    Verify {
        /// As for `pull`; where none is named, all of `list` that are in the cache
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Prints a model's directory
    Path {
        #[arg(value_name = "NAME", help = NAME_HELP)]
        name: String,
    },
    /// Writes a model into a tar, to be carried to a machine without a network
    Export {
        #[arg(value_name = "NAME", help = NAME_HELP)]
        name: String,
        /// Where to; NAME.tar in this directory where it is not given
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Takes models from a tar that `export` wrote, or from another cache's directory
    Import {
        #[arg(value_name = "FILE|DIR")]
        path: PathBuf,
    },
    /// Removes a model from the cache
    Remove {
        #[arg(value_name = "NAME", help = NAME_HELP)]
        name: String,
    },
}

pub(super) fn run(
    models: &Models,
    config: &Config,
    places: &Places,
    settings: &HubSettings,
) -> anyhow::Result<ExitCode> {
    let cache = HubCache::new(settings.cache.clone());
    match models {
        Models::List { json } => list::list(&cache, config, places, *json)?,
        Models::Install { to } => install::install(config, places, to.as_deref())?,
        Models::Pull { name } => pull(&cache, settings, name)?,
        Models::Verify { names } => return verify(&cache, names),
        Models::Path { name } => path(&cache, config, places, name)?,
        Models::Export { name, output } => export(&cache, name, output.as_ref())?,
        Models::Import { path } => import(&cache, path)?,
        Models::Remove { name } => remove(&cache, name)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The model of the hub that a name stands for.
fn named(name: &str) -> anyhow::Result<HubModel> {
    if name.starts_with(PREFIX) {
        return Ok(HubModel::parse(name)?);
    }
    if let Some(model) = KnownModel::of_name(name).and_then(KnownModel::on_hub) {
        return Ok(model);
    }
    let known: Vec<&str> = KNOWN.iter().map(|it| it.name).collect();
    let nearest = known.iter().min_by_key(|it| strsim::levenshtein(name, it)).unwrap_or(&"");
    bail!(
        "there is no model {name:?} to fetch; the nearest is {nearest:?}, and accepted are {}, or \
         {PREFIX}ORGANISATION/NAME",
        known.join(", ")
    );
}

/// The model and its commit, if it is in the cache.
fn present(cache: &HubCache, name: &str) -> anyhow::Result<(HubModel, Commit)> {
    let model = named(name)?;
    let commit = cache.commit(&model).filter(|_| cache.snapshot(&model).is_some());
    let commit = commit.with_context(|| {
        let root = cache.root().display();
        format!("{name} is not in the cache {root}; run: engram models pull {name}")
    })?;
    Ok((model, commit))
}

#[cfg(not(feature = "pull"))]
fn pull(_cache: &HubCache, _settings: &HubSettings, name: &str) -> anyhow::Result<()> {
    bail!(
        "this program was built without the feature `pull` and opens no connections: fetch {name} \
         on another machine, and bring it with `engram models export` and `import`"
    );
}

#[cfg(feature = "pull")]
fn pull(cache: &HubCache, settings: &HubSettings, name: &str) -> anyhow::Result<()> {
    let model = named(name)?;
    if settings.offline {
        let dir = cache.snapshot(&model);
        let dir = dir.with_context(|| {
            format!(
                "HF_HUB_OFFLINE is set, so that nothing is fetched, and {name} is not in the \
                 cache {}: unset it, or bring the model with `engram models import`",
                cache.root().display()
            )
        })?;
        say(&format!("HF_HUB_OFFLINE is set, nothing was fetched; there is {}", dir.display()))?;
        return Ok(());
    }
    let hub = hub::Hub::new(settings, token(settings))?;
    let commit = pull::pull(&hub, cache, &model)?;
    let known = KnownModel::of_hub(&model, &commit);
    let dir = cache.snapshot_dir(&model.repository, &commit);
    say(&format!("{} at {} is in {}", model.repository, commit.short(), dir.display()))?;
    match known {
        Some(known) if !known.is_pinned() => say(
            "its hashes are the hub's own, not pinned in this build: `engram models verify` holds \
             the files against them",
        )?,
        None => say(&format!(
            "it is not pinned: {PREFIX}{}@{commit} names it for good",
            model.repository,
            commit = commit.as_str()
        ))?,
        Some(_) => {}
    }
    let keys = match known.map(|it| it.kind) {
        Some(ModelKind::Captioner) => "captioner.model",
        Some(ModelKind::Embedder) => "embedder.model",
        None => "captioner.model or embedder.model",
    };
    say(&format!("use it with: {keys} = {name:?}"))?;
    Ok(())
}

/// The token that is set, else the one that the hub's programs keep.
#[cfg(feature = "pull")]
fn token(settings: &HubSettings) -> Option<String> {
    /// A token has some forty characters.
    const TOKEN_BYTES_MAX: usize = 4_096;
    let kept = || std::fs::read_to_string(&settings.token_file).ok();
    let token = settings.token.clone().or_else(kept)?;
    let token = token.trim();
    let is_one = !token.is_empty()
        && token.len() <= TOKEN_BYTES_MAX
        && token.chars().all(|it| it.is_ascii_graphic());
    is_one.then(|| token.to_owned())
}

fn verify(cache: &HubCache, names: &[String]) -> anyhow::Result<ExitCode> {
    let mut models = Vec::new();
    if names.is_empty() {
        for known in KNOWN.iter().filter_map(KnownModel::on_hub) {
            if let Some(commit) = cache.commit(&known).filter(|_| cache.snapshot(&known).is_some())
            {
                models.push((known, commit));
            }
        }
        if models.is_empty() {
            let root = cache.root().display();
            say(&format!("none of the models of `engram models list` is in the cache {root}"))?;
        }
    }
    for name in names {
        models.push(present(cache, name)?);
    }
    let mut all_well = true;
    for (model, commit) in models {
        let (files, faults) = snapshot::faults(cache, &model.repository, &commit)?;
        let known = KnownModel::of_hub(&model, &commit);
        let against = match known {
            Some(known) if known.is_pinned() => "this build's list",
            _ => "the hub's hashes",
        };
        let title = format!("{} at {}", model.repository, commit.short());
        if faults.is_empty() {
            say(&format!("{title}: {files} files, all as in {against}"))?;
        }
        for fault in &faults {
            say(&format!("{title}: {}: {}", fault.name, fault.reason))?;
        }
        if !faults.is_empty() {
            let name = known.map_or_else(|| model.to_string(), |it| it.name.to_owned());
            say(&format!("run: engram models remove {name} && engram models pull {name}"))?;
            all_well = false;
        }
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn path(cache: &HubCache, config: &Config, places: &Places, name: &str) -> anyhow::Result<()> {
    let shipped = config.models_dirs(places).into_iter().map(|dir| dir.join(name));
    let is_name = !name.contains('/') && !name.starts_with('.');
    let found = shipped.filter(|_| is_name).find(|dir| dir.join("config.json").is_file());
    let dir = if let Some(dir) = found {
        dir
    } else {
        let (model, commit) = present(cache, name)?;
        cache.snapshot_dir(&model.repository, &commit)
    };
    say(&dir.display().to_string())?;
    Ok(())
}

fn export(cache: &HubCache, name: &str, output: Option<&PathBuf>) -> anyhow::Result<()> {
    let (model, commit) = present(cache, name)?;
    let written =
        || PathBuf::from(format!("{}.tar", name.trim_start_matches(PREFIX).replace('/', "--")));
    let path = output.cloned().unwrap_or_else(written);
    let bytes = export::export_to(cache, &model, &commit, &path)?;
    say(&format!(
        "{} at {} is in {}, {}",
        model.repository,
        commit.short(),
        path.display(),
        size(bytes)
    ))?;
    say(&format!("on the other machine run: engram models import {}", path.display()))?;
    Ok(())
}

fn import(cache: &HubCache, path: &std::path::Path) -> anyhow::Result<()> {
    let models = import::import(cache, path)
        .with_context(|| format!("nothing was put in place of {}", path.display()))?;
    for model in models {
        let commit = cache.commit(&model).with_context(|| format!("{model} names no commit"))?;
        let name = KnownModel::of_hub(&model, &commit).map(|it| it.name.to_owned());
        let name = name.unwrap_or_else(|| model.to_string());
        let dir = cache.snapshot_dir(&model.repository, &commit);
        say(&format!("{name} is in {}, its hashes checked", dir.display()))?;
    }
    Ok(())
}

fn remove(cache: &HubCache, name: &str) -> anyhow::Result<()> {
    let (model, commit) = present(cache, name)?;
    let freed = remove::remove(cache, &model.repository, &commit)?;
    say(&format!("{} at {} is gone, {} freed", model.repository, commit.short(), size(freed)))?;
    Ok(())
}
