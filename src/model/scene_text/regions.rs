//! Where lines of text are, from the network's map of how likely each pixel is in one. Pure.

/// Likelihood from which a pixel is text.
const TEXT_FROM: f32 = 0.3;

/// Mean likelihood of a line's pixels.
const LINE_FROM: f32 = 0.5;

/// Sides of a line's middle in pixels below which nobody could read it.
const SIDE_MIN: f32 = 3.0;

/// The network marks the middle of a line; the whole is larger by this share of its area over its
/// circumference.
const WHOLE: f32 = 1.6;

/// Lines that are looked for; a page has more.
const LINES_MAX: usize = 64;

/// An upright rectangle in pixels of the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Region {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) right: f32,
    pub(super) bottom: f32,
}

impl Region {
    pub(super) fn width(self) -> f32 {
        self.right - self.left
    }

    pub(super) fn height(self) -> f32 {
        self.bottom - self.top
    }
}

/// Lines of text in a map of rows of `width` pixels, the largest first.
pub(super) fn regions(map: &[f32], width: usize) -> Vec<Region> {
    let mut is_text = thicken(map, width);
    let mut found: Vec<Region> = Vec::new();
    for start in 0..is_text.len() {
        if is_text.get(start) == Some(&true) {
            found.extend(whole_line(&take_patch(&mut is_text, width, start), map, width));
        }
    }
    found.sort_by(|a, b| (b.width() * b.height()).total_cmp(&(a.width() * a.height())));
    found.truncate(LINES_MAX);
    found
}

/// Text, and what is right of it or below: letters of a word must touch.
fn thicken(map: &[f32], width: usize) -> Vec<bool> {
    let is_text =
        |at: Option<usize>| at.and_then(|at| map.get(at)).is_some_and(|it| *it > TEXT_FROM);
    let thick = |at: usize| {
        let above = at.checked_sub(width);
        let has_left = !at.is_multiple_of(width.max(1));
        let left_of = |it: Option<usize>| it.filter(|_| has_left).and_then(|it| it.checked_sub(1));
        [Some(at), above, left_of(Some(at)), left_of(above)].into_iter().any(is_text)
    };
    (0..map.len()).map(thick).collect()
}

/// The pixels that hang together with `start`, which are taken away.
fn take_patch(is_text: &mut [bool], width: usize, start: usize) -> Vec<usize> {
    let mut patch = Vec::new();
    let mut next = vec![start];
    while let Some(at) = next.pop() {
        let Some(it) = is_text.get_mut(at).filter(|it| **it) else { continue };
        *it = false;
        patch.push(at);
        let column = at % width.max(1);
        for row in [at.checked_sub(width), Some(at), Some(at + width)].into_iter().flatten() {
            next.push(row);
            next.extend(row.checked_sub(1).filter(|_| column > 0));
            next.extend(Some(row + 1).filter(|_| column + 1 < width));
        }
    }
    patch
}

fn whole_line(patch: &[usize], map: &[f32], width: usize) -> Option<Region> {
    let columns = || patch.iter().map(|at| (at % width) as f32);
    let rows = || patch.iter().map(|at| (at / width) as f32);
    let least = |numbers: &mut dyn Iterator<Item = f32>| numbers.fold(f32::INFINITY, f32::min);
    let most = |numbers: &mut dyn Iterator<Item = f32>| numbers.fold(0.0, f32::max) + 1.0;
    let (left, right) = (least(&mut columns()), most(&mut columns()));
    let (top, bottom) = (least(&mut rows()), most(&mut rows()));
    let (across, down) = (right - left, bottom - top);
    let mean = patch.iter().filter_map(|at| map.get(*at)).sum::<f32>() / patch.len().max(1) as f32;
    let more = across * down * WHOLE / (2.0 * (across + down));
    (mean >= LINE_FROM && across.min(down) >= SIDE_MIN).then_some(Region {
        left: left - more,
        top: top - more,
        right: right + more,
        bottom: bottom + more,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map of 40 by 20 with these filled rectangles of left, top, right, bottom and likelihood.
    fn map(filled: &[(usize, usize, usize, usize, f32)]) -> Vec<f32> {
        let mut map = vec![0.0; 40 * 20];
        for (left, top, right, bottom, likelihood) in filled {
            for row in *top..*bottom {
                for column in *left..*right {
                    map[row * 40 + column] = *likelihood;
                }
            }
        }
        map
    }

    #[test]
    fn words_that_touch_are_one_line_larger_than_its_middle() {
        let found = regions(&map(&[(10, 5, 15, 9, 0.9), (16, 5, 20, 9, 0.9)]), 40);
        // Thickened: 11 across, 5 down, and 55 × 1.6 / 32 more to each side.
        let expect = Region { left: 7.25, top: 2.25, right: 23.75, bottom: 12.75 };
        assert_eq!(found, [expect]);
    }

    #[test]
    fn what_is_apart_is_two_lines_and_the_larger_comes_first() {
        let found = regions(&map(&[(1, 1, 7, 6, 0.9), (20, 8, 39, 18, 0.9)]), 40);
        assert_eq!(found.len(), 2);
        assert!(found[0].left > 10.0 && found[1].right < 15.0, "{found:?}");
    }

    #[test]
    fn edges_of_the_map_do_not_wrap_and_faint_or_thin_text_is_none() {
        assert_eq!(regions(&map(&[(36, 4, 40, 9, 0.9), (0, 5, 4, 10, 0.9)]), 40).len(), 2);
        assert_eq!(regions(&map(&[(5, 5, 30, 15, 0.35), (1, 1, 30, 2, 0.9)]), 40), []);
        assert_eq!(regions(&[], 40), []);
    }
}
