//! What the memory tells a robot's nodes, and what they ask it: goals, events and answers.

use std::time::Duration;

use crate::base::time::Timestamp;
use crate::capture::recording::cdr::{self, Fields};
use crate::capture::ros2::Goal;
use crate::capture::ros2::dds::{Domain, Publication};
use crate::capture::ros2::layout;
use crate::capture::ros2::network::{Delivery, Network as _, Subscription};
use crate::capture::ros2::topics::Topic;

/// Messages of each topic that wait for whoever is slow.
const KEPT: i32 = 50;

/// Topics below one name.
#[derive(Debug)]
pub struct Outlet {
    domain: Domain,
    goals: Publication,
    events: Publication,
    answers: Publication,
    questions: Subscription,
}

impl Outlet {
    /// Joins the domain, with the topics `goal`, `events`, `ask` and `answer` below `name`.
    pub fn open(domain: u16, name: &str) -> Result<Self, String> {
        let topic = |last: &str, schema: &str| {
            Topic::new(&format!("/{}/{last}", name.trim_matches('/')), schema)
        };
        let mut domain = Domain::join(domain)?;
        let text = "std_msgs/msg/String";
        Ok(Self {
            goals: domain.publish(&topic("goal", "geometry_msgs/msg/PoseStamped"), KEPT)?,
            events: domain.publish(&topic("events", text), KEPT)?,
            answers: domain.publish(&topic("answer", text), KEPT)?,
            questions: domain.subscribe(&topic("ask", text), Delivery::Every(KEPT))?,
            domain,
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
        self.domain.wait(patience)?;
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
