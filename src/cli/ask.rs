//! `engram ask`: has the daemon find the object of a request, and prints the goals and the
//! calls.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::agent::retrieve_object;
use crate::agent::retrieve_object::RetrieveObject;
use crate::cli::client::{Client, ClientOptions};
use crate::cli::output::{complain, say};
use crate::tools::tool::Tool as _;

/// What to ask for.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// The request in words: "bring me the mug I use the most"
    #[arg(required = true)]
    task: Vec<String>,
    /// When it is asked, such as "2025-01-03 18:00:00" or -2h; now where absent
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    now: Option<String>,
    /// Who decides on the calls: rules, or model (the one of agent.endpoint)
    #[arg(long, value_name = "NAME")]
    planner: Option<String>,
    /// Print the reply as JSON
    #[arg(long)]
    json: bool,
}

/// Prints the goals and the calls that led to them; a refused task is a failure.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let mut client = Client::connect(socket, options)?;
    let mut arguments = Map::new();
    arguments.insert("task".to_owned(), json!(flags.task.join(" ")));
    for (name, value) in [("now", &flags.now), ("planner", &flags.planner)] {
        if let Some(value) = value {
            arguments.insert(name.to_owned(), json!(value));
        }
    }
    let reply = client.call(RetrieveObject::NAME, arguments)?;
    if reply.is_error {
        complain(&reply.text);
        return Ok(ExitCode::FAILURE);
    }
    if flags.json {
        say(&serde_json::to_string_pretty(&Value::Object(reply.structured))?)?;
    } else {
        say(&retrieve_object::describe(reply.structured)?.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
