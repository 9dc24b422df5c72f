//! `engram models list`: the models that have a name here, shipped or to be fetched.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::cli::models::shelf::size;
use crate::cli::output::say;
use crate::config::{Config, Places};
use crate::model::hub_cache::HubCache;
use crate::model::known_models::{KNOWN, KnownModel, ModelKind};

/// A model.
#[derive(Debug, Serialize)]
struct Line {
    name: &'static str,
    state: &'static str,
    bytes: u64,
    memory_bytes: Option<u64>,
    licence: &'static str,
    good_for: String,
}

impl Line {
    /// As people read it.
    fn row(self) -> [String; 6] {
        let memory = self.memory_bytes.map_or_else(|| "-".to_owned(), size);
        let (name, state) = (self.name.to_owned(), self.state.to_owned());
        [name, state, size(self.bytes), memory, self.licence.to_owned(), self.good_for]
    }
}

/// Shipped models: memory where it was measured, licence, and what each is good for, by their
/// cards.
const SHIPPED: &[(&str, Option<u64>, &str, &str)] = &[
    (
        "everyday-detector",
        Some(74),
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
    ("caption-matcher", Some(36), "Apache-2.0", "finds what captions call otherwise"),
    ("request-reader", Some(35), "Apache-2.0", "reads requests"),
    ("use-reader", Some(5), "Apache-2.0", "knows what things are for"),
];

pub(super) fn list(
    cache: &HubCache,
    config: &Config,
    places: &Places,
    as_json: bool,
) -> anyhow::Result<()> {
    let lines: Vec<Line> =
        shipped(config, places).into_iter().chain(KNOWN.iter().map(|it| line(cache, it))).collect();
    if as_json {
        for line in &lines {
            say(&serde_json::to_string(line)?)?;
        }
        return Ok(());
    }
    let head = ["NAME", "STATE", "SIZE", "MEMORY", "LICENCE", "GOOD FOR"].map(str::to_owned);
    let rows: Vec<[String; 6]> =
        std::iter::once(head).chain(lines.into_iter().map(Line::row)).collect();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..6).map(widest).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
            // Numbers stand under each other; nothing comes after the last.
            2 | 3 => format!("{cell:>width$}"),
            5 => cell.clone(),
            _ => format!("{cell:width$}"),
        });
        say(&cells.collect::<Vec<_>>().join("  "))?;
    }
    say(&format!("\ncache: {}", cache.root().display()))?;
    Ok(())
}

fn shipped(config: &Config, places: &Places) -> Vec<Line> {
    let dirs = config.models_dirs(places);
    let found = SHIPPED.iter().filter_map(|(name, memory, licence, good_for)| {
        let mut dirs = dirs.iter().map(|dir| dir.join(name));
        let dir = dirs.find(|it| it.join("config.json").is_file())?;
        Some(Line {
            name,
            state: "shipped",
            bytes: bytes_of(&dir),
            memory_bytes: memory.map(|it| it * 1_000_000),
            licence,
            good_for: (*good_for).to_owned(),
        })
    });
    found.collect()
}

fn line(cache: &HubCache, model: &KnownModel) -> Line {
    let is_there = model.on_hub().is_some_and(|it| cache.snapshot(&it).is_some());
    let kind = match model.kind {
        ModelKind::Captioner => "captioner",
        ModelKind::Embedder => "embedder",
    };
    let pinned = if model.is_pinned() { "" } else { "; not pinned in this build" };
    Line {
        name: model.name,
        state: if is_there { "in the cache" } else { "to be fetched" },
        bytes: model.bytes(),
        memory_bytes: Some(u64::from(model.memory_mb) * 1_000_000),
        licence: model.licence,
        good_for: format!("{kind}: {}{pinned}", model.good_for),
    }
}

/// Bytes of a shipped model's weights, in whatever number of files.
fn bytes_of(dir: &Path) -> u64 {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    let weights = files.filter(|it| it.path().extension().is_some_and(|it| it == "safetensors"));
    weights.filter_map(|it| it.metadata().ok()).map(|it| it.len()).sum()
}
