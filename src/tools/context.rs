//! What the tools work on.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::time::{Clock, Timestamp, Zone};
use crate::ingest::Ingest;
use crate::memory::episodic::Episodic;
use crate::memory::episodic::reference::Reference;
use crate::memory::episodic::requests::Requests;
use crate::memory::memos::Memos;
use crate::memory::notes::Notes;
use crate::memory::state::State;
use crate::store::StoreError;
use crate::tools::ToolError;
use crate::tools::args::TimeReading;
use crate::tools::session::Session;
use crate::tools::sessions::{SessionName, Sessions};
use crate::tools::targets::board::Board;

/// Everything that a tool may use.
#[derive(Debug)]
pub struct Context {
    pub episodic: Arc<Episodic>,
    pub requests: Requests,
    pub memos: Memos,
    pub notes: Notes,
    pub state: State,
    pub ingest: Arc<Ingest>,
    pub clock: Arc<dyn Clock>,
    pub options: Options,
    sessions: Sessions,
    board: Arc<Board>,
    started_at: Timestamp,
}

/// The memory's domains, and what callers keep between calls.
#[derive(Debug)]
pub struct Domains {
    pub episodic: Arc<Episodic>,
    pub requests: Requests,
    pub memos: Memos,
    pub notes: Notes,
    pub state: State,
    pub sessions: Sessions,
}

/// How the tools speak.
#[derive(Debug, Clone)]
pub struct Options {
    pub zone: Zone,
    /// Characters of a reply's text; beyond it the text is cut and says so.
    pub text_max_chars: usize,
    /// Where templates are looked for by name, in this order.
    pub prompts_dirs: Vec<PathBuf>,
}

impl Context {
    pub fn new(
        domains: Domains,
        ingest: Arc<Ingest>,
        clock: Arc<dyn Clock>,
        options: Options,
    ) -> Self {
        let started_at = clock.now();
        let Domains { episodic, requests, memos, notes, state, sessions } = domains;
        let board = Arc::default();
        Self {
            episodic,
            requests,
            memos,
            notes,
            state,
            ingest,
            clock,
            options,
            sessions,
            board,
            started_at,
        }
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Changes a session; on disk when it returns, where the caller named it.
    pub(crate) fn update<T>(
        &self,
        session: SessionName<'_>,
        change: impl FnOnce(&mut Session) -> T,
    ) -> Result<T, ToolError> {
        let outcome = self.sessions.update(session, |it| Ok::<T, StoreError>(change(it)));
        outcome.map_err(|error| ToolError::Fault(error.to_string()))
    }

    /// What a request refers to.
    pub(crate) fn refer(&self, request: &str) -> Result<Reference, ToolError> {
        self.requests.read(request).map_err(|error| ToolError::Fault(error.to_string()))
    }

    pub(crate) fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// Where goals are pinned up for whoever drives the robot.
    pub fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// Reads times as of now.
    pub(crate) fn clock_reading(&self) -> TimeReading {
        TimeReading { zone: self.options.zone, now: self.clock.now() }
    }

    /// Reads times as of the session's task, where it says when it was asked, else
    /// as of now.
    pub(crate) fn reading(&self, session: &str) -> TimeReading {
        let asked_at = self.sessions.get(session).task.and_then(|task| task.now);
        let now = asked_at.unwrap_or_else(|| self.clock.now());
        TimeReading { zone: self.options.zone, now }
    }
}
