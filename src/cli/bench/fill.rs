//! Fills a store with a workload's captions, as the daemon would, without a socket.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::base::embedding::Embedding;
use crate::cli::bench::workload::Workload;
use crate::cli::interrupt::Interrupt;
use crate::config::{Config, Places};
use crate::daemon;
use crate::memory::embedding_space;
use crate::memory::episodic::Episodic;
use crate::model::embedder::EmbedderHandle;
use crate::model::{Embedder, ModelError, ModelIdentity, TextRole};
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
    let embedder = EmbedderHandle::new(Box::new(Remembering::new(model)));
    let options = daemon::store_options(config, places)?;
    let options = store::Options { dir: state.to_owned(), ..options };
    let store = Store::open(&options, &embedding_space(&embedder))?;
    let episodic = Episodic::open(store.clone(), embedder)?;
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

/// Embedder with a cache, on all cores: a household repeats itself, and filling is not
/// what is measured.
#[derive(Debug)]
struct Remembering {
    model: EmbedderHandle,
    known: Mutex<HashMap<String, Embedding>>,
}

/// Texts in the cache: the first ones, about 200 MB.
const KNOWN_MAX: usize = 100_000;

impl Remembering {
    fn new(model: EmbedderHandle) -> Self {
        Self { model, known: Mutex::default() }
    }

    fn lock_known(&self) -> MutexGuard<'_, HashMap<String, Embedding>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Embeds texts, a share of them on each core.
    fn embed_fresh(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let share = texts.len().div_ceil(cores).max(1);
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for texts in texts.chunks(share) {
                let builder = Builder::new().name("embedding".to_owned());
                let thread = builder.spawn_scoped(scope, || self.model.embed_batch(role, texts));
                threads.push(thread.map_err(|error| to_error(&format!("no thread: {error}")))?);
            }
            let mut vectors = Vec::with_capacity(texts.len());
            for thread in threads {
                vectors.extend(thread.join().map_err(|_panic| to_error("it panicked"))??);
            }
            Ok(vectors)
        })
    }
}

fn to_error(reason: &str) -> ModelError {
    ModelError::Failed(reason.to_owned())
}

impl Embedder for Remembering {
    fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
        if role == TextRole::Query {
            return self.model.embed_batch(role, texts);
        }
        let mut fresh: Vec<&str> = {
            let known = self.lock_known();
            texts.iter().copied().filter(|text| !known.contains_key(*text)).collect()
        };
        fresh.sort_unstable();
        fresh.dedup();
        let vectors = self.embed_fresh(role, &fresh)?;
        let mut known = self.lock_known();
        let new: HashMap<&str, &Embedding> = fresh.iter().copied().zip(&vectors).collect();
        let found = texts
            .iter()
            .map(|text| new.get(text).copied().or_else(|| known.get(*text)).cloned())
            .collect::<Option<Vec<Embedding>>>();
        for (text, vector) in fresh.into_iter().zip(vectors) {
            if known.len() < KNOWN_MAX {
                known.insert(text.to_owned(), vector);
            }
        }
        found.ok_or_else(|| to_error("it did not answer every text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Fingerprint;

    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Embedder that counts its texts.
    #[derive(Debug)]
    struct Counting {
        identity: ModelIdentity,
        asked: Arc<AtomicUsize>,
    }

    impl Embedder for Counting {
        fn identity(&self) -> &ModelIdentity {
            &self.identity
        }

        fn dimension(&self) -> usize {
            2
        }

        fn embed(&self, _: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
            self.asked.fetch_add(texts.len(), Ordering::Relaxed);
            let vector = |text: &&str| Embedding::new(vec![1.0, text.len() as f32], 2).unwrap();
            Ok(texts.iter().map(vector).collect())
        }
    }

    #[test]
    fn a_text_is_embedded_once_and_each_gets_its_own_vector() {
        let asked = Arc::new(AtomicUsize::new(0));
        let identity =
            ModelIdentity { name: "counting".to_owned(), fingerprint: Fingerprint(String::new()) };
        let model = Counting { identity, asked: Arc::clone(&asked) };
        let remembering = Remembering::new(EmbedderHandle::new(Box::new(model)));
        let texts = ["mug", "bowl", "mug", "laptop"];
        let first = remembering.embed(TextRole::Passage, &texts).unwrap();
        let second = remembering.embed(TextRole::Passage, &["bowl", "a tin"]).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 4);
        let vector = |length: f32| Embedding::new(vec![1.0, length], 2).unwrap();
        assert_eq!(first, [3.0, 4.0, 3.0, 6.0].map(vector));
        assert_eq!(second, [4.0, 5.0].map(vector));
        remembering.embed(TextRole::Query, &["mug"]).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 5, "questions are not remembered");
    }
}
