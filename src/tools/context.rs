//! What the tools work on.

use std::path::PathBuf;
use std::sync::Arc;

use crate::audit::Audit;
use crate::base::picture::ImageLimits;
use crate::base::tally::Tally;
use crate::base::time::{Clock, Timestamp, Zone};
use crate::ingest::Ingest;
use crate::memory::episodic::Episodic;
use crate::memory::episodic::requests::Requests;
use crate::memory::memos::Memos;
use crate::memory::notes::Notes;
use crate::memory::state::AgentStates;
use crate::retrieval::goal_board::GoalBoard;
use crate::retrieval::sessions::{SessionName, Sessions};
use crate::retrieval::{self, Retrieval};
use crate::tools::args::TimeReading;
use crate::tools::backup::Backups;
use crate::tools::metrics::CallMetrics;

/// Everything that a tool may use.
#[derive(Debug)]
pub struct Context {
    pub episodic: Arc<Episodic>,
    pub retrieval: Retrieval,
    pub memos: Memos,
    pub notes: Notes,
    pub state: AgentStates,
    pub ingest: Arc<Ingest>,
    pub clock: Arc<dyn Clock>,
    pub options: Options,
    /// What callers did that changed or erased something.
    pub audit: Arc<Audit>,
    /// Calls that their callers may not make, by user and tool.
    pub(crate) refused_calls: Tally<(u32, String)>,
    /// Calls and how long they took.
    pub(crate) calls: Arc<CallMetrics>,
    /// The backup under way.
    pub(crate) backups: Backups,
    started_at: Timestamp,
}

/// The memory's domains, and what callers keep between calls.
#[derive(Debug)]
pub struct Domains {
    pub episodic: Arc<Episodic>,
    pub requests: Requests,
    pub memos: Memos,
    pub notes: Notes,
    pub state: AgentStates,
    pub sessions: Arc<Sessions>,
    pub audit: Arc<Audit>,
}

/// How the tools speak.
#[derive(Debug, Clone)]
pub struct Options {
    pub zone: Zone,
    /// Characters of a reply's text; beyond it the text is cut and says so.
    pub text_max_chars: usize,
    /// Share of the memory that a call forgets without a confirmation.
    pub forget_share_max: f32,
    /// Probability of its first goal from which a task sends the robot.
    pub goal_probability_min: f32,
    /// By which the robot is called; none where any name may be its.
    pub robot_names: Vec<String>,
    /// Where templates are looked for by name, in this order.
    pub prompts_dirs: Vec<PathBuf>,
    /// Where images lie that clients name by their paths.
    pub image_roots: Vec<PathBuf>,
    /// What a frame that comes in may be at most.
    pub image_limits: ImageLimits,
}

impl Context {
    pub fn new(
        domains: Domains,
        ingest: Arc<Ingest>,
        clock: Arc<dyn Clock>,
        options: Options,
    ) -> Self {
        let started_at = clock.now();
        let Domains { episodic, requests, memos, notes, state, sessions, audit } = domains;
        let retrieval = Retrieval::new(
            Arc::clone(&episodic),
            requests,
            sessions,
            Arc::clone(&clock),
            retrieval::Options {
                zone: options.zone,
                goal_probability_min: options.goal_probability_min,
                robot_names: options.robot_names.clone(),
            },
        );
        Self {
            episodic,
            retrieval,
            memos,
            notes,
            state,
            ingest,
            clock,
            options,
            audit,
            refused_calls: Tally::default(),
            calls: Arc::default(),
            backups: Backups::default(),
            started_at,
        }
    }

    pub(crate) fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// The goals that are given out, for whoever drives the robot.
    pub fn goal_board(&self) -> &Arc<GoalBoard> {
        self.retrieval.goal_board()
    }

    /// Reads times as of now.
    pub(crate) fn clock_reading(&self) -> TimeReading {
        TimeReading { zone: self.options.zone, now: self.clock.now() }
    }

    /// Reads times as of the session's task, where it says when it was asked, else
    /// as of now.
    pub(crate) fn reading(&self, session: SessionName<'_>) -> TimeReading {
        let now = self.retrieval.now(&self.retrieval.session(session));
        TimeReading { zone: self.options.zone, now }
    }
}
