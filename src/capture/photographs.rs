//! Folder of photographs that nothing says anything of but they themselves: taken when their
//! EXIF says, else when their file was written.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use chrono::{NaiveDate, NaiveDateTime, TimeDelta};
use exif::{DateTime, Exif, In, Tag, Value};

use crate::base::frame::FrameMeta;
use crate::base::time::{Timestamp, Zone};
use crate::capture::{
    AnnouncedFrame, CaptureError, Defaults, FrameFault, FrameFaults, is_image_name,
};

/// Photographs of a folder, in the order of their times.
#[derive(Debug)]
pub(super) struct Photographs {
    pub(super) frames: Vec<AnnouncedFrame>,
    pub(super) faults: FrameFaults,
    /// Where the times come from.
    pub(super) notes: Vec<String>,
}

/// Lists the photographs in `root` itself; none is an error.
pub(super) fn list(root: &Path, defaults: &Defaults) -> Result<Photographs, CaptureError> {
    let names = names(root)?;
    if names.is_empty() {
        return Err(CaptureError::NoSidecar { path: root.to_owned() });
    }
    Ok(announced(root, names, defaults, None))
}

/// Names of the images in `root` itself.
pub(super) fn names(root: &Path) -> Result<Vec<String>, CaptureError> {
    let entries = fs::read_dir(root).map_err(|error| CaptureError::NoDirectory {
        path: root.to_owned(),
        reason: error.to_string(),
    })?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_image_name(name)).collect();
    names.sort();
    Ok(names)
}

/// Photographs of these names, which may follow others, of which the `newest` was taken then.
pub(super) fn announced(
    root: &Path,
    names: Vec<String>,
    defaults: &Defaults,
    newest: Option<Timestamp>,
) -> Photographs {
    let (mut faults, mut timed) = (FrameFaults::default(), Vec::new());
    let (mut by_exif, mut by_file) = (0_usize, 0_usize);
    for file in names {
        match time_of(&root.join(&file), defaults.zone) {
            Ok((taken_at, TimeOrigin::Exif)) => {
                by_exif += 1;
                timed.push((taken_at, file));
            }
            Ok((taken_at, TimeOrigin::File)) => {
                by_file += 1;
                timed.push((taken_at, file));
            }
            Err(reason) => faults.push(FrameFault { place: file, reason }),
        }
    }
    timed.sort();
    let mut notes = Vec::new();
    if by_exif > 0 {
        notes.push(format!("{by_exif} photographs have the time that their camera wrote (EXIF)"));
    }
    if by_file > 0 {
        notes.push(format!(
            "{by_file} photographs have no time of a camera and were given that of their file, \
             which copying changes"
        ));
    }
    Photographs { frames: announce(timed, defaults, newest), faults, notes }
}

