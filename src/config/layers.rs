//! Layers of settings by their flat keys: what is laid over what, and back into tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{ConfigError, DEFAULTS, ENVIRONMENT_PREFIX, Origin};
use crate::base::wording::article;

/// Value of each key, with its origin.
pub(super) type Values = BTreeMap<String, (Value, Origin)>;

/// Leaf keys such as `ingest.gate.max_pause_seconds` with their defaults.
pub(super) fn defaults() -> Values {
    let mut values = BTreeMap::new();
    #[expect(clippy::expect_used, reason = "compiled in, and parsed by a test")]
    let table: Table = DEFAULTS.parse().expect("config/default.toml is TOML");
    for (key, value) in leaves(&table, "") {
        values.insert(key, (value, Origin::Default));
    }
    values
}

fn leaves(table: &Table, prefix: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value.as_table() {
            Some(inner) => found.extend(leaves(inner, &key)),
            None => found.push((key, value.clone())),
        }
    }
    found
}

pub(super) fn lay_file(values: &mut Values, path: &Path) -> Result<(), ConfigError> {
    let text = fs::read_to_string(path).map_err(|error| ConfigError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| ConfigError::NoToml {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    for (key, value) in leaves(&table, "") {
        lay(values, &key, value, Origin::File(path.to_owned()))?;
    }
    Ok(())
}

pub(super) fn lay_environment(
    values: &mut Values,
    environment: &[(String, String)],
) -> Result<(), ConfigError> {
    let names: BTreeMap<String, String> =
        values.keys().map(|key| (variable_of(key), key.clone())).collect();
    for (name, text) in environment {
        if !name.starts_with(ENVIRONMENT_PREFIX) {
            continue;
        }
        let origin = Origin::Environment(name.clone());
        let Some(key) = names.get(name) else {
            let nearest = nearest(name, names.keys());
            return Err(ConfigError::UnknownKey { key: name.clone(), origin, nearest });
        };
        lay_text(values, key, text, origin)?;
    }
    Ok(())
}

fn variable_of(key: &str) -> String {
    format!("{ENVIRONMENT_PREFIX}{}", key.replace('.', "_").to_uppercase())
}

/// Applies a value that came as text, parsed as the default's type.
pub(super) fn lay_text(
    values: &mut Values,
    key: &str,
    text: &str,
    origin: Origin,
) -> Result<(), ConfigError> {
    let value = match values.get(key).map(|(default, _)| default) {
        Some(Value::Integer(_)) => text.parse().map(Value::Integer).ok(),
        Some(Value::Float(_)) => text.parse().map(Value::Float).ok(),
        Some(Value::Boolean(_)) => text.parse().map(Value::Boolean).ok(),
        _ => None,
    };
    // Text that is no number of the right kind stays text, and is refused as such.
    lay(values, key, value.unwrap_or_else(|| Value::String(text.to_owned())), origin)
}

fn lay(values: &mut Values, key: &str, value: Value, origin: Origin) -> Result<(), ConfigError> {
    let Some((current, _)) = values.get(key) else {
        let nearest = nearest(key, values.keys());
        return Err(ConfigError::UnknownKey { key: key.to_owned(), origin, nearest });
    };
    let value = match (current, value) {
        #[expect(clippy::cast_precision_loss, reason = "settings are small numbers")]
        (Value::Float(_), Value::Integer(whole)) => Value::Float(whole as f64),
        (_, other) => other,
    };
    if current.type_str() != value.type_str() {
        let kind = current.type_str();
        let accepted = format!("{} {kind} such as {current}", article(kind));
        let found = value.to_string();
        return Err(ConfigError::BadValue { key: key.to_owned(), found, origin, accepted });
    }
    values.insert(key.to_owned(), (value, origin));
    Ok(())
}

/// Refuses the first entry of the list `key` that is no `T`, by its number.
pub(super) fn check_entries<T: DeserializeOwned>(
    values: &Values,
    key: &str,
) -> Result<(), ConfigError> {
    let Some((Value::Array(entries), origin)) = values.get(key) else { return Ok(()) };
    for (n, entry) in entries.iter().enumerate() {
        if let Err(error) = entry.clone().try_into::<T>() {
            let accepted = format!("an entry without this: {}", error.message());
            let (key, origin) = (format!("{key}, the entry of number {},", n + 1), origin.clone());
            return Err(ConfigError::BadValue { key, found: entry.to_string(), origin, accepted });
        }
    }
    Ok(())
}

/// Nested tables of the flat keys.
pub(super) fn nest(values: &Values) -> Table {
    let mut root = Table::new();
    for (key, (value, _)) in values {
        let path: Vec<&str> = key.split('.').collect();
        insert_at(&mut root, &path, value);
    }
    root
}

fn insert_at(table: &mut Table, path: &[&str], value: &Value) {
    match path {
        [] => {}
        [last] => {
            table.insert((*last).to_owned(), value.clone());
        }
        [first, rest @ ..] => {
            let inner = table.entry(*first).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert_at(inner, rest, value);
            }
        }
    }
}

/// Known name with the least Levenshtein distance.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> String {
    known.min_by_key(|candidate| strsim::levenshtein(name, candidate)).cloned().unwrap_or_default()
}
