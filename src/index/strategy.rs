//! Search strategy of a segment: graph search or scan, from counts alone.
//!
//! Pure.

/// Strategy for one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Exact scan of the allowed rows.
    Scan,
    /// Graph search with `ef` candidates.
    Graph { ef: usize },
}

/// `ef` beyond the rows asked for: with 96 for 10 rows, recall@10 of 100,000 captions at
/// dimension 384 was .9915, with 64 .983.
pub const EF_EXTRA: usize = 86;
/// Least `ef` for each row asked for.
pub const EF_PER_ROW: usize = 2;
// What follows was measured in one run of `engram bench ann --windows --every-way` on
// 100,000 captions of dimension 384, `ef` 96, 10 rows asked for. Times are in those of a
// graph search without a filter:
//
// share allowed           50 %   33 %   25 %   20 %   15 %   10 %    5 %    1 %
// traversing the rest     1.7    2.5    2.8    3.8    4.7    6.9     16    160
// two-hop expansion       2.7    3.4    3.6    3.8    4.0    4.4    4.3    4.1
//   its recall@10         .994   .991   .994   .994   .993   .992   .982   .865
// scan                    7.2    4.6    4.3    3.4    2.4    1.7    1.0     .3

/// Rows scanned in the time that a graph search takes for each of its `ef`. At 10,000
/// and 100,000 rows 43 to 62.
pub const ROWS_PER_EF: usize = 50;
/// Where more than one row in so many is allowed, a graph search traverses the others as
/// well: it is faster then, and finds more. Otherwise it expands two hops, which takes
/// about as many times as long as a search without a filter.
pub const TWO_HOP_RATIO: usize = 5;
/// Where fewer than one row in so many is allowed, the graph among them comes apart, and
/// they are scanned, whatever that takes.
pub const SCAN_RATIO: usize = 10;

/// `ef` for the top `k` rows.
pub fn search_width(k: usize) -> usize {
    k.saturating_mul(EF_PER_ROW).max(k.saturating_add(EF_EXTRA))
}

/// Fastest strategy for the top `k` of the `allowed` among a segment's `rows`.
pub fn strategy(rows: usize, allowed: usize, k: usize) -> Strategy {
    let ef = search_width(k);
    // A traversal of all rows scores more the fewer are allowed.
    let more = rows.checked_div(allowed).unwrap_or(usize::MAX).clamp(1, TWO_HOP_RATIO);
    let walk = ef.saturating_mul(ROWS_PER_EF).saturating_mul(more);
    let is_lost = allowed.saturating_mul(SCAN_RATIO) < rows;
    if allowed <= walk || is_lost { Strategy::Scan } else { Strategy::Graph { ef } }
}

/// Whether a graph search expands two hops over rows that are not allowed, rather than
/// traversing them.
pub fn expands_two_hops(rows: usize, allowed: usize) -> bool {
    allowed.saturating_mul(TWO_HOP_RATIO) < rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_scanned() {
        assert_eq!(strategy(1_000, 1_000, 10), Strategy::Scan);
        assert_eq!(strategy(100_000, 100, 10), Strategy::Scan);
        assert_eq!(strategy(100_000, 10_000, 10), Strategy::Scan);
        assert_eq!(strategy(100_000, 20_000, 10), Strategy::Scan);
        assert_eq!(strategy(0, 0, 10), Strategy::Scan);
    }

    #[test]
    fn many_rows_are_searched_by_graph() {
        assert_eq!(strategy(100_000, 100_000, 10), Strategy::Graph { ef: 96 });
        assert_eq!(strategy(100_000, 50_000, 10), Strategy::Graph { ef: 96 });
        assert_eq!(strategy(100_000, 25_000, 10), Strategy::Graph { ef: 96 });
        assert_eq!(strategy(1_000_000, 100_000, 10), Strategy::Graph { ef: 96 });
    }

    #[test]
    fn rare_rows_are_scanned_whatever_their_number() {
        assert_eq!(strategy(1_000_000, 99_000, 10), Strategy::Scan);
        assert_eq!(strategy(262_144, 26_000, 10), Strategy::Scan);
        assert_eq!(strategy(262_144, 27_000, 10), Strategy::Graph { ef: 96 });
    }

    #[test]
    fn ef_grows_with_k_until_a_scan_is_cheaper() {
        assert_eq!(strategy(100_000, 100_000, 100), Strategy::Graph { ef: 200 });
        assert_eq!(strategy(100_000, 100_000, 50_000), Strategy::Scan);
        assert_eq!(strategy(100_000, 100_000, usize::MAX), Strategy::Scan);
    }

    #[test]
    fn two_hops_are_expanded_where_few_rows_are_allowed() {
        assert!(!expands_two_hops(100_000, 50_000) && !expands_two_hops(9, 3));
        assert!(
            !expands_two_hops(100_000, 20_000)
                && expands_two_hops(200_000, 30_000)
                && expands_two_hops(9, 0)
        );
    }
}
