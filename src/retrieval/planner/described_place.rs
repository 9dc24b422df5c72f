//! "The scissors from the kitchen drawer", "the button that came off where mum was ironing": the place
//! that a request tells, where the thing itself is hardly known to be anywhere.

use crate::language::reference::Reference;
use crate::language::words::MERE_USE;
use crate::memory::episodic::Recalled;
use crate::retrieval::RetrievalError;
use crate::retrieval::grounding::GUESSED_BELOW;
use crate::retrieval::planner::query::with_article;
use crate::retrieval::planner::{MATCHES, Plan, is_in_place, recall};
use crate::retrieval::search::FirstPlace;
use crate::retrieval::session::Goal;
use crate::store::Record;

impl Plan<'_> {
    /// Puts the place that the request tells before goals that are hardly likely, where only what may be
    /// the thing was seen. Where it was once tells which one is meant, and not where it is.
    pub(super) fn plan_described_place(&mut self, goals: &[Goal]) -> Result<(), RetrievalError> {
        let Reference { thing, around, when, doing, order, .. } = &self.reference;
        let is_likely = |it: &Goal| !it.is_guess && it.probability >= GUESSED_BELOW;
        let is_known = self.at_named_place.is_some() || goals.first().is_some_and(is_likely);
        let is_deed = doing.is_some();
        // Of what may have been seen the deed told which one is meant; and a guess may be a good one.
        let is_told = if is_deed {
            goals.first().is_none_or(|it| it.is_guess && it.probability < GUESSED_BELOW)
        } else {
            when.is_empty() && !around.is_empty()
        };
        if is_known || !is_told || thing.is_empty() || order.is_some() {
            return Ok(());
        }
        let thing = thing.clone();
        let why = "Find out whether it is known for sure.";
        if self.newest_sure(&thing, why)?.is_some() {
            return Ok(());
        }
        let place = if is_deed { self.place_of_told_deed()? } else { self.named_place()? };
        if let Some(first) = place {
            let why = "It is hardly known to be anywhere: search first where the request says.";
            self.trace.plan_search(Some(first), false, why)?;
        }
        Ok(())
    }

    /// The newest of the places that are named around the thing now, and of those first the one where
    /// something is that captions may call so: the hat in the bathroom, for a cap.
    fn named_place(&mut self) -> Result<Option<FirstPlace>, RetrievalError> {
        let near = self.trace.near_name(&self.reference.thing)?;
        for place in self.reference.around.clone() {
            if let Some(near) = &near {
                let there = with_article(&format!("{near} by the {place}"));
                let why = "Find what is near it at the place that the request names.";
                let found = self.trace.recall_last_seen(recall(there, None, 1), why)?;
                let is_there = |it: &&Recalled| is_in_place(it) && it.record.meta.pose.is_some();
                if let Some(Recalled { record, .. }) = found.iter().find(is_there) {
                    let reason = "the request names this place, where what is near it was seen";
                    return Ok(Some(FirstPlace { record: record.id, reason, is_guess: true }));
                }
            }
            let why = "Find the place that the request names.";
            let record = self.newest_sure(&place, why)?.filter(|it| it.meta.pose.is_some());
            if let Some(Record { id: record, .. }) = record {
                let reason = "the request names this place, where it was not seen";
                return Ok(Some(FirstPlace { record, reason, is_guess: true }));
            }
        }
        Ok(None)
    }

    /// Where somebody did what the request tells of: "where dad was typing, he lost a cufflink".
    fn place_of_told_deed(&mut self) -> Result<Option<FirstPlace>, RetrievalError> {
        let doing = self.reference.doing.clone();
        let (Some(doing), Some(deed)) = (doing, self.asked_deed()) else { return Ok(None) };
        if MERE_USE.contains(&doing) {
            return Ok(None);
        }
        for doer in self.doers() {
            let request = recall(format!("{doer} {doing}"), self.window(), MATCHES);
            let why = "Find where that was done.";
            let found = self.trace.recall_last_seen(request, why)?;
            let is_place = |it: &&Recalled| {
                it.record.meta.pose.is_some() && deed.is_done_in(&it.record.parsed)
            };
            if let Some(Recalled { record, .. }) = found.iter().find(is_place) {
                let reason = "the request tells what was done here";
                return Ok(Some(FirstPlace { record: record.id, reason, is_guess: true }));
            }
        }
        Ok(None)
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
