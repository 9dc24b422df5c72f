//! One step of keeping a corpus: seal what is full, drop what is too old, merge what
//! is small. Decided by the policy and the options, done against the store.
//!
//! Promise: at any moment each record is in exactly one piece for searches, and after
//! a kill in exactly one named segment or in none, to be read from the records.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::hnsw::build::BuildError;
use crate::index::merge::{self, Size};
use crate::search::Corpus;
use crate::search::piece::{Live, Open, Piece, Sealed};
use crate::search::seal::{self, Asked, Made};
use crate::store::segments::{Amendment, SegmentNumber};
use crate::store::{Store, StoreError};

/// What to keep, and in what portions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Records older than this are dropped, a segment at a time.
    pub age_max: Option<Duration>,
    /// Beyond so many records the oldest segments are dropped.
    pub records_max: Option<u64>,
    /// Rows of a segment, at most. Larger ones would be fewer to search, and their
    /// merges would take longer and twice their size of memory.
    pub segment_rows_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { age_max: None, records_max: None, segment_rows_max: 262_144 }
    }
}

/// Segments that what is kept is divided into at least, where something is to be
/// dropped: that which is too old goes when a whole segment is.
const PORTIONS: u32 = 8;
/// Fewer rows make no segment by themselves.
const PORTION_ROWS_MIN: u64 = 64;

impl Options {
    fn limits(&self) -> merge::Limits {
        let rows = self.portion_rows().unwrap_or(u64::MAX).min(u64::from(self.segment_rows_max));
        let rows_max = u32::try_from(rows).unwrap_or(u32::MAX);
        merge::Limits { rows_max, span_max: self.portion_span() }
    }

    fn portion_rows(&self) -> Option<u64> {
        self.records_max.map(|max| (max / u64::from(PORTIONS)).max(PORTION_ROWS_MIN))
    }

    fn portion_span(&self) -> Option<Duration> {
        self.age_max.map(|max| max / PORTIONS)
    }
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// There is nothing to do now.
    Nothing,
    Sealed {
        rows: usize,
    },
    Merged {
        segments: usize,
        rows: usize,
    },
    Dropped {
        segments: usize,
        rows: usize,
    },
    /// It was asked to stop, and left everything as it was.
    Stopped,
}

/// Why a step failed; everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a segment could not be built")]
    Build(#[from] BuildError),
    #[error("a thread to keep the index cannot be started: {0}")]
    Thread(std::io::Error),
    #[error("keeping the index panicked")]
    Panicked,
}

impl Corpus {
    /// Does what is due next, if anything. One thread at a time calls it; searches and
    /// changes go on meanwhile.
    pub fn keep(
        &self,
        store: &Store,
        options: &Options,
        now: Timestamp,
        stop: Asked<'_>,
    ) -> Result<Kept, KeepError> {
        self.close_if_due(options);
        if let Some(open) = self.closed() {
            return self.seal(store, &open, stop);
        }
        let dropped = self.drop_oldest(store, options, now)?;
        if dropped != Kept::Nothing {
            return Ok(dropped);
        }
        let (sealed, sizes) = self.sealed();
        match merge::next(&sizes, &options.limits()) {
            Some(run) => self.merge(store, sealed.get(run).unwrap_or_default(), stop),
            None => Ok(Kept::Nothing),
        }
    }

    /// Whether somebody calls [`Corpus::keep`] again and again, so that it can be
    /// waited for.
    pub(super) fn set_kept(&self, is_kept: bool) {
        self.changes_at_once().writing.is_kept = is_kept;
        self.sealed.notify_all();
    }

    /// Whether [`Corpus::keep`] would find nothing to seal and nothing to merge.
    pub fn is_settled(&self, options: &Options) -> bool {
        self.closed_pieces() == 0 && merge::next(&self.sealed().1, &options.limits()).is_none()
    }

