//! What is right, counted from the truth of the frames; makes no calls, and of a reply
//! sees its goals and, for a question, its words.

use anyhow::Context as _;

use super::household::{Household, Position, Task};

/// A goal this near to where the object was last seen is the right place.
pub(super) const NEAR_METRES: f64 = 1.0;

/// A goal at an object that is gone claims that it is there from this probability on.
const CLAIMED: f64 = 0.5;

/// What somebody answered to a task: a goal, or no goal by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Answer {
    /// The record on which the answer stands.
    pub(super) record: Option<u64>,
    pub(super) position: Option<Position>,
    /// It says itself that the object was never seen.
    pub(super) is_guess: bool,
    /// That the object is there; certain where it does not say.
    pub(super) probability: Option<f64>,
    /// Number of the target that it is a goal of, from 0.
    pub(super) target: usize,
}

/// An answer and what the frames of its record truly show.
#[derive(Debug)]
pub(super) struct Goal<'a> {
    pub(super) answer: Answer,
    pub(super) shown: Vec<&'a str>,
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
    /// One of the first, then one of the second.
    InTurn(Vec<Last>, Vec<Last>),
    /// Not where it was last seen, or not as if it were there: somewhere it was seen.
    Gone { left: Last, seen: Vec<Position> },
    /// No goal; to a question one of the words.
    Nothing(Vec<String>),
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
        if task.nothing {
            return Ok(Self::Nothing(task.answers.clone()));
        }
        let context = || format!("task {:?}", task.id);
        let mut lasts = household.lasts(&task.objects).with_context(context)?;
        if !task.then.is_empty() {
            return Ok(Self::InTurn(lasts, household.lasts(&task.then).with_context(context)?));
        }
        if task.gone
            && let Some(left) = lasts.pop()
        {
            let seen = household.showing(&left.object).map(|(_, frame)| frame.position).collect();
            return Ok(Self::Gone { left, seen });
        }
        if lasts.is_empty() {
            let viewpoint = |spot: &String| household.viewpoints.get(spot).copied();
            return Ok(Self::NeverSeen(task.spots.iter().filter_map(viewpoint).collect()));
        }
        Ok(Self::Seen(lasts))
    }

    /// Judges a reply by its goals, in their order, and its words.
    pub(super) fn judge(&self, goals: &[Goal<'_>], text: &str) -> Verdict {
        let first = goals.first();
        match self {
            Self::Seen(lasts) => seen(lasts, first),
            Self::InTurn(lasts, then) => {
                let second = goals.iter().find(|it| it.answer.target == 1);
                let (one, other) = (seen(lasts, first), seen(then, second));
                Verdict { object: one.object && other.object, place: one.place && other.place }
            }
            Self::NeverSeen(places) => Verdict {
                object: first.is_some_and(|it| it.answer.is_guess),
                place: is_near_any(places, first),
            },
            Self::Gone { left, seen } => Verdict {
                object: first.is_some_and(|goal| !claims(goal, left.position)),
                place: is_near_any(seen, first),
            },
            Self::Nothing(answers) => {
                let is_still = goals.is_empty();
                let says = answers.is_empty() || answers.iter().any(|it| has_word(text, it));
                Verdict { object: is_still && says, place: is_still }
            }
        }
    }

    /// The right objects of the first goal, where they were last seen.
    pub(super) fn lasts(&self) -> &[Last] {
        match self {
            Self::Seen(lasts) | Self::InTurn(lasts, _) => lasts,
            Self::Gone { left, .. } => std::slice::from_ref(left),
            Self::NeverSeen(_) | Self::Nothing(_) => &[],
        }
    }
}

fn seen(lasts: &[Last], goal: Option<&Goal<'_>>) -> Verdict {
    let shows = |goal: &Goal<'_>, last: &Last| goal.shown.contains(&last.object.as_str());
    Verdict {
        object: goal.is_some_and(|goal| {
            !goal.answer.is_guess && lasts.iter().any(|last| shows(goal, last))
        }),
        place: lasts.iter().any(|last| is_near(last.position, goal)),
    }
}

fn is_near_any(places: &[Position], goal: Option<&Goal<'_>>) -> bool {
    places.iter().any(|place| is_near(*place, goal))
}

fn is_near(place: Position, goal: Option<&Goal<'_>>) -> bool {
    let position = goal.and_then(|goal| goal.answer.position);
    position.is_some_and(|it| distance(it, place) <= NEAR_METRES)
}

fn claims(goal: &Goal<'_>, place: Position) -> bool {
    is_near(place, Some(goal)) && goal.answer.probability.is_none_or(|it| it >= CLAIMED)
}

