//! Recordings of robots: files of messages, of which images become frames.
//!
//! [`mcap`] reads the files, [`cdr`] the messages, [`tf`] knows where the cameras were. Topics
//! are found by their types, or named.

pub(super) mod cdr;
mod contents;
mod decode;
mod foxglove;
pub(super) mod known_poses;
mod mcap;
mod mcap_records;
pub mod messages;
mod poses;
mod rosbag1;
mod rosbag2;
mod source;
mod spans;
mod store;
pub mod tf;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub use contents::{Contents, ImageSample, TopicContents, list};
pub use known_poses::LocatedPose;
pub use poses::PoseOrigin;
pub use source::RecordingSource;
pub(in crate::capture) use source::WALL_CLOCK_FROM;
#[cfg(feature = "ros2")]
pub(in crate::capture) use source::{Unusable, encode};
pub use store::{Topic, Wire};

use crate::base::time::Timestamp;
use crate::capture::FrameFault;
use crate::capture::recording::messages::{Kind, Stamp};
use crate::capture::recording::store::{MessageStore, Messages};

/// What to take of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Topics of images; those that there are, where empty.
    pub images: Vec<String>,
    /// Topic of poses; found where `None`.
    pub pose: Option<String>,
    /// Coordinate frame that poses are wanted in.
    pub map_frame: String,
    pub clock: RecordingClock,
    /// Camera of the frames; their topic where `None`.
    pub source: Option<String>,
    pub map_id: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            images: Vec::new(),
            pose: None,
            map_frame: "map".to_owned(),
            clock: RecordingClock::Wall,
            source: None,
            map_id: String::new(),
        }
    }
}

/// What the stamps of a recording count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingClock {
    /// 1970, as clocks do; stamps of a simulation are refused.
    Wall,
    /// As many microseconds are added to each.
    Offset(i64),
    /// The first image was taken then, and the others as much later as their stamps are.
    Start(Timestamp),
}

/// Errors that make a recording unusable.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("the recording cannot be read: {reason}: {path:?}")]
    Unreadable { path: PathBuf, reason: String },
    #[error(
        "it is no recording; accepted are MCAP files (.mcap), rosbag2's SQLite files (.db3), bags of \
         ROS 1 (.bag), and directories of them: {path:?}"
    )]
    Unknown { path: PathBuf },
    #[error("the recording has no topic of images; it has {topics}: {path:?}")]
    NoImages { path: PathBuf, topics: String },
    #[error("the recording has no image that can be read: {reason}: {path:?}")]
    Empty { path: PathBuf, reason: String },
    #[error("--{flag} is {topic:?}, accepted are {accepted}: {path:?}")]
    NoTopic { flag: &'static str, topic: String, accepted: String, path: PathBuf },
    #[error("--source names one camera, and images come from {count} topics; name one by --image")]
    ManyCameras { count: usize },
    #[error(
        "the recording's stamps are of a simulation, the first is {first} s; say when that was \
         by --start TIME (recorded {recorded}), or what to add by --time-offset SECONDS: {path:?}"
    )]
    Simulated { first: Stamp, recorded: String, path: PathBuf },
    #[error("--start and --time-offset move a time out of the years 1970 to 9999: {path:?}")]
    OutOfRange { path: PathBuf },
}

/// Whether `path` is a recording: a file that begins as one, or a directory of such files.
pub fn is_recording(path: &Path) -> bool {
    if path.is_dir() { !files_in(path).is_empty() } else { format_of(path).is_some() }
}

/// Files of messages with the topics of all of them.
pub(super) struct Recording {
    path: PathBuf,
    stores: Vec<Rc<dyn MessageStore>>,
}

