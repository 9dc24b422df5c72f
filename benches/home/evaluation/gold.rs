//! What is right, counted from the truth of the frames; sees no captions, makes no
//! calls.

use anyhow::Context as _;

use super::household::{Household, Position, Task};

/// A goal this near to where the object was last seen is the right place.
pub(super) const NEAR_METRES: f64 = 1.0;

/// What somebody answered to a task.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Answer {
    /// The record on which the answer stands.
    pub(super) record: Option<u64>,
    pub(super) position: Option<Position>,
    /// It says itself that the object was never seen.
    pub(super) is_guess: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) object: bool,
    pub(super) place: bool,
}

/// The right answers to a task.
#[derive(Debug)]
pub(super) enum Gold {
    /// Any of these objects, where it was last seen.
    Seen(Vec<Last>),
    /// None: an admission, and a look at a sensible place.
    NeverSeen(Vec<Position>),
}

/// An object's last sighting.
#[derive(Debug)]
pub(super) struct Last {
    pub(super) object: String,
    /// Index among the household's frames.
    pub(super) frame: usize,
    pub(super) position: Position,
}

impl Gold {
    /// Fails for an object that no frame shows: nobody could find it.
    pub(super) fn of(task: &Task, household: &Household) -> anyhow::Result<Self> {
        if task.objects.is_empty() {
            let viewpoint = |spot: &String| household.viewpoints.get(spot).copied();
            return Ok(Self::NeverSeen(task.spots.iter().filter_map(viewpoint).collect()));
        }
        let last = |object: &String| {
            let shows = |frame: usize| {
                let frame = household.frames.get(frame)?;
                frame.shown.iter().any(|shown| shown.id == *object).then_some(frame)
            };
            let found = (0..household.frames.len())
                .rev()
                .find_map(|frame| Some((frame, shows(frame)?.position)));
            let (frame, position) =
                found.with_context(|| format!("task {:?}: no frame shows {object:?}", task.id))?;
            Ok(Last { object: object.clone(), frame, position })
        };
        Ok(Self::Seen(task.objects.iter().map(last).collect::<anyhow::Result<_>>()?))
    }

    /// Judges an answer by what the frames of its record truly show.
    pub(super) fn judge(&self, answer: &Answer, shown: &[&str]) -> Verdict {
        let Answer { record: _, position, is_guess } = *answer;
        let near =
            |place: &Position| position.is_some_and(|it| distance(it, *place) <= NEAR_METRES);
        match self {
            Self::Seen(lasts) => Verdict {
                object: !is_guess && lasts.iter().any(|last| shown.contains(&last.object.as_str())),
                place: lasts.iter().any(|last| near(&last.position)),
            },
            Self::NeverSeen(places) => Verdict { object: is_guess, place: places.iter().any(near) },
        }
    }
}

fn distance(a: Position, b: Position) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64) -> Answer {
        Answer { record: Some(1), position: Some([x, 0.0, 0.0]), is_guess: false }
    }

    #[test]
    fn an_object_is_right_by_its_truth_and_a_place_by_the_last_sighting() {
        let last = Last { object: "red-mug".to_owned(), frame: 3, position: [2.0, 0.0, 0.0] };
        let gold = Gold::Seen(vec![last]);
        let check = |answer: Answer, shown: &[&str], object, place| {
            assert_eq!(gold.judge(&answer, shown), Verdict { object, place }, "{answer:?}");
        };
        check(at(2.9), &["keys", "red-mug"], true, true);
        check(at(3.1), &["red-mug"], true, false);
        check(at(2.0), &["blue-mug"], false, true);
        check(Answer { is_guess: true, ..at(2.0) }, &["red-mug"], false, true);
        check(Answer::default(), &[], false, false);
    }

    #[test]
    fn what_was_never_seen_must_be_admitted() {
        let gold = Gold::NeverSeen(vec![[5.0, 0.0, 0.0]]);
        let guess = |x| Answer { is_guess: true, ..at(x) };
        assert_eq!(gold.judge(&guess(4.5), &[]), Verdict { object: true, place: true });
        assert_eq!(gold.judge(&guess(0.0), &[]), Verdict { object: true, place: false });
        assert_eq!(gold.judge(&at(5.0), &["red-mug"]), Verdict { object: false, place: true });
    }
}
