//! Decides how widely to look, from counts alone.
//!
//! Pure.

/// Candidates by vector and by words, at least.
const CANDIDATES_MIN: usize = 64;
/// Candidates for each record asked for: the two rankings differ, and what is
/// best by their sum may stand first in neither.
const CANDIDATES_A_HIT: usize = 4;

/// How a search goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    /// Records to return.
    pub(super) hits: usize,
    /// Rows to take from each ranking before they are scored in full.
    pub(super) candidates: usize,
}

/// The plan for `k` records of a corpus of `held`; `None` where there can be none.
pub(super) fn plan(k: usize, held: usize) -> Option<Plan> {
    let hits = k.min(held);
    let candidates = hits.saturating_mul(CANDIDATES_A_HIT).max(CANDIDATES_MIN).min(held);
    (hits > 0).then_some(Plan { hits, candidates })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widens_with_what_is_asked_for() {
        assert_eq!(plan(8, 10_000), Some(Plan { hits: 8, candidates: 64 }));
        assert_eq!(plan(50, 10_000), Some(Plan { hits: 50, candidates: 200 }));
    }

    #[test]
    fn asks_for_no_more_than_there_is() {
        assert_eq!(plan(8, 5), Some(Plan { hits: 5, candidates: 5 }));
        assert_eq!(plan(usize::MAX, 70), Some(Plan { hits: 70, candidates: 70 }));
    }

    #[test]
    fn nothing_asked_or_nothing_there_is_no_search() {
        assert_eq!(plan(0, 10), None);
        assert_eq!(plan(10, 0), None);
    }
}
