//! Things with their boxes, from the tokens of an answer: a name, then four places a box. Pure.

use crate::base::detection::{BoundingBox, DetectedObject};

/// Places along a side of the picture, each a token.
pub(super) const PLACES: u32 = 1_000;

/// Things that are kept of a picture: a crowd says no more.
const KEPT_MAX: usize = 64;

/// Longest name in characters; what is longer is no name of a thing.
const NAME_CHARS_MAX: usize = 64;

/// A token of an answer, with its log probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Said {
    pub(super) token: u32,
    pub(super) log_prob: f32,
}

/// The things that were said. `first_place` is the token of place 0; `spell` makes text of
/// tokens.
pub(super) fn objects(
    said: &[Said],
    first_place: u32,
    spell: impl Fn(&[u32]) -> String,
) -> Vec<DetectedObject> {
    let place = |it: &Said| it.token.checked_sub(first_place).filter(|at| *at < PLACES);
    // Where places end, something is named again.
    let things = said.chunk_by(|a, b| place(a).is_none() || place(b).is_some());
    let mut found = Vec::new();
    for thing in things {
        let (name, places) =
            thing.split_at(thing.iter().take_while(|it| place(it).is_none()).count());
        let tokens: Vec<u32> = name.iter().map(|it| it.token).collect();
        let spelt: String = spell(&tokens).chars().filter(char::is_ascii).collect();
        let spelt = spelt.trim();
        if spelt.is_empty() || spelt.len() > NAME_CHARS_MAX {
            continue;
        }
        let score = name.iter().map(|it| it.log_prob).sum::<f32>().exp();
        let score = if score.is_nan() { 0.0 } else { score.clamp(0.0, 1.0) };
        let places: Vec<u32> = places.iter().filter_map(place).collect();
        for sides in places.as_chunks::<4>().0 {
            if let Some(place) = box_of(*sides) {
                found.push(DetectedObject { name: spelt.to_owned(), score, place });
            }
        }
    }
    found.truncate(KEPT_MAX);
    found
}

/// Places are meant at their middle. `None` where right is left of left.
fn box_of(sides: [u32; 4]) -> Option<BoundingBox> {
    let [left, top, right, bottom] = sides.map(|at| (at as f32 + 0.5) / PLACES as f32);
    (left <= right && top <= bottom).then_some(BoundingBox { left, top, right, bottom })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: u32 = 100;

    /// Places from `PLACE` on; other tokens are letters from `a`.
    fn read(tokens: &[u32]) -> Vec<DetectedObject> {
        let said: Vec<Said> =
            tokens.iter().map(|token| Said { token: *token, log_prob: -0.5 }).collect();
        let letter = |it: &u32| char::from_u32(u32::from('a') + it).unwrap();
        objects(&said, PLACE, |tokens| tokens.iter().map(letter).collect())
    }

    fn names(found: &[DetectedObject]) -> Vec<&str> {
        found.iter().map(|it| it.name.as_str()).collect()
    }

    #[test]
    fn a_name_has_all_the_boxes_up_to_the_next_name() {
        let found = read(&[0, 1, 100, 110, 200, 1099, 105, 105, 106, 106, 2, 101, 102, 103, 104]);
        assert_eq!(names(&found), ["ab", "ab", "c"]);
        let BoundingBox { left, top, right, bottom } = found[0].place;
        for (side, expect) in [(left, 0.0005), (top, 0.0105), (right, 0.1005), (bottom, 0.9995)] {
            assert!((side - expect).abs() < 1e-6, "{side}");
        }
        // Two letters, then one.
        for (found, expect) in found.iter().zip([-1.0_f32, -1.0, -0.5]) {
            assert!((found.score - expect.exp()).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn half_boxes_turned_boxes_and_boxes_without_a_name_are_left_out() {
        assert_eq!(names(&read(&[0, 100, 100, 110, 110, 120, 120])), ["a"]);
        assert_eq!(names(&read(&[0, 110, 100, 100, 110])), [""; 0]);
        assert_eq!(names(&read(&[100, 100, 110, 110, 1, 100, 100, 110])), [""; 0]);
        assert_eq!(names(&read(&[0, 1])), [""; 0]);
        assert_eq!(names(&read(&[])), [""; 0]);
        let long: Vec<u32> = [7; 65].into_iter().chain([100, 100, 110, 110]).collect();
        assert_eq!(names(&read(&long)), [""; 0]);
    }

    #[test]
    fn a_crowd_is_cut() {
        let crowd: Vec<u32> =
            [0].into_iter().chain([100, 100, 110, 110].into_iter().cycle().take(400)).collect();
        assert_eq!(read(&crowd).len(), KEPT_MAX);
    }
}
