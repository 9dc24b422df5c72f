//! Data sets laid out as `EuRoC`'s: `mav0/cam0/data.csv` with the images beside it, and the pose of
//! the body in `mav0/state_groundtruth_estimate0/data.csv`.
//!
//! Of the cameras the first. Its pose is the body's by the ground truth, interpolated, and
//! `T_BS` of `cam0/sensor.yaml`, which says where the camera is on the body.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base::frame::FrameMeta;
use crate::base::pose::{Pose, heading_of_optical_frame};
use crate::base::time::Timestamp;
use crate::capture::recording::messages::Transform;
use crate::capture::recording::tf::{interpolate, product};
use crate::capture::{AnnouncedFrame, CaptureError, Defaults, FrameFault, FrameFaults};

const FRAMES: &str = "cam0/data.csv";
const POSES: &str = "state_groundtruth_estimate0/data.csv";
/// Longest file of lines that is read.
const BYTES_MAX: u64 = 256 << 20;
/// Nanoseconds between two poses that are interpolated between: the ground truth has 200 a second.
const GAP_MAX: i64 = 100_000_000;

/// Directory of the sensors in `dir`, where it is laid out so.
pub(super) fn find(dir: &Path) -> Option<PathBuf> {
    [dir.join("mav0"), dir.to_owned()].into_iter().find(|it| it.join(FRAMES).is_file())
}

/// Frames of the data set with the sensors in `sensors`, which is within `root`.
pub(super) fn list(
    root: &Path,
    sensors: &Path,
    defaults: &Defaults,
) -> Result<(Vec<AnnouncedFrame>, FrameFaults, Vec<String>), CaptureError> {
    let mut faults = FrameFaults::default();
    let images = rows(&sensors.join(FRAMES), &mut faults)?;
    let poses_path = sensors.join(POSES);
    let mut poses: Vec<(i64, Transform)> = Vec::new();
    if poses_path.is_file() {
        let rows = rows(&poses_path, &mut faults)?;
        poses.extend(rows.iter().filter_map(|row| pose(row)));
        poses.sort_by_key(|(stamp, _)| *stamp);
    }
    let on_body = camera_on_body(&sensors.join("cam0/sensor.yaml"));
    let prefix = sensors.strip_prefix(root).unwrap_or_else(|_| Path::new("")).join("cam0/data");
    let mut frames = Vec::new();
    let mut located = 0;
    for row in &images {
        let Defaults { zone: _, source, frame_id, map_id } = defaults.clone();
        let stamp = row.first().and_then(|text| text.parse::<i64>().ok());
        let taken_at = stamp.and_then(|stamp| Timestamp::from_micros(stamp / 1_000));
        let (Some(stamp), Some(taken_at), Some(file)) = (stamp, taken_at, row.get(1)) else {
            let reason = format!("{:?} is no line `timestamp [ns],filename`", row.join(","));
            faults.push(FrameFault { place: FRAMES.to_owned(), reason });
            continue;
        };
        let pose = pose_at(&poses, stamp).and_then(|body| {
            let camera = product(body, on_body?);
            Pose::new(camera.translation, heading_of_optical_frame(camera.rotation)).ok()
        });
        located += usize::from(pose.is_some());
        let meta = FrameMeta { taken_at, pose, frame_id, map_id, source };
        let file = prefix.join(file).to_string_lossy().into_owned();
        frames.push(AnnouncedFrame { file, meta, caption: None });
    }
    let mut notes = vec![format!("{located} of {} frames have a pose: the camera's", frames.len())];
    if on_body.is_none() && !poses.is_empty() {
        notes.push("cam0/sensor.yaml does not say where the camera is on the body".to_owned());
    }
    Ok((frames, faults, notes))
}

