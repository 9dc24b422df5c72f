//! What a look for a thing went by: the phrases that fitted it, how surely, and the
//! records of each piece that hold them. For whoever asks why; a search does without.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::columns::Condition;
use crate::index::mention::fit::{Certainty, Fit};
use crate::index::phrases::{ObjectQuery, SceneQuery};
use crate::index::selection::Selection;
use crate::search::segment::SegmentReader;
use crate::search::sightings;
use crate::store::segment_meta::SegmentNumber;

/// Most phrases told of a thing; the rest is counted.
const PHRASES_MAX: usize = 16;

/// What decided which records show a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SightingEvidence {
    /// The wanted thing first, then what is around it.
    pub things: Vec<ObjectEvidence>,
    /// In the order of records.
    pub segments: Vec<SegmentEvidence>,
}

/// The phrases of captions that name one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectEvidence {
    /// The best fitting first, of those the ones that most records hold.
    pub phrases: Vec<PhraseEvidence>,
    /// Phrases that are not told.
    pub more: usize,
}

/// A phrase and how it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhraseEvidence {
    pub phrase: String,
    /// `None` where one of its attributes excludes a wanted one.
    pub fit: Option<Fit>,
    /// Records within the filter that hold it.
    pub records: u64,
}

/// What one piece holds of the thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentEvidence {
    /// `None` for records that are in no segment yet.
    pub segment: Option<SegmentNumber>,
    /// Its first and last record; `None` where it has none.
    pub records: Option<(RecordId, RecordId)>,
    /// First and last moment of them.
    pub span: Option<(Timestamp, Timestamp)>,
    pub rows: usize,
    /// Rows within the filter.
    pub selected: usize,
    /// Of those, rows that show the thing, by how surely.
    pub shown: BTreeMap<Certainty, u64>,
}

/// Looks again at what [`sightings::find`] went by.
pub(super) fn collect(
    readers: &[SegmentReader<'_>],
    query: &SceneQuery,
    condition: &Condition<'_>,
) -> SightingEvidence {
    let selections: Vec<Selection> = readers.iter().map(|it| it.select(condition)).collect();
    let things = [&query.target].into_iter().chain(&query.around);
    let segments = readers.iter().zip(&selections);
    SightingEvidence {
        things: things.map(|thing| of_object(readers, &selections, thing)).collect(),
        segments: segments.map(|(reader, within)| in_segment(reader, within, query)).collect(),
    }
}

fn of_object(
    readers: &[SegmentReader<'_>],
    selections: &[Selection],
    thing: &ObjectQuery,
) -> ObjectEvidence {
    // A phrase has the same attributes in every piece, so it fits alike in all.
    let mut held: BTreeMap<&str, (Option<Fit>, u64)> = BTreeMap::new();
    for (reader, within) in readers.iter().zip(selections) {
        let mut in_segment: BTreeMap<&str, (Option<Fit>, &RoaringBitmap)> = BTreeMap::new();
        for it in reader.phrases().naming(thing) {
            in_segment.insert(it.phrase, (it.fit, it.rows));
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
) -> SegmentEvidence {
    let by_certainty = sightings::by_certainty(reader.phrases(), query).into_iter();
    let shown = by_certainty.map(|(certainty, rows)| (certainty, within.of(&rows).len()));
    let ids = reader.ids();
    SegmentEvidence {
        segment: reader.segment,
        records: ids.first().zip(ids.last()),
        span: reader.span(),
        rows: reader.rows(),
        selected: within.count(reader.rows()),
        shown: shown.filter(|(_, rows)| *rows > 0).collect(),
    }
}
