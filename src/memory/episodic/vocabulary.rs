//! Vocabulary of all captions: which nouns name the same kind of thing, as forms of one word or
//! as synonyms by their vectors ("mug" and "cup", "sofa" and "couch").
//!
//! A noun is embedded once, when a caption first mentions it, and its vector kept in the store:
//! a query embeds no more than its own words.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use log::warn;

use crate::base::embedding::Embedding;
use crate::index::nouns::Nouns;
use crate::index::phrases::{ObjectQuery, SceneQuery};
use crate::language::caption::{ParsedCaption, is_person};
use crate::language::deeds::is_deed;
use crate::language::mention::Mention;
use crate::memory::episodic::synonyms;
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, TextRole};
use crate::store::Store;

/// Similarity threshold of synonyms, on the scale common to all embedders: a cosine of .65 in
/// all-MiniLM-L6-v2's space, above which of 30 pairs of synonyms and 33 of different household
/// things lie 15 and none.
const SYNONYMS_LEAST: f32 = 0.825;

/// Nouns embedded at a time.
const AT_ONCE: usize = 32;

/// Noun phrases of `caption` whose noun is also one of `wanted`, each once.
pub(super) fn same_noun_phrases(caption: &ParsedCaption, wanted: &[Mention]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for mention in caption.shown_mentions() {
        let named = wanted.iter().any(|it| mention.is_named_as(it));
        if named && !found.contains(&mention.phrase) {
            found.push(mention.phrase.clone());
        }
    }
    found
}

/// Nouns of all captions, with their vectors.
#[derive(Debug)]
pub(super) struct Vocabulary {
    embedder: EmbedderHandle,
    store: Store,
    nouns: RwLock<Nouns>,
}

impl Vocabulary {
    /// Reads the kept nouns, and embeds those of `mentioned` (by stem) that are new.
    pub(super) fn open(
        embedder: EmbedderHandle,
        store: Store,
        mentioned: BTreeMap<String, String>,
    ) -> Self {
        let mut nouns = Nouns::new(SYNONYMS_LEAST);
        let mut over = Vec::new();
        match store.nouns() {
            Ok(kept) => {
                for (stem, vector) in kept {
                    if mentioned.contains_key(&stem) {
                        nouns.insert(&stem, vector);
                    } else {
                        over.push(stem);
                    }
                }
            }
            Err(error) => warn!(error:%; "the kept nouns cannot be read and are made anew"),
        }
        let vocabulary = Self { embedder, store, nouns: RwLock::new(nouns) };
        vocabulary.remove(&over);
        vocabulary.learn(mentioned);
        vocabulary
    }

    /// Removes the kept nouns that are not `mentioned` any more. In memory they stay until the
    /// process ends: one that is mentioned again is embedded by the next.
    pub(super) fn forget_all_but(&self, mentioned: &BTreeMap<String, String>) {
        let kept = self.store.noun_stems().into_iter();
        let over: Vec<String> = kept.filter(|it| !mentioned.contains_key(it)).collect();
        self.remove(&over);
    }

    fn remove(&self, stems: &[String]) {
        if stems.is_empty() {
            return;
        }
        if let Err(error) = self.store.remove_nouns(stems) {
            warn!(error:%; "nouns that nothing mentions are kept");
        }
    }

    /// Embeds and keeps the new nouns of captions.
    pub(super) fn learn_from<'a>(&self, captions: impl IntoIterator<Item = &'a ParsedCaption>) {
        let mut mentioned = BTreeMap::new();
        for mention in captions.into_iter().flat_map(ParsedCaption::shown_mentions) {
            if !self.read().knows(&mention.head_stem) {
                mentioned.insert(mention.head_stem.clone(), mention.singular_head());
            }
        }
        self.learn(mentioned);
    }

    /// Query for these things: the first as the target, the others around it. `None` where there
    /// is none.
    pub(super) fn scene_query(&self, named: Vec<Mention>) -> Option<SceneQuery> {
        let is_told_by_around = named.first().is_some_and(|it| is_deed(it) || is_person(it));
        let mut things = named.into_iter().map(|mention| self.object_query(mention));
        Some(SceneQuery { target: things.next()?, around: things.collect(), is_told_by_around })
    }

    /// Stems of the nouns that are alike to a noun of this vector by `least` or more, and how
    /// alike they are; the most alike first.
    pub(super) fn alike(&self, vector: &Embedding, least: f32) -> Vec<(String, f32)> {
        self.read().alike(vector, least, &|a, b| self.embedder.similarity(a, b))
    }

    fn object_query(&self, mention: Mention) -> ObjectQuery {
        if is_deed(&mention) {
            return ObjectQuery::of_stems(mention.attributes, vec![mention.head_stem]);
        }
        let stem = mention.head_stem.as_str();
        let likeness = |a: &Embedding, b: &Embedding| self.embedder.similarity(a, b);
        let known = self.read().knows(stem);
        let stems = if !self.embedder.reads(stem) {
            // All nouns of a script that the model does not know are alike to it.
            vec![stem.to_owned()]
        } else if known {
            self.read().meaning(stem, &likeness)
        } else {
            // A noun that no caption has. Where it cannot be embedded it has no
            // synonyms; what else the model is asked for reports its failure.
            match self.embedder.embed(TextRole::Passage, &mention.singular_head()) {
                Ok(vector) => self.read().meaning_of(stem, &vector, &likeness),
                Err(_failure) => vec![stem.to_owned()],
            }
        };
        let is_known = |stem: &str| self.read().knows(stem);
        let names = synonyms::names(&mention, stems, &is_known);
        let Mention { attributes, head_stem: said, .. } = mention;
        ObjectQuery { attributes, said, names }
    }

    fn learn(&self, mentioned: BTreeMap<String, String>) {
        let unknown: Vec<(String, String)> =
            mentioned.into_iter().filter(|(stem, _)| self.is_new(stem)).collect();
        for some in unknown.chunks(AT_ONCE) {
            // A noun without a vector is found by its own name, and is tried again
            // when it is mentioned again.
            if let Err(error) = self.learn_some(some) {
                warn!(error:%; "nouns are left without their synonyms");
                return;
            }
        }
    }

    /// A name with a digit in it (`person_7`, a plate) means nothing but itself.
    fn is_new(&self, stem: &str) -> bool {
        !stem.contains(|c: char| c.is_ascii_digit()) && !self.read().knows(stem)
    }

    fn learn_some(&self, nouns: &[(String, String)]) -> Result<(), ModelError> {
        let texts: Vec<&str> = nouns.iter().map(|(_, noun)| noun.as_str()).collect();
        let vectors = self.embedder.embed_batch(TextRole::Passage, &texts)?;
        let stems = nouns.iter().map(|(stem, _)| stem.clone());
        let learned: Vec<(String, Embedding)> = stems.zip(vectors).collect();
        if let Err(error) = self.store.keep_nouns(&learned) {
            warn!(error:%; "nouns cannot be kept and are made anew at the next start");
        }
        let mut held = self.nouns.write().unwrap_or_else(PoisonError::into_inner);
        for (stem, vector) in learned {
            held.insert(&stem, vector);
        }
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Nouns> {
        // An insertion does not panic halfway: it appends to vectors and maps.
        self.nouns.read().unwrap_or_else(PoisonError::into_inner)
    }
}
