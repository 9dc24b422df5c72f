//! The memos in memory: of each what a recall needs but its text.
//!
//! Knows neither store nor locks.

use std::collections::BTreeMap;

use crate::base::embedding::Embedding;
use crate::base::time::Timestamp;
use crate::index::lexical::forward::{ForwardIndex, TermQuery};
use crate::memory::memos::{MemoRanking, MemoStatus};
use crate::model::embedder::EmbedderHandle;
use crate::search::prose::{PreparedText, ProseQuery, ProseText};
use crate::store::memos::{Memo, MemoUse};

/// Uses at which a memo counts as half as useful as one that is used for ever.
const USES_HALF: f32 = 4.0;

/// Memos by id, with the statistics of their words.
#[derive(Debug, Default)]
pub(super) struct MemoSet {
    entries: BTreeMap<u64, IndexedMemo>,
    words: ForwardIndex,
}

#[derive(Debug)]
pub(super) struct IndexedMemo {
    /// What it is found by; `None` while it is queued.
    stored: Option<ProseText>,
    created_at: Timestamp,
    pub(super) message_ids: Vec<String>,
    /// Of the content.
    checksum: u64,
    pub(super) uses: MemoUse,
}

impl MemoSet {
    pub(super) fn insert(&mut self, id: u64, entry: IndexedMemo) {
        self.remove(id);
        self.entries.insert(id, entry);
    }

    /// Makes a queued memo one that is found.
    pub(super) fn store(
        &mut self,
        id: u64,
        vector: Embedding,
        embedder: &EmbedderHandle,
        words: &str,
    ) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        if let Some(before) = entry.stored.take() {
            before.leave(&mut self.words);
        }
        let example = PreparedText::of_example(embedder, vector, words);
        entry.stored = Some(ProseText::new(&mut self.words, example));
    }

    pub(super) fn remove(&mut self, id: u64) {
        if let Some(stored) = self.entries.remove(&id).and_then(|it| it.stored) {
            stored.leave(&mut self.words);
        }
    }

    /// How well each stored memo answers, in the order of ids.
    pub(super) fn answers(&self, embedder: &EmbedderHandle, query: &ProseQuery) -> Vec<(u64, f32)> {
        let fit = |(id, entry): (&u64, &IndexedMemo)| {
            Some((*id, entry.stored.as_ref()?.fit_as_example(embedder, query)))
        };
        self.entries.iter().filter_map(fit).collect()
    }

    pub(super) fn query_words(&self, query: &str) -> TermQuery {
        self.words.query(query)
    }

    /// Memos whose content has this checksum.
    pub(super) fn of_checksum(&self, checksum: u64) -> Vec<u64> {
        let same = self.entries.iter().filter(|(_, entry)| entry.checksum == checksum);
        same.map(|(id, _)| *id).collect()
    }

    pub(super) fn rename(&mut self, id: u64, message_ids: &[String]) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.message_ids = message_ids.to_vec();
        }
    }

    pub(super) fn note_use(&mut self, id: u64, uses: MemoUse) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.uses = uses;
        }
    }

    pub(super) fn get(&self, id: u64) -> Option<&IndexedMemo> {
        self.entries.get(&id)
    }

    pub(super) fn vector(&self, id: u64) -> Option<&Embedding> {
        self.get(id)?.stored.as_ref().map(ProseText::vector)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&u64, &IndexedMemo)> {
        self.entries.iter()
    }

    /// Memos of lower ids, newest first.
    pub(super) fn before(&self, id: u64) -> impl Iterator<Item = (&u64, &IndexedMemo)> {
        self.entries.range(..id).rev()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn queued_count(&self) -> usize {
        self.entries.values().filter(|entry| entry.stored.is_none()).count()
    }

    /// The first memo after `after` that waits for its vector.
    pub(super) fn next_queued(&self, after: u64) -> Option<u64> {
        let mut later = self.entries.range(after + 1..);
        later.find(|(_, entry)| entry.stored.is_none()).map(|(id, _)| *id)
    }
}

impl IndexedMemo {
    pub(super) fn without_vector(memo: &Memo, checksum: u64) -> Self {
        Self {
            stored: None,
            created_at: memo.created_at,
            message_ids: memo.message_ids.clone(),
            checksum,
            uses: MemoUse::default(),
        }
    }

    pub(super) fn status(&self) -> MemoStatus {
        if self.stored.is_some() { MemoStatus::Stored } else { MemoStatus::Queued }
    }

    /// What age and use make of a score.
    pub(super) fn weight(&self, ranking: MemoRanking, now: Timestamp) -> f32 {
        let MemoRanking { half_life_days, usage_weight } = ranking;
        let days = now.since(self.created_at).as_secs_f32() / 86_400.0;
        let freshness = half_life_days.map_or(1.0, |half_life| 0.5_f32.powf(days / half_life));
        #[expect(clippy::cast_precision_loss, reason = "a share of it")]
        let uses = self.uses.uses as f32;
        let usefulness = uses / (uses + USES_HALF);
        freshness * (1.0 - usage_weight + usage_weight * usefulness)
    }
}
