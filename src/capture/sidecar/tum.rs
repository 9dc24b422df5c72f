//! CSV and text sidecars in the column order of TUM RGB-D trajectories.
//!
//! ```text
//! # timestamp tx ty tz qx qy qz qw file
//! 1305031102.1753 1.34 0.62 1.66 0.00 0.00 0.70 0.71 rgb/0001.png
//! ```
//! Seconds since 1970, metres, a unit quaternion; columns separated by commas or
//! by spaces; `#` starts a comment, and a first line with the columns' names is
//! passed over.
//!
//! Where no line names a file (the data sets' own `groundtruth.txt`), the frames
//! are those of `rgb.txt` beside it (`timestamp file`), else the images in the
//! directory or its `rgb/` whose name is their time (`1305031102.1753.png`).
//! With `rgb.txt` the poses are those of the camera, as the data sets have them: z forward, so
//! that the heading is where z points. Else they are the robot's, whose x is forward.
//! Each gets the pose nearest in time; one with no pose within
//! [`POSE_GAP_MAX`] is kept without a place, and reported.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::base::frame::FrameMeta;
use crate::base::pose::{Pose, heading_of_optical_frame, heading_of_quaternion};
use crate::base::time::Timestamp;
use crate::capture::AnnouncedFrame;
use crate::capture::CaptureError;
use crate::capture::Defaults;
use crate::capture::FrameFault;
use crate::capture::FrameFaults;
use crate::capture::is_image_name;
use crate::capture::sidecar::{BadLine, Chronology, Listing, SidecarText, quote};

const COLUMNS: [&str; 9] = ["timestamp", "tx", "ty", "tz", "qx", "qy", "qz", "qw", "file"];

/// Largest time between a frame and its pose, as in the data sets' own `associate.py`: half a
/// frame at 25 Hz.
const POSE_GAP_MAX: Duration = Duration::from_millis(20);

/// File of the data sets that says when each image was taken.
const ASSOCIATION: &str = "rgb.txt";

pub(super) fn read(path: &Path, dir: &Path, defaults: &Defaults) -> Result<Listing, CaptureError> {
    let text = SidecarText::open(path)?;
    let (rows, mut faults) = rows(&text, defaults);
    let frames = if rows.iter().any(|row| row.file.is_some()) {
        with_files(&text, rows, defaults, &mut faults)
    } else {
        let files = timed_files(dir, defaults, &mut faults)?;
        if files.is_empty() {
            faults.push(no_files(&text));
        }
        let rows = if dir.join(ASSOCIATION).is_file() { of_camera(rows) } else { rows };
        join_poses(&text, &rows, files, defaults, &mut faults)
    };
    Ok(Listing { frames, faults })
}

#[derive(Debug, PartialEq)]
struct PoseRow {
    line: usize,
    time: Timestamp,
    pose: Pose,
    /// Where it looks if the pose is a camera's.
    optical: Option<f64>,
    file: Option<String>,
}

/// Poses of a camera instead of a robot.
fn of_camera(rows: Vec<PoseRow>) -> Vec<PoseRow> {
    let turned = |row: PoseRow| PoseRow { pose: Pose { heading: row.optical, ..row.pose }, ..row };
    rows.into_iter().map(turned).collect()
}

fn rows(text: &SidecarText, defaults: &Defaults) -> (Vec<PoseRow>, FrameFaults) {
    let (mut rows, mut faults) = (Vec::new(), FrameFaults::default());
    let mut chronology = Chronology::default();
    let mut is_first = true;
    for (number, line) in text.lines() {
        if std::mem::take(&mut is_first) && line.as_ref().is_ok_and(|line| is_header(line)) {
            continue;
        }
        let row = line.and_then(|line| row(number, line)).and_then(|row| {
            chronology.admit(&defaults.source, row.time, defaults.zone)?;
            Ok(row)
        });
        match row {
            Ok(row) => rows.push(row),
            Err(bad) => faults.push(text.fault(number, &bad)),
        }
    }
    (rows, faults)
}

/// Columns in exactly the known order; another order would be read wrongly.
fn is_header(line: &str) -> bool {
    let columns = columns_of(line, COLUMNS.len());
    columns.len() >= 8 && columns.iter().zip(COLUMNS).all(|(a, b)| a.eq_ignore_ascii_case(b))
}

