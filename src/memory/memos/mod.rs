//! Memos: answers that users rated up, found again as examples for similar questions and shared
//! by all users of the memory.
//!
//! A memo is kept at once and queued for its vector, which a background thread computes; until
//! then it can be deleted but not found. Knows nothing of tools or sessions. A change is on
//! disk when the call that made it returns.

pub mod block;
mod importing;
mod index;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::thread::{Builder, JoinHandle};

use log::{error, info};

use crate::base::embedding::Embedding;
use crate::base::notify::Notify;
use crate::base::shortage::Shortage;
use crate::base::stop::Stop;
use crate::base::time::Timestamp;
use crate::language::topic::example;
use crate::memory::memos::block::NothingToKeep;
use crate::memory::memos::index::{IndexedMemo, MemoSet};
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, TextRole};
use crate::search::prose::{ProseQuery, content_words};
use crate::store::memos::{Memo, MemoCounters, MemoUse, RecordedRecall};
use crate::store::{Store, StoreError};

/// Most memos at once: each recall scans all of them.
pub const MEMOS_MAX: usize = 10_000;
/// Memos that may wait for their vector.
pub const QUEUE_MAX: usize = 256;
/// Messages that one memo is known to be made of, when it is rated again and again.
const MESSAGE_IDS_MAX: usize = 64;
/// Recalls logged with their answers; the oldest is dropped.
pub const RECALLS_MAX: u64 = 1_000;

/// Weights of a memo's parts in its vector: a query for an example is above all a query for its
/// sql.
const PROMPT_WEIGHT: f32 = 1.0;
const REASONING_WEIGHT: f32 = 1.0;
const SQL_WEIGHT: f32 = 2.0;

/// Errors of memos.
#[derive(Debug, thiserror::Error)]
pub enum MemosError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    NothingToKeep(#[from] NothingToKeep),
    #[error("{MEMOS_MAX} memos are kept, which is the most accepted; delete some first")]
    Full,
    #[error("{QUEUE_MAX} memos wait for their vector; add it again later")]
    QueueFull,
    #[error("the thread that makes memos' vectors cannot be started: {0}")]
    Thread(io::Error),
}

impl Shortage for MemosError {
    fn shortage(&self) -> Option<String> {
        if let Self::Store(error) = self { error.shortage() } else { None }
    }
}

/// Messages that a user rated up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMemo {
    /// Prompt that the messages answered.
    pub user_message: String,
    pub messages: Vec<String>,
    pub message_ids: Vec<String>,
    pub source: String,
}

/// Progress of a memo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoStatus {
    /// Kept, not found yet.
    Queued,
    Stored,
}

/// Memos to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoSelector {
    Id(u64),
    /// Those made of this message.
    Message(String),
}

/// Memos that a deletion removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeletedMemos {
    pub stored: Vec<u64>,
    /// Those whose creation was still queued.
    pub queued: Vec<u64>,
}

/// Ranking of memos; by similarity alone by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MemoRanking {
    /// Half-life of a memo's score, in days.
    pub half_life_days: Option<f32>,
    /// Weight of past use in the score, from 0 to 1.
    pub usage_weight: f32,
}

/// Memo that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledMemo {
    pub memo: Memo,
    /// 0..1, higher is better: similarity times recency times use.
    pub score: f32,
}

/// What a recall found, and what it passed over.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoMatches {
    /// Best first.
    pub memos: Vec<RecalledMemo>,
    /// How well the best memo answers, before age and use.
    pub best: Option<f32>,
    /// Whether the query's words were matched as written, as the embedder does not know
    /// their script.
    pub is_literal: bool,
}

/// A memo that was added, or the one that there was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    pub id: u64,
    pub status: MemoStatus,
    /// Whether the message had been rated before: it stays one memo.
    pub is_known: bool,
}

/// Memo in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedMemo {
    pub memo: Memo,
    pub status: MemoStatus,
    pub uses: MemoUse,
}

