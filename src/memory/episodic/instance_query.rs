//! Instance queries of the memory: the objects that records show, and the one that a request
//! means.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::RecordId;
use crate::base::area::Area;
use crate::base::pose::metres_between;
use crate::base::time::{Timestamp, Window, Zone};
use crate::index::phrases::{ObjectQuery, SceneQuery};
use crate::language::reference::{Order, Reference};
use crate::memory::episodic::instances::{self, Instance};
use crate::memory::episodic::last_seen::{Sighting, Wording};
use crate::memory::episodic::ranking::{self, DoneWith, RankBy, RankingCriteria};
use crate::memory::episodic::sighting_confidence::{
    self, HISTORY_SPAN, PlaceHistory, VIEWPOINT_METRES,
};
use crate::memory::episodic::{Episodic, MemoryError};
use crate::search::{Filter, Query};
use crate::store::Record;

/// Sightings of a description, and their count.
#[derive(Debug, Clone, PartialEq)]
pub struct SightingList {
    /// In the order of time; of more than were asked for the newest.
    pub sightings: Vec<Sighting>,
    /// How many there are.
    pub total: u64,
}

/// Most viewpoints and newest observations of each that are read as evidence against
/// misdetections, and newest sightings that give the prior.
const VIEWPOINTS_MAX: usize = 32;
const OBSERVATIONS_MAX: usize = 128;
const SIGHTINGS_MAX: usize = 256;
/// Sightings of the anchor of "nearest to".
const ANCHORS_MAX: usize = 8;

impl Episodic {
    /// Sightings within `filter` of what `query` describes, with the best certainty that
    /// [`Episodic::last_seen`] finds, and of its kinds: novels are among the books. Of more than `k`
    /// the newest. In any words, also what captions call otherwise.
    pub fn list_sightings(
        &self,
        query: &str,
        (filter, k): (&Filter, usize),
        wording: Wording,
    ) -> Result<SightingList, MemoryError> {
        let mut wanted = self.scene_query(query)?;
        self.vocabulary.take_kinds(&mut wanted.target);
        let total = self.corpus.count_sightings(&wanted, filter);
        let vector = self.query_vector(query)?;
        let asked = Query { text: query, vector: vector.as_ref(), filter, accepts: None, k };
        let sightings = match self.corpus.last_sightings(&wanted, filter, k) {
            Some(seen) => self.sightings(&asked, &wanted, seen)?,
            None => Vec::new(),
        };
        let mut list = SightingList { sightings, total };
        if wording == Wording::Any {
            list = self.with_other_words(&asked, &wanted, list)?;
        }
        let SightingList { mut sightings, total } = list;
        sightings.sort_by_key(|it| (it.recalled.record.meta.taken_at, it.recalled.record.id));
        sightings.drain(..sightings.len().saturating_sub(k));
        Ok(SightingList { sightings, total })
    }

    /// Physical objects that `records` show of the first noun phrase in `thing`; see
    /// [`instances::group`]. None where `thing` has no noun phrase.
    pub fn instances(
        &self,
        thing: &str,
        records: &[Record],
        zone: Zone,
    ) -> Result<Vec<Instance>, MemoryError> {
        let Some(SceneQuery { target, .. }) = self.read_query(thing)? else {
            return Ok(Vec::new());
        };
        let history = self.place_history(records, &target)?;
        Ok(instances::group(records, &history, &target, zone))
    }

    /// Observations at the places of `records`, and other sightings of the target; empty where
    /// no caption is unsure.
    pub(super) fn place_history(
        &self,
        records: &[Record],
        wanted: &ObjectQuery,
    ) -> Result<PlaceHistory, MemoryError> {
        let is_unsure = |it: &&Record| sighting_confidence::is_unsure(it);
        if !records.iter().any(sighting_confidence::is_unsure) {
            return Ok(PlaceHistory::default());
        }
        let mut ids: BTreeSet<RecordId> = BTreeSet::new();
        for area in history_filters(records.iter().filter(is_unsure)) {
            ids.extend(self.corpus.newest(&area, OBSERVATIONS_MAX, &[]));
        }
        let alike = SceneQuery::of_thing(wanted.clone());
        let alike = self.corpus.last_sightings(&alike, &Filter::default(), SIGHTINGS_MAX);
        ids.extend(alike.into_iter().flat_map(|it| it.records));
        ids.extend(records.iter().map(|it| it.id));
        let ids: Vec<RecordId> = ids.into_iter().collect();
        Ok(PlaceHistory::of(self.store.records(&ids)?, wanted))
    }

