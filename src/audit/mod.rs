//! The audit log: who changed or erased what, and when. Never what was in it.
//!
//! `STATE/audit/YYYY-MM-DD-NNNN.jsonl`, a line of JSON an entry, by the day in UTC. A file
//! that is full is followed by the next of its day; the oldest files go when all together
//! are too large, and each when its day is out of retention. An entry is with the kernel
//! when [`Audit::write`] returns, so that it survives `kill -9`; an erasure is on disk by
//! then, and with it all before it. An erasure has two: that it *begins*, with all that it is
//! going to remove, and what came of it; where a kill lies between, the next start writes the
//! second. Of what comes many times a second, such as frames, the
//! first is written at once and those of the minute that follows as one entry, which `kill
//! -9` may lose.
//!
//! A line:
//!
//! ```json
//! {"at":"2026-11-22T18:00:00.000123Z","uid":1000,"user":"robot","pid":4242,
//!  "deed":"memory_forget","outcome":"done","count":2,"ids":["#1","#2"]}
//! ```

mod files;
pub mod receipts;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat};
use log::error;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::audit::files::Files;
use crate::base::caller::Caller;
use crate::base::time::{Clock, Timestamp};

/// Where the log is and how much of it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub dir: PathBuf,
    /// All files together; beyond it the oldest go.
    pub bytes_max: u64,
    /// Entries older than this go, a day of them at a time; `None` keeps them until there
    /// is no room.
    pub age_max: Option<Duration>,
}

impl Options {
    /// The log of a state directory, with the default bounds.
    pub fn at(state_dir: &Path) -> Self {
        let age_max = Some(Duration::from_hours(2160));
        Self { dir: state_dir.join("audit"), bytes_max: 16 << 20, age_max }
    }
}

/// How a deed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// About to be: an entry with the same number in its details, `begun`, says what came of it.
    Begun,
    Done,
    /// Its caller may not.
    Refused,
    /// Begun, and not brought to its end.
    Failed,
}

/// How soon an entry must be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// Before the caller has its answer.
    OnDisk,
    /// With the kernel.
    Written,
    /// As one with its like of the minute.
    Summed,
}

/// Ids that an entry names; it says how many more there were.
pub const IDS_MAX: usize = 100;
/// Ids and ranges that the entry of a beginning names, from which a start completes it.
const IDS_BEGUN_MAX: usize = 20_000;
/// In the details of both entries of an erasure: which belong together.
const BEGUN: &str = "begun";

/// An entry to be.
#[derive(Debug, Clone)]
pub struct Deed<'a> {
    pub caller: &'a Caller,
    /// Name of a tool, a command or what the daemon does by itself: `memory_forget`.
    pub name: &'a str,
    pub outcome: Outcome,
    /// Things that were changed or erased.
    pub count: u64,
    /// Which, as far as they have ids that say nothing of their content.
    pub ids: Vec<String>,
    /// What else is to be known, without any content.
    pub details: Map<String, Value>,
}

impl<'a> Deed<'a> {
    pub fn done(caller: &'a Caller, name: &'a str, count: u64, ids: Vec<String>) -> Self {
        Self { caller, name, outcome: Outcome::Done, count, ids, details: Map::new() }
    }
}

/// An erasure that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Begun(u64);

impl Begun {
    /// By which other entries name it.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Who looks at what is erased while it is there, and is told when it is not.
pub trait ErasureWitness: Send + Sync + fmt::Debug {
    /// These are on disk as begun, and nothing of them is removed before this returns.
    fn begins(&self, begun: Begun, ids: &[String]);

    /// What could be removed of them is.
    fn ended(&self, begun: Begun);
}

/// The thread on which an erasure runs from its begin to its end, and its name.
type Eraser = (ThreadId, String);

/// The audit log. Many threads at once.
#[derive(Debug)]
pub struct Audit {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    witness: OnceLock<Arc<dyn ErasureWitness>>,
}

#[derive(Debug)]
struct State {
    /// `None` keeps no log.
    files: Option<Files>,
    sums: BTreeMap<SumKey, Sum>,
    /// What has begun and not ended.
    open: BTreeMap<Begun, Eraser>,
    last_begun: u64,
    /// Why the last entry could not be written.
    problem: Option<String>,
}

/// What is summed up together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SumKey {
    uid: u32,
    user: String,
    pid: Option<u32>,
    name: String,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy)]
