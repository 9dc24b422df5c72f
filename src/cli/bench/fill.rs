//! Fills a store with a workload's captions, as the daemon would, without a socket.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::base::time::SystemClock;
use crate::cli::bench::all_cores::{EmbedderOnAllCores, ReaderOnAllCores};
use crate::cli::bench::workload::Workload;
use crate::cli::interrupt::Interrupt;
use crate::config::{Config, Places};
use crate::daemon;
use crate::memory::embedding_space;
use crate::memory::episodic::Episodic;
use crate::memory::episodic::captions::CaptionReader;
use crate::model::embedder::EmbedderHandle;
use crate::search::compaction;
use crate::search::retention::Unwitnessed;
use crate::store::{self, NewObservation, Store};

/// Records of one durable batch.
const BATCH: usize = 256;

/// Makes a store of `records` records in `state`.
pub(super) fn fill(
    state: &Path,
    workload: &Workload,
    records: usize,
    config: &Config,
    places: &Places,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let model = daemon::open_embedder(config, places)?;
    let embedder = EmbedderHandle::new(Box::new(EmbedderOnAllCores::new(model)));
    // The daemon's reader: what another one parsed would be read again beside the questions.
    let reader = ReaderOnAllCores::new(daemon::open_caption_reader(config, places)?);
    let options = daemon::store_options(config, places)?;
    let options = store::Options { dir: state.to_owned(), ..options };
    let store = Store::open(&options, &embedding_space(&embedder))?;
    let read = (embedder, CaptionReader::new(Box::new(reader.clone())));
    let keeping_all = (compaction::Options::default(), Arc::new(Unwitnessed) as _);
    let episodic = Episodic::open_keeping(store.clone(), read, keeping_all, Arc::new(SystemClock))?;
    let bar = ProgressBar::new(records.try_into()?).with_style(ProgressStyle::with_template(
        "filling {wide_bar} {pos}/{len} records, {per_sec}, {eta} left",
    )?);
    let mut observations = workload.observations().take(records);
    loop {
        let batch: Vec<NewObservation> = observations.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            break;
        }
        interrupt.check()?;
        bar.inc(batch.len().try_into()?);
        reader.read_ahead(batch.iter().map(|it| it.caption.as_str()))?;
        episodic.remember_observations(batch)?;
    }
    bar.finish_and_clear();
    while !episodic.is_settled() {
        interrupt.check()?;
        thread::sleep(SETTLED_LOOK);
    }
    drop(episodic);
    store.flush()?;
    Ok(())
}

/// Interval of checks whether the index is sealed and merged.
const SETTLED_LOOK: Duration = Duration::from_millis(20);
