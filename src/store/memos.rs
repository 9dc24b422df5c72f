//! Memos on disk: the blocks with their vectors, how often each was used, and
//! which memo answered which recall.

use bincode::{Decode, Encode};

use crate::base::embedding::Embedding;
use crate::base::time::Timestamp;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::keys;
use crate::store::records::{self, Fault};
use crate::store::sealed_database::SealedDatabase;

/// A message that a user rated up, as a block for later prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memo {
    /// From 1, never used twice.
    pub id: u64,
    /// The `<memo>` block.
    pub content: String,
    pub created_at: Timestamp,
    pub source: String,
    /// The prompt that the message answered.
    pub user_message: String,
    pub message_ids: Vec<String>,
}

/// How often a memo answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoUse {
    pub uses: u64,
    pub used_at: Option<Timestamp>,
}

/// Which memos answered a recall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRecall {
    pub number: u64,
    pub query: String,
    /// Best first.
    pub memos: Vec<u64>,
    pub at: Timestamp,
}

/// Numbers of the next memo and the next recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoCounters {
    pub next_memo: u64,
    pub next_recall: u64,
}

/// Under [`keys::memo`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct MemoOnDisk {
    content: String,
    created_at: i64,
    source: String,
    user_message: String,
    message_ids: Vec<String>,
    /// Of the vector; see [`keys::vector`].
    generation: u32,
    vector: Option<Vec<f32>>,
}

/// Under [`keys::memo_use`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct MemoUseOnDisk {
    uses: u64,
    used_at: Option<i64>,
}

/// Under [`keys::memo_recall`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct MemoRecallOnDisk {
    query: String,
    memos: Vec<u64>,
    at: i64,
}

/// Under [`keys::MEMO_COUNTERS`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct MemoCountersOnDisk {
    next_memo: u64,
    next_recall: u64,
}

impl Store {
    /// 1 and 1 in a store that never held a memo.
    pub fn memo_counters(&self) -> Result<MemoCounters, StoreError> {
        let on_disk = self.0.db.read::<MemoCountersOnDisk>(keys::MEMO_COUNTERS)?;
        Ok(on_disk.map_or(
            MemoCounters { next_memo: 1, next_recall: 1 },
            |MemoCountersOnDisk { next_memo, next_recall }| MemoCounters { next_memo, next_recall },
        ))
    }

