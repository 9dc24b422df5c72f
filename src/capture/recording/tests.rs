//! Recordings that others wrote (`tests/fixtures/make_recordings.py`), whole and broken.

use super::messages::ImageContent;
use super::source::{Unusable, encode};
use super::*;
use crate::base::picture::{self, ImageLimits};
use crate::capture::{FrameFaults, FrameSource as _, SourceFrame};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

const START: f64 = 1_735_894_800.0;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recordings").join(name)
}

fn open(path: &Path, options: &Options) -> (RecordingSource, FrameFaults) {
    RecordingSource::open(path, options, ImageLimits::default()).unwrap()
}

fn all(source: &mut RecordingSource) -> Vec<Result<SourceFrame, FrameFault>> {
    std::iter::from_fn(|| source.next_frame()).collect()
}

/// All frames of a recording without a fault, and what is said of them.
fn frames(path: &Path, options: &Options) -> (Vec<SourceFrame>, Vec<String>) {
    let (mut source, faults) = open(path, options);
    assert_eq!(faults.total(), 0, "{faults:?}");
    let frames = all(&mut source).into_iter().map(Result::unwrap).collect();
    (frames, source.notes())
}

fn refusal(path: &Path, options: &Options) -> String {
    RecordingSource::open(path, options, ImageLimits::default()).unwrap_err().to_string()
}

/// Red of the middle of a frame, which grows by 20 from image to image.
fn red(frame: &SourceFrame) -> u8 {
    let picture = picture::decode(&frame.image, ImageLimits::default()).unwrap();
    assert_eq!(picture.dimensions(), (16, 12));
    let pixel = picture.get_pixel(8, 6).0;
    assert!(pixel[1].abs_diff(128) < 12 && pixel[2].abs_diff(120) < 12, "{pixel:?}");
    pixel[0]
}

fn check_nine(frames: &[SourceFrame], source: &str) {
    let times: Vec<f64> = frames
        .iter()
        .filter(|it| it.meta.source == source)
        .map(|it| (it.meta.taken_at.seconds() - START) * 100.0)
        .map(f64::round)
        .collect();
    assert_eq!(times, [-50.0, 10.0, 77.0, 150.0, 225.0, 300.0, 490.0, 530.0, 580.0]);
    for (number, frame) in (0_u8..).zip(frames.iter().filter(|it| it.meta.source == source)) {
        assert!(red(frame).abs_diff(20 * number) < 12, "{number}: {}", red(frame));
    }
}

#[test]
fn packed_images_are_taken_by_what_they_are_whatever_their_format_says() {
    let file = fs::read(fixture("../exif/offset.webp")).unwrap();
    let encode = |format: &str, data: &[u8]| {
        let (format, data) = (format.to_owned(), Cow::Owned(data.to_vec()));
        encode(ImageContent::Compressed { format, data }, ImageLimits::default())
    };
    for format in ["webp", "rgb8; webp compressed", "jpeg"] {
        assert!(encode(format, &file).is_ok_and(|it| it == file), "{format}");
    }
    let Err(Unusable::Bad(refused)) = encode("gif", b"GIF89a") else { panic!("a GIF is taken") };
    assert_eq!(refused, "format is \"gif\", accepted are JPEG, PNG and WebP");
}

#[test]
fn images_come_with_what_tf2_says_of_their_camera() {
    let options = Options { map_id: "flat".to_owned(), ..Options::default() };
    for name in ["drive.mcap", "drive-lz4.mcap", "no-index.mcap"] {
        let (frames, notes) = frames(&fixture(name), &options);
        assert_eq!(frames.len(), 9, "{name}");
        let source =
            if name == "drive.mcap" { "/camera/image_raw/compressed" } else { "/camera/image_raw" };
        check_nine(&frames, source);
        check_poses(&frames);
        assert_eq!(notes[0], "6 poses: the camera's in \"map\", by tf");
        assert!(notes[1].starts_with("3 frames without a pose, the first "), "{notes:?}");
        assert!(notes[1].contains("1735894799.500000000: tf has"), "{notes:?}");
        assert_eq!(notes[2], "/camera/depth: 9 images are depth (16UC1) and no pictures");
    }
}

