//! What captions call otherwise than the task does: the khaki trousers, for the khakis. A search asks
//! for it where no caption surely shows the target in the task's own words.

use crate::memory::episodic::MemoryError;
use crate::memory::episodic::last_seen::{Sighting, Wording};
use crate::retrieval::grounding::Lookalikes;
use crate::retrieval::{Retrieval, RetrievalError};
use crate::search::Filter;

impl Retrieval {
    /// The newest sighting of the target in any words, or the newest of those that may be one, followed
    /// by the name that its caption has for it.
    pub(super) fn called_otherwise(
        &self,
        alike: &Lookalikes,
    ) -> Result<Option<Sighting>, RetrievalError> {
        match self.episodic.last_seen_in(&alike.said, &Filter::default(), 1, Wording::Any) {
            Ok(seen) => {
                let newest = seen.into_iter().next();
                let followed = |it| self.episodic.newest_of_its_name(&alike.said, it);
                Ok(newest.map(followed).transpose()?)
            }
            Err(MemoryError::NamesNothing(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
