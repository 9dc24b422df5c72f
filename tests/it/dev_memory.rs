//! `engram dev-memory`: what a model's reply makes of a memory and a prompt.

use std::fs;
use std::process::{Command, Output};

use serde_json::json;

use crate::scripted_model::{Answers, ScriptedModel, answer};

const PROMPT: &str = "You see $user_prompt.\n- Previous Action: $memory[previous_action]\n";
const REPLY: &str =
    "```json\n{\"action\": \"go\", \"memory\": {\"previous_action\": \"move right\"}}\n```";
/// The smallest file that counts as a PNG by its first bytes; the model's server is
/// the one that decodes it.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn dev_memory(endpoint: &str, arguments: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("prompt.txt"), PROMPT).unwrap();
    fs::write(dir.path().join("image.png"), PNG).unwrap();
    fs::write(dir.path().join("reply.txt"), REPLY).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.current_dir(dir.path()).args(["dev-memory", "--prompt", "prompt.txt"]);
    command.args(["--set", &format!("agent.endpoint={endpoint}")]);
    command.args(["--set", "agent.model=tiny", "--set", "agent.timeout_seconds=20"]);
    command.args(arguments).output().unwrap()
}

fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

const EXPECTED: &str = "## Reply\n\n```json\n{\"action\": \"go\", \"memory\": {\"previous_action\": \
    \"move right\"}}\n```\n\n## Memory\n\n{\n  \"previous_action\": \"move right\"\n}\n\n## Prompt\n\n\
    You see a corridor.\n- Previous Action: move right\n";

#[test]
fn the_configured_model_is_asked_about_the_image() {
    let model = ScriptedModel::new(vec![Answers::With(REPLY.to_owned())]);
    let output = dev_memory(&model.url, &["--image", "image.png", "a corridor"]);
    let (out, err) = printed(&output);
    assert!(output.status.success(), "{err}");
    assert_eq!(out.trim_end(), EXPECTED.trim_end());
    let asked = model.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["model"], "tiny");
    let system = "You see a corridor.\n- Previous Action: None\n";
    assert_eq!(asked[0]["messages"][0], json!({"role": "system", "content": system}));
    assert_eq!(asked[0]["messages"][1]["content"][0]["text"], "a corridor");
    let url = &asked[0]["messages"][1]["content"][1]["image_url"]["url"];
    assert_eq!(url, "data:image/png;base64,iVBORw0KGgo=");
}

#[test]
fn a_reply_from_a_file_needs_no_model() {
    let output = dev_memory("", &["--reply", "reply.txt", "a corridor"]);
    assert_eq!(printed(&output).0.trim_end(), EXPECTED.trim_end());
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let error = |endpoint: &str, arguments: &[&str]| {
        let output = dev_memory(endpoint, arguments);
        // Where a setting is wrong, 78.
        assert!(matches!(output.status.code(), Some(1 | 78)), "{output:?}");
        printed(&output).1
    };
    let none = error("", &["--image", "image.png"]);
    assert!(none.contains("none is configured; set agent.endpoint"), "{none}");
    let remote = error("http://8.8.8.8", &["--image", "image.png"]);
    assert!(remote.contains("agent.endpoint is \"http://8.8.8.8\""), "{remote}");
    let nothing = error("http://127.0.0.1:1", &[]);
    assert!(nothing.contains("there is nothing to ask the model"), "{nothing}");
    let text = error("http://127.0.0.1:1", &["--image", "prompt.txt"]);
    assert!(text.contains("prompt.txt is no image"), "{text}");
    let prose = ScriptedModel::new(vec![Answers::With("I go right.".to_owned())]);
    let prose = error(&prose.url, &["where?"]);
    assert!(prose.contains("\"I go right.\"") && prose.contains("holds no JSON object"), "{prose}");
    let failing = ScriptedModel::new(vec![Answers::Raw(answer("500 Oops", "out of memory"))]);
    let failing = error(&failing.url, &["where?"]);
    assert!(failing.contains("answered 500: \"out of memory\""), "{failing}");
}
