//! `engram tools`: the catalogue, for people and for agents without MCP.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::agent;
use crate::cli::output::say;
use crate::config::Config;
use crate::tools::{self, ToolError, ToolSpec, Toolset};

/// How to print the catalogue.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// One of them: its arguments, its reply and a call as an example
    #[arg(conflicts_with = "openai")]
    name: Option<String>,
    /// As function definitions of OpenAI's API, a JSON list
    #[arg(long)]
    openai: bool,
}

/// Prints the tools that the settings list; needs no daemon.
pub(super) fn run(config: &Config, flags: &Flags) -> anyhow::Result<ExitCode> {
    if let Some(name) = &flags.name {
        say(&describe(name)?)?;
        return Ok(ExitCode::SUCCESS);
    }
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

/// All that an agent is told of a tool, for people.
fn describe(name: &str) -> anyhow::Result<String> {
    let specs = agent::specs(&Toolset::ALL);
    let is_meant = |it: &&ToolSpec| it.name == name || it.aliases.contains(&name);
    let Some(spec) = specs.iter().find(is_meant) else {
        let error = ToolError::UnknownTool(name.to_owned());
        let suggestion = tools::suggestion(name, specs.iter().map(|it| it.name));
        anyhow::bail!("{error}{suggestion}; `engram tools` lists them");
    };
    let roles = spec.roles.to_string().replace(", ", " or ");
    let mut lines = vec![
        format!("{}: {}", spec.name, spec.title),
        format!("  {}", spec.description),
        format!("  toolset {}; needs the role {}", spec.toolset.name(), roles),
        "Arguments:".to_owned(),
    ];
    let required: Vec<&str> = names(&spec.input_schema, "required").collect();
    let properties = members(&spec.input_schema, "properties");
    if properties.is_empty() {
        lines.push("  none".to_owned());
    }
    for (argument, schema) in &properties {
        let kind = schema.get("type").map_or_else(|| "any".to_owned(), plain);
        let mut line = format!("  {argument} ({kind}");
        if required.contains(&argument.as_str()) {
            line.push_str(", required");
        }
        line.push(')');
        for (key, word) in [("description", ""), ("enum", " One of "), ("default", " Default ")] {
            if let Some(value) = schema.get(key) {
                line.push_str(&if word.is_empty() {
                    format!(" {}", plain(value))
                } else {
                    format!("{word}{value}.")
                });
            }
        }
        lines.push(line);
    }
    let always: Vec<&str> = names(&spec.output_schema, "required").collect();
    let reply: Vec<String> = members(&spec.output_schema, "properties")
        .into_iter()
        .map(|(name, _)| if always.contains(&name.as_str()) { name } else { format!("{name}?") })
        .collect();
    lines.push(format!("Reply: {}", reply.join(", ")));
    let example: Map<String, Value> = properties
        .iter()
        .filter(|(name, _)| required.contains(&name.as_str()))
        .map(|(name, schema)| (name.clone(), example_of(name, schema)))
        .collect();
    let example = Value::Object(example).to_string().replace('\'', "'\\''");
    lines.push(format!("Example:\n  engram call {} '{example}' --text", spec.name));
    Ok(lines.join("\n"))
}

fn members(schema: &Map<String, Value>, key: &str) -> Vec<(String, Value)> {
    let members = schema.get(key).and_then(Value::as_object).into_iter().flatten();
    members.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn names<'a>(schema: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a str> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value that the argument takes.
fn example_of(name: &str, schema: &Value) -> Value {
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|it| it.first());
    if let Some(value) = schema.get("default").or_else(|| first("enum")) {
        return value.clone();
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    };
    match kind {
        Some("integer") => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        Some("number") => json!(0.5),
        Some("boolean") => json!(true),
        Some("array") => {
            schema.get("items").map_or_else(|| json!([]), |it| json!([example_of(name, it)]))
        }
        Some("object") => json!({}),
        _ if name.contains("time") || name == "start" || name == "end" => {
            json!("2025-01-03 20:15:00")
        }
        _ if name.contains("query") || name.contains("desc") => json!("a red mug"),
        _ if name == "task" => json!("bring me the red mug"),
        _ if name == "text" => json!("the door code changed"),
        _ => json!(name),
    }
}

fn line(spec: &ToolSpec) -> String {
    format!("{:<18}{:<54}{}", spec.toolset.name(), spec.name, spec.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_is_described_with_an_example_that_names_what_it_needs() {
        for spec in agent::specs(&Toolset::ALL) {
            let text = describe(spec.name).unwrap();
            let example = text.split_once(&format!("engram call {} '", spec.name)).unwrap().1;
            let example = example.strip_suffix("' --text").unwrap();
            let example: Map<String, Value> = serde_json::from_str(example).unwrap();
            let required: Vec<&str> = names(&spec.input_schema, "required").collect();
            assert!(required.iter().all(|name| example.contains_key(*name)), "{text}");
            for (name, _) in members(&spec.input_schema, "properties") {
                assert!(text.contains(&format!("  {name} (")), "{text}");
            }
        }
        let error = describe("recall_last_sen").unwrap_err().to_string();
        assert!(error.contains("did you mean recall_last_seen?"), "{error}");
    }

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
