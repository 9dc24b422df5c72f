//! The network against the reference implementation, logit by logit:
//! `tests/fixtures/make_smolvlm.py` made the golden files.

use std::fs;
use std::path::{Path, PathBuf};

use candle_core::{DType, Tensor};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::base::picture::ImageLimits;
use crate::model::compute::Compute;
use crate::model::confidence::single_precision;
use crate::model::smolvlm::SmolVlmCaptioner;
use crate::model::smolvlm::tile::Tile;
use crate::model::weights::ModelDir;
use crate::model::{CaptionTask, Captioner as _, Detail, jpeg};

const TOLERANCE: f64 = 1e-3;
/// In half precision.
const HALF_TOLERANCE: f64 = 0.1;

/// Every so many logits are in the golden file.
const KEPT_EVERY: usize = 20;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn load(dir: &Path, task: &str, compute: Compute) -> SmolVlmCaptioner {
    let is_detailed = task == "detailed_caption";
    let detail = if is_detailed { Detail::Sentences } else { Detail::Sentence };
    let task = CaptionTask { detail, detects: false };
    SmolVlmCaptioner::load(dir, ImageLimits::default(), task, compute).unwrap()
}

fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn tokens(row: &Value, name: &str) -> Vec<u32> {
    let tokens = row[name].as_array().unwrap().iter();
    tokens.map(|it| u32::try_from(it.as_u64().unwrap()).unwrap()).collect()
}

/// The prompt with the picture's place taken by its token, as the reference has it.
fn prompt(captioner: &SmolVlmCaptioner, picture_rows: usize) -> Vec<u32> {
    let image = captioner.tokenizer.token_to_id("<image>").unwrap();
    let picture = vec![image; picture_rows];
    [&captioner.question.before[..], &picture, &captioner.question.after].concat()
}

/// Prompts, every logit of every word given the ones before it, the words chosen, and captions.
fn check(dir: &Path, compute: &Compute, tolerance: f64) {
    let captioners = ["caption", "detailed_caption"].map(|task| load(dir, task, compute.clone()));
    let mut words = 0;
    for row in rows(&dir.join("golden.jsonl")) {
        let captioner = &captioners[usize::from(row["task"] == "detailed_caption")];
        let (name, task) = (row["file"].as_str().unwrap(), row["task"].as_str().unwrap());
        let image = fs::read(fixture("blip").join(name)).unwrap();
        let picture = jpeg::decode(&image, ImageLimits::default()).unwrap();
        let pixels = captioner.tile.pixels(&picture).unwrap();
        let seen = captioner.vision.forward(&compute.put(&pixels).unwrap()).unwrap();
        assert_eq!(prompt(captioner, seen.dim(0).unwrap()), tokens(&row, "prompt"), "{task}");
        let (llama, question) = (&captioner.llama, &captioner.question);
        let said = [&question.before, &question.after].map(|it| llama.rows(it).unwrap());
        let mut text = llama.begin();
        let mut next = Tensor::cat(&[&said[0], &seen, &said[1]], 0).unwrap();
        let expected = tokens(&row, "tokens");
        for (expected, token) in row["logits"].as_array().unwrap().iter().zip(&expected) {
            let found = single_precision(&text.next_logits(&next).unwrap()).unwrap();
            let found: Vec<f32> = found.into_iter().step_by(KEPT_EVERY).collect();
            let expected = expected.as_array().unwrap();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                let error = (f64::from(*found) - expected.as_f64().unwrap()).abs();
                assert!(error < tolerance, "{name} {task}, word {words}: {error}");
            }
            next = llama.rows(&[*token]).unwrap();
            words += 1;
        }
        let answer = captioner.answer(&pixels).unwrap();
        if tolerance > TOLERANCE {
            continue; // Rounding to half precision may turn a word.
        }
        let mut found = answer.tokens;
        let spelt = captioner.tokenizer.decode(&found, true).unwrap();
        assert_eq!(spelt.trim(), row["text"], "{name} {task}");
        if !answer.is_cut {
            found.push(question.ends[0]);
        }
        assert_eq!(found, expected, "{name} {task}");
        assert_eq!(answer.log_probs.len(), expected.len());
    }
    assert!(words >= 9, "{words} words are no test");
}

#[test]
fn answers_are_those_of_transformers() {
    check(&fixture("smolvlm"), &Compute::on_cpu(), TOLERANCE);
}

/// With the operations that a GPU computes with.
#[test]
fn another_device_would_answer_the_same() {
    check(&fixture("smolvlm"), &Compute::as_elsewhere(DType::F16), HALF_TOLERANCE);
}

#[test]
#[ignore = "needs an NVIDIA GPU and the feature `cuda`"]
fn a_gpu_answers_the_same() {
    check(&fixture("smolvlm"), &Compute::on_gpu().unwrap(), HALF_TOLERANCE);
}

#[test]
fn captions_of_a_picture_are_its_answers() {
    for row in rows(&fixture("smolvlm").join("golden.jsonl")) {
        let mut captioner =
            load(&fixture("smolvlm"), row["task"].as_str().unwrap(), Compute::on_cpu());
        let image = fs::read(fixture("blip").join(row["file"].as_str().unwrap())).unwrap();
        let caption = captioner.caption(&image).unwrap();
        let said: Vec<&str> = row["text"].as_str().unwrap().split_whitespace().collect();
        assert_eq!(caption.text, said.join(" "));
        assert_eq!((caption.confidence, caption.detections.len()), (None, 0));
    }
}

#[test]
fn pictures_become_the_reference_processors_levels() {
    let mut files = 0;
    for row in rows(&fixture("smolvlm").join("levels.jsonl")) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), "{}").unwrap();
        fs::write(dir.path().join("model.safetensors"), "").unwrap();
        let side = &row["tile"];
        let settings = json!({
            "size": {"longest_edge": row["longest_edge"]}, "max_image_size": {"longest_edge": side},
        });
        fs::write(dir.path().join("preprocessor_config.json"), settings.to_string()).unwrap();
        let dir = ModelDir::open(dir.path()).unwrap();
        let side = usize::try_from(side.as_u64().unwrap()).unwrap();
        let tile = Tile::read(&dir, side).unwrap();
        let name = row["file"].as_str().unwrap();
        let encoded = fs::read(fixture("blip").join(name)).unwrap();
        let picture = jpeg::decode(&encoded, ImageLimits::default()).unwrap();
        let levels = tile.of(&picture).into_raw();
        let planes: Vec<u8> =
            (0..3).flat_map(|plane| levels.iter().skip(plane).step_by(3).copied()).collect();
        let found = format!("{:x}", Sha256::digest(&planes));
        assert_eq!(Value::from(found), row["sha256"], "{name} at {side}");
        files += 1;
    }
    assert!(files >= 15, "{files}");
}

/// `tests/fixtures/README.md` says how the models are made.
#[test]
#[ignore = "needs models of one and a half gigabytes"]
fn models_of_full_size_answer_as_transformers_does() {
    for name in ["smolvlm-256m", "smolvlm-500m"] {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/full").join(name);
        check(&dir, &Compute::on_cpu(), TOLERANCE);
    }
}
