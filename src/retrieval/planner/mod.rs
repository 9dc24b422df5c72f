//! The planner that needs no language model: from what a request refers to, to the
//! calls that find it.
//!
//! Deterministic: the same memory and the same request make the same calls. What
//! singles the object out may be a time, a place or a habit; the goal is
//! where that object was last seen, but where the place of then, or the usual one, is wanted.

mod answer;
mod answer_text;
mod by_habit;
mod by_past_place;
mod by_place;
mod by_place_alone;
mod by_time;
mod by_usual_place;
mod described_place;
mod excluded;
mod query;
mod several;
mod unseen;

use crate::base::pose::metres_between;
use crate::base::time::{Timestamp, Window, Zone};
use crate::language::deeds::{AskedDeed, Done};
use crate::language::mention::Mention;
use crate::language::reference::{Reference, WantedPlace};
use crate::language::request_tags::Intent;
use crate::language::time::PhraseTime;
use crate::language::words::MERE_USE;
use crate::memory::episodic::Recalled;
use crate::retrieval::grounding::SAME_PLACE_METRES;
use crate::retrieval::planner::query::{description, time_window, whole_seconds, with_article};
use crate::retrieval::recall::RecallRequest;
use crate::retrieval::search::{Dispatch, FirstPlace, KnownPlace, Offer};
use crate::retrieval::session::{FoundInMemory, Goal, Task};
use crate::retrieval::sessions::SessionName;
use crate::retrieval::target::TargetChoice;
use crate::retrieval::tool_trace::{ToolTrace, TraceStep};
use crate::retrieval::{ParsedRequest, Retrieval, RetrievalError};
use crate::search::Filter;
use crate::store::Record;

/// Records of the best match: all that a day shows of a thing, mostly.
const MATCHES: usize = 50;
/// Sightings that show a habit: the newest.
const SIGHTINGS: usize = 500;

/// Of a request in another language; a recall still matches its words.
const UNREAD: &str = "this memory reads English; a recall matches other words as written";

/// Of an order with another verb than one of an errand.
const OTHER_ORDER: &str = "this memory knows where things are; it sees to no other order";

/// A plan that was carried out.
#[derive(Debug)]
pub(crate) struct ExecutedPlan {
    pub(crate) trace: Vec<TraceStep>,
    pub(crate) outcome: Outcome,
    /// What the task was read as.
    pub(crate) reference: Reference,
    /// What the task asks for and the plan could not meet.
    pub(crate) unmet: Vec<String>,
    /// Where the things are, to who asks only that.
    pub(crate) whereabouts: Option<String>,
}

/// What came of a task.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The robot is sent off.
    Dispatched(Dispatch),
    /// The first goal is less likely than the robot must be sure to go.
    Unsure(Offer),
    /// The task is a question; what the memory says to it.
    Answered(String),
    /// The task asks for nothing that the robot could fetch.
    NotDispatched,
}

/// Makes the calls of the session's task.
pub(crate) fn plan(
    retrieval: &Retrieval,
    session: SessionName<'_>,
) -> Result<ExecutedPlan, RetrievalError> {
    let held = retrieval.session(session);
    let task = held.task.as_ref().ok_or(RetrievalError::NothingToSearchFor)?;
    let mut plan = Plan {
        trace: ToolTrace::new(retrieval, session),
        task,
        reference: retrieval.reference_of(task)?,
        now: retrieval.now(&held),
        zone: retrieval.zone,
        unmet: Vec::new(),
        at_named_place: None,
    };
    let outcome = plan.carry_out()?;
    let whereabouts = match &outcome {
        Outcome::Dispatched(Dispatch { goals, .. })
        | Outcome::Unsure(Offer { planned: Dispatch { goals, .. }, .. })
            if plan.reference.intent == Intent::Where =>
        {
            Some(Plan::whereabouts(retrieval, goals)?)
        }
        Outcome::Dispatched(_)
        | Outcome::Unsure(_)
        | Outcome::Answered(_)
        | Outcome::NotDispatched => None,
    };
    let Plan { trace, reference, unmet, .. } = plan;
    Ok(ExecutedPlan { trace: trace.into_steps(), outcome, reference, unmet, whereabouts })
}