fn row(line: usize, text: &str) -> Result<PoseRow, BadLine> {
    let columns = columns_of(text, COLUMNS.len());
    let found = columns.len();
    let (numbers, file) = match columns.split_at_checked(8) {
        Some((numbers, [])) => (numbers, None),
        Some((numbers, [file])) if !file.is_empty() => (numbers, Some((*file).to_owned())),
        _ => {
            let accepted = "the nine `timestamp tx ty tz qx qy qz qw file`";
            return Err(BadLine::Columns { found, accepted });
        }
    };
    let mut values = [0.0; 8];
    for ((value, number), name) in values.iter_mut().zip(numbers).zip(COLUMNS) {
        *value = number_of(name, number)?;
    }
    let [_, tx, ty, tz, qx, qy, qz, qw] = values;
    let time = time_of(numbers.first().copied().unwrap_or_default())?;
    let pose = Pose::new([tx, ty, tz], Some(heading("qx qy qz qw", [qx, qy, qz, qw])?))?;
    let optical = heading_of_optical_frame([qx, qy, qz, qw]);
    Ok(PoseRow { line, time, pose, optical, file })
}

/// At most `count_max` columns; the last takes the rest of the line, so that a
/// file name may hold spaces.
fn columns_of(line: &str, count_max: usize) -> Vec<&str> {
    if line.contains(',') {
        return line.splitn(count_max, ',').map(str::trim).collect();
    }
    let (mut columns, mut rest) = (Vec::new(), line.trim());
    while columns.len() + 1 < count_max {
        let Some((column, tail)) = rest.split_once(char::is_whitespace) else { break };
        columns.push(column);
        rest = tail.trim_start();
    }
    columns.push(rest);
    columns
}

fn number_of(field: &str, text: &str) -> Result<f64, BadLine> {
    text.parse().map_err(|_unreadable| bad_field(field, text, "a number"))
}

fn time_of(text: &str) -> Result<Timestamp, BadLine> {
    let seconds = number_of("timestamp", text)?;
    let accepted = "a number of seconds since 1970";
    Timestamp::from_seconds(seconds).ok_or_else(|| bad_field("timestamp", text, accepted))
}

fn bad_field(field: &str, text: &str, accepted: &'static str) -> BadLine {
    BadLine::Field { field: field.to_owned(), found: quote(text), accepted }
}

/// Heading of a quaternion (x, y, z, w) that has about unit length: any other
/// shows that the columns mean something else.
pub(super) fn heading(field: &str, quaternion: [f64; 4]) -> Result<f64, BadLine> {
    /// Four printed decimals are off by far less.
    const LENGTH_TOLERANCE: f64 = 0.05;
    let length = quaternion.iter().map(|part| part * part).sum::<f64>().sqrt();
    Some(quaternion)
        .filter(|_| (length - 1.0).abs() <= LENGTH_TOLERANCE)
        .and_then(heading_of_quaternion)
        .ok_or_else(|| BadLine::Field {
            field: field.to_owned(),
            found: format!("{quaternion:?}"),
            accepted: "a unit quaternion, x y z w",
        })
}

fn with_files(
    text: &SidecarText,
    rows: Vec<PoseRow>,
    defaults: &Defaults,
    faults: &mut FrameFaults,
) -> Vec<AnnouncedFrame> {
    let mut frames = Vec::with_capacity(rows.len());
    for PoseRow { line, time, pose, optical: _, file } in rows {
        if let Some(file) = file {
            frames.push(AnnouncedFrame {
                file,
                meta: meta(time, Some(pose), defaults),
                caption: None,
            });
        } else {
            let accepted = "nine as in the other lines, the last one the frame's file";
            faults.push(text.fault(line, &BadLine::Columns { found: 8, accepted }));
        }
    }
    frames
}

fn meta(taken_at: Timestamp, pose: Option<Pose>, defaults: &Defaults) -> FrameMeta {
    FrameMeta {
        taken_at,
        pose,
        frame_id: defaults.frame_id.clone(),
        map_id: defaults.map_id.clone(),
        source: defaults.source.clone(),
    }
}

/// Frames of a trajectory without file names, in the order of time.
fn timed_files(
    dir: &Path,
    defaults: &Defaults,
    faults: &mut FrameFaults,
) -> Result<Vec<(Timestamp, String)>, CaptureError> {
    let association = dir.join(ASSOCIATION);
    if association.is_file() {
        return Ok(associate_files(&SidecarText::open(&association)?, defaults, faults));
    }
    let mut files = Vec::new();
    for prefix in ["", "rgb/"] {
        let folder = dir.join(prefix);
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let entry = entry.map_err(|error| CaptureError::Unreadable {
                path: folder.clone(),
                reason: error.to_string(),
            })?;
            files.extend(time_from_name(prefix, &entry.file_name().to_string_lossy()));
        }
    }
    files.sort();
    files.dedup_by_key(|(time, _)| *time);
    Ok(files)
}

