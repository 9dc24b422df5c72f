//! What a recording holds, topic by topic, for people who choose from it.

use std::path::Path;

use crate::capture::recording::messages::{ImageContent, ImageMessage, Kind};
use crate::capture::recording::source::is_depth;
use crate::capture::recording::{Options, PoseOrigin, Recording, RecordingError, Topic, decode};

/// What a recording holds, and what would be taken of it.
#[derive(Debug)]
pub struct Contents {
    pub topics: Vec<TopicContents>,
    /// `None` where it has no images.
    pub poses: Option<PoseOrigin>,
    /// What is wrong with it.
    pub faults: Vec<String>,
}

#[derive(Debug)]
pub struct TopicContents {
    pub topic: Topic,
    pub kind: Option<Kind>,
    /// Whether its images or poses would be taken.
    pub is_taken: bool,
    /// First image, or why it is none.
    pub sample: Option<Result<ImageSample, String>>,
}

/// What the first image of a topic is like.
#[derive(Debug)]
pub struct ImageSample {
    /// Width and height, where they are said.
    pub size: Option<(u32, u32)>,
    /// Encoding, or format.
    pub encoding: String,
    pub frame_id: String,
}

/// Reads what the recording at `path` holds.
pub fn list(path: &Path, options: &Options) -> Result<Contents, RecordingError> {
    let recording = Recording::open(path)?;
    let images = match recording.choose_images(&options.images) {
        Ok(images) => images,
        Err(RecordingError::NoImages { .. }) => std::collections::BTreeSet::new(),
        Err(other) => return Err(other),
    };
    let poses = recording.choose_poses(options)?;
    let topics = recording.topics().into_iter().map(|topic| {
        let kind = topic.kind();
        let is_pose = match &poses {
            PoseOrigin::Transforms { .. } => kind == Some(Kind::Transforms),
            PoseOrigin::Topic(name) => *name == topic.name,
            PoseOrigin::Nowhere { .. } => false,
        };
        let sample = kind.is_some_and(Kind::is_image).then(|| sample(&recording, &topic)).flatten();
        let is_depth =
            matches!(&sample, Some(Ok(ImageSample { encoding, .. })) if is_depth(encoding));
        let is_image = images.contains(&topic.name) && !is_depth;
        let is_taken = is_image || (is_pose && !images.is_empty());
        TopicContents { topic, kind, is_taken, sample }
    });
    let topics = topics.collect();
    let faults = recording.faults().map(ToString::to_string).collect();
    Ok(Contents { topics, poses: (!images.is_empty()).then_some(poses), faults })
}

fn sample(recording: &Recording, topic: &Topic) -> Option<Result<ImageSample, String>> {
    let message = match recording.read(&|it| it.name == topic.name).next()? {
        Ok(message) => message,
        Err(fault) => return Some(Err(fault.to_string())),
    };
    Some(decode::image(&message).map(|ImageMessage { header, content }| {
        let (size, encoding) = match content {
            ImageContent::Raw { width, height, encoding, .. } => (Some((width, height)), encoding),
            ImageContent::Compressed { format, data: _ } => (None, format),
        };
        ImageSample { size, encoding, frame_id: header.frame_id }
    }))
}
