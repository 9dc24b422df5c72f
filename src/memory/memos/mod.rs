//! What users rated up, found again for the next question like it: shared by all
//! users of the memory.
//!
//! A memo is kept at once and queued for its vector, which a thread of its own
//! makes; until then it can be deleted but not found. Knows nothing of tools or
//! sessions. A change is on disk when the call that made it returns.

pub mod block;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::thread::{Builder, JoinHandle};

use crossbeam::channel::{Receiver, Sender, bounded};
use log::{error, info};

use crate::base::embedding::Embedding;
use crate::base::time::Timestamp;
use crate::memory::memos::block::NothingToKeep;
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, TextRole};
use crate::store::memos::{Memo, MemoCounters, MemoRecall, MemoUse};
use crate::store::{Store, StoreError};

/// Most memos at once: each recall looks at all of them.
pub const MEMOS_MAX: usize = 10_000;
/// Memos that may wait for their vector.
pub const QUEUE_MAX: usize = 256;
/// Recalls whose answers are remembered; the oldest is forgotten.
pub const RECALLS_MAX: u64 = 1_000;

/// What a part of a memo weighs in its vector. A query for an example is most of
/// all a query for its sql.
const PROMPT_WEIGHT: f32 = 1.0;
const REASONING_WEIGHT: f32 = 1.0;
const SQL_WEIGHT: f32 = 2.0;

/// Uses at which a memo counts as half as useful as one that is used for ever.
const USES_HALF: f32 = 4.0;

/// Why memos are not kept or found.
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

/// A message that a user rated up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMemo {
    /// The prompt that the messages answered.
    pub user_message: String,
    pub messages: Vec<String>,
    pub message_ids: Vec<String>,
    pub source: String,
}

/// How far a memo is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Kept, not found yet.
    Queued,
    Stored,
}

/// Which memos to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    Id(u64),
    /// Those made of this message.
    Message(String),
}

/// What a deletion removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deleted {
    pub stored: Vec<u64>,
    /// Those whose creation was still queued.
    pub queued: Vec<u64>,
}

/// How memos are ranked; by similarity alone by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ranking {
    /// Days after which a memo counts half.
    pub half_life_days: Option<f32>,
    /// From 0 to 1: how much of the score depends on how often a memo answered.
    pub usage_weight: f32,
}

/// A memo that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub memo: Memo,
    /// 0..1, higher is better: the similarity, times what the ranking makes of age
    /// and use.
    pub score: f32,
}

/// A memo as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub memo: Memo,
    pub status: Status,
    pub uses: MemoUse,
}

/// The memos, and the thread that makes their vectors.
#[derive(Debug)]
pub struct Memos {
    shared: Arc<Shared>,
    /// Wakes the thread; dropped to end it.
    wake: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    embedder: EmbedderHandle,
    entries: RwLock<BTreeMap<u64, Entry>>,
    /// Held from a change on disk to the same change of `entries`.
    writing: Mutex<MemoCounters>,
}

/// What a recall needs of a memo.
#[derive(Debug)]
struct Entry {
    /// `None` while it is queued.
    vector: Option<Embedding>,
    created_at: Timestamp,
    message_ids: Vec<String>,
    uses: MemoUse,
}

impl Memos {
    /// Reads the memos from the store. Those without a vector of this embedder
    /// are queued again.
    pub fn open(store: Store, embedder: EmbedderHandle) -> Result<Self, MemosError> {
        let mut entries = BTreeMap::new();
        for entry in store.memos() {
            match entry {
                Ok((memo, vector)) => {
                    let uses = match store.memo_use(memo.id) {
                        // How often it was used is not worth a memo.
                        Err(error) if error.concerns_one_value() => MemoUse::default(),
                        uses => uses?,
                    };
                    let Memo { id, created_at, message_ids, .. } = memo;
                    entries.insert(id, Entry { vector, created_at, message_ids, uses });
                }
                // One memo lost is no reason to withhold the others.
                Err(error) if error.concerns_one_value() => {
                    error!(error:%; "a memo cannot be read and is left out");
                }
                Err(error) => return Err(error.into()),
            }
        }
        let writing = Mutex::new(store.memo_counters()?);
        let shared = Arc::new(Shared { store, embedder, entries: RwLock::new(entries), writing });
        // One slot: a thread that is told once looks for all there is to do.
        let (wake, woken) = bounded(1);
        rouse(&wake);
        let of_thread = Arc::clone(&shared);
        let thread = Builder::new()
            .name("memos".to_owned())
            .spawn(move || make_vectors(&of_thread, &woken))
            .map_err(MemosError::Thread)?;
        Ok(Self { shared, wake: Some(wake), thread: Some(thread) })
    }