    /// As [`Episodic::instances`], ranked by the reference; its times are as of `now`.
    pub fn rank_instances(
        &self,
        reference: &Reference,
        records: &[Record],
        now: Timestamp,
        zone: Zone,
    ) -> Result<Vec<Instance>, MemoryError> {
        let mut found = self.instances(&reference.thing, records, zone)?;
        let criteria = self.ranking_criteria(reference, now, zone)?;
        let by_id: BTreeMap<RecordId, Record> =
            records.iter().map(|record| (record.id, record.clone())).collect();
        ranking::rank(&mut found, &by_id, &criteria, zone);
        Ok(found)
    }

    fn ranking_criteria(
        &self,
        reference: &Reference,
        now: Timestamp,
        zone: Zone,
    ) -> Result<RankingCriteria, MemoryError> {
        let by = match &reference.order {
            None | Some(Order::MostOften) => RankBy::MostOften,
            Some(Order::LeastOften) => RankBy::LeastOften,
            Some(Order::Latest) => RankBy::Latest,
            Some(Order::Earliest) => RankBy::Earliest,
            Some(Order::LongestAgo) => RankBy::LongestAgo,
            Some(Order::NearestTo(what)) => RankBy::NearestTo(self.viewpoints_of(what)?),
        };
        let around = reference.around.iter().filter_map(|it| self.object_query(it));
        let thing = reference.doing.as_ref().and_then(|_| self.object_query(&reference.thing));
        let doing = reference.doing.as_deref().zip(thing);
        Ok(RankingCriteria {
            by,
            around: around.collect(),
            doing: doing.map(|(verb, thing)| DoneWith::new(verb, reference.doer.as_deref(), thing)),
            when: reference.when.iter().map(|it| it.resolve(now, zone)).collect(),
        })
    }

    fn object_query(&self, words: &str) -> Option<ObjectQuery> {
        self.read_literally(words).map(|wanted| wanted.target)
    }

    /// Positions of the robot at the last sightings of a thing.
    fn viewpoints_of(&self, what: &str) -> Result<Vec<[f64; 3]>, MemoryError> {
        let seen = match self.last_seen(what, &Filter::default(), ANCHORS_MAX) {
            Ok(seen) => seen,
            Err(MemoryError::NamesNothing(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        let poses = seen.into_iter().filter_map(|it| it.recalled.record.meta.pose);
        Ok(poses.map(|pose| pose.position).collect())
    }
}

/// Filters around the viewpoints of `records`, over the times that are evidence.
fn history_filters<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<Filter> {
    struct ViewpointSpan<'a> {
        at: &'a Record,
        position: [f64; 3],
        first: Timestamp,
        last: Timestamp,
    }
    let mut viewpoints: Vec<ViewpointSpan<'_>> = Vec::new();
    for record in records {
        let Some(pose) = record.meta.pose else { continue };
        let (position, first, last) = (pose.position, record.meta.taken_at, record.end_at);
        let is_full = viewpoints.len() >= VIEWPOINTS_MAX;
        let known = viewpoints.iter_mut().find(|it| {
            (&it.at.meta.map_id, &it.at.meta.frame_id)
                == (&record.meta.map_id, &record.meta.frame_id)
                && metres_between(it.position, position) <= VIEWPOINT_METRES
        });
        match known {
            Some(viewpoint) => {
                (viewpoint.first, viewpoint.last) =
                    (viewpoint.first.min(first), viewpoint.last.max(last));
            }
            None if is_full => {}
            None => viewpoints.push(ViewpointSpan { at: record, position, first, last }),
        }
    }
    let area = |it: ViewpointSpan<'_>| {
        let [x, y, z] = it.position;
        let meta = &it.at.meta;
        // Two poses within reach of one viewpoint may be that far apart.
        let radius = 2.0 * VIEWPOINT_METRES;
        let area = Area::new((x, y, Some(z)), radius, &meta.frame_id, &meta.map_id).ok()?;
        let window =
            Window::new(Some(it.first.minus(HISTORY_SPAN)), Some(it.last.plus(HISTORY_SPAN)))
                .ok()?;
        Some(Filter { window, area: Some(area), ..Filter::default() })
    };
    viewpoints.into_iter().filter_map(area).collect()
}
