//! Directory of frames that grows: which of its images are whole by now, in the order of time.
//!
//! An image is whole once nothing has changed of its file from one look to the next. Until then the
//! later ones of its camera wait for it, as a camera's frames are taken in by their times; one that
//! does not come is given up and told.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::base::time::Timestamp;
use crate::capture::directory::DirectorySource;
use crate::capture::{
    AnnouncedFrame, CaptureError, FrameFault, FrameFaults, Options, euroc, kitti, photographs,
    recording, sidecar,
};

/// How long the next frames of a camera wait for an image that is announced and not there, or
/// empty.
const PATIENCE: Duration = Duration::from_secs(10);
/// The one that grows line by line.
const SIDECAR: &str = "frames.jsonl";

/// Directory that is looked at again and again.
#[derive(Debug)]
pub struct GrowingDirectory {
    /// Canonical.
    root: PathBuf,
    options: Options,
    lines: Lines,
    /// Files that are done with.
    settled: BTreeSet<String>,
    /// Files that are not whole yet.
    coming: BTreeMap<String, Coming>,
    /// Frames up to these were known before.
    known_until: BTreeMap<String, Timestamp>,
    known: usize,
    newest: BTreeMap<String, Timestamp>,
}

/// What the sidecar says so far.
#[derive(Debug, Default)]
struct Lines {
    stat: Option<FileStat>,
    frames: Vec<AnnouncedFrame>,
    /// Faults that were told.
    faults: usize,
}

/// What changes of a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStat {
    bytes: u64,
    written: Option<SystemTime>,
}

#[derive(Debug, Clone, Copy)]
struct Coming {
    stat: Option<FileStat>,
    since: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Coming,
    Whole,
    Missed,
}

impl GrowingDirectory {
    /// Frames of a source up to the `newest` one that is known are not taken again.
    pub fn open(
        dir: &Path,
        options: Options,
        newest: BTreeMap<String, Timestamp>,
    ) -> Result<Self, CaptureError> {
        let root = dir.canonicalize().map_err(|error| CaptureError::NoDirectory {
            path: dir.to_owned(),
            reason: error.to_string(),
        })?;
        if let Some(other) = other_than_growing(&root, &options) {
            return Err(CaptureError::NotGrowing { path: dir.to_owned(), other });
        }
        Ok(Self {
            root,
            options,
            lines: Lines::default(),
            settled: BTreeSet::new(),
            coming: BTreeMap::new(),
            known_until: newest.clone(),
            known: 0,
            newest,
        })
    }

    /// Frames that are there now and were not before, and what is wrong with others.
    pub fn look(&mut self, now: Instant) -> Result<(DirectorySource, FrameFaults), CaptureError> {
        let mut faults = FrameFaults::default();
        let mut announced = self.announced(&mut faults)?;
        announced.sort_by_key(|frame| frame.meta.taken_at);
        let (mut whole, mut held_up) = (Vec::new(), BTreeSet::new());
        for frame in announced {
            let (source, taken_at) = (frame.meta.source.clone(), frame.meta.taken_at);
            let is_up_to = |newest: &BTreeMap<String, Timestamp>| {
                newest.get(&source).is_some_and(|newest| taken_at <= *newest)
            };
            let mut fault = |reason: String| {
                faults.push(FrameFault { place: frame.file.clone(), reason });
            };
            if is_up_to(&self.known_until) {
                self.known += 1;
            } else if is_up_to(&self.newest) {
                fault(format!("it came too late: newer frames of {source:?} are taken in"));
            } else {
                let arrival = self.arrival(&frame.file, now);
                if arrival == Arrival::Coming || held_up.contains(&source) {
                    held_up.insert(source);
                    continue;
                }
                if arrival == Arrival::Missed {
                    fault(format!("the file did not come within {} s", PATIENCE.as_secs()));
                } else {
                    self.newest.insert(source, taken_at);
                    self.settle(&frame.file);
                    whole.push(frame);
                    continue;
                }
            }
            self.settle(&frame.file);
        }
        Ok((DirectorySource::new(self.root.clone(), whole, self.options.limits), faults))
    }

    /// Frames that were known before.
    pub fn known(&self) -> usize {
        self.known
    }

    /// Frames that are announced and not done with.
    fn announced(&mut self, faults: &mut FrameFaults) -> Result<Vec<AnnouncedFrame>, CaptureError> {
        let default = self.root.join(SIDECAR);
        let path = self.options.sidecar.clone().unwrap_or(default);
        match stat(&path) {
            Some(stat) => {
                self.read_lines(&path, stat, faults)?;
                self.lines.frames.retain(|frame| !self.settled.contains(&frame.file));
                Ok(self.lines.frames.clone())
            }
            None if self.options.sidecar.is_some() => Ok(Vec::new()),
            None => self.list_photographs(faults),
        }
    }

