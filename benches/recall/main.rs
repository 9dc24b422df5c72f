//! How long a recall takes, end to end over the real socket, and where the time goes.
//!
//! `cargo bench --bench recall [-- RECORDS...]`. For each size a store is filled
//! with household captions (seeded, so the same on every machine), a real daemon is
//! started on it, and seeded questions are asked one after another:
//!
//! * `start`: from the start of the process to its first answer;
//! * `recall`: `recall_best_match` as a client sees it;
//! * `busy`: the same while the captioner works through frames without a pause;
//! * `embed`, `search`, `hydrate`: the parts, called directly on the same store;
//!   `wire` is what is left of the recall: socket, JSON, threads;
//! * `memory`: resident memory of daemon and worker after the questions.

#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark prints, and counts with small numbers"
)]

mod daemon;
mod household;
mod report;

use std::error::Error;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::thread;

use engram::base::embedding::Embedding;
use engram::base::time::{Clock as _, SystemClock};
use engram::memory::episodic::Episodic;
use engram::model::TextRole;
use engram::model::embedder::EmbedderHandle;
use engram::search::{Corpus, Filter, Query};
use engram::store::{EmbeddingSpace, Options, Store};
use serde_json::{Map, json};

use crate::daemon::Daemon;
use crate::household::Household;
use crate::report::{Latencies, Row};

type Fallible<T> = Result<T, Box<dyn Error>>;

const SIZES: &[usize] = &[1_000, 10_000, 50_000];
/// Enough that the 99th percentile stands on twenty questions.
const QUESTIONS: usize = 2_000;
const WARM_UP: usize = 100;
const K: usize = 8;

fn main() -> Fallible<()> {
    if std::env::var_os("RAYON_NUM_THREADS").is_none() {
        // As the daemon runs: see `compute_on_one_thread` in src/cli/mod.rs.
        let mut again = Command::new(std::env::current_exe()?);
        return Err(again
            .args(std::env::args_os().skip(1))
            .env("RAYON_NUM_THREADS", "1")
            .exec()
            .into());
    }
    // Cargo passes `--bench`.
    let sizes: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    let embedder = EmbedderHandle::new(engram::model::bert::load(&daemon::embedder_dir())?);
    println!("{}", report::heading(QUESTIONS));
    for size in sizes {
        println!("{}", measure(size, &embedder)?);
    }
    Ok(())
}

fn measure(records: usize, embedder: &EmbedderHandle) -> Fallible<Row> {
    let state = tempfile::tempdir()?;
    fill(state.path(), records, embedder)?;
    let daemon = Daemon::start(state.path())?;
    let mut client = daemon.client()?;
    let start_millis = daemon.millis_to_first_answer();
    ask(&daemon, WARM_UP, 1)?;
    let recall = ask(&daemon, QUESTIONS, 2)?;
    let stats = client.call("memory_stats", Map::new())?.structured;
    let megabytes = |key: &str| {
        stats.get(key).and_then(serde_json::Value::as_f64).unwrap_or(0.0) / f64::from(1 << 20)
    };
    let memory_mib = [megabytes("daemon_resident_bytes"), megabytes("worker_resident_bytes")];
    let busy = thread::scope(|scope| -> Fallible<Latencies> {
        let feeding = daemon.feed(scope)?;
        let busy = ask(&daemon, QUESTIONS, 3);
        feeding.finish()?;
        busy
    })?;
    daemon.stop()?;
    let [embed, search, hydrate] = parts(state.path(), embedder)?;
    Ok(Row { records, start_millis, recall, busy, embed, search, hydrate, memory_mib })
}

fn space(embedder: &EmbedderHandle) -> EmbeddingSpace {
    engram::daemon::embedding_space(embedder)
}

fn fill(state: &std::path::Path, records: usize, embedder: &EmbedderHandle) -> Fallible<()> {
    let store = Store::open(&Options::at(state.to_owned()), &space(embedder))?;
    let episodic = Episodic::open(store, embedder.clone())?;
    let mut household = Household::new(0);
    for first in (0..records).step_by(256) {
        let batch = (first..records.min(first + 256)).map(|i| household.observation(i)).collect();
        episodic.remember_observations(batch)?;
    }
    Ok(())
}

fn ask(daemon: &Daemon, questions: usize, seed: u64) -> Fallible<Latencies> {
    let mut client = daemon.client()?;
    let mut household = Household::new(seed);
    let mut latencies = Latencies::default();
    for _ in 0..questions {
        let Some(arguments) = json!({"query": household.question(), "k": K}).as_object().cloned()
        else {
            continue;
        };
        let started = SystemClock.tick();
        let reply = client.call("recall_best_match", arguments)?;
        latencies.add(started.elapsed());
        if reply.is_error {
            return Err(reply.text.into());
        }
    }
    Ok(latencies)
}

/// Embedding, search and hydration of the same questions, without a daemon.
fn parts(state: &std::path::Path, embedder: &EmbedderHandle) -> Fallible<[Latencies; 3]> {
    let store = Store::open(&Options::at(state.to_owned()), &space(embedder))?;
    let corpus = Corpus::new(embedder.dimension());
    for entry in store.scan() {
        let (record, vector) = entry?;
        corpus.insert(&record, &vector)?;
    }
    let mut household = Household::new(2);
    let filter = Filter::default();
    let mut parts = [Latencies::default(), Latencies::default(), Latencies::default()];
    let [embed, search, hydrate] = &mut parts;
    for _ in 0..QUESTIONS {
        let text = household.question();
        let vector: Embedding = embed.time(|| embedder.embed(TextRole::Query, &text))?;
        let query = Query { text: &text, vector: &vector, filter: &filter, k: K };
        let hits = search.time(|| corpus.search(&query));
        let ids: Vec<_> = hits.iter().map(|hit| hit.id).collect();
        let records = hydrate.time(|| store.records(&ids))?;
        assert_eq!(records.len(), K, "every hit has its record");
    }
    Ok(parts)
}