    /// Closes the tail when it alone is a portion of what is kept.
    fn close_if_due(&self, options: &Options) {
        let mut changes = self.changes_at_once();
        let pieces = self.pieces();
        let Some(tail) = pieces.last() else { return };
        let reading = tail.read();
        let (rows, span) = (reading.rows() as u64, reading.live.columns.span());
        drop(reading);
        let is_long = options.portion_span().is_some_and(|max| {
            rows > 0 && span.is_some_and(|(first, last)| last.since(first) > max)
        });
        let is_full = options.portion_rows().is_some_and(|max| rows >= max);
        if is_long || is_full {
            changes.close();
        }
    }

    /// The oldest open piece that takes no more records.
    fn closed(&self) -> Option<Arc<Open>> {
        let pieces = self.pieces();
        let (_, earlier) = pieces.split_last()?;
        earlier.iter().find_map(|piece| match piece {
            Piece::Open(open) => Some(Arc::clone(open)),
            Piece::Sealed(_) => None,
        })
    }

    fn sealed(&self) -> (Vec<Arc<Sealed>>, Vec<Size>) {
        let pieces = self.pieces();
        let mut sealed = Vec::new();
        let mut sizes = Vec::new();
        for piece in pieces.iter() {
            let Piece::Sealed(segment) = piece else { continue };
            let reading = piece.read();
            let gone = u32::try_from(reading.live.gone.len()).unwrap_or(u32::MAX);
            let live = u32::try_from(reading.found()).unwrap_or(u32::MAX);
            let span = reading.live.columns.span().unwrap_or((Timestamp::EPOCH, Timestamp::EPOCH));
            sizes.push(Size { live, gone, span });
            sealed.push(Arc::clone(segment));
        }
        (sealed, sizes)
    }

    fn seal(&self, store: &Store, open: &Arc<Open>, stop: Asked<'_>) -> Result<Kept, KeepError> {
        let old = [Piece::Open(Arc::clone(open))];
        let lives = self.begin(&old);
        let Some(live) = lives.first() else { return Ok(Kept::Nothing) };
        let made = match seal::seal(open, live, stop) {
            Ok(made) => made,
            Err(error) => return self.abandon(error),
        };
        let range = open.body().range;
        let rows = made.as_ref().map_or(0, Made::rows);
        self.replace(store, &old, &[], range, made)?;
        Ok(Kept::Sealed { rows })
    }

    fn merge(
        &self,
        store: &Store,
        segments: &[Arc<Sealed>],
        stop: Asked<'_>,
    ) -> Result<Kept, KeepError> {
        let old: Vec<Piece> = segments.iter().map(|it| Piece::Sealed(Arc::clone(it))).collect();
        let lives = self.begin(&old);
        let parts: Vec<(&Sealed, &Live)> = segments.iter().map(|it| &**it).zip(&lives).collect();
        let made = match seal::merge(self.dimension, &parts, stop) {
            Ok(made) => made,
            Err(error) => return self.abandon(error),
        };
        let rows = made.as_ref().map_or(0, Made::rows);
        let numbers: Vec<SegmentNumber> = segments.iter().map(|it| it.meta.number).collect();
        let ranges = segments.iter().map(|it| (it.meta.first, it.meta.last));
        let range = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.replace(store, &old, &numbers, range, made)?;
        Ok(Kept::Merged { segments: numbers.len(), rows })
    }

    /// From here on what becomes of records is noted; returns what became of them
    /// before.
    fn begin(&self, pieces: &[Piece]) -> Vec<Live> {
        let mut changes = self.changes_at_once();
        changes.writing.since = Some(BTreeMap::new());
        pieces.iter().map(Piece::live).collect()
    }

    fn abandon(&self, error: BuildError) -> Result<Kept, KeepError> {
        self.changes_at_once().writing.since = None;
        match error {
            BuildError::Stopped => Ok(Kept::Stopped),
            BuildError::Dimension { .. }
            | BuildError::TooMany { .. }
            | BuildError::Links { .. }
            | BuildError::Thread(_)
            | BuildError::Panicked => Err(error.into()),
        }
    }