impl Recording {
    pub(super) fn open(path: &Path) -> Result<Self, RecordingError> {
        let unreadable = |path: &Path, reason: String| RecordingError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let metadata = fs::metadata(path).map_err(|error| unreadable(path, error.to_string()))?;
        let files = if metadata.is_dir() { files_in(path) } else { vec![path.to_owned()] };
        let mut stores: Vec<Rc<dyn MessageStore>> = Vec::new();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match format_of(&file) {
                Some(Format::Mcap) => {
                    let store = mcap::McapFile::open(&file, name)
                        .map_err(|bad| unreadable(&file, bad.to_string()))?;
                    stores.push(Rc::new(store));
                }
                Some(Format::Ros1) => {
                    let store = rosbag1::Rosbag1File::open(&file, name)
                        .map_err(|bad| unreadable(&file, bad.to_string()))?;
                    stores.push(Rc::new(store));
                }
                Some(Format::Sqlite) => {
                    let store = rosbag2::Rosbag2File::open(&file, name)
                        .map_err(|bad| unreadable(&file, bad.to_string()))?;
                    stores.push(Rc::new(store));
                }
                None => return Err(RecordingError::Unknown { path: file }),
            }
        }
        if stores.is_empty() {
            return Err(RecordingError::Unknown { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), stores })
    }

    /// By name, those of several files as one.
    fn topics(&self) -> Vec<Topic> {
        let mut topics: Vec<Topic> = Vec::new();
        for topic in self.stores.iter().flat_map(|store| store.topics()) {
            match topics.iter_mut().find(|it| it.name == topic.name && it.schema == topic.schema) {
                Some(known) => {
                    known.count = known.count.zip(topic.count).map(|(one, more)| one + more);
                }
                None => topics.push((*topic).clone()),
            }
        }
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        topics
    }

    fn faults(&self) -> impl Iterator<Item = &FrameFault> {
        self.stores.iter().flat_map(|store| store.faults())
    }

    /// Messages of the wanted topics of all files, one file after the other.
    fn read(&self, wanted: &dyn Fn(&Topic) -> bool) -> Messages {
        let parts: Vec<Messages> =
            self.stores.iter().map(|store| Rc::clone(store).read(wanted)).collect();
        Box::new(parts.into_iter().flatten())
    }

    fn choose_images(&self, named: &[String]) -> Result<BTreeSet<String>, RecordingError> {
        let topics = self.topics();
        let images: BTreeSet<&str> = topics
            .iter()
            .filter(|topic| topic.kind().is_some_and(Kind::is_image))
            .map(|topic| topic.name.as_str())
            .collect();
        if let Some(topic) = named.iter().find(|name| !images.contains(name.as_str())) {
            return Err(RecordingError::NoTopic {
                flag: "image",
                topic: topic.clone(),
                accepted: join(images.into_iter(), "topics of images, of which there are none"),
                path: self.path.clone(),
            });
        }
        if !named.is_empty() {
            return Ok(named.iter().cloned().collect());
        }
        if images.is_empty() {
            let shown = topics.iter().map(|it| format!("{} ({})", it.name, it.schema));
            let mut topics = join(shown, "no topics");
            if let Some(fault) = self.faults().next() {
                topics = format!("{topics} ({fault})");
            }
            return Err(RecordingError::NoImages { path: self.path.clone(), topics });
        }
        // A camera that is recorded twice is taken packed.
        let is_double = |name: &str| images.contains(format!("{name}/compressed").as_str());
        let is_depth = |name: &str| name.ends_with("/compressedDepth");
        let chosen = images.iter().filter(|name| !is_double(name) && !is_depth(name));
        Ok(chosen.map(|name| (*name).to_owned()).collect())
    }

    fn choose_poses(&self, options: &Options) -> Result<PoseOrigin, RecordingError> {
        let topics = self.topics();
        let map_frame = options.map_frame.clone();
        let has_tf = topics.iter().any(|topic| topic.kind() == Some(Kind::Transforms));
        if let Some(name) = &options.pose {
            let kind = topics.iter().find(|it| it.name == *name).and_then(Topic::kind);
            return match kind {
                Some(Kind::Transforms) => Ok(PoseOrigin::Transforms { map_frame }),
                Some(kind) if kind.is_pose() => Ok(PoseOrigin::Topic(name.clone())),
                _ => {
                    let is_pose = |it: &&Topic| it.kind().is_some_and(|kind| !kind.is_image());
                    let names = topics.iter().filter(is_pose).map(|it| it.name.as_str());
                    let accepted = join(names, "topics of poses, of which there are none");
                    let (topic, path) = (name.clone(), self.path.clone());
                    Err(RecordingError::NoTopic { flag: "pose", topic, accepted, path })
                }
            };
        }
        if has_tf && self.names_frame(&map_frame) {
            return Ok(PoseOrigin::Transforms { map_frame });
        }
        let odometry: Vec<&str> = topics
            .iter()
            .filter(|topic| topic.kind() == Some(Kind::Odometry))
            .map(|topic| topic.name.as_str())
            .collect();
        Ok(match odometry.as_slice() {
            [one] => PoseOrigin::Topic((*one).to_owned()),
            _ if has_tf => PoseOrigin::Transforms { map_frame },
            [] => {
                let reason = "the recording has neither tf nor odometry".to_owned();
                PoseOrigin::Nowhere { reason }
            }
            several => {
                let names = several.join(", ");
                let reason = format!("poses are on several topics, name one by --pose: {names}");
                PoseOrigin::Nowhere { reason }
            }
        })
    }

    /// Whether a transform of the first half minute names `frame`.
    fn names_frame(&self, frame: &str) -> bool {
        const LOOKED_THROUGH: i64 = 30_000_000_000;
        let mut tree = tf::TransformBuffer::default();
        let mut first = None;
        for message in self.read(&|topic| topic.kind() == Some(Kind::Transforms)).flatten() {
            let since = message.log_time.since(*first.get_or_insert(message.log_time));
            if since > LOOKED_THROUGH {
                break;
            }
            for transform in decode::transforms(&message).unwrap_or_default() {
                // Why one is left out is said where poses are looked for.
                tree.insert(&transform, message.topic.is_static()).unwrap_or_default();
            }
            if tree.has_frame(frame) {
                return true;
            }
        }
        false
    }
}

