//! "The scissors from the kitchen drawer": the place that a request names, where the thing itself is
//! hardly known to be anywhere.

use crate::language::reference::Reference;
use crate::retrieval::RetrievalError;
use crate::retrieval::grounding::GUESSED_BELOW;
use crate::retrieval::planner::query::with_article;
use crate::retrieval::planner::{Plan, recall};
use crate::retrieval::search::FirstPlace;
use crate::retrieval::session::Goal;
use crate::store::Record;

impl Plan<'_> {
    /// Puts the place that the request names before goals that are hardly likely, where only what may be
    /// the thing was seen. Where it was once, or what was done there, tells which one is meant, and not
    /// where it is.
    pub(super) fn plan_described_place(&mut self, goals: &[Goal]) -> Result<(), RetrievalError> {
        let Reference { thing, around, when, doing, order, .. } = &self.reference;
        let is_told = !around.is_empty() && !thing.is_empty();
        let is_now = when.is_empty() && doing.is_none() && order.is_none();
        let is_likely = |it: &Goal| !it.is_guess && it.probability >= GUESSED_BELOW;
        let is_known = self.at_named_place.is_some() || goals.first().is_some_and(is_likely);
        if is_known || !is_told || !is_now {
            return Ok(());
        }
        let (thing, around) = (thing.clone(), around.clone());
        let why = "Find out whether it is known for sure.";
        if self.newest_sure(&thing, why)?.is_some() {
            return Ok(());
        }
        let why = "Find the place that the request names.";
        for place in around {
            let Some(record) = self.newest_sure(&place, why)? else { continue };
            if record.meta.pose.is_some() {
                let reason = "the request names this place, where it was not seen";
                let first = FirstPlace { record: record.id, reason, is_guess: true };
                let why = "It is hardly known to be anywhere: search first where the request says.";
                self.trace.plan_search(Some(first), false, why)?;
                return Ok(());
            }
        }
        Ok(())
    }

    fn newest_sure(
        &mut self,
        thing: &str,
        why: &'static str,
    ) -> Result<Option<Record>, RetrievalError> {
        let found = self.trace.recall_last_seen(recall(with_article(thing), None, 1), why)?;
        let is_unsure = self.trace.is_last_unsure();
        Ok(found.into_iter().next().map(|it| it.record).filter(|_| !is_unsure))
    }
}