fn check_drive(name: &str, options: &Options) {
    let (frames, notes) = frames(&fixture(name), options);
    assert_eq!(frames.len(), 9, "{name}");
    check_nine(&frames, "/camera/image_raw");
    check_poses(&frames);
    assert_eq!(notes[0], "6 poses: the camera's in \"map\", by tf");
    assert_eq!(notes[2], "/camera/depth: 9 images are depth (16UC1) and no pictures");
}

fn check_counts(name: &str, options: &Options) {
    let listed = list(&fixture(name), options).unwrap();
    let counts: Vec<Option<u64>> = listed.topics.iter().map(|it| it.topic.count).collect();
    assert_eq!(counts, [Some(9), Some(9), Some(32), Some(1)]);
}

#[test]
fn bags_in_sqlite_and_those_of_rosbags_hold_the_same() {
    let options = Options { map_id: "flat".to_owned(), ..Options::default() };
    for name in ["drive.db3", "drive-zstd.db3", "drive-rosbags.mcap"] {
        check_drive(name, &options);
    }
    check_counts("drive.db3", &options);
}

#[test]
fn bags_of_ros_1_hold_the_same_however_packed() {
    let options = Options { map_id: "flat".to_owned(), ..Options::default() };
    for name in ["drive.bag", "drive-lz4.bag", "drive-bz2.bag"] {
        check_drive(name, &options);
        check_counts(name, &options);
    }
}

#[test]
fn a_bag_of_ros_1_that_was_cut_or_damaged_gives_the_rest_and_a_fault() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("drive.bag");
    for name in ["drive.bag", "drive-lz4.bag", "drive-bz2.bag"] {
        let whole = fs::read(fixture(name)).unwrap();
        let mut counts = BTreeSet::new();
        for length in (4_200..whole.len()).step_by(997) {
            fs::write(&path, &whole[..length]).unwrap();
            let limits = ImageLimits::default();
            let Ok((mut source, faults)) =
                RecordingSource::open(&path, &Options::default(), limits)
            else {
                continue;
            };
            let found = all(&mut source);
            assert!(found.iter().all(Result::is_ok), "{name} cut to {length}: {found:?}");
            assert_eq!(faults.total(), 1, "{name} cut to {length}: {faults:?}");
            let fault = faults.first()[0].to_string();
            assert!(fault.contains("in the middle of a record"), "{fault}");
            counts.insert(found.len());
        }
        // Without the index that ends it, too.
        assert!(counts.len() > 2 && counts.contains(&9), "{name}: {counts:?}");
    }
    // Of one chunk the packed bytes; the others come.
    for (name, magic) in
        [("drive-lz4.bag", &[0x04, 0x22, 0x4d, 0x18][..]), ("drive-bz2.bag", b"BZh9")]
    {
        let mut damaged = fs::read(fixture(name)).unwrap();
        let chunk = damaged.windows(4).position(|it| it == magic).unwrap();
        damaged[chunk + 40..chunk + 60].fill(0xa5);
        fs::write(&path, &damaged).unwrap();
        let (mut source, _) = open(&path, &Options::default());
        let found = all(&mut source);
        let (frames, faults): (Vec<_>, Vec<_>) = found.into_iter().partition(Result::is_ok);
        assert!(frames.len() > 3 && frames.len() < 9, "{name}: {}", frames.len());
        let reason = &faults[0].as_ref().unwrap_err().reason;
        assert!(reason.contains("a chunk"), "{name}: {reason}");
    }
    // As only others' programs pack.
    let mut foreign = fs::read(fixture("drive-bz2.bag")).unwrap();
    for at in 0..foreign.len() - 4 {
        if foreign[at..].starts_with(b"=bz2") {
            foreign[at + 3] = b'9';
        }
    }
    fs::write(&path, &foreign).unwrap();
    let refused = refusal(&path, &Options::default());
    assert!(refused.contains("by \"bz9\", accepted are lz4, bz2 and none"), "{refused}");
    fs::write(&path, b"#ROSBAG V1.2\n and more of it").unwrap();
    let refused = refusal(&path, &Options::default());
    assert!(refused.contains("a bag of \"#ROSBAG V1.2\""), "{refused}");
}

