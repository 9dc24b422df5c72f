//! Episodic memory: what the robot saw, when and where.
//!
//! Keeps store and search corpus in step: a record is searchable exactly when its batch is on
//! disk. Knows nothing of tools, sessions or cameras.

mod afterword;
mod attribute_clusters;
mod called_in_caption;
pub mod caption_match;
pub mod captions;
pub mod data_association;
mod foreign;
pub mod forgetting;
mod forgotten_topic;
mod importing;
mod in_other_words;
pub mod instance_query;
pub mod instances;
pub mod last_seen;
mod later_looks;
pub mod likely_places;
pub mod listing;
mod most_alike;
mod nearest_description;
mod nearest_name;
pub mod noun_phrases;
mod query_as_meant;
pub mod ranking;
pub mod requests;
mod rereading;
mod respell;
pub mod seen_since;
mod sighting_confidence;
mod synonyms;
mod target_mentions;
mod told_of_another;
pub mod usual_place;
mod vocabulary;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::caption::Caption;
use crate::base::embedding::Embedding;
use crate::base::frame::FrameMeta;
use crate::base::shortage::Shortage;
use crate::base::time::{Clock, SystemClock, Timestamp};
use crate::base::{FrameTicket, RecordId};
use crate::language::caption::ParsedCaption;
use crate::language::mention::mentions;
use crate::memory::episodic::captions::CaptionReader;
use crate::memory::episodic::rereading::{Rereader, RereadingParts};
use crate::memory::episodic::vocabulary::{Vocabulary, mentioned_in};
use crate::model::embedder::EmbedderHandle;
use crate::model::{CaptionMatcher, ModelError, ModelIdentity, TextRole};
use crate::search::compaction::Options;
use crate::search::compactor::{Compactor, OnGone};
use crate::search::retention::{RetentionWitness, Unwitnessed};
use crate::search::status::IndexStatus;
use crate::search::{Corpus, CorpusError, Explained, Filter, Query};
use crate::store::{Merged, NewObservation, Record, Store, StoreError};

/// Errors of the episodic memory.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    #[error("the thread that keeps the index cannot be started: {0}")]
    Thread(std::io::Error),
    /// The query has no noun phrase.
    #[error(
        "{0:?} names no thing that a record could show; accepted is a description such as 'a red mug'"
    )]
    NamesNothing(String),
}

impl Shortage for MemoryError {
    fn shortage(&self) -> Option<String> {
        if let Self::Store(error) = self { error.shortage() } else { None }
    }
}

/// A record that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    pub record: Record,
    /// 0..1, higher is better; compares between queries.
    pub score: f32,
    /// The caption's phrases that the query shares.
    pub matched: Vec<String>,
    /// Probability that it shows what is asked for; `None` where not a thing is asked for.
    pub probability: Option<f32>,
}

/// Records of what was seen, with the index over them.
#[derive(Debug)]
pub struct Episodic {
    store: Store,
    corpus: Arc<Corpus>,
    embedder: EmbedderHandle,
    captions: CaptionReader,
    matcher: Option<Box<dyn CaptionMatcher>>,
    vocabulary: Arc<Vocabulary>,
    compactor: Compactor,
    rereader: Option<Rereader>,
}

impl Drop for Episodic {
    /// Each of the two threads may wait for the other.
    fn drop(&mut self) {
        if let Some(rereader) = &self.rereader {
            rereader.ask_to_stop();
        }
    }
}

impl Episodic {
    /// Opens the corpus of a store, and keeps every record. Captions are read by rules.
    pub fn open(store: Store, embedder: EmbedderHandle) -> Result<Self, MemoryError> {
        let captions = CaptionReader::by_rules();
        let keeping_all = (Options::default(), Arc::new(Unwitnessed) as _);
        Self::open_keeping(store, (embedder, captions), keeping_all, Arc::new(SystemClock))
    }

