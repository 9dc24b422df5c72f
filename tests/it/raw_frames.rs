//! Frames handed in as pixels, in the encodings of ROS.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::running::{Running, flat, wait_for};

/// The first frame of the demonstration as its file, and as a ROS driver has it: blue first, rows
/// with padding.
fn frame() -> (image::RgbImage, Value) {
    let file = flat().remove(0)["image_path"].as_str().unwrap().to_owned();
    let picture = image::load_from_memory(&fs::read(file).unwrap()).unwrap().into_rgb8();
    let mut data = Vec::new();
    for row in picture.rows() {
        data.extend(row.flat_map(|pixel| pixel.0.into_iter().rev()));
        data.extend([0xAA; 12]);
    }
    let (width, height) = picture.dimensions();
    let raw = json!({"image": STANDARD.encode(data), "encoding": "bgr8", "width": width,
        "height": height, "step": 3 * width + 12, "time": "2025-01-02 10:00:00"});
    (picture, raw)
}

fn with(mut arguments: Value, name: &str, value: Value) -> Value {
    arguments[name] = value;
    arguments
}

#[test]
fn pixels_are_captioned_and_kept_as_a_jpeg() {
    let daemon = Running::start();
    let (picture, raw) = frame();
    assert_eq!(daemon.ask("observe", raw)["state"], "pending");
    wait_for(|| daemon.ask("ingest_status", json!({}))["captioned"] == 1);
    let arguments = json!({"record_ids": [1]});
    let shown =
        daemon.client().call("inspect_memory_record", arguments.as_object().unwrap().clone());
    let shown = shown.unwrap();
    let file = shown.images[0].bytes.clone();
    assert_eq!(image::guess_format(&file).unwrap(), image::ImageFormat::Jpeg);
    let kept = image::load_from_memory(&file).unwrap().into_rgb8();
    assert_eq!(kept.dimensions(), picture.dimensions());
    let apart = kept.as_raw().iter().zip(picture.as_raw()).map(|(a, b)| u64::from(a.abs_diff(*b)));
    assert!(apart.sum::<u64>() < 2 * picture.as_raw().len() as u64);
}

#[test]
fn refusals_name_the_fields_of_sensor_msgs_and_count_the_frame() {
    let daemon = Running::start();
    let (_, raw) = frame();
    let check = |arguments: Value, expect: &[&str]| {
        let reply = daemon.call("observe", arguments);
        assert!(reply.is_error, "{}", reply.text);
        assert!(expect.iter().all(|it| reply.text.contains(it)), "{}", reply.text);
    };
    check(
        with(raw.clone(), "encoding", json!("32FC1")),
        &["encoding is \"32FC1\"", "depth", "rgb8"],
    );
    check(with(raw.clone(), "step", json!(5)), &["step is 5", "at least"]);
    check(with(raw.clone(), "height", json!(7)), &["\"image\": data has", "7 rows"]);
    check(with(raw.clone(), "encoding", json!(null)), &["\"width\"", "\"encoding\" only"]);
    check(with(raw.clone(), "width", json!(null)), &["without \"width\" and \"height\""]);
    check(with(raw, "width", json!(0)), &["\"width\" is 0", "from 1 to 65535"]);
    check(json!({"caption": "a mug", "encoding": "rgb8"}), &["without an image"]);
    let status = daemon.ask("ingest_status", json!({}));
    assert_eq!(status["lost"], json!([{"reason": "broken_image", "frames": 3}]));
}