/// Columns of each line that is no comment.
fn rows(path: &Path, faults: &mut FrameFaults) -> Result<Vec<Vec<String>>, CaptureError> {
    let unreadable = |reason: String| CaptureError::Unreadable { path: path.to_owned(), reason };
    let size = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if size > BYTES_MAX {
        return Err(CaptureError::SidecarTooLarge { path: path.to_owned(), max: BYTES_MAX });
    }
    let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
    let rows: Vec<Vec<String>> =
        lines.map(|line| line.split(',').map(|it| it.trim().to_owned()).collect()).collect();
    if rows.is_empty() {
        let place = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        faults.push(FrameFault { place, reason: "it has no lines".to_owned() });
    }
    Ok(rows)
}

/// `timestamp [ns], x, y, z [m], qw, qx, qy, qz, …`, of the body in the world.
fn pose(row: &[String]) -> Option<(i64, Transform)> {
    let (stamp, rest) = row.split_first()?;
    let numbers: Option<Vec<f64>> = rest.iter().take(7).map(|it| it.parse().ok()).collect();
    let [x, y, z, qw, qx, qy, qz] = *numbers?.as_slice() else { return None };
    let transform = Transform { translation: [x, y, z], rotation: [qx, qy, qz, qw] };
    Some((stamp.parse().ok()?, transform))
}

fn pose_at(poses: &[(i64, Transform)], stamp: i64) -> Option<Transform> {
    let at = poses.partition_point(|(it, _)| *it < stamp);
    let (end, later) = poses.get(at)?;
    if *end == stamp {
        return Some(*later);
    }
    let (start, earlier) = poses.get(at.checked_sub(1)?)?;
    // Stamps are whatever the file says, at both ends of what a number holds.
    let span = end.checked_sub(*start).filter(|span| *span <= GAP_MAX)?;
    #[expect(clippy::cast_precision_loss, reason = "a ratio of nanoseconds")]
    let ratio = (stamp - start) as f64 / span as f64;
    Some(interpolate(earlier, later, ratio))
}

/// `T_BS` of a `sensor.yaml`: the sixteen numbers of `data`, row by row.
#[expect(clippy::many_single_char_names, reason = "the elements of a matrix, by rows")]
fn camera_on_body(path: &Path) -> Option<Transform> {
    let text = fs::read_to_string(path).ok()?;
    let matrix = text.split_once("T_BS")?.1.split_once("data")?.1.split_once('[')?.1;
    let numbers = matrix.split_once(']')?.0.split(',');
    let numbers: Option<Vec<f64>> = numbers.map(|it| it.trim().parse().ok()).collect();
    let [a, b, c, x, d, e, f, y, g, h, i, z, ..] = *numbers?.as_slice() else { return None };
    let rotation = quaternion([[a, b, c], [d, e, f], [g, h, i]]);
    Some(Transform { translation: [x, y, z], rotation })
}

