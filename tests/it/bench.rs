//! `engram bench recall` from its flags to its JSON, on a real daemon.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::rereading::with_the_shipped_reader;

fn bench_recall(arguments: &[&str], temporary: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    command.args(["bench", "recall"]).args(arguments).env("TMPDIR", temporary).output().unwrap()
}

#[test]
fn recall_is_measured_at_each_size_and_nothing_is_left_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let drawings = tempfile::tempdir().unwrap();
    let drawing = drawings.path().join("recall.svg");
    let flags = ["--records", "30,60", "--questions", "10", "--clients", "2", "--json"];
    let flags = [&flags[..], &["--plot", drawing.to_str().unwrap()]].concat();
    let output = bench_recall(&flags, temporary.path());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sizes = report["sizes"].as_array().unwrap();
    let records: Vec<u64> = sizes.iter().map(|it| it["records"].as_u64().unwrap()).collect();
    assert_eq!(records, [30, 60]);
    for size in sizes {
        let windows = size["windows"].as_array().unwrap();
        let shares: Vec<f64> = windows.iter().map(|it| it["share"].as_f64().unwrap()).collect();
        assert_eq!(shares, [1.0, 0.5, 0.1, 0.01]);
        let beside = [&size["busy"], &size["paced"], &size["inserting"]];
        let latencies = windows.iter().map(|it| &it["recall"]).chain(beside);
        for latency in latencies.chain([&size["together"]["recall"]]) {
            let at = |percentile: &str| latency[percentile].as_f64().unwrap();
            assert!(0.0 < at("p50_millis") && at("p50_millis") <= at("p99_millis"), "{latency}");
        }
        for figure in ["daemon_bytes", "worker_bytes", "disk_bytes", "index_bytes"] {
            assert!(size[figure].as_u64().unwrap() > 0, "{figure}: {size}");
        }
    }
    let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // Three percentiles, four windows, five kinds of other work, a point for each size.
    let drawn = fs::read_to_string(drawing).unwrap();
    assert_eq!(drawn.matches("class=\"curve\"").count(), 3 + 4 + 5, "{drawn}");
    assert_eq!(drawn.matches("<circle").count(), 2 * (3 + 4 + 5), "{drawn}");
    for name in ["2 clients", "captioner busy", "10 %", "p95"] {
        assert!(drawn.contains(&format!(">{name}</text>")), "{name}: {drawn}");
    }
}

#[test]
fn a_drawing_that_cannot_be_written_is_refused_before_anything_is_filled() {
    let temporary = tempfile::tempdir().unwrap();
    let inside = |name: &str| temporary.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(inside("dir.svg")).unwrap();
    for (path, why) in [
        (inside("recall.png"), "accepted is the name of a file that ends in .svg"),
        (inside("nowhere/recall.svg"), "No such file or directory"),
        (inside("dir.svg"), "is a directory"),
    ] {
        let stores = inside("stores");
        let flags = ["--records", "30", "--questions", "10", "--stores", &stores, "--plot", &path];
        let output = bench_recall(&flags, temporary.path());
        assert_eq!(output.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(&path) && errors.contains(why), "{errors}");
        assert!(!Path::new(&stores).exists(), "nothing is filled for {path}");
    }
}

#[test]
fn a_kept_store_is_measured_and_not_filled_again() {
    let temporary = tempfile::tempdir().unwrap();
    let stores = temporary.path().join("stores");
    let flags =
        ["--records", "30", "--questions", "10", "--json", "--stores", stores.to_str().unwrap()];
    for is_kept in [false, true] {
        let output = bench_recall(&flags, temporary.path());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["sizes"][0]["fill_seconds"].is_null(), is_kept);
        let kept: Vec<_> = fs::read_dir(&stores).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(kept, [stores.join("household-30")]);
    }
    let state = temporary.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::rename(stores.join("household-30"), state.join("s")).unwrap();
    let left = with_the_shipped_reader(&state).captions_to_reread();
    assert_eq!(left, 0, "nothing is read again beside the questions");
}

#[test]
fn too_few_captions_are_refused_before_anything_is_filled() {
    let temporary = tempfile::tempdir().unwrap();
    let captions = temporary.path().join("captions");
    fs::write(&captions, "a red mug on a table\n").unwrap();
    let flags = ["--captions", captions.to_str().unwrap(), "--records", "2"];
    let output = bench_recall(&flags, temporary.path());
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("--captions has 1 lines; --records asks for 2"), "{errors}");
}
