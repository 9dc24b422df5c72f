//! Sections of a timeline: records that were seen about the same time, few enough to be
//! fetched at once. Pure.

use chrono::Datelike as _;

use crate::base::time::{Timestamp, Zone};
use crate::page::memory::Bucket;
use crate::page::views::density::Span;

/// Records of a section, unless a single bucket has more.
pub(super) const RECORDS_MAX: usize = 120;
/// Nothing seen for such a share of the whole parts two sections.
const GAP_SHARE: f64 = 0.03;
/// Up to so many days of a whole, each has sections of its own; beyond it each month.
const DAYS_APART_MAX: f64 = 62.0;

/// Records of a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Section {
    pub(super) span: Span,
    pub(super) count: usize,
    /// Seconds after it in which nothing was seen, where they are many.
    pub(super) gap_after: Option<f64>,
}

/// Sections, newest first, of buckets in the order of time.
pub(super) fn of(buckets: &[Bucket], whole: Span, zone: Zone) -> Vec<Section> {
    let gap_min = whole.seconds() * GAP_SHARE;
    let mut sections: Vec<Section> = Vec::new();
    for bucket in buckets.iter().filter(|it| it.count > 0) {
        let gap = sections.last().map_or(0.0, |last| bucket.start - last.span.to);
        match sections.last_mut() {
            Some(last)
                if last.count + bucket.count <= RECORDS_MAX
                    && gap < gap_min
                    && are_one_day(last.span.from, bucket.start, whole, zone) =>
            {
                last.span.to = bucket.end;
                last.count += bucket.count;
            }
            last => {
                if let Some(last) = last {
                    last.gap_after = (gap >= gap_min).then_some(gap);
                }
                let span = Span { from: bucket.start, to: bucket.end };
                sections.push(Section { span, count: bucket.count, gap_after: None });
            }
        }
    }
    sections.reverse();
    sections
}

fn are_one_day(a: f64, b: f64, whole: Span, zone: Zone) -> bool {
    let day = |it: f64| zone.day(Timestamp::from_seconds(it).unwrap_or(Timestamp::EPOCH));
    let (a, b) = (day(a), day(b));
    if whole.seconds() <= DAYS_APART_MAX * 86_400.0 {
        a == b
    } else {
        (a.year(), a.month()) == (b.year(), b.month())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn utc() -> Zone {
        Zone::from_name("UTC").unwrap()
    }

    fn bucket(start: u32, count: usize) -> Bucket {
        let start = f64::from(start);
        Bucket { start, end: start + 60.0, count }
    }

    #[test]
    fn sections_part_where_nothing_was_seen_and_at_midnight() {
        let whole = Span { from: 0.0, to: 2.0 * 86_400.0 };
        let buckets = [
            bucket(0, 10),
            bucket(60, 20),
            bucket(40_000, 5),
            bucket(86_340, 7),
            bucket(86_400, 1),
        ];
        let found = of(&buckets, whole, utc());
        let told: Vec<(f64, usize, bool)> =
            found.iter().map(|it| (it.span.from, it.count, it.gap_after.is_some())).collect();
        let expect =
            [(86_400.0, 1, false), (86_340.0, 7, false), (40_000.0, 5, true), (0.0, 30, true)];
        assert_eq!(told, expect);
    }

    proptest! {
        #[test]
        fn every_record_is_in_one_section(counts in proptest::collection::vec(0..400_usize, 1..60)) {
            let buckets: Vec<Bucket> =
                counts.iter().zip(0..).map(|(count, at)| bucket(at * 60, *count)).collect();
            let whole = Span { from: 0.0, to: 3_600.0 };
            let sections = of(&buckets, whole, utc());
            let total: usize = sections.iter().map(|it| it.count).sum();
            prop_assert_eq!(total, counts.iter().sum::<usize>());
            let is_newest_first = sections.is_sorted_by(|a, b| a.span.from >= b.span.to);
            prop_assert!(is_newest_first);
        }
    }
}