#[test]
fn a_damaged_bag_gives_what_comes_before_and_a_fault() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read(fixture("drive.db3")).unwrap();
    let path = dir.path().join("bag.db3");
    // Pages of messages and of the index over their times.
    for page in 1..whole.len() / 4096 {
        let mut damaged = whole.clone();
        damaged[page * 4096..][..64].fill(0xa5);
        fs::write(&path, &damaged).unwrap();
        let Ok((mut source, _)) =
            RecordingSource::open(&path, &Options::default(), ImageLimits::default())
        else {
            continue;
        };
        let found = all(&mut source);
        let (frames, faults): (Vec<_>, Vec<_>) = found.into_iter().partition(Result::is_ok);
        assert!(frames.len() == 9 || !faults.is_empty() || source.notes().len() > 3, "page {page}");
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    if let Ok((mut source, faults)) =
        RecordingSource::open(&path, &Options::default(), ImageLimits::default())
    {
        let found = all(&mut source);
        assert!(faults.total() > 0 || found.iter().any(Result::is_err), "{found:?}");
    }
    fs::write(&path, b"SQLite format 3\0 and no more").unwrap();
    assert!(refusal(&path, &Options::default()).contains("the recording cannot be read"));
}

#[test]
fn foxglove_s_messages_are_read_as_those_of_ros() {
    let options = Options { map_id: "flat".to_owned(), ..Options::default() };
    for name in ["foxglove.mcap", "foxglove-json.mcap"] {
        let (found, notes) = frames(&fixture(name), &options);
        assert_eq!(found.len(), 9, "{name}");
        check_nine(&found, "/camera/image_raw/compressed");
        check_poses(&found);
        assert_eq!(notes[0], "6 poses: the camera's in \"map\", by tf");
    }
    let raw = Options { images: vec!["/camera/image_raw".to_owned()], ..options };
    let (found, _) = frames(&fixture("foxglove.mcap"), &raw);
    check_nine(&found, "/camera/image_raw");
}

/// The answers of tf2's own buffer; where it refuses, there is no pose.
fn check_poses(frames: &[SourceFrame]) {
    let answers = fs::read_to_string(fixture("poses.json")).unwrap();
    let answers: Vec<Value> = serde_json::from_str(&answers).unwrap();
    for (frame, answer) in frames.iter().zip(&answers) {
        assert_eq!((frame.meta.frame_id.as_str(), frame.meta.map_id.as_str()), ("map", "flat"));
        let Some(expect) = answer["translation"].as_array() else {
            assert_eq!(answer["refused"], "ExtrapolationException");
            assert_eq!(frame.meta.pose, None);
            continue;
        };
        let pose = frame.meta.pose.unwrap();
        for (found, expect) in pose.position.iter().zip(expect) {
            assert!((found - expect.as_f64().unwrap()).abs() < 1e-6, "{pose:?} {answer}");
        }
        // The direction of the optical frame's z axis, by the rotation's third column.
        let turn = answer["rotation"].as_array().unwrap();
        let [x, y, z, w] = [0, 1, 2, 3].map(|part| turn[part].as_f64().unwrap());
        let heading = (2.0 * (y * z - w * x)).atan2(2.0 * (x * z + w * y));
        assert!((pose.heading.unwrap() - heading).abs() < 1e-6, "{pose:?} {heading}");
    }
}

#[test]
fn topics_may_be_named_and_a_camera_be_given_a_name() {
    let options = Options {
        images: vec!["/camera/image_raw".to_owned()],
        pose: Some("/odom".to_owned()),
        source: Some("front".to_owned()),
        ..Options::default()
    };
    let (frames, notes) = frames(&fixture("drive.mcap"), &options);
    check_nine(&frames, "front");
    let pose = frames[3].meta.pose.unwrap();
    // On the circle of 2 m, 0.6 rad from its start.
    let expect = [2.0 * 0.6_f64.sin(), 2.0 - 2.0 * 0.6_f64.cos()];
    assert!((pose.position[0] - expect[0]).abs() < 1e-9, "{pose:?}");
    assert!((pose.position[1] - expect[1]).abs() < 1e-9, "{pose:?}");
    assert!((pose.heading.unwrap() - 0.6).abs() < 1e-9, "{pose:?}");
    assert_eq!(frames[3].meta.frame_id, "odom");
    assert_eq!(notes[0], "6 poses: the robot's, by /odom");
}

