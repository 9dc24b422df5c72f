//! A place to go to, as replies have it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::score::Score;
use crate::retrieval::session::Goal;

// A place to go to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GoalReply {
    pub(crate) position: [f64; 3],
    pub(crate) theta: Option<f64>,
    pub(crate) frame_id: String,
    pub(crate) map_id: String,
    pub(crate) reason: String,
    record_id: Option<u64>,
    pub(crate) probability: Score,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guess: Option<bool>,
    // What is searched for there, where that differs from goal to goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
}

impl GoalReply {
    pub(crate) fn of(goal: &Goal) -> Self {
        let Goal {
            record,
            position,
            theta,
            frame_id,
            map_id,
            reason,
            probability,
            is_guess,
            target: _,
        } = goal.clone();
        Self {
            position,
            theta,
            frame_id,
            map_id,
            reason,
            record_id: record.map(|id| id.0),
            probability: Score(probability),
            guess: is_guess.then_some(true),
            target: None,
        }
    }

    /// Goals in the order to visit.
    pub(crate) fn list(goals: &[Goal]) -> Vec<Self> {
        let is_one = goals.windows(2).all(|it| matches!(it, [a, b] if a.target == b.target));
        let target = |goal: &Goal| (!is_one).then(|| goal.target.clone());
        goals.iter().map(|goal| Self { target: target(goal), ..Self::of(goal) }).collect()
    }

    /// `(1.2, -0.4): last seen here at 2025-01-03 09:14:07 [#42, .70]`
    pub(crate) fn line(&self) -> String {
        let Self { position: [x, y, _], reason, record_id, probability: Score(share), .. } = self;
        let record = record_id.map_or_else(String::new, |id| format!("#{id}, "));
        format!("({x:.1}, {y:.1}): {reason} [{record}{share:.2}]")
    }
}
