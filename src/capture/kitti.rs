//! Data sets laid out as KITTI's: a sequence of the odometry benchmark (`sequences/NN`, its poses in
//! `poses/NN.txt` beside `sequences`), or a drive of the raw data (`…_drive_NNNN_sync`, with the
//! car's GPS and IMU in `oxts`).
//!
//! Of the cameras the left one: the coloured, else the grey. An image, its time and its pose belong
//! together by their number. Poses begin at the origin, z up, looking along x: those of a sequence
//! are of the left grey camera, whose optical frame at the first image is turned upright; those of
//! a drive are the car's, by the Mercator projection of KITTI's own development kit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::NaiveDateTime;

use crate::base::frame::FrameMeta;
use crate::base::pose::{Pose, heading_of_optical_frame, heading_of_quaternion};
use crate::base::time::{Timestamp, Zone};
use crate::capture::euroc::quaternion;
use crate::capture::recording::messages::Transform;
use crate::capture::recording::tf::{inverse, product};
use crate::capture::recording::{RecordingClock, WALL_CLOCK_FROM};
use crate::capture::{
    AnnouncedFrame, CaptureError, Defaults, FrameFault, FrameFaults, Options, is_image_name,
    sidecar,
};

/// Where the parts of a data set lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Drive {
    kind: Kind,
    /// Below the directory, with `/`.
    images: String,
    times: PathBuf,
    poses: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sequence,
    Raw,
}

/// From the optical frame (x right, y down, z forward) to x forward, y left, z up.
const UPRIGHT: Transform = Transform { translation: [0.0; 3], rotation: [-0.5, 0.5, -0.5, 0.5] };

/// What lies in `dir`, where it is laid out so.
pub(super) fn find(dir: &Path) -> Option<Drive> {
    let sequence = ["image_2", "image_0"].into_iter().find(|it| dir.join(it).is_dir());
    let times = dir.join("times.txt");
    if let Some(images) = sequence.filter(|_| times.is_file()) {
        let number = dir.file_name().unwrap_or_default().to_string_lossy();
        let data_set = dir.parent().and_then(Path::parent).unwrap_or(dir);
        let poses = data_set.join("poses").join(format!("{number}.txt"));
        return Some(Drive { kind: Kind::Sequence, images: images.to_owned(), times, poses });
    }
    ["image_02", "image_00"].into_iter().find_map(|camera| {
        let (images, times) = (format!("{camera}/data"), dir.join(camera).join("timestamps.txt"));
        let is_there = dir.join(&images).is_dir() && times.is_file();
        let poses = dir.join("oxts/data");
        is_there.then_some(Drive { kind: Kind::Raw, images, times, poses })
    })
}

/// Frames of the data set in `root`, with what is wrong and what there is to say.
pub(super) fn list(
    root: &Path,
    drive: &Drive,
    options: &Options,
) -> Result<(Vec<AnnouncedFrame>, FrameFaults, Vec<String>), CaptureError> {
    let mut faults = FrameFaults::default();
    let times = sidecar::text(&drive.times)?;
    let times: Vec<&str> = times.lines().map(str::trim).collect();
    let mut timed = Vec::new();
    for (file, number) in images(root, drive)? {
        match time_of(drive, &times, number, options.defaults.zone) {
            Ok(time) => timed.push((file, number, time)),
            Err(reason) => faults.push(FrameFault { place: file, reason }),
        }
    }
    check_clock(drive, timed.first().map(|(_, _, time)| *time), options.recording.clock)?;
    let poses = match drive.kind {
        Kind::Sequence => sequence_poses(&drive.poses, &mut faults)?,
        Kind::Raw => raw_poses(&drive.poses, &mut faults)?,
    };
    let mut frames = Vec::new();
    for (file, number, taken_at) in timed {
        let Defaults { zone: _, source, frame_id, map_id } = options.defaults.clone();
        let pose = poses.get(&number).copied();
        let meta = FrameMeta { taken_at, pose, frame_id, map_id, source };
        frames.push(AnnouncedFrame { file, meta, caption: None });
    }
    let located = frames.iter().filter(|it| it.meta.pose.is_some()).count();
    let whose = match drive.kind {
        Kind::Sequence => "the left grey camera's, from where it was at first",
        Kind::Raw => "the car's by GPS and IMU, from where it was at first",
    };
    let notes = vec![format!("{located} of {} frames have a pose: {whose}", frames.len())];
    Ok((frames, faults, notes))
}