fn time_from_name(prefix: &str, name: &str) -> Option<(Timestamp, String)> {
    let (stem, _) = name.rsplit_once('.').filter(|_| is_image_name(name))?;
    // "0001.png" is a number, and hardly the first second of 1970.
    let seconds: f64 = stem.parse().ok().filter(|seconds| *seconds >= 1e8)?;
    Some((Timestamp::from_seconds(seconds)?, format!("{prefix}{name}")))
}

/// Lines `timestamp file` of an `rgb.txt`.
fn associate_files(
    text: &SidecarText,
    defaults: &Defaults,
    faults: &mut FrameFaults,
) -> Vec<(Timestamp, String)> {
    let mut files = Vec::new();
    let mut chronology = Chronology::default();
    for (number, line) in text.lines() {
        let file = line.and_then(|line| {
            let columns = columns_of(line, 2);
            let [time, file] = columns.as_slice() else {
                let accepted = "the two `timestamp file`";
                return Err(BadLine::Columns { found: columns.len(), accepted });
            };
            let time = time_of(time)?;
            chronology.admit(&defaults.source, time, defaults.zone)?;
            Ok((time, (*file).to_owned()))
        });
        match file {
            Ok(file) => files.push(file),
            Err(bad) => faults.push(text.fault(number, &bad)),
        }
    }
    files
}

fn join_poses(
    text: &SidecarText,
    rows: &[PoseRow],
    files: Vec<(Timestamp, String)>,
    defaults: &Defaults,
    faults: &mut FrameFaults,
) -> Vec<AnnouncedFrame> {
    let mut frames = Vec::with_capacity(files.len());
    for (time, file) in files {
        let pose = nearest(rows, time).map(|row| row.pose);
        if pose.is_none() {
            let reason = format!(
                "{} has no pose within {} ms of the frame, which is kept without a place",
                text.name,
                POSE_GAP_MAX.as_millis()
            );
            faults.push(FrameFault { place: file.clone(), reason });
        }
        frames.push(AnnouncedFrame { file, meta: meta(time, pose, defaults), caption: None });
    }
    frames
}

/// Row nearest to `time`, the earlier of two; `rows` are in the order of time.
fn nearest(rows: &[PoseRow], time: Timestamp) -> Option<&PoseRow> {
    let after = rows.partition_point(|row| row.time < time);
    let before = after.checked_sub(1).and_then(|at| rows.get(at));
    let gap =
        |row: &PoseRow| if row.time < time { time.since(row.time) } else { row.time.since(time) };
    let near = before.into_iter().chain(rows.get(after)).min_by_key(|row| gap(row))?;
    (gap(near) <= POSE_GAP_MAX).then_some(near)
}

