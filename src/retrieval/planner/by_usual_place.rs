//! "Go where the blue mug usually stands": the place at which it was seen most often, wherever it
//! is now.

use std::collections::BTreeSet;

use crate::base::RecordId;
use crate::memory::episodic::Recalled;
use crate::memory::episodic::usual_place::{UsualPlace, usual_place};
use crate::retrieval::RetrievalError;
use crate::retrieval::planner::{Plan, SIGHTINGS, recall};

impl Plan<'_> {
    /// The place where the robot is wanted; `None` where it was seen nowhere.
    pub(super) fn usual_place(&mut self) -> Result<Option<UsualPlace>, RetrievalError> {
        for query in self.ways_to_tell() {
            let why = "Recall every time that it was so.";
            let found = self.trace.recall_all(recall(query, None, SIGHTINGS), why)?;
            let habit = self.of_habit(&found);
            let records = found.iter().map(|it| &it.record);
            if let Some(place) = usual_place(records, |it| habit.contains(&it.id)) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// What was seen at the times of the habit, with its deed; of all where that was never seen.
    fn of_habit(&self, found: &[Recalled]) -> BTreeSet<RecordId> {
        let deed = self.asked_deed();
        let is_done =
            |it: &Recalled| deed.as_ref().is_some_and(|deed| deed.is_done_in(&it.record.parsed));
        let when: Vec<_> =
            self.reference.when.iter().map(|it| it.resolve(self.now, self.zone)).collect();
        let is_then = |it: &Recalled| {
            let (first, last) = (it.record.meta.taken_at, it.record.end_at);
            when.iter().any(|when| when.holds(first, last, self.zone))
        };
        let habit = narrowed(narrowed(found.iter().collect(), is_done), is_then);
        habit.into_iter().map(|it| it.record.id).collect()
    }
}

/// Those that are so, unless none is.
fn narrowed(found: Vec<&Recalled>, is_so: impl Fn(&Recalled) -> bool) -> Vec<&Recalled> {
    let so: Vec<&Recalled> = found.iter().copied().filter(|it| is_so(it)).collect();
    if so.is_empty() { found } else { so }
}