#[test]
fn names_of_topics_that_are_not_there_say_which_are() {
    let path = fixture("drive.mcap");
    let images = vec!["/camera/image".to_owned()];
    let error = refusal(&path, &Options { images, ..Options::default() });
    assert!(error.contains("\"/camera/image\"") && error.contains("/camera/image_raw/compressed"));
    let pose = Some("/pose".to_owned());
    let error = refusal(&path, &Options { pose, ..Options::default() });
    assert!(error.contains("accepted are /odom, /tf, /tf_static"), "{error}");
}

#[test]
fn without_tf_odometry_says_where_the_robot_was() {
    let (frames, notes) = frames(&fixture("no-chunks.mcap"), &Options::default());
    check_nine(&frames, "/camera/image_raw/compressed");
    assert_eq!(notes[0], "6 poses: the robot's, by /odom");
}

#[test]
fn a_map_that_tf_does_not_know_is_no_map() {
    let options = Options { map_frame: "house".to_owned(), ..Options::default() };
    let (frames, notes) = frames(&fixture("drive-lz4.mcap"), &options);
    assert!(frames.iter().all(|it| it.meta.pose.is_none()));
    assert!(notes[0].contains("9 frames without a pose"), "{notes:?}");
    assert!(notes[0].ends_with("tf names no frame \"house\""), "{notes:?}");
}

#[test]
fn a_second_run_takes_only_what_is_newer() {
    let (mut source, _) = open(&fixture("drive.mcap"), &Options::default());
    let at = Timestamp::from_seconds(START + 2.25).unwrap();
    let camera = "/camera/image_raw/compressed".to_owned();
    source.skip_known(&BTreeMap::from([(camera, at), ("other".to_owned(), Timestamp::LATEST)]));
    let frames = all(&mut source);
    assert_eq!((frames.len(), source.known()), (4, 5));
    assert!(red(frames[0].as_ref().unwrap()).abs_diff(100) < 12);
}

#[test]
fn stamps_of_a_simulation_are_refused_or_shifted_as_told() {
    let path = fixture("simulated.mcap");
    let error = refusal(&path, &Options::default());
    assert!(error.contains("the first is 0.500000000 s"), "{error}");
    assert!(error.contains("--start TIME") && error.contains("--time-offset"), "{error}");
    let first = Timestamp::from_seconds(START - 0.5).unwrap();
    let offset = 1_735_894_799_000_000;
    for clock in [RecordingClock::Start(first), RecordingClock::Offset(offset)] {
        let (frames, notes) = frames(&path, &Options { clock, ..Options::default() });
        check_nine(&frames, "/camera/image_raw/compressed");
        assert!(
            notes.contains(&"1735894799 s were added to each stamp, as was asked for".to_owned())
        );
    }
    let error = refusal(
        &path,
        &Options { clock: RecordingClock::Offset(-1_000_000), ..Options::default() },
    );
    assert!(error.contains("1970"), "{error}");
}

#[test]
fn what_a_recording_holds_is_listed() {
    let contents = list(&fixture("drive.mcap"), &Options::default()).unwrap();
    let topics: Vec<(&str, Option<u64>, bool)> = contents
        .topics
        .iter()
        .map(|it| (it.topic.name.as_str(), it.topic.count, it.is_taken))
        .collect();
    let expect = [
        ("/camera/depth", Some(9), false),
        ("/camera/image_raw", Some(9), false),
        ("/camera/image_raw/compressed", Some(9), true),
        ("/odom", Some(11), false),
        ("/tf", Some(32), true),
        ("/tf_static", Some(1), true),
    ];
    assert_eq!(topics, expect);
    let sample = contents.topics[1].sample.as_ref().unwrap().as_ref().unwrap();
    assert_eq!((sample.size, sample.encoding.as_str()), (Some((16, 12)), "bgr8"));
    assert_eq!(sample.frame_id, "camera_optical");
}

