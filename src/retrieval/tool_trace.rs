//! Trace of a plan: its calls with their replies, counted.
//!
//! Knows no plan.

use crate::base::RecordId;
use crate::language::fit::Certainty;
use crate::memory::episodic::instances::Instance;
use crate::memory::episodic::last_seen::Wording;
use crate::memory::episodic::{MemoryError, Recalled};
use crate::retrieval::instances::InstanceList;
use crate::retrieval::recall::{Recall, RecallRequest};
use crate::retrieval::search::{Dispatch, FirstPlace, KnownPlace, Offer, PlannedSearch};
use crate::retrieval::session::{Goal, Target};
use crate::retrieval::sessions::SessionName;
use crate::retrieval::target::{ChosenTarget, TargetChoice};
use crate::retrieval::{ParsedRequest, Retrieval, RetrievalError};
use crate::search::Filter;

/// Calls of one plan. A target needs at most about ten, each further one three; beyond this
/// the plan has lost its way.
const CALLS_MAX: usize = 40;

/// A call of a plan.
#[derive(Debug)]
pub(crate) struct TraceStep {
    pub(crate) call: TracedCall,
    /// Purpose of the call.
    pub(crate) why: &'static str,
}

/// A request and its reply.
#[derive(Debug)]
pub(crate) enum TracedCall {
    RecallBestMatch { request: RecallRequest, reply: TracedRecall },
    RecallLastSeen { request: RecallRequest, reply: TracedRecall },
    RecallAll { request: RecallRequest, reply: TracedRecall },
    DetermineInstances { request: Box<ParsedRequest>, reply: InstanceList },
    ChooseTarget { choice: TargetChoice, reply: ChosenTarget },
    PlanSearch { record: Option<RecordId>, follows: bool, reply: PlannedSearch },
    Dispatch { reply: Dispatch },
}

/// A recall of a plan: the error where the description names nothing, which finds nothing.
pub(crate) type TracedRecall = Result<Recall, MemoryError>;

/// Calls that a plan makes in a session.
#[derive(Debug)]
pub(super) struct ToolTrace<'a> {
    retrieval: &'a Retrieval,
    session: SessionName<'a>,
    steps: Vec<TraceStep>,
}

impl<'a> ToolTrace<'a> {
    pub(super) fn new(retrieval: &'a Retrieval, session: SessionName<'a>) -> Self {
        Self { retrieval, session, steps: Vec::new() }
    }

    pub(super) fn into_steps(self) -> Vec<TraceStep> {
        self.steps
    }

    /// Whether the last recall of sightings found only what may be what was asked for.
    pub(super) fn is_last_unsure(&self) -> bool {
        let last = self.steps.iter().rev().find_map(|it| {
            let TracedCall::RecallLastSeen { reply, .. } = &it.call else { return None };
            Some(reply)
        });
        let certainty = last.and_then(|it| it.as_ref().ok()?.order.certainty());
        certainty.is_some_and(|it| it <= Certainty::Possible)
    }

    pub(super) fn recall_best_match(
        &mut self,
        request: RecallRequest,
        why: &'static str,
    ) -> Result<Vec<Recalled>, RetrievalError> {
        self.check_length()?;
        let reply = unless_nameless(self.retrieval.recall_best_match(self.session, &request))?;
        let found = found_in(&reply);
        self.push(TracedCall::RecallBestMatch { request, reply }, why);
        Ok(found)
    }

    pub(super) fn recall_last_seen(
        &mut self,
        request: RecallRequest,
        why: &'static str,
    ) -> Result<Vec<Recalled>, RetrievalError> {
        self.check_length()?;
        let reply =
            unless_nameless(self.retrieval.recall_last_seen_for_search(self.session, &request))?;
        let found = found_in(&reply);
        self.push(TracedCall::RecallLastSeen { request, reply }, why);
        Ok(found)
    }

