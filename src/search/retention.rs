//! Retention: lets go of the records that are beyond their age or their number, in whatever
//! segment they are and in whatever order they came.
//!
//! In *rounds*, since what a sealed segment holds of a record is gone from the disk only when
//! the segment is written anew: a round begins when a record is late by a 64th of its time, or
//! when there are a 64th too many, and then all go that are beyond. So a segment is written anew
//! some 64 times in the time that it is kept, whether a record comes once an hour or a thousand
//! times a minute.
//!
//! Leading segments that are out as a whole go at once, by the floor; of all others single
//! rows, as [`crate::search::Changes::forget`] does, some at a time so that nobody waits.

use std::time::Duration;

use crate::base::RecordId;
use crate::base::time::{Timestamp, Window};
use crate::index::Row;
use crate::index::columns::Condition;
use crate::search::Corpus;
use crate::search::compaction::{Compaction, CompactionError, Options};
use crate::search::seal::StopCheck;
use crate::search::segment::{SealedSegment, Segment, SegmentReader};
use crate::store::segment_meta::SegmentNumber;
use crate::store::{Store, StoreError};

/// Who is told of what retention removes, before and after.
pub trait RetentionWitness: Send + Sync {
    /// These records are about to go; what is noted here outlives a kill.
    fn begin(&self, ids: &[RecordId]);

    /// These of them went.
    fn end(&self, gone: &[RecordId]);
}

/// Nobody is told.
#[derive(Debug, Clone, Copy)]
pub struct Unwitnessed;

impl RetentionWitness for Unwitnessed {
    fn begin(&self, _: &[RecordId]) {}

    fn end(&self, _: &[RecordId]) {}
}

/// Share of the time or of the number by which records are late or too many when a round
/// begins.
const SLACK_SHARE: u32 = 64;
/// The longest that a record is late.
const LATE_MAX: Duration = Duration::from_hours(24);
/// Fewer are no round.
const SURPLUS_MIN: u64 = 16;
/// Records removed in one batch. While sled applies it, nobody reads.
const RECORDS_A_BATCH: usize = 128;
/// Records whose removal is witnessed together.
const RECORDS_A_RECEIPT: usize = 4_096;

impl Options {
    /// Records beyond which a round begins.
    pub(super) fn records_due(&self) -> Option<u64> {
        self.records_max.map(|max| max.saturating_add(surplus(max)))
    }

    /// Records beyond which an insertion waits for one.
    pub(super) fn records_bound(&self) -> Option<u64> {
        self.records_max.map(|max| max.saturating_add(2 * surplus(max)))
    }

    pub(super) fn keeps_all(&self) -> bool {
        self.age_max.is_none() && self.records_max.is_none()
    }
}

fn surplus(records_max: u64) -> u64 {
    (records_max / u64::from(SLACK_SHARE)).max(SURPLUS_MIN)
}

/// What is out: by its last frame's time, and equal ones by their ids.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    kept_since: Option<Timestamp>,
    oldest_kept: Option<(Timestamp, RecordId)>,
}

impl Bounds {
    fn is_out(&self, last: Timestamp, id: RecordId) -> bool {
        self.kept_since.is_some_and(|since| last < since)
            || self.oldest_kept.is_some_and(|kept| (last, id) < kept)
    }

    /// Live records of a segment that are out.
    fn out_of(&self, reader: &SegmentReader<'_>) -> Vec<RecordId> {
        let out = live(reader).filter(|(last, id)| self.is_out(*last, *id));
        out.map(|(_, id)| id).collect()
    }
}

impl Corpus {
    /// Lets go of all that is beyond the retention, if a round is due.
    pub(super) fn let_go(
        &self,
        store: &Store,
        (options, now): (&Options, Timestamp),
        witness: &dyn RetentionWitness,
        stop: StopCheck<'_>,
    ) -> Result<Compaction, CompactionError> {
        let Some(bounds) = self.due(options, now) else { return Ok(Compaction::Nothing) };
        let (segments, mut rows) = self.drop_leading(store, &bounds, witness)?;
        let out: Vec<RecordId> =
            self.segments().iter().flat_map(|it| bounds.out_of(&it.read())).collect();
        for some in out.chunks(RECORDS_A_RECEIPT) {
            if stop() {
                return Ok(Compaction::Stopped);
            }
            witness.begin(some);
            let mut gone = Vec::with_capacity(some.len());
            let released = self.release(store, some, &bounds, &mut gone);
            let erased = store.erase_owed();
            witness.end(&gone);
            released?;
            erased?;
            rows += gone.len();
        }
        // Else it would be tried again at once, for ever.
        if segments == 0 && rows == 0 {
            return Ok(Compaction::Nothing);
        }
        self.raise_floor(store)?;
        Ok(Compaction::Dropped { segments, rows })
    }

