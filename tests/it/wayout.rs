//! What leaves a running daemon: frames, lines, numbers, exports; and what comes into another.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::Builder;
use std::time::Duration;

use serde_json::{Value, json};

use crate::running::{Running, flat, wait_for};

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn failure(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A daemon with frames of the flat, a hostile caption, a note, a memo and a state.
fn filled() -> Running {
    let daemon = Running::start();
    for frame in flat().into_iter().take(12) {
        daemon.ask("observe", frame);
    }
    wait_for(|| daemon.ask("ingest_status", json!({}))["pending"] == 0);
    let hostile = json!({"caption": "a sign \u{1b}[2J\u{202e}saying\nx", "layer": "text",
        "time": "2025-01-01 12:00:00.25", "source": "reader", "confidence": 0.4});
    daemon.ask("observe", hostile);
    let metadata = json!({"year": 2024, "tags": ["lab"]});
    daemon.ask("memory_save", json!({"text": "the door code is 4711", "metadata": metadata}));
    let memo = "<sql>SELECT count(*) FROM users</sql>";
    daemon.ask("memo_add", json!({"user_message": "How many users?", "message": memo}));
    daemon.ask("state_set", json!({"memory": {"b": 1.0, "a": [1, null]}, "agent": "scout"}));
    daemon
}

fn export(daemon: &Running, flags: &[&str]) -> Vec<Value> {
    let lines = stdout(&daemon.engram(&[&["export"], flags].concat()));
    let lines: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let (header, items) = lines.split_first().unwrap();
    assert_eq!((&header["kind"], &header["version"]), (&json!("engram_export"), &json!(1)));
    items.to_vec()
}

/// What another memory has of its own: ids of records and memos.
fn without_ids(items: Vec<Value>) -> Vec<Value> {
    let own = |mut item: Value| {
        if item["kind"] != "note" {
            item.as_object_mut().unwrap().shift_remove("id");
        }
        item
    };
    items.into_iter().map(own).collect()
}

#[test]
fn an_export_imported_is_the_same_memory() {
    let (one, other) = (filled(), Running::start());
    let file = one.dir.path().join("all.jsonl");
    let name = file.to_str().unwrap();
    stdout(&one.engram(&["export", "--frames", "-o", name]));
    let refused = failure(&one.engram(&["export", "-o", name]));
    assert!(refused.contains("is there already; --force replaces it"), "{refused}");
    let items = export(&one, &["--frames"]);
    let kinds: BTreeSet<&str> = items.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, BTreeSet::from(["record", "note", "memo", "state"]));

    let records = items.iter().filter(|it| it["kind"] == "record").count();
    let done = stdout(&other.engram(&["import", name]));
    assert_eq!(
        done.trim(),
        format!("imported {records} records, 1 notes, 1 memos, 1 states of agents; 0 were there")
    );
    assert_eq!(without_ids(export(&other, &["--frames"])), without_ids(items.clone()));
    // It can be found as what was seen here.
    let found = other.ask("memory_load", json!({"query": "the code of the door"}));
    assert_eq!(found["memories"][0]["text"], "the door code is 4711");
    assert_eq!(other.ask("state_get", json!({"agent": "scout"}))["memory"]["b"], 1.0);
    let query = items[0]["caption"].as_str().unwrap();
    let best = other.ask("recall_best_match", json!({"query": query, "k": 1}));
    assert_eq!(best["records"][0]["caption"], query);
    assert_eq!(
        other.engram(&["frame", "1", "-o", "-"]).stdout,
        one.engram(&["frame", "1", "-o", "-"]).stdout
    );

    let again = stdout(&other.engram(&["import", name]));
    assert!(again.starts_with("imported 0 records, 0 notes, 0 memos, 0 states"), "{again}");
    // What is imported outlives the process as all else does.
    let (dir, _) = other.stop();
    let other = Running::start_in(dir, &[]);
    assert_eq!(export(&other, &[]).len(), items.len());
}

