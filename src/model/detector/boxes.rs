//! Things that the first network's maps show: scores by class, boxes as the expectation of their
//! sides' distributions, non-maximum suppression. Pure.

use crate::base::detection::BoundingBox;
use crate::model::detector::feature_map::FeatureMap;
use crate::model::detector::network::{BINS, SIDES, STRIDES};

/// Boxes of one class that overlap more than this are of one thing.
const OVERLAP_MAX: f32 = 0.5;

/// Boxes of one class in two views that overlap more than this are of one thing.
const SAME_IN_VIEWS_MIN: f32 = 0.4;

/// Share of the smaller of two boxes of a class that the other must hold for it to be a part.
const PART_MIN: f32 = 0.6;

/// Boxes of two classes that overlap more than this are of one thing.
const SAME_PLACE_MIN: f32 = 0.7;

/// Boxes that are looked at, the best of all.
const CANDIDATES_MAX: usize = 512;

/// A thing by the number of its class.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScoredBox {
    pub(super) class: usize,
    pub(super) score: f32,
    pub(super) place: BoundingBox,
}

/// What scores at least `threshold`, the best first, each thing once.
pub(super) fn boxes(levels: &[FeatureMap], threshold: f32) -> Vec<ScoredBox> {
    let mut found: Vec<ScoredBox> = STRIDES
        .iter()
        .zip(levels)
        .flat_map(|(stride, level)| candidates(level, *stride, threshold))
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(CANDIDATES_MAX);
    suppress_overlaps(found)
}

/// Things of two views of one picture, each by the mean of its scores in both. What only one
/// view shows counts half: a close-up of a cat is a person in one view only.
pub(super) fn merge_views(one: &[ScoredBox], other: &[ScoredBox]) -> Vec<ScoredBox> {
    let mut found: Vec<ScoredBox> = [(one, other), (other, one)]
        .iter()
        .flat_map(|(own, its)| keep_supported(own, its))
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    suppress_overlaps(found)
}

fn keep_supported(own: &[ScoredBox], other: &[ScoredBox]) -> Vec<ScoredBox> {
    let halved = |it: &ScoredBox| {
        let same = other.iter().filter(|its| {
            its.class == it.class && its.place.overlap(it.place) >= SAME_IN_VIEWS_MIN
        });
        let second = same.map(|its| its.score).fold(0.0, f32::max);
        ScoredBox { score: f32::midpoint(it.score, second), ..it.clone() }
    };
    own.iter().map(halved).collect()
}

/// The best of each class, and of the others those that are surely more of it: good enough, and
/// not a part of a better one. `found` has the best first.
pub(super) fn count_things<'a>(
    found: impl Iterator<Item = &'a ScoredBox>,
    counted_from: f32,
) -> Vec<ScoredBox> {
    let mut kept: Vec<ScoredBox> = Vec::new();
    for it in found {
        let mut better = kept.iter().filter(|best| best.class == it.class).peekable();
        let is_first = better.peek().is_none();
        let is_part = |best: &ScoredBox| {
            let smaller = best.place.area().min(it.place.area());
            best.place.shared_area(it.place) > PART_MIN * smaller
        };
        if is_first || it.score >= counted_from && !better.any(is_part) {
            kept.push(it.clone());
        }
    }
    kept
}

/// The best score of each class. `found` has the best first.
pub(super) fn best_scores(found: &[ScoredBox]) -> Vec<f32> {
    let mut classes: Vec<usize> = Vec::new();
    let mut scores = Vec::new();
    for it in found {
        if !classes.contains(&it.class) {
            classes.push(it.class);
            scores.push(it.score);
        }
    }
    scores
}

/// Leaves out what stands in the same place as a better one of another class: a cup that may
/// also be a bowl is one thing.
pub(super) fn one_name_a_thing(found: &[ScoredBox]) -> impl Iterator<Item = &ScoredBox> {
    found.iter().enumerate().filter_map(|(at, it)| {
        let better = found.iter().take(at);
        let is_named = |best: &ScoredBox| {
            best.class != it.class && best.place.overlap(it.place) >= SAME_PLACE_MIN
        };
        (!better.clone().any(is_named)).then_some(it)
    })
}

/// Leaves out what overlaps with a better one of its class. `found` has the best first.
pub(super) fn suppress_overlaps(found: Vec<ScoredBox>) -> Vec<ScoredBox> {
    let mut kept: Vec<ScoredBox> = Vec::new();
    for it in found {
        let is_same = |best: &ScoredBox| {
            best.class == it.class && best.place.overlap(it.place) >= OVERLAP_MAX
        };
        if !kept.iter().any(is_same) {
            kept.push(it);
        }
    }
    kept
}

fn candidates(level: &FeatureMap, stride: usize, threshold: f32) -> Vec<ScoredBox> {
    let mut found = Vec::new();
    for (cell, numbers) in level.pixels().enumerate() {
        let (logits, sides) = numbers.split_at(numbers.len().saturating_sub(SIDES));
        for (class, logit) in logits.iter().enumerate() {
            let score = sigmoid(*logit);
            if score > threshold {
                let place = place(cell, level.side, stride, sides);
                found.push(ScoredBox { class, score, place });
            }
        }
    }
    found
}

