//! `engram tools`: the catalogue, for people and for agents without MCP.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::agent;
use crate::cli::output::say;
use crate::config::Config;
use crate::tools::ToolSpec;

/// How to print the catalogue.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// As function definitions of OpenAI's API, a JSON list
    #[arg(long)]
    openai: bool,
}

/// Prints the tools that the settings list; needs no daemon.
pub(super) fn run(config: &Config, flags: &Flags) -> anyhow::Result<ExitCode> {
    let specs = agent::specs(&config.toolsets()?);
    if flags.openai {
        let functions: Value = specs.iter().map(function).collect();
        say(&serde_json::to_string_pretty(&functions)?)?;
    } else {
        let lines: Vec<String> = specs.iter().map(line).collect();
        say(&lines.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn function(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.input_schema,
        },
    })
}

fn line(spec: &ToolSpec) -> String {
    format!("{:<18}{:<54}{}", spec.toolset.name(), spec.name, spec.title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Toolset;

    #[test]
    fn functions_have_the_shape_that_openai_documents() {
        for spec in agent::specs(&Toolset::ALL) {
            let function = function(&spec);
            assert_eq!(function["type"], "function");
            let it = function["function"].as_object().unwrap();
            let keys: Vec<&str> = it.keys().map(String::as_str).collect();
            assert_eq!(keys, ["name", "description", "parameters"]);
            let name = it["name"].as_str().unwrap();
            // OpenAI's rule for names.
            assert!((1..=64).contains(&name.len()), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            assert_eq!(it["parameters"]["type"], "object");
            assert!(it["parameters"]["properties"].is_object());
        }
    }
}
