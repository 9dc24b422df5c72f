//! Frame source over a directory of recorded frames.
//!
//! Reads one file at a time, and none outside the directory, whatever a sidecar or a symbolic
//! link says: a sidecar may come from somewhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::vec;

use crate::base::picture::{BadImage, ImageLimits};
use crate::base::time::Timestamp;
use crate::capture::AnnouncedFrame;
use crate::capture::FrameFault;
use crate::capture::FrameSource;
use crate::capture::SourceFrame;
use crate::capture::is_image_name;

/// Announced frames of one directory, in the order of time.
#[derive(Debug)]
pub struct DirectorySource {
    /// Canonical.
    root: PathBuf,
    frames: vec::IntoIter<AnnouncedFrame>,
    limits: ImageLimits,
    known: usize,
    notes: Vec<String>,
}

impl DirectorySource {
    /// `root` is canonical; frames of equal time keep their order.
    pub fn new(root: PathBuf, mut frames: Vec<AnnouncedFrame>, limits: ImageLimits) -> Self {
        frames.sort_by_key(|frame| frame.meta.taken_at);
        Self { root, frames: frames.into_iter(), limits, known: 0, notes: Vec::new() }
    }

    /// With what is to be said of its frames.
    pub(super) fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// Images in the directory that `sidecar` does not name.
    pub fn find_unannounced(&self, sidecar: &str) -> Option<FrameFault> {
        let announced: BTreeSet<&str> =
            self.frames.as_slice().iter().map(|frame| frame.file.as_str()).collect();
        let folders: BTreeSet<&str> =
            announced.iter().map(|file| file.rsplit_once('/').map_or("", |(dir, _)| dir)).collect();
        let mut left_out: Vec<String> = folders
            .into_iter()
            .flat_map(|folder| self.images_in(folder))
            .filter(|file| !announced.contains(file.as_str()))
            .collect();
        left_out.sort();
        let first = left_out.first()?;
        let count = left_out.len();
        let reason = format!("no line names {count} of the image files, the first is {first:?}");
        Some(FrameFault { place: sidecar.to_owned(), reason })
    }

    /// Paths relative to the root; nothing where the folder cannot be read or
    /// lies outside, which each of its frames then reports.
    fn images_in(&self, folder: &str) -> Vec<String> {
        let Ok(path) = self.path_of(folder) else { return Vec::new() };
        let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
        entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_image_name(name))
            .map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") })
            .collect()
    }

    /// Canonical path of `file`, if it is within the directory.
    fn path_of(&self, file: &str) -> Result<PathBuf, Unreadable> {
        let relative = Path::new(file);
        if !relative.components().all(|it| matches!(it, Component::Normal(_) | Component::CurDir)) {
            return Err(Unreadable::Outside);
        }
        let path = self.root.join(relative).canonicalize()?;
        if path.starts_with(&self.root) { Ok(path) } else { Err(Unreadable::Outside) }
    }

    fn read(&self, file: &str) -> Result<Vec<u8>, Unreadable> {
        let path = self.path_of(file)?;
        // Before opening it: opening a pipe would wait for its writer.
        let found = fs::metadata(&path)?;
        if !found.is_file() {
            return Err(Unreadable::NoFile);
        }
        let max = self.limits.bytes_max;
        let too_large = |bytes| Unreadable::TooLarge(BadImage::FileTooLarge { bytes, max });
        let size = usize::try_from(found.len()).unwrap_or(usize::MAX);
        if size > max {
            return Err(too_large(size));
        }
        let mut image = Vec::with_capacity(size);
        // One more than accepted, so that a file that grows meanwhile is noticed.
        let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
        File::open(&path)?.take(limit).read_to_end(&mut image)?;
        if image.len() > max { Err(too_large(image.len())) } else { Ok(image) }
    }
}

impl FrameSource for DirectorySource {
    fn next_frame(&mut self) -> Option<Result<SourceFrame, FrameFault>> {
        let AnnouncedFrame { file, meta, caption } = self.frames.next()?;
        Some(match self.read(&file) {
            Ok(image) => Ok(SourceFrame { name: file, meta, image, caption }),
            Err(unreadable) => Err(FrameFault { place: file, reason: unreadable.to_string() }),
        })
    }

    fn remaining(&self) -> Option<usize> {
        Some(self.frames.len())
    }

    fn skip_known(&mut self, newest: &BTreeMap<String, Timestamp>) {
        let before = self.frames.len();
        let is_new = |frame: &AnnouncedFrame| {
            newest.get(&frame.meta.source).is_none_or(|newest| frame.meta.taken_at > *newest)
        };
        let rest: Vec<AnnouncedFrame> = self.frames.by_ref().filter(is_new).collect();
        self.frames = rest.into_iter();
        self.known += before - self.frames.len();
    }

    fn known(&self) -> usize {
        self.known
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("the path leads out of the directory, accepted are files within it")]
    Outside,
    #[error("it is no regular file")]
    NoFile,
    #[error(transparent)]
    TooLarge(BadImage),
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::frame::FrameMeta;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn announce(file: &str, seconds: u32, source: &str) -> AnnouncedFrame {
        let meta = FrameMeta {
            taken_at: Timestamp::from_seconds(f64::from(seconds)).unwrap(),
            pose: None,
            frame_id: "map".to_owned(),
            map_id: String::new(),
            source: source.to_owned(),
        };
        AnnouncedFrame { file: file.to_owned(), meta, caption: None }
    }

