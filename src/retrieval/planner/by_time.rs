//! "The book I was reading yesterday": the object that was seen then.

use crate::base::time::Window;
use crate::memory::episodic::Recalled;
use crate::retrieval::RetrievalError;
use crate::retrieval::planner::query::widen;
use crate::retrieval::planner::{MATCHES, Plan, SIGHTINGS, is_in_place, recall};

impl Plan<'_> {
    pub(super) fn by_time(&mut self, window: Window) -> Result<Option<String>, RetrievalError> {
        if let Some(target) = self.seen_within(window)? {
            return Ok(Some(target));
        }
        if let Some(other) = self.other_window()
            && let Some(target) = self.seen_within(other)?
        {
            return Ok(Some(target));
        }
        self.tell_unseen_then();
        match self.seen_within(widen(window))? {
            Some(target) => Ok(Some(target)),
            // The place or the deed may still tell.
            None => self.by_habit(),
        }
    }

    fn seen_within(&mut self, window: Window) -> Result<Option<String>, RetrievalError> {
        if self.recall_within(window)?.is_empty() {
            return Ok(None);
        }
        self.implied_target("Say which one was seen then.")
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