#[test]
fn part_of_a_memory_is_exported_and_what_is_no_export_refused() {
    let daemon = filled();
    let sources = |flags: &[&str]| -> BTreeSet<String> {
        export(&daemon, flags).iter().map(|it| it["source"].to_string()).collect()
    };
    assert_eq!(sources(&["--source", "reader"]), BTreeSet::from(["\"reader\"".to_owned()]));
    assert_eq!(export(&daemon, &["--until", "2024-12-31 00:00:00"]), Vec::<Value>::new());
    let near = export(&daemon, &["--area", "1.4,3.7,1", "--map-id", "flat"]);
    assert!(!near.is_empty() && near.len() < 13, "{}", near.len());
    for item in &near {
        let at = |axis: usize| item["position"][axis].as_f64().unwrap();
        assert!((at(0) - 1.4).hypot(at(1) - 3.7) <= 1.0, "{item}");
    }
    let wrong = failure(&daemon.engram(&["export", "--area", "1,2"]));
    assert!(wrong.contains("accepted are three numbers of metres: X,Y,RADIUS"), "{wrong}");

    let import = |text: &str| {
        let file = daemon.dir.path().join("wrong.jsonl");
        fs::write(&file, text).unwrap();
        failure(&daemon.engram(&["import", file.to_str().unwrap()]))
    };
    assert!(import("{}\n").contains("is no export of engram"), "{}", import("{}\n"));
    let header = json!({"kind": "engram_export", "version": 1});
    let newer = json!({"kind": "engram_export", "version": 2}).to_string();
    assert!(import(&newer).contains("it is of version 2, this program reads version 1"));
    let record = json!({"kind": "record", "id": 1, "time": "noon", "end_time": "noon",
        "caption": "x", "source": "s"});
    let text = import(&format!("{header}\n{record}\n"));
    assert!(text.contains("item 1: \"time\" is \"noon\"; accepted is RFC 3339"), "{text}");
    assert!(
        import(&format!("{header}\n{{\"kind\": \"song\"}}\n")).contains("item 1: it is no item")
    );
}

