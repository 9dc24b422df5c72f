//! The models of text on all cores: filling is not what is measured.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

use crate::base::embedding::Embedding;
use crate::language::caption::sentences;
use crate::language::tagged::TaggedWord;
use crate::model::embedder::EmbedderHandle;
use crate::model::{CaptionTagger, Embedder, ModelError, ModelIdentity, TextRole};

/// Embedder with a cache: a household repeats itself.
#[derive(Debug)]
pub(super) struct EmbedderOnAllCores {
    model: EmbedderHandle,
    known: Mutex<HashMap<String, Embedding>>,
}

/// Texts in the cache: the first ones, about 200 MB.
const KNOWN_MAX: usize = 100_000;

impl EmbedderOnAllCores {
    pub(super) fn new(model: EmbedderHandle) -> Self {
        Self { model, known: Mutex::default() }
    }

    fn lock_known(&self) -> MutexGuard<'_, HashMap<String, Embedding>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Embedder for EmbedderOnAllCores {
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
        let embed = |texts: &[&str]| self.model.embed_batch(role, texts);
        let vectors = on_all_cores("embedding", &fresh, embed)?;
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

/// Reader of captions that reads those to come; clones share them.
#[derive(Debug, Clone)]
pub(super) struct ReaderOnAllCores {
    model: Arc<dyn CaptionTagger>,
    /// The words of the sentences to come.
    read: Arc<Mutex<HashMap<String, Vec<TaggedWord>>>>,
}

impl ReaderOnAllCores {
    pub(super) fn new(model: Box<dyn CaptionTagger>) -> Self {
        Self { model: model.into(), read: Arc::default() }
    }

    /// Reads these captions, of which each is asked for before others are read.
    pub(super) fn read_ahead<'a>(
        &self,
        captions: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), ModelError> {
        let mut texts: Vec<&str> = captions.into_iter().flat_map(sentences).collect();
        texts.sort_unstable();
        texts.dedup();
        let read = |texts: &[&str]| texts.iter().map(|text| self.model.tag(text)).collect();
        let words = on_all_cores("reading", &texts, read)?;
        *self.lock_read() = texts.into_iter().map(str::to_owned).zip(words).collect();
        Ok(())
    }

    fn lock_read(&self) -> MutexGuard<'_, HashMap<String, Vec<TaggedWord>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CaptionTagger for ReaderOnAllCores {
    fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    fn tag(&self, sentence: &str) -> Result<Vec<TaggedWord>, ModelError> {
        let read = self.lock_read().get(sentence).cloned();
        read.map_or_else(|| self.model.tag(sentence), Ok)
    }
}

/// What `work` makes of each text, a share of the texts on each core.
fn on_all_cores<T: Send>(
    name: &str,
    texts: &[&str],
    work: impl Fn(&[&str]) -> Result<Vec<T>, ModelError> + Sync,
) -> Result<Vec<T>, ModelError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = texts.len().div_ceil(cores).max(1);
    thread::scope(|scope| {
        let work = &work;
        let mut threads = Vec::new();
        for texts in texts.chunks(share) {
            let builder = Builder::new().name(name.to_owned());
            let thread = builder.spawn_scoped(scope, move || work(texts));
            threads.push(thread.map_err(|error| to_error(&format!("no thread: {error}")))?);
        }
        let mut done = Vec::with_capacity(texts.len());
        for thread in threads {
            done.extend(thread.join().map_err(|_panic| to_error("it panicked"))??);
        }
        Ok(done)
    })
}

fn to_error(reason: &str) -> ModelError {
    ModelError::Failed(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::WordRole;
    use crate::model::Fingerprint;

    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Model that counts its texts.
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

    fn counting() -> (Counting, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let identity =
            ModelIdentity { name: "counting".to_owned(), fingerprint: Fingerprint(String::new()) };
        (Counting { identity, asked: Arc::clone(&asked) }, asked)
    }

    #[test]
    fn a_text_is_embedded_once_and_each_gets_its_own_vector() {
        let (model, asked) = counting();
        let embedder = EmbedderOnAllCores::new(EmbedderHandle::new(Box::new(model)));
        let texts = ["mug", "bowl", "mug", "laptop"];
        let first = embedder.embed(TextRole::Passage, &texts).unwrap();
        let second = embedder.embed(TextRole::Passage, &["bowl", "a tin"]).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 4);
        let vector = |length: f32| Embedding::new(vec![1.0, length], 2).unwrap();
        assert_eq!(first, [3.0, 4.0, 3.0, 6.0].map(vector));
        assert_eq!(second, [4.0, 5.0].map(vector));
        embedder.embed(TextRole::Query, &["mug"]).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 5, "questions are not remembered");
    }

    /// Tagger that takes a sentence for as many words as it has letters.
    #[derive(Debug)]
    struct CountingTagger(Counting);

    impl CaptionTagger for CountingTagger {
        fn identity(&self) -> &ModelIdentity {
            self.0.identity()
        }

        fn tag(&self, sentence: &str) -> Result<Vec<TaggedWord>, ModelError> {
            self.0.asked.fetch_add(1, Ordering::Relaxed);
            let word = |at| TaggedWord { at: at..at + 1, role: WordRole::None, to: None };
            Ok((0..sentence.len()).map(word).collect())
        }
    }

    #[test]
    fn sentences_that_were_read_ahead_are_read_once() {
        let (model, asked) = counting();
        let reader = ReaderOnAllCores::new(Box::new(CountingTagger(model)));
        reader.read_ahead(["A mug. A bowl.", "A mug. A tin."]).unwrap();
        let words = |text: &str| reader.tag(text).unwrap().len();
        assert_eq!(["A mug.", "A bowl.", "A tin."].map(words), [6, 7, 6]);
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        assert_eq!(words("A lamp."), 7);
        assert_eq!(asked.load(Ordering::Relaxed), 4, "others are read when they are asked for");
    }
}
