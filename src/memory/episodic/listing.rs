//! Records in order, page by page and counted by time, without a description of what is wanted.

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::base::time::Timestamp;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::search::Filter;
use crate::search::listing::{BucketCount, ListOrder, ListPosition, OriginCount};
use crate::store::Record;

/// Some records of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub records: Vec<Record>,
    /// Where the next page goes on: after the last record of this one, or after what was asked
    /// where this one is empty.
    pub end: Option<ListPosition>,
    /// Whether more follow by now.
    pub has_more: bool,
}

impl Episodic {
    /// The first `limit` records within a filter that come after a position, in an order.
    pub fn list(
        &self,
        filter: &Filter,
        order: ListOrder,
        after: Option<ListPosition>,
        limit: usize,
    ) -> Result<Page, MemoryError> {
        let mut found = self.corpus.list(filter, order, after, limit.saturating_add(1));
        let has_more = found.len() > limit;
        found.truncate(limit);
        let ids: Vec<RecordId> = found.iter().map(|it| it.id).collect();
        // One that was forgotten since is left out.
        let records = self.store.records(&ids)?;
        Ok(Page { records, end: found.last().copied().or(after), has_more })
    }

    /// The vector of a record; `None` where it is there no more.
    pub fn vector(&self, id: RecordId) -> Result<Option<Embedding>, MemoryError> {
        let found = self.store.scan_between(id, id).next().transpose()?;
        Ok(found.map(|(_record, vector)| vector))
    }

    /// Where a record stands in every list; `None` where it is there no more.
    pub fn list_position(&self, id: RecordId) -> Option<ListPosition> {
        self.corpus.list_position(id)
    }

    /// The newest ids that begin with these digits, newest first.
    pub fn newest_ids_like(&self, digits: &str, limit: usize) -> Vec<RecordId> {
        let filter = Filter::default();
        let mut found = Vec::new();
        for (first, end) in ids_like(digits).into_iter().rev() {
            let after = Some(ListPosition::of_id(RecordId(end)));
            let room = limit.saturating_sub(found.len());
            let listed = self.corpus.list(&filter, ListOrder::LastRecorded, after, room);
            found.extend(listed.into_iter().map(|it| it.id).filter(|id| id.0 >= first));
        }
        found
    }

    /// Counts the records within a filter by time, one bucket from each edge up to the next.
    pub fn count_by_time(&self, filter: &Filter, edges: &[Timestamp]) -> Vec<BucketCount> {
        self.corpus.count_by_time(filter, edges)
    }

    /// First and last moment of the records within a filter.
    pub fn span_within(&self, filter: &Filter) -> Option<(Timestamp, Timestamp)> {
        self.corpus.span_within(filter)
    }

    /// How many records each source made in each map, by name.
    pub fn origins(&self) -> Vec<OriginCount> {
        self.corpus.origins()
    }
}

/// Runs of the numbers whose decimal form begins with these digits, ascending, each up to
/// without its end.
fn ids_like(digits: &str) -> Vec<(u64, u64)> {
    if digits.is_empty() {
        return vec![(0, u64::MAX)];
    }
    let Some(number) = digits.parse::<u64>().ok().filter(|it| *it > 0) else { return Vec::new() };
    if digits.starts_with('0') {
        return Vec::new();
    }
    let runs = (0..20_u32).map_while(|more| {
        let width = 10_u64.checked_pow(more)?;
        Some((number.checked_mul(width)?, (number + 1).checked_mul(width)?))
    });
    runs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_begin_with_digits_lie_in_runs() {
        let is_like = |digits: &str, number: u64| {
            ids_like(digits).iter().any(|(first, end)| (*first..*end).contains(&number))
        };
        for digits in ["", "1", "9", "12", "120", "0", "012"] {
            for number in (1..2_000).chain([12_345, 120_000, 1_199_999]) {
                let expect = number.to_string().starts_with(digits);
                assert_eq!(is_like(digits, number), expect, "{digits:?} {number}");
            }
        }
    }
}
