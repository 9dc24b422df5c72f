//! What a look for a thing went by: the phrases that fitted it, how surely, and the
//! records of each piece that hold them. For whoever asks why; a search does without.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::columns::Condition;
use crate::index::mention::fit::{Certainty, Fit};
use crate::index::phrases::{Sought, Wanted};
use crate::index::selection::Selection;
use crate::search::piece::Reading;
use crate::search::sightings;
use crate::store::segments::SegmentNumber;

/// Most phrases told of a thing; the rest is counted.
const PHRASES_TOLD: usize = 16;

/// What decided which records show a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The wanted thing first, then what is around it.
    pub things: Vec<ThingEvidence>,
    /// In the order of records.
    pub pieces: Vec<PieceEvidence>,
}

/// The phrases of captions that name one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThingEvidence {
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
pub struct PieceEvidence {
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
    readings: &[Reading<'_>],
    wanted: &Wanted,
    condition: &Condition<'_>,
) -> Evidence {
    let selections: Vec<Selection> = readings.iter().map(|it| it.select(condition)).collect();
    let things = [&wanted.target].into_iter().chain(&wanted.around);
    let pieces = readings.iter().zip(&selections);
    Evidence {
        things: things.map(|thing| of_thing(readings, &selections, thing)).collect(),
        pieces: pieces.map(|(reading, within)| of_piece(reading, within, wanted)).collect(),
    }
}

fn of_thing(readings: &[Reading<'_>], selections: &[Selection], thing: &Sought) -> ThingEvidence {
    // A phrase has the same attributes in every piece, so it fits alike in all.
    let mut held: BTreeMap<&str, (Option<Fit>, u64)> = BTreeMap::new();
    for (reading, within) in readings.iter().zip(selections) {
        let mut of_piece: BTreeMap<&str, (Option<Fit>, &RoaringBitmap)> = BTreeMap::new();
        for it in reading.phrases().of_thing(thing) {
            of_piece.insert(it.phrase, (it.fit, it.rows));
        }
        for (phrase, (fit, rows)) in of_piece {
            held.entry(phrase).or_insert((fit, 0)).1 += within.of(rows).len();
        }
    }
    let found = held.into_iter().filter(|(_, (_, records))| *records > 0);
    let mut phrases: Vec<PhraseEvidence> = found
        .map(|(phrase, (fit, records))| PhraseEvidence { phrase: phrase.to_owned(), fit, records })
        .collect();
    phrases.sort_by(|a, b| (b.fit, b.records, &a.phrase).cmp(&(a.fit, a.records, &b.phrase)));
    let more = phrases.len().saturating_sub(PHRASES_TOLD);
    phrases.truncate(PHRASES_TOLD);
    ThingEvidence { phrases, more }
}

fn of_piece(reading: &Reading<'_>, within: &Selection, wanted: &Wanted) -> PieceEvidence {
    let by_certainty = sightings::by_certainty(reading.phrases(), wanted).into_iter();
    let shown = by_certainty.map(|(certainty, rows)| (certainty, within.of(&rows).len()));
    let ids = reading.ids();
    PieceEvidence {
        segment: reading.segment,
        records: ids.first().zip(ids.last()),
        span: reading.span(),
        rows: reading.rows(),
        selected: within.count(reading.rows()),
        shown: shown.filter(|(_, rows)| *rows > 0).collect(),
    }
}
