//! `engram audit forget`: the receipts of what was forgotten, and whether any of it is left. What
//! it finds is a receipt itself.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::ExitCode;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::audit::{self, Audit, Deed, Urgency, receipts};
use crate::base::RecordId;
use crate::base::caller::Caller;
use crate::base::time::{Clock as _, SystemClock, Timestamp};
use crate::cli::output::say;
use crate::config::{Config, Places};
use crate::daemon;
use crate::daemon::erasure_scan::{self, MEMO, memo};
use crate::store::residue::{self, Erased, Residue};
use crate::tools::tool;

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Lists what was forgotten, and looks for what is left of it in every byte of the state
    /// directory; writes to the audit log what it found; exits with 1 where something is left
    Forget(Flags),
}

/// Which receipts, and what else to look for.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Records (12, #12 or 12-40), notes (their UUIDs) and memos ("memo 7") that were forgotten; all where absent
    ids: Vec<String>,
    /// Only what was forgotten since then, such as "2026-11-22 18:00" or -2h
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Also look for the lines of standard input: what nothing may say any more
    #[arg(long)]
    stdin: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Bytes of standard input that are read.
const STDIN_BYTES_MAX: u64 = 16 << 20;
/// Bytes that a text to look for has at least: a shorter one stands anywhere by chance.
const TEXT_BYTES_MIN: usize = 6;
/// Places that are listed; of more, how many.
const LISTED_MAX: usize = 20;

/// Deeds of the log that erase.
const ERASING: [&str; 5] =
    ["memory_forget", "memory_delete", "memo_delete", "session_delete", "retention"];
/// Under which a receipt has what the daemon's scan found.
const SCANNED: &str = "scan";
/// What the log calls a search for what is left.
const SEARCH: &str = "audit_forget";

