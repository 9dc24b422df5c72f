//! The official MCP clients drive a real daemon through `engram mcp`.
//!
//! `tests/sdk/install.sh` installs them into `target/sdk`. Without them these
//! tests say so and pass, but where `CI` is `true` they fail.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::running::{Running, wait_for};
use crate::schemas;

#[test]
fn python() {
    let Some(sdk) = installed() else { return };
    let daemon = Running::start();
    let client =
        |mode| drive(Command::new(sdk.join("venv/bin/python")), "client.py", mode, &daemon);
    // Left to itself the SDK finds the newest revision.
    check(&client("default"), Some("2026-07-28"));
    check(&client("legacy"), Some("2025-11-25"));
}

#[test]
fn typescript() {
    let Some(_sdk) = installed() else { return };
    let daemon = Running::start();
    let client = |sdk| drive(Command::new("node"), "client.mjs", sdk, &daemon);
    // This one does not tell which revision it agreed on.
    check(&client("v1"), None);
    check(&client("v2"), Some("2025-11-25"));
    check(&client("v2-auto"), Some("2026-07-28"));
}

/// What the clients do: see [`check`] for what must come of it.
fn steps() -> Value {
    json!([
        { "tool": "observe", "arguments": {
            "caption": "a purple book next to a red mug on a wooden table",
            "time": "2025-01-03 09:14:07",
            "position": [1.2, -0.4, 0.0],
            "source": "front_camera",
        }},
        { "tool": "recall_best_match", "arguments": { "query": "purple book", "k": 1 } },
        { "tool": "recall_best_match", "arguments": { "query": "purple book", "k": 0 } },
        { "tool": "recall_everything", "arguments": {} },
        { "uri": "engram://frames/999999" },
    ])
}

fn check(seen: &Value, protocol: Option<&str>) {
    assert_eq!(seen["protocol"].as_str(), protocol, "{seen:#}");
    assert_eq!(seen["server"], "engram");
    assert!(seen["instructions"].as_str().unwrap().contains("recall_last_seen"), "{seen:#}");
    assert!(seen["complete"] == true, "a tool lacks its schemas or annotations: {seen:#}");
    let tools = seen["tools"].as_array().unwrap();
    for tool in ["observe", "recall_best_match", "recall_last_seen", "inspect_memory_record"] {
        assert!(tools.contains(&json!(tool)), "{tool} is not listed: {seen:#}");
    }
    assert_eq!(seen["templates"], json!(["engram://frames/{id}", "engram://records/{id}"]));

    let [observed, recalled, refused, unknown, absent] = &seen["steps"].as_array().unwrap()[..]
    else {
        panic!("not as many steps as asked: {seen:#}")
    };
    schemas::check("observe", &observed["structured"]);
    schemas::check("recall_best_match", &recalled["structured"]);
    assert_eq!(observed["structured"]["state"], "stored", "{observed:#}");
    assert!(observed["structured"]["id"].is_u64(), "{observed:#}");
    let record = &recalled["structured"]["records"][0];
    assert_eq!(record["caption"], steps()[0]["arguments"]["caption"], "{recalled:#}");
    assert_eq!(record["time"], "2025-01-03 09:14:07");
    let position = record["position"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap());
    // JavaScript writes 0 where others write 0.0.
    assert!(position.eq([1.2, -0.4, 0.0]), "{recalled:#}");
    assert!(recalled["text"].as_str().unwrap().contains("purple book"), "{recalled:#}");
    assert_eq!(refused["is_error"], true, "{refused:#}");
    assert!(refused["text"].as_str().unwrap().contains('k'), "{refused:#}");
    assert_eq!(unknown["code"], -32602, "{unknown:#}");
    assert!(unknown["message"].as_str().unwrap().contains("recall_everything"), "{unknown:#}");
    // The code for an absent resource changed with the newest revision.
    let absent_code = if protocol == Some("2026-07-28") { -32602 } else { -32002 };
    assert_eq!(absent["code"], absent_code, "{absent:#}");
}

/// Runs a client of tests/sdk with the bridge to `daemon` as its server.
fn drive(mut command: Command, script: &str, mode: &str, daemon: &Running) -> Value {
    command.arg(root().join("tests/sdk").join(script)).arg(mode).arg(steps().to_string());
    command.arg(env!("CARGO_BIN_EXE_engram")).arg("mcp").arg("--socket").arg(daemon.socket());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    wait_for(|| child.try_wait().unwrap().is_some());
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{script} {mode} failed: {printed}");
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

/// Where the SDKs lie; `None` where they may be absent and are.
pub(crate) fn installed() -> Option<PathBuf> {
    let sdk = root().join("target/sdk");
    if fs::exists(sdk.join("installed")).unwrap() {
        return Some(sdk);
    }
    let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    assert!(!is_ci, "the MCP SDKs are not installed; run tests/sdk/install.sh");
    // Written past the test harness, which swallows what a passing test prints.
    io::stderr().write_all(b"SKIPPED: no MCP SDKs; tests/sdk/install.sh installs them\n").unwrap();
    None
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