/// Memos, and the thread that computes their vectors.
#[derive(Debug)]
pub struct Memos {
    index: Arc<MemoIndex>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct MemoIndex {
    store: Store,
    embedder: EmbedderHandle,
    entries: RwLock<MemoSet>,
    /// Wakes the thread when a memo is queued.
    wake: Notify,
    stop: Stop,
    /// Held from a change on disk to the same change of `entries`.
    writing: Mutex<MemoCounters>,
}

impl Memos {
    /// Reads the memos from the store. Those without a vector of this embedder
    /// are queued again.
    pub fn open(store: Store, embedder: EmbedderHandle) -> Result<Self, MemosError> {
        let mut entries = MemoSet::default();
        for entry in store.memos() {
            match entry {
                Ok((memo, vector)) => {
                    let uses = match store.memo_use(memo.id) {
                        // A damaged use count is no reason to lose a memo.
                        Err(error) if error.concerns_one_value() => MemoUse::default(),
                        uses => uses?,
                    };
                    let mut indexed = IndexedMemo::without_vector(&memo, checksum(&memo.content));
                    indexed.uses = uses;
                    entries.insert(memo.id, indexed);
                    if let Some(vector) = vector {
                        entries.store(memo.id, vector, &embedder, &words(&memo));
                    }
                }
                // One memo lost is no reason to withhold the others.
                Err(error) if error.concerns_one_value() => {
                    error!(error:%; "a memo cannot be read and is left out");
                }
                Err(error) => return Err(error.into()),
            }
        }
        let writing = Mutex::new(store.memo_counters()?);
        let (entries, wake, stop) = (RwLock::new(entries), Notify::default(), Stop::default());
        let index = Arc::new(MemoIndex { store, embedder, entries, wake, stop, writing });
        let of_thread = Arc::clone(&index);
        let thread = Builder::new()
            .name("memos".to_owned())
            .spawn(move || make_vectors(&of_thread))
            .map_err(MemosError::Thread)?;
        Ok(Self { index, thread: Some(thread) })
    }

    /// Keeps what users rated up, and queues it for its vector. A message that was rated
    /// before stays one memo.
    pub fn add(&self, memo: NewMemo, now: Timestamp) -> Result<Added, MemosError> {
        let NewMemo { user_message, messages, message_ids, source } = memo;
        let content = block::block(&messages)?;
        let mut counters = self.index.lock_counters();
        if let Some(known) = self.find_known(&user_message, &content, &message_ids)? {
            return self.rate_again(known, message_ids, *counters);
        }
        let (kept, queued) = (self.len(), self.queued_count());
        if kept >= MEMOS_MAX {
            return Err(MemosError::Full);
        }
        if queued >= QUEUE_MAX {
            return Err(MemosError::QueueFull);
        }
        let id = counters.next_memo;
        let next = MemoCounters { next_memo: id + 1, ..*counters };
        let memo = Memo { id, content, created_at: now, source, user_message, message_ids };
        self.index.store.put_memo(&memo, None, next)?;
        *counters = next;
        let entry = IndexedMemo::without_vector(&memo, checksum(&memo.content));
        self.index.write(|entries| entries.insert(id, entry));
        self.index.wake.notify();
        Ok(Added { id, status: MemoStatus::Queued, is_known: false })
    }

    /// The memo of the same message: the same content for the same prompt, or with one of
    /// its message ids.
    fn find_known(
        &self,
        user_message: &str,
        content: &str,
        message_ids: &[String],
    ) -> Result<Option<Memo>, MemosError> {
        for id in self.index.read().of_checksum(checksum(content)) {
            let Some(memo) = self.index.store.memo(id)? else { continue };
            let is_named = memo.message_ids.iter().any(|it| message_ids.contains(it));
            let is_prompt = memo.user_message.trim() == user_message.trim();
            if memo.content == content && (is_named || is_prompt) {
                return Ok(Some(memo));
            }
        }
        Ok(None)
    }