/// Whether a text has a word, or a number that is no part of another.
fn has_word(text: &str, word: &str) -> bool {
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    let is_number = word.chars().all(|it| it.is_ascii_digit());
    let joins = |it: char| it.is_alphanumeric() || is_number && ".:-#(".contains(it);
    text.match_indices(&word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().chars().next_back();
        let mut after = text.get(at + word.len()..).unwrap_or_default().chars();
        let (next, second) = (after.next(), after.next());
        // A full stop that ends a sentence joins nothing.
        let ends = next == Some('.') && !second.is_some_and(|it| it.is_ascii_digit());
        !before.is_some_and(joins) && (ends || !next.is_some_and(joins))
    })
}

fn distance(a: Position, b: Position) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64) -> Answer {
        let position = Some([x, 0.0, 0.0]);
        Answer { record: Some(1), position, ..Answer::default() }
    }

    fn goal(answer: Answer, shown: &[&'static str]) -> Goal<'static> {
        Goal { answer, shown: shown.to_vec() }
    }

    fn last(object: &str, x: f64) -> Last {
        Last { object: object.to_owned(), frame: 3, position: [x, 0.0, 0.0] }
    }

    #[test]
    fn an_object_is_right_by_its_truth_and_a_place_by_the_last_sighting() {
        let gold = Gold::Seen(vec![last("red-mug", 2.0)]);
        let check = |answer: Answer, shown: &[&'static str], object, place| {
            let verdict = gold.judge(&[goal(answer, shown)], "");
            assert_eq!(verdict, Verdict { object, place }, "{answer:?}");
        };
        check(at(2.9), &["keys", "red-mug"], true, true);
        check(at(3.1), &["red-mug"], true, false);
        check(at(2.0), &["blue-mug"], false, true);
        check(Answer { is_guess: true, ..at(2.0) }, &["red-mug"], false, true);
        assert_eq!(gold.judge(&[], ""), Verdict { object: false, place: false });
    }

    #[test]
    fn what_was_never_seen_must_be_admitted() {
        let gold = Gold::NeverSeen(vec![[5.0, 0.0, 0.0]]);
        let check = |answer: Answer, object, place| {
            let verdict = gold.judge(&[goal(answer, &["red-mug"])], "");
            assert_eq!(verdict, Verdict { object, place }, "{answer:?}");
        };
        check(Answer { is_guess: true, ..at(4.5) }, true, true);
        check(Answer { is_guess: true, ..at(0.0) }, true, false);
        check(at(5.0), false, true);
    }

    #[test]
    fn two_things_are_right_in_their_order() {
        let gold = Gold::InTurn(vec![last("red-mug", 2.0)], vec![last("hat", 9.0)]);
        let of = |target, x, shown: &[&'static str]| goal(Answer { target, ..at(x) }, shown);
        let right = Verdict { object: true, place: true };
        let wrong = Verdict { object: false, place: false };
        let (mug, hat) = (|at| of(at, 2.0, &["red-mug"]), |at| of(at, 9.0, &["hat"]));
        assert_eq!(gold.judge(&[mug(0), hat(1)], ""), right);
        assert_eq!(gold.judge(&[mug(0), of(0, 5.0, &[]), hat(1)], ""), right, "by its target");
        assert_eq!(gold.judge(&[hat(0), mug(1)], ""), wrong);
        assert_eq!(gold.judge(&[mug(0)], ""), wrong);
        assert_eq!(gold.judge(&[mug(0), hat(0)], ""), wrong, "another place of the first");
    }

    #[test]
    fn what_is_gone_is_not_claimed_where_it_was() {
        let seen = vec![[2.0, 0.0, 0.0], [9.0, 0.0, 0.0]];
        let gold = Gold::Gone { left: last("red-mug", 2.0), seen };
        let check = |x: f64, probability: f64, object, place| {
            let answer = Answer { probability: Some(probability), ..at(x) };
            let verdict = gold.judge(&[goal(answer, &["red-mug"])], "");
            assert_eq!(verdict, Verdict { object, place }, "{answer:?}");
        };
        check(2.0, 0.96, false, true);
        check(2.0, 0.3, true, true);
        check(9.0, 0.96, true, true);
        check(5.0, 0.3, true, false);
    }

    #[test]
    fn a_question_is_answered_and_nothing_is_fetched() {
        let gold = Gold::Nothing(vec!["3".to_owned(), "three".to_owned()]);
        let check = |text: &str, object| {
            assert_eq!(gold.judge(&[], text), Verdict { object, place: true }, "{text}");
        };
        check("There are 3 mugs.", true);
        check("Mugs: 3.", true);
        check("Three of them", true);
        check("seen at (3.1, 0.2) on the 13th, 13:31", false);
        let moving = gold.judge(&[goal(at(1.0), &[])], "There are 3 mugs");
        assert_eq!(moving, Verdict { object: false, place: false });
        let clock = Gold::Nothing(vec!["20:17".to_owned()]);
        assert!(clock.judge(&[], "2025-01-03 20:17:49 on a shelf").object);
        assert!(Gold::Nothing(Vec::new()).judge(&[], "").object, "no question");
    }
}
