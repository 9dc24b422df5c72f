//! Receipts of erasures: how ids are written in them, and which erasures have no end yet.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use crate::audit::{BEGUN, Begun, files};
use crate::base::RecordId;
use crate::base::caller::{Caller, Roles};

/// An erasure of which the log does not say what came of it.
#[derive(Debug, Clone)]
pub struct Unfinished {
    pub begun: Begun,
    pub caller: Caller,
    pub name: String,
    /// What it was going to remove.
    pub ids: Vec<String>,
    /// How many more that was.
    pub more_ids: u64,
}

/// Files in which one is looked for: what was cut short is near the end.
const FILES: usize = 2;

/// The erasures of the log in `dir` that have begun and not ended.
pub fn unfinished(dir: &Path) -> io::Result<Vec<Unfinished>> {
    let mut open = BTreeMap::new();
    for text in files::newest_texts(dir, FILES)? {
        // Most lines are of something else, and need not be read.
        for line in text.lines().filter(|line| line.contains("\"begun\"")) {
            let Ok(entry) = serde_json::from_str::<Map<String, Value>>(line) else { continue };
            let Some(begun) = begun(&entry) else { continue };
            if entry.get("outcome").and_then(Value::as_str) == Some("begun") {
                open.insert(begun, unfinished_of(begun, &entry));
            } else {
                open.remove(&begun);
            }
        }
    }
    Ok(open.into_values().collect())
}

/// The number that both entries of an erasure have.
pub fn begun(entry: &Map<String, Value>) -> Option<Begun> {
    entry.get("details")?.get(BEGUN)?.as_u64().map(Begun)
}

fn unfinished_of(begun: Begun, entry: &Map<String, Value>) -> Unfinished {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |key: &str| entry.get(key).and_then(Value::as_u64);
    let small = |key: &str| number(key).and_then(|it| u32::try_from(it).ok());
    let ids = entry.get("ids").and_then(Value::as_array).into_iter().flatten();
    Unfinished {
        begun,
        caller: Caller {
            uid: small("uid").unwrap_or(u32::MAX),
            user: text("user"),
            pid: small("pid"),
            roles: Roles::NONE,
            is_own: false,
        },
        name: text("deed"),
        ids: ids.filter_map(Value::as_str).map(str::to_owned).collect(),
        more_ids: number("more_ids").unwrap_or(0),
    }
}

/// Ids of records, three and more in a row as a range: `#7`, `#9-#12`.
pub fn ranges(ids: &[RecordId]) -> Vec<String> {
    let mut sorted: Vec<u64> = ids.iter().map(|id| id.0).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|before, next| before + 1 == *next);
    let mut written = Vec::new();
    for run in runs {
        match run {
            [first, _, .., last] => written.push(format!("#{first}-#{last}")),
            few => written.extend(few.iter().map(|id| format!("#{id}"))),
        }
    }
    written
}

/// First and last record of what [`ranges`] wrote, with or without the `#`.
pub fn range(text: &str) -> Option<(RecordId, RecordId)> {
    let id = |text: &str| text.strip_prefix('#').unwrap_or(text).parse().ok().map(RecordId);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (id(first)?, id(last)?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_ids_are_ranges_and_are_read_back() {
        let ids = |numbers: &[u64]| numbers.iter().copied().map(RecordId).collect::<Vec<_>>();
        assert_eq!(ranges(&ids(&[12, 7, 9, 11, 10, 20, 21])), ["#7", "#9-#12", "#20", "#21"]);
        assert_eq!(ranges(&[]), [""; 0]);
        assert_eq!(range("#9-#12"), Some((RecordId(9), RecordId(12))));
        assert_eq!(range("9-12"), Some((RecordId(9), RecordId(12))));
        assert_eq!(range("#7"), Some((RecordId(7), RecordId(7))));
        let nonsense = ["#12-#9", "memo 7", "", "#", "-", "1-2-3", "3f2504e0-4f89"];
        assert!(nonsense.iter().all(|it| range(it).is_none()));
    }
}
