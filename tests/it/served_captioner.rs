//! The captioner behind a model's server, whatever that does: dialogues in the words of three
//! servers, and faults of the server told from those of a frame.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use engram::base::caption::Caption;
use engram::base::picture::ImageLimits;
use engram::base::stop::Stop;
use engram::base::time::SystemClock;
use engram::model::endpoint::Address;
use engram::model::served::{Options, PROMPT, ServedCaptioner};
use engram::model::{CaptionError, Captioner as _, ModelError};
use serde_json::{Value, json};

use crate::running::{Running, flat, refusal_to_start, wait_for};
use crate::scripted_model::{Answers, ScriptedModel, answer};

const LONG: Duration = Duration::from_secs(30);

fn image() -> Vec<u8> {
    fs::read(root("tests/fixtures/blip/small.png")).unwrap()
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn open(url: &str, model: &str, deadline: Duration) -> Result<ServedCaptioner, ModelError> {
    let limits = ImageLimits::default();
    let options = Options {
        address: Address::parse(url).unwrap(),
        model: model.to_owned(),
        prompt: PROMPT.to_owned(),
        deadline,
        limits,
    };
    ServedCaptioner::new(options, Arc::new(SystemClock), Stop::default())
}

fn captioner(model: &ScriptedModel) -> ServedCaptioner {
    open(&model.url, "", LONG).unwrap()
}

fn mug() -> Answers {
    Answers::With("A red mug.".to_owned())
}

fn status(status: &str, body: &str) -> Answers {
    Answers::Raw(answer(status, body))
}

/// A server's part is what it sends by its own sources, engram's part what goes out to it.
#[test]
fn three_servers_are_understood() {
    for server in ["llama-server", "ollama", "vllm"] {
        let file = root("tests/fixtures/dialogues").join(format!("{server}.json"));
        let dialogue: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let exchanges = dialogue["exchanges"].as_array().unwrap();
        let reply = |it: &Value| status(it["status"].as_str().unwrap(), &it["reply"].to_string());
        let script = exchanges.iter().map(reply).collect();
        let model = ScriptedModel::with_models(script, &dialogue["models"]);
        let mut captioner = open(&model.url, dialogue["model"].as_str().unwrap(), LONG).unwrap();
        for outcome in dialogue["outcomes"].as_array().unwrap() {
            let captioned = captioner.caption(&image());
            match outcome["unavailable"].as_str() {
                Some(reason) => {
                    assert!(
                        matches!(captioned, Err(CaptionError::Unavailable(_))),
                        "{captioned:?}"
                    );
                    let error = captioned.unwrap_err().to_string();
                    assert!(error.ends_with(reason), "{server}: {error}");
                }
                None => check_caption(&captioned.unwrap(), outcome),
            }
        }
        let name = format!("{} at {}", dialogue["name"].as_str().unwrap(), model.url);
        assert_eq!(captioner.identity().name, name);
        let shown = BASE64.encode(image());
        let expected = exchanges.iter().map(|it| {
            let request = it["request"].to_string().replace("{IMAGE}", &shown);
            serde_json::from_str::<Value>(&request).unwrap()
        });
        assert_eq!(model.asked(), expected.collect::<Vec<_>>(), "{server}");
    }
}

fn check_caption(caption: &Caption, expected: &Value) {
    assert_eq!(caption.text, expected["caption"].as_str().unwrap());
    let logs = expected["confidence_from"].as_array();
    let mean = logs.map(|logs| {
        let logs: Vec<f64> = logs.iter().map(|it| it.as_f64().unwrap()).collect();
        (logs.iter().sum::<f64>() / logs.len() as f64).exp()
    });
    match (caption.confidence, mean) {
        (Some(found), Some(mean)) => assert!((f64::from(found) - mean).abs() < 1e-5, "{found}"),
        (found, mean) => assert_eq!(found.map(f64::from), mean),
    }
}

/// Ways of giving no caption, with what the error says.
fn faults() -> Vec<(Answers, &'static str)> {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\"";
    vec![
        (
            status("500 Oops", r#"{"error": {"message": "out of memory"}}"#),
            "500: \"out of memory\"",
        ),
        (status("200 OK", "<html>Welcome</html>"), "without choices[0].message.content: \"<html>"),
        (status("200 OK", r#"{"choices": [{"text": "a mug"}]}"#), "without choices[0].message"),
        (Answers::Raw(half.to_owned()), "broke off: "),
        (Answers::Raw(String::new()), "broke off: "),
        (Answers::Endlessly, "answered more than 524288 bytes"),
    ]
}

#[test]
fn a_server_that_fails_over_any_image_keeps_the_frame_waiting() {
    for (answers, says) in faults() {
        let model = ScriptedModel::new(vec![answers.clone(), answers, mug()]);
        let mut captioner = captioner(&model);
        match captioner.caption(&image()) {
            Err(CaptionError::Unavailable(reason)) => {
                assert!(reason.contains(says), "{reason}");
                assert!(reason.ends_with("over a plain test image it fails, too"), "{reason}");
            }
            other => panic!("{says}: {other:?}"),
        }
        assert_eq!(captioner.caption(&image()).unwrap().text, "A red mug.");
        assert_eq!(captioner.restarts(), 1);
    }
}

#[test]
fn a_frame_is_at_fault_where_another_image_is_captioned() {
    for (answers, says) in faults() {
        let model = ScriptedModel::new(vec![answers, mug()]);
        match captioner(&model).caption(&image()) {
            Err(CaptionError::Died(reason)) => assert!(reason.contains(says), "{reason}"),
            other => panic!("{says}: {other:?}"),
        }
        // The test image is another one, asked for in the same words.
        let asked = model.asked();
        assert_eq!(asked[0]["messages"][0]["content"][0], asked[1]["messages"][0]["content"][0]);
        assert_ne!(asked[0], asked[1]);
    }
    let refusal = || status("400 Bad Request", r#"{"error": {"message": "Failed to load image"}}"#);
    let model = ScriptedModel::new(vec![refusal(), refusal(), refusal(), mug()]);
    match captioner(&model).caption(&image()) {
        Err(CaptionError::BadImage(reason)) => {
            assert!(reason.ends_with("answered 400: \"Failed to load image\""), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_is_not_there_is_no_frames_fault() {
    for gone in ["503 Service Unavailable", "404 Not Found", "429 Too Many Requests", "302 Found"] {
        let model = ScriptedModel::new(vec![status(gone, ""), mug()]);
        let mut captioner = captioner(&model);
        let error = captioner.caption(&image()).unwrap_err();
        assert!(matches!(error, CaptionError::Unavailable(_)), "{error}");
        assert_eq!(model.asked().len(), 1, "{gone}");
        assert_eq!(captioner.caption(&image()).unwrap().text, "A red mug.");
    }
}

#[test]
fn a_server_that_goes_down_over_a_frame_is_as_a_worker_that_dies() {
    let model = ScriptedModel::new(vec![Answers::GoesDown]);
    let mut captioner = captioner(&model);
    let error = captioner.caption(&image()).unwrap_err();
    assert!(matches!(&error, CaptionError::Died(how) if how.contains("broke off")), "{error}");
    let error = captioner.caption(&image()).unwrap_err();
    assert!(matches!(&error, CaptionError::Unavailable(it) if it.contains("cannot be reached")));
}

#[test]
fn a_slow_server_is_given_up_at_the_deadline() {
    let deadline = Duration::from_millis(400);
    for answers in [Answers::Never, Answers::Slowly] {
        let model = ScriptedModel::new(vec![answers.clone(), mug(), answers.clone(), answers]);
        let mut captioner = open(&model.url, "", deadline).unwrap();
        assert_eq!(captioner.caption(&image()), Err(CaptionError::Hung(deadline)));
        let error = captioner.caption(&image()).unwrap_err();
        assert!(matches!(error, CaptionError::Unavailable(_)), "{error}");
    }
}

#[test]
fn thoughts_without_a_caption_are_asked_for_less_and_named() {
    let thoughts = || Answers::With("<think>I see a mug, or is it".to_owned());
    let model = ScriptedModel::new((0..6).map(|_| thoughts()).collect());
    let error = captioner(&model).caption(&image()).unwrap_err().to_string();
    assert!(error.contains("spent all its tokens on thoughts"), "{error}");
    assert!(error.contains("--reasoning-budget 0"), "{error}");
    assert_eq!(model.asked().len(), 6);
}

#[test]
fn json_that_the_server_cannot_read_is_asked_for_as_text_this_once() {
    let unreadable = r#"{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format","type":"server_error"}}"#;
    let script = vec![status("500 Internal Server Error", unreadable), mug(), mug()];
    let model = ScriptedModel::new(script);
    let mut captioner = captioner(&model);
    for _ in 0..2 {
        assert_eq!(captioner.caption(&image()).unwrap().text, "A red mug.");
    }
    let asked = model.asked();
    let is_json: Vec<bool> = asked.iter().map(|it| !it["response_format"].is_null()).collect();
    assert_eq!(is_json, [true, false, true]);
}

#[test]
fn a_stop_does_not_wait_for_the_server() {
    let model = ScriptedModel::new(vec![Answers::Never]);
    let stop = Stop::default();
    let address = Address::parse(&model.url).unwrap();
    let (deadline, limits) = (Duration::from_hours(1), ImageLimits::default());
    let options =
        Options { address, model: String::new(), prompt: PROMPT.to_owned(), deadline, limits };
    let mut captioner = ServedCaptioner::new(options, Arc::new(SystemClock), stop.clone()).unwrap();
    let captioning = thread::Builder::new().spawn(move || captioner.caption(&image())).unwrap();
    wait_for(|| model.asked().len() == 1);
    stop.ask();
    let stopped = CaptionError::Unavailable("the daemon stops".to_owned());
    assert_eq!(captioning.join().unwrap(), Err(stopped));
}

#[test]
fn what_is_asked_can_be_set_and_is_asked_of_each_image() {
    let answer = || Answers::With("The left door is open.".to_owned());
    let model = ScriptedModel::new(vec![answer(), answer()]);
    let prompt = "Which doors are open?";
    let options = Options {
        address: Address::parse(&model.url).unwrap(),
        model: String::new(),
        prompt: prompt.to_owned(),
        deadline: LONG,
        limits: ImageLimits::default(),
    };
    let mut captioner =
        ServedCaptioner::new(options, Arc::new(SystemClock), Stop::default()).unwrap();
    for _ in 0..2 {
        captioner.caption(&image()).unwrap();
    }
    let asked = model.asked();
    assert!(asked[0].to_string().contains(prompt), "{}", asked[0]);
    assert_eq!(asked[0]["messages"], asked[1]["messages"]);
}

#[test]
fn a_model_that_is_not_listed_is_refused_with_those_that_are() {
    let models = json!({"data": [{"id": "llama3.2:3b"}, {"id": "moondream:latest"}]});
    let model = ScriptedModel::with_models(vec![mug()], &models);
    let error = open(&model.url, "moonbeam", LONG).unwrap_err().to_string();
    assert!(error.contains("no model \"moonbeam\", but llama3.2:3b, moondream:latest"), "{error}");
    let error = open(&model.url, "", LONG).unwrap_err().to_string();
    assert!(error.contains("set captioner.endpoint_model"), "{error}");
    assert_eq!(
        open(&model.url, "moondream", LONG).unwrap().caption(&image()).unwrap().text,
        "A red mug."
    );
    assert_eq!(model.asked()[0]["model"], "moondream:latest");
}

#[test]
fn what_is_no_image_is_not_sent() {
    let model = ScriptedModel::new(vec![mug()]);
    let error = captioner(&model).caption(b"GIF89a").unwrap_err();
    assert!(matches!(error, CaptionError::BadImage(_)), "{error}");
    assert_eq!(model.asked(), Vec::<Value>::new());
}

/// A daemon that captions through a server which is away, comes, refuses one frame and loads.
#[test]
fn a_daemon_captions_through_a_server() {
    let models = json!({"data": [{"id": "eyes", "meta": {"size": 7}}]});
    // An address where nobody listens yet.
    let free = ScriptedModel::new(vec![Answers::GoesDown]);
    let url = free.url.clone();
    drop(open(&url, "", LONG).unwrap().caption(&image()));
    let endpoint = format!("captioner.endpoint={url}");
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &["--set", &endpoint]);
    let status_of = |daemon: &Running| daemon.ask("ingest_status", json!({}));
    assert_eq!(status_of(&daemon)["captioner_server"], url.as_str());
    let frames: Vec<Value> = flat().into_iter().step_by(30).take(3).collect();
    for frame in &frames {
        assert_eq!(daemon.ask("observe", frame.clone())["state"], "pending");
    }
    wait_for(|| status_of(&daemon)["last_error"].is_object());
    let status_now = status_of(&daemon);
    assert_eq!(
        (status_now["captioning"].as_bool(), status_now["pending"].as_u64()),
        (Some(false), Some(3))
    );
    let health = daemon.call("health", json!({})).text;
    assert!(health.contains("no captioner: the model's server at"), "{health}");
    let refusal = || status("400 Bad Request", r#"{"error": {"message": "bad tile"}}"#);
    let script = vec![
        Answers::With("A kettle on a stove.".to_owned()),
        refusal(), refusal(), refusal(), mug(),
        status("503 Service Unavailable", r#"{"error": {"message": "Loading model"}}"#),
        Answers::With(r#"{"caption": "A sofa.", "objects": [{"name": "cat", "colour": "black", "place": "on the sofa"}]}"#.to_owned()),
    ];
    let server = ScriptedModel::at(url.strip_prefix("http://").unwrap(), script, &models);
    wait_for(|| status_of(&daemon)["pending"] == 0);
    let settled = status_of(&daemon);
    assert_eq!((settled["captioned"].as_u64(), settled["failed"].as_u64()), (Some(2), Some(1)));
    assert_eq!(settled["captioner_restarts"], 1, "{settled}");
    let aside = settled["set_aside"][0]["reason"].as_str().unwrap();
    assert!(aside.ends_with("answered 400: \"bad tile\""), "{aside}");
    let cat = daemon.ask("recall_last_seen", json!({"query": "a black cat"}));
    assert_eq!(cat["records"][0]["caption"], "A sofa. A black cat on the sofa.");
    assert_eq!(cat["records"][0]["confidence"], Value::Null);
    let shown = daemon.engram(&["status"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let named = format!("  captioner  eyes at {url} (");
    let line = format!("captions come from {url} (lost and found again 1 times)");
    assert!(shown.contains(&named) && shown.contains(&line), "{shown}");
    assert_eq!(server.asked().len(), 7);
}

#[test]
fn a_daemon_does_not_start_for_a_model_that_its_server_does_not_have() {
    let server = ScriptedModel::new(Vec::new());
    let dir = tempfile::tempdir().unwrap();
    let endpoint = format!("captioner.endpoint={}", server.url);
    let flags = ["--set", endpoint.as_str(), "--set", "captioner.endpoint_model=large"];
    let error = refusal_to_start(dir.path(), &flags);
    assert!(
        error.contains("the server has no model \"large\", but small; set captioner."),
        "{error}"
    );
}

#[test]
fn a_daemon_does_not_start_with_a_captioner_that_cannot_be_used() {
    let model = root("tests/fixtures/blip");
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("model");
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(&model).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    fs::write(copy.join("model.safetensors"), pointer).unwrap();
    let refused = |flags: &[&str]| refusal_to_start(dir.path(), flags);
    let damaged = format!("captioner.model={}", copy.display());
    let error = refused(&["--set", &damaged]);
    assert!(error.contains("the captioner cannot be used: the model at "), "{error}");
    assert!(error.contains("model.safetensors: it is a Git LFS pointer"), "{error}");
    fs::write(copy.join("config.json"), r#"{"model_type": "qwen2_vl"}"#).unwrap();
    let error = refused(&["--set", &damaged]);
    assert!(error.contains("it is a \"qwen2_vl\" model"), "{error}");
    assert!(error.contains("set captioner.endpoint"), "{error}");
    let error = refused(&["--set", "captioner.memory_limit_mb=1"]);
    assert!(error.contains("captioner.memory_limit_mb is 1: raise it"), "{error}");
}

#[test]
fn the_command_captions_through_the_server_too() {
    let server = ScriptedModel::new(vec![mug()]);
    let image = root("tests/fixtures/blip/small.png");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_engram"));
    command.args(["caption", "--set", &format!("captioner.endpoint={}", server.url)]).arg(&image);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, format!("{}: A red mug.\n", image.display()));
    assert_eq!(server.asked().len(), 1);
}