    /// Notes the ids under which a known message was rated now. The counters are locked.
    fn rate_again(
        &self,
        mut memo: Memo,
        message_ids: Vec<String>,
        counters: MemoCounters,
    ) -> Result<Added, MemosError> {
        let fresh = message_ids.into_iter().filter(|id| !memo.message_ids.contains(id));
        let fresh: Vec<String> = fresh.collect();
        let vector = self.index.read().vector(memo.id).cloned();
        if !fresh.is_empty() {
            memo.message_ids.extend(fresh);
            memo.message_ids.truncate(MESSAGE_IDS_MAX);
            self.index.store.put_memo(&memo, vector.as_ref(), counters)?;
            self.index.write(|entries| entries.rename(memo.id, &memo.message_ids));
        }
        let status = if vector.is_some() { MemoStatus::Stored } else { MemoStatus::Queued };
        Ok(Added { id: memo.id, status, is_known: true })
    }

    /// Deletes memos, also while their creation is queued.
    pub fn delete(&self, which: &MemoSelector) -> Result<DeletedMemos, MemosError> {
        let _writing = self.index.lock_counters();
        let mut deleted = DeletedMemos::default();
        for (id, entry) in self.index.read().iter() {
            let is_selected = match which {
                MemoSelector::Id(wanted) => id == wanted,
                MemoSelector::Message(message) => entry.message_ids.contains(message),
            };
            if is_selected {
                let list = match entry.status() {
                    MemoStatus::Stored => &mut deleted.stored,
                    MemoStatus::Queued => &mut deleted.queued,
                };
                list.push(*id);
            }
        }
        let all = [deleted.stored.as_slice(), &deleted.queued].concat();
        if !all.is_empty() {
            self.index.store.remove_memos(&all)?;
            self.index.write(|entries| all.iter().for_each(|id| entries.remove(*id)));
        }
        Ok(deleted)
    }

    /// The `k` memos that best answer a query, best first, equal ones in the order
    /// in which they were added; none that answers it less well than `floor`, before age
    /// and use count. Notes which memos those were.
    pub fn recall(
        &self,
        query: &str,
        (k, floor): (usize, f32),
        ranking: MemoRanking,
        now: Timestamp,
    ) -> Result<MemoMatches, MemosError> {
        let query_text = query;
        let query = self.index.query(query)?;
        let answers = self.index.read().answers(&self.index.embedder, &query);
        let best = answers.iter().map(|(_, fit)| *fit).reduce(f32::max);
        let mut scored: Vec<(f32, u64)> = {
            let entries = self.index.read();
            let rank =
                |(id, fit): (u64, f32)| Some((fit * entries.get(id)?.weight(ranking, now), id));
            answers.into_iter().filter(|(_, fit)| *fit >= floor).filter_map(rank).collect()
        };
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut memos = Vec::new();
        for (score, id) in scored.into_iter().take(k) {
            // One that was deleted since is not found.
            memos.extend(self.index.store.memo(id)?.map(|memo| RecalledMemo { memo, score }));
        }
        self.record_recall(query_text, &memos, now)?;
        Ok(MemoMatches { memos, best, is_literal: query.is_literal() })
    }

    /// The newest memos below `before`, newest first.
    pub fn list(&self, before: Option<u64>, limit: usize) -> Result<Vec<ListedMemo>, MemosError> {
        let newest: Vec<(u64, MemoStatus, MemoUse)> = self
            .index
            .read()
            .before(before.unwrap_or(u64::MAX))
            .take(limit)
            .map(|(id, entry)| (*id, entry.status(), entry.uses))
            .collect();
        let mut listed = Vec::with_capacity(newest.len());
        for (id, status, uses) in newest {
            listed.extend(self.index.store.memo(id)?.map(|memo| ListedMemo { memo, status, uses }));
        }
        Ok(listed)
    }

    /// The newest recalls with the memos that answered them, newest first.
    pub fn recalls(&self, limit: usize) -> Result<Vec<RecordedRecall>, MemosError> {
        Ok(self.index.store.memo_recalls(limit)?)
    }