pub(super) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// The box of a cell, of which `sides` has the distances to left, top, right and bottom.
fn place(cell: usize, grid: usize, stride: usize, sides: &[f32]) -> BoundingBox {
    let (row, column) = (cell / grid.max(1), cell % grid.max(1));
    let size = (grid * stride) as f32;
    let centre = |at: usize| (at as f32 + 0.5) * stride as f32;
    let mut distances = sides.chunks_exact(BINS).map(|bins| expectation(bins) * stride as f32);
    let mut next = || distances.next().unwrap_or_default();
    let (left, top, right, bottom) = (next(), next(), next(), next());
    let place = BoundingBox {
        left: (centre(column) - left) / size,
        top: (centre(row) - top) / size,
        right: (centre(column) + right) / size,
        bottom: (centre(row) + bottom) / size,
    };
    place.within_image()
}

/// Mean number of a bin, by the softmax of its logits.
fn expectation(bins: &[f32]) -> f32 {
    let largest = bins.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights = bins.iter().map(|it| (it - largest).exp());
    let (sum, weighted) = weights.enumerate().fold((0.0, 0.0), |(sum, weighted), (at, weight)| {
        (sum + weight, weighted + weight * at as f32)
    });
    if sum > 0.0 { weighted / sum } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A level of one class in which these cells have these scores and sides of so many strides.
    fn level(side: usize, cells: &[(usize, f32, [usize; 4])]) -> FeatureMap {
        let channels = 1 + SIDES;
        let mut values = vec![0.0; side * side * channels];
        for cell in values.chunks_exact_mut(channels) {
            cell[0] = -20.0;
        }
        for (cell, score, sides) in cells {
            let numbers = &mut values[cell * channels..][..channels];
            numbers[0] = (score / (1.0 - score)).ln();
            for (side, bin) in sides.iter().enumerate() {
                numbers[1 + side * BINS + bin] = 50.0;
            }
        }
        FeatureMap { side, channels, values }
    }

    fn levels(cells: &[(usize, f32, [usize; 4])]) -> Vec<FeatureMap> {
        vec![level(52, &[]), level(26, &[]), level(13, cells)]
    }

    #[test]
    fn a_box_reaches_from_its_cell_by_the_expected_bins() {
        let found = boxes(&levels(&[(6 * 13 + 6, 0.8, [2, 3, 4, 1])]), 0.3);
        assert_eq!(found.len(), 1);
        let BoundingBox { left, top, right, bottom } = found[0].place;
        let expect = [4.5, 3.5, 10.5, 7.5].map(|it| it / 13.0);
        for (own, other) in [left, top, right, bottom].iter().zip(expect) {
            assert!((own - other).abs() < 1e-5, "{:?}", found[0]);
        }
        assert!((found[0].score - 0.8).abs() < 1e-5);
    }

    #[test]
    fn what_both_views_show_counts_more_than_what_one_shows() {
        let found = |class, score, left| ScoredBox {
            class,
            score,
            place: BoundingBox { left, top: 0.0, right: left + 0.5, bottom: 1.0 },
        };
        let one = [found(0, 0.6, 0.0), found(1, 0.8, 0.0)];
        let other = [found(0, 0.5, 0.1), found(1, 0.8, 0.5), found(2, 0.3, 0.2)];
        let agreed = merge_views(&one, &other);
        let agreed: Vec<String> =
            agreed.iter().map(|it| format!("{} {:.2}", it.class, it.score)).collect();
        assert_eq!(agreed, ["0 0.55", "1 0.40", "1 0.40", "2 0.15"]);
    }

    #[test]
    fn a_second_thing_is_counted_where_it_is_sure_and_no_part_of_the_first() {
        let found = |score, left, right| ScoredBox {
            class: 0,
            score,
            place: BoundingBox { left, top: 0.0, right, bottom: 1.0 },
        };
        let first = found(0.4, 0.0, 0.5);
        let others = [found(0.9, 0.6, 0.9), found(0.3, 0.6, 0.9), found(0.9, 0.1, 0.2)];
        let counts = others.map(|other| count_things([first.clone(), other].iter(), 0.45).len());
        assert_eq!(counts, [2, 1, 1]);
    }

    #[test]
    fn two_names_of_one_thing_leave_the_better_one() {
        let place = BoundingBox { left: 0.0, top: 0.0, right: 0.5, bottom: 0.5 };
        let found = [(3, 0.6), (4, 0.5), (3, 0.4)];
        let found = found.map(|(class, score)| ScoredBox { class, score, place });
        let named: Vec<usize> = one_name_a_thing(&found).map(|it| it.class).collect();
        assert_eq!(named, [3]);
    }

    #[test]
    fn a_thing_is_found_once_and_the_best_comes_first() {
        let near = [(80, 0.5, [2, 2, 2, 2]), (81, 0.9, [3, 2, 1, 2]), (0, 0.7, [0, 0, 2, 2])];
        let found = boxes(&levels(&near), 0.3);
        let scores: Vec<f32> = found.iter().map(|it| (it.score * 10.0).round()).collect();
        assert_eq!(scores, [9.0, 7.0]);
        assert_eq!(boxes(&levels(&near), 0.8).len(), 1);
        assert_eq!(boxes(&levels(&[]), 0.3), []);
    }
}