    fn source(dir: &TempDir, files: &[&str]) -> DirectorySource {
        let frames = files.iter().zip(1..).map(|(file, at)| announce(file, at, "front")).collect();
        let limits = ImageLimits { bytes_max: 10, ..ImageLimits::default() };
        DirectorySource::new(dir.path().canonicalize().unwrap(), frames, limits)
    }

    fn all(mut source: DirectorySource) -> Vec<Result<SourceFrame, FrameFault>> {
        std::iter::from_fn(|| source.next_frame()).collect()
    }

    /// The fault that `file` gives in `dir`.
    fn refuse(dir: &TempDir, file: &str) -> String {
        let found = all(source(dir, &[file]));
        let [Err(fault)] = found.as_slice() else { panic!("{file} was read: {found:?}") };
        assert_eq!(fault.place, file);
        fault.reason.clone()
    }

    #[test]
    fn frames_come_in_order_of_time_with_their_bytes() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("rgb")).unwrap();
        fs::write(dir.path().join("rgb/b.jpg"), "b").unwrap();
        fs::write(dir.path().join("a.jpg"), "a").unwrap();
        let frames = vec![announce("rgb/b.jpg", 2, "front"), announce("a.jpg", 1, "rear")];
        let root = dir.path().canonicalize().unwrap();
        let source = DirectorySource::new(root, frames, ImageLimits::default());
        assert_eq!(source.remaining(), Some(2));
        let frames: Vec<SourceFrame> = all(source).into_iter().map(Result::unwrap).collect();
        assert_eq!((frames[0].name.as_str(), &*frames[0].image), ("a.jpg", &b"a"[..]));
        assert_eq!((frames[1].name.as_str(), &*frames[1].image), ("rgb/b.jpg", &b"b"[..]));
    }

    #[test]
    fn a_missing_file_is_reported_and_the_rest_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("b.jpg"), "b").unwrap();
        let found = all(source(&dir, &["a.jpg", "b.jpg"]));
        assert!(found[0].as_ref().unwrap_err().reason.contains("cannot be read"));
        assert_eq!(found[1].as_ref().unwrap().name, "b.jpg");
    }

    #[test]
    fn nothing_outside_the_directory_is_read() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("secret.jpg"), "secret").unwrap();
        let dir = tempfile::tempdir_in(parent.path()).unwrap();
        fs::create_dir(dir.path().join("in")).unwrap();
        symlink(parent.path().join("secret.jpg"), dir.path().join("link.jpg")).unwrap();
        symlink(parent.path(), dir.path().join("folder")).unwrap();
        let absolute = parent.path().join("secret.jpg").to_string_lossy().into_owned();
        let paths =
            ["../secret.jpg", "in/../../secret.jpg", "link.jpg", "folder/secret.jpg", &absolute];
        for path in paths {
            assert!(refuse(&dir, path).contains("out of the directory"), "{path}");
        }
        symlink(dir.path().join("in"), dir.path().join("also")).unwrap();
        fs::write(dir.path().join("in/a.jpg"), "a").unwrap();
        assert_eq!(all(source(&dir, &["also/a.jpg"]))[0].as_ref().unwrap().image, b"a");
    }

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("folder.jpg")).unwrap();
        assert!(refuse(&dir, "folder.jpg").contains("no regular file"));
        fs::write(dir.path().join("large.jpg"), "01234567890").unwrap();
        assert!(refuse(&dir, "large.jpg").contains("has 11 bytes, accepted are at most 10"));
    }

    #[test]
    fn known_frames_are_skipped_by_camera() {
        let dir = tempfile::tempdir().unwrap();
        let frames = (1..=4)
            .flat_map(|at| [announce("f", at, "front"), announce("r", at, "rear")])
            .collect();
        let mut source =
            DirectorySource::new(dir.path().to_owned(), frames, ImageLimits::default());
        let at = |seconds: f64| Timestamp::from_seconds(seconds).unwrap();
        let newest = BTreeMap::from([("front".to_owned(), at(3.0)), ("other".to_owned(), at(9.0))]);
        source.skip_known(&newest);
        assert_eq!(source.known(), 3);
        assert_eq!(source.remaining(), Some(5));
    }

    #[test]
    fn images_that_no_line_names_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("rgb")).unwrap();
        for file in ["rgb/a.png", "rgb/b.PNG", "rgb/c.png", "rgb/notes.md", "cover.jpg"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        let fault = source(&dir, &["rgb/b.PNG"]).find_unannounced("frames.csv").unwrap();
        let expect = "frames.csv: no line names 2 of the image files, the first is \"rgb/a.png\"";
        assert_eq!(fault.to_string(), expect);
        let all = ["rgb/a.png", "rgb/b.PNG", "rgb/c.png", "../x.png"];
        assert_eq!(source(&dir, &all).find_unannounced("frames.csv"), None);
    }
}