    /// Writes a segment, names it in the place of `numbers`, and puts it in the place
    /// of the pieces `old`.
    fn replace(
        &self,
        store: &Store,
        old: &[Piece],
        numbers: &[SegmentNumber],
        range: Option<(RecordId, RecordId)>,
        made: Option<Made>,
    ) -> Result<(), KeepError> {
        let written = match (&made, range) {
            (Some(made), Some(range)) => made.write(store, range).map(Some),
            (None, _) | (_, None) => Ok(None),
        };
        let mut changes = self.changes_at_once();
        let since = changes.writing.since.take().unwrap_or_default();
        let written = written?;
        let is_in = |id: &RecordId| range.is_some_and(|(first, last)| (first..=last).contains(id));
        let amendments: Vec<(RecordId, Amendment)> =
            since.into_iter().filter(|(id, _)| written.is_some() && is_in(id)).collect();
        store.replace_segments(numbers, written.as_slice(), &amendments)?;
        let sealed = written.zip(made).map(|(meta, made)| {
            let live = Live { columns: made.columns, ..Live::default() };
            let piece = Piece::Sealed(Arc::new(Sealed::new(meta, made.body, live)));
            amend(&piece, &amendments);
            piece
        });
        let mut pieces = Vec::clone(&self.pieces());
        let first = pieces.iter().position(|it| old.iter().any(|old| old.is(it)));
        pieces.retain(|it| !old.iter().any(|old| old.is(it)));
        if let (Some(first), Some(sealed)) = (first, sealed) {
            pieces.insert(first, sealed);
        }
        self.swap(pieces);
        self.sealed.notify_all();
        Ok(())
    }

    /// Drops the oldest segments of which every record is too old or too many.
    fn drop_oldest(
        &self,
        store: &Store,
        options: &Options,
        now: Timestamp,
    ) -> Result<Kept, KeepError> {
        let (sealed, sizes) = self.sealed();
        let mut held = self.len() as u64;
        let mut out = 0;
        for size in &sizes {
            let is_old = options.age_max.is_some_and(|max| now.since(size.span.1) > max);
            let left = held.saturating_sub(u64::from(size.live));
            let is_surplus = options.records_max.is_some_and(|max| left >= max);
            if !(is_old || is_surplus) {
                break;
            }
            held = left;
            out += 1;
        }
        let dropped = sealed.get(..out).unwrap_or_default();
        let Some(last) = dropped.last().map(|it| it.meta.last) else {
            return Ok(Kept::Nothing);
        };
        let rows = sizes.iter().take(out).map(|it| it.live as usize).sum();
        let numbers: Vec<SegmentNumber> = dropped.iter().map(|it| it.meta.number).collect();
        let changes = self.changes_at_once();
        store.raise_floor(RecordId(last.0 + 1), &numbers)?;
        let is_below = |it: &Piece| it.read().ids().last().is_some_and(|it| it <= last);
        let mut pieces = Vec::clone(&self.pieces());
        if let Some((_tail, earlier)) = pieces.split_last() {
            let below = earlier.iter().take_while(|it| is_below(it)).count();
            pieces.drain(..below);
        }
        self.swap(pieces);
        drop(changes);
        while store.remove_below_floor()? > 0 {}
        Ok(Kept::Dropped { segments: out, rows })
    }
}

/// Tells a piece what became of its records.
pub(super) fn amend(piece: &Piece, amendments: &[(RecordId, Amendment)]) {
    for (id, amendment) in amendments {
        let Some(row) = piece.row(*id) else { continue };
        match amendment {
            Amendment::Gone => piece.forget(row),
            Amendment::EndsAt(end_at) => piece.extend(row, *end_at),
        }
    }
}
