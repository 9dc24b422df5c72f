//! The client for Python that the binary writes out, against a daemon.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::running::{Running, engram, flat, wait_for};
use crate::schemas;
use crate::sdk::{self, root};

/// The red, green and blue of the script's picture, without what is no part of its array.
fn pixel(seed: u32, x: u32, y: u32) -> [u8; 3] {
    [y * seed, x * 3, x * seed + y].map(|level| u8::try_from(level % 256).unwrap())
}

/// Mean distance of a kept frame's levels from what the array held.
fn apart(daemon: &Running, record: &Value, expected: impl Fn(u32, u32) -> [u8; 3]) -> f64 {
    let arguments = json!({"record_ids": [record["id"]]});
    let shown = daemon.call("inspect_memory_record", arguments);
    let picture = image::load_from_memory(&shown.images[0].bytes).unwrap().into_rgb8();
    assert_eq!(picture.dimensions(), (160, 120));
    let distance = |(x, y, pixel): (u32, u32, &image::Rgb<u8>)| {
        let levels = pixel.0.into_iter().zip(expected(x, y));
        levels.map(|(a, b)| f64::from(a.abs_diff(b))).sum::<f64>()
    };
    picture.enumerate_pixels().map(distance).sum::<f64>() / (160.0 * 120.0 * 3.0)
}

#[test]
fn does_what_it_says() {
    let Some(sdk) = sdk::installed() else { return };
    let daemon = Running::start();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("engram.py");
    let written = engram(&daemon.socket(), &["client", "python", file.to_str().unwrap()]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let printed = engram(&daemon.socket(), &["client", "python"]);
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), fs::read_to_string(&file).unwrap());

    let frame = flat().remove(0)["image_path"].as_str().unwrap().to_owned();
    let mut command = Command::new(sdk.join("venv/bin/python"));
    command.arg("-B").arg(root().join("tests/sdk/python_client.py")).arg(dir.path());
    command.arg(daemon.socket()).arg(frame);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    wait_for(|| child.try_wait().unwrap().is_some());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the client failed");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    check(&daemon, &seen);
}

fn check(daemon: &Running, seen: &Value) {
    schemas::check("observe", &seen["caption"]);
    assert_eq!(seen["caption"]["state"], "stored");
    assert_eq!(seen["file"]["state"], "pending");
    for observed in seen["arrays"].as_array().unwrap() {
        assert_eq!(observed["state"], "pending", "{observed}");
    }
    let overrun = json!([{"reason": "overrun", "frames": 3}]);
    assert_eq!(seen["status"]["lost"], overrun);
    assert_eq!(seen["status"]["poses"]["located"], 1);

    let kept = |source: &str| {
        let records = seen["kept"].as_array().unwrap().iter();
        let mut records: Vec<&Value> = records.filter(|it| it["source"] == source).collect();
        records.sort_by_key(|record| record["id"].as_u64());
        records
    };
    let file = kept("file");
    assert_eq!((&file[0]["position"], &file[0]["theta"]), (&json!([3.0, 4.0, 0.0]), &Value::Null));
    assert_eq!(file[0]["time"], "2026-01-05 10:00:00");
    let arrays = kept("array");
    assert_eq!(arrays.len(), 5);
    assert_eq!(
        (&arrays[2]["position"], &arrays[2]["theta"]),
        (&json!([2.0, 0.0, 0.0]), &json!(1.0))
    );
    let grey = |level: u8| [level; 3];
    // JPEG's loss on such wild pictures, and no more.
    for (record, far) in [
        (arrays[0], apart(daemon, arrays[0], |x, y| pixel(2, x, y))),
        (arrays[1], apart(daemon, arrays[1], |x, y| grey(pixel(3, x, y)[0]))),
        (arrays[2], apart(daemon, arrays[2], |x, y| pixel(5, x, y))),
        (arrays[3], apart(daemon, arrays[3], |x, y| grey(pixel(11, x, y)[1]))),
        (arrays[4], apart(daemon, arrays[4], |x, y| pixel(13, x, y))),
    ] {
        assert!(far < 12.0, "{far}: {record}");
    }
    let tracked = &kept("tracked")[0];
    let x = tracked["position"][0].as_f64().unwrap();
    assert!((x - 10.5).abs() < 1e-6 && tracked["frame_id"] == "odom", "{tracked}");

    for recall in seen["recalls"].as_array().unwrap() {
        schemas::check("recall_all", recall);
        assert_eq!(recall["records"][0]["caption"], "a red mug on the kitchen table");
        assert_eq!(recall["session"], "python");
    }
    assert!(seen["nowhere"]["why_empty"].as_str().unwrap().contains("2026-02-01"));
    let answer = &seen["answer"];
    assert_eq!(
        (&answer["status"], &answer["goals"][0]["record_id"]),
        (&json!("dispatched"), &json!(1))
    );
    let event = &seen["event"];
    assert_eq!(
        (&event["target"], &event["goals"][0]["position"]),
        (&json!("the red mug"), &json!([1.0, 2.0, 0.0]))
    );
    for (name, expect) in [
        ("tool", "Refused: argument \"query\" is missing or empty"),
        ("unknown", "Refused: no tool \"recall_everything\""),
        ("pose", "ValueError: pose has 2 numbers, accepted are (x, y, theta)"),
        ("pixels", "ValueError: image is float64 of shape (4, 4, 3), accepted is uint8"),
        ("file", "Refused: argument \"image\": the image is neither JPEG nor PNG nor WebP"),
        ("nan", "ValueError: pose is (nan, 0, 0), accepted are finite"),
    ] {
        let text = seen["refused"][name].as_str().unwrap();
        assert!(text.starts_with(expect), "{text}");
    }
    assert_eq!((&seen["health"], &seen["reconnected"]), (&json!("degraded"), &json!("python")));
    assert!(seen["gone"].as_str().unwrap().starts_with("DaemonGone: no daemon at"));
}