pub(super) fn run(config: &Config, places: &Places, flags: &Flags) -> anyhow::Result<ExitCode> {
    let options = daemon::store_options(config, places)?;
    let zone = config.zone()?;
    let since = flags.since.as_deref().map(|text| zone.parse(text, SystemClock.now()));
    let since = since.transpose()?;
    let mut erased = named(flags.ids.iter().map(String::as_str))?;
    let audit_options = daemon::audit_options(config, places);
    let mut receipts = with_scans(with_all_ids(audit::read(&audit_options.dir)?));
    receipts.retain(|it| is_asked(it, flags, &erased, since));
    for receipt in &receipts {
        let ids = receipt.get("ids").and_then(Value::as_array).into_iter().flatten();
        // Others are counts, or names that the log does not have: nothing to look for.
        for of_receipt in ids.filter_map(Value::as_str).filter_map(|id| named([id]).ok()) {
            erased.records.extend(of_receipt.records);
            erased.notes.extend(of_receipt.notes);
            erased.memos.extend(of_receipt.memos);
        }
    }
    if flags.stdin {
        let mut text = String::new();
        std::io::stdin().take(STDIN_BYTES_MAX).read_to_string(&mut text)?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            anyhow::ensure!(
                line.len() >= TEXT_BYTES_MIN,
                "standard input has a line of {} bytes; accepted are {TEXT_BYTES_MIN} or more",
                line.len()
            );
            erased.texts.push(line.to_owned());
        }
    }
    let residue = residue::search(&options.dir, &options.key, &erased)?;
    let problem = record(audit_options, &erased, &residue);
    if flags.json {
        let mut json = to_json(&receipts, &erased, &residue);
        if let Value::Object(members) = &mut json {
            members.insert("recorded".to_owned(), problem.is_none().into());
        }
        say(&serde_json::to_string_pretty(&json)?)?;
    } else {
        receipts.iter().try_for_each(|it| say(&describe(it)))?;
        say(&conclude(&erased, &residue))?;
        say(&problem.unwrap_or_else(|| "written to the audit log".to_owned()))?;
    }
    Ok(if residue.found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The entries, those of an end with all ids of their beginning where they name some only.
fn with_all_ids(mut entries: Vec<Map<String, Value>>) -> Vec<Map<String, Value>> {
    let mut begun = BTreeMap::new();
    for entry in &mut entries {
        let Some(number) = receipts::begun(entry) else { continue };
        if entry.get("outcome").and_then(Value::as_str) == Some("begun") {
            begun.extend(entry.get("ids").map(|ids| (number, ids.clone())));
        } else if entry.contains_key("more_ids")
            && let Some(ids) = begun.remove(&number)
        {
            entry.remove("more_ids");
            entry.insert("ids".to_owned(), ids);
        }
    }
    entries
}

/// The entries, those of an erasure with what a scan found of it since.
fn with_scans(mut entries: Vec<Map<String, Value>>) -> Vec<Map<String, Value>> {
    let scans: BTreeMap<u64, Value> = erasure_scan::results(&entries);
    for entry in &mut entries {
        let scan = receipts::begun(entry).and_then(|begun| scans.get(&begun.number()));
        entry.extend(scan.map(|scan| (SCANNED.to_owned(), scan.clone())));
    }
    entries
}

/// Writes what was found to the audit log, with no text that was looked for; says why where it
/// cannot.
fn record(options: audit::Options, erased: &Erased, residue: &Residue) -> Option<String> {
    let written = Audit::open(options, Arc::new(SystemClock)).map(|audit| {
        let Erased { records, notes, memos, texts, .. } = erased;
        let records = records.iter().map(|(first, last)| {
            if first == last { format!("#{first}") } else { format!("#{first}-#{last}") }
        });
        let memos = memos.iter().map(|memo| format!("{MEMO}{memo}"));
        let ids = notes.iter().map(Uuid::to_string).chain(memos).chain(records).collect();
        let by = Caller::this_process();
        let found = residue.found.len() as u64;
        let mut deed = Deed::done(&by, SEARCH, found, ids);
        let numbers = [
            ("texts", texts.len() as u64),
            ("files", residue.files),
            ("bytes", residue.bytes),
            ("values_opened", residue.opened),
        ];
        deed.details =
            numbers.map(|(name, number)| (name.to_owned(), number.into())).into_iter().collect();
        audit.write(&deed, Urgency::OnDisk);
        audit.problem()
    });
    written.unwrap_or_else(|error| Some(format!("the audit log cannot be written: {error}")))
}

fn is_asked(
    receipt: &Map<String, Value>,
    flags: &Flags,
    asked: &Erased,
    since: Option<Timestamp>,
) -> bool {
    let is = |key: &str, value: &str| receipt.get(key).and_then(Value::as_str) == Some(value);
    let at = receipt.get("at").and_then(Value::as_str);
    let at = at.and_then(|at| at.parse::<DateTime<Utc>>().ok());
    let at = at.and_then(|at| Timestamp::from_micros(at.timestamp_micros()));
    let ids: Vec<&str> = receipt
        .get("ids")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let overlaps = |(first, last): (RecordId, RecordId)| {
        asked.records.iter().any(|asked| asked.0 <= last && first <= asked.1)
    };
    let is_same = |id: &&str| match (Uuid::parse_str(id), memo(id)) {
        (Ok(note), _) => asked.notes.contains(&note),
        (_, Some(memo)) => asked.memos.contains(&memo),
        _ => receipts::range(id).is_some_and(overlaps),
    };
    let is_named = flags.ids.is_empty() || ids.iter().any(is_same);
    ERASING.iter().any(|deed| is("deed", deed))
        && is("outcome", "done")
        && since.is_none_or(|since| at.is_none_or(|at| at >= since))
        && is_named
}

/// Records, notes and memos by their ids.
fn named<'a>(ids: impl IntoIterator<Item = &'a str>) -> anyhow::Result<Erased> {
    let mut erased = Erased::default();
    for id in ids {
        anyhow::ensure!(
            erasure_scan::name(id, &mut erased),
            "{id:?} is no id; accepted are numbers of records, ranges of them such as 12-40, UUIDs \
             of notes, and memos as \"memo 7\""
        );
    }
    Ok(erased)
}