struct Plan<'a> {
    trace: ToolTrace<'a>,
    task: &'a Task,
    reference: Reference,
    now: Timestamp,
    zone: Zone,
    unmet: Vec<String>,
    /// By which the target was singled out, where that was the place which the request names.
    at_named_place: Option<Record>,
}

impl Plan<'_> {
    fn carry_out(&mut self) -> Result<Outcome, RetrievalError> {
        if self.reference.is_unread {
            self.unmet.push(UNREAD.to_owned());
        }
        if self.reference.is_other_order {
            self.unmet.push(OTHER_ORDER.to_owned());
        }
        match self.reference.intent {
            Intent::Stop | Intent::Chat => return Ok(Outcome::NotDispatched),
            Intent::Question => return Ok(Outcome::Answered(self.answer()?)),
            Intent::Fetch | Intent::Where => {}
        }
        let conditions = self.reference.conditions.iter();
        self.unmet.extend(conditions.map(|it| format!("{it:?} is not waited for or checked")));
        if !self.plan_all_of_kind()? {
            if let Some(place) = self.known_place()? {
                let choice = TargetChoice::Implied;
                self.trace.choose_target(choice, "Form an idea of what is searched for.")?;
                self.trace.plan_known_place(place, "Decide where to go: to that place alone.")?;
            } else {
                let last = self.recall_target()?;
                self.plan_search(last)?;
            }
        }
        self.plan_further_targets()?;
        if let Some(offer) = self.trace.offer_if_unsure()? {
            return Ok(Outcome::Unsure(offer));
        }
        Ok(Outcome::Dispatched(self.trace.dispatch("Send the robot.")?))
    }

    /// Plans the search: first at the place that the request names, where the target is singled out
    /// by that, was last recalled there, and only what may be it was seen elsewhere since.
    fn plan_search(&mut self, last: Option<Record>) -> Result<(), RetrievalError> {
        let why = "Decide where to search: where it was seen last.";
        let goals = self.trace.plan_search(None, false, why)?;
        let at_place = self.at_named_place.as_ref();
        let last = at_place.zip(last).filter(|(at_place, last)| {
            let position = last.meta.pose.map(|it| it.position);
            position.is_some_and(|it| was_made_at(at_place, &last.meta.map_id, it))
        });
        let Some((_, last)) = last else { return self.plan_described_place(&goals) };
        let is_there = |goal: &Goal| was_made_at(&last, &goal.map_id, goal.position);
        if !goals.first().is_some_and(is_there) && goals.iter().any(is_there) {
            let reason = "surely it was last here, at the place that was named";
            let first = FirstPlace { record: last.id, reason, is_guess: false };
            let why = "What was seen elsewhere since only may be it: search there first.";
            self.trace.plan_search(Some(first), false, why)?;
        }
        Ok(())
    }

    /// The place that is wanted and not the thing; `None` where the thing is, or was seen nowhere so.
    fn known_place(&mut self) -> Result<Option<KnownPlace>, RetrievalError> {
        Ok(match self.reference.place {
            WantedPlace::Last => None,
            WantedPlace::Then => self.past_place()?.map(KnownPlace::Then),
            WantedPlace::Usual => self.usual_place()?.map(KnownPlace::Usual),
        })
    }

    /// Finds out which object is meant, and recalls where it was last seen.
    fn recall_target(&mut self) -> Result<Option<Record>, RetrievalError> {
        self.trace.choose_target(TargetChoice::Implied, "Form an idea of what is searched for.")?;
        if self.reference.thing.is_empty() {
            return self.by_place_alone();
        }
        let Reference { order, without, rank, .. } = &self.reference;
        let is_habit = order.is_some() || !without.is_empty() || *rank > 0;
        if is_habit && let Some(last) = self.told_by_look()? {
            return Ok(Some(last));
        }
        let target = match self.window() {
            _ if is_habit => match self.by_place_but()? {
                None => self.by_habit()?,
                at_place => at_place,
            },
            Some(window) => self.by_time(window)?,
            None if self.reference.doing.is_some() => self.by_habit()?,
            None if !self.reference.around.is_empty() => self.by_place()?,
            None => None,
        };
        let thing = target.unwrap_or_else(|| self.reference.thing.clone());
        let thing = self.reference.with_contents(&thing).to_owned();
        self.last_seen(&thing)
    }

    fn last_seen(&mut self, thing: &str) -> Result<Option<Record>, RetrievalError> {
        let why = "Find where it was seen last, whatever singled it out.";
        let found = self.trace.recall_last_seen(recall(with_article(thing), None, 1), why)?;
        Ok(found.into_iter().next().map(|it| it.record))
    }

    /// Recalls all where the best matches need not be all: what captions call otherwise may stand
    /// behind what is only alike. Of what is told by a deed the best matches tell it.
    fn complete(
        &mut self,
        found: Vec<Recalled>,
        window: Option<Window>,
    ) -> Result<Vec<Recalled>, RetrievalError> {
        let doing = self.reference.doing.as_deref();
        let tells_deed = doing.is_some_and(|it| !MERE_USE.contains(it));
        let is_mixed = || found.iter().any(|it| it.matched.is_empty());
        if found.len() < MATCHES || tells_deed && is_mixed() {
            return Ok(found);
        }
        let all = recall(self.reference.thing.clone(), window, SIGHTINGS);
        let why = "There may be more than the best matches: recall all.";
        let all = self.trace.recall_all(all, why)?;
        Ok(if all.is_empty() { found } else { all })
    }

    /// The target that the working memory and the task tell of; `None` where they show none.
    fn implied_target(&mut self, why: &'static str) -> Result<Option<String>, RetrievalError> {
        let target = self.trace.choose_target(TargetChoice::Implied, why)?;
        let is_found = target.found_in_memory == FoundInMemory::Yes;
        Ok(is_found.then_some(target.desc))
    }

    fn parsed_task(&self) -> ParsedRequest {
        ParsedRequest { text: self.task.text.clone(), reference: self.reference.clone() }
    }

    fn asked_deed(&self) -> Option<AskedDeed> {
        let Reference { doing, doer, .. } = &self.reference;
        doing.as_deref().map(|doing| AskedDeed::new(doing, doer.as_deref()))
    }

    fn description(&self) -> String {
        description(&self.reference)
    }

    fn window(&self) -> Option<Window> {
        time_window(&self.reference.when, self.now, self.zone)
    }

    /// The same in the other half of the day, where a time of the clock does not say in which: "at six".
    fn other_window(&self) -> Option<Window> {
        let other = self.reference.when.iter().filter_map(PhraseTime::in_other_half);
        time_window(&other.collect::<Vec<_>>(), self.now, self.zone)
    }
}

fn was_made_at(record: &Record, map_id: &str, position: [f64; 3]) -> bool {
    let pose = record.meta.pose.filter(|_| record.meta.map_id == map_id);
    pose.is_some_and(|it| metres_between(it.position, position) < SAME_PLACE_METRES)
}

fn recall(query: String, window: Option<Window>, k: usize) -> RecallRequest {
    let window = window.map_or(Window::ALL, whole_seconds);
    RecallRequest { query, filter: Filter { window, ..Filter::default() }, k, explain: false }
}

/// Whether a deed was done with what was recalled.
fn is_done_with(deed: &AskedDeed, recalled: &Recalled) -> bool {
    let is_it = |it: &Mention| recalled.matched.contains(&it.phrase);
    deed.done(&recalled.record.parsed, &is_it) >= Done::WithAnything
}

/// Whether the record shows, beside the thing, something of what was named around it.
fn is_in_place(recalled: &Recalled) -> bool {
    recalled.matched.len() > 1
}
