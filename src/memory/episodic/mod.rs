//! What the robot saw, when and where: records go in, recollections come out.
//!
//! Keeps store and search corpus in step: a record is searchable exactly when
//! its batch is on disk. Knows nothing of tools, sessions or cameras.

pub mod last_seen;
pub mod shows;
mod things;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use log::error;

use crate::base::caption::Caption;
use crate::base::embedding::Embedding;
use crate::base::time::Timestamp;
use crate::base::{FrameTicket, RecordId};
use crate::index::mention::mentions;
use crate::memory::episodic::things::Things;
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, ModelIdentity, TextRole};
use crate::search::{Corpus, CorpusError, Filter, Query};
use crate::store::{NewObservation, Record, Store, StoreError};

/// Why the memory cannot answer or keep something.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The query names nothing that could be seen.
    #[error(
        "{0:?} names no thing that a record could show; accepted is a description such as 'a red mug'"
    )]
    NamesNothing(String),
}

/// A record that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    pub record: Record,
    /// 0..1, higher is better; compares between queries.
    pub score: f32,
    /// The caption's phrases that name what the query names.
    pub matched: Vec<String>,
}

/// The records of what was seen, with everything needed to find them.
#[derive(Debug)]
pub struct Episodic {
    store: Store,
    corpus: Corpus,
    embedder: EmbedderHandle,
    things: Things,
    /// Held from a record's batch to its entry in the corpus, so that entries
    /// come in the order of ids and an extension never overtakes its record.
    writing: Mutex<()>,
}

impl Episodic {
    /// Fills the corpus from the store.
    pub fn open(store: Store, embedder: EmbedderHandle) -> Result<Self, MemoryError> {
        let corpus = Corpus::new(embedder.dimension());
        for entry in store.scan() {
            match entry {
                Ok((record, vector)) => corpus.insert(&record, &vector)?,
                // One record lost is no reason to withhold the others.
                Err(error) if error.concerns_one_value() => {
                    error!(error:%; "a record cannot be read and is left out");
                }
                Err(error) => return Err(error.into()),
            }
        }
        let things = Things::new(embedder.clone());
        Ok(Self { store, corpus, embedder, things, writing: Mutex::new(()) })
    }

    /// Keeps what a pending frame shows. On disk and searchable when it returns.
    pub fn remember_frame(
        &self,
        ticket: FrameTicket,
        caption: &Caption,
    ) -> Result<Record, MemoryError> {
        let vector = self.embedder.embed(TextRole::Passage, &caption.text)?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let record = self.store.commit_frame(ticket, caption, &vector)?;
        self.corpus.insert(&record, &vector)?;
        Ok(record)
    }

    /// Keeps observations that bring their own caption, all or none. On disk
    /// and searchable when it returns.
    pub fn remember_observations(
        &self,
        observations: Vec<NewObservation>,
    ) -> Result<Vec<Record>, MemoryError> {
        let captions: Vec<&str> = observations.iter().map(|it| it.caption.as_str()).collect();
        let vectors = self.embedder.embed_batch(TextRole::Passage, &captions)?;
        let items: Vec<(NewObservation, Embedding)> =
            observations.into_iter().zip(vectors).collect();
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let records = self.store.commit_observations(&items)?;
        for (record, (_, vector)) in records.iter().zip(&items) {
            self.corpus.insert(record, vector)?;
        }
        Ok(records)
    }

    /// Tells the corpus that a stored record was seen until `end_at`.
    pub fn extend(&self, id: RecordId, end_at: Timestamp) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.corpus.extend(id, end_at);
    }

    /// The `k` records within `filter` that best match a description, best first.
    pub fn recall(
        &self,
        query: &str,
        filter: &Filter,
        k: usize,
    ) -> Result<Vec<Recalled>, MemoryError> {
        let vector = self.embedder.embed(TextRole::Query, query)?;
        let hits = self.corpus.search(&Query { text: query, vector: &vector, filter, k });
        let ids: Vec<RecordId> = hits.iter().map(|hit| hit.id).collect();
        let scores: BTreeMap<RecordId, f32> = hits.iter().map(|hit| (hit.id, hit.score)).collect();
        let wanted = mentions(query);
        let mut found = Vec::with_capacity(hits.len());
        for record in self.store.records(&ids)? {
            let matched = things::named_alike(&record.caption, &wanted);
            let score = scores.get(&record.id).copied().unwrap_or(0.0);
            found.push(Recalled { record, score, matched });
        }
        Ok(found)
    }

    /// The records with these ids that exist, in the order asked for.
    pub fn records(&self, ids: &[RecordId]) -> Result<Vec<Record>, MemoryError> {
        Ok(self.store.records(ids)?)
    }

    /// The stored image of a frame, unless it was dropped to keep the bound.
    pub fn image(&self, ticket: FrameTicket) -> Result<Option<Vec<u8>>, MemoryError> {
        Ok(self.store.image(ticket)?)
    }

    /// The model that makes the vectors.
    pub fn embedder(&self) -> &ModelIdentity {
        self.embedder.identity()
    }

    /// What the memory takes on disk.
    pub fn disk_bytes(&self) -> Result<u64, MemoryError> {
        Ok(self.store.disk_bytes()?)
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
