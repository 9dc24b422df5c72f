//! The notes in memory: of each everything that a search needs but its text.
//!
//! Knows neither store nor locks.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::base::embedding::Embedding;
use crate::base::time::{Timestamp, Zone};
use crate::index::lexical::forward::{ForwardIndex, TermMatch, TermQuery};
use crate::memory::notes::passages::passages;
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, TextRole};
use crate::search::prose::{PreparedText, ProseQuery, ProseText};
use crate::search::usual_likeness::UsualLikeness;
use crate::store::notes::Note;

/// Notes by id, with the statistics of their words.
#[derive(Debug, Default)]
pub(super) struct NoteCorpus {
    entries: BTreeMap<Uuid, IndexedNote>,
    words: ForwardIndex,
    usual: UsualLikeness,
    /// Soonest first.
    expiries: BTreeSet<(Timestamp, Uuid)>,
}

/// All of a note but its text, which stays on disk.
#[derive(Debug)]
pub(super) struct IndexedNote {
    passages: Vec<ProseText>,
    area: Value,
    metadata: Value,
    pub(super) saved_at: Timestamp,
    expires_at: Option<Timestamp>,
}

/// A note's text by its passages, ready to be inserted. Made outside of locks.
#[derive(Debug)]
pub(super) struct Prepared(Vec<PreparedText>);

impl Prepared {
    pub(super) fn of(embedder: &EmbedderHandle, text: &str) -> Result<Self, ModelError> {
        let vectors = embedder.embed_batch(TextRole::Passage, &passages(text))?;
        Ok(Self::with_vectors(embedder, text, vectors))
    }

    /// With the vectors of the text's passages, made before.
    pub(super) fn with_vectors(
        embedder: &EmbedderHandle,
        text: &str,
        vectors: Vec<Embedding>,
    ) -> Self {
        let passages = vectors.into_iter().zip(passages(text));
        let prepare = |(vector, passage)| PreparedText::of_statement(embedder, vector, passage);
        Self(passages.map(prepare).collect())
    }

    pub(super) fn vectors(&self) -> Vec<Embedding> {
        self.0.iter().map(|it| it.vector.clone()).collect()
    }
}

impl NoteCorpus {
    /// In the place of the note that has this id.
    pub(super) fn insert(&mut self, note: &Note, prepared: Prepared) {
        self.remove(note.id);
        let counted_in = |passage| {
            let text = ProseText::new(&mut self.words, passage);
            text.read_vector().into_iter().for_each(|it| self.usual.add(it));
            text
        };
        let entry = IndexedNote {
            passages: prepared.0.into_iter().map(counted_in).collect(),
            area: json!(note.area),
            // Checked when it was saved.
            metadata: serde_json::from_str(&note.metadata).unwrap_or_default(),
            saved_at: note.saved_at,
            expires_at: note.expires_at,
        };
        self.expiries.extend(note.expires_at.map(|at| (at, note.id)));
        self.entries.insert(note.id, entry);
    }

    pub(super) fn remove(&mut self, id: Uuid) {
        let Some(IndexedNote { passages, expires_at, .. }) = self.entries.remove(&id) else {
            return;
        };
        for passage in passages {
            passage.read_vector().into_iter().for_each(|it| self.usual.remove(it));
            passage.leave(&mut self.words);
        }
        if let Some(at) = expires_at {
            self.expiries.remove(&(at, id));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn contains(&self, id: Uuid) -> bool {
        self.entries.contains_key(&id)
    }

    pub(super) fn get(&self, id: Uuid) -> Option<&IndexedNote> {
        self.entries.get(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Uuid, &IndexedNote)> {
        self.entries.iter()
    }

    pub(super) fn words(&self) -> &ForwardIndex {
        &self.words
    }

    /// How alike a query is to all notes together.
    pub(super) fn usual(&self) -> &UsualLikeness {
        &self.usual
    }

    pub(super) fn has_expired(&self, now: Timestamp) -> bool {
        self.expiries.first().is_some_and(|(at, _)| *at <= now)
    }

    pub(super) fn expired_ids(&self, now: Timestamp) -> Vec<Uuid> {
        self.expiries.iter().take_while(|(at, _)| *at <= now).map(|(_, id)| *id).collect()
    }
}

impl IndexedNote {
    /// How well the note answers: its best passage's fit.
    pub(super) fn score(&self, embedder: &EmbedderHandle, query: &ProseQuery) -> f32 {
        self.best(|passage| passage.fit(embedder, query))
    }

    /// How alike the note and the query are in meaning alone.
    pub(super) fn similarity(&self, embedder: &EmbedderHandle, query: &ProseQuery) -> f32 {
        self.best(|passage| passage.similarity(embedder, query))
    }

    /// The most that one passage has in common with some words.
    pub(super) fn word_match(&self, words: &TermQuery) -> TermMatch {
        let matches = self.passages.iter().map(|it| it.word_match(words));
        matches.max_by(|a, b| a.coverage.total_cmp(&b.coverage)).unwrap_or_default()
    }

    fn best(&self, score: impl Fn(&ProseText) -> f32) -> f32 {
        self.passages.iter().map(score).fold(0.0, f32::max)
    }

    /// What a filter reads under a name.
    pub(super) fn field(&self, name: &str, id: Uuid, zone: Zone) -> Option<Cow<'_, Value>> {
        match name {
            "id" => Some(Cow::Owned(json!(id.to_string()))),
            "area" => Some(Cow::Borrowed(&self.area)),
            "time" => Some(Cow::Owned(json!(zone.format(self.saved_at)))),
            "timestamp" => Some(Cow::Owned(json!(self.saved_at.seconds()))),
            _ => {
                // All of it, unless there is a fact of this name.
                let all = (name == "metadata").then_some(&self.metadata);
                self.metadata.get(name).or(all).map(Cow::Borrowed)
            }
        }
    }
}
