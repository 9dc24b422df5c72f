//! Things that the levels show: an anchor's score for each class, and its box moved and stretched
//! by what the network says. Pure.

use crate::base::detection::BoundingBox;
use crate::model::detector::boxes::{ScoredBox, sigmoid, suppress_overlaps};
use crate::model::detector::second::network::{ANCHORS, BOX, Level};

/// Share of the picture that the anchors of the finest and of the coarsest level are wide.
const SCALES: [f32; 2] = [0.2, 0.95];

/// Of the smallest anchor of all.
const SMALLEST: f32 = 0.1;

/// Width to height of a level's anchors; the finest level has the first three of them.
const RATIOS: [f32; 5] = [1.0, 2.0, 0.5, 3.0, 0.3333];

/// What the network's numbers are divided by: those for a middle, those for a size.
const MIDDLE_UNIT: f32 = 10.0;
const SIZE_UNIT: f32 = 5.0;

/// Beyond it a size is no size; keeps `exp` finite.
const SIZE_MAX: f32 = 20.0;

/// Boxes that are looked at, the best of all.
const CANDIDATES_MAX: usize = 512;

/// What scores at least `threshold`, the best first, each thing once. `names` has for each class
/// its number among the first detector's, where that has such a class.
pub(super) fn boxes(levels: &[Level], names: &[Option<usize>], threshold: f32) -> Vec<ScoredBox> {
    let mut found: Vec<ScoredBox> = levels
        .iter()
        .enumerate()
        .flat_map(|(at, level)| candidates(at, level, names, threshold))
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(CANDIDATES_MAX);
    suppress_overlaps(found)
}

fn candidates(at: usize, level: &Level, names: &[Option<usize>], threshold: f32) -> Vec<ScoredBox> {
    let sizes = anchor_sizes(at);
    let anchors = level.boxes.chunks_exact(BOX).zip(level.scores.chunks_exact(names.len() + 1));
    let mut found = Vec::new();
    for (number, (moved, logits)) in anchors.enumerate() {
        let (cell, size) = (number / sizes.len().max(1), number % sizes.len().max(1));
        // The first logit is that of nothing.
        for (class, logit) in names.iter().zip(logits.iter().skip(1)) {
            let score = sigmoid(*logit);
            if let (Some(class), Some(size)) = (class, sizes.get(size))
                && score > threshold
            {
                let place = place(cell, level.side, *size, moved);
                found.push(ScoredBox { class: *class, score, place });
            }
        }
    }
    found
}

/// Width and height of the anchors of each cell, in shares of the picture.
fn anchor_sizes(level: usize) -> Vec<(f32, f32)> {
    let [smallest, largest] = SCALES;
    let scale = |level: usize| {
        let coarsest = ANCHORS.len() - 1;
        smallest + (largest - smallest) * level as f32 / coarsest as f32
    };
    let shaped = |(scale, ratio): (f32, f32)| (scale * ratio.sqrt(), scale / ratio.sqrt());
    let of_level = |ratio: &f32| (scale(level), *ratio);
    if level == 0 {
        let others = RATIOS.iter().take(3).skip(1).map(of_level);
        return std::iter::once((SMALLEST, 1.0)).chain(others).map(shaped).collect();
    }
    let next = if level + 1 == ANCHORS.len() { 1.0 } else { scale(level + 1) };
    let between = ((scale(level) * next).sqrt(), 1.0);
    RATIOS.iter().map(of_level).chain([between]).map(shaped).collect()
}

/// The box of an anchor, of which `moved` has the middle and the size, y before x.
fn place(cell: usize, grid: usize, (width, height): (f32, f32), moved: &[f32]) -> BoundingBox {
    let number = |at: usize| moved.get(at).copied().unwrap_or_default();
    let middle = |at: usize, size: f32, number: f32| {
        (at as f32 + 0.5) / grid as f32 + number / MIDDLE_UNIT * size
    };
    let half = |size: f32, number: f32| size * (number / SIZE_UNIT).min(SIZE_MAX).exp() / 2.0;
    let x = middle(cell % grid.max(1), width, number(1));
    let y = middle(cell / grid.max(1), height, number(0));
    let (across, down) = (half(width, number(3)), half(height, number(2)));
    let place =
        BoundingBox { left: x - across, top: y - down, right: x + across, bottom: y + down };
    place.within_image()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coarsest level: one cell, of whose third anchor, half as wide as high, these are the
    /// numbers; and the logits of two classes beside that of nothing.
    fn coarsest(moved: [f32; 4], logits: [f32; 3]) -> Vec<Level> {
        let empty = |side: usize, anchors: usize| Level {
            side,
            boxes: vec![0.0; side * side * anchors * BOX],
            scores: vec![-20.0; side * side * anchors * 3],
        };
        let sides = [19, 10, 5, 3, 2, 1];
        let mut levels: Vec<Level> =
            sides.iter().zip(ANCHORS).map(|(side, anchors)| empty(*side, anchors)).collect();
        levels[5].boxes[2 * BOX..3 * BOX].copy_from_slice(&moved);
        levels[5].scores[6..9].copy_from_slice(&logits);
        levels
    }

    #[test]
    fn a_box_is_its_anchor_moved_and_stretched() {
        let unmoved = coarsest([0.0; 4], [-20.0, 2.0, -20.0]);
        let found = boxes(&unmoved, &[Some(7), None], 0.3);
        assert_eq!((found.len(), found[0].class), (1, 7));
        let BoundingBox { left, top, right, bottom } = found[0].place;
        let half_width = 0.95 * 0.5_f32.sqrt() / 2.0;
        for (own, other) in [(left, 0.5 - half_width), (right, 0.5 + half_width)] {
            assert!((own - other).abs() < 1e-5, "{:?}", found[0]);
        }
        assert_eq!((top, bottom), (0.0, 1.0));
        // A fifth of the width to the left, half as wide.
        let moved = coarsest([0.0, -2.0, 0.0, 5.0 * 0.5_f32.ln()], [-20.0, 2.0, -20.0]);
        let place = boxes(&moved, &[Some(7), None], 0.3)[0].place;
        let width = 2.0 * half_width;
        assert!((place.width() - width / 2.0).abs() < 1e-5, "{place:?}");
        assert!((place.left - (0.5 - 0.2 * width - width / 4.0)).abs() < 1e-5, "{place:?}");
    }

    #[test]
    fn a_class_without_a_name_and_nothing_are_no_things() {
        let levels = coarsest([0.0; 4], [5.0, -20.0, 5.0]);
        assert_eq!(boxes(&levels, &[Some(7), None], 0.3), []);
        assert_eq!(boxes(&levels, &[None, Some(7)], 0.3).len(), 1);
        let endless = coarsest([0.0, 0.0, f32::INFINITY, 0.0], [0.0, 5.0, 0.0]);
        let place = boxes(&endless, &[Some(7), None], 0.3)[0].place;
        assert_eq!((place.top, place.bottom), (0.0, 1.0));
    }

    #[test]
    fn every_level_has_as_many_sizes_as_anchors() {
        let counts: Vec<usize> = (0..ANCHORS.len()).map(|it| anchor_sizes(it).len()).collect();
        assert_eq!(counts, ANCHORS);
    }
}