#[test]
fn files_of_one_recording_are_read_as_one_in_the_order_of_their_numbers() {
    let dir = tempfile::tempdir().unwrap();
    for (file, number) in [("drive.mcap", 2), ("no-chunks.mcap", 10)] {
        fs::copy(fixture(file), dir.path().join(format!("bag_{number}.mcap"))).unwrap();
    }
    fs::write(dir.path().join("metadata.yaml"), "").unwrap();
    fs::write(dir.path().join("notes.mcap"), "no recording").unwrap();
    assert!(is_recording(dir.path()));
    let names: Vec<String> = files_in(dir.path())
        .iter()
        .map(|it| it.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["bag_2.mcap", "bag_10.mcap"]);
    let (mut source, _) = open(dir.path(), &Options::default());
    let (taken, again): (Vec<_>, Vec<_>) = all(&mut source).into_iter().partition(Result::is_ok);
    assert_eq!((taken.len(), again.len()), (9, 9));
    assert!(again[0].as_ref().unwrap_err().reason.contains("not later"));
}

#[test]
fn what_is_no_recording_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("film.mp4");
    fs::write(&path, "ftypisom").unwrap();
    assert!(refusal(&path, &Options::default()).contains("accepted are MCAP files"));
    assert!(!is_recording(&path) && !is_recording(dir.path()));
    let error = refusal(&dir.path().join("absent.mcap"), &Options::default());
    assert!(error.contains("cannot be read"), "{error}");
}

/// A recorder that was switched off leaves its last record and its index out.
#[test]
fn a_recording_that_was_cut_is_read_to_its_last_whole_chunk() {
    let whole = fs::read(fixture("drive.mcap")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.mcap");
    let mut last = 0;
    for end in (9..whole.len()).step_by(601) {
        fs::write(&path, &whole[..end]).unwrap();
        let Ok((mut source, faults)) =
            RecordingSource::open(&path, &Options::default(), ImageLimits::default())
        else {
            assert!(end < 4_000, "{end}");
            continue;
        };
        let found = all(&mut source);
        assert!(found.iter().all(Result::is_ok), "{end}: {found:?}");
        assert!(found.len() >= last, "{end}: {}", found.len());
        last = found.len();
        let is_said = faults.first().iter().any(|it| it.reason.contains("ends"));
        // Behind that lies the index only.
        assert!(is_said || end > 13_500, "{end}: {faults:?}");
    }
    assert_eq!(last, 9);
}

#[test]
fn a_damaged_chunk_is_reported_and_the_others_are_read() {
    let mut bytes = fs::read(fixture("drive.mcap")).unwrap();
    let (mut source, _) = open(&fixture("drive.mcap"), &Options::default());
    all(&mut source);
    let file = mcap::McapFile::open(&fixture("drive.mcap"), String::new()).unwrap();
    let (offset, length) = file.chunk(2);
    // A byte of the packed messages, behind the chunk's own header.
    bytes[offset + length / 2] ^= 0x10;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("damaged.mcap");
    fs::write(&path, &bytes).unwrap();
    let (mut source, faults) = open(&path, &Options::default());
    assert_eq!(faults.total(), 0);
    let found = all(&mut source);
    let (frames, bad): (Vec<_>, Vec<_>) = found.into_iter().partition(Result::is_ok);
    assert_eq!(bad.len(), 1, "{bad:?}");
    let fault = bad[0].as_ref().unwrap_err().to_string();
    assert!(fault.starts_with(&format!("damaged.mcap, byte {offset}: a chunk")), "{fault}");
    assert!((5..9).contains(&frames.len()), "{}", frames.len());
}

#[test]
fn a_stamp_of_the_future_hides_no_later_image() {
    // Nothing is packed in it.
    let mut bytes = fs::read(fixture("no-chunks.mcap")).unwrap();
    let path = fixture("no-chunks.mcap");
    let (mut source, _) = open(&path, &Options::default());
    let whole = all(&mut source).len();
    let channel = {
        let file = mcap::McapFile::open(&path, String::new()).unwrap();
        file.channel_of(|topic| topic.kind().is_some_and(Kind::is_image))
    };
    // The second image's: behind opcode, length, channel, number, two times, and CDR's head.
    let (mut at, mut images, mut stamp) = (8, 0, None);
    while let Some((op, body, length)) = mcap_records::first_record(&bytes[at..]) {
        if op == mcap_records::Op::Message && body[..2] == channel.to_le_bytes() {
            images += 1;
            if images == 2 {
                stamp = Some(at + 9 + 2 + 4 + 8 + 8 + 4);
            }
        }
        at += length;
    }
    let stamp = stamp.unwrap();
    let seconds = u32::from_le_bytes(bytes[stamp..stamp + 4].try_into().unwrap());
    assert!(f64::from(seconds) - START < 60.0, "{seconds}");
    bytes[stamp..stamp + 4].copy_from_slice(&(seconds + 10 * 86_400).to_le_bytes());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ahead.mcap");
    fs::write(&path, &bytes).unwrap();
    let (mut source, _) = open(&path, &Options::default());
    let (frames, bad): (Vec<_>, Vec<_>) = all(&mut source).into_iter().partition(Result::is_ok);
    assert_eq!((frames.len(), bad.len()), (whole - 1, 1), "{bad:?}");
    let fault = bad[0].as_ref().unwrap_err().to_string();
    assert!(fault.contains("more than a day later than its recording"), "{fault}");
}

#[test]
fn of_a_split_recording_only_what_is_read_is_open() {
    for (name, ending) in [("drive.mcap", "mcap"), ("drive.db3", "db3")] {
        let dir = tempfile::tempdir().unwrap();
        for part in 0..24 {
            let to = dir.path().join(format!("drive_{part}.{ending}"));
            fs::copy(fixture(name), to).unwrap();
        }
        let count_open = || {
            let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
            let names = open.filter_map(|it| fs::read_link(it.path()).ok());
            names.filter(|it| it.starts_with(dir.path())).count()
        };
        let (mut source, _) = open(dir.path(), &Options::default());
        let mut most = count_open();
        while source.next_frame().is_some() {
            most = most.max(count_open());
        }
        // One for the images, one for the poses.
        assert!((1..=2).contains(&most), "{name}: {most} files are open");
    }
}

#[test]
fn no_byte_of_a_file_makes_a_panic_or_takes_much_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("broken.mcap");
    for name in ["no-index.mcap", "drive-lz4.mcap"] {
        let whole = fs::read(fixture(name)).unwrap();
        for at in (0..whole.len()).step_by(41) {
            for value in [0xFF, whole[at] ^ 1] {
                let mut broken = whole.clone();
                broken[at] = value;
                fs::write(&path, &broken).unwrap();
                let opened =
                    RecordingSource::open(&path, &Options::default(), ImageLimits::default());
                if let Ok((mut source, _)) = opened {
                    drop(all(&mut source));
                }
            }
        }
    }
}

