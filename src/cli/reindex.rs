//! `engram reindex`: embeds every record again with the configured embedder.

use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::cli::output::say;
use crate::config::{Config, Places};
use crate::daemon::{self, private::keep_private};
use crate::memory::embedding_space;
use crate::model::TextRole;
use crate::store::reindex::Reindex;

/// Captions embedded and made durable at a time: few enough to stop at any
/// moment, enough that a flush costs little beside them.
const BATCH: usize = 64;

/// Runs to the end, or until killed; then the old vectors still count, and the
/// next run goes on where this one was.
pub(super) fn run(config: &Config, places: &Places) -> anyhow::Result<ExitCode> {
    keep_private(&config.state_dir(places))?;
    let embedder = daemon::open_embedder(config, places)?;
    let space = embedding_space(&embedder);
    let mut reindex = Reindex::open(&daemon::store_options(config, places)?, &space)?;
    let bar = ProgressBar::new(reindex.total()).with_style(ProgressStyle::with_template(
        "embedding {wide_bar} {pos}/{len} records, {per_sec}, {eta} left",
    )?);
    bar.set_position(reindex.done_count());
    loop {
        let captions = reindex.captions(BATCH)?;
        if captions.is_empty() {
            break;
        }
        let texts: Vec<&str> = captions.iter().map(|(_, caption)| caption.as_str()).collect();
        let vectors = embedder.embed_batch(TextRole::Passage, &texts)?;
        let ids = captions.iter().map(|(id, _)| *id);
        let entries: Vec<(RecordId, Embedding)> = ids.zip(vectors).collect();
        reindex.put(&entries)?;
        bar.inc(entries.len() as u64);
    }
    let records = reindex.done_count();
    reindex.finish()?;
    bar.finish_and_clear();
    say(&format!("{records} records are embedded with {space}."))?;
    Ok(ExitCode::SUCCESS)
}
