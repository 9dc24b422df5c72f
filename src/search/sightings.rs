//! Sightings of an object, from the phrases of all segments alone: the last, and how many.
//! Never the newest of the most similar.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::columns::Condition;
use crate::index::phrases::{Phrases, SceneQuery};
use crate::language::fit::Certainty;
use crate::search::segment::SegmentReader;

/// Records that show an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectSightings {
    /// Certainty of all of them: the highest there is.
    pub certainty: Certainty,
    pub records: Vec<RecordId>,
}

/// Rows of each segment that show an object, of the highest certainty.
#[derive(Debug)]
pub(super) struct SightingRows<'a> {
    certainty: Certainty,
    segments: Vec<(&'a SegmentReader<'a>, RoaringBitmap)>,
}

/// Rows within a condition that match the query; `None` where none does.
pub(super) fn find<'a>(
    readers: &'a [SegmentReader<'a>],
    query: &SceneQuery,
    condition: &Condition<'_>,
) -> Option<SightingRows<'a>> {
    let mut found: BTreeMap<Certainty, Vec<(&SegmentReader<'_>, RoaringBitmap)>> = BTreeMap::new();
    for reader in readers {
        let within = reader.select(condition);
        for (certainty, rows) in by_certainty(reader.phrases(), query) {
            let rows = within.of(&rows);
            if !rows.is_empty() {
                found.entry(certainty).or_default().push((reader, rows));
            }
        }
    }
    let (certainty, segments) = found.pop_last()?;
    Some(SightingRows { certainty, segments })
}

/// Rows of a segment that match the query, by certainty.
pub(super) fn by_certainty(
    phrases: &Phrases,
    query: &SceneQuery,
) -> Vec<(Certainty, RoaringBitmap)> {
    let target = phrases.matches(&query.target);
    let mut in_place = target.full.clone();
    for thing in &query.around {
        if in_place.is_empty() {
            break;
        }
        in_place &= phrases.matches(thing).named();
    }
    let shown = target.full - &in_place;
    vec![
        (Certainty::InPlace, in_place),
        (Certainty::Shown, shown),
        (Certainty::Partial, target.partial),
        (Certainty::Possible, target.possible),
        (Certainty::Related, target.related),
    ]
}

impl SightingRows<'_> {
    pub(super) fn newest(&self, k: usize) -> ObjectSightings {
        let mut all: Vec<(Timestamp, RecordId)> = Vec::new();
        for (reader, rows) in &self.segments {
            let newest = reader.state.columns.newest_of(rows, k).into_iter();
            all.extend(newest.filter_map(|(at, row)| Some((at, reader.ids().of(row)?))));
        }
        all.sort_unstable_by(|a, b| b.cmp(a));
        let records = all.into_iter().take(k).map(|(_, id)| id).collect();
        ObjectSightings { certainty: self.certainty, records }
    }

    pub(super) fn count(&self) -> u64 {
        self.segments.iter().map(|(_, rows)| rows.len()).sum()
    }
}