struct Sum {
    /// When the last entry of it was written.
    since: Timestamp,
    untold: u64,
}

/// How long entries are summed up.
const SUMMED_FOR: Duration = Duration::from_mins(1);
/// Sums at once; beyond it all are written.
const SUMS_MAX: usize = 64;

/// An entry as it lies on disk.
#[derive(Serialize)]
struct Line<'a> {
    at: String,
    uid: u32,
    user: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    deed: &'a str,
    outcome: Outcome,
    count: u64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    ids: &'a [String],
    #[serde(skip_serializing_if = "is_zero")]
    more_ids: usize,
    #[serde(skip_serializing_if = "Map::is_empty")]
    details: &'a Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Audit {
    /// Opens the log and lets go of what is out of retention.
    pub fn open(options: Options, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let files = Files::open(options, clock.now())?;
        Ok(Self::of(Some(files), clock))
    }

    /// Keeps nothing.
    pub fn none(clock: Arc<dyn Clock>) -> Self {
        Self::of(None, clock)
    }

    fn of(files: Option<Files>, clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::new(State::of(files)), witness: OnceLock::new() }
    }

    /// Has erasures witnessed from now on; the first who comes.
    pub fn show_erasures_to(&self, witness: Arc<dyn ErasureWitness>) {
        drop(self.witness.set(witness));
    }

    /// Notes a deed. What cannot be written is said in the log and in [`Audit::problem`]:
    /// the deed is done, and its caller cannot mend the disk.
    pub fn write(&self, deed: &Deed<'_>, urgency: Urgency) {
        let now = self.clock.now();
        let mut state = self.lock();
        if urgency == Urgency::Summed && state.sum_up(deed, now) {
            return;
        }
        state.write_due_sums(now);
        state.append(&line(deed, now), now, urgency == Urgency::OnDisk);
    }

    /// Notes that these are about to be erased; on disk when it returns.
    pub fn begin(&self, caller: &Caller, name: &str, ids: Vec<String>) -> Begun {
        let now = self.clock.now();
        let count = ids.len() as u64;
        let deed = Deed { outcome: Outcome::Begun, ..Deed::done(caller, name, count, ids) };
        let begun = {
            let mut state = self.lock();
            state.write_due_sums(now);
            let number = u64::try_from(now.micros()).unwrap_or(0).max(state.last_begun + 1);
            state.last_begun = number;
            let begun = Begun(number);
            state.open.insert(begun, (thread::current().id(), name.to_owned()));
            state.append(&line(&deed.clone().of(begun), now), now, true);
            begun
        };
        if let Some(witness) = self.witness.get() {
            witness.begins(begun, &deed.ids);
        }
        begun
    }

    /// Notes what came of it; on disk when it returns.
    pub fn end(&self, begun: Begun, deed: Deed<'_>) {
        let now = self.clock.now();
        {
            let mut state = self.lock();
            state.open.remove(&begun);
            state.write_due_sums(now);
            state.append(&line(&deed.of(begun), now), now, true);
        }
        if let Some(witness) = self.witness.get() {
            witness.ended(begun);
        }
    }

    /// As [`Audit::end`], of the deed of this name that this thread began; `false` where it began
    /// none.
    pub fn end_own(&self, deed: Deed<'_>) -> bool {
        let eraser = (thread::current().id(), deed.name.to_owned());
        let own = {
            let state = self.lock();
            // An older one of this thread ended in a panic.
            state.open.iter().rfind(|(_, it)| **it == eraser).map(|(begun, _)| *begun)
        };
        own.is_some_and(|begun| {
            self.end(begun, deed);
            true
        })
    }

    /// Why the newest entry is missing, where it is.
    pub fn problem(&self) -> Option<String> {
        self.lock().problem.clone()
    }

    /// Writes what is summed up and not yet told; on disk when it returns.
    pub fn flush(&self) {
        let now = self.clock.now();
        let mut state = self.lock();
        state.write_sums(now, |_| true);
        if let Some(Err(error)) = state.files.as_mut().map(Files::sync) {
            state.note(&error);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Whole lines and whole sums: nothing panics between two changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The lines of a log, oldest first. A line that a crash cut short is left out.
pub fn read(dir: &Path) -> io::Result<Vec<Map<String, Value>>> {
    let mut entries = Vec::new();
    for text in files::texts(dir)? {
        entries.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
    }
    Ok(entries)
}

impl State {
    fn of(files: Option<Files>) -> Self {
        let (sums, open) = (BTreeMap::new(), BTreeMap::new());
        Self { files, sums, open, last_begun: 0, problem: None }
    }

    /// Whether the deed only counts towards a later entry.
    fn sum_up(&mut self, deed: &Deed<'_>, now: Timestamp) -> bool {
        let Deed { caller, name, outcome, count, .. } = deed;
        let key = SumKey {
            uid: caller.uid,
            user: caller.user.clone(),
            pid: caller.pid,
            name: (*name).to_owned(),
            outcome: *outcome,
        };
        // The first of a minute has an entry of its own, with its id.
        if let Some(sum) = self.sums.get_mut(&key)
            && now.since(sum.since) < SUMMED_FOR
        {
            sum.untold += count;
            return true;
        }
        if self.sums.len() >= SUMS_MAX {
            self.write_sums(now, |_| true);
        }
        self.write_due_sums(now);
        self.sums.insert(key, Sum { since: now, untold: 0 });
        false
    }

    fn write_due_sums(&mut self, now: Timestamp) {
        self.write_sums(now, |sum| now.since(sum.since) >= SUMMED_FOR);
    }

    fn write_sums(&mut self, now: Timestamp, is_due: impl Fn(&Sum) -> bool) {
        let sums = std::mem::take(&mut self.sums).into_iter();
        let (due, running) = sums.partition(|(_, sum)| is_due(sum));
        self.sums = running;
        let due: BTreeMap<SumKey, Sum> = due;
        for (key, sum) in due.into_iter().filter(|(_, sum)| sum.untold > 0) {
            let SumKey { uid, user, pid, name, outcome } = key;
            let mut details = Map::new();
            details.insert("since".to_owned(), written(sum.since).into());
            let summed = Line {
                at: written(now),
                uid,
                user: &user,
                pid,
                deed: &name,
                outcome,
                count: sum.untold,
                ids: &[],
                more_ids: 0,
                details: &details,
            };
            self.append(&to_text(&summed), now, false);
        }
    }

    fn append(&mut self, line: &str, now: Timestamp, is_urgent: bool) {
        let Some(files) = &mut self.files else { return };
        let appended = files.append(line, now);
        let written = if is_urgent { appended.and_then(|()| files.sync()) } else { appended };
        match written {
            Ok(()) => self.problem = None,
            Err(error) => self.note(&error),
        }
    }

    fn note(&mut self, error: &io::Error) {
        if self.problem.is_none() {
            error!("the audit log cannot be written: {error}");
        }
        self.problem = Some(format!("the audit log cannot be written: {error}"));
    }
}

impl Deed<'_> {
    fn of(mut self, begun: Begun) -> Self {
        self.details.insert(BEGUN.to_owned(), begun.0.into());
        self
    }
}

fn line(deed: &Deed<'_>, now: Timestamp) -> String {
    let Deed { caller, name, outcome, count, ids, details } = deed;
    let ids_max = if *outcome == Outcome::Begun { IDS_BEGUN_MAX } else { IDS_MAX };
    to_text(&Line {
        at: written(now),
        uid: caller.uid,
        user: &caller.user,
        pid: caller.pid,
        deed: name,
        outcome: *outcome,
        count: *count,
        ids: ids.get(..ids.len().min(ids_max)).unwrap_or_default(),
        more_ids: ids.len().saturating_sub(ids_max),
        details,
    })
}

fn to_text(line: &Line<'_>) -> String {
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}

fn written(at: Timestamp) -> String {
    let at = DateTime::from_timestamp_micros(at.micros()).unwrap_or_default();
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

#[cfg(test)]
mod tests;
