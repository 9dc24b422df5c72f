//! Memos that another memory made.

use crate::memory::memos::{IndexedMemo, MEMOS_MAX, Memos, MemosError, checksum};
use crate::store::memos::{Memo, MemoCounters};

impl Memos {
    /// Keeps a memo as it was made, under the next id, and queues it for its vector; `None`
    /// where there is one of the same message.
    pub fn import(&self, memo: Memo) -> Result<Option<u64>, MemosError> {
        let mut counters = self.index.lock_counters();
        if self.find_known(&memo.user_message, &memo.content, &memo.message_ids)?.is_some() {
            return Ok(None);
        }
        if self.len() >= MEMOS_MAX {
            return Err(MemosError::Full);
        }
        let id = counters.next_memo;
        let next = MemoCounters { next_memo: id + 1, ..*counters };
        let memo = Memo { id, ..memo };
        self.index.store.put_memo(&memo, None, next)?;
        *counters = next;
        let entry = IndexedMemo::without_vector(&memo, checksum(&memo.content));
        self.index.write(|entries| entries.insert(id, entry));
        self.index.wake.notify();
        Ok(Some(id))
    }
}
