//! Places that a record's own caption leaves out: what was seen from where another caption says
//! "the kitchen" was in the kitchen.

use crate::memory::episodic::{MemoryError, Recalled};
use crate::retrieval::RetrievalError;
use crate::retrieval::planner::query::with_article;
use crate::retrieval::planner::{Plan, SIGHTINGS, is_in_place, recall, was_made_at};

/// Probability from which a record shows a place.
const SHOWN_FROM: f32 = 0.5;

impl Plan<'_> {
    /// Of these records those at the places that the request names: by their captions, else by what
    /// other captions from the same spots say.
    pub(super) fn at_named_places(
        &mut self,
        found: Vec<Recalled>,
    ) -> Result<Vec<Recalled>, RetrievalError> {
        let (there, mut others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_in_place);
        if !there.is_empty() || others.is_empty() {
            return Ok(there);
        }
        for place in self.reference.around.clone() {
            let spots = self.spots_of(&place)?;
            others.retain(|it| spots.iter().any(|spot| is_at(it, spot)));
        }
        Ok(others)
    }

    /// Records that show a place; none of what names none.
    fn spots_of(&mut self, place: &str) -> Result<Vec<Recalled>, RetrievalError> {
        let request = recall(with_article(place), None, SIGHTINGS);
        let why = "No caption of it names that place: recall where others do.";
        match self.trace.recall_all(request, why) {
            Err(RetrievalError::Memory(MemoryError::NamesNothing(_))) => Ok(Vec::new()),
            Err(error) => Err(error),
            Ok(mut spots) => {
                spots.retain(|it| it.probability.is_none_or(|it| it >= SHOWN_FROM));
                Ok(spots)
            }
        }
    }
}

fn is_at(recalled: &Recalled, spot: &Recalled) -> bool {
    let meta = &recalled.record.meta;
    meta.pose.is_some_and(|it| was_made_at(&spot.record, &meta.map_id, it.position))
}
