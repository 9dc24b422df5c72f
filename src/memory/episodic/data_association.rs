//! How many objects alike there are, and which one each sighting is of: as few as
//! explain where things were seen, and when.
//!
//! Pure. A thing that stands elsewhere hours later was carried there; one that would
//! have to be carried to and fro while a robot drives by is two.

use std::time::Duration;

use crate::base::pose::metres_between;
use crate::base::time::Timestamp;

/// A sighting of one or several things that look alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Detection {
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// Number of the place.
    pub(super) place: usize,
    pub(super) position: Option<[f64; 3]>,
    /// How many of them are seen at once, at least one.
    pub(super) copies: usize,
}

/// Most things that are told apart by where they were; with more of them a frame
/// decides, which shows several at once.
const TRACKS_MAX: usize = 6;

/// What another object costs, in the unit of [`move_cost`]: less than a thing that
/// jumps at once, more than one that was carried within a few minutes.
const OBJECT_COST: f64 = 2.5;
/// What it costs beside for each further round of the robot: two that stay are both
/// seen in most of them, while one is carried before its eyes now and then.
const ROUND_COST: f64 = 0.3;
/// A round ends where the thing is not seen for so long.
const ROUND_GAP: Duration = Duration::from_secs(3_600);

/// How unlikely it is that somebody carried a thing within so many seconds.
const MOVE_COSTS: &[(u64, f64)] = &[(120, 3.0), (10 * 60, 2.0), (30 * 60, 1.0), (3_600, 0.25)];
/// The same for a longer time.
const LATE_MOVE_COST: f64 = 0.02;

/// Places so near that one may be the other, seen from elsewhere.
const NEAR_METRES: f64 = 1.5;
const NEAR_FACTOR: f64 = 0.25;

/// Which detections are of one object: the numbers of the detections of each, ascending, the
/// object seen first at the front. `detections` are in the order of time.
pub(super) fn associate(detections: &[Detection]) -> Vec<Vec<usize>> {
    let copies = detections.iter().map(|detection| detection.copies).max().unwrap_or(0);
    let most = copies.max(TRACKS_MAX.min(copies + 3));
    let pauses = detections.iter().zip(detections.iter().skip(1));
    let pauses = pauses.filter(|(a, b)| b.first.since(a.last) > ROUND_GAP).count();
    #[expect(clippy::cast_precision_loss, reason = "at most some thousands")]
    let object_cost = OBJECT_COST + ROUND_COST * pauses as f64;
    let mut best: Option<(f64, Vec<Vec<usize>>)> = None;
    for objects in copies.max(1)..=most {
        let (moves, assigned) = assign(detections, objects);
        #[expect(clippy::cast_precision_loss, reason = "a handful")]
        let cost = moves + object_cost * objects as f64;
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, assigned));
        }
    }
    best.map(|(_, assigned)| assigned).unwrap_or_default()
}

/// Gives each detection to the object that was last seen there, else to a new one where
/// there may be more, else to the one that had most time to be carried. What that
/// costs, and the detections of each.
fn assign(detections: &[Detection], objects: usize) -> (f64, Vec<Vec<usize>>) {
    let mut tracks: Vec<Vec<usize>> = Vec::new();
    let mut total = 0.0;
    for (at, detection) in detections.iter().enumerate() {
        let mut taken: Vec<usize> = Vec::new();
        for _copy in 0..detection.copies {
            let free = (0..tracks.len()).filter(|track| !taken.contains(track));
            let costs = free.filter_map(|track| {
                let last = tracks.get(track)?.last().and_then(|last| detections.get(*last))?;
                let cost =
                    if last.place == detection.place { 0.0 } else { move_cost(last, detection) };
                Some((cost, last.last, track))
            });
            // Of equals the one that was seen there last.
            let cheapest = costs.min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let track = match cheapest {
                Some((cost, _, track)) if cost == 0.0 || tracks.len() >= objects => {
                    total += cost;
                    track
                }
                Some(_) | None => {
                    tracks.push(Vec::new());
                    tracks.len() - 1
                }
            };
            taken.push(track);
            if let Some(track) = tracks.get_mut(track) {
                track.push(at);
            }
        }
    }
    (total, tracks)
}

