//! `engram models install`: the shipped models and prompts, copied to where the program finds
//! them without the source tree that it was built from.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::cli::output::say;
use crate::config::{Config, Places};

/// What a model was trained and is tested with.
const LEFT_OUT: [&str; 6] =
    ["training", "convert", "evaluation", "golden.jsonl", "probe_pairs.jsonl", ".gitignore"];

/// Copies to `to`, or to the user's data directory.
pub(super) fn install(config: &Config, places: &Places, to: Option<&Path>) -> anyhow::Result<()> {
    let own = places.data_dirs.first().map(|dir| dir.join("engram"));
    let into = to.map(Path::to_owned).or(own);
    let into = into.context("neither HOME nor XDG_DATA_HOME is set; give --to DIR")?;
    for (kind, dirs) in
        [("models", config.models_dirs(places)), ("prompts", config.prompts_dirs(places))]
    {
        let target = into.join(kind);
        let found = dirs.iter().find(|dir| dir.is_dir() && **dir != target);
        let Some(source) = found else {
            let looked: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
            anyhow::bail!("there are no {kind} to install; looked at {}", looked.join(", "));
        };
        copy(source, &target)
            .with_context(|| format!("cannot copy {} to {}", source.display(), target.display()))?;
        say(&format!("{kind}: {}", target.display()))?;
    }
    Ok(())
}

/// Each file as a whole or not at all.
fn copy(source: &Path, target: &Path) -> std::io::Result<()> {
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let (from, to) = (entry.path(), target.join(entry.file_name()));
        if LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if fs::metadata(&from)?.is_dir() {
            copy(&from, &to)?;
        } else {
            let draft: PathBuf = to.with_added_extension("new");
            fs::copy(&from, &draft)?;
            fs::rename(&draft, &to)?;
        }
    }
    Ok(())
}
