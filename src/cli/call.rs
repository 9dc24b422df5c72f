//! `engram call`: one tool call from a shell.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Map, Value};

use crate::cli::client::{Client, ClientOptions};
use crate::cli::output::{complain, say};

/// What to call.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Name of the tool
    tool: String,
    /// Arguments as a JSON object, or - for standard input
    #[arg(default_value = "{}")]
    arguments: String,
    /// Print the text for language models instead of the JSON
    #[arg(long)]
    text: bool,
}

/// Prints the reply; a reply that says it is an error fails.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let mut client = Client::connect(socket, options)?;
    let reply = client.call(&flags.tool, arguments(&flags.arguments)?)?;
    if reply.is_error {
        complain(&reply.text);
        return Ok(ExitCode::FAILURE);
    }
    if flags.text {
        say(&reply.text)?;
    } else {
        say(&serde_json::to_string_pretty(&reply.structured)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn arguments(text: &str) -> anyhow::Result<Map<String, Value>> {
    let mut written = text.to_owned();
    if text == "-" {
        written.clear();
        std::io::stdin().read_to_string(&mut written)?;
    }
    serde_json::from_str(&written)
        .with_context(|| format!("the arguments {written:?} are no JSON object"))
}
