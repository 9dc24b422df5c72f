//! Records in order, page by page and counted by time, without a query.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::Row;
use crate::index::columns::Condition;
use crate::search::segment::{Segment, SegmentReader};
use crate::search::{Corpus, Filter, condition};

/// Order of a list of records. Each is total and of what a record keeps for as long as it is
/// there, so that a page goes on where the one before ended, whatever came and went between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOrder {
    /// By the first moment, earliest first; the lower id of equals first.
    Oldest,
    /// The reverse.
    Newest,
    /// By id: in the order in which they were recorded.
    FirstRecorded,
    /// The reverse.
    LastRecorded,
}

/// Where in a list a record stands, also one that is there no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListPosition {
    /// Its first moment.
    pub at: Timestamp,
    pub id: RecordId,
}

impl ListPosition {
    /// The place of an id in the orders by id.
    pub fn of_id(id: RecordId) -> Self {
        Self { at: Timestamp::EPOCH, id }
    }
}

impl Corpus {
    /// The first `limit` records within a filter that come after a position.
    pub fn list(
        &self,
        filter: &Filter,
        order: ListOrder,
        after: Option<ListPosition>,
        limit: usize,
    ) -> Vec<ListPosition> {
        let mut found = Vec::new();
        for segment in self.segments().iter() {
            let reader = segment.read();
            match order {
                ListOrder::Oldest | ListOrder::Newest => {
                    found.extend(by_time(&reader, filter, (order, after), limit));
                }
                ListOrder::FirstRecorded | ListOrder::LastRecorded => {
                    found.extend(by_id(&reader, filter, (order, after), limit));
                }
            }
        }
        match order {
            ListOrder::Oldest => found.sort_unstable(),
            ListOrder::Newest => found.sort_unstable_by(|a, b| b.cmp(a)),
            ListOrder::FirstRecorded => found.sort_unstable_by_key(|it| it.id),
            ListOrder::LastRecorded => found.sort_unstable_by_key(|it| Reverse(it.id)),
        }
        found.truncate(limit);
        found
    }

    /// Where a record stands; `None` where it is there no more.
    pub fn list_position(&self, id: RecordId) -> Option<ListPosition> {
        let segments = self.segments();
        let (segment, row) = segments.iter().find_map(|it: &Segment| Some((it, it.row(id)?)))?;
        let (at, _) = segment.read().state.columns.times(row)?;
        Some(ListPosition { at, id })
    }
}

fn by_time(
    reader: &SegmentReader<'_>,
    filter: &Filter,
    (order, after): (ListOrder, Option<ListPosition>),
    limit: usize,
) -> Vec<ListPosition> {
    let columns = &reader.state.columns;
    let within = reader.select(&condition(filter));
    let position = |at, row| Some(ListPosition { at, id: reader.ids().of(row)? });
    let found = if order == ListOrder::Oldest {
        let from = after.map_or(Timestamp::EPOCH, |it| it.at);
        columns.begun_from((&within, from), limit, |at, row| {
            after.is_none_or(|after| position(at, row).is_some_and(|it| it > after))
        })
    } else {
        let until = after.map_or(Timestamp::LATEST, |it| it.at);
        columns.begun_until((&within, until), limit, |at, row| {
            after.is_none_or(|after| position(at, row).is_some_and(|it| it < after))
        })
    };
    found.into_iter().filter_map(|(at, row)| position(at, row)).collect()
}

fn by_id(
    reader: &SegmentReader<'_>,
    filter: &Filter,
    (order, after): (ListOrder, Option<ListPosition>),
    limit: usize,
) -> Vec<ListPosition> {
    let is_ascending = order == ListOrder::FirstRecorded;
    let ids = reader.ids();
    let is_passed = |after: ListPosition| {
        let end = if is_ascending { ids.last() } else { ids.first() };
        end.is_none_or(|end| if is_ascending { end <= after.id } else { end >= after.id })
    };
    if after.is_some_and(is_passed) {
        return Vec::new();
    }
    let within = reader.select(&condition(filter));
    let position = |row: Row| {
        let (at, _) = reader.state.columns.times(row)?;
        Some(ListPosition { at, id: ids.of(row)? })
    };
    let is_beyond = |it: &ListPosition| match after {
        None => true,
        Some(after) if is_ascending => it.id > after.id,
        Some(after) => it.id < after.id,
    };
    let rows = within.rows(reader.rows());
    if is_ascending {
        return rows.filter_map(position).filter(is_beyond).take(limit).collect();
    }
    // Rows come ascending only; the last `limit` of them are few.
    let mut last = VecDeque::new();
    for found in rows.filter_map(position).filter(is_beyond) {
        if last.len() == limit {
            last.pop_front();
        }
        last.push_back(found);
    }
    last.into()
}

