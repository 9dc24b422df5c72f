//! Retrieval: from a request in words to the places where a robot finds the object.
//!
//! Typed requests in, typed replies out. Sessions hold what the calls of one caller
//! share: the task, the working memory of the newest recall, the target and the goals of
//! its search. Knows no JSON, no names of arguments and no texts of replies; its only English
//! are descriptions to recall by, the reasons of goals and the purposes of a plan's calls.

mod called_otherwise;
pub mod goal_board;
mod grounding;
mod instances;
pub(crate) mod moments;
mod newer_sighting;
mod planner;
mod probability;
mod reading;
pub(crate) mod recall;
pub(crate) mod search;
pub(crate) mod session;
pub mod sessions;
pub(crate) mod target;
mod task_phrase;
mod thing_for_use;
pub(crate) mod tool_trace;

use std::sync::Arc;

use crate::base::RecordId;
use crate::base::caller::Caller;
use crate::base::shortage::Shortage;
use crate::base::time::{Clock, Timestamp, Zone};
use crate::language::reference::Reference;
use crate::language::reference::follow_up::follow_up;
use crate::language::request_tags::Intent;
use crate::memory::episodic::requests::Requests;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::ModelError;
use crate::retrieval::goal_board::GoalBoard;
use crate::retrieval::session::{SearchState, Session, Task};
use crate::retrieval::sessions::{ListedSession, SessionName, Sessions};
use crate::store::{Record, StoreError};

pub(crate) use crate::retrieval::grounding::Grounding;
pub(crate) use crate::retrieval::instances::InstanceList;
pub(crate) use crate::retrieval::planner::{ExecutedPlan, Outcome, plan};

/// The robot's episodic memory with the sessions of those who ask it.
#[derive(Debug)]
pub struct Retrieval {
    episodic: Arc<Episodic>,
    requests: Requests,
    sessions: Arc<Sessions>,
    goal_board: Arc<GoalBoard>,
    clock: Arc<dyn Clock>,
    zone: Zone,
    /// Probability of its first goal from which a task sends the robot.
    goal_probability_min: f32,
    /// By which the robot is called, in lower case; none where any name may be its.
    robot_names: Vec<String>,
}

/// How requests are read and carried out.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) zone: Zone,
    pub(crate) goal_probability_min: f32,
    pub(crate) robot_names: Vec<String>,
}

/// Why a request gave no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RetrievalError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no recall of this session has set the working memory")]
    NoWorkingMemory,
    #[error("the session has neither a task nor a working memory")]
    NothingToSearchFor,
    #[error(
        "the working memory was divided into {candidates} objects; number {number} is asked for"
    )]
    NoCandidate { number: usize, candidates: usize },
    #[error("record {0} does not exist")]
    NoRecord(RecordId),
    #[error("the position of record {0} is not known")]
    NoPosition(RecordId),
    #[error("the task {task:?} was understood as {}", intent.in_words())]
    NothingWanted { task: String, intent: Intent },
    #[error("the session has no search")]
    NoSearch,
    #[error("the search has ended: {0:?}")]
    SearchEnded(SearchState),
    #[error("no place is known where {target:?} could be searched for")]
    NoGoal { target: String },
    #[error("no search of the session is under way")]
    NotUnderWay,
    #[error("the plan needs more than {0} calls")]
    PlanTooLong(usize),
}

impl Shortage for RetrievalError {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others name what is to be mended")]
    fn shortage(&self) -> Option<String> {
        match self {
            Self::Memory(error) => error.shortage(),
            Self::Store(error) => error.shortage(),
            _ => None,
        }
    }
}

/// A request in words with what it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedRequest {
    pub(crate) text: String,
    pub(crate) reference: Reference,
}

impl Retrieval {
    pub(crate) fn new(
        episodic: Arc<Episodic>,
        requests: Requests,
        sessions: Arc<Sessions>,
        clock: Arc<dyn Clock>,
        Options { zone, goal_probability_min, robot_names }: Options,
    ) -> Self {
        Self {
            episodic,
            requests,
            sessions,
            goal_board: Arc::default(),
            clock,
            zone,
            goal_probability_min,
            robot_names: robot_names.iter().map(|it| it.to_lowercase()).collect(),
        }
    }

    /// Drops from all sessions what shows or tells of these records.
    pub(crate) fn forget_in_sessions(&self, gone: &[RecordId]) -> Result<(), RetrievalError> {
        Ok(self.sessions.forget(gone)?)
    }

    /// Removes a session for good; whether there was one.
    pub(crate) fn delete_session(&self, session: SessionName<'_>) -> Result<bool, RetrievalError> {
        Ok(self.sessions.delete(session)?)
    }

    /// Starts a task: the session forgets what the one before was about. Returns when the
    /// task counts as asked.
    pub(crate) fn start_task(
        &self,
        session: SessionName<'_>,
        text: &str,
        now: Option<Timestamp>,
    ) -> Result<Timestamp, RetrievalError> {
        let before = self.session(session).task.map(|it| self.reference_of(&it)).transpose()?;
        let read = self.read(text)?;
        let reference = Some(match before {
            Some(before) => follow_up(text, read, before),
            None => read,
        });
        let task = Task { text: text.to_owned(), now, reference };
        self.update(session, |it| *it = Session { task: Some(task), ..Session::default() })?;
        Ok(now.unwrap_or_else(|| self.clock.now()))
    }

    /// The session as it is; an empty one where there is none.
    pub(crate) fn session(&self, session: SessionName<'_>) -> Session {
        self.sessions.get(session)
    }

    /// The sessions that a caller may look at, the one used last first.
    pub(crate) fn sessions_of(&self, caller: &Caller) -> Vec<ListedSession> {
        self.sessions.list(caller)
    }

    /// Changes a session; on disk when it returns, where the caller named it.
    pub(crate) fn update<T>(
        &self,
        session: SessionName<'_>,
        change: impl FnOnce(&mut Session) -> T,
    ) -> Result<T, RetrievalError> {
        Ok(self.sessions.update(session, |it| Ok::<T, StoreError>(change(it)))?)
    }

    /// Ends a session that belongs to a connection.
    pub(crate) fn close_session(&self, session: SessionName<'_>) {
        self.sessions.close(session);
    }

    pub(crate) fn goal_board(&self) -> &Arc<GoalBoard> {
        &self.goal_board
    }

    /// What counts as now in a session: when its task was asked, else the clock's time.
    pub(crate) fn now(&self, session: &Session) -> Timestamp {
        let asked_at = session.task.as_ref().and_then(|task| task.now);
        asked_at.unwrap_or_else(|| self.clock.now())
    }

    /// Reads a request in words.
    pub(crate) fn parse(&self, text: &str) -> Result<ParsedRequest, RetrievalError> {
        let reference = self.read(text)?;
        Ok(ParsedRequest { text: text.to_owned(), reference })
    }

    /// What the session's task refers to. It was read when the task began; of a session
    /// from before a restart it is read again.
    fn reference_of(&self, task: &Task) -> Result<Reference, RetrievalError> {
        match &task.reference {
            Some(reference) => Ok(reference.clone()),
            None => self.read(&task.text),
        }
    }

    fn records(&self, ids: &[RecordId]) -> Result<Vec<Record>, RetrievalError> {
        Ok(self.episodic.records(ids)?)
    }
}
