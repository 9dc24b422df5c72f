//! Receipts: every erasure is in the audit log, whoever did it and whenever the process ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::running::{Running, flat, wait_for};

fn audited(state: &Path, deed: &str, outcome: &str) -> Vec<Value> {
    let entries = engram::audit::read(&state.join("audit")).unwrap();
    let entries = entries.into_iter().map(Value::Object);
    entries.filter(|it| it["deed"] == deed && it["outcome"] == outcome).collect()
}

/// What `engram audit forget` says, and whether something is left.
fn audit_forget(state: &Path, arguments: &[&str]) -> (Value, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.args(["audit", "forget", "--json", "--state-dir"]).arg(state).args(arguments);
    let output = command.output().unwrap();
    let said = serde_json::from_slice(&output.stdout);
    let said = said.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (said, output.status.success())
}

/// The only file of the log.
fn log_of(state: &Path) -> PathBuf {
    let mut files = fs::read_dir(state.join("audit")).unwrap();
    files.next().unwrap().unwrap().path()
}

#[test]
fn an_erasure_that_a_kill_cut_short_has_its_receipt_after_the_next_start() {
    let daemon = Running::start();
    for place in ["a desk", "a shelf", "a table"] {
        daemon.ask("observe", json!({"caption": format!("a red mug on {place}")}));
    }
    daemon.ask("memory_forget", json!({"scope": "episodic", "ids": [1, 2]}));
    let dir = daemon.kill();
    let state = dir.path().join("state");
    let begun = audited(&state, "memory_forget", "begun");
    assert_eq!((begun.len(), &begun[0]["ids"]), (1, &json!(["#1", "#2"])));
    // As if the kill had come before the second entry, and before another deed.
    let log = log_of(&state);
    let text = fs::read_to_string(&log).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let done = lines.pop().unwrap();
    assert!(done.contains("\"done\""), "{done}");
    let mut undone = begun[0].clone();
    undone["ids"] = json!(["#3"]);
    undone["details"]["begun"] = json!(7);
    lines.push(undone.to_string());
    fs::write(&log, lines.join("\n") + "\n").unwrap();

    let daemon = Running::start_in(dir, &[]);
    let (receipts, is_clean) = audit_forget(&state, &["1"]);
    assert!(is_clean, "{receipts}");
    assert_eq!(receipts["receipts"].as_array().unwrap().len(), 1, "{receipts}");
    let (dir, _) = daemon.stop();
    let done = audited(&state, "memory_forget", "done");
    assert_eq!(done.len(), 1);
    assert_eq!((&done[0]["count"], &done[0]["ids"]), (&json!(2), &json!(["#1", "#2"])));
    assert_eq!(done[0]["details"]["completed"], "at the next start");
    assert_eq!(done[0]["uid"], begun[0]["uid"]);
    let failed = audited(&state, "memory_forget", "failed");
    assert_eq!((failed.len(), &failed[0]["count"]), (1, &json!(0)), "#3 is there");
    // Once is enough.
    let (_dir, _) = Running::start_in(dir, &[]).stop();
    assert_eq!(audited(&state, "memory_forget", "failed").len(), 1);
    let searched = audited(&state, "audit_forget", "done");
    assert_eq!((searched.len(), &searched[0]["count"]), (1, &json!(0)));
    assert_eq!(searched[0]["ids"], json!(["#1", "#1", "#2"]));
}

#[test]
fn what_retention_lets_go_has_receipts() {
    let daemon =
        Running::start_in(tempfile::tempdir().unwrap(), &["--set", "memory.records_max=8"]);
    for number in 0..40 {
        daemon.ask("observe", json!({"caption": format!("a red mug number {number} on a desk")}));
    }
    let records = || daemon.ask("memory_stats", json!({}))["records"].as_u64().unwrap();
    wait_for(|| records() <= 8 + 16);
    let held = records();
    let (dir, _) = daemon.stop();
    let state = dir.path().join("state");
    let receipts = audited(&state, "retention", "done");
    assert_eq!(receipts.len(), audited(&state, "retention", "begun").len());
    let count: u64 = receipts.iter().map(|it| it["count"].as_u64().unwrap()).sum();
    assert_eq!(count, 40 - held);
    assert!(receipts[0]["ids"][0].as_str().unwrap().starts_with("#1-#"), "{receipts:?}");
    let (said, is_clean) = audit_forget(&state, &["--since", "-1h"]);
    assert!(is_clean, "{said}");
    assert_eq!((&said["sought"], &said["recorded"]), (&json!(40 - held), &json!(true)));
}

