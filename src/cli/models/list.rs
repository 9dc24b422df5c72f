//! `engram models list`: the models that have a name here, shipped or to be fetched.

use std::fs;
use std::path::Path;

use crate::cli::models::shelf::size;
use crate::cli::output::say;
use crate::config::{Config, Places};
use crate::model::hub_cache::HubCache;
use crate::model::known_models::{KNOWN, KnownModel, ModelKind};

/// A line of the table.
struct Line {
    name: String,
    state: String,
    bytes: String,
    memory: String,
    licence: String,
    good_for: String,
}

/// Shipped models: memory where it was measured, licence, and what each is good for, by their
/// cards.
const SHIPPED: &[(&str, Option<u64>, &str, &str)] = &[
    (
        "everyday-detector",
        Some(59),
        "MIT, Apache-2.0",
        "captioner: 80 kinds of everyday things in photographs; the default",
    ),
    (
        "household-captioner",
        Some(26),
        "Apache-2.0",
        "captioner: the demo's rendered scenes, no photographs",
    ),
    ("caption-embedder", None, "Apache-2.0", "embedder: captions and short notes; the default"),
    ("caption-reader", Some(17), "Apache-2.0", "reads captions when they come in"),
    ("request-reader", Some(24), "Apache-2.0", "reads requests"),
];

pub(super) fn list(cache: &HubCache, config: &Config, places: &Places) -> anyhow::Result<()> {
    let mut lines = vec![Line {
        name: "NAME".to_owned(),
        state: "STATE".to_owned(),
        bytes: "SIZE".to_owned(),
        memory: "MEMORY".to_owned(),
        licence: "LICENCE".to_owned(),
        good_for: "GOOD FOR".to_owned(),
    }];
    let dirs = config.models_dirs(places);
    for (name, memory, licence, good_for) in SHIPPED {
        let dir = dirs.iter().map(|dir| dir.join(name)).find(|it| it.join("config.json").is_file());
        let Some(dir) = dir else { continue };
        lines.push(Line {
            name: (*name).to_owned(),
            state: "shipped".to_owned(),
            bytes: size(bytes_of(&dir)),
            memory: memory.map_or_else(|| "-".to_owned(), |it| size(it * 1_000_000)),
            licence: (*licence).to_owned(),
            good_for: (*good_for).to_owned(),
        });
    }
    lines.extend(KNOWN.iter().map(|model| line(cache, model)));
    let mut widths = [0; 5];
    for line in &lines {
        let columns = [&line.name, &line.state, &line.bytes, &line.memory, &line.licence];
        for (width, column) in widths.iter_mut().zip(columns) {
            *width = (*width).max(column.chars().count());
        }
    }
    let [name, state, bytes, memory, licence] = widths;
    for line in lines {
        say(&format!(
            "{:name$}  {:state$}  {:>bytes$}  {:>memory$}  {:licence$}  {}",
            line.name, line.state, line.bytes, line.memory, line.licence, line.good_for
        ))?;
    }
    say(&format!("\ncache: {}", cache.root().display()))?;
    Ok(())
}

fn line(cache: &HubCache, model: &KnownModel) -> Line {
    let is_there = model.on_hub().is_some_and(|it| cache.snapshot(&it).is_some());
    let state = if is_there { "in the cache" } else { "to be fetched" };
    let kind = match model.kind {
        ModelKind::Captioner => "captioner",
        ModelKind::Embedder => "embedder",
    };
    let pinned = if model.is_pinned() { "" } else { "; not pinned in this build" };
    Line {
        name: model.name.to_owned(),
        state: state.to_owned(),
        bytes: size(model.bytes()),
        memory: size(u64::from(model.memory_mb) * 1_000_000),
        licence: model.licence.to_owned(),
        good_for: format!("{kind}: {}{pinned}", model.good_for),
    }
}

/// Bytes of a shipped model's weights.
fn bytes_of(dir: &Path) -> u64 {
    fs::metadata(dir.join("model.safetensors")).map_or(0, |it| it.len())
}
