//! A program that was installed somewhere: it finds what was installed with it before the source
//! tree that it was built from.

use std::fs;
use std::path::Path;
use std::process::Command;

fn engram(home: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.args(arguments).env("XDG_DATA_HOME", home);
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap()).concat();
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn installed_models_are_found_before_those_of_the_source_tree() {
    let home = tempfile::tempdir().unwrap();
    let installed = home.path().join("engram/models");
    let is_found = |said: &str| said.contains(&format!("# captioner: {}", installed.display()));
    assert!(!is_found(&engram(home.path(), &["config"])));
    engram(home.path(), &["models", "install"]);
    assert!(is_found(&engram(home.path(), &["config"])));
    for (name, weights) in [("caption-embedder", 14), ("request-reader", 5)] {
        let bytes = fs::metadata(installed.join(name).join("model.safetensors")).unwrap().len();
        assert!(bytes > weights << 20, "{name}");
        assert!(!installed.join(name).join("training").exists(), "{name}");
    }
    assert!(home.path().join("engram/prompts/object-retrieval.txt").is_file());
    // Without the program's own directory it goes on from there.
    let elsewhere = home.path().join("copy");
    engram(home.path(), &["models", "install", "--to", elsewhere.to_str().unwrap()]);
    assert!(elsewhere.join("models/everyday-detector/config.json").is_file());
}

#[test]
fn manual_pages_and_completions_name_every_command() {
    let dir = tempfile::tempdir().unwrap();
    engram(dir.path(), &["manual", dir.path().join("man1").to_str().unwrap()]);
    for page in ["engram.1", "engram-serve.1", "engram-ingest.1", "engram-audit-forget.1"] {
        let text = fs::read_to_string(dir.path().join("man1").join(page)).unwrap();
        assert!(text.contains(".TH engram"), "{page}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = engram(dir.path(), &["completions", shell]);
        assert!(script.contains("ingest") && script.contains("doctor"), "{shell}");
        assert!(!script.contains("panicked"), "{shell}");
    }
}