fn count(records: &[(RecordId, RecordId)]) -> u64 {
    records.iter().map(|(first, last)| last.0.saturating_sub(first.0).saturating_add(1)).sum()
}

fn describe(receipt: &Map<String, Value>) -> String {
    let text = |key: &str| {
        let value = receipt.get(key);
        let text = value.and_then(Value::as_str).map(str::to_owned);
        text.or_else(|| value.map(Value::to_string)).unwrap_or_default()
    };
    let ids = receipt.get("ids").and_then(Value::as_array).into_iter().flatten();
    let mut ids: Vec<&str> = ids.filter_map(Value::as_str).collect();
    let unlisted = ids.len().saturating_sub(audit::IDS_MAX) as u64;
    ids.truncate(audit::IDS_MAX);
    let more = receipt.get("more_ids").and_then(Value::as_u64).unwrap_or(0);
    let more = more + unlisted;
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let (at, user, uid) = (text("at"), text("user"), text("uid"));
    let (deed, count) = (text("deed"), text("count"));
    let asked = receipt.get("details").and_then(|it| it.get(tool::ASKED_BY)?.as_array());
    let asked: Vec<&str> = asked.into_iter().flatten().filter_map(Value::as_str).collect();
    let by = if asked.is_empty() { String::new() } else { format!(" by {}", asked.join(", ")) };
    let ids = ids.join(", ");
    let scan = describe_scan(receipt.get(SCANNED));
    format!("{at} {user} ({uid}) {deed}{by}: {count} removed: {ids}{more}\n  {scan}")
}

/// What the daemon found when it looked for it by fingerprints.
fn describe_scan(scan: Option<&Value>) -> String {
    let Some(scan) = scan else { return "not scanned by the daemon".to_owned() };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let of = |key: &str| scan.get(key).map(text).unwrap_or_default();
    let (at, found, bytes) = (of("at"), of("count"), of("bytes"));
    let (prints, files) = (of("fingerprinted"), of("files"));
    let places = scan.get("found").and_then(Value::as_array).into_iter().flatten();
    let mut lines = vec![format!(
        "scanned {at}, with what else went: fingerprints of {prints} texts and images looked for in \
         {bytes} bytes of {files} files: {found} found"
    )];
    lines.extend(places.map(|place| format!("    {}", text(place))));
    lines.join("\n")
}

fn conclude(erased: &Erased, residue: &Residue) -> String {
    let Erased { records, notes, memos, texts, .. } = erased;
    let Residue { files, bytes, opened, found } = residue;
    let sought = count(records) + (notes.len() + memos.len() + texts.len()) as u64;
    let mut lines = vec![format!(
        "looked for {sought} in {bytes} bytes of {files} files and in the {opened} values that the \
         keys open: {} found",
        found.len()
    )];
    lines.extend(
        found.iter().take(LISTED_MAX).map(|it| format!("  {}: {}", it.file.display(), it.what)),
    );
    if found.len() > LISTED_MAX {
        lines.push(format!("  and {} more", found.len() - LISTED_MAX));
    }
    lines.join("\n")
}

fn to_json(receipts: &[Map<String, Value>], erased: &Erased, residue: &Residue) -> Value {
    let found = residue.found.iter();
    let found: Vec<Value> =
        found.map(|it| json!({"file": it.file.display().to_string(), "what": it.what})).collect();
    json!({
        "receipts": receipts,
        "sought": count(&erased.records)
            + (erased.notes.len() + erased.memos.len() + erased.texts.len()) as u64,
        "files": residue.files,
        "bytes": residue.bytes,
        "values_opened": residue.opened,
        "found": found,
    })
}
