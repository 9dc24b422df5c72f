//! What files of messages have in common, whatever their format.

use std::rc::Rc;

use crate::capture::FrameFault;
use crate::capture::recording::messages::{Kind, Stamp};

/// File with messages of some topics.
pub(super) trait MessageStore {
    /// In the order of the file.
    fn topics(&self) -> Vec<Rc<Topic>>;

    /// What was found wrong while it was opened.
    fn faults(&self) -> &[FrameFault];

    /// The messages of the wanted topics, about in the order in which they were recorded. A part
    /// that cannot be read is a fault, and those behind it follow.
    fn read(self: Rc<Self>, wanted: &dyn Fn(&Topic) -> bool) -> Messages;
}

pub(super) type Messages = Box<dyn Iterator<Item = Result<Message, FrameFault>>>;

/// Stream of messages of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    pub name: String,
    /// Name of the messages' type.
    pub schema: String,
    pub wire: Wire,
    /// Messages, where that is known without reading them.
    pub count: Option<u64>,
}

impl Topic {
    /// What the messages are, if that is of use and they can be read.
    pub fn kind(&self) -> Option<Kind> {
        match self.wire {
            Wire::Cdr | Wire::Ros1 => self.kind_of(false),
            Wire::Protobuf | Wire::Json => self.kind_of(true),
            Wire::Other(_) => None,
        }
    }

    fn kind_of(&self, is_foxglove: bool) -> Option<Kind> {
        let is_fitting = self.schema.starts_with("foxglove.") == is_foxglove;
        Kind::of_type(&self.schema).filter(|_| is_fitting)
    }

    /// Transforms that hold at all times.
    pub fn is_static(&self) -> bool {
        self.name.ends_with("tf_static")
    }
}

/// How messages are laid out as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wire {
    Cdr,
    Ros1,
    /// With Foxglove's schemas.
    Protobuf,
    Json,
    Other(String),
}

impl Wire {
    /// By the name that MCAP and rosbag2 have for it.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "cdr" => Self::Cdr,
            "ros1" => Self::Ros1,
            "protobuf" => Self::Protobuf,
            "json" => Self::Json,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// Recorded message.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub topic: Rc<Topic>,
    /// When it was recorded.
    pub log_time: Stamp,
    pub data: Vec<u8>,
}