#[test]
fn a_filter_leaves_of_each_kind_what_it_speaks_of() {
    let daemon = filled();
    // Told before and after the frames of the flat were seen; `filled` told the others just now.
    let lines = [
        json!({"kind": "engram_export", "version": 1}),
        json!({"kind": "note", "id": "00000000-0000-4000-8000-000000000001", "area": "main",
            "text": "the old code", "time": "2024-03-01T00:00:00Z"}),
        json!({"kind": "memo", "id": 1, "memo": "<sql>SELECT 1</sql>", "user_message": "One?",
            "source": "sql", "time": "2024-03-02T00:00:00Z"}),
        json!({"kind": "state", "agent": "cook", "memory": {"a": 1}}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let file = daemon.dir.path().join("old.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    stdout(&daemon.engram(&["import", file.to_str().unwrap()]));

    let all = export(&daemon, &[]);
    let of = |flags: &[&str]| -> Vec<(String, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        for item in export(&daemon, flags) {
            assert!(all.contains(&item), "{item}");
            *counts.entry(item["kind"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    };
    let counts = |counts: &[(&str, usize)]| -> Vec<(String, usize)> {
        counts.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
    };
    let records = all.iter().filter(|it| it["kind"] == "record").count();
    let told = [("memo", 2), ("note", 2), ("record", records), ("state", 2)];
    assert_eq!(of(&[]), counts(&told));
    assert_eq!(of(&["--until", "2024-12-31 00:00:00"]), counts(&[("memo", 1), ("note", 1)]));
    assert_eq!(
        of(&["--since", "2024-03-02 00:00:00", "--until", "2025-12-31 00:00:00"]),
        counts(&[("memo", 1), ("record", records)])
    );
    assert_eq!(of(&["--since", "-1h"]), counts(&[("memo", 1), ("note", 1)]));
    assert_eq!(of(&["--source", "reader"]), counts(&[("record", 1)]));
    assert_eq!(of(&["--agent", "cook"]), counts(&[("state", 1)]));
    assert_eq!(of(&["--agent", "nobody"]), counts(&[]));
    assert_eq!(of(&["--only", "notes,states"]), counts(&[("note", 2), ("state", 2)]));
    assert_eq!(of(&["--only", "notes", "--since", "-1h"]), counts(&[("note", 1)]));

    for flags in [
        &["--only", "notes", "--source", "reader"][..],
        &["--only", "records,notes", "--area", "1,2,3"],
        &["--only", "states", "--since", "-1h"],
        &["--agent", "cook", "--since", "-1h"],
    ] {
        let refused = failure(&daemon.engram(&[&["export"], flags].concat()));
        assert!(refused.contains("--agent of states"), "{flags:?}: {refused}");
    }
    let table = daemon.dir.path().join("table.parquet");
    let table = ["export", "--format", "parquet", "-o", table.to_str().unwrap()];
    for flags in [["--only", "notes"], ["--agent", "cook"]] {
        let refused = failure(&daemon.engram(&[&table[..], &flags].concat()));
        assert!(refused.contains("records alone") || refused.contains("of states"), "{refused}");
    }
    // Who asks the daemon itself is not given more than was asked for either.
    let asked = json!({"kind": "notes", "source": "reader"});
    let refused = daemon.client().transfer("engram/export", asked.as_object().unwrap().clone());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("\"source\" says nothing of notes"), "{refused}");

    // Part of a memory comes into another as that part.
    for flags in
        [&["--until", "2024-12-31 00:00:00"][..], &["--since", "-1h"], &["--agent", "cook"]]
    {
        let other = Running::start();
        let part = daemon.dir.path().join("part.jsonl");
        let written = [&["export", "--force", "-o", part.to_str().unwrap()], flags].concat();
        stdout(&daemon.engram(&written));
        stdout(&other.engram(&["import", part.to_str().unwrap()]));
        let (came, left) = (export(&other, &[]), export(&daemon, flags));
        assert_eq!(without_ids(came), without_ids(left), "{flags:?}");
    }
}

#[test]
fn a_log_prints_what_is_there_and_what_comes() {
    let daemon = filled();
    let last = stdout(&daemon.engram(&["log", "-n", "2"]));
    let lines: Vec<&str> = last.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[1].starts_with("2025-01-01 12:00:00 reader #")
            && lines[1].ends_with("[text] a sign \\u001b[2J\\u202esaying\\nx"),
        "{last}"
    );
    let all = stdout(&daemon.engram(&["log", "--json", "--since", "2025-01-01 00:00:00"]));
    let count = daemon.ask("memory_stats", json!({}))["records"].as_u64().unwrap();
    let ids: Vec<u64> = all
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap()["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (1..=count).collect::<Vec<_>>());
    assert!(!all.chars().any(|it| it != '\n' && it.is_control()));

    let mut following = Command::new(env!("CARGO_BIN_EXE_engram"))
        .args(["log", "-f", "-n", "0", "--socket"])
        .arg(daemon.socket())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    // Whether it has begun to look nobody knows; so each caption is handed in until one is seen.
    let (seen, is_seen) = crossbeam::channel::bounded(1);
    let read = move || seen.send(lines.next().unwrap().unwrap());
    let reader = Builder::new().name("log".to_owned()).spawn(read).unwrap();
    let mut line = None;
    wait_for(|| {
        daemon.ask("observe", json!({"caption": "a new thing", "source": "reader"}));
        line = is_seen.recv_timeout(Duration::from_secs(1)).ok();
        line.is_some()
    });
    assert!(line.unwrap().ends_with(" a new thing"));
    drop(reader.join());
    drop(following.kill());
    drop(following.wait());
}

#[test]
fn a_frame_is_saved_as_it_was_kept_and_never_over_another() {
    let daemon = filled();
    let file = daemon.dir.path().join("frame.jpg");
    let name = file.to_str().unwrap();
    let said = stdout(&daemon.engram(&["frame", "1", "-o", name]));
    assert!(said.contains("image/"), "{said}");
    let reply = daemon.call("inspect_memory_record", json!({"record_ids": [1]}));
    assert_eq!(fs::read(&file).unwrap(), reply.images[0].bytes);
    assert!(failure(&daemon.engram(&["frame", "1", "-o", name])).contains("File exists"));
    let small = ["frame", "1", "-o", name, "--force", "--max-edge", "32"];
    assert!(stdout(&daemon.engram(&small)).contains("image/jpeg"));
    assert!(fs::read(&file).unwrap().len() < reply.images[0].bytes.len());
    let none = failure(&daemon.engram(&["frame", "999", "-o", "-"]));
    assert!(none.contains("record #999 has no frame, or there is no such record"), "{none}");
    let huge = failure(&daemon.engram(&["frame", "1", "-o", "-", "--max-edge", "9"]));
    assert!(huge.contains("from 16 to 4096"), "{huge}");
}

/// Samples of a text in Prometheus' format, by name and labels.
fn samples(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.to_owned())
    };
    lines.map(sample).collect()
}

#[test]
fn numbers_say_what_happened() {
    let daemon = filled();
    daemon.ask("recall_best_match", json!({"query": "a mug"}));
    daemon.call("recall_best_match", json!({"query": "a mug", "k": 0}));
    let file = daemon.dir.path().join("engram.prom");
    let name = file.to_str().unwrap();
    assert_eq!(stdout(&daemon.engram(&["metrics", "-o", name])), "");
    let text = fs::read_to_string(&file).unwrap();
    let samples = samples(&text);
    let value = |wanted: &str| {
        let found = samples.iter().find(|(name, _)| name == wanted);
        found.unwrap_or_else(|| panic!("no {wanted} in {text}")).1.clone()
    };
    let count = |wanted: &str| value(wanted).parse::<u64>().unwrap();
    let status = daemon.ask("ingest_status", json!({}));
    let number = |key: &str| status[key].as_u64().unwrap();
    assert!(number("captioned") > 0);
    assert_eq!(count("engram_up"), 1);
    assert_eq!(count("engram_frames_total{outcome=\"captioned\"}"), number("captioned"));
    assert_eq!(count("engram_frames_total{outcome=\"merged\"}"), number("gated"));
    let captioner = "{captioner=\"household-captioner\"}";
    let captions = count(&format!("engram_caption_duration_seconds_count{captioner}"));
    assert_eq!(captions, number("captioned"));
    let seconds = value(&format!("engram_caption_duration_seconds_sum{captioner}"));
    assert!(seconds.parse::<f64>().unwrap() > 0.0, "{seconds}");
    let recalls = "{tool=\"recall_best_match\"}";
    assert_eq!(count(&format!("engram_call_duration_seconds_count{recalls}")), 1);
    let refused = "{tool=\"recall_best_match\",reason=\"wrong_argument\"}";
    assert_eq!(count(&format!("engram_calls_refused_total{refused}")), 1);
    let records = daemon.ask("memory_stats", json!({}))["records"].as_u64().unwrap();
    assert_eq!(count("engram_records"), records);
    // The example dashboard asks for nothing that there is not.
    let dashboard = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/grafana/engram.json");
    let dashboard = fs::read_to_string(dashboard).unwrap();
    let named: BTreeSet<&str> = dashboard
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("engram_"))
        .collect();
    assert!(named.len() > 8, "{named:?}");
    for name in named {
        let family = name.trim_end_matches("_bucket").trim_end_matches("_count");
        let family = family.trim_end_matches("_sum");
        assert!(text.contains(&format!("# TYPE {family} ")), "{name}");
    }

    let (dir, _) = daemon.stop();
    let file = dir.path().join("engram.prom");
    let socket = dir.path().join("gone");
    let gone = crate::running::engram(&socket, &["metrics", "-o", file.to_str().unwrap()]);
    assert!(failure(&gone).contains("no daemon listens"));
    assert!(fs::read_to_string(&file).unwrap().ends_with("\nengram_up 0\n"));
}