/// The gate: a `TurtleBot` of evo, whose file is evo's, not ours. `make_recordings.py --evo` says where
/// it comes from and asks tf2.
#[test]
fn the_turtlebot_s_camera_is_where_tf2_says() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/evo");
    let Ok(answers) = fs::read_to_string(dir.join("nav2_turtlebot.tf2.json")) else {
        println!("SKIPPED: no target/evo; see tests/fixtures/make_recordings.py --evo");
        return;
    };
    let answers: Vec<Value> = serde_json::from_str(&answers).unwrap();
    let recording = Recording::open(&dir.join("nav2_turtlebot.mcap")).unwrap();
    let mut buffer = tf::TransformBuffer::default();
    for message in recording.read(&|topic| topic.kind() == Some(Kind::Transforms)) {
        let message = message.unwrap();
        for transform in decode::transforms(&message).unwrap() {
            buffer.insert(&transform, message.topic.is_static()).unwrap();
        }
    }
    let (mut agreed, mut refused, mut farthest) = (0, 0, 0.0_f64);
    for answer in &answers {
        let stamp = Stamp(answer["stamp"].as_i64().unwrap());
        let found = buffer.lookup("map", answer["frame"].as_str().unwrap(), stamp);
        let Some(expect) = answer["translation"].as_array() else {
            assert!(found.is_err(), "{answer}");
            refused += 1;
            continue;
        };
        let found = found.unwrap();
        for (found, expect) in found.translation.iter().zip(expect) {
            farthest = farthest.max((found - expect.as_f64().unwrap()).abs());
        }
        agreed += 1;
    }
    println!("{agreed} stamps agree within {farthest:e} m, {refused} are refused by both");
    assert!(farthest < 1e-6 && agreed > 5_000, "{farthest}");
}
