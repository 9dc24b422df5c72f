//! What two detectors found, as one list. Pure.

use serde::Deserialize;

use crate::model::detector::boxes::{ScoredBox, suppress_overlaps};

/// Boxes of one class of the two detectors that overlap at least so much are of one thing.
const SAME_THING_MIN: f32 = 0.3;

/// How much each detector's score counts for a thing that both could know.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fusion {
    /// Below 1, what the second one does not see becomes less sure.
    pub(super) first: f32,
    pub(super) second: f32,
}

impl Fusion {
    /// Both lists as one, the best first. A class that the second detector does not know keeps
    /// its scores.
    pub(super) fn join(
        self,
        first: Vec<ScoredBox>,
        second: &[ScoredBox],
        is_known: impl Fn(usize) -> bool,
    ) -> Vec<ScoredBox> {
        let is_same = |a: &ScoredBox, b: &ScoredBox| {
            a.class == b.class && a.place.overlap(b.place) >= SAME_THING_MIN
        };
        let alone = second.iter().filter(|it| !first.iter().any(|other| is_same(it, other)));
        let mut joined: Vec<ScoredBox> =
            alone.map(|it| ScoredBox { score: self.score(0.0, it.score), ..it.clone() }).collect();
        joined.extend(first.into_iter().map(|it| {
            let others = second.iter().filter(|other| is_same(&it, other));
            let other = others.map(|it| it.score).fold(0.0, f32::max);
            let score = if is_known(it.class) { self.score(it.score, other) } else { it.score };
            ScoredBox { score, ..it }
        }));
        joined.sort_by(|a, b| b.score.total_cmp(&a.score));
        suppress_overlaps(joined)
    }

    fn score(self, first: f32, second: f32) -> f32 {
        (self.first * first + self.second * second).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::base::detection::BoundingBox;

    fn found(class: usize, score: f32, left: f32) -> ScoredBox {
        let place = BoundingBox { left, top: 0.0, right: left + 0.2, bottom: 1.0 };
        ScoredBox { class, score, place }
    }

    #[test]
    fn a_thing_counts_by_both_scores_where_both_could_know_it() {
        let first = vec![found(0, 0.5, 0.0), found(0, 0.5, 0.5), found(1, 0.5, 0.0)];
        let second = [found(0, 0.5, 0.05), found(0, 0.2, 0.02), found(2, 0.5, 0.0)];
        let fusion = Fusion { first: 0.8, second: 0.4 };
        let joined = fusion.join(first, &second, |class| class != 1);
        let joined: Vec<String> = joined
            .iter()
            .map(|it| format!("{} {:.1} {:.2}", it.class, it.place.left, it.score))
            .collect();
        assert_eq!(joined, ["0 0.0 0.60", "1 0.0 0.50", "0 0.5 0.40", "2 0.0 0.20"]);
    }

    #[test]
    fn two_sure_detectors_are_no_surer_than_certain() {
        let fusion = Fusion { first: 1.0, second: 1.0 };
        let joined = fusion.join(vec![found(0, 0.9, 0.0)], &[found(0, 0.9, 0.0)], |_| true);
        assert_eq!(joined.len(), 1);
        assert!((joined[0].score - 1.0).abs() < 1e-6);
    }
}
