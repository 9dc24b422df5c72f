//! A place to go to, as replies have it.

use serde::{Deserialize, Serialize};

use crate::retrieval::session::Goal;
use crate::tools::reply;

/// A place to go to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GoalReply {
    pub(crate) position: [f64; 3],
    theta: Option<f64>,
    frame_id: String,
    map_id: String,
    pub(crate) reason: String,
    record_id: Option<u64>,
    pub(crate) probability: f64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    guess: bool,
}

/// Goals in the order to visit.
pub(crate) fn replies(goals: &[Goal]) -> Vec<GoalReply> {
    goals.iter().map(GoalReply::of).collect()
}

impl GoalReply {
    pub(crate) fn of(goal: &Goal) -> Self {
        let Goal { record, position, theta, frame_id, map_id, reason, probability, is_guess } =
            goal.clone();
        Self {
            position,
            theta,
            frame_id,
            map_id,
            reason,
            record_id: record.map(|id| id.0),
            probability: reply::rounded(probability),
            guess: is_guess,
        }
    }
}

/// `(1.2, -0.4): last seen here at 2025-01-03 09:14:07 [#42, .70]`
pub(crate) fn line(goal: &Goal) -> String {
    let [x, y, _] = goal.position;
    let record = goal.record.map_or_else(String::new, |id| format!("#{id}, "));
    format!("({x:.1}, {y:.1}): {} [{record}{:.2}]", goal.reason, goal.probability)
}
