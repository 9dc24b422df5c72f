//! The JSON Schema of a reply, derived from its type.
//!
//! Strict: an object has the keys of its struct and no others, and a key that may be
//! absent is never null.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, ReplaceBoolSchemas, Transform as _};
use serde_json::{Map, Value, json};

/// Schema of what a `T` serialises to, without references.
pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // Clients want an object where JSON Schema would take `true`.
    let mut objects = ReplaceBoolSchemas::default();
    objects.skip_additional_properties = true;
    objects.transform(&mut schema);
    RecursiveTransform(|it: &mut schemars::Schema| {
        if let Some(object) = it.as_object_mut() {
            tighten(object);
        }
    })
    .transform(&mut schema);
    // The tool's own description says it.
    schema.remove("description");
    let object = schema.as_object_mut().map(std::mem::take);
    object.unwrap_or_default()
}

fn tighten(schema: &mut Map<String, Value>) {
    schema.shift_remove("title");
    // Rust's width of a number says nothing to a client.
    schema.shift_remove("format");
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|it| it.contains(&json!(name)));
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (name, property) in properties.iter_mut() {
        if !is_required(name) {
            without_null(property);
        }
    }
    if !schema.contains_key("additionalProperties") {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
}

fn without_null(schema: &mut Value) {
    let is_null = |it: &Value| it == "null" || it.get("type") == Some(&json!("null"));
    let Value::Object(object) = schema else { return };
    for key in ["type", "anyOf"] {
        if let Some(Value::Array(choices)) = object.get_mut(key) {
            choices.retain(|it| !is_null(it));
        }
    }
    if let Some(Value::Array(types)) = object.get("type")
        && let [only] = types.as_slice()
    {
        let only = only.clone();
        object.insert("type".to_owned(), only);
    }
    if let Some(Value::Array(choices)) = object.get("anyOf")
        && let [Value::Object(only)] = choices.as_slice()
    {
        let only = only.clone();
        object.shift_remove("anyOf");
        object.extend(only);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    #[derive(Serialize, JsonSchema)]
    struct Place {
        position: Option<[f64; 3]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        layer: Option<String>,
        #[serde(skip)]
        _order: u8,
    }

    /// Not for clients.
    #[derive(Serialize, JsonSchema)]
    struct Sample {
        /// Newest first.
        places: Vec<Place>,
        #[serde(skip_serializing_if = "Option::is_none")]
        next: Option<Place>,
        memory: Value,
        count: u64,
    }

    #[test]
    fn a_schema_is_closed_inlined_and_without_null_where_a_key_may_be_absent() {
        let place = json!({
            "type": "object",
            "properties": {
                "position": {
                    "type": ["array", "null"], "items": {"type": "number"},
                    "minItems": 3, "maxItems": 3,
                },
                "layer": {"type": "string"},
            },
            "required": ["position"],
            "additionalProperties": false,
        });
        let expect = json!({
            "type": "object",
            "properties": {
                "places": {"type": "array", "items": place, "description": "Newest first."},
                "next": place,
                "memory": {},
                "count": {"type": "integer", "minimum": 0},
            },
            "required": ["places", "memory", "count"],
            "additionalProperties": false,
        });
        assert_eq!(Value::Object(of::<Sample>()), expect);
    }
}