/// Files of the camera with their numbers, by these.
fn images(root: &Path, drive: &Drive) -> Result<Vec<(String, usize)>, CaptureError> {
    let files = files_in(&root.join(&drive.images))?;
    let image = |(number, name): (usize, String)| {
        is_image_name(&name).then(|| (format!("{}/{name}", drive.images), number))
    };
    Ok(files.into_iter().filter_map(image).collect())
}

/// Names of the files in a folder that are called by a number, in the order of these.
fn files_in(dir: &Path) -> Result<BTreeMap<usize, String>, CaptureError> {
    let entries = fs::read_dir(dir).map_err(|error| CaptureError::Unreadable {
        path: dir.to_owned(),
        reason: error.to_string(),
    })?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbered = names.filter_map(|name| Some((name.split_once('.')?.0.parse().ok()?, name)));
    Ok(numbered.collect())
}

fn time_of(drive: &Drive, times: &[&str], number: usize, zone: Zone) -> Result<Timestamp, String> {
    let name = drive.times.file_name().unwrap_or_default().to_string_lossy();
    let line = times.get(number).ok_or_else(|| {
        format!(
            "line {} of {name} would say when it was taken, and there are {}",
            number + 1,
            times.len()
        )
    })?;
    let (time, accepted) = match drive.kind {
        Kind::Sequence => {
            (line.parse().ok().and_then(Timestamp::from_seconds), "seconds such as 1.036224e-01")
        }
        Kind::Raw => {
            let wall = NaiveDateTime::parse_from_str(line, "%Y-%m-%d %H:%M:%S%.f");
            (
                wall.ok().map(|wall| zone.moment(wall)),
                "a time such as 2011-09-26 13:02:25.964389445",
            )
        }
    };
    time.ok_or_else(|| format!("line {} of {name} is {line:?}, accepted is {accepted}", number + 1))
}

/// Times that count from the start of a drive are no times until somebody says when that was.
fn check_clock(
    drive: &Drive,
    first: Option<Timestamp>,
    clock: RecordingClock,
) -> Result<(), CaptureError> {
    match first {
        Some(first)
            if clock == RecordingClock::Wall && first.micros() < WALL_CLOCK_FROM / 1_000 =>
        {
            Err(CaptureError::NoStart { first: first.seconds(), path: drive.times.clone() })
        }
        _ => Ok(()),
    }
}

