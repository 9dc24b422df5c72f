//! Log lines on standard error: as text for people, or as JSON for collectors.

use std::io::{self, Write as _};

use chrono::{DateTime, SecondsFormat};
use env_logger::{Builder, Target};
use log::kv::{Error, Key, Value, VisitSource};
use log::{LevelFilter, Record};
use serde_json::{Map, json};

use crate::base::time::{Clock as _, SystemClock};
use crate::config::LogSettings;

/// Starts logging, nothing below `least`; a second start in one process changes nothing.
pub(super) fn start(settings: &LogSettings, least: LevelFilter) {
    let level = settings.level.parse().unwrap_or(LevelFilter::Info).min(least);
    let json = settings.format == "json";
    let mut builder = Builder::new();
    // Our crate at the asked level; of the others only what went wrong.
    builder.filter_level(level.min(LevelFilter::Warn)).filter_module("engram", level);
    builder.target(Target::Stderr);
    builder.format(move |out, record| {
        let line = if json { json_line(record) } else { text_line(record) };
        writeln!(out, "{line}")
    });
    // The only error is that another logger is there already.
    drop(builder.try_init());
}

fn text_line(record: &Record<'_>) -> String {
    let mut line = format!("{} {:5} {}", now(), record.level(), record.args());
    for (key, value) in fields(record) {
        line.push_str(&format!(" {key}={value}"));
    }
    line
}

fn json_line(record: &Record<'_>) -> String {
    let mut line = Map::new();
    line.insert("time".to_owned(), json!(now()));
    line.insert("level".to_owned(), json!(record.level().as_str().to_lowercase()));
    line.insert("target".to_owned(), json!(record.target()));
    line.insert("message".to_owned(), json!(record.args().to_string()));
    line.extend(fields(record));
    serde_json::Value::Object(line).to_string()
}

fn now() -> String {
    let now = DateTime::from_timestamp_micros(SystemClock.now().micros()).unwrap_or_default();
    now.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn fields(record: &Record<'_>) -> Map<String, serde_json::Value> {
    let mut fields = Fields(Map::new());
    // `Fields` refuses nothing, so neither does the visit.
    drop(record.key_values().visit(&mut fields));
    fields.0
}

struct Fields(Map<String, serde_json::Value>);

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        let json = match (value.to_u64(), value.to_f64()) {
            (Some(whole), _) => json!(whole),
            (None, Some(number)) => json!(number),
            (None, None) => json!(value.to_string()),
        };
        self.0.insert(key.to_string(), json);
        Ok(())
    }
}

/// Flushes what is buffered; the program is about to end.
pub(super) fn finish() {
    log::logger().flush();
    drop(io::stderr().flush());
}
