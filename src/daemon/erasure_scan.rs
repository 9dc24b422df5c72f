//! Whether what was erased is gone: fingerprints of it are taken before it goes, and looked for in
//! every byte of the state directory some minutes later, when the index is written anew.
//!
//! Fingerprints live in this process's memory until then and nowhere else: what a process that
//! ended has not scanned has no entry, and `engram audit forget` says that it was not scanned.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use log::{error, info, warn};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::audit::{Audit, Begun, Deed, ErasureWitness, Urgency, receipts};
use crate::base::RecordId;
use crate::base::caller::Caller;
use crate::base::priority::set_niceness;
use crate::base::stop::Stop;
use crate::base::time::Clock;
use crate::daemon::DaemonError;
use crate::store::fingerprints::{FingerprintKey, Fingerprints};
use crate::store::residue::{self, Erased, Residue};
use crate::store::{self, Store, StoreError};

/// What the log calls a scan.
const SCAN: &str = "erasure_scan";
/// In its details: which erasures it was of.
const SCANNED: &str = "of";

/// Images of one erasure whose fingerprints are taken: each is read, and who erases waits; of
/// retention, whoever inserts.
const IMAGES_MAX: usize = 64;
/// Records of one erasure that are looked up, for the same reason; as many as retention's.
const RECORDS_MAX: usize = 4_096;
/// Erasures that wait for one scan.
const WAITING_MAX: usize = 1_000;
/// Places that the entry of a scan names.
const NAMED_MAX: usize = 20;
/// Between two looks at what waits.
const LOOK: Duration = Duration::from_secs(5);
/// So many times as long as it looked through something, it rests.
const REST: u32 = 4;

/// The thread that scans.
#[derive(Debug)]
pub(super) struct ErasureScan {
    stop: Stop,
    thread: JoinHandle<()>,
}

impl ErasureScan {
    /// Witnesses erasures from now on.
    pub(super) fn start(
        audit: &Arc<Audit>,
        store: &Store,
        options: store::Options,
        after: Duration,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, DaemonError> {
        let (store, clock, key) = (store.clone(), Arc::clone(clock), FingerprintKey::random()?);
        let waiting = Arc::new(Waiting { store, clock, key, erasures: Mutex::default() });
        audit.show_erasures_to(Arc::clone(&waiting) as _);
        let stop = Stop::default();
        let scanner = Scanner { waiting, options, audit: Arc::clone(audit), stop: stop.clone() };
        let thread = Builder::new().name("erasure-scan".to_owned());
        let thread = thread.spawn(move || scanner.run(after)).map_err(DaemonError::Thread)?;
        Ok(Self { stop, thread })
    }

    pub(super) fn stop(self) {
        self.stop.ask();
        if self.thread.join().is_err() {
            warn!("the thread that looks for what was erased ended in a panic");
        }
    }
}

/// Erasures that no scan was of yet.
#[derive(Debug)]
struct Waiting {
    store: Store,
    clock: Arc<dyn Clock>,
    key: FingerprintKey,
    erasures: Mutex<BTreeMap<Begun, Erasure>>,
}

#[derive(Debug)]
struct Erasure {
    erased: Erased,
    ended: Option<Instant>,
}

impl ErasureWitness for Waiting {
    fn begins(&self, begun: Begun, ids: &[String]) {
        let runs_held = {
            let erasures = self.lock();
            if erasures.len() >= WAITING_MAX {
                return;
            }
            erasures.values().map(|it| it.erased.prints.runs()).sum()
        };
        let mut erased = Erased::default();
        // Sessions and frames without a caption are named by no id, and not looked for.
        if ids.iter().filter(|id| name(id, &mut erased)).count() > 0 {
            erased.prints = self.take_prints(&mut erased, runs_held);
            self.lock().insert(begun, Erasure { erased, ended: None });
        }
    }