    /// What is out, where a round is due.
    fn due(&self, options: &Options, now: Timestamp) -> Option<Bounds> {
        let Options { age_max, records_max, .. } = options;
        let is_late = age_max.is_some_and(|age_max| {
            let slack = (age_max / SLACK_SHARE).min(LATE_MAX);
            self.is_any_before(now.minus(age_max.saturating_add(slack)))
        });
        let held = self.len() as u64;
        if !is_late && options.records_due().is_none_or(|due| held <= due) {
            return None;
        }
        let surplus = records_max.map_or(0, |max| held.saturating_sub(max));
        Some(Bounds {
            kept_since: age_max.map(|age_max| now.minus(age_max)),
            oldest_kept: self.oldest_but(usize::try_from(surplus).unwrap_or(usize::MAX)),
        })
    }

    /// Whether a live record's last frame is older.
    fn is_any_before(&self, time: Timestamp) -> bool {
        let Ok(window) = Window::new(Some(time), None) else { return false };
        let later = Condition { window, ..Condition::default() };
        self.segments().iter().any(|segment| {
            let reader = segment.read();
            reader.select(&later).count(reader.rows()) < reader.live_rows()
        })
    }

    /// The oldest record but for `surplus` older ones; `None` where there are none to be left
    /// out.
    fn oldest_but(&self, surplus: usize) -> Option<(Timestamp, RecordId)> {
        if surplus == 0 {
            return None;
        }
        let mut all = Vec::with_capacity(self.len());
        for segment in self.segments().iter() {
            all.extend(live(&segment.read()));
        }
        let last = all.len().checked_sub(1)?;
        Some(*all.select_nth_unstable(surplus.min(last)).1)
    }

    /// Drops the leading segments of which every record is out; how many, and their rows.
    fn drop_leading(
        &self,
        store: &Store,
        bounds: &Bounds,
        witness: &dyn RetentionWitness,
    ) -> Result<(usize, usize), CompactionError> {
        let changes = self.changes_at_once();
        let mut segments = Vec::clone(&self.segments());
        let (mut ids, mut numbers): (Vec<RecordId>, Vec<SegmentNumber>) = (Vec::new(), Vec::new());
        let mut floor = None;
        for segment in &segments {
            let Segment::Sealed(own) = segment else { break };
            let reader = segment.read();
            let out = bounds.out_of(&reader);
            if out.len() < reader.live_rows() {
                break;
            }
            ids.extend(out);
            let SealedSegment { meta, .. } = &**own;
            numbers.push(meta.number);
            floor = Some(RecordId(meta.last.0.saturating_add(1)));
        }
        let Some(floor) = floor else { return Ok((0, 0)) };
        witness.begin(&ids);
        if let Err(error) = store.raise_floor(floor, &numbers) {
            witness.end(&[]);
            return Err(error.into());
        }
        // From the floor on they count no more.
        witness.end(&ids);
        segments.drain(..numbers.len());
        self.swap(segments);
        drop(changes);
        self.sealed.notify_all();
        while store.remove_below_floor()? > 0 {}
        Ok((numbers.len(), ids.len()))
    }

    /// Removes those of `ids` that are still out.
    fn release(
        &self,
        store: &Store,
        ids: &[RecordId],
        bounds: &Bounds,
        gone: &mut Vec<RecordId>,
    ) -> Result<(), StoreError> {
        for few in ids.chunks(RECORDS_A_BATCH) {
            let mut changes = self.changes_at_once();
            // The end of one may have moved since: it is being seen now.
            let segments = self.segments();
            let is_out = |id: &RecordId| {
                segments.iter().any(|segment| {
                    let reader = segment.read();
                    let row = reader.ids().row(*id);
                    let last = row.and_then(|row| reader.state.columns.last(row));
                    last.is_some_and(|last| bounds.is_out(last, *id))
                })
            };
            let few: Vec<RecordId> = few.iter().copied().filter(is_out).collect();
            gone.extend(store.release_records(&few)?);
            changes.forget(&few);
            drop(changes);
            self.sealed.notify_all();
        }
        Ok(())
    }

    /// Removes what lies below the lowest live record and cannot be read: it is in no row, and
    /// nobody can tell how old it is.
    fn raise_floor(&self, store: &Store) -> Result<(), StoreError> {
        let changes = self.changes_at_once();
        let segments = self.segments();
        let lowest = segments.iter().find_map(|it| live(&it.read()).next().map(|(_, id)| id));
        if let Some(lowest) = lowest {
            store.raise_floor(lowest, &[])?;
        }
        drop(changes);
        while store.remove_below_floor()? > 0 {}
        Ok(())
    }
}

/// Live records of a segment with the time of their last frame, by ascending id.
fn live<'a>(reader: &'a SegmentReader<'_>) -> impl Iterator<Item = (Timestamp, RecordId)> + 'a {
    let state = &reader.state;
    let is_live = move |row: Row| !state.deleted.contains(row.0);
    let rows = reader.ids().iter().filter(move |(row, _)| is_live(*row));
    rows.filter_map(move |(row, id)| Some((state.columns.last(row)?, id)))
}
