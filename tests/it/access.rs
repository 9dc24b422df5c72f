//! Who gets in, and what who got in may do: with a real second user where the tests run as
//! root, else what they can check as one user.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use engram::agent;
use engram::tools::Toolset;
use serde_json::{Value, json};

use crate::running::{Running, refusal_to_start, serve};

/// `nobody`, as far as the kernel is concerned.
const STRANGER: u32 = 65_534;

/// A directory that everybody may enter.
fn open_directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    dir
}

/// `engram` with these arguments as another user; `None` where that cannot be.
pub(crate) fn as_stranger(socket: &Path, arguments: &[&str]) -> Option<Output> {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can be another user");
        return None;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.uid(STRANGER).gid(STRANGER).current_dir("/").env("HOME", "/");
    match command.args(arguments).arg("--socket").arg(socket).output() {
        Ok(output) => Some(output),
        Err(error) => {
            skipped(&format!("another user cannot run the program: {error}"));
            None
        }
    }
}

/// What `engram mcp` answers another user, a line each.
fn bridged_to_stranger(socket: &Path, lines: &[Value]) -> Option<Vec<Value>> {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can be another user");
        return None;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.uid(STRANGER).gid(STRANGER).current_dir("/").env("HOME", "/");
    command.args(["mcp", "--socket"]).arg(socket);
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            skipped(&format!("another user cannot run the program: {error}"));
            return None;
        }
    };
    let mut stdin = child.stdin.take().unwrap();
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    Some(answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn skipped(why: &str) {
    drop(writeln!(io::stderr(), "skipped: {why}"));
}

fn shown(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    texts.join("\n")
}

fn audited(daemon: &Running) -> Vec<Value> {
    let dir = daemon.dir.path().join("state/audit");
    let entries = engram::audit::read(&dir).unwrap();
    entries.into_iter().map(Value::Object).collect()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn nobody_else_gets_in() {
    let daemon = Running::start_in(open_directory(), &["--set", "socket.mode=0666"]);
    let Some(output) = as_stranger(&daemon.socket(), &["call", "health"]) else { return };
    assert!(!output.status.success());
    let shown = shown(&output);
    assert!(shown.contains("(uid 65534) has no role here"), "{shown}");
    assert!(shown.contains("[access]"), "{shown}");
    daemon.ask("health", json!({}));
}

#[test]
fn a_mode_of_0600_keeps_others_from_connecting() {
    let daemon = Running::start_in(open_directory(), &[]);
    assert_eq!(mode(&daemon.socket()), 0o600);
    let Some(output) = as_stranger(&daemon.socket(), &["call", "health"]) else { return };
    assert!(!output.status.success());
    assert!(shown(&output).contains("Permission denied"), "{}", shown(&output));
}

#[test]
fn a_role_lets_do_what_it_names_and_no_more() {
    let flags = ["--set", "socket.mode=0660", "--set", "socket.group=65534"];
    let roles = ["--set", "access.read=@65534", "--set", "access.observe=65534"];
    let daemon = Running::start_in(open_directory(), &[flags, roles].concat());
    daemon.ask("memory_save", json!({"text": "The code of the door is 4711"}));
    let caption = r#"{"caption": "a red mug on a desk"}"#;
    let Some(output) = as_stranger(&daemon.socket(), &["call", "observe", caption]) else {
        return;
    };
    assert!(output.status.success(), "{}", shown(&output));
    let query = r#"{"query": "mug"}"#;
    for call in [["call", "recall_best_match", query], ["call", "health", "{}"]] {
        let output = as_stranger(&daemon.socket(), &call).unwrap();
        assert!(output.status.success(), "{call:?}: {}", shown(&output));
    }
    for (tool, arguments, role) in [
        ("memory_save", r#"{"text": "mine"}"#, "write"),
        ("memory_forget", r#"{"query": "door"}"#, "erase"),
        ("retrieve_object", r#"{"task": "bring me the mug"}"#, "write"),
    ] {
        let output = as_stranger(&daemon.socket(), &["call", tool, arguments]).unwrap();
        assert!(!output.status.success());
        let shown = shown(&output);
        let said = format!("{tool} needs the role {role}; user ");
        assert!(shown.contains(&said) && shown.contains("observe, read"), "{shown}");
    }
    // The images are in the state directory, where nobody else gets in.
    let state = daemon.dir.path().join("state");
    let read = Command::new("ls").arg(&state).uid(STRANGER).gid(STRANGER).output().unwrap();
    assert!(!read.status.success());
    let deeds: Vec<(Value, Value, Value)> = audited(&daemon)
        .into_iter()
        .map(|it| (it["uid"].clone(), it["deed"].clone(), it["outcome"].clone()))
        .collect();
    let stranger = |deed: &str, outcome: &str| (json!(STRANGER), json!(deed), json!(outcome));
    for (deed, outcome) in
        [("observe", "done"), ("memory_save", "refused"), ("memory_forget", "refused")]
    {
        assert!(deeds.contains(&stranger(deed, outcome)), "{deeds:?}");
    }
    let own = rustix::process::geteuid().as_raw();
    assert!(deeds.contains(&(json!(own), json!("memory_save"), json!("done"))), "{deeds:?}");
}

#[test]
fn a_session_belongs_to_the_user_that_made_it() {
    let flags = ["--set", "socket.mode=0666", "--set", "access.read=65534"];
    let daemon = Running::start_in(open_directory(), &flags);
    daemon.ask("observe", json!({"caption": "a red mug on a desk"}));
    daemon.ask("recall_best_match", json!({"query": "mug", "session": "agent"}));
    let instances = r#"{"session": "agent"}"#;
    let tool = "determine_unique_instances_from_latest_working_memory";
    let Some(output) = as_stranger(&daemon.socket(), &["call", tool, instances]) else { return };
    assert!(
        shown(&output).contains("working memory of this session is empty"),
        "{}",
        shown(&output)
    );
    daemon.ask(tool, json!({"session": "agent"}));
}

#[test]
fn a_tool_that_the_caller_may_not_call_is_not_listed() {
    let flags = ["--set", "socket.mode=0666", "--set", "access.read=nobody"];
    let daemon = Running::start_in(open_directory(), &flags);
    let stateless = |id: u32, toolsets: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "engram/toolsets": toolsets,
        }}})
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let old = [initialize, initialized, list];
    let specs = agent::specs(&Toolset::ALL);
    let new = [stateless(1, json!(["object-retrieval"])), stateless(2, json!(["notes", "admin"]))];
    for lines in [old.as_slice(), &new] {
        let Some(answers) = bridged_to_stranger(&daemon.socket(), lines) else { return };
        let listed = answers.iter().filter_map(|it| it["result"]["tools"].as_array()).flatten();
        let listed: Vec<&Value> = listed.collect();
        let names: Vec<&str> = listed.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"recall_last_seen"), "{names:?}");
        assert!(!names.contains(&"memory_forget") && !names.contains(&"memory_save"), "{names:?}");
        for tool in listed {
            let spec = specs.iter().find(|it| tool["name"] == it.name).unwrap();
            assert!(spec.roles.to_string().contains("read"), "{tool}");
        }
    }
}

