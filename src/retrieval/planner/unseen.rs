//! What a request tells of its thing and no record shows, in the words of a reply.

use crate::language::reference::Order;
use crate::language::words::INVISIBLE_VERBS;
use crate::memory::episodic::Recalled;
use crate::retrieval::planner::{Plan, is_done_with, is_in_place};

impl Plan<'_> {
    /// The time.
    pub(super) fn tell_unseen_then(&mut self) {
        let times: Vec<&str> = self.reference.when.iter().map(|it| it.text.as_str()).collect();
        let (thing, times) = (&self.reference.thing, times.join(", "));
        let told = format!("no record of {times:?} shows {thing:?}{}", self.there());
        self.tell_unmet(told);
    }

    /// The places.
    pub(super) fn tell_unseen_there(&mut self) {
        let told = format!("no record shows {:?}{}", self.reference.thing, self.there());
        self.tell_unmet(told);
    }

    /// The deed, where a camera could see it and none of these records tells of it; the places, where
    /// none of them is there.
    pub(super) fn tell_unseen_deed(&mut self, found: &[Recalled]) {
        if !self.reference.around.is_empty() && !found.iter().any(is_in_place) {
            self.tell_unseen_there();
        }
        let doing = self.reference.doing.clone().filter(|it| !INVISIBLE_VERBS.contains(it));
        let Some((doing, deed)) = doing.zip(self.asked_deed()) else { return };
        // A habit tells what a thing is for: "the can I water the plants with".
        let is_habit = matches!(self.reference.order, Some(Order::MostOften | Order::LeastOften));
        // Who drinks coffee from a mug drinks from it: the deed where the thing is says enough.
        let shows = |it: &Recalled| it.matched.iter().any(|it| !it.contains(", "));
        let is_told = |it: &Recalled| {
            shows(it) && deed.is_done_in(&it.record.parsed) || is_done_with(&deed, it)
        };
        if is_habit || found.iter().any(is_told) {
            return;
        }
        let told = format!("no record shows somebody {doing} {:?}", self.reference.thing);
        self.tell_unmet(told);
    }

    fn there(&self) -> String {
        let places = self.reference.around.iter().map(|it| format!(" by {it:?}"));
        places.collect()
    }

    fn tell_unmet(&mut self, told: String) {
        if !self.unmet.contains(&told) {
            self.unmet.push(told);
        }
    }
}
