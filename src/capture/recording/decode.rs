//! Recorded messages to what they say, whatever wrote them.

use crate::capture::recording::cdr::{self, BadMessage, Fields};
use crate::capture::recording::messages::{ImageMessage, Kind, PoseMessage, TransformMessage};
use crate::capture::recording::store::{Message, Wire};

/// The image of a message of a topic of images.
pub(super) fn image(message: &Message) -> Result<ImageMessage<'_>, String> {
    cdr::image(kind(message)?, fields(message)?).map_err(text)
}

pub(super) fn transforms(message: &Message) -> Result<Vec<TransformMessage>, String> {
    cdr::transforms(fields(message)?).map_err(text)
}

pub(super) fn pose(message: &Message) -> Result<PoseMessage, String> {
    cdr::pose(kind(message)?, fields(message)?).map_err(text)
}

fn fields(message: &Message) -> Result<Fields<'_>, String> {
    match message.topic.wire {
        Wire::Cdr => Fields::cdr(&message.data).map_err(text),
        Wire::Ros1 => Ok(Fields::ros1(&message.data)),
        Wire::Other(_) => Err(unreadable(message)),
    }
}

fn kind(message: &Message) -> Result<Kind, String> {
    message.topic.kind().ok_or_else(|| unreadable(message))
}

fn unreadable(message: &Message) -> String {
    format!("messages of the type {:?} are not read", message.topic.schema)
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function in `map_err`")]
fn text(bad: BadMessage) -> String {
    bad.to_string()
}
