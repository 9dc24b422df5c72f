//! Sightings of an object, from the phrases of all segments alone: the last, and how many.
//! Never the newest of the most similar.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::columns::Condition;
use crate::index::phrases::{PhraseMatches, Phrases, SceneQuery};
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

/// Rows within a condition that match the query; `None` where none does better than
/// [`Certainty::Related`].
pub(super) fn find<'a>(
    readers: &'a [SegmentReader<'a>],
    query: &SceneQuery,
    condition: &Condition<'_>,
) -> Option<SightingRows<'a>> {
    let mut found: BTreeMap<Certainty, Vec<(&SegmentReader<'_>, RoaringBitmap)>> = BTreeMap::new();
    let around = around_of(readers, query, condition);
    for reader in readers {
        let within = reader.select(condition);
        for (certainty, rows) in by_certainty(reader.phrases(), query, around) {
            let rows = within.of(&rows);
            if !rows.is_empty() {
                found.entry(certainty).or_default().push((reader, rows));
            }
        }
    }
    let (certainty, segments) = found.pop_last().filter(|(it, _)| *it > Certainty::Related)?;
    Some(SightingRows { certainty, segments })
}

/// What counts as a thing around the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    /// One of which something of its description is said.
    Described,
    /// Any that it may be: "a windowsill" for "the grey windowsill".
    Possible,
}

/// What counts as the things around: those that are described, where such a record is.
pub(super) fn around_of(
    readers: &[SegmentReader<'_>],
    query: &SceneQuery,
    condition: &Condition<'_>,
) -> Around {
    let is_described = |reader: &SegmentReader<'_>| {
        let (rows, _) = in_place(reader.phrases(), query, Around::Described);
        !reader.select(condition).of(&rows).is_empty()
    };
    let is_any = !query.around.is_empty() && readers.iter().any(is_described);
    if is_any { Around::Described } else { Around::Possible }
}

/// Rows of a segment that show the target with all that is around it, and all matches of
/// the target.
fn in_place(
    phrases: &Phrases,
    query: &SceneQuery,
    around: Around,
) -> (RoaringBitmap, PhraseMatches) {
    let target = phrases.matches(&query.target);
    let mut in_place = target.full.clone();
    for thing in &query.around {
        if in_place.is_empty() {
            break;
        }
        let matches = phrases.matches(thing);
        in_place &= match around {
            Around::Described => matches.full | matches.partial,
            Around::Possible => matches.union_named(),
        };
    }
    (in_place, target)
}

/// Rows of a segment that match the query, by certainty.
pub(super) fn by_certainty(
    phrases: &Phrases,
    query: &SceneQuery,
    around: Around,
) -> Vec<(Certainty, RoaringBitmap)> {
    let (in_place, target) = in_place(phrases, query, around);
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
