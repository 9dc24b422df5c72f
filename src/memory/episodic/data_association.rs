//! Data association: how many identical objects there are, and which detection is of which. The
//! fewest objects that explain places and times at the least cost.
//!
//! Pure. Greedy nearest-neighbour assignment for each number of objects, and the number with
//! the least total of transition costs and object costs. A thing that stands elsewhere hours
//! later was carried; one that would have to move to and fro while the robot drives by is two.

use std::time::Duration;

use crate::base::pose::metres_between;
use crate::base::time::Timestamp;

/// Detection of one or several identical things.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Detection {
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// Number of the place.
    pub(super) place: usize,
    pub(super) position: Option<[f64; 3]>,
    /// Things seen at once, at least one.
    pub(super) copies: usize,
}

/// Most objects separated by place and time alone; more only where one frame shows more at
/// once.
const TRACKS_MAX: usize = 6;

/// Cost of another object, in the unit of [`move_cost`]: less than a jump within seconds, more
/// than a move within minutes.
const OBJECT_COST: f64 = 2.5;
/// Cost of another object per further round of the robot: two that stay are both seen in most
/// rounds, while one is carried in view only now and then.
const ROUND_COST: f64 = 0.3;
/// Pause that separates two rounds.
const ROUND_GAP: Duration = Duration::from_hours(1);

/// Cost of a move within so many seconds.
const MOVE_COSTS: &[(u64, f64)] = &[(120, 3.0), (10 * 60, 2.0), (30 * 60, 1.0), (3_600, 0.25)];
/// Cost of a move over a longer time.
const LATE_MOVE_COST: f64 = 0.02;

/// Distance below which two places may be one seen from elsewhere, and its cost factor.
const NEAR_METRES: f64 = 1.5;
const NEAR_FACTOR: f64 = 0.25;

/// Distance that hardly anything is carried, and what a move over it costs at least: what is seen
/// now here, now there, on several rounds, is two.
const FAR_METRES: f64 = 50.0;
const FAR_MOVE_COST: f64 = 1.0;
/// Metres a second that no thing is carried faster, and the cost of that.
const FASTEST: f64 = 15.0;
const IMPOSSIBLE_COST: f64 = 1_000.0;

/// Distance from which on two detections of what never moves are two objects: a robot sees a
/// door from so far.
const FIXTURE_METRES: f64 = 10.0;

/// Tracks of what never moves, as [`associate`] has them: by place alone.
pub(super) fn associate_fixtures(detections: &[Detection]) -> Vec<Vec<usize>> {
    let is_one = |a: &Detection, b: &Detection| {
        let far = a.position.zip(b.position).map(|(a, b)| metres_between(a, b) >= FIXTURE_METRES);
        a.place == b.place || far == Some(false)
    };
    let mut tracks: Vec<Vec<usize>> = Vec::new();
    for (at, detection) in detections.iter().enumerate() {
        let mut seen = tracks.iter_mut().filter(|track| {
            let mut others = track.iter().filter_map(|other| detections.get(*other));
            others.any(|other| is_one(other, detection))
        });
        let mut joined = 0;
        for track in seen.by_ref().take(detection.copies) {
            track.push(at);
            joined += 1;
        }
        let new = detection.copies.saturating_sub(joined);
        tracks.extend(std::iter::repeat_n(vec![at], new));
    }
    tracks
}

/// Tracks: the numbers of the detections of each object, ascending, the object seen first at
/// the front. `detections` are in the order of time.
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

/// Cost and tracks of an assignment to at most so many objects: each detection goes to the
/// object last seen there, else to a new one, else to the one with the cheapest move.
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
            // Ties go to the object seen there last.
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
    let Some((a, b)) = from.position.zip(to.position) else { return cost };
    let metres = metres_between(a, b);
    #[expect(clippy::cast_precision_loss, reason = "seconds of some years")]
    let is_impossible = metres >= FAR_METRES && metres > FASTEST * seconds as f64;
    match metres {
        _ if is_impossible => IMPOSSIBLE_COST,
        it if it < NEAR_METRES => NEAR_FACTOR * cost,
        it if it >= FAR_METRES => cost.max(FAR_MOVE_COST),
        _ => cost,
    }
}

/// Pause that separates two visits.
pub const VISIT_GAP: Duration = Duration::from_mins(30);

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
    fn a_thing_elsewhere_hours_later_is_one_object() {
        check(&[(0, 'a', 1), (24 * HOUR, 'b', 1)], &[&[0, 1]]);
        check(&[(0, 'a', 1), (5, 'b', 1)], &[&[0, 1]]);
        check(&[(0, 'a', 1), (6 * HOUR, 'b', 1), (12 * HOUR, 'a', 1)], &[&[0, 1, 2]]);
    }

    #[test]
    fn detections_at_two_places_at_once_are_two_objects() {
        check(&[(0, 'a', 1), (1, 'b', 1)], &[&[0], &[1]]);
    }

    #[test]
    fn detections_that_alternate_within_rounds_are_several_objects() {
        let rounds = [(0, 'a', 1), (4, 'b', 1), (120, 'a', 1), (124, 'b', 1)];
        check(&rounds, &[&[0, 2], &[1, 3]]);
        let three =
            [(0, 'a', 1), (4, 'b', 1), (8, 'c', 1), (120, 'a', 1), (124, 'b', 1), (128, 'c', 1)];
        check(&three, &[&[0, 3], &[1, 4], &[2, 5]]);
    }

    #[test]
    fn a_thing_carried_often_is_one_object() {
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
    fn two_in_one_frame_are_two_objects() {
        check(&[(0, 'a', 2), (60, 'a', 1)], &[&[0, 1], &[0]]);
    }

    #[test]
    fn the_object_with_more_time_is_the_one_that_moved() {
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
    fn what_is_seen_far_apart_again_and_again_or_at_once_is_two() {
        // 100 metres apart, half an hour on the way.
        let rounds = [(0, 'a', 1), (30, 'u', 1), (24 * HOUR, 'a', 1), (24 * HOUR + 30, 'u', 1)];
        check(&rounds, &[&[0, 2], &[1, 3]]);
        check(&rounds[..2], &[&[0, 1]]);
        check(&[(0, 'a', 1), (0, 'u', 1)], &[&[0], &[1]]);
    }

    #[test]
    fn no_detections_give_no_tracks() {
        check(&[], &[]);
    }
}