    fn read_lines(
        &mut self,
        path: &Path,
        stat: FileStat,
        faults: &mut FrameFaults,
    ) -> Result<(), CaptureError> {
        if self.lines.stat == Some(stat) {
            return Ok(());
        }
        let listing = sidecar::read_growing(path, &self.options.defaults)?;
        for fault in listing.faults.first().iter().skip(self.lines.faults) {
            faults.push(fault.clone());
        }
        let told = listing.faults.first().len();
        self.lines = Lines { stat: Some(stat), frames: listing.frames, faults: told };
        Ok(())
    }

    fn list_photographs(
        &mut self,
        faults: &mut FrameFaults,
    ) -> Result<Vec<AnnouncedFrame>, CaptureError> {
        let defaults = &self.options.defaults;
        let mut names = photographs::names(&self.root)?;
        names.retain(|name| !self.settled.contains(name));
        let newest = self.newest.get(&defaults.source).copied();
        let found = photographs::announced(&self.root, names, defaults, newest);
        for fault in found.faults.first() {
            self.settle(&fault.place);
            faults.push(fault.clone());
        }
        Ok(found.frames)
    }

    fn arrival(&mut self, file: &str, now: Instant) -> Arrival {
        let stat = stat(&self.root.join(file));
        let before = self.coming.insert(file.to_owned(), Coming { stat, since: now });
        let Some(before) = before.filter(|it| it.stat == stat) else { return Arrival::Coming };
        if stat.is_some_and(|it| it.bytes > 0) {
            return Arrival::Whole;
        }
        self.coming.insert(file.to_owned(), before);
        if now.duration_since(before.since) < PATIENCE { Arrival::Coming } else { Arrival::Missed }
    }

    fn settle(&mut self, file: &str) {
        self.coming.remove(file);
        self.settled.insert(file.to_owned());
    }
}

fn stat(path: &Path) -> Option<FileStat> {
    let found = fs::metadata(path).ok()?;
    Some(FileStat { bytes: found.len(), written: found.modified().ok() })
}

