//! The sessions by name: those of connections, and named ones, which the store
//! keeps so that they survive a restart.
//!
//! Promises: a change of a named session is on disk when [`Sessions::update`]
//! returns; changes of one session never overtake each other; sessions do not wait
//! for each other's disk.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use log::error;

use crate::base::RecordId;
use crate::base::caller::Caller;
use crate::base::time::{Clock, Timestamp};
use crate::retrieval::session::Session;
use crate::store::sessions::KeptSession;
use crate::store::{Store, StoreError};

/// Sessions held at once, in memory and on disk. One more lets go of the one idle for
/// longest, so that a client that names a new session in each call takes no more
/// than this.
pub(crate) const SESSIONS_MAX: usize = 1024;

/// Which session a call belongs to. Each user has sessions of its own: those of another
/// are other sessions, whatever their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionName<'a> {
    pub(crate) caller: &'a Caller,
    /// On one line, without control characters.
    pub(crate) name: &'a str,
    /// Named by the caller, and so kept beyond the connection and a restart.
    pub(crate) is_kept: bool,
}

/// Stands around a user's number before a session's name; no name holds it.
const OWNER: char = '\u{1}';

impl SessionName<'_> {
    /// What it is held and kept under: the daemon's own user has the bare names.
    fn key(self) -> String {
        let Self { caller, name, is_kept: _ } = self;
        if caller.is_own { name.to_owned() } else { format!("{OWNER}{}{OWNER}{name}", caller.uid) }
    }
}

/// A session, as somebody looks at it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListedSession {
    pub(crate) name: String,
    /// User that owns it; `None` of the daemon's own.
    pub(crate) user: Option<u32>,
    pub(crate) used_at: Timestamp,
    pub(crate) is_kept: bool,
    pub(crate) session: Session,
}

/// The user of a key, and the name.
fn read_key(key: &str) -> (Option<u32>, &str) {
    let owned = key.strip_prefix(OWNER).and_then(|it| it.split_once(OWNER));
    owned.map_or((None, key), |(uid, name)| (uid.parse().ok(), name))
}

/// All sessions.
#[derive(Debug)]
pub struct Sessions {
    store: Store,
    clock: Arc<dyn Clock>,
    /// A session that nobody used for so long is gone.
    idle_max: Duration,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    by_name: BTreeMap<String, LiveSession>,
    /// Counts uses: the session with the least number is idle for longest.
    uses: u64,
}

#[derive(Debug)]
struct LiveSession {
    used: u64,
    used_at: Timestamp,
    is_kept: bool,
    /// Held while a change of it is written.
    session: Arc<Mutex<Session>>,
}

impl Sessions {
    /// Takes up the named sessions that the store kept, but for those that were idle
    /// too long.
    pub fn open(
        store: Store,
        clock: Arc<dyn Clock>,
        idle_max: Duration,
    ) -> Result<Self, StoreError> {
        let now = clock.now();
        let mut table = Table::default();
        let mut kept = store.sessions()?;
        kept.sort_by(|a, b| b.used_at.cmp(&a.used_at).then_with(|| a.name.cmp(&b.name)));
        let held =
            |at: usize, it: &KeptSession| at < SESSIONS_MAX && now.since(it.used_at) <= idle_max;
        let mut gone = Vec::new();
        for (at, it) in kept.into_iter().enumerate() {
            match Session::from_json(&it.content) {
                Ok(session) if held(at, &it) => table.take_up(it, session),
                Ok(_idle) => gone.push(it.name),
                Err(error) => {
                    error!(session = it.name.as_str(), error:%; "a session is unreadable");
                    gone.push(it.name);
                }
            }
        }
        if !gone.is_empty() {
            store.remove_sessions(&gone)?;
        }
        Ok(Self { store, clock, idle_max, table: Mutex::new(table) })
    }

    /// Changes a session, which begins with its first change. What `change` returns
    /// as an error leaves it as it was.
    pub(crate) fn update<T, E: From<StoreError>>(
        &self,
        session: SessionName<'_>,
        change: impl FnOnce(&mut Session) -> Result<T, E>,
    ) -> Result<T, E> {
        let key = session.key();
        let (held, over, begins) = self.entry(&key, session.is_kept);
        if !over.is_empty() {
            self.store.remove_sessions(&over)?;
        }
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = held.clone();
        let outcome = change(&mut next)?;
        if session.is_kept && (begins || next != *held) {
            self.store.put_session(&KeptSession {
                name: key,
                content: next.to_json(),
                used_at: self.clock.now(),
            })?;
        }
        *held = next;
        Ok(outcome)
    }

