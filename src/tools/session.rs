//! One session: what the calls of a caller share, from the task in words to the
//! places where the robot is sent.
//!
//! Plain data. Knows neither the memory nor how sessions are kept.

use crate::base::RecordId;
use crate::base::time::Timestamp;

/// What a caller's calls share: each session its own, the memory common to all.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Session {
    /// What the user asked for.
    pub(crate) task: Option<Task>,
    /// The newest result of a recall tool, in the order of that result.
    pub(crate) working_memory: Vec<RecordId>,
    /// What made the working memory; `None` before the first recall.
    pub(crate) recalled: Option<Recalled>,
    /// The distinct objects that the working memory was last divided into, in the
    /// order of that reply; none once another recall has changed it.
    pub(crate) candidates: Vec<Candidate>,
    /// The memory-search instance: what is searched for.
    pub(crate) target: Option<Target>,
    /// The real-world-search instance: where it is searched for.
    pub(crate) search: Option<Search>,
    /// Places that were looked at for this target in vain, oldest first.
    pub(crate) looked: Vec<Looked>,
    /// Calls that tools answer once only, oldest first; see [`ASKED_MAX`].
    pub(crate) asked: Vec<Asked>,
    /// What an agent's model had done so far, oldest first; see [`STEPS_MAX`].
    pub(crate) steps: Vec<Step>,
    /// What that model carries from one reply to the next.
    pub(crate) carried: Carried,
}

/// Calls that a session remembers to have asked; beyond it the oldest goes.
pub(crate) const ASKED_MAX: usize = 256;
/// Places that a session remembers to have looked at; beyond it the oldest goes.
pub(crate) const LOOKED_MAX: usize = 64;

/// Steps of an agent's model that a session remembers; beyond it the oldest goes.
pub(crate) const STEPS_MAX: usize = 24;
/// Characters that are kept of a step's result once the next is taken.
pub(crate) const OLD_RESULT_CHARS_MAX: usize = 600;

/// The user's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) text: String,
    /// What counts as now for it; the clock's time where absent.
    pub(crate) now: Option<Timestamp>,
}

/// How the working memory came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recalled {
    /// Name of the tool.
    pub(crate) tool: String,
    pub(crate) query: String,
}

/// One of the objects that the working memory may be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) desc: String,
    /// Its records, in the order of time.
    pub(crate) records: Vec<RecordId>,
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) desc: String,
    pub(crate) found: Found,
    /// Records that show it, in the order of time; none where it was described only.
    pub(crate) records: Vec<RecordId>,
}

/// Whether the memory shows the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Yes,
    No,
    /// Nothing was recalled yet.
    Unknown,
}

/// Where the target is searched for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Search {
    pub(crate) state: SearchState,
    /// In the order to visit.
    pub(crate) goals: Vec<Goal>,
    /// How many of the goals were reported of.
    pub(crate) visited: usize,
}

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchState {
    /// Decided, and not yet given out.
    Planned,
    /// The robot is under way.
    Dispatched,
    /// The robot found the target.
    Found,
    /// All goals were visited in vain.
    Reopened,
}

/// A place to go to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Goal {
    /// What it is grounded in.
    pub(crate) record: Option<RecordId>,
    pub(crate) position: [f64; 3],
    pub(crate) theta: Option<f64>,
    pub(crate) frame_id: String,
    pub(crate) map_id: String,
    pub(crate) reason: String,
    /// That the target is there.
    pub(crate) probability: f32,
    /// Commonsense rather than a sighting.
    pub(crate) is_guess: bool,
}

/// A place that was looked at in vain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Looked {
    pub(crate) position: [f64; 3],
    pub(crate) map_id: String,
    pub(crate) at: Timestamp,
}

/// A call and the records that it was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The tool with its arguments in one spelling.
    pub(crate) call: String,
    pub(crate) records: Vec<RecordId>,
}

/// A call that an agent's model asked for, and what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) call: String,
    pub(crate) result: String,
}

/// A model's own words about where it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) history_summary: String,
    pub(crate) current_task: String,
}

impl Session {
    /// Notes what a model did; of the steps before, only the beginnings stay.
    pub(crate) fn stepped(&mut self, steps: Vec<Step>, carried: Carried) {
        for step in &mut self.steps {
            if let Some((end, _)) = step.result.char_indices().nth(OLD_RESULT_CHARS_MAX) {
                step.result.truncate(end);
                step.result.push('…');
            }
        }
        self.steps.extend(steps);
        let over = self.steps.len().saturating_sub(STEPS_MAX);
        self.steps.drain(..over);
        self.carried = carried;
    }

    /// Whether a recall of this session returned the record.
    pub(crate) fn was_returned(&self, id: RecordId) -> bool {
        self.working_memory.contains(&id) || self.asked.iter().any(|it| it.records.contains(&id))
    }

    /// Replaces the working memory.
    pub(crate) fn recall(&mut self, tool: &str, query: &str, records: Vec<RecordId>) {
        self.working_memory = records;
        self.recalled = Some(Recalled { tool: tool.to_owned(), query: query.to_owned() });
        self.candidates.clear();
    }

    /// The records that a call was answered with before.
    pub(crate) fn answer_to(&self, call: &str) -> Option<&[RecordId]> {
        let asked = self.asked.iter().find(|asked| asked.call == call);
        asked.map(|asked| asked.records.as_slice())
    }

    /// Notes a call's answer.
    pub(crate) fn answered(&mut self, call: String, records: Vec<RecordId>) {
        self.asked.retain(|asked| asked.call != call);
        self.asked.push(Asked { call, records });
        let over = self.asked.len().saturating_sub(ASKED_MAX);
        self.asked.drain(..over);
    }

    /// Notes a place that was looked at in vain.
    pub(crate) fn looked_at(&mut self, place: Looked) {
        self.looked.push(place);
        let over = self.looked.len().saturating_sub(LOOKED_MAX);
        self.looked.drain(..over);
    }
}

impl Found {
    /// As replies have it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}