    /// Keeps what users rated up, and queues it for its vector.
    pub fn add(&self, memo: NewMemo, now: Timestamp) -> Result<u64, MemosError> {
        let NewMemo { user_message, messages, message_ids, source } = memo;
        let content = block::block(&messages)?;
        let mut counters = self.shared.writing();
        let (kept, queued) = (self.len(), self.queued());
        if kept >= MEMOS_MAX {
            return Err(MemosError::Full);
        }
        if queued >= QUEUE_MAX {
            return Err(MemosError::QueueFull);
        }
        let id = counters.next_memo;
        let next = MemoCounters { next_memo: id + 1, ..*counters };
        let memo = Memo { id, content, created_at: now, source, user_message, message_ids };
        self.shared.store.put_memo(&memo, None, next)?;
        *counters = next;
        let Memo { created_at, message_ids, .. } = memo;
        let entry = Entry { vector: None, created_at, message_ids, uses: MemoUse::default() };
        self.shared.write(|entries| entries.insert(id, entry));
        if let Some(wake) = &self.wake {
            rouse(wake);
        }
        Ok(id)
    }

    /// Deletes memos, also while their creation is queued.
    pub fn delete(&self, which: &Which) -> Result<Deleted, MemosError> {
        let _writing = self.shared.writing();
        let mut deleted = Deleted::default();
        for (id, entry) in self.shared.read().iter() {
            let is_meant = match which {
                Which::Id(wanted) => id == wanted,
                Which::Message(message) => entry.message_ids.contains(message),
            };
            if is_meant {
                let list =
                    if entry.vector.is_some() { &mut deleted.stored } else { &mut deleted.queued };
                list.push(*id);
            }
        }
        let all = [deleted.stored.as_slice(), &deleted.queued].concat();
        if !all.is_empty() {
            self.shared.store.remove_memos(&all)?;
            self.shared.write(|entries| all.iter().for_each(|id| drop(entries.remove(id))));
        }
        Ok(deleted)
    }