#[test]
fn what_was_erased_is_looked_for_by_fingerprints_and_the_receipt_says_where_it_is() {
    let flags = ["--set", "audit.scan_after_seconds=1"];
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &flags);
    let state = daemon.dir.path().join("state");
    let frame = flat().into_iter().next().unwrap();
    let image = fs::read(frame["image_path"].as_str().unwrap()).unwrap();
    let mut with_image = frame;
    with_image["caption"] = json!("a grey cat asleep on the window sill");
    daemon.ask("observe", with_image);
    daemon.ask("observe", json!({"caption": "the key is under the third flowerpot"}));
    daemon.ask("observe", json!({"caption": "two people eat breakfast"}));
    let note = daemon.ask("memory_save", json!({"text": "the door code of the shed is 4711"}));
    let note = note["id"].as_str().unwrap().to_owned();
    let scans = || audited(&state, "erasure_scan", "done");

    // Copies that others made.
    fs::write(state.join("stray.log"), "INFO caption=the key is under the third flowerpot")
        .unwrap();
    fs::write(state.join("thumb.part"), &image[..image.len() * 3 / 4]).unwrap();
    daemon.ask("memory_forget", json!({"scope": "episodic", "ids": [1, 2]}));
    daemon.ask("memory_delete", json!({"ids": [note]}));
    wait_for(|| {
        scans().iter().map(|it| it["details"]["of"].as_array().unwrap().len()).sum::<usize>() == 2
    });
    let found: Vec<Value> = scans()
        .iter()
        .filter_map(|it| it["details"]["found"].as_array().cloned())
        .flatten()
        .collect();
    let left = ["stray.log: text of #2 in plain text", "thumb.part: image of #1 in plain text"];
    assert_eq!(found, left);

    for copy in ["stray.log", "thumb.part"] {
        fs::remove_file(state.join(copy)).unwrap();
    }
    let before = scans().len();
    daemon.ask("memory_forget", json!({"scope": "episodic", "ids": [3]}));
    wait_for(|| scans().len() > before);
    let last = scans().pop().unwrap();
    assert_eq!((&last["count"], &last["details"]["fingerprinted"]), (&json!(0), &json!(1)));

    // Too soon after an erasure for a scan.
    let daemon = Running::start_in(daemon.stop().0, &[]);
    daemon.ask("observe", json!({"caption": "a bowl of lemons on the table"}));
    daemon.ask("memory_forget", json!({"scope": "episodic", "ids": [4]}));
    let _dir = daemon.kill();
    let (said, is_clean) = audit_forget(&state, &[]);
    assert!(is_clean, "{said}");
    let counts: Vec<&Value> =
        said["receipts"].as_array().unwrap().iter().map(|it| &it["scan"]["count"]).collect();
    assert_eq!(counts.last(), Some(&&Value::Null), "not scanned before the kill");
    assert_eq!(counts[2], &json!(0));
    assert!(counts[0].as_u64().unwrap() > 0, "{counts:?}");
}

#[test]
fn calls_at_once_have_a_receipt_each_of_what_they_forgot() {
    let daemon = Running::start();
    for number in 1..=32 {
        daemon.ask("observe", json!({"caption": format!("a red mug number {number}")}));
    }
    std::thread::scope(|calls| {
        for first in 1..=4 {
            let daemon = &daemon;
            calls.spawn(move || {
                for id in (first..=32).step_by(4) {
                    let forgotten =
                        daemon.ask("memory_forget", json!({"scope": "episodic", "ids": [id]}));
                    assert_eq!(forgotten["count"], 1, "{forgotten}");
                }
            });
        }
    });
    let (dir, _) = daemon.stop();
    let state = dir.path().join("state");
    let begun = audited(&state, "memory_forget", "begun");
    let done = audited(&state, "memory_forget", "done");
    assert_eq!((begun.len(), done.len()), (32, 32));
    assert_eq!(done[0]["details"]["asked_by"], json!(["scope", "ids"]));
    for receipt in done {
        let number = &receipt["details"]["begun"];
        let own = begun.iter().find(|it| it["details"]["begun"] == *number).unwrap();
        assert_eq!((&own["ids"], &receipt["count"]), (&receipt["ids"], &json!(1)));
    }
}
