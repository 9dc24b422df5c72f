//! Merge policy: tiers of neighbouring segments, as log-structured merge trees have
//! them.
//!
//! Pure: sees how large segments are and which time they span, not what is in them.
//! Holds, once nothing is left to merge: a segment has at least [`RATIO`] times the
//! rows of all newer ones that could still be merged into it, so that there are few
//! segments to search; and a row is rewritten only when its segment grows by half at
//! least, so that it is rewritten a few times in its life.

use std::ops::Range;
use std::time::Duration;

use crate::base::time::Timestamp;

/// A segment, as the policy sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentSize {
    /// Live rows.
    pub live: u32,
    /// Deleted rows that are still in it.
    pub deleted: u32,
    /// First and last moment of its rows.
    pub span: (Timestamp, Timestamp),
}

/// How large a segment may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeLimits {
    pub rows_max: u32,
    /// Time that one segment spans at most, where old ones are to be dropped whole.
    pub span_max: Option<Duration>,
    /// Rows up to which a segment may span any: of what came in no order of time there would
    /// else be ever more.
    pub spanning_rows_max: u32,
}

/// A segment is merged with newer ones that together have more than its rows
/// divided by this.
const RATIO: u64 = 2;
/// Neighbours to merge next, from the oldest to the newest segment; one alone is to be
/// rewritten without its deleted rows, whose words it would keep on disk. `None` when
/// nothing is due.
pub fn next(segments: &[SegmentSize], limits: &MergeLimits) -> Option<Range<usize>> {
    let ends = (1..=segments.len()).rev();
    let mut runs = ends.map(|end| run_before(segments, end, limits));
    runs.find(|run| run.len() > 1).or_else(|| {
        let holding = segments.iter().position(|it| it.deleted > 0)?;
        Some(holding..holding + 1)
    })
}

