//! A simulated household as its files have it: what the robot delivers, what its
//! frames truly show, and what is asked. `benches/home/README.md` describes the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use engram::base::time::{Timestamp, Zone};

use super::gold::Last;

/// Where something is on the map, in metres.
pub(super) type Position = [f64; 3];

/// Everything that is known of a household, also what the daemon is not told.
#[derive(Debug)]
pub(super) struct Household {
    pub(super) dir: PathBuf,
    /// In order of time.
    pub(super) frames: Vec<Frame>,
    pub(super) tasks: Vec<Task>,
    /// By name, the viewpoint of each piece of furniture.
    pub(super) viewpoints: BTreeMap<String, Position>,
    /// Everything that a caption can say of a thing, such as "a red mug".
    pub(super) phrases: Vec<String>,
}

/// What the robot delivers of one moment, and what it truly shows.
#[expect(clippy::struct_field_names, reason = "coordinate frames are called so")]
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) file: String,
    /// As the file has it, for whoever passes it on.
    pub(super) stamp: String,
    pub(super) time: Timestamp,
    pub(super) position: Position,
    pub(super) theta: f64,
    pub(super) frame_id: String,
    pub(super) map_id: String,
    pub(super) source: String,
    pub(super) caption: String,
    pub(super) shown: Vec<Shown>,
}

/// A thing in a frame.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Shown {
    pub(super) id: String,
    /// As a true caption names it.
    pub(super) phrase: String,
}

/// Something to ask for.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Task {
    #[serde(default)]
    pub(super) id: String,
    pub(super) family: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(rename = "task")]
    pub(super) words: String,
    /// When it is asked; a minute after the last frame where it does not say.
    #[serde(default)]
    pub(super) now: String,
    /// Any of these is right; none: nothing of the kind was ever seen.
    pub(super) objects: Vec<String>,
    /// Where looking is sensible for what was never seen.
    #[serde(default)]
    pub(super) spots: Vec<String>,
    /// Of a family beside the six: counted apart.
    #[serde(default)]
    pub(super) extra: bool,
    /// Its object is no longer where it was seen last, as later looks show.
    #[serde(default)]
    pub(super) gone: bool,
    /// Any of these is right for the second goal.
    #[serde(default)]
    pub(super) then: Vec<String>,
    /// No goal is right: nothing is to be fetched.
    #[serde(default)]
    pub(super) nothing: bool,
    /// The reply to a question has one of these words; none: it is no question.
    #[serde(default)]
    pub(super) answers: Vec<String>,
}

#[derive(Deserialize)]
struct FrameLine {
    file: String,
    time: String,
    position: Position,
    theta: f64,
    frame_id: String,
    map_id: String,
    source: String,
}

#[derive(Deserialize)]
struct TruthLine {
    file: String,
    caption: String,
    objects: Vec<Shown>,
}

#[derive(Deserialize)]
struct Story {
    places: BTreeMap<String, PlaceLine>,
    objects: Map<String, Value>,
    phrases: Vec<String>,
}

#[derive(Deserialize)]
struct PlaceLine {
    seen_from: [f64; 2],
}

/// Longest files that are read: some months of frames.
const FILE_BYTES_MAX: u64 = 256 << 20;

impl Household {
    /// Reads a directory that the simulator wrote, and tasks of one's own in place of
    /// its own.
    pub(super) fn read(dir: &Path, tasks: Option<&Path>) -> anyhow::Result<Self> {
        let story_path = dir.join("household.json");
        let story: Story = serde_json::from_str(&text_of(&story_path)?)
            .with_context(|| format!("{} is no household", story_path.display()))?;
        let frames = frames_of(dir)?;
        let last = frames.last().map(|frame| frame.time);
        let last = last.with_context(|| format!("{} has no frames", dir.display()))?;
        let tasks_path = tasks.map_or_else(|| dir.join("tasks.jsonl"), Path::to_owned);
        let mut tasks: Vec<Task> = lines_of(&tasks_path)?;
        for (index, task) in tasks.iter_mut().enumerate() {
            check(task, &story)
                .with_context(|| format!("{}:{}", tasks_path.display(), index + 1))?;
            if task.id.is_empty() {
                task.id = format!("{}-{}", task.family, index + 1);
            }
            if task.now.is_empty() {
                task.now = utc()?.format(last.plus(AFTER_THE_LAST));
            }
        }
        let viewpoint = |place: PlaceLine| {
            let [x, y] = place.seen_from;
            [x, y, 0.0]
        };
        let viewpoints = story.places.into_iter().map(|(name, it)| (name, viewpoint(it))).collect();
        Ok(Self { dir: dir.to_owned(), frames, tasks, viewpoints, phrases: story.phrases })
    }
}

