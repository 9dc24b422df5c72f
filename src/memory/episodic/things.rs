//! Whether two nouns name the same kind of thing: one word in two forms, or
//! synonyms by their vectors ("mug" and "cup", "sofa" and "couch").

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::embedding::Embedding;
use crate::index::mention::{Mention, mentions};
use crate::model::TextRole;
use crate::model::embedder::EmbedderHandle;

/// Least cosine of two bare nouns that count as synonyms.
///
/// Of 30 pairs of synonyms and 33 of different household things, 15 and none lie
/// above it in all-MiniLM-L6-v2's space, 10 and none in the default embedder's
/// (there mug and cup .74, sofa and couch .87; mug and bottle .48, sofa and
/// cushion .55, shoe and sock .62).
const SYNONYM_COSINE: f32 = 0.65;

/// Most vectors of nouns kept. A home's captions use some hundreds; when full,
/// all go at once, and the next queries embed again what they need.
const NOUNS_MAX: usize = 4096;

/// The phrases of `caption` whose thing is named in `wanted` by the same word,
/// each once.
pub(super) fn named_alike(caption: &str, wanted: &[Mention]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for mention in mentions(caption) {
        let named = wanted.iter().any(|it| it.head_stem == mention.head_stem);
        if named && !found.contains(&mention.phrase) {
            found.push(mention.phrase);
        }
    }
    found
}

/// Compares nouns, and remembers the vectors of those it met.
#[derive(Debug)]
pub(super) struct Things {
    embedder: EmbedderHandle,
    vectors: Mutex<BTreeMap<String, Embedding>>,
}

impl Things {
    pub(super) fn new(embedder: EmbedderHandle) -> Self {
        Self { embedder, vectors: Mutex::default() }
    }

    /// Whether both heads name one kind of thing.
    pub(super) fn same(&self, a: &Mention, b: &Mention) -> bool {
        a.head_stem == b.head_stem || self.are_synonyms(&a.head, &b.head)
    }

    fn are_synonyms(&self, a: &str, b: &str) -> bool {
        // A noun that cannot be embedded has no synonyms; the recall that led
        // here has already reported a failing model.
        match (self.vector(a), self.vector(b)) {
            (Some(a), Some(b)) => a.cosine(&b) >= SYNONYM_COSINE,
            _ => false,
        }
    }

    fn vector(&self, noun: &str) -> Option<Embedding> {
        if let Some(known) = self.lock().get(noun) {
            return Some(known.clone());
        }
        let vector = self.embedder.embed(TextRole::Passage, noun).ok()?;
        let mut vectors = self.lock();
        if vectors.len() >= NOUNS_MAX {
            vectors.clear();
        }
        vectors.insert(noun.to_owned(), vector.clone());
        Some(vector)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Embedding>> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