#[test]
fn writes_and_erasures_are_audited_without_their_content() {
    let daemon = Running::start();
    let saved = daemon.ask("memory_save", json!({"text": "The code of the door is 4711"}));
    let id = saved["id"].as_str().unwrap();
    daemon.ask("memory_load", json!({"query": "door"}));
    for place in ["a desk", "a shelf"] {
        daemon.ask("observe", json!({"caption": format!("a red mug on {place}")}));
    }
    daemon.ask("memory_forget", json!({"query": "door", "dry_run": true}));
    daemon.ask("memory_delete", json!({"ids": [id]}));
    daemon.ask("memory_forget", json!({"scope": "episodic", "ids": [1, 2]}));
    // Written by now, or lost with the process.
    let (dir, status) = {
        let dir = daemon.kill();
        let daemon = Running::start_in(dir, &[]);
        daemon.stop()
    };
    assert!(status.success());
    let mut entries = engram::audit::read(&dir.path().join("state/audit")).unwrap();
    let begun: Vec<Value> = entries
        .extract_if(.., |it| it["outcome"] == "begun")
        .map(|it| json!([it["deed"], it["ids"]]))
        .collect();
    let expected = [json!(["memory_delete", [id]]), json!(["memory_forget", ["#1", "#2"]])];
    assert_eq!(begun, expected);
    let deeds: Vec<(&str, u64)> = entries
        .iter()
        .map(|it| (it["deed"].as_str().unwrap(), it["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        deeds,
        [("memory_save", 1), ("observe", 1), ("memory_delete", 1), ("memory_forget", 2)]
    );
    assert_eq!(entries[2]["ids"], json!([id]));
    assert_eq!(entries[3]["ids"], json!(["#1", "#2"]));
    let uid = rustix::process::geteuid().as_raw();
    assert!(entries.iter().all(|it| it["uid"] == uid && it["pid"].is_u64()), "{entries:?}");
    let written = serde_json::to_string(&entries).unwrap();
    assert!(!written.contains("4711") && !written.contains("mug"), "{written}");
}

#[test]
fn the_state_directory_is_made_private_and_it_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let daemon = Running::start_in(dir, &[]);
    daemon.ask("observe", json!({"caption": "a red mug"}));
    let state = daemon.dir.path().join("state");
    check_private(&state);
    let (dir, _) = daemon.stop();
    fs::set_permissions(&state, Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(state.join("manifest"), Permissions::from_mode(0o644)).unwrap();
    let mut child = serve(dir.path(), &[]).stderr(Stdio::piped()).spawn().unwrap();
    let socket = dir.path().join("engram.sock");
    crate::running::wait_for(|| socket.exists());
    child.kill().unwrap();
    let log = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(log.contains("open to other users"), "{log}");
    check_private(&state);
}

/// Every directory 0700, every file 0600.
fn check_private(state: &Path) {
    let mut todo = vec![state.to_owned()];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            assert_eq!(mode(&path), 0o700, "{}", path.display());
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
}

#[test]
fn settings_of_access_are_checked_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let refusal = |flag: &str| refusal_to_start(dir.path(), &["--set", flag]);
    let unknown = refusal("access.erase=root, no-such-user");
    assert!(unknown.contains("access.erase is \"root, no-such-user\""), "{unknown}");
    assert!(unknown.contains("there is no no-such-user"), "{unknown}");
    assert!(refusal("socket.mode=0777").contains("accepted is an octal mode"));
    assert!(refusal("socket.group=no-such-group").contains("socket.group"));
    let inside = dir.path().join("state/engram.sock");
    let inside = format!("socket.path={}", inside.display());
    let shared = ["--set", "socket.mode=0660", "--set", &inside];
    let text = refusal_to_start(dir.path(), &shared);
    assert!(text.contains("outside the state directory"), "{text}");
}