/// What a directory or its sidecar is that does not grow frame by frame.
fn other_than_growing(root: &Path, options: &Options) -> Option<String> {
    if !root.is_dir() {
        return Some("it is a file".to_owned());
    }
    if let Some(path) = options.sidecar.clone().or_else(|| sidecar::find(root).ok()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_jsonl = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("jsonl"));
        return (!is_jsonl).then(|| format!("its sidecar is {name:?}"));
    }
    let whole = [
        (recording::is_recording(root), "it holds a robot's recording"),
        (euroc::find(root).is_some(), "it is laid out as EuRoC's data sets"),
        (kitti::find(root).is_some(), "it is laid out as KITTI's data sets"),
    ];
    whole.into_iter().find(|(is_so, _)| *is_so).map(|(_, what)| what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::picture::ImageLimits;
    use crate::capture::{Defaults, FrameSource as _};
    use std::fs::File;
    use std::io::Write as _;
    use tempfile::TempDir;

    /// A directory that is looked at once a second.
    struct Rig {
        dir: TempDir,
        growing: GrowingDirectory,
        now: Instant,
    }

    impl Rig {
        #[expect(clippy::disallowed_methods, reason = "a moment to count from")]
        fn new(newest: &[(&str, f64)]) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let newest = newest
                .iter()
                .map(|(source, seconds)| {
                    ((*source).to_owned(), Timestamp::from_seconds(*seconds).unwrap())
                })
                .collect();
            let growing = GrowingDirectory::open(dir.path(), options(), newest).unwrap();
            Self { dir, growing, now: Instant::now() }
        }

        fn write(&self, name: &str, text: &str) {
            let file = File::options().append(true).create(true).open(self.dir.path().join(name));
            file.unwrap().write_all(text.as_bytes()).unwrap();
        }

        fn announce(&self, file: &str, seconds: u32) {
            self.write(SIDECAR, &format!("{{\"file\":\"{file}\",\"time\":{seconds}}}\n"));
        }

        /// Names of the frames and faults of the next look.
        fn look(&mut self) -> (Vec<String>, Vec<String>) {
            self.now += Duration::from_secs(1);
            let (mut source, faults) = self.growing.look(self.now).unwrap();
            let frames = std::iter::from_fn(|| source.next_frame()).map(|it| it.unwrap().name);
            (frames.collect(), faults.first().iter().map(ToString::to_string).collect())
        }

        #[track_caller]
        fn expect(&mut self, frames: &[&str]) {
            let (found, faults) = self.look();
            assert_eq!(found, frames, "{faults:?}");
            assert_eq!(faults, Vec::<String>::new());
        }
    }

    fn options() -> Options {
        let recording = recording::Options::default();
        let (defaults, limits) = (Defaults::default(), ImageLimits::default());
        Options { sidecar: None, defaults, recording, limits }
    }

    #[test]
    fn photographs_are_taken_once_when_they_no_longer_grow() {
        let mut rig = Rig::new(&[]);
        rig.expect(&[]);
        rig.write("a.jpg", "half");
        rig.expect(&[]);
        rig.write("a.jpg", " and the rest");
        rig.expect(&[]);
        rig.expect(&["a.jpg"]);
        rig.expect(&[]);
        // Renamed into place.
        rig.write("b.part", "whole");
        rig.expect(&[]);
        fs::rename(rig.dir.path().join("b.part"), rig.dir.path().join("b.webp")).unwrap();
        rig.expect(&[]);
        rig.expect(&["b.webp"]);
        fs::create_dir(rig.dir.path().join("c.png")).unwrap();
        let (frames, faults) = rig.look();
        assert_eq!((frames.len(), faults), (0, vec!["c.png: it is no file".to_owned()]));
        rig.expect(&[]);
    }

    #[test]
    fn lines_wait_for_their_images_and_those_of_a_camera_for_one_another() {
        let mut rig = Rig::new(&[]);
        rig.announce("1.jpg", 1);
        rig.announce("2.jpg", 2);
        rig.write("2.jpg", "second");
        rig.expect(&[]);
        rig.expect(&[]);
        rig.write("1.jpg", "first");
        rig.write(SIDECAR, "{\"file\":\"3.jpg\",\"ti");
        rig.write("3.jpg", "third");
        rig.expect(&[]);
        rig.expect(&["1.jpg", "2.jpg"]);
        rig.write(SIDECAR, "me\":3}\n");
        rig.expect(&[]);
        rig.expect(&["3.jpg"]);
        rig.expect(&[]);
        rig.write(SIDECAR, "{\"file\":\"4.jpg\"}\n");
        let (_, faults) = rig.look();
        assert!(faults.len() == 1 && faults[0].starts_with("frames.jsonl:4: time"), "{faults:?}");
        rig.expect(&[]);
    }

    #[test]
    fn an_image_that_does_not_come_is_told_and_the_next_goes_on() {
        let mut rig = Rig::new(&[]);
        rig.announce("1.jpg", 1);
        rig.announce("2.jpg", 2);
        rig.write("1.jpg", "");
        rig.write("2.jpg", "second");
        for _ in 0..10 {
            rig.expect(&[]);
        }
        let (frames, faults) = rig.look();
        assert_eq!(frames, ["2.jpg"]);
        assert_eq!(faults, ["1.jpg: the file did not come within 10 s"]);
        rig.write("1.jpg", "too late");
        rig.expect(&[]);
    }

    #[test]
    fn what_is_known_is_not_taken_again_and_what_is_late_is_told() {
        let mut rig = Rig::new(&[("camera", 2.0), ("rear", 9.0)]);
        for number in 1..4 {
            rig.announce(&format!("{number}.jpg"), number);
            rig.write(&format!("{number}.jpg"), "image");
        }
        rig.expect(&[]);
        rig.expect(&["3.jpg"]);
        assert_eq!(rig.growing.known(), 2);
        rig.write("c.jsonl", "{\"file\":\"late.jpg\",\"time\":2.5}\n");
        rig.growing.options.sidecar = Some(rig.dir.path().join("c.jsonl"));
        let (frames, faults) = rig.look();
        assert_eq!(frames, Vec::<String>::new());
        let late = "late.jpg: it came too late: newer frames of \"camera\" are taken in";
        assert_eq!(faults, [late]);
    }

    #[test]
    fn what_does_not_grow_frame_by_frame_is_refused_by_name() {
        let refuse = |file: &str, text: &str, expect: &str| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let error = GrowingDirectory::open(dir.path(), options(), BTreeMap::new());
            let text = error.unwrap_err().to_string();
            assert!(text.contains(expect) && text.contains("frames.jsonl"), "{text}");
        };
        refuse("groundtruth.txt", "x", "its sidecar is \"groundtruth.txt\"");
        refuse("drive.db3", "SQLite format 3\0", "it holds a robot's recording");
        refuse("mav0/cam0/data.csv", "x", "laid out as EuRoC's");
    }
}