    /// Opens the corpus of a store, and lets go of what `options` do not keep; the witness is
    /// told.
    pub fn open_keeping(
        store: Store,
        (embedder, captions): (EmbedderHandle, CaptionReader),
        (options, witness): (Options, Arc<dyn RetentionWitness>),
        clock: Arc<dyn Clock>,
    ) -> Result<Self, MemoryError> {
        let corpus = Arc::new(Corpus::open(&store)?);
        let vocabulary = Vocabulary::open(embedder.clone(), store.clone(), mentioned_in(&corpus));
        let vocabulary = Arc::new(vocabulary);
        let parts = RereadingParts {
            store: store.clone(),
            corpus: Arc::clone(&corpus),
            captions: captions.clone(),
            vocabulary: Arc::clone(&vocabulary),
        };
        let rereader = Rereader::start(parts)?;
        let (kept, mentioned) = (Arc::clone(&vocabulary), Arc::clone(&corpus));
        let on_gone: OnGone = Box::new(move || kept.forget_all_but(&mentioned_in(&mentioned)));
        let told = (witness, on_gone);
        let compactor = Compactor::start(Arc::clone(&corpus), store.clone(), options, clock, told)
            .map_err(MemoryError::Thread)?;
        let matcher = None;
        Ok(Self { store, corpus, embedder, captions, matcher, vocabulary, compactor, rereader })
    }

    /// The same with a model that finds what captions call otherwise; without one nothing is.
    #[must_use]
    pub fn with_matcher(mut self, matcher: Option<Box<dyn CaptionMatcher>>) -> Self {
        self.matcher = matcher;
        self
    }

    /// Commits the caption of a pending frame. On disk and searchable when it returns.
    pub fn remember_frame(
        &self,
        ticket: FrameTicket,
        caption: &Caption,
    ) -> Result<Record, MemoryError> {
        let (parsed, vector) = self.read(&caption.text)?;
        let mut changes = self.corpus.changes();
        let record = self.store.commit_frame(ticket, caption, &parsed, &vector)?;
        changes.insert(&record, &vector)?;
        Ok(record)
    }

    /// Commits a frame that brings its own caption, with its image. On disk and searchable when
    /// it returns.
    pub fn remember_captioned_frame(
        &self,
        meta: &FrameMeta,
        image: &[u8],
        signature: Vec<u8>,
        caption: &Caption,
    ) -> Result<Record, MemoryError> {
        let (parsed, vector) = self.read(&caption.text)?;
        let mut changes = self.corpus.changes();
        let record =
            self.store.accept_captioned_frame(meta, image, signature, caption, &parsed, &vector)?;
        changes.insert(&record, &vector)?;
        Ok(record)
    }

    /// What a caption says, whose nouns are learned, and its vector.
    fn read(&self, caption: &str) -> Result<(ParsedCaption, Embedding), MemoryError> {
        let vector = self.embedder.embed(TextRole::Passage, caption)?;
        let parsed = self.captions.read(caption);
        self.vocabulary.learn_from([&parsed]);
        Ok((parsed, vector))
    }

    /// Commits observations that bring their own caption, all or none. On disk and searchable
    /// when it returns.
    pub fn remember_observations(
        &self,
        observations: Vec<NewObservation>,
    ) -> Result<Vec<Record>, MemoryError> {
        let captions: Vec<&str> = observations.iter().map(|it| it.caption.as_str()).collect();
        let vectors = self.embedder.embed_batch(TextRole::Passage, &captions)?;
        let parsed: Vec<ParsedCaption> = captions.iter().map(|it| self.captions.read(it)).collect();
        self.vocabulary.learn_from(&parsed);
        let items = observations.into_iter().zip(parsed).zip(vectors);
        let items: Vec<(NewObservation, ParsedCaption, Embedding)> =
            items.map(|((observation, parsed), vector)| (observation, parsed, vector)).collect();
        let mut changes = self.corpus.changes();
        let records = self.store.commit_observations(&items)?;
        for (record, (_, _, vector)) in records.iter().zip(&items) {
            changes.insert(record, vector)?;
        }
        Ok(records)
    }

    /// Merges a frame into the newest keyframe of its source, and into the record
    /// that this one became. On disk and searchable when it returns.
    pub fn merge_frame(&self, source: &str, last_at: Timestamp) -> Result<Merged, StoreError> {
        let mut changes = self.corpus.changes();
        let merged = self.store.merge_frame(source, last_at)?;
        if let Some(record) = merged.record {
            changes.extend(record, merged.end_at);
        }
        Ok(merged)
    }