/// How many records begin, and how many are seen, between one edge and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BucketCount {
    /// Records whose first moment lies in the bucket.
    pub begun: usize,
    /// Records that were seen at some moment of the bucket: also those that began before.
    pub seen: usize,
}

impl Corpus {
    /// Counts the records within a filter by time: one bucket from each edge up to the next one,
    /// the last to the end of time. Edges ascend. Reads the time columns alone.
    pub fn count_by_time(&self, filter: &Filter, edges: &[Timestamp]) -> Vec<BucketCount> {
        let mut begun = vec![0_usize; edges.len()];
        // Records seen from this bucket on, and up to the one before this one.
        let (mut from, mut until) = (vec![0_usize; edges.len()], vec![0_usize; edges.len() + 1]);
        // Neighbouring rows are near in time: most are in the bucket of the row before.
        let mut near = 0;
        for segment in self.segments().iter() {
            let reader = segment.read();
            let within = reader.select(&condition(filter));
            for row in within.rows(reader.rows()) {
                let Some((first, last)) = reader.state.columns.times(row) else { continue };
                let Some(end) = bucket(edges, last, &mut near) else { continue };
                let start = bucket(edges, first, &mut near);
                if let Some(count) = start.and_then(|start| begun.get_mut(start)) {
                    *count += 1;
                }
                if let Some(count) = from.get_mut(start.unwrap_or(0)) {
                    *count += 1;
                }
                if let Some(count) = until.get_mut(end + 1) {
                    *count += 1;
                }
            }
        }
        let mut seen = 0;
        let counts = begun.into_iter().zip(from.into_iter().zip(until));
        let counts = counts.map(|(begun, (from, until))| {
            seen = (seen + from).saturating_sub(until);
            BucketCount { begun, seen }
        });
        counts.collect()
    }

    /// First and last moment of the records within a filter.
    pub fn span_within(&self, filter: &Filter) -> Option<(Timestamp, Timestamp)> {
        if *filter == Filter::default() {
            return self.span();
        }
        let spans = self.segments().iter().filter_map(span_in(filter)).collect::<Vec<_>>();
        spans.into_iter().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}

fn span_in(filter: &Filter) -> impl Fn(&Segment) -> Option<(Timestamp, Timestamp)> {
    |segment| {
        let reader = segment.read();
        let within = reader.select(&condition(filter));
        let columns = &reader.state.columns;
        let (first, _) = *columns.oldest(&within, 1).first()?;
        let (last, _) = *columns.newest(&within, 1).first()?;
        Some((first, last))
    }
}

/// The bucket in which a moment lies; `None` before the first edge.
fn bucket(edges: &[Timestamp], at: Timestamp, near: &mut usize) -> Option<usize> {
    let holds = |bucket: usize| {
        edges.get(bucket).is_some_and(|edge| *edge <= at)
            && edges.get(bucket + 1).is_none_or(|next| at < *next)
    };
    if !holds(*near) {
        *near = edges.partition_point(|edge| *edge <= at).checked_sub(1)?;
    }
    Some(*near)
}

/// Records of one source in one map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginCount {
    pub source: String,
    pub map_id: String,
    pub records: usize,
}

impl Corpus {
    /// How many records each source made in each map, by name.
    pub fn origins(&self) -> Vec<OriginCount> {
        let mut counts = BTreeMap::new();
        for segment in self.segments().iter() {
            let reader = segment.read();
            let live = reader.select(&Condition::default());
            for (source, map_id, records) in reader.state.columns.origins(&live) {
                *counts.entry((source.to_owned(), map_id.to_owned())).or_insert(0) += records;
            }
        }
        let counts = counts.into_iter().filter(|(_, records)| *records > 0);
        counts.map(|((source, map_id), records)| OriginCount { source, map_id, records }).collect()
    }
}
