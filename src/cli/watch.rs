//! `engram watch goals`: prints where the robot is sent, as it is sent.

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::base::time::{Clock as _, SystemClock};
use crate::cli::client::{Client, ClientOptions};
use crate::cli::output::say;
use crate::tools::object_retrieval::watch_goals::WatchGoals;
use crate::tools::tool::Tool as _;

/// What to follow.
#[derive(Debug, Subcommand)]
pub(super) enum Watch {
    /// The goals of searches, and what was reported of them, a line each
    Goals(Flags),
}

#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Only events after the one of this number
    #[arg(long, default_value_t = 0)]
    after: u64,
    /// Print each event as a line of JSON
    #[arg(long)]
    json: bool,
}

/// How long one call waits for an event; well within a call's deadline.
const WAIT: Duration = Duration::from_secs(20);
/// A reply that came without waiting and holds nothing: as many follow as may, and
/// this one asks again after a while.
const PAUSE: Duration = Duration::from_secs(1);

/// Prints events until the daemon goes or nobody reads.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    watch: &Watch,
) -> anyhow::Result<ExitCode> {
    let Watch::Goals(Flags { after, json }) = watch;
    let mut client = Client::connect(socket, options)?;
    let mut after = *after;
    loop {
        let asked = SystemClock.tick();
        let mut arguments = Map::new();
        arguments.insert("after".to_owned(), json!(after));
        arguments.insert("wait_seconds".to_owned(), json!(WAIT.as_secs()));
        let reply = client.call(WatchGoals::NAME, arguments)?;
        anyhow::ensure!(!reply.is_error, "{}", reply.text);
        let events = reply.structured.get("events").and_then(Value::as_array);
        for event in events.into_iter().flatten() {
            say(&if *json { event.to_string() } else { line(event) })?;
        }
        let is_empty = events.is_none_or(Vec::is_empty);
        after = reply.structured.get("next").and_then(Value::as_u64).unwrap_or(after);
        if is_empty && asked.elapsed() < PAUSE {
            thread::sleep(PAUSE);
        }
    }
}

/// `2025-01-03 12:00:00 dispatched "red mug": (4.0, 1.0) … (session robot, event 17)`
fn line(event: &Value) -> String {
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or("-").to_owned();
    let first = event.get("goals").and_then(|goals| goals.get(0));
    let goal = first.map_or_else(String::new, |goal| {
        let at = |axis: usize| {
            let position = goal.get("position").and_then(|position| position.get(axis));
            position.and_then(Value::as_f64).unwrap_or(0.0)
        };
        let reason = goal.get("reason").and_then(Value::as_str).unwrap_or_default();
        format!(": ({:.1}, {:.1}) {reason}", at(0), at(1))
    });
    let number = event.get("number").and_then(Value::as_u64).unwrap_or(0);
    format!(
        "{} {} {:?}{goal} (session {}, event {number})",
        text("time"),
        text("status"),
        text("target"),
        text("session"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let goal = json!({"position": [4.0, 1.25, 0.0], "reason": "last seen here"});
        let event = json!({
            "number": 7, "time": "2025-01-03 12:00:00", "session": "robot",
            "status": "dispatched", "target": "red mug", "goals": [goal],
        });
        assert_eq!(
            line(&event),
            "2025-01-03 12:00:00 dispatched \"red mug\": (4.0, 1.2) last seen here (session robot, \
             event 7)"
        );
        let found = json!({"number": 8, "time": "t", "session": "s", "status": "found",
            "target": "mug", "goals": []});
        assert_eq!(line(&found), "t found \"mug\" (session s, event 8)");
    }
}