fn move_cost(from: &Detection, to: &Detection) -> f64 {
    let seconds = to.first.since(from.last).as_secs();
    let timed = MOVE_COSTS.iter().find(|(most, _)| seconds <= *most);
    let cost = timed.map_or(LATE_MOVE_COST, |(_, cost)| *cost);
    match (from.position, to.position) {
        (Some(a), Some(b)) if metres_between(a, b) < NEAR_METRES => NEAR_FACTOR * cost,
        (Some(_) | None, Some(_) | None) => cost,
    }
}

/// The times at which sightings of one object are apart enough to be of two visits.
pub(super) const VISIT_GAP: Duration = Duration::from_secs(30 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    /// Places are letters 5 m apart, minutes after the start.
    fn check(seen: &[(u64, char, usize)], expect: &[&[usize]]) {
        let detections: Vec<Detection> = seen
            .iter()
            .map(|(minutes, place, copies)| {
                let at = Timestamp::EPOCH.plus(Duration::from_secs(minutes * 60));
                let place = *place as usize - 'a' as usize;
                #[expect(clippy::cast_precision_loss, reason = "a letter")]
                let position = Some([5.0 * place as f64, 0.0, 0.0]);
                Detection { first: at, last: at, place, position, copies: *copies }
            })
            .collect();
        assert_eq!(associate(&detections), expect, "{seen:?}");
    }

    const HOUR: u64 = 60;

    #[test]
    fn a_thing_that_is_elsewhere_a_day_later_was_carried() {
        check(&[(0, 'a', 1), (24 * HOUR, 'b', 1)], &[&[0, 1]]);
        check(&[(0, 'a', 1), (5, 'b', 1)], &[&[0, 1]]);
        check(&[(0, 'a', 1), (6 * HOUR, 'b', 1), (12 * HOUR, 'a', 1)], &[&[0, 1, 2]]);
    }

    #[test]
    fn what_is_at_two_places_at_once_is_two() {
        check(&[(0, 'a', 1), (1, 'b', 1)], &[&[0], &[1]]);
    }

    #[test]
    fn what_comes_and_goes_while_the_robot_drives_by_is_two() {
        let rounds = [(0, 'a', 1), (4, 'b', 1), (120, 'a', 1), (124, 'b', 1)];
        check(&rounds, &[&[0, 2], &[1, 3]]);
        let three =
            [(0, 'a', 1), (4, 'b', 1), (8, 'c', 1), (120, 'a', 1), (124, 'b', 1), (128, 'c', 1)];
        check(&three, &[&[0, 3], &[1, 4], &[2, 5]]);
    }

    #[test]
    fn a_favourite_is_one_however_often_it_is_carried() {
        let seen: Vec<(u64, char, usize)> =
            (0..40).zip("abc".chars().cycle()).map(|(at, c)| (at * 2 * HOUR, c, 1)).collect();
        let all: Vec<usize> = (0..40).collect();
        check(&seen, &[&all]);
        // Carried before the robot's eyes on two of twenty rounds.
        let mut seen: Vec<(u64, char, usize)> = (0..20).map(|at| (at * 3 * HOUR, 'a', 1)).collect();
        seen.insert(6, (15 * HOUR + 5, 'b', 1));
        seen.insert(13, (33 * HOUR + 5, 'b', 1));
        let all: Vec<usize> = (0..22).collect();
        check(&seen, &[&all]);
    }

    #[test]
    fn two_in_one_frame_are_two() {
        check(&[(0, 'a', 2), (60, 'a', 1)], &[&[0, 1], &[0]]);
    }

    #[test]
    fn of_two_the_one_that_had_time_was_carried() {
        // One stays at a; the other goes from b to c over night.
        let seen = [
            (0, 'a', 1),
            (4, 'b', 1),
            (60, 'a', 1),
            (64, 'b', 1),
            (24 * HOUR, 'a', 1),
            (24 * HOUR + 4, 'c', 1),
        ];
        check(&seen, &[&[0, 2, 4], &[1, 3, 5]]);
    }

    #[test]
    fn nothing_seen_is_nothing() {
        check(&[], &[]);
    }
}
