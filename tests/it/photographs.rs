//! Photographs through the default captioner: from pixels to a record with its boxes, and what
//! the memory reads of such captions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use engram::language::caption::ParsedCaption;
use engram::memory::episodic::captions::CaptionReader;
use engram::model::caption_reader;
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

use crate::running::{Running, wait_for};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The line's caption is kept, and the captioner, which would say something else, not asked.
#[test]
fn a_recording_may_bring_its_captions() {
    let frames = tempfile::tempdir().unwrap();
    let coffee = root("tests/fixtures/photographs/coffee.jpg");
    fs::copy(coffee, frames.path().join("1.jpg")).unwrap();
    let line = json!({"file": "1.jpg", "time": "2025-01-02T10:00:00Z", "caption": "an espresso",
        "confidence": 0.75});
    fs::write(frames.path().join("frames.jsonl"), line.to_string()).unwrap();
    let daemon = Running::start();
    let output = daemon.engram(&["ingest", frames.path().to_str().unwrap()]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("1 frames sent") && said.contains("1 captioned, 0 failed"), "{said}");
    let inspected = daemon.ask("inspect_memory_record", json!({"record_ids": [1]}));
    let record = &inspected["records"][0];
    assert_eq!((&record["caption"], &record["confidence"]), (&json!("an espresso"), &json!(0.75)));
    assert_eq!(record["image"], "engram://frames/1");
}

#[test]
fn a_photograph_becomes_a_record_with_the_boxes_of_what_it_shows() {
    let dir = tempfile::tempdir().unwrap();
    let everyday = ["--set", "captioner.model=everyday-detector"];
    let daemon = Running::start_in(dir, &everyday);
    let coffee = fs::read(root("tests/fixtures/photographs/coffee.jpg")).unwrap();
    let time = "2025-01-02 10:00:00";
    daemon.ask("observe", json!({"image": BASE64.encode(coffee), "time": time}));
    wait_for(|| daemon.ask("ingest_status", json!({}))["captioned"] == 1);
    let boxes = |daemon: &Running| {
        let inspected = daemon.ask("inspect_memory_record", json!({"record_ids": [1]}));
        let record = &inspected["records"][0];
        assert!(record["caption"].as_str().unwrap().contains("cup"), "{record}");
        assert!(record["confidence"].as_f64().unwrap() > 0.2, "{record}");
        record["detections"].clone()
    };
    let found = boxes(&daemon);
    let cup = found.as_array().unwrap().iter().find(|it| it["name"] == "cup").unwrap();
    assert!(cup["score"].as_f64().unwrap() > 0.4, "{cup}");
    let expect = [0.23, 0.03, 0.72, 0.99];
    for (side, expect) in cup["box"].as_array().unwrap().iter().zip(expect) {
        assert!((side.as_f64().unwrap() - expect).abs() < 0.05, "{cup}");
    }
    let recalled = daemon.ask("recall_last_seen", json!({"query": "a cup"}));
    assert_eq!(recalled["records"][0]["id"], 1, "{recalled}");
    assert_eq!(recalled["records"][0]["detections"], Value::Null);
    let daemon = Running::start_in(daemon.kill(), &everyday);
    assert_eq!(boxes(&daemon), found, "after a restart");
}

/// Caption and confidence by the captioner of the defaults.
fn captioned(image: &RgbImage) -> (String, f64) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("image.png");
    image.save_with_format(&file, ImageFormat::Png).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.args(["caption", "--set", "log.level=warn", "--json"]).arg(&file);
    let output = command.output().unwrap();
    let line = serde_json::from_slice(&output.stdout);
    let line: Value = line.unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (line["caption"].as_str().unwrap().to_owned(), line["confidence"].as_f64().unwrap())
}

#[test]
fn a_black_and_a_blank_frame_show_nothing_without_confidence() {
    for colour in [[0; 3], [255; 3], [120, 130, 90]] {
        let frame = RgbImage::from_pixel(320, 240, Rgb(colour));
        assert_eq!(captioned(&frame), ("nothing recognised".to_owned(), 0.0), "{colour:?}");
    }
}

fn read(caption: &str) -> ParsedCaption {
    let tagger = caption_reader::load(&root("models/caption-reader")).unwrap();
    CaptionReader::new(tagger).read(caption)
}

#[test]
fn captions_of_boxes_are_read_as_they_are_meant() {
    let check = |caption: &str, expect: &[&str]| {
        let parsed = read(caption);
        let shown: Vec<&str> = parsed.shown_mentions().map(|it| it.phrase.as_str()).collect();
        assert_eq!(shown, expect, "{caption}");
    };
    check("nothing recognised", &[]);
    check("a cup and a laptop on a dining table", &["cup", "laptop", "dining table"]);
    check(
        "a red cup to the left of a grey laptop on a dining table, two chairs behind it",
        &["red cup", "grey laptop", "dining table", "two chairs"],
    );
    check(
        "a person on a couch. a dog and two potted plants",
        &["person", "couch", "dog", "two potted plants"],
    );
}