    pub(super) fn recall_all(
        &mut self,
        request: RecallRequest,
        why: &'static str,
    ) -> Result<Vec<Recalled>, RetrievalError> {
        self.check_length()?;
        let reply =
            unless_nameless(self.retrieval.recall_all(self.session, &request, Wording::Own))?;
        let found = found_in(&reply);
        self.push(TracedCall::RecallAll { request, reply }, why);
        Ok(found)
    }

    pub(super) fn determine_instances(
        &mut self,
        request: ParsedRequest,
        why: &'static str,
    ) -> Result<Vec<Instance>, RetrievalError> {
        self.check_length()?;
        let reply = self.retrieval.determine_instances(self.session, Some(&request))?;
        let instances = reply.instances.clone();
        self.push(TracedCall::DetermineInstances { request: Box::new(request), reply }, why);
        Ok(instances)
    }

    pub(super) fn choose_target(
        &mut self,
        choice: TargetChoice,
        why: &'static str,
    ) -> Result<Target, RetrievalError> {
        self.check_length()?;
        let reply = self.retrieval.choose_target(self.session, &choice)?;
        let target = reply.target.clone();
        self.push(TracedCall::ChooseTarget { choice, reply }, why);
        Ok(target)
    }

    /// Plans where the target is searched for, at a place first where one is given; after the
    /// targets before it where it `follows`. The goals, in their order.
    pub(super) fn plan_search(
        &mut self,
        first: Option<FirstPlace>,
        follows: bool,
        why: &'static str,
    ) -> Result<Vec<Goal>, RetrievalError> {
        self.check_length()?;
        let reply = self.retrieval.plan_search(self.session, first, follows)?;
        let goals = reply.grounding.goals.clone();
        let record = first.map(|it| it.record);
        self.push(TracedCall::PlanSearch { record, follows, reply }, why);
        Ok(goals)
    }

    /// Plans to go to a known place, and nowhere else.
    pub(super) fn plan_known_place(
        &mut self,
        place: KnownPlace,
        why: &'static str,
    ) -> Result<(), RetrievalError> {
        self.check_length()?;
        let reply = self.retrieval.plan_known_place(self.session, place)?;
        let record = Some(place.record());
        self.push(TracedCall::PlanSearch { record, follows: false, reply }, why);
        Ok(())
    }

    /// What captions name that is near a thing and is not it; no call.
    pub(super) fn near_name(&self, thing: &str) -> Result<Option<String>, RetrievalError> {
        let near = self.retrieval.episodic.near_sighting(thing, &Filter::default())?;
        Ok(near.map(|(name, _)| name))
    }

    /// The planned goals where they are too unlikely to send the robot; no call.
    pub(super) fn offer_if_unsure(&self) -> Result<Option<Offer>, RetrievalError> {
        self.retrieval.offer_if_unsure(self.session)
    }

    pub(super) fn dispatch(&mut self, why: &'static str) -> Result<Dispatch, RetrievalError> {
        self.check_length()?;
        let reply = self.retrieval.dispatch(self.session)?;
        self.push(TracedCall::Dispatch { reply: reply.clone() }, why);
        Ok(reply)
    }

    fn check_length(&self) -> Result<(), RetrievalError> {
        if self.steps.len() < CALLS_MAX {
            return Ok(());
        }
        Err(RetrievalError::PlanTooLong(CALLS_MAX))
    }

    fn push(&mut self, call: TracedCall, why: &'static str) {
        self.steps.push(TraceStep { call, why });
    }
}

/// A description that names nothing that can be seen was never seen.
fn unless_nameless(reply: Result<Recall, RetrievalError>) -> Result<TracedRecall, RetrievalError> {
    match reply {
        Ok(recall) => Ok(Ok(recall)),
        Err(RetrievalError::Memory(error @ MemoryError::NamesNothing(_))) => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

fn found_in(reply: &TracedRecall) -> Vec<Recalled> {
    reply.as_ref().map(|it| it.found.clone()).unwrap_or_default()
}
