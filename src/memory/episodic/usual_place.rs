//! The place at which most was seen: where a thing usually is, wherever it is now.
//!
//! Pure. Positions alone tell places apart: what captions call a place does not move the robot.

use crate::base::RecordId;
use crate::base::pose::Pose;
use crate::base::time::Timestamp;
use crate::memory::episodic::data_association::VISIT_GAP;
use crate::memory::episodic::instances::PLACE_METRES;
use crate::store::Record;

/// Place with most visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsualPlace {
    /// Its newest record.
    pub record: RecordId,
    /// Visits of the robot that are counted for it.
    pub visits: usize,
    /// Visits to all places.
    pub of: usize,
}

/// The place with most visits that `is_telling` among those of `records` that have a position, of
/// several the one with most of all visits, then with the newest; `None` where none has one.
pub fn usual_place<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    is_telling: impl Fn(&Record) -> bool,
) -> Option<UsualPlace> {
    struct Place<'a> {
        pose: Pose,
        map: &'a str,
        /// Whether it tells, of each visit.
        visits: Vec<bool>,
        last: Timestamp,
        newest: RecordId,
    }
    let placed = records.into_iter().filter_map(|it| Some((it.meta.pose?, it)));
    let mut placed: Vec<(Pose, &Record)> = placed.collect();
    placed.sort_by_key(|(_, it)| (it.meta.taken_at, it.id));
    let mut places: Vec<Place<'_>> = Vec::new();
    for (pose, record) in placed {
        let (first, last, newest) = (record.meta.taken_at, record.end_at, record.id);
        let tells = is_telling(record);
        let map = record.meta.map_id.as_str();
        let is_here =
            |it: &&mut Place<'_>| it.map == map && it.pose.distance_metres(&pose) <= PLACE_METRES;
        match places.iter_mut().find(is_here) {
            Some(here) => {
                match here.visits.last_mut() {
                    Some(visit) if first.since(here.last) <= VISIT_GAP => *visit |= tells,
                    Some(_) | None => here.visits.push(tells),
                }
                (here.last, here.newest) = (here.last.max(last), newest);
            }
            None => places.push(Place { pose, map, visits: vec![tells], last, newest }),
        }
    }
    let telling = |it: &Place<'_>| it.visits.iter().filter(|it| **it).count();
    let of = places.iter().map(telling).sum();
    let rank = |it: &Place<'_>| (telling(it), it.visits.len(), it.last, it.newest);
    let most = places.iter().max_by_key(|it| rank(it))?;
    Some(UsualPlace { record: most.newest, visits: telling(most), of })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::episodic::instances::tests::records;

    #[test]
    fn the_place_of_most_visits_is_usual() {
        let mug = "a mug";
        // Thrice within one visit, then once each on two other days.
        let seen = [(0, 9.0, mug), (5, 9.1, mug), (10, 9.0, mug), (1_440, 1.0, mug)];
        let mut all = records(&[seen.as_slice(), &[(2_880, 1.5, mug)]].concat());
        let usual = |id, visits, of| Some(UsualPlace { record: RecordId(id), visits, of });
        let of_all = |records: &[Record]| usual_place(records, |_| true);
        assert_eq!(of_all(&all), usual(5, 2, 3));
        assert_eq!(of_all(&all[..4]), usual(4, 1, 2), "the newest of as many");
        let is_one_of = |ids: &'static [u64]| move |it: &Record| ids.contains(&it.id.0);
        assert_eq!(usual_place(&all, is_one_of(&[1, 3])), usual(3, 1, 1), "one visit");
        assert_eq!(usual_place(&all, is_one_of(&[1, 4])), usual(5, 1, 2), "often besides");
        all[4].meta.map_id = "office".to_owned();
        assert_eq!(of_all(&all), usual(5, 1, 3), "another map is another place");
        all[3].meta.pose = None;
        all[4].meta.pose = None;
        assert_eq!(of_all(&all), usual(3, 1, 1));
        assert_eq!(of_all(&[]), None);
    }
}
