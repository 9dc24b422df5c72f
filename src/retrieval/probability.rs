//! Probabilities of goals: that the object still is where it was last seen, else that it is
//! where it usually is.
//!
//! Pure. A Poisson process of moves, its rate estimated from the object's own visits with a
//! gamma prior. Its three numbers were chosen in three simulated households
//! (`benches/home/sureness.py`, seeds 11, 21 and 31).

use crate::base::time::Timestamp;
use crate::memory::episodic::instances::Instance;
use crate::retrieval::session::Goal;

/// Probability that a thing that has moved is at one of its known places; it may be where
/// it was never seen.
const KNOWN_SHARE: f64 = 0.4;
/// Prior of the rate of moves, before a thing is seen twice; moves there and back between two
/// looks are never seen.
const PRIOR_MOVES: f64 = 3.0;
const PRIOR_HOURS: f64 = 12.0;
/// Probability that a thing that was never seen is at one of the places guessed.
const GUESS_SHARE: f64 = 0.5;

/// Probability that an object is still where it was at `seen_at`: the longer ago, and the more
/// often it was elsewhere when it was seen again, the less.
pub(super) fn stay_probability(object: &Instance, seen_at: Timestamp, now: Timestamp) -> f64 {
    let pairs = object.visits.iter().zip(object.visits.iter().skip(1));
    let (mut moves, mut hours) = (PRIOR_MOVES, PRIOR_HOURS);
    for (before, after) in pairs {
        hours += after.first.since(before.last).as_secs_f64() / 3_600.0;
        moves += if before.place == after.place { 0.0 } else { 1.0 };
    }
    let since = now.since(seen_at).as_secs_f64() / 3_600.0;
    // The mean of exp(-rate · since) over the gamma posterior of the rate.
    (hours / (hours + since)).powf(moves)
}

/// Probability that an object is at the only place that is known of it, where it stays by `stays` and
/// to which it may have come back.
pub(super) fn only_place_probability(stays: f64) -> f64 {
    stays + KNOWN_SHARE * (1.0 - stays)
}

/// What of a probability falls to the places that are guessed.
pub(super) fn guess_share(of: f32) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a share")]
    let share = GUESS_SHARE as f32;
    of * share
}

/// When the object came to where it was last seen.
pub(super) fn stay_began(object: &Instance) -> Timestamp {
    let place = object.visits.last().map(|it| it.place);
    let stay = object.visits.iter().rev().take_while(|it| Some(it.place) == place);
    stay.last().map_or(object.last_seen, |it| it.first)
}

/// Goals with their probabilities, from their numbers of visits. The last place stays
/// first, the others follow by probability.
pub(super) fn goal_probabilities(
    goals: Vec<(f64, Goal)>,
    stays: f64,
    confidence: f64,
) -> Vec<Goal> {
    let all: f64 = goals.iter().map(|(visits, _)| visits).sum();
    let mut weighted: Vec<Goal> = Vec::with_capacity(goals.len());
    for (at, (visits, goal)) in goals.into_iter().enumerate() {
        let usual = KNOWN_SHARE * (1.0 - stays) * visits / all.max(1.0);
        let probability = if at == 0 { confidence * (stays + usual) } else { usual };
        weighted.push(Goal { probability: clamp(probability), ..goal });
    }
    if let Some((_, others)) = weighted.split_first_mut() {
        others.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    }
    weighted
}

/// How many times likelier another place must be than the last one to come before it.
const FIRST_FACTOR: f32 = 2.0;
/// Probability below which places are told apart no more: how often a place was looked at in vain
/// says less than where the thing was last.
const HARDLY: f32 = 0.05;