/// A line for each image: the upper three rows of the camera's matrix in the first one's frame.
fn sequence_poses(
    path: &Path,
    faults: &mut FrameFaults,
) -> Result<BTreeMap<usize, Pose>, CaptureError> {
    let mut poses = BTreeMap::new();
    if !path.is_file() {
        // Of half of the sequences KITTI keeps them to itself.
        return Ok(poses);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for (number, line) in sidecar::text(path)?.lines().enumerate() {
        let camera = numbers(line).and_then(|it| camera_of(&it)).map(|it| product(UPRIGHT, it));
        let pose = camera
            .and_then(|it| Pose::new(it.translation, heading_of_optical_frame(it.rotation)).ok());
        match pose {
            Some(pose) => drop(poses.insert(number, pose)),
            None => faults.push(FrameFault {
                place: format!("{name}:{}", number + 1),
                reason: format!("{line:?} is no pose, accepted are the twelve numbers of a matrix"),
            }),
        }
    }
    Ok(poses)
}

#[expect(clippy::many_single_char_names, reason = "the elements of a matrix, by rows")]
fn camera_of(numbers: &[f64]) -> Option<Transform> {
    let [a, b, c, x, d, e, f, y, g, h, i, z] = *numbers else { return None };
    let rotation = quaternion([[a, b, c], [d, e, f], [g, h, i]]);
    Some(Transform { translation: [x, y, z], rotation })
}

/// A file for each image: `latitude longitude altitude roll pitch yaw …`, degrees, metres, radians.
fn raw_poses(dir: &Path, faults: &mut FrameFaults) -> Result<BTreeMap<usize, Pose>, CaptureError> {
    let mut poses = BTreeMap::new();
    if !dir.is_dir() {
        return Ok(poses);
    }
    // The scale is the first latitude's, and all is as seen from the first.
    let mut first: Option<(f64, Transform)> = None;
    for (number, file) in files_in(dir)? {
        let numbers = numbers(&sidecar::text(&dir.join(&file))?).unwrap_or_default();
        let pose = numbers.first_chunk().filter(|it| is_on_earth(it)).and_then(|packet| {
            let scale = first.map_or_else(|| packet[0].to_radians().cos(), |(scale, _)| scale);
            let car = car_of(packet, scale);
            let (_, origin) = *first.get_or_insert((scale, car));
            let car = product(inverse(origin), car);
            Pose::new(car.translation, heading_of_quaternion(car.rotation)).ok()
        });
        match pose {
            Some(pose) => drop(poses.insert(number, pose)),
            None => faults.push(FrameFault {
                place: format!("oxts/data/{file}"),
                reason: "accepted are numbers, of which the first six are latitude, longitude, \
                         altitude, roll, pitch and yaw"
                    .to_owned(),
            }),
        }
    }
    Ok(poses)
}

/// Whether the projection is defined there.
fn is_on_earth([latitude, longitude, ..]: &[f64; 6]) -> bool {
    latitude.abs() < 90.0 && longitude.abs() <= 360.0
}

/// Pose of the IMU (x forward, y left, z up) on the projected earth.
fn car_of([latitude, longitude, altitude, roll, pitch, yaw]: &[f64; 6], scale: f64) -> Transform {
    const EARTH_RADIUS: f64 = 6_378_137.0;
    let east = scale * EARTH_RADIUS * longitude.to_radians();
    let north = scale * EARTH_RADIUS * ((90.0 + latitude).to_radians() / 2.0).tan().ln();
    let [(sr, cr), (sp, cp), (sy, cy)] = [roll, pitch, yaw].map(|it| (it / 2.0).sin_cos());
    // Roll, then pitch, then yaw.
    let rotation = [
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    ];
    Transform { translation: [east, north, *altitude], rotation }
}

fn numbers(line: &str) -> Option<Vec<f64>> {
    line.split_ascii_whitespace()
        .map(|it| it.parse().ok().filter(|it: &f64| it.is_finite()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::picture::ImageLimits;
    use crate::capture::{FrameSource as _, open_directory, recording};
    use tempfile::TempDir;

    /// By numpy: at the start; 20 m on, turned by .3 to the right and .05 up or down; behind.
    const POSES: &str = "\
        1.000000e+00 0.000000e+00 0.000000e+00 0.000000e+00 0.000000e+00 1.000000e+00 \
        0.000000e+00 0.000000e+00 0.000000e+00 0.000000e+00 1.000000e+00 0.000000e+00\n\
        9.553365e-01 1.476985e-02 2.951509e-01 1.500000e+00 0.000000e+00 9.987503e-01 \
        -4.997917e-02 -2.500000e-01 -2.955202e-01 4.774692e-02 9.541426e-01 2.000000e+01\n\
        1 2 3\n\
        -7.971412e-01 -7.998090e-02 5.984721e-01 -3.000000e+00 -9.983342e-02 9.950042e-01 \
        0.000000e+00 5.000000e-01 -5.954823e-01 -5.974752e-02 -8.011436e-01 -7.000000e+00\n";

    fn lay_out(files: &[(&str, &str)]) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn options(clock: RecordingClock) -> Options {
        let zone = Zone::Named(chrono_tz::Europe::Berlin);
        Options {
            sidecar: None,
            defaults: Defaults { zone, ..Defaults::default() },
            recording: recording::Options { clock, ..recording::Options::default() },
            limits: ImageLimits::default(),
        }
    }

    #[track_caller]
    fn check_pose(frame: &AnnouncedFrame, position: [f64; 3], heading: f64) {
        let pose = frame.meta.pose.unwrap();
        let apart = pose.position.iter().zip(position).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 2e-6, "{pose:?}");
        assert!((pose.heading.unwrap() - heading).abs() < 2e-6, "{pose:?}");
    }

    fn sequence() -> TempDir {
        lay_out(&[
            ("poses/07.txt", POSES),
            ("sequences/07/calib.txt", "P0: 718.856 0 607.1928\n"),
            ("sequences/07/times.txt", "0.000000e+00\n1.037875e-01\n2.075e-01\n3.112e-01\nsoon\n"),
            ("sequences/07/image_0/000000.png", "grey"),
            ("sequences/07/image_2/000000.png", "colour"),
            ("sequences/07/image_2/000001.png", "colour"),
            ("sequences/07/image_2/000002.png", "colour"),
            ("sequences/07/image_2/000003.png", "colour"),
            ("sequences/07/image_2/000004.png", "colour"),
            ("sequences/07/image_2/000005.png", "colour"),
            ("sequences/07/image_2/notes.txt", "no image"),
        ])
    }

    #[test]
    fn a_sequence_s_frames_have_the_camera_s_pose_upright() {
        let dir = sequence();
        let root = dir.path().join("sequences/07");
        let drive = find(&root).unwrap();
        let start = Timestamp::from_seconds(1_600_000_000.0).unwrap();
        let options = options(RecordingClock::Start(start));
        let (frames, faults, notes) = list(&root, &drive, &options).unwrap();
        assert_eq!(notes[0].split(':').next(), Some("3 of 4 frames have a pose"));
        let faults: Vec<String> = faults.first().iter().map(ToString::to_string).collect();
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults[0].contains("000004.png: line 5 of times.txt is \"soon\""), "{faults:?}");
        assert!(faults[1].contains("000005.png: line 6 of times.txt would say"), "{faults:?}");
        assert!(faults[2].starts_with("07.txt:3: \"1 2 3\" is no pose"), "{faults:?}");
        assert_eq!(frames[1].file, "image_2/000001.png");
        assert_eq!(frames[1].meta.taken_at.micros(), 103_788);
        check_pose(&frames[0], [0.0; 3], 0.0);
        check_pose(&frames[1], [20.0, -1.5, 0.25], -0.3);
        assert_eq!(frames[2].meta.pose, None);
        check_pose(&frames[3], [-7.0, 3.0, -0.5], -2.5);
        let mut source = open_directory(&root, &options).unwrap().0;
        assert_eq!(source.remaining(), Some(4));
        let first = source.next_frame().unwrap().unwrap();
        assert_eq!((first.image, first.meta.taken_at), (b"colour".to_vec(), start));
        assert_eq!(source.notes()[1], "1600000000 s were added to each time, as was asked for");
    }

    #[test]
    fn times_of_a_sequence_are_refused_until_it_is_said_when_it_began() {
        let dir = sequence();
        let root = dir.path().join("sequences/07");
        let refused = |clock| open_directory(&root, &options(clock)).unwrap_err().to_string();
        let wall = refused(RecordingClock::Wall);
        assert!(wall.contains("the first is 0 s") && wall.contains("--start TIME"), "{wall}");
        let moved = options(RecordingClock::Offset(1_700_000_000_000_000));
        let first = open_directory(&root, &moved).unwrap().0.next_frame().unwrap().unwrap();
        assert_eq!(first.meta.taken_at.micros(), 1_700_000_000_000_000);
        let early = refused(RecordingClock::Offset(-1));
        assert!(early.contains("out of the years 1970 to 9999"), "{early}");
    }

    #[test]
    fn a_drive_s_frames_have_the_car_s_pose_by_the_development_kit() {
        let rest = " 1.25 -0.5 0.01 4 4 6 6 6";
        let packet = |numbers: &str| format!("{numbers}{rest}\n");
        let dir = lay_out(&[
            (
                "image_02/timestamps.txt",
                "2011-09-26 13:02:25.964389445\n2011-09-26 13:02:26.07\n\
                2011-09-26 13:02:26.17\n2011-09-26 13:02:26.27\n",
            ),
            ("image_02/data/0000000000.png", "a"),
            ("image_02/data/0000000001.png", "b"),
            ("image_02/data/0000000003.png", "d"),
            (
                "oxts/data/0000000000.txt",
                &packet(
                    "49.015003823272 8.4342971002335 116.43032836914 0.035752 0.00903 -2.6087069803847",
                ),
            ),
            ("oxts/data/0000000001.txt", &packet("49.014996 8.434280 116.412 0.033 0.0105 -2.62")),
            ("oxts/data/0000000002.txt", "91 8 116 0 0 0\n"),
            ("oxts/data/0000000003.txt", &packet("49.0142 8.4339 115.9 -0.02 0.02 2.9")),
        ]);
        let options = options(RecordingClock::Wall);
        let drive = find(dir.path()).unwrap();
        let (frames, faults, notes) = list(dir.path(), &drive, &options).unwrap();
        assert_eq!(
            notes,
            ["3 of 3 frames have a pose: the car's by GPS and IMU, from where it was at first"]
        );
        assert_eq!(faults.total(), 1);
        assert!(
            faults.first()[0].to_string().starts_with("oxts/data/0000000002.txt: accepted are")
        );
        // 13:02 in Berlin.
        assert_eq!(frames[0].meta.taken_at.micros(), 1_317_034_945_964_389);
        assert_eq!(frames[2].file, "image_02/data/0000000003.png");
        // By numpy, from the formulas of the kit's `convertOxtsToPose`.
        check_pose(&frames[0], [0.0; 3], 0.0);
        check_pose(&frames[1], [1.517_911, 0.115_631, -0.008_761], -0.011_337_76);
        check_pose(&frames[2], [70.432_284, 62.308_745, -2.122_873], -0.774_399_09);
        assert_eq!(open_directory(dir.path(), &options).unwrap().0.remaining(), Some(3));
    }
}
