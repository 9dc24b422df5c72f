//! Decides whether to walk a graph or to compare all, from counts alone.
//!
//! Pure.

/// How a segment's rows are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// Every allowed row is compared.
    Scan,
    /// The graph is walked, keeping the best `ef` rows in view; all are allowed.
    Walk { ef: usize },
    /// The graph is walked until `ef` allowed rows are in view and nothing better is left;
    /// the rows that are not allowed are compared as well.
    WalkThrough { ef: usize },
    /// The graph is walked, keeping the best `ef` allowed rows in view; what is not allowed
    /// is stepped over.
    WalkAmong { ef: usize },
}

/// Places kept in view at least.
pub const EF_MIN: usize = 48;
/// Places kept in view for each row asked for.
pub const EF_A_ROW: usize = 4;
/// Rows that are compared one after the other in the time that a walk takes for each
/// place it keeps in view.
pub const ROWS_A_PLACE: usize = 100;
/// How many times as long a step takes that steps over rows that are not allowed. Where
/// more than one in so many is allowed, comparing the others too is faster.
pub const STEPPING_OVER: usize = 3;

/// How to find the best `k` of the `allowed` among a segment's `rows` the fastest.
pub fn approach(rows: usize, allowed: usize, k: usize) -> Approach {
    let ef = k.saturating_mul(EF_A_ROW).max(EF_MIN);
    // A walk through all of them scores as many more as fewer are allowed.
    let through = rows.checked_div(allowed).unwrap_or(usize::MAX);
    let walk = ef.saturating_mul(ROWS_A_PLACE).saturating_mul(through.min(STEPPING_OVER));
    if allowed <= walk {
        Approach::Scan
    } else if allowed >= rows {
        Approach::Walk { ef }
    } else if through < STEPPING_OVER {
        Approach::WalkThrough { ef }
    } else {
        Approach::WalkAmong { ef }
    }
}

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
        let ef = EF_MIN;
        assert_eq!(approach(100_000, 100_000, 10), Approach::Walk { ef });
        assert_eq!(approach(100_000, 99_999, 10), Approach::WalkThrough { ef });
        assert_eq!(approach(100_000, 50_000, 10), Approach::WalkThrough { ef });
        assert_eq!(approach(1_000_000, 100_000, 10), Approach::WalkAmong { ef });
    }

    #[test]
    fn who_asks_for_many_gets_a_wider_walk_and_in_the_end_a_scan() {
        assert_eq!(approach(100_000, 100_000, 100), Approach::Walk { ef: 400 });
        assert_eq!(approach(100_000, 100_000, 50_000), Approach::Scan);
        assert_eq!(approach(100_000, 100_000, usize::MAX), Approach::Scan);
    }
}