    /// The session as it is; an empty one where there is none.
    pub(crate) fn get(&self, session: SessionName<'_>) -> Session {
        let held = {
            let now = self.clock.now();
            let mut table = self.lock();
            table.uses += 1;
            let uses = table.uses;
            match table.by_name.get_mut(&session.key()) {
                Some(entry) if now.since(entry.used_at) <= self.idle_max => {
                    (entry.used, entry.used_at) = (uses, now);
                    Arc::clone(&entry.session)
                }
                Some(_) | None => return Session::default(),
            }
        };
        held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The sessions that this caller may look at, the one used last first: its own, and all where
    /// it is the daemon's own user.
    pub(crate) fn list(&self, caller: &Caller) -> Vec<ListedSession> {
        let now = self.clock.now();
        let held: Vec<_> = {
            let table = self.lock();
            let live =
                table.by_name.iter().filter(|(_, it)| now.since(it.used_at) <= self.idle_max);
            live.map(|(key, it)| {
                (key.clone(), it.used, it.used_at, it.is_kept, Arc::clone(&it.session))
            })
            .collect()
        };
        let mut listed: Vec<(u64, ListedSession)> = Vec::new();
        for (key, used, used_at, is_kept, session) in held {
            let (user, name) = read_key(&key);
            if caller.is_own || user == Some(caller.uid) {
                let session = session.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let name = name.to_owned();
                listed.push((used, ListedSession { name, user, used_at, is_kept, session }));
            }
        }
        listed.sort_by_key(|(used, _)| std::cmp::Reverse(*used));
        listed.into_iter().map(|(_, it)| it).collect()
    }

    /// Drops from all sessions what shows or tells of these records, as
    /// [`Session::forget`] does. Durable when it returns.
    pub(crate) fn forget(&self, gone: &[RecordId]) -> Result<(), StoreError> {
        self.forget_by(|session| session.forget(gone))
    }

    /// As [`Sessions::forget`], of records that went by themselves: a session that shows none
    /// of them stays as it is.
    pub fn let_go(&self, gone: &[RecordId]) -> Result<(), StoreError> {
        let mut gone = gone.to_vec();
        gone.sort_unstable();
        self.forget_by(|session| session.let_go(&gone))
    }

    fn forget_by(&self, forget: impl Fn(&mut Session)) -> Result<(), StoreError> {
        let held: Vec<_> = {
            let table = self.lock();
            let all = table.by_name.iter();
            all.map(|(key, it)| (key.clone(), it.is_kept, Arc::clone(&it.session))).collect()
        };
        for (name, is_kept, session) in held {
            let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
            let mut next = session.clone();
            forget(&mut next);
            if is_kept && next != *session {
                let used_at = self.clock.now();
                self.store.put_session(&KeptSession { name, content: next.to_json(), used_at })?;
            }
            *session = next;
        }
        // What the versions before said.
        self.store.erase_owed()
    }

    /// Removes a session for good; whether there was one. Durable when it returns.
    pub(crate) fn delete(&self, session: SessionName<'_>) -> Result<bool, StoreError> {
        let key = session.key();
        let removed = self.lock().by_name.remove(&key);
        if removed.as_ref().is_some_and(|it| it.is_kept) {
            self.store.remove_sessions(&[key])?;
        }
        Ok(removed.is_some())
    }

    /// The connection that owned this session is gone. What the caller named stays.
    pub(crate) fn close(&self, session: SessionName<'_>) {
        let key = session.key();
        let mut table = self.lock();
        if table.by_name.get(&key).is_some_and(|entry| !entry.is_kept) {
            table.by_name.remove(&key);
        }
    }

    /// The session, the names of those that had to go for it and are on disk, and
    /// whether it is kept from now on.
    fn entry(&self, key: &str, is_kept: bool) -> (Arc<Mutex<Session>>, Vec<String>, bool) {
        let now = self.clock.now();
        let mut table = self.lock();
        table.uses += 1;
        let uses = table.uses;
        let mut gone = Vec::new();
        let is_idle = |it: &LiveSession| now.since(it.used_at) > self.idle_max;
        if !table.by_name.contains_key(key) || table.by_name.values().any(is_idle) {
            table.by_name.retain(|name, it| {
                let goes = is_idle(it);
                if goes && it.is_kept {
                    gone.push(name.clone());
                }
                !goes
            });
            while table.by_name.len() >= SESSIONS_MAX {
                gone.extend(table.let_go_of_idlest());
            }
        }
        let entry = table.by_name.entry(key.to_owned()).or_insert_with(|| LiveSession {
            used: uses,
            used_at: now,
            is_kept: false,
            session: Arc::default(),
        });
        let begins = is_kept && !entry.is_kept;
        entry.is_kept |= is_kept;
        (entry.used, entry.used_at) = (uses, now);
        gone.retain(|name| name != key);
        (Arc::clone(&entry.session), gone, begins)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A table of whole entries: an insertion does not panic halfway.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Newest first: the first has the highest number of use.
    fn take_up(&mut self, kept: KeptSession, session: Session) {
        let used = SESSIONS_MAX.saturating_sub(self.by_name.len()) as u64;
        self.uses = self.uses.max(used);
        let KeptSession { name, content: _, used_at } = kept;
        let session = Arc::new(Mutex::new(session));
        self.by_name.insert(name, LiveSession { used, used_at, is_kept: true, session });
    }

    /// Lets go of the session idle for longest; its name where it is on disk.
    fn let_go_of_idlest(&mut self) -> Option<String> {
        let idlest = self.by_name.iter().min_by_key(|(_, entry)| entry.used);
        let (name, is_kept) = idlest.map(|(name, entry)| (name.clone(), entry.is_kept))?;
        self.by_name.remove(&name);
        is_kept.then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::StandingClock;
    use crate::retrieval::session::ModelStep;
    use crate::store::{EmbeddingSpace, Options};
    use std::path::Path;
    use std::sync::LazyLock;

    const DAY: Duration = Duration::from_hours(24);

    fn store(dir: &Path) -> Store {
        let space =
            EmbeddingSpace { model: "m".to_owned(), fingerprint: "f".to_owned(), dimension: 2 };
        Store::open(&Options::at(dir.to_owned()), &space).unwrap()
    }

    fn clock() -> Arc<StandingClock> {
        Arc::new(StandingClock::at(Timestamp::from_seconds(1e9).unwrap()))
    }

    static DAEMON: LazyLock<Caller> = LazyLock::new(Caller::daemon);

    fn own(name: &str) -> SessionName<'_> {
        SessionName { caller: &DAEMON, name, is_kept: false }
    }

    fn named(name: &str) -> SessionName<'_> {
        SessionName { is_kept: true, ..own(name) }
    }

    fn put(sessions: &Sessions, session: SessionName<'_>, id: u64) {
        let change = |it: &mut Session| {
            it.working_memory = vec![RecordId(id)];
            Ok::<_, StoreError>(())
        };
        sessions.update(session, change).unwrap();
    }

    fn holds(sessions: &Sessions, name: &str) -> Option<u64> {
        sessions.get(own(name)).working_memory.first().map(|id| id.0)
    }

    #[test]
    fn sessions_are_apart_and_end_with_their_connection() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        put(&sessions, own("a"), 1);
        put(&sessions, own("b"), 2);
        assert_eq!(holds(&sessions, "a"), Some(1));
        sessions.close(own("a"));
        assert_eq!(holds(&sessions, "a"), None);
        assert_eq!(holds(&sessions, "b"), Some(2));
    }

