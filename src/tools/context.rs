//! What the tools work on, and the sessions that callers keep between calls.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::RecordId;
use crate::base::time::{Clock, Timestamp, Zone};
use crate::ingest::Ingest;
use crate::memory::episodic::Episodic;
use crate::memory::memos::Memos;
use crate::memory::notes::Notes;
use crate::memory::state::State;
use crate::tools::args::TimeReading;

/// Everything that a tool may use.
#[derive(Debug)]
pub struct Context {
    pub episodic: Arc<Episodic>,
    pub memos: Memos,
    pub notes: Notes,
    pub state: State,
    pub ingest: Arc<Ingest>,
    pub clock: Arc<dyn Clock>,
    pub options: Options,
    sessions: Sessions,
    started_at: Timestamp,
}

/// The memory's domains.
#[derive(Debug)]
pub struct Domains {
    pub episodic: Arc<Episodic>,
    pub memos: Memos,
    pub notes: Notes,
    pub state: State,
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
        let Domains { episodic, memos, notes, state } = domains;
        let sessions = Sessions::default();
        Self { episodic, memos, notes, state, ingest, clock, options, sessions, started_at }
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub(crate) fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// Reads times as of now.
    pub(crate) fn reading(&self) -> TimeReading {
        TimeReading { zone: self.options.zone, now: self.clock.now() }
    }
}

/// What a caller's calls share: each session its own, the memory common to all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Session {
    /// The newest result of a recall tool, in the order of that result.
    pub(crate) working_memory: Vec<RecordId>,
}

/// Sessions held at once. One more lets go of the one idle for longest, so that
/// a client that names a new session in each call takes no more than this.
const SESSIONS_MAX: usize = 1024;

/// The sessions by name.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    by_name: BTreeMap<String, (u64, Session)>,
    /// Counts uses: the session with the least number is idle for longest.
    uses: u64,
}

impl Sessions {
    /// Changes a session, which begins with its first change.
    pub(crate) fn update(&self, name: &str, change: impl FnOnce(&mut Session)) {
        let mut table = self.lock();
        table.uses += 1;
        let now = table.uses;
        let (used, session) = table.by_name.entry(name.to_owned()).or_default();
        *used = now;
        change(session);
        if table.by_name.len() > SESSIONS_MAX {
            let idle = table.by_name.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(name) = idle.map(|(name, _)| name.clone()) {
                table.by_name.remove(&name);
            }
        }
    }

    pub(crate) fn get(&self, name: &str) -> Session {
        self.lock().by_name.get(name).map(|(_, session)| session.clone()).unwrap_or_default()
    }

    pub(crate) fn close(&self, name: &str) {
        self.lock().by_name.remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_apart_and_end() {
        let sessions = Sessions::default();
        sessions.update("a", |it| it.working_memory = vec![RecordId(1)]);
        sessions.update("b", |it| it.working_memory = vec![RecordId(2)]);
        assert_eq!(sessions.get("a").working_memory, [RecordId(1)]);
        sessions.close("a");
        assert_eq!(sessions.get("a"), Session::default());
        assert_eq!(sessions.get("b").working_memory, [RecordId(2)]);
    }

    #[test]
    fn the_session_idle_for_longest_goes_first() {
        let sessions = Sessions::default();
        let keep = |it: &mut Session| it.working_memory = vec![RecordId(7)];
        for i in 0..SESSIONS_MAX {
            sessions.update(&i.to_string(), keep);
        }
        sessions.update("0", keep);
        sessions.update("one more", keep);
        assert_eq!(sessions.get("1"), Session::default());
        assert_eq!(sessions.get("0").working_memory, [RecordId(7)]);
    }
}