    pub fn len(&self) -> usize {
        self.index.read().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memos that wait for their vector.
    pub fn queued_count(&self) -> usize {
        self.index.read().queued_count()
    }

    fn record_recall(
        &self,
        query: &str,
        found: &[RecalledMemo],
        now: Timestamp,
    ) -> Result<(), MemosError> {
        let ids: Vec<u64> = found.iter().map(|it| it.memo.id).collect();
        info!(memos:? = ids; "memos recalled");
        let mut counters = self.index.lock_counters();
        let used: Vec<(u64, MemoUse)> = {
            let entries = self.index.read();
            let use_of = |id: &u64| {
                let uses = entries.get(*id)?.uses.uses + 1;
                Some((*id, MemoUse { uses, used_at: Some(now) }))
            };
            ids.iter().filter_map(use_of).collect()
        };
        let number = counters.next_recall;
        let next = MemoCounters { next_recall: number + 1, ..*counters };
        let recall = RecordedRecall { number, query: query.to_owned(), memos: ids, at: now };
        let forgotten = number.checked_sub(RECALLS_MAX);
        self.index.store.put_memo_recall(&recall, &used, forgotten, next)?;
        *counters = next;
        self.index.write(|entries| {
            for (id, uses) in used {
                entries.note_use(id, uses);
            }
        });
        Ok(())
    }
}

impl Drop for Memos {
    fn drop(&mut self) {
        self.index.stop.ask();
        self.index.wake.notify();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            error!("the thread of the memos panicked");
        }
    }
}

impl MemoIndex {
    fn read(&self) -> RwLockReadGuard<'_, MemoSet> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, change: impl FnOnce(&mut MemoSet) -> T) -> T {
        change(&mut self.entries.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock_counters(&self) -> MutexGuard<'_, MemoCounters> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first memo after `after` that waits for its vector.
    fn next_queued(&self, after: u64) -> Option<u64> {
        self.read().next_queued(after)
    }

    /// Makes one memo's vector, unless it is deleted meanwhile.
    fn make_vector(&self, id: u64) -> Result<(), MemosError> {
        let Some(memo) = self.store.memo(id)? else { return Ok(()) };
        let vector = embed(&self.embedder, &memo)?;
        let counters = self.lock_counters();
        // As it is now: it may have been rated again meanwhile.
        if let Some(memo) = self.store.memo(id)? {
            self.store.put_memo(&memo, Some(&vector), *counters)?;
            let words = words(&memo);
            self.write(|entries| entries.store(id, vector, &self.embedder, &words));
        }
        Ok(())
    }

    fn query(&self, text: &str) -> Result<ProseQuery, ModelError> {
        let text = example(text);
        let words = self.read().query_words(&content_words(text));
        ProseQuery::new(&self.embedder, words, text)
    }
}

/// Computes the vectors of queued memos until it is asked to stop.
///
/// A memo whose vector fails stays queued, and is tried again at the next wake.
fn make_vectors(index: &MemoIndex) {
    while !index.stop.is_asked() {
        let mut done = 0;
        while let Some(id) = index.next_queued(done) {
            if let Err(error) = index.make_vector(id) {
                error!(memo = id, error:%; "a memo got no vector");
            }
            done = id;
        }
        index.wake.wait();
    }
}

/// Weighted sum of the vectors of the user's prompt, the reasoning and the sql.
fn embed(embedder: &EmbedderHandle, memo: &Memo) -> Result<Embedding, ModelError> {
    let mut sum = vec![0.0; embedder.dimension()];
    for (weight, text) in parts(memo) {
        let vector = embedder.embed(TextRole::Passage, text)?;
        for (sum, component) in sum.iter_mut().zip(vector.as_slice()) {
            *sum += weight * component;
        }
    }
    Embedding::new(sum, embedder.dimension()).map_err(|bad| ModelError::Failed(bad.to_string()))
}

/// What a memo is found by, each with its weight. How a chart looks says nothing of what
/// it answers.
fn parts(memo: &Memo) -> Vec<(f32, &str)> {
    let mut parts = vec![(PROMPT_WEIGHT, memo.user_message.as_str())];
    for section in block::sections(&memo.content) {
        match section.tag {
            "reasoning" => parts.push((REASONING_WEIGHT, section.text)),
            "sql" => parts.push((SQL_WEIGHT, section.text)),
            _ => {}
        }
    }
    parts
}

/// The text of the same parts.
fn words(memo: &Memo) -> String {
    parts(memo).into_iter().map(|(_, text)| text).collect::<Vec<&str>>().join("\n")
}

/// To find a message that was rated before.
fn checksum(content: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
