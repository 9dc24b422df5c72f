//! The network against the reference implementation, logit by logit:
//! `tests/fixtures/make_florence.py` made the golden files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::base::detection::BoundingBox;
use crate::base::picture::ImageLimits;
use crate::model::florence::Florence2Captioner;
use crate::model::florence::objects::{Said, objects};
use crate::model::resize::{ResizeFilter, square};
use crate::model::{CaptionTask, Captioner as _, Detail, jpeg};

const TOLERANCE: f64 = 1e-3;

/// Every so many logits are in the golden file.
const KEPT_EVERY: usize = 20;

const LAYOUTS: [&str; 2] = ["florence", "florence-microsoft"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn load(dir: &Path, detail: Detail) -> Florence2Captioner {
    let task = CaptionTask { detail, detects: true };
    Florence2Captioner::load(dir, ImageLimits::default(), task).unwrap()
}

fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn tokens(row: &Value, name: &str) -> Vec<u32> {
    let tokens = row[name].as_array().unwrap().iter();
    tokens.map(|it| u32::try_from(it.as_u64().unwrap()).unwrap()).collect()
}

/// Prompts, every logit of every word given the ones before it, the words chosen, and captions.
fn check(dir: &Path, golden: &Path) {
    let captioners = [Detail::Sentence, Detail::Sentences].map(|detail| load(dir, detail));
    let mut words = 0;
    for row in rows(&golden.join("golden.jsonl")) {
        let at = usize::from(row["task"] == "<DETAILED_CAPTION>");
        let captioner = &captioners[at];
        let (name, task) = (row["file"].as_str().unwrap(), row["task"].as_str().unwrap());
        let is_caption = task != "<OD>";
        let question =
            if is_caption { &captioner.caption } else { captioner.objects.as_ref().unwrap() };
        assert_eq!(question.prompt, tokens(&row, "prompt"), "{task}");
        let image = fs::read(fixture("blip").join(name)).unwrap();
        let seen = captioner.see(&image).unwrap();
        let expected = tokens(&row, "tokens");
        let encoded = captioner.bart.encode(&seen, &question.prompt).unwrap();
        let mut answer = captioner.bart.begin(&encoded).unwrap();
        let mut logits = answer.next_logits(captioner.answer.start).unwrap();
        let mut last = captioner.answer.forced.unwrap();
        for (expected, next) in row["logits"].as_array().unwrap().iter().zip(&expected) {
            logits = answer.next_logits(last).unwrap();
            let found: Vec<f32> = logits.to_vec1().unwrap();
            let found: Vec<f32> = found.into_iter().step_by(KEPT_EVERY).collect();
            let expected = expected.as_array().unwrap();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                let error = (f64::from(*found) - expected.as_f64().unwrap()).abs();
                assert!(error < TOLERANCE, "{name} {task}, word {words}: {error}");
            }
            last = *next;
            words += 1;
        }
        drop(logits);
        let mut found = captioner.ask(&seen, question).unwrap().tokens;
        let spelt = captioner.tokenizer.decode(&found, true).unwrap();
        assert_eq!(spelt.trim(), row["text"], "{name} {task}");
        if found.len() < expected.len() {
            found.push(captioner.answer.end);
        }
        assert_eq!(found, expected, "{name} {task}");
    }
    assert!(words >= 9, "{words} words are no test");
}

#[test]
fn both_layouts_answer_as_transformers_does() {
    for layout in LAYOUTS {
        check(&fixture(layout), &fixture("florence"));
    }
}

#[test]
fn captions_and_boxes_of_a_picture_are_those_of_its_answers() {
    let golden = rows(&fixture("florence").join("golden.jsonl"));
    for (detail, task) in [(0, "<CAPTION>"), (1, "<DETAILED_CAPTION>")] {
        let detail = if detail == 0 { Detail::Sentence } else { Detail::Sentences };
        let mut captioner = load(&fixture("florence"), detail);
        for row in golden.iter().filter(|row| row["task"] == task) {
            let image = fixture("blip").join(row["file"].as_str().unwrap());
            let caption = captioner.caption(&fs::read(image).unwrap()).unwrap();
            assert_eq!(caption.text, row["text"]);
            assert_eq!(caption.confidence, None);
        }
    }
}

#[test]
fn things_are_read_from_answers_as_the_reference_reads_them() {
    let mut things = 0;
    for layout in LAYOUTS {
        let captioner = load(&fixture(layout), Detail::Sentence);
        for row in rows(&fixture("florence").join("objects.jsonl")) {
            let said: Vec<Said> = tokens(&row, "tokens")
                .into_iter()
                .map(|token| Said { token, log_prob: -0.1 })
                .collect();
            let spell = |tokens: &[u32]| captioner.tokenizer.decode(tokens, true).unwrap();
            let found = objects(&said, captioner.first_place, spell);
            let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(Value::from(names), row["labels"], "{row}");
            for (found, expected) in found.iter().zip(row["boxes"].as_array().unwrap()) {
                let BoundingBox { left, top, right, bottom } = found.place;
                // The reference cuts pixels of a picture of 1,000 by 1,000 to whole ones.
                let whole = [left, top, right, bottom].map(|it| (it * 1_000.0).floor());
                let expected = expected.as_array().unwrap().iter();
                let expected: Vec<f64> = expected.map(|it| it.as_f64().unwrap()).collect();
                assert_eq!(whole.map(f64::from).to_vec(), expected);
                things += 1;
            }
        }
    }
    assert_eq!(things, 16);
}

#[test]
fn pictures_become_the_reference_processors_levels_at_the_real_size() {
    let expected = fs::read(fixture("florence").join("levels-768.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    let expected = expected.as_object().unwrap();
    assert!(expected.len() >= 12);
    for (name, hash) in expected {
        let encoded = fs::read(fixture("blip").join(name)).unwrap();
        let picture = jpeg::decode(&encoded, ImageLimits::default()).unwrap();
        let resized = square(&picture, 768, ResizeFilter::Bicubic).into_raw();
        let planes: Vec<u8> =
            (0..3).flat_map(|plane| resized.iter().skip(plane).step_by(3).copied()).collect();
        let found = format!("{:x}", Sha256::digest(&planes));
        assert_eq!(Value::from(found), *hash, "{name}");
    }
}

/// `tests/fixtures/README.md` says how the model is made.
#[test]
#[ignore = "needs a model of half a gigabyte"]
fn a_model_of_full_size_answers_as_transformers_does() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/full/florence-2-base");
    check(&dir, &dir);
}
