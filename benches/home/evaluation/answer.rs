//! Has a task done by `retrieve_object`, as any client would, and reads its answer.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::gold::Answer;
use super::household::Task;
use super::memory::position;
use engram::base::time::{Clock as _, SystemClock};
use engram::cli::client::{Client, ClientError, ClientOptions};

/// What the planner made of a task.
#[derive(Debug, Default)]
pub(super) struct Retrieval {
    /// Where the robot goes, in this order.
    pub(super) goals: Vec<Answer>,
    /// What it called, in order.
    pub(super) calls: Vec<String>,
    pub(super) millis: f64,
    /// The tool's words.
    pub(super) text: String,
    /// The tool refused the task or was too late.
    pub(super) is_error: bool,
    pub(super) is_late: bool,
}

const TOOL: &str = "retrieve_object";

/// Each task in a connection of its own: none has a past.
pub(super) fn retrieve(
    socket: &Path,
    task: &Task,
    planner: Option<&str>,
) -> anyhow::Result<Retrieval> {
    let mut client = Client::connect(socket, ClientOptions::default())?;
    let mut arguments = Map::new();
    arguments.insert("task".to_owned(), json!(task.words));
    arguments.insert("now".to_owned(), json!(task.now));
    if let Some(planner) = planner {
        arguments.insert("planner".to_owned(), json!(planner));
    }
    let started = SystemClock.tick();
    let reply = match client.call(TOOL, arguments) {
        Ok(reply) => reply,
        // A planner that fails at one task has failed at that task.
        Err(ClientError::Late(limit)) => {
            let text = format!("no answer within {limit:?}");
            return Ok(Retrieval { text, is_error: true, is_late: true, ..Retrieval::default() });
        }
        Err(error) => return Err(error).with_context(|| format!("{TOOL} {:?}", task.words)),
    };
    let millis = started.elapsed().as_secs_f64() * 1e3;
    if reply.is_error {
        return Ok(Retrieval { text: reply.text, millis, is_error: true, ..Retrieval::default() });
    }
    Ok(Retrieval {
        goals: goals(&reply.structured),
        calls: calls(&reply.structured),
        millis,
        text: reply.text,
        is_error: false,
        is_late: false,
    })
}

/// Goals without a target are all of one.
fn goals(reply: &Map<String, Value>) -> Vec<Answer> {
    let goals = reply.get("goals").and_then(Value::as_array);
    let mut targets: Vec<&str> = Vec::new();
    let mut answers = Vec::new();
    for goal in goals.into_iter().flatten().filter_map(Value::as_object) {
        let target = goal.get("target").and_then(Value::as_str).unwrap_or_default();
        let known = targets.iter().position(|it| *it == target);
        let number = known.unwrap_or(targets.len());
        if known.is_none() {
            targets.push(target);
        }
        answers.push(Answer { target: number, ..answer(goal) });
    }
    answers
}

fn answer(goal: &Map<String, Value>) -> Answer {
    let record = goal.get("record_id").and_then(Value::as_u64);
    let is_guess = goal.get("guess").and_then(Value::as_bool).unwrap_or_else(|| record.is_none());
    let probability = goal.get("probability").and_then(Value::as_f64);
    Answer { record, position: position(goal), is_guess, probability, target: 0 }
}

fn calls(reply: &Map<String, Value>) -> Vec<String> {
    let trace = reply.get("trace").and_then(Value::as_array);
    let call = |step: &Value| step.get("tool").and_then(Value::as_str).map(str::to_owned);
    trace.into_iter().flatten().filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_the_answer_in_their_order() {
        let check = |reply: &Value, expect: &[Answer]| {
            assert_eq!(goals(reply.as_object().unwrap()), expect);
        };
        let seen = |record, x| Answer {
            record: Some(record),
            position: Some([x, 2.0, 0.0]),
            ..Answer::default()
        };
        let two = json!({"goals": [
            {"position": [1.0, 2.0, 0.0], "record_id": 7},
            {"position": [9.0, 2.0, 0.0], "record_id": 8, "probability": 0.5},
        ]});
        check(&two, &[seen(7, 1.0), Answer { probability: Some(0.5), ..seen(8, 9.0) }]);
        let guess =
            json!({"goals": [{"position": [1.0, 2.0, 0.0], "record_id": 7, "guess": true}]});
        check(&guess, &[Answer { is_guess: true, ..seen(7, 1.0) }]);
        let of_two = json!({"goals": [
            {"position": [1.0, 2.0, 0.0], "record_id": 7, "target": "mug"},
            {"position": [9.0, 2.0, 0.0], "record_id": 8, "target": "book"},
            {"position": [3.0, 2.0, 0.0], "record_id": 9, "target": "mug"},
        ]});
        check(&of_two, &[seen(7, 1.0), Answer { target: 1, ..seen(8, 9.0) }, seen(9, 3.0)]);
        check(&json!({"goals": []}), &[]);
        check(&json!({}), &[]);
    }

    #[test]
    fn calls_are_those_of_the_trace() {
        let reply = json!({"trace": [{"tool": "start_task"}, {"tool": "recall_last_seen"}]});
        assert_eq!(calls(reply.as_object().unwrap()), ["start_task", "recall_last_seen"]);
    }
}