fn no_files(text: &SidecarText) -> FrameFault {
    let reason = "no line names a file; accepted are a ninth column with the frame's file, an \
        rgb.txt beside it with lines `timestamp file`, or images named by their time such as \
        rgb/1305031102.175304.png";
    FrameFault { place: text.name.clone(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    /// Reads `sidecar` lying as `trajectory.txt` in a directory with `files`.
    fn listing(sidecar: &str, files: &[(&str, &str)]) -> Listing {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trajectory.txt");
        fs::write(&path, sidecar).unwrap();
        for (name, content) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        read(&path, dir.path(), &Defaults::default()).unwrap()
    }

    fn names(listing: &Listing) -> Vec<&str> {
        listing.frames.iter().map(|it| it.file.as_str()).collect()
    }

    fn reasons(listing: &Listing) -> Vec<String> {
        listing.faults.first().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_line_is_time_place_quaternion_and_file() {
        let listing = listing("100.25 1 2 3 0 0 0.7071 0.7071 rgb/a b.png\n", &[]);
        let [AnnouncedFrame { file, meta, caption: None }] = listing.frames.as_slice() else {
            panic!()
        };
        assert_eq!((file.as_str(), meta.taken_at.micros()), ("rgb/a b.png", 100_250_000));
        let pose = meta.pose.unwrap();
        assert_eq!(pose, Pose::new([1.0, 2.0, 3.0], Some(FRAC_PI_2)).unwrap());
        assert_eq!((meta.source.as_str(), meta.frame_id.as_str()), ("camera", "map"));
    }

    #[test]
    fn commas_comments_and_a_header_are_understood() {
        let spaces = "# a comment\n100 1 2 3 0 0 0 1 a.png\n101\t1  2 3 0 0 0 1 b.png\n";
        let commas = "timestamp,tx,ty,tz,qx,qy,qz,qw,file\n100, 1,2,3,0,0,0,1,a.png\n101,1,2,3,0,0,0,1, b.png\n";
        let listing_of_commas = listing(commas, &[]);
        assert_eq!(listing_of_commas, listing(spaces, &[]));
        assert_eq!(names(&listing_of_commas), ["a.png", "b.png"]);
    }

    #[test]
    fn wrong_lines_are_reported_and_the_rest_goes_on() {
        let listing = listing(
            concat!(
                "time,x,y,z\n",
                "100 1 2 3 0 0 0 1 a.png\n",
                "101 1 abc 3 0 0 0 1 b.png\n",
                "102 1 nan 3 0 0 0 1 c.png\n",
                "103 1 2 3 0 0 0 0 d.png\n",
                "99 1 2 3 0 0 0 1 e.png\n",
                "1305031102175 1 2 3 0 0 0 1 f.png\n",
                "104 1 2 3 0 0 0 1\n",
                "105 1 2 3 0 0 0 1 g.png\n"
            ),
            &[],
        );
        assert_eq!(names(&listing), ["a.png", "g.png"]);
        let reasons = reasons(&listing);
        let expect = [
            "trajectory.txt:1: the line has 4 columns, accepted are the nine",
            "trajectory.txt:3: ty is \"abc\", accepted is a number",
            "trajectory.txt:4: position[1] is NaN",
            "trajectory.txt:5: qx qy qz qw is [0.0, 0.0, 0.0, 0.0], accepted is a unit quaternion",
            "trajectory.txt:6: time is ",
            "trajectory.txt:7: timestamp is \"1305031102175\", accepted is a number of seconds",
            "trajectory.txt:8: the line has 8 columns, accepted are nine as in the other lines",
        ];
        assert_eq!(reasons.len(), expect.len(), "{reasons:#?}");
        for (reason, expect) in reasons.iter().zip(expect) {
            assert!(reason.starts_with(expect), "{reason}");
        }
    }

    const TRAJECTORY: &str =
        "1305031100.00 1 0 0 0 0 0 1\n1305031100.10 2 0 0 0 0 0 1\n1305031100.20 3 0 0 0 0 0 1\n";

    #[test]
    fn frames_of_an_association_file_get_the_nearest_pose() {
        let association = "# timestamp filename\n1305031100.012 rgb/a.png\n\
            1305031100.095 rgb/b.png\n1305031100.150 rgb/c.png\nx rgb/d.png\n";
        let listing = listing(TRAJECTORY, &[("rgb.txt", association)]);
        let places: Vec<Option<f64>> =
            listing.frames.iter().map(|it| it.meta.pose.map(|pose| pose.position[0])).collect();
        assert_eq!(names(&listing), ["rgb/a.png", "rgb/b.png", "rgb/c.png"]);
        assert_eq!(places, [Some(1.0), Some(2.0), None]);
        let reasons = reasons(&listing);
        assert!(reasons[0].starts_with("rgb.txt:5: timestamp is \"x\""), "{reasons:?}");
        assert!(reasons[1].starts_with("rgb/c.png: trajectory.txt has no pose"), "{reasons:?}");
    }

    /// From the beginning of `rgbd_dataset_freiburg1_xyz`.
    #[test]
    fn a_camera_of_the_data_sets_looks_along_its_z_axis() {
        let trajectory = "# ground truth trajectory\n\
            1305031102.1758 1.3405 0.6266 1.6575 0.6574 0.6126 -0.2949 -0.3248\n";
        let association = "1305031102.175304 rgb/1305031102.175304.png\n";
        let listing = listing(trajectory, &[("rgb.txt", association)]);
        let heading = listing.frames[0].meta.pose.unwrap().heading.unwrap();
        // The product q (0, 0, 1) q*, by hand.
        let (x, y) = (-0.7857, 0.0657);
        assert!((heading - f64::atan2(y, x)).abs() < 1e-3, "{heading}");
    }

    #[test]
    fn frames_may_be_named_by_their_time() {
        let files = [
            ("rgb/1305031100.2000.png", ""),
            ("rgb/1305031100.1000.png", ""),
            ("rgb/cover.png", ""),
            ("0001.png", ""),
            ("1305031100.0000.txt", ""),
        ];
        let listing = listing(TRAJECTORY, &files);
        assert_eq!(names(&listing), ["rgb/1305031100.1000.png", "rgb/1305031100.2000.png"]);
        assert_eq!(
            listing.frames[1].meta.pose,
            Some(Pose::new([3.0, 0.0, 0.0], Some(0.0)).unwrap())
        );
    }

    #[test]
    fn a_trajectory_without_frames_says_how_to_name_them() {
        let listing = listing(TRAJECTORY, &[]);
        assert!(listing.frames.is_empty());
        assert!(reasons(&listing)[0].contains("rgb.txt"), "{:?}", reasons(&listing));
    }
}
