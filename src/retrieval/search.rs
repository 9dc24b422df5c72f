//! The search for the target: its goals are planned, given to the robot, and reported on.

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::retrieval::goal_board::{Event, Status};
use crate::retrieval::grounding::Grounding;
use crate::retrieval::session::{Goal, Search, SearchState, SearchedPlace, Session, Target};
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{Retrieval, RetrievalError};

/// The target and where it may be.
#[derive(Debug)]
pub(crate) struct PlannedSearch {
    pub(crate) target: Target,
    pub(crate) grounding: Grounding,
}

/// Goals that were given to the robot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dispatch {
    pub(crate) target: String,
    /// In the order to visit.
    pub(crate) goals: Vec<Goal>,
}

/// What the robot saw at its goal.
#[derive(Debug)]
pub(crate) struct GoalReport {
    pub(crate) is_found: bool,
    /// The record of the target.
    pub(crate) record: Option<RecordId>,
    /// Where the robot searched; the goal where absent.
    pub(crate) position: Option<[f64; 3]>,
}

/// The search after a report.
#[derive(Debug)]
pub(crate) struct SearchUpdate {
    pub(crate) status: Status,
    pub(crate) target: String,
    /// Goals that are left; none once the target is found.
    pub(crate) goals: Vec<Goal>,
}

impl Retrieval {
    /// Decides where the target is searched for: first at the record's position where one
    /// is given.
    pub(crate) fn plan_search(
        &self,
        session: SessionName<'_>,
        record: Option<RecordId>,
    ) -> Result<PlannedSearch, RetrievalError> {
        let held = self.session(session.name);
        let target = match &held.target {
            Some(target) => target.clone(),
            None => self.implied_target(&held)?,
        };
        let grounding = match record {
            Some(id) => self.ground_at(&held, &target, id)?,
            None => self.ground(&held, &target)?,
        };
        let goals = grounding.goals.clone();
        self.update(session, |it| {
            it.target = Some(target.clone());
            it.search = Some(Search { state: SearchState::Planned, goals, visited: 0 });
        })?;
        Ok(PlannedSearch { target, grounding })
    }

    /// Gives the goals to the robot.
    pub(crate) fn dispatch(&self, session: SessionName<'_>) -> Result<Dispatch, RetrievalError> {
        let held = self.session(session.name);
        let dispatch = dispatch_of(&held)?;
        self.update(session, |it| {
            if let Some(search) = &mut it.search {
                search.state = SearchState::Dispatched;
            }
        })?;
        let Dispatch { target, goals } = dispatch.clone();
        self.publish(session, Status::Dispatched, target, goals);
        Ok(dispatch)
    }

    /// The goals of the session's search that are not yet visited.
    pub(crate) fn dispatched(&self, session: &str) -> Result<Dispatch, RetrievalError> {
        dispatch_of(&self.session(session))
    }

    /// Takes what the robot saw at its goal.
    pub(crate) fn report(
        &self,
        session: SessionName<'_>,
        report: &GoalReport,
    ) -> Result<SearchUpdate, RetrievalError> {
        if let Some(id) = report.record
            && self.records(&[id])?.is_empty()
        {
            return Err(RetrievalError::NoRecord(id));
        }
        let now = self.clock.now();
        let held = self.session(session.name);
        let is_under_way = held.search.is_some_and(|it| it.state == SearchState::Dispatched);
        let target = held.target.filter(|_| is_under_way).ok_or(RetrievalError::NotUnderWay)?.desc;
        let left = self.update(session, |it| visit_goal(it, report, now))?;
        let (status, goals) = match (report.is_found, left.is_empty()) {
            (true, _) => (Status::Found, Vec::new()),
            (false, false) => (Status::Next, left),
            (false, true) => (Status::Reopened, left),
        };
        self.publish(session, status, target.clone(), goals.clone());
        Ok(SearchUpdate { status, target, goals })
    }

    fn publish(&self, session: SessionName<'_>, status: Status, target: String, goals: Vec<Goal>) {
        let event = Event { session: session.name.to_owned(), status, target, goals };
        self.goal_board.publish(event, self.clock.now());
    }
}

fn dispatch_of(session: &Session) -> Result<Dispatch, RetrievalError> {
    let (Some(target), Some(search)) = (&session.target, &session.search) else {
        return Err(RetrievalError::NoSearch);
    };
    let target = target.desc.clone();
    match search.state {
        SearchState::Planned | SearchState::Dispatched => {}
        SearchState::Found | SearchState::Reopened => {
            return Err(RetrievalError::SearchEnded(search.state));
        }
    }
    match search.goals.get(search.visited..) {
        None | Some([]) => Err(RetrievalError::NoGoal { target }),
        Some(goals) => Ok(Dispatch { target, goals: goals.to_vec() }),
    }
}

/// Counts the next goal as visited; returns those that are left.
fn visit_goal(session: &mut Session, report: &GoalReport, now: Timestamp) -> Vec<Goal> {
    let Some(search) = &mut session.search else { return Vec::new() };
    let goal = search.goals.get(search.visited).cloned();
    search.visited += 1;
    let left = search.goals.get(search.visited..).unwrap_or_default().to_vec();
    if report.is_found {
        search.state = SearchState::Found;
        if let (Some(target), Some(id)) = (&mut session.target, report.record)
            && !target.records.contains(&id)
        {
            target.records.push(id);
        }
        return left;
    }
    if left.is_empty() {
        search.state = SearchState::Reopened;
    }
    if let Some(Goal { position, map_id, .. }) = goal {
        let position = report.position.unwrap_or(position);
        session.record_searched_place(SearchedPlace { position, map_id, at: now });
    }
    left
}