    fn ended(&self, begun: Begun) {
        if let Some(erasure) = self.lock().get_mut(&begun) {
            erasure.ended = Some(self.clock.tick());
        }
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Begun, Erasure>> {
        // Whole erasures go in and out.
        self.erasures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_prints(&self, erased: &mut Erased, runs_held: usize) -> Fingerprints {
        let mut prints = Fingerprints::under(self.key, runs_held);
        let records = erased.records.iter().flat_map(|(first, last)| first.0..=last.0);
        for id in records.take(RECORDS_MAX).map(RecordId) {
            // One that is damaged cannot be read, and goes all the same.
            let Ok(Some(record)) = self.store.record(id) else { continue };
            prints.take_text(&format!("text of #{id}"), &record.caption);
            let Some(ticket) = record.image else { continue };
            erased.frames.insert(ticket.0);
            if erased.frames.len() <= IMAGES_MAX
                && let Ok(Some(image)) = self.store.image(ticket)
            {
                prints.take_image(&format!("image of #{id}"), &image);
            }
        }
        for id in &erased.notes {
            let Ok(Some(note)) = self.store.note(*id) else { continue };
            prints.take_text(&format!("text of note {id}"), &note.text);
        }
        for id in &erased.memos {
            let Ok(Some(memo)) = self.store.memo(*id) else { continue };
            for text in [&memo.content, &memo.user_message] {
                prints.take_text(&format!("text of memo {id}"), text);
            }
        }
        prints
    }

    /// What is to be looked for, once the first of it is so old.
    fn take_due(&self, after: Duration) -> BTreeMap<Begun, Erased> {
        let mut erasures = self.lock();
        let is_due = |it: &Erasure| it.ended.is_some_and(|ended| ended.elapsed() >= after);
        if !erasures.values().any(is_due) {
            return BTreeMap::new();
        }
        let (ended, open) =
            std::mem::take(&mut *erasures).into_iter().partition(|(_, it)| it.ended.is_some());
        *erasures = open;
        let ended: BTreeMap<Begun, Erasure> = ended;
        ended.into_iter().map(|(begun, it)| (begun, it.erased)).collect()
    }
}

struct Scanner {
    waiting: Arc<Waiting>,
    options: store::Options,
    audit: Arc<Audit>,
    stop: Stop,
}

impl Scanner {
    fn run(&self, after: Duration) {
        if let Err(error) = set_niceness(19) {
            warn!(error:%; "the search for what was erased has no lower priority");
        }
        while !self.stop.sleep(LOOK.min(after)) {
            let due = self.waiting.take_due(after);
            if due.is_empty() {
                continue;
            }
            let of: Vec<Begun> = due.keys().copied().collect();
            let mut erased = Erased::default();
            for (_, one) in due {
                erased.records.extend(one.records);
                erased.notes.extend(one.notes);
                erased.memos.extend(one.memos);
                erased.frames.extend(one.frames);
                erased.prints.append(one.prints);
            }
            match self.scan(&erased) {
                Ok(Some(residue)) => self.note(&of, &erased, &residue),
                Ok(None) => return,
                Err(error) => warn!(error:%; "what was erased could not be looked for"),
            }
        }
    }

    fn scan(&self, erased: &Erased) -> Result<Option<Residue>, StoreError> {
        let clock = &self.waiting.clock;
        let mut begun = clock.tick();
        let mut rest = || {
            let is_stopped = self.stop.sleep(begun.elapsed() * REST);
            begun = clock.tick();
            !is_stopped
        };
        residue::search_beside(&self.options.dir, &self.options.key, erased, &mut rest)
    }

    fn note(&self, of: &[Begun], erased: &Erased, residue: &Residue) {
        let Residue { files, bytes, opened, found } = residue;
        let places = found.iter().take(NAMED_MAX).map(|it| {
            let file = it.file.strip_prefix(&self.options.dir).unwrap_or(&it.file);
            format!("{}: {}", file.display(), it.what)
        });
        let places: Vec<String> = places.collect();
        let of: Vec<u64> = of.iter().map(|it| it.number()).collect();
        let by = Caller { user: "(scan)".to_owned(), ..Caller::daemon() };
        let mut details = Map::new();
        details.insert(SCANNED.to_owned(), json!(of));
        for (name, number) in [
            ("fingerprinted", erased.prints.things() as u64),
            ("files", *files),
            ("bytes", *bytes),
            ("values_opened", *opened),
        ] {
            details.insert(name.to_owned(), number.into());
        }
        if found.is_empty() {
            info!(files, bytes; "nothing is left of what was erased");
        } else {
            error!(found = found.len(), first = places.first(); "something is left of what was erased");
            details.insert("found".to_owned(), json!(places));
        }
        let deed = Deed { details, ..Deed::done(&by, SCAN, found.len() as u64, Vec::new()) };
        self.audit.write(&deed, Urgency::OnDisk);
    }
}

/// Adds what an id in a receipt stands for; `false` where it is none.
pub(crate) fn name(id: &str, erased: &mut Erased) -> bool {
    match (Uuid::parse_str(id), memo(id), receipts::range(id)) {
        (Ok(note), ..) => erased.notes.push(note),
        (_, Some(memo), _) => erased.memos.push(memo),
        (.., Some(records)) => erased.records.push(records),
        _ => return false,
    }
    true
}

/// Before the number of a memo, as the log has it.
pub(crate) const MEMO: &str = "memo ";

pub(crate) fn memo(id: &str) -> Option<u64> {
    id.strip_prefix(MEMO)?.parse().ok()
}

/// What came of the scan of each erasure, by its number.
pub(crate) fn results(entries: &[Map<String, Value>]) -> BTreeMap<u64, Value> {
    let mut results = BTreeMap::new();
    for scan in entries.iter().filter(|it| it.get("deed").is_some_and(|it| it == SCAN)) {
        let Some(Value::Object(details)) = scan.get("details") else { continue };
        let mut result = details.clone();
        let of = result.remove(SCANNED);
        for key in ["at", "count"] {
            result.extend(scan.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        let of = of.as_ref().and_then(Value::as_array).into_iter().flatten();
        results.extend(of.filter_map(Value::as_u64).map(|it| (it, Value::Object(result.clone()))));
    }
    results
}