    /// Every memo with its vector, in the order of ids; no vector where none was
    /// made yet, or another embedder made it.
    ///
    /// An item that [concerns one value](StoreError::concerns_one_value) is a memo
    /// that cannot be read; any other error is the last item.
    pub fn memos(
        &self,
    ) -> impl Iterator<Item = Result<(Memo, Option<Embedding>), StoreError>> + '_ {
        self.0.db.entries(keys::MEMOS).map(|entry| {
            let (key, sealed) = entry?;
            records::decode::<MemoOnDisk>(&key, &sealed)
                .and_then(|mut on_disk| {
                    let id = keys::number(&key).ok_or(Fault::Missing)?;
                    let raw: Vec<Vec<f32>> = on_disk.vector.take().into_iter().collect();
                    let vector = self.vectors(on_disk.generation, raw)?.pop();
                    Ok((on_disk.into_memo(id)?, vector))
                })
                .map_err(|fault| StoreError::damaged(&key, &fault))
        })
    }

    /// The memo of this id; `None` where there is none.
    pub fn memo(&self, id: u64) -> Result<Option<Memo>, StoreError> {
        let key = keys::memo(id);
        let Some(on_disk) = self.0.db.read::<MemoOnDisk>(&key)? else { return Ok(None) };
        on_disk.into_memo(id).map(Some).map_err(|fault| StoreError::damaged(&key, &fault))
    }

    /// Keeps a memo in the place of the one that has its id, and the numbers that
    /// come next. Durable when it returns.
    pub fn put_memo(
        &self,
        memo: &Memo,
        vector: Option<&Embedding>,
        counters: MemoCounters,
    ) -> Result<(), StoreError> {
        let Memo { id, content, created_at, source, user_message, message_ids } = memo;
        let raw = self.raw(vector.map(std::slice::from_ref).unwrap_or_default())?;
        let on_disk = MemoOnDisk {
            content: content.clone(),
            created_at: created_at.micros(),
            source: source.clone(),
            user_message: user_message.clone(),
            message_ids: message_ids.clone(),
            generation: self.0.generation,
            vector: raw.into_iter().next(),
        };
        let key = keys::memo(*id);
        self.change(|_state, change| {
            change.batch.insert(key.as_slice(), records::encode(&key, &on_disk));
            change.batch.insert(keys::MEMO_COUNTERS, seal(counters));
            Ok(())
        })
    }

    /// Removes memos, what is known of their use, and the recalls that they answered, with
    /// their queries. Durable when it returns.
    pub fn remove_memos(&self, ids: &[u64]) -> Result<(), StoreError> {
        self.change(|_state, change| {
            for entry in self.0.db.entries(keys::MEMO_RECALLS) {
                let (key, sealed) = entry?;
                let recall = records::decode::<MemoRecallOnDisk>(&key, &sealed);
                if recall.map_or(true, |it| it.memos.iter().any(|id| ids.contains(id))) {
                    change.batch.remove(key);
                }
            }
            for id in ids {
                change.batch.remove(keys::memo(*id));
                change.batch.remove(keys::memo_use(*id));
            }
            Ok(())
        })
    }

    /// How often a memo answered; never where that is not known.
    pub fn memo_use(&self, id: u64) -> Result<MemoUse, StoreError> {
        let key = keys::memo_use(id);
        let Some(on_disk) = self.0.db.read::<MemoUseOnDisk>(&key)? else {
            return Ok(MemoUse::default());
        };
        let MemoUseOnDisk { uses, used_at } = on_disk;
        let used_at = used_at.map(records::timestamp).transpose();
        let used_at = used_at.map_err(|fault| StoreError::damaged(&key, &fault))?;
        Ok(MemoUse { uses, used_at })
    }

    /// Notes which memos answered a recall, each one's use from now on, and the
    /// numbers that come next; forgets the recall with the number `forgotten`.
    /// Durable when it returns.
    pub fn put_memo_recall(
        &self,
        recall: &RecordedRecall,
        used: &[(u64, MemoUse)],
        forgotten: Option<u64>,
        counters: MemoCounters,
    ) -> Result<(), StoreError> {
        let RecordedRecall { number, query, memos, at } = recall;
        let on_disk =
            MemoRecallOnDisk { query: query.clone(), memos: memos.clone(), at: at.micros() };
        let key = keys::memo_recall(*number);
        self.change(|_state, change| {
            change.batch.insert(key.as_slice(), records::encode(&key, &on_disk));
            for (id, MemoUse { uses, used_at }) in used {
                let key = keys::memo_use(*id);
                let used_at = used_at.map(Timestamp::micros);
                let on_disk = MemoUseOnDisk { uses: *uses, used_at };
                change.batch.insert(key.as_slice(), records::encode(&key, &on_disk));
            }
            if let Some(number) = forgotten {
                change.batch.remove(keys::memo_recall(number));
            }
            change.batch.insert(keys::MEMO_COUNTERS, seal(counters));
            Ok(())
        })
    }

    /// The newest recalls, newest first. A damaged one is left out.
    pub fn memo_recalls(&self, limit: usize) -> Result<Vec<RecordedRecall>, StoreError> {
        let mut recalls = Vec::new();
        for entry in self.0.db.entries(keys::MEMO_RECALLS).rev().take(limit) {
            let (key, sealed) = entry?;
            let recall = records::decode::<MemoRecallOnDisk>(&key, &sealed).and_then(|on_disk| {
                let MemoRecallOnDisk { query, memos, at } = on_disk;
                let number = keys::number(&key).ok_or(Fault::Missing)?;
                Ok(RecordedRecall { number, query, memos, at: records::timestamp(at)? })
            });
            match recall {
                Ok(recall) => recalls.push(recall),
                Err(fault) => {
                    let error = StoreError::damaged(&key, &fault);
                    log::error!(error:%; "a recall of a memo cannot be read and is left out");
                }
            }
        }
        Ok(recalls)
    }
}

/// The counters of a database that holds memos and recalls up to these numbers, where those in
/// it are behind.
pub(super) fn counters_beyond(
    db: &SealedDatabase,
    last_memo: u64,
    last_recall: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    let held = db.read::<MemoCountersOnDisk>(keys::MEMO_COUNTERS)?;
    let held = held.unwrap_or(MemoCountersOnDisk { next_memo: 1, next_recall: 1 });
    let counters = MemoCounters {
        next_memo: held.next_memo.max(last_memo.saturating_add(1)),
        next_recall: held.next_recall.max(last_recall.saturating_add(1)),
    };
    let is_behind =
        (counters.next_memo, counters.next_recall) != (held.next_memo, held.next_recall);
    Ok(is_behind.then(|| seal(counters)))
}

fn seal(counters: MemoCounters) -> Vec<u8> {
    let MemoCounters { next_memo, next_recall } = counters;
    records::encode(keys::MEMO_COUNTERS, &MemoCountersOnDisk { next_memo, next_recall })
}

impl MemoOnDisk {
    fn into_memo(self, id: u64) -> Result<Memo, Fault> {
        let Self {
            content,
            created_at,
            source,
            user_message,
            message_ids,
            generation: _,
            vector: _,
        } = self;
        let created_at = records::timestamp(created_at)?;
        Ok(Memo { id, content, created_at, source, user_message, message_ids })
    }
}
