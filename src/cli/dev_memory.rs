//! `engram dev-memory`: what a model's reply makes of an agent's memory and prompt.
//!
//! For whoever writes prompts: needs no daemon and keeps nothing.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Map, Value};

use crate::cli::output::say;
use crate::memory::state::{render, reply};

/// What to try.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Template of the prompt, with $memory[key] and the like
    #[arg(long, value_name = "FILE")]
    prompt: PathBuf,
    /// What the model answered, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "image")]
    reply: Option<PathBuf>,
    /// Image to ask a model about
    #[arg(long, value_name = "IMAGE")]
    image: Option<PathBuf>,
    /// What the user says; the template may name it as `$user_prompt`
    #[arg(value_name = "USER PROMPT", default_value = "")]
    user_prompt: String,
}

/// Prints the reply, its memory, and the prompt rendered with that memory.
#[expect(
    clippy::print_stderr,
    reason = "what is missing must be seen, and not be part of the prompt"
)]
pub(super) fn run(flags: &Flags) -> anyhow::Result<ExitCode> {
    let Flags { prompt, reply, image: _, user_prompt } = flags;
    let Some(reply) = reply else {
        anyhow::bail!(
            "asking a model needs a language-model endpoint, and none is configured; run the model \
             yourself and give its answer with --reply FILE, or --reply - for standard input"
        );
    };
    let template = read(prompt)?;
    let reply = if reply == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else {
        read(reply)?
    };
    let memory = reply::memory_of(&reply)?;
    let mut variables = Map::new();
    variables.insert("user_prompt".to_owned(), Value::String(user_prompt.clone()));
    let rendered = render::render(&template, &memory, &variables)?;
    say(&format!("## Reply\n\n{}\n", reply.trim()))?;
    say(&format!("## Memory\n\n{}\n", serde_json::to_string_pretty(&memory)?))?;
    say(&format!("## Prompt\n\n{}", rendered.text))?;
    for missing in &rendered.missing {
        eprintln!("WARNING: the template names {missing}, which is missing");
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}