/// Formats of files, by their first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Mcap,
    Ros1,
    Sqlite,
}

fn format_of(path: &Path) -> Option<Format> {
    // Opening a pipe would wait for its writer.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut magic = [0; 16];
    let mut file = File::open(path).ok()?;
    file.read_exact(&mut magic).ok()?;
    match magic {
        [0x89, b'M', b'C', b'A', b'P', ..] => Some(Format::Mcap),
        _ if magic.starts_with(b"#ROSBAG V") => Some(Format::Ros1),
        _ if magic == *b"SQLite format 3\0" => Some(Format::Sqlite),
        _ => None,
    }
}

/// Recordings in a directory, in the order of their numbers: a recorder begins a new file when
/// one is full.
fn files_in(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let is_named = |path: &PathBuf| {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        matches!(ending.as_str(), "mcap" | "db3" | "bag")
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(is_named).filter(|path| format_of(path).is_some()).collect();
    files.sort_by_cached_key(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = stem.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let number = stem.get(name.len()..).and_then(|digits| digits.parse::<u64>().ok());
        (name, number, stem)
    });
    files
}

fn join(names: impl Iterator<Item = impl AsRef<str>>, none: &str) -> String {
    const SHOWN_MAX: usize = 30;
    let names: Vec<String> = names.map(|name| name.as_ref().to_owned()).collect();
    match names.get(..SHOWN_MAX) {
        Some(shown) => format!("{} and {} more", shown.join(", "), names.len() - SHOWN_MAX),
        None if names.is_empty() => none.to_owned(),
        None => names.join(", "),
    }
}

#[cfg(test)]
mod tests;
