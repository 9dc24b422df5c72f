//! "The book I was reading yesterday": the object that was seen then.

use crate::base::time::Window;
use crate::memory::episodic::Recalled;
use crate::retrieval::RetrievalError;
use crate::retrieval::planner::query::widen;
use crate::retrieval::planner::{MATCHES, Plan, SIGHTINGS, is_in_place, recall};

impl Plan<'_> {
    pub(super) fn by_time(&mut self, window: Window) -> Result<Option<String>, RetrievalError> {
        for window in [window, widen(window)] {
            if self.recall_within(window)?.is_empty() {
                continue;
            }
            if let Some(target) = self.implied_target("Say which one was seen then.")? {
                return Ok(Some(target));
            }
        }
        // Nothing of it was seen at that time: the place or the deed may still tell.
        self.by_habit()
    }

    /// The records of a window that may tell which one is meant; empty where they show
    /// nothing of what it was beside.
    fn recall_within(&mut self, window: Window) -> Result<Vec<Recalled>, RetrievalError> {
        let description = self.description();
        if self.reference.around.is_empty() {
            let request = recall(description, Some(window), MATCHES);
            let why = "Recall what was seen at that time.";
            let found = self.trace.recall_best_match(request, why)?;
            return self.complete(found, Some(window));
        }
        let request = recall(description, Some(window), SIGHTINGS);
        let found = self.trace.recall_all(request, "Recall what was seen there at that time.")?;
        Ok(found.into_iter().filter(is_in_place).collect())
    }
}