/// Unit quaternion (x, y, z, w) of a rotation matrix, by its largest part (Shepperd).
#[expect(clippy::many_single_char_names, reason = "the elements of a matrix, by rows")]
pub(super) fn quaternion([[a, b, c], [d, e, f], [g, h, i]]: [[f64; 3]; 3]) -> [f64; 4] {
    let parts = [1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i];
    let largest = parts.iter().copied().fold(f64::MIN, f64::max);
    let [x, y, z, _] = parts.map(|it| it >= largest);
    let candidate = if x {
        [largest, b + d, c + g, h - f]
    } else if y {
        [b + d, largest, f + h, c - g]
    } else if z {
        [c + g, f + h, largest, d - b]
    } else {
        [h - f, c - g, d - b, largest]
    };
    let length = candidate.iter().map(|it| it * it).sum::<f64>().sqrt();
    candidate.map(|it| it / length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::picture::ImageLimits;
    use crate::capture::{FrameSource as _, Options, open_directory, recording};

    /// From the beginning of `MH_01_easy`: its calibration, two lines of its ground truth (the
    /// second is the first, a metre on), and times of frames.
    const YAML: &str = "sensor_type: camera\ncomment: VI-Sensor cam0\nT_BS:\n  cols: 4\n  rows: 4\n  data: \
        [0.0148655429818, -0.999880929698, 0.00414029679422, -0.0216401454975,\n \
        0.999557249008, 0.0149672133247, 0.025715529948, -0.064676986768,\n \
        -0.0257744366974, 0.00375618835797, 0.999660727178, 0.00981073058949,\n \
        0.0, 0.0, 0.0, 1.0]\nrate_hz: 20\n";
    const TRUTH: &str = "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x []\n\
        1403636580838555648,4.688319,-1.786938,0.783338,0.534108,-0.153029,-0.827383,-0.082152,0,0\n\
        1403636580888555648,5.688319,-1.786938,0.783338,0.534108,-0.153029,-0.827383,-0.082152,0,0\n";
    const IMAGES: &str = "#timestamp [ns],filename\n1403636579763555584,1403636579763555584.png\n\
        1403636580838555648,1403636580838555648.png\n1403636580863555648,1403636580863555648.png\n\
        never,x.png\n";

    #[test]
    fn frames_have_the_camera_s_pose_by_the_ground_truth() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("cam0/sensor.yaml", YAML), (POSES, TRUTH), (FRAMES, IMAGES)] {
            let path = dir.path().join("mav0").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (recording, limits) = (recording::Options::default(), ImageLimits::default());
        let options = Options { sidecar: None, defaults: Defaults::default(), recording, limits };
        for root in [dir.path().to_owned(), dir.path().join("mav0")] {
            let (frames, faults, notes) =
                list(&root, &find(&root).unwrap(), &options.defaults).unwrap();
            assert_eq!(notes, ["2 of 3 frames have a pose: the camera's"]);
            assert!(faults.first()[0].reason.contains("\"never,x.png\""), "{faults:?}");
            assert_eq!(frames[0].meta.pose, None);
            assert_eq!(frames[1].meta.taken_at.micros(), 1_403_636_580_838_555);
            assert!(root.join(&frames[1].file).ends_with("mav0/cam0/data/1403636580838555648.png"));
            for (frame, forward) in [(&frames[1], 0.0), (&frames[2], 0.5)] {
                let pose = frame.meta.pose.unwrap();
                // By quaternion products in numpy.
                let expect = [4.666_120_97 + forward, -1.848_356_17, 0.761_367_24];
                let apart = pose.position.iter().zip(expect).map(|(a, b)| (a - b).abs());
                assert!(apart.fold(0.0, f64::max) < 1e-6, "{pose:?}");
                assert!((pose.heading.unwrap() - 2.777_727_13).abs() < 1e-6, "{pose:?}");
            }
            assert_eq!(open_directory(&root, &options).unwrap().0.remaining(), Some(3));
            let clock = recording::RecordingClock::Offset(86_400_000_000);
            let recording = recording::Options { clock, ..recording::Options::default() };
            let moved = open_directory(&root, &Options { recording, ..options.clone() }).unwrap().0;
            let note = "86400 s were added to each time, as was asked for";
            assert_eq!(moved.notes()[1], note);
        }
    }

    #[test]
    fn a_rotation_is_one_quaternion_whatever_it_turns_about() {
        for turn in [
            [0.0, 0.0, 0.0, 1.0],
            [0.9, 0.1, -0.3, 0.2],
            [0.1, -0.9, 0.2, 0.1],
            [0.2, 0.1, 0.9, -0.1],
        ] {
            let length = turn.iter().map(|it| it * it).sum::<f64>().sqrt();
            let turn = turn.map(|it| it / length);
            let column = |axis| recording::tf::rotate(turn, axis);
            let [x, y, z] =
                [column([1.0, 0.0, 0.0]), column([0.0, 1.0, 0.0]), column([0.0, 0.0, 1.0])];
            let found = quaternion([[x[0], y[0], z[0]], [x[1], y[1], z[1]], [x[2], y[2], z[2]]]);
            let same = found.iter().zip(turn).map(|(a, b)| a * b).sum::<f64>().abs();
            assert!((same - 1.0).abs() < 1e-9, "{turn:?} {found:?}");
        }
    }
}
