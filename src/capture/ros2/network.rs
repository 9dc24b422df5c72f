//! What is asked of a robot's network, whichever of ROS 2's its nodes speak.

use std::fmt::Debug;
use std::time::Duration;

use crate::capture::ros2::topics::Topic;

/// Place in a network from which others' topics are heard, and own ones said.
pub(super) trait Network: Debug {
    /// What others publish, as far as they are known by now, in the order of its names.
    fn offered(&self) -> Vec<Topic>;

    fn subscribe(&mut self, topic: &Topic, delivery: Delivery) -> Result<Subscription, String>;

    /// Starts to publish messages that every subscriber gets which is there when they are sent;
    /// so many wait for one that is slow.
    fn publish(&mut self, topic: &Topic, depth: i32) -> Result<Box<dyn Publication>, String>;

    /// Waits for a message, as long as `patience`.
    fn wait(&mut self, patience: Duration) -> Result<(), String>;
}

/// What a subscription asks of its publishers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Whatever comes from now on, so many at a time: serves every publisher.
    Newest(i32),
    /// The same, with what got lost repeated where every publisher known by now does that.
    Steady(i32),
    /// Every message from now on, as long as no more wait; serves publishers that repeat them.
    Every(i32),
    /// Also what was said before; for publishers that keep it.
    Kept(i32),
}

impl Delivery {
    /// How many messages wait at most.
    pub(super) fn depth(self) -> usize {
        let (Self::Newest(depth) | Self::Steady(depth) | Self::Every(depth) | Self::Kept(depth)) =
            self;
        usize::try_from(depth).unwrap_or(1)
    }
}

/// Messages of one topic.
#[derive(Debug)]
pub(super) struct Subscription {
    pub topic: Topic,
    pub messages: Box<dyn Messages>,
}

/// Own messages of one topic.
pub(super) trait Publication: Debug {
    /// Sends a message in little-endian CDR, with its header.
    fn send(&self, message: Vec<u8>) -> Result<(), String>;
}

/// What waits to be read.
pub(super) trait Messages: Debug {
    /// What came, the oldest first, each with the header of its encoding; no more than are kept, as
    /// others may come faster than they are read.
    fn take(&self) -> Vec<Result<Vec<u8>, String>>;
}
