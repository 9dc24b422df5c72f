//! Recorded messages to what they say, whatever wrote them.

use crate::capture::recording::messages::{ImageMessage, Kind, PoseMessage, TransformMessage};
use crate::capture::recording::store::{Message, Wire};
use crate::capture::recording::{cdr, foxglove};

/// The image of a message of a topic of images.
pub(super) fn image(message: &Message) -> Result<ImageMessage<'_>, String> {
    let kind = kind(message)?;
    match (fields(message)?, kind) {
        (Fields::Ros(fields), kind) => cdr::image(kind, fields).map_err(text),
        (Fields::Foxglove(fields), Kind::Image) => foxglove::raw_image(&fields).map_err(text),
        (Fields::Foxglove(fields), _) => foxglove::compressed_image(&fields).map_err(text),
    }
}

pub(super) fn transforms(message: &Message) -> Result<Vec<TransformMessage>, String> {
    match fields(message)? {
        Fields::Ros(fields) => cdr::transforms(fields).map_err(text),
        Fields::Foxglove(fields) if message.topic.schema == "foxglove.FrameTransform" => {
            foxglove::transform(&fields).map(|it| vec![it]).map_err(text)
        }
        Fields::Foxglove(fields) => foxglove::transforms(&fields).map_err(text),
    }
}

pub(super) fn pose(message: &Message) -> Result<PoseMessage, String> {
    let kind = kind(message)?;
    match fields(message)? {
        Fields::Ros(fields) => cdr::pose(kind, fields).map_err(text),
        Fields::Foxglove(fields) => foxglove::pose(&fields).map_err(text),
    }
}

enum Fields<'a> {
    Ros(cdr::Fields<'a>),
    Foxglove(foxglove::Fields<'a>),
}

fn fields(message: &Message) -> Result<Fields<'_>, String> {
    let data = message.data.as_slice();
    match message.topic.wire {
        Wire::Cdr => cdr::Fields::cdr(data).map(Fields::Ros).map_err(text),
        Wire::Ros1 => Ok(Fields::Ros(cdr::Fields::ros1(data))),
        Wire::Protobuf => foxglove::Fields::protobuf(data).map(Fields::Foxglove).map_err(text),
        Wire::Json => foxglove::Fields::json(data).map(Fields::Foxglove).map_err(text),
        Wire::Other(_) => Err(unreadable(message)),
    }
}

fn kind(message: &Message) -> Result<Kind, String> {
    message.topic.kind().ok_or_else(|| unreadable(message))
}

fn unreadable(message: &Message) -> String {
    format!("messages of the type {:?} are not read", message.topic.schema)
}

fn text(bad: impl std::fmt::Display) -> String {
    bad.to_string()
}