/// Goals after looks at them that did not show the target: Bayes' rule over the places and
/// over where it was never seen. `misses` has for each goal the probability of such looks
/// although it is there, 1 where nobody looked. The first stays first unless it was looked
/// at.
pub(super) fn weigh_misses(goals: Vec<Goal>, misses: &[f64]) -> Vec<Goal> {
    let known: f64 = goals.iter().map(|it| f64::from(it.probability)).sum();
    let miss_of = |at: usize| misses.get(at).copied().unwrap_or(1.0);
    let weighed = goals.iter().enumerate().map(|(at, it)| miss_of(at) * f64::from(it.probability));
    let all = (1.0 - known).max(0.0) + weighed.sum::<f64>();
    let posterior = |(at, goal): (usize, Goal)| {
        let probability = miss_of(at) * f64::from(goal.probability) / all.max(f64::EPSILON);
        Goal { probability: clamp(probability), ..goal }
    };
    let mut goals: Vec<Goal> = goals.into_iter().enumerate().map(posterior).collect();
    // Of places that were all looked at in vain none is worth another way.
    let likeliest = goals.iter().map(|it| it.probability).fold(0.0, f32::max);
    let is_likeliest = goals.first().is_some_and(|it| FIRST_FACTOR * it.probability >= likeliest);
    let is_first = is_likeliest || likeliest < HARDLY;
    let sorted_from = usize::from(is_first || miss_of(0) >= 1.0).min(goals.len());
    if let Some(goals) = goals.get_mut(sorted_from..) {
        goals.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    }
    goals
}

/// Goals with one more at which the object is so likely that it was there since; first where it is
/// likelier there than where it surely was.
pub(super) fn with_newer(mut goals: Vec<Goal>, newer: Goal, probability: f64) -> Vec<Goal> {
    let newer = Goal { probability: clamp(probability), ..newer };
    for goal in &mut goals {
        goal.probability *= 1.0 - newer.probability;
    }
    let is_first = goals.first().is_none_or(|it| newer.probability > it.probability);
    goals.insert(usize::from(!is_first), newer);
    if let Some((_, others)) = goals.split_first_mut() {
        others.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    }
    goals
}

/// Guesses with their probabilities, from their scores.
pub(super) fn guess_probabilities(guesses: Vec<(f32, Goal)>) -> Vec<Goal> {
    let all: f64 = guesses.iter().map(|(score, _)| f64::from(*score)).sum();
    let goals = guesses.into_iter().map(|(score, goal)| {
        let share = GUESS_SHARE * f64::from(score) / all.max(f64::EPSILON);
        Goal { probability: clamp(share), ..goal }
    });
    goals.collect()
}

