//! The loop between the daemon's socket and a robot's topics.
//!
//! Two connections: one waits for events, the other asks. Events wait in a bounded queue while a
//! question is answered; the daemon keeps the newest for one who is late. Goals from before the
//! start are not sent: the robot may have gone on.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::{self, Builder};
use std::time::Duration;

use anyhow::anyhow;
use crossbeam::channel::{Receiver, Sender, bounded};
use serde_json::{Map, Value, json};

use crate::agent::retrieve_object::RetrieveObject;
use crate::base::time::{Clock as _, SystemClock};
use crate::capture::ros2::{Goal, Outlet};
use crate::cli::client::{ClientError, ClientOptions, ClientReply};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::complain;
use crate::cli::patient_client::PatientClient;
use crate::cli::ros2::Flags;
use crate::tools::object_retrieval::watch_goals::WatchGoals;
use crate::tools::tool::Tool as _;

/// How long one call waits for an event; well within a call's deadline.
const WAIT: Duration = Duration::from_secs(20);
/// Between two attempts to reach a daemon that is gone, or that answers at once with nothing.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a wait for questions lasts until events are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Events that wait to be sent.
const EVENTS_MAX: usize = 64;

/// Speaks until Ctrl-C.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    Flags { domain, zenoh, name }: &Flags,
) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let mut asking = PatientClient::connect(socket, options)?;
    let mut outlet = Outlet::open(*domain, zenoh.as_deref(), name).map_err(|why| anyhow!(why))?;
    let (to, events) = bounded(EVENTS_MAX);
    let socket: PathBuf = socket.to_owned();
    // Ends with the process: it may be waiting for the daemon.
    let watch = move || watch(&socket, options, &to);
    drop(Builder::new().name("goal-watch".to_owned()).spawn(watch)?);
    while !interrupt.is_asked() {
        send(&outlet, &events).map_err(|why| anyhow!(why))?;
        for task in outlet.questions(LOOK).map_err(|why| anyhow!(why))? {
            let answer = answer(&mut asking, &task);
            outlet.answer(&answer.to_string()).map_err(|why| anyhow!(why))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn send(outlet: &Outlet, events: &Receiver<Value>) -> Result<(), String> {
    for event in events.try_iter() {
        outlet.send_event(&event.to_string())?;
        if let Some(goal) = goal_of(&event) {
            outlet.send_goal(&goal, SystemClock.now())?;
        }
    }
    Ok(())
}

/// Where the robot is sent by an event, if anywhere.
fn goal_of(event: &Value) -> Option<Goal> {
    let is_sent = matches!(event.get("status")?.as_str()?, "dispatched" | "next");
    let goal = event.get("goals")?.get(0).filter(|_| is_sent)?;
    let axis = |n: usize| goal.get("position")?.get(n)?.as_f64();
    Some(Goal {
        position: [axis(0)?, axis(1)?, axis(2)?],
        heading: goal.get("theta").and_then(Value::as_f64),
        frame_id: goal.get("frame_id")?.as_str()?.to_owned(),
    })
}

/// What the memory says to a request, with the request.
fn answer(client: &mut PatientClient, task: &str) -> Value {
    let mut arguments = Map::new();
    arguments.insert("task".to_owned(), json!(task));
    let error = match client.call(RetrieveObject::NAME, arguments) {
        Some(Ok(reply)) if !reply.is_error => {
            let mut answer = reply.structured;
            answer.insert("task".to_owned(), json!(task));
            return Value::Object(answer);
        }
        Some(Ok(reply)) => reply.text,
        Some(Err(error)) => error.to_string(),
        None => "the daemon is not there".to_owned(),
    };
    json!({"task": task, "error": error})
}

/// Thread that waits for events, from now on.
fn watch(socket: &Path, options: ClientOptions, to: &Sender<Value>) {
    let mut client = loop {
        match PatientClient::connect(socket, options) {
            Ok(client) => break client,
            Err(_) => thread::sleep(PAUSE),
        }
    };
    let mut after: Option<u64> = None;
    loop {
        let asked = SystemClock.tick();
        match next_events(&mut client, after) {
            None => thread::sleep(PAUSE),
            Some(Err(error)) => {
                complain(&format!("engram: events are not read: {error}"));
                thread::sleep(PAUSE);
            }
            Some(Ok(reply)) => {
                let events = reply.structured.get("events").and_then(Value::as_array);
                let is_first = after.is_none();
                let events: Vec<&Value> =
                    events.into_iter().flatten().filter(|_| !is_first).collect();
                for event in &events {
                    if to.send((*event).clone()).is_err() {
                        return;
                    }
                }
                let next = reply.structured.get("next").and_then(Value::as_u64);
                after = Some(next.or(after).unwrap_or(0));
                if !is_first && events.is_empty() && asked.elapsed() < PAUSE {
                    thread::sleep(PAUSE);
                }
            }
        }
    }
}

/// Events after that number; without one, those that there are, at once.
fn next_events(
    client: &mut PatientClient,
    after: Option<u64>,
) -> Option<Result<ClientReply, ClientError>> {
    let mut arguments = Map::new();
    arguments.insert("after".to_owned(), json!(after.unwrap_or(0)));
    if after.is_some() {
        arguments.insert("wait_seconds".to_owned(), json!(WAIT.as_secs()));
    }
    client.call(WatchGoals::NAME, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_robot_is_sent_by_what_sends_it() {
        let goal = json!({"position": [4.0, 1.25, 0.0], "theta": 0.5, "frame_id": "map"});
        let event = |status: &str| json!({"status": status, "goals": [goal, {}]});
        let sent = Goal { position: [4.0, 1.25, 0.0], heading: Some(0.5), frame_id: "map".into() };
        assert_eq!(goal_of(&event("dispatched")), Some(sent.clone()));
        assert_eq!(goal_of(&event("next")), Some(sent));
        for status in ["found", "reopened", "else"] {
            assert_eq!(goal_of(&event(status)), None, "{status}");
        }
        assert_eq!(goal_of(&json!({"status": "next", "goals": []})), None);
        let flat = json!({"status": "next", "goals": [{"position": [1.0], "frame_id": "map"}]});
        assert_eq!(goal_of(&flat), None);
    }
}