/// Photographs of one second follow one another by a microsecond.
fn announce(
    timed: Vec<(Timestamp, String)>,
    defaults: &Defaults,
    mut newest: Option<Timestamp>,
) -> Vec<AnnouncedFrame> {
    const STEP: Duration = Duration::from_micros(1);
    /// Longer than those of one second ever get.
    const ONE_SECOND_S: Duration = Duration::from_millis(100);
    let announce = |(time, file): (Timestamp, String)| {
        let of_its_second = |it: &Timestamp| *it >= time && it.since(time) < ONE_SECOND_S;
        let taken_at = newest.filter(of_its_second).map_or(time, |newest| newest.plus(STEP));
        newest = Some(taken_at);
        let Defaults { zone: _, source, frame_id, map_id } = defaults.clone();
        let meta = FrameMeta { taken_at, pose: None, frame_id, map_id, source };
        AnnouncedFrame { file, meta, caption: None }
    };
    timed.into_iter().map(announce).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeOrigin {
    Exif,
    File,
}

fn time_of(path: &Path, zone: Zone) -> Result<(Timestamp, TimeOrigin), String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    // Opening a pipe would wait for its writer.
    if !metadata.is_file() {
        return Err("it is no file".to_owned());
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    let exif = exif::Reader::new().read_from_container(&mut BufReader::new(file)).ok();
    if let Some(taken_at) = exif.and_then(|exif| time_in(&exif, zone)) {
        return Ok((taken_at, TimeOrigin::Exif));
    }
    let written = metadata.modified().map_err(|error| error.to_string())?;
    let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok((Timestamp::EPOCH.plus(since), TimeOrigin::File))
}

/// When the shutter was open; else when the picture was made digital, as scanners say.
fn time_in(exif: &Exif, zone: Zone) -> Option<Timestamp> {
    let ways = [
        (Tag::DateTimeOriginal, Tag::OffsetTimeOriginal, Tag::SubSecTimeOriginal),
        (Tag::DateTimeDigitized, Tag::OffsetTimeDigitized, Tag::SubSecTimeDigitized),
    ];
    ways.into_iter().find_map(|(time, offset, part)| {
        let text = |tag| {
            let Value::Ascii(lines) = &exif.get_field(tag, In::PRIMARY)?.value else { return None };
            lines.first().cloned()
        };
        let mut found = DateTime::from_ascii(&text(time)?).ok()?;
        // What is wrong in these leaves the time as it is.
        text(offset).map(|it| found.parse_offset(&it));
        text(part).map(|it| found.parse_subsec(&it));
        moment(&found, zone)
    })
}

fn moment(found: &DateTime, zone: Zone) -> Option<Timestamp> {
    let DateTime { year, month, day, hour, minute, second, nanosecond, offset } = *found;
    let date = NaiveDate::from_ymd_opt(year.into(), month.into(), day.into())?;
    let nanosecond = nanosecond.unwrap_or(0);
    let wall: NaiveDateTime =
        date.and_hms_nano_opt(hour.into(), minute.into(), second.into(), nanosecond)?;
    let taken_at = match offset {
        None => zone.moment(wall),
        Some(minutes) => {
            let utc = wall.checked_sub_signed(TimeDelta::minutes(minutes.into()))?;
            Timestamp::from_micros(utc.and_utc().timestamp_micros())?
        }
    };
    // Cameras whose clock was never set begin in 1970 or 1980.
    (taken_at.seconds() > 0.0).then_some(taken_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::picture::ImageLimits;
    use crate::capture::open_directory;
    use crate::capture::{FrameSource as _, Options, recording};

    /// Photographs with the EXIF that Pillow wrote (`tests/fixtures/make_exif.py`), as named.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exif");
        for name in names {
            let (fixture, _) = name.split_once('-').unwrap();
            let is_webp = Path::new(name).extension().is_some_and(|it| it == "webp");
            let ending = if is_webp { "webp" } else { "jpg" };
            fs::copy(from.join(fixture).with_extension(ending), dir.path().join(name)).unwrap();
        }
        dir
    }

    fn listed(dir: &Path) -> Photographs {
        let zone = Zone::Named(chrono_tz::Europe::Berlin);
        list(dir, &Defaults { zone, ..Defaults::default() }).unwrap()
    }

    #[test]
    fn photographs_say_when_they_were_taken() {
        let names =
            ["wall-1.jpg", "offset-1.jpg", "offset-2.webp", "digitized-1.jpg", "wall-2.JPG"];
        let dir = folder(&names);
        let Photographs { frames, faults, notes } = listed(dir.path());
        assert_eq!(faults.total(), 0);
        let found: Vec<(&str, i64)> =
            frames.iter().map(|it| (it.file.as_str(), it.meta.taken_at.micros())).collect();
        let nine = 1_767_603_600_000_000; // 2026-01-05 09:00 UTC
        let hour = 3_600_000_000;
        let expect = [
            // 09:00:00.25 in Tokyo, twice.
            ("offset-1.jpg", nine - 9 * hour + 250_000),
            ("offset-2.webp", nine - 9 * hour + 250_001),
            ("digitized-1.jpg", nine - 24 * hour - hour),
            // 09:00 in Berlin, twice.
            ("wall-1.jpg", nine - hour),
            ("wall-2.JPG", nine - hour + 1),
        ];
        let mut expect = expect.to_vec();
        expect.sort_by_key(|it| it.1);
        assert_eq!(found, expect);
        assert_eq!(notes, ["5 photographs have the time that their camera wrote (EXIF)"]);
    }

    #[test]
    fn others_get_the_time_of_their_file_and_it_is_said() {
        let dir = folder(&["none-1.jpg", "unset-1.jpg", "wall-1.jpg"]);
        let written = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        for name in ["none-1.jpg", "unset-1.jpg"] {
            File::options()
                .write(true)
                .open(dir.path().join(name))
                .unwrap()
                .set_modified(written)
                .unwrap();
        }
        fs::create_dir(dir.path().join("folder.jpg")).unwrap();
        let Photographs { frames, faults, notes } = listed(dir.path());
        let times: Vec<f64> = frames.iter().map(|it| it.meta.taken_at.seconds().floor()).collect();
        assert_eq!(times, [1_700_000_000.0, 1_700_000_000.0, 1_767_600_000.0]);
        assert!(notes[1].starts_with("2 photographs have no time of a camera"), "{notes:?}");
        assert_eq!(faults.first()[0].to_string(), "folder.jpg: it is no file");
    }

    #[test]
    fn a_folder_without_a_sidecar_is_one_of_photographs() {
        let dir = folder(&["wall-1.jpg"]);
        let options = Options {
            sidecar: None,
            defaults: Defaults::default(),
            recording: recording::Options::default(),
            limits: ImageLimits::default(),
        };
        let (mut source, faults) = open_directory(dir.path(), &options).unwrap();
        assert_eq!((source.remaining(), faults.total()), (Some(1), 0));
        assert_eq!(source.next_frame().unwrap().unwrap().meta.source, "camera");
        assert!(source.notes()[0].contains("EXIF"));
    }
}