    #[test]
    fn the_daemon_s_user_looks_at_all_sessions_and_others_at_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        let guest = Caller { uid: 4_711, is_own: false, ..Caller::daemon() };
        put(&sessions, named("mine"), 1);
        put(&sessions, SessionName { caller: &guest, ..named("theirs") }, 2);
        put(&sessions, own("a connection"), 3);
        let seen = |caller: &Caller| -> Vec<(String, Option<u32>, bool)> {
            sessions.list(caller).into_iter().map(|it| (it.name, it.user, it.is_kept)).collect()
        };
        let theirs = ("theirs".to_owned(), Some(4_711), true);
        let (mine, connection) =
            (("mine".to_owned(), None, true), ("a connection".to_owned(), None, false));
        assert_eq!(seen(&guest), std::slice::from_ref(&theirs));
        assert_eq!(seen(&DAEMON), [connection, theirs, mine]);
    }

    #[test]
    fn what_was_forgotten_is_gone_from_every_session_also_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        put(&sessions, own("a"), 1);
        put(&sessions, named("b"), 1);
        put(&sessions, named("c"), 2);
        let step = ModelStep { call: "recall_all".to_owned(), result: "a red mug".to_owned() };
        let change = |it: &mut Session| {
            it.steps = vec![step.clone()];
            Ok::<_, StoreError>(())
        };
        sessions.update(named("c"), change).unwrap();
        sessions.forget(&[RecordId(1)]).unwrap();
        let seen = |sessions: &Sessions| ["a", "b", "c"].map(|name| holds(sessions, name));
        assert_eq!(seen(&sessions), [None, None, Some(2)]);
        assert_eq!(sessions.get(named("c")).steps, []);
        drop(sessions);
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        assert_eq!(seen(&sessions), [None, None, Some(2)]);
        assert_eq!(sessions.get(named("c")).steps, []);
        assert!(sessions.delete(named("c")).unwrap());
        assert!(!sessions.delete(named("c")).unwrap());
        drop(sessions);
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        assert_eq!(holds(&sessions, "c"), None);
    }

    #[test]
    fn each_user_has_sessions_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let user = |uid| Caller { uid, is_own: false, ..Caller::daemon() };
        let (anna, ben) = (user(1001), user(1002));
        let of = |caller, name| SessionName { caller, name, is_kept: true };
        let held = |sessions: &Sessions, caller, name| {
            sessions.get(of(caller, name)).working_memory.first().map(|id| id.0)
        };
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        put(&sessions, named("agent"), 1);
        put(&sessions, of(&anna, "agent"), 2);
        put(&sessions, SessionName { is_kept: false, ..of(&anna, "connection-1") }, 3);
        assert_eq!(held(&sessions, &ben, "connection-1"), None);
        sessions.close(of(&ben, "connection-1"));
        assert_eq!(held(&sessions, &anna, "connection-1"), Some(3));
        drop(sessions);
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        let found = [&anna, &ben, &DAEMON].map(|caller| held(&sessions, caller, "agent"));
        assert_eq!(found, [Some(2), None, Some(1)]);
    }

    #[test]
    fn named_sessions_outlive_a_restart_and_others_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        put(&sessions, own("connection"), 1);
        put(&sessions, named("agent"), 2);
        put(&sessions, named("agent"), 3);
        // A client may give the connection's own session as the name to go on with.
        put(&sessions, own("taken over"), 4);
        put(&sessions, named("taken over"), 4);
        sessions.close(own("agent"));
        sessions.close(own("taken over"));
        drop(sessions);
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        let found = ["connection", "agent", "taken over"].map(|name| holds(&sessions, name));
        assert_eq!(found, [None, Some(3), Some(4)]);
    }

    #[test]
    fn idle_sessions_expire_while_it_runs_and_at_the_start() {
        let dir = tempfile::tempdir().unwrap();
        let clock = clock();
        let sessions =
            Sessions::open(store(dir.path()), Arc::clone(&clock) as Arc<dyn Clock>, DAY).unwrap();
        put(&sessions, named("old"), 1);
        clock.set(clock.now().plus(DAY / 2));
        put(&sessions, named("young"), 2);
        clock.set(clock.now().plus(DAY / 2 + Duration::from_secs(1)));
        assert_eq!(holds(&sessions, "old"), None);
        assert_eq!(holds(&sessions, "young"), Some(2));
        put(&sessions, own("c"), 3);
        drop(sessions);
        let reopened = store(dir.path());
        let names: Vec<String> =
            reopened.sessions().unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["young"]);
        clock.set(clock.now().plus(DAY));
        let sessions = Sessions::open(reopened.clone(), clock, DAY).unwrap();
        assert_eq!(holds(&sessions, "young"), None);
        assert_eq!(reopened.sessions().unwrap(), []);
    }

    #[test]
    fn the_session_idle_for_longest_goes_first() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        put(&sessions, named("first"), 1);
        put(&sessions, named("second"), 2);
        for i in 2..SESSIONS_MAX {
            put(&sessions, own(&i.to_string()), 7);
        }
        put(&sessions, named("first"), 1);
        put(&sessions, own("one more"), 7);
        assert_eq!(holds(&sessions, "second"), None);
        assert_eq!(holds(&sessions, "first"), Some(1));
        drop(sessions);
        let names: Vec<String> =
            store(dir.path()).sessions().unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["first"]);
    }

    #[test]
    fn a_change_that_fails_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::open(store(dir.path()), clock(), DAY).unwrap();
        put(&sessions, named("a"), 1);
        let failed: Result<(), StoreError> = sessions.update(named("a"), |it| {
            it.working_memory.clear();
            Err(StoreError::Dimension { found: 1, expected: 2 })
        });
        failed.unwrap_err();
        assert_eq!(holds(&sessions, "a"), Some(1));
    }
}
