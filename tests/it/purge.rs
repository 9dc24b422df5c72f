//! `engram purge`: what it lists goes, nothing else, and only where somebody agreed.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::running::Running;

fn purge(socket: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.arg("purge").args(arguments).arg("--socket").arg(socket).stdin(Stdio::null());
    let Output { status, stdout, stderr } = command.output().unwrap();
    let said = String::from_utf8([stdout, stderr].concat()).unwrap();
    (status.success(), said)
}

#[test]
fn what_a_source_left_is_listed_and_goes_when_somebody_agrees() {
    let daemon = Running::start();
    for (source, caption) in
        [("front", "a red mug on a desk"), ("rear", "a cat"), ("front", "a blue chair")]
    {
        daemon.ask("observe", json!({"caption": caption, "source": source}));
    }
    daemon.ask("memory_save", json!({"text": "the red mug is a present"}));
    let purge = |arguments: &[&str]| purge(&daemon.socket(), arguments);
    let held = || daemon.ask("memory_stats", json!({}))["records"].as_u64().unwrap();

    let (is_done, said) = purge(&["--source", "front", "--dry-run"]);
    assert!(is_done && said.contains("a red mug on a desk") && !said.contains("cat"), "{said}");
    assert!(said.contains("0 notes, 2 records and 0 frames"), "{said}");
    let (is_done, said) = purge(&["--source", "front"]);
    assert!(!is_done && said.contains("nobody can be asked: give --yes"), "{said}");
    let (is_done, said) = purge(&[]);
    assert!(!is_done && said.contains("nothing to go by"), "{said}");
    assert_eq!(held(), 3);
    let (is_done, said) = purge(&["--source", "front", "--yes"]);
    assert!(is_done && said.ends_with("2 records removed\n"), "{said}");
    assert_eq!(held(), 1);
    let (is_done, said) = purge(&["--source", "front", "--yes"]);
    assert!(is_done && said.ends_with("nothing was removed\n"), "{said}");
    let (is_done, said) = purge(&["--about", "red mug", "--yes"]);
    assert!(is_done && said.contains("1 note and 0 records removed"), "{said}");

    let (dir, _) = daemon.stop();
    let receipts = engram::audit::read(&dir.path().join("state/audit")).unwrap();
    let is_receipt = |it: &&serde_json::Map<_, _>| it["deed"] == "memory_forget";
    let receipts: Vec<_> =
        receipts.iter().filter(is_receipt).filter(|it| it["outcome"] == "done").collect();
    assert_eq!((receipts.len(), &receipts[0]["ids"]), (2, &json!(["#1", "#3"])));
}
