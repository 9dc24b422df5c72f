//! The evaluation of `benches/home` from its flags to its JSON, on a household that was
//! simulated once (`tests/fixtures/home`) and a real daemon. It is compiled into this
//! binary: the benchmark itself need not be built to test it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use engram::cli::interrupt::Interrupt;
use serde_json::{Value, json};

use crate::evaluation::{Flags, evaluate};

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/home")
}

fn judged(flags: &[&str], temporary: &Path) -> anyhow::Result<String> {
    let flags = Flags::try_parse_from([&["home"], flags].concat())?;
    let program = Path::new(env!("CARGO_BIN_EXE_engram"));
    evaluate(&flags, program, temporary, &Interrupt::default())
}

fn judged_json(flags: &[&str], temporary: &Path) -> Value {
    serde_json::from_str(&judged(flags, temporary).unwrap()).unwrap()
}

fn refusal(flags: &[&str], temporary: &Path) -> String {
    format!("{:#}", judged(flags, temporary).unwrap_err())
}

fn lines(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(home().join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_task_of_a_household_is_done_and_judged_and_nothing_is_left_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let report = judged_json(&["--home", home().to_str().unwrap(), "--json"], temporary.path());
    let (frames, tasks) = (lines("frames.jsonl"), lines("tasks.jsonl"));
    assert_eq!(report["frames"], frames.len());
    assert_eq!(report["records"], frames.len(), "an observation with its caption is kept as it is");
    assert_eq!(report["overall"]["tasks"], tasks.len());
    let outcomes = report["outcomes"].as_array().unwrap();

    // What was right is counted again from the truth, by the position of the last
    // frame that shows the object.
    let truth = lines("truth.jsonl");
    let mut last: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (frame, truth) in frames.iter().zip(&truth) {
        let position: Vec<f64> = serde_json::from_value(frame["position"].clone()).unwrap();
        for object in truth["objects"].as_array().unwrap() {
            last.insert(object["id"].as_str().unwrap().to_owned(), position.clone());
        }
    }
    let mut right = 0;
    for (task, outcome) in tasks.iter().zip(outcomes) {
        assert_eq!(task["task"], outcome["task"]);
        let objects = task["objects"].as_array().unwrap();
        if objects.is_empty() {
            assert_eq!(outcome["right_object"], outcome["is_guess"]);
            continue;
        }
        let near = |object: &Value| {
            let place = &last[object.as_str().unwrap()];
            let goal: Vec<f64> = serde_json::from_value(outcome["position"].clone()).unwrap();
            place.iter().zip(&goal).map(|(a, b)| (a - b).powi(2)).sum::<f64>() <= 1.0
        };
        let is_right = outcome["position"].is_array() && objects.iter().any(near);
        assert_eq!(outcome["right_place"], is_right, "{outcome}");
        right += usize::from(is_right);
        let has_called = !outcome["calls"].as_array().unwrap().is_empty();
        assert!(has_called || outcome["position"].is_null(), "{outcome}");
    }
    assert!(right * 10 >= tasks.len() * 6, "{right} of {}: {report:#}", tasks.len());

    let baseline = |family: &str, at: usize| {
        let families = report["families"].as_array().unwrap();
        let family = families.iter().find(|it| it["name"] == family).unwrap();
        family["baselines"][at]["rates"].clone()
    };
    for at in 0..3 {
        assert_eq!(baseline("never-seen", at)["right_object"], 0.0, "they never say so");
        assert!(baseline("attribute", at)["right_object"].as_f64().unwrap() >= 0.5, "{at}");
    }
    assert!(report["slips"].is_null(), "true captions have none");
    let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn tasks_of_ones_own_are_asked_in_place_of_the_households() {
    let temporary = tempfile::tempdir().unwrap();
    let object = lines("truth.jsonl")[0]["objects"][0].clone();
    let phrase = object["phrase"].as_str().unwrap();
    let own = temporary.path().join("own.jsonl");
    let task =
        json!({"family": "mine", "task": format!("bring me {phrase}"), "objects": [object["id"]]});
    fs::write(&own, format!("{task}\n")).unwrap();
    let home = home();
    let flags = ["--home", home.to_str().unwrap(), "--tasks-file", own.to_str().unwrap(), "--json"];
    let report = judged_json(&flags, temporary.path());
    let families: Vec<&Value> = report["families"].as_array().unwrap().iter().collect();
    assert_eq!(families.len(), 1);
    assert_eq!((&families[0]["name"], &families[0]["tasks"]), (&json!("mine"), &json!(1)));
    assert_eq!(report["outcomes"][0]["id"], "mine-1");
}

#[test]
fn what_is_no_request_for_one_thing_is_judged_and_counted_apart() {
    let temporary = tempfile::tempdir().unwrap();
    let truth = lines("truth.jsonl");
    let (first, second) = (&truth[0]["objects"][0], &truth[1]["objects"][0]);
    let words = |object: &Value| format!("bring me {}", object["phrase"].as_str().unwrap());
    let tasks = [
        json!({"family": "mine", "task": words(first), "objects": [first["id"]]}),
        json!({"family": "stop", "task": "stop", "objects": [], "nothing": true, "extra": true}),
        json!({"family": "turns", "task": words(first), "objects": [first["id"]],
               "then": [second["id"]], "extra": true}),
        json!({"family": "gone", "task": words(first), "objects": [first["id"]],
               "gone": true, "extra": true}),
    ];
    let own = temporary.path().join("own.jsonl");
    fs::write(&own, tasks.map(|it| it.to_string()).join("\n")).unwrap();
    let home = home();
    let flags = ["--home", home.to_str().unwrap(), "--tasks-file", own.to_str().unwrap(), "--json"];
    let report = judged_json(&flags, temporary.path());
    assert_eq!((&report["overall"]["tasks"], &report["losses"]["all"]), (&json!(1), &json!(0)));
    let names: Vec<&Value> =
        report["extra_families"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["stop", "turns", "gone"]);
    let [stop, turns, gone] = [0, 1, 2].map(|at| &report["extra_outcomes"][at]);
    assert_eq!(stop["right_place"], stop["position"].is_null(), "{stop}");
    assert_eq!(
        turns["right_place"], false,
        "one thing was asked for, and {second} is none: {turns}"
    );
    assert_eq!(
        (&gone["right_object"], &gone["right_place"]),
        (&json!(false), &json!(true)),
        "{gone}"
    );
}

#[test]
fn what_cannot_be_judged_is_said_before_anything_is_done() {
    let temporary = tempfile::tempdir().unwrap();
    let own = temporary.path().join("own.jsonl");
    let home = home();
    let check = |task: Value, expect: &str| {
        fs::write(&own, format!("{task}\n")).unwrap();
        let flags = ["--home", home.to_str().unwrap(), "--tasks-file", own.to_str().unwrap()];
        let errors = refusal(&flags, temporary.path());
        assert!(errors.contains(expect), "{errors}");
    };
    check(
        json!({"family": "mine", "task": "bring me an ox", "objects": ["ox"]}),
        "own.jsonl:1: objects or then has \"ox\"; accepted is an id of household.json's objects",
    );
    check(
        json!({"family": "mine", "task": "bring me an ox", "objects": []}),
        "this one has 0 objects and 0 spots",
    );
    check(json!({"family": "mine", "objects": []}), "missing field `task`");
    let object = &lines("truth.jsonl")[0]["objects"][0]["id"];
    check(
        json!({"family": "mine", "task": "stop", "objects": [object], "nothing": true}),
        "a task with nothing to fetch has no objects, spots or then",
    );
    check(
        json!({"family": "mine", "task": "how many?", "objects": [object], "answers": ["3"]}),
        "answers are of a task with \"nothing\": true",
    );
    check(
        json!({"family": "mine", "task": "the mug, then the ox", "objects": [object], "then": ["ox"]}),
        "\"ox\"; accepted is an id of household.json's objects",
    );
    let flags = ["--home", home.to_str().unwrap(), "--captions", "model"];
    let errors = refusal(&flags, temporary.path());
    assert!(errors.contains("has no images; simulate it with --images"), "{errors}");
    let errors = refusal(&["--python", "/nowhere/python"], temporary.path());
    assert!(errors.contains("/nowhere/python cannot be started"), "{errors}");
}

/// Lines as `engram caption --json` prints them, with other words.
fn captions_file(dir: &Path, caption: impl Fn(&Value) -> Value) -> PathBuf {
    let lines: Vec<String> = lines("truth.jsonl")
        .iter()
        .map(|truth| {
            let file = format!("elsewhere/{}", truth["file"].as_str().unwrap());
            json!({"file": file, "caption": caption(truth), "confidence": 0.9}).to_string()
        })
        .collect();
    let path = dir.join("captions.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    path
}

#[test]
fn what_captions_of_a_file_lose_is_told_from_what_is_lost_with_true_ones() {
    let (temporary, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = home();
    let with = |captions: &str| {
        let flags = ["--home", home.to_str().unwrap(), "--captions", captions, "--json"];
        judged_json(&flags, temporary.path())
    };
    let oracle = with("oracle");
    let path = captions_file(own.path(), |_| json!("there is an empty table in the kitchen"));
    let blind = with(path.to_str().unwrap());
    let place = |report: &Value, at: usize| report["outcomes"][at]["right_place"] == true;
    let mut expect = BTreeMap::from([("last_sighting_not_named", 0), ("planner", 0)]);
    for (at, task) in lines("tasks.jsonl").iter().enumerate() {
        if place(&blind, at) {
            continue;
        }
        if !place(&oracle, at) {
            *expect.get_mut("planner").unwrap() += 1;
        } else if !task["objects"].as_array().unwrap().is_empty() {
            *expect.get_mut("last_sighting_not_named").unwrap() += 1;
        }
    }
    assert!(expect["last_sighting_not_named"] > 0);
    for (loss, count) in expect {
        assert_eq!(blind["losses"][loss], count, "{loss}: {}", blind["losses"]);
    }
    assert_eq!(blind["slips"]["right"], 0);
    assert_eq!(blind["captioner"], path.to_str().unwrap());
    assert_eq!(oracle["losses"]["planner"], oracle["losses"]["all"]);
}

#[test]
fn a_file_of_captions_has_one_of_each_frame() {
    let (temporary, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = home();
    let check = |path: &Path, expect: &str| {
        let captions = path.to_str().unwrap();
        let flags = ["--home", home.to_str().unwrap(), "--captions", captions];
        let errors = refusal(&flags, temporary.path());
        assert!(errors.contains(expect), "{errors}");
    };
    check(Path::new("/nowhere/captions.jsonl"), "/nowhere/captions.jsonl");
    let path = captions_file(own.path(), |_| Value::Null);
    check(&path, "has no caption of frames/000001.jpg");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.lines().skip(1).collect::<Vec<_>>().join("\n")).unwrap();
    check(&path, "has no line of frames/000001.jpg");
    fs::write(&path, [text.as_str(), text.as_str()].join("\n")).unwrap();
    check(&path, "has several lines of frames/000001.jpg");
}