    /// The `k` memos that best answer a query, best first, equal ones in the order
    /// in which they were added. Notes which memos those were.
    pub fn recall(
        &self,
        query: &str,
        k: usize,
        ranking: Ranking,
        now: Timestamp,
    ) -> Result<Vec<Found>, MemosError> {
        let vector = self.shared.embedder.embed(TextRole::Query, query)?;
        let mut scored: Vec<(f32, u64)> = self
            .shared
            .read()
            .iter()
            .filter_map(|(id, entry)| {
                Some((entry.score(&self.shared.embedder, &vector, ranking, now)?, *id))
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut found = Vec::new();
        for (score, id) in scored.into_iter().take(k) {
            // One that was deleted since is not found.
            found.extend(self.shared.store.memo(id)?.map(|memo| Found { memo, score }));
        }
        self.note(query, &found, now)?;
        Ok(found)
    }

    /// The newest memos below `before`, newest first.
    pub fn list(&self, before: Option<u64>, limit: usize) -> Result<Vec<Listed>, MemosError> {
        let newest: Vec<(u64, Status, MemoUse)> = self
            .shared
            .read()
            .range(..before.unwrap_or(u64::MAX))
            .rev()
            .take(limit)
            .map(|(id, entry)| {
                let status = if entry.vector.is_some() { Status::Stored } else { Status::Queued };
                (*id, status, entry.uses)
            })
            .collect();
        let mut listed = Vec::with_capacity(newest.len());
        for (id, status, uses) in newest {
            listed.extend(self.shared.store.memo(id)?.map(|memo| Listed { memo, status, uses }));
        }
        Ok(listed)
    }

    /// The newest recalls with the memos that answered them, newest first.
    pub fn recalls(&self, limit: usize) -> Result<Vec<MemoRecall>, MemosError> {
        Ok(self.shared.store.memo_recalls(limit)?)
    }

    pub fn len(&self) -> usize {
        self.shared.read().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memos that wait for their vector.
    pub fn queued(&self) -> usize {
        self.shared.read().values().filter(|entry| entry.vector.is_none()).count()
    }

    fn note(&self, query: &str, found: &[Found], now: Timestamp) -> Result<(), MemosError> {
        let ids: Vec<u64> = found.iter().map(|it| it.memo.id).collect();
        info!(query, memos:? = ids; "memos recalled");
        let mut counters = self.shared.writing();
        let used: Vec<(u64, MemoUse)> = {
            let entries = self.shared.read();
            let use_of = |id: &u64| {
                let uses = entries.get(id)?.uses.uses + 1;
                Some((*id, MemoUse { uses, used_at: Some(now) }))
            };
            ids.iter().filter_map(use_of).collect()
        };
        let number = counters.next_recall;
        let next = MemoCounters { next_recall: number + 1, ..*counters };
        let recall = MemoRecall { number, query: query.to_owned(), memos: ids, at: now };
        let forgotten = number.checked_sub(RECALLS_MAX);
        self.shared.store.put_memo_recall(&recall, &used, forgotten, next)?;
        *counters = next;
        self.shared.write(|entries| {
            for (id, uses) in used {
                if let Some(entry) = entries.get_mut(&id) {
                    entry.uses = uses;
                }
            }
        });
        Ok(())
    }
}

impl Drop for Memos {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            error!("the thread of the memos panicked");
        }
    }
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<u64, Entry>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, change: impl FnOnce(&mut BTreeMap<u64, Entry>) -> T) -> T {
        change(&mut self.entries.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn writing(&self) -> MutexGuard<'_, MemoCounters> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first memo after `after` that waits for its vector.
    fn next_queued(&self, after: u64) -> Option<u64> {
        let entries = self.read();
        let mut later = entries.range(after + 1..);
        later.find(|(_, entry)| entry.vector.is_none()).map(|(id, _)| *id)
    }

    /// Makes one memo's vector, unless it is deleted meanwhile.
    fn make_vector(&self, id: u64) -> Result<(), MemosError> {
        let Some(memo) = self.store.memo(id)? else { return Ok(()) };
        let vector = embed(&self.embedder, &memo)?;
        let counters = self.writing();
        if self.read().contains_key(&id) {
            self.store.put_memo(&memo, Some(&vector), *counters)?;
            self.write(|entries| {
                if let Some(entry) = entries.get_mut(&id) {
                    entry.vector = Some(vector);
                }
            });
        }
        Ok(())
    }
}

impl Entry {
    /// `None` while it is queued.
    fn score(
        &self,
        embedder: &EmbedderHandle,
        query: &Embedding,
        ranking: Ranking,
        now: Timestamp,
    ) -> Option<f32> {
        let Ranking { half_life_days, usage_weight } = ranking;
        let similarity = embedder.similarity(self.vector.as_ref()?, query);
        let days = now.since(self.created_at).as_secs_f32() / 86_400.0;
        let freshness = half_life_days.map_or(1.0, |half_life| 0.5_f32.powf(days / half_life));
        #[expect(clippy::cast_precision_loss, reason = "a share of it")]
        let uses = self.uses.uses as f32;
        let usefulness = uses / (uses + USES_HALF);
        Some(similarity * freshness * (1.0 - usage_weight + usage_weight * usefulness))
    }
}

/// Has the thread look for queued memos.
fn rouse(wake: &Sender<()>) {
    if wake.try_send(()).is_err() {
        log::trace!("the thread of the memos is told already");
    }
}

/// Gives the queued memos their vectors until all handles to wake it are gone.
///
/// A memo whose vector cannot be made stays queued; it is tried again when the
/// thread is woken next.
fn make_vectors(shared: &Shared, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        let mut done = 0;
        while let Some(id) = shared.next_queued(done) {
            if let Err(error) = shared.make_vector(id) {
                error!(memo = id, error:%; "a memo got no vector");
            }
            done = id;
        }
    }
}

/// The weighted sum of the vectors of a memo's parts: the user's prompt, the
/// reasoning, and the sql.
fn embed(embedder: &EmbedderHandle, memo: &Memo) -> Result<Embedding, ModelError> {
    let mut parts = vec![(PROMPT_WEIGHT, memo.user_message.as_str())];
    for section in block::sections(&memo.content) {
        match section.tag {
            "reasoning" => parts.push((REASONING_WEIGHT, section.text)),
            "sql" => parts.push((SQL_WEIGHT, section.text)),
            // How a chart looks says nothing of what it answers.
            _ => {}
        }
    }
    let mut sum = vec![0.0; embedder.dimension()];
    for (weight, text) in parts {
        let vector = embedder.embed(TextRole::Passage, text)?;
        for (sum, component) in sum.iter_mut().zip(vector.as_slice()) {
            *sum += weight * component;
        }
    }
    Embedding::new(sum, embedder.dimension()).map_err(|bad| ModelError::Failed(bad.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::{Clock as _, SystemClock};
    use crate::model::scripted::ScriptedEmbedder;
    use crate::model::{Embedder, ModelIdentity};
    use crate::store::reindex::Reindex;
    use crate::store::{EmbeddingSpace, Options};
    use proptest::prelude::{Just, ProptestConfig, Strategy, prop, prop_oneof, proptest};
    use std::path::Path;
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    fn space(embedder: &EmbedderHandle) -> EmbeddingSpace {
        let identity = embedder.identity();
        EmbeddingSpace {
            model: identity.name.clone(),
            fingerprint: identity.fingerprint.0.clone(),
            dimension: embedder.dimension(),
        }
    }

    fn open(dir: &Path, embedder: &EmbedderHandle) -> Memos {
        let store = Store::open(&Options::at(dir.to_owned()), &space(embedder)).unwrap();
        Memos::open(store, embedder.clone()).unwrap()
    }

    fn scripted() -> EmbedderHandle {
        EmbedderHandle::new(Box::new(ScriptedEmbedder::new(64)))
    }

    fn at(days: f64) -> Timestamp {
        Timestamp::from_seconds(1_735_905_600.0 + days * 86_400.0).unwrap()
    }

    fn memo(user_message: &str, message: &str, message_id: &str) -> NewMemo {
        NewMemo {
            user_message: user_message.to_owned(),
            messages: vec![message.to_owned()],
            message_ids: vec![message_id.to_owned()],
            source: "uprated_by_user".to_owned(),
        }
    }

    fn settle(memos: &Memos) {
        let started = SystemClock.tick();
        while memos.queued() > 0 {
            assert!(started.elapsed() < Duration::from_secs(60), "waited in vain");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn ids(memos: &Memos, query: &str, k: usize, ranking: Ranking, now: Timestamp) -> Vec<u64> {
        let found = memos.recall(query, k, ranking, now).unwrap();
        found.iter().map(|it| it.memo.id).collect()
    }

    #[test]
    fn the_nearest_memo_answers_and_is_noted_also_after_a_restart() {
        let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
        let memos = open(dir.path(), &embedder);
        let runs =
            memo("Show QC of recent runs", "<sql>SELECT qc FROM sequencing_runs</sql>", "m1");
        assert_eq!(memos.add(runs, at(0.0)).unwrap(), 1);
        let users = memo("How many users", "<sql>SELECT count(*) FROM users</sql>", "m2");
        assert_eq!(memos.add(users, at(0.0)).unwrap(), 2);
        settle(&memos);
        assert_eq!(ids(&memos, "QC of sequencing runs", 1, Ranking::default(), at(1.0)), [1]);
        assert_eq!(ids(&memos, "count users", 2, Ranking::default(), at(2.0)), [2, 1]);
        drop(memos);
        let memos = open(dir.path(), &embedder);
        let listed = memos.list(None, 10).unwrap();
        let uses: Vec<(u64, u64, Option<Timestamp>)> =
            listed.iter().map(|it| (it.memo.id, it.uses.uses, it.uses.used_at)).collect();
        assert_eq!(uses, [(2, 1, Some(at(2.0))), (1, 2, Some(at(2.0)))]);
        assert_eq!(memos.list(Some(2), 10).unwrap(), listed[1..]);
        let recalls = memos.recalls(10).unwrap();
        let recalls: Vec<(u64, &str, &[u64])> =
            recalls.iter().map(|it| (it.number, it.query.as_str(), it.memos.as_slice())).collect();
        assert_eq!(recalls, [(2, "count users", &[2, 1][..]), (1, "QC of sequencing runs", &[1])]);
        let third = memos.add(memo("x", "<chart>bar</chart>", "m3"), at(3.0)).unwrap();
        assert_eq!(third, 3);
    }

    #[test]
    fn sql_weighs_most_and_charts_and_dataframes_nothing() {
        let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
        let memos = open(dir.path(), &embedder);
        for (prompt, message) in [
            ("alpha", "<sql>beta</sql>"),
            ("beta", "<sql>alpha</sql>"),
            ("gamma", "<reasoning>delta</reasoning><sql>epsilon</sql>"),
            ("zeta", "<chart>eta</chart><dataframe>theta</dataframe>"),
        ] {
            memos.add(memo(prompt, message, "m"), at(0.0)).unwrap();
        }
        settle(&memos);
        let first = |query| memos.recall(query, 1, Ranking::default(), at(0.0)).unwrap().remove(0);
        assert_eq!(first("alpha").memo.id, 2);
        assert_eq!(first("beta").memo.id, 1);
        assert!(first("delta").score > 0.6 && first("epsilon").score > first("delta").score + 0.1);
        assert_eq!(first("zeta").memo.id, 4);
        assert!(first("zeta").score > 0.99);
        assert!(first("eta").score < 0.75 && first("theta").score < 0.75);
    }

    #[test]
    fn age_and_use_change_the_ranking_where_asked() {
        let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
        let memos = open(dir.path(), &embedder);
        memos.add(memo("count users", "<sql>SELECT 1</sql>", "old"), at(0.0)).unwrap();
        memos.add(memo("count users", "<sql>SELECT 1</sql>", "new"), at(20.0)).unwrap();
        settle(&memos);
        let plain = Ranking::default();
        let now = at(20.0);
        assert_eq!(ids(&memos, "count users", 1, plain, now), [1]);
        let decayed = Ranking { half_life_days: Some(10.0), ..plain };
        let found = memos.recall("count users", 2, decayed, now).unwrap();
        assert_eq!(found.iter().map(|it| it.memo.id).collect::<Vec<u64>>(), [2, 1]);
        assert!((found[1].score - found[0].score / 4.0).abs() < 1e-4, "{found:?}");
        // The first was used twice by now, the second once.
        let by_use = Ranking { usage_weight: 1.0, ..plain };
        let found = memos.recall("count users", 2, by_use, now).unwrap();
        assert_eq!(found[0].memo.id, 1);
        let (twice, once) = (2.0 / 6.0, 1.0 / 5.0);
        assert!((found[0].score / found[1].score - twice / once).abs() < 1e-4, "{found:?}");
    }

    /// Waits at a barrier before and after each passage.
    #[derive(Debug)]
    struct Slow {
        inner: ScriptedEmbedder,
        gate: Arc<Barrier>,
    }

    impl Embedder for Slow {
        fn identity(&self) -> &ModelIdentity {
            self.inner.identity()
        }

        fn dimension(&self) -> usize {
            self.inner.dimension()
        }

        fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
            if role == TextRole::Passage {
                self.gate.wait();
                self.gate.wait();
            }
            self.inner.embed(role, texts)
        }
    }

    /// Embeds questions only.
    #[derive(Debug)]
    struct Failing(ScriptedEmbedder);

    impl Embedder for Failing {
        fn identity(&self) -> &ModelIdentity {
            self.0.identity()
        }

        fn dimension(&self) -> usize {
            self.0.dimension()
        }

        fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
            match role {
                TextRole::Query => self.0.embed(role, texts),
                TextRole::Passage => Err(ModelError::Failed("out of order".to_owned())),
            }
        }
    }

    fn failing() -> EmbedderHandle {
        EmbedderHandle::new(Box::new(Failing(ScriptedEmbedder::new(64))))
    }

    #[test]
    fn a_memo_whose_creation_is_queued_is_not_found_and_can_be_cancelled() {
        let (dir, gate) = (tempfile::tempdir().unwrap(), Arc::new(Barrier::new(2)));
        let slow = Slow { inner: ScriptedEmbedder::new(64), gate: Arc::clone(&gate) };
        let embedder = EmbedderHandle::new(Box::new(slow));
        let memos = open(dir.path(), &embedder);
        // Both have two parts to embed: the prompt and the sql.
        memos.add(memo("first", "<sql>one</sql>", "m1"), at(0.0)).unwrap();
        memos.add(memo("second", "<sql>two</sql>", "m2"), at(0.0)).unwrap();
        gate.wait();
        assert_eq!(memos.queued(), 2);
        assert_eq!(memos.list(None, 9).unwrap()[0].status, Status::Queued);
        // The first is being embedded while it is deleted.
        let message = Which::Message("m1".to_owned());
        let deleted = memos.delete(&message).unwrap();
        assert_eq!(deleted, Deleted { stored: vec![], queued: vec![1] });
        gate.wait();
        for _ in 0..3 {
            gate.wait();
            gate.wait();
        }
        settle(&memos);
        assert_eq!(ids(&memos, "first one", 9, Ranking::default(), at(0.0)), [2]);
        assert_eq!(memos.delete(&message).unwrap(), Deleted::default());
        let deleted = memos.delete(&Which::Id(2)).unwrap();
        assert_eq!(deleted, Deleted { stored: vec![2], queued: vec![] });
        assert!(memos.is_empty());
        drop(memos);
        assert!(open(dir.path(), &embedder).is_empty());
    }

    #[test]
    fn what_was_queued_when_the_process_ended_gets_its_vector_after_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        // While nothing can be embedded the memo stays queued.
        let memos = open(dir.path(), &failing());
        memos.add(memo("count users", "<sql>SELECT 1</sql>", "m"), at(0.0)).unwrap();
        drop(memos);
        let embedder = scripted();
        let memos = open(dir.path(), &embedder);
        settle(&memos);
        assert_eq!(ids(&memos, "users", 1, Ranking::default(), at(0.0)), [1]);
        drop(memos);
        let embedder = EmbedderHandle::new(Box::new(ScriptedEmbedder::named("other", 32)));
        let options = Options::at(dir.path().to_owned());
        Reindex::open(&options, &space(&embedder)).unwrap().finish().unwrap();
        let memos = open(dir.path(), &embedder);
        settle(&memos);
        assert_eq!(ids(&memos, "users", 1, Ranking::default(), at(0.0)), [1]);
    }

    #[test]
    fn a_full_queue_and_messages_with_nothing_to_keep_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let memos = open(dir.path(), &failing());
        let nothing = memos.add(memo("x", "just words", "m"), at(0.0)).unwrap_err();
        assert!(matches!(nothing, MemosError::NothingToKeep(_)), "{nothing}");
        for _ in 0..QUEUE_MAX {
            memos.add(memo("x", "<sql>1</sql>", "m"), at(0.0)).unwrap();
        }
        let full = memos.add(memo("x", "<sql>1</sql>", "m"), at(0.0)).unwrap_err();
        assert!(matches!(full, MemosError::QueueFull), "{full}");
        let deleted = memos.delete(&Which::Message("m".to_owned())).unwrap();
        assert_eq!(deleted.queued.len(), QUEUE_MAX);
        memos.add(memo("x", "<sql>1</sql>", "m"), at(0.0)).unwrap();
    }

    #[test]
    fn the_log_of_recalls_is_bounded() {
        let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
        let memos = open(dir.path(), &embedder);
        for n in 0..RECALLS_MAX + 3 {
            assert!(ids(&memos, &n.to_string(), 1, Ranking::default(), at(0.0)).is_empty());
        }
        let recalls = memos.recalls(usize::MAX).unwrap();
        assert_eq!(recalls.len() as u64, RECALLS_MAX);
        assert_eq!(recalls.last().unwrap().query, "3");
    }

    #[derive(Debug, Clone)]
    enum Call {
        Add(usize),
        Delete(u64),
        DeleteMessage(usize),
        Recall(usize),
        Restart,
    }

    const WORDS: [&str; 4] = ["users", "runs", "orders", "samples"];

    fn calls() -> impl Strategy<Value = Vec<Call>> {
        let word = || 0..WORDS.len();
        let call = prop_oneof![
            4 => word().prop_map(Call::Add),
            1 => (1..9_u64).prop_map(Call::Delete),
            1 => word().prop_map(Call::DeleteMessage),
            2 => word().prop_map(Call::Recall),
            1 => Just(Call::Restart),
        ];
        prop::collection::vec(call, 1..20)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

        #[test]
        fn the_memos_are_what_a_map_would_be(calls in calls()) {
            let (dir, embedder) = (tempfile::tempdir().unwrap(), scripted());
            let mut memos = open(dir.path(), &embedder);
            let mut model: BTreeMap<u64, (usize, u64)> = BTreeMap::new();
            let mut last = 0;
            for call in calls {
                match call {
                    Call::Add(word) => {
                        let message = format!("<sql>SELECT {}</sql>", WORDS[word]);
                        let id = memos.add(memo(WORDS[word], &message, WORDS[word]), at(0.0)).unwrap();
                        last += 1;
                        assert_eq!(id, last);
                        model.insert(id, (word, 0));
                    }
                    Call::Delete(id) => {
                        let Deleted { stored, queued } = memos.delete(&Which::Id(id)).unwrap();
                        assert_eq!(stored.len() + queued.len(), usize::from(model.remove(&id).is_some()));
                    }
                    Call::DeleteMessage(word) => {
                        let which = Which::Message(WORDS[word].to_owned());
                        let Deleted { stored, queued } = memos.delete(&which).unwrap();
                        let before = model.len();
                        model.retain(|_, (it, _)| *it != word);
                        assert_eq!(stored.len() + queued.len(), before - model.len());
                    }
                    Call::Recall(word) => {
                        settle(&memos);
                        let found = ids(&memos, WORDS[word], 1, Ranking::default(), at(0.0));
                        let best = model.iter().find(|(_, (it, _))| *it == word);
                        if let Some((id, _)) = best {
                            assert_eq!(found, [*id]);
                        }
                        assert_eq!(found.len(), usize::from(!model.is_empty()));
                        for id in found {
                            model.get_mut(&id).unwrap().1 += 1;
                        }
                    }
                    Call::Restart => {
                        drop(memos);
                        memos = open(dir.path(), &embedder);
                    }
                }
                let listed: BTreeMap<u64, (usize, u64)> = memos
                    .list(None, 99)
                    .unwrap()
                    .into_iter()
                    .map(|Listed { memo, uses, .. }| {
                        let word = WORDS.iter().position(|it| *it == memo.user_message).unwrap();
                        (memo.id, (word, uses.uses))
                    })
                    .collect();
                assert_eq!(listed, model);
            }
        }
    }
}
