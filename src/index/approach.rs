//! Decides whether to walk a graph or to compare all, from counts alone.
//!
//! Pure.

/// How a segment's rows are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// Every allowed row is compared.
    Scan,
    /// The graph is walked, keeping the best `ef` allowed rows in view.
    Walk { ef: usize },
}

/// Rows that are found by comparing all as fast as by a walk, where none is left out.
pub const SCAN_ROWS: usize = 2_000;
/// What a walk among few allowed rows of many costs, in rows compared.
pub const SCAN_ALLOWED: usize = 8_000;
/// Places kept in view at least.
pub const EF_MIN: usize = 64;
/// Places kept in view for each row asked for.
pub const EF_A_ROW: usize = 2;

/// How to find the best `k` of the `allowed` among a segment's `rows`.
pub fn approach(rows: usize, allowed: usize, k: usize) -> Approach {
    let ef = k.saturating_mul(EF_A_ROW).max(EF_MIN);
    let scanned = if allowed < rows { SCAN_ALLOWED } else { SCAN_ROWS };
    // A walk that sees most of what there is costs more than comparing it in order.
    if allowed <= scanned || ef.saturating_mul(EF_SHARE) >= allowed {
        Approach::Scan
    } else {
        Approach::Walk { ef }
    }
}

/// A walk scores about this many rows for each place in view.
const EF_SHARE: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_compared_one_by_one() {
        assert_eq!(approach(1_000, 1_000, 10), Approach::Scan);
        assert_eq!(approach(100_000, 100, 10), Approach::Scan);
        assert_eq!(approach(0, 0, 10), Approach::Scan);
    }

    #[test]
    fn many_rows_are_walked_among() {
        assert_eq!(approach(100_000, 100_000, 10), Approach::Walk { ef: EF_MIN });
        assert_eq!(approach(100_000, 50_000, 10), Approach::Walk { ef: EF_MIN });
    }

    #[test]
    fn who_asks_for_many_gets_a_wider_walk_and_in_the_end_a_scan() {
        assert_eq!(approach(100_000, 100_000, 100), Approach::Walk { ef: 200 });
        assert_eq!(approach(100_000, 100_000, 50_000), Approach::Scan);
        assert_eq!(approach(100_000, 100_000, usize::MAX), Approach::Scan);
    }
}
