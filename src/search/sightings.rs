//! Which records show a thing, decided from the phrases of all pieces alone: the
//! last, the first, how many, and when. Never the newest of the most similar.

use std::collections::BTreeMap;
use std::time::Duration;

use roaring::RoaringBitmap;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::Row;
use crate::index::columns::Condition;
use crate::index::mention::fit::Certainty;
use crate::index::phrases::{Phrases, Wanted};
use crate::search::piece::Reading;

/// Records that show a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The same for all of them: the surest there are.
    pub certainty: Certainty,
    pub records: Vec<RecordId>,
}

/// How often and when a thing was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// The same for all sightings: the surest there are.
    pub certainty: Certainty,
    pub count: u64,
    pub first: Timestamp,
    pub last: Timestamp,
    /// Sightings by the quarter of an hour in which they began, where there are any.
    pub quarters: BTreeMap<Timestamp, u64>,
}

/// Clocks differ by whole quarters of an hour.
const QUARTER: Duration = Duration::from_secs(900);

/// The rows of each piece that show a thing most surely.
#[derive(Debug)]
pub(super) struct Sightings<'a> {
    certainty: Certainty,
    pieces: Vec<(&'a Reading<'a>, RoaringBitmap)>,
}

/// The rows within a condition that show what is wanted; `None` where none does.
pub(super) fn find<'a>(
    readings: &'a [Reading<'a>],
    wanted: &Wanted,
    condition: &Condition<'_>,
) -> Option<Sightings<'a>> {
    let mut found: BTreeMap<Certainty, Vec<(&Reading<'_>, RoaringBitmap)>> = BTreeMap::new();
    for reading in readings {
        let within = reading.select(condition);
        for (certainty, rows) in by_certainty(reading.phrases(), wanted) {
            let rows = within.of(&rows);
            if !rows.is_empty() {
                found.entry(certainty).or_default().push((reading, rows));
            }
        }
    }
    let (certainty, pieces) = found.pop_last()?;
    Some(Sightings { certainty, pieces })
}

/// The rows of a piece that show what is wanted, by how surely.
pub(super) fn by_certainty(phrases: &Phrases, wanted: &Wanted) -> Vec<(Certainty, RoaringBitmap)> {
    let target = phrases.seen(&wanted.target);
    let mut in_place = target.full.clone();
    for thing in &wanted.around {
        if in_place.is_empty() {
            break;
        }
        in_place &= phrases.seen(thing).all();
    }
    let shown = target.full - &in_place;
    vec![
        (Certainty::InPlace, in_place),
        (Certainty::Shown, shown),
        (Certainty::Possible, target.possible),
    ]
}

impl Sightings<'_> {
    pub(super) fn newest(&self, k: usize) -> Seen {
        let mut all: Vec<(Timestamp, RecordId)> = Vec::new();
        for (reading, rows) in &self.pieces {
            let newest = reading.live.columns.newest_of(rows, k).into_iter();
            all.extend(newest.filter_map(|(at, row)| Some((at, reading.ids().of(row)?))));
        }
        all.sort_unstable_by(|a, b| b.cmp(a));
        self.first_of(all, k)
    }

    pub(super) fn oldest(&self, k: usize) -> Seen {
        let mut all: Vec<(Timestamp, RecordId)> = Vec::new();
        for (reading, rows) in &self.pieces {
            let oldest = reading.live.columns.oldest_of(rows, k).into_iter();
            all.extend(oldest.filter_map(|(at, row)| Some((at, reading.ids().of(row)?))));
        }
        all.sort_unstable();
        self.first_of(all, k)
    }

    pub(super) fn times(&self) -> Times {
        let mut times = Times {
            certainty: self.certainty,
            count: 0,
            first: Timestamp::LATEST,
            last: Timestamp::EPOCH,
            quarters: BTreeMap::new(),
        };
        // Rows of a quarter come one after the other: counted before they are filed.
        let (mut quarter, mut run) = (Timestamp::EPOCH, 0);
        for (reading, rows) in &self.pieces {
            for row in rows {
                let Some((first, last)) = reading.live.columns.times(Row(row)) else {
                    continue;
                };
                times.count += 1;
                times.first = times.first.min(first);
                times.last = times.last.max(last);
                let next = first.floor(QUARTER);
                if next != quarter {
                    add(&mut times.quarters, quarter, run);
                    (quarter, run) = (next, 0);
                }
                run += 1;
            }
        }
        add(&mut times.quarters, quarter, run);
        times
    }

    fn first_of(&self, all: Vec<(Timestamp, RecordId)>, k: usize) -> Seen {
        let records = all.into_iter().take(k).map(|(_, id)| id).collect();
        Seen { certainty: self.certainty, records }
    }
}

fn add(quarters: &mut BTreeMap<Timestamp, u64>, quarter: Timestamp, run: u64) {
    if run > 0 {
        *quarters.entry(quarter).or_default() += run;
    }
}