#[expect(clippy::cast_possible_truncation, reason = "a share from 0 to 1")]
fn clamp(share: f64) -> f32 {
    share.clamp(0.0, 1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::episodic::instances::Visit;
    use std::time::Duration;

    const HOUR: Duration = Duration::from_hours(1);

    /// Seen for a moment at each of these places, a day apart.
    fn object(places: &[usize]) -> Instance {
        let mut at = Timestamp::from_seconds(1e9).unwrap();
        let mut visits = Vec::new();
        for place in places {
            at = at.plus(24 * HOUR);
            let records = Vec::new();
            visits.push(Visit { first: at, last: at, place: *place, records, existence: 1.0 });
        }
        Instance {
            desc: "mug".to_owned(),
            noun: "mug".to_owned(),
            records: Vec::new(),
            visits,
            days_seen: places.len(),
            first_seen: at,
            last_seen: at,
            places: Vec::new(),
            seen_with: Vec::new(),
            hours: [0; 24],
            confidence: 1.0,
            existence: 1.0,
        }
    }

    fn goal(map_id: &str) -> Goal {
        Goal {
            record: None,
            position: [0.0; 3],
            theta: None,
            frame_id: "map".to_owned(),
            map_id: map_id.to_owned(),
            reason: String::new(),
            probability: 0.0,
            is_guess: false,
            target: String::new(),
        }
    }

    #[test]
    fn a_thing_that_moves_often_is_less_likely_where_it_was_last_seen() {
        let stays = |places: &[usize], hours: u32| {
            let object = object(places);
            stay_probability(&object, object.last_seen, object.last_seen.plus(hours * HOUR))
        };
        assert!((stays(&[0, 0, 0], 0) - 1.0).abs() < 1e-9);
        assert!(stays(&[0, 0, 0], 12) > stays(&[0, 0, 0], 24));
        assert!(stays(&[0, 0, 0], 12) > stays(&[0, 1, 2], 12));
    }

    #[test]
    fn the_last_place_stays_first_and_others_come_by_their_visits() {
        let goals = vec![(1.0, goal("last")), (1.0, goal("once")), (6.0, goal("usual"))];
        let goals = goal_probabilities(goals, 0.1, 1.0);
        let order: Vec<&str> = goals.iter().map(|it| it.map_id.as_str()).collect();
        assert_eq!(order, ["last", "usual", "once"]);
        let sum: f32 = goals.iter().map(|it| it.probability).sum();
        assert!((sum - (0.1 + 0.9 * 0.4)).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn a_thing_that_moved_may_be_back_at_its_only_place() {
        let only = |stays: f64| only_place_probability(stays);
        assert!((only(1.0) - 1.0).abs() < 1e-9 && (only(0.0) - 0.4).abs() < 1e-9);
        // As where it is the only goal.
        let goals = goal_probabilities(vec![(1.0, goal("only"))], 0.3, 1.0);
        assert!((f64::from(goals[0].probability) - only(0.3)).abs() < 1e-6);
    }

    #[test]
    fn looks_that_miss_the_target_move_its_probability_to_the_other_places() {
        let of = |map_id, probability| Goal { probability, ..goal(map_id) };
        let goals = vec![of("last", 0.9), of("usual", 0.05)];
        let told = |misses: &[f64]| -> Vec<(String, f32)> {
            let goals = weigh_misses(goals.clone(), misses);
            goals.into_iter().map(|it| (it.map_id, it.probability)).collect()
        };
        assert_eq!(told(&[1.0, 1.0]), [("last".to_owned(), 0.9), ("usual".to_owned(), 0.05)]);
        // .9 * .01, .05 and .05 elsewhere, of .109.
        let after = told(&[0.01, 1.0]);
        assert_eq!(after[0].0, "usual");
        assert!((after[0].1 - 0.05 / 0.109).abs() < 1e-6, "{after:?}");
        assert!((after[1].1 - 0.009 / 0.109).abs() < 1e-6, "{after:?}");
        let in_vain = told(&[0.05, 0.9]);
        assert_eq!(in_vain[0].0, "last", "{in_vain:?}");
        let often_in_vain = told(&[1e-4, 1e-2]);
        assert_eq!(often_in_vain[0].0, "last", "{often_in_vain:?}");
        assert!(weigh_misses(Vec::new(), &[]).is_empty());
    }

    #[test]
    fn what_may_be_it_since_comes_first_where_it_is_likelier() {
        let of = |map_id, probability| Goal { probability, ..goal(map_id) };
        let order = |first: f32, newer: f64| -> Vec<(String, f32)> {
            let goals = with_newer(vec![of("last", first), of("usual", 0.1)], goal("newer"), newer);
            goals.into_iter().map(|it| (it.map_id, it.probability)).collect()
        };
        let names = |of: &[(String, f32)]| of.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
        assert_eq!(names(&order(0.9, 0.3)), ["last", "newer", "usual"]);
        let missed = order(0.2, 0.6);
        assert_eq!(names(&missed), ["newer", "last", "usual"]);
        assert!((missed[1].1 - 0.08).abs() < 1e-6, "{missed:?}");
    }

    #[test]
    fn a_stay_began_with_the_first_of_the_last_visits_to_one_place() {
        let of = |places: &[usize]| object(places);
        let moved = of(&[0, 1, 1]);
        assert_eq!(stay_began(&moved), moved.visits[1].first);
        let stayed = of(&[0, 0]);
        assert_eq!(stay_began(&stayed), stayed.visits[0].first);
    }

    #[test]
    fn guesses_share_half_of_the_probability_by_their_scores() {
        let goals = guess_probabilities(vec![(0.75, goal("a")), (0.25, goal("b"))]);
        let shares: Vec<f32> = goals.iter().map(|it| it.probability).collect();
        assert_eq!(shares, [0.375, 0.125]);
        assert!(guess_probabilities(Vec::new()).is_empty());
    }
}
