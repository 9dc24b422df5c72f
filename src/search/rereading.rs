//! Phrases made anew: what the segments know of their captions, after these were parsed again.

use crate::base::RecordId;
use crate::index::phrases::Phrases;
use crate::language::deeds;
use crate::search::Corpus;
use crate::search::compaction::CompactionError;
use crate::search::ids::RowIds;
use crate::search::seal::{self, StopCheck};
use crate::search::segment::{GrowingSegment, SealedSegment, Segment};
use crate::store::{Store, StoreError};

impl Corpus {
    /// Makes the phrases of one segment anew, of what the store's records say: of the first that
    /// holds `from` or later records. Returns the record after its last; `None` where there is
    /// no such segment, or it was told to stop. Searches go on meanwhile.
    pub fn renew_phrases(
        &self,
        store: &Store,
        from: RecordId,
        stop: StopCheck<'_>,
    ) -> Result<Option<RecordId>, CompactionError> {
        let _alone = self.rebuild_alone();
        for segment in self.segments().iter() {
            let last = match segment {
                Segment::Sealed(sealed) => Some(sealed.meta.last),
                Segment::Growing(growing) => growing.body().range.map(|(_, last)| last),
            };
            let Some(last) = last.filter(|last| *last >= from) else { continue };
            let is_done = match segment {
                Segment::Sealed(sealed) => self.renew_sealed(store, sealed, segment, stop)?,
                Segment::Growing(growing) => self.renew_growing(store, growing, stop)?,
            };
            return Ok(is_done.then_some(RecordId(last.0.saturating_add(1))));
        }
        Ok(None)
    }

    /// Writes the segment anew, its graph as it is.
    fn renew_sealed(
        &self,
        store: &Store,
        sealed: &SealedSegment,
        segment: &Segment,
        stop: StopCheck<'_>,
    ) -> Result<bool, CompactionError> {
        let Some(phrases) = phrases_of(store, &sealed.body.ids, stop)? else { return Ok(false) };
        let old = [segment.clone()];
        let states = self.begin(&old);
        let Some(state) = states.first() else { return Ok(false) };
        let made = match seal::merge(self.dimension, &[(sealed, state)], stop) {
            Ok(made) => made.map(|it| it.with_phrases(&phrases, &state.deleted)),
            Err(error) => return self.abandon(error).map(|_stopped| false),
        };
        let range = (sealed.meta.first, sealed.meta.last);
        self.replace(store, &old, &[sealed.meta.number], Some(range), made)?;
        Ok(true)
    }

    /// Holds off insertions for as long as reading its records takes.
    fn renew_growing(
        &self,
        store: &Store,
        growing: &GrowingSegment,
        stop: StopCheck<'_>,
    ) -> Result<bool, CompactionError> {
        let _no_insertion = self.changes_at_once();
        let phrases = phrases_of(store, &growing.body().ids, stop)?;
        Ok(phrases.is_some_and(|it| growing.replace_phrases(it)))
    }
}

/// Phrases of these records, of which those that are gone or cannot be read have none; `None`
/// where it was told to stop.
fn phrases_of(
    store: &Store,
    ids: &RowIds,
    stop: StopCheck<'_>,
) -> Result<Option<Phrases>, StoreError> {
    let mut phrases = Phrases::default();
    for (_, id) in ids.iter() {
        if stop() {
            return Ok(None);
        }
        let mentions = match store.record(id) {
            Ok(record) => record.map(|it| deeds::index_mentions(&it.parsed)).unwrap_or_default(),
            Err(error) if error.concerns_one_value() => Vec::new(),
            Err(error) => return Err(error),
        };
        phrases.push(mentions);
    }
    Ok(Some(phrases))
}
