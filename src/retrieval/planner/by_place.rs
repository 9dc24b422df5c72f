//! "The mug next to the laptop": the object that was last seen there, and of those seen there on one
//! round one that was not seen elsewhere since; else the one nearest to it.

use crate::language::reference::{Order, Reference};
use crate::memory::episodic::Recalled;
use crate::memory::episodic::data_association::VISIT_GAP;
use crate::retrieval::planner::{Plan, SIGHTINGS, is_in_place, recall};
use crate::retrieval::session::Target;
use crate::retrieval::target::TargetChoice;
use crate::retrieval::{ParsedRequest, RetrievalError};
use crate::store::Record;

/// Newest sightings at a place of which the last one decides.
const AT_PLACE: usize = 50;

impl Plan<'_> {
    pub(super) fn by_place(&mut self) -> Result<Option<String>, RetrievalError> {
        let found = self.recall_there()?;
        let decided = self.decide_there(&found)?;
        if decided.is_some() {
            return Ok(decided);
        }
        self.tell_unseen_there();
        if found.is_empty() { Ok(None) } else { self.nearest() }
    }

    /// The same where something else is excluded: "the one on the bed, not the one in my room". `None`
    /// where nothing is excluded, more than a place tells which one is meant, or nothing else was seen there.
    pub(super) fn by_place_but(&mut self) -> Result<Option<String>, RetrievalError> {
        let Reference { around, without, was_there, .. } = &self.reference;
        if without.is_empty()
            || around.is_empty()
            || *was_there
            || self.is_told_by_order_deed_or_time()
        {
            return Ok(None);
        }
        let mut found = self.recall_there()?;
        found.retain(|it| {
            let desc = it.matched.first().map(String::as_str).unwrap_or_default();
            !self.excludes(desc, Some(it))
        });
        self.decide_there(&found)
    }

    fn recall_there(&mut self) -> Result<Vec<Recalled>, RetrievalError> {
        let request = recall(self.description(), None, AT_PLACE);
        self.trace.recall_last_seen(request, "Recall the last times that one was seen there.")
    }

    /// Decides on the object seen at the place; `None` where none was.
    fn decide_there(&mut self, found: &[Recalled]) -> Result<Option<String>, RetrievalError> {
        let there: Vec<&Recalled> = found.iter().filter(|it| is_in_place(it)).collect();
        // Of as many places the newest.
        let newest = there.iter().rev().max_by_key(|it| self.places_said(it));
        let Some(newest) = newest.map(|it| &it.record) else { return Ok(None) };
        let decide = |id| TargetChoice::Record(id);
        let target =
            self.trace.choose_target(decide(newest.id), "Decide on the one seen there last.")?;
        let is_there = |it: &Target| {
            it.records.last().is_some_and(|last| there.iter().any(|seen| seen.record.id == *last))
        };
        let on_this_round = |it: &Record| newest.end_at.since(it.end_at) <= VISIT_GAP;
        let mut others = there.iter().map(|it| &it.record).filter(|it| {
            on_this_round(it) && it.end_at <= newest.end_at && !target.records.contains(&it.id)
        });
        let other = others.next().filter(|_| !self.reference.was_there && !is_there(&target));
        if let Some(other) = other {
            let why = "That one was seen elsewhere since: decide on another that was seen there.";
            let second = self.trace.choose_target(decide(other.id), why)?;
            if is_there(&second) {
                self.at_named_place = Some(other.clone());
                return Ok(Some(second.desc));
            }
            let why = "So was this one: decide on the one seen there last.";
            self.trace.choose_target(decide(newest.id), why)?;
        }
        self.at_named_place = Some(newest.clone());
        Ok(Some(target.desc))
    }

    /// How many of the places that the request names the record names in the same words: a grey
    /// windowsill, where a wooden one may be grey, too.
    fn places_said(&self, recalled: &Recalled) -> usize {
        let said = recalled.matched.join(" ");
        let is_said = |word: &str| said.split(' ').any(|it| it == word);
        self.reference.around.iter().filter(|it| it.split(' ').all(is_said)).count()
    }

    /// The one nearest to the place, which it was never seen at.
    fn nearest(&mut self) -> Result<Option<String>, RetrievalError> {
        let all = recall(self.reference.thing.clone(), None, SIGHTINGS);
        let why = "None was seen beside it: recall every time that one was seen.";
        self.trace.recall_all(all, why)?;
        let request = nearest_request(&self.reference);
        let why = "Tell the objects apart, the nearest first.";
        if self.trace.determine_instances(request, why)?.is_empty() {
            return Ok(None);
        }
        let choice = TargetChoice::Candidate(0);
        let target = self.trace.choose_target(choice, "Decide on the nearest one.")?;
        Ok(Some(target.desc))
    }
}

/// "The mug nearest to the laptop" of "the mug next to the laptop".
fn nearest_request(reference: &Reference) -> ParsedRequest {
    let Reference { thing, around, .. } = reference;
    let text = format!("the {thing} nearest to the {}", around.join(" and the "));
    let order = around.first().cloned().map(Order::NearestTo);
    let reference = Reference { thing: thing.clone(), order, ..Reference::default() };
    ParsedRequest { text, reference }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_object_is_asked_for_by_the_place_of_the_request() {
        let around = vec!["laptop".to_owned(), "lamp".to_owned()];
        let reference = Reference { thing: "mug".to_owned(), around, ..Reference::default() };
        let request = nearest_request(&reference);
        assert_eq!(request.text, "the mug nearest to the laptop and the lamp");
        assert_eq!(request.reference.thing, "mug");
        assert_eq!(request.reference.order, Some(Order::NearestTo("laptop".to_owned())));
        assert_eq!(request.reference.around, Vec::<String>::new());
    }
}
