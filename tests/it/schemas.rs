//! Replies against the output schemas of their tools, as a client's validator sees them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use engram::agent;
use engram::tools::Toolset;
use serde_json::Value;

static OUTPUT: LazyLock<OutputSchemas> = LazyLock::new(OutputSchemas::compile);

struct OutputSchemas {
    compiled: Schemas,
    by_tool: BTreeMap<&'static str, SchemaIndex>,
}

impl OutputSchemas {
    fn compile() -> Self {
        let (mut compiled, mut by_tool) = (Schemas::new(), BTreeMap::new());
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        for spec in agent::specs(&Toolset::ALL) {
            let place = format!("schemas:///{}.json", spec.name);
            compiler.add_resource(&place, Value::Object(spec.output_schema)).unwrap();
            let index = compiler.compile(&place, &mut compiled).unwrap();
            by_tool.extend([&[spec.name], spec.aliases].concat().into_iter().map(|it| (it, index)));
        }
        Self { compiled, by_tool }
    }
}

/// What a validator says against a tool's structured reply.
pub(crate) fn faults(tool: &str, reply: &Value) -> Option<String> {
    let index = OUTPUT.by_tool.get(tool).unwrap_or_else(|| panic!("no tool {tool}"));
    OUTPUT.compiled.validate(reply, *index).err().map(|error| format!("{error:#}"))
}

/// Stops where a tool's structured reply does not fit its output schema, nor the replies
/// that an agent's step carries theirs.
#[track_caller]
pub(crate) fn check(tool: &str, reply: &Value) {
    if let Some(faults) = faults(tool, reply) {
        panic!("the reply of {tool} does not fit its schema: {faults}\n{reply:#}");
    }
    if tool == "agent_step" {
        for call in reply["calls"].as_array().unwrap() {
            if call["result"].is_object() {
                check(call["tool"].as_str().unwrap(), &call["result"]);
            }
        }
    }
}

/// Objects of a schema that leave open which keys they have, but for those that are free
/// by their nature.
#[test]
fn objects_of_output_schemas_are_closed() {
    fn open(schema: &Value, path: &str, found: &mut Vec<String>) {
        match schema {
            Value::Object(object) => {
                let is_open = object.get("additionalProperties") != Some(&Value::Bool(false));
                if object.contains_key("properties") && is_open {
                    found.push(path.to_owned());
                }
                object.iter().for_each(|(key, it)| open(it, &format!("{path}/{key}"), found));
            }
            Value::Array(items) => items.iter().for_each(|it| open(it, path, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    for spec in agent::specs(&Toolset::ALL) {
        let mut found = Vec::new();
        open(&Value::Object(spec.output_schema), spec.name, &mut found);
        assert_eq!(found, Vec::<String>::new());
    }
}
