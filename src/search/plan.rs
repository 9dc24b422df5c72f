//! Query plan: number of candidates, and the strategy in each segment, from counts
//! alone.
//!
//! Pure.

use crate::index::strategy::{Strategy, strategy};

/// Candidates by vector and by words, at least.
const CANDIDATES_MIN: usize = 64;
/// Candidates for each record asked for: the two rankings differ, and what is
/// best by their sum may stand first in neither.
const CANDIDATES_A_HIT: usize = 4;
/// Sizes of one search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueryPlan {
    /// Records to return.
    pub(super) hits: usize,
    /// Candidates of each ranking.
    pub(super) candidates: usize,
}

/// Plan for `k` hits among `held` records; `None` where there can be none.
pub(super) fn plan(k: usize, held: usize) -> Option<QueryPlan> {
    let hits = k.min(held);
    let candidates = hits.saturating_mul(CANDIDATES_A_HIT).max(CANDIDATES_MIN).min(held);
    (hits > 0).then_some(QueryPlan { hits, candidates })
}

/// Strategy for the vectors of one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentAction {
    /// None of its rows is within the filter.
    Skip,
    /// Exact scan of the rows within the filter.
    Scan,
    /// Graph search with `ef` candidates within the filter.
    Graph { ef: usize },
}

/// Action for the top `k` of a sealed segment of `rows`, of which `selected` are within
/// the filter.
pub(super) fn action(rows: usize, selected: usize, k: usize) -> SegmentAction {
    match strategy(rows, selected, k) {
        _ if selected == 0 => SegmentAction::Skip,
        Strategy::Scan => SegmentAction::Scan,
        Strategy::Graph { ef } => SegmentAction::Graph { ef },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_grow_with_k() {
        assert_eq!(plan(8, 10_000), Some(QueryPlan { hits: 8, candidates: 64 }));
        assert_eq!(plan(50, 10_000), Some(QueryPlan { hits: 50, candidates: 200 }));
    }

    #[test]
    fn candidates_are_bounded_by_the_records() {
        assert_eq!(plan(8, 5), Some(QueryPlan { hits: 5, candidates: 5 }));
        assert_eq!(plan(usize::MAX, 70), Some(QueryPlan { hits: 70, candidates: 70 }));
    }

    #[test]
    fn no_k_or_no_records_is_no_search() {
        assert_eq!(plan(0, 10), None);
        assert_eq!(plan(10, 0), None);
    }

    #[test]
    fn an_action_follows_the_selected_rows() {
        assert_eq!(action(100_000, 0, 8), SegmentAction::Skip);
        assert_eq!(action(100_000, 100, 8), SegmentAction::Scan);
        assert!(matches!(action(100_000, 100_000, 8), SegmentAction::Graph { ef } if ef >= 8));
    }
}
