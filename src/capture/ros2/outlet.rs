//! What the memory tells a robot's nodes, and what they ask it: goals, events and answers.

use std::time::Duration;

use crate::base::time::Timestamp;
use crate::capture::recording::cdr::{self, Fields};
use crate::capture::ros2::network::{Delivery, Network, Publication, Subscription};
use crate::capture::ros2::topics::Topic;
use crate::capture::ros2::{self, Goal, layout};

/// Messages of each topic that wait for whoever is slow.
const KEPT: i32 = 50;

/// Topics below one name.
#[derive(Debug)]
pub struct Outlet {
    network: Box<dyn Network>,
    goals: Box<dyn Publication>,
    events: Box<dyn Publication>,
    answers: Box<dyn Publication>,
    questions: Subscription,
}

impl Outlet {
    /// Joins the domain, over the router `zenoh` or over DDS, with the topics `goal`, `events`,
    /// `ask` and `answer` below `name`.
    pub fn open(domain: u16, zenoh: Option<&str>, name: &str) -> Result<Self, String> {
        let topic = |last: &str, schema: &str| {
            Topic::new(&format!("/{}/{last}", name.trim_matches('/')), schema)
        };
        let mut network = ros2::join(domain, zenoh)?;
        let text = "std_msgs/msg/String";
        Ok(Self {
            goals: network.publish(&topic("goal", "geometry_msgs/msg/PoseStamped"), KEPT)?,
            events: network.publish(&topic("events", text), KEPT)?,
            answers: network.publish(&topic("answer", text), KEPT)?,
            questions: network.subscribe(&topic("ask", text), Delivery::Every(KEPT))?,
            network,
        })
    }

    pub fn send_goal(&self, goal: &Goal, at: Timestamp) -> Result<(), String> {
        self.goals.send(layout::pose_stamped(goal, at))
    }

    pub fn send_event(&self, text: &str) -> Result<(), String> {
        self.events.send(layout::string(text))
    }

    pub fn answer(&self, text: &str) -> Result<(), String> {
        self.answers.send(layout::string(text))
    }

    /// What is asked by now, waiting for it as long as `patience`.
    pub fn questions(&mut self, patience: Duration) -> Result<Vec<String>, String> {
        self.network.wait(patience)?;
        let read = |message: Result<Vec<u8>, String>| {
            let message = message?;
            let fields = Fields::cdr(&message).map_err(|bad| bad.to_string())?;
            cdr::string(fields).map_err(|bad| bad.to_string())
        };
        // What is no text is nobody's question.
        Ok(self
            .questions
            .messages
            .take()
            .into_iter()
            .filter_map(|message| read(message).ok())
            .collect())
    }
}
