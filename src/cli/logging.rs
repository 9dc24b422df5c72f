//! Log lines on standard error: as text for people, or as JSON for collectors.

use std::io::{self, Write as _};

use chrono::{DateTime, SecondsFormat};
use env_logger::{Builder, Target};
use log::kv::{Error, Key, Value, VisitSource};
use log::{LevelFilter, Record};
use serde_json::{Map, json};

use crate::base::plain;
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
    plain::one_line(&line).into_owned()
}

fn json_line(record: &Record<'_>) -> String {
    let mut line = Map::new();
    line.insert("time".to_owned(), json!(now()));
    line.insert("level".to_owned(), json!(record.level().as_str().to_lowercase()));
    line.insert("target".to_owned(), json!(record.target()));
    line.insert("message".to_owned(), json!(record.args().to_string()));
    line.extend(fields(record));
    plain::one_line(&serde_json::Value::Object(line).to_string()).into_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_of_plain_text() {
        let hostile = "a\n2026-01-01T00:00:00.000Z ERROR forged \u{1b}[2J\u{202e}";
        for write in [text_line, json_line] {
            let args = format_args!("{hostile}");
            let fields = [("source", hostile)];
            let record = Record::builder().args(args).key_values(&fields).build();
            let line = write(&record);
            assert!(!line.chars().any(plain::is_hidden), "{line:?}");
            assert_eq!(line.matches("\\u001b[2J\\u202e").count(), 2, "{line}");
        }
    }
}