impl Household {
    /// Where each of these objects was last seen; an error for one that no frame shows.
    pub(super) fn lasts(&self, objects: &[String]) -> anyhow::Result<Vec<Last>> {
        let last = |object: &String| {
            let (frame, shown) = self
                .showing(object)
                .next_back()
                .with_context(|| format!("no frame shows {object:?}"))?;
            Ok(Last { object: object.clone(), frame, position: shown.position })
        };
        objects.iter().map(last).collect()
    }

    /// The frames that show an object, with their indexes.
    pub(super) fn showing<'a>(
        &'a self,
        object: &'a str,
    ) -> impl DoubleEndedIterator<Item = (usize, &'a Frame)> {
        let frames = self.frames.iter().enumerate();
        frames.filter(move |(_, frame)| frame.shown.iter().any(|shown| shown.id == object))
    }
}

/// Between the last frame and a task that does not say when it is asked.
const AFTER_THE_LAST: Duration = Duration::from_mins(1);

fn frames_of(dir: &Path) -> anyhow::Result<Vec<Frame>> {
    let lines: Vec<FrameLine> = lines_of(&dir.join("frames.jsonl"))?;
    let truths: Vec<TruthLine> = lines_of(&dir.join("truth.jsonl"))?;
    ensure!(
        lines.iter().map(|it| &it.file).eq(truths.iter().map(|it| &it.file)),
        "frames.jsonl and truth.jsonl of {} do not name the same frames",
        dir.display()
    );
    lines.into_iter().zip(truths).map(|(line, truth)| frame(line, truth)).collect()
}

fn frame(line: FrameLine, truth: TruthLine) -> anyhow::Result<Frame> {
    let FrameLine { file, time: stamp, position, theta, frame_id, map_id, source } = line;
    let TruthLine { file: _, caption, objects: shown } = truth;
    let time = utc()?.parse(&stamp, Timestamp::EPOCH).with_context(|| format!("time of {file}"))?;
    Ok(Frame { file, stamp, time, position, theta, frame_id, map_id, source, caption, shown })
}

/// The zone of the files, and of the daemon that is asked.
fn utc() -> anyhow::Result<Zone> {
    Ok(Zone::from_name("UTC")?)
}

fn check(task: &Task, story: &Story) -> anyhow::Result<()> {
    for object in task.objects.iter().chain(&task.then) {
        ensure!(
            story.objects.contains_key(object),
            "objects or then has {object:?}; accepted is an id of household.json's objects"
        );
    }
    for spot in &task.spots {
        ensure!(
            story.places.contains_key(spot),
            "spots has {spot:?}; accepted is a name of household.json's places"
        );
    }
    if task.nothing {
        ensure!(
            task.objects.is_empty() && task.spots.is_empty() && task.then.is_empty(),
            "a task with nothing to fetch has no objects, spots or then"
        );
        return Ok(());
    }
    ensure!(task.answers.is_empty(), "answers are of a task with \"nothing\": true");
    ensure!(
        task.objects.is_empty() != task.spots.is_empty(),
        "a task has objects, any of which is right, or spots, where to look for what was never \
         seen; this one has {} objects and {} spots",
        task.objects.len(),
        task.spots.len()
    );
    Ok(())
}

/// Reads JSON lines; empty ones are passed over.
pub(super) fn lines_of<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let text = text_of(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), index + 1))
        })
        .collect()
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    let length = fs::metadata(path).with_context(|| format!("no {}", path.display()))?.len();
    ensure!(
        length <= FILE_BYTES_MAX,
        "{} has {length} bytes; accepted are {FILE_BYTES_MAX}",
        path.display()
    );
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}
