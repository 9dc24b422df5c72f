//! Evidence of a search for an object: the phrases that matched, how surely, and the
//! records of each segment that hold them. Only for explanations.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::columns::Condition;
use crate::index::phrases::{ObjectQuery, SceneQuery};
use crate::index::selection::Selection;
use crate::language::fit::{Certainty, Fit};
use crate::search::segment::SegmentReader;
use crate::search::sightings::{self, Context};
use crate::store::segment_meta::SegmentNumber;

/// Phrases listed of an object, at most; the rest is counted.
const PHRASES_MAX: usize = 16;

/// What decided which records show an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SightingEvidence {
    /// The target first, then what is around it.
    pub things: Vec<ObjectEvidence>,
    /// In the order of records.
    pub segments: Vec<SegmentEvidence>,
}

/// Phrases of captions that name one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectEvidence {
    /// Best fit first, then by the number of records.
    pub phrases: Vec<PhraseEvidence>,
    /// Phrases that are not listed.
    pub more: usize,
}

/// A phrase and how it fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhraseEvidence {
    pub phrase: String,
    /// `None` where one of its attributes excludes one of the query.
    pub fit: Option<Fit>,
    /// Records within the filter that hold it.
    pub records: u64,
}

/// What one segment holds of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentEvidence {
    /// `None` for a growing segment.
    pub segment: Option<SegmentNumber>,
    /// Its first and last record; `None` where it has none.
    pub records: Option<(RecordId, RecordId)>,
    /// First and last moment of its records.
    pub span: Option<(Timestamp, Timestamp)>,
    pub rows: usize,
    /// Rows within the filter.
    pub selected: usize,
    /// Of those, rows that show the object, by certainty.
    pub shown: BTreeMap<Certainty, u64>,
}

/// Collects the evidence that [`sightings::find`] used.
pub(super) fn collect(
    readers: &[SegmentReader<'_>],
    query: &SceneQuery,
    condition: &Condition<'_>,
) -> SightingEvidence {
    let selections: Vec<Selection> = readers.iter().map(|it| it.select(condition)).collect();
    let things = [&query.target].into_iter().chain(&query.around);
    let segments = readers.iter().zip(&selections);
    let context = sightings::context_of(readers, query, condition);
    SightingEvidence {
        things: things.map(|thing| of_object(readers, &selections, thing)).collect(),
        segments: segments
            .map(|(reader, within)| in_segment(reader, within, query, context))
            .collect(),
    }
}

fn of_object(
    readers: &[SegmentReader<'_>],
    selections: &[Selection],
    thing: &ObjectQuery,
) -> ObjectEvidence {
    // A phrase has the same attributes in every segment, so it fits alike in all.
    let mut held: BTreeMap<&str, (Option<Fit>, u64)> = BTreeMap::new();
    for (reader, within) in readers.iter().zip(selections) {
        let mut in_segment: BTreeMap<&str, (Option<Fit>, &RoaringBitmap)> = BTreeMap::new();
        for it in reader.phrases().naming(thing) {
            // Of several names of the thing the best fitting one counts.
            let held = in_segment.entry(it.phrase).or_insert((it.fit, it.rows));
            held.0 = held.0.max(it.fit);
        }
        for (phrase, (fit, rows)) in in_segment {
            held.entry(phrase).or_insert((fit, 0)).1 += within.of(rows).len();
        }
    }
    let found = held.into_iter().filter(|(_, (_, records))| *records > 0);
    let mut phrases: Vec<PhraseEvidence> = found
        .map(|(phrase, (fit, records))| PhraseEvidence { phrase: phrase.to_owned(), fit, records })
        .collect();
    phrases.sort_by(|a, b| (b.fit, b.records, &a.phrase).cmp(&(a.fit, a.records, &b.phrase)));
    let more = phrases.len().saturating_sub(PHRASES_MAX);
    phrases.truncate(PHRASES_MAX);
    ObjectEvidence { phrases, more }
}

fn in_segment(
    reader: &SegmentReader<'_>,
    within: &Selection,
    query: &SceneQuery,
    context: Context,
) -> SegmentEvidence {
    let mut shown: BTreeMap<Certainty, u64> = BTreeMap::new();
    for (rank, rows) in sightings::by_rank(reader.phrases(), query, context) {
        *shown.entry(rank.certainty).or_default() += within.of(&rows).len();
    }
    shown.retain(|_, rows| *rows > 0);
    let ids = reader.ids();
    SegmentEvidence {
        segment: reader.segment,
        records: ids.first().zip(ids.last()),
        span: reader.span(),
        rows: reader.rows(),
        selected: within.count(reader.rows()),
        shown,
    }
}
