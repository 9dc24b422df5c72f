//! What a named session was told is there after a restart and after `kill -9`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use engram::agent::Agent;
use engram::base::caller::Caller;
use engram::tools::ToolBox as _;
use serde_json::{Value, json};

use crate::schemas;
use crate::tools::Memory;

const DIR: &str = "ENGRAM_TEST_SESSION_DIR";

fn call(tools: &Agent, tool: &str, arguments: Value) -> Value {
    let arguments = arguments.as_object().unwrap().clone();
    let reply = tools.call(&Caller::daemon(), "connection-1", tool, arguments).unwrap();
    let structured = Value::Object(reply.structured);
    schemas::check(tool, &structured);
    structured
}

fn open(dir: &Path) -> Agent {
    Memory::tools_in(dir, |captioner| captioner)
}

#[test]
fn a_named_session_goes_on_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let tools = open(dir.path());
    let seen = json!({"caption": "a red mug on a desk", "time": "2025-01-03 09:00:00",
        "position": [1, 2]});
    call(&tools, "observe", seen);
    for session in [json!({"session": "agent"}), json!({})] {
        let with = |mut arguments: Value| {
            arguments.as_object_mut().unwrap().extend(session.as_object().unwrap().clone());
            arguments
        };
        let task = with(json!({"task": "bring me the mug", "now": "2025-01-03 10:00:00"}));
        call(&tools, "start_task", task);
        call(&tools, "recall_last_seen", with(json!({"query": "mug"})));
        call(&tools, "create_or_update_memory_search_instance", with(json!({})));
        call(&tools, "create_or_update_real_world_search_instance", with(json!({})));
        call(&tools, "search_current_target_instance_in_real_world", with(json!({})));
    }
    drop(tools);
    let tools = open(dir.path());
    let now = json!({"query": "mug", "search_start_time": "-61m", "session": "agent"});
    assert_eq!(call(&tools, "recall_last_seen", now)["records"][0]["id"], 1);
    let report = json!({"found": true, "session": "agent"});
    assert_eq!(call(&tools, "report_search_result", report)["target"], "red mug");
    // The connection's own session ended with its connection.
    let arguments = json!({"found": true}).as_object().unwrap().clone();
    let refused = tools
        .call(&Caller::daemon(), "connection-1", "report_search_result", arguments)
        .unwrap_err();
    assert!(refused.to_string().contains("no search of this session is under way"), "{refused}");
}

#[test]
fn what_a_session_was_answered_outlives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    for kill in 0..4 {
        let answered = answered_until_killed(dir.path());
        let tools = open(dir.path());
        for session in 0..=answered {
            let name = json!({"session": format!("agent {kill} {session}")});
            let target = call(&tools, "create_or_update_memory_search_instance", name);
            let desc = target["instance_desc"].as_str().unwrap();
            assert!(desc.ends_with(&format!("mug {session}")), "{desc}");
        }
    }
}

/// The child's part: does nothing unless started by the test above.
#[test]
fn session_writer() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    let tools = open(&dir);
    let kills = (0..99).find(|kill| {
        let name = json!({"session": format!("agent {kill} 0")}).as_object().unwrap().clone();
        tools.call(&Caller::daemon(), "c", "create_or_update_memory_search_instance", name).is_err()
    });
    for session in 0.. {
        let name = format!("agent {} {session}", kills.unwrap());
        let task = json!({"task": format!("bring the mug {session}"), "session": name});
        call(&tools, "start_task", task);
        println!("ACK {session}");
    }
}

/// The last session that was answered before the writer was killed.
fn answered_until_killed(dir: &Path) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sessions::session_writer", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answered = None;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // What was printed until it died was answered.
        if let Some((_, number)) = line.unwrap_or_default().split_once("ACK ") {
            answered = number.parse().ok();
            if answered == Some(2) {
                child.kill().unwrap();
            }
        }
    }
    assert!(!child.wait().unwrap().success(), "the writer ended by itself");
    answered.unwrap()
}
