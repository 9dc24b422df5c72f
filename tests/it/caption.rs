//! `engram caption` as a person types it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/blip").join(name)
}

fn caption(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.args(["caption", "--set", "log.level=warn"]).args(arguments).output().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn captions_a_directory_and_goes_on_after_what_is_broken() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("more")).unwrap();
    let golden = fs::read_to_string(fixture("golden.jsonl")).unwrap();
    let golden: Vec<Value> =
        golden.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [first, second] = [&golden[0], &golden[1]];
    for (row, to) in [(first, "b.png"), (second, "more/a.png")] {
        fs::copy(fixture(row["file"].as_str().unwrap()), dir.path().join(to)).unwrap();
    }
    fs::write(dir.path().join("a.jpg"), "no image").unwrap();
    fs::write(dir.path().join("notes.txt"), "no image either").unwrap();
    let model = fixture("");
    let model = model.to_str().unwrap();
    let missing = dir.path().join("nowhere.png");
    let (dir, missing) = (dir.path().to_str().unwrap(), missing.to_str().unwrap());

    let output = caption(&["--model", model, "--json", missing, dir]);
    assert_eq!(output.status.code(), Some(1), "some failed");
    let lines = lines(&output);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0]["error"].as_str().unwrap().contains("cannot be read"), "{}", lines[0]);
    assert_eq!(lines[1]["file"], format!("{dir}/a.jpg"));
    assert!(
        lines[1]["error"].as_str().unwrap().contains("neither JPEG nor PNG nor WebP"),
        "{}",
        lines[1]
    );
    for (line, row) in [(&lines[2], first), (&lines[3], second)] {
        assert_eq!(line["caption"], row["caption"]);
        assert_eq!(line["confidence"], Value::Null, "this model was not calibrated");
        assert!(line["milliseconds"].as_f64().unwrap() > 0.0);
    }

    let output = caption(&["--model", model, &format!("{dir}/b.png")]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, format!("{dir}/b.png: {}\n", first["caption"].as_str().unwrap()));
}

#[test]
fn nothing_to_caption_and_no_model_are_said_at_once() {
    let empty = tempfile::tempdir().unwrap();
    let said = |output: &Output| String::from_utf8(output.stderr.clone()).unwrap();
    let output = caption(&[empty.path().to_str().unwrap()]);
    assert!(!output.status.success() && said(&output).contains("there is no image"));
    let image = fixture("wide.png");
    let output = caption(&["--model", empty.path().to_str().unwrap(), image.to_str().unwrap()]);
    assert!(!output.status.success() && said(&output).contains("no config.json"));
}