/// Longest run of segments before `end` in which each is small beside all newer ones of
/// the run.
fn run_before(segments: &[SegmentSize], end: usize, limits: &MergeLimits) -> Range<usize> {
    let older = segments.get(..end).unwrap_or_default();
    let Some(newest) = older.last() else { return end..end };
    let (mut rows, mut span) = (u64::from(newest.live), newest.span);
    let mut start = end - 1;
    for it in older.iter().rev().skip(1) {
        let live = u64::from(it.live);
        let together = (span.0.min(it.span.0), span.1.max(it.span.1));
        let is_large = rows + live > u64::from(limits.spanning_rows_max);
        let is_long =
            is_large && limits.span_max.is_some_and(|max| together.1.since(together.0) > max);
        if live >= rows * RATIO || rows + live > u64::from(limits.rows_max) || is_long {
            break;
        }
        (rows, span) = (rows + live, together);
        start -= 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, proptest};

    const LIMITS: MergeLimits =
        MergeLimits { rows_max: 1_000, span_max: None, spanning_rows_max: 0 };

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::from_secs(seconds))
    }

    fn sizes(live: &[u32]) -> Vec<SegmentSize> {
        let span = |place: u64| (at(place * 10), at(place * 10 + 9));
        (0..)
            .zip(live)
            .map(|(place, live)| SegmentSize { live: *live, deleted: 0, span: span(place) })
            .collect()
    }

    /// What a merge makes of the segments, and how many rows it writes.
    fn apply(segments: &mut Vec<SegmentSize>, run: Range<usize>) -> u64 {
        let merged: Vec<SegmentSize> = segments.drain(run.clone()).collect();
        let live = merged.iter().map(|it| it.live).sum();
        let first = merged.iter().map(|it| it.span.0).min().unwrap();
        let last = merged.iter().map(|it| it.span.1).max().unwrap();
        segments.insert(run.start, SegmentSize { live, deleted: 0, span: (first, last) });
        u64::from(live)
    }

    fn settle(segments: &mut Vec<SegmentSize>, limits: &MergeLimits) -> u64 {
        let mut written = 0;
        for _ in 0..=segments.len() * 2 {
            let Some(run) = next(segments, limits) else { return written };
            written += apply(segments, run);
        }
        panic!("does not come to an end: {segments:?}");
    }

    #[test]
    fn small_neighbours_become_one_and_large_ones_stay() {
        assert_eq!(next(&[], &LIMITS), None);
        assert_eq!(next(&sizes(&[8]), &LIMITS), None);
        assert_eq!(next(&sizes(&[8, 8]), &LIMITS), Some(0..2));
        assert_eq!(next(&sizes(&[16, 8]), &LIMITS), None);
        assert_eq!(next(&sizes(&[16, 8, 8]), &LIMITS), Some(0..3));
        assert_eq!(next(&sizes(&[64, 16, 8, 8]), &LIMITS), Some(1..4));
        assert_eq!(next(&sizes(&[8, 8, 64, 16]), &LIMITS), Some(0..3), "small ones left behind");
        assert_eq!(next(&sizes(&[700, 400]), &LIMITS), None, "beyond the largest");
    }

    #[test]
    fn a_segment_spans_no_more_time_than_it_may() {
        let limits = MergeLimits { span_max: Some(Duration::from_secs(25)), ..LIMITS };
        assert_eq!(next(&sizes(&[8, 8, 8, 8]), &limits), Some(2..4));
        let mut segments = sizes(&[8; 9]);
        settle(&mut segments, &limits);
        let spans = segments.iter().map(|it| it.span.1.since(it.span.0).as_secs());
        assert!(spans.max() <= Some(25), "{segments:?}");
        // Few rows may lie apart.
        let limits = MergeLimits { spanning_rows_max: 24, ..limits };
        assert_eq!(next(&sizes(&[8, 8, 8, 8]), &limits), Some(1..4));
    }

    #[test]
    fn a_segment_with_a_forgotten_row_is_made_anew() {
        let mut segments = sizes(&[700, 60]);
        assert_eq!(next(&segments, &LIMITS), None);
        segments[1].deleted = 1;
        assert_eq!(next(&segments, &LIMITS), Some(1..2));
        segments[0] = SegmentSize { live: 0, deleted: 1, ..segments[0] };
        segments[1].live = 0;
        assert_eq!(next(&segments[..1], &LIMITS), Some(0..1));
    }

    proptest! {
        #[test]
        fn merging_ends_with_few_segments_each_within_its_limits(
            live in prop::collection::vec(0_u32..1_500, 0..40),
            deleted in prop::collection::vec(0_u32..500, 40),
            span_max in prop::option::of(0_u64..200),
        ) {
            let limits = MergeLimits { span_max: span_max.map(Duration::from_secs), ..LIMITS };
            let mut segments = sizes(&live);
            for (segment, deleted) in segments.iter_mut().zip(&deleted) {
                segment.deleted = *deleted;
            }
            while let Some(run) = next(&segments, &limits) {
                assert!(run.start < run.end && run.end <= segments.len(), "{run:?}");
                if run.len() > 1 {
                    let merged = &segments[run.clone()];
                    let rows: u32 = merged.iter().map(|it| it.live).sum();
                    let span = merged[merged.len() - 1].span.1.since(merged[0].span.0);
                    assert!(rows <= limits.rows_max);
                    assert!(limits.span_max.is_none_or(|max| span <= max));
                }
                let before = segments.len() + segments.iter().filter(|it| it.deleted > 0).count();
                apply(&mut segments, run);
                let after = segments.len() + segments.iter().filter(|it| it.deleted > 0).count();
                assert!(after < before, "nothing gained");
            }
            let all = |it: &[SegmentSize]| it.iter().map(|it| u64::from(it.live)).sum::<u64>();
            assert_eq!(all(&segments), live.iter().map(|it| u64::from(*it)).sum::<u64>());
        }

        /// As a robot's memory grows: sealed tails of one size, merged as they come.
        #[test]
        fn the_work_and_the_number_of_segments_stay_bounded(tails in 1_u32..600, rows in 1_u32..20) {
            let limits = MergeLimits { rows_max: rows * 64, ..LIMITS };
            let (mut segments, mut written) = (Vec::new(), 0);
            for place in 0..u64::from(tails) {
                segments.push(SegmentSize { live: rows, deleted: 0, span: (at(place), at(place)) });
                written += u64::from(rows) + settle(&mut segments, &limits);
                let large = segments.iter().filter(|it| it.live * 2 > limits.rows_max).count();
                assert!(large as u64 <= 2 * (place / 64 + 1));
                assert!(segments.len() - large <= 6, "{segments:?}");
            }
            // log 64 to the base of 1.5, and the sealing itself.
            assert!(written <= u64::from(tails) * u64::from(rows) * 12, "{written}");
        }
    }
}
