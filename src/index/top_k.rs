//! Top-k selection in bounded memory: a binary heap.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::index::Row;

/// A row with its score; the greater, the better.
#[derive(Debug, Clone, Copy)]
pub struct Scored {
    pub row: Row,
    pub score: f32,
}

impl Ord for Scored {
    /// By score, then the earlier row is the greater one.
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.row.cmp(&self.row))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scored {}

/// Heap of the greatest `limit` of what it is offered.
#[derive(Debug)]
pub struct TopK {
    limit: usize,
    least_first: BinaryHeap<Reverse<Scored>>,
    /// Score below which an offer cannot be kept.
    bar: f32,
}

/// Room made in advance: a caller's limit may be far beyond what there is to keep.
const CAPACITY_MAX: usize = 1_024;

impl TopK {
    pub fn new(limit: usize) -> Self {
        let least_first = BinaryHeap::with_capacity(limit.min(CAPACITY_MAX));
        Self { limit, least_first, bar: f32::NEG_INFINITY }
    }

    /// A score that is no number is never kept.
    #[inline]
    pub fn offer(&mut self, row: Row, score: f32) {
        // False for NaN as well.
        if score >= self.bar {
            self.keep(Scored { row, score });
        }
    }

    /// The score that is needed to be kept: the least one kept, once there are
    /// `limit` of them.
    pub fn bar(&self) -> f32 {
        self.bar
    }

    /// Best first.
    pub fn into_sorted(self) -> Vec<Scored> {
        self.least_first.into_sorted_vec().into_iter().map(|Reverse(scored)| scored).collect()
    }

    fn keep(&mut self, scored: Scored) {
        if self.least_first.len() < self.limit {
            self.least_first.push(Reverse(scored));
        } else if let Some(mut least) = self.least_first.peek_mut()
            && scored > least.0
        {
            *least = Reverse(scored);
        }
        if self.least_first.len() == self.limit {
            self.bar = self.least_first.peek().map_or(f32::INFINITY, |least| least.0.score);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, proptest};

    proptest! {
        /// Few distinct scores, so that ties are common.
        #[test]
        fn top_k_is_a_truncated_sort(scores in prop::collection::vec(0_u8..5, 0..60), limit in 0_usize..70) {
            let mut all: Vec<(Reverse<u8>, u32)> =
                (0..).zip(&scores).map(|(row, score)| (Reverse(*score), row)).collect();
            let mut top = TopK::new(limit);
            for (Reverse(score), row) in &all {
                top.offer(Row(*row), f32::from(*score));
            }
            all.sort_unstable();
            all.truncate(limit);
            let rows: Vec<u32> = top.into_sorted().into_iter().map(|it| it.row.0).collect();
            assert_eq!(rows, all.into_iter().map(|(_, row)| row).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nan_is_never_kept() {
        let mut top = TopK::new(2);
        top.offer(Row(0), f32::NAN);
        top.offer(Row(1), f32::NEG_INFINITY);
        assert_eq!(top.into_sorted(), [Scored { row: Row(1), score: f32::NEG_INFINITY }]);
    }
}
