//! What captions call otherwise than the task does: the khaki trousers, for the khakis. A search asks
//! for it where no caption surely shows the target in the task's own words.

use crate::memory::episodic::MemoryError;
use crate::memory::episodic::instances::Instance;
use crate::memory::episodic::last_seen::{Sighting, Wording};
use crate::retrieval::grounding::Lookalikes;
use crate::retrieval::session::{Goal, Session};
use crate::retrieval::{Retrieval, RetrievalError};
use crate::search::Filter;

impl Retrieval {
    /// Adds the place where the target was last seen under another name, where what is known of it by
    /// its own only may be it. It comes first where the target is likelier there.
    pub(super) fn with_called_otherwise(
        &self,
        session: &Session,
        goals: Vec<Goal>,
        object: &Instance,
        alike: &Lookalikes,
    ) -> Result<Vec<Goal>, RetrievalError> {
        if !alike.is_possible() {
            return Ok(goals);
        }
        Ok(match self.called_otherwise(&alike.said)? {
            Some(sighting) => self.with_sighting(session, goals, object, alike, &sighting),
            None => goals,
        })
    }

    /// The newest sighting of a thing in any words, or the newest of those that may be one.
    pub(super) fn called_otherwise(&self, thing: &str) -> Result<Option<Sighting>, RetrievalError> {
        match self.episodic.last_seen_in(thing, &Filter::default(), 1, Wording::Any) {
            Ok(seen) => Ok(seen.into_iter().next()),
            Err(MemoryError::NamesNothing(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
