//! `engram dev-memory`: what a model's reply makes of an agent's memory and prompt.
//!
//! For whoever writes prompts: needs no daemon and keeps nothing. The reply comes from
//! the configured model, asked with the prompt and an image, or from a file.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Map, Value};

use crate::base::picture::Encoding;
use crate::cli::output::{complain, say};
use crate::config::Config;
use crate::memory::state::{render, reply};
use crate::model::endpoint::{Endpoint, Form, Question};

/// What to try.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Template of the prompt, with $memory[key] and the like
    #[arg(long, value_name = "FILE")]
    prompt: PathBuf,
    /// What the model answered, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "image")]
    reply: Option<PathBuf>,
    /// Image to ask the model of agent.endpoint about
    #[arg(long, value_name = "IMAGE")]
    image: Option<PathBuf>,
    /// What the user says; the template may name it as `$user_prompt`
    #[arg(value_name = "USER PROMPT", default_value = "")]
    user_prompt: String,
}

/// Prints the reply, its memory, and the prompt rendered with that memory.
pub(super) fn run(config: &Config, flags: &Flags) -> anyhow::Result<ExitCode> {
    let Flags { prompt, reply, image, user_prompt } = flags;
    let template = read(prompt)?;
    let mut variables = Map::new();
    variables.insert("user_prompt".to_owned(), Value::String(user_prompt.clone()));
    let reply = match reply {
        None => ask(config, &template, &variables, image.as_deref(), user_prompt)?,
        Some(reply) if reply == Path::new("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            text
        }
        Some(reply) => read(reply)?,
    };
    let memory = reply::memory_of(&reply)
        .with_context(|| format!("the model answered {:?}", shorten(&reply)))?;
    let rendered = render::render(&template, &memory, &variables)?;
    say(&format!("## Reply\n\n{}\n", reply.trim()))?;
    say(&format!("## Memory\n\n{}\n", serde_json::to_string_pretty(&memory)?))?;
    say(&format!("## Prompt\n\n{}", rendered.text))?;
    for missing in &rendered.missing {
        complain(&format!("WARNING: the template names {missing}, which is missing"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Has the configured model answer the prompt, as an agent with no memory yet has it.
fn ask(
    config: &Config,
    template: &str,
    variables: &Map<String, Value>,
    image: Option<&Path>,
    user_prompt: &str,
) -> anyhow::Result<String> {
    let Some(endpoint) = config.endpoint()? else {
        anyhow::bail!(
            "asking a model needs a language-model endpoint, and none is configured; set \
             agent.endpoint to the address of a local server, or run the model yourself and give \
             its answer with --reply FILE, or --reply - for standard input"
        );
    };
    if image.is_none() && user_prompt.trim().is_empty() {
        anyhow::bail!("there is nothing to ask the model: give --image IMAGE or a user prompt");
    }
    let image = image.map(|path| picture(config, path)).transpose()?;
    let system = render::render(template, &Map::new(), variables)?.text;
    let question = Question {
        system: Some(&system),
        user: user_prompt,
        image: image.as_ref().map(|(mime, bytes)| (*mime, bytes.as_slice())),
        form: Form::default(),
    };
    let timeout = endpoint.timeout;
    Ok(Endpoint::new(endpoint).ask(question, timeout)?.text)
}

/// Type and bytes of an image that the daemon would take, too.
fn picture(config: &Config, path: &Path) -> anyhow::Result<(&'static str, Vec<u8>)> {
    let bytes_max = config.image_limits().bytes_max;
    let unread = || format!("{} cannot be read", path.display());
    let mut bytes = Vec::new();
    let file = fs::File::open(path).with_context(unread)?;
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).with_context(unread)?;
    anyhow::ensure!(
        bytes.len() <= bytes_max,
        "{} is larger than {bytes_max} bytes (ingest.image_max_mb)",
        path.display()
    );
    let encoding =
        Encoding::of(&bytes).with_context(|| format!("{} is no image", path.display()))?;
    Ok((encoding.mime(), bytes))
}

/// The beginning of a long answer.
fn shorten(text: &str) -> &str {
    text.char_indices().nth(400).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}
