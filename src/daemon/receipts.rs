//! Receipts of what goes without anybody's call: by retention, and by a call that a kill cut
//! short.

use std::sync::Arc;

use log::{error, info};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::audit::receipts::{self, Unfinished};
use crate::audit::{Audit, Deed, Outcome};
use crate::base::RecordId;
use crate::base::caller::Caller;
use crate::retrieval::sessions::Sessions;
use crate::search::retention::RetentionWitness;
use crate::store::{Store, StoreError};

/// Who the audit log says it was.
const RETENTION: &str = "retention";

/// Tells the audit log of what retention removes, and the sessions.
#[derive(Debug)]
pub(super) struct RetentionReceipts {
    pub(super) audit: Arc<Audit>,
    pub(super) sessions: Arc<Sessions>,
}

impl RetentionWitness for RetentionReceipts {
    fn begin(&self, ids: &[RecordId]) {
        self.audit.begin(&retention(), RETENTION, receipts::ranges(ids));
    }

    fn end(&self, gone: &[RecordId]) {
        let_go(&self.sessions, gone);
        let by = retention();
        let count = gone.len() as u64;
        self.audit.end_own(Deed::done(&by, RETENTION, count, receipts::ranges(gone)));
    }
}

fn retention() -> Caller {
    Caller { user: "(retention)".to_owned(), ..Caller::daemon() }
}

fn let_go(sessions: &Sessions, gone: &[RecordId]) {
    if let Err(error) = sessions.let_go(gone) {
        error!(error:%; "sessions may still name records that are gone");
    }
}

/// Says of each erasure that began before this start and has no end what came of it.
pub(super) fn complete(
    unfinished: &[Unfinished],
    audit: &Audit,
    store: &Store,
    sessions: &Sessions,
) -> Result<(), StoreError> {
    for it in unfinished {
        let Gone { records, others, unknown } = gone(it, store)?;
        let_go(sessions, &records);
        let count = (records.len() + others.len()) as u64;
        let ids = [others, receipts::ranges(&records)].concat();
        let mut details = Map::new();
        details.insert("completed".to_owned(), "at the next start".into());
        let is_unknown = !unknown.is_empty();
        if is_unknown {
            details.insert("unknown".to_owned(), unknown.into_iter().map(Value::from).collect());
        }
        // What cannot be looked up counts as gone: the entry says that it is unknown.
        let is_done = count > 0 || is_unknown;
        let outcome = if is_done { Outcome::Done } else { Outcome::Failed };
        info!(deed = it.name.as_str(), count; "an erasure that a kill cut short is in the audit log");
        let deed = Deed { caller: &it.caller, name: &it.name, outcome, count, ids, details };
        audit.end(it.begun, deed);
    }
    Ok(())
}

/// What is gone of what was to be erased.
#[derive(Default)]
struct Gone {
    records: Vec<RecordId>,
    /// Notes and memos.
    others: Vec<String>,
    /// What has no id by which it could be looked for.
    unknown: Vec<String>,
}

fn gone(unfinished: &Unfinished, store: &Store) -> Result<Gone, StoreError> {
    let mut gone = Gone::default();
    for id in &unfinished.ids {
        let memo = id.strip_prefix("memo ").and_then(|it| it.parse().ok());
        if let Some((first, last)) = receipts::range(id) {
            for number in first.0..=last.0 {
                if !store.has_record(RecordId(number))? {
                    gone.records.push(RecordId(number));
                }
            }
        } else if let Ok(note) = Uuid::parse_str(id) {
            if store.note(note)?.is_none() {
                gone.others.push(id.clone());
            }
        } else if let Some(memo) = memo {
            if store.memo(memo)?.is_none() {
                gone.others.push(id.clone());
            }
        } else {
            gone.unknown.push(id.clone());
        }
    }
    if unfinished.more_ids > 0 {
        gone.unknown.push(format!("{} more", unfinished.more_ids));
    }
    Ok(gone)
}