    /// Waits until what the store has committed by now is searchable.
    pub fn settle(&self) {
        self.corpus.settle();
    }

    /// Deletes records for good: from the disk with their images, and from every search, when
    /// it returns. What the index's segments on disk hold of them goes within some minutes.
    /// Returns those that existed.
    pub fn forget(&self, ids: &[RecordId]) -> Result<Vec<RecordId>, MemoryError> {
        let mut changes = self.corpus.changes();
        let deleted = self.store.delete_records(ids);
        if let Ok(gone) = &deleted {
            changes.forget(gone);
        } else {
            // They may be gone all the same, with their keys still to be erased.
            let held = self.store.records(ids)?;
            let is_held = |id: &RecordId| held.iter().any(|it| it.id == *id);
            let gone: Vec<RecordId> = ids.iter().copied().filter(|id| !is_held(id)).collect();
            changes.forget(&gone);
        }
        drop(changes);
        let gone = deleted?;
        if !gone.is_empty() {
            self.vocabulary.forget_all_but(&self.corpus.nouns());
        }
        Ok(gone)
    }

    /// The `k` records within `filter` that best match a description, best first.
    pub fn recall(
        &self,
        query: &str,
        filter: &Filter,
        k: usize,
    ) -> Result<Vec<Recalled>, MemoryError> {
        Ok(self.recall_explained(query, filter, k)?.0)
    }

    /// As [`Episodic::recall`], with how the records were found.
    pub fn recall_explained(
        &self,
        query: &str,
        filter: &Filter,
        k: usize,
    ) -> Result<(Vec<Recalled>, Explained), MemoryError> {
        let vector = self.query_vector(query)?;
        let search = Query { text: query, vector: vector.as_ref(), filter, accepts: None, k };
        let explained = self.corpus.explain(&search);
        let hits = &explained.hits;
        let ids: Vec<RecordId> = hits.iter().map(|hit| hit.id).collect();
        let scores: BTreeMap<RecordId, f32> = hits.iter().map(|hit| (hit.id, hit.score)).collect();
        let query_mentions = mentions(query);
        let mut found = Vec::with_capacity(hits.len());
        for record in self.store.records(&ids)? {
            let matched = vocabulary::same_noun_phrases(&record.parsed, &query_mentions);
            let score = scores.get(&record.id).copied().unwrap_or(0.0);
            found.push(Recalled { record, score, matched, probability: None });
        }
        Ok((found, explained))
    }

    /// `None` where the embedder does not know the script: its words are matched as written.
    fn query_vector(&self, query: &str) -> Result<Option<Embedding>, ModelError> {
        self.reads(query).then(|| self.embedder.embed(TextRole::Query, query)).transpose()
    }

    /// The records with these ids that exist, in the order asked for.
    pub fn records(&self, ids: &[RecordId]) -> Result<Vec<Record>, MemoryError> {
        Ok(self.store.records(ids)?)
    }

    /// The stored image of a frame, unless it was dropped to keep the bound.
    pub fn image(&self, ticket: FrameTicket) -> Result<Option<Vec<u8>>, MemoryError> {
        Ok(self.store.image(ticket)?)
    }

    /// Identity of the embedder.
    pub fn embedder(&self) -> &ModelIdentity {
        self.embedder.identity()
    }

    /// Bytes on disk.
    pub fn disk_bytes(&self) -> Result<u64, MemoryError> {
        Ok(self.store.disk_bytes()?)
    }

    /// Whether every full tail is sealed and nothing is left to merge.
    pub fn is_settled(&self) -> bool {
        self.compactor.is_settled()
    }

    /// Records whose captions wait to be read again by the reader that is in use now.
    pub fn captions_to_reread(&self) -> u64 {
        self.rereader.as_ref().map_or(0, Rereader::left)
    }

    /// Segments of the index and their size.
    pub fn index(&self) -> IndexStatus {
        self.corpus.status()
    }

    pub fn count(&self, filter: &Filter) -> usize {
        self.corpus.count(filter)
    }

    /// First and last moment in memory.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        self.corpus.span()
    }

    /// Records that can be found now.
    pub fn len(&self) -> usize {
        self.corpus.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
